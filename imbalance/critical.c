/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../base/run/segments.h"

struct path {
	struct segments segments;	/* of one message */
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

		GROW(p->site_ns, p->capacity, site + (size_t)1);
		GROW(p->rank_ns, p->rank_capacity, site + (size_t)1);
		p->count = site + (size_t)1;
		memset(p->site_ns + known, 0, (p->count - known) * sizeof *p->site_ns);
		memset(p->rank_ns + known, 0, (p->count - known) * sizeof *p->rank_ns);
	}
	if (p->rank_ns[site] == NULL)
		p->rank_ns[site] = zalloc((size_t)im->graph.known.ranks, sizeof **p->rank_ns);
	p->site_ns[site] += ns;
	p->rank_ns[site][rank] += ns;
}

static void
take_segments(struct path *p, const struct imbalance *im, struct reader *in,
    const struct message *message)
{
	p->segments.count = 0;
	if (segments_read(&p->segments, in, message, &im->graph.known) < 0)
		die_input(in);
	for (size_t i = 0; i < p->segments.count; i++) {
		const struct segment *s = &p->segments.at[i];
		int64_t ns = counted_ns(im, s->begin_ns, s->end_ns);

		if (s->kind == GAP)
			continue;
		p->length_ns += ns;
		if (s->kind == TRANSFER)
			p->transfer_ns += ns;
		else if (s->kind != START)	/* time of no site */
			add_segment(p, im, s->site, im->graph.known.location_rank[s->location], ns);
	}
}

/* Time of a rank before and in a site, without waits. */
static double
site_ns(const struct imbalance *im, size_t site, int32_t rank)
{
	const struct site_ns *s = site < im->site_count ? im->sites[site] : NULL;

	return s == NULL ? 0 : (double)(s[rank].compute_ns + s[rank].mpi_ns);
}

ORDER(by_imbalance, struct critical_site, MOST(imbalance_ns) BY(site))

static struct critical
judge(const struct imbalance *im, const struct path *p)
{
	struct critical c = { .length_ns = p->length_ns, .transfer_ns = p->transfer_ns,
	    .sites = zalloc(p->count + 1, sizeof *c.sites) };
	const int32_t ranks = im->graph.known.ranks;

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
		at->imbalance_ns = (double)at->path_ns > at->mean_ns ? (double)at->path_ns -
		    at->mean_ns : 0;
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
	SORT(c.sites, c.count, by_imbalance);
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
		if (is_kind(&message, "run") && (body_int(in, &message, "run_ns", 0, INT64_MAX,
		    &run_ns) < 0 || run_ns != im->graph.known.run_ns)) {
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
