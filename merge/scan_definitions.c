/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans a rank's definitions: communicators and their neighbours, modules, call sites. */
#include <stdlib.h>
#include <string.h>

#include "scan.h"

enum { STRANGERS = 1 << 16 };	/* members of a communicator that are in no trace, at most */

int
scan_communicator(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct reader *in = scan->in;
	const int64_t most = (int64_t)scan->input->rank_count + STRANGERS;
	struct membership new = { .remote_size = -1 };
	int64_t size;

	if (own_number(scan, message, "comm", 3, &new.comm) < 0 ||
	    body_int(in, message, "size", 1, most, &size) < 0 ||
	    body_int(in, message, "rank", 0, size - 1, &new.rank) < 0 ||
	    body_uint(in, message, "id", &new.id) < 0 ||
	    (body_get(message, "from") != NULL && own_number(scan, message, "from", 3,
	    &new.from) < 0) || (body_get(message, "met") != NULL &&
	    (body_uint(in, message, "port", &new.port) < 0 ||
	    body_int(in, message, "at_ns", -LATEST_NS, LATEST_NS, &new.at_ns) < 0)) ||
	    (body_get(message, "remote_size") != NULL &&
	    (body_int(in, message, "remote_size", 1, most, &new.remote_size) < 0 ||
	    body_int(in, message, "side", 0, 1, &new.side) < 0)))
		return -1;
	new.size = (int32_t)size;
	new.type = body_string(message, "type");
	if (new.remote_size > 0)
		new.met = body_string(message, "met");
	new.name = communicator_name(rank, &new);
	*APPEND(rank->comms, rank->comm_count, rank->comm_capacity) = new;
	return 0;
}

int
scan_neighbours(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct membership *comm = rank->comm_count > 0 ? &rank->comms[rank->comm_count - 1] : NULL;
	uint32_t number = 0;
	size_t count;

	if (own_number(scan, message, "comm", 3, &number) < 0 ||
	    body_count(scan->in, message, "count", 0, 1 << 24, "sources", &count) < 0)
		return -1;
	if (comm == NULL || comm->comm != number || comm->sources != NULL)
		return reader_fail(scan->in, message->offset,
		    "neighbours: not behind its communicator");
	comm->sources = zalloc(count + 1, sizeof *comm->sources);
	comm->source_count = (uint32_t)count;
	return body_column(scan->in, message, "sources", count, comm->sources);
}

/* Ranks of one program share their modules. */
static uint32_t
module_number(struct input *input, const struct module *module)
{
	for (size_t i = 0; i < input->module_count; i++)
		if (module_is(&input->modules[i], module)) {
			free(module->path);
			return (uint32_t)i;
		}
	*APPEND(input->modules, input->module_count, input->module_capacity) = *module;
	return (uint32_t)input->module_count - 1;
}

int
scan_module(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct module module;
	uint64_t base, bytes;

	if (body_uint(scan->in, message, "base", &base) < 0 ||
	    body_uint(scan->in, message, "bytes", &bytes) < 0)
		return -1;
	if (module_read(&module, message))
		*APPEND(rank->modules, rank->module_count, rank->module_capacity) =
		    (struct raw_module){ base, bytes, module_number(scan->input, &module) };
	return 0;
}

int
scan_site(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct raw_site site = { .modules = rank->module_count };
	size_t depth;

	if (own_number(scan, message, "site", 1, &site.site) < 0 ||
	    body_int_if(scan->in, message, "call", 0, UINT16_MAX, &site.call) < 0)
		return -1;
	site.futex = body_true(message, "futex");
	if (body_get(message, "stack") != NULL) {
		if (body_count(scan->in, message, "count", 1, 1 << 16, "stack", &depth) < 0)
			return -1;
		site.stack = zalloc(depth, sizeof *site.stack);
		site.depth = (uint32_t)depth;
		if (body_column(scan->in, message, "stack", depth, site.stack) < 0)
			return -1;
	} else if (body_uint(scan->in, message, "address", &site.address) < 0)
		return -1;
	*APPEND(rank->sites, rank->site_count, rank->site_capacity) = site;
	return 0;
}
