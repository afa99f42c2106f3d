/* SPDX-License-Identifier: BSD-3-Clause */
/* A function at one size: checked, timed together with its mock-ups, and written. */
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

/* Repetitions between two looks at the clock; and the number made whatever the time. */
enum { BLOCK = 5, LEAST_REPS = 10 };

enum role { FUNCTION, MOCKUP, SPLIT, CONTROL };

/* A subject at one size, with the buffers of its function, mock-ups and splits. */
struct member {
	const struct subject *subject;
	enum role role;
	struct call call;
	size_t part;			/* SPLIT: bytes of each call */
	uint64_t extra_bytes;
	uint64_t *ns;			/* one per repetition */
	struct program *program;	/* of a guideline in the file, or NULL */
};

static struct member *
add_member(struct state *s, const struct group *g, struct member *members, size_t *count,
    struct member member)
{
	struct member *to = &members[(*count)++];
	size_t elements = g->bytes / s->call.extent, p = (size_t)s->call.ranks;

	*to = member;
	to->call = s->call;
	to->ns = zalloc(g->reps, sizeof *to->ns);
	if (member.role == MOCKUP && member.subject->own != NULL) {
		char error[ERROR_BYTES];

		to->program = program_make(member.subject->own, &s->call, error);
		if (to->program == NULL)
			/* own_fits has checked it */
			die("%s: %s", s->opt.guidelines, error);
		to->call.program = to->program;
		to->extra_bytes = program_bytes(to->program);
	} else if (member.role == MOCKUP)
		to->extra_bytes = s->call.extent * member.subject->extra(p, elements,
		    (elements + p - 1) / p * p);
	return to;
}

/* The function, a copy of it as control, its mock-ups, and splits into each smaller size. */
static size_t
make_members(struct state *s, const struct group *g, struct member *members)
{
	const struct subject *f = g->function;
	size_t count = 0;

	set_call(&s->call, f, g->bytes / s->call.extent);
	add_member(s, g, members, &count, (struct member){ f, .role = FUNCTION });
	if (s->opt.plain)
		return count;
	if (f == s->control)
		add_member(s, g, members, &count, (struct member){ f, .role = CONTROL });
	for (size_t i = 0; i < mockup_count; i++)
		if (strcmp(mockups[i].function, f->name) == 0)
			add_member(s, g, members, &count,
			    (struct member){ &mockups[i], .role = MOCKUP });
	for (size_t i = 0; i < s->own.count; i++)
		if (s->own.subjects[i].own->function == f)
			add_member(s, g, members, &count,
			    (struct member){ &s->own.subjects[i], .role = MOCKUP });
	for (size_t i = 0; i < s->size_count && f->input != NONE && f->input != TWO; i++) {
		size_t part = s->sizes[i], k = part > 0 ? (g->bytes + part - 1) / part : 0;

		if (k >= 2 && k <= s->opt.splits && part >= s->call.extent) {
			struct member *split = add_member(s, g, members, &count,
			    (struct member){ f, .role = SPLIT, .part = part });

			split->call.calls = (int)k;
			if (f->input >= ALL || f->output >= ALL)
				split->extra_bytes = 2 * (uint64_t)s->call.ranks *
				    (part + s->call.extent);
		}
	}
	return count;
}

static void (*
run_of(const struct member *m))(const struct call *call)
{
	return m->role == SPLIT ? run_split : m->subject->run;
}

static void
check_member(const struct member *m, size_t bytes)
{
	if (!same_result(&m->call, run_of(m)))
		die("%s at %zu bytes%s: the result differs from that of %s", m->subject->name,
		    bytes, m->role == SPLIT ? " in several calls" : "", m->subject->function);
}

/* COUNT repetitions from FIRST on; each times all members in a new order. */
static void
time_members(struct state *s, struct member *members, size_t count, size_t first, size_t reps)
{
	struct timed *timed = zalloc(reps * count, sizeof *timed);
	size_t *who = zalloc(reps * count, sizeof *who);

	for (size_t r = 0; r < reps; r++)
		random_order(&s->random, who + r * count, count);
	for (size_t i = 0; i < reps * count; i++)
		timed[i] = (struct timed){ run_of(&members[who[i]]), &members[who[i]].call, 0 };
	time_calls(&s->sync, timed, reps * count);
	for (size_t i = 0; i < reps * count; i++)
		members[who[i]].ns[first + i / count] = (uint64_t)timed[i].ns;
	free(timed);
	free(who);
}

static int
put_samples(struct state *s, const struct group *g, const struct member *m, size_t position,
    size_t reps)
{
	static const char *const roles[] = { "function", "mockup", "split", "control" };
	struct writer *out = &s->out;

	message_begin(out, "samples", 12);
	put_string(out, "name", m->subject->name);
	put_string(out, "function", m->subject->function);
	put_string(out, "role", roles[m->role]);
	put_string(out, "guideline", m->role == MOCKUP ? m->subject->guideline : "");
	put_int(out, "number", m->subject->number);
	put_uint(out, "bytes", g->bytes);
	put_uint(out, "volume", volume(g->function, s->call.ranks, g->bytes));
	put_uint(out, "part", m->part);
	put_uint(out, "extra_bytes", m->extra_bytes);
	put_uint(out, "position", position);
	put_uint(out, "count", reps);
	put_column(out, "time", m->ns, reps);
	return message_end(out);
}

void
measure_group(struct state *s, size_t position)
{
	const struct group *g = &s->groups[position];
	struct member *members = zalloc(mockup_count + s->own.count + s->size_count + 2,
	    sizeof *members);
	size_t count = make_members(s, g, members), done = 0;
	int64_t now = now_ns();
	int64_t end_ns = now + (s->began_ns + s->opt.budget_ns - now) /
	    (int64_t)(s->group_count - position);

	for (size_t i = 1; i < count; i++)
		check_member(&members[i], g->bytes);
	for (size_t w = 0; w < s->opt.warm_up; w++)
		for (size_t i = 0; i < count; i++)
			run_of(&members[i])(&members[i].call);
	if (s->sync.kind == WINDOW)
		sync_clocks(&s->sync);
	for (int go = 1; done < g->reps && go; ) {
		size_t reps = g->reps - done < BLOCK ? g->reps - done : BLOCK;

		time_members(s, members, count, done, reps);
		done += reps;
		if (s->opt.budget_ns == 0 || done < LEAST_REPS)
			continue;
		go = now_ns() < end_ns;		/* by rank 0's clock */
		MPI_Bcast(&go, 1, MPI_INT, 0, s->call.comm);
	}
	for (size_t i = 0; i < count; i++) {
		if (s->call.rank == 0 && put_samples(s, g, &members[i], position, done) < 0)
			die_output();
		program_free(members[i].program);
		free(members[i].ns);
	}
	free(members);
}

bool
own_fits(struct state *s)
{
	for (const struct group *g = s->groups; g < s->groups + s->group_count; g++)
		for (size_t i = 0; i < s->own.count; i++) {
			const struct own *own = s->own.subjects[i].own;
			char error[ERROR_BYTES];
			struct program *program;

			if (own->function != g->function)
				continue;
			set_call(&s->call, own->function, g->bytes / s->call.extent);
			program = program_make(own, &s->call, error);
			if (program == NULL && s->call.rank == 0)
				note("%s: %s", s->opt.guidelines, error);
			program_free(program);
			if (program == NULL)
				return false;
		}
	return true;
}

bool
check_all(struct state *s)
{
	static const size_t counts[] = { 0, 1, 7, 1000 };
	size_t results = 0;

	for (enum type type = BYTE; type <= PAIR; type++) {
		s->call = make_call(MPI_COMM_WORLD, s->opt.root, type, 1000);
		for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
			for (size_t f = 0; f < function_count; f++) {
				struct member *members = zalloc(mockup_count + s->own.count + 3,
				    sizeof *members);
				struct group g = { &functions[f], counts[i] * s->call.extent, 1 };
				size_t parts[] = { g.bytes / 3, g.bytes / 2 }, count;

				s->groups = &g;
				s->group_count = 1;
				if (!own_fits(s))
					return false;
				s->sizes = parts;
				s->size_count = 2;
				count = make_members(s, &g, members);
				for (size_t m = 1; m < count; m++, results++)
					check_member(&members[m], g.bytes);
				for (size_t m = 0; m < count; m++)
					program_free(members[m].program);
				free(members);
			}
	}
	if (s->call.rank == 0)
		printf("%zu results equal on %d ranks\n", results, s->call.ranks);
	return true;
}
