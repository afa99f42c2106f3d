/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function and by line, for people and scripts: own time, and time with callees. */
#include <math.h>

#include "critpath.h"
#include "../base/run/sampled_place.h"

static int64_t
all_ns(const struct listed *l, uint64_t samples)
{
	return (int64_t)(samples * (uint64_t)l->of->sums.period_ns);
}

/* Of the share of the path, from the number of samples. */
static double
error_of(const struct listed *l, uint64_t samples)
{
	return l->path_ns > 0 ? sampled_error(samples, l->on_path.worth_ns, l->on_path.drawn_ns) /
	    (double)l->path_ns : 0;
}

/* ---- the lists ---- */

/* A line of a list: a function, or a part of the path outside functions. */
struct line {
	struct stack_frame frame;	/* line -1: none */
	int64_t path_ns, inclusive_ns, all_inclusive_ns;
	double all_ns;
	/* of the path; of all samples; infinite: not shown */
	double share, error, inclusive_share, all_share, all_inclusive_share;
	uint64_t samples;
	char *shown;			/* "io (off.c:8)" */
};
#define LINE(member) FIELD(struct line, member)
#define LIST_FIELDS(heading) { \
	{ "path_%", LINE(share), .text = "%.2f", .percent = true }, \
	{ "error_%", LINE(error), .text = "%.2f", .percent = true, .infinite = "" }, \
	{ "path_s", LINE(path_ns), .text = "%.6f", .scale = 1e-9 }, \
	{ "with_called_%", LINE(inclusive_share), .text = "%.2f", .percent = true, \
	    .infinite = "" }, \
	{ "all_%", LINE(all_share), .text = "%.2f", .percent = true, .infinite = "" }, \
	{ "all_s", LINE(all_ns), .text = "%.6f", .scale = 1e-9, .infinite = "" }, \
	{ heading, LINE(shown), .text = PLAIN }, \
	FIELDS_END \
}
#define INCLUSIVE_FIELDS(heading) { \
	{ "with_called_%", LINE(inclusive_share), .text = "%.2f", .percent = true }, \
	{ "with_called_s", LINE(inclusive_ns), .text = "%.6f", .scale = 1e-9 }, \
	{ "all_%", LINE(all_inclusive_share), .text = "%.2f", .percent = true }, \
	{ heading, LINE(shown), .text = PLAIN }, \
	FIELDS_END \
}
static const struct field list_fields[][8] = {
	[BY_FUNCTION] = LIST_FIELDS("function"), [BY_LINE] = LIST_FIELDS("line"),
};
static const struct field inclusive_fields[][5] = {
	[BY_FUNCTION] = INCLUSIVE_FIELDS("function, with what it called"),
	[BY_LINE] = INCLUSIVE_FIELDS("line, with what was called there"),
};
static const struct field json_fields[] = {
	{ "function", LINE(frame.name), .json = PLAIN },
	{ "file", LINE(frame.file), .json = PLAIN },
	{ "line", LINE(frame.line), .json = PLAIN, .known = UNLESS_NEGATIVE },
	{ "path_s", LINE(path_ns), .json = "%.9f", .scale = 1e-9 },
	{ "path_share", LINE(share), .json = PLAIN },
	{ "all_s", LINE(all_ns), .json = "%.9f", .scale = 1e-9 },
	{ "all_share", LINE(all_share), .json = PLAIN },
	{ "standard_error", LINE(error), .json = PLAIN },
	{ "samples", LINE(samples), .json = PLAIN },
	{ "path_inclusive_s", LINE(inclusive_ns), .json = "%.9f", .scale = 1e-9 },
	{ "all_inclusive_s", LINE(all_inclusive_ns), .json = "%.9f", .scale = 1e-9 },
	FIELDS_END
};

static struct line
line_of(const struct listed *l, const struct function *it)
{
	const int64_t inclusive_ns = on_path_ns(&l->on_path, it->inclusive);
	struct line line = { it->frame, it->path_ns, inclusive_ns, all_ns(l, it->all_inclusive),
	    (double)all_ns(l, it->all), share_of(it->path_ns, l->path_ns), error_of(l, it->samples),
	    share_of(inclusive_ns, l->path_ns), (double)it->all / (double)l->all,
	    (double)it->all_inclusive / (double)l->all, it->samples, NULL };

	if (it->frame.file != NULL) {
		line.shown = formatted("%s (%s:%d)", it->frame.name, file_name(it->frame.file),
		    (int)it->frame.line);
	} else {
		line.shown = formatted("%s", it->frame.name);
		line.frame.line = -1;
	}
	return line;
}

/* A part of the path outside functions. */
static struct line
other_line(const struct listed *l, const char *name, int64_t ns, double error)
{
	struct line line = line_of(l, &(struct function){ .frame.name = name, .path_ns = ns });

	line.inclusive_ns = ns;
	line.error = error;
	return line;
}

/* The first functions of the list, and with OTHERS all that adds up to the path. */
static struct rows
list_rows(const struct listed *l, const struct field *fields, size_t functions, bool others)
{
	const struct on_path *path = &l->on_path;
	const bool switched = l->of->sums.switched;
	struct line *lines = zalloc(functions + OFF_REASONS + 1 + KINDS, sizeof *lines);
	size_t count = 0;

	while (count < functions) {
		lines[count] = line_of(l, &l->at[count]);
		count++;
	}
	for (int i = 0; others && i < OFF_REASONS; i++)
		if (switched ? i != OFF_UNKNOWN || path->off_ns[i] > 0 : i == OFF_UNKNOWN)
			lines[count++] = other_line(l, off_names[i], path->off_ns[i],
			    switched ? 0 : error_of(l, path->samples));
	if (others && switched)
		lines[count++] = other_line(l, on_core_name, path->unsampled_ns,
		    error_of(l, path->samples));
	for (int kind = 0; others && kind < KINDS; kind++)
		if (other_names[kind] != NULL)
			lines[count++] = other_line(l, other_names[kind],
			    l->of->sums.path_ns[kind], 0);
	return (struct rows){ fields, lines, count, sizeof *lines };
}

static void
rows_text(struct text *out, struct rows rows, size_t most)
{
	if (rows.count == 0)
		return;
	text_char(out, '\n');
	rows_table(out, rows, most);
}

static void
list_text(struct text *out, const struct listed *l, enum by by, size_t shown)
{
	size_t count = 0;
	struct rows rows;
	struct line *lines;

	while (count < l->count && count < shown && l->at[count].samples > 0)
		count++;
	rows = list_rows(l, list_fields[by], count, by == BY_FUNCTION);
	lines = rows.at;
	/* of what is no function, only a part is shown */
	for (struct line *line = &lines[count]; line < lines + rows.count; line++) {
		if (line->error <= 0)
			line->error = INFINITY;
		line->inclusive_share = line->all_share = line->all_ns = INFINITY;
	}
	text_char(out, '\n');
	rows_table(out, rows, rows.count);
}

ORDER(by_inclusive, struct function, MOST(inclusive) COMPARED(functions_by_path(a, b), 0))

/* Functions with callees, outermost first, as they have most. Sorts the list again. */
static void
inclusive_text(struct text *out, struct listed *l, enum by by, size_t shown)
{
	struct line *lines = zalloc(l->count, sizeof *lines);
	size_t count = 0;

	SORT(l->at, l->count, by_inclusive);
	for (size_t i = 0; i < l->count && count < shown; i++)
		if (l->at[i].inclusive > l->at[i].samples)
			lines[count++] = line_of(l, &l->at[i]);
	rows_text(out, (struct rows){ inclusive_fields[by], lines, count, sizeof *lines }, count);
}

/* ---- the path beside a profile of all time ---- */

/* A function's share of the samples on the path and of all, and its rank in each. */
struct beside {
	struct stack_frame frame;	/* line -1: none */
	uint64_t path_rank, all_rank;
	double path, path_error, all, all_error;
	bool on_path;
	char *shown;
};

#define BESIDE(member) FIELD(struct beside, member)
static const struct field beside_fields[] = {
	{ "function", BESIDE(frame.name), .json = PLAIN },
	{ "file", BESIDE(frame.file), .json = PLAIN },
	{ "line", BESIDE(frame.line), .json = PLAIN, .known = UNLESS_NEGATIVE },
	{ "path_rank", BESIDE(path_rank), .text = PLAIN, .json = PLAIN },
	{ "all_rank", BESIDE(all_rank), .text = PLAIN, .json = PLAIN },
	{ "share_of_sampled_path", BESIDE(path), .json = PLAIN },
	{ "path_standard_error", BESIDE(path_error), .json = PLAIN },
	{ "all_share", BESIDE(all), .json = PLAIN },
	{ "all_standard_error", BESIDE(all_error), .json = PLAIN },
	{ "on_path", BESIDE(on_path), .json = PLAIN },
	{ "path_share_%", BESIDE(path), .text = "%.2f", .percent = true },
	{ "all_share_%", BESIDE(all), .text = "%.2f", .percent = true },
	{ "on the path and in all time", BESIDE(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_all, struct beside, MOST(all) BY(path_rank))

/* The first of a profile first; then the first of the path. */
#define IN_PROFILE(item) ((item)->all > (item)->path)
#define RANK_IN(item) (IN_PROFILE(item) ? (item)->all_rank : (item)->path_rank)
ORDER(by_which, struct beside, COMPARED(IN_PROFILE(b), IN_PROFILE(a))
    COMPARED(RANK_IN(a), RANK_IN(b)))

static double
share_error(double share, uint64_t of)
{
	return sqrt(share * (1 - share) / (double)of);
}

/*
 * Functions with at least 1 % of either, and with less than half or more than twice the share on
 * the path compared to all time, by more than three standard errors.
 */
static struct rows
find_beside(const struct listed *l)
{
	struct beside *list = zalloc(l->count + 1, sizeof *list);
	const uint64_t samples = l->on_path.samples;
	size_t count = 0;

	for (size_t i = 0; i < l->count && samples > 0; i++) {
		const struct function *it = &l->at[i];
		const double path = (double)it->samples / (double)samples,
		    all = (double)it->all / (double)l->all;

		list[i] = (struct beside){ it->frame, i + 1, 0, path, share_error(path, samples),
		    all, share_error(all, l->all), it->samples > 0, NULL };
		if (it->frame.file == NULL)
			list[i].frame.line = -1;
	}
	SORT(list, l->count, by_all);
	for (size_t i = 0; i < l->count && samples > 0; i++) {
		struct beside b = list[i];

		b.all_rank = i + 1;
		if ((b.path >= 0.01 || b.all >= 0.01) &&
		    (b.path < b.all / 2 || b.all < b.path / 2) &&
		    fabs(b.path - b.all) > 3 * hypot(b.path_error, b.all_error))
			list[count++] = b;
	}
	SORT(list, count, by_which);
	return (struct rows){ beside_fields, list, count, sizeof *list };
}

static void
beside_text(struct text *out, const struct listed *l, size_t shown)
{
	size_t lines[2] = { 0 }, kept = 0;
	const struct rows rows = find_beside(l);
	struct beside *list = rows.at;

	for (size_t i = 0; i < rows.count; i++) {
		if (lines[IN_PROFILE(&list[i])]++ >= shown)
			continue;
		list[kept] = list[i];
		list[kept++].shown = formatted("%s: %s", list[i].frame.name, !list[i].on_path ?
		    "not on the path" : IN_PROFILE(&list[i]) ? "less on the path" :
		    "more on the path");
	}
	text_char(out, '\n');
	table_rows(out, rows.fields, list, kept, sizeof *list);
	if (rows.count == 0)
		text_line(out, "no function that makes 1 %% differs by more than a factor of two, "
		    "beyond three standard errors");
	free(list);
}

static void
computation_text(struct text *out, const struct functions *f)
{
	const struct on_path path = functions_on_path(f);
	const unsigned long long samples = path.samples, missing = f->sums.lost;

	if (!f->sums.switched) {
		text_line(out, "computation on the path %.6f s: %llu samples, %.2f %% or %.6f s on "
		    "a core; %.6f s not on a core, or not sampled; %llu samples lost in all",
		    seconds(path.compute_ns), samples, 100 * share_of(path.on_core_ns,
		    path.compute_ns), seconds(path.on_core_ns), seconds(path.off_ns[OFF_UNKNOWN]),
		    missing);
		return;
	}
	if (f->sums.clock) {
		text_line(out, "computation on the path %.6f s: %.6f s on a core, by the threads' "
		    "own clocks; %.6f s off it, or not timed: the kernel reported no switches",
		    seconds(path.compute_ns), seconds(path.on_core_ns),
		    seconds(path.off_ns[OFF_UNKNOWN]));
		return;
	}
	text_line(out, "computation on the path %.6f s: %.6f s on a core, %.6f s blocked, %.6f s "
	    "preempted, %.6f s unknown; %.2f threads on cores, one alone for %.2f %%; %llu "
	    "samples, %llu records lost in all", seconds(path.compute_ns), seconds(path.on_core_ns),
	    seconds(path.off_ns[OFF_BLOCKED]), seconds(path.off_ns[OFF_PREEMPTED]),
	    seconds(path.off_ns[OFF_UNKNOWN]), share_of(f->sums.threads_ns, path.compute_ns),
	    100 * share_of(f->sums.alone_ns, path.compute_ns), samples, missing);
	if (path.awaited_ns > 0)
		text_line(out, "%.6f s of this in threads that the first thread of their rank "
		    "waited for", seconds(path.awaited_ns));
}

/* ---- how waiting for threads was recognised ---- */

struct recognised {
	const char *module, *by;
	uint64_t samples;		/* in all time */
};
static const struct field recognised_fields[] = {
	{ "module", FIELD(struct recognised, module), .json = PLAIN },
	{ "by", FIELD(struct recognised, by), .json = PLAIN },
	{ "samples", FIELD(struct recognised, samples), .json = PLAIN },
	FIELDS_END
};

static struct recognised *
find_recognised(const struct functions *f, const struct definitions *known, size_t *count)
{
	struct recognised *list = NULL;
	size_t places, capacity = 0, k;
	struct sampled *place = functions_places(f, &places);

	*count = 0;
	for (size_t i = 0; i < places; i++) {
		const enum waiting how = waiting_at(known, place[i].site);
		struct recognised one = { .by = how == WAITING_BY_MODULE ? "module" : "function" };

		if (how == NOT_WAITING)
			continue;
		one.module = file_name(known->modules[known->sites[place[i].site].module].path);
		for (k = 0; k < *count && (strcmp(list[k].module, one.module) != 0 ||
		    list[k].by != one.by); k++)
			;
		GROW(list, capacity, *count + 1);
		if (k == *count)
			list[(*count)++] = one;
		list[k].samples += place[i].all;
	}
	free(place);
	return list;
}

static void
recognised_text(struct text *out, const struct functions *f, const struct definitions *known)
{
	size_t count;
	struct recognised *list = find_recognised(f, known, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].samples > 0)	/* else threads only blocked there */
			text_line(out, "waiting for threads: %llu samples in %s, recognised by its "
			    "%s", (unsigned long long)list[i].samples, list[i].module,
			    list[i].by[0] == 'm' ? "name, as the functions have none" :
			    "functions");
	free(list);
}

void
functions_text(struct text *out, const struct functions *f,
    const struct definitions *known, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;
	struct listed functions, lines;
	struct rows counted;

	if (!f->sums.any)
		return;
	text_char(out, '\n');
	computation_text(out, f);
	recognised_text(out, f, known);
	functions = functions_list(f, known, BY_FUNCTION);
	lines = functions_list(f, known, BY_LINE);
	list_text(out, &functions, BY_FUNCTION, shown);
	rows_text(out, blocked_rows(&functions, known), shown);
	rows_text(out, awaited_rows(&functions, known), shown);
	counted = counted_rows(f, known);
	if (counted.count > shown)	/* without a line for the others */
		counted.count = shown;
	rows_text(out, counted, shown);
	inclusive_text(out, &functions, BY_FUNCTION, shown);
	list_text(out, &lines, BY_LINE, shown);
	inclusive_text(out, &lines, BY_LINE, shown);
	SORT(functions.at, functions.count, functions_by_path);
	beside_text(out, &functions, shown);
	free(functions.at);
	free(lines.at);
}

/* ---- JSON ---- */

/* SOURCE: of the time on a core. Without switches the reasons for time off it are unknown. */
void
computation_json(struct json *out, const struct functions *f, const struct on_path *path)
{
	json_begin_object(out, "computation");
	json_seconds(out, "path_s", path->compute_ns);
	json_seconds(out, "on_core_s", path->on_core_ns);
	if (f->sums.switched) {
		json_seconds(out, "blocked_s", path->off_ns[OFF_BLOCKED]);
		json_seconds(out, "preempted_s", path->off_ns[OFF_PREEMPTED]);
		json_seconds(out, "unknown_s", path->off_ns[OFF_UNKNOWN]);
		json_double(out, "threads_mean", share_of(f->sums.threads_ns, path->compute_ns));
		json_double(out, "alone_share", share_of(f->sums.alone_ns, path->compute_ns));
		json_seconds(out, "awaited_s", path->awaited_ns);
		json_text(out, "source", f->sums.clock ? "thread clock" : "switches");
	}
	json_uint(out, "samples", path->samples);
	json_end_object(out);
}

void
functions_json(struct json *out, const struct functions *f, const struct definitions *known)
{
	struct listed functions, lines;
	struct rows counted;
	struct recognised *recognised;
	size_t count;

	if (!f->sums.any)
		return;
	functions = functions_list(f, known, BY_FUNCTION);
	lines = functions_list(f, known, BY_LINE);
	json_break(out);
	computation_json(out, f, &functions.on_path);
	recognised = find_recognised(f, known, &count);
	if (count > 0)
		json_rows(out, "waiting_for_threads", recognised_fields, recognised, count,
		    sizeof *recognised);
	free(recognised);
	rows_json(out, "by_function", list_rows(&functions, json_fields, functions.count, true));
	rows_json(out, "by_line", list_rows(&lines, json_fields, lines.count, true));
	if (f->sums.switched) {
		rows_json(out, "blocked", blocked_rows(&functions, known));
		rows_json(out, "awaited", awaited_rows(&functions, known));
	}
	counted = counted_rows(f, known);
	if (counted.count > 0)
		rows_json(out, "counted", counted);
	rows_json(out, "beside_all_time", find_beside(&functions));
	free(functions.at);
	free(lines.at);
}
