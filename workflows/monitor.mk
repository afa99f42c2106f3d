# SPDX-License-Identifier: BSD-3-Clause
# Where does the network hold a run back? Timeline, transfer-efficiency monitors and the resulting phases.
#
# run     make -f workflows/monitor.mk GRAPH=run.graph OUT=monitor RANK=0
# input   GRAPH, a graph stream; RANK, the rank of the drawn monitor; NETWORK, a machine [ideal];
#         FIGURES, svg, pdf and png [svg]
# output  $(OUT)/monitor.svg, like the figure of Haldar's poster: computation and MPI of all ranks over time, local
#         and cumulative transfer efficiency, phases; $(OUT)/regions.tsv, monitor.tsv and timeline.csv: its data

GRAPH =
NETWORK =
RANK = 0
OUT = monitor

SETTINGS = GRAPH NETWORK RANK OUT
folder = $(OUT)
tools = lp-replay lp-report lp-critpath
needed = GRAPH
such_as = RUN
asks = $(call state,$(graph) $(if $(NETWORK),$(call quoted,$(NETWORK))))
made = monitor.tsv regions.tsv timeline.csv monitor.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

graph = $(call quoted,$(GRAPH))
replay = lp-replay $(if $(NETWORK),-n $(call quoted,$(NETWORK))) -F table --monitor $(call quoted,$(RANK))

all: $(call drawn,monitor)
	@cat $(OUT)/regions.tsv

$(OUT)/monitor.tsv: $(OUT)/asked
	$(replay) $(graph) $(whole)

$(OUT)/regions.tsv: $(OUT)/asked
	$(replay) --regions $(graph) $(whole)

# Some 20 000 cells of ranks and time, however long the run.
$(OUT)/timeline.csv: $(OUT)/asked
	@lp-report -F csv --gain 0 --size 400k $(graph) $(whole)

# A box for each cell, so that rows of ranks have sharp edges in every viewer.
box = using (($$3 + $$4) / 2):(($$1 + $$2) / 2):3:4
timeline = "$(OUT)/timeline.csv" skip 1 $(box):($$1 - 0.5):($$2 + 0.5):(($$7 + $$8 + $$9 + $$10 + $$11 + $$12) / (($$4 - $$3) * ($$2 - $$1 + 1))) with boxxyerror fs solid noborder lc palette, "" skip 1 using ($$13 > 0.5 * ($$4 - $$3) ? $$3 : NaN):(($$1 + $$2) / 2):3:4:(($$1 + $$2) / 2 - 0.08 * ($$2 - $$1 + 1)):(($$1 + $$2) / 2 + 0.08 * ($$2 - $$1 + 1)) with boxxyerror fs solid noborder lc rgb "\#111111"
$(call drawn,monitor) &: $(OUT)/monitor.tsv $(OUT)/regions.tsv $(OUT)/timeline.csv $(OUT)/figures
	@{ echo 'set multiplot layout 3,1 margins 0.09,0.97,0.09,0.94 spacing 0,0.07'; \
	tail -1 $(OUT)/timeline.csv | awk -F, '{ printf "set xrange [0:%s]\nranks = %s\n", $$4, $$2 }'; \
	tail -n +2 $(OUT)/regions.tsv | awk -F'\t' '{ printf "set arrow from %s, graph 0 to %s, graph 1 nohead lc rgb \"#cc0000\" dt 2 front\n", $$4, $$4 }'; \
	echo 'set title "timeline: blue computes, orange is in MPI, black is the critical path" offset 0,-0.6; set ylabel "rank"; unset key'; \
	echo 'set palette defined (0 "#3b6fb6", 1 "#f4a261"); set cbrange [0:1]; unset colorbox; set format x ""'; \
	echo "set yrange [ranks + 0.5:-0.5]; if (ranks < 16) set ytics 1; set datafile separator ','"; \
	echo 'plot $(timeline)'; \
	echo 'set datafile separator "\t"; set title "transfer efficiency of rank $(RANK): dots local, line cumulative"; set yrange [0:1.2]; set ytics auto; set ylabel "efficiency"'; \
	echo 'plot "$(OUT)/monitor.tsv" skip 1 using ($$3/1e9):6 with points pt 7 ps 0.15 lc rgb "#888888", "" skip 1 using ($$3/1e9):7 with lines lw 2 lc rgb "#1b7837"'; \
	echo 'set title "phases: filled transfer efficiency, outlined share of computing"; set format x "%g"; set xlabel "time (s)"; set yrange [0:1.1]; set style fill solid 0.5'; \
	echo 'plot "$(OUT)/regions.tsv" skip 1 using ($$3+$$5/2):6:5 with boxes lc rgb "#762a83", "" skip 1 using ($$3+$$5/2):7:5 with boxes fs empty border rgb "#111111" lc rgb "#111111" lw 2'; \
	echo 'unset multiplot'; } | $(call picture,monitor,900x640)
