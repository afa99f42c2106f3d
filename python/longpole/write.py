# SPDX-License-Identifier: BSD-3-Clause
"""The writer."""
import struct

import msgpack
import xxhash

from .tables import CALL_COLUMNS, EDGE_COLUMNS


CODES = {1: "b", 2: "h", 4: "i", 8: "q"}      # of struct, by width; capital letters: unsigned


def width_of(values, signed):
    """The smallest width that holds all values."""
    low, high = int(min(values, default=0)), int(max(values, default=0))
    for width in CODES:
        bits = 8 * width
        if signed and -(1 << bits - 1) <= low and high < 1 << bits - 1:
            return width
        if not signed and low >= 0 and high < 1 << bits:
            return width
    raise ValueError(f"no column holds {low} to {high}")


def column_bytes(values, signed, width=None, capacity=None):
    """The bin of a column, padded with zeros."""
    width = width or width_of(values, signed)
    code = CODES[width] if signed else CODES[width].upper()
    return struct.pack(f"<{len(values)}{code}", *values).ljust((capacity or 0) * width, b"\0")


def _packed(value):
    return msgpack.packb(value, unicode_errors="surrogateescape")


class Writer:
    """Writes a stream to a binary file; put() for small messages, block() for columns."""

    def __init__(self, out, content, history=("test",), hashed=True, version=1, header=True):
        self.out, self.hashed = out, hashed
        self.messages = self.rows = 0
        if header:
            body = {"version": version, "content": content}
            if hashed:
                body["hashed"] = True
            self.put("longpole", {**body, "history": list(history)})
            self.messages = 0

    def put(self, kind, body, zero_hash=False, fixed_count=False):
        parts = [b"\x92", _packed(kind), msgpack.Packer().pack_map_header(len(body) + self.hashed)]
        for key, value in body.items():
            fixed = key == "count" and fixed_count    # a msgpack uint 32, to be bumped in place
            parts += [_packed(key), b"\xce" + struct.pack(">I", value) if fixed else _packed(value)]
        data = b"".join(parts) + (_packed("xxh3") if self.hashed else b"")
        if self.hashed:
            digest = 0 if zero_hash else xxhash.xxh3_64_intdigest(data, seed=0)
            data += b"\xcf" + struct.pack(">Q", digest)
        self.out.write(data)
        self.messages += 1

    def block(self, kind, columns, width=None, capacity=None, zero_hash=False, **more):
        """Columns by name, lists of integers; `more` are the other keys (location, first)."""
        table = CALL_COLUMNS if kind == "calls" else EDGE_COLUMNS[kind]
        count = len(next(iter(columns.values())))
        body = dict(more, count=count)
        if capacity is not None:
            body["capacity"] = capacity
        for key, values in columns.items():
            body[key] = column_bytes(values, table.get(key, (False, 0))[0], width, capacity)
        self.put(kind, body, zero_hash, fixed_count=capacity is not None)
        self.rows += count if kind == "calls" else 0

    def end(self, **changes):
        body = {"messages": self.messages, "rows": self.rows}
        self.put("end", {**body, **changes})
