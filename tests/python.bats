#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The Python module longpole, as it is installed: what a stage of one's own needs.

load helpers

export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1

py() {
	/usr/bin/python3 -c "$@"
}

@test "columns are views of the file, in its width" {
	py 'import longpole, sys
with longpole.open(sys.argv[1]) as stream:
    blocks = [m for m in stream if m.kind == "calls"]
for block in blocks:
    duration = block.column("duration")
    assert duration.base is not None and not duration.flags.owndata and not duration.flags.writeable
    assert len(duration) == block.body["count"]
assert sum(m.body["count"] for m in blocks) > 0' "$(stream good-threads)"
}

@test "each column of a message in the page is a column of the reader, of the same sign" {
	py 'import re, sys
from longpole.stream import SIGNED, SIZES
from longpole.tables import CALL_COLUMNS, EDGE_COLUMNS
kind, seen = None, 0
for line in open(sys.argv[1]):
    if line.startswith(".Ss "):
        kind = line.split()[1]
    columns = re.match(r"\.It (.*?) Ta ([ui]) Ta", line)
    if kind not in ("calls", *EDGE_COLUMNS) or not columns:
        continue
    for name in columns[1].split(" , "):
        known = (CALL_COLUMNS if kind == "calls" else EDGE_COLUMNS[kind]).get(name)
        signed = SIGNED.get(name, False) if known is None and name in SIZES else known[0]
        assert signed == (columns[2] == "i"), (kind, name)
        seen += 1
assert seen > 40, seen' "$ROOT/base/stream/trace.5"
}

@test "files, pipes and compressed streams give the checker's columns" {
	tests/random_run.py make 3 >t.trace
	lp-graph t.trace >t.graph 2>/dev/null
	for file in t.trace t.graph "$(stream good-raw)" "$(stream good-calls)"; do
		cat "$file" | py 'import longpole, longpole.check, sys
keys = ["enter", "duration", "call", "peer", "request", "site"]
file = longpole.columns(sys.argv[1], "calls", keys)
pipe = longpole.columns("-", "calls", keys)
messages = [m for m in longpole.check.read(open(sys.argv[1], "rb")) if m.kind == "calls"]
for key in keys:
    other = [int(v) for m in messages for v in m.columns()[key]]
    assert file[key].tolist() == pipe[key].tolist() == other, key' "$file"
	done
}

@test "gaps become enter times" {
	py 'import io, longpole, longpole.check as c, msgpack, zstandard
out = io.BytesIO()
inner = c.Writer(io.BytesIO(), "trace", header=False)
bin = c.column_bytes
inner.put("calls", {"location": 0, "first": 0, "count": 4, "gap": bin([5, 0, 7, 1], True),
    "duration": bin([10, 10, 20, 2], False), "call": bin([1, 0, 1, 1], False)})
w = longpole.Writer(out, "trace")
w.put("call", {"number": 1, "name": "MPI_Wait"})
held = inner.out.getvalue()
w.put("zstd", {"bytes": len(held), "data": zstandard.ZstdCompressor().compress(held)})
w.rows = 4
w.end()
assert longpole.columns(out.getvalue(), "calls", ["enter"])["enter"].tolist() == [5, 5, 22, 43]'
}

# apart PLANES(python): a trace whose gaps lie apart, byte by byte, and which tells PLANES of it
apart() {
	py 'import longpole.check as c, longpole, io, numpy, struct, sys, zstandard
gaps = numpy.array([5, 70000, 0, 300000], "<i4")
inner = c.Writer(io.BytesIO(), "trace", header=False)
inner.put("calls", {"location": 0, "first": 0, "count": 4, "gap": gaps.tobytes(),
    "duration": b"\x0a\x14\x14\x02", "call": bytes([1, 1, 0, 1])})
held = inner.out.getvalue()
at = held.index(gaps.tobytes())
stated = eval(sys.argv[1])
held = held.replace(gaps.tobytes(), gaps.view(numpy.uint8).reshape(4, 4).T.tobytes())
w = longpole.Writer(sys.stdout.buffer, "trace", [])
w.put("run", {"ranks": 1, "locations": 1, "origin_ns": 0, "run_ns": 370037, "sync": "none"})
w.put("call", {"number": 1, "name": "MPI_Wait"})
w.put("zstd", {"bytes": len(held), "planes": b"".join(struct.pack("<III", *s) for s in stated),
    "data": zstandard.ZstdCompressor().compress(held)})
w.rows = 4
w.end()' "$1"
}

@test "separated bytes of integers are joined by each reader, and refused beyond the message" {
	apart '[(at, 4, 4)]' >t.trace
	[ "$(lp-dump -k call t.trace | jq -c '[.enter_ns, .leave_ns]' | tr '\n' ' ')" = '[5,15] [70015,70035] [370035,370037] ' ]
	py 'import longpole, sys
assert longpole.columns(sys.argv[1], "calls", ["enter"])["enter"].tolist() == [5, 70015, 70015, 370035]' t.trace
	trace.py check t.trace
	for wrong in '[]' '[(at, 4, 1)]' '[(at, 4, 9)]' '[(len(held) - 15, 4, 4)]' '[(1 << 31, 4, 4)]' \
	    '[(at, 1 << 31, 2)]' '[(at, 2, 4), (at, 2, 4)]' '[(at + i, 0, 2) for i in range(17)]' '[(at + 1, 4, 4)]'; do
		apart "$wrong" >bad.trace
		run -2 --separate-stderr lp-dump bad.trace
		[[ "$stderr" =~ ^lp-dump:\ bad.trace:[0-9]+:\  ]]
		run ! trace.py check bad.trace
	done
}

@test "a stage that passes all on and adds a message makes a valid stream for every tool" {
	cat >stage.py <<-'END'
		import longpole, sys
		with longpole.open("-") as stream:
		    writer = longpole.Writer(sys.stdout.buffer, stream.header["content"],
		                             stream.header["history"] + ["stage.py"])
		    for message in stream:
		        longpole.pass_on(writer, message)
		    writer.put("remark", {"text": "seen"})
		    writer.end()
	END
	lp-graph "$(stream good-threads)" 2>/dev/null >t.graph
	/usr/bin/python3 stage.py <t.graph >t2.graph
	trace.py check t2.graph
	lp-critpath t.graph | lp-dump -F table >1
	lp-critpath t2.graph | lp-dump -F table >2
	cmp 1 2
	lp-dump -k remark t2.graph | jq -e '.text == "seen"'
}

@test "calls, messages, collectives and path become data frames" {
	tests/random_run.py make 3 | lp-graph 2>/dev/null | lp-critpath >t.path
	py 'import longpole
f = longpole.frames("t.path")
assert set(f) >= {"calls", "messages", "path"}, set(f)
assert (f["calls"].groupby("location").seq.diff().dropna() == 1).all()
assert "MPI_Recv" in set(f["calls"].call)
path = f["path"]
assert (path.begin.iloc[1:].values == path.end.iloc[:-1].values).all()'
}

@test "every bad fixture that is damaged in its frame is refused" {
	for name in bad-{hash,no-end,no-header,version,nested,end-rows,huge-bin,huge-string,text,trailing}; do stream $name; done
	for at in $(seq 0 37 700); do
		head -c "$at" "$(stream good-threads)" >"bad-cut.$at"
	done
	py 'import longpole, sys
for name in sys.argv[1:]:
    try:
        for message in longpole.open(name): pass
    except longpole.Damaged: continue
    sys.exit(f"{name}: accepted")
assert len(sys.argv) == 30, sys.argv' bad-*
}

@test "analyses do not need sync, settled, matching, index and ranks" {
	cat >strip.py <<-'END'
		import longpole, sys
		with longpole.open("-") as stream:
		    writer = longpole.Writer(sys.stdout.buffer, stream.header["content"], stream.header["history"])
		    for message in stream:
		        if message.kind not in sys.argv[1:]:
		            longpole.pass_on(writer, message)
		    writer.end()
	END
	tests/random_run.py make 3 | lp-graph 2>/dev/null >t.graph
	/usr/bin/python3 strip.py sync settled matching index rank <t.graph >bare.graph
	[ "$(lp-dump -k sync t.graph | wc -l)" -gt 1 ]
	for tool in lp-critpath lp-imbalance lp-replay; do
		$tool -F json t.graph >1
		$tool -F json bare.graph >2
		cmp 1 2
	done
}

@test "waits equal lp-imbalance's, and ranks not asked for are left out" {
	tests/random_run.py make 5 more | lp-graph 2>/dev/null >t.graph
	lp-imbalance -F json t.graph >json
	py 'import json, longpole
waits = longpole.waits("t.graph")
told = {}
for state in json.load(open("json"))["wait_states"]:
    name = "late_sender" if "wrong_order" in state["name"] else state["name"]
    told[name] = told.get(name, 0) + state["wait_s"]
seen = waits.groupby("state", observed=True).wait_ns.sum()
assert len(waits) > 10 and all(abs(told.get(n, 0) - seen.get(n, 0) / 1e9) < 1e-12 for n in {*told, *seen.index})
assert (longpole.waits("t.graph", ranks="1")["rank"] == 1).all()
try:
    longpole.waits("json")
except ValueError as error:
    assert str(error) == "lp-export: json:0: not a longpole stream", error'
}

@test "the notebook of the documentation runs, block by block, and says where ranks wait" {
	tests/random_run.py make 6 more | lp-graph 2>/dev/null >run.graph
	lp-critpath run.graph >run.path
	sed -n '/^```python/,/^```$/{/^```/!p}' "$ROOT/doc/notebook.md" >notebook.py
	py "$(cat notebook.py)" >said
	[ "$(grep -c . notebook.py)" -gt 15 ]
	grep -q 'waits_for' said
	grep -q 'late_sender' said
	grep -q 'others_wait_ns' said
	grep -q 'seconds in MPI, all ranks together' said
}

@test "a folder of shards equals its stream, and one that lacks a shard is refused" {
	tests/random_run.py make 14 more >t.trace
	tests/cut_trace.py t.trace cut 3
	lp-graph --round 9 -o graph cut 2>/dev/null
	lp-graph t.trace >t.graph 2>/dev/null
	py 'import longpole, longpole.check, sys
trace, cut, one, graph = sys.argv[1:]
for a, b in ((trace, cut), (one, graph)):
    with longpole.open(a) as s, longpole.open(b) as t:
        assert s.header["content"] == t.header["content"]
    a, b = longpole.frames(a), longpole.frames(b)
    assert a.keys() == b.keys()
    for kind in a:
        by = [c for c in ("source", "send", "location", "seq") if c in a[kind]]
        x, y = (f[kind].drop(columns="instance", errors="ignore").sort_values(by, ignore_index=True) for f in (a, b))
        assert x.equals(y), kind
assert longpole.waits(one).equals(longpole.waits(graph))
for folder in (cut, graph):
    checked = [(m.kind, m.offset) for m in longpole.check.read(folder)][1:-1]
    with longpole.open(folder) as stream:
        assert [(m.kind, m.offset) for m in stream] == checked' t.trace cut t.graph graph
	rm graph/shard.000001
	run -1 trace.py check graph
	[[ "$output" == *'shard.000002: it is shard 2, where shard 1 belongs' ]]
}
