#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/planted_pairs.py MPIRUNS TESTS SIGMA RATIO SEED: a campaign as text for tests/pack, in which each of TESTS
functions takes RATIO times as long as its mock-up. The logarithm of the ratio in an mpirun is normal with deviation
SIGMA.

tests/planted_pairs.py any MPIRUNS SEED: functions of several sizes, with a control, mock-ups and splits, some of which
are faster or slower than they should be.
"""
import math
import random
import sys


def put(role, name, function, ns, size=8, part=0, guideline=""):
    print(f'samples name={name} function={function} role={role} bytes={size} volume={size} part={part} '
          f'guideline="{guideline}" number=3 time={ns:.0f}')


def pairs(mpiruns, tests, sigma, ratio, seed):
    draw = random.Random(seed)
    print("measurement")
    for _ in range(int(mpiruns)):
        print("mpirun ranks=2 library=A hosts=n sync=none stage=screen")
        load = math.exp(draw.random())
        for t in range(int(tests)):
            other = 1e7 * load
            put("function", f"MPI_F{t}", f"MPI_F{t}", other * float(ratio) * math.exp(draw.gauss(0, float(sigma))))
            put("mockup", f"F{t}_as_G", f"MPI_F{t}", other, guideline=f"F{t} <= G")


def subjects(draw):
    """What is measured, and how long it takes."""
    for name in draw.sample(("Bcast", "Gather", "Scan"), 2):
        function, sizes = f"MPI_{name}", sorted(draw.sample((0, 8, 16, 32, 64, 100, 128), 4))
        for i, size in enumerate(sizes):
            ns = (2000 + 40 * size) * draw.choice((0, 0.4, 1, 1, 1, 1.5, 3))
            yield ns, ("function", function, function), size, 0, ""
            yield ns * draw.choice((0.5, 1, 1, 1, 1, 1, 2)), ("control", function, function), size, 0, ""
            yield ns * draw.choice((0, 0.5, 0.97, 1, 1.2)), ("mockup", f"{name}_as_X", function), size, 0, f"{name} <= X"
            for part in (part for part in sizes[:i] if part and draw.random() < 0.8):
                yield ns * draw.choice((0.5, 0.6, 0.97)), ("split", function, function), size, part, ""


def campaign(mpiruns, seed):
    draw = random.Random(seed)
    measured = list(subjects(draw))
    print("measurement")
    for _ in range(int(mpiruns)):
        print("mpirun ranks=2 library=A hosts=n sync=none barrier_spread=300")
        for ns, names, *more in measured:
            put(*names, ns * math.exp(draw.gauss(0, 0.02)), *more)


if sys.argv[1] == "any":
    campaign(*sys.argv[2:])
else:
    pairs(*sys.argv[1:])
