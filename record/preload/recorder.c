/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of recording, and the entry and exit of every recorded call. */
#include "../../base/mpi/launchers.h"
#include "../../base/tool/hash_table.h"
#include "file.h"
#include "open_call.h"
#include "small.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

_Atomic bool recording, lost, paused, silent;
bool many_threads;
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static int own_rank, own_ranks;
static unsigned long long own_run;
static bool by_session;		/* recording began with a session before MPI_Init */
static pid_t recorded_pid;	/* a forked child must not write */

void
say(const char *what)
{
	char line[sizeof "lp-record: \n" + 600];
	int size = snprintf(line, sizeof line, "lp-record: %.600s\n", what);

	if (size > 0 && write(STDERR_FILENO, line, (size_t)size) < 0)
		return;
}

bool
in_recorded_process(void)
{
	return recording && recorded_pid == getpid();
}

void
give_up(const char *what, const char *why)
{
	char line[600];

	snprintf(line, sizeof line, "%.400s: %.120s; recording of this rank ends", what, why);
	/* otherwise this rank keeps comparing clocks */
	if (options.sync_every_ns == 0)
		recording = false;
	if (!atomic_exchange(&lost, true))
		say(line);
	silent = true;
}

/* Another thread or a signal may end recording at any time. */
void
set_paused(bool pause)
{
	paused = pause;
	silent = pause || lost;
	if (lost)
		silent = true;
}

void
out_of_memory(void)
{
	give_up("out of memory", "no room for a table");
}

static void
in_forked_child(void)
{
	recording = false;
	sample_forget();
}

/* A number that no other run has, agreed on by all ranks. */
static unsigned long long
run_number(int rank)
{
	unsigned long long run[1] = { 0 };

	if (rank == 0) {
		if (getrandom(run, sizeof run, 0) != (ssize_t)sizeof run)
			run[0] = (unsigned long long)clock_ns() ^
			    (unsigned long long)getpid() << 40;
		run[0] >>= 1;
	}
	PMPI_Bcast(run, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
	return run[0];
}

struct process {
	char host[256], program[4096];
};

static struct process
own_process(void)
{
	struct process own = { "", "" };

	gethostname(own.host, sizeof own.host - 1);
	if (readlink("/proc/self/exe", own.program, sizeof own.program - 1) < 0)
		own.program[0] = '\0';
	return own;
}

/*
 * If the launcher tells the rank, its trace begins before MPI_Init: if that never returns, the
 * unnamed file shows who is in it.
 */
static void
begin_early(const char *folder, const struct instant *init, uint16_t call)
{
	const struct launcher *launcher = launcher_that_tells(true);
	const char *ranks = launcher != NULL ? getenv(launcher->ranks) : NULL;
	const struct process own = own_process();

	if (ranks == NULL)
		return;
	recording = true;	/* needed to write */
	if (file_begin(folder, atoi(getenv(launcher->rank)))) {
		name_call(call);
		small_append("starts", PAIRS(
		    pair_uint("rank", strtoul(getenv(launcher->rank), NULL, 10)),
		    pair_uint("ranks", strtoul(ranks, NULL, 10)),
		    pair_text("host", own.host),
		    pair_uint("pid", (uint64_t)getpid()),
		    pair_text("program", own.program),
		    pair_uint("call", call),
		    pair_int("enter", init->monotonic_ns)));
	}
	recording = false;
}

static void
append_rank(int rank, int ranks, unsigned long long run, bool spawned, bool threads)
{
	const struct process own = own_process();
	struct timespec now;

	own_rank = rank;
	own_ranks = ranks;
	own_run = run;
	clock_gettime(CLOCK_REALTIME, &now);
	small_append("rank", PAIRS(
	    pair_uint("rank", (uint64_t)rank),
	    pair_uint("ranks", (uint64_t)ranks),
	    pair_uint("run", run),
	    pair_text("host", own.host),
	    pair_uint("pid", (uint64_t)getpid()),
	    pair_text("program", own.program),
	    pair_uint("date_s", (uint64_t)now.tv_sec),
	    pair_true("spawned", spawned),
	    pair_true("threads", threads),
	    pair_true("samples", options.sample_hz > 0 || options.switches)));
	if (rank == 0)
		environment_append();
}

void
rank_write(unsigned segment)
{
	small_write("rank", PAIRS(
	    pair_uint("rank", (uint64_t)own_rank),
	    pair_uint("ranks", (uint64_t)own_ranks),
	    pair_uint("run", own_run),
	    pair_uint("segment", segment)));
}

/*
 * Spawned processes have their own MPI_COMM_WORLD with a rank 0, and get a folder of their own. So
 * does each run after the first that one lp-record or one program starts. The first run is the one
 * whose rank 0 gets the name of the file: lp-record has removed earlier traces.
 */
static const char *
folder_of_world(const char *folder, int rank, bool spawned)
{
	static char path[4096];
	int world = 0;

	if (rank == 0 && (spawned || !file_is_first()))
		world = (int)getpid();
	PMPI_Bcast(&world, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (world == 0)
		return folder;
	snprintf(path, sizeof path, "%s/world.%d", folder, world);
	mkdir(path, 0777);	/* if this fails, opening the file fails, with a message */
	return path;
}

/* Every rank takes part in the collectives here, even if it cannot write its file. */
static void
begin(const char *folder, const struct instant *init)
{
	int rank, ranks, provided;
	MPI_Comm parent;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	PMPI_Query_thread(&provided);
	PMPI_Comm_get_parent(&parent);
	many_threads = provided == MPI_THREAD_MULTIPLE;
	recorded_pid = getpid();
	pthread_atfork(NULL, NULL, in_forked_child);
	clock_start(init);
	recording = true;
	if ((self == NULL && new_thread() == NULL) || !file_begin(folder, rank))
		recording = options.sync_every_ns > 0;
	append_rank(rank, ranks, run_number(rank), parent != MPI_COMM_NULL,
	    provided == MPI_THREAD_SERIALIZED || many_threads);
	file_name(folder_of_world(folder, rank, parent != MPI_COMM_NULL), rank);
	modules_append();
	cores_append();
	requests_start();
	types_start();
	communicators_add_world();
	requests_find_static();
	note_parent(parent);
	clock_sync();
	set_paused(options.paused);
	sample_start(rank);
}

/* The row of the call that began recording, or made a session, of this thread. */
static void
first_row(const struct instant *before, uint16_t call, const void *from, uint32_t comm)
{
	struct at at = { .thread = self, .call = call, .from = from };
	struct entry entry;

	entered(&at, clock_ticks_at(before));
	at.leave_ticks = clock_ticks();
	entry = entry_of(&at);
	entry.comm = comm;
	rows_commit(at.thread, &entry, 1);
	regions_start(entry.enter_ns);
}

/*
 * MPICH's Fortran routines call the C functions, which are wrapped, too: the outer call is
 * recorded. Threads may begin sessions concurrently.
 */
static bool within;
static __thread bool in_session;

bool
init_enter(struct instant *before, uint16_t call)
{
	const char *folder = getenv("LONGPOLE_DIR");
	const bool of_session = call == NUMBER_Session_init;
	bool *inner = of_session ? &in_session : &within;

	if (*inner)
		return false;
	*before = clock_instant();
	if (folder != NULL && !(of_session && (recording || by_session))) {
		check_mpi();
		read_options();
		file_room();
		if (!of_session && !recording)
			begin_early(folder, before, call);
	}
	return *inner = true;
}

void
init_leave(const struct instant *before, int result, uint16_t call, const void *from)
{
	const char *folder = getenv("LONGPOLE_DIR");
	MPI_Comm parent;

	within = false;
	if (result != MPI_SUCCESS || folder == NULL || (recording && !by_session))
		return;
	if (recording) {
		communicators_add_world();
		requests_find_static();
	} else
		begin(folder, before);
	python_start(from);
	/* Spawned processes are in MPI_Init while their parents are in MPI_Comm_spawn. */
	PMPI_Comm_get_parent(&parent);
	if (recording)
		first_row(before, call, from, communicator_of(parent)->number);
}

bool
finalize_enter(struct finalizing *f, const void *from, const void *frame)
{
	struct at *at = &f->at;

	if (within || recorded_pid != getpid())
		return false;
	within = true;		/* of inner calls to PMPI_Finalize */
	*at = (struct at){ .call = NUMBER_Finalize, .from = from };
	entered(at, clock_ticks());
	if (!by_session)
		clock_sync();	/* even if this rank's file failed: all ranks call it */
	set_paused(false);	/* the end is recorded even when paused */
	if (!recording || (at->thread = self != NULL ? self : new_thread()) == NULL)
		return false;
	if (at->thread->within == sample_mark)
		sample_enter(at->thread);
	at->thread->within = frame;
	/*
	 * The row is written before the call returns: a launcher kills all ranks as soon as the
	 * first one ends with a status other than 0, and most of them are still in here then.
	 */
	at->leave_ticks = clock_ticks();
	f->entry = entry_of(at);
	sample_end();
	poll_gaps_append();
	if (!by_session)
		cores_append();
	if (have_met)
		clock_say();
	open_store(at, CLASS_FINALIZE, &(struct opening)NO_OPENING);
	rows_commit(at->thread, &f->entry, 1);
	return true;
}

void
finalize_leave(struct finalizing *f)
{
	struct thread *thread = f->at.thread;

	/* later than the row: leave_call */
	thread->block.open->enter_ns = f->entry.leave_ns + 1;
	leave_call(&f->at);
	f->entry.leave_ns = ticks_ns(f->at.leave_ticks);
	rows_replace(thread, &f->entry);
	thread->block.open->enter_ns = f->entry.enter_ns;
	thread->within = NULL;
	if (by_session)
		within = false;		/* sessions may continue; at_end() closes the file */
	else if (recording && !lost) {
		recording = false;
		if (own_rank == 0)
			say_unrecorded();
		file_close();
	}
}

/* ---- sessions: MPI without MPI_Init, perhaps several times ---- */

#ifdef HAVE_MPI_4
enum { SESSIONS = 64 };
static MPI_Session sessions[SESSIONS];
static int session_count;

MPI_Group
session_world(void)
{
	MPI_Group group;

	if (session_count == 0 ||
	    PMPI_Group_from_session_pset(sessions[0], "mpi://WORLD", &group) != MPI_SUCCESS)
		return MPI_GROUP_NULL;
	return group;
}

/* The same number on all ranks of a run without communication: they may never meet. */
static unsigned long long
run_of_job(const char *folder)
{
	static const char *const names[] = { "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID",
	    "SLURM_STEP_ID" };
	uint64_t hash = hash_of_text(folder);

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		hash = mix(hash, hash_of_text(getenv(names[i])));
	return hash >> 1;
}

/*
 * Nothing here is collective, as nobody knows who else has a session. Calls are timed with
 * CLOCK_MONOTONIC, which the ranks of a node share, and clocks are not compared.
 */
static void
begin_session(const char *folder)
{
	MPI_Group world = session_world();
	int rank = 0, ranks = 1;

	if (world != MPI_GROUP_NULL) {
		PMPI_Group_rank(world, &rank);
		PMPI_Group_size(world, &ranks);
		PMPI_Group_free(&world);
	}
	by_session = many_threads = true;
	recorded_pid = getpid();
	pthread_atfork(NULL, NULL, in_forked_child);
	recording = true;
	if ((self == NULL && new_thread() == NULL) || !file_begin(folder, rank)) {
		recording = false;
		return;
	}
	append_rank(rank, ranks, run_of_job(folder), false, true);
	file_name(folder, rank);
	modules_append();
	requests_start();
	types_start();
	set_paused(options.paused);
}

void
session_leave(const struct instant *before, int result, MPI_Session session, const void *from)
{
	const char *folder = getenv("LONGPOLE_DIR");

	in_session = false;
	if (result != MPI_SUCCESS || folder == NULL || session_count == SESSIONS)
		return;
	sessions[session_count++] = session;
	if (!recording && !by_session)
		begin_session(folder);
	if (recording && (self != NULL || new_thread() != NULL) &&
	    (self->within == NULL || self->within == sample_mark))
		first_row(before, NUMBER_Session_init, from, 0);
}

void
session_ended(struct at *at, int result, MPI_Session session)
{
	if (at != NULL) {
		struct entry entry;

		leave_call(at);
		entry = entry_of(at);
		rows_commit(at->thread, &entry, 1);
		end_call(at);
	}
	for (int i = 0; i < session_count; i++)
		if (result == MPI_SUCCESS && sessions[i] == session) {
			sessions[i] = sessions[--session_count];
			break;
		}
}
#endif

void
say_at_abort(void)
{
	if (own_rank == 0 && in_recorded_process())
		say_unrecorded();
}

/*
 * Runs last in a process. With sessions nothing else marks the end. A program that ends without
 * MPI_Finalize leaves its trace without an end.
 */
__attribute__((destructor)) static void
at_end(void)
{
	if (!recording || lost || recorded_pid != getpid())
		return;
	if (own_rank == 0)
		say_unrecorded();
	if (!by_session)
		return;
	recording = false;
	file_close();
}
