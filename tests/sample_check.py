#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sample_check.py LONG SHORT <critpath.json: the times of two planted functions, 0.3 and 0.1 s
between two calls of rank 0, are within three standard errors of that, and the shares
of all time within three of their own; the sums are the path to the nanosecond. Exit status 3:
the path leads through another rank."""
import json
import math
import sys

long_name, short_name = sys.argv[1:3]
report = json.load(sys.stdin, parse_float=str)
rows = report["by_function"]


def ns(text):
    whole, _, part = str(text).partition(".")
    return int(whole) * 10**9 + int((part + "0" * 9)[:9])


assert sum(ns(r["path_s"]) for r in rows) == ns(report["path_length_s"]), "sums differ from the path"
keys = {"function", "file", "line", "path_s", "path_share", "all_s", "all_share", "standard_error",
        "samples"}
assert all(keys <= r.keys() for r in rows), "a key is missing"
path = ns(report["path_length_s"])


def total(name, key, of=rows):
    return sum(float(r[key]) for r in of if r["function"] and name in r["function"])


# Where other programs take rank 0 its core less than the other rank, the path is not where it was planted.
compute = [float(r["compute_s"]) for r in report["by_rank"]]
if compute[0] < 0.98 * sum(compute):
    print(f"not judged: rank 0 has {compute[0]} s of the {sum(compute)} s computed on the path", file=sys.stderr)
    sys.exit(3)
n = sum(r["samples"] for r in rows)
assert n > 100, f"{n} samples on the path"
# In seconds of the thread's own clock, whatever the time off the core. No sample sees the kernel's part of it.
unseen = total("(on a core, not sampled)", "path_s")
assert unseen < 0.1 * 0.4, f"{unseen} s on a core were not sampled"
for name, expected in ((long_name, 0.3), (short_name, 0.1)):
    told = total(name, "path_s")
    error = total(name, "standard_error") * path * 1e-9
    assert told <= expected + 3 * error and told + unseen >= expected - 3 * error, \
        f"{name}: {told} s on the path instead of {expected}, error {error}"
    assert told <= total(name, "all_s") + 1e-9, f"{name}: {told} s on the path, {total(name, 'all_s')} in all"
# In all time: 0.3 s and 0.1 s on rank 0, and 0.05 s of the short one on the other.
everything = total(long_name, "all_s") + total(short_name, "all_s")
for name, expected in ((long_name, 0.3 / 0.45), (short_name, 0.15 / 0.45)):
    share = total(name, "all_s") / everything
    assert abs(share - expected) <= 3 * math.sqrt(expected * (1 - expected) / (everything * 1000)), \
        f"{name}: {share} in all time instead of {expected}"
