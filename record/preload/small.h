/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages of the raw trace: built by small.c, written by file.c. */
#ifndef SMALL_H
#define SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct small {			/* a message under construction; small_append ends it */
	unsigned char *bytes, own[1000];
	size_t size, capacity;
	bool full;		/* without memory: it is not written */
};
void small_begin(struct small *small, const char *kind, unsigned pairs);
void small_uint(struct small *small, const char *key, uint64_t value);
void small_int(struct small *small, const char *key, int64_t value);
void small_string(struct small *small, const char *key, const char *value);
void small_bytes(struct small *small, const char *key, const void *bytes, size_t size);
/* an array of one string */
void small_strings(struct small *small, const char *key, const char *only);
void small_true(struct small *small, const char *key);
void small_free(struct small *small);
void small_append(struct small *small);

#endif
