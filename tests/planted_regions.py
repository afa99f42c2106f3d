#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/planted_regions.py RUNS [SEED] - the number of planted noisy runs that lp-replay --regions gets right

A run has three to five phases, which differ in computation, waits and calls per step, on two ranks of a busy machine:
now and then a rank is stopped for 1 to 8 ms, in computation or in a call. A run is right if rank 0 has as many borders
as planted, each within 1 % of the run. Status 1 if fewer than 95 % of the runs are right.
"""
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pack  # noqa: E402 (the one beside this file)

# Computing and waiting of a pair, us; pairs of a step. A barrier ends the step.
KINDS = ((1000, 10, 3), (1000, 800, 3), (300, 500, 9), (5000, 20, 1), (2000, 900, 2), (600, 60, 1))


def stop(rng, probability):
    return int(rng.uniform(1e6, 8e6)) if rng.random() < probability else 0


def step(rng, kind, now, lines):
    compute, wait, pairs = 1000 * kind[0], 1000 * kind[1], kind[2]
    now[:] = [max(now)] * 2
    for _ in range(pairs):
        enters = [now[r] + int(compute * rng.uniform(0.9, 1.1)) + stop(rng, 0.02 * compute / 1e6)
                  for r in (0, 1)]
        for r, enter in enumerate(enters):
            now[r] = enter + int(wait * rng.uniform(0.9, 1.1)) + stop(rng, 0.01)
            lines.append(f"{r} MPI_Comm_rank {enter} {now[r]}")
    leave = max(now) + 20000
    for r in (0, 1):
        lines.append(f"{r} MPI_Barrier {now[r]} {leave} comm=1")
    now[:] = [leave, leave]


def planted(seed):
    """A run's lines, and the ends of its phases."""
    rng, lines, now, borders, kinds = random.Random(seed), ["trace ranks=2"], [0, 0], [], []
    wanted = rng.randint(3, 5)
    while len(kinds) < wanted:
        kind = rng.choice(KINDS)
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    for kind in kinds:
        end = max(now) + rng.uniform(0.15, 0.5) * 1e9
        while max(now) < end:
            step(rng, kind, now, lines)
        borders.append(max(now))
    return lines, borders


def found(trace):
    with tempfile.NamedTemporaryFile() as graph:
        subprocess.run(["lp-graph"], input=trace, stdout=graph, stderr=subprocess.DEVNULL, check=True)
        table = subprocess.run(["lp-replay", "--regions", "-F", "table", graph.name],
                               stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    return [float(row[3]) * 1e9 for row in rows if row[0] == "0"]


def main():
    runs, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    right = 0
    for seed in range(first, first + runs):
        lines, borders = planted(seed)
        got = found(pack.pack(lines))
        good = len(got) == len(borders) and all(
            abs(a - b) <= 0.01 * borders[-1] for a, b in zip(got, borders))
        right += good
        if not good:
            print(seed, [round(g / borders[-1], 3) for g in got],
                  [round(b / borders[-1], 3) for b in borders])
    print(f"{right} of {runs}")
    return 0 if right >= 0.95 * runs else 1


sys.exit(main())
