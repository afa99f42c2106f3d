/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment that Open MPI, MPICH with hydra, and Slurm give the processes that they start. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>
#include <stdlib.h>

static const struct {
	const char *rank, *size;
} launcher_names[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
};
enum { LAUNCHERS = sizeof launcher_names / sizeof launcher_names[0] };

static inline bool
launcher_tells(int *rank, int *size)
{
	for (size_t i = 0; i < LAUNCHERS; i++) {
		const char *own = getenv(launcher_names[i].rank),
		    *all = getenv(launcher_names[i].size);

		if (own == NULL || all == NULL)
			continue;
		*rank = atoi(own);
		*size = atoi(all);
		return true;
	}
	return false;
}

/* For a child that must run alone. */
static inline void
launcher_forget(void)
{
	for (size_t i = 0; i < LAUNCHERS; i++)
		unsetenv(launcher_names[i].rank);
}

#endif
