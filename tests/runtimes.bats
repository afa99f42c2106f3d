# SPDX-License-Identifier: BSD-3-Clause
# Threads that wait for each other in real runtimes: the path goes on in the thread that is waited for.
bats_require_minimum_version 1.5.0
load helpers
load sampled

RUN="$RUN --bind-to none"	# or a thread waits for its core, not for its runtime

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	local apps=$ROOT/tests/apps
	gcc -g -O2 -c "$apps/sampled_work.c"
	mpicc -g -O2 -fopenmp -o late_thread "$apps/late_thread.c" sampled_work.o
	mpicxx -g -O2 -std=c++20 -fopenmp -o late_threads "$apps/late_threads.cpp" sampled_work.o
	mpicxx -g -O2 -std=c++20 -fopenmp -DTBB -o late_threads_tbb "$apps/late_threads.cpp" sampled_work.o -ltbb
	mpicc -g -O2 -o threads_calls "$apps/threads_calls.c" sampled_work.o -lpthread
	mpicxx -g -O2 -std=c++20 -fopenmp -o chains "$apps/chains.cpp" sampled_work.o
	mpicc -g -O2 -fopenmp -o hybrid "$apps/hybrid.c" sampled_work.o
	if with_clang cc -g -O2 -fopenmp -o late_thread_clang "$apps/late_thread.c" sampled_work.o; then
		with_clang cc -g -O2 -fopenmp -o hybrid_clang "$apps/hybrid.c" sampled_work.o
		with_clang cxx -g -O2 -std=c++20 -fopenmp -o late_threads_clang "$apps/late_threads.cpp" sampled_work.o
	fi
	probe_samples ./late_thread
}

# with_clang cc|cxx ARGUMENT...: the compiler of MPI, by clang, whose OpenMP is libomp
with_clang() {
	local name=clang
	[ "$1" = cc ] || name=clang++
	command -v $name >/dev/null || return 1
	OMPI_CC=$name OMPI_CXX=$name MPICH_CC=$name MPICH_CXX=$name "mpi$1" "${@:2}"
}

needs_clang() {
	[ -e "$BATS_FILE_TMPDIR/late_threads_clang" ] || skip "no clang with libomp"
}

# planted: by the threads' own clocks SECONDS LEAST of the parts on the path, and of what the first thread does alone: in each round
# those of the last rank. If the ranks ended within 1 ms of each other, of any. Of SECONDS is also what the first thread may have done
# while the last part waited for a core, as the path stays in a first thread that computes.
planted() {
	sort -k1n -k2n out | awk 'function add(i) { for (i in most) { all[i] += most[i]; at_least[i] += least[i] } }
		function part(i, up_to, s, first) {
			if (first || up_to > most[i]) most[i] = up_to
			if (first || s < least[i]) least[i] = s
		}
		$1 != round { add(); round = $1; end = 0 }
		{ first = $2 > end + 0.001; part("last", $3 + $6, $3, first); part("alone", $5, $5, first); end = $2 }
		END { add(); print all["last"], at_least["last"], all["alone"], at_least["alone"] }'
}

# shown: what was wrong, the tools' numbers first
shown() {
	echo "stolen $(cat stolen), planted $(planted)"
	jq -c '.computation, (.by_function, .awaited)[:8][]' path.json
	sort -n out
	return 1
}

# goes_on PROGRAM [KIND]: the parts that were waited for are on the path, and what the first threads do alone
goes_on() {
	sampled "$@"
	lp-critpath -F json t.graph >path.json
	local most least alone alone_least
	read -r most least alone alone_least < <(planted)
	as_planted long_work "$most" "$least" || shown
	as_planted short_work "$alone" "$alone_least" || shown
	# Waiting is no function of its own.
	jq -e '[.by_function[] | select(.path_s > 0 and (.function | test("gomp|__kmp.*(barrier|wait)|__futex|sched_yield")))] | . == [] or error(tojson)' path.json
}

# awaited: the late parts are of other threads, and they are what the other rank waits for
awaited() {
	jq -e '([.awaited[].path_s] | add // 0) - .computation.awaited_s < 1e-8' path.json
	jq -e --argjson on_path "$(told long_work path_s)" '([.awaited[] |
		select(.function == "long_work" and .rank == 0 and .thread > 0).path_s] | add) > 0.8 * $on_path' path.json
	lp-critpath -F text t.graph | grep -qE '^[0-9.]+ s of this in threads that the first thread of their rank waited for$'
	lp-imbalance -F json t.graph >waits.json
	jq -e '.delays_by_function | map(select(.function == "long_work"))[0].cost_s > 0.2' waits.json
	jq -e 'all(.delays_by_function[]; (.function | startswith("(") or . == "long_work" or test("vdso")) or
		.cost_s <= 3 * .standard_error_s)' waits.json || { jq -c '.delays_by_function[]' waits.json; false; }
}

# however PROGRAM: with passive and active waiting
however() {
	local policy
	for policy in passive active; do
		OMP_WAIT_POLICY=$policy goes_on "$1"
		awaited
	done
	# The first thread waited on the core.
	jq -e '.waiting_for_threads | map(.samples) | add > 20' path.json
}

@test "the path goes on in the thread that the first one waits for, however it waits" {
	however late_thread
}

@test "the path goes on in the thread that the first one waits for in clang's libomp" {
	needs_clang
	however late_thread_clang
}

@test "hybrid efficiencies are those of the threads' own clocks within 2 %, however threads wait" {
	local policy program
	for program in hybrid hybrid_clang; do
		[ -e "$BATS_FILE_TMPDIR/$program" ] || continue
		for policy in passive active; do
			OMP_WAIT_POLICY=$policy sampled $program
			lp-imbalance -F json t.graph >waits.json
			jq -e --argjson stolen "$(cat stolen)" -n --slurpfile waits waits.json --argjson own "$(jq -s '[_nwise(5)] |
				transpose | map(add)' out)" '$own as [$_, $all, $useful, $serial, $imbalance] | $waits[0].hybrid |
				def near($is): (. / $is - 1 | fabs) <= 0.02 + $stolen / $useful;
				.thread_count == 4 and (.threads | near($useful / $all)) and (.serial | near(1 - $serial / $all)) and
				(.imbalance | near(1 - $imbalance / ($all - $serial))) and
				(.on_core | near($useful / ($all - $serial - $imbalance)))' || { cat out stolen; jq -c .hybrid waits.json; false; }
		done
	done
}

@test "nothing is lost in a long phase without calls, in which threads wait for each other hundreds of times" {
	local policy
	# Where four threads that wait on cores have only two, chance decides which rank ends last.
	for policy in passive $([ "$(nproc)" -lt 4 ] || echo active); do
		HZ=5000 OMP_WAIT_POLICY=$policy goes_on late_thread 300
		jq -e '.computation.unknown_s == 0' path.json
		[ "$(lp-dump -k sampled t.trace | jq -n '[inputs.lost // 0] | add')" -eq 0 ]
		lp-critpath -F json t.graph | jq -e '([.awaited[] | select(.function == "long_work" and .rank == 0).path_s] | add) > 0.4'
	done
}

@test "of nested OpenMP teams the late thread of the late team is on the path" {
	export OMP_WAIT_POLICY=passive
	goes_on late_threads nested
	awaited
	if [ -e "$BATS_FILE_TMPDIR/late_threads_clang" ]; then
		goes_on late_threads_clang nested
		awaited
	fi
}

@test "the late OpenMP task is on the path, whichever thread executes it" {
	export OMP_WAIT_POLICY=passive
	goes_on late_threads tasks
	if [ -e "$BATS_FILE_TMPDIR/late_threads_clang" ]; then goes_on late_threads_clang tasks; fi
}

@test "C++ threads that are joined, met at a barrier, or asked for a future are on the path" {
	local kind
	for kind in join barrier future; do
		goes_on late_threads $kind
		awaited
		# Whether or not the C library has names for its functions
		lp-dump -k site run/rank.0 | jq -s -e 'any(.futex)'
	done
}

@test "the late task of TBB is on the path, in the thread that took it" {
	local kind
	for kind in loop group; do
		goes_on late_threads_tbb $kind
		awaited
	done
}

# chain KIND: long_work is on the path, as the program's own clocks have it
chain() {
	local most least
	sampled chains $1
	lp-critpath -F json t.graph >path.json
	read -r most least _ < <(planted)
	as_planted long_work "$most" "$least" || shown
}

# These programs were written, with what they had to give, before any tool saw them: doc/validation.md has what they gave first.
@test "the long task of a taskloop, and the long job of a pool, are on the path" {
	local kind
	for kind in taskloop pool; do
		OMP_WAIT_POLICY=passive chain $kind
	done
}

@test "if another thread makes the calls for the one that computes, the path leads through both" {
	chain calls
	jq -e '(([.by_function[].path_s] | add) - .path_length_s | fabs) < 1e-8 and .computation.awaited_s == 0 and
		(.computation | .on_core_s + .blocked_s + .preempted_s + .unknown_s - .path_s | fabs) < 1e-8' path.json
	# The waits of the threads are rows, whose edges lead from one thread of a rank to another. The more other programs run, the
	# more often the other thread is done before this one waits: 64 of them on a quiet machine, 42 beside six busy processes.
	lp-dump -k lock t.graph | jq -s -e 'length > 20 and all(.[]; .source != .target and (.source - .target) % 2 == 0)'
	# Rank 1 has the end of the path, rank 0 most of it: nobody is told that no path joins the threads.
	lp-report -F json t.graph | jq -e '.long_pole | .ranks == [0] and .function == "long_work"'
	lp-report -F json t.graph | jq -e '.trust.reasons | all(test("^several threads of rank") | not)'
}

@test "if a further thread makes the calls and waits for threads without calls, those are on the path" {
	chain service
	jq -e '.computation.awaited_s > 0.5 and all(.awaited[]; (.rank | IN(0, 1)) and .thread > 0)' path.json
	lp-report -F json t.graph | jq -e '.long_pole | .ranks == [0] and .function == "long_work"'
}

@test "whichever of a rank's threads makes a collective, it meets those of the other ranks at that time" {
	cat >any.c <<-'END'
		#include <mpi.h>
		#include <omp.h>
		#include "sampled_work.h"
		int main(int c, char **v) {
			int level, rank;
			MPI_Init_thread(&c, &v, MPI_THREAD_SERIALIZED, &level);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			#pragma omp parallel num_threads(2)
			for (int i = 0; i < 40; i++) {
				short_work(0.001 * (1 + (i * 7 + omp_get_thread_num() * 3 + rank * 5) % 5));
				#pragma omp single
				MPI_Barrier(MPI_COMM_WORLD);
			}
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -fopenmp -I"$ROOT/tests/apps" -o any any.c "$BATS_FILE_TMPDIR/sampled_work.o"
	OMP_WAIT_POLICY=passive lp-record -o run -- $RUN -n 2 ./any
	lp-merge run >t.trace
	lp-merge -o shards run
	lp-graph t.trace >t.graph
	lp-graph -o matched shards
	for graph in t.graph matched; do
		[ "$(lp-dump -k call $graph | jq -s '[.[] | select(.call == "MPI_Barrier").thread] | unique | length')" -eq 2 ]
		lp-dump $graph | jq -n -e '[inputs | select(.kind == "call" or .kind == "collective")] |
			(map(select(.kind == "call") | { key: "\(.rank + 2 * (.thread // 0)) \(.seq)", value: . }) | from_entries) as $rows |
			map(select(.kind == "collective") | [.members[] | $rows["\(.[0]) \(.[1])"]]) |
			length == 42 and all(.[]; (map(.enter_ns) | max) <= (map(.leave_ns) | min))'
	done
}

@test "what a thread did before its first call is its own, not that of a thread without calls" {
	cat >late.c <<-'END'
		#include <mpi.h>
		#include <pthread.h>
		#include "sampled_work.h"
		static void *calls_late(void *none) {
			long_work(0.5);
			MPI_Barrier(MPI_COMM_SELF);
			long_work(0.1);
			MPI_Barrier(MPI_COMM_SELF);
			return none;
		}
		int main(int c, char **v) {	/* the calls of the first thread make the recorder look */
			pthread_t thread;
			int level;
			MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &level);
			pthread_create(&thread, NULL, calls_late, NULL);
			for (int i = 0; i < 200; i++) {
				short_work(0.002);
				MPI_Comm_rank(MPI_COMM_WORLD, &level);
			}
			pthread_join(thread, NULL);
			return MPI_Finalize();
		}
	END
	mpicc -g -O2 -I"$ROOT/tests/apps" -o late late.c "$BATS_FILE_TMPDIR/sampled_work.o" -lpthread
	lp-record --sample 1000 -o run -- $RUN -n 1 ./late
	# Some of its samples were written before it was known to make calls.
	lp-dump -k sampled run/rank.0 | jq -s -e 'any(.location == 0 and .worker > 0 and .count > 0)'
	lp-merge run >t.trace
	lp-dump -k sampled t.trace | jq -s -e 'all(.worker == null) and (map(select(.location == 1).count) | add) > 550'
	lp-dump -k switched t.trace | jq -s -e 'map(select(.location == 1 and .worker == null)) | .[0].from_ns == .[-1].from_ns'
}

@test "under MPI_THREAD_MULTIPLE each thread has its own work, with calls and without" {
	sampled threads_calls
	lp-critpath -F json t.graph >path.json
	local name planted
	while read -r name planted; do
		jq -e --argjson all "$(told $name all_s)" --argjson planted "$planted" -n '$all > 0.85 * $planted and $all < 1.05 * $planted'
	done <<-END
		long_work 0.6
		short_work 0.2
		silent_work 0.4
	END
	# Of each rank one thread makes calls beside the first, and one makes none: it is a worker, as each thread is until its first call.
	[ "$(lp-dump -k location t.trace | jq -s 'map(select(.thread > 0)) | length')" -eq 2 ]
	lp-dump -k site t.trace | jq -r 'select(.function) | [.site, .function] | @tsv' >names
	lp-dump -k sampled t.trace | jq -r '"\(if .worker then "worker" else "thread" end) of location \(.location)" as $of |
		.site[] | [$of, .] | @tsv' |
		awk -F'\t' 'NR == FNR { name[$1] = $2; next } name[$2] ~ /_work$/ { print $1 ": " name[$2] }' names - | sort -u |
		grep -v '^worker.*long_work$' >who
	printf '%s\n' 'thread of location '{0,1}': short_work' 'thread of location '{2,3}': long_work' \
		'worker of location '{0,1}': silent_work' | cmp - who || { cat who; false; }
	# Several threads make calls: the path stays in them.
	jq -e '.computation.awaited_s == 0 and (([.by_function[].path_s] | add) - .path_length_s | fabs) < 1e-8' path.json
}
