# SPDX-License-Identifier: BSD-3-Clause
# Locks of MPI windows: who waited for whose unlock, and the path through it.
bats_require_minimum_version 1.5.0
load helpers

# Rank 1 waits for the lock that rank 0 has from 30 until it enters its unlock at 500.
held() {
	tests/pack <<-END
		trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		2 MPI_Init 0 10
		0 MPI_Win_lock 20 30 comm=3 peer=2 tag=${1:-1}
		0 MPI_Win_unlock 500 520 comm=3 peer=2
		1 MPI_Win_lock 100 515 comm=3 peer=2 tag=${2:-1}
		1 MPI_Win_unlock 600 610 comm=3 peer=2
		0 MPI_Finalize 700 1000
		1 MPI_Finalize 900 1000
		2 MPI_Finalize 700 1000
	END
}

@test "whose unlock a call waited for is found as in 20 simulated runs, in one stream and in shards" {
	run -0 tests/locks_check.py 1 20
	[[ "$output" =~ ^[0-9]{3,}' waits for a lock'$ ]]
}

@test "the path leads from who waits for a lock to the unlock of who had it, by one process and by several" {
	held | lp-graph 2>/dev/null >t.graph
	[ "$(lp-critpath t.graph | lp-dump -k segment | jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment)"' | sed -n 4,6p)" = '0 30 500 compute
1 500 515 transfer
1 515 600 compute' ]
	lp-critpath t.graph | lp-dump -k segment >one
	mpirun --oversubscribe -n 2 lp-critpath t.graph | lp-dump -k segment | cmp - one
	lp-imbalance -F json t.graph | jq -e '.wait_states[] | select(.name == "lock_contention") |
		.ranks == [0,4e-07,0] and .partners == [4e-07,0,0]'
}

@test "a lock of all waits for the last who has a target's, and an exclusive lock for who has locked all" {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		2 MPI_Init 0 10
		0 MPI_Win_lock 20 30 comm=3 peer=2 tag=1
		0 MPI_Win_unlock 300 310 comm=3 peer=2
		0 MPI_Win_lock 610 920 comm=3 peer=2 tag=1
		0 MPI_Win_unlock 940 945 comm=3 peer=2
		1 MPI_Win_lock_all 100 515 comm=3
		1 MPI_Win_unlock_all 900 910 comm=3
		2 MPI_Win_lock 20 30 comm=3 peer=0 tag=1
		2 MPI_Win_unlock 500 510 comm=3 peer=0
		0 MPI_Finalize 990 1000
		1 MPI_Finalize 990 1000
		2 MPI_Finalize 990 1000
	END
	[ "$(lp-dump -k lock t.graph | jq -c '[.source, .send, .target, .receive]' | sort)" = '[0,2,1,1]
[1,2,0,3]
[2,2,1,1]' ]
	lp-imbalance -F json t.graph | jq -e '.wait_states[] | select(.name == "lock_contention") |
		.ranks == [2.9e-07,4e-07,0] and .partners == [0,2.9e-07,4e-07]'
	[ "$(lp-critpath t.graph | lp-dump -k segment | jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment)"' | sed -n 4,8p)" = '2 30 500 compute
1 500 515 transfer
1 515 900 compute
0 900 920 transfer
0 920 940 compute' ]
}

@test "a flush of all waits for a lock that MPI had put off" {
	tests/pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		communicator comm=3 members=0,1 type=window
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		0 MPI_Win_lock 20 30 comm=3 peer=1 tag=1
		0 MPI_Put 35 40 comm=3 peer=1 sent=8
		0 MPI_Win_unlock 500 505 comm=3 peer=1
		1 MPI_Win_lock 20 25 comm=3 peer=1 tag=1
		1 MPI_Put 35 40 comm=3 peer=1 sent=8
		1 MPI_Win_flush_all 100 510 comm=3
		1 MPI_Win_unlock 600 610 comm=3 peer=1
		0 MPI_Finalize 700 1000
		1 MPI_Finalize 900 1000
	END
	[ "$(lp-dump -k lock t.graph | jq -c '[.source, .send, .target, .receive]')" = '[0,3,1,3]' ]
}

@test "who shares a lock waits for nobody" {
	held 2 2 | lp-graph 2>/dev/null | lp-dump >shared
	refute grep -q '"kind":"lock"' shared
	for types in '1 2' '2 1'; do held $types | lp-graph 2>/dev/null | lp-dump | grep -c '"kind":"lock"'; done
}

@test "a graph of locks in shards is the same by one process and by two" {
	held >t.trace
	cut_trace.py t.trace shards 2
	mkdir one two
	(cd one && lp-graph --round 3 -o graph ../shards 2>/dev/null)
	(cd two && mpirun --oversubscribe -n 2 lp-graph --round 3 -o graph ../shards 2>/dev/null)
	for shard in one/graph/*; do cmp "$shard" "two/graph/${shard##*/}"; done
	lp-dump -k lock one/graph | jq -e '[.source, .send, .target, .receive] == [0,2,1,1]'
}

@test "a replay says how many waits for locks it leaves out" {
	run -0 --separate-stderr lp-replay -F json <(held | lp-graph 2>/dev/null)
	[ "$stderr" = 'lp-replay: 1 calls waited for the lock of an MPI window: replayed, they take no time' ]
	lp-replay <(held | lp-graph 2>/dev/null) 2>/dev/null | lp-imbalance -F json | jq -e \
		'.wait_states[] | select(.name == "lock_contention") | .wait_s == 0'
}
