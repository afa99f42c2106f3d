# SPDX-License-Identifier: BSD-3-Clause
# Shared by tests of programs that hang: load hangs

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	local of
	for of in hangs ${MORE:-}; do
		mpicc -O1 -g -w -o $of "$ROOT/tests/apps/$of.c" -lpthread
		! command -v mpicc.mpich >/dev/null || mpicc.mpich -O1 -g -w -o $of.mpich "$ROOT/tests/apps/$of.c" -lpthread
	done
}

setup() {
	if emulated; then skip "an emulator hides from others which program a process runs"; fi
	cd "$BATS_TEST_TMPDIR"
}

# The processes of the run under lp-record with this number, and itself.
family() {
	ps -eo pid=,ppid= | awk -v top="$1" '{ parent[$1] = $2 }
		END { for (p in parent) { at = p; while (at > 1 && at != top) at = parent[at]; if (at == top) print p } }'
}

teardown() {
	# shellcheck disable=SC2046
	if [ -e pid ]; then
		kill -KILL $(family "$(cat pid)")
	fi
}

# begin CASE [RANKS [LAUNCHER PROGRAM]]: records it in the background, until all ranks are there
begin() {
	local program=$BATS_FILE_TMPDIR/${4:-hangs} n=${2:-4}
	rm -rf run
	# shellcheck disable=SC2086
	lp-record ${OPTIONS:-} -o run -- ${3:-mpirun --oversubscribe --mca mpi_yield_when_idle 1} -n "$n" "$program" "$1" >out 2>&1 3>&- &
	echo $! >pid
	await compgen -G "run/${HIDDEN:-}rank.$((n - 1))*"
	sleep "${WAIT:-0}"
}

# is FOLDER VERDICT [OPTION...]: lp-stuck's first line of the run there begins so
is() {
	run lp-stuck "${@:3}" "$1"
	[[ "$output" == "$2"* ]]
}

# hung: waits until the ranks are in a deadlock
hung() {
	await is run 'deadlock: '
}

# ended: how the recorder has ended, in status
ended() {
	status=0
	wait "$(cat pid)" || status=$?
	rm pid
}

# end SIGNAL: of lp-record, all ranks, then the launcher: no rank lives to see the launcher die, nor lp-record that all have.
# end LAUNCHER: it alone is killed, and most ranks end when they notice; under Open MPI 5 not those that compute.
end() {
	local all
	all=$(family "$(cat pid)" | command grep -vx "$(cat pid)" | sort -rn)
	# shellcheck disable=SC2086
	if [ "$1" = LAUNCHER ]; then
		pkill -KILL -P "$(cat pid)"
		sleep 2
		kill -KILL $all 2>/dev/null || true
	else
		kill "-$1" "$(cat pid)" $all
	fi
	# shellcheck disable=SC2046,SC2086
	await gone "$(cat pid)" $all
	rm pid
}

