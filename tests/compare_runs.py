#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Noisy runs for lp-compare, and checks of its results.

    tests/compare_runs.py make SEED [slow=SITE:PERCENT[:RANK]] [late=SITE:NS] [once=SITE:NS] [moved=LINES] [date=S]
                                                        one trace as text for tests/pack
    tests/compare_runs.py trials SEED N A... -- B...    N times 7 random runs of each side: how often each
                                                        line was named, as JSON
    tests/compare_runs.py power SEED N RUNS [PERCENT]   N times RUNS runs of A, of B with PERCENT of the run more at
                                                        one site, and of C, which equals A: how often that site was
                                                        found, another was named, and A and C were found to differ
    tests/compare_runs.py ways A... -- B...             p, intervals and adjusted p against all choices of the
                                                        sides, for summaries of the same sites without visits
    tests/compare_runs.py exact A... -- B...            parts add up to the whole to the nanosecond, and swapped
                                                        sides flip every sign

A run has ten sites on two ranks. late makes calls at one site longer by NS; once makes it compute longer by NS in one
iteration, which depends on the seed. Computation varies by 2 % from call to call and by 1 % from run to run, as on a
busy machine, and one time in thirty by far more.

power makes new, noisier runs each time, in turns. Calls of a site differ in size; noise has heavy tails; the machine
becomes slower from run to run; one run of each comparison is disturbed, in one of three ways.
"""
import itertools
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from fractions import Fraction

SITES, TURNS, NS = 10, 15, 100000


def make(seed, slow=-1, percent=0.0, only=None, late=(-1, 0), once=(-1, 0), moved=0, date=None):
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
                if site == once[0] and turn == seed % TURNS:
                    ns += once[1]
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


TURNS_OF_POWER = 30
DISTURBED = ("held up", "slower", "interrupted")


def simulate(rng, slow, percent, drift, disturbed):
    """Lines of a run: DISTURBED is one of the three ways, or None."""
    turns, run, begin = TURNS_OF_POWER, 1 + abs(rng.gauss(0, 0.01)) + drift, rng.random() * 0.8
    lines, at, worse = ["trace ranks=2", "module module=0 path=app"], 10000, 1.05 + 0.25 * rng.random()
    lines += [f"site site={s + 1} module=0 offset={100 + s} function=solve file=solve.c line={10 + s}"
              for s in range(SITES)]
    lines += [f"{rank} MPI_Init {rank * 100} {at} comm=1" for rank in range(2)]
    for turn in range(turns):
        for site in range(SITES):
            ready = []
            for rank in range(2):
                ns = NS * run * rng.lognormvariate(0, 0.02) * (0.5 if site % 3 == 0 and turn % 2 else 1)
                if rng.random() < 1 / 50:
                    ns *= min(1 + 0.1 * rng.paretovariate(1.2), 5)
                if disturbed == "held up" and rank == 0 and begin <= turn / turns < begin + 0.2:
                    ns *= 1.5 + rng.random()        # another process has the core half of the time
                elif disturbed == "slower":
                    ns *= worse
                elif disturbed == "interrupted" and rng.random() < 0.1:
                    ns += NS * 2 * rng.random()
                if site == slow:
                    ns += NS * SITES * percent / 100
                ready.append(at + int(ns))
            done = max(ready) + 1000 + int(rng.expovariate(1 / 500))
            lines += [f"{rank} MPI_Allreduce {ready[rank]} {done} comm=1 sent=8 received=8 site={site + 1}"
                      for rank in range(2)]
            at = done
    return lines + [f"{rank} MPI_Finalize {at + 100} {at + 1000} comm=1" for rank in range(2)]


def power(seed, count, runs, percent):
    from pack import pack      # the module beside this file, which other uses need not load
    rng, score = random.Random(seed), {"trials": count, "runs": runs}
    score |= {"found": 0, "wrong": 0, "alarms": 0, "covered": 0, "told": 0, "others_told": 0}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            site, way, victim = rng.randrange(SITES), rng.choice(DISTURBED), rng.randrange(2 * runs)
            files = {side: [os.path.join(folder, f"{side}{i}") for i in range(runs)] for side in "abc"}
            for i in range(runs):
                for turn, side in enumerate("abc" if i % 2 == 0 else "cba"):
                    is_victim = victim == (i if side == "a" else runs + i)
                    lines = simulate(rng, site if side == "b" else -1, percent, 0.001 * (3 * i + turn),
                                     way if is_victim else None)
                    graph = subprocess.run(["lp-graph"], input=pack(lines), check=True, stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL).stdout
                    with open(files[side][i], "wb") as file:
                        subprocess.run(["lp-compare", "--summary", "-"], input=graph, check=True, stdout=file)
            planted, none = compare(files["a"], files["b"]), compare(files["a"], files["c"])
            named = {s["line"] for s in planted["sites"] if s["named"]}
            score["found"] += 10 + site in named
            score["wrong"] += bool(named - {10 + site})
            score["alarms"] += any(s["named"] for s in none["sites"])
            interval = re.search(r"solve\.c:%d\).*?95 %%: \+(.*?) to \+(.*?) %%" % (10 + site), planted["verdict"])
            truth = NS * SITES * percent * TURNS_OF_POWER / 1e9 / planted["run_time"]["a_s"]
            score["covered"] += bool(interval) and float(interval[1]) - 0.005 <= truth <= float(interval[2]) + 0.005
            told = [(d["side"], d["run"]) for d in planted["disturbed"]]
            score["told"] += ("ab"[victim // runs], victim % runs + 1) in told
            score["others_told"] += len(told) > 1
    print(json.dumps(score))


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


def contents(file):
    """Run time, and computing and communication by place."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import trace
    run_ns, parts = 0, []
    with open(file, "rb") as stream:
        for message in trace.read(stream):
            if message.kind == "summary":
                run_ns = message.body["run_ns"]
            elif message.kind == "place":
                of = [int(v) for v in message.column("path_ns", True, rows=4)]
                parts.append((of[0], of[1] + of[2]))
    return run_ns, parts


def ways(a, b):
    found = compare(a, b)
    for run in sorted((d for d in found["disturbed"] if d["left_out"]), key=lambda d: -d["run"]):
        (a if run["side"] == "a" else b).pop(run["run"] - 1)
    runs = [contents(f) for f in a + b]
    real, many = frozenset(range(len(a), len(runs))), range(len(runs))
    all_ways = [frozenset(w) for w in itertools.combinations(many, len(b))]

    def more(values, way):      # how much B takes more, times both numbers of runs
        in_b = sum(values[r] for r in way)
        return in_b * len(a) - (sum(values) - in_b) * len(b)

    def p(values):
        more_than, less_than = (sum(sign * more(values, w) >= sign * more(values, real) for w in all_ways) for sign in (1, -1))
        return min(1, 2 * min(more_than, less_than) / len(all_ways))

    def shifted(values, by):
        return [v - by * (r in real) for r, v in enumerate(values)]

    times, told = [run for run, _ in runs], found["run_time"]
    assert abs(p(times) - told["p"]) < 1e-6
    for side, of in ("a", times[:len(a)]), ("b", times[len(a):]):
        off = statistics.median(abs(t - statistics.median(of)) for t in of)
        assert abs(1.4826e-9 * off * math.sqrt(len(of) / (len(of) - 1)) - told[f"spread_{side}_s"]) < 2e-9
    for end, inwards in (told["low_s"], 2), (told["high_s"], -2):
        assert p(shifted(times, ns(end) - inwards)) <= 0.05 < p(shifted(times, ns(end) + inwards))

    def share(values, way):     # of the squares: between the sides
        middle = Fraction(sum(values), len(values))
        squares = sum((v - middle) ** 2 for v in values)
        return Fraction(more(values, way)) ** 2 / squares if squares else Fraction(0)

    tests = {(place, part): [parts[place][part] for _, parts in runs] for place in range(len(runs[0][1])) for part in (0, 1)
             if 1000 * sum(sum(parts[place]) for _, parts in runs) >= sum(times)}
    steps, adjusted, least = sorted(tests, key=lambda t: -share(tests[t], real)), {}, 0
    for k, step in enumerate(steps):
        reached = sum(any(share(tests[t], w) >= share(tests[step], real) for t in steps[k:]) for w in all_ways)
        adjusted[step] = least = max(least, reached / len(all_ways))
    sites = {s["line"]: s for s in found["sites"] if s["line"]}
    for (place, _), value in sorted(adjusted.items(), key=lambda item: -item[1]):
        if place:       # the last is the surest
            sites[9 + place]["least"] = value
    wrong = [s for s in sites.values() if abs(s.get("least", 1) - s["p_adjusted"]) > 1e-6]
    assert not wrong, wrong


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
        late, once = ([int(v) for v in given.get(key, "-1:0").split(":")] for key in ("late", "once"))
        make(int(sys.argv[2]), int(slow), float(percent), int(rank[0]) if rank else None, late, once,
             int(given.get("moved", 0)), given.get("date"))
        return
    if sys.argv[1] == "power":
        power(*map(int, sys.argv[2:5]), float(sys.argv[5]) if len(sys.argv) > 5 else 2)
        return
    files = sys.argv[4:] if sys.argv[1] == "trials" else sys.argv[2:]
    cut = files.index("--")
    a, b = files[:cut], files[cut + 1:]
    if sys.argv[1] == "trials":
        trials(int(sys.argv[2]), int(sys.argv[3]), a, b)
    else:
        {"exact": exact, "ways": ways}[sys.argv[1]](a, b)


main()
