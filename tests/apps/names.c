/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls names_library.c as programs call LIKWID, PETSc and Caliper. */
#include <mpi.h>

int likwid_markerStartRegion(const char *), likwid_markerStopRegion(const char *);
void cali_begin_region(const char *), cali_end_region(const char *);
void cali_begin_phase(const char *), cali_end_phase(const char *);
int PetscLogStageRegister(const char *, int *), PetscLogStagePush(int), PetscLogStagePop(void);

int
main(int argc, char **argv)
{
	int stage;

	MPI_Init(&argc, &argv);
	likwid_markerStartRegion("likwid");
	likwid_markerStopRegion("likwid");
	cali_begin_region("caliper");
	cali_begin_phase("a phase");
	cali_end_phase("a phase");
	cali_end_region("caliper");
	PetscLogStageRegister("assembly", &stage);
	PetscLogStagePush(0);
	PetscLogStagePush(stage);
	PetscLogStagePush(300);
	PetscLogStagePop();
	PetscLogStagePop();
	PetscLogStagePop();
	MPI_Finalize();
	return 0;
}
