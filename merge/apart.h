/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw traces on disks that only some of the team see. */
#ifndef MERGE_APART_H
#define MERGE_APART_H

#include "../base/team/team.h"
#include "merge.h"

/* Each puts copies of its files where those see them who read them; for these input->ranks name the copies from now on. */
void files_to_all(struct input *input, const struct team *team);

#endif
