/* SPDX-License-Identifier: BSD-3-Clause */
/* Several runs side by side. */
#include <stdlib.h>

#include "../base/tool/fields.h"
#include "report.h"

static const struct field run_fields[] = {
	{ "file", FIELD(struct times, file), IN_DATA },
	{ "ranks", FIELD(struct times, ranks), IN_ALL },
	SCALING_FIELDS(struct times, ),
	{ "file", FIELD(struct times, file), .text = PLAIN },
	FIELDS_END
};

void
print_scaling(char **files, size_t count, bool weak, bool whole, enum form form)
{
	static struct text text;	/* large for a stack */
	struct times *runs = zalloc(count, sizeof *runs);
	struct json json;

	for (size_t i = 0; i < count; i++)
		runs[i] = read_times(files[i], whole);
	sort_and_scale(runs, count, weak);
	text_begin(&text, stdout, NULL);
	if (form == JSON) {
		json_begin(&json, &text);
		json_begin_object(&json, NULL);
		json_text(&json, "scaling", weak ? "weak" : "strong");
		json_bool(&json, "whole", whole);
		json_rows(&json, "runs", run_fields, runs, count, sizeof *runs);
		json_end_object(&json);
		json_end_line(&json);
	} else if (form == CSV)
		csv_rows(&text, run_fields, runs, count, sizeof *runs);
	else {
		text_line(&text, "%s scaling, against the smallest run; efficiencies as POP "
		    "defines them, %s", weak ? "weak" : "strong", span_rule(whole));
		table_rows(&text, run_fields, runs, count, sizeof *runs);
	}
	text_flush(&text);
	free(runs);
}
