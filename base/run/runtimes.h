/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions of thread runtimes and of the C library wait for other threads. */
#ifndef RUNTIMES_H
#define RUNTIMES_H

#include "definitions.h"

/* How a place was recognised as waiting for threads. */
enum waiting { NOT_WAITING, WAITING_BY_FUNCTION, WAITING_BY_MODULE, WAITING_IN_C_LIBRARY };

/* In a stripped runtime all functions without a name count as waiting. */
enum waiting waiting_at(const struct definitions *known, uint32_t site);
/*
 * May it be a place of the C library for any system call, such as syscall()? Runtimes and waiting
 * functions call it to wait, others for other things.
 */
bool is_system_call(const struct definitions *known, uint32_t site);
/* Has a runtime or a waiting function called it to wait? */
enum waiting waiting_below(const struct definitions *known, uint32_t site, uint32_t callers);
/* Off its core there, did the thread perhaps wait? Its callers do not say it. */
bool may_wait_below(const struct definitions *known, uint32_t site, uint32_t callers);

#endif
