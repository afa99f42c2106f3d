# SPDX-License-Identifier: BSD-3-Clause
# lp-record on several nodes: network namespaces of this machine with host names, addresses and clocks of their own.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -o stress "$ROOT/tests/apps/stress.c"
	mpicc -g -O1 -o kinds "$ROOT/tests/apps/kinds.c"
	# Ranks that are still there when a node dies.
	cat >dies.c <<-'END'
		#include <mpi.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			for (int i = 0; i < 10; i++)
				MPI_Barrier(MPI_COMM_WORLD);
			sleep(600);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o dies dies.c
	export NODES=$ROOT/tests/nodes
}

# nodes N: that many of them, for one test at a time
nodes() {
	[ "$(id -u)" = 0 ] || skip "making nodes needs root"
	! command -v prterun >/dev/null || skip "tests/nodes starts Open MPI 4"
	ip netns list >/dev/null 2>&1 || skip "no network namespaces here"
	exec 8>/tmp/longpole.nodes.lock || skip "no lock can be had"
	flock -w 400 8 || skip "others use the nodes"
	timeout 300 "$NODES" up "$1" 2>err || skip "no nodes here: $(tail -1 err)"
	unset OMPI_MCA_btl_tcp_if_include	# they talk by interfaces of their own
	up=1
}

teardown() {
	[ -z "${up:-}" ] || "$NODES" down
}

# barriers_done PATTERN: in the traces of this name all ranks have their ten barriers behind them
barriers_done() {
	# shellcheck disable=SC2086
	[ "$(lp-merge --partial $1 2>/dev/null | lp-dump -k call 2>/dev/null | grep -c '"MPI_Barrier"')" = 60 ]
}

# kill_node2 PATTERN: when they have
kill_node2() {
	! await barriers_done "$1" || touch all_there
	# shellcheck disable=SC2046
	kill -9 $(ip netns pids node2)
}

# on_nodes RANKS COMMAND...: one after the other on the nodes in turn
on_nodes() {
	timeout -k 1 400 "$NODES" mpirun -n "$@"
}

# right OFFSET TRACE: rank r is on node 1 + r mod 3, whose clock is OFFSET seconds ahead for each; so much was taken off. The
# error is far below an offset, and there is no more drift than it allows.
right() {
	lp-dump -k rank "$2" | jq -s -e --argjson ahead "$1" --argjson run_s "$(lp-dump -k run "$2" | jq '.run_ns / 1e9')" '
		sort_by(.rank) | . as $r | all(.host == "node\(1 + .rank % 3)" and .error_ns < 5e8 and
		(.drift_ppb | fabs) * $run_s <= 2 * .error_ns + 1e5 and
		(.offset_ns - $r[0].offset_ns + 1e9 * $ahead * (.rank % 3) | fabs) <= .error_ns)'
}

# in_order ERROR_NS TRACE: no message and no member of a barrier is earlier than the clocks' error allows
in_order() {
	lp-graph "$2" 2>graph.err >t.graph
	grep -q ', 0 sends, 0 receives and 0 collectives not' graph.err
	lp-dump -k call "$2" | jq -s -e --argjson error "$1" '
		[.[] | select(.call == "MPI_Barrier" and .comm == 1)] | group_by(.rank) | transpose |
		map((map(.enter_ns) | max) - (map(.leave_ns) | min)) | max <= 2 * $error'
}

@test "clocks that are seconds apart are aligned within the stated bound" {
	nodes 3
	for sync in pingpong allreduce; do
		SECONDS=0
		SKEW=3 on_nodes 6 lp-record --sync $sync -o "$PWD/run" "$BATS_FILE_TMPDIR/stress" 1 100
		local elapsed_s=$((SECONDS + 1))
		lp-merge run >t.trace
		trace.py check t.trace
		right 3 t.trace
		lp-dump -k run t.trace | jq -e ".run_ns < ${elapsed_s}e9"
		in_order "$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')" t.trace
		# As they were, they are seconds apart.
		lp-merge -s none run | lp-dump -k run | jq -e '.run_ns > 6e9'
	done
}

@test "the drift between nodes follows from measurements at both ends, within its bound" {
	nodes 2
	# The clocks are one, but for the skew; so it is none, and the offset at the end is that of the beginning.
	cat >waits.c <<-'END'
		#include <mpi.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			sleep(2);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o waits waits.c
	SKEW=5 on_nodes 4 lp-record -o "$PWD/run" ./waits
	lp-merge run >t.trace
	# The offset changes by no more than both measurements may be wrong.
	lp-dump -k rank t.trace | jq -s -e 'all(.[]; (.drift_ppb | fabs) * 2e-9 * 1e9 <= 2 * .error_ns + 1000)'
	in_order "$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')" t.trace
}

@test "folders local to nodes are gathered afterwards" {
	nodes 3
	on_nodes 6 lp-record -o "$PWD/run" "$BATS_FILE_TMPDIR/stress" 2 60
	SKEW=2 on_nodes 6 sh -c 'exec lp-record -o "$0/local.$(hostname)" "$@"' "$PWD" "$BATS_FILE_TMPDIR/stress" 2 60
	for node in 1 2 3; do
		[ "$(ls local.node$node | sort | paste -sd' ')" = "rank.$((node - 1)) rank.$((node + 2))" ]
	done
	run -2 --separate-stderr lp-merge local.node1
	[[ "$stderr" == *"missing"* ]]
	lp-merge local.node*/rank.* >t.trace
	cat local.node3/* local.node1/* local.node2/* | lp-merge >piped.trace
	cmp <(lp-dump -k call t.trace) <(lp-dump -k call piped.trace)
	mkdir gathered
	mv local.node*/rank.* gathered
	lp-merge gathered | lp-dump -k call | cmp - <(lp-dump -k call t.trace)
	right 2 t.trace
	# The same calls as in a folder that all see, but for those of which there are as many as it takes.
	lp-merge run >shared.trace
	for trace in t shared; do
		lp-dump -k call $trace.trace | jq -r '[.rank, .call] | @tsv' | grep -v -e Test -e probe -e Wait | sort | uniq -c >$trace.calls
	done
	cmp t.calls shared.calls
	in_order "$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')" t.trace
}

@test "in front of mpirun the recorder reaches all nodes with the same folder and environment" {
	nodes 2
	timeout -k 1 400 lp-record -o run -- "$NODES" mpirun -n 4 "$BATS_FILE_TMPDIR/stress" 3 60
	lp-merge run >t.trace
	[ "$(lp-dump -k rank t.trace | jq -r '"\(.rank) \(.host)"' | paste -sd' ')" = "0 node1 1 node2 2 node1 3 node2" ]
	in_order "$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')" t.trace
}

@test "a dead node leaves all calls that had returned, and its ranks are named" {
	nodes 3
	status=0
	kill_node2 run &
	killer=$!
	SKEW=3 on_nodes 6 lp-record -o "$PWD/run" "$BATS_FILE_TMPDIR/dies" >out 2>err || status=$?
	wait $killer	# and not for what bats keeps in the background for its time limit
	[ -e all_there ]
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	lp-merge run >t.trace 2>merge.err
	[ "$(grep -c 'ended early, after 11 rows' merge.err)" -eq 6 ]
	lp-dump -k rank t.trace | jq -s -e 'length == 6 and all(.[]; .ended == false)'
	lp-graph t.trace 2>/dev/null | lp-dump -k collective | jq -s -e '[.[] | select(.members | length == 6)] | length >= 10'
	# No clock was measured a second time; offsets are those of MPI_Init.
	right 3 t.trace
}

@test "ranks that start at different times have their own beginnings, on one clock" {
	nodes 2
	# The nodes have one time of day: only their monotonic clocks differ.
	SKEW=4 on_nodes 4 sh -c '[ "$(hostname)" = node1 ] || sleep 1.5; date +%s%N >"begun.$OMPI_COMM_WORLD_RANK"; exec "$@"' sh \
		lp-record -o "$PWD/run" "$BATS_FILE_TMPDIR/stress" 4 40
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s -e --slurpfile begun <(cat begun.[0-3]) 'map(select(.call == "MPI_Init")) | sort_by(.rank) |
		[range(4) as $r | .[$r].enter_ns - ($begun[$r] - $begun[0])] | length == 4 and max - min < 2e9'
	in_order "$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')" t.trace
	lp-critpath -F json t.graph | jq -e '.run_time_s == .path_length_s'
	lp-imbalance -F json t.graph | jq -e .sums.hold
}

# with_disks COMMAND...: the folder local is another one on each node
with_disks() {
	mkdir -p local disk.node1 disk.node2 disk.node3
	on_nodes 6 unshare -m sh -c 'mount --bind "$0/disk.$(hostname)" "$0/local" && exec "$@"' "$PWD" "$@"
}

# merge_disks RANKS: with a process a node, which reads that node's disk
merge_disks() {
	"$NODES" mpirun -n "$1" --map-by node unshare -m sh -c 'mount --bind "$0/disk.$(hostname)" "$0/local" && exec "$@"' \
		"$PWD" lp-merge -o shards "${@:2}" local
}

# as_gathered: the shards are those of all traces in one folder, but for what calls that did not return waited for, which a
# process that sees one node's disk does not know, and the number of the run that is made of all bytes
as_gathered() {
	local shard differs='/"kind":"unended"/s/,"verdict":.*/}/; s/"run":[0-9]*//'
	mkdir -p again/local
	cp disk.node*/rank.* again/local
	(cd again && lp-merge "$@" -o shards --shards node local 2>/dev/null)
	[ "$(ls again/shards)" = "$(ls shards)" ]
	for shard in again/shards/*; do
		cmp <(lp-dump -F json "$shard" | tail -n +2 | sed "$differs") \
			<(lp-dump -F json "shards/${shard##*/}" | tail -n +2 | sed "$differs")
	done
}

@test "traces on nodes' own disks become shards by one process per node, like gathered ones" {
	nodes 3
	SKEW=3 with_disks lp-record -o local "$BATS_FILE_TMPDIR/stress" 5 40
	[ "$(ls -A local disk.node1 | paste -sd' ')" = "disk.node1: rank.0 rank.3  local:" ]
	merge_disks 3
	as_gathered
	[ "$(ls shards | wc -l)" -eq 3 ]
	right 3 shards
}

@test "after a node died, the others' traces are merged, and its ranks are missing" {
	nodes 3
	kill_node2 'disk.*/rank.*' &
	killer=$!
	SKEW=3 run ! with_disks lp-record -o local "$BATS_FILE_TMPDIR/dies"
	wait $killer
	[ -e all_there ]
	rm disk.node2/rank.*
	merge_disks 3 2>err
	[ "$(grep -c 'is missing' err)" -eq 2 ]
	# MPI_Init, ten barriers, and where it was killed.
	lp-dump -k rank shards | jq -s -e 'map([.rank, .host, .rows]) | sort == [[0, "node1", 12], [2, "node3", 12], [3, "node1", 12], [5, "node3", 12]]'
	as_gathered
}

@test "a run on nodes whose clocks differ is followed: windows are within 1 % of the whole trace, and a line gives the clocks' error" {
	nodes 3
	cd "$BATS_TEST_TMPDIR"
	mpicc -O1 -o paced "$ROOT/tests/apps/paced.c"
	SKEW=1000 "$NODES" mpirun -n 6 lp-record -o run -- ./paced 4 400 >out 2>&1 8>&- 3>&- &
	local pid=$!
	await [ -e run/rank.5 ]
	lp-merge --follow run 2>err | lp-graph 2>/dev/null | lp-imbalance -F json --every 1 >live
	wait $pid
	grep -qE '^lp-merge: the clocks of the nodes are known to [0-9.]+ us at the beginning of the run$' err
	grep -qE '^lp-merge: since then they have drifted apart by up to [0-9.]+ us$' err
	lp-merge run | lp-graph 2>/dev/null | lp-imbalance -F json --every 1 >whole
	[ "$(wc -l <live)" -ge 4 ]
	# Calls that last for long have lines in between, and the windows may not know their waits. Each of six ranks may be off by
	# the error that was told.
	jq -se --slurpfile whole whole --argjson off_us "$(sed -nE 's/.* (to|by up to) ([0-9.]+) us.*/\2/p' err | jq -s add)" '
		(0.06 + 12 * $off_us / 1e6) as $little |
		[[map(select(has("from_s"))), $whole] | transpose[] | [.[] | {compute_s, mpi_s, wait_s, open_s}]] |
		length > 0 and all(.[]; . as [$live, $right] | all("compute_s", "mpi_s"; ($live[.] - $right[.] | fabs) < $little) and
			$live.wait_s < $right.wait_s + $little and $right.wait_s < $live.wait_s + $live.open_s + $little)' live
}

@test "a network that breaks in MPI_Init, or while all are in a collective, is a hang that --stuck-kill ends" {
	nodes 2
	cat >late.c <<-'END'
		#include <fcntl.h>
		#include <mpi.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int in = 1, out;
			while (argc > 1 && access("broken", F_OK) != 0)
				usleep(10000);
			MPI_Init(&argc, &argv);
			for (int i = 0; ; i++) {
				MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
				if (i == 100)
					close(creat("meeting", 0644));
			}
		}
	END
	mpicc -g -o late late.c
	# breaks READY [ARGUMENT]: when READY holds
	breaks() {
		lp-record --stuck-after 3 --stuck-kill -o run -- "$NODES" mpirun -n 4 ./late "${@:2}" >out 2>&1 8>&- &
		local pid=$! status=0
		await eval "$1"
		ip netns exec node2 ip link set eth0 down
		touch broken
		wait $pid || status=$?
		[ "$status" -eq 1 ]
	}
	breaks '[ -e meeting ]'
	cat out
	grep -qE '^([2-4] ranks, first [0-3], are|rank [0-3] is) in MPI_Allreduce #[0-9]+ of communicator 1 \(main late.c:[0-9]+\) since [3-9].* s\b' out
	"$NODES" down
	"$NODES" up 2
	rm broken
	breaks '[ "$(pgrep -cx late)" -eq 4 ]' early
	grep -q '^4 ranks, first 0, are in MPI_Init since [3-9].* s and do not leave it$' out
}
