/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of runs that are looked at and printed. */
#include <stdlib.h>

#include "compare.h"

/* Sites, largest change on the path first. */
size_t *
sorted_units(const struct comparison *c, const struct verdict *v)
{
	size_t *units = zalloc(c->unit_count + 1, sizeof *units);

	for (size_t u = 0; u < c->unit_count; u++) {
		size_t at = u;

		for (; at > 0 && llabs(v->paths[units[at - 1]].change_ns) < llabs(v->paths[u].change_ns); at--)
			units[at] = units[at - 1];
		units[at] = u;
	}
	return units;
}

double
mean_of(const struct comparison *c, int side, size_t offset)
{
	double sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += *(const double *)(const void *)((const char *)&c->runs[side][r] + offset);
	return sum / (double)c->count[side];
}

const struct efficiency_name efficiencies[EFFICIENCIES] = {
	{ "parallel", offsetof(struct summary, parallel) },
	{ "load_balance", offsetof(struct summary, load_balance) },
	{ "communication", offsetof(struct summary, communication) },
};

int64_t
state_wait(const struct summary *run, size_t state)
{
	return run->wait_ns[state];
}

int64_t
unit_wait(const struct summary *run, size_t unit)
{
	return run->by_unit[unit] != NULL ? run->by_unit[unit]->wait_ns : 0;
}

int64_t
unit_delay(const struct summary *run, size_t unit)
{
	return run->by_unit[unit] != NULL ? run->by_unit[unit]->delay_ns : 0;
}

int64_t
difference(const struct comparison *c, VALUE(of), size_t index)
{
	return mean_ns(c, B, of, index) - mean_ns(c, A, of, index);
}
