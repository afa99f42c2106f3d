/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that hand over to each other. Where several threads of a rank make calls, one of them
 * may wait for another one outside of its calls, in a condition variable for example. Then the path
 * goes on in the other thread, where it may be in any call. So such a wait becomes two rows:
 *
 *	thread_wait	from the begin of the wait to the end of the other thread's last activity
 *	thread_signal	of the other thread at that instant, without time
 *
 * with the same tag, and an edge of kind locks from the second to the first. The site of both is
 * where the thread waited. When a thread waits,
 * and which one it waits for, is found as for threads without calls (base/run/awaited.h). A thread
 * begins with a wait without time for the thread that was active when it was created.
 *
 * A wait for a thread without calls, or one whose end is not known to be another thread's doing,
 * stays computation. So do all waits if there are no switches, or where the threads' own clocks
 * replace them.
 *
 * Memory: all messages up to the end of the input, with blocks compressed, and CALL_BYTES a call,
 * together at most MOST_HELD; 48 bytes a switch, 16 a sample. Beyond MOST_HELD nothing is found,
 * which is said.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/run/awaited.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

enum {
	CALL_BYTES = 24,
	MOST_HELD = 1 << 29,
	UNSWITCHED = 1 << 24,	/* so many bytes without switches: there are none */
	LEAST_NS = 10000,	/* a shorter wait stays computation */
};

enum thread_call { WAITS_THERE, SIGNALS_THERE };

/* A row that is made. */
struct made_row {
	uint64_t before;		/* seq of the next row of the thread as recorded */
	int64_t enter_ns, leave_ns;
	uint32_t site;			/* as defined here; 0: unknown */
	int32_t tag;
	enum thread_call call;
};

/* A thread that makes calls, if others of its rank do so, too. */
struct thread_rows {
	bool looked_at;
	struct time_spans calls;
	uint64_t *seq;			/* of each call's first row */
	size_t seq_capacity;
	uint64_t rows;
	uint32_t next;			/* location of the same rank; NONE: the last one */
	struct made_row *made;
	size_t count, capacity;
};

/* The definition of a site with the name of the call. */
struct waiting_site {
	uint32_t of;			/* UINT32_MAX: free slot */
	enum thread_call call;
	uint32_t site;
};
HASH_TABLE_OF(waiting_sites, struct waiting_site, of, call, of, UINT32_MAX)

static const char *const names[] = { [WAITS_THERE] = "thread_wait",
	[SIGNALS_THERE] = "thread_signal" };

/* ---- holding back ----------------------------------------------------------------------- */

static void
note_calls(struct thread_rows *t, const struct calls *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->call[i] == 0)
			continue;
		GROW(t->seq, t->seq_capacity, t->calls.count + 1);
		t->seq[t->calls.count] = c->first + i;
		*APPEND(t->calls.at, t->calls.count, t->calls.capacity) = (struct time_span){
		    c->enter_ns[i], c->leave_ns[i] };
	}
	t->rows = c->first + c->count;
}

static void
note_samples(struct handovers *h, struct reader *in, const struct message *message)
{
	if (samples_read(&h->block, in, message) < 0)
		die_input(in);
	if (!h->threads[h->block.location].looked_at)
		return;
	if (h->block.switches)
		off_add(h->off, &h->block);
	else {
		h->period_ns = h->block.period_ns;
		lane_add(lane_of(h->samples, h->block.location, h->block.worker), &h->block);
	}
}

/* The threads of each rank with several that make calls, the first one first. */
static void
begin(struct handovers *h, const struct definitions *known)
{
	const uint32_t ranks = (uint32_t)known->ranks;
	uint32_t *last = zalloc(ranks, sizeof *last);

	h->off = zalloc(1, sizeof *h->off);
	h->samples = zalloc(1, sizeof *h->samples);
	h->threads = zalloc(known->location_count, sizeof *h->threads);
	for (uint32_t l = 0; l < known->location_count; l++) {
		const int32_t rank = known->location_rank[l];

		h->threads[l].next = NONE;
		if (l < ranks)
			last[l] = l;
		else if (rank >= 0) {
			h->threads[rank].looked_at = h->threads[l].looked_at = true;
			h->threads[last[rank]].next = l;
			last[rank] = l;
		}
	}
	free(last);
}

/* Whether it is too much to hold, or there is nothing to find. */
static bool
gives_up(const struct handovers *h)
{
	if (h->off->count == 0)
		return h->held_bytes > UNSWITCHED;
	if (h->held_bytes <= MOST_HELD)
		return false;
	note("several threads of a rank make calls, but they are too many to find which of them "
	    "waited for each other");
	return true;
}

bool
handovers_hold(struct handovers *h, const struct definitions *known, struct reader *in,
    const struct message *message, struct calls *calls)
{
	struct held *held;

	if (is_kind(message, "run"))
		h->looks = known->location_count > (uint32_t)known->ranks &&
		    body_get(message, "followed") == NULL;
	if (!h->looks || (h->oldest == NULL && calls == NULL && !is_samples(message)))
		return false;
	if (h->threads == NULL)
		begin(h, known);
	if (gives_up(h)) {
		h->looks = false;
		return false;
	}
	if (is_samples(message))
		note_samples(h, in, message);
	if (calls != NULL && h->threads[calls->location].looked_at) {
		note_calls(&h->threads[calls->location], calls);
		h->held_bytes += calls->count * CALL_BYTES;
	}
	held = held_new(message, calls, true);
	*(h->oldest == NULL ? &h->oldest : &h->newest->next) = held;
	h->newest = held;
	h->held_bytes += held->size;
	return true;
}

/* ---- finding ---------------------------------------------------------------------------- */

/* One process while its threads are looked at. */
struct finding {
	struct handovers *all;
	const struct definitions *known;
	struct thread_waits waits;
	struct waiting_sites sites;
	uint32_t defined;		/* the number of the next site */
	struct writer *out;
	int64_t begin_ns;		/* its first thread left its first call */
};

#define BEFORE(call, ns) ((call)->from_ns < (ns))
SEARCH(call_from, struct time_span, int64_t, BEFORE)
#undef BEFORE

/* Defines the site of a call, if need be: as that of a sample, but with the name of the call. */
static uint32_t
define_site(struct finding *f, uint32_t of, enum thread_call call)
{
	struct waiting_site key = { of, call, f->defined }, *found;
	struct stack_frame frame, inlined;
	struct site site;

	if (of == 0 || of >= f->known->site_count || !f->known->sites[of].defined)
		return 0;
	found = waiting_sites_add(&f->sites, &key);
	if (found->site < f->defined)
		return found->site;
	site = f->known->sites[of];
	frame = own_frame(f->known, of, &inlined);
	site.call = names[call];
	site.function = frame.name;
	site.file = frame.file;
	site.line = frame.line;
	site.inlined_count = 0;
	site_write(f->out, f->defined, &site);
	return f->defined++;
}

/* Where the thread waited between two instants, in the program's own code. */
static uint32_t
waiting_place(const struct finding *f, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	struct off_cut cut = off_between(off_lane_of(f->all->off, location, 0), from_ns, to_ns);
	const struct sample_lane *lane = lane_find(f->all->samples, location, 0);
	size_t i = lane != NULL ? lane_from(lane, from_ns) : 0;
	struct off_span part;

	while (off_next(&cut, &part))
		if (part.site != 0)
			return own_place(f->known, part.site, part.callers);
	for (; lane != NULL && i < lane->end && lane->at[i].at_ns < to_ns; i++)
		if (lane->at[i].site != 0)
			return own_place(f->known, lane->at[i].site, lane->at[i].callers);
	return 0;
}

/*
 * Makes a row of a location, from ENTER_NS to LEAVE_NS; false: its thread made no call before or,
 * if it is the first one, makes none after it.
 */
static bool
has_room(const struct finding *f, uint32_t location, int64_t enter_ns)
{
	const struct thread_rows *t = &f->all->threads[location];

	return enter_ns >= f->begin_ns && t->calls.count > 0 && (location >=
	    (uint32_t)f->known->ranks || enter_ns <= t->calls.at[t->calls.count - 1].from_ns);
}

static void
make_row(const struct finding *f, uint32_t location, struct made_row row)
{
	struct thread_rows *t = &f->all->threads[location];
	const size_t next = call_from(t->calls.at, t->calls.count,
	    row.enter_ns + (row.leave_ns > row.enter_ns));

	row.before = next < t->calls.count ? t->seq[next] : t->rows;
	*APPEND(t->made, t->count, t->capacity) = row;
}

static void
make_pair(struct finding *f, uint32_t waiter, uint32_t by, int64_t from_ns, int64_t at_ns,
    uint32_t place)
{
	const int32_t tag = (int32_t)f->all->count;

	if (!has_room(f, waiter, from_ns) || !has_room(f, by, at_ns) || tag == INT32_MAX)
		return;
	f->all->count++;
	make_row(f, waiter, (struct made_row){ .enter_ns = from_ns, .leave_ns = at_ns,
	    .site = define_site(f, place, WAITS_THERE), .tag = tag, .call = WAITS_THERE });
	make_row(f, by, (struct made_row){ .enter_ns = at_ns, .leave_ns = at_ns,
	    .site = define_site(f, place, SIGNALS_THERE), .tag = tag, .call = SIGNALS_THERE });
}

/* Who created the thread: the one that was active then, as far as that is known. */
static void
find_creator(struct finding *f, const struct thread_times *t)
{
	const int64_t at_ns = off_lane_of(f->all->off, t->location, 0)->from_ns;
	const struct time_span wait = { f->begin_ns, at_ns };
	int64_t last_ns = INT64_MIN;
	const struct thread_times *by = awaited_by(&f->waits, t, &wait, NEAR_NS, &last_ns);

	if (by != NULL && by != t && by->worker == 0 && last_ns > at_ns - NEAR_NS)
		make_pair(f, t->location, by->location, last_ns, last_ns, 0);
}

static void
find_waits(struct finding *f, const struct thread_times *t)
{
	const struct off_lane *lane = off_lane_of(f->all->off, t->location, 0);
	const int64_t near_ns = f->waits.sampled ? f->all->period_ns : NEAR_NS;

	for (size_t i = 0; i < t->waits.count; i++) {
		const struct time_span wait = { larger(t->waits.at[i].from_ns, lane->from_ns),
			t->waits.at[i].to_ns };
		const struct thread_times *by;
		int64_t at_ns;

		if (wait.to_ns > lane->until_ns || wait.to_ns - wait.from_ns < LEAST_NS)
			continue;
		by = awaited_by(&f->waits, t, &wait, near_ns, &at_ns);
		if (by != NULL && by != t && by->worker == 0 && at_ns > wait.from_ns)
			make_pair(f, t->location, by->location, wait.from_ns, at_ns,
			    waiting_place(f, t->location, wait.from_ns, wait.to_ns));
	}
}

ORDER(by_place, struct made_row, BY(before) BY(enter_ns) COMPARED((int)b->call, (int)a->call)
    BY(tag))

static void
find_in_process(struct finding *f, uint32_t first)
{
	struct handovers *h = f->all;
	struct calling_thread *threads = NULL;
	size_t count = 0, capacity = 0;

	for (uint32_t l = first; l != NONE; l = h->threads[l].next)
		*APPEND(threads, count, capacity) = (struct calling_thread){ l,
		    h->threads[l].calls };
	if (h->threads[first].calls.count > 0) {
		f->begin_ns = h->threads[first].calls.at[0].to_ns;
		thread_waits_of_process(&f->waits, f->known, h->off, h->samples, h->period_ns,
		    threads, count, f->begin_ns, f->known->run_ns);
		for (size_t i = 0; i < f->waits.count; i++) {
			const struct thread_times *t = &f->waits.of[i];

			if (t->worker > 0 || off_lane_of(h->off, t->location, 0)->clock)
				continue;
			if (t->location != first)
				find_creator(f, t);
			find_waits(f, t);
		}
	}
	for (size_t i = 0; i < count; i++)
		SORT(h->threads[threads[i].location].made,
		    h->threads[threads[i].location].count, by_place);
	free(threads);
}

/* The names of both calls, with numbers that the stream does not use. */
static void
write_names(struct graph *graph, struct reader *in)
{
	const uint16_t *taken = reader_calls(in), *numbers = reader_call_numbers(in);
	unsigned number = UINT16_MAX;

	for (int i = 0; i < 2; i++) {
		graph->thread_numbers[i] = numbers[call_number(names[i])];
		if (graph->thread_numbers[i] != 0)
			continue;
		while (number > 0 && taken[number] != 0)
			number--;
		if (number == 0)
			die("the stream defines all numbers of calls");
		graph->thread_numbers[i] = (uint16_t)number--;
		message_begin(&graph->out, "call", 2);
		put_uint(&graph->out, "number", graph->thread_numbers[i]);
		put_string(&graph->out, "name", names[i]);
		if (message_end(&graph->out) < 0)
			die_output();
	}
}

void
handovers_find(struct handovers *h, struct graph *graph, struct reader *in)
{
	struct finding f = { .all = h, .known = &graph->known, .out = &graph->out,
	    .defined = (uint32_t)graph->known.site_count };

	if (!h->looks || h->oldest == NULL || h->off->count == 0)
		return;
	write_names(graph, in);
	waiting_sites_begin(&f.sites, 64);
	for (uint32_t rank = 0; rank < (uint32_t)graph->known.ranks; rank++)
		if (h->threads[rank].looked_at)
			find_in_process(&f, rank);
	free(f.sites.slots);
	h->looks = false;
}

/* ---- passing on ------------------------------------------------------------------------- */

#define BEFORE(row, seq) ((row)->before <= (seq))
SEARCH(made_behind, struct made_row, uint64_t, BEFORE)
#undef BEFORE

/* The seq of a row among the rows made. */
static uint64_t
seq_now(const struct thread_rows *t, uint64_t seq)
{
	return seq + made_behind(t->made, t->count, seq);
}

/* What it refers to has another number now. */
static void
renumber(const struct handovers *h, uint32_t location, uint64_t seq, uint64_t now,
    struct call_row *row)
{
	if (row->request_at > 0)
		row->request = (uint32_t)seq_now(&h->threads[row->request_at - 1], row->request);
	else if (row->request > 0)
		row->request = (uint32_t)(now - seq_now(&h->threads[location],
		    seq - row->request));
}

static void
add_row(struct calls *calls, const struct call_row *row)
{
	if (calls_add(calls, row) < 0)
		die("out of memory");
}

/* Adds the rows made before row SEQ, from number *AT on. */
static void
add_made(struct calls *calls, const struct thread_rows *t, size_t *at, uint64_t seq)
{

	for (; *at < t->count && t->made[*at].before <= seq; ++*at) {
		struct call_row row = CALL_ROW;

		row.enter_ns = t->made[*at].enter_ns;
		row.leave_ns = t->made[*at].leave_ns;
		row.call = (uint16_t)call_number(names[t->made[*at].call]);
		row.site = t->made[*at].site;
		row.tag = t->made[*at].tag;
		add_row(calls, &row);
	}
}

/* The block with its made rows; the last one of the thread also with those after it. */
static void
add_rows(struct handovers *h, const struct thread_rows *t, const struct calls *recorded)
{
	struct calls *calls = &h->calls;
	size_t at = made_behind(t->made, t->count, recorded->first - 1);

	if (recorded->first == 0)
		at = 0;
	calls->location = recorded->location;
	calls->first = recorded->first + at;
	calls->count = 0;
	for (size_t i = 0; i < recorded->count; i++) {
		const uint64_t seq = recorded->first + i;
		struct call_row row;

		add_made(calls, t, &at, seq);
#define COPY(field, ...) row.field = recorded->field[i];
		CALL_FIELDS(COPY)
#undef COPY
		renumber(h, recorded->location, seq, calls->first + calls->count, &row);
		add_row(calls, &row);
	}
	if (recorded->first + recorded->count == t->rows)
		add_made(calls, t, &at, t->rows);
}

void
handovers_pass(struct handovers *h, handover_take *take, void *to)
{
	struct calls recorded = { 0 };

	for (struct held *held; (held = h->oldest) != NULL; h->oldest = held->next, held_free(held)) {
		unsigned char *plain = held_read(held, &recorded);

		if (held->is_block && h->count > 0 && h->threads[held->location].looked_at) {
			add_rows(h, &h->threads[held->location], &recorded);
			take(to, &held->message, &h->calls, true);
		} else
			take(to, &held->message, held->is_block ? &recorded : NULL, false);
		if (plain != held->bytes)
			free(plain);
	}
	h->newest = NULL;
	calls_free(&recorded);
}

/* ---- matching --------------------------------------------------------------------------- */

/* A row whose other end is still to come. */
struct open_handover {
	int32_t tag, rank;		/* tag NO_TAG: free slot */
	uint32_t operation;
	enum thread_call call;
};
HASH_TABLE_OF(open_table, struct open_handover, tag, rank, tag, NO_TAG)

struct open_handovers {
	struct open_table open;
};

void
handovers_begin(struct graph *graph)
{
	graph->handovers = zalloc(1, sizeof *graph->handovers);
	open_table_begin(&graph->handovers->open, 64);
}

void
handover_row(struct graph *graph, const struct graph_row *row)
{
	struct open_table *open = &graph->handovers->open;
	struct open_handover key = { row->tag, row->rank, NONE,
	    call_class(row->call) == CLASS_THREAD_WAIT ? WAITS_THERE : SIGNALS_THERE }, *other;
	uint32_t operation;

	if (row->tag == NO_TAG)
		return;
	other = open_table_find(open, &key);
	if (other != NULL && other->call == key.call)
		return;
	operation = operation_new(graph, row);
	operation_list(graph, operation);
	if (other == NULL) {
		key.operation = operation;
		open_table_add(open, &key);
		return;
	}
	edge_add(graph, EDGE_LOCK, key.call == WAITS_THERE ? other->operation : operation,
	    key.call == WAITS_THERE ? operation : other->operation);
	operation_free(graph, other->operation);
	operation_free(graph, operation);
	open_table_remove(open, other);
}
