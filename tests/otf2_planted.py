#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/otf2_planted.py FOLDER: an OTF2 archive by OTF2's own Python writer, to test lp-import

Four ranks of two communicators, a second thread on rank 0, clocks in ticks of 0.1 us:
a late sender (rank 1 waits 400 us for rank 0), non-blocking receives of a wildcard and a sendrecv,
a broadcast, a late arrival at a barrier (rank 3 by 500 us), a non-blocking reduction, and a cancelled
receive.
"""
import sys

import otf2
from otf2.enums import (CollectiveOp, CommFlag, GroupFlag, GroupType, LocationGroupType,  # noqa: F401
                        LocationType, Paradigm, RegionRole)

TICKS = 10_000_000     # a second
RANKS = 4


def main(folder):
    with otf2.writer.open(folder, timer_resolution=TICKS) as archive:
        definitions = archive.definitions
        node = definitions.system_tree_node("node")
        groups = [definitions.location_group(f"rank {r}", system_tree_parent=node) for r in range(RANKS)]
        threads = [definitions.location(f"thread of {r}", group=groups[r]) for r in range(RANKS)]
        extra = definitions.location("second thread of 0", group=groups[0])
        regions = {}

        def region(name, paradigm=Paradigm.MPI):
            if name not in regions:
                regions[name] = definitions.region(name, paradigm=paradigm, source_file="src/app.c",
                                                   begin_line_number=7)
            return regions[name]

        definitions.group("all", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                          members=threads)
        world = definitions.comm("MPI_COMM_WORLD", group=definitions.group(
            "world", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=threads))
        odd = definitions.comm("odd", group=definitions.group(
            "odd", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
            members=[threads[1], threads[3]]))
        start = 1_000_000
        writers = [archive.event_writer_from_location(t) for t in threads]

        def call(rank, name, begin, end, *events):
            """A call in microseconds, with its events between."""
            writer = writers[rank]
            writer.enter(start + 10 * begin, region(name))
            for event in events:
                event(writer, start + 10 * end)
            writer.leave(start + 10 * end, region(name))

        for r in range(RANKS):
            writers[r].enter(start, region("main", Paradigm.COMPILER))
            call(r, "MPI_Init", 0, 100)
        # Late sender: the receive of rank 1 waits from 200 to 600.
        call(0, "MPI_Send", 600, 610, lambda w, t: w.mpi_send(t, 1, world, 5, 800))
        call(1, "MPI_Recv", 200, 612, lambda w, t: w.mpi_recv(t, 0, world, 5, 800))
        # Non-blocking, and a request that is only tested.
        call(1, "MPI_Irecv", 620, 621, lambda w, t: w.mpi_irecv_request(t, 77))
        call(0, "MPI_Isend", 630, 632, lambda w, t: w.mpi_isend(t, 1, world, 9, 64, 12))
        call(1, "MPI_Test", 625, 626, lambda w, t: w.mpi_request_test(t, 77))
        call(0, "MPI_Wait", 640, 641, lambda w, t: w.mpi_isend_complete(t, 12))
        call(1, "MPI_Wait", 640, 645, lambda w, t: w.mpi_irecv(t, 0, world, 9, 64, 77))
        # Sendrecv between 2 and 3, from a function.
        for r, other in ((2, 3), (3, 2)):
            writers[r].enter(start + 1000, region("exchange", Paradigm.COMPILER))
            call(r, "MPI_Sendrecv", 200, 210, lambda w, t, o=other: w.mpi_send(t, o, world, 1, 8),
                 lambda w, t, o=other: w.mpi_recv(t, o, world, 1, 8))
            writers[r].leave(start + 2100, region("exchange", Paradigm.COMPILER))
        # A receive that is cancelled.
        call(2, "MPI_Irecv", 220, 221, lambda w, t: w.mpi_irecv_request(t, 3))
        call(2, "MPI_Wait", 222, 223, lambda w, t: w.mpi_request_cancelled(t, 3))
        # A broadcast among the odd ones, its root 1 there is rank 3.
        for r, begin in ((1, 700), (3, 690)):
            call(r, "MPI_Bcast", begin, 720, lambda w, t: w.mpi_collective_begin(t),
                 lambda w, t, r=r: w.mpi_collective_end(t, CollectiveOp.BCAST, odd, 1,
                                                        24 if r == 3 else 0, 24))
        # A barrier at which rank 3 is 500 us late; a metric and a thread that are not taken.
        for r in range(RANKS):
            call(r, "MPI_Barrier", 1500 if r == 3 else 1000, 1510, lambda w, t: w.mpi_collective_begin(t),
                 lambda w, t: w.mpi_collective_end(t, CollectiveOp.BARRIER, world, 2**32 - 1, 0, 0))
        # A reduction in the background.
        for r in range(RANKS):
            call(r, "MPI_Iallreduce", 1600, 1601,
                 lambda w, t: w.non_blocking_collective_request(t, 900))
            call(r, "MPI_Wait", 1700, 1710, lambda w, t: w.non_blocking_collective_complete(
                t, CollectiveOp.ALLREDUCE, world, 2**32 - 1, 8, 8, 900))
        for r in range(RANKS):
            call(r, "MPI_Finalize", 1800, 1810)
            writers[r].leave(start + 19000, region("main", Paradigm.COMPILER))
        second = archive.event_writer_from_location(extra)
        second.buffer_flush(start, start + 1)
        second.enter(start + 7000, region("MPI_Recv"))
        second.leave(start + 7001, region("MPI_Recv"))


if __name__ == "__main__":
    main(sys.argv[1])
