# SPDX-License-Identifier: BSD-3-Clause
"""
tests/pack - readable text to a stream (base/stream/trace.5)

    tests/pack [FILE] > stream            no FILE: standard input
    tests/pack -H 'trace ranks=2' [FILE]  this line before the text

One line a thing; # begins a comment; times in ns, sizes in bytes. A value is a number, a word, a
"string" (\\" \\\\ \\xHH), true, false, null, 0xHEX (a bin) or [a list, of values].

    trace ranks=2                           begins a stream (trace, raw, graph, path, measurement)
    0 MPI_Init 0 +1000                      location, function, enter, leave (or +duration)
    0 MPI_Send 1500 1600 comm=1 peer=1 tag=5 sent=8
    1 MPI_Init 0 1000
    1 MPI_Irecv 1100 1110 comm=1 peer=any tag=any received=64 as=r
    1 MPI_Waitall 1200 1700 comm=1 peer=0 tag=5 received=8 of=r
    1 + comm=1 peer=0 tag=6 received=8 request=3      # a part of the call before

Rows: keys comm peer tag sent received site request. peer: any, null, root; tag: any. `as=NAME`
names a row, `of=NAME` is the request that refers to it. Function ?77 is number 77 without a name.
Parts need the location again. Functions are numbered and named by themselves.

Header: ranks=N writes run and a rank message each (raw: with rank=R the rank's own message; run=,
host=, program=, pid=, date_s=, segment= change it). Others: version= content= history= hashed=false; rows=N at most in a
block [4096]; width=1|2|4|8 of all columns [what is needed]; capacity=N of all blocks; names=late
puts the names of calls behind everything else, names=none leaves them out.

    path length_ns=5 ...                    the message of that kind: it has this key
    message 0:1 1:2                         edges: location:seq of send and of receive; probe, lock, hold: likewise
    collective 0:0 1:0                      the members of one instance
    sync seq=0,0                            also: settled; early=0,0
    samples name=MPI_Bcast time=100,200     a message whose time is a column; count= its length
    sampled location=0 time=5,9 site=1,1    likewise, with site and callers
    switched location=0 time=5,9 duration=2,2 reason=0,1    likewise
    overdue location=0 seq=2                likewise
    unended at_ns=9 known=true location=0,1 call=MPI_Recv(open),(killed) since=5,6 site=0,0 operation=MPI_Recv,- waits_for=1,-1
    segment 0 0 1000 mpi call=MPI_Init      location begin end compute|mpi|transfer|start [site=]
    communicator comm=3 members=1,0         columns members and remote: with commas; size follows
    neighbours comm=3 member=0 sources=1,1  likewise
    spawned location=0 seq=2 begin_ns=900 ranks=2,3   likewise
    KIND key=value ...                      any other message as it stands
    block [KEY=VALUE ...]                   ends the blocks here and changes them: width=,
                                            capacity=, hash=0 (still being filled), KEY=none (no such key),
                                            count=9, peer=0x0102 (any key)
    bytes HEX                               as they are, no message
    end KEY=VALUE ...                       an end that says something else
    no-end                                  none
    zeros N                                 N zero bytes, and no end: the rank died
    damage flip AT MASK | cut AT | append HEX    at last, on all bytes; AT < 0 counts from the end

Rows become blocks where another kind of line follows, ordered by first enter and location; so do
successive edges of one kind. The next header line, or the end of the text, ends the stream.
"""
import io
import os
import re
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace  # noqa: E402 (the one beside this file)

CONTENTS = ("trace", "raw", "graph", "path", "measurement")
WORD = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+')
ROW_KEYS = {"sent": "bytes_sent", "received": "bytes_received"}
NAMED = {"any": -1, "null": -2, "root": -4}
SEGMENTS = {"compute": 0, "mpi": 1, "transfer": 2, "start": 3}


def value_of(word):
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?\d+\.\d+", word):
        return float(word)
    if word in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[word]
    if word.startswith("0x"):
        return bytes.fromhex(word[2:])
    if word.startswith("["):
        return [value_of(w) for w in re.findall(r'"(?:\\.|[^"\\])*"|[^,"]+', word[1:-1])]
    if word.startswith('"'):
        raw = re.sub(rb"\\x([0-9a-f]{2})|\\(.)", lambda m: bytes.fromhex(m[1].decode()) if m[1]
                     else m[2], word[1:-1].encode("utf-8", "surrogateescape"))
        return raw.decode("utf-8", "surrogateescape")
    return word


def words_of(line):
    if '"' not in line and "#" not in line:
        return line.split()
    words = WORD.findall(line)
    comment = next((i for i, w in enumerate(words) if w.startswith("#")), len(words))
    return words[:comment]


def pairs_of(words):
    return dict(word.split("=", 1) for word in words)


def integers(word):
    return [int(w) for w in word.split(",") if w]


# Of small messages those that are columns, with as many values as the message has rows.
COLUMNS = {"samples": ("time",), "unended": ("location", "call", "since", "site", "operation", "waits_for"),
           "overdue": ("location", "seq"), "sampled": ("time", "site", "callers",
                                                                     "instructions", "cycles", "task_clock", "page_faults", "migrations"),
           "switched": ("time", "duration", "reason", "on_core", "site", "callers"),
           "regions": ("time", "region")}


class Stream:
    """One stream: its lines are kept until the end, for the names of calls come first."""

    def __init__(self, out, words):
        self.out, self.options = out, {k: value_of(v) for k, v in pairs_of(words[1:]).items()}
        self.content = self.options.get("content", words[0])
        self.steps = []                        # [kind, what]
        self.rows = {}                         # location -> rows since the last block
        self.seq, self.labels = {}, {}         # location -> rows so far; (location, label) -> seq
        self.numbers = {}                      # name -> number
        self.now = {}                          # location -> enter and duration of its last call
        self.columns = {}                      # words of a row -> what they say: most rows say what others say
        self.last_ns = 0                       # last leave
        self.ended = False

    def number(self, name):
        number = self.numbers.get(name)
        if number is None and name.startswith("?"):
            return int(name[1:])
        if number is None:           # the ranks of a run number their calls alike
            number = 1 + zlib.crc32(name.encode()) % 65535 if self.content == "raw" else len(self.numbers) + 1
            self.numbers[name] = number
        return number

    def row(self, location, words):
        seq = self.seq.get(location, 0)
        self.seq[location] = seq + 1
        if self.steps and self.steps[-1][0] == "rows":
            blocks = self.steps[-1][1]
        else:
            blocks = {}
            self.steps.append(["rows", blocks])
        rows = blocks.setdefault(location, {"first": seq, "rows": []})["rows"]
        if words[0] == "+":
            call, (enter, duration), rest = 0, self.now[location], tuple(words[1:])
        else:
            call, enter, rest = self.number(words[0]), int(words[1]), tuple(words[3:])
            duration = int(words[2][1:]) if words[2][0] == "+" else int(words[2]) - enter
            self.now[location] = enter, duration
            if enter + duration > self.last_ns:
                self.last_ns = enter + duration
        columns = self.columns.get(rest)
        if columns is None:
            columns, of_this_row = self.columns_of(location, seq, rest)
            if not of_this_row:
                self.columns[rest] = columns
        rows.append((call, enter, duration, columns))

    def columns_of(self, location, seq, words):
        """What the words say beside call and times; and whether they mean something else in another row."""
        columns, of_this_row = {}, False
        for key, word in pairs_of(words).items():
            of_this_row |= key in ("as", "of", "found")
            if key == "as":
                self.labels[location, word] = seq
            elif key == "of":
                columns["request"] = seq - self.labels[location, word]
            elif key == "found":               # a probe that refers to itself
                columns["request"], columns["request_at"] = seq, location + 1
            else:
                key = ROW_KEYS.get(key, key)
                if key not in trace.CALL_COLUMNS:
                    raise ValueError(f"{key}: no column")
                columns[key] = NAMED[word] if word in NAMED else int(word)
        return columns, of_this_row

    def edge(self, kind, item):
        if not self.steps or self.steps[-1][0] != kind:
            self.steps.append([kind, []])
        self.steps[-1][1].append(item)

    def line(self, words):
        head, rest = words[0], words[1:]
        if head.isdecimal():
            self.row(int(head), rest)
        elif head in ("message", "probe", "lock", "hold", "collective"):
            self.edge(head, [integers(w.replace(":", ",")) for w in rest])
        elif head == "segment":
            more = pairs_of(rest[4:])
            self.edge(head, [int(rest[0]), int(rest[1]), int(rest[2]),
                             SEGMENTS[rest[3]] if rest[3] in SEGMENTS else int(rest[3]),
                             self.number(more["call"]) if "call" in more else 0,
                             int(more.get("site", 0))])
        elif head == "unended":
            self.steps.append([head, [self.numbered(word) for word in rest]])
        else:
            self.steps.append([head, rest])

    def numbered(self, word):
        key, names = word.split("=", 1)
        if key not in ("call", "operation"):
            return word
        return f"{key}={','.join('0' if name == '-' else str(self.number(name)) for name in names.split(','))}"

    # -- writing --

    def put(self, kind, words):
        body, pairs = {}, pairs_of(words)
        zero_hash = pairs.pop("hash", None) == "0"
        for key, word in pairs.items():
            size = {("communicator", "members"): "size", ("communicator", "remote"): "remote_size",
                    ("neighbours", "sources"): "count", ("site", "stack"): "count",
                    ("spawned", "ranks"): "count"}.get((kind, key))
            if size is not None:
                body.setdefault(size, len(integers(word)))
                body[key] = trace.column_bytes(integers(word), key not in ("stack", "ranks"))
            elif key in COLUMNS.get(kind, ()) and not word.startswith("0x"):
                body.setdefault("count", len(integers(word)))
                signed = kind != "samples" and key in ("time", "since", "waits_for", "region")
                body[key] = trace.column_bytes(integers(word), signed, capacity=body.get("capacity"))
            else:
                body[key] = value_of(word)
        self.writer.put(kind, body, zero_hash, "capacity" in body)

    def put_rows(self, blocks, words):
        changes = {**self.options, **{k: value_of(v) for k, v in pairs_of(words).items()}}
        pieces = []
        for location, block in blocks.items():
            rows, first, limit = block["rows"], block["first"], self.options.get("rows", 4096)
            while rows:
                cut = min(limit, len(rows))
                while cut < len(rows) and rows[cut][0] == 0:
                    cut += 1    # a call and its parts are never divided
                pieces.append((rows[0][1], location, first, rows[:cut]))
                rows, first = rows[cut:], first + cut
        for _, location, first, rows in sorted(pieces, key=lambda p: p[:3]):
            self.put_block(location, first, rows, changes, words)

    def put_block(self, location, first, rows, changes, words):
        width, capacity = changes.get("width"), changes.get("capacity")
        body = {"location": location, "first": first, "count": len(rows)}
        if capacity is not None:
            body["capacity"] = capacity = max(capacity, len(rows))
        *always, columns = zip(*rows)
        always = dict(zip(("call", "enter", "duration"), always))
        given = set().union(*{id(c): c for c in columns}.values())
        for key, (signed, absent) in trace.CALL_COLUMNS.items():
            values = always.get(key) or (key in given and [c.get(key, absent) for c in columns])
            if values and (absent is None or any(v != absent for v in values)):
                body[key] = trace.column_bytes(values, signed, width, capacity)
        for key, word in pairs_of(words).items():
            if word == "none":
                body.pop(key, None)
            elif key not in ("width", "capacity", "hash"):
                body[key] = value_of(word)
        self.writer.put("calls", body, changes.get("hash") == 0, capacity is not None)
        self.writer.rows += len(rows)

    def put_edges(self, kind, items):
        if kind in ("message", "probe", "lock", "hold"):
            flat = [s + t for s, t in items]
            names = ("source", "send", "target", "receive")
            self.writer.block(kind + "s", dict(zip(names, zip(*flat))), self.options.get("width"))
        elif kind == "segment":
            names = ("location", "begin", "end", "kind", "call", "site")
            self.writer.block("segments", dict(zip(names, zip(*items))), self.options.get("width"))
        else:
            members = [m for item in items for m in item]
            sizes = trace.column_bytes([len(item) for item in items], False)
            self.writer.block("collectives", {"location": [m[0] for m in members],
                                              "seq": [m[1] for m in members]},
                              instances=len(items), size=sizes)

    def put_start(self):
        options = self.options
        self.writer = trace.Writer(self.out, self.content, options.get("history", ["test"]),
                                   options.get("hashed", True), options.get("version", 1))
        if "ranks" not in options:
            return
        ranks, rank = options["ranks"], options.get("rank", 0)
        date = {key: options[key] for key in ("date_s", "segment") if key in options}
        about = {"host": options.get("host", "node"), "program": options.get("program", "app")}
        if self.content == "raw":
            self.writer.put("rank", {"rank": rank, "ranks": ranks, "run": options.get("run", 1),
                                     **about, "pid": options.get("pid", 1000 + rank), **date})
            return
        locations = max([ranks] + [1 + location for location in self.seq])
        self.writer.put("run", {"ranks": ranks, "locations": locations, "run_ns": self.last_ns, **date})
        for rank in range(ranks):
            self.writer.put("rank", {"rank": rank, **about, "rows": self.seq.get(rank, 0),
                                     "ended": True, "offset_ns": 0, "drift_ppb": 0, "error_ns": 0})

    def put_names(self):
        for name, number in self.numbers.items():
            self.writer.put("call", {"number": number, "name": name})

    def finish(self):
        self.put_start()
        names = self.options.get("names", "early")
        if names == "early":
            self.put_names()
        for i, (kind, what) in enumerate(self.steps):
            following = self.steps[i + 1] if i + 1 < len(self.steps) else [None, []]
            if kind == "rows":
                self.put_rows(what, following[1] if following[0] == "block" else [])
            elif kind in ("message", "probe", "lock", "hold", "collective", "segment"):
                self.put_edges(kind, what)
            elif kind in ("sync", "settled"):
                self.writer.block(kind, {k: integers(v) for k, v in pairs_of(what).items()})
            elif kind == "zeros":
                if names == "late":
                    self.put_names()
                self.out.write(bytes(int(what[0])))
                self.ended = True
            elif kind == "bytes":
                self.out.write(bytes.fromhex("".join(what)))
            elif kind == "end":
                self.writer.end(**{k: value_of(v) for k, v in pairs_of(what).items()})
                self.ended = True
            elif kind == "no-end":
                self.ended = True
            elif kind != "block":
                self.put(kind, what)
        if not self.ended:
            if names == "late":
                self.put_names()
            self.writer.end()


def damage(data, words):
    how, at = words[0], words[1]
    if how == "flip":
        data[int(at)] ^= int(words[2], 0)
    elif how == "cut":
        del data[int(at):]
    elif how == "append":
        data += bytes.fromhex(at)
    else:
        raise ValueError(f"damage {how}?")


def pack(lines):
    """The bytes of the streams that the lines describe."""
    out, stream, damages = io.BytesIO(), None, []
    for number, line in enumerate(lines, 1):
        words = words_of(line)
        if not words:
            continue
        try:
            if words[0] in CONTENTS and not any(w.startswith("length_ns=") for w in words):
                if stream:
                    stream.finish()
                stream = Stream(out, words)
            elif words[0] == "damage":
                damages.append(words[1:])
            elif stream:
                stream.line(words)
            elif words[0] == "bytes":
                out.write(bytes.fromhex("".join(words[1:])))
            else:
                raise ValueError("no header line (trace, raw, graph, path) before this")
        except (ValueError, KeyError, IndexError) as error:
            sys.exit(f"pack: line {number}: {line.strip()}: {error!r}")
    if stream:
        stream.finish()
    data = bytearray(out.getvalue())
    for words in damages:
        damage(data, words)
    return bytes(data)


def main():
    files, lines = sys.argv[1:], []
    while files and files[0].startswith("-H"):
        lines.append(files.pop(0)[2:] or files.pop(0))
    for file in files or ["-"]:
        with open(0 if file == "-" else file, encoding="utf-8", errors="surrogateescape") as text:
            lines += text.readlines()
    sys.stdout.buffer.write(pack(lines))


if __name__ == "__main__":
    main()
