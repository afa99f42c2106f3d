# SPDX-License-Identifier: BSD-3-Clause
"""
The checker: every message of a stream, with all demands of lp-trace(5) checked, in memory of the size of
the input; and the writer. Written from the page alone, apart from the C library, to keep that honest.
"""
import bisect
import struct

import msgpack
import numpy
import xxhash
import zstandard

from .shards import Damaged, Rounds, files, is_folder, merged

ANY, NULL, NONE, ROOT = -1, -2, -3, -4    # values of peer
ANY_TAG, NO_TAG = -1, -2

# name in a block of kind calls: (signed, value where the column is absent; None: required)
CALL_COLUMNS = {
    "enter": (True, None), "duration": (False, None), "call": (False, None),
    "site": (False, 0), "comm": (False, 0), "peer": (True, NONE), "tag": (True, NO_TAG),
    "bytes_sent": (False, 0), "bytes_received": (False, 0), "request": (False, 0),
    "request_at": (False, 0), "folded": (False, 0),
}
EDGE_COLUMNS = {
    "messages": {"source": (False, None), "send": (False, None), "target": (False, None),
                 "receive": (False, None)},
    "collectives": {"location": (False, None), "seq": (False, None)},
    "sync": {"seq": (False, None)},
    "settled": {"seq": (False, None)},
    "segments": {"location": (False, None), "begin": (True, None), "end": (True, None),
                 "kind": (False, None), "call": (False, None), "site": (False, 0), "polls": (False, 0)},
    "alternatives": {"location": (False, None), "begin": (True, None), "end": (True, None),
                     "kind": (False, None), "call": (False, None), "site": (False, 0), "polls": (False, 0)},
    "sampled": {"time": (True, None), "site": (False, None), "callers": (False, 0)},
    "sampled_path": {"site": (False, None), "callers": (False, None), "all": (False, None),
                     "samples": (False, None), "path": (True, None), "squares_high": (False, None),
                     "squares_low": (False, None)},
    "slack": {"location": (False, None), "seq": (False, None), "compute": (True, None),
              "call": (True, None)},
    "index": {"rows": (False, None), "from": (False, None), "before": (False, None),
              "at": (False, None)},
}
DEFINITIONS = ("call", "run", "location", "rank", "communicator", "neighbours", "module", "site",
               "environment", "polls")
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
    "module": {"module": int, "path": str},
    "site": {"site": int},
    "clock": {"at_ns": int, "peer": int, "offset_ns": int, "error_ns": int},
    "clock_shared": {"peer": int},
    "calls": {"location": int, "first": int, "count": int},
    "messages": {"count": int},
    "collectives": {"count": int, "instances": int},
    "sync": {"count": int},
    "settled": {"count": int},
    "index": {"count": int, "syncs": int, "step": int, "defined": int},
    "shard": {"run": int, "number": int, "shards": int, "defined": int, "count": int},
    "round": {"number": int},
    "matching": {"messages": int, "collectives": int, "unmatched_sends": int,
                 "unmatched_receives": int, "unmatched_collectives": int, "syncs": int},
    "segments": {"count": int},
    "alternatives": {"number": int, "count": int},
    "sampled": {"location": int, "count": int, "period_ns": int, "until_ns": int},
    "sampled_path": {"count": int, "period_ns": int, "lost": int, "not_sampled_ns": int},
    "slack": {"count": int},
    "path": {"run_ns": int, "length_ns": int, "segments": int},
}


class Message:
    """kind, body (dict), offset and size in the input, raw: whether it is from a raw trace."""

    def __init__(self, kind, body, offset, data, raw):
        self.kind, self.body, self.offset, self.bytes, self.raw = kind, body, offset, data, raw

    def column(self, key, signed=False, absent=None, rows=None):
        """The column as int64 or uint64, widened; all `absent` where it is not there."""
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
        got = {key: self.column(key, *how) for key, how in table.items()
               if key != "enter" or "gap" not in self.body}
        if self.kind == "calls":
            self._enters(got)
        if self.kind == "collectives":
            got["size"] = self.column("size", rows=self.body["instances"])
        return got


    def _enters(self, got):
        """From the gaps, where the block has these instead."""
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


def _check_hash(message, hashed):
    body = message.body
    keys = list(body)
    if not keys or keys[-1] != "xxh3":
        if hashed:
            raise Damaged(message.offset, f"{message.kind}: no hash")
        return
    if not isinstance(body["xxh3"], int) or message.bytes[-9:-8] != b"\xcf":
        raise Damaged(message.offset, f"{message.kind}: the hash is no uint 64")
    stated = struct.unpack(">Q", message.bytes[-8:])[0]
    if stated == 0 and message.raw and message.kind == "calls":
        return    # the block that its rank was still filling
    if stated != xxhash.xxh3_64_intdigest(message.bytes[:-9], seed=0):
        raise Damaged(message.offset, f"{message.kind}: the hash is wrong")


def _integer(message, key):
    value = message.body.get(key)
    return isinstance(value, int) and not isinstance(value, bool)


def _check_types(message):
    for key, wanted in REQUIRED.get(message.kind, {}).items():
        value = message.body.get(key)
        if not (_integer(message, key) if wanted is int else isinstance(value, wanted)):
            what = f"{message.kind}: {key} is missing or no {wanted.__name__}"
            raise Damaged(message.offset, what)
    if "capacity" in message.body and message.kind == "calls":
        if not _integer(message, "capacity") or message.body["capacity"] < message.body["count"]:
            raise Damaged(message.offset, "calls: capacity is less than count")
    if _integer(message, "count") and message.body["count"] < 0:
        raise Damaged(message.offset, f"{message.kind}: count is negative")


class _Checker:
    """What one stream has said so far, and whether it fits together."""

    def __init__(self, names, of_folder=False):
        self.names = names        # call numbers; shared by concatenated raw traces
        self.messages = self.rows = 0
        self.next_seq = {}        # location -> seq of its next row
        self.late = {}            # number used before it was named: offset; raw traces only
        self.last_leave = {}
        self.path_ns = None       # end of the last segment
        self.blocks = {}          # location -> (seq behind its last row, offset) of each block
        self.syncs = []           # (offset, seqs)
        self.sampled = {}         # (location, worker) -> time of its last sample
        self.samples_at = None    # offset of the samples that the next block of calls comes behind
        self.samples_of = {}      # location -> time of the last of these
        self.defined = None       # offset of the last definition
        self.last = None          # message
        self.of_folder = of_folder    # a shard of a graph, which tells of rows and points of others
        self.rounds = []          # of a folder: places where they begin

    def fail(self, message, what):
        raise Damaged(message.offset, f"{message.kind}: {what}")

    def call(self, message):
        number, name = message.body["number"], message.body["name"]
        if not 1 <= number <= 65535:
            self.fail(message, f"number {number}")
        if self.names.setdefault(number, name) != name:
            self.fail(message, f"number {number} has two names")

    def calls(self, message):
        columns = message.columns()
        body, call = message.body, columns["call"]
        location, first, count = body["location"], body["first"], body["count"]
        self.rows += count
        if first != self.next_seq.get(location, 0):
            self.fail(message, f"location {location} goes on at {first}")
        self.next_seq[location] = first + count
        offset = message.offset if self.samples_at is None else self.samples_at
        self.blocks.setdefault(location, []).append((first + count, offset))
        if not message.raw and set(self.samples_of) - {location}:
            self.fail(message, f"samples of location {min(self.samples_of)} stand before another's calls")
        self.samples_at, self.samples_of = None, {}
        unnamed = {int(n) for n in numpy.unique(call) if n != 0} - set(self.names)
        if unnamed and not message.raw:
            self.fail(message, f"call {min(unnamed)} has no name")
        for number in unnamed:
            self.late.setdefault(number, message.offset)
        if count == 0:
            return
        if call[0] == 0:
            self.fail(message, "a part without its call")
        enter = columns["enter"]
        if columns["duration"].max() >= 2**61 or enter.min() < -2**61 or enter.max() >= 2**61:
            self.fail(message, "a time is out of range")
        for key, bits in BITS.items():
            if width_of((columns[key].min(), columns[key].max()), CALL_COLUMNS[key][0]) * 8 > bits:
                self.fail(message, f"{key} is out of range")
        seq = numpy.arange(first, first + count, dtype=numpy.uint64)
        if (columns["request"] > seq)[columns["request_at"] == 0].any():
            self.fail(message, "a request before row 0")
        leave = columns["enter"] + columns["duration"].astype(numpy.int64)
        part = call == 0
        for times in (columns["enter"], leave):
            if (times[1:][part[1:]] != times[:-1][part[1:]]).any():
                self.fail(message, "a part has other times than its call")
        whole = numpy.concatenate(([self.last_leave.get(location, leave[0])], leave))
        if (numpy.diff(whole) < 0).any():
            self.fail(message, "not in order of leave")
        self.last_leave[location] = leave[-1]

    def samples(self, message):
        """In order, each between the last leave before it and the calls that follow."""
        location, worker = message.body["location"], message.body.get("worker", 0)
        time = message.columns()["time"]
        if self.samples_at is None:
            self.samples_at = message.offset
        self.samples_of[location] = message.offset
        if message.raw or not len(time):
            return
        before = self.sampled.get((location, worker), time[0])
        if (numpy.diff(numpy.concatenate(([before], time))) < 0).any():
            self.fail(message, "times go back")
        if time[0] < self.last_leave.get(location, time[0]):
            self.fail(message, "before the last leave of the calls before it")
        self.sampled[location, worker] = time[-1]

    def ends(self, message, pairs):
        """An edge never comes before the blocks that hold its ends."""
        if self.of_folder:
            return
        for location, seq in pairs:
            if seq >= self.next_seq.get(int(location), 0):
                self.fail(message, f"row {seq} of location {location} has not come yet")

    def edges(self, message):
        columns = message.columns()
        if message.kind == "messages":
            self.ends(message, zip(columns["source"], columns["send"]))
            self.ends(message, zip(columns["target"], columns["receive"]))
        elif message.kind == "collectives":
            if columns["size"].sum() != message.body["count"]:
                self.fail(message, "the sizes of the instances are not the members")
            self.ends(message, zip(columns["location"], columns["seq"]))
        elif message.kind == "segments":
            begin, end = columns["begin"], columns["end"]
            before = numpy.concatenate(([begin[0] if self.path_ns is None else self.path_ns], end)
                                       )[:len(begin)] if len(begin) else begin
            if (begin != before).any() or (end < begin).any():
                self.fail(message, "gap or overlap")
            if len(end):
                self.path_ns = end[-1]
        elif message.kind == "sync":
            self.syncs.append((message.offset, columns["seq"].tolist()))

    def entry(self, number):
        """What an index says of that synchronisation point, from 1; in a folder it begins with the round."""
        at, seqs = self.syncs[number - 1]
        begin = min(self.blocks[location][bisect.bisect_right(self.blocks[location], (seq, at))][1]
                    for location, seq in enumerate(seqs))
        if self.rounds:
            begin = self.rounds[bisect.bisect_right(self.rounds, begin) - 1]
        return sum(seqs), begin, bisect.bisect_left(self.syncs, (begin,)), at

    def index(self, messages):
        """That of a stream, or those of all shards, which are of the same points."""
        message, columns = messages[0], [m.columns() for m in messages]
        body = {**message.body, "defined": sum(m.body["defined"] for m in messages)}
        if any(m.body[key] != body[key] for m in messages for key in ("count", "syncs", "step")):
            self.fail(message, "shards tell of other points")
        if (body["syncs"], body["defined"]) != (len(self.syncs), self.defined):
            self.fail(message, f"should tell of {len(self.syncs)} points and byte {self.defined}")
        told = list(zip(*([sum(map(int, values)) for values in zip(*(c[key] for c in columns))]
                          for key in ("rows", "from", "before", "at"))))
        if body["step"] < 1 or len(told) != body["syncs"] // body["step"]:
            self.fail(message, "not every point that is a multiple of step")
        for i, entry in enumerate(told, 1):
            if entry != self.entry(i * body["step"]):
                self.fail(message, f"entry {i} is {entry}, should be {self.entry(i * body['step'])}")

    def take(self, message):
        self.messages += 1
        self.last = message
        _check_types(message)
        if message.kind in DEFINITIONS:
            self.defined = message.offset
        if message.kind == "call":
            self.call(message)
        elif message.kind == "communicator":
            for key, size in (("members", "size"), ("remote", "remote_size")):
                if key in message.body:
                    message.column(key, True, rows=message.body.get(size, -1))
        elif message.kind == "neighbours":
            message.column("sources", True)
        elif message.kind == "site" and "stack" in message.body:
            message.column("stack")
        elif message.kind == "calls":
            self.calls(message)
        elif message.kind == "sampled":
            self.samples(message)
        elif message.kind in EDGE_COLUMNS:
            self.edges(message)

    def finish(self, message):
        stated, found = tuple(map(message.body.get, ("messages", "rows"))), (self.messages, self.rows)
        if stated != found:
            raise Damaged(message.offset, f"end tells of {stated}, not {found}")
        if "index" in message.body:
            if self.last is None or self.last.kind != "index" or \
                    self.last.offset != message.body["index"]:
                raise Damaged(message.offset, "end tells of an index that does not stand there")
            if not self.of_folder:
                self.index([self.last])


def _unpack(data):
    """[offset, value, end] of each msgpack value; the reader may skip zeros by sending a number."""
    position = 0
    while position < len(data):
        unpacker = msgpack.Unpacker(max_buffer_size=2**32 - 1, unicode_errors="surrogateescape")
        unpacker.feed(memoryview(data)[position:])
        base = position
        while position < len(data):
            try:
                value = None if data[position] == 0 else unpacker.unpack()
            except msgpack.OutOfData:
                raise Damaged(len(data), f"cut short in the message that begins at {position}")
            except Exception as error:    # the library has many
                raise Damaged(position, f"not msgpack: {error}")
            if value is None:
                break
            end = base + unpacker.tell()
            yield position, value, end
            position = end
        if position < len(data):    # zero bytes: only a raw trace may have them
            start = position
            rest = data[position:].lstrip(b"\0")
            position = len(data) - len(rest)
            yield start, None, position


def _too_deep(value, left=DEPTH):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left < 0 or any(_too_deep(v, left - 1) for v in inner)


def _header(message):
    if message.kind != "longpole":
        raise Damaged(message.offset, "no header")
    if message.body.get("version") != 1 or not _integer(message, "version"):
        raise Damaged(message.offset, "not version 1")
    if not isinstance(message.body.get("content"), str):
        raise Damaged(message.offset, "content is missing")
    if not isinstance(message.body.get("history"), list):
        raise Damaged(message.offset, "history is missing")
    message.raw = message.body["content"] == "raw"
    return message.body.get("hashed", False)


def together(body, held):
    """What a message of kind zstd held, with the bytes of integers that lie apart put together."""
    if "planes" not in body:
        return held
    if not isinstance(body["planes"], (bytes, memoryview)) or not 1 <= len(body["planes"]) / 12 <= 16 \
            or len(body["planes"]) % 12:
        raise ValueError("planes are none")
    held, behind = bytearray(held), 0
    for begin, count, width in struct.iter_unpack("<III", body["planes"]):
        end = begin + count * width
        if begin < behind or not 2 <= width <= 8 or end > len(held):
            raise ValueError("planes beyond what it holds")
        apart = numpy.frombuffer(held[begin:end], numpy.uint8).reshape(width, count)
        held[begin:end] = apart.T.tobytes()
        behind = end
    return bytes(held)


def _inflated(values, data):
    """The same, but what messages of kind zstd hold in their place; and the bytes of each."""
    for position, value, end in values:
        if not (isinstance(value, list) and len(value) == 2 and value[0] == "zstd"):
            yield position, value, end, data[position:end]
            continue
        body = value[1]
        message = Message("zstd", body, position, data[position:end], False)
        _check_hash(message, True)
        try:
            held = zstandard.ZstdDecompressor().decompress(body["data"])
        except (KeyError, TypeError, zstandard.ZstdError) as error:
            raise Damaged(position, f"zstd: {error}") from error
        if len(held) != body.get("bytes") or not held:
            raise Damaged(position, "zstd: not the size it states")
        try:
            held = together(body, held)
        except ValueError as error:
            raise Damaged(position, f"zstd: {error}") from error
        for start, inner, stop in _unpack(held):
            if inner is None or inner[0] in ("zstd", "longpole", "end"):
                raise Damaged(position, "zstd: holds what it must not")
            yield position, inner, end, held[start:stop]


def _read_folder(folder):
    """The messages of all shards in the order of the one stream, their offsets places in the folder."""
    def inner(path, headers):
        with open(path, "rb") as file:
            for message in read(file, True):
                if message.kind == "longpole":
                    headers.append(message)
                elif message.kind != "end":
                    yield message

    paths, headers, rounds, checker = files(folder), [], Rounds(), _Checker({})
    for place, message in merged(paths, [inner(path, headers) for path in paths], rounds):
        if checker.messages == 0:
            if any(m.bytes != headers[0].bytes for m in headers):
                raise Damaged(0, f"{folder}: headers that are not the same")
            yield headers[0]
        message.offset = place
        checker.take(message)
        yield message
    checker.rounds = rounds.begins
    if rounds.indexes:
        if len(rounds.indexes) != len(paths):
            raise Damaged(0, f"{folder}: {len(rounds.indexes)} indexes of {len(paths)} shards")
        checker.index(rounds.indexes)
    yield Message("end", {"messages": checker.messages, "rows": checker.rows}, rounds.place, b"", False)


def read(stream, of_folder=False):
    """
    Every message of a stream (bytes, a binary file, or the path of a folder of shards), headers and ends
    included, all demands of the page checked; kind "cut" where a rank died. Raises Damaged.
    OF_FOLDER: it is one of the shards, of which others have what it tells of.
    """
    if is_folder(stream):
        yield from _read_folder(stream)
        return
    data = stream if isinstance(stream, bytes) else stream.read()
    checker, raw, hashed, names, streams = None, False, False, {}, 0
    late = {}
    for position, value, end, source in _inflated(_unpack(data), data):
        if value is None:
            if not raw or not streams:
                raise Damaged(position, "zero bytes")
            if checker:
                late = {**checker.late, **late}
                yield Message("cut", {}, position, b"", True)
            checker = None
            continue
        if _too_deep(value):
            raise Damaged(position, "nested too deep")
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
                and isinstance(value[1], dict) and all(isinstance(k, str) for k in value[1])):
            raise Damaged(position, "not [kind, body]")
        message = Message(value[0], value[1], position, source, raw)
        if checker is None:
            if streams and not raw:
                raise Damaged(position, "bytes after the end")
            hashed = _header(message)
            if streams and not message.raw:
                raise Damaged(position, "no raw trace follows a raw trace")
            raw = message.raw
            streams += 1
            checker = _Checker(names, of_folder)
            _check_hash(message, hashed)
        elif message.kind == "end":
            _check_hash(message, hashed)
            checker.finish(message)
            late = {**checker.late, **late}
            checker = None
        else:
            _check_hash(message, hashed)
            if message.kind == "longpole":
                raise Damaged(position, "a second header")
            checker.take(message)
        yield message
    if checker is not None:
        raise Damaged(len(data), "no end")
    if not streams:
        raise Damaged(0, "empty")
    for number, offset in late.items():
        if number not in names:
            raise Damaged(offset, f"calls: call {number} has no name")


def width_of(values, signed):
    """The least width that holds all values."""
    values = [int(v) for v in values]
    low, high = min(values, default=0), max(values, default=0)
    for width in (1, 2, 4, 8):
        bits = 8 * width
        if signed and -(1 << bits - 1) <= low and high < 1 << bits - 1:
            return width
        if not signed and low >= 0 and high < 1 << bits:
            return width
    raise ValueError(f"no column holds {low} to {high}")


def column_bytes(values, signed, width=None, capacity=None):
    """The bin of a column; room behind the values is zero."""
    width = width or width_of(values, signed)
    stored = b"".join(int(v).to_bytes(width, "little", signed=signed) for v in values)
    return stored.ljust((capacity or 0) * width, b"\0")


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
