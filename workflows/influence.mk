# SPDX-License-Identifier: BSD-3-Clause
# How do buses, links, nodes and CPUs of a machine influence run times? One figure each, with curves of all programs.
#
# run     make -f workflows/influence.mk GRAPHS="heat.graph lammps.graph" NETWORK=machine OUT=influence
#         make -f workflows/influence.mk PATTERNS="sendrecv exchange reduce_scatter allgather" RANKS=8
#         make -f workflows/influence.mk PROGRAMS="lammps hpcc" RANKS=4 OUT=influence
# input   GRAPHS, graph streams; PATTERNS, of workflows/apps/patterns.c, compiled and recorded here on RANKS ranks,
#         ROUNDS of BYTES each; PROGRAMS, of workflows/program, likewise; NETWORK, a machine in lp-replay's format
#         [LATENCY_US and MB_S, 32 KiB eager]; BUSES, LINKS, NODES and CPUS, the values to try, where 0 buses or
#         links mean no limit; PER_NODE, ranks per node when CPUS vary [4], otherwise one
# output  $(OUT)/influence.tsv: parameter, value, program, seconds, and their ratio to those of the last value;
#         $(OUT)/buses.svg, links.svg, nodes.svg and cpus.svg, in formats FIGURES="svg pdf png"
#
# A run time is the longest time of a rank from leaving MPI_Init to entering MPI_Finalize. When NODES vary, a node has
# as many CPUs as ranks, so that only messages differ; more nodes than ranks are skipped. Computation stays as recorded.

GRAPHS =
PATTERNS =
PROGRAMS =
RANKS = 8
BYTES = 65536
ROUNDS = 20
NETWORK =
LATENCY_US = 10
MB_S = 100
BUSES = 1 2 3 4 6 8 16 0
LINKS = 1 2 3 4 0
NODES = 1 2 4 8 16 32 64
CPUS = 1 2 3 4
PER_NODE = 4
OUT = influence
MPIRUN = mpirun --oversubscribe --mca mpi_yield_when_idle 1
MPICC = mpicc

SETTINGS = GRAPHS PATTERNS PROGRAMS RANKS BYTES ROUNDS NETWORK LATENCY_US MB_S BUSES LINKS NODES CPUS PER_NODE OUT MPIRUN MPICC
counts = RANKS BYTES ROUNDS NODES CPUS PER_NODE
wholes = BUSES LINKS
commands = $(if $(PATTERNS),MPICC) $(if $(PATTERNS)$(PROGRAMS),MPIRUN)
numbers = LATENCY_US MB_S
folder = $(OUT)
tools = lp-replay lp-dump $(if $(PATTERNS)$(PROGRAMS),lp-record lp-merge lp-graph)
needed = GRAPHS|PATTERNS|PROGRAMS
such_as = RUN RUN...
asks = $(call state,$(call each_quoted,$(GRAPHS) $(NETWORK)) $(if $(PATTERNS),$(call quoted,$(program))) \
	$(if $(PROGRAMS),$(call quoted,$(here)program)))
made = patterns *.input raw log *.graph base programs influence.tsv *.points buses.svg links.svg nodes.svg cpus.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

program = $(here)apps/patterns.c
kinds = buses links nodes cpus

all: $(OUT)/influence.tsv $(call drawn,$(kinds))
	@cat $<

$(OUT)/base: $(OUT)/asked
	@{ $(if $(NETWORK),cat $(call quoted,$(NETWORK)),printf '%s\n' machine 'bandwidth $(MB_S) MB/s' 'collective all logarithmic' \
		'nodes 65536' 'latency $(LATENCY_US) us' 'eager 32 KiB' 'init recorded'); } $(whole)

matched = lp-merge $(OUT)/raw 2>>$(OUT)/log | lp-graph 2>>$(OUT)/log >$(OUT)/"$$pattern".graph; rm -rf $(OUT)/raw;
# Files of the programs; those recorded here come first.
$(OUT)/programs: $(OUT)/asked
	@rm -f $(OUT)/*.graph
	@$(if $(PATTERNS),$(MPICC) -O2 -o $(OUT)/patterns $(call quoted,$(program)); for pattern in $(call each_quoted,$(PATTERNS)); do \
		lp-record -o $(OUT)/raw -- $(MPIRUN) -n $(RANKS) $(OUT)/patterns "$$pattern" $(BYTES) $(ROUNDS) >>$(OUT)/log; \
		$(matched) done,true)
	@$(if $(PROGRAMS),for pattern in $(call each_quoted,$(PROGRAMS)); do \
		words=$$($(here)program "$$pattern" $(RANKS) $(OUT)/"$$pattern".input); \
		(cd $(OUT)/"$$pattern".input; lp-record -o ../raw -- $(MPIRUN) -n $(RANKS) $$words >>../log); \
		$(matched) done,true)
	@{ for pattern in $(call each_quoted,$(PATTERNS) $(PROGRAMS)); do echo "$(OUT)/$$pattern.graph"; done; \
		for graph in $(call each_quoted,$(GRAPHS)); do printf '%s\n' "$$graph"; done; } $(whole)

# Arguments: parameter, value, file, its number. A later line of a machine overrides an earlier one.
define one
machine=$$(mktemp); trap 'rm -f $$machine' EXIT
ranks=$$(lp-dump -k run "$$3" | jq .ranks)
if [ $$1 = nodes ] && [ $$2 -gt $$ranks ]; then exit; fi
{
	cat "$$BASE"
	case $$1 in
	buses) printf 'buses %d\nlinks 0 0\ncpus 1\nmapping 1\n' $$2 ;;
	links) printf 'buses 0\nlinks %d %d\ncpus 1\nmapping 1\n' $$2 $$2 ;;
	nodes) each=$$(((ranks + $$2 - 1) / $$2)); printf 'buses 0\nlinks 0 0\ncpus %d\nmapping %d\n' $$each $$each ;;
	cpus) printf 'buses 0\nlinks 0 0\ncpus %d\nmapping %d\n' $$2 $$PER_NODE ;;
	esac
} >$$machine
ns=$$(lp-replay -n $$machine -F csv "$$3" | awk -F, 'NR == 2 { print $$2 }')
printf '%s\t%s\t%s\t%s\n' $$1 $$2 "$$4" "$$ns"
endef
export one
tries = $(each) -k --colsep '\t' bash -eu -o pipefail -c '"$$one"' one
# The name of a file without folder and suffix, and without characters that end a cell or a gnuplot string.
names = awk '{ sub(".*/", ""); sub("\\.graph$$", ""); gsub(/[^A-Za-z0-9_.,+=@ -]/, "?"); \
	if (n[$$0]++) $$0 = $$0 " " n[$$0]; print NR "\t" $$0 }'

$(OUT)/influence.tsv: $(OUT)/base $(OUT)/programs
	@export BASE=$(OUT)/base PER_NODE=$(PER_NODE); { \
	$(foreach k,BUSES LINKS NODES CPUS,$(tries) $(shell echo $(k) | tr A-Z a-z) {1} {3} {2} ::: $($(k)) :::: <(awk '{ print NR "\t" $$0 }' $(OUT)/programs);) } | \
		awk -F'\t' -v OFS='\t' 'NR == FNR { name[$$1] = $$2; next } \
			{ line[++n] = $$1 OFS $$2; who[n] = $$3; ns[n] = $$4; last[$$1, $$3] = $$4 } \
			END { print "parameter", "value", "program", "seconds", "relative"; \
			for (i = 1; i <= n; i++) { split(line[i], w, OFS); \
			printf "%s\t%s\t%.9f\t%.6f\n", line[i], name[who[i]], ns[i] / 1e9, ns[i] / last[w[1], who[i]] } }' \
		<($(names) $(OUT)/programs) - $(whole)

# A line for each value, a column for each program.
$(kinds:%=$(OUT)/%.points): $(OUT)/%.points: $(OUT)/influence.tsv
	@awk -F'\t' -v OFS='\t' -v kind=$* 'NR == 1 || $$1 != kind { next } \
		!($$2 in row) { row[$$2]; values[++rows] = $$2 } !($$3 in column) { column[$$3]; programs[++columns] = $$3 } \
		{ cell[$$2, $$3] = $$5 } \
		END { line = "value"; for (c = 1; c <= columns; c++) line = line OFS programs[c]; print line; \
		for (r = 1; r <= rows; r++) { v = values[r]; line = v == 0 ? "no limit" : v; \
		for (c = 1; c <= columns; c++) line = line OFS ((v, programs[c]) in cell ? cell[v, programs[c]] : "nan"); print line } }' $< $(whole)

title_buses = buses: messages in flight at once
title_links = links of each node, in and out
title_nodes = nodes, each with as many CPUs as ranks
title_cpus = CPUs of each node of $(PER_NODE) ranks

define figure
$$(call drawn,$(1)) &: $$(OUT)/$(1).points $$(OUT)/figures
	@{ echo 'set datafile separator tab; set datafile missing "nan"; set key outside right top noenhanced'; \
	echo 'set xlabel "$$(title_$(1))"; set ylabel "run time, that of the last value being 1"; set yrange [0:*]; set grid y'; \
	echo 'set style data linespoints; set pointsize 0.7'; \
	echo 'plot for [i=2:'$$$$(awk -F'\t' 'NR == 1 { print NF }' $$<)'] "$$<" using 0:(column(i)):xtic(1) title columnheader(i) pt 6 + i dt i - 1 lw 2'; } | \
		$$(call picture,$(1),760x420)
endef
$(foreach k,$(kinds),$(eval $(call figure,$(k))))
