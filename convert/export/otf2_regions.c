/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of the archive: functions, with their meaning in OTF2, and places in the program. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "otf2.h"

/* ---- functions ---- */

/* The function's part of a name selects the collective: allreduce in MPI_Iallreduce_c. */
static int
collective_of(const char *name)
{
#define OPS(X) X(BARRIER) X(BCAST) X(GATHER) X(GATHERV) X(SCATTER) X(SCATTERV) X(ALLGATHER) \
	X(ALLGATHERV) X(ALLTOALL) X(ALLTOALLV) X(ALLTOALLW) X(ALLREDUCE) X(REDUCE) \
	X(REDUCE_SCATTER) X(REDUCE_SCATTER_BLOCK) X(SCAN) X(EXSCAN)
#define OP(name) { #name, OTF2_COLLECTIVE_OP_##name },
	static const struct { const char *name; OTF2_CollectiveOp op; } ops[] = {
		OPS(OP) { "WIN_FENCE", OTF2_COLLECTIVE_OP_BARRIER },
		{ "WIN_FREE", OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE },
	};
	char word[64];
	size_t length;

	name += strncmp(name, "MPI_Start(", 10) == 0 ? 10 : strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(name, ")"), name);
	length = strlen(word);
	if (length > 2 && strcasecmp(word + length - 2, "_c") == 0)
		word[length - 2] = '\0';
	for (int skip = 0; skip <= (toupper(word[0]) == 'I' ? 1 : 0); skip++)
		for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
			if (strcasecmp(word + skip, ops[i].name) == 0)
				return (int)ops[i].op;
	return -1;
}

static bool
begins(const char *name, const char *with)
{
	return strncasecmp(name, with, strlen(with)) == 0;
}

static void
mean_one_sided(struct meaning *m, uint16_t call)
{
	const char *what = call_name(call) + strlen("MPI_");

	m->starts = call_starts(call);
	what += m->starts;
	if (call_one_sided(call) == LOCKS)
		m->event = EVENT_RmaAcquireLock;
	else if (call_one_sided(call) == UNLOCKS)
		m->event = EVENT_RmaReleaseLock;
	else if (begins(what, "put"))
		m->event = EVENT_RmaPut;
	else if (begins(what, "get_accumulate") || begins(what, "fetch_and_op")) {
		m->event = EVENT_RmaAtomic;
		m->atomic = OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
	} else if (begins(what, "accumulate") || begins(what, "compare_and_swap")) {
		m->event = EVENT_RmaAtomic;
		m->atomic = what[0] == 'a' || what[0] == 'A' ? OTF2_RMA_ATOMIC_TYPE_ACCUMULATE :
		    OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
	} else if (begins(what, "get"))
		m->event = EVENT_RmaGet;
}

static void
mean_io(struct meaning *m, const char *name)
{
	m->starts = begins(name, "MPI_File_i");
	m->mode = begins(name, "MPI_File_write") || begins(name, "MPI_File_iwrite") ?
	    OTF2_IO_OPERATION_MODE_WRITE : OTF2_IO_OPERATION_MODE_READ;
	if (strcmp(name, "MPI_File_close") == 0)
		m->event = EVENT_IoDestroyHandle;
	else if (m->mode == OTF2_IO_OPERATION_MODE_WRITE || begins(name, "MPI_File_read") ||
	    begins(name, "MPI_File_iread"))
		m->event = EVENT_IoOperationBegin;
	m->io_collective = strstr(name, "_all") != NULL || strstr(name, "_ordered") != NULL;
}

struct meaning *
meaning_of(struct archive *a, uint16_t call)
{
	struct meaning *m = &a->meanings[call];
	const char *name = call_name(call);
	const enum call_class class = call_class(call);

	if (m->known)
		return m;
	*m = (struct meaning){ .known = true, .region = NONE, .collective = -1 };
	/* scout fails on it */
	if (blocking_class(class) == CLASS_COMM_CREATE)
		m->collective = a->scout ? -1 : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
	else if (is_collective(class))
		m->collective = collective_of(name);
	if (class == CLASS_RMA)
		mean_one_sided(m, call);
	if (class == CLASS_IO || class == CLASS_FILE || class == CLASS_FILE_START)
		mean_io(m, name);
	m->frees = strcmp(name, "MPI_Comm_free") == 0 || strcmp(name, "MPI_Comm_disconnect") == 0;
	return m;
}

/* ---- regions ---- */

static OTF2_RegionRole
role_of(enum call_class class)
{
	if (class == CLASS_DISCONNECT)
		return OTF2_REGION_ROLE_FUNCTION;
	switch (blocking_class(class)) {
	case CLASS_SEND: case CLASS_RECV: case CLASS_SENDRECV: case CLASS_SEND_START:
	case CLASS_RECV_START:
	case CLASS_START: case CLASS_COMPLETE: case CLASS_PROBE:
		return OTF2_REGION_ROLE_POINT2POINT;
	case CLASS_IO: case CLASS_FILE: return OTF2_REGION_ROLE_FILE_IO;
	case CLASS_RMA: case CLASS_POST: case CLASS_ACCESS: case CLASS_ACCESS_END:
	case CLASS_EXPOSE_END:
		return OTF2_REGION_ROLE_RMA;
	case CLASS_BARRIER: return OTF2_REGION_ROLE_BARRIER;
	case CLASS_ALL_TO_ALL: return OTF2_REGION_ROLE_COLL_ALL2ALL;
	case CLASS_ONE_TO_ALL: return OTF2_REGION_ROLE_COLL_ONE2ALL;
	case CLASS_ALL_TO_ONE: return OTF2_REGION_ROLE_COLL_ALL2ONE;
	case CLASS_SCAN: case CLASS_NEIGHBOUR: return OTF2_REGION_ROLE_COLL_OTHER;
	default: return OTF2_REGION_ROLE_FUNCTION;
	}
}

uint32_t
region_of_call(struct archive *a, uint16_t call)
{
	struct meaning *m = meaning_of(a, call);
	const char *name = call_name(call);
	const bool mpi = strncmp(name, "MPI_", 4) == 0;
	uint32_t text, what;

	if (m->region != NONE)
		return m->region;
	text = define_string(a, name);
	what = define_string(a, OTF2_CALL);
	m->region = a->regions++;
	DEFINE(Region, m->region, text, text, what, role_of(call_class(call)),
	    mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
	    /* scout recognises MPI by that file name */
	    mpi ? define_string(a, "MPI") : a->empty, 0, 0);
	return m->region;
}

/* The description of a place that lp-import reads back, line by line. */
static uint32_t
place_description(struct archive *a, const struct site *site)
{
	const char *module = (size_t)site->module < a->known->module_count ?
	    a->known->modules[site->module].path : NULL;
	char *text, *more;
	uint32_t id;

	text = formatted(OTF2_PLACE "\n%llu\n%s\n%s", (unsigned long long)site->offset,
	    module != NULL ? module : "", site->call != NULL ? site->call : "");
	for (size_t i = 0; i < site->inlined_count; i++, text = more) {
		more = formatted("%s\n%s\n%s\n%d", text, site->inlined[i].function,
		    site->inlined[i].file != NULL ? site->inlined[i].file : "",
		    (int)site->inlined[i].line);
		free(text);
	}
	id = define_string(a, text);
	free(text);
	return id;
}

/* A place is displayed by function and line; its canonical name is the function alone. */
uint32_t
region_of_place(struct archive *a, uint32_t number)
{
	struct definitions *known = a->known;
	const struct site *site = &known->sites[number];
	const char *text, *shown;
	char visible[256];
	uint32_t name, function, what, file;

	if (*AT(a->site_regions, a->site_capacity, number) != 0)
		return a->site_regions[number] - 1;
	text = site_text(known, number);
	shown = strstr(text, " at ");
	visible_copy(visible, sizeof visible,
	    shown != NULL && site->call != NULL ? shown + 4 : text);
	name = define_string(a, visible);
	function = define_string(a, site->function);
	what = place_description(a, site);
	file = define_string(a, site->file);
	a->site_regions[number] = ++a->regions;
	DEFINE(Region, a->regions - 1, name, function, what, OTF2_REGION_ROLE_FUNCTION,
	    OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE, file, (uint32_t)site->line,
	    (uint32_t)site->line);
	return a->regions - 1;
}

uint32_t
region_off_core(struct archive *a, enum off_reason reason)
{
	uint32_t name, what;

	if (a->off_regions[reason] == 0) {
		name = define_string(a, off_names[reason]);
		what = define_string(a, OTF2_OFF_CORE);
		a->off_regions[reason] = ++a->regions;
		DEFINE(Region, a->regions - 1, name, name, what, OTF2_REGION_ROLE_ARTIFICIAL,
		    OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, a->empty, 0, 0);
	}
	return a->off_regions[reason] - 1;
}

uint32_t
region_of_user(struct archive *a, uint32_t number)
{
	const struct definitions *known = a->known;
	uint32_t name;

	if (number >= known->region_count || known->regions[number] == NULL)
		die("region %u has no name", number);
	if (*AT(a->named_regions, a->named_capacity, number) == 0) {
		name = define_string(a, known->regions[number]);
		a->named_regions[number] = ++a->regions;
		DEFINE(Region, a->regions - 1, name, name, a->empty, OTF2_REGION_ROLE_CODE,
		    OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, a->empty, 0, 0);
	}
	return a->named_regions[number] - 1;
}
