/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's rule: messages of one channel (communicator, source, destination, tag) are received in the order in
 * which they were sent, by receives in the order in which they were posted. So every channel is two queues,
 * and the heads belong together.
 */
#ifndef CHANNELS_H
#define CHANNELS_H

#include "graph.h"

/* The operation is the last of its channel; what can be matched now is. Ranks are of the world. */
void channel_send(struct graph *graph, uint32_t comm, int32_t source, int32_t target, int32_t tag, uint32_t send);
void channel_receive(struct graph *graph, uint32_t comm, int32_t source, int32_t target, int32_t tag,
    uint32_t receive);
/* A receive that is in it has completed or is dropped. */
void channel_again(struct graph *graph, uint32_t comm, int32_t source, int32_t target, int32_t tag);
/* Counts what is left in them. */
void channels_end(struct graph *graph);
/* Behind the operations from FIRST to LAST, or NONE. */
void queue_add(struct graph *graph, uint32_t *first, uint32_t *last, uint32_t operation);

#endif
