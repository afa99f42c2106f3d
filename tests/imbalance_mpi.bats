# SPDX-License-Identifier: BSD-3-Clause
# lp-imbalance by several processes: whatever their number, the bytes of one.
bats_require_minimum_version 1.5.0
load helpers

# same P ARGUMENT...: what P processes print is what one prints.
same() {
	local processes=$1
	shift
	ranks "$processes" lp-imbalance "$@" >many
	lp-imbalance "$@" | cmp - many
}

# windows: a trace of 3 ranks between 24 barriers that put, lock and fence; from the 5th to the 9th barrier rank 0
# has locked all, from the 12th to the 14th rank 2 has rank 1's window.
windows() {
	echo 'trace ranks=3'
	echo 'communicator comm=3 members=0,1,2 type=window'
	awk 'BEGIN {
		for (k = 0; k < 24; k++) {
			t = 1000 * k
			print 0, "MPI_Barrier", t + 10 + 7 * k, t + 200, "comm=1"
			print 1, "MPI_Barrier", t + 100 - k, t + 201 + k % 3, "comm=1"
			print 2, "MPI_Barrier", t + 50, t + 202, "comm=1"
			if (k == 5) print 0, "MPI_Win_lock_all", t + 203, t + 205, "comm=3"
			if (k == 9) print 0, "MPI_Win_unlock_all", t + 203, t + 230, "comm=3"
			if (k == 12) print 2, "MPI_Win_lock", t + 203, t + 205, "comm=3 peer=1 tag=1"
			if (k == 14) print 2, "MPI_Win_unlock", t + 500, t + 750, "comm=3 peer=1"
			if (k >= 5 && k < 9) print 0, "MPI_Put", t + 210, t + 300 + 12 * k, "comm=3 peer=1 sent=8"
			if (k == 14) {
				print 0, "MPI_Win_lock", t + 240, t + 800, "comm=3 peer=1 tag=1"
				print 0, "MPI_Win_unlock", t + 800, t + 805, "comm=3 peer=1"
			}
			print 1, "MPI_Iprobe", t + 330 + 5 * k, t + 340 + 5 * k, "comm=1 peer=0 tag=0"
			if (k % 4 == 3) print 1, "MPI_Put", t + 505, t + 530, "comm=3 peer=0 sent=8"
			if (k % 4 == 3)
				for (r = 0; r < 3; r++)
					print r, "MPI_Win_fence", t + 500 + 40 * r, t + 600 + r, "comm=3"
		}
	}' | awk '{ $3 *= 1000; $4 *= 1000 } 1'
}

@test "random runs give the bytes of one process with 2, 3, 4 and 7" {
	local run
	for run in '2 26' '3 17' '4 44' '7 33' '2 53' '7 64'; do
		set -- $run
		random_run.py make $2 $([ $(($2 % 2)) = 1 ] || echo more) | lp-graph 2>/dev/null >t.graph
		same $1 -F json t.graph
	done
}

@test "every form and view is the same with several processes, also for samples" {
	sampled_run.py make 7 5 30 9 | lp-graph 2>/dev/null >t.graph
	lp-critpath t.graph >t.path
	same 2 --all t.graph
	same 3 -F csv t.graph
	same 4 -F json --path t.path --ideal t.graph --whole t.graph
	same 3 --by function --memory 0 t.graph
	same 2 -F csv --by site --from 0.0002 --to 0.0009 t.graph
	ranks 3 lp-imbalance -F stream t.graph | lp-dump | tail -n +2 >many
	lp-imbalance -F stream t.graph | lp-dump | tail -n +2 | cmp - many
	run -1 ranks 2 lp-imbalance --limit wait_s=0 t.graph
}

@test "parts end where nothing is locked: windows locked across barriers count as with one" {
	windows | tests/pack >t.trace
	lp-graph t.trace 2>/dev/null >t.graph
	[ "$(lp-dump -k sync t.graph | wc -l)" -gt 15 ]
	lp-imbalance -F json t.graph >one.json
	jq -e '.sums.hold and ([.wait_states[] | select(.wait_s > 0) | .name] |
		contains(["early_fence", "wait_for_progress", "lock_contention", "wait_at_barrier"]))' one.json
	for processes in 2 3 7; do same $processes -F json t.graph; done
}

@test "shards are counted in parts like the one stream" {
	sampled_run.py make 4 6 40 5 >t.trace
	tests/cut_trace.py t.trace shards 3 2>/dev/null
	lp-graph -o graph shards 2>/dev/null
	lp-graph t.trace 2>/dev/null >t.graph
	same 3 -F json graph
	cmp <(lp-imbalance -F json t.graph) many
}

@test "streams without synchronisation points or index, and standard input, need one process" {
	random_run.py make 9 | lp-graph 2>/dev/null >t.graph
	lp-imbalance -F json t.graph >one.json
	ranks 3 lp-imbalance -F json <t.graph | cmp - one.json
	mkfifo pipe
	cat t.graph >pipe & written=$!
	ranks 2 lp-imbalance -F json pipe | cmp - one.json
	wait $written
	tests/pack >t.trace <<'END'
trace ranks=2
0 MPI_Send 10 20 comm=1 peer=1 tag=1 sent=8
1 MPI_Recv 5 30 comm=1 peer=0 tag=1 received=8
END
	lp-graph t.trace 2>/dev/null >t.graph
	same 3 -F json t.graph
}

@test "a failure in several processes is one line, from the earliest part" {
	sampled_run.py make 7 5 30 9 | lp-graph 2>/dev/null >t.graph
	size=$(stat -c %s t.graph)
	for at in $((size / 10)) $((size / 2)) $((size * 9 / 10)); do	# in what all read, in the middle, in the last part
		cp t.graph bad.graph
		printf '\x5a\xa5\x5a' | dd of=bad.graph bs=1 seek=$at conv=notrunc status=none
		run -2 --separate-stderr lp-imbalance bad.graph
		alone=$stderr
		run -2 --separate-stderr ranks 4 lp-imbalance bad.graph
		[ -z "$output" ]
		[ "$(grep -c '^lp-imbalance: ' <<<"$stderr")" -eq 1 ]
		grep -qxF "$alone" <<<"$stderr"
	done
	run -2 --separate-stderr ranks 3 lp-imbalance nowhere
	[ "$(grep -c '^lp-imbalance: ' <<<"$stderr")" -eq 1 ]
	run -2 --separate-stderr ranks 3 lp-imbalance --by nothing t.graph
	[ "$(grep -c '^lp-imbalance: ' <<<"$stderr")" -eq 1 ]
}
