/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <string.h>

/* What is behind the last slash of a path; "" of no path. */
static inline const char *
file_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

#endif
