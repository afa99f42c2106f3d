/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path as stacks of calls, for flame graphs: folded lines, or a profile of speedscope. */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/json.h"
#include "export.h"

static const char *const leaves[KINDS + 1] = { "computation", "MPI", "transfer", "start of the process", "unknown" };

static const char *
leaf(const struct segment *s)
{
	return s->kind == 1 && s->call > 0 ? call_name(s->call) : leaves[s->kind];
}

/* All pieces of the path of a stream, to TAKE. */
static void
read_path(const struct export *export, struct definitions *known,
    void (*take)(void *context, const struct segment *), void *context)
{
	struct segments segments = { 0 };
	struct message message;
	struct reader *in;
	bool any = false;
	struct progress progress = { 0 };

	if (reader_open(&in, export->files[0], READ_STREAM) < 0 ||
	    reader_refuse_content(in, "trace", "lp-graph and lp-critpath come first") < 0 ||
	    reader_refuse_content(in, "graph", "lp-critpath finds its path") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message)) {
		if (definitions_take(known, in, &message) < 0)
			die_input(in);
		if (!is_kind(&message, "segments"))
			continue;
		segments.count = 0;
		if (segments_read(&segments, in, &message, known) < 0)
			die_input(in);
		for (size_t i = 0; i < segments.count; i++)
			take(context, &segments.at[i]);
		any = true;
	}
	if (!any)
		die("the stream has no critical path");
	free(segments.at);
	reader_close(in);
}

/* ---- folded ---- */

struct fold {
	uint32_t site, kind, call;
	uint64_t ns;
	bool used;
	char *text;
};
#define HASH(f) mix((uint64_t)(f)->site << 32 | (f)->call, (f)->kind)
#define SAME(a, b) ((a)->site == (b)->site && (a)->kind == (b)->kind && (a)->call == (b)->call)
#define FREE(f) (!(f)->used)
#define MAKE_FREE(f) (*(f) = (struct fold){ 0 })
HASH_TABLE(folds, struct fold, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

static void
fold(void *context, const struct segment *s)
{
	const struct fold key = { .site = s->site, .kind = s->kind, .call = s->kind == 1 ? s->call : 0,
	    .used = true };

	folds_add(context, &key)->ns += (uint64_t)(s->end_ns - s->begin_ns);
}

static int
by_text(const void *left, const void *right)
{
	return strcmp(((const struct fold *)left)->text, ((const struct fold *)right)->text);
}

void
export_folded(const struct export *export)
{
	static struct definitions known;
	static struct text text;
	struct folds folds;
	struct fold *all;
	size_t count = 0;
	char stack[4096], name[128];

	folds_begin(&folds, 64);
	read_path(export, &known, fold, &folds);
	all = zalloc(folds.count, sizeof *all);
	for (size_t i = 0; i < folds.size; i++) {
		const struct fold *f = &folds.slots[i];
		const struct segment as = { .kind = (uint8_t)f->kind, .call = (uint16_t)f->call };

		if (FREE(f))
			continue;
		frames_text(&known, f->site, ";", stack, sizeof stack);
		all[count] = *f;
		visible_copy(name, sizeof name, leaf(&as));
		if (asprintf(&all[count++].text, "%s%s%s", stack, stack[0] != '\0' ? ";" : "", name) < 0)
			die("out of memory");
	}
	qsort(all, count, sizeof *all, by_text);
	text_begin(&text, stdout, NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = all[i].ns;

		for (; i + 1 < count && strcmp(all[i].text, all[i + 1].text) == 0; i++)
			ns += all[i + 1].ns;	/* several lines of one function can look alike */
		text_put(&text, all[i].text);
		text_char(&text, ' ');
		text_uint(&text, ns);
		text_char(&text, '\n');
	}
	text_flush(&text);
}

/* ---- speedscope ---- */

struct profile {
	struct segment *at;
	size_t count, capacity;
};

static void
keep(void *context, const struct segment *s)
{
	struct profile *p = context;

	p->at = grow(p->at, &p->capacity, p->count + 1, sizeof *p->at);
	p->at[p->count++] = *s;
}

static void
put_frames(struct json *json, const struct definitions *known)
{
	char name[256];

	json_begin_array(json, "frames");
	for (uint32_t s = 0; s < known->site_count; s++) {	/* a frame a site, so that numbers are the same */
		json_begin_object(json, NULL);
		json_text(json, "name", site_text(known, s, name, sizeof name));
		if (known->sites[s].file != NULL) {
			json_text(json, "file", known->sites[s].file);
			json_int(json, "line", known->sites[s].line);
		}
		json_end_object(json);
	}
	for (unsigned k = 0; k <= GAP; k++) {
		json_begin_object(json, NULL);
		json_text(json, "name", leaves[k]);
		json_end_object(json);
	}
	for (unsigned c = 1; c < call_count(); c++) {
		json_begin_object(json, NULL);
		json_text(json, "name", call_name(c));
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_samples(struct json *json, const struct definitions *known, const struct profile *p)
{
	const uint64_t kinds = known->site_count, calls = kinds + GAP;
	uint32_t frames[PLACES];

	json_begin_array(json, "samples");
	for (size_t i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		size_t depth = site_frames(known, s->site, frames);

		json_begin_array(json, NULL);
		for (size_t f = 0; f < depth; f++)
			json_uint(json, NULL, frames[f]);
		json_uint(json, NULL, s->kind == 1 && s->call > 0 ? calls + s->call : kinds + s->kind);
		json_end_array(json);
	}
	json_end_array(json);
	json_begin_array(json, "weights");
	for (size_t i = 0; i < p->count; i++)
		json_uint(json, NULL, (uint64_t)(p->at[i].end_ns - p->at[i].begin_ns));
	json_end_array(json);
}

void
export_speedscope(const struct export *export)
{
	static struct definitions known;
	static struct text text;
	struct profile p = { 0 };
	struct json json;

	read_path(export, &known, keep, &p);
	text_begin(&text, stdout, NULL);
	json_begin(&json, &text);
	json_begin_object(&json, NULL);
	json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&json, "exporter", "lp-export " VERSION);
	json_begin_object(&json, "shared");
	put_frames(&json, &known);
	json_end_object(&json);
	json_begin_array(&json, "profiles");
	json_begin_object(&json, NULL);
	json_text(&json, "type", "sampled");
	json_text(&json, "name", "critical path");
	json_text(&json, "unit", "nanoseconds");
	json_int(&json, "startValue", p.count > 0 ? p.at[0].begin_ns : 0);
	json_int(&json, "endValue", p.count > 0 ? p.at[p.count - 1].end_ns : 0);
	put_samples(&json, &known, &p);
	json_end_object(&json);
	json_end_array(&json);
	json_end_object(&json);
	json_end_line(&json);
	text_flush(&text);
}
