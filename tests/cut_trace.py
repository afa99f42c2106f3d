#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A trace cut into shards, written from lp-trace(5) alone.

    tests/cut_trace.py TRACE FOLDER N [turns]    N ranges of ranks, or rank by rank in turns
"""
import os
import sys

import msgpack
import xxhash

sys.dont_write_bytecode = True


def messages(path):
    """Kind, body and bytes of each message."""
    data = open(path, "rb").read()
    unpacker = msgpack.Unpacker(max_buffer_size=2**31, strict_map_key=False)
    unpacker.feed(data)
    at = 0
    while at < len(data):
        kind, body = unpacker.unpack()
        yield kind, body, data[at:unpacker.tell()]
        at = unpacker.tell()


def hashed(kind, body):
    out = b"\x92" + msgpack.packb(kind) + bytes([0x80 + len(body) + 1])
    for key, value in body.items():
        out += msgpack.packb(key) + msgpack.packb(value)
    out += msgpack.packb("xxh3")
    return out + b"\xcf" + xxhash.xxh3_64_intdigest(out).to_bytes(8, "big")


def main(trace, folder, count, turns):
    all_messages = list(messages(trace))
    header, rest = all_messages[0], all_messages[1:-1]
    first = next((i for i, m in enumerate(rest) if m[0] in ("calls", "sampled")), len(rest))
    definitions = rest[:first]
    ranks = next(body["ranks"] for kind, body, _ in definitions if kind == "run")
    rank_of = {rank: rank for rank in range(ranks)}
    rank_of.update((body["location"], body["rank"]) for kind, body, _ in definitions if kind == "location")
    of = [rank % count if turns else rank * count // ranks for rank in range(ranks)]
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        own = [m for m in rest[first:] if of[rank_of[m[1]["location"]]] == number]
        with open(f"{folder}/shard.{number:06}", "wb") as out:
            out.write(header[2])
            out.write(hashed("shard", {
                "run": xxhash.xxh3_64_intdigest(b"".join(m[2] for m in definitions)), "number": number,
                "shards": count, "defined": len(definitions), "count": ranks, "of": bytes(of)}))
            for _, _, data in definitions + own:
                out.write(data)
            out.write(hashed("end", {"messages": 1 + len(definitions) + len(own),
                                     "rows": sum(m[1]["count"] for m in own if m[0] == "calls")}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:] == ["turns"])
