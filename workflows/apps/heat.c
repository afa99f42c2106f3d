/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heat - the heat equation on the unit square, with execution patterns to look at
 *
 * The grid of n x n inner points with zero boundary is divided over a 2D grid of ranks; a step is
 * the explicit five-point stencil with dt = h^2 / 5. The start is the lowest sine mode, which the
 * scheme only scales, by the same factor each step; so the result can be checked exactly.
 *
 * Phases (-p), each with a number of steps:
 * 	balanced    exchange of halos, stencil
 * 	imbalanced  the same, and rank -r does -i times the work
 * 	serial      ranks compute one after the other: each waits for a message of the previous one
 * 	messages    the same as balanced, and large messages between all ranks
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: heat [-n POINTS] [-i FACTOR] [-r RANK] [-p PHASE:STEPS,...] [-t]\n"
	"Solve the heat equation on POINTS x POINTS inner points [400]; phases: balanced,\n"
	"imbalanced (RANK [2] does FACTOR [3] times the work), serial, messages\n"
	"[balanced:60,imbalanced:60,serial:20,messages:30]; -t prints the time of each phase.\n";

enum phase { BALANCED, IMBALANCED, SERIAL, MESSAGES, PHASES };
static const char *const phase_names[PHASES] = { "balanced", "imbalanced", "serial", "messages" };

struct options {
	int points;		/* inner points in each direction */
	double factor;		/* work of the slow rank in the imbalanced phase */
	int slow_rank;
	char *phases;
	int times;
};

struct heat {
	struct options opt;
	MPI_Comm comm;		/* the ranks as a 2D grid */
	int rank, ranks;
	int rows, columns;	/* own inner points */
	int first_row, first_column;
	int up, down, left, right;
	double *now, *next;	/* (rows + 2) x (columns + 2), halo included */
	MPI_Datatype column;	/* one column of own points */
	int steps;		/* done so far */
	double *send, *receive;	/* for the messages phase */
};

enum { MESSAGE_DOUBLES = 16384 };	/* to each rank in a step of the messages phase */

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "heat: %s\n%s", what, usage);
	MPI_Abort(MPI_COMM_WORLD, 2);
	exit(2);
}

static struct options
parse_options(int argc, char **argv)
{
	static char phases[] = "balanced:60,imbalanced:60,serial:20,messages:30";
	struct options opt = { 400, 3, 2, phases, 0 };
	int c;

	while ((c = getopt(argc, argv, "n:i:r:p:t")) != -1)
		switch (c) {
		case 'n': opt.points = atoi(optarg); break;
		case 'i': opt.factor = atof(optarg); break;
		case 'r': opt.slow_rank = atoi(optarg); break;
		case 'p': opt.phases = optarg; break;
		case 't': opt.times = 1; break;
		default: fail("unknown option");
		}
	if (opt.points < 1 || opt.factor < 0)
		fail("bad value");
	return opt;
}

static double *
at(double *grid, const struct heat *h, int row, int column)
{
	return &grid[(size_t)row * ((size_t)h->columns + 2) + (size_t)column];
}

/* Inner points FIRST to before FIRST + COUNT belong to place PLACE of PLACES. */
static void
share(int points, int places, int place, int *first, int *count)
{
	*first = (int)((long)points * place / places);
	*count = (int)((long)points * (place + 1) / places) - *first;
}

static void
set_up(struct heat *h)
{
	int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, place[2];
	const double pi = acos(-1), step = 1.0 / (h->opt.points + 1);
	size_t size;

	MPI_Comm_size(MPI_COMM_WORLD, &h->ranks);
	MPI_Dims_create(h->ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &h->comm);
	MPI_Comm_rank(h->comm, &h->rank);
	MPI_Cart_coords(h->comm, h->rank, 2, place);
	MPI_Cart_shift(h->comm, 0, 1, &h->up, &h->down);
	MPI_Cart_shift(h->comm, 1, 1, &h->left, &h->right);
	share(h->opt.points, dims[0], place[0], &h->first_row, &h->rows);
	share(h->opt.points, dims[1], place[1], &h->first_column, &h->columns);
	size = ((size_t)h->rows + 2) * ((size_t)h->columns + 2);
	h->now = calloc(size, sizeof *h->now);
	h->next = calloc(size, sizeof *h->next);
	h->send = calloc((size_t)h->ranks * MESSAGE_DOUBLES, sizeof *h->send);
	h->receive = calloc((size_t)h->ranks * MESSAGE_DOUBLES, sizeof *h->receive);
	if (h->now == NULL || h->next == NULL || h->send == NULL || h->receive == NULL)
		fail("out of memory");
	for (size_t i = 0; i < (size_t)h->ranks * MESSAGE_DOUBLES; i++)
		h->send[i] = (double)i;	/* pages never written share one, which is slow to send */
	for (int i = 1; i <= h->rows; i++)
		for (int j = 1; j <= h->columns; j++)
			*at(h->now, h, i, j) = sin(pi * (h->first_row + i) * step) *
			    sin(pi * (h->first_column + j) * step);
	MPI_Type_vector(h->rows, 1, h->columns + 2, MPI_DOUBLE, &h->column);
	MPI_Type_commit(&h->column);
}

static void
exchange_halos(struct heat *h)
{
	MPI_Request requests[8];
	int n = 0;

	MPI_Irecv(at(h->now, h, 0, 1), h->columns, MPI_DOUBLE, h->up, 0, h->comm, &requests[n++]);
	MPI_Irecv(at(h->now, h, h->rows + 1, 1), h->columns, MPI_DOUBLE, h->down, 1, h->comm,
	    &requests[n++]);
	MPI_Irecv(at(h->now, h, 1, 0), 1, h->column, h->left, 2, h->comm, &requests[n++]);
	MPI_Irecv(at(h->now, h, 1, h->columns + 1), 1, h->column, h->right, 3, h->comm,
	    &requests[n++]);
	MPI_Isend(at(h->now, h, h->rows, 1), h->columns, MPI_DOUBLE, h->down, 0, h->comm,
	    &requests[n++]);
	MPI_Isend(at(h->now, h, 1, 1), h->columns, MPI_DOUBLE, h->up, 1, h->comm, &requests[n++]);
	MPI_Isend(at(h->now, h, 1, h->columns), 1, h->column, h->right, 2, h->comm, &requests[n++]);
	MPI_Isend(at(h->now, h, 1, 1), 1, h->column, h->left, 3, h->comm, &requests[n++]);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* Computes next from now; idempotent. */
static void
stencil(struct heat *h)
{
	for (int i = 1; i <= h->rows; i++)
		for (int j = 1; j <= h->columns; j++) {
			const double *c = at(h->now, h, i, j);
			const size_t line = (size_t)h->columns + 2;

			*at(h->next, h, i,
			    j) = *c + 0.2 * (c[1] + c[-1] + c[line] + *(c - line) - 4 * *c);
		}
}

static void
swap(struct heat *h)
{
	double *kept = h->now;

	h->now = h->next;
	h->next = kept;
	h->steps++;
}

/* Every tenth step the program checks its largest change, as solvers do. */
static void
check_change(struct heat *h)
{
	double change = 0, all;

	for (int i = 1; i <= h->rows; i++)
		for (int j = 1; j <= h->columns; j++)
			change = fmax(change, fabs(*at(h->now, h, i, j) - *at(h->next, h, i, j)));
	MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_MAX, h->comm);
}

static void
compute_imbalanced(struct heat *h)
{
	double work = h->rank == h->opt.slow_rank ? h->opt.factor : 1;

	stencil(h);
	for (int extra = 1; extra < (int)work; extra++)
		stencil(h);
}

static void
compute_in_turn(struct heat *h)
{
	int turn = 0;

	if (h->rank > 0)
		MPI_Recv(&turn, 1, MPI_INT, h->rank - 1, 4, h->comm, MPI_STATUS_IGNORE);
	stencil(h);
	turn++;
	if (h->rank + 1 < h->ranks)
		MPI_Send(&turn, 1, MPI_INT, h->rank + 1, 4, h->comm);
}

static void
step(struct heat *h, enum phase phase)
{
	exchange_halos(h);
	if (phase == IMBALANCED)
		compute_imbalanced(h);
	else if (phase == SERIAL)
		compute_in_turn(h);
	else
		stencil(h);
	if (phase == MESSAGES)
		MPI_Alltoall(h->send, MESSAGE_DOUBLES, MPI_DOUBLE, h->receive, MESSAGE_DOUBLES,
		    MPI_DOUBLE, h->comm);
	swap(h);
	if (h->steps % 10 == 0)
		check_change(h);
}

static void
run_phases(struct heat *h, double began)
{
	for (char *item = strtok(h->opt.phases, ","); item != NULL; item = strtok(NULL, ",")) {
		char *colon = strchr(item, ':');
		int steps = colon != NULL ? atoi(colon + 1) : 10, phase = 0;
		double begin = MPI_Wtime();

		if (colon != NULL)
			*colon = '\0';
		while (phase < PHASES && strcmp(item, phase_names[phase]) != 0)
			phase++;
		if (phase == PHASES || steps < 0)
			fail("unknown phase");
		for (int s = 0; s < steps; s++)
			step(h, (enum phase)phase);
		MPI_Barrier(h->comm);
		if (h->opt.times && h->rank == 0)
			printf("phase %s from %.6f s to %.6f s\n", phase_names[phase],
			    begin - began, MPI_Wtime() - began);
	}
}

/* Compares the mode after all steps, at the centre of the grid, with theory. */
static void
print_result(struct heat *h)
{
	const double pi = acos(-1), half = sin(pi / (2 * (h->opt.points + 1)));
	const double factor = 1 - 8 * 0.2 * half * half;
	double sum = 0, all, exact = 0;

	for (int i = 1; i <= h->rows; i++)
		for (int j = 1; j <= h->columns; j++)
			sum += *at(h->now, h, i, j);
	MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, h->comm);
	for (int i = 1; i <= h->opt.points; i++)
		exact += sin(pi * i / (h->opt.points + 1));
	exact = exact * exact * pow(factor, h->steps);
	if (h->rank == 0)
		printf("heat: %d steps, mean %.9f, relative error %.1e\n",
		    h->steps, all / h->opt.points / h->opt.points,
		    fabs(all / exact - 1) < 1e-12 ? 0 : fabs(all / exact - 1));
}

int
main(int argc, char **argv)
{
	struct heat h;
	double began;

	MPI_Init(&argc, &argv);
	began = MPI_Wtime();
	memset(&h, 0, sizeof h);
	h.opt = parse_options(argc, argv);
	set_up(&h);
	run_phases(&h, began);
	print_result(&h);
	MPI_Type_free(&h.column);
	MPI_Comm_free(&h.comm);
	free(h.now);
	free(h.next);
	free(h.send);
	free(h.receive);
	MPI_Finalize();
	return 0;
}
