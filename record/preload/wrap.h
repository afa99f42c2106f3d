/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How rows of call_table.h become wrappers: lists of parameters, and the notes after a call.
 * Wrappers of both languages name the caller's parameters p_NAME, and give the notes a view NAME of
 * each, in terms of C (c.c, fortran.c).
 */
#ifndef WRAP_H
#define WRAP_H

#include "open_call.h"

#define EXPORT __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))
/* A second name for a function of this file. */
#define ALIAS(body) EXPORT __attribute__((alias(#body)))

#define UNWRAP(...) __VA_ARGS__
#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a##b
#define SECOND(first, second, ...) second
#define COUNT(...) COUNT_(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n

/* EACH(M, ((k1, n1), (k2, n2))) is M(k1, n1) M(k2, n2); LIST puts commas between them. */
#define APPLY(macro, ...) macro(__VA_ARGS__)
#define EACH(m, params) APPLY(CAT(EACH_, COUNT params), (), m, UNWRAP params)
#define LIST(m, params) APPLY(CAT(EACH_, COUNT params), (,), m, UNWRAP params)
#define EACH_1(between, m, a) m a
#define EACH_2(between, m, a, ...) m a UNWRAP between EACH_1(between, m, __VA_ARGS__)
#define EACH_3(between, m, a, ...) m a UNWRAP between EACH_2(between, m, __VA_ARGS__)
#define EACH_4(between, m, a, ...) m a UNWRAP between EACH_3(between, m, __VA_ARGS__)
#define EACH_5(between, m, a, ...) m a UNWRAP between EACH_4(between, m, __VA_ARGS__)
#define EACH_6(between, m, a, ...) m a UNWRAP between EACH_5(between, m, __VA_ARGS__)
#define EACH_7(between, m, a, ...) m a UNWRAP between EACH_6(between, m, __VA_ARGS__)
#define EACH_8(between, m, a, ...) m a UNWRAP between EACH_7(between, m, __VA_ARGS__)
#define EACH_9(between, m, a, ...) m a UNWRAP between EACH_8(between, m, __VA_ARGS__)
#define EACH_10(between, m, a, ...) m a UNWRAP between EACH_9(between, m, __VA_ARGS__)
#define EACH_11(between, m, a, ...) m a UNWRAP between EACH_10(between, m, __VA_ARGS__)
#define EACH_12(between, m, a, ...) m a UNWRAP between EACH_11(between, m, __VA_ARGS__)
#define EACH_13(between, m, a, ...) m a UNWRAP between EACH_12(between, m, __VA_ARGS__)

/*
 * KIND_x(n) gives the parts of a parameter n of kind x: (1) the parameter as in mpi.h; (2) before
 * the call, a view of the input or a substitute for an ignored status; (3) after the call, a view
 * of the output. KIND(i, x, n) is one of them, without its parentheses.
 *
 * Each language defines how it passes what (c.c, fortran.c):
 *
 *	GIVEN(type, n)		the value of an input
 *	STORED(type)		the type of a handle
 *	TO_C(kind, handle)	the handle in C
 *	BUFFER(n)		the address of a buffer
 *	TEXT_LENGTH(n)		of a string; SIZE_MAX: it ends with NUL
 *	FIRST_INDEX		of an array
 *	RETURN			leaves the wrapper
 *	KIND_STATUS, KIND_STATUSES
 */
#define KIND(i, kind, name) CAT(KIND_, i)(KIND_##kind(name))
#define KIND_1(...) KIND_1_(__VA_ARGS__)
#define KIND_1_(a, b, c) UNWRAP a
#define KIND_2(...) KIND_2_(__VA_ARGS__)
#define KIND_2_(a, b, c) UNWRAP b
#define KIND_3(...) KIND_3_(__VA_ARGS__)
#define KIND_3_(a, b, c) UNWRAP c
#define BEFORE(kind, name) KIND(2, kind, name)
#define AFTER(kind, name) KIND(3, kind, name)
#define HANDLE(kind, n) TO_C(kind, GIVEN(STORED(MPI_##kind), n))
#define HANDLE_AT(kind, n) TO_C(kind, *(STORED(MPI_##kind) *)p_##n)
#define VIEW(type, n, value) type n UNUSED = value;
#define VIEW_IN(type, n) VIEW(type, n, GIVEN(type, n))
#define VIEW_OUT(type, n) VIEW(type, n, *(type *)p_##n)
/* Without memory, recording has ended, and there is nothing to note. */
#define NEEDS(own) \
	if (own == NULL) { \
		end_call(&at); \
		RETURN; \
	}
#define KIND_BUF(n) (void *p_##n), (VIEW(const void *, n, BUFFER(n))), ()
#define KIND_CBUF(n) (const void *p_##n), (VIEW(const void *, n, BUFFER(n))), ()
#define KIND_INT(n) (int p_##n), (VIEW_IN(int, n)), ()
#define KIND_TYPE(n) (MPI_Datatype p_##n), \
	(VIEW(MPI_Datatype, n, TO_C(Type, GIVEN(STORED(MPI_Datatype), n)))), ()
#define KIND_COUNT(n) (COUNT_TYPE p_##n), (VIEW_IN(COUNT_TYPE, n)), ()
#define KIND_COUNTS(n) (const COUNT_TYPE p_##n[]), (VIEW(const COUNT_TYPE *, n, p_##n)), ()
#define KIND_DISPLS(n) (const DISPL_TYPE p_##n[]), (), ()
#define KIND_UNIT(n) (DISPL_TYPE p_##n), (), ()
#define KIND_OUTSIZE(n) (COUNT_TYPE *p_##n), (), ()
#define KIND_BIG(n) (MPI_Count p_##n), (VIEW_IN(MPI_Count, n)), ()
#define KIND_INTS(n) (partition_list p_##n), (), ()
#define KIND_ERRORS(n) (MPI_Errhandler p_##n), (), ()
#define KIND_OP(n) (MPI_Op p_##n), (), ()
#define KIND_COMM(n) (MPI_Comm p_##n), (VIEW(MPI_Comm, n, HANDLE(Comm, n))), ()
#define KIND_GROUP(n) (MPI_Group p_##n), (VIEW(MPI_Group, n, HANDLE(Group, n))), ()
#define KIND_WIN(n) (MPI_Win p_##n), (struct communicator *n = win_of(HANDLE(Win, n));), ()
#define KIND_NEWWIN(n) (MPI_Win *p_##n), (), (VIEW(MPI_Win, n, HANDLE_AT(Win, n)))
#define KIND_OLDWIN(n) (MPI_Win *p_##n), (struct communicator *n = win_of(HANDLE_AT(Win, n));), ()
#define KIND_FILE(n) (MPI_File p_##n), (struct communicator *n = file_of(HANDLE(File, n));), ()
#define KIND_NEWFILE(n) (MPI_File *p_##n), (), (VIEW(MPI_File, n, HANDLE_AT(File, n)))
#define KIND_OLDFILE(n) (MPI_File *p_##n), \
	(struct communicator *n = file_of(HANDLE_AT(File, n));), ()
#define KIND_ADDRESS(n) (MPI_Aint p_##n), (), ()
#define KIND_OFFSET(n) (MPI_Offset p_##n), (), ()
#define KIND_STRING(n) (const char *p_##n), \
	(VIEW(const char *, n, p_##n) VIEW(const size_t, n##_length, TEXT_LENGTH(n))), ()
#define KIND_STRINGS(n) (char *p_##n[]), (), ()
#define KIND_ARGUMENTS(n) (char *p_##n[]), (), ()
#define KIND_ARGUMENTS_EACH(n) (char **p_##n[]), (), ()
#define KIND_INFOS(n) (const MPI_Info p_##n[]), (), ()
#define KIND_OUTPUT(n) (int *p_##n), (), ()
#define KIND_CREQ(n) (MPI_Request p_##n), (VIEW(MPI_Request, n, HANDLE(Request, n))), ()
#define KIND_INFO(n) (MPI_Info p_##n), (), ()
#define KIND_CINTS(n) (const int p_##n[]), (VIEW(const int *, n, p_##n)), ()
#define KIND_ADDRESSES(n) (const MPI_Aint p_##n[]), (), ()
#define KIND_CTYPES(n) (const MPI_Datatype p_##n[]), \
	(VIEW(const STORED(MPI_Datatype) *, n, p_##n)), ()
#define KIND_NEWREQ(n) (MPI_Request *p_##n), (), (VIEW(MPI_Request, n, HANDLE_AT(Request, n)))
#define KIND_REQ(n) (MPI_Request *p_##n), (MPI_Request n##_before = HANDLE_AT(Request, n);), ()
#define KIND_REQS(n) (MPI_Request p_##n[]), \
	(MPI_Request *n##_before = own_requests(at.thread, count); \
	for (int i = 0; i < count && n##_before != NULL; i++) \
		n##_before[i] = TO_C(Request, ((STORED(MPI_Request) *)p_##n)[i]);), \
	(NEEDS(n##_before))
#define KIND_INDEX(n) (int *p_##n), (), \
	(VIEW(int, n, *(int *)p_##n == MPI_UNDEFINED ? MPI_UNDEFINED : *(int *)p_##n - FIRST_INDEX))
#define KIND_INDICES(n) (int p_##n[]), (), \
	(const int *n = p_##n; enum { n##_base = FIRST_INDEX };)
#define KIND_OUTCOUNT(n) (int *p_##n), (), (VIEW_OUT(int, n))
#define KIND_FLAG(n) (int *p_##n), (), (VIEW_OUT(int, n))
#define KIND_MESSAGE(n) (MPI_Message *p_##n), \
	(struct probed n = take_message(HANDLE_AT(Message, n));), ()
#define KIND_NEWMESSAGE(n) (MPI_Message *p_##n), (), (VIEW(MPI_Message, n, HANDLE_AT(Message, n)))
#define KIND_NEWCOMM(n) (MPI_Comm *p_##n), (), (VIEW(MPI_Comm, n, HANDLE_AT(Comm, n)))
#define KIND_OLDCOMM(n) (MPI_Comm *p_##n), \
	(struct communicator *n = communicator_of(HANDLE_AT(Comm, n));), ()

/* A call that is recorded, if it is to be: OWN is the library's, SUCCEEDED its result. */
#define RECORDED(Number, class, params, own, succeeded, record) \
	struct at at; \
	if (!enter_call(&at, NUMBER_##Number, __builtin_return_address(0))) { \
		own; \
		RETURN; \
	} \
	EACH(BEFORE, params) \
	OPEN_CALL(Number, CAT(CLASS_, class), params); \
	own; \
	leave_call(&at); \
	if (succeeded) { \
		EACH(AFTER, params) \
		record; \
	} else \
		note_error(&at); \
	end_call(&at); \
	RETURN

/* Defines a function of the sizes that several datatypes have. */
#define EACH_OF(name, count_type) \
	static uint64_t \
	name(const count_type *counts, int n, const STORED(MPI_Datatype) *types) \
	{ \
		uint64_t sum = 0; \
		for (int i = 0; i < n; i++) \
			sum += bytes_of(counts[i], TO_C(Type, types[i])); \
		return sum; \
	}

/* The notes, by their names in call_table.h. */
#define bytes(count, type) bytes_of(count, type)
#define sum_bytes(counts, n, type) \
	_Generic((counts), const int *: bytes_of_counts, const MPI_Count *: bytes_of_large_counts) \
	    (counts, n, type)
#define sum_bytes_w(counts, n, types) \
	_Generic((counts), const int *: bytes_of_each, const MPI_Count *: large_bytes_of_each) \
	    (counts, n, types)
#define ALONE note_alone(&at)
#define LOOKED(found, request) note_looked(&at, found, request)
#define SEND(comm, dest, tag, count, type) note_send(&at, comm, dest, tag, bytes(count, type))
#define SEND_START(comm, dest, tag, count, type, request) \
	note_send_start(&at, comm, dest, tag, bytes(count, type), request)
#define SEND_INIT(comm, dest, tag, count, type, request) \
	note_init(&at, communicator_of(comm), (struct envelope){ dest, tag, bytes(count, type) }, \
	    0, OF_SEND, request)
#define RECV(comm, status) note_receive(&at, comm, status)
#define MRECV(message, status) note_mreceive(&at, &message, status)
#define RECV_START(comm, source, tag, count, type, request) \
	note_receive_start(&at, comm, source, tag, bytes(count, type), request)
#define MRECV_START(message, count, type, request) \
	note_mreceive_start(&at, &message, bytes(count, type), request)
#define RECV_INIT(comm, source, tag, count, type, request) \
	note_init(&at, communicator_of(comm), \
	    (struct envelope){ source, tag, bytes(count, type) }, 0, OF_RECEIVE, request)
#define SENDRECV(comm, dest, tag, count, type, status) \
	note_sendrecv(&at, comm, dest, tag, bytes(count, type), status)
#define SENDRECV_START(comm, dest, tag, sent, source, source_tag, room, request) \
	note_sendrecv_start(&at, comm, (struct envelope){ dest, tag, sent }, \
	    (struct envelope){ source, source_tag, room }, request)
#define PARTITIONED(comm, peer, tag, partitions, size, kind, request) \
	note_init(&at, partitions_of(comm), \
	    (struct envelope){ peer, tag, (uint64_t)(partitions) * (size) }, \
	    partitions, kind, request)
#define READY(request, partitions, last) note_ready(&at, request, partitions, NUMBER_##last)
#define START(count, requests) note_start(&at, count, requests)
#define COMPLETE_ALL(count, before, statuses) note_complete_all(&at, count, before, statuses)
#define COMPLETE_ONE(done, before, index, status) \
	note_complete_one(&at, done, before, index, status)
#define COMPLETE_SOME(before, count, indices, statuses) \
	note_complete_some(&at, before, count, indices, indices##_base, statuses)
#define CANCEL(request) note_cancel(&at, request)
#define REQUEST_FREE(request) note_request_free(&at, request)
#define PROBE(found, comm, source, tag, status) note_probe(&at, found, comm, source, tag, status)
#define MPROBE(found, comm, source, tag, message, status) \
	note_mprobe(&at, found, comm, source, tag, message, status)
#define NEW_COMMUNICATOR(comm, made) (note_local(&at, comm), note_new_communicator(comm, made))
#define NEW_FROM_GROUP(comm, tag, made) \
	(note_group_communicator(comm, tag, made), note_made(&at, made))
#define IDUP(comm, made, request) note_idup(&at, comm, made, request)
#define SPAWN(comm, root, made) \
	note_with_others(&at, comm, root, \
	    (struct meeting){ "spawn", port_of_root(comm, root), 0 }, made)
#define MEET(how, comm, root, port, made) \
	note_with_others(&at, comm, root, (struct meeting){ #how, \
	    root == communicator_of(comm)->rank ? port_of_name(port, port##_length) : 0, 0 }, made)
#define JOIN(fd, made) \
	note_with_others(&at, MPI_COMM_SELF, -1, \
	    (struct meeting){ "join", port_of_socket(fd), 0 }, made)
#define PARENT(made) (note_local(&at, MPI_COMM_NULL), note_parent(made))
#define FREE_COMMUNICATOR(comm) FREE_GROUP_OF(comm)
/* Windows and files are treated as a communicator of their own. */
#define NEW_WIN(comm, made) (note_local(&at, comm), note_new_win(comm, made))
#define NEW_FILE(comm, made) (note_local(&at, comm), note_new_file(comm, made))
#define GROUP_OF(group) note_collective(&at, group, NO_RANK, 0, 0)
#define FREE_GROUP_OF(group) (GROUP_OF(group), forget_communicator(group))
#define EXPOSE(win, group) note_epoch(&at, win, &win->exposure, group)
#define ACCESS(win, group) note_epoch(&at, win, &win->access, group)
#define EXPOSE_END(done, win) note_epoch_end(&at, win, &win->exposure, done)
#define ACCESS_END(win) note_epoch_end(&at, win, &win->access, true)
#define LOCK(win, rank, type) note_lock(&at, win, rank, type == MPI_LOCK_EXCLUSIVE)
#define UNLESS_NULL(rank, size) ((rank) == MPI_PROC_NULL ? 0 : (uint64_t)(size))
#define RMA(win, rank, sent, received) \
	note_collective(&at, win, rank, UNLESS_NULL(rank, sent), UNLESS_NULL(rank, received))
#define RMA_START(win, rank, sent, received, request) \
	note_collective_start(&at, win, rank, UNLESS_NULL(rank, sent), \
	    UNLESS_NULL(rank, received), request)
#define IO(file, written, read) note_collective(&at, file, NO_RANK, written, read)
#define IO_START(file, written, read, request) \
	note_collective_start(&at, file, NO_RANK, written, read, request)
#define moved(status) moved_bytes(status)

/* Sizes of a collective, in terms of its communicator c and its parameters. */
#define PEERS (c->peers)
#define EACH_PEER (uint64_t)c->peers
#define SOURCES (int)c->sources
#define EACH_SOURCE (uint64_t)c->sources
#define TARGETS (int)c->targets
#define EACH_TARGET (uint64_t)c->targets
#define MEMBERS (c->size)
#define ME (c->rank)
/*
 * In an intercommunicator the root is a rank of the other group, except at the root itself. An
 * argument that is not significant at a rank may hold anything and must not be read.
 */
#define IS_ROOT (root == MPI_ROOT || (!c->inter && root == c->rank))
#define AT_ROOT(value) (IS_ROOT ? (value) : 0)
#define NOT_NULL_ROOT(value) (root == MPI_PROC_NULL || root == MPI_ROOT ? 0 : (value))
#define NOT_AT_ROOT(value) (IS_ROOT ? 0 : NOT_NULL_ROOT(value))
#define OF(buffer, value, in_place) ((buffer) == MPI_IN_PLACE ? (in_place) : (value))
#define COLLECTIVE(comm, root, sent, received) do { \
		const struct communicator *c = communicator_of(comm); \
		note_collective(&at, c, root, (uint64_t)(sent), (uint64_t)(received)); \
		if (options.sync_every_ns > 0 && c->number == 1) \
			clock_sync_again(); \
	} while (0)
#define COLLECTIVE_INIT(comm, root, sent, received, request, start) do { \
		const struct communicator *c = communicator_of(comm); \
		note_collective_init(&at, c, root, (uint64_t)(sent), (uint64_t)(received), \
		    request, NUMBER_##start); \
	} while (0)
#define COLLECTIVE_START(comm, root, sent, received, request) do { \
		const struct communicator *c = communicator_of(comm); \
		note_collective_start(&at, c, root, (uint64_t)(sent), (uint64_t)(received), \
		    request); \
	} while (0)

/* OWN is the library's call, which sets RESULT. */
#define BEGINNING(call, own, leave) \
	struct instant before; \
	const bool is_outer = init_enter(&before, call); \
	int result; \
	own; \
	if (is_outer) \
		leave
#define INIT(Name, own) \
	BEGINNING(NUMBER_##Name, own, init_leave(&before, result, NUMBER_##Name, \
	    __builtin_return_address(0)))
#define SESSION_INIT(own, session) \
	BEGINNING(NUMBER_Session_init, own, session_leave(&before, result, session, \
	    __builtin_return_address(0)))
#define FINALIZE(own) \
	struct finalizing finalizing; \
	const bool records = finalize_enter(&finalizing, __builtin_return_address(0), FRAME); \
	int result; \
	own; \
	if (records) \
		finalize_leave(&finalizing)
#define SESSION_FINALIZE(own, session) \
	const MPI_Session ended = session; \
	struct at at; \
	const bool records = enter_call(&at, NUMBER_Session_finalize, \
	    __builtin_return_address(0)); \
	int result; \
	if (records) \
		open_store(&at, CLASS_LOCAL, &(struct opening)NO_OPENING); \
	own; \
	session_ended(records ? &at : NULL, result, ended)

#endif
