/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts records of one size: in memory, and beyond 4 MB in a temporary file. Memory: 4 MB, the same
 * again while a part is sorted, and 1/1024 of the file.
 */
#ifndef SORTER_H
#define SORTER_H

#include <stddef.h>

struct sorter_run;

struct sorter {
	size_t size;			/* of a record */
	int (*order)(const void *, const void *);	/* as for qsort; no two are equal */
	char *records;
	size_t count, room;		/* in memory */
	int fd;				/* -1: no record is in a file */
	struct sorter_run *runs;
	size_t run_count, run_capacity;
	struct sorter_run **heap;	/* runs not at their end */
	size_t heap_count, at;
};

void sorter_begin(struct sorter *sorter, size_t size, int (*order)(const void *, const void *));
void sorter_add(struct sorter *sorter, const void *record);
void sorter_sort(struct sorter *sorter);		/* after all records are added */
const void *sorter_peek(struct sorter *sorter);		/* the next record, or NULL; it stays */
void sorter_drop(struct sorter *sorter);		/* removes it */
void sorter_free(struct sorter *sorter);

#endif
