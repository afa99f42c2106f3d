/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/path/output.h"

enum algorithm { WALK, KAHN, DIJKSTRA, DELTA, INTERVALS };
/* The algorithm on a stretch, then the stretches: one after the other or in parallel. */
enum splits { UNSAID = -1, SEQ_SEQ, SEQ_PAR, PAR_SEQ, PAR_PAR };

struct options {
	enum algorithm algorithm;
	enum form form;
	enum splits splits;
	bool all, join, whole, distance;
	size_t memory;			/* bytes for rows; SIZE_MAX: unsaid */
	int list;			/* how many parts to list; 0: none */
	int part, parts;		/* solve this one, from 1, of so many; 0: the whole run */
	char **files;			/* with join several; NULL or "-": standard input */
	int file_count;
};

extern const char usage[];

struct options parse_options(int argc, char **argv);

#endif
