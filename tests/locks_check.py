#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/locks_check.py FIRST COUNT - does lp-graph find out who waited for whose lock?

The ranks of a simulated program lock MPI windows, and who holds which lock is known at each instant. MPI gives a lock
as MPI_Win_lock returns (eager), or only in the first flush or unlock behind an operation (lazy). The edges of lp-graph
are compared with the simulation, of one stream and of shards:

- eager: an edge for each lock that was given only after another rank had entered MPI_Win_unlock, from the last of these
  (of several at one instant, from any), and no other; MPI_Win_lock_all is a lock of each target;
- lazy: no other, and at least half of them. A MPI_Win_lock that returned at once may have another rank's
  MPI_Win_unlock begin in it by chance, which cannot be told apart.

Exit 1, and a line for each run where that is not so.
"""
import heapq
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))


class Epoch:
    def __init__(self, rank, shared):
        self.rank, self.shared = rank, shared
        self.unlock = None              # its row, and when it was entered
        self.unlock_ns = None


class Lock:
    """Of one target of a window."""
    def __init__(self):
        self.holders, self.queue, self.past = [], [], []

    def give(self):
        """Who does not have to wait any longer, in turn."""
        while self.queue and not any(not (self.queue[0][0].shared and held.shared) for held in self.holders):
            epoch, process = self.queue.pop(0)
            self.holders.append(epoch)
            yield process


class Program:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.lazy = seed % 3 == 2
        self.ranks, self.windows = self.chance.randint(2, 6), self.chance.randint(1, 2)
        self.shares = self.chance.choice((0, 0.3, 0.8))
        self.of_all = self.chance.choice((0, 0.1, 0.4))
        self.rows = [[("MPI_Init", 0, 10, "")] for _ in range(self.ranks)]
        self.locks = {(w, t): Lock() for w in range(self.windows) for t in range(self.ranks)}
        self.waits, self.arrived, self.events, self.number, self.now = {}, [], [], itertools.count(), 0
        count = self.chance.randint(5, 40)
        for rank in range(self.ranks):
            self.later(10, self.steps(rank, count))
        while self.events:
            self.now, _, process = heapq.heappop(self.events)
            at = next(process, None)
            if at is not None:
                self.later(at, process)
        assert all(rows[-1][0] == "MPI_Finalize" for rows in self.rows)

    def later(self, at, process):
        heapq.heappush(self.events, (at, next(self.number), process))

    def soon(self, most):
        return self.now + self.chance.randint(1, most)

    def add(self, rank, call, enter, keys):
        self.rows[rank].append((call, enter, self.now, keys))

    def steps(self, rank, count):
        """What a rank does, up to the instants that it yields; None: until others wake it."""
        me = []                         # this generator, once it is there
        me.append(self.process(rank, count, me))
        return me[0]

    def process(self, rank, count, me):
        for step in range(count):
            yield self.soon(400)
            if step % 8 == 7:
                yield from self.meet(rank, "MPI_Barrier", me[0])
            elif self.chance.random() < self.of_all:
                yield from self.epoch_of_all(rank, me[0])
            else:
                yield from self.epoch(rank, me[0])
        yield from self.meet(rank, "MPI_Finalize", me[0])

    def meet(self, rank, call, me):
        enter = self.now
        self.arrived.append(me)
        if len(self.arrived) == self.ranks:
            for process in self.arrived:
                self.later(self.soon(5), process)
            self.arrived = []
        yield None
        self.add(rank, call, enter, "comm=1")

    def ask(self, locks, epoch, me, row, enter):
        """Waits for the locks in the call ROW, entered then, and notes for whose unlocks."""
        for lock in locks:
            lock.queue.append((epoch, me))
            for process in lock.give():
                self.later(self.soon(3), process)
        for _ in locks:
            yield None
        for lock in locks:
            before = [e for e in lock.past if e.rank != epoch.rank and not (e.shared and epoch.shared) and
                      enter < e.unlock_ns]
            if before:
                last = max(e.unlock_ns for e in before)
                self.waits.setdefault((epoch.rank, row), set()).update(e.unlock for e in before if e.unlock_ns == last)

    def give_back(self, locks, epoch):
        for lock in locks:
            lock.holders.remove(epoch)
            lock.past.append(epoch)
            for process in lock.give():
                self.later(self.soon(9) if not self.lazy else self.now + 9, process)

    def epoch_of_all(self, rank, me):
        """MPI_Win_lock_all: shared, of each target."""
        window = self.chance.randrange(self.windows)
        locks = [self.locks[window, target] for target in range(self.ranks)]
        epoch, comm, row = Epoch(rank, True), f"comm={3 + window}", len(self.rows[rank])
        had, used, enter = set(), set(), self.now
        yield self.soon(3)
        if not self.lazy:
            yield from self.ask(locks, epoch, me, row, enter)
            had = set(range(self.ranks))
        self.add(rank, "MPI_Win_lock_all", enter, comm)
        for call in self.chance.choices(("MPI_Put", "MPI_Win_flush", "MPI_Win_flush_all"), k=self.chance.randint(0, 4)):
            yield self.soon(200)
            enter, target = self.now, self.chance.randrange(self.ranks)
            if call == "MPI_Put":
                used.add(target)
            else:
                needed = used - had if call == "MPI_Win_flush_all" else {target} & used - had
                yield from self.ask([locks[t] for t in sorted(needed)], epoch, me, len(self.rows[rank]), enter)
                had |= needed
            yield self.soon(self.chance.choice((5, 100)))
            self.add(rank, call, enter, comm if call == "MPI_Win_flush_all" else f"{comm} peer={target}")
        yield self.soon(200)
        epoch.unlock, epoch.unlock_ns = (rank, len(self.rows[rank])), self.now
        enter = self.now
        yield from self.ask([locks[t] for t in sorted(used - had)], epoch, me, len(self.rows[rank]), enter)
        yield self.soon(self.chance.choice((3, 80)))
        self.give_back([locks[t] for t in sorted(had | used)], epoch)
        yield self.soon(4)
        self.add(rank, "MPI_Win_unlock_all", enter, comm)

    def epoch(self, rank, me):
        window, target = self.chance.randrange(self.windows), self.chance.randrange(self.ranks)
        lock, keys = self.locks[window, target], f"comm={3 + window} peer={target}"
        epoch = Epoch(rank, self.chance.random() < self.shares)
        had, used, enter = False, False, self.now
        yield self.soon(3)
        if not self.lazy:
            yield from self.ask([lock], epoch, me, len(self.rows[rank]), enter)
            had = True
        self.add(rank, "MPI_Win_lock", enter, f"{keys} tag={2 if epoch.shared else 1}")
        for call in self.chance.choices(("MPI_Put", "MPI_Win_flush"), k=self.chance.randint(0, 3)):
            yield self.soon(200)
            enter = self.now
            if call == "MPI_Put":
                used = True
            elif used and not had:
                yield from self.ask([lock], epoch, me, len(self.rows[rank]), enter)
                had = True
            yield self.soon(self.chance.choice((5, 100)))
            self.add(rank, call, enter, keys)
        yield self.soon(200)
        epoch.unlock, epoch.unlock_ns = (rank, len(self.rows[rank])), self.now
        enter = self.now
        if used and not had:
            yield from self.ask([lock], epoch, me, len(self.rows[rank]), enter)
            had = True
        yield self.soon(self.chance.choice((3, 80)))
        if had:
            self.give_back([lock], epoch)
        # Where a lock is given early it does not matter when the unlock that was before it returns.
        yield self.soon(400 if not self.lazy and self.chance.random() < 0.3 else 4)
        self.add(rank, "MPI_Win_unlock", enter, keys)

    def text(self):
        yield f"trace ranks={self.ranks} rows={self.chance.choice((2, 3, 20))}"
        for window in range(self.windows):
            yield f"communicator comm={3 + window} members={','.join(map(str, range(self.ranks)))} type=window"
        for rank, rows in enumerate(self.rows):
            for call, enter, leave, keys in rows:
                yield f"{rank} {call} {enter} {leave} {keys}"


def edges(graph):
    """Those of locks, and how many synchronisation points there are."""
    lines = [json.loads(line) for line in run("lp-dump", graph).splitlines()]
    return ({((line["source"], line["send"]), (line["target"], line["receive"])) for line in lines
             if line["kind"] == "lock"}, sum(line["kind"] == "sync" for line in lines))


def run(*command, data=None):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def check(seed, folder):
    program = Program(seed)
    trace, graph = os.path.join(folder, "trace"), os.path.join(folder, "graph")
    with open(trace, "wb") as file:
        file.write(run(os.path.join(HERE, "pack"), data="\n".join(program.text()).encode()))
    with open(graph, "wb") as file:
        file.write(run("lp-graph", trace))
    shards, matched = os.path.join(folder, f"shards.{seed}"), os.path.join(folder, f"matched.{seed}")
    run(os.path.join(HERE, "cut_trace.py"), trace, shards, str(1 + seed % program.ranks))
    run("lp-graph", "--round", str(1 + seed % 8), "-o", matched, shards)
    found, syncs = in_one = edges(graph)
    if program.lazy:
        found = {edge for edge in found if program.rows[edge[1][0]][edge[1][1]][0] not in ("MPI_Win_lock", "MPI_Win_lock_all")}
    wrong = {edge for edge in found if edge[0] not in program.waits.get(edge[1], ())}
    missed = program.waits.keys() - {target for _, target in found}
    meetings = sum(row[0] in ("MPI_Barrier", "MPI_Finalize", "MPI_Init") for row in program.rows[0])
    if wrong or (missed and not program.lazy) or 2 * len(found) < len(program.waits) or edges(matched) != in_one or syncs != meetings:
        print(f"seed {seed}: {sorted(wrong)} are not, {sorted(missed)} wait, too; "
              f"{syncs} of {meetings} synchronisation points; or the shards differ")
        return None
    return len(found)


def main(first, count):
    with tempfile.TemporaryDirectory() as folder:
        found = [check(seed, folder) for seed in range(first, first + count)]
    print(sum(number or 0 for number in found), "waits for a lock")
    return None in found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
