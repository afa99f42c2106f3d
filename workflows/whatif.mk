# SPDX-License-Identifier: BSD-3-Clause
# What is worth making faster: each top site 10, 50 and 100 % shorter, and what the run gains.
#
# run     make -f workflows/whatif.mk GRAPH=run.graph OUT=whatif
#         make -f workflows/whatif.mk GRAPH=run.graph NETWORK=machine.cfg TOP=20
# input   GRAPH, a graph stream; NETWORK, a machine for lp-replay [the ideal network];
#         TOP, the number of sites and of functions
# output  $(OUT)/whatif.txt: gains, largest first: gain_% of baseline_s, an unchanged replay;
#         predicted_s, the replay with the change
#
# Sites are those with most computation on the critical path, functions those with most communication. A site shortens
# only computation, a function only MPI; lp-gain shortens both at a site, and keeps the times of messages as recorded.
# GNU parallel runs the replays.

GRAPH =
NETWORK =
TOP = 10
OUT = whatif

SETTINGS = GRAPH NETWORK TOP OUT
counts = TOP
folder = $(OUT)
tools = lp-critpath lp-replay
needs = [ -n $(graph) ] || { echo 'GRAPH is not set: GRAPH=run.graph' >&2; exit 2; }
asks = $(call state,$(graph) $(if $(NETWORK),$(call quoted,$(NETWORK))))
made = path.json candidates base runs whatif.txt
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
replay = lp-replay $(if $(NETWORK),-n $(call quoted,$(NETWORK))) -F json

all: $(OUT)/whatif.txt
	@cat $<

$(OUT)/path.json: $(OUT)/asked
	lp-critpath -F json $(graph) $(whole)

# A line for each candidate: the selector of --scale, and a description. Sites are selected by number, since names
# contain commas and other special characters.
sites = [.by_site[] | select(.compute_s > 0 and .where != "")] | sort_by(-.compute_s)[:$(TOP)][] | \
	"site=\#\(.site)\tsite=\(.where | gsub("[\u0000-\u001f\u007f]"; "?"))"
calls = [.by_call[] | select(.call != null) | .t = .mpi_s + .transfer_s | select(.t > 0)] | \
	sort_by(-.t)[:$(TOP)][] | "call=\(.call)\tcall=\(.call)"
$(OUT)/candidates: $(OUT)/path.json
	@jq -r '($(sites)), ($(calls))' $< $(whole)

$(OUT)/base: $(OUT)/asked
	$(replay) $(graph) | jq -r '"\(.run_time_ns) \(.recorded_run_time_ns)"' $(whole)

# A candidate without any gain is listed, too.
one = $(replay) --scale "$$1,factor=$$2" $(graph) | jq .run_time_ns
$(OUT)/runs: $(OUT)/candidates
	@{ [ ! -s $< ] || $(each) -k --colsep '\t' --tagstring '{2}	{3}' \
		bash -eu -o pipefail -c $(call quoted,$(call quoted,$(one))) whatif {1} {3} :::: $< ::: 0.9 0.5 0; } $(whole)

$(OUT)/whatif.txt: $(OUT)/runs $(OUT)/base
	@{ read -r base recorded <$(OUT)/base; printf 'gain_%%\tgain_s\tshorter_%%\twhat\tbaseline_s\tpredicted_s\n'; \
		awk -F'\t' -v base=$$base '{ printf "%.2f\t%.6f\t%d\t%s\t%.6f\t%.6f\n", \
			100 * (base - $$3) / base, (base - $$3) / 1e9, 100 * (1 - $$2) + 0.5, $$1, base / 1e9, $$3 / 1e9 }' $< | \
		sort -t"$$(printf '\t')" -k1,1nr -k3,3n -k4,4; \
		awk -v base=$$base -v recorded=$$recorded 'BEGIN { printf "\ngain_%% is of baseline_s: the run without a change takes " \
			"%.6f s on $(if $(NETWORK),the network given,an ideal network); it took %.6f s as recorded\n", base / 1e9, recorded / 1e9 }'; } $(whole)
