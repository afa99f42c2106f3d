#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Graphs with a false index and valid hashes, given to lp-critpath in parts.

    tests/lying_index.py GRAPH COUNT      exit 1 and a line if an answer is wrong

GRAPH may be a folder of shards, of which one or all then have a false index.
Allowed for each part: status 2 and one line, or status 0; if all have 0, their paths must join to the path of the
whole run.
"""
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

PARTS = 3
COLUMNS = ("rows", "from", "before", "at")
LINE = re.compile(rb"lp-critpath: [^\n]+\n")


def run(*command):
    return subprocess.run(["lp-critpath", *command], capture_output=True, timeout=20, check=False)


def written(messages, index, moved):
    """
    The stream with another index; MOVED: and with one message more, which its offsets ignore, 1
    where the end tells of it, 2 where the end does not tell where it stands, either.
    """
    out = io.BytesIO()
    out.write(messages[0].bytes)
    writer = trace.Writer(out, "graph", header=False)
    first = 2 + messages[1].body["defined"] if messages[1].kind == "shard" else 1
    out.write(b"".join(m.bytes for m in messages[1:first]))
    if moved:
        writer.put("unknown", {"key": 1})
    out.write(b"".join(m.bytes for m in messages[first:-2]))
    end = dict(messages[-1].body)
    offset = out.tell()
    writer.put("index", index)
    del end["xxh3"]
    end["messages"] += moved > 0
    end["index"] = offset - (out.tell() - offset if moved > 1 else 0)
    writer.put("end", end)
    return out.getvalue()


def lie(rng, messages):
    """The index with one value or some changed, and what was done to it."""
    index = messages[-2]
    body = {k: v for k, v in index.body.items() if k != "xxh3"}
    columns = {key: [int(v) for v in index.column(key)] for key in COLUMNS}
    offsets = [m.offset for m in messages]
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        key = rng.choice(COLUMNS * 4 + ("syncs", "step", "defined", "count"))
        values = columns.get(key, [body.get(key)])
        i = rng.randrange(len(values)) if values else 0
        value = rng.choice((0, 1, values[i] + 1, max(0, values[i] - 1), rng.choice(values),
                            rng.choice(offsets), rng.choice(offsets) + rng.randrange(100),
                            2**63, 2**64 - 1, 2 * values[i]))
        if key not in COLUMNS:
            body[key] = min(value, 2**32 if key == "count" else 2**64 - 1)
        elif rng.random() < 0.3:         # everything behind it, too
            columns[key] = [v + value - values[i] if n >= i else v for n, v in enumerate(values)]
        elif rng.random() < 0.2:
            for values in columns.values():
                del values[i]
            body["count"] = len(columns["at"])
        else:
            columns[key][i] = value
        done.append(f"{key}[{i}]={value}")
        columns = {k: [min(max(v, 0), 2**64 - 1) for v in vs] for k, vs in columns.items()}
        if not columns["at"]:
            break
    body.update({key: trace.column_bytes(values, False) for key, values in columns.items()})
    return body, " ".join(done)


def is_late_found(file, name, messages):
    """A shard is to begin a round later than the others: edges of these would be missing, not only own rows."""
    index = messages[-2]
    body = {k: v for k, v in index.body.items() if k != "xxh3"}
    rounds = [m.offset for m in messages if m.kind == "round"]
    told = [int(v) for v in index.column("from")]
    body["from"] = trace.column_bytes([next((r for r in rounds if r > v), rounds[-1])
                                       for v in told], False)
    with open(os.path.join(file, name), "wb") as out:
        out.write(written(messages, body, 0))
    told = run("--part", f"{PARTS - 1}/{PARTS}", file).stderr
    return LINE.fullmatch(told) and b"where others have round" in told


def complaint(file, truth):
    """None, or what is wrong with what is said of a file; and whether it was refused."""
    paths, refused = [], False
    for part in range(1, PARTS + 1):
        done = run("--part", f"{part}/{PARTS}", file)
        paths.append(f"{file}.{part}")
        with open(paths[-1], "wb") as out:
            out.write(done.stdout)
        if done.returncode not in (0, 2) or (done.returncode == 2 and not LINE.fullmatch(done.stderr)):
            return f"part {part}: status {done.returncode}: {done.stderr!r}", False
        refused |= done.returncode == 2
    if not refused and run("--join", "-F", "json", *paths).stdout != truth:
        return "another path", False
    return None, refused


def read(file, of_folder=False):
    with open(file, "rb") as stream:
        return list(trace.read(stream, of_folder))


def main(graph, count):
    truth = run("-F", "json", graph).stdout
    shards = sorted(os.listdir(graph)) if os.path.isdir(graph) else [""]
    files = {name: read(os.path.join(graph, name) if name else graph, name != "") for name in shards}
    rng = random.Random(1)
    refusals, said = 0, ""
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "graph")
        if shards[0]:
            shutil.copytree(graph, file)
            if not is_late_found(file, shards[0], files[shards[0]]):
                print("shards in different rounds are not told")
                return 1
        for number in range(count):
            moved = number % 20 if number % 20 < 3 else 0
            liars = shards if rng.random() < 0.1 else [rng.choice(shards)]
            state = rng.getstate()
            for name, messages in files.items():
                rng.setstate(state)     # who lies says the same
                index, what = lie(rng, messages) if not moved and name in liars else (
                    {k: v for k, v in messages[-2].body.items() if k != "xxh3"}, f"moved {moved}")
                with open(os.path.join(file, name) if name else file, "wb") as out:
                    out.write(written(messages, index, moved if name in liars else 0))
                said = what if name in liars else said
            what = f"{liars}: {said}"
            wrong, refused = complaint(file, truth)
            refusals += refused
            if wrong or (moved > 1 and refused):
                print(f"{number}: {what}: {wrong or 'an index that is not there was believed'}")
                return 1
    print(f"{count} lies, {refusals} found out")
    return 0 if refusals else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
