# SPDX-License-Identifier: BSD-3-Clause
# lp-critpath by several processes, and by parts.
bats_require_minimum_version 1.5.0
load helpers

# A run with many synchronisation points, and one of random calls.
setup_file() {
	"$ROOT/build/bench/synthetic" -r 5 -c 20000 | lp-merge | lp-graph 2>/dev/null >"$BATS_FILE_TMPDIR/long.graph"
	"$ROOT/tests/random_run.py" make 3 | lp-graph 2>/dev/null >"$BATS_FILE_TMPDIR/random.graph"
}

@test "several processes find the same path as one, with every solver of stretches" {
	for graph in long random; do
		file=$BATS_FILE_TMPDIR/$graph.graph
		lp-critpath -F json "$file" >one
		for way in 'walk seq-seq' 'kahn seq-par' 'dijkstra seq-par' 'dijkstra par-seq' \
			'delta par-seq' 'delta par-par'; do
			ranks 4 lp-critpath -a ${way% *} --splits ${way#* } -F json "$file" >many
			cmp one many
		done
	done
}

@test "several processes find the same intervals as one" {
	for graph in long random; do
		file=$BATS_FILE_TMPDIR/$graph.graph
		lp-critpath -a intervals -F json "$file" >one 2>one.note
		lp-critpath -a intervals -F text "$file" >one.text 2>one.note
		for splits in seq-par par-par; do
			for n in 2 3; do
				ranks $n lp-critpath -a intervals --splits $splits -F json "$file" >many 2>many.note
				cmp one many
				cmp one.note many.note
				ranks $n lp-critpath -a intervals --splits $splits -F text "$file" >many.text 2>many.note
				cmp one.text many.text
			done
			# Between two pieces of the output mpirun may mix in what comes on the other one.
			ranks $n bash -c 'exec "$@" 2>&1' - lp-critpath -a intervals --splits $splits -F json "$file" >both
			cmp both <(cat one one.note)
		done
	done
}

@test "the stream of several processes is that of one except for the command line" {
	file=$BATS_FILE_TMPDIR/long.graph
	lp-critpath "$file" >one
	ranks 2 lp-critpath --splits seq-par "$file" >many
	trace.py check many
	cmp <(lp-dump one | grep -v '"history"') <(lp-dump many | grep -v '"history"')
}

@test "random runs have the same path on three processes" {
	for seed in $(short_or_long '11 12' '11 12 13 14 15 16'); do
		random_run.py make $seed | lp-graph 2>/dev/null >t.graph
		lp-critpath -F json t.graph >one
		ranks 3 lp-critpath -a dijkstra -F json t.graph >many
		cmp one many
		ranks 4 lp-critpath -a delta --splits par-par -F json t.graph >many
		cmp one many
	done
}

@test "threads and cycles are the same on several processes" {
	stream good-threads >t.name
	lp-graph "$(cat t.name)" 2>/dev/null >threads.graph
	tests/pack <<-'END' | lp-graph 2>/dev/null >circle.graph
		trace ranks=3
		0 MPI_Init 0 90
		0 MPI_Finalize 250 310
		1 MPI_Init 0 90
		1 MPI_Recv 100 200 comm=1 peer=2 tag=0 received=8
		1 MPI_Send 200 210 comm=1 peer=2 tag=0 sent=8
		1 MPI_Finalize 300 310
		2 MPI_Init 0 90
		2 MPI_Recv 110 200 comm=1 peer=1 tag=0 received=8
		2 MPI_Send 200 210 comm=1 peer=1 tag=0 sent=8
		2 MPI_Finalize 290 310
	END
	for graph in threads circle; do
		lp-critpath -F json $graph.graph >one 2>one.note
		for a in dijkstra delta; do
			ranks 3 lp-critpath -a $a -F json $graph.graph >many 2>many.note
			cmp one many
			cmp one.note many.note
		done
	done
	grep -q '2 calls wait for each other in a cycle' one.note
}

@test "an edge without its row is refused by the process that should have it" {
	tests/pack >t.graph <<-'END'
		graph ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=5 sent=8
		1 MPI_Init 0 10
		1 MPI_Recv 15 40 comm=1 peer=0 tag=5 received=8
		message 0:9 1:1
	END
	run -2 --separate-stderr lp-critpath -F text t.graph
	said=$stderr
	[[ "$said" == *": messages: row 9 of location 0 is not there" ]]
	run -2 --separate-stderr ranks 2 lp-critpath -a dijkstra -F text t.graph
	grep -qxF "$said" <<<"$stderr"
}

@test "in a graph partitioned by rank, each process keeps its ranks" {
	if keeps_memory; then skip "sanitizers and emulators need memory of their own"; fi
	# One stretch: 16 ranks without synchronisation points, and so long that the memory of MPI itself counts for little.
	"$ROOT/build/bench/synthetic" -r 16 -c 750000 | lp-merge | lp-graph 2>/dev/null >t.graph
	cat >without <<-'END'
		import sys, msgpack
		unpacker = msgpack.Unpacker(sys.stdin.buffer, max_buffer_size=2**31)
		out, dropped = msgpack.Packer(), 0
		for kind, body in unpacker:
		    body.pop("xxh3", None)
		    body.pop("hashed", None)
		    body.pop("index", None)
		    if kind == "end":
		        body["messages"] -= dropped
		    if kind in ("sync", "index"):
		        dropped += 1
		    else:
		        sys.stdout.buffer.write(out.pack([kind, body]))
	END
	/usr/bin/python3 without <t.graph >one.graph
	peak lp-critpath -a dijkstra -F text one.graph >one
	for a in dijkstra delta; do
		ranks 4 peak lp-critpath -a $a -F text one.graph >many
		cmp one many
		for rank in 0 1 2 3; do
			[ $((2 * $(cat peak.$rank))) -lt "$(cat peak.alone)" ]
		done
	done
}

@test "of many ranks, several processes share what one keeps of rows" {
	if keeps_memory; then skip "sanitizers and emulators need memory of their own"; fi
	for size in small large; do
		mkdir $size
		cd $size
		ranks=$([ $size = small ] && echo 4 || echo 66000)
		"$ROOT/build/bench/synthetic" -r $ranks -c $((50 * ranks)) -b 50 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
		peak lp-critpath -a dijkstra -F text t.graph >one
		ranks 4 peak lp-critpath -a dijkstra -F text t.graph >many
		cmp one many
		cd ..
	done
	for rank in 0 1 2 3; do
		[ $((2 * $(more_memory $rank))) -lt "$(more_memory alone)" ]
	done
}

@test "parts of a path join to the whole" {
	file=$BATS_FILE_TMPDIR/long.graph
	[ "$(lp-critpath --list 3 "$file" | wc -l)" -eq 4 ]
	for i in 1 2 3; do
		lp-critpath --part $i/3 "$file" >$i.path
		trace.py check $i.path
	done
	for form in text json; do
		cmp <(lp-critpath -F $form "$file") <(lp-critpath --join -F $form 1.path 2.path 3.path)
	done
	run -2 --separate-stderr lp-critpath --join -F text 1.path 3.path
	[[ "$stderr" == *"3.path:"*": segments: does not go on where the path so far ends" ]]
	lp-critpath --join -a intervals -F text 1.path 2.path 3.path 2>&1 >t.text | grep -q '^lp-critpath: intervals: [0-9]* groups; '
	pack "$fixtures/good-threads.txt" >t.trace	# a trace may hold a part of a path, too
	run -2 --separate-stderr lp-critpath --join -F text t.trace
	[ "$stderr" = "lp-critpath: t.trace:0: a trace; lp-graph matches it first" ]
	run -2 --separate-stderr lp-critpath --join -F text "$file"
	[[ "$stderr" == *":0: a graph; lp-critpath --part finds a part of its path" ]]
}

@test "several processes report the same as one, whichever has the ends and longest segments" {
	for graph in long random; do
		file=$BATS_FILE_TMPDIR/$graph.graph
		lp-critpath --all -F text "$file" >one
		for n in 2 3 5; do
			ranks $n lp-critpath --all -F text "$file" | cmp - one
			ranks $n lp-critpath --all -a delta --splits par-par -F text "$file" | cmp - one
		done
	done
}

@test "more parts than stretches are allowed" {
	file=$BATS_FILE_TMPDIR/random.graph
	lp-critpath -F json "$file" >one
	parts=$(lp-critpath --list 50 "$file" | tail -n +2 | cut -f 1)
	for i in $parts; do lp-critpath --part $i/50 "$file" >$i.path; done
	lp-critpath --join -F json $(printf '%s.path ' $parts) >joined
	cmp one joined
	lp-critpath --part 1/50 "$file" >first.path
	trace.py check first.path
}

@test "the workflow solves parts with GNU parallel and joins them" {
	file=$BATS_FILE_TMPDIR/long.graph
	run -0 make -s -f "$ROOT/workflows/splits.mk" GRAPH="$file" PARTS=4
	[ "$output" = "$(lp-critpath -F text "$file")" ]
	trace.py check splits/path
}

@test "options that exclude parts or several processes are refused" {
	file=$BATS_FILE_TMPDIR/random.graph
	run -2 --separate-stderr lp-critpath --part 3/2 "$file"
	[ "$stderr" = "lp-critpath: --part 3: a whole number from 1 to 2 is needed" ]
	run -2 --separate-stderr lp-critpath --part 3 "$file"
	[ "$stderr" = "lp-critpath: --part 3: a part and their number are needed, as in 2/8" ]
	run -2 --separate-stderr lp-critpath --splits par-seq -F text "$file"
	[ "$stderr" = "lp-critpath: --splits par-*: walk and kahn are not parallel; dijkstra, delta and intervals are" ]
	run -2 --separate-stderr bash -c "cat '$file' | lp-critpath --list 2"
	[[ "$stderr" == *"standard input:0: not a file, and it is read more than once" ]]
}

@test "an error of all processes is reported once, by the first" {
	for try in 1 2 3; do
		run -0 --separate-stderr ranks 3 lp-critpath --help
		[ "$output" = "$(lp-critpath --help)" ]
		[ -z "$stderr" ]
		run -0 --separate-stderr ranks 3 lp-critpath --version
		[ "$output" = "$(lp-critpath --version)" ]
		[ -z "$stderr" ]
		for what in '-a none:--algorithm none: one of walk, kahn, dijkstra, delta, intervals is needed' \
			'missing:missing: No such file or directory' \
			'--distance -a intervals missing:only -a, --splits, -F and --all are for several processes'; do
			run -2 --separate-stderr ranks 3 lp-critpath ${what%%:*}
			[ -z "$output" ]
			# mpirun may say that a process failed before it passes on what that process said.
			[[ "$(grep '^lp-critpath: ' <<<"$stderr")" == "lp-critpath: ${what#*:}"* ]]
			[ "$(grep -c '^lp-critpath: ' <<<"$stderr")" -eq 1 ]
			[[ "$stderr" != *[Ff]inalize* ]]
		done
	done
}

@test "damage anywhere is refused by parts and solvers, too" {
	pack -H trace <<-END | lp-graph 2>/dev/null >t.graph
		run ranks=2 locations=2 run_ns=800
		0 MPI_Init 0 100
		0 MPI_Send 500 510 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 520 700
		1 MPI_Init 10 100
		1 MPI_Probe 200 520 comm=1 peer=0 tag=0 received=8
		1 MPI_Recv 525 530 comm=1 peer=0 tag=0 received=8
		1 MPI_Finalize 690 700
	END
	[ -z "${LONG:-}" ] || run -0 every-byte --cut --turn t.graph -- lp-critpath --splits seq-par -F text @
	run -0 every-byte --cut --turn t.graph -- lp-critpath --splits par-seq -a intervals -F text @
}

# damaged FILE AT: FILE with another byte there
damaged() {
	cp "$1" damaged.graph
	printf '\xc1' | dd of=damaged.graph bs=1 seek="$2" conv=notrunc status=none
}

@test "with an index other parts are not read" {
	file=$BATS_FILE_TMPDIR/long.graph
	lp-critpath --list 9 "$file" >list
	lp-critpath --part 9/9 "$file" >9.path
	damaged "$file" "$(lp-dump -k index "$file" | jq .from[5])"
	run -2 lp-critpath -F text damaged.graph
	lp-critpath --list 9 damaged.graph | cmp - list
	lp-critpath --part 9/9 damaged.graph >same.path
	cmp <(lp-dump 9.path | grep -v '"history"') <(lp-dump same.path | grep -v '"history"')
	run -2 --separate-stderr lp-critpath --part 1/9 damaged.graph
	[[ "$stderr" == "lp-critpath: damaged.graph:"*": damaged: "* ]]
}

@test "parts without an index give the same path" {
	file=$BATS_FILE_TMPDIR/long.graph
	# What a tool that knows no index would write.
	/usr/bin/python3 - "$file" >plain.graph <<-'END'
		import os, sys
		sys.dont_write_bytecode = True
		sys.path.insert(0, "tests")
		import trace
		messages = list(trace.read(open(sys.argv[1], "rb")))
		sys.stdout.buffer.write(b"".join(m.bytes for m in messages[:-2]))
		writer = trace.Writer(sys.stdout.buffer, "graph", header=False)
		writer.messages, writer.rows = messages[-1].body["messages"] - 1, messages[-1].body["rows"]
		writer.end()
	END
	trace.py check plain.graph
	cmp <(lp-critpath --list 3 "$file") <(lp-critpath --list 3 plain.graph)
	for i in 1 2 3; do
		cmp <(lp-critpath --part $i/3 -F json "$file") <(lp-critpath --part $i/3 -F json plain.graph)
	done
	ranks 2 lp-critpath -F text plain.graph | cmp - <(lp-critpath -F text "$file")
}

@test "a false index is detected, or does no harm" {
	run -0 lying_index.py "$BATS_FILE_TMPDIR/long.graph" 100
	random_run.py make 42 | lp-graph 2>/dev/null >t.graph
	run -0 lying_index.py t.graph 100
}
