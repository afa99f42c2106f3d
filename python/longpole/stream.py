# SPDX-License-Identifier: BSD-3-Clause
"""
The reader: messages in order, with columns as numpy arrays that are views of the file.

Memory: a file is mapped; a pipe is buffered message by message.
"""
import builtins
import mmap
import struct
import sys

import numpy
import xxhash

from . import times
from .message import together
from .shards import Damaged, Rounds, files, is_folder, merged
from .tables import CALL_COLUMNS, EDGE_COLUMNS

READ_BYTES = 1 << 20
SIGNED = {"members": True, "remote": True, "sources": True, "gap": True, "recorded_enter": True,
          "running": True, "instructions": True, "cycles": True, "finish": True, "useful": True,
          "recorded_finish": True, "recorded_useful": True, "recorded_end": True}
SIZES = {"size": "instances", "members": "size", "remote": "remote_size"}
UINT = {0xcc: struct.Struct(">B"), 0xcd: struct.Struct(">H"), 0xce: struct.Struct(">I"),
        0xcf: struct.Struct(">Q"), 0xd0: struct.Struct(">b"), 0xd1: struct.Struct(">h"),
        0xd2: struct.Struct(">i"), 0xd3: struct.Struct(">q"), 0xca: struct.Struct(">f"),
        0xcb: struct.Struct(">d")}
LENGTH = {0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}


class _Short(Exception):
    """More bytes are needed."""


def _sized(data, at, marker):
    behind = at + 1 + LENGTH[marker]
    if behind > len(data):
        raise _Short
    return int.from_bytes(data[at + 1:behind], "big"), behind


def _text(data, at, size):
    if at + size > len(data):
        raise _Short
    return str(data[at:at + size], "utf-8", "surrogateescape"), at + size


def _items(data, at, count, depth):
    values = []
    for _ in range(count):
        value, at = _value(data, at, depth - 1)
        values.append(value)
    return values, at


def _pairs(data, at, count, depth):
    pairs = {}
    for _ in range(count):
        key, at = _value(data, at, depth - 1)
        if not isinstance(key, str):
            raise ValueError("a key that is no string")
        pairs[key], at = _value(data, at, depth - 1)
    return pairs, at


def _value(data, at, depth=30):
    """One msgpack value and where the next begins; a bin is a view."""
    if at >= len(data):
        raise _Short
    if depth < 0:
        raise ValueError("nested too deep")
    marker = data[at]
    if marker < 0x80:
        return marker, at + 1
    if marker >= 0xe0:
        return marker - 256, at + 1
    if 0xa0 <= marker < 0xc0:
        return _text(data, at + 1, marker & 31)
    if marker < 0x90:
        return _pairs(data, at + 1, marker & 15, depth)
    if marker < 0xa0:
        return _items(data, at + 1, marker & 15, depth)
    if marker in UINT:
        form = UINT[marker]
        if at + 1 + form.size > len(data):
            raise _Short
        return form.unpack_from(data, at + 1)[0], at + 1 + form.size
    if marker in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[marker], at + 1
    if marker not in LENGTH:
        raise ValueError("not msgpack")
    size, at = _sized(data, at, marker)
    if marker >= 0xde:
        return _pairs(data, at, size, depth)
    if marker >= 0xdc:
        return _items(data, at, size, depth)
    if marker >= 0xd9:
        return _text(data, at, size)
    if at + size > len(data):
        raise _Short
    return data[at:at + size], at + size


class Message:
    """
    kind; body: a dict with columns as memoryviews; offset in the stream, or of the enclosing compressed message;
    bytes: the message as stored.
    """
    __slots__ = ("kind", "body", "offset", "bytes")

    def __init__(self, kind, body, offset, data):
        self.kind, self.body, self.offset, self.bytes = kind, body, offset, data

    def _how(self, key):
        """Whether a column is signed, and its value if it is absent (None: required)."""
        table = CALL_COLUMNS if self.kind == "calls" else EDGE_COLUMNS.get(self.kind, {})
        return table.get(key, (SIGNED.get(key, False), None))

    def column(self, key, signed=None):
        """A column, as a view if it is stored in order of rows; an array of the absent value if it is missing."""
        if self.kind == "calls" and "time_codes" in self.body and key != "site":
            return self._coded(key, signed)
        return self._stored(key, signed)

    def _coded(self, key, signed):
        """Columns of a block whose rows are sorted by site."""
        order = numpy.argsort(self._stored("site"), kind="stable")
        if key not in ("enter", "duration"):
            stored = self._stored(key, signed)
            column = numpy.empty_like(stored)
            column[order] = stored
            return column
        try:
            both = times.decode(self._coded("call", None), order, self.body["begin"], self.body["time_codes"],
                                self.body["time_bits"])
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(self.offset, f"calls: {error}") from None
        return both[key == "duration"]

    def _stored(self, key, signed=None):
        how, absent = self._how(key)
        signed = how if signed is None else signed
        size = SIZES.get(key, "count")
        count = self.body.get(size, self.body.get("count"))
        if self.kind == "calls" and key == "enter" and "gap" in self.body:
            return self._enters()
        if key not in self.body:
            if absent is None:
                raise Damaged(self.offset, f"{self.kind}: {key} is missing")
            return numpy.full(count, absent, numpy.int32 if signed else numpy.uint8)
        value = self.body[key]
        room = self.body.get("capacity", count) if size == "count" else count
        if not isinstance(value, memoryview) or not isinstance(room, int) or count > room:
            raise Damaged(self.offset, f"{self.kind}: {key} is no column")
        if count == 0:
            return numpy.zeros(0, numpy.int64 if signed else numpy.uint64)
        width, rest = divmod(len(value), room)
        if rest or width not in (1, 2, 4, 8):
            raise Damaged(self.offset, f"{self.kind}: {key}: {len(value)} bytes for {room} rows")
        return numpy.frombuffer(value, f"<{'i' if signed else 'u'}{width}", count)

    def _enters(self):
        """From the gaps between each call and the previous leave."""
        gap = self.column("gap").astype(numpy.int64)
        duration = self.column("duration").astype(numpy.int64)
        first = self.column("call") != 0
        number = numpy.cumsum(first) - 1     # of the call that a row belongs to
        enter = numpy.cumsum(gap[first] + numpy.concatenate(([0], duration[first][:-1])))
        return enter[number]

    def columns(self):
        """All columns of a block of calls, edges or path by name."""
        table = CALL_COLUMNS if self.kind == "calls" else EDGE_COLUMNS[self.kind]
        return {key: self.column(key) for key in table}


class Stream:
    """
    The messages of a stream in order, with compressed messages replaced by their content. `header` is the body of
    the first. Raises Damaged if a hash is wrong (unless verify is False), a message is cut, or the end is missing
    or inconsistent. Raw traces may be concatenated: then kinds longpole, end and cut are among the messages.
    """

    def __init__(self, file, verify=True):
        self.verify = verify
        self.file = self.map = None
        if isinstance(file, (bytes, bytearray, memoryview)):
            self.data, self.whole = memoryview(file), True
        else:
            self._open(file)
        self.at = self.base = 0      # position in data; offset of data in the stream
        self.held, self.held_at = None, 0
        self.messages = self.rows = 0
        self.raw, self.inside = False, False
        first = self._header(self._next())
        self.header = first.body
        self.raw = first.body["content"] == "raw"
        self.first = first if self.raw else None
        self.iterator = self._read()

    def _open(self, file):
        if isinstance(file, str):
            self.file = builtins.open(file, "rb") if file != "-" else sys.stdin.buffer
        else:
            self.file = file
        try:
            self.map = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
            self.data, self.whole = memoryview(self.map)[self.file.tell():], True
        except (AttributeError, ValueError, OSError):      # a pipe, or empty
            self.data, self.whole = memoryview(b""), False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.file is not None and self.file is not sys.stdin.buffer:
            self.file.close()       # the mapping lives as long as its arrays

    def __iter__(self):
        return self.iterator

    def _more(self):
        """Reads more bytes of a pipe; arrays handed out stay valid."""
        if self.whole:
            return False
        piece = self.file.read(max(READ_BYTES, len(self.data) - self.at))
        if not piece:
            self.whole = True
            return False
        self.base += self.at
        self.data, self.at = memoryview(bytes(self.data[self.at:]) + piece), 0
        return True

    def _next(self):
        """The next message; None at the end of all bytes."""
        while self.at == len(self.data):
            if not self._more():
                return None
        while True:
            try:
                value, end = _value(self.data, self.at)
                break
            except _Short:
                if not self._more():
                    raise Damaged(self.base + len(self.data), "cut short in the message that begins at "
                                  f"{self.base + self.at}") from None
            except (ValueError, RecursionError) as error:
                raise Damaged(self.base + self.at, str(error)) from None
        message = self._message(value, self.base + self.at, self.data[self.at:end])
        self.at = end
        return message

    def _message(self, value, offset, data):
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
                and isinstance(value[1], dict)):
            raise Damaged(offset, "not [kind, body]")
        message = Message(value[0], value[1], offset, data)
        if self.verify:
            self._check_hash(message)
        return message

    def _check_hash(self, message):
        stated = message.body.get("xxh3")
        if stated is None:
            if self.inside and self.header.get("hashed"):
                raise Damaged(message.offset, f"{message.kind}: no hash")
            return
        if self.raw and stated == 0 and message.kind == "calls":
            return      # the block that its rank was still filling
        if message.bytes[-9] != 0xcf or stated != xxhash.xxh3_64_intdigest(message.bytes[:-9]):
            raise Damaged(message.offset, f"{message.kind}: the hash is wrong")

    def _header(self, message):
        if message is None or message.kind != "longpole":
            raise Damaged(0, "not a longpole stream")
        if message.body.get("version") != 1 or not isinstance(message.body.get("content"), str):
            raise Damaged(message.offset, "not version 1")
        self.inside, self.messages, self.rows = True, 0, 0
        return message

    def _end(self, message):
        stated = message.body.get("messages"), message.body.get("rows")
        if stated != (self.messages, self.rows):
            raise Damaged(message.offset, f"end tells of {stated}, not {(self.messages, self.rows)}")
        self.inside = False

    def _inflated(self, message):
        """The messages in a message of kind zstd."""
        import zstandard
        try:
            held = memoryview(together(message.body, zstandard.ZstdDecompressor().decompress(
                message.body["data"], max_output_size=message.body["bytes"])))
        except (KeyError, TypeError, ValueError, zstandard.ZstdError) as error:
            raise Damaged(message.offset, f"zstd: {error}") from None
        at = 0
        while at < len(held):
            try:
                value, end = _value(held, at)
            except (_Short, ValueError) as error:
                raise Damaged(message.offset, f"zstd: {error}") from None
            yield self._message(value, message.offset, held[at:end])
            at = end

    def _read(self):
        if self.first is not None:
            yield self.first
        while True:
            if self.raw and not self._skip_zeros():
                yield Message("cut", {}, self.base + self.at, b"")
            message = self._next()
            if message is None:
                if self.inside:
                    raise Damaged(self.base + self.at, "ends without an end message")
                return
            if not self.inside:
                if not self.raw:
                    raise Damaged(message.offset, "bytes after the end of the stream")
                yield self._header(message)
            elif message.kind == "end":
                self._end(message)
                if self.raw:
                    yield message
            elif message.kind == "zstd":
                for inner in self._inflated(message):
                    self._count(inner)
                    yield inner
            else:
                self._count(message)
                yield message

    def _count(self, message):
        self.messages += 1
        if message.kind == "calls":
            self.rows += message.body["count"]

    def _skip_zeros(self):
        """False if unwritten space shows that the rank died."""
        died = False
        while True:
            while self.at < len(self.data) and self.data[self.at] == 0:
                self.at += 1
                died = True
            if self.at < len(self.data) or not self._more():
                break
        if died and self.inside:
            self.inside = False
            return False
        return True


class Folder:
    """
    The messages of a folder of shards, as of one stream; `header` is the same for all shards. An offset is a place
    in the folder. Memory: the shards are mapped.
    """

    def __init__(self, folder, verify=True):
        paths = files(folder)
        self.streams = []
        for path in paths:
            self.streams.append(Stream(path, verify))
        self.header = self.streams[0].header
        if any(stream.header.get("content") != self.header["content"] for stream in self.streams):
            raise Damaged(0, f"{folder}: shards of a trace and of a graph")
        self.iterator = self._read(merged(paths, self.streams, Rounds()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stream in self.streams:
            stream.__exit__()

    def __iter__(self):
        return self.iterator

    @staticmethod
    def _read(placed):
        for place, message in placed:
            message.offset = place
            yield message


def open(file, verify=True):
    """A file, "-", a binary file object, bytes, or a folder of shards."""
    return Folder(file, verify) if is_folder(file) else Stream(file, verify)


def columns(file, kind, keys, verify=True):
    """The columns of all blocks of a kind, one array each; "location" of calls is repeated for each row."""
    parts = {key: [] for key in keys}
    with open(file, verify) as stream:
        for message in stream:
            if message.kind != kind:
                continue
            for key in keys:
                if key == "location" and kind == "calls":
                    parts[key].append(numpy.full(message.body["count"], message.body[key], numpy.uint32))
                else:
                    parts[key].append(message.column(key))
    return {key: numpy.concatenate(got) if got else numpy.zeros(0, numpy.int64)
            for key, got in parts.items()}


def pass_on(writer, message):
    """Writes a message as it was read, for stages that pass messages on."""
    if message.kind == "index":     # its offsets apply to the input
        return
    writer.out.write(message.bytes)
    writer.messages += 1
    if message.kind == "calls":
        writer.rows += message.body["count"]
