#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/planted_pairs.py MPIRUNS TESTS SIGMA RATIO SEED: a campaign as text for tests/pack, in which each of TESTS functions takes RATIO times as long as its mock-up, and the logarithm of the
ratio in an mpirun is normal with deviation SIGMA.
"""
import math
import random
import sys

mpiruns, tests, sigma, ratio, seed = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
draw = random.Random(seed)
print("measurement")
for _ in range(mpiruns):
    print("mpirun ranks=2 library=A hosts=n sync=none stage=screen")
    load = math.exp(draw.random())
    for t in range(tests):
        other = 1e7 * load
        own = other * ratio * math.exp(draw.gauss(0, sigma))
        for role, name, ns in ("function", f"MPI_F{t}", own), ("mockup", f"F{t}_as_G", other):
            print(f'samples name={name} function=MPI_F{t} role={role} bytes=8 volume=8 part=0 '
                  f'guideline="{"" if role == "function" else f"F{t} <= G"}" number=3 time={ns:.0f}')
