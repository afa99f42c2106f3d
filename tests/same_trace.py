#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/same_trace.py A B: checks that two traces (or graphs) have the same rows with names and sites, communicators,
neighbours, locations and ranks. Numbers of sites and modules may differ, and the order of blocks and definitions. A
part has the site of its call.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import longpole  # noqa: E402

SIZES = {"members": "size", "remote": "remote_size", "sources": "count"}
COLUMNS = ("call", "site", "enter", "duration", "comm", "peer", "tag", "bytes_sent", "bytes_received", "request",
           "request_at", "folded")


def plain(message, key):
    """A value of a message, columns as tuples."""
    value = message.body[key]
    if isinstance(value, memoryview):
        signed = key in ("members", "remote", "sources")
        return tuple(int(v) for v in message.column(key, signed)) if SIZES.get(key) else bytes(value)
    return tuple(value) if isinstance(value, list) else value


def told(file):
    """What the stream says, in a form that can be compared."""
    sites, modules, names, said, rows = {0: None}, {}, {}, set(), {}
    for message in longpole.open(file):
        kind, body = message.kind, message.body
        if kind == "module":
            modules[body["module"]] = body["path"]
        elif kind == "site" and "stack" in body:
            sites[body["site"]] = tuple(sites[int(s)] for s in message.column("stack"))
        elif kind == "site":
            place = {k: plain(message, k) for k in body if k not in ("site", "xxh3", "module")}
            place["module"] = modules.get(body.get("module"), "")
            sites[body["site"]] = tuple(sorted((k, v) for k, v in place.items() if v not in ("", 0, ())))
        elif kind == "call":
            names[body["number"]] = body["name"]
        elif kind in ("communicator", "neighbours", "rank", "location", "run"):
            said.add((kind, tuple(sorted((k, plain(message, k)) for k in body
                                         if k != "xxh3" and body[k] != ""))))
        elif kind == "calls":
            c = message.columns()
            for call, site, *more in zip(*(c[k].tolist() for k in COLUMNS)):
                where = sites.get(site) if call else where
                rows.setdefault(body["location"], []).append((names.get(call, "part"), where, *more))
    return said, rows


def main():
    (said, rows), (other_said, other_rows) = told(sys.argv[1]), told(sys.argv[2])
    wrong = [f"only in the first: {x}" for x in sorted(said - other_said, key=str)]
    wrong += [f"only in the second: {x}" for x in sorted(other_said - said, key=str)]
    for location in sorted(rows.keys() | other_rows.keys()):
        a, b = rows.get(location, []), other_rows.get(location, [])
        if len(a) != len(b):
            wrong.append(f"location {location}: {len(a)} rows and {len(b)}")
        wrong += [f"location {location} row {i}: {x}\n    and {y}" for i, (x, y) in enumerate(zip(a, b)) if x != y]
    print("\n".join(wrong[:20]) or f"{sum(map(len, rows.values()))} rows are the same")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
