/* SPDX-License-Identifier: BSD-3-Clause */
/* The path for people and for scripts: shares by rank, call and kind, and the longest pieces. */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"

static const char *const kind_names[] = { "compute", "mpi", "transfer" };

static bool
longer(const struct segment *a, const struct segment *b)
{
	int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;

	return x > y || (x == y && a->begin_ns < b->begin_ns);
}

static void
keep_longest(struct report *report, const struct segment *segment)
{
	const size_t room = sizeof report->longest / sizeof report->longest[0];
	size_t i = report->longest_count;

	if (i == room && !longer(segment, &report->longest[room - 1]))
		return;
	if (i < room)
		report->longest_count++;
	else
		i--;
	for (; i > 0 && longer(segment, &report->longest[i - 1]); i--)
		report->longest[i] = report->longest[i - 1];
	report->longest[i] = *segment;
}

static struct share *
share_of(struct share **shares, size_t *capacity, size_t index)
{
	size_t before = *capacity;

	*shares = grow(*shares, capacity, index + 1, sizeof **shares);
	memset(*shares + before, 0, (*capacity - before) * sizeof **shares);
	return &(*shares)[index];
}

void
report_add(struct report *report, const struct definitions *known, const struct segment *segment)
{
	int64_t length_ns = segment->end_ns - segment->begin_ns;

	if (report->by_location == NULL)
		report->by_location = zalloc(known->location_count, sizeof *report->by_location);
	if (report->segments == 0) {
		report->begin_ns = segment->begin_ns;
		report->first_location = segment->location;
	} else if (segment->location != report->last_location)
		report->hops++;
	report->end_ns = segment->end_ns;
	report->last_location = segment->location;
	report->segments++;
	report->total.ns[segment->kind] += length_ns;
	report->by_location[segment->location].ns[segment->kind] += length_ns;
	share_of(&report->by_call, &report->call_capacity, segment->call)->ns[segment->kind] +=
	    length_ns;
	share_of(&report->by_site, &report->site_capacity, segment->site)->ns[segment->kind] +=
	    length_ns;
	keep_longest(report, segment);
}

static void
add_share(struct share *to, const struct share *more)
{
	for (int kind = 0; kind < 3; kind++)
		to->ns[kind] += more->ns[kind];
}

void
report_append(struct report *report, const struct definitions *known, const struct report *more)
{
	if (more->segments == 0)
		return;
	if (report->segments == 0) {
		report->begin_ns = more->begin_ns;
		report->first_location = more->first_location;
		report->by_location = zalloc(known->location_count, sizeof *report->by_location);
	} else if (more->first_location != report->last_location)
		report->hops++;
	report->end_ns = more->end_ns;
	report->last_location = more->last_location;
	report->segments += more->segments;
	report->hops += more->hops;
	add_share(&report->total, &more->total);
	for (uint32_t l = 0; l < known->location_count; l++)
		add_share(&report->by_location[l], &more->by_location[l]);
	for (size_t i = 0; i < more->call_capacity; i++)
		add_share(share_of(&report->by_call, &report->call_capacity, i), &more->by_call[i]);
	for (size_t i = 0; i < more->site_capacity; i++)
		add_share(share_of(&report->by_site, &report->site_capacity, i), &more->by_site[i]);
	for (size_t i = 0; i < more->longest_count; i++)
		keep_longest(report, &more->longest[i]);
}

void
report_free(struct report *report)
{
	free(report->by_location);
	free(report->by_call);
	free(report->by_site);
	memset(report, 0, sizeof *report);
}

void
report_gather(struct report *report, const struct definitions *known, const struct team *team)
{
	size_t locations = report->segments > 0 ? known->location_count : 0, count;
	struct report *parts = team_gather(team, report, 1, sizeof *report, &count);
	/* Shares of all members, one behind the other: */
	struct share *by_location = team_gather(team, report->by_location, locations,
	    sizeof *by_location, &(size_t){ 0 }), *location = by_location;
	struct share *by_call = team_gather(team, report->by_call, report->call_capacity,
	    sizeof *by_call, &(size_t){ 0 }), *call = by_call;
	struct share *by_site = team_gather(team, report->by_site, report->site_capacity,
	    sizeof *by_site, &(size_t){ 0 }), *site = by_site;

	report_free(report);
	for (struct report *part = parts; part < parts + count; part++) {
		part->by_location = location;
		part->by_call = call;
		part->by_site = site;
		report_append(report, known, part);
		location += part->segments > 0 ? known->location_count : 0;
		call += part->call_capacity;
		site += part->site_capacity;
	}
	free(parts);
	free(by_location);
	free(by_call);
	free(by_site);
}

int64_t
share_sum(const struct share *share)
{
	return share->ns[COMPUTE] + share->ns[MPI] + share->ns[TRANSFER];
}

struct share *
shares_by_rank(const struct report *report, const struct definitions *known)
{
	struct share *shares = zalloc((size_t)known->ranks, sizeof *shares);

	for (uint32_t l = 0; l < known->location_count && report->by_location != NULL; l++)
		for (int kind = 0; kind < 3; kind++)
			shares[known->location_rank[l]].ns[kind] += report->by_location[l].ns[kind];
	return shares;
}

struct item {
	size_t index;
	struct share share;
};

static int
by_share(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (share_sum(&a->share) != share_sum(&b->share))
		return share_sum(&a->share) > share_sum(&b->share) ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The items that are not zero, largest first. */
static struct item *
sorted(const struct share *shares, size_t count, size_t *kept)
{
	struct item *items = zalloc(count, sizeof *items);

	*kept = 0;
	for (size_t i = 0; i < count; i++)
		if (share_sum(&shares[i]) > 0)
			items[(*kept)++] = (struct item){ i, shares[i] };
	qsort(items, *kept, sizeof *items, by_share);
	return items;
}

static void
print_shares(const struct report *report, const char *what, const struct item *items, size_t count,
    size_t shown, const char *(*name)(size_t index, char *text, size_t size, const void *known),
    const void *known)
{
	double all = (double)share_sum(&report->total) > 0 ? (double)share_sum(&report->total) : 1;

	printf("\nshare_%%\tcompute_s\tmpi_s\ttransfer_s\t%s\n", what);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct share *s = &items[i].share;
		char text[160];

		printf("%.2f\t%.6f\t%.6f\t%.6f\t%s\n", 100 * (double)share_sum(s) / all,
		    seconds(s->ns[COMPUTE]), seconds(s->ns[MPI]), seconds(s->ns[TRANSFER]),
		    name(items[i].index, text, sizeof text, known));
	}
	if (count > shown)
		printf("\t\t\t\t(%zu more; --all shows them)\n", count - shown);
}

static const char *
rank_name(size_t index, char *text, size_t size, const void *known)
{
	(void)known;
	snprintf(text, size, "%zu", index);
	return text;
}

static const char *
call_label(size_t index, char *text, size_t size, const void *known)
{
	(void)known;
	snprintf(text, size, "%s", index == 0 ? "(compute)" : call_name((unsigned)index));
	return text;
}

static const char *
site_name(size_t index, char *text, size_t size, const void *known)
{
	if (site_text(known, (uint32_t)index, text, size)[0] == '\0')
		snprintf(text, size, "(unknown)");
	return text;
}

static void
print_longest(const struct report *report, const struct definitions *known)
{
	printf("\nlength_s\tbegin_s\trank\twhat\twhere\n");
	for (size_t i = 0; i < report->longest_count; i++) {
		const struct segment *s = &report->longest[i];
		char where[160];

		site_text(known, s->site, where, sizeof where);
		printf("%.6f\t%.6f\t%d\t%s%s\t%s%s\n", seconds(s->end_ns - s->begin_ns),
		    seconds(s->begin_ns), (int)known->location_rank[s->location],
		    s->kind == COMPUTE ? "compute" : s->kind == TRANSFER ? "transfer to " : "",
		    s->kind == COMPUTE ? "" : call_name(s->call),
		    s->kind == COMPUTE && where[0] != '\0' ? "before " : "", where);
	}
}

void
report_text(const struct report *report, const struct definitions *known, bool all)
{
	size_t shown = all ? SIZE_MAX : 8, count;
	double whole = share_sum(&report->total) > 0 ? (double)share_sum(&report->total) : 1;
	struct share *ranks = shares_by_rank(report, known);
	struct item *items;

	printf("run time %.9f s; critical path %.9f s in %zu segments, %zu changes of rank\n",
	    seconds(known->run_ns), seconds(report->end_ns - report->begin_ns), report->segments,
	    report->hops);
	printf("on the path: compute %.2f %%, MPI %.2f %%, transfer %.2f %%\n",
	    100 * (double)report->total.ns[COMPUTE] / whole, 100 * (double)report->total.ns[MPI] / whole,
	    100 * (double)report->total.ns[TRANSFER] / whole);
	items = sorted(ranks, (size_t)known->ranks, &count);
	print_shares(report, "rank", items, count, shown, rank_name, NULL);
	free(items);
	items = sorted(report->by_call, report->call_capacity, &count);
	print_shares(report, "call", items, count, shown, call_label, NULL);
	free(items);
	items = sorted(report->by_site, report->site_capacity, &count);
	print_shares(report, "up to and in the call at", items, count, shown, site_name, known);
	free(items);
	print_longest(report, known);
	free(ranks);
}

void
print_segment_json(const struct segment *segment, const struct definitions *known, bool first)
{
	printf("%s\n{\"rank\":%d,\"begin_ns\":%lld,\"end_ns\":%lld,\"kind\":\"%s\",\"call\":",
	    first ? "" : ",", (int)known->location_rank[segment->location],
	    (long long)segment->begin_ns, (long long)segment->end_ns, kind_names[segment->kind]);
	if (segment->kind == COMPUTE)
		printf("null");
	else
		json_string(stdout, call_name(segment->call));
	printf(",\"site\":%u}", segment->site);
}

void
print_share_json(const struct share *share)
{
	printf("\"compute_s\":%.9f,\"mpi_s\":%.9f,\"transfer_s\":%.9f", seconds(share->ns[COMPUTE]),
	    seconds(share->ns[MPI]), seconds(share->ns[TRANSFER]));
}

void
report_json(const struct report *report, const struct definitions *known)
{
	struct share *ranks = shares_by_rank(report, known);
	const char *comma = "";
	char text[160];

	printf(",\n\"run_time_s\":%.9f,\n\"path_length_s\":%.9f,\n\"segment_count\":%zu,\n"
	    "\"rank_changes\":%zu,\n\"total\":{", seconds(known->run_ns),
	    seconds(report->end_ns - report->begin_ns), report->segments, report->hops);
	print_share_json(&report->total);
	printf("},\n\"by_rank\":[");
	for (int32_t r = 0; r < known->ranks; r++) {
		printf("%s\n{\"rank\":%d,", r > 0 ? "," : "", (int)r);
		print_share_json(&ranks[r]);
		printf("}");
	}
	printf("],\n\"by_call\":[");
	for (size_t i = 1; i < report->call_capacity; i++)
		if (share_sum(&report->by_call[i]) > 0) {
			printf("%s\n{\"call\":\"%s\",", comma, call_name((unsigned)i));
			print_share_json(&report->by_call[i]);
			printf("}");
			comma = ",";
		}
	printf("],\n\"by_site\":[");
	comma = "";
	for (size_t i = 0; i < report->site_capacity; i++)
		if (share_sum(&report->by_site[i]) > 0) {
			printf("%s\n{\"site\":%zu,\"where\":", comma, i);
			json_string(stdout, site_text(known, (uint32_t)i, text, sizeof text));
			printf(",");
			print_share_json(&report->by_site[i]);
			printf("}");
			comma = ",";
		}
	printf("]");
	free(ranks);
}
