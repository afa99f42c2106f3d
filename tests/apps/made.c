/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: counts the communicators that a recorder makes for itself, into the file MADE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void
count(const char *what)
{
	FILE *file = getenv("MADE") != NULL ? fopen(getenv("MADE"), "a") : NULL;

	if (file != NULL) {
		fprintf(file, "%s\n", what);
		fclose(file);
	}
}

int
PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
	count("split");
	return NEXT(PMPI_Comm_split)(comm, color, key, made);
}

int
PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
	count("split_type");
	return NEXT(PMPI_Comm_split_type)(comm, type, key, info, made);
}

int
PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
	count("dup");
	return NEXT(PMPI_Comm_dup)(comm, made);
}

int
PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
	count("create");
	return NEXT(PMPI_Comm_create)(comm, group, made);
}

int
PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
	count("create_group");
	return NEXT(PMPI_Comm_create_group)(comm, group, tag, made);
}

int
PMPI_Comm_free(MPI_Comm *comm)
{
	count("free");
	return NEXT(PMPI_Comm_free)(comm);
}
