/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../run/index.h"
#include "../tool/search.h"
#include "core.h"

#define BEFORE(entry, sought) ((entry)->rows < (sought))
SEARCH(entry_at, struct index_entry, uint64_t, BEFORE)
#undef BEFORE

/* The entry with the number of rows before it closest to ROWS. */
static size_t
closest(const struct index *index, uint64_t rows)
{
	const size_t at = entry_at(index->entries, index->count, rows);

	return at == index->count || (at > 0 &&
	    rows - index->entries[at - 1].rows < index->entries[at].rows - rows) ? at - 1 : at;
}

struct border *
part_borders(const char *file, size_t count, uint64_t *parts, uint64_t *defined)
{
	struct border *borders = zalloc(count, sizeof *borders);
	struct index index;
	size_t next = 0;		/* the next entry for a border */

	*parts = 1;
	*defined = 0;
	if (count > 1 && index_read(&index, file)) {
		*defined = index.defined;
		for (size_t p = 1; p < count && index.count > 0; p++) {
			const uint64_t rows = (uint64_t)((double)index.rows *
			    (double)p / (double)count);
			const size_t at = closest(&index, rows);

			if (at < next || index.entries[at].rows == 0)
				continue;
			borders[(*parts)++] = (struct border){ index.entries[at].at,
			    index.entries[at].from };
			next = at + 1;
		}
		index_free(&index);
	}
	return borders;
}

/* An index may be wrong: no answer is better than a wrong one. */
static _Noreturn void
die_index(struct reader *in, uint64_t offset, const char *what)
{
	reader_fail(in, offset, "%s, contrary to the stream's index", what);
	die_input(in);
}

void
part_go(const struct part *part, struct reader *in)
{
	const uint64_t from = part->borders[part->first].from;

	if (!part->begun && reader_offset(in) > part->defined && reader_offset(in) < from)
		reader_jump(in, from);
}

bool
part_skips(const struct part *part, struct reader *in, const struct message *message)
{
	if (part->count > 1 && message->offset > part->defined && is_definition(message))
		die_index(in, message->offset, "a definition is here");
	return !part->begun &&
	    (message->offset < part->borders[part->first].from || is_kind(message, "settled"));
}

void
part_sync(struct imbalance *im, const struct message *message)
{
	struct part *part = im->part;
	const uint64_t begin = part->borders[part->first].at;

	if (!part->begun) {
		if (message->offset > begin)
			die_index(im->graph.in, message->offset,
			    "another synchronisation point is here");
		if (message->offset == begin) {
			order_start(im, message);
			part->begun = true;
		}
		return;
	}
	order_sync(im, message);
	if (part->end == part->count || message->offset < part->borders[part->end].at)
		return;
	if (message->offset > part->borders[part->end].at)
		die_index(im->graph.in, message->offset, "another synchronisation point is here");
	/* Nothing later refers to anything before. */
	if (im->at_point && open_is_empty(im) && one_sided_is_clear(im))
		part->ended = true;
	else
		part->end++;
}

void
part_check_end(const struct part *part, struct reader *in)
{
	if (!part->begun || part->end < part->count)
		die_index(in, reader_offset(in), "the stream ends here");
}
