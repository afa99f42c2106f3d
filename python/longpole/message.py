# SPDX-License-Identifier: BSD-3-Clause
"""
A message and what the page, lp-trace(5), demands of it alone: its columns, the types of its values, its hash.
"""
import struct

import numpy
import xxhash

from .shards import Damaged

ANY, NULL, NONE, ROOT = -1, -2, -3, -4    # values of peer
ANY_TAG, NO_TAG = -1, -2

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


# name in a block of kind calls: (signed, value if the column is absent; None: required)
CALL_COLUMNS = {
    "enter": (True, None), "duration": (False, None), "call": (False, None),
    "site": (False, 0), "comm": (False, 0), "peer": (True, NONE), "tag": (True, NO_TAG),
    "bytes_sent": (False, 0), "bytes_received": (False, 0), "request": (False, 0),
    "request_at": (False, 0), "folded": (False, 0),
}
EDGE_COLUMNS = {
    "messages": {"source": (False, None), "send": (False, None), "target": (False, None),
                 "receive": (False, None)},
    "probes": {"source": (False, None), "send": (False, None), "target": (False, None),
               "receive": (False, None)},
    "locks": {"source": (False, None), "send": (False, None), "target": (False, None),
              "receive": (False, None)},
    "holds": {"source": (False, None), "send": (False, None), "target": (False, None),
              "receive": (False, None)},
    "collectives": {"location": (False, None), "seq": (False, None)},
    "sync": {"seq": (False, None)},
    "settled": {"seq": (False, None), "early": (False, 0)},
    "overdue": {"location": (False, None), "seq": (False, None)},
    "reached": {"since": (True, None), "call": (False, None)},
    "ended": {"ended": (False, None)},
    "unended": {"location": (False, None), "call": (False, None), "since": (True, None), "site": (False, None),
                "operation": (False, 0), "waits_for": (True, -1)},
    "segments": {"location": (False, None), "begin": (True, None), "end": (True, None),
                 "kind": (False, None), "call": (False, None), "site": (False, 0), "polls": (False, 0)},
    "alternatives": {"location": (False, None), "begin": (True, None), "end": (True, None),
                     "kind": (False, None), "call": (False, None), "site": (False, 0), "polls": (False, 0)},
    "sampled": {"time": (True, None), "site": (False, None), "callers": (False, 0), "instructions": (False, 0),
                "cycles": (False, 0), "task_clock": (False, 0), "page_faults": (False, 0), "migrations": (False, 0)},
    "switched": {"time": (True, None), "duration": (False, None), "reason": (False, None), "on_core": (False, 0),
                 "site": (False, 0), "callers": (False, 0)},
    "sampled_path": {"site": (False, None), "callers": (False, None), "all": (False, None),
                     "samples": (False, None), "path": (True, None)},
    "slack": {"location": (False, None), "seq": (False, None), "compute": (True, None),
              "call": (True, None)},
    "index": {"rows": (False, None), "from": (False, None), "before": (False, None),
              "at": (False, None)},
}
DEFINITIONS = ("call", "run", "location", "rank", "communicator", "neighbours", "module", "site",
               "environment", "load", "polls", "poll_gaps", "unended")
BITS = {"call": 16, "site": 32, "comm": 32, "peer": 32, "tag": 32, "request": 32,
        "request_at": 32, "folded": 32}
DEPTH = 30    # of nested values
REQUIRED = {
    "call": {"number": int, "name": str},
    "run": {"ranks": int, "locations": int, "run_ns": int},
    "location": {"location": int, "rank": int, "thread": int},
    "rank": {"rank": int},
    "communicator": {"comm": int, "size": int},
    "neighbours": {"comm": int, "count": int},
    "environment": {"name": str, "value": str},
    "cores": {"at_ns": int, "cpu_ns": int, "thread_cpu_ns": int, "waited_ns": int, "busy_ns": int, "threads": int},
    "load": {"host": str, "ranks": int, "cores": int, "threads": int, "elapsed_ns": int, "cpu_ns": int,
             "thread_cpu_ns": int, "waited_ns": int, "others_ns": int},
    "poll_gaps": {"location": int, "site": int, "count": int, "apart_ns": int, "awake_ns": int},
    "module": {"module": int, "path": str},
    "site": {"site": int},
    "clock": {"at_ns": int, "peer": int, "offset_ns": int, "error_ns": int},
    "clock_shared": {"peer": int},
    "kernel_clock": {"kernel": int, "at_ns": int, "offset_ns": int},
    "spawned": {"location": int, "seq": int, "begin_ns": int, "count": int},
    "calls": {"location": int, "first": int, "count": int},
    "messages": {"count": int},
    "probes": {"count": int},
    "locks": {"count": int},
    "holds": {"count": int},
    "collectives": {"count": int, "instances": int},
    "sync": {"count": int},
    "settled": {"count": int},
    "overdue": {"count": int},
    "unended": {"at_ns": int, "known": bool, "count": int},
    "reached": {"at_ns": int, "count": int},
    "ended": {"run_ns": int, "count": int},
    "index": {"count": int, "syncs": int, "step": int, "defined": int},
    "shard": {"run": int, "number": int, "shards": int, "defined": int, "count": int},
    "round": {"number": int},
    "matching": {"messages": int, "collectives": int, "unmatched_sends": int,
                 "unmatched_receives": int, "unmatched_collectives": int, "syncs": int},
    "segments": {"count": int},
    "alternatives": {"number": int, "count": int},
    "sampled": {"location": int, "count": int, "period_ns": int, "until_ns": int},
    "switched": {"location": int, "count": int, "from_ns": int, "until_ns": int},
    "sampled_path": {"count": int, "period_ns": int, "lost": int, "not_sampled_ns": int},
    "slack": {"count": int},
    "gain": {"site": int, "percent": int, "gain_ns": int, "most_ns": int},
    "balance": {"site": int, "rank": int, "gain_ns": int, "most_ns": int, "compute_ns": int, "others_ns": int},
    "path": {"run_ns": int, "length_ns": int, "segments": int},
}


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
    if message.raw and stated == 0 and message.kind == "calls":
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
    if "capacity" in message.body and message.kind == "calls":
        if not integer(message, "capacity") or message.body["capacity"] < message.body["count"]:
            raise Damaged(message.offset, "calls: capacity is less than count")
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
