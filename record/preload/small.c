/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages are built on the stack, or, if too large, in allocated memory. */
#include <stdlib.h>

#include "file.h"
#include "pack.h"
#include "recorder.h"
#include "small.h"

enum {
	OWN_BYTES = 1000,
	KIND_BYTES = 3 * PACK_HEAD,	/* of a message, before its pairs, without the kind */
	TAIL_BYTES = 20,		/* the hash: "xxh3" and 64 bits */
};

struct built {
	unsigned char own[OWN_BYTES], *bytes;
	size_t size;
};

/* How many bytes of the value are copied as they are. */
static size_t
copied_bytes(const struct pair *pair)
{
	return pair->type == PAIR_BYTES ? (size_t)pair->number :
	    pair->type == PAIR_TEXT || pair->type == PAIR_TEXTS ? strlen(pair->bytes) : 0;
}

static void
put_pair(unsigned char **at, const struct pair *pair)
{
	const size_t size = copied_bytes(pair);

	put_text(at, pair->key);
	if (pair->type == PAIR_UINT || pair->type == PAIR_INT) {
		put_byte(at, pair->type == PAIR_UINT ? 0xcf : 0xd3);
		put_big(at, pair->number, 8);
	} else if (pair->type == PAIR_BYTES)
		put_bin_head(at, size);
	else if (pair->type == PAIR_TRUE)
		put_byte(at, 0xc3);
	else {
		if (pair->type == PAIR_TEXTS)
			put_array_head(at, 1);
		put_string_head(at, size);
	}
	if (size > 0)
		memcpy(*at, pair->bytes, size);
	*at += size;
}

/* Builds a message up to its hash. False: no memory. */
static bool
build(struct built *built, const char *kind, const struct pair *pairs)
{
	size_t most = KIND_BYTES + strlen(kind) + TAIL_BYTES, count = 0;
	unsigned char *at;

	for (const struct pair *pair = pairs; pair->type != PAIRS_END; pair++)
		if (pair->key != NULL) {
			most += strlen(pair->key) + 3 * PACK_HEAD + copied_bytes(pair);
			count++;
		}
	at = built->bytes = most <= OWN_BYTES ? built->own : malloc(most);
	if (at == NULL) {
		out_of_memory();
		return false;
	}
	put_array_head(&at, 2);
	put_text(&at, kind);
	put_map_head(&at, count + 1);
	for (const struct pair *pair = pairs; pair->type != PAIRS_END; pair++)
		if (pair->key != NULL)
			put_pair(&at, pair);
	built->size = (size_t)(at - built->bytes);
	return true;
}

static void
write_built(struct built *built)
{
	unsigned char *at = built->bytes + built->size;
	uint64_t hash;

	if (!recording || lost)
		return;
	put_text(&at, "xxh3");
	hash = hash_of(built->bytes, (size_t)(at - built->bytes));
	put_byte(&at, 0xcf);
	put_big(&at, hash, 8);
	built->size = (size_t)(at - built->bytes);
	if (!mapped_write(built->bytes, built->size))
		return;
	raw.now->tail += built->size;
	raw.now->messages++;
}

static void
free_built(struct built *built)
{
	if (built->bytes != built->own)
		free(built->bytes);
}

void
small_write(const char *kind, const struct pair *pairs)
{
	struct built built;

	if (!build(&built, kind, pairs))
		return;
	write_built(&built);
	free_built(&built);
}

void
small_append(const char *kind, const struct pair *pairs)
{
	struct built built;

	if (!build(&built, kind, pairs))
		return;
	pthread_mutex_lock(&raw.lock);
	write_built(&built);
	pthread_mutex_unlock(&raw.lock);
	free_built(&built);
}
