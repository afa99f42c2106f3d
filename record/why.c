/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a program was not recorded: its file shows it, or leaves only one reason. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "record.h"

/* Kinds of executable files. */
enum kind { NO_PROGRAM, STATIC, PRIVILEGED, WITHOUT_MPI, WITH_MPI };

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* The ELF header, or NULL if the file is not a 64-bit executable of this machine. */
static const Elf64_Ehdr *
header_of(const struct image *image)
{
	const Elf64_Ehdr *head = (const void *)image->bytes;

	return image->size >= sizeof *head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	    head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr) &&
	    head->e_phoff <= image->size &&
	    head->e_phnum <= (image->size - head->e_phoff) / sizeof(Elf64_Phdr) ? head : NULL;
}

/* Whether the file contains the text, terminated by NUL, as names of libraries are. */
static bool
names(const struct image *image, const char *library)
{
	const unsigned char *at = image->bytes;
	const size_t length = strlen(library);

	while ((at = memmem(at, image->size - (size_t)(at - image->bytes), library,
	    length)) != NULL) {
		if (at > image->bytes && at[-1] == '\0')
			return true;
		at++;
	}
	return false;
}

static enum kind
kind_of(const struct image *image, mode_t mode)
{
	static const char *const libraries[] = { "libmpi.so.", "libmpich.so.", "libmpi_" };
	const Elf64_Ehdr *head = header_of(image);
	const Elf64_Phdr *parts;
	bool dynamic = false;

	if (head == NULL)
		return NO_PROGRAM;
	parts = (const void *)(image->bytes + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++)
		dynamic |= parts[i].p_type == PT_INTERP;
	if (!dynamic)
		return STATIC;
	if ((mode & (S_ISUID | S_ISGID)) != 0)
		return PRIVILEGED;
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
		if (names(image, libraries[i]))
			return WITH_MPI;
	return WITHOUT_MPI;
}

static enum kind
kind_of_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum kind kind = NO_PROGRAM;
	struct image image;
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		image.size = (size_t)status.st_size;
		image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image.bytes != MAP_FAILED) {
			kind = kind_of(&image, status.st_mode);
			munmap((void *)(uintptr_t)image.bytes, image.size);
		}
	}
	if (fd >= 0)
		close(fd);
	return kind;
}

/* Finds the file as a shell would. */
static enum kind
kind_of_word(const char *word)
{
	const char *folders = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(word, '/') != NULL || folders == NULL)
		return access(word, X_OK) == 0 ? kind_of_file(word) : NO_PROGRAM;
	for (size_t length; *folders != '\0'; folders += length + (folders[length] == ':')) {
		length = strcspn(folders, ":");
		snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, word);
		if (access(path, X_OK) == 0)
			return kind_of_file(path);
	}
	return NO_PROGRAM;
}

void
say_why(char **command, bool began)
{
	static const char *const why[] = {
		[STATIC] = "it is linked statically: only a dynamically linked program can "
		    "be recorded",
		[PRIVILEGED] = "it runs with another user's rights: the system preloads "
		    "nothing into it",
		[WITHOUT_MPI] = "it is not linked to MPI, and nothing that it started called "
		    "MPI_Init with LD_PRELOAD and LONGPOLE_DIR in its environment",
		[WITH_MPI] = "it did not get through MPI_Init, or was started without LD_PRELOAD "
		    "and LONGPOLE_DIR in its environment",
	};
	const char *word = command[0];
	enum kind kind = NO_PROGRAM;

	/* After a launcher, the program is the last word that can be executed. */
	for (int i = 0; command[i] != NULL; i++) {
		enum kind this = kind_of_word(command[i]);

		if (this != NO_PROGRAM && (kind != WITH_MPI || this == WITH_MPI)) {
			kind = this;
			word = command[i];
		}
	}
	if (began) {
		note("%s: no rank was recorded: none has left MPI_Init", word);
		return;
	}
	if (kind == NO_PROGRAM)
		kind = WITHOUT_MPI;
	note("%s: no rank was recorded: %s", word, why[kind]);
}
