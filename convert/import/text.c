/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text; zlib reads what is not compressed as it is. */
#include "import.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
text_open(struct text *text, const char *file)
{
	bool standard = file == NULL || strcmp(file, "-") == 0;

	memset(text, 0, sizeof *text);
	text->name = standard ? "standard input" : file;
	text->file = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(file, "rb");
	if (text->file == NULL)
		die("%s: cannot be opened", text->name);
	gzbuffer(text->file, 1 << 17);
}

bool
text_next(struct text *text)
{
	size_t used = 0;

	text->offset = text->next;
	for (;;) {
		text->line = grow(text->line, &text->capacity, used + 4096, 1);
		if (gzgets(text->file, text->line + used, (int)(text->capacity - used)) == NULL)
			break;
		used += strlen(text->line + used);
		if (used > 0 && text->line[used - 1] == '\n')
			break;
	}
	if (used == 0) {
		int error;
		const char *what = gzerror(text->file, &error);

		if (error != Z_OK && error != Z_STREAM_END)
			die("%s:%llu: %s", text->name, (unsigned long long)text->offset,
			    *what != '\0' ? what : "cannot be read");
		return false;
	}
	text->next += used;
	text->number++;
	while (used > 0 && (text->line[used - 1] == '\n' || text->line[used - 1] == '\r'))
		text->line[--used] = '\0';
	return true;
}

void
text_close(struct text *text)
{
	gzclose(text->file);
	free(text->line);
}

void
die_text(const struct text *text, const char *what)
{
	die("%s:%llu: %s", text->name, (unsigned long long)text->offset, what);
}

int64_t
text_integer(const struct text *text, char **at, int64_t min, int64_t max)
{
	char *p = *at;
	bool negative = *p == '-';
	int64_t value = 0;

	p += negative;
	if (*p < '0' || *p > '9')
		die_text(text, "a number is missing");
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value))
			die_text(text, "a number is out of range");
	value = negative ? -value : value;
	if (value < min || value > max)
		die_text(text, "a number is out of range");
	*at = *p == ':' || *p == ',' ? p + 1 : p;
	return value;
}
