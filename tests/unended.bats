# SPDX-License-Identifier: BSD-3-Clause
# A killed run in all stages: calls that did not return are rows up to its end, and reports begin with that.
bats_require_minimum_version 1.5.0
load helpers
load hangs

@test "open calls last until the recorder ended the run, and the path is a computing rank" {
	WAIT=2 begin spin
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -ne 0 ]
	lp-merge run >t.trace 2>err
	trace.py check t.trace
	lp-dump -k call t.trace | jq -s -e 'map(select(.call == "MPI_Barrier(open)")) | (map(.rank) | sort) == [0,2,3] and (map(.leave_ns) | unique | length) == 1 and
		(map(.leave_ns - .enter_ns > 300000000 and .comm == 1 and .site > 0) | all)' >/dev/null
	lp-dump -k call t.trace | jq -s -e 'map(select(.call == "(killed)")) | map(.rank) == [1]' >/dev/null
	[ "$(lp-dump -k call t.trace | jq -s 'map(.leave_ns) | max')" = "$(lp-dump -k run t.trace | jq .run_ns)" ]
	lp-graph <t.trace >t.graph 2>err
	trace.py check t.graph
	lp-critpath -F text t.graph >path
	[[ "$(head -n 1 path)" == *", killed at "*" s: 3 ranks, the first 0, were in MPI_Barrier at barrier (hangs.c:"*") since "*" s, rank 1 computed since "*" s: rank 1's computation is "* ]]
	[ "$(sed -n '2s/^run time \(.*\) s; critical path \(.*\) s in .*/\1/p' path)" = "$(sed -n '2s/^run time \(.*\) s; critical path \(.*\) s in .*/\2/p' path)" ]
	lp-imbalance t.graph >waits
	[[ "$(head -n 1 waits)" == *", killed at "* ]]
	grep -q '; adds up on every rank$' waits
	grep -q '^and [1-9][0-9.]* % in calls that did not return, and may have waited$' waits
	lp-report t.graph >page
	grep -q ', killed at .*were in MPI_Barrier' page
	grep -q 'MPI_Barrier(open)' page
	lp-export -f otf2 -o otf2 t.graph
	otf2-print otf2/traces.otf2 >events
	[ "$(grep -c 'ENTER .*MPI_Barrier(open)' events)" -eq 3 ]
	[ "$(grep -c 'LEAVE .*MPI_Barrier(open)' events)" -eq 3 ]
	lp-export -f prv -o prv t.graph
	lp-export -f perfetto t.graph >perfetto
}

@test "if the recorder was killed, open calls last until the last event, in every form of trace" {
	begin cycle 2
	hung
	end KILL
	lp-merge run >t.trace 2>err
	trace.py check t.trace
	lp-graph <t.trace 2>err | lp-critpath -F text >path
	[[ "$(head -n 1 path)" == *", did not end, last seen at "*" s: ranks 0-1 were in MPI_Recv at cycle (hangs.c:"*") since "* ]]
	[ "$(lp-dump -k call t.trace | jq -s 'map(select(.call == "MPI_Recv(open)") | [.rank, .peer, .tag]) | sort' -c)" = '[[0,1,9],[1,0,9]]' ]
	lp-merge -o shards --shards 2 run 2>err
	lp-dump -k call t.trace >one
	lp-dump -k call shards | cmp - one
	lp-merge -s clc run 2>err | lp-dump -k call | grep -c 'MPI_Recv(open)' >count
	[ "$(cat count)" -eq 2 ]
	OPTIONS='-z min' begin cycle 2
	hung
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -ne 0 ]
	lp-merge run 2>err | lp-dump -k call | grep -c 'MPI_Recv(open)' >count
	[ "$(cat count)" -eq 2 ]
}

@test "a run that ended has no rows of open calls" {
	begin none 2
	wait "$(cat pid)"
	rm pid
	lp-merge run | lp-dump >all
	run ! grep -qE 'unended|\(open\)|\(killed\)' all
}
