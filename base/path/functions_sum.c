/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the paths by function that several processes, or parts, have found. They are sums of whole
 * numbers, so the result does not depend on who found what.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

enum { BLOCK = 4096 };		/* places in a message */

/* Columns of places in other threads. */
struct others {
	uint32_t rank[BLOCK], worker[BLOCK];
	uint64_t awaited[BLOCK];
};

/* Columns of counters. */
struct counter_columns {
	uint64_t on_core[BLOCK], of[COUNTERS][BLOCK];
};

static void
add_sums(struct functions *f, const struct function_sums *more)
{
	f->sums.any |= more->any;
	f->sums.switched |= more->switched;
	f->sums.clock |= more->clock;
	core_time_add(&f->sums.core, &more->core);
	f->sums.threads_ns += more->threads_ns;
	f->sums.alone_ns += more->alone_ns;
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

	if (team->rank == 0) {	/* its own places come first */
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

/* From switches; only the first block has it. */
static const struct {
	const char *key;
	size_t at;
} core_keys[] = {
#define OF(member) offsetof(struct function_sums, member)
	{ "on_core_ns", OF(core.on_ns) }, { "blocked_ns", OF(core.off_ns[OFF_BLOCKED]) },
	{ "preempted_ns", OF(core.off_ns[OFF_PREEMPTED]) }, { "unknown_ns",
	OF(core.off_ns[OFF_UNKNOWN]) },
	{ "threads_ns", OF(threads_ns) }, { "alone_ns", OF(alone_ns) },
#undef OF
};
enum { CORE_KEYS = sizeof core_keys / sizeof core_keys[0] };

static void
put_core_keys(struct writer *out, const struct function_sums *sums, int64_t unsampled_ns)
{
	for (int k = 0; k < CORE_KEYS; k++) {
		int64_t ns;

		memcpy(&ns, (const char *)sums + core_keys[k].at, sizeof ns);
		put_int(out, core_keys[k].key, ns);
	}
	put_int(out, "unsampled_ns", unsampled_ns);
	put_bool(out, "clock", sums->clock);
}

static int
read_core_keys(struct function_sums *sums, struct reader *in, const struct message *message)
{
	sums->switched = body_get(message, "clock") != NULL;
	sums->clock = body_true(message, "clock");
	for (int k = 0; k < CORE_KEYS && sums->switched; k++) {
		int64_t ns;

		if (body_int(in, message, core_keys[k].key, 0, INT64_MAX / 4096, &ns) < 0)
			return -1;
		memcpy((char *)sums + core_keys[k].at, &ns, sizeof ns);
	}
	return 0;
}

static void
write_block(struct writer *out, const struct functions *f, const struct sampled *places,
    size_t count, bool first)
{
	const struct on_path on_path = functions_on_path(f);
	uint32_t site[BLOCK], callers[BLOCK];
	uint64_t all[BLOCK], samples[BLOCK], blocked[BLOCK], before[BLOCK];
	int64_t path[BLOCK];
	struct others others;
	static struct counter_columns counted;
	bool any = false, any_other = false, any_count = false;

	for (size_t i = 0; i < count; i++) {
		site[i] = places[i].site;
		callers[i] = places[i].callers;
		all[i] = places[i].all;
		samples[i] = places[i].samples;
		path[i] = on_path_ns(&on_path, samples[i]);
		blocked[i] = (uint64_t)places[i].blocked_ns;
		before[i] = (uint64_t)places[i].before_ns;
		any |= blocked[i] > 0 || before[i] > 0;
		others.rank[i] = (uint32_t)places[i].rank;
		others.worker[i] = places[i].worker;
		others.awaited[i] = (uint64_t)places[i].awaited_ns;
		any_other |= places[i].worker > 0;
		counted.on_core[i] = (uint64_t)places[i].counted_ns;
		for (int c = 0; c < COUNTERS; c++) {
			counted.of[c][i] = places[i].counts.of[c];
			any_count |= counted.of[c][i] > 0;
		}
	}
	message_begin(out, "sampled_path",
	    9u + 2 * any + 3 * any_other + (1 + COUNTERS) * any_count +
	    (first && f->sums.switched ? CORE_KEYS + 2 : 0));
	put_uint(out, "count", count);
	put_int(out, "period_ns", f->sums.period_ns);
	put_uint(out, "lost", first ? f->sums.lost : 0);
	put_int(out, "not_sampled_ns", first ? on_path.off_ns[OFF_UNKNOWN] : 0);
	if (first && f->sums.switched)
		put_core_keys(out, &f->sums, on_path.unsampled_ns);
	put_column(out, "site", site, count);
	put_column(out, "callers", callers, count);
	put_column(out, "all", all, count);
	put_column(out, "samples", samples, count);
	put_column(out, "path", path, count);
	if (any) {
		put_column(out, "blocked", blocked, count);
		put_column(out, "blocked_before", before, count);
	}
	if (any_other) {
		put_column(out, "rank", others.rank, count);
		put_column(out, "worker", others.worker, count);
		put_column(out, "awaited", others.awaited, count);
	}
	if (any_count)
		put_column(out, "counted", counted.on_core, count);
	for (int c = 0; c < COUNTERS && any_count; c++)
		put_column(out, counter_names[c], counted.of[c], count);
	end_message(out);
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
	static uint64_t all[BLOCK], samples[BLOCK], blocked[BLOCK], before[BLOCK];
	static struct others others;
	static struct counter_columns counted;
	struct function_sums sums = { .any = true };
	size_t n;

	if (body_int(in, message, "count", 0, BLOCK, &n) < 0 ||
	    body_int(in, message, "period_ns", 0, INT64_MAX, &sums.period_ns) < 0 ||
	    body_int(in, message, "lost", 0, INT64_MAX, &sums.lost) < 0 ||
	    read_core_keys(&sums, in, message) < 0)
		die_input(in);
	if (body_column(in, message, "site", n, site) < 0 ||
	    body_column(in, message, "callers", n, callers) < 0 ||
	    body_column(in, message, "all", n, all) < 0 ||
	    body_column(in, message, "samples", n, samples) < 0 ||
	    body_column_or_0(in, message, "blocked", n, blocked) < 0 ||
	    body_column_or_0(in, message, "blocked_before", n, before) < 0 ||
	    body_column_or_0(in, message, "rank", n, others.rank) < 0 ||
	    body_column_or_0(in, message, "worker", n, others.worker) < 0 ||
	    body_column_or_0(in, message, "awaited", n, others.awaited) < 0 ||
	    body_column_or_0(in, message, "counted", n, counted.on_core) < 0)
		die_input(in);
	for (int c = 0; c < COUNTERS; c++)
		if (body_column_or_0(in, message, counter_names[c], n, counted.of[c]) < 0)
			die_input(in);
	add_sums(f, &sums);
	for (size_t i = 0; i < n; i++) {
		struct sampled place = { site[i], callers[i], others.worker[i],
		    (int32_t)others.rank[i], all[i], samples[i], (int64_t)blocked[i],
		    (int64_t)before[i], (int64_t)others.awaited[i],
		    .counted_ns = (int64_t)counted.on_core[i] };

		for (int c = 0; c < COUNTERS; c++)
			place.counts.of[c] = counted.of[c][i];
		functions_add_place(f, &place);
	}
}
