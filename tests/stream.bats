#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The stream format: what a reader takes and what it refuses, seen through lp-dump, and compared
# with the second implementation in trace.py.

load helpers

@test "both implementations accept every good fixture" {
	for text in "$fixtures"/good-*.txt; do
		file=$(stream "$(basename "$text" .txt)")
		echo "$text"
		lp-dump "$file" | jq -c . > /dev/null
	done
	trace.py check "$BATS_TEST_TMPDIR"/good-*
}

@test "both refuse every bad fixture at the byte that it names, without much memory" {
	cd "$BATS_TEST_TMPDIR"
	local names=() offsets=()
	for text in "$fixtures"/bad-*.txt; do
		name=$(basename "$text" .txt)
		expected=$(sed -n 's/^# expect //p' "$text")
		echo "$name: $expected"
		stream "$name" > /dev/null
		run -2 --separate-stderr limited 200000 lp-dump "$name"
		# The last line: sanitizers speak of refused memory before it.
		[ "${stderr##*$'\n'}" = "lp-dump: $name:$expected" ]
		names+=("$name")
		offsets+=("${expected%%:*}")
	done
	run -1 --separate-stderr trace.py check "${names[@]}"
	[ "${#stderr_lines[@]}" -eq "${#names[@]}" ]
	for i in "${!names[@]}"; do
		[[ "${stderr_lines[i]}" == "trace.py: ${names[i]}:${offsets[i]}: "* ]]
	done
}

@test "text, packed and read back, is the same text" {
	PYTHONPATH=$ROOT/tests /usr/bin/python3 - "$fixtures"/good-*.txt <<-'END'
		import io, sys
		sys.dont_write_bytecode = True
		import pack, trace
		for name in sys.argv[1:]:
		    with open(name, errors="surrogateescape") as file:
		        packed = pack.pack(file)
		    text = list(trace.text(list(trace.read(io.BytesIO(packed)))))
		    assert text == list(trace.text(list(trace.read(io.BytesIO(pack.pack(text)))))), name
		assert len(sys.argv) > 10
	END
}

@test "lp-dump and trace.py see the same rows" {
	for text in "$fixtures"/good-*.txt; do
		file=$(stream "$(basename "$text" .txt)")
		grep -q '^raw' "$text" && continue	# there trace.py prints threads, lp-dump ranks
		grep -q '^location' "$text" && continue
		trace.py text "$file" | awk '/^[0-9]+ [^+]/ { print $1, $2, $3, $4 }' > "$file.1"
		lp-dump -F table "$file" | awk 'NR > 1 { print $1, $3, $4, $5 }' > "$file.2"
		cmp "$file.1" "$file.2"
	done
}

@test "an empty input is not a stream" {
	run -2 --separate-stderr lp-dump /dev/null
	[ "$stderr" = "lp-dump: /dev/null:0: empty: not a longpole stream" ]
	[ -z "$output" ]
}

@test "a pipe into a tool, and out of it, holds 512 KB, or more if it did" {
	[ "$(cat /proc/sys/fs/pipe-max-size)" -ge 1048576 ] || skip "pipes are smaller here"
	pack "$fixtures/good-path.txt" >small
	for end in 0 1; do
		python3 -c '
import fcntl, os, subprocess, sys, time
GET, SET = 1032, 1031
end, bytes_of = int(sys.argv[1]), open("small", "rb").read()
for at_first, then in (4096, 1 << 19), (65536, 1 << 19), (1 << 20, 1 << 20):
    reads, writes = os.pipe()
    fcntl.fcntl(writes, SET, at_first)
    if end == 0:
        os.write(writes, bytes_of[:100])	# the tool waits for the rest
        tool = subprocess.Popen(["lp-imbalance"], stdin=reads, stdout=subprocess.DEVNULL)
        for _ in range(1000):
            if fcntl.fcntl(reads, GET) == then or tool.poll() is not None:
                break
            time.sleep(0.01)
        assert fcntl.fcntl(reads, GET) == then
        os.write(writes, bytes_of[100:])
        os.close(writes)
        assert tool.wait() == 0
    else:
        assert subprocess.run(["lp-gain", "-F", "stream", "small"], stdout=writes).returncode == 0
        assert fcntl.fcntl(reads, GET) == then
' $end
	done
}

@test "a stream cut at any byte is an error" {
	every-byte --cut "$(stream good-small)" -- lp-dump
}

@test "a stream with any byte changed is an error" {
	every-byte --flip "$(stream good-small)" -- lp-dump
}

@test "raw traces cut at any byte are an error" {
	pack "$fixtures/good-raw.txt" > "$BATS_TEST_TMPDIR/two"
	# Behind the first of the two a cut cannot be seen: there the reader has one whole raw trace.
	first=$(sed '/^raw.*rank=1/,$d' "$fixtures/good-raw.txt" | pack | wc -c)
	run every-byte --cut "$BATS_TEST_TMPDIR/two" -- lp-dump
	[ "${lines[0]}" = "cut at $first: status 0: b''" ]
	[[ "${lines[1]}" == *" 1 exceptions" ]]
}

@test "the raw trace of a dead rank is valid once a zero byte follows" {
	file=$(stream good-raw-died)
	whole=$(($(wc -c < "$file") - 16 + 1))
	every-byte --good-from "$whole" --cut "$file" -- lp-dump
	run -0 lp-dump -k cut "$file"
	[ "$output" = '{"kind":"cut"}' ]
}

@test "raw traces, also of dead ranks, may be concatenated" {
	cat "$(stream good-raw-died)" "$(stream good-raw)" "$(stream good-raw-died)" \
	    > "$BATS_TEST_TMPDIR/all"
	trace.py check "$BATS_TEST_TMPDIR/all"
	[ "$(lp-dump -k cut,end "$BATS_TEST_TMPDIR/all" | jq -r .kind | tr '\n' ' ')" = "cut end end cut " ]
}

@test "columns of 1, 2, 4 and 8 bytes have the same values" {
	grep -v '^trace' "$fixtures/good-small.txt" > "$BATS_TEST_TMPDIR/rows"
	pack "$fixtures/good-small.txt" | lp-dump > "$BATS_TEST_TMPDIR/least"
	for width in 2 4 8; do
		pack -H "trace ranks=2 width=$width" "$BATS_TEST_TMPDIR/rows" > "$BATS_TEST_TMPDIR/wide"
		trace.py check "$BATS_TEST_TMPDIR/wide"
		lp-dump "$BATS_TEST_TMPDIR/wide" | cmp - "$BATS_TEST_TMPDIR/least"
	done
	printf '0 MPI_Init 0 +100\n0 MPI_Send 101 +7 comm=1 peer=1 tag=3 sent=9\n' > "$BATS_TEST_TMPDIR/rows"
	for width in 1 8; do
		pack -H "trace width=$width" "$BATS_TEST_TMPDIR/rows" | lp-dump > "$BATS_TEST_TMPDIR/$width"
	done
	cmp "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/8"
}

@test "spare room in columns does not count as rows" {
	grep -v '^trace' "$fixtures/good-small.txt" > "$BATS_TEST_TMPDIR/rows"
	pack -H "trace ranks=2 capacity=100" "$BATS_TEST_TMPDIR/rows" > "$BATS_TEST_TMPDIR/room"
	trace.py check "$BATS_TEST_TMPDIR/room"
	lp-dump "$BATS_TEST_TMPDIR/room" | cmp - <(pack "$fixtures/good-small.txt" | lp-dump)
}

@test "a stream without hashes is accepted, unless its header promises them" {
	sed 's/^trace .*/& hashed=false/' "$fixtures/good-small.txt" | pack > "$BATS_TEST_TMPDIR/plain"
	trace.py check "$BATS_TEST_TMPDIR/plain"
	lp-dump "$BATS_TEST_TMPDIR/plain" | cmp - <(pack "$fixtures/good-small.txt" | lp-dump)
}

@test "unknown kinds, keys and functions pass" {
	run -0 --separate-stderr lp-dump "$(stream good-unknown)"
	[[ "$output" == *'{"kind":"weather","cloud":"\ufffdé","temperature":18446744073709551615}'* ]]
	[[ "$output" == *'"kind":"a_kind_with_a_name_longer_than_any_other_known","a":1,"b":-1'* ]]
	run -0 lp-dump -F table "$(stream good-calls)"
	[[ "$output" == *MPIX_Future* ]]
}

# Two windows, whose rows may have two messages; collectives between islands, whose network is that of the first member.
@test "no result hangs on the order of edges, or of the members of a collective" {
	printf '%s\n' "window_run.py 2 | pack" "window_run.py 7 | pack" "window_run.py 12 | pack" \
		"random_run.py make 3 more 4" "random_run.py make 11" >runs
	while read -r made; do
		eval "$made" | lp-graph >t.graph 2>/dev/null
		reorder.py 5 <t.graph >other.graph
		trace.py check other.graph
		refute cmp -s t.graph other.graph
		for tool in lp-critpath lp-imbalance "lp-gain --gain 50" "lp-replay --partial" \
			"lp-replay --partial -n $ROOT/tests/golden.d/texts/islands.machine" "lp-tolerance --sites --partial"; do
			$tool -F json t.graph >t.json 2>/dev/null
			$tool -F json other.graph >other.json 2>/dev/null
			jq -e 'length > 0' t.json
			cmp t.json other.json
		done
	done <runs
}

@test "lp-dump prints the worked example of the page" {
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$ROOT/base/stream/trace.5" | grep '^{' > "$BATS_TEST_TMPDIR/page"
	printf 'trace ranks=2\n0 MPI_Init 0 9000\n' | pack | lp-dump -k run,call_name |
	    cmp - "$BATS_TEST_TMPDIR/page"
}

@test "the sample filter of the page runs and drops what it claims" {
	sed -n '/^import sys, msgpack/,/^\.Ed/p' "$ROOT/base/stream/trace.5" | sed '$d' > "$BATS_TEST_TMPDIR/filter"
	file=$(stream good-path)
	/usr/bin/python3 "$BATS_TEST_TMPDIR/filter" rank < "$file" > "$file.out"
	trace.py check "$file.out"
	lp-dump "$file" | grep -v '"kind":"rank"\|"kind":"end"' > "$file.1"
	lp-dump "$file.out" | grep -v '"kind":"end"' | cmp - "$file.1"
}

@test "a shell reads back the history, whatever the words" {
	printf 'trace ranks=1\n0 MPI_Init 0 9000\n0 MPI_Finalize 9000 9900\n' | pack >trace
	for name in "it's.trace" "''" 'a b' '$HOME' '*' '`x`' '~' '#' '!x' 'a;b' '{a,b}' 'x\y' '"' $'two\nlines' $'\t' é 'a=b' '<'; do
		cp trace "$name"
		lp-graph "$name" >graph 2>err
		line=$(lp-dump -k longpole graph | jq -r '.history[-1]')
		eval "words=($line)"
		[ "${#words[@]}" -eq 2 ]
		[ "${words[0]}" = lp-graph ]
		[ "${words[1]}" = "$name" ]
	done
	[[ "$(lp-graph trace 2>err | lp-dump -k longpole | jq -r '.history[-1]')" == 'lp-graph trace' ]]
}

@test "a few hundred random mutations do no harm" {
	fuzz -n 100 "$(stream good-path)" "$(stream good-raw)" "$(stream good-calls)" -- lp-dump
}
