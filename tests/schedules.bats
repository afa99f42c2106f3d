# SPDX-License-Identifier: BSD-3-Clause
# Collectives as messages: by hand, against the same messages as calls, and fitted from their times.
bats_require_minimum_version 1.5.0
load helpers

# collective RANKS NAME KEYS...: all begin at 1000 ns
collective() {
	local ranks=$1 name=$2
	shift 2
	{
		echo "trace ranks=$ranks"
		for ((r = 0; r < ranks; r++)); do echo "$r MPI_$name 1000 2000 comm=1 $*"; done
	} | pack | lp-graph 2>/dev/null
}

# machine RANKS LINE...: 10 us, 1 GB/s, overheads of 1 and 2 us
machine() {
	printf 'machine\nmodel loggp\nbandwidth 1 GB/s\nnodes %d\nlatency 10 us\n' "$1"
	printf 'overhead send 1 us\noverhead receive 2 us\n'
	printf '%s\n' "${@:2}"
}

finish() {
	lp-replay -n machine -F json "$1" | jq -c .finish_ns
}

@test "a binomial broadcast, recursive doubling and a ring take the times computed by hand" {
	# 0 sends to 2 by 1 us and to 1 by 2; a message is 1 + 10 us on its way, and taken in 2; then 2 sends to 3.
	collective 4 Bcast peer=0 sent=1000 >t.graph
	machine 4 'schedule bcast binomial' >machine
	[ "$(finish t.graph)" = '[3000,16000,16000,29000]' ]
	machine 4 'schedule bcast linear' >machine
	[ "$(finish t.graph)" = '[4000,15000,16000,17000]' ]
	machine 4 'schedule bcast chain' >machine
	[ "$(finish t.graph)" = '[2000,16000,30000,43000]' ]
	# Two rounds of 1 + 1 + 10 + 2.
	collective 4 Allreduce sent=1000 received=1000 >t.graph
	machine 4 'schedule allreduce recursive-doubling' >machine
	[ "$(finish t.graph)" = '[29000,29000,29000,29000]' ]
	# With two links of one direction an exchange holds them twice 1 us.
	machine 2 'links 1 0' 'schedule allreduce recursive-doubling' >machine
	collective 2 Allreduce sent=1000 received=1000 >two.graph
	[ "$(finish two.graph | jq max)" -eq 16000 ]
	# Six rounds of 250 bytes; in three of them 250 bytes are added in 0.5 us.
	machine 4 'schedule allreduce ring' 'combining 0.5 GB/s' >machine
	[ "$(finish t.graph | jq max)" -eq $((1000 + 6 * 13250 + 3 * 500)) ]
}

@test "the last matching line applies, by bytes and by ranks" {
	collective 4 Allreduce sent=1000 received=1000 >t.graph
	machine 4 'schedule allreduce reduce-bcast' 'schedule allreduce recursive-doubling 1000 B 4' >machine
	[ "$(finish t.graph)" = '[29000,29000,29000,29000]' ]
	machine 4 'schedule allreduce recursive-doubling' 'schedule allreduce ring 1001 B' \
		'schedule allreduce ring 0 B 5' >machine
	[ "$(finish t.graph)" = '[29000,29000,29000,29000]' ]
	machine 4 'schedule allreduce ring' 'schedule allreduce tree' >machine
	[ "$(finish t.graph)" = "$(machine 4 >machine; finish t.graph)" ]
}

@test "schedules take as long as the same messages as calls, on random ranks and machines" {
	schedules_check.py 1 14
}

@test "a link is busy for the gap, and a message is in flight for its latency" {
	{
		echo 'trace ranks=3'
		for r in 0 1; do
			echo "$r MPI_Send 0 10 comm=1 peer=2 tag=0 sent=1000"
			echo "2 MPI_Recv 0 10 comm=1 peer=$r tag=0 received=1000"
		done
	} | pack | lp-graph 2>/dev/null >t.graph
	printf 'machine\nmodel loggp\nnodes 3\nlatency 2 us\nlinks 1 1\ntime 0 B 2 us\ntime 1000 B 12 us\n' >machine
	[ "$(finish t.graph)" = '[0,0,22000]' ]
	printf 'gap 0 B 0 us\ngap 1000 B 3 us\n' >>machine
	[ "$(finish t.graph)" = '[0,0,15000]' ]
	sed -i 's/gap 1000 B 3 us/gap 1000 B 30 us/' machine	# longer than on its way
	[ "$(finish t.graph)" = '[0,0,42000]' ]
}

@test "processors work on one message while another is in flight" {
	collective 2 Allreduce sent=1000 received=1000 >two.graph
	machine 2 'schedule allreduce recursive-doubling' 'time 1000 B 10 us' 'time 2000 B 11 us' 'links 1 0' >machine
	# 1 + 10 + 2; a gap of 7 us holds the other up for so long, work of 7 us until 14 us after both left.
	cp machine base
	{ cat base; printf 'gap 1000 B 7 us\ngap 2000 B 7 us\n'; } >machine
	[ "$(finish two.graph | jq max)" -eq 21000 ]
	{ cat base; printf 'work 1000 B 7 us\nwork 2000 B 7 us\n'; } >machine
	[ "$(finish two.graph | jq max)" -eq 18000 ]
	{ cat base; printf 'work 1000 B 3 us\nwork 2000 B 3 us\n'; } >machine
	[ "$(finish two.graph | jq max)" -eq 14000 ]
	{ cat base; printf 'work 1000 B 3 us\ngap 2000 B 3 us\n'; } >machine
	run -2 --separate-stderr lp-replay -n machine -F json two.graph
	[[ "$stderr" == *'line 13: links are held for a gap or for work, not for both' ]]
}

@test "extra time of members depends on size and ranks, and only for these collectives" {
	collective 2 Allreduce sent=1000 received=1000 >two.graph
	machine 2 'schedule allreduce recursive-doubling' 'beside allreduce 0 B 0 us' 'beside allreduce 2000 B 8 us' \
		'beside allreduce 0 B 50 us 3' 'beside alltoall 0 B 70 us' >machine
	[ "$(finish two.graph)" = '[19000,19000]' ]
	sed -i /schedule/d machine
	[ "$(finish two.graph | jq max)" -eq "$(machine 2 >machine; finish two.graph | jq max)" ]
	for bad in 'beside colour 0 B 1 us' 'beside bcast 0 B' 'beside bcast 0 B 1 us 2 3'; do
		machine 2 "$bad" >machine
		run -2 --separate-stderr lp-replay -n machine -F json two.graph
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "overheads depend on size, with separate values in memory" {
	echo 'trace ranks=2
	0 MPI_Send 0 10 comm=1 peer=1 tag=0 sent=500
	1 MPI_Recv 0 10 comm=1 peer=0 tag=0 received=500' | pack | lp-graph 2>/dev/null >t.graph
	printf 'machine\nmodel loggp\nnodes 2\ncpus 1\noverhead send 0 B 1 us\noverhead send 1000 B 3 us\noverhead receive 4 us\n' >machine
	[ "$(finish t.graph)" = '[2000,6000]' ]
	printf 'machine\nmodel loggp\nnodes 1\ncpus 2\noverhead send 7 us\nmemory overhead send 0.5 us\noverhead receive 4 us\n' >machine
	[ "$(finish t.graph)" = '[500,4500]' ]
}

@test "segments are pipelined along a chain and a binary tree, as computed by hand" {
	collective 3 Bcast peer=0 sent=3000 >t.graph
	# Segments leave the root at 2, 3 and 4 us; the next rank has the first at 15, and each other 3 us later.
	machine 3 'schedule bcast chain segment 1000 B' >machine
	[ "$(finish t.graph)" = '[4000,22000,35000]' ]
	machine 3 'schedule bcast chain segment 3000 B' >machine
	[ "$(finish t.graph)" = '[2000,18000,33000]' ]
	machine 3 'schedule bcast binary 0 B 3 segment 1500 B' >machine
	[ "$(finish t.graph)" = '[5000,17500,18500]' ]
	for bad in 'schedule bcast linear segment 8 B' 'schedule bcast chain segment 8' 'schedule bcast chain segment 8 B 3'; do
		machine 3 "$bad" >machine
		run -2 --separate-stderr lp-replay -n machine -F json t.graph
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "a sender's time after its message has left delays only the sender" {
	echo 'trace ranks=2
	0 MPI_Send 0 10 comm=1 peer=1 tag=0 sent=0
	1 MPI_Recv 0 10 comm=1 peer=0 tag=0 received=0' | pack | lp-graph 2>/dev/null >t.graph
	machine 2 >machine
	[ "$(finish t.graph)" = '[1000,13000]' ]
	machine 2 'overhead sent 0 B 5 us' >machine
	[ "$(finish t.graph)" = '[6000,13000]' ]
	lp-tolerance -n machine -F json t.graph | jq -e '.run_time_ns == 13000 and .exact'
	collective 2 Allreduce sent=0 received=0 >two.graph
	machine 2 'overhead sent 0 B 15 us' 'schedule allreduce recursive-doubling' >machine
	[ "$(finish two.graph)" = '[19000,19000]' ]	# 1 + 15 + 2: the other's message is there before
}

@test "the time from the last leave of MPI_Init ignores that one rank left earlier" {
	echo 'trace ranks=2
	0 MPI_Init 0 100
	0 MPI_Barrier 150 1100 comm=1
	0 MPI_Finalize 1150 1200
	1 MPI_Init 0 1000
	1 MPI_Barrier 1050 1100 comm=1
	1 MPI_Finalize 1160 1200' | pack | lp-graph 2>/dev/null >t.graph
	lp-replay -F csv t.graph | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i } \
		NR == 2 { exit !($k["recorded_run_time_ns"] == 1050 && $k["recorded_together_ns"] == 160 && $k["together_ns"] == 110) }'
}

@test "meaningless schedules and tables are refused in one line" {
	collective 2 Barrier >t.graph
	for bad in 'schedule barrier ring' 'schedule bcast colour' 'schedule colour ring' 'schedule bcast' \
		'schedule bcast chain 3' 'overhead colour 1 us' 'memory overhead call 1 us' 'combining 3' 'gap 1 B'; do
		machine 2 "$bad" >machine
		run -2 --separate-stderr lp-replay -n machine -F json t.graph
		[[ "$stderr" == 'lp-replay: machine: line 8: '* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	printf 'machine\nnodes 2\nschedule barrier bruck\n' >machine
	run -2 --separate-stderr lp-replay -n machine -F json t.graph
	[[ "$stderr" == *'need: model loggp' ]]
}

samples() {
	echo "samples name=MPI_$1 function=MPI_$1 role=function guideline=\"\" number=0 bytes=$2 volume=$2 part=0 time=$3"
}

@test "planted tables and schedules are found, and the replay gives the table's times" {
	{
		echo measurement
		echo mpirun ranks=5 sync=none
		for m in 0 1000 4000 16000 64000; do
			samples Pingpong $m $((16 * (13000 + m)))	# 1 and 2 us at the ends, 10 us and 1 GB/s between
			late=$((m > 4000 ? 60000 + 2 * m : 1000))
			samples Send $m $((16 * late))
			samples Recv $m $((16 * 2000))
			samples Exchange $m $((16 * (m > 4000 ? 3000 + 2 * m : 13000 + m)))
			[ "$m" -gt 0 ] || continue
			machine 5 'eager 4001 B' 'links 1 0' $'time 0 B 10 us\ntime 64000 B 74 us' \
				'work 0 B 0 us' 'work 4000 B 0 us' 'work 4001 B 4001 ns' 'work 64000 B 64 us' \
				"schedule bcast $([ "$m" -lt 16000 ] && echo binomial || echo scatter-ring)" \
				"schedule allgather ring" 'schedule reduce chain segment 8192 B' >machine
			samples Reduce $m $(($(finish <(collective 5 Reduce peer=0 sent=$m) | jq max) - 1000))
			samples Bcast $m $(($(finish <(collective 5 Bcast peer=0 sent=$m) | jq max) - 1000))
			samples Allgather $m $(($(finish <(collective 5 Allgather sent=$m received=$((5 * m))) | jq max) - 1000))
		done
	} | pack >m
	lp-network -M loggp m >machine
	grep -qx 'eager 4001 B' machine
	grep -qx 'links 1 0' machine
	grep -qx 'time 4000 B 14 us' machine
	grep -qx 'overhead receive 16000 B 2 us' machine
	grep -qx 'work 4000 B 0 us' machine
	grep -qx 'work 16000 B 16 us' machine
	# What was not measured is as its kin.
	grep '^schedule' machine | cut -f1 | sort | diff - <(printf 'schedule %s\n' 'allgather ring 0 B 5' 'allgatherv ring 0 B 5' \
		'bcast binomial 0 B 5' 'bcast scatter-ring 16000 B 5' 'reduce chain 0 B 5 segment 8192 B')
	lp-network -M loggp -F text m | awk -F'\t' 'NR > 1 && $6 != "" && ($6 > 0.01 || $6 < -0.01) { exit 1 }'
	# What the table says lp-replay says, too, of a run of its own.
	fitted=$(lp-network -M loggp -F text m | awk -F'\t' '$1 == "MPI_Bcast" && $3 == 64000 { printf "%.0f", 1000 * $5 }')
	[ "$(finish <(collective 5 Bcast peer=0 sent=64000) | jq max)" -eq $((fitted + 1000)) ]
}

@test "for thousands of ranks only schedules of few messages are tried, and a line says so" {
	{
		printf 'measurement\nmpirun ranks=4096 sync=none\n'
		for m in 0 8 64; do
			for f in Pingpong Send Recv; do samples $f $m 160000; done
		done
		samples Alltoall 64 9000000
		samples Bcast 64 120000
		samples Scan 64 9000000
	} | pack >m
	lp-network -M loggp m >machine 2>said
	[ "$(grep -c 'are not tried' said)" -eq 3 ]
	grep -q '^lp-network: MPI_Alltoall of 4096 ranks: ' said
	grep '^schedule' machine | cut -d' ' -f2,3 | diff - <(printf '%s\n' 'alltoall bruck' 'bcast binomial' 'scan recursive-doubling' 'alltoallv bruck')
}

@test "inputs missing for tables by size are named" {
	printf 'measurement\nmpirun ranks=2 sync=none\n%s\n' "$(for m in 0 1 2; do samples Pingpong $m 100; done)" | pack >m
	run -2 --separate-stderr lp-network -M loggp m
	[ "$stderr" = 'lp-network: m: Send and Recv were not measured at 0 bytes, as Pingpong was' ]
	run -2 --separate-stderr lp-network -M loggp -F region m
	[[ "$stderr" == *'tables by size have no region' ]]
}
