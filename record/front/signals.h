/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program sets and asks for SIGBUS goes to a recorder that handles that signal for itself. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* As sigaction() of SIGBUS; NULL: nobody handles it. */
extern int (*_Atomic longpole_bus_action)(const struct sigaction *, struct sigaction *);

/* The C library's own sigaction, by a name that no other definition hides. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);

#endif
