/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdlib.h>

#include "../base/run/segments.h"

struct path {
	struct segments segments;	/* of one message */
	struct on_site {
		int64_t ns, *by_rank;	/* NULL: nothing */
	} *sites;
	size_t count;
	int64_t length_ns, transfer_ns;
};

static void
take_segments(struct path *p, const struct imbalance *im, struct reader *in,
    const struct message *message)
{
	p->segments.count = 0;
	segments_read(&p->segments, in, message, &im->graph.known);
	for (size_t i = 0; i < p->segments.count; i++) {
		const struct segment *s = &p->segments.at[i];
		int64_t ns = counted_ns(im, s->begin_ns, s->end_ns);
		struct on_site *on;

		if (s->kind == GAP)
			continue;
		p->length_ns += ns;
		if (s->kind == TRANSFER)
			p->transfer_ns += ns;
		if (s->kind == TRANSFER || s->kind == START)	/* time of no site */
			continue;
		on = AT(p->sites, p->count, s->site);
		if (on->by_rank == NULL)
			on->by_rank = zalloc((size_t)im->graph.known.ranks, sizeof *on->by_rank);
		on->ns += ns;
		on->by_rank[im->graph.known.location_rank[s->location]] += ns;
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
		const int64_t *by_rank = p->sites[s].by_rank;

		*at = (struct critical_site){ .site = (uint32_t)s, .path_ns = p->sites[s].ns };
		for (int32_t r = 0; r < ranks; r++) {
			double ns = site_ns(im, s, r), cp_ns = (double)at->path_ns;

			at->mean_ns += ns / ranks;
			at->activity_impact_ns += ns < cp_ns ? ns : cp_ns;
			if (by_rank != NULL && by_rank[r] > by_rank[at->rank])
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
			double more_ns = (double)p->sites[s].ns - site_ns(im, s, r);

			excess_ns += more_ns > 0 ? more_ns : 0;
		}
		for (size_t s = 0; s < p->count && idle_ns > 0 && excess_ns > 0; s++) {
			double more_ns = (double)p->sites[s].ns - site_ns(im, s, r);

			if (more_ns > 0)
				c.sites[s].imbalance_impact_ns +=
				    more_ns * (idle_ns < excess_ns ? idle_ns / excess_ns : 1);
		}
	}
	for (size_t s = 0; s < p->count; s++)
		if (p->sites[s].ns > 0)
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
		    &run_ns) < 0 || run_ns != im->graph.known.run_ns))
			die_message(in, &message, "run: of another run than the graph");
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
		free(path.sites[s].by_rank);
	free(path.sites);
	return critical;
}
