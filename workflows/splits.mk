# SPDX-License-Identifier: BSD-3-Clause
# The critical path of a long run, solved in parallel by independent processes: list parts between synchronisation
# points, solve each, join.
#
# run     make -f workflows/splits.mk GRAPH=run.graph
#         make -f workflows/splits.mk GRAPH=run.graph PARTS=64 PARALLEL="parallel -S node1,node2"
# input   GRAPH, a graph stream of lp-graph in a file, not a pipe, or a folder of shards
# output  in $(OUT): parts.tsv, N.path for each part, path (all segments) and path.txt
#
# Each process skips to its part, so the parts may run on any machine that sees the file. A part newer than the graph
# is not solved again.

GRAPH     =
OUT       = splits
PARTS     = 8
ALGORITHM = walk
PARALLEL  = parallel

SETTINGS = GRAPH OUT PARTS ALGORITHM PARALLEL
counts = PARTS
folder = $(OUT)
tools = lp-critpath
needed = GRAPH
such_as = RUN
asks = $(call state,$(graph))
made = parts.tsv solved *.path path path.txt
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
MAKEFLAGS += --jobs=2		# joins the two forms of the path concurrently

all: $(OUT)/path.txt $(OUT)/path
	@cat $<

$(OUT)/parts.tsv: $(OUT)/asked
	lp-critpath --list $(PARTS) $(graph) $(whole)

$(OUT)/solved: $(OUT)/parts.tsv
	@rm -f $(OUT)/*.path
	cut -f 1 $< | tail -n +2 | EACH=$(call quoted,$(PARALLEL)) $(each) \
		$(call quoted,lp-critpath -a $(ALGORITHM) --part {}/$(PARTS) $(graph) >$(OUT)/{}.path)
	@touch $@

joined = lp-critpath --join $(1) $$(cut -f 1 $(OUT)/parts.tsv | tail -n +2 | sed 's|.*|$(OUT)/&.path|')

$(OUT)/path: $(OUT)/solved
	$(call joined) $(whole)

$(OUT)/path.txt: $(OUT)/solved
	$(call joined,-F text) $(whole)
