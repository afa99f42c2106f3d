/* SPDX-License-Identifier: BSD-3-Clause */
/* Quotes words for a shell: every POSIX shell reads them back unchanged. */
#ifndef SHELL_H
#define SHELL_H

#include <string.h>

/* The bytes of a quoted word of LENGTH bytes, at most, and its NUL. */
#define SHELL_WORD_BYTES(length) (4 * (length) + 3)

/* Appends the word at END, in single quotes if it needs them; returns the new end. */
static inline char *
shell_word(char *end, const char *word)
{
	if (*word != '\0' && strpbrk(word, " \t\n\v\f\r\"'$\\`*?[]{}()<>|&;#~!^") == NULL)
		return stpcpy(end, word);
	*end++ = '\'';
	for (; *word != '\0'; word++)
		if (*word == '\'')
			end = stpcpy(end, "'\\''");
		else
			*end++ = *word;
	return stpcpy(end, "'");
}

#endif
