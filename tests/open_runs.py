#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/open_runs.py FOLDER SEED...: what live reports say of random runs, against the whole trace

The runs have messages that are received late or never, receives that are completed late, collectives that ranks enter
late, and long calls. In each window computation and MPI must be those of the whole trace, and the waits of each rank
too, but for at most its open time. At any time of the run, windows that ended 12 s before must have been printed.
"""
import json
import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from trace import read  # noqa: E402

RANKS, SECONDS, DELTA = 4, 40, 100_000
BEHIND_S = 12
S = 1_000_000_000


class Run:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = [[f"0 MPI_Init 0 {S // 10}"] for _ in range(RANKS)]
        self.now = [S // 10] * RANKS
        self.later = [[] for _ in range(RANKS)]     # what a rank does later
        self.tag = 0

    def call(self, rank, name, until=0, more=""):
        """The rank enters the call now, and leaves it when it may."""
        enter = self.now[rank]
        self.now[rank] = max(enter, until) + DELTA
        self.rows[rank].append(f"0 {name} {enter} {self.now[rank]} {more}")
        return enter

    def message(self, source, target):
        self.tag = tag = self.tag + 1
        send, receive = (f"comm=1 peer={peer} tag={tag} {size}=8"
                         for peer, size in ((target, "sent"), (source, "received")))
        how, late = self.random.choice(("eager", "posted", "started", "never")), self.random.random() < 0.3
        if how == "posted":        # the send waits for the post, and the post is completed later
            posted = self.call(target, "MPI_Irecv", 0, receive + f" as=r{tag}")
            sent = self.call(source, "MPI_Ssend", posted, send)
            self.do(target, late, lambda: self.call(target, "MPI_Wait", sent, receive + f" of=r{tag}"))
            return
        if how == "started":
            sent = self.call(source, "MPI_Isend", 0, send + f" as=r{tag}")
            self.do(source, late, lambda: self.call(source, "MPI_Wait", 0, f"of=r{tag}"))
        else:
            sent = self.call(source, "MPI_Send", 0, send)
        if how != "never":
            self.do(target, late, lambda: self.call(target, "MPI_Recv", sent, receive))

    def do(self, rank, late, what):
        if late:
            self.later[rank].append(what)
        else:
            what()

    def collective(self):
        name = self.random.choice(("MPI_Barrier", "MPI_Bcast", "MPI_Reduce"))
        root = self.random.randrange(RANKS)
        enters = list(self.now)
        for rank in range(RANKS):
            until = {"MPI_Barrier": max(enters), "MPI_Bcast": enters[root],
                     "MPI_Reduce": max(enters) if rank == root else 0}[name]
            peer = "" if name == "MPI_Barrier" else f"peer={'root' if rank == root else root} "
            # One-way: each call ends apart from the others.
            size = "" if name == "MPI_Barrier" else "sent=8" if (rank == root) == (name == "MPI_Bcast") else "received=8"
            self.call(rank, name, until, "comm=1 " + peer + size)

    def go(self):
        while min(self.now) < SECONDS * S:
            rank = self.now.index(min(self.now))
            self.now[rank] += self.random.choice((S // 100, S // 3, S)) if self.random.random() < 0.97 else 14 * S
            if self.later[rank] and self.random.random() < 0.3:
                self.later[rank].pop(0)()
            elif self.random.random() < 0.2:
                self.collective()
            else:
                self.message(rank, self.random.choice([r for r in range(RANKS) if r != rank]))
        for rank in range(RANKS):
            for what in self.later[rank]:
                what()
        end = max(self.now) + DELTA
        for rank in range(RANKS):
            self.call(rank, "MPI_Finalize", end)

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for rank, rows in enumerate(self.rows):
            text = f"raw ranks={RANKS} rank={rank} run=7\n" + "\n".join(rows) + "\n"
            with open(f"{folder}/rank.{rank}", "wb") as out:
                subprocess.run(["pack"], input=text.encode(), stdout=out, check=True)


def output(command, data=None, check=True):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=check).stdout


def windows(graph, check=True):
    lines = output(["lp-imbalance", "-F", "json", "--every", "1"], graph, check).splitlines()
    return [line for line in map(json.loads, lines) if "from_s" in line]


def differences(live, whole):
    """Live windows that say something else than those of the whole trace."""
    if len(live) != len(whole):
        yield f"{len(live)} windows, not {len(whole)}"
    for told, right in zip(live, whole):
        for a, b in zip(told["ranks"], right["ranks"]):
            where = f"window {told['from_s']}, rank {a['rank']}"
            for key in ("compute_s", "mpi_s"):
                if abs(a[key] - b[key]) > 1e-8:
                    yield f"{where}: {key} {a[key]}, not {b[key]}"
            if not a["wait_s"] - 1e-8 <= b["wait_s"] <= a["wait_s"] + a["open_s"] + 1e-8:
                yield f"{where}: waits {a['wait_s']} and at most {a['open_s']} more, not {b['wait_s']}"


def main(folder, seeds):
    bad = opened = 0
    for seed in seeds:
        run = Run(seed)
        run.go()
        run.write(folder)
        graph = output(["lp-graph"], output(["lp-merge", "--follow", folder]))
        live, whole = windows(graph), windows(output(["lp-graph"], output(["lp-merge", folder])))
        opened += sum(line["open_s"] for line in live)
        found = list(differences(live, whole))
        with open(f"{folder}/graph", "wb") as out:
            out.write(graph)
        with open(f"{folder}/graph", "rb") as stream:
            points = [(m.body["at_ns"] / S, m.offset) for m in read(stream) if m.kind == "reached"]
        for at_s, offset in points[::len(points) // 3]:
            told = windows(graph[:offset], False)
            if not at_s - BEHIND_S <= len(told) <= at_s or told != live[:len(told)]:
                found.append(f"after {at_s} s {len(told)} windows were printed")
        for line in found[:5]:
            print(f"seed {seed}: {line}")
        bad += len(found) > 0
    if opened == 0:
        print("nothing was open")
    return bad > 0 or opened == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [int(word) for word in sys.argv[2:]]))
