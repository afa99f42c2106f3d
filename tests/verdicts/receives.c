/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 computes long and then sends; rank 0 receives, in every way of MPI. With more ranks, all
 * others receive.
 */
#include "planted.h"

static double data[64];

static void
put(void)
{
	slow_part();
	for (int to = 0; to < ranks; to++)
		if (to != rank)
			MPI_Send(data, 64, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
}

/* What each receiving rank does in a step. */
static void
exchange(void (*get)(void))
{
	for (int step = 0; step < STEPS; step++) {
		if (rank == SLOW) {
			put();
		} else {
			usual_part();
			get();
		}
	}
}

static MPI_Request
begin(int from)
{
	MPI_Request request;

	MPI_Irecv(data, 64, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &request);
	return request;
}

static void get_recv(void)
{
	MPI_Recv(data, 64, MPI_DOUBLE, SLOW, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void recv(void) { exchange(get_recv); }

static void get_any(void)
{
	MPI_Recv(data, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
	    MPI_STATUS_IGNORE);
}
static void any_source(void) { exchange(get_any); }

static void
get_wait(void)
{
	MPI_Request request = begin(SLOW);

	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void irecv_wait(void) { exchange(get_wait); }

static void
get_waitall(void)
{
	MPI_Request request[2] = { begin(SLOW), MPI_REQUEST_NULL };

	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}
static void waitall(void) { exchange(get_waitall); }

static void
get_waitany(void)
{
	MPI_Request request[2] = { MPI_REQUEST_NULL, begin(MPI_ANY_SOURCE) };
	int index;

	MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
}
static void waitany(void) { exchange(get_waitany); }

static void
get_waitsome(void)
{
	MPI_Request request[2] = { begin(SLOW), MPI_REQUEST_NULL };
	int done, index[2];

	MPI_Waitsome(2, request, &done, index, MPI_STATUSES_IGNORE);
}
static void waitsome(void) { exchange(get_waitsome); }

static void
get_test(void)
{
	MPI_Request request = begin(SLOW);

	for (int done = 0; !done;)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
static void test_loop(void) { exchange(get_test); }

static void
get_test_sleep(void)
{
	MPI_Request request = begin(SLOW);

	for (int done = 0; !done;) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (!done)
			usleep(100);
	}
}
static void test_sleep(void) { exchange(get_test_sleep); }

static void
get_testall(void)
{
	MPI_Request request[2] = { begin(SLOW), MPI_REQUEST_NULL };

	for (int done = 0; !done;)
		MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
}
static void testall_loop(void) { exchange(get_testall); }

static void
get_testany(void)
{
	MPI_Request request[2] = { begin(SLOW), MPI_REQUEST_NULL };
	int index;

	for (int done = 0; !done;)
		MPI_Testany(2, request, &index, &done, MPI_STATUS_IGNORE);
}
static void testany_loop(void) { exchange(get_testany); }

static void
get_testsome(void)
{
	MPI_Request request[2] = { begin(SLOW), MPI_REQUEST_NULL };
	int index[2];

	for (int done = 0; done == 0;)
		MPI_Testsome(2, request, &done, index, MPI_STATUSES_IGNORE);
}
static void testsome_loop(void) { exchange(get_testsome); }

static void
get_status(void)
{
	MPI_Request request = begin(SLOW);

	for (int done = 0; !done;)
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void get_status_loop(void) { exchange(get_status); }

static void
get_status_and_sleep(void)
{
	MPI_Request request = begin(SLOW);

	for (int done = 0; !done;) {
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
		if (!done)
			usleep(100);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void get_status_sleep(void) { exchange(get_status_and_sleep); }

static void
get_probe(void)
{
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	get_recv();
}
static void probe(void) { exchange(get_probe); }

static void
get_iprobe(void)
{
	for (int found = 0; !found;)
		MPI_Iprobe(SLOW, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	get_recv();
}
static void iprobe_loop(void) { exchange(get_iprobe); }

static void
get_iprobe_sleep(void)
{
	for (int found = 0; !found;) {
		MPI_Iprobe(SLOW, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		if (!found)
			usleep(100);
	}
	get_recv();
}
static void iprobe_sleep(void) { exchange(get_iprobe_sleep); }

static void
get_mprobe(void)
{
	MPI_Message message;

	MPI_Mprobe(SLOW, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(data, 64, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
}
static void mprobe(void) { exchange(get_mprobe); }

static void
get_improbe(void)
{
	MPI_Message message;

	for (int found = 0; !found;)
		MPI_Improbe(SLOW, 7, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(data, 64, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
}
static void improbe_loop(void) { exchange(get_improbe); }

static void
get_improbe_sleep(void)
{
	MPI_Message message;

	for (int found = 0; !found;) {
		MPI_Improbe(SLOW, 7, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
		if (!found)
			usleep(100);
	}
	MPI_Mrecv(data, 64, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
}
static void improbe_sleep(void) { exchange(get_improbe_sleep); }

static void
persistent(void)
{
	MPI_Request request;

	if (rank == SLOW)
		MPI_Send_init(data, 64, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request);
	else
		MPI_Recv_init(data, 64, MPI_DOUBLE, SLOW, 7, MPI_COMM_WORLD, &request);
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}

#if MPI_VERSION >= 4
static void
exchange_partitions(int asks)
{
	MPI_Request request;

	if (rank == SLOW)
		MPI_Psend_init(data, 2, 32, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD,
		    MPI_INFO_NULL, &request);
	else
		MPI_Precv_init(data, 2, 32, MPI_DOUBLE, SLOW, 7, MPI_COMM_WORLD,
		    MPI_INFO_NULL, &request);
	for (int step = 0; step < STEPS; step++) {
		MPI_Start(&request);
		if (rank == SLOW) {
			slow_part();
			MPI_Pready(0, request);
			MPI_Pready(1, request);
		} else {
			usual_part();
			for (int part = 0; part < 2 * asks; part++)
				for (int arrived = 0; !arrived;)
					MPI_Parrived(request, part, &arrived);
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}
static void partitioned(void) { exchange_partitions(0); }
static void parrived_loop(void) { exchange_partitions(1); }
#endif

static void
sendrecv(void)
{
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Sendrecv_replace(data, 64, MPI_DOUBLE, (rank + 1) % ranks, 7,
		    (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Here the receiver is late, and the sender waits for it. */
static void
ssend(void)
{
	for (int step = 0; step < STEPS; step++) {
		if (rank == SLOW) {
			slow_part();
			MPI_Recv(data, 64, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			usual_part();
			MPI_Ssend(data, 64, MPI_DOUBLE, SLOW, 7, MPI_COMM_WORLD);
		}
	}
}

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(recv), CASE(any_source), CASE(irecv_wait),
	    CASE(waitall), CASE(waitany),
		CASE(waitsome), CASE(test_loop), CASE(test_sleep), CASE(testall_loop),
		    CASE(testany_loop), CASE(testsome_loop),
		CASE(get_status_loop), CASE(get_status_sleep), CASE(probe), CASE(iprobe_loop),
		    CASE(iprobe_sleep), CASE(mprobe), CASE(improbe_loop),
		CASE(improbe_sleep), CASE(persistent),
#if MPI_VERSION >= 4
		CASE(partitioned), CASE(parrived_loop),
#endif
		CASE(sendrecv), CASE(ssend) };

	return RUN(cases, argc, argv);
}
