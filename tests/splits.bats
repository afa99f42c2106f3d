# SPDX-License-Identifier: BSD-3-Clause
# lp-critpath by several processes, and by parts.
bats_require_minimum_version 1.5.0
load helpers

mpi() {
	timeout 60 mpirun --oversubscribe --mca mpi_yield_when_idle 1 "$@"
}

# A run with many synchronisation points, and one of random calls.
setup_file() {
	"$ROOT/build/bench/synthetic" -r 5 -c 20000 | lp-merge | lp-graph 2>/dev/null >"$BATS_FILE_TMPDIR/long.graph"
	"$ROOT/tests/random_run.py" make 3 | lp-graph 2>/dev/null >"$BATS_FILE_TMPDIR/random.graph"
}

@test "several processes find the path of one, whichever way the stretches are solved" {
	for graph in long random; do
		file=$BATS_FILE_TMPDIR/$graph.graph
		lp-critpath -F json "$file" >one
		for way in 'walk seq-seq' 'kahn seq-par' 'dijkstra seq-par' 'dijkstra par-seq' \
			'delta par-seq' 'delta par-par'; do
			mpi -n 4 lp-critpath -a ${way% *} --splits ${way#* } -F json "$file" >many
			cmp one many
		done
	done
}

@test "several processes find the intervals of one" {
	for graph in long random; do
		file=$BATS_FILE_TMPDIR/$graph.graph
		lp-critpath -a intervals -F json "$file" >one 2>one.note
		for n in 2 3; do
			mpi -n $n lp-critpath -a intervals -F json "$file" >many 2>many.note
			cmp one many
			cmp one.note many.note
		done
	done
}

@test "the stream of several processes is that of one but for the command line" {
	file=$BATS_FILE_TMPDIR/long.graph
	lp-critpath "$file" >one
	mpi -n 2 lp-critpath --splits seq-par "$file" >many
	trace.py check many
	cmp <(lp-dump one | grep -v '"history"') <(lp-dump many | grep -v '"history"')
}

@test "random runs have the same path on three processes" {
	for seed in 11 12 13 14 15 16; do
		random_run.py make $seed | lp-graph 2>/dev/null >t.graph
		lp-critpath -F json t.graph >one
		mpi -n 3 lp-critpath -a dijkstra -F json t.graph >many
		cmp one many
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
	run -2 --separate-stderr lp-critpath --join -F text "$file"
	[[ "$stderr" == *":0: a graph; lp-critpath --part finds a part of its path" ]]
}

@test "more parts than stretches are fine" {
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

@test "what is not for parts or several processes is refused" {
	file=$BATS_FILE_TMPDIR/random.graph
	run -2 --separate-stderr lp-critpath --part 3/2 "$file"
	[ "$stderr" = "lp-critpath: --part 3: a whole number from 1 to 2 is needed" ]
	run -2 --separate-stderr lp-critpath --part 3 "$file"
	[ "$stderr" = "lp-critpath: --part 3: a part and their number are needed, as in 2/8" ]
	run -2 --separate-stderr lp-critpath --gain 10 --part 1/2 "$file"
	run -2 --separate-stderr lp-critpath -a intervals --slack "$file"
	run -2 --separate-stderr lp-critpath --splits par-seq -F text "$file"
	[ "$stderr" = "lp-critpath: --splits par-*: walk and kahn are not parallel; dijkstra, delta and intervals are" ]
	run -2 --separate-stderr bash -c "cat '$file' | lp-critpath --list 2"
	[[ "$stderr" == *"standard input:0: not a file, and it is read more than once" ]]
}

@test "damage anywhere is refused by parts and ways, too" {
	random_run.py make 2 | lp-graph 2>/dev/null >t.graph
	run -0 every-byte --cut --flip t.graph -- lp-critpath --splits seq-par -F text
	run -0 every-byte --cut --flip t.graph -- lp-critpath --splits par-seq -a intervals -F text
}
