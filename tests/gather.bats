# SPDX-License-Identifier: BSD-3-Clause
# Raw traces on disks that only some processes of mpirun lp-merge see.
bats_require_minimum_version 1.5.0
load helpers

# four_ranks ENDED: on three nodes with clocks of their own; not ended: their drift is what messages tell
four_ranks() {
	local rank
	mkdir -p run
	for rank in 0 1 2 3; do
		{
			echo "raw ranks=4 rank=$rank run=77 host=node$((rank % 3)) history=[\"app $rank\"]"
			echo "module base=4096 bytes=4096 path=/lib/$rank"
			[ $((rank % 3)) -eq 0 ] || echo "clock at_ns=1050 peer=0 offset_ns=0 error_ns=1"
			[ $rank -ne 3 ] || echo "clock_shared peer=0"
			echo "0 MPI_Init 1000 1100"
			for k in 1 2 3 4 5; do
				local at=$((k * 1000000 + rank % 3 * k * 2000))
				echo "0 MPI_Send $at $((at + 50)) comm=1 peer=$((rank ^ 1)) tag=$k bytes_sent=8"
				echo "0 MPI_Recv $((at + 60)) $((at + 300)) comm=1 peer=$((rank ^ 1)) tag=$k bytes_received=8"
			done
			[ -z "$1" ] || [ $((rank % 3)) -eq 0 ] ||
				echo "clock at_ns=9000000 peer=0 offset_ns=$((-18000 * (rank % 3))) error_ns=1"
			[ -z "$1" ] || echo "0 MPI_Finalize 9000000 9000100"
		} | tests/pack >run/rank.$rank
	done
}

# apart RANKS...: mpirun lp-merge with a process for each, which sees the traces of these ranks alone
apart() {
	local k=0 ranks rank
	mkdir -p shards
	for ranks; do
		rm -rf sees.$k
		mkdir -p sees.$k/run
		ln -s ../shards sees.$k
		for rank in $ranks; do
			ln run/rank.$rank sees.$k/run
		done
		k=$((k + 1))
	done
	status=0
	# shellcheck disable=SC2016
	timeout -k 1 300 mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $# \
		sh -c 'cd sees.$OMPI_COMM_WORLD_RANK && exec lp-merge "$@"' sh -o shards ${options:-} run 2>err || status=$?
	sed -n '/^lp-/p' err >said
}

# same_as FOLDER OPTION...: but for the command in their headers, the shards are those of the folder by one process
same_as() {
	local shard
	rm -rf again
	lp-merge "${@:2}" -o again --shards node "$1" 2>expected
	[ "$(ls again)" = "$(ls shards)" ]
	for shard in again/*; do
		cmp <(lp-dump -F json "$shard" | tail -n +2) <(lp-dump -F json "shards/${shard##*/}" | tail -n +2)
	done
}

@test "processes that see only their own traces write the same as one that sees all" {
	four_ranks ended
	apart 2 '0 3' 1
	[ $status -eq 0 ]
	[ ! -s said ]
	same_as run
	[ "$(ls shards | wc -l)" -eq 3 ]
}

@test "a file that several processes see is read once, and a process may see none" {
	four_ranks ended
	apart '' '0 3' '0 3 1' '2 1'
	[ $status -eq 0 ]
	[ ! -s said ]
	same_as run
	cp run/rank.3 other
	mv other run/rank.0	# two files that say that they are of one rank
	apart '0 3' '1 2'
	[ $status -eq 2 ]
	grep -q '^lp-merge: run/rank.[03]:.*: rank 3 again' said
}

@test "work that needs all ranks' messages is done from copies, to the same bytes" {
	four_ranks ''
	apart '0 3' 1 2
	[ $status -eq 0 ]
	same_as run
	grep -q 'drift of .* found from messages' expected
	cmp expected said
}

@test "if a process fails, all end with one line that gives the reason" {
	four_ranks ended
	head -c -30 run/rank.1 >cut
	mv cut run/rank.1
	apart '0 3' 1 2
	[ $status -eq 2 ]
	grep -q '^lp-merge: run/rank.1:' said
	four_ranks ended
	apart 0 '1 3' 2	# the traces of a node in two places
	[ $status -eq 2 ]
	grep -q 'of node node0, whose other traces are not in the same place' said
	apart '' ''
	[ $status -eq 2 ]
	[ "$(cat said)" = 'lp-merge: run: holds no raw trace (rank.0, rank.1, ...)' ]
	options='--shards 2' apart '0 3' '1 2'
	[ $status -eq 2 ]
	grep -q -- '--shards node' said
}

@test "a missing node's ranks are left out by --partial" {
	four_ranks ended
	options=--partial apart '0 3' 1
	[ $status -eq 0 ]
	[ "$(cat said)" = 'lp-merge: rank 2 is missing' ]
	mkdir left
	cp run/rank.[013] left
	same_as left --partial
}

@test "the replaced options name the new command" {
	run -2 --separate-stderr lp-record -o run --merge shards true
	[ "$stderr" = 'lp-record: --merge was removed: use mpirun -n NODES lp-merge -o shards FOLDER, behind the program' ]
	for option in --meet --member; do
		run -2 --separate-stderr lp-merge -o shards $option 0/2 run
		[ "$stderr" = "lp-merge: $option is gone: mpirun -n NODES lp-merge -o SHARDS FOLDER reads each node's own disk" ]
	done
}
