# SPDX-License-Identifier: BSD-3-Clause
# lp-network: it finds planted machines, and lp-replay agrees with it.
bats_require_minimum_version 1.5.0
load helpers

# pingpong EXPRESSION [SIZE...]: a table whose time is this, in awk, of m bytes.
pingpong() {
	local expression=$1
	shift
	[ $# -gt 0 ] || set -- 0 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576
	printf '%s\n' "$@" | awk "{ m = \$1; printf \"%d\t%.6f\n\", m, $expression }"
}

# near VALUE WANTED: within a thousandth
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { d = a / b - 1; exit !(d < 1e-3 && d > -1e-3) }'
}

word() {
	awk -v w="$1" '$1 == w { print $2 }' machine
}

# samples FUNCTION BYTES NS
samples() {
	echo "samples name=$1 function=$1 role=function guideline=\"\" number=0 bytes=$2 volume=$2 part=0 time=$3"
}

@test "planted latency and bandwidth are found, and no eager limit where there is none" {
	pingpong '1.5 + m / 1000' | lp-import -f pingpong | lp-network >machine
	near "$(word latency)" 1.5
	near "$(word bandwidth)" 1000
	grep -qx '# an eager limit is not visible' machine
	[ "$(word eager)" = all ]
}

@test "the eager limit is at the jump of the time, not at the end of a cache" {
	pingpong '(m < 8192 ? 1 + m / 2000 : 6 + m / 8000) + (m > 65536 ? (m - 65536) / 1000 : 0)' |
		lp-import -f pingpong | lp-network >machine
	grep -Eqx 'eager 8192 B	# the limit lies above 4096 and up to here.*' machine
	grep -qx '# 0 to 4096 bytes: 1 us + bytes / 2000 MB/s' machine
	pingpong '1 + m / 2000 + (m < 512 ? 0 : 0.3)' | lp-import -f pingpong | lp-network >machine
	[ "$(word eager)" = all ]
	pingpong 'm < 8192 ? 1 + m / 2000 : 1 + 8192 / 2000 + (m - 8192) / 500' |
		lp-import -f pingpong | lp-network >machine
	[ "$(word eager)" = all ]
}

@test "noise is not a break, and the standard errors contain the planted values" {
	pingpong '(1.5 + m / 1000) * (1 + 0.05 * cos(7 * NR * NR))' | lp-import -f pingpong | lp-network >machine
	[ "$(word eager)" = all ]
	awk '$1 == "latency" { l = ($2 - 1.5) / $6 } $1 == "bandwidth" { b = ($2 - 1000) / $6 }
		END { exit !(l * l < 6 && b * b < 6) }' machine
}

@test "tables of OSU and IMB are read; their other benchmarks do not pass for a ping-pong" {
	lp-network -F table <(pingpong '2 + m / 100' | lp-import -f pingpong) >plain
	{ echo '# OSU MPI-CUDA Latency Test v5.9'; echo '# Size          Latency (us)'; pingpong '2 + m / 100'; } |
		lp-import -f pingpong | lp-network -F table | diff - plain
	{
		printf '# Benchmarking PingPing\n  #bytes #repetitions t[usec]\n 0 1000 9\n# Benchmarking PingPong\n'
		printf '# #processes = 2\n  #bytes #repetitions      t[usec]   Mbytes/sec\n'
		pingpong '2 + m / 100' | awk '{ print "  " $1, 1000, $2, 0 }'
		printf '# Benchmarking Sendrecv\n  #bytes #repetitions t_min[usec]\n 0 1000 9\n'
	} | lp-import -f pingpong | lp-network -F table | diff - plain
	echo '# OSU MPI Bandwidth Test v5.9' >bw
	run -2 --separate-stderr lp-import -f pingpong bw
	[ "$stderr" = "lp-import: bw: line 1: of OSU's benchmarks only osu_latency is a ping-pong" ]
}

@test "a replay of ping-pong and collectives on the fitted machine gives the table's times" {
	{
		echo measurement
		echo mpirun ranks=4 sync=none
		for m in 0 1000 20000; do
			samples MPI_Pingpong $m $((16 * (2000 + m)))		# 2 us and 1000 MB/s
			samples MPI_Bcast $m $((2 * (2000 + m)))
			samples MPI_Allgather $m $((3 * (2000 + 4 * m)))
			samples MPI_Alltoall $m $((3 * (2000 + 8 * m) + 2 * (2000 + 4 * m)))
		done
	} | pack >m
	lp-network m >machine
	grep -q '^collective bcast logarithmic max none ' machine
	grep -q '^collective allgather linear max none ' machine
	grep -q '^collective alltoall logarithmic max linear 2max' machine
	awk '/error/ && /%/ && !/error 0.0 %/ && !/mean 0.0 %/ { exit 1 }' machine
	m=20000
	pack >t.trace <<-END
		trace ranks=4
		0 MPI_Send 0 10 comm=1 peer=1 tag=0 sent=$m
		0 MPI_Recv 10 50 comm=1 peer=1 tag=0 received=$m
		0 MPI_Bcast 50 60 comm=1 peer=0 sent=$m
		1 MPI_Recv 0 20 comm=1 peer=0 tag=0 received=$m
		1 MPI_Send 20 40 comm=1 peer=0 tag=0 sent=$m
		1 MPI_Bcast 40 60 comm=1 peer=0 received=$m
		2 MPI_Bcast 40 60 comm=1 peer=0 received=$m
		3 MPI_Bcast 40 60 comm=1 peer=0 received=$m
		$(for r in 0 1 2 3; do echo "$r MPI_Alltoall 60 70 comm=1 sent=$((4 * m)) received=$((4 * m))"; done)
	END
	lp-graph t.trace 2>/dev/null >t.graph
	near "$(lp-replay -n machine -F json t.graph | jq .run_time_ns)" \
		$((2 * (2000 + m) + 2 * (2000 + m) + 3 * (2000 + 8 * m) + 2 * (2000 + 4 * m)))
}

@test "models alike on 2 ranks are distinguished by more; ranks on a node use memory" {
	for p in 2 8; do
		{
			echo measurement
			echo mpirun ranks=$p sync=none
			for m in 0 1000 20000; do
				[ $p != 2 ] || samples MPI_Pingpong $m $((16 * (2000 + m)))
				samples MPI_Bcast $m $(((p - 1) * (2000 + m)))
			done
		} | pack >$p.run
	done
	lp-network 2.run >machine
	grep -q '^collective bcast logarithmic .*of 2 ranks all models are the same$' machine
	lp-network 2.run 8.run >machine
	grep -q '^collective bcast linear max none max	# error 0.0 %$' machine
	[ "$(word nodes)" -eq 8 ]
	pingpong '0.5 + m / 4000' | lp-import -f pingpong >inside.run
	lp-network --memory inside.run --cpus 2 --ranks 6 2.run >machine
	[ "$(word nodes)" -eq 3 ]
	grep -Eq '^memory latency 0.5 us' machine
	grep -Eq '^memory bandwidth (4000|3999.99) MB/s' machine
	printf 'trace ranks=6\n0 MPI_Send 0 10 comm=1 peer=1 tag=0 sent=4000\n1 MPI_Recv 0 10 comm=1 peer=0 tag=0 received=4000\n' |
		pack | lp-graph 2>/dev/null >t.graph
	near "$(lp-replay -n machine -F json t.graph | jq .run_time_ns)" 1500
}

@test "no error is given of times that set the fit themselves, or of none" {
	# samples_of FUNCTION...: ping-pongs of three sizes, with these beside them
	samples_of() {
		printf 'measurement\nmpirun ranks=4 sync=none\n'
		local m f
		for m in 0 1000 20000; do
			samples MPI_Pingpong $m $((16 * (2000 + m)))
			for f in Send Recv "$@"; do samples MPI_$f $m $((16 * (500 + m / 2))); done
		done
	}
	samples_of | pack >m
	lp-network -M loggp m >machine
	[ "$(grep -c '^# error of .*: not known, they were not measured$' machine)" -eq 3 ]
	samples_of Burst | pack >m
	lp-network -M loggp m >machine
	[ "$(grep '^# error of ' machine | grep -c 'not known')" -eq 1 ]
	grep -qx '# error of exchanges with links of both directions: not known, they were not measured' machine
	samples_of Exchange | pack >m
	lp-network -M loggp m >machine
	[ "$(grep '^# error of ' machine | grep -c 'not known')" -eq 1 ]
	grep -qx '# error of bursts with links of one direction: not known, they were not measured' machine
	# A model and a size are as many as two measurements.
	{ samples_of; samples MPI_Bcast 0 5000; samples MPI_Bcast 1000 9000; } | pack >m
	lp-network m | grep -q '^collective bcast .*# not fixed by so few measurements$'
	[ "$(lp-network -F text m | awk -F'\t' '$1 == "MPI_Bcast" { print $5 ($6 == "" ? " unknown" : " " $6) }' | grep -c ' unknown$')" -eq 2 ]
	{ samples_of; for m in 0 1000 20000; do samples MPI_Bcast $m $((5000 + m)); done; } | pack >m
	lp-network -F text m | awk -F'\t' '$1 == "MPI_Bcast" { n += $6 != "" } END { exit n != 3 }'
}

@test "the region has the parameters within 10 %, and sizes can be selected" {
	pingpong '1.5 + m / 1000' | lp-import -f pingpong >m
	lp-network -F region m >region
	head -1 region | grep -qx 'latency_us	MB_s	error'
	awk 'NR > 1 && ($3 > 0.1 || $1 < 1 || $1 > 2.3) { exit 1 } $3 == 0 { best = 1 } END { exit !(best && NR > 10) }' region
	pingpong 'm < 8192 ? 1 + m / 2000 : 60 + m / 8000' | lp-import -f pingpong | lp-network --bytes 0-4096 >machine
	near "$(word bandwidth)" 2000
}

@test "input that cannot be fitted is refused in one line" {
	pingpong '1 + m' 1 2 | lp-import -f pingpong >few
	run -2 --separate-stderr lp-network few
	[ "$stderr" = 'lp-network: few: a ping-pong of 2 sizes, at least 3 are needed' ]
	[ -z "$output" ]
	printf 'trace ranks=1\n0 MPI_Init 0 10\n' | pack >t.trace
	run -2 --separate-stderr lp-network t.trace
	[[ "$stderr" == 'lp-network: t.trace:0: not a measurement but a trace stream' ]]
	head -c 100 few >cut
	run -2 --separate-stderr lp-network cut
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	for bad in '1 x' 'x 1' '-1 2' '4' '1 0' '1 nan'; do
		echo "$bad" >bad
		run -2 --separate-stderr bash -c 'lp-import -f pingpong bad >out'
		[[ "$stderr" == 'lp-import: bad: line 1: '* ]]
	done
	run -2 --separate-stderr lp-network --bytes 7 few
	[ "$stderr" = 'lp-network: --bytes 7: two numbers with a - between them are needed' ]
	[ -e /dev/full ] || skip
	pingpong '1 + m' | lp-import -f pingpong >m
	run -2 bash -c 'lp-network m >/dev/full'
}

@test "of equally good networks the one without limits wins, and the grid's edge is reported" {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Send 100000 100010 comm=1 peer=1 tag=0 sent=1000
		0 exit 200000 200000
		1 MPI_Recv 100 130000 comm=1 peer=0 tag=0 received=1000
		1 exit 230000 230000
	END
	make -s -f "$ROOT/workflows/network.mk" GRAPHS=t.graph OUT=out LATENCY_US='1 3' MB_S='100 1000' \
		EAGER=65536 BUSES='1 0' LINKS='1 0' FINE=1 EXTEND=0 out/fit.txt
	[ "$(cut -f4,5 out/best)" = "$(printf '0\t0')" ]
	grep -q '^edge.nothing larger than 3 us was tried: more LATENCY_US$' out/fit.txt
}

@test "parameters not fixed are named, and as many numbers as parameters give no error" {
	# Of two messages the time falls by as much with a lower latency as with a higher bandwidth.
	for n in 1 2 3; do
		tests/pack <<-END | lp-graph 2>/dev/null >$n.graph
			trace ranks=2
			0 MPI_Send 100000 100010 comm=1 peer=1 tag=0 sent=${n}000
			0 exit 200000 200000
			1 MPI_Recv 100 $((130000 + 10000 * n)) comm=1 peer=0 tag=0 received=${n}000
			1 exit $((230000 + 10000 * n)) $((230000 + 10000 * n))
		END
	done
	fit() {
		make -s -f "$ROOT/workflows/network.mk" LATENCY_US='10 30' MB_S='100 300' EAGER='4096 65536' BUSES='0 1' \
			LINKS=0 FINE=1 EXTEND=0 OUT=out "$@"
	}
	fit GRAPHS=1.graph SECONDS_=0.000240 >one
	for what in latency bandwidth eager buses; do
		grep -qx "$what	not fixed by these measurements" one
		grep -qx "# $what: not fixed by these measurements" out/machine
	done
	grep -qx 'error	not known: run times measured are 1, parameters fitted to them 1' one
	run -1 grep -E '^error.*%' one
	[ "$(tail -1 one)" = '1.graph	0.000240	0.000240	not known' ]
	fit GRAPHS='1.graph 2.graph' >two
	grep -qx 'latency	30 us' two
	grep -qx 'bandwidth	100 MB/s' two
	grep -qx 'error	not known: run times measured are 2, parameters fitted to them 2' two
	cp 2.graph again.graph		# the same run is the same measurement
	fit GRAPHS='1.graph 2.graph again.graph' >again
	grep -qx 'error	not known: run times measured are 2, parameters fitted to them 2' again
	fit GRAPHS='1.graph 2.graph 3.graph' >three
	grep -qx 'error	0.00 %' three
	# The same of the ping-pong and of collectives.
	pingpong '1.5 + (m == 1 ? 0.01 : 0)' 0 1 2 3 | lp-import -f pingpong | lp-network >machine
	grep -qx '# bandwidth: not fixed by these measurements' machine
	grep -qx 'bandwidth infinite' machine
	{
		echo measurement
		echo mpirun ranks=4 sync=none
		for m in 0 1000 20000; do samples MPI_Pingpong $m $((16 * (2000 + m))); done
		samples MPI_Bcast 1000 6000
	} | pack >m
	lp-network m >machine
	grep -q '^collective bcast .*# not fixed by so few measurements$' machine
}

@test "a ping-pong measured here becomes a machine" {
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
		lp-measure --plain -f Pingpong,Bcast -s 1,64,4096,65536 -n 5 >m
	lp-network m >machine
	grep -q '^collective bcast ' machine
	grep -qE '^latency [0-9.e+-]+ [mun]?s' machine
	# The load of this machine may lead to a latency of 0 or an infinite bandwidth: the file can be read, and a message arrives.
	printf '%s\n' 'trace ranks=2' '0 MPI_Send 1000 2000 comm=1 peer=1 tag=0 sent=1000' \
		'1 MPI_Recv 1000 2000 comm=1 peer=0 tag=0 received=1000' | pack | lp-graph 2>/dev/null >t.graph
	lp-replay -n machine t.graph >replayed
	[ "$(lp-dump -k message replayed | wc -l)" -eq 1 ]
}

@test "the workflow makes a machine of a table, and a recorded run decides on buses" {
	pingpong '10 + m / 100' 1 100 1000 10000 100000 >table.txt
	printf 'machine\nbandwidth 100 MB/s\nbuses 1\nnodes 4\nlatency 10 us\neager all\nmapping 1\n' >planted
	{
		echo 'trace ranks=4'
		for r in 0 1; do	# two messages at once
			echo "$r MPI_Send 1000 2000 comm=1 peer=$((r + 2)) tag=0 sent=1000000"
			echo "$((r + 2)) MPI_Recv 1000 2000 comm=1 peer=$r tag=0 received=1000000"
		done
	} | pack | lp-graph 2>/dev/null | lp-replay -n planted >t.graph
	make -s -f "$ROOT/workflows/network.mk" MEASURED=table.txt GRAPHS=t.graph OUT=net >fit
	grep -qx 'latency	10 us' fit
	grep -qx 'bandwidth	100 MB/s' fit
	grep -qx 'buses	1' fit
	grep -qx 'links	not fixed by these measurements' fit
	grep -qx 'error	not known: run times measured are 1, parameters fitted to them 1' fit
	grep -qx 'error of 2 buses	4[0-9].[0-9]* %' fit
	grep -Eqx 'region	[1-9][0-9]* networks within 10 %: [0-9.]+ to [0-9.]+ us, [0-9.]+ to [0-9.]+ MB/s' fit
	grep -qx 't.graph	0.020011	0.020011	not known' fit
	# What it was not fitted to is told of.
	cp t.graph other.graph
	make -s -f "$ROOT/workflows/network.mk" MEASURED=table.txt GRAPHS=t.graph PREDICT=other.graph OUT=net >fit
	grep -qx 'other.graph	0.020011	0.020011	0.00' fit
	for figure in region buses pingpong; do
		grep -q '<svg' net/$figure.svg
	done
	make -s -f "$ROOT/workflows/network.mk" MEASURED=table.txt OUT=net >fit
	grep -qx 'latency	10 us' fit
	run -1 grep buses fit
	echo 'no table' >table.txt
	run -2 --separate-stderr make -s -f "$ROOT/workflows/network.mk" MEASURED=table.txt OUT=bad
	[[ "$stderr" == *'lp-import: table.txt: line 1: the bytes are not a whole number'* ]]
	run -2 --separate-stderr make -s -f "$ROOT/workflows/network.mk" OUT=none
	[[ "$stderr" == 'network needs a run or MEASURED: '* ]]
}

@test "a grid is extended if its best is at the end; regions of runs, intersection, and bars" {
	for n in 1 4; do	# messages of 1000 and 4000 bytes on 30 us and 100 MB/s
		pack <<-END | lp-graph 2>/dev/null >$n.graph
			trace ranks=2
			0 MPI_Send 100000 100010 comm=1 peer=1 tag=0 sent=${n}000
			0 exit 200000 200000
			1 MPI_Recv 100 $((130000 + 10000 * n)) comm=1 peer=0 tag=0 received=${n}000
			1 exit $((230000 + 10000 * n)) $((230000 + 10000 * n))
		END
	done
	make -s -f "$ROOT/workflows/network.mk" GRAPHS='1.graph 4.graph' OUT=out LATENCY_US='1 3' MB_S='30 100 300' \
		EAGER=65536 BUSES=0 LINKS=0 FINE=1 FIGURES='svg png' >fit
	cut -f1 out/coarse.tsv | sort -gu | grep -qx 27
	[[ "$(cut -f1,2 out/best)" == 27$'\t'* ]]
	run -1 grep -q ^edge fit
	# What is within 10 % for all is so for each.
	awk -F'\t' 'NR > 1 { n[NR] = $2 } END { exit !(NR == 4 && n[4] > 0 && n[4] <= n[2] && n[4] <= n[3]) }' out/regions.tsv
	tail -q -n +2 out/coarse.tsv out/fine.tsv | sort -u | awk -F'\t' '$7 <= 0.1 && $8 <= 0.1' | wc -l |
		grep -qx "$(tail -1 out/regions.tsv | cut -f2)"
	for f in regions validation; do
		grep -q '>4<' out/$f.svg
		[ -s out/$f.png ]
	done
}
