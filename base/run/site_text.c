/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites as text. */
#include <stdio.h>
#include <string.h>

#include "definitions.h"
#include "../tool/text.h"

/* The place of the call, then the caller of its function, and so on. */
static void
stack_text(const struct definitions *definitions, const struct site *s, char *text, size_t size)
{
	size_t used = strlen(site_text(definitions, s->stack[0], text, size));

	for (uint32_t i = 1; i < s->depth && used + 5 < size; i++) {
		used += (size_t)snprintf(text + used, size - used, " < ");
		used += strlen(site_text(definitions, s->stack[i], text + used, size - used));
	}
}

/* "module+0xoffset", or the offset alone. */
static void
offset_text(const struct definitions *d, const struct site *s, char *text, size_t size)
{
	if (s->module < d->module_count && d->modules[s->module] != NULL)
		snprintf(text, size, "%s+0x%llx", file_name(d->modules[s->module]),
		    (unsigned long long)s->offset);
	else
		snprintf(text, size, "0x%llx", (unsigned long long)s->offset);
}

const char *
site_text(const struct definitions *definitions, uint32_t site, char *text, size_t size)
{
	const struct site *s;
	char offset[300];
	int used = 0;

	text[0] = '\0';
	if (site == 0 || site >= definitions->site_count)
		return text;
	s = &definitions->sites[site];
	if (s->stack != NULL) {
		stack_text(definitions, s, text, size);
		return text;
	}
	offset_text(definitions, s, offset, sizeof offset);
	if (s->call != NULL)
		used = snprintf(text, size, "%.40s at ", s->call);
	if ((size_t)used >= size)
		return text;
	if (s->function == NULL)
		snprintf(text + used, size - (size_t)used, "%s", offset);
	else {
		/* C++ has whole signatures; their beginning is enough. */
		used += snprintf(text + used, size - (size_t)used,
		    strlen(s->function) > 64 ? "%.61s..." : "%s", s->function);
		if (s->file != NULL && (size_t)used < size)
			snprintf(text + used, size - (size_t)used, " (%s:%d)", file_name(s->file),
			    (int)s->line);
		else if ((size_t)used < size)	/* distinguishes two calls in one function */
			snprintf(text + used, size - (size_t)used, " (%s)", offset);
	}
	return text;
}
