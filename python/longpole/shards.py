# SPDX-License-Identifier: BSD-3-Clause
"""
A folder of shards as one stream, see lp-trace(5). Both the reader and the checker use it with their own messages of
a shard. Memory: one block read ahead per shard.
"""
import heapq
import os
import re

DEFINED_ALIKE = ("run", "shards", "defined")


class Damaged(Exception):
    def __init__(self, offset, what):
        super().__init__(f"{offset}: {what}")
        self.offset, self.what = offset, what


def is_folder(file):
    return isinstance(file, (str, os.PathLike)) and os.path.isdir(file)


def files(folder):
    """The shards in order of their numbers."""
    found = [name for name in os.listdir(folder) if re.fullmatch(r"shard\.\d{6,}", name)]
    if not found:
        raise Damaged(0, f"{folder}: a folder without shards")
    return [os.path.join(folder, name) for name in sorted(found, key=lambda n: int(n[6:]))]


class _Part:
    """One shard: `head` is its next message, `samples` are the samples before it that belong to it."""

    def __init__(self, path, messages):
        self.path, self.messages, self.head, self.samples = path, iter(messages), None, []

    def fail(self, message, what):
        raise Damaged(message.offset if message else 0, f"{self.path}: {what}")

    def one(self):
        return next(self.messages, None)

    def advance(self):
        self.samples = []
        self.head = self.one()
        while self.head is not None and self.head.kind in ("sampled", "switched", "regions"):
            self.samples.append(self.head)
            self.head = self.one()
        if self.head is not None and self.head.kind == "calls":
            count = self.head.body["count"]
            self.begin = (int(self.head.column("enter", True)[0]) if count else self.begin,
                          self.head.body["location"])

    begin = (-2**63, 0)

    def given(self):
        return self.samples + ([self.head] if self.head is not None else [])


def _check_heads(parts):
    """Checks that shards are of one run, each as named, and complete; returns the common definitions."""
    heads = [part.one() for part in parts]
    for number, (part, head) in enumerate(zip(parts, heads)):
        if head is None or head.kind != "shard":
            part.fail(head, "not a shard of a run")
        if any(head.body.get(key) != heads[0].body.get(key) for key in DEFINED_ALIKE):
            part.fail(head, f"a shard of another run than {parts[0].path}")
        if head.body.get("number") != number or int(os.path.basename(part.path)[6:]) != number:
            part.fail(head, f"it is shard {head.body.get('number')}, where shard {number} belongs")
    if len(parts) != heads[0].body["shards"]:
        parts[0].fail(heads[0], f"{heads[0].body['shards'] - len(parts)} shards are missing")
    return heads


def _definitions(parts, heads, rounds):
    """All shards have the same definitions, byte by byte."""
    place = sum(head.offset + len(head.bytes) for head in heads)
    for _ in range(heads[0].body["defined"]):
        alike = [part.one() for part in parts]
        for part, message in zip(parts, alike):
            if message is None or bytes(message.bytes) != bytes(alike[0].bytes):
                part.fail(message, f"its definitions are not those of {parts[0].path}")
        yield place, alike[0]
        place += len(parts) * len(alike[0].bytes)
    for part in parts:
        part.advance()
    rounds.place = place


class Rounds:
    """The beginnings of rounds, and the indexes, which are in shards but not in the one stream."""

    def __init__(self):
        self.place, self.begins, self.indexes = 0, [], []

    def give(self, messages):
        for message in messages:
            yield self.place, message
            self.place += len(message.bytes)

    def blocks(self, parts):
        heap = [(part.begin, i) for i, part in enumerate(parts) if part.head is not None
                and part.head.kind == "calls"]
        heapq.heapify(heap)
        while heap:
            part = parts[heap[0][1]]
            yield from self.give(part.given())
            part.advance()
            if part.head is not None and part.head.kind == "calls":
                heapq.heapreplace(heap, (part.begin, heap[0][1]))
            else:
                heapq.heappop(heap)

    def others(self, part):
        """The rest of a shard's round; its mark of the next round, or None."""
        while part.head is not None or part.samples:
            if part.head is not None and part.head.kind in ("calls", "round"):
                return part.head if part.head.kind == "round" else None
            if part.head is not None and part.head.kind == "index":
                self.indexes.append(part.head)
            else:
                yield from self.give(part.given())
            part.advance()
        return None

    def messages(self, parts):
        while any(part.head is not None or part.samples for part in parts):
            yield from self.blocks(parts)
            marks = []
            for part in parts:
                marks.append((yield from self.others(part)))
            if any(marks):
                self._begin(parts, marks)

    def _begin(self, parts, marks):
        for part, mark in zip(parts, marks):
            if mark is None or mark.body.get("number") != len(self.begins) + 1:
                part.fail(mark, f"round {len(self.begins) + 1} does not begin here")
            part.advance()
        self.begins.append(sum(mark.offset for mark in marks))
        self.place = self.begins[-1] + sum(len(mark.bytes) for mark in marks)


def merged(paths, streams, rounds):
    """Yields place and message; STREAMS give the messages between header and end of each file."""
    parts = [_Part(path, stream) for path, stream in zip(paths, streams)]
    yield from _definitions(parts, _check_heads(parts), rounds)
    yield from rounds.messages(parts)
