#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run with switches in which the state of each thread is known at each nanosecond.

    tests/switched_run.py make SEED RANKS STRETCHES > trace
                            barriers; each rank, and two workers of each even rank, leave their cores at
                            random, also in calls, at known and unknown places, and are watched only from some
                            time on
    tests/switched_run.py path SEED RANKS STRETCHES < critpath.json
    tests/switched_run.py ranks SEED RANKS STRETCHES < imbalance.json
                            exit 1 and a line if the tool has other times
    tests/switched_run.py named SEED RANKS STRETCHES > trace
                            the same with nested regions in each thread; of odd seeds all are within one for each stretch
    tests/switched_run.py cells SEED RANKS STRETCHES PAGE
                            its regions, samples and threads in the cells of lp-report's timeline
    tests/switched_run.py regions SEED RANKS STRETCHES PATH RANKS STEPS
                            the same checks of lp-critpath --by region, lp-imbalance --by region and lp-critpath --by step
"""
import json
import os
import re
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

ON, BLOCKED, PREEMPTED, UNKNOWN, ABSENT = -1, 0, 1, 2, 3
BEGIN, LONGEST, SITES, PERIOD = 1000, 9000, 5, 100
UNSAMPLED = "(on a core, not sampled)"
BARRIERS = range(12, 17)                           # their sites, in turn
WAITING = "(waiting for threads)"
# (site, callers) where a thread leaves its core: the program's function there, and what it called of the system
PLACES = {(0, 0): (None, None), (8, 0): ("g8", None), (6, 9): ("g9", "usleep"), (6, 11): ("g10", "sleep"),
          (17, 0): (WAITING, None), (17, 9): (WAITING, None), (18, 9): ("g9", "syscall"),
          (18, 17): ("syscall", None)}
WAITS = {(17, 0), (17, 9), (18, 17)}
MAY_WAIT = {(0, 0), (18, 9)}
NEAR, SPIN_PERIODS = 200000, 10
REGIONS, STEP = 6, 7


class Run:
    def __init__(self, seed, ranks, stretches):
        self.random = numpy.random.default_rng(seed)
        self.ranks = ranks
        self.stretches = []                       # (begin, enters, leave)
        begin = BEGIN
        for _ in range(stretches):
            enters = [int(begin + c) for c in self.computes()]
            leave = max(enters) + self.barrier()
            self.stretches.append((begin, enters, leave))
            begin = leave
        self.end = begin
        self.threads = {(rank, worker): self.thread(worker) for rank in range(ranks)
                        for worker in self.workers(rank)}
        self.samples = {thread: self.sample_times(*thread) for thread in self.threads}
        self.named, self.stepped = {}, seed % 2 == 1
        self.regions_random = numpy.random.default_rng([seed, 1])

    def computes(self):
        """How long each rank computes before the next barrier."""
        return self.random.choice(LONGEST, self.ranks, replace=False) + 1

    def barrier(self):
        return int(self.random.integers(1, 900))

    def workers(self, rank):
        return (0, 1, 2) if rank % 2 == 0 else (0,)

    def thread(self, _):
        """When it is watched from, its state in each nanosecond, and its intervals; some touch each other."""
        start = int(self.random.choice([0, BEGIN, BEGIN + 700, self.end // 2]))
        state = numpy.full(self.end, ON)
        intervals, at = [], start + int(self.random.integers(0, 400))
        while at < self.end - 1:
            until = min(self.end, at + int(self.random.integers(1, 3000)))
            reason = int(self.random.choice([BLOCKED, PREEMPTED, UNKNOWN], p=[.5, .45, .05]))
            site = int(self.random.choice(range(8), p=[.2, .05, .05, .05, .3, .2, .05, .1]))
            intervals.append((at, until, reason, *list(PLACES)[site]))
            state[at:until] = reason
            at = until + int(self.random.choice([0, self.random.integers(1, 4000)]))
        state[:start] = UNKNOWN
        return start, state, intervals

    def sample_times(self, rank, worker):
        """Its samples; those of a worker are of a runtime half of the time."""
        at = numpy.sort(self.random.choice(self.end, self.end // 200, replace=False))
        at = at[(self.threads[rank, worker][1][at] == ON) & (at >= BEGIN)]
        sites = self.random.integers(1, SITES + 1, len(at))
        sites[self.random.random(len(at)) < .5] = 17
        return at, sites

    def name_regions(self):
        """Begins (1 to REGIONS, or STEP) and ends (0) of each thread, in order of time."""
        rng = self.regions_random
        for thread in self.threads:
            events, depth = [], 0
            for begin, _, leave in self.stretches:
                if self.stepped and thread[1] == 0:
                    events.append((begin, STEP))
                    depth = 1
                least = depth if self.stepped and thread[1] == 0 else 0
                for at in sorted(rng.integers(begin, leave, rng.integers(0, 12))):
                    opens = depth == least or rng.random() < .5
                    events.append((int(at), int(rng.integers(1, REGIONS + 1)) if opens else 0))
                    depth += 1 if opens else -1
                if self.stepped:
                    events += [(leave, 0)] * depth
                    depth = 0
            self.named[thread] = events + [(self.end + 10, 0)] * depth

    def inside(self, thread):
        """The innermost region in each nanosecond; 0: none."""
        inner, stack, last = numpy.zeros(self.end + 10, int), [0], 0
        for at, number in self.named[thread]:
            inner[last:at] = stack[-1]
            last = at
            if number:
                stack.append(number)
            else:
                stack.pop()
        return inner

    # -- writing --

    def write(self):
        out = trace.Writer(sys.stdout.buffer, "trace")
        out.put("run", {"ranks": self.ranks, "locations": self.ranks, "run_ns": self.end + 10})
        for number, name in enumerate(("MPI_Init", "MPI_Barrier", "MPI_Finalize"), 1):
            out.put("call", {"number": number, "name": name})
        for site in range(1, SITES + 1):
            out.put("site", {"site": site, "offset": site, "function": f"f{site}", "file": "f.c", "line": site})
        out.put("module", {"module": 0, "path": "/lib/libc.so.6"})
        out.put("module", {"module": 1, "path": "/home/me/app"})
        for site, name in ((6, "usleep"), (7, "sleep")):
            out.put("site", {"site": site, "offset": site, "function": name, "module": 0})
        for site in (8, 9, 10):
            out.put("site", {"site": site, "offset": site, "function": f"g{site}", "file": "g.c", "line": site,
                             "module": 1})
        out.put("site", {"site": 11, "count": 2, "stack": bytes([7, 10])})
        out.put("module", {"module": 2, "path": "/usr/lib/libgomp.so.1"})
        out.put("site", {"site": 17, "offset": 17, "module": 2})
        out.put("site", {"site": 18, "offset": 18, "function": "syscall", "module": 0})
        for site in BARRIERS:
            out.put("site", {"site": site, "offset": site, "function": f"b{site}", "file": "b.c", "line": site,
                             "call": "MPI_Barrier"})
        for number in range(1, STEP + 1 if self.named else 0):
            out.put("region_name", {"number": number, "name": "step" if number == STEP else f"r{number}"})
        self.rows(out, 0, 1, [0] * self.ranks, BEGIN, 0)
        for seq, (begin, enters, leave) in enumerate(self.stretches, 1):
            self.rows(out, seq, 2, enters, leave, begin)
        self.rows(out, len(self.stretches) + 1, 3, [self.end] * self.ranks, self.end + 10, self.end)
        out.end()

    def rows(self, out, seq, call, enters, leave, begin):
        for rank in range(self.ranks):
            for of, worker in self.threads:
                if of == rank:
                    self.switched(out, rank, worker, begin, leave)
                    self.sampled(out, rank, worker, begin, leave)
                    events = [e for e in self.named.get((of, worker), ()) if begin < e[0] <= leave]
                    if events:
                        at, number = numpy.array(events, dtype=numpy.int64).T
                        out.put("regions", {"location": rank, **({"worker": worker} if worker else {}), "count": len(at),
                                            "time": at.astype("<i8").tobytes(), "region": number.astype("<i4").tobytes()})
            out.block("calls", {"enter": [enters[rank]], "duration": [leave - enters[rank]], "call": [call],
                                "comm": [1], "site": [BARRIERS[seq % 5]]}, location=rank, first=seq)

    def switched(self, out, rank, worker, begin, leave):
        start, _, intervals = self.threads[rank, worker]
        begin, leave = max(begin, start), min(leave, self.until(rank, worker))
        if begin >= leave:
            return
        pieces = [(max(a, begin), min(b, leave), *more) for a, b, *more in intervals if a < leave and b > begin]
        a, b, r, site, callers = numpy.array(pieces, dtype=numpy.int64).reshape(-1, 5).T
        body = {"location": rank, "count": len(a), "from_ns": start, "until_ns": leave,
                "time": a.astype("<i8").tobytes(), "duration": (b - a).astype("<u4").tobytes(),
                "reason": r.astype("<u1").tobytes(), "site": site.astype("<u4").tobytes(),
                "callers": callers.astype("<u4").tobytes()}
        out.put("switched", {**body, "worker": worker} if worker else body)

    def sampled(self, out, rank, worker, begin, leave):
        at, sites = self.samples[rank, worker]
        here = (at >= begin) & (at < leave)
        if here.any():
            body = {"location": rank, "count": int(here.sum()), "period_ns": PERIOD, "until_ns": leave,
                    "time": at[here].astype("<i8").tobytes(), "site": sites[here].astype("<u4").tobytes(),
                    "callers": numpy.zeros(int(here.sum()), "<u4").tobytes()}
            out.put("sampled", {**body, "worker": worker} if worker else body)

    # -- what is true --

    def until(self, rank, worker):
        """When the thread ended, or was watched last."""
        return int(numpy.flatnonzero(self.threads[rank, worker][1] != ABSENT)[-1]) + 1

    def marks(self, rank, worker, begin, end):
        """Where the thread was seen: (from, to, kind, WAITS or MAY_WAIT or None), in order."""
        _, _, intervals = self.threads[rank, worker]
        times, sites = self.samples[rank, worker]
        found = [(int(t), int(t), "sample", (int(site), 0)) for t, site in zip(times, sites) if begin <= t < end]
        found += [(max(a, begin), min(b, end), "blocked" if reason == BLOCKED else "preempted", tuple(place))
                  for a, b, reason, *place in intervals if a < end and b > begin and reason != UNKNOWN]
        marks = []
        for a, b, kind, place in sorted(found):
            if kind == "preempted" and marks and marks[-1][1:3] == (a, "blocked"):
                marks[-1] = (marks[-1][0], b, *marks[-1][2:])       # woken, without a core
            elif kind == "blocked" or place[0]:
                marks.append((a, b, kind, WAITS if place in WAITS else MAY_WAIT if place in MAY_WAIT else None))
        return marks

    def period(self, rank, begin, end):
        """Of the samples that any of the rank's threads has there; 0: there are none."""
        return PERIOD * any(((times >= begin) & (times < end)).any()
                            for (of, _), (times, _) in self.samples.items() if of == rank)

    def waits(self, rank, worker, begin, end):
        """In each nanosecond: does the thread wait for others?"""
        start, state, _ = self.threads[rank, worker]
        waits = numpy.zeros(end, bool)
        if worker:
            waits[:min(start, end)] = waits[self.until(rank, worker):] = True
        marks, last, period = self.marks(rank, worker, begin, end), None, self.period(rank, begin, end)
        for i, (a, b, kind, place) in enumerate(marks):
            if place is MAY_WAIT and not (last and last[3] is WAITS and
                                          a - last[1] <= (period if last[2] == "sample" else NEAR)):
                continue
            if place:
                often = [0 if kind == "blocked" else period]
                if kind == "preempted":                     # rather its own rhythm of giving up its core
                    often += [a - last[1]] if last and last[3] is WAITS else []
                    often += [marks[i + 1][0] - b] if i + 1 < len(marks) and marks[i + 1][3] else []
                half = min(often) // 2
                first = max(a - half, last[1] + (a - last[1]) // 2) if last else a - half
                beyond = min(b + half, b + (marks[i + 1][0] - b) // 2) if i + 1 < len(marks) else b + half
                if last and last[3] is WAITS and (place is MAY_WAIT or last[2] != "blocked" and
                                                  (state[last[1]:a] == ON).sum() <= SPIN_PERIODS * period):
                    first = last[1]
                waits[max(first, begin):min(beyond, end)] = True
            last = a, b, kind, WAITS if place else None
        return waits

    def woken(self, rank, worker, begin, end):
        """In each nanosecond: is the thread ready right after it was blocked, without a core?"""
        woken, blocked_until = numpy.zeros(end, bool), None
        for a, b, reason, *_ in self.threads[rank, worker][2]:
            a, b = max(a, begin), min(b, end)
            if a < b:
                woken[a:b] = reason == PREEMPTED and a == blocked_until
                blocked_until = b if reason == BLOCKED or woken[a] else None
        return woken

    def division(self, rank, begin, end):
        """The computation by thread: (worker, begin, end), from its end."""
        workers = [worker for of, worker in self.threads if of == rank]
        waits = {w: self.waits(rank, w, begin, end) for w in workers}
        active = {w: numpy.isin(self.threads[rank, w][1][:end], (ON, PREEMPTED)) & ~waits[w] &
                  ~self.woken(rank, w, begin, end) for w in workers}
        near = self.period(rank, begin, end) or NEAR
        pieces, thread, at = [], 0, end
        while at > begin:
            since = at
            while since > begin and not waits[thread][since - 1]:
                since -= 1
            pieces.append((thread, since, at))
            at = since
            if at == begin:
                break
            while since > begin and waits[thread][since - 1]:
                since -= 1
            found = None
            if at == end or not waits[thread][at]:
                found = self.awaited({w: waits[w][begin:] for w in workers}, {w: active[w][begin:] for w in workers},
                                     thread, since - begin, at - begin, near)
            if found:
                pieces.append((thread, begin + found[1], at))
                thread, at = found[0], begin + found[1]
            elif thread == 0:
                pieces.append((0, since, at))
                at = since
            else:
                thread = 0
        return pieces

    @staticmethod
    def awaited(waits, active, thread, since, at, near):
        """Who ended the thread's wait, and when it was active last before; None: that is not known."""
        def last_active(worker, before):
            here = numpy.flatnonzero(active[worker][:before])
            return int(here[-1]) + 1 if len(here) else -10 ** 18

        others = [w for w in waits if w != thread]
        last = max((last_active(w, at) for w in others), default=-1)
        if last <= since:    # it was itself the last one
            return (thread, since) if active[thread][:since].any() else None
        kinds = {True: [], False: []}
        for worker in others:
            if last_active(worker, last) <= last - near:
                continue
            edges = numpy.diff(numpy.concatenate(([False], waits[worker], [False])).astype(int))
            begins, ends = numpy.flatnonzero(edges == 1), numpy.flatnonzero(edges == -1)
            fresh = any(last - near < end <= last for end in ends)
            following = min((int(b) for b, e in zip(begins, ends) if e > last), default=10 ** 18)
            kinds[fresh].append((following, -worker))
        left = kinds[False] or kinds[True]
        if len(left) > 1:
            left = [(following, worker) for following, worker in left if following <= at + near]
        if not left:
            return None
        worker = -max(left)[1]
        end = last_active(worker, last)
        return (worker, end) if end > since else None

    def told(self, pieces):
        """
        Of pieces (rank, begin, end): time by state, of all threads on cores, of one alone; samples by site;
        time and samples by thread other than the first.
        """
        sums, threads, alone = dict.fromkeys((ON, BLOCKED, PREEMPTED, UNKNOWN), 0), 0, 0
        sites, others = numpy.zeros(18, int), {}
        for rank, begin, end in pieces:
            on = sum((state[begin:end] == ON).astype(int) for (of, _), (_, state, _) in self.threads.items() if of == rank)
            threads, alone = threads + int(on.sum()), alone + int((on == 1).sum())
            for worker, first, beyond in self.pieces(rank, begin, end):
                states = self.threads[rank, worker][1][first:beyond]
                for state, count in zip(*numpy.unique(states, return_counts=True)):
                    sums[int(state)] += int(count)
                at, of = self.samples[rank, worker]
                found = numpy.bincount(of[(at >= first) & (at < beyond)], minlength=18)
                sites += found
                if worker:
                    time, samples = others.get((rank, worker), (0, 0))
                    others[rank, worker] = time + beyond - first, samples + int(found.sum())
        return sums, threads, alone, sites, others

    def blocked(self, pieces):
        """Of pieces (rank, begin, end, site): time blocked by function, called function, and call if these are unknown."""
        found = {}
        for rank, begin, end, barrier in pieces:
            for worker, first, beyond in self.pieces(rank, begin, end):
                start, _, intervals = self.threads[rank, worker]
                for a, b, reason, *place in intervals:
                    a, b = max(a, first, start), min(b, beyond)
                    if reason == BLOCKED and a < b:
                        function, called = PLACES[tuple(place)]
                        key = function, called, None if function else f"MPI_Barrier at b{barrier} (b.c:{barrier})"
                        found[key] = found.get(key, 0) + b - a
        return found


def ns(seconds):
    return round(float(seconds) * 1e9)


def compare(what, got, sums, threads, alone, length):
    wanted = {"on_core_s": sums[ON], "blocked_s": sums[BLOCKED], "preempted_s": sums[PREEMPTED],
              "unknown_s": sums[UNKNOWN]}
    if {key: ns(got[key]) for key in wanted} != wanted:
        sys.exit(f"{what}: {got} instead of {wanted}")
    if abs(got["threads_mean"] * length - threads) > length * 1e-5 or abs(got["alone_share"] * length - alone) > length * 1e-5:
        sys.exit(f"{what}: {got} instead of {threads / length} threads, alone {alone / length}")


def path(run, report):
    run.pieces = run.division
    pieces = [(int(numpy.argmax(enters)), begin, max(enters)) for begin, enters, _ in run.stretches]
    sums, threads, alone, sites, others = run.told(pieces)
    length = sum(sums.values())
    got = report["computation"]
    if ns(got["path_s"]) != length or got["samples"] != sites.sum():
        sys.exit(f"{got} instead of {length} ns, {sites.sum()} samples")
    compare("path", got, sums, threads, alone, length)
    where = [piece + (BARRIERS[seq % 5],) for seq, piece in enumerate(pieces, 1)]
    blocked = {(row["function"], row["called"], row["before"]): ns(row["path_s"]) for row in report["blocked"]}
    if blocked != run.blocked(where) or list(blocked.values()) != sorted(blocked.values(), reverse=True):
        sys.exit(f"blocked: {blocked} instead of {run.blocked(where)}")
    worth = min(PERIOD, sums[ON] // sites.sum())
    told = {}
    for row in report["awaited"]:
        time, samples = told.get((row["rank"], row["thread"]), (0, 0))
        told[row["rank"], row["thread"]] = time + ns(row["path_s"]), samples + row["samples"]
        if row["samples"] and ns(row["path_s"]) != worth * row["samples"]:
            sys.exit(f"awaited: {row}")
    if told != others or ns(got["awaited_s"]) != sum(time for time, _ in others.values()):
        sys.exit(f"awaited: {told} instead of {others}")
    for key in ("by_function", "by_line"):
        rows = {row["function"]: ns(row["path_s"]) for row in report[key]}
        if sum(rows.values()) != ns(report["path_length_s"]):
            sys.exit(f"{key} is not the path")
        for site, name in [(17, WAITING)] + [(site, f"f{site}") for site in range(1, SITES + 1)]:
            if rows.get(name, 0) != worth * sites[site]:
                sys.exit(f"{key}: {name}: {rows}, {sites}")
        if rows[UNSAMPLED] != sums[ON] - worth * sites.sum():
            sys.exit(f"{key}: {rows}: functions and what was not sampled are not {sums[ON]} on a core")
        names = {"(blocked)": BLOCKED, "(preempted)": PREEMPTED, "(not on a core, or not sampled)": UNKNOWN}
        if any(rows.get(name, 0) != sums[reason] for name, reason in names.items()):
            sys.exit(f"{key}: {rows} instead of {sums}")


def ranks(run, report):
    run.pieces = run.division
    total = dict.fromkeys((ON, BLOCKED, PREEMPTED, UNKNOWN), 0)
    for rank, got in enumerate(report["computation"]["by_rank"]):
        pieces = [(rank, begin, enters[rank]) for begin, enters, _ in run.stretches]
        sums, threads, alone, *_ = run.told(pieces)
        if got["rank"] != rank or ns(got["compute_s"]) != sum(sums.values()):
            sys.exit(f"{got} of rank {rank}, which computes {sum(sums.values())}")
        compare(f"rank {rank}", got, sums, threads, alone, sum(sums.values()))
        total = {state: total[state] + sums[state] for state in total}
    if ns(report["computation"]["blocked_s"]) != total[BLOCKED]:
        sys.exit("the ranks do not add up")
    for uneven in report["compute_by_function"]:
        if sum(ns(row["slow_s"]) for row in uneven["functions"]) != ns(uneven["slow_s"]):
            sys.exit("the functions do not add up")
        if any(ns(row["slow_s"]) > PERIOD * row["samples"] for row in uneven["functions"] if row["function"][0] == "f"):
            sys.exit(f"a sample stands for more than its period: {uneven}")
        wanted = {}
        for (function, _, _), time in run.blocked(
                [(uneven["rank"], begin, enters[uneven["rank"]], uneven["site"]) for seq, (begin, enters, _)
                 in enumerate(run.stretches, 1) if BARRIERS[seq % 5] == uneven["site"]]).items():
            wanted[function] = wanted.get(function, 0) + time
        told = {row.get("in"): ns(row["slow_s"]) for row in uneven["functions"] if row["function"] == "(blocked)"}
        if {name: time for name, time in told.items() if time} != wanted:
            sys.exit(f"blocked before a call: {told} instead of {wanted}")
    for of in report["delays_by_rank"]:
        if abs(of["cost_s"] - sum(row["cost_s"] for row in of["reasons"])) > 1e-9 * (len(of["reasons"]) + 1):
            sys.exit(f"reasons do not add up: {of}")
    costs, delays = (sum(of["cost_s"] for of in report[key]) for key in ("delays_by_rank", "delays"))
    if abs(costs - delays) > 1e-8 * (len(report["delays"]) + 1):
        sys.exit(f"delays by rank are {costs} of {delays}")


def check_regions(run, by_path, by_rank, by_step):
    run.pieces = run.division
    inside = {thread: run.inside(thread) for thread in run.threads}
    on_path, of_ranks, steps = numpy.zeros(STEP + 1, int), numpy.zeros(STEP + 1, int), []
    for begin, enters, leave in run.stretches:
        rank = int(numpy.argmax(enters))
        for worker, first, beyond in run.pieces(rank, begin, max(enters)):
            own, its = inside[rank, worker][first:beyond], inside[rank, 0][first:beyond]
            on_path += numpy.bincount(numpy.where(own > 0, own, its), minlength=STEP + 1)
        for of, until in enumerate(enters):
            of_ranks += numpy.bincount(inside[of, 0][begin:until], minlength=STEP + 1)
        steps.append(leave - begin)
    told = [sum(ns(row[key]) for key in ("compute_s", "blocked_s", "preempted_s")) for row in by_path["regions"]]
    if told != on_path.tolist():
        sys.exit(f"path by region: {told} instead of {on_path}")
    if sum(ns(row["path_s"]) for row in by_path["regions"]) != ns(by_path["path_s"]):
        sys.exit("the regions are not the path")
    if [ns(row["compute_s"]) for row in by_rank["regions"]] != of_ranks.tolist():
        sys.exit(f"ranks by region: {by_rank['regions']} instead of {of_ranks}")
    if run.stepped and [ns(row["path_s"]) for row in by_step["sections"]][1:] != steps:
        sys.exit(f"path by step: {by_step['sections']} instead of {steps}")
    if not run.stepped and sum(ns(row["path_s"]) for row in by_step["sections"]) != ns(by_step["path_s"]):
        sys.exit("the steps are not the path")
    if run.stepped:
        # What regions have within steps is all they have, and the rest of the steps is the region's own.
        within = sum(ns(row["path_s"]) for row in by_path["regions"][1:])
        if sum(steps) != within:
            sys.exit(f"the steps have {sum(steps)}, the regions in them {within}")


def check_cells(run, page):
    data = json.loads(re.search('id="data">(.*?)</script>', page, re.S).group(1))
    columns, end = data["columns"], data["run"]
    borders = [end * c / columns for c in range(columns + 1)]
    workers = [tuple(data["threads"][i:i + 2]) for i in range(0, len(data["threads"]), 3)]
    if sorted(workers) != sorted(thread for thread in run.threads if thread[1]) or not data["allThreads"]:
        sys.exit(f"threads: {workers}")
    rows = [(rank, 0) for rank in range(run.ranks)] + workers
    judged = 0
    for by in ("regions", "functions"):
        for thread, runs in zip(rows, data[by]["rows"]):
            cells = [place for place, times in zip(runs[::2], runs[1::2]) for _ in range(times)]
            inner = run.inside(thread) if by == "regions" else numpy.zeros(end, int)
            if by == "functions":       # a sample stands for the period behind it, as far as no other one comes
                for at, site in zip(*run.samples[thread]):
                    inner[at:at + PERIOD] = site
            for c, place in enumerate(cells):
                here = numpy.bincount(inner[int(numpy.ceil(borders[c])):int(borders[c + 1])])
                here[0] = 0
                if len(here) < 2 or 2 * here.max() <= here.sum() + 4 + PERIOD * (by == "functions"):
                    continue            # no majority, but for rounding and samples that overlap
                name = int(here.argmax())
                wanted = ("step" if name == STEP else f"r{name}") if by == "regions" else \
                    WAITING if name == 17 else f"f{name}"
                got = data[by]["names"][data[by]["places"][2 * place - 1]] if place else None
                if got != wanted:
                    sys.exit(f"{by} of {thread} in column {c}: {got} instead of {wanted}")
                judged += 1
    if judged < 1000:
        sys.exit(f"only {judged} cells have a majority")
    for i, worker in enumerate(workers):
        letters = "".join(a * int(n or 1) for a, n in re.findall("([a-j])([0-9]*)", data["threads"][3 * i + 2]))
        start, state, _ = run.threads[worker]
        for c, letter in enumerate(letters):
            here = state[int(numpy.ceil(borders[c])):int(borders[c + 1])]
            if borders[c] < start or borders[c + 1] > run.until(*worker) or len(set(here)) != 1 or here[0] == UNKNOWN:
                continue
            if letter != {ON: "b", BLOCKED: "i", PREEMPTED: "j"}[int(here[0])]:
                sys.exit(f"thread {worker} in column {c}: {letter} instead of {here[0]}")


def main():
    what, numbers = sys.argv[1], [int(word) for word in sys.argv[2:5]]
    run = Run(*numbers)
    if what in ("named", "regions", "cells"):
        run.name_regions()
    if what in ("make", "named"):
        run.write()
    elif what == "cells":
        check_cells(run, open(sys.argv[5], encoding="utf-8").read())
    elif what == "regions":
        check_regions(run, *(json.load(open(file, encoding="utf-8")) for file in sys.argv[5:8]))
    else:
        {"path": path, "ranks": ranks}[what](run, json.load(sys.stdin))


if __name__ == "__main__":
    main()
