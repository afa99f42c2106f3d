#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/otf2_more.py FOLDER: an OTF2 archive by OTF2's own Python writer, with events missing in otf2_planted.py

Two ranks on two hosts: an access and an exposure epoch, a lock, a file of MPI and another file, a user phase, and a
second thread that completes requests of the first.
"""
import sys

import otf2
from otf2.enums import (GroupType, IoAccessMode, IoCreationFlag, IoOperationFlag, IoOperationMode, IoParadigmClass,
                        IoParadigmFlag, IoStatusFlag, LockType, Paradigm, RegionFlag, RmaSyncLevel, SystemTreeDomain)


def main(folder):
    with otf2.writer.open(folder, timer_resolution=10**9) as archive:
        new = archive.definitions
        machine = new.system_tree_node("cluster", class_name="machine")
        hosts = [new.system_tree_node(f"host{h}", class_name="node", parent=machine) for h in range(2)]
        sockets = [new.system_tree_node(f"socket{h}", class_name="socket", parent=host)
                   for h, host in enumerate(hosts)]
        new.system_tree_node_domain(hosts[0], SystemTreeDomain.SHARED_MEMORY)
        groups = [new.location_group(f"rank {r}", system_tree_parent=sockets[r]) for r in range(2)]
        threads = [new.location(f"rank {r}", group=groups[r]) for r in range(2)]
        extra = new.location("second thread", group=groups[0])

        def group(members, kind=GroupType.COMM_GROUP):
            return new.group("", group_type=kind, paradigm=Paradigm.MPI, members=members)

        group(threads, GroupType.COMM_LOCATIONS)
        world = new.comm("MPI_COMM_WORLD", group=group(threads))
        other = group([threads[1]]), group([threads[0]])
        window = new.rma_win("window", comm=world)
        mpi_io = new.io_paradigm("MPI-IO", "MPI I/O", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE)
        posix = new.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE)
        file = new.io_regular_file("out.dat", scope=machine)
        handle = new.io_handle("out.dat", file=file, io_paradigm=mpi_io, comm=world)
        plain = new.io_handle("log", file=file, io_paradigm=posix)
        regions = {}

        def region(name, **more):
            if name not in regions:
                regions[name] = new.region(name, **{"paradigm": Paradigm.MPI, **more})
            return regions[name]

        writers = [archive.event_writer_from_location(t) for t in threads + [extra]]

        def call(rank, name, begin, end, *events):
            writers[rank].enter(1000 + begin, region(name))
            for event in events:
                event(writers[rank], 1000 + end)
            writers[rank].leave(1000 + end, region(name))

        step = dict(paradigm=Paradigm.USER, region_flags=RegionFlag.PHASE, source_file="app.c", begin_line_number=5)
        level = RmaSyncLevel.PROCESS
        for r in range(2):
            call(r, "MPI_Init", 0, 10)
            call(r, "MPI_Win_create", 20, 30, lambda w, t: w.rma_win_create(t, window))
        writers[0].enter(1035, region("step", **step))
        call(1, "MPI_Win_post", 40, 42, lambda w, t: w.rma_group_sync(t, level, window, other[1]))
        call(0, "MPI_Win_start", 40, 44, lambda w, t: w.rma_group_sync(t, level, window, other[0]))
        call(0, "MPI_Put", 46, 47, lambda w, t: w.rma_put(t, window, 1, 64, 1))
        call(0, "MPI_Win_complete", 50, 52, lambda w, t: w.rma_group_sync(t, level, window, other[0]))
        call(1, "MPI_Win_wait", 50, 60, lambda w, t: w.rma_group_sync(t, level, window, other[1]))
        writers[0].leave(1061, region("step", **step))
        call(0, "MPI_Win_lock", 62, 63, lambda w, t: w.rma_request_lock(t, window, 1, 0, LockType.EXCLUSIVE),
             lambda w, t: w.rma_acquire_lock(t, window, 1, 0, LockType.EXCLUSIVE))
        call(0, "MPI_Win_unlock", 64, 65, lambda w, t: w.rma_release_lock(t, window, 1, 0))
        call(1, "MPI_File_open", 70, 72, lambda w, t: w.io_create_handle(
            t, handle, IoAccessMode.WRITE_ONLY, IoCreationFlag.NONE, IoStatusFlag.NONE))
        call(1, "MPI_File_write", 74, 80, lambda w, t: w.io_operation_begin(
            t, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, 100, 7),
             lambda w, t: w.io_operation_complete(t, handle, 90, 7))
        call(1, "MPI_File_iread", 81, 82, lambda w, t: w.io_operation_begin(
            t, handle, IoOperationMode.READ, IoOperationFlag.NON_BLOCKING, 50, 8),
             lambda w, t: w.io_operation_issued(t, handle, 8))
        call(1, "MPI_Wait", 83, 84, lambda w, t: w.io_operation_complete(t, handle, 50, 8))
        writers[1].io_destroy_handle(1085, plain)
        call(1, "MPI_File_close", 86, 87, lambda w, t: w.io_destroy_handle(t, handle))
        call(1, "MPI_Send", 88, 89, lambda w, t: w.mpi_send(t, 0, world, 3, 16))
        call(0, "MPI_Irecv", 88, 89, lambda w, t: w.mpi_irecv_request(t, 5))
        call(2, "MPI_Wait", 90, 95, lambda w, t: w.mpi_irecv(t, 1, world, 3, 16, 5))
        for r in range(2):
            call(r, "MPI_Finalize", 96, 99)


if __name__ == "__main__":
    main(sys.argv[1])
