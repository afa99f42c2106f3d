/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <string.h>

/* The part of a path after the last slash; "" if PATH is NULL. */
static inline const char *
file_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

#endif
