# SPDX-License-Identifier: BSD-3-Clause
# lp-record and longpole with a run that hangs or is ended early: --stuck-after, signals, a time limit.
bats_require_minimum_version 1.5.0
load helpers
load hangs

launch=(mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2)

# state: state, kind and ranks that lp-stuck finds
state() {
	lp-stuck -F json run >stuck.json || [ $? -eq 1 ] || return
	jq -c '[.state,.kind,.ranks]' stuck.json
}

@test "--stuck-kill ends a hanging run with status 1, reports once, and leaves valid traces" {
	run -1 --separate-stderr lp-record --stuck-after 8 --stuck-kill -o run -- "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend
	[ "$(grep -c '^deadlock: 0 waits in MPI_Ssend to 1 tag 7 (ssend hangs.c:' <<<"$stderr")" -eq 1 ]
	grep -q '^lp-record: the run hangs, and is ended$' <<<"$stderr"
	run ! grep -q 'did not end' <<<"$stderr"
	[ "$(state)" = '["stuck","deadlock",[0,1]]' ]
	[ "$(lp-dump -k died run/rank.1 | jq .at_ns)" -gt 0 ]
	trace.py check run/rank.0
	lp-merge run 2>err >merged
}

@test "--stuck-after reports a hang and the run continues; a slow run is not reported" {
	OPTIONS='--stuck-after 2' begin spin
	await grep -q '^rank 1 computes' out
	sleep 3
	[ "$(grep -c '^rank 1 computes.*3 ranks wait, rank 0 in MPI_Barrier' out)" -eq 1 ]
	[ -e "/proc/$(lp-dump -k rank run/rank.1 | jq .pid)" ]
	end TERM
	OPTIONS='--stuck-after 5' WAIT=8 begin slow 2
	run ! grep -q . out
	end KILL
}

@test "INT and TERM to lp-record alone end the run and report the hang" {
	local name all
	for name in INT TERM; do
		begin cycle 2
		hung
		all=$(family "$(cat pid)")
		kill -$name "$(cat pid)"
		ended
		[ "$status" -ne 0 ]
		# shellcheck disable=SC2086
		await gone $all
		grep -q '^the run did not end: deadlock: 0 waits in MPI_Recv from 1 tag 9' out
		[ "$(state)" = '["stuck","deadlock",[0,1]]' ]
	done
}

@test "a slow run ended by timeout(1) is not reported as hung or stuck: plain and compressed" {
	local how all
	for how in none min; do
		timeout 600 lp-record -z $how -o run -- "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" slow >out 2>&1 3>&- &
		echo $! >pid
		await is run 'moving: '
		all=$(family "$(cat pid)")
		kill -TERM "$(cat pid)"		# which it passes on, as at the end of its time
		ended
		[ "$status" -ne 0 ]
		# shellcheck disable=SC2086
		await gone $all
		refute grep -q 'did not end' out
		[ "$(state)" = '["ended","none",[]]' ]
		run -0 lp-stuck run
		[[ "$output" == "the run did not end: it was killed "*" s after its last call"* ]]
		# Rank 1 holds up rank 0, unless it has just left the call.
		[[ "$output" == *"; rank 1 computes after its call "* || "$output" == *$'\n1\tcomputing\t0.0'* ]]
		trace.py check run/rank.1
	done
}

@test "a killed recorder leaves nothing except the traces" {
	local all
	begin cycle 2
	hung
	all=$(family "$(cat pid)")
	kill -KILL "$(cat pid)"
	ended
	[ "$status" -eq 137 ]
	# Ranks outlive a killed mpirun of Open MPI 5.
	# shellcheck disable=SC2086
	if command -v prterun >/dev/null; then
		run kill -KILL $all
	fi
	# shellcheck disable=SC2086
	await gone $all
	[ "$(state)" = '["stuck","deadlock",[0,1]]' ]
}

# Both ranks have a handler for it.
catch_usr1() {
	local rank caught
	for rank in 0 1; do
		caught=$(sed -n 's/^SigCgt:\s*//p' "/proc/$(lp-dump -k rank run/rank.$rank | jq .pid)/status")
		((0x$caught >> 9 & 1)) || return 1
	done
}

@test "SIGUSR1 prints the state of a run that continues; a program that catches it gets it" {
	begin cycle 2
	hung
	kill -USR1 "$(cat pid)"
	await grep -q '^deadlock: 0 waits in MPI_Recv from 1' out
	lp-stuck run >said || [ $? -eq 1 ]
	run ! grep -q 'did not end' said
	end KILL
	OPTIONS='--stuck-after 600' begin asleep 2
	await is run 'rank 1 is outside of MPI' --after 1
	kill -USR1 "$(cat pid)"
	await grep -q '^rank 1 is outside of MPI.*; rank 0 waits in MPI_Barrier' out
	end KILL
	begin catches 2
	await catch_usr1
	kill -USR1 "$(cat pid)"
	ended
	[ "$status" -eq 0 ]
	[ "$(grep -c '^caught$' out)" -eq 2 ]
}

@test "longpole reports a hang at USR1 and with --stuck-after, and ends it with --stuck-kill" {
	run -1 --separate-stderr longpole --stuck-after 30 --stuck-kill "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend
	grep -q '^deadlock: 0 waits in MPI_Ssend' <<<"$stderr"
	grep -q '^longpole: what it did until then: ' <<<"$stderr"
	run -2 --separate-stderr longpole -o failed --stuck-after 30 --stuck-kill "${launch[@]}" sh -c "exit 1"
	longpole "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend >out 2>&1 3>&- &
	echo $! >pid
	await is run.part/raw 'deadlock: '
	kill -USR1 "$(cat pid)"
	await grep -q '^deadlock: 0 waits in MPI_Ssend' out
	[ "$(grep -c '^deadlock: 0 waits in MPI_Ssend' out)" -eq 1 ]
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -eq 143 ]
	grep -q '^the run did not end: deadlock: 0 waits in MPI_Ssend' out
	run -2 longpole --stuck-after soon mpirun true
	[ "$output" = "longpole: --stuck-after soon: seconds are needed" ]
}
