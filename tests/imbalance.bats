# SPDX-License-Identifier: BSD-3-Clause
# lp-imbalance: wait states, their causes, and their sums.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -w -o c_states "$ROOT/tests/apps/states.c"
	mpifort -g -O1 -o f_states "$ROOT/tests/apps/states.f90"
	random_run.py make 17 | lp-graph >random.graph 2>/dev/null
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$ROOT/build/apps/heat" \
		-n 500 -i 6 -p balanced:30,imbalanced:30,serial:10,messages:20 >heat.out
	lp-merge run | lp-graph >heat.graph 2>/dev/null
}

# planted RANKS PROGRAM NAME: report.json of a program that plants that state
planted() {
	rm -rf run
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$1" \
		"$BATS_FILE_TMPDIR/$2" "$3" </dev/null	# the launcher would read what the test loops over
	lp-merge run 2>/dev/null | lp-graph >t.graph 2>/dev/null
	lp-imbalance -F json t.graph >report.json
}

# The planted 0.1 s less what the waiting rank needs to get to its call: an emulator needs twenty times as long.
least() { if emulated; then echo 0.08; else echo 0.099; fi; }

# found STATE CAUSE: it is there for 0.1 s and by far the most of all between start and end, and rank CAUSE computed
# too long
found() {
	jq -e --arg state "$1" --argjson cause "$2" --argjson least "$(least)" '
		(.wait_states | map(select(.wait_s > 0)) | max_by(.wait_s)) as $most |
		($most.name == $state) and $most.wait_s > $least and $most.wait_s < 0.25 and
		([.wait_states[] | select(.name != $state and (.name | IN("init_completion", "wait_at_comm_create",
			"wait_at_finalize") | not)) | .wait_s] | add) < $most.wait_s / 2 and
		.delays[0].rank == $cause and .delays[0].kind == "compute" and .delays[0].cost_s > $least - 0.009 and
		.sums.hold' report.json >/dev/null || { jq -c '[.wait_states[] | select(.wait_s > 0) |
		[.name, .wait_s]], .delays[0]' report.json; false; }
}

# Where other programs hold up ranks they wait for these, too: one of ten runs has to be quiet. What
# the command returns counts; errors within do not end it.
attempts() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$@" && return
	done
	return 1
}

c_planted() {
	planted 3 c_states "$1"
	if [ "$1" = finalize ]; then
		jq -e --argjson least "$(least)" '.wait_states[] | select(.name == "wait_at_finalize") |
			.wait_s > 2 * $least and .count == 2' report.json
	elif [ "$1" = progress ] && answers_alone; then
		jq -e '[.wait_states[] | select(.name == "wait_for_progress") | .wait_s] | add < 0.05' report.json
	else
		found "$2" "$3"
	fi
}

# Is the library one whose targets answer while they compute (Open MPI 5)? There is nothing to wait for then.
answers_alone() {
	lp-dump -k call t.graph | jq -s -e '[.[] | select(.rank == 0 and (.call | test("Win_(lock|unlock)$|Put"))) |
		.leave_ns - .enter_ns] | add < 5e7' >/dev/null
}

f_planted() {
	planted 2 f_states "$1"
	found "$2" "$3" && jq -e '.delays[0].file | endswith("states.f90")' report.json
}

@test "C: each planted state is found with its duration and its cause" {
	while read -r name state cause; do
		attempts c_planted $name $state $cause
	done <<-END
		late_sender late_sender 0
		late_sender_waitall late_sender 0
		probe late_sender 0
		mprobe late_sender 0
		iprobe late_sender 0
		late_receiver late_receiver 1
		late_receiver_wait late_receiver 1
		wrong_order_same messages_in_wrong_order_same_source 0
		wrong_order_different messages_in_wrong_order_different_source 0
		barrier wait_at_barrier 0
		allreduce wait_at_nxn 0
		alltoallv wait_at_nxn 0
		bcast late_broadcast 0
		scatterv late_broadcast 0
		reduce early_reduce 1
		gather early_reduce 1
		scan early_scan 0
		finalize wait_at_finalize 0
		dup wait_at_comm_create 0
		create_group wait_at_comm_create 0
		intercomm_create wait_at_comm_create 1
		disconnect wait_at_barrier 1
		ibarrier wait_at_barrier 0
		iallreduce wait_at_nxn 0
		neighbours wait_at_neighbours 0
		window_create wait_at_window_create 0
		fence wait_at_fence 0
		late_post late_post 1
		early_wait early_wait 0
		early_fence early_fence 0
		late_complete late_complete 0
		progress wait_for_progress 1
		file_open wait_at_file_open 0
		file_view wait_at_file 0
	END
}

@test "C: a rank that waits for a lock waits for its holder" {
	planted 3 c_states lock
	jq -e '.wait_states[] | select(.name == "lock_contention") | .wait_s > 0.02 and .wait_s < 0.15 and
		.ranks[0] < 0.01 and .ranks[2] == .wait_s and .partners[0] == .wait_s' report.json
}

# one_sided TEXT: the states of a run in windows, as "name rank microseconds", and that all sums hold
one_sided() {
	tests/pack >t.trace <<<"$1"
	lp-graph t.trace 2>/dev/null >t.graph
	lp-imbalance -F json t.graph >report.json
	jq -e .sums.hold report.json >/dev/null
	jq -r '.wait_states[] | .name as $name | .ranks | to_entries[] | select(.value > 0) |
		"\($name) \(.key) \(.value * 1e9 | round)"' report.json | grep -v completion
}

# Rank 0 puts at 510 and, as soon as it has left the fence, again; rank 2 at 300. Rank 1 is there from 100 on.
@test "early fences that wait for operations differ from those that wait for fences" {
	[ "$(one_sided 'trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		0 MPI_Win_fence 10 20 comm=3
		1 MPI_Win_fence 10 20 comm=3
		2 MPI_Win_fence 10 20 comm=3
		2 MPI_Put 290 300 comm=3 peer=1 sent=8
		0 MPI_Put 500 510 comm=3 peer=1 sent=8
		0 MPI_Put 511 600 comm=3 peer=2 sent=8
		0 MPI_Win_fence 800 850 comm=3
		0 MPI_Put 860 870 comm=3 peer=1 sent=8
		1 MPI_Win_fence 100 1000 comm=3
		2 MPI_Win_fence 700 1000 comm=3
		0 MPI_Win_fence 2000 2100 comm=3
		1 MPI_Win_fence 2000 2100 comm=3
		2 MPI_Win_fence 2000 2100 comm=3')" = "wait_at_fence 1 290
wait_at_fence 2 100
early_fence 1 410" ]
	jq -e '.wait_states[] | select(.name == "early_fence") | .partners == [4.1e-07,0,0]' report.json
}

# Two origins: the one ends its epoch at 500, and puts in the next at 620; the other puts at 420 and ends at 700.
@test "exposures that wait for operations differ from those that wait for MPI_Win_complete" {
	[ "$(one_sided 'trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		1 MPI_Win_post 10 20 comm=3 peer=0 as=a
		1 + comm=3 peer=2 as=b
		0 MPI_Win_start 30 40 comm=3 peer=1 as=c
		2 MPI_Win_start 30 40 comm=3 peer=1 as=d
		2 MPI_Put 200 210 comm=3 peer=1 sent=8
		0 MPI_Put 410 420 comm=3 peer=1 sent=8
		2 MPI_Win_complete 500 510 comm=3 of=d
		2 MPI_Win_start 600 610 comm=3 peer=1 as=e
		2 MPI_Put 615 620 comm=3 peer=1 sent=8
		0 MPI_Win_complete 700 710 comm=3 of=c
		1 MPI_Win_wait 100 720 comm=3 of=a
		1 + comm=3 of=b
		1 MPI_Win_post 730 740 comm=3 peer=2 as=f
		2 MPI_Win_complete 760 790 comm=3 of=e
		1 MPI_Win_wait 750 800 comm=3 of=f')" = "early_wait 1 320
late_complete 1 290" ]
}

# MPI_Win_start returns at once, as with Open MPI's osc pt2pt. The target posts at 900, and waits at 905, still within MPI_Win_complete.
@test "MPI_Win_complete waits for the post that MPI_Win_start did not wait for" {
	[ "$(one_sided 'trace ranks=2
		communicator comm=3 members=0,1 type=window
		0 MPI_Win_start 30 40 comm=3 peer=1 as=a
		0 MPI_Put 50 60 comm=3 peer=1 sent=8
		0 MPI_Win_complete 200 950 comm=3 of=a
		1 MPI_Win_post 900 902 comm=3 peer=0 as=b
		1 MPI_Win_wait 905 960 comm=3 of=b')" = "late_post 0 700" ]
	jq -e '.wait_states[] | select(.name == "late_post") | .partners == [0,7e-07]' report.json
	tests/reorder.py 1 <t.graph | lp-imbalance -F json | cmp - report.json
}

# The origin cannot tell rank 1 that the epoch is over before rank 2 has posted, at 900; it returns before rank 1 does, or after.
@test "MPI_Win_wait waits for the post that the origin waits for" {
	for end in 930 950; do
		[ "$(one_sided "trace ranks=3
			communicator comm=3 members=0,1,2 type=window
			0 MPI_Win_start 30 40 comm=3 peer=1 as=a
			0 + comm=3 peer=2 as=b
			0 MPI_Win_complete 200 $end comm=3 of=a
			0 + comm=3 of=b
			1 MPI_Win_post 20 25 comm=3 peer=0 as=c
			1 MPI_Win_wait 100 940 comm=3 of=c
			2 MPI_Win_post 900 902 comm=3 peer=0 as=d
			2 MPI_Win_wait 905 960 comm=3 of=d")" = "late_post 0 700
late_complete 1 800" ]
		jq -e '.wait_states[] | select(.name == "late_complete") | .partners == [1e-07,0,7e-07]' report.json
		tests/reorder.py 1 <t.graph | lp-imbalance -F json | cmp - report.json
	done
}

# Rank 1 is in MPI until 50 us and from 600 us on, rank 2 is in a barrier of its own throughout.
@test "an origin waits until its target, which computes, makes an MPI call" {
	local progress='trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		communicator comm=4 members=2
		1 MPI_Iprobe 40000 50000 comm=1 peer=0 tag=0
		2 MPI_Barrier 60000 950000 comm=4
		1 MPI_Iprobe 600000 610000 comm=1 peer=0 tag=0
		1 MPI_Iprobe 700000 710000 comm=1 peer=0 tag=0
		1 MPI_Iprobe 1200000 1210000 comm=1 peer=0 tag=0'
	[ "$(one_sided "$progress
		0 MPI_Win_lock 100000 110000 comm=3 peer=1 tag=1
		0 MPI_Put 110000 120000 comm=3 peer=1 sent=8
		0 MPI_Win_unlock 120000 620000 comm=3 peer=1
		0 MPI_Iprobe 1300000 1301000 comm=1 peer=1 tag=0")" = "wait_for_progress 0 480000" ]
	jq -e '.wait_states[] | select(.name == "wait_for_progress") | .partners == [0,0.00048,0]' report.json
	# The path leads through the target's computation, and not through the call.
	[ "$(lp-critpath t.graph | lp-dump -k segment | jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment)"' | sed -n 3,4p)" = \
		'1 50000 600000 compute
0 600000 620000 transfer' ]
	# It is in a call when the origin's begins; the call returns before; or long after; another target.
	for calls in '1 605000 900000' '1 120000 590000' '1 120000 640000' '2 120000 620000'; do
		set -- $calls
		[ -z "$(one_sided "$progress
			0 MPI_Win_lock 100000 110000 comm=3 peer=$1 tag=1
			0 MPI_Win_unlock $2 $3 comm=3 peer=$1")" ]
	done
	# All targets that were accessed and not flushed since.
	[ "$(one_sided "$progress
		0 MPI_Win_lock_all 100000 110000 comm=3
		0 MPI_Put 110000 115000 comm=3 peer=2 sent=8
		0 MPI_Put 115000 120000 comm=3 peer=1 sent=8
		0 MPI_Win_flush_all 120000 620000 comm=3
		0 MPI_Win_flush_all 640000 702000 comm=3
		0 MPI_Put 720000 730000 comm=3 peer=1 sent=8
		0 MPI_Win_unlock_all 730000 1210000 comm=3")" = "wait_for_progress 0 950000" ]
	# MPI_Win_complete waits for a target that has posted, and then computes.
	[ "$(one_sided 'trace ranks=2
		communicator comm=3 members=0,1 type=window
		1 MPI_Win_post 10000 11000 comm=3 peer=0 as=p
		0 MPI_Win_start 12000 13000 comm=3 peer=1 as=s
		0 MPI_Put 13000 14000 comm=3 peer=1 sent=8
		0 MPI_Win_complete 20000 101000 comm=3 of=s
		1 MPI_Win_test 100000 100100 comm=3
		1 MPI_Win_test 101000 101100 comm=3
		1 MPI_Win_test 150000 160000 comm=3 of=p')" = "wait_for_progress 0 80000" ]
	[ "$(lp-dump t.graph | jq -c 'select(.kind == "hold") | [.source, .target]')" = '[1,0]' ]
	# A loop of MPI_Win_test is a wait.
	[ "$(one_sided "trace ranks=2
		communicator comm=3 members=0,1 type=window
		0 MPI_Win_post 1000 2000 comm=3 peer=1 as=p
		1 MPI_Win_start 3000 4000 comm=3 peer=0 as=s
		$(for at in $(seq 10000 1000 49000); do echo "0 MPI_Win_test $at +100 comm=3"; done)
		1 MPI_Win_complete 49000 49500 comm=3 of=s
		0 MPI_Win_test 50000 50100 comm=3 of=p")" = "late_complete 0 39000" ]
	# A lock and an unlock of all may wait for any target.
	[ "$(one_sided "$progress
		0 MPI_Win_lock_all 120000 620000 comm=3
		0 MPI_Win_unlock_all 730000 1210000 comm=3")" = "wait_for_progress 0 950000" ]
}

# The holder enters its unlock at 400 us and is not waited for any longer; the target makes a call at 700 us.
@test "a wait for a lock and then for progress counts for the holder first" {
	local locks='trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		1 MPI_Iprobe 10000 20000 comm=1 peer=0 tag=0
		1 MPI_Iprobe 700000 710000 comm=1 peer=0 tag=0
		2 MPI_Win_lock 100000 110000 comm=3 peer=1 tag=1
		2 MPI_Win_unlock 400000 500000 comm=3 peer=1
		0 MPI_Win_lock 200000 710000 comm=3 peer=1 tag=1
		0 MPI_Win_unlock 710000 711000 comm=3 peer=1'
	[ "$(one_sided "$locks")" = "lock_contention 0 200000
wait_for_progress 0 300000" ]
	# The path leads to the later of both, in either order, also if several processes look for it.
	for locks in "$locks" "$(sed 's/unlock 400000 500000/unlock 705000 706000/' <<<"$locks")"; do
		one_sided "$locks" >states
		lp-critpath t.graph | lp-dump -k segment >one
		ranks 2 lp-critpath t.graph | lp-dump -k segment | cmp - one
		jq -r 'select(.rank == 0) | .begin_ns' one | head -1
	done >begins
	[ "$(cat begins)" = '700000
705000' ]
}

# at_line FUNCTION FROM TO: the greatest delay is there
at_line() {
	planted 3 c_states "$1"
	jq -e --arg function "$1" --argjson from "$2" --argjson to "$3" --argjson least "$(least)" '.delays[0] |
		.function == $function and .line >= $from and .line <= $to and .cost_s > $least - 0.009' report.json
}

@test "a delay is on the line that caused it" {
	line=$(grep -n 'MPI_Send(out, 1, MPI_INT, 1, 2' "$ROOT/tests/apps/states.c" | tail -1 | cut -d: -f1)
	attempts at_line wrong_order_same $line $line
	line=$(grep -n 'late_receiver_wait' "$ROOT/tests/apps/states.c" | head -1 | cut -d: -f1)
	attempts at_line late_receiver_wait $((line + 1)) $((line + 17))
}

@test "Fortran: the same" {
	while read -r name state cause; do
		attempts f_planted $name $state $cause
	done <<-END
		late_sender late_sender 0
		late_receiver late_receiver 1
		barrier wait_at_barrier 0
		allreduce wait_at_nxn 0
		bcast late_broadcast 0
		reduce early_reduce 1
		iallreduce wait_at_nxn 0
	END
}

# chain FINALIZE: rank 1 waits 900 ns for rank 0, then rank 2 waits 920 ns for rank 1; ranks 0 and 1 enter
# MPI_Finalize then, rank 2 at 3000.
chain() {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=3
		0 MPI_Init 0 10
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize $1 3010
		1 MPI_Init 0 10
		1 MPI_Recv 100 1015 comm=1 peer=0 tag=0 received=8
		1 MPI_Send 1020 1025 comm=1 peer=2 tag=0 sent=8
		1 MPI_Finalize $1 3010
		2 MPI_Init 0 10
		2 MPI_Recv 100 1030 comm=1 peer=1 tag=0 received=8
		2 MPI_Finalize 3000 3010
	END
}

# Of the 920 ns 900 are for the wait for rank 0, 15 for the rest of the receive, 5 for computing.
@test "a wait that spreads is attributed to its origin, with the chain" {
	chain 3000
	lp-imbalance -F json t.graph >t.json
	[ "$(jq -c '.delays[] | [.rank, .kind, (.short_s * 1e9 | round), (.long_s * 1e9 | round)]' t.json |
		paste -sd' ')" = '[0,"compute",900,900] [1,"mpi",15,0] [1,"compute",5,0]' ]
	[ "$(jq -c '.chains[] | map([.rank, .partner, (.wait_s * 1e9 | round)])' t.json | paste -sd' ')" = \
		'[[2,1,920],[1,0,900]] [[1,0,900]]' ]
	[ "$(jq -c '.wait_states[] | select(.wait_s > 0) | [.direct_s, .indirect_s, .propagating_s, .terminal_s] |
		map(. * 1e9 | round)' t.json)" = '[920,900,900,920]' ]
}

# Since the first message, at 600, one rank was 15 ns in the call and computed 985, the other 10 and 90:
# nothing before counts.
@test "delays are searched since the last synchronisation of both ranks" {
	tests/pack >t.trace <<-END
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 600 610 comm=1 peer=1 tag=0 sent=8
		0 MPI_Recv 700 1615 comm=1 peer=1 tag=1 received=8
		0 MPI_Finalize 3000 3010
		1 MPI_Init 0 10
		1 MPI_Recv 100 615 comm=1 peer=0 tag=0 received=8
		1 MPI_Send 1600 1605 comm=1 peer=0 tag=1 sent=8
		1 MPI_Finalize 3000 3010
	END
	[ "$(lp-graph t.trace 2>/dev/null | lp-imbalance -F json | jq -c '.delays[] |
		[.rank, .kind, (.short_s * 1e9 | round), (.long_s * 1e9 | round)]' | paste -sd' ')" = \
		'[1,"compute",895,0] [0,"compute",500,0] [1,"mpi",5,0]' ]
}

# Rank 1 took rank 0's message a nanosecond after rank 0 began to wait for it: that is no synchronisation before this wait.
@test "a message received after a wait began does not synchronise before the wait" {
	tests/pack >t.trace <<-END
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 990 995 comm=1 peer=1 tag=0 sent=8
		0 MPI_Recv 1000 1105 comm=1 peer=1 tag=1 received=8
		1 MPI_Init 0 10
		1 MPI_Recv 1001 1002 comm=1 peer=0 tag=0 received=8
		1 MPI_Send 1100 1101 comm=1 peer=0 tag=1 sent=8
	END
	[ "$(lp-graph t.trace 2>/dev/null | lp-imbalance -F json | jq -c '.delays[] |
		[.rank, .kind, (.short_s * 1e9 | round), (.long_s * 1e9 | round)]')" = '[1,"compute",100,0]' ]
}

# three_ranks SEND: rank 1 waits 50 us for rank 0, computes until SEND and sends to rank 2, which waits for it from 51000 on
three_ranks() {
	tests/pack <<-END | lp-graph 2>/dev/null | lp-imbalance -F json
		trace ranks=3
		site site=1 offset=1
		site site=2 offset=2
		site site=3 offset=3
		0 MPI_Init 0 1000
		0 MPI_Send 81000 81000 comm=1 peer=1 tag=0 sent=8 site=3
		0 MPI_Finalize 300000 300000
		1 MPI_Init 0 1000
		1 MPI_Recv 31000 81000 comm=1 peer=0 tag=0 received=8 site=1
		1 MPI_Send $1 $1 comm=1 peer=2 tag=0 sent=8 site=2
		1 MPI_Finalize 300000 300000
		2 MPI_Init 0 1000
		2 MPI_Recv 51000 $1 comm=1 peer=1 tag=0 received=8 site=1
		2 MPI_Finalize 300000 300000
	END
}

# Without these 20 us rank 2 waits 20 us less; without the wait for rank 0 50 us less: both have their part in the 50 us.
@test "computation between a rank's own wait and its message costs the ranks that wait for it" {
	three_ranks 101000 >t.json
	[ "$(jq -c '.delays[] | [.rank, .kind, .site, (.short_s * 1e9 | round), (.long_s * 1e9 | round)]' t.json |
		paste -sd' ')" = '[0,"compute",3,50000,35714] [1,"compute",2,14286,0]' ]
	[ "$(jq '.wait_states[] | select(.name == "late_sender").ranks[2] * 1e9 | round' t.json)" -eq 50000 ]
	[ "$(three_ranks 81000 | jq '.wait_states[] | select(.name == "late_sender").ranks[2] * 1e9 | round')" -eq 30000 ]
}

@test "a wait shrinks by the cost of a delay if lp-replay removes the delay" {
	delays_check.py 1 15
}

# With the eight largest causes only, long-term costs add up to a third.
@test "costs of delays are those of the definition, however far waits look back and however many causes they have" {
	causes_check.py 1 "$(short_or_long 3 6)"
}

# explained SHARE GRAPH: so much of all waits, and no more than there is, has a cause
explained() {
	lp-imbalance -F json "$2" | jq -e --argjson least "$1" '.causes |
		(.share >= $least and .share < 1.0001) or error(tostring)' >/dev/null
}

@test "waits in exchanges as in CG and wave fronts as in LU have a cause" {
	mpicc -g -O1 -w -o exchanges "$ROOT/tests/apps/exchanges.c"
	for shape in "cg 100" "lu 10"; do
		for ranks in $(short_or_long 4 '4 16'); do
			rm -rf run
			lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $ranks ./exchanges $shape
			lp-merge run 2>/dev/null | lp-graph 2>/dev/null >t.graph
			explained 0.98 t.graph
		done
	done
}

@test "a wait during which its cause made 40 000 calls has it all as a cause" {
	awk 'BEGIN {
		print "trace ranks=2\n0 MPI_Init 0 +1000\n1 MPI_Init 0 +1000"
		for (i = 1; i <= 40000; i++) printf "0 MPI_Comm_rank %.0f +1000\n", i * 10000
		print "0 MPI_Send 500000000 +1000 comm=1 peer=1 tag=1 sent=8\n0 MPI_Finalize 600000000 +1000"
		print "1 MPI_Recv 2000 500002000 comm=1 peer=0 tag=1 received=8\n1 MPI_Finalize 600000000 +1000"
	}' | tests/pack | lp-graph 2>/dev/null >t.graph
	explained 0.9999 t.graph
}

@test "waits in LAMMPS and HPCC have a cause" {
	for program in lmp hpcc; do
		command -v $program || skip "$program is not installed"
	done
	sed 's/^run  .*/run 50/' "$ROOT/workflows/apps/in.melt" >in.melt
	sed 's/^1000  /200  /' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
	for program in "lmp -log none -in in.melt" hpcc; do
		rm -rf run
		lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 $program >/dev/null
		lp-merge run 2>/dev/null | lp-graph 2>/dev/null >t.graph
		explained 0.98 t.graph
	done
}

# Rank 1 waits at 100 for a message sent at 1000; one sent at 500 is received after it. Rank 0 computed
# 890 ns longer between the common begin and 1000.
@test "a wait keeps its data when it turns out to be in wrong order" {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 500 510 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 3000 3010
		1 MPI_Init 0 10
		1 MPI_Recv 100 1015 comm=1 peer=0 tag=0 received=8
		1 MPI_Recv 1020 1025 comm=1 peer=0 tag=1 received=8
		1 MPI_Finalize 3000 3010
	END
	[ "$(lp-imbalance -F json t.graph | jq -c '.wait_states[] | select(.wait_s + .direct_s + .indirect_s +
		.propagating_s > 0 or has("largest")) | [.name, .count, (.wait_s, .direct_s, .indirect_s, .largest.wait_s |
		. * 1e9 | round)]')" = '["messages_in_wrong_order_same_source",1,900,900,0,900]' ]
}

# wrong_order CALL [OPTION]: the state of rank 1's wait for a message sent at 1000, before it receives one sent at 500
wrong_order() {
	tests/pack <<-END | lp-graph 2>/dev/null | lp-imbalance -F json "${@:2}" |
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 500 510 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 3000 3010
		1 MPI_Init 0 10
		1 MPI_Irecv 50 60 comm=1 peer=${peer:-0} tag=${tag:-0} received=8 as=a
		1 $1 100 1015 comm=1 peer=0 tag=0 received=8 of=a
		1 MPI_Recv 1020 1025 comm=1 peer=0 tag=1 received=8
		1 MPI_Finalize 3000 3010
	END
		jq -r '.wait_states[] | select(.count > 0) | [.name, .largest.wait_s * 1e9 | tostring] | join(" ")'
}

@test "a message is in wrong order only if another receive could have completed first" {
	local call same='messages_in_wrong_order_same_source 900'
	for call in MPI_Waitall MPI_Waitany MPI_Waitsome; do
		[ "$(wrong_order $call)" = 'late_sender 900' ]
		[ "$(wrong_order $call --order scalasca)" = "$same" ]
	done
	[ "$(wrong_order MPI_Wait)" = "$same" ]
	[ "$(peer=-1 wrong_order MPI_Wait)" = "$same" ]
}

@test "a wildcard receive is not in wrong order" {
	tests/pack >t.graph <<-END
		graph ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 500 510 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 3000 3010
		1 MPI_Init 0 10
		1 MPI_Irecv 50 60 comm=1 peer=-1 tag=-1 received=8 as=a
		1 MPI_Wait 100 1015 comm=1 peer=0 tag=0 received=8 of=a
		1 MPI_Recv 1020 1025 comm=1 peer=0 tag=1 received=8
		1 MPI_Finalize 3000 3010
		message 0:2 1:2
		message 0:1 1:3
	END
	[ "$(lp-imbalance -F json t.graph | jq -c '.wait_states[] | select(.count > 0) | [.name, .count]')" = \
		'["late_sender",1]' ]
	[ "$(lp-imbalance -F json --order scalasca t.graph | jq -c '.wait_states[] | select(.count > 0) | .name')" = \
		'"messages_in_wrong_order_same_source"' ]
}

# late_first: a receive of rank 1 waits for the second of two sends; then the rows and edges of standard input
late_first() {
	{
		cat <<-END
			graph ranks=2
			0 MPI_Init 0 10
			0 MPI_Send 500 510 comm=1 peer=1 tag=1 sent=8
			0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
			0 MPI_Comm_rank 1016 1018
			1 MPI_Init 0 10
			1 MPI_Recv 100 1015 comm=1 peer=0 tag=0 received=8
		END
		cat
	} | tests/pack | lp-imbalance -F json | jq -c '.wait_states[] | select(.count > 0) | [.name, .count]'
}

# Both receives are settled before rank 0 does more, but the second one is left later than that, and so counted later.
@test "a wait for a late message is kept while a settled receive may show wrong order" {
	[ "$(late_first <<-END
		1 MPI_Recv 1020 1025 comm=1 peer=0 tag=1 received=8
		message 0:2 1:1
		message 0:1 1:2
		settled seq=4,3
		0 MPI_Finalize 3000 3010
		1 MPI_Finalize 3000 3010
	END
	)" = '["messages_in_wrong_order_same_source",1]' ]
}

# The second receive has its edge, but is not settled: the send before it is received later.
@test "a wait for a late message is kept while a receive behind an open row may show wrong order" {
	[ "$(late_first <<-END
		1 MPI_Send 1016 1017 comm=1 peer=0 tag=5 sent=8
		1 MPI_Recv 1020 1025 comm=1 peer=0 tag=1 received=8
		message 0:2 1:1
		message 0:1 1:3
		settled seq=4,2
		0 MPI_Recv 2000 2005 comm=1 peer=1 tag=5 received=8
		0 MPI_Finalize 3000 3010
		1 MPI_Finalize 3000 3010
		message 1:2 0:4
	END
	)" = '["messages_in_wrong_order_same_source",1]' ]
}

@test "results do not depend on when rows are settled" {
	for seed in 10 12 16 23 24; do
		random_run.py make $seed more 10 | lp-graph 2>/dev/null >t.graph
		settle.py 100000 <t.graph | lp-imbalance -F json >once
		for calls in 3 11; do settle.py $calls <t.graph | lp-imbalance -F json | cmp - once; done
	done
}

# The barrier is left at 1000 by one and at 1400 by the other, for which the first then waits.
@test "a collective's own duration is a delay for others, and its own cause" {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Barrier 900 1000 comm=1
		0 MPI_Recv 1100 1515 comm=1 peer=1 tag=0 received=8
		0 MPI_Finalize 3000 3010
		1 MPI_Init 0 10
		1 MPI_Barrier 900 1400 comm=1
		1 MPI_Send 1500 1505 comm=1 peer=0 tag=0 sent=8
		1 MPI_Finalize 3000 3010
	END
	[ "$(lp-imbalance -F json t.graph | jq -c '.causes | map(if . == 1 then 1 else . * 1e9 | round end)')" = \
		'[800,400,400,1]' ]
	[ "$(lp-imbalance -F json t.graph | jq -c '.delays[0] | [.rank, .kind, (.short_s * 1e9 | round)]')" = \
		'[1,"mpi",400]' ]
}

@test "every state of every rank agrees with the definitions, call by call" {
	cd "$BATS_FILE_TMPDIR"
	wait_states.py check heat.graph
	for seed in $(seq "$(short_or_long 8 30)"); do
		random_run.py make $seed | lp-graph 2>/dev/null >r$seed.graph
		random_run.py make $seed more | lp-graph 2>/dev/null >m$seed.graph
		random_run.py make $seed more 1 1000 | lp-graph 2>/dev/null >u$seed.graph
	done
	wait_states.py check r*.graph m*.graph u*.graph
}

@test "two halves of the run add up to the whole" {
	cd "$BATS_FILE_TMPDIR"
	for graph in heat random; do
		middle=$(lp-dump -k run $graph.graph | jq '(.run_ns / 2 | floor) / 1e9')
		lp-imbalance -F json $graph.graph >all
		lp-imbalance -F json --to "$middle" $graph.graph >first
		lp-imbalance -F json --from "$middle" $graph.graph >second
		jq -s -e '[.[] | [.wait_states[].ranks | map(. * 1e9 | round)]] | . as [$all, $first, $second] |
			[range($all | length) as $s | range($all[$s] | length) as $r |
			$all[$s][$r] == $first[$s][$r] + $second[$s][$r]] | all' all first second
		jq -s -e 'map(.sums.hold) | all' all first second
	done
}

@test "waits by rank, site, call, communicator and partner have the same sum" {
	cd "$BATS_FILE_TMPDIR"
	for by in rank site call communicator; do
		lp-imbalance -F json --by $by heat.graph | jq -e --arg by "by_$by" \
			'([.[$by][].wait_s] | add) as $a | ([.wait_states[].wait_s] | add) as $b | ($a - $b | fabs) < 1e-6'
		run -0 lp-imbalance --by $by heat.graph
		[ "${#lines[@]}" -le 40 ]
		lp-imbalance -F csv --by $by heat.graph | head -1 | grep -qx "$by,wait_state,wait_s"
	done
	lp-imbalance -F json --by partner heat.graph | jq -e '[.by_partner[].partner] | length > 0 and unique == sort and . - [0, 1, 2, 3] == []'
	lp-imbalance -F msgpack heat.graph >t.stream
	trace.py check t.stream
	lp-dump -k wait_state t.stream | jq -s -e 'length > 15 and (map(.wait_ns) | add) > 0'
}

@test "the overview fits a screen, and --all shows all" {
	cd "$BATS_FILE_TMPDIR"
	run -0 lp-imbalance heat.graph
	[ "${#lines[@]}" -le 45 ]
	[[ "$output" == *"adds up on every rank"* ]]
	[ "$(lp-imbalance --all heat.graph | wc -l)" -gt "${#lines[@]}" ]
}

@test "of a long chain of waits the overview shows six, and --all all" {
	awk 'BEGIN {
		print "trace ranks=13"
		for (r = 0; r < 13; r++) {
			print r, "MPI_Init 0 +1000"
			if (r > 0) print r, "MPI_Recv", 2000 + r, 1000000 + 1000 * r, "comm=1 peer=" r - 1 " tag=1 received=8"
			if (r < 12) print r, "MPI_Send", 1000000 + 1000 * r + 100, "+100 comm=1 peer=" r + 1 " tag=1 sent=8"
			print r, "MPI_Finalize 2000000 +1000"
		}
	}' | tests/pack | lp-graph 2>/dev/null >t.graph
	run -0 lp-imbalance t.graph
	[ "$(grep -c '^rank .* waited\|^  as rank .* waited' <<<"$output")" -eq 6 ]
	[ "$(tail -n 1 <<<"$output")" = '(6 more; --all shows them)' ]
	run -0 lp-imbalance --all t.graph
	[ "$(grep -A 12 -m 1 '^rank 12 waited' <<<"$output" | grep -c ' waited ')" -eq 12 ]
}

@test "an exceeded limit is reported, with exit status 1" {
	cd "$BATS_FILE_TMPDIR"
	run -1 --separate-stderr lp-imbalance --limit wait_s=0.000001 --limit imbalance=1e9 heat.graph
	[[ "$stderr" =~ ^lp-imbalance:\ wait_s\ is\ [0-9.e-]+,\ the\ limit\ is\ 1e-06$ ]]
	run -0 lp-imbalance --limit wait_s=1000 --limit late_sender_s=1000 heat.graph
	for bad in wait_s nothing=1 wait_s=x =1; do
		run -2 --separate-stderr lp-imbalance --limit $bad heat.graph
		[[ "$stderr" == "lp-imbalance: --limit"* ]]
	done
	run -2 --separate-stderr lp-imbalance --from 2 --to 1 heat.graph
}

# The path: rank 0 until 1000, rank 1 from 1015 to 1020, rank 2 from 1030 to 3000; 35 ns are
# transfers, the last to MPI_Finalize on rank 0. The ranks were busy for 3000, 2100 and 2090 ns, and in one code site all of it.
@test "critical imbalance and its impact are as computed by hand" {
	chain 2990
	lp-critpath t.graph >t.path
	[ "$(lp-imbalance -F json --path t.path t.graph | jq -c '.critical | [.length_s, .transfer_s,
		(.sites[] | .path_s, .mean_s, .critical_imbalance_s, .activity_impact_s, .imbalance_impact_s)] |
		map(. * 1e9 | round)')" = '[3010,35,2975,2397,578,7165,1760]' ]
}

@test "critical imbalance, ideal network and scaling are as expected" {
	cd "$BATS_FILE_TMPDIR"
	lp-critpath heat.graph >heat.path
	lp-imbalance -F json --path heat.path --ideal heat.graph heat.graph >t.json
	jq -e '(.critical.length_s - .program.run_time_s | fabs) < 1e-8 and
		([.critical.sites[].path_s] | add) + .critical.transfer_s - .critical.length_s < 1e-6 and
		.efficiency.transfer == 1 and
		(.efficiency.serialization - .efficiency.communication | fabs) < 1e-8 and
		(.efficiency.parallel - .efficiency.load_balance * .efficiency.communication | fabs) < 1e-8' t.json
	# Activities, imbalance and what no site explains are all of the processor time.
	jq -e '([.critical.sites[] | .activity_impact_s + .imbalance_impact_s] | add) <=
		4 * .critical.length_s + 1e-6' t.json
	run -2 --separate-stderr lp-imbalance --path heat.graph heat.graph
	[[ "$stderr" == "lp-imbalance: heat.graph: no critical path; lp-critpath writes one" ]]
	run -2 --separate-stderr lp-imbalance --path heat.path random.graph
	[[ "$stderr" == *"of another run than the graph" ]]
	lp-imbalance -F json heat.graph heat.graph | jq -e '.runs | length == 2 and .[1].speedup == 1'
	run -2 --separate-stderr lp-imbalance --by rank heat.graph heat.graph
}

# Rank 1 is made 500 ns late. From leaving MPI_Init at 600 and 650 the ranks go on to 2000 and 1800.
@test "lp-imbalance, lp-replay and lp-critpath leave out start, MPI_Init and MPI_Finalize alike" {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Init 0 600
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 2000 3000
		1 MPI_Init 500 650
		1 MPI_Recv 900 1015 comm=1 peer=0 tag=0 received=8
		1 MPI_Finalize 1800 3000
	END
	lp-imbalance -F json t.graph | jq -e '.efficiency | (.span_s * 1e9 | round) == 1400 and .whole == false and
		(.communication * 1400 | round) == 1390 and (.parallel * 2800 | round) == 1390 + 250 + 785'
	lp-imbalance --whole -F json t.graph | jq -e '.efficiency | (.span_s * 1e9 | round) == 3000 and .whole and
		(.parallel * 6000 | round) == 1390 + 500 + 250 + 785'
	for whole in "" --whole; do
		lp-replay $whole t.graph >t.ideal
		[ "$(lp-replay $whole -F table t.graph | awk '$1 == "POP" { print $4 }')" = \
			"$(lp-imbalance $whole -F json t.graph | jq -r '.efficiency.communication' | xargs printf %.6f)" ]
		[ "$(lp-replay $whole -F json t.graph | jq '.transfer_efficiency * 1e6 | round')" = \
			"$(lp-imbalance $whole -F json --ideal t.ideal t.graph | jq '.efficiency.transfer * 1e6 | round')" ]
		for report in "lp-replay -F table" lp-imbalance "lp-critpath -F text"; do
			$report $whole t.graph | grep -q "$([ "$whole" ] && echo 'of the whole run, start, MPI_Init and' ||
				echo 'from leaving MPI_Init to entering MPI_Finalize')"
		done
	done
	lp-critpath -F json t.graph | jq -e '.total | (.start_s * 1e9 | round) == 1600 and
		(.compute_s + .mpi_s + .transfer_s | . * 1e9 | round) == 1400'
	lp-critpath --whole -F json t.graph | jq -e '.total | (.start_s * 1e9 | round) == 500'
}

@test "runs with dead ranks and lost partners are still analysed" {
	mpicc -o death "$ROOT/tests/apps/death.c"
	run -137 lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./death kill
	rm run/rank.2
	lp-merge --partial run 2>/dev/null | lp-graph >t.graph 2>/dev/null
	lp-imbalance t.graph >t.table
	grep -q 'not judged: 0 sends, 0 receives and [1-9][0-9]* collectives without partners' t.table
	lp-imbalance -F json t.graph | jq -e '.sums.hold and .unmatched.collectives > 0'
}

@test "memory does not grow with the length of the run" {
	"$ROOT/build/bench/synthetic" -r 4 -c 200000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >short
	"$ROOT/build/bench/synthetic" -r 4 -c 2000000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >long
	limited 100000 lp-imbalance short >t.table
	limited 100000 lp-imbalance long >t.table
}

# Every location keeps what it did of late, its waits that may still change, and rows to come.
@test "4096 ranks take less than 36 KB each, including causes" {
	"$ROOT/build/bench/synthetic" -r 4096 -c 409600 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >many
	limited 145000 lp-imbalance many >t.table
	grep -q late_sender t.table
}

@test "16384 ranks take below 5 KB each and 16 MB for rows, including causes, to the same bytes" {
	"$ROOT/build/bench/synthetic" -r 16384 -c 819200 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >many
	limited 100000 lp-imbalance --memory 16 -F csv --by rank many >little
	lp-imbalance -F csv --by rank many | cmp - little
}

# Calls in order of time take a row of each location in turn, and no two of them lie together.
@test "66 000 ranks whose rows do not fit take below 4.7 KB each, to the same bytes as with all rows in memory" {
	[ -n "${LONG:-}" ] || skip "takes long: make test-long"
	"$ROOT/build/bench/synthetic" -r 66000 -c 2640000 -n 0 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >many
	limited 300000 lp-imbalance -F csv --by rank many >little
	lp-imbalance --memory 1000 -F csv --by rank many | cmp - little
}

@test "packed rows in a temporary file give the same waits, byte for byte" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		random_run.py make $seed more | lp-graph 2>/dev/null >t.graph
		lp-imbalance -F json t.graph >kept
		lp-imbalance -F json --memory 0 t.graph >packed
		cmp kept packed
	done
	# Runs with settled rows: a row stays in place while others are unpacked, though its chunk was unpacked long before.
	for seed in 3 18 39; do
		random_run.py make $seed more 10 | lp-graph 2>/dev/null | settle.py 4 >t.graph
		lp-imbalance -F json t.graph >kept
		lp-imbalance -F json --memory 0 t.graph >packed
		cmp kept packed
	done
	# More chunks than are unpacked at a time: what edges changed in them is packed anew.
	"$ROOT/build/bench/synthetic" -r 256 -c 40000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	lp-imbalance -F json t.graph >kept
	for memory in 0 1; do
		lp-imbalance -F json --memory $memory t.graph >packed
		cmp kept packed
	done
}

@test "a graph without a run message is refused before anything is printed" {
	printf 'graph\n' | tests/pack >t.graph
	for form in table json csv msgpack; do
		run -2 --separate-stderr lp-imbalance -F $form t.graph
		[ -z "$output" ]
		[ "$stderr" = "lp-imbalance: t.graph:0: no message of kind run" ]
	done
}

@test "any changed byte of a graph is refused, and no mutation crashes the analysis" {
	cd "$BATS_FILE_TMPDIR"
	fuzz -n 300 random.graph -- lp-imbalance
	fuzz -n 100 random.graph -- lp-imbalance -F json
}

# open_send PEER: in each step another rank is 5 us late at a collective, and four wait for it. PEER never receives a message.
open_send() {
	local made=$BATS_FILE_TMPDIR/open.$1
	if [ ! -e "$made" ]; then
		awk -v peer="$1" 'BEGIN {
			print "trace ranks=5\n0 MPI_Send 10 20 comm=1 peer=" peer " tag=7 sent=8"
			for (s = 1; s <= 300000; s++) for (r = 0; r < 5; r++)
				printf "%d MPI_Allreduce %.0f %.0f comm=1 sent=8 received=8\n", r, 10000 * s + (s % 5 == r ? 6000 : 1000), 10000 * s + 6100
		}' | pack >"$made.$$"
		mv "$made.$$" "$made"
	fi
	cat "$made"
}

@test "a message that nobody receives holds up no other call: in a long run, all waits keep their causes" {
	open_send 1 >t.trace
	lp-graph t.trace 2>/dev/null >t.graph
	lp-imbalance -F json t.graph >t.json 2>err
	jq -e '.causes.share > 0.9999 and ([.delays[] | select(.cost_s > 0.1) | [.rank, (.cost_s - 1.2 | fabs) < 0.001]] | sort) ==
		[range(5) | [., true]]' t.json
	refute grep . err
	[ "$(lp-dump -k overdue t.graph)" = '{"kind":"overdue","rank":0,"seq":0}' ]
	# Where a graph does not tell such rows, a line says what is missing.
	without.py overdue settled.early <t.graph >untold.graph
	lp-imbalance -F json untold.graph 2>err >untold.json
	[ "$(cat err)" = 'lp-imbalance: rank 0, row 0: its message or collective is open for so long that causes of later waits are incomplete' ]
	jq -e '.causes.share < 0.99' untold.json
}

# The message is awaited in the shard of its peer, which is rank 0's own or another one.
@test "a message that nobody receives holds up no other call in shards, for any number of processes" {
	for peer in 1 4; do
		rm -rf shards matched
		open_send $peer >t.trace
		lp-graph t.trace 2>/dev/null | lp-imbalance -F json >t.json
		cut_trace.py t.trace shards 2
		ranks 2 lp-graph -o matched shards 2>/dev/null
		lp-imbalance -F json matched >shards.json
		cmp t.json shards.json
		[ "$(lp-dump -k overdue matched)" = '{"kind":"overdue","rank":0,"seq":0}' ]
		mv matched together
		lp-graph -o matched shards 2>/dev/null
		diff -r matched together
		rm -r together
	done
}
