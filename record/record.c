/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-record - run an MPI program and record its calls
 *
 * reads   nothing
 * writes  one raw trace a rank into a folder, or all of them to standard output
 * memory  some 100 bytes a rank; the preloaded library maps one block a thread in every rank
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/tool/process.h"
#include "../base/tool/tool.h"
#include "record.h"

static const char usage[] =
	"usage: lp-record [-o FOLDER] [OPTION ...] [--] COMMAND [ARGUMENT ...]\n"
	"Run an MPI program and record the MPI calls of all its ranks. COMMAND is mpirun and\n"
	"what it starts, or the program itself: mpirun -n 4 lp-record -o FOLDER ./app\n"
	"  -o, --output FOLDER  leave a raw trace of each rank there [all go to standard\n"
	"                       output, and the program's own output to standard error]\n"
	"  -z, --compress HOW   none, min or max: make the traces smaller [none]\n"
	"      --polls HOW      fold: a run of failed tests and probes becomes one row [all]\n"
	"      --fold-local S   fold local calls that are shorter than S seconds [0]\n"
	"      --stack N        note N callers for each call site, at most 64 [1]\n"
	"      --sample HZ      sample what is computed between calls, so often a second [0]\n"
	"      --switches       note when threads leave their core and why; --sample does so, too\n"
	"      --sample-stack BYTES  find who called in so much of the stack [512]\n"
	"      --counters LIST  count with each sample, such as instructions,cycles, or all: see page\n"
	"      --paused         record from MPI_Pcontrol(1) on\n"
	"      --regions WHICH  all, or own: not those of other tools' interfaces, see page [all]\n"
	"      --sync HOW       compare clocks by pingpong or allreduce [pingpong]\n"
	"      --sync-every S   do so every S seconds, in collectives of all ranks [0: at both ends]\n"
	"      --mpi NAME       take its recorder: openmpi, mpich or abi [the program's]\n"
	"      --clock WHICH    auto (the processor's counter where it is good) or monotonic [auto]\n"
	"      --stuck-after S  say what hangs when nothing has moved for S seconds, see lp-stuck\n"
	"      --stuck-kill     and end the run then, with status 1\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

/* of a segment of a trace that is to be compressed */
#define SEGMENTS ",segment_bytes=4194304"

struct options {
	const char *folder;	/* NULL: standard output */
	char **command;
	int level;		/* of compression; 0: do not compress */
	int own_regions;	/* not those of other tools' interfaces */
	struct hang hang;
	const char *mpi;	/* the MPI whose recorder to use; NULL: the default one */
	char recorder[240];	/* options of the library in the ranks: key=value,... */
	/* What level and recorder are made of: */
	int amount, fold, stack, allreduce, monotonic, sample_hz, sample_stack;
	const char *counters;
	bool paused, switches;
	int64_t threshold_ns, sync_every_ns;
};

/* For the signal handler: the child, and the last signal received. */
static volatile pid_t child;
static volatile sig_atomic_t caught;
/* signals typed at a terminal reach the program without our help */
static volatile sig_atomic_t shared;
static volatile sig_atomic_t asked;	/* by SIGUSR1 */
static volatile int64_t ending_ns;	/* when the first signal arrived that should end the run */

/* The counters named, bit by bit. */
static unsigned
counters_of(const char *list, int sample_hz)
{
	static const char *const names[] = {
#define COUNTER(name, ...) #name,
#include "../base/stream/counters.h"
#undef COUNTER
		"all"
	};
	enum { WORDS = sizeof names / sizeof names[0], ALL = WORDS - 1 };
	unsigned found = 0;

	if (list != NULL && sample_hz == 0)
		die("--counters needs --sample");
	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		size_t size, n = 0;

		at += *at == ',';
		size = strcspn(at, ",");
		while (n < WORDS && (strlen(names[n]) != size || strncmp(names[n], at, size) != 0))
			n++;
		if (n == WORDS)
			die("--counters %s: there are instructions, cycles, task_clock, "
			    "page_faults, migrations, and all", list);
		found |= n == ALL ? (1u << ALL) - 1 : 1u << n;
	}
	return found;
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const amounts[] = { "none", "min", "max", NULL };
	static const int levels[] = { 0, 3, 19 };
	static const char *const polls[] = { "all", "fold", NULL };
	static const char *const syncs[] = { "pingpong", "allreduce", NULL };
	static const char *const clocks[] = { "auto", "monotonic", NULL };
	static const char *const regions[] = { "all", "own", NULL };
	enum { THRESHOLD = 256, STUCK_AFTER, GONE };
	static const struct option_row rows[] = {
		{ "output", 'o', AS_TEXT, OPTION(folder) },
		{ "compress", 'z', AS_CHOICE, OPTION(amount), .choices = amounts },
		{ "polls", 0, AS_CHOICE, OPTION(fold), .choices = polls },
		{ "fold-local", THRESHOLD, ASKED },
		{ "threshold", THRESHOLD, ASKED },	/* its former name */
		{ "stack", 0, AS_WHOLE, OPTION(stack), 1, 64 },
		{ "paused", 0, FLAG, OPTION(paused) },
		{ "sample", 0, AS_WHOLE, OPTION(sample_hz), 1, 10000 },
		{ "sample-stack", 0, AS_WHOLE, OPTION(sample_stack), 128, 32768 },
		{ "counters", 0, AS_TEXT, OPTION(counters) },
		{ "switches", 0, FLAG, OPTION(switches) },
		{ "regions", 0, AS_CHOICE, OPTION(own_regions), .choices = regions },
		{ "sync", 0, AS_CHOICE, OPTION(allreduce), .choices = syncs },
		{ "sync-every", 0, AS_SECONDS, OPTION(sync_every_ns) },
		{ "clock", 0, AS_CHOICE, OPTION(monotonic), .choices = clocks },
		{ "mpi", 0, AS_TEXT, OPTION(mpi) }, { "merge", GONE, ASKED },
		{ "stuck-after", STUCK_AFTER, ASKED },
		{ "stuck-kill", 0, FLAG, OPTION(hang.ends_run) }, OPTIONS_END
	};
	struct options opt = { .hang.after_ns = 10000000000, .stack = 1 };
	int c;

	while ((c = next_option(argc, argv, "+", rows, usage, &opt)) != -1)
		switch (c) {
		case THRESHOLD: opt.threshold_ns = parse_seconds("--fold-local", optarg); break;
		case STUCK_AFTER:
			opt.hang.after_ns = parse_seconds("--stuck-after", optarg);
			opt.hang.watched = true;
			break;
		case GONE: die("--merge was removed: use mpirun -n NODES lp-merge -o %s FOLDER, "
		    "behind the program", optarg);
		}
	if (optind == argc)
		bad_usage(usage);
	if (opt.sample_stack > 0 && opt.sample_hz == 0)
		die("--sample-stack needs --sample");
	if (opt.hang.ends_run && !opt.hang.watched)
		die("--stuck-kill needs --stuck-after");
	opt.command = argv + optind;
	opt.level = levels[opt.amount];
	snprintf(opt.recorder, sizeof opt.recorder,
	    "fold_polls=%d,threshold_ns=%lld,stack=%d,paused=%d,allreduce=%d,sync_every_ns=%lld,"
	    "monotonic=%d,sample_hz=%d,sample_stack=%d,switches=%d,counters=%u,own_regions=%d",
	    opt.fold, (long long)opt.threshold_ns, opt.stack, opt.paused, opt.allreduce,
	    (long long)opt.sync_every_ns, opt.monotonic, opt.sample_hz,
	    (opt.sample_stack + 7) / 8 * 8, opt.switches || opt.sample_hz > 0,
	    counters_of(opt.counters, opt.sample_hz), opt.own_regions);
	return opt;
}

/* The library to preload; the one of a single MPI if MPI names one. */
static void
find_library(const char *mpi, char *path, size_t size)
{
	char name[60];

	snprintf(name, sizeof name, "record%s%.40s", mpi != NULL ? "." : "",
	    mpi != NULL ? mpi : "");
	preload_find(name, path, size);
}

/* Programs load the libraries that these name, and tell them of their regions: front/tools.c. */
static void
name_tool(const char *library)
{
	static const char *const names[] = { "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY",
		"NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		setenv(names[i], library, 0);
}

static void
forward(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (signal == SIGUSR1) {
		asked = 1;
		return;
	}
	if (ending_ns == 0 && signal != SIGUSR2)
		ending_ns = now_ns();
	if (signal != SIGUSR2)
		hang_stop();
	if (shared && info->si_code == SI_KERNEL)	/* typed, not sent by a process */
		return;
	caught = signal;
	if (child > 0)
		kill(child, signal);
	compress_stop();
}

static const int ending[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT };
enum { ENDING = sizeof ending / sizeof ending[0] };

/* Blocks the signals that end a program; returns the former mask. */
static sigset_t
hold_signals(void)
{
	sigset_t held, before;

	sigemptyset(&held);
	for (int i = 0; i < ENDING; i++)
		sigaddset(&held, ending[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	return before;
}

/* From now on, signals are passed on to the child. */
static void
on_signals(bool terminal_is_shared)
{
	struct sigaction action = { .sa_sigaction = forward, .sa_flags = SA_SIGINFO };

	shared = terminal_is_shared;
	for (int i = 0; i < ENDING; i++)
		sigaction(ending[i], &action, NULL);
}

static void
copy_out(const char *path)
{
	static char chunk[1 << 16];
	FILE *file = fopen(path, "r");
	size_t got;

	if (file == NULL) {
		note("%s: %s", path, strerror(errno));
		return;
	}
	while (caught == 0 && !ferror(stdout) && (got = fread(chunk, 1, sizeof chunk, file)) > 0)
		fwrite(chunk, 1, got, stdout);
	fclose(file);
}

static _Noreturn void
run(const struct options *opt, const char *folder, int failed)
{
	int error;

	/* if the recorder is killed, the run ends with it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (opt->folder == NULL)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	setenv("LONGPOLE_DIR", folder, 1);
	setenv("LONGPOLE_OPTIONS", opt->recorder, 1);
	execvp(opt->command[0], opt->command);
	error = errno;
	if (write(failed, &error, sizeof error) < 0)
		_exit(TROUBLE);
	_exit(TROUBLE);
}

static _Noreturn void
die_unstarted(const struct options *opt, const char *folder, int error)
{
	if (opt->folder == NULL)
		rmdir(folder);
	die("%s: %s", opt->command[0], strerror(error));
}

static void
start(const struct options *opt, const char *folder, const sigset_t *mask)
{
	int failed[2], error;
	ssize_t got;

	if (pipe2(failed, O_CLOEXEC) != 0 || (child = fork()) < 0)
		die_unstarted(opt, folder, errno);
	if (child == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		run(opt, folder, failed[1]);
	}
	on_signals(true);
	sigprocmask(SIG_SETMASK, mask, NULL);
	close(failed[1]);
	do
		got = read(failed[0], &error, sizeof error);
	while (got < 0 && errno == EINTR);
	close(failed[0]);
	if (got == (ssize_t)sizeof error) {
		waitpid(child, NULL, 0);
		die_unstarted(opt, folder, error);
	}
}

static void
on_child(int number)
{
	(void)number;
}

/* SIGUSR1 may come at any instant, and does not end the wait. */
static int
wait_for_child(const struct hang *hang)
{
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	sigset_t held, before;
	int status = 0;

	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	sigaddset(&held, SIGUSR1);
	sigprocmask(SIG_BLOCK, &held, &before);
	sigdelset(&before, SIGCHLD);
	sigdelset(&before, SIGUSR1);
	while (waitpid(child, &status, WNOHANG) == 0)
		if (asked) {
			asked = 0;
			hang_answer(hang, child);
		} else
			sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	child = 0;
	return status;
}

/* After a failed run: marks dead ranks and reports a hang. Returns true if a hang ended the run. */
static bool
after_failure(const struct options *opt, const char *folder)
{
	const char *rank = rank_of_launcher();
	const bool all = died_mark(folder, rank, ending_ns != 0 ? ending_ns : now_ns());

	if (hang_ended_run())
		return true;
	if (rank == NULL && all)
		hang_say(&opt->hang);
	return false;
}

/* Ends as the program did. */
static int
end_as(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static int
counted(struct paths paths)
{
	const int count = paths.count;

	paths_free(&paths);
	return count < 0 ? 0 : count;
}

/* Writes all raw traces of the run to standard output; removes the folder in any case. */
static void
hand_over(const char *folder)
{
	const int others = counted(folder_paths(folder, is_world_name));
	struct paths found = folder_traces(folder, NULL);

	on_signals(false);
	signal(SIGPIPE, SIG_IGN);	/* finish() ends by it */
	for (int i = 0; i < found.count; i++)
		copy_out(found.at[i]);
	paths_free(&found);
	folder_remove_traces(folder);
	folder_remove_starting(folder, NULL);
	rmdir(folder);
	if (caught != 0)
		end_as(caught);	/* the wait status of a death by it */
	finish(DONE);
	if (others > 0)
		die("%d further MPI runs were started, or processes spawned: their traces are "
		    "lost; -o FOLDER keeps them", others);
}

/* Leaves the folder as it was, or with the traces of this run only. */
static void
prepare(const struct options *opt, char *folder)
{
	const char *rank = rank_of_launcher();

	folder_make(opt->folder, folder);
	/* No trace has a name before rank 0 has left MPI_Init. */
	if (rank == NULL || strcmp(rank, "0") == 0)
		folder_remove_traces(folder);
	folder_remove_starting(folder, rank);	/* others may have begun */
	folder_refuse_others(folder);
}

static void
say_worlds(const char *folder)
{
	const int others = counted(folder_paths(folder, is_world_name));

	if (others > 0 && rank_of_launcher() == NULL)
		note("%s: %d further MPI runs, started or spawned, are in world.N there: lp-merge "
		    "adds spawned ones, and others that are named", folder, others);
}

int
main(int argc, char **argv)
{
	char library[PATH_MAX], folder[PATH_MAX];
	sigset_t mask;
	struct options opt;
	bool empty, began, hung = false;
	int status;

	tool = "lp-record";
	opt = parse_options(argc, argv);
	if (opt.folder == NULL && rank_of_launcher() != NULL)
		die("under a launcher, -o FOLDER is needed");
	if (opt.folder == NULL)
		refuse_terminal_output();
	find_library(opt.mpi, library, sizeof library);
	mask = hold_signals();	/* until start() can pass them on */
	prepare(&opt, folder);
	preload_add(library, true);
	if (!opt.own_regions)
		name_tool(library);
	if (opt.level > 0 && folder_is_local(folder)) {
		strcat(opt.recorder, SEGMENTS);
		compress_begin(folder, rank_of_launcher(), opt.level);
	}
	start(&opt, folder, &mask);
	if (rank_of_launcher() == NULL || strcmp(rank_of_launcher(), "0") == 0)
		opt.hang.folder = folder;	/* one rank's process asks for all */
	if (opt.hang.watched && opt.hang.folder != NULL)
		hang_watch(&opt.hang, child);
	status = wait_for_child(&opt.hang);
	caught = 0;		/* signals until now were for the program */
	if (status != 0 || ending_ns != 0)
		hung = after_failure(&opt, folder);
	else
		hang_ended_run();
	if (opt.level > 0) {
		on_signals(false);
		if (WIFSIGNALED(status))	/* ranks may outlive a killed launcher */
			compress_stop();
		compress_end(folder, rank_of_launcher(), opt.level);
	}
	empty = counted(folder_traces(folder, NULL)) == 0;
	began = counted(folder_starting(folder, NULL)) > 0;
	if (opt.folder == NULL)
		hand_over(folder);
	else if (caught != 0)
		return end_as(caught);
	/* in that case the launcher reports the reason */
	if (empty && !(WIFSIGNALED(status) && rank_of_launcher() != NULL)) {
		say_why(opt.command, began);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return TROUBLE;
	}
	if (opt.folder != NULL)
		say_worlds(opt.folder);
	return hung ? ANSWER_IS_NO : end_as(status);
}
