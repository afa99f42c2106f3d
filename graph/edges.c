/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers edges into blocks; a synchronisation point or a settled message flushes them. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/fields.h"
#include "graph.h"

enum { MESSAGES = 4096, MEMBERS = 16384 };	/* of a block */

struct pairs {
	uint32_t source[MESSAGES], target[MESSAGES];
	uint64_t send[MESSAGES], receive[MESSAGES];
	size_t count;
};

struct edges {
	struct pairs of[EDGE_KINDS];
	uint32_t *size, *location;
	uint64_t *seq;
	size_t instances, size_capacity, members, location_capacity, seq_capacity;
	/* of a shard: blocks of edges, written after all calls of the round */
	struct writer later;
};

void
edges_begin(struct graph *graph)
{
	graph->edges = zalloc(1, sizeof *graph->edges);
	writer_start(&graph->edges->later, -1);
}

struct writer *
edges_writer(struct graph *graph)
{
	return graph->exchange != NULL ? &graph->edges->later : &graph->out;
}

/* A reader finds the message that a probe saw by the edge of that message. */
static void
flush_pairs(struct graph *graph)
{
	static const char *const kinds[EDGE_KINDS] = { "messages", "probes", "locks", "holds" };
	struct writer *out = edges_writer(graph);

	for (int k = 0; k < EDGE_KINDS; k++) {
		struct pairs *p = &graph->edges->of[k];

		if (p->count == 0)
			continue;
		message_begin(out, kinds[k], 5);
		put_uint(out, "count", p->count);
		put_column(out, "source", p->source, p->count);
		put_column(out, "send", p->send, p->count);
		put_column(out, "target", p->target, p->count);
		put_column(out, "receive", p->receive, p->count);
		end_message(out);
		p->count = 0;
	}
}

void
edge_add(struct graph *graph, enum edge_kind kind, uint32_t send, uint32_t receive)
{
	const struct operation *from = &graph->operations[send], *to = &graph->operations[receive];
	struct pairs *p = &graph->edges->of[kind];

	if (p->count == MESSAGES)
		flush_pairs(graph);
	p->source[p->count] = from->location;
	p->send[p->count] = from->seq;
	p->target[p->count] = to->location;
	p->receive[p->count++] = to->seq;
	crossing_mark(&graph->crossings, from->candidates, to->candidates);
	if (kind != EDGE_MESSAGE)
		return;
	graph->counts.messages++;
	if (to->answer != NONE)
		edge_add(graph, EDGE_PROBE, send, to->answer);
}

static void
flush_collectives(struct graph *graph)
{
	struct edges *e = graph->edges;
	struct writer *out = edges_writer(graph);

	if (e->instances == 0)
		return;
	message_begin(out, "collectives", 5);
	put_uint(out, "count", e->members);
	put_uint(out, "instances", e->instances);
	put_column(out, "size", e->size, e->instances);
	put_column(out, "location", e->location, e->members);
	put_column(out, "seq", e->seq, e->members);
	end_message(out);
	e->instances = e->members = 0;
}

void
edges_flush(struct graph *graph)
{
	struct writer *later = &graph->edges->later;

	flush_pairs(graph);
	flush_collectives(graph);
	need_output(writer_append(&graph->out, later));
	msgpack_sbuffer_clear(&later->buffer);
	later->messages = 0;
}

void
edge_collective(struct graph *graph, uint32_t members, uint32_t **locations, uint64_t **seqs)
{
	struct edges *e = graph->edges;

	if (e->members + members > MEMBERS)
		flush_collectives(graph);
	GROW(e->size, e->size_capacity, e->instances + 1);
	GROW(e->location, e->location_capacity, e->members + members);
	GROW(e->seq, e->seq_capacity, e->members + members);
	e->size[e->instances++] = members;
	*locations = e->location + e->members;
	*seqs = e->seq + e->members;
	e->members += members;
	graph->counts.collectives++;
}

static void
write_seqs(struct graph *graph, const char *kind, const uint64_t *seqs, const uint64_t *early)
{
	message_begin(&graph->out, kind, 2 + (early != NULL));
	put_uint(&graph->out, "count", graph->known.location_count);
	put_column(&graph->out, "seq", seqs, graph->known.location_count);
	if (early != NULL)
		put_column(&graph->out, "early", early, graph->known.location_count);
	end_message(&graph->out);
}

void
write_sync(struct graph *graph, const uint64_t *seqs, const struct spot *first)
{
	struct index_entry entry = { .from = first->offset, .before = first->syncs };

	for (uint32_t l = 0; l < graph->known.location_count; l++)
		entry.rows += seqs[l];
	edges_flush(graph);
	entry.at = writer_offset(&graph->out);
	write_seqs(graph, "sync", seqs, NULL);
	index_add(&graph->index, entry);
}

void
write_settled(struct graph *graph, const uint64_t *seqs, const uint64_t *early)
{
	edges_flush(graph);
	write_seqs(graph, "settled", seqs, early);
}

void
write_matching(struct graph *graph)
{
#define COUNT(member) #member, FIELD(struct counts, member), .key = #member
	static const struct field fields[] = {
		{ COUNT(messages) }, { COUNT(collectives) }, { COUNT(unmatched_sends) },
		{ COUNT(unmatched_receives) }, { COUNT(unmatched_collectives) },
		{ COUNT(mismatched_collectives) }, { COUNT(syncs) }, { COUNT(refused_pending) },
		{ COUNT(refused_overlap) }, { COUNT(refused_partial) },
		{ COUNT(errors), .known = UNLESS_ZERO }, FIELDS_END
	};

	put_row(&graph->out, "matching", fields, &graph->counts);
}

void
note_matching(const struct counts *c)
{
	note("%llu messages and %llu collectives matched, %llu sends, %llu receives and %llu "
	    "collectives not; %llu synchronisation points, refused: %llu pending, %llu not "
	    "overlapping, %llu that do not hold up all",
	    (unsigned long long)c->messages, (unsigned long long)c->collectives,
	    (unsigned long long)c->unmatched_sends, (unsigned long long)c->unmatched_receives,
	    (unsigned long long)c->unmatched_collectives, (unsigned long long)c->syncs,
	    (unsigned long long)c->refused_pending, (unsigned long long)c->refused_overlap,
	    (unsigned long long)c->refused_partial);
	if (c->errors > 0)
		note("%llu calls returned an error: they are matched with nothing",
		    (unsigned long long)c->errors);
}

void
tell(struct graph *graph, int32_t rank, uint64_t seq, const char *format, ...)
{
	char line[256];
	int used = 0;
	va_list arguments;

	if (graph->told++ >= LINES_TOLD)
		return;
	if (rank >= 0)
		used = snprintf(line, sizeof line, "rank %d, row %llu: ", (int)rank,
		    (unsigned long long)seq);
	va_start(arguments, format);
	vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
	va_end(arguments);
	if (graph->exchange != NULL) {	/* other shards have lines, too */
		struct exchange *x = graph->exchange;

		GROW(x->lines, x->line_capacity, x->line_count + 1);
		memcpy(x->lines[x->line_count++], line, sizeof line);
		return;
	}
	note("%s%s", line, graph->told == LINES_TOLD ? " (further ones are only counted)" : "");
}
