#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/fit_coverage.py DRAWS [NOISE]

How often do the 95 % bands of lp-fit contain the truth, for DRAWS sets of run times with known f, b, c and NOISE
[0.02] log-normal noise? Status 1 if a share is significantly outside 0.90 to 0.99.
"""
import json
import math
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

F, B, C, T1 = 0.001, 45.0, 60.0, 1000.0
CORES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def truth(n):
    """Equations 4 and 5 as the paper has them: run time and overhead."""
    amdahl = F * T1 + (1 - F) * T1 / n
    tau = amdahl * B * (n - 1) / ((1 + C - B) * n + B + C + C * C)
    return amdahl + tau, tau


def fitted(files):
    run = subprocess.run(["lp-fit", "-F", "json", *files], stdout=subprocess.PIPE, check=True)
    decoder, text, at = json.JSONDecoder(), run.stdout.decode(), 0
    while at < len(text):
        one, at = decoder.raw_decode(text, at)
        at += 1    # the line feed
        yield one


def main():
    draws, noise = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.02
    rng, hits = random.Random(1), {}
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}.csv" for i in range(draws)]
        for file in files:
            Path(file).write_text("n,t\n" + "".join(
                f"{n},{truth(n)[0] * math.exp(rng.gauss(0, noise)):.12g}\n" for n in CORES))
        chunks = [files[i:i + 10] for i in range(0, draws, 10)]
        with ThreadPoolExecutor(4) as pool:
            fits = [one for chunk in pool.map(lambda c: list(fitted(c)), chunks) for one in chunk]

    def count(name, value, where, key):
        hits[name] = hits.get(name, 0) + (where[key + "_low"] <= value <= where[key + "_high"])

    for one in fits:
        for key, value in (("f", F), ("b", B), ("c", C)):
            count(key, value, one["equation6"], key)
        for point in one["points"]:
            t, tau = truth(point["n"])
            count(f"t({point['n']})", t, point, "t")
            if point["n"] > 1:
                count(f"tau({point['n']})", tau, point, "tau")
    slack = 3 * math.sqrt(0.06 / draws) if draws < 1000 else 0
    bad = 0
    for name, hit in hits.items():
        share = hit / draws
        bad += not 0.90 - slack <= share <= 0.99 + slack
        print(f"{name}\t{share:.3f}")
    return 1 if bad else 0


sys.exit(main())
