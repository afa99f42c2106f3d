#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random runs of several MPI_COMM_WORLDs, as raw traces, and a check of lp-merge and lp-graph on them.

    tests/worlds_run.py check FIRST COUNT    runs the tools of PATH on COUNT seeds; exit 1 and a line
                                             if an answer is wrong

Worlds spawn others, of the same sizes or not, and connect to them. They exchange messages and collectives on the
intercommunicator, on the communicator merged from it, and on a part of that. A recorder knows only its own side, so
ids and numbers differ, and a port is known to both, to one or to nobody. Clocks of worlds have offsets and drifts, and
all ranks have read the clock of one kernel. Then everything is matched, the merged times are those of the run, and no
rank starts before MPI_Comm_spawn of its parents. If two worlds have a kernel each, messages in both directions
determine the clock within the stated error.
"""
import io
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

CALLS = ["MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Barrier", "MPI_Comm_spawn",
         "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Intercomm_merge", "MPI_Comm_split"]
ROOT, NULL, NONE = -4, -2, -3


class Rank:
    def __init__(self, world, number, now):
        self.world, self.number, self.now = world, number, now
        self.rows, self.comms, self.last = [], [], 2

    def row(self, call, enter, leave, comm=0, peer=NONE, tag=-2, sent=0, received=0):
        self.rows.append((call, enter, leave, comm, peer, tag, sent, received))
        self.now = leave

    def add(self, **keys):
        self.last += 1
        self.comms.append(dict(keys, comm=self.last))
        return self.last


class World:
    def __init__(self, rng, number, size, now):
        self.rng, self.number, self.spawn_ns = rng, number, None
        self.drift, self.offset = rng.uniform(-1e-6, 1e-6), rng.randint(-10**12, 10**12)
        self.ranks = [Rank(self, r, now + rng.randint(0, 10**6)) for r in range(size)]

    def own(self, time):
        return time + self.offset + round(self.drift * time)


class Runs:
    def __init__(self, seed, apart=False):
        self.rng, self.apart = random.Random(seed), apart    # apart: two worlds that share no kernel
        rng = self.rng
        self.messages = self.collectives = 0
        self.worlds = [World(rng, 0, rng.randint(1, 3), 0)]
        self.together([(r, 0) for r in self.worlds[0].ranks], "MPI_Init")
        for _ in range(rng.randint(1, 4) if not apart else 1):
            first = rng.choice(self.worlds)
            if rng.random() < 0.3:
                second = World(rng, len(self.worlds), rng.randint(1, 3), 0)
                self.together([(r, 0) for r in second.ranks], "MPI_Init")
                self.meet(first, second, "accept", "connect")
            else:
                second = World(rng, len(self.worlds), rng.choice((len(first.ranks), 1, 2)), 0)
                self.meet(first, second, "spawn", "parent")
            self.worlds.append(second)
        for world in self.worlds:
            self.together([(r, 0) for r in world.ranks], "MPI_Finalize")

    def pause(self):
        return self.rng.randint(1000, 10**6)

    def together(self, members, call, peers=None):
        """All wait for the last: (rank, its number of the communicator)."""
        enters = [rank.now + self.pause() for rank, _ in members]
        for i, (rank, comm) in enumerate(members):
            rank.row(call if isinstance(call, str) else call[i], enters[i], max(enters) + self.rng.randint(1, 50),
                     comm, peers[i] if peers else NONE)
        self.collectives += 1

    def meet(self, first, second, how, other):
        rng, sizes = self.rng, (len(first.ranks), len(second.ranks))
        port = rng.randint(1, 2**60)
        ports = [rng.choice((0, port)) for _ in range(2)]
        root = rng.randrange(sizes[0])
        late = (0, rng.randint(-300000, 300000)) if self.apart else (0, 0)    # one side notes it at another time
        if how == "spawn":
            begin = first.ranks[root].now
            for rank in first.ranks:
                rank.now += self.pause()
            second.spawn_ns = first.ranks[root].now
            for rank in second.ranks:
                rank.now = second.spawn_ns + self.pause()
            enters = {rank: rank.now for rank in first.ranks + second.ranks}
            end = max(enters.values())
            self.collectives += 1
            assert begin < second.spawn_ns
        for side, (world, word) in enumerate(((first, how), (second, other))):
            ident = rng.randint(1, 2**62)
            for rank in world.ranks:
                if how == "spawn":
                    leave = end + rng.randint(1, 50)
                    call = "MPI_Comm_spawn" if side == 0 else "MPI_Init"
                else:
                    call, leave = f"MPI_Comm_{word}", None
                number = rank.add(size=sizes[side], remote_size=sizes[1 - side], side=0, id=ident, rank=rank.number,
                                  met=word, port=ports[side] if rank.number == (root if side == 0 else 0) else 0)
                peer = NONE if side else ROOT if rank.number == root else NULL
                if how == "spawn":
                    rank.row(call, enters[rank], leave, number, peer)
                    rank.comms[-1]["at_ns"] = world.own(leave) + late[side]
        if how == "accept":
            both = first.ranks + second.ranks
            self.together([(r, r.last) for r in both], ["MPI_Comm_accept"] * sizes[0] + ["MPI_Comm_connect"] * sizes[1])
            for rank in both:
                rank.comms[-1]["at_ns"] = rank.world.own(rank.now) + late[rank.world is second]
        self.talk(first.ranks, second.ranks)

    def talk(self, left, right):
        """What both sides do with the communicator made last."""
        rng, both = self.rng, left + right
        inter = {rank: rank.last for rank in both}
        self.together([(r, inter[r]) for r in both], "MPI_Intercomm_merge")
        merged = {rank: rank.add(size=len(both), id=77, rank=i, **{"from": inter[rank]}) for i, rank in enumerate(both)}
        part = rng.sample(both, rng.randint(1, len(both)))
        self.together([(r, merged[r]) for r in both], "MPI_Comm_split")
        split = {rank: rank.add(size=len(part), id=78, rank=i, **{"from": inter[rank]}) for i, rank in enumerate(part)}
        for _ in range(rng.randint(1, 6)):
            kind = rng.randrange(4)
            if kind == 0:
                self.together([(r, merged[r]) for r in both], "MPI_Allreduce")
            elif kind == 1:
                self.together([(r, split[r]) for r in part], "MPI_Barrier")
            elif kind == 2:
                i, j = rng.sample(range(len(both)), 2) if len(both) > 1 else (0, 0)
                self.message(both[i], both[j], merged, j, i)
            else:
                i, j = rng.randrange(len(left)), rng.randrange(len(right))
                self.message(left[i], right[j], inter, j, i) if rng.random() < 0.5 else \
                    self.message(right[j], left[i], inter, i, j)

    def message(self, sender, receiver, comm, to, source):
        tag, sent = self.rng.randint(0, 3), sender.now + self.pause()
        posted = receiver.now + self.pause()
        sender.row("MPI_Send", sent, sent + 100, comm[sender], to, tag, sent=8)
        receiver.row("MPI_Recv", posted, max(posted, sent) + 200, comm[receiver], source, tag, received=8)
        self.messages += 1

    def write(self, folder):
        """Where each rank is in the trace: worlds in the order in which lp-merge reads them."""
        for world in self.worlds:
            path = folder if world.number == 0 else os.path.join(folder, f"world.{world.number}")
            os.makedirs(path, exist_ok=True)
            for rank in world.ranks:
                with open(os.path.join(path, f"rank.{rank.number}"), "wb") as out:
                    self.write_rank(world, rank, trace.Writer(out, "raw"))

    def raw(self):
        """All raw traces, one after the other."""
        out = io.BytesIO()
        for world in self.worlds:
            for rank in world.ranks:
                self.write_rank(world, rank, trace.Writer(out, "raw"))
        return out.getvalue()

    def write_rank(self, world, rank, writer):
        body = {"rank": rank.number, "ranks": len(world.ranks), "run": 1000 + world.number}
        if world.spawn_ns is not None:
            body["spawned"] = True
        writer.put("rank", body)
        for number, name in enumerate(CALLS, 1):
            writer.put("call", {"number": number, "name": name})
        for comm in rank.comms:
            writer.put("communicator", comm)
        for at in () if self.apart else sorted({comm["at_ns"] for comm in rank.comms if "at_ns" in comm} | {world.own(rank.now)}):
            true = round((at - world.offset) / (1 + world.drift))
            writer.put("kernel_clock", {"kernel": 5, "at_ns": at, "offset_ns": true - at})
        columns = list(zip(*rank.rows))
        enter, leave = [world.own(t) for t in columns[1]], [world.own(t) for t in columns[2]]
        writer.block("calls", {
            "enter": enter, "duration": [b - a for a, b in zip(enter, leave)],
            "call": [CALLS.index(name) + 1 for name in columns[0]], "comm": list(columns[3]),
            "peer": list(columns[4]), "tag": list(columns[5]), "bytes_sent": list(columns[6]),
            "bytes_received": list(columns[7])}, location=0, first=0)
        writer.end()


def told(command, **how):
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, **how)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]}: exit {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def check(seed, folder):
    runs = Runs(seed)
    runs.write(folder)
    others = [os.path.join(folder, f"world.{w.number}") for w in runs.worlds if w.number > 0 and w.spawn_ns is None]
    graph = told(["lp-graph"], input=told(["lp-merge", "--no-names", folder] + others))
    trace_of = [world for world in runs.worlds if world.number == 0 or world.spawn_ns is not None] + \
        [world for world in runs.worlds if world.number > 0 and world.spawn_ns is None]
    ranks = [rank for world in trace_of for rank in world.ranks]
    origin = min(rank.rows[0][1] for rank in ranks)
    first = {world: ranks.index(world.ranks[0]) for world in trace_of}
    for message in map(json.loads, told(["lp-dump", "-k", "matching,call,spawned"], input=graph).splitlines()):
        if message["kind"] == "matching":
            wrong = {key: value for key, value in message.items() if key.startswith(("un", "mis")) and value}
            assert not wrong, f"not matched: {wrong}"
            assert message["messages"] == runs.messages, f"{message['messages']} messages of {runs.messages}"
            assert message["collectives"] == runs.collectives, \
                f"{message['collectives']} collectives of {runs.collectives}"
        elif message["kind"] == "spawned":
            world = next(w for w in runs.worlds if first[w] == min(message["ranks"]))
            assert sorted(message["ranks"]) == [ranks.index(rank) for rank in world.ranks]
            assert abs(message["begin_ns"] - (world.spawn_ns - origin)) <= 1500, "a spawn at another time"
            world.told = True
        else:
            row = ranks[message["rank"]].rows[message["seq"]]
            assert abs(message["enter_ns"] - (row[1] - origin)) <= 1500, f"rank {message['rank']}: {message}, {row[1] - origin}"
    for world in runs.worlds:
        assert world.spawn_ns is None or hasattr(world, "told"), f"world {world.number} was not spawned"
    path = json.loads(told(["lp-critpath", "-F", "json"], input=graph))
    for segment in path["segments"]:
        world = ranks[segment["rank"]].world
        if segment["kind"] == "start" and world.spawn_ns is not None:
            assert segment["begin_ns"] >= world.spawn_ns - origin - 1500, "a start before the spawn"
    told(["lp-gain", "-F", "json", "--needed"], input=graph)
    told(["lp-replay", "-F", "json"], input=graph)


def check_apart(seed, folder):
    runs = Runs(seed, True)
    runs.write(folder)
    other = [os.path.join(folder, "world.1")] if runs.worlds[1].spawn_ns is None else []
    stream = told(["lp-merge", "--no-names", folder] + other)
    ranks = [rank for world in runs.worlds for rank in world.ranks]
    error, worst = {}, {}
    for message in map(json.loads, told(["lp-dump", "-k", "rank,call"], input=stream).splitlines()):
        if message["kind"] == "rank":
            error[message["rank"]] = message["error_ns"]
            continue
        row = ranks[message["rank"]].rows[message["seq"]]
        worst.setdefault(message["rank"], []).append(message["enter_ns"] - row[1])
    base = worst[0][0]      # of the first enter of the trace, whichever rank that is
    for number, off in worst.items():
        off = max(abs(o - base) for o in off)
        if error[number] > 0:
            assert off <= error[number] + 300, f"rank {number} is off by {off} ns, told {error[number]}"
    return max(error.values()) > 0


def main(what, first, count):
    assert what == "check", __doc__
    bounded = 0
    for seed in range(int(first), int(first) + int(count)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(seed, folder)
            except AssertionError as wrong:
                sys.exit(f"worlds_run.py: seed {seed}: {wrong}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                bounded += check_apart(seed, folder)
            except AssertionError as wrong:
                sys.exit(f"worlds_run.py: seed {seed}: {wrong}")
    if not bounded:
        sys.exit("worlds_run.py: no clock was told by messages")


if __name__ == "__main__":
    main(*sys.argv[1:])
