/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel counts of a thread: COUNTER(name, type and event of perf_event_open(2)). Their
 * order is that of the bits in the option that lp-record gives to its library.
 */
COUNTER(instructions, HARDWARE, HW_INSTRUCTIONS)
COUNTER(cycles, HARDWARE, HW_CPU_CYCLES)
COUNTER(task_clock, SOFTWARE, SW_TASK_CLOCK)
COUNTER(page_faults, SOFTWARE, SW_PAGE_FAULTS)
COUNTER(migrations, SOFTWARE, SW_CPU_MIGRATIONS)
