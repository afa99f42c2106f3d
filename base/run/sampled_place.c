/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampled_place.h"
#include "../tool/file_name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char not_sampled[] = "(not on a core, or not sampled)";

/* Modules that do no work of the program, whichever of their functions it is. */
static const struct {
	const char *module, *name;
} no_work[] = {
	{ "liblongpole-record", "(lp-record)" },	/* also where it called others */
	{ "libgomp.so", "(waiting for threads)" }, { "libgomp-", "(waiting for threads)" },
	{ "libomp.so", "(waiting for threads)" }, { "libomp5.so", "(waiting for threads)" },
	{ "libiomp5.so", "(waiting for threads)" }, { "libtbb.so", "(waiting for threads)" },
};

static struct stack_frame
frame_of(const struct definitions *known, uint32_t site, size_t classes, char *text, size_t size)
{
	const struct site *s = site > 0 && site < known->site_count ? &known->sites[site] : NULL;
	const char *module = s != NULL && s->module < known->module_count ? known->modules[s->module] : NULL;

	if (s == NULL)
		return (struct stack_frame){ .name = "(unknown)" };
	for (size_t i = 0; module != NULL && i < classes; i++)
		if (strncmp(file_name(module), no_work[i].module, strlen(no_work[i].module)) == 0)
			return (struct stack_frame){ .name = no_work[i].name };
	if (s->function != NULL)
		return (struct stack_frame){ s->function, s->file, s->line };
	if (module == NULL)
		return (struct stack_frame){ .name = "(no module)" };
	snprintf(text, size, "[%s]", file_name(module));
	return (struct stack_frame){ .name = text };
}

struct stack_frame
place_frame(const struct definitions *known, uint32_t site, char *text, size_t size)
{
	return frame_of(known, site, sizeof no_work / sizeof no_work[0], text, size);
}

struct stack_frame
caller_frame(const struct definitions *known, uint32_t site, char *text, size_t size)
{
	return frame_of(known, site, 1, text, size);
}

int64_t
sample_worth(int64_t period_ns, uint64_t samples, int64_t compute_ns)
{
	const uint64_t most_ns = samples > 0 ? (uint64_t)compute_ns / samples : UINT64_MAX;

	return (uint64_t)period_ns > most_ns ? (int64_t)most_ns : period_ns;
}

double
sampled_error(uint64_t count, int64_t worth_ns, int64_t compute_ns)
{
	const double n = worth_ns > 0 ? (double)compute_ns / (double)worth_ns : 0, k = fmin((double)count, n);

	return (double)compute_ns * sqrt((k + 1) * (n - k + 1) / ((n + 2) * (n + 2) * (n + 3)));
}
