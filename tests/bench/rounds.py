# SPDX-License-Identifier: BSD-3-Clause
"""
Shared by the bench scripts: runs commands in turn, round after round, among them the baselines. Absolute figures
depend on the machine and the moment; ratios to a command of the same rounds are more reliable, and their spread over
the rounds shows how much.
"""
import os
import subprocess
import sys
import time


def run(command, source=None, sink=os.devnull, stderr=subprocess.DEVNULL):
    """Processor seconds, peak MB and clock seconds of one command that writes into a pipe."""
    begin = time.monotonic()
    with open(source or os.devnull, "rb") as stdin, open(sink, "wb") as stdout:
        drain = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=stdout)
        child = subprocess.Popen(command, stdin=stdin, stdout=drain.stdin, stderr=stderr)
        drain.stdin.close()
        _, status, usage = os.wait4(child.pid, 0)
        drain.wait()
    if status != 0:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - begin


def in_turn(things, rounds):
    """Of each named function what it returned, by round; all of them once before any is called again."""
    results = {name: [] for name in things}
    for _ in range(rounds):
        for name, thing in things.items():
            results[name].append(thing())
    return results


class Ratio:
    """Of two lists of seconds by round: that of their least, and the least and the largest of a round."""
    def __init__(self, seconds, base):
        tick = 1e-6
        each = [a / max(b, tick) for a, b in zip(seconds, base)]
        self.least = min(seconds) / max(min(base), tick)
        self.low, self.high = min(each), max(each)

    def __str__(self):
        return f"{self.least:9.2f}{f'{self.low:.2f}-{self.high:.2f}':>15}"


RATIO_HEAD = f"{'ratio':>9}{'of rounds':>15}"
