/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of MPI functions, each written before the first row that has its number. */
#include <stdio.h>

#include "file.h"
#include "small.h"

_Atomic bool named[2 * NUMBER_COUNT];

static const char *const names[] = {
	"part",
#define CALL(Name, ...) "MPI_" #Name,
#define SPECIAL(Name, ...) "MPI_" #Name,
#define LARGE(Name, ...) "MPI_" #Name "_c",
#define DERIVED(number, name, class) name,
#include "../../base/mpi/call_table.h"
};

static void
put_name(uint16_t call)
{
	char error[80];

	if (named[call])
		return;
	if (call >= NUMBER_ERROR) {
		put_name(call - NUMBER_ERROR);		/* sites use this number */
		snprintf(error, sizeof error, "%s(error)", names[call - NUMBER_ERROR]);
	}
	small_write("call", PAIRS(
	    pair_uint("number", call),
	    pair_text("name", call >= NUMBER_ERROR ? error : names[call])));
	named[call] = true;		/* now rows of other threads may have it, too */
}

void
name_call(uint16_t call)
{
	pthread_mutex_lock(&raw.lock);
	put_name(call);
	pthread_mutex_unlock(&raw.lock);
}
