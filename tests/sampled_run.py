#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run with samples whose path by function is known.

    tests/sampled_run.py make SEED RANKS STRETCHES SAMPLES > trace
                            barriers; between two of them each rank is sampled up to SAMPLES times, also in
                            calls; rank 0 has two workers, and some samples are lost
    tests/sampled_run.py check SEED RANKS STRETCHES SAMPLES < critpath.json
                            exit 1 and a line if lp-critpath has another path
    tests/sampled_run.py uneven SEED RANKS STRETCHES SAMPLES < imbalance.json
                            the same for lp-imbalance and the functions of the slowest rank
"""
import json
import os
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

PERIOD, FUNCTIONS = 1000, 9


class Run:
    """The calls and samples of each rank by stretch; by function what is on the path and in all."""

    def __init__(self, seed, ranks, stretches, samples):
        self.random = numpy.random.default_rng(seed)
        self.ranks, self.stretches = ranks, stretches
        self.path, self.all = [0] * FUNCTIONS, [0] * FUNCTIONS     # samples
        self.length = 0                                         # of the path's computation
        self.inclusive = {"main": 0}
        self.lost = 0
        self.computes = [0] * ranks                             # by rank
        self.taken = [[0] * FUNCTIONS for _ in range(ranks)]    # samples of that
        self.blocks = []          # (leave before, computes until, leave) by stretch, with samples
        begin = 1000
        for _ in range(stretches):
            computes = self.random.choice(10 ** 6, ranks, replace=False) + 1
            enters, leave = begin + computes, int(begin + computes.max() + 500)
            taken = []
            for rank in range(ranks):
                times = numpy.sort(self.random.integers(begin, leave, self.random.integers(0, samples + 1)))
                sites = self.random.integers(1, FUNCTIONS + 1, len(times))
                taken.append((times, sites))
                self.count(times, sites, enters[rank], rank)
                self.computes[rank] += int(computes[rank])
            last = int(computes.argmax())
            self.add_path(*taken[last], begin, int(enters[last]))
            self.blocks.append((begin, enters, leave, taken))
            begin = leave

    def count(self, times, sites, enter, rank):
        for site, count in zip(*numpy.unique(sites[times < enter], return_counts=True)):
            self.all[site - 1] += int(count)
            self.taken[rank][site - 1] += int(count)

    def add_path(self, times, sites, begin, enter):
        self.length += enter - begin
        for site in sites[times < enter]:
            self.path[site - 1] += 1

    def write(self):
        out = trace.Writer(sys.stdout.buffer, "trace")
        out.put("run", {"ranks": self.ranks, "locations": self.ranks, "run_ns": self.blocks[-1][2] + 10})
        for number, name in enumerate(("MPI_Init", "MPI_Barrier", "MPI_Finalize"), 1):
            out.put("call", {"number": number, "name": name})
        for site in range(1, FUNCTIONS + 1):
            out.put("site", {"site": site, "offset": 100 * site, "function": f"f{(site - 1) // 2}",
                             "file": "dir/f.c", "line": 10 * site})
        out.put("site", {"site": FUNCTIONS + 1, "offset": 5000, "function": "g", "file": "dir/g.c", "line": 3,
                         "inlined_into": ["main"], "inlined_files": ["dir/main.c"], "inlined_lines": [77]})
        self.rows(out, 0, 1, [0] * self.ranks, 1000)
        for seq, (begin, enters, leave, taken) in enumerate(self.blocks, 1):
            for rank, (times, sites) in enumerate(taken):
                self.samples(out, rank, 0, times, sites, leave)
                if rank == 0:
                    self.workers(out, begin, leave)
                out.block("calls", {"enter": [int(enters[rank])], "duration": [leave - int(enters[rank])],
                                    "call": [2], "comm": [1]}, location=rank, first=seq)
        self.rows(out, self.stretches + 1, 3, [self.blocks[-1][2]] * self.ranks, self.blocks[-1][2] + 10)
        out.end()

    def rows(self, out, seq, call, enters, leave):
        for rank in range(self.ranks):
            out.block("calls", {"enter": [enters[rank]], "duration": [leave - enters[rank]],
                                "call": [call], "comm": [1]}, location=rank, first=seq)

    def samples(self, out, rank, worker, times, sites, until, lost=0):
        body = {"location": rank, "count": len(times), "period_ns": PERIOD, "until_ns": until,
                "time": times.astype("<i8").tobytes(), "site": sites.astype("<u4").tobytes(),
                "callers": numpy.full(len(times), FUNCTIONS + 1, "<u4").tobytes()}
        if worker:
            body["worker"] = worker
        if lost:
            body["lost"] = lost
        if len(times):
            out.put("sampled", body)

    def workers(self, out, begin, leave):
        """Out of step with the calls of their rank, as threads are; all they do is computation."""
        for worker in (1, 2):
            times = numpy.arange(begin, leave, 300000 * worker)
            self.samples(out, 0, worker, times, numpy.full(len(times), worker), leave, lost=worker)


def workers_of(run):
    """What workers add to all time, and how many samples were lost."""
    for begin, _, leave, _ in run.blocks:
        for worker in (1, 2):
            run.all[worker - 1] += len(range(begin, leave, 300000 * worker))
            run.lost += worker


def worth(samples, computed):
    """Of each sample: its period, or less where that is more than there was."""
    return min(PERIOD, computed // samples) if samples else PERIOD


def ns(seconds):
    return round(float(seconds) * 1e9)


def fail(what):
    sys.exit(f"sampled_run.py: {what}")


def check(run, report):
    workers_of(run)
    run.path = [count * worth(sum(run.path), run.length) for count in run.path]
    got = {row["line"]: row for row in report["by_line"] if row["function"].startswith("f")}
    for site in range(1, FUNCTIONS + 1):
        row = got.get(10 * site, {"path_s": 0, "all_s": 0, "samples": 0})
        if (ns(row["path_s"]), ns(row["all_s"])) != (run.path[site - 1], run.all[site - 1] * PERIOD):
            fail(f"line {10 * site}: {row} instead of {run.path[site - 1]} and {run.all[site - 1]}")
    for function in {f"f{site // 2}" for site in range(FUNCTIONS)}:
        rows = [row for row in report["by_function"] if row["function"] == function]
        path = sum(run.path[site] for site in range(FUNCTIONS) if f"f{site // 2}" == function)
        if len(rows) != 1 or ns(rows[0]["path_s"]) != path or ns(rows[0]["path_inclusive_s"]) != path:
            fail(f"{function}: {rows} instead of {path}")
    # Whoever called has all; the line of a caller that others were compiled into is known, too.
    for name, line in (("main", 77), ("g", 3)):
        for key in ("by_function", "by_line"):
            rows = [row for row in report[key] if (row["function"], row["line"]) == (name, line)]
            if len(rows) != 1 or ns(rows[0]["path_inclusive_s"]) != sum(run.path) or ns(rows[0]["path_s"]) != 0:
                fail(f"{key}: {name}: {rows}")
    rest = {row["function"]: ns(row["path_s"]) for row in report["by_function"] if row["file"] is None}
    if rest["(not on a core, or not sampled)"] != run.length - sum(run.path):
        fail(f"not sampled: {rest} instead of {run.length - sum(run.path)}")
    for key in ("by_function", "by_line"):
        if sum(ns(row["path_s"]) for row in report[key]) != ns(report["path_length_s"]):
            fail(f"{key} does not add up to the path")


def uneven(run, report):
    rank = max(range(run.ranks), key=lambda r: run.computes[r])
    (site,) = report["compute_by_function"]
    if (site["rank"], ns(site["slow_s"])) != (rank, run.computes[rank]):
        fail(f"{site} instead of rank {rank}, {run.computes[rank]}")
    if sum(ns(row["slow_s"]) for row in site["functions"]) != run.computes[rank]:
        fail("the functions do not add up")
    taken = [[sum(of[site] for site in range(FUNCTIONS) if site // 2 == f) for f in range((FUNCTIONS + 1) // 2)]
             for of in run.taken]
    for row in site["functions"]:
        slow, others, variance = 0.0, 0.0, 0.0
        for r in range(run.ranks):
            t, k, each = run.computes[r], sum(taken[r]), worth(sum(taken[r]), run.computes[r])
            own = t - k * each
            if row["function"].startswith("f"):
                k = taken[r][int(row["function"][1:])]
                own = k * each
            n = t / each
            error = t * t * (k + 1) * (n - k + 1) / ((n + 2) ** 2 * (n + 3))
            slow, others = (own, others) if r == rank else (slow, others + own / (run.ranks - 1))
            variance += error if r == rank else error / (run.ranks - 1) ** 2
        wanted = slow, others, slow - others, variance ** 0.5
        got = [float(row[key]) * 1e9 for key in ("slow_s", "others_s", "more_s", "standard_error_s")]
        if any(abs(a - b) > 6 for a, b in zip(wanted, got)):
            fail(f"{row} instead of {wanted}")
    more = [row["more_s"] for row in site["functions"]]
    if more != sorted(more, reverse=True):
        fail("not in order")
    costs = sum(row["cost_s"] for row in report["delays_by_function"])
    delays = sum(row["cost_s"] for row in report["delays"])
    if abs(costs - delays) > 1e-8 * len(report["delays"]):
        fail(f"delays by function are {costs} of {delays}")


def main():
    what, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
    run = Run(*numbers)
    if what == "make":
        run.write()
    elif what == "uneven":
        uneven(run, json.load(sys.stdin))
    else:
        check(run, json.load(sys.stdin))


main()
