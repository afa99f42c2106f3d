# SPDX-License-Identifier: BSD-3-Clause
# A killed run in all stages: calls that did not return are rows up to its end, and reports begin with that.
bats_require_minimum_version 1.5.0
load helpers
MORE=stalls
load hangs

# first FILE: the first line of a report, without functions, which lp-stuck does not name where they are inlined
first() {
	head -n 1 "$1" | sed -E 's/\([a-z]+ ([a-z]+\.c:)/(\1/g'
}

# waits_for REGEX: what the open calls of the run wait for, by rank; all reports begin as lp-stuck does, and all sums hold
waits_for() {
	lp-stuck run >said || [ $? -eq 1 ]
	sed -i -E '1s/^the run did not end: (it was killed )?//' said
	lp-merge run >t.trace 2>err
	trace.py check t.trace
	trace.py text t.trace | sed -n 's/^unended .* waits_for=//p' >of
	cat of
	grep -qE "^($1)$" of
	lp-graph <t.trace >t.graph 2>err
	trace.py check t.graph
	lp-critpath -F text --all t.graph >path
	grep -qF " s: $(first said)" <(first path)
	[ "$(sed -n '/^run time/s/^run time \(.*\) s; critical path \(.*\) s in .*/\1/p' path)" = "$(sed -n '/^run time/s/^run time \(.*\) s; critical path \(.*\) s in .*/\2/p' path)" ]
	lp-imbalance -F json t.graph >waits.json
	lp-imbalance --all t.graph >waits
	grep -qF " s: $(first said)" <(first waits)
	grep -q '; adds up on every rank$' waits
}

# is_stuck_in FUNCTION: on a busy machine MPI_Init alone may take longer
is_stuck_in() {
	run lp-stuck --after 2 run
	[ "$status" -eq 1 ] && [[ "$output" == *"($1 "* ]]
}

# killed CASE RANKS SIGNAL [PROGRAM]
killed() {
	begin "$1" "$2" "" "${4:-hangs}"
	await is_stuck_in "$1"
	end "$3"
}

@test "open calls last until the recorder ended the run, and wait for the rank that computes" {
	WAIT=2 begin spin
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -ne 0 ]
	waits_for '1,-1,1,1'
	lp-dump -k call t.trace | jq -s -e 'map(select(.call == "MPI_Barrier(open)")) | (map(.rank) | sort) == [0,2,3] and (map(.leave_ns) | unique | length) == 1 and
		(map(.leave_ns - .enter_ns > 300000000 and .comm == 1 and .site > 0) | all)' >/dev/null
	lp-dump -k call t.trace | jq -s -e 'map(select(.call == "(killed)")) | map(.rank) == [1]' >/dev/null
	[ "$(lp-dump -k call t.trace | jq -s 'map(.leave_ns) | max')" = "$(lp-dump -k run t.trace | jq .run_ns)" ]
	[[ "$(head -n 1 path)" == *", killed at "*" s after its last call; rank 1 computes after its call (barrier hangs.c:"*"; 3 ranks wait, rank 0 in MPI_Barrier #1 "*": rank 1's computation is "* ]]
	grep -q '^[0-9.]*	[0-9.]*	6	[0-9.]*	.	1	wait_at_barrier: MPI_Barrier at barrier' waits
	run ! grep -q 'may have waited' waits
	lp-report t.graph >page
	grep -q ', killed at .*; 3 ranks wait' page
	grep -q 'MPI_Barrier(open)' page
	lp-export -f otf2 -o otf2 t.graph
	otf2-print otf2/traces.otf2 >events
	[ "$(grep -c 'ENTER .*MPI_Barrier(open)' events)" -eq 3 ]
	[ "$(grep -c 'LEAVE .*MPI_Barrier(open)' events)" -eq 3 ]
	lp-export -f prv -o prv t.graph
	lp-export -f perfetto t.graph >perfetto
	lp-replay t.graph >replayed 2>err
	trace.py check replayed
	lp-imbalance replayed | grep -q '; adds up on every rank$'
}

@test "in a deadlock all wait but the last one to enter, whose call is the cause" {
	killed ssend 2 TERM
	waits_for '1,-1|-1,0'
	last=$(($(sed 's/,.*//' of) == 1))
	[[ "$(head -n 1 path)" == *": deadlock: 0 waits in MPI_Ssend to 1 tag 7 ("* ]]
	grep -q "	$last	MPI_Ssend(open)	MPI_Ssend at ssend " path
	grep -q "late_receiver: MPI_Ssend at ssend" waits
	grep -q '^and [1-9][0-9.]* % in calls that did not return, and may have waited$' waits
	killed waitall 4 KILL
	waits_for '(1,-1|-1,0),1,1'
	killed scan 4 TERM stalls
	waits_for '3,0,0,-1|-1,0,0,0'
}

@test "in a mismatch the others wait for the few" {
	killed bcast 4 KILL
	waits_for '2,2,-1,2'
	[[ "$(head -n 1 path)" == *"rank 2 is in MPI_Bcast #1 "* ]]
}

@test "a wait for any ends at the rank that computes, and one for a lock at its holder" {
	killed waitany 4 KILL
	waits_for '1,-1,1,1'
	trace.py text t.trace | grep -q ' operation=MPI_Irecv,-,MPI_Barrier,MPI_Barrier '
	for who in KILL LAUNCHER; do
		killed locked 4 $who stalls
		waits_for '1,-1,1,1'
	done
}

@test "several processes and shards make the same rows and waits of a killed run" {
	killed cycle 3 KILL
	lp-merge run 2>err | lp-dump | grep -v '"longpole"' >one
	grep -q '"unended"' one
	cat run/rank.* | lp-merge 2>err | lp-dump | grep -v '"longpole"' | cmp - one
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 lp-merge -o shards --shards 2 run 2>err
	lp-dump shards | grep -v '"longpole"' | cmp - one
	lp-merge run 2>err | lp-graph 2>err >t.graph
	lp-critpath -F json t.graph >one
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 lp-critpath -a delta --splits par-par -F json t.graph | cmp - one
	for how in kahn dijkstra delta; do
		lp-critpath -a $how -F json t.graph | cmp - one
	done
	lp-imbalance -F json t.graph >one
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 lp-imbalance -F json t.graph | cmp - one
}

@test "if the recorder was killed, open calls last until the last event, in every form of trace" {
	begin cycle 2
	hung
	end KILL
	lp-merge run >t.trace 2>err
	trace.py check t.trace
	lp-graph <t.trace 2>err | lp-critpath -F text >path
	[[ "$(head -n 1 path)" == *", did not end, last seen at "*" s: deadlock: 0 waits in MPI_Recv from 1 tag 9 (cycle hangs.c:"* ]]
	[ "$(lp-dump -k call t.trace | jq -s 'map(select(.call == "MPI_Recv(open)") | [.rank, .peer, .tag]) | sort' -c)" = '[[0,1,9],[1,0,9]]' ]
	lp-merge -o shards --shards 2 run 2>err
	lp-dump -k call t.trace >one
	lp-dump -k call shards | cmp - one
	lp-merge -s clc run 2>err | lp-dump -k call | grep -c 'MPI_Recv(open)' >count
	[ "$(cat count)" -eq 2 ]
	OPTIONS='-z min' begin cycle 2
	hung
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -ne 0 ]
	lp-merge run 2>err | lp-dump -k call | grep -c 'MPI_Recv(open)' >count
	[ "$(cat count)" -eq 2 ]
}

@test "a run that ended has no rows of open calls" {
	begin none 2
	wait "$(cat pid)"
	rm pid
	lp-merge run | lp-dump >all
	run ! grep -qE 'unended|\(open\)|\(killed\)' all
}

@test "the path ends on the rank that others wait for, and not on one that computed alone" {
	sed 's/waits_for=1,-1,3,1,-1/waits_for=4,-1,3,4,-1/' "$ROOT/tests/fixtures/good-unended.txt" | pack >t.trace
	trace.py check t.trace
	lp-graph <t.trace 2>err >t.graph
	lp-critpath -F json t.graph >one
	jq -e '.segments | map(.rank) | unique == [4]' one
	for n in 2 3; do
		mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$n" lp-critpath -a delta --splits par-par -F json t.graph | cmp - one
	done
}
