# SPDX-License-Identifier: BSD-3-Clause
# Limits, and what happens beyond them: longpole(7), LIMITS.
bats_require_minimum_version 1.5.0
load helpers

# $1 receives of rank 0, each waiting for rank 1, then one of what rank 2 had sent before all of them.
wrong_order() {
	{
		echo 'trace ranks=3'
		awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) {
			print "0 MPI_Recv", 1000 * i + 100, 1000 * i + 500, "comm=1 peer=1 tag=0 received=8"
			print "1 MPI_Send", 1000 * i + 400, 1000 * i + 450, "comm=1 peer=0 tag=0 sent=8"
		} }'
		echo "0 MPI_Recv $((1000 * $1 + 100)) $((1000 * $1 + 200)) comm=1 peer=2 tag=0 received=8"
		echo '2 MPI_Send 10 20 comm=1 peer=0 tag=0 sent=8'
	} | pack | lp-graph 2>/dev/null | lp-imbalance -F json |
		jq -c '[.wait_states[] | select(.name == "late_sender" or (.name | test("different_source$"))) | .count]'
}

@test "100 waits for messages in wrong order are all found; an older one counts as late sender" {
	run wrong_order 100
	[ "$output" = '[0,100]' ]
	run wrong_order 103
	[ "$output" = '[3,100]' ]
}

@test "16 blocked ranks are named, and the others counted" {
	{
		echo 'trace ranks=20'
		for ((r = 0; r < 20; r++)); do
			echo "$r MPI_Recv 100 200 comm=1 peer=$(((r + 1) % 20)) tag=0 received=8"
		done
	} | pack | lp-graph >t.graph 2>/dev/null
	run -2 --separate-stderr lp-replay t.graph
	[ "$(grep -c 'is blocked in MPI_Recv' <<<"$stderr")" -eq 16 ]
	grep -q '^lp-replay: and 4 more$' <<<"$stderr"
}

@test "too long lists and tables are refused in one line with the limit" {
	pack <<<$'trace ranks=1\n0 MPI_Barrier 0 10 comm=1' | lp-graph >t.graph 2>/dev/null
	lp-tolerance -p "$(seq -s , 16)" -F json t.graph | jq -e '.tolerance | length == 16'
	run -2 --separate-stderr lp-tolerance -p "$(seq -s , 17)" t.graph
	[[ "$stderr" == *"at most 16 values" ]]
	{ echo "n,t$(printf ',x%s' $(seq 62))"; for n in 1 2 4 8 16; do echo "$n,$((1600 / n))$(printf ',%s' $(seq 62))"; done; } >t.csv
	lp-fit t.csv
	run -2 --separate-stderr lp-fit <(sed '1s/$/,x63/' t.csv)
	[[ "$stderr" == *":1: more than 64 columns" ]]
	table() { awk -v n="$1" 'BEGIN { print "# OSU MPI Latency Test"; for (i = 1; i <= n; i++) print 8 * i, "1." 1000 + i }'; }
	lp-import -f pingpong <(table 512) | lp-network - >machine
	run -2 --separate-stderr lp-network <(lp-import -f pingpong <(table 513))
	[[ "$stderr" == *"a ping-pong of more than 512 sizes" ]]
	run -2 --separate-stderr lp-record --stack 65 true
	[[ "$stderr" == "lp-record: --stack 65: a whole number from 1 to 64 is needed" && ${#stderr_lines[@]} -eq 1 ]]
}

# 500 000 ranks for 6 hours have as much time as these 8 for 43 years.
@test "a run whose times do not fit into a sum is refused, or a part is chosen" {
	{
		echo 'trace ranks=8'
		for r in 0 1 2 3 4 5 6 7; do
			echo "$r MPI_Init 0 1000000000"
			echo "$r MPI_Barrier $((r + 1))50000000000000000 900000000000000000 comm=1"
			echo "$r MPI_Finalize 1350000000000000000 1350000000100000000"
		done
	} | pack | lp-graph >t.graph 2>/dev/null
	for tool in lp-imbalance "lp-gain --slack" "lp-report -o page.html"; do
		run -2 --separate-stderr $tool t.graph
		[[ "$stderr" == "${tool%% *}: 375000.0 hours of 8 ranks and threads are more than "* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	lp-critpath -F json t.graph | jq -e '.path_length_s | round == 1350000000'
	lp-imbalance --to 1e8 -F json t.graph | jq -e '.program.run_time_s == 1e8 and .program.total_time_s == 8e8'
}

@test "a message of more than 1024 bytes is cut, and still one line" {
	run -2 --separate-stderr lp-dump "$(printf '%4000s' '' | tr ' ' x)"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ "${#stderr}" -gt 1000 ] && [ "${#stderr}" -lt 1100 ]
}

@test "completions wait for a rank that computes if at most 15 other collectives were started later" {
	for count in 16 17; do
		for rank in 0 1; do
			for i in $(seq $count); do echo "$rank MPI_Ibarrier $((1000 * i)) +100 comm=1 as=r${rank}_$i"; done
			for i in $(seq $count); do echo "$rank MPI_Wait $((rank == 0 ? 50000 : 200000)) 210000 of=r${rank}_$i"; break; done
		done | sed '1i trace ranks=2' | pack | lp-graph 2>/dev/null | lp-dump | grep -c '"hold"' >holds.$count || :
	done
	[ "$(cat holds.16 holds.17)" = $'1\n0' ]
}

@test "an unlock of all waits for any target that computes in windows of 256 ranks, and for those accessed in larger ones" {
	unlock_all() {
		{
			echo "trace ranks=$1"
			echo "communicator comm=3 members=$(seq -s, 0 $(($1 - 1)))"
			echo '0 MPI_Win_lock_all 1000 2000 comm=3'
			[ -z "${2:-}" ] || echo "0 $2 2000 2100 comm=3 peer=1"
			echo '0 MPI_Win_unlock_all 3000 101000 comm=3'
			echo '1 MPI_Barrier 1000 2000 comm=2'
			echo '1 MPI_Barrier 100000 102000 comm=2'
		} | pack | lp-graph 2>/dev/null | lp-dump | grep -c '"hold"' || :
	}
	[ "$(unlock_all 256)" -eq 1 ]
	[ "$(unlock_all 257)" -eq 0 ]
	[ "$(unlock_all 257 MPI_Put)" -eq 1 ]
}
