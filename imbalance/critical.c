/* SPDX-License-Identifier: BSD-3-Clause */
#include "critical.h"

#include <stdlib.h>
#include <string.h>

enum { COMPUTE, MPI, TRANSFER, START };	/* kinds of segments: lp-trace(5) */

struct path {
	int64_t *site_ns;		/* by site */
	int64_t **rank_ns;		/* by site, by rank */
	size_t count, capacity, rank_capacity;
	int64_t length_ns, transfer_ns;
};

static void
add_segment(struct path *p, const struct imbalance *im, uint32_t site, int32_t rank, int64_t ns)
{
	if (site >= p->count) {
		size_t known = p->count;

		p->site_ns = grow(p->site_ns, &p->capacity, site + (size_t)1, sizeof *p->site_ns);
		p->rank_ns = grow(p->rank_ns, &p->rank_capacity, site + (size_t)1, sizeof *p->rank_ns);
		p->count = site + (size_t)1;
		memset(p->site_ns + known, 0, (p->count - known) * sizeof *p->site_ns);
		memset(p->rank_ns + known, 0, (p->count - known) * sizeof *p->rank_ns);
	}
	if (p->rank_ns[site] == NULL)
		p->rank_ns[site] = zalloc((size_t)im->known.ranks, sizeof **p->rank_ns);
	p->site_ns[site] += ns;
	p->rank_ns[site][rank] += ns;
}

static void
take_segments(struct path *p, const struct imbalance *im, struct reader *in,
    const struct message *message)
{
	static const struct column_type u32 = { 4, false, true, 0 }, i64 = { 8, true, true, 0 };
	static const struct column_type u32_optional = { 4, false, false, 0 };
	const msgpack_object *begins = body_get(message, "begin");
	uint32_t *location, *kind, *site;
	int64_t *begin, *end, count;

	if (body_int(in, message, "count", 0, UINT32_MAX, &count) < 0)
		die_input(in);
	if (begins == NULL || begins->type != MSGPACK_OBJECT_BIN || begins->via.bin.size < count) {
		reader_fail(in, message->offset, "segments: begin is missing or too short");
		die_input(in);
	}
	location = zalloc((size_t)count + 1, sizeof *location);
	kind = zalloc((size_t)count + 1, sizeof *kind);
	site = zalloc((size_t)count + 1, sizeof *site);
	begin = zalloc((size_t)count + 1, sizeof *begin);
	end = zalloc((size_t)count + 1, sizeof *end);
	if (body_column(in, message, "location", u32, (size_t)count, (size_t)count, location) < 0 ||
	    body_column(in, message, "kind", u32, (size_t)count, (size_t)count, kind) < 0 ||
	    body_column(in, message, "site", u32_optional, (size_t)count, (size_t)count, site) < 0 ||
	    body_column(in, message, "begin", i64, (size_t)count, (size_t)count, begin) < 0 ||
	    body_column(in, message, "end", i64, (size_t)count, (size_t)count, end) < 0)
		die_input(in);
	for (int64_t i = 0; i < count; i++) {
		int64_t ns = counted_ns(im, begin[i], end[i]);

		if (location[i] >= im->known.location_count || site[i] > 1 << 26) {
			reader_fail(in, message->offset, "segments: of another run");
			die_input(in);
		}
		p->length_ns += ns;
		if (kind[i] == TRANSFER)
			p->transfer_ns += ns;
		else if (kind[i] != START)	/* that is of no site */
			add_segment(p, im, site[i], im->known.location_rank[location[i]], ns);
	}
	free(location);
	free(kind);
	free(site);
	free(begin);
	free(end);
}

/* Time of a rank up to and in a site, without waits. */
static double
site_ns(const struct imbalance *im, size_t site, int32_t rank)
{
	const struct site_ns *s = site < im->site_count ? im->sites[site] : NULL;

	return s == NULL ? 0 : (double)(s[rank].compute_ns + s[rank].mpi_ns);
}

static int
by_imbalance(const void *left, const void *right)
{
	const struct critical_site *a = left, *b = right;

	if (a->imbalance_ns != b->imbalance_ns)
		return a->imbalance_ns > b->imbalance_ns ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static struct critical
judge(const struct imbalance *im, const struct path *p)
{
	struct critical c = { .length_ns = p->length_ns, .transfer_ns = p->transfer_ns,
	    .sites = zalloc(p->count + 1, sizeof *c.sites) };
	const int32_t ranks = im->known.ranks;

	for (size_t s = 0; s < p->count; s++) {
		struct critical_site *at = &c.sites[s];

		*at = (struct critical_site){ .site = (uint32_t)s, .path_ns = p->site_ns[s] };
		for (int32_t r = 0; r < ranks; r++) {
			double ns = site_ns(im, s, r), cp_ns = (double)at->path_ns;

			at->mean_ns += ns / ranks;
			at->activity_impact_ns += ns < cp_ns ? ns : cp_ns;
			if (p->rank_ns[s] != NULL && p->rank_ns[s][r] > p->rank_ns[s][at->rank])
				at->rank = r;
		}
		at->imbalance_ns = (double)at->path_ns > at->mean_ns ? (double)at->path_ns - at->mean_ns : 0;
	}
	for (int32_t r = 0; r < ranks; r++) {
		double idle_ns = (double)p->length_ns, excess_ns = 0;

		for (size_t s = 0; s < im->site_count; s++)
			idle_ns -= site_ns(im, s, r);
		for (size_t s = 0; s < p->count; s++) {
			double more_ns = (double)p->site_ns[s] - site_ns(im, s, r);

			excess_ns += more_ns > 0 ? more_ns : 0;
		}
		for (size_t s = 0; s < p->count && idle_ns > 0 && excess_ns > 0; s++) {
			double more_ns = (double)p->site_ns[s] - site_ns(im, s, r);

			if (more_ns > 0)
				c.sites[s].imbalance_impact_ns +=
				    more_ns * (idle_ns < excess_ns ? idle_ns / excess_ns : 1);
		}
	}
	for (size_t s = 0; s < p->count; s++)
		if (p->site_ns[s] > 0)
			c.sites[c.count++] = c.sites[s];
	qsort(c.sites, c.count, sizeof *c.sites, by_imbalance);
	return c;
}

struct critical
read_critical(const struct imbalance *im, const char *file)
{
	struct path path = { 0 };
	struct critical critical;
	struct reader *in;
	struct message message;
	bool any = false;
	int64_t run_ns;
	int got;

	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	while ((got = reader_next(in, &message)) > 0) {
		if (is_kind(&message, "run") && (body_int(in, &message, "run_ns", 0, INT64_MAX, &run_ns) < 0 ||
		    run_ns != im->known.run_ns)) {
			reader_fail(in, message.offset, "run: of another run than the graph");
			die_input(in);
		}
		if (is_kind(&message, "segments")) {
			take_segments(&path, im, in, &message);
			any = true;
		}
	}
	if (got < 0)
		die_input(in);
	if (!any)
		die("%s: no critical path; lp-critpath writes one", file);
	reader_close(in);
	critical = judge(im, &path);
	for (size_t s = 0; s < path.count; s++)
		free(path.rank_ns[s]);
	free(path.rank_ns);
	free(path.site_ns);
	return critical;
}
