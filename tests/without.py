#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""tests/without.py WHAT... < trace|graph > the same: a foreign stage that drops messages of a kind, or a column: KIND or KIND.COLUMN"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import longpole  # noqa: E402 (in the project)
from longpole.tables import EDGE_COLUMNS  # noqa: E402

dropped = set(sys.argv[1:])
with longpole.open("-") as stream:
    out = longpole.Writer(sys.stdout.buffer, stream.header["content"])
    for message in stream:
        columns = EDGE_COLUMNS.get(message.kind, ())
        if message.kind in dropped:
            continue
        if any(f"{message.kind}.{name}" in dropped for name in columns):
            out.block(message.kind, {name: message.column(name).tolist() for name in columns
                                     if f"{message.kind}.{name}" not in dropped})
        else:
            longpole.pass_on(out, message)
    out.end()
