/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for the libraries of LIKWID, PETSc and Caliper: says which function is called. */
#include <stdio.h>

int likwid_markerStartRegion(const char *name) { return printf("start %s\n", name) < 0; }
int likwid_markerStopRegion(const char *name) { return printf("stop %s\n", name) < 0; }
void cali_begin_region(const char *name) { printf("begin %s\n", name); }
void cali_end_region(const char *name) { printf("end %s\n", name); }
void cali_begin_phase(const char *name) { printf("begin %s\n", name); }
void cali_end_phase(const char *name) { printf("end %s\n", name); }

int
PetscLogStageRegister(const char *name, int *stage)
{
	(void)name;
	*stage = 1;
	return printf("register\n") < 0;
}

int PetscLogStagePush(int stage) { return printf("push %d\n", stage) < 0; }
int PetscLogStagePop(void) { return printf("pop\n") < 0; }
