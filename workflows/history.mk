# SPDX-License-Identifier: BSD-3-Clause
# How does a program develop from run to run, and is the newest run worse? For continuous integration.
#
# run     make -f workflows/history.mk RUN=run.graph OUT=history LIMITS="run_time=3%"
# input   RUN: graph or path streams, or summaries, to add; without RUN the history is shown
#         LAST, NEW: the newest NEW runs are compared with the LAST runs before them on as many ranks: 1 run needs
#         39 to be judged, 2 need 8, 3 need 5, 4 need 4; LIMITS: of lp-compare
# output  $(OUT)/runs: a summary of each run, some kilobytes, named by its date; history.json, and history.svg:
#         run time, efficiencies, sites on the critical path, in formats FIGURES="svg pdf png"; compare.json,
#         compare.txt, and limits.xml (JUnit)
#
# The date is that of the recording. A run is added only once. `clean` keeps the runs.

RUN =
LAST = 39
NEW = 1
LIMITS =
OUT = history

SETTINGS = RUN LAST NEW LIMITS OUT
stamped = LAST NEW
counts = LAST NEW
folder = $(OUT)
tools = lp-compare
needs = [ -n "$$(ls $(OUT)/runs 2>/dev/null)" ] || $(call fail,'history needs a run: longpole history RUN')
asks = $(call state,$(OUT)/runs/*.summary)
made = added history.json history.tsv sites.tsv history.svg compared compare.json compare.txt limits.xml
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.PHONY: add

$(call refuse,$(if $(LIMITS),LIMITS),$(limit),NAME=VALUE is needed)
limits = $(foreach l,$(LIMITS),--limit $(call quoted,$(l)))

all: $(OUT)/history.json $(call drawn,history) $(OUT)/compared
	@cd $(OUT) && lp-compare --history -- runs/*.summary | sed '/^$$/,$$d' | tail -n 10
	@cd $(OUT) && if [ -s compared ]; then \
		echo; status=0; xargs -d '\n' lp-compare $(limits) --junit limits.xml <compared >compare.txt.part || status=2; \
		head -n 20 compare.txt.part; mv compare.txt.part compare.txt; exit $$status; fi

# A run gets its name when its summary is complete: its date and a hash of its content.
$(OUT)/asked: add
add:
	@[ -z $(call quoted,$(strip $(RUN))) ] || mkdir -p $(OUT)/runs
	@for run in $(call each_quoted,$(RUN)); do \
		lp-compare --summary -- "$$run" >$(OUT)/runs/new.part || { rm -f $(OUT)/runs/new.part; exit 2; }; \
		date_s=$$(lp-dump -k summary $(OUT)/runs/new.part | jq -r '.date_s // 0'); \
		what=$$(lp-dump $(OUT)/runs/new.part | grep -v '"kind":"longpole"' | sha256sum | cut -c1-12); \
		if compgen -G "$(OUT)/runs/*.$$what.summary" >/dev/null; then rm $(OUT)/runs/new.part; continue; fi; \
		count=$$(find $(OUT)/runs -name '*.summary' | wc -l); \
		name=$$( [ "$$date_s" -gt 0 ] && date -u -d "@$$date_s" +%Y-%m-%dT%H-%M-%SZ || printf '0-undated-%06d' "$$count"); \
		mv $(OUT)/runs/new.part "$(OUT)/runs/$$name.$$what.summary"; done

$(OUT)/history.json: $(OUT)/asked
	@cd $(OUT) && lp-compare --history -F json -- runs/*.summary >history.json.part && mv history.json.part history.json

# The runs to compare, one per line: the earlier runs, --, the newest; none if there is only one.
both = .runs[-1].ranks as $$r | [.runs[] | select(.ranks == $$r) | .file] | \
	if length > $$new then (.[:-$$new][-$$last:] + ["--"] + .[-$$new:])[] else empty end
$(OUT)/compared: $(OUT)/history.json
	@jq -r --argjson last $(LAST) --argjson new $(NEW) '$(both)' $< $(whole)
	@cd $(OUT) && rm -f compare.json && { [ ! -s compared ] || \
		{ xargs -d '\n' lp-compare -F json <compared >compare.json.part && mv compare.json.part compare.json; }; }

# Makes names safe for gnuplot: no quotes, backslashes or control characters.
runs = .runs | to_entries[] | [.key, (.value.date | sub("T.*"; "")), .value.run_time_s, .value.parallel, \
	.value.load_balance, .value.communication] | @tsv
name = ((.function // "no site") + " " + (.call // "") + (if .line then ":\(.line)" else "" end) | \
	gsub("[^A-Za-z0-9_:<> .,()*&~=+-]"; "?"))
sites = (["date"] + [.sites[:8][] | $(name)] | @tsv), \
	([[.runs[].date | sub("T.*"; "")]] + [.sites[:8][].path_s] | transpose[] | @tsv)
$(OUT)/history.tsv: $(OUT)/history.json
	@jq -r '$(runs)' $< $(whole)
$(OUT)/sites.tsv: $(OUT)/history.json
	@jq -r '$(sites)' $< $(whole)

$(call drawn,history) &: $(OUT)/history.tsv $(OUT)/sites.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set grid ytics; set yrange [0:*]; set key at graph 1.72,1 noenhanced'; \
	echo 'set multiplot layout 3,1 margins 0.11,0.62,0.1,0.98 spacing 0,0.03; set xtics format ""'; \
	echo "n = $$(wc -l <$(OUT)/history.tsv); step = n > 30 ? ceil(n / 30.0) : 1; set xrange [-0.5:n - 0.5]"; \
	echo 'label(i, s) = int(i) % step == 0 ? s : ""'; \
	echo 'set ylabel "run time, s"; plot "$(OUT)/history.tsv" using 1:3 with linespoints pt 7 title "run time"'; \
	echo 'set yrange [0:1.05]; set ylabel "efficiency"; plot "$(OUT)/history.tsv" using 1:4 with linespoints pt 7 title "parallel", \'; \
	echo '"" using 1:5 with linespoints pt 7 title "load balance", "" using 1:6 with linespoints pt 7 title "communication"'; \
	echo 'set yrange [0:*]; set xtics rotate by -30 noenhanced; set ylabel "on the critical path, s"'; \
	columns=$$(head -n 1 $(OUT)/sites.tsv | awk -F'\t' '{ print NF }'); [ "$$columns" -lt 2 ] || { \
	echo "plot for [c = 2:$$columns] '$(OUT)/sites.tsv' skip 1 \\"; \
	echo 'using 0:c:xtic(label($$0, strcol(1))) with linespoints pt 7 title system("head -1 $(OUT)/sites.tsv | cut -f" . c)'; }; \
	echo 'unset multiplot'; } | $(call picture,history,900x900)
