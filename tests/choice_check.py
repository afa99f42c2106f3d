#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The solvers of lp-gain on a graph that leaves them a choice, against brute force on random runs.

    tests/choice_check.py FIRST COUNT      exit 1 and a line if an answer is wrong

With --needed a call has an edge from each call that it may wait for; with --scale, other edges may bind than in the
recorded run. The end is found by evaluating the whole run until nothing changes. A path is right if it ends there,
each of its segments is an activity of that length, and each needs the previous one. Walk, kahn, dijkstra and delta
must give the same bytes. At least a third of the runs must have a path other than the recorded one; otherwise the
solvers were not tested.
"""
import json
import math
import random
import sys

import random_run
from whatif_check import Model, fail

SOLVERS = ("walk", "kahn", "dijkstra", "delta")
CALLS = ("MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Allreduce", "MPI_Wait", "MPI_Bcast")


def choose_scales(rng, ranks):
    scales = []
    for _ in range(rng.randint(1, 3)):
        scale = {"factor": rng.choice((0, 0.25, 0.5, 0.9, 1.5, 3, 20))}
        if rng.random() < 0.4:
            scale["rank"] = rng.randrange(ranks)
        if rng.random() < 0.4:
            scale["site"] = rng.randint(0, 4)
        if rng.random() < 0.3:
            scale["call"] = rng.choice(CALLS)
        scales.append(scale)
    return scales


def option(scale):
    words = [f"{key}={'#' if key == 'site' else ''}{scale[key]}" for key in ("rank", "site", "call", "factor")
             if key in scale]
    return "--scale=" + ",".join(words)


def scaled(model, scales):
    weight = {}
    for event, ns in model.weight.items():
        row, factor = model.run.rows[event[0]][event[1]], 1.0
        for scale in scales:
            if ("call" in scale) == (event[2] == 1) and scale.get("call", row.call) == row.call and \
                    scale.get("rank", event[0]) == event[0] and scale.get("site", row.site) == row.site:
                factor *= scale["factor"]
        weight[event] = math.floor(ns * factor + 0.5)
    return weight


def times(model, weight):
    time = {e: 0 for e in model.time}
    changed = True
    while changed:
        changed = False
        for event in model.time:
            at = max((time[n] for n in model.needs[event]), default=0) + weight[event]
            if time[event] != at:
                time[event], changed = at, True
    return time


def before(model, weight, time, event):
    """Activities that last at all and that EVENT may follow from without waiting; None: the beginning."""
    found, seen, left = set(), set(), [event]
    while left:
        at = left.pop()
        begin = time[at] - weight[at]
        if begin == 0:
            found.add(None)
        for need in model.needs[at]:
            if time[need] != begin or need in seen:
                continue
            seen.add(need)
            if weight[need]:
                found.add(need)
            else:
                left.append(need)
    return found


def check_path(model, weight, report):
    time = times(model, weight)
    end = max(time.values())
    if round(1e9 * report["path_length_s"]) != end:
        fail(f"the path is {report['path_length_s']} long, should be {end} ns")
    at = end
    last = {e for e in time if time[e] == end}
    possible = {e for e in last if weight[e]}.union(*(before(model, weight, time, e) for e in last if not weight[e]))
    for piece in reversed(report["segments"]):
        here = {e for e in possible if e and e[0] == piece["rank"] and time[e] == piece["end_ns"] == at and
                time[e] - weight[e] == piece["begin_ns"] and
                (e[2] == 0) == (piece["kind"] in ("compute", "start")) and
                model.run.rows[e[0]][e[1]].site == piece["site"]}
        if not here:
            fail(f"{piece} is no activity that the path may come from")
        possible = set().union(*(before(model, weight, time, e) for e in here))
        at = piece["begin_ns"]
    if at != 0 or (end > 0 and None not in possible):
        fail(f"the path begins at {at}")


def check(seed, more):
    """Whether the path is another one than that recorded."""
    run, stream = random_run.make(seed, more)
    graph = random_run.tool("lp-graph", "--polls", "work", data=stream)
    model = Model(run)
    scales = choose_scales(random.Random(seed), run.ranks)
    others = set()
    for asked in ([], scales):
        options = [option(s) for s in asked] or ["--needed"]
        answers = [random_run.tool("lp-gain", "-F", "json", "-a", how, *options, data=graph) for how in SOLVERS]
        for how, answer in zip(SOLVERS, answers):
            if answer != answers[0]:
                fail(f"{how} with {options} has another answer than {SOLVERS[0]}")
        report = json.loads(answers[0])
        check_path(model, scaled(model, asked), report)
        others.add(tuple((p["rank"], p["kind"], p["site"]) for p in report["segments"]))
        if not asked and report["path_length_s"] != report["run_time_s"]:
            fail("where nothing changes, the path is not as long as the run")
    return len(others) > 1


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    changed = 0
    for number in range(first, first + count):
        try:
            for more in (False, True):
                changed += check(number, more)
        except random_run.Wrong as error:
            print(f"seed {number}{' more' if more else ''}: {error}")
            return 1
    print(f"{changed} of {2 * count} have another path than the recorded one")
    return 0 if 3 * changed >= 2 * count else 1


if __name__ == "__main__":
    sys.exit(main())
