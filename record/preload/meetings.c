/* SPDX-License-Identifier: BSD-3-Clause */
/* How two MPI_COMM_WORLDs met: both sides name the port in the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../base/tool/hash_table.h"
#include "clock.h"
#include "communicators.h"
#include "groups.h"
#include "recorder.h"

/* A name that both sides know; never 0, which stands for none. */
static uint64_t
hash_bytes(const void *bytes, size_t length)
{
	uint64_t hash = 1;

	for (size_t i = 0; i < length; i++)
		hash = mix(hash, ((const unsigned char *)bytes)[i]);
	return hash | 1;
}

uint64_t
port_of_name(const char *name, size_t length)
{
	size_t end = strnlen(name, length);

	while (end > 0 && name[end - 1] == ' ')		/* Fortran pads with blanks */
		end--;
	return hash_bytes(name, end);
}

/*
 * Open MPI 4 gives a spawned process the job number of its parents, and which of them was the root.
 */
uint64_t
port_of_root(MPI_Comm comm, int root)
{
	const char *job = getenv("PMIX_NAMESPACE");
	MPI_Group world = world_group(), group;
	char name[64];
	int rank = -1;

	PMPI_Comm_group(comm, &group);
	if (world != MPI_GROUP_NULL) {
		PMPI_Group_translate_ranks(group, 1, &root, world, &rank);
		PMPI_Group_free(&world);
	}
	PMPI_Group_free(&group);
	if (job == NULL || rank < 0 || job[strspn(job, "0123456789")] != '\0')
		return 0;
	return port_of_name(name, (size_t)snprintf(name, sizeof name, "%.40s.%d", job, rank));
}

static uint64_t
port_of_parent(void)
{
	const char *port = getenv("OMPI_PARENT_PORT");

	return port != NULL ? port_of_name(port, strcspn(port, ":")) : 0;
}

/* Hash of the addresses of both ends. */
uint64_t
port_of_socket(int fd)
{
	struct sockaddr_storage own = { 0 }, other = { 0 };
	socklen_t own_size = sizeof own, other_size = sizeof other;

	if (getsockname(fd, (struct sockaddr *)&own, &own_size) != 0 || own.ss_family == AF_UNIX ||
	    getpeername(fd, (struct sockaddr *)&other, &other_size) != 0)
		return 0;
	return (hash_bytes(&own, own_size) + hash_bytes(&other, other_size)) | 1;
}

void
note_parent(MPI_Comm parent)
{
	if (parent != MPI_COMM_NULL && communicator_of(parent)->number == 0)
		note_meeting((struct meeting){ "parent", port_of_parent(), clock_ns() }, parent);
}
