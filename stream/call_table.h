/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one table of MPI functions: CALL(Name, name, NAME, CLASS, ...). Include it with CALL defined.
 * The order is of no importance to streams, which carry names.
 */
CALL(Init, init, INIT, INIT, )
CALL(Init_thread, init_thread, INIT_THREAD, INIT, )
CALL(Finalize, finalize, FINALIZE, FINALIZE, )
