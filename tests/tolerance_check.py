#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Curves of run time against two references: lp-replay itself, and a linear program.

    tests/tolerance_check.py replay FIRST COUNT VALUES   random runs: the curves of lp-tolerance equal lp-replay at
                                             VALUES values, to the nanosecond
    tests/tolerance_check.py long FIRST COUNT VALUES     the same of long runs that nothing synchronises
    tests/tolerance_check.py make SEED STEPS the graph of such a run
    tests/tolerance_check.py glpk FIRST COUNT VALUES     random runs: they equal the linear program of the run's
                                             events, solved by glpsol --exact

Machines are random, too: the models of Dimemas and LogGP, eager and rendezvous, and some calls at another
scale. Exit 1 and a line if an answer is wrong.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_run  # noqa: E402


def machine(eager, model, ranks, latency, gap, overhead):
    """Integers only, so that all times are whole."""
    lines = ["machine"]
    if model == "loggp":
        lines.append("model loggp")
    # 1/gap ns a byte: a rate in B/s
    lines += [f"bandwidth {1e9 / gap!r} B/s" if gap else "bandwidth infinite",
              "nodes %d" % ranks, "latency %r ns" % latency, "overhead call %r ns" % overhead,
              "eager %s" % eager]
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


def long_graph(seed, steps=4000):
    """In each step ranks send to one at a random distance, and receive from the one behind: all four of them, or
    within groups that meet never or seldom, while another rank calls never or seldom. Such groups also have
    collectives of their own. If they meet, what rank 0 sends at first is received at last, and all rows stay in
    memory."""
    rng = random.Random(seed)
    groups, idle, seldom = (([range(4)], 0, 0), ([range(3), range(3, 6)], 1, 0), ([range(3), range(3, 6)], 1, 500),
                            ([range(4)], 1, 900), ([range(2), range(2, 4), range(4, 7)], 1, 1700))[seed % 5]
    ranks = sum(len(group) for group in groups) + idle
    lines = [f"trace ranks={ranks}"] + [f"communicator comm={comm} members={','.join(map(str, group))}"
                                        for comm, group in enumerate(groups, 2)]

    def exchange(step, group):
        by = rng.randrange(1, len(group))
        for i, rank in enumerate(group):
            enter, behind = 20000 * step + 20 + rng.randrange(8000), group[(i - by) % len(group)]
            lines.extend([f"{rank} MPI_Irecv {enter} +50 comm=1 tag=0 peer={behind} as=r{rank}.{step}",
                          f"{rank} MPI_Send {enter + 60} +100 comm=1 tag=0 peer={group[(i + by) % len(group)]} sent={8 * rng.randrange(999)}",
                          f"{rank} MPI_Wait {enter + 400} {20000 * step + 9900} comm=1 tag=0 peer={behind} received=8 of=r{rank}.{step}"])

    if seldom:
        lines.append("0 MPI_Send 0 10 comm=1 tag=1 peer=1 sent=8")
    for step in range(steps):
        if seldom and step % seldom == seldom - 1:
            exchange(step, rng.sample(range(ranks), rng.randrange(2, ranks + 1)))
            continue
        for comm, group in enumerate(groups, 2):
            exchange(step, group)
            if step % 4 == 3 and len(group) < ranks:
                lines.extend(f"{rank} MPI_Allreduce {20000 * step + 10000 + rng.randrange(5000)} {20000 * step + 15100} comm={comm} sent=8 received=8"
                             for rank in group)
    if seldom:
        lines.append(f"1 MPI_Recv {20000 * steps} +10 comm=1 tag=1 peer=0 received=8")
    return run("lp-graph", data=run(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack"),
                                    data="\n".join(lines).encode() + b"\n")[1])[1]


def at(pieces, value):
    for piece in reversed(pieces):
        if piece["from_ns"] <= value:
            return piece["run_time_ns"] + piece["slope"] * (value - piece["from_ns"])
    raise ValueError(value)


def check_long(seed, values, folder):
    return check_replay(seed, values, folder, long_graph)


def check_replay(seed, values, folder, graph_of=graph_of):
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

    scale = [word for call in rng.sample(("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Wait"), rng.randrange(3))
             for word in ("--scale", f"call={call},factor={rng.choice((0, 2, 3))}")]
    write()
    status, text, err = run("lp-tolerance", *scale, "-n", config, "-F", "json", path)
    if status != 0:
        return f"seed {seed}: {err.decode().strip()}" if b"the run does not end" not in err else None
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
            got = json.loads(run("lp-replay", *scale, "-n", config, "-F", "json", path)[1])["run_time_ns"]
            want = at(curves[name], value)
            if abs(got - want) > 0.51:
                return f"seed {seed}: {model} {name} {value}: curve {want}, replay {got}"
    return ""


class Program:
    """The linear program of a run on a machine of LogGP, all standard sends eager: the least T that is no less than
    any event, each of which comes so long after others. Built from the graph alone."""

    def __init__(self, text):
        self.enter, self.rows, self.rules, self.comms, self.calls = {}, {}, [], {}, []
        events = [json.loads(line) for line in text.splitlines()]
        last = {}
        for e in events:
            if e["kind"] == "communicator":
                self.comms[e["comm"]] = e["members"]
            elif e["kind"] == "call":
                rank, seq, n = e["rank"], e["seq"], max(1, len(e.get("completed", ())))
                n += e["call"].startswith("MPI_Sendrecv")
                call = (rank, seq)
                for i in range(n):
                    self.rows[rank, seq + i] = call
                    done = e.get("completed", ())
                    if i < len(done):
                        self.enter[rank, seq + i, "post"] = done[i].get("seq")
                before = last.get(rank)
                # leave of the call before, computing; and a call is not left before it is entered
                self.rules.append((("e", *call), ("l", *before[0]) if before else None,
                                   e["enter_ns"] - (before[1] if before else 0), 0, 0))
                self.rules.append((("l", *call), ("e", *call), 0, 0, 0))
                last[rank] = (call, e["leave_ns"])
                self.calls.append(e)
        self.by_row = {(e["rank"], e["seq"]): e for e in self.calls}
        for e in events:
            if e["kind"] == "message":
                self.message(e)
            elif e["kind"] == "probe":
                self.probe(e)
            elif e["kind"] == "collective":
                self.collective([tuple(m) for m in e["members"]])
        for rank, (call, _) in last.items():
            self.rules.append((("T",), ("l", *call), 0, 0, 0))

    def message(self, e):
        send, receive = self.rows[e["source"], e["send"]], self.rows[e["target"], e["receive"]]
        bytes_sent = self.by_row[send].get("bytes_sent", 0)
        latencies = 1
        if e["source"] == e["target"]:      # in memory, at once
            bytes_sent = latencies = 0
        if self.by_row[send]["call"] != "MPI_Ssend":
            self.rules.append((("l", *receive), ("e", *send), 0, latencies, bytes_sent))
            return
        posted = self.enter.get((e["target"], e["receive"], "post"))
        posted = receive if posted is None else self.rows[e["target"], posted]
        data = ("d", e["source"], e["send"])        # all of it has left
        self.rules += [(data, ("e", *send), 0, 0, bytes_sent), (data, ("e", *posted), 0, 0, bytes_sent),
                       (("l", *send), data, 0, 0, 0), (("l", *receive), data, 0, latencies, 0)]

    def probe(self, e):
        """It sees the message once that is there; one that waits for its receive once its send has begun."""
        send, probe = self.rows[e["source"], e["send"]], self.rows[e["target"], e["receive"]]
        whole = e["source"] != e["target"] and self.by_row[send]["call"] != "MPI_Ssend"
        self.rules.append((("l", *probe), ("e", *send), 0, int(whole),
                           self.by_row[send].get("bytes_sent", 0) if whole else 0))

    def collective(self, members):
        first = self.by_row[members[0]]
        call, n = first["call"], len(members)
        steps = (n - 1).bit_length()
        comm = self.comms.get(first.get("comm"), None)

        def rank_in(member):
            return comm.index(member[0]) if comm else member[0]

        for me in members:
            needs = members
            root = first.get("peer")
            if call == "MPI_Bcast":
                needs = [m for m in members if rank_in(m) == root] if rank_in(me) != root else []
            elif call == "MPI_Reduce" and rank_in(me) != root:
                needs = []
            elif call == "MPI_Scan":
                needs = [m for m in members if rank_in(m) <= rank_in(me)]
            if call == "MPI_Bcast" and needs:
                needs = needs + [me]
            for other in needs:
                self.rules.append((("l", *me), ("e", *other), 0, steps, 0))

    def solve(self, latency, gap, folder):
        """Exact: all numbers are multiples of 1/64 and small, and so are all sums of them."""
        name = {}

        def x(event):
            return name.setdefault(event, "x%d" % len(name))

        lines = []
        for to, after, ns, latencies, size in self.rules:
            least = ns + latencies * latency + size * gap
            lines.append(f" {x(to)} {'- ' + x(after) if after else ''} >= {least!r}")
        lp, out = os.path.join(folder, "lp"), os.path.join(folder, "out")
        with open(lp, "w") as f:
            f.write(f"Minimize\n obj: {x(('T',))}\nSubject To\n" + "\n".join(lines) + "\nEnd\n")
        status, text, err = run("glpsol", "--exact", "--lp", lp, "-w", out)
        if status != 0:
            raise RuntimeError(text)
        with open(out) as f:
            return float(next(line for line in f if line.startswith("s ")).split()[-1])


def check_glpk(seed, values, folder):
    seed *= 2                                   # without collectives that are only started
    rng = random.Random(seed)
    data = graph_of(seed)
    path, config = os.path.join(folder, "run.graph"), os.path.join(folder, "machine")
    with open(path, "wb") as out:
        out.write(data)
    text = run("lp-dump", path)[1]
    ranks = json.loads(run("lp-dump", "-k", "run", path)[1].splitlines()[0])["ranks"]
    base = {"latency": rng.randint(0, 400), "gap": rng.choice((0, 1, 2, 4)), "overhead": 0}
    with open(config, "w") as out:
        out.write(machine("all", "loggp", ranks, **base))
    status, told, err = run("lp-tolerance", "-n", config, "-F", "json", path)
    if status != 0:
        return None                             # a send that nobody receives
    curves, program = json.loads(told), Program(text)
    for name in ("latency", "gap"):
        most = 2 * max(curves[name][-1]["from_ns"], 100)
        for _ in range(values):
            value = int(rng.uniform(0, most) * 64) / 64
            want = program.solve(**{"latency": base["latency"], "gap": base["gap"], name: value}, folder=folder)
            if abs(want - at(curves[name], value)) > 1e-9 * want + 1e-6:
                return f"seed {seed}: {name} {value}: curve {at(curves[name], value)}, glpsol {want}"
    return ""


def main():
    what, first = sys.argv[1], int(sys.argv[2])
    if what == "make":
        sys.stdout.buffer.write(long_graph(first, steps=int(sys.argv[3])))
        return
    count = int(sys.argv[3])
    wrong = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            check = {"replay": check_replay, "long": check_long, "glpk": check_glpk}[what]
            line = check(seed, int(sys.argv[4]), folder)
            checked += line == ""
            if line:
                print(line)
                wrong += 1
    print(f"{checked} runs checked, {wrong} wrong")
    sys.exit(wrong > 0 or checked == 0)


if __name__ == "__main__":
    main()
