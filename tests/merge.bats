# SPDX-License-Identifier: BSD-3-Clause
# lp-merge: assembling a run, and clocks.
bats_require_minimum_version 1.5.0
load helpers

raw_text() {	# raw_text RANK RANKS [RUN]: a small raw trace, as text
	printf 'raw ranks=%d rank=%d run=%d\n0 MPI_Init 1000 1100\n0 MPI_Barrier 1200 1300 comm=1\n0 MPI_Finalize 1400 1500\n' \
		"$2" "$1" "${3:-7}"
}

raw() {
	raw_text "$@" | tests/pack
}

two_ranks() {
	mkdir -p run
	raw 0 2 >run/rank.0
	raw 1 2 >run/rank.1
}

@test "folder, files and a pipe give the same trace" {
	two_ranks
	lp-merge run >a
	lp-merge run/rank.0 run/rank.1 >b
	cat run/rank.0 run/rank.1 | lp-merge >c
	lp-merge - <run/rank.1 run/rank.0 >d
	for f in a b c d; do
		tests/trace.py check $f
		lp-dump -k call $f >$f.calls
		cmp a.calls $f.calls
	done
	[ "$(wc -l <a.calls)" -eq 6 ]
}

@test "the first enter of the run is 0 and the run lasts to the last leave" {
	two_ranks
	lp-merge run | lp-dump -k run | jq -e '.ranks == 2 and .run_ns == 500'
	lp-merge run | lp-dump -k call | jq -s -e '.[0].enter_ns == 0'
}

@test "two raw traces of one rank are refused" {
	two_ranks
	raw 1 2 >run/rank.2
	run -2 --separate-stderr lp-merge run
	[[ "$stderr" == "lp-merge: run/rank.2:"*": rank 1 again: it was read from run/rank.1" ]]
	[ -z "$output" ]
}

@test "a missing rank is refused without --partial" {
	two_ranks
	rm run/rank.0
	run -2 --separate-stderr lp-merge run
	[[ "$stderr" == "lp-merge: run/rank.1: rank 0 of 2 is missing"* ]]
	lp-merge --partial run 2>err >t.trace
	grep -q 'lp-merge: rank 0 is missing' err
	[ "$(lp-dump -k call t.trace | wc -l)" -eq 3 ]
}

@test "after a rank died, ranks without a trace or a name are left out and named" {
	two_ranks
	printf 'raw ranks=4 rank=1 run=7\n0 MPI_Init 1000 1100\nzeros 100\n' | tests/pack >run/rank.1
	rm run/rank.0
	raw 2 4 >whole
	LC_ALL=C grep -abo -m 1 "$(printf '\222\244rank')" whole | cut -d: -f1 >header_bytes
	{ head -c "$(cat header_bytes)" whole; head -c 100 /dev/zero; } >run/rank.2
	lp-merge run 2>err >t.trace
	grep -q 'lp-merge: run/rank.2:[0-9]*: left out the trace of a process that did not give its rank' err
	for rank in 0 2 3; do grep -q "lp-merge: rank $rank is missing" err; done
	grep -q 'rank 1 ended early, after 1 rows' err
	[ "$(lp-dump -k call t.trace | wc -l)" -eq 1 ]
}

@test "--partial names a file that cannot be read, and leaves it out" {
	two_ranks
	echo hello >run/rank.0
	run -2 --separate-stderr lp-merge run
	[ "$stderr" = 'lp-merge: run/rank.0:0: not a longpole stream' ]
	lp-merge --partial run 2>err >t.trace
	grep -q 'lp-merge: run/rank.0:0: not a longpole stream; left out' err
	grep -q 'lp-merge: rank 0 is missing' err
	[ "$(lp-dump -k call t.trace | wc -l)" -eq 3 ]
	rm run/rank.1
	run -2 --separate-stderr lp-merge --partial run
	[ "${stderr##*$'\n'}" = 'lp-merge: no raw trace gives its rank' ]
}

@test "ranks of different runs are refused" {
	two_ranks
	raw 1 2 8 >run/rank.1
	run -2 --separate-stderr lp-merge run
	[[ "$stderr" == "lp-merge: run/rank.1:"*": of another run than run/rank.0" ]]
}

@test "worlds that met are one run: all matched, on one clock, in 60 random runs" {
	run -0 tests/worlds_run.py check 1 60
	[ -z "$output" ]
}

# side WORLD RUN MET [PORT [AT [KERNEL]]]: one rank that met one of another world
side() {
	mkdir -p "$1"
	{
		printf 'raw ranks=1 rank=0 run=%d\ncommunicator comm=3 size=1 remote_size=1 side=0 id=%d rank=0 met=%s port=%d at_ns=%d\n' \
			"$2" "$2" "$3" "${4:-0}" "${5:-200}"
		[ -z "${6:-}" ] || printf 'kernel_clock kernel=%d at_ns=%d offset_ns=0\n' "$6" "${5:-200}"
		printf '0 MPI_Init 0 100\n0 MPI_Comm_%s 150 %d comm=3\n' "${3/join/get_parent}" "${5:-200}"
		printf '0 MPI_Send %d %d comm=3 peer=0 tag=1 sent=8\n0 MPI_Finalize %d %d\n' $((${5:-200} + 10)) $((${5:-200} + 20)) \
			$((${5:-200} + 30)) $((${5:-200} + 40))
	} | tests/pack >"$1/rank.0"
}

# groups FOLDER...: both groups of all intercommunicators
groups() {
	lp-merge "$@" 2>err | lp-dump -k communicator | jq -s -c 'map(select(.remote_size) | .members + .remote)'
}

@test "sides of a meeting are joined if unique or on one clock; else left apart with a line" {
	side a 1 accept
	side b 2 connect
	[ "$(groups a b)" = '[[0,1]]' ]
	[ "$(groups b a)" = '[[0,1]]' ]
	grep -q "^lp-merge: a/rank.0: on no node of the others, and without messages in both directions: its clock is as when they met, and off by up to the time that the call took" err
	# A third world that may be the one that was met, and no clock that says so.
	side c 3 connect
	[ "$(groups a b c)" = '[[0,-2],[1,-2],[2,-2]]' ]
	[ "$(grep -c 'these ranks met others, but it is not known which; messages with them match nothing' err)" -eq 2 ]
	# The port says so.
	side a 1 accept 5
	side b 2 connect 5
	side c 3 connect 6
	[ "$(groups a b c)" = '[[0,1],[2,-2]]' ]
	[ "$(groups c a b)" = '[[0,-2],[1,2]]' ]
	# Of two that both fit the one that left the call at the same time.
	side a 1 accept 0 500 9
	side b 2 connect 0 900 9
	side c 3 connect 0 510 9
	side d 4 accept 0 905 9
	[ "$(groups a b c d)" = '[[0,2],[1,3]]' ]
	side c 3 connect 0 510 8
	[ "$(groups a b c d)" = '[[0,-2],[1,-2],[2,-2],[3,-2]]' ]
	# Two that accept have not met each other.
	side b 2 accept
	[ "$(groups a b)" = '[[0,-2],[1,-2]]' ]
}

@test "worlds on different nodes get clocks from their meeting; those on one kernel its clock" {
	side a 1 accept 0 500
	side b 2 connect 0 70500
	lp-merge a b 2>/dev/null | lp-dump -k call | jq -s -e 'map(select(.seq == 1) | .leave_ns) == [70500, 70500]'
	side a 1 accept 0 500 9
	side b 2 connect 0 540 9
	lp-merge a b 2>err | lp-dump -k call | jq -s -e 'map(select(.seq == 1) | .leave_ns) == [500, 540]'
	refute grep -q 'on no node' err
}

@test "a dead rank is read up to its death, and named" {
	two_ranks
	printf 'raw ranks=2 rank=1 run=7\n0 MPI_Init 1000 1100\n0 MPI_Barrier 1200 1300 comm=1\nblock hash=0 capacity=8\nzeros 100\n' |
		tests/pack >run/rank.1
	lp-merge run 2>err >t.trace
	grep -q 'lp-merge: run/rank.1: rank 1 ended early, after 2 rows' err
	tests/trace.py check t.trace
	lp-dump -k rank t.trace | jq -s -e '.[0].ended == true and .[1].ended == false'
}

@test "a clock that is off and drifts is corrected from the samples" {
	# Rank 1's clock runs 1e-4 fast and is 5 s ahead: its t is 5e9 + 1.0001 * true.
	mkdir -p run
	printf 'raw ranks=2 rank=0 run=7\n0 MPI_Init 0 1000000\n0 MPI_Barrier 500000000 600000000 comm=1\n0 MPI_Finalize 1000000000 1000000100\n' |
		tests/pack >run/rank.0
	printf 'raw ranks=2 rank=1 run=7\nclock at_ns=5000000000 peer=0 offset_ns=-5000000000 error_ns=20\nclock at_ns=6000100000 peer=0 offset_ns=-5000100000 error_ns=30\n0 MPI_Init 5000000000 5001000100\n0 MPI_Barrier 5500050000 5600060000 comm=1\n0 MPI_Finalize 6000100000 6000100100\n' |
		tests/pack >run/rank.1
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s -e '[.[] | select(.call == "MPI_Barrier") | [.enter_ns, .leave_ns]] |
		flatten | . == [500000000, 600000000, 500000000, 600000000]'
	lp-dump -k rank t.trace | jq -s -e '.[1] | .error_ns == 30 and (.drift_ppb + 99990 | fabs) < 2'
	lp-merge -s offset run | lp-dump -k call | jq -s -e '[.[] | select(.rank == 1 and .call == "MPI_Barrier") | .enter_ns] == [500050000]'
	lp-merge -s none run | lp-dump -k call | jq -s -e '[.[] | select(.rank == 1 and .call == "MPI_Init") | .enter_ns] == [5000000000]'
}

@test "between samples a clock is corrected piece by piece" {
	# Rank 1's clock is right until 1 s, 1e-3 fast until 2 s, and right again.
	raw 0 2 >rank.0
	printf 'raw ranks=2 rank=1 run=7\nclock at_ns=0 peer=0 offset_ns=0 error_ns=1\nclock at_ns=2001000000 peer=0 offset_ns=-1000000 error_ns=7\nclock at_ns=1000000000 peer=0 offset_ns=0 error_ns=1\nclock at_ns=3001000000 peer=0 offset_ns=-1000000 error_ns=1\n0 MPI_Init 1000 1100\n0 MPI_Barrier 500000000 1500500000 comm=1\n0 MPI_Barrier 2001000000 2501000000 comm=1\n' |
		tests/pack >rank.1
	lp-merge rank.0 rank.1 >t.trace
	lp-dump -k call t.trace | jq -s -e '[.[] | select(.rank == 1 and .call == "MPI_Barrier") | [.enter_ns + 1000, .leave_ns + 1000]] |
		flatten | . == [500000000, 1500000000, 2000000000, 2500000000]'
	lp-dump -k rank t.trace | jq -s -e '.[1].error_ns == 7'
}

@test "an intermediate sample that does not improve the line changes nothing" {
	raw 0 2 >rank.0
	for middle in '' 'clock at_ns=500 peer=0 offset_ns=90 error_ns=100\n'; do
		printf "raw ranks=2 rank=1 run=7\nclock at_ns=0 peer=0 offset_ns=0 error_ns=1\n${middle}clock at_ns=1500 peer=0 offset_ns=0 error_ns=1\n0 MPI_Init 1000 1100\n" |
			tests/pack >rank.1
		lp-merge rank.0 rank.1 | lp-dump -k call -k rank >with.${middle:+middle}
	done
	cmp with. with.middle
}

# corrected SAMPLE... : enters of rank 1, at 40, 160 and 190 of its own clock; a sample is AT OFFSET
corrected() {
	printf 'raw ranks=2 rank=0 run=7\n0 MPI_Init 0 10\n' | pack >rank.0
	{ echo 'raw ranks=2 rank=1 run=7'
		for sample; do set -- $sample; echo "clock at_ns=$1 peer=0 offset_ns=$2 error_ns=0"; done
		printf '0 MPI_Comm_rank %d +1\n' 40 160 190; } | pack >rank.1
	lp-merge rank.0 rank.1 | lp-dump -k call | jq -s -c 'map(select(.rank == 1) | .enter_ns)'
}

@test "times are rounded, drift applies before the first sample, and a clock never stands still" {
	[ "$(corrected '100 0' '200 -1')" = '[41,159,189]' ]	# + 0.6, - 0.6, - 0.9
	[ "$(corrected '100 0' '200 1')" = '[39,161,191]' ]
	[ "$(corrected '100 10' '200 20')" = '[44,176,209]' ]
	[ "$(corrected '100 0' '200 -100' '300 0')" = '[40,160,190]' ]
	[ "$(corrected '100 0' '100 50' '300 0')" = '[40,160,190]' ]
}

@test "requests of other threads are referred to by location" {
	raw 0 2 >rank.0
	{ printf 'raw ranks=2 rank=1 run=7\n'
		for thread in 0 1 2; do
			echo "$thread MPI_Irecv $((20 + thread)) +1 comm=1 peer=0 tag=1 received=8"
		done
		for thread in 0 1 2; do		# each completes what the thread after it has started
			printf 'block\n%d MPI_Wait %d +1\nblock request=0x00 request_at=0x0%d\n' $thread \
				$((40 + thread)) $(((thread + 1) % 3 + 1))
		done; } | pack >rank.1
	lp-merge rank.0 rank.1 >t.trace
	tests/trace.py check t.trace
	[ "$(lp-dump -k call t.trace | jq -s -c 'map(.completed[]?.location)')" = '[2,3,1]' ]
}

@test "a clock shared with another rank gets that rank's correction" {
	mkdir -p run
	raw 0 3 >run/rank.0
	for r in 1 2; do
		{ printf 'raw ranks=3 rank=%d run=7\n' $r
			if [ $r = 1 ]; then echo 'clock at_ns=9000 peer=0 offset_ns=-8000 error_ns=1'; else echo 'clock_shared peer=1'; fi
			printf '0 MPI_Init 9000 9100\n0 MPI_Finalize 9400 9500\n'; } | tests/pack >run/rank.$r
	done
	lp-merge run | lp-dump -k call | jq -s -e '[.[] | select(.call == "MPI_Init") | .enter_ns] == [0, 0, 0]'
}

@test "communicators and call sites have the same numbers on all ranks" {
	mkdir -p run
	for r in 0 1; do
		printf 'raw ranks=2 rank=%d run=7\nmodule module=0 path=/none/app base=%d bytes=4096\nsite site=%d address=%d\ncommunicator comm=%d id=99 size=2 rank=%d\n0 MPI_Init 1000 1100\n0 MPI_Barrier 1200 1300 comm=%d site=%d\n' \
			$r $((8192 * (r + 1))) $((r + 1)) $((8192 * (r + 1) + 16)) $((r + 5)) $((1 - r)) $((r + 5)) $((r + 1)) |
			tests/pack >run/rank.$r
	done
	lp-merge run >t.trace
	lp-dump -k call t.trace | jq -s -e '[.[] | select(.call == "MPI_Barrier") | [.comm, .site]] == [[3, 1], [3, 1]]'
	lp-dump -k site t.trace | jq -s -e '. == [{"kind": "site", "site": 1, "offset": 16, "module": 0}]'
	lp-graph t.trace 2>/dev/null | lp-dump -k collective | jq -s -e 'length == 2'
}

@test "with many ranks, blocks are written in slices that keep a call and its parts together" {
	for ranks in 1 16384; do
		{
			echo "raw ranks=$ranks rank=0 run=7"
			awk 'BEGIN { for (i = 1; i <= 700; i++) {
				print "0 MPI_Irecv", i * 1000, "+10 comm=1 peer=0 tag=1 received=8 as=a"
				print "0 MPI_Irecv", i * 1000 + 100, "+10 comm=1 peer=0 tag=2 received=8 as=b"
				print "0 MPI_Waitall", i * 1000 + 200, "+100 comm=1 peer=0 tag=1 received=8 of=a"
				print "0 + comm=1 peer=0 tag=2 received=8 of=b"
			} }'
		} | tests/pack >rank.0
		lp-merge --partial rank.0 2>/dev/null >t.trace
		tests/trace.py check t.trace
		lp-dump -k call t.trace >$ranks.calls
		grep -a -o first t.trace | wc -l >$ranks.blocks
	done
	cmp 1.calls 16384.calls
	[ "$(wc -l <1.calls)" -eq 2100 ]
	[ "$(cat 1.blocks)" -eq 1 ]
	[ "$(cat 16384.blocks)" -eq 8 ]
}

@test "threads' blocks may be in any relative order" {
	# Blocks of a rank with three threads: in turn, one thread behind the other, and the last first.
	block() {	# block THREAD NUMBER: two rows
		printf 'block\n%d MPI_Comm_rank %d +10\n%d MPI_Comm_size %d +10 comm=1\n' \
			$1 $(($2 * 1000 + $1 * 100)) $1 $(($2 * 1000 + $1 * 100 + 50))
	}
	head='raw ranks=1 rank=0 run=7'
	{ echo "$head"; for n in 1 2 3 4; do for t in 0 1 2; do block $t $n; done; done; } | pack >turns
	{ echo "$head"; for t in 0 1 2; do for n in 1 2 3 4; do block $t $n; done; done; } | pack >behind
	{ echo "$head"; for t in 2 1 0; do for n in 1 2 3 4; do block $t $n; done; done; } | pack >last
	for f in turns behind last; do
		lp-merge $f >$f.trace
		tests/trace.py check $f.trace
		[ "$(grep -a -o first $f.trace | wc -l)" -eq 12 ]
		tail -c 700 $f.trace | cmp - <(tail -c 700 turns.trace)
		lp-dump $f.trace | tail -n +2 | cmp - <(lp-dump turns.trace | tail -n +2)
	done
	lp-dump -k call last.trace | jq -s -e 'map(.enter_ns) == (map(.enter_ns) | sort)'
}

@test "blocks that begin at one instant are in order of location" {
	for rank in 0 1 2; do raw $rank 3 >rank.$rank; done
	[ "$(lp-merge rank.2 rank.0 rank.1 | lp-dump -k call | jq -s -c 'map(.rank)')" = '[0,0,0,1,1,1,2,2,2]' ]
}

@test "a block that begins before the previous one ends, or with a wrong row, is refused" {
	printf 'raw ranks=1 rank=0 run=7\n0 MPI_Init 0 100\nblock\n0 MPI_Finalize 99 200\n' | pack >raw
	run -2 --separate-stderr lp-merge raw
	[[ "$stderr" =~ ^lp-merge:\ raw:[0-9]+:\ calls:\ begins\ before\ the\ block\ before\ it\ ends$ ]]
	printf 'raw ranks=1 rank=0 run=7\n0 MPI_Init 0 100\nblock\n0 MPI_Finalize 100 200\nblock first=2\n' | pack >raw
	run -2 --separate-stderr lp-merge raw
	[[ "$stderr" =~ ^lp-merge:\ raw:[0-9]+:\ calls:\ the\ block\ begins\ with\ row\ 2\ instead\ of\ 1$ ]]
}

@test "memory does not grow with calls and blocks" {
	if keeps_memory; then skip "sanitizers and emulators keep what was freed"; fi
	"$ROOT/build/bench/synthetic" -r 4 -c 10000 -b 9 >short
	"$ROOT/build/bench/synthetic" -r 4 -c 2000000 -b 9 >long	# 390 000 blocks
	for run in short long; do
		peak lp-merge $run >/dev/null
		mv peak.alone $run.peak
	done
	[ $(($(cat long.peak) - $(cat short.peak))) -lt 2000 ]
}

@test "more files than may be open are read" {
	mkdir run
	# All by one process, then a file for each header: 300 starts of Python take a minute.
	for rank in $(seq 0 299); do raw_text $rank 300; done | tests/pack >all
	/usr/bin/python3 -c '
head = b"\x92\xa8longpole"
for rank, raw in enumerate(open("all", "rb").read().split(head)[1:]):
    open(f"run/rank.{rank}", "wb").write(head + raw)'
	[ "$(ls run | wc -l)" -eq 300 ]
	cat run/rank.* | lp-merge | lp-dump -k call >one
	(ulimit -n 100 && lp-merge run) | lp-dump -k call | cmp - one
	[ "$(wc -l <one)" -eq 900 ]
}

@test "input that is not a file and cannot be read twice is refused" {
	two_ranks
	mkfifo pipe
	cat run/rank.0 >pipe &
	run -2 --separate-stderr timeout 300 lp-merge pipe run/rank.1
	[ "$stderr" = 'lp-merge: pipe:0: Illegal seek' ]
}

@test "damage within a block is one line, also if the trace is matched first" {
	"$ROOT/build/bench/synthetic" -r 3 -c 30000 -d 100000 -n 1 >raw
	for at in 50000 100000 150000 200000; do	# in blocks of each rank
		cp raw bad
		dd if=raw bs=1 skip=$at count=1 2>dd | tr '\000-\377' '\001-\377\000' |
			dd of=bad bs=1 seek=$at conv=notrunc 2>dd
		for how in none linear clc; do
			run -2 --separate-stderr lp-merge --sync $how bad
			[[ "$stderr" =~ ^lp-merge:\ bad:[0-9]+:\ calls:\ damaged:\ its\ hash\ is\ wrong$ ]]
		done
	done
}

@test "output written before damage was found does not look complete" {
	"$ROOT/build/bench/synthetic" -r 3 -c 300000 >raw
	printf '\xff' | dd of=raw bs=1 seek=$(($(stat -c %s raw) - 100000)) conv=notrunc 2>dd
	run -2 --separate-stderr bash -c 'lp-merge --sync none raw >t.trace'
	[[ "$stderr" =~ ^lp-merge:\ raw:[0-9]+:\ calls:\ damaged:\ its\ hash\ is\ wrong$ ]]
	[ "$(stat -c %s t.trace)" -gt 1000000 ]
	run -2 --separate-stderr lp-dump -k run t.trace
	[[ "$stderr" =~ ^lp-dump:\ t.trace:[0-9]+:\ ends\ without\ an\ end\ message$ ]]
}

@test "an empty folder, a text file and a trace are refused" {
	mkdir empty
	run -2 --separate-stderr lp-merge empty
	[ "$stderr" = 'lp-merge: empty: holds no raw trace (rank.0, rank.1, ...)' ]
	echo hello >text
	run -2 --separate-stderr lp-merge text
	[ "$stderr" = 'lp-merge: text:0: not a longpole stream' ]
	printf 'trace ranks=1\n0 MPI_Init 0 10\n' | tests/pack >t.trace
	run -2 --separate-stderr lp-merge t.trace
	[ "$stderr" = 'lp-merge: t.trace:0: not a raw trace but a trace stream' ]
	run -2 --separate-stderr lp-merge /dev/null
	[ "$stderr" = 'lp-merge: /dev/null:0: empty: no raw trace' ]
}

@test "a raw trace cut or damaged anywhere is refused, never half merged" {
	two_ranks
	run -0 tests/every-byte --cut --turn run/rank.0 -- lp-merge @ run/rank.1
}

@test "a full disk is an error, with one block or many" {
	two_ranks
	run -2 --separate-stderr bash -c 'lp-merge run >/dev/full'
	[ "$stderr" = 'lp-merge: standard output: No space left on device' ]
	"$ROOT/build/bench/synthetic" -r 2 -c 100000 >many
	run -2 --separate-stderr bash -c 'lp-merge <many >/dev/full'
	[ "$stderr" = 'lp-merge: standard output: No space left on device' ]
}

# drifting RANKS CALLS SAMPLES: raw traces of ranks whose clocks drift by up to 1e-4 and begin apart
drifting() {
	"$ROOT/build/bench/synthetic" -r "$1" -c "$2" -d 100000 -n "$3"
}

@test "clc: without reversed messages nothing is moved" {
	drifting 8 20000 2 >raw
	lp-merge raw | lp-dump | tail -n +2 >linear
	lp-merge -s clc raw 2>err | lp-dump | tail -n +2 >clc
	cmp linear clc
	[ "$(cat err)" = 'lp-merge: no message is reversed: nothing is moved' ]
}

@test "clc: unknown clocks leave no message reversed" {
	drifting 8 20000 0 >raw
	lp-merge -s clc raw 2>err >t.trace
	tests/trace.py check t.trace
	grep -q ' [1-9][0-9]* messages and members of collectives reversed, 0 left' err
	lp-dump -k rank t.trace | jq -s -e '(map(.reversed // 0) | add) > 1000 and (map(.reversed_left // 0) | add) == 0 and
		(map(.moved_ns // 0) | max) > 100000'
	# The second time there is nothing to do.
	lp-graph t.trace 2>/dev/null | lp-critpath -F json | jq -e '.path_length_s == .run_time_s'
}

@test "clc: a clock's step is corrected, and its neighbourhood moves gradually" {
	# Rank 1 falls 1 ms behind before its second receive; messages take 1000 ns.
	printf 'raw ranks=2 rank=0 run=7\n0 MPI_Init 0 10\n0 MPI_Send 1000000 1000100 comm=1 peer=1 tag=0 sent=8\n0 MPI_Send 201000000 201000100 comm=1 peer=1 tag=0 sent=8\n0 MPI_Recv 201000200 201003000 comm=1 peer=1 tag=0 received=8\n' |
		tests/pack >rank.0
	printf 'raw ranks=2 rank=1 run=7\n0 MPI_Init 0 10\n0 MPI_Recv 900000 1001000 comm=1 peer=0 tag=0 received=8\n0 MPI_Barrier 100900000 100950000 comm=2\n0 MPI_Recv 199999000 200001000 comm=1 peer=0 tag=0 received=8\n0 MPI_Send 200002000 200003000 comm=1 peer=0 tag=0 sent=8\n' |
		tests/pack >rank.1
	lp-merge -s clc rank.0 rank.1 >t.trace 2>err
	grep -q '1 messages and members of collectives reversed, 0 left; the shortest message takes 1000 ns' err
	lp-dump -k rank t.trace | jq -s -e '.[1] | [.reversed, .reversed_left, .moved_ns] == [1, 0, 1000000]'
	# 1 ns of 100 is taken off the 99 ms before the jump, and as much off what comes after it.
	lp-dump -k call t.trace | jq -s -c -e '[.[] | select(.rank == 1) | .leave_ns] ==
		[10, 1001000, 100959490, 201001000, 201002980]'
}

@test "clc: no message is reversed and no interval negative on 50 random runs with wrong clocks" {
	run -0 tests/clock_run.py check 1 50
	[ -z "$output" ]
}

@test "a drift without samples is found from messages, within its error" {
	drifting 8 400000 1 >raw
	lp-merge raw >t.trace 2>err
	grep -q 'lp-merge: rank 1: drift of [0-9]* ns a second, found from messages; 7 ranks corrected in all' err
	lp-dump -k rank t.trace | jq -s -e '.[7] | .drift_ppb > -105000 and .drift_ppb < -95000 and .error_ns > 1 and .error_ns < 10000'
	# Where a drift of none is within what the messages allow for, there is none.
	"$ROOT/build/bench/synthetic" -r 8 -c 20000 -d 1 -n 1 >raw
	lp-merge raw 2>&1 >t.trace | diff - /dev/null
	lp-dump -k rank t.trace | jq -s -e 'all(.drift_ppb == 0)'
}

@test "the error bound covers all drifts that messages allow, also if none is corrected" {
	# From rank 0 a message takes 100 us, back 1 us, 1 s behind the only sample: -1e-6 to 1e-4.
	printf 'raw ranks=2 rank=0 run=7\n0 MPI_Init 0 10\n0 MPI_Send 1000000000 +100 comm=1 peer=1 tag=0 sent=8\n0 MPI_Recv 1000000200 1000201000 comm=1 peer=1 tag=0 received=8\n' |
		tests/pack >rank.0
	printf 'raw ranks=2 rank=1 run=7\nclock at_ns=0 peer=0 offset_ns=0 error_ns=0\n0 MPI_Init 0 10\n0 MPI_Recv 900000000 1000100000 comm=1 peer=0 tag=0 received=8\n0 MPI_Send 1000200000 +100 comm=1 peer=0 tag=0 sent=8\n' |
		tests/pack >rank.1
	lp-merge rank.0 rank.1 >t.trace
	lp-dump -k rank t.trace | jq -s -e '.[1] | .drift_ppb == 0 and .error_ns >= 100000 and .error_ns <= 100100'
}

@test "samples against a clock of unknown drift give only the offset" {
	printf 'raw ranks=3 rank=0 run=7\n0 MPI_Init 0 10\n' | tests/pack >rank.0
	printf 'raw ranks=3 rank=1 run=7\nclock at_ns=0 peer=0 offset_ns=0 error_ns=0\n0 MPI_Init 0 10\n' | tests/pack >rank.1
	printf 'raw ranks=3 rank=2 run=7\nclock at_ns=0 peer=1 offset_ns=5 error_ns=0\nclock at_ns=1000000 peer=1 offset_ns=1005 error_ns=0\n0 MPI_Init 0 10\n' |
		tests/pack >rank.2
	lp-merge rank.0 rank.1 rank.2 | lp-dump -k rank | jq -s -e '.[2] | .drift_ppb == 0 and .offset_ns == 5'
}

@test "without lp-graph, or if it fails, clocks that need it are an error that says so" {
	drifting 2 1000 0 >raw
	cp "$(command -v lp-merge)" .
	run -2 --separate-stderr env PATH=/nowhere ./lp-merge -s clc raw
	[[ "$stderr" == 'lp-merge: lp-graph cannot match the trace: '*' (--sync offset does without it)' ]]
	[ -z "$output" ]
	env PATH=/nowhere ./lp-merge raw >t.trace	# samples at neither end: nothing to match for
}

# clc: raw traces of texts, one a rank, through --sync clc; note in err
clc() {
	local rank=0
	for text in "$@"; do
		printf 'raw ranks=%d rank=%d run=7\n%b' $# $rank "$text" | tests/pack >rank.$rank
		rank=$((rank + 1))
	done
	lp-merge -s clc rank.? 2>err >t.trace
	tests/trace.py check t.trace
}

@test "clc: a non-blocking collective delays the call that completes it" {
	clc '0 MPI_Iallreduce 1000 1100 comm=1 sent=8 received=8 as=a\n0 MPI_Wait 5000 9000 of=a\n' \
		'0 MPI_Iallreduce 100 200 comm=1 sent=8 received=8 as=a\n0 MPI_Send 300 350 comm=2 peer=0 tag=1\n0 MPI_Wait 400 900 of=a\n'
	grep -q '1 messages and members of collectives reversed, 0 left' err
	# Rank 1's wait ends with the start on rank 0; its start, 800 ns before, moves by 8 ns less.
	lp-dump -k call t.trace | jq -s -e '[.[] | select(.call == "MPI_Wait") | .leave_ns] == [808, 8808]'
}

@test "clc: ranks wait only for their neighbours in neighbourhood collectives" {
	clc 'communicator comm=3 id=9 size=3 rank=0\nneighbours comm=3 sources=1\n0 MPI_Neighbor_allgather 1000 1100 comm=3 sent=8 received=8\n' \
		'communicator comm=3 id=9 size=3 rank=1\nneighbours comm=3 sources=2\n0 MPI_Neighbor_allgather 1050 1200 comm=3 sent=8 received=8\n' \
		'communicator comm=3 id=9 size=3 rank=2\nneighbours comm=3 sources=2\n0 MPI_Neighbor_allgather 5000 5100 comm=3 sent=8 received=8\n'
	grep -q '1 messages and members of collectives reversed, 0 left' err
	lp-dump -k rank t.trace | jq -s -c -e 'map([.reversed, .moved_ns]) == [[null, null], [1, 3800], [null, null]]'
}

@test "clc: members of a collective that receive nothing wait for nobody" {
	for bytes in 0 8; do
		clc "0 MPI_Bcast 1000 1100 comm=1 peer=0 sent=$bytes\n" "0 MPI_Bcast 100 200 comm=1 peer=0 received=$bytes\n"
		if [ $bytes = 0 ]; then
			grep -q 'no message is reversed' err
		else
			grep -q '1 messages and members of collectives reversed, 0 left' err
		fi
	done
	clc '0 MPI_Allgatherv 1000 1100 comm=1 sent=0 received=8\n' '0 MPI_Allgatherv 100 200 comm=1 sent=8 received=8\n'
	grep -q 'no message is reversed' err
}

@test "few ranks' long blocks go out in slices, and the run is the same" {
	"$ROOT/build/bench/synthetic" -r 16 -c 600000 -b 16000 >long
	"$ROOT/build/bench/synthetic" -r 16 -c 600000 -b 100 >short
	lp-merge -o shards --shards 2 long
	lp-merge long >long.trace
	lp-merge short >short.trace
	for trace in long.trace short.trace shards; do
		trace.py check $trace
		lp-graph $trace 2>/dev/null | lp-critpath -F json >${trace%.trace}.json
	done
	for trace in long.trace short.trace shards/shard.000000; do
		/usr/bin/python3 -c 'import msgpack, sys
print(max(body["count"] for kind, body in msgpack.Unpacker(sys.stdin.buffer) if kind == "calls"))' <$trace >most
		mv most "${trace%%[./]*}.most"
	done
	cmp long.json short.json
	cmp long.json shards.json
	[ "$(cat long.most)" -ge 1024 ]	# 16 384 rows of 16 ranks; a call has up to five
	[ "$(cat long.most)" -le 1029 ]
	[ "$(cat shards.most)" -ge 512 ]
	[ "$(cat shards.most)" -le 517 ]
	[ "$(cat short.most)" -le 105 ]
}

@test "clc: a thread moves independently of its rank's other threads" {
	clc '0 MPI_Send 2000 2100 comm=1 peer=1 tag=1 sent=8\n' \
		'0 MPI_Comm_rank 500 600 comm=1\n1 MPI_Recv 700 1000 comm=1 peer=0 tag=1 received=8\n0 MPI_Comm_rank 2900 3000 comm=1\n'
	grep -q '1 messages and members of collectives reversed, 0 left' err
	lp-dump -k call t.trace | jq -s -c -e '[.[] | select(.call == "MPI_Comm_rank") | .leave_ns] == [100, 2500]'
	lp-dump -k call t.trace | jq -s -c -e '[.[] | select(.call == "MPI_Recv") | .leave_ns] == [1500]'
}

@test "clc: calls that wait for each other in a cycle are named and left" {
	clc '0 MPI_Recv 100 200 comm=1 peer=1 tag=1 received=8\n0 MPI_Send 300 400 comm=1 peer=1 tag=1 sent=8\n' \
		'0 MPI_Recv 100 210 comm=1 peer=0 tag=1 received=8\n0 MPI_Send 300 400 comm=1 peer=0 tag=1 sent=8\n'
	grep -q 'rank 0, row 0: waits in a cycle of calls' err
	grep -q ' 2 messages and members of collectives reversed, 1 left' err
}

@test "clc: with bytes per pair, members wait for those that must have sent to them" {
	# sent and received of ranks 0, 1 and 2; who jumps to the enter of rank 0, by 8800
	while read -r call s0 r0 s1 r1 s2 r2 jumps; do
		clc "0 MPI_$call 9000 9100 comm=1 sent=$s0 received=$r0\n" \
			"0 MPI_$call 100 200 comm=1 sent=$s1 received=$r1\n" "0 MPI_$call 100 200 comm=1 sent=$s2 received=$r2\n"
		[ "$(lp-dump -k rank t.trace | jq -s -c 'map(select((.reversed // 0) > 0 and .moved_ns == 8800) | .rank)')" = "$jumps" ]
	done <<-'EOF'
		Alltoallv 8 0 0 4 0 4 [1,2]
		Alltoallw 8 0 0 8 0 0 [1]
		Alltoallv 5 5 5 5 0 0 []
		Alltoallv 6 5 5 6 0 0 [1]
		Alltoallv 5 6 6 5 0 0 []
		Alltoallv 4 0 2 0 2 8 [2]
		Alltoallv 4 0 4 0 0 4 []
		Alltoallv 0 8 4 0 4 0 []
		Alltoallv 0 0 0 0 0 0 []
		Alltoallv 4 0 0 4 0 4 []
	EOF
	# Of two neighbours, and of one.
	for sources in 0,2 0; do
		clc "communicator comm=3 id=9 size=3 rank=0\nneighbours comm=3 sources=1\n0 MPI_Neighbor_alltoallv 9000 9100 comm=3 sent=8 received=4\n" \
			"communicator comm=3 id=9 size=3 rank=1\nneighbours comm=3 sources=$sources\n0 MPI_Neighbor_alltoallv 100 200 comm=3 sent=4 received=8\n" \
			"communicator comm=3 id=9 size=3 rank=2\nneighbours comm=3 sources=2\n0 MPI_Neighbor_alltoallv 100 200 comm=3 sent=8 received=8\n"
		if [ $sources = 0 ]; then
			grep -q '1 messages and members of collectives reversed, 0 left' err
		else
			grep -q 'no message is reversed' err
		fi
	done
}

@test "clc: time before a jump uses exactly the room that others' receives leave" {
	clc '0 MPI_Comm_rank 0 10\n0 MPI_Send 1000000 +10 comm=1 peer=1 tag=1 sent=8\n' \
		'0 MPI_Comm_rank 0 10\n0 MPI_Send 150000 +10 comm=1 peer=2 tag=1 sent=8\n0 MPI_Recv 160000 200000 comm=1 peer=0 tag=1 received=8\n' \
		'0 MPI_Comm_rank 0 10\n0 MPI_Recv 100 155000 comm=1 peer=1 tag=1 received=8\n'
	# The jump is of 800000, so the send could be late by 799500; rank 2 got its bytes 5000 later.
	lp-dump -k call t.trace | jq -s -c -e 'map(select(.rank == 1)) | [.[0].enter_ns, .[1].enter_ns, .[2].leave_ns] ==
		[3500, 155000, 1000000]'
}

@test "names of calls may come after the block, however small it is" {
	sed 's/id=-[0-9]*/id=7/' "$fixtures/good-raw.txt" | pack >late
	sed 's/id=-[0-9]*/id=7/; s/names=late//' "$fixtures/good-raw.txt" | pack >early
	lp-merge late 2>/dev/null | lp-dump -k call >late.calls
	lp-merge early 2>/dev/null | lp-dump -k call | cmp - late.calls
	[ "$(jq -r .call late.calls | sort -u | paste -sd' ')" = 'MPI_Comm_dup MPI_Init MPI_Recv MPI_Send' ]
}

@test "a module that is not a regular file is not opened, and nothing waits" {
	mkfifo pipe
	mkdir folder
	for path in "$PWD/pipe" "$PWD/folder" /dev/zero /dev/tty "$PWD/none"; do
		sed "s|path=/usr/bin/app|path=$path|; s/id=-[0-9]*/id=7/" "$fixtures/good-raw.txt" | pack >t.raw
		timeout 300 lp-merge t.raw 2>/dev/null >t.trace
		[ "$(lp-dump -k site t.trace | jq '.function == null and .module != null')" = true ]
	done
}

# with_cores WAITED_MS OTHERS_MS: two ranks of a second each on both cores of their host
with_cores() {
	for rank in 0 1; do
		printf '%s\n' "raw ranks=2 rank=$rank run=7 host=node1" \
			"cores at_ns=0 mask=0x03 cpu_ns=0 thread_cpu_ns=0 waited_ns=0 busy_ns=0 threads=1" \
			'0 MPI_Init 1000 1100' '0 MPI_Finalize 1000001100 1000001200' \
			"cores at_ns=1000000000 mask=0x03 cpu_ns=500000000 thread_cpu_ns=400000000 waited_ns=$(($1 * 1000000)) busy_ns=$(((1000 + $2) * 1000000)) threads=2" |
			tests/pack >rank.$rank
	done
	lp-merge rank.0 rank.1 >t.trace
	trace.py check t.trace
	lp-graph t.trace 2>/dev/null >t.graph
}

@test "a lack of cores is a line in reports; ranks that sleep are not blamed" {
	with_cores 200 300
	line='2 ranks with 4 threads on 2 cores, 10 % of the time ready to run, without a core; other processes took 15 % of the cores'
	lp-imbalance t.graph >report
	[ "$(sed -n 2p report)" = "do not act on this: $line" ]
	lp-critpath -F text t.graph >report
	[ "$(sed -n 2p report)" = "do not act on this: $line" ]
	lp-replay -F table t.graph >report
	[ "$(sed -n 2p report)" = "$line" ]
	lp-critpath t.graph | lp-report -F text >report
	[ "$(sed -n 2p report)" = "do not act on this: $line" ]
	load='{"cores":2,"ranks":2,"threads":4,"preempted_share":0.1000,"off_core_share":0.6000,"others_share":0.1500}'
	lp-imbalance -F json t.graph | grep -qF "\"load\":$load"
	lp-critpath -F json t.graph | grep -qF "\"load\":$load"
	with_cores 50 300
	lp-imbalance t.graph >report
	[ "$(sed -n 2p report)" = 'fair: 2 ranks with 4 threads on 2 cores, 2 % of the time ready to run, without a core; other processes took 15 % of the cores' ]
	lp-replay -F table t.graph >report
	run ! grep 'without a core' report
	lp-imbalance -F json t.graph | jq -e '.load.others_share == 0.15'
}

@test "several processes write the same load as one" {
	with_cores 200 300
	mkdir run
	mv rank.0 rank.1 run
	lp-merge -o one --shards 2 run
	mpirun --oversubscribe -n 2 "$ROOT/bin/lp-merge" -o two run
	lp-dump -k load one >one.load
	lp-dump -k load two >two.load
	[ -s one.load ]
	cmp one.load two.load
}
