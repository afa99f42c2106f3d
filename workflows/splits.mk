# SPDX-License-Identifier: BSD-3-Clause
# The critical path of a long run, its stretches solved in parallel by processes that know nothing
# of each other: list parts between synchronisation points, solve each, join.
#
# run     make -f workflows/splits.mk GRAPH=run.graph
#         make -f workflows/splits.mk GRAPH=run.graph PARTS=64 PARALLEL="parallel -S node1,node2"
# input   GRAPH, a graph stream of lp-graph in a file, not a pipe
# output  in $(OUT): parts.tsv, N.path for each part, path (all segments) and path.txt
#
# Each process skips to its part, so the parts may run anywhere that sees the file; a part that is
# there and newer than the graph is not solved again.

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean

GRAPH     =
OUT       = splits
PARTS     = 8
ALGORITHM = walk
PARALLEL  = parallel

MAKEFLAGS += --jobs=2		# the two forms of the path are joined at once

all: $(OUT)/path.txt $(OUT)/path
	@cat $<

$(OUT)/parts.tsv: $(GRAPH)
	@test -n '$(GRAPH)' || { echo 'GRAPH is not set: GRAPH=run.graph' >&2; exit 2; }
	mkdir -p $(OUT)
	lp-critpath --list $(PARTS) $(GRAPH) >$@

$(OUT)/solved: $(OUT)/parts.tsv
	cut -f 1 $< | tail -n +2 | $(PARALLEL) --will-cite --halt now,fail=1 \
		'lp-critpath -a $(ALGORITHM) --part {}/$(PARTS) $(GRAPH) >$(OUT)/{}.path'
	touch $@

whole = lp-critpath --join $(1) $$(cut -f 1 $(OUT)/parts.tsv | tail -n +2 | sed 's|.*|$(OUT)/&.path|')

$(OUT)/path: $(OUT)/solved
	$(call whole) >$@

$(OUT)/path.txt: $(OUT)/solved
	$(call whole,-F text) >$@

clean:
	rm -rf $(OUT)
