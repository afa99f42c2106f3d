/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites as text. */
#include <stdio.h>
#include <string.h>

#include "definitions.h"
#include "../tool/memory.h"
#include "../tool/text.h"

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
	struct site *s = site < definitions->site_count ? &definitions->sites[site] : NULL;
	char text[LONGEST] = "";
	size_t used = 0;

	if (site == 0 || s == NULL)
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
