/* SPDX-License-Identifier: BSD-3-Clause */
/* The data for the script: JSON in a script element, with long columns stored as differences. */
#include <stdlib.h>

#include "report.h"

enum { MOST_SITES = 4096 };

/* Renumbers call sites in order of their first use. */
struct numbers {
	uint32_t *of;		/* by site, 1 + number; 0: not yet used */
	size_t capacity, count;
	uint32_t sites[MOST_SITES];
};

static uint32_t
number_of(struct numbers *numbers, uint32_t site)
{
	uint32_t *number = AT(numbers->of, numbers->capacity, site);

	if (*number == 0 && numbers->count < MOST_SITES) {
		numbers->sites[numbers->count++] = site;
		*number = (uint32_t)numbers->count;
	}
	return *number;		/* 0: there are too many */
}

/* Rows of events: difference of row numbers, begin minus the previous begin, length, ... */
static void
put_events(struct json *out, const char *key, const struct pool *pool, struct numbers *numbers)
{
	uint32_t location = 0;
	int64_t begin_ns = 0;

	json_break(out);
	json_begin_array(out, key);
	for (const struct event *e = pool->at; e < pool->at + pool->count; e++) {
		if (e->location != location)
			begin_ns = 0;
		json_int(out, NULL, (int64_t)e->location - location);
		json_int(out, NULL, e->begin_ns - begin_ns);
		json_int(out, NULL, e->end_ns - e->begin_ns);
		json_int(out, NULL, e->what);
		json_int(out, NULL, e->call);
		json_uint(out, NULL, number_of(numbers, e->site));
		json_int(out, NULL, e->partner);
		location = e->location;
		begin_ns = e->begin_ns;
	}
	json_end_array(out);
}

/* The cells of each row as letters with repeat counts: "b12a3". */
static void
put_cells(struct json *out, const struct bins *bins, const char *key, bool of_path)
{
	unsigned used = 0;
	unsigned char *cells = bins_cells(bins, 1, 1, of_path, &used);

	json_break(out);
	json_begin_array(out, key);
	for (size_t row = 0; row < bins->rows; row++) {
		const unsigned char *cell = cells + row * bins->columns;

		json_next(out, NULL);
		text_char(out->text, '"');
		for (size_t c = 0, end; c < bins->columns; c = end) {
			for (end = c + 1; end < bins->columns && cell[end] == cell[c];)
				end++;
			text_char(out->text, (char)('a' + cell[c]));
			if (end > c + 1)
				text_uint(out->text, end - c);
		}
		text_char(out->text, '"');
	}
	json_end_array(out);
	free(cells);
}

/* The path as a line, or, if that would be a smear, its share of each cell. */
static void
put_path(struct json *out, const struct bins *bins)
{
	if (bins_path_spreads(bins)) {
		put_cells(out, bins, "levels", true);
		return;
	}
	json_break(out);
	json_begin_array(out, "way");
	for (size_t c = 0; c < bins->columns; c++) {
		size_t row = bins_path(bins, c, 1);

		json_int(out, NULL, row == SIZE_MAX ? -1 : (int64_t)row);
	}
	json_end_array(out);
}

static void
put_names(struct json *out, const struct page *page, const struct numbers *numbers)
{
	const struct pool *const pools[] = { &page->events, &page->computations, &page->pieces };
	bool used[65536] = { false };
	char where[LABEL], number[16];

	json_break(out);
	json_begin_array(out, "sites");
	json_text(out, NULL, "");
	for (size_t i = 0; i < numbers->count; i++)
		json_text(out, NULL, numbers->sites[i] == 0 ? "" :
		    site_label(page, numbers->sites[i], where));
	json_end_array(out);
	for (size_t p = 0; p < sizeof pools / sizeof *pools; p++)
		for (size_t i = 0; i < pools[p]->count; i++)
			used[pools[p]->at[i].call] = true;
	json_break(out);
	json_begin_object(out, "calls");
	for (unsigned i = 1; i < 65536; i++)
		if (used[i]) {
			snprintf(number, sizeof number, "%u", i);
			json_text(out, number, call_name(i));
		}
	json_end_object(out);
}

static void
put_states(struct json *out)
{
	json_break(out);
	json_begin_array(out, "states");
	for (int s = 0; s < STATES; s++)
		json_text(out, NULL, state_names[s]);
	json_end_array(out);
	json_begin_array(out, "stateActivity");
	for (int s = 0; s < STATES; s++)
		json_int(out, NULL, (int)activity_of((enum state)s));
	json_end_array(out);
	json_begin_array(out, "activities");
	for (int a = 0; a < ACTIVITIES; a++)
		json_text(out, NULL, colours[a].name);
	json_end_array(out);
}

/* If there are several hosts: their names, and location and host wherever the host changes. */
static void
put_hosts(struct json *out, const struct page *page)
{
	const struct definitions *known = &page->im.graph.known;
	size_t last = SIZE_MAX;

	if (known->headline.host_count < 2)
		return;
	json_begin_array(out, "hosts");
	for (size_t i = 0; i < known->headline.host_count; i++)
		json_text(out, NULL, known->headline.hosts[i].name);
	json_end_array(out);
	json_begin_array(out, "hostOf");
	for (uint32_t l = 0; l < known->location_count; l++) {
		const size_t host = headline_host(&known->headline, known->location_rank[l]);

		if (host == last)
			continue;
		json_uint(out, NULL, l);
		json_int(out, NULL, host == SIZE_MAX ? -1 : (int64_t)host);
		last = host;
	}
	json_end_array(out);
}

void
data_write(struct text *text, struct page *page, size_t events)
{
	struct numbers numbers = { .count = 0 };
	const struct definitions *known = &page->im.graph.known;
	struct json json, *out = &json;

	pool_sort(&page->events, events);
	pool_sort(&page->computations, events / 4);
	pool_sort(&page->pieces, events / 2);
	pool_sort(&page->messages, events / 8);
	json_begin(out, text);
	json.in_markup = true;
	json_begin_object(out, NULL);
	json_int(out, "run", page->bins.run_ns);
	json_uint(out, "locations", known->location_count);
	json_uint(out, "rows", page->bins.rows);
	json_uint(out, "columns", page->bins.columns);
	json_bool(out, "all", !page->events.dropped && !page->computations.dropped);
	json_bool(out, "allPath", !page->pieces.dropped);
	json_bool(out, "allMessages", !page->messages.dropped);
	if (known->location_count != (uint32_t)known->ranks) {
		json_begin_array(out, "ranks");
		for (uint32_t l = 0; l < known->location_count; l++)
			json_int(out, NULL, known->location_rank[l]);
		json_end_array(out);
	}
	put_states(out);
	put_cells(out, &page->bins, "bins", false);
	put_path(out, &page->bins);
	put_events(out, "events", &page->events, &numbers);
	put_events(out, "computations", &page->computations, &numbers);
	put_events(out, "pieces", &page->pieces, &numbers);
	put_events(out, "messages", &page->messages, &numbers);
	put_hosts(out, page);
	names_write(out, page);
	put_names(out, page, &numbers);
	json_end_object(out);
	free(numbers.of);
}
