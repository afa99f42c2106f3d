# SPDX-License-Identifier: BSD-3-Clause
# Which network does this machine have? The parameters of lp-replay's model that come closest to measurements.
#
# run     make -f workflows/network.mk MEASURED=osu_latency.txt OUT=network
#         mpirun -n 2 lp-measure --plain -f Pingpong,Bcast,Allreduce -o 2.run
#         make -f workflows/network.mk MEASURED=2.run GRAPHS=heat.graph OUT=network
#         make -f workflows/network.mk GRAPHS="pingpong.graph heat.graph" OUT=network
#         make -f workflows/network.mk GRAPHS="a.graph b.graph" SECONDS_="1.25 3.5" PREDICT=c.graph
# input   MEASURED, a ping-pong and optionally collectives: streams of lp-measure, or a table of bytes and
#         microseconds, see lp-import(1), ping-pong; BYTES, a range of sizes [all];
#         GRAPHS, graph streams; SECONDS_, their run times on the machine to be fitted [as recorded];
#         PREDICT, graph streams to be replayed on the best network [GRAPHS];
#         NODE, ranks per node [1]; LATENCY_US, MB_S, EAGER, BUSES and LINKS, the grid; EXTEND, how often
#         latencies or bandwidths of the grid are extended if the best is at their end [4]
# output  $(OUT)/fit.txt: the best network, its error, its region and the influence of buses. Parameters that
#         GRAPHS do not fix are named without a value; there is no error if they fix as many parameters as there
#         are graphs, of which equal ones are one;
#         $(OUT)/fixed.tsv: the parameters that they fix;
#         $(OUT)/machine: the best network, for lp-replay -n;
#         $(OUT)/region.tsv: the region of acceptable parameters, within 10 % of the measurements;
#         $(OUT)/buses.tsv: influence of the number of buses on the best network;
#         $(OUT)/predicted.tsv: recorded and replayed run times of PREDICT;
#         $(OUT)/pingpong.tsv: measured and fitted times of MEASURED, including collectives;
#         $(OUT)/regions.tsv: number of networks within 10 % for each graph, and for all of them;
#         $(OUT)/validation.svg: measured and predicted times of PREDICT, as bars;
#         $(OUT)/region.svg, regions.svg (for each graph, without MEASURED), buses.svg and pingpong.svg: the same
#         as figures, in formats FIGURES="svg pdf png"
#
# MEASURED gives latency, bandwidth, eager limit and collectives, see lp-network(1), and the region of the ping-pong;
# GRAPHS then decide only on buses and links. Without MEASURED, they decide on everything except collectives, which
# are logarithmic. The error of a network is the mean over the graphs of |replayed - measured| / measured. First the
# grid is replayed, then a finer one of latency and bandwidth around its best, all by GNU parallel.

MEASURED =
BYTES = 0-9223372036854775807
GRAPHS =
SECONDS_ =
PREDICT = $(GRAPHS)
NODE = 1
OUT = network
LATENCY_US = 0.1 0.3 1 3 10 30 100
MB_S = 10 30 100 300 1000 3000 10000 30000
EAGER = 4096 65536
BUSES = 0 1
LINKS = 0 1
EXTEND = 4
FINE = 0.4 0.5 0.63 0.8 1 1.25 1.6 2 2.5

SETTINGS = MEASURED BYTES GRAPHS SECONDS_ PREDICT NODE OUT LATENCY_US MB_S EAGER BUSES LINKS EXTEND FINE
counts = NODE
wholes = EAGER BUSES LINKS EXTEND
numbers = LATENCY_US MB_S FINE $(if $(SECONDS_),SECONDS_)
folder = $(OUT)
tools = lp-network lp-replay lp-import lp-dump
needed = GRAPHS|MEASURED
such_as = GRAPHS=RUN
asks = $(call state,$(call each_quoted,$(MEASURED) $(GRAPHS) $(PREDICT)))
made = ranks seconds *.measured base coarse.tsv fine.tsv latencies bandwidths best moved.tsv fixed.tsv machine fit.txt region.tsv \
       buses.tsv predicted.tsv pingpong.tsv regions.tsv region.svg regions.svg validation.svg buses.svg pingpong.svg
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
$(call refuse,BYTES,[0-9]+[kMG]?-[0-9]+[kMG]?,two numbers with a - between them are needed)

parts = $(call drawn,region $(if $(MEASURED),pingpong,regions) $(if $(GRAPHS),buses) $(if $(PREDICT),validation)) \
        $(if $(PREDICT),$(OUT)/predicted.tsv)
all: $(OUT)/fit.txt $(parts)
	@cat $<

# Arguments: latency in us, MB/s, eager limit, buses, links. A later line overrides an earlier one.
define machine
if [ -n "$$BASE" ]; then
	cat "$$BASE"
else
	printf 'machine\nbandwidth %s MB/s\ncollective all logarithmic\nnodes %s\ncpus %s\n' $$2 $$RANKS $$NODE
	printf 'latency %s us\nmemory latency %s us\nmemory bandwidth %s MB/s\nmapping %s\n' $$1 $$1 $$2 $$NODE
	printf 'eager %s B\ninit recorded\n' $$3
fi
printf 'buses %s\nlinks %s %s\n' $$4 $$5 $$5
endef

# Prints the arguments, the error, and the error of each graph.
define try
network=$$(mktemp); trap 'rm -f $$network' EXIT
{
$(machine)
} >$$network
all=; set -f; set -- "$$@" $$SECONDS_NS
for graph in $$GRAPHS; do
	all+=" $$(lp-replay -n $$network -F csv "$$graph" | awk -F, -v m=$$6 'NR == 1 { for (n = NF; n > 1 && $$n != "run_time_ns"; n--) {} } \
		NR == 2 { d = $$n / m - 1; print (d < 0 ? -d : d) }')"
	set -- $$1 $$2 $$3 $$4 $$5 "$${@:7}"
done
awk -v all="$$all" -v p="$$1 $$2 $$3 $$4 $$5" 'BEGIN { gsub(" ", "\t", p); n = split(all, e, " "); \
	for (i = 1; i <= n; i++) { s += e[i]; each = each "\t" e[i] } printf "%s\t%s%s\n", p, (n > 0 ? s / n : 0), each }'
endef
export try machine NODE

# For try: measured times in ns, the largest number of ranks, and the fixed part of the machine.
setting = export GRAPHS=$(call quoted,$(GRAPHS)) SECONDS_NS="$$(cat $(OUT)/seconds)" RANKS=$$(cat $(OUT)/ranks) BASE='$(base)'
tries = $(each) -k bash -eu -o pipefail -c '"$$try"' try
header = printf 'latency_us\tMB_s\teager_bytes\tbuses\tlinks\terror\n'
sorted = sort -t"$$(printf '\t')"
# The best network; among those within 0.05 % of it, the one with the fewest limits, since a limit without evidence
# predicts waits elsewhere.
simplest = $(sorted) -k6,6g -s | awk -F'\t' 'NR == 1 { least = $$6 } $$6 <= least + 0.0005 { n = ($$4 > 0) + ($$5 > 0); \
	if (NR == 1 || n < fewest) { fewest = n; line = $$0 } } END { print line }'
# Latency or bandwidth is at the end of the grid: the best may be beyond it.
edge = awk -F'\t' 'NR == FNR { l = $$1; b = $$2; next } $$1 + 0 != $$1 { next } { n++; \
	if (n == 1 || $$1 < ll) ll = $$1; if ($$1 > lm) lm = $$1; if (n == 1 || $$2 < bl) bl = $$2; if ($$2 > bm) bm = $$2 } \
	END { if (ll < lm && (l == ll || l == lm)) printf "edge\tnothing %s than %s us was tried: more LATENCY_US\n", l == ll ? "smaller" : "larger", l; \
	if (bl < bm && (b == bl || b == bm)) printf "edge\tnothing %s than %s MB/s was tried: more MB_S\n", b == bl ? "smaller" : "larger", b }'

$(OUT)/seconds: $(OUT)/asked
	@for graph in $(graphs) $(predict); do lp-dump -k run "$$graph" | jq .ranks; done | sort -n | tail -1 >$(OUT)/ranks
	@if [ -n $(call quoted,$(SECONDS_)) ]; then \
		for s in $(call each_quoted,$(SECONDS_)); do awk -v s="$$s" 'BEGIN { printf "%.0f\n", s * 1e9 }'; done; \
		else for graph in $(graphs); do lp-replay -F json "$$graph" | jq .recorded_run_time_ns; done; fi $(whole)
graphs = $(call each_quoted,$(GRAPHS))
predict = $(call each_quoted,$(PREDICT))

ifneq ($(MEASURED),)

base = $(OUT)/base
fit = ranks=$$(cat $(OUT)/ranks); lp-network -b $(BYTES) -c $(NODE) $${ranks:+-r $$ranks} $(OUT)/*.measured

# A stream begins with an array of two; anything else is a table.
$(base): $(OUT)/seconds
	@rm -f $(OUT)/*.measured
	@n=0; for file in $(call each_quoted,$(MEASURED)); do n=$$((n + 1)); \
		if [ "$$(head -c 1 "$$file" | od -An -tx1)" = ' 92' ]; then cat "$$file"; \
		else lp-import -f pingpong "$$file"; fi >$(OUT)/$$n.measured; done
	@$(fit) $(whole)

$(OUT)/pingpong.tsv: $(base)
	@$(fit) -F table $(whole)

$(OUT)/coarse.tsv: $(base)
	@$(setting); read -r l b e < <(awk '{ v[$$1] = $$2 } END { print v["latency"], v["bandwidth"], v["eager"] }' $<); \
	{ $(header); $(tries) ::: $$l ::: $$b ::: $$e ::: $(if $(GRAPHS),$(BUSES) ::: $(LINKS),0 ::: 0); } $(whole)

$(OUT)/fine.tsv: $(OUT)/coarse.tsv
	@$(header) $(whole)

$(OUT)/region.tsv: $(base)
	@$(fit) -F region $(whole)

error_column = 3
error_of = awk '/error of latency/ { sub(".*bandwidth: ", ""); print "ping-pong\t" $$0 }' $(base)

else

base =
$(OUT)/coarse.tsv: $(OUT)/seconds
	@$(setting); l='$(LATENCY_US)' b='$(MB_S)'; { $(header); $(tries) ::: $$l ::: $$b ::: $(EAGER) ::: $(BUSES) ::: $(LINKS); } >$@.part; \
	for ((round = 0; round < $(EXTEND); round++)); do \
		read -r best_l best_b _ < <(tail -n +2 $@.part | $(simplest)); \
		more_l=$$($(beyond) "$$best_l" $$l) more_b=$$($(beyond) "$$best_b" $$b); \
		[ -n "$$more_l$$more_b" ] || break; \
		[ -z "$$more_l" ] || $(tries) ::: $$more_l ::: $$b ::: $(EAGER) ::: $(BUSES) ::: $(LINKS) >>$@.part; \
		l="$$l $$more_l"; \
		[ -z "$$more_b" ] || $(tries) ::: $$l ::: $$more_b ::: $(EAGER) ::: $(BUSES) ::: $(LINKS) >>$@.part; \
		b="$$b $$more_b"; \
	done; mv $@.part $@
# If the first argument is at an end of the others: a value beyond it, by the same ratio as to its neighbour.
beyond = awk 'BEGIN { best = ARGV[1] + 0; less = more = 0; for (i = 2; i < ARGC; i++) { v = ARGV[i] + 0; \
	if (v < best && v > less) less = v; if (v > best && (more == 0 || v < more)) more = v } \
	if (less > 0 && more == 0) print best * best / less; else if (more > 0 && less == 0) print best * best / more }'

$(OUT)/fine.tsv: $(OUT)/coarse.tsv
	@$(setting); read -r l b e u k _ < <(tail -n +2 $< | $(simplest)); \
	for f in $(FINE); do awk -v l=$$l -v f=$$f 'BEGIN { print l * f }'; done >$(OUT)/latencies; \
	for f in $(FINE); do awk -v b=$$b -v f=$$f 'BEGIN { print b * f }'; done >$(OUT)/bandwidths; \
	{ $(header); $(tries) :::: $(OUT)/latencies $(OUT)/bandwidths ::: $$e ::: $$u ::: $$k; } $(whole)

$(OUT)/region.tsv: $(OUT)/coarse.tsv $(OUT)/fine.tsv
	@{ $(header); tail -q -n +2 $^ | awk -F'\t' '$$6 <= 0.1' | $(sorted) -u -k1,1g -k2,2g -k3,3g -k4,4g -k5,5g; } $(whole)

error_column = 6
error_of = true

endif

$(OUT)/best: $(OUT)/coarse.tsv $(OUT)/fine.tsv
	@tail -q -n +2 $^ | $(simplest) $(whole)

# Other limits at the best latency and bandwidth, against the measurements; half and double latency and bandwidth,
# against the best network.
$(OUT)/moved.tsv: $(OUT)/best
	@$(setting); read -r l b e u k _ <$<; \
	{ $(tries) ::: $$l ::: $$b ::: $(if $(MEASURED),$$e,$(EAGER)) ::: $(BUSES) ::: $(LINKS) | sed 's/^/limits\t/'; \
	$(if $(MEASURED),,network=$$(mktemp); trap 'rm -f $$network' EXIT; \
	bash -eu -o pipefail -c "$$machine" machine $$l $$b $$e $$u $$k >$$network; \
	SECONDS_NS=$$(for graph in $(graphs); do lp-replay -n $$network -F json "$$graph" | jq .run_time_ns; done); \
	for f in 0.5 2; do \
		$(tries) ::: $$($(times) $$l $$f) ::: $$b ::: $$e ::: $$u ::: $$k | sed 's/^/latency\t/'; \
		$(tries) ::: $$l ::: $$($(times) $$b $$f) ::: $$e ::: $$u ::: $$k | sed 's/^/bandwidth\t/'; \
	done;) } $(whole)
times = awk 'BEGIN { print ARGV[1] * ARGV[2] }'

# A limit is fixed if no other value is as good. Latency and bandwidth are fixed if times change with them by more
# than the network's error, and another bandwidth cannot compensate another latency: one run time fixes one of them.
# A run that is given twice is one measurement.
values = n=0; for graph in $(graphs); do n=$$((n + 1)); \
	echo "$$(sed -n $${n}p $(OUT)/seconds) $$({ if [ -d "$$graph" ]; then cat "$$graph"/*; else cat "$$graph"; fi; } | cksum)"; \
	done | sort -u | wc -l
$(OUT)/fixed.tsv: $(OUT)/best $(OUT)/moved.tsv
	@awk -F'\t' -v OFS='\t' -v values="$$($(values))" 'NR == FNR { for (i = 3; i <= 5; i++) is[i] = $$i; best = $$6; graphs = NF - 6; next } \
		$$1 == "limits" { for (i = 3; i <= 5; i++) if ($$(i + 1) != is[i]) { \
			tried[i] = 1; if ($$7 <= best + 0.0005) free[i] = 1 } next } \
		{ for (i = 1; i <= graphs; i++) by[$$1, i] += $$(7 + i) } \
		END { for (i = 1; i <= graphs; i++) { l = by["latency", i]; b = by["bandwidth", i]; ll += l * l; bb += b * b; lb += l * b } \
			least = best > 0.0005 ? best * best : 0.0005 * 0.0005; lost = ll > least && bb > least; \
			fixed["latency"] = ll > least && (!lost || ll - lb * lb / bb > least); \
			fixed["bandwidth"] = bb > least && (!lost || bb - lb * lb / ll > least); \
			count = fixed["latency"] + fixed["bandwidth"]; if (lost && count == 0) count = 1; \
			split("- - eager buses links", name, " "); \
			for (i = 3; i <= 5; i++) { fixed[name[i]] = !free[i]; count += tried[i] && !free[i] } \
			for (n in fixed) if (graphs > 0 && ($(if $(MEASURED),0,1) || n ~ /s$$/)) print n, (fixed[n] ? "fixed" : "free"); \
			print "error", (values > count ? "known" : "unknown"), count, values }' $^ | sort $(whole)
free = grep -q "^$(1)	free" $(OUT)/fixed.tsv
error_known = grep -q '^error	known' $(OUT)/fixed.tsv

$(OUT)/machine: $(OUT)/best $(OUT)/fixed.tsv
	@$(setting); read -r l b e u k _ <$<; { sed -n 's/^\(.*\)\tfree$$/# \1: not fixed by these measurements/p' $(OUT)/fixed.tsv; \
	bash -eu -o pipefail -c "$$machine" machine $$l $$b $$e $$u $$k; } $(whole)

$(OUT)/buses.tsv: $(OUT)/best
	@$(setting); read -r l b e _ k _ <$<; { $(header); $(tries) ::: $$l ::: $$b ::: $$e ::: 1 2 3 4 6 8 12 16 0 ::: $$k; } $(whole)

$(OUT)/predicted.tsv: $(OUT)/machine
	@{ printf 'graph\trecorded_s\tpredicted_s\terror_%%\n'; \
	for graph in $(predict); do \
		error=known; $(error_known) || for fitted in $(graphs); do [ "$$fitted" != "$$graph" ] || error='not known'; done; \
		lp-replay -n $< -F json "$$graph" | jq -r '"\(.recorded_run_time_ns) \(.run_time_ns)"' | \
		graph="$$graph" awk -v error="$$error" '{ printf "%s\t%.6f\t%.6f\t%s\n", ENVIRON["graph"], $$1 / 1e9, $$2 / 1e9, \
			error == "known" ? sprintf("%.2f", 100 * ($$2 / $$1 - 1)) : error }'; \
	done; } $(whole)

$(OUT)/fit.txt: $(OUT)/machine $(OUT)/best $(OUT)/region.tsv $(if $(GRAPHS),$(OUT)/buses.tsv) $(if $(PREDICT),$(OUT)/predicted.tsv)
	@{ read -r l b e u k error _ <$(OUT)/best; \
	case $$e in all) eager='all bytes' ;; *) eager="below $$e bytes" ;; esac; \
	tell() { if $(call free,$$1); then echo "$$1	not fixed by these measurements"; else echo "$$1	$$2"; fi; }; \
	tell latency "$$l us"; tell bandwidth "$$b MB/s"; tell eager "$$eager"; $(error_of); \
	$(edge) $(OUT)/best $(OUT)/coarse.tsv $(OUT)/fine.tsv; \
	$(if $(GRAPHS),tell buses $$u; tell links $$k; \
	awk -F'\t' -v e=$$error '/^error\tknown/ { printf "error\t%.2f %%\n"$(comma) 100 * e } \
		/^error\tunknown/ { printf "error\tnot known: run times measured are %d$(comma) parameters fitted to them %d\n"$(comma) $$4$(comma) $$3 }' \
		$(OUT)/fixed.tsv;) \
	awk -F'\t' 'NR == 1 { next } { n++; l = n == 1 || $$1 < l ? $$1 : l; L = $$1 > L ? $$1 : L; \
		b = n == 1 || $$2 < b ? $$2 : b; B = $$2 > B ? $$2 : B } \
		END { printf "region\t%d networks within 10 %%", n; \
		if (n) printf ": %g to %g us, %g to %g MB/s", l, L, b, B; print "" }' $(OUT)/region.tsv; \
	$(if $(GRAPHS),$(call free,buses) || awk -F'\t' 'NR > 1 { printf "error of %s buses\t%.2f %%\n"$(comma) ($$4 > 0 ? $$4 : "unlimited")$(comma) 100 * $$6 }' $(OUT)/buses.tsv;) \
	$(if $(PREDICT),echo; cat $(OUT)/predicted.tsv;) } $(whole)

# Dots: networks within 10 %; the cross is the best.
$(call drawn,region) &: $(OUT)/region.tsv $(OUT)/best $(OUT)/figures
	@{ echo 'set log xy; set xlabel "latency (us)"'; \
	echo 'set ylabel "bandwidth (MB/s)"; set title "networks within 10 % of what was measured"'; \
	echo 'set key outside top right horizontal'; \
	if [ $$(wc -l <$<) -gt 1 ]; then \
		echo 'set cblabel "error (%)"'; \
		dots='"$<" skip 1 using 1:2:(100 * $$$(error_column)) with points pt 7 ps 0.7 palette title "within 10 %", '; \
	else \
		awk '{ printf "set xrange [%g:%g]; set yrange [%g:%g]; set title \"no network lies within 10 %% of what was measured; the best is %.0f %% off\"\n", $$1 / 10, $$1 * 10, $$2 / 10, $$2 * 10, 100 * $$$(error_column) }' $(OUT)/best; \
	fi; \
	echo "plot $${dots-} \"$(OUT)/best\" using 1:2 with points pt 2 ps 2 lw 2 lc rgb 'black' title 'best'"; } | $(call picture,region,640x420)

# 0 buses is no limit: the dashed line.
$(call drawn,buses) &: $(OUT)/buses.tsv $(OUT)/figures
	@{ echo 'set xlabel "buses"; set ylabel "error (%)"'; \
	echo 'set title "influence of the number of buses"; set yrange [0:*]; set key outside top right horizontal; set xrange [0:17]'; \
	awk -F'\t' '$$4 == 0 && NR > 1 { printf "limit = %s\n", 100 * $$6 }' $<; \
	echo 'plot "$<" skip 1 using ($$4 > 0 ? $$4 : NaN):(100 * $$6) with linespoints pt 7 title "so many", limit with lines dt 2 lc rgb "black" title "no limit"'; } | $(call picture,buses,640x420)

# The ping-pong and the machine's line; 0 bytes are not on a logarithmic axis.
$(call drawn,pingpong) &: $(OUT)/pingpong.tsv $(OUT)/figures
	@{ echo 'set log xy; set xlabel "bytes"; set ylabel "half a round trip (us)"'; \
	echo 'set title "ping-pong, and what the fitted machine says"; set key top left'; \
	echo 'plot "<grep Pingpong $<" using 3:4 with points pt 7 title "measured", "" using 3:5 with lines lc rgb "black" title "fitted"'; } | $(call picture,pingpong,640x420)

# A line for each graph and one for all: number of networks within 10 %, and their ranges.
$(OUT)/regions.tsv: $(OUT)/coarse.tsv $(OUT)/fine.tsv
	@{ printf 'of\tnetworks\tleast_us\tmost_us\tleast_MB_s\tmost_MB_s\n'; \
	tail -q -n +2 $^ | $(sorted) -u -k1,1g -k2,2g -k3,3g -k4,4g -k5,5g | graphs=$(call quoted,$(GRAPHS)) awk -F'\t' -v OFS='\t' \
		'function take(i) { n[i]++; if (n[i] == 1 || $$1 < l[i]) l[i] = $$1; if (n[i] == 1 || $$1 > L[i]) L[i] = $$1; \
			if (n[i] == 1 || $$2 < b[i]) b[i] = $$2; if (n[i] == 1 || $$2 > B[i]) B[i] = $$2 } \
		BEGIN { graphs = split(ENVIRON["graphs"], name, " ") } \
		{ within = 0; for (i = 1; i <= graphs; i++) if ($$(6 + i) <= 0.1) { within++; take(i) } if (within == graphs) take(0) } \
		END { for (i = 1; i <= graphs; i++) print name[i], n[i] + 0, l[i], L[i], b[i], B[i]; \
			print "all of these", n[0] + 0, l[0], L[0], b[0], B[0] }'; } $(whole)

# Concentric circles, one size per graph; a dot where all graphs agree.
$(call drawn,regions) &: $(OUT)/regions.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set log xy; set xlabel "latency (us)"; set ylabel "bandwidth (MB/s)"'; \
	echo 'set title "networks within 10 % of each graph, and of all of them"; set key outside right top noenhanced'; \
	tail -q -n +2 $(OUT)/coarse.tsv $(OUT)/fine.tsv | awk -F'\t' '{ for (i = 1; i <= 2; i++) { \
		if (NR == 1 || $$i < least[i]) least[i] = $$i; if (NR == 1 || $$i > most[i]) most[i] = $$i } } \
		END { printf "set xrange [%g:%g]; set yrange [%g:%g]\n", least[1] / 1.3, 1.3 * most[1], least[2] / 1.3, 1.3 * most[2] }'; \
	i=0; for graph in $(graphs); do i=$$((i + 1)); printf '$$d%d << EOD\n' $$i; \
		tail -q -n +2 $(OUT)/coarse.tsv $(OUT)/fine.tsv | awk -F'\t' -v i=$$i '$$(6 + i) <= 0.1 { print $$1 "\t" $$2 }'; \
		printf '1\tnan\nEOD\n'; done; \
	printf '$$all << EOD\n'; tail -q -n +2 $(OUT)/coarse.tsv $(OUT)/fine.tsv | \
		awk -F'\t' '{ for (i = 7; i <= NF; i++) if ($$i > 0.1) next; print $$1 "\t" $$2 }'; printf '1\tnan\nEOD\n'; \
	printf 'plot '; i=0; for graph in $(graphs); do i=$$((i + 1)); name=$${graph##*/}; \
		printf '$$d%d using 1:2 with points pt 6 ps %s lw 1.5 title "%s", ' $$i $$(awk "BEGIN { print 0.6 + 0.5 * $$i }") \
		"$$(printf %s "$${name%.graph}" | sed 's/[^A-Za-z0-9_.,+=@ -]/?/g')"; done; \
	echo '$$all using 1:2 with points pt 7 ps 0.5 lc rgb "black" title "all of these"'; } | $(call picture,regions,700x420)

# Measured beside predicted times.
$(call drawn,validation) &: $(OUT)/predicted.tsv $(OUT)/figures
	@{ echo 'set datafile separator tab; set style data histograms; set style fill solid 0.8; set yrange [0:*]; set ylabel "s"'; \
	echo 'set key outside top right horizontal; set xtics rotate by -30 noenhanced; set title "run times on the fitted network"; set grid y'; \
	printf '$$bars << EOD\n'; awk -F'\t' 'NR > 1 { sub(".*/", "", $$1); sub("\\.graph$$", "", $$1); gsub(/[^A-Za-z0-9_.,+=@ -]/, "?", $$1); \
		print $$1 "\t" $$2 "\t" $$3 }' $<; printf 'EOD\n'; \
	echo 'plot $$bars using 2:xtic(1) title "recorded", "" using 3 title "predicted"'; } | $(call picture,validation,640x420)
