/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of the user in another tool's trace. They are in memory until they are written before
 * the calls of their location: 12 bytes for each begin or end.
 */
#include "import.h"
#include "../../base/stream/samples.h"

enum { MANY = 1 << 16 };		/* in a message */

struct build_regions {
	struct samples events;
	size_t begin;			/* those before are written */
	uint32_t open;
	uint64_t left;			/* ends that the archive lacks */
};

void
build_regions_begin(struct build *build)
{
	build->regions = zalloc(build->locations, sizeof *build->regions);
}

void
build_region(struct build *build, uint32_t location, int64_t at_ns, uint32_t region)
{
	struct build_regions *of = &build->regions[location];
	struct samples *events = &of->events;
	const size_t i = events->count;

	if (region == 0 && of->open == 0)
		return;
	events->regions = true;
	if (samples_reserve(events, i + 1) < 0)
		die("out of memory");
	if (i > 0 && at_ns < events->time_ns[i - 1])
		at_ns = events->time_ns[i - 1];
	events->time_ns[i] = at_ns;
	events->region[i] = (int32_t)region;
	events->count++;
	of->open = region > 0 ? of->open + 1 : of->open - 1;
}

void
build_regions_end(struct build *build)
{
	for (uint32_t l = 0; l < build->locations; l++) {
		struct build_regions *of = &build->regions[l];

		for (size_t i = of->events.count; i-- > 0 &&
		    of->events.time_ns[i] > build->run_ns; )
			of->events.time_ns[i] = build->run_ns;
		of->left = of->open;
		while (of->open > 0)
			build_region(build, l, build->run_ns, 0);
	}
}

static void
write_events(struct build_regions *of, struct writer *out, uint32_t location, uint32_t worker,
    int64_t until_ns)
{
	while (of->begin < of->events.count && of->events.time_ns[of->begin] < until_ns) {
		struct samples part = of->events;
		size_t end = of->begin;

		while (end < part.count && end - of->begin < MANY && part.time_ns[end] < until_ns)
			end++;
		if (end == part.count)
			part.left = of->left;
		samples_skip(&part, of->begin);
		part.count = end - of->begin;
		part.from_ns = INT64_MIN;
		part.location = location;
		part.worker = worker;
		if (samples_write(out, &part) < 0)
			die_output();
		of->begin = end;
	}
}

void
build_regions_before(struct build *build, struct writer *out, uint32_t location, int64_t until_ns)
{
	write_events(&build->regions[location], out, location, 0, until_ns);
	for (uint32_t l = build->ranks; location < build->ranks && l < build->locations; l++)
		if (build->threads[l - build->ranks].rank == location && build->of[l].rows == 0)
			write_events(&build->regions[l], out, location, l, until_ns);
}
