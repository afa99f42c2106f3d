# SPDX-License-Identifier: BSD-3-Clause
# lp-import and lp-export.
bats_require_minimum_version 1.5.0
load helpers

calls() {
	lp-dump "$1" | jq -rc 'select(.kind == "call") | "\(.rank) \(.call) \(.enter_ns) \(.leave_ns)"'
}

@test "a Dimemas trace becomes matched calls without length" {
	lp-import -f dim "$fixtures/dimemas/05-rendezvous-irecv-then-wait/trace.dim" >t.graph
	tests/trace.py check t.graph
	run -0 calls t.graph
	[ "$output" = "$(cat <<-'END'
		0 Extrae_event 0 0
		0 MPI_Ssend 10000000 10000000
		0 Extrae_event 12000000 12000000
		1 Extrae_event 0 0
		1 MPI_Irecv 0 0
		1 MPI_Wait 50000000 50000000
		1 Extrae_event 51000000 51000000
	END
	)" ]
	[ "$(lp-dump -k message t.graph)" = '{"kind":"message","source":0,"send":1,"target":1,"receive":2}' ]
}

@test "gzip text and standard input are read the same" {
	case=$fixtures/dimemas/23-ring-rendezvous
	lp-import -f dim "$case/trace.dim" | lp-dump | tail -n +2 >plain
	gzip -c "$case/trace.dim" >t.gz
	lp-import -f dim t.gz | lp-dump | tail -n +2 | cmp - plain
	lp-import -f dim <t.gz | lp-dump | tail -n +2 | cmp - plain
}

@test "a Paraver trace stays the same when exported and imported again" {
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	tests/trace.py check a.graph
	[ "$(calls a.graph | grep -c MPI_)" -eq 14 ]
	lp-export -f prv -o b a.graph
	lp-import -f prv b.prv >b.graph
	diff <(lp-dump a.graph | tail -n +2) <(lp-dump b.graph | tail -n +2)
	head -1 b.prv | grep -q '^#Paraver ([^)]*):200000_ns:2(1,1):1:2(1:1,1:2),1$'
	grep -q '^1      MPI_Send$' b.pcf
	head -1 b.row | grep -qx 'LEVEL CPU SIZE 2'
	grep '^[123]:' b.prv | cut -d: -f6 | sort -n -c
	# States and events as they were; of messages not when data moved, which calls do not tell.
	diff <(grep '^[12]:' "$fixtures/paraver/in.prv" | sort) <(grep '^[12]:' b.prv | sort)
	diff <(grep '^3:' "$fixtures/paraver/in.prv" | cut -d: -f1-6,8-12,14- | sort) \
		<(grep '^3:' b.prv | cut -d: -f1-6,8-12,14- | sort)
}

@test "a Paraver trace replays like its conversion by prv2dim in Dimemas" {
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	[ "$(lp-replay -n "$fixtures/paraver/cfg" -F json a.graph | jq -c .finish_ns)" = '[160294,160294]' ]
	lp-import -f dim "$fixtures/paraver/out.dim" >b.graph
	[ "$(lp-replay -n "$fixtures/paraver/cfg" -F json b.graph | jq -c .finish_ns)" = '[160294,160294]' ]
}

# dim RANKS(THREADS,...): a Dimemas trace of the records on standard input, of times in microseconds.
dim() {
	local ranks=${1%%[(]*}

	echo "#DIMEMAS:\"t\":1,0:$1,1"
	echo "d:1:1:$ranks:$(seq -s : 0 $((ranks - 1)))"
	awk -F: -v OFS=: '$1 == 1 { $4 = sprintf("%.9f", $4 / 1e6) } { print }'
}

messages() {
	lp-dump -k message t.graph | jq -rc '"\(.source):\(.send) \(.target):\(.receive)"' | sort
}

@test "a wildcard receive gets the first message on a network without latency" {
	# 1 sends at 5 us, 2 at 3 us, and at 4 us with another tag; 0 waits for tag 7 first.
	dim '3(1,1,1)' >t.dim <<-'END'
		1:0:0:1
		3:0:0:-1:-1:8:7:1:0
		3:0:0:-1:-1:8:-1:1:0
		3:0:0:-1:-1:8:-1:1:0
		1:1:0:5
		2:1:0:0:-1:8:7:1:0
		1:2:0:3
		2:2:0:0:-1:8:9:1:0
		1:2:0:1
		2:2:0:0:-1:8:7:1:0
	END
	lp-import -f dim t.dim >t.graph
	tests/trace.py check t.graph
	[ "$(messages)" = "$(printf '1:0 0:2\n2:0 0:1\n2:1 0:0')" ]
	run -0 jq -rc 'select(.kind == "call" and .rank == 0) | "\(.call) \(.peer) \(.tag)"' < <(lp-dump t.graph)
	[ "$output" = "$(printf 'MPI_Recv 2 7\nMPI_Recv 2 9\nMPI_Recv 1 7')" ]
	printf 'machine\nnodes 3\n' >machine
	[ "$(lp-replay -n machine -F json t.graph | jq -c .finish_ns)" = '[5000,5000,4000]' ]
}

@test "a rank that waits sends later, whatever its own clock; at ties the lower rank is first" {
	# By its bursts 2 sends at 1 and at 3 us, but it has to wait for 1, which like 4 sends to 0 before.
	dim '5(1,1,1,1,1)' >t.dim <<-'END'
		3:0:0:-1:-1:8:7:1:1
		3:0:0:-1:-1:8:7:1:2
		3:0:0:2:-1:8:7:1:0
		3:0:0:-1:-1:8:7:1:0
		3:0:0:-1:-1:8:7:1:0
		3:0:0:-1:-1:8:7:1:0
		1:1:0:5
		2:1:0:0:-1:8:7:1:0
		2:1:0:2:-1:8:7:1:0
		1:2:0:1
		3:2:0:1:-1:8:7:1:0
		2:2:0:0:-1:8:7:1:0
		1:2:0:2
		2:2:0:0:-1:8:7:1:0
		1:3:0:6
		2:3:0:0:-1:8:7:1:0
		1:4:0:5
		2:4:0:0:-1:8:7:1:0
	END
	lp-import -f dim t.dim >t.graph
	[ "$(messages)" = "$(printf '1:0 0:1\n1:1 2:0\n2:1 0:2\n2:2 0:5\n3:0 0:4\n4:0 0:3')" ]
	run -0 jq -rc 'select(.kind == "call" and .rank == 0) | "\(.call) \(.peer)"' < <(lp-dump t.graph)
	[ "$output" = "$(printf 'MPI_Irecv MPI_ANY_SOURCE\nMPI_Wait 1\nMPI_Recv 2\nMPI_Recv 4\nMPI_Recv 3\nMPI_Recv 2')" ]
}

@test "a message goes to the first matching receive posted, and collectives delay ranks" {
	# 0 posts one from anybody and one from 2; 2 sends twice; the barrier keeps 1 until 0 has come, at 9 us.
	dim '3(1,1,1)' >t.dim <<-'END'
		3:0:0:-1:-1:8:-1:1:1
		3:0:0:2:-1:8:7:1:1
		1:0:0:9
		10:0:0:0:1:0:0:0:0:1
		3:0:0:-1:-1:8:-1:1:2
		3:0:0:2:-1:8:7:1:2
		3:0:0:-1:-1:8:-1:1:0
		10:1:0:0:1:0:0:0:0:1
		2:1:0:0:-1:8:7:1:0
		1:2:0:2
		2:2:0:0:-1:8:7:1:0
		2:2:0:0:-1:8:7:1:0
		10:2:0:0:1:0:0:0:0:1
	END
	lp-import -f dim t.dim >t.graph
	[ "$(messages)" = "$(printf '1:1 0:5\n2:0 0:3\n2:1 0:4')" ]
}

@test "a wildcard receive without a message is left to the replay, which names it" {
	printf '3:0:0:-1:-1:8:7:1:0\n1:1:0:3\n' | dim '2(1,1)' | lp-import -f dim >t.graph
	printf 'machine\nnodes 2\n' >machine
	run -2 --separate-stderr lp-replay -n machine -F json t.graph
	[[ "$stderr" == *'rank 0 is blocked in MPI_Recv'* ]]
}

@test "further threads are locations of their task, each with its own clock" {
	# Thread 1 of task 0 gets what is sent to it, thread 0 what is sent to none; 1 has three.
	dim '2(2,3)' >t.dim <<-'END'
		1:0:0:1
		3:0:0:1:-1:8:7:1:0
		1:0:1:4
		3:0:1:1:-1:8:7:1:0
		1:0:1:1
		10:0:1:0:1:0:0:0:0:1
		1:1:0:2
		2:1:0:0:1:8:7:1:0
		1:1:2:3
		2:1:2:0:0:8:7:1:0
		1:1:1:2
		10:1:1:0:1:0:0:0:0:1
	END
	lp-import -f dim t.dim >t.graph
	tests/trace.py check t.graph
	[ "$(lp-dump -k run t.graph | jq -c '[.ranks, .locations]')" = '[2,5]' ]
	[ "$(lp-dump -k location t.graph | jq -c '[.location, .rank, .thread]' | tr '\n' ' ')" = \
		'[2,0,1] [3,1,1] [4,1,2] ' ]
	[ "$(messages)" = "$(printf '1:0 2:0\n4:0 0:0')" ]
	[ "$(lp-dump -k collective t.graph | jq -c .members)" = '[[2,1],[3,0]]' ]
	[ "$(lp-dump -k rank t.graph | jq -c .rows | tr '\n' ' ')" = '3 3 ' ]
	printf 'machine\nnodes 2\ncpus 4\n' >machine
	[ "$(lp-replay -n machine -F json t.graph | jq -c .finish_ns)" = '[5000,5000]' ]
	echo '1:1:3:1' >>t.dim
	run -2 --separate-stderr bash -c 'lp-import -f dim t.dim | cat; exit ${PIPESTATUS[0]}'
	[[ "$stderr" == *'a thread that the first line does not tell' ]]
}

@test "damaged text is refused with its position" {
	printf '#DIMEMAS:"x":1,0:2(1,1),1\nd:1:1:2:0:1\n1:0:0:0.5\n2:0:0:7:-1:8:1:1:1\n' >bad.dim
	run -2 --separate-stderr lp-import -f dim bad.dim
	[ "$stderr" = "lp-import: bad.dim:48: a number is out of range" ]
	echo hello >bad.prv
	run -2 --separate-stderr lp-import -f prv bad.prv
	[ "$stderr" = "lp-import: bad.prv:0: not a Paraver trace: its first line lacks #Paraver" ]
	run -2 --separate-stderr lp-import -f tape bad.prv
	[ "$stderr" = "lp-import: --from: tape is no format" ]
}

@test "a cut trace, or one with foreign bytes, never counts as complete" {
	case=$fixtures/dimemas/16-two-nodes-two-cpus/trace.dim
	head -n -1 "$case" >cut.dim				# an offset is missing
	sed 's/^s:1:/s:1:9/' "$case" >offset.dim
	head -c -3 "$case" >half.dim
	sed '3s/$/ x/' "$case" >word.dim
	printf '#DIMEMAS:"x":1,0:1(1),0\n1:0:0:1.0\n\0\0\0garbage\n1:0:0:2.0\n' >zeros.dim
	printf '#DIMEMAS:"x":1,0:1(1),0\n20:0:0:50000001:-5000000000\n1:0:0:1.0\n' >negative.dim
	printf '#DIMEMAS:"x":1,0:9999999,0\n' >tasks.dim
	printf '#DIMEMAS:"x":1,0:2(1,1),0\nd:1:9999999:1:0\n' >communicator.dim
	for name in cut offset half word zeros negative tasks communicator; do
		run -2 --separate-stderr limited 100000 lp-import -f dim $name.dim
		[ -z "$output" ]
		[[ "$stderr" == "lp-import: $name.dim:"* ]]
	done
	prv=$fixtures/paraver/in.prv
	last=$(tail -1 "$prv" | cut -d: -f6)
	grep -v ":$last:" "$prv" >end.prv
	head -c -3 "$prv" >half.prv
	for name in end half; do
		run -2 --separate-stderr lp-import -f prv $name.prv
		[[ "$stderr" == "lp-import: $name.prv:"*"cut" ]]
	done
}

@test "sums of a Paraver trace that exceed 64 bits, and negative sizes, are refused" {
	most=9223372036854775807
	head='#Paraver (01/01/1970 at 00:00):100_ns:1(1):1:1(1:1),1\nc:1:1:1:1\n'
	call='2:1:1:1:1:30:50000002:10%s\n2:1:1:1:1:100:50000002:0\n'
	state='1:1:1:1:1:0:%s:1\n'
	printf "$head$state${state}2:1:1:1:1:20:42000050:$most\n$call" 10 10 '' >counters.prv
	printf "$head$state$state$call" $most $most '' >times.prv
	printf "$head$call" :50100001:-5:50100004:1 >size.prv
	printf "$head${state}2:1:1:1:1:20:42000050:$most\n$call" 10 :50100001:5:50100004:1 >good.prv
	for name in counters times size; do
		run -2 --separate-stderr lp-import -f prv $name.prv
		[ -z "$output" ]
		[[ "$stderr" == "lp-import: $name.prv:"[0-9]*": the $name of a "* ]]
	done
	lp-import -f prv good.prv | lp-dump -k useful | jq -e ".instructions == [$most]"
}

# ring RANKS ROUNDS SOURCE: a Dimemas trace in which each sends to the next one.
ring() {
	/usr/bin/python3 - "$@" <<-'END'
		import sys
		ranks, rounds, source = map(int, sys.argv[1:])
		write = sys.stdout.write
		write('#DIMEMAS:"t":1,0:%d(%s),1\n' % (ranks, ",".join(["1"] * ranks)))
		write("d:1:1:%d:%s\n" % (ranks, ":".join(map(str, range(ranks)))))
		for r in range(ranks):
		    other = source if source < 0 else (r - 1) % ranks
		    for i in range(rounds):
		        write("3:%d:0:%d:-1:8:7:1:1\n1:%d:0:0.00001\n" % (r, other, r))
		        write("2:%d:0:%d:-1:8:7:1:2\n3:%d:0:%d:-1:8:7:1:2\n" % (r, (r + 1) % ranks, r, other))
		        if i % 10 == 9:
		            write("10:%d:0:11:1:0:0:8:8:1\n" % r)
	END
}

@test "a Dimemas trace is read in bounded memory, and matched like a short one" {
	# 270 000 messages: held whole they would take 90 MB.
	for source in 0 -1; do
		ring 9 30000 $source >t.dim
		limited 60000 lp-import -f dim t.dim >t.graph
		tests/trace.py check t.graph
		lp-dump -k matching t.graph | jq -e '.messages == 270000 and .collectives == 3000 and
			.unmatched_sends + .unmatched_receives + .unmatched_collectives == 0'
		# The k-th message of a rank goes from its k-th send to its k-th wait.
		PYTHONPATH=$ROOT/python /usr/bin/python3 - <<-'END'
			import longpole
			seen = 0
			for message in longpole.open("t.graph"):
			    if message.kind != "messages": continue
			    for a, s, b, r in zip(*(message.column(c) for c in ("source", "send", "target", "receive"))):
			        s, r = int(s), int(r)
			        assert int(b) == (int(a) + 1) % 9 and r == s + 1 and s % 31 % 3 == 1, (a, s, b, r)
			        seen += 1
			assert seen == 270000
		END
	done
}

@test "a Paraver trace is read in bounded memory and linear time" {
	# Receives that are posted stay open to the end: 200 000 of them, each call once a message of its own.
	/usr/bin/python3 - >t.prv <<-'END'
		n = 200000
		print("#Paraver (01/01/01 at 01:01):%d_ns:1(1):1:2(1:1,1:1),1\nc:1:1:2:1:2" % (3 * n + 10))
		for i in range(n):
		    print("2:1:1:2:1:%d:50000001:4\n2:1:1:1:1:%d:50000001:1\n3:1:1:1:1:%d:%d:1:1:2:1:%d:%d:8:1" %
		        (3 * i, 3 * i, 3 * i, 3 * i, 3 * i, 3 * i if i % 2 else 3 * n))
		    print("2:1:1:2:1:%d:50000001:%d\n2:1:1:1:1:%d:50000001:0\n2:1:1:2:1:%d:50000001:0" %
		        (3 * i + 1, 5, 3 * i + 1, 3 * i + 2))
		print("2:1:1:2:1:%d:50000001:5\n2:1:1:2:1:%d:50000001:0" % (3 * n, 3 * n + 10))
	END
	limited 100000 within 60 lp-import -f prv t.prv >t.graph
	lp-dump -k matching t.graph | jq -e '.messages == 200000 and .unmatched_sends + .unmatched_receives == 0'
	sed -n '1,2p;9,$p' t.prv | sed '4s/:50000001:1$/&/' >o.prv
	echo '2:1:1:2:1:7:50000001:4' >>o.prv
	run -2 --separate-stderr lp-import -f prv o.prv
	[[ "$stderr" == *'the records of a task are not in order of time' ]]
}

@test "a few compressed bytes of valid lines take no memory" {
	/usr/bin/python3 - <<-'END'
		import gzip
		head = '#DIMEMAS:"t":1,0:2(1,1),1\nd:1:1:2:0:1\n'
		line = {"send": "2:0:0:1:-1:8:1:1:1\n", "post": "3:0:0:1:-1:8:1:1:1\n", "burst": "1:0:0:0.00001\n",
		    "start": "10:0:0:0:1:0:0:0:0:0\n", "event": "20:0:0:7:1\n", "communicator": "d:1:2:2:0:1\n",
		    "never": "2:1:0:0:-1:8:1:2:1\n", "call": "3:0:0:1:-1:8:1:1:1\n"}
		for name, text in line.items():
		    with gzip.open(name + ".dim.gz", "wt", compresslevel=1) as f:
		        first = {"call": "20:0:0:50000001:3\n", "never": "3:0:0:-1:-1:8:1:1:0\n"}
		        f.write(head + first.get(name, "") + text * 400000)
		head = "#Paraver (01/01/01 at 01:01):9_ns:1(1):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
		line = {"message": "3:1:1:1:1:5:5:1:1:2:1:5:5:8:1\n", "calls": "2:1:1:1:1:5:50000001:1\n"}
		for name, text in line.items():
		    with gzip.open(name + ".prv.gz", "wt", compresslevel=1) as f:
		        f.write(head + text * 400000 + "1:1:1:1:1:0:9:3\n")
	END
	for file in *.gz; do
		format=${file%.gz}
		status=0
		limited 64000 lp-import -f "${format##*.}" "$file" >t.graph 2>err || status=$?
		case $status in
		0) [ "$(tail -c 4 t.graph | wc -c)" = 4 ] ;;
		2) [[ "$(<err)" =~ 'nobody waits for'$|'at a time'$|'too many communicators'$ ]] ;;
		*) false ;;
		esac
		[[ "$(<err)" != *memory* ]]
	done
	# The same text as it is has the bytes for what is open.
	zcat post.dim.gz | head -100000 >post.dim
	limited 200000 lp-import -f dim post.dim | lp-dump -k matching | jq -e '.unmatched_receives == 99998'
	head -c 1000 send.dim.gz >cut.dim.gz
	run -2 --separate-stderr bash -c 'lp-import -f dim cut.dim.gz | cat; exit ${PIPESTATUS[0]}'
	[[ "$stderr" == *'the compressed text is cut' ]]
	(cat send.dim.gz; echo x) >more.dim.gz
	run -2 --separate-stderr bash -c 'lp-import -f dim more.dim.gz | cat; exit ${PIPESTATUS[0]}'
	[[ "$stderr" == *'something follows the compressed text' ]]
}

@test "a failed export leaves the previous files, and none that look complete" {
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	lp-export -f prv -o b a.graph
	cp b.prv before
	rm b.row
	mkdir -p b.row/inside
	run -2 lp-export -f prv -o b <(lp-replay a.graph)
	cmp b.prv before
	rm -r b.row
	lp-export -f prv -o b <(lp-replay a.graph)
	refute cmp -s b.prv before
}

@test "lp-export takes time proportional to ranks" {
	# Each is on a host of its own.
	/usr/bin/python3 - <<-'END' >many.graph
		import sys
		sys.path.insert(0, "tests")
		import trace
		n = 100000
		out = trace.Writer(sys.stdout.buffer, "graph")
		out.put("run", {"ranks": n, "locations": n, "run_ns": 10})
		for rank in range(n):
		    out.put("rank", {"rank": rank, "rows": 0, "host": "host%d" % rank})
		out.end()
	END
	within 20 lp-export -f prv -o many many.graph
	[ "$(grep -c ^THREAD many.row)" = 100000 ]
}

@test "a full disk is an error" {
	[ -e /dev/full ] || skip
	run -2 bash -c 'lp-import -f prv "$1" >/dev/full' - "$fixtures/paraver/in.prv"
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	run -2 bash -c 'trap "" XFSZ; ulimit -f 1; exec lp-export -f prv -o b a.graph'
	for name in b.prv b.pcf b.row; do
		[ ! -e $name ]
	done
}

@test "a planted network is found again, and the other workflows run" {
	case=$fixtures/dimemas
	for c in 01-latency-bandwidth-pingpong 11-full-duplex-exchange; do
		lp-import -f dim "$case/$c/trace.dim" | lp-replay -n "$case/$c/cfg" >$c.graph
	done
	# Times as measured: what the simulated traces say, which the fit does not see otherwise.
	make -s -f "$ROOT/workflows/network.mk" GRAPHS="$(echo ./*.graph)" OUT=net SECONDS_="0.022079531 0.01101" \
		LATENCY_US="1 10 100" MB_S="10.48576 104.8576" EAGER=33554432 BUSES=0 LINKS="0 1" FINE="0.5 1 2" >fit
	grep -qx 'latency	10 us' fit
	grep -Pqx 'bandwidth\t104\.85.* MB/s' fit
	awk -F'\t' '$1 == "error" { ok = $2 + 0 < 1 } END { exit !ok }' fit
	grep -q '<svg' net/region.svg
	grep -q '<svg' net/buses.svg
	make -s -f "$ROOT/workflows/efficiency.mk" RUNS="$fixtures/paraver/in.prv" OUT=factors >table
	grep -q '^Transfer efficiency;' table
	lp-import -f prv "$fixtures/paraver/in.prv" >t.graph
	make -s -f "$ROOT/workflows/monitor.mk" GRAPH=t.graph OUT=mon >table
	grep -q '<svg' mon/monitor.svg
	# On white, whatever the viewer has; in other formats without measuring anew.
	grep -q 'fill="#ffffff"' mon/monitor.svg
	touch -d '1 hour ago' mon/*.tsv mon/timeline.csv mon/asked
	make -s -f "$ROOT/workflows/monitor.mk" GRAPH=t.graph OUT=mon FIGURES='png pdf' >table
	[ -z "$(find mon -name '*.tsv' -newer mon/monitor.svg)" ]
	[ "$(head -c 5 mon/monitor.pdf)" = %PDF- ]
	[ "$(head -c 4 mon/monitor.png | tail -c 3)" = PNG ]
	run -2 --separate-stderr make -s -f "$ROOT/workflows/monitor.mk" GRAPH=t.graph OUT=mon FIGURES='svg gif'
	[[ "$stderr" == *"FIGURES are svg, pdf or png, not gif"* ]]
	make -s -f "$ROOT/workflows/monitor.mk" OUT=mon clean
	[ ! -e mon ]
	make -s -f "$ROOT/workflows/whatif.mk" GRAPH=t.graph OUT=whatif NETWORK="$fixtures/paraver/cfg" >table
	[ "$(head -1 table)" = 'gain_%	gain_s	shorter_%	what	baseline_s	predicted_s' ]
	[ "$(wc -l <table)" -gt 3 ]
}
