# SPDX-License-Identifier: BSD-3-Clause
# What is worth making faster: each top site 10, 50 and 100 % shorter, and what the run gains.
#
# run     make -f workflows/whatif.mk GRAPH=run.graph OUT=whatif
#         make -f workflows/whatif.mk GRAPH=run.graph NETWORK=machine.cfg TOP=20
# input   GRAPH, a graph stream; NETWORK, a machine for lp-replay, or ideal [messages keep their recorded times];
#         TOP, the number of sites and of functions
# output  $(OUT)/whatif.txt: gains, largest first: gain_% of baseline_s, the unchanged run;
#         predicted_s, the run with the change
#
# Sites are those with most time on the critical path, functions those with most communication. At a site, computation
# and calls take less time, as in lp-gain; for a function, its calls do. Without NETWORK the gains are those of lp-gain,
# and the base is the recorded run from leaving MPI_Init to entering MPI_Finalize. With NETWORK both runs are
# replays: the gain is that on the other network.
# GNU parallel runs them.

GRAPH =
NETWORK =
TOP = 10
OUT = whatif

SETTINGS = GRAPH NETWORK TOP OUT
counts = TOP
folder = $(OUT)
tools = lp-critpath lp-gain lp-replay
needed = GRAPH
such_as = RUN
asks = $(call state,$(graph) $(if $(machine),$(call quoted,$(machine))))
made = path.json candidates base runs whatif.txt
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
machine = $(if $(filter-out ideal,$(NETWORK)),$(NETWORK))
# The length of the run in nanoseconds, with further options.
length = $(if $(NETWORK),lp-replay $(if $(machine),-n $(call quoted,$(machine))) -F json $(1) $(graph) | jq .run_time_ns,\
	lp-gain --needed -F text $(1) $(graph) | sed -nE 's/^run time .* critical path ([0-9]+)\.([0-9]+) s in .*/\1\2/p')

all: $(OUT)/whatif.txt
	@cat $<

$(OUT)/path.json: $(OUT)/asked
	lp-critpath -F json $(graph) $(whole)

# A line for each candidate: the --scale options, with @ for the factor, and a description. Sites are selected by
# number, since names contain commas and other special characters; sites of one name are one.
sites = [.by_site[] | select(.where != "")] | group_by(.where) | map({where: .[0].where, s: map(.compute_s + .mpi_s + .transfer_s) | add, n: map(.site)}) | \
	map(select(.s > 0)) | sort_by(-.s)[:$(TOP)][] | ((.where | capture("^(?<call>MPI_[A-Za-z_]+) at ").call | \
	select(IN("MPI_Init", "MPI_Init_thread", "MPI_Finalize") | not)) // null) as $$call | \
	"\([.n[] | "--scale site=\#\(.),factor=@", if $$call then "--scale site=\#\(.),call=\($$call),factor=@" else empty end] | \
	join(" "))\tsite=\(.where | gsub("[\u0000-\u001f\u007f]"; "?"))"
calls = [.by_call[] | select(.call != null) | .t = .mpi_s + .transfer_s | select(.t > 0)] | \
	sort_by(-.t)[:$(TOP)][] | "--scale call=\(.call),factor=@\tcall=\(.call)"
$(OUT)/candidates: $(OUT)/path.json
	@jq -r '($(sites)), ($(calls))' $< $(whole)

# Of the run with nothing changed: the length that shares are of, the one that changed ones are compared with, and the
# recorded one.
lengths = (.run_time_s * 1e9 | round) as $$run | (.total | (.compute_s + .mpi_s + .transfer_s) * 1e9 | round) as $$told | \
	"\($(if $(NETWORK),$$length,$$told)) \($$length) \($$run)"
$(OUT)/base: $(OUT)/path.json
	@{ $(call length); } >$@.length; jq -r --argjson length "$$(cat $@.length)" '$(lengths)' $< $(whole); rm $@.length

# A candidate without any gain is listed, too.
one = $(call length,$${1//@/$$2})
$(OUT)/runs: $(OUT)/candidates
	@{ [ ! -s $< ] || $(each) -k --colsep '\t' --tagstring '{2}	{3}' \
		bash -eu -o pipefail -c $(call quoted,$(call quoted,$(one))) whatif {1} {3} :::: $< ::: 0.9 0.5 0; } $(whole)

base_is = $(if $(NETWORK),the run without a change takes %.6f s on $(if $(machine),the network given,an ideal network); \
	it took %.6f s as recorded,%.6f s of the recorded run of %.6f s; messages keep their recorded times)
$(OUT)/whatif.txt: $(OUT)/runs $(OUT)/base
	@{ read -r base length recorded <$(OUT)/base; printf 'gain_%%\tgain_s\tshorter_%%\twhat\tbaseline_s\tpredicted_s\n'; \
		awk -F'\t' -v base=$$base -v length_ns=$$length '{ gain = length_ns - $$3; printf "%.2f\t%.6f\t%d\t%s\t%.6f\t%.6f\n", \
			(base > 0 ? 100 * gain / base : 0), gain / 1e9, 100 * (1 - $$2) + 0.5, $$1, base / 1e9, (base - gain) / 1e9 }' $< | \
		sort -t"$$(printf '\t')" -k1,1nr -k3,3n -k4,4; \
		awk -v base=$$base -v recorded=$$recorded 'BEGIN { printf "\ngain_%% is of baseline_s: $(base_is)\n", base / 1e9, recorded / 1e9 }'; } $(whole)
