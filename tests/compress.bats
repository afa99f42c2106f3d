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
}

@test "nor that of threads, of which one calls no more" {
	most=$(BOUND_KIB=16000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 5 threads)
	[ "$most" -lt 40000 ]
	lp-merge run | lp-graph 2>&1 >/dev/null | grep -q '^lp-graph: 375000 messages .* 0 sends, 0 receives'
	[ "$(stat -c %s run/rank.0)" -lt 12000000 ]
}

@test "what was compressed while the program ran says the same" {
	lp-record -o plain -- "$BATS_FILE_TMPDIR/bursts" 1 >/dev/null
	BOUND_KIB=3000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 1 >/dev/null
	rows plain >plain.rows
	rows run | cmp plain.rows
	[ "$(wc -l <plain.rows)" -eq 100002 ]
}

@test "a rank that is killed leaves all its calls, compressed or not" {
	BOUND_KIB=3000 run -137 lp-record -z min -o run -- bash -c "$BATS_FILE_TMPDIR/bursts 1 kill; exit 137"
	[[ "$(lp-merge run 2>&1 >t.trace)" == *'rank 0 ended early, after 100001 rows' ]]
	lp-graph t.trace 2>&1 >/dev/null | grep -q '^lp-graph: 25000 messages .* 0 sends, 0 receives'
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
		status=0
		wait $pid || status=$?
		[ $status -eq 137 ]	# lp-record's own end, or that of the program, which it passes on
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

# all_times: raw text of calls whose gaps and durations have every number of bits, with parts and sites in turns
all_times() {
	/usr/bin/python3 -c 'import random
random.seed(5)
print("raw ranks=1 rank=0")
at = -2**60
edges = [v for b in range(56) for v in (2**b - 1, 2**b, 2**b + random.randrange(2**b))] + list(range(40)) + [2**59]
both = edges[:]
random.shuffle(edges), random.shuffle(both)
for i, (gap, duration) in enumerate(zip(edges, both)):
    at += gap
    print("0 MPI_" + random.choice(["Wait", "Send", "Barrier"]), at, f"+{duration}", "comm=1",
          f"site={random.choice([0, 1, 2, 300, 70000])} sent={random.choice([0, 1, 2**40])}")
    for part in range(random.choice([0, 0, 1, 3])):
        print(f"0 + comm=1 peer={part} received={2**31 * part}")
    at += duration'
}

# same_rows A B: two traces of one rank say the same to the checker, the reader in Python and lp-merge
same_rows() {
	cmp <(trace.py text "$1" | grep -E '^[0-9]' | sed '/^[0-9]* *end/d') <(trace.py text "$2" | grep -E '^[0-9]' | sed '/^[0-9]* *end/d')
	PYTHONPATH="$ROOT/python" /usr/bin/python3 -c 'import longpole, sys
for key in ("enter", "duration", "call", "site", "comm", "peer", "bytes_sent", "bytes_received", "request"):
    a, b = (longpole.columns(file, "calls", [key])[key].tolist() for file in sys.argv[1:])
    assert a == b, (key, a[:9], b[:9])' "$1" "$2"
	cmp <(lp-merge "$1" | lp-dump -k call) <(lp-merge "$2" | lp-dump -k call)
}

@test "times of any number of bits are coded, and those that cannot be are not" {
	mkdir packed
	all_times | pack >rank.0
	lp-record -z min -o packed -- cp rank.0 packed
	grep -aq time_codes <(zstd_text packed/rank.0)
	same_rows rank.0 packed/rank.0
	# A call that begins before the one before it has ended.
	printf '%s\n' 'raw ranks=1 rank=0' '0 MPI_Send 0 30 sent=7' '0 MPI_Wait 10 40' '0 MPI_Wait 45 46' | pack >rank.0
	lp-record -z min -o packed -- cp rank.0 packed
	refute grep -aq time_codes <(zstd_text packed/rank.0)
	same_rows rank.0 packed/rank.0
}

# zstd_text FILE: what its compressed messages hold
zstd_text() {
	/usr/bin/python3 -c 'import msgpack, sys, zstandard
for kind, body in msgpack.Unpacker(open(sys.argv[1], "rb"), strict_map_key=False):
    if kind == "zstd":
        sys.stdout.buffer.write(zstandard.ZstdDecompressor().decompress(body["data"]))' "$1"
}

# coded CONTENT CODES BITS [BEGIN]: two calls, of two sites, and a part, with these as their times
coded() {
	PYTHONPATH="$ROOT/python" /usr/bin/python3 -c 'import longpole, sys
w = longpole.Writer(sys.stdout.buffer, sys.argv[1], [])
if sys.argv[1] == "raw":
    w.put("rank", {"rank": 0, "ranks": 1, "run": 1})
else:
    w.put("run", {"ranks": 1, "locations": 1, "run_ns": 1})
w.put("call", {"number": 1, "name": "MPI_Wait"})
body = {"location": 0, "first": 0, "count": 3, "call": bytes([1, 1, 0]), "site": bytes([2, 1, 2]), "begin": 100,
        "time_codes": bytes.fromhex(sys.argv[2]), "time_bits": bytes.fromhex(sys.argv[3])}
body.update(eval(sys.argv[4]) if len(sys.argv) > 4 else {})
w.put("calls", {key: value for key, value in body.items() if value is not None})
w.rows = 3
w.end()' "$@"
}

@test "coded times that do not fit their rows, and those of other streams, are refused" {
	# In order of sites: row 1, then row 0 and the part, row 2. Gaps 20 (16 + 2 * 2, and a bit) and 0, durations 3 and 9.
	coded raw 12000309 00 '{"call": bytes([1, 1, 0])}' >good
	trace.py check good
	lp-merge good | lp-dump -k call | jq -s -c 'map([.enter_ns, .leave_ns])' | grep -qxF '[[0,9],[29,32]]'
	for wrong in '12000309 02' '12000309 ""' '12000309 0000' '120003 00' '1200030900 00' '1200ff09 00' '1200d809 00' \
	    "12000309 00 {'time_bits':None}" "12000309 00 {'begin':None}" "12000309 00 {'begin':1<<62}" "12000309 00 {'time_codes':7}" \
	    "12000309 00 {'call':bytes([1,0,1])}" "12000309 00 {'count':1<<30}"; do
		read -r codes bits more <<<"$wrong"
		coded raw "$codes" "${bits//\"/}" ${more:+"$more"} >bad
		run -2 --separate-stderr lp-merge bad
		[[ "$stderr" =~ ^lp-merge:\ bad:[0-9]+:\ calls ]] || { echo "$wrong: $stderr"; false; }
		run ! trace.py check bad
	done
	coded trace 12000309 00 >other
	run -2 --separate-stderr lp-dump other
	[[ "$stderr" == *'coded times in what is no raw trace' ]]
	run ! trace.py check other
}
