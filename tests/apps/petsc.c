/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's stages around a solver: a tridiagonal system, COUNT times by conjugate gradients. */
#include <petscksp.h>

static PetscErrorCode
assemble(Mat matrix)
{
	PetscInt first, last, size;

	PetscFunctionBeginUser;
	PetscCall(MatGetSize(matrix, &size, NULL));
	PetscCall(MatGetOwnershipRange(matrix, &first, &last));
	for (PetscInt i = first; i < last; i++) {
		if (i > 0)
			PetscCall(MatSetValue(matrix, i, i - 1, -1, INSERT_VALUES));
		if (i + 1 < size)
			PetscCall(MatSetValue(matrix, i, i + 1, -1, INSERT_VALUES));
		PetscCall(MatSetValue(matrix, i, i, 2.1, INSERT_VALUES));
	}
	PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
	PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
	PetscFunctionReturn(0);
}

int
main(int argc, char **argv)
{
	PetscLogStage assembly, solve;
	PetscInt count = 6;
	Mat matrix;
	Vec x, b;
	KSP ksp;

	PetscFunctionBeginUser;
	PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
	PetscCall(PetscLogStageRegister("assembly", &assembly));
	PetscCall(PetscLogStageRegister("solve", &solve));
	PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 2000, 2000, 3, NULL,
	    3, NULL, &matrix));
	PetscCall(PetscLogStagePush(assembly));
	PetscCall(assemble(matrix));
	PetscCall(PetscLogStagePop());
	PetscCall(MatCreateVecs(matrix, &x, &b));
	PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
	PetscCall(KSPSetOperators(ksp, matrix, matrix));
	PetscCall(KSPSetType(ksp, KSPCG));
	PetscCall(KSPSetFromOptions(ksp));
	for (PetscInt i = 0; i < count; i++) {
		PetscCall(VecSet(b, i + 1));
		PetscCall(PetscLogStagePush(solve));
		PetscCall(KSPSolve(ksp, b, x));
		PetscCall(PetscLogStagePop());
	}
	PetscCall(KSPDestroy(&ksp));
	PetscCall(VecDestroy(&x));
	PetscCall(VecDestroy(&b));
	PetscCall(MatDestroy(&matrix));
	PetscCall(PetscFinalize());
	return 0;
}
