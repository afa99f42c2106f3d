/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 polls: in vain, so seldom that it finds messages late, or beside work, the true cause. */
#include "planted.h"

static double data[64];

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps of equal work; rank 1 then polls in vain before the others can go on. */
static void
steps(void (*poll)(void))
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		if (rank == SLOW && !without)
			poll();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Nobody sends with tag 9. */
static int
look(void)
{
	int found;

	MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	return found;
}

static void
listen(void)
{
	for (const double end = now_s() + SLOW_S; now_s() < end && !look();)
		;
}
static void vain_probe(void) { steps(listen); }

static void
listen_asleep(void)
{
	for (const double end = now_s() + SLOW_S; now_s() < end && !look();)
		usleep(200);
}
static void vain_sleep(void) { steps(listen_asleep); }

/* For a request to stop, which comes only after the last step. */
static MPI_Request stop;
enum { AT_ONCE = 256 };			/* tests between two looks at the clock */

static void
ask(void)
{
	int done = 0;

	for (const double end = now_s() + SLOW_S; now_s() < end && !done;)
		for (int i = 0; i < AT_ONCE && !done; i++)
			MPI_Test(&stop, &done, MPI_STATUS_IGNORE);
}

static void
vain_test(void)
{
	if (rank == SLOW)
		MPI_Irecv(data, 64, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &stop);
	steps(ask);
	if (rank == 0)
		MPI_Send(data, 64, MPI_DOUBLE, SLOW, 9, MPI_COMM_WORLD);
	if (rank == SLOW)
		MPI_Wait(&stop, MPI_STATUS_IGNORE);
}

/* A few cheap numbers lie between two tests, and the tests take most of the time. */
static void
update(void)
{
	static double table[AT_ONCE];
	int done = 0;

	for (const double end = now_s() + SLOW_S; now_s() < end;)
		for (int i = 0; i < AT_ONCE; i++) {
			table[i] += 1e-9;
			MPI_Test(&stop, &done, MPI_STATUS_IGNORE);
		}
}

static void
test_each(void)
{
	stop = MPI_REQUEST_NULL;
	if (rank == SLOW)
		MPI_Irecv(data, 64, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &stop);
	steps(update);
	if (rank == 0)
		MPI_Send(data, 64, MPI_DOUBLE, SLOW, 9, MPI_COMM_WORLD);
	if (rank == SLOW)
		MPI_Wait(&stop, MPI_STATUS_IGNORE);
}

/*
 * Rank 0 waits for an answer; rank 1 looks for the question only every 15 ms, for the first time
 * before it is there.
 */
static void
answer(int (*found)(void))
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		if (rank == 0) {
			usual_part();
			for (int to = 1; to < ranks; to++)
				MPI_Send(data, 64, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
			for (int from = 1; from < ranks; from++)
				MPI_Recv(data, 64, MPI_DOUBLE, from, 8, MPI_COMM_WORLD,
				    MPI_STATUS_IGNORE);
			continue;
		}
		while (!found())
			usleep(rank == SLOW ? 15000 : 100);
		MPI_Recv(data, 64, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(data, 64, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
	}
}

static int
question(void)
{
	int found;

	MPI_Iprobe(0, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	return found;
}
static void late_probe(void) { answer(question); }

static MPI_Request asked = MPI_REQUEST_NULL;

/* As with a probe, the message is received afterwards. */
static int
arrived(void)
{
	static double copy[64];
	int done;

	if (asked == MPI_REQUEST_NULL)
		MPI_Irecv(copy, 64, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &asked);
	MPI_Test(&asked, &done, MPI_STATUS_IGNORE);
	return done;
}

static void
late_test(void)
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		if (rank == 0) {
			usual_part();
			MPI_Send(data, 64, MPI_DOUBLE, SLOW, 6, MPI_COMM_WORLD);
			MPI_Recv(data, 64, MPI_DOUBLE, SLOW, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == SLOW) {
			while (!arrived())
				usleep(15000);
			MPI_Send(data, 64, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
		}
	}
}

/* Rank 1 polls now and then while it works: the work is the cause. */
static void
work_and_look(void)
{
	for (int i = 0; i < 10; i++) {
		compute(SLOW_S / 10);
		look();
	}
}
static void looks_up(void) { steps(work_and_look); }

/* The file is the cause, not the poll after it. */
static __attribute__((noinline)) void
read_slowly(void)
{
	sleep_s(SLOW_S);
}

static void
sleep_and_look(void)
{
	read_slowly();
	look();
}
static void look_once(void) { steps(sleep_and_look); }

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(vain_probe), CASE(vain_sleep),
	    CASE(vain_test), CASE(test_each), CASE(late_probe), CASE(late_test),
	    CASE(looks_up), CASE(look_once) };

	return RUN(cases, argc, argv);
}
