/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that a command puts in front of those of the program that it starts. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* liblongpole-NAME.so, beside the folder of this command: ../lib. Dies where there is none. */
void preload_find(const char *name, char *path, size_t size);
/* Adds it to LD_PRELOAD, in front of what is there or behind it. */
void preload_add(const char *library, bool in_front);

#endif
