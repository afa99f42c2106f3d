/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WHY_H
#define WHY_H

/* Says in one line why no rank was recorded, by what the files that COMMAND names are. */
void say_why(char **command);

#endif
