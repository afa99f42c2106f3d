/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads sides, and finds what they share. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guidelines.h"

/* Streams of mpiruns; an empty one stands for an mpirun that had nothing to confirm. */
static int
is_run(const struct dirent *e)
{
	size_t length = strlen(e->d_name);

	return e->d_name[0] != '.' && length > 4 && strcmp(e->d_name + length - 4, ".run") == 0;
}

static struct campaign
read_folder(const char *folder)
{
	struct dirent **found;
	int count = scandir(folder, &found, is_run, alphasort);
	char **files;
	size_t kept = 0;

	if (count < 0)
		die("%s: %s", folder, strerror(errno));
	files = zalloc((size_t)count + 1, sizeof *files);
	for (int i = 0; i < count; i++) {
		char *path = formatted("%s/%s", folder, found[i]->d_name);
		struct stat status;

		if (stat(path, &status) != 0 || status.st_size > 0)
			files[kept++] = path;
		free(found[i]);
	}
	free(found);
	if (kept == 0)
		die("%s: contains no campaign: no files *.run", folder);
	return read_campaign(files, kept);
}

static bool
differ(const struct sides *s, enum setting_text what)
{
	for (size_t i = 1; i < s->count; i++)
		if (strcmp(s->at[i].c.setting.text[what], s->at[0].c.setting.text[what]) != 0)
			return true;
	return false;
}

/* A side's name: its folder; library, ranks, hosts, type and lp-mend as far as they differ. */
static void
name_side(const struct sides *s, struct side *side)
{
	const struct setting *set = &side->c.setting;
	char text[400];
	bool ranks = false;
	size_t length = strlen(side->folder);

	for (size_t i = 1; i < s->count; i++)
		ranks |= s->at[i].c.setting.ranks != s->at[0].c.setting.ranks;
	while (length > 1 && side->folder[length - 1] == '/')
		length--;
	snprintf(text, sizeof text, "%.*s", (int)length, side->folder);
#define ADD(...) snprintf(text + strlen(text), sizeof text - strlen(text), __VA_ARGS__)
	if (differ(s, LIBRARY))
		ADD(", %.100s", set->text[LIBRARY][0] != '\0' ? set->text[LIBRARY] :
		    "unknown library");
	if (ranks)
		ADD(", %" PRId64 " ranks", set->ranks);
	if (differ(s, HOSTS))
		ADD(", on %.60s", set->text[HOSTS]);
	if (differ(s, TYPE))
		ADD(", %.20s", set->text[TYPE]);
	if (differ(s, MENDED))
		ADD(", %s", set->text[MENDED][0] != '\0' ? "mended" : "as it is");
	visible_copy(side->name, sizeof side->name, text);
}

ORDER(by_kind, struct row, BY(kind) BY_TEXT(guideline))
FOLD(fold_rows, struct row, by_kind, )

static void
collect_rows(struct sides *s)
{
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < s->at[i].v.count; k++) {
			const struct judgement *j = &s->at[i].v.at[k];

			*APPEND(s->rows, s->row_count, s->row_capacity) = (struct row){
			    .kind = j->kind, .guideline = j->guideline };
		}
	s->row_count = fold_rows(s->rows, s->row_count);
	/* the sizes at which any side has the guideline */
	for (struct row *row = s->rows; row < s->rows + s->row_count; row++)
		for (size_t i = 0; i < s->count; i++)
			for (size_t k = 0; k < s->at[i].v.count; k++) {
				const struct judgement *j = &s->at[i].v.at[k];

				if (strcmp(j->guideline, row->guideline) != 0)
					continue;
				add_size(&row->sizes, &row->count, &row->capacity, j->bytes);
				row->news |= j->violated;
			}
}

struct sides
read_sides(char **folders, size_t count, const struct rules_of_judging *rules)
{
	struct sides s = { .at = zalloc(count, sizeof *s.at), .count = count };

	for (size_t i = 0; i < count; i++) {
		struct stat status;

		s.at[i].folder = folders[i];
		s.at[i].c = stat(folders[i], &status) == 0 && S_ISDIR(status.st_mode) ?
		    read_folder(folders[i]) : read_campaign(&folders[i], 1);
		s.at[i].v = judge(&s.at[i].c, rules);
		if (s.at[i].v.control_failed)
			note("%s: the A/A control failed: do not trust its verdict", folders[i]);
	}
	for (size_t i = 0; i < count; i++)
		name_side(&s, &s.at[i]);
	collect_rows(&s);
	return s;
}

const struct judgement *
find_judgement(const struct side *side, const char *guideline, uint64_t bytes)
{
	const struct judgement *found = NULL;

	for (const struct judgement *j = side->v.at; j < side->v.at + side->v.count; j++) {
		if (j->function->bytes == bytes && strcmp(j->guideline, guideline) == 0 &&
		    (found == NULL || (j->violated && !found->violated) ||
		    (j->violated == found->violated && j->ratio > found->ratio)))
			found = j;
	}
	return found;
}
