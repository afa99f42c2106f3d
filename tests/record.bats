# SPDX-License-Identifier: BSD-3-Clause
# lp-record on real programs under Open MPI.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	for p in stress kinds death more worlds; do
		mpicc -g -O1 -o $p "$ROOT/tests/apps/$p.c"
	done
	mpicc -g -O1 -o threads "$ROOT/tests/apps/threads.c" -lpthread
	for p in {,calls_}{mpif,use_mpi,use_mpi_f08}; do
		mpifort -g -I"$ROOT/tests/apps" -o $p "$ROOT/tests/apps/$p.f90"
	done
}

# launch COMMAND...: on four ranks, also where there are fewer cores
launch() {
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$@"
}

# recorded PROGRAM [ARGUMENT...]: records a program of this file's folder and merges it
recorded() {
	local program=$BATS_FILE_TMPDIR/$1
	shift
	status=0
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$program" "$@" \
		>out 2>err || status=$?
	for rank in 0 1 2 3; do
		trace.py check run/rank.$rank
	done
	lp-merge run >t.trace 2>merge.err
	lp-graph t.trace >t.graph 2>graph.err
	trace.py check t.graph
}

# calls NAME: how often each rank made the call
calls() {
	lp-dump -k call t.trace | jq -s -c --arg call "$1" \
		'[range(4) as $rank | map(select(.rank == $rank and .call == $call)) | length]'
}

# Where this test alone puts temporary files, to see what is left of them.
own_scratch() {
	mkdir scratch
	export TMPDIR=$PWD/scratch
}

@test "all forms of use give the same calls" {
	own_scratch
	lp-record -o first -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/use_mpi" >first.out
	launch lp-record -o second "$BATS_FILE_TMPDIR/use_mpi" >second.out
	lp-record -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$BATS_FILE_TMPDIR/use_mpi" \
		2>third.out | lp-merge >third.trace
	lp-merge first >first.trace
	lp-merge second >second.trace
	for form in first second third; do
		grep -q 'sum and maximum:    10     3' $form.out
		lp-dump -k call $form.trace | jq -r '[.rank, .call, .peer] | @tsv' | sort >$form.calls
		[ -s $form.calls ]
		cmp first.calls $form.calls
	done
	[ -z "$(ls scratch | grep lp-record)" ]
}

@test "C: each kind of call is recorded once and has its partners" {
	recorded kinds
	[ "$status" -eq 0 ]
	[ "$(cat out)" = "kinds: 4 3" ]
	grep -q '21 messages and 40 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	round_trip t.trace
	for call in Sendrecv Sendrecv_replace Iprobe Test Bcast Reduce Allgatherv Alltoallw Reduce_scatter \
		Reduce_scatter_block Scan Exscan Ibarrier Iallreduce Comm_dup Comm_split Comm_create \
		Intercomm_create Intercomm_merge Comm_idup Cart_create Cart_sub Neighbor_allgather; do
		[ "$(calls MPI_$call)" = '[1,1,1,1]' ]
	done
	[ "$(calls MPI_Isend)" = '[5,5,5,5]' ]
	[ "$(calls MPI_Comm_create_group)" = '[1,1,0,0]' ]
	[ "$(calls MPI_Allreduce)" = '[2,2,2,2]' ]
}

@test "C: peers, tags and sizes are those of the calls" {
	recorded kinds
	lp-dump -k call -r 1 t.trace >calls
	jq -s -e 'map(select(.call == "MPI_Sendrecv"))[0] | .peer == 2 and .tag == 7 and .bytes_sent == 4 and
		.source == 0 and .receive_tag == 7 and .bytes_received == 4' calls
	jq -s -e 'map(select(.call == "MPI_Alltoallv"))[0] | .bytes_sent == 16 and .bytes_received == 16' calls
	jq -s -e 'map(select(.call == "MPI_Bcast"))[0] | .peer == 1 and .bytes_sent == 8 and .bytes_received == 0' calls
	jq -s -e 'map(select(.call == "MPI_Waitall"))[0].completed | length == 8' calls
	jq -s -e 'map(select(.call == "MPI_Gather"))[0] | .peer == 0 and .bytes_sent == 4 and .bytes_received == 0' calls
	lp-dump -k call -r 0 t.trace |
		jq -s -e 'map(select(.call == "MPI_Gather"))[0] | .bytes_received == 16'
}

@test "Fortran: mpif.h, use mpi and use mpi_f08 record the same, and results are unchanged" {
	for p in mpif use_mpi use_mpi_f08; do
		launch "$BATS_FILE_TMPDIR/$p" >bare
		recorded $p
		[ "$status" -eq 0 ]
		cmp bare out		# a sum with MPI_IN_PLACE, an ignored status, a flag
		grep -q '21 messages and 8 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
		[ "$(calls MPI_Waitany)$(calls MPI_Waitsome)$(calls MPI_Test)" = '[1,1,1,1][1,1,1,1][1,1,1,1]' ]
		lp-dump -k call t.trace | jq -r 'del(.enter_ns, .leave_ns, .site, .seq, .completed) |
			select(.call | test("Wait") | not) | tojson' | sort >$p.calls
		cmp mpif.calls $p.calls
		rm -r run
	done
}

@test "every message of a random program is matched with the one that was received" {
	for seed in $(short_or_long 1 '1 2 3'); do
		recorded stress $seed 150
		[ "$status" -eq 0 ]
		grep -q ', 0 sends, 0 receives and 0 collectives not' graph.err
		[ "$(same_sizes t.graph)" -gt 1500 ]
		rm -r run
	done
}

@test "the calls of every thread are recorded, each on a location of its own" {
	recorded threads
	[ "$status" -eq 0 ]
	grep -q '1840 messages and 24 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	round_trip t.trace
	lp-dump -k run t.trace | jq -e '.ranks == 4 and .locations == 12'
	[ "$(lp-dump -k call t.trace | jq -s -c 'map(select(.thread == 1)) | length')" -eq 2440 ]
	for a in walk kahn; do
		lp-critpath -a $a -F json t.graph >$a
		jq -e '.run_time_s == .path_length_s' $a
	done
	cmp walk kahn
}

@test "calls that had returned are kept, however a rank ends; ranks that ended early are named" {
	for how in kill segv _exit abort; do
		recorded death $how
		[ "$status" -ne 0 ]
		# mpirun may kill the others while they leave the last.
		jq -en "$(calls MPI_Barrier) | length == 4 and .[1] == 10 and all(.[]; . == 10 or . == 9)"
		rows=11
		[ $how != abort ] || rows=12	# MPI_Abort itself
		grep -q "lp-merge: run/rank.1: rank 1 ended early, after $rows rows" merge.err
		lp-critpath -F json t.graph | jq -e '.run_time_s == .path_length_s'
		rm -r run
	done
}

@test "a forked child and a shell started by the program change nothing" {
	recorded death fork
	[ "$status" -eq 0 ]
	[ ! -s merge.err ]
	[ "$(calls MPI_Finalize)" = '[1,1,1,1]' ]
}

@test "the exit status is the program's, also after a signal" {
	run -143 lp-record -o run -- bash -c 'kill -TERM $$'
	run -9 lp-record -o run -- bash -c 'exit 9'
}

@test "raw traces of an earlier run are removed, other files stay" {
	mkdir run
	printf 'raw ranks=2 rank=7 run=7\n' | pack >run/rank.7
	echo mine >run/notes
	recorded death fork
	[ ! -e run/rank.7 ]
	[ "$(cat run/notes)" = mine ]
}

# refused MESSAGE COMMAND...: exit status 2, one line
refused() {
	local message=$1
	shift
	run -2 --separate-stderr "$@"
	[ "$stderr" = "$message" ]
	[ -z "$output" ]
}

@test "a program that cannot be recorded is reported in one line" {
	printf 'int main(void) { return 0; }\n' >empty.c
	gcc -static -o static empty.c
	local why='no rank was recorded:'
	refused "lp-record: ./static: $why it is linked statically: only a dynamically linked program can be recorded" \
		lp-record -o run -- ./static
	refused "lp-record: ./static: $why it is linked statically: only a dynamically linked program can be recorded" \
		lp-record -o run -- mpirun --oversubscribe -n 2 ./static 7
	refused "lp-record: true: $why it is not linked to MPI, and nothing that it started called MPI_Init with LD_PRELOAD and LONGPOLE_DIR in its environment" \
		lp-record -o run -- true
	# Its environment is cleaned, so that it gets through MPI_Init unseen.
	refused "lp-record: $BATS_FILE_TMPDIR/kinds: $why it did not get through MPI_Init, or was started without LD_PRELOAD and LONGPOLE_DIR in its environment" \
		lp-record -o run -- sh -c 'env -u LD_PRELOAD "$0" >/dev/null 2>&1; true' "$BATS_FILE_TMPDIR/kinds"
	refused 'lp-record: no-such-mpirun: No such file or directory' lp-record -o run no-such-mpirun -n 4 true
	refused 'lp-record: /dev/null/run: Not a directory' lp-record -o /dev/null/run true
	run -2 --separate-stderr lp-record
	[[ "$stderr" == 'usage: lp-record '* ]]
}

@test "a full disk behind standard output is an error" {
	own_scratch
	run -2 --separate-stderr bash -c 'lp-record -- mpirun --oversubscribe -n 2 "$1" >/dev/full' - \
		"$BATS_FILE_TMPDIR/mpif"
	[[ "$stderr" == *"lp-record: standard output: No space left on device" ]]
	[ -z "$(ls scratch | grep lp-record)" ]
}

@test "an exiting reader leaves no temporary folder behind" {
	own_scratch
	run -0 bash -c 'set +o pipefail; lp-record -- mpirun --oversubscribe \
		--mca mpi_yield_when_idle 1 -n 4 "$1" 1 100 2>err | head -c 10 | wc -c' - "$BATS_FILE_TMPDIR/stress"
	[ "$output" -eq 10 ]
	[ -z "$(ls scratch | grep lp-record)" ]
}

@test "a disk that fills up ends the recording of a rank, not the program" {
	[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
	mkdir small
	mount -t tmpfs -o size=1200k small small || skip "no mount here"
	status=0
	lp-record -o small -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/stress" 1 400 >out 2>err || status=$?
	umount small
	[ "$status" -eq 0 ]
	grep -q 'lp-record: .*/rank.[0-3]: No space left on device; recording of this rank ends' err
	[ "$(grep -c 'No space left' err)" -le 4 ]
}

# Few kernels that run tests have quotas: a library refuses room as such a kernel does, after 600 KB of each process.
@test "a quota that is used up ends the recording of a rank, not the program, and what it has is a trace" {
	cat >quota.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		int posix_fallocate(int fd, off_t offset, off_t bytes)
		{
			static off_t used;
			int (*real)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
			return (used += bytes) > 600000 ? EDQUOT : real(fd, offset, bytes);
		}
	END
	gcc -shared -fPIC -w -o quota.so quota.c
	status=0
	LD_PRELOAD=$PWD/quota.so lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/stress" 1 400 >out 2>err || status=$?
	[ "$status" -eq 0 ]
	[ "$(grep -c 'lp-record: .*/rank.[0-3]: Disk quota exceeded; recording of this rank ends' err)" -eq 4 ]
	lp-merge run 2>err | lp-dump -k rank | jq -s -e 'length == 4 and all(.rows > 100 and .ended == false)'
}

@test "ranks with different clocks are aligned" {
	unshare -T --monotonic 5 --fork true 2>/dev/null || skip "no time namespaces here"
	cat >own-clock <<-'END'
		#!/bin/bash
		exec unshare -T --monotonic $((100 * OMPI_COMM_WORLD_RANK)) --fork "$@"
	END
	chmod +x own-clock
	run -0 --separate-stderr lp-record -o run -- \
		mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./own-clock "$BATS_FILE_TMPDIR/kinds"
	lp-merge -s none run | lp-dump -k run | jq -e '.run_ns > 299e9'
	lp-merge run >t.trace
	lp-dump -k run t.trace | jq -e '.run_ns < 99e9'
	lp-graph t.trace 2>graph.err >t.graph
	# No rank leaves a barrier before all have entered, but for the error of the clocks.
	error=$(lp-dump -k rank t.trace | jq -s 'map(.error_ns) | max')
	lp-dump -k call t.trace | jq -s -e --argjson error "$error" '
		[.[] | select(.call == "MPI_Alltoall")] |
		(map(.enter_ns) | max) - (map(.leave_ns) | min) <= 2 * $error'
}

@test "Fortran: every call is recorded once, for every way to use MPI" {
	for p in mpif use_mpi use_mpi_f08; do
		recorded calls_$p
		[ "$(cat out)" = "more:   7   2   6
calls:   6   6   1   2   3" ]
		grep -q '46 messages and 57 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
		# How often a loop polls is not the same twice.
		lp-dump -k call t.trace | jq -r '[.rank, .call] | @tsv' |
			grep -v -e MPI_Test -e MPI_I.*probe | sort >$p.calls
		[ "$(lp-dump -k call t.trace | jq -r .call | grep -c -e MPI_Test -e MPI_I.*probe)" -ge 5 ]
		cmp mpif.calls $p.calls
	done
	[ "$(cut -f 2 mpif.calls | sort -u | wc -l)" -eq 81 ]
}

@test "C: windows, files, topologies and MPI_Pcontrol are recorded" {
	recorded more
	[ "$status" -eq 0 ]
	[ "$(cat out)" = "more: 70 5 1" ]
	grep -q '8 messages and 20 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	round_trip t.trace
	lp-dump -k communicator t.trace | jq -r '.type // "-"' | sort | uniq -c | tr -s ' ' >types
	diff types - <<-END
		 2 -
		 1 file
		 1 window
	END
	# Each row of the end of an epoch refers to the one that opened it, with the same peer.
	lp-dump -k call t.trace | jq -s -e 'map(select(.rank == 2)) |
		(map(select(.call == "MPI_Win_start"))[0]) as $start |
		(map(select(.call == "MPI_Win_complete"))[0]) as $complete |
		$start.peer == 3 and $complete.request_seq == $start.seq'
	lp-dump -k call t.trace | jq -s -e 'map(select(.rank == 1)) |
		map(select(.call | test("MPI_(Rp|P)ut|MPI_Fetch|MPI_Accumulate|MPI_File_(write|read)_at")) |
		    [.call, .peer, .bytes_sent, .bytes_received]) ==
		[["MPI_Put", 2, 8, 0], ["MPI_Accumulate", 0, 8, 0], ["MPI_Put", 2, 8, 0], ["MPI_Rput", 2, 8, 0],
		 ["MPI_Fetch_and_op", 2, 8, 8], ["MPI_File_write_at", null, 20, 0],
		 ["MPI_File_read_at_all", null, 0, 20], ["MPI_File_read_at_all_begin", null, 0, 0],
		 ["MPI_File_read_at_all_end", null, 0, 8]]'
	# Between MPI_Pcontrol(0) and (1) nothing is recorded; other levels are marks.
	[ "$(lp-dump -k call t.trace | jq -c 'select(.rank == 3 and .call == "MPI_Pcontrol") | .tag' |
		paste -sd' ')" = "7 8 0 1" ]
	[ "$(lp-dump -k call t.trace | jq -c 'select(.call == "MPI_Barrier" and .comm == 2)' | wc -l)" -eq 0 ]
	# Who gets from whom in a topology.
	[ "$(lp-dump -k neighbours t.trace | jq -c '[.member, .sources]' | head -4 | paste -sd' ')" = \
		"[0,[-2,1]] [1,[0,2]] [2,[1,3]] [3,[2,-2]]" ]
}

@test "MPI_Abort is the last row of the rank that calls it" {
	recorded more abort
	[ "$status" -ne 0 ]
	[ "$(lp-dump -k call t.trace | jq -s -r 'map(select(.rank == 2))[-1].call')" = MPI_Abort ]
	lp-critpath -F text t.graph >text
	head -1 text | grep -qE 'after its last call; rank 2 is in MPI_Abort \(main more\.c:[0-9]+\) since [0-9.]+ s; 3 ranks wait, rank 0 in MPI_Barrier '
	run -0 lp-stuck run
	[[ "$output" == "the run did not end: it was killed "*"; rank 2 is in MPI_Abort "* ]]
}

@test "spawned processes and their parents are one trace, with all matches between them" {
	own_scratch
	recorded more spawn "$BATS_FILE_TMPDIR/more"
	[ "$status" -eq 0 ]
	grep -q 'spawned: 7' out
	grep -q '^lp-merge: run/world.*/rank.0: ranks 4 to 5 of the trace are ranks 0 to 1 of this MPI_COMM_WORLD$' merge.err
	lp-dump -k communicator t.trace | jq -s -e 'map(select(.remote_size)) | map([.members, .remote]) == [[[0, 1, 2, 3], [4, 5]]]'
	lp-dump -k rank t.trace | jq -s -e 'map([.rank, .world, .world_rank])[3:] == [[3, 0, 3], [4, 1, 0], [5, 1, 1]]'
	grep -q ', 0 sends, 0 receives and 0 collectives not' graph.err
	# Each side alone is a trace, too, in which the other one is outside.
	lp-merge run/world.* | lp-graph 2>child.err | lp-dump -k run | jq -e '.ranks == 2'
	grep -q '0 collectives not' child.err
	lp-merge run/rank.* >own.trace
	lp-dump -k communicator own.trace | jq -s -e 'map(select(.remote_size)) | map([.members, .remote]) == [[[0, 1, 2, 3], [-2, -2]]]'
	lp-graph own.trace 2>own.err >/dev/null
	grep -q '1 sends, 0 receives and 0 collectives not' own.err
	lp-record -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$BATS_FILE_TMPDIR/more" \
		spawn "$BATS_FILE_TMPDIR/more" 2>err | lp-merge | lp-dump -k run | jq -e '.ranks == 4'
	grep -q 'lp-record: 1 further MPI runs were started, or processes spawned: their traces are lost; -o FOLDER keeps them' err
	[ -z "$(ls scratch | grep lp-record)" ]
}

@test "the path leads from a late child to its parents, and no child starts before it was spawned" {
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$BATS_FILE_TMPDIR/worlds" 0.5 >out
	[ "$(sort out)" = "$(printf 'spawned: 5\nspawned: 5')" ]
	lp-merge run 2>/dev/null | lp-graph >t.graph 2>graph.err
	trace.py check t.graph
	grep -q '^lp-graph: 4 messages and 12 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	lp-critpath -F json t.graph >path
	# The child's 0.5 s, and the 0.3 s of a parent before; who waits for the child is in the other world.
	jq -e '[.segments[] | select(.kind == "compute" and .rank == 3) | .end_ns - .begin_ns] | max > 450000000' path
	jq -e '[.segments[] | select(.kind == "compute" and .rank < 2) | .end_ns - .begin_ns] | max > 250000000' path
	spawn=$(lp-dump -k spawned t.graph | jq .begin_ns)
	jq -e --argjson spawn "$spawn" '[.segments[] | select(.kind == "start" and .rank > 1)] |
		length > 0 and all(.begin_ns >= $spawn)' path
	lp-imbalance -F text t.graph | grep -q '	late_sender: MPI_Recv at talk'
	lp-replay -F json t.graph >replay
}

@test "two runs that connect are one trace if both are named" {
	command -v ompi-server >/dev/null || skip "no ompi-server"
	timeout 600 ompi-server --no-daemonize -r uri >/dev/null 2>&1 &
	server=$!
	await [ -s uri ]
	meet="mpirun --ompi-server file:uri --oversubscribe --mca mpi_yield_when_idle 1 -n 2 $BATS_FILE_TMPDIR/worlds"
	lp-record -o server -- $meet accept port >server.out &
	accepting=$!
	lp-record -o client -- $meet connect port >client.out
	wait $accepting
	kill $server
	lp-merge server client 2>err | lp-graph >t.graph 2>graph.err
	grep -q '^lp-merge: client/rank.0: ranks 2 to 3 of the trace are ranks 0 to 1 of this MPI_COMM_WORLD$' err
	grep -q '^lp-graph: 4 messages and 13 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
}

@test "a sequence of failed polls becomes one row, and nothing else is folded" {
	mpicc -o polls "$ROOT/tests/apps/polls.c"
	for how in all fold; do
		lp-record --polls $how -o $how -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./polls
		trace.py check $how/rank.1
		lp-merge $how >$how.trace
		trace.py check $how.trace
		lp-graph $how.trace >$how.graph
		lp-dump -k call $how.trace | jq -c 'select(.rank == 1 and .call != "MPI_Iprobe" and
			(.call != "MPI_Test" or .completed != [])) | .call' >$how.calls
	done
	cmp all.calls fold.calls
	# 3 runs of 1000 Iprobe, with a Test among each 10 that finds nothing, 0.5 s between the runs.
	lp-dump -k call all.trace | jq -s -e 'map(select(.rank == 1 and (.call == "MPI_Iprobe" or
		(.call == "MPI_Test" and .completed == [])))) | length >= 3300'
	lp-dump -k call fold.trace | jq -s -e 'map(select(.rank == 1 and (.folded // 0) > 0)) |
		length >= 3 and length < 300 and (map(.folded + 1) | add) > 2500'
	# The row lasts from the first of them to the last, and not over one of the three pauses behind the runs.
	lp-dump -k call fold.trace | jq -s -e 'map(select(.rank == 1)) | [.[1:], .[:-1]] | transpose |
		map(.[0].enter_ns - .[1].leave_ns | select(. > 499e6)) | length >= 3'
}

@test "short local calls are folded below a threshold; communication never is" {
	mpicc -o polls "$ROOT/tests/apps/polls.c"
	lp-record --fold-local 0.01 -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./polls
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s -e 'map(select(.rank == 1 and (.folded // 0) > 0)) | length >= 3'
	lp-graph t.trace 2>err >t.graph
	grep -q '2 messages and 2 collectives matched, 0 sends, 0 receives and 0 collectives not' err
	run -2 --separate-stderr lp-record --threshold never -- true
	[[ "$stderr" == "lp-record: --fold-local never"* ]]
}

@test "--stack names the callers, --paused waits for MPI_Pcontrol" {
	lp-record --stack 8 -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/more" >out
	trace.py check run/rank.2
	lp-merge run >t.trace
	trace.py check t.trace
	lp-graph t.trace 2>/dev/null | lp-critpath --all -F text | grep -q \
		'windows (more.c:[0-9]*) < .*_start'
	lp-record --paused -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/more" >out
	lp-merge run | lp-dump -k call | jq -s -e 'map(select(.rank == 0) | .call) ==
		["MPI_Pcontrol", "MPI_Finalize"]'
}

@test "clocks are compared by MPI_Allreduce, too, and during the run" {
	unshare -T --monotonic 5 --fork true 2>/dev/null || skip "no time namespaces here"
	cat >own-clock <<-'END'
		#!/bin/bash
		exec unshare -T --monotonic $((7 * OMPI_COMM_WORLD_RANK)) --fork "$@"
	END
	chmod +x own-clock
	for how in pingpong allreduce; do
		for clock in auto monotonic; do
			lp-record --sync $how --sync-every 0.0001 --clock $clock -o run -- \
				mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./own-clock \
				"$BATS_FILE_TMPDIR/death" fork
			# The offset is within the error that is stated, which is less than 50 microseconds.
			for rank in 1 2 3; do
				trace.py text run/rank.$rank | awk -v want=$((-7000000000 * rank)) '
					/^clock / {
						split($3, peer, "="); split($4, offset, "="); split($5, error, "=")
						off = offset[2] - want - peer[2] * 7000000000
						if (off < 0) off = -off
						if (off > error[2] + 100) { print; bad = 1 }
						n++
					}
					END { exit !(n > 2) || bad }'
			done
			# Where the error exceeds a short barrier, that one may have no point.
			lp-merge run | lp-graph 2>/dev/null | lp-dump | jq -s -e '
				(map(select(.kind == "rank").error_ns)) as $error_ns |
				map(select(.kind == "call")) | group_by(.rank) | transpose |
				map(max_by(.enter_ns) as $last | min_by(.leave_ns) as $first |
					[$last.enter_ns - $first.leave_ns,
					$error_ns[$last.rank] + $error_ns[$first.rank]]) |
				length == 13 and all(.[0] <= .[1])'
			lp-merge run | lp-graph 2>/dev/null | lp-dump | jq -s -c '
				(map(select(.kind == "call")) | group_by(.rank) | transpose |
				map(select(max_by(.enter_ns).enter_ns <= min_by(.leave_ns).leave_ns)) |
				length) as $overlap | map(select(.kind == "matching"))[0] |
				[.syncs == $overlap, .refused_pending, .syncs == 13]' >>found
		done
	done
	sort found
	# At least one of four busy runs has all 13.
	run -0 jq -s -e 'length == 4 and all(.[0] and .[1] == 0) and any(.[2])' found
}

# packed LEVEL FOLDER FILE...: these raw traces, as lp-record leaves them when it compresses
packed() {
	lp-record --compress "$1" -o "$2" -- cp "${@:3}" "$2"
}

@test "compressed traces have the same content, and those of dead ranks stay cut" {
	lp-record -o plain -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/stress" 1 60 >out
	lp-merge plain >plain.trace
	run -137 lp-record -o dead -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/death" kill
	for level in min max; do
		packed $level packed plain/rank.?
		for rank in 0 1 2 3; do
			trace.py check packed/rank.$rank
			for folder in plain packed; do
				trace.py text $folder/rank.$rank | grep -v '^end' | sort >$folder.text
			done
			cmp plain.text packed.text
			[ "$(stat -c %s packed/rank.$rank)" -lt $(($(stat -c %s plain/rank.$rank) / 4)) ]
		done
		# Larger blocks come in another order of ranks.
		lp-merge packed | lp-dump -k call,site,communicator | sort >packed.json
		lp-dump -k call,site,communicator plain.trace | sort | cmp - packed.json
		packed $level packed dead/rank.?
		trace.py check packed/rank.1
		lp-merge packed 2>&1 >t.trace | grep -q 'rank 1 ended early, after 11 rows'
	done
	launch lp-record --compress min -o packed "$BATS_FILE_TMPDIR/threads"
	lp-merge packed | lp-graph 2>&1 >/dev/null | grep -q '1840 messages and 24 collectives matched, 0 sends'
	[ -z "$(ls packed | grep -v 'rank.[0-3]$')" ]
}

@test "a trace that cannot be compressed on a full disk stays as it was, with a message" {
	[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
	lp-record -o plain -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 \
		"$BATS_FILE_TMPDIR/stress" 1 60 >out
	mkdir full
	mount -t tmpfs -o size=8m full full || skip "no mount here"
	run -0 --separate-stderr lp-record --compress min -o full/run -- \
		bash -c 'cp plain/rank.? full/run; cat /dev/zero >full/rest 2>/dev/null; true'
	for rank in 0 1 2 3; do
		cmp plain/rank.$rank full/run/rank.$rank || { umount full; false; }
	done
	left=$(ls full/run)
	umount full
	[ "$stderr" = "lp-record: 4 of 4 traces could not be compressed and stay as they were" ]
	[ "$(wc -w <<<"$left")" -eq 4 ]
}

@test "damaged compressed traces are refused at the byte of the message" {
	lp-record --compress min -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 1 \
		"$BATS_FILE_TMPDIR/death" fork
	size=$(stat -c %s run/rank.0)
	for at in $(seq 700 97 $((size - 1))); do
		cp run/rank.0 bad
		printf '\x55' | dd of=bad bs=1 seek=$at conv=notrunc status=none
		cmp -s bad run/rank.0 && continue
		run -2 --separate-stderr lp-merge bad
		[[ "$stderr" =~ ^lp-merge:\ bad:[0-9]+:\  ]]
	done
	fuzz -n 200 run/rank.0 -- lp-merge
}

@test "errors, handlers, statuses and exit status are the same as without the recorder" {
	mpicc -g -w -o traps "$ROOT/tests/apps/traps.c" -lpthread
	status=0
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./traps >bare 2>/dev/null || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l <bare)" -eq 5 ]
	status=0
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./traps >recorded \
		2>/dev/null || status=$?
	[ "$status" -eq 1 ]
	diff <(sort bare) <(sort recorded)
	# Calls that failed are not in the trace, sizes of more than 4 GiB are.
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s -e '(map(select(.call == "MPI_Bcast")) | length) == 0 and
		(map(select(.call == "MPI_Send")) | map(.bytes_sent) | max) == 8589934592'
	lp-graph t.trace 2>err >t.graph
	trace.py check t.graph
}

# Both ranks are behind their ten barriers.
behind_barriers() {
	[ "$(lp-merge run 2>/dev/null | lp-dump -k call 2>/dev/null | grep -c MPI_Barrier)" -eq 20 ]
}

# No rank is left. Ranks outlive a killed mpirun of Open MPI 5, with and without the recorder.
ranks_gone() {
	if [ "$1" = KILL ] && command -v prterun >/dev/null; then
		pkill -KILL -f "$BATS_FILE_TMPDIR/death pause"
	fi
	refute pgrep -f "$BATS_FILE_TMPDIR/death pause"
}

@test "a batch system that kills all ranks leaves the calls that had returned" {
	for signal in TERM KILL; do
		lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
			"$BATS_FILE_TMPDIR/death" pause >out 2>err &
		recorder=$!
		await behind_barriers
		kill -$signal $recorder
		status=0
		wait $recorder || status=$?
		[ $status -eq $((128 + $(kill -l $signal))) ] || [ $signal = TERM ]
		[ $status -ne 0 ]
		await ranks_gone $signal
		lp-merge run 2>merge.err | lp-dump -k call | grep -c MPI_Barrier >count
		[ "$(cat count)" -eq 20 ]
		grep -q 'rank 1 ended early, after 11 rows' merge.err
		rm -r run
	done
}

@test "MPICH: the same calls and messages, in C and Fortran" {
	[ -e "$ROOT/lib/liblongpole-record.mpich.so" ] || skip "not built: make lib/liblongpole-record.mpich.so"
	for p in kinds stress; do mpicc.mpich -w -o $p "$ROOT/tests/apps/$p.c"; done
	for p in mpif use_mpi use_mpi_f08; do
		mpifort.mpich -w -I "$ROOT/tests/apps" -o $p "$ROOT/tests/apps/$p.f90"
	done
	run -0 lp-record -o run -- mpirun.mpich -n 4 ./kinds
	[ "$output" = "kinds: 4 3" ]
	lp-merge run | lp-graph 2>err >t.graph
	grep -q '21 messages and 40 collectives matched, 0 sends, 0 receives and 0 collectives not' err
	# The root of an intercommunicator's collective has a number that MPICH uses for nothing else.
	[ "$(lp-merge run | lp-dump -k call | jq -r 'select(.call == "MPI_Gatherv" and .peer == "MPI_ROOT").rank')" = 0 ]
	lp-record -o run -- mpirun.mpich -n 4 ./stress 7 50
	lp-merge run | lp-graph 2>err >t.graph
	same_sizes t.graph
	for p in mpif use_mpi use_mpi_f08; do
		mpirun.mpich -n 4 ./$p >bare
		lp-record -o run -- mpirun.mpich -n 4 ./$p >out
		cmp bare out
		lp-merge run 2>/dev/null >t.trace
		lp-graph t.trace 2>err >t.graph
		# mpi_f08 of MPICH 4.0 gives wrong indices: see lp-record(1).
		[ $p = use_mpi_f08 ] ||
			grep -q '21 messages and 8 collectives matched, 0 sends, 0 receives and 0 collectives not' err
		lp-dump -k call t.trace | jq -r 'select(.call | test("Wait") | not) |
			[.rank, .call, .comm, .peer, .bytes_sent, .bytes_received] | @tsv' | sort >$p.calls
		cmp mpif.calls $p.calls
		[ "$(lp-dump -k call t.trace | jq -r 'select(.call == "MPI_Allreduce").site' | wc -l)" -eq 4 ]
	done
	[ "$(wc -l <mpif.calls)" -ge 80 ]
}

@test "a program with an MPI other than the recorder's ends with a message" {
	[ -e "$ROOT/lib/liblongpole-record.mpich.so" ] || skip "not built: make lib/liblongpole-record.mpich.so"
	mpicc.mpich -w -o kinds "$ROOT/tests/apps/kinds.c"
	run ! lp-record --mpi openmpi -o run -- mpirun.mpich -n 4 ./kinds
	[ "$(grep -c 'lp-record: the program has another MPI than this recorder was built with: see --mpi' <<<"$output")" -eq 1 ]
	run ! lp-record --mpi mpich -o run -- mpirun --oversubscribe -n 4 "$BATS_FILE_TMPDIR/kinds"
	[ "$(grep -c 'lp-record: the program has another MPI than this recorder was built with: see --mpi' <<<"$output")" -eq 1 ]
	[ -z "$(ls run)" ]
	run -2 --separate-stderr lp-record --mpi none -o run -- true
	[ "$stderr" = "lp-record: $ROOT/lib/liblongpole-record.none.so: No such file or directory" ]
}

@test "calls that return an error have rows with their own name, matched with nothing" {
	cat >errors.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			MPI_Request request = MPI_REQUEST_NULL;
			int rank, size, x = 0;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &size);
			MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
			MPI_Send(&x, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
			MPI_Isend(&x, 1, MPI_DATATYPE_NULL, 1 - rank, 1, MPI_COMM_WORLD, &request);
			MPI_Bcast(&x, 1, MPI_INT, size + 3, MPI_COMM_WORLD);
			if (rank == 0)
				MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
			else
				MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -w -g -o errors errors.c
	lp-record -o run -- mpirun --oversubscribe -n 2 ./errors
	lp-merge run | lp-graph 2>err >t.graph
	trace.py check t.graph
	for call in Send Isend Bcast; do
		[ "$(lp-dump -k call t.graph | grep -c "\"MPI_$call(error)\"")" -eq 2 ]
		[ "$(lp-dump -k site t.graph | grep -c "\"call\":\"MPI_$call\"")" -ge 1 ]
	done
	grep -q '1 messages and 2 collectives matched, 0 sends, 0 receives and 0 collectives not' err
	grep -q 'lp-graph: 6 calls returned an error' err
	lp-imbalance t.graph | grep -q '^6 calls returned an error'
	lp-imbalance -F json t.graph | jq -e '.unmatched.errors == 6'
}

@test "more ranks than cores wait for them, and the trace has the time" {
	cat >spin.c <<-'END'
		#define _GNU_SOURCE
		#include <mpi.h>
		#include <sched.h>
		int main(int argc, char **argv)
		{
			cpu_set_t one;
			double begin;
			MPI_Init(&argc, &argv);
			CPU_ZERO(&one);
			CPU_SET(0, &one);
			if (argc > 1)
				sched_setaffinity(0, sizeof one, &one);
			begin = MPI_Wtime();
			while (MPI_Wtime() - begin < 0.5)
				continue;
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o spin spin.c
	# bound by another program, or by itself
	for app in 'taskset -c 0 ./spin' './spin itself'; do
		lp-record -o run -- mpirun --oversubscribe --bind-to none -n 2 $app
		lp-merge run >t.trace
		trace.py check t.trace
		lp-dump -k load t.trace | jq -e '.ranks == 2 and .cores == 1 and .threads == 2 and .others_ns >= 0 and
			.waited_ns / .elapsed_ns > 0.2 and .cpu_ns <= .elapsed_ns and .switches_ns == null'
	done
}

@test "a function that is not recorded is named also if the program takes its address" {
	cat >taken.c <<-'END'
		#include <mpi.h>
		static int query(void *extra, MPI_Status *status) { (void)extra; (void)status; return MPI_SUCCESS; }
		static int done(void *extra) { (void)extra; return MPI_SUCCESS; }
		static int cancel(void *extra, int complete) { (void)extra; (void)complete; return MPI_SUCCESS; }
		int (*volatile end)(MPI_Request) = MPI_Grequest_complete;
		int main(int argc, char **argv)
		{
			MPI_Request request;
			MPI_Init(&argc, &argv);
			MPI_Grequest_start(query, done, cancel, 0, &request);
			if (end == MPI_Grequest_complete)
				end(request);
			return MPI_Finalize();
		}
	END
	mpicc -fno-pic -no-pie -o taken taken.c
	lp-record -o run -- mpirun --oversubscribe -n 1 ./taken 2>err
	[ "$(tr ', ' '\n' <err | grep -c MPI_Grequest)" -eq 2 ]
}

@test "under a launcher, rank 0 comes late and removes an earlier run's traces, not what other ranks have begun" {
	printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); return 0; }\n' >brief.c
	mpicc -o brief brief.c
	lp-record -o run ./brief
	mv run/rank.0 run/.rank.0.17
	cp run/.rank.0.17 run/rank.2
	mpirun --oversubscribe -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 1 ] || until ls -A run | grep -q "^[.]rank[.]1[.]"; do sleep 0.1; done
		exec lp-record -o run ./brief'
	[ "$(ls -A run | tr '\n' ' ')" = 'rank.0 rank.1 ' ]
	lp-merge run >merged
}
