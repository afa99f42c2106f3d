#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lp-export to formats that other programs read: each is read here by a reader that is not longpole's.

load helpers

# A late sender of 400 ns, a rank that is 500 ns late to a barrier, on stacks of two frames.
example() {
	cat >text <<-'END'
		trace ranks=3
		module module=0 path=/opt/app
		site site=1 offset=16 module=0 function=main file=src/app.c line=10
		site site=2 offset=32 module=0 function="a;b \xff" file=src/app.c line=20
		site site=3 stack=2,1
		0 MPI_Init 0 100 site=1
		1 MPI_Init 0 100 site=1
		2 MPI_Init 0 100 site=1
		1 MPI_Recv 200 620 comm=1 peer=0 tag=5 received=8 site=3
		0 MPI_Send 600 610 comm=1 peer=1 tag=5 sent=8 site=3
		0 MPI_Barrier 700 1310 comm=1 site=1
		1 MPI_Barrier 700 1310 comm=1 site=1
		2 MPI_Barrier 1200 1310 comm=1 site=1
		0 MPI_Finalize 1400 1500
		1 MPI_Finalize 1400 1500
		2 MPI_Finalize 1400 1500
	END
	pack text | lp-graph 2>/dev/null >t.graph
	lp-critpath t.graph >t.path
}

# Slices by track, names resolved, from what protoc has decoded.
decode() {
	protoc --proto_path="$ROOT/tests" --decode=Trace "$ROOT/tests/perfetto.proto" |
		/usr/bin/python3 -c '
import json, re, sys
def parse(lines):
    out = {}
    for line in lines:
        word = line.strip()
        if word == "}":
            return out
        if word.endswith("{"):
            out.setdefault(word[:-2], []).append(parse(lines))
        else:
            key, value = word.split(": ", 1)
            out.setdefault(key, []).append(json.loads(value) if re.match(r"^[-\d.]", value) else value.strip("\""))
    return out
trace = parse(iter(sys.stdin.read().split("\n")[:-1] + ["}"]))
names, notes, strings, tracks, stacks = {}, {}, {}, {}, {}
for packet in trace["packet"]:
    for interned in packet.get("interned_data", []):
        for kind, table in (("event_names", names), ("debug_annotation_names", notes),
                            ("debug_annotation_string_values", strings)):
            for one in interned.get(kind, []):
                assert one["iid"][0] > 0
                table[one["iid"][0]] = one["str"][0]
    for track in packet.get("track_descriptor", []):
        name = track.get("name") or track.get("process", [{}])[0].get("process_name") or \
            track["thread"][0]["thread_name"]
        tracks[track["uuid"][0]] = [name[0], track.get("thread", [{}])[0].get("pid", [0])[0] or
                                    tracks.get(track.get("parent_uuid", [0])[0], ["", 0])[1] or
                                    track.get("process", [{}])[0].get("pid", [0])[0]]
    for event in packet.get("track_event", []):
        at, track = packet["timestamp"][0], tracks[event["track_uuid"][0]]
        stack = stacks.setdefault(event["track_uuid"][0], [])
        if event["type"][0] == "SLICE_BEGIN":
            assert not stack or track[0].startswith("regions"), "a slice within a slice"
            stack.append((at, event))
        elif event["type"][0] == "SLICE_END":
            begin, first = stack.pop()
            told = {notes[n["name_iid"][0]]: strings[n["string_value_iid"][0]] if "string_value_iid" in n
                    else (n.get("int_value") or n.get("uint_value"))[0]
                    for n in first.get("debug_annotations", [])}
            print(track[0], track[1] - 1, names[first["name_iid"][0]], begin, at, json.dumps(told, sort_keys=True),
                  first.get("flow_ids", ""), first.get("terminating_flow_ids", ""), sep="|")
        else:
            print("counter", at, event["double_counter_value"][0], sep="|")
assert not any(stacks.values()), "a slice does not end"'
}

@test "perfetto: calls, flows, waits and the path, as protoc decodes them" {
	command -v protoc || skip "no protoc"
	example
	lp-export -f perfetto t.path | decode >slices
	grep -Fx 'MPI|1|MPI_Recv|200|620|{"bytes received": 8, "communicator": 1, "peer": 0, "site": "a;b \\\\xff (app.c:20) < main (app.c:10)", "tag": 5}||[1]' slices
	grep -q '^MPI|0|MPI_Send|600|610|.*|\[1\]|$' slices
	grep -Fx 'waits|1|late_sender|200|600|{"waits for rank": 0}||' slices
	grep -Fx 'waits|0|wait_at_barrier|700|1200|{"waits for rank": 2}||' slices
	[ "$(grep -c '^waits|' slices)" -eq 3 ]
	[ "$(grep -c '^MPI|' slices)" -eq 11 ]
	# The path covers the run without a gap.
	grep '^critical path|' slices | sort -t'|' -k4n | awk -F'|' 'NR > 1 && $4 != end { exit 1 } { end = $5 } END { exit end < 1300 }'
	# 100 % compute where all are between calls, 0 % where none is.
	grep '^counter|' slices | awk -F'|' '$2 > 110 && $2 < 190 && $3 < 99.9 { exit 1 } $2 > 1210 && $2 < 1300 && $3 > 0.1 { exit 1 }'
}

@test "perfetto: waits are those of lp-imbalance, and each message is a flow, in random runs" {
	command -v protoc || skip "no protoc"
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		random_run.py make $seed more | lp-graph 2>/dev/null >t.graph
		lp-export -f perfetto t.graph | decode >slices
		sed -n 's/^waits|\([0-9]*\)|\([^|]*\)|\([0-9]*\)|\([0-9]*\)|{\("waits for rank": \)\?\([0-9]*\)}||$/\1,\2,\3,\4,\6/p' slices | sort >seen
		lp-export -f waits t.graph | tail -n +2 | cut -d, -f1,4-7 | sed 's/,-1$/,/' | sort >waits
		cmp seen waits
		# Each flow leads from the call that sent to the one that received.
		awk -F'|' '$1 ~ /^MPI/ { n = split($7, ids, "[^0-9]+"); for (i = 1; i <= n; i++) if (ids[i] != "") from[ids[i]] = $2 " " $4
			n = split($8, ids, "[^0-9]+"); for (i = 1; i <= n; i++) if (ids[i] != "") to[ids[i]] = $2 " " $4 }
			END { for (id in from) print from[id], to[id] }' slices | sort >flows
		lp-export -f csv t.graph | cut -d, -f1,3,6 >rows
		lp-dump -k message t.graph | jq -r '[.source, .send, .target, .receive] | join(",")' |
			awk -F, 'NR == FNR { at[$1, $2] = $3; next } { print $1, at[$1, $2], $3, at[$3, $4] }' rows - | sort >messages
		cmp flows messages
	done
	[ "$(cut -d, -f2 waits | sort -u | wc -l)" -ge 4 ]
}

@test "perfetto: the time of a thread off its core is a track of its rank" {
	command -v protoc || skip "no protoc"
	pack >t.graph <<-END
		graph
		run ranks=2 locations=2 run_ns=1000
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		switched location=1 from_ns=50 until_ns=900 time=200,300,400 duration=50,60,70 reason=0,1,2
		switched location=1 worker=1 from_ns=50 until_ns=900 time=200 duration=50 reason=0
		0 MPI_Finalize 800 900
		1 MPI_Finalize 800 900
	END
	lp-export -f perfetto t.graph | decode >slices
	grep '^off the core|' slices | cut -d'|' -f1-5 >off
	diff off - <<-END
		off the core|1|blocked|200|250
		off the core|1|preempted|300|360
		off the core|1|not known|400|470
	END
}

@test "perfetto: regions are slices of their thread, cut to the times asked for" {
	command -v protoc || skip "no protoc"
	pack >t.graph <<-END
		graph
		run ranks=2 locations=2 run_ns=1000
		region_name number=1 name="a step"
		region_name number=2 name=part
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		regions location=1 time=150,200,300,400,500,600 region=1,2,0,2,0,0
		regions location=1 worker=4 time=250,700 region=2,0
		0 MPI_Finalize 800 900
		1 MPI_Finalize 800 900
	END
	lp-export -f perfetto t.graph | decode | grep '^regions' | cut -d'|' -f1-5 >slices
	diff slices - <<-END
		regions|1|part|200|300
		regions|1|part|400|500
		regions|1|a step|150|600
		regions of a thread without calls|1|part|250|700
	END
	lp-export -f perfetto --from 0.00000025 --to 0.00000045 t.graph | decode | grep '^regions' | cut -d'|' -f1-5 >slices
	diff slices - <<-END
		regions|1|part|250|300
		regions|1|part|400|450
		regions|1|a step|250|450
		regions of a thread without calls|1|part|250|450
	END
}

@test "perfetto: windows of time and ranks, from a pipe; an empty selection is refused" {
	command -v protoc || skip "no protoc"
	example
	cat t.graph | lp-export -f perfetto --from 0.00000065 --to 0.000001350 --ranks 1-2 | decode >slices
	[ "$(grep -c '^MPI|' slices)" -eq 2 ]
	run -1 grep '^MPI|0' slices
	run -2 --separate-stderr lp-export -f perfetto --ranks 7 t.graph
	[ "$stderr" = "lp-export: nothing has the ranks and times asked for" ]
}

@test "folded: the nanoseconds of the path, by frames" {
	example
	sed 's/^1 MPI_Barrier 700/1 MPI_Barrier 1200/; s/^2 MPI_Barrier 1200/2 MPI_Barrier 700/' text | pack |
		lp-graph 2>/dev/null | lp-critpath | lp-export -f folded >folded
	awk '{ sum += $NF } END { exit sum != 1500 }' folded
	grep -q '^main (app.c:10);a:b \\xff (app.c:20);computation 500$' folded
	run -2 --separate-stderr lp-export -f folded t.graph
	[[ "$stderr" == *"a graph; lp-critpath finds its path" ]]
}

@test "speedscope: frames and weights are consistent, and are the path" {
	example
	lp-export -f speedscope -o path.json t.path
	jq -e '.profiles[0] as $p | .shared.frames as $f |
		($p.samples | length) == ($p.weights | length) and ($p.weights | add) == $p.endValue - $p.startValue
		and ([$p.samples[][]] | max) < ($f | length)
		and ([$p.samples[][] | $f[.].name] | index("computation") != null)' path.json
	[ ! -e path.json.part ]
}

@test "extrap: the mean of a rank, by call path and run" {
	example
	lp-export -f extrap t.graph t.graph >lines
	[ "$(jq -s length lines)" -eq 60 ]
	# All waits of the run, as lp-imbalance adds them up; twice here.
	jq -s -e --argjson all "$(lp-imbalance -F json t.graph | jq '[.wait_states[].wait_s] | add')" \
		'[.[] | select(.metric == "waits") | .value[0]] | add * 3 / 2 - $all | fabs < 1e-15' lines
	jq -s -e 'any((.callpath | endswith("->MPI_Recv")) and .metric == "waits" and (.value[0] - 4e-7 / 3 | fabs) < 1e-15)' lines
	# A trace has no edges to tell waits by.
	pack text | lp-export -f extrap | jq -s -e 'length == 25 and all(.metric != "waits")'
}

@test "csv: rows read by Python equal those of lp-dump" {
	example
	lp-export -f csv t.graph | /usr/bin/python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["rank"], row["call"], row["enter_ns"], row["leave_ns"], row["tag"], row["bytes_received"])' >1
	lp-dump -k call t.graph | jq -r '[.rank, .call, .enter_ns, .leave_ns, (.tag // -2), (.bytes_received // 0)] | map(tostring) | join(" ")' >2
	cmp <(sort 1) <(sort 2)
}

@test "a failed export leaves no file under the final name" {
	example
	head -c 900 t.path >cut
	run -2 lp-export -f csv -o out.csv cut
	[ ! -e out.csv ]
}

@test "prv: callers of each call by level, and the path as events that begin and end" {
	example
	lp-export -f prv -o out t.path
	# MPI_Recv of rank 1, called from place 2, that from place 1; values are sites and 2.
	grep -qx '2:2:1:2:1:200:50000001:2:70000001:4:80000001:4:70000002:3:80000002:3' out.prv
	grep -qx '4      20 (src/app.c)' out.pcf
	grep -qx '3      main' out.pcf
	grep -qx '0    70000002    Caller at level 2' out.pcf
	# Of each piece of the path begin and end, on its rank.
	lp-dump -k segment t.path | jq -r 'select(.end_ns > .begin_ns) |
		"\(.rank + 1) \(.begin_ns) b", "\(.rank + 1) \(.end_ns) e"' | sort >pieces
	sed -n 's/^2:[0-9]*:1:\([0-9]*\):1:\([0-9]*\):59000001:\(.*\)$/\1 \2 \3/p' out.prv |
		sed 's/ 0$/ e/; t; s/ [1-4]$/ b/' | sort | cmp - pieces
	grep '^[123]:' out.prv | cut -d: -f6 | sort -nc
	# They come back as sites.
	lp-import -f prv out.prv >back.graph
	trace.py check back.graph
	for graph in t.graph back.graph; do
		lp-critpath $graph | lp-export -f folded | sed 's/a:b .xff/a:b/; s/(src.app/(app/' >$graph.folded
	done
	cut -d' ' -f1-4 t.graph.folded >1
	cut -d' ' -f1-4 back.graph.folded | cmp - 1
	# Without names the numbers are left.
	rm out.pcf
	lp-import -f prv out.prv | lp-dump -k site | jq -s -e 'map(select(.stack == null)) |
		map(.offset) == [3, 4] and all(has("function") | not)'
}

@test "prv: several applications are refused, with their names if known" {
	printf '%s\n' '#Paraver (01/01/1970 at 00:00):10_ns:1(2):2:1(1:1):1(1:1)' 1:1:1:1:1:0:10:1 >two.prv
	run -2 --separate-stderr lp-import -f prv two.prv
	[[ "$stderr" == "lp-import: two.prv:0: 2 applications, which are not read" ]]
	printf 'LEVEL CPU SIZE 1\n1.a\n\nLEVEL APPL SIZE 2\nocean\nice\n' >two.row
	run -2 --separate-stderr lp-import -f prv two.prv
	[[ "$stderr" == "lp-import: two.prv:0: 2 applications, which are not read: ocean, ice" ]]
}

@test "prv: memory does not grow with the trace" {
	make -s -C "$ROOT" build/bench/synthetic
	"$ROOT/build/bench/synthetic" -r 4 -c 400000 | lp-merge | lp-graph 2>/dev/null >t.graph
	limited 40000 lp-export -f prv -o out t.graph
	[ "$(grep -c . out.prv)" -gt 1000000 ]
}
