/* SPDX-License-Identifier: BSD-3-Clause */
/* The mpiruns that mending makes: times, and whether the library reads a rules file. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/stream/shell.h"
#include "rules.h"

char *
make_folder(const char *file)
{
	char *name = formatted("%s.XXXXXX", file), *absolute;

	if (mkdtemp(name) == NULL || (absolute = realpath(name, NULL)) == NULL)
		die("%s: %s", name, strerror(errno));
	free(name);
	return absolute;
}

void
remove_files(const struct mending *m)
{
	DIR *folder = opendir(m->folder);

	for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL; )
		unlinkat(dirfd(folder), e->d_name, 0);
	if (folder != NULL)
		closedir(folder);
	rmdir(m->folder);
}

/* Paths are passed in the environment, so no shell interprets them. */
bool
run_measure(const struct mending *m, const char *rules, const char *arguments, const char *out,
    enum how how)
{
	char *command = formatted("%s %s %s lp-measure %s -o \"$LP_GUIDELINES_OUT\" </dev/null%s",
	    rules == NULL ? "" : "OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
	    "OMPI_MCA_coll_tuned_dynamic_rules_filename=\"$LP_GUIDELINES_RULES\"",
	    how != COUNTING ? "" : "OMPI_MCA_pml_monitoring_enable=2 "
	    "OMPI_MCA_pml_monitoring_enable_output=3 "
	    "OMPI_MCA_pml_monitoring_filename=\"$LP_GUIDELINES_OUT\"", m->mpirun, arguments,
	    how == LOUD ? "" : " >/dev/null 2>&1");
	int status;

	setenv("LP_GUIDELINES_OUT", out, 1);
	if (rules != NULL)
		setenv("LP_GUIDELINES_RULES", rules, 1);
	fflush(stdout);
	status = system(command);
	free(command);
	return status == 0;
}

/* Messages of collectives in such a run, over all ranks; -1: unknown. */
static long long
count_messages(const struct mending *m, const char *rules, const char *arguments)
{
	char *out = formatted("%s/count", m->folder), line[512];
	long long all = run_measure(m, rules, arguments, out, COUNTING) ? 0 : -1;

	for (int64_t rank = 0; all >= 0 && rank < m->c->setting.ranks; rank++) {
		char *path = formatted("%s.%" PRId64 ".prof", out, rank);
		FILE *profile = fopen(path, "r");
		long long sent;

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
 * Whether the library reads the file. If its algorithms are replaced by non-existent ones, the
 * collective must fail; a library that ignores the file does not. A change in messages is further
 * evidence, but need not occur.
 */
bool
is_read(struct text *report, const struct mending *m, const char *file)
{
	char *broken = formatted("%s/broken", m->folder),
	    *out = formatted("%s/trial.0", m->folder), *arguments;
	bool read = true;

	write_rules(m, broken, true);
	for (size_t i = 0; read && i < m->count; i++) {
		const struct rule *rule = &m->rules[i];
		long long before, after;

		if (rule->algorithm == AS_IS)
			continue;
		arguments = formatted("--plain -n 1 -w 0 -f %s -s %" PRIu64, rule->tuned->function,
		    rule->series->bytes);
		read = run_measure(m, file, arguments, out, QUIET) &&
		    !run_measure(m, broken, arguments, out, QUIET);
		before = count_messages(m, NULL, arguments);
		after = count_messages(m, file, arguments);
		text_print(report, "rule: %s from %" PRIu64 " bytes: algorithm %d",
		    rule->tuned->function, rule->series->bytes, rule->algorithm);
		if (rule->segment > 0)
			text_print(report, " in segments of %d bytes", rule->segment);
		text_print(report, "; it is %sread", read ? "" : "NOT ");
		if (before >= 0 && after >= 0)
			text_print(report, "; %lld messages, before %lld", after, before);
		text_char(report, '\n');
		free(arguments);
	}
	free(broken);
	free(out);
	return read;
}

/* Functions, sizes and splits of a campaign, as arguments of lp-measure. */
static char *
same_choice(const struct campaign *c)
{
	char *arguments = NULL;
	size_t length = 0, sizes = 0;
	uint64_t splits = 0;
	FILE *out = need(open_memstream(&arguments, &length));

	fputs("-f ", out);
	for (size_t i = 0; i < c->count; i++)
		if (i == 0 || strcmp(c->series[i].function, c->series[i - 1].function) != 0) {
			/* from a measurement: it may be anything */
			const char *function = c->series[i].function;
			char *word = zalloc(SHELL_WORD_BYTES(strlen(function)), 1);

			shell_word(word, function);
			fprintf(out, "%s%s", i > 0 ? "," : "", word);
			free(word);
		}
	fputs(" -s ", out);
	for (const struct series *s = c->series; s < c->series + c->count; s++) {
		if (s->bytes > 0 && s->role == FUNCTION)
			fprintf(out, "%s%" PRIu64, sizes++ > 0 ? "," : "", s->bytes);
		if (s->role == SPLIT && s->part > 0 && (s->bytes + s->part - 1) / s->part > splits)
			splits = (s->bytes + s->part - 1) / s->part;
	}
	/* size 0: barriers only */
	fprintf(out, "%s --split %" PRIu64, sizes == 0 ? "0" : "", splits);
	fclose(out);
	return arguments;
}

/* COUNT more mpiruns, numbered from BEFORE. */
static void
measure_stage(const struct mending *m, const char *rules, const char *arguments, char **files,
    size_t before, size_t count)
{
	for (size_t i = before; i < before + count; i++) {
		files[i] = formatted("%s/after.%zu", m->folder, i);
		if (!run_measure(m, rules, arguments, files[i], LOUD))
			die("\"%s lp-measure\" fails under %s", m->mpirun, rules);
	}
}

struct campaign
measure_again(const struct mending *m, const char *rules, const struct rules_of_judging *how)
{
	size_t first = m->c->mpiruns, second = m->c->confirm != NULL ? m->c->confirm->mpiruns : 0;
	char **files = zalloc(first + second, sizeof *files), *arguments = same_choice(m->c);
	char *candidates = formatted("%s/candidates", m->folder);
	struct campaign screened;
	struct verdict v;

	measure_stage(m, rules, arguments, files, 0, first);
	if (second == 0)
		return read_campaign(files, first);
	screened = read_campaign(files, first);
	v = judge(&screened, how);
	if (write_candidates(&screened, &v, candidates) == 0)
		return screened;
	setenv("LP_GUIDELINES_CANDIDATES", candidates, 1);
	arguments = formatted("%s --confirm \"$LP_GUIDELINES_CANDIDATES\"", arguments);
	measure_stage(m, rules, arguments, files, first, second);
	return read_campaign(files, first + second);
}
