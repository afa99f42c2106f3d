# SPDX-License-Identifier: BSD-3-Clause
# What is worth making faster: each top site 10, 50 and 100 % shorter, and what the run gains.
#
# run     make -f workflows/whatif.mk GRAPH=run.graph OUT=whatif
#         make -f workflows/whatif.mk GRAPH=run.graph NETWORK=machine.cfg TOP=20
# input   GRAPH, a graph stream; NETWORK, a machine for lp-replay (without it the ideal network);
#         TOP, how many sites and how many functions
# output  $(OUT)/whatif.txt: gain of the whole run, best first
#
# Sites are where the critical path computes most, functions where it communicates most. The base is
# the replay with nothing changed. The replays do not depend on each other: GNU parallel runs them.

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean

GRAPH =
NETWORK =
TOP = 10
OUT = whatif
replay = lp-replay $(if $(NETWORK),-n '$(NETWORK)') -F json

all: $(OUT)/whatif.txt
	@cat $<

# A line for each candidate: what --scale selects.
$(OUT)/candidates: $(GRAPH)
	@test -n '$(GRAPH)' || { echo 'GRAPH is not set: GRAPH=run.graph' >&2; exit 2; }
	@mkdir -p $(OUT)
	lp-critpath -F json $(GRAPH) >$(OUT)/path.json
	jq -r '[.by_site[] | select(.compute_s > 0 and .where != "")] | sort_by(-.compute_s)[:$(TOP)][] | "site=\(.where)"' \
		$(OUT)/path.json >$@
	jq -r '[.by_call[] | select(.call != null) | .t = .mpi_s + .transfer_s | select(.t > 0)] | sort_by(-.t)[:$(TOP)][] | "call=\(.call)"' \
		$(OUT)/path.json >>$@

$(OUT)/base: $(GRAPH)
	@mkdir -p $(OUT)
	$(replay) $(GRAPH) | jq .run_time_ns >$@

$(OUT)/whatif.txt: $(OUT)/candidates $(OUT)/base
	@parallel --will-cite --halt now,fail=1 -k --tagstring '{1}	{2}' \
		'$(replay) --scale {1},factor={2} $(GRAPH) | jq .run_time_ns' \
		:::: $(OUT)/candidates ::: 0.9 0.5 0 >$(OUT)/runs
	@{ printf 'gain_%%\tgain_s\tshorter_%%\twhat\n'; \
		awk -F'\t' -v base=$$(cat $(OUT)/base) '{ printf "%.2f\t%.6f\t%d\t%s\n", \
			100 * (base - $$3) / base, (base - $$3) / 1e9, 100 * (1 - $$2) + 0.5, $$1 }' $(OUT)/runs | \
		sort -t"$$(printf '\t')" -k1,1nr -k3,3n -k4,4; } >$@

clean:
	rm -rf $(OUT)
