/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a path that were found apart, as streams, become the whole path. */
#ifndef JOIN_H
#define JOIN_H

#include "path.h"

/*
 * Reads the segments of the COUNT files in order; each must go on where the one before ends. What they
 * know of the path by function adds up.
 */
void join_read(struct path *path, char **files, int count, struct functions *functions);

#endif
