/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts the effect of replacing on a recorded run: for each function with a rule, the ratio of
 * the total times of its calls. Each call counts with the times measured at the size nearest to its
 * own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/run/definitions.h"
#include "../../base/stream/calls.h"
#include "mend.h"

/* Sums for one function in the run. */
struct share {
	double before_ns, after_ns;
	uint64_t calls, replaced;
};

/* The bytes of the call's count, from the recorded bytes. */
static uint64_t
block_of(const char *name, uint64_t sent, uint64_t received, uint64_t ranks)
{
	if (strcmp(name, "MPI_Gather") == 0)
		return sent > 0 ? sent : received / ranks;
	if (strcmp(name, "MPI_Scatter") == 0)
		return received > 0 ? received : sent / ranks;
	if (strcmp(name, "MPI_Allgather") == 0 || strcmp(name, "MPI_Alltoall") == 0)
		return received / ranks;
	if (strcmp(name, "MPI_Sendrecv") == 0)
		return sent;
	if (strncmp(name, "MPI_Reduce_scatter", 18) == 0)
		return received;
	return sent > received ? sent : received;
}

/*
 * The rule for the size, or that of the nearest smaller size, else the first; NULL: not measured.
 */
static const struct size_rule *
nearest(const struct mending *m, const char *name, int64_t ranks, uint64_t bytes)
{
	const struct size_rule *found = NULL;

	for (size_t i = 0; i < m->count; i++)
		if (m->at[i].ranks == ranks && strcmp(m->at[i].function, name) == 0 &&
		    (found == NULL || m->at[i].from <= bytes))
			found = &m->at[i];
	return found;
}

static void
add_calls(const struct mending *m, const struct definitions *known, const struct calls *calls,
    struct share *shares)
{
	for (size_t i = 0; i < calls->count; i++) {
		const char *name = call_name(calls->call[i]);
		uint32_t comm = calls->comm[i];
		int64_t ranks = comm < known->comm_count && known->comms[comm].remote_size == 0 ?
		    known->comms[comm].size : 0;
		uint64_t bytes = ranks > 0 ? block_of(name, calls->bytes_sent[i],
		    calls->bytes_received[i], (uint64_t)ranks) : 0;
		const struct size_rule *r = nearest(m, name, ranks, bytes);
		struct share *share = &shares[calls->call[i]];
		bool replaced = r != NULL && r->winner != NULL && bytes >= r->from &&
		    bytes <= r->to;

		if (calls->call[i] == 0 || r == NULL)
			continue;
		share->calls++;
		share->replaced += replaced;
		share->before_ns += r->function_ns;
		share->after_ns += replaced ? r->winner_ns : r->function_ns;
	}
}

void
print_factors(struct text *out, const struct mending *m, const char *graph)
{
	enum { CALLS = 1 << 16 };
	struct share *shares = zalloc(CALLS, sizeof *shares);
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct reader *in;
	struct message message;
	int got;

	if (reader_open(&in, graph, READ_STREAM) < 0 || reader_need_content(in, "graph") < 0)
		die_input(in);
	while ((got = reader_next(in, &message)) > 0) {
		if (definitions_take(&known, in, &message) < 0 ||
		    (is_kind(&message, "calls") && calls_read(&calls, in, &message) < 0))
			die_input(in);
		if (is_kind(&message, "calls"))
			add_calls(m, &known, &calls, shares);
	}
	if (got < 0)
		die_input(in);
	for (unsigned i = 1; i < call_count(); i++)
		if (shares[i].replaced > 0 && shares[i].before_ns > 0) {
			text_print(out, "call=");
			text_visible(out, call_name(i));
			text_print(out, ",factor=%.6g\n", shares[i].after_ns / shares[i].before_ns);
			note("%" PRIu64 " of %" PRIu64 " calls of %s would be replaced",
			    shares[i].replaced, shares[i].calls, call_name(i));
		}
	calls_free(&calls);
	free(shares);
	reader_close(in);
}
