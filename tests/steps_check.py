#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random programs whose steps are known, and a check of the steps that the tools find in their calls.

    tests/steps_check.py make SEED > trace      a program: loops, nested loops, loops of varying length, calls that not
                                                every step makes, exchanges with other neighbours on each rank, in one
                                                order or in another one each step, two loops in a row, or none
    tests/steps_check.py check FIRST COUNT      runs the tools of PATH on COUNT seeds; exit 1 and a line for each wrong
                                                answer. Prints how many programs' steps were found.

A period that was not planted is wrong; no steps at all are not. The steps are found a second time here, by the rules
of base/run/steps.h, and the path is divided a second time.
"""
import bisect
import collections
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

COLLECTIVES = ("MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Alltoall")
POLL, LOCAL = "MPI_Iprobe", "MPI_Comm_rank"
NAMES = ("MPI_Init", "MPI_Finalize", "MPI_Sendrecv", POLL, LOCAL) + COLLECTIVES


class Program:
    """rows[rank]: (call, enter, leave, site, peer); sites from 1. steps: for each loop the allowed numbers of steps."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ranks = self.random.randint(1, 5)
        self.clock = [self.random.randint(0, 500) for _ in range(self.ranks)]
        self.rows = [[] for _ in range(self.ranks)]
        self.sites, self.steps, self.begins = [None], [], []
        self.by_parity = self.random.random() < 0.2      # even and odd ranks call at other places
        self.polls = self.random.random() < 0.2
        # Of two fifths of the seeds, ranks have different neighbours, and some loops nothing but exchanges with these.
        self.more = random.Random(f"peers {seed}") if seed % 5 > 2 and self.ranks > 1 else None
        if self.more:
            all_pairs = [(a, b) for b in range(self.ranks) for a in range(b)]
            self.pairs = self.more.choice((                          # a chain, a star, or any
                [(a, b) for a, b in all_pairs if b == a + 1], [(a, b) for a, b in all_pairs if a == 0],
                self.more.sample(all_pairs, self.more.randint(1, len(all_pairs)))))
            self.computes = self.more.random() < 0.6                 # a step begins with a long computation
        self.run()

    def site(self, call):
        self.sites += [call, call]                       # the second for odd ranks
        return len(self.sites) - 2

    def new_call(self):
        return self.site(self.random.choice(COLLECTIVES + ("MPI_Sendrecv",) * 4))

    def call(self, site):
        name, rng = self.sites[site], self.random
        own = [site + (1 if self.by_parity and r % 2 and name == "MPI_Sendrecv" else 0) for r in range(self.ranks)]
        enter = [c + rng.randint(1, 1000) for c in self.clock]
        for r in range(self.ranks):
            for _ in range(rng.randint(0, 6) if self.polls and name == "MPI_Sendrecv" else 0):
                self.rows[r].append((POLL, enter[r], enter[r] + 1, self.poll, -1))
                enter[r] += 2
        for r in range(self.ranks):
            left, right = (r - 1) % self.ranks, (r + 1) % self.ranks
            needs = (enter[r], enter[left]) if name == "MPI_Sendrecv" else (enter[r],) if name == LOCAL else enter
            self.clock[r] = max(needs) + rng.randint(1, 20)
            self.rows[r].append((name, enter[r], self.clock[r], own[r], right))
            if name == "MPI_Sendrecv":
                self.rows[r].append(("part", enter[r], self.clock[r], own[r], left))

    def exchange(self, site, pairs):
        """One after the other: ranks that are in no pair make no call."""
        for pair in pairs:
            enter = [self.clock[r] + self.more.randint(1, 1000) for r in pair]
            for r, peer, begin in zip(pair, pair[::-1], enter):
                self.clock[r] = max(enter) + self.more.randint(1, 20)
                for name in ("MPI_Sendrecv", "part"):
                    self.rows[r].append((name, begin, self.clock[r], site + (self.by_parity and r % 2), peer))

    def rotate(self, site, distance):
        """Each rank sends to the one that is as far."""
        enter = [c + self.more.randint(1, 1000) for c in self.clock]
        for r in range(self.ranks):
            peers = (r + distance) % self.ranks, (r - distance) % self.ranks
            self.clock[r] = max(enter[r], enter[peers[1]]) + self.more.randint(1, 20)
            for name, peer in zip(("MPI_Sendrecv", "part"), peers):
                self.rows[r].append((name, enter[r], self.clock[r], site + (self.by_parity and r % 2), peer))

    def with_peers(self, items, deep):
        """The same with exchanges; or, in a loop around others, nothing else."""
        what, site, order = self.more.random(), self.site("MPI_Sendrecv"), self.more.choice(("fixed", "fixed", "changing"))
        if deep and what < 0.5:
            items = []
        if self.ranks > 2 and self.more.random() < 0.25:
            return items + [("rotate", site)]
        for n in range(self.more.randint(1, 2)):
            pairs = self.pairs[::-1] if n else self.pairs
            items.insert(self.more.randint(0, len(items)), ("pairs", site, order, pairs))
        return items

    def body(self, deep):
        """What a step consists of, in order: once (a site), or a function that makes calls."""
        items = [("once", self.new_call())]
        for _ in range(self.random.randint(0, 4)):
            what = self.random.random()
            if what < 0.5:
                items.append(("once", self.new_call()))
            elif what < 0.7:
                items.append(("some", self.new_call(), self.random.uniform(0.02, 0.6)))
            elif what < 0.75:
                items.append(("every", self.new_call(), self.random.randint(2, 12)))
            elif deep:
                low = self.random.randint(1, 12)
                items.append(("loop", self.body(False), low, self.random.choice((low, 2 * low))))
        self.random.shuffle(items)
        return self.with_peers(items, deep) if self.more and self.more.random() < 0.7 else items

    def step(self, items, number):
        for what, item, *more in items:
            if what == "once" or (what == "some" and self.random.random() < more[0]) or \
                    (what == "every" and number % more[0] == 0):
                self.call(item)
            elif what == "pairs":
                self.exchange(item, self.more.sample(more[1], len(more[1])) if more[0] == "changing" else more[1])
            elif what == "rotate":
                self.rotate(item, 1 + number % (self.ranks - 1))
            elif what == "loop":
                for i in range(self.random.randint(*more)):
                    self.step(item, i)

    def loop(self):
        items, count = self.body(True), int(6 * 1.7 ** self.random.uniform(0, 7))
        allowed = {count}
        for what, item, *more in items:
            if what == "every":
                allowed.add(len(range(0, count, more[0])))
        neighbours = collections.Counter(r for pair in self.pairs for r in pair) if self.more else {}
        if [item[0] for item in items] == ["pairs", "pairs"] and max(neighbours.values()) == 1:
            allowed.add(2 * count)                       # nothing tells the two exchanges
        self.begins.append([])
        for number in range(count):
            self.begins[-1].append(min(self.clock))
            if self.more and self.computes:
                self.clock = [c + self.more.randint(4000, 6000) for c in self.clock]
            self.step(items, number)
        self.begins[-1].append(max(self.clock))
        self.steps.append(allowed)

    def without(self):
        """No steps: each call once, calls in random order, or another number of calls on each rank."""
        sites = [self.new_call() for _ in range(self.random.randint(2, 9))]
        kind = self.random.randrange(4)
        if kind == 0:
            for _ in range(self.random.randint(2, 60)):
                self.call(self.new_call())
        elif kind == 1:
            shares = [self.random.uniform(1, 10) for _ in sites]
            for _ in range(self.random.randint(20, 600)):
                self.call(self.random.choices(sites, shares)[0])
        elif kind == 2:                                  # each call follows some others
            after = {s: self.random.sample(sites, 2) for s in sites}
            at = sites[0]
            for _ in range(self.random.randint(20, 600)):
                self.call(at)
                at = self.random.choice(after[at])
        else:
            places = [self.site(LOCAL) for _ in range(3)]
            for r in range(self.ranks):
                for _ in range(self.random.randint(10, 200) + 200 * r):
                    enter = self.clock[r] + self.random.randint(1, 100)
                    self.clock[r] = enter + 5
                    self.rows[r].append((LOCAL, enter, self.clock[r], self.random.choice(places), -3))

    def run(self):
        self.poll = self.site(POLL)
        self.call(self.site("MPI_Init"))
        for _ in range(self.random.randint(0, 5)):
            self.call(self.new_call())
        if self.random.random() < 0.25:
            self.without()
        else:
            for _ in range(self.random.choice((1, 1, 1, 2))):
                self.loop()
                for _ in range(self.random.randint(0, 3)):
                    self.call(self.new_call())
        self.call(self.site("MPI_Finalize"))

    def write(self, out):
        writer = trace.Writer(out, "trace")
        writer.put("run", {"ranks": self.ranks, "locations": self.ranks, "run_ns": max(self.clock)})
        numbers = {name: i + 1 for i, name in enumerate(NAMES)}
        for name, number in numbers.items():
            writer.put("call", {"number": number, "name": name})
        writer.put("module", {"module": 0, "path": "/p"})
        for site, call in enumerate(self.sites):
            if call:
                writer.put("site", {"site": site, "call": call, "module": 0, "offset": site,
                                    "function": f"f{site}", "file": "p.c", "line": site})
        numbers["part"] = 0
        for r, rows in enumerate(self.rows):
            column = list(zip(*rows))
            first = [c != "part" for c in column[0]]
            sends = [c == "MPI_Sendrecv" for c in column[0]]
            collective = [c in COLLECTIVES or c in ("MPI_Init", "MPI_Finalize") for c in column[0]]
            writer.block("calls", {
                "call": [numbers[c] for c in column[0]], "enter": column[1],
                "duration": [b - a for a, b in zip(column[1], column[2])], "site": column[3],
                "comm": [0 if c in (LOCAL, "MPI_Init", "MPI_Finalize") else 1 for c in column[0]],
                "peer": [(0 if c == "MPI_Bcast" else -3) if k else p for c, k, p in zip(column[0], collective, column[4])],
                "tag": [-2 if k or c == LOCAL else 0 for c, k in zip(column[0], collective)],
                "bytes_sent": [8 if s else 0 for s in sends],
                "bytes_received": [0 if f else 8 for f in first]}, location=r, first=0)
        writer.end()


# ---- the same rules, a second time ---------------------------------------------------------------

LEAST, MOST_CHANCE, CLEAR, CLEAR_CHANCE, PASSING_CHANCE, LEAST_SHARE = 5, 1e-3, 30, 0.05, 0.2, 20
FEW, RARE_IN_FEW = 16, 16
ALMOST_ALL, MOST, RARE, EULER, MOST_GAP = 0.88, 0.75, 64, 0.5772156649015329, 4096
MOST_TURNS, LONGER, SURELY = 32, math.log(1.5), 6


def spread_of(gaps):
    return 0 if len(set(gaps)) == 1 else math.log(sum(gaps) / len(gaps)) - sum(map(math.log, gaps)) / len(gaps)


def chance_of(gaps):
    """How likely gaps are so alike if each chance is as good as the others."""
    gaps = [g for g in gaps if g > 0]
    if len(gaps) < 2:
        return 1
    if len(set(gaps)) == 1:
        return 0
    n, mean = len(gaps), sum(gaps) / len(gaps)
    spread = math.log(mean) - sum(map(math.log, gaps)) / n
    whole = EULER if mean > 200 else math.log(mean) - sum(
        (1 - 1 / mean) ** (k - 1) / mean * math.log(k) for k in range(1, int(40 * mean) + 40))
    x = 2 * n * spread / (1 + (n + 1) / (6 * n)) * EULER / whole
    scale = 2 / (9 * (n - 1))
    return 0.5 * math.erfc((1 - scale - (x / (n - 1)) ** (1 / 3)) / math.sqrt(2 * scale))


def gaps_among(numbers, others):
    """The calls of OTHERS between two of NUMBERS."""
    return [bisect.bisect(others, b) - bisect.bisect(others, a) for a, b in zip(numbers, numbers[1:])]


def gaps_of(numbers):
    return [b - a for a, b in zip(numbers, numbers[1:])]


def bursts_of(calls):
    """[(place, number)] without companions and without all but the first call of a burst; calls at place and companions; places
    whose bursts differ in length."""
    before, head, number_of = {}, {}, collections.Counter(calls)
    for a, b in zip([None] + calls, calls):
        before.setdefault(b, set()).add(a)
    for place in before:                                 # in order of first calls
        a, *more = before[place]
        head[place] = head[a] if not more and a is not None and number_of[a] == number_of[place] else place
    left = [(place, n) for n, place in enumerate(calls) if head[place] == place]
    runs = {}
    for (a, _), (b, _) in zip([(None, 0)] + left, left):
        runs.setdefault(b, []).append(0) if a != b else None
        runs[b][-1] += 1
    bursts = {place for place, r in runs.items() if max(r) > 1 and chance_of(r) < MOST_CHANCE}
    return [x for i, x in enumerate(left) if not (i and left[i - 1][0] == x[0] and x[0] in bursts)], \
        collections.Counter(head[place] for place in calls), {p for p in bursts if len(set(runs[p])) > 1}


class Group:
    """Places whose calls interleave: at[place] is the numbers of its bursts."""

    def __init__(self, first, last):
        self.at, self.first, self.last = {}, first, last
        self.chance, self.doubt, self.flags = {}, set(), {}

    def answer(self, place):
        """0: it does not divide the group, 1: perhaps, 2: it does"""
        numbers = self.at[place]
        gaps = gaps_of(numbers)
        if len(numbers) < LEAST or max(numbers[0] - self.first, self.last - numbers[-1]) > \
                max(2 * max(gaps), (self.last - self.first) // 10):
            return 0
        flag = self.flags.get(place)
        if flag == "passing":
            return 0
        if self.chance[place] < MOST_CHANCE:
            return 1 if place in self.doubt or flag == "contested" else 2
        return 0 if len(numbers) >= CLEAR and chance_of(gaps) > CLEAR_CHANCE else 1

    def judge(self, calls, weight):
        order = sorted(self.at, key=lambda p: (-len(self.at[p]), self.at[p][0]))
        self.varies, self.may_vary, self.alternates, self.mixed = set(), set(), set(), set()
        for i, place in enumerate(order):
            own, chance = spread_of(gaps_of(self.at[place])) if len(self.at[place]) > 1 else 0, self.chance[place]
            for other in order[:i]:
                gaps = [g for g in gaps_among(self.at[place], self.at[other]) if g > 0]
                if len(gaps) < 4 or own < spread_of(gaps) / 4:
                    continue
                if self.regular(other):
                    chance = max(chance, chance_of(gaps))
                elif chance_of(gaps) >= MOST_CHANCE:
                    self.doubt.add(place)
            self.chance[place] = chance
            if self.regular(place):
                self.find_instead(place, calls)
        for place in filter(self.regular, order):
            if chain_chance(place, self.within(place, order), calls) >= MOST_CHANCE:
                self.doubt.add(place)
        self.flags = {p: f for p, f in ((p, self.flag(p, order, weight)) for p in order) if f}

    def within(self, place, order):
        """The place and those that come in several of its steps."""
        def several(other):
            fewer, more = sorted((place, other), key=order.index, reverse=True)
            return sum(g > 0 for g in gaps_among(self.at[fewer], self.at[more])) > 1
        return {other for other in order if other == place or several(other)}

    def regular(self, place):
        return len(self.at[place]) >= LEAST and self.chance[place] < MOST_CHANCE

    def steps(self, place, calls):
        """The places in each step that the place begins."""
        steps = []
        for other, number in calls:
            if other == place:
                steps.append(set())
            elif steps:
                steps[-1].add(other)
        return steps[:-1]

    def having(self, place, calls):
        steps = self.steps(place, calls)
        return [(other, [i for i, step in enumerate(steps) if other in step]) for other in self.at
                if other != place and any(other in step for step in steps)]

    def find_instead(self, place, calls):
        steps, having = len(self.at[place]) - 1, self.having(place, calls)
        for main, mains in having:
            share = len(mains) / steps
            for other, others in having:
                alone = len(set(others) - set(mains))
                if MOST <= share < 1 and alone >= 2 and 2 * alone >= steps - len(mains) and \
                        alone + 1 >= len(self.at[other]):
                    clear = share >= ALMOST_ALL and place not in self.uneven
                    (self.varies if clear else self.may_vary).add(place)
                    (self.alternates if clear else self.mixed).update((main, other))

    def rare(self, count, weight, share):
        return sum(weight[p] for p in self.at if len(self.at[p]) == count) * share <= self.last - self.first + 1

    def sure(self, place):
        """The answer, unless a step may be a part of another one, or output."""
        count = len(self.at[place])
        peers = {self.peers[number] for number in self.at[place]}
        unsure = len(peers) > 1 or (count < FEW and self.rare(count, self.weight, RARE_IN_FEW))
        return min(self.answer(place), 1 if unsure else 2)

    def flag(self, place, order, weight):
        count = len(self.at[place])
        for other in order[:order.index(place)]:
            more, instead = len(self.at[other]), place in self.alternates and other in self.varies
            if self.answer(other) < 2 or not (more >= 2 * count or (instead and more > count)):
                continue
            gaps = [g for g in gaps_among(self.at[place], self.at[other]) if g > 0]
            rare = self.rare(count, weight, RARE)
            if instead or self.chance[place] > PASSING_CHANCE or \
                    ((other in self.varies or rare) and same_mostly(gaps)):
                return "passing"
        return "contested" if any(1.05 * count < len(self.at[o]) and (
            (place in self.mixed and o in self.may_vary) or
            (len(self.at[o]) < 2 * count and o not in self.uneven and self.answer(o) == 2)) for o in order) else None


def same_mostly(gaps):
    """By majority vote: nine of ten gaps are equal, or all but one."""
    usual, votes = None, 0
    for gap in gaps:
        usual = gap if votes == 0 else usual
        votes += 1 if gap == usual else -1
    return 10 * votes >= 8 * len(gaps) or votes + 2 >= len(gaps)


def chain_chance(place, within, calls):
    """How likely the calls at a place are so alike if each call depends only on the one before."""
    after = {}
    for (a, _), (b, _) in zip(calls, calls[1:]):
        if b in within:
            after.setdefault(a, collections.Counter())[b] += 1
    at, numbers = {place: 1.0}, [i for i, (p, _) in enumerate(calls) if p == place]
    gaps, chances, alive = gaps_of(numbers), [], 1.0
    while alive > 1e-6 and len(chances) < MOST_GAP:
        then = collections.Counter()
        for a, share in at.items():
            if a not in after:
                continue
            whole = sum(after[a].values())
            for b, n in after[a].items():
                then[b] += share * n / whole
        chances.append(then.pop(place, 0))
        alive = sum(then.values())
        at = then
    total = sum(chances)
    if alive == 0 or total == 0:                         # each way leads back to the place, or none that is left
        return 0
    mean = sum(k * c for k, c in enumerate(chances, 1)) / total
    logs = sum(math.log(k) * c for k, c in enumerate(chances, 1)) / total
    spread = math.log(mean) - logs
    vary = sum(c * (k / mean - 1 - math.log(k) + logs) ** 2 for k, c in enumerate(chances, 1)) / total
    n = len(gaps)
    freedom = max(2 * n * spread ** 2 / vary, 1e-3)
    x, scale = freedom * spread_of(gaps) / spread, 2 / (9 * freedom)
    return 0.5 * math.erfc((1 - scale - (x / freedom) ** (1 / 3)) / math.sqrt(2 * scale))


def groups_of(rows):
    """The groups of a rank; only rank 0 judges its places by those of others."""
    calls = [row[3] for row in rows]
    left, weight, uneven = bursts_of(calls)
    span, groups = {}, []
    for number, place in enumerate(calls):
        span[place] = (span.get(place, (number,))[0], number)
    for place, (first, last) in span.items():
        if not groups or first > groups[-1].last:
            groups.append(Group(first, last))
        groups[-1].last = max(last, groups[-1].last)
    for group in groups:
        own = [x for x in left if group.first <= x[1] <= group.last]
        for place, number in own:
            group.at.setdefault(place, []).append(number)
        group.chance = {place: chance_of(gaps_of(numbers)) for place, numbers in group.at.items()}
        group.uneven = uneven
        group.calls, group.weight, group.peers = own, weight, [row[4] for row in rows]
    return groups


def find_steps(program):
    """The numbers of steps of all loops, in order, and whether a loop is undecided."""
    calls = [[row for row in rows if row[0] not in ("part", POLL)] for rows in program.rows]
    ranks = [groups_of(c) for c in calls]
    found, undecided = [], False

    def times(rank, group):
        places = {row[3] for row in calls[rank][group.first:group.last + 1]}
        return (min(row[1] for row in calls[rank] if row[3] in places), max(row[2] for row in calls[rank] if row[3] in places))

    for group in ranks[0]:
        begin, end = times(0, group)
        if (end - begin) < max(program.clock) // LEAST_SHARE:
            continue
        group.judge(group.calls, group.weight)
        others = [group] + [max(ranks[r], key=lambda g: min(times(r, g)[1], end) - max(times(r, g)[0], begin))
                            for r in range(1, program.ranks)]
        least = 0
        for count in sorted({len(n) for n in group.at.values() if len(n) >= LEAST}):
            least = 2
            for other in others:
                least = min([least, max([other.sure(p) for p, n in other.at.items() if len(n) == count], default=0)])
            if least == 2:
                found.append(count)
            if least > 0:
                break
        if least < 2:
            turns = steps_by_turns(others, calls, count if least else math.inf)
            found += turns
            least = 2 if turns else least
        undecided |= least == 1
    return found, undecided


def period_of(peers):
    """With which they repeat, at most MOST_TURNS; 0: none."""
    return next((p for p in range(1, min(MOST_TURNS, len(peers)) + 1) if peers[p:] == peers[:-p]), 0)


def begins_by_time(numbers, rows, period):
    """Is the time before a call longer in some turn of the period than in another one?"""
    logs = [math.log(1 + rows[n][1] - (rows[n - 1][2] if n else 0)) for n in numbers]
    turns = [logs[k::period] for k in range(period)]
    means = [(sum(t) / len(t), t) for t in turns]
    def variance(mean, values):
        return max(sum(v * v for v in values) / len(values) - mean * mean, 0) / len(values)
    most, least = max(means), min(means)
    far = most[0] - least[0]
    return far >= LONGER and far * far >= SURELY ** 2 * (variance(*most) + variance(*least))


def steps_by_turns(groups, calls, limit):
    """Each p-th call at a place begins a step, if its peers repeat with period p on the ranks."""
    def counts(group, rows):
        for place, numbers in sorted(group.at.items(), key=lambda item: item[1][0]):
            period = period_of([rows[n][4] for n in numbers])
            if group.answer(place) == 2 and period:
                yield place, numbers, period

    def divides(group, rows, steps):
        return any(len(numbers) == steps * turns and turns % period == 0 and (period > 1 or turns == 1)
                   and (steps >= FEW or not group.rare(len(numbers), group.weight, RARE_IN_FEW))
                   for _, numbers, period in counts(group, rows) for turns in [len(numbers) // steps])
    if not any(group.peers[n] != group.peers[numbers[0]] for group in groups for numbers in group.at.values() for n in numbers):
        return []
    wanted = set()
    for place, numbers, period in counts(groups[0], calls[0]):
        steps = len(numbers) // period
        if steps * period == len(numbers) and LEAST <= steps <= limit and \
                (period == 1 or begins_by_time(numbers, calls[0], period)):
            wanted.add(steps)
    return next(([steps] for steps in sorted(wanted) if all(divides(g, c, steps) for g, c in zip(groups, calls))), [])


# ---- check ---------------------------------------------------------------------------------------

def tell(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def check_sums(seed, by, graph):
    """Sections make up the path, and each rank's time lies in one section at a time."""
    wrong, path = [], tell("lp-critpath", "-F", "json", graph)

    def ns(seconds):
        return round(seconds * 1e9)
    parts = ("start_s", "compute_s", "blocked_s", "preempted_s", "mpi_s", "transfer_s")
    if sum(ns(s["path_s"]) for s in by["sections"]) != ns(by["path_s"]):
        wrong.append(f"seed {seed}: the sections' paths are not the path")
    if any(sum(ns(s[p]) for p in parts) != ns(s["path_s"]) for s in by["sections"]):
        wrong.append(f"seed {seed}: the parts of a section are not its path")
    for key, kind in (("compute_s", "compute"), ("mpi_s", "mpi"), ("transfer_s", "transfer")):
        whole = sum(s["end_ns"] - s["begin_ns"] for s in path["segments"] if s["kind"] == kind)
        if sum(ns(s[key]) for s in by["sections"]) != whole:
            wrong.append(f"seed {seed}: {key} of the sections is not that of the path")
    return wrong


def check(seed, folder):
    program, wrong = Program(seed), []
    file, graph = os.path.join(folder, "trace"), os.path.join(folder, "graph")
    with open(file, "wb") as out:
        program.write(out)
    with open(graph, "wb") as out:
        subprocess.run(["lp-graph", file], check=True, stdout=out, stderr=subprocess.DEVNULL)
    by = tell("lp-critpath", "--by", "step", "-F", "json", graph)
    got = [loop["steps"] for loop in by["loops"]]
    found, undecided = find_steps(program)
    if got != found:
        wrong.append(f"seed {seed}: {got} steps, by the rules {found}")
    if undecided != (by["undecided"] is not None):
        wrong.append(f"seed {seed}: undecided is {undecided} by the rules")
    # two loops may be found as two, or one of them
    left = list(zip(program.steps, program.begins))
    for loop, steps in zip(by["loops"], got):
        while left and (steps not in left[0][0] or loop["begin_s"] * 1e9 > left[0][1][-1]):
            left.pop(0)
        if not left:
            wrong.append(f"seed {seed}: {steps} steps were found, planted were {program.steps}")
            break
        begins = left.pop(0)[1]
        if len(begins) == steps + 1:
            own = [s for s in by["sections"] if s["step"] and s["loop"] == loop["loop"]]
            for k, s in enumerate(own):
                if not begins[max(k - 1, 0)] <= s["begin_s"] * 1e9 + 1 <= begins[min(k + 2, steps)] + 1:
                    wrong.append(f"seed {seed}: step {k + 1} begins in another one")
                    break
    wrong += check_sums(seed, by, graph) if seed % 4 == 0 else []
    return wrong, bool(program.steps), bool(got), program.more is not None


def main():
    if sys.argv[1] == "make":
        Program(int(sys.argv[2])).write(sys.stdout.buffer)
        return 0
    wrong, planted, found = [], [0, 0], [0, 0]           # without neighbours that differ, and with
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
            said, has, got, peers = check(seed, folder)
            wrong += said
            planted[peers] += has
            found[peers] += has and got
    for line in wrong:
        print(line)
    print(f"{planted[0]} programs with steps, found in {found[0]}; {planted[1]} with neighbours that differ, found in {found[1]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
