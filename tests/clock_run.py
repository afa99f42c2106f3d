#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random MPI runs (tests/random_run.py) on wrong clocks, and a check of lp-merge on them.

    tests/clock_run.py check FIRST COUNT    runs the tools of PATH on COUNT seeds; exit 1 and a line
                                            if an answer is wrong
    tests/clock_run.py make SEED FOLDER     raw traces of that run, on clocks without samples

Every rank's clock has an offset, a drift of up to 1e-4, and, at some instant, a step. lp-merge knows none of these
(worse than in any recorded run), or only the offset. If each pair of members exchanges its own number of bytes, one
member needs another if the bytes sent and received have no other explanation: a maximum flow without that pair is too
small. Afterwards no receive and no member of a collective may end before its partner has begun, and the events of a
rank keep their order. On correct clocks nothing may move. The report on each rank must be true. Linear clocks, with
samples at both ends, in between and along chains of clocks, must be corrected within the samples' error and the
stated error; if ranks lack the sample at the end, within the stated error.
"""
import io
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_run  # noqa: E402 (the ones beside this file)
import trace  # noqa: E402

DATA = ("MPI_Allreduce", "MPI_Alltoall", "MPI_Bcast", "MPI_Reduce", "MPI_Scan")
NS = 1000           # a random run counts in small numbers; as microseconds they are like a real one


class Clocks:
    """From true time to that of each rank's clock; all of them always run forward."""

    def __init__(self, seed, ranks, end):
        rng = random.Random(seed)
        self.offset = [rng.randint(-2 * end, 2 * end) if rng.random() < 0.5 else 0 for _ in range(ranks)]
        self.drift = [rng.choice((0, 1e-4, -1e-4, 1e-5)) for _ in range(ranks)]
        self.step = [rng.randint(0, end) if rng.random() < 0.3 else 0 for _ in range(ranks)]
        self.step_at = [rng.randint(0, end) for _ in range(ranks)]

    def own(self, rank, time):
        step = self.step[rank] if time >= self.step_at[rank] else 0
        return time + self.offset[rank] + int(self.drift[rank] * time) + step


class Linear:
    """Clocks with an offset and a drift, and samples of them: [(at, peer, offset, bound of error)]."""

    def __init__(self, seed, ranks, end, drift, edge=0):
        """Samples are at the ends of the run, or EDGE away from them."""
        rng = random.Random(seed ^ 0x11e)
        self.offset = [rng.randint(-2 * end, 2 * end) for _ in range(ranks)]
        self.drift = [rng.choice((0, drift, -drift, rng.uniform(-drift, drift))) for _ in range(ranks)]
        self.samples = [[] for _ in range(ranks)]
        self.between = [0] * ranks      # a line through the samples is off by no more there
        self.bound = [0] * ranks        # and anywhere in the run
        self.lost = [rank > 0 and rng.random() < 0.5 for rank in range(ranks)]
        chained, some = rng.random() < 0.5, rng.randint(0, 3)
        for rank in range(1, ranks):
            peer = rng.randrange(rank) if chained else 0
            for at in [edge, end - edge] + [rng.randint(edge, end - edge) for _ in range(some)]:
                error = rng.choice((0, 10, 1000))
                offset = self.own(peer, at) - self.own(rank, at) + rng.randint(-error, error)
                self.samples[rank].append((self.own(rank, at), peer, offset, error))
            self.between[rank] = self.between[peer] + max(s[3] for s in self.samples[rank])
            self.bound[rank] = self.between[rank] * (1 + 2 * edge / (end - 2 * edge))

    def own(self, rank, time):
        return time + self.offset[rank] + round(self.drift[rank] * time)


class Right:
    offset = None

    def own(self, _, time):
        return time


def write_raw(run, clocks, folder, samples=None):
    names = sorted({row.call for rows in run.rows for row in rows if row.call != "part"})
    number = {name: i + 1 for i, name in enumerate(names)}
    number["part"] = 0
    for rank, rows in enumerate(run.rows):
        with open(os.path.join(folder, f"rank.{rank}"), "wb") as out:
            writer = trace.Writer(out, "raw")
            writer.put("rank", {"rank": rank, "ranks": run.ranks, "run": 1})
            for name in names:
                writer.put("call", {"number": number[name], "name": name})
            for comm, members in run.comms.items():
                if comm > 2 and rank in members:
                    writer.put("communicator", {"comm": comm, "id": comm, "size": len(members),
                                                "rank": members.index(rank)})
            for at, peer, offset, error in samples[rank] if samples else ():
                writer.put("clock", {"at_ns": at, "peer": peer, "offset_ns": offset, "error_ns": error})
            own = [(clocks.own(rank, r.enter * NS), clocks.own(rank, r.leave * NS)) for r in rows]
            writer.block("calls", {
                "enter": [e for e, _ in own],
                "duration": [l - e for e, l in own],
                "call": [number[r.call] for r in rows],
                "comm": [r.comm for r in rows],
                "peer": [r.peer for r in rows],
                "tag": [r.tag for r in rows],
                "bytes_sent": [8 if r.call in DATA else r.sent for r in rows],
                "bytes_received": [8 if r.call in DATA else r.received for r in rows],
                "request": [i if r.finds else r.request for i, r in enumerate(rows)],
                "request_at": [1 if r.finds else 0 for r in rows],
            }, location=0, first=0)
            writer.end()


def merge(folder, *options):
    done = subprocess.run(["lp-merge", "--no-names", *options, folder], capture_output=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        raise random_run.Wrong(f"lp-merge: exit {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def times(stream, ranks):
    """[rank][seq]: enter, leave."""
    got = [[] for _ in range(ranks)]
    for message in trace.read(io.BytesIO(stream)):
        if message.kind == "calls":
            enter, duration = message.column("enter", True), message.column("duration")
            got[message.body["location"]] += [(int(e), int(e) + int(d)) for e, d in zip(enter, duration)]
    return got


def vary(run, seed):
    """Some MPI_Alltoall become calls in which each pair exchanges what it likes, mostly nothing."""
    rng = random.Random(seed ^ 0xa2a)
    for members in run.collectives:
        if run.rows[members[0][0]][members[0][1]].call != "MPI_Alltoall" or rng.random() < 0.2:
            continue
        call = rng.choice(("MPI_Alltoallv", "MPI_Alltoallw"))
        most, hub = rng.choice((0, 1, 3, 1000)), rng.randrange(len(members))
        kind = rng.choice(("any", "from one", "to one", "swap"))
        for rank, seq in members:
            run.rows[rank][seq].call = call
        for i, (sender, send) in enumerate(members):
            for j, (receiver, receive) in enumerate(members):
                if (kind == "from one" and i != hub) or (kind == "to one" and j != hub) or \
                        (kind == "swap" and i + j != len(members) - 1):
                    continue
                amount = rng.randint(0, most)
                run.rows[sender][send].sent += amount
                run.rows[receiver][receive].received += amount


def flow(sent, received, without):
    """As many bytes as can go from senders to receivers if nothing goes WITHOUT (from, to)."""
    n, total = len(sent), 0
    room = [[0] * (2 * n + 2) for _ in range(2 * n + 2)]    # senders, receivers, begin, end
    for i in range(n):
        room[2 * n][i], room[n + i][2 * n + 1] = sent[i], received[i]
        for j in range(n):
            room[i][n + j] = 0 if (i, j) == without else sum(sent)
    while True:     # along the shortest path with room
        came, found = {2 * n: None}, [2 * n]
        for at in found:
            for to in range(2 * n + 2):
                if room[at][to] > 0 and to not in came:
                    came[to] = at
                    found.append(to)
        if 2 * n + 1 not in came:
            return total
        path = [2 * n + 1]
        while came[path[-1]] is not None:
            path.append(came[path[-1]])
        step = min(room[a][b] for b, a in zip(path, path[1:]))
        for b, a in zip(path, path[1:]):
            room[a][b] -= step
            room[b][a] += step
        total += step


def needs(run, members):
    """Pairs (needs, needed) of the rows of one instance, as MPI has it."""
    call, comm = run.rows[members[0][0]][members[0][1]].call, run.rows[members[0][0]][members[0][1]].comm
    if call in ("MPI_Init", "MPI_Finalize"):
        return
    if call in ("MPI_Alltoallv", "MPI_Alltoallw"):
        sent = [run.rows[r][s].sent for r, s in members]
        received = [run.rows[r][s].received for r, s in members]
        for i, one in enumerate(members):
            for j, other in enumerate(members):
                if i != j and flow(sent, received, (j, i)) < sum(sent):
                    yield one, other
        return
    at = dict(members)
    order = [(r, at[r]) for r in run.comms[comm]]
    root = run.rows[members[0][0]][members[0][1]].peer
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i != j and (call in random_run.ALL_TO_ALL or (call == "MPI_Bcast" and j == root) or
                           (call == "MPI_Reduce" and i == root) or (call == "MPI_Scan" and j < i)):
                yield one, other


def reversed_pairs(run, got):
    for sender, send, receiver, receive in run.messages:
        if got[receiver][receive][1] < got[sender][send][0]:
            yield (receiver, receive), (sender, send)
    for members in run.collectives:
        for (rank, seq), (other, other_seq) in needs(run, members):
            if got[rank][seq][1] < got[other][other_seq][0]:
                yield (rank, seq), (other, other_seq)


def check_order(run, before, after):
    for rank, rows in enumerate(run.rows):
        last = None
        for seq, (enter, leave) in enumerate(after[rank]):
            if leave < enter or (last is not None and not rows[seq].part and enter < last):
                raise random_run.Wrong(f"rank {rank}, row {seq}: out of order")
            if rows[seq].part and (enter, leave) != after[rank][seq - 1]:
                raise random_run.Wrong(f"rank {rank}, row {seq}: a part that moved away from its call")
            last = leave
        # Beside the jumps, time passes no slower than the amortisation lets it.
        for row, (_, b0), (b1, _), (_, a0), (a1, _) in zip(rows[1:], before[rank], before[rank][1:],
                                                           after[rank], after[rank][1:]):
            if not row.part and a1 - a0 < 0.98 * (b1 - b0) - 2:
                raise random_run.Wrong(f"rank {rank}: {b1 - b0} ns between calls became {a1 - a0}")


def reports(stream):
    return [m.body for m in trace.read(io.BytesIO(stream)) if m.kind == "rank"]


def run_ns(stream):
    return next(m.body["run_ns"] for m in trace.read(io.BytesIO(stream)) if m.kind == "run")


def check_report(run, before, after, pairs, told):
    """What is told of each rank is what was: who was reversed, who is, and how far it was moved."""
    late = {one for one, _ in pairs}
    most = [max(a - b for row in zip(before[r], after[r]) for b, a in zip(*row)) for r in range(run.ranks)]
    # The first enter of all may have moved: that is taken off all times.
    first = {told[r]["moved_ns"] - most[r] for r in range(run.ranks) if "moved_ns" in told[r]} | \
            {-most[r] for r in range(run.ranks) if "moved_ns" not in told[r]}
    least = min(a - b for r in range(run.ranks) for row in zip(before[r], after[r]) for b, a in zip(*row))
    if least + max(first) < 0:
        raise random_run.Wrong(f"an event was moved back, by {-least - max(first)}")
    if len(first) > 1:
        raise random_run.Wrong(f"moved by {most}, but {[t.get('moved_ns') for t in told]} is told")
    for rank in range(run.ranks):
        count = sum(1 for other, _ in late if other == rank)
        if told[rank].get("reversed", 0) != count or told[rank].get("reversed_left", 0) != 0:
            raise random_run.Wrong(f"rank {rank}: {count} are reversed, {told[rank]} is told")


def body(stream):
    """Without the header, which has the command line."""
    messages = list(trace.read(io.BytesIO(stream)))
    return b"".join(bytes(m.bytes) for m in messages if m.kind != "longpole")


def check(seed):
    run = random_run.Run(seed)
    vary(run, seed)
    end = NS * max(rows[-1].leave for rows in run.rows)
    with tempfile.TemporaryDirectory() as folder:
        write_raw(run, Right(), folder)
        if body(merge(folder, "--sync", "clc")) != body(merge(folder)):
            raise random_run.Wrong("right clocks: something was moved")
        clocks = Clocks(seed, run.ranks, end)
        offsets = [[]] + [[(clocks.own(r, 0), 0, clocks.own(0, 0) - clocks.own(r, 0), 0)]
                          for r in range(1, run.ranks)]
        for samples in (None, offsets):
            write_raw(run, clocks, folder, samples)
            before = times(merge(folder), run.ranks)
            stream = merge(folder, "--sync", "clc")
            after = times(stream, run.ranks)
            if run_ns(stream) != max(leave for rows in after for _, leave in rows):
                raise random_run.Wrong(f"the run does not take {run_ns(stream)}")
            check_report(run, before, after, list(reversed_pairs(run, before)), reports(stream))
            left = list(reversed_pairs(run, after))
            if left:
                raise random_run.Wrong(f"{len(left)} of {len(list(reversed_pairs(run, before)))} are "
                                       f"still reversed, samples {samples}: {left[:3]}")
            check_order(run, before, after)
            if not list(reversed_pairs(run, before)) and before != after:
                raise random_run.Wrong("nothing was reversed, but something was moved")


def residuals(run, clocks, got):
    """By rank: how far its times are from those of rank 0's clock, at most."""
    origin = got[0][0][0] - clocks.own(0, run.rows[0][0].enter * NS)
    return [max(abs(is_ns - clocks.own(0, was * NS) - origin)
                for row, at in zip(run.rows[rank], got[rank])
                for was, is_ns in zip((row.enter, row.leave), at)) for rank in range(run.ranks)]


def check_linear(seed, within):
    """Clocks that are linear: what is left is at most the error that follows from the samples' own."""
    run = random_run.Run(seed)
    end = NS * max(rows[-1].leave for rows in run.rows)
    clocks = Linear(seed, run.ranks, end, 1e-4, end // 5 if within else 0)
    with tempfile.TemporaryDirectory() as folder:
        write_raw(run, clocks, folder, clocks.samples)
        stream = merge(folder)
    got, told = times(stream, run.ranks), reports(stream)
    for rank, left in enumerate(residuals(run, clocks, got)):
        bound, report = clocks.bound[rank], told[rank]
        # A peer's clock is not asked at the instant of its own sample, but as far from that as the sample is off.
        if left > report["error_ns"] + 2 or report["error_ns"] > bound + 4 * bound * bound / end + 1:
            raise random_run.Wrong(f"rank {rank} is off by {left}, {report['error_ns']} is told, the "
                                   f"samples know it to {bound}")
        first = got[rank][0][0] - clocks.own(rank, run.rows[rank][0].enter * NS)
        if report["offset_ns"] != first:
            raise random_run.Wrong(f"rank {rank}: {report['offset_ns']} is no offset of {first}")
        drift = (1 + clocks.drift[0]) / (1 + clocks.drift[rank]) - 1
        if abs(report["drift_ppb"] * 1e-9 - drift) > (2 * bound + 4) / end + 2e-9:
            raise random_run.Wrong(f"rank {rank}: {report['drift_ppb']} ppb is no drift of {drift}")


def check_lost(seed):
    """Some ranks have no sample at the end: the bound holds wherever messages tell of the drift."""
    run = random_run.Run(seed)
    end = NS * max(rows[-1].leave for rows in run.rows)
    clocks = Linear(seed, run.ranks, end, 1e-3)
    samples = [s[:1] if lost else s[:2] for s, lost in zip(clocks.samples, clocks.lost)]
    with tempfile.TemporaryDirectory() as folder:
        write_raw(run, clocks, folder, samples)
        stream = merge(folder)
    told, bound = reports(stream), [0] * run.ranks
    for rank, left in enumerate(residuals(run, clocks, times(stream, run.ranks))):
        for _, peer, _, error in samples[rank][:1]:
            bound[rank] = told[peer]["error_ns"] + error
        # Where messages tell nothing the bound is that of the offset when it was measured.
        known = not any(clocks.lost) or told[rank]["error_ns"] > bound[rank] or told[rank]["drift_ppb"] != 0
        if known and left > told[rank]["error_ns"] + 3:
            raise random_run.Wrong(f"rank {rank} of {clocks.lost} is off by {left}, {told[rank]} is told")


def main(arguments):
    if arguments[:1] == ["make"]:
        run = random_run.Run(int(arguments[1]))
        end = NS * max(rows[-1].leave for rows in run.rows)
        write_raw(run, Clocks(int(arguments[1]), run.ranks, end), arguments[2])
        return 0
    for seed in range(int(arguments[1]), int(arguments[1]) + int(arguments[2])):
        try:
            check(seed)
            check_linear(seed, False)
            check_linear(seed, True)
            check_lost(seed)
        except (random_run.Wrong, trace.Damaged, subprocess.TimeoutExpired) as error:
            print(f"seed {seed}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
