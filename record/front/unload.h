/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorder is told when the program has closed a library, as another may come to the same addresses. */
#ifndef UNLOAD_H
#define UNLOAD_H

/* After each dlclose() of the program; NULL: nobody wants to know. */
extern void (*_Atomic longpole_unloaded)(void);

/* The C library's own. */
int close_library(void *handle);

#endif
