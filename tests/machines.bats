# SPDX-License-Identifier: BSD-3-Clause
# lp-replay between machines: the wide area network, its traffic functions, dedicated connections.
# Times are worked out by hand from the rules in Dimemas' communic.c and links.c.
bats_require_minimum_version 1.5.0
load helpers

# Ranks 0 and 1 on one machine, 2 and 3 on another; all sends are eager, of 1 MiB.
four_ranks() {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=4
		0 MPI_Bsend 1000000 1000000 comm=1 peer=2 tag=5 sent=1048576
		0 MPI_Recv 1000000 9000000 comm=1 peer=2 tag=9 received=1048576
		1 MPI_Bsend 2000000 2000000 comm=1 peer=3 tag=7 sent=1048576
		2 MPI_Bsend 1000000 1000000 comm=1 peer=0 tag=9 sent=1048576
		2 MPI_Recv 1000000 9000000 comm=1 peer=0 tag=5 received=1048576
		3 MPI_Recv 1000000 9000000 comm=1 peer=1 tag=7 received=1048576
	END
}

# machines "N, FUNCTION, MAX_TRAFFIC" [RECORD]: 100 MB/s and 1 ms between machines.
machines() {
	cat >cfg <<-END
		#DIMEMAS_CONFIGURATION
		"wide area network information" {"", 2, $1, 100.0, 1};;
		"environment information" {"", 0, "", 1, 0.0, 0, 1};;
		"environment information" {"", 1, "", 1, 0.0, 0, 1};;
		"multi node information" {0, 1, "", 2, 1.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0.001};;
		"multi node information" {1, 1, "", 2, 1.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0.001};;
		$2
		"mapping information" {"t", 4, [4] {0,0,1,1}};;
	END
}

# connection "ID, MACHINE, MACHINE, MB/s, TAGS" LIMITS: its record, with 2 ms of latency and 3 ms of flight.
connection() {
	echo "\"dedicated connection information\" {$1, $2, [1] {0}, 0.002, 0.003};;"
}

finish() {
	lp-replay -n cfg -F json t.graph | jq -c .finish_ns
}

@test "between machines, each sends one message at a time and receives one at a time" {
	four_ranks
	machines "0, 4, 0.0"
	# 1 MiB is 10 ms. 0 sends at 1 ms + 1 ms of latency and 1 at 3 ms, over the same link out: 2 to 12
	# and 12 to 22 ms. The other way is free for 2, from 2 to 12 ms. Who receives is ready before.
	[ "$(finish)" = '[12000000,3000000,12000000,22000000]' ]
	lp-replay -n cfg --explain 1:0 t.graph >t.out
	grep -qx 'link	3000000	12000000	9000000' t.out
	grep -qx 'wire	12000000	22000000	10000000' t.out
}

@test "traffic functions change nothing without other traffic, as in Dimemas" {
	four_ranks
	for function in 1 2 3 4; do
		for most in 0.0 50.0; do
			machines "0, $function, $most"
			[ "$(finish)" = '[12000000,3000000,12000000,22000000]' ]
		done
	done
}

@test "a dedicated connection carries its tags and sizes, one message at a time each way" {
	four_ranks
	machines "1, 4, 0.0" "$(connection '0, 1, 0, 200.0, [2] {7,9}' '1000, >, &, 2000000, <')"
	# 1 MiB is 5 ms, latency 2 ms, flight 3 ms. 2 sends tag 9 at 3 ms: the connection is taken until 8,
	# the data there at 11. 1 sends tag 7 at 4 ms and waits: taken from 8 to 13, there at 16. Tag 5 goes
	# over the wide network as before, where nobody is in its way: 2 to 12 ms.
	[ "$(finish)" = '[11000000,4000000,12000000,16000000]' ]
	lp-replay -n cfg --explain 1:0 t.graph >t.out
	grep -qx 'latency	2000000	4000000	2000000' t.out
	grep -qx 'link	4000000	8000000	4000000' t.out
	grep -qx 'wire	8000000	16000000	8000000' t.out
	# One of two limits is enough with |, both are needed with &; = is exact.
	machines "1, 4, 0.0" "$(connection '0, 1, 0, 200.0, [2] {7,9}' '1048576, =, |, 5, <')"
	[ "$(finish)" = '[11000000,4000000,12000000,16000000]' ]
	machines "1, 4, 0.0" "$(connection '0, 1, 0, 200.0, [2] {7,9}' '1048576, =, &, 5, <')"
	[ "$(finish)" = '[12000000,3000000,12000000,22000000]' ]
	# Of two the first that fits is taken, here by tag 7: without bandwidth there is no time for its way
	# nor for flight, so it is there at 4 ms. Tag 9 takes the other as before.
	machines "2, 4, 0.0" "$(connection '1, 0, 1, 200.0, [2] {7,9}' '0, >, &, 0, >'
		connection '0, 0, 1, 0.0, [1] {7}' '0, >, &, 0, >')"
	[ "$(finish)" = '[11000000,4000000,12000000,4000000]' ]
}

@test "announced connections that are missing, and missing announcements, are refused" {
	four_ranks
	machines "1, 4, 0.0"
	run -2 --separate-stderr lp-replay -n cfg -F json t.graph
	[[ "$stderr" == *"cfg: dedicated connection 0 has no record"* ]]
	machines "0, 4, 0.0" "$(connection '0, 1, 0, 200.0, [1] {7}' '1000, >, &, 2000000, <')"
	run -2 --separate-stderr lp-replay -n cfg -F json t.graph
	[[ "$stderr" == *"cfg: line 7: there are 0 dedicated connections"* ]]
	machines "1, 4, 0.0" "$(connection '0, 1, 0, 200.0, [1] {7}' '1000, ?, &, 2000000, <')"
	run -2 --separate-stderr lp-replay -n cfg -F json t.graph
	[[ "$stderr" == *"cfg: line 7: a condition of size is <, = or >"* ]]
}

@test "all 14 collectives follow the paper's formulas, a barrier with P as with P - 1" {
	# S. Girona, J. Labarta, R. M. Badia, EuroPVM/MPI 2000: 25 us and 87.5 MB/s, here without limits; 6 nodes.
	printf '%s\n' 'Barrier linear-p max linear-p max' 'Barrier linear max linear max' 'Bcast logarithmic max none max' \
		'Gather logarithmic mean none max' 'Gatherv logarithmic mean none max' 'Scatter none max logarithmic mean' \
		'Scatterv none max logarithmic mean' 'Allgather logarithmic mean logarithmic mean' \
		'Allgatherv logarithmic mean logarithmic mean' 'Alltoall logarithmic mean logarithmic max' \
		'Alltoallv logarithmic mean logarithmic max' 'Reduce logarithmic 2max none max' \
		'Allreduce logarithmic 2max logarithmic max' 'Reduce_scatter logarithmic 2max logarithmic min' \
		'Scan logarithmic max logarithmic max' >table
	local name in in_size out out_size n=0 want
	while read -r name in in_size out out_size; do
		{
			echo 'trace ranks=6'
			for r in 0 1 2 3 4 5; do
				case $name in
				Barrier) echo "$r MPI_Barrier 1000 1010 comm=1" ;;
				Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
					echo "$r MPI_$name 1000 1010 comm=1 peer=0 sent=7000 received=3500" ;;
				*) echo "$r MPI_$name 1000 1010 comm=1 sent=7000 received=3500" ;;
				esac
			done
		} | pack | lp-graph 2>/dev/null >t.graph
		{
			printf 'machine\nbandwidth 87.5 MB/s\nnodes 6\nlatency 25 us\neager all\n'
			echo "collective ${name,,} $in $in_size $out $out_size"
		} >machine
		# Sizes in us at 87.5 MB/s: min 40, mean 60, max 80, twice that 160; a tree of 6 has 3 stages.
		want=$(awk -v i="$in" -v s="$in_size" -v o="$out" -v t="$out_size" -v z="$([ "$name" = Barrier ] && echo 0 || echo 1)" \
			'function f(m) { return m == "linear-p" ? 6 : m == "linear" ? 5 : m == "logarithmic" ? 3 : 0 }
			function us(s) { return z * (s == "min" ? 40 : s == "mean" ? 60 : s == "max" ? 80 : 160) }
			BEGIN { print 1000 + 1000 * (f(i) * (25 + us(s)) + f(o) * (25 + us(t))) }')
		[ "$(lp-replay -n machine -F json t.graph | jq .run_time_ns)" = "$want" ] || { echo "$name: $want"; return 1; }
		n=$((n + 1))
	done <table
	[ "$n" -eq 15 ]
}

@test "of events at one time, the one scheduled first comes first: a call without computing before it waits its turn" {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=4
		0 MPI_Comm_rank 1000000 1000000 comm=1
		0 MPI_Bsend 1000000 1000000 comm=1 peer=2 sent=1048576
		1 MPI_Bsend 1000000 1000000 comm=1 peer=3 sent=2097152
		2 MPI_Recv 1000000 9000000 comm=1 peer=0 received=1048576
		3 MPI_Recv 1000000 9000000 comm=1 peer=1 received=2097152
	END
	printf '%s\n' machine 'nodes 2' 'cpus 2' 'mapping 2' 'bandwidth 100 MiB/s' 'latency 0 us' 'links 1 1' 'eager 4 MiB' >machine
	# Both are at their call at 1 ms. Rank 0 leaves it at once and is behind rank 1 then, whose 20 ms hold
	# the link out before its own 10 ms.
	[ "$(lp-replay -n machine -F json t.graph | jq -c .finish_ns)" = '[1000000,1000000,31000000,21000000]' ]
}

@test "a rank that leaves a collective later than now sends after messages that come before" {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=4
		communicator comm=3 members=0,2
		0 MPI_Allreduce 1000000 1000000 comm=3 sent=8 received=8
		0 MPI_Bsend 1000000 1000000 comm=1 peer=2 sent=1048576
		1 MPI_Bsend 1500000 1500000 comm=1 peer=3 sent=2097152
		2 MPI_Allreduce 500000 1000000 comm=3 sent=8 received=8
		2 MPI_Recv 1000000 9000000 comm=1 peer=0 received=1048576
		3 MPI_Recv 1200000 9000000 comm=1 peer=1 received=2097152
	END
	printf '%s\n' machine 'model loggp' 'bandwidth 100 MiB/s' 'collective all logarithmic' 'nodes 2' 'cpus 2' \
		'latency 1 ms' 'links 1 1' 'mapping 2' 'eager 4 MiB' >machine
	# Rank 0 is the last to enter, at 1 ms, and leaves 2 ms and 16 bytes later. Rank 1 has the link out by
	# then, from 1.5 to 21.5 ms; 10 ms for the other message, and 1 ms of latency each.
	[ "$(lp-replay -n machine -F json t.graph | jq -c .finish_ns)" = '[3000153,1500000,32500000,22500000]' ]
}
