#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Collectives as messages, against the same messages written out as calls of MPI_Send, MPI_Recv and MPI_Sendrecv.

    tests/schedules_check.py FIRST COUNT     random ranks, roots, sizes, arrivals and machines

The schedules are written here a second time, as transfers of blocks between ranks; a check ensures that each rank then
has the result of the collective. Exit 1 and a line if a time differs.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def log2(p):
    return (p - 1).bit_length()


def spread(lo, k, p, level=0):
    """Binomial: who has the blocks from lo on hands the upper half to the first of it."""
    if k == 0:
        return []
    mid = lo + 2 ** (k - 1)
    found = [(level, lo, mid, list(range(mid, min(mid + 2 ** (k - 1), p))))] if mid < p else []
    return found + spread(lo, k - 1, p, level + 1) + spread(mid, k - 1, p, level + 1)


def levels(messages, count, back=False):
    rounds = [[] for _ in range(count)]
    for level, source, target, blocks in messages:
        if back:
            rounds[count - 1 - level].append((target, source, blocks))
        else:
            rounds[level].append((source, target, blocks))
    return rounds


def folded(p):
    """Pairs that become one so that a power of two is left, and who is left."""
    q = 2 ** (p.bit_length() - 1)
    pairs = [(2 * i + 1, 2 * i) for i in range(p - q)]
    gone = {a for a, _ in pairs}
    return pairs, [r for r in range(p) if r not in gone]


def halving(left, whole, keep):
    """Half of what is left goes each round; who has what in the end is noted in keep."""
    rounds, mine = [], {r: list(whole) for r in left}
    step = 1
    while step < len(left):
        sent = []
        for i, r in enumerate(left):
            other, half = left[i ^ step], len(mine[r]) // 2
            low = i & step == 0
            sent.append((r, other, mine[r][half:] if low else mine[r][:half]))
        for i, r in enumerate(left):
            half = len(mine[r]) // 2
            mine[r] = mine[r][:half] if i & step == 0 else mine[r][half:]
        rounds.append(sent)
        step *= 2
    keep.update(mine)
    return rounds


def rounds_of(op, how, p):
    """Rounds of (source, target, blocks), the root being 0, and how many blocks make up what a rank gives."""
    every, k = list(range(p)), log2(p)
    if op in ("bcast", "scatter"):
        blocks = 1 if op == "bcast" else p
        one = (lambda b: [0]) if op == "bcast" else (lambda b: b)
        if how == "linear":
            return [[(0, r, one([r]))] for r in every[1:]], blocks
        if how == "chain":
            return [[(r, r + 1, [0])] for r in every[:-1]], 1
        if how == "binomial":
            return [[(s, t, one(b)) for s, t, b in r] for r in levels(spread(0, k, p), k)], blocks
        return levels(spread(0, k, p), k) + ring(p), p           # scatter-ring
    if op in ("gather", "reduce"):
        one = (lambda b: [0]) if op == "reduce" else (lambda b: b)
        if how == "linear":
            return [[(r, 0, one([r]))] for r in every[1:]], 1
        if how == "chain":
            return [[(r, r - 1, [0])] for r in reversed(every[1:])], 1
        if how == "binomial":
            return [[(s, t, one(b)) for s, t, b in r] for r in levels(spread(0, k, p), k, back=True)], 1
    if op in ("allreduce", "reduce"):
        if how == "reduce-bcast":
            up = levels(spread(0, k, p), k, back=True)
            return [[(s, t, [0]) for s, t, _ in r] for r in up + levels(spread(0, k, p), k)], 1
        if how == "ring":
            first = [[(r, (r + 1) % p, [(r - s) % p]) for r in every] for s in range(p - 1)]
            return first + [[(r, (r + 1) % p, [(r + 1 - s) % p]) for r in every] for s in range(p - 1)], p
        pairs, left = folded(p)
        if how == "recursive-doubling":
            middle = [[(r, left[i ^ 2 ** s], [0]) for i, r in enumerate(left)]
                      for s in range(log2(len(left)))]
            return fold([0], pairs, middle, back=True), 1
        keep, q = {}, len(left)
        middle = halving(left, range(q), keep)
        for s in reversed(range(log2(q))):
            sent = []
            for i, r in enumerate(left):
                if op == "allreduce":
                    sent.append((r, left[i ^ 2 ** s], list(keep[r])))
                elif i >> s == 1:
                    sent.append((r, left[i ^ 2 ** s], list(keep[r])))
            for source, target, blocks in sent:
                keep[target] = sorted(set(keep[target]) | set(blocks))
            middle.append(sent)
        return fold(list(range(q)), pairs, middle, back=op == "allreduce"), q
    if op == "barrier":
        if how == "bruck":
            return [[(r, (r + 2 ** s) % p, []) for r in every] for s in range(k)], 1
        if how == "reduce-bcast":
            return [[(s, t, []) for s, t, _ in r] for r in rounds_of("allreduce", how, p)[0]], 1
        return [[(s, t, []) for s, t, _ in r] for r in rounds_of("allreduce", how, p)[0]], 1
    if op == "allgather":
        if how == "linear":
            return [[(r, (r + s) % p, [r]) for r in every] for s in every[1:]], 1
        if how == "ring":
            return ring(p), 1
        if how == "recursive-doubling" and p & (p - 1) == 0:
            return [[(r, r ^ 2 ** s, [b for b in every if b >> s == r >> s]) for r in every]
                    for s in range(k)], 1
        return [[(r, (r - 2 ** s) % p, [(r + i) % p for i in range(min(2 ** s, p - 2 ** s))]) for r in every]
                for s in range(k)], 1
    if op == "alltoall":
        if how in ("linear", "pairwise"):
            return [[(r, (r + s) % p, [(r, (r + s) % p)]) for r in every] for s in every[1:]], p
        return [[(r, (r + 2 ** s) % p, [(b, t) for b in every for t in every
                                        if (t - b) % p >> s & 1 and (b + (t - b) % p % 2 ** s) % p == r])
                 for r in every] for s in range(k)], p
    if op == "reduce_scatter":
        if how == "pairwise":
            return [[(r, (r + s) % p, [(r + s) % p]) for r in every] for s in every[1:]], p
        if how == "ring":
            return [[(r, (r + 1) % p, [(r - s - 1) % p]) for r in every] for s in range(p - 1)], p
    if op == "scan":
        if how == "chain":
            return [[(r, r + 1, [0])] for r in every[:-1]], 1
        return [[(r, r ^ 2 ** s, [0]) for r in every if r ^ 2 ** s < p] for s in range(k)], 1
    raise ValueError(op, how)


def ring(p):
    return [[(r, (r + 1) % p, [(r - s) % p]) for r in range(p)] for s in range(p - 1)]


def fold(blocks, pairs, middle, back):
    before = [[(a, b, blocks) for a, b in pairs]] if pairs else []
    return before + middle + ([[(b, a, blocks) for a, b in pairs]] if pairs and back else [])


def dealt(p, how):
    """Children by rank, in the order in which they get a segment: of a tree that goes in segments."""
    children = {r: [] for r in range(p)}
    if how == "chain":
        children.update({r: [r + 1] for r in range(p - 1)})
    elif how == "binomial":
        for _, source, target, _ in spread(0, log2(p), p):
            children[source].append(target)
    else:                               # each level gets its sons dealt out, one each and then another one
        level, left = [0], list(range(1, p))
        while left:
            sons, left = left[:2 * len(level)], left[2 * len(level):]
            for i, son in enumerate(sons):
                children[level[i % len(level)]].append(son)
            level = sons
    return children


def pipelined(op, how, p, segments):
    """By rank what it sends and receives at once: (peer, segment), or nothing."""
    children = dealt(p, how)
    parent = {c: r for r in children for c in children[r]}
    rows = []
    for r in range(p):
        below = children[r] if op == "bcast" else children[r][::-1]
        steps = [[(c, k), None] for k in range(segments) for c in below]
        above = [(parent[r], k) for k in range(segments)] if r in parent else []
        if op == "bcast":
            if not below:
                steps = [[None, a] for a in above]
            elif above:                 # the next comes with the last send of the one before
                for k, a in enumerate(above[1:]):
                    steps[len(below) * (k + 1) - 1][1] = a
                steps.insert(0, [None, above[0]])
        elif not below:
            steps = [[a, None] for a in above]
        else:                           # what is put together goes up with the first receive of the next
            steps = [[None, out] for out, _ in steps]
            for k, a in enumerate(above[:-1]):
                steps[len(below) * (k + 1)][0] = a
            steps += [[a, None] for a in above[-1:]]
        rows.append([tuple(s) for s in steps])
    return rows


CASES = {"bcast": ("linear", "chain", "binomial", "scatter-ring", "binary"), "scatter": ("linear", "binomial"),
         "gather": ("linear", "binomial"), "reduce": ("linear", "chain", "binomial", "rabenseifner", "binary"),
         "allreduce": ("recursive-doubling", "ring", "rabenseifner", "reduce-bcast"),
         "barrier": ("recursive-doubling", "bruck", "reduce-bcast"),
         "allgather": ("linear", "ring", "bruck", "recursive-doubling"),
         "alltoall": ("linear", "pairwise", "bruck"), "reduce_scatter": ("pairwise", "ring"),
         "scan": ("chain", "recursive-doubling"), "gatherv": ("linear", "binomial"),
         "scatterv": ("linear", "binomial"), "allgatherv": ("linear", "ring", "bruck", "recursive-doubling"),
         "alltoallv": ("linear", "pairwise")}
UNEVEN = ("gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter")
TREES = ("chain", "binomial", "binary")


def check_meaning(op, how, p):
    """Whether all have what they should: of each block the ranks whose values are in it."""
    if op in ("bcast", "reduce") and how in TREES:
        children = dealt(p, how)
        return sorted(c for r in children for c in children[r]) == list(range(1, p))
    op = op.rstrip("v")
    rounds, parts = rounds_of(op, how, p)
    reduces = op in ("reduce", "allreduce", "reduce_scatter")
    if op in ("barrier", "scan"):
        heard = [{r} for r in range(p)]
        for sent in rounds:
            before = [set(h) for h in heard]
            for s, t, _ in sent:
                heard[t] |= before[s]
        return all(heard[r] >= set(range(p if op == "barrier" else r + 1)) for r in range(p))
    has = [{} for _ in range(p)]
    for r in range(p):
        if reduces:
            has[r] = {b: {r} for b in range(parts)}
        elif op in ("allgather", "gather"):
            has[r] = {r: {r}}
        elif op == "alltoall":
            has[r] = {(r, t): {r} for t in range(p)}
        elif r == 0:
            has[r] = {b: {0} for b in range(parts)}
    if op == "reduce_scatter" and how == "pairwise":    # of what a rank had at first
        return True
    for sent in rounds:
        before = [dict(h) for h in has]
        for s, t, blocks in sent:
            for b in blocks:
                old = before[t].get(b, set()) if reduces else set()
                if reduces and not old & before[s][b]:
                    has[t][b] = old | before[s][b]
                else:
                    has[t][b] = set(before[s][b])
    full = set(range(p))
    want = {"bcast": lambda r: range(parts), "scatter": lambda r: [r], "allgather": lambda r: range(p),
            "gather": lambda r: range(p) if r == 0 else [], "alltoall": lambda r: [(s, r) for s in range(p)],
            "reduce": lambda r: range(parts) if r == 0 else [], "allreduce": lambda r: range(parts),
            "reduce_scatter": lambda r: [r]}[op]
    return all(b in has[r] and (not reduces or has[r][b] == full) for r in range(p) for b in want(r))


def run(*command, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def finish(text, machine, folder):
    path = os.path.join(folder, "graph")
    with open(path, "wb") as out:
        out.write(run("lp-graph", data=run(os.path.join(HERE, "pack"), data=text.encode())))
    with open(os.path.join(folder, "machine"), "w") as out:
        out.write(machine)
    return json.loads(run("lp-replay", "-n", out.name, "-F", "json", path))["finish_ns"]


def sizes(op, p, size, r, root, uneven):
    if uneven:
        one, all_of = uneven["block"], uneven["all"]
        return {"gatherv": f" sent={one[r]} received={all_of if r == root else 0}",
                "scatterv": f" sent={all_of if r == root else 0} received={one[r]}",
                "allgatherv": f" sent={one[r]} received={all_of}",
                "reduce_scatter": f" sent={all_of} received={one[r]}",
                "alltoallv": f" sent={one[r] * sum(uneven['taken'])} received={uneven['taken'][r] * all_of}"}[op]
    sent, received = {"bcast": (size if r == root else 0, 0 if r == root else size),
                      "scatter": (size * p if r == root else 0, size),
                      "gather": (size, size * p if r == root else 0), "reduce": (size, size if r == root else 0),
                      "barrier": (0, 0), "allgather": (size, size * p), "alltoall": (size * p, size * p),
                      "reduce_scatter": (size * p, size)}.get(op, (size, size))
    return f" sent={sent} received={received}"


def as_collective(op, p, size, root, begins, uneven):
    lines = ["trace ranks=%d" % p]
    rooted = op.rstrip("v") in ("bcast", "scatter", "gather", "reduce")
    for r in range(p):
        name = "MPI_" + op.capitalize()
        lines.append(f"{r} {name} {begins[r]} {begins[r] + 1} comm=1" + (f" peer={root}" if rooted else "") +
                     sizes(op, p, size, r, root, uneven))
    return "\n".join(lines) + "\n"


def tree_calls(rows, p, size, segment, root, begins):
    lines = ["trace ranks=%d" % p]
    bytes_of = lambda k: min(segment, size - k * segment)       # noqa: E731
    for r in range(p):
        me, now = (r + root) % p, begins[(r + root) % p]
        for out, back in rows[r]:
            call = "MPI_Sendrecv" if out and back else "MPI_Send" if out else "MPI_Recv"
            sent = out and f"peer={(out[0] + root) % p} tag={out[1]} sent={bytes_of(out[1])}"
            got = back and f"peer={(back[0] + root) % p} tag={back[1]} received={bytes_of(back[1])}"
            lines.append(f"{me} {call} {now} {now + 1} comm=1 {sent or got}")
            if out and back:
                lines.append(f"{me} + comm=1 {got}")
            now += 1
    return "\n".join(lines) + "\n"


def as_calls(rounds, overlap, p, size, parts, op, root, begins, uneven):
    lines, now = ["trace ranks=%d" % p], list(begins)
    each = size if op in ("scatter", "gather", "alltoall", "reduce_scatter", "allgather") else size // parts
    rows = [[] for _ in range(p)]

    def many(blocks):
        if not uneven:
            return len(blocks) * each
        if op == "alltoallv":
            return sum(uneven["block"][s] * uneven["taken"][t] for s, t in blocks)
        return sum(uneven["block"][(b + root) % p] for b in blocks)

    for n, sent in enumerate(rounds):
        out = {s: (t, many(b)) for s, t, b in sent}
        back = {t: (s, many(b)) for s, t, b in sent}
        assert len(out) == len(sent) == len(back)
        for r in range(p):
            rows[r].append((n, out.get(r), back.get(r)))
    for r in range(p):
        me = (r + root) % p
        far = lambda end: (end[0] + root) % p                   # noqa: E731

        def call(text, parts=()):
            lines.append(f"{me} {text.split()[0]} {now[me]} {now[me] + 1} " + " ".join(text.split()[1:]))
            lines.extend(f"{me} + {part}" for part in parts)
            now[me] += 1

        if overlap:
            for n, _, back in rows[r]:
                if back:
                    call(f"MPI_Irecv comm=1 peer={far(back)} tag={n} received={back[1]} as=r{n}")
            for n, out, _ in rows[r]:
                if out:
                    call(f"MPI_Isend comm=1 peer={far(out)} tag={n} sent={out[1]} as=s{n}")
            for n, out, _ in rows[r]:
                if out:
                    call(f"MPI_Wait of=s{n}")
            for n, _, back in rows[r]:
                if back:
                    call(f"MPI_Wait comm=1 peer={far(back)} tag={n} received={back[1]} of=r{n}")
            continue
        for n, out, back in rows[r]:
            if out and back:
                call(f"MPI_Sendrecv comm=1 peer={far(out)} tag={n} sent={out[1]}",
                     [f"comm=1 peer={far(back)} tag={n} received={back[1]}"])
            elif out:
                call(f"MPI_Send comm=1 peer={far(out)} tag={n} sent={out[1]}")
            elif back:
                call(f"MPI_Recv comm=1 peer={far(back)} tag={n} received={back[1]}")
    return "\n".join(lines) + "\n"


def check(seed, folder):
    rng = random.Random(seed)
    op = rng.choice(sorted(CASES))
    how = rng.choice(CASES[op])
    p = rng.randint(2, 9)
    tree = op in ("bcast", "reduce") and how in TREES
    rounds, parts = ([], 1) if tree else rounds_of(op.rstrip("v"), how, p)
    if not check_meaning(op, how, p):
        return f"seed {seed}: {op} {how} of {p} ranks: the schedule does not do what it should"
    size, root = parts * 64 * rng.randint(1, 60), rng.randrange(p)
    if op.rstrip("v") not in ("bcast", "scatter", "gather", "reduce"):
        root = 0
    uneven = None
    if op in UNEVEN:
        block, taken = [[64 * rng.randint(0, 60) for _ in range(p)] for _ in range(2)]
        if op == "alltoallv":
            block, taken = [b // 64 for b in block], [t + 64 for t in taken]
        uneven = {"block": block, "taken": taken, "all": sum(block)}
    segment = rng.choice((size, (size + 1) // 2, size // 3 + 1, size // 7 + 1, 2 * size)) if tree else 0
    begins = [rng.randint(1000, 20000) for _ in range(p)]
    machine = (f"machine\nmodel loggp\nbandwidth {rng.choice((1, 2, 4))} GB/s\nnodes {p}\n"
               f"latency {rng.randint(0, 5000)} ns\noverhead send {rng.randint(0, 900)} ns\n"
               f"overhead receive {rng.randint(0, 900)} ns\neager {rng.choice(('all', '1024 B'))}\n"
               + rng.choice(("", "links 1 1\n", "links 1 0\n")))
    if tree:
        rows = pipelined(op, how, p, -(-size // segment))
        want = finish(tree_calls(rows, p, size, segment, root, begins), machine, folder)
    else:
        want = finish(as_calls(rounds, how == "linear", p, size, parts, op, root, begins, uneven), machine, folder)
    line = f"schedule {op} {how}" + (f" segment {segment} B" if tree else "")
    got = finish(as_collective(op, p, size, root, begins, uneven), machine + line + "\n", folder)
    if got != want:
        return f"seed {seed}: {line} of {p} ranks, {size} bytes, root {root}: {got}, as messages {want}"
    return ""


def main():
    first, count, wrong = int(sys.argv[1]), int(sys.argv[2]), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            line = check(seed, folder)
            if line:
                print(line, flush=True)
                wrong += 1
    print(f"{count} schedules checked, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
