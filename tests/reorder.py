#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""tests/reorder.py SEED < graph > graph: a foreign stage that writes successive edges in another order, as trace.5 allows"""
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "python"))
import longpole  # noqa: E402 (in the project)
from longpole.write import column_bytes  # noqa: E402

ENDS = ("source", "send", "target", "receive")
KINDS = ("messages", "probes", "locks", "holds", "collectives")
random = random.Random(int(sys.argv[1]))
stream = longpole.open("-")
out = longpole.Writer(sys.stdout.buffer, "graph", stream.header["history"])
edges = {kind: [] for kind in KINDS}


def take(message):
    """Its edges: four numbers each, or the members of an instance."""
    if message.kind != "collectives":
        edges[message.kind] += zip(*(message.column(name).tolist() for name in ENDS))
        return
    members = list(zip(message.column("location").tolist(), message.column("seq").tolist()))
    for size in message.column("size").tolist():
        edges["collectives"].append(random.sample(members[:size], size))
        del members[:size]


def give():
    kinds = [kind for kind in KINDS if edges[kind]]
    random.shuffle(kinds)
    kinds.sort(key=lambda kind: kind == "probes")       # only these come behind others: behind their messages
    for kind in kinds:
        random.shuffle(edges[kind])
        if kind == "collectives":
            location, seq = zip(*(member for instance in edges[kind] for member in instance))
            out.block(kind, {"location": location, "seq": seq}, instances=len(edges[kind]),
                      size=column_bytes([len(instance) for instance in edges[kind]], False))
        else:
            out.block(kind, dict(zip(ENDS, zip(*edges[kind]))))
        edges[kind].clear()


for message in stream:
    if message.kind in KINDS:
        take(message)
    else:
        give()
        longpole.pass_on(out, message)
give()
out.end()
