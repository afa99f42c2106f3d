#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run of tests/switched_run.py whose samples have counters.

    tests/counted_run.py make SEED RANKS STRETCHES > trace
    tests/counted_run.py judge SEED RANKS STRETCHES < imbalance.json
    tests/counted_run.py path SEED RANKS STRETCHES < critpath.json
                            exit 1 and a line if the tool has other counts by rank, or by function
"""
import json
import os
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import switched_run  # noqa: E402 (the one beside this file)

COUNTERS = ("instructions", "cycles", "task_clock", "page_faults", "migrations")
NAMES = {"task_clock": "task_clock_s"}
BETWEEN, ACROSS = "(different functions)", None


class Run(switched_run.Run):
    def __init__(self, seed, *numbers):
        super().__init__(seed, *numbers)
        chance = numpy.random.default_rng(seed + 1000)
        self.without = COUNTERS[:seed % 3]
        self.counts = {thread: numpy.where(numpy.isin(COUNTERS, self.without), 0, chance.integers(0, 10 ** 6, (len(times), 5)))
                       for thread, (times, _) in self.samples.items()}

    def sampled(self, out, rank, worker, begin, leave):
        times, sites = self.samples[rank, worker]
        here = (times >= begin) & (times < leave)
        counts = self.counts[rank, worker][here]
        if here.any():
            out.put("sampled", {
                "location": rank, "count": len(counts), "period_ns": switched_run.PERIOD, "until_ns": leave,
                "time": times[here].astype("<i8").tobytes(), "site": sites[here].astype("<u4").tobytes(),
                "callers": bytes(4 * len(counts)), **({"worker": worker} if worker else {}),
                **{name: counts[:, c].astype("<u8").tobytes() for c, name in enumerate(COUNTERS) if name not in self.without}})

    def whole_pieces(self, rank, begin, end):
        """The computation by thread, each piece as long as it can be."""
        pieces = []
        for worker, first, beyond in self.division(rank, begin, end):       # from its end
            if pieces and pieces[-1][0] == worker and pieces[-1][1] == beyond:
                beyond = pieces.pop()[2]
            pieces.append((worker, first, beyond))
        return pieces

    def true(self):
        """By rank and function, or BETWEEN or ACROSS: time on a core, and counts."""
        found = {}

        def add(rank, name, on_core, counts):
            times, sums = found.get((rank, name), (0, 0))
            found[rank, name] = times + int(on_core), sums + counts

        for rank in range(self.ranks):
            for begin, enters, leave in self.stretches:
                for worker, first, beyond in self.whole_pieces(rank, begin, enters[rank]):
                    times, sites = self.samples[rank, worker]
                    state, counts = self.threads[rank, worker][1], self.counts[rank, worker]
                    here = numpy.flatnonzero((times >= first) & (times < beyond))
                    for i in here[:1]:
                        add(rank, ACROSS, 0, counts[i])
                    for i in here[1:]:
                        name = switched_run.WAITING if sites[i] == 17 else f"f{sites[i]}"
                        add(rank, name if sites[i] == sites[i - 1] else BETWEEN,
                            (state[times[i - 1]:times[i]] == switched_run.ON).sum(), counts[i])
                times = self.samples[rank, 0][0]
                for i in numpy.flatnonzero((times >= enters[rank]) & (times < leave))[:1]:
                    add(rank, ACROSS, 0, self.counts[rank, 0][i])
        return found


    def on_path(self):
        """By function: time on a core, and counts."""
        found = {}
        for begin, enters, _ in self.stretches:
            rank = int(numpy.argmax(enters))
            for worker, first, beyond in self.whole_pieces(rank, begin, enters[rank]):
                times, sites = self.samples[rank, worker]
                for i in numpy.flatnonzero((times >= first) & (times < beyond))[1:]:
                    if sites[i] == sites[i - 1]:
                        name = switched_run.WAITING if sites[i] == 17 else f"f{sites[i]}"
                        on_core, sums = found.get(name, (0, 0))
                        state = self.threads[rank, worker][1][times[i - 1]:times[i]]
                        found[name] = on_core + int((state == switched_run.ON).sum()), sums + self.counts[rank, worker][i]
        return found


def told(row, before=""):
    values = [row.get(before + NAMES.get(name, name)) for name in COUNTERS]
    return [None if value is None else round(value * 1e9) if name == "task_clock" else value
            for name, value in zip(COUNTERS, values)]


def wanted(run, counts):
    return [None if name in run.without else int(count) for name, count in zip(COUNTERS, counts)]


def main():
    what, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
    run = Run(*numbers)
    if what == "make":
        run.write()
        return
    if what == "path":
        got = {row["function"]: (switched_run.ns(row["counted_s"]), told(row)) for row in json.load(sys.stdin)["counted"]}
        if got != (true := {name: (time, wanted(run, counts)) for name, (time, counts) in run.on_path().items()}):
            sys.exit(f"{got} instead of {true}")
        return
    got, true = json.load(sys.stdin)["counters"], run.true()
    if set(got["none_of"]) != set(run.without):
        sys.exit(f"none of {got['none_of']} instead of {run.without}")
    for key, needs in (("instructions_ratio", {"instructions"}), ("clock_ratio", {"cycles"}),
                       ("cycles_per_instruction_ratio", {"instructions", "cycles"})):
        if needs & set(run.without) and key in got["slowest"]:
            sys.exit(f"{key} without counts of {needs & set(run.without)}: {got['slowest']}")
    functions = {(row["rank"], row["function"]): (switched_run.ns(row["counted_s"]), told(row)) for row in got["by_function"]}
    if functions != {key: (time, wanted(run, counts)) for key, (time, counts) in true.items() if key[1] != ACROSS}:
        sys.exit(f"{functions} instead of {true}")
    for row in got["by_rank"]:
        of = [true[key] for key in true if key[0] == row["rank"] and key[1] != ACROSS]
        if (switched_run.ns(row["counted_s"]), told(row)) != (sum(time for time, _ in of), wanted(run, sum(c for _, c in of))):
            sys.exit(f"{row} instead of {of}")
        if told(row, "across_") != wanted(run, true[row["rank"], ACROSS][1]):
            sys.exit(f"{row} instead of {true[row['rank'], ACROSS]} across calls")


main()
