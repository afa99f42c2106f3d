# SPDX-License-Identifier: BSD-3-Clause
# Runs with samples: load sampled, after helpers. setup_file() ends with probe_samples PROGRAM.

RUN="mpirun --oversubscribe --mca mpi_yield_when_idle 1"

probe_samples() {
	lp-record --sample 100 -o probe -- $RUN -n 1 "$@" 2>probe.err
	cat probe.err >&2
}

# Where the kernel takes no samples these tests have nothing to see.
setup() {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$ROOT/tests" tests
	! grep -q 'the kernel refuses it' "$BATS_FILE_TMPDIR/probe.err" || skip "this kernel allows no perf_event_open"
}

# sampled PROGRAM [ARGUMENT ...]: recorded on two ranks, as t.graph; samples a second: HZ. As stolen what a hypervisor took
# meanwhile: to the kernel's switches that is time on a core, and samples may be in it or not. So the run is repeated until nothing
# is stolen, or the tenth time.
sampled() {
	local program=$BATS_FILE_TMPDIR/$1 before try
	shift
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf run
		before=$(stolen 0.01)
		lp-record --sample "${HZ:-1000}" -o run -- $RUN -n 2 "$program" "$@" >out
		stolen "$before" >stolen
		if jq -e '. <= 0.015' stolen >/dev/null; then break; fi
	done
	lp-merge run >t.trace
	lp-graph t.trace >t.graph 2>/dev/null
	trace.py check run/rank.* t.trace t.graph
}

# told FUNCTION KEY: of lp-critpath's path.json
told() {
	jq --arg name "$1" --arg key "$2" '.by_function | map(select(.function == $name))[0][$key] // 0' path.json
}

# as_planted FUNCTION SECONDS [LEAST]: its CPU time on the path, or at least LEAST of it, within three standard errors, with the clock
# that it reads. A part of it may have been the kernel's, if no sample sees that: this part is in a row of its own, and small. What a
# hypervisor took, if each run lost some, may be in it, too.
as_planted() {
	jq -e --argjson told "$(told $1 path_inclusive_s)" --argjson error "$(told $1 standard_error)" --argjson planted "$2" --argjson least "${3:-$2}" \
		--argjson unseen "$(told '(on a core, not sampled)' path_s)" --argjson stolen "$(cat stolen)" '(3 * $error * .path_length_s) as $error |
		(if $stolen > 0.015 then $stolen else 0 end) as $taken |
		$told <= $planted + $error + $taken and $told + $unseen >= $least - $error and
		$unseen < 0.1 * .computation.on_core_s + $stolen' path.json
}
