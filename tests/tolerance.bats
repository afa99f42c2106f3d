# SPDX-License-Identifier: BSD-3-Clause
# Curves of run time against latency, 1/bandwidth and overhead, by hand and by lp-replay itself.
bats_require_minimum_version 1.5.0
load helpers

# A ping of 100 bytes and a pong of 200: computing 1000, 1000 and 980 between.
pingpong() {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=100
		0 MPI_Recv 1020 3020 comm=1 peer=1 tag=1 received=200
		0 exit 4000 4000
		1 MPI_Recv 500 1500 comm=1 peer=0 tag=0 received=100
		1 MPI_Send 2500 2600 comm=1 peer=0 tag=1 sent=200
		1 exit 4000 4000
	END
}

@test "a ping-pong's run time is as by hand: two latencies, 300 bytes, two sends" {
	pingpong
	lp-tolerance -p 1,10 -F json t.graph >t.json
	# 1000 computing, ping, 1000 computing, pong, 980 computing; on rank 1 1400 behind its send.
	jq -e '.exact and .run_time_ns == 3400' t.json
	jq -c '.latency' t.json
	jq -e '.latency == [{"from_ns":0,"to_ns":420,"run_time_ns":3400,"slope":1},
		{"from_ns":420,"to_ns":null,"run_time_ns":3820,"slope":2}]' t.json
	jq -e '.gap == [{"from_ns":0,"to_ns":2.1,"run_time_ns":3400,"slope":100},
		{"from_ns":2.1,"to_ns":null,"run_time_ns":3610,"slope":300}]' t.json
	jq -e '.overhead == [{"from_ns":0,"to_ns":null,"run_time_ns":3400,"slope":2}]' t.json
	jq -e '.tolerance[0] == {"percent":1,"latency_ns":34,"gap_ns":0.34,"overhead_ns":17}' t.json
}

@test "the time on the network stands beside the recorded one; a tolerance at the end of a curve is that or more" {
	pingpong
	lp-tolerance -F text t.graph >t.txt
	[[ "$(head -1 t.txt)" == *': 3.4e-06 s on this network, 4e-06 s as recorded: 15.0 % less' ]]
	lp-tolerance -F json t.graph | jq -e '.run_time_ns == 3400 and .recorded_run_time_ns == 4000'
	refute grep -q 'was tried' t.txt
	# 100 ns of latency and 1 ns a byte: from 3.6 us, 3 latencies are within 10 %, 200 % is beyond the last of them.
	printf 'machine\nbandwidth 1 GB/s\nnodes 2\nlinks 1 1\nlatency 100 ns\neager all\n' >machine
	lp-tolerance -n machine --curves latency -p 10,500 -F text t.graph >t.txt
	grep -qx 'latency_ns: no more than 5000 was tried, so a tolerance of 5000 is that or more' t.txt
	lp-tolerance -n machine --curves latency -p 1 -F text t.graph >t.txt
	refute grep -q 'was tried' t.txt
}

@test "a ring's slope is its length, a collective's the depth of its tree" {
	{
		echo trace ranks=8
		for r in 0 1 2 3 4 5 6 7; do
			echo "$r MPI_Barrier 0 10 comm=1"
			[ $r != 0 ] || echo "0 MPI_Send 100 110 comm=1 peer=1 tag=0 sent=8"
			echo "$r MPI_Recv 120 900 comm=1 peer=$(((r + 7) % 8)) tag=0 received=8"
			[ $r = 0 ] || echo "$r MPI_Send 910 920 comm=1 peer=$(((r + 1) % 8)) tag=0 sent=8"
		done
	} >t.txt
	tests/pack t.txt | lp-graph 2>/dev/null >t.graph
	lp-tolerance -F json t.graph | jq -e '.latency[-1].slope == 11 and .latency[-1].to_ns == null'
	# What takes equally long is in the order of its numbers, whoever came upon it first.
	{
		echo trace ranks=4
		for r in 0 1 2 3; do
			t=0
			for peer in 3 2 1; do
				echo "$r MPI_Send $((t += 10)) +1 comm=1 peer=$(((r + peer) % 4)) tag=0 sent=8 site=$((9 - r))"
			done
			for peer in 1 2 3; do
				echo "$r MPI_Recv $((t += 100)) +1 comm=1 peer=$(((r + peer) % 4)) tag=0 received=8 site=$((5 - r))"
			done
		done
	} >t.txt
	tests/pack t.txt | lp-graph 2>/dev/null >t.graph
	lp-tolerance --sites -F json t.graph | jq -e '.nodes |
		length > 9 and . == sort_by(-.path_ns, -.latencies, .source, .target)'
}

@test "curves equal lp-replay's times, to the nanosecond, on random runs and machines" {
	tests/tolerance_check.py replay 30 14 4
}

@test "the stream, CSV and JSON have the same curves" {
	pingpong
	lp-tolerance -F stream t.graph >out
	lp-dump -k curve out | jq -se 'map(.parameter) == ["latency", "gap", "overhead"]'
	[ "$(lp-tolerance -F csv t.graph | sed -n 3p)" = latency,420,,3820,2,1 ]
	# All of the input goes through as it is, but for what says where in the file something is.
	cmp <(lp-dump t.graph | grep -v '"kind":"\(longpole\|index\|end\)"') \
		<(lp-dump out | grep -v '"kind":"\(longpole\|curve\|end\)"')
}

@test "with limited links the curves are points, marked as such" {
	pingpong
	printf 'machine\nbandwidth 1 GB/s\nnodes 2\nlinks 1 1\nlatency 100 ns\neager all\n' >machine
	lp-tolerance -n machine -F json t.graph >t.json
	jq -e '(.exact | not) and .sampled_because == "links, buses or CPUs are limited"' t.json
	for i in 1 3 5; do
		from=$(jq -r ".latency[$i].from_ns" t.json)
		sed "s/latency 100/latency $from/" machine >there
		[ "$(lp-replay -n there -F json t.graph | jq .run_time_ns)" = "$(jq ".latency[$i].run_time_ns" t.json)" ]
	done
	run -2 --separate-stderr lp-tolerance -n machine -F json <t.graph
	[[ "$stderr" == *"it must be a FILE" ]]
}

@test "the wait for a started collective never ends before it begins" {
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		0 MPI_Ibarrier 10 20 comm=1 as=b
		0 MPI_Wait 5000 5010 of=b
		0 exit 6000 6000
		1 MPI_Ibarrier 30 40 comm=1 as=b
		1 MPI_Wait 50 60 of=b
		1 exit 60 60
	END
	printf 'machine\nnodes 2\ncollective all constant\n' >machine
	[ "$(lp-replay -n machine -F json t.graph | jq -c .finish_ns)" = '[5980,40]' ]
}

@test "curves equal the linear program of the run, solved exactly" {
	command -v glpsol >/dev/null || skip "glpk-utils is not there"
	tests/tolerance_check.py glpk 1 8 2
}

@test "ranks on the longest path, slack of their messages, and gains without waiting are right" {
	# Rank 0 computes 1000 and sends to 1 and 2; 1 goes on for 500, 2 for 300: its message has 200 left.
	tests/pack <<-'END' | lp-graph 2>/dev/null >t.graph
		trace ranks=3
		site site=1 offset=1 function=early
		site site=2 offset=2 function=late
		0 MPI_Send 1000 1010 comm=1 peer=1 tag=0 sent=100 site=1
		0 MPI_Send 1010 1020 comm=1 peer=2 tag=0 sent=100 site=2
		1 MPI_Recv 100 1100 comm=1 peer=0 tag=0 received=100 site=1
		1 exit 1600 1600
		2 MPI_Recv 100 1100 comm=1 peer=0 tag=0 received=100 site=2
		2 exit 1400 1400
	END
	printf 'machine\nmodel loggp\nnodes 3\nlatency 40 ns\nbandwidth 10 GB/s\n' >machine
	lp-tolerance --sites=0.03 -n machine -F json t.graph >t.json
	jq -e '.run_time_ns == 1550 and .latency[0].slope == 1' t.json
	jq -e '.sites | map(select(.call == "MPI_Send")) | map(.latencies, .bytes, .slack_ns, .earlier_ns) ==
		[1, 100, 0, 30, 0, 0, 200, 0]' t.json
	# Who does not wait computes 100 and 500 on rank 1; then rank 2 is last.
	jq -e '.sites | map(select(.call == "MPI_Recv").waitless_ns) == [200, 0]' t.json
	jq -e '.nodes[0] | .source == 0 and .target == 1 and .latencies == 1' t.json
	jq -e '.communicators[0].latencies == 1' t.json
	lp-tolerance --sites -n machine -F table t.graph | grep -q 'MPI_Send.*early'
}

@test "only the requested curves are computed" {
	pingpong
	lp-tolerance --curves gap -F json t.graph | jq -e 'has("gap") and (has("latency") | not)'
	run -2 --separate-stderr lp-tolerance --curves colour -F json t.graph
	[[ "$stderr" == *"colour is none of latency, gap and overhead" ]]
}

@test "options that moved from lp-replay end with a line that names lp-tolerance" {
	pingpong
	for old in --tolerance --tolerance=1,2 '--range 3' '--curves gap' --sites --sites=4; do
		run -2 --separate-stderr lp-replay $old t.graph
		[ "$stderr" = "lp-replay: --tolerance, --range, --curves and --sites are those of lp-tolerance" ]
		[ "$output" = "" ]
	done
}

@test "each line of the tables has as many cells as its head" {
	pingpong
	lp-tolerance --sites -F text t.graph >t.txt
	# A head is a line whose first word ends in _ns, _us or _%; the machine's own piece is marked behind it.
	awk -F '\t' '/^$/ { cells = 0 } $1 ~ /_(ns|us|%)$/ { cells = NF; heads++; next }
		cells && NF != cells && $NF != "the machine'"'"'s" { bad++; print }
		END { exit bad || heads != 7 }' t.txt
}

@test "temporary files are in TMPDIR" {
	pingpong
	TMPDIR="$PWD/nowhere" run -2 --separate-stderr lp-replay t.graph
	[[ "$stderr" == "lp-replay: $PWD/nowhere/"*": No such file or directory" ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ "$output" = "" ]
	mkdir here
	TMPDIR="$PWD/here" lp-replay t.graph | lp-dump -k run
}

@test "in a long run that nothing synchronises, curves are those of lp-replay, too, in little memory and time" {
	tests/tolerance_check.py long 5 "$(short_or_long 2 5)" 6
	# Lines of messages that are over would take gigabytes; bends that all times of one group, or of two, have in common, half a minute.
	for seed in $(short_or_long 5 '5 6'); do
		tests/tolerance_check.py make $seed 30000 >long.graph
		limited 60000 within 10 lp-tolerance -F csv long.graph >curves.csv
		[ "$(wc -l <curves.csv)" -gt 300 ]
	done
}

# Whether a receiver or a waiting sender is simulated first hangs on that.
@test "what sites pay does not hang on when rows are settled" {
	for seed in 10 28; do
		window_run.py $seed storm | pack | lp-graph 2>/dev/null >t.graph
		settle.py 3 <t.graph >often.graph
		lp-tolerance --sites -F json -n "$ROOT/tests/golden.d/texts/free.machine" t.graph >once
		lp-tolerance --sites -F json -n "$ROOT/tests/golden.d/texts/free.machine" often.graph >often
		cmp once often
	done
}
