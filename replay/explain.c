/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a rank or of a message went. */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

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
	if (op->link != NONE && (op->act == ACT_RECEIVE || op->act == ACT_WAIT)) {
		const struct trail *trail = &e->trails[op->link];

		spent->partner_ns += until(&begin, end, trail->due_ns);
		spent->link_ns += until(&begin, end, trail->linked_ns);
		spent->bus_ns += until(&begin, end, trail->start_ns);
		spent->wire_ns += end - begin;
		return;
	}
	spent->partner_ns += end - begin;
}

void
explain_message(const struct engine *e, uint32_t flight)
{
	const struct flight *f = &e->flights[flight];
	const struct trail *trail = &e->trails[flight];
	double latency = flight_latency_ns(e, f);

	printf("message %u:%llu to %u:%llu, %llu bytes, %s\n", f->source, (unsigned long long)trail->send_seq,
	    f->target, (unsigned long long)trail->receive_seq, (unsigned long long)trail->bytes,
	    f->flags & MESSAGE_RENDEZVOUS ? "rendezvous" : "eager");
	printf("what\tfrom_ns\tto_ns\tlength_ns\n");
#define LINE(what, from, to) \
	printf(what "\t%.0f\t%.0f\t%.0f\n", from, to, (to) - (from));
	LINE("latency", f->sent_ns - latency, f->sent_ns)
	LINE("partner", f->sent_ns, trail->due_ns)
	LINE("link", trail->due_ns, trail->linked_ns)
	LINE("bus", trail->linked_ns, trail->start_ns)
	LINE("wire", trail->start_ns, f->arrived_ns)
#undef LINE
}

void
explain_rank(const struct engine *e, uint32_t location)
{
	const struct runner *r;
	const struct spent *s;
	double rest;

	if (location >= e->locations)
		die("--explain: there is no rank %u", location);
	r = &e->runners[location];
	s = &r->spent;
	rest = r->begin_ns - r->useful_ns - s->latency_ns - s->wire_ns - s->link_ns - s->bus_ns -
	    s->partner_ns - s->cpu_ns;
	printf("rank %u\nwhat\tlength_ns\tshare\n", r->rank);
#define LINE(what, ns) printf(what "\t%.0f\t%.6f\n", ns, r->begin_ns > 0 ? (ns) / r->begin_ns : 0);
	LINE("compute", r->useful_ns)
	LINE("latency", s->latency_ns)
	LINE("wire", s->wire_ns)
	LINE("link", s->link_ns)
	LINE("bus", s->bus_ns)
	LINE("partner", s->partner_ns)
	LINE("CPU", s->cpu_ns)
	LINE("files", rest > 0.5 ? rest : 0)
	LINE("all", r->begin_ns)
#undef LINE
}
