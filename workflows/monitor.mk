# SPDX-License-Identifier: BSD-3-Clause
# Where does the network hold a run back? Timeline, transfer-efficiency monitors and the phases they show.
#
# run     make -f workflows/monitor.mk GRAPH=run.graph OUT=monitor RANK=0
# input   GRAPH, a graph stream; RANK, whose monitor is drawn; NETWORK, a machine [ideal]
# output  $(OUT)/monitor.svg, the figure of Haldar's poster: computing and MPI of all ranks over time, local
#         and cumulative transfer efficiency, phases; $(OUT)/regions.tsv and monitor.tsv: its numbers

GRAPH =
NETWORK =
RANK = 0
OUT = monitor

SETTINGS = GRAPH NETWORK RANK OUT
folder = $(OUT)
tools = lp-replay lp-dump
needs = [ -n $(graph) ] || { echo 'GRAPH is not set: GRAPH=run.graph' >&2; exit 2; }
asks = $(call state,$(graph) $(if $(NETWORK),$(call quoted,$(NETWORK))))
made = monitor.tsv regions.tsv timeline.tsv monitor.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
replay = lp-replay $(if $(NETWORK),-n $(call quoted,$(NETWORK))) -F table --monitor $(call quoted,$(RANK))

all: $(OUT)/monitor.svg
	@cat $(OUT)/regions.tsv

$(OUT)/monitor.tsv: $(OUT)/asked
	$(replay) $(graph) $(whole)

$(OUT)/regions.tsv: $(OUT)/asked
	$(replay) --regions $(graph) $(whole)

# Share of MPI in each of 1000 bins of the run and each rank: rank, begin of the bin in s, share.
$(OUT)/timeline.tsv: $(OUT)/asked
	@lp-dump -k call $(graph) | jq -r 'select(.call | startswith("MPI_")) | "\(.rank) \(.enter_ns) \(.leave_ns)"' | \
	awk -v end=$$(lp-dump -k run $(graph) | jq .run_ns) ' \
		$$1 > most { most = $$1 } \
		{ for (b = int($$2 / end * 1000); b <= int($$3 / end * 1000) && b < 1000; b++) { \
			from = b / 1000 * end; to = (b + 1) / 1000 * end; \
			mpi[$$1, b] += ($$3 < to ? $$3 : to) - ($$2 > from ? $$2 : from) } } \
		END { for (r = 0; r <= most; r++) for (b = 0; b < 1000; b++) \
			printf "%d\t%.9f\t%.4f\n", r, (b + 0.5) / 1000 * end / 1e9, mpi[r, b] / end * 1000 }' $(whole)

$(OUT)/monitor.svg: $(OUT)/monitor.tsv $(OUT)/regions.tsv $(OUT)/timeline.tsv
	@{ echo 'set term svg size 900,640; set multiplot layout 3,1 margins 0.09,0.91,0.09,0.94 spacing 0,0.06'; \
	end=$$(tail -1 $(OUT)/timeline.tsv | cut -f2); ranks=$$(tail -1 $(OUT)/timeline.tsv | cut -f1); \
	echo "set xrange [0:$$end]"; \
	tail -n +2 $(OUT)/regions.tsv | awk -F'\t' '{ printf "set arrow from %s, graph 0 to %s, graph 1 nohead lc rgb \"#cc0000\" dt 2 front\n", $$4, $$4 }'; \
	echo 'set title "timeline: blue computes, orange is in MPI" offset 0,-0.6; set ylabel "rank"; unset key'; \
	echo 'set palette defined (0 "#3b6fb6", 1 "#f4a261"); set cbrange [0:1]; unset colorbox; set format x ""'; \
	echo "set yrange [$$ranks.5:-0.5]; set ytics 1; plot '$(OUT)/timeline.tsv' using 2:1:3 with image"; \
	echo 'set title "transfer efficiency of rank $(RANK): dots local, line cumulative"; set yrange [0:1.2]; set ytics auto; set ylabel "efficiency"'; \
	echo 'plot "$(OUT)/monitor.tsv" skip 1 using ($$3/1e9):6 with points pt 7 ps 0.15 lc rgb "#888888", "" skip 1 using ($$3/1e9):7 with lines lw 2 lc rgb "#1b7837"'; \
	echo 'set title "phases: filled transfer efficiency, outlined share of computing"; set format x "%g"; set xlabel "time (s)"; set yrange [0:1.1]; set style fill solid 0.5'; \
	echo 'plot "$(OUT)/regions.tsv" skip 1 using ($$3+$$5/2):6:5 with boxes lc rgb "#762a83", "" skip 1 using ($$3+$$5/2):7:5 with boxes fs empty border lc rgb "#111111" lw 2'; \
	echo 'unset multiplot'; } | gnuplot $(whole)
