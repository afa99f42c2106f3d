/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../base/run/verdict.h"
#include "../base/tool/fields.h"
#include "../base/tool/whole_file.h"
#include "report.h"

void
report(const struct imbalance *im, enum form form, const char *name, const struct view *view,
    int argc, char **argv)
{
	static struct text text;	/* large for a stack */
	struct whole_file whole = whole_file_begin(name);

	text_begin(&text, whole.file, name);
	switch (form) {
	case TEXT: print_table(&text, im, view); break;
	case JSON: print_json(&text, im, view); break;
	case CSV: print_csv(&text, im, view); break;
	case STREAM: write_stream(im, argc, argv); break;
	}
	text_flush(&text);
	whole_file_end(&whole);
}

/* ---- limits ----------------------------------------------------------------------------- */

/* A value by name; false: there is no such name. */
static bool
value_of(const struct imbalance *im, const char *name, bool whole, double *value)
{
	const struct efficiency e = efficiency_of(im, whole);
	int64_t all_ns = 0;

	for (int s = 0; s < STATES; s++) {
		const size_t size = strlen(state_names[s]);

		all_ns += im->states[s].wait_ns;
		if (strncmp(name, state_names[s], size) == 0 && strcmp(name + size, "_s") == 0) {
			*value = seconds(im->states[s].wait_ns);
			return true;
		}
	}
	if (strcmp(name, "wait_s") == 0)
		*value = seconds(all_ns);
	else if (strcmp(name, "wait_share") == 0)
		*value = all_time_ns(im) > 0 ? (double)all_ns / (double)all_time_ns(im) : 0;
	else if (strcmp(name, "imbalance") == 0)
		*value = imbalance_of(&im->program);
	else if (strcmp(name, "run_time_s") == 0)
		*value = seconds(counted_run_ns(im));
	else if (strcmp(name, "load_imbalance") == 0)
		*value = 1 - e.load_balance;
	else if (strcmp(name, "communication_loss") == 0)
		*value = 1 - e.communication;
	else if (strcmp(name, "parallel_loss") == 0)
		*value = 1 - e.parallel;
	else
		return false;
	return true;
}

bool
check_limits(const struct imbalance *im, const char **limits, size_t count, bool whole)
{
	bool exceeded = false;

	for (size_t i = 0; i < count; i++) {
		const char *equals = strchr(limits[i], '=');
		char *name = need(strndup(limits[i],
		    equals != NULL ? (size_t)(equals - limits[i]) : 0));
		double limit, value;

		if (equals == NULL)
			die("--limit: %s is not NAME=VALUE", limits[i]);
		limit = parse_number("--limit", equals + 1, -1e300, 1e300);
		if (!value_of(im, name, whole, &value))
			die("--limit: there is no value %s; those of the report are NAME_s of a "
			    "wait state, wait_s, wait_share, imbalance, run_time_s, load_imbalance, "
			    "communication_loss, parallel_loss", name);
		if (!(value <= limit)) {
			note("%s is %.9g, the limit is %.9g", name, value, limit);
			exceeded = true;
		}
		free(name);
	}
	return exceeded;
}

/* Several runs side by side. */

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
