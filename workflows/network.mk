# SPDX-License-Identifier: BSD-3-Clause
# Which network is this machine? The parameters of lp-replay's model that come closest to what was measured.
#
# run     make -f workflows/network.mk GRAPHS="pingpong.graph heat.graph" OUT=network
#         make -f workflows/network.mk GRAPHS="a.graph b.graph" SECONDS_="1.25 3.5" OUT=network
# input   GRAPHS, graph streams; SECONDS_, what each took on the machine to be fitted (without it: as
#         recorded); NODE, ranks on a node [1]; LATENCY_US, MB_S, EAGER, BUSES and LINKS, the grid
# output  $(OUT)/fit.txt: the best network and its error; $(OUT)/machine: it, for lp-replay -n;
#         $(OUT)/region.tsv: all within 10 % of what was measured, the region of acceptable parameters;
#         $(OUT)/buses.tsv: influence of the number of buses on the best network;
#         $(OUT)/region.svg and buses.svg: both as figures
#
# The error of a network is the mean over the graphs of |replayed - measured| / measured. First the grid is
# replayed, then a finer one of latency and bandwidth around its best, all by GNU parallel.

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean

GRAPHS =
SECONDS_ =
NODE = 1
OUT = network
LATENCY_US = 0.1 0.3 1 3 10 30 100
MB_S = 10 30 100 300 1000 3000 10000 30000
EAGER = 4096 65536
BUSES = 0 1
LINKS = 0 1
FINE = 0.4 0.5 0.63 0.8 1 1.25 1.6 2 2.5

all: $(OUT)/fit.txt $(OUT)/region.svg $(OUT)/buses.svg
	@cat $<

# Arguments: latency in us, MB/s, eager limit, buses, links. Prints them and the error.
define try
network=$$(mktemp); trap 'rm -f $$network' EXIT
printf 'machine\nbandwidth %s MB/s\nbuses %s\ncollective all logarithmic\nnodes %s\ncpus %s\n' \
	$$2 $$4 $$RANKS $$NODE >$$network
printf 'latency %s us\nmemory latency %s us\nmemory bandwidth %s MB/s\nlinks %s %s\nmapping %s\neager %s B\ninit recorded\n' \
	$$1 $$1 $$2 $$5 $$5 $$NODE $$3 >>$$network
sum=0; set -- "$$@" $$MEASURED
for graph in $$GRAPHS; do
	ns=$$(lp-replay -n $$network -F json $$graph | jq .run_time_ns)
	sum=$$(awk -v s=$$sum -v r=$$ns -v m=$$6 'BEGIN { d = r / m - 1; print s + (d < 0 ? -d : d) }')
	set -- $$1 $$2 $$3 $$4 $$5 "$${@:7}"
done
awk -v s=$$sum -v n=$$(wc -w <<<"$$GRAPHS") -v p="$$1 $$2 $$3 $$4 $$5" 'BEGIN { gsub(" ", "\t", p); print p "\t" s / n }'
endef
export try NODE

# What was measured, in ns, and the most ranks of any graph: for try.
setting = export GRAPHS='$(GRAPHS)' MEASURED="$$(cat $(OUT)/measured)" RANKS=$$(cat $(OUT)/ranks)
tries = parallel --will-cite --halt now,fail=1 -k bash -eu -o pipefail -c '"$$try"' try
header = printf 'latency_us\tMB_s\teager_bytes\tbuses\tlinks\terror\n'

$(OUT)/measured: $(GRAPHS)
	@test -n '$(GRAPHS)' || { echo 'GRAPHS is not set: GRAPHS="a.graph b.graph"' >&2; exit 2; }
	@mkdir -p $(OUT)
	@for graph in $(GRAPHS); do lp-dump -k run $$graph | jq .ranks; done | sort -n | tail -1 >$(OUT)/ranks
	@if [ -n '$(SECONDS_)' ]; then for s in $(SECONDS_); do awk -v s=$$s 'BEGIN { printf "%.0f\n", s * 1e9 }'; done; \
		else for graph in $(GRAPHS); do lp-replay -F json $$graph | jq .recorded_run_time_ns; done; fi >$@

$(OUT)/coarse.tsv: $(OUT)/measured
	@$(setting); { $(header); $(tries) ::: $(LATENCY_US) ::: $(MB_S) ::: $(EAGER) ::: $(BUSES) ::: $(LINKS); } >$@

$(OUT)/fine.tsv: $(OUT)/coarse.tsv
	@$(setting); read -r l b e u k _ < <(tail -n +2 $< | sort -t"$$(printf '\t')" -k6,6g -s | sed -n 1p); \
	for f in $(FINE); do awk -v l=$$l -v f=$$f 'BEGIN { print l * f }'; done >$(OUT)/latencies; \
	for f in $(FINE); do awk -v b=$$b -v f=$$f 'BEGIN { print b * f }'; done >$(OUT)/bandwidths; \
	{ $(header); $(tries) :::: $(OUT)/latencies $(OUT)/bandwidths ::: $$e ::: $$u ::: $$k; } >$@

$(OUT)/best: $(OUT)/coarse.tsv $(OUT)/fine.tsv
	@tail -q -n +2 $^ | sort -t"$$(printf '\t')" -k6,6g -s | sed -n 1p >$@

$(OUT)/region.tsv: $(OUT)/coarse.tsv $(OUT)/fine.tsv
	@{ $(header); tail -q -n +2 $^ | awk -F'\t' '$$6 <= 0.1' | sort -t"$$(printf '\t')" -u -k1,1g -k2,2g -k3,3g -k4,4g -k5,5g; } >$@

$(OUT)/buses.tsv: $(OUT)/best
	@$(setting); read -r l b e _ k _ <$<; { $(header); $(tries) ::: $$l ::: $$b ::: $$e ::: 1 2 3 4 6 8 12 16 0 ::: $$k; } >$@

$(OUT)/fit.txt: $(OUT)/best $(OUT)/region.tsv $(OUT)/buses.tsv
	@read -r l b e u k error <$<; ranks=$$(cat $(OUT)/ranks); \
	printf 'machine\nbandwidth %s MB/s\nbuses %s\ncollective all logarithmic\nnodes %s\ncpus %s\n' $$b $$u $$ranks $(NODE) >$(OUT)/machine; \
	printf 'latency %s us\nmemory latency %s us\nmemory bandwidth %s MB/s\nlinks %s %s\nmapping %s\neager %s B\ninit recorded\n' \
		$$l $$l $$b $$k $$k $(NODE) $$e >>$(OUT)/machine; \
	{ printf 'latency\t%s us\nbandwidth\t%s MB/s\neager\tbelow %s bytes\nbuses\t%s\nlinks\t%s\n' $$l $$b $$e $$u $$k; \
	awk -v e=$$error 'BEGIN { printf "error\t%.2f %%\n", 100 * e }'; \
	printf 'region\t%d networks within 10 %%\n' $$(($$(wc -l <$(OUT)/region.tsv) - 1)); } >$@

# Dots: networks within 10 %; the cross is the best.
$(OUT)/region.svg: $(OUT)/region.tsv $(OUT)/best
	@{ echo 'set term svg size 640,420; set out "$@"; set log xy; set xlabel "latency (us)"'; \
	echo 'set ylabel "bandwidth (MB/s)"; set title "networks within 10 % of what was measured"'; \
	echo 'set key outside bottom center horizontal; set cblabel "error (%)"'; \
	echo 'plot "$<" skip 1 using 1:2:(100 * $$6) with points pt 7 ps 0.7 palette title "within 10 %", "$(OUT)/best" using 1:2 with points pt 2 ps 2 lw 2 lc rgb "black" title "best"'; } | gnuplot

# 0 buses is no limit: the dashed line.
$(OUT)/buses.svg: $(OUT)/buses.tsv
	@{ echo 'set term svg size 640,420; set out "$@"; set xlabel "buses"; set ylabel "error (%)"'; \
	echo 'set title "influence of the number of buses"; set yrange [0:*]; set key top right; set xrange [0:17]'; \
	awk -F'\t' '$$4 == 0 && NR > 1 { printf "limit = %s\n", 100 * $$6 }' $<; \
	echo 'plot "$<" skip 1 using ($$4 > 0 ? $$4 : NaN):(100 * $$6) with linespoints pt 7 title "so many", limit with lines dt 2 lc rgb "black" title "no limit"'; } | gnuplot

clean:
	rm -rf $(OUT)
