/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../tool/tool.h"

struct instant {
	double wall_s, processor_s;
};

static struct {
	struct instant begin, met, entered;
	double exchange_s, exchange_processor_s;
	double *exchanges;	/* seconds in each */
	size_t exchange_count, exchange_capacity;
	uint64_t bytes;
	struct {
		const char *name;
		uint64_t value;
	} counts[4];		/* the tool's own */
	size_t count_count;
} own;

static double
seconds(struct timespec time)
{
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct instant
now(void)
{
	struct timespec wall, processor;
	struct rusage children;

	clock_gettime(CLOCK_MONOTONIC, &wall);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
	getrusage(RUSAGE_CHILDREN, &children);
	return (struct instant){ seconds(wall), seconds(processor) +
	    (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
	    (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1e-6 };
}

void
cost_begin(void)
{
	own.begin = own.met = now();
}

void
cost_met(void)
{
	own.met = now();
}

void
cost_enter(void)
{
	own.entered = now();
}

double
cost_leave_pair(uint64_t bytes)
{
	const struct instant left = now();

	own.exchange_processor_s += left.processor_s - own.entered.processor_s;
	own.bytes += bytes;
	return left.wall_s - own.entered.wall_s;
}

void
cost_leave(uint64_t bytes)
{
	const double wall_s = cost_leave_pair(bytes);

	own.exchange_s += wall_s;
	*APPEND(own.exchanges, own.exchange_count, own.exchange_capacity) = wall_s;
}

struct cost
cost_so_far(void)
{
	const struct instant end = now();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct cost){ own.met.wall_s - own.begin.wall_s,
	    end.processor_s - own.met.processor_s - own.exchange_processor_s, own.exchange_s,
	    end.wall_s - own.begin.wall_s, own.exchange_count, own.bytes,
	    (uint64_t)usage.ru_maxrss * 1024 };
}

const double *
cost_exchanges(size_t *count)
{
	*count = own.exchange_count;
	return own.exchanges;
}

void
cost_count(const char *name, uint64_t more)
{
	size_t i = 0;

	while (i < own.count_count && strcmp(own.counts[i].name, name) != 0)
		i++;
	if (i == sizeof own.counts / sizeof own.counts[0])
		return;
	own.count_count += i == own.count_count;
	own.counts[i].name = name;
	own.counts[i].value += more;
}

void
cost_tell(int processes, const struct cost *cost)
{
	const char *name = getenv("LONGPOLE_COST");
	FILE *file;

	if (name == NULL || *name == '\0')
		return;
	if ((file = fopen(name, "ae")) == NULL)
		die("LONGPOLE_COST: %s: %s", name, strerror(errno));
	fprintf(file,
	    "{\"tool\":\"%s\",\"processes\":%d,\"wall_s\":%.6f,\"start_s\":%.6f,\"work_s\":%.6f,"
	    "\"exchange_s\":%.6f,\"exchanges\":%llu,\"bytes\":%llu,\"peak_bytes\":%llu",
	    tool, processes, cost->wall_s, cost->start_s, cost->work_s, cost->exchange_s,
	    (unsigned long long)cost->exchanges,
	    (unsigned long long)cost->bytes, (unsigned long long)cost->peak_bytes);
	for (size_t i = 0; i < own.count_count; i++)
		fprintf(file, ",\"%s\":%llu", own.counts[i].name,
		    (unsigned long long)own.counts[i].value);
	fputs("}\n", file);
	if (ferror(file) | fclose(file))
		die("LONGPOLE_COST: %s: %s", name, strerror(errno));
}
