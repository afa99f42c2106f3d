#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Computes the wait states of a graph stream a second time, slowly and from their definitions.

    tests/wait_states.py check GRAPH...   compares with lp-imbalance: every state of every rank, the
                                          sums, the cost of every delay, and the same with the ranks
                                          in another order

The whole run is in memory; every call is examined by itself.
"""
import io
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

TESTS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"}
SEVERAL = {f"MPI_{family}{which}" for family in ("Wait", "Test") for which in ("all", "any", "some")}
WAITS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"}
BLOCKING = {"MPI_Init", "MPI_Init_thread", "MPI_Intercomm_create", "MPI_Intercomm_merge"}
TAKERS = {"MPI_Mrecv", "MPI_Imrecv"}    # of what a matched probe took out
NXN = {"Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Allgather", "Allgatherv", "Reduce_scatter",
       "Reduce_scatter_block"}
FROM_ROOT = {"Bcast", "Scatter", "Scatterv"}
TO_ROOT = {"Reduce", "Gather", "Gatherv"}
SCANS = {"Scan", "Exscan"}


class Row:
    def __init__(self, location, seq, call, part, columns, i):
        self.location, self.seq, self.call, self.part = location, seq, call, part
        self.enter = int(columns["enter"][i])
        self.leave = self.enter + int(columns["duration"][i])
        self.peer, self.comm = int(columns["peer"][i]), int(columns["comm"][i])
        self.any = self.peer == -1 and int(columns["tag"][i]) == -1
        self.sent, self.received = int(columns["bytes_sent"][i]) > 0, int(columns["bytes_received"][i]) > 0
        self.request = int(columns["request"][i])
        self.site = int(columns["site"][i]) if "site" in columns else 0
        self.starts = call.startswith("MPI_I") and call not in BLOCKING
        self.send_of = self.receive_of = self.instance = self.held_by = None


class Run:
    def __init__(self, graph):
        self.names, self.rows, self.ranks, self.members = {}, {}, 0, {}
        self.polls_wait, self.points = False, []
        self.sources = {}  # of a member of a topology, by communicator and member
        for m in trace.read(graph):
            if m.kind == "call":
                self.names[m.body["number"]] = m.body["name"]
            elif m.kind == "run":
                self.ranks, self.run_ns = m.body["ranks"], m.body["run_ns"]
            elif m.kind == "polls":
                self.polls_wait = m.body["as"] == "wait"
            elif m.kind == "communicator":
                self.members[m.body["comm"]] = m.column("members", True, rows=m.body["size"]).tolist()
            elif m.kind == "neighbours":
                self.sources[m.body["comm"], m.body["member"]] = \
                    m.column("sources", True, rows=m.body["count"]).tolist()
            elif m.kind == "calls":
                self.block(m)
            elif m.kind == "sync":
                self.points.append(m.column("seq", rows=self.ranks).tolist())
            elif m.kind in ("messages", "probes"):
                c = m.columns()
                for i in range(m.body["count"]):
                    send = self.rows[int(c["source"][i])][int(c["send"][i])]
                    receive = self.rows[int(c["target"][i])][int(c["receive"][i])]
                    receive.send_of = send
                    if m.kind == "messages":
                        send.receive_of = receive
            elif m.kind == "holds":
                c = m.columns()
                for i in range(m.body["count"]):
                    self.rows[int(c["target"][i])][int(c["receive"][i])].held_by = \
                        self.rows[int(c["source"][i])][int(c["send"][i])]
            elif m.kind == "collectives":
                c, at = m.columns(), 0
                for size in c["size"].tolist():
                    instance = [self.rows[int(c["location"][i])][int(c["seq"][i])]
                                for i in range(at, at + size)]
                    at += size
                    for row in instance:
                        row.instance = instance

    def block(self, m):
        columns, rows = m.columns(), self.rows.setdefault(m.body["location"], [])
        for i in range(m.body["count"]):
            number = int(columns["call"][i])
            part = number == 0
            call = rows[-1].call if part else self.names[number]
            rows.append(Row(m.body["location"], len(rows), call, part, columns, i))

    def start_of(self, row):
        return self.rows[row.location][row.seq - row.request] if row.request else None

    def comm_rank(self, row, rank):
        members = self.members.get(row.comm)
        return members.index(rank) if members else rank

    # -- the definitions --

    def last(self, rows):
        return max(rows, key=lambda m: (m.enter, -m.location), default=None)

    def blocker(self, row, instance):
        """The member that this row of a collective waits for, or None: of those that it needs the last that was
        entered; or the last before it left, if before that nobody entered for 10 us and more than half of the time."""
        needed = self.needed(row, instance)
        name = row.call[4:]
        there = [m for m in instance if m.sent or m.received]
        root = name not in SCANS and row.peer
        if row not in there or name not in FROM_ROOT | TO_ROOT | SCANS or (
                name not in SCANS and all(self.comm_rank(m, m.location) != root for m in there)):
            return needed
        since = max(row.enter, needed.enter if needed and needed.enter <= row.leave else row.enter)
        inside = sorted(m.enter for m in there if since < m.enter <= row.leave)
        gaps = [after - before for before, after in zip([since] + inside, inside)]
        if max(gaps, default=0) < 10000 or 2 * max(gaps) <= row.leave - since:
            return needed
        return self.last(m for m in there if m.enter <= row.leave)

    def needed(self, row, instance):
        last = self.last
        name = row.call.replace("MPI_I", "MPI_", 1) if row.starts else row.call
        name = name[4:5].upper() + name[5:]
        if name.startswith("Neighbor"):
            sources = self.sources.get((row.comm, self.comm_rank(row, row.location)), [])
            return last(m for m in instance
                        if m is not row and self.comm_rank(m, m.location) in sources)
        all_rows = [m for m in instance if m.sent or m.received]
        if name in NXN:
            if min(m.leave for m in instance) > max(m.enter for m in instance):
                return last(instance)
            return last(m for m in instance if m.sent) if row.received else None
        if name in FROM_ROOT:
            root = [m for m in all_rows if self.comm_rank(m, m.location) == m.peer]
            return root[0] if root and row in all_rows and row is not root[0] else None
        if name in TO_ROOT:
            if self.comm_rank(row, row.location) != row.peer or row not in all_rows:
                return None
            return last(all_rows)
        if name in SCANS:
            me = self.comm_rank(row, row.location)
            if row not in all_rows:
                return None
            return last(m for m in all_rows if self.comm_rank(m, m.location) <= me)
        return last(instance)

    def state_of(self, call):
        name = call[4:]
        if name[:1] == "I" and name not in ("Init", "Init_thread") and not name.startswith("Intercomm"):
            name = name[1:2].upper() + name[2:]
        return "wait_at_nxn" if name in NXN else "late_broadcast" if name in FROM_ROOT else \
            "early_reduce" if name in TO_ROOT else "early_scan" if name in SCANS else \
            "wait_at_neighbours" if name.startswith("Neighbor") else \
            "wait_at_barrier" if name == "Barrier" else "wait_at_finalize" if name == "Finalize" else \
            "wait_at_comm_create"

    def waits_of(self, rows):
        """[state, ns, receive, whom it waited for] of one call."""
        call = rows[0]
        waits = WAITS | TESTS if self.polls_wait else WAITS
        if call.call in TESTS - waits or (not self.polls_wait and call.call in ("MPI_Iprobe", "MPI_Improbe")):
            return []
        late = [(min(r.send_of.enter, r.leave) - r.enter, i, r) for i, r in enumerate(rows) if r.send_of]
        found = [("late_sender", ns, r, r.send_of) for ns, _, r in late if ns > 0]
        receivers = []
        for r in rows:
            start = self.start_of(r) if call.call in waits else r
            if start is None:
                continue
            if start.receive_of is not None:
                completion = start.receive_of
                post = self.start_of(completion) if completion.call in WAITS | TESTS else completion
                post = post or completion
                if post.enter <= call.leave and post.enter > call.enter:
                    receivers.append(("late_receiver", post.enter - call.enter, r, post))
            if r.held_by is not None and start.instance is None:
                by = r.held_by
                polls = by.call in TESTS or by.call in ("MPI_Iprobe", "MPI_Improbe")
                until = by.leave if polls and by.enter < call.enter and by.leave <= call.leave else by.enter
                if until > call.enter:
                    found.append(("late_receiver", until - call.enter, r, by))
            if call.call in waits and start.instance is not None:
                by = self.blocker(start, start.instance)
                if by is not None and min(by.enter, call.leave) > call.enter:
                    found.append((self.state_of(start.call), min(by.enter, call.leave) - call.enter, r, by))
                if r.held_by is not None:       # by one that passes data on
                    found.append((self.state_of(start.call), r.held_by.enter - call.enter, r, r.held_by))
        if call.instance is not None and call.call not in waits:
            return self.collective(call)
        if call.call not in waits and (call.starts or call.call in ("MPI_Start", "MPI_Startall")):
            return []
        best = max(found or receivers, key=lambda w: w[1], default=None)
        return [best] if best else []

    def collective(self, row):
        instance, waits = row.instance, []
        if row.starts:
            return []
        first, last = min(m.leave for m in instance), max(m.enter for m in instance)
        state = self.state_of(row.call)
        if row.call in ("MPI_Init", "MPI_Init_thread"):
            state = None
        by = self.blocker(row, instance)
        if state and by is not None and min(by.enter, row.leave) > row.enter and \
                (state != "wait_at_comm_create" or first > last):
            waits.append((state, min(by.enter, row.leave) - row.enter, None, by))
        after = {"wait_at_barrier": "barrier_completion", "wait_at_nxn": "nxn_completion",
                 None: "init_completion"}.get(state)
        if after and first > last and row.leave > first:
            waits.append((after, row.leave - first, None, None))
        return waits

    def has_choice(self, call, receive):
        """Might the program have received another message instead?"""
        start = self.start_of(receive)
        return call.call not in SEVERAL and not (start is not None and start.any)

    def calls_of(self, location):
        calls = []
        for row in self.rows[location]:
            if row.part:
                calls[-1].append(row)
            else:
                calls.append([row])
        return calls

    # -- delay costs --

    def synchronised(self, call, b, comm):
        """The last instant, until the call, that both spent in calls which synchronised them, or in one of all."""
        a, until = call[0].location, call[0].enter
        times = [-1 << 62] + [max(self.rows[l][seq].enter for l, seq in enumerate(point)) for point in self.points]
        for row in (r for rows in self.rows.values() for r in rows if r not in call):
            ends = (row, row.send_of) if row.send_of is not None else ()
            if {a, b} == {end.location for end in ends}:
                times.append(max(end.enter for end in ends))
            of = 1 if row.call in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize") else row.comm
            if row.location == a and row.instance is not None and of in (1, comm) and not row.starts and \
                    min(m.leave for m in row.instance) > max(m.enter for m in row.instance):
                by = self.blocker(row, row.instance)
                if by is None and (row.comm, self.comm_rank(row, row.location)) in self.sources and \
                        row.call.startswith("MPI_Neighbor"):
                    by = row    # it was itself the last
                times += [max(row.enter, by.enter)] if by is not None else []
        return max(time for time in times if time <= until)

    def spent(self, location, low, high, waits):
        """What a location did between: {(site, compute or mpi): ns} without its WAITS."""
        spent, before = {}, None
        for call in self.calls_of(location):
            row = call[0]
            waited = sum(max(0, min(to, high) - max(begin, low)) for begin, to, _ in waits.get((location, row.seq), ()))
            for kind, begin, end, less in (("compute", before, row.enter, 0), ("mpi", row.enter, row.leave, waited)):
                ns = 0 if begin is None else max(0, min(end, high) - max(begin, low)) - less
                spent[row.site, kind] = spent.get((row.site, kind), 0) + ns
            before = row.leave
        return spent

    def delays(self):
        """{(rank, site, kind): [short, long]}, and the most causes that a wait has."""
        told, waits, most = {}, {}, 0
        calls = [call for location in self.rows for call in self.calls_of(location)]

        def order(row):
            return row.leave, row.location

        for call in sorted(calls, key=lambda c: order(c[0])):
            row = call[0]
            for _, ns, receive, by in self.waits_of(call):
                if by is None or by.location == row.location:
                    continue
                if any(order(row) < order(c[0]) and c[-1].seq < by.seq for c in self.calls_of(by.location)):
                    return None, 0    # left at the same instant, what came before the cause is not counted yet
                begin, to = row.enter, row.enter + ns
                start = self.start_of(receive) if receive is not None else None
                comm = start.comm if start is not None and start.starts and start.instance else by.comm
                since = self.synchronised(call, by.location, comm)
                own = self.spent(by.location, since, to, waits)
                other = self.spent(row.location, since, begin, waits)
                more = {c: max(0, t - other.get(c, 0)) for c, t in own.items()}
                waited = [(max(0, min(e, to) - max(b, since)), causes, e - b)
                          for (location, _), of in waits.items() if location == by.location
                          for b, e, causes in of]
                share = min(1, ns / (sum(more.values()) + sum(w for w, _, _ in waited)))
                causes = {}
                for (site, kind), d in more.items():
                    at = told.setdefault((by.location, site, kind), [0, 0])
                    at[0] += share * d
                    if d > 0:
                        causes[by.location, site, kind] = share * d / ns
                for w, of, _ in waited:
                    for c, part in of.items():
                        told[c][1] += share * w * part
                        causes[c] = causes.get(c, 0) + share * w * part / ns
                most = max(most, len(causes))
                waits.setdefault((row.location, row.seq), []).append((begin, to, causes))
        return told, most

    def totals(self, order):
        """{state: [ns by rank]}"""
        totals = {}

        def add(state, rank, ns):
            totals.setdefault(state, [0] * self.ranks)[rank] += ns

        for location in self.rows:
            late = []
            for call in self.calls_of(location):
                waits = self.waits_of(call)
                for receive in call:
                    posted = self.start_of(receive) if receive.call in WAITS | TESTS else receive
                    if receive.send_of is None or posted and posted.call in TAKERS and posted.request:
                        continue
                    for item in list(late):
                        if item[1].send_of.enter > receive.send_of.enter:
                            add("late_sender", location, -item[0])
                            same = item[1].send_of.location == receive.send_of.location
                            add("messages_in_wrong_order_" + ("same" if same else "different") +
                                "_source", location, item[0])
                            late.remove(item)
                for state, ns, receive, _ in waits:
                    assert 0 < ns <= call[0].leave - call[0].enter, (state, ns, call[0].call)
                    add(state, location, ns)
                    if state == "late_sender" and (order == "scalasca" or self.has_choice(call[0], receive)):
                        late.append((ns, receive))
        return totals


def permuted(graph, order):
    """The same run, rank r being called order[r]."""
    out = io.BytesIO()
    writer = None
    for m in trace.read(graph):
        body = {k: v for k, v in m.body.items() if k not in trace.HIDDEN}
        if m.kind == "longpole":
            writer = trace.Writer(out, "graph")
        elif m.kind == "end":
            writer.end()
        elif m.kind == "calls":
            columns = {k: v.tolist() for k, v in m.columns().items()}
            columns["peer"] = [order[p] if c == 1 and p >= 0 else p
                               for p, c in zip(columns["peer"], columns["comm"])]
            columns["request_at"] = [order[at - 1] + 1 if at > 0 else 0 for at in columns["request_at"]]
            writer.block("calls", columns, location=order[body["location"]], first=body["first"])
        elif m.kind in ("messages", "probes", "holds"):
            columns = {k: v.tolist() for k, v in m.columns().items()}
            for key in ("source", "target"):
                columns[key] = [order[r] for r in columns[key]]
            writer.block(m.kind, columns)
        elif m.kind in ("sync", "settled"):
            seqs = m.column("seq").tolist()
            moved = [0] * len(seqs)
            for r, seq in enumerate(seqs):
                moved[order[r]] = seq
            writer.block(m.kind, {"seq": moved})
        elif m.kind == "collectives":
            columns = {k: v.tolist() for k, v in m.columns().items()}
            sizes = columns.pop("size")
            columns["location"] = [order[r] for r in columns["location"]]
            writer.block("collectives", columns, instances=len(sizes),
                         size=trace.column_bytes(sizes, False))
        else:
            if m.kind == "communicator":
                for key, size in (("members", "size"), ("remote", "remote_size")):
                    if key in body:
                        members = m.column(key, True, rows=body[size]).tolist()
                        body[key] = trace.column_bytes([order[r] if r >= 0 else r for r in members], True)
            if "rank" in body and m.kind == "rank":
                body["rank"] = order[body["rank"]]
            writer.put(m.kind, body)
    return out.getvalue()


def report_of(graph, order="strict"):
    done = subprocess.run(["lp-imbalance", "-F", "json", "--order", order], input=graph, stdout=subprocess.PIPE,
                          check=True, timeout=60)
    return json.loads(done.stdout)


def check_delays(run, report):
    """Where a wait has more causes than lp-imbalance remembers, the long-term costs may be more."""
    got = {(d["rank"], d["site"], d["kind"]): [1e9 * d["short_s"], 1e9 * d["long_s"]] for d in report["delays"]}
    told, most = run.delays()
    if told is None:
        return None
    for delay, want in told.items():
        found = got.pop(delay, [0, 0])
        if abs(found[0] - want[0]) > 1 or (abs(found[1] - want[1]) > 1 and most <= 8):
            return f"delay {delay}: {found}, should be {want}"
    return f"delays {got}, should not be there" if got else None


def check(graph):
    run = Run(graph)
    for rule in ("scalasca", "strict"):
        report, totals = report_of(graph, rule), run.totals(rule)
        for state in report["wait_states"]:
            got = [round(s * 1e9) for s in state["ranks"]]
            want = totals.get(state["name"], [0] * run.ranks)
            if got != want:
                return f"--order {rule}: {state['name']}: {got}, should be {want}"
    wrong = check_delays(run, report)
    if wrong:
        return wrong
    if not report["sums"]["hold"]:
        return "the sums do not hold"
    order = list(range(run.ranks))
    random.Random(run.ranks).shuffle(order)
    other = report_of(permuted(graph, order))
    for a, b in zip(report["wait_states"], other["wait_states"]):
        if [b["ranks"][order[r]] for r in range(run.ranks)] != a["ranks"]:
            return f"{a['name']} depends on the order of ranks: {a['ranks']}, {b['ranks']}"
    return None


def main(arguments):
    for name in arguments[1:]:
        with open(name, "rb") as stream:
            wrong = check(stream.read())
        if wrong:
            print(f"{name}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
