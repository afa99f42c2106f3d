/* SPDX-License-Identifier: BSD-3-Clause */
/* sampled.c in C++: the long function is a template that is compiled into its caller. */
#include <cstdlib>
#include <mpi.h>

extern "C" {
#include "sampled_work.h"
}

static volatile double sum;

namespace work {
template <typename T>
struct adder {
	__attribute__((always_inline)) inline void long_loop(T s) const
	{
		for (T end = own_time_s() + s; own_time_s() < end; )
			for (int i = 0; i < 20000; i++)
				sum = sum + i;
	}
};
}

int
main(int argc, char **argv)
{
	const double scale = argc > 1 ? std::atof(argv[1]) : 1;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		work::adder<double>().long_loop(0.3 * scale);
		short_work(0.1 * scale);
	} else
		short_work(0.05 * scale);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
