#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Curves of run time against those who know: lp-replay itself, and a linear program.

    tests/tolerance_check.py replay FIRST COUNT VALUES   random runs: the curves of lp-replay --tolerance
                                             are what lp-replay says at so many values, to the nanosecond

                                             program of the run's events, solved by glpsol --exact

Machines are random, too: Dimemas' model and that of LogGP, eager and rendezvous. Exit 1 and a line where
an answer is wrong.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_run  # noqa: E402

UNITS = {"latency": "ns", "gap": "ns", "overhead": "ns"}


def machine(rng, model, ranks, latency, gap, overhead):
    """Integers only, so that all times are whole."""
    lines = ["machine"]
    if model == "loggp":
        lines.append("model loggp")
    # 1/gap ns a byte: a rate in B/s
    lines += [f"bandwidth {1e9 / gap!r} B/s" if gap else "bandwidth infinite",
              "nodes %d" % ranks, "latency %r ns" % latency, "overhead call %r ns" % overhead,
              "eager %s" % rng]
    return "\n".join(lines) + "\n"


def run(*command, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def graph_of(seed):
    with tempfile.NamedTemporaryFile() as out:
        stdout = sys.stdout
        trace = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_run.py"),
                                "make", str(seed)] + (["more"] if seed % 2 else []),
                               stdout=subprocess.PIPE, check=True).stdout
        sys.stdout = stdout
    return run("lp-graph", data=trace)[1]


def at(pieces, value):
    for piece in reversed(pieces):
        if piece["from_ns"] <= value:
            return piece["run_time_ns"] + piece["slope"] * (value - piece["from_ns"])
    raise ValueError(value)


def check_replay(seed, values, folder):
    rng = random.Random(seed)
    data = graph_of(seed)
    path, config = os.path.join(folder, "run.graph"), os.path.join(folder, "machine")
    with open(path, "wb") as out:
        out.write(data)
    ranks = json.loads(run("lp-dump", "-k", "run", path)[1].splitlines()[0])["ranks"]
    model = rng.choice(("dimemas", "loggp"))
    eager = rng.choice(("all", "calls", "64 B") if model == "dimemas" else ("all", "64 B"))
    base = {"latency": rng.randint(1, 400), "gap": rng.choice((0, 1, 2)), "overhead": rng.randint(0, 50)}

    def write(**changed):
        with open(config, "w") as out:
            out.write(machine(eager, model, ranks, **{**base, **changed}))

    write()
    status, text, err = run("lp-replay", "--tolerance", "-n", config, "-F", "json", path)
    if status != 0:
        return f"seed {seed}: {err.decode().strip()}" if b"does not come to its end" not in err else None
    curves = json.loads(text)
    if not curves["exact"]:
        return None
    for name in ("latency", "gap", "overhead"):
        places = [p["from_ns"] for p in curves[name]]
        most = 4 * max(places[-1], 100)
        for value in [rng.uniform(0, most) for _ in range(values)] + rng.sample(places, min(4, len(places))):
            if name == "gap" and value == 0:
                value = 0.5
            write(**{name: value})
            got = json.loads(run("lp-replay", "-n", config, "-F", "json", path)[1])["run_time_ns"]
            want = at(curves[name], value)
            if abs(got - want) > 0.51:
                return f"seed {seed}: {model} {name} {value}: curve {want}, replay {got}"
    return ""


def main():
    what, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            line = check_replay(seed, int(sys.argv[4]), folder)
            checked += line == ""
            if line:
                print(line)
                wrong += 1
    print(f"{checked} runs checked, {wrong} wrong")
    sys.exit(wrong > 0 or checked == 0)


if __name__ == "__main__":
    main()
