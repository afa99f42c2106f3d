/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement streams as a median for each function, number of ranks and size. */
#include <stdlib.h>
#include <string.h>

#include "../base/statistics/statistics.h"
#include "../base/mpi/catalogue.h"
#include "../base/stream/stream.h"
#include "network.h"

bool
is_pingpong(const struct point *point)
{
	return strcmp(point->function, "MPI_Pingpong") == 0;
}

/* Functions whose call is a known number of messages. */
static bool
is_of_messages(const struct point *point)
{
	static const char *const names[] = {
#define NAME(name, in, out) "MPI_" #name,
		NETWORK_FUNCTIONS(NAME)
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(point->function, names[i]) == 0)
			return true;
	return false;
}

struct point *
find_point(const struct points *points, const char *function, int64_t ranks, uint64_t bytes)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->at[i].ranks == ranks && points->at[i].bytes == bytes &&
		    strcmp(points->at[i].function, function) == 0)
			return &points->at[i];
	return NULL;
}

static double
quantile_ns(struct reader *in, const struct message *message, double quantile)
{
	struct sample sample = { NULL, 0 };
	int64_t count;
	uint64_t *ns;
	double result;

	if (body_int(in, message, "count", 1, (int64_t)message->size, &count) < 0)
		die_input(in);
	ns = zalloc((size_t)count, sizeof *ns);
	if (body_column(in, message, "time", (size_t)count, ns) < 0)
		die_input(in);
	sample = (struct sample){ zalloc((size_t)count, sizeof(double)), (size_t)count };
	for (size_t i = 0; i < sample.count; i++)
		sample.at[i] = (double)ns[i];
	result = quantile < 0 ? mean(sample) : median(sample);	/* which sorts it */
	if (quantile >= 0 && quantile != 0.5)
		result = sample.at[(size_t)(quantile * (double)(sample.count - 1))];
	free(sample.at);
	free(ns);
	return result;
}

static void
take_samples(struct points *points, struct reader *in, const struct message *message, int64_t ranks,
    struct range sizes, double quantile)
{
	char *role = body_string(message, "role"), *function = body_string(message, "function");
	struct point *point;
	int64_t bytes;
	double ns;

	if (role == NULL || function == NULL)
		die_message(in, message, "samples: role or function is missing");
	if (body_int(in, message, "bytes", 0, INT64_MAX, &bytes) < 0)
		die_input(in);
	ns = quantile_ns(in, message, quantile);
	if (strcmp(role, "function") == 0 && ns > 0 && bytes >= sizes.least &&
	    bytes <= sizes.most) {
		point = find_point(points, function, ranks, (uint64_t)bytes);
		if (point == NULL) {
			point = APPEND(points->at, points->count, points->capacity);
			*point = (struct point){ .function = need(strdup(function)),
			    .ranks = ranks, .bytes = (uint64_t)bytes, .fitted_us = -1 };
		}
		*APPEND(point->medians_us, point->count, point->capacity) =
		    ns / 1e3 / (is_of_messages(point) ? PINGPONG_MESSAGES : 1);
	}
	free(role);
	free(function);
}

static void
read_file(struct points *points, const char *file, struct range sizes, double quantile)
{
	struct progress progress = { 0 };
	struct reader *in;
	struct message message;
	int64_t ranks = 0;

	if (reader_open(&in, file, READ_STREAM) < 0 || reader_need_content(in, "measurement") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message))
		if (is_kind(&message, "mpirun")) {
			if (body_int(in, &message, "ranks", 1, INT32_MAX, &ranks) < 0)
				die_input(in);
			if (ranks > points->most_ranks)
				points->most_ranks = ranks;
			if (points->library == NULL)
				points->library = body_string(&message, "library");
		} else if (is_kind(&message, "samples")) {
			if (ranks == 0)
				die_message(in, &message, "samples: no mpirun before them");
			take_samples(points, in, &message, ranks, sizes, quantile);
		}
	reader_close(in);
}

ORDER(by_place, struct point, BY_TEXT(function) BY(ranks) BY(bytes))

struct points
read_points(char **files, struct range sizes, double quantile)
{
	struct points points = { 0 };

	if (files[0] == NULL)
		read_file(&points, NULL, sizes, quantile);
	for (; *files != NULL; files++)
		read_file(&points, *files, sizes, quantile);
	if (points.library == NULL)
		points.library = need(strdup("a library that is not named"));
	SORT(points.at, points.count, by_place);
	for (size_t i = 0; i < points.count; i++)
		points.at[i].us = median((struct sample){ points.at[i].medians_us,
		    points.at[i].count });
	return points;
}
