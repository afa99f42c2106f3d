# SPDX-License-Identifier: BSD-3-Clause
# Runs in pieces: folders of shards, and several processes that work on them.
bats_require_minimum_version 1.5.0
load helpers

# five_ranks: raw traces of five ranks on two nodes, in run/; rank 4 sends to all others between barriers.
five_ranks() {
	local rank
	mkdir -p run
	for rank in 0 1 2 3 4; do
		{
			echo "raw ranks=5 rank=$rank run=77 host=node$((rank % 2))"
			echo "0 MPI_Init $((1000 + rank)) 1100"
			for k in 1 2 3 4 5; do
				if [ $rank -eq 4 ]; then
					for to in 0 1 2 3; do
						echo "0 MPI_Send $((k * 1000 + 200 + to * 20)) $((k * 1000 + 210 + to * 20)) comm=1 peer=$to tag=$k bytes_sent=8"
					done
				else
					echo "0 MPI_Recv $((k * 1000 + 150)) $((k * 1000 + 300 + rank)) comm=1 peer=4 tag=$k bytes_received=8"
				fi
				echo "0 MPI_Barrier $((k * 1000 + 400 + rank)) $((k * 1000 + 500 + rank)) comm=1"
			done
			echo "0 MPI_Finalize 7000 7100"
		} | tests/pack >run/rank.$rank
	done
}

# results GRAPH: what the analyses find, as lines.
results() {
	lp-imbalance -F json "$1"
	lp-critpath -F json "$1"
	lp-gain --slack --gain 20 -F json "$1"
}

# without_history STREAM: its messages as lines but for the header, which tells of other commands.
without_history() {
	lp-dump "$1" | tail -n +2
}

@test "shards are the trace in pieces: folder, cat and the stream are the same" {
	five_ranks
	lp-merge run >t.trace
	for n in 1 2 3 5 9 node; do
		lp-merge -o shards --shards $n run
		cmp <(without_history shards) <(without_history t.trace)
		for shard in shards/*; do
			tests/trace.py check "$shard"
		done
		cat shards/* | lp-graph 2>/dev/null >cat.graph
		lp-graph shards 2>/dev/null >shards.graph
		lp-graph t.trace 2>/dev/null >t.graph
		cmp <(results cat.graph) <(results t.graph)
		cmp <(without_history shards.graph | grep -v '"index"') <(without_history t.graph | grep -v '"index"')
	done
	[ "$(echo shards/*)" = 'shards/shard.000000 shards/shard.000001' ]	# two nodes
	[ "$(lp-dump -k shard shards/shard.000001 | jq -c .of)" = '[0,1,0,1,0]' ]
}

@test "random runs in shards have the results of one stream" {
	for seed in '3 more' '8 more' '21 more 1 1000'; do
		tests/random_run.py make $seed >t.trace
		lp-graph t.trace 2>/dev/null >t.graph
		results t.graph >expected
		for n in 2 3 7; do
			rm -rf cut
			tests/cut_trace.py t.trace cut $n $([ $n -ne 2 ] || echo turns)
			lp-graph cut 2>/dev/null >cut.graph
			cmp expected <(results cut.graph)
			cat cut/* | lp-graph 2>/dev/null >cat.graph
			cmp expected <(results cat.graph)
		done
	done
}

@test "several processes write the same shards as one" {
	five_ranks
	cat run/rank.3 run/rank.1 >run/rank.1.both
	rm run/rank.3
	mv run/rank.1.both run/rank.1
	mkdir one
	(cd one && lp-merge -o shards --shards 3 ../run)
	for p in 2 3 7; do
		rm -rf many
		mkdir many
		(cd many && ranks $p lp-merge -o shards --shards 3 ../run)
		diff -r one many
	done
}

@test "missing, damaged and foreign shards are named in a line, and left out if asked for" {
	five_ranks
	lp-merge -o good --shards 3 run
	lp-merge -s none --shards 3 -o other run

	cp -r good missing
	rm missing/shard.000001
	run -2 --separate-stderr lp-graph missing
	[ "$stderr" = 'lp-graph: missing: shard 1 of 3 is missing (rank 2 and 1 others); lp-graph --partial goes on without' ]
	[ -z "$output" ]
	lp-graph --partial missing 2>err >m.graph
	grep -q '^lp-graph: missing: shard 1 of 3 is missing' err
	[ "$(lp-dump -k call m.graph | jq -s -c 'map(.rank) | unique')" = '[0,1,4]' ]
	lp-critpath -F text m.graph >/dev/null

	cp -r good damaged
	head -c -300 good/shard.000002 >damaged/shard.000002
	run -2 --separate-stderr lp-graph damaged
	[[ "$stderr" == 'lp-graph: damaged/shard.000002:'*': '* ]]
	[ ${#stderr_lines[@]} -eq 1 ]
	lp-graph --partial damaged 2>err >d.graph
	grep -q '^lp-graph: damaged/shard.000002: .* the rest is not read' err
	lp-imbalance d.graph >/dev/null

	printf 'run of ranks=5' >strange
	cp -r good mixed
	cp strange mixed/shard.000001
	run -2 --separate-stderr lp-imbalance mixed
	[ "$stderr" = 'lp-imbalance: mixed/shard.000001:0: not a longpole stream' ]

	cp -r good two
	cp good/shard.000000 two/shard.000001
	run -2 --separate-stderr lp-graph two
	[[ "$stderr" == 'lp-graph: two/shard.000001:'*': it is shard 0' ]]
	lp-graph -o graphs good 2>/dev/null
	while IFS=: read -r first second said; do
		run -2 --separate-stderr bash -c "cat $first $second | lp-graph >/dev/null"
		[[ "$stderr" =~ ^'lp-graph: standard input:'[0-9]+": $said"$ ]]
	done <<-'END'
		good/shard.000000:good/shard.000001:shard 2 of 3 is missing
		good/shard.000000:good/shard.000002:shard 2 behind shard 0
		good/shard.000001:good/shard.000000:shard 0 behind shard 1
		good/shard.000000:graphs/shard.000001:a graph after a shard of a trace
	END

	mkdir none
	run -2 --separate-stderr lp-dump none
	[ "$stderr" = 'lp-dump: none: a folder without shards (shard.000000, ...)' ]
	mkdir -p a_run raw
	touch a_run/graph raw/rank.0
	run -2 --separate-stderr lp-dump a_run
	[ "$stderr" = "lp-dump: a_run: a folder without shards (shard.000000, ...); a run's folder: name its graph" ]
	run -2 --separate-stderr lp-dump raw
	[ "$stderr" = 'lp-dump: raw: a folder without shards (shard.000000, ...); raw traces: lp-merge reads them' ]
}

@test "shards of another run are detected" {
	five_ranks
	lp-merge -o good --shards 3 run
	mkdir next
	for rank in 0 1 2 3 4; do
		printf 'raw ranks=5 rank=%d run=78\n0 MPI_Init 1000 1100\n0 MPI_Finalize 1400 1500\n' $rank | tests/pack >next/rank.$rank
	done
	lp-merge -o other --shards 3 next
	cp other/shard.000002 good/shard.000002
	run -2 --separate-stderr lp-graph good
	[[ "$stderr" == 'lp-graph: good/shard.000002:'*': a shard of another run than good/shard.000000' ]]
	lp-graph --partial good 2>err >/dev/null
	grep -q 'a shard of another run' err
	run -2 --separate-stderr bash -c "cat good/shard.000000 other/shard.000001 | lp-graph >/dev/null"
	[[ "$stderr" == 'lp-graph: standard input:'*': no shard of the run before' ]]
}

@test "a folder for shards has no other files, and no shards of an earlier run" {
	five_ranks
	lp-merge -o shards --shards 5 run
	lp-merge -o shards --shards 2 run
	[ "$(ls shards | wc -l)" -eq 2 ]
	touch shards/notes
	run -2 --separate-stderr lp-merge -o shards run
	[ "$stderr" = 'lp-merge: shards: holds notes: shards have a folder of their own' ]
	run -2 --separate-stderr lp-merge --shards 2 run
	[[ "$stderr" == 'lp-merge: --shards needs -o'* ]]
	run -2 --separate-stderr ranks 2 lp-merge run
	[ "$(grep -c '^lp-merge: ' <<<"$stderr")" -eq 1 ]
}

@test "an error of one process ends all with one line" {
	five_ranks
	rm run/rank.3
	run -2 --separate-stderr ranks 3 lp-merge -o shards run
	[ "$(grep '^lp-merge: ' <<<"$stderr")" = 'lp-merge: run/rank.0: rank 3 of 5 is missing (1 in all; --partial goes on without)' ]
	five_ranks
	head -c -40 run/rank.4 >cut
	mv cut run/rank.4
	run -2 --separate-stderr ranks 3 lp-merge -o shards run
	[ "$(grep -c '^lp-merge: run/rank.4:' <<<"$stderr")" -eq 1 ]
	run -2 lp-graph shards
}

@test "shards are matched like one stream, however few rows a round has" {
	local seed n
	for seed in '3 more' '8 more' '14 more' '21 more 1 1000' '103 more 3 1000' '125 more 3 1000'; do
		tests/random_run.py make $seed >t.trace
		lp-graph t.trace >t.graph 2>err
		{ results t.graph; lp-dump -k matching t.graph; } >expected
		for n in 1 2 4; do
			rm -rf cut
			tests/cut_trace.py t.trace cut $n $([ $n -ne 2 ] || echo turns)
			lp-graph --round $((n == 4 ? 1000000 : n * 5)) -o graph cut 2>err.shards
			cmp expected <(results graph; lp-dump -k matching graph)
			cmp <(tail -1 err) <(tail -1 err.shards)
		done
	done
}

@test "rounds of many edges keep them after the calls of all shards" {
	"$ROOT/build/bench/synthetic" -r 9 -c 200000 >raw
	lp-merge raw | lp-graph 2>err >t.graph
	lp-merge -o shards --shards 3 raw
	for rows in 100000 1000000; do
		ranks 2 lp-graph --round $rows -o graph shards 2>err.shards || { cat err.shards; false; }
		cmp err err.shards
		cmp <(lp-imbalance -F json t.graph) <(lp-imbalance -F json graph)
		cmp <(lp-critpath -F text t.graph) <(lp-critpath -F text graph)
		cmp <(lp-critpath -F text t.graph) <(ranks 2 lp-critpath -F text graph)
	done
}

@test "several processes that merge many ranks take little more memory than one" {
	if keeps_memory; then skip "sanitizers and emulators keep what was freed"; fi
	for size in small large; do
		mkdir $size
		cd $size
		ranks=$([ $size = small ] && echo 4 || echo 60000)
		"$ROOT/build/bench/synthetic" -r $ranks -c $((9 * ranks)) -b 9 >raw
		peak lp-merge raw >/dev/null
		ranks 2 peak lp-merge -o shards raw
		cd ..
	done
	for rank in 0 1; do
		[ $((2 * $(more_memory $rank))) -lt $((3 * $(more_memory alone))) ]
	done
}

@test "several processes match shards like one, to the byte, and find the path in them" {
	tests/random_run.py make 14 more >t.trace
	tests/cut_trace.py t.trace cut 3
	mkdir one
	(cd one && lp-graph --round 9 -o graph ../cut 2>../err)
	lp-critpath -F text one/graph >path
	for p in 2 4; do
		rm -rf many
		mkdir many
		(cd many && LONGPOLE_COST=../cost.$p ranks $p lp-graph --round 9 -o graph ../cut 2>../err.many)
		jq -e ".tool == \"lp-graph\" and .processes == $p and .exchanges > 10 and .bytes > 100 and .work_s > 0 and
			.exchange_s > 0 and .start_s + .exchange_s < .wall_s" cost.$p
		diff -r one many
		cmp err err.many
		cmp path <(ranks $p lp-critpath -F text one/graph)
	done
}

@test "epochs of one-sided communication across shards have both edges" {
	local rank
	mkdir run
	for rank in 0 1 2 3; do
		{
			echo "raw ranks=4 rank=$rank run=5"
			echo 'communicator comm=3 size=4 rank='$rank' id=99 type=window'
			echo '0 MPI_Init 1000 1100'
			if [ $rank -lt 2 ]; then
				echo "0 MPI_Win_start 1200 1300 comm=3 peer=$((rank + 2))"
				echo "0 MPI_Put 1300 1400 comm=3 peer=$((rank + 2)) bytes_sent=8"
				echo "0 MPI_Win_complete 1400 1600 comm=3 request=2"
			else
				echo "0 MPI_Win_post 1250 1260 comm=3 peer=$((rank - 2))"
				echo "0 MPI_Win_wait 1300 1700 comm=3 request=1"
			fi
			echo '0 MPI_Finalize 2000 2100'
		} | tests/pack >run/rank.$rank
	done
	lp-merge run | lp-graph 2>err >t.graph
	lp-merge -o shards --shards 4 run
	ranks 2 lp-graph --round 1 -o graph shards 2>err.shards
	cmp err err.shards
	[ "$(lp-dump -k message graph | sort)" = "$(lp-dump -k message t.graph | sort)" ]
	[ "$(lp-dump -k message graph | wc -l)" -eq 4 ]
}

@test "errors of lp-graph in shards are one line" {
	five_ranks
	lp-merge -o shards --shards 3 run
	lp-merge run >t.trace
	lp-graph -o graph shards 2>/dev/null
	run -2 --separate-stderr lp-graph -o again graph
	[[ "$stderr" == 'lp-graph: '*'matched already' ]]
	run -2 --separate-stderr lp-graph -o again t.trace
	[[ "$stderr" == 'lp-graph: t.trace: no folder of shards'* ]]
	run -2 --separate-stderr lp-graph -o shards shards
	[ "$stderr" = 'lp-graph: shards: the shards are read from there' ]
	run -2 --separate-stderr bash -c 'cat graph/* | lp-imbalance'
	[[ "$stderr" == 'lp-imbalance: standard input:'*': shard 0 of a graph; its shards are read from their folder' ]]
	cp shards/shard.000001 graph
	run -2 --separate-stderr lp-imbalance graph
	[ "$stderr" = 'lp-imbalance: graph/shard.000001:0: a trace, but graph/shard.000000 is a graph' ]
	rm shards/shard.000002
	run -2 --separate-stderr ranks 2 lp-graph -o again shards
	[ "$(grep '^lp-graph: ' <<<"$stderr")" = 'lp-graph: shards: shard 2 of 3 is missing (rank 4 and 0 others); lp-graph --partial goes on without' ]
}

@test "parts of shards of a graph join to the whole path" {
	"$ROOT/build/bench/synthetic" -r 5 -c 40000 >raw
	lp-merge -o shards --shards 3 raw
	lp-graph --round 4000 -o graph shards 2>/dev/null
	lp-critpath -F json graph >whole
	for part in 1 2 3; do
		lp-critpath --part $part/3 graph >$part.path
	done
	cmp whole <(lp-critpath --join -F json 1.path 2.path 3.path)
}

@test "the index of shards equals the checker's, and a false one is detected" {
	"$ROOT/build/bench/synthetic" -r 5 -c 60000 >raw
	lp-merge -o shards --shards 3 raw
	lp-graph --round 2000 -o graph shards 2>/dev/null
	[ "$(lp-dump -k index graph/shard.000001 | jq '.from | unique | length')" -gt 3 ]
	tests/trace.py check graph shards
	run -0 lying_index.py graph 25
}

@test "a part of shards is read without the earlier parts" {
	"$ROOT/build/bench/synthetic" -r 5 -c 60000 >raw
	lp-merge -o shards --shards 3 raw
	lp-graph --round 2000 -o graph shards 2>/dev/null
	cp -r graph holes
	lp-critpath --part 3/3 graph >part
	for shard in holes/*; do	# half of what stands before the third part's first round is not there
		from=$(lp-dump -k index "$shard" | jq '.from[(.count * 2 / 3 | floor) - 5]')
		printf 'damaged' | dd of="$shard" bs=1 seek=$((from / 2)) conv=notrunc 2>/dev/null
	done
	run -2 lp-critpath holes
	lp-critpath --part 3/3 holes >part.holes
	cmp <(lp-dump -k segment part.holes) <(lp-dump -k segment part)
}

@test "under a launcher the first process reports on shards, once" {
	five_ranks
	lp-merge -o shards --shards 2 run
	lp-graph -o graph shards 2>/dev/null
	cmp <(lp-imbalance graph) <(ranks 3 lp-imbalance graph)
}

@test "every tool that reads a graph reads its shards" {
	five_ranks
	lp-merge run | lp-graph >t.graph 2>/dev/null
	lp-merge -o shards --shards 2 run
	lp-graph -o graph shards 2>/dev/null
	cmp <(lp-critpath t.graph | lp-dump -k segment) <(lp-critpath graph | lp-dump -k segment)
	cmp <(lp-replay t.graph | lp-critpath -F json) <(lp-replay graph | lp-critpath -F json)
	cmp <(lp-report -F csv t.graph) <(lp-report -F csv graph)
	cmp <(lp-export -f perfetto t.graph | wc -c) <(lp-export -f perfetto graph | wc -c)	# messages stand in another order
	cmp <(lp-export -f csv t.graph) <(lp-export -f csv graph)
	lp-compare t.graph -- graph >compared
	grep -q 'no difference\|unchanged\|0.0' compared
	lp-report -o page.html --verdict verdict --text text graph
	lp-report --verdict verdict.one --text text.one -o page.html t.graph
	cmp verdict verdict.one
	cmp text text.one
}

@test "longpole -j merges and matches with several processes, with the same results" {
	five_ranks
	mkdir -p kept
	mv run kept/raw
	touch kept/recorded kept/asked
	MPIRUN='timeout 300 mpirun --oversubscribe' longpole -j 2 kept >two
	[ -d kept/graph ]
	[ ! -e kept/ideal ]
	[ "$(ls kept/trace)" = "$(ls kept/graph)" ]
	lp-imbalance -F json kept/graph >j2
	touch kept/recorded
	rm -r kept/trace
	longpole kept >one
	[ -f kept/graph ]
	longpole --ideal kept >ideal
	grep -q 's, on an ideal network ' ideal
	diff one two
	cmp j2 <(lp-imbalance -F json kept/graph)
}

@test "a rank that died early and one without calls are in shards as in the stream" {
	five_ranks
	printf 'raw ranks=5 rank=2 run=77\n0 MPI_Init 1000 1100\n' | tests/pack >run/rank.2
	printf 'raw ranks=5 rank=3 run=77\n' | tests/pack >run/rank.3
	lp-merge run | lp-graph >t.graph 2>err
	lp-merge -o shards --shards 5 run
	ranks 2 lp-graph --round 3 -o graph shards 2>err.shards
	cmp <(tail -1 err) <(tail -1 err.shards)
	cmp <(lp-imbalance -F json t.graph) <(lp-imbalance -F json graph)
	cmp <(lp-critpath -F json t.graph) <(lp-critpath -F json graph)
}

@test "a message across a barrier is detected in any shards, whenever it is matched" {
	local rank rows
	mkdir run
	for rank in 0 1 2 3; do
		{
			echo "raw ranks=4 rank=$rank run=5"
			echo '0 MPI_Init 1000 1100'
			[ $rank -ne 1 ] || echo '0 MPI_Send 1200 1250 comm=1 peer=2 tag=1 bytes_sent=8'
			echo '0 MPI_Barrier 1300 1400 comm=1'
			[ $rank -ne 2 ] || echo '0 MPI_Recv 1500 1600 comm=1 peer=1 tag=1 bytes_received=8'
			echo '0 MPI_Barrier 1700 1800 comm=1'
			echo '0 MPI_Finalize 2000 2100'
		} | tests/pack >run/rank.$rank
	done
	lp-merge run | lp-graph 2>err >t.graph
	grep -q '3 synchronisation points, refused: 1 pending' err
	for shards in 1 2 4; do
		lp-merge -o shards --shards $shards run
		for rows in 1 1000000; do
			lp-graph --round $rows -o graph shards 2>err.shards
			cmp err err.shards
			cmp <(lp-dump -k sync t.graph) <(lp-dump -k sync graph)
		done
	done
}

@test "clocks corrected by messages are the same in shards of several processes" {
	"$ROOT/build/bench/synthetic" -r 8 -c 20000 -d 100000 -n 0 >raw
	"$ROOT/build/bench/synthetic" -r 8 -c 100000 -d 100000 -n 1 >raw1
	for how in 'clc raw' 'linear raw1'; do
		rm -rf one many
		mkdir one many
		(cd one && lp-merge -s ${how% *} -o shards --shards 3 ../${how#* } 2>../err)
		(cd many && ranks 2 lp-merge -s ${how% *} -o shards --shards 3 ../${how#* } 2>../err.many)
		grep -q 'left\|drift' err
		cmp err err.many
		diff -r one many
	done
}
