# SPDX-License-Identifier: BSD-3-Clause
# The first line of real runs: does it name the planted long pole? All cases: make verdicts.
bats_require_minimum_version 1.5.0
load helpers

@test "the first line names the rank and place of planted long poles: probes, collectives, chains, Fortran" {
	run -0 "$ROOT/tests/verdicts/verdicts" probe mprobe any_source waitsome ssend reduce scan asleep end_bound chain f_halo
	[ "${lines[-1]}" = 'verdicts (openmpi): 11 right, 0 wrong, 0 silent' ]
}

@test "with samples the verdict names the function, how the others compare, and what was not sampled" {
	# Rank 1 computes 10 ms up to the barrier: 6 samples of 1 ms are of one function, 1 of another. Rank 0: 1 ms.
	planted() {
		pack <<-END
			trace ranks=2
			0 MPI_Init 0 10
			1 MPI_Init 0 10
			site site=1 offset=16 function=main file=/a/main.c line=10
			site site=2 offset=32 function=chemistry file=/a/b.f90 line=5
			site site=3 offset=48 function=other file=/a/b.f90 line=9
			sampled location=0 period_ns=1000000 until_ns=10000000 lost=0 time=500000 site=3 callers=0
			0 MPI_Barrier $1 10000100 comm=1 site=1
			sampled location=1 period_ns=1000000 until_ns=10000000 lost=0 $(columns)
			1 MPI_Barrier 10000000 10000100 comm=1 site=1
		END
	}
	columns() {
		echo time=1500000,2500000,3500000,4500000,5500000,6500000,7500000 site=2,2,2,2,2,2,3 callers=0,0,0,0,0,0,0
	}
	planted 1000000 | lp-graph 2>/dev/null >run.graph
	lp-report -F text run.graph >said
	cat said >&2
	grep -q "rank 1's computation in chemistry (b.f90) before main (main.c:10), 10 times the mean of the others, 30 % of it not on a core or not sampled, is" said
	lp-imbalance run.graph | grep -q "rank 1's computation in chemistry (b.f90) before main (main.c:10), 10 times the mean of the others,"
	planted 9900000 | lp-graph 2>/dev/null >alike.graph
	lp-report -F text alike.graph | grep -q "the ranks' computation in chemistry (b.f90) before main (main.c:10), alike on each,"
}

@test "procedures of Fortran modules are named module::procedure, whichever compiler wrote them" {
	cat >app.c <<-'END'
		#include <mpi.h>
		void gnu(void) __asm__("__grid_MOD_relax");
		void intel(void) __asm__("grid_mp_relax_");
		void llvm(void) __asm__("_QMgridPrelax");
		void plain(void) __asm__("_mp_");
		void gnu(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void intel(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void llvm(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void plain(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		int main(void) { MPI_Init(0, 0); gnu(); intel(); llvm(); plain(); return MPI_Finalize(); }
	END
	for debug in -g0 -g; do
		rm -rf run
		mpicc $debug -o app app.c
		lp-record -o run -- mpirun --oversubscribe -n 1 ./app
		lp-merge run | lp-dump -k site | jq -r 'select(.call == "MPI_Barrier").function' | sort | uniq -c >names
		[ "$(awk '$2 == "grid::relax" { print $1 }' names)" -eq 3 ]
		[ "$(wc -l <names)" -eq 2 ]
	done
}
