/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function, for a run with samples; lp-critpath writes it by place, as sampled_path. */
#ifndef SAMPLED_PATH_H
#define SAMPLED_PATH_H

#include "definitions.h"

/* or what stands for the rest of the path, as not_sampled */
struct function_time {
	char *name, *file;		/* file NULL: not known */
	int64_t path_ns, all_ns;	/* on the path; of all computation, by samples */
};

struct function_times {
	struct function_time *at;
	size_t count, capacity;		/* 0: the run was not sampled */
};

/* The places of one message, as functions. 0, or -1 with the reason in the reader. */
int sampled_path_read(struct function_times *functions, struct reader *in,
    const struct message *message, const struct definitions *known);
/* A copy of MORE. */
void function_times_add(struct function_times *functions, const struct function_time *more);
/* Joins functions of one name and file, in any folder, and sorts by these. */
void function_times_fold(struct function_times *functions);
/* of struct function_time */
int function_times_compare(const void *left, const void *right);

#endif
