/* SPDX-License-Identifier: BSD-3-Clause */
#include "headline.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../tool/hash_table.h"
#include "../tool/memory.h"
#include "../tool/tool.h"

/* Ranks may alternate between many hosts, so a linear search for each rank would be too slow. */
struct host_slot {
	const char *name;	/* NULL: free */
	size_t host;
};

HASH_TABLE_OF_TEXT(host_table, struct host_slot, name)

/* Adds a host unless it is known; returns its number. */
static size_t
add_host(struct headline *h, char *name)
{
	struct host_slot slot = { name, h->host_count }, *found;

	if (h->by_name == NULL) {
		h->by_name = zalloc(1, sizeof *h->by_name);
		host_table_begin(h->by_name, 16);
	}
	found = host_table_add(h->by_name, &slot);
	if (found->host < h->host_count) {
		free(name);
	} else {
		*APPEND(h->hosts, h->host_count, h->host_capacity) = (struct host){ name, 0 };
	}
	h->hosts[found->host].ranks++;
	return found->host;
}

void
headline_rank(struct headline *h, const struct message *message)
{
	const msgpack_object *rank = body_get(message, "rank");
	char *host = body_string(message, "host");
	const msgpack_object *error = body_get(message, "error_ns");
	size_t number;

	if (h->ranks_told++ == 0)
		h->clock_error_ns = -1;
	h->ranks_died += body_get(message, "ended") != NULL && !body_true(message, "ended");
	if (error != NULL && error->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
	    (h->clock_error_ns < 0 || error->via.u64 > (uint64_t)h->clock_error_ns) &&
	    error->via.u64 <= INT64_MAX)
		h->clock_error_ns = (int64_t)error->via.u64;
	if (h->program == NULL)
		h->program = body_string(message, "program");
	if (host == NULL || host[0] == '\0') {
		free(host);
		return;
	}
	number = add_host(h, host);
	if (rank == NULL || rank->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    rank->via.u64 >= (uint64_t)h->ranks)
		return;
	if (h->host_of == NULL)
		h->host_of = zalloc((size_t)h->ranks, sizeof *h->host_of);
	h->host_of[rank->via.u64] = (uint32_t)number + 1;
}

size_t
headline_host(const struct headline *h, int32_t rank)
{
	const bool known = rank >= 0 && h->host_of != NULL && h->host_of[rank] > 0;

	return known ? h->host_of[rank] - 1 : SIZE_MAX;
}

bool
variable_read(struct variable *v, const struct message *message)
{
	*v = (struct variable){ body_string(message, "name"), body_string(message, "value") };
	if (v->name != NULL && v->value != NULL)
		return true;
	free(v->name);
	free(v->value);
	return false;
}

int
variable_write(struct writer *out, const struct variable *v)
{
	message_begin(out, "environment", 2);
	put_string(out, "name", v->name);
	put_string(out, "value", v->value);
	return message_end(out);
}

void
headline_environment(struct headline *h, const struct message *message)
{
	struct variable v;

	if (!variable_read(&v, message))
		return;
	*APPEND(h->environment, h->variable_count, h->variable_capacity) = v;
}

static const char *
program_name(const struct headline *h)
{
	const char *slash = h->program != NULL ? strrchr(h->program, '/') : NULL;

	if (h->program == NULL || h->program[0] == '\0')
		return "a run";
	return slash != NULL && slash[1] != '\0' ? slash + 1 : h->program;
}

char *
headline_text(const struct headline *h)
{
	const char *program = program_name(h);
	const char *host = h->host_count == 1 ? h->hosts[0].name : "";
	const char *unended = h->unended != NULL ? h->unended : "";
	const size_t size = strlen(program) + strlen(host) + strlen(unended) + 120;
	char *text = zalloc(size, 1), hosts[40] = "", date[40] = "";
	const time_t date_s = (time_t)h->date_s;
	struct tm utc;

	if (h->host_count > 1)
		snprintf(hosts, sizeof hosts, "%zu hosts", h->host_count);
	if (date_s > 0 && gmtime_r(&date_s, &utc) != NULL)
		strftime(date, sizeof date, ", %Y-%m-%d %H:%M UTC", &utc);
	snprintf(text, size, "%s, %d rank%s%s%s%s%s%s%s", program, (int)h->ranks,
	    h->ranks == 1 ? "" : "s", h->host_count > 0 ? " on " : "", host, hosts, date,
	    unended[0] != '\0' ? ", " : "", unended);
	return text;
}
