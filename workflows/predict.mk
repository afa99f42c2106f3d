# SPDX-License-Identifier: BSD-3-Clause
# How long would programs run on another network, and how long do they? Both networks are there: each is
# measured, each program recorded on both, replayed on the machine of the other, and compared.
#
# run     make -f workflows/predict.mk APPS=programs HERE="mpirun -n 2" THERE="nodes mpirun -n 2" OUT=predict
# input   APPS, a file: on each line a name and the command of a program, without its launcher;
#         HERE, THERE: launchers, on either network; RUNS, how often each program runs on each [3];
#         SIZES, COLLECTIVES, REPS, BUDGET and MPIRUNS: of lp-measure; QUANTILE of its repetitions
# output  $(OUT)/predicted.txt: by program and direction recorded, predicted and measured seconds, and the
#         relative root mean square error of all, of programs that mostly compute, and of the others;
#         $(OUT)/predicted.tsv; here.machine and there.machine, for lp-replay -n; here.tsv and there.tsv,
#         measured and fitted times of collectives; predicted.svg: predicted against measured;
#         FIGURES="svg pdf png" are its formats
#
# A time is the longest of a rank from leaving MPI_Init to entering MPI_Finalize, the least of all runs, on
# either side. The order of runs is here, there, there, here. What both networks share, the cores above all,
# is not predicted: where other programs run, or more ranks than cores, computing takes another time.

APPS =
HERE =
THERE =
RUNS = 3
OUT = predict
SIZES = 0,8,64,256,512,1k,2k,3k,4k,6k,8k,16k,32k,48k,64k,65k,96k,128k,256k,512k,1M
COLLECTIVES = Barrier,Bcast,Reduce,Allreduce,Gather,Scatter,Allgather,Alltoall,Reduce_scatter,Scan
REPS = 30
BUDGET = 10
MPIRUNS = 2
QUANTILE = 0.25

SETTINGS = APPS HERE THERE RUNS OUT SIZES COLLECTIVES REPS BUDGET MPIRUNS QUANTILE
stamped = $(filter-out FIGURES OUT,$(SETTINGS))
folder = $(OUT)
tools = lp-measure lp-network lp-record lp-merge lp-graph lp-replay
needs = for s in $(call quoted,$(APPS)) $(call quoted,$(HERE)) $(call quoted,$(THERE)); do [ -n "$$s" ] || \
	{ echo 'APPS, HERE and THERE are needed: APPS=programs HERE="mpirun -n 2" THERE="nodes mpirun -n 2"' >&2; exit 2; }; done
asks = $(call state,$(call quoted,$(APPS)))
made = here.runs there.runs *.run here.machine there.machine here.tsv there.tsv runs *.graph raw log spans.tsv \
       predicted.tsv predicted.txt predicted.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.NOTPARALLEL:

all: $(OUT)/predicted.txt $(OUT)/here.tsv $(OUT)/there.tsv $(call drawn,predicted)
	@cat $<

# $(call measured,here,LAUNCHER)
messages = Pingpong,Send,Recv,Exchange,Burst,Combine
numbers := $(shell seq $(call quoted,$(MPIRUNS)) 2>/dev/null)
measured = $(foreach n,$(numbers),$(2) lp-measure --plain -f $(messages),$(COLLECTIVES) -s $(SIZES) -n $(REPS) -w 5 \
	-B $(BUDGET) -o $(OUT)/$(1).$(n).run.part >>$(OUT)/log && mv $(OUT)/$(1).$(n).run.part $(OUT)/$(1).$(n).run &&) touch $@

$(OUT)/here.runs: $(OUT)/asked
	@$(call measured,here,$(HERE))

$(OUT)/there.runs: $(OUT)/asked
	@$(call measured,there,$(THERE))

$(OUT)/%.machine: $(OUT)/%.runs
	@lp-network -M loggp -q $(QUANTILE) $(OUT)/$*.[0-9]*.run $(whole)

$(OUT)/%.tsv: $(OUT)/%.runs
	@lp-network -M loggp -q $(QUANTILE) -F text $(OUT)/$*.[0-9]*.run $(whole)

# Arguments: name, run, side, command with its launcher. Which run was the quickest is seen later.
define record
rm -rf "$$OUT/raw"
bash -c "$$4" >>"$$OUT/log" 2>&1 </dev/null || { tail "$$OUT/log" >&2; exit 2; }
lp-merge "$$OUT/raw" 2>>"$$OUT/log" | lp-graph 2>>"$$OUT/log" >"$$OUT/$$1.$$3.$$2.graph"
rm -rf "$$OUT/raw"
endef
export record

$(OUT)/runs: $(OUT)/asked $(OUT)/here.machine $(OUT)/there.machine
	@rm -f $(OUT)/*.graph; export OUT=$(OUT); \
	for run in $$(seq $(call quoted,$(RUNS))); do \
		sides='here there'; [ $$((run % 2)) = 1 ] || sides='there here'; \
		while read -r name command; do \
			[ -n "$$command" ] || { echo "$(APPS): $$name: a line is a name and a command" >&2; exit 2; }; \
			for side in $$sides; do \
				if [ $$side = here ]; then launcher=$(call quoted,$(HERE)); else launcher=$(call quoted,$(THERE)); fi; \
				bash -eu -o pipefail -c "$$record" record "$$name" $$run $$side "$$launcher lp-record -o $$OUT/raw $$command"; \
			done; \
		done < <(grep -vE '^[[:space:]]*(#|$$)' $(call quoted,$(APPS))); \
	done
	@touch $@

# A run: name, side, recorded and predicted span, share of MPI.
$(OUT)/spans.tsv: $(OUT)/runs
	@for graph in $(OUT)/*.graph; do \
		name=$${graph##*/}; name=$${name%.graph}; name=$${name%.*}; side=$${name##*.}; \
		other=there; [ $$side = here ] || other=here; \
		lp-replay -n $(OUT)/$$other.machine -F csv $$graph | tail -1 | \
			awk -F, -v OFS='\t' -v name="$${name%.*}" -v side=$$side '{ print name, side, $$3 / 1e9, $$2 / 1e9, 1 - $$4 / $$1 / $$3 }'; \
	done $(whole)

$(OUT)/predicted.tsv: $(OUT)/spans.tsv
	@awk -F'\t' -v OFS='\t' '{ k = $$1 OFS $$2; if (!(k in r) || $$3 < r[k]) { r[k] = $$3; mpi[k] = $$5 } \
		if (!(k in p) || $$4 < p[k]) p[k] = $$4; if (!($$1 in seen)) { seen[$$1]; names[++n] = $$1 } } \
		END { print "program", "from", "to", "recorded_s", "predicted_s", "measured_s", "error_%", "mpi_%"; \
		for (i = 1; i <= n; i++) for (d = 0; d < 2; d++) { from = d ? "there" : "here"; to = d ? "here" : "there"; \
			a = names[i] OFS from; b = names[i] OFS to; \
			printf "%s\t%s\t%s\t%.6f\t%.6f\t%.6f\t%.2f\t%.1f\n", names[i], from, to, r[a], p[a], r[b], 100 * (p[a] / r[b] - 1), 100 * mpi[b] } }' $< $(whole)

$(OUT)/predicted.txt: $(OUT)/predicted.tsv
	@{ cat $<; echo; awk -F'\t' 'NR > 1 { for (k = 0; k < 2; k++) { c = k ? ($$8 > 50 ? "communicates" : "computes") : "all"; \
		for (d = 0; d < 2; d++) { key = c "\t" (d ? $$2 " to " $$3 : "both ways"); sum[key] += $$7 * $$7; n[key]++ } } } \
		END { print "which\tdirection\tprograms\tRRMSE_%"; for (k in sum) printf "%s\t%d\t%.2f\n", k, n[k], sqrt(sum[k] / n[k]) | "sort" }' $<; } $(whole)

$(call drawn,predicted) &: $(OUT)/predicted.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set log xy; set xlabel "measured (s)"; set ylabel "predicted (s)"'; \
	echo 'set title "run time on the other network"; set key top left'; \
	echo 'side(s) = strcol(2) eq s ? column(6) : NaN'; \
	echo 'plot "$<" skip 1 using (side("here")):5 title "recorded here, run there" with points pt 7, \'; \
	echo '"" skip 1 using (side("there")):5 title "recorded there, run here" with points pt 5, x title "right" with lines lc rgb "black"'; } | $(call picture,predicted,640x480)
