# SPDX-License-Identifier: BSD-3-Clause
"""
The checker: reads every message of a stream and checks all requirements of lp-trace(5), in memory of the size of the
input. With message.py and write.py it is written from the page alone, as an independent check of the C library.
"""
import bisect

import msgpack
import numpy
import zstandard

from .message import Message, check_hash, check_types, integer, together
from .shards import Damaged, Rounds, files, is_folder, merged
from .tables import BITS, CALL_COLUMNS, DEFINITIONS, DEPTH, EDGE_COLUMNS
from .write import Writer, column_bytes, width_of  # noqa: for tests


class _Checker:
    """The content of a stream so far, checked for consistency."""

    def __init__(self, names, of_folder=False):
        self.names = names        # call numbers; shared by concatenated raw traces
        self.messages = self.rows = 0
        self.segment = 0          # of a raw trace; earlier messages may be in another file
        self.next_seq = {}        # location -> seq of its next row
        self.late = {}            # number used before its name: offset; raw traces only
        self.last_leave = {}
        self.path_ns = None       # end of the last segment
        self.blocks = {}          # location -> (seq behind its last row, offset) of each block
        self.syncs = []           # (offset, seqs)
        self.sampled = {}         # (kind, location, worker) -> time of its last sample, end of its last interval
        self.followed = False     # the trace is of a run in progress
        self.regions_named = {}   # number -> name
        self.regions_open = {}    # (location, worker) -> open regions
        self.samples_at = None    # offset of the samples before the next block of calls
        self.samples_of = {}      # location -> offset of the last of these samples
        self.defined = None       # offset of the last definition
        self.last = None          # message
        self.of_folder = of_folder    # a shard of a graph, which refers to rows and points of others
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
        if first != self.next_seq.get(location, first if self.segment else 0):
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
        for number in unnamed if not self.segment else ():
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
        """Samples are in order, after the previous leave and before the calls that follow."""
        location, worker = message.body["location"], message.body.get("worker", 0)
        columns = message.columns()
        time, key = columns["time"], (message.kind, location, worker)
        end = time
        if message.kind == "switched":
            end = self.intervals(message, columns)
        elif message.kind == "regions":
            self.regions(message, (location, worker), columns["region"])
        if self.followed and message.kind == "regions":
            return
        if self.samples_at is None:
            self.samples_at = message.offset
        self.samples_of[location] = message.offset
        if message.raw or not len(time):
            return
        before = numpy.concatenate(([self.sampled.get(key, time[0])], end[:-1]))
        if (time < before).any():
            self.fail(message, "times go back")
        if time[0] < self.last_leave.get(location, time[0]):
            self.fail(message, "before the last leave of the calls before it")
        self.sampled[key] = end[-1]

    def intervals(self, message, columns):
        """The ends of the intervals off a core, which do not overlap."""
        duration, on_core = columns["duration"].astype(numpy.int64), columns["on_core"].astype(numpy.int64)
        end = columns["time"] + duration
        if (duration < 0).any() or (end < columns["time"]).any() or (end[:-1] > columns["time"][1:]).any():
            self.fail(message, "an interval is out of range")
        if (on_core < 0).any() or (on_core > duration).any():
            self.fail(message, "more on a core than there is")
        if (columns["reason"] > 2).any():
            self.fail(message, "a reason that there is not")
        return end

    def region_name(self, message):
        if self.regions_named.setdefault(message.body["number"], message.body["name"]) != message.body["name"]:
            self.fail(message, f"number {message.body['number']} has two names")

    def regions(self, message, thread, region):
        """Regions have names; in a trace each end is that of an open one."""
        if (numpy.diff(message.columns()["time"]) < 0).any():
            self.fail(message, "times go back")
        unnamed = set(region[region > 0].tolist()) - set(self.regions_named)
        if message.raw:
            return
        if unnamed:
            self.fail(message, f"region {min(unnamed)} has no name")
        if (region < 0).any():
            self.fail(message, "an end by number")
        depth = self.regions_open.get(thread, 0) + numpy.cumsum(numpy.where(region > 0, 1, -1))
        if len(depth) and depth.min() < 0:
            self.fail(message, "an end of no region")
        if message.body.get("left", 0) > (region == 0).sum():
            self.fail(message, "more ends were left out than there are")
        self.regions_open[thread] = int(depth[-1]) if len(depth) else self.regions_open.get(thread, 0)

    def ends(self, message, pairs):
        """An edge never comes before the blocks that hold its ends."""
        if self.of_folder:
            return
        for location, seq in pairs:
            if seq >= self.next_seq.get(int(location), 0):
                self.fail(message, f"row {seq} of location {location} has not come yet")

    def edges(self, message):
        columns = message.columns()
        if message.kind in ("messages", "probes", "locks", "holds"):
            self.ends(message, zip(columns["source"], columns["send"]))
            self.ends(message, zip(columns["target"], columns["receive"]))
        elif message.kind == "collectives":
            if columns["size"].sum() != message.body["count"]:
                self.fail(message, "the sizes of the instances are not the members")
            self.ends(message, zip(columns["location"], columns["seq"]))
        elif message.kind == "overdue":
            self.ends(message, zip(columns["location"], columns["seq"]))
        elif message.kind == "segments":
            begin, end = columns["begin"], columns["end"]
            before = numpy.concatenate(([begin[0] if self.path_ns is None else self.path_ns], end)
                                       )[:len(begin)] if len(begin) else begin
            if (begin != before).any() or (end < begin).any():
                self.fail(message, "gap or overlap")
            if len(end):
                self.path_ns = end[-1]
        elif message.kind == "sampled_path":
            placed = (columns["site"] > 0) | (columns["callers"] > 0)
            if ((placed | (columns["worker"] == 0)) & (columns["awaited"] > 0)).any():
                self.fail(message, "time awaited at a place, or in no worker")
        elif message.kind == "unended":
            self.unended(message, columns)
        elif message.kind == "sync":
            self.syncs.append((message.offset, columns["seq"].tolist()))

    def unended(self, message, columns):
        """Calls wait for other locations that are here, and not in a circle."""
        waits = dict(zip(columns["location"].tolist(), columns["waits_for"].tolist()))
        for location, other in waits.items():
            for _ in waits:
                if other == -1 or other == location:
                    break
                if other not in waits:
                    self.fail(message, f"location {other} has no row that lasts")
                other = waits[other]
            if other != -1:
                self.fail(message, f"location {location} waits for itself")
        if ((columns["operation"] == 0) & (columns["waits_for"] != -1)).any():
            self.fail(message, "a wait without its operation")
        if {int(n) for n in columns["operation"] if n != 0} - set(self.names):
            self.fail(message, "an operation without a name")

    def entry(self, number):
        """The index entry of a synchronisation point, from 1; in a folder it begins with the round."""
        at, seqs = self.syncs[number - 1]
        begin = min(self.blocks[location][bisect.bisect_right(self.blocks[location], (seq, at))][1]
                    for location, seq in enumerate(seqs))
        if self.rounds:
            begin = self.rounds[bisect.bisect_right(self.rounds, begin) - 1]
        return sum(seqs), begin, bisect.bisect_left(self.syncs, (begin,)), at

    def index(self, messages):
        """The index of a stream, or those of all shards, which have the same points."""
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
        if message.raw and message.kind == "rank":
            self.segment = message.body.get("segment", 0)
        self.last = message
        check_types(message)
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
        elif message.kind == "spawned":
            message.column("ranks")
            self.ends(message, [(message.body["location"], message.body["seq"])])
        elif message.kind == "site" and "stack" in message.body:
            message.column("stack")
        elif message.kind == "calls":
            self.calls(message)
        elif message.kind in ("sampled", "switched", "regions"):
            self.samples(message)
        elif message.kind == "run":
            self.followed = message.body.get("followed", False)
        elif message.kind == "region_name":
            self.region_name(message)
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
            except Exception as error:    # the library raises many kinds
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


def too_deep(value, left=DEPTH):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left < 0 or any(too_deep(v, left - 1) for v in inner)


def _header(message):
    if message.kind != "longpole":
        raise Damaged(message.offset, "no header")
    if message.body.get("version") != 1 or not integer(message, "version"):
        raise Damaged(message.offset, "not version 1")
    if not isinstance(message.body.get("content"), str):
        raise Damaged(message.offset, "content is missing")
    if not isinstance(message.body.get("history"), list):
        raise Damaged(message.offset, "history is missing")
    message.raw = message.body["content"] == "raw"
    return message.body.get("hashed", False)


def _inflated(values, data):
    """The same, with messages of kind zstd replaced by their content; and the bytes of each."""
    for position, value, end in values:
        if not (isinstance(value, list) and len(value) == 2 and value[0] == "zstd"):
            yield position, value, end, data[position:end]
            continue
        body = value[1]
        message = Message("zstd", body, position, data[position:end], False)
        check_hash(message, True)
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
    """The messages of all shards in the order of the one stream; offsets are places in the folder."""
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
    Every message of a stream (bytes, a binary file, or the path of a folder of shards) including headers and ends,
    with all requirements of the page checked; kind "cut" marks where a rank died. Raises Damaged.
    OF_FOLDER: the stream is a shard, which may refer to other shards.
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
        if too_deep(value):
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
            check_hash(message, hashed)
        elif message.kind == "end":
            check_hash(message, hashed)
            checker.finish(message)
            late = {**checker.late, **late}
            checker = None
        else:
            check_hash(message, hashed)
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
