# SPDX-License-Identifier: BSD-3-Clause
"""
A message and what the page, lp-trace(5), demands of it alone: its columns, the types of its values, its hash.
"""
import struct

import numpy
import xxhash

from .shards import Damaged
from .tables import CALL_COLUMNS, EDGE_COLUMNS, REQUIRED

OPEN = struct.Struct("<2IqQI4i3I16Q64I")    # lp-trace(5), The open call
OPEN_VALUES = ("call", "comm", "enter", "address", "collective", "peer", "tag", "source", "receive_tag", "requests",
               "kept", "thread")


def open_call(body):
    """The open call of the thread of a raw trace's block, as a dict; None: none, or unknown."""
    data = body.get("open")
    if data is None or len(data) != OPEN.size:
        return None
    values = OPEN.unpack(data)
    if values[0] == 0:
        return None
    found = dict(zip(OPEN_VALUES, values))
    found["rows"] = [(row >> 40, row & (1 << 40) - 1) for row in values[12:12 + min(found["kept"], 16)]]
    found["last"] = dict(zip(values[28::2], values[29::2]))
    return found


class _Codes:
    """Reads coded times in sequence."""

    def __init__(self, message):
        body = message.body
        if not isinstance(body["time_codes"], bytes) or not isinstance(body.get("time_bits"), bytes):
            raise Damaged(message.offset, "calls: coded times are no bins")
        self.message, self.codes, self.bits = message, iter(body["time_codes"]), iter(body["time_bits"])
        self.held = self.ready = 0

    def fail(self):
        raise Damaged(self.message.offset, "calls: coded times that do not match its rows")

    def next(self):
        code = next(self.codes, 255)
        if code < 16:
            return code
        if code >= 216:
            self.fail()
        bits = 1 + (code - 16) // 8 if code < 176 else code - 152
        while self.ready < bits:
            byte = next(self.bits, None)
            if byte is None:
                self.fail()
            self.held |= byte << self.ready
            self.ready += 8
        low = self.held & (1 << bits) - 1
        self.held >>= bits
        self.ready -= bits
        return ((8 + (code - 16) % 8 if code < 176 else 1) << bits) + low

    def end(self):
        if next(self.codes, None) is not None or next(self.bits, None) is not None or self.held:
            self.fail()


class Message:
    """kind, body (dict), offset and size in the input, raw: whether it is from a raw trace."""

    def __init__(self, kind, body, offset, data, raw):
        self.kind, self.body, self.offset, self.bytes, self.raw = kind, body, offset, data, raw

    def column(self, key, signed=False, absent=None, rows=None):
        """The column as int64 or uint64, widened; filled with `absent` if it is missing."""
        count = self.body["count"] if rows is None else rows
        room = self.body.get("capacity", count) if rows is None else rows
        kind = numpy.int64 if signed else numpy.uint64
        if key not in self.body:
            if absent is None:
                raise Damaged(self.offset, f"{self.kind}: {key} is missing")
            return numpy.full(count, absent, kind)
        value = self.body[key]
        if not isinstance(value, bytes):
            raise Damaged(self.offset, f"{self.kind}: {key} is no bin")
        if count == 0:
            return numpy.zeros(0, kind)
        width, rest = divmod(len(value), room)
        if rest or width not in (1, 2, 4, 8):
            raise Damaged(self.offset, f"{self.kind}: {key}: {len(value)} bytes for {room} rows")
        stored = numpy.frombuffer(value, f"<{'i' if signed else 'u'}{width}")
        return stored[:count].astype(kind)

    def columns(self):
        """All columns of a block by name."""
        table = CALL_COLUMNS if self.kind == "calls" else EDGE_COLUMNS[self.kind]
        if self.kind == "calls" and "time_codes" in self.body:
            return self._coded(table)
        got = {key: self.column(key, *how) for key, how in table.items()
               if key != "enter" or "gap" not in self.body}
        if self.kind == "calls":
            self._enters(got)
        if self.kind == "collectives":
            got["size"] = self.column("size", rows=self.body["instances"])
        return got

    def _coded(self, table):
        """Columns of a block whose rows are sorted by site, and whose times are codes and bits."""
        if not self.raw:
            raise Damaged(self.offset, "calls: coded times outside of a raw trace")
        got = {key: self.column(key, *how) for key, how in table.items() if key not in ("enter", "duration")}
        order = sorted(range(self.body["count"]), key=got["site"].__getitem__)
        for key, stored in list(got.items()):
            if key != "site":
                got[key] = numpy.empty_like(stored)
                for place, row in enumerate(order):
                    got[key][row] = stored[place]
        rows = [row for row in order if got["call"][row] != 0]
        codes = _Codes(self)
        gap, duration = ({row: codes.next() for row in rows} for _ in range(2))
        codes.end()
        begin, leave, times = self.body.get("begin"), 0, []
        if not rows or got["call"][0] == 0 or not isinstance(begin, int):
            raise Damaged(self.offset, "calls: coded times without a first call and its enter")
        for row in range(self.body["count"]):
            if got["call"][row] != 0:
                enter = begin if row == 0 else leave + gap[row]
                leave = enter + duration[row]
            times.append((enter, leave - enter))
        if any(abs(time) >= 2**63 for both in times for time in both):
            raise Damaged(self.offset, "calls: a time is out of range")
        got["enter"] = numpy.array([enter for enter, _ in times], numpy.int64)
        got["duration"] = numpy.array([last for _, last in times], numpy.uint64)
        return {key: got[key] for key in table}

    def _enters(self, got):
        """From the gaps, if the block has these instead."""
        if "gap" not in self.body:
            return
        gap, leave, enter = self.column("gap", True), 0, []
        for i in range(self.body["count"]):
            if got["call"][i] != 0 or i == 0:
                enter.append(leave + int(gap[i]))
            else:
                enter.append(enter[-1])
            leave = enter[-1] + int(got["duration"][i])
        if any(abs(time) >= 2**63 for time in enter):
            raise Damaged(self.offset, "calls: a time is out of range")
        got["enter"] = numpy.array(enter, numpy.int64)


def check_hash(message, hashed):
    body = message.body
    keys = list(body)
    if not keys or keys[-1] != "xxh3":
        if hashed:
            raise Damaged(message.offset, f"{message.kind}: no hash")
        return
    if not isinstance(body["xxh3"], int) or message.bytes[-9:-8] != b"\xcf":
        raise Damaged(message.offset, f"{message.kind}: the hash is no uint 64")
    stated = struct.unpack(">Q", message.bytes[-8:])[0]
    if message.raw and stated == 0 and message.kind in ("calls", "regions"):
        return    # the block that its rank was still filling
    if stated != xxhash.xxh3_64_intdigest(message.bytes[:-9], seed=0):
        raise Damaged(message.offset, f"{message.kind}: the hash is wrong")


def integer(message, key):
    value = message.body.get(key)
    return isinstance(value, int) and not isinstance(value, bool)


def check_types(message):
    for key, wanted in REQUIRED.get(message.kind, {}).items():
        value = message.body.get(key)
        if not (integer(message, key) if wanted is int else isinstance(value, wanted)):
            what = f"{message.kind}: {key} is missing or no {wanted.__name__}"
            raise Damaged(message.offset, what)
    if "capacity" in message.body and message.kind in ("calls", "regions"):
        if not integer(message, "capacity") or message.body["capacity"] < message.body["count"]:
            raise Damaged(message.offset, f"{message.kind}: capacity is less than count")
    if message.kind in ("calls", "open") and len(message.body.get("open", bytes(OPEN.size))) != OPEN.size:
        raise Damaged(message.offset, f"{message.kind}: open is not of {OPEN.size} bytes")
    if integer(message, "count") and message.body["count"] < 0:
        raise Damaged(message.offset, f"{message.kind}: count is negative")


def together(body, held):
    """The content of a message of kind zstd, with separated bytes of integers joined."""
    if "planes" not in body:
        return held
    if not isinstance(body["planes"], (bytes, memoryview)) or not 1 <= len(body["planes"]) / 12 <= 16 \
            or len(body["planes"]) % 12:
        raise ValueError("planes are none")
    held, behind = bytearray(held), 0
    for begin, count, width in struct.iter_unpack("<III", body["planes"]):
        end = begin + count * width
        if begin < behind or not 2 <= width <= 8 or end > len(held):
            raise ValueError("planes beyond its end")
        apart = numpy.frombuffer(held[begin:end], numpy.uint8).reshape(width, count)
        held[begin:end] = apart.T.tobytes()
        behind = end
    return bytes(held)
