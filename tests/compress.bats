# SPDX-License-Identifier: BSD-3-Clause
# lp-record --compress, while the program runs, and when something is killed.
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
	[ "$(ls run | grep -cvE '^rank\.0(\.[0-9]{4})?$')" -eq 0 ]
	[ "$(ls run | wc -l)" -ge 9 ]
	[ "$(cat run/* | wc -c)" -lt 9000000 ]
}

@test "the disk never holds the trace of threads uncompressed, even if one calls no more" {
	most=$(BOUND_KIB=24000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 5 threads)
	[ "$most" -lt 44000 ]
	lp-merge run | lp-graph 2>&1 >/dev/null | grep -q '^lp-graph: 375000 messages .* 0 sends, 0 receives'
	[ "$(cat run/* | wc -c)" -lt 12000000 ]
}

@test "a program faster than compression is reported once, and the oldest segments come first" {
	mpirun --oversubscribe -n 1 lp-record -z max -o run -- "$BATS_FILE_TMPDIR/bursts" 40 >/dev/null 2>err &
	until grep -q 'lp-record: the program is faster than compression: [0-9]* segments wait on the disk' err; do sleep 0.1; done
	done=$(find run -name 'rank.0*' ! -name '*.new' -size -1500k | sort | head -n -1)
	wait $!
	for file in run/rank.0 run/rank.0.00??; do	# compressed is a beginning of the list
		[ "$(grep -cx "$file" <<<"$done")" -eq 1 ] || break
		done=$(sed "\\|^$file\$|d" <<<"$done")
	done
	[ -z "$done" ]
	[ "$(grep -c faster err)" -eq 1 ]
	[ "$(find run -name 'rank.0*' -size +1500k | wc -l)" -eq 0 ]
	lp-merge run | lp-graph 2>&1 >/dev/null | grep -q '^lp-graph: 1000000 messages .* 0 sends, 0 receives'
}

@test "a trace compressed while the program ran has the same content" {
	lp-record -o plain -- "$BATS_FILE_TMPDIR/bursts" 2 >/dev/null
	BOUND_KIB=6000 lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 2 >/dev/null
	rows plain >plain.rows
	rows run | cmp plain.rows
	[ "$(wc -l <plain.rows)" -eq 200002 ]
	[ "$(ls run | wc -l)" -eq 2 ]
}

@test "a killed rank leaves all its calls, compressed or not" {
	BOUND_KIB=6000 run -137 lp-record -z min -o run -- bash -c "$BATS_FILE_TMPDIR/bursts 3 kill; exit 137"
	[[ "$(lp-merge run 2>&1 >t.trace)" == *'rank 0 ended early, after 300001 rows' ]]
	lp-graph t.trace 2>&1 >/dev/null | grep -q '^lp-graph: 75000 messages .* 0 sends, 0 receives'
	trace.py check run/*
	[ "$(ls run | wc -l)" -eq 3 ]
}

@test "the trace is valid whenever lp-record, the program or both are killed" {
	for who in program lp-record both; do
		lp-record -z min -o run -- "$BATS_FILE_TMPDIR/bursts" 1000 >/dev/null 2>&1 &
		local pid=$! program
		# Compression has begun: of the small segments one may be new.
		until [ "$(find run -name 'rank.0.*' -size -1000k 2>/dev/null | wc -l)" -ge 2 ]; do sleep 0.02; done
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

# segments: a rank in three of them, of which the second one was cut and the last has the end
segments() {
	printf '%s\n' 'raw ranks=1 rank=0 run=7' '0 MPI_Init 0 10' '0 MPI_Barrier 20 30 comm=1' 'end messages=4 rows=2 more=true' | pack >rank.0
	printf '%s\n' 'raw ranks=1 rank=0 run=7 segment=1' '0 MPI_Barrier 40 50 comm=1' 'block first=2' 'zeros 40' | pack >rank.0.0001
	printf '%s\n' 'raw ranks=1 rank=0 run=7 segment=2' '0 MPI_Finalize 60 70' 'block first=3' | pack >rank.0.0002
}

@test "the segments of a rank are one raw trace, in a folder, as files and in a pipe" {
	segments
	trace.py check rank.0*
	lp-merge rank.0* 2>err | lp-dump -k call >calls
	[ ! -s err ]
	jq -s -e 'map(.enter_ns) == [0, 20, 40, 60] and map(.seq) == [0, 1, 2, 3]' calls
	lp-merge . | lp-dump -k call | cmp - calls
	cat rank.0* | lp-merge | lp-dump -k call | cmp - calls
	mpirun --oversubscribe -n 2 lp-merge -o shards .
	lp-dump -k call shards | cmp - calls
	rm -r shards rank.0.0002
	lp-merge . 2>err | lp-dump -k call | head -3 | cmp - <(head -3 calls)
	grep -q 'rank 0 ended early, after 3 rows' err
	rm rank.0.0001
	lp-merge . 2>err >t.trace
	grep -q 'rank 0 ended early, after 2 rows' err
	segments
	rm rank.0.0001
	run -2 --separate-stderr lp-merge .
	[[ "$stderr" == "lp-merge: ./rank.0.0002:"*": segment 2 of rank 0, of which segment 1 is missing" ]]
	run -2 --separate-stderr lp-merge rank.0 rank.0
	[[ "$stderr" == *': rank 0 again: it was read from rank.0' ]]
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

@test "times of any number of bits are coded, except for those that cannot be" {
	mkdir packed
	all_times | pack >rank.0
	lp-record -z min -o packed -- cp rank.0 packed
	grep -aq time_codes <(zstd_text packed/rank.0)
	same_rows rank.0 packed/rank.0
	# The functions are the only column whose integers have more than a byte.
	printf '%s\n' 'raw ranks=1 rank=0' '0 MPI_Send 0 30 sent=7' '0 MPI_Send 40 50 sent=8' | pack >rank.0
	lp-record -z min -o packed -- cp rank.0 packed
	grep -aq zstd packed/rank.0
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

@test "coded times that do not fit their rows, or are from other streams, are refused" {
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
	[[ "$stderr" == *'coded times outside of a raw trace' ]]
	run ! trace.py check other
}
