#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/window_run.py SEED [storm]: a random run with MPI windows and threads, as text for tests/pack

Two to four ranks; post and start, fences, locks and flushes on two windows, which wait as long as necessary or return
early; messages whose requests another thread started or completes; barriers, probes, and calls that do nothing. Blocks
are small, so that ends of an edge are read in any order. A storm has rounds of many concurrent messages of all sizes on
five to eight ranks, which compete for links and buses.
"""
import random
import sys


class Run:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.ranks = self.rng.randint(2, 4)
        self.threads = {self.ranks + i: self.rng.randrange(self.ranks) for i in range(self.rng.randint(0, 2))}
        self.at = [self.rng.randint(0, 9) for _ in range(self.ranks + len(self.threads))]
        self.rows = [[] for _ in self.at]
        self.exposed = {}       # (target, window): the post's row, by origin when it completes
        self.tag = 0

    def call(self, location, name, words, until=0):
        """The call lasts at least until then; returns its number and when it was left."""
        enter = self.at[location] + self.rng.choice((1, 5, 40, 200))
        leave = max(enter + self.rng.randint(1, 9), until)
        self.rows[location].append((enter, leave, name, words))
        self.at[location] = leave
        return len(self.rows[location]) - 1, leave

    def part(self, location, words):
        self.rows[location].append((None, None, "+", words))
        return len(self.rows[location]) - 1

    def enter_next(self, location):
        return self.at[location] + 1

    def others(self, rank, least=1):
        return self.rng.sample([r for r in range(self.ranks) if r != rank], self.rng.randint(least, self.ranks - 1))

    def refers(self, location, to):
        return len(self.rows[location]) - to

    # -- what ranks do --

    def epoch(self):
        win, target = self.rng.choice((3, 4)), self.rng.randrange(self.ranks)
        if (target, win) in self.exposed:
            return self.wait(target, win)
        origins = self.others(target)
        post, posted = self.call(target, "MPI_Win_post", f"comm={win} peer={origins[0]}")
        posts = [post] + [self.part(target, f"comm={win} peer={o}") for o in origins[1:]]
        ends = []
        for origin in origins:
            blocks = self.rng.random() < 0.5
            start, _ = self.call(origin, "MPI_Win_start", f"comm={win} peer={target}", posted if blocks else 0)
            for _ in range(self.rng.randint(0, 2)):
                self.call(origin, self.rng.choice(("MPI_Put", "MPI_Accumulate")), f"comm={win} peer={target} sent=8")
            _, end = self.call(origin, "MPI_Win_complete",
                               f"comm={win} request={self.refers(origin, start)}", posted)
            ends.append(end)
        self.exposed[target, win] = posts, max(ends)
        if self.rng.random() < 0.6:
            self.wait(target, win)
        return None

    def wait(self, target, win):
        posts, end = self.exposed.pop((target, win))
        self.call(target, "MPI_Win_wait", f"comm={win} request={self.refers(target, posts[0])}", end)
        for post in posts[1:]:
            self.part(target, f"comm={win} request={self.refers(target, post)}")

    def fence(self):
        win, waits = self.rng.choice((3, 4)), self.rng.random() < 0.7
        for rank in range(self.ranks):
            for _ in range(self.rng.randint(0, 2)):
                self.call(rank, self.rng.choice(("MPI_Put", "MPI_Get")), f"comm={win} peer={self.others(rank)[0]} sent=8")
        last = max(self.at[:self.ranks]) + 250 if waits else 0
        for rank in range(self.ranks):
            self.call(rank, "MPI_Win_fence", f"comm={win}", last)

    def lock(self):
        win, origin = self.rng.choice((3, 4)), self.rng.randrange(self.ranks)
        target, late = self.others(origin)[0], self.rng.choice((0, 0, 300))
        every = self.rng.random() < 0.3
        peer = "" if every else f" peer={target}"
        self.call(origin, "MPI_Win_lock_all" if every else "MPI_Win_lock",
                  f"comm={win}{peer}" + ("" if every else f" tag={self.rng.randint(0, 1)}"), self.at[origin] + late)
        for _ in range(self.rng.randint(0, 3)):
            self.call(origin, self.rng.choice(("MPI_Put", "MPI_Get", "MPI_Win_flush")),
                      f"comm={win} peer={target} sent=8", self.at[origin] + self.rng.choice((0, 0, 250)))
        self.call(origin, "MPI_Win_unlock_all" if every else "MPI_Win_unlock", f"comm={win}{peer}",
                  self.at[origin] + self.rng.choice((0, 300)))

    def message(self):
        source = self.rng.randrange(self.ranks)
        target, self.tag = self.others(source)[0], self.tag + 1
        any_peer, fails = self.rng.random() < 0.4, self.rng.random() < 0.1
        _, sent = self.call(source, self.rng.choice(("MPI_Send", "MPI_Isend")),
                            f"comm=1 peer={target} tag={self.tag} sent=8")
        room = f"comm=1 peer={'any' if any_peer else source} tag={'any' if any_peer else self.tag} received=16"
        what = "comm=1" if fails else f"comm=1 peer={source} tag={self.tag} received=8"
        places = [target] + [location for location, rank in self.threads.items() if rank == target]
        starter, ender = self.rng.choice(places), self.rng.choice(places)
        start, _ = self.call(starter, "MPI_Irecv", room)
        if self.rng.random() < 0.3:
            self.call(ender, "MPI_Test", "")
        refers = f"request={self.refers(ender, start)}" if ender == starter else \
            f"request={start} request_at={starter + 1}"
        self.call(ender, self.rng.choice(("MPI_Wait", "MPI_Waitall")), f"{what} {refers}", sent)

    def barrier(self):
        last = max(self.at[:self.ranks]) + 250
        name = self.rng.choice(("MPI_Barrier", "MPI_Allreduce"))
        for rank in range(self.ranks):
            self.call(rank, name, "comm=1 sent=8 received=8" if name == "MPI_Allreduce" else "comm=1", last)

    def probe(self):
        self.call(self.rng.randrange(len(self.at)), "MPI_Iprobe", "comm=1 peer=any tag=any")

    def lines(self):
        yield f"trace ranks={self.ranks} rows={self.rng.randint(3, 20)}"
        for location, rank in self.threads.items():
            yield f"location location={location} rank={rank} thread={location}"
        for win in (3, 4):
            yield f"communicator comm={win} members={','.join(map(str, range(self.ranks)))} type=window"
        for location, rows in enumerate(self.rows):
            for i, (enter, leave, name, words) in enumerate(rows):
                site = f" site={1 + i % 5}" if name != "+" else ""
                times = f" {enter} {leave}" if name != "+" else ""
                yield f"{location} {name}{times} {words}{site}"


def storm(seed):
    run = Run(seed)
    run.ranks, run.threads = run.rng.randint(5, 8), {}
    run.at, run.rows = [run.rng.randint(0, 9) for _ in range(run.ranks)], [[] for _ in range(run.ranks)]
    for rank in range(run.ranks):
        run.call(rank, "MPI_Init", "", 50)
    for _ in range(run.rng.randint(2, 5)):
        open_requests = [[] for _ in range(run.ranks)]
        posts = [(run.rng.randrange(run.ranks), tag, run.rng.choice((0, 10, 300, 3000, 20000))) for tag in range(25)]
        for source, tag, size in posts:
            target = run.others(source)[0]
            sends = run.rng.random() < 0.5      # else the receive is posted first
            for sending in (sends, not sends):
                rank, peer = (source, target) if sending else (target, source)
                start, _ = run.call(rank, "MPI_Isend" if sending else "MPI_Irecv",
                                    f"comm=1 peer={peer} tag={tag} {'sent' if sending else 'received'}={size}")
                open_requests[rank].append((start, "" if sending else f"comm=1 peer={peer} tag={tag} received={size} "))
        for rank, requests in enumerate(open_requests):
            for i, (start, what) in enumerate(requests):
                refers = f"{what}request={run.refers(rank, start)}"
                if i == 0:
                    run.call(rank, "MPI_Waitall", refers, max(run.at))
                else:
                    run.part(rank, refers)
    return run


def main(seed, kind):
    if kind == "storm":
        print("\n".join(storm(seed).lines()))
        return
    run = Run(seed)
    for rank in range(run.ranks):
        run.call(rank, "MPI_Init", "", 50)
    for location in run.threads:
        run.call(location, "MPI_Iprobe", "comm=1 peer=any tag=any")
    for _ in range(run.rng.randint(5, 40)):
        run.rng.choice((run.epoch, run.epoch, run.epoch, run.fence, run.lock, run.lock, run.message, run.message,
                        run.message, run.barrier, run.probe))()
    for target, win in list(run.exposed):
        if run.rng.random() < 0.8:
            run.wait(target, win)
    last = max(run.at) + 250
    for rank in range(run.ranks):
        run.call(rank, "MPI_Finalize", "", last)
    print("\n".join(run.lines()))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] == ["storm"] and "storm")
