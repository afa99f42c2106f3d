#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/delays_check.py FIRST COUNT - do waits shrink by lp-imbalance's costs if lp-replay removes their cause?

A run is a chain: each rank computes in some pieces, receives from the previous rank, computes again and sends to the
next. So rank k waits at most once, for rank k - 1. lp-imbalance gives, for each rank and call site, the short-term
cost S of the delay there, and the long-term cost L. Then lp-replay shortens that computation by S, and the wait of
the next rank and the sum of all waits are compared:

- After the rank's own wait, or if it had none, the computation decides when its message leaves. The wait of the next
  rank shrinks by S, and all waits together by at least S + L. If the rank had no wait because its message was early,
  they shrink at most by the time that it was early: from then on the rank waits itself.
- Before the rank's own wait it does not: that wait grows by S, and no other changes. See CAUSES in lp-imbalance(1).

Costs are printed in nanoseconds, and lp-replay rounds each piece of computation to one, so a wait may differ by the
number of pieces before it. Exit 1 and a line if it differs by more.
"""
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
PACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack")
SITES = 6                       # call sites of the program


class Chain:
    def __init__(self, seed):
        chance = random.Random(seed)
        self.ranks = chance.randint(3, 5)
        self.before, self.behind = [], []       # by rank: (site, ns) of each piece, before its receive and behind it
        for _ in range(self.ranks):
            sites = chance.sample(range(1, SITES + 1), SITES)
            cut = chance.randint(1, SITES - 1)
            self.before.append(self.pieces(chance, sites[:cut], chance.choice((50, 200, 400))))
            self.behind.append(self.pieces(chance, sites[cut:], chance.choice((20, 100, 300))))

    @staticmethod
    def pieces(chance, sites, most):
        return [(chance.choice(sites), chance.randint(1, most) * 1000) for _ in range(chance.randint(1, 4))]

    def trace(self):
        lines = [f"trace ranks={self.ranks}"] + [f"site site={s} offset={s}" for s in range(1, SITES + 1)]
        sent = 0
        self.waits, self.early = [0] * self.ranks, [0] * self.ranks
        for rank in range(self.ranks):
            now = 10
            lines.append(f"{rank} MPI_Init 0 {now}")
            for i, (site, ns) in enumerate(self.before[rank]):
                now += ns
                if rank > 0 and i == len(self.before[rank]) - 1:
                    self.waits[rank], self.early[rank] = max(0, sent - now), max(0, now - sent)
                    lines.append(f"{rank} MPI_Recv {now} {max(now, sent)} comm=1 peer={rank - 1} tag=0 received=8 site={site}")
                    now = max(now, sent)
                else:
                    lines.append(f"{rank} MPI_Pack {now} {now} site={site}")
            for i, (site, ns) in enumerate(self.behind[rank]):
                now += ns
                if rank + 1 < self.ranks and i == len(self.behind[rank]) - 1:
                    lines.append(f"{rank} MPI_Send {now} {now} comm=1 peer={rank + 1} tag=0 sent=8 site={site}")
                    sent = now
                else:
                    lines.append(f"{rank} MPI_Pack {now} {now} site={site}")
        return "\n".join(lines) + "\n"


def run(*command, given=None):
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return done.stdout


def analysed(graph):
    answer = json.loads(run("lp-imbalance", "-F", "json", given=graph))
    late = next(s for s in answer["wait_states"] if s["name"] == "late_sender")
    return [round(1e9 * s) for s in late["ranks"]], answer["delays"]


def check(seed):
    """How many delays were taken away, and how many of these were before a wait; a line if a wait is wrong."""
    chain = Chain(seed)
    graph = run("lp-graph", given=run(PACK, given=chain.trace().encode()))
    waits, delays = analysed(run("lp-replay", given=graph))
    told = sum(round(1e9 * (d["short_s"] + d["long_s"])) for d in delays)
    if waits != chain.waits or abs(told - sum(waits)) > len(delays):
        sys.exit(f"seed {seed}: waits {waits}, not {chain.waits}; {told} ns of them have a cause")
    counts = [0, 0]
    for delay in delays:
        rank, site = delay["rank"], delay["site"]
        short, long = (round(1e9 * delay[key]) for key in ("short_s", "long_s"))
        all_ns = sum(ns for s, ns in chain.before[rank] + chain.behind[rank] if s == site)
        if delay["kind"] != "compute" or short == 0 or rank + 1 == chain.ranks:
            continue
        factor = (all_ns - short) / all_ns
        now, _ = analysed(run("lp-replay", "--scale", f"rank={rank},site=#{site},factor={factor:.15f}", given=graph))
        shrunk = [was - is_ for was, is_ in zip(waits, now)]
        bound = len(chain.before[rank] + chain.behind[rank]) + 2
        is_before = any(s == site for s, _ in chain.before[rank])
        if rank > 0 and is_before and waits[rank] > 0:
            wanted = [-short if r == rank else 0 for r in range(chain.ranks)]
            right = all(abs(a - b) <= bound for a, b in zip(shrunk, wanted))
        else:
            gone = min(short, chain.early[rank]) if rank > 0 and is_before else short
            right = abs(shrunk[rank + 1] - gone) <= bound and \
                (gone < short or sum(shrunk) >= short + long - bound * chain.ranks)
            right = right and all(w >= -bound or (r == rank and gone < short) for r, w in enumerate(shrunk))
        if not right:
            sys.exit(f"seed {seed}: rank {rank}, site {site}, cost {short} + {long} ns: waits {waits} became {now}")
        counts[is_before and rank > 0 and waits[rank] > 0] += 1
    return counts


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    sums = [sum(of) for of in zip(*(check(seed) for seed in range(first, first + count)))]
    print(f"{sums[0]} delays decided when a message left, {sums[1]} came before a wait of the delaying rank")
