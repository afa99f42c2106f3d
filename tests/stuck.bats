# SPDX-License-Identifier: BSD-3-Clause
# lp-stuck on programs that hang: while they run, after SIGTERM and after SIGKILL; and on programs that only take long.
bats_require_minimum_version 1.5.0
load helpers
MORE='stalls apart'
load hangs

# said KIND RANKS [SENTENCE]: lp-stuck says so of the run, and its sentence has these words
said() {
	run --separate-stderr lp-stuck --after 1 -F json run
	[ "$status" -eq 1 ] || return 1
	[ "$(jq -c '[.state,.kind,.ranks]' <<<"$output")" = "[\"stuck\",\"$1\",$2]" ] || return 1
	[[ $(jq -r .sentence <<<"$output") == *"${3:-}"* ]]
}

# says KIND RANKS [SENTENCE]: lp-stuck comes to this verdict; on a busy machine some ranks reach the place where it hangs later
says() {
	await said "$@" || { echo "$output"; false; }
}

# The verdict while it runs, and after SIGNAL.
hangs() {
	begin "$1"
	says "$2" "$3"
	end "$4"
	says "$2" "$3"
}

@test "two Ssends face to face are a deadlock, reported call by call" {
	begin ssend 2
	says deadlock '[0,1]'
	[[ $(jq -r .sentence <<<"$output") == "deadlock: 0 waits in MPI_Ssend to 1 tag 7 (ssend hangs.c:"*"), 1 waits in MPI_Ssend to 0 tag 7 (ssend hangs.c:"*")" ]]
	jq -e '.calls | map(.call == "MPI_Ssend" and .peer == 1 - .rank and .tag == 7 and .comm == 1 and .thread == 0) | all' <<<"$output"
	status=0
	timeout 4 lp-stuck --watch 1 run >watched || status=$?	# killed: what it has not flushed is lost
	[ "$status" -eq 124 ]
	[ "$(grep -c '^deadlock: 0 waits' watched)" -ge 1 ]
	if [ "$(cat /proc/sys/kernel/yama/ptrace_scope)" = 0 ]; then
		jq -e '.calls[0].stack | map(test("^ssend hangs.c:")) | any' <<<"$output"
	fi
	end KILL
	says deadlock '[0,1]'
}

@test "a program built anew since it ran lends its names to nothing, and a message says why" {
	cp "$BATS_FILE_TMPDIR/hangs" "$BATS_FILE_TMPDIR/anew"
	begin ssend 2 "" anew
	says deadlock '[0,1]'
	end KILL
	says deadlock '[0,1]' '(ssend hangs.c:'
	cp "$(type -P true)" "$BATS_FILE_TMPDIR/anew"
	says deadlock '[0,1]'
	jq -e '.calls | map(.function == null and .file == null and .line == null) | all' <<<"$output"
	[[ "$stderr" == "lp-stuck: "*"/anew: not the file that was recorded; its functions are not named" ]]
}

@test "a ring of receives is a deadlock of all, running and after SIGKILL" {
	hangs cycle deadlock '[0,1,2,3]' KILL
}

@test "wildcard receives without senders are a knot, running and after SIGTERM" {
	hangs knot deadlock '[0,1,2,3]' TERM
}

@test "a receive instead of a collective is a deadlock with the ranks in it" {
	begin nocoll 2
	says deadlock '[0,1]'
	jq -e '.calls[0] | .call == "MPI_Allreduce" and .collective == 6' <<<"$output"
	end KILL
	says deadlock '[0,1]'
}

@test "communicators used in opposite order are a deadlock" {
	begin order 2
	says deadlock '[0,1]'
	end TERM
	says deadlock '[0,1]'
}

@test "requests that never complete are waited for: one of one, or one of six" {
	hangs pending deadlock '[0,1,2,3]' KILL
	begin waitall
	says deadlock '[0,1]'
	jq -e '.calls[1] | .call == "MPI_Waitall" and .requests == 6' <<<"$output"
	end KILL
	begin anynull 2
	says deadlock '[0,1]'
	end KILL
	says deadlock '[0,1]'
}

@test "collectives that differ by number are a mismatch of the minority" {
	hangs bcast mismatch '[2]' KILL
	hangs skip mismatch '[1]' TERM
}

@test "a computing or sleeping rank that others wait for is named, with its stack" {
	begin spin
	says waiting '[1]'
	jq -e '.calls[1] | .call == null and .since_s > 1' <<<"$output"
	end KILL
	says waiting '[1]'
	begin asleep
	says waiting '[1]'
	jq -e '.calls[1].on_core == false' <<<"$output"
	end TERM
	says waiting '[1]'
}

# faults_of COMMAND...: how often it touched a new page of memory
faults_of() {
	python3 - "$@" <<-'EOF'
		import os, subprocess, sys
		print(os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)[2].ru_minflt)
	EOF
}

@test "a rank that tests in vain does not move and is named, alone or with all others" {
	begin onetests 3
	says waiting '[1]' '; 2 ranks wait, rank 0 in MPI_Barrier'
	[[ $(jq -r .sentence <<<"$output") == "rank 1 polls without success, last in MPI_Test ("*" hangs.c:"*"; 2 ranks wait"* ]]
	end KILL
	# Memory for each block of polls is that of the block before it: not once for each of the trace's pages.
	if ! keeps_memory; then
		[ "$(faults_of lp-stuck run)" -lt $((2500 + $(wc -c <run/rank.1) / 4096 / 3)) ]
	fi
	begin tests 2
	says waiting '[0,1]'
	end KILL
	OPTIONS='--polls fold' begin tests 2
	says waiting '[0,1]'
	end KILL
}

@test "a stopped rank is reported as stopped" {
	WAIT=0.5 begin busy 2
	kill -STOP "$(lp-dump -k rank run/rank.1 | jq .pid)"
	says waiting '[1]'
	[[ $(jq -r .sentence <<<"$output") == "rank 1 is stopped, "* ]]
	end KILL
}

@test "a rank that dies shortly before others is reported as waited for" {
	begin leave
	status=0
	wait "$(cat pid)" || status=$?
	rm pid
	run -0 lp-stuck run
	[[ "$output" == "the run did not end: it was killed "*" s after its last call; rank 1 computes after its call (barrier hangs.c:"*"; 3 ranks wait, rank 0 in MPI_Barrier #1"* ]]
}

@test "under MPICH the same is found" {
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	begin cycle 3 mpirun.mpich hangs.mpich
	says deadlock '[0,1,2]'
	end KILL
	begin bcast 4 mpirun.mpich hangs.mpich
	says mismatch '[2]'
	end TERM
	says mismatch '[2]'
}

# stalls CASE KIND RANKS SIGNAL: the verdict while it runs, and after SIGNAL
stalls() {
	begin "$1" 4 '' stalls
	says "$2" "$3"
	end "$4"
	says "$2" "$3"
}

@test "messages and collectives between two groups are waited for" {
	stalls inter deadlock '[0,2]' KILL
	stalls interany deadlock '[0,1,2,3]' KILL
	stalls interall waiting '[3]' TERM
}

@test "in a scan ranks wait for those before them, with neighbours for those they receive from" {
	stalls scan deadlock '[0,3]' KILL
	stalls exscan waiting '[2]' TERM
	stalls neighbours deadlock '[0,1]' KILL
	stalls neighbourlate waiting '[1]' KILL
}

@test "collectives that MPI_Wait completes are waited for, also behind persistent ones" {
	stalls iall deadlock '[0,1]' KILL
	stalls ilate waiting '[1]' TERM
	stalls persistent waiting '[2]' KILL
}

@test "a rank that has not called MPI_Comm_disconnect is waited for" {
	stalls disconnect waiting '[2]' KILL
}

@test "a member of a group that has not called MPI_Comm_create_group is waited for" {
	begin grouplate
	says waiting '[2]' '; 3 ranks wait, rank 0 in MPI_Comm_create_group (group hangs.c:'
	end KILL
	says waiting '[2]'
	hangs groupknot deadlock '[0,2]' KILL
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	begin grouplate 4 mpirun.mpich hangs.mpich
	says waiting '[2]'
	end KILL
}

@test "a rank that does not leave a call that all have made is waited for" {
	begin inside
	says waiting '[2]' 'rank 2 is in MPI_Reduce #1 of communicator 1 (inside hangs.c:'
	# The launcher ends the others.
	kill -KILL "$(lp-dump -k rank run/rank.2 | jq .pid)"
	ended
	says waiting '[2]' '; 3 ranks wait, rank 0 in MPI_Barrier #2 of communicator 1'
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	begin inside 4 mpirun.mpich hangs.mpich
	says waiting '[2]'
	end KILL
}

@test "a collective that all are in and do not leave is named once; one on a file may take long" {
	begin pausing
	says waiting '[0,1,2,3]' '4 ranks, first 0, are in MPI_Allreduce #1 of communicator 1 (pausing hangs.c:'
	run lp-stuck --after 1 run
	[ "$(grep -c $'^0 and 3 more\tMPI_Allreduce\t' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^stack of rank [0-3]: ' <<<"$output")" -eq 4 ]
	end KILL
	mkfifo pipe
	begin disk
	await eval 'lp-stuck -a 0.1 run | grep -q "^0 and 3 more.MPI_File_open"'
	run -0 lp-stuck --after 1 run
	[ "${lines[0]}" = moving ]
	end KILL
}

# outside SIGNAL [LAUNCHER PROGRAM]: one rank does not call MPI_Init
outside() {
	HIDDEN=. begin outside 4 "${@:2}"
	says waiting '[1]' 'rank 1 has not called MPI_Init'
	[[ $(jq -r '.calls[] | select(.rank == 1) | .stack | join(" ")' <<<"$output") == *' outside hangs.c:'* ]]
	[ "$(jq -c '[.calls[] | select(.call == "MPI_Init_thread") | .rank]' <<<"$output")" = '[0,2,3]' ]
	end "$1"
	ln -s nowhere run/.rank.9.9	# as one that got its name after the folder was listed
	says waiting '[1]' 'rank 1 has not called MPI_Init; 3 ranks wait, rank 0 in MPI_Init_thread'
}

@test "if some traces are elsewhere, their ranks are not said to be outside of MPI_Init" {
	begin spin
	says waiting '[1]'
	mkdir here
	cp run/rank.0 here
	run lp-stuck --after 1 here
	[[ "${lines[0]}" == 'rank 1 has not left MPI_Init; '* ]]
	end KILL
}

@test "a rank that has not called MPI_Init is named, with its stack while it lives" {
	outside KILL
	outside TERM
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	outside KILL mpirun.mpich hangs.mpich
}

@test "a standard send beside a receive that a late rank owes is no deadlock" {
	stalls eager waiting '[2]' KILL
	stalls exchange waiting '[2]' KILL
	jq -e '.calls[0] | .rank == 0 and .call == "MPI_Sendrecv" and .peer == 1 and .tag == 5' <<<"$output"
}

@test "in windows ranks wait for the holder of the lock, and for ranks that have not posted or completed" {
	begin locked 4 '' stalls
	says waiting '[1]' '; 3 ranks wait, rank 2 in MPI_Win_lock of rank 0, locked by rank 1 since '
	[[ $(jq -r .sentence <<<"$output") == *" s (lock stalls.c:"* ]]
	end KILL
	says waiting '[1]'
	stalls locks deadlock '[1,2]' KILL
	stalls exposed waiting '[1]' KILL
	stalls unposted waiting '[0]' TERM
	stalls epochs deadlock '[0,1]' KILL
	stalls fence waiting '[2]' KILL
}

@test "under MPICH a partitioned message is waited for until its last partition is ready" {
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	begin partitioned 4 mpirun.mpich stalls.mpich
	says deadlock '[0,1]' '1 waits in MPI_Wait for a message from 0 tag 7'
	end KILL
	says deadlock '[0,1]'
	begin unready 4 mpirun.mpich stalls.mpich
	says waiting '[0]' 'rank 1 in MPI_Wait for a message from 0 tag 7'
	end TERM
	says waiting '[0]'
	begin unarrived 4 mpirun.mpich stalls.mpich
	says waiting '[0,1]' 'rank 1 polls without success, last in MPI_Parrived'
	end KILL
	says waiting '[0,1]'
	begin unarrived 4 mpirun.mpich stalls.mpich
	says waiting '[0,1]'
	# The recorder sees when only the ranks are killed. The last block of calls has a small part of the polls.
	kill -KILL $(cat run/rank.* | lp-dump -k rank | jq .pid)
	ended
	[ "$status" -ne 0 ]
	says waiting '[0,1]' 'rank 1 polls without success, last in MPI_Parrived'
	begin unasked 4 mpirun.mpich stalls.mpich
	says waiting '[1]' '; 3 ranks wait, rank 0 in MPI_Wait for a message to 1 tag 7'
	end KILL
	says waiting '[1]'
}

@test "MPI_Comm_accept waits for another world; a rank that has only a session hangs like others" {
	stalls accept waiting '[0,1,2,3]' KILL
	[[ $(jq -r .sentence <<<"$output") == *"rank 0 is in MPI_Comm_accept "*", for another MPI_COMM_WORLD, since "* ]]
	command -v mpirun.mpich >/dev/null || skip "no MPICH"
	begin session 2 mpirun.mpich stalls.mpich
	says deadlock '[0,1]'
	end KILL
	says deadlock '[0,1]'
	begin sessionleft 2 mpirun.mpich stalls.mpich
	says waiting '[1]'
	end KILL
	begin locked 4 mpirun.mpich stalls.mpich
	says waiting '[1]'
	end KILL
}

# Under this MPICH no process spawns others.
@test "parents and the children that they spawn wait for each other: ranks count through all worlds" {
	begin parents 2 '' apart
	says waiting '[3]' '; 3 ranks wait, rank 0 in MPI_Recv from 3 tag 7 (receive apart.c:'
	end KILL
	says waiting '[3]'
	# The launcher's end lets rank 2 leave MPI_Finalize. Nobody waits for it.
	begin parents 2 '' apart
	says waiting '[3]' '; 3 ranks wait, rank 0 in MPI_Recv from 3 tag 7 (receive apart.c:'
	end LAUNCHER
	[[ $(lp-stuck -F json run | jq -r .sentence) == *"rank 3 computes after its call (main apart.c:"*"ranks wait, rank 0 in MPI_Recv from 3 "* ]]
	begin children 2 '' apart
	says waiting '[0]'
	end TERM
	begin cross 2 '' apart
	says deadlock '[0,3]'
	[[ $(jq -r .sentence <<<"$output") == "deadlock: 0 waits in MPI_Recv from 3 tag 7 (receive apart.c:"*"), 3 waits in MPI_Recv from 0 tag 7 "* ]]
	end KILL
	says deadlock '[0,3]'
	begin barrier 2 '' apart
	says deadlock '[1,2]'
	end KILL
	begin differ 2 '' apart
	says mismatch '[2]'
	end TERM
	says mismatch '[2]'
	lp-merge run 2>/dev/null >merged
	[ "$(lp-dump -k unended merged | jq -r .verdict)" = mismatch ]
}

@test "a run that is over and has met no other is refused with another one" {
	begin ssend 2
	hung
	end KILL
	mv run ended
	begin cycle 2
	run -2 --separate-stderr lp-stuck run ended
	[[ "$stderr" == "lp-stuck: ended/rank.0:"*": of another run than run/rank.0" ]]
	end KILL
}

# moves RANKS PROGRAM ARGUMENT...: it does so at each look
moves() {
	WAIT=2 begin "$3" "$1" '' "$2"
	for _ in $(seq "${LOOKS:-3}"); do
		lp-stuck run >said
		grep -q '^moving' said
	done
	end KILL
}

@test "slow and busy programs are moving at each of many looks" {
	moves 4 hangs slow
	moves 4 hangs busy
	moves 4 stalls slow	# collectives, neighbours, locks and fences of windows
	moves 4 hangs probing
	moves 4 hangs rings	# of two threads a rank
	moves 2 apart slow	# spawns
}

@test "a run that has ended is not stuck" {
	begin none
	wait "$(cat pid)"
	rm pid
	run -0 lp-stuck run
	[ "$output" = "the run has ended" ]
	run -0 lp-stuck -F json run
	[ "$(jq -c '[.state,.kind,.ranks]' <<<"$output")" = '["ended","none",[]]' ]
	begin stays
	await is run 'the run has ended, but the process of rank 1 goes on, in '
	end KILL
	run -0 lp-stuck run
	[ "$output" = 'the run has ended' ]
}

@test "the open call of a compressed trace of a killed rank is kept" {
	OPTIONS='-z min' begin cycle 2
	says deadlock '[0,1]'
	# shellcheck disable=SC2046
	kill -KILL $(lp-dump -k rank run/rank.0 run/rank.1 | jq .pid)
	status=0
	wait "$(cat pid)" || status=$?	# the launcher ends, and the recorder compresses
	[ "$status" -ne 0 ]
	rm pid
	[ "$(stat -c %s run/rank.0)" -lt 10000 ]
	says deadlock '[0,1]'
	trace.py check run/rank.0
}

# A proof reads the rows of all ranks here, but does not keep them all.
@test "the hang of 4096 ranks is found in little memory" {
	for what in late:1024:60000 ring:4096:220000 knot:1024:60000 mismatch:1024:60000; do
		IFS=: read -r what ranks kilobytes <<<"$what"
		many_stuck.py run "$ranks" "$what"
		limited "$kilobytes" lp-stuck -F json run >"$what" || [ $? -eq 1 ]
		if [ "$what" = late ] && ! keeps_memory; then
			[ "$(faults_of lp-stuck run)" -lt $((8 * ranks + 2000)) ]	# a rank's memory is that of the rank before
		fi
		rm -r run
	done
	jq -se 'map(.state) == ["stuck", "stuck", "stuck", "stuck"]' late ring knot mismatch
	jq -se 'map(.kind) == ["waiting", "deadlock", "deadlock", "mismatch"]' late ring knot mismatch
	jq -se 'map(.ranks | length) == [1, 4096, 1024, 1]' late ring knot mismatch
	refute grep -q 'nothing has moved' ring
}

# The recorder makes a trace larger by a megabyte at a time.
@test "unwritten space at the end of a trace is not read" {
	[ -r /proc/self/io ] || skip "no counts of bytes read here"
	many_stuck.py run 64 late
	sh -c 'lp-stuck run; cat /proc/$$/io' >said
	[ "$(grep -c "rank 63 computes" said)" -eq 1 ]
	[ "$(sed -n 's/rchar: //p' said)" -lt $((64 * 200000)) ]
}

@test "the graph's solver agrees with brute force on ten thousand patterns" {
	"$ROOT/build/knots" 10000
}

@test "of random open calls a deadlock is proved if and only if some can never go on" {
	run -0 stuck_random.py 300
	[[ "$output" == "300 runs: "*" deadlock, "*" mismatch, "*" waiting" ]]
}

@test "a folder without traces, or with two runs, is an error of one line" {
	mkdir empty
	run -2 --separate-stderr lp-stuck empty
	[ "$stderr" = "lp-stuck: empty: no raw traces, and no rank is in MPI_Init" ]
	run -2 --separate-stderr lp-stuck nowhere
	[ "$stderr" = "lp-stuck: nowhere: No such file or directory" ]
}
