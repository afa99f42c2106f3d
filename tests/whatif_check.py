#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Slack, gain and alternatives of lp-critpath against brute force on random runs.

    tests/whatif_check.py FIRST COUNT      exit 1 and a line if an answer is wrong

The whole run is evaluated again, without hubs, stretches or topological order: every activity begins when all its
requirements are met, until nothing changes. Slack is right if an activity longer by it leaves the end unchanged, and
one longer by another nanosecond does not. A gain is the run with other durations. An alternative is the longest path
that avoids all segments of the earlier ones.
"""
import io
import json
import sys

import random_run
import trace

GAIN = 30
WAYS = 3


class Model:
    """Activities by (location, seq, leave): what they need, and how long they take."""

    def __init__(self, run):
        self.run, self.needs, self.weight, self.site, self.time = run, {}, {}, {}, {}
        for location, rows in enumerate(run.rows):
            before = None
            for seq, row in enumerate(rows):
                if row.part:
                    continue
                enter, leave = (location, seq, 0), (location, seq, 1)
                self.time[enter], self.time[leave] = row.enter, row.leave
                self.needs[enter] = [before] if before else []
                self.weight[enter] = row.enter - (rows[before[1]].leave if before else 0)
                self.needs[leave] = [enter] + self.gates(location, seq)
                self.weight[leave] = row.leave - max(self.enter_ns(n) for n in self.needs[leave])
                self.site[enter] = self.site[leave] = row.site
                before = leave

    def enter_ns(self, event):
        return self.run.rows[event[0]][event[1]].enter

    def gates(self, location, seq):
        call, needs = self.run.rows[location][seq], []
        for edge in self.run.edge_rows(location, seq):
            gates = edge.needs + [edge.tree] * (edge.tree is not None)
            last = max(map(self.enter_ns, gates), default=-1)
            if last > call.leave or (edge.is_send and edge.call in random_run.SENDS and
                                     last < call.enter):
                continue
            needs += [(r, s - self.run.rows[r][s].part, 0) for r, s in gates]
        return needs

    def end(self, weight):
        """The end of the run if activities take that long."""
        time = {}
        order = sorted(self.time, key=lambda e: (self.time[e], e))
        changed = True
        while changed:
            changed = False
            for event in order:
                at = max((time.get(n, 0) for n in self.needs[event]), default=0) + weight[event]
                if time.get(event) != at:
                    time[event] = at
                    changed = True
        return max(time.values())


def fail(what):
    raise random_run.Wrong(what)


def check_slack(model, path, length):
    seen = set()
    for message in path:
        if message.kind != "slack":
            continue
        c = message.columns()
        for location, seq, compute, call in zip(*(c[k].tolist() for k in (
                "location", "seq", "compute", "call"))):
            for event, slack in (((location, seq, 0), compute), ((location, seq, 1), call)):
                seen.add(event)
                for more in (0, 1):
                    weight = dict(model.weight)
                    weight[event] += slack + more
                    if model.end(weight) != length + more:
                        fail(f"slack of {event} is {slack}")
    if seen != set(model.time):
        fail("slack is not told of every activity")


def frames(model, event):
    """The start, MPI_Init or MPI_Finalize: no part of the span, nor of its gains."""
    call = model.run.rows[event[0]][event[1]].call
    return call == "MPI_Init" or (call == "MPI_Finalize" and event[2])


def check_gain(model, report, length, whole):
    got = {site["site"]: site for site in report["gain_by_site"]}
    for site in range(5):
        weight = {e: w - (w * GAIN + 50) // 100 if model.site[e] == site and
                  (whole or not frames(model, e)) else w for e, w in model.weight.items()}
        gain = length - model.end(weight)
        told = round(1e9 * got[site]["gain_s"]) if site in got else 0
        if gain != told or (site in got and gain > round(1e9 * got[site]["at_most_s"])):
            fail(f"gain of site {site} is {told}, should be {gain}")


def longest(model, first, last, begin_ns, used):
    """From synchronisation point FIRST to LAST (rows by location; None: an end of the run)."""
    length = {}
    inside = {e for e in model.time if (first is None or (e[1], e[2]) > (first[e[0]], 0)) and
              (last is None or (e[1], e[2]) <= (last[e[0]], 0))}
    changed = True
    while changed:
        changed = False
        for event in inside - used:
            if first is not None and event[:2] == (event[0], first[event[0]]):
                at = model.time[event] - begin_ns
            elif not model.needs[event]:
                at = model.weight[event]
            else:
                known = [length[n] for n in model.needs[event] if n in length]
                if not known:
                    continue
                at = max(known) + model.weight[event]
            if length.get(event) != at:
                length[event] = at
                changed = True
    ends = [(l, last[l], 0) for l in range(len(last))] if last else \
        [max(e for e in model.time if e[0] == l) for l in range(model.run.ranks)]
    return max((length[e] for e in ends if e in length), default=0)


def check_alternatives(model, path, length):
    ways = {}                    # number, 0 the path: pieces
    for message in path:
        if message.kind in ("segments", "alternatives"):
            c = message.columns()
            ways.setdefault(message.body.get("number", 0), []).extend(
                zip(*(c[k].tolist() for k in ("location", "begin", "end", "kind"))))
    first, begin_ns = None, 0
    for last in [m.column("seq").tolist() for m in path if m.kind == "sync"] + [None]:
        end_ns = max(model.run.rows[l][s].enter for l, s in enumerate(last)) if last else length
        used = set()
        for way in range(WAYS + 1):
            pieces = [p for p in ways.get(way, []) if begin_ns <= p[1] and p[2] <= end_ns]
            total = sum(end - begin for _, begin, end, _ in pieces)
            if way > 0 and total != longest(model, first, last, begin_ns, used):
                fail(f"alternative {way} between {begin_ns} and {end_ns} is {total} long, should be "
                     f"{longest(model, first, last, begin_ns, used)}")
            used |= {e for e in model.time for location, begin, end, kind in pieces
                     if e[0] == location and model.time[e] == end and e[2] == (kind not in (0, 3)) and
                     (model.weight[e] > 0 or first and e[1] == first[location])}
        first, begin_ns = last, end_ns


def check(seed, more, unit):
    run, stream = random_run.make(seed, more, 1, unit)
    graph = random_run.tool("lp-graph", "--polls", "work", data=stream)
    model = Model(run)
    length = model.end(model.weight)
    options = ("--slack", f"--gain={GAIN}", "-k", str(WAYS))
    path = list(trace.read(io.BytesIO(random_run.tool("lp-gain", *options, data=graph))))
    check_slack(model, path, length)
    for whole in [], ["--whole"]:
        check_gain(model, json.loads(random_run.tool("lp-gain", *options, *whole, "-F", "json", data=graph)),
                   length, whole)
    check_alternatives(model, path, length)


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        try:
            for more in (False, True):
                check(number, more, 1 if number % 2 else 1000)      # in microseconds, some wait in trees
        except (random_run.Wrong, trace.Damaged) as error:
            print(f"seed {number}{' more' if more else ''}: {error}")
            sys.exit(1)
