/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks compute, by name: the function of the samples and the region with most of the time
 * in each column of the timeline. A cell keeps one name and by how much it leads (the majority vote
 * of Boyer and Moore): if one has more than half of the time, it is that one. Threads without calls
 * have rows of their own, with their time on a core and off it. Memory: 16 bytes a cell.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/run/sampled_place.h"
#include "../base/run/sections.h"
#include "report.h"

enum { MOST_NAMED = 4096 };

/* ---- taking ----------------------------------------------------------------------------- */

/* The piece of the time from *AT to TO in one column; returns its length and moves AT behind it. */
static float
next_piece(const struct bins *bins, double *at, int64_t to_ns, size_t *column)
{
	const double each = (double)bins->run_ns / (double)bins->columns, from = *at;
	const double last = (double)(bins->columns - 1);
	const double c = floor(fmin(fmax(from / each, 0), last));
	const double end = c < last ? fmin((double)to_ns, each * (c + 1)) : (double)to_ns;

	*column = (size_t)c;
	*at = end > from ? end : from + 1;
	return (float)(*at - from);
}

static void
add_name(const struct page *page, struct name_cell *cells, enum naming by, uint32_t name,
    int64_t from_ns, int64_t to_ns)
{
	size_t column;

	for (double at = (double)from_ns; at < (double)to_ns;) {
		const float ns = next_piece(&page->bins, &at, to_ns, &column);
		struct name_cell *cell = &cells[column];

		if (cell->name == name || (by == BY_FUNCTIONS &&
		    same_function(&page->im.graph.known, cell->name, name)))
			cell->ns += ns;
		else if (cell->ns >= ns)
			cell->ns -= ns;
		else
			*cell = (struct name_cell){ name, ns - cell->ns };
	}
}

static void
add_activity(const struct page *page, struct named_row *row, enum activity activity,
    int64_t from_ns, int64_t to_ns)
{
	size_t column;

	for (double at = (double)from_ns; at < (double)to_ns;) {
		const float ns = next_piece(&page->bins, &at, to_ns, &column);

		row->ns[column * ACTIVITIES + (size_t)activity] += ns;
	}
}

/* The row of a thread; NULL: there are too many. */
static struct named_row *
row_of(struct page *page, uint32_t location, uint32_t worker)
{
	const size_t rows = page->bins.rows, columns = page->bins.columns;
	struct named *named = &page->named;

	if (named->count == 0) {
		GROW(named->at, named->capacity, rows);
		memset(named->at, 0, rows * sizeof *named->at);
		named->count = rows;
	}
	if (worker == 0)
		return &named->at[page->bins.at[location].row];
	for (size_t i = rows; i < named->count; i++)
		if (named->at[i].location == location && named->at[i].worker == worker)
			return &named->at[i];
	if (named->count - rows == MOST_THREADS || rows < page->bins.locations) {
		named->dropped = true;
		return NULL;
	}
	*APPEND(named->at, named->count, named->capacity) = (struct named_row){ location, worker,
	    .ns = zalloc(columns * ACTIVITIES, sizeof(float)) };
	return &named->at[named->count - 1];
}

static struct name_cell *
cells_of_row(struct page *page, struct named_row *row, enum naming by)
{
	if (row->cells[by] == NULL)
		row->cells[by] = zalloc(page->bins.columns, sizeof *row->cells[by]);
	page->named.any[by] = true;
	return row->cells[by];
}

static void
take_regions(struct page *page, struct named_row *row, const struct samples *block)
{
	struct name_cell *cells = cells_of_row(page, row, BY_REGIONS);
	struct open_names *open = &row->open;

	if (block->worker == 0)		/* a row may be of several locations */
		open = AT(page->named.open, page->named.open_count, block->location);
	for (size_t i = 0; i < block->count; i++) {
		if (open->depth > 0)
			add_name(page, cells, BY_REGIONS, open->at[open->depth - 1], open->since_ns,
			    block->time_ns[i]);
		open->since_ns = block->time_ns[i];
		if (block->region[i] > 0)
			*APPEND(open->at, open->depth, open->room) = (uint32_t)block->region[i];
		else if (open->depth > 0)
			open->depth--;
	}
}

/* A worker's time: on a core where no interval is. */
static void
take_switches(struct page *page, struct named_row *row, const struct samples *block)
{
	if (row->until_ns < block->from_ns)
		row->until_ns = block->from_ns;
	for (size_t i = 0; i < block->count; i++) {
		add_activity(page, row, COMPUTING, row->until_ns, block->time_ns[i]);
		add_activity(page, row, block->reason[i] == OFF_PREEMPTED ? COMPUTE_PREEMPTED :
		    COMPUTE_BLOCKED, block->time_ns[i], block->end_ns[i]);
		row->until_ns = block->end_ns[i];
	}
	add_activity(page, row, COMPUTING, row->until_ns, block->until_ns);
	row->until_ns = block->until_ns;
	row->switched = true;
}

void
names_take(struct page *page, const struct message *message)
{
	struct reader *in = page->im.graph.in;
	struct samples *block = &page->named.block;
	struct named_row *row;

	if (reader_verify(in, message) < 0 || samples_read(block, in, message) < 0)
		die_input(in);
	if (block->regions)
		check_regions(&page->im.graph.known, in, message, block);
	if (block->location >= page->bins.locations ||
	    (row = row_of(page, block->location, block->worker)) == NULL)
		return;
	if (block->regions)
		take_regions(page, row, block);
	else if (block->switches && block->worker > 0)
		take_switches(page, row, block);
	for (size_t i = 0; !block->regions && !block->switches && i < block->count; i++) {
		const int64_t at_ns = block->time_ns[i];

		if (block->site[i] == 0)
			continue;
		add_name(page, cells_of_row(page, row, BY_FUNCTIONS), BY_FUNCTIONS, block->site[i],
		    at_ns, at_ns + block->period_ns);
		if (block->worker > 0 && !row->switched)
			add_activity(page, row, COMPUTING, at_ns, at_ns + block->period_ns);
	}
}

/* ---- writing ---------------------------------------------------------------------------- */

/* The places in cells, and their names: functions or regions, the most frequent one first. */
struct place_list {
	uint32_t *number;		/* by site or region, 1 + place; 0: not in a cell */
	size_t size;
	struct named_place { struct stack_frame frame; uint32_t name; } *at;
	size_t count, capacity;
	struct name_count { struct stack_frame frame; uint64_t cells; uint32_t first; } *names;
	size_t name_count, name_capacity;
};

ORDER(most_cells, struct name_count, MOST(cells) BY(first))

static void
list_place(const struct page *page, enum naming by, uint32_t name, struct place_list *list)
{
	const struct definitions *known = &page->im.graph.known;
	uint32_t *number = AT(list->number, list->size, name), n = 0;
	struct stack_frame frame;

	if (*number == 0 && list->count < MOST_NAMED) {
		frame = by == BY_FUNCTIONS ? place_frame(known, name) :
		    (struct stack_frame){ .name = known->regions[name] };
		while (n < list->name_count &&
		    (strcmp(list->names[n].frame.name, frame.name) != 0 ||
		    text_compare(list->names[n].frame.file, frame.file) != 0))
			n++;
		if (n == list->name_count)
			*APPEND(list->names, list->name_count, list->name_capacity) =
			    (struct name_count){ frame, 0, n };
		*APPEND(list->at, list->count, list->capacity) = (struct named_place){ frame, n };
		*number = (uint32_t)list->count;
	}
	if (*number > 0)
		list->names[list->at[*number - 1].name].cells++;
}

static struct place_list
list_places(const struct page *page, enum naming by)
{
	struct place_list list = { 0 };
	uint32_t *order;

	for (size_t r = 0; r < page->named.count; r++) {
		const struct name_cell *cells = page->named.at[r].cells[by];

		for (size_t c = 0; cells != NULL && c < page->bins.columns; c++)
			if (cells[c].ns > 0)
				list_place(page, by, cells[c].name, &list);
	}
	if (list.name_count > 0)
		SORT(list.names, list.name_count, most_cells);
	order = zalloc(list.name_count + 1, sizeof *order);
	for (uint32_t n = 0; n < list.name_count; n++)
		order[list.names[n].first] = n;
	for (size_t p = 0; p < list.count; p++)
		list.at[p].name = order[list.at[p].name];
	free(order);
	return list;
}

/* 0: there is none. */
static uint32_t
place_in(const struct name_cell *cell, const struct place_list *list)
{
	return cell->ns > 0 ? list->number[cell->name] : 0;
}

/* The place of columns, and for how many. */
static void
put_cells(struct json *out, const struct page *page, const struct named_row *row, enum naming by,
    const struct place_list *list)
{
	const struct name_cell *cells = row->cells[by];

	json_begin_array(out, NULL);
	for (size_t c = 0, end; cells != NULL && c < page->bins.columns; c = end) {
		const uint32_t place = place_in(&cells[c], list);

		for (end = c + 1; end < page->bins.columns &&
		    place_in(&cells[end], list) == place;)
			end++;
		json_uint(out, NULL, place);
		json_uint(out, NULL, end - c);
	}
	json_end_array(out);
}

static void
put_naming(struct json *out, const struct page *page, enum naming by)
{
	static const char *const keys[NAMINGS] = { "functions", "regions" };
	struct place_list list = list_places(page, by);
	char text[1024];

	json_break(out);
	json_begin_object(out, keys[by]);
	json_begin_array(out, "names");
	for (size_t n = 0; n < list.name_count; n++)
		json_text(out, NULL, list.names[n].frame.name);
	json_end_array(out);
	json_begin_array(out, "places");	/* text and name of each, from 1 on */
	for (size_t p = 0; p < list.count; p++) {
		const struct stack_frame *f = &list.at[p].frame;

		if (f->file != NULL && f->line > 0)
			snprintf(text, sizeof text, "%s (%s:%d)", f->name, file_name(f->file),
			    (int)f->line);
		else
			snprintf(text, sizeof text, "%s", f->name);
		json_text(out, NULL, text);
		json_uint(out, NULL, list.at[p].name);
	}
	json_end_array(out);
	json_begin_array(out, "rows");
	for (size_t r = 0; r < page->named.count; r++) {
		json_break(out);
		put_cells(out, page, &page->named.at[r], by, &list);
	}
	json_end_array(out);
	json_end_object(out);
	free(list.number);
	free(list.at);
	free(list.names);
}

static unsigned
activity_of_cell(const struct named_row *row, size_t column)
{
	const float *ns = row->ns + column * ACTIVITIES;
	unsigned most = OUTSIDE;

	for (unsigned a = COMPUTING; a < ACTIVITIES; a++)
		most = ns[a] > ns[most] ? a : most;
	return most;
}

/* Rows behind those of the timeline: threads without calls, as location, number, activities. */
static void
put_threads(struct json *out, const struct page *page)
{
	json_break(out);
	json_begin_array(out, "threads");
	for (size_t r = page->bins.rows; r < page->named.count; r++) {
		const struct named_row *row = &page->named.at[r];

		json_break(out);
		json_uint(out, NULL, row->location);
		json_uint(out, NULL, row->worker);
		json_next(out, NULL);
		text_char(out->text, '"');
		for (size_t c = 0, end; c < page->bins.columns; c = end) {
			const unsigned activity = activity_of_cell(row, c);

			for (end = c + 1; end < page->bins.columns &&
			    activity_of_cell(row, end) == activity; end++)
				;
			text_print(out->text, "%c%zu", (char)('a' + activity), end - c);
		}
		text_char(out->text, '"');
	}
	json_end_array(out);
	json_bool(out, "allThreads", !page->named.dropped);
}

void
names_write(struct json *out, const struct page *page)
{
	if (page->named.count == 0)
		return;
	for (enum naming by = 0; by < NAMINGS; by++)
		if (page->named.any[by])
			put_naming(out, page, by);
	if (page->named.count > page->bins.rows)
		put_threads(out, page);
}
