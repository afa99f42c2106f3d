/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that a mock-up can replace, for lp-mend and its library. Non-blocking functions are not
 * among them: a blocking one must not replace them.
 */
#ifndef REPLACED_H
#define REPLACED_H

#define REPLACED_FUNCTIONS(F) \
	F(Gather) F(Scatter) F(Allgather) F(Alltoall) F(Bcast) F(Reduce) F(Allreduce) \
	F(Reduce_scatter) F(Reduce_scatter_block) F(Scan) F(Barrier) F(Sendrecv)

#endif
