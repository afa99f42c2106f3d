/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of frames, for the formats that show them. */
#include <stdlib.h>

#include "../../base/tool/text.h"
#include "export.h"

size_t
site_frames(const struct definitions *known, uint32_t site, uint32_t frames[PLACES])
{
	const struct site *s;
	size_t count;

	if (site == 0 || site >= known->site_count)
		return 0;
	s = &known->sites[site];
	if (s->stack == NULL) {
		frames[0] = site;
		return 1;
	}
	count = s->depth < PLACES ? s->depth : PLACES;
	for (size_t i = 0; i < count; i++)
		frames[i] = s->stack[count - 1 - i];
	return count;
}

void
frames_text(const struct definitions *known, uint32_t site, const char *separator, char *text, size_t size)
{
	uint32_t frames[PLACES];
	size_t count = site_frames(known, site, frames), used = 0;
	char one[256], shown[256];

	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		visible_copy(shown, sizeof shown, site_text(known, frames[i], one, sizeof one));
		for (char *c = shown; *c != '\0'; c++)
			if (*c == ';')
				*c = ':';	/* it divides frames where stacks are folded */
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? separator : "", shown);
	}
}
