# SPDX-License-Identifier: BSD-3-Clause
# A run that is followed while it goes on, and what has been written at its end.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	for program in paced hangs kinds; do
		mpicc -O1 -g -o $program "$ROOT/tests/apps/$program.c" -lpthread
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
	# shellcheck disable=SC2046
	if [ -e pid ] && kill -0 "$(cat pid)" 2>/dev/null; then
		kill -KILL $(family "$(cat pid)")
	fi
}

# begin RANKS PROGRAM ARGUMENT...: records it in the background, until all ranks are there
begin() {
	local ranks=$1 program=$2
	# shellcheck disable=SC2086
	lp-record ${OPTIONS:-} -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" \
		"$BATS_FILE_TMPDIR/$program" "${@:3}" >out 2>&1 3>&- &
	echo $! >pid
	for _ in $(seq 300); do
		[ -e "run/rank.$((ranks - 1))" ] && return
		sleep 0.1
	done
	false
}

# What a trace says, but for the order of equal lines: communicators and sites have other numbers.
said() {
	lp-graph "$1" 2>/dev/null >graph
	lp-imbalance --all graph | sort
	lp-critpath -F text graph
}

@test "the trace of a run that is followed has the same rows, edges, waits and path as the trace of all of it" {
	begin 4 paced 2 400
	lp-merge --follow run | cat >followed
	lp-merge run >whole
	trace.py check followed
	[ "$(lp-dump -k call followed | wc -l)" -gt 2000 ]
	said followed >a
	said whole >b
	cmp a b
}

@test "what has been written of a run does not depend on when it was followed, and a file has the whole run's trace" {
	begin 4 paced 3 4000
	lp-merge --follow run >file &
	lp-merge --follow run | cat >from_the_start
	wait $!
	lp-merge --follow run | cat >late
	cmp from_the_start late
	lp-merge run >whole
	cmp file whole
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

@test "segments that are replaced by compressed ones while they are followed, or before" {
	OPTIONS='-z max' begin 2 paced 4 150000
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

@test "a run that is killed ends what follows it, and its file has all that the traces have" {
	begin 4 hangs cycle
	lp-merge --follow run >file 2>err &
	sleep 1
	# shellcheck disable=SC2046
	kill -KILL $(family "$(cat pid)")
	wait $!
	lp-merge run 2>/dev/null >whole
	cmp file whole
	grep -q 'rank 0 ended early' err
}

@test "whoever follows a run may be stopped or killed: the run does not see it, and nothing is lost" {
	begin 2 paced 5 2000
	lp-merge --follow run >killed &
	local killed=$!
	lp-merge --follow run >stopped &
	local stopped=$!
	sleep 1
	kill -STOP $stopped
	kill -KILL $killed
	sleep 2
	kill -CONT $stopped
	wait "$(cat pid)"
	wait $stopped
	lp-merge run >whole
	cmp stopped whole
	[ "$(lp-dump -k rank whole | jq -s 'map(select(.ended)) | length')" -eq 2 ]
}

@test "what all are in now comes through a pipe of stages while the run goes on" {
	begin 4 hangs cycle
	mkfifo lines
	lp-merge --follow run 2>/dev/null | lp-graph 2>/dev/null | lp-dump -k reached >lines &
	# At first they are in MPI_Init.
	timeout 100 jq -cn 'first(inputs | select(.call | unique != [0]))' <lines >first || true
	[ -e "/proc/$(cat pid)" ]
	[ -s first ]
}

@test "--follow is of one folder and makes one stream" {
	mkdir run
	run -2 --separate-stderr lp-merge --follow run -o shards
	[[ "$stderr" == "lp-merge: --follow makes one stream, by one process" ]]
	for what in '' nowhere 'run run'; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr lp-merge --follow $what
		[[ "$stderr" == "lp-merge: --follow needs the folder that lp-record writes" ]]
	done
}
