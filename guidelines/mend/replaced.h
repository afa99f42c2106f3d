/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that can be replaced by a mock-up: for lp-mend and its library. Those that return
 * before they are done are not among them: what blocks may not stand for what does not.
 */
#ifndef REPLACED_H
#define REPLACED_H

#define REPLACED_FUNCTIONS(F) \
	F(Gather) F(Scatter) F(Allgather) F(Alltoall) F(Bcast) F(Reduce) F(Allreduce) \
	F(Reduce_scatter) \
	F(Reduce_scatter_block) F(Scan) F(Barrier) F(Sendrecv)

#endif
