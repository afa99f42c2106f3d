#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/settle.py CALLS < graph > graph: the same run, written like a long one

Blocks have CALLS calls. Each edge follows the block with its last end; then a message says which rows no later edge
reaches (settled). There are no synchronisation points, so tools must release rows within one stretch.
"""
import io
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pack  # noqa: E402 (the ones beside this file)
import trace  # noqa: E402


def settle(graph, calls):
    head, edges, tail = [], [], []
    rows = []       # a list for each call: its lines; with its enter and location
    for line in trace.text(list(trace.read(io.BytesIO(graph)))):
        kind = line.split(" ", 1)[0]
        if kind.isdigit() and line.split()[1] == "+":
            rows[max(i for i, row in enumerate(rows) if row[1] == int(kind))][2].append(line)
        elif kind.isdigit():
            rows.append((int(line.split()[2]), int(kind), [line]))
        elif kind in ("message", "probe", "lock", "hold", "collective"):
            edges.append((line, [tuple(map(int, end.split(":"))) for end in re.findall(r"\d+:\d+", line)]))
        elif kind not in ("sync", "settled", "index", "end"):
            (tail if rows else head).append(line)
    yield from head
    seen = {location: 0 for _, location, _ in rows}
    rows.sort(key=lambda row: row[:2])      # by enter: each location's stay in order
    for first in range(0, len(rows), calls):
        for _, location, lines in rows[first:first + calls]:
            yield from lines
            seen[location] += len(lines)
        here = [edge for edge in edges if all(seq < seen[location] for location, seq in edge[1])]
        open_sends = {ends[0] for line, ends in edges if line.startswith("message") and (line, ends) not in here}
        # The message of a probe comes before it.
        here = [edge for edge in here if not (edge[0].startswith("probe") and edge[1][0] in open_sends)]
        edges = [edge for edge in edges if edge not in here]
        yield from (line for line, _ in sorted(here, key=lambda edge: edge[0].split()[0]))
        reached = dict(seen)
        for location, seq in (end for _, ends in edges for end in ends):
            reached[location] = min(reached[location], seq)
        yield "settled seq=" + ",".join(str(reached.get(location, 0)) for location in range(max(seen) + 1))
    yield from (line for line, _ in edges)
    yield from tail


def settled(graph, calls):
    return pack.pack(settle(graph, calls))


if __name__ == "__main__":
    sys.stdout.buffer.write(settled(sys.stdin.buffer.read(), int(sys.argv[1])))
