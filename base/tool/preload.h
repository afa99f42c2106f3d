/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that a command preloads into the program it starts. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Finds liblongpole-NAME.so in ../lib, relative to this command. Dies if there is none. */
void preload_find(const char *name, char *path, size_t size);
/* Adds it to LD_PRELOAD, before the present value or after it. */
void preload_add(const char *library, bool in_front);

#endif
