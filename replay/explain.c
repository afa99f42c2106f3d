/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a rank or of a message, by activity. */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/fields.h"
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

struct line { const char *what; double from_ns, to_ns, length_ns, share; };
#define LINE(member) FIELD(struct line, member)
#define IN_NS .text = "%.0f"
static const struct field span_fields[] = {
	{ "what", LINE(what), .text = PLAIN }, { "from_ns", LINE(from_ns), IN_NS },
	{ "to_ns", LINE(to_ns), IN_NS },
	{ "length_ns", LINE(length_ns), IN_NS }, FIELDS_END
};
static const struct field share_fields[] = {
	{ "what", LINE(what), .text = PLAIN }, { "length_ns", LINE(length_ns), IN_NS },
	{ "share", LINE(share), .text = "%.6f" }, FIELDS_END
};

void
explain_message(struct text *out, const struct engine *e, uint32_t flight)
{
	static const char *const names[] = { "latency", "partner", "link", "bus", "wire" };
	enum { STEPS = sizeof names / sizeof *names };
	const struct flight *f = &e->flights[flight];
	const struct trail *trail = &e->trails[flight];
	const double times[STEPS + 1] = { f->sent_ns - flight_latency_ns(e, f),
	    f->sent_ns, trail->due_ns,
		trail->linked_ns, trail->start_ns, f->arrived_ns };
	struct line lines[STEPS];

	for (int i = 0; i < STEPS; i++)
		lines[i] = (struct line){ names[i], times[i], times[i + 1],
		    times[i + 1] - times[i], 0 };
	text_print(out, "message %u:%llu to %u:%llu, %llu bytes, %s\n",
	    f->source, (unsigned long long)trail->send_seq,
	    f->target, (unsigned long long)trail->receive_seq, (unsigned long long)trail->bytes,
	    f->flags & MESSAGE_RENDEZVOUS ? "rendezvous" : "eager");
	table_rows(out, span_fields, lines, STEPS, sizeof *lines);
}

void
explain_rank(struct text *out, const struct engine *e, uint32_t location)
{
	const struct runner *r = &e->runners[location];
	const struct spent *s = &r->spent;
	double rest, all;

	if (location >= e->locations)
		die("--explain: there is no rank %u", location);
	all = r->begin_ns;
	rest = all - r->useful_ns - s->latency_ns - s->wire_ns - s->link_ns - s->bus_ns -
	    s->partner_ns - s->cpu_ns;
	struct line lines[] = {
		{ "compute", .length_ns = r->useful_ns }, { "latency", .length_ns = s->latency_ns },
		{ "wire", .length_ns = s->wire_ns }, { "link", .length_ns = s->link_ns },
		{ "bus", .length_ns = s->bus_ns }, { "partner", .length_ns = s->partner_ns },
		{ "CPU", .length_ns = s->cpu_ns }, { "files", .length_ns = rest > 0.5 ? rest : 0 },
		{ "all", .length_ns = all },
	};
	enum { LINES = sizeof lines / sizeof *lines };
	for (int i = 0; i < LINES; i++)
		lines[i].share = all > 0 ? lines[i].length_ns / all : 0;
	text_print(out, "rank %u\n", r->rank);
	table_rows(out, share_fields, lines, LINES, sizeof *lines);
}
