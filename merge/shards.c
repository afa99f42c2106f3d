/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the trace as a folder of shards: base/run/shard_files.h. */
#include <stdlib.h>
#include <string.h>

#include "merge.h"

/* A rank that is missing has no host, and goes with the one before it. */
static uint32_t
by_node(const struct input *input, uint32_t *of)
{
	const char **hosts = zalloc((size_t)input->rank_count, sizeof *hosts);
	uint32_t count = 0, shard = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const char *host = input->ranks[r].host;

		if (host != NULL && (count == 0 || strcmp(hosts[shard], host) != 0)) {
			for (shard = 0; shard < count && strcmp(hosts[shard], host) != 0; shard++)
				;
			if (shard == count)
				hosts[count++] = host;
		}
		of[r] = shard;
	}
	free(hosts);
	return count > 0 ? count : 1;
}

/* Ranges of ranks of equal length, or the ranks of each node. */
static struct shard_plan
plan_shards(const struct input *input, uint32_t count)
{
	struct shard_plan plan = { .ranks = (uint32_t)input->rank_count, .count = count };

	plan.of = zalloc(plan.ranks, sizeof *plan.of);
	if (count == 0) {
		plan.count = by_node(input, plan.of);
		return plan;
	}
	if (plan.count > plan.ranks)
		plan.count = plan.ranks;
	for (uint32_t r = 0; r < plan.ranks; r++)
		plan.of[r] = (uint32_t)((uint64_t)r * plan.count / plan.ranks);
	return plan;
}

/* All members number definitions alike; the first one's bytes count. */
static void
share_definitions(struct writer *definitions, const struct team *team)
{
	msgpack_sbuffer *buffer = &definitions->buffer;

	team_copy(team, &buffer->size, sizeof buffer->size);
	if (buffer->size > buffer->alloc) {
		buffer->data = need(realloc(buffer->data, buffer->size));
		buffer->alloc = buffer->size;
	}
	team_copy(team, buffer->data, buffer->size);
	team_copy(team, &definitions->messages, sizeof definitions->messages);
}

/*
 * The writer of each shard: if members have files of their own, the one with its ranks; UINT32_MAX:
 * none.
 */
static uint32_t *
find_writers(const struct input *input, const struct shard_plan *plan, const struct team *team)
{
	uint32_t *writer = zalloc(plan->count, sizeof *writer), first, end;

	memset(writer, 0xff, plan->count * sizeof *writer);
	if (input->holders == 0)
		for (int member = 0; member < team->size; member++) {
			shards_of_member(team, member, plan->count, &first, &end);
			for (uint32_t number = first; number < end; number++)
				writer[number] = (uint32_t)member;
		}
	for (uint32_t r = 0; input->holders > 0 && r < plan->ranks; r++) {
		const struct rank *rank = &input->ranks[r];
		uint32_t *of = &writer[plan->of[r]];

		if (!rank->present)
			continue;
		if (*of != UINT32_MAX && *of != (uint32_t)rank->holder)
			die("%s: of node %s, whose other traces are not in the same place",
			    rank->file, rank->host != NULL ? rank->host : "");
		*of = (uint32_t)rank->holder;
	}
	return writer;
}

void
write_shards(struct input *input, const char *folder, uint32_t count, const struct team *team,
    bool names, int argc, char **argv)
{
	static struct writer definitions;
	struct shard_plan plan = plan_shards(input, count);
	struct output *o = output_begin(input);
	uint32_t *writer = find_writers(input, &plan, team);

	writer_start(&definitions, -1);
	output_define(o, &definitions, names && team->rank == 0, team->rank == 0);
	if (team->size > 1)
		share_definitions(&definitions, team);
	plan.run = writer_hash(&definitions) ^ input->run;
	for (uint32_t number = 0; number < plan.count; number++) {
		struct writer *out;

		if (writer[number] != (uint32_t)team->rank)
			continue;
		out = output_open(o, shard_create(folder, number), argc, argv);

		shard_write(out, &plan, number, definitions.messages);
		need_output(writer_append(out, &definitions));
		output_blocks(o, plan.of, number);
		need_output(writer_end(out));
	}
	output_end(o);
	writer_close(&definitions);
	free(writer);
	free(plan.of);
}
