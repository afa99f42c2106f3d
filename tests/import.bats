# SPDX-License-Identifier: BSD-3-Clause
# lp-import and lp-export.
bats_require_minimum_version 1.5.0
load helpers

calls() {
	lp-dump "$1" | jq -rc 'select(.kind == "call") | "\(.rank) \(.call) \(.enter_ns) \(.leave_ns)"'
}

@test "a Dimemas trace becomes calls without length, matched" {
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

@test "text in gzip form and from standard input is read the same" {
	case=$fixtures/dimemas/23-ring-rendezvous
	lp-import -f dim "$case/trace.dim" | lp-dump | tail -n +2 >plain
	gzip -c "$case/trace.dim" >t.gz
	lp-import -f dim t.gz | lp-dump | tail -n +2 | cmp - plain
	lp-import -f dim <t.gz | lp-dump | tail -n +2 | cmp - plain
}

@test "a Paraver trace, written again and read again, stays the same" {
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

@test "a Paraver trace replays as its conversion by prv2dim does in Dimemas" {
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	[ "$(lp-replay -n "$fixtures/paraver/cfg" -F json a.graph | jq -c .finish_ns)" = '[160294,160294]' ]
	lp-import -f dim "$fixtures/paraver/out.dim" >b.graph
	[ "$(lp-replay -n "$fixtures/paraver/cfg" -F json b.graph | jq -c .finish_ns)" = '[160294,160294]' ]
}

@test "damaged text is refused with its place" {
	printf '#DIMEMAS:"x":1,0:2(1,1),1\nd:1:1:2:0:1\n1:0:0:0.5\n2:0:0:7:-1:8:1:1:1\n' >bad.dim
	run -2 --separate-stderr lp-import -f dim bad.dim
	[ "$stderr" = "lp-import: bad.dim:48: a number is out of range" ]
	echo hello >bad.prv
	run -2 --separate-stderr lp-import -f prv bad.prv
	[ "$stderr" = "lp-import: bad.prv:0: no Paraver trace: its first line begins with #Paraver" ]
	run -2 --separate-stderr lp-import -f tape bad.prv
	[ "$stderr" = "lp-import: --from: tape is no format" ]
}

@test "a full disk is trouble" {
	[ -e /dev/full ] || skip
	run -2 bash -c 'lp-import -f prv "$1" >/dev/full' - "$fixtures/paraver/in.prv"
	ln -s /dev/full b.prv
	lp-import -f prv "$fixtures/paraver/in.prv" >a.graph
	run -2 lp-export -f prv -o b a.graph
}

@test "a network that was planted is found again, and the other workflows run" {
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
	make -s -f "$ROOT/workflows/whatif.mk" GRAPH=t.graph OUT=whatif NETWORK="$fixtures/paraver/cfg" >table
	[ "$(head -1 table)" = 'gain_%	gain_s	shorter_%	what' ]
	[ "$(wc -l <table)" -gt 3 ]
}
