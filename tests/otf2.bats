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

@test "planted wait states come out in the planted seconds" {
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
	grep -qx '1 MPI_Recv 200000 612000 comm=1 peer=0 tag=5 received=800 site=1' text
	grep -qx '1 MPI_Irecv 620000 621000 comm=1 peer=0 tag=9 received=64 site=1' text
	grep -qx '1 MPI_Wait 640000 645000 comm=1 peer=0 tag=9 received=64 site=1 request=2' text
	grep -qx '1 MPI_Test 625000 626000 site=1' text
	grep -qx '2 MPI_Sendrecv 200000 210000 comm=1 peer=3 tag=1 sent=8 site=3' text
	grep -qx '2 + comm=1 peer=3 tag=1 received=8 site=3' text
	grep -qx '3 MPI_Bcast 690000 720000 comm=3 peer=1 sent=24 received=24 site=1' text
	grep -qx '0 MPI_Iallreduce 1600000 1601000 comm=1 sent=8 received=8 site=1' text
	grep -qx 'communicator comm=3 size=2 members=1,3' text
	grep -qx 'location location=4 rank=0 thread=1' text
	grep -qx 'site site=3 count=2 stack=2,1' text
	grep -q '^run ranks=4 locations=5 run_ns=1810000$' text
}

@test "what is not understood is counted and named" {
	needs_otf2
	planted
	grep -qx 'lp-import: planted/traces.otf2: events that have no place in a trace are left out: 1 BufferFlush' said
}

@test "damaged archives end in a line and status 2, whatever OTF2's library does with them" {
	needs_otf2
	planted
	/usr/bin/python3 - <<-'END'
		import os, random, shutil, subprocess
		rng, bad, refused = random.Random(1), [], 0
		for n in range(120):
		    shutil.rmtree("hurt", ignore_errors=True)
		    shutil.copytree("planted", "hurt")
		    files = [os.path.join(f, name) for f, _, names in os.walk("hurt") for name in names]
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
