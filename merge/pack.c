/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"

void
put(struct pack *p, uint64_t word)
{
	p->words = grow(p->words, &p->capacity, p->count + 1, sizeof *p->words);
	p->words[p->count++] = word;
}

void
put_data(struct pack *p, const void *bytes, size_t size)
{
	const size_t words = (size + 7) / 8;

	put(p, size);
	p->words = grow(p->words, &p->capacity, p->count + words, sizeof *p->words);
	if (words > 0)
		p->words[p->count + words - 1] = 0;
	if (size > 0)
		memcpy(&p->words[p->count], bytes, size);
	p->count += words;
}

void
put_text(struct pack *p, const char *text)
{
	put_data(p, text, text == NULL ? 0 : strlen(text) + 1);
}

uint64_t
get(struct unpack *u)
{
	return u->words[u->at++];
}

void *
get_data(struct unpack *u, size_t *size)
{
	const size_t bytes = (size_t)get(u);
	void *copy = NULL;

	if (bytes > 0)
		memcpy(copy = zalloc(bytes, 1), &u->words[u->at], bytes);
	u->at += (bytes + 7) / 8;
	if (size != NULL)
		*size = bytes;
	return copy;
}
