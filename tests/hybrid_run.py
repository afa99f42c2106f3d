#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run of processes with several threads, in which the state of each thread is known at each nanosecond.

    tests/hybrid_run.py make KIND SEED RANKS STRETCHES > trace
                            KIND random: threads leave their cores at random, some begin late or end early;
                            serial: 4 threads, the first one is alone for half of the time outside MPI;
                            slow: 4 threads, the last one works twice as long as the others
                            spins: the same, and the others have samples in a runtime meanwhile
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
import switched_run  # noqa: E402 (the one beside this file)
from switched_run import ABSENT, BLOCKED, ON, PERIOD, PLACES, PREEMPTED, UNKNOWN  # noqa: E402

ASLEEP = 9              # a sleeping thread of the MPI library
RUNTIME = (17, 0)       # a place where threads wait for each other


class Run(switched_run.Run):
    def __init__(self, kind, *numbers):
        self.kind = kind
        super().__init__(*numbers)

    def computes(self):
        return self.random.integers(1, 8000, self.ranks) if self.kind == "random" else [4000] * self.ranks

    def barrier(self):
        return 200

    def workers(self, rank):
        return [*range(int(self.random.integers(2, 6)) if self.kind == "random" else 4), ASLEEP]

    def thread(self, worker):
        """The intervals are those of the states, each at one of the places."""
        state = self.asleep() if worker == ASLEEP else self.planted(worker) if self.kind != "random" else \
            self.random_states(worker)
        cuts = [0, *(numpy.flatnonzero(numpy.diff(state)) + 1), self.end]
        places = list(PLACES)
        return int(numpy.flatnonzero(state != ABSENT)[0]), state, [
            (int(a), int(b), int(state[a]), *places[int(self.random.integers(len(places)))])
            for a, b in zip(cuts, cuts[1:]) if state[a] not in (ON, ABSENT)]

    def asleep(self):
        state = numpy.full(self.end, BLOCKED)
        for begin, *_ in self.stretches if self.kind != "random" else ():
            state[begin + 10:begin + 12] = ON               # it wakes up: no fifth thread
        return state

    def random_states(self, worker):
        state, at = numpy.full(self.end, ON), 0
        while at < self.end:
            until = at + int(self.random.integers(1, 3000))
            state[at:until] = self.random.choice([ON, BLOCKED, PREEMPTED, UNKNOWN], p=[.5, .3, .1995, .0005])
            at = until
        if worker > 2:
            state[:self.random.integers(0, self.end // 3)] = ABSENT
            state[self.random.integers(self.end // 2, self.end):] = ABSENT
        return state

    def planted(self, worker):
        state = numpy.full(self.end, ON)
        for begin, enters, _ in self.stretches:
            if (self.kind == "serial" and worker > 0) or (self.kind == "slow" and worker < 3):
                state[begin + 2000:enters[0]] = BLOCKED
        return state

    def sample_times(self, rank, worker):
        """A thread that spins has a sample in each period, those that wait are half of them there."""
        if self.kind == "random":
            return super().sample_times(rank, worker)
        if self.kind != "spins" or worker == ASLEEP:
            return numpy.zeros(0, int), numpy.zeros(0, int)
        at = numpy.concatenate([numpy.arange(begin + PERIOD // 2, enters[0], PERIOD) for begin, enters, _ in self.stretches])
        begins = numpy.array([begin for begin, *_ in self.stretches])
        begun = begins[numpy.searchsorted(begins, at, "right") - 1]
        return at, numpy.where((worker < 3) & (at > begun + 2000), RUNTIME[0], 1)

    def without_waits(self, rank, worker):
        """The states, with BLOCKED also while the thread waits on a core, or for one."""
        state = self.threads[rank, worker][1].copy()
        for begin, enters, _ in self.stretches:
            waits = self.waits(rank, worker, begin, enters[rank])[begin:]
            part = state[begin:enters[rank]]
            woken = self.woken(rank, worker, begin, enters[rank])[begin:]
            part[waits & ~woken & numpy.isin(part, (ON, PREEMPTED))] = BLOCKED
        return state

    def true(self):
        """Thread time by reason, from the state at each nanosecond outside MPI; threads of each rank."""
        sums = dict.fromkeys(("useful", "serial", "imbalance", "blocked", "preempted", "unknown"), 0)
        counts, weighed, capacity = [], 0, 0
        for rank in range(self.ranks):
            outside = numpy.zeros(self.end, bool)
            for begin, enters, _ in self.stretches:
                outside[begin:enters[rank]] = True
            states = numpy.array([self.without_waits(rank, worker)[outside]
                                  for of, worker in sorted(self.threads) if of == rank])
            known = ~(states == UNKNOWN).any(axis=0)
            # While the others are not active, a first thread without a core has nobody to wait for.
            alone = ~numpy.isin(states, (ON, PREEMPTED, UNKNOWN)).any(axis=0)
            states[0][alone & (self.threads[rank, 0][1][outside] == PREEMPTED)] = PREEMPTED
            on = (states == ON)[:, known].sum(axis=0)
            active, first = on + (states == PREEMPTED)[:, known].sum(axis=0), numpy.isin(states[0][known], (ON, PREEMPTED))
            threads = max(n for n in range(1, 9) if (active >= n).sum() > len(active) / 1000)
            # With more of them active than it has, for less than 1/1000 of its time, all those times are one.
            useful = sum(min(int(on[active == n].sum()), min(n, threads) * int((active == n).sum())) for n in range(1, 9))
            active = numpy.minimum(active, threads)
            idle = threads - active
            sums["useful"] += useful
            sums["preempted"] += int(active.sum()) - useful
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
    if got["spinning"] != ("waiting" if kind in ("random", "spins") else "useful"):
        sys.exit(f"{kind}: spinning is {got['spinning']}")
    near("mpi", got["mpi"], weighed / (sum(counts) * (run.end - switched_run.BEGIN)))
    near("threads", got["threads"], sums["useful"] / capacity)
    near("identity", got["parallel"], got["mpi"] * got["threads"])
    near("identity of threads", got["threads"], got["serial"] * got["imbalance"] * got["on_core"])
    near("serial", got["serial"], 1 - sums["serial"] / capacity)
    near("imbalance", got["imbalance"], 1 - sums["imbalance"] / (capacity - sums["serial"]))
    # half of the time 1 of 4 threads works
    planted = {"serial": (0.625, 1), "slow": (1, 0.625), "spins": (1, 0.625)}
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
