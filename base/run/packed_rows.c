/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed.h"

#include <string.h>

#include "../tool/spill.h"
#include "../tool/tool.h"

/* Bytes of a packed number, and the words of a row that are its times. */
enum { MOST_BYTES = 10, ENTER = 0, LEAVE = 1 };

struct row_shape
row_shape(size_t row_bytes, unsigned wide)
{
	const unsigned words = (unsigned)(row_bytes / sizeof(uint64_t));

	if (words > MOST_WORDS)
		die("rows of %zu bytes: a fault of this program", row_bytes);
	return (struct row_shape){ words, (2 * words + 7) / 8, 1u << ENTER | 1u << LEAVE |
	    ((1u << wide) - 1) << sizeof(struct row) / sizeof(uint64_t) };
}

/*
 * A row consists of words of 8 bytes, each with one field or two halves. A packed row marks the
 * fields that differ from the row before. Each has its difference from the field's last value
 * other than 0, so that fields that only some rows have stay small. A leave counts from its enter,
 * an enter from the leave before.
 */
struct before {
	uint64_t word[MOST_WORDS];
	uint64_t last[2 * MOST_WORDS];	/* by field */
};

static inline uint8_t *
put_number(uint8_t *to, uint64_t value, uint64_t last)
{
	uint64_t n = fold_sign((int64_t)(value - last));

	if (value == 0) {
		*to++ = 1;
		return to;
	}
	*to++ = (uint8_t)((n & 0x3f) << 1 | (uint64_t)(n > 0x3f) << 7);
	for (n >>= 6; n > 0; n >>= 7)
		*to++ = (uint8_t)((n & 0x7f) | (uint64_t)(n > 0x7f) << 7);
	return to;
}

static inline const uint8_t *
get_number(const uint8_t *from, uint64_t *value, uint64_t last)
{
	uint64_t n = (uint64_t)(*from >> 1 & 0x3f);

	if (*from == 1) {
		*value = 0;
		return from + 1;
	}
	for (unsigned shift = 6; *from++ & 0x80; shift += 7)
		n |= (uint64_t)(*from & 0x7f) << shift;
	*value = last + (uint64_t)unfold_sign(n);
	return from;
}

static inline uint32_t
changed_fields(const struct row_shape *shape, const uint64_t *word, const struct before *before,
    unsigned words)
{
	uint32_t changed = 0;

	for (unsigned w = 0; w < words; w++) {
		const uint64_t bits = word[w] ^ before->word[w];

		if (bits != 0)
			changed |= (shape->wide >> w & 1 ? 1u :
			    ((uint32_t)bits != 0) | (uint32_t)(bits >> 32 != 0) << 1) << 2 * w;
	}
	return changed;
}

/* Returns the number of bytes at TO. If WORDS is a constant, the loops are unrolled. */
static inline __attribute__((always_inline)) size_t
pack_words(const struct row_shape *shape, uint8_t *to, const char *rows, size_t count,
    const unsigned words)
{
	const uint8_t *begin = to;
	struct before before = { 0 };
	uint64_t word[MOST_WORDS];

	for (; count > 0; count--, rows += words * sizeof *word) {
		uint32_t changed;

		memcpy(word, rows, words * sizeof *word);
		word[LEAVE] -= word[ENTER];
		changed = changed_fields(shape, word, &before, words);
		memcpy(to, &changed, shape->mark_bytes);
		to += shape->mark_bytes;
		for (; changed != 0; changed &= changed - 1) {
			const unsigned f = (unsigned)__builtin_ctz(changed), w = f / 2;
			const uint64_t value = shape->wide >> w & 1 ? word[w] :
			    (uint32_t)(word[w] >> 32 * (f % 2));

			to = put_number(to, value, before.last[f]);
			before.last[f] = value != 0 ? value : before.last[f];
			before.word[w] = word[w];
		}
		before.last[2 * ENTER] = word[ENTER] + word[LEAVE];
	}
	return (size_t)(to - begin);
}

/* The reverse. */
static inline __attribute__((always_inline)) void
unpack_words(const struct row_shape *shape, const uint8_t *from, char *rows, size_t count,
    const unsigned words)
{
	struct before before = { 0 };

	for (char *row = rows; count > 0; count--, row += words * sizeof(uint64_t)) {
		uint32_t changed = 0;

		memcpy(&changed, from, shape->mark_bytes);
		from += shape->mark_bytes;
		for (; changed != 0; changed &= changed - 1) {
			const unsigned f = (unsigned)__builtin_ctz(changed), w = f / 2,
			    shift = 32 * (f % 2);
			uint64_t value;

			from = get_number(from, &value, before.last[f]);
			before.last[f] = value != 0 ? value : before.last[f];
			before.word[w] = shape->wide >> w & 1 ? value : (before.word[w] &
			    ~((uint64_t)UINT32_MAX << shift)) | (value & UINT32_MAX) << shift;
		}
		memcpy(row, before.word, words * sizeof(uint64_t));
		before.last[2 * ENTER] = before.word[ENTER] + before.word[LEAVE];
		memcpy(row + LEAVE * sizeof(uint64_t), &before.last[2 * ENTER], sizeof(uint64_t));
	}
}

enum { USUAL_WORDS = 8, MANY_WORDS = 12 };	/* the rows of lp-critpath and of lp-imbalance */

size_t
rows_most_bytes(const struct row_shape *shape, size_t count)
{
	return count * (shape->mark_bytes + 2 * (size_t)shape->words * MOST_BYTES);
}

size_t
rows_pack(const struct row_shape *shape, uint8_t *to, const char *rows, size_t count)
{
	switch (shape->words) {
	case USUAL_WORDS: return pack_words(shape, to, rows, count, USUAL_WORDS);
	case MANY_WORDS: return pack_words(shape, to, rows, count, MANY_WORDS);
	default: return pack_words(shape, to, rows, count, shape->words);
	}
}

void
rows_unpack(const struct row_shape *shape, const uint8_t *from, char *rows, size_t count)
{
	switch (shape->words) {
	case USUAL_WORDS: unpack_words(shape, from, rows, count, USUAL_WORDS); break;
	case MANY_WORDS: unpack_words(shape, from, rows, count, MANY_WORDS); break;
	default: unpack_words(shape, from, rows, count, shape->words);
	}
}
