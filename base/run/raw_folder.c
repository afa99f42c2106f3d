/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw_folder.h"

#include <string.h>

int
is_raw_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "rank.", 5) == 0 && entry->d_name[5] != '\0' &&
	    strspn(entry->d_name + 5, "0123456789") == strlen(entry->d_name + 5);
}
