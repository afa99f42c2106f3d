/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "causes.h"
#include "critical.h"
#include "report.h"
#include "times.h"

static int64_t
total_ns(const struct totals *t)
{
	return t->program_ns + t->graph_ns;
}

static void
json_totals(const struct totals *t)
{
	printf("\"total_time_s\":%.9f,\"program_time_s\":%.9f,\"graph_time_s\":%.9f,"
	    "\"total_execution_time_s\":%.9f,\"total_wait_time_s\":%.9f,"
	    "\"wait_before_time_s\":%.9f,\"wait_after_time_s\":%.9f,"
	    "\"unsynchronised_time_s\":%.9f,\"imbalance\":%.9f,\"num_calls\":%llu,"
	    "\"num_unsynchronised\":%llu,\"num_nodes\":%llu,\"num_edges\":%llu}", seconds(total_ns(t)),
	    seconds(t->program_ns), seconds(t->graph_ns), seconds(t->execution_ns),
	    seconds(wait_ns(t)), seconds(t->wait_before_ns), seconds(t->wait_after_ns),
	    seconds(t->unsynchronised_ns), imbalance_of(t), (unsigned long long)t->calls,
	    (unsigned long long)t->unsynchronised, (unsigned long long)t->nodes,
	    (unsigned long long)t->edges);
}

static void
json_analytic(const struct imbalance *im)
{
	const char *comma = "";

	printf("\"program\":{\"run_time_s\":%.9f,\"ranks\":%d,", seconds(counted_run_ns(im)),
	    (int)im->known.ranks);
	json_totals(&im->program);
	printf(",\n\"processes\":[");
	for (int32_t r = 0; r < im->known.ranks; r++) {
		printf("%s\n{\"rank\":%d,", r > 0 ? "," : "", (int)r);
		json_totals(&im->ranks[r]);
	}
	printf("],\n\"calls\":[");
	for (size_t i = 0; i < im->call_capacity; i++)
		if (im->calls[i].calls > 0) {
			printf("%s\n{\"call\":", comma);
			json_string(stdout, call_name((unsigned)i));
			printf(",");
			json_totals(&im->calls[i]);
			comma = ",";
		}
	printf("]");
}

static void
json_site(const struct imbalance *im, size_t site)
{
	char text[1024];
	const struct site *s = site < im->known.site_count ? &im->known.sites[site] : NULL;

	printf("\"site\":%zu,\"where\":", site);
	json_string(stdout, index_text(im, BY_SITE, site, text, sizeof text));
	if (s != NULL && s->stack != NULL && s->stack[0] < im->known.site_count)
		s = &im->known.sites[s->stack[0]];
	if (s != NULL && s->function != NULL) {
		printf(",\"function\":");
		json_string(stdout, s->function);
	}
	if (s != NULL && s->file != NULL) {
		printf(",\"file\":");
		json_string(stdout, s->file);
		printf(",\"line\":%d", (int)s->line);
	}
}

static void
json_largest(const struct imbalance *im, const struct wait *w)
{
	printf(",\"largest\":{\"wait_s\":%.9f,\"at_s\":%.9f,\"rank\":%d,\"call\":",
	    seconds(w->to_ns - w->from_ns), seconds(w->from_ns), (int)im->known.location_rank[w->location]);
	json_string(stdout, call_name(w->call));
	if (w->cause != NOBODY)
		printf(",\"partner\":%d", (int)im->known.location_rank[w->cause]);
	printf(",");
	json_site(im, w->site);
	printf("}");
}

static void
json_state(const struct imbalance *im, enum state state)
{
	const struct state_sums *sums = &im->states[state];
	size_t count;
	struct line *lines = sorted_cells(im, BY_SITE, &count);
	const char *comma = "";

	printf("\n{\"name\":\"%s\",\"wait_s\":%.9f,\"count\":%llu", state_names[state],
	    seconds(sums->wait_ns), (unsigned long long)sums->count);
	printf(",\"direct_s\":%.9f,\"indirect_s\":%.9f,\"propagating_s\":%.9f,\"terminal_s\":%.9f",
	    seconds(sums->direct_ns), seconds(sums->indirect_ns), seconds(sums->propagating_ns),
	    seconds(sums->wait_ns - sums->propagating_ns));
	printf(",\"ranks\":[");
	for (int32_t r = 0; r < im->known.ranks; r++)
		printf("%s%.9f", r > 0 ? "," : "",
		    seconds(im->tables[BY_RANK].cells[r].wait_ns[state]));
	printf("],\"partners\":[");
	for (int32_t r = 0; r < im->known.ranks; r++)
		printf("%s%.9f", r > 0 ? "," : "", (size_t)r < im->tables[BY_PARTNER].count ?
		    seconds(im->tables[BY_PARTNER].cells[r].wait_ns[state]) : 0);
	printf("],\"sites\":[");
	for (size_t i = 0; i < count; i++)
		if (lines[i].cell->wait_ns[state] > 0) {
			printf("%s{", comma);
			json_site(im, lines[i].index);
			printf(",\"wait_s\":%.9f}", seconds(lines[i].cell->wait_ns[state]));
			comma = ",";
		}
	printf("]");
	free(lines);
	if (sums->count > 0)
		json_largest(im, &sums->largest);
	printf("}");
}

static void
json_sums(const struct imbalance *im)
{
	printf(",\n\"sums\":{\"hold\":%s,\"ranks\":[", sums_hold(im) ? "true" : "false");
	for (int32_t r = 0; r < im->known.ranks; r++) {
		struct shares s = shares_of(im, r);

		printf("%s\n{\"rank\":%d,\"before_s\":%.9f,\"compute_s\":%.9f,\"mpi_useful_s\":%.9f,"
		    "\"polling_s\":%.9f,\"wait_s\":%.9f,\"after_s\":%.9f,\"run_time_s\":%.9f}",
		    r > 0 ? "," : "", (int)r, seconds(s.before_ns), seconds(s.compute_ns),
		    seconds(s.mpi_useful_ns), seconds(s.polling_ns), seconds(s.wait_ns),
		    seconds(s.after_ns), seconds(s.run_ns));
	}
	printf("]}");
}

static void
json_number(const char *before, const char *key, double value)
{
	if (isfinite(value))
		printf("%s\"%s\":%.9f", before, key, value);
	else
		printf("%s\"%s\":null", before, key);
}

static void
json_by(const struct imbalance *im, enum dimension by)
{
	char text[1024];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);

	printf(",\n\"by_%s\":[", dimension_names[by]);
	for (size_t i = 0; i < count; i++) {
		const struct cell *c = lines[i].cell;

		printf("%s\n{\"%s\":", i > 0 ? "," : "", dimension_names[by]);
		if (by == BY_RANK || by == BY_PARTNER)
			printf("%zu", lines[i].index);
		else
			json_string(stdout, index_text(im, by, lines[i].index, text, sizeof text));
		printf(",\"wait_s\":%.9f,\"waits\":%llu", seconds(lines[i].wait_ns),
		    (unsigned long long)c->waits);
		if (by != BY_PARTNER)
			printf(",\"compute_s\":%.9f,\"mpi_s\":%.9f,\"calls\":%llu", seconds(c->compute_ns),
			    seconds(c->mpi_ns), (unsigned long long)c->calls);
		if (by == BY_SITE)
			printf(",\"heuristic\":%.9f", site_heuristic(im, lines[i].index));
		for (int s = 0; s < STATES; s++)
			if (c->wait_ns[s] > 0)
				printf(",\"%s_s\":%.9f", state_names[s], seconds(c->wait_ns[s]));
		printf("}");
	}
	printf("]");
	free(lines);
}

static void
json_critical(const struct imbalance *im, const struct critical *c)
{
	printf(",\n\"critical\":{\"length_s\":%.9f,\"transfer_s\":%.9f,\"sites\":[",
	    seconds(c->length_ns), seconds(c->transfer_ns));
	for (size_t i = 0; i < c->count; i++) {
		const struct critical_site *s = &c->sites[i];

		printf("%s\n{\"critical_imbalance_s\":%.9f,\"path_s\":%.9f,\"mean_s\":%.9f,"
		    "\"activity_impact_s\":%.9f,\"imbalance_impact_s\":%.9f,\"rank\":%d,",
		    i > 0 ? "," : "", 1e-9 * s->imbalance_ns, seconds(s->path_ns), 1e-9 * s->mean_ns,
		    1e-9 * s->activity_impact_ns, 1e-9 * s->imbalance_impact_ns, (int)s->rank);
		json_site(im, s->site);
		printf("}");
	}
	printf("]}");
}

static void
json_delays(const struct imbalance *im)
{
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	printf(",\n\"delays\":[");
	for (size_t i = 0; i < count; i++) {
		printf("%s\n{\"cost_s\":%.9f,\"short_s\":%.9f,\"long_s\":%.9f,\"rank\":%d,\"kind\":\"%s\",",
		    i > 0 ? "," : "", 1e-9 * (delays[i].short_ns + delays[i].long_ns),
		    1e-9 * delays[i].short_ns, 1e-9 * delays[i].long_ns, (int)delays[i].rank,
		    delays[i].key % 2 == 0 ? "compute" : "mpi");
		json_site(im, delays[i].key / 2);
		printf("}");
	}
	printf("]");
	free(delays);
}

static void
json_chains(const struct imbalance *im)
{
	struct wait chain[MOST_LINKS];

	printf(",\n\"chains\":[");
	for (size_t i = 0; i < chain_count(im); i++) {
		size_t links = chain_of(im, i, chain);

		printf("%s\n[", i > 0 ? "," : "");
		for (size_t k = 0; k < links; k++) {
			printf("%s{\"name\":\"%s\",\"wait_s\":%.9f,\"at_s\":%.9f,\"rank\":%d,\"partner\":%d,",
			    k > 0 ? "," : "", state_names[chain[k].state],
			    seconds(chain[k].to_ns - chain[k].from_ns), seconds(chain[k].from_ns),
			    (int)im->known.location_rank[chain[k].location],
			    (int)im->known.location_rank[chain[k].cause]);
			json_site(im, chain[k].site);
			printf("}");
		}
		printf("]");
	}
	printf("]");
}

void
print_json(const struct imbalance *im, const struct view *view)
{
	const struct efficiency e = efficiency_of(im);
	const struct explained explained = explained_of(im);

	printf("{");
	json_analytic(im);
	printf(",\n\"wait_states\":[");
	for (int s = 0; s < STATES; s++) {
		printf("%s", s > 0 ? "," : "");
		json_state(im, (enum state)s);
	}
	printf("]");
	json_sums(im);
	printf(",\n\"causes\":{\"wait_s\":%.9f,\"by_ranks_s\":%.9f,\"by_completion_s\":%.9f,\"share\":%.9f}",
	    seconds(explained.wait_ns), seconds(explained.delay_ns), seconds(explained.completion_ns),
	    explained_share(&explained));
	printf(",\n\"efficiency\":{");
	json_number("", "parallel", e.parallel);
	json_number(",", "load_balance", e.load_balance);
	json_number(",", "communication", e.communication);
	if (view->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(im, view->ideal);

		json_number(",", "serialization", i.serialisation);
		json_number(",", "transfer", i.transfer);
		json_number(",", "bsc_serialization", i.bsc_serialisation);
		json_number(",", "bsc_transfer", i.bsc_transfer);
	}
	printf("},\n\"unmatched\":{\"sends\":%llu,\"receives\":%llu,\"collectives\":%llu}",
	    (unsigned long long)im->unmatched_sends, (unsigned long long)im->unmatched_receives,
	    (unsigned long long)im->unmatched_collectives);
	if (view->critical != NULL)
		json_critical(im, view->critical);
	json_delays(im);
	json_chains(im);
	if (view->by >= 0)
		json_by(im, (enum dimension)view->by);
	else
		for (int by = 0; by < DIMENSIONS; by++)
			json_by(im, (enum dimension)by);
	printf("}\n");
}
