/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FOLDER_H
#define FOLDER_H

/* Takes a folder away with all in it, as far as that can be done; links are not followed. */
void folder_remove(const char *folder);

#endif
