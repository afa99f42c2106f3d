/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads MPI by dlopen() and dlsym(), as Julia and some wrappers in Rust and Python do. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*init)(int *, char ***), (*finalize)(void), (*barrier)(void *);
	void *world;

	if (dlsym(RTLD_DEFAULT, "no_such_function") != NULL || library == NULL)
		return 1;
	*(void **)&init = dlsym(library, "MPI_Init");
	*(void **)&finalize = dlsym(library, "MPI_Finalize");
	*(void **)&barrier = dlsym(library, "MPI_Barrier");
	/* a number, but in Open MPI */
	world = argc > 2 ? (void *)strtol(argv[2], NULL, 0) : dlsym(library, "ompi_mpi_comm_world");
	if (dlsym(library, "MPI_No_such_function") != NULL)
		return 1;
	init(&argc, &argv);
	for (int i = 0; i < 5; i++)
		barrier(world);
	finalize();
	puts("loaded: done");
	return 0;
}
