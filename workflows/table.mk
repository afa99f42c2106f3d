# SPDX-License-Identifier: BSD-3-Clause
# What do recording and analysing a program cost? The tables of the critical-path paper, for your own program.
#
# run     make -f workflows/table.mk APP="./app input" RANKS="2 4 8"
#         make -f workflows/table.mk lammps RANKS="2 4"     or hpcc, openfoam, cp2k, gromacs: small runs of what
#                                                     Debian's packages of these names install
# input   APP, an MPI program; COMPRESS and THRESHOLDS, options of lp-record, in all combinations; REPEAT rounds of
#         a bare run and one of each, in turns; PROCESSES, for the parallel algorithms; SOLVERS, as ALGORITHM:SPLITS:
#         delta:par-seq takes minutes on a million calls
# output  in $(OUT): overhead.tsv, times of the program, of the recorded program and of the analysis: median, least
#         and most, in per cent of the bare run of the same round; overhead.svg: the same as a figure;
#         processes.tsv, the paper's report: graph_time_s is the time of the tools, the same for all processes since
#         one analysis serves all; total_time_s is the sum of both;
#         solvers.tsv, time of every algorithm on the same graph; N.I.round, the measurements
#
# Tables and their terms: Korkhov et al., Algorithms 2023, 16, 505. Times are wall times; other load on the machine
# shows in the spread.

APP        =
RANKS      = 2 4
REPEAT     = 3
COMPRESS   = none min max
THRESHOLDS = 0 0.001
PROCESSES  = 2
SOLVERS    = walk: kahn: dijkstra: delta: intervals: walk:seq-par kahn:seq-par dijkstra:seq-par delta:seq-par \
             dijkstra:par-seq delta:par-seq dijkstra:par-par delta:par-par intervals:par-par
OUT        = table$(ready:%=-%)
MPIRUN     = mpirun --oversubscribe --mca mpi_yield_when_idle 1

goals = lammps hpcc openfoam cp2k gromacs
ready := $(filter $(goals),$(MAKECMDGOALS))

SETTINGS = APP RANKS REPEAT COMPRESS THRESHOLDS PROCESSES SOLVERS OUT MPIRUN
counts = RANKS REPEAT PROCESSES
commands = MPIRUN
folder = $(OUT)
tools = lp-record lp-merge lp-graph lp-critpath lp-imbalance
needs = [ $(words $(ready)) -eq $(if $(strip $(APP)),0,1) ] || \
	$(call fail,'table needs one program: APP=./app$(comma) or one of: $(goals)')
asks = echo program $(ready)
made = *.program *.input *.command *.recorded *.round *.graph *.json *.report *.solved \
       overhead.tsv overhead.svg processes.tsv solvers.tsv
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.NOTPARALLEL:
.PHONY: $(goals)

ranks = $(RANKS)
rounds := $(foreach i,$(shell seq $(REPEAT)),$(ranks:%=%.$(i)))

all $(ready): $(OUT)/overhead.tsv $(call drawn,overhead) $(OUT)/processes.tsv $(OUT)/solvers.tsv
	@for table in overhead processes solvers; do cat $(OUT)/$$table.tsv; echo; done

# The command for a number of ranks, for the shell.
$(ranks:%=$(OUT)/%.program): $(OUT)/%.program: $(OUT)/asked
	@{ printf '%s ' $(call quoted,$(MPIRUN)) -n $*; \
		$(if $(ready),$(here)program $(ready) $* $(OUT)/$*.input,printf '%s\n' $(call quoted,$(APP))); } $(whole)

command = lp-record -- $(if $(ready),$$(cat $(OUT)/$(basename $*).program),$(MPIRUN) -n $(basename $*) $(APP))
$(rounds:%=$(OUT)/%.command): $(OUT)/%.command: always $(ranks:%=$(OUT)/%.program)
	@$(call as_now,$(command),$(OUT)/$*.recorded)
$(rounds:%=$(OUT)/%.recorded): $(OUT)/%.recorded: $(OUT)/%.command
	@echo 'round $(subst .,,$(suffix $*)) of $(REPEAT) on $(basename $*) ranks' >&2
	@$(here)timed round $(subst .,,$(suffix $*)) $(basename $*) $(if $(ready),$(OUT)/$(basename $*).input,.) \
		$(if $(filter %.1,$*),$(OUT)/$(basename $*).graph,'') $(call quoted,$(COMPRESS)) $(call quoted,$(THRESHOLDS)) \
		"$$(cat $(OUT)/$(basename $*).program)" >$(OUT)/$*.round.part
	@mv $(OUT)/$*.round.part $(OUT)/$*.round
	@$(call as_run,$(command))

$(ranks:%=$(OUT)/%.json): $(OUT)/%.json: $(OUT)/%.1.recorded
	@lp-imbalance -F json $(OUT)/$*.graph $(whole)

# Median, least and most of the numbers in a text.
define spread
function spread(text, of,   v, n, i, j, x) {
	n = split(text, v, " ")
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j > 0 && v[j] + 0 > x + 0; j--) v[j + 1] = v[j]
		v[j + 1] = x
	}
	return sprintf("%." of "f\t%." of "f\t%." of "f", (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2, v[1], v[n])
}
endef
export spread

# Calls of each number of ranks come first, then all rounds.
define overhead
FNR == NR { calls[$$1] = $$2; next }
$$3 == "bare" { bare[$$1, $$2] = $$5; runs[$$1] = runs[$$1] " " $$5; next }
{
	key = $$1 FS $$3 FS $$4
	if (!(key in rounds)) { order[++keys] = key; ranks[key] = $$1; bytes[key] = $$6 }
	rounds[key]++; recorded[key, $$2] = $$5; analysed[key, $$2] = $$7; round[key, rounds[key]] = $$2
}
END {
	print "ranks\tcompress\tthreshold_s\trounds\tprogram_s\tprogram_least_s\tprogram_most_s\trecorded_s\trecorded_least_s" \
		"\trecorded_most_s\trecording_%\trecording_least_%\trecording_most_%\tanalysis_s\tanalysis_least_s" \
		"\tanalysis_most_s\tanalysis_%\tanalysis_least_%\tanalysis_most_%\ttrace_bytes\tbytes_a_call"
	for (k = 1; k <= keys; k++) {
		key = order[k]; r = ra = a = aa = ""
		for (i = 1; i <= rounds[key]; i++) {
			n = round[key, i]; base = bare[ranks[key], n]
			r = r " " recorded[key, n]; ra = ra " " 100 * (recorded[key, n] / base - 1)
			a = a " " analysed[key, n]; aa = aa " " 100 * analysed[key, n] / base
		}
		print key, rounds[key], spread(runs[ranks[key]], 3), spread(r, 3), spread(ra, 2), spread(a, 3), spread(aa, 2),
			bytes[key], sprintf("%.1f", bytes[key] / calls[ranks[key]])
	}
}
endef
export overhead

$(OUT)/overhead.tsv: $(rounds:%=$(OUT)/%.recorded) $(ranks:%=$(OUT)/%.json)
	@awk -F'\t' -v OFS='\t' "$$spread $$overhead" \
		<(jq -r '[.program.ranks, .program.num_calls] | @tsv' $(ranks:%=$(OUT)/%.json)) $(rounds:%=$(OUT)/%.round) $(whole)

# The paper's names; graph_time is from the first way of recording.
report = def line($$who): ["$*", $$who, .total_time_s, $$graph, ((.total_time_s + $$graph) * 1e9 | round / 1e9), \
	.total_execution_time_s, .total_wait_time_s, .imbalance, .num_calls, .num_nodes, .num_edges]; \
	(.processes[] | line(.rank)), (.program | line("all")) | @tsv
$(OUT)/%.report: $(OUT)/%.json $(OUT)/overhead.tsv
	@jq -r --argjson graph "$$(awk -F'\t' '$$1 == $* { print $$14; exit }' $(OUT)/overhead.tsv)" '$(report)' $< $(whole)
$(OUT)/processes.tsv: $(ranks:%=$(OUT)/%.report)
	@{ printf '%s\t' ranks rank program_time_s graph_time_s total_time_s total_execution_time_s total_wait_time_s \
		imbalance num_calls num_nodes; echo num_edges; cat $(ranks:%=$(OUT)/%.report); } $(whole)

define solvers
{
	key = FILENAME FS $$1 FS $$2 FS $$3
	if (!(key in all)) order[++keys] = key
	all[key] = all[key] " " $$4; length_of[key] = $$5 FS $$6
}
END {
	print "ranks\talgorithm\tsplits\tprocesses\ttime_s\tleast_s\tmost_s\tlength_s\tsegments"
	for (k = 1; k <= keys; k++) {
		name = order[k]; sub(/^.*\//, "", name); sub(/\.solved/, "", name)
		print name, spread(all[order[k]], 4), length_of[order[k]]
	}
}
endef
export solvers
$(ranks:%=$(OUT)/%.solved): $(OUT)/%.solved: $(OUT)/%.json
	@$(here)timed solvers $(REPEAT) $(OUT)/$*.graph $(PROCESSES) $(call quoted,$(SOLVERS)) $(call quoted,$(MPIRUN)) $(whole)
$(OUT)/solvers.tsv: $(ranks:%=$(OUT)/%.solved)
	@awk -F'\t' -v OFS='\t' "$$spread $$solvers" $^ $(whole)

# A group for each number of ranks: on its left the cost of each way of recording, on its right that of the analysis.
define figure
NR > 1 {
	name = $$2 "," $$3 "s"
	if (!($$1 in at)) { tics = tics (n ? ", " : "") "'" $$1 "' " n + 0; at[$$1] = n++ }
	if (!(name in way)) { names = names " " name; way[name] = ways++ }
	line[++lines] = way[name] OFS at[$$1] OFS $$11 OFS $$12 OFS $$13 OFS $$17 OFS $$18 OFS $$19
}
END {
	print "set xtics (" tics "); set xrange [-0.5:" n - 0.5 "]; ways = " ways "; names = '" names "'\n$$points << END"
	for (i = 1; i <= lines; i++) print line[i]
	print "END"
}
endef
export figure
plot = plot for [w=0:ways-1] $$points using ($$1 == w ? $$2 + (w + 0.5) * 0.4 / ways - 0.4 : NaN):3:4:5 \
	with yerrorbars pt 7 lc w+1 title word(names, w + 1), \
	for [w=0:ways-1] "" using ($$1 == w ? $$2 + (w + 0.5) * 0.4 / ways : NaN):6:7:8 with yerrorbars pt 6 lc w+1 notitle
$(call drawn,overhead) &: $(OUT)/overhead.tsv $(OUT)/figures
	@{ awk -F'\t' -v OFS='\t' "$$figure" $<; \
	echo 'set key outside right; set grid y; set xzeroaxis; set xlabel "ranks"; set ylabel "per cent of the run"'; \
	echo 'set title "filled: what recording adds, by compression and threshold; open: the analysis"'; \
	echo '$(plot)'; } | $(call picture,overhead,900x480)
