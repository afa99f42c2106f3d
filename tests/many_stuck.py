#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/many_stuck.py FOLDER RANKS WHAT: raw traces of a run that was killed while it hung, as the recorder leaves them

WHAT: late (all ranks are in MPI_Allreduce but the last one), ring (each receives from the next one), knot (each receives
from any), mismatch (the last rank is in MPI_Bcast, all others in MPI_Barrier). Before that all have called MPI_Allreduce.
"""
import io
import os
import sys

sys.dont_write_bytecode = True
from trace import Writer, column_bytes  # noqa: E402
from longpole.message import OPEN  # noqa: E402

NAMES = [None, "MPI_Init", "MPI_Allreduce", "MPI_Recv", "MPI_Barrier", "MPI_Bcast"]
INIT, ALLREDUCE, RECV, BARRIER, BCAST = range(1, 6)
ROWS, BLOCKS, MODULES, TAIL = 256, 4, 60, 1 << 20
MS = 1_000_000
ANY, NO_PEER, NO_TAG = -1, -3, -2


def column(name, first):
    rows = range(first, first + ROWS)
    if name == "enter":
        return column_bytes([row * MS for row in rows], True, None, None)
    values = {"duration": [MS // 2] * ROWS, "call": [INIT if row == 0 else ALLREDUCE for row in rows],
              "site": [1] * ROWS, "comm": [0 if row == 0 else 1 for row in rows], "peer": [NO_PEER] * ROWS,
              "tag": [NO_TAG] * ROWS}[name]
    return column_bytes(values, name in ("peer", "tag"), None, None)


def block(out, number, open_call):
    """The last one is not full yet: it has no hash."""
    columns = {name: column(name, number * ROWS) for name in ("enter", "duration", "call", "site", "comm", "peer", "tag")}
    out.put("calls", {"location": 0, "first": number * ROWS, "count": ROWS, "capacity": ROWS, **columns,
                      "open": open_call}, True, number == BLOCKS - 1)


def shared():
    """What all ranks have between their rank and their last block."""
    image = io.BytesIO()
    out = Writer(image, "raw", header=False)
    for number, name in enumerate(NAMES):
        if name:
            out.put("call", {"number": number, "name": name})
    for module in range(MODULES):
        out.put("module", {"path": f"/usr/lib/x86_64-linux-gnu/openmpi/lib/mca_{module}.so", "base": module << 20,
                           "bytes": 1 << 20, "build_id": bytes([module]) * 20})
    out.put("site", {"site": 1, "call": ALLREDUCE, "address": 4096})
    for number in range(BLOCKS - 1):
        block(out, number, bytes(OPEN.size))
    return image.getvalue()


SHARED = shared()
NO_SLOT = b"\xff" * OPEN.size


def last_block():
    image = io.BytesIO()
    block(Writer(image, "raw", header=False), BLOCKS - 1, NO_SLOT)
    return image.getvalue()


LAST = last_block()


def slot(rank, ranks, what):
    """The open call."""
    call, peer, collective = {
        "late": (ALLREDUCE if rank < ranks - 1 else 0, NO_PEER, 1), "ring": (RECV, (rank + 1) % ranks, 0),
        "knot": (RECV, ANY, 0), "mismatch": (BARRIER if rank < ranks - 1 else BCAST, NO_PEER, 1)}[what]
    done = ROWS * BLOCKS - 1
    values = [0] * 92
    if call:
        values[:6] = [call, 1, (done + 2) * MS, 4096, collective and done + 1, peer]
        values[6] = 7 if call == RECV else NO_TAG
    at = len(values) - 64 + 2 * 1
    values[at:at + 2] = [1, done + (collective if call else 0)]
    return OPEN.pack(*values)


def write(folder, rank, ranks, what):
    image = io.BytesIO()
    out = Writer(image, "raw")
    out.put("rank", {"rank": rank, "ranks": ranks, "run": 7, "host": "elsewhere", "pid": 1, "program": "app"})
    image.write(SHARED)
    image.write(LAST.replace(NO_SLOT, slot(rank, ranks, what)))
    out.put("died", {"at_ns": 100 * 1000 * MS})
    with open(f"{folder}/rank.{rank}", "wb") as file:
        file.write(image.getvalue())
        file.truncate(len(image.getvalue()) + TAIL)


def main(folder, ranks, what):
    os.makedirs(folder)
    for rank in range(int(ranks)):
        write(folder, rank, int(ranks), what)


if __name__ == "__main__":
    main(*sys.argv[1:])
