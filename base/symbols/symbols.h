/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions, files and lines of places in recorded programs, from elfutils' libdw. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <elfutils/libdwfl.h>

#include "../run/definitions.h"

/* A file that ranks had in memory. */
struct module {
	char *path, *function;		/* FUNCTION: it is all that is in it, one of a script */
	unsigned char build_id[64];
	uint32_t build_id_size;		/* 0: unknown */
};

/* From a message of kind module of a raw trace; false: it has no path. */
bool module_read(struct module *module, const struct message *message);
bool module_is(const struct module *a, const struct module *b);

struct symbols;
/* NULL: the module is not known any more. */
struct symbols *symbols_open(const struct module *module);
void symbols_close(struct symbols *symbols);
/*
 * The site at the offset, with function, file, line and inlined functions as far as they are known.
 * They stay until the next call.
 */
const struct site *symbols_find(struct symbols *symbols, uint64_t offset);

/* "function file:line", "function", or NULL: unknown; of FILE only the name. Free it. */
char *place_text(const struct site *place);

/* Many modules, each opened once. Begins as zeros. */
struct symbol_files {
	struct symbol_file *at;
	size_t count, capacity;
};
struct symbols *symbols_of(struct symbol_files *files, const struct module *module);
void symbol_files_close(struct symbol_files *files);

/* ---- for code that uses libdw itself ---- */

/* As symbols_find, of an instruction. */
void module_find(Dwfl_Module *module, GElf_Addr address, struct site *site);
void site_forget(struct site *site);	/* frees what was found */

#endif
