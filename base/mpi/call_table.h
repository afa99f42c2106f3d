/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one table of MPI functions. Include it with CALL defined:
 *
 *	CALL(Name, name, NAME, CLASS, params, record)
 *
 * CLASS is one of enum call_class. params are the parameters as (kind, name) pairs. record is the
 * recorder's note after the call, in terms of the parameters. record/preload/wrap.h uses both.
 * Streams contain names, so the order of the rows does not matter to them. These macros have the
 * same arguments:
 *
 *	SPECIAL		wrapped by hand; no params
 *	CALL_4		new in MPI 4; as CALL where it is not defined
 *	PERSISTENT	init of a persistent collective, MPIX_ before MPI 4; as CALL_4 otherwise
 *	LARGE		the form MPI_Name_c, in which COUNT, COUNTS, DISPLS, UNIT and OUTSIZE are wider;
 *			nothing where it is not defined
 *
 * DERIVED(number, "name", CLASS) is not a function: it names rows for one of the requests of a
 * call, or beside the calls. It is empty unless defined. All macros are undefined again at the end.
 */
#ifndef CALL_4
#define CALL_4 CALL
#endif
#ifndef PERSISTENT
#define PERSISTENT CALL_4
#endif
#ifndef LARGE
#define LARGE(Name, name, NAME, CLASS, params, record)
#endif
#ifndef DERIVED
#define DERIVED(number, name, CLASS)
#endif

/* Functions with counts have a form for large ones. */
#define COUNTED(Name, name, NAME, CLASS, params, record) \
	CALL(Name, name, NAME, CLASS, params, record) \
	LARGE(Name, name, NAME, CLASS, params, record)
#define COUNTED_4(Name, name, NAME, CLASS, params, record) \
	CALL_4(Name, name, NAME, CLASS, params, record) \
	LARGE(Name, name, NAME, CLASS, params, record)
#define PERSISTENT_COUNTED(Name, name, NAME, CLASS, params, record) \
	PERSISTENT(Name, name, NAME, CLASS, params, record) \
	LARGE(Name, name, NAME, CLASS, params, record)

/* A collective, its non-blocking form, and the init of its persistent form. */
#define BOTH(Name, name, NAME, CLASS, params, root, sent, received) \
	BLOCKING(COUNTED, PERSISTENT_COUNTED, Name, name, NAME, CLASS, params, root, sent, received)
#define BLOCKING(Call, Init, Name, name, NAME, CLASS, params, root, sent, received) \
	Call(Name, name, NAME, CLASS, (UNWRAP params), COLLECTIVE(comm, root, sent, received)) \
	Call(I##name, i##name, I##NAME, CLASS##_START, (UNWRAP params, (NEWREQ, request)), \
	    COLLECTIVE_START(comm, root, sent, received, request)) \
	DERIVED(start_##name, "MPI_Start(" #Name ")", CLASS##_START) \
	Init(Name##_init, name##_init, NAME##_INIT, COLLECTIVE_INIT, (UNWRAP params, (INFO, info), (NEWREQ, request)), \
	    COLLECTIVE_INIT(comm, root, sent, received, request, start_##name))

SPECIAL(Init, init, INIT, INIT)
SPECIAL(Init_thread, init_thread, INIT_THREAD, INIT)
SPECIAL(Finalize, finalize, FINALIZE, FINALIZE)
SPECIAL(Session_init, session_init, SESSION_INIT, LOCAL)
SPECIAL(Session_finalize, session_finalize, SESSION_FINALIZE, LOCAL)
SPECIAL(Abort, abort, ABORT, LOCAL)
SPECIAL(Pcontrol, pcontrol, PCONTROL, LOCAL)

#define SEND_PARAMS (CBUF, buf), (COUNT, count), (TYPE, type), (INT, dest), (INT, tag), (COMM, comm)
COUNTED(Send, send, SEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
COUNTED(Bsend, bsend, BSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
COUNTED(Ssend, ssend, SSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
COUNTED(Rsend, rsend, RSEND, SEND, (SEND_PARAMS), SEND(comm, dest, tag, count, type))
#define ISEND(Name, name, NAME) \
	COUNTED(Name, name, NAME, SEND_START, (SEND_PARAMS, (NEWREQ, request)), \
	    SEND_START(comm, dest, tag, count, type, request))
ISEND(Isend, isend, ISEND)
ISEND(Ibsend, ibsend, IBSEND)
ISEND(Issend, issend, ISSEND)
ISEND(Irsend, irsend, IRSEND)
#define PERSISTENT_SEND(Name, name, NAME) \
	COUNTED(Name, name, NAME, SEND_INIT, (SEND_PARAMS, (NEWREQ, request)), \
	    SEND_INIT(comm, dest, tag, count, type, request))
PERSISTENT_SEND(Send_init, send_init, SEND_INIT)
PERSISTENT_SEND(Bsend_init, bsend_init, BSEND_INIT)
PERSISTENT_SEND(Ssend_init, ssend_init, SSEND_INIT)
PERSISTENT_SEND(Rsend_init, rsend_init, RSEND_INIT)

COUNTED(Recv, recv, RECV, RECV, ((BUF, buf), (COUNT, count), (TYPE, type), (INT, source),
    (INT, tag), (COMM, comm), (STATUS, status)), RECV(comm, status))
COUNTED(Mrecv, mrecv, MRECV, RECV, ((BUF, buf), (COUNT, count), (TYPE, type), (MESSAGE, message),
    (STATUS, status)), MRECV(message, status))
COUNTED(Irecv, irecv, IRECV, RECV_START, ((BUF, buf), (COUNT, count), (TYPE, type), (INT, source),
    (INT, tag), (COMM, comm), (NEWREQ, request)), RECV_START(comm, source, tag, count, type, request))
COUNTED(Imrecv, imrecv, IMRECV, RECV_START, ((BUF, buf), (COUNT, count), (TYPE, type),
    (MESSAGE, message), (NEWREQ, request)), MRECV_START(message, count, type, request))
COUNTED(Recv_init, recv_init, RECV_INIT, RECV_INIT, ((BUF, buf), (COUNT, count), (TYPE, type),
    (INT, source), (INT, tag), (COMM, comm), (NEWREQ, request)),
    RECV_INIT(comm, source, tag, count, type, request))
COUNTED(Sendrecv, sendrecv, SENDRECV, SENDRECV, ((CBUF, sendbuf), (COUNT, sendcount),
    (TYPE, sendtype), (INT, dest), (INT, sendtag), (BUF, recvbuf), (COUNT, recvcount),
    (TYPE, recvtype), (INT, source), (INT, recvtag), (COMM, comm), (STATUS, status)),
    SENDRECV(comm, dest, sendtag, sendcount, sendtype, status))
COUNTED(Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE, SENDRECV, ((BUF, buf), (COUNT, count),
    (TYPE, type), (INT, dest), (INT, sendtag), (INT, source), (INT, recvtag), (COMM, comm),
    (STATUS, status)), SENDRECV(comm, dest, sendtag, count, type, status))

/* One request for both: the row is the send, and a second row after it is the receive. */
COUNTED_4(Isendrecv, isendrecv, ISENDRECV, SEND_START, ((CBUF, sendbuf), (COUNT, sendcount),
    (TYPE, sendtype), (INT, dest), (INT, sendtag), (BUF, recvbuf), (COUNT, recvcount),
    (TYPE, recvtype), (INT, source), (INT, recvtag), (COMM, comm), (NEWREQ, request)),
    SENDRECV_START(comm, dest, sendtag, bytes(sendcount, sendtype), source, recvtag,
    bytes(recvcount, recvtype), request))
COUNTED_4(Isendrecv_replace, isendrecv_replace, ISENDRECV_REPLACE, SEND_START, ((BUF, buf),
    (COUNT, count), (TYPE, type), (INT, dest), (INT, sendtag), (INT, source), (INT, recvtag),
    (COMM, comm), (NEWREQ, request)), SENDRECV_START(comm, dest, sendtag, bytes(count, type), source,
    recvtag, bytes(count, type), request))
DERIVED(isendrecv_receive, "MPI_Isendrecv(receive)", RECV_START)

/*
 * Partitioned communication has a channel of its own. The message leaves with its last partition:
 * that row is the send's start, and MPI_Start only opens the sender's buffer.
 */
CALL_4(Psend_init, psend_init, PSEND_INIT, LOCAL, ((CBUF, buf), (INT, partitions), (BIG, count),
    (TYPE, type), (INT, dest), (INT, tag), (COMM, comm), (INFO, info), (NEWREQ, request)),
    PARTITIONED(comm, dest, tag, partitions, bytes(count, type), OF_PARTITIONS, request))
CALL_4(Precv_init, precv_init, PRECV_INIT, RECV_INIT, ((BUF, buf), (INT, partitions), (BIG, count),
    (TYPE, type), (INT, source), (INT, tag), (COMM, comm), (INFO, info), (NEWREQ, request)),
    PARTITIONED(comm, source, tag, partitions, bytes(count, type), OF_RECEIVE, request))
CALL_4(Pready, pready, PREADY, LOCAL, ((INT, partition), (CREQ, request)),
    READY(request, 1, last_pready))
CALL_4(Pready_range, pready_range, PREADY_RANGE, LOCAL, ((INT, low), (INT, high), (CREQ, request)),
    READY(request, high - low + 1, last_pready_range))
CALL_4(Pready_list, pready_list, PREADY_LIST, LOCAL, ((INT, length), (INTS, partitions),
    (CREQ, request)), READY(request, length, last_pready_list))
CALL_4(Parrived, parrived, PARRIVED, PROBE, ((CREQ, request), (INT, partition), (FLAG, flag)),
    LOOKED(flag, request))
DERIVED(start_psend, "MPI_Start(Psend)", LOCAL)
DERIVED(last_pready, "MPI_Pready(last)", SEND_START)
DERIVED(last_pready_range, "MPI_Pready_range(last)", SEND_START)
DERIVED(last_pready_list, "MPI_Pready_list(last)", SEND_START)

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
CALL(Request_get_status, request_get_status, REQUEST_GET_STATUS, PROBE, ((CREQ, request), (FLAG, flag),
    (STATUS, status)), LOOKED(flag, request))
COUNTED(Buffer_detach, buffer_detach, BUFFER_DETACH, LOCAL, ((BUF, address), (OUTSIZE, size)),
    ALONE)
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

BLOCKING(CALL, PERSISTENT, Barrier, barrier, BARRIER, BARRIER, ((COMM, comm)), NO_RANK, 0, 0)
BOTH(Bcast, bcast, BCAST, ONE_TO_ALL, ((BUF, buf), (COUNT, count), (TYPE, type), (INT, root),
    (COMM, comm)), root, AT_ROOT(bytes(count, type)), NOT_AT_ROOT(bytes(count, type)))
BOTH(Gather, gather, GATHER, ALL_TO_ONE, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype), (INT, root), (COMM, comm)), root,
    OF(sendbuf, NOT_NULL_ROOT(bytes(sendcount, sendtype)), 0),
    AT_ROOT(EACH_PEER * bytes(recvcount, recvtype)))
BOTH(Gatherv, gatherv, GATHERV, ALL_TO_ONE, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, displs), (TYPE, recvtype), (INT, root),
    (COMM, comm)), root, OF(sendbuf, NOT_NULL_ROOT(bytes(sendcount, sendtype)), 0),
    AT_ROOT(sum_bytes(recvcounts, PEERS, recvtype)))
BOTH(Scatter, scatter, SCATTER, ONE_TO_ALL, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype), (INT, root), (COMM, comm)), root,
    AT_ROOT(EACH_PEER * bytes(sendcount, sendtype)), OF(recvbuf, NOT_NULL_ROOT(bytes(recvcount, recvtype)), 0))
BOTH(Scatterv, scatterv, SCATTERV, ONE_TO_ALL, ((CBUF, sendbuf), (COUNTS, sendcounts), (DISPLS, displs),
    (TYPE, sendtype), (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype), (INT, root),
    (COMM, comm)), root, AT_ROOT(sum_bytes(sendcounts, PEERS, sendtype)),
    OF(recvbuf, NOT_NULL_ROOT(bytes(recvcount, recvtype)), 0))
BOTH(Allgather, allgather, ALLGATHER, ALL_TO_ALL, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype), (COMM, comm)), NO_RANK,
    OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcount, recvtype)),
    EACH_PEER * bytes(recvcount, recvtype))
BOTH(Allgatherv, allgatherv, ALLGATHERV, ALL_TO_ALL, ((CBUF, sendbuf), (COUNT, sendcount),
    (TYPE, sendtype), (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, displs), (TYPE, recvtype),
    (COMM, comm)), NO_RANK, OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcounts[ME], recvtype)),
    sum_bytes(recvcounts, PEERS, recvtype))
BOTH(Alltoall, alltoall, ALLTOALL, ALL_TO_ALL, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype), (COMM, comm)), NO_RANK,
    EACH_PEER * OF(sendbuf, bytes(sendcount, sendtype), bytes(recvcount, recvtype)),
    EACH_PEER * bytes(recvcount, recvtype))
BOTH(Alltoallv, alltoallv, ALLTOALLV, ALL_TO_ALL, ((CBUF, sendbuf), (COUNTS, sendcounts),
    (DISPLS, sdispls), (TYPE, sendtype), (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, rdispls),
    (TYPE, recvtype), (COMM, comm)), NO_RANK, OF(sendbuf, sum_bytes(sendcounts, PEERS, sendtype),
    sum_bytes(recvcounts, PEERS, recvtype)), sum_bytes(recvcounts, PEERS, recvtype))
BOTH(Alltoallw, alltoallw, ALLTOALLW, ALL_TO_ALL, ((CBUF, sendbuf), (COUNTS, sendcounts),
    (DISPLS, sdispls), (CTYPES, sendtypes), (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, rdispls),
    (CTYPES, recvtypes), (COMM, comm)), NO_RANK, OF(sendbuf, sum_bytes_w(sendcounts, PEERS, sendtypes),
    sum_bytes_w(recvcounts, PEERS, recvtypes)), sum_bytes_w(recvcounts, PEERS, recvtypes))
BOTH(Reduce, reduce, REDUCE, ALL_TO_ONE, ((CBUF, sendbuf), (BUF, recvbuf), (COUNT, count), (TYPE, type),
    (OP, op), (INT, root), (COMM, comm)), root, OF(sendbuf, NOT_NULL_ROOT(bytes(count, type)), 0),
    AT_ROOT(bytes(count, type)))
#define REDUCE_PARAMS (CBUF, sendbuf), (BUF, recvbuf), (COUNT, count), (TYPE, type), (OP, op), (COMM, comm)
BOTH(Allreduce, allreduce, ALLREDUCE, ALL_TO_ALL, (REDUCE_PARAMS), NO_RANK, bytes(count, type),
    bytes(count, type))
BOTH(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, ALL_TO_ALL, (REDUCE_PARAMS),
    NO_RANK, EACH_PEER * bytes(count, type), bytes(count, type))
BOTH(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, ALL_TO_ALL, ((CBUF, sendbuf), (BUF, recvbuf),
    (COUNTS, recvcounts), (TYPE, type), (OP, op), (COMM, comm)), NO_RANK,
    sum_bytes(recvcounts, MEMBERS, type), bytes(recvcounts[ME], type))
BOTH(Scan, scan, SCAN, SCAN, (REDUCE_PARAMS), NO_RANK, bytes(count, type), bytes(count, type))
BOTH(Exscan, exscan, EXSCAN, SCAN, (REDUCE_PARAMS), NO_RANK, bytes(count, type), bytes(count, type))

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
CALL_4(Comm_idup_with_info, comm_idup_with_info, COMM_IDUP_WITH_INFO, COMM_CREATE_START, ((COMM, comm),
    (INFO, info), (NEWCOMM, made), (NEWREQ, request)), IDUP(comm, made, request))
CALL_4(Comm_create_from_group, comm_create_from_group, COMM_CREATE_FROM_GROUP, COMM_CREATE_GROUP,
    ((GROUP, group), (STRING, tag), (INFO, info), (ERRORS, handler), (NEWCOMM, made)),
    NEW_FROM_GROUP(MPI_COMM_NULL, 0, made))
CALL_4(Intercomm_create_from_groups, intercomm_create_from_groups, INTERCOMM_CREATE_FROM_GROUPS,
    COMM_CREATE_GROUP, ((GROUP, group), (INT, leader), (GROUP, remote), (INT, remote_leader),
    (STRING, tag), (INFO, info), (ERRORS, handler), (NEWCOMM, made)),
    NEW_FROM_GROUP(MPI_COMM_NULL, 0, made))
CALL(Comm_create_group, comm_create_group, COMM_CREATE_GROUP, COMM_CREATE_GROUP,
    ((COMM, comm), (GROUP, group), (INT, tag), (NEWCOMM, made)), NEW_FROM_GROUP(comm, tag, made))
CALL(Intercomm_create, intercomm_create, INTERCOMM_CREATE, COMM_CREATE_GROUP, ((COMM, comm),
    (INT, leader), (COMM, bridge), (INT, remote_leader), (INT, tag), (NEWCOMM, made)),
    NEW_FROM_GROUP(comm, tag, made))
CALL(Comm_free, comm_free, COMM_FREE, LOCAL, ((OLDCOMM, comm)), FREE_COMMUNICATOR(comm))
CALL(Comm_disconnect, comm_disconnect, COMM_DISCONNECT, DISCONNECT, ((OLDCOMM, comm)),
    FREE_COMMUNICATOR(comm))
CALL(Comm_spawn, comm_spawn, COMM_SPAWN, COMM_CREATE, ((STRING, command), (ARGUMENTS, argv),
    (INT, count), (INFO, info), (INT, root), (COMM, comm), (NEWCOMM, made), (OUTPUT, errors)),
    SPAWN(comm, root, made))
CALL(Comm_spawn_multiple, comm_spawn_multiple, COMM_SPAWN_MULTIPLE, COMM_CREATE, ((INT, count),
    (STRINGS, commands), (ARGUMENTS_EACH, argvs), (CINTS, counts), (INFOS, infos), (INT, root),
    (COMM, comm), (NEWCOMM, made), (OUTPUT, errors)), SPAWN(comm, root, made))
#define PORT_PARAMS (STRING, port), (INFO, info), (INT, root), (COMM, comm), (NEWCOMM, made)
CALL(Comm_accept, comm_accept, COMM_ACCEPT, COMM_CREATE, (PORT_PARAMS), MEET(accept, comm, root, port, made))
CALL(Comm_connect, comm_connect, COMM_CONNECT, COMM_CREATE, (PORT_PARAMS),
    MEET(connect, comm, root, port, made))
CALL(Comm_join, comm_join, COMM_JOIN, LOCAL, ((INT, fd), (NEWCOMM, made)), JOIN(fd, made))
CALL(Comm_get_parent, comm_get_parent, COMM_GET_PARENT, LOCAL, ((NEWCOMM, made)), PARENT(made))

/* Who waits for whom is known from the topology. SOURCES and TARGETS count this rank's neighbours. */
#define NEIGHBOUR(Name, name, NAME, params, sent, received) \
	COUNTED(Neighbor_##Name, neighbor_##name, NEIGHBOR_##NAME, NEIGHBOUR, (UNWRAP params, (COMM, comm)), \
	    COLLECTIVE(comm, NO_RANK, sent, received)) \
	COUNTED(Ineighbor_##Name, ineighbor_##name, INEIGHBOR_##NAME, NEIGHBOUR_START, \
	    (UNWRAP params, (COMM, comm), (NEWREQ, request)), \
	    COLLECTIVE_START(comm, NO_RANK, sent, received, request)) \
	DERIVED(start_neighbor_##name, "MPI_Start(Neighbor_" #Name ")", NEIGHBOUR_START) \
	PERSISTENT_COUNTED(Neighbor_##Name##_init, neighbor_##name##_init, NEIGHBOR_##NAME##_INIT, COLLECTIVE_INIT, \
	    (UNWRAP params, (COMM, comm), (INFO, info), (NEWREQ, request)), \
	    COLLECTIVE_INIT(comm, NO_RANK, sent, received, request, start_neighbor_##name))
NEIGHBOUR(allgather, allgather, ALLGATHER, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype)),
    bytes(sendcount, sendtype), EACH_SOURCE * bytes(recvcount, recvtype))
NEIGHBOUR(allgatherv, allgatherv, ALLGATHERV, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, displs), (TYPE, recvtype)),
    bytes(sendcount, sendtype), sum_bytes(recvcounts, SOURCES, recvtype))
NEIGHBOUR(alltoall, alltoall, ALLTOALL, ((CBUF, sendbuf), (COUNT, sendcount), (TYPE, sendtype),
    (BUF, recvbuf), (COUNT, recvcount), (TYPE, recvtype)),
    EACH_TARGET * bytes(sendcount, sendtype), EACH_SOURCE * bytes(recvcount, recvtype))
NEIGHBOUR(alltoallv, alltoallv, ALLTOALLV, ((CBUF, sendbuf), (COUNTS, sendcounts), (DISPLS, sdispls),
    (TYPE, sendtype), (BUF, recvbuf), (COUNTS, recvcounts), (DISPLS, rdispls), (TYPE, recvtype)),
    sum_bytes(sendcounts, TARGETS, sendtype), sum_bytes(recvcounts, SOURCES, recvtype))
NEIGHBOUR(alltoallw, alltoallw, ALLTOALLW, ((CBUF, sendbuf), (COUNTS, sendcounts), (ADDRESSES, sdispls),
    (CTYPES, sendtypes), (BUF, recvbuf), (COUNTS, recvcounts), (ADDRESSES, rdispls),
    (CTYPES, recvtypes)),
    sum_bytes_w(sendcounts, TARGETS, sendtypes), sum_bytes_w(recvcounts, SOURCES, recvtypes))

/* One-sided communication: an MPI window has a communicator of its own with its parent's members. */
COUNTED(Win_create, win_create, WIN_CREATE, COMM_CREATE, ((BUF, base), (ADDRESS, size), (UNIT, unit),
    (INFO, info), (COMM, comm), (NEWWIN, made)), NEW_WIN(comm, made))
COUNTED(Win_allocate, win_allocate, WIN_ALLOCATE, COMM_CREATE, ((ADDRESS, size), (UNIT, unit),
    (INFO, info), (COMM, comm), (BUF, base), (NEWWIN, made)), NEW_WIN(comm, made))
COUNTED(Win_allocate_shared, win_allocate_shared, WIN_ALLOCATE_SHARED, COMM_CREATE, ((ADDRESS, size),
    (UNIT, unit), (INFO, info), (COMM, comm), (BUF, base), (NEWWIN, made)), NEW_WIN(comm, made))
CALL(Win_create_dynamic, win_create_dynamic, WIN_CREATE_DYNAMIC, COMM_CREATE, ((INFO, info),
    (COMM, comm), (NEWWIN, made)), NEW_WIN(comm, made))
CALL(Win_free, win_free, WIN_FREE, BARRIER, ((OLDWIN, win)), FREE_GROUP_OF(win))
CALL(Win_fence, win_fence, WIN_FENCE, BARRIER, ((INT, assert), (WIN, win)), GROUP_OF(win))
CALL(Win_post, win_post, WIN_POST, POST, ((GROUP, group), (INT, assert), (WIN, win)),
    EXPOSE(win, group))
CALL(Win_start, win_start, WIN_START, ACCESS, ((GROUP, group), (INT, assert), (WIN, win)),
    ACCESS(win, group))
CALL(Win_complete, win_complete, WIN_COMPLETE, ACCESS_END, ((WIN, win)), ACCESS_END(win))
CALL(Win_wait, win_wait, WIN_WAIT, EXPOSE_END, ((WIN, win)), EXPOSE_END(1, win))
CALL(Win_test, win_test, WIN_TEST, EXPOSE_END, ((WIN, win), (FLAG, flag)), EXPOSE_END(flag, win))
#define TO_RANK(Name, name, NAME, params) CALL(Name, name, NAME, RMA, params, RMA(win, rank, 0, 0))
#define TO_ALL(Name, name, NAME, params) CALL(Name, name, NAME, RMA, params, RMA(win, NO_RANK, 0, 0))
CALL(Win_lock, win_lock, WIN_LOCK, RMA, ((INT, lock), (INT, rank), (INT, assert), (WIN, win)),
    LOCK(win, rank, lock))
TO_RANK(Win_unlock, win_unlock, WIN_UNLOCK, ((INT, rank), (WIN, win)))
TO_RANK(Win_flush, win_flush, WIN_FLUSH, ((INT, rank), (WIN, win)))
TO_RANK(Win_flush_local, win_flush_local, WIN_FLUSH_LOCAL, ((INT, rank), (WIN, win)))
TO_ALL(Win_lock_all, win_lock_all, WIN_LOCK_ALL, ((INT, assert), (WIN, win)))
TO_ALL(Win_unlock_all, win_unlock_all, WIN_UNLOCK_ALL, ((WIN, win)))
TO_ALL(Win_flush_all, win_flush_all, WIN_FLUSH_ALL, ((WIN, win)))
TO_ALL(Win_flush_local_all, win_flush_local_all, WIN_FLUSH_LOCAL_ALL, ((WIN, win)))
TO_ALL(Win_sync, win_sync, WIN_SYNC, ((WIN, win)))
#define TARGET_PARAMS (INT, rank), (ADDRESS, place), (COUNT, target_count), (TYPE, target_type)
#define MOVE(Name, name, NAME, params, sent, received) \
	COUNTED(Name, name, NAME, RMA, (UNWRAP params, (WIN, win)), RMA(win, rank, sent, received)) \
	COUNTED(R##name, r##name, R##NAME, RMA, (UNWRAP params, (WIN, win), (NEWREQ, request)), \
	    RMA_START(win, rank, sent, received, request))
MOVE(Put, put, PUT, ((CBUF, buf), (COUNT, count), (TYPE, type), TARGET_PARAMS), bytes(count, type), 0)
MOVE(Get, get, GET, ((BUF, buf), (COUNT, count), (TYPE, type), TARGET_PARAMS), 0, bytes(count, type))
MOVE(Accumulate, accumulate, ACCUMULATE, ((CBUF, buf), (COUNT, count), (TYPE, type), TARGET_PARAMS,
    (OP, op)), bytes(count, type), 0)
MOVE(Get_accumulate, get_accumulate, GET_ACCUMULATE, ((CBUF, buf), (COUNT, count), (TYPE, type),
    (BUF, fetched), (COUNT, fetched_count), (TYPE, fetched_type), TARGET_PARAMS, (OP, op)),
    bytes(count, type), bytes(fetched_count, fetched_type))
CALL(Fetch_and_op, fetch_and_op, FETCH_AND_OP, RMA, ((CBUF, buf), (BUF, fetched), (TYPE, type),
    (INT, rank), (ADDRESS, place), (OP, op), (WIN, win)), RMA(win, rank, bytes(1, type), bytes(1, type)))
CALL(Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, RMA, ((CBUF, buf), (CBUF, expected),
    (BUF, fetched), (TYPE, type), (INT, rank), (ADDRESS, place), (WIN, win)),
    RMA(win, rank, 2 * bytes(1, type), bytes(1, type)))

/* Files: bytes_sent are written, bytes_received read. A file has a communicator of its own, too. */
CALL(File_open, file_open, FILE_OPEN, COMM_CREATE, ((COMM, comm), (STRING, name), (INT, mode),
    (INFO, info), (NEWFILE, made)), NEW_FILE(comm, made))
CALL(File_close, file_close, FILE_CLOSE, FILE, ((OLDFILE, file)), FREE_GROUP_OF(file))
#define OF_FILE(Name, name, NAME, params) CALL(Name, name, NAME, FILE, params, IO(file, 0, 0))
OF_FILE(File_set_size, file_set_size, FILE_SET_SIZE, ((FILE, file), (OFFSET, size)))
OF_FILE(File_preallocate, file_preallocate, FILE_PREALLOCATE, ((FILE, file), (OFFSET, size)))
OF_FILE(File_set_view, file_set_view, FILE_SET_VIEW, ((FILE, file), (OFFSET, place), (TYPE, etype),
    (TYPE, type), (STRING, representation), (INFO, info)))
OF_FILE(File_seek_shared, file_seek_shared, FILE_SEEK_SHARED, ((FILE, file), (OFFSET, place),
    (INT, whence)))
OF_FILE(File_sync, file_sync, FILE_SYNC, ((FILE, file)))
#define DATA_PARAMS (COUNT, count), (TYPE, type)
#define READ(suffix, SUFFIX, class, place) \
	COUNTED(File_read##suffix, file_read##suffix, FILE_READ##SUFFIX, class, ((FILE, file), UNWRAP place \
	    (BUF, buf), DATA_PARAMS, (STATUS, status)), IO(file, 0, moved(status)))
#define WRITE(suffix, SUFFIX, class, place) \
	COUNTED(File_write##suffix, file_write##suffix, FILE_WRITE##SUFFIX, class, ((FILE, file), UNWRAP place \
	    (CBUF, buf), DATA_PARAMS, (STATUS, status)), IO(file, moved(status), 0))
#define IREAD(suffix, SUFFIX, class, place) \
	COUNTED(File_iread##suffix, file_iread##suffix, FILE_IREAD##SUFFIX, class, ((FILE, file), UNWRAP place \
	    (BUF, buf), DATA_PARAMS, (NEWREQ, request)), IO_START(file, 0, bytes(count, type), request))
#define IWRITE(suffix, SUFFIX, class, place) \
	COUNTED(File_iwrite##suffix, file_iwrite##suffix, FILE_IWRITE##SUFFIX, class, ((FILE, file), \
	    UNWRAP place (CBUF, buf), DATA_PARAMS, (NEWREQ, request)), \
	    IO_START(file, bytes(count, type), 0, request))
#define SPLIT(suffix, SUFFIX, place) \
	COUNTED(File_read##suffix##_begin, file_read##suffix##_begin, FILE_READ##SUFFIX##_BEGIN, FILE, \
	    ((FILE, file), UNWRAP place (BUF, buf), DATA_PARAMS), IO(file, 0, 0)) \
	CALL(File_read##suffix##_end, file_read##suffix##_end, FILE_READ##SUFFIX##_END, FILE, \
	    ((FILE, file), (BUF, buf), (STATUS, status)), IO(file, 0, moved(status))) \
	COUNTED(File_write##suffix##_begin, file_write##suffix##_begin, FILE_WRITE##SUFFIX##_BEGIN, FILE, \
	    ((FILE, file), UNWRAP place (CBUF, buf), DATA_PARAMS), IO(file, 0, 0)) \
	CALL(File_write##suffix##_end, file_write##suffix##_end, FILE_WRITE##SUFFIX##_END, FILE, \
	    ((FILE, file), (CBUF, buf), (STATUS, status)), IO(file, moved(status), 0))
#define EVERY(what, together) \
	what(, , IO, ()) what(_shared, _SHARED, IO, ()) what(_all, _ALL, together, ()) \
	what(_at, _AT, IO, ((OFFSET, place),)) what(_at_all, _AT_ALL, together, ((OFFSET, place),))
EVERY(READ, FILE)
EVERY(WRITE, FILE)
EVERY(IREAD, FILE_START)
EVERY(IWRITE, FILE_START)
READ(_ordered, _ORDERED, FILE, ())
WRITE(_ordered, _ORDERED, FILE, ())
SPLIT(_all, _ALL, ())
SPLIT(_at_all, _AT_ALL, ((OFFSET, place),))
SPLIT(_ordered, _ORDERED, ())

/* Outside of MPI a thread waited for another one of its rank: lp-graph makes these rows. */
DERIVED(thread_wait, "thread_wait", THREAD_WAIT)
DERIVED(thread_signal, "thread_signal", THREAD_SIGNAL)

#undef COUNTED
#undef COUNTED_4
#undef PERSISTENT_COUNTED
#undef BLOCKING
#undef BOTH
#undef CALL
#undef SPECIAL
#undef LARGE
#undef CALL_4
#undef PERSISTENT
#undef DERIVED
#undef SEND_PARAMS
#undef ISEND
#undef PERSISTENT_SEND
#undef REDUCE_PARAMS
#undef NEW
#undef NEIGHBOUR
#undef PORT_PARAMS
#undef TO_RANK
#undef TO_ALL
#undef TARGET_PARAMS
#undef MOVE
#undef OF_FILE
#undef DATA_PARAMS
#undef READ
#undef WRITE
#undef IREAD
#undef IWRITE
#undef SPLIT
#undef EVERY
