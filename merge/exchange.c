/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process knows of the raw traces that it has read, as numbers of 8 bytes for the others: the
 * fields of struct rank and what is behind its pointers. Blocks of calls stay in the files.
 */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "../base/run/raw_folder.h"
#include "../base/stream/calls.h"
#include "pack.h"

/* ---- a rank ---- */

static void
pack_rank(struct pack *p, const struct input *input, const struct rank *rank)
{
	put(p, (uint64_t)(rank - input->ranks));
	put(p, rank->segments_count);
	for (size_t i = 0; i < rank->segments_count; i++) {
		put_text(p, rank->segments[i].file);
		put(p, rank->segments[i].offset);
	}
	put_text(p, rank->host);
	put_text(p, rank->program);
	put(p, rank->ended);
	put(p, rank->rows);
	put(p, rank->calls_offset);
	put(p, (uint64_t)rank->begin_ns);
	put(p, (uint64_t)rank->end_ns);
	put(p, (uint64_t)rank->clock_peer);
	PUT_ARRAY(p, rank, thread, rank->threads);
	PUT_ARRAY(p, rank, samples, rank->sample_count);
	PUT_ARRAY(p, rank, cores, rank->cores_count);
	PUT_ARRAY(p, rank, comms, rank->comm_count);
	for (size_t i = 0; i < rank->comm_count; i++) {
		put_text(p, rank->comms[i].type);
		PUT_ARRAY(p, &rank->comms[i], sources, rank->comms[i].source_count);
		put(p, rank->comms[i].sources != NULL);
	}
	PUT_ARRAY(p, rank, modules, rank->module_count);
	for (size_t i = 0; i < rank->module_count; i++) {
		const struct module *module = &input->modules[rank->modules[i].module];

		put_text(p, module->path);
		put_data(p, module->build_id, module->build_id_size);
	}
	PUT_ARRAY(p, rank, sites, rank->site_count);
	for (size_t i = 0; i < rank->site_count; i++)
		PUT_ARRAY(p, &rank->sites[i], stack, rank->sites[i].depth);
}

static void
unpack_comms(struct unpack *u, struct rank *rank)
{
	GET_ARRAY(u, rank, comms, comm_count)
	rank->comm_capacity = rank->comm_count;
	for (size_t i = 0; i < rank->comm_count; i++) {
		struct membership *comm = &rank->comms[i];

		comm->type = get_data(u, NULL);
		GET_ARRAY(u, comm, sources, source_count)
		if (get(u) != 0 && comm->sources == NULL)
			comm->sources = zalloc(1, sizeof *comm->sources);
	}
}

static void
unpack_places(struct unpack *u, struct input *input, struct rank *rank)
{
	GET_ARRAY(u, rank, modules, module_count)
	rank->module_capacity = rank->module_count;
	for (size_t i = 0; i < rank->module_count; i++) {
		char *path = get_data(u, NULL);
		size_t size;
		void *build_id = get_data(u, &size);

		rank->modules[i].module = module_number(input, path, build_id != NULL ? build_id : "", (uint32_t)size);
		free(build_id);
	}
	GET_ARRAY(u, rank, sites, site_count)
	rank->site_capacity = rank->site_count;
	for (size_t i = 0; i < rank->site_count; i++)
		GET_ARRAY(u, &rank->sites[i], stack, depth)
}

/* One by one as their traces were read, so that modules are numbered as they came. */
static void
unpack_rank(struct unpack *u, struct input *input, int holder)
{
	struct rank *rank = &input->ranks[get(u)];
	const size_t count = (size_t)get(u);
	struct raw_segment *segments = zalloc(count, sizeof *segments);

	for (size_t i = 0; i < count; i++) {
		segments[i].file = get_data(u, NULL);
		segments[i].offset = get(u);
	}
	if (rank->present)
		die("%s: rank %d again: it was read from %s", segments[0].file, (int)(rank - input->ranks), rank->file);
	rank->present = true;
	rank->holder = holder;
	rank->segments = segments;
	rank->segments_count = count;
	rank->file = segments[0].file;
	rank->host = get_data(u, NULL);
	rank->program = get_data(u, NULL);
	rank->ended = get(u) != 0;
	rank->rows = get(u);
	rank->calls_offset = get(u);
	rank->begin_ns = (int64_t)get(u);
	rank->end_ns = (int64_t)get(u);
	rank->clock_peer = (int32_t)get(u);
	GET_ARRAY(u, rank, thread, threads)
	GET_ARRAY(u, rank, samples, sample_count)
	rank->sample_capacity = rank->sample_count;
	GET_ARRAY(u, rank, cores, cores_count)
	unpack_comms(u, rank);
	unpack_places(u, input, rank);
	rank->order = input->traces++;
}

/* ---- all ---- */

static int
by_order(const void *left, const void *right)
{
	const struct rank *const *a = left, *const *b = right;

	return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

static void
pack_ranks(struct pack *p, const struct input *input)
{
	const struct rank **ranks = zalloc((size_t)input->rank_count, sizeof *ranks);
	size_t count = 0;

	for (int32_t r = 0; r < input->rank_count; r++)
		if (input->ranks[r].present)
			ranks[count++] = &input->ranks[r];
	qsort(ranks, count, sizeof *ranks, by_order);
	put(p, count);
	for (size_t i = 0; i < count; i++) {
		const size_t at = p->count;

		put(p, 0);	/* its words */
		pack_rank(p, input, ranks[i]);
		p->words[at] = p->count - at;
	}
	free(ranks);
}

static uint64_t
lowest_rank(const struct input *input)
{
	int32_t r = 0;

	while (r < input->rank_count && !input->ranks[r].present)
		r++;
	return (uint64_t)r;
}

static void
pack_history(struct pack *p, const struct input *input)
{
	size_t lines = 0;

	while (reader_history(input->in, lines) != NULL)
		lines++;
	put(p, lines);
	for (size_t i = 0; i < lines; i++)
		put_text(p, reader_history(input->in, i));
}

static void
pack_survey(struct pack *p, const struct input *input)
{
	put(p, 0);	/* words, once they are known */
	put(p, input->died);
	put_text(p, input->run_file);
	put(p, lowest_rank(input));
	pack_history(p, input);
	put(p, (uint64_t)input->rank_count);
	put(p, input->run);
	put(p, (uint64_t)input->date_s);
	put(p, input->sampled);
	for (unsigned number = 1; number <= UINT16_MAX; number++)
		if (reader_calls(input->in)[number] != 0) {
			put(p, number);
			put_text(p, call_name(reader_calls(input->in)[number]));
		}
	put(p, 0);
	put(p, input->variable_count);
	for (size_t i = 0; i < input->variable_count; i++) {
		put_text(p, input->environment[i].name);
		put_text(p, input->environment[i].value);
	}
	pack_ranks(p, input);
	p->words[0] = p->count;
}

/* That of the lowest rank's trace, where each has files of its own; else all have read the first one's. */
static void
unpack_history(struct unpack *u, struct input *input, uint64_t *lowest)
{
	const uint64_t rank = get(u);
	const size_t count = (size_t)get(u);
	char **lines = zalloc(count, sizeof *lines);

	for (size_t i = 0; i < count; i++)
		lines[i] = get_data(u, NULL);
	if (input->holders > 0 && rank < *lowest) {
		if (reader_set_history(input->in, lines, count) < 0)
			die_input(input->in);
		*lowest = rank;
	}
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
}

/* Of one run; a process that had no file to read has nothing to say. */
static bool
unpack_run(struct unpack *u, struct input *input, uint64_t *lowest)
{
	char *file = get_data(u, NULL);
	int32_t ranks;
	uint64_t run;

	unpack_history(u, input, lowest);
	ranks = (int32_t)get(u);
	run = get(u);
	if (file == NULL)
		return false;
	if (input->run_file == NULL) {
		input->run_file = file;
		input->run = run;
		input->rank_count = ranks;
		input->ranks = zalloc((size_t)ranks, sizeof *input->ranks);
	} else if (run != input->run)
		die("%s: of another run than %s", file, input->run_file);
	else if (ranks != input->rank_count)
		die("%s: of a run of %d ranks, but %s is of %d", file, (int)ranks, input->run_file,
		    (int)input->rank_count);
	return true;
}

/* Where a rank's words begin, and who has told them. */
struct told {
	uint64_t rank;
	size_t at;
	int holder;
};

static int
by_rank(const void *left, const void *right)
{
	const struct told *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

struct told_ranks {
	struct told *told;
	size_t count, capacity;
	uint64_t lowest;	/* whose history it is */
};

/* All but the ranks, which are only noted. */
static void
unpack_survey(struct unpack *u, struct input *input, int holder, struct told_ranks *ranks)
{
	const size_t end = u->at + (size_t)u->words[u->at];
	int64_t date_s;
	uint64_t number, variables, count;

	u->at++;
	input->died |= get(u) != 0;
	if (!unpack_run(u, input, &ranks->lowest)) {
		u->at = end;
		return;
	}
	date_s = (int64_t)get(u);
	if (date_s != 0 && (input->date_s == 0 || date_s < input->date_s))
		input->date_s = date_s;
	input->sampled |= get(u) != 0;
	while ((number = get(u)) != 0) {
		char *name = get_data(u, NULL);

		if (reader_name_call(input->in, (uint16_t)number, name) < 0)
			die("%s: %s", input->run_file, reader_error(input->in, NULL));
		free(name);
	}
	if ((variables = get(u)) > 0)
		input->environment = zalloc((size_t)variables, sizeof *input->environment);
	for (; variables > 0; variables--) {
		struct variable *v = &input->environment[input->variable_count++];

		v->name = get_data(u, NULL);
		v->value = get_data(u, NULL);
	}
	for (count = get(u); count > 0; count--) {
		ranks->told = grow(ranks->told, &ranks->capacity, ranks->count + 1, sizeof *ranks->told);
		ranks->told[ranks->count++] = (struct told){ u->words[u->at + 1], u->at + 1, holder };
		u->at += (size_t)u->words[u->at];
	}
}

/* Files of all are in the order in which one process would have read them; those of their own by rank. */
static void
unpack_all(struct input *input, const uint64_t *words, size_t count)
{
	struct unpack u = { words, 0, count };
	struct told_ranks ranks = { .lowest = UINT64_MAX };
	struct input own = *input;

	*input = (struct input){ .in = own.in, .files = own.files, .file_count = own.file_count,
	    .file_capacity = own.file_capacity, .holders = own.holders, .partial = own.partial };
	for (int holder = 0; u.at < u.count; holder++)
		unpack_survey(&u, input, holder, &ranks);
	if (input->holders > 0)
		qsort(ranks.told, ranks.count, sizeof *ranks.told, by_rank);
	for (size_t i = 0; i < ranks.count; i++) {
		u.at = ranks.told[i].at;
		unpack_rank(&u, input, ranks.told[i].holder);
	}
	free(ranks.told);
}

/* Names and the history are those of the first trace for whoever reads others. */
static void
read_header(struct input *input)
{
	struct message message;

	if (input->file_count == 0) {	/* the others tell all */
		reader_open(&input->in, "/dev/null", READ_SKIMMING);
		reader_go_on(input->in, "/dev/null");
	} else if (reader_open(&input->in, input->files[0], READ_SKIMMING) < 0 || reader_next(input->in, &message) < 0)
		die_input(input->in);
	reader_leave(input->in);
}

/* The segments of a rank are read by one process. */
static size_t
first_of(const struct input *input, size_t part, size_t parts)
{
	size_t first = input->file_count * part / parts;

	for (; first > 0 && first < input->file_count; first++) {
		const char *slash = strrchr(input->files[first], '/');
		const char *segment = raw_name_segment(slash != NULL ? slash + 1 : input->files[first]);

		if (segment == NULL || *segment == '\0')
			break;
	}
	return first;
}

void
survey(struct input *input, const struct team *team)
{
	const bool own = input->holders > 0;
	const size_t rank = own ? 0 : (size_t)team->rank;
	const size_t size = own ? 1 : (size_t)team->size;
	const size_t first = first_of(input, rank, size), end = first_of(input, rank + 1, size);
	struct pack pack = { 0 };
	uint64_t *words;
	size_t count;

	if (first > 0 || end == 0)
		read_header(input);
	for (size_t i = first; i < end; i++)
		survey_file(input, input->files[i]);
	find_ends(input);
	if (team->size == 1)
		return;
	pack_survey(&pack, input);
	words = team_share(team, pack.words, pack.count, sizeof *words, &count);
	free(pack.words);
	for (int turn = 0; turn < 2; turn++) {		/* what is wrong is told by one */
		if ((team->rank > 0) == turn)
			unpack_all(input, words, count);
		team_sum(team, 0);
	}
	free(words);
}
