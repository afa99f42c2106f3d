#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Runs with noise for lp-compare, and what it makes of them.

    tests/compare_runs.py make SEED [slow=SITE:PERCENT[:RANK]] [late=SITE:NS] [moved=LINES] [date=S]   one trace as text for tests/pack
    tests/compare_runs.py trials SEED N A... -- B...    N times 7 runs of each side by chance: how often
                                                        which lines were named, as JSON
    tests/compare_runs.py exact A... -- B...            the parts make up the whole to the nanosecond, and
                                                        with the sides swapped every sign flips

A run has ten sites on two ranks; late makes a call at one of them last so much longer. What each computes varies by 2 % from time to time and by 1 % from
run to run, as on a busy machine, and one time in thirty by far more.
"""
import json
import random
import subprocess
import sys

SITES, TURNS, NS = 10, 15, 100000


def make(seed, slow=-1, percent=0.0, only=None, late=(-1, 0), moved=0, date=None):
    rng = random.Random(seed)
    run = 1 + abs(rng.gauss(0, 0.01))
    at, lines = 10000, []
    for rank in range(2):
        lines.append(f"{rank} MPI_Init {rank * 100} {at} comm=1")
    for turn in range(TURNS):
        for site in range(SITES):
            ready = []
            for rank in range(2):
                ns = NS * run * (1 + abs(rng.gauss(0, 0.02)))
                if rng.random() < 1 / 30:
                    ns *= 1 + rng.random()
                if site == slow and only in (None, rank):
                    ns += NS * SITES * percent / 100
                ready.append(at + int(ns))
            done = max(ready) + 1000 + (late[1] if site == late[0] else 0)
            for rank in range(2):
                lines.append(f"{rank} MPI_Allreduce {ready[rank]} {done} comm=1 sent=8 received=8 site={site + 1}")
            at = done
    for rank in range(2):
        lines.append(f"{rank} MPI_Finalize {at + 100} {at + 1000} comm=1")
    print("trace ranks=2" + (f" date_s={date}" if date else "") + "\nmodule module=0 path=app")
    for site in range(SITES):
        print(f"site site={site + 1} module=0 offset={100 + site} function=solve file=solve.c "
              f"line={10 + site + moved}")
    print("\n".join(lines))


def compare(a, b):
    return json.loads(subprocess.run(["lp-compare", "-F", "json", *a, "--", *b], check=True,
                                     stdout=subprocess.PIPE).stdout)


def trials(seed, count, a, b):
    rng = random.Random(seed)
    named = {}
    for _ in range(count):
        if a == b:
            both = rng.sample(a, 14)
            found = compare(both[:7], both[7:])
        else:
            found = compare(rng.sample(a, 7), rng.sample(b, 7))
        lines = [str(s["line"]) for s in found["sites"] if s["named"]]
        key = ",".join(sorted(lines)) or "none"
        named[key] = named.get(key, 0) + 1
    print(json.dumps(named))


def ns(seconds):
    return round(seconds * 1e9)


def exact(a, b):
    there, back = compare(a, b), compare(b, a)
    whole = ns(there["run_time"]["change_s"])
    assert whole == -ns(back["run_time"]["change_s"]), "the run time's sign"
    if len(a) == len(b) == 1:
        assert whole == ns(there["run_time"]["b_s"]) - ns(there["run_time"]["a_s"])
    for found in there, back:
        sign = 1 if found is there else -1
        for parts in ([s["path_change_s"] for s in found["sites"]], found["kinds"].values(), found["ranks"],
                      [p["path_change_s"] for p in found["phases"]],
                      [k for s in found["sites"] for k in s["kinds"].values()]):
            assert sum(map(ns, parts)) == sign * whole, "parts make up the whole"

    def signs(found, sign):
        return sorted((str(s["function"]), str(s["call"]), sign * ns(s["path_change_s"]),
                       sign * ns(s["total_change_s"]), sign * ns(s["wait_change_s"]),
                       None if s["low_s"] is None else
                       tuple(sorted((sign * ns(s["low_s"]), sign * ns(s["high_s"])))), s["named"],
                       tuple(sign * ns(k) for k in s["kinds"].values())) for s in found["sites"])

    assert signs(there, 1) == signs(back, -1), "signs of sites"


def main():
    if sys.argv[1] == "make":
        given = dict(a.split("=") for a in sys.argv[3:])
        slow, percent, *rank = given.get("slow", "-1:0").split(":")
        site, ns = given.get("late", "-1:0").split(":")
        make(int(sys.argv[2]), int(slow), float(percent), int(rank[0]) if rank else None, (int(site), int(ns)),
             int(given.get("moved", 0)), given.get("date"))
        return
    files = sys.argv[4:] if sys.argv[1] == "trials" else sys.argv[2:]
    cut = files.index("--")
    a, b = files[:cut], files[cut + 1:]
    if sys.argv[1] == "trials":
        trials(int(sys.argv[2]), int(sys.argv[3]), a, b)
    else:
        exact(a, b)


main()
