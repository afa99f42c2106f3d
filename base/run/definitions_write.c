/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions as messages, for tools that make a trace; call sites as text. */
#include <stdio.h>
#include <string.h>

#include "../tool/text.h"
#include "../tool/tool.h"
#include "definitions.h"

void
location_write(struct writer *out, uint32_t location, int32_t rank, uint32_t thread)
{
	message_begin(out, "location", 3);
	put_uint(out, "location", location);
	put_int(out, "rank", rank);
	put_uint(out, "thread", thread);
	end_message(out);
}

void
communicator_write(struct writer *out, uint32_t number, const struct communicator *c,
    const char *type)
{
	message_begin(out, "communicator",
	    3u + (c->remote != NULL ? 2 : 0) + (type != NULL ? 1 : 0));
	put_uint(out, "comm", number);
	put_int(out, "size", c->size);
	put_column(out, "members", c->members, (size_t)c->size);
	if (c->remote != NULL) {
		put_int(out, "remote_size", c->remote_size);
		put_column(out, "remote", c->remote, (size_t)c->remote_size);
	}
	if (type != NULL)
		put_string(out, "type", type);
	end_message(out);
}

void
neighbours_write(struct writer *out, uint32_t comm, int32_t member, const struct neighbours *of)
{
	message_begin(out, "neighbours", 4);
	put_uint(out, "comm", comm);
	put_int(out, "member", member);
	put_uint(out, "count", of->count);
	put_column(out, "sources", of->sources, of->count);
	end_message(out);
}

static void
begin_array(struct writer *out, const char *key, size_t count)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_array(&out->pack, count);
}

static void
put_inlined(struct writer *out, const struct inlined *inlined, size_t count)
{
	begin_array(out, "inlined_into", count);
	for (size_t i = 0; i < count; i++)
		msgpack_pack_str_with_body(&out->pack, inlined[i].function,
		    strlen(inlined[i].function));
	begin_array(out, "inlined_files", count);
	for (size_t i = 0; i < count; i++) {
		const char *file = inlined[i].file != NULL ? inlined[i].file : "";

		msgpack_pack_str_with_body(&out->pack, file, strlen(file));
	}
	begin_array(out, "inlined_lines", count);
	for (size_t i = 0; i < count; i++)
		msgpack_pack_int64(&out->pack, inlined[i].line);
}

void
site_write(struct writer *out, size_t number, const struct site *s)
{
	const bool module = s->module != UINT32_MAX;

	if (s->stack != NULL) {
		message_begin(out, "site", 3);
		put_uint(out, "site", number);
		put_uint(out, "count", s->depth);
		put_column(out, "stack", s->stack, s->depth);
		end_message(out);
		return;
	}
	message_begin(out, "site", 2u + (s->call != NULL) + module + (s->function != NULL) +
	    2u * (s->file != NULL) + 3u * (s->inlined_count > 0));
	put_uint(out, "site", number);
	if (s->call != NULL)
		put_string(out, "call", s->call);
	put_uint(out, "offset", s->offset);
	if (module)
		put_uint(out, "module", s->module);
	if (s->function != NULL)
		put_string(out, "function", s->function);
	if (s->file != NULL) {
		put_string(out, "file", s->file);
		put_int(out, "line", s->line);
	}
	if (s->inlined_count > 0)
		put_inlined(out, s->inlined, s->inlined_count);
	end_message(out);
}

/* ---- text ---- */

enum { LONGEST = 1024 };

static void
place_text(const struct definitions *d, const struct site *s, char *text)
{
	const bool has_module = s->module < d->module_count && d->modules[s->module].path != NULL;
	char offset[300];		/* "module+0xoffset", or the offset alone */
	int used = 0;

	snprintf(offset, sizeof offset, "%s%s0x%llx", has_module ?
	    file_name(d->modules[s->module].path) : "", has_module ? "+" : "",
	    (unsigned long long)s->offset);
	if (s->call != NULL)
		used = snprintf(text, LONGEST, "%.40s at ", s->call);
	if (s->function == NULL) {
		snprintf(text + used, LONGEST - (size_t)used, "%s", offset);
		return;
	}
	/* C++ has whole signatures; their beginning is enough. */
	used += snprintf(text + used, LONGEST - (size_t)used,
	    strlen(s->function) > 64 ? "%.61s..." : "%s", s->function);
	if (s->file != NULL)
		snprintf(text + used, LONGEST - (size_t)used, " (%s:%d)", file_name(s->file),
		    (int)s->line);
	else	/* distinguishes two calls in one function */
		snprintf(text + used, LONGEST - (size_t)used, " (%s)", offset);
}

const char *
site_text(const struct definitions *definitions, uint32_t site)
{
	struct site *s = defined_site(definitions, site);
	char text[LONGEST] = "";
	size_t used = 0;

	if (s == NULL)
		return "";
	if (s->text == NULL) {
		if (s->stack == NULL)
			place_text(definitions, s, text);
		/* The place of the call, then the caller of its function, and so on. */
		for (uint32_t i = 0; i < s->depth && used + 5 < LONGEST; i++)
			used += (size_t)snprintf(text + used, LONGEST - used, "%s%s",
			    i > 0 ? " < " : "", site_text(definitions, s->stack[i]));
		s->text = need(strdup(text));
	}
	return s->text;
}
