/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of 8 bytes, and data between them, as one process tells them to others. */
#ifndef MERGE_PACK_H
#define MERGE_PACK_H

#include <stddef.h>
#include <stdint.h>

struct pack {
	uint64_t *words;
	size_t count, capacity;
};

struct unpack {
	const uint64_t *words;
	size_t at, count;
};

void put(struct pack *p, uint64_t word);
void put_data(struct pack *p, const void *bytes, size_t size);
void put_text(struct pack *p, const char *text);	/* with its end; a NULL is no text */
uint64_t get(struct unpack *u);
void *get_data(struct unpack *u, size_t *size);		/* a copy; NULL where there is nothing */

/* An array of FIELD_count elements. */
#define PUT_ARRAY(p, of, field, count) put_data(p, (of)->field, (count) * sizeof *(of)->field)
#define GET_ARRAY(u, of, field, count) { \
		size_t bytes_; \
		(of)->field = get_data(u, &bytes_); \
		(of)->count = (__typeof__((of)->count))(bytes_ / sizeof *(of)->field); \
	}

#endif
