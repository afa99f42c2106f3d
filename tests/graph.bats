# SPDX-License-Identifier: BSD-3-Clause
# lp-graph: matching and synchronisation points.
bats_require_minimum_version 1.5.0
load helpers

# edges TEXT: the message edges that lp-graph finds, one a line
edges() {
	tests/pack <"$1" >t.trace
	lp-graph t.trace 2>t.err >t.graph
	lp-dump -k message t.graph 2>/dev/null | jq -c '[.source, .send, .target, .receive]'
}

@test "receives match in the order in which they were posted, not completed" {
	cat >t.txt <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=5 sent=1
		0 MPI_Send 40 50 comm=1 peer=1 tag=5 sent=2
		0 MPI_Finalize 500 510
		1 MPI_Init 0 10
		1 MPI_Irecv 11 12 comm=1 peer=0 tag=5 received=8 as=a
		1 MPI_Irecv 13 14 comm=1 peer=0 tag=5 received=8 as=b
		1 MPI_Wait 100 110 comm=1 peer=0 tag=5 received=2 of=b
		1 MPI_Wait 120 130 comm=1 peer=0 tag=5 received=1 of=a
		1 MPI_Finalize 500 510
	END
	run -0 edges t.txt
	[ "$output" = "$(printf '[0,1,1,4]\n[0,2,1,3]')" ]
}

@test "an open wildcard receive holds back the receives that it could compete with" {
	cat >t.txt <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=5 sent=1
		0 MPI_Send 40 50 comm=1 peer=1 tag=5 sent=2
		0 MPI_Finalize 500 510
		1 MPI_Init 0 10
		1 MPI_Irecv 11 12 comm=1 peer=any tag=any received=8 as=a
		1 MPI_Recv 60 70 comm=1 peer=0 tag=5 received=2
		1 MPI_Wait 120 130 comm=1 peer=0 tag=5 received=1 of=a
		1 MPI_Finalize 500 510
	END
	run -0 edges t.txt
	[ "$output" = "$(printf '[0,1,1,3]\n[0,2,1,2]')" ]
}

@test "thousands of open wildcard receives take no time, in any order of completion" {
	for order in 'i' '3999 - i' '(i * 7919) % 4000'; do
		awk 'BEGIN {
			print "trace ranks=2\n0 MPI_Init 0 10\n1 MPI_Init 0 10"
			for (i = 0; i < 4000; i++) {
				print "0 MPI_Send", 20 + i, "+1 comm=1 peer=1 tag=5 sent=" i
				print "1 MPI_Irecv", 20 + i, "+1 comm=1 peer=any tag=any received=99"
			}
			for (i = 0; i < 4000; i++) {
				k = '"$order"'
				print "1 MPI_Wait", 20000 + i, "+1 comm=1 peer=0 tag=5 received=" k, "request=" 4000 + i - k
			}
		}' | tests/pack >t.trace
		within 20 lp-graph t.trace >t.graph
		[ "$(tests/same_sizes t.graph)" -eq 4000 ]
	done
}

@test "a cancelled receive takes no message" {
	cat >t.txt <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=5 sent=1
		0 MPI_Finalize 500 510
		1 MPI_Init 0 10
		1 MPI_Irecv 11 12 comm=1 peer=0 tag=5 received=8 as=a
		1 MPI_Cancel 13 14 of=a
		1 MPI_Wait 15 16 of=a
		1 MPI_Recv 60 70 comm=1 peer=0 tag=5 received=1
		1 MPI_Finalize 500 510
	END
	run -0 edges t.txt
	[ "$output" = '[0,1,1,4]' ]
}

@test "a call that makes its communicator is a collective on it; a row that names another one is not matched" {
	cat >t.txt <<-'END'
		trace ranks=3
		communicator comm=3 members=0,2
		0 MPI_Init 0 10
		0 MPI_Comm_create_group 20 30 comm=3 peer=-2
		0 MPI_Barrier 40 50 comm=1
		0 MPI_Finalize 60 70
		1 MPI_Init 0 10
		1 MPI_Barrier 35 50 comm=1
		1 MPI_Finalize 60 70
		2 MPI_Init 0 10
		2 MPI_Comm_create_group 25 30 comm=3 peer=-2
		2 MPI_Barrier 40 50 comm=1
		2 MPI_Finalize 60 70
	END
	tests/pack <t.txt | lp-graph 2>t.err >t.graph
	grep -q ' and 4 collectives matched, 0 sends, 0 receives and 0 collectives not; 3 synchronisation points' t.err
	lp-imbalance -F json t.graph |
		jq -e '.wait_states[] | select(.name == "wait_at_comm_create") | .ranks == [5e-9, 0, 0]'
	sed 's/comm=3 peer=-2/comm=1/' t.txt | tests/pack | lp-graph 2>t.err >t.graph
	grep -q ' and 3 collectives matched, 0 sends, 0 receives and 0 collectives not; 3 synchronisation points' t.err
}

@test "a function and its form with large counts are one collective" {
	cat >t.txt <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Bcast 20 30 comm=1 peer=0
		0 MPI_Finalize 60 70
		1 MPI_Init 0 10
		1 MPI_Bcast_c 25 30 comm=1 peer=0
		1 MPI_Finalize 60 70
	END
	tests/pack <t.txt | lp-graph 2>t.err >t.graph
	grep -q ' and 3 collectives matched' t.err
	refute grep -q meets t.err
}

@test "rows without a partner are named, counted and left out" {
	cat >t.txt <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=7 sent=1
		0 MPI_Barrier 40 50 comm=1
		1 MPI_Init 0 10
		1 MPI_Recv 20 30 comm=1 peer=0 tag=8 received=1
	END
	run -0 edges t.txt
	[ -z "$output" ]
	grep -q 'lp-graph: rank 0, row 1: MPI_Send from rank 0 to rank 1 with tag 7 on communicator 1 has no receive' t.err
	grep -q 'lp-graph: rank 1, row 1: MPI_Recv from rank 0 to rank 1 with tag 8 on communicator 1 has no send' t.err
	grep -q 'lp-graph: rank 0, row 2: MPI_Barrier was called by 1 of 2 ranks of communicator 1' t.err
	lp-dump -k matching t.graph | jq -e '.unmatched_sends == 1 and .unmatched_receives == 1 and
		.unmatched_collectives == 1 and .messages == 0 and .collectives == 1'
}

@test "calls of several threads of a rank match in the order of time, not of their blocks" {
	# Both threads of rank 0 meet rank 1 in turn, and send to it on one channel; its blocks come thread by thread.
	cat >t.txt <<-'END'
		trace ranks=2 rows=9
		location location=2 rank=0 thread=1
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		0 MPI_Barrier 20 30 comm=1
		0 MPI_Send 41 42 comm=1 peer=1 tag=5 sent=1
		0 MPI_Barrier 60 70 comm=1
		0 MPI_Send 81 82 comm=1 peer=1 tag=5 sent=3
		0 MPI_Finalize 500 510
		1 MPI_Barrier 20 30 comm=1
		1 MPI_Barrier 40 50 comm=1
		1 MPI_Barrier 60 70 comm=1
		1 MPI_Recv 100 101 comm=1 peer=0 tag=5 received=1
		1 MPI_Recv 102 103 comm=1 peer=0 tag=5 received=2
		1 MPI_Recv 104 105 comm=1 peer=0 tag=5 received=3
		1 MPI_Finalize 500 510
		2 MPI_Barrier 40 50 comm=1
		2 MPI_Send 61 62 comm=1 peer=1 tag=5 sent=2
	END
	run -0 edges t.txt
	[ "$output" = "$(printf '[0,2,1,4]\n[2,1,1,5]\n[0,4,1,6]')" ]
	[ "$(lp-dump -k collective t.graph | jq -c '.members | sort' | sed -n '2,4p' | paste -sd' ')" = '[[0,1],[1,1]] [[1,2],[2,0]] [[0,3],[1,3]]' ]
}

@test "the path through threads that make calls, wait for each other and hand on is that of the simulation" {
	local run
	local runs=('2 2 2 9' '6 4 5 2')
	[ -z "${LONG:-}" ] || runs+=('1 2 2 2' '3 3 3 3' '4 3 4 3' '5 2 6 4' '7 3 2 40')
	for run in "${runs[@]}"; do
		for block in 2 3 4096; do
			handed_run.py make $run $block | pack >t.trace
			lp-graph t.trace >t.graph 2>/dev/null
			trace.py check t.trace t.graph
			lp-critpath t.graph | lp-dump -k segment | handed_run.py judge $run
			lp-dump -k call t.graph | jq -c 'del(.seq, .site)' | sort >rows.$block
			cmp rows.$block rows.2
		done
		for algorithm in kahn dijkstra delta; do
			lp-critpath -a $algorithm t.graph | lp-dump -k segment | handed_run.py judge $run
		done
		lp-imbalance -F json t.graph | jq -e '[.wait_states[] | select(.name == "wait_for_thread")][0].wait_s > 0'
		# On a network that takes no time threads still wait for each other, and nothing else took long.
		lp-replay -F json t.graph | jq -e '.transfer_efficiency > 0.998 and .transfer_efficiency <= 1'
	done
}

@test "an undefined location is refused by every tool" {
	printf 'run ranks=1 locations=2 run_ns=10\n1 MPI_Init 0 10\n' | tests/pack -H trace >t.trace
	run -2 --separate-stderr lp-graph t.trace
	[[ "$stderr" == 'lp-graph: t.trace:'*': calls: location 1 is not defined' ]]
	printf 'run ranks=1 locations=2 run_ns=10\n1 MPI_Init 0 10\n' | tests/pack -H graph >t.graph
	for tool in lp-critpath lp-imbalance; do
		run -2 --separate-stderr $tool t.graph
		[[ "$stderr" == "$tool: t.graph:"*': calls: location 1 is not defined' ]]
	done
}

@test "peers are ranks of the communicator, also in an intercommunicator" {
	cat >t.txt <<-'END'
		trace ranks=3
		communicator comm=3 members=2,0
		communicator comm=4 members=0,1 remote=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=3 peer=0 tag=1 sent=1
		0 MPI_Send 40 50 comm=4 peer=0 tag=2 sent=1
		1 MPI_Init 0 10
		2 MPI_Init 0 10
		2 MPI_Recv 20 30 comm=3 peer=1 tag=1 received=1
		2 MPI_Recv 40 50 comm=4 peer=0 tag=2 received=1
	END
	run -0 edges t.txt
	[ "$output" = "$(printf '[0,1,2,1]\n[0,2,2,2]')" ]
}

# syncs ROWS...: the summary of a run of two ranks with these rows between MPI_Init and MPI_Finalize
syncs() {
	{ printf 'trace ranks=2\n0 MPI_Init 0 10\n1 MPI_Init 0 10\n'; cat; printf '0 MPI_Finalize 500 510\n1 MPI_Finalize 500 510\n'; } |
		tests/pack | lp-graph 2>/dev/null | lp-dump -k matching | jq -c '[.syncs, .refused_pending, .refused_overlap, .refused_partial]'
}

@test "a collective names its members in order, in whatever order their rows were read" {
	for seed in 41 10 19; do
		random_run.py make $seed | lp-graph 2>/dev/null | lp-dump -k collective >collectives
		[ "$(wc -l <collectives)" -gt 5 ]
		jq -c '.members | map(.[0]) | select(. != sort)' collectives >disordered
		[ ! -s disordered ]
	done
}

@test "a barrier of all ranks is a synchronisation point" {
	run -0 syncs <<-'END'
		0 MPI_Barrier 20 100 comm=1
		1 MPI_Barrier 90 100 comm=1
	END
	[ "$output" = '[3,0,0,0]' ]
}

@test "a barrier with a request pending across it is refused" {
	run -0 syncs <<-'END'
		0 MPI_Irecv 15 16 comm=1 peer=1 tag=0 received=8 as=a
		0 MPI_Barrier 20 100 comm=1
		0 MPI_Wait 130 140 comm=1 peer=1 tag=0 received=8 of=a
		1 MPI_Barrier 90 100 comm=1
		1 MPI_Send 110 120 comm=1 peer=0 tag=0 sent=8
	END
	[ "$output" = '[2,1,0,0]' ]
}

@test "a barrier that a message crosses is refused" {
	run -0 syncs <<-'END'
		0 MPI_Barrier 20 100 comm=1
		0 MPI_Recv 130 140 comm=1 peer=1 tag=0 received=8
		1 MPI_Send 30 40 comm=1 peer=0 tag=0 sent=8
		1 MPI_Barrier 90 100 comm=1
	END
	[ "$output" = '[2,1,0,0]' ]
}

@test "a barrier that a broadcast of some ranks crosses is refused, whatever the root" {
	for root in 0 1 2; do
		{
			printf 'trace ranks=4\ncommunicator comm=3 members=0,1,2\n'
			for rank in 0 1 2 3; do
				echo "$rank MPI_Init 0 10"
				[ $rank -ne $root ] || echo "$rank MPI_Bcast 20 25 comm=3 peer=$root"
				echo "$rank MPI_Barrier 50 60 comm=1"
				[ $rank -eq $root ] || [ $rank -eq 3 ] || echo "$rank MPI_Bcast 70 80 comm=3 peer=$root"
				echo "$rank MPI_Finalize 500 510"
			done
		} | tests/pack | lp-graph 2>/dev/null | lp-dump -k matching >found.json
		jq -e '[.syncs, .refused_pending] == [2, 1]' found.json
	done
}

@test "a barrier that one rank left before another entered is refused" {
	run -0 syncs <<-'END'
		0 MPI_Barrier 20 80 comm=1
		1 MPI_Barrier 90 100 comm=1
	END
	[ "$output" = '[2,0,1,0]' ]
}

@test "a broadcast is not a synchronisation point" {
	run -0 syncs <<-'END'
		0 MPI_Bcast 20 100 comm=1 peer=0
		1 MPI_Bcast 90 100 comm=1 peer=0
	END
	[ "$output" = '[2,0,0,1]' ]
}

# Rank 3 comes late to a broadcast of rank 0; its completions are those of rank 1, of whichever thread, and of rank 2.
late_in_tree() {
	tests/pack <<-END | lp-graph 2>/dev/null | tee tree.graph | lp-dump | jq -c 'select(.kind == "hold") | [.source, .send, .target, .receive]'
		trace ranks=4 ${1:-}
		0 MPI_Ibcast 1000 2000 comm=1 peer=0 sent=8 as=a
		0 MPI_Wait 3000 4000 of=a
		1 MPI_Ibcast 2000 3000 comm=1 peer=0 received=8 as=a
		${2:-1 MPI_Wait 3000 110000 of=a}
		2 MPI_Ibcast 1000 2000 comm=1 peer=0 received=8 as=a
		2 MPI_Wait ${3:-50000} 111000 of=a
		3 MPI_Ibcast 100000 101000 comm=1 peer=0 received=8 as=a
		${4:-3 MPI_Wait 102000 109000 of=a}
		0 MPI_Barrier 200000 210000 comm=1
		1 MPI_Barrier 200000 210000 comm=1
		2 MPI_Barrier 200000 210000 comm=1
		3 MPI_Barrier 200000 210000 comm=1
	END
}

@test "the completion of a broadcast waits for a late member that passes it on" {
	[ "$(late_in_tree)" = $'[3,0,1,1]\n[3,0,2,1]' ]
	[ "$(lp-imbalance -F json tree.graph | jq -c '[.wait_states[] | select(.name == "late_broadcast") | .count, (.wait_s * 1e9 | round)]')" = \
		'[2,147000]' ]
	[ "$(late_in_tree '' '' 95000)" = '[3,0,1,1]' ]			# for less than 10 us
	[ "$(late_in_tree '' '1 MPI_Wait 3000 200000 of=a')" = '[3,0,2,1]' ]	# for less than half of the time
	[ "$(late_in_tree $'locations=5\nlocation location=4 rank=1 thread=1' '4 MPI_Wait 3000 110000 request=0 request_at=2')" = $'[3,0,4,0]\n[3,0,2,1]' ]
	# A request that is freed, and not pending at the barrier; or that never ends.
	[ "$(late_in_tree '' '' 50000 '3 MPI_Request_free 102000 109000 of=a')" = $'[3,0,1,1]\n[3,0,2,1]' ]
	[ "$(lp-dump -k matching tree.graph | jq -c '[.syncs, .refused_pending]')" = '[1,0]' ]
	[ "$(late_in_tree '' '' 50000 '3 MPI_Recv 102000 109000')" = $'[3,0,1,1]\n[3,0,2,1]' ]
}

# Rank 1 has started the collective and computes; CALLS: between its start and completion, or instead of the latter.
held_in_background() {
	pack <<-END | lp-graph 2>/dev/null | tee held.graph | lp-dump | jq -c 'select(.kind == "hold") | [.source, .send, .target, .receive]'
		trace ranks=3 ${3:-}
		0 ${2:-MPI_Iallreduce} 1000 2000 comm=${4:-1} sent=8 received=8 as=a
		0 MPI_Wait 5000 103000 of=a
		1 ${2:-MPI_Iallreduce} 1500 2500 comm=${4:-1} sent=8 received=8 as=a
		${1:-1 MPI_Wait 100000 103500 of=a}
		2 ${2:-MPI_Iallreduce} 2000 3000 comm=${4:-1} sent=8 received=8 as=a
		2 MPI_Iprobe 3100 59900 comm=1 peer=any tag=any
		2 MPI_Wait 60000 102000 of=a
		0 MPI_Barrier 200000 210000 comm=1
		1 MPI_Barrier 200000 210000 comm=1
		2 MPI_Barrier 200000 210000 comm=1
	END
}

@test "the completion of a collective waits for a member that computes, until it is in a call again" {
	local back=$'\n\t\t1 MPI_Wait 100000 103500 of=a' call
	for call in MPI_Iallreduce MPI_Ibarrier MPI_Ialltoallv MPI_Ibcast; do
		[ "$(held_in_background '' $call)" = $'[1,1,0,1]\n[1,1,2,2]' ]
	done
	held_in_background >held
	[ "$(lp-imbalance -F json held.graph | jq -c '[.wait_states[] | select(.name == "wait_at_nxn") | .count, (.wait_s * 1e9 | round)]')" = \
		'[2,135000]' ]
	[ "$(lp-dump -k matching held.graph | jq -c '[.syncs, .refused_pending]')" = '[1,0]' ]
	lp-critpath -F json held.graph | jq -e '[.segments[] | select(.end_ns <= 100000 and .begin_ns >= 2500)] | all(.rank == 1 and .kind == "compute")'
	# In another call, or after calls for a short time.
	[ "$(held_in_background "1 MPI_Iprobe 98000 98500 comm=1 peer=any tag=any${back/100000/99000}")" = $'[1,1,0,1]\n[1,1,2,2]' ]
	[ "$(held_in_background "1 MPI_Iprobe 60000 60100 comm=1 peer=any tag=any$back")" = $'[1,2,0,1]\n[1,2,2,2]' ]
	[ "$(held_in_background '1 MPI_Request_free 100000 103500 of=a')" = $'[1,1,0,1]\n[1,1,2,2]' ]
	# In calls for most of the time; back after the others have left, or long before; no source in a neighbourhood; an unknown thread.
	[ -z "$(held_in_background "1 MPI_Iprobe 3000 80000 comm=1 peer=any tag=any$back")" ]
	[ -z "$(held_in_background '1 MPI_Wait 103100 103500 of=a')" ]
	[ -z "$(held_in_background '1 MPI_Wait 32000 103500 of=a')" ]
	[ -z "$(held_in_background '' MPI_Ineighbor_alltoall)" ]
	local topology=$'\ncommunicator comm=3 members=0,1,2\nneighbours comm=3 member=0 sources=2,1\nneighbours comm=3 member=1 sources=0\nneighbours comm=3 member=2 sources=0'
	[ "$(held_in_background '' MPI_Ineighbor_alltoall "$topology" 3)" = '[1,1,0,1]' ]
	[ -z "$(held_in_background '' '' $'locations=4\nlocation location=3 rank=2 thread=1')" ]
}

@test "graph, critpath and imbalance equal brute force on random runs" {
	run -0 tests/random_run.py check 1 "$(short_or_long 40 100)"
	[ -z "$output" ]
}

@test "the same trace gives the same bytes from every stage" {
	tests/random_run.py make 42 >t.trace
	for i in 1 2; do
		lp-graph <t.trace >t.graph$i 2>t.err$i
		lp-critpath <t.graph$i >t.path$i
		lp-imbalance <t.graph$i >t.table$i
		lp-critpath -F text <t.graph$i >t.text$i
	done
	for f in graph err path table text; do
		cmp t.$f"1" t.$f"2"
	done
}

@test "memory does not grow with the length of the run" {
	"$ROOT/build/bench/synthetic" -r 4 -c 2000000 >t.raw
	limited 200000 lp-merge <t.raw >t.trace
	limited 100000 lp-graph <t.trace 2>/dev/null >t.graph
	limited 100000 lp-critpath -F text t.graph >t.text
	limited 100000 lp-imbalance t.graph >t.table
	rm t.raw t.trace t.graph
}

@test "the index gives the synchronisation points, and stays small however many there are" {
	seq -f '0 MPI_Barrier %.0f +1 comm=1' 0 2 79998 | tests/pack -H 'trace ranks=1' | lp-graph 2>/dev/null >t.graph
	trace.py check t.graph
	[ "$(lp-dump -k index t.graph | jq -c '[.count, .syncs, .step, (.at | length), (.at | min > 0)]')" = \
		'[10000,40000,4,10000,true]' ]
	lp-critpath --list 2 t.graph >list
	[ "$(tail -n +2 list)" = "$(printf '1\t1\t20000\t19999\n2\t20001\t40001\t20001')" ]
	for i in 1 2; do lp-critpath --part $i/2 t.graph >$i.path; done
	lp-critpath --join -F json 1.path 2.path | cmp - <(lp-critpath -F json t.graph)
}

@test "the index is right on random runs, and stages that pass the stream on drop it" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6 7 8'); do
		random_run.py make $seed | lp-graph 2>/dev/null >t.graph
		trace.py check t.graph
		[ "$(lp-dump -k index,end t.graph | jq -r .kind | tr '\n' ' ')" = 'index end ' ]
		lp-critpath t.graph >t.path
		trace.py check t.path
		[ -z "$(lp-dump -k index t.path)" ]
	done
}

@test "messages with another MPI run are reported once" {
	tests/pack >t.trace <<-'END'
		trace ranks=2
		communicator comm=3 size=2 members=-2,-2 remote_size=2 remote=0,1
		0 MPI_Init 0 100
		0 MPI_Send 200 210 comm=3 peer=0 tag=5 sent=8
		0 MPI_Send 300 310 comm=3 peer=1 tag=5 sent=8
		0 MPI_Finalize 500 600
		1 MPI_Init 0 100
		1 MPI_Finalize 500 600
	END
	lp-graph t.trace 2>t.err >t.graph
	grep -q '^lp-graph: rank 0, row 1: the peer of MPI_Send belongs to another MPI run, spawned or connected' t.err
	[ "$(grep -c 'rank 0, row' t.err)" -eq 1 ]
	grep -q ', 2 sends, 0 receives' t.err
}

# polls GAP [END]: rank 1 tests five times, GAP ns apart, for a message sent at 900000; the fifth succeeds.
polls() {
	tests/pack -H 'trace ranks=2 rows=3' <<-END
		0 MPI_Init 0 1000 comm=1
		0 MPI_Send 900000 901000 comm=1 peer=1 tag=5 sent=8
		0 MPI_Finalize 2000000 2100000 comm=1
		site site=1 module=0 offset=1
		1 MPI_Init 0 1000 comm=1
		1 MPI_Irecv 2000 3000 comm=1 peer=0 tag=5 received=8 as=r
		$(for i in 0 1 2 3; do echo "1 MPI_Test $((10000 + i * $1)) +500 site=1"; done)
		${2:-}
		1 MPI_Test $((10000 + 4 * $1)) 950000 comm=1 peer=0 tag=5 received=8 of=r site=1
		1 MPI_Finalize 2000000 2100000 comm=1
	END
}

@test "failed tests before a success are one wait for its message, with the time between them" {
	polls 19000 >t.trace
	run -0 --separate-stderr lp-graph t.trace
	lp-graph t.trace 2>t.err >t.graph
	grep -q '^lp-graph: counted 1 polling loops with 4 failed tests and probes as waits (gaps up to 20 us' t.err
	trace.py check t.graph
	[ "$(lp-dump -k call t.graph | jq -c 'select(.call == "MPI_Test") | [.enter_ns, .leave_ns]' | paste -sd' ')" = \
		'[10000,10000] [10000,10000] [10000,10000] [10000,10000] [10000,950000]' ]
	lp-imbalance -F json t.graph | jq -e '.sums.hold and ([.wait_states[] | select(.name == "late_sender") |
		[.count, (.wait_s * 1e9 | round)]] == [[1, 890000]])'
	lp-critpath -F json t.graph | jq -e 'any(.segments[]; .kind == "compute" and .rank == 0 and .end_ns == 900000)'
	lp-dump -k polls t.graph | jq -e '.as == "wait" and .gap_ns == 20000'
}

# asked POLLS GAP [LINE]: rank 1 polls so often for a message, and stops for GAP ns behind three quarters of them
asked() {
	{
		echo 'trace ranks=2'
		echo "${3:-site site=1 module=0 offset=1}"
		echo '0 MPI_Init 0 1000 comm=1'
		echo "0 MPI_Send $((2000 + 200 * $1 + $2)) +100 comm=1 peer=1 tag=5 sent=8"
		echo "0 MPI_Finalize $((3000 + 300 * $1 + $2)) +100 comm=1"
		echo '1 MPI_Init 0 1000 comm=1'
		echo '1 MPI_Irecv 1100 +100 comm=1 peer=0 tag=5 received=8 as=r'
		awk -v n="$1" -v gap="$2" 'BEGIN { for (i = 0; i < n; i++)
			print "1 MPI_Test", 2000 + 200 * i + (i >= n * 3 / 4 ? gap : 0), "+100" }'
		echo "1 MPI_Test $((2000 + 200 * $1 + $2)) +200 comm=1 peer=0 tag=5 received=8 of=r"
		echo "1 MPI_Finalize $((3000 + 300 * $1 + $2)) +100 comm=1"
	} | tests/pack >t.trace
	lp-graph t.trace 2>t.err >t.graph
	lp-imbalance -F json t.graph | jq '[.wait_states[] | select(.name == "late_sender").wait_s * 1e9 | round] | add'
}

@test "a loop of polls is one wait even if preempted, but not if it may have computed" {
	local crowded='load host=a ranks=2 cores=1 threads=2 elapsed_ns=1000 cpu_ns=900 thread_cpu_ns=900 waited_ns=500 others_ns=0'
	[ "$(asked 4000 5000000 "$crowded")" -eq 5800000 ]
	[ "$(asked 4000 50000)" -eq 850000 ]
	[ "$(asked 4000 5000000)" -eq 200000 ]
	[ "$(asked 1000 5000000 "$crowded")" -eq 50000 ]
	[ "$(asked 4000 25000000 "$crowded")" -eq 200000 ]
}

@test "a loop of polls is one wait if the recorder saw the thread sleep for about as long" {
	local gaps='poll_gaps location=1 site=0 count=10 apart_ns=1500000'
	[ "$(asked 400 150000)" -eq 20000 ]
	[ "$(asked 400 150000 "$gaps awake_ns=750000")" -eq 230000 ]
	[ "$(asked 400 150000 "$gaps awake_ns=750001")" -eq 20000 ]
	[ "$(asked 400 2399915 "$gaps awake_ns=750000")" -eq 2479915 ]
	[ "$(asked 400 2399916 "$gaps awake_ns=750000")" -eq 20000 ]
	[ "$(asked 400 150000 "${gaps/site=0/site=1} awake_ns=750000")" -eq 20000 ]
	[ "$(asked 400 150000 "${gaps/location=1/location=0} awake_ns=750000")" -eq 20000 ]
	printf '%s\n' 'trace ranks=2' "$gaps awake_ns=0" "$gaps awake_ns=0" | tests/pack >twice.trace
	run -2 --separate-stderr lp-graph twice.trace
	[[ "$stderr" == *'poll_gaps: not in order of locations and sites' ]]
}

# Rank 0 polls for what rank 1 sends after 30 ms: it sleeps between, or computes, or calls something else.
@test "without samples the recorder finds which ranks sleep between polls, and which compute" {
	cat >polls.c <<-'END'
		#include <mpi.h>
		#include <stdlib.h>
		#include <time.h>
		#include <unistd.h>
		static double cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
		static void compute(double s) { for (double end = cpu() + s; cpu() < end; ); }
		int main(int argc, char **argv)
		{
			int rank, found = 0, to = MPI_PROC_NULL;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			if (rank == 1) {
				usleep(300000);
				MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
			} else {
				while (!found) {
					MPI_Iprobe(1, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
					if (*argv[1] == 's' || *argv[1] == 'o')
						usleep(1000);
					if (*argv[1] == 'c')
						compute(0.001);
					if (*argv[1] == 'o')
						MPI_Send(&rank, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
				}
				MPI_Recv(&to, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			return MPI_Finalize();
		}
	END
	mpicc -O1 -o polls polls.c
	for how in sleeps computes other; do
		lp-record -o $how -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./polls $how
		lp-merge $how >$how.trace
		trace.py check $how.trace
		lp-graph $how.trace 2>$how.err | lp-report -F text >$how.text
		[ $how = other ] || lp-dump -k poll_gaps $how.trace >$how.gaps
	done
	jq -e '.count > 1 and .location == 0 and .awake_ns * 4 < .apart_ns' sleeps.gaps
	jq -e '.awake_ns * 2 > .apart_ns' computes.gaps
	run -2 lp-dump -k poll_gaps other.trace
	grep -q 'counted [0-9]* polling loops' sleeps.err
	grep -q "rank 1's computation before MPI_Send" sleeps.text || { cat sleeps.text; false; }
	refute grep -q 'counted [0-9]* polling loops' computes.err
	refute grep -q 'counted [0-9]* polling loops' other.err
}

@test "a loop of more polls than fit in memory is one wait" {
	[ "$(asked 1000000 0)" -eq 200000000 ]
	limited 200000 lp-graph t.trace >/dev/null 2>limited.err
	grep -q '^lp-graph: counted 1 polling loops with 1000000 failed tests' limited.err
}

# arrived LAST: rank 1 asks five times, 19000 ns apart, whether its partition has come; LAST goes with the fifth answer.
arrived() {
	tests/pack -H 'trace ranks=2 rows=3' <<-END
		0 MPI_Init 0 1000 comm=1
		0 MPI_Finalize 2000000 2100000 comm=1
		site site=1 module=0 offset=1
		1 MPI_Init 0 1000 comm=1
		$(for i in 0 1 2 3; do echo "1 MPI_Parrived $((10000 + i * 19000)) +500 site=1"; done)
		1 MPI_Parrived 86000 950000 site=1 $1
		1 MPI_Finalize 2000000 2100000 comm=1
	END
}

@test "tests for a partition are one wait until it has arrived" {
	arrived found=1 >t.trace
	lp-graph t.trace 2>t.err >t.graph
	grep -q '^lp-graph: counted 1 polling loops with 4 failed tests and probes' t.err
	trace.py check t.graph
	lp-dump -k call t.graph | jq -e -s '[.[] | select(.call == "MPI_Parrived")] | last.enter_ns == 10000'
	arrived '' >never.trace
	lp-graph never.trace 2>t.err >t.graph
	refute grep -q 'polling loop' t.err
}

# asked_for ROW...: rank 1 asks four times in vain whether its request is complete, then is told so, and completes it. Rank 0
# does what it waits for at 900000.
asked_for() {
	tests/pack -H 'trace ranks=2 rows=3' <<-END
		site site=1 module=0 offset=1
		0 MPI_Init 0 1000 comm=1
		$1
		0 MPI_Finalize 1000000 2100000 comm=1
		1 MPI_Init 0 1000 comm=1
		1 $2
		$(for i in 0 1 2 3; do echo "1 ${4:-MPI_Request_get_status} $((10000 + i * 19000)) +500 site=1"; done)
		1 ${4:-MPI_Request_get_status} 86000 950000 site=1 of=r
		1 ${4:-MPI_Request_get_status} 951000 951500 site=1 of=r
		1 MPI_Wait 970000 980000 of=r $3
		1 MPI_Finalize 2000000 2100000 comm=1
	END
}

@test "tests of a request are one wait until it completes; its completion waits no more" {
	local from='0 MPI_Send 900000 901000 comm=1 peer=1 tag=5 sent=8' got='comm=1 peer=0 tag=5 received=8'
	local is_wait='[.wait_states[] | select(.count > 0 and .name != "wait_at_finalize" and (.name | test("completion") | not)) |
		.name, .count, (.wait_s * 1e9 | round)]'
	local names='any(.segments[]; .kind == "compute" and .rank == 0 and .end_ns == 900000)'
	asked_for "$from" 'MPI_Irecv 2000 3000 comm=1 peer=0 tag=5 received=8 as=r' "$got" >specific.trace
	asked_for "$from" 'MPI_Irecv 2000 3000 comm=1 peer=any tag=any received=8 as=r' "$got" >wild.trace
	asked_for '0 MPI_Pready(last) 900000 901000 comm=1 peer=1 tag=5 sent=8' \
		'MPI_Irecv 2000 3000 comm=1 peer=0 tag=5 received=8 as=r' "$got" MPI_Parrived >partition.trace
	asked_for '0 MPI_Recv 900000 901000 comm=1 peer=1 tag=5 received=8' \
		'MPI_Isend 2000 3000 comm=1 peer=0 tag=5 sent=8 as=r' >sent.trace
	asked_for "0 MPI_Ibarrier 900000 901000 comm=1 as=q
		0 MPI_Wait 902000 903000 of=q" 'MPI_Ibarrier 2000 3000 comm=1 as=r' >all.trace
	for of in "specific late_sender" "wild late_sender" "partition late_sender" "sent late_receiver" "all wait_at_barrier"; do
		set -- $of
		echo "$1" >&2
		lp-graph $1.trace >t.graph 2>t.err
		trace.py check t.graph
		lp-imbalance -F json t.graph >t.json
		jq -c "$is_wait" t.json >&2
		[ "$(jq -c "$is_wait" t.json)" = "[\"$2\",1,890000]" ]
		lp-critpath -F json t.graph | jq -e "$names"
	done
	[ "$(lp-graph specific.trace 2>/dev/null | lp-dump -k probe | jq -c '[.source, .send, .target, .receive]')" = '[0,1,1,6]' ]
}

@test "a receive open across a barrier is pending there, whatever other requests completed before" {
	local call
	for call in 'MPI_File_iwrite_at' 'MPI_Rput' 'MPI_Ibarrier' ''; do
		tests/pack <<-END | lp-graph 2>t.err >t.graph
			trace ranks=2
			communicator comm=3 members=0 type=file
			$(for rank in 0 1; do echo "$rank MPI_Init 0 10 comm=1"; done)
			${call:+0 $call 20 30 comm=3 sent=8 as=w}
			${call:+0 MPI_Wait 40 50 of=w}
			0 MPI_Irecv 60 70 comm=1 peer=1 tag=5 received=8 as=r
			$(for rank in 0 1; do echo "$rank MPI_Barrier $((80 + rank)) 90 comm=1"; done)
			1 MPI_Send 100 110 comm=1 peer=0 tag=5 sent=8
			0 MPI_Wait 95 120 of=r comm=1 peer=1 tag=5 received=8
			$(for rank in 0 1; do echo "$rank MPI_Finalize $((200 + rank)) 210 comm=1"; done)
		END
		grep -q ' 2 synchronisation points, refused: 1 pending' t.err
	done
}

# files CALL LEAVE [COMM]: three ranks call together on a file, entered at 10000, 90000 and 50000; rank 2 leaves at LEAVE.
files() {
	tests/pack <<-END | lp-graph 2>t.err >t.graph
		trace ranks=3
		communicator comm=3 members=0,1,2 type=file
		$(for rank in 0 1 2; do echo "$rank MPI_Init 0 1000 comm=1"; done)
		0 $1 10000 95000 comm=${3:-3} sent=8 as=a
		1 $1 90000 99000 comm=${3:-3} sent=8 as=b
		2 $1 50000 $2 comm=${3:-3} sent=8 as=c
		$(for rank in 0 1 2; do echo "$rank ${4:-MPI_Barrier} $((100000 + rank)) 110000 comm=1"; done)
		$(for rank in 0 1 2; do echo "$rank MPI_Finalize 200000 210000 comm=1"; done)
	END
	trace.py check t.graph
	lp-imbalance -F json t.graph >t.json
	jq -e .sums.hold t.json >/dev/null
	lp-critpath -F json t.graph >t.path
	jq -c '[.wait_states[] | select(.name == "wait_at_file") | .ranks[] * 1e9 | round]' t.json
}

@test "a rank late to a collective on a file delays the others, unless one has left before" {
	local call
	for call in MPI_File_write_at_all MPI_File_set_view MPI_File_read_ordered MPI_File_write_all_end MPI_File_close MPI_File_sync; do
		[ "$(files $call 98000)" = '[80000,0,40000]' ]
		grep -q ' and 4 collectives matched, .* 0 collectives not' t.err
		jq -e 'any(.segments[]; .rank == 1 and .kind == "compute" and .end_ns == 90000)' t.path
		# The file system takes its time on any network.
		[ "$(lp-replay -F json t.graph | jq .run_time_ns)" -eq 189002 ]
		[ "$(lp-replay --scale rank=1,factor=0 -F json t.graph | jq .run_time_ns)" -eq 149002 ]
		[ "$(files $call 80000)" = '[0,0,0]' ]
		grep -q ' and 4 collectives matched, .* 0 collectives not' t.err
	done
	[ "$(files MPI_File_write_at 98000)" = '[0,0,0]' ]
	grep -q ' and 3 collectives matched, .* 0 collectives not' t.err
	[ "$(files MPI_File_write_all 98000 0)" = '[0,0,0]' ]	# of a trace that does not tell the file
	grep -q ' and 3 collectives matched, .* 0 collectives not' t.err
	[ "$(files MPI_File_iwrite_all 98000)" = '[0,0,0]' ]
	grep -q ' and 4 collectives matched, .* 0 collectives not' t.err
}

@test "the completion of a collective on a file waits for the last start, if it lasts until then" {
	tests/pack <<-END | lp-graph 2>t.err >t.graph
		trace ranks=3
		communicator comm=3 members=0,1,2 type=file
		0 MPI_File_iwrite_all 10000 11000 comm=3 sent=8 as=a
		1 MPI_File_iwrite_all 90000 91000 comm=3 sent=8 as=b
		2 MPI_File_iwrite_all 50000 51000 comm=3 sent=8 as=c
		0 MPI_Wait 12000 95000 of=a
		1 MPI_Wait 92000 95000 of=b
		2 MPI_Wait 52000 88000 of=c
		$(for rank in 0 1 2; do echo "$rank MPI_Finalize 200000 210000 comm=1"; done)
	END
	grep -q ' and 2 collectives matched, .* 0 collectives not' t.err
	lp-imbalance -F json t.graph >t.json
	[ "$(jq -c '[.wait_states[] | select(.name == "wait_at_file") | .ranks[] * 1e9 | round]' t.json)" = '[78000,0,0]' ]
}

@test "polls with work between them, polls ended by another call, and --polls work stay separate" {
	polls 21000 >work.trace
	polls 19000 '1 MPI_Send 90000 90100 comm=1 peer=1 tag=9 sent=0' >other.trace
	polls 19000 >wait.trace
	for graph in "work" "other" "wait --polls work" "wait --poll-gap 0.00001"; do
		set -- $graph
		lp-graph "${@:2}" $1.trace >t.graph 2>t.err
		refute grep -q 'polling loop' t.err
		cmp <(lp-dump -k call $1.trace) <(lp-dump -k call t.graph)
	done
}

# turns ROW...: rank 1 polls at two sites, 1000 ns apart; what it does is given by letters: a and b fail at site
# 1 and 2, A and B succeed there, s sends. Prints the calls that last longer than before, with their new enter.
turns() {
	local at=9000 letter name
	{
		echo 'trace ranks=2'
		echo '0 MPI_Init 0 1000 comm=1'
		echo '1 MPI_Init 0 1000 comm=1'
		for letter in $*; do
			[[ "$letter" != [AB] ]] || echo "0 MPI_Send $((at + 900)) +10 comm=1 peer=1 tag=5 sent=8"
			at=$((at + 1000))
		done
		echo 'site site=1 module=0 offset=1'
		echo 'site site=2 module=0 offset=2'
		at=9000
		for letter in $*; do
			at=$((at + 1000))
			case $letter in
			a) echo "1 MPI_Test $at +500 site=1" ;;
			b) echo "1 MPI_Testany $at +500 site=2" ;;
			A) name=MPI_Test ;;
			B) name=MPI_Testany ;;
			s) echo "1 MPI_Send $at +10 comm=1 peer=0 tag=6 sent=8" ;;
			esac
			[[ "$letter" != [AB] ]] || printf '1 MPI_Irecv %s +1 comm=1 peer=0 tag=5 received=8 as=r%s\n' \
				$((at - 400)) $at >>irecvs
			[[ "$letter" != [AB] ]] || echo "1 $name $at +500 comm=1 peer=0 tag=5 received=8 of=r$at site=$([ $letter = A ] && echo 1 || echo 2)"
		done
	} >text
	# All receives are posted at first.
	awk 'NR == FNR { if ($1 == 1) posts = posts "1 MPI_Irecv " 1100 + 10 * n++ " +1 " substr($0, index($0, "comm=")) "\n"; next }
		/^1 MPI_Init/ { print; printf "%s", posts; next } { print }' irecvs text | tests/pack >t.trace
	rm irecvs
	lp-graph t.trace 2>t.err >t.graph
	lp-dump -k call t.graph | jq -r 'select(.rank == 1 and (.call | startswith("MPI_Test")) and .leave_ns - .enter_ns > 500) |
		"\(.call) \(.enter_ns) \(.leave_ns)"' | paste -sd' '
}

@test "polls of several things in turn are one wait for the first one to arrive" {
	[ "$(turns a a a a B)" = "" ]			# what came had not been polled
	[ "$(turns a b a b A)" = "MPI_Test 11000 14500" ]
	[ "$(turns a b a b B)" = "MPI_Testany 11000 14500" ]
	# The rank worked on until it polled for the other, too.
	[ "$(turns a a a a b a b a B)" = "MPI_Testany 14000 18500" ]
}

@test "polls after which the rank goes on are work, however close together" {
	[ "$(turns a a A a a s)" = "MPI_Test 10000 12500" ]
	# It sends although nothing has come; so the next runs are no waits.
	[ "$(turns a a s a a A a a A)" = "" ]
	# Of others at once it is still known that the rank waits for them.
	[ "$(turns a a s a b a b A)" = "MPI_Test 14000 17500" ]
	# Once in nine is too little.
	runs=$(for _ in 1 2 3 4 5 6 7; do echo a a A; done)
	[ "$(turns a a s $runs a a A | wc -w)" -eq 3 ]
	[ "$(turns a a s $runs a A | wc -w)" -eq 3 ]
	[ "$(turns a a s a a s $runs a a A | wc -w)" -eq 0 ]
	turns a a s $runs a a A >/dev/null
	grep -q '^lp-graph: counted 1 polling loops with 2 failed .* at most one loop in 9 given up' t.err
}

@test "the path's polls that are not waits are reported with the threshold, by all solvers" {
	turns a a s a a A s >/dev/null
	lp-critpath -F text t.graph >text
	grep -q '^polling loops with at most 20 us between polls count as waiting' text
	grep -q '^of MPI, .* % of the path are tests and probes that completed nothing' text
	lp-critpath -F json t.graph | jq -e '.poll_gap_s == 2e-05 and (.total.polls_s * 1e9 | round) == 2000 and
		([.by_rank[].polls_s] | add) == .total.polls_s and .total.mpi_s >= .total.polls_s'
	for way in walk kahn dijkstra delta; do
		lp-critpath -a $way t.graph >t.path
		trace.py check t.path
		lp-dump -k segment t.path
	done | sort | uniq -c | awk '{ print $1 }' | uniq | grep -qx 4
	turns a a A >/dev/null
	lp-critpath -F json t.graph | jq -e '.total.polls_s == 0'
	lp-graph --polls work t.trace 2>/dev/null | lp-critpath -F json | jq -e '.poll_gap_s == null and .total.polls_s > 0'
}

@test "a probe that finds a message ends a wait, its receive too, another's receive does not" {
	for tag in 5 6; do
		tests/pack <<-END | lp-graph 2>/dev/null >t.graph
			trace ranks=2
			0 MPI_Init 0 1000 comm=1
			0 MPI_Send 50000 51000 comm=1 peer=1 tag=$tag sent=8
			0 MPI_Finalize 200000 210000 comm=1
			1 MPI_Init 0 1000 comm=1
			1 MPI_Iprobe 20000 21000 comm=1 peer=any tag=5
			1 MPI_Iprobe 30000 31000 comm=1 peer=any tag=5
			1 MPI_Iprobe 51000 52000 comm=1 peer=0 tag=5
			1 MPI_Recv 53000 54000 comm=1 peer=0 tag=$tag received=8
			1 MPI_Finalize 200000 210000 comm=1
		END
		lp-imbalance -F json t.graph | jq '[.wait_states[] | select(.name == "late_sender") | .wait_s * 1e9] | add | round'
	done >t.waits
	[ "$(paste -sd' ' t.waits)" = "30000 0" ]
}

# Rank 1 starts them in the other order, and each twice; a barrier between is counted apart.
@test "persistent collectives match in the order of their creation, not of their starts" {
	tests/pack <<-'END' | lp-graph >t.graph 2>t.err
		trace ranks=2
		0 MPI_Init 0 100 comm=1
		0 MPI_Allreduce_init 100 110 comm=1 as=a
		0 MPI_Allreduce_init 120 130 comm=1 as=b
		0 MPI_Start(Allreduce) 200 210 comm=1 sent=8 received=8 of=a
		0 MPI_Start(Allreduce) 300 310 comm=1 sent=9 received=9 of=b
		0 MPI_Barrier 400 500 comm=1
		0 MPI_Start(Allreduce) 600 610 comm=1 sent=8 received=8 of=a
		0 MPI_Start(Allreduce) 700 710 comm=1 sent=9 received=9 of=b
		0 MPI_Finalize 800 900
		1 MPI_Init 0 100 comm=1
		1 MPI_Allreduce_init 100 110 comm=1 as=a
		1 MPI_Allreduce_init 120 130 comm=1 as=b
		1 MPI_Start(Allreduce) 200 210 comm=1 sent=9 received=9 of=b
		1 MPI_Start(Allreduce) 300 310 comm=1 sent=8 received=8 of=a
		1 MPI_Barrier 400 500 comm=1
		1 MPI_Start(Allreduce) 600 610 comm=1 sent=9 received=9 of=b
		1 MPI_Start(Allreduce) 700 710 comm=1 sent=8 received=8 of=a
		1 MPI_Finalize 800 900
	END
	[ "$(trace.py text t.graph | grep ^collective | sed 's/collective //' | sort | paste -sd,)" = \
		"0:0 1:0,0:3 1:4,0:4 1:3,0:5 1:5,0:6 1:7,0:7 1:6,0:8 1:8" ]
	grep -q '^lp-graph: 0 messages and 7 collectives matched, 0 sends, 0 receives and 0 collectives not' t.err
}

# Both messages are on one channel: which one a receive takes is told by the handle, and the plain probe takes none.
@test "a matched probe waits for its message and keeps it for the receive of its handle" {
	tests/pack <<-'END' | lp-graph >t.graph 2>t.err
		trace ranks=2
		0 MPI_Init 0 1000 comm=1
		0 MPI_Send 10000 11000 comm=1 peer=1 tag=5 sent=8
		0 MPI_Send 20000 21000 comm=1 peer=1 tag=5 sent=8
		0 MPI_Send 30000 31000 comm=1 peer=1 tag=5 sent=8
		0 MPI_Finalize 50000 51000 comm=1
		1 MPI_Init 0 1000 comm=1
		1 MPI_Mprobe 2000 12000 comm=1 peer=0 tag=5 found=1 as=a
		1 MPI_Mprobe 12500 22000 comm=1 peer=0 tag=5 found=1 as=b
		1 MPI_Probe 25000 32000 comm=1 peer=0 tag=5
		1 MPI_Recv 32000 33000 comm=1 peer=0 tag=5 received=8
		1 MPI_Mrecv 33000 33500 comm=1 peer=0 tag=5 received=8 of=b
		1 MPI_Imrecv 34000 34100 comm=1 peer=0 tag=5 received=8 of=a as=c
		1 MPI_Wait 35000 35100 comm=1 peer=0 tag=5 received=8 of=c
		1 MPI_Finalize 50000 51000 comm=1
	END
	trace.py check t.graph
	trace.py text t.graph | grep -E '^(message|probe)' >t.edges
	[ "$(sort t.edges | paste -sd' ')" = "message 0:1 1:7 message 0:2 1:5 message 0:3 1:4 probe 0:1 1:1 probe 0:2 1:2 probe 0:3 1:3" ]
	grep -q '^lp-graph: 3 messages and 2 collectives matched, 0 sends, 0 receives and 0 collectives not' t.err
	[ "$(lp-imbalance -F json t.graph | jq '[.wait_states[] | select(.name == "late_sender") | .wait_s * 1e9] | add | round')" = 20500 ]
	[ "$(lp-critpath -F json t.graph | jq -c '[.segments[] | select(.kind == "compute" and .rank == 1)] | length')" -le 1 ]
}

@test "a probe waits for a message that is never received; of MPI_PROC_NULL for nothing" {
	tests/pack <<-'END' | lp-graph >t.graph 2>t.err
		trace ranks=2
		0 MPI_Init 0 1000 comm=1
		0 MPI_Send 10000 11000 comm=1 peer=1 tag=5 sent=8
		0 MPI_Finalize 50000 51000 comm=1
		1 MPI_Init 0 1000 comm=1
		1 MPI_Probe 1000 1100 comm=1 peer=null tag=-1
		1 MPI_Probe 2000 12000 comm=1 peer=0 tag=5
		1 MPI_Probe 12000 12100 comm=1 peer=0 tag=5
		1 MPI_Finalize 50000 51000 comm=1
	END
	grep -q '^lp-graph: 0 messages and 2 collectives matched, 1 sends, 0 receives and 0 collectives not' t.err
	[ "$(trace.py text t.graph | grep -E '^(message|probe)' | paste -sd' ')" = "probe 0:1 1:2 probe 0:1 1:3" ]
	[ "$(lp-imbalance -F json t.graph | jq '[.wait_states[] | select(.name == "late_sender") | .wait_s * 1e9] | add | round')" = 8000 ]
}

# Rank 1 probes each 150 us for 150 ms: between these it computes (a sample each ms), or sleeps (one sample before).
@test "probes with sleep between them, by samples, are a wait; with computation they are work" {
	for every in 1 1000; do
		/usr/bin/python3 - $every <<-'END' | lp-graph 2>/dev/null >t.graph
			import os, sys
			sys.path.insert(0, os.environ["ROOT"] + "/tests")
			import trace
			w, every, ms = trace.Writer(sys.stdout.buffer, "trace"), int(sys.argv[1]), 1000000
			w.put("run", {"ranks": 2, "locations": 2, "run_ns": 200 * ms})
			names = ("MPI_Init", "MPI_Send", "MPI_Iprobe", "MPI_Recv", "MPI_Finalize")
			for i, name in enumerate(names):
			    w.put("call", {"number": i + 1, "name": name})
			def block(location, rows):
			    w.block("calls", {"enter": [r[1] for r in rows], "duration": [r[2] for r in rows],
			            "call": [names.index(r[0]) + 1 for r in rows], "comm": [1] * len(rows),
			            "peer": [r[3] for r in rows], "tag": [r[4] for r in rows],
			            "request": [r[5] for r in rows], "request_at": [2 * (r[5] > 0) for r in rows]},
			            location=location, first=0)
			block(0, [("MPI_Init", 0, 10, -3, -2, 0), ("MPI_Send", 150 * ms, 10, 1, 0, 0),
			          ("MPI_Finalize", 190 * ms, 10, -3, -2, 0)])
			times = range(5, 150 * ms, every * ms)
			w.block("sampled", {"time": list(times), "site": [0] * len(times)}, location=1,
			        period_ns=ms, until_ns=200 * ms)
			polls = [("MPI_Iprobe", 1000 + 150000 * k, 100, 0, 0, 0) for k in range(1000)]
			rows = [("MPI_Init", 0, 10, -3, -2, 0)] + polls
			rows += [("MPI_Iprobe", 151 * ms, 100, 0, 0, len(rows)), ("MPI_Recv", 152 * ms, 10, 0, 0, 0),
			         ("MPI_Finalize", 190 * ms, 10, -3, -2, 0)]
			block(1, rows)
			w.end()
		END
		trace.py check t.graph
		lp-imbalance -F json t.graph | jq '[.wait_states[] | select(.name == "late_sender") | .wait_s * 1e3] | add | round'
	done >t.waits
	[ "$(sed -n 1p t.waits)" = 0 ]
	[ "$(sed -n 2p t.waits)" -ge 120 ]
}

@test "blocks keep their order while a wait is held back, in bounded memory" {
	tests/pack -H 'trace ranks=2 rows=100' <<-END >t.trace
		$(seq -f '0 MPI_Iprobe %.0f +200 comm=1 peer=1 tag=1' 1000 300 901000)
		$(seq -f '1 MPI_Send %.0f +200 comm=1 peer=1 tag=2 sent=0' 1000 300 901000)
		0 MPI_Recv 902000 902100 comm=1 peer=1 tag=1 received=8
		1 MPI_Send 901600 901700 comm=1 peer=0 tag=1 sent=8
	END
	lp-graph t.trace 2>t.err >t.graph
	trace.py check t.graph
	[[ "$(cat t.err)" == *"counted 1 polling loops with 3001 failed tests and probes"* ]]
	lp-dump -k call t.graph | jq -es 'map(select(.call == "MPI_Recv")) | .[0].enter_ns == 1000'
}

# The second barrier of rank 0 meets a broadcast of rank 1; from then on rank 0 has called one barrier more.
# A message goes over the fourth barrier, and one that is not crossed by anything comes behind.
@test "after a barrier that meets another call, no synchronisation point counts" {
	mismatched() {
		tests/pack <<-END | lp-graph 2>/dev/null >t.graph
			trace ranks=2
			0 MPI_Init 0 10 comm=1
			1 MPI_Init 0 10 comm=1
			0 MPI_Barrier 20 40 comm=1
			1 MPI_Barrier 30 40 comm=1
			0 MPI_Barrier 50 60 comm=1
			1 $1 50 60 comm=1 peer=0
			0 MPI_Barrier 70 80 comm=1
			1 MPI_Barrier 71 80 comm=1
			0 MPI_Send 81 82 comm=1 peer=1 tag=0 sent=8
			0 MPI_Barrier 90 99 comm=1
			1 MPI_Barrier 91 99 comm=1
			1 MPI_Recv 100 101 comm=1 peer=0 tag=0 received=8
			0 MPI_Barrier 110 120 comm=1
			1 MPI_Barrier 111 120 comm=1
			0 MPI_Finalize 130 140 comm=1
			1 MPI_Finalize 130 140 comm=1
		END
		lp-dump -k sync t.graph | jq -c .seq | paste -sd' '
	}
	[ "$(mismatched MPI_Barrier)" = '[0,0] [1,1] [2,2] [3,3] [6,6] [7,7]' ]
	[ "$(mismatched MPI_Bcast)" = '[0,0] [1,1]' ]
	for a in walk kahn dijkstra; do
		lp-critpath -a $a -F json t.graph | jq -c .segments
	done | uniq | wc -l | grep -qx 1
}

@test "a graph is not matched twice, but refused in one line" {
	lp-graph "$(stream good-small)" >t.graph 2>/dev/null
	run -2 --separate-stderr bash -c 'lp-graph t.graph | cat; exit ${PIPESTATUS[0]}'
	[ -z "$output" ]
	[ "$stderr" = "lp-graph: t.graph:0: a graph; its messages and collectives are matched already" ]
}

@test "collectives without a communicator are reported in one line" {
	for n in 100 200 300; do
		for r in 0 1; do echo "$r MPI_Comm_dup $n $((n + 10))"; done
	done | pack -H 'trace ranks=2' >t.trace
	lp-graph t.trace 2>said >t.graph
	grep -qx 'lp-graph: rank 0, row 0: the trace does not say on which communicator MPI_Comm_dup was called: such calls match nothing' said
	[ "$(grep -c communicator said)" -eq 1 ]
	grep -q '6 collectives not' said
}
