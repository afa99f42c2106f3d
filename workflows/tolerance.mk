# SPDX-License-Identifier: BSD-3-Clause
# How much worse may the network be? Run time against latency, 1/bandwidth and overhead, for several runs.
#
# run     make -f workflows/tolerance.mk GRAPHS=run.graph OUT=tolerance
#         make -f workflows/tolerance.mk GRAPHS="a.graph b.graph" NETWORK=machine PERCENTS=1,5,10
# input   GRAPHS, graph streams; NETWORK, a machine of lp-replay [no latency, no limit: LogGP with a node for each
#         rank]; PERCENTS, the increases of the run time to look for; SITES=1: also the sites that pay
# output  $(OUT)/tolerance.txt: lp-tolerance's result for each; $(OUT)/curves.tsv: program, parameter,
#         value in us (the gap in ns per byte), per cent longer, seconds, and whether curve or points;
#         $(OUT)/latency.svg, gap.svg and overhead.svg, in formats FIGURES="svg pdf png"
#
# Curves are exact, including their breaks. If links, buses or CPUs are limited, they join points and are dashed.

GRAPHS =
NETWORK =
PERCENTS = 1,2,5
SITES =
OUT = tolerance

SETTINGS = GRAPHS NETWORK PERCENTS SITES OUT
folder = $(OUT)
tools = lp-tolerance
needed = GRAPHS
such_as = GRAPHS=RUN
asks = $(call state,$(call each_quoted,$(GRAPHS) $(NETWORK)))
made = tolerance.txt curves.tsv *.json latency.svg gap.svg overhead.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

kinds = latency gap overhead
all: $(OUT)/tolerance.txt $(call drawn,$(kinds))
	@cat $<

tolerance = lp-tolerance -p $(call quoted,$(PERCENTS)) $(if $(NETWORK),-n $(call quoted,$(NETWORK)))

$(OUT)/tolerance.txt: $(OUT)/asked
	@for graph in $(call each_quoted,$(GRAPHS)); do \
		$(if $(word 2,$(GRAPHS)),printf '%s\n' "$$graph";) \
		$(tolerance) $(if $(SITES),--sites) -F text "$$graph"; $(if $(word 2,$(GRAPHS)),echo;) done $(whole)

# From the machine's value, with all breaks, to the value at which the run is longer by twice the largest percentage.
define points
def short: . * 1e9 | round / 1e9;
def at($$pieces; $$x): [$$pieces[] | select(.from_ns <= $$x)][-1] | .run_time_ns + .slope * ($$x - .from_ns);
(if .exact then "curve" else "points" end) as $$is | .run_time_ns as $$run | ($$run * (1 + $$most / 50)) as $$top |
("latency", "gap", "overhead") as $$kind | .[$$kind] as $$all | .["base_\($$kind)_ns"] as $$base |
([$$all[] | select(.slope > 0 and .run_time_ns + .slope * ((.to_ns // infinite) - .from_ns) >= $$top)][0] |
	if . == null then ($$all[-1].to_ns // ($$all[-1].from_ns * 2 + $$base + 1))
	else .from_ns + ($$top - .run_time_ns) / .slope end) as $$last |
([$$base, $$last] + [$$all[].from_ns | select(. > $$base and . < $$last)] | sort[]) as $$x |
[$$name, $$kind, ((if $$kind == "gap" then $$x else $$x / 1000 end) | short), (100 * (at($$all; $$x) / $$run - 1) | short),
	(at($$all; $$x) / 1e9 | short), $$is] | @tsv
endef
export points

$(OUT)/curves.tsv: $(OUT)/asked
	@{ printf 'program\tparameter\tvalue\tlonger_%%\tseconds\tis\n'; n=0; for graph in $(call each_quoted,$(GRAPHS)); do n=$$((n + 1)); \
		name=$$(printf '%s' "$${graph##*/}" | sed 's/\.graph$$//; s/[^A-Za-z0-9_.,+=@ -]/?/g'); \
		$(tolerance) -F json "$$graph" | jq -r --arg name "$$n $$name" --argjson most "$$(tr , '\n' <<<$(call quoted,$(PERCENTS)) | sort -g | tail -1)" \
			"$$points"; \
	done; } $(whole)

unit_latency = latency (us)
unit_gap = 1/bandwidth (ns a byte)
unit_overhead = overhead of a call (us)

# Curves of one parameter; horizontal lines mark the requested percentages.
define figure
$$(call drawn,$(1)) &: $$(OUT)/curves.tsv $$(OUT)/figures
	@{ echo 'set datafile separator tab; set xlabel "$$(unit_$(1))"; set ylabel "run takes longer (%)"; set key outside right top noenhanced; set yrange [0:*]'; \
	awk -F'\t' -v kind=$(1) 'NR > 1 && $$$$2 == kind { if (!($$$$1 in seen)) { seen[$$$$1]; name[++n] = $$$$1; is[n] = $$$$6 } \
		rows[$$$$1] = rows[$$$$1] $$$$3 "\t" $$$$4 "\n" } \
		END { for (i = 1; i <= n; i++) printf "$$$$d%d << EOD\n%sEOD\n", i, rows[name[i]]; printf "plot "; \
		for (i = 1; i <= n; i++) printf "$$$$d%d using 1:2 with lines lw 2 dt %d title \"%s\", ", i, (is[i] == "curve" ? 1 : 2), name[i] }' $$<; \
	tr , '\n' <<<$$(call quoted,$$(PERCENTS)) | awk '{ printf "%s%s with lines lw 0.5 dt 3 lc rgb \"black\" notitle", (NR > 1 ? ", " : ""), $$$$1 } END { print "" }'; } | \
		$$(call picture,$(1),760x420)
endef
$(foreach k,$(kinds),$(eval $(call figure,$(k))))
