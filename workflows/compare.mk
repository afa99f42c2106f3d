# SPDX-License-Identifier: BSD-3-Clause
# What changed between two commands, and with what confidence: runs of both in turns, recorded and compared.
#
# run     make -f workflows/compare.mk A="mpirun -n 4 ./before" B="mpirun -n 4 ./after" RUNS=7 OUT=compared
# input   A, B: commands; RUNS: number of runs of each; LIMITS: of lp-compare, for example "run_time=2%";
#         RECORD: options of lp-record [--switches, which say why computation changed];
#         BY: step or region: also what changed by these parts of the run
# output  $(OUT)/compare.txt, compare.json, limits.xml (JUnit); path.svg, the path of both sides by site;
#         timeline.svg, the first run of each on one time axis
#
# The order is A B B A A B B A ..., so that drift of the machine affects both alike.

A =
B =
RUNS = 7
RECORD = --switches
LIMITS =
BY =
OUT = compared

SETTINGS = A B RUNS RECORD LIMITS BY OUT
stamped = A B RECORD BY
counts = RUNS
folder = $(OUT)
tools = lp-record lp-merge lp-graph lp-critpath lp-compare lp-report
needed = A B
such_as = A="mpirun -n 4 ./before" B="mpirun -n 4 ./after"
made = runs compare.txt compare.json limits.xml path.svg path.tsv timeline.svg a1.graph b1.graph *.summary run.log
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

numbers := $(shell seq $(call quoted,$(RUNS)) 2>/dev/null)
sides = $(foreach n,$(numbers),$(1)$(n).summary)
inputs = $(call sides,a) -- $(call sides,b)
$(call refuse,$(if $(LIMITS),LIMITS),$(limit),NAME=VALUE is needed)
limits = $(foreach l,$(LIMITS),--limit $(call quoted,$(l)))
by = $(if $(BY),--by $(call quoted,$(BY)))

all: $(OUT)/compare.txt $(OUT)/compare.json $(call drawn,path) $(OUT)/timeline.svg
	@cat $<
	@cd $(OUT) && lp-compare $(limits) --junit limits.xml $(inputs) >/dev/null

# One run of a side: $(call one,a,COMMAND).
define one
	rm -rf $(OUT)/run.part
	lp-record $(RECORD) -o $(OUT)/run.part -- $(2) >>$(OUT)/run.log
	lp-merge $(OUT)/run.part 2>>$(OUT)/run.log | lp-graph 2>>$(OUT)/run.log >$(OUT)/graph.part
	lp-compare --summary $(by) $(OUT)/graph.part >$(OUT)/$(1).summary.part
	mv $(OUT)/$(1).summary.part $(OUT)/$(1).summary
	$(if $(filter a1 b1,$(1)),mv $(OUT)/graph.part $(OUT)/$(1).graph)
	rm -rf $(OUT)/run.part $(OUT)/graph.part

endef

# Of two runs of a side, one comes before and one after the other side's.
odd = $(filter 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29,$(1))
$(OUT)/runs: $(OUT)/asked
	@rm -f $(OUT)/run.log
	$(foreach n,$(numbers),$(if $(call odd,$(n)),$(call one,a$(n),$(A))$(call one,b$(n),$(B)),$(call one,b$(n),$(B))$(call one,a$(n),$(A))))
	@touch $@

$(OUT)/compare.txt: $(OUT)/runs
	@cd $(OUT) && lp-compare $(by) $(inputs) >compare.txt.part && mv compare.txt.part compare.txt

$(OUT)/compare.json: $(OUT)/runs
	@cd $(OUT) && lp-compare $(by) -F json $(inputs) >compare.json.part && mv compare.json.part compare.json

rows = .sites | sort_by(-(.path_a_s + .path_b_s))[:12][] | [((.function // "no site") + " " + (.call // "") | \
	gsub("[^A-Za-z0-9_:<> .,()*&~=+-]"; "?")), .path_a_s, .path_b_s] | @tsv
# Makes names safe for gnuplot: no quotes, backslashes or control characters.
$(OUT)/path.tsv: $(OUT)/compare.json
	@jq -r '$(rows)' $< $(whole)

$(call drawn,path) &: $(OUT)/path.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set style data histograms; set style fill solid; set key top right'; \
	echo 'set xtics rotate by -30 noenhanced; set ylabel "on the critical path, s"'; \
	echo 'plot "$<" using 2:xtic(1) title "A", "" using 3 title "B"'; } | $(call picture,path,900x500)

$(OUT)/timeline.svg: $(OUT)/runs
	@cd $(OUT) && lp-report -F svg --beside b1.graph -o timeline.svg a1.graph
