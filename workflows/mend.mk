# SPDX-License-Identifier: BSD-3-Clause
# What a program gains from lp-mend: first predicted by a replay, then measured.
#
# run     make -f workflows/mend.mk VERDICT=campaign/verdict APP="mpirun -n 2 ./app"
#         make -f workflows/mend.mk VERDICT=campaign/verdict APP="mpirun -n 2 ./app" MACHINE=machine RUNS=9
# input   VERDICT, of lp-guidelines -F stream (workflows/guidelines.mk leaves it in its folder); APP, a command;
#         MACHINE, for lp-replay: without it one is fitted to this library, by lp-measure under MPIRUN
# output  in $(OUT): mend.txt, predicted and measured change of the run time; rules, the replacement at each size;
#         compared/, all of lp-compare's results without and with lp-mend
#
# The prediction is from one recorded run, before the program has run under lp-mend: its calls take the measured time
# of the mock-ups. Then RUNS runs without and with lp-mend alternate.

VERDICT =
APP =
RUNS = 7
MACHINE =
MPIRUN = mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2
OUT = mended

SETTINGS = VERDICT APP RUNS MACHINE MPIRUN OUT
counts = RUNS
commands = $(if $(MACHINE),,MPIRUN)
folder = $(OUT)
tools = lp-mend lp-record lp-merge lp-graph lp-replay lp-measure lp-network lp-compare
needed = VERDICT APP
such_as = VERDICT=campaign/verdict APP="mpirun -n 2 ./app"
asks = $(call state,$(call quoted,$(VERDICT)) $(if $(MACHINE),$(call quoted,$(MACHINE))))
made = rules graph run.log machine factors predicted.json compared mend.txt
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

mend = lp-mend --verdict $(call quoted,$(VERDICT))

all: $(OUT)/mend.txt
	@cat $<

$(OUT)/rules: $(OUT)/asked
	@$(mend) --list $(whole)

$(OUT)/graph: $(OUT)/asked
	@rm -rf $(OUT)/run.part
	@lp-record -o $(OUT)/run.part -- $(APP) >$(OUT)/run.log
	@lp-merge $(OUT)/run.part 2>>$(OUT)/run.log | lp-graph 2>>$(OUT)/run.log $(whole)
	@rm -rf $(OUT)/run.part

# A model of each function with a rule, and of messages.
names = $$(awk -F'\t' 'NR > 1 && $$2 !~ /Sendrecv/ { print $$2 }' $(OUT)/rules | sort -u | paste -sd,)
$(OUT)/machine: $(OUT)/asked $(OUT)/rules
	@$(if $(MACHINE),cat $(call quoted,$(MACHINE)),$(MPIRUN) lp-measure --plain -n 200 -f "Pingpong,$(names)" \
		-s 8,64,512,4096,32768,262144 | lp-network) $(whole)

$(OUT)/factors: $(OUT)/graph
	@$(mend) --factors $< 2>$(OUT)/run.log.part $(whole); cat $(OUT)/run.log.part >>$(OUT)/run.log; rm $(OUT)/run.log.part

$(OUT)/predicted.json: $(OUT)/graph $(OUT)/machine $(OUT)/factors
	@scales=(); while IFS= read -r one; do scales+=(--scale "$$one"); done <$(OUT)/factors; \
	before=$$(lp-replay -n $(OUT)/machine -F json $< | jq .run_time_ns); \
	after=$$(lp-replay -n $(OUT)/machine -F json "$${scales[@]}" $< | jq .run_time_ns); \
	jq -n --argjson before $$before --argjson after $$after --argjson factors "$$(jq -R . $(OUT)/factors | jq -s .)" \
		'{$$factors, before_s: ($$before / 1e9), after_s: ($$after / 1e9), change: ($$after / $$before - 1)}' $(whole)

numbers = $(words $(wildcard $(OUT)/compared/a*.summary))
# Intervals are lp-compare's; with one run per side there are none.
measured = .run_time | .a_s as $$a | [.a_s, .b_s, (.change_s, .low_s, .high_s | if . == null then "" else . * 1e8 / $$a | round / 1e6 end), $$what] | @tsv
# Measures only after the prediction is made.
$(OUT)/compared/compare.json: $(OUT)/predicted.json
	@[ -n "$${LONGPOLE_MESSAGES-}" ] || exec {LONGPOLE_MESSAGES}>&2; export LONGPOLE_MESSAGES; \
	$(MAKE) --no-print-directory -s -f $(here)compare.mk A=$(call quoted,$(APP)) B=$(call quoted,$(mend) $(APP)) \
		RUNS=$(call quoted,$(RUNS)) OUT=$(OUT)/compared >>$(OUT)/run.log 2>/dev/null

$(OUT)/mend.txt: $(OUT)/predicted.json $(OUT)/compared/compare.json $(OUT)/rules
	@{ printf 'run_s\tmended_s\tchange_%%\tlow_%%\thigh_%%\twhat\n'; \
	jq -r '[.before_s, .after_s, (1e8 * .change | round / 1e6), "", "", "predicted by lp-replay from one run"] | @tsv' $<; \
	jq -r --arg what "measured, $(numbers) runs a side in turns" '$(measured)' $(OUT)/compared/compare.json; } $(whole)
