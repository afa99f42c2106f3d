# SPDX-License-Identifier: BSD-3-Clause
# How long would programs run on another network, and how long do they run? With access to both networks: each is
# measured; each program is recorded on both, replayed on the other's machine, and compared.
#
# run     make -f workflows/predict.mk APPS=programs HERE="mpirun -n 2" THERE="nodes mpirun -n 2" OUT=predict
# input   APPS, a file: on each line a name and the command of a program, without its launcher;
#         PARTS, names of programs that choose their counts by measured speed: they are compared by the parts that
#         are alike on both networks (workflows/parts), not as a whole; HERE, THERE: launchers, one per network;
#         RUNS, number of measurements and of runs on each [5];
#         SIZES, COLLECTIVES, REPS, BUDGET and MPIRUNS (in each run): of lp-measure; QUANTILE of its
#         repetitions, of lp-network
# output  $(OUT)/predicted.txt: by program and direction recorded, predicted and measured seconds, and the
#         relative root mean square error of all, of programs that mostly compute, and of the others;
#         $(OUT)/predicted.tsv; parts.tsv, each part of each run of PARTS (the table has those that are alike and
#         take a hundredth of a run); here.machine and there.machine, for lp-replay -n; here.tsv and
#         there.tsv, measured and fitted times of collectives; predicted.svg: predicted against measured,
#         in formats FIGURES="svg pdf png"
#
# A run time is from the last leave of MPI_Init to the last enter of MPI_Finalize: ranks that leave MPI_Init early
# wait for the others, which is not due to the network. Seconds are medians of the runs.
#	error_%   predicted against measured time of the same run, close together in time: the median over runs
#	spread_%  of the measured runs: half their interquartile range; - of one run. No prediction is better than that
#	own_%     the run recorded on the target, replayed on the target's machine, against its own time: the error
#	          that remains with the target's own computation; the median over runs
# A run has the order here, there, the next one there, here; each begins by measuring the networks. Effects of shared
# resources, above all cores, are not predicted. With other programs, or more ranks than cores, computation takes a
# different time: a waiting rank polls for messages and so takes turns with computing ranks, and the recorded time
# between two calls includes the turns of others. Nor is a receiver predicted that falls behind a sender which never
# waits for it: its messages are copied into new memory until the network stops the sender, at a higher cost than any
# measured here.

APPS =
PARTS =
HERE =
THERE =
RUNS = 5
OUT = predict
SIZES = 0,8,64,256,512,1k,2k,3k,4k,6k,8k,16k,32k,48k,64k,65k,96k,128k,256k,512k,1M
COLLECTIVES = Barrier,Bcast,Reduce,Allreduce,Gather,Scatter,Allgather,Alltoall,Reduce_scatter,Scan
REPS = 30
BUDGET = 10
MPIRUNS = 1
QUANTILE = mean

SETTINGS = APPS PARTS HERE THERE RUNS OUT SIZES COLLECTIVES REPS BUDGET MPIRUNS QUANTILE
stamped = $(filter-out FIGURES OUT,$(SETTINGS))
counts = RUNS REPS MPIRUNS
folder = $(OUT)
tools = lp-measure lp-network lp-record lp-merge lp-graph lp-replay $(if $(PARTS),lp-dump)
needed = APPS HERE THERE
commands = HERE THERE
such_as = APPS=programs HERE="mpirun -n 2" THERE="nodes mpirun -n 2"
asks = $(call state,$(call quoted,$(APPS)))
made = *.run here.machine there.machine here.tsv there.tsv runs *.graph raw log spans.tsv parts.tsv replayed \
       predicted.tsv predicted.txt predicted.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.NOTPARALLEL:

all: $(OUT)/predicted.txt $(OUT)/here.tsv $(OUT)/there.tsv $(call drawn,predicted)
	@cat $<

messages = Pingpong,Send,Recv,Exchange,Burst,Combine

# Arguments: run, side, launcher. The network is measured under the recorder, like programs: it makes the fastest
# calls longer by a tenth and more.
define measure
for n in $$(seq "$$MPIRUNS"); do
	rm -rf "$$OUT/raw"
	bash -c "$$3 lp-record -o $$OUT/raw lp-measure --plain -f $(messages),$(COLLECTIVES) -s $(SIZES) -n $(REPS) -w 5 -B $(BUDGET) -o $$OUT/run.part" \
		>>"$$OUT/log" 2>&1 </dev/null || { tail "$$OUT/log" >&2; exit 2; }
	mv "$$OUT/run.part" "$$OUT/$$2.$$1.$$n.run"
done
rm -rf "$$OUT/raw"
endef

# Arguments: name, run, side, command with its launcher.
define record
rm -rf "$$OUT/raw"
bash -c "$$4" >>"$$OUT/log" 2>&1 </dev/null || { tail "$$OUT/log" >&2; exit 2; }
lp-merge "$$OUT/raw" 2>>"$$OUT/log" | lp-graph 2>>"$$OUT/log" >"$$OUT/$$1.$$3.$$2.graph"
rm -rf "$$OUT/raw"
endef
export measure record
quick = bash -eu -o pipefail -c

$(OUT)/runs: $(OUT)/asked
	@rm -f $(OUT)/*.graph $(OUT)/*.run $(OUT)/log; export OUT=$(OUT) MPIRUNS=$(call quoted,$(MPIRUNS)); \
	launcher() { if [ "$$1" = here ]; then printf '%s' $(call quoted,$(HERE)); else printf '%s' $(call quoted,$(THERE)); fi; }; \
	for run in $$(seq $(call quoted,$(RUNS))); do \
		sides='here there'; [ $$((run % 2)) = 1 ] || sides='there here'; \
		for side in $$sides; do $(quick) "$$measure" measure $$run $$side "$$(launcher $$side)"; done; \
		while read -r name command; do \
			[ -n "$$command" ] || $(call fail,"$(APPS): $$name: a line is a name and a command"); \
			for side in $$sides; do \
				$(quick) "$$record" record "$$name" $$run $$side "$$(launcher $$side) lp-record -o $$OUT/raw $$command"; \
			done; \
		done < <(grep -vE '^[[:space:]]*(#|$$)' $(call quoted,$(APPS))); \
	done
	@touch $@

$(OUT)/%.machine: $(OUT)/runs
	@lp-network -M loggp -q $(QUANTILE) $(OUT)/$*.[0-9]*.run $(whole)

$(OUT)/%.tsv: $(OUT)/runs
	@lp-network -M loggp -q $(QUANTILE) -F text $(OUT)/$*.[0-9]*.run $(whole)

named = name=$${graph\#\#*/}; name=$${name%.graph}; run=$${name\#\#*.}; name=$${name%.*}; side=$${name\#\#*.};
# A run: name, side, run; seconds recorded, replayed on the other network and on its own; share of MPI.
$(OUT)/spans.tsv: $(OUT)/runs $(OUT)/here.machine $(OUT)/there.machine
	@for graph in $(OUT)/*.graph; do \
		$(named) \
		case ' '$(call quoted,$(PARTS))' ' in *" $${name%.*} "*) continue ;; esac; \
		other=there; [ $$side = here ] || other=here; \
		{ lp-replay -n $(OUT)/$$other.machine -F csv $$graph; lp-replay -n $(OUT)/$$side.machine -F csv $$graph; } | \
			awk -F, -v OFS='\t' -v name="$${name%.*}" -v side=$$side -v run=$$run 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i } \
				NR % 2 == 0 { t[NR] = $$at["together_ns"] / 1e9; was = $$at["recorded_together_ns"] / 1e9; \
					useful = $$at["useful_total_ns"] / $$at["ranks"] / 1e9 } \
				END { print name, side, run, was, t[2], t[4], useful < was ? 1 - useful / was : 0 }'; \
	done $(whole)

$(OUT)/predicted.tsv: $(OUT)/spans.tsv
	@awk -F'\t' -v OFS='\t' 'function quantile(list, q,   v, n, i, k, x) { n = split(list, v, " "); \
			for (i = 2; i <= n; i++) { x = v[i] + 0; for (k = i - 1; k > 0 && v[k] + 0 > x; k--) v[k + 1] = v[k]; v[k + 1] = x } \
			x = 1 + (n - 1) * q; i = int(x); return v[i] + (i < n ? (x - i) * (v[i + 1] - v[i]) : 0) } \
		{ k = $$1 OFS $$2; was[k] = was[k] " " $$4; mpi[k] = mpi[k] " " $$7; on[k] = on[k] " " $$5; \
		own[k] = own[k] " " 100 * ($$6 / $$4 - 1); one[k, $$3] = $$4; other[k, $$3] = $$5; runs[$$3]; \
		if (!($$1 in seen)) { seen[$$1]; names[++n] = $$1 } } \
		END { print "program", "from", "to", "recorded_s", "predicted_s", "measured_s", "error_%", "mpi_%", "spread_%", "own_%"; \
		for (i = 1; i <= n; i++) for (d = 0; d < 2; d++) { from = d ? "there" : "here"; to = d ? "here" : "there"; \
			a = names[i] OFS from; b = names[i] OFS to; list = ""; \
			for (r in runs) list = list " " 100 * (other[a, r] / one[b, r] - 1); \
			spread = split(was[b], v, " ") < 2 ? "-" : \
				sprintf("%.1f", 50 * (quantile(was[b], 0.75) - quantile(was[b], 0.25)) / quantile(was[b], 0.5)); \
			printf "%s\t%s\t%s\t%.6f\t%.6f\t%.6f\t%.2f\t%.1f\t%s\t%.2f\n", names[i], from, to, quantile(was[a], 0.5), \
				quantile(on[a], 0.5), quantile(was[b], 0.5), quantile(list, 0.5), 100 * quantile(mpi[b], 0.5), \
				spread, quantile(own[b], 0.5) } }' $< $(whole)

$(OUT)/parts.tsv: $(OUT)/runs $(OUT)/here.machine $(OUT)/there.machine
	@{ printf 'program\tfrom\tto\trun\tpart\tbegin\tbegin_site\tend\tend_site\tcalls\tcalls_there\talike\trecorded_s\tpredicted_s\tmeasured_s\n'; \
	for name in $(call each_quoted,$(PARTS)); do for graph in $(OUT)/"$$name".*.graph; do \
		$(named) \
		other=there; [ $$side = here ] || other=here; \
		lp-replay -n $(OUT)/$$other.machine $$graph >$(OUT)/replayed; \
		$(here)parts $$graph $(OUT)/replayed $(OUT)/"$${name%.*}".$$other.$$run.graph | \
			awk -v OFS='\t' -v name="$${name%.*}" -v side=$$side -v other=$$other -v run=$$run 'NR > 1 { print name, side, other, run, $$0 }'; \
	done; done; rm -f $(OUT)/replayed; } $(whole)

$(OUT)/predicted.txt: $(OUT)/predicted.tsv $(OUT)/parts.tsv
	@{ cat $<; echo; awk -F'\t' 'FNR == 1 { file++; next } \
		file == 2 { run = $$1 FS $$2 FS $$4; all[run] += $$15; if ($$12 == "yes") { m++; of[m] = run; way[m] = $$2 " to " $$3; p[m] = $$14; t[m] = $$15 } next } \
		{ for (k = 0; k < 2; k++) { c = k ? ($$8 > 50 ? "communicates" : "computes") : "all"; \
		for (d = 0; d < 2; d++) { key = c "\t" (d ? $$2 " to " $$3 : "both ways"); n[key]++; \
			sum[key] += $$7 * $$7; own[key] += $$10 * $$10; if ($$9 != "-") { spreads[key]++; spread[key] += $$9 * $$9 } } } } \
		END { for (i = 1; i <= m; i++) if (t[i] > 0.01 * all[of[i]]) for (d = 0; d < 2; d++) { \
			key = "parts\t" (d ? way[i] : "both ways"); n[key]++; sum[key] += 10000 * (p[i] / t[i] - 1) ^ 2 } \
		 print "which\tdirection\tprograms\tRRMSE_%\tspread_%\town_%"; for (k in sum) printf "%s\t%d\t%.2f\t%s\t%.2f\n", \
			k, n[k], sqrt(sum[k] / n[k]), spreads[k] ? sprintf("%.1f", sqrt(spread[k] / spreads[k])) : "-", sqrt(own[k] / n[k]) | "sort" }' $^; } $(whole)

$(call drawn,predicted) &: $(OUT)/predicted.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set log xy; set xlabel "measured (s)"; set ylabel "predicted (s)"'; \
	echo 'set title "run time on the other network"; set key top left'; \
	echo 'side(s) = strcol(2) eq s ? column(6) : NaN'; \
	echo 'plot "$<" skip 1 using (side("here")):5 title "recorded here, run there" with points pt 7, \'; \
	echo '"" skip 1 using (side("there")):5 title "recorded there, run here" with points pt 5, x title "right" with lines lc rgb "black"'; } | $(call picture,predicted,640x480)
