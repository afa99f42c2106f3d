#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The same run as one long stretch: a graph as text (tests/trace.py text) without its synchronisation points, in small
blocks in a random order that the format allows, with late edges and frequent settled messages, which are computed
here by looking ahead.

    tests/trace.py text a.graph | tests/stretch.py SEED | tests/pack > b.graph
"""
import random
import re
import sys


def main(seed):
    rng = random.Random(seed)
    head, calls, edges, tail = [], {}, [], []
    for line in sys.stdin.read().splitlines():
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
    print(*head, sep="\n")
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
                print(*call, sep="\n")
                rows[at] += len(call)
                next_call[at] += 1
        keep = []
        for ends, line in edges:
            ready = all(seq < rows[location] for location, seq in ends)
            if ready and (not waiting or rng.random() < .8):
                print(line)
            else:
                keep.append((ends, line))
        edges = keep
        if rng.random() < .7:
            settled = list(rows)
            for ends, _ in edges:
                for location, seq in ends:
                    settled[location] = min(settled[location], seq)
            print("settled seq=" + ",".join(map(str, settled)))
    print(*[re.sub(r"\bsyncs=\d+", "syncs=0", line) for line in tail], sep="\n")


main(int(sys.argv[1]))
