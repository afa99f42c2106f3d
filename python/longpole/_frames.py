# SPDX-License-Identifier: BSD-3-Clause
"""Data frames of a stream, for pandas. Memory: all requested rows."""
import io
import subprocess

import numpy
import pandas

from .tables import CALL_COLUMNS, EDGE_COLUMNS
from .stream import open

SEGMENT_KINDS = numpy.array(["compute", "MPI", "transfer", "start", "unknown"])
KINDS = ("calls", "messages", "collectives", "segments", "alternatives", "slack")


def _text(site):
    if "function" in site:
        line = f" ({site['file'].rsplit('/', 1)[-1]}:{site.get('line', 0)})" if "file" in site else ""
        return site["function"] + line
    return hex(site["offset"]) if "offset" in site else ""


def _named(numbers, names, missing=""):
    """Names for numbers, as a category, so that each name is stored once."""
    found, inverse = numpy.unique(numbers, return_inverse=True)
    text = [names.get(int(n), missing or str(int(n))) for n in found]
    known = list(dict.fromkeys(text))
    codes = numpy.array([known.index(t) for t in text], numpy.int32)
    return pandas.Categorical.from_codes(codes[inverse] if len(found) else [], known)


def _calls(got):
    """Gives each part the number of its call."""
    call = got["call"]
    got["part"] = call == 0
    at = numpy.where(call != 0, numpy.arange(len(call)), 0)
    got["call"] = call[numpy.maximum.accumulate(at)] if len(call) else call
    return got


def _block(message):
    got = dict(message.columns())
    count = message.body["count"]
    if message.kind == "calls":
        got["location"] = numpy.full(count, message.body["location"], numpy.uint32)
        got["seq"] = numpy.arange(message.body["first"], message.body["first"] + count, dtype=numpy.uint64)
        got = _calls(got)
    elif message.kind == "collectives":
        got["instance"] = numpy.repeat(numpy.arange(message.body["instances"]), message.column("size"))
    elif message.kind == "alternatives":
        got["number"] = numpy.full(count, message.body["number"], numpy.uint32)
    return got


def _order(kind):
    columns = list(CALL_COLUMNS if kind == "calls" else EDGE_COLUMNS[kind])
    return {"calls": ["location", "seq", "part"] + columns, "collectives": ["instance"] + columns,
            "alternatives": ["number"] + columns}.get(kind, columns)


def frames(file):
    """A frame for each kind of block, with its columns; "call" and "site" are names."""
    parts, names, sites, instances = {kind: [] for kind in KINDS}, {0: ""}, {0: {}}, 0
    with open(file) as stream:
        for message in stream:
            if message.kind == "call":
                names[message.body["number"]] = message.body["name"]
            elif message.kind == "site":
                sites[message.body["site"]] = message.body
            elif message.kind in parts:
                got = _block(message)
                if message.kind == "collectives":
                    got["instance"] = got["instance"] + instances
                    instances += message.body["instances"]
                parts[message.kind].append(got)
    where = {number: _text(site) for number, site in sites.items()}
    found = {}
    for kind, blocks in parts.items():
        if not blocks:
            continue
        frame = {key: numpy.concatenate([b[key] for b in blocks]) for key in _order(kind)}
        if "call" in frame and kind != "slack":
            frame["call"] = _named(frame["call"], names)
        if "site" in frame:
            frame["site"] = _named(frame["site"], where)
        if kind in ("segments", "alternatives"):
            frame["kind"] = _named(frame["kind"], dict(enumerate(SEGMENT_KINDS)))
        found["path" if kind == "segments" else kind] = pandas.DataFrame(frame)
    return found


def waits(file, start=None, end=None, ranks=None):
    """The waits of a stream, from lp-export."""
    command = ["lp-export", "-f", "waits"]
    for option, value in (("--from", start), ("--to", end), ("--ranks", ranks)):
        command += [] if value is None else [option, str(value)]
    done = subprocess.run([*command, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    frame = pandas.read_csv(io.BytesIO(done.stdout), keep_default_na=False)
    frame.insert(6, "wait_ns", frame.to_ns - frame.from_ns)
    for name in ("call", "state", "site"):
        frame[name] = frame[name].astype("category")
    return frame
