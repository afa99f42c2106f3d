#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/holds_check.py FIRST COUNT - does lp-graph find the sends that their receiver held up, and no others?
tests/holds_check.py long SEED ROWS - such a run over and over, behind a send that nobody receives, as text for tests/pack

The ranks of a simulated program send to each other, by MPI_Send, by MPI_Isend or MPI_Start and MPI_Wait, or by MPI_Put and a flush
of this target, a flush of all, or an unlock. The buffers of a pair hold few messages. A send to a full buffer lasts until the receiver, which computes, is in a call again; that call takes all
that came into memory of its own, so the receives can be much later. In another kind of run a send ends by itself, but
some last as long for reasons of their own, at any time. The edges of lp-graph are compared with the simulation, of one
stream and of shards:

- held up: each send that was held up has an edge from the call that let it go, and no other has one;
- of their own: at most one in fifty of the long sends of all runs has an edge, where the receiver came into a call by
  chance.

Exit 1, and a line for each run where that is not so.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SHORT, LONG = (300, 3000), (200_000, 3_000_000)   # ns
ENDS = ("flush", "flush_all", "unlock")             # of an access to memory


class Rank:
    def __init__(self):
        self.now, self.rows = 10, [("MPI_Init", 0, 10, "")]
        self.taken = {}         # by source: messages in memory


class Program:
    """Rank 0 sends to all others in turn; these compute and receive. `own`: long sends have reasons of their own."""
    def __init__(self, seed, own):
        self.chance, self.own = random.Random(seed), own
        self.room, self.how = self.chance.randint(2, 9), self.chance.choice(("send", "wait", "start", *ENDS))
        self.ranks = [Rank() for _ in range(self.chance.randint(2, 5))]
        self.holds, self.long = set(), 0
        self.enters = [[] for _ in self.ranks]  # of receivers: [enter, row], from the whole of what they do
        count = self.chance.randint(20, 120)
        for r in range(1, len(self.ranks)):
            self.receiver(r, count)
        self.sender(count)
        end = max(rank.now for rank in self.ranks) + 100
        for rank in self.ranks:
            rank.rows.append(("MPI_Finalize", end, end + 50, ""))

    def add(self, r, call, ns, keys):
        rank = self.ranks[r]
        rank.rows.append((call, rank.now, rank.now + ns, keys))
        rank.now += ns
        return len(rank.rows) - 1

    def receiver(self, r, count):
        """Messages are received long after they came, so that no receive waits and no post comes within a send."""
        rank = self.ranks[r]
        for _ in range(count):
            rank.now += self.chance.randint(*(LONG if self.chance.random() < 0.6 else SHORT))
            for _ in range(self.chance.randint(1, 3)):
                self.enters[r].append((rank.now, len(rank.rows)))
                self.add(r, "MPI_Iprobe", self.chance.randint(*SHORT), "comm=1 peer=0 tag=9")
                rank.now += self.chance.randint(*SHORT)
        rank.now += 10 ** 10
        for _ in range(count if self.how not in ENDS else 0):
            self.add(r, "MPI_Recv", self.chance.randint(*SHORT), "comm=1 peer=0 tag=1 received=8")
            rank.now += 100

    def sender(self, count):
        rank = self.ranks[0]
        if self.how in ENDS and self.how != "unlock":
            self.add(0, "MPI_Win_lock_all", 10, "comm=3")
        if self.how == "start":
            made = {r: self.add(0, "MPI_Send_init", 10, f"comm=1 peer={r} tag=1 sent=8") for r in range(1, len(self.ranks))}
        inside, emptied = [[] for _ in self.ranks], [0] * len(self.ranks)
        for _ in range(count):
            for r in range(1, len(self.ranks)):
                rank.now += self.chance.randint(*SHORT)
                ns, by = self.chance.randint(*SHORT), None
                if self.how == "unlock":
                    self.add(0, "MPI_Win_lock", ns, f"comm=3 peer={r} tag=1")
                if self.how in ENDS:
                    self.add(0, "MPI_Put", self.chance.randint(*SHORT), f"comm=3 peer={r} sent=8")
                if self.how == "wait":
                    start = self.add(0, "MPI_Isend", ns, f"comm=1 peer={r} tag=1 sent=8")
                    rank.now += self.chance.randint(*SHORT)
                if self.how == "start":
                    keys = f"comm=1 peer={r} tag=1 sent=8 request={len(rank.rows) - made[r]}"
                    start = self.add(0, "MPI_Start", ns, keys)
                    rank.now += self.chance.randint(*SHORT)
                # The receiver has emptied the buffer at its last call before now.
                last = max((e for e, _ in self.enters[r] if e <= rank.now), default=0)
                if last > emptied[r]:
                    inside[r], emptied[r] = [], last
                if self.own and self.chance.random() < 0.2:
                    ns = self.chance.randint(*LONG)
                    self.long += 1
                elif not self.own and len(inside[r]) >= self.room:
                    later = [(e, row) for e, row in self.enters[r] if e > rank.now]
                    if later:
                        enter, by = later[0]
                        ns = enter - rank.now + self.chance.randint(300, 2000)
                inside[r].append(rank.now)
                enter = rank.now
                if self.how in ENDS:
                    row = self.add(0, f"MPI_Win_{self.how}", ns,
                                   "comm=3" + (f" peer={r}" if self.how != "flush_all" else ""))
                elif self.how in ("wait", "start"):
                    row = self.add(0, "MPI_Wait", ns, f"request={len(rank.rows) - start}")
                else:
                    row = self.add(0, "MPI_Send", ns, f"comm=1 peer={r} tag=1 sent=8")
                if by is not None:
                    self.holds.add(((r, by), (0, row), ns, enter))

    def text(self):
        yield f"trace ranks={len(self.ranks)} rows={self.chance.choice((3, 20, 500))}"
        yield f"communicator comm=3 type=window members={','.join(map(str, range(len(self.ranks))))}"
        for r, rank in enumerate(self.ranks):
            for call, enter, leave, keys in rank.rows:
                yield f"{r} {call} {enter} {leave} {keys}"


def run(*command, data=None):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def edges(graph):
    lines = [json.loads(line) for line in run("lp-dump", graph).splitlines()]
    return {((line["source"], line["send"]), (line["target"], line["receive"])) for line in lines
            if line["kind"] == "hold"}


def check(seed, folder):
    program = Program(seed, own=seed % 2 == 0)
    trace, graph = os.path.join(folder, "trace"), os.path.join(folder, "graph")
    with open(trace, "wb") as file:
        file.write(run(os.path.join(HERE, "pack"), data="\n".join(program.text()).encode()))
    with open(graph, "wb") as file:
        file.write(run("lp-graph", "--polls", "work", trace))
    shards, matched = os.path.join(folder, f"shards.{seed}"), os.path.join(folder, f"matched.{seed}")
    run(os.path.join(HERE, "cut_trace.py"), trace, shards, str(1 + seed % len(program.ranks)))
    run("lp-graph", "--polls", "work", "--round", str(1 + seed % 50), "-o", matched, shards)
    found, in_shards = edges(graph), edges(matched)
    # The first call after the computation let it go; a short hold shows nothing.
    sure = {hold[:2] for hold in program.holds if hold[2] > 100_000}
    all_holds = {hold[:2] for hold in program.holds}
    wrong = found - all_holds
    missed = sure - found
    bad = not program.own and (wrong or len(missed) > len(sure) / 20)
    if bad or in_shards != found:
        print(f"seed {seed}: {len(found)} found, {len(sure)} are; wrong {sorted(wrong)[:3]}, missed {sorted(missed)[:3]}"
              + ("; the shards differ" if in_shards != found else ""))
        return None
    return program.own, len(found), program.long


def long(seed, rows):
    head, window, *body = Program(seed, own=False).text()
    calls = [line.split() for line in body if "MPI_Init" not in line and "MPI_Finalize" not in line]
    span = max(int(call[3]) for call in calls) + 1000
    yield from (head.split(" rows=")[0] + " rows=500", window, "1 MPI_Send 1 2 comm=1 peer=0 tag=99 sent=8")
    for at in range(0, rows // len(calls) * span, span):
        for rank, name, enter, leave, *keys in calls:
            yield " ".join((rank, name, str(int(enter) + at), str(int(leave) + at), *keys))


def main(first, count):
    with tempfile.TemporaryDirectory() as folder:
        runs = [check(seed, folder) for seed in range(first, first + count)]
    good = [run for run in runs if run]
    chance, long = (sum(run[i] for run in good if run[0]) for i in (1, 2))
    print(sum(run[1] for run in good if not run[0]), "sends were held up;", chance, "of", long, "long ones have an edge")
    return None in runs or chance > long / 50 + 1


if __name__ == "__main__":
    if sys.argv[1] == "long":
        print("\n".join(long(int(sys.argv[2]), int(sys.argv[3]))))
        sys.exit()
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
