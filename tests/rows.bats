# SPDX-License-Identifier: BSD-3-Clause
# The rows that lp-record writes for each call, against recorded ones: tests/golden.d/texts.
bats_require_minimum_version 1.5.0
load helpers

# rows: of a stream as text the rows of each rank, without times and sites; a request by the call that it is of. How
# often a poll fails is chance, so that these are left out.
rows() {
	awk '/^[0-9]+ / {
		n = ++count[$1]; name = $2 == "+" ? name : $2; call[$1, n] = name; line = $1 " " $2
		for (i = 3; i <= NF; i++)
			if ($i ~ /^request=/ && $0 !~ /request_at=/)
				line = line " of=" call[$1, n - substr($i, 9)]
			else if ($i !~ /^[0-9]+$|^site=/)
				line = line " " $i
		if (name !~ /test|Test|probe|get_status/)
			print line
	}' | sort -s -n -k1,1
}

@test "programs that make each kind of call have the recorded rows" {
	for p in kinds more; do
		mpicc -w -g -O1 -o $p "$ROOT/tests/apps/$p.c"
		lp-record -o $p.run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./$p >out 2>err
		lp-merge $p.run >$p.trace 2>merge.err
		rows <"$ROOT/tests/golden.d/texts/$p.txt" >before
		[ "$(wc -l <before)" -gt 190 ]
		trace.py text $p.trace | rows | diff before -
	done
}

# alone [OPTION...] -- [ARGUMENT]: the calls of rank 0 of $ranks [1], as its trace has them, without times and sites
alone() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	mpicc -w -g -O1 -rdynamic -o alone "$ROOT/tests/apps/alone.c" -ldl
	lp-record "${options[@]}" -o run -- mpirun --oversubscribe -n "${ranks:-1}" ./alone "$@"
	trace.py text run/rank.0 | awk '/^0 / {
		line = $2
		for (i = 3; i <= NF; i++)
			if ($i !~ /^[0-9]+$|^site=/)
				line = line " " $i
		print line
	}'
}

@test "concurrent messages, pauses, epochs and sizes have the recorded rows, field by field" {
	alone -- | diff - <(sed 's/^\t*//' <<-'END'
		MPI_Init
		MPI_Isend comm=2 peer=0 tag=0 sent=4
		MPI_Isend comm=2 peer=0 tag=1 sent=8
		MPI_Isend comm=2 peer=0 tag=2 sent=12
		MPI_Mprobe comm=2 peer=0 tag=0 request=4 request_at=1
		MPI_Mprobe comm=2 peer=0 tag=1 request=5 request_at=1
		MPI_Mprobe comm=2 peer=0 tag=2 request=6 request_at=1
		MPI_Imrecv comm=2 peer=0 tag=1 received=32 request=2
		MPI_Wait comm=2 peer=0 tag=1 received=8 request=1
		MPI_Imrecv comm=2 peer=0 tag=0 received=32 request=5
		MPI_Wait comm=2 peer=0 tag=0 received=4 request=1
		MPI_Imrecv comm=2 peer=0 tag=2 received=32 request=5
		MPI_Wait comm=2 peer=0 tag=2 received=12 request=1
		MPI_Waitall request=12
		+ request=12
		+ request=12
		MPI_Mprobe comm=2 peer=null tag=any
		MPI_Mrecv peer=null
		MPI_Probe comm=2 peer=null tag=any
		MPI_Pcontrol tag=7
		MPI_Isend comm=2 peer=0 tag=20 sent=12
		MPI_Isend comm=2 peer=0 tag=21 sent=16
		MPI_Mprobe comm=2 peer=0 tag=20 request=22 request_at=1
		MPI_Pcontrol tag=0
		MPI_Pcontrol tag=1
		MPI_Mrecv comm=2 peer=0 tag=21 received=16
		MPI_Waitall request=6
		+ request=6
		MPI_Win_allocate comm=2
		MPI_Win_lock comm=3 peer=0 tag=1
		MPI_Put comm=3 peer=0 sent=8
		MPI_Get comm=3 peer=null
		MPI_Win_unlock comm=3 peer=0
		MPI_Win_lock comm=3 peer=0 tag=2
		MPI_Get comm=3 peer=0 received=12
		MPI_Win_unlock comm=3 peer=0
		MPI_Win_post comm=3 peer=0
		MPI_Win_start comm=3 peer=0
		MPI_Put comm=3 peer=0 sent=4
		MPI_Win_complete comm=3 request=2
		MPI_Win_wait comm=3 request=4
		MPI_Win_post comm=3 peer=0
		MPI_Win_start comm=3 peer=0
		MPI_Put comm=3 peer=0 sent=4
		MPI_Win_complete comm=3 request=2
		MPI_Win_wait comm=3 request=4
		MPI_Win_start comm=3
		MPI_Win_complete comm=3
		MPI_Win_post comm=3
		MPI_Win_test comm=3
		MPI_Win_free comm=3
		MPI_Bcast comm=2 peer=0 sent=24
		MPI_Bcast comm=2 peer=0
		MPI_Alltoallv comm=2 sent=8 received=8
		MPI_Alltoallv comm=2
		MPI_Sendrecv comm=2 peer=0 tag=30 sent=24
		+ comm=2 peer=0 tag=30 received=24
		MPI_Send comm=2 peer=null tag=31 sent=4
		MPI_Recv comm=2 peer=null tag=any
		MPI_Finalize
	END
	)
}

@test "a sequence of failed polls ends with time, another call, a pause or a success" {
	alone --polls fold --fold-local 0.05 -- polls | diff - <(sed 's/^\t*//' <<-'END'
		MPI_Init
		MPI_Iprobe comm=2 peer=0 tag=9 folded=4
		MPI_Iprobe comm=2 peer=0 tag=9 folded=4
		MPI_Barrier comm=2
		MPI_Iprobe comm=2 peer=0 tag=9 folded=4
		MPI_Barrier comm=2
		MPI_Pcontrol tag=0
		MPI_Pcontrol tag=1
		MPI_Request_get_status request=8 request_at=1 folded=1
		MPI_Irecv comm=2 peer=0 tag=8 received=4
		MPI_Request_get_status folded=2
		MPI_Cancel request=2
		MPI_Wait request=3
		MPI_Irecv comm=2 peer=0 tag=8 received=4
		MPI_Send comm=2 peer=0 tag=8 sent=4
		MPI_Request_get_status request=2
		MPI_Wait comm=2 peer=0 tag=8 received=4 request=3
		MPI_Finalize
	END
	)
}

@test "local calls are no polls: they are folded where that is asked for, and else each is a row" {
	printf '%s\n' MPI_Init MPI_Buffer_detach MPI_Buffer_detach MPI_Finalize >rows
	alone --polls fold -- local | diff - rows
	rm -r run
	alone --fold-local 0.05 -- local | diff - <(sed '2d; 3s/$/ folded=1/' rows)
}

@test "an epoch of two ranks has a row for each, whose end refers to its begin; the root of a spawn is known" {
	ranks=2 alone -- together 2>err | diff - <(sed 's/^\t*//' <<-'END'
		MPI_Init
		MPI_Win_allocate comm=1
		MPI_Win_post comm=3 peer=0
		+ comm=3 peer=1
		MPI_Win_start comm=3 peer=0
		+ comm=3 peer=1
		MPI_Put comm=3 peer=0 sent=4
		MPI_Win_complete comm=3 request=3
		+ comm=3 request=3
		MPI_Win_wait comm=3 request=7
		+ comm=3 request=7
		MPI_Win_free comm=3
		MPI_Comm_spawn comm=4 peer=root
		MPI_Comm_disconnect comm=4
		MPI_Finalize
	END
	)
}

@test "the receive of a message refers to its own probe, of whichever thread, also if others get its handle meanwhile" {
	alone -- threads | diff - <(sed 's/^\t*//' <<-'END'
		MPI_Init_thread
		MPI_Isend comm=2 peer=0 tag=1 sent=4
		MPI_Mprobe comm=2 peer=0 tag=1 request=2 request_at=1
		MPI_Mrecv comm=2 peer=0 tag=1 received=4 request=1
		MPI_Wait request=3
		MPI_Isend comm=2 peer=0 tag=1 sent=4
		MPI_Mrecv comm=2 peer=0 tag=1 received=4 request_at=3
		MPI_Wait request=2
		MPI_Finalize
	END
	)
	trace.py text run/rank.0 | grep -c '^1 MPI_Mrecv .* comm=1 peer=0 tag=2 received=8 .*request=1$' >other
	[ "$(cat other)" -eq 1 ]
}
