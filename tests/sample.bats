# SPDX-License-Identifier: BSD-3-Clause
# Samples of computation: lp-record --sample, and the path by function.
bats_require_minimum_version 1.5.0
load helpers
load sampled

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	local apps=$ROOT/tests/apps
	mpicc -g -O2 -o planted "$apps/sampled.c" "$apps/sampled_work.c"
	gcc -g -O2 -fPIC -shared -o libplanted.so "$apps/sampled_work.c"
	mpicc -g -O2 -o planted_shared "$apps/sampled.c" -L. -lplanted -Wl,-rpath,"$PWD"
	gcc -g -O2 -c "$apps/sampled_work.c"
	mpicxx -g -O2 -o planted_cpp "$apps/sampled.cpp" sampled_work.o
	mpifort -g -O2 -o planted_fortran "$apps/sampled.f90"
	mpicc -g -O2 -o comes_and_goes "$apps/comes_and_goes.c" sampled_work.o -lpthread
	mpicc -g -O2 -o off_core "$apps/off_core.c" sampled_work.o
	probe_samples ./planted 0.1
}

@test "planted functions have their time, on the path and off it, and add up to the path" {
	for program in planted:long_work:short_work planted_shared:long_work:short_work \
		planted_cpp:long_loop:short_work planted_fortran:long_part:short_part; do
		local words=(${program//:/ })
		for try in 1 2 3 4 5; do
			sampled ${words[0]}
			status=0
			lp-critpath -F json t.graph | sample_check.py ${words[1]} ${words[2]} || status=$?
			[ $status -eq 3 ] || break	# the path led elsewhere, as other programs had the cores
		done
		[ $status -eq 0 ]
	done
}

@test "an inlined function is named with its class, and its callers are on the stack" {
	sampled planted_cpp
	lp-critpath -F json t.graph | jq -e '.by_function | map(select(.function | test("work::adder<double>::long_loop"))) | length == 1'
	lp-critpath -F folded t.graph | grep -qE '^path;.*main;work::adder<double>::long_loop'
	# Both stacks add up: those of the path to its length.
	[ "$(lp-critpath -F folded t.graph | awk '/^path;/ { s += $NF } END { printf "%.0f", s }')" = \
		"$(lp-critpath -F json t.graph | sed -n 's/^"path_length_s":0*\([0-9]*\)\.\([0-9]*\).*/\1\2/p' | sed 's/^0*//')" ]
	lp-critpath -F speedscope t.graph | jq -e '(.profiles | length == 2) and (.profiles[0] |
		.type == "sampled" and (.samples | length) == (.weights | length) and (.weights | add) == .endValue) and
		([.profiles[].samples[][]] | max) < (.shared.frames | length)'
}

@test "time off the path is separated, unlike in a profile" {
	sampled planted
	lp-critpath -F text t.graph >text
	grep -q '^path_%	error_%	path_s	with_called_%	all_%	all_s	function$' text
	grep -q 'long_work (sampled_work.c:' text
	lp-critpath -F json t.graph | jq -e '(.by_function | map({ (.function): . }) | add) |
		.long_work.path_s * .short_work.all_s > .short_work.path_s * .long_work.all_s'
}

@test "a function's gain equals the run without it: up to where another rank takes over" {
	# Rank 0 takes 0.4 s, of which 0.3 are long_work; the other rank has 0.05 s to do meanwhile: more where
	# the machine has other work, so that there may be nothing to gain.
	for try in 1 2 3 4 5; do
		sampled planted
		lp-gain --gain 100 -F json t.graph >gain.json
		jq -e '.gain_by_function | map(select(.function == "long_work"))[0] | .gain_s <= .at_most_s' gain.json
		[ "$try" -lt 5 ]
		if jq -e '.gain_by_function | map(select(.function == "long_work"))[0].gain_s > 0' gain.json; then break; fi
	done
	jq -e '(.gain_by_function | map(select(.function == "short_work"))[0]) as $short | .gain_by_function[0].gain_s >= $short.gain_s' gain.json
	lp-gain --gain 50 -F text t.graph | grep -q '^if the function took 50 % less time, on all ranks$'
}

@test "a replay, which has other times, has no samples" {
	sampled planted 0.1
	lp-replay t.graph >replayed 2>/dev/null
	lp-dump -k sampled t.graph >/dev/null
	run -2 lp-dump -k sampled replayed
}

@test "without --sample neither trace nor reports mention samples" {
	lp-record -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/planted" 0.05
	lp-merge run | lp-graph 2>/dev/null >t.graph
	[ "$(lp-dump t.graph | grep -c '"sampled"')" -eq 0 ]
	lp-critpath -F json t.graph | jq -e 'has("by_function") | not'
	run -2 --separate-stderr lp-critpath -F folded t.graph
	[ "$stderr" = "lp-critpath: t.graph: no samples: lp-record --sample takes them" ]
}

@test "threads that come and go, forks and system calls are the same as without samples" {
	lp-record --sample 1000 -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/comes_and_goes" 1000 >out
	[ "$(sort -u out)" = "1000 threads, 0 calls interrupted, child 7" ]
	lp-merge run >t.trace
	# A thread that makes no calls is a worker of its rank; a child's time is not the rank's.
	lp-dump -k sampled t.trace | jq -s -e 'map(select(.worker)) | map(.count) | add > 100'
	lp-graph t.trace 2>/dev/null | lp-critpath -F json >path.json
	jq -e '.by_function | map(select(.function == "short_work"))[0].all_s | . > 0.1 and . < 0.5' path.json	# seen from the first look on
	# Starting threads takes time in the kernel, of which no function has a share: each rank computes 0.1 s.
	jq -e '.by_function | map(select(.function == "long_work"))[0] | .all_s > 0.17 and .all_s < 0.21 and .path_s <= 0.001 * .samples' path.json
	jq -e '(.by_function | map(select(.function == "(on a core, not sampled)"))[0].path_s) as $unsampled |
		($unsampled - ([.computation.on_core_s - 0.001 * .computation.samples, 0] | max) | fabs) < 1e-6' path.json
	local unsampled=$(jq '.by_function | map(select(.function == "(on a core, not sampled)"))[0].path_s * 1e9 | round' path.json)
	[ "$unsampled" -gt 0 ]
	lp-graph t.trace 2>/dev/null | lp-critpath >t.path
	lp-critpath -F folded t.path | grep -qxF "path;(on a core, not sampled) $unsampled"
	lp-compare -F json t.path -- t.path | jq -e --argjson ns "$unsampled" '.functions |
		map(select(.function == "(on a core, not sampled)"))[0].path_a_s * 1e9 | round == $ns'
	lp-report t.path | grep -qF '(on a core, not sampled)'
}

@test "a killed rank leaves the samples up to the last read, and its time" {
	cat >killed.c <<-END
		#include <mpi.h>
		#include <signal.h>
		#include <unistd.h>
		#include "sampled_work.h"
		int main(int c, char **v) {
			MPI_Init(&c, &v);
			for (int i = 0; i < 4; i++) { long_work(0.15); MPI_Barrier(MPI_COMM_SELF); }
			kill(getpid(), SIGKILL);
		}
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o killed killed.c "$BATS_FILE_TMPDIR/sampled_work.o"
	run lp-record --sample 1000 -o run -- $RUN -n 1 ./killed
	lp-merge run >t.trace 2>/dev/null
	lp-dump -k sampled t.trace | jq -s -e '(map(.count) | add) > 300 and all(.until_ns > 0)'
}

@test "a program that ends without MPI_Finalize has all its samples" {
	cat >ends.c <<-END
		#include <mpi.h>
		#include <stdlib.h>
		#include "sampled_work.h"
		int main(int c, char **v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_SELF); long_work(0.3); exit(0); }
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o ends ends.c "$BATS_FILE_TMPDIR/sampled_work.o"
	run lp-record --sample 1000 -o run -- $RUN -n 1 ./ends
	lp-merge run 2>/dev/null | lp-dump -k sampled | jq -s -e '(map(.count) | add) > 250'
}

@test "compressed and concatenated traces have the same samples" {
	sampled planted 0.3
	lp-dump -k sampled t.trace | jq -c '[.count, .time[0]]' >plain
	cat run/rank.* | lp-merge | lp-dump -k sampled | jq -c '[.count, .time[0]]' >joined
	cmp plain joined
	lp-record --sample 1000 -z min -o small -- $RUN -n 2 "$BATS_FILE_TMPDIR/planted" 0.3
	lp-merge small | lp-graph 2>/dev/null | lp-critpath -F json | jq -e '.by_function | map(.samples) | add > 50'
}

@test "counters ride on samples: planted page faults are counted, and one line names what is not there" {
	cat >fresh.c <<-END
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <mpi.h>
		#include <stdarg.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include "sampled_work.h"
		/* The recorder calls this to add a counter to the samples: there is time for some before. */
		long syscall(long number, ...) {
			long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
			va_list list;
			va_start(list, number);
			for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
			va_end(list);
			if (number == SYS_perf_event_open && (int)a[3] >= 0) long_work(0.003);
			return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
		}
		int main(int c, char **v) {	/* rank 1 touches 10000 pages of fresh memory */
			int rank;
			MPI_Init(&c, &v);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			for (int i = 0; i < 10; i++) {
				long_work(0.01);
				if (rank == 1) {
					char *p = mmap(NULL, 4096000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
					madvise(p, 4096000, MADV_NOHUGEPAGE);
					for (int k = 0; k < 1000; k++) p[4096 * k] = 1;
					munmap(p, 4096000);
				}
				long_work(0.01);
				MPI_Barrier(MPI_COMM_WORLD);
			}
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -rdynamic -I"$ROOT/tests/apps" -o fresh fresh.c "$BATS_FILE_TMPDIR/sampled_work.o" -ldl
	for more in "" "--sample-stack 1024"; do
		rm -rf run
		lp-record --sample 1000 $more --counters all -o run -- $RUN -n 2 ./fresh 2>err
		[ "$(grep -c '^lp-record: --counters: not counted here:' err)" -le 1 ]
		trace.py check run/rank.*
		lp-merge run >t.trace
		trace.py check t.trace
		lp-dump -k sampled t.trace | jq -s 'map(select(.worker == null)) | group_by(.location) |
			map({ page_faults: (map(.page_faults // [] | add // 0) | add), task_clock: (map(.task_clock | add // 0) | add) })' >counts
		jq -e '.[1].page_faults >= 10000 and .[1].page_faults < 12000 and .[0].page_faults < 2000 and all(.[]; .task_clock >= 0.2e9)' counts ||
			{ cat counts; false; }
		lp-graph t.trace 2>/dev/null | lp-imbalance -F json >waits.json
		jq -e '.counters | (.by_rank | map(.page_faults + .across_page_faults)) as $faults |
			$faults[1] >= 9900 and $faults[1] < 12000 and $faults[0] < 2000 and
			(.by_function | map(select(.function == "long_work") | .task_clock_s) | add > 0.1)' waits.json || { jq .counters waits.json; false; }
	done
	run -2 --separate-stderr lp-record --counters all true
	[ "$stderr" = "lp-record: --counters needs --sample" ]
	for list in cycles,loads cycles, al ''; do
		run -2 --separate-stderr lp-record --sample 100 --counters "$list" true
		[ "$stderr" = "lp-record: --counters $list: there are instructions, cycles, task_clock, page_faults, migrations, and all" ]
	done
}

@test "a rate out of range is refused" {
	run -2 lp-record --sample 0 -o run -- true
	run -2 lp-record --sample 20000 -o run -- true
}

@test "a planted imbalance in one of two functions is attributed to it, with its delays" {
	cat >uneven.c <<-END
		#include <mpi.h>
		#include "sampled_work.h"
		int main(int c, char **v) {
			int rank;
			MPI_Init(&c, &v);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			for (int i = 0; i < 4; i++) {
				long_work(rank == 1 ? 0.15 : 0.05);
				short_work(0.05);
				MPI_Barrier(MPI_COMM_WORLD);
			}
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o uneven uneven.c "$BATS_FILE_TMPDIR/sampled_work.o"
	lp-record --sample 1000 -o run -- $RUN -n 3 ./uneven
	lp-merge run | lp-graph 2>/dev/null | lp-imbalance -F json >report
	# 0.6 s of rank 1's own clock, and 0.2 s of the others', within three standard errors, and what is told as not sampled: a kernel
	# that switches threads often, as on a busy machine, drops a part of each period.
	jq -e 'def of(name): map(select(.function == name))[0];
		.compute_by_function[0] | .rank == 1 and (.functions | of("(on a core, not sampled)") as $lost | of("long_work") |
		def is(told; lost; planted): told - 3 * .standard_error_s < planted and told + lost + 3 * .standard_error_s > planted;
		.samples > 100 and .more_s > 3 * .standard_error_s and
		is(.slow_s; $lost.slow_s // 0; 0.6) and is(.others_s; $lost.others_s // 0; 0.2))' report ||
		{ jq -c '.compute_by_function[0]' report; false; }
	jq -e '.delays_by_function | map(select(.function | startswith("(") | not))[0].function == "long_work"' report
}

@test "a function has its thread's CPU time, and sleep is a separate line" {
	sampled off_core
	lp-critpath -F json t.graph >path.json
	as_planted long_work "$(cat out)" || { cat out stolen; jq -c '.computation, .by_function[]' path.json; false; }
	jq -e --argjson rest "$(told '(blocked)' path_s)" '$rest > 0.98 and .computation.unknown_s == 0 and
		(.computation.on_core_s + $rest + .computation.preempted_s - .computation.path_s | fabs) < 1e-8' path.json
	lp-critpath -F folded t.graph | grep -q '^path;(blocked)[; ]'
	lp-critpath -F speedscope t.graph | jq -e 'any(.shared.frames[]; .name == "(blocked)")'
	# The sleep is what others wait for, and so it is compared.
	lp-imbalance -F json t.graph >waits.json
	jq -e '.delays_by_function[0].function == "(blocked)"' waits.json
	jq -e '.computation | .on_core_s < 0.7 * .ranks_s and .samples > 600' waits.json
	lp-imbalance t.graph | grep -qE "^[0-9]+ samples: of the ranks' computation, .* % was seen on a core$"
	lp-compare -F json t.graph -- t.graph | jq -e 'any(.functions[]; .function == "(blocked)" and .path_a_s > 0.98)'
	lp-report -o page.html t.graph
	grep -q 'title="(blocked)"' page.html
	grep -qE "From [0-9]+ samples, which saw [0-9.]+ % of the ranks' computation on a core" page.html
}

# chained PROGRAM STACK: of the samples in long_work or long_part at least 95 % have these callers
chained() {
	rm -rf run
	lp-record --sample 1000 --sample-stack 4096 -o run -- $RUN -n 1 "./$1" >out
	trace.py check run/rank.0
	lp-merge run | lp-graph 2>/dev/null | lp-critpath -F folded >folded
	awk -v stack=";$2 " '/^path;.*long_(work|part) / { all += $NF; if (index($0, stack)) found += $NF }
		END { exit !(all > 0.15e9 && found >= 0.95 * all) }' folded || { cat folded; false; }
}

@test "time in a library, in system calls and page faults is below the function that caused it, with frame pointers or without" {
	cat >below.c <<-END
		#include <fcntl.h>
		#include <math.h>
		#include <mpi.h>
		#include <sys/mman.h>
		#include <time.h>
		#include <unistd.h>
		static volatile double sink;
		static void waves(void) { for (int i = 0; i < 20000; i++) sink += sin(i * 1e-3); }
		static void reads(void) {
			static char page[4096];
			int fd = open("/dev/zero", O_RDONLY);
			for (int i = 0; i < 2000; i++) sink += read(fd, page, sizeof page);
			close(fd);
		}
		static void touches(void) {
			char *memory = mmap(0, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			for (int i = 0; i < 1 << 22; i += 4096) memory[i] = 1;
			munmap(memory, 1 << 22);
		}
		static void until(double s, void (*part)(void)) {
			while (clock() < s * CLOCKS_PER_SEC) part();
		}
		int main(int c, char **v) {
			void (*part[])(void) = { waves, reads, touches };
			MPI_Init(&c, &v);
			for (int i = 0; i < 3; i++) { until(clock() / 1e6 + 0.2, part[i]); MPI_Barrier(MPI_COMM_SELF); }
			return MPI_Finalize();
		}
	END
	local seen=waves
	! sees_kernel || seen+=' reads touches'
	for pointers in -fomit-frame-pointer -fno-omit-frame-pointer; do
		mpicc -g -O1 -fno-inline $pointers -o below below.c -lm
		rm -rf run
		lp-record --sample 1000 -o run -- $RUN -n 1 ./below
		lp-merge run | lp-graph 2>/dev/null | lp-critpath -F folded >folded
		for part in $seen; do
			# Of 0.2 s, most samples, and all their callers in order.
			awk -v path="main;until;$part(;|$)" '/^path;/ { ns = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ path) all += ns }
				END { exit !(all > 0.15e9) }' folded || { cat folded; false; }
		done
	done
}

@test "without frame pointers callers come from copied stacks: C, C++, Fortran, shared library" {
	local build="-g -O2 -fomit-frame-pointer -fno-inline -fno-optimize-sibling-calls"
	cat >library.c <<-END
		#include "sampled_work.h"
		int middle(double s) { long_work(s); return 3; }
		int outer(double s) { return middle(s) + 1; }
	END
	cat >chain.c <<-END
		#include <mpi.h>
		int outer(double s);
		int main(int c, char **v) {
			MPI_Init(&c, &v);
			for (int i = 0; i < 4; i++) { outer(0.05); MPI_Barrier(MPI_COMM_SELF); }
			return MPI_Finalize();
		}
	END
	gcc $build -c "$ROOT/tests/apps/sampled_work.c"
	mpicc $build -I"$ROOT/tests/apps" -o chain chain.c library.c sampled_work.o
	chained chain 'main;outer;middle;long_work'
	gcc $build -fPIC -shared -I"$ROOT/tests/apps" -o libchain.so library.c "$ROOT/tests/apps/sampled_work.c"
	mpicc $build -o chain_shared chain.c -L. -lchain -Wl,-rpath,"$PWD"
	chained chain_shared 'main;outer;middle;long_work'
	cat >chain.cpp <<-END
		#include <mpi.h>
		extern "C" {
		#include "sampled_work.h"
		}
		namespace deep {
		template <typename T> struct caller {
			int middle(T s) { long_work(s); return 3; }
			int outer(T s) { return middle(s) + 1; }
		};
		}
		int main(int c, char **v) {
			MPI_Init(&c, &v);
			for (int i = 0; i < 4; i++) { deep::caller<double>().outer(0.05); MPI_Barrier(MPI_COMM_SELF); }
			return MPI_Finalize();
		}
	END
	mpicxx $build -I"$ROOT/tests/apps" -o chain_cpp chain.cpp sampled_work.o
	chained chain_cpp 'main;deep::caller<double>::outer(double);deep::caller<double>::middle(double);long_work'
	cat >chain.f90 <<-END
		program chain
		use mpi
		implicit none
		double precision, volatile :: total = 0
		integer :: i, ierr
		call MPI_Init(ierr)
		do i = 1, 4
			call outer(0.05d0)
			call MPI_Barrier(MPI_COMM_SELF, ierr)
		end do
		call MPI_Finalize(ierr)
		contains
		subroutine outer(s)
			double precision, intent(in) :: s
			call middle(s)
			total = total + 1
		end subroutine
		subroutine middle(s)
			double precision, intent(in) :: s
			call long_part(s)
			total = total + 1
		end subroutine
		subroutine long_part(s)
			double precision, intent(in) :: s
			double precision :: from, now
			integer :: k
			call cpu_time(from)
			do
				do k = 1, 20000
					total = total + k
				end do
				call cpu_time(now)
				if (now - from >= s) exit
			end do
		end subroutine
		end program
	END
	mpifort $build -o chain_fortran chain.f90
	chained chain_fortran 'main;chain;outer;middle;long_part'
}

@test "truncated stacks, or a missing program, leave the places unchanged" {
	mkdir gone
	cp "$BATS_FILE_TMPDIR/planted" gone/
	lp-record --sample 1000 --sample-stack 128 -o run -- $RUN -n 2 gone/planted
	lp-merge run | lp-graph 2>/dev/null | lp-critpath -F json | jq -e '.by_function | map(select(.function == "long_work"))[0].samples > 30'
	rm -r gone
	lp-merge run >t.trace
	trace.py check t.trace
	lp-graph t.trace 2>/dev/null | lp-critpath -F json | jq -e '.by_function | map(.samples) | add > 30'
	run -2 --separate-stderr lp-record --sample-stack 4096 -o run -- true
	[ "$stderr" = "lp-record: --sample-stack needs --sample" ]
}

@test "if the kernel refuses samples, one line names the settings, and the run continues" {
	refuse_samples
	run -0 --separate-stderr ./refused lp-record --sample 1000 --sample-stack 4096 -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/planted" 0.05
	[ "$(grep -c '^lp-record: --sample: the kernel refuses it: Operation not permitted; .*kernel.perf_event_paranoid of 2 or less.*seccomp.*no samples are taken$' <<<"$stderr")" -eq 1 ]
	lp-merge run | lp-graph 2>/dev/null >t.graph
	[ "$(lp-dump t.graph | grep -c '"sampled"')" -eq 0 ]
	lp-critpath -F json t.graph | jq -e '.computation | .source == "thread clock" and .samples == 0'
}

@test "concurrent threads have their own samples, children no ring, rings take below 1 MiB" {
	cat >multiple.c <<-END
		#include <mpi.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include "sampled_work.h"
		static MPI_Comm comms[2];
		static void *work(void *arg) {
			int self = *(int *)arg;
			for (int i = 0; i < 8; i++) {
				if (self == 0) long_work(0.03); else short_work(0.03);
				MPI_Barrier(comms[self]);
			}
			return NULL;
		}
		int main(int c, char **v) {
			int provided, numbers[2] = { 0, 1 };
			unsigned long from, to, bytes = 0;
			char line[400];
			pthread_t thread;
			MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &provided);
			for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
			pthread_create(&thread, NULL, work, &numbers[1]);
			work(&numbers[0]);
			pthread_join(thread, NULL);
			FILE *maps = fopen("/proc/self/maps", "r");
			while (fgets(line, sizeof line, maps) != NULL)
				if (strstr(line, "perf_event") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
					bytes += to - from;
			fclose(maps);
			if (bytes == 0 || bytes > 2 * (1 << 20)) printf("%lu bytes of rings\n", bytes);
			fflush(stdout);
			if (system("ls -l /proc/self/fd | grep perf_event") == 0) printf("a child has a ring\n");
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o multiple multiple.c "$BATS_FILE_TMPDIR/sampled_work.o" -lpthread
	for stack in '' '--sample-stack 4096'; do
		lp-record --sample 1000 $stack -o run -- $RUN -n 2 ./multiple >out
		refute grep . out
		lp-merge run >t.trace
		trace.py check t.trace
	done
	# Rank 0's two locations: each has what its own thread did.
	lp-dump -k site t.trace | jq -r 'select(.function) | [.site, .function] | @tsv' >names
	lp-dump -k sampled t.trace | jq -r 'select(.worker | not) | .location as $l | .site[] | [$l, .] | @tsv' |
		awk 'NR == FNR { name[$1] = $2; next } { n[$1 "," name[$2]]++ }
			END { exit !(n["0,long_work"] > 50 && n["0,short_work"] == 0 && n["2,short_work"] > 50 && n["2,long_work"] == 0) }' names -
}

@test "more ranks than cores: time off the core is reported apart from time on it" {
	lp-record --sample 1000 -o run -- $RUN -n 6 "$BATS_FILE_TMPDIR/planted" 0.5
	lp-merge run | lp-graph 2>/dev/null >t.graph
	# The path leads through rank 0, unless other ranks have a core later than it.
	lp-critpath -F json t.graph | jq -e '(.by_function | map({ (.function): . }) | add).long_work as $long |
		$long.all_s > 0.05 and $long.all_s < 0.2 and
		(.by_rank[0].compute_s < 0.98 * ([.by_rank[].compute_s] | add) or $long.path_s > 0.5 * $long.all_s)'
	lp-critpath -F text t.graph >text
	grep -qE "^computation on the path .* s: .* s on a core, .* s blocked, .* s preempted, .* samples, 0 records lost in all$" text
}
