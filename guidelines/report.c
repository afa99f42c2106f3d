/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests say: for a screen, as the paper's tables, for scripts and as a stream. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guidelines.h"

enum { SHOWN = 15 };	/* violations of the table that fit on a screen */

const char *
stars(double p)
{
	return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

static double
us(double ns)
{
	return 1e-3 * ns;
}

static int
by_ratio(const void *left, const void *right)
{
	const struct judgement *const *a = left, *const *b = right;

	if ((*a)->ratio > (*b)->ratio || (*a)->ratio < (*b)->ratio)
		return (*a)->ratio > (*b)->ratio ? -1 : 1;
	return *a < *b ? -1 : 1;
}

/* The first judgement of each guideline is where it is counted. */
static bool
is_first(const struct verdict *v, size_t i)
{
	return i == 0 || strcmp(v->at[i - 1].guideline, v->at[i].guideline) != 0;
}

/* Whether any of the judgements of the guideline that begins at I is violated. */
static bool
any_violated(const struct verdict *v, size_t i)
{
	const char *guideline = v->at[i].guideline;
	bool violated = false;

	for (; i < v->count && strcmp(v->at[i].guideline, guideline) == 0; i++)
		violated |= v->at[i].violated;
	return violated;
}

static void
print_control(const struct verdict *v)
{
	if (!v->has_control)
		printf("A/A control: none was measured, so nobody knows how far this can be trusted\n");
	else
		printf("A/A control, %s under two names: p %.3g at %" PRIu64 " bytes%s\n",
		    v->control->function, v->control_p, v->control->bytes, v->control_failed ?
		    ": FAILED, the verdict is worth nothing" : ": passed");
}

/* The other side in words where its size is not the function's. */
static void
print_other(const struct judgement *j)
{
	if (j->kind == PATTERN)
		printf("%s", j->guideline);
	else if (j->kind == MONOTONY)
		printf("%s, to %" PRIu64 " B", j->guideline, j->other->bytes);
	else
		printf("%s, n/k = %" PRIu64 " B%s", j->guideline,
		    j->other->role == SPLIT ? j->other->part : j->other->bytes,
		    j->other->role == SPLIT ? "" : " (calculated)");
}

static void
print_violations(const struct verdict *v, size_t shown)
{
	const struct judgement **found = zalloc(v->violations, sizeof *found);
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].violated)
			found[count++] = &v->at[i];
	qsort(found, count, sizeof *found, by_ratio);
	printf("\nratio\tm_bytes\tn_bytes\tslow_us\tfast_us\tshift_us\tlow\thigh\tp\tp_normal\t"
	    "p_adj\tsure\tviolated\n");
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct judgement *j = found[i];

		printf("%.3f\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2g\t%.3g\t%.2g\t%s\t",
		    j->ratio, j->function->bytes, j->function->volume, us(j->function_ns), us(j->other_ns),
		    us(j->shift.shift), us(j->shift.low), us(j->shift.high), j->p, j->p_normal,
		    j->p_adjusted, stars(j->p_adjusted));
		print_other(j);
		printf("\n");
	}
	if (count > shown)
		printf("(%zu more; --all shows them)\n", count - shown);
	free(found);
}

/* What the held guidelines of a kind are called together: GL 1 and 2 by function. */
static void
print_held(const struct verdict *v, enum kind kind)
{
	static const char *const heads[] = { "A(n) <= A(n+k)", "A(n) <= k A(n/k)", "patterns" };
	size_t column = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];
		const char *name = kind == PATTERN ? j->guideline : short_name(j->function->function);

		if (j->kind != kind || !is_first(v, i) || any_violated(v, i))
			continue;
		if (column == 0)
			column = (size_t)printf("held, %s: ", heads[kind]);
		else if (column + strlen(name) > 96)
			column = (size_t)printf(",\n    ") - 2;
		else
			column += (size_t)printf(", ");
		column += (size_t)printf("%s", name);
	}
	if (column > 0)
		printf("\n");
}

void
print_table(const struct campaign *c, const struct verdict *v, bool all)
{
	printf("%zu mpiruns of %" PRId64 " ranks%s%s; %zu tests; differences up to %.3f us do not count\n",
	    c->mpiruns, c->ranks, c->library[0] != '\0' ? ", " : "", c->library, v->count,
	    us(v->margin_ns));
	print_control(v);
	if (c->mpiruns < v->needed)
		printf("%zu mpiruns cannot prove any violation in %zu tests; %zu can\n", c->mpiruns,
		    v->count, v->needed);
	if (v->violations > 0)
		print_violations(v, all ? SIZE_MAX : SHOWN);
	printf("\n");
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		print_held(v, kind);
	printf("%s\n", v->violations > 0 ? "VIOLATED" : "HELD");
}

/* The sizes of all judgements, ascending. */
static uint64_t *
sizes_of(const struct verdict *v, size_t *count)
{
	uint64_t *sizes = zalloc(v->count, sizeof *sizes);

	*count = 0;
	for (size_t i = 0; i < v->count; i++) {
		uint64_t bytes = v->at[i].function->bytes;
		size_t at = *count;

		while (at > 0 && sizes[at - 1] >= bytes)
			at--;
		if (at < *count && sizes[at] == bytes)
			continue;
		memmove(sizes + at + 1, sizes + at, (*count - at) * sizeof *sizes);
		sizes[at] = bytes;
		++*count;
	}
	return sizes;
}

/* m, s and p where monotony, split-robustness or a pattern is violated at the size. */
static void
print_marks(const struct verdict *v, const char *function, uint64_t bytes)
{
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		for (size_t i = 0; i < v->count; i++) {
			const struct judgement *j = &v->at[i];

			if (j->kind == kind && j->violated && j->function->bytes == bytes &&
			    strcmp(j->function->function, function) == 0) {
				putchar("msp"[kind]);
				break;
			}
		}
}

/* How many guidelines of a kind are violated, of how many. */
static void
print_count(const struct verdict *v, enum kind kind)
{
	size_t all = 0, violated = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].kind == kind && is_first(v, i)) {
			all++;
			violated += any_violated(v, i);
		}
	printf("%s\t%zu/%zu\n", kind_names[kind], violated, all);
}

void
print_tables(const struct campaign *c, const struct verdict *v)
{
	size_t count;
	uint64_t *sizes = sizes_of(v, &count);
	const char *last = "";

	printf("function");
	for (size_t i = 0; i < count; i++)
		printf("\t%" PRIu64, sizes[i]);
	printf("\n");
	for (size_t f = 0; f < c->count; f++) {
		const char *function = c->series[f].function;

		if (strcmp(function, last) == 0)
			continue;
		last = function;
		printf("%s", function);
		for (size_t i = 0; i < count; i++) {
			putchar('\t');
			print_marks(v, function, sizes[i]);
		}
		printf("\n");
	}
	printf("\n");
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		print_count(v, kind);
	printf("\n");
	print_control(v);
	free(sizes);
}

void
print_json(const struct verdict *v)
{
	const char *comma = "";

	if (v->has_control)
		printf("{\"control\":{\"p_value\":%.6g,\"failed\":%s},\n\"violations\":[", v->control_p,
		    v->control_failed ? "true" : "false");
	else
		printf("{\"control\":{\"p_value\":null,\"failed\":null},\n\"violations\":[");
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];

		if (!j->violated)
			continue;
		printf("%s\n{\"kind\":\"%s\",\"guideline\":", comma, kind_names[j->kind]);
		json_string(stdout, j->guideline);
		printf(",\"bytes\":%" PRIu64 ",\"p_value\":%.6g,\"p_adjusted\":%.6g,\"ratio\":",
		    j->function->bytes, j->p, j->p_adjusted);
		printf(isfinite(j->ratio) ? "%.6g}" : "null}", j->ratio);
		comma = ",";
	}
	printf("]}\n");
}

void
print_csv(const struct verdict *v)
{
	printf("kind,guideline,function,other,bytes,volume_bytes,other_bytes,function_us,other_us,ratio,"
	    "shift_us,low_us,high_us,p_value,p_normal,p_adjusted,violated\n");
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];

		printf("%s,%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6g,"
		    "%.6g,%.6g,%d\n", kind_names[j->kind], j->guideline, j->function->name,
		    j->other->role == SPLIT ? "split" : j->other->name, j->function->bytes,
		    j->function->volume, j->other->role == SPLIT ? j->other->part : j->other->bytes,
		    us(j->function_ns), us(j->other_ns), j->ratio, us(j->shift.shift), us(j->shift.low),
		    us(j->shift.high), j->p, j->p_normal, j->p_adjusted, j->violated);
	}
}

static int
put_judgement(struct writer *out, const struct judgement *j)
{
	message_begin(out, "test", 15);
	put_string(out, "type", kind_names[j->kind]);
	put_string(out, "guideline", j->guideline);
	put_string(out, "function", j->function->name);
	put_string(out, "other", j->other->role == SPLIT ? "split" : j->other->name);
	put_uint(out, "bytes", j->function->bytes);
	put_uint(out, "volume", j->function->volume);
	put_uint(out, "other_bytes", j->other->role == SPLIT ? j->other->part : j->other->bytes);
	put_double(out, "function_ns", j->function_ns);
	put_double(out, "other_ns", j->other_ns);
	put_double(out, "shift_ns", j->shift.shift);
	put_double(out, "low_ns", j->shift.low);
	put_double(out, "high_ns", j->shift.high);
	put_double(out, "p_value", j->p);
	put_double(out, "p_adjusted", j->p_adjusted);
	put_int(out, "violated", j->violated);
	return message_end(out);
}

void
write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv)
{
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "verdict", NULL, argc, argv) < 0)
		die_output();
	message_begin(&out, "verdict", 7);
	put_int(&out, "ranks", c->ranks);
	put_string(&out, "library", c->library);
	put_uint(&out, "mpiruns", c->mpiruns);
	put_uint(&out, "tests", v->count);
	put_double(&out, "margin_ns", v->margin_ns);
	put_double(&out, "control_p_value", v->has_control ? v->control_p : -1);
	put_int(&out, "control_failed", v->control_failed);
	if (message_end(&out) < 0)
		die_output();
	for (size_t i = 0; i < v->count; i++)
		if (put_judgement(&out, &v->at[i]) < 0)
			die_output();
	if (writer_end(&out) < 0)
		die_output();
}
