/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs to compare with: nothing but how long ranks computed. Memory: ranks. */
#include <stdlib.h>

#include "times.h"

static void
add_block(const struct definitions *known, const struct calls *calls, int64_t *last_ns,
    int64_t *useful_ns)
{
	const uint32_t l = calls->location;

	for (size_t i = 0; i < calls->count; i++) {
		if (calls->call[i] == 0)
			continue;
		if (last_ns[l] != INT64_MIN)
			useful_ns[known->location_rank[l]] += calls->enter_ns[i] - last_ns[l];
		last_ns[l] = calls->leave_ns[i];
	}
}

struct times
read_times(const char *file)
{
	struct times t = { .file = file };
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct reader in;
	struct message message;
	int64_t *last_ns = NULL, *useful_ns = NULL;
	int got;

	if (reader_open(&in, file) < 0)
		die_input(&in);
	while ((got = reader_next(&in, &message)) > 0) {
		if (definitions_take(&known, &in, &message) < 0)
			die_input(&in);
		if (is_kind(&message, "run")) {
			last_ns = zalloc(known.location_count, sizeof *last_ns);
			useful_ns = zalloc((size_t)known.ranks, sizeof *useful_ns);
			for (uint32_t l = 0; l < known.location_count; l++)
				last_ns[l] = INT64_MIN;
		} else if (is_kind(&message, "calls")) {
			if (calls_read(&calls, &in, &message) < 0)
				die_input(&in);
			add_block(&known, &calls, last_ns, useful_ns);
		}
	}
	if (got < 0)
		die_input(&in);
	t.ranks = known.ranks;
	t.run_ns = known.run_ns;
	for (int32_t r = 0; r < known.ranks; r++) {
		t.useful_ns += useful_ns[r];
		t.useful_max_ns = useful_ns[r] > t.useful_max_ns ? useful_ns[r] : t.useful_max_ns;
	}
	if (t.ranks == 0 || t.useful_max_ns == 0 || t.run_ns == 0)
		die("%s: no rank computes", file);
	free(last_ns);
	free(useful_ns);
	calls_free(&calls);
	reader_close(&in);
	return t;
}

static int
by_ranks(const void *left, const void *right)
{
	const struct times *a = left, *b = right;

	if (a->ranks != b->ranks)
		return a->ranks < b->ranks ? -1 : 1;
	return a->run_ns < b->run_ns ? -1 : a->run_ns > b->run_ns;
}

static struct scaling
scaling_of(const struct times *run, const struct times *least, bool weak)
{
	const double size = weak ? (double)run->ranks / least->ranks : 1;
	struct scaling s = {
		.load_balance = (double)run->useful_ns / run->ranks / (double)run->useful_max_ns,
		.communication = (double)run->useful_max_ns / (double)run->run_ns,
		.computation_scaling = size * (double)least->useful_ns / (double)run->useful_ns,
		.speedup = size * (double)least->run_ns / (double)run->run_ns,
	};

	s.parallel = s.load_balance * s.communication;
	s.global = s.parallel * s.computation_scaling;
	return s;
}

void
print_scaling(char **files, size_t count, bool weak, enum form form)
{
	struct times *runs = zalloc(count, sizeof *runs);

	for (size_t i = 0; i < count; i++)
		runs[i] = read_times(files[i]);
	qsort(runs, count, sizeof *runs, by_ranks);
	if (form == JSON)
		printf("{\"scaling\":\"%s\",\"runs\":[", weak ? "weak" : "strong");
	else if (form == CSV)
		printf("file,ranks,run_time_s,speedup,parallel,load_balance,communication,"
		    "computation_scaling,global\n");
	else
		printf("%s scaling, against the smallest run; efficiencies as POP defines them\n"
		    "ranks\trun_time_s\tspeedup\tparallel\tload_bal\tcommunic\tcomp_scal\tglobal\tfile\n",
		    weak ? "weak" : "strong");
	for (size_t i = 0; i < count; i++) {
		const struct times *t = &runs[i];
		const struct scaling s = scaling_of(t, &runs[0], weak);

		if (form == JSON) {
			printf("%s\n{\"file\":", i > 0 ? "," : "");
			json_string(stdout, t->file);
			printf(",\"ranks\":%d,\"run_time_s\":%.9f,\"speedup\":%.9f,\"parallel\":%.9f,"
			    "\"load_balance\":%.9f,\"communication\":%.9f,\"computation_scaling\":%.9f,"
			    "\"global\":%.9f}", (int)t->ranks, seconds(t->run_ns), s.speedup, s.parallel,
			    s.load_balance, s.communication, s.computation_scaling, s.global);
		} else if (form == CSV)
			printf("%s,%d,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f\n", t->file, (int)t->ranks,
			    seconds(t->run_ns), s.speedup, s.parallel, s.load_balance, s.communication,
			    s.computation_scaling, s.global);
		else
			printf("%d\t%.6f\t%.3f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%s\n", (int)t->ranks,
			    seconds(t->run_ns), s.speedup, s.parallel, s.load_balance, s.communication,
			    s.computation_scaling, s.global, t->file);
	}
	if (form == JSON)
		printf("]}\n");
	free(runs);
}
