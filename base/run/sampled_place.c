/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampled_place.h"
#include "../tool/file_name.h"

#include <stdio.h>
#include <string.h>

/* What recording takes between calls is told as that, whichever function of the recorder it is. */
static bool
is_recorder(const struct definitions *known, const struct site *s)
{
	static const char library[] = "liblongpole-record";
	const char *path = s->module < known->module_count ? known->modules[s->module] : NULL;

	return path != NULL && strncmp(file_name(path), library, sizeof library - 1) == 0;
}

bool
place_has_lines(const struct definitions *known, uint32_t site)
{
	const struct site *s = site > 0 && site < known->site_count ? &known->sites[site] : NULL;

	return s != NULL && s->function != NULL && !is_recorder(known, s);
}

const char *
place_name(const struct definitions *known, uint32_t site, char *text, size_t size)
{
	const struct site *s = site < known->site_count ? &known->sites[site] : NULL;

	if (site == 0 || s == NULL)
		return "(unknown)";
	if (is_recorder(known, s))
		return "(lp-record)";
	if (s->function != NULL)
		return s->function;
	if (s->module < known->module_count && known->modules[s->module] != NULL)
		snprintf(text, size, "[%s]", file_name(known->modules[s->module]));
	else
		snprintf(text, size, "(no module)");
	return text;
}
