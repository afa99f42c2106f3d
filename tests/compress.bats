# SPDX-License-Identifier: BSD-3-Clause
# lp-record --compress: while the program runs, and what is left when it is killed.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -w -o bursts "$ROOT/tests/apps/bursts.c" -lpthread
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	case $(stat -f -c %T .) in ext2/ext3 | xfs | btrfs | tmpfs | overlayfs) ;; *) skip "the disk takes no pages back" ;; esac
}

bursts() {
	"$BATS_FILE_TMPDIR/bursts" "$@"
}

# rows FOLDER: its calls in order, without their times.
rows() {
	lp-merge "$1" 2>/dev/null | lp-dump -k call | jq -c '[.location, .call, .peer, .tag, .bytes_sent, .bytes_received, .request, .site]'
}

@test "the disk never holds the trace of a long run uncompressed" {
	# 43 MB of rows, of which 5 MB are left.
	most=$(BOUND_KIB=9000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 12)
	[ "$most" -lt 16000 ]
	lp-merge run | lp-graph 2>&1 >/dev/null | grep -q '^lp-graph: 300000 messages .* 0 sends, 0 receives'
	[ "$(ls run)" = rank.0 ]
	[ "$(stat -c %s run/rank.0)" -lt 9000000 ]
	trace.py check run/rank.0
}

@test "nor that of threads, of which one calls no more" {
	most=$(BOUND_KIB=16000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 5 threads)
	[ "$most" -lt 40000 ]
	lp-merge run | lp-graph 2>&1 >/dev/null | grep -q '^lp-graph: 375000 messages .* 0 sends, 0 receives'
	[ "$(stat -c %s run/rank.0)" -lt 12000000 ]
}

@test "what was compressed while the program ran says the same" {
	lp-record -o plain -- "$BATS_FILE_TMPDIR/bursts" 2 >/dev/null
	BOUND_KIB=3000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 2 >/dev/null
	rows plain >plain.rows
	rows run | cmp plain.rows
	[ "$(wc -l <plain.rows)" -eq 200002 ]
}

@test "a rank that is killed leaves all its calls, compressed or not" {
	BOUND_KIB=3000 run -137 lp-record -z min -o run -- bash -c "$BATS_FILE_TMPDIR/bursts 3 kill; exit 137"
	[[ "$(lp-merge run 2>&1 >t.trace)" == *'rank 0 ended early, after 300001 rows' ]]
	lp-graph t.trace 2>&1 >/dev/null | grep -q '^lp-graph: 75000 messages .* 0 sends, 0 receives'
	trace.py check run/rank.0
}

@test "the trace is whole whenever lp-record, the program or both are killed" {
	for who in program lp-record both; do
		lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 1000 >/dev/null 2>&1 &
		local pid=$! program
		# Compression has begun: the file has less on the disk than it is long.
		until [ -e run/rank.0 ] && read -r size blocks < <(stat -c '%s %b' run/rank.0) &&
			[ $((size - 512 * blocks)) -gt 2000000 ]; do sleep 0.02; done
		program=$(pgrep -x -P $pid bursts)
		case $who in program) kill -KILL "$program" ;; lp-record) kill -KILL $pid ;; both) kill -KILL $pid "$program" ;; esac
		wait $pid || true
		until ! kill -0 "$program" 2>/dev/null; do sleep 0.02; done
		lp-merge run >t.trace 2>err
		[[ "$(cat err)" =~ 'rank 0 ended early, after '([0-9]+)' rows' ]]
		rows=${BASH_REMATCH[1]}
		lp-graph t.trace 2>&1 >/dev/null | grep -q "^lp-graph: $(((rows - 1 + 2) / 4)) messages .* 0 sends\|^lp-graph: $(((rows - 1) / 4)) messages"
		rm -r run
	done
}

@test "room in a trace is passed over, and is no part of any other stream" {
	printf '%s\n' 'raw ranks=1 rank=0' 'spare messages=0 data=0x000000' '0 MPI_Init 0 10' 'spare messages=3 data=0x00' \
		'0 MPI_Finalize 20 30' 'end messages=8' | pack >some
	trace.py check some
	lp-merge some | lp-dump -k call | jq -s -e 'map(.call) == ["MPI_Init", "MPI_Finalize"]'
	sed 's/^raw.*/trace ranks=1/' <(printf '%s\n' 'raw' 'spare messages=0 data=0x00' '0 MPI_Init 0 10') | pack >other
	run -1 trace.py check other
	PYTHONPATH="$ROOT/python" /usr/bin/python3 -c 'import longpole; print(sum(m.kind == "calls" for m in longpole.open("some")))' |
		grep -qx 2
}
