/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function of a run with samples; lp-critpath writes it by place, as sampled_path. */
#ifndef SAMPLED_PATH_H
#define SAMPLED_PATH_H

#include "definitions.h"

/* A function, or a name for the rest of the path such as not_sampled. */
struct function_time {
	const char *name, *file;	/* file NULL: unknown */
	int64_t path_ns, all_ns;	/* on the path; of all computation, by samples */
};

struct function_times {
	struct function_time *at;
	size_t count, capacity;		/* 0: the run was not sampled */
};

/* Adds the places of one message as functions. 0, or -1 with the reason in the reader. */
int sampled_path_read(struct function_times *functions, struct reader *in,
    const struct message *message, const struct definitions *known);
/* The texts of MORE live as long as the list. */
void function_times_add(struct function_times *functions, const struct function_time *more);
/* Joins functions with the same name and file name, and sorts by these. */
void function_times_fold(struct function_times *functions);
/* Compares two struct function_time. */
int function_times_compare(const void *left, const void *right);

#endif
