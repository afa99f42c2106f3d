# SPDX-License-Identifier: BSD-3-Clause
# Which functions of this MPI library are slower than their equivalents?
#
# run     make -f workflows/guidelines.mk
#         make -f workflows/guidelines.mk RANKS=4 R=20 BUDGET=600 FUNCTIONS=Bcast,Reduce
#         make -f workflows/guidelines.mk GUIDELINES=mine  # with your own: see lp-measure
#         make -f workflows/guidelines.mk rules        # with a rules file for Open MPI that fixes violations
# input   only the library; BUDGET, seconds for the whole campaign: a tenth for lp-nrep, half of the rest for each
#         stage. All functions in twice 20 mpiruns of 2 ranks need at least about 60 s; a line says so if the
#         budget is too short
# output  in $(CAMPAIGN): nrep and nrep.svg, its convergence; N.run of the first stage, candidates, confirm.N.run of
#         the second; report.txt, report.json, plots, verdict (for lp-mend); with rules: rules, and in verdict the
#         violations under them
#
# The first R mpiruns screen all guidelines. Apparent violations are measured again in R new mpiruns, and only
# confirmed ones count. Fewer than 20 mpiruns can prove little.
#
# Finished mpiruns are kept: after an interruption the same command continues with the next one, unless library,
# program or settings have changed. To start over: make -f workflows/guidelines.mk clean

CAMPAIGN = campaign
RANKS = 2
R = 20
BUDGET = 120
FUNCTIONS = $(if $(GUIDELINES),,all)
GUIDELINES =
SIZES = 8,64,512,4096,32768,262144
MPIRUN = mpirun --oversubscribe --mca mpi_yield_when_idle 1
JUDGE =

SETTINGS = CAMPAIGN RANKS R BUDGET FUNCTIONS GUIDELINES SIZES MPIRUN JUDGE
stamped = R JUDGE
counts = RANKS R
goals = rules
folder = $(CAMPAIGN)
tools = lp-guidelines
made = settings settings.new nrep steps steps.dat nrep.svg candidates messages *.run *.part report.txt report.json plots verdict rules
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.NOTPARALLEL:
.PHONY: rules settings

run = $(MPIRUN) -n $(RANKS)
runs = $(patsubst %,$(CAMPAIGN)/%.run,$(shell seq $(R)))
own = $(if $(GUIDELINES),--guidelines $(call quoted,$(GUIDELINES)))
# Without FUNCTIONS, the left sides in the file.
functions = $(if $(FUNCTIONS),$(call quoted,$(FUNCTIONS)),"$$(lp-measure --list $(own) | \
	awk '$$1 + 0 >= 100 { print $$2 }' | sort -u | paste -sd,)")
choice = -f $(functions) -s $(call quoted,$(SIZES))
confirming = $(patsubst %,$(CAMPAIGN)/confirm.%.run,$(shell seq $(R)))
judged = $(JUDGE) --pairs $(runs) $$(find $(confirming) -size +0)
# Starting an mpirun takes half a second here.
share = $(shell echo $(BUDGET) $(R) | awk '{ s = $$1 * $(1) - 0.5; print (s > 0.1 ? s : 0.1) }')

all: $(CAMPAIGN)/report.txt $(if $(shell command -v gnuplot),$(call drawn,nrep))
	@cat $<

settings:
	@mkdir -p $(CAMPAIGN)
	@$(here)state command $(run) lp-measure $(own) $(choice) >$(CAMPAIGN)/settings.new
	@if [ -e $(CAMPAIGN)/settings ] && ! cmp -s $(CAMPAIGN)/settings $(CAMPAIGN)/settings.new; then \
		echo '$(CAMPAIGN) was begun with other settings, or another program or library (was <, is >):' >&2; \
		diff $(CAMPAIGN)/settings $(CAMPAIGN)/settings.new >&2 || exit 2; fi
	@mv $(CAMPAIGN)/settings.new $(CAMPAIGN)/settings

$(CAMPAIGN)/nrep: | settings
	@$(run) lp-nrep $(choice) -B $(call share,0.1) --steps $(CAMPAIGN)/steps $(whole)

# Convergence of the three values: a line for each function and size of the first prediction, coloured by size.
$(CAMPAIGN)/steps.dat: $(CAMPAIGN)/nrep
	@awk -F'\t' 'NR > 1 && $$4 == 1 { k = $$2; if (!(k in c)) { c[k] = n++; } \
		if ($$1 $$2 != last) { if (last) print "\n"; last = $$1 $$2 } print $$5, $$6, $$7, $$8, c[k], $$2 }' $(CAMPAIGN)/steps $(whole)
$(call drawn,nrep) &: $(CAMPAIGN)/steps.dat $(CAMPAIGN)/figures
	@{ echo 'set logscale xy; set xlabel "repetitions"; set key outside right; set multiplot layout 3, 1'; i=1; \
	for method in 'RSE' 'COV of means' 'COV of medians'; do i=$$((i + 1)); \
		echo "set ylabel '$$method'"; echo "plot '$<' using 1:$$i:5 with linespoints pt 7 ps 0.4 lc variable notitle, \\"; \
		awk 'NF && !($$6 in s) { s[$$6] = 1; printf "%sNaN with lines lc %d title \"%s bytes\"", (n++ ? ", " : ""), $$5, $$6 } \
			END { print "" }' $<; done; } | $(call picture,nrep,640x900)

# A stream without its end never gets its name.
measure = $(run) lp-measure $(own) $(choice) -B $(call share,0.45/$$2) -o $@.part

$(runs): $(CAMPAIGN)/%.run: | settings $(CAMPAIGN)/nrep
	@$(measure) -N $(CAMPAIGN)/nrep
	@mv $@.part $@
	@done=$$(find $(CAMPAIGN) -maxdepth 1 -name '[0-9]*.run' | wc -l); echo "mpirun $$done of $(R) is finished" >&2

# Status 1 (violated) and 3 (not decidable) are answers; 2 is an error.
$(CAMPAIGN)/candidates: $(runs)
	@lp-guidelines $(JUDGE) --pairs --candidates $@.part $(runs) >$(CAMPAIGN)/messages 2>&1 || [ $$? != 2 ] || \
		{ cat $(CAMPAIGN)/messages >&2; exit 2; }
	@mv $@.part $@

# Without candidates, an empty file stands for an mpirun with nothing to do.
$(confirming): $(CAMPAIGN)/confirm.%.run: $(CAMPAIGN)/candidates
	@if [ "$$(wc -l <$<)" -gt 1 ]; then $(measure) --confirm $<; else : >$@.part; fi
	@mv $@.part $@

$(CAMPAIGN)/report.txt: $(runs) $(confirming) $(CAMPAIGN)/asked $(CAMPAIGN)/figures
	@lp-guidelines -F json $(judged) >$(CAMPAIGN)/report.json 2>/dev/null || [ $$? != 2 ]
	@lp-guidelines -F stream $(judged) >$(CAMPAIGN)/verdict 2>/dev/null || [ $$? != 2 ]
	@rm -rf $(CAMPAIGN)/plots
	@lp-guidelines -p $(CAMPAIGN)/plots $(judged) >$@.part || [ $$? != 2 ]; mv $@.part $@
	@if command -v gnuplot >/dev/null; then for p in $(CAMPAIGN)/plots/*.gp; do \
		[ ! -e "$$p" ] || $(here)picture "$${p%.gp}" 640x400 $(FIGURES) <"$$p"; done; fi

rules: $(runs) $(confirming)
	@lp-guidelines -F stream --rules $(CAMPAIGN)/rules --mpirun '$(run)' $(judged) >$(CAMPAIGN)/verdict.part || [ $$? != 2 ]
	@mv $(CAMPAIGN)/verdict.part $(CAMPAIGN)/verdict
