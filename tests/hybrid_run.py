#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run of processes with several threads, in which the state of each thread is known at each nanosecond.

    tests/hybrid_run.py make KIND SEED RANKS STRETCHES > trace
                            KIND random: threads leave their cores at random, some begin late or end early;
                            serial: 4 threads, the first one is alone for half of the time outside MPI;
                            slow: 4 threads, the last one works twice as long as the others
    tests/hybrid_run.py judge KIND SEED RANKS STRETCHES < imbalance.json
                            exit 1 and a line if the tool has other efficiencies, or has some although the
                            states are unknown for over 1 % of the time
"""
import json
import os
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

ON, BLOCKED, PREEMPTED, UNKNOWN, ABSENT = -1, 0, 1, 2, 3
BEGIN = 1000


class Run:
    def __init__(self, kind, seed, ranks, stretches):
        self.random = numpy.random.default_rng(seed)
        self.ranks, self.stretches = ranks, []              # (begin, enters, leave)
        begin = BEGIN
        for _ in range(stretches):
            lengths = self.random.integers(1, 8000, ranks) if kind == "random" else [4000] * ranks
            enters = [begin + int(length) for length in lengths]
            self.stretches.append((begin, enters, max(enters) + 200))
            begin = max(enters) + 200
        self.end = begin
        threads = [int(self.random.integers(2, 6)) if kind == "random" else 4 for _ in range(ranks)]
        self.states = {(rank, worker): self.random_states(worker) if kind == "random" else self.planted(kind, worker)
                       for rank in range(ranks) for worker in range(threads[rank])}
        for rank in range(ranks):                           # a sleeping thread of the MPI library
            self.states[rank, 9] = numpy.full(self.end, BLOCKED)
            for begin, *_ in self.stretches if kind != "random" else ():
                self.states[rank, 9][begin + 10:begin + 12] = ON    # it wakes up: no fifth thread

    def random_states(self, worker):
        state, at = numpy.full(self.end, ON), 0
        while at < self.end:
            until = at + int(self.random.integers(1, 3000))
            state[at:until] = self.random.choice([ON, BLOCKED, PREEMPTED, UNKNOWN], p=[.5, .3, .1999, .0001])
            at = until
        if worker > 2:
            state[:self.random.integers(0, self.end // 3)] = ABSENT
            state[self.random.integers(self.end // 2, self.end):] = ABSENT
        return state

    def planted(self, kind, worker):
        state = numpy.full(self.end, ON)
        for begin, enters, _ in self.stretches:
            half = begin + 2000
            if (kind == "serial" and worker > 0) or (kind == "slow" and worker < 3):
                state[half:enters[0]] = BLOCKED
        return state

    def write(self):
        out = trace.Writer(sys.stdout.buffer, "trace")
        out.put("run", {"ranks": self.ranks, "locations": self.ranks, "run_ns": self.end + 10})
        for number, name in enumerate(("MPI_Init", "MPI_Barrier", "MPI_Finalize"), 1):
            out.put("call", {"number": number, "name": name})
        out.put("site", {"site": 1, "offset": 1, "function": "f", "file": "f.c", "line": 1})
        self.rows(out, 0, 1, [0] * self.ranks, BEGIN, 0)
        for seq, (begin, enters, leave) in enumerate(self.stretches, 1):
            self.rows(out, seq, 2, enters, leave, begin)
        self.rows(out, len(self.stretches) + 1, 3, [self.end] * self.ranks, self.end + 10, self.end)
        out.end()

    def rows(self, out, seq, call, enters, leave, begin):
        for rank in range(self.ranks):
            for of, worker in self.states:
                if of == rank:
                    self.switched(out, rank, worker, begin, min(leave, self.end))
            out.block("calls", {"enter": [enters[rank]], "duration": [leave - enters[rank]], "call": [call],
                                "comm": [1], "site": [1]}, location=rank, first=seq)

    def switched(self, out, rank, worker, begin, leave):
        state = self.states[rank, worker]
        there = numpy.flatnonzero(state != ABSENT)
        start, end = int(there[0]), min(leave, int(there[-1]) + 1)
        begin = max(begin, start)
        if begin >= end:
            return
        cuts = numpy.flatnonzero(numpy.diff(state[begin:end])) + begin + 1
        pieces = [(a, b) for a, b in zip([begin, *cuts], [*cuts, end]) if state[a] != ON]
        a, b = numpy.array(pieces, dtype=numpy.int64).reshape(-1, 2).T
        body = {"location": rank, "count": len(a), "from_ns": start, "until_ns": end,
                "time": a.astype("<i8").tobytes(), "duration": (b - a).astype("<u4").tobytes(),
                "reason": state[a].astype("<u1").tobytes()}
        out.put("switched", {**body, "worker": worker} if worker else body)

    def true(self):
        """Thread time by reason, from the state at each nanosecond outside MPI; threads of each rank."""
        sums = dict.fromkeys(("useful", "serial", "imbalance", "blocked", "preempted", "unknown"), 0)
        counts, weighed, capacity = [], 0, 0
        for rank in range(self.ranks):
            outside = numpy.zeros(self.end, bool)
            for begin, enters, _ in self.stretches:
                outside[begin:enters[rank]] = True
            states = numpy.array([s[outside] for (of, _), s in sorted(self.states.items()) if of == rank])
            known = ~(states == UNKNOWN).any(axis=0)
            on, ready = (states == ON)[:, known].sum(axis=0), (states == PREEMPTED)[:, known].sum(axis=0)
            active, first = on + ready, numpy.isin(states[0][known], (ON, PREEMPTED))
            threads = max(n for n in range(1, 9) if (active >= n).sum() > len(active) / 1000)
            active, on = numpy.minimum(active, threads), numpy.minimum(on, threads)
            idle = threads - active
            sums["useful"] += int(on.sum())
            sums["preempted"] += int(ready.sum())
            sums["blocked"] += int(idle[active == 0].sum())
            sums["serial"] += int(idle[(active == 1) & first].sum())
            sums["imbalance"] += int(idle[(active > 1) | ((active == 1) & ~first)].sum())
            sums["unknown"] += int((~known).sum())
            counts.append(threads)
            weighed += threads * int(outside.sum())
            capacity += threads * int(known.sum())
        return sums, counts, weighed, capacity


def near(what, got, wanted):
    if abs(got - wanted) > 2e-9 * max(1, abs(wanted)):
        sys.exit(f"{what}: {got} instead of {wanted}")


def judge(run, kind, got):
    sums, counts, weighed, capacity = run.true()
    outside = sum(enter - begin for begin, enters, _ in run.stretches for enter in enters)
    if got is None or sums["unknown"] > outside // 100:
        sys.exit(got is not None or sums["unknown"] <= outside // 100)
    for key, wanted in sums.items():
        if round(got[f"{key}_s"] * 1e9) != wanted:
            sys.exit(f"{key}: {got} instead of {wanted} ns")
    if got["thread_count"] != sum(counts) or round(got["outside_mpi_s"] * 1e9) != capacity:
        sys.exit(f"{got} instead of {counts} threads, {capacity} ns")
    if sum(wanted for key, wanted in sums.items() if key != "unknown") != capacity:
        sys.exit(f"{sums} are not {capacity}")
    near("mpi", got["mpi"], weighed / (sum(counts) * (run.end - BEGIN)))
    near("threads", got["threads"], sums["useful"] / capacity)
    near("identity", got["parallel"], got["mpi"] * got["threads"])
    near("identity of threads", got["threads"], got["serial"] * got["imbalance"] * got["on_core"])
    near("serial", got["serial"], 1 - sums["serial"] / capacity)
    near("imbalance", got["imbalance"], 1 - sums["imbalance"] / (capacity - sums["serial"]))
    planted = {"serial": (0.625, 1), "slow": (1, 0.625)}    # half of the time 1 of 4 threads works
    if kind in planted and (got["serial"], got["imbalance"], got["on_core"]) != (*planted[kind], 1):
        sys.exit(f"{kind}: {got}")


def main():
    what, kind, numbers = sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]]
    run = Run(kind, *numbers)
    if what == "make":
        run.write()
    else:
        judge(run, kind, json.load(sys.stdin)["hybrid"])


main()
