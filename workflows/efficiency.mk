# SPDX-License-Identifier: BSD-3-Clause
# What limits the scaling of a program: the efficiencies of basicanalysis' modelfactors.py 0.3.6.
#
# run     make -f workflows/efficiency.mk RUNS="1.prv.gz 2.prv.gz 4.prv.gz" OUT=factors
#         make -f workflows/efficiency.mk RUNS="2.graph 4.graph 8.graph" OUT=factors
# input   RUNS: Paraver traces or graph streams of runs on different numbers of ranks
# output  $(OUT)/modelfactors.csv, and the same on the terminal
#
# Each run is replayed on the ideal Dimemas machine, with rendezvous from 32 KiB. The first run is the one on the
# fewest ranks. Scaling is weak if instructions grow with ranks (mean ratio above 0.9). A Paraver trace is judged as a
# whole, as by modelfactors.py; a graph stream from leaving MPI_Init to entering MPI_Finalize, as by all tools here.
# Instructions and cycles come from Paraver traces; without them the factors that need them are left out.

RUNS =
OUT = factors

SETTINGS = RUNS OUT
folder = $(OUT)
tools = lp-import lp-dump lp-replay
needed = RUNS
such_as = RUN RUN...
asks = $(call state,$(call each_quoted,$(RUNS)))
made = modelfactors.csv
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

all: $(OUT)/modelfactors.csv
	@cat $<

# One run as a line of numbers.
define replay
graph=$$1 imported=$$(mktemp) machine=$$(mktemp) whole=
trap 'rm -f $$imported $$machine' EXIT
case $$graph in
*.prv|*.prv.gz) lp-import -f prv -- "$$graph" >$$imported; graph=$$imported whole=--whole ;;
esac
ranks=$$(lp-dump -k run -- "$$graph" | jq .ranks)
printf 'machine\nbandwidth infinite\ncollective all constant\nnodes %d\nmapping 1\n' $$ranks >$$machine
lp-replay -n $$machine --eager 32k -F csv $$whole -- "$$graph"
endef
export replay

define factors
# Microseconds with two decimals, as modelfactors.py uses them.
function us(ns) { return sprintf("%.2f", ns / 1e3) + 0 }
function line(name, values,   i, text) {
	text = name
	for (i = 1; i <= n; i++) text = text ";" sprintf("%.6f", values[i])
	print text
}
{
	n++; ranks[n] = $$1; ideal[n] = us($$2); run[n] = us($$3); total[n] = us($$4)
	average[n] = us($$4 / $$1); most[n] = us($$5); ideal_most[n] = us($$6); instr[n] = $$7; cycles[n] = $$8
}
END {
	head = "Number of processes"
	for (i = 1; i <= n; i++) head = head ";" ranks[i]
	print head
	for (i = 2; i <= n && instr[1] > 0; i++) ratio += instr[i] / instr[1] / (ranks[i] / ranks[1]) / (n - 1)
	weak = ratio > 0.9
	for (i = 1; i <= n; i++) {
		grown = weak ? ranks[i] / ranks[1] : 1
		lb[i] = 100 * average[i] / most[i]; comm[i] = 100 * most[i] / run[i]
		par[i] = lb[i] * comm[i] / 100; serial[i] = 100 * ideal_most[i] / ideal[i]
		transfer[i] = 100 * comm[i] / serial[i]; comp[i] = 100 * total[1] / total[i] * grown
		global[i] = par[i] * comp[i] / 100; speedup[i] = run[1] / run[i] * grown
		if (instr[1] > 0 && cycles[1] > 0) {
			ipc[i] = instr[i] / cycles[i]; ghz[i] = cycles[i] / total[i] / 1000
			ipcs[i] = 100 * ipc[i] / ipc[1]; ghzs[i] = 100 * ghz[i] / ghz[1]
			instrs[i] = 100 * instr[1] / instr[i] * grown
		}
	}
	line("Parallel efficiency", par); line("Load balance", lb); line("Communication efficiency", comm)
	line("Serialization efficiency", serial); line("Transfer efficiency", transfer)
	line("Computation scalability", comp); line("Global efficiency", global)
	if (instr[1] > 0 && cycles[1] > 0) {
		line("IPC scalability", ipcs); line("Instruction scalability", instrs)
		line("Frequency scalability", ghzs)
	}
	line("Speedup", speedup)
	if (instr[1] > 0 && cycles[1] > 0) {
		line("Average IPC", ipc); line("Average frequency (GHz)", ghz)
	}
	print "#"
	raw("#Runtime (us)", run); raw("#Runtime (ideal)", ideal)
	raw("#Useful duration (average)", average); raw("#Useful duration (maximum)", most)
	raw("#Useful duration (total)", total); raw("#Useful duration (ideal, max)", ideal_most)
	raw("#Useful instructions (total)", instr); raw("#Useful cycles (total)", cycles)
}
function raw(name, values,   i, text) {
	text = name
	for (i = 1; i <= n; i++) text = text ";" sprintf("%.2f", values[i])
	print text
}
endef
export factors

$(OUT)/modelfactors.csv: $(OUT)/asked
	@$(each) -k bash -eu -o pipefail -c '"$$replay"' replay {} ::: $(call each_quoted,$(RUNS)) | \
		grep -v ^ranks | sort -t, -n -k1,1 | awk -F, "$$factors" $(whole)
