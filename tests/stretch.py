#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/stretch.py SEED... - graphs of random runs as one long stretch: SEED.graph and, of random_run.py's "more", SEED.more.graph

Each is without its synchronisation points, in small blocks in a random order that the format allows, with late edges and
frequent settled messages, which are computed here by looking ahead.
"""
import io
import os
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pack  # noqa: E402 (the ones beside this file)
import random_run  # noqa: E402
import trace  # noqa: E402


def stretched(lines, rng):
    head, calls, edges, tail = [], {}, [], []
    for line in lines:
        word = line.split()[0]
        if word.isdigit():
            lane = calls.setdefault(int(word), [])
            if line.split()[1] == "+":
                lane[-1].append(line)
            else:
                lane.append([line])
        elif word in ("message", "probe", "lock", "hold", "collective"):
            ends = [tuple(map(int, end.split(":"))) for end in line.split()[1:]]
            edges.append((ends, line))
        elif word in ("sync", "settled", "index", "end"):
            continue
        else:
            (tail if word == "matching" else head).append(line)
    yield from head
    locations = max(calls) + 1
    rows, next_call = [0] * locations, [0] * locations

    def enter(location):
        return int(calls[location][next_call[location]][0].split()[2])

    while True:
        waiting = [at for at in calls if next_call[at] < len(calls[at])]
        if not waiting and not edges:
            break
        if waiting:
            at = min(waiting, key=enter) if rng.random() < .7 else rng.choice(waiting)
            for call in calls[at][next_call[at]:next_call[at] + rng.randint(1, 4)]:
                yield from call
                rows[at] += len(call)
                next_call[at] += 1
        keep = []
        for ends, line in edges:
            ready = all(seq < rows[location] for location, seq in ends)
            if ready and (not waiting or rng.random() < .8):
                yield line
            else:
                keep.append((ends, line))
        edges = keep
        if rng.random() < .7:
            settled = list(rows)
            for ends, _ in edges:
                for location, seq in ends:
                    settled[location] = min(settled[location], seq)
            yield "settled seq=" + ",".join(map(str, settled))
    yield from (re.sub(r"\bsyncs=\d+", "syncs=0", line) for line in tail)


def main():
    for seed in map(int, sys.argv[1:]):
        for more in (False, True):
            graph = random_run.tool("lp-graph", data=random_run.make(seed, more)[1])
            lines = trace.text(list(trace.read(io.BytesIO(graph))))
            with open(f"{seed}{'.more' * more}.graph", "wb") as out:
                out.write(pack.pack(stretched(lines, random.Random(seed))))


main()
