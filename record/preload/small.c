/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages are built on the stack, or, if too large, in allocated memory. */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "pack.h"
#include "small.h"

enum {
	OWN_BYTES = 1000,
	KIND_BYTES = 3 * PACK_HEAD,	/* of a message, before its pairs, without the kind */
	TAIL_BYTES = 20,		/* the hash: "xxh3" and 64 bits */
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

void
small_write(const char *kind, const struct pair *pairs)
{
	size_t most = KIND_BYTES + strlen(kind) + TAIL_BYTES, count = 0, size;
	unsigned char own[OWN_BYTES], *bytes, *at;
	uint64_t hash;

	for (const struct pair *pair = pairs; pair->type != PAIRS_END; pair++)
		if (pair->key != NULL) {
			most += strlen(pair->key) + 3 * PACK_HEAD + copied_bytes(pair);
			count++;
		}
	at = bytes = most <= OWN_BYTES ? own : zeroed(most);
	if (bytes == NULL)
		return;
	put_array_head(&at, 2);
	put_text(&at, kind);
	put_map_head(&at, count + 1);
	for (const struct pair *pair = pairs; pair->type != PAIRS_END; pair++)
		if (pair->key != NULL)
			put_pair(&at, pair);
	put_text(&at, "xxh3");
	hash = hash_of(bytes, (size_t)(at - bytes));
	put_byte(&at, 0xcf);
	put_big(&at, hash, 8);
	size = (size_t)(at - bytes);
	if (recording && !lost && mapped_write(bytes, size)) {
		raw.now->tail += size;
		raw.now->messages++;
	}
	if (bytes != own)
		free(bytes);
}

void
small_append(const char *kind, const struct pair *pairs)
{
	pthread_mutex_lock(&raw.lock);
	small_write(kind, pairs);
	pthread_mutex_unlock(&raw.lock);
}

/* ---- names of MPI functions, each written before the first row that has its number ---- */

_Atomic bool named[2 * NUMBER_COUNT];

static const char *const names[] = {
	"part",
#define CALL(Name, ...) "MPI_" #Name,
#define SPECIAL(Name, ...) "MPI_" #Name,
#define LARGE(Name, ...) "MPI_" #Name "_c",
#define DERIVED(number, name, class) name,
#include "../../base/mpi/call_table.h"
};

static void
put_name(uint16_t call)
{
	char error[80];

	if (named[call])
		return;
	if (call >= NUMBER_ERROR) {
		put_name(call - NUMBER_ERROR);		/* sites use this number */
		snprintf(error, sizeof error, "%s(error)", names[call - NUMBER_ERROR]);
	}
	small_write("call", PAIRS(
	    pair_uint("number", call),
	    pair_text("name", call >= NUMBER_ERROR ? error : names[call])));
	named[call] = true;		/* now rows of other threads may have it, too */
}

void
name_call(uint16_t call)
{
	pthread_mutex_lock(&raw.lock);
	put_name(call);
	pthread_mutex_unlock(&raw.lock);
}
