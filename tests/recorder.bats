# SPDX-License-Identifier: BSD-3-Clause
# The recorder neither harms the program that it runs in nor loses its trace.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -fno-optimize-sibling-calls -o faults "$ROOT/tests/apps/faults.c" -lpthread
	mpicc -shared -fPIC -DLIBRARY -o libmangled.so "$ROOT/tests/apps/mangled.c"
	mpicc -o mangled "$ROOT/tests/apps/mangled.c" -L. -lmangled -Wl,-rpath,"$PWD"
	gcc -shared -fPIC -o no_memory.so "$ROOT/tests/apps/no_memory.c" -ldl
	mpicc -std=c11 -g -O1 -o requests "$ROOT/tests/apps/requests.c"
	mpicc -g -O1 -w -o leaves "$ROOT/tests/apps/leaves.c" -ldl
	for calls in 3 4; do
		mpicc -g -O1 -shared -fPIC -DPART -DCALLS=$calls -o part$calls.so "$ROOT/tests/apps/leaves.c"
	done
	mpicc -shared -fPIC -o made.so "$ROOT/tests/apps/made.c" -ldl
	gcc -D_GNU_SOURCE -shared -fPIC -o coarse.so "$ROOT/tests/apps/coarse.c"
}

# on RANKS COMMAND...
on() {
	local ranks=$1
	shift
	mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" "$@"
}

# recorded [OPTION...] -- WHAT [ARGUMENT...]: two ranks of faults, merged and matched
recorded() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	lp-record "${options[@]}" -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
		"$BATS_FILE_TMPDIR/faults" "$@" 2>err
	lp-merge run 2>merge.err >t.trace
	trace.py check t.trace
	lp-graph t.trace 2>graph.err >t.graph
	grep -q ', 0 sends, 0 receives and 0 collectives not' graph.err
}

@test "a topology with any number of neighbours is recorded, with each of them" {
	for n in 1 63 64 300 20000; do
		recorded -- neighbours $n
		lp-dump -k neighbours t.trace | jq -s -e --argjson n $n \
			'length == 2 and all(.[]; .sources | length == $n)'
	done
}

@test "a trace tells its clock, and a clock may tick so seldom that most calls take no time" {
	lp-record -o fine -- mpirun --oversubscribe -n 2 "$ROOT/build/apps/heat" -n 100 -i 20 >/dev/null
	lp-merge fine | lp-dump -k environment - | jq -s -e '.[] | select(.name == "clock").value | test("^(processor|kernel), [0-9]{1,3} ns$")'
	lp-record --clock monotonic -o run -- mpirun --oversubscribe -n 2 bash -c 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"' \
		"$BATS_FILE_TMPDIR/coarse.so" "$ROOT/build/apps/heat" -n 100 -i 20 >/dev/null
	lp-merge run | lp-graph - >t.graph
	lp-dump -k environment t.graph | jq -s -e '.[] | select(.name == "clock").value == "kernel, 40000 ns"'
	lp-dump -k call t.graph | jq -s -e 'map(select(.leave_ns == .enter_ns)) | length > 50'
	trace.py check t.graph
	lp-critpath -F json t.graph | jq -e '.run_time_s > 0'
	lp-imbalance -F json t.graph | jq -e .
}

@test "a stack of 64 frames is recorded" {
	recorded --stack 64 -- deep 100
	lp-dump -k site t.trace | jq -s -e 'map(select(.stack) | .stack | length) | max == 64'
}

@test "learnt rules find the system's callers, also after another library took an address" {
	case $(uname -m) in
	x86_64) options=() ;;
	aarch64) options=(-mbranch-protection=standard) ;;	# return addresses are signed
	*) skip "elsewhere the system is asked" ;;
	esac
	gcc -g -O2 -D_GNU_SOURCE "${options[@]}" -o frames "$ROOT/tests/apps/frames.c" -lpthread -ldl
	for n in 1 3; do
		gcc -O2 -shared -fPIC -DLIBRARY=$n -o "lib$n.so" "$ROOT/tests/apps/frames.c"
	done
	./frames ./lib1.so ./lib3.so >compared || { cat compared; false; }
	grep -q '^[0-9]* compared, 6 stopped, 0 by the system, [0-9]* at the place of another; [1-9]' compared
	# An emulator of another processor chooses places by itself.
	[ "${#options[@]}" -gt 0 ] || grep -q ' [1-9][0-9]* at the place of another' compared
}

@test "more call sites than one table holds are distinguished" {
	recorded --stack 64 -- ways 14
	[ ! -s err ]
	[ "$(lp-dump -k call t.trace | jq -r 'select(.call == "MPI_Iprobe" and .rank == 1) | .site' |
		sort -u | wc -l)" -eq 16384 ]
	[ "$(lp-dump -k call t.trace | jq -r 'select(.site == null or .site == 0) | .call' | wc -l)" -eq 0 ]
}

@test "MPI_THREAD_SERIALIZED: a completion in another thread refers to its start" {
	recorded -- serialized
	grep -q '^lp-graph: 600 messages' graph.err
}

@test "a disk that fills while polls are folded leaves a valid trace up to then" {
	[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
	mkdir small
	mount -t tmpfs -o size=3000k small small || skip "no mount here"
	status=0
	# No poll yields: beside a busy process each would last for milliseconds.
	lp-record --polls fold --sync-every 0.1 -o small -- mpirun --oversubscribe -n 2 "$BATS_FILE_TMPDIR/faults" polls 2>err || status=$?
	cp -r small run
	umount small
	[ "$status" -eq 0 ]
	grep -q 'No space left on device; recording of this rank ends' err
	lp-merge run >t.trace 2>merge.err
	trace.py check t.trace
}

@test "a program that closes all descriptors keeps its files, and its trace" {
	recorded -- closes own
	grep -q '^lp-graph: 120000 messages' graph.err
}

@test "if the trace and its descriptor are gone, recording ends, not the program" {
	run -2 --separate-stderr lp-record -o run -- "$BATS_FILE_TMPDIR/faults" closes own run/rank.0
	[ "$output" = "closes: fine" ]
	[ "${stderr_lines[0]}" = "lp-record: $PWD/run/rank.0: the program has closed it, and it is not there any more; recording of this rank ends" ]
	[[ "${stderr_lines[1]}" == *"no rank was recorded"* ]]
}

@test "a truncated trace ends recording, not the program, which keeps its handling of SIGBUS" {
	for size in 0 100 5000; do
		lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
			"$BATS_FILE_TMPDIR/faults" cut run $size >out 2>err || [ $size = 0 ]
		[ "$(cat out)" = $'cut: fine\ncut: fine' ]
		[ "$(grep -c 'rank.[01]: somebody has cut it; recording of this rank ends$' err)" -eq 2 ]
	done
	recorded -- cut run -1		# nobody does
	grep -q '^lp-graph: 120400 messages' graph.err
}

@test "C functions named like other compilers' Fortran routines are left alone" {
	lp-record -o run -- mpirun --oversubscribe -n 2 "$BATS_FILE_TMPDIR/mangled" >out
	[ "$(sort -u out)" = 621 ]
	nm -D "$ROOT"/lib/liblongpole-record*.so | refute grep -E ' T (mpi_[a-z_]*[a-z]|mpi_[a-z_]*__|MPI_[A-Z_]*)$'
}

@test "a failed allocation ends recording, not the program" {
	# A folder of its own for each, several at once: n of all, and one more than there are.
	fails() {
		status=0
		SEEN=$PWD/seen.$1 FAIL=$1 lp-record --stack 3 -o run.$1 -- bash -c 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"' \
			"$BATS_FILE_TMPDIR/no_memory.so" "$BATS_FILE_TMPDIR/faults" tables >out.$1 2>err.$1 || status=$?
		[ "$(cat out.$1)" = "tables: fine" ]
		[ "$status" -eq 0 ] || grep -q 'no rank was recorded' err.$1
	}
	fails 1000
	[ ! -s err.1000 ]
	seen=$(cat seen.1000)
	[ "$seen" -gt 150 ]
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 $((seen / 3)) $((seen / 2)) $((seen - 3)) "$seen"; do
		fails "$n"
		[ "$(cat seen.$n)" -ge "$n" ]
		grep -q '^lp-record: out of memory: no room for a table; recording of this rank ends$' err.$n
	done
}

@test "no communicator is made if all ranks share a clock, nor before the end otherwise" {
	export MADE=$PWD/made
	LD_PRELOAD=$BATS_FILE_TMPDIR/made.so recorded -- serialized
	LD_PRELOAD=$BATS_FILE_TMPDIR/made.so recorded --paused -- serialized
	[ ! -e made ]
	unshare -T --monotonic 5 --fork true 2>/dev/null || skip "no time namespaces here"
	cat >own-clock <<-'END'
		#!/bin/bash
		exec unshare -T --monotonic $((7 * (OMPI_COMM_WORLD_RANK))) --fork "$@"
	END
	chmod +x own-clock
	for sync in pingpong allreduce; do
		rm -f made
		began=$EPOCHREALTIME
		LD_PRELOAD=$BATS_FILE_TMPDIR/made.so lp-record --sync $sync -o run -- mpirun --oversubscribe \
			--mca mpi_yield_when_idle 1 -n 4 ./own-clock "$BATS_FILE_TMPDIR/faults" serialized
		# Those that lead the ranks of their clock have one for themselves, in MPI_Finalize.
		[ $sync = allreduce ] || [ "$(sort made | uniq -c | tr -s ' ')" = " 4 create_group" ]
		[ $sync = pingpong ] || [ ! -e made ]
		elapsed=$(jq -n "$EPOCHREALTIME - $began")	# the last rank's clock is 21 s ahead
		lp-merge run | lp-dump -k run | jq -e --argjson elapsed "$elapsed" '.run_ns < 1e9 * $elapsed'
	done
}

@test "a file in a trace's place is neither followed, waited for, nor removed" {
	mkdir run
	echo theirs >target
	# After lp-record has looked, before the rank does.
	refused() {
		status=0
		timeout -k 1 300 lp-record -o run -- bash -c "$1; mpirun --oversubscribe -n 2 '$BATS_FILE_TMPDIR/faults' \
			messages 5" 2>err || status=$?
		[ "$status" -eq 0 ]
		grep -q "lp-record: .*/run/rank.1: File exists; recording of this rank ends" err
	}
	refused "echo notes >run/rank.1"
	[ "$(cat run/rank.1)" = notes ]
	rm run/rank.1
	refused 'ln -s "$PWD/target" run/rank.1'
	[ "$(cat target)" = theirs ]
	[ -L run/rank.1 ]
	rm run/rank.1
	refused 'mkfifo run/rank.1'
	[ -p run/rank.1 ]
	run -2 --separate-stderr timeout -k 1 300 lp-record -o run "$BATS_FILE_TMPDIR/faults" messages 5
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ -p run/rank.1 ]
}

# left STATUS ROWS WHAT...: leaves ends as it does without the recorder; each rank has so many barriers
left() {
	local status=0 bare=0
	on 2 "$BATS_FILE_TMPDIR/leaves" "${@:3}" >bare.out 2>bare.err </dev/null || bare=$?
	timeout -k 1 300 lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
		"$BATS_FILE_TMPDIR/leaves" "${@:3}" >out 2>err </dev/null || status=$?
	[ "$status" -eq "$1" ]
	[ "$bare" -eq "$1" ]
	cmp bare.out out
	refute grep lp-record: err
	lp-merge run 2>merge.err >t.trace
	trace.py check t.trace
	[ "$(lp-dump -k call t.trace | jq -s -c '[range(2) as $r | map(select(.rank == $r and .call == "MPI_Barrier")) |
		length]')" = "[$2,$2]" ]
}

@test "a call left by longjmp has no row, and all later calls are recorded" {
	left 0 15 jump
	[ ! -s merge.err ]
	[ "$(lp-dump -k call t.trace | grep -c -e MPI_Send -e MPI_Finalize)" -eq 2 ]
}

@test "a trace has no name before it has its rank" {
	cat >dies.c <<-'END'
		#include <mpi.h>
		#include <unistd.h>
		int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
		int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
		{
			static int calls;
			int rank;
			PMPI_Comm_rank(comm, &rank);
			if (rank == 1 && ++calls == 2)
				_exit(3);
			if (rank != root)
				return PMPI_Recv(buffer, count, type, root, 1, comm, MPI_STATUS_IGNORE);
			PMPI_Comm_size(comm, &rank);
			while (--rank > 0)
				PMPI_Send(buffer, count, type, rank, 1, comm);
			return MPI_SUCCESS;
		}
	END
	mpicc -shared -fPIC -o dies.so dies.c
	run -3 env LD_PRELOAD="$PWD/dies.so" timeout -k 1 300 lp-record -o run -- mpirun --oversubscribe \
		--mca mpi_yield_when_idle 1 -n 2 "$BATS_FILE_TMPDIR/leaves" jump
	[ ! -e run/rank.1 ]
	lp-merge run 2>err >t.trace
	grep -q 'rank 1 is missing' err
	lp-record -o run -- "$BATS_FILE_TMPDIR/leaves" finalize
	[ "$(ls -A run)" = rank.0 ]
}

# counted.so writes to counts.RANK how often the process called each of these.
counted() {
	cat >counted.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <unistd.h>
		static int stacks, calls;
		int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
		{
			int (*next)(pthread_t, pthread_attr_t *) = dlsym(RTLD_NEXT, "pthread_getattr_np");
			stacks++;
			return next(thread, attributes);
		}
		ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
		{
			ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
			calls++;
			return next(fd, bytes, size, at);
		}
		int posix_fallocate(int fd, off_t at, off_t size)
		{
			int (*next)(int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
			calls++;
			return next(fd, at, size);
		}
		__attribute__((destructor)) static void tell(void)
		{
			char name[100];
			FILE *file;
			if (getenv("OMPI_COMM_WORLD_RANK") == NULL)
				return;
			snprintf(name, sizeof name, "counts.%s", getenv("OMPI_COMM_WORLD_RANK"));
			file = fopen(name, "w");
			fprintf(file, "stacks=%d calls=%d\n", stacks, calls);
			fclose(file);
		}
	END
	gcc -shared -fPIC -o counted.so counted.c -ldl
	LD_PRELOAD=$PWD/counted.so lp-record -o run -- mpirun --oversubscribe -n 1 "$@"
	# shellcheck source=/dev/null
	. ./counts.0
}

@test "the system is asked once per thread for its stack, and seldom for memory" {
	local stacks calls
	cat >many.c <<-'END'
		#include <mpi.h>
		#include <setjmp.h>
		static jmp_buf back;
		static void leave(MPI_Comm *comm, int *error, ...) { (void)comm; (void)error; longjmp(back, 1); }
		int main(int argc, char **argv)
		{
			MPI_Errhandler handler;
			MPI_Init(&argc, &argv);
			MPI_Comm_create_errhandler(leave, &handler);
			MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
			for (volatile int i = 0; i < 500; i++) {
				MPI_Comm comm;
				int x = 0;
				if (!setjmp(back))
					MPI_Send(&x, 1, MPI_INT, 5, 1, MPI_COMM_WORLD);
				MPI_Comm_dup(MPI_COMM_SELF, &comm);
				MPI_Comm_free(&comm);
			}
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -g -O1 -o many many.c
	counted ./many
	[ "$stacks" -le 2 ]
	[ "$calls" -lt 40 ]	# they are stores into a mapping
	lp-merge run >t.trace
	[ "$(lp-dump -k communicator t.trace | wc -l)" -eq 500 ]
}

@test "only those of the recorder's functions that a program calls are looked up" {
	LD_DEBUG=symbols LD_DEBUG_OUTPUT=$PWD/looked run lp-record -o run -- "$BATS_FILE_TMPDIR/leaves"
	[ -e run/rank.0 ]
	[ "$(grep -ch 'symbol=mpi_send_;.*/liblongpole-record\.' looked.* | sort -n | tail -1)" -eq 0 ]
	[ "$(grep -ch 'symbol=MPI_Init;.*/liblongpole-record\.' looked.* | sort -n | tail -1)" -ge 1 ]
}

@test "a program that ends in a signal handler leaves the calls that had returned" {
	left 1 10 exit 0	# says mpirun, as MPI_Finalize was not called
	[ "$(grep -c 'ended early, after 11 rows' merge.err)" -eq 2 ]
	left 3 10 exit 3
	left 4 10 _exit 4
	left 0 10 finalize
	[ ! -s merge.err ]
}

@test "children by fork, vfork and posix_spawn, and exec of the process, change nothing" {
	left 0 15 exec
	[ ! -s merge.err ]
	[ "$(find run -type f | sort | paste -sd' ')" = "run/rank.0 run/rank.1" ]
}

@test "if a library replaces another at its addresses, both keep their own call sites" {
	left 0 22 unload "$BATS_FILE_TMPDIR/part3.so" "$BATS_FILE_TMPDIR/part4.so"
	lp-dump -k module t.trace | jq -r '"\(.module) \(.path)"' | grep part >modules
	lp-dump -k site,module,call t.trace | jq -s -r '
		(map(select(.kind == "module")) | INDEX(.module)) as $modules | (map(select(.kind == "site")) | INDEX(.site)) as $sites |
		.[] | select(.kind == "call" and .call == "MPI_Barrier") | $sites["\(.site)"] |
		"\($modules["\(.module)"].path | split("/") | last) \(.function)"' | sort | uniq -c | tr -s ' ' >where
	[ "$(grep part where | paste -sd,)" = " 6 part3.so call_mpi, 8 part4.so call_mpi" ]
	# With callers, too.
	lp-record --stack 3 -o run -- mpirun --oversubscribe -n 2 "$BATS_FILE_TMPDIR/leaves" unload \
		"$BATS_FILE_TMPDIR/part3.so" "$BATS_FILE_TMPDIR/part4.so" >out
	lp-merge run >t.trace
	trace.py check t.trace
	[ "$(lp-dump -k site t.trace | jq -s -r 'INDEX(.site) as $s | [.[] | select(.stack) | $s["\(.stack[0])"].module] | unique | length')" -ge 3 ]
}

@test "ThreadSanitizer finds no race in the recorder under MPI_THREAD_MULTIPLE" {
	# Without the wrappers of Fortran, which nobody calls here and which are half of the work of the compiler.
	local GLOBIGNORE='*/fortran*.c'
	# The library is linked, not preloaded, as the sanitizer starts before the preloaded ones; threads begin in its hands.
	echo '#include <stdint.h>
		int64_t (*_Atomic longpole_thread_begins)(int64_t);
		int _Atomic longpole_threads_to_begin;' >began.c
	echo 'int main(void) { return 0; }' >none.c
	cc -fsanitize=thread -o none none.c || skip "no ThreadSanitizer here"
	mpicc -std=c11 -D_GNU_SOURCE -g -fPIC -fvisibility=hidden -fsanitize=thread -shared \
		-o libtsan-recorder.so began.c "$ROOT"/record/preload/*.c "$ROOT"/build/record.front/{signals,unload,regions,tools}.o -lpthread -ldl
	mpicc -g -O1 -fsanitize=thread -o threads "$ROOT/tests/apps/threads.c" "$PWD/libtsan-recorder.so" \
		-lpthread
	printf '%s\n' called_from_lib:libmpi.so called_from_lib:libopen-pal called_from_lib:libopen-rte \
		race:libmpi race:libopen-pal race:mca_ >suppressions
	mkdir run
	export TSAN_OPTIONS="suppressions=$PWD/suppressions ignore_noninstrumented_modules=1 log_path=$PWD/races"
	status=0
	# UCX puts hooks into the end of threads, where the sanitizer's own state is gone already.
	export OMPI_MCA_pml=ob1 OMPI_MCA_osc=$OMPI_MCA_osc,ucx
	# PMIx of Open MPI 5 maps memory where the sanitizer has its own, unless it is told not to.
	PMIX_MCA_gds=hash LONGPOLE_DIR=$PWD/run LONGPOLE_OPTIONS=stack=1,segment_bytes=8192 on 2 setarch -R ./threads || status=$?
	[ -z "$(cat races.* 2>/dev/null)" ]
	[ "$status" -ne 139 ] || skip "the sanitizer ends before the program begins, as it does at times"
	lp-merge run | lp-graph 2>graph.err >t.graph
	grep -q '920 messages.* matched, 0 sends, 0 receives and 0 collectives not' graph.err
	[ -e run/rank.1.0001 ]
}

@test "MPI 4 under MPICH: every message, including partitions, is matched with the received one" {
	command -v mpicc.mpich >/dev/null || skip "no MPICH here"
	mpicc.mpich -g -w -o mpi4 "$ROOT/tests/apps/mpi4.c" || skip "no MPI 4 here"
	for seed in $(short_or_long '1' '1 2 3'); do
		mpirun.mpich -n 3 ./mpi4 $seed 60 >bare
		lp-record --polls fold -o run -- mpirun.mpich -n 3 ./mpi4 $seed 60 >out
		cmp bare out
		lp-merge run >t.trace
		lp-graph t.trace 2>graph.err >t.graph
		grep -q ', 0 sends, 0 receives and 0 collectives not' graph.err
		trace.py check t.graph
		round_trip t.trace
		[ "$(same_sizes t.graph)" -gt 200 ]
		lp-critpath -F json t.graph | jq -e '.run_time_s == .path_length_s'
		lp-imbalance t.graph >waits
		lp-replay t.graph >replayed
	done
	# A persistent collective begins with MPI_Start, and a partitioned message leaves with its last part.
	lp-dump -k call t.graph | jq -s -e '[.[] | select(.rank == 0)] |
		([.[] | select(.call == "MPI_Start(Allreduce)")] | length > 0 and all(.comm == 1)) and
		([.[] | select(.call | test("Pready.*last"))] | length > 0 and all(.peer == 1 and .bytes_sent > 0))'
	lp-dump -k message t.graph | jq -s -e 'length > 200'
}

@test "MPIX: persistent collectives of Open MPI 4 are matched at their start" {
	cat >mpix.c <<-'END'
		#include <mpi.h>
		#include <mpi-ext.h>
		int main(int argc, char **argv)
		{
			int in = 1, out;
			MPI_Request requests[2];
			MPI_Init(&argc, &argv);
			MPIX_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
			MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
			for (int i = 0; i < 3; i++) {
				MPI_Startall(2, requests);
				MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
			}
			MPI_Request_free(&requests[0]);
			MPI_Request_free(&requests[1]);
			MPI_Finalize();
			return out != 2;
		}
	END
	mpicc -o mpix mpix.c 2>err || skip "this MPI has none"
	lp-record -o run -- mpirun --oversubscribe -n 2 ./mpix
	lp-merge run | lp-graph 2>graph.err >t.graph
	grep -q ' and 8 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
}

@test "sessions without MPI_Init are recorded, and matched on communicators made from groups" {
	mpicc.mpich -g -w -o sessions "$ROOT/tests/apps/sessions.c" || skip "no sessions here"
	lp-record -o run -- mpirun.mpich -n 3 ./sessions >out
	# MPICH 4.2 may put the lines of several ranks into one.
	[ "$(grep -o 'sessions: fine' out | wc -l)" -eq 3 ]
	for rank in 0 1 2; do
		trace.py check run/rank.$rank
	done
	lp-merge run 2>merge.err | lp-graph 2>graph.err >t.graph
	[ ! -s merge.err ]
	grep -q '50 messages and 4 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	[ "$(same_sizes t.graph)" -eq 50 ]
	lp-critpath -F json t.graph | jq -e '.run_time_s == .path_length_s'
}

@test "overlapping sessions that come and go are recorded, more than are open at a time" {
	cat >rounds.c <<-'END'
		#include <mpi.h>
		static void round_of(int i)
		{
			int rank, size, in;
			MPI_Session session;
			MPI_Group group;
			MPI_Comm comm;
			MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
			MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
			MPI_Comm_create_from_group(group, "round", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
			MPI_Comm_rank(comm, &rank);
			MPI_Comm_size(comm, &size);
			MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, comm,
			    MPI_STATUS_IGNORE);
			MPI_Barrier(comm);
			MPI_Group_free(&group);
			MPI_Comm_free(&comm);
			MPI_Session_finalize(&session);
		}
		int main(void)
		{
			MPI_Session open;
			MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &open);
			for (int i = 0; i < 70; i++)
				round_of(i);
			MPI_Session_finalize(&open);
			return 0;
		}
	END
	mpicc.mpich -w -o rounds rounds.c || skip "no sessions here"
	lp-record -o run -- mpirun.mpich -n 3 ./rounds
	lp-merge run 2>merge.err | lp-graph 2>graph.err >t.graph
	[ ! -s merge.err ]
	grep -q '210 messages and 140 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
	[ "$(lp-dump -k call t.graph | grep -c Session_init)" -eq 213 ]
}

@test "sessions in Fortran, by use mpi and use mpi_f08, are recorded as in C" {
	command -v mpifort.mpich >/dev/null || skip "no MPICH here"
	cat >body.inc <<-'END'
		  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierr)
		  call MPI_Group_from_session_pset(session, "mpi://WORLD", group, ierr)
		  call MPI_Comm_create_from_group(group, "f", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierr)
		  call MPI_Comm_rank(comm, rank, ierr)
		  call MPI_Comm_size(comm, size, ierr)
		  do i = 1, 10
		    call MPI_Sendrecv(out, i * size + rank, MPI_INTEGER, mod(rank + 1, size), i, in, 200, MPI_INTEGER, &
		      mod(rank + size - 1, size), i, comm, MPI_STATUS_IGNORE, ierr)
		  end do
		  call MPI_Barrier(comm, ierr)
		  call MPI_Group_free(group, ierr)
		  call MPI_Comm_free(comm, ierr)
		  call MPI_Session_finalize(session, ierr)
	END
	printf '%s\n' 'program s' '  use mpi' '  implicit none' '  integer :: session, group, comm' \
		'  integer :: rank, size, i, ierr, out(200), in(200)' "  include 'body.inc'" 'end program' >mpi.f90
	sed 's/use mpi/use mpi_f08/; s/integer :: session, group, comm/type(MPI_Session) :: session; type(MPI_Group) :: group; type(MPI_Comm) :: comm/' \
		mpi.f90 >f08.f90
	for form in mpi f08; do
		mpifort.mpich -g -w -o $form $form.f90 || skip "no sessions here"
		lp-record -o run -- mpirun.mpich -n 3 ./$form >out 2>err || { cat err; false; }
		refute grep lp-record: err
		lp-merge run 2>merge.err >t.trace
		[ ! -s merge.err ]
		lp-graph t.trace 2>graph.err >t.graph
		grep -q '30 messages and 2 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
		lp-dump -k call t.trace | jq -r 'select(.rank == 1).call' | sort | uniq -c >$form.calls
	done
	cmp mpi.calls f08.calls
	grep -q ' 1 MPI_Session_init' f08.calls
	grep -q ' 1 MPI_Session_finalize' f08.calls
}

@test "large counts of mpi_f08 leave the same rows as ordinary ones" {
	command -v mpifort.mpich >/dev/null || skip "no MPICH here"
	cat >large.F90 <<-'END'
		program large
		  use mpi_f08
		  implicit none
		  type(MPI_Request) :: requests(2)
		  integer :: rank, size, from, to, i
		  integer(COUNT) :: n
		  integer, asynchronous :: out(100), in(100)
		  call MPI_Init()
		  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
		  call MPI_Comm_size(MPI_COMM_WORLD, size)
		  to = mod(rank + 1, size)
		  from = mod(rank + size - 1, size)
		  out = rank
		  do i = 1, 5
		    n = 10 * i
		    call MPI_Irecv(in, n, MPI_INTEGER, from, i, MPI_COMM_WORLD, requests(1))
		    call MPI_Isend(out, n, MPI_INTEGER, to, i, MPI_COMM_WORLD, requests(2))
		    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
		    call MPI_Sendrecv(out, n, MPI_INTEGER, to, i, in, n, MPI_INTEGER, from, i, MPI_COMM_WORLD, &
		      MPI_STATUS_IGNORE)
		    call MPI_Bcast(in, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
		    call MPI_Allreduce(out, in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
		    if (in(1) /= size * (size - 1) / 2) stop 3
		  end do
		  call MPI_Finalize()
		end program
	END
	for count in 4 MPI_COUNT_KIND; do
		mpifort.mpich -g -w -DCOUNT=$count -o large.$count large.F90 || skip "no large counts here"
		lp-record -o run -- mpirun.mpich -n 3 ./large.$count 2>err
		[ ! -s err ]
		lp-merge run >t.trace
		lp-graph t.trace 2>graph.err >t.graph
		grep -q '30 messages and 12 collectives matched, 0 sends, 0 receives and 0 collectives not' graph.err
		[ "$(same_sizes t.graph)" -eq 30 ]
		lp-dump -k call t.trace | jq -c '[.rank, .call, .peer, .tag, .bytes_sent, .bytes_received]' | sed 's/_c"/"/' | sort >rows.$count
	done
	nm -D large.MPI_COUNT_KIND | grep -qE 'mpi_isend_(f08ts_large|c_f08ts)_'	# of MPICH 4.0, of 4.2
	cmp rows.4 rows.MPI_COUNT_KIND
}

@test "unrecorded functions that a program uses are named once, at the end" {
	cat >general.c <<-'END'
		#include <mpi.h>
		static int query(void *extra, MPI_Status *status)
		{
			(void)extra;
			MPI_Status_set_elements(status, MPI_INT, 0);
			MPI_Status_set_cancelled(status, 0);
			return MPI_SUCCESS;
		}
		static int done(void *extra) { (void)extra; return MPI_SUCCESS; }
		static int cancel(void *extra, int complete) { (void)extra; (void)complete; return MPI_SUCCESS; }
		int main(int argc, char **argv)
		{
			MPI_Request request;
			int size;
			MPI_Init(&argc, &argv);
			MPI_Grequest_start(query, done, cancel, 0, &request);
			MPI_Grequest_complete(request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Type_size(MPI_INT, &size);
			MPI_Comm_size(MPI_COMM_WORLD, &size);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o general general.c
	lp-record -o run -- mpirun --oversubscribe -n 2 ./general 2>err
	line="lp-record: the program uses 2 MPI functions that are not recorded: MPI_Grequest_complete, MPI_Grequest_start"
	[ "$(cat err)" = "$line" ]
	# Also by a program whose hash table has no symbol at all, as on AArch64.
	part() { cc -print-file-name="$1"; }
	mpicc -nostartfiles -o hashless "$(part Scrt1.o)" "$(part crti.o)" general.c "$(part crtn.o)"
	lp-record -o run -- mpirun --oversubscribe -n 2 ./hashless 2>err
	[ "$(cat err)" = "$line" ]
	# So are those of a program whose rank 0 exits before MPI_Finalize, or aborts; a launcher ends the others.
	for end in 'exit(3)' 'MPI_Abort(MPI_COMM_WORLD, 3)'; do
		sed "s/MPI_Finalize()/MPI_Comm_rank(MPI_COMM_WORLD, \\&size); if (size == 0) $end; MPI_Barrier(MPI_COMM_WORLD)/" general.c |
			sed '1i #include <stdlib.h>' >ends.c
		mpicc -o ends ends.c
		status=0
		lp-record -o run -- mpirun --oversubscribe -n 2 ./ends 2>err || status=$?
		[ $status -eq 3 ]
		[ "$(tr -d '\0' <err | grep '^lp-record')" = "$line" ]	# Open MPI 5 may end its message of MPI_Abort with a zero byte
	done
	lp-record -o run -- mpirun --oversubscribe -n 2 "$BATS_FILE_TMPDIR/faults" messages 5 2>err
	[ ! -s err ]
}

@test "functions that only mpicxx compiles into a C++ program are not reported as used" {
	printf '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n' >empty.cpp
	mpicxx -o empty empty.cpp
	lp-record -o run -- mpirun --oversubscribe -n 1 ./empty 2>err
	[ ! -s err ]
}

# named TABLE: functions that are named when called; those of MPI 4.1 and types of the header apart
named() {
	grep 'named when called' "$1" | cut -f 1 | grep -vE 'MPIX|_buffer(_c)?$|_Buffer_i?flush$|_get_status_a(ll|ny)$|_get_status_some$' |
		grep -vE '^MPI_(Aint|Comm|Count|Datatype|Errhandler|File|Fint|Group|Info|Message|Offset|Op|Request|Session|Status|Win)$'
}

@test "every function of the header is recorded, needs no row, or is named if called" {
	"$ROOT/tests/mpi_table" mpicc "$ROOT/lib/liblongpole-record.openmpi.so" >table
	[ "$(grep -c 'recorded$' table)" -gt 170 ]
	diff <(named table) <(printf '%s\n' MPI_Grequest_complete MPI_Grequest_start)
	command -v mpicc.mpich >/dev/null || skip "no MPICH here"
	"$ROOT/tests/mpi_table" mpicc.mpich "$ROOT/lib/liblongpole-record.mpich.so" >table
	[ "$(grep -c 'recorded$' table)" -gt 330 ]
	diff <(named table) <(printf '%s\n' MPI_Grequest_complete MPI_Grequest_start)
	# Nothing that communicates, synchronises or completes hides behind a pattern.
	grep 'no row' table | cut -f 1 | grep -E '_(I?(send|recv|bcast|barrier|reduce|allreduce|gather|scatter|alltoall|scan)|start|wait|test|fence|lock)(all|any|some|v|w|_c|_init)*$' | refute grep -v -e MPI_T_ -e Topo_test
}

@test "each of 3000 open requests refers to the row that completed it, however it is kept" {
	lp-record -o run -- "$BATS_FILE_TMPDIR/requests" open
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s '[.[] | .completed // [] | .[]]' >completed
	# The receive with tag N is row N + 1; a third of a third was cancelled.
	jq -e '([.[] | .seq | select(. >= 1 and . <= 3000)] | sort) == [range(1; 3001)]' completed
	jq -e '[.[] | select(.tag != null and .tag < 3000) | select(.seq != .tag + 1)] == []' completed
	[ "$(jq '[.[] | select(.tag != null and .tag < 3000)] | length' completed)" -eq 2664 ]
	lp-graph t.trace 2>graph.err >t.graph
	grep -q '^lp-graph: 2706 messages.* matched, 0 sends, 0 receives' graph.err
}

# blocks: how many blocks the trace has, and how many without a hash
blocks() {
	PYTHONPATH=$ROOT/python /usr/bin/python3 -c '
import longpole.stream as stream
hashes = [m.body["xxh3"] for m in stream.open("run/rank.0") if m.kind == "calls"]
print(len(hashes), hashes.count(0))'
}

@test "full blocks have hashes that detect damage; the last block of a killed rank has none" {
	mkfifo input
	lp-record -o run -- "$BATS_FILE_TMPDIR/requests" rows 200000 <input >out 3>&- &
	local recorder=$!
	exec 7>input
	until [ "$(cat out)" = half ]; do sleep 0.05; done
	cp -r run half
	exec 7>&-
	wait "$recorder"
	read -r count without < <(blocks)
	[ "$count" -gt 40 ]
	[ "$without" -eq 0 ]
	[ "$(tail -c 1024 run/rank.0 | grep -c xxh3)" -ge 1 ]	# nothing is behind the end
	lp-merge run | lp-dump -k call | grep -c MPI_Iprobe | grep -qx 400000
	printf 'x' | dd of=run/rank.0 bs=1 seek=5000000 conv=notrunc status=none
	run -2 --separate-stderr lp-merge run
	[[ "$stderr" == *"calls: damaged: its hash is wrong"* ]]
	rm -r run
	mv half run
	read -r count without < <(blocks)
	[ "$count" -gt 20 ]
	[ "$without" -eq 1 ]
}

@test "a shell reads back the command line in a trace unchanged" {
	run lp-record -o run -- "$BATS_FILE_TMPDIR/faults" "it's" 'a b' ''
	lp-merge run | lp-dump -k longpole | jq -r '.history[0]' >line
	eval "set -- $(cat line)"
	[ $# -eq 4 ]
	[ "$2$3" = "it'sa b" ]
}

@test "a request that began while recording was paused completes without a row that began it" {
	cat >resumed.c <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			int in, out = 1;
			MPI_Request requests[2];
			MPI_Init(&argc, &argv);
			MPI_Pcontrol(0);
			MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
			MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
			MPI_Pcontrol(1);
			MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
			return MPI_Finalize();
		}
	END
	mpicc -o resumed resumed.c
	lp-record -o run -- mpirun --oversubscribe -n 1 ./resumed
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -se '[.[] | select(.call == "MPI_Waitall") | .completed] | . == [[]] or . == [null]'
}
