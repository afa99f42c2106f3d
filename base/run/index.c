/* SPDX-License-Identifier: BSD-3-Clause */
#include "index.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../stream/tail.h"
#include "../tool/tool.h"
#include "shard_files.h"

enum {				/* entries; even, because every second one is dropped */
	MOST_ENTRIES = INDEX_ROWS,
	SHARD_ENTRIES = 1 << 12,
};

static const char *const entry_keys[] = { "rows", "from", "before", "at" };
enum { KEYS = sizeof entry_keys / sizeof entry_keys[0] };

_Static_assert(sizeof(struct index_entry) == KEYS * sizeof(uint64_t), "an entry is its columns");

void
index_begin(struct index *index, uint32_t shards)
{
	*index = (struct index){ .step = 1, .most = shards > 1 ? SHARD_ENTRIES : MOST_ENTRIES };
	index->entries = zalloc(index->most, sizeof *index->entries);
}

void
index_add(struct index *index, struct index_entry entry)
{
	if (++index->syncs % index->step != 0)
		return;
	if (index->count == index->most) {
		index->count /= 2;
		for (size_t i = 0; i < index->count; i++)
			index->entries[i] = index->entries[2 * i + 1];
		index->step *= 2;
		return;		/* this entry is at an odd multiple of the old step */
	}
	index->entries[index->count++] = entry;
}

void
index_settle(struct index *index, uint64_t offset)
{
	for (size_t i = index->count; i > 0 && index->entries[i - 1].at == 0; i--)
		index->entries[i - 1].at = offset;
}

int
index_write(const struct index *index, struct writer *out)
{
	uint64_t *column = zalloc(index->count, sizeof *column);

	out->index_offset = writer_offset(out);
	message_begin(out, "index", 4 + KEYS);
	put_uint(out, "count", index->count);
	put_uint(out, "syncs", index->syncs);
	put_uint(out, "step", index->step);
	put_uint(out, "defined", index->defined);
	for (size_t k = 0; k < KEYS; k++) {
		for (size_t i = 0; i < index->count; i++)
			column[i] = ((const uint64_t *)&index->entries[i])[k];
		put_column(out, entry_keys[k], column, index->count);
	}
	free(column);
	return message_end(out);
}

/* Checks what a reader can check without the stream: that entries follow each other. */
static bool
is_plausible(const struct index *index, uint64_t offset)
{
	struct index_entry last = { 0 };

	if (index->step == 0 || index->syncs >= offset || index->defined == 0 ||
	    index->defined >= offset || index->count > index->syncs / index->step)
		return false;
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];

		if (e->rows < last.rows || e->from < last.from || e->at <= last.at ||
		    e->from >= e->at || e->at >= offset || e->before < last.before ||
		    e->before >= (i + 1) * index->step)
			return false;
		last = *e;
	}
	return index->rows >= last.rows;
}

static bool
add(uint64_t *sum, uint64_t value)
{
	return !__builtin_add_overflow(*sum, value, sum);
}

/* Adds the index of one shard to that of others, which must have the same points. */
static bool
add_index(struct index *index, struct tail *tail, bool first)
{
	uint64_t syncs, step, defined, *column;
	bool added;

	if (body_uint(NULL, &tail->index, "syncs", &syncs) < 0 ||
	    body_uint(NULL, &tail->index, "step", &step) < 0 ||
	    body_uint(NULL, &tail->index, "defined", &defined) < 0 ||
	    !add(&index->defined, defined) || !add(&index->rows, tail->rows))
		return false;
	if (first) {
		index->syncs = syncs;
		index->step = step;
		index->count = tail->count;
		index->entries = zalloc(index->count, sizeof *index->entries);
	} else if (syncs != index->syncs || step != index->step || tail->count != index->count)
		return false;
	column = zalloc(index->count, sizeof *column);
	added = true;
	for (size_t k = 0; k < KEYS && added; k++) {
		added = tail_column(tail, entry_keys[k], column) == 0;
		for (size_t i = 0; i < index->count && added; i++)
			added = add(&((uint64_t *)&index->entries[i])[k], column[i]);
	}
	free(column);
	return added;
}

static bool
add_file(struct index *index, const char *file, bool first, uint64_t *offset)
{
	struct tail tail;
	const bool added = tail_open(&tail, file) && add_index(index, &tail, first) &&
	    add(offset, tail.offset);

	tail_close(&tail);
	return added;
}

/* Adds the indexes of a folder's shards; their reader checks that none is missing. */
static bool
add_folder(struct index *index, const char *folder, uint64_t *offset)
{
	char *path, name[SHARD_NAME];
	bool added = true, there = true;

	for (uint32_t number = 0; added && there; number++) {
		shard_name(name, number);
		path = formatted("%s/%s", folder, name);
		there = access(path, F_OK) == 0;
		if (there || number == 0)
			added = add_file(index, path, number == 0, offset);
		free(path);
	}
	return added;
}

bool
index_read(struct index *index, const char *file)
{
	struct stat status;
	uint64_t offset = 0;

	*index = (struct index){ 0 };
	/* A pipe must not be opened, either: it gives its bytes only once. */
	if (file == NULL || stat(file, &status) < 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return false;
	return (S_ISDIR(status.st_mode) ? add_folder(index, file, &offset) :
	    add_file(index, file, true, &offset)) && is_plausible(index, offset);
}

void
index_free(struct index *index)
{
	free(index->entries);
	index->entries = NULL;
}
