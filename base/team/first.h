/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that a launcher may have started several times, though one process does the work. */
#ifndef FIRST_H
#define FIRST_H

#include <stdbool.h>

/* The input is a folder of shards, and this is not the first process: it has nothing to do. */
bool is_left_to_first(const char *file);

#endif
