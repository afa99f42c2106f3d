// SPDX-License-Identifier: BSD-3-Clause
// Regions and kernels of Kokkos, with MPI.
#include <Kokkos_Core.hpp>
#include <mpi.h>

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	Kokkos::initialize(argc, argv);
	{
		double sum = 0;

		Kokkos::Profiling::pushRegion("solve");
		Kokkos::parallel_for("fill", 100, KOKKOS_LAMBDA(int) { });
		Kokkos::parallel_reduce("norm", 100, KOKKOS_LAMBDA(int i, double &of) { of += i; }, sum);
		MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		Kokkos::Profiling::popRegion();
	}
	Kokkos::finalize();
	MPI_Finalize();
	return 0;
}
