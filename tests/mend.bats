# SPDX-License-Identifier: BSD-3-Clause
# lp-mend: calls replaced by mock-ups. The verdicts are invented, so speed does not matter.
bats_require_minimum_version 1.5.0
load helpers

# verdict RANKS [FUNCTION OTHER BYTES PART]...: these are slower than OTHER from BYTES on, in RANKS.verdict
verdict() {
	local p=$1 type
	shift
	{
		echo measurement content=verdict
		echo "verdict ranks=$p library=${library:-A} mpiruns=20 confirming=20 tests=1 margin_ns=0.0 control_p_value=1.0 control_failed=${failed:-0}"
		while [ $# -gt 0 ]; do
			[ "$2" = split ] && type=split || type=pattern
			echo "test type=$type guideline=g function=MPI_$1 other=$2 bytes=$3 volume=$3 other_bytes=$4 function_ns=2000.0 other_ns=1000.0 violated=1"
			echo "test type=monotony guideline=g function=MPI_$1 other=MPI_$1 bytes=100000 volume=1 other_bytes=1 function_ns=9000.0 other_ns=9000.0 violated=0"
			shift 4
		done
	} | pack >"$p.verdict"
}

# everything RANKS: each mock-up of each function at some size, and splits
everything() {
	local p=$1 mockups=() name list i
	while read -r name list; do
		set -- $list
		for ((i = 1; i <= $#; i++)); do
			mockups+=("$name" "${!i}" $((1 + (i - 1) * (160 / $#))) 16)
		done
	done < <(sed -n 's/^\tMOCKUP([0-9]*, \([A-Z][a-z_]*\), \([A-Za-z_]*\),.*/\1 \1_as_\2/p' "$ROOT/base/mpi/catalogue.h" |
		grep -vE '^(I|Sendrecv_v|Barrier)' | awk '{ l[$1] = l[$1] " " $2 } END { for (f in l) print f l[f] (f == "Sendrecv" ? "" : " split") }')
	[ ${#mockups[@]} -gt 100 ]
	verdict "$p" "${mockups[@]}" Barrier Barrier_as_Allreduce 0 0
}

@test "random programs have the same results with all mock-ups in place, with Open MPI and MPICH" {
	for p in 2 3; do everything $p; done
	mpicc.openmpi -o mended.openmpi "$ROOT/tests/apps/mended.c"
	ranks 3 ./mended.openmpi 1 1000 >plain
	lp-mend --verdict 2.verdict --verdict 3.verdict --count -- mpirun --oversubscribe \
		--mca mpi_yield_when_idle 1 -n 3 ./mended.openmpi 1 1000 >out 2>err
	[ "$(wc -l <out)" = 3 ]
	cmp plain out
	[ "$(grep -cE '^lp-mend: [1-9][0-9]* calls of .* on 3 ranks became' err)" -ge 30 ]
	if command -v mpicc.mpich; then
		mpicc.mpich -o mended.mpich "$ROOT/tests/apps/mended.c"
		mpirun.mpich -n 2 ./mended.mpich 2 300 >plain
		lp-mend --verdict 2.verdict --count mpirun.mpich -n 2 ./mended.mpich 2 300 >out 2>err
		cmp plain out
		[ "$(grep -cE '^lp-mend: [1-9][0-9]* calls of .* on 2 ranks became' err)" -ge 28 ]
	fi
}

@test "Fortran's calls are replaced, too, with MPI_IN_PLACE" {
	cat >app.f90 <<-'END'
		program app
		use mpi_f08
		implicit none
		integer :: rank, all(2)
		call MPI_Init()
		call MPI_Comm_rank(MPI_COMM_WORLD, rank)
		all = -1
		all(rank + 1) = 10 + rank
		call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD)
		call old(all)
		if (rank == 0) print '(3i4)', all
		call MPI_Finalize()
		end program
		subroutine old(all)
		implicit none
		include 'mpif.h'
		integer :: all(2), error
		call MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
		end subroutine
	END
	verdict 2 Allgather Allgather_as_Allreduce 1 0 Allreduce Allreduce_as_ReduceBcast 1 0
	for mpi in openmpi mpich; do
		command -v mpifort.$mpi || continue
		mpifort.$mpi -o app app.f90
		[ $mpi = openmpi ] && run=(mpirun --oversubscribe --mca mpi_yield_when_idle 1) || run=(mpirun.mpich)
		lp-mend --verdict 2.verdict --count "${run[@]}" -n 2 ./app >out 2>err
		[ "$(cat out)" = "  20  22" ]
		grep -q '^lp-mend: 1 calls of MPI_Allgather of 1 to 99999 bytes on 2 ranks became Allgather_as_Allreduce' err
		grep -q '^lp-mend: 1 calls of MPI_Allreduce .* became Allreduce_as_ReduceBcast' err
	done
}

@test "a recorder records the program's calls, whichever of the two starts the other" {
	cat >app.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			int rank, all[2];
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			for (int i = 0; i < 5; i++)
				MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
			MPI_Finalize();
			return rank == 0 && all[1] != 1;
		}
	END
	mpicc -o app app.c
	verdict 2 Gather Gather_as_Allgather 1 0
	start=(mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2)
	lp-record -o a -- "${start[@]}" lp-mend --verdict 2.verdict --count ./app 2>err.a
	lp-mend --verdict 2.verdict --count "${start[@]}" lp-record -o b ./app 2>err.b
	for run in a b; do
		grep -q '^lp-mend: 5 calls of MPI_Gather' err.$run
		lp-merge $run >$run.trace
		lp-dump $run.trace | jq -s -e '[.[] | select(.kind == "calls") | .call[]?] | length > 0' >/dev/null ||
			lp-dump $run.trace | grep -c MPI_Gather
		[ "$(lp-graph $run.trace | lp-imbalance -F json 2>/dev/null | grep -c Allgather)" = 0 ]
	done
}

@test "if ranks have different rules, or some nodes none, nothing is replaced" {
	cat >app.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			int rank, all[2];
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o app app.c
	verdict 2 Gather Gather_as_Allgather 1 0
	cp 2.verdict one
	verdict 2 Gather Gather_as_Reduce 1 0
	# By a shell: mpirun of Open MPI 5.0.7 does not survive several programs.
	cp one rules.0
	cp 2.verdict rules.1
	# shellcheck disable=SC2016
	ranks 2 sh -c 'lp-mend --verdict rules.$OMPI_COMM_WORLD_RANK --count ./app' 2>err
	grep -q '^lp-mend: the ranks have different rules' err
	run -1 grep calls err
	lp-mend --verdict one --count mpirun --oversubscribe -n 2 env OMPI_COMM_WORLD_LOCAL_SIZE=1 ./app 2>err
	grep -q '^lp-mend: ranks on several nodes must each be started by it' err
	run -1 grep calls err
	ranks 2 lp-mend --verdict one --count env OMPI_COMM_WORLD_LOCAL_SIZE=1 ./app 2>err
	grep -q '^lp-mend: 1 calls of MPI_Gather' err
}

@test "an inner error becomes the call's, and wrong arguments reach the library" {
	cat >app.c <<-'END'
		#include <mpi.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			int rank, all[2] = { 0 }, a, b, c;
			double numbers[2] = { 0 };
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
			a = MPI_Gather(&rank, -1, MPI_INT, all, -1, MPI_INT, 0, MPI_COMM_WORLD);
			b = MPI_Bcast(all, 1, MPI_INT, 7, MPI_COMM_WORLD);
			c = MPI_Allreduce(numbers, numbers + 1, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
			MPI_Error_class(a, &a), MPI_Error_class(b, &b), MPI_Error_class(c, &c);
			if (rank == 0)
				printf("%d %d %d\n", a == MPI_ERR_COUNT, b == MPI_ERR_ROOT, c == MPI_ERR_OP);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o app app.c
	verdict 2 Gather Gather_as_Allgather 1 0 Bcast Bcast_as_ScatterAllgather 1 0 Allreduce Allreduce_as_ReduceBcast 1 0
	ranks 2 ./app >plain 2>&1
	lp-mend --verdict 2.verdict -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./app >out 2>&1
	[ "$(cat plain)" = '1 1 1' ]
	cmp plain out
}

@test "--exact leaves sums of floating-point numbers alone" {
	cat >app.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			double d = 1, e;
			int i = 1, j;
			MPI_Init(&argc, &argv);
			MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
			MPI_Allreduce(&i, &j, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			MPI_Finalize();
			return e != 1 || j != 2;
		}
	END
	mpicc -o app app.c
	verdict 2 Allreduce Allreduce_as_ReduceBcast 1 0
	ranks 2 lp-mend --verdict 2.verdict --count ./app 2>err
	grep -q '^lp-mend: 3 calls' err
	ranks 2 lp-mend --verdict 2.verdict --count --exact ./app 2>err
	grep -q '^lp-mend: 2 calls' err
}

@test "rules: the fastest up to the next measured size; those not permitted are listed" {
	{
		echo measurement content=verdict
		echo 'verdict ranks=2 library=A mpiruns=20 confirming=20 tests=1 margin_ns=0.0 control_p_value=1.0 control_failed=0'
		while read -r type function other bytes part f o v; do
			echo "test type=$type guideline=g function=MPI_$function other=$other bytes=$bytes volume=1 other_bytes=$part function_ns=$f other_ns=$o violated=$v"
		done <<-'END'
			pattern Gather Gather_as_Allgather 8 8 2000.0 1000.0 1
			pattern Gather Gather_as_Gatherv 8 8 2000.0 900.0 1
			pattern Gather Gather_as_Reduce 8 8 2000.0 100.0 0
			pattern Gather Gather_as_Gatherv 64 64 2000.0 1900.0 0
			split Gather split 512 64 9000.0 1500.0 1
			pattern Igather Igather_as_Gather 8 8 2000.0 1000.0 1
			pattern Scan Scan_as_mine 8 8 2000.0 1000.0 1
			monotony Bcast MPI_Bcast 8 64 2000.0 1000.0 1
		END
	} | pack >v
	run -0 --separate-stderr lp-mend --verdict v --list
	[ "$output" = "$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' ranks function from_bytes to_bytes function_us instead_us instead \
		2 MPI_Gather 8 63 2.000 0.900 Gather_as_Gatherv 2 MPI_Gather 512 512 9.000 1.500 'calls of 64 bytes' \
		2 MPI_Igather 8 8 2.000 - 'as it is: what blocks may not stand for what does not' \
		2 MPI_Scan 8 8 2.000 - "as it is: a guideline of one's own has no function in the library")" ]
}

@test "factors of a recorded run follow from sizes and measured times" {
	verdict 2 Gather Gather_as_Allgather 8 0
	pack >g <<-'END'
		graph ranks=2
		0 MPI_Init 0 1000
		1 MPI_Init 0 1000
		0 MPI_Gather 2000 3000 comm=1 peer=0 sent=8 received=16
		1 MPI_Gather 2000 3000 comm=1 peer=0 sent=8
		0 MPI_Gather 3000 4000 comm=1 peer=0 sent=100000 received=200000
		1 MPI_Gather 3000 4000 comm=1 peer=0 sent=100000
		0 MPI_Finalize 5000 6000
		1 MPI_Finalize 5000 6000
	END
	run -0 --separate-stderr lp-mend --verdict 2.verdict --factors g
	[ "$output" = "call=MPI_Gather,factor=0.909091" ]	# (1 + 9) / (2 + 9)
	[ "$stderr" = "lp-mend: 2 of 4 calls of MPI_Gather would be replaced" ]
}

@test "wrong input to lp-mend gives one line" {
	verdict 2 Gather Gather_as_Allgather 8 0
	library=B verdict 3 Gather Gather_as_Allgather 8 0
	run -2 --separate-stderr lp-mend --verdict 2.verdict --verdict 3.verdict --list
	[[ "$stderr" == 'lp-mend: 3.verdict:'*'a verdict on "B"; that before is on "A"' ]]
	verdict 4 Gather split 8 8
	run -2 --separate-stderr lp-mend --verdict 4.verdict --list
	[[ "$stderr" == 'lp-mend: 4.verdict:'*'other_bytes is no part of bytes' ]]
	run -2 --separate-stderr lp-mend --verdict "$(stream good-small)" --list
	[[ "$stderr" == *"not a verdict but a trace stream" ]]
	head -c 300 2.verdict >cut
	run -2 --separate-stderr lp-mend --verdict cut --list
	run -2 --separate-stderr lp-mend --verdict 2.verdict
	run -2 --separate-stderr lp-mend true
	run -2 --separate-stderr lp-mend --verdict 2.verdict no-such-command
	[ "$stderr" = "lp-mend: no-such-command: No such file or directory" ]
	failed=1 verdict 2 Gather Gather_as_Allgather 8 0
	run -0 --separate-stderr lp-mend --verdict 2.verdict --list
	[[ "$stderr" == *"control failed"* ]]
	run -0 lp-mend --verdict 2.verdict echo one two	# what is no MPI program is left as it is
	[ "${lines[-1]}" = "one two" ]
}

@test "the workflow predicts from one run, and compares the prediction with measurements" {
	cat >app.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			static char in[64], out[64];
			MPI_Init(&argc, &argv);
			for (int i = 0; i < 50; i++)
				MPI_Scan(in, out, 64, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o app app.c
	verdict 2 Scan Scan_as_ExscanReducelocal 8 0
	printf 'machine\nmodel loggp\nnodes 2\nlatency 10 us\n' >machine
	run -0 make -s -f "$ROOT/workflows/mend.mk" VERDICT=2.verdict MACHINE=machine RUNS=2 \
		APP="mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./app" OUT=o
	[ "$(cut -f6 o/mend.txt | tail -2)" = "$(printf 'predicted by lp-replay from one run\nmeasured, 2 runs a side in turns')" ]
	[ "$(cat o/factors)" = "call=MPI_Scan,factor=0.5" ]
	# 50 scans of a latency each, or more: half of them is saved
	jq -e '.before_s > .after_s and .change < 0' o/predicted.json
	[ -s o/compared/compare.json ]
	run -2 make -s -f "$ROOT/workflows/mend.mk" VERDICT=nothing APP=true OUT=o
}
