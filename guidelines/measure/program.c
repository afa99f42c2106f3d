/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A right side at one size: its calls with their memory, prepared before they are timed. Every rank
 * checks the bounds of every rank, so that all find the same error.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "jobs.h"

struct made {
	void (*run)(const struct call *call);
	struct call call;
};

struct program {
	struct made *made;
	size_t count, capacity;
	char *memory[OWN_BUFFERS];	/* NULL: not its own */
	uint64_t bytes;
};

/* A step with its numbers, in elements; unused offsets are 0. */
struct planned {
	int64_t from, to, count, root;
	size_t reads, writes;		/* elements from there on */
};

/* One rank's view of a right side. */
struct view {
	const struct own *own;
	const struct call *call;
	int rank;
	int64_t values[VARIABLES];
	int64_t need[OWN_BUFFERS];	/* elements */
	char *error;
};

static bool
has_memory(const struct view *v, int buffer)
{
	bool at_root = v->rank == v->call->root;

	return buffer > OUT ||
	    has_buffer(buffer == IN ? v->own->function->input : v->own->function->output, at_root);
}

static int64_t
evaluate(const struct view *v, const struct number *number, int64_t otherwise, int64_t most,
    const char *what)
{
	struct scanner s = { .at = number->at, .line = number->line, .error = v->error };
	int64_t value;

	if (number->at == NULL)
		return otherwise;
	value = number->factor ? scan_factor(&s, v->values) : scan_number(&s, v->values);
	if (v->error[0] == '\0' && (value < 0 || value > most))
		scan_fail(&s, "%s is %" PRId64 ", with n = %" PRId64
		    ", p = %d and block = %d; it lies from 0 to %" PRId64, what, value,
		    v->values[VOLUME], v->call->ranks, v->call->count, most);
	return value;
}

/* Reports elements outside a buffer; temporary buffers grow to the size needed. */
static void
use(struct view *v, const struct own_step *step, int buffer, int64_t offset, size_t elements)
{
	const struct subject *f = v->own->function;
	int64_t end = offset + (int64_t)elements, there;
	struct scanner s = { .line = step->count.line, .error = v->error };

	if (elements == 0)
		return;
	there = buffer > OUT ? INT_MAX : (int64_t)(blocks(buffer == IN ? f->input : f->output,
	    v->call->ranks) * (size_t)v->call->count);
	if (end > there)
		scan_fail(&s, "%s needs element %" PRId64 " of %s, which has %"
		    PRId64 ", with n = %" PRId64 ", p = %d and block = %d", step->action.name, end,
		    v->own->buffers[buffer], there, v->values[VOLUME], v->call->ranks,
		    v->call->count);
	if (end > v->need[buffer])
		v->need[buffer] = end;
}

/* One turn of a step; returns false if this rank does nothing, or after an error. */
static bool
plan(struct view *v, const struct own_step *step, struct planned *p)
{
	const struct action *a = &step->action;
	struct scanner fault = { .line = step->count.line, .error = v->error };
	int ranks = v->call->ranks;
	size_t most;

	*p = (struct planned){ 0 };
	p->count = evaluate(v, &step->count, 0, INT_MAX, "the count");
	p->root = evaluate(v, &step->root, v->call->root, ranks - 1, "the root");
	if (v->error[0] != '\0' || (a->local && (p->count == 0 || !has_memory(v, step->to.buffer) ||
	    (a->input != NONE && !has_memory(v, step->from.buffer)))))
		return false;
	if (has_buffer(a->input, v->rank == p->root))
		p->reads = blocks(a->input, ranks) * (size_t)p->count;
	if (has_buffer(a->output, v->rank == p->root))
		p->writes = blocks(a->output, ranks) * (size_t)p->count;
	most = p->reads > p->writes ? p->reads : p->writes;
	if (most > INT_MAX)
		scan_fail(&fault, "%zu elements are too many for one call", most);
	if (p->reads > 0)
		p->from = evaluate(v, &step->from.offset, 0, INT_MAX, "the place");
	if (p->writes > 0)
		p->to = evaluate(v, &step->to.offset, 0, INT_MAX, "the place");
	use(v, step, step->from.buffer, p->from, p->reads);
	use(v, step, step->to.buffer, p->to, p->writes);
	if (v->error[0] == '\0' && p->reads > 0 && p->writes > 0 &&
	    step->from.buffer == step->to.buffer && p->from < p->to + (int64_t)p->writes &&
	    p->to < p->from + (int64_t)p->reads)
		scan_fail(&fault, "%s reads and writes the same elements of %s", a->name,
		    v->own->buffers[step->to.buffer]);
	return v->error[0] == '\0';
}

static void
add_call(struct program *program, const struct own_step *step, const struct planned *p,
    const struct call *call, char *const *memory)
{
	struct made *made;
	size_t ranks = (size_t)call->ranks;

	made = APPEND(program->made, program->count, program->capacity);
	made->run = step->action.run;
	made->call = *call;
	made->call.count = (int)p->count;
	made->call.root = (int)p->root;
	made->call.send = p->reads > 0 ?
	    memory[step->from.buffer] + (size_t)p->from * call->extent : NULL;
	made->call.recv = p->writes > 0 ?
	    memory[step->to.buffer] + (size_t)p->to * call->extent : NULL;
	made->call.counts = made->call.mock_counts = zalloc(ranks, sizeof(int));
	made->call.mock_displs = zalloc(ranks, sizeof(int));
	for (size_t r = 0; r < ranks; r++) {
		made->call.counts[r] = (int)p->count;
		made->call.mock_displs[r] = (int)(r * (size_t)p->count);
	}
}

/* All turns of all steps as this rank sees them; with PROGRAM NULL it only checks. */
static void
walk(struct view *v, struct program *program, char *const *memory)
{
	size_t calls = 0;

	for (size_t i = 0; i < v->own->step_count && v->error[0] == '\0'; i++) {
		const struct own_step *step = &v->own->steps[i];
		int64_t turns;

		v->values[TURN] = 0;
		turns = evaluate(v, &step->turns, 1, OWN_CALLS, "the number of turns");
		calls += (size_t)turns;
		if (v->error[0] == '\0' && calls > OWN_CALLS) {
			struct scanner s = { .line = step->turns.line, .error = v->error };

			scan_fail(&s, "more than %d calls", OWN_CALLS);
		}
		for (; v->values[TURN] < turns && v->error[0] == '\0'; v->values[TURN]++) {
			struct planned p;

			if (plan(v, step, &p) && program != NULL)
				add_call(program, step, &p, v->call, memory);
		}
	}
}

struct program *
program_make(const struct own *own, const struct call *call, char error[ERROR_BYTES])
{
	const struct subject *f = own->function;
	const int64_t all = f->input >= ALL || f->output >= ALL ? call->ranks : 1;
	struct program *program;
	char *memory[OWN_BUFFERS] = { NULL };
	struct view mine = { 0 };

	error[0] = '\0';
	for (int rank = 0; rank < call->ranks && error[0] == '\0'; rank++) {
		struct view other = { .own = own, .call = call, .rank = rank, .error = error,
		    .values = { f->input == NONE ? 0 : all * call->count, call->ranks,
		    call->count, rank, call->root, 0 } };

		walk(&other, NULL, NULL);
		if (rank == call->rank)
			mine = other;
	}
	if (error[0] != '\0')
		return NULL;
	program = zalloc(1, sizeof *program);
	for (int b = 0; b < own->buffer_count; b++) {
		memory[b] = !has_memory(&mine, b) || b > OUT ? NULL :
		    b == IN ? call->send : call->recv;
		if (memory[b] == NULL) {
			program->bytes += (uint64_t)mine.need[b] * call->extent;
			memory[b] = program->memory[b] = zalloc((size_t)mine.need[b] + 1,
			    call->extent);
		}
	}
	mine.values[TURN] = 0;
	walk(&mine, program, memory);
	return program;
}

uint64_t
program_bytes(const struct program *program)
{
	return program->bytes;
}

void
program_free(struct program *program)
{
	if (program == NULL)
		return;
	for (size_t i = 0; i < program->count; i++) {
		free(program->made[i].call.counts);
		free(program->made[i].call.mock_displs);
	}
	for (int b = 0; b < OWN_BUFFERS; b++)
		free(program->memory[b]);
	free(program->made);
	free(program);
}

void
program_run(const struct call *call)
{
	const struct program *program = call->program;

	for (size_t i = 0; i < program->count; i++)
		program->made[i].run(&program->made[i].call);
}
