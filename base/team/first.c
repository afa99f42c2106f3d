/* SPDX-License-Identifier: BSD-3-Clause */
#include "first.h"

#include <sys/stat.h>

#include "launcher.h"

bool
is_left_to_first(const char *file)
{
	struct stat status;
	int rank, size;

	return launcher_tells(&rank, &size) && rank > 0 && size > 1 && file != NULL && stat(file, &status) == 0 &&
	    S_ISDIR(status.st_mode);
}
