/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AFL++ calls this for each input before it runs it. Streams get correct hashes and an end with the
 * right number of bytes, so that readers behind the first check are reached. One input in eight
 * stays as is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct mutator {
	unsigned char *bytes;
	size_t capacity;
	unsigned count;
};

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_post_process(void *data, unsigned char *in, size_t size, unsigned char **out);
void afl_custom_deinit(void *data);

void *
afl_custom_init(void *afl, unsigned seed)
{
	(void)afl;
	(void)seed;
	return calloc(1, sizeof(struct mutator));
}

/* Every hash covers the bytes since the previous one; see trace.5, INTEGRITY. */
static void
repair(unsigned char *bytes, size_t size)
{
	static const unsigned char key[] = { 0xa4, 'x', 'x', 'h', '3', 0xcf };
	unsigned char *begin = bytes, *found;

	while ((found = memmem(begin, size - (size_t)(begin - bytes), key, sizeof key)) != NULL &&
	    found + sizeof key + 8 <= bytes + size) {
		uint64_t hash = XXH3_64bits(begin, (size_t)(found - begin) + sizeof key - 1);

		for (int i = 0; i < 8; i++)
			found[sizeof key + (size_t)i] = (unsigned char)(hash >> (56 - 8 * i));
		begin = found + sizeof key + 8;
	}
}

size_t
afl_custom_post_process(void *data, unsigned char *in, size_t size, unsigned char **out)
{
	struct mutator *m = data;

	if (size > m->capacity) {
		unsigned char *more = realloc(m->bytes, 2 * size);

		if (more == NULL)
			return 0;
		m->bytes = more;
		m->capacity = 2 * size;
	}
	memcpy(m->bytes, in, size);
	if (m->count++ % 8 != 0 && size > 0)
		repair(m->bytes, size);
	*out = m->bytes;
	return size;
}

void
afl_custom_deinit(void *data)
{
	struct mutator *m = data;

	free(m->bytes);
	free(m);
}
