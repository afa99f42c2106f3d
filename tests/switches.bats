# SPDX-License-Identifier: BSD-3-Clause
# Switches: when threads leave their cores, and why.
bats_require_minimum_version 1.5.0
load helpers

RUN="mpirun --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none"

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	local apps=$ROOT/tests/apps
	mpicc -g -O2 -o off_kinds "$apps/off_kinds.c" "$apps/sampled_work.c"
	mpicc -g -O2 -fomit-frame-pointer -o blocks "$apps/blocks.c" "$apps/sampled_work.c"
	mpicc -g -O2 -o threads_busy "$apps/threads_busy.c" "$apps/sampled_work.c" -lpthread
	lp-record --switches -o probe -- $RUN -n 1 ./off_kinds 2>probe.err
	cat probe.err >&2
	refuse_samples
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# Where the kernel tells no switches these tests have nothing to see.
told_by_kernel() {
	refute grep -q 'the kernel refuses it' "$BATS_FILE_TMPDIR/probe.err" || skip "this kernel allows no perf_event_open"
}

# recorded OPTION... -- COMMAND...: as t.graph; what the program prints as out; as stolen what a hypervisor took meanwhile: to
# the kernel's switches that is time on a core, to threads' clocks it is not.
recorded() {
	rm -rf run
	local before
	before=$(stolen 0.01)
	lp-record -o run "$@" >out
	stolen "$before" >stolen
	lp-merge run >t.trace
	lp-graph t.trace >t.graph 2>/dev/null
	trace.py check run/rank.* t.trace t.graph
}

# as_printed: what each rank said of itself is what lp-imbalance says of it, within 2 ms and 10 us each time it left its core, as
# the kernel's own work then counts here or there. Outside its own clocks a rank may be off its core, but computes nothing: the
# recorder may wait there for a file or for memory. What it waited for a core in its sleep is no sleep.
# Time is unknown only where the kernel's records of the rank were lost: it switches 10^5 times a second while it waits in MPI.
as_printed() {
	[ "$(wc -l <out)" -eq 2 ]
	lp-imbalance -F json t.graph >waits.json
	local rank on_core ready asleep waited lost left
	while read -r rank on_core ready asleep waited; do
		lost=$(lp-dump t.trace | jq -n "[inputs | select(.location == $rank) | .lost // 0] | add")
		left=$(lp-dump -k switched t.trace | jq -n "[inputs | select(.location == $rank and .worker == null) | .count] | add")
		jq -e --argjson rank "$rank" --argjson on_core "$on_core" --argjson ready "$ready" --argjson asleep "$asleep" \
			--argjson waited "$waited" --argjson lost "$lost" --argjson left "$left" --argjson stolen "$(cat stolen)" '.computation.by_rank[$rank] |
			(0.00001 * $left + 0.002 + .unknown_s + $stolen) as $little | ([.compute_s - $on_core - $ready - $asleep, 0] | max) as $outside |
			(.on_core_s - $on_core | fabs) <= $little and (.unknown_s == 0 or $lost > 0) and .unknown_s < 0.05 * .compute_s and
			.preempted_s + .blocked_s >= $ready + $asleep - $little and
			.blocked_s <= $asleep - $waited + $outside + $little and .blocked_s >= $asleep - $waited - $little and
			(.on_core_s + .blocked_s + .preempted_s + .unknown_s - .compute_s | fabs) < 1e-8' waits.json ||
			{ cat out stolen; jq -c '.computation.by_rank' waits.json; false; }
	done <out
}

@test "a rank's sleep and its waits for a core are reported, with samples and without" {
	told_by_kernel
	for how in --switches '--sample 1000'; do
		recorded $how -- $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds"
		as_printed
		lp-critpath -F json t.graph >path.json
		# Rank 1 sleeps, 0.4 s at least; where the path leads through rank 0 it lacks no more than what rank 1 computed then.
		jq -e --slurpfile waits waits.json '$waits[0].computation.by_rank as $ranks |
			(.by_rank | map(select(.rank == 1) | .compute_s) | add // 0) as $on_path |
			.computation.blocked_s >= $ranks[1].blocked_s - ($ranks[1].compute_s - $on_path) - 1e-6 and
			.computation.blocked_s <= $ranks[0].blocked_s + $ranks[1].blocked_s + 1e-6 and
			.computation.source == "switches" and (([.by_function[].path_s] | add) - .path_length_s | fabs) < 1e-8' path.json
	done
	jq -e '(.by_function | map({ (.function): . }) | add) as $f | .computation as $c | $f["(blocked)"].path_s == $c.blocked_s and
		$f["(preempted)"].path_s == $c.preempted_s and
		(([.by_function[] | select(.function | IN("(blocked)", "(preempted)", "(MPI)", "(transfer)", "(start)") | not).path_s] |
			add) - $c.on_core_s | fabs) < 1e-8 and
		$f.long_work.path_s + $f["(on a core, not sampled)"].path_s > 0.9 * $c.on_core_s' path.json
}

stacks_permitted() {
	told_by_kernel
	sees_kernel || skip "this user gets no stacks at switches"
}

@test "time blocked has the program's own function, without frame pointers, also of ranks that yield in MPI all the time" {
	stacks_permitted
	# They leave their core far more often than places can be kept; that does not cost the places outside of MPI.
	local try least
	for try in 1 2 3 4 5 6 7 8 9 10; do	# until nothing is stolen, and no other process keeps them from yielding, or the tenth time
		recorded --switches -- taskset -c 0 $RUN -n 3 "$BATS_FILE_TMPDIR/blocks"
		least=$(cut -d' ' -f1 out | sort -n | head -1)
		if [ "$least" -gt 1000 ] && jq -e '. <= 0.015' stolen >/dev/null; then break; fi
	done
	[ "$least" -gt 1000 ]
	lp-dump -k switched t.trace | jq -s -e '[.[] | select(.worker == null) | . as $s | range(.count) | select($s.reason[.] == 0) |
		{ ns: $s.duration[.], placed: (($s.site[.]? // 0) > 0) }] | (map(select(.placed).ns) | add) > 0.9 * (map(.ns) | add)'
	lp-critpath -F json t.graph >path.json
	# The kernel tells how long they were ready to run in all, not after which of their times blocked. By their own clocks stolen
	# time is neither CPU time nor a wait: if each run lost some, that may lack.
	jq -e --argjson own "$(jq -s '[_nwise(4)] | transpose | map(add)' out)" --argjson stolen "$(jq 'if . > 0.015 then . else 0 end' stolen)" '
		def near($is; $more): (. - $is | fabs) <= 0.01 * $is + $more;
		[.blocked[] | select(.path_s > 0.01)] | sort_by(.function) | map(.function) == ["io", "reads"] and
		all(.[]; .before == null and .line > 0 and (.file | endswith("blocks.c"))) and
		(map(.path_s) as [$io, $reads] | $io + $reads | near($own[1] + $own[2]; $stolen)) and
		(.[0].path_s | near($own[1]; $own[3] + $stolen)) and (.[1].path_s | near($own[2]; $own[3] + $stolen))' path.json ||
		{ cat out stolen; jq -c '.blocked' path.json; false; }
	lp-critpath -F folded t.graph | grep -q '^path;(blocked);.*;main;io;usleep;'
	lp-critpath -F text t.graph | grep -qE '	io \(blocks.c:[0-9]+\), in usleep$'
}

@test "waits of threads are recognised where the number of the system call is pushed for a shared routine" {
	stacks_permitted
	[ "$(uname -m)" = x86_64 ] || skip "instructions of x86-64"
	cat >pushed.c <<-END
		#include <mpi.h>
		#include <stdio.h>
		#include <time.h>
		__asm__(".text\n"
		    "any_call: .cfi_startproc; mov 8(%rsp), %rax; mov %rcx, %r10; syscall; ret; .cfi_endproc\n"
		    ".macro pushes number; .cfi_startproc; push \$\\\\number; .cfi_adjust_cfa_offset 8; xor %r8d, %r8d\n"
		    "call any_call; pop %rdx; .cfi_adjust_cfa_offset -8; ret; .cfi_endproc; .endm\n"
		    ".globl waits, sleeps, after\n" "waits: pushes 202\n" "sleeps: pushes 230\n" "after:\n");
		long waits(int *, long, long, struct timespec *), sleeps(long, long, struct timespec *, void *), after(void);
		int main(int c, char **v) {
			struct timespec time = { 0, 50000000 };
			int word = 0;
			MPI_Init(&c, &v);
			waits(&word, 128, 0, &time);	/* FUTEX_WAIT_PRIVATE, up to 50 ms */
			sleeps(CLOCK_MONOTONIC, 0, &time, NULL);
			printf("%lu %lu %lu\\n", (long)waits, (long)sleeps, (long)after);
			MPI_Finalize();
		}
	END
	mpicc -g -O2 -o pushed pushed.c
	recorded --switches -- $RUN -n 1 ./pushed
	# Where it was blocked: the innermost caller of the shared routine.
	lp-dump run/rank.0 | jq -s -c --argjson at "$(tr ' ' , <out | sed 's/.*/[&]/')" '
		(map(select(.kind == "site") | { ("\(.site)"): . }) | add) as $site |
		[.[] | select(.kind == "switched" and .callers != null) | [.reason, .callers] | transpose[] | select(.[0] == 0) |
			$site["\(.[1])"].stack // [] | $site["\(.[0])"] // {} | select(.address) | select(.address > $at[0] and .address < $at[2]) |
			{ function: (if .address < $at[1] then "waits" else "sleeps" end), futex: (.futex // false) }] | unique' >sites
	[ "$(cat sites)" = '[{"function":"sleeps","futex":false},{"function":"waits","futex":true}]' ] || { cat out sites; false; }
}

@test "threads that block thousands of times between two calls are read meanwhile; without room it is unknown, and not as before" {
	told_by_kernel
	cat >full.c <<-END
		#include <mpi.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(int c, char **v) {	/* blocks 20000 times, then sleeps */
			int to[2], from[2];
			char byte = 0;
			MPI_Init(&c, &v);
			MPI_Barrier(MPI_COMM_WORLD);
			if (pipe(to) != 0 || pipe(from) != 0) return 1;
			if (fork() == 0) {
				close(to[1]);
				while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1) ;
				_exit(0);
			}
			for (int i = 0; i < 20000; i++)
				if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1) return 1;
			usleep(300000);
			MPI_Barrier(MPI_COMM_WORLD);
			usleep(1000);	/* the next switch: with it the kernel says how many are missing */
			close(to[1]);
			MPI_Finalize();
		}
	END
	mpicc -g -O2 -o full full.c
	recorded --switches -- taskset -c 0 $RUN -n 1 ./full
	lp-imbalance -F json t.graph | jq -e '.computation.by_rank[0] | .unknown_s == 0 and .blocked_s >= 0.3'
	lp-dump -k switched t.trace | jq -s -e 'map(select(.worker == null)) | (map(.lost // 0) | add == 0) and (map(.count) | add > 20000)'
	# Without eventfd there is no thread of the recorder's own.
	refuse_samples eventfd2
	recorded --switches -- taskset -c 0 $RUN -n 1 ./refused ./full
	lp-imbalance -F json t.graph | jq -e '.computation.by_rank[0].unknown_s >= 0.3'
	# All intervals until then are there. Only a few have places, as many as the memory for them holds.
	lp-dump -k switched t.trace | jq -s -e 'map(select(.worker == null)) | (map(.lost // 0) | add > 10000) and
		(map(.count) | add > 5000) and ([.[] | .site // [] | .[] | select(. > 0)] | length < 2000)'
}

@test "the kernel's switching to a thread is its own, as its clock counts it, however often it gives up its core" {
	told_by_kernel
	recorded --sample 1000 -- taskset -c 0 $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds" yields
	[ "$(lp-dump -k switched t.trace | jq -s 'map(.count) | add')" -gt 1000 ]
	# A switch that is recorded takes from 0.1 us to all of the time.
	lp-dump -k load t.trace | jq -e '.switches_ns > 1e5 and .switches_ns < .elapsed_ns'
	lp-imbalance -F json t.graph >waits.json
	jq -n -e --argjson stolen "$(cat stolen)" --argjson said "$(sort -n out | jq -s '[_nwise(5)]')" --slurpfile waits waits.json '
		def near($is): (. - $is | fabs) <= 0.02 * $is + $stolen;
		[$said, $waits[0].computation.by_rank] | transpose | all(.[0][1] as $cpu | .[0][2] as $ready | .[1] |
			.unknown_s < 0.001 and (.on_core_s | near($cpu)) and (.preempted_s | near($ready)))' ||
		{ cat out stolen; jq -c '.computation.by_rank' waits.json; false; }
}

@test "a process on the same core preempts, and the others wait for the rank" {
	told_by_kernel
	recorded --switches -- $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds" pinned
	as_printed
	jq -e '.computation.by_rank[1].preempted_s > 0.2' waits.json
	jq -e '.delays_by_rank[] | select(.rank == 1) | [.reasons[].function] | index("(blocked)") != null' waits.json
	lp-imbalance t.graph >text
	grep -qE '^rank 1 made the others wait [0-9.]+ s: .*[0-9.]+ s \(blocked\)' text
	lp-critpath -F text t.graph >text
	grep -qE '^computation on the path .* s: .* s on a core, .* s blocked, .* s preempted, [0-9.]+ s unknown; ' text
	grep -q '	(on a core, not sampled)$' text
}

@test "a rank that has no core when the recorder's own thread looks is not preempted twice" {
	told_by_kernel
	# It looks 2 ms after it is woken, which is while the rank waits.
	cat >late.c <<-END
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <sys/epoll.h>
		#include <unistd.h>
		int epoll_wait(int fd, struct epoll_event *events, int most, int timeout) {
			int (*real)(int, struct epoll_event *, int, int) =
				(int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
			const int count = real(fd, events, most, timeout);
			if (timeout < 0) usleep(2000);
			return count;
		}
	END
	mpicc -g -O2 -rdynamic -I"$ROOT/tests/apps" -o late late.c "$ROOT/tests/apps/off_kinds.c" \
		"$ROOT/tests/apps/sampled_work.c" -lpthread -ldl
	recorded --switches -- $RUN -n 2 ./late pinned nice=5
	as_printed
	local asleep waited
	read -r _ _ _ asleep waited < <(grep '^1 ' out)
	jq -e --argjson asleep "$asleep" --argjson waited "$waited" '.computation.by_rank[1].blocked_s > $asleep - $waited - 0.02' waits.json
}

@test "what the kernel recorded of a thread before the recorder read its sums is not counted twice" {
	told_by_kernel
	# It sleeps 20 ms after its records begin.
	cat >late.c <<-END
		#include <fcntl.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int open(const char *path, int flags, ...) {
			static int slept;
			if (strstr(path, "/schedstat") != NULL && slept < 4)
				slept += usleep(20000) == 0;
			return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
		}
	END
	mpicc -g -O2 -rdynamic -I"$ROOT/tests/apps" -o late late.c "$ROOT/tests/apps/off_kinds.c" "$ROOT/tests/apps/sampled_work.c"
	recorded --switches -- $RUN -n 2 ./late
	as_printed
}

@test "a rank that lacks its core between polls has worked there no longer than it ran" {
	# Its naps may be over before it gets to sleep: as if it only gave up its core, to a process that keeps it for some ms.
	cat >crowded.c <<-END
		#define _GNU_SOURCE
		#include <mpi.h>
		#include <sched.h>
		#include <signal.h>
		#include <unistd.h>
		#include "sampled_work.h"
		int main(int c, char **v) {
			int rank, found = 0;
			pid_t child = 0;
			MPI_Init(&c, &v);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			if (rank == 1) {
				usleep(2000000);
				MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
			} else {
				cpu_set_t all, one;
				int core = 0;
				sched_getaffinity(0, sizeof all, &all);
				while (!CPU_ISSET(core, &all)) core++;
				CPU_ZERO(&one);
				CPU_SET(core, &one);
				sched_setaffinity(0, sizeof one, &one);
				if ((child = fork()) == 0)
					for (;;) ;
				for (int i = 0; !found; i++) {
					MPI_Iprobe(1, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
					if (*v[1] == 'w') long_work(0.001);
					else if (i % 3 == 0) sched_yield();
					else usleep(1000);
				}
				kill(child, SIGKILL);
				MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o crowded crowded.c "$ROOT/tests/apps/sampled_work.c"
	local how
	for how in naps works; do
		rm -rf run
		lp-record -o run -- $RUN -n 2 ./crowded $how
		lp-dump -k poll_gaps run/rank.0 | tee $how
	done
	jq -e '.count > 10 and .awake_ns * 4 < .apart_ns' naps
	jq -e '.count > 10 and .awake_ns * 4 > 3 * .apart_ns' works
}

@test "a rank that sleeps often beside a busy process waits for its core each time it wakes up, and is not asleep then" {
	told_by_kernel
	[ -e /proc/self/schedstat ] || skip "this kernel has no sum of what a thread waits"
	local how asleep waited
	for how in --switches '--sample 1000'; do
		recorded $how -- $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds" pinned sleep=40 naps=20
		as_printed
		# Most of what it waited is told, though each switch is uncertain by what as_printed allows.
		read -r _ _ _ asleep waited < <(grep '^1 ' out)
		jq -e --argjson asleep "$asleep" --argjson waited "$waited" '.computation.by_rank[1] |
			$waited > 0.1 and .blocked_s - ($asleep - $waited) < 0.3 * $waited' waits.json
	done
}

# changed_as_printed: rank 1's change from A to B is that of what it said itself, as in as_printed
changed_as_printed() {
	lp-compare -F json a.graph -- b.graph >t.json
	paste <(grep '^1 ' a.out) <(grep '^1 ' b.out) | tr '\t' ' ' | jq -R 'split(" ") | map(tonumber)' >said.json
	local lost
	lost=$(cat <(lp-dump -k switched a.graph) <(lp-dump -k switched b.graph) | jq -n '[inputs | select(.location == 1) | .lost // 0] | add')
	jq -e --slurpfile said said.json --argjson stolen "$(jq -s add a.stolen b.stolen)" --argjson lost "$lost" '
		def off($run): .blocked_s[$run] + .preempted_s[$run];
		def outside($run; $clocks): [off($run) + .on_core_s[$run] + .unknown_s[$run] - $clocks, 0] | max;
		$said[0] as [$_, $on, $ready, $asleep, $waited, $__, $on_b, $ready_b, $asleep_b, $waited_b] |
		.computation.by_rank[1] | (.unknown_s.a_s + .unknown_s.b_s) as $unknown |
		(0.02 * ($on + $on_b) + 0.004 + $stolen + $unknown) as $little |
		(.on_core_s.change_s - ($on_b - $on) | fabs) <= $little and ($unknown == 0 or $lost > 0) and
		$unknown < 0.05 * ($ready + $asleep + $ready_b + $asleep_b) and
		($asleep_b - $waited_b - $asleep + $waited) as $change |
		.blocked_s.change_s <= $change + outside("b_s"; $on_b + $ready_b + $asleep_b) + $little and
		.blocked_s.change_s >= $change - outside("a_s"; $on + $ready + $asleep) - $little and
		off("a_s") >= $ready + $asleep - $little and off("b_s") >= $ready_b + $asleep_b - $little' t.json ||
		{ cat a.out b.out a.stolen b.stolen; jq -c '.computation.by_rank[1]' t.json; false; }
}

# side NAME ARGUMENT...: a run of off_kinds, as NAME.graph, NAME.out and NAME.stolen
side() {
	recorded --switches -- $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds" "${@:2}"
	mv t.graph "$1.graph"
	sort out >"$1.out"
	mv stolen "$1.stolen"
}

# little_taken: by what the ranks said of themselves, other processes took much less of A and B than rank 1 slept longer
little_taken() {
	paste a.out b.out | awk '{ change = $8 + $10 - $3 - $5; taken += change < 0 ? -change : change } END { exit !(taken < 0.5) }'
}

@test "what was added to a program is the reason that lp-compare gives: sleep, work, or a process on its core" {
	told_by_kernel
	side a sleep=1 work=20
	side b sleep=80 work=20
	changed_as_printed
	jq -e '.computation.by_rank[1].blocked_s.change_s > 1.5' t.json
	lp-compare a.graph -- b.graph >blocked
	! little_taken || head -1 blocked |
		grep -qE 'computation up to MPI_Barrier at main \(off_kinds.c:[0-9]+\) on rank 1: .*, \+[0-9.]+ s: [0-9.]+ s of it blocked'
	side b sleep=1 work=80
	changed_as_printed
	jq -e '.computation.by_rank[1].on_core_s.change_s > 1.1' t.json
	side b sleep=1 work=20 pinned
	changed_as_printed
	# Other processes may have preempted the rank for as long before.
	jq -e '.computation.by_rank[1].preempted_s | .b_s > 0.2 and (.b_s - .a_s - .change_s | fabs) < 1e-6 and
		(.a_s > 0.1 or .change_s > 0.1)' t.json
}

@test "if the kernel refuses, threads' clocks give the time on a core, and reports say so" {
	"$BATS_FILE_TMPDIR/refused" true || skip "this kernel takes no filter of system calls"
	run -0 --separate-stderr "$BATS_FILE_TMPDIR/refused" lp-record --switches -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/off_kinds"
	[ "$(grep -c '^lp-record: --switches: the kernel refuses it: .*threads. clocks tell' <<<"$stderr")" -eq 1 ]
	printf '%s\n' "$output" >out
	trace.py check run/rank.*
	lp-merge run | lp-graph 2>/dev/null >t.graph
	trace.py check t.graph
	lp-imbalance -F json t.graph >waits.json
	[ "$(wc -l <out)" -eq 2 ]
	# The rest cannot be told apart. What begins within 1 ms of what was timed last is not timed: the first 20 ms may be so.
	while read -r rank on_core ready asleep _; do
		jq -e --argjson rank "$rank" --argjson on_core "$on_core" --argjson ready "$ready" --argjson asleep "$asleep" \
			'(0.02 * $on_core + 0.002) as $little | .computation.by_rank[$rank] |
			.unknown_s >= $ready + $asleep - $little and (.on_core_s + .unknown_s - .compute_s | fabs) < 1e-8 and
			(.on_core_s - $on_core) <= $little and .on_core_s >= $on_core - 0.02 - $little and .blocked_s == 0 and .preempted_s == 0' waits.json ||
			{ cat out; jq -c '.computation.by_rank' waits.json; false; }
	done <out
	lp-critpath -F json t.graph | jq -e '.computation.source == "thread clock"'
	lp-critpath -F text t.graph >text
	grep -q "^computation on the path .* s on a core, by the threads' own clocks; .* s off it, or not timed: the kernel reported no switches$" text
}

@test "threads are observed from begin to end, with the number on cores" {
	told_by_kernel
	recorded --switches -- "$BATS_FILE_TMPDIR/threads_busy"
	lp-critpath -F json t.graph >path.json
	# The path goes through the worker from begin to end, as the main thread waits for it, if the kernel gave the place of that wait:
	# there is memory for some 50 places between two calls, and threads may be preempted more often.
	# An interval may be in pieces. Before each MPI_Barrier the longest one is that wait; a disk, too, may block the main thread.
	lp-dump t.trace | jq -s '[.[] | select(.kind == "call" and .call == "MPI_Barrier").enter_ns] as $ends |
		[.[] | select(.kind == "switched" and .worker == null) | . as $s | range(.count) |
		select($s.reason[.] == 0) | { from: $s.time[.], to: ($s.time[.] + $s.duration[.]), placed: (($s.site[.]? // 0) > 0) }] |
		reduce .[] as $i ([]; if length > 0 and .[-1].to == $i.from then .[-1].to = $i.to else . + [$i] end) |
		[range($ends | length) as $n | map(select(.from >= ([0] + $ends)[$n] and .to <= $ends[$n])) | max_by(.to - .from)]' >waits
	jq -e 'length == 10 and all(.to - .from > 1e7)' waits
	jq 'map(.placed)' waits >placed
	jq -s '[_nwise(3)]' out | jq --slurpfile placed placed '[., $placed[0]] |
		transpose | { threads_s: map(.[0][0] + .[0][1]) | add, on_path_s: map(if .[1] then .[0][1] + .[0][2] else .[0][0] end) | add }' >truth
	jq -e --slurpfile truth truth --argjson stolen "$(cat stolen)" '.computation | $truth[0] as $is |
		(.threads_mean * .path_s - $is.threads_s | fabs) <= 0.02 * $is.threads_s + 0.002 + 2 * $stolen and
		(.on_core_s - $is.on_path_s | fabs) <= 0.02 * $is.on_path_s + 0.002 + $stolen and
		.alone_share < 1 and .alone_share * .path_s > 0.09' path.json || { cat placed truth path.json; false; }
}

@test "a thread that lacks a core is preempted from its creation on" {
	told_by_kernel
	cat >starved.c <<-END
		#include <dlfcn.h>
		#include <mpi.h>
		#include <pthread.h>
		#include <sched.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include "sampled_work.h"
		static double created_s, delay_s, starved_s;
		static _Bool yields;
		/* The recorder calls this to watch a thread: the thread lacks the core before it is watched, and just after. */
		long syscall(long number, ...) {
			long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6], result;
			va_list list;
			va_start(list, number);
			for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
			va_end(list);
			for (int i = 0; i < 3 && yields && number == SYS_perf_event_open; i++) sched_yield();
			result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
			for (int i = 0; i < 3 && yields && number == SYS_perf_event_open; i++) sched_yield();
			return result;
		}
		static void *run(void *none) {	/* the delay has the recorder's own work as well, the kernel's sum of its waits has not */
			delay_s += MPI_Wtime() - created_s;
			starved_s += waited_s();
			return none;
		}
		int main(int c, char **v) {	/* each thread has the core that its creator uses for 20 ms */
			cpu_set_t cores, first;
			pthread_t thread;
			int core = 0;
			MPI_Init(&c, &v);
			sched_getaffinity(0, sizeof cores, &cores);
			while (!CPU_ISSET(core, &cores)) core++;
			CPU_ZERO(&first);
			CPU_SET(core, &first);
			sched_setaffinity(0, sizeof first, &first);
			yields = c > 1;
			for (int i = 0; i < 10; i++) {
				created_s = MPI_Wtime();
				pthread_create(&thread, NULL, run, NULL);
				long_work(0.02);
				pthread_join(thread, NULL);
			}
			printf("[%.9f, %.9f]\n", delay_s, starved_s);
			return MPI_Finalize();
		}
	END
	mpicc -D_GNU_SOURCE -g -O2 -rdynamic -I"$ROOT/tests/apps" -o starved starved.c "$ROOT/tests/apps/sampled_work.c" -lpthread -ldl
	for late in '' late; do
		recorded --switches -- $RUN -n 1 ./starved $late
		# What begins when the thread is first known is its time up to its first instruction; a hook and the rest of its time come later.
		# It may be preempted again before it reads the kernel's sum; the sum has all before. The kernel's clock for the sum is a little
		# ahead of its records: some us, and hundreds if an interrupt or the host comes between.
		lp-dump -k switched run/rank.0 | jq -n --argjson delay "$(cat out)" --arg late "$late" '[inputs | select(.worker and .count > 0)] | group_by(.worker) |
			(map(.[0] | select(.time[0] == .from_ns and .reason[0] == 1).duration[0]) | add // 0) as $first |
			([.[][] | [.duration, .reason] | transpose[] | select(.[1] == 1)[0]] | add // 0) as $all |
			(if $late != "" then 1e7 * $delay[1] else 0 end) as $little |
			1e-9 * $first <= $delay[0] and $delay[1] > 0 and $all >= (1e9 * $delay[1] | round) - $little' >told
		[ "$(cat told)" = true ] || { cat out; lp-dump -k switched run/rank.0 | jq -c 'select(.worker and .count > 0) | [.worker, .from_ns, .time[:3], .duration[:3], .reason[:3]]'; false; }
	done
}

@test "each nanosecond of the path and of each rank is reported as it was" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6 7 8'); do
		switched_run.py make $seed 3 12 >t.trace
		lp-graph t.trace >t.graph 2>/dev/null
		trace.py check t.trace t.graph
		lp-critpath -F json t.graph | switched_run.py path $seed 3 12
		lp-imbalance -F json t.graph | switched_run.py ranks $seed 3 12
	done
}

@test "several processes, and joined parts, give the same switches as one process" {
	switched_run.py make 9 5 30 | lp-graph 2>/dev/null >t.graph
	for form in json text folded speedscope; do
		lp-critpath -F $form t.graph >alone.$form
		for parts in 3 7; do
			for ((i = 1; i <= parts; i++)); do lp-critpath --part $i/$parts t.graph >part.$i; done
			lp-critpath --join -F $form $(seq -f part.%g $parts) | cmp - alone.$form
		done
	done
	trace.py check part.2
	lp-imbalance -F json t.graph >waits.json
	for processes in 2 3; do
		ranks $processes lp-critpath -F json t.graph | cmp - alone.json
		ranks $processes lp-imbalance -F json t.graph | cmp - waits.json
	done
}

@test "hybrid efficiencies are those of the threads' states at each nanosecond, and factors of each other" {
	for kind in random serial slow spins; do
		for seed in $(short_or_long '1 3' '1 2 3 4 5 6'); do
			hybrid_run.py make $kind $seed 3 12 >$kind.$seed.trace
			lp-graph $kind.$seed.trace >$kind.$seed.graph 2>/dev/null
			lp-imbalance -F json $kind.$seed.graph | hybrid_run.py judge $kind $seed 3 12
		done
	done
	trace.py check ./*.trace
	for kind in random serial; do
		lp-imbalance -F json $kind.1.graph >waits.json
		ranks 3 lp-imbalance -F json $kind.1.graph | cmp - waits.json
	done
	lp-imbalance serial.1.graph | grep -qxF 'hybrid efficiencies (POP): parallel 0.5952 = MPI 0.9524 x threads 0.6250; '\
'threads = serial 0.6250 x imbalance 1.0000 x on a core 1.0000; without samples threads that spin count as useful'
	lp-imbalance spins.1.graph | grep -qxF 'hybrid efficiencies (POP): parallel 0.5952 = MPI 0.9524 x threads 0.6250; '\
'threads = serial 1.0000 x imbalance 0.6250 x on a core 1.0000'
	# Too much time of seed 3 is unknown.
	lp-imbalance -F json random.3.graph | jq -e '.hybrid == null'
}

@test "counts of samples between which no call lies are those of their rank and function, and of the path" {
	for seed in $(short_or_long '1 2' '1 2 3 4 5 6'); do
		counted_run.py make $seed 3 12 >t.trace
		trace.py check t.trace
		lp-graph t.trace >t.graph 2>/dev/null
		lp-imbalance -F json t.graph >waits.json
		counted_run.py judge $seed 3 12 <waits.json
		lp-critpath -F json t.graph >path.json
		counted_run.py path $seed 3 12 <path.json
	done
	for processes in 2 3; do
		ranks $processes lp-imbalance -F json t.graph | cmp - waits.json
		ranks $processes lp-critpath -F json t.graph | cmp - path.json
	done
	for part in 1 2 3; do lp-critpath --part $part/3 t.graph >part.$part; done
	trace.py check part.2
	lp-critpath --join -F json part.1 part.2 part.3 | cmp - path.json
}

@test "the page has lp-imbalance's counts of ranks and functions, and why one is slow" {
	counted_run.py make 1 3 12 | lp-graph 2>/dev/null >t.graph
	lp-report -o page.html t.graph
	# Of a line: rank, time counted, page faults, migrations, instructions and cycles, function
	sed -n '/<table id="t-counters"/,/<\/table>/p' page.html | grep '^<tr><td' | sed 's/<td data-v="\([^"]*\)">[^<]*<\/td>/\1|/g
		s/<td class="t" title="\([^"]*\)">.*/\1/; s/<tr>//' | awk -F'|' '{ printf "%d %.9f %s %s %s %s %s\n", $1, $2, $4, $5, $6, $7, $10 }' >page
	lp-imbalance -F json t.graph | jq -r '.counters | (.by_rank[] | .function = "(all)"), .by_function[] |
		[.rank, .counted_s, .page_faults, .migrations, .instructions, .cycles, .function] | @tsv' |
		awk -F'\t' '{ printf "%d %.9f %s %s %s %s %s\n", $1, $2, $3, $4, $5, $6, $7 }' >told
	[ "$(wc -l <told)" -gt 6 ]
	cmp page told
	grep -qF ">$(lp-imbalance t.graph | grep '^counts between'); $(lp-imbalance t.graph | grep '^rank .* computes .* x as long')</p>" page.html
}

# product PERIODS INSTRUCTIONS CYCLES BLOCKED_MS: of rank 1, by period of 1 ms; rank 0 has 10 of 2000000 each.
product() {
	local enter=$((1000000 + ($1 + $4) * 1000000)) rank periods counts off
	{
		echo trace ranks=2
		echo 'site site=1 offset=1 function=work'
		for rank in 0 1; do
			echo "$rank MPI_Init 0 1000000"
			periods=10 counts="2000000 2000000" off="time=500000 duration=1"
			[ $rank = 0 ] || { periods=$1 counts="$2 $3" off="time=$((1000000 + $1 * 1000000)) duration=$(($4 * 1000000))"; }
			echo "switched location=$rank from_ns=0 until_ns=$((enter + 1000)) $off reason=0"
			echo "sampled location=$rank period_ns=1000000 until_ns=$((enter + 1000)) time=$(seq -s, 1500000 1000000 $((1000000 + periods * 1000000))) $(
				for column in "site 1" "instructions ${counts% *}" "cycles ${counts#* }"; do
					printf '%s=%s ' ${column% *} "$(yes ${column#* } | head -$periods | paste -sd,)"
				done)"
			echo "$rank MPI_Barrier $([ $rank = 0 ] && echo 11000000 || echo $enter) $((enter + 1000)) comm=1"
			echo "$rank MPI_Finalize $((enter + 2000)) $((enter + 3000))"
		done
	} | pack | lp-graph 2>/dev/null >t.graph
	lp-imbalance -F json t.graph | jq -c '.counters.slowest |
		[.rank, .compute_ratio, .on_core_ratio, .instructions_ratio, .cycles_per_instruction_ratio, .clock_ratio, .blocked_more_s] |
		map(. * 1000 | round / 1000)'
}

@test "a slow rank executes more instructions, or takes more cycles for each, or at a lower clock rate, or is blocked" {
	[ "$(product 20 2000000 2000000 0)" = '[1,2,2,2,1,1,0]' ]
	[ "$(product 20 1000000 2000000 0)" = '[1,2,2,1,2,1,0]' ]
	[ "$(product 20 1000000 1000000 0)" = '[1,2,2,1,1,0.5,0]' ]
	[ "$(product 10 2000000 2000000 10)" = '[1,2,1,1,1,1,0.01]' ]
	[ "$(product 30 2000000 3000000 5)" = '[1,3.5,3,3,1.5,1.5,0.005]' ]
	# Without switches the time on a core is not known.
	printf '%s\n' 'trace ranks=1' 'sampled location=0 period_ns=10 until_ns=100 time=20,30 site=0,0 cycles=5,6' '0 MPI_Init 0 10' \
		'0 MPI_Finalize 50 100' | pack | lp-graph 2>/dev/null | lp-imbalance -F json |
		jq -e '.counters.by_rank[0] | .cycles == 6 and .across_cycles == 5 and .counted_s == null and has("clock_hz") == false'
	lp-imbalance t.graph | grep -qxF 'counts between two samples without a call between them; none of task_clock, page_faults, migrations'
	lp-imbalance t.graph | grep -qF 'rank 1 computes 3.500 x as long as the mean of the others: 3.000 x the time on a core = '\
'3.000 x the instructions x 1.500 x the cycles per instruction / 1.500 x the clock rate, +0.005000 s blocked,'
}

@test "intervals are cut at the ends of calls, and are on the common clock" {
	pack >rank.0 <<-END
		raw rank=0 ranks=2
		0 MPI_Init 0 100
		0 MPI_Barrier 1000 1100 comm=1
		0 MPI_Finalize 2000 2100 comm=1
		switched location=0 from_ns=50 until_ns=2050 time=200,1300 duration=300,100 reason=0,1
		switched location=0 worker=3 from_ns=150 until_ns=2050 time=500 duration=1000 reason=0
	END
	# Rank 1's clock is 5000 ns behind.
	pack >rank.1 <<-END
		raw rank=1 ranks=2
		clock at_ns=-5000 peer=0 offset_ns=5000 error_ns=1
		0 MPI_Init -5000 -4900
		0 MPI_Barrier -4000 -3900 comm=1
		0 MPI_Finalize -3000 -2900 comm=1
		switched location=0 from_ns=-4950 until_ns=-2950 time=-4700 duration=10 reason=1 lost=2
	END
	lp-merge -s linear rank.0 rank.1 >t.trace 2>/dev/null
	trace.py check t.trace
	lp-dump -k switched t.trace | jq -s -c 'map(select(.location == 1)) | map([.from_ns, .time[], .duration[]]) | add' >got
	[ "$(cat got)" = '[50,300,10]' ]
	# One block of calls: the worker's interval is whole; its numbers stay.
	lp-dump -k switched t.trace | jq -s -e 'map(select(.worker == 3)) | (map(.duration[]) | add) == 1000 and (map(.time[]) | min) == 500'
	lp-graph t.trace 2>/dev/null | lp-imbalance -F json | jq -e '.computation.by_rank[0] |
		(.blocked_s * 1e9 | round) == 300 and (.preempted_s * 1e9 | round) == 100'
}

@test "damaged blocks of switches are refused by every reader, in one line" {
	local good='location=0 from_ns=0 until_ns=900 time=200,300 duration=50,60 reason=0,1'
	for change in 'reason=0,1 reason=0,3' 'duration=50,60 duration=150,60' 'time=200,300 time=300,200' 'reason=0,1 reason=0x00' \
		'duration=50,60 duration=0xffffffffffffffffffffffffffffffff' 'from_ns=0 unknown=0' 'until_ns=900 unknown=0' \
		'reason=0,1 on_core=1,2' 'location=0 location=9' 'reason=0,1 reason=0,1+on_core=60,0' 'duration=50,60 unknown=0'; do
		local words=($change)
		pack >t.trace <<-END
			graph
			run ranks=1 locations=1 run_ns=1000
			switched $(sed "s/${words[0]}/${words[1]/+/ }/" <<<"$good")
			0 MPI_Init 0 100
			0 MPI_Finalize 800 900
		END
		run -1 trace.py check t.trace
		for tool in lp-critpath lp-imbalance; do
			run -2 --separate-stderr $tool -F json t.trace
			[ "$(wc -l <<<"$stderr")" -eq 1 ]
			[[ $stderr == $tool:\ t.trace:*switched* || $stderr == $tool:\ t.trace:*location* ]]
		done
	done
}
