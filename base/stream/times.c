/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times are nearly all of a compressed trace, and their low bits are noise. So each time is split
 * into a code, which gives its size to within an eighth, and the bits below, which stay as they
 * are. The codes of a call site have frequencies of their own, so they stand together.
 */
#include "times.h"

#include <stdlib.h>
#include <string.h>

enum {
	EXACT = 16,		/* smaller values are their own codes */
	EIGHTHS = 24,		/* bits of the largest values that have codes for eighths */
	LAST_EIGHTH = EXACT + 8 * (EIGHTHS - 4),	/* the code behind those */
	CODES = LAST_EIGHTH + 64 - EIGHTHS,
	GROUP = 500,		/* least number of codes that get frequencies of their own */
};

uint32_t *
rows_by_site(const struct calls *calls)
{
	const size_t n = calls->count;
	uint32_t *rows = malloc((n + 1) * sizeof *rows), *other = malloc((n + 1) * sizeof *other);
	uint32_t most = 0;

	if (rows == NULL || other == NULL) {
		free(rows);
		free(other);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		rows[i] = (uint32_t)i;
		most |= calls->site[i];
	}
	/* Radix sort, lowest byte first. */
	for (unsigned shift = 0; shift < 32 && most >> shift != 0; shift += 8) {
		size_t begins[257] = { 0 };
		uint32_t *sorted = other;

		for (size_t i = 0; i < n; i++)
			begins[(calls->site[rows[i]] >> shift & 255) + 1]++;
		for (int i = 0; i < 256; i++)
			begins[i + 1] += begins[i];
		for (size_t i = 0; i < n; i++)
			sorted[begins[calls->site[rows[i]] >> shift & 255]++] = rows[i];
		other = rows;
		rows = sorted;
	}
	free(other);
	return rows;
}

/* ---- coding ---- */

struct coder {
	struct coded_times *to;
	uint64_t held;		/* bits not written yet */
	unsigned bits;		/* their number, below 32 */
};

/* At most 32 bits. */
static inline void
put_bits(struct coder *c, uint64_t value, unsigned bits)
{
	c->held |= (value & (((uint64_t)1 << bits) - 1)) << c->bits;
	c->bits += bits;
	if (c->bits >= 32) {
		const uint32_t low = (uint32_t)c->held;

		/* little-endian: reader.h */
		memcpy(c->to->bits + c->to->bit_bytes, &low, 4);
		c->to->bit_bytes += 4;
		c->held >>= 32;
		c->bits -= 32;
	}
}

static inline void
put_time(struct coder *c, uint64_t value)
{
	const unsigned length = 64 - (unsigned)__builtin_clzll(value | 1);
	unsigned char *code = &c->to->codes[c->to->code_bytes++];

	if (value < EXACT)
		*code = (unsigned char)value;
	else if (length <= EIGHTHS) {
		*code = (unsigned char)(EXACT + 8 * (length - 5) +
		    (unsigned)(value >> (length - 4) & 7));
		put_bits(c, value, length - 4);
	} else {
		*code = (unsigned char)(LAST_EIGHTH + length - EIGHTHS - 1);
		put_bits(c, value, length - 1 < 32 ? length - 1 : 32);
		if (length - 1 > 32)
			put_bits(c, value >> 32, length - 1 - 32);
	}
}

static uint64_t
gap_of(const struct calls *calls, size_t row)
{
	return row == 0 ? 0 : (uint64_t)(calls->enter_ns[row] - calls->leave_ns[row - 1]);
}

static uint64_t
duration_of(const struct calls *calls, size_t row)
{
	return (uint64_t)(calls->leave_ns[row] - calls->enter_ns[row]);
}

static bool
can_be_coded(const struct calls *calls)
{
	for (size_t i = 1; i < calls->count; i++)
		if (calls->call[i] == 0 ? calls->enter_ns[i] != calls->enter_ns[i - 1] ||
		    calls->leave_ns[i] != calls->leave_ns[i - 1] :
		    calls->enter_ns[i] < calls->leave_ns[i - 1])
			return false;
	return calls->count > 0 && calls->call[0] != 0;
}

static inline void
code_all(struct coder *c, const struct calls *calls, const uint32_t *rows,
    uint64_t (*time_of)(const struct calls *, size_t))
{
	struct coded_times *to = c->to;
	size_t begin = 0;

	for (size_t i = 0; i < calls->count; i++) {
		if (i == 0 || (i - begin >= GROUP && calls->count - i >= GROUP &&
		    calls->site[rows[i]] != calls->site[rows[i - 1]])) {
			if (to->cut_count < TIME_CUTS)
				to->cuts[to->cut_count++] = (uint32_t)to->code_bytes;
			begin = i;
		}
		if (calls->call[rows[i]] != 0)
			put_time(c, time_of(calls, rows[i]));
	}
}

int
times_code(const struct calls *calls, const uint32_t *rows, struct coded_times *coded)
{
	struct coder c = { .to = coded };

	*coded = (struct coded_times){ 0 };
	if (!can_be_coded(calls))
		return -1;
	coded->codes = malloc(2 * calls->count);
	coded->bits = malloc(2 * 8 * calls->count + 8);
	if (coded->codes == NULL || coded->bits == NULL) {
		times_free(coded);
		return -1;
	}
	code_all(&c, calls, rows, gap_of);
	code_all(&c, calls, rows, duration_of);
	/* Writes the last bits, with zeros up to a whole byte. */
	memcpy(c.to->bits + c.to->bit_bytes, &c.held, 4);
	c.to->bit_bytes += (c.bits + 7) / 8;
	return 0;
}

void
times_free(struct coded_times *coded)
{
	free(coded->codes);
	free(coded->bits);
	*coded = (struct coded_times){ 0 };
}

/* ---- decoding ---- */

struct decoder {
	const unsigned char *codes, *codes_end, *bits, *end;
	uint64_t held;
	unsigned ready;		/* bits in it */
	bool short_of;		/* codes or bits ran out, or a code does not exist */
};

static uint64_t
take_bits(struct decoder *d, unsigned bits)
{
	uint64_t value = 0;

	for (unsigned taken = 0; taken < bits; ) {
		const unsigned some = bits - taken < 32 ? bits - taken : 32;

		for (; d->ready < some; d->ready += 8) {
			d->short_of |= d->bits == d->end;
			d->held |= (d->bits < d->end ? (uint64_t)*d->bits++ : 0) << d->ready;
		}
		value |= (d->held & (((uint64_t)1 << some) - 1)) << taken;
		d->held >>= some;
		d->ready -= some;
		taken += some;
	}
	return value;
}

static int64_t
take_time(struct decoder *d)
{
	const unsigned code = d->codes < d->codes_end ? *d->codes++ : CODES;
	uint64_t value = 1;		/* without the bits below */
	unsigned bits;

	if (code < EXACT)
		return code;
	if (code < LAST_EIGHTH) {
		value = 8 + (code - EXACT) % 8;
		bits = 1 + (code - EXACT) / 8;
	} else
		bits = EIGHTHS + code - LAST_EIGHTH;
	if (code >= CODES) {
		d->short_of = true;
		return 0;
	}
	return (int64_t)(value << bits | take_bits(d, bits));
}

int
times_decode(struct calls *calls, const uint32_t *rows, int64_t begin_ns, struct bytes codes,
    struct bytes bits)
{
	const unsigned char *code = codes.at, *bit = bits.at;
	struct decoder d = { .codes = code, .codes_end = code + codes.size, .bits = bit,
	    .end = bit + bits.size };

	if (calls->count == 0 || calls->call[0] == 0)
		return -1;
	for (size_t i = 0; i < calls->count; i++)
		calls->enter_ns[rows[i]] = calls->call[rows[i]] != 0 ? take_time(&d) : 0;
	for (size_t i = 0; i < calls->count; i++)
		calls->leave_ns[rows[i]] = calls->call[rows[i]] != 0 ? take_time(&d) : 0;
	for (size_t i = 1; i < calls->count; i++)
		if (calls->call[i] == 0)
			calls->leave_ns[i] = calls->leave_ns[i - 1];
	calls->enter_ns[0] = begin_ns;
	return d.short_of || d.codes != d.codes_end || d.bits != d.end || d.held != 0 ? -1 : 0;
}
