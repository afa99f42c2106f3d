#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/causes_check.py FIRST COUNT - are the costs of delays those of the definition, with all causes of each wait?

In a run, ranks compute and call MPI_Pack many times, then one sends to another, which may wait. Partners are random, so
a wait looks back at hundreds of calls, and has dozens of causes. Here all of them are kept, and each call is looked at
for each wait: see CAUSES in lp-imbalance(1). lp-imbalance passes on a sample of the causes. So short-term costs must be
the same, and so must the sum of long-term costs; each of the largest of these is an estimate. Exit 1 and a line if not.
"""
import collections
import json
import os
import random
import subprocess
import sys

PACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack")
RANKS, SITES, MESSAGES, MOST_PACKS = 8, 6, 700, 60


class Wait:
    def __init__(self, begin, end, shares):
        self.begin, self.end, self.shares = begin, end, shares


def between(begin, end, low, high):
    return max(0, min(end, high) - max(begin, low))


class Run:
    def __init__(self, seed):
        chance = random.Random(seed)
        self.calls = [[(0, 0, 10, 0, None)] for _ in range(RANKS)]      # end of the call before, enter, leave, site, wait
        self.met = collections.defaultdict(lambda: [0])                 # by pair: when they synchronised
        self.short, self.long = collections.Counter(), collections.Counter()
        self.lines = [f"trace ranks={RANKS}"] + [f"site site={s} offset={s}" for s in range(1, SITES + 1)]
        self.lines += [f"{rank} MPI_Init 0 10" for rank in range(RANKS)]
        slow = chance.randrange(RANKS)
        for _ in range(MESSAGES):
            sender, receiver = chance.sample(range(RANKS), 2)
            for rank in (sender, receiver):
                for _ in range(chance.randint(0, MOST_PACKS)):
                    self.call(rank, "MPI_Pack", chance, 300 if rank == slow else 200)
            sent = self.call(sender, "MPI_Send", chance, 200, f" comm=1 peer={receiver} tag=0 sent=8")
            self.call(receiver, "MPI_Recv", chance, 200, f" comm=1 peer={sender} tag=0 received=8", sender, sent)

    def call(self, rank, name, chance, most, rest="", sender=None, sent=0):
        site, before = chance.randint(1, SITES), self.calls[rank][-1][2]
        enter = before + chance.randint(1, most)
        leave = max(enter + (chance.randint(1, 20) if name == "MPI_Pack" else 0), sent)
        self.calls[rank].append((before, enter, leave, site, None))
        if sent > enter:
            self.calls[rank][-1] = (before, enter, leave, site, self.explain(rank, sender, enter, sent))
        if sender is not None:
            self.met[frozenset((rank, sender))].append(max(enter, sent))
        self.lines.append(f"{rank} {name} {enter} {leave}{rest} site={site}")
        return enter

    def spent(self, rank, low, high):
        """By code, without waits; and the waits with the time of each."""
        time, waits = collections.Counter(), []
        for before, enter, leave, site, wait in reversed(self.calls[rank]):
            if leave <= low:
                break
            time[site, "compute"] += between(before, enter, low, high)
            time[site, "mpi"] += between(enter, leave, low, high)
            if wait is not None and between(wait.begin, wait.end, low, high) > 0:
                waits.append((wait, between(wait.begin, wait.end, low, high)))
                time[site, "mpi"] -= waits[-1][1]
        return time, waits

    def explain(self, rank, late, begin, end):
        since = max(at for at in self.met[frozenset((rank, late))] if at <= begin)
        time, waits = self.spent(late, since, end)
        time.subtract(self.spent(rank, since, begin)[0])
        delays = {(late, *code): ns for code, ns in time.items() if ns > 0}
        all_ns = sum(delays.values()) + sum(ns for _, ns in waits)
        part, shares = min(1, (end - begin) / all_ns), collections.Counter()
        for delay, ns in delays.items():
            self.short[delay] += part * ns
            shares[delay] += part * ns / (end - begin)
        for wait, ns in waits:
            for delay, share in wait.shares.items():
                self.long[delay] += part * ns * share
                shares[delay] += part * ns * share / (end - begin)
        return Wait(begin, end, shares)


def run(*command, given):
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def check(seed):
    """The relative errors of the ten largest long-term costs."""
    planned = Run(seed)
    graph = run("lp-graph", given=run(PACK, given="\n".join(planned.lines).encode() + b"\n"))
    told = {(d["rank"], d["site"], d["kind"]): d
            for d in json.loads(run("lp-imbalance", "-F", "json", given=graph))["delays"]}
    for delay, ns in planned.short.items():
        if abs(1e9 * told[delay]["short_s"] - ns) > 1:
            sys.exit(f"seed {seed}: {delay} costs {ns} ns in the short term, not {told[delay]}")
    long = sum(1e9 * d["long_s"] for d in told.values())
    if abs(long - sum(planned.long.values())) > len(told):
        sys.exit(f"seed {seed}: all cost {sum(planned.long.values())} ns in the long term, not {long}")
    return [1e9 * told[delay]["long_s"] / ns - 1 for delay, ns in planned.long.most_common(10)]


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    errors = [e for seed in range(first, first + count) for e in check(seed)]
    mean, spread = sum(errors) / len(errors), (sum(e * e for e in errors) / len(errors)) ** 0.5
    print(f"{len(errors)} long-term costs: {100 * mean:.1f} % off on average, {100 * spread:.1f} % each")
    sys.exit(abs(mean) > 0.05 or spread > 0.25)
