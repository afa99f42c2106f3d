/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a rank or of a message went. */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/table.h"
#include "replay.h"
#include "transfer.h"

/* "3" is a rank, "3:17" the message sent in row 17 of location 3. */
void
explain_parse(struct explain *x, const char *text)
{
	char *end;

	x->asked = true;
	x->location = (uint32_t)strtoul(text, &end, 10);
	if (end != text && *end == ':') {
		const char *seq = end + 1;

		x->message = true;
		x->seq = strtoull(seq, &end, 10);
		if (end == seq)
			end = (char *)(uintptr_t)text;
	}
	if (end == text || *end != '\0')
		die("--explain: %s: a rank, or location:row of a send", text);
}

/* The part of [BEGIN, END] that lies before AT; begin moves there. */
static double
until(double *begin, double end, double at)
{
	double from = *begin, to = at < end ? at : end;

	if (to <= from)
		return 0;
	*begin = to;
	return to - from;
}

/* The rank slept in a row from BEGIN to END: for whom? */
void
explain_wait(struct spent *spent, const struct engine *e, const struct op *op, double begin, double end,
    double woken)
{
	double cpu = woken > begin && woken < end ? end - woken : 0;

	end -= cpu;
	spent->cpu_ns += cpu;
	if (op->act == ACT_COLLECTIVE || op->act == ACT_WAIT_COLLECTIVE) {
		if (op->link != NONE)
			spent->partner_ns += until(&begin, end, e->instances[op->link].last_ns);
		spent->wire_ns += end - begin;
		return;
	}
	if (op->link != NONE && (op->act == ACT_RECEIVE || op->act == ACT_WAIT || op->act == ACT_PROBE)) {
		const struct trail *trail = &e->trails[op->link];

		spent->partner_ns += until(&begin, end, trail->due_ns);
		spent->link_ns += until(&begin, end, trail->linked_ns);
		spent->bus_ns += until(&begin, end, trail->start_ns);
		spent->wire_ns += end - begin;
		return;
	}
	spent->partner_ns += end - begin;
}

static void
put_span(struct table_writer *table, const char *what, double from_ns, double to_ns)
{
	table_text(table, what);
	table_fixed(table, from_ns, 0);
	table_fixed(table, to_ns, 0);
	table_fixed(table, to_ns - from_ns, 0);
	table_end_line(table);
}

void
explain_message(const struct engine *e, uint32_t flight)
{
	const struct flight *f = &e->flights[flight];
	const struct trail *trail = &e->trails[flight];
	double latency = flight_latency_ns(e, f);
	static struct text text;	/* large for a stack */
	struct table_writer table;

	text_begin(&text, stdout, NULL);
	text_print(&text, "message %u:%llu to %u:%llu, %llu bytes, %s\n", f->source,
	    (unsigned long long)trail->send_seq, f->target, (unsigned long long)trail->receive_seq,
	    (unsigned long long)trail->bytes, f->flags & MESSAGE_RENDEZVOUS ? "rendezvous" : "eager");
	table_begin(&table, &text, "what\tfrom_ns\tto_ns\tlength_ns");
	put_span(&table, "latency", f->sent_ns - latency, f->sent_ns);
	put_span(&table, "partner", f->sent_ns, trail->due_ns);
	put_span(&table, "link", trail->due_ns, trail->linked_ns);
	put_span(&table, "bus", trail->linked_ns, trail->start_ns);
	put_span(&table, "wire", trail->start_ns, f->arrived_ns);
	table_end(&table);
	text_flush(&text);
}

static void
put_share(struct table_writer *table, const char *what, double ns, double all_ns)
{
	table_text(table, what);
	table_fixed(table, ns, 0);
	table_fixed(table, all_ns > 0 ? ns / all_ns : 0, 6);
	table_end_line(table);
}

void
explain_rank(const struct engine *e, uint32_t location)
{
	const struct runner *r;
	const struct spent *s;
	static struct text text;	/* large for a stack */
	struct table_writer table;
	double rest;

	if (location >= e->locations)
		die("--explain: there is no rank %u", location);
	r = &e->runners[location];
	s = &r->spent;
	rest = r->begin_ns - r->useful_ns - s->latency_ns - s->wire_ns - s->link_ns - s->bus_ns -
	    s->partner_ns - s->cpu_ns;
	text_begin(&text, stdout, NULL);
	text_print(&text, "rank %u\n", r->rank);
	table_begin(&table, &text, "what\tlength_ns\tshare");
	put_share(&table, "compute", r->useful_ns, r->begin_ns);
	put_share(&table, "latency", s->latency_ns, r->begin_ns);
	put_share(&table, "wire", s->wire_ns, r->begin_ns);
	put_share(&table, "link", s->link_ns, r->begin_ns);
	put_share(&table, "bus", s->bus_ns, r->begin_ns);
	put_share(&table, "partner", s->partner_ns, r->begin_ns);
	put_share(&table, "CPU", s->cpu_ns, r->begin_ns);
	put_share(&table, "files", rest > 0.5 ? rest : 0, r->begin_ns);
	put_share(&table, "all", r->begin_ns, r->begin_ns);
	table_end(&table);
	text_flush(&text);
}
