# SPDX-License-Identifier: BSD-3-Clause
# lp-replay on small runs, and on those with results from Dimemas.
bats_require_minimum_version 1.5.0
load helpers

graph() {
	tests/pack | lp-graph 2>/dev/null >t.graph
}

# finish [OPTION...]: by rank, on one line.
finish() {
	lp-replay -F json "$@" t.graph | jq -c .finish_ns
}

late_sender() {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 500 510 comm=1 peer=1 tag=0 sent=8
		0 MPI_Send 600 910 comm=1 peer=1 tag=1 sent=40000
		0 MPI_Finalize 920 1000
		1 MPI_Init 10 100
		1 MPI_Recv 200 530 comm=1 peer=0 tag=0 received=8
		1 MPI_Recv 890 930 comm=1 peer=0 tag=1 received=40000
		1 MPI_Finalize 990 1000
	END
}

@test "all cases of Dimemas are reproduced to the nanosecond" {
	failed=
	for case in "$fixtures"/dimemas/*/; do
		dimemas_case "${case%/}" || failed="$failed $case"
	done
	[ -z "$failed" ]
}

@test "on the ideal network a receive ends at its send's begin, a rendezvous send at its post" {
	late_sender
	lp-replay t.graph >t.out
	run -0 jq -rc 'select(.kind == "call") | "\(.rank) \(.call) \(.enter_ns) \(.leave_ns)"' < <(lp-dump t.out)
	[ "$output" = "$(cat <<-'END'
		0 MPI_Init 0 10
		0 MPI_Send 410 410
		0 MPI_Send 500 770
		0 MPI_Finalize 780 830
		1 MPI_Init 10 10
		1 MPI_Recv 110 410
		1 MPI_Recv 770 770
		1 MPI_Finalize 830 830
	END
	)" ]
}

@test "messages from the limit on are rendezvous, smaller ones eager" {
	late_sender
	[ "$(finish --eager 40000)" = '[830,830]' ]
	lp-replay --eager 40001 t.graph | lp-dump |
		jq -se 'any(.[]; .call == "MPI_Send" and .seq == 2 and .leave_ns == 500)'
	[ "$(finish --eager 39k)" = '[830,830]' ]		# 39936
}

@test "the JSON object has its five keys" {
	late_sender
	lp-replay -F json t.graph >t.json
	[ "$(jq -c keys t.json)" = '["finish_ns","recorded_run_time_ns","run_time_ns","serialization_efficiency","transfer_efficiency"]' ]
	# From leaving MPI_Init to entering MPI_Finalize the ranks took 770 and 820 ns, recorded 820 and 890.
	jq -e '.run_time_ns == 830 and .recorded_run_time_ns == 1000 and
		(.transfer_efficiency * 890 | round) == 820' t.json
	lp-replay --whole -F json t.graph | jq -e '.transfer_efficiency == 0.83'
}

@test "the stream keeps its form and the recorded times, also if replayed twice" {
	late_sender
	lp-replay t.graph >t.out
	tests/trace.py check t.out
	# An index would say where things are in the input.
	lp-dump t.graph | grep -q '"kind":"index"'
	refute grep -q '"kind":"index"' <(lp-dump t.out)
	[ "$(lp-dump t.out | grep -c '"message"')" -eq "$(lp-dump t.graph | grep -c '"message"')" ]
	lp-critpath -F json t.out | jq -e '.run_time_s == .path_length_s and .run_time_s == 8.3e-7'
	/usr/bin/python3 - t.out <<-'END'
		import msgpack, sys
		blocks = [b for k, b in msgpack.Unpacker(open(sys.argv[1], "rb")) if k == "calls"]
		assert all("recorded_enter" in b and "recorded_duration" in b for b in blocks)
	END
	lp-replay t.out >t.again
	diff <(lp-dump t.out | tail -n +2 | grep -v '"replay"') <(lp-dump t.again | tail -n +2 | grep -v '"replay"')
}

# Rank 0 computes twice as long, or half as long: what rank 1 probed for comes later, or sooner.
@test "a probe waits for the simulated message, and the receive does not wait again" {
	for size in 8 400000; do
		graph <<-END
			trace ranks=2
			0 MPI_Init 0 100
			0 MPI_Send 1100 1300 comm=1 peer=1 tag=0 sent=$size
			0 MPI_Finalize 2000 2100
			1 MPI_Init 0 100
			1 MPI_Mprobe 200 1200 comm=1 peer=0 tag=0 found=1 as=m
			1 MPI_Mrecv 1500 1600 comm=1 peer=0 tag=0 received=$size of=m
			1 MPI_Finalize 2000 2100
		END
		for factor in 0.5 1 2; do
			lp-replay --scale rank=0,factor=$factor t.graph | lp-dump -k call | jq -c 'select(.rank == 1 and
				(.call | test("Mprobe|Mrecv"))) | [.enter_ns, .leave_ns]' | paste -sd' '
		done
	done >t.times
	sed 's/^/# /' t.times >&2
	[ "$(sed -n 1,3p t.times)" = "$(sed -n 4,6p t.times)" ]
	[ "$(sed -n 1p t.times)" = "[100,500] [800,800]" ]
	[ "$(sed -n 2p t.times)" = "[100,1000] [1300,1300]" ]
	[ "$(sed -n 3p t.times)" = "[100,2000] [2300,2300]" ]
}

# Rank 0 starts an epoch at ranks 1 and 2. Rank 2 has posted by then. Rank 1 posts at 1300: MPI_Win_start waits for that,
# or leaves it to MPI_Win_complete, whose row then has two messages.
epoch() {
	graph <<-END
		trace ranks=3
		communicator comm=3 members=0,1,2 type=window
		0 MPI_Init 0 100
		0 MPI_Win_start 200 $1 comm=3 peer=2 as=b
		0 + comm=3 peer=1 as=a
		0 MPI_Put $(($1 + 10)) +10 comm=3 peer=1 sent=8
		0 MPI_Win_complete $(($1 + 90)) $2 comm=3 of=b
		0 + comm=3 of=a
		0 MPI_Finalize 2000 2100
		1 MPI_Init 0 100
		1 MPI_Win_post 1300 1310 comm=3 peer=0 as=p
		1 MPI_Win_wait 1330 $2 comm=3 of=p
		1 MPI_Finalize 2000 2100
		2 MPI_Init 0 100
		2 MPI_Win_post 150 160 comm=3 peer=0 as=p
		2 MPI_Win_wait 170 $2 comm=3 of=p
		2 MPI_Finalize 2000 2100
	END
}

@test "an epoch begins when its targets have posted, and ends for them when it is completed" {
	for times in '210 1350' '1310 1500'; do
		epoch $times
		tests/reorder.py 1 <t.graph >other.graph
		for graph in t.graph other.graph; do
			for eager in 0 32768; do
				lp-replay --eager $eager $graph | lp-dump -k call |
					jq -r 'select(.call | test("Win")) | "\(.rank) \(.call) \(.enter_ns) \(.leave_ns)"' >t.calls
				sed 's/^/# /' t.calls >&2
				grep -qx '1 MPI_Win_post 1200 1200' t.calls
				grep -qx '2 MPI_Win_post 50 50' t.calls
				if [ "$times" = '210 1350' ]; then
					grep -qx '0 MPI_Win_start 100 100' t.calls
					grep -qx '0 MPI_Win_complete 180 1200' t.calls
					grep -qx '1 MPI_Win_wait 1220 1220' t.calls
					grep -qx '2 MPI_Win_wait 60 180' t.calls
				else
					grep -qx '0 MPI_Win_start 100 1200' t.calls
					grep -qx '0 MPI_Win_complete 1280 1280' t.calls
					grep -qx '1 MPI_Win_wait 1220 1280' t.calls
					grep -qx '2 MPI_Win_wait 60 1280' t.calls
				fi
			done
		done
	done
}

# As above; a message takes 1000 ns, and each end 10 ns of its rank, also where a row receives and sends.
@test "the messages of an epoch cost what empty messages do" {
	printf 'machine\nmodel loggp\nnodes 3\nlatency 1000 ns\noverhead send 10 ns\noverhead receive 10 ns\ncollective all none\n' >m
	epoch 210 1350
	lp-replay -n m t.graph | lp-dump -k call | jq -r 'select(.call | test("Win")) | "\(.rank) \(.call) \(.enter_ns) \(.leave_ns)"' >t.calls
	sed 's/^/# /' t.calls >&2
	diff t.calls - <<-'END'
		0 MPI_Win_start 100 1070
		0 MPI_Win_complete 1150 2230
		1 MPI_Win_post 1200 1210
		1 MPI_Win_wait 1230 3240
		2 MPI_Win_post 50 60
		2 MPI_Win_wait 70 2170
	END
}

@test "a thread that another one waits for goes on, whatever is rendezvous" {
	tests/pack >t.graph <<-'END'
		graph ranks=1
		location location=1 rank=0 thread=7
		0 MPI_Init 0 100
		0 thread_signal 200 200
		0 MPI_Finalize 300 400
		1 thread_wait 250 260
		message 0:1 1:0
	END
	[ "$(finish --eager 0)" = '[250]' ]
	[ "$(finish)" = '[250]' ]
}

# many RANKS CALL COMM: three collectives, which ranks enter in any order
many() {
	awk -v ranks="$1" -v call="$2" -v comm="$3" 'BEGIN {
		srand(1)
		print "trace ranks=" ranks
		if (comm == 3) {
			printf "communicator comm=3 members=0"
			for (r = 1; r < ranks; r++) printf ",%d", r
			for (r = 0; r < ranks; r++)
				printf "\nneighbours comm=3 member=%d sources=%d,%d", r, (r + ranks - 1) % ranks, (r + 1) % ranks
			print ""
		}
		for (r = 0; r < ranks; r++) {
			print r, "MPI_Init 0 1000"
			for (i = 1; i <= 3; i++)
				printf "%d MPI_%s %d %d comm=%d sent=8 received=8\n", r, call, i * 100000 + int(50000 * rand()), i * 100000 + 60000, comm
			print r, "MPI_Finalize 400000 401000"
		}
	}' | tests/pack | lp-graph >t.graph 2>/dev/null
}

# 0.1 s of processor time; 15 to 100 s if each arrival looked at all members.
@test "a collective of many ranks costs as much as its ranks, not as their square" {
	printf 'machine\nmodel loggp\nnodes 8192\nlatency 1 us\nlinks 1 1\n' >machine
	for what in 'Neighbor_alltoall 3' 'Scan 1' 'Allreduce 1'; do
		many 8192 $what
		within 2 lp-replay -n machine -F json t.graph >t.json
		jq -e '.finish_ns | length == 8192' t.json
		within 2 lp-tolerance -F json t.graph >t.json
		jq -e '.latency | length > 0' t.json
	done
}

@test "a wait for a rendezvous send waits as in MPI, but not on a Dimemas machine" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Isend 20 30 comm=1 peer=1 tag=0 sent=40000 as=s
		0 MPI_Wait 40 210 of=s
		0 MPI_Finalize 220 300
		1 MPI_Init 0 10
		1 MPI_Recv 200 210 comm=1 peer=0 tag=0 received=40000
		1 MPI_Finalize 220 300
	END
	lp-replay t.graph | lp-dump | jq -se 'any(.[]; .call == "MPI_Wait" and .leave_ns == 190)'
	printf 'machine\nnodes 2\n' >machine
	lp-replay -n machine --eager 32k t.graph | lp-dump |
		jq -se 'any(.[]; .call == "MPI_Wait" and .leave_ns == 20)'
}

@test "each member of a collective waits for the members that it needs" {
	graph <<-'END'
		trace ranks=3
		0 MPI_Init 0 10
		0 MPI_Bcast 110 400 comm=1 peer=1 sent=0
		0 MPI_Reduce 410 1060 comm=1 peer=0
		0 MPI_Finalize 2000 2010
		1 MPI_Init 0 10
		1 MPI_Bcast 310 400 comm=1 peer=1 sent=8
		1 MPI_Reduce 500 500 comm=1 peer=0
		1 MPI_Finalize 2000 2010
		2 MPI_Init 0 10
		2 MPI_Bcast 1010 1040 comm=1 peer=1 sent=0
		2 MPI_Reduce 1050 1060 comm=1 peer=0
		2 MPI_Finalize 2000 2010
	END
	run -0 jq -rc 'select(.call == "MPI_Bcast" or .call == "MPI_Reduce") | "\(.rank) \(.enter_ns) \(.leave_ns)"' \
		< <(lp-replay t.graph | lp-dump)
	[ "$output" = "$(printf '0 100 300\n0 310 1010\n1 300 300\n1 400 400\n2 1000 1000\n2 1010 1010')" ]
}

# early CALL FIRST SECOND THIRD: rank 2 enters last, and the others are left for 2010 and 3090 ns before MPI_Finalize.
early() {
	graph <<-END
		trace ranks=3
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		2 MPI_Init 0 100
		0 $1 200 $2
		1 $1 3000 $3
		2 $1 6000 $4
		0 MPI_Finalize 8010 8100
		1 MPI_Finalize 7000 8100
		2 MPI_Finalize 7000 8100
	END
}

# As under MPICH: rank 0 receives from rank 1 alone, or a root without data enters last. Computing behind the call: 5000 ns on rank 0.
@test "who left a collective before another member entered does not wait for it, on the ideal network and with LogGP" {
	local call
	printf 'machine\nmodel loggp\nnodes 3\nlatency 10 ns\n' >machine
	for call in MPI_Alltoallv MPI_Gatherv; do
		early $call "3010 comm=1 peer=0 received=16" "3005 comm=1 peer=0 sent=16" "6010 comm=1 peer=0"
		run -0 jq -rc --arg call $call 'select(.call == $call) | "\(.rank) \(.enter_ns) \(.leave_ns)"' < <(lp-replay t.graph | lp-dump)
		[ "$output" = "$(printf '0 100 2900\n1 2900 2900\n2 5900 5900')" ]
		[ "$(finish)" = '[7900,7900,7900]' ]
		lp-tolerance -F json t.graph | jq -e '.run_time_ns == 7900'
		# Twice the computing of rank 1 holds up rank 0, of rank 2 nobody before MPI_Finalize.
		[ "$(lp-replay --scale rank=1,factor=2 t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "5800 5800 5900" ]
		[ "$(lp-replay --scale rank=2,factor=2 t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "2900 2900 11800" ]
	done
	early MPI_Bcast "3010 comm=1 peer=2" "3005 comm=1 peer=2" "6010 comm=1 peer=2"
	[ "$(lp-replay t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "100 2900 5900" ]
	# MPI_Init costs a tree of 10 ns in two levels.
	[ "$(lp-replay -n machine t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "120 2920 5920" ]
	# Equal data for all cannot come before its sender, so clocks differ. Of MPI_Scatterv rank 1 gets nothing.
	early MPI_Scatterv "3010 comm=1 peer=2 received=8" "3005 comm=1 peer=2" "6010 comm=1 peer=2 sent=8"
	[ "$(lp-replay t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "5900 2900 5900" ]
	early MPI_Bcast "3010 comm=1 peer=2 received=8" "3005 comm=1 peer=2 received=8" "6010 comm=1 peer=2 sent=8"
	[ "$(lp-replay t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "5900 5900 5900" ]
	early MPI_Allreduce "3010 comm=1 sent=8 received=8" "3005 comm=1 sent=8 received=8" "6010 comm=1 sent=8 received=8"
	[ "$(lp-replay t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "5900 5900 5900" ]
	# Calls without length say nothing of waits, as in a trace of Dimemas.
	early MPI_Alltoallv "200 comm=1 received=16" "3000 comm=1 sent=16" "6000 comm=1"
	[ "$(lp-replay t.graph | lp-dump | jq -c 'select(.seq == 1) | .leave_ns' | paste -sd' ')" = "5900 5900 5900" ]
}

@test "blocked ranks are named, with call and peer, and status 2" {
	graph <<-'END'
		trace ranks=3
		0 MPI_Init 0 100
		0 MPI_Recv 200 510 comm=1 peer=1 tag=7 received=8
		1 MPI_Init 0 100
		1 MPI_Recv 200 530 comm=1 peer=0 tag=9 received=8
		2 MPI_Init 0 100
		2 MPI_Barrier 300 400 comm=1
	END
	for form in json graph; do
		run -2 --separate-stderr lp-replay -F $form t.graph
		[ -z "$output" ]
		[[ "$stderr" == *"rank 0 is blocked in MPI_Recv, row 1, for rank 1, tag 7"* ]]
		[[ "$stderr" == *"rank 1 is blocked in MPI_Recv, row 1, for rank 0, tag 9"* ]]
		[[ "$stderr" == *"rank 2 is blocked in MPI_Barrier, row 1"* ]]
	done
	run -0 --separate-stderr lp-replay --partial -F json t.graph
	[ "$(jq -c .finish_ns <<<"$output")" = '[100,100,200]' ]
	[[ "$stderr" == *"the replay is partial: 3 of 3 ranks blocked"* ]]
	lp-replay --partial t.graph 2>/dev/null >t.out
	tests/trace.py check t.out
	[ "$(lp-dump -k call t.out | wc -l)" -eq 3 ]
}

@test "two large sends face to face are a deadlock, small ones are not" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 200 510 comm=1 peer=1 tag=7 sent=80000
		0 MPI_Recv 520 530 comm=1 peer=1 tag=7 received=80000
		1 MPI_Init 0 100
		1 MPI_Send 200 510 comm=1 peer=0 tag=7 sent=80000
		1 MPI_Recv 520 530 comm=1 peer=0 tag=7 received=80000
	END
	run -2 --separate-stderr lp-replay -F json t.graph
	[[ "$stderr" == *"rank 0 is blocked in MPI_Send, row 1, for rank 1, tag 7"* ]]
	[ "$(finish --eager 100k)" = '[110,110]' ]
}

# Both ranks send before they receive: a deadlock unless the call is local.
crossing() {
	graph <<-END
		trace ranks=2
		0 MPI_Init 0 100
		0 $1 200 510 comm=1 peer=1 tag=7 sent=$2
		0 MPI_Recv 520 530 comm=1 peer=1 tag=7 received=$2
		1 MPI_Init 0 100
		1 $1 200 510 comm=1 peer=0 tag=7 sent=$2
		1 MPI_Recv 520 530 comm=1 peer=0 tag=7 received=$2
	END
}

@test "MPI_Bsend never waits for its receive and MPI_Ssend always does, whatever the size" {
	crossing MPI_Bsend 80000
	[ "$(finish)" = '[110,110]' ]
	crossing MPI_Ssend 4
	run -2 --separate-stderr lp-replay -F json t.graph
	[[ "$stderr" == *"rank 0 is blocked in MPI_Ssend, row 1, for rank 1, tag 7"* ]]
	printf 'machine\nnodes 2\neager all\n' >machine
	run -2 lp-replay -n machine -F json t.graph
	crossing MPI_Rsend 4
	[ "$(finish)" = '[110,110]' ]
}

# A send of this request and a late receive: when does the wait for the send end?
started_send() {
	graph <<-END
		trace ranks=2
		0 MPI_Init 0 10
		0 $1 20 30 comm=1 peer=1 tag=0 sent=$2 as=i
		0 ${3:-MPI_Issend} 30 40 comm=1 peer=1 tag=0 sent=$2 as=s ${3:+of=i}
		0 MPI_Wait 50 310 of=s
		0 MPI_Finalize 320 400
		1 MPI_Init 0 10
		1 MPI_Recv 300 310 comm=1 peer=0 tag=0 received=$2
		1 MPI_Finalize 320 400
	END
	lp-replay t.graph | lp-dump | jq -s '.[] | select(.call == "MPI_Wait").leave_ns'
}

@test "a persistent send has the mode of the call that made it" {
	[ "$(started_send MPI_Ssend_init 4 MPI_Start)" = 290 ]
	[ "$(started_send MPI_Bsend_init 80000 MPI_Start)" = 20 ]
	[ "$(started_send MPI_Send_init 4 MPI_Start)" = 20 ]
	[ "$(started_send MPI_Send_init 80000 MPI_Start)" = 290 ]
}

# A receive that is freed gets the message: rank 0 sends this many bytes and goes on.
freed() {
	graph <<-END
		trace ranks=2
		0 MPI_Init 0 10
		0 MPI_Send 20 30 comm=1 peer=1 tag=5 sent=$1
		0 MPI_Finalize 120 200
		1 MPI_Init 0 10
		1 MPI_Irecv 90 91 comm=1 peer=${2:-0} tag=any received=80000 as=r
		1 MPI_Request_free 92 93 of=r
		1 MPI_Finalize 120 200
	END
}

@test "a receive with a freed request ends nothing: its message arrives, and a large one waits" {
	freed 8
	[ "$(finish)" = '[108,108]' ]
	freed 80000 any
	[ "$(finish)" = '[170,170]' ]
	freed 8 1			# it fits no message
	run -2 --separate-stderr lp-replay -F json t.graph
	[[ "$stderr" == *"1 sends have no receive"* ]]
}

@test "a send that is never received is an error, even an eager one" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 200 510 comm=1 peer=1 tag=7 sent=8
		0 MPI_Finalize 600 700
		1 MPI_Init 0 100
		1 MPI_Finalize 600 700
	END
	run -2 --separate-stderr lp-replay -F json t.graph
	[[ "$stderr" == *"1 sends have no receive"* ]]
}

@test "a message from or to a collective is refused" {
	tests/pack <<-'END' >t.graph
		graph ranks=2
		0 MPI_Barrier 0 10 comm=1
		0 MPI_Send 20 30 comm=1 peer=1 tag=0 sent=8
		1 MPI_Barrier 0 10 comm=1
		1 MPI_Recv 20 30 comm=1 peer=0 tag=0 received=8
		message 0:1 1:0
	END
	run -2 --separate-stderr lp-replay -F json t.graph
	[[ "$stderr" == *"messages: an end is a collective" ]]
}

@test "a machine in our own format gives the same results as in Dimemas'" {
	cat >machine <<-'END'
		# two nodes with two CPUs each: case 16
		machine
		bandwidth 100 MiB/s
		collective all constant
		nodes 2
		cpus 2
		memory latency 2 us
		memory bandwidth 1000 MiB/s
		memory links 1 1
		latency 10 us
		links 1 1
		mapping 2
		eager calls
	END
	case=$fixtures/dimemas/16-two-nodes-two-cpus
	lp-import -f dim "$case/trace.dim" >t.graph
	[ "$(finish -n machine)" = '[1012000,2012000,11014000,21014000]' ]
	[ "$(finish -n machine)" = "$(finish -n "$case/cfg")" ]
	echo 'colour 3' >>machine
	run -2 --separate-stderr lp-replay -n machine t.graph
	[[ "$stderr" == *"machine: line 14: colour is not known here"* ]]
}

@test "every word of our own format has a meaning, or is refused" {
	late_sender
	while read -r line; do
		printf 'machine\nnodes 2\n%s\n' "$line" >machine
		run -2 --separate-stderr lp-replay -n machine -F json t.graph
		[[ "$stderr" == "lp-replay: machine: line 3: "* ]]
	done <<-'END'
		latency 1 us 2
		latency 1
		links 1 1 1
		mapping fill 3
		region 1 2 speed 3 4
		bandwidth infinite 2
		nodes 0
		nodes 1000000000000000
		eager all 3
		wide collectives linear 3
	END
}

@test "a line for MPI_Reduce in our own format applies" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Reduce 100 110 comm=1 peer=0 sent=8
		1 MPI_Reduce 100 110 comm=1 peer=0 sent=8
	END
	printf 'machine\ncollective reduce linear max linear max\nnodes 2\nlatency 1 us\n' >machine
	[ "$(finish -n machine)" = '[2100,2100]' ]
	sed -i /collective/d machine
	[ "$(finish -n machine)" = '[1100,1100]' ]
}

@test "nodes without ranks take no memory, and ids are at most the number defined" {
	late_sender
	printf 'machine\nnodes 2000000000\nlatency 1 us\nmapping list 0 1999999999\n' >machine
	limited 100000 lp-replay -n machine -F json t.graph | jq -e '.run_time_ns > 3000'
	cat >cfg <<-'END'
		#DIMEMAS_CONFIGURATION
		"environment information" {"m", 400000000, "", 2, 0.0, 0, 1};;
		"node information" {400000000, "", 1, 1.0, 0.0, 0.0, 0, 1, 1, 0.00001, 1, 1, 0.0};;
	END
	run -2 --separate-stderr limited 100000 lp-replay -n cfg -F json t.graph
	[[ "$stderr" == "lp-replay: cfg: line 2: 400000000 is no id: there are fewer records" ]]
}

@test "of two messages waiting with an output link, the longer holder yields to a usable one" {
	graph <<-'END'
		trace ranks=6
		0 MPI_Bsend 1000000 1000000 comm=1 peer=1 tag=1 sent=1048576
		0 MPI_Bsend 2000000 2000000 comm=1 peer=3 tag=1 sent=1048576
		0 MPI_Bsend 3000000 3000000 comm=1 peer=5 tag=1 sent=1048576
		1 MPI_Recv 0 0 comm=1 peer=2 tag=1 received=1048576
		1 MPI_Recv 0 0 comm=1 peer=0 tag=1 received=1048576
		2 MPI_Bsend 0 0 comm=1 peer=1 tag=1 sent=1048576
		3 MPI_Recv 0 0 comm=1 peer=4 tag=1 received=1048576
		3 MPI_Recv 0 0 comm=1 peer=0 tag=1 received=1048576
		4 MPI_Bsend 0 0 comm=1 peer=3 tag=1 sent=1048576
		5 MPI_Recv 0 0 comm=1 peer=0 tag=1 received=1048576
	END
	# A message is 10 ms. Those of 0 to 1 and 3 have the two links out of 0 at 1 and 2 ms, and wait for
	# the links in, which 2 and 4 have until 10 ms. That to 5 takes the older's at 3 ms and keeps it
	# until 13 ms; so that to 3 goes from 10 to 20 ms and that to 1 from 13 to 23 ms.
	printf 'machine\nbandwidth 100 MiB/s\nnodes 6\nlinks 1 2\n' >machine
	[ "$(finish -n machine)" = '[3000000,23000000,0,20000000,0,13000000]' ]
}

@test "a collective that waits for all buses delays the messages behind it" {
	graph <<-'END'
		trace ranks=6
		communicator comm=3 members=2,3
		0 MPI_Bsend 0 0 comm=1 peer=1 tag=1 sent=1048576
		1 MPI_Recv 0 0 comm=1 peer=0 tag=1 received=1048576
		2 MPI_Allreduce 1000000 1000000 comm=3 sent=1048576 received=1048576
		3 MPI_Allreduce 1000000 1000000 comm=3 sent=1048576 received=1048576
		4 MPI_Bsend 2000000 2000000 comm=1 peer=5 tag=1 sent=1048576
		5 MPI_Recv 0 0 comm=1 peer=4 tag=1 received=1048576
	END
	# A message is 10 ms, the collective 20. It takes both buses when the first message is over; the second
	# message finds a free bus at 2 ms and yet goes behind the collective.
	printf 'machine\nbandwidth 100 MiB/s\nbuses 2\ncollective all constant\nnodes 6\n' >machine
	[ "$(finish -n machine)" = '[0,10000000,30000000,30000000,2000000,40000000]' ]
}

@test "MPI_Init takes no time by default, or as the machine says" {
	late_sender
	printf 'machine\nnodes 2\n' >machine
	[ "$(lp-replay -n machine --eager 1M -F json t.graph | jq .run_time_ns)" -eq 830 ]
	echo 'init recorded' >>machine		# 90 and 10 ns after the last has come
	[ "$(lp-replay -n machine --eager 1M -F json t.graph | jq .run_time_ns)" -eq 930 ]
}

@test "calls that make communicators take no time by default, or as the machine says" {
	printf '%s\n' 'trace ranks=2' '0 MPI_Comm_dup 100 500 comm=1' '1 MPI_Comm_dup 300 500 comm=1' | pack | lp-graph 2>/dev/null >t.graph
	printf 'machine\nmodel loggp\ncollective all none\nnodes 2\nlatency 1 ms\n' >m
	[ "$(lp-replay -n m -F json t.graph | jq -c .finish_ns)" = '[300,300]' ]
	echo 'communicators recorded' >>m
	[ "$(lp-replay -n m -F json t.graph | jq -c .finish_ns)" = '[500,500]' ]
	sed -i 's/all none/all logarithmic/' m
	[ "$(lp-replay -n m -F json t.graph | jq -c .finish_ns)" = '[500,500]' ]
}

@test "the members of a group wait for each other in the call that makes their communicator" {
	graph <<-'END'
		trace ranks=2
		communicator comm=3 members=0,1
		0 MPI_Init 0 10
		0 MPI_Comm_create_group 20 3020 comm=3 peer=-2
		0 MPI_Finalize 6020 6030
		1 MPI_Init 0 10
		1 MPI_Comm_create_group 3010 3020 comm=3 peer=-2
		1 MPI_Finalize 4020 6030
	END
	[ "$(lp-replay -F json t.graph | jq .run_time_ns)" -eq 6000 ]
	[ "$(lp-tolerance -F json t.graph | jq .run_time_ns)" -eq 6000 ]
}

@test "what-if: shorter computation shortens the run only if others wait for it" {
	graph <<-'END'
		trace ranks=2
		0 MPI_Barrier 0 10 comm=1
		0 MPI_Barrier 1010 2010 comm=1
		1 MPI_Barrier 0 10 comm=1
		1 MPI_Barrier 2010 2010 comm=1
	END
	[ "$(lp-replay -F json t.graph | jq .run_time_ns)" -eq 2000 ]
	[ "$(lp-replay --scale rank=0,factor=0.5 -F json t.graph | jq .run_time_ns)" -eq 2000 ]
	[ "$(lp-replay --scale rank=1 factor=0.75 -F json t.graph | jq .run_time_ns)" -eq 1500 ]
	[ "$(lp-replay --scale 'rank=1 factor=0' -F json t.graph | jq .run_time_ns)" -eq 1000 ]
	run -2 lp-replay --scale rank=1 -F json t.graph
	# The text says what its time is of, as another tool keeps the network.
	said='this is of the network and of --scale together; lp-gain --scale keeps the recorded network'
	lp-replay --scale rank=1,factor=0.75 -F text t.graph >t.text
	grep -qx "$said" t.text
	lp-replay -F text t.graph >t.text
	refute grep -q 'together' t.text
	lp-tolerance --scale rank=1,factor=0.75 t.graph >t.text
	grep -qx "$said" t.text
}

@test "a what-if names a site by its text, commas included, by its function or by its number" {
	pack "$fixtures/hostile-names.txt" | lp-graph 2>/dev/null >t.graph
	[ "$(lp-replay -F json t.graph | jq .run_time_ns)" -eq 30590 ]
	for site in 'solve<int, double>(int, double) (b c,d.cpp:5)' 'solve<int, double>(int, double)' '#1'; do
		[ "$(lp-replay --scale "site=$site,factor=0" -F json t.graph | jq .run_time_ns)" -eq 29790 ]
		[ "$(lp-replay --scale "rank=1,site=$site factor=0" -F json t.graph | jq .run_time_ns)" -eq 30590 ]
	done
	run -2 --separate-stderr lp-replay --scale 'side=#1,factor=0' -F json t.graph
	[ "$stderr" = "lp-replay: --scale: side=#1 is none of rank=, site=, call= and factor=" ]
}

@test "the parts that explain a rank add up, and those of a message are adjacent" {
	case=$fixtures/dimemas/09-one-bus
	lp-import -f dim "$case/trace.dim" >t.graph
	for rank in 0 1 2 3; do
		lp-replay -n "$case/cfg" --explain $rank t.graph | awk '
			$1 == "all" { all = $2; next } NR > 2 { sum += $2 } END { exit !(all > 0 && all == sum) }'
	done
	lp-replay -n "$case/cfg" --explain 2:1 t.graph >t.out
	grep -qx 'bus	1010000	11010000	10000000' t.out
	grep -qx 'wire	11010000	21010000	10000000' t.out
	# Collectives as messages have overheads before and behind each of them.
	random_run.py make 272 more 20 | lp-graph 2>/dev/null >t.graph
	lp-replay -n "$ROOT/tests/golden.d/texts/free.machine" --explain 1 t.graph | awk '
		$1 == "all" { all = $2; next } NR > 2 { sum += $2 } END { exit !(all > 0 && (all - sum) ^ 2 < 10) }'
}

@test "a wait for a partner ends when the ranks entered that MPI makes it wait for" {
	parts() {
		tr '|' '\n' <<<"machine|$1|collective bcast constant max none max|nodes 4|latency 1 us|eager 100 B" >t.machine
		lp-replay -n t.machine --explain "$2" t.graph | awk 'NR > 2 && $2 > 0 { print $1, $2 }' | xargs
	}
	# Rank 2 enters MPI_Bcast late, but only the root counts. A message that waits for its receive is seen once it is sent.
	pack >t.pack <<-END
		trace ranks=3
		1 MPI_Bcast 0 20000 comm=1 peer=0
		0 MPI_Bcast 10000 20000 comm=1 peer=0
		2 MPI_Bcast 100000 110000 comm=1 peer=0
		1 MPI_Probe 120000 140000 comm=1 peer=0 tag=1
		1 MPI_Recv 140000 150000 comm=1 peer=0 tag=1 received=200
		0 MPI_Send 130000 150000 comm=1 peer=1 tag=1 sent=200
	END
	lp-graph t.pack >t.graph 2>err
	[ "$(parts 'model loggp|bandwidth 100 MB/s' 1)" = 'compute 100000 wire 4000 partner 19000 all 123000' ]
	[ "$(parts 'model loggp|bandwidth 100 MB/s' 0)" = 'compute 120000 wire 2000 all 122000' ]
	# The root of MPI_Reduce waits for all, the others for their own messages. Then MPI_Barrier waits for the bus.
	pack >t.pack <<-END
		trace ranks=3
		1 MPI_Reduce 0 10000 comm=1 peer=0 sent=1000
		0 MPI_Reduce 5000 20000 comm=1 peer=0 sent=1000
		2 MPI_Reduce 15000 20000 comm=1 peer=0 sent=1000
		0 MPI_Isend 20000 21000 comm=1 peer=1 tag=1 sent=50 request=1
		0 MPI_Barrier 21000 40000 comm=1
		1 MPI_Barrier 21000 40000 comm=1
		2 MPI_Barrier 21000 40000 comm=1
		1 MPI_Recv 40000 41000 comm=1 peer=0 tag=1 received=50
		0 MPI_Wait 40000 41000 request=1
	END
	lp-graph t.pack >t.graph 2>err
	[ "$(parts 'buses 1|bandwidth 10 MB/s' 0)" = 'compute 5000 latency 2000 wire 4000 bus 5000 partner 195000 all 211000' ]
	[ "$(parts 'buses 1|bandwidth 10 MB/s' 1)" = 'compute 11000 latency 2000 wire 104000 bus 5000 partner 90000 all 212000' ]
	[ "$(parts 'buses 1|bandwidth 10 MB/s' 2)" = 'compute 16000 latency 1000 wire 104000 bus 90000 all 211000' ]
	# A call on a file that held up all keeps the time after that.
	pack >t.pack <<-END
		trace ranks=2
		0 MPI_File_write_all 0 150000 comm=1
		1 MPI_File_write_all 100000 160000 comm=1
	END
	lp-graph t.pack >t.graph 2>err
	[ "$(parts 'buses 1' 0)" = 'partner 100000 files 50000 all 150000' ]
	[ "$(parts 'model loggp' 0)" = 'partner 100000 files 50000 all 150000' ]
}

# lp-imbalance and lp-critpath have the same rule: base/run/collective.h.
@test "between two groups, ranks beside the root of a collective neither wait nor hold up" {
	for call in "MPI_Bcast 8000000 [8000000,8000000,2000000]" "MPI_Gather 2000000 [5000000,5000000,8000000]"; do
		read -r name root finish <<<"$call"
		[ "$name" = MPI_Bcast ] && beside=2000000 || beside=8000000
		pack <<-END | lp-graph 2>/dev/null >t.graph
			trace ranks=3
			communicator comm=4 members=0,2 remote=1
			0 $name $root 9000000 comm=4 peer=root
			1 $name 5000000 9000000 comm=4 peer=0
			2 $name $beside 9000000 comm=4 peer=-2
		END
		[ "$(lp-replay -F json t.graph | jq -c .finish_ns)" = "$finish" ]
		[ "$(lp-tolerance -F json t.graph | jq -c .run_time_ns)" -eq "$(jq max <<<"$finish")" ]
	done
}

# With LogGP a call has a cost behind its wait; whether the rank slept in the simulation hangs on that.
@test "the parts that explain a rank do not hang on when rows are settled" {
	for run in "random_run.py make 1 more 4" "random_run.py make 11 more 20" "random_run.py make 272 more 20"; do
		$run | lp-graph 2>/dev/null >t.graph
		settle.py 3 <t.graph >often.graph
		lp-replay --explain 1 -n "$ROOT/tests/golden.d/texts/free.machine" t.graph >once
		lp-replay --explain 1 -n "$ROOT/tests/golden.d/texts/free.machine" often.graph >often
		cmp once often
	done
}

@test "planted phases are found" {
	/usr/bin/python3 - >t.txt <<-'END'
		import random
		random.seed(3)
		print("trace ranks=2")
		now = [0, 0]
		def step(compute, wait, calls):
		    begin = max(now)
		    for r in (0, 1):
		        t = begin
		        for _ in range(calls):
		            enter = t + int(compute * random.uniform(0.9, 1.1))
		            leave = t = begin + 0 + max(enter - begin, 0) + int(wait * random.uniform(0.9, 1.1))
		            print(r, "MPI_Comm_rank", enter, leave)
		        now[r] = t
		borders = []
		for compute, wait, calls, steps in ((1000, 10, 3, 400), (1000, 800, 3, 300), (300, 500, 9, 300), (5000, 20, 1, 250)):
		    for _ in range(steps):
		        step(compute, wait, calls)
		    borders.append(now[0])
		open("borders", "w").write(" ".join(map(str, borders)))
	END
	graph <t.txt
	lp-replay --regions -F table t.graph | tail -n +2 | cut -f4 >found
	/usr/bin/python3 - <<-'END'
		found = [float(x) * 1e9 for x in open("found")]
		planted = [int(x) for x in open("borders").read().split()]
		assert len(found) == len(planted), (found, planted)
		assert all(abs(a - b) < 0.01 * planted[-1] for a, b in zip(found, planted)), (found, planted)
	END
}

@test "phases of runs on a busy machine are found within 1 % of the run, in 19 of 20" {
	/usr/bin/python3 tests/planted_regions.py 40 >out || { cat out; false; }
}

@test "phases with clocks that begin below 0, or jump, are found within bounds" {
	for times in '-500 -490 500 510' '0 10 1099511627776 2199023255562' '0 4611686018427387904 0 0'; do
		set -- $times
		tests/pack <<-END >t.graph
			graph ranks=1
			0 MPI_Init $1 $2
			0 MPI_Finalize $3 $4
		END
		lp-replay --regions -F table t.graph || [ "$times" = '0 4611686018427387904 0 0' ]
	done
}

@test "a closed standard output is an error, and no other file takes its place" {
	late_sender
	run -2 --separate-stderr bash -c 'lp-replay t.graph >&-'
	[[ "$stderr" == "lp-replay: standard output: "* ]]
	run -2 bash -c 'lp-import -f dim "$1" >&-' - "$fixtures/dimemas/16-two-nodes-two-cpus/trace.dim"
}

@test "memory does not grow with the length of the run" {
	for n in 2000 40000; do
		"$ROOT/build/bench/ring" 4 $n | lp-graph 2>/dev/null >ring.graph
		limited 60000 lp-replay -F json ring.graph >/dev/null
	done
}

# open_receive ROUNDS END: rank 1 posts a receive at the start; its message is the last one, and waits for it; END of its request. whole.graph is
# the same run in which no row is simulated before all have been read.
open_receive() {
	awk -v rounds="$1" -v end="$2" 'BEGIN {
		print "trace ranks=4\n1 MPI_Irecv 10 20 comm=1 peer=0 tag=7 received=8 as=a"
		for (s = 1; s <= rounds; s++) {
			t = 10000 * s
			for (r = 0; r < 4; r++)
				printf "%d MPI_Send %.0f %.0f comm=1 peer=%d tag=1 sent=8\n", r, t, t + 100, (r + 1) % 4
			for (r = 0; r < 4; r++)
				printf "%d MPI_Recv %.0f %.0f comm=1 peer=%d tag=1 received=8\n", r, t + 200, t + (s % 4 == r ? 350 : 300), (r + 3) % 4
		}
		t += 10000
		printf "0 MPI_Ssend %.0f %.0f comm=1 peer=1 tag=7 sent=8\n", t, t + 100
		printf "1 %s %.0f %.0f of=a\n", end, t, t + 200
	}' | sed 's/^1 MPI_Wait .*/& comm=1 peer=0 tag=7 received=8/' | pack | lp-graph 2>/dev/null >t.graph
	without.py settled <t.graph >whole.graph
}

@test "a receive that is open for the whole run keeps no rows in memory and changes no time" {
	for run in "10000 MPI_Request_free" "60000 MPI_Wait"; do
		open_receive $run
		for machine in free crowded loggp; do
			limited 60000 lp-replay -F json -n "$ROOT/tests/golden.d/texts/$machine.machine" t.graph >as_read
			lp-replay -F json -n "$ROOT/tests/golden.d/texts/$machine.machine" whole.graph >whole
			cmp as_read whole
		done
	done
	limited 60000 lp-tolerance -F json t.graph >as_read
	lp-tolerance -F json whole.graph >whole
	cmp as_read whole
}

@test "a sender that waits for its receive never goes back in time" {
	# 1 starts to send at 0 and computes until it waits at 10000; 0 posts its receive at 7000.
	tests/pack <<-'TRACE' | lp-graph 2>/dev/null >t.graph
		trace ranks=2
		1 MPI_Isend 0 0 comm=1 peer=0 tag=0 sent=40000
		1 MPI_Wait 10000 10100 request=1
		0 MPI_Recv 7000 7100 comm=1 peer=1 tag=0 received=40000
	TRACE
	[ "$(lp-replay -F json t.graph | jq -c .finish_ns)" = '[7000,10000]' ]
}
