/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information: what compilers say about each address in .eh_frame (DWARF, section 6.4,
 * as the Linux Standard Base uses it for exceptions), as far as struct frame_rule can hold it. The
 * bytes come from loaded objects, which the system trusts; lengths are checked all the same.
 */
#include <string.h>

#include "frames.h"

#if defined __x86_64__ || defined __aarch64__

/* ---- reading bytes and numbers ---- */

struct bytes {
	const unsigned char *at, *end;
	bool bad;		/* read beyond the end */
};

static uint64_t
take(struct bytes *b, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size);	/* little-endian */
	b->at += size;
	return value;
}

/*
 * LEB128: seven bits a byte, the low ones first. IS_SIGNED: the sign bit is the highest of the last
 * seven.
 */
static uint64_t
take_leb(struct bytes *b, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = take(b, 1);
		value |= shift < 64 ? (byte & 127) << shift : 0;
		shift += 7;
	} while (byte & 128);
	if (is_signed && shift < 64 && (byte & 64))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static uint64_t take_uleb(struct bytes *b) { return take_leb(b, false); }
static int64_t take_sleb(struct bytes *b) { return (int64_t)take_leb(b, true); }

/* register numbers */
#ifdef __x86_64__
enum { BASE = 6, STACK = 7, RETURN = 16 };
#else
enum { BASE = 29, STACK = 31, RETURN = 30 };
#endif

/* From the compiler's library: the frame description of the function at an address, or NULL. */
struct dwarf_eh_bases { void *text, *data, *function; };
const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

/* A pointer in the encoding of that byte; 0 if compilers do not use the encoding for code. */
static uintptr_t
take_pointer(struct bytes *b, unsigned encoding)
{
	const uintptr_t here = (uintptr_t)b->at;
	uintptr_t value = 0;

	switch (encoding & 0x0f) {
	case 0x00: case 0x04: case 0x0c: value = take(b, 8); break;
	case 0x03: value = take(b, 4); break;
	case 0x0b: value = (uintptr_t)(intptr_t)(int32_t)take(b, 4); break;
	default: b->bad = true;
	}
	if ((encoding & 0xf0) == 0x10)
		value += here;		/* relative to its own position */
	else if ((encoding & 0xf0) != 0)
		b->bad = true;
	return value;
}

/* ---- the description of a function: its FDE and the CIE, which many functions share ---- */

struct told {
	struct bytes first, program;	/* instructions of the CIE and of the FDE */
	uint64_t code_unit;
	int64_t data_unit;
	uintptr_t begin;
};

static bool
read_cie(const unsigned char *at, struct told *told, unsigned *encoding, bool *sized)
{
	struct bytes b = { at, at + 4, false };
	const uint64_t size = take(&b, 4);
	const char *text;
	unsigned version;

	if (size == 0 || size >= 0xffffffff)
		return false;
	b.end = b.at + size;
	if (take(&b, 4) != 0)		/* not a CIE */
		return false;
	version = (unsigned)take(&b, 1);
	text = (const char *)b.at;
	while (take(&b, 1) != 0)
		;
	told->code_unit = take_uleb(&b);
	told->data_unit = take_sleb(&b);
	if ((version == 1 ? take(&b, 1) : take_uleb(&b)) != RETURN)
		return false;
	*encoding = 0;
	*sized = *text == 'z';
	if (*sized) {
		const uint64_t more = take_uleb(&b);
		struct bytes of = { b.at, b.at + more, false };

		if (more > (uint64_t)(b.end - b.at))
			return false;
		b.at += more;
		for (text++; *text != '\0'; text++)
			switch (*text) {
			case 'R': *encoding = (unsigned)take(&of, 1); break;
			case 'L': take(&of, 1); break;
			case 'P': {
				const unsigned how = (unsigned)take(&of, 1);

				take_pointer(&of, how & 0x7f);
				break;
			}
			case 'B': break;		/* which key signs return addresses */
			default: return false;		/* 'S': a signal frame */
			}
		if (of.bad)
			return false;
	} else if (*text != '\0')
		return false;
	told->first = b;
	return !b.bad;
}

static bool
read_fde(const unsigned char *at, uintptr_t address, struct told *told)
{
	struct bytes b = { at, at + 4, false };
	const uint64_t size = take(&b, 4);
	const unsigned char *here;
	unsigned encoding;
	uintptr_t bytes;
	bool sized;

	if (size == 0 || size >= 0xffffffff)
		return false;
	b.end = b.at + size;
	here = b.at;
	if (!read_cie(here - (uint32_t)take(&b, 4), told, &encoding, &sized))
		return false;
	told->begin = take_pointer(&b, encoding);
	bytes = take_pointer(&b, encoding & 0x0f);
	if (sized) {
		const uint64_t more = take_uleb(&b);

		if (more > (uint64_t)(b.end - b.at))
			return false;
		b.at += more;
	}
	told->program = b;
	return !b.bad && address >= told->begin && address - told->begin < bytes;
}

/* ---- the instructions ---- */

struct place {
	enum where where;
	int64_t offset;
};
struct state {
	enum { BY_REGISTER, DEREFERENCED, OTHERWISE } cfa_is;	/* how to find the CFA */
	uint64_t cfa_register;
	int64_t cfa;
	struct place base, back;	/* the base pointer and the return address */
};

static void
place(struct state *s, uint64_t number, enum where where, int64_t offset)
{
	if (number == BASE)
		s->base = (struct place){ where, offset };
	else if (number == RETURN)
		s->back = (struct place){ where, offset };
}

/*
 * An expression of the form base pointer + offset, perhaps dereferenced. Returns false for others.
 */
static bool
base_expression(struct bytes *b, bool *dereferenced, int64_t *offset)
{
	const uint64_t size = take_uleb(b);
	struct bytes e = { b->at, b->at + size, false };

	if (size > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return false;
	}
	b->at += size;
	if (size == 0 || take(&e, 1) != 0x70 + BASE)	/* DW_OP_breg0 */
		return false;
	*offset = take_sleb(&e);
	*dereferenced = e.at < e.end;
	/* DW_OP_deref */
	return !e.bad && (!*dereferenced || (take(&e, 1) == 0x06 && e.at == e.end));
}

static void
cfa_expression(struct bytes *b, struct state *s)
{
	bool dereferenced;

	s->cfa_is = base_expression(b, &dereferenced, &s->cfa) && dereferenced ?
	    DEREFERENCED : OTHERWISE;
}

static void
place_expression(struct bytes *b, struct state *s)
{
	const uint64_t number = take_uleb(b);
	bool dereferenced;
	int64_t offset = 0;

	if (base_expression(b, &dereferenced, &offset) && !dereferenced)
		place(s, number, SAVED_AT_BASE, offset);
	else
		place(s, number, SAVED_ELSEWHERE, 0);
}

static void
restore(struct state *s, const struct state *first, uint64_t number)
{
	if (number == BASE)
		s->base = first->base;
	else if (number == RETURN)
		s->back = first->back;
}

static void
set_cfa(struct state *s, uint64_t number, int64_t offset)
{
	s->cfa_is = BY_REGISTER;
	s->cfa_register = number;
	s->cfa = offset;
}

enum { REMEMBERED = 16 };	/* depth of the stack of states */

struct run {
	struct bytes b;
	const struct told *told;
	const struct state *first;	/* after the instructions of the CIE; NULL: still in them */
	struct state s, remembered[REMEMBERED];
	unsigned depth;
	uintptr_t here;
};

/* Instructions with operands; returns false for an unknown one. */
static bool
step(struct run *r, unsigned what)
{
	struct bytes *b = &r->b;
	const int64_t unit = r->told->data_unit;
	uint64_t number;

	switch (what) {
	case 0x00: return true;
	case 0x02: r->here += take(b, 1) * r->told->code_unit; return true;
	case 0x03: r->here += take(b, 2) * r->told->code_unit; return true;
	case 0x04: r->here += take(b, 4) * r->told->code_unit; return true;
	case 0x05: number = take_uleb(b);
	    place(&r->s, number, SAVED_AT_CFA, (int64_t)take_uleb(b) * unit); return true;
	case 0x06: number = take_uleb(b); restore(&r->s, r->first, number); return true;
	case 0x07: place(&r->s, take_uleb(b), SAVED_NOWHERE, 0); return true;
	case 0x08: place(&r->s, take_uleb(b), NOT_SAVED, 0); return true;
	case 0x09: place(&r->s, take_uleb(b), SAVED_ELSEWHERE, 0); take_uleb(b); return true;
	case 0x0a:
		if (r->depth == REMEMBERED)
			return false;
		r->remembered[r->depth++] = r->s;
		return true;
	case 0x0b:
		if (r->depth == 0)
			return false;
		r->s = r->remembered[--r->depth];
		return true;
	case 0x0c: number = take_uleb(b); set_cfa(&r->s, number, (int64_t)take_uleb(b));
	    return true;
	case 0x0d: r->s.cfa_register = take_uleb(b); return true;
	case 0x0e: r->s.cfa = (int64_t)take_uleb(b); return true;
	case 0x0f: cfa_expression(b, &r->s); return true;
	case 0x10: place_expression(b, &r->s); return true;
	case 0x11: number = take_uleb(b); place(&r->s, number, SAVED_AT_CFA, take_sleb(b) * unit);
	    return true;
	case 0x12: number = take_uleb(b); set_cfa(&r->s, number, take_sleb(b) * unit); return true;
	case 0x13: r->s.cfa = take_sleb(b) * unit; return true;
	case 0x14: case 0x15:
		place(&r->s, take_uleb(b), SAVED_ELSEWHERE, 0);
		take_uleb(b);
		return true;
	case 0x2d: return true;			/* AArch64: the return address is signed */
	case 0x2e: take_uleb(b); return true;	/* size of the arguments */
	default: return false;
	}
}

/* Runs to the end of the instructions, or up to those that apply only behind the address. */
static bool
run(struct run *r, uintptr_t address)
{
	while (r->b.at < r->b.end && !r->b.bad) {
		const unsigned byte = (unsigned)take(&r->b, 1), low = byte & 0x3f;

		switch (byte >> 6) {
		case 1: r->here += low * r->told->code_unit; break;
		case 2:
			place(&r->s, low, SAVED_AT_CFA,
			    (int64_t)take_uleb(&r->b) * r->told->data_unit);
			break;
		case 3:
			if (r->first == NULL)
				return false;
			restore(&r->s, r->first, low);
			break;
		default:
			if ((r->first == NULL && byte == 0x06) || !step(r, byte))
				return false;
		}
		if (r->here > address)
			return true;
	}
	return !r->b.bad;
}

static bool
fits(int64_t value)
{
	return value == (int32_t)value;
}

static bool
to_rule(const struct state *s, struct frame_rule *rule)
{
	if (s->back.where == SAVED_NOWHERE) {
		rule->kind = FRAME_LAST;
		return true;
	}
	if (s->back.where == NOT_SAVED)
		rule->in_link = true;
	else if (s->back.where != SAVED_AT_CFA || s->back.offset > -8 || !fits(s->back.offset))
		return false;
	if (!fits(s->cfa) || !fits(s->base.offset))
		return false;
	if (s->cfa_is == DEREFERENCED)
		rule->kind = FRAME_AT_BASE;
	else if (s->cfa_is == BY_REGISTER && s->cfa_register == STACK)
		rule->kind = FRAME_BY_STACK;
	else if (s->cfa_is == BY_REGISTER && s->cfa_register == BASE)
		rule->kind = FRAME_BY_BASE;
	else
		return false;
	if (s->base.where == SAVED_ELSEWHERE)
		return false;
	rule->base_is = s->base.where == SAVED_NOWHERE ? NOT_SAVED : (uint8_t)s->base.where;
	rule->cfa = (int32_t)s->cfa;
	rule->base = (int32_t)s->base.offset;
	rule->back = (int32_t)s->back.offset;
	return true;
}

bool
frame_rule(const void *address, struct frame_rule *rule)
{
	/* the return address may belong to the next function */
	const uintptr_t in_call = (uintptr_t)address - 1;
	struct dwarf_eh_bases bases;
	const unsigned char *fde;
	struct state first;
	struct told told;
	struct run r;

	*rule = (struct frame_rule){ .address = address, .kind = FRAME_UNKNOWN };
	if ((fde = _Unwind_Find_FDE((void *)in_call, &bases)) == NULL ||
	    !read_fde(fde, in_call, &told))
		return false;
	r = (struct run){ .b = told.first, .told = &told };
	if (!run(&r, UINTPTR_MAX))
		return false;
	first = r.s;
	r.b = told.program;
	r.first = &first;
	r.depth = 0;
	r.here = told.begin;
	return run(&r, in_call) && to_rule(&r.s, rule);
}

#else

bool
frame_rule(const void *address, struct frame_rule *rule)
{
	*rule = (struct frame_rule){ .address = address, .kind = FRAME_UNKNOWN };
	return false;
}

#endif
