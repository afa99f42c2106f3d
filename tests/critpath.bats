# SPDX-License-Identifier: BSD-3-Clause
# lp-critpath and lp-imbalance on small runs.
bats_require_minimum_version 1.5.0
load helpers

graph() {
	tests/pack | lp-graph 2>/dev/null >t.graph
}

late_sender() {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 500 510 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 520 700
		1 MPI_Init 10 100
		1 MPI_Recv 200 530 comm=1 peer=0 tag=0 received=8
		1 MPI_Finalize 690 700
	END
}

@test "a loop of polls is one segment of the JSON, which covers the run like the others" {
	for polls in 30 600; do
		graph <<-END
			trace ranks=1
			site site=1 module=0 offset=1
			0 MPI_Init 0 100
			$(for ((i = 0; i < polls; i++)); do echo "0 MPI_Iprobe $((1000 + 100 * i)) +50 comm=1 peer=0 tag=5 site=1"; done)
			0 MPI_Finalize 100000 100100
		END
		lp-critpath -F json t.graph >$polls.json
		jq -e '([.segments[] | .end_ns - .begin_ns] | add) == 100100' $polls.json
	done
	jq -e 'all(.segments[]; .kind != "polls")' 30.json
	jq -e '[.segments[] | select(.kind == "polls")] == [{rank: 0, begin_ns: 100, end_ns: 60950, kind: "polls",
		call: "MPI_Iprobe", site: 1, pieces: 1200, compute_ns: 30850}]' 600.json
}

@test "every report begins with the same verdict: alone, in parts and on three processes" {
	graph <<-'END'
		trace ranks=2 program=/opt/sim/heat host=n1 date_s=1795325400
		site site=1 offset=1 call=MPI_Send function=exchange file=heat.c line=134
		site site=2 offset=2 call=MPI_Recv function=exchange file=heat.c line=140
		0 MPI_Init 0 100
		0 MPI_Send 500 510 comm=1 peer=1 tag=0 sent=8 site=1
		0 MPI_Finalize 520 700
		1 MPI_Init 10 100
		1 MPI_Recv 200 530 comm=1 peer=0 tag=0 received=8 site=2
		1 MPI_Finalize 690 700
	END
	run='heat, 2 ranks on n1, 2026-11-22 05:30 UTC'
	pole="rank 0's computation before MPI_Send at exchange (heat.c:134)"
	lp-critpath -F text t.graph >text
	# 400 of the 590 ns between MPI_Init and MPI_Finalize
	[ "$(head -1 text)" = "$run: $pole is 68 % of the critical path" ]
	[ "$run: $(lp-critpath -F json <t.graph | jq -r .verdict.sentence)" = "$(head -1 text)" ]
	[ "$(lp-gain --gain 50 -F text t.graph | head -1)" = "$(head -1 text); 50 % less there on all ranks gains 33.9 %" ]
	lp-critpath --part 1/2 t.graph >1
	lp-critpath --part 2/2 t.graph >2
	cmp <(lp-critpath --join -F text 1 2 | head -1) <(head -1 text)
	cmp <(mpirun --oversubscribe -n 3 lp-critpath -F text t.graph | head -1) <(head -1 text)
	# 200 to 500: the receiver waits for the sender, who computes meanwhile
	[ "$(lp-imbalance t.graph | head -1)" = "$run: $pole cost the others 0.3 us of rank time, 21 % of all" ]
	[ "$(lp-imbalance -F json t.graph | jq -r .verdict.sentence)" = "$pole cost the others 0.3 us of rank time, 21 % of all" ]
	[ "$(lp-replay -F text t.graph | head -1)" = "$run: 5.7e-07 s on this network, 7e-07 s as recorded: 18.6 % less" ]
	[ "$(lp-report --gain 0 -F text t.graph)" = "$run: $pole is 68 % of the critical path and cost the others 0.3 us of rank time, 21 % of all" ]
}

@test "ranks distributed round-robin are counted by host, and the earliest rank dates the run" {
	for ((r = 0; r < 6; r++)); do
		pack <<-END >rank.$r
			raw ranks=6 rank=$r host=n$((r % 3)) date_s=$((1795325400 + (r * 5 + 7) % 11))
			0 MPI_Init 0 100
			0 MPI_Finalize $((200 + r)) 700
		END
	done
	lp-merge rank.? | lp-graph 2>/dev/null >t.graph
	[[ $(lp-critpath -F text t.graph | head -1) == 'app, 6 ranks on 3 hosts, 2026-11-22 05:30 UTC: '* ]]
	[ "$(lp-dump -k run t.graph | jq .date_s)" -eq 1795325400 ]
	lp-report t.graph | grep -q 'Hosts: n0 (2 ranks), n1 (2 ranks), n2 (2 ranks)'
}

@test "the path leaves a late receive to the sender" {
	late_sender
	for a in walk kahn dijkstra delta; do
		lp-critpath -a $a -F json t.graph >t.json
		run -0 jq -c '.segments[] | [.rank, .begin_ns, .end_ns, .kind, .call]' t.json
		[ "$output" = "$(cat <<-'END'
			[1,0,10,"start",null]
			[0,10,100,"transfer","MPI_Init"]
			[0,100,500,"compute",null]
			[1,500,530,"transfer","MPI_Recv"]
			[1,530,690,"compute",null]
			[0,690,700,"transfer","MPI_Finalize"]
		END
		)" ]
		jq -e '.run_time_s == .path_length_s and .run_time_s == 7e-7' t.json
		jq -e '[.by_rank[] | .compute_s + .mpi_s + .transfer_s + .start_s] | add * 1e9 | round == 700' t.json
	done
}

@test "the stream form holds the input and the same segments" {
	late_sender
	lp-critpath t.graph >t.path
	tests/trace.py check t.path
	[ "$(lp-dump -k segment t.path | wc -l)" -eq 6 ]
	[ "$(lp-dump -k call t.path)" = "$(lp-dump -k call t.graph)" ]
	lp-dump -k path t.path | jq -e '.length_ns == 700 and .segments == 6'
	lp-critpath -F text t.path >t.text		# a later stage's stream serves, too
	grep -q 'run time 0.000000700 s; critical path 0.000000700 s in 6 segments' t.text
}

@test "if a send waits for its receiver, the path goes to the receiver" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Ssend 200 520 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 900 1000
		1 MPI_Init 0 100
		1 MPI_Recv 500 530 comm=1 peer=0 tag=0 received=8
		1 MPI_Finalize 600 1000
	END
	run -0 jq -c '.segments[] | [.rank, .begin_ns, .end_ns, .kind]' <(lp-critpath -F json t.graph)
	[ "$output" = "$(cat <<-'END'
		[1,0,100,"transfer"]
		[1,100,500,"compute"]
		[0,500,520,"transfer"]
		[0,520,900,"compute"]
		[0,900,1000,"mpi"]
	END
	)" ]
}

@test "calls that wait for each other in a cycle are named, and the path avoids them" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 90
		0 MPI_Recv 100 200 comm=1 peer=1 tag=0 received=8
		0 MPI_Send 200 210 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 300 310
		1 MPI_Init 0 90
		1 MPI_Recv 110 200 comm=1 peer=0 tag=0 received=8
		1 MPI_Send 200 210 comm=1 peer=0 tag=0 sent=8
		1 MPI_Finalize 290 310
	END
	for a in walk kahn dijkstra delta; do
		run -0 --separate-stderr lp-critpath -a $a -F json t.graph
		[ "$stderr" = "lp-critpath: 2 calls wait for each other in a cycle at 0.000000200 s, the clocks are wrong: rank 0 MPI_Recv (row 1), rank 1 MPI_Recv (row 1); rank 0 MPI_Recv (row 1) is treated as not blocked" ]
		jq -e '.path_length_s == 3.1e-7 and ([.segments[] | select(.call == "MPI_Recv")] |
			length == 1 and .[0].rank == 0 and .[0].kind == "mpi")' <<<"$output"
	done
}

@test "intervals find the path if all wait for the last; else gaps are marked, outside the length" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Barrier 300 410 comm=1
		0 MPI_Finalize 700 720
		1 MPI_Init 0 100
		1 MPI_Barrier 400 410 comm=1
		1 MPI_Finalize 500 720
	END
	run -0 --separate-stderr lp-critpath -a intervals --distance -F json t.graph
	[ "$stderr" = "lp-critpath: intervals: 2 groups; the length is 0.000000720 s, gaps are 0.000000000 s (0.00 %); for 100.00 % of the time it is on the exact path's rank, for 100.00 % at its site, too" ]
	[ "$(jq -c '[.segments[] | select(.kind == "compute") | .rank]' <<<"$output")" = '[1,0]' ]
	random_run.py make 3 | lp-graph 2>/dev/null >t.graph
	lp-critpath -a intervals -F json t.graph >t.json 2>note
	jq -e '([.segments[] | select(.kind == "unknown")] | all(.rank == null and .call == null)) and
		([.segments[] | select(.kind != "unknown") | .end_ns - .begin_ns] | add) == (.path_length_s * 1e9 | round) and
		((.path_length_s + .unknown_s - .run_time_s) | fabs) < 1e-12 and .unknown_s > 0' t.json
	lp-critpath -a intervals t.graph 2>/dev/null >t.path
	trace.py check t.path
	lp-dump -k segment t.path | jq -s -e 'any(.segment == "unknown")'
	# What reads paths takes them for what they are.
	for tool in 'lp-report -F svg' 'lp-report -F text' 'lp-export -f folded' 'lp-export -f perfetto' 'lp-imbalance --path t.path'; do
		$tool t.path >out
	done
	lp-export -f folded t.path | grep -q unknown
	run -2 --separate-stderr lp-compare --summary t.path
	[[ "$stderr" == *"segments: no path from begin to end" ]]
	run -2 --separate-stderr lp-critpath --distance t.graph
	[ "$stderr" = "lp-critpath: --distance is that of -a intervals, of the whole run on one process" ]
}

@test "the distance of intervals is how long both are on the same rank" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		random_run.py make $seed | lp-graph 2>/dev/null >t.graph
		lp-critpath -a intervals --distance -F json t.graph >near.json 2>/dev/null
		lp-critpath -F json t.graph >exact.json
		/usr/bin/python3 - <<-'END'
			import json
			near, exact = json.load(open("near.json")), json.load(open("exact.json"))
			cuts = sorted({t for p in (near, exact) for s in p["segments"] for t in (s["begin_ns"], s["end_ns"])})
			def rank(path, at):
			    return next(s["rank"] for s in path["segments"] if s["begin_ns"] <= at < s["end_ns"])
			same = sum(b - a for a, b in zip(cuts, cuts[1:]) if rank(near, a) == rank(exact, a))
			assert abs(same / (cuts[-1] - cuts[0]) - near["distance"]["same_rank_share"]) < 1e-9
		END
	done
}

@test "packed rows in a temporary file give the same path, byte for byte" {
	for seed in 1 2 3 4; do
		random_run.py make $seed more | lp-graph 2>/dev/null >t.graph
		for how in 'critpath -a walk' 'critpath -a kahn' 'critpath -a dijkstra' 'critpath -a intervals' 'gain --slack' \
			'gain --gain 30' 'gain -k 2' 'gain --needed'; do
			lp-$how -F json t.graph >kept 2>/dev/null
			lp-$how -F json --memory 0 t.graph >packed 2>/dev/null
			cmp kept packed
		done
		lp-critpath t.graph | trace.py text | grep -v '^path' >kept
		lp-critpath --memory 0 t.graph | trace.py text | grep -v '^path' >packed
		cmp kept packed
	done
	# More chunks than are unpacked at a time: what edges changed in them is packed anew.
	"$ROOT/build/bench/synthetic" -r 256 -c 40000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	for how in 'critpath -a walk' 'critpath -a kahn' 'gain --slack'; do
		lp-$how -F json t.graph >kept
		lp-$how -F json --memory 0 t.graph >packed
		cmp kept packed
	done
}

@test "a stretch without waits stays within its memory limit, from a pipe, too" {
	"$ROOT/build/bench/synthetic" -a -r 4 -c 600000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	lp-critpath -F json t.graph >kept
	limited 60000 lp-critpath -F json --memory 8 t.graph >packed
	cmp kept packed
	cat t.graph | limited 60000 lp-critpath -F json --memory 8 >packed
	cmp kept packed
	if ! keeps_memory; then
		run -2 --separate-stderr limited 40000 lp-critpath -F json --memory 4000 t.graph
		[ "$stderr" = "lp-critpath: out of memory" ]
	fi
	lp-gain --gain 10 -F json t.graph >kept
	lp-gain --gain 10 -F json --memory 4 t.graph >packed
	cmp kept packed
}

@test "a temporary file that cannot be written ends the tool with a message" {
	"$ROOT/build/bench/synthetic" -a -r 4 -c 100000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	TMPDIR=$PWD/nowhere run -2 --separate-stderr lp-critpath -F json --memory 0 t.graph
	[[ "$stderr" == "lp-critpath: $PWD/nowhere/lp-critpath."*": No such file or directory" ]]
}

@test "slack, gain and alternatives of random runs equal brute force" {
	run -0 tests/whatif_check.py 1 "$(short_or_long 10 25)"
	# A completion whose only source is its own start.
	run -0 tests/whatif_check.py 1179 1
}

@test "on the graph of all needs, solvers equal brute force, with the same and with other edges" {
	run -0 tests/choice_check.py 1 "$(short_or_long 15 40)"
}

@test "--scale scales exactly what it names" {
	graph <<-'END'
		trace ranks=2
		site site=1 offset=0
		0 MPI_Init 0 10
		0 MPI_Barrier 100 110 comm=1
		0 MPI_Finalize 200 210
		1 MPI_Init 0 10
		1 MPI_Barrier 90 110 comm=1 site=1
		1 MPI_Finalize 110 210
	END
	length() {
		lp-gain -F json "$@" t.graph | jq -r '"\(.path_length_s * 1e9 | round) \([.segments[] | .rank] | join(" "))"'
	}
	[ "$(length --needed)" = '210 0 0 0 0 0' ]
	# Half of what rank 0 computes: rank 1 comes to the barrier last.
	[ "$(length --scale rank=0,factor=0.5)" = '155 1 1 0 0 0' ]
	[ "$(length --scale 'site=#1,factor=2')" = '280 1 1 0 0 0' ]
	[ "$(length --scale call=MPI_Barrier,factor=3 --scale call=MPI_Init factor=0)" = '220 0 0 0 0' ]
	lp-gain --scale rank=0,factor=0.5 t.graph >t.text
	grep -qx 'the path over all that calls need, with what --scale changes' t.text
	for wrong in '-F stream' '--slack' '--gain 20' '-k 1'; do
		run -2 --separate-stderr lp-gain --needed $wrong t.graph
		[[ "$stderr" == "lp-gain: --needed and --scale"* ]]
		[ -z "$output" ]
	done
}

@test "options that moved from lp-critpath end with a line that names lp-gain" {
	late_sender
	for old in --slack '--gain 20' '-k 2' '--alternatives 2' --needed '--scale rank=0,factor=0.5'; do
		run -2 --separate-stderr lp-critpath $old t.graph
		[ "$stderr" = "lp-critpath: --slack, -k, --gain, --needed and --scale are those of lp-gain" ]
		[ -z "$output" ]
	done
	# Without a question it is what 20 % less would gain.
	cmp <(lp-gain -F json t.graph) <(lp-gain --gain 20 -F json t.graph)
	run -2 --separate-stderr lp-gain -a kahn t.graph
	[ "$stderr" = "lp-gain: -a is of --needed and --scale" ]
}

@test "a faster call site gains until another path takes over" {
	graph <<-'END'
		trace ranks=2
		site site=1 offset=0
		0 MPI_Init 0 10
		0 MPI_Barrier 100 110 comm=1
		0 MPI_Finalize 200 210
		1 MPI_Init 0 10
		1 MPI_Barrier 90 110 comm=1 site=1
		1 MPI_Finalize 110 210
	END
	lp-gain --gain 50 --slack -k 1 -F json t.graph >t.json
	jq -e '.gain_by_site == [{"site":0,"where":"","gain_s":6e-8,"at_most_s":9.5e-8}]' t.json
	jq -e '[.slack_by_site[] | [.site, .least_slack_s]] == [[0,0],[1,1e-8]]' t.json
	jq -e '.alternatives[0] | .number == 1 and .length_s == 1.1e-7 and .shorter_s == 1e-7' t.json
	lp-gain --gain 50 --slack -k 2 -F text t.graph >t.text
	grep -q $'^0.000000\t31.58\t0.000000\t(unknown)$' t.text
	lp-gain --slack -k 1 t.graph >t.path
	tests/trace.py check t.path
	[ "$(lp-dump -k slack t.path | jq -c 'select(.rank == 1) | [.seq, .compute_ns, .call_ns]')" = \
		$'[0,0,10]\n[1,10,90]\n[2,90,0]' ]
}

@test "imbalance follows the paper's formulas" {
	late_sender
	lp-imbalance -F json t.graph >t.json
	jq -e '.calls[] | select(.call == "MPI_Recv") | .wait_before_time_s == 3e-7 and
		.wait_after_time_s == 2e-8 and .total_execution_time_s == 1e-8 and .num_calls == 1' t.json
	jq -e '.processes[] | .total_execution_time_s + .total_wait_time_s + .program_time_s +
		.unsynchronised_time_s - .total_time_s | fabs < 1e-12' t.json
	jq -e '.processes + [.program] | all(.program_time_s + .mpi_time_s - .total_time_s | fabs < 1e-12)' t.json
	jq -e '.processes[1] | .rank == 1 and .num_calls == 3 and .num_nodes == 6' t.json
	[ "$(lp-imbalance -F csv t.graph | wc -l)" -eq 8 ]
}

@test "calls that do not overlap have no wait and are counted separately" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 200 210 comm=1 peer=1 tag=0 sent=8
		0 MPI_Finalize 600 700
		1 MPI_Init 0 100
		1 MPI_Recv 500 530 comm=1 peer=0 tag=0 received=8
		1 MPI_Finalize 600 700
	END
	lp-imbalance -F json t.graph | jq -e '.program | .total_wait_time_s == 0 and
		.num_unsynchronised == 2 and .unsynchronised_time_s == 4e-8'
}

@test "a trace without its graph is refused with a hint" {
	printf 'trace ranks=1\n0 MPI_Init 0 10\n' | tests/pack >t.trace
	for tool in lp-critpath lp-imbalance; do
		run -2 --separate-stderr $tool t.trace
		[ "$stderr" = "$tool: t.trace:0: a trace; lp-graph matches it first" ]
		[ -z "$output" ]
	done
}

@test "a full disk is an error of every tool" {
	late_sender
	tests/random_run.py make 1 >t.trace
	for command in 'lp-graph t.trace' 'lp-critpath t.graph' 'lp-critpath -F text t.graph' \
		'lp-critpath -F json t.graph' 'lp-imbalance t.graph' 'lp-imbalance -F json t.graph'; do
		run -2 --separate-stderr bash -c "$command >/dev/full"
		[[ "${stderr##*$'\n'}" == *"standard output: No space left on device" ]]
	done
}

@test "a graph cut or damaged anywhere is refused by every tool" {
	late_sender
	for command in lp-graph 'lp-critpath -F text' lp-imbalance ${LONG:+lp-critpath}; do
		run -0 tests/every-byte --cut --turn t.graph -- $command
	done
}

@test "the output of a failed tool does not look complete" {
	tests/random_run.py make 5 | lp-graph 2>/dev/null >t.graph
	head -c -40 t.graph >cut
	run -1 trace.py check <(lp-critpath cut 2>/dev/null)
	run -1 trace.py check <(lp-graph cut 2>/dev/null)
	run -2 bash -c 'lp-critpath -F json cut 2>/dev/null >cut.json'
	[ ! -s cut.json ] || run ! jq -e . cut.json
	[ -z "$(lp-critpath -F text cut 2>/dev/null)" ]
	[ -z "$(lp-imbalance cut 2>/dev/null)" ]
}

@test "walk solves a long stretch in pieces: the same path, for any order of reading" {
	stretch.py $(seq 1 25)
	[ "$(ls ./*.graph | wc -l)" -eq 50 ]
	for graph in ./*.graph; do
		cmp <(lp-critpath -F json $graph) <(lp-critpath -a kahn -F json $graph)
		cmp <(lp-critpath $graph | lp-dump | tail -n +2) <(lp-critpath -a kahn $graph | lp-dump | tail -n +2)
	done
}

@test "a wait that ends long after its start still knows the target of its message" {
	# What comes before 50 is known as soon as rows are settled, and the row of MPI_Isend with it.
	tests/pack >t.graph <<-'END'
		graph ranks=2
		0 MPI_Init 0 10
		0 MPI_Isend 20 21 comm=1 peer=1 tag=5 sent=9 as=r
		0 MPI_Recv 30 60 comm=1 peer=1 tag=1 received=8
		0 MPI_Send 100 101 comm=1 peer=1 tag=2 sent=8
		1 MPI_Init 0 10
		1 MPI_Send 50 55 comm=1 peer=0 tag=1 sent=8
		1 MPI_Recv 120 130 comm=1 peer=0 tag=5 received=9
		1 MPI_Recv 131 132 comm=1 peer=0 tag=2 received=8
		collective 0:0 1:0
		message 0:1 1:2
		message 1:1 0:2
		message 0:3 1:3
		settled seq=4,4
		0 MPI_Wait 111 125 of=r
		0 MPI_Finalize 140 200
		1 MPI_Finalize 135 200
		collective 0:5 1:4
	END
	run -0 jq -c '.segments[] | [.rank, .begin_ns, .end_ns, .kind, .call]' \
		<(lp-critpath -F json t.graph)
	[ "${lines[4]}" = '[0,120,125,"transfer","MPI_Wait"]' ]
	[ "${#lines[@]}" -eq 7 ]
}

@test "edges to rows declared settled are refused, not followed" {
	tests/pack >t.graph <<-'END'
		graph ranks=2
		0 MPI_Send 0 1 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 10 11 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 20 21 comm=1 peer=1 tag=1 sent=8
		1 MPI_Recv 0 4 comm=1 peer=0 tag=1 received=8
		1 MPI_Recv 5 15 comm=1 peer=0 tag=1 received=8
		1 MPI_Recv 16 25 comm=1 peer=0 tag=1 received=8
		message 0:0 1:0
		message 0:1 1:1
		settled seq=3,3
		message 0:0 1:2
	END
	run -2 --separate-stderr lp-critpath -F text t.graph
	[[ "$stderr" == "lp-critpath: "* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "2 million calls without a synchronisation point need no more memory than their ranks" {
	"$ROOT/build/bench/ring" 4 250000 3000 | lp-graph 2>/dev/null >ring.graph
	limited 65536 lp-critpath -F text ring.graph >walk.txt
	if ! keeps_memory; then run -2 limited 65536 lp-critpath -a kahn -F text ring.graph; fi
	lp-critpath -a kahn -F text ring.graph | cmp - walk.txt
}

@test "the early path through a long stretch, and the rows kept until then, are as counted" {
	for seed in {1..12}; do
		random_run.py make $seed | lp-graph 2>/dev/null | settle.py 3 >t.graph
		LONGPOLE_COST=cost lp-critpath -F json t.graph >known
		lp-critpath -a kahn -F json t.graph | cmp - known
	done
	jq -r '"\(.early_events // 0) \(.rows_left // 0) \(.starts_kept // 0)"' cost >counts
	printf '%s\n' '2 41 0' '4 8 0' '2 33 1' '3 35 1' '1 12 0' '1 19 0' '0 0 0' '1 42 0' '1 48 0' '1 97 0' '0 0 0' '1 12 0' |
		diff - counts
}

# The target posts at 900 and waits from 905 on; MPI_Win_complete, which has sent by then, waits for the post alone.
@test "the path leads from MPI_Win_complete to the post that it waited for, not to a wait for it" {
	tests/pack >t.trace <<-'END'
		trace ranks=2
		communicator comm=3 members=0,1 type=window
		0 MPI_Init 0 10
		0 MPI_Win_start 30 40 comm=3 peer=1 as=a
		0 MPI_Win_complete 200 950 comm=3 of=a
		0 MPI_Finalize 2000 2100
		1 MPI_Init 0 10
		1 MPI_Win_post 900 902 comm=3 peer=0 as=b
		1 MPI_Win_wait 905 960 comm=3 of=b
		1 MPI_Finalize 1000 2100
	END
	cut_trace.py t.trace shards 2
	lp-graph t.trace >t.graph 2>/dev/null
	lp-graph -o matched shards 2>/dev/null
	for solver in kahn dijkstra walk; do
		for graph in t.graph matched; do
			[ "$(lp-critpath -a $solver $graph | lp-dump -k segment | jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment)"' | tail -n +2 | head -3)" = \
				"1 10 900 compute
0 900 950 transfer
0 950 2000 compute" ]
		done
	done
}

@test "a spawned rank follows from MPI_Comm_spawn, even the first row of a stretch, unless it began before that" {
	local end
	for end in 1000 800; do
		tests/pack >t.graph <<-END
			graph ranks=3
			0 MPI_Comm_spawn 100 200
			1 MPI_Init 150 300
			1 MPI_Finalize 700 $end
			2 MPI_Init 50 60
			2 MPI_Finalize 700 900
			spawned location=0 seq=0 begin_ns=100 ranks=1,2
		END
		lp-critpath -F json t.graph | jq -c '.segments[] | [.rank, .begin_ns, .end_ns, .kind]'
	done >path
	printf '%s\n' '[0,0,100,"compute"]' '[1,100,150,"start"]' '[1,150,300,"mpi"]' '[1,300,700,"compute"]' '[1,700,1000,"mpi"]' \
		'[2,0,50,"start"]' '[2,50,60,"mpi"]' '[2,60,700,"compute"]' '[2,700,900,"mpi"]' | diff - path
}
