/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of places in the ranks' programs. */
#include <stdlib.h>
#include <string.h>

#include "../tool/text.h"
#include "../tool/tool.h"
#include "look.h"

struct site
look_place(const struct look *look, const struct rank *rank, uint64_t address)
{
	size_t m = rank->module_count;
	struct symbols *symbols = NULL;
	uint64_t offset = 0;

	/* The last that was loaded at the address. */
	while (m > 0 &&
	    (offset = address - rank->modules[m - 1].base) >= rank->modules[m - 1].bytes)
		m--;
	if (m > 0 && look->names_of != NULL)
		symbols = symbols_of(look->names_of, &rank->modules[m - 1].module);
	return symbols != NULL ? *symbols_find(symbols, offset) : (struct site){ 0 };
}

char *
place_text(const struct site *place)
{
	if (place->file == NULL)
		return place->function != NULL ? need(strdup(place->function)) : NULL;
	return formatted("%s %s:%d", place->function != NULL ? place->function : "?",
	    file_name(place->file), (int)place->line);
}
