/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several processes, or parts, found of the path by function becomes one: all of it are sums of
 * whole numbers, so that it does not matter who found what.
 */
#include <stdlib.h>

#include "functions.h"

enum { BLOCK = 4096 };		/* places of a message */

static const struct column_type site_type = { 4, false, true, 0 };
static const struct column_type count_type = { 8, false, true, 0 };
static const struct column_type time_type = { 8, true, true, 0 };

static void
add_sums(struct functions *f, const struct function_sums *more)
{
	f->sums.any |= more->any;
	f->sums.lost += more->lost;
	if (more->period_ns > f->sums.period_ns)
		f->sums.period_ns = more->period_ns;
	for (int kind = 0; kind < KINDS; kind++)
		f->sums.path_ns[kind] += more->path_ns[kind];
}

void
functions_gather(struct functions *f, const struct team *team)
{
	size_t own, places, members;
	struct sampled *mine = functions_places(f, &own);
	struct sampled *all = team_gather(team, mine, own, sizeof *mine, &places);
	struct function_sums *sums = team_gather(team, &f->sums, 1, sizeof f->sums, &members);

	if (team->rank == 0) {	/* what it knows itself comes first */
		for (size_t i = own; i < places; i++)
			functions_add_place(f, &all[i]);
		for (size_t m = 1; m < members; m++)
			add_sums(f, &sums[m]);
	}
	free(mine);
	free(all);
	free(sums);
}

/* ---- between parts, as a message ---- */

static void
write_block(struct writer *out, const struct functions *f, const struct sampled *places, size_t count,
    bool first)
{
	const struct on_path on_path = functions_on_path(f);
	uint32_t site[BLOCK], callers[BLOCK];
	uint64_t all[BLOCK], samples[BLOCK];
	int64_t path[BLOCK];

	for (size_t i = 0; i < count; i++) {
		site[i] = places[i].site;
		callers[i] = places[i].callers;
		all[i] = places[i].all;
		samples[i] = places[i].samples;
		path[i] = (int64_t)(samples[i] * (uint64_t)on_path.worth_ns);
	}
	message_begin(out, "sampled_path", 9);
	put_uint(out, "count", count);
	put_int(out, "period_ns", f->sums.period_ns);
	put_uint(out, "lost", first ? f->sums.lost : 0);
	put_int(out, "not_sampled_ns", first ? on_path.rest_ns : 0);
	put_column(out, "site", site_type, site, count);
	put_column(out, "callers", site_type, callers, count);
	put_column(out, "all", count_type, all, count);
	put_column(out, "samples", count_type, samples, count);
	put_column(out, "path", time_type, path, count);
	if (message_end(out) < 0)
		die_output();
}

void
functions_write(struct writer *out, const struct functions *f)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);

	for (size_t i = 0; i == 0 || i < count; i += BLOCK)
		write_block(out, f, places + i, count - i < BLOCK ? count - i : BLOCK, i == 0);
	free(places);
}

void
functions_read(struct functions *f, struct reader *in, const struct message *message)
{
	static uint32_t site[BLOCK], callers[BLOCK];
	static uint64_t all[BLOCK], samples[BLOCK];
	struct function_sums sums = { .any = true };
	int64_t count, lost;
	size_t n;

	if (body_int(in, message, "count", 0, BLOCK, &count) < 0 ||
	    body_int(in, message, "period_ns", 1, INT64_MAX, &sums.period_ns) < 0 ||
	    body_int(in, message, "lost", 0, INT64_MAX, &lost) < 0)
		die_input(in);
	n = (size_t)count;
	if (body_column(in, message, "site", site_type, n, n, site) < 0 ||
	    body_column(in, message, "callers", site_type, n, n, callers) < 0 ||
	    body_column(in, message, "all", count_type, n, n, all) < 0 ||
	    body_column(in, message, "samples", count_type, n, n, samples) < 0)
		die_input(in);
	sums.lost = (uint64_t)lost;
	add_sums(f, &sums);
	for (size_t i = 0; i < n; i++)
		functions_add_place(f, &(struct sampled){ site[i], callers[i], all[i], samples[i] });
}
