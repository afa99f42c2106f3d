# SPDX-License-Identifier: BSD-3-Clause
# Which steps of a run take long, and why? The critical path step by step.
#
# run     make -f workflows/steps.mk GRAPH=run.graph OUT=steps
#         make -f workflows/steps.mk GRAPH=run.graph STEPS=1000    # the loops of 1000 steps, see lp-critpath
# input   GRAPH, a graph stream; STEPS, how many steps the program made [found in its calls];
#         FIGURES, svg, pdf and png [svg]
# output  $(OUT)/steps.txt and steps.json; $(OUT)/steps.svg: each step's time on the critical path, coloured by the rank
#         with most of that, and slow steps within circles; steps.tsv and slow.tsv, its data

GRAPH =
STEPS =
OUT = steps

SETTINGS = GRAPH STEPS OUT
counts = $(if $(STEPS),STEPS)
folder = $(OUT)
tools = lp-critpath
needed = GRAPH
such_as = RUN
asks = $(call state,$(graph))
made = steps.txt steps.json steps.tsv slow.tsv steps.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
critpath = lp-critpath --by step $(STEPS:%=--steps %)

all: $(OUT)/steps.txt $(call drawn,steps)
	@cat $<

$(OUT)/steps.txt: $(OUT)/asked
	$(critpath) -F text $(graph) $(whole)

$(OUT)/steps.json: $(OUT)/asked
	@$(critpath) -F json $(graph) $(whole)

# Steps of all loops, numbered from 1.
numbered = [.sections[] | select(.step != null)] | to_entries[]
$(OUT)/steps.tsv: $(OUT)/steps.json
	@jq -r '$(numbered) | [.key + 1, .value.path_s, .value.rank] | @tsv' $< $(whole)

slow = [.slow[] | [.loop, .step]] as $$slow | $(numbered) | [.value.loop, .value.step] as $$this | \
	select(any($$slow[]; . == $$this)) | [.key + 1, .value.path_s]
$(OUT)/slow.tsv: $(OUT)/steps.json
	@jq -r '$(slow) | @tsv' $< $(whole)

# The key names the ranks that have most steps.
$(call drawn,steps) &: $(OUT)/steps.tsv $(OUT)/slow.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set xlabel "step"; set ylabel "on the critical path, s"; set yrange [0:*]; set grid y'; \
	echo 'set key outside right top'; \
	echo 'plot "$(OUT)/steps.tsv" using 1:2:($$3 + 1) with points pt 7 ps 0.5 lc variable notitle, \'; \
	cut -f3 $< | sort | uniq -c | sort -k1,1nr -k2,2n | head -8 | \
		awk '{ printf "NaN with points pt 7 lc %d title \"rank %d\", ", $$2 + 1, $$2 }'; \
	echo '"$(OUT)/slow.tsv" using 1:2 with points pt 6 ps 1.5 lc rgb "#111111" title "slow"'; } | $(call picture,steps,900x420)
