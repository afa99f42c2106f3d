/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables by which a launcher tells a process its rank and the number of ranks. */
#ifndef LAUNCHERS_H
#define LAUNCHERS_H

#include <stdbool.h>
#include <stdlib.h>

static const struct launcher {
	const char *rank, *ranks;
	bool of_shells;			/* a user's shell in a job has them, too */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false },	/* Open MPI */
	{ "PMI_RANK", "PMI_SIZE", false },	/* MPICH's hydra, Intel MPI, Slurm's PMI */
	{ "PMIX_RANK", "SLURM_STEP_NUM_TASKS", false },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true },
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* The first whose variable of the rank is set; NULL: none. */
static inline const struct launcher *
launcher_that_tells(bool shells_too)
{
	for (int i = 0; i < LAUNCHERS; i++)
		if (getenv(launchers[i].rank) != NULL && (shells_too || !launchers[i].of_shells))
			return &launchers[i];
	return NULL;
}

#endif
