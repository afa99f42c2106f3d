/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic rules files of Open MPI 4.1's coll/tuned:
 *   NCOLL { ID NCOMM { COMMSIZE NMSG { MSGSIZE ALGORITHM FANINOUT SEGSIZE } } }
 * Pitfalls: an invalid file is ignored silently; the first COMMSIZE also applies to smaller
 * communicators, and the last to all larger ones; the first MSGSIZE must be 0; algorithm 0 is the
 * library's own decision; the meaning of MSGSIZE varies, see enum compared.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/whole_file.h"
#include "rules.h"

const struct tuned tuned[] = {
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
const size_t tuned_count = sizeof tuned / sizeof tuned[0];

const struct tuned *
find_tuned(const char *function)
{
	for (size_t i = 0; i < tuned_count; i++)
		if (strcmp(tuned[i].function, function) == 0)
			return &tuned[i];
	return NULL;
}

/* The same rule for all sizes and communicators. */
void
write_forced(const char *path, const struct tuned *t, int algorithm, int segment)
{
	struct whole_file whole = whole_file_begin(path);

	fprintf(whole.file, "1 %d 1 0 1 0 %d 0 %d\n", t->id, algorithm, segment);
	whole_file_end(&whole);
}

bool
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

	for (size_t i = 0; i < tuned_count; i++)
		functions += has_rule(m, &tuned[i]);
	fprintf(out, "# Open MPI 4.1 coll/tuned; to use it: mpirun --mca "
	    "coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "
	    "/path/of/this/file\n%zu\t# collectives\n", functions);
	for (size_t i = 0; i < tuned_count; i++) {
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
