/* SPDX-License-Identifier: BSD-3-Clause */
/* What the trace is written by, as one stream or in shards. */
#ifndef MERGE_OUTPUT_H
#define MERGE_OUTPUT_H

#include "merge.h"

struct output;

struct output *output_begin(struct input *input);
void output_end(struct output *output);
/* The definitions; places in the program get their names only where NAMES. */
void output_define(struct output *output, struct writer *out, bool names);
/* Where blocks go from now on, with its header; the caller ends it. */
struct writer *output_open(struct output *output, int fd, int argc, char **argv);
/* The blocks of the ranks in SHARD, with OF by rank; NULL: of all. */
void output_blocks(struct output *output, const uint32_t *of, uint32_t shard);

#endif
