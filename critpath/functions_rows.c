/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the path's threads blocked; the path in threads that others waited for; its counters. */
#include "critpath.h"
#include "../base/run/sampled_place.h"

/* ---- where the path's threads blocked, from their stacks when they left their cores ---------- */

struct blocked {
	/* NULL: unknown; BEFORE: the call before which they blocked, if the kernel gave no stack */
	const char *function, *called, *before, *file;
	int32_t line;
	int64_t ns;
	double share;
	char *shown;			/* "io (off.c:8), in usleep" */
};
#define BLOCKED(member) FIELD(struct blocked, member)
static const struct field blocked_fields[] = {
	{ "function", BLOCKED(function), .json = PLAIN },
	{ "file", BLOCKED(file), .json = PLAIN },
	{ "line", BLOCKED(line), .json = PLAIN, .known = UNLESS_ZERO },
	{ "called", BLOCKED(called), .json = PLAIN },
	{ "before", BLOCKED(before), .json = PLAIN },
	{ "path_%", BLOCKED(share), .text = "%.2f", .percent = true },
	{ "path_s", BLOCKED(ns), IN_SECONDS },
	{ "path_share", BLOCKED(share), .json = PLAIN },
	{ "blocked in", BLOCKED(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_place, struct blocked, BY_ANY_TEXT(function) BY_ANY_TEXT(file) BY(line)
    BY_ANY_TEXT(called) BY_ANY_TEXT(before))
FOLD(fold_blocked, struct blocked, by_place, to->ns += more->ns;)

ORDER(longest_blocked, struct blocked, MOST(ns) COMPARED(by_place(a, b), 0))

/* The program's function that blocked, and the function of the system that it called for that. */
static struct blocked
blocked_there(const struct definitions *known, const struct sampled *place)
{
	const uint32_t called = called_place(known, place->site, place->callers);
	struct blocked b = { .ns = place->blocked_ns };
	struct stack_frame frame, inlined;

	frame = own_frame(known, own_place(known, place->site, place->callers), &inlined);
	b.function = frame.name;
	b.file = frame.file;
	b.line = frame.file != NULL ? frame.line : 0;
	if (called > 0)
		b.called = caller_frame(known, called).name;
	return b;
}

static char *
shown(const struct blocked *b)
{
	const char *const in = b->called != NULL ? ", in " : "";
	const char *const called = b->called != NULL ? b->called : "";

	if (b->before != NULL)
		return formatted("(unknown), before %s", b->before);
	if (b->file != NULL)
		return formatted("%s (%s:%d)%s%s", b->function, file_name(b->file), (int)b->line,
		    in, called);
	return formatted("%s%s%s", b->function, in, called);
}

/* Places that people would call the same, longest first. Their times add up. */
struct rows
blocked_rows(const struct listed *l, const struct definitions *known)
{
	size_t count, found = 0;
	struct sampled *places = functions_places(l->of, &count);
	struct blocked *list = zalloc(2 * count + 1, sizeof *list);

	for (size_t i = 0; i < count; i++) {
		if (places[i].blocked_ns > 0)
			list[found++] = blocked_there(known, &places[i]);
		if (places[i].before_ns > 0)
			list[found++] = (struct blocked){ .ns = places[i].before_ns,
			    .before = site_shown(known, places[i].site) };
	}
	free(places);
	count = fold_blocked(list, found);
	SORT(list, count, longest_blocked);
	for (size_t i = 0; i < count; i++) {
		list[i].share = share_of(list[i].ns, l->path_ns);
		list[i].shown = shown(&list[i]);
	}
	return (struct rows){ blocked_fields, list, count, sizeof *list };
}

/* ---- the path in threads for which the first one of their rank waited, and the rest of it ---- */

struct awaited_row {
	int32_t rank, line;		/* line 0: unknown */
	uint32_t thread;
	const char *function, *file;	/* file NULL: unknown */
	uint64_t samples, most;		/* of all its lines; of LINE */
	int64_t ns;
	double share;
	char shown[1024];
};
#define AWAITED(member) FIELD(struct awaited_row, member)
static const struct field awaited_fields[] = {
	{ "rank", AWAITED(rank), .json = PLAIN },
	{ "thread", AWAITED(thread), .json = PLAIN },
	{ "function", AWAITED(function), .json = PLAIN },
	{ "file", AWAITED(file), .json = PLAIN },
	{ "line", AWAITED(line), .json = PLAIN, .known = UNLESS_ZERO },
	{ "samples", AWAITED(samples), .json = PLAIN },
	{ "path_%", AWAITED(share), .text = "%.2f", .percent = true },
	{ "path_s", AWAITED(ns), IN_SECONDS },
	{ "path_share", AWAITED(share), .json = PLAIN },
	{ "rank", AWAITED(rank), .text = PLAIN },
	{ "thread", AWAITED(thread), .text = PLAIN },
	{ "function of a thread that the first one waited for", AWAITED(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_thread, struct awaited_row, BY(rank) BY(thread) BY_TEXT(function) BY_ANY_TEXT(file))
/* A function is on its line with most samples. */
FOLD(fold_awaited, struct awaited_row, by_thread,
	to->samples += more->samples;
	to->ns += more->ns;
	if (more->most > to->most || (more->most == to->most && more->line < to->line)) {
		to->most = more->most;
		to->line = more->line;
	})
ORDER(longest_awaited, struct awaited_row, MOST(ns) COMPARED(by_thread(a, b), 0))

/* The samples of the place, or with REST the time of its thread without samples. */
static struct awaited_row
row_of(const struct listed *l, const struct definitions *known, const struct sampled *place,
    bool rest)
{
	struct awaited_row row = { .rank = place->rank, .thread = place->worker };
	struct stack_frame frame = { .name = not_sampled };

	row.ns = -on_path_ns(&l->on_path, place->samples);
	if (rest)
		row.ns += place->awaited_ns;
	else {
		frame = place_frame(known, place->site);
		row.samples = row.most = place->samples;
		row.ns = -row.ns;
		row.line = frame.line;
	}
	row.function = frame.name;
	row.file = frame.file;
	return row;
}

/* Functions of one thread; the longest first. */
struct rows
awaited_rows(const struct listed *l, const struct definitions *known)
{
	size_t count, found = 0;
	struct sampled *places = functions_places(l->of, &count);
	struct awaited_row *rows = zalloc(2 * count + 1, sizeof *rows);

	for (size_t i = 0; i < count; i++)
		if (places[i].worker > 0) {
			rows[found++] = row_of(l, known, &places[i], true);
			if (places[i].samples > 0)
				rows[found++] = row_of(l, known, &places[i], false);
		}
	free(places);
	count = fold_awaited(rows, found);
	SORT(rows, count, longest_awaited);
	for (struct awaited_row *r = rows; r < rows + count; r++) {
		r->share = share_of(r->ns, l->path_ns);
		if (r->file != NULL)
			snprintf(r->shown, sizeof r->shown, "%s (%s:%d)", r->function,
			    file_name(r->file), (int)r->line);
		else
			snprintf(r->shown, sizeof r->shown, "%s", r->function);
	}
	return (struct rows){ awaited_fields, rows, count, sizeof *rows };
}

/* ---- counters by function: what was counted between two samples of the path in it ---- */

struct counted_row {
	const char *function, *file;	/* file NULL: unknown */
	struct shown_counts counts;
};
#define COUNTED(member) FIELD(struct counted_row, member)
static const struct field counted_fields[] = {
	{ "function", COUNTED(function), .json = PLAIN }, { "file", COUNTED(file), .json = PLAIN },
	SHOWN_COUNTS(struct counted_row, counts),
	{ "counted on the path between two samples in", COUNTED(function), .text = PLAIN },
	FIELDS_END
};

ORDER(by_function, struct counted_row, BY_TEXT(function) BY_ANY_TEXT(file))
FOLD(fold_counted, struct counted_row, by_function, counts_add(&to->counts, &more->counts);)
ORDER(longest_counted, struct counted_row, MOST(counts.on_core_ns) COMPARED(by_function(a, b), 0))

/* The longest first; none without counters. */
struct rows
counted_rows(const struct functions *f, const struct definitions *known)
{
	size_t count, found = 0;
	struct sampled *places = functions_places(f, &count);
	struct counted_row *rows = zalloc(count + 1, sizeof *rows);
	bool counted[COUNTERS] = { false };

	for (size_t i = 0; i < count; i++) {
		const struct stack_frame frame = place_frame(known, places[i].site);
		struct counted_row *row = &rows[found];
		bool any = false;

		for (int c = 0; c < COUNTERS; c++) {
			row->counts.of[c] = (int64_t)places[i].counts.of[c];
			any |= row->counts.of[c] > 0;
			counted[c] |= row->counts.of[c] > 0;
		}
		if (!any)
			continue;
		row->function = frame.name;
		row->file = frame.file;
		row->counts.on_core_ns = places[i].counted_ns;
		found++;
	}
	free(places);
	count = fold_counted(rows, found);
	SORT(rows, count, longest_counted);
	for (size_t i = 0; i < count; i++)
		counts_show(&rows[i].counts, counted, f->sums.switched);
	return (struct rows){ counted_fields, rows, count, sizeof *rows };
}
