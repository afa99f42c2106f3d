#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lp-record and the standard ABI of MPI 5.0, with a library that translates it to MPICH's: tests/abi_library.

load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	command -v mpicc.mpich >/dev/null || return 0
	"$ROOT/tests/abi_library" .
	library PMPI_ -DTOOLS
	# One without PMPI_ functions, behind which MPICH's are in the search order.
	library none -DNONE -Wl,--no-as-needed -l:libmpich.so.12
	library eager -DEAGER
	for program in kinds mpi4; do
		mpicc.mpich -g -w -o $program.mpich "$ROOT/tests/apps/$program.c"
		of_abi -o $program "$ROOT/tests/apps/$program.c" -L PMPI_ -l:libmpi_abi.so.1
	done
	cc -w -o loaded "$ROOT/tests/apps/loaded.c" -ldl
}

# library FOLDER MACRO WORD...: builds it there
library() {
	mkdir "$1"
	mpicc.mpich -w -O0 -fPIC "$2" -c -o "$1/abi.o" abi.c
	cc -shared -Wl,-z,defs -Wl,-soname,libmpi_abi.so.1 -o "$1/libmpi_abi.so.1" "$1/abi.o" "${@:3}"
}

# of_abi WORD...: compiles with the header of the ABI
of_abi() {
	cc -g -w -I "$BATS_FILE_TMPDIR" -I "$ROOT/build/record.abi" "$@"
}

setup() {
	command -v mpicc.mpich >/dev/null || skip "no MPICH here"
	cd "$BATS_TEST_TMPDIR"
	built=$BATS_FILE_TMPDIR
	export LD_LIBRARY_PATH=$built/PMPI_
}

# rows TRACE: what was recorded but for times; which request completes first is chance, and so is the number of polls
rows() {
	lp-dump -k call "$1" | jq -r 'select(.call | test("^MPI_(I?probe|I?mprobe|improbe|Test|Request_get|Parrived|Win_test)"; "i") | not) |
		[.rank, .call, .comm, .peer, .tag, .bytes_sent, .bytes_received, .site,
		 if .call | test("any|some") then "" else (.completed // [] | map([.tag, .peer, .bytes_received]) | tostring) end] | @tsv' |
		sort
}

@test "the standard ABI: calls, peers, sizes, communicators and sites are those that MPICH's own recorder notes" {
	for program in 'kinds 4 0' 'mpi4 3 7 12'; do
		read -r name ranks arguments <<<"$program"
		for one in $name $name.mpich; do
			# shellcheck disable=SC2086
			run -0 --separate-stderr lp-record -o run -- mpirun.mpich -n "$ranks" "$built/$one" $arguments
			echo "$output" >$one.out
			lp-merge run >$one.trace
			lp-graph $one.trace 2>graph.err >$one.graph
			grep -o '[0-9]* messages and .* not;' graph.err >$one.matched
			rows $one.trace >$one.rows
			lp-dump -k communicator $one.trace | jq -c '[.size, .members, .remote_size, .type]' >$one.communicators
			lp-critpath -F json $one.graph | jq -e '.path_length_s == .run_time_s'
		done
		cmp $name.out $name.mpich.out
		cmp $name.matched $name.mpich.matched
		cmp $name.rows $name.mpich.rows
		cmp $name.communicators $name.mpich.communicators
	done
	[ "$(wc -l <kinds.rows)" -gt 200 ]
	[ "$(wc -l <mpi4.rows)" -gt 340 ]
}

@test "the ABI: a library without PMPI_ functions, above an MPI that has them with another ABI" {
	for library in PMPI_ none; do
		export LD_LIBRARY_PATH=$built/$library
		lp-record -o run -- mpirun.mpich -n 4 "$built/kinds"
		lp-merge run >trace
		rows trace >$library.rows
	done
	nm -D "$built/none/libmpi_abi.so.1" | refute grep ' PMPI_'
	readelf -d "$built/none/libmpi_abi.so.1" | grep 'NEEDED.*libmpich'
	cmp PMPI_.rows none.rows
	[ "$(wc -l <none.rows)" -gt 200 ]
}

@test "sends that are complete when they start, with one handle, and another one to MPI_PROC_NULL: each is completed once" {
	LD_LIBRARY_PATH=$built/eager lp-record -o run -- mpirun.mpich -n 4 "$built/kinds"
	lp-merge run >trace
	rows trace >eager
	lp-record -o run -- mpirun.mpich -n 4 "$built/kinds"
	lp-merge run >trace
	rows trace >rows
	cmp rows eager
	[ "$(grep -c 'MPI_Waitall.*\[0,[0-3],4\],\[1,[0-3],4\],\[2,[0-3],4\],\[3,[0-3],4\]' eager)" -eq 4 ]
}

@test "the ABI's recorder links no MPI, exports no PMPI_ function, and is taken after dlopen; another one refuses" {
	recorder=$ROOT/lib/liblongpole-record.abi.so
	readelf -d "$recorder" | refute grep 'NEEDED.*mpi'
	nm -D "$recorder" | refute grep PMPI_
	[ "$(nm -D --defined-only "$recorder" | grep -c ' T MPI_')" -gt 330 ]
	longpole --version -v | grep '^recorder for abi: .*liblongpole-record.abi.so$'
	for library in PMPI_ none eager; do
		lp-record -o run -- mpirun.mpich -n 2 "$built/loaded" "$built/$library/libmpi_abi.so.1" 257
		[ "$(lp-merge run | lp-dump -k call | grep -c MPI_Barrier)" -eq 10 ]
	done
	lp-record --mpi abi -o run -- mpirun.mpich -n 4 "$built/kinds"
	[ "$(lp-merge run | lp-dump -k call | grep -c MPI_Finalize)" -eq 4 ]
	for wrong in 'mpich kinds' 'abi kinds.mpich'; do
		run ! lp-record --mpi "${wrong% *}" -o run -- mpirun.mpich -n 4 "$built/${wrong#* }"
		[ "$(grep -c 'has another MPI than this recorder was built with: see --mpi' <<<"$output")" -eq 1 ]
	done
	[ -z "$(ls run)" ]
}

@test "Fortran with the ABI: calls are recorded in C, below the binding library, and the callers show the program" {
	cat >binding.c <<-'END'
		#include <mpi.h>
		void mpi_init_(int *ierr) { *ierr = MPI_Init(0, 0); }
		void mpi_finalize_(int *ierr) { *ierr = MPI_Finalize(); }
		void mpi_barrier_(int *comm, int *ierr) { *ierr = MPI_Barrier((MPI_Comm)(long)*comm); }
	END
	of_abi -O0 -fPIC -shared -o libmpifort_abi.so.1 binding.c
	cat >ring.f90 <<-'END'
		program ring
		integer :: ierr
		call mpi_init(ierr)
		call mpi_barrier(257, ierr)
		call mpi_finalize(ierr)
		end program
	END
	gfortran -g -o ring ring.f90 ./libmpifort_abi.so.1 -L "$built/PMPI_" -l:libmpi_abi.so.1
	LD_LIBRARY_PATH=$PWD:$built/PMPI_ lp-record --stack 2 -o run -- mpirun.mpich -n 2 ./ring
	lp-merge run >trace
	[ "$(lp-dump -k call trace | grep -c MPI_Barrier)" -eq 2 ]
	lp-dump trace | jq -e -s 'any(.[]; .file != null and (.file | test("ring.f90")) and .line == 4)'
}
