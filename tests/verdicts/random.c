/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random SEED [without]: a program of 2 to 6 exchanges, in steps that end with a barrier. In one
 * exchange of each step, one rank computes for LATE_S: before it, or between the start of a call
 * and its end. That rank is the long pole, as all wait for it in the barrier at the latest. The
 * seed decides all, also whether all ranks compute a little. Prints the seconds.
 *
 * random cases FROM TO: for each seed what its program does, and a line as in the file `cases`.
 */
#include "exchanges.h"

enum { STEPS_RANDOM = 10, MOST = 6 /* exchanges */ };

static unsigned long long state;
static bool all_compute;
static int exchanges, late_exchange;
static struct exchange {
	const struct kind *kind;
	int root, count;
} program[MOST];

static int
drawn(int below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (unsigned long long)below);
}

static void
draw(unsigned long long seed)
{
	static const int counts[] = { 1, 100, 2000, DOUBLES };

	state = 977 * seed + 1;
	for (int i = 0; i < 10; i++)
		drawn(2);
	ranks = 2 + drawn(4);
	exchanges = 2 + drawn(MOST - 1);
	for (int i = 0; i < exchanges; i++)
		program[i] = (struct exchange){ &kinds[drawn(KINDS)], drawn(ranks),
		    counts[drawn(4)] };
	all_compute = drawn(2);
	late_exchange = drawn(exchanges);
	late_rank = drawn(ranks);
	late_between = drawn(2) && program[late_exchange].kind->split;
}

static void
print_cases(unsigned long long seed, unsigned long long last)
{
	for (; seed <= last; seed++) {
		draw(seed);
		printf("#%s", all_compute ? " all compute;" : "");
		for (int i = 0; i < exchanges; i++)
			printf(" %s%s root %d %d doubles;", i != late_exchange ? "" :
			    late_between ? "late between " : "late before ",
			    program[i].kind->name, program[i].root, program[i].count);
		printf("\n%llu random.c %d %d compute ^(late_part)? before MPI_\n", seed, ranks,
		    late_rank);
	}
}

static void
run(const struct exchange *one, bool late)
{
	root = one->root;
	count = one->count;
	tag = (int)(one - program);	/* messages of another exchange may be there already */
	late_here = late;
	if (all_compute)
		usual_part();
	if (late && !late_between && rank == late_rank)
		late_part();
	one->kind->run();
}

int
main(int argc, char **argv)
{
	const int periodic = 1;
	char name[40];
	double began_s;

	if (argc == 4 && strcmp(argv[1], "cases") == 0) {
		print_cases(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 2)
		return 2;
	draw(strtoull(argv[1], NULL, 10));
	without = argc == 3;
	comm = MPI_COMM_WORLD;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	next = (rank + 1) % ranks;
	previous = (rank + ranks - 1) % ranks;
	in = calloc((size_t)ranks * DOUBLES, sizeof *in);
	out = calloc((size_t)ranks * DOUBLES, sizeof *out);
	MPI_Win_allocate((MPI_Aint)(DOUBLES * sizeof *shared), sizeof *shared, MPI_INFO_NULL, comm,
	    &shared, &window);
	MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &circle);
	MPI_Comm_split(comm, rank < ranks / 2, 0, &half);
	snprintf(name, sizeof name, "written.%s", argv[1]);
	MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
	    MPI_INFO_NULL, &file);
	MPI_Barrier(comm);
	began_s = MPI_Wtime();
	for (int step = 0; step < STEPS_RANDOM; step++) {
		for (int i = 0; i < exchanges; i++)
			run(&program[i], i == late_exchange);
		MPI_Barrier(comm);
	}
	if (rank == 0)
		printf("%.6f\n", MPI_Wtime() - began_s);
	MPI_File_close(&file);
	MPI_Comm_free(&half);
	MPI_Comm_free(&circle);
	MPI_Win_free(&window);
	free(in);
	free(out);
	return MPI_Finalize();
}
