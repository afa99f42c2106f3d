/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtimes of threads: which of their functions wait for other threads. */
#ifndef RUNTIMES_H
#define RUNTIMES_H

#include "definitions.h"

/* How a place was recognised as waiting for threads. */
enum waiting { NOT_WAITING, WAITING_BY_FUNCTION, WAITING_BY_MODULE };

/* In a stripped runtime all functions without a name count as waiting. */
enum waiting waiting_at(const struct definitions *known, uint32_t site);

#endif
