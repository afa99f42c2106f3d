/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard ABI of MPI 5.0 in C: its types, its constants, which rules.mk makes of base/mpi/abi,
 * and the functions that the recorder calls by itself. It declares those that it wraps by
 * call_table.h. The ABI has no conversion of handles to Fortran's.
 */
#ifndef MPI_STANDARD_ABI
#define MPI_STANDARD_ABI 1

#include <stdint.h>

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef MPI_Offset MPI_Count;
typedef struct {
	int MPI_SOURCE, MPI_TAG, MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

#include "values.h"

/* The program's name of a function, and the tools'. */
#define BOTH(function, ...) int MPI_##function(__VA_ARGS__); int PMPI_##function(__VA_ARGS__)
BOTH(Abort, MPI_Comm, int);
BOTH(Allgather, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
BOTH(Allreduce, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
BOTH(Bcast, void *, int, MPI_Datatype, int, MPI_Comm);
BOTH(Cart_shift, MPI_Comm, int, int, int *, int *);
BOTH(Cartdim_get, MPI_Comm, int *);
BOTH(Comm_create_group, MPI_Comm, MPI_Group, int, MPI_Comm *);
BOTH(Comm_get_parent, MPI_Comm *);
BOTH(Comm_group, MPI_Comm, MPI_Group *);
BOTH(Comm_rank, MPI_Comm, int *);
BOTH(Comm_remote_group, MPI_Comm, MPI_Group *);
BOTH(Comm_remote_size, MPI_Comm, int *);
BOTH(Comm_size, MPI_Comm, int *);
BOTH(Comm_test_inter, MPI_Comm, int *);
BOTH(Dist_graph_neighbors, MPI_Comm, int, int[], int[], int, int[], int[]);
BOTH(Dist_graph_neighbors_count, MPI_Comm, int *, int *, int *);
BOTH(Finalize, void);
BOTH(Get_count_c, const MPI_Status *, MPI_Datatype, MPI_Count *);
BOTH(Get_library_version, char *, int *);
BOTH(Graph_neighbors, MPI_Comm, int, int, int[]);
BOTH(Graph_neighbors_count, MPI_Comm, int, int *);
BOTH(Group_free, MPI_Group *);
BOTH(Group_from_session_pset, MPI_Session, const char *, MPI_Group *);
BOTH(Group_incl, MPI_Group, int, const int[], MPI_Group *);
BOTH(Group_rank, MPI_Group, int *);
BOTH(Group_size, MPI_Group, int *);
BOTH(Group_translate_ranks, MPI_Group, int, const int[], MPI_Group, int[]);
BOTH(Init, int *, char ***);
BOTH(Init_thread, int *, char ***, int, int *);
BOTH(Isend, const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
BOTH(Pcontrol, const int, ...);
BOTH(Query_thread, int *);
BOTH(Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
BOTH(Send, const void *, int, MPI_Datatype, int, int, MPI_Comm);
BOTH(Session_finalize, MPI_Session *);
BOTH(Session_init, MPI_Info, MPI_Errhandler, MPI_Session *);
BOTH(Test_cancelled, const MPI_Status *, int *);
BOTH(Topo_test, MPI_Comm, int *);
BOTH(Type_size, MPI_Datatype, int *);
BOTH(Type_size_x, MPI_Datatype, MPI_Count *);
BOTH(Wait, MPI_Request *, MPI_Status *);
BOTH(Win_get_group, MPI_Win, MPI_Group *);
#undef BOTH

#endif
