# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 computes for long before what the others wait for, in Python with mpi4py."""
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


def exchange(step):
    if sys.argv[1] == "py_allreduce":
        world.allreduce(step)
    elif world.rank == 1:
        world.send(step, 0)
    else:
        world.recv(source=1)


for step in range(20):
    compute(0.015 if world.rank == 1 else 0.002)
    exchange(step)
