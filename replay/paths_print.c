/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is on the longest way, as text and JSON. */
#include <math.h>

#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "paths.h"

enum { MOST_SHOWN = 20 };	/* sites, communicators and pairs in text */

/* The nodes of the messages, or none. */
static void
put_pair(struct table_writer *table, const struct share *s)
{
	if (s->who.source == NO_NODE)
		table_text(table, "collectives");
	else
		table_format(table, "%u to %u", s->who.source, s->who.target);
}

static void
put_amounts(struct table_writer *table, const struct share *s)
{
	table_fixed(table, s->ns / 1e3, 3);
	table_significant(table, s->times[LATENCY], 12);
	table_significant(table, s->times[GAP], 12);
	table_significant(table, s->times[OVERHEAD], 12);
}

static void
print_sites(struct text *text, const struct shares *found, const struct definitions *known)
{
	struct table_writer table;
	char name[256];

	table_begin(&table, text, "path_us\tlatencies\tbytes\tcalls\tslack_us\twaitless_us\tearlier_us\tcall\tsite");
	for (size_t i = 0; i < found->site_count && i < MOST_SHOWN; i++) {
		const struct share *s = &found->sites[i];

		put_amounts(&table, s);
		if (isfinite(s->slack_ns))
			table_fixed(&table, s->slack_ns / 1e3, 3);
		else
			table_text(&table, "any");
		table_fixed(&table, s->waitless_ns / 1e3, 3);
		table_fixed(&table, s->earlier_ns / 1e3, 3);
		table_text(&table, call_name(s->who.call));
		table_text(&table, site_text(known, s->who.site, name, sizeof name));
		table_end_line(&table);
	}
	table_end(&table);
}

void
shares_table(struct text *text, const struct shares *found, const struct definitions *known)
{
	struct table_writer table;

	text_put(text, "\nthe longest way, by call site\n");
	print_sites(text, found, known);
	text_put(text, "\nby communicator\n");
	table_begin(&table, text, "path_us\tlatencies\tbytes\tcalls\tcomm");
	for (size_t i = 0; i < found->comm_count && i < MOST_SHOWN; i++) {
		put_amounts(&table, &found->comms[i]);
		table_uint(&table, found->comms[i].who.comm);
		table_end_line(&table);
	}
	table_end(&table);
	text_put(text, "\nby nodes\n");
	table_begin(&table, text, "path_us\tlatencies\tbytes\tcalls\tnodes");
	for (size_t i = 0; i < found->pair_count && i < MOST_SHOWN; i++) {
		put_amounts(&table, &found->pairs[i]);
		put_pair(&table, &found->pairs[i]);
		table_end_line(&table);
	}
	table_end(&table);
}

static void
json_amounts(struct json *json, const struct share *s)
{
	json_double(json, "path_ns", s->ns);
	json_double(json, "latencies", s->times[LATENCY]);
	json_double(json, "bytes", s->times[GAP]);
	json_double(json, "calls", s->times[OVERHEAD]);
}

static void
json_sites(struct json *json, const struct shares *found, const struct definitions *known)
{
	char name[256];

	json_begin_array(json, "sites");
	for (size_t i = 0; i < found->site_count; i++) {
		const struct share *s = &found->sites[i];

		json_break(json);
		json_begin_object(json, NULL);
		json_text(json, "call", call_name(s->who.call));
		json_text(json, "site", site_text(known, s->who.site, name, sizeof name));
		json_amounts(json, s);
		json_double(json, "slack_ns", s->slack_ns);
		json_double(json, "waitless_ns", s->waitless_ns);
		json_double(json, "earlier_ns", s->earlier_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

void
shares_json(struct json *json, const struct shares *found, const struct definitions *known)
{
	json_sites(json, found, known);
	json_begin_array(json, "communicators");
	for (size_t i = 0; i < found->comm_count; i++) {
		json_break(json);
		json_begin_object(json, NULL);
		json_uint(json, "comm", found->comms[i].who.comm);
		json_amounts(json, &found->comms[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_begin_array(json, "nodes");
	for (size_t i = 0; i < found->pair_count; i++) {
		const struct payer *who = &found->pairs[i].who;

		json_break(json);
		json_begin_object(json, NULL);
		json_double(json, "source", who->source == NO_NODE ? (double)NAN : (double)who->source);
		json_double(json, "target", who->source == NO_NODE ? (double)NAN : (double)who->target);
		json_amounts(json, &found->pairs[i]);
		json_end_object(json);
	}
	json_end_array(json);
}
