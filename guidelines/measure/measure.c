/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-measure - times the functions of an MPI library and their mock-ups
 *
 * runs    as all ranks of one mpirun
 * writes  one measurement stream, by rank 0
 * memory  buffers for the largest call, and the times of one function at one size
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"

static const char usage[] =
	"usage: lp-measure [OPTION...], as the ranks of an mpirun\n"
	"Time functions of the MPI library and their mock-ups; a measurement stream.\n"
	"  -f, --functions LIST  names, separated by commas [all]\n"
	"      --guidelines FILE guidelines of one's own, too; then their functions only\n"
	"  -s, --sizes LIST      bytes a block [8,64,512,4096,32768,262144]\n"
	"  -n, --reps N          repetitions [100]\n"
	"  -N, --reps-file FILE  repetitions by function and size, from lp-nrep\n"
	"      --confirm FILE    only the candidates of lp-guidelines, a second time\n"
	"  -c, --control NAME    function that is measured under two names [the first]\n"
	"      --split K         compare with up to K smaller calls, 0 with none [16]\n"
	"  -S, --sync HOW        dissemination, barrier or window [dissemination]\n"
	"      --window US       microseconds from start to start [1000]\n"
	"  -w, --warm-up N       calls before any is timed [20]\n"
	"  -t, --type TYPE       byte, int, double or pair [byte]\n"
	"      --root RANK       of rooted functions [0]\n"
	"      --seed N          of the order [from the clock]\n"
	"  -B, --budget SECONDS  fewer repetitions where time is short [no limit]\n"
	"  -o, --output FILE     instead of standard output\n"
	"      --plain           functions only: no mock-ups, splits and control\n"
	"      --check           compare results of all mock-ups and types, time nothing\n"
	"  -l, --list            print functions and mock-ups\n"
	"  -h, --help            print this text\n"
	"  -V, --version         print the version\n";

static void
list(const struct own_file *own)
{
	for (size_t i = 0; i < function_count; i++)
		printf("%s\n", functions[i].name);
	for (size_t i = 0; i < mockup_count; i++)
		printf("%d\t%s\textra memory %s elements\n", mockups[i].number,
		    mockups[i].guideline, mockups[i].memory);
	for (size_t i = 0; i < own->count; i++)
		printf("%d\t%s\tof its own\n", own->subjects[i].number, own->subjects[i].guideline);
}

/* The file's bytes, terminated by 0; on failure ERROR has the reason. */
static char *
read_file(const char *path, size_t *size, char error[ERROR_BYTES])
{
	char *text = zalloc(OWN_BYTES + 1, 1);
	FILE *file = fopen(path, "r");

	error[0] = '\0';
	*size = file != NULL ? fread(text, 1, OWN_BYTES, file) : 0;
	if (file == NULL || ferror(file))
		snprintf(error, ERROR_BYTES, "%s", strerror(errno));
	else if (*size == OWN_BYTES)
		snprintf(error, ERROR_BYTES, "more than %d bytes are too many", OWN_BYTES - 1);
	if (file != NULL)
		fclose(file);
	return text;
}

/* Rank 0 reads the file and reports errors; with RANKS 1 there is no communication. */
static bool
read_guidelines(struct state *s, int ranks)
{
	struct { size_t size; char error[ERROR_BYTES]; } head = { 0 };
	char *text = NULL;
	bool right;

	if (s->opt.guidelines == NULL)
		return true;
	if (s->call.rank == 0)
		text = read_file(s->opt.guidelines, &head.size, head.error);
	else
		text = zalloc(OWN_BYTES + 1, 1);
	if (ranks > 1) {
		MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, MPI_COMM_WORLD);
		MPI_Bcast(text, (int)head.size, MPI_BYTE, 0, MPI_COMM_WORLD);
	}
	right = head.error[0] == '\0' && own_parse(text, head.size, &s->own, head.error);
	if (!right && s->call.rank == 0)
		note("%s: %s", s->opt.guidelines, head.error);
	return right;
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	enum { CONFIRM = 256 };
	static const struct option_row rows[] = {
		{ "functions", 'f', AS_TEXT, OPTION(functions) },
		{ "sizes", 's', AS_TEXT, OPTION(sizes) },
		{ "guidelines", 0, AS_TEXT, OPTION(guidelines) },
		{ "reps", 'n', AS_WHOLE, OPTION(reps), 1, 10000000 },
		{ "reps-file", 'N', AS_TEXT, OPTION(reps_file) },
		{ "confirm", CONFIRM, ASKED },
		{ "control", 'c', AS_TEXT, OPTION(control) },
		{ "split", 0, AS_WHOLE, OPTION(splits), 0, 1000000 },
		{ "sync", 'S', AS_CHOICE, OPTION(sync), .choices = sync_names },
		{ "window", 0, AS_WHOLE, OPTION(window_us), 1, 1000000000 },
		{ "warm-up", 'w', AS_WHOLE, OPTION(warm_up), 0, 1000000 },
		{ "type", 't', AS_CHOICE, OPTION(type), .choices = type_names },
		{ "root", 0, AS_WHOLE, OPTION(root), 0, INT32_MAX },
		{ "seed", 0, AS_WHOLE, OPTION(seed), 0, INT64_MAX },
		{ "budget", 'B', AS_SECONDS, OPTION(budget_ns) },
		{ "output", 'o', AS_TEXT, OPTION(output) },
		{ "check", 0, FLAG, OPTION(check) }, { "plain", 0, FLAG, OPTION(plain) },
		{ "list", 'l', FLAG, OPTION(list) }, OPTIONS_END
	};
	struct options opt = { .sizes = "8,64,512,4096,32768,262144", .reps = 100,
	    .splits = 16, .warm_up = 20, .window_us = 1000, .seed = -1 };

	while (next_option(argc, argv, "", rows, usage, &opt) == CONFIRM)
		opt.confirm = opt.reps_file = optarg;
	if (optind < argc)
		bad_usage(usage);
	return opt;
}

/* Every function and size asked for, in this mpirun's own random order. */
static void
plan(struct state *s)
{
	const struct options *opt = &s->opt;
	bool *chosen, *control = NULL;
	size_t capacity = 0;

	/* those asked for; else the left sides in the file, else all */
	if (opt->functions != NULL || s->own.count == 0)
		chosen = choose_functions(opt->functions != NULL ? opt->functions : "all");
	else
		chosen = zalloc(function_count, sizeof *chosen);
	for (size_t i = 0; opt->functions == NULL && i < s->own.count; i++)
		chosen[s->own.subjects[i].own->function - functions] = true;
	if (opt->control != NULL)
		control = choose_functions(opt->control);
	for (size_t f = 0; f < function_count; f++) {
		const struct subject *function = &functions[f];

		if (chosen[f] && s->control == NULL && (control == NULL || control[f]))
			s->control = function;
		for (size_t i = 0; chosen[f] && i < s->size_count; i++) {
			size_t bytes = function->input == NONE ? 0 : s->sizes[i];

			if (function->input == NONE && i > 0)
				break;		/* a barrier has no size */
			*APPEND(s->groups, s->group_count, capacity) = (struct group){ function,
			    bytes, opt->reps };
		}
	}
	if (s->control == NULL)
		die("--control %s: this function is not measured", opt->control);
	/* R. Durstenfeld, CACM 7 (1964), algorithm 235 */
	for (size_t i = s->group_count; i > 1; i--) {
		size_t other = random_below(&s->random, i);
		struct group last = s->groups[i - 1];

		s->groups[i - 1] = s->groups[other];
		s->groups[other] = last;
	}
	free(chosen);
	free(control);
}

/* Keeps only the candidates, in order; they are the same on all ranks. */
static void
keep_candidates(struct state *s)
{
	size_t kept = 0;
	bool has_control = false;

	for (size_t g = 0; g < s->group_count; g++)
		if (s->groups[g].reps > 0)
			s->groups[kept++] = s->groups[g];
	s->group_count = kept;
	if (kept == 0)
		die("%s: none of the candidates is measured by these functions and sizes",
		    s->opt.confirm);
	for (size_t g = 0; g < kept; g++)
		has_control |= s->groups[g].function == s->control;
	/* the first that is left, in the order of the list */
	for (size_t g = 0; g < kept && !has_control; g++)
		if (g == 0 || s->groups[g].function < s->control)
			s->control = s->groups[g].function;
}

/* lp-nrep's result for each function applies to its mock-ups, too. */
static void
read_reps(struct state *s)
{
	FILE *file = fopen(s->opt.reps_file, "r");
	char line[256], name[64];
	size_t number = 0;

	if (file == NULL)
		die("%s: cannot be opened", s->opt.reps_file);
	for (size_t g = 0; g < s->group_count; g++)
		s->groups[g].reps = 0;
	while (fgets(line, sizeof line, file) != NULL) {
		unsigned long long bytes, ranks, reps;

		if (number++ == 0)
			continue;	/* names of columns */
		if (sscanf(line, "%63s %llu %llu %llu", name, &bytes, &ranks, &reps) != 4)
			die("%s: line %zu is not from lp-nrep", s->opt.reps_file, number);
		if (ranks != (unsigned long long)s->call.ranks)
			die("%s: line %zu: for %llu ranks, not %d", s->opt.reps_file, number, ranks,
			    s->call.ranks);
		for (size_t g = 0; g < s->group_count; g++)
			if (s->groups[g].bytes == bytes && strcmp(s->groups[g].function->name,
			    name) == 0 && s->groups[g].reps < reps)
				s->groups[g].reps = reps;
	}
	fclose(file);
	if (s->opt.confirm != NULL) {
		keep_candidates(s);
		return;
	}
	for (size_t g = 0; g < s->group_count; g++)
		if (s->groups[g].reps == 0)
			die("%s: no repetitions for %s at %zu bytes", s->opt.reps_file,
			    s->groups[g].function->name, s->groups[g].bytes);
}

static void
put_mpirun(struct state *s)
{
	char library[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	int64_t barrier_ns, spread_ns;
	char *hosts = host_names(&s->call);

	time_barrier(&s->sync, &barrier_ns, &spread_ns);
	if (s->call.rank != 0)
		return;
	MPI_Get_library_version(library, &length);
	library[strcspn(library, ",\n")] = '\0';
	for (char *c = library; (c = strchr(c, '\t')) != NULL; )
		*c = ' ';
	message_begin(&s->out, "mpirun", 14);
	put_int(&s->out, "ranks", s->call.ranks);
	put_string(&s->out, "library", library);
	put_string(&s->out, "hosts", hosts);
	put_string(&s->out, "mended",
	    getenv("LONGPOLE_MEND") != NULL ? getenv("LONGPOLE_MEND") : "");
	put_string(&s->out, "stage", s->opt.confirm != NULL ? "confirm" : "screen");
	put_int(&s->out, "seed", s->opt.seed);
	put_string(&s->out, "sync", sync_names[s->sync.kind]);
	put_int(&s->out, "window", s->sync.kind == WINDOW ? s->sync.window_ns : 0);
	put_uint(&s->out, "warm_up", s->opt.warm_up);
	put_string(&s->out, "cache", "shared buffers, never cleared");
	put_string(&s->out, "type", type_names[s->opt.type]);
	put_int(&s->out, "root", s->opt.root);
	put_int(&s->out, "barrier", barrier_ns);
	put_int(&s->out, "barrier_spread", spread_ns);
	end_message(&s->out);
	free(hosts);
}

static enum exit_status
measure(struct state *s, int argc, char **argv)
{
	const size_t extent = type_extent(s->opt.type);
	int fd = STDOUT_FILENO;

	s->began_ns = now_ns();
	if (s->opt.seed < 0)
		s->opt.seed = s->began_ns;
	MPI_Bcast(&s->opt.seed, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	s->random.state = (uint64_t)s->opt.seed;
	s->size_count = parse_sizes("--sizes", s->opt.sizes, &s->sizes);
	for (size_t i = 0; i < s->size_count; i++)
		if (s->sizes[i] % extent != 0)
			die("--sizes %zu: no multiple of the type's %zu bytes", s->sizes[i],
			    extent);
	s->call = make_call(MPI_COMM_WORLD, s->opt.root, s->opt.type,
	    s->sizes[s->size_count - 1] / extent);
	if (is_refused_launch(&s->call))
		return TROUBLE;
	if (s->opt.root >= s->call.ranks)
		die("--root %d: there are %d ranks", s->opt.root, s->call.ranks);
	s->sync = (struct sync){ s->opt.sync, s->call.comm, s->call.rank, s->call.ranks,
	    1000 * s->opt.window_us, 0, 0 };
	plan(s);
	if (s->opt.reps_file != NULL)
		read_reps(s);
	if (!own_fits(s))
		return TROUBLE;
	/* A terminal is not refused: mpirun gives one to its ranks whatever its own output is. */
	if (s->call.rank == 0 && s->opt.output != NULL &&
	    (fd = open(s->opt.output, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0)
		die("%s: cannot be written", s->opt.output);
	if (s->call.rank == 0 && writer_open(&s->out, fd, "measurement", NULL, argc, argv) < 0)
		die_output();
	if (s->sync.kind == WINDOW)
		sync_clocks(&s->sync);
	put_mpirun(s);
	for (size_t g = 0; g < s->group_count; g++)
		measure_group(s, g);
	note_budget(&s->call, s->began_ns, s->opt.budget_ns);
	if (s->sync.dropped > 0 && s->call.rank == 0)
		note("%llu calls began late and were repeated",
		    (unsigned long long)s->sync.dropped);
	if (s->call.rank == 0 && writer_end(&s->out) < 0)
		die_output();
	return DONE;
}

int
main(int argc, char **argv)
{
	static struct state s;
	int status = DONE, ranks;

	tool = "lp-measure";
	s.opt = parse_options(argc, argv);
	if (s.opt.list) {
		if (!read_guidelines(&s, 1))
			return TROUBLE;
		list(&s.own);
		return finish(DONE);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &s.call.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!read_guidelines(&s, ranks))
		status = TROUBLE;
	else if (s.opt.check)
		status = check_all(&s) ? DONE : TROUBLE;
	else
		status = measure(&s, argc, argv);
	MPI_Finalize();
	if (s.opt.check && status == DONE)
		status = finish(DONE);
	return status;
}
