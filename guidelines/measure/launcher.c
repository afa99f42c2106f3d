/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of the ranks, and whether the ranks belong to one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* Variables by which launchers give the number of processes and the own rank. */
static const struct {
	const char *size, *rank;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" },	/* Open MPI */
	{ "PMI_SIZE", "PMI_RANK" },		/* MPICH's hydra, Intel MPI, Slurm's PMI */
	{ "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK" },	/* MVAPICH */
	{ "PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID" },		/* Cray */
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static long
number(const char *name)
{
	const char *text = getenv(name);

	return text == NULL ? 0 : strtol(text, NULL, 10);
}

/*
 * If a process was started by another MPI library's launcher, it is alone in its MPI_COMM_WORLD,
 * once per process. A launcher inside another one's rank is fine: its own size is right.
 */
bool
is_refused_launch(const struct call *call)
{
	int foreign = -1;

	for (int i = 0; i < LAUNCHERS; i++) {
		if (number(launchers[i].size) == call->ranks)
			return false;
		if (number(launchers[i].size) > 1 && call->ranks == 1)
			foreign = i;
	}
	if (foreign < 0)
		return false;
	if (number(launchers[foreign].rank) == 0)	/* one of them reports */
		note("%s is %ld, but MPI knows of 1 rank: the launcher belongs to another MPI "
		    "library", launchers[foreign].size, number(launchers[foreign].size));
	return true;
}

static int
by_text(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Names of all hosts on rank 0, in order, each once, separated by commas; NULL elsewhere. */
char *
host_names(const struct call *call)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "", *all = NULL, *text = NULL;
	size_t ranks = (size_t)call->ranks, size = MPI_MAX_PROCESSOR_NAME, used = 0;
	int length;

	MPI_Get_processor_name(name, &length);
	if (call->rank == 0)
		all = zalloc(ranks, size);
	MPI_Gather(name, (int)size, MPI_CHAR, all, (int)size, MPI_CHAR, 0, call->comm);
	if (call->rank != 0)
		return NULL;
	qsort(all, ranks, size, by_text);
	text = zalloc(ranks, size + 1);
	for (size_t r = 0; r < ranks; r++)
		if (r == 0 || strcmp(all + r * size, all + (r - 1) * size) != 0)
			used += (size_t)sprintf(text + used, "%s%s", r > 0 ? "," : "",
			    all + r * size);
	free(all);
	return text;
}
