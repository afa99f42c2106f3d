/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one table of MPI functions. Include it with CALL defined:
 *
 *	CALL(Name, name, NAME, CLASS, params, record)
 *
 * CLASS is one of enum call_class. params are the parameters as (kind, name) pairs, record is what
 * the recorder notes after the call, in terms of
 * them; both are for record/preload/wrap.h. The order of the rows is of no importance to streams,
 * which carry names.
 * MPI_Init, MPI_Init_thread and MPI_Finalize are rows without parameters: they are wrapped by hand.
 */

/* A collective and its non-blocking form: they differ in the request. */
#define BOTH(Name, name, NAME, CLASS, params, root, sent, received) \
	CALL(Name, name, NAME, CLASS, (UNWRAP params), COLLECTIVE(comm, root, sent, received)) \
	CALL(I##name, i##name, I##NAME, CLASS##_START, (UNWRAP params, (NEWREQ, request)), \
	    COLLECTIVE_START(comm, root, sent, received, request))

SPECIAL(Init, init, INIT, INIT)
SPECIAL(Init_thread, init_thread, INIT_THREAD, INIT)
SPECIAL(Finalize, finalize, FINALIZE, FINALIZE)

#define SEND_PARAMS (CBUF, buf), (INT, count), (TYPE, type), (INT, dest), (INT, tag), (COMM, comm)
CALL(Send, send, SEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
CALL(Bsend, bsend, BSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
CALL(Ssend, ssend, SSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
CALL(Rsend, rsend, RSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
#define ISEND(Name, name, NAME) \
	CALL(Name, name, NAME, SEND_START, (SEND_PARAMS, (NEWREQ, request)), \
	    SEND_START(comm, dest, tag, count, type, request))
ISEND(Isend, isend, ISEND)
ISEND(Ibsend, ibsend, IBSEND)
ISEND(Issend, issend, ISSEND)
ISEND(Irsend, irsend, IRSEND)
#define PERSISTENT_SEND(Name, name, NAME) \
	CALL(Name, name, NAME, SEND_INIT, (SEND_PARAMS, (NEWREQ, request)), \
	    SEND_INIT(comm, dest, tag, count, type, request))
PERSISTENT_SEND(Send_init, send_init, SEND_INIT)
PERSISTENT_SEND(Bsend_init, bsend_init, BSEND_INIT)
PERSISTENT_SEND(Ssend_init, ssend_init, SSEND_INIT)
PERSISTENT_SEND(Rsend_init, rsend_init, RSEND_INIT)

CALL(Recv, recv, RECV, RECV, ((BUF, buf), (INT, count), (TYPE, type), (INT, source),
    (INT, tag), (COMM, comm), (STATUS, status)), RECV(comm, status))
CALL(Mrecv, mrecv, MRECV, RECV, ((BUF, buf), (INT, count), (TYPE, type), (MESSAGE, message),
    (STATUS, status)), MRECV(message, status))
CALL(Irecv, irecv, IRECV, RECV_START, ((BUF, buf), (INT, count), (TYPE, type), (INT, source),
    (INT, tag), (COMM, comm), (NEWREQ, request)), RECV_START(comm, source, tag, count, type, request))
CALL(Imrecv, imrecv, IMRECV, RECV_START, ((BUF, buf), (INT, count), (TYPE, type),
    (MESSAGE, message), (NEWREQ, request)), MRECV_START(message, count, type, request))
CALL(Recv_init, recv_init, RECV_INIT, RECV_INIT, ((BUF, buf), (INT, count), (TYPE, type),
    (INT, source), (INT, tag), (COMM, comm), (NEWREQ, request)),
    RECV_INIT(comm, source, tag, count, type, request))
CALL(Sendrecv, sendrecv, SENDRECV, SENDRECV, ((CBUF, sendbuf), (INT, sendcount),
    (TYPE, sendtype), (INT, dest), (INT, sendtag), (BUF, recvbuf), (INT, recvcount),
    (TYPE, recvtype), (INT, source), (INT, recvtag), (COMM, comm), (STATUS, status)),
    SENDRECV(comm, dest, sendtag, sendcount, sendtype, status))
CALL(Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE, SENDRECV, ((BUF, buf), (INT, count),
    (TYPE, type), (INT, dest), (INT, sendtag), (INT, source), (INT, recvtag), (COMM, comm),
    (STATUS, status)), SENDRECV(comm, dest, sendtag, count, type, status))

CALL(Start, start, START, START, ((REQ, request)), START(1, &request_before))
CALL(Startall, startall, STARTALL, START, ((INT, count), (REQS, requests)),
    START(count, requests_before))
CALL(Wait, wait, WAIT, COMPLETE, ((REQ, request), (STATUS, status)),
    COMPLETE_ALL(1, &request_before, status))
CALL(Waitall, waitall, WAITALL, COMPLETE, ((INT, count), (REQS, requests),
    (STATUSES, statuses)), COMPLETE_ALL(count, requests_before, statuses))
CALL(Waitany, waitany, WAITANY, COMPLETE, ((INT, count), (REQS, requests), (INDEX, index),
    (STATUS, status)), COMPLETE_ONE(1, requests_before, index, status))
CALL(Waitsome, waitsome, WAITSOME, COMPLETE, ((INT, count), (REQS, requests),
    (OUTCOUNT, outcount), (INDICES, indices), (STATUSES, statuses)),
    COMPLETE_SOME(requests_before, outcount, indices, statuses))
CALL(Test, test, TEST, COMPLETE, ((REQ, request), (FLAG, flag), (STATUS, status)),
    COMPLETE_ALL(flag ? 1 : 0, &request_before, status))
CALL(Testall, testall, TESTALL, COMPLETE, ((INT, count), (REQS, requests), (FLAG, flag),
    (STATUSES, statuses)), COMPLETE_ALL(flag ? count : 0, requests_before, statuses))
CALL(Testany, testany, TESTANY, COMPLETE, ((INT, count), (REQS, requests), (INDEX, index),
    (FLAG, flag), (STATUS, status)), COMPLETE_ONE(flag, requests_before, index, status))
CALL(Testsome, testsome, TESTSOME, COMPLETE, ((INT, count), (REQS, requests),
    (OUTCOUNT, outcount), (INDICES, indices), (STATUSES, statuses)),
    COMPLETE_SOME(requests_before, outcount, indices, statuses))
CALL(Cancel, cancel, CANCEL, CANCEL, ((REQ, request)), CANCEL(request_before))
CALL(Request_free, request_free, REQUEST_FREE, REQUEST_FREE, ((REQ, request)),
    REQUEST_FREE(request_before))
CALL(Probe, probe, PROBE, PROBE, ((INT, source), (INT, tag), (COMM, comm), (STATUS, status)),
    PROBE(1, comm, source, tag, status))
CALL(Iprobe, iprobe, IPROBE, PROBE, ((INT, source), (INT, tag), (COMM, comm), (FLAG, flag),
    (STATUS, status)), PROBE(flag, comm, source, tag, status))
CALL(Mprobe, mprobe, MPROBE, PROBE, ((INT, source), (INT, tag), (COMM, comm),
    (NEWMESSAGE, message), (STATUS, status)), MPROBE(1, comm, source, tag, message, status))
CALL(Improbe, improbe, IMPROBE, PROBE, ((INT, source), (INT, tag), (COMM, comm), (FLAG, flag),
    (NEWMESSAGE, message), (STATUS, status)), MPROBE(flag, comm, source, tag, message, status))

BOTH(Barrier, barrier, BARRIER, BARRIER, ((COMM, comm)), NO_PEER, 0, 0)
BOTH(Bcast, bcast, BCAST, ONE_TO_ALL, ((BUF, buf), (INT, count), (TYPE, type), (INT, root),
    (COMM, comm)), root, AT_ROOT(bytes(count, type)), NOT_AT_ROOT(bytes(count, type)))
BOTH(Gather, gather, GATHER, ALL_TO_ONE, ((CBUF, sendbuf), (INT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype), (INT, root), (COMM, comm)), root,
    OF(sendbuf, NOT_NULL_ROOT(bytes(sendcount, sendtype)), 0),
    AT_ROOT(EACH_PEER * bytes(recvcount, recvtype)))
BOTH(Gatherv, gatherv, GATHERV, ALL_TO_ONE, ((CBUF, sendbuf), (INT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (CINTS, recvcounts), (CINTS, displs), (TYPE, recvtype), (INT, root),
    (COMM, comm)), root, OF(sendbuf, NOT_NULL_ROOT(bytes(sendcount, sendtype)), 0),
    AT_ROOT(sum_bytes(recvcounts, PEERS, recvtype)))
BOTH(Scatter, scatter, SCATTER, ONE_TO_ALL, ((CBUF, sendbuf), (INT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype), (INT, root), (COMM, comm)), root,
    AT_ROOT(EACH_PEER * bytes(sendcount, sendtype)), OF(recvbuf, NOT_NULL_ROOT(bytes(recvcount, recvtype)), 0))
BOTH(Scatterv, scatterv, SCATTERV, ONE_TO_ALL, ((CBUF, sendbuf), (CINTS, sendcounts), (CINTS, displs),
    (TYPE, sendtype), (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype), (INT, root),
    (COMM, comm)), root, AT_ROOT(sum_bytes(sendcounts, PEERS, sendtype)),
    OF(recvbuf, NOT_NULL_ROOT(bytes(recvcount, recvtype)), 0))
BOTH(Allgather, allgather, ALLGATHER, ALL_TO_ALL, ((CBUF, sendbuf), (INT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype), (COMM, comm)), NO_PEER,
    OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcount, recvtype)),
    EACH_PEER * bytes(recvcount, recvtype))
BOTH(Allgatherv, allgatherv, ALLGATHERV, ALL_TO_ALL, ((CBUF, sendbuf), (INT, sendcount),
    (TYPE, sendtype), (BUF, recvbuf), (CINTS, recvcounts), (CINTS, displs), (TYPE, recvtype),
    (COMM, comm)), NO_PEER, OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcounts[ME], recvtype)),
    sum_bytes(recvcounts, PEERS, recvtype))
BOTH(Alltoall, alltoall, ALLTOALL, ALL_TO_ALL, ((CBUF, sendbuf), (INT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype), (COMM, comm)), NO_PEER,
    EACH_PEER * OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcount, recvtype)),
    EACH_PEER * bytes(recvcount, recvtype))
BOTH(Alltoallv, alltoallv, ALLTOALLV, ALL_TO_ALL, ((CBUF, sendbuf), (CINTS, sendcounts),
    (CINTS, sdispls), (TYPE, sendtype), (BUF, recvbuf), (CINTS, recvcounts), (CINTS, rdispls),
    (TYPE, recvtype), (COMM, comm)), NO_PEER, OF(sendbuf, sum_bytes(sendcounts, PEERS, sendtype),
    sum_bytes(recvcounts, PEERS, recvtype)), sum_bytes(recvcounts, PEERS, recvtype))
BOTH(Alltoallw, alltoallw, ALLTOALLW, ALL_TO_ALL, ((CBUF, sendbuf), (CINTS, sendcounts),
    (CINTS, sdispls), (CTYPES, sendtypes), (BUF, recvbuf), (CINTS, recvcounts), (CINTS, rdispls),
    (CTYPES, recvtypes), (COMM, comm)), NO_PEER, OF(sendbuf, sum_bytes_w(sendcounts, PEERS, sendtypes),
    sum_bytes_w(recvcounts, PEERS, recvtypes)), sum_bytes_w(recvcounts, PEERS, recvtypes))
BOTH(Reduce, reduce, REDUCE, ALL_TO_ONE, ((CBUF, sendbuf), (BUF, recvbuf), (INT, count), (TYPE, type),
    (OP, op), (INT, root), (COMM, comm)), root, OF(sendbuf, NOT_NULL_ROOT(bytes(count, type)), 0),
    AT_ROOT(bytes(count, type)))
#define REDUCE_PARAMS (CBUF, sendbuf), (BUF, recvbuf), (INT, count), (TYPE, type), (OP, op), (COMM, comm)
BOTH(Allreduce, allreduce, ALLREDUCE, ALL_TO_ALL, (REDUCE_PARAMS), NO_PEER, bytes(count, type),
    bytes(count, type))
BOTH(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, ALL_TO_ALL, (REDUCE_PARAMS),
    NO_PEER, EACH_PEER * bytes(count, type), bytes(count, type))
BOTH(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, ALL_TO_ALL, ((CBUF, sendbuf), (BUF, recvbuf),
    (CINTS, recvcounts), (TYPE, type), (OP, op), (COMM, comm)), NO_PEER,
    sum_bytes(recvcounts, MEMBERS, type), bytes(recvcounts[ME], type))
BOTH(Scan, scan, SCAN, SCAN, (REDUCE_PARAMS), NO_PEER, bytes(count, type), bytes(count, type))
BOTH(Exscan, exscan, EXSCAN, SCAN, (REDUCE_PARAMS), NO_PEER, bytes(count, type), bytes(count, type))

#define NEW(Name, name, NAME, params) \
	CALL(Name, name, NAME, COMM_CREATE, ((COMM, comm), UNWRAP params, (NEWCOMM, made)), \
	    NEW_COMMUNICATOR(comm, made))
CALL(Comm_dup, comm_dup, COMM_DUP, COMM_CREATE, ((COMM, comm), (NEWCOMM, made)),
    NEW_COMMUNICATOR(comm, made))
NEW(Comm_dup_with_info, comm_dup_with_info, COMM_DUP_WITH_INFO, ((INFO, info)))
NEW(Comm_create, comm_create, COMM_CREATE, ((GROUP, group)))
NEW(Comm_split, comm_split, COMM_SPLIT, ((INT, color), (INT, key)))
NEW(Comm_split_type, comm_split_type, COMM_SPLIT_TYPE, ((INT, type), (INT, key), (INFO, info)))
NEW(Cart_create, cart_create, CART_CREATE, ((INT, ndims), (CINTS, dims), (CINTS, periods),
    (INT, reorder)))
NEW(Cart_sub, cart_sub, CART_SUB, ((CINTS, remain)))
NEW(Graph_create, graph_create, GRAPH_CREATE, ((INT, nnodes), (CINTS, index), (CINTS, edges),
    (INT, reorder)))
NEW(Dist_graph_create, dist_graph_create, DIST_GRAPH_CREATE, ((INT, n), (CINTS, nodes),
    (CINTS, degrees), (CINTS, targets), (CINTS, weights), (INFO, info), (INT, reorder)))
NEW(Dist_graph_create_adjacent, dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT,
    ((INT, indegree), (CINTS, sources), (CINTS, sourceweights), (INT, outdegree), (CINTS, dests),
    (CINTS, destweights), (INFO, info), (INT, reorder)))
NEW(Intercomm_merge, intercomm_merge, INTERCOMM_MERGE, ((INT, high)))
CALL(Comm_idup, comm_idup, COMM_IDUP, COMM_CREATE_START, ((COMM, comm), (NEWCOMM, made),
    (NEWREQ, request)), IDUP(comm, made, request))
CALL(Comm_create_group, comm_create_group, COMM_CREATE_GROUP, COMM_CREATE_GROUP,
    ((COMM, comm), (GROUP, group), (INT, tag), (NEWCOMM, made)), NEW_FROM_GROUP(comm, tag, made))
CALL(Intercomm_create, intercomm_create, INTERCOMM_CREATE, COMM_CREATE_GROUP, ((COMM, comm),
    (INT, leader), (COMM, bridge), (INT, remote_leader), (INT, tag), (NEWCOMM, made)),
    NEW_FROM_GROUP(comm, tag, made))
CALL(Comm_free, comm_free, COMM_FREE, LOCAL, ((OLDCOMM, comm)), FREE_COMMUNICATOR(comm))
CALL(Comm_disconnect, comm_disconnect, COMM_DISCONNECT, LOCAL, ((OLDCOMM, comm)),
    FREE_COMMUNICATOR(comm))
#define NEIGHBOUR(Name, name, NAME, params) \
	CALL(Name, name, NAME, LOCAL, (UNWRAP params, (COMM, comm)), LOCAL(comm)) \
	CALL(I##name, i##name, I##NAME, LOCAL, (UNWRAP params, (COMM, comm), (NEWREQ, request)), \
	    COLLECTIVE_START(comm, NO_PEER, 0, 0, request))
NEIGHBOUR(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, ((CBUF, sendbuf), (INT, sendcount),
    (TYPE, sendtype), (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype)))
NEIGHBOUR(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, ((CBUF, sendbuf),
    (INT, sendcount), (TYPE, sendtype), (BUF, recvbuf), (CINTS, recvcounts), (CINTS, displs),
    (TYPE, recvtype)))
NEIGHBOUR(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, ((CBUF, sendbuf), (INT, sendcount),
    (TYPE, sendtype), (BUF, recvbuf), (INT, recvcount), (TYPE, recvtype)))
NEIGHBOUR(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, ((CBUF, sendbuf),
    (CINTS, sendcounts), (CINTS, sdispls), (TYPE, sendtype), (BUF, recvbuf), (CINTS, recvcounts),
    (CINTS, rdispls), (TYPE, recvtype)))
NEIGHBOUR(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, ((CBUF, sendbuf),
    (CINTS, sendcounts), (ADDRESSES, sdispls), (CTYPES, sendtypes), (BUF, recvbuf), (CINTS, recvcounts),
    (ADDRESSES, rdispls), (CTYPES, recvtypes)))

#undef BOTH
#undef SEND_PARAMS
#undef ISEND
#undef PERSISTENT_SEND
#undef REDUCE_PARAMS
#undef NEW
#undef NEIGHBOUR
