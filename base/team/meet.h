/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a team that share nothing but a folder: no MPI, no network of their own. What one has to say is a
 * file there. Each member has input of its own, which the others do not see.
 */
#ifndef MEET_H
#define MEET_H

#include "team.h"

/*
 * The team as MEMBER of SIZE. From here on a child does the work and its parent waits for it: where a member
 * fails, by itself or by a signal, the others end, too, and only the first to fail says why.
 */
struct team meet_begin(const char *folder, int member, int size);
/* All have come here; then the folder goes. */
void meet_end(const struct team *team);

/* A copy of the file, for all, as NAME in the folder; its path there, to be freed. Goes with the folder. */
void meet_put_file(const struct team *team, const char *name, const char *file);
char *meet_file(const struct team *team, const char *name);

/* As those of team.h. */
void *meet_share(const struct team *team, const void *items, size_t count, size_t bytes, size_t *received);
void meet_copy(const struct team *team, void *data, size_t bytes);

#endif
