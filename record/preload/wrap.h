/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How rows of call_table.h become wrappers: lists of parameters, and the notes after a call.
 * Wrappers of both languages name the caller's parameters p_NAME, and give the notes a view NAME of
 * each, in terms of C (c.c, fortran.c).
 */
#ifndef WRAP_H
#define WRAP_H

#include "notes.h"
#include "open_call.h"

#define EXPORT __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))
/* A second name for a function of this file. */
#define ALIAS(body) EXPORT __attribute__((alias(#body)))

#define UNWRAP(...) __VA_ARGS__
#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a##b
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
 * In each language, KIND_x(n) gives the parts of a parameter n of kind x: (1), (2), (3). KIND(i, x,
 * n) is one of them, without its parentheses.
 */
#define KIND(i, kind, name) CAT(KIND_, i)(KIND_##kind(name))
#define KIND_1(...) KIND_1_(__VA_ARGS__)
#define KIND_1_(a, b, c) UNWRAP a
#define KIND_2(...) KIND_2_(__VA_ARGS__)
#define KIND_2_(a, b, c) UNWRAP b
#define KIND_3(...) KIND_3_(__VA_ARGS__)
#define KIND_3_(a, b, c) UNWRAP c

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
	note_init(&at, comm, dest, tag, bytes(count, type), OF_SEND, request)
#define RECV(comm, status) note_receive(&at, comm, status)
#define MRECV(message, status) note_mreceive(&at, &message, status)
#define RECV_START(comm, source, tag, count, type, request) \
	note_receive_start(&at, comm, source, tag, bytes(count, type), request)
#define MRECV_START(message, count, type, request) \
	note_mreceive_start(&at, &message, bytes(count, type), request)
#define RECV_INIT(comm, source, tag, count, type, request) \
	note_init(&at, comm, source, tag, bytes(count, type), OF_RECEIVE, request)
#define SENDRECV(comm, dest, tag, count, type, status) \
	note_sendrecv(&at, comm, dest, tag, bytes(count, type), status)
#define SENDRECV_START(comm, dest, tag, sent, source, source_tag, room, request) \
	note_sendrecv_start(&at, comm, (struct envelope){ dest, tag, sent }, \
	    (struct envelope){ source, source_tag, room }, request)
#define PARTITIONED(comm, peer, tag, partitions, size, kind, request) \
	note_partitioned(&at, comm, \
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
	(note_local(&at, comm), note_group_communicator(comm, tag, made))
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
#define FREE_COMMUNICATOR(comm) note_group_free(&at, comm)
/* Windows and files are treated as a communicator of their own. */
#define NEW_WIN(comm, made) (note_local(&at, comm), note_new_win(comm, made))
#define NEW_FILE(comm, made) (note_local(&at, comm), note_new_file(comm, made))
#define FREE_GROUP_OF(group) note_group_free(&at, group)
#define GROUP_OF(group) note_collective(&at, group, NO_RANK, 0, 0)
#define EXPOSE(win, group) note_epoch(&at, win, &win->exposure, group)
#define ACCESS(win, group) note_epoch(&at, win, &win->access, group)
#define EXPOSE_END(done, win) note_epoch_end(&at, win, &win->exposure, done)
#define ACCESS_END(win) note_epoch_end(&at, win, &win->access, true)
#define LOCK(win, rank, type) note_lock(&at, win, rank, type == MPI_LOCK_EXCLUSIVE)
#define RMA(win, rank, sent, received) note_one_sided(&at, win, rank, sent, received)
#define RMA_START(win, rank, sent, received, request) \
	note_one_sided_start(&at, win, rank, sent, received, request)
#define IO(file, written, read) note_one_sided(&at, file, NO_RANK, written, read)
#define IO_START(file, written, read, request) \
	note_one_sided_start(&at, file, NO_RANK, written, read, request)
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
#define INIT(Name, own) \
	struct instant before; \
	const bool is_outer = init_enter(&before); \
	int result; \
	own; \
	if (is_outer) \
		init_leave(&before, result, NUMBER_##Name, __builtin_return_address(0))
#define FINALIZE(own) \
	struct finalizing finalizing; \
	const bool records = finalize_enter(&finalizing, __builtin_return_address(0), FRAME); \
	int result; \
	own; \
	if (records) \
		finalize_leave(&finalizing)
#define SESSION_INIT(own, session) \
	struct instant before; \
	const bool is_outer = session_enter(&before); \
	int result; \
	own; \
	if (is_outer) \
		session_leave(&before, result, session, __builtin_return_address(0))
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
