/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mending: finds the library's fastest algorithm where a guideline is violated, writes a rules
 * file, and shows that the library reads it.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/table.h"
#include "../base/tool/whole_file.h"
#include "rules.h"

enum { TRIALS = 3 };	/* mpiruns of each algorithm */

/* ---- rules files ---- */

/*
 * Dynamic rules files of Open MPI 4.1's coll/tuned:
 *   NCOLL { ID NCOMM { COMMSIZE NMSG { MSGSIZE ALGORITHM FANINOUT SEGSIZE } } }
 * Pitfalls: an invalid file is ignored silently; the first COMMSIZE also applies to smaller
 * communicators, and the last to all larger ones; the first MSGSIZE must be 0; algorithm 0 is the
 * library's own decision; the meaning of MSGSIZE varies, see enum compared.
 */

static const struct tuned tuned[] = {
	{ "MPI_Allgather", 0, 6, 6, BLOCKS, 0 },
	{ "MPI_Allreduce", 2, 6, 0, VECTOR, 1 << 5 },
	{ "MPI_Alltoall", 3, 5, 5, BLOCKS, 0 },
	{ "MPI_Barrier", 6, 6, 5, NOTHING, 0 },
	{ "MPI_Bcast", 7, 9, 0, VECTOR, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 },
	{ "MPI_Exscan", 8, 2, 0, NOTHING, 0 },
	{ "MPI_Gather", 9, 3, 0, BLOCKS, 0 },
	{ "MPI_Reduce", 11, 7, 0, VECTOR, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 },
	{ "MPI_Reduce_scatter", 12, 4, 0, BLOCKS, 0 },
	{ "MPI_Reduce_scatter_block", 13, 4, 0, BLOCKS, 0 },
	{ "MPI_Scan", 14, 2, 0, NOTHING, 0 },
	{ "MPI_Scatter", 15, 3, 0, BLOCKS, 0 },
};
enum { TUNED = sizeof tuned / sizeof tuned[0] };

static const struct tuned *
find_tuned(const char *function)
{
	for (size_t i = 0; i < TUNED; i++)
		if (strcmp(tuned[i].function, function) == 0)
			return &tuned[i];
	return NULL;
}

static bool
has_rule(const struct mending *m, const struct tuned *t)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->rules[i].tuned == t && m->rules[i].algorithm != AS_IS)
			return true;
	return false;
}

/* A line for each change of algorithm between measured sizes; the first is from 0. */
static void
write_sizes(FILE *out, const struct mending *m, const struct tuned *t, bool broken)
{
	char *lines = NULL;
	size_t length = 0, count = 0;
	FILE *text = need(open_memstream(&lines, &length));
	int last = -1, last_segment = 0;

	for (const struct rule *rule = m->rules; rule < m->rules + m->count; rule++) {
		uint64_t from = t->compared == VECTOR ? rule->series->bytes : rule->series->volume;

		int algorithm = broken && rule->algorithm != AS_IS ? NO_ALGORITHM :
		    rule->algorithm == AS_IS ? DECISION : rule->algorithm;

		if (rule->tuned != t || (algorithm == last && rule->segment == last_segment) ||
		    (t->compared == NOTHING && count > 0))
			continue;
		fprintf(text, "%" PRIu64 " %d 0 %d\t# MSGSIZE ALGORITHM FANINOUT SEGSIZE\n",
		    count == 0 ? 0 : from, algorithm, rule->segment);
		last = algorithm;
		last_segment = rule->segment;
		count++;
	}
	fclose(text);
	fprintf(out, "%zu\t# rules by size\n%s", count, lines);
	free(lines);
}

/* Rules for communicators of exactly the campaign's size. */
void
write_rules(const struct mending *m, const char *path, bool broken)
{
	struct whole_file whole = whole_file_begin(path);
	FILE *out = whole.file;
	size_t functions = 0;

	for (size_t i = 0; i < TUNED; i++)
		functions += has_rule(m, &tuned[i]);
	fprintf(out, "# Open MPI 4.1 coll/tuned; to use it: mpirun --mca "
	    "coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "
	    "/path/of/this/file\n%zu\t# collectives\n", functions);
	for (size_t i = 0; i < TUNED; i++) {
		if (!has_rule(m, &tuned[i]))
			continue;
		fprintf(out,
		    "%d\t# %s\n3\t# sizes of communicators\n0\t# smaller ones\n1\n0 0 0 0\n%" PRId64
		    "\t# ranks\n", tuned[i].id, tuned[i].function, m->c->setting.ranks);
		write_sizes(out, m, &tuned[i], broken);
		fprintf(out, "%" PRId64 "\t# larger ones\n1\n0 0 0 0\n", m->c->setting.ranks + 1);
	}
	whole_file_end(&whole);
}

/* ---- which algorithm ---- */

/* Run times of a function as in ARGUMENTS. Returns false if the algorithm cannot run. */
static bool
try_algorithm(const struct mending *m, const struct tuned *t, const char *arguments, int algorithm,
    int segment, struct campaign *result)
{
	char *rules = formatted("%s/forced", m->folder);
	char *files[TRIALS];
	bool works = true;

	if (algorithm != AS_IS) {	/* the same rule for all sizes and communicators */
		struct whole_file whole = whole_file_begin(rules);

		fprintf(whole.file, "1 %d 1 0 1 0 %d 0 %d\n", t->id, algorithm, segment);
		whole_file_end(&whole);
	}
	for (int i = 0; i < TRIALS; i++) {
		files[i] = formatted("%s/trial.%d", m->folder, i);
		works = works && run_measure(m, algorithm == AS_IS ? NULL : rules, arguments,
		    files[i], QUIET);
	}
	if (works)
		*result = read_campaign(files, TRIALS);
	for (int i = 0; i < TRIALS; i++)
		free(files[i]);
	free(rules);
	return works;
}

/*
 * The gain of an algorithm at the violated sizes. Slower in one of its mpiruns than the default in
 * another may be chance, and counts as no gain.
 */
static void
take_trial(struct mending *m, const struct tuned *t, int algorithm, int segment,
    const struct campaign *result, double margin_ns)
{
	for (struct rule *rule = m->rules; rule < m->rules + m->count; rule++) {
		const struct series *s;
		double ns;

		if (rule->tuned != t || !rule->violated)
			continue;
		s = find_series(result, t->function, FUNCTION, rule->series->bytes, 0);
		ns = median(s->medians);	/* sorts them */
		if (algorithm == AS_IS)
			rule->as_is_ns = rule->best_ns = s->medians.at[0];
		else if (s->medians.at[TRIALS - 1] < rule->as_is_ns - margin_ns &&
		    ns < rule->best_ns) {
			rule->best_ns = ns;
			rule->algorithm = algorithm;
			rule->segment = segment;
		}
	}
}

/*
 * At the violated sizes, if there are any: the default first, then each algorithm, with whole
 * messages and with segments shorter than the largest of these sizes.
 */
static void
find_algorithms(struct mending *m, const struct tuned *t, double margin_ns)
{
	static const int segments[] = { 0, 8192, 65536 };
	char *arguments = NULL;
	size_t length = 0, sizes = 0;
	uint64_t largest = 0;
	FILE *out = need(open_memstream(&arguments, &length));

	fprintf(out, "--plain -f %s -s ", t->function);
	for (const struct rule *rule = m->rules; rule < m->rules + m->count; rule++)
		if (rule->tuned == t && rule->violated) {
			fprintf(out, "%s%" PRIu64, sizes++ > 0 ? "," : "", rule->series->bytes);
			if (rule->series->bytes > largest)
				largest = rule->series->bytes;
		}
	fclose(out);
	for (int a = AS_IS; a <= t->algorithms && sizes > 0; a++) {
		if (a > 0 && a == t->two_ranks && m->c->setting.ranks != 2)
			continue;
		for (size_t k = 0; k < sizeof segments / sizeof segments[0]; k++) {
			struct campaign result;

			if (k > 0 && (a <= 0 || (t->segmented >> a & 1) == 0 ||
			    (uint64_t)segments[k] >= largest))
				continue;
			if (try_algorithm(m, t, arguments, a, segments[k], &result))
				take_trial(m, t, a, segments[k], &result, margin_ns);
			else if (a == AS_IS)
				die("\"%s lp-measure\" fails", m->mpirun);
			/* otherwise it is not for this number of ranks */
		}
	}
	free(arguments);
}

/* If the library does not compare sizes, only one rule can be: that with the largest gain. */
static void
unite_sizes(struct mending *m, const struct tuned *t)
{
	const struct rule *best = NULL;

	for (const struct rule *rule = m->rules; rule < m->rules + m->count; rule++) {
		if (rule->tuned == t && rule->algorithm != AS_IS && (best == NULL ||
		    rule->as_is_ns / rule->best_ns > best->as_is_ns / best->best_ns))
			best = rule;
	}
	for (size_t i = 0; best != NULL && i < m->count; i++)
		if (m->rules[i].tuned == t) {
			m->rules[i].algorithm = best->algorithm;
			m->rules[i].segment = best->segment;
		}
}

static const struct judgement *
same_judgement(const struct verdict *v, const struct judgement *wanted)
{
	for (const struct judgement *j = v->at; j < v->at + v->count; j++) {
		if (strcmp(j->guideline, wanted->guideline) == 0 && j->function->bytes ==
		    wanted->function->bytes && j->other->part == wanted->other->part &&
		    (j->kind != SPLIT_ROBUSTNESS || j->other->bytes == wanted->other->bytes))
			return j;
	}
	return NULL;
}

/* The fate of a violation, or that it is new. */
static const char *
outcome(const struct judgement *before, const struct judgement *after, int algorithm)
{
	if (!before->violated)
		return "new violation";
	if (algorithm == AS_IS && !after->violated)
		return "not violated again, without a rule";
	if (!after->violated)
		return "mended";
	return find_tuned(before->function->function) == NULL ? "violated; no rule is possible" :
	    algorithm == AS_IS ? "violated; no algorithm is faster" :
	    "violated; no algorithm removes it";
}

static void
print_before_after(struct text *out, const struct mending *m, const struct verdict *before,
    const struct verdict *after)
{
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, "m_bytes\tbefore_us\tratio\tafter_us\tratio\tguideline");
	for (size_t i = 0; i < before->count; i++) {
		const struct judgement *b = &before->at[i], *a = same_judgement(after, b);
		int algorithm = AS_IS;

		if (a == NULL || (!a->violated && !b->violated))
			continue;
		for (size_t k = 0; k < m->count; k++)
			if (m->rules[k].series == b->function)
				algorithm = m->rules[k].algorithm;
		table_uint(&table, b->function->bytes);
		table_fixed(&table, 1e-3 * b->function_ns, 3);
		table_fixed(&table, b->ratio, 3);
		table_fixed(&table, 1e-3 * a->function_ns, 3);
		table_fixed(&table, a->ratio, 3);
		table_format(&table, "%s: %s", b->guideline, outcome(b, a, algorithm));
		table_end_line(&table);
	}
	table_end(&table);
	text_line(out, "after: %zu violations, before: %zu", after->violations, before->violations);
}

static void
add_rules(struct mending *m, const struct verdict *v)
{
	for (size_t i = 0; i < m->c->count; i++) {
		const struct series *s = &m->c->series[i];
		const struct tuned *t = s->role == FUNCTION ? find_tuned(s->function) : NULL;
		struct rule rule = { .tuned = t, .series = s, .algorithm = AS_IS };

		if (t == NULL)
			continue;
		for (size_t k = 0; k < v->count; k++)
			rule.violated |= v->at[k].violated && v->at[k].function == s;
		*APPEND(m->rules, m->count, m->capacity) = rule;
	}
}

bool
mend(struct campaign *c, struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun, struct text *out)
{
	struct mending m = { .c = c, .mpirun = mpirun };
	char path[PATH_MAX], standard[64];
	struct rules_of_judging same_way;
	struct campaign again;
	struct verdict after;
	bool any = false;

	snprintf(standard, sizeof standard, "mpirun -n %" PRId64, c->setting.ranks);
	if (mpirun == NULL)
		m.mpirun = standard;
	m.folder = make_folder(file);
	add_rules(&m, v);
	for (size_t i = 0; i < TUNED; i++) {
		find_algorithms(&m, &tuned[i], v->margin_ns);
		if (tuned[i].compared == NOTHING)
			unite_sizes(&m, &tuned[i]);
		any |= has_rule(&m, &tuned[i]);
	}
	text_char(out, '\n');
	if (!any) {
		text_line(out, "no algorithm of the library mends this; %s is not written", file);
		remove_files(&m);
		return false;
	}
	write_rules(&m, file, false);
	if (realpath(file, path) == NULL)
		die("%s: %s", file, strerror(errno));
	if (!is_read(out, &m, path)) {
		remove_files(&m);
		unlink(path);
		die("%s: the library does not read it; is it Open MPI 4.1 with coll/tuned?", file);
	}
	same_way = *rules;
	same_way.paired = v->paired;
	again = measure_again(&m, path, &same_way);
	after = judge(&again, &same_way);
	print_before_after(out, &m, v, &after);
	remove_files(&m);
	*c = again;
	*v = after;
	return after.violations == 0;
}
