#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A run of ranks with several threads that make calls and wait for each other, with the path as the simulation knows it.

    tests/handed_run.py make SEED RANKS THREADS ROUNDS [BLOCK] | tests/pack > trace
                            BLOCK: rows of a block at most
    tests/handed_run.py judge SEED RANKS THREADS ROUNDS < segments (lp-dump -k segment)
                            exit 1 and both paths if the computation on the path differs

In a round the threads of a rank hand one token round: who has it computes, the others wait. Then its holder lets all
compute at once, which send to the next rank and receive from the one before, and waits for the last of them. At last
the holders meet in a barrier. The first thread creates the others, and waits for their ends.
"""
import json
import random
import sys

WAITS, CALLER, PROGRAM = 1, 2, 3        # sites


class Thread:
    def __init__(self, location, ns, path):
        self.location, self.now, self.path = location, ns, path
        self.born, self.waits, self.rows = ns, [], []

    def compute(self, ns):
        self.path = [*self.path, (self.location, self.now, self.now + ns)]
        self.now += ns

    def wait(self, other):
        """Until another thread is where it is now."""
        if other.now > self.now:
            self.waits.append((self.now, other.now))
            self.now, self.path = other.now, other.path

    def call(self, name, leave, path, about):
        self.rows.append((self.now, leave, f"{self.location} {name} {self.now} {leave} site={PROGRAM} {about}"))
        self.now, self.path = leave, path


class Run:
    def __init__(self, seed, ranks, threads, rounds):
        self.random, self.ranks = random.Random(seed), ranks
        mains = [Thread(rank, 0, []) for rank in range(ranks)]
        for main in mains:
            main.call("MPI_Init_thread", 1000, [], "")
            main.compute(self.some())
        self.all = []
        for rank, main in enumerate(mains):
            team = [main]
            for number in range(1, threads):
                main.compute(self.some())
                team.append(Thread(ranks + rank * (threads - 1) + number - 1, main.now, main.path))
            self.all.append(team)
        holders = list(mains)
        for turn in range(rounds):
            holders = [self.hand_round(team, holder) for team, holder in zip(self.all, holders)]
            self.fork(holders, turn)
            self.barrier(holders, "MPI_Barrier", "comm=1")
        for team, holder in zip(self.all, holders):
            team[0].wait(holder)                        # the others end where they wait, then
            for thread in team[1:]:
                thread.wait(holder)
                thread.compute(self.some())
            team[0].wait(max(team[1:], key=lambda thread: thread.now))
            team[0].compute(self.some())
        self.barrier(mains, "MPI_Finalize", "")

    def some(self):
        return self.random.randrange(1000, 9000) * 1000 + self.random.randrange(1000)

    def hand_round(self, team, holder):
        for _ in range(self.random.randrange(5)):
            holder.compute(self.some())
            follower = self.random.choice([thread for thread in team if thread != holder])
            follower.wait(holder)
            holder = follower
        holder.compute(self.some())
        return holder

    def fork(self, holders, turn):
        for holder, team in zip(holders, self.all):
            for thread in team:
                if thread != holder:
                    thread.wait(holder)
                    thread.compute(self.some())
        workers = [[thread for thread in team if thread != holder] for holder, team in zip(holders, self.all)]
        for number in range(len(workers[0])):
            sends = []
            for rank, own in enumerate(workers):
                thread = own[number]
                sends.append((thread.now, thread.path))
                thread.call("MPI_Send", thread.now + 10, thread.path,
                            f"comm=1 peer={(rank + 1) % self.ranks} tag={turn * 100 + number} sent=8")
            for rank, own in enumerate(workers):
                peer, thread = (rank - 1) % self.ranks, own[number]
                sent, path = sends[peer]
                late = sent >= thread.now
                thread.call("MPI_Recv", (sent if late else thread.now) + 700, path if late else thread.path,
                            f"comm=1 peer={peer} tag={turn * 100 + number} received=8")
                thread.compute(self.some())
        for holder, own in zip(holders, workers):
            holder.wait(max(own, key=lambda thread: thread.now))
            holder.compute(self.some())

    def barrier(self, threads, name, about):
        last = max(threads, key=lambda thread: thread.now)
        now, path = last.now, last.path
        for thread in threads:
            thread.call(name, now + 500, path, about)
        self.end = now + 500
        self.path = path

    def make(self, block):
        yield f"trace ranks={self.ranks} rows={block}"
        for rank, team in enumerate(self.all):
            for number, thread in enumerate(team[1:], 1):
                yield f"location location={thread.location} rank={rank} thread={number}"
        yield "module module=0 path=/usr/lib/libc.so.6"
        yield "module module=1 path=/home/me/app"
        yield f"site site={WAITS} module=0 offset=16 function=pthread_cond_wait"
        yield f"site site={CALLER} module=1 offset=16 function=hand_over file=/home/me/app.c line=7"
        yield f"site site={PROGRAM} module=1 offset=32 function=main file=/home/me/app.c line=9"
        for _, lines in sorted(chunk for team in self.all for thread in team for chunk in self.chunks(thread, block)):
            yield from lines

    def chunks(self, thread, block):
        """Rows with the waits before the last of them, by the first enter."""
        names = ("time", "duration", "reason", "site", "callers")
        waits = [(a, b - a, 0, WAITS, CALLER) for a, b in thread.waits]
        for at in range(0, len(thread.rows), block):
            rows = thread.rows[at:at + block]
            until = rows[-1][1] if at + block < len(thread.rows) else \
                self.end if thread.location < self.ranks else thread.now
            now, waits = [w for w in waits if w[0] < until], [w for w in waits if w[0] >= until]
            columns = " ".join(f"{name}={','.join(map(str, column))}" for name, column in zip(names, zip(*now)))
            switched = f"switched location={thread.location} from_ns={thread.born} until_ns={until} {columns}"
            yield (rows[0][0], thread.location), [switched, *(line for *_, line in rows)]


def joined(path):
    """Adjacent pieces of a thread are one."""
    found = []
    for location, begin, end in path:
        if found and found[-1][0] == location and found[-1][2] == begin:
            begin = found.pop()[1]
        if end > begin:
            found.append((location, begin, end))
    return found


what, (seed, ranks, threads, rounds, *block) = sys.argv[1], map(int, sys.argv[2:])
run = Run(seed, ranks, threads, rounds)
if what == "make":
    print("\n".join(run.make(*(block or [4096]))))
else:
    told = joined((run.all[s["rank"]][s.get("thread", 0)].location, s["begin_ns"], s["end_ns"])
                  for s in map(json.loads, sys.stdin) if s["segment"] == "compute")
    is_so = joined(run.path)
    if told != is_so:
        for pair in zip(told, is_so):
            print(*pair, "" if pair[0] == pair[1] else "<-- differs")
        sys.exit(f"{len(told)} pieces, not {len(is_so)}")
