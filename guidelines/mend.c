/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mending: which algorithm of the library is faster where a guideline is violated, a rules file
 * that says so, and the proof that the library reads it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"

enum { TRIALS = 3 };
enum how { QUIET, LOUD, COUNTING };	/* LOUD shows what mpirun says; COUNTING counts messages */

static char *
own_file(const struct mending *m, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", m->folder, name) < 0)
		die("out of memory");
	return path;
}

/*
 * Runs lp-measure with the arguments under the rules file (NULL: under what the user has set), its
 * stream to OUT; false where it fails. Paths go through the environment: no shell looks into them.
 */
static bool
run_measure(const struct mending *m, const char *rules, const char *arguments, const char *out,
    enum how how)
{
	char *command;
	int status;

	setenv("LP_GUIDELINES_OUT", out, 1);
	if (rules != NULL)
		setenv("LP_GUIDELINES_RULES", rules, 1);
	if (asprintf(&command, "%s %s %s lp-measure %s -o \"$LP_GUIDELINES_OUT\" </dev/null%s",
	    rules == NULL ? "" : "OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
	    "OMPI_MCA_coll_tuned_dynamic_rules_filename=\"$LP_GUIDELINES_RULES\"",
	    how != COUNTING ? "" : "OMPI_MCA_pml_monitoring_enable=2 "
	    "OMPI_MCA_pml_monitoring_enable_output=3 "
	    "OMPI_MCA_pml_monitoring_filename=\"$LP_GUIDELINES_OUT\"", m->mpirun, arguments,
	    how == LOUD ? "" : " >/dev/null 2>&1") < 0)
		die("out of memory");
	fflush(stdout);
	status = system(command);
	free(command);
	return status == 0;
}

/* Sizes at which a function is violated. */
static char *
size_list(const struct mending *m, const struct tuned *t)
{
	char *list = NULL;
	size_t length = 0;
	FILE *out = need(open_memstream(&list, &length));

	for (size_t i = 0; i < m->count; i++)
		if (m->rules[i].tuned == t && m->rules[i].violated)
			fprintf(out, "%s%" PRIu64, ftell(out) > 0 ? "," : "", m->rules[i].series->bytes);
	fclose(out);
	return list;
}

/* Median run time of a function at each of its violated sizes; false where it cannot be run. */
static bool
try_algorithm(const struct mending *m, const struct tuned *t, int algorithm,
    struct campaign *result)
{
	char *rules = own_file(m, "forced"), *sizes = size_list(m, t), *arguments;
	char *files[TRIALS];
	bool works = true;

	if (algorithm != AS_IS)
		write_forced(rules, t, algorithm);
	if (asprintf(&arguments, "--plain -f %s -s %s", t->function, sizes) < 0)
		die("out of memory");
	for (int i = 0; i < TRIALS; i++) {
		char name[16];

		snprintf(name, sizeof name, "trial.%d", i);
		files[i] = own_file(m, name);
		works = works && run_measure(m, algorithm == AS_IS ? NULL : rules, arguments, files[i], QUIET);
	}
	if (works)
		*result = read_campaign(files, TRIALS);
	for (int i = 0; i < TRIALS; i++)
		free(files[i]);
	free(rules);
	free(sizes);
	free(arguments);
	return works;
}

/*
 * What is there first, then each algorithm: the fastest for each violated size. Slower in one mpirun
 * than what is there in another: that may be chance, and is no gain.
 */
static void
find_algorithms(struct mending *m, const struct tuned *t, double margin_ns)
{
	for (int a = AS_IS; a <= t->algorithms; a++) {
		struct campaign result;

		if (a > 0 && a == t->two_ranks && m->c->ranks != 2)
			continue;
		if (!try_algorithm(m, t, a, &result)) {
			if (a == AS_IS)
				die("\"%s lp-measure\" fails", m->mpirun);
			continue;	/* not for this number of ranks */
		}
		for (size_t i = 0; i < m->count; i++) {
			struct rule *rule = &m->rules[i];
			const struct series *s;
			double ns;

			if (rule->tuned != t || !rule->violated)
				continue;
			s = find_series(&result, t->function, FUNCTION, rule->series->bytes, 0);
			ns = median(s->medians);	/* sorts them */
			if (a == AS_IS)
				rule->as_is_ns = rule->best_ns = s->medians.at[0];
			else if (s->medians.at[TRIALS - 1] < rule->as_is_ns - margin_ns &&
			    ns < rule->best_ns) {
				rule->best_ns = ns;
				rule->algorithm = a;
			}
		}
	}
}

/* Where no size is compared there can be one rule only: that of the greatest gain. */
static void
unite_sizes(struct mending *m, const struct tuned *t)
{
	const struct rule *best = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const struct rule *rule = &m->rules[i];

		if (rule->tuned == t && rule->algorithm != AS_IS &&
		    (best == NULL || rule->as_is_ns / rule->best_ns > best->as_is_ns / best->best_ns))
			best = rule;
	}
	for (size_t i = 0; best != NULL && i < m->count; i++)
		if (m->rules[i].tuned == t)
			m->rules[i].algorithm = best->algorithm;
}

/* Messages of collectives in such a run, of all ranks; -1 where they are not known. */
static long long
count_messages(const struct mending *m, const char *rules, const char *arguments)
{
	char *out = own_file(m, "count"), line[512];
	long long all = run_measure(m, rules, arguments, out, COUNTING) ? 0 : -1;

	for (int64_t rank = 0; all >= 0 && rank < m->c->ranks; rank++) {
		char name[32], *path;
		long long sent;
		FILE *profile;

		snprintf(name, sizeof name, "count.%" PRId64 ".prof", rank);
		path = own_file(m, name);
		profile = fopen(path, "r");
		while (profile != NULL && fgets(line, sizeof line, profile) != NULL)
			if (sscanf(line, "I %*d %*d %*d bytes %lld msgs", &sent) == 1)
				all += sent;
		if (profile == NULL)
			all = -1;	/* on another node */
		else
			fclose(profile);
		free(path);
	}
	free(out);
	return all;
}

/*
 * Whether the library reads the file. With the same file, but for algorithms that do not exist,
 * the collective must fail: one that is ignored changes nothing. Another algorithm shows in the
 * messages, too, but need not.
 */
static bool
is_read(FILE *report, const struct mending *m, const char *file)
{
	char *broken = own_file(m, "broken"), *out = own_file(m, "trial.0"), *arguments;
	bool read = true;

	write_rules(m, broken, true);
	for (size_t i = 0; read && i < m->count; i++) {
		const struct rule *rule = &m->rules[i];
		long long before, after;

		if (rule->algorithm == AS_IS)
			continue;
		if (asprintf(&arguments, "--plain -n 1 -w 0 -f %s -s %" PRIu64, rule->tuned->function,
		    rule->series->bytes) < 0)
			die("out of memory");
		read = !run_measure(m, broken, arguments, out, QUIET);
		before = count_messages(m, NULL, arguments);
		after = count_messages(m, file, arguments);
		fprintf(report, "rule: %s from %" PRIu64 " bytes: algorithm %d; it is %sread",
		    rule->tuned->function, rule->series->bytes, rule->algorithm, read ? "" : "NOT ");
		if (before >= 0 && after >= 0)
			fprintf(report, "; %lld messages, before %lld", after, before);
		fprintf(report, "\n");
		free(arguments);
	}
	free(broken);
	free(out);
	return read;
}

/* All functions and sizes of the campaign again, in as many mpiruns, under the new file. */
static struct campaign
measure_again(const struct mending *m, const char *rules)
{
	char **files = zalloc(m->c->mpiruns, sizeof *files), *arguments = NULL;
	size_t length = 0, sizes = 0;
	FILE *out = need(open_memstream(&arguments, &length));
	const struct campaign *c = m->c;

	fprintf(out, "-f ");
	for (size_t i = 0; i < c->count; i++)
		if (i == 0 || strcmp(c->series[i].function, c->series[i - 1].function) != 0)
			fprintf(out, "%s%s", i > 0 ? "," : "", c->series[i].function);
	fprintf(out, " -s ");
	for (size_t i = 0; i < c->count; i++)
		if (c->series[i].bytes > 0 && c->series[i].role == FUNCTION)
			fprintf(out, "%s%" PRIu64, sizes++ > 0 ? "," : "", c->series[i].bytes);
	if (sizes == 0)
		fprintf(out, "0");	/* barriers only */
	fclose(out);
	for (size_t i = 0; i < c->mpiruns; i++) {
		char name[32];

		snprintf(name, sizeof name, "after.%zu", i);
		files[i] = own_file(m, name);
		if (!run_measure(m, rules, arguments, files[i], LOUD))
			die("\"%s lp-measure\" fails under %s", m->mpirun, rules);
	}
	return read_campaign(files, c->mpiruns);
}

static const struct judgement *
same_judgement(const struct verdict *v, const struct judgement *wanted)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];

		if (strcmp(j->guideline, wanted->guideline) == 0 &&
		    j->function->bytes == wanted->function->bytes && j->other->part == wanted->other->part &&
		    (j->kind != SPLIT_ROBUSTNESS || j->other->bytes == wanted->other->bytes))
			return j;
	}
	return NULL;
}

static int
algorithm_of(const struct mending *m, const struct judgement *j)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->rules[i].series == j->function)
			return m->rules[i].algorithm;
	return AS_IS;
}

/* What became of a violation, or that it is a new one. */
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
	    algorithm == AS_IS ? "violated; no algorithm is faster" : "violated; no algorithm removes it";
}

static void
print_before_after(FILE *out, const struct mending *m, const struct verdict *before,
    const struct verdict *after)
{
	fprintf(out, "\nm_bytes\tbefore_us\tratio\tafter_us\tratio\tguideline\n");
	for (size_t i = 0; i < before->count; i++) {
		const struct judgement *b = &before->at[i], *a = same_judgement(after, b);

		if (a != NULL && (a->violated || b->violated))
			fprintf(out, "%" PRIu64 "\t%.3f\t%.3f\t%.3f\t%.3f\t%s: %s\n", b->function->bytes,
			    1e-3 * b->function_ns, b->ratio, 1e-3 * a->function_ns, a->ratio, b->guideline,
			    outcome(b, a, algorithm_of(m, b)));
	}
	fprintf(out, "after: %zu violations, before: %zu\n", after->violations, before->violations);
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
		m->rules = grow(m->rules, &m->capacity, m->count + 1, sizeof *m->rules);
		m->rules[m->count++] = rule;
	}
}

static char *
make_folder(const char *file)
{
	char *name, *absolute;

	if (asprintf(&name, "%s.XXXXXX", file) < 0)
		die("out of memory");
	if (mkdtemp(name) == NULL || (absolute = realpath(name, NULL)) == NULL)
		die("%s: %s", name, strerror(errno));
	free(name);
	return absolute;
}

static bool
has_any_rule(const struct mending *m)
{
	for (size_t i = 0; i < tuned_count; i++)
		if (has_rule(m, &tuned[i]))
			return true;
	return false;
}

static void
remove_files(const struct mending *m)
{
	DIR *folder = opendir(m->folder);

	for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL; )
		unlinkat(dirfd(folder), e->d_name, 0);
	if (folder != NULL)
		closedir(folder);
	rmdir(m->folder);
}

bool
mend(const struct campaign *c, const struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun, FILE *out)
{
	struct mending m = { .c = c, .mpirun = mpirun };
	char path[PATH_MAX], standard[64];
	struct campaign again;
	struct verdict after;

	snprintf(standard, sizeof standard, "mpirun -n %" PRId64, c->ranks);
	if (mpirun == NULL)
		m.mpirun = standard;
	m.folder = make_folder(file);
	add_rules(&m, v);
	for (size_t i = 0; i < tuned_count; i++) {
		char *sizes = size_list(&m, &tuned[i]);

		if (sizes[0] != '\0')
			find_algorithms(&m, &tuned[i], v->margin_ns);
		if (tuned[i].compared == NOTHING)
			unite_sizes(&m, &tuned[i]);
		free(sizes);
	}
	fprintf(out, "\n");
	if (!has_any_rule(&m)) {
		fprintf(out, "no algorithm of the library mends this; %s is not written\n", file);
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
	again = measure_again(&m, path);
	after = judge(&again, rules);
	print_before_after(out, &m, v, &after);
	remove_files(&m);
	return after.violations == 0;
}
