# SPDX-License-Identifier: BSD-3-Clause
# A run that is followed in progress, and the results at its end.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	for program in paced hangs kinds worlds; do
		mpicc -w -O1 -g -o $program "$ROOT/tests/apps/$program.c" -lpthread
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# The processes of the run under lp-record with this number, and itself.
family() {
	ps -eo pid=,ppid= | awk -v top="$1" '{ parent[$1] = $2 }
		END { for (p in parent) { at = p; while (at > 1 && at != top) at = parent[at]; if (at == top) print p } }'
}

teardown() {
	local all=''
	[ ! -e pid ] || all=$(family "$(cat pid)")
	# shellcheck disable=SC2086
	[ -z "$all" ] || kill -KILL $all 2>/dev/null || return 0
}

# begin RANKS PROGRAM ARGUMENT...: records it in the background, until all ranks are there
begin() {
	local ranks=$1 program=$2
	# shellcheck disable=SC2086
	lp-record ${OPTIONS:-} -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" \
		"$BATS_FILE_TMPDIR/$program" "${@:3}" >out 2>&1 3>&- &
	echo $! >pid
	await [ -e "run/rank.$((ranks - 1))" ]
}

# same_windows LIVE WHOLE: the windows that were reported during the run are those of its whole trace. On a machine that stops
# for long, calls last long: they have lines in between, and waits and costs lack at most the time that they were open.
same_windows() {
	jq -se --slurpfile whole "$2" 'map(select(has("from_s"))) as $live | ($live | map(.open_s) | add + 1e-8) as $open |
		[[$live, $whole] | transpose[] | map(del(.delays, .waits, .at_s))] | length > 0 and
		all(.[]; .[0] == .[1] or ($open > 1e-8 and
			([.[] | [.from_s, .to_s, (.ranks[] | .rank, .compute_s, .mpi_s)]] | .[0] == .[1]) and
			all([.[].ranks] | transpose[]; (.[0].cost_s - .[1].cost_s | fabs) <= $open and
				.[0].wait_s <= .[1].wait_s + 1e-8 and .[1].wait_s <= .[0].wait_s + .[0].open_s + 1e-8)))' "$1"
}

# hung: the ranks are in a deadlock by now
hung() {
	run lp-stuck run
	[[ "$output" == deadlock:* ]]
}

# What a trace says, but for the order of equal lines: communicators and sites have other numbers.
said() {
	lp-graph "$1" 2>/dev/null >graph
	lp-imbalance --all graph | sort
	lp-critpath -F text --all graph | sort
}

@test "the trace of a followed run has the same rows, edges, waits and path as the whole trace" {
	begin 4 paced 2 400
	lp-merge --follow run | cat >followed
	lp-merge run >whole
	trace.py check followed
	[ "$(lp-dump -k call followed | wc -l)" -gt 2000 ]
	said followed >a
	said whole >b
	cmp a b
}

@test "the trace so far does not depend on when it was followed, and a file has the whole trace" {
	begin 4 paced 3 4000
	lp-merge --follow run >file &
	lp-merge --follow run | cat >from_the_start
	wait $!
	lp-merge --follow run | cat >late
	cmp from_the_start late
	lp-merge run >whole
	cmp file whole
}

@test "a thread that stops between reading the clock and storing its row does not change the trace so far" {
	amidst.py run 3>&- &
	await [ -s run/rank.0 ]
	lp-merge --follow run | cat >live
	wait $!
	lp-merge --follow run | cat >late
	cmp live late
	[ "$(lp-dump -k call live | wc -l)" -eq 3 ]
}

@test "the last rows before MPI_Finalize are written once, while the rank is still in it" {
	amidst.py run finalize 3>&- &
	await [ -s run/rank.0 ]
	lp-merge --follow run | (ulimit -f 10000; cat >live)
	wait $!
	lp-merge --follow run | cmp - live
	lp-merge run | lp-dump -k call | jq -c 'del(.site)' >whole.calls
	[ "$(wc -l <whole.calls)" -eq 8 ]
	lp-dump -k call live | jq -c 'del(.site)' | cmp - whole.calls
}

@test "communicators, windows and files of every kind are followed" {
	cp "$BATS_FILE_TMPDIR/kinds" .
	begin 4 kinds
	lp-merge --follow run | cat >followed
	lp-merge run >whole
	said followed >a
	said whole >b
	cmp a b
}

# A step ends at 0.2 s, between a poll that finds nothing and the call that ends the loop.
@test "a step that ends amidst a polling loop is passed on behind the loop" {
	mkdir run
	printf '%s\n' 'raw ranks=1 rank=0 run=7' '0 MPI_Init 0 100000000' '0 MPI_Iprobe 199999000 +500 comm=1 peer=any tag=any' \
		'0 MPI_Iprobe 200000500 +500 comm=1 peer=any tag=any' '0 MPI_Barrier 200001500 +500 comm=1' \
		'0 MPI_Finalize 300000000 400000000' | pack >run/rank.0
	lp-merge --follow run >followed.file
	lp-merge --follow run | tee followed | lp-graph >graph 2>err
	[ "$(lp-dump -k reached followed | wc -l)" -ge 3 ]
	cmp <(lp-dump -k reached followed) <(lp-dump -k reached graph)
	trace.py check graph
	lp-imbalance -F json --every 0.1 graph >live
	lp-graph followed.file 2>/dev/null | lp-imbalance -F json --every 0.1 | cmp live -
}

# The last rank completes its MPI_Comm_idup after so many seconds; the others use the communicator meanwhile.
late_member() {
	cat >late.c <<-END
		#include <mpi.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv) {
			int rank, ranks, flag, last, x = 0, laps = 10 * atof(argv[1]);
			MPI_Comm copy;
			MPI_Request made;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			last = rank == ranks - 1;
			MPI_Comm_idup(MPI_COMM_WORLD, &copy, &made);
			for (int i = 0; last && i < laps * 100; i++, usleep(1000))
				PMPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
			MPI_Wait(&made, MPI_STATUS_IGNORE);
			for (int i = 0; !last && i < laps; i++, usleep(100000))
				if (rank == 0)
					MPI_Send(&x, 1, MPI_INT, 1, i, copy);
				else
					MPI_Recv(&x, 1, MPI_INT, 0, i, copy, MPI_STATUS_IGNORE);
			MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, copy);
			MPI_Finalize();
		}
	END
	mpicc -O1 -g -o late late.c
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 3 ./late "$1" >out 2>&1 3>&- &
	echo $! >pid
	until [ -e run/rank.2 ]; do sleep 0.1; done
}

@test "steps wait for a member that defines its communicator later than the others use it" {
	late_member 3
	lp-merge --follow run | cat >followed
	[ "$(lp-dump -k communicator followed | jq -c .members)" = '[0,1,2]' ]
	lp-merge --follow run | cmp - followed
	lp-merge run >whole
	said followed >a
	said whole >b
	cmp a b
}

@test "after 10 s steps go on without such a member, whose collectives match all the same" {
	late_member 12
	lp-merge --follow run | cat >followed
	lp-dump -k communicator followed | jq -c '[.comm, .members]' >told
	printf '[3,[0,1,-1]]\n[3,[0,1,2]]\n' | cmp - told
	trace.py check followed
	lp-graph followed 2>&1 >/dev/null | grep -q ' 0 sends, 0 receives and 0 collectives not;'
}

# Clocks are as at the begin, so a whole trace with -s offset has the same times.
same_worlds() {
	trace.py check followed
	lp-merge -s offset "$@" >whole 2>err
	said followed >a
	said whole >b
	cmp a b
	lp-merge --follow "$@" 2>/dev/null | cmp - followed
}

@test "processes that the run has spawned are followed with it; of those that come later a line says that they are not" {
	export SPAWN_WHEN=$PWD/now
	begin 2 worlds 6
	lp-merge --follow run 2>early.err | cat >early &
	local early=$!
	(lp-merge --follow --until-spawn run || echo $? >status) | cat >before &
	local before=$!
	await [ -s early ]
	await [ -s before ]
	touch now
	wait $before
	[ "$(cat status)" -eq 1 ]
	lp-merge --follow run 2>err | cat >followed
	wait $early
	[ "$(lp-dump -k run early before | jq .ranks | uniq)" -eq 2 ]
	[ "$(lp-dump -k call before | wc -l)" -lt "$(lp-dump -k call early | wc -l)" ]
	grep -q '^lp-merge: run/world.[0-9]*/rank.[01]: of processes that were spawned since this began: messages' early.err
	grep -q '^lp-merge: run/world.[0-9]*/rank.0: ranks 2 to 3 of the trace are ranks 0 to 1 of this MPI_COMM_WORLD$' err
	same_worlds run
	lp-merge --follow run >file 2>err
	lp-merge run 2>err | cmp - file
}

@test "longpole watch begins anew with the processes that the run spawns" {
	export SPAWN_WHEN=$PWD/now
	begin 2 worlds 3
	longpole watch run 0.5 >live 2>err &
	local watch=$!
	await [ -s live ]
	touch now
	wait $watch
	[ "$(jq -c '.ranks | select(. != null) | length' live | uniq | tr '\n' ' ')" = '2 4 ' ]
	[ "$(jq -c 'select(.from_s == 0)' live | wc -l)" -eq 2 ]
}

@test "two runs that connect are followed together, from their meeting on" {
	command -v ompi-server >/dev/null || skip "no ompi-server"
	timeout 600 ompi-server --no-daemonize -r uri >/dev/null 2>&1 3>&- &
	local server=$! meet accepting following
	await [ -s uri ]
	meet="mpirun --ompi-server file:uri --oversubscribe --mca mpi_yield_when_idle 1 -n 2 $BATS_FILE_TMPDIR/worlds"
	lp-record -o server -- $meet accept port >server.out 2>&1 3>&- &
	accepting=$!
	await [ -e server/rank.1 ]
	mkdir client
	lp-merge --follow server client 2>err | cat >followed &
	following=$!
	lp-record -o client -- $meet connect port >client.out 2>&1
	wait $accepting $following
	kill $server
	same_worlds server client
}

@test "two programs under one mpirun are followed as one run" {
	# Open MPI 5.0.7 of Debian 13 crashes.
	mpirun --oversubscribe -n 1 true : -n 1 true || skip "this mpirun cannot start two programs"
	cp "$BATS_FILE_TMPDIR/paced" "$BATS_FILE_TMPDIR/other"
	begin 2 paced 2 400 : -n 2 "$BATS_FILE_TMPDIR/other" 2 400
	lp-merge --follow run | cat >followed
	lp-merge run >whole
	[ "$(lp-dump -k rank followed | jq -r .program | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = '2 2 ' ]
	said followed >a
	said whole >b
	cmp a b
}

# As begin, with segments of a 16th of their size.
smaller() {
	printf 'LONGPOLE_OPTIONS=${LONGPOLE_OPTIONS/4194304/262144} exec "$@"\n' >smaller
	lp-record -z max -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$1" bash smaller "$BATS_FILE_TMPDIR/$2" "${@:3}" >out 2>&1 3>&- &
	echo $! >pid
	await [ -e "run/rank.$(($1 - 1))" ]
}

@test "segments replaced by compressed ones, before or while followed, are read" {
	smaller 2 paced 4 15000
	lp-merge --follow run | cat >followed
	wait "$(cat pid)"
	[ -e run/rank.0.0001 ]
	lp-merge --follow run | cat >late
	cmp followed late
	lp-merge run >whole
	said followed >a
	said whole >b
	cmp a b
}

@test "a killed run ends its follower, whose file has everything in the traces" {
	if emulated; then skip "an emulator hides from others which program a process runs"; fi
	begin 4 hangs cycle
	lp-merge --follow run >file 2>err &
	await hung
	# shellcheck disable=SC2046
	kill -KILL $(family "$(cat pid)")
	wait $!
	lp-merge run 2>/dev/null >whole
	cmp file whole
	grep -q 'rank 0 ended early' err
	lp-merge --follow run | cat >followed
	# Only the whole trace has rows of what did not return.
	lp-dump -k call followed | jq -c 'del(.site, .comm)' | sort >a
	lp-dump -k call whole | jq -c 'select(.call | test("open|killed") | not) | del(.site, .comm)' | sort >b
	cmp a b
	said followed >told
	grep -q '4 ranks ended before MPI_Finalize' told
}

# under_way FILE: the follower that writes it has rows of the run
under_way() {
	[ "$(stat -c %s "$1")" -gt 20000 ]
}

@test "a follower may be stopped or killed: the run does not notice, and nothing is lost" {
	begin 2 paced $((${STOP:-2} + 3)) 2000
	lp-merge --follow run >killed &
	local killed=$!
	lp-merge --follow run >stopped &
	local stopped=$!
	await under_way killed
	await under_way stopped
	kill -STOP $stopped
	kill -KILL $killed
	sleep "${STOP:-2}"
	kill -CONT $stopped
	wait "$(cat pid)"
	wait $stopped
	lp-merge run >whole
	cmp stopped whole
	[ "$(lp-dump -k rank whole | jq -s 'map(select(.ended)) | length')" -eq 2 ]
}

@test "the open calls of all ranks come through a pipe of stages during the run" {
	begin 4 hangs cycle
	mkfifo lines
	lp-merge --follow run 2>/dev/null | lp-graph 2>/dev/null | lp-dump -k reached >lines &
	# At first they are in MPI_Init.
	timeout 300 jq -cn 'first(inputs | select(.call | unique != [0]))' <lines >first
	[ -e "/proc/$(cat pid)" ]
	[ -s first ]
}

@test "no step goes out before a host is known or a call is open" {
	mkdir run
	printf 'raw ranks=1 rank=0 run=7\n0 MPI_Init 0 100000000\n' | pack >whole
	# It goes on: its end is not there.
	head -c "$(grep -aobF $'\x92\xa3end' whole | cut -d: -f1)" whole >run/rank.0
	(ulimit -f 1000; timeout 2 lp-merge --follow run >followed) || echo $? >status
	[ "$(cat status)" -eq 124 ]
	[ "$(wc -c <followed)" -lt 1000 ]
}

# Its times begin at 0, so they are not of this host's clock although it has the name of this host.
@test "a trace with another clock does not make its follower write of time that has not passed" {
	local date
	for date in '' "date_s=$(date +%s)"; do
		mkdir -p run
		printf 'raw ranks=1 rank=0 run=7 host=%s pid=%s %s\n0 MPI_Init 0 100000000\n' "$(hostname)" $$ "$date" | pack >whole
		head -c "$(grep -aobF $'\x92\xa3end' whole | cut -d: -f1)" whole >run/rank.0
		timeout 2 lp-merge --follow run >followed || echo $? >status
		[ "$(cat status)" -eq 124 ]
		[ "$(wc -c <followed)" -lt 600000 ]
	done
}

# Rank 1 is late in heavy() but once, when rank 0 calls nothing for a second, soon after many calls.
@test "samples and switches are followed: each window of the path has the functions of the whole trace" {
	cat >functions.c <<-END
		#include <mpi.h>
		#include <time.h>
		static volatile double sum;
		static double now(void) {
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec + 1e-9 * t.tv_nsec;
		}
		#define WORK(name) __attribute__((noinline)) static void name(double s) { \
			for (double end = now() + s; now() < end; sum++) ; sum += sizeof #name; }
		WORK(heavy)
		WORK(light)
		int main(int argc, char **argv) {
			int rank, ranks, out = 1, in;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			for (int i = 0; i < 20; i++) {
				for (int k = 0; k < 5; k++, light(0.002))
					MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, k, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, k,
						MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				heavy(i == 10 && rank == 0 ? 1 : rank == 1 ? 0.06 : 0.02);
				MPI_Barrier(MPI_COMM_WORLD);
			}
			MPI_Finalize();
		}
	END
	mpicc -O1 -g -o "$BATS_FILE_TMPDIR/functions" functions.c
	OPTIONS='--sample 1000' begin 2 functions
	lp-merge --follow run | cat >followed
	wait "$(cat pid)"
	lp-merge --follow run | cmp - followed
	trace.py check followed
	lp-merge run >whole
	said followed >a
	lp-critpath -F json --every 0.5 graph >windows
	said whole >b
	cmp a b
	lp-critpath -F json --every 0.5 graph | cmp - windows
	[ "$(lp-dump -k switched followed | wc -l)" -ge 4 ]
	if lp-dump -k sampled whole >samples 2>/dev/null; then
		grep -q 'heavy (functions.c:' a
		[ "$(lp-dump -k sampled followed | jq -s 'map(.count) | add')" -eq "$(jq -s 'map(.count) | add' samples)" ]
	fi
	lp-merge --follow --no-samples run | lp-dump >without
	refute grep -qE '"(sampled|switched)"' without
	jq -c 'select(.kind == "call") | del(.site)' without >calls
	lp-dump -k call followed | jq -c 'del(.site)' | cmp - calls
}

# Each rank's thread ends 0.1 s before the recorder looks again, and one place works before it calls MPI_Barrier.
@test "of a place that is sampled first and calls later, a followed run and the whole trace have the call" {
	cat >places.c <<-END
		#include <mpi.h>
		#include <pthread.h>
		#include <time.h>
		static volatile double sum;
		static double now(void) {
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec + 1e-9 * t.tv_nsec;
		}
		static int work(MPI_Comm comm) {
			for (double end = now() + 0.1; now() < end; sum++)
				;
			return comm == MPI_COMM_NULL;
		}
		static void *thread(void *comm) {
			work(*(MPI_Comm *)comm);
			return NULL;
		}
		int main(int argc, char **argv) {
			int (*volatile calls[])(MPI_Comm) = { work, work, work, MPI_Barrier };
			MPI_Comm comm = MPI_COMM_WORLD;
			pthread_t other;
			MPI_Init(&argc, &argv);
			pthread_create(&other, NULL, thread, &comm);
			pthread_join(other, NULL);
			for (int i = 0; i < 6; i++)
				calls[i < 4 ? i : 3](comm);
			MPI_Finalize();
		}
	END
	mpicc -O1 -g -o "$BATS_FILE_TMPDIR/places" places.c -lpthread
	OPTIONS='--sample 1000' begin 2 places
	lp-merge --follow run | cat >followed
	wait "$(cat pid)"
	lp-merge --follow run | cmp - followed
	lp-merge run >whole
	said followed >a
	said whole >b
	cmp a b
	grep -q 'MPI_Barrier at main (places.c:27)' b
	# Where there are samples, switches of a thread that ended have the time of the others' look.
	if [ "$(lp-dump -k sampled run/rank.0 | wc -l)" -gt 0 ] && [ "$(lp-dump -k switched run/rank.0 | wc -l)" -gt 0 ]; then
		lp-dump -k switched run/rank.0 | jq -e -s '(map(select(has("look_ns"))) | length) > 0 and
			all(.[] | select(has("look_ns")); .look_ns > .until_ns) and
			(map(select(has("look_ns")).look_ns) - map(select(has("look_ns") | not).until_ns) == [])'
	fi
}

# The recorder looks at its rings at 0.6 s, and has so many switches that one block of them ends at 0.4 s.
@test "samples of a look are written before the calls behind them, also if a full block of its switches ends earlier" {
	mkdir run
	pack >run/rank.0 <<-END
		raw ranks=1 rank=0 run=7
		0 MPI_Init 0 100000000
		site site=1 address=5000
		switched location=0 from_ns=0 until_ns=150000000 time=110000000 duration=1000 reason=1
		switched location=0 from_ns=0 until_ns=400000000 look_ns=600000000 time=350000000 duration=50000000 reason=1
		sampled location=0 period_ns=1000000 until_ns=600000000 time=200000000,320000000 site=1,1 callers=0,0
		switched location=0 from_ns=0 until_ns=600000000 time=410000000 duration=1000 reason=1
		0 MPI_Barrier 299000000 300000000 comm=1
		0 MPI_Barrier 359000000 390000000 comm=1
		0 MPI_Finalize 900000000 1000000000
	END
	lp-merge --follow run | cat >followed
	lp-merge run >whole
	lp-dump -k sampled followed | jq -c '.time[]' >times
	printf '200000000\n320000000\n' | cmp - times
	said followed >a
	said whole >b
	cmp a b
}

# Each rank's second to fourth thread begin one after another, with messages in a ring, and regions before and around them.
@test "threads that make their first call later are followed, with their regions" {
	cat >later.c <<-END
		#include <mpi.h>
		#include <pthread.h>
		#include <unistd.h>
		#include <longpole.h>
		static int rank, ranks;
		static void *work(void *comm) {
			int out = 1, in;
			longpole_begin("before");
			usleep(150000);
			longpole_end("before");
			for (int i = 0; i < 10; i++, usleep(20000)) {
				longpole_begin("ring");
				MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, i, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, i,
				    *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
				longpole_end("ring");
			}
			return NULL;
		}
		int main(int argc, char **argv) {
			pthread_t threads[3];
			MPI_Comm comms[3];
			int provided;
			MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			for (int t = 0; t < 3; t++) {
				MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
				usleep(500000);
				pthread_create(&threads[t], NULL, work, &comms[t]);
			}
			for (int t = 0; t < 3; t++)
				pthread_join(threads[t], NULL);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Finalize();
			return provided != MPI_THREAD_MULTIPLE;
		}
	END
	mpicc -O1 -g -I"$ROOT/record" -o "$BATS_FILE_TMPDIR/later" later.c
	begin 2 later
	lp-merge --follow run 2>err | cat >followed
	refute grep -q 'left out' err
	wait "$(cat pid)"
	lp-merge --follow run | cmp - followed
	trace.py check followed
	lp-merge run >whole
	[ "$(lp-dump -k call whole | jq -s 'map(select(.thread > 0)) | length')" -ge 60 ]
	[ "$(lp-dump -k regions followed | jq -s '[.[].region[] | select(. > 0)] | length')" -eq 66 ]
	said followed >a
	said whole >b
	cmp a b
}

@test "several folders of one run are followed together, and those of two are refused" {
	begin 4 paced 2 400
	mkdir -p one other
	wait "$(cat pid)"
	mv run/rank.[01]* one
	mv run/rank.[23]* other
	lp-merge --follow other one | cat >followed
	lp-merge one other >whole
	said followed >a
	said whole >b
	cmp a b
	lp-merge --follow one other >file
	cmp file whole
	begin 1 paced 0.1 100
	wait "$(cat pid)"
	run -2 --separate-stderr lp-merge --follow one other run
	[ "$stderr" = "lp-merge: run/rank.0: of another run than one/rank.0: --follow takes the folders of one" ]
}

@test "100 000 stacks of two ranks are followed in linear time" {
	mkdir run
	for rank in 0 1; do
		awk -v rank=$rank 'BEGIN {
			print "raw ranks=2 rank=" rank " run=7"
			for (place = 1; place <= 400; place++) print "site site=" place, "address=" place
			for (i = 0; i < 100000; i++) print "site site=" 401 + i, "stack=" 1 + i % 400 "," 1 + int(i / 400)
			for (i = 0; i < 100000; i++) print "0 MPI_Iprobe", 10 * i, 10 * i + 5, "comm=1 site=" 401 + i
		}' | pack >run/rank.$rank
	done
	within 10 lp-merge --follow run | lp-dump -k site >sites
	[ "$(wc -l <sites)" -eq 100400 ]
}

@test "a rank of another host is dead when its recorder has seen it end" {
	mkdir run
	printf 'raw ranks=1 rank=0 run=7 host=elsewhere pid=1\n0 MPI_Init 0 100000000\n0 MPI_Barrier 200000000 300000000 comm=1\ndied at_ns=400000000\nzeros 64\n' | pack >run/rank.0
	timeout 100 lp-merge --follow run >file
	[ "$(lp-dump -k call file | wc -l)" -ge 2 ]
}

@test "--follow reads folders and makes one stream" {
	mkdir run
	run -2 --separate-stderr lp-merge --follow run -o shards
	[[ "$stderr" == "lp-merge: --follow makes one stream, by one process" ]]
	for what in '' nowhere 'run nowhere'; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr lp-merge --follow $what
		[[ "$stderr" == "lp-merge: --follow needs the folder that lp-record writes" ]]
	done
}

# ---- windows of time ----

# Rank 1 enters a barrier at 2.4 s, rank 0 at 0.5 s.
two_ranks() {
	printf 'raw ranks=2 rank=%d run=7\n0 MPI_Init 0 100000000\n0 MPI_Barrier %s 2500000000 comm=1\n0 MPI_Finalize 2600000000 2700000000\n' \
		0 500000000 | pack >rank.0
	printf 'raw ranks=2 rank=%d run=7\n0 MPI_Init 0 100000000\n0 MPI_Barrier %s 2500000000 comm=1\n0 MPI_Finalize 2600000000 2700000000\n' \
		1 2400000000 | pack >rank.1
	lp-merge rank.0 rank.1 | lp-graph 2>/dev/null >graph
}

@test "calls and waits across windows are divided; the last window ends with the run" {
	two_ranks
	lp-imbalance -F json --every 1 graph >windows
	# Adding 0: newer releases of jq print a number as it was written.
	jq -c '[.from_s + 0, .to_s + 0]' windows >times
	printf '[0,1]\n[1,2]\n[2,2.7]\n' | cmp - times
	jq -c '[.ranks[] | .compute_s, .mpi_s, .wait_s | . + 0]' windows >sums
	printf '[0.4,0.6,0.5,0.9,0.1,0]\n[0,1,1,1,0,0]\n[0.1,0.6,0.4,0.5,0.2,0]\n' | cmp - sums
	# The one delay costs where its wait ends.
	jq -c '[.long_pole.rank, (.delays | length)]' windows >poles
	printf '[1,0]\n[1,0]\n[1,1]\n' | cmp - poles
	jq -se '.[2].delays[0] | .rank == 1 and .kind == "compute" and (.cost_s - 1.9 | fabs) < 1e-9' windows
	jq -ce '.waits == [{"rank": 0, "for": 1, "wait_s": .ranks[0].wait_s}]' windows
	lp-imbalance --every 1 graph >text
	grep -qx '2.700 s: parallel 0.500 = load balance 0.600 x communication 0.833; compute 42.9 %, MPI 28.6 %, waits 28.6 %; rank 1 cost the others 1.900 s, rank 1.s computation before an unknown place 1.900 s' text
}

@test "each window equals --from and --to, and all windows add up to the run" {
	begin 4 paced 2 400
	wait "$(cat pid)"
	lp-merge run | lp-graph 2>/dev/null >graph
	lp-imbalance -F json --every 0.7 graph >windows
	local n=0 from to
	while read -r from to; do
		lp-imbalance -F json --from "$from" --to "$to" graph >part
		sed -n "$((n + 1))p" windows >window
		jq -e --slurpfile part part '((.parallel // 0) - ($part[0].efficiency.parallel // 0) | fabs) < 1e-8 and
			((.communication // 0) - ($part[0].efficiency.communication // 0) | fabs) < 1e-8 and
			([.ranks[] | [.rank, .compute_s, .wait_s]] == [$part[0].by_rank | sort_by(.rank)[] |
			[.rank, .compute_s, .wait_s]])' window
		n=$((n + 1))
	done < <(jq -r '"\(.from_s) \(.to_s)"' windows)
	[ "$n" -ge 3 ]
	lp-imbalance -F json graph >whole
	jq -se --slurpfile whole whole '(map(.wait_s) | add) - ($whole[0].by_rank | map(.wait_s) | add) | fabs < 1e-6' windows
	jq -se --slurpfile whole whole '(map(.delays[].cost_s) | add) <= ($whole[0].delays | map(.cost_s) | add) + 1e-6' windows
}

@test "results during the run equal those of its whole trace" {
	begin 4 paced 4 500
	lp-merge --follow run | tee followed | lp-graph 2>/dev/null | lp-imbalance -F json --every 0.5 >live
	[ "$(wc -l <live)" -ge 8 ]
	lp-graph followed 2>/dev/null | lp-imbalance -F json --every 0.5 >again
	cmp live again
	lp-merge run | lp-graph 2>/dev/null | lp-imbalance -F json --every 0.5 >whole
	same_windows live whole || { diff live whole; false; }
}

@test "a call that delays all windows is reported again and again" {
	begin 4 hangs cycle
	mkfifo lines
	lp-merge --follow run 2>/dev/null | lp-graph 2>/dev/null | lp-imbalance -F json --every 0.3 >lines &
	timeout 300 jq -cn '[limit(2; inputs | select(.calls and .at_s > 3))]' <lines >told
	[ -e "/proc/$(cat pid)" ]
	jq -e 'length == 2 and (map(.calls | length == 4) | all) and .[1].at_s > .[0].at_s' told
}

@test "windows go on past messages and collectives that never complete, and say how much of them is open" {
	open_runs.py runs $(seq 12)
}

# A message that nobody receives at 0.6 s; one that is received at 14.95 s by a call that began at 1 s.
@test "a message without a receive delays windows by 2 s, a long call by 10 s" {
	mkdir run
	for rank in 0 1 2; do
		{ printf 'raw ranks=3 rank=%d run=7\n0 MPI_Init 0 100000000\n' $rank
			case $rank in
			0) printf '0 MPI_Send 600000000 600001000 comm=1 peer=1 tag=9 sent=8\n' ;;
			2) printf '0 MPI_Recv 1000000000 14950000000 comm=1 peer=1 tag=8 received=8\n' ;;
			esac
			[ $rank -ne 1 ] || printf '0 MPI_Send 14900000000 14900001000 comm=1 peer=2 tag=8 sent=8\n'
			printf '0 MPI_Finalize 19000000000 20000000000\n'; } | pack >run/rank.$rank
	done
	lp-merge --follow run | lp-graph 2>/dev/null >graph
	trace.py check graph
	lp-imbalance -F json --every 1 graph | jq -c 'select(has("from_s"))' >windows
	jq -se 'map(.from_s + 0) == [range(20)]' windows
	# To the call that has lasted for 10 s, nothing is known of its wait; behind it, all is.
	jq -se '[.[1:11][] | .open_calls == 1 and .ranks[2].open_s == 1 and .ranks[2].wait_s == 0] | all' windows
	jq -se '.[14] | .open_calls == 0 and .ranks[2].wait_s > 0.89' windows
	lp-imbalance --every 1 graph | grep -q '^2.000 s: .* waits 0.0 %, open calls 33.3 %; '
}

# Rank 1 comes late to a broadcast; rank 2 completes it 15 s later than the others, at once, and is in another call at 3 s.
@test "who completes a collective late delays no window, and leaves no call open" {
	mkdir run
	for rank in 0 1 2; do
		{ printf 'raw ranks=3 rank=%d run=7\n0 MPI_Init 0 100000000\n' $rank
			printf '0 MPI_Ibcast %d +1000 comm=1 peer=0 bytes_%s=8 as=a\n' $((rank == 1 ? 700000000 : 600000000)) \
				$([ $rank -eq 0 ] && echo sent || echo received)
			[ $rank -ne 2 ] || echo '0 MPI_Iprobe 3000000000 +1000 comm=1 peer=any tag=any'
			printf '0 MPI_Wait %d %d of=a\n' $((rank == 2 ? 15700000000 : 650000000 + rank * 60000000)) \
				$((rank == 2 ? 15700001000 : 710001000))
			printf '0 MPI_Finalize 19000000000 20000000000\n'; } | pack >run/rank.$rank
	done
	lp-merge --follow run | lp-graph 2>/dev/null >graph
	trace.py check graph
	[ "$(lp-dump -k hold graph | jq -c '[.source, .target]')" = '[1,0]' ]
	[ "$(lp-dump -k overdue graph | wc -l)" -eq 0 ]
	lp-imbalance -F json --every 1 graph | jq -se 'map(select(has("from_s"))) | length == 20 and all(.[]; (.open_calls // 0) == 0) and
		(.[0].ranks[0].wait_s * 1000 | round) == 60'
}

@test "an overdue row must have come, and there is an early row for each location" {
	for bad in 'overdue location=0 seq=3' 'overdue location=2 seq=0' 'settled seq=0,0 early=0' 'settled seq=0,0 early=4,0'; do
		pack >bad <<-END
			graph ranks=2
			0 MPI_Init 0 1
			1 MPI_Init 0 1
			$bad
		END
		run -2 --separate-stderr lp-imbalance --every 1 bad
		[[ "$stderr" == "lp-imbalance: bad:"* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "a rank that computes long delays no window" {
	mkdir run
	{ printf 'raw ranks=2 rank=0 run=7\n0 MPI_Init 0 100000000\n'
		seq 5 95 | awk '{ printf "0 MPI_Barrier %d %d comm=2\n", $1 * 1e8, $1 * 1e8 + 1000 }'
		printf '0 MPI_Finalize 9600000000 9970000000\n'; } | pack >run/rank.0
	printf 'raw ranks=2 rank=1 run=7\n0 MPI_Init 0 100000000\n0 MPI_Finalize 9600000000 9970000000\n' | pack >run/rank.1
	lp-merge --follow run | lp-graph 2>/dev/null | lp-imbalance -F json --every 1 >windows
	jq -se 'length == 10 and (map(has("calls")) | any | not)' windows
	jq -se '.[-1] | .from_s == 9 and .to_s == 9.97' windows
}

@test "--every needs a time, and combines with few other options" {
	two_ranks
	run -2 --separate-stderr lp-imbalance --every 0 graph
	[[ "$stderr" == "lp-imbalance: --every: no time" ]]
	for with in '--from 1' '--by rank' '-F csv' '--whole' 'graph'; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr lp-imbalance --every 1 $with graph
		[[ "$stderr" == "lp-imbalance: --every goes with -F text or json, --order and --memory alone" ]]
	done
}

@test "lp-critpath --every: windows of the path add up to it, also during the run" {
	begin 4 paced 3 500
	lp-merge --follow run | tee followed | lp-graph 2>/dev/null | lp-critpath -F json --every 0.5 >live
	[ "$(wc -l <live)" -ge 6 ]
	lp-merge run | lp-graph 2>/dev/null >graph
	lp-critpath -F json --every 0.5 graph >windows
	cmp <(jq -c 'del(.open_calls)' live) <(jq -c 'del(.open_calls)' windows)
	lp-critpath -F json graph >whole
	jq -se --slurpfile whole whole 'map(.compute_s + .mpi_s + .transfer_s + .start_s) | add - $whole[0].path_length_s |
		fabs < 1e-8' windows
	jq -se 'all(.[]; (.to_s - .from_s - .compute_s - .mpi_s - .transfer_s - .start_s | fabs) < 1e-8)' windows
	jq -se '[.[].from_s] == [0, .[:-1][].to_s]' windows
	for rank in 0 1 2 3; do
		jq -se --slurpfile whole whole --argjson rank $rank '(map(.ranks[] | select(.rank == $rank) | .path_s) | add // 0) -
			([$whole[0].segments[] | select(.rank == $rank) | (.end_ns - .begin_ns) * 1e-9] | add // 0) | fabs < 1e-6' windows
	done
}

@test "lp-critpath --every: the computation and the functions of all windows add up to those of the path" {
	for seed in 3 4 5 6; do
		switched_run.py make $seed 3 12 | lp-graph 2>/dev/null >graph
		lp-critpath -F json graph >whole
		lp-critpath -F json --every 0.00002 graph >windows
		[ "$(wc -l <windows)" -ge 4 ]
		jq -se --slurpfile whole whole '[("path_s", "on_core_s", "blocked_s", "preempted_s", "unknown_s", "awaited_s", "samples") as $key |
			((map(.computation[$key]) | add) - $whole[0].computation[$key] | fabs) < 1e-12] | all' windows
		# A sample stands for less than its period if the thread was on a core for less than all periods.
		jq -se --slurpfile whole whole '[.[].functions[]] | group_by(.function) | map({key: .[0].function, value: (map(.path_s) | add)}) |
			from_entries as $sums | [$whole[0].by_function[] | select(.samples > 0) |
			($sums[.function] - .path_s | fabs) <= 0.01 * $whole[0].computation.path_s] | all' windows
	done
	lp-critpath --every 0.00002 graph >text
	grep -q '; on a core [0-9.]* %, blocked [0-9.]* %, preempted [0-9.]* %; [0-9.]* % in [^;]*; [0-9.]* % on rank [0-9]' text
}

# The stream up to where the run has come to this second.
so_far() {
	/usr/bin/python3 -B - "$1" <<-END
		import sys
		sys.path.insert(0, "$ROOT/tests")
		from trace import read
		data = open(sys.argv[1], "rb").read()
		end = next(m.offset for m in read(data) if m.kind == "reached" and m.body["at_ns"] >= $2 * 1000000000)
		sys.stdout.buffer.write(data[:end])
	END
}

@test "lp-critpath --every goes on past a message that nobody receives" {
	mkdir run
	for rank in 0 1 2; do
		{ printf 'raw ranks=3 rank=%d run=7\n0 MPI_Init 0 100000000\n' $rank
			[ $rank -ne 0 ] || printf '0 MPI_Send 600000000 600001000 comm=1 peer=1 tag=9 sent=8\n'
			seq 29 | awk -v rank=$rank '{ printf "0 MPI_Barrier %d%s00000000 %d400000000 comm=1\n", $1, $1 % 3 == rank ? 3 : 0, $1 }'
			printf '0 MPI_Finalize 30000000000 30500000000\n'; } | pack >run/rank.$rank
	done
	lp-merge --follow run | lp-graph 2>/dev/null >graph
	lp-critpath -F json --every 1 graph >live
	jq -se 'all(.[:-1][]; .open_calls <= 1) and .[20].open_calls == 1' live
	so_far graph 20 >part
	run -2 --separate-stderr lp-critpath -F json --every 1 part
	printf '%s\n' "$output" >told
	[ "$(wc -l <told)" -ge 15 ]
	lp-merge run | lp-graph 2>/dev/null | lp-critpath -F json --every 1 >whole
	cmp <(jq -c 'del(.open_calls)' live) <(jq -c 'del(.open_calls)' whole)
}

@test "windows of the path add up to it where messages and collectives come late or never" {
	for seed in 1 3 9; do
		open_runs.py runs $seed
		lp-critpath -F json --every 1 runs/graph >live
		jq -se 'all(.[]; (.to_s - .from_s - .compute_s - .mpi_s - .transfer_s - .start_s | fabs) < 1e-8)' live
		jq -se '[.[].from_s] == [0, .[:-1][].to_s]' live
		[ "$(wc -l <live)" -eq "$(lp-merge runs | lp-graph 2>/dev/null | lp-critpath -F json --every 1 | wc -l)" ]
	done
}

@test "lp-critpath --every names the rank and the place of the path in each window" {
	two_ranks
	lp-critpath --every 1 graph >text
	[ "$(wc -l <text)" -eq 3 ]
	grep -qx "2.000 s: the path is compute 100.0 %, MPI 0.0 %, transfer 0.0 %; 100.0 % on rank 1; 100.0 % rank 1's computation before (unknown)" text
	run -2 --separate-stderr lp-critpath --every 1 -a intervals graph
	[[ "$stderr" == "lp-critpath: --every goes with "* ]]
}

@test "many ranks with many calls: results during the run equal the whole trace, in little memory" {
	[ -x "$ROOT/build/bench/growing" ] || skip "build/bench/growing is not built"
	mkdir run
	"$ROOT/build/bench/growing" run 64 40000 3 3>&- &
	growing=$!
	await [ -e run/rank.63 ]
	limited 300000 lp-merge --follow run | tee followed | lp-graph 2>/dev/null | lp-imbalance -F json --every 0.5 >live
	wait "$growing"
	[ "$(wc -l <live)" -ge 6 ]
	lp-merge run >whole.trace
	lp-graph whole.trace 2>/dev/null | lp-imbalance -F json --every 0.5 >whole
	same_windows live whole
	lp-dump -k call followed | sort >a
	lp-dump -k call whole.trace | sort >b
	cmp a b
	# Late, from the first call on.
	limited 300000 lp-merge --follow run | cmp - followed
}

# ---- longpole watch ----

@test "longpole watch shows a run in progress, and ends with it" {
	begin 4 paced 3 400
	longpole -v watch run 0.5 >live 2>err
	grep -qxF '+ lp-merge --follow --no-samples --until-spawn run | lp-graph | lp-imbalance --every 0.5 -F json' err
	lp-merge run | lp-graph 2>/dev/null | lp-imbalance -F json --every 0.5 >whole
	same_windows live whole
}

@test "longpole watch finds a run that longpole records, or has recorded" {
	longpole -o there mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$BATS_FILE_TMPDIR/paced" 4 300 >out 2>&1 3>&- &
	echo $! >pid
	await [ -e there.part/raw/rank.1 ]
	longpole -v watch there/ >live 2>err
	grep -qF 'lp-merge --follow --no-samples --until-spawn there.part/raw |' err
	[ "$(wc -l <live)" -ge 4 ]
	wait "$(cat pid)"
	longpole -v watch there >again 2>err
	grep -qF 'lp-merge --follow --no-samples --until-spawn there/raw |' err
	cmp live again
	run -2 --separate-stderr longpole watch nowhere
	[[ "$stderr" == "longpole: nowhere: no run is recorded there" ]]
	run -2 --separate-stderr longpole watch there soon
	[[ "$stderr" == "longpole: watch: soon: seconds are needed" ]]
}

@test "on a terminal longpole watch is a screen with a line for each rank" {
	script -qc true /dev/null </dev/null >screen 2>&1 || skip "no pseudo-terminals here"
	begin 2 paced 2 200
	script -qc 'longpole watch run' /dev/null </dev/null >screen
	grep -q $'\033\\[H\033\\[Jpaced, 2 ranks on ' screen
	grep -qE '^ +1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+' screen
	grep -qE 'rank [01] waited [0-9.]+ s for [01]' screen
}
