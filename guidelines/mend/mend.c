/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-mend - run an MPI program with mock-ups in place of slower functions
 *
 * reads verdict streams; with --factors a graph stream writes nothing except for --list and
 * --factors: the output is the program's memory a rule for each function, number of ranks and size
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/run/definitions.h"
#include "../../base/stream/calls.h"
#include "../../base/tool/process.h"
#include "mend.h"

/*
 * Predicts the effect of replacing on a recorded run: for each function with a rule, the ratio of
 * the total times of its calls. Each call counts with the times measured at the size nearest to its
 * own.
 */

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

static void
print_factors(struct text *out, const struct mending *m, const char *graph)
{
	enum { CALLS = 1 << 16 };
	struct share *shares = zalloc(CALLS, sizeof *shares);
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct progress progress = { 0 };
	struct reader *in;
	struct message message;

	if (reader_open(&in, graph, READ_STREAM) < 0 || reader_need_content(in, "graph") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message)) {
		if (definitions_take(&known, in, &message) < 0 ||
		    (is_kind(&message, "calls") && calls_read(&calls, in, &message) < 0))
			die_input(in);
		if (is_kind(&message, "calls"))
			add_calls(m, &known, &calls, shares);
	}
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

static const char usage[] =
	"usage: lp-mend --verdict FILE [OPTION ...] [--] COMMAND [ARGUMENT ...]\n"
	"Run an MPI program with mock-ups in place of functions that a verdict calls slower.\n"
	"COMMAND is mpirun and what it starts, or each rank: mpirun -n 4 lp-mend ... ./app\n"
	"      --verdict FILE   from lp-guidelines -F stream; one for each number of ranks\n"
	"      --exact          leave reductions whose result depends on the order\n"
	"      --count          at the end rank 0 says how many of its calls were replaced\n"
	"      --list           print what becomes of which sizes, and start nothing\n"
	"      --factors GRAPH  print factors for lp-replay, of functions of a recorded run\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

struct options {
	const char **verdicts;
	size_t verdict_count;
	const char *graph;
	bool exact, count, list;
	char **command;
};

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	enum { VERDICT = 256 };
	static const struct option_row rows[] = {
		{ "verdict", VERDICT, ASKED }, { "exact", 0, FLAG, OPTION(exact) },
		{ "count", 0, FLAG, OPTION(count) }, { "list", 0, FLAG, OPTION(list) },
		{ "factors", 0, AS_TEXT, OPTION(graph) }, OPTIONS_END
	};
	struct options opt = { 0 };
	size_t capacity = 0;

	while (next_option(argc, argv, "+", rows, usage, &opt) == VERDICT)
		*APPEND(opt.verdicts, opt.verdict_count, capacity) = optarg;
	opt.command = argv + optind;
	if (opt.verdict_count == 0 || (optind == argc) != (opt.list || opt.graph != NULL))
		bad_usage(usage);
	return opt;
}

static _Noreturn void
start(const struct options *opt, const struct mending *m)
{
	char library[PATH_MAX], *text = rules_text(m);
	const char *rank = rank_of_launcher();

	preload_find("mend", library, sizeof library);
	/* after a recorder, so that it records the program's own calls */
	preload_add(library, false);
	setenv("LONGPOLE_MEND", text, 1);
	if (opt->exact)
		setenv("LONGPOLE_MEND_EXACT", "1", 1);
	else
		unsetenv("LONGPOLE_MEND_EXACT");
	if (opt->count)
		setenv("LONGPOLE_MEND_COUNT", "1", 1);
	if (rank != NULL)
		setenv("LONGPOLE_MEND_RANK", rank, 1);
	execvp(opt->command[0], opt->command);
	die("%s: %s", opt->command[0], strerror(errno));
}

int
main(int argc, char **argv)
{
	static struct text text;	/* too large for the stack */
	struct mending m = { 0 };
	struct options opt;

	tool = "lp-mend";
	opt = parse_options(argc, argv);
	for (size_t i = 0; i < opt.verdict_count; i++)
		read_verdict(&m, opt.verdicts[i]);
	finish_rules(&m);
	if (!opt.list && opt.graph == NULL) {
		if (count_rules(&m) == 0 &&
		    (rank_of_launcher() == NULL || strcmp(rank_of_launcher(), "0") == 0))
			note("no replaceable function is slower: nothing is replaced");
		start(&opt, &m);
	}
	text_begin(&text, stdout, NULL);
	if (opt.list)
		print_rules(&text, &m);
	if (opt.graph != NULL)
		print_factors(&text, &m, opt.graph);
	text_flush(&text);
	return finish(DONE);
}
