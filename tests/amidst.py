#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/amidst.py FOLDER [finalize]: the raw trace of a rank that is stopped for a second between reading the clock and storing
its row; or of one that is in MPI_Finalize for a second, after a call with parts

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

PART, FIRST, BARRIER, WAITALL, FINALIZE = range(5)
NAMES = {FIRST: "MPI_Init", BARRIER: "MPI_Barrier", WAITALL: "MPI_Waitall", FINALIZE: "MPI_Finalize"}


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


def in_finalize(folder):
    """The row of MPI_Finalize is there, and the thread is still in it."""
    now = time.monotonic_ns()
    rows = [(now - 10**9, 10**8, FIRST, 0)] + [(now - 85 * 10**7, 10**6, BARRIER, 1)] * 5
    rows += [(now - 55 * 10**7, 10**7, WAITALL, 0)] + [(now - 54 * 10**7, 0, PART, 0)] * 10
    rows += [(now - 3 * 10**8, 2 * 10**9, FINALIZE, 1)]
    os.mkdir(folder)
    with open(f"{folder}/rank.0", "wb", 0) as out:
        out.write(image(rows, len(rows), FINALIZE, rows[-1][0], False))
        time.sleep(1)
        rows[-1] = (rows[-1][0], time.monotonic_ns() - rows[-1][0], FINALIZE, 1)
        out.seek(0)
        out.write(image(rows, len(rows), 0, rows[-1][0], True))


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
    (in_finalize if sys.argv[2:] == ["finalize"] else main)(sys.argv[1])
