#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# OTF2 in and out. The archives that are read here are written by OTF2's own Python module, what is
# written is read by it and by otf2-print: longpole's code is on one side only.

load helpers

needs_otf2() {
	/usr/bin/python3 -c 'import otf2' 2>/dev/null || skip "python3-otf2 is not here"
}

planted() {
	tests/otf2_planted.py planted
	lp-import -f otf2 planted/traces.otf2 2>said >t.trace
}

@test "planted wait states have the planted seconds" {
	needs_otf2
	planted
	trace.py check t.trace
	lp-graph t.trace 2>counts >t.graph
	grep -q '^lp-graph: 4 messages and 5 collectives matched, 0 sends, 0 receives and 0 collectives not' counts
	lp-imbalance -F json t.graph >json
	jq -e '[.. | objects | select(.state? == "late_sender" and has("wait_s"))] | any(.wait_s == 0.0004)' json ||
		lp-imbalance t.graph | grep -E '0\.000400	1	0\.000400	1	0	late_sender'
	lp-imbalance t.graph | grep -E '0\.001500	3	0\.000500	0	3	wait_at_barrier'
}

@test "calls have their times, peers, tags, bytes, communicators, requests and sites" {
	needs_otf2
	planted
	trace.py text t.trace >text
	grep -qx '1 MPI_Recv 200000 612000 comm=1 peer=0 tag=5 received=800 site=8' text
	grep -qx '1 MPI_Irecv 620000 621000 comm=1 peer=0 tag=9 received=64 site=5' text
	grep -qx '1 MPI_Wait 640000 645000 comm=1 peer=0 tag=9 received=64 site=6 request=2' text
	grep -qx '1 MPI_Test 625000 626000 site=9' text
	grep -qx '2 MPI_Sendrecv 200000 210000 comm=1 peer=3 tag=1 sent=8 site=4' text
	grep -qx '2 + comm=1 peer=3 tag=1 received=8 site=4' text
	grep -qx '3 MPI_Bcast 690000 720000 comm=3 peer=1 sent=24 received=24 site=11' text
	grep -qx '0 MPI_Iallreduce 1600000 1601000 comm=1 sent=8 received=8 site=13' text
	grep -qx 'communicator comm=3 size=2 members=1,3' text
	grep -qx 'location location=4 rank=0 thread=1' text
	grep -qx 'site site=4 count=2 stack=2,3' text
	# A site for each function called, as the archive does not say where in a region.
	[ "$(grep -c '^site .*call=MPI_.* function=main file=src/app.c line=7$' text)" -eq 11 ]
	grep -qx 'site site=6 call=MPI_Wait offset=0 function=main file=src/app.c line=7' text
	grep -qE '^run ranks=4 locations=5 run_ns=1810000( date_s=[0-9]+)?$' text
}

@test "unknown events are counted and named" {
	needs_otf2
	planted
	grep -qx 'lp-import: planted/traces.otf2: events without a counterpart in a trace are left out: 1 BufferFlush' said
}

@test "damaged archives give one line and status 2, whatever OTF2's library does" {
	needs_otf2
	planted
	exported		# in out: its attributes and properties are damaged, too
	/usr/bin/python3 - <<-'END'
		import os, random, shutil, subprocess
		rng, bad, refused = random.Random(1), [], 0
		for n in range(120):
		    shutil.rmtree("hurt", ignore_errors=True)
		    shutil.copytree(("planted", "out")[n // 2 % 2], "hurt")
		    files = [os.path.join(f, name) for f, _, names in os.walk("hurt") for name in names
		             if os.path.getsize(os.path.join(f, name)) > 0]
		    file = rng.choice(sorted(files))
		    data = bytearray(open(file, "rb").read())
		    for _ in range(rng.choice((1, 1, 4))):
		        if n % 3 and data:
		            data[rng.randrange(len(data))] = rng.randrange(256)
		        else:
		            del data[rng.randrange(len(data) + 1):]
		    open(file, "wb").write(data)
		    done = subprocess.run(["lp-import", "-f", "otf2", "hurt/traces.otf2"], capture_output=True, timeout=20)
		    if done.returncode not in (0, 2) or (done.returncode == 2 and
		            (done.stderr.count(b"\n") != 1 or not done.stderr.startswith(b"lp-import: "))):
		        bad.append((file, done.returncode, done.stderr[-300:]))
		    refused += done.returncode == 2
		assert not bad, bad
		assert refused > 20, refused
	END
	run -2 --separate-stderr lp-import -f otf2 nothing/traces.otf2
	[[ "$stderr" == "lp-import: nothing/traces.otf2: no archive of OTF2"* ]]
	run -2 lp-import -f otf2 -
}

@test "epochs, locks, files, hosts, phases and further threads are imported" {
	needs_otf2
	tests/otf2_more.py more
	lp-import -f otf2 more/traces.otf2 >t.trace 2>said
	trace.py check t.trace
	trace.py text t.trace >text
	grep -qx 'rank rank=0 host="\?host0"\?' text
	grep -qx 'rank rank=1 host="\?host1"\?' text
	grep -qx '1 MPI_Win_post 40 42 comm=3 peer=0' text
	grep -qx '1 MPI_Win_wait 50 60 comm=3 request=1' text
	grep -qx '0 MPI_Win_start 40 44 comm=3 peer=1 site=1' text
	grep -qx '0 MPI_Win_complete 50 52 comm=3 site=3 request=2' text
	grep -qx '0 MPI_Win_create 20 30 comm=1' text
	grep -qx '0 MPI_Win_lock 62 63 comm=3 peer=1 tag=1' text
	grep -qx '0 MPI_Win_unlock 64 65 comm=3 peer=1' text
	grep -qx '1 MPI_File_open 70 72 comm=1' text
	grep -qx '1 MPI_File_write 74 80 comm=4 sent=90' text
	grep -qx '1 MPI_File_iread 81 82 comm=4 received=50' text
	grep -qx '1 MPI_Wait 83 84 request=1' text
	grep -qx '1 MPI_File_close 86 87 comm=4' text
	lp-dump -k regions,region_name t.trace | jq -se '.[0].name == "step" and (.[1] | .location == 0 and .time == [35, 61] and
		.region == [1, 0] and .left == null)'
	grep -qx '2 MPI_Wait 90 95 comm=1 peer=1 tag=3 received=16 request=7 request_at=1' text
	grep -qx 'location location=2 rank=0 thread=1' text
	grep -q 'communicator comm=3 .*type=window' text
	grep -q 'communicator comm=4 .*type=file' text
	grep -q ' 1 of files that MPI has not opened are left out' said
	lp-graph t.trace 2>counts >/dev/null
	grep -q '^lp-graph: 3 messages and 3 collectives matched, 0 sends, 0 receives' counts
}

@test "regions of an archive as Score-P writes it have the same numbers as those of a trace" {
	needs_otf2
	local seed
	for seed in 1 2; do
		otf2_scorep.py make "archive.$seed" $seed 3 6
		lp-import -f otf2 "archive.$seed/traces.otf2" >t.trace 2>said
		[ $seed -eq 2 ] || grep -q "left out: 18 ParameterInt" said
		trace.py check t.trace
		lp-graph t.trace >t.graph 2>/dev/null
		lp-critpath --by region -F json t.graph >path
		lp-imbalance --by region -F json t.graph >ranks
		otf2_scorep.py check path ranks $seed 3 6
	done
	lp-import -f otf2 archive.1/traces.otf2 2>/dev/null | lp-graph 2>/dev/null | lp-critpath --by step -F json | jq -e '.loops[0].loop == "step" and .loops[0].steps == 6'
}

@test "regions of the user go into an archive and come back, nested with frames and time off the core" {
	needs_otf2
	pack >t.trace <<-'END'
		trace ranks=2
		module module=0 path=/opt/app
		region_name number=1 name="a step"
		region_name number=2 name=MPI_part
		site site=1 module=0 offset=10 call=MPI_Barrier function=main file=app.c line=5
		regions location=0 time=0 region=1
		0 MPI_Init 0 100 comm=1
		1 MPI_Init 10 100 comm=1
		regions location=0 time=150,200,220 region=2,0,2
		switched location=0 from_ns=100 until_ns=300 time=160,210,230 duration=20,5,30 reason=0,1,0
		0 MPI_Barrier 300 400 comm=1 site=1
		regions location=1 time=350 region=1
		1 MPI_Barrier 340 400 comm=1 site=1
		regions location=0 time=450,500 region=0,0
		0 MPI_Finalize 600 700 comm=1
		regions location=1 time=700 region=0
		1 MPI_Finalize 600 700 comm=1
	END
	trace.py check t.trace
	lp-export -f otf2 -o archive t.trace
	lp-import -f otf2 archive/traces.otf2 >back
	trace.py check back
	local stream
	for stream in t.trace back; do
		lp-dump -k regions,region_name,call $stream | jq -nr 'reduce inputs as $m ({}; if $m.kind == "region_name" then
			.names[$m.number | tostring] = $m.name elif $m.kind == "regions" then .names as $names |
			.of += [range($m.count) as $i | "\($m.location) \($m.time[$i]) \($names[$m.region[$i] | tostring] // "-")"]
			else .of += [$m | tostring] end) | .of[]' | sort >$stream.told
	done
	# A region that begins in a call begins behind it in the archive.
	sed -i 's/^1 350 /1 400 /' t.trace.told
	diff t.trace.told back.told
}

# exported [PATTERN]: an archive of a path stream, without what fits the pattern.
exported() {
	grep -v -e "${1:-nothing}" >text <<-'END'
		trace ranks=3
		module module=0 path=/opt/app
		communicator comm=3 size=2 remote_size=1 members=0,1 remote=2
		site site=1 offset=16 module=0 function=main file=src/app.c line=10
		site site=2 offset=32 module=0 function="a;b" file=src/app.c line=20
		site site=3 stack=2,1
		0 MPI_Init 0 100 site=1
		1 MPI_Init 0 100 site=1
		2 MPI_Init 0 100 site=1
		1 MPI_Recv 200 620 comm=1 peer=0 tag=5 received=8 site=3
		0 MPI_Send 600 610 comm=1 peer=1 tag=5 sent=8 site=3
		2 MPI_Isend 620 621 comm=3 peer=0 tag=1 sent=4
		2 MPI_Ibarrier 622 623 comm=1
		0 MPI_Recv 630 640 comm=3 peer=0 tag=1 received=4
		0 MPI_Ibarrier 641 642 comm=1
		1 MPI_Ibarrier 641 642 comm=1
		0 MPI_Wait 650 651 request=1
		1 MPI_Wait 650 651 request=1
		2 MPI_Waitall 650 651 request=2
		2 + request=2
		0 MPI_Barrier 700 1310 comm=1 site=1
		1 MPI_Barrier 700 1310 comm=1 site=1
		2 MPI_Barrier 1200 1310 comm=1 site=1
		0 MPI_Finalize 1400 1500
		1 MPI_Finalize 1400 1500
		2 MPI_Finalize 1400 1500
	END
	pack text >t.trace
	lp-graph t.trace 2>/dev/null | lp-critpath >t.path
	lp-export -f otf2 -o out t.path
}

@test "export: python3-otf2 sees calls, messages, sites, waits and the path" {
	needs_otf2
	exported comm=3		# python3-otf2 3.0 cannot read intercommunicators
	/usr/bin/python3 - >seen <<-'END'
		import otf2
		with otf2.reader.open("out/traces.otf2") as trace:
		    assert trace.timer_resolution == 10**9
		    print("comms", [c.name for c in trace.definitions.comms])
		    stacks = {}
		    for location, event in trace.events:
		        kind, stack = type(event).__name__, stacks.setdefault(location, [])
		        who = location.group.name[-1] if location.name != "critical path" else "path"
		        more = {a.name.split("::")[1]: getattr(v, "name", v) for a, v in (event.attributes or {}).items()}
		        if kind == "Enter":
		            stack.append((event.region, event.time))
		        elif kind == "Leave":
		            region, begin = stack.pop()
		            assert region is event.region
		            print(who, "call", ">".join(r.name for r, _ in stack), region.name, begin, event.time, more)
		        elif kind == "Metric":
		            print("path", event.time, event.values, more)
		        else:
		            print(who, kind, event.time, getattr(event, "receiver", ""), getattr(event, "sender", ""), more)
		    assert not any(stacks.values())
	END
	grep -Fx "comms ['MPI_COMM_WORLD', 'MPI_COMM_SELF']" seen
	grep -Fx "1 call main (app.c:10)>a;b (app.c:20) MPI_Recv 200 620 {'wait_ns': 400, 'wait_state': 'late_sender', 'waits_for': 'Master thread'}" seen
	grep -F "0 call main (app.c:10) MPI_Barrier 700 1310 {'wait_ns': 500, 'wait_state': 'wait_at_barrier'" seen
	grep -q '^0 MpiSend 600 1 ' seen
	grep -q '^1 MpiRecv 620  0 ' seen
	grep -q '^2 NonBlockingCollectiveComplete 651 ' seen
	[ "$(grep -c '^. MpiCollectiveEnd' seen)" -eq 3 ]
	lp-dump -k segment t.path | jq -r '"\(.begin_ns) \(.rank)"' >pieces
	sed -n 's/^path \([0-9]*\) \[\([0-9]*\)\].*/\1 \2/p' seen | cmp - pieces
	# The whole is the same bytes again, and otf2-print has nothing against it.
	lp-export -f otf2 -o again t.path
	diff -r out again
	otf2-print out/traces.otf2 >printed 2>complaints
	[ ! -s complaints ]
	grep -q '^MPI_SEND ' printed
}

@test "export --for scout: only what scout has callbacks for, and no attributes" {
	needs_otf2
	exported
	lp-export -f otf2 --for scout -o scout t.path
	otf2-print -G scout/traces.otf2 >definitions
	otf2-print scout/traces.otf2 >events
	run -1 grep -E '^(INTER_COMM|ATTRIBUTE|PARAMETER|METRIC|IO_)' definitions
	run -1 grep -E '^(NON_BLOCKING|COMM_|IO_|PARAMETER|METRIC|MPI_ISEND )|ADDITIONAL' events
	grep -q '^MPI_SEND ' events
	grep -q '^MPI_COLLECTIVE_END ' events
	# scout stops at a collective that creates a handle.
	printf 'trace ranks=2\n0 MPI_Comm_dup 100 120 comm=1\n1 MPI_Comm_dup 100 120 comm=1\n' | pack >dup.trace
	lp-export -f otf2 -o dup dup.trace
	otf2-print dup/traces.otf2 >made
	grep -q '^MPI_COLLECTIVE_END .*CREATE_HANDLE' made
	lp-export -f otf2 --for scout -o dup.scout dup.trace
	otf2-print dup.scout/traces.otf2 >made
	grep -q '^ENTER .*MPI_Comm_dup' made
	run -1 grep CREATE_HANDLE made
	# scout takes a region for MPI's by its file.
	grep '^REGION .*Name: "MPI_' definitions >regions
	[ -s regions ]
	run -1 grep -v 'File: "MPI"' regions
	run -2 --separate-stderr lp-export -f csv --for scout t.path
	[ "$stderr" = "lp-export: -f csv does not take --for" ]
}

@test "the time of a thread off its core is a region between its calls, which an import leaves out" {
	pack >t.graph <<-END
		graph
		run ranks=2 locations=2 run_ns=1000
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		switched location=1 from_ns=50 until_ns=900 time=80,200,300,780 duration=50,50,60,70 reason=0,0,1,2
		switched location=1 worker=1 from_ns=50 until_ns=900 time=600 duration=50 reason=0
		0 MPI_Finalize 800 900
		1 MPI_Finalize 800 900
	END
	lp-export -f otf2 -o out t.graph
	otf2-print out/traces.otf2 | grep -oE '^(ENTER|LEAVE) .*"\((blocked|preempted|not on a core, or not sampled)\)' |
		sed -E 's/  +/ /g; s/Region: "//' >off
	diff off - <<-END
		ENTER 1 100 (blocked)
		LEAVE 1 130 (blocked)
		ENTER 1 200 (blocked)
		LEAVE 1 250 (blocked)
		ENTER 1 300 (preempted)
		LEAVE 1 360 (preempted)
		ENTER 1 780 (not on a core, or not sampled)
		LEAVE 1 800 (not on a core, or not sampled)
	END
	lp-import -f otf2 out/traces.otf2 >back
	for file in t.graph back; do lp-dump -k call $file | jq -c '[.rank, .call, .enter_ns, .leave_ns]' | sort >$file.calls; done
	cmp t.graph.calls back.calls
	lp-export -f otf2 --for scout -o small t.graph
	otf2-print small/traces.otf2 | refute grep -q blocked
}

@test "random runs of all kinds of calls return row by row, with their edges and paths" {
	needs_otf2
	exported
	lp-import -f otf2 out/traces.otf2 >back.trace
	same_trace.py t.trace back.trace
	round_trip t.trace
	for seed in $(short_or_long '1 2 3 5' '1 2 3 5 8 13 21 34 55 89'); do
		random_run.py make $seed more >random.trace
		round_trip random.trace
	done
}

@test "a full disk or a killed export leaves no archive under its name, and keeps an old one" {
	random_run.py make 3 more >t.trace
	(ulimit -f 1; trap '' XFSZ; run -2 --separate-stderr lp-export -f otf2 -o out t.trace
	[ "$stderr" = "lp-export: out: File is too large" ])
	[ ! -e out ]
	mkfifo input
	lp-export -f otf2 -o out <input &
	exec 7>input
	cat t.trace >&7
	await [ -e out.part/traces ]
	kill -9 $!
	exec 7>&-
	status=0
	wait $! || status=$?
	[ "$status" -eq 137 ]
	[ ! -e out ]
	[ ! -e out.part/traces.otf2 ]
	lp-export -f otf2 -o out t.trace
	[ ! -e out.part ]
	run -2 --separate-stderr lp-export -f otf2 -o out t.trace
	[ "$stderr" = "lp-export: out: is there already, and not an empty folder" ]
	lp-import -f otf2 out/traces.otf2 | trace.py check -
	head -c 900 t.trace >cut
	run -2 lp-export -f otf2 -o other cut
	[ ! -e other ]
}
