#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The checker of python/longpole as a command:

    tests/trace.py check [FILE ...]   exit 0 if every requirement of the page is met, else 1 and a line for each FILE
    tests/trace.py text [FILE ...]    the stream as tests/pack reads it, canonical: one line per row

A FILE may be a folder of shards.

Tests that import it get reader and writer of the module longpole.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "python"))
from longpole.shards import Damaged  # noqa: E402
from longpole.tables import ANY, ANY_TAG, CALL_COLUMNS, EDGE_COLUMNS, NULL, ROOT  # noqa: E402
from longpole.write import Writer, column_bytes  # noqa: E402, F401


def read(file, of_folder=False):
    """All messages of a stream, checked. Only this loads numpy: pack needs none, and tests start it thousands of times."""
    from longpole import check
    return check.read(file, of_folder)


# ---- text, as tests/pack reads it ----------------------------------------------------------------

PEERS = {ANY: "any", NULL: "null", ROOT: "root"}
HIDDEN = ("xxh3", "hashed")


def _plain(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str):
        simple = value and all(c.isalnum() or c in "_-./:+@()" for c in value)
        number = value.lstrip("-").isdigit() or value in ("true", "false", "null") \
            or value.startswith("0x")
        if simple and not number:
            return value
        return '"' + "".join(f"\\{c}" if c in '"\\' else c if c.isprintable() else
                             "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape"))
                             for c in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(_plain(v) for v in value) + "]"
    if value is None:
        return "null"
    return str(value)


def _row_text(names, c, i):
    """One row of a block: the values that are not those of an absent column."""
    if c["call"][i] == 0:
        words = ["+"]
    else:
        number = int(c["call"][i])
        enter, duration = int(c["enter"][i]), int(c["duration"][i])
        words = [names.get(number, f"?{number}"), str(enter), str(enter + duration)]
    for key, short in (("comm", "comm"), ("peer", "peer"), ("tag", "tag"), ("bytes_sent", "sent"),
                       ("bytes_received", "received"), ("site", "site"), ("request", "request"),
                       ("request_at", "request_at"), ("folded", "folded")):
        value, absent = int(c[key][i]), CALL_COLUMNS[key][1]
        if value != absent:
            if key == "peer":
                value = PEERS.get(value, value)
            if key == "tag" and value == ANY_TAG:
                value = "any"
            words.append(f"{short}={value}")
    return words


def text(messages):
    """Lines of canonical text. `messages` is a list: the names of calls may come late."""
    names = {m.body["number"]: m.body["name"] for m in messages if m.kind == "call"}
    for message in messages:
        body = message.body
        if message.kind == "longpole":
            yield f"{body['content']} history={_plain(body.get('history'))}"
        elif message.kind == "calls":
            columns = message.columns()
            for i in range(body["count"]):
                words = _row_text(names, columns, i)
                yield " ".join([str(body["location"])] + words)
        elif message.kind in ("messages", "probes", "locks", "holds", "sync", "settled", "overdue", "collectives",
                              "segments", "alternatives", "slack"):
            yield from _edges_text(names, message)
        elif message.kind == "unended":
            yield _small_text(message, dict.fromkeys(EDGE_COLUMNS["unended"], "count"), names)
        elif message.kind == "communicator":
            yield _small_text(message, {"members": "size", "remote": "remote_size"})
        elif message.kind in ("neighbours", "site", "index", "spawned"):
            yield _small_text(message, {key: "count" for key in (
                "sources", "stack", "rows", "from", "before", "at", "ranks")})
        elif message.kind == "cut":
            yield "zeros 1"
        elif message.kind != "call":
            yield _small_text(message, {})


def _small_text(message, columns, names=None):
    words = [message.kind]
    for key, value in message.body.items():
        if key in columns:
            is_signed = message.kind not in ("index", "spawned") and key != "stack"
            value = [int(v) for v in message.column(key, is_signed, rows=message.body[columns[key]])]
            if names and key in ("call", "operation"):
                value = [names.get(number, "-") for number in value]
            words.append(f"{key}={','.join(map(str, value))}")
        elif key not in HIDDEN:
            words.append(f"{key}={_plain(value)}")
    return " ".join(words)


def _edges_text(names, message):
    c = {key: [int(v) for v in values] for key, values in message.columns().items()}
    if message.kind in ("messages", "probes", "locks", "holds"):
        for s, i, t, j in zip(c["source"], c["send"], c["target"], c["receive"]):
            yield f"{message.kind[:-1]} {s}:{i} {t}:{j}"
    elif message.kind == "collectives":
        members = iter(zip(c["location"], c["seq"]))
        for size in c["size"]:
            yield "collective " + " ".join("{}:{}".format(*next(members)) for _ in range(size))
    elif message.kind == "slack":
        for row in zip(c["location"], c["seq"], c["compute"], c["call"]):
            yield "slack {}:{} compute={} call={}".format(*row)
    elif message.kind in ("segments", "alternatives"):
        head = "segment" if message.kind == "segments" else f"alternative {message.body['number']}"
        for i, kind in enumerate(c["kind"]):
            word = {0: "compute", 1: "mpi", 2: "transfer", 3: "start", 4: "unknown"}.get(kind, kind)
            number = c["call"][i]
            name = f" call={names.get(number, f'?{number}')}" if number else ""
            site = f" site={c['site'][i]}" if c["site"][i] else ""
            yield f"{head} {c['location'][i]} {c['begin'][i]} {c['end'][i]} {word}{name}{site}"
    else:
        yield message.kind + "".join(f" {key}={','.join(map(str, c[key]))}" for key in ("location", "seq", "early")
                                     if key in message.body)


def main(arguments):
    if len(arguments) < 1 or arguments[0] not in ("check", "text"):
        print("usage: trace.py check|text [FILE ...]", file=sys.stderr)
        return 2
    status = 0
    for file in arguments[1:] or ["-"]:
        try:
            if os.path.isdir(file):
                messages = list(read(file))
            else:
                with open(0 if file == "-" else file, "rb") as stream:
                    messages = list(read(stream))
        except Damaged as damage:
            print(f"trace.py: {file}:{damage}", file=sys.stderr)
            status = 1
            continue
        if arguments[0] == "text":
            for line in text(messages):
                print(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
