/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans a rank's definitions: communicators and their neighbours, modules, call sites. */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "scan.h"

enum { STRANGERS = 1 << 16 };	/* members of a communicator that are in no trace, at most */

int
scan_communicator(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	const int64_t most = (int64_t)scan->input->rank_count + STRANGERS;
	const struct membership *from;
	struct membership new = { 0 };

	if (own_number(scan, message, "comm", 3, &new.comm) < 0 ||
	    (body_get(message, "from") != NULL && own_number(scan, message, "from", 3,
	    &new.from) < 0) || body_int(scan->in, message, "size", 1, most, &new.size) < 0 ||
	    body_int_if(scan->in, message, "remote_size", 1, most, &new.remote_size) < 0 ||
	    membership_read(&new, scan->in, message) < 0)
		return -1;
	from = membership_from(rank->comms, rank->comm_count, &new);
	new.name = from != NULL ? mix(from->name, new.id) : new.id;
	*APPEND(rank->comms, rank->comm_count, rank->comm_capacity) = new;
	return 0;
}

int
scan_neighbours(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;

	return neighbours_read(rank->comm_count > 0 ? &rank->comms[rank->comm_count - 1] : NULL,
	    scan->in, message);
}

/* Ranks of one program share their modules. */
static uint32_t
module_number(struct input *input, const struct module *module)
{
	for (size_t i = 0; i < input->module_count; i++)
		if (module_is(&input->modules[i], module)) {
			free(module->path);
			free(module->function);
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
