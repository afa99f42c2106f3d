#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/amidst.py FOLDER: the raw trace of a rank that is stopped for a second between reading the clock and storing its row

The trace is written in place, as by the recorder, and has the times at which it is written.
"""
import io
import os
import socket
import sys
import time

sys.dont_write_bytecode = True
from trace import Writer, column_bytes  # noqa: E402
from longpole.message import OPEN  # noqa: E402

FIRST, BARRIER = 1, 2
NAMES = {FIRST: "MPI_Init", BARRIER: "MPI_Barrier"}


def image(rows, count, call, enter, ended):
    """The file with COUNT of the rows, while the thread is in CALL since ENTER."""
    out = io.BytesIO()
    writer = Writer(out, "raw", ["test"], True, 1)
    writer.put("rank", {"rank": 0, "ranks": 1, "run": 7, "host": socket.gethostname(), "pid": os.getpid(),
                        "program": "app"})
    for number, name in NAMES.items():
        writer.put("call", {"number": number, "name": name})
    body = {"location": 0, "first": 0, "count": count, "capacity": len(rows)}
    for i, key in enumerate(("enter", "duration", "call", "comm")):
        body[key] = column_bytes([row[i] for row in rows], i == 0, None, None)
    values = [0] * 92
    values[:3] = [call, 1, enter]
    body["open"] = OPEN.pack(*values)
    writer.put("calls", body, True, True)
    if ended:
        writer.rows = count
        writer.end()
    return out.getvalue()


def main(folder):
    began = time.monotonic_ns()
    rows = [(began - 3 * 10**8, 10**8, FIRST, 0), (began - 10**6, 10**6, BARRIER, 1),
            (began + 10**8, 2 * 10**9, BARRIER, 1)]
    os.mkdir(folder)
    with open(f"{folder}/rank.0", "wb", 0) as out:
        def put(*state):
            out.seek(0)
            out.write(image(rows, *state))
        put(1, 0, rows[1][0], False)
        time.sleep(1)
        # The last call lasts until it is written, also on a machine that stops meanwhile.
        enter = time.monotonic_ns()
        rows[2] = (enter, 2 * 10**9, BARRIER, 1)
        put(2, BARRIER, enter, False)
        time.sleep(1.2)
        rows[2] = (enter, time.monotonic_ns() - enter, BARRIER, 1)
        put(3, 0, enter, True)


if __name__ == "__main__":
    main(*sys.argv[1:])
