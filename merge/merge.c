/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-merge - raw traces to one trace on one clock
 *
 * reads   the raw traces of all ranks of a run: folders, files, or one concatenated stream;
 *         a pipe is kept in a temporary file, since the input is read twice
 * writes  one trace: the definitions, then the blocks of calls in order of their first enter;
 *         or a folder of shards with the same trace in pieces, each process its own
 * memory  ranks, their threads, communicators and call sites, and one block of calls, or one
 *         for each of up to 64 threads;
 *         for clocks that need messages (merge.1) also the memory of lp-graph
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/run/raw_folder.h"
#include "merge.h"

static const char usage[] =
	"usage: lp-merge [-s none|offset|linear|clc] [--partial] [--no-names] [FOLDER|FILE ...]\n"
	"       lp-merge -o SHARDS [--shards N|node] ...; or mpirun -n P lp-merge -o SHARDS ...\n"
	"       lp-merge --follow [--no-samples] [--until-spawn] FOLDER ...\n"
	"Make one trace on one clock of the raw traces of a run.\n"
	"  -s, --sync HOW   none: clocks as they are; offset: as measured in MPI_Init;\n"
	"                   linear: and from then on; clc: and no message comes before it\n"
	"                   was sent [linear]\n"
	"  -o, --output SHARDS  a folder of shards; several processes write theirs each\n"
	"      --shards N|node  how many, or one a node [as many as processes]\n"
	"      --follow     of a run that goes on, until it ends: what has been recorded so far\n"
	"      --no-samples with --follow: without samples and switches\n"
	"      --until-spawn  with --follow: end, with status 1, when processes were spawned\n"
	"      --partial    go on where ranks are missing\n"
	"      --no-names   leave call sites as addresses: no functions, no lines\n"
	"  -h, --help       print this text\n"
	"  -V, --version    print the version\n";

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const syncs[] = { "none", "offset", "linear", "clc", NULL };
	enum { SHARDS = 256, GONE };
	static const struct option_row rows[] = {
		{ "sync", 's', AS_CHOICE, OPTION(sync), .choices = syncs },
		{ "partial", 0, FLAG, OPTION(partial) }, { "no-names", 0, FLAG, OPTION(no_names) },
		{ "no-samples", 0, FLAG, OPTION(no_samples) },
		{ "output", 'o', AS_TEXT, OPTION(folder) }, { "shards", SHARDS, ASKED },
		{ "meet", GONE, ASKED_MAYBE }, { "member", GONE, ASKED_MAYBE },
		{ "follow", 0, FLAG, OPTION(follow) },
		{ "until-spawn", 0, FLAG, OPTION(until_spawn) }, OPTIONS_END
	};
	struct options opt = { .sync = SYNC_LINEAR };
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1) {
		if (c == GONE)
			die("%s is gone: mpirun -n NODES lp-merge -o SHARDS FOLDER reads each "
			    "node's own disk", argv[optind - 1]);
		opt.counted = true;
		if (strcmp(optarg, "node") != 0)
			opt.shards = (uint32_t)parse_integer("--shards", optarg, 1, 1 << 20);
	}
	if (opt.counted && opt.folder == NULL)
		die("--shards needs -o, the folder that gets them");
	opt.files = argv + optind;
	return opt;
}

/* Of several processes, some may see none. */
static void
add_folder(struct input *input, const char *folder)
{
	struct paths found = folder_run(folder);

	if (found.count <= 0)
		input->no_file = formatted(found.count < 0 ? "%s: %s" :
		    "%s: holds no raw trace (rank.0, rank.1, ...)", folder, strerror(errno));
	for (int i = 0; i < found.count; i++)
		*APPEND(input->files, input->file_count, input->file_capacity) = found.at[i];
	free(found.at);
}

static void
add_all_files(struct input *input, char **files, const struct team *team)
{
	struct stat status;

	if (*files == NULL) {
		refuse_terminal_input(NULL, usage);
		*APPEND(input->files, input->file_count, input->file_capacity) = NULL;
	}
	for (; *files != NULL; files++)
		if (strcmp(*files, "-") == 0)
			*APPEND(input->files, input->file_count, input->file_capacity) = NULL;
		else if (stat(*files, &status) == 0 ? S_ISDIR(status.st_mode) : team->size > 1)
			add_folder(input, *files);
		else
			*APPEND(input->files, input->file_count, input->file_capacity) = *files;
	if (input->no_file != NULL && team->size == 1)
		die("%s", input->no_file);
}

/*
 * All of the team have the clock samples and find the same corrections. The first one prints notes.
 * Messages need a pass over all files, which the first one makes.
 */
static void
correct(struct input *input, const struct options *opt, const struct team *team)
{
	team_part(team);
	be_silent(team->rank > 0);
	join_worlds(input, false);
	check_ranks(input);
	correct_clocks(input, opt->sync);
	be_silent(false);
	team_meet(team);
	if (input->holders > 0 && input->world_count > 1)
		die("several MPI_COMM_WORLDs are merged where all processes see the same files");
	if (input->holders > 0 && (opt->sync == SYNC_CLC ||
	    (opt->sync == SYNC_LINEAR && lacks_drift(input))))
		files_to_all(input, team);
	for (int32_t w = 1; w < input->world_count; w++) {
		const struct world *world = &input->worlds[w];
		struct late late = { 0, -1 };

		if (!world->guessed)
			continue;
		if (team->rank == 0 && opt->sync >= SYNC_LINEAR)
			late = look_at_guessed(input, world);
		team_copy(team, &late, sizeof late);
		be_silent(team->rank > 0);
		correct_guessed(input, world, late);
		be_silent(false);
		set_origin(input);
	}
	if (team->rank == 0 && opt->sync >= SYNC_LINEAR)
		correct_drift(input);
	if (team->rank == 0 && opt->sync == SYNC_CLC)
		correct_order(input);
	share_clocks(input, team);
}

static void
check_options(const struct options *opt, const struct team *team)
{
	struct stat status;

	if ((opt->no_samples || opt->until_spawn) && !opt->follow)
		die("--no-samples and --until-spawn need --follow");
	if (opt->follow && (opt->folder != NULL || team->size > 1))
		die("--follow makes one stream, by one process");
	for (size_t i = 0; opt->follow && (i == 0 || opt->files[i] != NULL); i++)
		if (opt->files[i] == NULL || stat(opt->files[i], &status) != 0 ||
		    !S_ISDIR(status.st_mode))
			die("--follow needs the folder that lp-record writes");
	if (opt->folder == NULL) {
		refuse_terminal_output();
		if (team->size > 1)
			die("several processes write shards: -o FOLDER");
	}
	for (size_t i = 0; team->size > 1 && (i == 0 || opt->files[i] != NULL); i++)
		if (opt->files[i] == NULL || strcmp(opt->files[i], "-") == 0)
			die("several processes read files, not standard input");
}

/*
 * To a pipe, output is final. A file gets the trace of the whole run at the end, as if merged then.
 * False: it is a pipe, and all is done, or it has SPAWNED others.
 */
static bool
follow_run(struct input *input, const struct options *opt, int *argc, char ***argv, bool *spawned)
{
	const off_t begin = lseek(STDOUT_FILENO, 0, SEEK_CUR);
	struct stat status;
	char **words = zalloc((size_t)*argc + 1, sizeof *words);
	int kept = 0;

	*spawned = follow(input, opt, STDOUT_FILENO, *argc, *argv);
	if (*spawned || begin != 0 || fstat(STDOUT_FILENO, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return false;
	if (lseek(STDOUT_FILENO, 0, SEEK_SET) != 0 || ftruncate(STDOUT_FILENO, 0) != 0)
		die("standard output: %s", strerror(errno));
	for (int i = 0; i < *argc; i++)		/* it may be cut to this length */
		if (strncmp((*argv)[i], "--f", 3) != 0 && strncmp((*argv)[i], "--no-s", 6) != 0)
			words[kept++] = (*argv)[i];
	*argc = kept;
	*argv = words;
	reader_close(input->in);
	memset(input, 0, sizeof *input);
	return true;
}

int
main(int argc, char **argv)
{
	static struct input input;	/* static: its table of calls is too large for a stack */
	struct options opt;
	struct team team;
	bool spawned;

	tool = "lp-merge";
	team = team_start(&argc, &argv);
	opt = parse_options(argc, argv);
	check_options(&opt, &team);
	if (opt.follow && !follow_run(&input, &opt, &argc, &argv, &spawned))
		return finish(spawned ? ANSWER_IS_NO : DONE);
	input.partial = opt.partial;
	add_all_files(&input, opt.files, &team);
	team_open(&team, &argc, &argv);
	if (team.size > 1)
		divide_files(&input, &team);
	if (input.holders > 0 && opt.counted && opt.shards > 0)
		die("disks that not all processes see make a shard of each node: --shards node");
	if (opt.folder != NULL)
		shards_prepare(opt.folder, &team);
	survey(&input, &team);
	correct(&input, &opt, &team);
	if (!opt.counted && input.holders == 0)
		opt.shards = (uint32_t)team.size;
	if (opt.folder != NULL)
		write_shards(&input, &opt, &team, argc, argv);
	else
		write_trace(&input, STDOUT_FILENO, !opt.no_names, argc, argv);
	team_close();
	return DONE;
}
