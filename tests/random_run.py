#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random MPI runs whose matching, critical path and imbalance are known, and a check of the tools.

    tests/random_run.py make SEED [more [TIMES]] > trace    a trace with random blocks; "more" adds non-blocking
                                              and neighbourhood collectives; TIMES as long
    tests/random_run.py check FIRST COUNT     runs the tools of PATH on COUNT seeds; exit 1 and a
                                              line if an answer is wrong

A run consists of actions in one global order, each of which advances the clocks of its ranks, so it cannot deadlock.
Each message goes to the first matching posted receive, as MPI requires; the tools see only what a recorder would have
written. The critical path is found by brute force over all events of the run, without synchronisation points.
"""
import io
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import settle  # noqa: E402 (the ones beside this file)
import trace  # noqa: E402

ANY, NULL, NONE = -1, -2, -3
SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Isend", "MPI_Sendrecv", "MPI_Start")
PASS_ON = ("MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Exscan")
COLLECTIVES = ("MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Bcast", "MPI_Reduce", "MPI_Scan",
               "MPI_Comm_dup")
ALL_TO_ALL = ("MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Comm_dup", "MPI_Init",
              "MPI_Finalize")
NEIGHBOUR = ("MPI_Neighbor_alltoall", "MPI_Neighbor_allgather")
BLOCKING = {f"MPI_I{name[4:].lower()}": name for name in COLLECTIVES + NEIGHBOUR}
STARTS = ("MPI_Isend", "MPI_Irecv", "MPI_Imrecv", *BLOCKING)       # they do not wait
COMPLETIONS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitsome", "part")


class Row:
    def __init__(self, call, enter, leave, comm=0, peer=NONE, tag=-2, sent=0, received=0, request=0):
        self.call, self.enter, self.leave = call, enter, leave
        self.comm, self.peer, self.tag = comm, peer, tag
        self.sent, self.received, self.request = sent, received, request
        self.part = 0            # distance to the first row of the call
        self.other = None        # (location, seq): whose enter may block this row's call
        self.is_send = False
        self.needs = []          # rows whose enters it needs, besides its own
        self.tree = None         # one that it waited for, though it does not need it
        self.finds = False       # a probe that says so
        self.site = 0


class Run:
    def __init__(self, seed, more=False, times=1, unit=1):
        """TIMES as many actions as a short one, in units of so many ns."""
        self.random, self.more, self.unit = random.Random(seed), more, unit
        self.ranks = self.random.randint(1, 6)
        self.clock = [self.random.randint(0, 50) for _ in range(self.ranks)]
        self.rows = [[] for _ in range(self.ranks)]
        self.comms = {1: list(range(self.ranks))}
        for number in range(3, 3 + self.random.randint(0, 3)):
            size = self.random.randint(1, self.ranks)
            self.comms[number] = self.random.sample(range(self.ranks), size)
        self.sources = {}            # by communicator with a topology, by member: whom it gets from
        for comm, members in self.comms.items() if more else ():
            if comm > 2 and self.random.random() < 0.7:
                self.sources[comm] = [[self.random.choice((NULL, *range(len(members))))
                                       for _ in range(self.random.randint(0, 3))] for _ in members]
        self.posted = [[] for _ in range(self.ranks)]      # receives without a message
        self.to_wait = [[] for _ in range(self.ranks)]     # requests that may be completed
        self.messages, self.probes, self.collectives = [], [], []
        self.started, self.completed, self.holds = [], {}, []      # collectives; of each start its completion
        self.taken = [[] for _ in range(self.ranks)]       # out of the queue by a matched probe, not received
        self.collective(1, "MPI_Init")
        for _ in range(times * self.random.randint(0, 60)):
            self.action()
        for rank in range(self.ranks):
            self.receive_taken(rank, len(self.taken[rank]))
            self.wait(rank, len(self.to_wait[rank]))
        if self.random.random() < 0.8:
            for rank in range(self.ranks):
                self.cancel(rank)
        self.collective(1, "MPI_Finalize")
        self.hold_completions()
        sites = random.Random(seed ^ 0x5173)    # apart, so that they leave the run as it is
        for rows in self.rows:
            for row in rows:
                row.site = sites.randint(0, 4)

    # ---- time and rows

    def compute(self, rank):
        self.clock[rank] += self.unit * self.random.choice((0, 1, 5, self.random.randint(0, 100)))

    def cost(self):
        return self.unit * self.random.choice((0, 1, 1, 3, self.random.randint(0, 20)))

    def add(self, rank, call, enter, leave, **more):
        self.rows[rank].append(Row(call, enter, leave, **more))
        self.clock[rank] = leave
        return len(self.rows[rank]) - 1

    # ---- actions

    def action(self):
        rank = self.random.randrange(self.ranks)
        self.compute(rank)
        kind = self.random.random()
        if kind < 0.45:
            self.message()
        elif kind < 0.6:
            self.post(rank)
        elif kind < 0.65:
            self.receive_taken(rank, 1)
        elif kind < 0.75:
            self.wait(rank, self.random.randint(1, 4))
        elif kind < 0.8:
            self.add(rank, "MPI_Iprobe", self.clock[rank], self.clock[rank] + self.cost(), comm=1,
                     peer=ANY, tag=ANY)
        else:
            self.collective(self.random.choice(list(self.comms)))

    def collective(self, comm, call=None):
        members = self.comms[comm]
        call = call or self.choose_collective(comm)
        like = BLOCKING.get(call, call)
        root = self.random.randrange(len(members))
        enters = []
        for rank in members:
            self.compute(rank)
            enters.append(self.clock[rank])
        seqs, waits = [], [self.waits(comm, like, i, root) for i in range(len(members))]
        for i, rank in enumerate(members):
            after = max([enters[i]] + [enters[w] for w in waits[i]])
            if self.unit > 1 and like in PASS_ON:       # a library may make it wait for any other
                after = max(after, self.random.choice(enters))
            leave = (after if like == call else enters[i]) + self.cost()
            seqs.append(self.add(rank, call, enters[i], leave,
                                 comm=0 if call in ("MPI_Init", "MPI_Finalize") else comm,
                                 peer=root if like in ("MPI_Bcast", "MPI_Reduce") else NONE))
            if like != call:
                self.to_wait[rank].append((seqs[i], "collective", after + self.cost(), None))
        for i, rank in enumerate(members):
            row = self.rows[rank][seqs[i]]
            row.needs = [(members[w], seqs[w]) for w in waits[i]]
            best = max(waits[i], key=lambda w: (enters[w], -members[w]), default=i)
            if like == call and call in PASS_ON:
                needed, best = best, self.in_tree(i, best, enters, row.enter, row.leave, members)
                row.tree = (members[best], seqs[best]) if best != needed else None
            if best != i:
                row.other = (members[best], seqs[best])
        self.collectives.append(sorted(zip(members, seqs)))
        if like != call:
            self.started.append((like, members, seqs, [max(waits[i], key=lambda w: (enters[w], -members[w]), default=i)
                                                       for i in range(len(members))], waits))
        if self.unit > 1 and like != call and self.random.random() < 0.5:
            self.complete_together(members, self.random.random() < 0.5)

    def complete_together(self, members, overlapped):
        """What the members have started: at once, as if it were a blocking call, or when one that computed is in a call again."""
        for rank in members if overlapped else ():
            for _ in range(self.random.randint(0, 2)):
                self.compute(rank)
                self.add(rank, "MPI_Type_commit", self.clock[rank], self.clock[rank] + self.cost())
            self.compute(rank)
        back = max(self.clock[rank] for rank in members)
        for rank in members:
            seq, kind, ready, message = self.to_wait[rank].pop()
            if overlapped and self.random.random() < 0.7:
                ready = max(ready, back)
            self.to_wait[rank].append((seq, kind, ready, message))
            self.complete(rank, self.to_wait[rank][-1:])

    def in_tree(self, i, needed, enters, since, leave, members):
        """The last that entered before member I left, if before that nobody did for 10 us and more than half of the time."""
        if needed != i and enters[needed] <= leave:
            since = max(since, enters[needed])
        inside = sorted(e for e in enters if since < e <= leave)
        gaps = [after - before for before, after in zip([since] + inside, inside)]
        last = max((w for w in range(len(members)) if enters[w] <= leave), key=lambda w: (enters[w], -members[w]))
        return last if max(gaps, default=0) >= 10000 and 2 * max(gaps) > leave - since else needed

    def hold_completions(self):
        """Completions may wait for another member than MPI lets them wait for, too, or for one that computes."""
        for like, members, seqs, needed, waits in self.started:
            enters = [self.rows[rank][seq].enter for rank, seq in zip(members, seqs)]
            ends = [self.completed[rank, seq] for rank, seq in zip(members, seqs)]
            backs = [back for rank, seq, end in zip(members, seqs, ends) for back in self.backs(rank, seq, end)]
            for i, rank in enumerate(members):
                row = self.rows[rank][ends[i]]
                by = needed[i]
                if like in PASS_ON:
                    by = self.in_tree(i, by, enters, row.enter, row.leave, members)
                since = row.enter if by == i or enters[by] > row.leave else max(row.enter, enters[by])
                held = [(to, *back) for start, to, called, back in backs if to <= row.leave and
                        (like not in NEIGHBOUR or members.index(back[0]) in waits[i]) and
                        to - since - min(max(start - since, 0), called) > max((row.leave - since) // 2, 9999)]
                if held or by != needed[i]:
                    row.other = max(held)[1:] if held else (members[by], seqs[by])
                    row.needs = [row.other]
                    self.holds.append((*row.other, rank, ends[i]))

    def backs(self, rank, start, end):
        """Computations of 20 us between two rows: begin, end, the time in calls so far, and the row after it."""
        computed, leave = 0, self.rows[rank][start].leave
        for seq in range(start + 1, end + 1):
            row = self.rows[rank][seq]
            if row.part:
                continue
            if row.enter - leave >= 20000:
                computed += row.enter - leave
                yield leave, row.enter, row.enter - self.rows[rank][start].leave - computed, (rank, seq)
            leave = row.leave

    def choose_collective(self, comm):
        calls = COLLECTIVES + (NEIGHBOUR if comm in self.sources else ())
        call = self.random.choice(calls)
        if self.more and call != "MPI_Comm_dup" and self.random.random() < 0.4:
            call = f"MPI_I{call[4:].lower()}"
        return call

    def waits(self, comm, call, member, root):
        """The members, itself perhaps among them, whose enters a member of a collective needs."""
        if call in ALL_TO_ALL:
            return range(len(self.comms[comm]))
        if call == "MPI_Bcast":
            return (root,)
        if call == "MPI_Reduce":
            return range(len(self.comms[comm])) if member == root else ()
        if call in NEIGHBOUR:
            return sorted({member, *(s for s in self.sources[comm][member] if s != NULL)})
        return range(member + 1)

    def post(self, rank):
        comm = self.random.choice([c for c in self.comms if rank in self.comms[c]])
        peer = self.random.choice((ANY, self.random.randrange(len(self.comms[comm]))))
        tag = self.random.choice((ANY, 0, 1, 2))
        enter = self.clock[rank]
        seq = self.add(rank, "MPI_Irecv", enter, enter + self.cost(), comm=comm, peer=peer, tag=tag,
                       received=64)
        self.posted[rank].append((seq, comm, peer, tag))

    def message(self):
        comm = self.random.choice(list(self.comms))
        members = self.comms[comm]
        source, target = self.random.randrange(len(members)), self.random.randrange(len(members))
        tag = self.random.randrange(3)
        sender, receiver = members[source], members[target]
        if sender == receiver and not any(self.fits(p, comm, source, tag)
                                          for p in self.posted[receiver]):
            self.post(receiver)      # a blocking pair of one's own would deadlock
            return
        self.compute(sender)
        self.compute(receiver)
        call = self.random.choice(("MPI_Send", "MPI_Ssend", "MPI_Isend", "MPI_Bsend"))
        enter = self.clock[sender]
        size = self.random.randrange(100)
        chosen = next((p for p in self.posted[receiver] if self.fits(p, comm, source, tag)), None)
        if chosen is not None:
            self.posted[receiver].remove(chosen)
            post_enter = self.rows[receiver][chosen[0]].enter
        else:
            post_enter = self.clock[receiver]
        if chosen is None and self.random.random() < 0.5:
            self.probed_message(sender, receiver, call.replace("MPI_Ssend", "MPI_Send"), size,
                                {"comm": comm, "peer": source, "tag": tag}, target)
            return
        after = max(enter, post_enter) if call == "MPI_Ssend" else enter
        leave = (enter if call == "MPI_Isend" else after) + self.cost()
        send = self.add(sender, call, enter, leave, comm=comm, peer=target, tag=tag, sent=size)
        rendezvous = self.random.random() < 0.3
        if call == "MPI_Isend":
            self.to_wait[sender].append((send, "send", post_enter if rendezvous else enter, None))
        arrival = max(enter, post_enter) + self.cost()
        info = {"comm": comm, "peer": source, "tag": tag, "received": size}
        if chosen is not None:
            self.to_wait[receiver].append((chosen[0], "receive", arrival, (info, sender, send)))
        else:
            done = max(post_enter, arrival) + self.cost()
            receive = self.add(receiver, "MPI_Recv", post_enter, done, **info)
            self.matched(sender, send, receiver, receive, receive)

    def probed_message(self, sender, receiver, call, size, info, target):
        """No posted receive fits: the message is the first of its channel that is there."""
        probes = self.random.choice((("MPI_Probe",), ("MPI_Probe", "MPI_Probe"), ("MPI_Mprobe",),
                                     ("MPI_Probe", "MPI_Mprobe"), ("MPI_Improbe",), ("MPI_Iprobe",)))
        taken = probes[-1] in ("MPI_Mprobe", "MPI_Improbe")
        if taken:       # received at any time: a send that waited for that might never end
            call = "MPI_Bsend"
        enter = self.clock[sender]
        send = self.add(sender, call, enter, enter + self.cost(), sent=size, **dict(info, peer=target))
        if call == "MPI_Isend":
            self.to_wait[sender].append((send, "send", enter, None))
        for probe in probes:
            self.compute(receiver)
            begin = self.clock[receiver]
            if probe.startswith("MPI_I"):    # which finds what is there
                begin = max(begin, enter)
            seq = self.add(receiver, probe, begin, max(begin, enter) + self.cost(), **info)
            row = self.rows[receiver][seq]
            row.finds = probe != "MPI_Probe" or self.random.random() < 0.5    # in other traces it does not say so
            row.other, row.needs = (sender, send), [(sender, send)]
            self.probes.append((sender, send, receiver, seq))
        info = dict(info, received=size)
        if taken:
            self.taken[receiver].append((seq, info, sender, send))
            return
        begin = self.clock[receiver]
        receive = self.add(receiver, "MPI_Recv", begin, begin + self.cost(), **info)
        self.matched(sender, send, receiver, receive, receive)

    def receive_taken(self, rank, count):
        for _ in range(min(count, len(self.taken[rank]))):
            probe, info, sender, send = self.taken[rank].pop(self.random.randrange(len(self.taken[rank])))
            self.compute(rank)
            enter, seq = self.clock[rank], len(self.rows[rank])
            if self.random.random() < 0.5:
                self.add(rank, "MPI_Mrecv", enter, enter + self.cost(), request=seq - probe, **info)
                self.matched(sender, send, rank, seq, seq)
            else:
                self.add(rank, "MPI_Imrecv", enter, enter + self.cost(), request=seq - probe, **info)
                self.to_wait[rank].append((seq, "receive", enter, (info, sender, send)))

    @staticmethod
    def fits(posted, comm, source, tag):
        return posted[1] == comm and posted[2] in (ANY, source) and posted[3] in (ANY, tag)

    def matched(self, sender, send, receiver, receive, post):
        self.messages.append((sender, send, receiver, receive))
        self.rows[receiver][receive].other = (sender, send)
        self.rows[sender][send].other = (receiver, post)
        self.rows[receiver][receive].needs = [(sender, send)]
        self.rows[sender][send].needs = [(receiver, post)]
        self.rows[sender][send].is_send = True

    def wait(self, rank, count):
        requests = self.to_wait[rank]
        if not requests:
            return
        self.compute(rank)
        self.complete(rank, self.random.sample(requests, min(count, len(requests))))

    def complete(self, rank, chosen):
        call = "MPI_Wait" if len(chosen) == 1 else self.random.choice(("MPI_Waitall", "MPI_Waitsome"))
        enter = self.clock[rank]
        leave = max([enter] + [ready for _, _, ready, _ in chosen]) + self.cost()
        first = len(self.rows[rank])
        for i, (start, kind, _, message) in enumerate(chosen):
            self.to_wait[rank].remove((start, kind, _, message))
            seq = first + i
            more = dict(message[0]) if kind == "receive" else {}
            self.add(rank, call if i == 0 else "part", enter, leave, request=seq - start, **more)
            self.rows[rank][seq].part = i
            self.completed[rank, start] = seq
            if kind == "receive":
                self.matched(message[1], message[2], rank, seq, start)

    def cancel(self, rank):
        for seq, comm, _, _ in self.posted[rank]:
            here = len(self.rows[rank])
            self.add(rank, "MPI_Cancel", self.clock[rank], self.clock[rank], request=here - seq)
            self.add(rank, "MPI_Wait", self.clock[rank], self.clock[rank], request=here + 1 - seq)
        self.posted[rank] = []

    # ---- what is true of the run

    def shift(self):
        """The first enter becomes 0."""
        origin = min(rows[0].enter for rows in self.rows)
        for rows in self.rows:
            for row in rows:
                row.enter -= origin
                row.leave -= origin

    def rows_of(self, location, seq):
        """The rows of a call: its first one and its parts; with each its number."""
        rows, end = self.rows[location], seq
        while end < len(rows) and rows[end].part == end - seq:
            yield end, rows[end]
            end += 1

    def edge_rows(self, location, seq):
        """The rows that tell what a call may have waited for: its own, and the starts it completes."""
        if self.rows[location][seq].call in STARTS:
            return
        for number, row in self.rows_of(location, seq):
            yield row
            if row.call in COMPLETIONS and row.request:
                yield self.rows[location][number - row.request]

    def blocked_by(self, location, seq):
        call, best = self.rows[location][seq], None
        for edge in self.edge_rows(location, seq):
            if edge.other is None:
                continue
            at = self.rows[edge.other[0]][edge.other[1]].enter
            if at < call.enter or at > call.leave or (at == call.leave and edge.is_send):
                continue
            key = (-at, edge.other[0], edge.other[1])
            best = key if best is None or key < best else best
        return None if best is None else (best[1], best[2])

    def path(self):
        """Longest path by relaxing all edges until nothing changes; then back from the end."""
        edges = []                   # (from, to, weight, segment); events are (location, seq, leave)
        source = "begin"
        for location, rows in enumerate(self.rows):
            before = None
            for seq, row in enumerate(rows):
                if row.part:
                    continue
                enter, leave = (location, seq, 0), (location, seq, 1)
                if before is None:
                    edges.append((source, enter, row.enter, (location, 0, row.enter,
                                  "start" if row.call in ("MPI_Init", "MPI_Init_thread") else "compute", None)))
                else:
                    edges.append((before, enter, row.enter - rows[before[1]].leave,
                                  (location, rows[before[1]].leave, row.enter, "compute", None)))
                by = self.blocked_by(location, seq)
                if by is None:
                    edges.append((enter, leave, row.leave - row.enter,
                                  (location, row.enter, row.leave, "mpi", row.call)))
                else:
                    far = self.rows[by[0]][by[1]]
                    edges.append(((by[0], by[1] - far.part, 0), leave, row.leave - far.enter,
                                  (location, far.enter, row.leave, "transfer", row.call)))
                before = leave
        distance, via = {source: 0}, {}
        changed = True
        while changed:
            changed = False
            for edge in edges:
                if edge[0] in distance and distance[edge[0]] + edge[2] > distance.get(edge[1], -1):
                    distance[edge[1]] = distance[edge[0]] + edge[2]
                    via[edge[1]] = edge
                    changed = True
        last = max(((rows[-1].leave, -location) for location, rows in enumerate(self.rows)))
        location = -last[1]
        seq = len(self.rows[location]) - 1
        at = (location, seq - self.rows[location][seq].part, 1)
        segments = []
        while at in via:
            piece = via[at][3]
            if piece[1] != piece[2]:
                segments.append(piece)
            at = via[at][0]
        return distance[(location, seq - self.rows[location][seq].part, 1)], segments[::-1]

    def imbalance(self):
        """wait, execution, unsynchronised, program time of each rank."""
        group = {}
        for sender, send, receiver, receive in self.messages:
            s, r = self.rows[sender][send], self.rows[receiver][receive]
            group[(sender, send)] = (r.enter, r.leave)
            group[(receiver, receive)] = (s.enter, s.leave)
        for sender, send, receiver, probe in self.probes:
            if not self.rows[receiver][probe].call.startswith("MPI_I"):
                s = self.rows[sender][send]
                group[(receiver, probe)] = (s.enter, s.leave)
        for members in self.collectives:
            if len(members) < 1:
                continue
            start = max(self.rows[r][s].enter for r, s in members)
            end = min(self.rows[r][s].leave for r, s in members)
            for r, s in members:
                group[(r, s)] = (start, end)
        result = []
        for rank, rows in enumerate(self.rows):
            wait = execution = unsynchronised = program = 0
            last = None
            for seq, row in enumerate(rows):
                if row.part:
                    continue
                if last is not None:
                    program += row.enter - last
                last = row.leave
                mine = [group[(rank, number)] for number, _ in self.rows_of(rank, seq)
                        if (rank, number) in group]
                if not mine:
                    execution += row.leave - row.enter
                    continue
                first = max(m[0] for m in mine)
                start, stop = next(m for m in mine if m[0] == first)
                start, stop = max(start, row.enter), min(stop, row.leave)
                if stop < start:
                    unsynchronised += row.leave - row.enter
                else:
                    wait += start - row.enter + row.leave - stop
                    execution += stop - start
            result.append((wait, execution, unsynchronised, program))
        return result

    # ---- as a stream

    def write(self, out):
        names = sorted({row.call for rows in self.rows for row in rows if row.call != "part"})
        number = {name: i + 1 for i, name in enumerate(names)}
        number["part"] = 0
        writer = trace.Writer(out, "trace")
        writer.put("run", {"ranks": self.ranks, "locations": self.ranks,
                           "run_ns": max(rows[-1].leave for rows in self.rows)})
        for name in names:
            writer.put("call", {"number": number[name], "name": name})
        for site in range(1, 5):
            writer.put("site", {"site": site, "offset": 16 * site})
        for comm, members in self.comms.items():
            if comm > 2:
                writer.put("communicator", {"comm": comm, "size": len(members),
                                            "members": trace.column_bytes(members, True)})
            for member, sources in enumerate(self.sources.get(comm, ())):
                writer.put("neighbours", {"comm": comm, "member": member, "count": len(sources),
                                          "sources": trace.column_bytes(sources, True)})
        blocks = []
        for location, rows in enumerate(self.rows):
            first = 0
            while first < len(rows):
                end = min(len(rows), first + self.random.randint(1, 12))
                while end < len(rows) and rows[end].part:
                    end += 1
                blocks.append((rows[first].enter, location, first, rows[first:end]))
                first = end
        for _, location, first, rows in sorted(blocks, key=lambda b: b[:3]):
            writer.block("calls", {
                "enter": [r.enter for r in rows],
                "duration": [r.leave - r.enter for r in rows],
                "call": [number[r.call] for r in rows],
                "comm": [r.comm for r in rows],
                "peer": [r.peer for r in rows],
                "tag": [r.tag for r in rows],
                "bytes_sent": [r.sent for r in rows],
                "bytes_received": [r.received for r in rows],
                "request": [first + i if r.finds else r.request for i, r in enumerate(rows)],
                "request_at": [location + 1 if r.finds else 0 for r in rows],
                "site": [r.site for r in rows],
            }, location=location, first=first)
        writer.end()


def make(seed, more=False, times=1, unit=1):
    run = Run(seed, more, times, unit)
    run.shift()
    out = io.BytesIO()
    run.write(out)
    return run, out.getvalue()


def tool(*command, data):
    done = subprocess.run(command, input=data, capture_output=True, timeout=60)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


class Wrong(Exception):
    pass


def check_graph(run, graph):
    edges, probes, instances, holds = [], [], [], []
    for message in trace.read(io.BytesIO(graph)):
        if message.kind in ("messages", "probes", "holds"):
            {"messages": edges, "probes": probes, "holds": holds}[message.kind].extend(zip(*(message.column(k).tolist() for k in ("source", "send", "target", "receive"))))
        elif message.kind == "collectives":
            pairs = list(zip(message.column("location").tolist(), message.column("seq").tolist()))
            for size in message.column("size", rows=message.body["instances"]).tolist():
                instances.append(sorted(pairs[:size]))
                del pairs[:size]
    completes = {(rank, run.completed[rank, seq]) for _, members, seqs, *_ in run.started
                 for rank, seq in zip(members, seqs)}
    holds = sorted(hold for hold in holds if hold[2:] in completes)    # else of sends
    if holds != sorted(run.holds):
        raise Wrong(f"holds of completions are {holds}, should be {sorted(run.holds)}")
    if sorted(edges) != sorted(run.messages):
        raise Wrong(f"messages differ: {sorted(set(edges) ^ set(run.messages))}")
    if sorted(probes) != sorted(run.probes):
        raise Wrong(f"probes differ: {sorted(set(probes) ^ set(run.probes))}")
    if sorted(instances) != sorted(run.collectives):
        raise Wrong("collectives differ")


def check_path(run, graph):
    length, segments = run.path()
    for algorithm in ("walk", "kahn", "dijkstra", "delta"):
        path = json.loads(tool("lp-critpath", "-F", "json", "-a", algorithm, data=graph))
        got = [(s["rank"], s["begin_ns"], s["end_ns"], s["kind"], s["call"]) for s in path["segments"]]
        if got != segments:
            raise Wrong(f"{algorithm}: the path is {got}, should be {segments}")
        if round(path["path_length_s"] * 1e9) != length or path["path_length_s"] != path["run_time_s"]:
            raise Wrong(f"{algorithm}: length {path['path_length_s']}, should be {length} ns")


def check_imbalance(run, graph):
    report = json.loads(tool("lp-imbalance", "-F", "json", data=graph))
    for process, truth in zip(report["processes"], run.imbalance()):
        got = tuple(round(1e9 * process[k]) for k in (
            "total_wait_time_s", "total_execution_time_s", "unsynchronised_time_s", "program_time_s"))
        if got != truth:
            raise Wrong(f"imbalance of rank {process['rank']} is {got}, should be {truth}")


def check(seed):
    unit = 1000 if seed % 3 == 0 else 1     # in us, libraries are seen to make ranks wait
    for more in (False, True):
        run, stream = make(seed, more, 1, unit)
        graph = tool("lp-graph", "--polls", "work", data=stream)
        check_graph(run, graph)
        check_path(run, graph)
        if not more:
            check_imbalance(run, graph)
    run, stream = make(seed, True, 1 + seed % 12, unit)
    graph = tool("lp-graph", "--polls", "work", data=stream)
    check_path(run, settle.settled(graph, 1 + seed % 8))


def main(arguments):
    if arguments[:1] == ["make"]:
        sys.stdout.buffer.write(make(int(arguments[1]), arguments[2:3] == ["more"], *map(int, arguments[3:]))[1])
        return 0
    for seed in range(int(arguments[1]), int(arguments[1]) + int(arguments[2])):
        try:
            check(seed)
        except (Wrong, trace.Damaged, subprocess.TimeoutExpired) as error:
            print(f"seed {seed}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
