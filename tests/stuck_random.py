#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
stuck_random.py [COUNT [SEED]] - random runs of which only the open calls are known, some of them with a hang: lp-stuck proves a
deadlock if and only if this plain count of those who can go on leaves somebody, and names only such ranks; and it finds every
mismatch. lp-merge proves that a call waits if and only if this count does, but for one in each circle, and for a rank that has not
come. Messages, collectives with and without a root, scans, neighbours, and two groups.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import pack  # noqa: E402 (the one beside this file)

WORLD, LINE, GROUPS = 1, 3, 4
ON_WORLD = ["MPI_Barrier", "MPI_Scan", "MPI_Exscan", "MPI_Bcast", "MPI_Reduce"]
CALLS = ["MPI_Recv", "MPI_Ssend", "MPI_Neighbor_allgather", "MPI_Allreduce"] + ON_WORLD
ANY, NO_PEER = -1, -3


# Runs that once were judged wrongly, as make() draws them.
PLANTED = [([("MPI_Exscan", WORLD, NO_PEER), (None, WORLD, NO_PEER), ("MPI_Exscan", WORLD, NO_PEER), ("MPI_Neighbor_allgather", LINE, NO_PEER),
             ("MPI_Ssend", WORLD, 0), ("MPI_Exscan", WORLD, NO_PEER)],
            [[2], [3, 1, 4, 5, 2], [2], [5, 4, 2, 1, 3], [2, 5, 0, 4, 3], [2, 0, 4, 3]], [[3], [3], [], [], [2], [2]])]


def make(draw):
    """Of each rank its call, its communicator and its peer or root; what they receive from in LINE; to whom a send ended."""
    n = draw.choice([2, 4, 6])
    collective, root = draw.choice(ON_WORLD), draw.randrange(n)
    calls = []
    for rank in range(n):
        name = draw.choice([None, "MPI_Recv", "MPI_Recv", "MPI_Ssend", "MPI_Neighbor_allgather", "MPI_Allreduce",
                            collective, collective, collective])
        if name and draw.random() < 0.02:
            name = draw.choice(ON_WORLD)
        comm, peer = WORLD, NO_PEER
        if name in ("MPI_Recv", "MPI_Ssend"):
            comm = draw.choice([WORLD, GROUPS])
            peer = draw.randrange(n if comm == WORLD else n // 2)
            if name == "MPI_Recv" and draw.random() < 0.3:
                peer = ANY
            elif comm == WORLD and peer == rank:
                peer = (rank + 1) % n
        elif name in ("MPI_Bcast", "MPI_Reduce"):
            peer = root
        elif name == "MPI_Neighbor_allgather":
            comm = LINE
        elif name == "MPI_Allreduce":
            comm = GROUPS
        calls.append((name, comm, peer))
    sources = [draw.sample(range(n), draw.randrange(n)) for _ in range(n)]
    return calls, sources, [draw.sample([p for p in range(n) if p != rank], draw.random() < 0.2) for rank in range(n)]


def write(folder, calls, sources, sent):
    n = len(calls)
    for rank, (name, comm, peer) in enumerate(calls):
        collective = int(name not in (None, "MPI_Recv", "MPI_Ssend"))
        last = [(0, 0)] * 32
        if collective:
            last[comm] = (comm, 1)
        slot = struct.pack("<IIqQIiiiiIII", 2 + CALLS.index(name) if name else 0, comm, 2000 + 5 * rank % 7, 4096, collective, peer,
                           7 if peer != NO_PEER else -2, 0, 0, 0, 0, 0)
        slot += bytes(128) + b"".join(struct.pack("<II", *one) for one in last)
        half = n // 2
        text = [f"raw ranks={n} rank={rank} run=77 host=elsewhere pid=1", "0 MPI_Init 0 1000",
                f"communicator comm={LINE} id=99 size={n} rank={rank}",
                f"neighbours comm={LINE} sources={','.join(map(str, sources[rank]))}" if sources[rank] else "",
                f"communicator comm={GROUPS} id=98 size={half} remote_size={half} rank={rank % half} side={rank // half}",
                *[f"0 MPI_Send 1100 1200 comm={WORLD} peer={to} tag=7 sent=4" for to in sent[rank]],
                f"open location=0 open=0x{slot.hex()}", *[f"call number={2 + i} name={call}" for i, call in enumerate(CALLS)], "died at_ns=90000000000", "zeros 64"]
        with open(os.path.join(folder, f"rank.{rank}"), "wb") as out:
            out.write(pack.pack(text))


def count(calls, sources, sent):
    """The ranks that can never go on, and of each rank those that it waits for: what MPI demands, and at most."""
    n = len(calls)
    half = n // 2

    def peers(rank):
        """The ranks that its message may be with."""
        _, comm, peer = calls[rank]
        others = list(range(n)) if comm == WORLD else list(range(half, n) if rank < half else range(half))
        return others if peer == ANY else [others[peer]]

    def met(rank):
        name, comm, _ = calls[rank]
        other = "MPI_Ssend" if name == "MPI_Recv" else "MPI_Recv"
        return any(calls[p][:2] == (other, comm) and rank in peers(p) for p in peers(rank)) or (
            name == "MPI_Recv" and comm == WORLD and any(rank in sent[p] for p in peers(rank)))

    def needs(rank):
        name, _, root = calls[rank]
        if name is None:
            return []
        if name in ("MPI_Scan", "MPI_Exscan"):
            them = range(rank)
        elif name == "MPI_Bcast":
            them = [] if rank == root else [root]
        elif name == "MPI_Reduce":
            them = range(n) if rank == root else []
        elif name == "MPI_Neighbor_allgather":
            them = sources[rank]
        elif name == "MPI_Allreduce":
            them = range(half, n) if rank < half else range(half)
        else:
            them = range(n)
        return [p for p in them if calls[p][0] != name]

    free = set()
    while True:
        more = set()
        for rank, (name, _, _) in enumerate(calls):
            if name in ("MPI_Recv", "MPI_Ssend"):
                goes = met(rank) or any(p in free for p in peers(rank))
            else:
                goes = all(p in free for p in needs(rank))
            if goes and rank not in free:
                more.add(rank)
        if not more:
            break
        free |= more
    least = [[] if name in ("MPI_Recv", "MPI_Ssend") and met(rank) else peers(rank) if name in ("MPI_Recv", "MPI_Ssend")
             else needs(rank) for rank, (name, _, _) in enumerate(calls)]
    most = [least[rank] if name in (None, "MPI_Recv", "MPI_Ssend") else [p for p in range(n) if calls[p][0] != name]
            for rank, (name, _, _) in enumerate(calls)]
    return set(range(n)) - free, least, most


def waits(folder):
    """Of each rank: whether lp-merge says that its call waits, and for whom."""
    trace = subprocess.run(["lp-merge", "--no-names", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    told = next(m for m in pack.trace.read(trace.stdout) if m.kind == "unended").columns()
    return list(zip((told["operation"] != 0).tolist(), told["waits_for"].tolist()))


def wrong_waits(calls, counted, told, exact):
    """What is wrong with these; EXACT: without what an implementation alone waits for."""
    stuck, least, most = counted
    for rank, (waiting, other) in enumerate(told):
        if waiting and other not in (least[rank] if exact or least[rank] else most[rank]):
            return f"{rank} waits for {other}"
        last = rank
        while told[last][0]:
            last = told[last][1]
        if waiting and exact and (last in stuck) != (rank in stuck):
            return f"{rank} waits in the end for {last}"
        if least[rank] and not waiting and rank not in [other for _, other in told]:
            return f"{rank} does not wait"
        if least[rank] and not waiting and exact and rank not in stuck:
            return f"{rank}, which is in no circle, does not wait"
    return None


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    kinds = {}
    for number in range(runs):
        calls, sources, sent = PLANTED[number] if number < len(PLANTED) else make(draw)
        with tempfile.TemporaryDirectory() as folder:
            write(folder, calls, sources, sent)
            said = subprocess.run(["lp-stuck", "--after", "1", "-F", "json", folder], stdout=subprocess.PIPE, check=False)
            told = waits(folder)
        verdict = json.loads(said.stdout)
        counted = count(calls, sources, sent)
        kind, stuck, wrong = verdict["kind"], counted[0], None
        proved = kind == "deadlock" and "nothing has moved" not in verdict["sentence"]
        if len({name for name, _, _ in calls if name in ON_WORLD}) > 1:
            right = kind == "mismatch"
        else:
            right = proved == bool(stuck) and (not proved or set(verdict["ranks"]) <= stuck) and kind != "mismatch"
            wrong = wrong_waits(calls, counted, told, proved)
        if wrong or not right:
            sys.exit(f"run {number}: {calls}, sources {sources}, sent {sent}: {kind} {verdict['ranks']}, stuck are {sorted(stuck)}: "
                     f"{verdict['sentence']}; {told}: {wrong}")
        kinds[kind] = kinds.get(kind, 0) + 1
    print(runs, "runs:", ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)))


if __name__ == "__main__":
    main()
