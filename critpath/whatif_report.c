/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies beyond the path, for people and for scripts. */
#include <stdlib.h>

#include "whatif.h"

/* A site and what its table is sorted by: largest first, then lowest site. */
struct item {
	size_t site;
	int64_t key;
};

static int
by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static struct item *
sorted_gains(const struct whatif *whatif, size_t *count)
{
	struct item *items = zalloc(whatif->gain_capacity, sizeof *items);

	*count = 0;
	for (size_t s = 0; s < whatif->gain_capacity; s++)
		if (whatif->gains[s].most_ns > 0)
			items[(*count)++] = (struct item){ s, whatif->gains[s].ns };
	qsort(items, *count, sizeof *items, by_key);
	return items;
}

static struct item *
sorted_slack(const struct whatif *whatif, size_t *count)
{
	struct item *items = zalloc(whatif->slack_capacity, sizeof *items);

	*count = 0;
	for (size_t s = 0; s < whatif->slack_capacity; s++)
		if (whatif->site_slack[s].seen)
			items[(*count)++] = (struct item){ s, whatif->site_slack[s].critical_ns };
	qsort(items, *count, sizeof *items, by_key);
	return items;
}

static const char *
site_name(const struct definitions *known, size_t site, char *text, size_t size)
{
	if (site_text(known, (uint32_t)site, text, size)[0] == '\0')
		snprintf(text, size, "(unknown)");
	return text;
}

static size_t
largest(const struct share *shares, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (share_sum(&shares[i]) > share_sum(&shares[best]))
			best = i;
	return best;
}

static void
gain_text(const struct whatif *whatif, const struct definitions *known, size_t shown)
{
	struct item *items;
	size_t count;
	char text[160];

	items = sorted_gains(whatif, &count);
	printf("\nif it took %d %% less time\ngain_s\tgain_%%\tat_most_s\tup to and in the call at\n",
	    whatif->faster);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct gain *gain = &whatif->gains[items[i].site];

		printf("%.6f\t%.2f\t%.6f\t%s\n", seconds(gain->ns),
		    known->run_ns > 0 ? 100 * (double)gain->ns / (double)known->run_ns : 0,
		    seconds(gain->most_ns), site_name(known, items[i].site, text, sizeof text));
	}
	if (count > shown)
		printf("\t\t\t(%zu more; --all shows them)\n", count - shown);
	free(items);
}

static void
slack_text(const struct whatif *whatif, const struct definitions *known, size_t shown)
{
	struct item *items;
	size_t count;
	char text[160];

	items = sorted_slack(whatif, &count);
	printf("\nwithout_slack_s\tall_ranks_s\tleast_slack_s\tup to and in the call at\n");
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct site_slack *slack = &whatif->site_slack[items[i].site];

		printf("%.6f\t%.6f\t%.6f\t%s\n", seconds(slack->critical_ns), seconds(slack->time_ns),
		    seconds(slack->least_ns), site_name(known, items[i].site, text, sizeof text));
	}
	if (count > shown)
		printf("\t\t\t(%zu more; --all shows them)\n", count - shown);
	free(items);
}

static void
alternatives_text(const struct whatif *whatif, const struct definitions *known)
{
	printf("\nalternative\tlength_s\tshorter_s\tabsent_s\tcompute_s\tmpi_s\ttransfer_s\trank\t"
	    "up to and in the call at\n");
	for (int n = 0; n < whatif->count && whatif->alternatives != NULL; n++) {
		const struct alternative *way = &whatif->alternatives[n];
		const struct share *total = &way->report.total;
		struct share *ranks = shares_by_rank(&way->report, known);
		char text[160];

		printf("%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t", n + 1, seconds(way->length_ns),
		    seconds(way->shorter_ns), seconds(way->absent_ns), seconds(total->ns[COMPUTE]),
		    seconds(total->ns[MPI]), seconds(total->ns[TRANSFER]));
		if (way->length_ns > 0)
			printf("%zu\t%s\n", largest(ranks, (size_t)known->ranks), site_name(known,
			    largest(way->report.by_site, way->report.site_capacity), text, sizeof text));
		else
			printf("\t\n");
		free(ranks);
	}
}

void
whatif_text(const struct whatif *whatif, const struct definitions *known, bool all)
{
	size_t shown = all ? SIZE_MAX : 8;

	if (whatif->faster > 0)
		gain_text(whatif, known, shown);
	if (whatif->slack)
		slack_text(whatif, known, shown);
	if (whatif->count > 0)
		alternatives_text(whatif, known);
}

static void
site_json(const struct definitions *known, size_t site, bool first)
{
	char text[160];

	printf("%s\n{\"site\":%zu,\"where\":", first ? "" : ",", site);
	json_string(stdout, site_text(known, (uint32_t)site, text, sizeof text));
}

void
whatif_json(const struct whatif *whatif, const struct definitions *known)
{
	struct item *items;
	size_t count;

	if (whatif->faster > 0) {
		items = sorted_gains(whatif, &count);
		printf(",\n\"faster_percent\":%d,\n\"gain_by_site\":[", whatif->faster);
		for (size_t i = 0; i < count; i++) {
			const struct gain *gain = &whatif->gains[items[i].site];

			site_json(known, items[i].site, i == 0);
			printf(",\"gain_s\":%.9f,\"at_most_s\":%.9f}", seconds(gain->ns),
			    seconds(gain->most_ns));
		}
		printf("]");
		free(items);
	}
	if (whatif->slack) {
		items = sorted_slack(whatif, &count);
		printf(",\n\"slack_by_site\":[");
		for (size_t i = 0; i < count; i++) {
			const struct site_slack *slack = &whatif->site_slack[items[i].site];

			site_json(known, items[i].site, i == 0);
			printf(",\"without_slack_s\":%.9f,\"all_ranks_s\":%.9f,\"least_slack_s\":%.9f}",
			    seconds(slack->critical_ns), seconds(slack->time_ns), seconds(slack->least_ns));
		}
		printf("]");
		free(items);
	}
	if (whatif->count > 0) {
		printf(",\n\"alternatives\":[");
		for (int n = 0; n < whatif->count && whatif->alternatives != NULL; n++) {
			const struct alternative *way = &whatif->alternatives[n];

			printf("%s\n{\"number\":%d,\"length_s\":%.9f,\"shorter_s\":%.9f,\"absent_s\":%.9f,",
			    n == 0 ? "" : ",", n + 1, seconds(way->length_ns), seconds(way->shorter_ns),
			    seconds(way->absent_ns));
			print_share_json(&way->report.total);
			printf("}");
		}
		printf("]");
	}
}
