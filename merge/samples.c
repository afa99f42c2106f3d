/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of all ranks, on the one clock: one more pass over the raw traces, where there are any.
 * They stand before the calls, each thread's in order of time. What the logical clock moves calls by
 * does not move them.
 */
#include <string.h>

#include "../base/stream/samples.h"
#include "merge.h"

struct pass {
	struct input *input;
	struct writer *out;
	struct samples block;
	int64_t moved_ns;
	int32_t rank;		/* whose raw trace is read; -1: not known yet */
};

static uint32_t
map_one(uint32_t number, const uint32_t *map, size_t size)
{
	return number < size ? map[number] : 0;
}

/* A thread of which no call is known is shown as a worker beyond those that the recorder counts. */
static void
place_block(struct samples *s, const struct rank *rank, int32_t number)
{
	if (s->location == 0)
		s->location = (uint32_t)number;
	else if (s->location < rank->threads)
		s->location = rank->location_base + s->location - 1;
	else {
		s->worker = UINT32_MAX - s->location;
		s->location = (uint32_t)number;
	}
}

static void
pass_block(struct pass *pass, struct reader *in, const struct message *message)
{
	const struct rank *rank = &pass->input->ranks[pass->rank];
	struct samples *s = &pass->block;
	const int64_t less_ns = pass->input->origin_ns + pass->moved_ns;

	if (reader_verify(in, message) < 0 || samples_read(s, in, message) < 0)
		die_input(in);
	place_block(s, rank, pass->rank);
	correct_times(&rank->correction, s->time_ns, s->count);
	s->until_ns = corrected_ns(&rank->correction, s->until_ns) - less_ns;
	for (size_t i = 0; i < s->count; i++) {
		s->time_ns[i] -= less_ns;
		s->site[i] = map_one(s->site[i], rank->site_map, rank->site_map_size);
		s->callers[i] = map_one(s->callers[i], rank->site_map, rank->site_map_size);
	}
	if (samples_write(pass->out, s) < 0)
		die_output();
}

static void
pass_file(struct pass *pass, const char *file)
{
	struct message message;
	struct reader *in;
	int64_t rank;
	int got;

	if (reader_open(&in, strcmp(file, "standard input") == 0 ? NULL : file, READ_SKIMMING) < 0)
		die_input(in);
	pass->rank = -1;
	while ((got = reader_next(in, &message)) > 0)
		if (is_kind(&message, "longpole"))
			pass->rank = -1;
		else if (is_kind(&message, "rank")) {
			if (body_int(in, &message, "rank", 0, pass->input->rank_count - 1, &rank) < 0)
				die_input(in);
			pass->rank = (int32_t)rank;
		} else if (is_kind(&message, "sampled") && pass->rank >= 0)
			pass_block(pass, in, &message);
	if (got < 0)
		die_input(in);
	reader_close(in);
}

void
write_samples(struct writer *out, struct input *input, int64_t moved_ns)
{
	struct pass pass = { .input = input, .out = out, .moved_ns = moved_ns };
	const char *last = NULL;

	if (!input->sampled)
		return;
	for (int32_t r = 0; r < input->rank_count; r++)
		if (input->ranks[r].file != NULL && input->ranks[r].file != last)
			pass_file(&pass, last = input->ranks[r].file);
	samples_free(&pass.block);
}
