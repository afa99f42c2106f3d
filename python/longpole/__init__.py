# SPDX-License-Identifier: BSD-3-Clause
"""
Streams of longpole in Python; the format is in lp-trace(5).

    import longpole
    with longpole.open("app.graph") as stream:      # a file, "-", a binary file object, or a folder of shards
        for message in stream:
            if message.kind == "calls":
                duration = message.column("duration")     # numpy, a view of the file

    longpole.columns("app.graph", "calls", ["location", "enter"])   # all blocks, one array per column
    longpole.frames("app.graph")["calls"]                           # with pandas: data frames
    longpole.waits("app.graph")                                     # who waited where for whom, a frame

Writer writes streams; longpole.check.read checks one strictly.
"""
from .write import Writer
from .shards import Damaged

__all__ = ["Damaged", "Message", "Stream", "Writer", "columns", "frames", "open", "pass_on", "waits"]
__version__ = "0.1.0"


def __getattr__(name):
    """Of the reader, which loads numpy only when first used: writers do not need it."""
    if name not in ("Message", "Stream", "columns", "open", "pass_on"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import stream
    return getattr(stream, name)


def frames(file):
    """Calls, messages, members of collectives and the path of a stream as data frames, by name."""
    from ._frames import frames as make    # pandas is loaded only here
    return make(file)


def waits(file, **limits):
    """
    A data frame of the waits in a graph or path stream, as lp-imbalance finds them: rank, thread, call, state,
    from_ns, to_ns, wait_ns, waits_for (a rank; -1: not known), communicator, site. lp-export makes it; LIMITS are
    its options start and end (seconds) and ranks ("0,4-7").
    """
    from ._frames import waits as make
    return make(file, **limits)
