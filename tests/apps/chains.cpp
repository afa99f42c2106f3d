/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chains KIND: 10 rounds, in each of which rank 0 computes 60 ms of CPU time in long_work(), and
 * the other rank 10 ms, besides short_work(). After each round a rank prints: the round, when it
 * ended, long_work() of the thread that ended last, the rank, 0, and long_work() of the other
 * thread if the last one had none. KIND:
 *
 *	taskloop	a taskloop of two OpenMP threads: the long task, and seven of 1 ms
 *	pool		two threads of std::async take six jobs, the long one third; they and the
 *			first thread wait at condition variables
 *	service		the same in another thread, for which the first one waits (likewise)
 *	calls		the first thread computes; another one waits for the result and makes the
 *			calls (MPI_THREAD_MULTIPLE)
 */
#include <mpi.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

extern "C" {
#include "sampled_work.h"
}

static const int ROUNDS = 10;
static int rank;
static double late_s;
static std::mutex lock;
static volatile double last_s, long_s;
static thread_local double own_s;
static thread_local int own_round;
static int round_now;

/* A task of the round; the one that ends last is the last to say what its thread did. */
static void
task(bool is_long)
{
	const double s = is_long ? long_work(late_s) : 0 * short_work(0.001);
	const std::lock_guard<std::mutex> held(lock);

	own_s = s + (own_round == round_now ? own_s : 0);
	own_round = round_now;
	last_s = own_s;
	long_s = long_s + s;
}

static void
say()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	std::printf("%d %.6f %.6f %d 0 %.6f\n", round_now,
	    (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, last_s, rank, last_s > 0 ? 0 : long_s);
	round_now++;
	long_s = 0;
}

static void
taskloop()
{
	while (round_now < ROUNDS) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1)
		for (int i = 0; i < 8; i++)
			task(i == 0);
		say();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static std::mutex queue;
static std::condition_variable more, less;
static std::deque<bool> jobs;
static int left;
static bool over;

static int
take_jobs()
{
	std::unique_lock<std::mutex> held(queue);

	for (int done = 0; ; done++) {
		more.wait(held, [] { return over || !jobs.empty(); });
		if (jobs.empty())
			return done;
		const bool is_long = jobs.front();
		jobs.pop_front();
		held.unlock();
		task(is_long);
		held.lock();
		if (--left == 0)
			less.notify_one();
	}
}

static void
pool()
{
	std::future<int> one = std::async(std::launch::async, take_jobs),
	    two = std::async(std::launch::async, take_jobs);
	std::unique_lock<std::mutex> held(queue);

	while (round_now < ROUNDS) {
		left = 6;
		for (int i = 0; i < left; i++)
			jobs.push_back(i == 2);
		more.notify_all();
		less.wait(held, [] { return left == 0; });
		say();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	over = true;
	held.unlock();
	more.notify_all();
	if (one.get() + two.get() != 6 * ROUNDS)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
service()
{
	std::thread(pool).join();
}

static void
calls()
{
	int ready = 0, sent = 0;
	std::thread caller([&] {
		for (int round = 0; round < ROUNDS; round++) {
			double theirs;
			std::unique_lock<std::mutex> held(queue);
			more.wait(held, [&] { return ready > round; });
			held.unlock();
			MPI_Sendrecv(&late_s, 1, MPI_DOUBLE, 1 - rank, 0, &theirs, 1, MPI_DOUBLE, 1 - rank,
			    0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			held.lock();
			sent++;
			less.notify_one();
		}
	});

	while (round_now < ROUNDS) {
		task(true);
		std::unique_lock<std::mutex> held(queue);
		ready++;
		more.notify_one();
		say();
		less.wait(held, [&] { return sent == ready; });
	}
	caller.join();
	if (rank == 1)	/* the path ends there */
		short_work(0.02);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
		int level;
	} kinds[] = { { "taskloop", taskloop, MPI_THREAD_FUNNELED }, { "pool", pool, MPI_THREAD_FUNNELED },
	    { "service", service, MPI_THREAD_MULTIPLE }, { "calls", calls, MPI_THREAD_MULTIPLE } };
	int provided;

	for (const auto &kind : kinds)
		if (argc > 1 && std::strcmp(argv[1], kind.name) == 0) {
			MPI_Init_thread(&argc, &argv, kind.level, &provided);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			late_s = rank == 0 ? 0.06 : 0.01;
			kind.run();
			MPI_Finalize();
		}
	return 0;
}
