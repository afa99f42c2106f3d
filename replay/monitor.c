/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitors of transfer efficiency (Haldar). A pair is an MPI call and the computing before it.
 * Its local efficiency is its simulated over its recorded duration; the cumulative efficiency is
 * that of all pairs so far. Waits move between pairs, so single efficiencies may exceed 1.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/fields.h"
#include "replay.h"

enum { BLOCK = 4096 };		/* pairs in a message */

/* Numbers and ranges, separated by commas. */
static void
choose(struct monitor *m, const char *at)
{
	for (;; at++) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		bool number = *at >= '0' && *at <= '9';

		if (number && *end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
			number = *at >= '0' && *at <= '9';
		}
		if (!number || (*end != ',' && *end != '\0'))
			die("--monitor: %s: ranks are all, or as in 0,2-3", m->ranks);
		if (last >= m->count || first > last)
			die("--monitor: %s: the run has the ranks 0 to %u", m->ranks, m->count - 1);
		for (unsigned long r = first; r <= last; r++)
			m->series[r].chosen = true;
		if (*end == '\0')
			return;
		at = end;
	}
}

void
monitor_run(struct monitor *m, uint32_t ranks)
{
	m->count = ranks;
	m->series = zalloc(ranks, sizeof *m->series);
	if (strcmp(m->ranks, "all") != 0)
		choose(m, m->ranks);
	for (uint32_t r = 0; r < ranks && strcmp(m->ranks, "all") == 0; r++)
		m->series[r].chosen = true;
}

/* The rank has left a call. Rows of other functions belong to the next pair. */
void
monitor_take(struct monitor *m, uint32_t rank, uint16_t call, int64_t recorded_ns,
    int64_t simulated_ns, int64_t useful_ns)
{
	struct series *s;

	if (rank >= m->count || !m->series[rank].chosen || strncmp(call_name(call), "MPI_", 4) != 0)
		return;
	s = &m->series[rank];
	*APPEND(s->pairs, s->count, s->capacity) = (struct pair){ recorded_ns, simulated_ns,
	    useful_ns };
}

struct line { int64_t rank, i, end_ns, observed_ns, simulated_ns; double local, cumulative; };
#define LINE(member) FIELD(struct line, member)
static const struct field fields[] = {
	{ "rank", LINE(rank), .text = PLAIN },
	{ "i", LINE(i), .text = PLAIN },
	{ "t_end_obs_ns", LINE(end_ns), .text = PLAIN },
	{ "t_obs_ns", LINE(observed_ns), .text = PLAIN },
	{ "t_sim_ns", LINE(simulated_ns), .text = PLAIN },
	{ "local", LINE(local), .text = "%.6f" },
	{ "cumulative", LINE(cumulative), .text = "%.6f" },
	FIELDS_END
};

void
monitor_print(struct text *out, const struct monitor *m)
{
	struct table_writer table;

	table_begin(&table, out, NULL);
	table_head(&table, fields);
	for (uint32_t r = 0; r < m->count; r++) {
		struct pair last = { 0, 0, 0 };

		for (size_t i = 0; i < m->series[r].count; i++) {
			struct pair pair = m->series[r].pairs[i];
			int64_t observed = pair.recorded_ns - last.recorded_ns;
			int64_t simulated = pair.simulated_ns - last.simulated_ns;

			table_row(&table, fields, &(struct line){ r, (int64_t)i + 1,
			    pair.recorded_ns, observed, simulated, ratio(simulated, observed),
			    ratio(pair.simulated_ns, pair.recorded_ns) });
			last = pair;
		}
	}
	table_end(&table);
}

void
monitor_write(const struct monitor *m, struct writer *out)
{
	static int64_t recorded[BLOCK], simulated[BLOCK];

	for (uint32_t r = 0; r < m->count; r++)
		for (size_t first = 0; first < m->series[r].count; first += BLOCK) {
			size_t n = m->series[r].count - first < BLOCK ?
			    m->series[r].count - first : BLOCK;

			for (size_t i = 0; i < n; i++) {
				recorded[i] = m->series[r].pairs[first + i].recorded_ns;
				simulated[i] = m->series[r].pairs[first + i].simulated_ns;
			}
			message_begin(out, "monitor", 5);
			put_uint(out, "rank", r);
			put_uint(out, "first", first);
			put_uint(out, "count", n);
			put_column(out, "recorded_end", recorded, n);
			put_column(out, "end", simulated, n);
			end_message(out);
		}
}
