/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampled_place.h"
#include "../tool/text.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

const char not_sampled[] = NOT_SAMPLED;
const char on_core_name[] = "(on a core, not sampled)";
const char thread_wait_name[] = "(waiting for threads)";
static const char python_name[] = "Python code";

/* Modules and headers that no user edits to make a program faster; /opt may hold the user's own. */
static bool
is_of_system(const char *path)
{
	static const char *const folders[] = { "/lib/", "/lib64/", "/usr/lib", "linux-vdso.so",
	    "/usr/include/", "[" };

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

/* An interpreter's own functions say nothing about the script, which samples do not show. */
static bool
is_python(const char *module)
{
	const char *name = module != NULL ? file_name(module) : "";

	return fnmatch("libpython[23]*.so*", name, 0) == 0 ||
	    fnmatch("python[23]*", name, 0) == 0 || strcmp(name, "python") == 0;
}

/* The recorder does none of the program's work, also where it calls others. */
static bool
is_of_recorder(const char *module)
{
	static const char recorder[] = "liblongpole-record";

	return module != NULL && strncmp(file_name(module), recorder, strlen(recorder)) == 0;
}

struct stack_frame
caller_frame(const struct definitions *known, uint32_t site)
{
	const struct site *s = defined_site(known, site);
	const char *module = site_module(known, site);

	if (s == NULL)
		return (struct stack_frame){ .name = "(unknown)" };
	if (is_of_recorder(module))
		return (struct stack_frame){ .name = "(lp-record)" };
	if (s->function != NULL)
		return (struct stack_frame){ s->function, s->file, s->line };
	if (module == NULL)
		return (struct stack_frame){ .name = "(no module)" };
	return (struct stack_frame){ .name = known->modules[s->module].shown };
}

struct stack_frame
place_frame(const struct definitions *known, uint32_t site)
{
	if (waiting_at(known, site) != NOT_WAITING)
		return (struct stack_frame){ .name = thread_wait_name };
	return caller_frame(known, site);
}

bool
same_function(const struct definitions *known, uint32_t site, uint32_t other)
{
	struct stack_frame a, b;

	if (site == other)
		return true;
	a = place_frame(known, site);
	b = place_frame(known, other);
	return strcmp(a.name, b.name) == 0 && text_compare(a.file, b.file) == 0;
}

static bool
is_own(const struct definitions *known, uint32_t site)
{
	const char *module = site_module(known, site);
	const char *program = known->headline.program;

	return module == NULL || (program != NULL && strcmp(module, program) == 0) ||
	    is_python(module) || !is_of_system(module);
}

/* The frames of a sample: its place is number 0; 0: there are no more. */
static uint32_t
frame_at(const struct definitions *known, uint32_t site, uint32_t callers, size_t i)
{
	const struct site *s = defined_site(known, callers);

	if (i == 0)
		return site;
	if (s != NULL && s->stack != NULL)
		return i <= s->depth ? s->stack[i - 1] : 0;
	return i == 1 ? callers : 0;
}

/* The number of the frame that is the program's own. */
static size_t
own_depth(const struct definitions *known, uint32_t site, uint32_t callers)
{
	enum waiting how;
	uint32_t frame;

	if (is_own(known, site) || is_of_recorder(site_module(known, site)) ||
	    (how = waiting_at(known, site)) == WAITING_BY_FUNCTION || how == WAITING_BY_MODULE)
		return 0;
	for (size_t i = 1; (frame = frame_at(known, site, callers, i)) != 0; i++)
		if (site_module(known, frame) != NULL && is_own(known, frame))
			return i;
	return 0;
}

uint32_t
own_place(const struct definitions *known, uint32_t site, uint32_t callers)
{
	return frame_at(known, site, callers, own_depth(known, site, callers));
}

uint32_t
waiting_place(const struct definitions *known, uint32_t site, uint32_t callers)
{
	uint32_t frame;

	for (size_t i = 0; (frame = frame_at(known, site, callers, i)) != 0; i++)
		if (site_module(known, frame) != NULL && is_own(known, frame) &&
		    waiting_at(known, frame) == NOT_WAITING)
			return frame;
	return own_place(known, site, callers);
}

uint32_t
called_place(const struct definitions *known, uint32_t site, uint32_t callers)
{
	const size_t depth = own_depth(known, site, callers);

	return depth > 0 ? frame_at(known, site, callers, depth - 1) : 0;
}

/* Number 0 is the innermost; the last one is a function with code of its own. */
static struct stack_frame
source_frame(const struct site *s, size_t i)
{
	const struct inlined *outer = s->inlined + i - 1;

	return i == 0 ? (struct stack_frame){ s->function, s->file, s->line } :
	    (struct stack_frame){ outer->function, outer->file, outer->line };
}

static bool
is_of_user(struct stack_frame frame)
{
	return frame.file != NULL && !is_of_system(frame.file);
}

struct stack_frame
own_frame(const struct definitions *known, uint32_t site, struct stack_frame *inlined)
{
	const struct site *s = defined_site(known, site);
	size_t outer = s != NULL ? s->inlined_count : 0, inner = 0;

	*inlined = (struct stack_frame){ .name = NULL };
	if (is_python(site_module(known, site)))
		return (struct stack_frame){ .name = python_name };
	if (outer == 0 || (waiting_at(known, site) != NOT_WAITING && s->file != NULL &&
	    !is_of_system(s->file)))
		return place_frame(known, site);
	while (outer > 0 && !is_of_user(source_frame(s, outer)))
		outer--;
	while (inner < outer && !is_of_user(source_frame(s, inner)))
		inner++;
	if (inner < outer)
		*inlined = source_frame(s, inner);
	return outer > 0 ? source_frame(s, outer) : place_frame(known, site);
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
	double n, k;

	if (worth_ns <= 0)
		return 0;
	n = (double)compute_ns / (double)worth_ns;
	k = fmin((double)count, n);
	return (double)compute_ns * sqrt((k + 1) * (n - k + 1) / ((n + 2) * (n + 2) * (n + 3)));
}

/* ---- counters ---- */

void
counts_add(struct shown_counts *to, const struct shown_counts *more)
{
	to->on_core_ns += more->on_core_ns;
	for (int c = 0; c < COUNTERS; c++)
		to->of[c] += more->of[c];
}

double
count_ratio(double count, double to)
{
	return count > 0 && to > 0 ? count / to : NAN;
}

void
counts_show(struct shown_counts *counts, const bool known[COUNTERS], bool switched)
{
	const double cycles = (double)counts->of[COUNT_cycles];

	if (!switched)
		counts->on_core_ns = -1;
	counts->cycles_per_instruction = count_ratio(cycles,
	    (double)counts->of[COUNT_instructions]);
	counts->clock_hz = count_ratio(cycles, 1e-9 * (double)counts->on_core_ns);
	for (int c = 0; c < COUNTERS; c++)
		if (!known[c])
			counts->of[c] = -1;
}
