# SPDX-License-Identifier: BSD-3-Clause
# Sends that lasted until their receiver was in a call again, and the path through them.
bats_require_minimum_version 1.5.0
load helpers

# held ENTER [MORE]: rank 0 sends from 100000 to 905000, and rank 1 computes from 50000 until it enters a call at ENTER.
held() {
	cat <<-END
		trace ranks=2
		0 MPI_Init 0 50000
		1 MPI_Init 0 50000
		0 MPI_Send 100000 905000 comm=1 peer=1 tag=1 sent=8
		1 MPI_Send $1 +1000 comm=1 peer=null tag=5
		$2
		1 MPI_Recv 2000000 2001000 comm=1 peer=0 tag=1 received=8
		0 MPI_Finalize 3000000 3001000
		1 MPI_Finalize 2900000 3001000
	END
}
holds() { tests/pack | lp-graph 2>/dev/null | lp-dump | jq -c 'select(.kind == "hold") | [.source, .send, .target, .receive]'; }

@test "which sends their receiver held up is found as in simulated runs, in one stream and in shards" {
	run -0 tests/holds_check.py 1 "$(short_or_long 17 40)"
	[[ "$output" =~ ^[0-9]{3,}' sends were held up;' ]]
}

@test "the path leads from a send that was held up to the receiver's computation, by one process and by several" {
	held 900000 | tests/pack | lp-graph 2>/dev/null >t.graph
	[ "$(lp-critpath t.graph | lp-dump -k segment | jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment)"' | sed -n 2,4p)" = '1 50000 900000 compute
0 900000 905000 transfer
0 905000 3000000 compute' ]
	lp-critpath t.graph | lp-dump -k segment >one
	mpirun --oversubscribe -n 2 lp-critpath t.graph | lp-dump -k segment | cmp - one
	lp-imbalance -F json t.graph | jq -e '.wait_states[] | select(.name == "late_receiver") | .ranks == [0.0008,0]'
	tests/wait_states.py check t.graph
	lp-gain --gain 50 -F json t.graph | jq -e '[.gain_by_site[].gain_s] | max > 0.0004'
}

@test "a send is not held up if it ends in a computation, long after a call, by MPI_Bsend, or below 20 us" {
	[ "$(held 900000 | holds)" = '[1,1,0,1]' ]
	[ -z "$(held 950000 | holds)" ]
	[ -z "$(held 800000 | holds)" ]
	[ -z "$(held 900000 | sed s/MPI_Send/MPI_Bsend/ | holds)" ]
	[ -z "$(held 900000 | sed 's/100000 905000/890000 905000/' | holds)" ]
}

@test "sends that end while their receiver computes are evidence against all sends of this pair" {
	against='0 MPI_Send 1000000 1600000 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 1650000 1901000 comm=1 peer=1 tag=1 sent=8
		1 MPI_Send 1900000 +1000 comm=1 peer=null tag=5'
	[ "$(held 900000 "$against" | holds)" = '[1,1,0,1]' ]
	[ "$(held 900000 "${against/1600000/1040000}" | holds)" = '[1,1,0,1]
[1,2,0,3]' ]
}

@test "the completion of a send is held up likewise" {
	[ "$(held 900000 | sed '/^0 MPI_Send/ {
			s/MPI_Send 100000 905000/MPI_Isend 90000 91000/
			a 0 MPI_Wait 100000 905000 request=1
		}' | holds)" = '[1,1,0,2]' ]
}

# let_go ROWS LINE...: rank 0 waits 99.9 us in MPI_Waitall and 100.9 in MPI_Sendrecv, the last ones for rank 2, which LINEs let go
let_go() {
	pack <<-END | lp-graph 2>/dev/null >t.graph
		trace ranks=3 rows=$1
		0 MPI_Init 0 5
		1 MPI_Init 0 5
		2 MPI_Init 0 5
		0 MPI_Irecv 10 20 comm=1 peer=1 tag=0 received=8 as=r
		0 MPI_Isend 30 40 comm=1 peer=2 tag=0 sent=800000 as=s
		0 MPI_Waitall 1000 101000 comm=1 peer=1 tag=0 received=8 of=r
		0 + of=s
		1 MPI_Send 11000 11100 comm=1 peer=0 tag=0 sent=8
		2 MPI_Irecv 20 30 comm=1 peer=0 tag=0 received=800000 as=q
		2 MPI_Wait 100900 101100 comm=1 peer=0 tag=0 received=800000 of=q
		0 MPI_Sendrecv 200000 301000 comm=1 peer=2 tag=1 sent=800000
		0 + comm=1 peer=1 tag=1 received=8
		1 MPI_Send 210000 210100 comm=1 peer=0 tag=1 sent=8
		2 MPI_Irecv 250000 250030 comm=1 peer=0 tag=1 received=800000 as=z
		$(printf '%s\n' "${@:2}")
		0 MPI_Finalize 400000 400010
		1 MPI_Finalize 400000 400010
		2 MPI_Finalize 400000 400010
	END
	[ "$(lp-dump -k matching t.graph | jq .unmatched_sends)" -eq 0 ]
	[ "$(lp-dump -k hold t.graph | jq -c '[.source, .send, .target, .receive]')" = '[2,2,0,4]
[2,4,0,5]' ]
	lp-imbalance -F json t.graph | jq -e '[.wait_states[] | select(.wait_s > 0)] | length == 1 and
		(.[0] | .name == "late_receiver" and .ranks == [0.0002008,0,0] and .partners == [0,0,0.0002008])'
	wait_states.py check t.graph
}

@test "a call that receives, too, waits for the receiver that let it go last: MPI_Waitall, MPI_Sendrecv" {
	let_go 4096 '2 MPI_Wait 300900 301100 comm=1 peer=0 tag=1 received=800000 of=z'
	# Another call let it go, and what it sent is matched later.
	let_go 1 '2 MPI_Send 300900 301100 comm=1 peer=1 tag=9 sent=8' '1 MPI_Recv 302000 302100 comm=1 peer=2 tag=9 received=8' \
		'2 MPI_Wait 390000 390100 comm=1 peer=0 tag=1 received=800000 of=z'
	# In any order of edges, as shards may give them.
	lp-imbalance t.graph >once
	for seed in 1 2 3 4 5 6; do reorder.py $seed <t.graph | lp-imbalance | cmp - once; done
}

@test "a send that lasted until a sleeping receiver polled waited for that rank's polling" {
	# polled TIME...: rank 1 polls from 10000 on at these times and, with success, at 900000.
	polled() {
		printf '%s\n' 'trace ranks=2' 'poll_gaps location=1 site=2 count=10 apart_ns=5000000 awake_ns=100000' \
			'site site=1 offset=16 function=main file=main.c line=3 call=MPI_Send' \
			'site site=2 offset=32 function=main file=main.c line=5 call=MPI_Test' \
			'0 MPI_Init 0 5000' '1 MPI_Init 0 5000' \
			'1 MPI_Irecv 6000 7000 comm=1 peer=0 tag=1 received=8 as=r'
		printf '1 MPI_Test %s +1000 site=2\n' 10000 "$@"
		printf '%s\n' '1 MPI_Test 900000 901000 comm=1 peer=0 tag=1 received=8 of=r site=2' \
			"0 MPI_Send 100000 ${sent:-905000} comm=1 peer=1 tag=1 sent=8 site=1" \
			'0 MPI_Finalize 1000000 1001000' '1 MPI_Finalize 950000 1001000'
	}
	polled | tests/pack | lp-graph 2>/dev/null >t.graph
	lp-critpath t.graph | lp-dump -k segment >one
	[ "$(jq -r '"\(.rank) \(.begin_ns) \(.end_ns) \(.segment) \(.call)"' one | sed -n 3p)" = '1 100000 905000 transfer MPI_Test' ]
	mpirun --oversubscribe -n 2 lp-critpath t.graph | lp-dump -k segment | cmp - one
	lp-imbalance -F json t.graph | jq -e '.wait_states[] | select(.name == "late_receiver") | .ranks == [0.000801,0]'
	tests/wait_states.py check t.graph
	lp-report -F json t.graph | jq -e '.long_pole | .what == "polling" and .ranks == [1] and .site == "MPI_Test at main (main.c:5)"'
	# A poll that found nothing let the send go. Or the send ended while the receiver slept, for reasons of its own.
	sent=505000 polled 500000 | holds | cmp - <(echo '[1,4,0,1]')
	sent=505000 polled 500000 | tests/pack | lp-graph 2>/dev/null >t.graph
	lp-critpath t.graph | lp-dump -k segment | jq -e -s '.[2] | .rank == 1 and .end_ns == 505000 and .call == "MPI_Test"'
	tests/wait_states.py check t.graph
	[ -z "$(sent=505000 polled | holds)" ]
}

@test "the first line names the receiver that computes while senders wait for it" {
	# A rank that is preempted in a send for long may seem to be the cause. The second line then warns.
	run "$ROOT/tests/verdicts/verdicts" full_buffers long_message feeder
	[[ "${lines[-1]}" == 'verdicts (openmpi): '*' right, 0 wrong, 0 silent; '* ]]
	[ "$(grep -cE '^(right|told) ' <<<"$output")" -eq 4 ]
}

@test "sends whose receivers have been read far ahead cost no more than others" {
	awk 'BEGIN {
		print "trace ranks=2\n0 MPI_Init 0 +1000"
		for (i = 1; i <= 200000; i++) printf "0 MPI_Send %.0f +40000 comm=1 peer=1 tag=1 sent=8\n", i * 100000
		print "1 MPI_Init 0 +1000"
		for (i = 1; i <= 200000; i++)
			printf "1 MPI_Recv %.0f +5000 comm=1 peer=0 tag=1 received=8\n", i * 100000 + 45000
	}' | tests/pack >t.trace
	# 0.07 s of processor time; 7 s if each send looked at all computation of its receiver's block.
	within 2 lp-graph t.trace 2>err >t.graph
	grep -q '200000 messages' err
}

# In a long run lp-graph tells which rows to go on with in spite of a row that is overdue: those before early.
@test "a send that may still be held up is not passed by, in spite of an overdue row" {
	holds_check.py long 3 650000 | pack >t.trace
	lp-graph --polls work t.trace >t.graph 2>/dev/null
	cut_trace.py t.trace shards 2
	lp-graph --polls work -o matched shards 2>/dev/null
	for graph in t.graph matched; do
		lp-dump -k settled,hold $graph | jq -n -e 'reduce inputs as $m ({ told: 0, passed: 0 };
			if $m.kind == "settled" then
				if $m.early then .told += 1 | .early = $m.early else . end
			elif .early and ($m.receive < .early[$m.target] or $m.send < .early[$m.source]) then .passed += 1
			else . end) | .told > 0 and .passed == 0'
	done
}
