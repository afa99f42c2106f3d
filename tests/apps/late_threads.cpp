/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_threads KIND: 10 times rank 0 has one part of 60 ms of CPU time in long_work(), and up to
 * three parts of 10 ms, as all of another rank's parts are; threads do them side by side. Then each
 * rank's first thread computes 10 ms in short_work(). KIND:
 *
 *	nested	two OpenMP threads have a team of two each: the last thread of the last one is late
 *	tasks	OpenMP tasks
 *	join	std::thread, of which the late one is joined first
 *	future	std::async, whose results are taken, the late one's last
 *	barrier	std::thread; the first thread has a part, too, and waits at a std::barrier
 *	loop	tbb::parallel_for; the first thread has a part, too
 *	group	tbb::task_group, the same
 */
#include <mpi.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <future>
#include <thread>

#ifdef TBB
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

extern "C" {
#include "last_part.h"
}

static double late_s;

static void
nested()
{
#pragma omp parallel num_threads(2)
	{
		const int outer = omp_get_thread_num();

#pragma omp parallel num_threads(2)
		part(outer == 1 && omp_get_thread_num() == 1 ? late_s : 0.01);
	}
}

/* Each thread gets one: it begins when the other has begun, too. */
static void
tasks()
{
	std::atomic<int> begun(0);

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 2; i++)
#pragma omp task shared(begun)
	{
		for (begun++; begun < 2; )
			sched_yield();
		part(i == 0 ? late_s : 0.01);
	}
}

static void
join()
{
	std::thread late(part, late_s), other(part, 0.01);

	late.join();
	other.join();
}

static void
future()
{
	std::future<int> other = std::async(std::launch::async, part, 0.01);
	std::future<int> late = std::async(std::launch::async, part, late_s);

	if (other.get() + late.get() != 2)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
meet()
{
	std::barrier<> together(2);
	std::thread late([&] {
		part(late_s);
		together.arrive_and_wait();
	});

	part(0.01);
	together.arrive_and_wait();
	late.join();
}

#ifdef TBB
/* The threads have one each: TBB's thread takes what the first thread was to do last. */
static void
one_of_two(std::atomic<int> &begun, bool late)
{
	for (begun++; begun < 2; )
		sched_yield();
	part(late ? late_s : 0.01);
}

static void
loop()
{
	std::atomic<int> begun(0);

	tbb::parallel_for(0, 2, [&](int i) { one_of_two(begun, i == 1); }, tbb::simple_partitioner());
}

static void
group()
{
	std::atomic<int> begun(0);
	tbb::task_group group;

	group.run([&] { one_of_two(begun, true); });
	group.run([&] { one_of_two(begun, false); });
	group.wait();
}
#endif

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} kinds[] = { { "nested", nested }, { "tasks", tasks }, { "join", join },
	    { "future", future }, { "barrier", meet },
#ifdef TBB
	    { "loop", loop }, { "group", group },
#endif
	};
#ifdef TBB	/* two threads, also on one core */
	tbb::global_control most(tbb::global_control::max_allowed_parallelism, 2);
	tbb::task_arena two(2);
#define RUN(what) two.execute(what)
#else
#define RUN(what) what()
#endif
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	omp_set_max_active_levels(2);
	late_s = rank == 0 ? 0.06 : 0.01;
#ifdef TBB	/* it first reads which cores the control groups of the system leave to it */
	two.execute([] { tbb::parallel_for(0, 2, [](int) {}); });
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	for (int i = 0; i < 10; i++) {
		for (const auto &kind : kinds)
			if (argc > 1 && std::strcmp(argv[1], kind.name) == 0)
				RUN(kind.run);
		part_alone(0.01);
		say_last_part(rank, false);
	}
	return MPI_Finalize();
}
