/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function: lists, and the forms that they are printed in. */
#ifndef FUNCTIONS_REPORT_H
#define FUNCTIONS_REPORT_H

#include "../base/path/functions.h"
#include "../base/tool/json.h"

/* functions_stacks.c */
extern const char *const other_names[KINDS];	/* of what is no computation; NULL: it is */
struct frames {
	struct stack_frame at[256];	/* the place itself first; their names are to be freed */
	size_t count;
};
struct frames frames_of(const struct definitions *known, const struct sampled *place);
/* Stacks with what they took, as flame graphs are made of: of the path, and of all time. */
void functions_stacks(struct text *out, const struct functions *functions,
    const struct definitions *known, bool speedscope);

/* functions_list.c */
enum by { BY_FUNCTION, BY_LINE };

/* One row of a report: samples by themselves, and with what was called. */
struct function {
	struct stack_frame frame;	/* of a function the line is where it is seen most */
	uint64_t all, samples;
	uint64_t all_inclusive, inclusive;
};

/* A list with what its shares are of. */
struct listed {
	const struct functions *of;
	struct on_path on_path;
	struct function *at;
	size_t count;
	int64_t path_ns;
	uint64_t all;		/* samples, 1 where there are none */
};

/* What is most on the path first. */
struct listed functions_list(const struct functions *functions, const struct definitions *known, enum by by);
void functions_list_free(struct listed *listed);
int functions_by_path(const void *left, const void *right);

/* functions_report.c */
void functions_text(struct text *out, const struct functions *functions,
    const struct definitions *known, bool all);
void functions_json(struct json *out, const struct functions *functions,
    const struct definitions *known);

#endif
