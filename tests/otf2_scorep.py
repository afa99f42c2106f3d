#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/otf2_scorep.py make FOLDER SEED RANKS STRETCHES: the run of tests/switched_run.py named, as Score-P would write it
tests/otf2_scorep.py check PATH RANKS SEED RANKS STRETCHES: lp-critpath's and lp-imbalance's regions of it; exit 1 if wrong

Regions of the user are named by SCOREP_USER_REGION: paradigm USER, with parameters. Around them are functions of the
program (COMPILER) and MPI's own regions; threads have their own locations, in parallel regions (OPENMP). No region
begins or ends within a call.
"""
import json
import os
import sys

import numpy
import otf2
from otf2.enums import (CollectiveOp, GroupType, LocationType, Paradigm, ParameterType, RegionFlag, RegionRole,
                        SystemTreeDomain)

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from switched_run import BEGIN, STEP, Run, ns  # noqa: E402 (the one beside this file)

EPOCH = 5_000_000_000


def named_run(numbers):
    run = Run(*numbers)
    run.name_regions()
    for (rank, worker), all_events in run.named.items():
        for i, (at, number) in enumerate(all_events):
            inside = [leave for _, enters, leave in run.stretches if worker == 0 and enters[rank] < at < leave]
            all_events[i] = (inside[0] if inside else min(at, run.end), number)
    return run


def check(run, by_path, by_rank):
    on_path, of_ranks = numpy.zeros(STEP + 1, int), numpy.zeros(STEP + 1, int)
    begun = [sum(n == number for events in run.named.values() for _, n in events) for number in range(1, STEP + 1)]
    for begin, enters, _ in run.stretches:
        for rank, enter in enumerate(enters):
            found = numpy.bincount(run.inside((rank, 0))[begin:enter], minlength=STEP + 1)
            of_ranks += found
            on_path += found * (enter == max(enters))
    def table(report, *keys):
        rows = {row["region"]: sum(ns(row[key]) for key in keys) for row in report["regions"]}
        return [rows.get("(none)" if n == 0 else "step" if n == STEP else f"r{n}", 0) for n in range(STEP + 1)]
    told = {row["region"]: row["instances"] for row in by_path["regions"] if row["instances"]}
    wanted = {"step" if n == STEP else f"r{n}": count for n, count in enumerate(begun, 1) if count}
    if told != wanted:
        sys.exit(f"instances {told} instead of {wanted}")
    if table(by_path, "compute_s") != on_path.tolist():
        sys.exit(f"path {table(by_path, 'compute_s')} instead of {on_path}")
    if sum(ns(row["path_s"]) for row in by_path["regions"]) != ns(by_path["path_s"]):
        sys.exit("the regions are not the path")
    if table(by_rank, "compute_s") != of_ranks.tolist():
        sys.exit(f"ranks {table(by_rank, 'compute_s')} instead of {of_ranks}")


def make(folder, run):
    with otf2.writer.open(folder, timer_resolution=10**9) as archive:
        new = archive.definitions
        machine = new.system_tree_node("machine Linux", class_name="machine")
        new.system_tree_node_domain(machine, SystemTreeDomain.MACHINE)
        node = new.system_tree_node("node1", class_name="node", parent=machine)
        new.system_tree_node_domain(node, SystemTreeDomain.SHARED_MEMORY)
        groups = [new.location_group(f"MPI Rank {r}", system_tree_parent=node) for r in range(run.ranks)]
        masters = [new.location("Master thread", type=LocationType.CPU_THREAD, group=g) for g in groups]
        places = {(r, 0): at for r, at in enumerate(masters)}
        for rank, worker in run.threads:
            if worker:
                places[rank, worker] = new.location(f"OMP thread {worker}", group=groups[rank])
        new.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=masters)
        new.group("", group_type=GroupType.LOCATIONS, paradigm=Paradigm.OPENMP, members=list(places.values()))
        world = new.comm("MPI_COMM_WORLD", group=new.group("", group_type=GroupType.COMM_GROUP,
                                                           paradigm=Paradigm.MPI, members=masters))
        user = [new.region("step" if n == STEP else f"r{n}", region_role=RegionRole.CODE, paradigm=Paradigm.USER,
                           region_flags=RegionFlag.DYNAMIC if n == STEP else RegionFlag.NONE, source_file="app.c",
                           begin_line_number=n) for n in range(1, STEP + 1)]
        function = new.region("main", region_role=RegionRole.FUNCTION, paradigm=Paradigm.COMPILER, source_file="app.c")
        parallel = new.region("!$omp parallel @app.c:30", region_role=RegionRole.PARALLEL, paradigm=Paradigm.OPENMP)
        mpi = {name: new.region(name, region_role=role, paradigm=Paradigm.MPI) for name, role in (
            ("MPI_Init", RegionRole.COLL_ALL2ALL), ("MPI_Barrier", RegionRole.BARRIER),
            ("MPI_Finalize", RegionRole.COLL_ALL2ALL))}
        number = new.parameter("iteration", parameter_type=ParameterType.INT64)
        for thread, location in places.items():
            events(run, thread, archive.event_writer_from_location(location), user, function, parallel, mpi, number, world)


def events(run, thread, writer, user, function, parallel, mpi, number, world):
    rank, worker = thread
    open_regions, step, todo = [], 0, list(run.named[thread])

    def regions(until, inclusive):
        """Begins and ends up to an instant."""
        nonlocal step
        while todo and (todo[0][0] < until or (inclusive and todo[0][0] == until)):
            at, name = todo.pop(0)
            if name:
                writer.enter(EPOCH + at, user[name - 1])
                step += name == STEP
                if name == STEP:
                    writer.parameter_int(EPOCH + at, number, step)
                open_regions.append(user[name - 1])
            else:
                writer.leave(EPOCH + at, open_regions.pop())

    def call(name, enter, leave):
        # A region that begins or ends within a call is around the events of it: an archive is nested, so it is cut.
        regions(enter, True)
        writer.enter(EPOCH + enter, mpi[name])
        if name == "MPI_Barrier":
            writer.mpi_collective_begin(EPOCH + enter)
            writer.mpi_collective_end(EPOCH + leave, CollectiveOp.BARRIER, world, 2**32 - 1, 0, 0)
        writer.leave(EPOCH + leave, mpi[name])

    writer.enter(EPOCH, function if worker == 0 else parallel)
    if worker == 0:
        call("MPI_Init", 0, BEGIN)
        for _, enters, leave in run.stretches:
            call("MPI_Barrier", enters[rank], leave)
        call("MPI_Finalize", run.end, run.end + 10)
    regions(run.end + 10, True)
    writer.leave(EPOCH + run.end + 10, function if worker == 0 else parallel)


if __name__ == "__main__":
    its = named_run(list(map(int, sys.argv[-3:])))
    if sys.argv[1] == "make":
        make(sys.argv[2], its)
    else:
        check(its, *(json.load(open(file, encoding="utf-8")) for file in sys.argv[2:4]))
