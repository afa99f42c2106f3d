/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI functions that the program uses and this recorder does not record, reported once at the end.
 * They are not intercepted for that: the names are imports of the loaded modules.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fnmatch.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "recorder.h"

/* Patterns of functions that exchange nothing with other ranks and complete nothing. */
static const char *const no_row[] = {
#define NEEDS_NO_ROW(pattern, why) pattern,
#include "../../base/mpi/no_row.h"
#undef NEEDS_NO_ROW
};

/* Modules of MPI and of recorders: their calls are not the program's. */
static const char *const not_the_program[] = {
	"libmpi", "libpmpi", "libopen-", "liblongpole-record", "libpmi", "libucp", "libuct",
	"libucs",
	"mca_", "libfabric",
};

/* Where this library begins and ends, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
    _end[] __attribute__((visibility("hidden")));

static struct {
	char names[400];	/* as reported */
	size_t size;
	unsigned count;
	void *own;		/* handle of this library */
} found;

/* The C name of a symbol; mpi_send_, mpi_send_f08ts_ and MPI_Send give MPI_SEND. */
static void
c_name(const char *symbol, char *name, size_t size)
{
	static const char *const tails[] = { "_f08ts_large_", "_f08_large_", "_c_f08ts_",
	    "_c_f08_", "_f08ts_", "_f08_", "_" };
	size_t length;

	snprintf(name, size, "%s", symbol);
	if (strncmp(name, "mpi", 3) != 0)
		return;
	length = strlen(name);
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		const size_t tail = strlen(tails[i]);

		if (length > tail && strcmp(name + length - tail, tails[i]) == 0) {
			name[length - tail] = '\0';
			return;
		}
	}
}

static void
look_at_symbol(const char *symbol)
{
	char name[200], told[202];
	const char *address;

	/* Names in capitals are constants. */
	if (strncmp(symbol, "MPI", 3) == 0 && strpbrk(symbol, "abcdefghijklmnopqrstuvwxyz") == NULL)
		return;
	if (strncasecmp(symbol, "mpi_", 4) != 0 && strncasecmp(symbol, "mpix_", 5) != 0)
		return;
	address = found.own != NULL ? dlsym(found.own, symbol) : NULL;
	if (address >= __ehdr_start && address < _end)
		return;			/* it is recorded */
	c_name(symbol, name, sizeof name);
	for (size_t i = 0; i < sizeof no_row / sizeof no_row[0]; i++)
		if (fnmatch(no_row[i], name, FNM_CASEFOLD) == 0)
			return;
	snprintf(told, sizeof told, " %s", name);
	if (strstr(found.names, told) != NULL)
		return;
	found.count++;
	if (found.size + strlen(told) + 2 < sizeof found.names)
		found.size += (size_t)sprintf(found.names + found.size, "%s%s",
		    found.size > 0 ? "," : "", told);
}

struct symbols {
	const ElfW(Sym) *table;
	const char *strings;
	const ElfW(Rela) *relocations[2];
	size_t bytes[2];		/* of these */
};

/* The symbol of a relocation, as each has that the code uses; NULL: there are fewer relocations. */
static const ElfW(Sym) *
used_symbol(const struct symbols *symbols, size_t i)
{
	const ElfW(Rela) *relocation = &symbols->relocations[0][i];
	const size_t first = symbols->bytes[0] / sizeof *relocation;

	if (i >= first)
		relocation = &symbols->relocations[1][i - first];
	return i < first + symbols->bytes[1] / sizeof *relocation ?
	    &symbols->table[ELF64_R_SYM(relocation->r_info)] : NULL;
}

/*
 * mpicxx compiles the tables of MPI's C++ classes into every module. Of their imports only
 * MPI_Grequest_complete is not recorded. A program that really uses it calls MPI_Grequest_start,
 * which is reported.
 */
static bool
has_classes(const struct symbols *symbols)
{
	const ElfW(Sym) *symbol;

	for (size_t i = 0; (symbol = used_symbol(symbols, i)) != NULL; i++)
		if (strncmp(symbols->strings + symbol->st_name, "_ZN3MPI", 7) == 0)
			return true;
	return false;
}

static int
look_at_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *base = basename(info->dlpi_name);
	struct symbols symbols = { 0 };
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Sym) *symbol;

	(void)size;
	(void)unused;
	for (size_t i = 0; i < sizeof not_the_program / sizeof not_the_program[0]; i++)
		if (strncmp(base, not_the_program[i], strlen(not_the_program[i])) == 0)
			return 0;
	if (strncmp(base, "linux-vdso", 10) == 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
		switch (dynamic->d_tag) {
		case DT_SYMTAB: symbols.table = (const void *)dynamic->d_un.d_ptr; break;
		case DT_STRTAB: symbols.strings = (const void *)dynamic->d_un.d_ptr; break;
		case DT_RELA: symbols.relocations[0] = (const void *)dynamic->d_un.d_ptr; break;
		case DT_RELASZ: symbols.bytes[0] = dynamic->d_un.d_val; break;
		case DT_JMPREL: symbols.relocations[1] = (const void *)dynamic->d_un.d_ptr; break;
		case DT_PLTRELSZ: symbols.bytes[1] = dynamic->d_un.d_val; break;
		}
	if (symbols.table == NULL || symbols.strings == NULL)
		return 0;
	for (size_t i = 0; (symbol = used_symbol(&symbols, i)) != NULL; i++) {
		const char *name = symbols.strings + symbol->st_name;

		if (symbol->st_shndx == SHN_UNDEF && (*name == 'M' || *name == 'm') &&
		    (strcmp(name, "MPI_Grequest_complete") != 0 || !has_classes(&symbols)))
			look_at_symbol(name);
	}
	return 0;
}

void
say_unrecorded(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	char line[600];
	Dl_info own;

	if (atomic_flag_test_and_set(&told) || dladdr(&found, &own) == 0)
		return;
	found.own = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	dl_iterate_phdr(look_at_module, NULL);
	if (found.own != NULL)
		dlclose(found.own);
	if (found.count == 0)
		return;
	snprintf(line, sizeof line, "the program uses %u MPI function%s that %s not recorded:%s%s",
	    found.count, found.count == 1 ? "" : "s", found.count == 1 ? "is" : "are", found.names,
	    found.size + 200 > sizeof found.names ? ", ..." : "");
	say(line);
}
