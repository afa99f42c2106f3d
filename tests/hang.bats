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

# all processes of the run end soon
gone() {
	local pid
	for pid in $1; do
		for _ in $(seq 100); do
			[ -e "/proc/$pid" ] && [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ] || continue 2
			sleep 0.1
		done
		return 1
	done
}

@test "--stuck-kill ends a hanging run with status 1, reports once, and leaves valid traces" {
	run -1 --separate-stderr timeout 60 lp-record --stuck-after 2 --stuck-kill -o run -- "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend
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
	for _ in $(seq 200); do
		grep -q '^rank 1 computes' out && break
		sleep 0.1
	done
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
		gone "$all"
		grep -q '^the run did not end: deadlock: 0 waits in MPI_Recv from 1 tag 9' out
		[ "$(state)" = '["stuck","deadlock",[0,1]]' ]
	done
}

@test "a slow run ended by timeout(1) is not reported as hung or stuck: plain and compressed" {
	local how
	for how in none min; do
		run ! timeout 4 lp-record -z $how -o run -- "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" slow
		run ! grep -q 'did not end' <<<"$output"
		[ "$(state)" = '["ended","none",[]]' ]
		run -0 lp-stuck run
		[[ "$output" == "the run did not end: it was killed "*" s after its last call; rank"* ]]
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
	gone "$all"
	[ "$(state)" = '["stuck","deadlock",[0,1]]' ]
}

@test "SIGUSR1 prints the state of a run that continues; a program that catches it gets it" {
	begin cycle 2
	hung
	kill -USR1 "$(cat pid)"
	for _ in $(seq 100); do
		grep -q '^deadlock: 0 waits in MPI_Recv from 1' out && break
		sleep 0.1
	done
	grep -q '^deadlock: 0 waits in MPI_Recv from 1' out
	lp-stuck run >said || [ $? -eq 1 ]
	run ! grep -q 'did not end' said
	end KILL
	OPTIONS='--stuck-after 600' begin asleep 2
	kill -USR1 "$(cat pid)"
	for _ in $(seq 300); do
		grep -q '^rank 1 ' out && break
		sleep 0.1
	done
	grep -q '^rank 1 is outside of MPI.*; rank 0 waits in MPI_Barrier' out
	end KILL
	begin catches 2
	kill -USR1 "$(cat pid)"
	ended
	[ "$status" -eq 0 ]
	[ "$(grep -c '^caught$' out)" -eq 2 ]
}

@test "longpole reports a hang at USR1 and with --stuck-after, and ends it with --stuck-kill" {
	run -1 --separate-stderr timeout 60 longpole --stuck-after 30 --stuck-kill "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend
	grep -q '^deadlock: 0 waits in MPI_Ssend' <<<"$stderr"
	grep -q '^longpole: what it did until then: ' <<<"$stderr"
	run -2 --separate-stderr timeout 60 longpole -o failed --stuck-after 30 --stuck-kill "${launch[@]}" sh -c "exit 1"
	longpole "${launch[@]}" "$BATS_FILE_TMPDIR/hangs" ssend >out 2>&1 3>&- &
	echo $! >pid
	for _ in $(seq 100); do
		[ -e run.part/raw/rank.1 ] && [ "$(lp-stuck run.part/raw | head -n 1 | cut -c1-8)" = deadlock ] && break
		sleep 0.2
	done
	kill -USR1 "$(cat pid)"
	for _ in $(seq 100); do
		grep -q '^deadlock: 0 waits in MPI_Ssend' out && break
		sleep 0.1
	done
	[ "$(grep -c '^deadlock: 0 waits in MPI_Ssend' out)" -eq 1 ]
	kill -TERM "$(cat pid)"
	ended
	[ "$status" -eq 143 ]
	grep -q '^the run did not end: deadlock: 0 waits in MPI_Ssend' out
	run -2 longpole --stuck-after soon mpirun true
	[ "$output" = "longpole: --stuck-after soon: seconds are needed" ]
}
