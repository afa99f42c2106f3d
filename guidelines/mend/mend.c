/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-mend - run an MPI program with mock-ups in place of slower functions
 *
 * reads   verdict streams; with --factors a graph stream
 * writes  nothing except for --list and --factors: the output is the program's
 * memory  a rule for each function, number of ranks and size
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/mpi/catalogue.h"
#include "../../base/run/definitions.h"
#include "../../base/stream/calls.h"
#include "../../base/tool/process.h"
#include "../../base/tool/table.h"
#include "../../base/tool/tool.h"
#include "replaced.h"

/*
 * Rules from verdicts: at each measured size of a function the fastest alternative, up to the next
 * measured size. Beyond the measured sizes there is no rule.
 */

/* The fastest alternative at one measured size, and other results for that size. */
struct size_rule {
	int64_t ranks;
	char *function;
	uint64_t from, to;	/* bytes; up to the next measured size, both inclusive */
	double function_ns;	/* of the library's function */
	/* mock-up, or "split"; NULL: none is faster, or none is permitted */
	char *winner;
	uint64_t part;		/* of a split */
	double winner_ns;
	const char *why_not;	/* why a faster one is not permitted; or NULL */
};

struct mending {
	struct size_rule *at;	/* by ranks, function, size; one each */
	size_t count, capacity;
	char *library;		/* the library measured; NULL before the first verdict */
};

static bool
is_one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* NULL: it may replace the function. */
static const char *
why_not(const char *function, const char *other)
{
#define ONE(name) "MPI_" #name,
#define MOCKUP_NAME(gl, function, name, text, memory) #function "_as_" #name,
	static const char *const replaced[] = { REPLACED_FUNCTIONS(ONE) };
	static const char *const mockups[] = { MOCKUPS(MOCKUP_NAME) };

	if (strncmp(function, "MPI_I", 5) == 0)
		return "what blocks may not stand for what does not";
	if (!is_one_of(replaced, sizeof replaced / sizeof replaced[0], function))
		return "it is about types, and not bytes";
	if (strcmp(other, "split") == 0)
		return strcmp(function, "MPI_Sendrecv") == 0 ?
		    "the partner would not know of several messages" : NULL;
	return is_one_of(mockups, sizeof mockups / sizeof mockups[0], other) ? NULL :
	    "a guideline of one's own has no function in the library";
}

/* The rule of that size, added if new. */
static struct size_rule *
rule_of(struct mending *m, int64_t ranks, const char *function, uint64_t bytes)
{
	struct size_rule *rule;

	for (size_t i = 0; i < m->count; i++)
		if (m->at[i].ranks == ranks && m->at[i].from == bytes &&
		    strcmp(m->at[i].function, function) == 0)
			return &m->at[i];
	rule = APPEND(m->at, m->count, m->capacity);
	*rule = (struct size_rule){ .ranks = ranks, .from = bytes, .to = bytes,
	    .function = need(strdup(function)) };
	return rule;
}

static double
duration(struct reader *in, const struct message *message, const char *key)
{
	const msgpack_object *o = body_get(message, key);

	if (o == NULL || (o->type != MSGPACK_OBJECT_FLOAT64 && o->type != MSGPACK_OBJECT_FLOAT32) ||
	    !(o->via.f64 >= 0) || !isfinite(o->via.f64))
		die_message(in, message, "%s: %s is missing or no time", message->kind, key);
	return o->via.f64;
}

static void
take_test(struct mending *m, struct reader *in, const struct message *message, int64_t ranks)
{
	char *type = need_string(in, message, "type"),
	    *function = need_string(in, message, "function");
	char *other = need_string(in, message, "other");
	int64_t bytes, part, violated;
	struct size_rule *rule;
	double other_ns = duration(in, message, "other_ns"), gain;
	const char *why = why_not(function, other);

	if (body_int(in, message, "bytes", 0, INT32_MAX, &bytes) < 0 ||
	    body_int(in, message, "other_bytes", 0, INT32_MAX, &part) < 0 ||
	    body_int(in, message, "violated", 0, 1, &violated) < 0)
		die_input(in);
	if (strcmp(other, "split") == 0 && (part < 1 || part >= bytes))
		die_message(in, message, "test: other_bytes is no part of bytes");
	rule = rule_of(m, ranks, function, (uint64_t)bytes);
	rule->function_ns = duration(in, message, "function_ns");
	if (violated && strcmp(type, "monotony") != 0 && other_ns > 0 &&
	    (strcmp(type, "split") != 0 || strcmp(other, "split") == 0)) {
		gain = rule->function_ns / other_ns;
		if (why != NULL)
			rule->why_not = why;
		else if (rule->winner == NULL || gain > rule->function_ns / rule->winner_ns) {
			free(rule->winner);
			rule->winner = need(strdup(other));
			rule->winner_ns = other_ns;
			rule->part = strcmp(other, "split") == 0 ? (uint64_t)part : 0;
		}
	}
	free(type);
	free(function);
	free(other);
}

/* All verdicts must be from one library. */
static void
take_head(struct mending *m, struct reader *in, const struct message *message, int64_t *ranks)
{
	char *library = need_string(in, message, "library");
	int64_t failed;

	if (body_int(in, message, "ranks", 1, INT32_MAX, ranks) < 0 ||
	    body_int(in, message, "control_failed", 0, 1, &failed) < 0)
		die_input(in);
	if (m->library != NULL && strcmp(m->library, library) != 0)
		die_message(in, message, "a verdict on \"%s\"; that before is on \"%s\"",
		    library, m->library);
	if (failed)
		note("%s: the A/A control failed: this verdict is worthless", reader_file(in));
	free(m->library);
	m->library = library;
}

static void
read_verdict(struct mending *m, const char *file)
{
	struct progress progress = { 0 };
	struct reader *in;
	struct message message;
	int64_t ranks = 0;

	if (reader_open(&in, file, READ_STREAM) < 0 || reader_need_content(in, "verdict") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message))
		if (is_kind(&message, "verdict"))
			take_head(m, in, &message, &ranks);
		else if (is_kind(&message, "test") && ranks > 0)
			take_test(m, in, &message, ranks);
	if (ranks == 0) {
		reader_fail(in, 0, "there is no verdict in it");
		die_input(in);
	}
	reader_close(in);
}

ORDER(by_place, struct size_rule, BY(ranks) BY_TEXT(function) BY(from))

static char *
rules_text(const struct mending *m)
{
	char *text = NULL;
	size_t length;
	FILE *out = need(open_memstream(&text, &length));

	for (const struct size_rule *r = m->at; r < m->at + m->count; r++) {
		if (r->winner != NULL)
			fprintf(out, "%" PRId64 " %s %" PRIu64 " %" PRIu64 " %s %" PRIu64 "\n",
			    r->ranks, r->function, r->from, r->to, r->winner, r->part);
	}
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

static void
print_rules(struct text *out, const struct mending *m)
{
	struct table_writer table;

	table_begin(&table, out,
	    "ranks\tfunction\tfrom_bytes\tto_bytes\tfunction_us\tinstead_us\tinstead");
	for (const struct size_rule *r = m->at; r < m->at + m->count; r++) {
		if (r->winner == NULL && r->why_not == NULL)
			continue;
		table_int(&table, r->ranks);
		table_text(&table, r->function);
		table_uint(&table, r->from);
		table_uint(&table, r->to);
		table_fixed(&table, 1e-3 * r->function_ns, 3);
		table_fixed(&table, r->winner != NULL ? 1e-3 * r->winner_ns : NAN, 3);
		if (r->winner == NULL)
			table_format(&table, "as it is: %s", r->why_not);
		else if (r->part > 0)
			table_format(&table, "calls of %" PRIu64 " bytes", r->part);
		else
			table_text(&table, r->winner);
		table_end_line(&table);
	}
	table_end(&table);
}

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

/* The rule for the size, else of the nearest smaller one, else the first; NULL: not measured. */
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
		definitions_take(&known, in, &message);
		if (is_kind(&message, "calls") && calls_read(&calls, in, &message) < 0)
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
start(const struct options *opt, const char *rules)
{
	char library[PATH_MAX];
	const char *rank = rank_of_launcher();

	preload_find("mend", library, sizeof library);
	/* after a recorder, so that it records the program's own calls */
	preload_add(library, false);
	setenv("LONGPOLE_MEND", rules, 1);
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
	char *rules;

	tool = "lp-mend";
	opt = parse_options(argc, argv);
	for (size_t i = 0; i < opt.verdict_count; i++)
		read_verdict(&m, opt.verdicts[i]);
	SORT(m.at, m.count, by_place);
	for (size_t i = 0; i + 1 < m.count; i++)
		if (m.at[i].ranks == m.at[i + 1].ranks &&
		    strcmp(m.at[i].function, m.at[i + 1].function) == 0)
			m.at[i].to = m.at[i + 1].from - 1;
	rules = rules_text(&m);
	if (!opt.list && opt.graph == NULL) {
		if (rules[0] == '\0' &&
		    (rank_of_launcher() == NULL || strcmp(rank_of_launcher(), "0") == 0))
			note("no replaceable function is slower: nothing is replaced");
		start(&opt, rules);
	}
	text_begin(&text, stdout, NULL);
	if (opt.list)
		print_rules(&text, &m);
	if (opt.graph != NULL)
		print_factors(&text, &m, opt.graph);
	text_flush(&text);
	return finish(DONE);
}
