/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw traces on disks that only some of the team see. */
#ifndef MERGE_OWN_FILES_H
#define MERGE_OWN_FILES_H

#include "../base/team/team.h"
#include "merge.h"

/*
 * Where not all see the same files, input->files become those that this process is to read, and input->holders the
 * size of the team. Dies where nobody sees any.
 */
void divide_files(struct input *input, const struct team *team);
/* Who reads the blocks of other processes' ranks gets copies of their traces, which input->ranks name from now on. */
void files_to_all(struct input *input, const struct team *team);

#endif
