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
	sort -c -t: -k6,6n <(grep '^[123]:' b.prv)
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
