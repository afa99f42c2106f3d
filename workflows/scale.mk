# SPDX-License-Identifier: BSD-3-Clause
# What would it cost to analyse a run on many processes? A model fitted to analyses on a few.
#
# run     make -f workflows/scale.mk RAW=run/raw
#         make -f workflows/scale.mk RAW=run/raw PROCESSES="1 2 4 8" PREDICT="64 1024" MPIRUN="srun"
# input   RAW, the raw traces of a run; PROCESSES, at least three numbers, among them 1; PREDICT, numbers to predict;
#         REPEAT rounds, each with all numbers in turn; ANALYSES: critpath and imbalance
# output  in $(OUT): costs.tsv, each tool's report of each analysis (LONGPOLE_COST, longpole(7)): seconds until
#         the processes had met (start_s), CPU time of the process that worked longest (work_s), time in exchanges
#         without waiting for the last process (exchange_s), wall time (wall_s); number of exchanges, their bytes,
#         and the peak memory of a process; units.tsv: medians of the same per row, exchange and byte;
#         TOOL.csv and all.csv, the tables for lp-fit: n processes, t = work_s + exchange_s, tau = exchange_s;
#         fit.txt: lp-fit's result; prediction.tsv: t and its band on PROCESSES and PREDICT, labelled
#
# The parts of t do not depend on how many cores the processes share, so 4 processes may run on 2 cores. t is the wall
# time of an analysis with a core for each process, without start_s, which does not grow with the run, and without the
# time that processes wait for each other in uneven rounds (with enough cores, wall_s minus start_s and t). Other work
# on the machine lengthens exchanges, so it should be quiet. All numbers of processes must give the same results.

RAW =
PROCESSES = 1 2 4
PREDICT = 64 1024
REPEAT = 3
ANALYSES = critpath imbalance
OUT = scale
MPIRUN = mpirun --oversubscribe --mca mpi_yield_when_idle 1

SETTINGS = RAW PROCESSES PREDICT REPEAT ANALYSES OUT MPIRUN
folder = $(OUT)
tools = lp-merge lp-graph lp-critpath lp-imbalance lp-fit
counts = PROCESSES PREDICT REPEAT
commands = MPIRUN
needed = RAW
such_as = RUN
needs = [ $(words $(sort $(PROCESSES))) -ge 3 ] && [ $(firstword $(PROCESSES)) -eq 1 ] || \
	$(call fail,'PROCESSES: lp-fit needs three numbers or more$(comma) and 1 is the first'); \
	[ $$(($(words $(sort $(PROCESSES))) * $(REPEAT))) -ge 4 ] || \
	$(call fail,'REPEAT: lp-fit needs 4 analyses or more: a round of three numbers of processes is too few'); \
	for t in $(call each_quoted,$(ANALYSES)); do [[ $$t =~ ^(critpath|imbalance)$$ ]] || \
	$(call fail,"ANALYSES: $$t is neither critpath nor imbalance"); done
asks = $(call state,$(raw))
made = trace graph *.cost *.result costs.tsv units.tsv *.csv fit.txt prediction.tsv
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.NOTPARALLEL:

raw = $(call quoted,$(RAW))
runs := $(foreach i,$(shell seq $(REPEAT)),$(patsubst %,%.$(i),$(PROCESSES)))

all: $(OUT)/units.tsv $(OUT)/prediction.tsv $(OUT)/fit.txt
	@cat $(OUT)/units.tsv; echo; \
		echo 'Of a model, not measured: t without start_s, 95 % from and to, tau the part of it in exchanges; see fit.txt'; \
		cat $(OUT)/prediction.tsv

# As many shards as the largest number of processes, so that all numbers use the same files.
define analyse
processes=$$1 out=$$2 raw=$$3 tools=$$4
launched=()
[ $$processes -eq 1 ] || launched=($$MPIRUN -n $$processes)
for tool in $$tools; do
	case $$tool in
	merge) "$${launched[@]}" lp-merge -o $$out/trace --shards $$SHARDS "$$raw" ;;
	graph) "$${launched[@]}" lp-graph -o $$out/graph $$out/trace ;;
	critpath) "$${launched[@]}" lp-critpath -F text $$out/graph >$$out/critpath.new ;;
	imbalance) "$${launched[@]}" lp-imbalance $$out/graph >$$out/imbalance.new ;;
	esac 2>$$out/log || { cat $$out/log >&2; $(call fail,"lp-$$tool failed on $$processes processes"); }
	grep -q "\"lp-$$tool\",\"processes\":$$processes," $$LONGPOLE_COST ||
		$(call fail,"lp-$$tool does not work by $$processes processes of: $$MPIRUN")
	[ -e $$out/$$tool.new ] || continue
	[ -e $$out/$$tool.result ] || cp $$out/$$tool.new $$out/$$tool.result
	cmp -s $$out/$$tool.new $$out/$$tool.result || $(call fail,"lp-$$tool finds something else on $$processes processes")
	rm $$out/$$tool.new
done
rm $$out/log
endef
export analyse

most = $(lastword $(shell printf '%s\n' $(PROCESSES) | sort -n))
$(runs:%=$(OUT)/%.cost): $(OUT)/%.cost: $(OUT)/asked
	@echo 'round $(subst .,,$(suffix $*)) of $(REPEAT) on $(basename $*) processes' >&2
	@rm -f $@.part; [ $* != 1.1 ] || rm -f $(OUT)/*.result
	@LONGPOLE_COST=$@.part MPIRUN=$(call quoted,$(MPIRUN)) SHARDS=$(most) \
		bash -eu -o pipefail -c "$$analyse" analyse $(basename $*) $(OUT) $(raw) $(call quoted,merge graph $(ANALYSES))
	@mv $@.part $@

$(OUT)/costs.tsv: $(runs:%=$(OUT)/%.cost)
	@rows=$$(lp-critpath --list 1 $(OUT)/graph | awk 'NR == 2 { print $$4 }'); \
	{ printf 'tool\tprocesses\tround\trows\tstart_s\twork_s\texchange_s\twall_s\texchanges\tbytes\tpeak_bytes\n'; \
	for p in $(call each_quoted,$(PROCESSES)); do for i in $$(seq $(REPEAT)); do \
	jq -r --arg rows $$rows --arg round $$i '[.tool, .processes, $$round, $$rows, .start_s, .work_s, .exchange_s, .wall_s, .exchanges, .bytes, .peak_bytes] | @tsv' \
		$(OUT)/$$p.$$i.cost; done; done | sort -t$$'\t' -s -n -k2,2; } $(whole)

define units
function median(text,   v, n, i, j, x) {
	n = split(text, v, " ")
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j > 0 && v[j] + 0 > x + 0; j--) v[j + 1] = v[j]
		v[j + 1] = x
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
NR > 1 {
	key = $$1 "\t" $$2
	if (!(key in rows)) keys[++count] = key
	rows[key] = $$4; start[key] = start[key] " " $$5; work[key] = work[key] " " $$6
	exchange[key] = exchange[key] " " $$7; wall[key] = wall[key] " " $$8; exchanges[key] = $$9; bytes[key] = $$10
	peak[key] = peak[key] " " $$11
}
END {
	print "tool\tprocesses\trows\trows_a_s\tstart_s\twork_ns_a_row\texchanges\texchange_us_each\tbytes_a_row\twall_s\tpeak_MB"
	for (i = 1; i <= count; i++) {
		k = keys[i]
		each = exchanges[k] > 0 ? sprintf("%.1f", 1e6 * median(exchange[k]) / exchanges[k]) : "-"
		printf "%s\t%d\t%.0f\t%.3f\t%.1f\t%d\t%s\t%.3f\t%.3f\t%.1f\n", k, rows[k], rows[k] / median(wall[k]), median(start[k]), \
			1e9 * median(work[k]) / rows[k], exchanges[k], each, bytes[k] / rows[k], median(wall[k]), median(peak[k]) / 1e6
	}
}
endef
export units

$(OUT)/units.tsv: $(OUT)/costs.tsv
	@awk -F '\t' "$$units" $< $(whole)

# A table for each tool, and one for their sum in a round.
define tables
NR > 1 {
	tool = $$1; sub(/^lp-/, "", tool)
	if (!(tool in table)) order[++count] = tool
	table[tool] = table[tool] sprintf("%d,%.6f,%.6f\n", $$2, $$6 + $$7, $$7)
	key = $$2 "." $$3
	if (!(key in t)) keys[++rounds] = key
	t[key] += $$6 + $$7; tau[key] += $$7
}
END {
	for (i = 1; i <= count; i++) printf "n,t,tau\n%s", table[order[i]] >(out "/" order[i] ".csv")
	printf "n,t,tau\n" >(out "/all.csv")
	for (i = 1; i <= rounds; i++) printf "%d,%.6f,%.6f\n", keys[i], t[keys[i]], tau[keys[i]] >(out "/all.csv")
}
endef
export tables

fitted = $(foreach t,merge graph $(ANALYSES) all,$(OUT)/$(t).csv)
$(fitted) &: $(OUT)/costs.tsv
	@awk -F '\t' -v out=$(OUT) "$$tables" $<

predicted = $(subst $(space),$(comma),$(strip $(PREDICT)))
$(OUT)/fit.txt: $(fitted)
	@lp-fit --predict $(predicted) $^ $(whole)

# Includes the measured numbers: the distance of the fit from them shows its quality.
define predictions
"tool\tprocesses\tt_s\tfrom_s\tto_s\ttau_s\tefficiency\twhat",
(.[] | .name as $$name | (.equation6.t1) as $$one | .points | group_by(.n) | .[] | .[0] + {was: (map(.t) | add)} |
	[$$name, .n, .t_fit, .t_low, .t_high, .tau_fit, $$one / (.n * .t_fit), if .was == null then "PREDICTION" else "fitted" end] |
	map(if type == "number" then . * 10000 | round / 10000 else . end) | @tsv)
endef
export predictions

$(OUT)/prediction.tsv: $(fitted)
	@lp-fit -F json --predict $(predicted) $^ | jq -r -s "$$predictions" $(whole)
