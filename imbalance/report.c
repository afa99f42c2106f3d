/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "imbalance.h"

static double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

double
imbalance_of(const struct totals *t)
{
	int64_t useful_ns = t->execution_ns + t->program_ns;

	return useful_ns > 0 ? (double)wait_ns(t) / (double)useful_ns : 0;
}

static int64_t
total_ns(const struct totals *t)
{
	return t->program_ns + t->graph_ns;
}

struct item {
	size_t index;
	const struct totals *totals;
};

static int
by_wait(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int64_t x = wait_ns(a->totals), y = wait_ns(b->totals);

	if (x != y)
		return x > y ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Those with any call, most wait first. */
static struct item *
sorted(const struct totals *totals, size_t count, size_t *kept)
{
	struct item *items = zalloc(count, sizeof *items);

	*kept = 0;
	for (size_t i = 0; i < count; i++)
		if (totals[i].calls > 0)
			items[(*kept)++] = (struct item){ i, &totals[i] };
	qsort(items, *kept, sizeof *items, by_wait);
	return items;
}

static void
print_more(size_t count, size_t shown)
{
	if (count > shown)
		printf("(%zu more; --all shows them)\n", count - shown);
}

void
print_table(const struct imbalance *imbalance, const struct definitions *known, bool all)
{
	const struct totals *p = &imbalance->program;
	size_t shown = all ? SIZE_MAX : 8, count;
	struct item *items;

	printf("run time %.9f s on %d ranks; imbalance of the program %.4f\n", seconds(known->run_ns),
	    (int)known->ranks, imbalance_of(p));
	printf("all ranks together: program %.6f s, MPI %.6f s (execution %.6f, wait %.6f, "
	    "unsynchronised %.6f)\n", seconds(p->program_ns), seconds(p->graph_ns),
	    seconds(p->execution_ns), seconds(wait_ns(p)), seconds(p->unsynchronised_ns));
	printf("\nrank\timbalance\twait_s\texecution_s\tunsync_s\tprogram_s\ttotal_s\tcalls\n");
	items = sorted(imbalance->ranks, (size_t)known->ranks, &count);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct totals *t = items[i].totals;

		printf("%zu\t%.4f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%llu\n", items[i].index,
		    imbalance_of(t), seconds(wait_ns(t)), seconds(t->execution_ns),
		    seconds(t->unsynchronised_ns), seconds(t->program_ns), seconds(total_ns(t)),
		    (unsigned long long)t->calls);
	}
	print_more(count, shown);
	free(items);
	printf("\nimbalance\twait_s\tbefore_s\tafter_s\texecution_s\tunsync_s\tcalls\tunsync\tcall\n");
	items = sorted(imbalance->calls, imbalance->call_capacity, &count);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct totals *t = items[i].totals;

		printf("%.4f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%llu\t%llu\t%s\n", imbalance_of(t),
		    seconds(wait_ns(t)), seconds(t->wait_before_ns), seconds(t->wait_after_ns),
		    seconds(t->execution_ns), seconds(t->unsynchronised_ns),
		    (unsigned long long)t->calls, (unsigned long long)t->unsynchronised,
		    call_info((unsigned)items[i].index)->name);
	}
	print_more(count, shown);
	free(items);
}

static void
json_totals(const struct totals *t)
{
	printf("\"total_time_s\":%.9f,\"program_time_s\":%.9f,\"graph_time_s\":%.9f,"
	    "\"total_execution_time_s\":%.9f,\"total_wait_time_s\":%.9f,"
	    "\"wait_before_time_s\":%.9f,\"wait_after_time_s\":%.9f,"
	    "\"unsynchronised_time_s\":%.9f,\"imbalance\":%.9f,\"num_calls\":%llu,"
	    "\"num_unsynchronised\":%llu,\"num_nodes\":%llu,\"num_edges\":%llu}", seconds(total_ns(t)),
	    seconds(t->program_ns), seconds(t->graph_ns), seconds(t->execution_ns),
	    seconds(wait_ns(t)), seconds(t->wait_before_ns), seconds(t->wait_after_ns),
	    seconds(t->unsynchronised_ns), imbalance_of(t), (unsigned long long)t->calls,
	    (unsigned long long)t->unsynchronised, (unsigned long long)t->nodes,
	    (unsigned long long)t->edges);
}

void
print_json(const struct imbalance *imbalance, const struct definitions *known)
{
	const char *comma = "";

	printf("{\"program\":{\"run_time_s\":%.9f,\"ranks\":%d,", seconds(known->run_ns),
	    (int)known->ranks);
	json_totals(&imbalance->program);
	printf(",\n\"processes\":[");
	for (int32_t r = 0; r < known->ranks; r++) {
		printf("%s\n{\"rank\":%d,", r > 0 ? "," : "", (int)r);
		json_totals(&imbalance->ranks[r]);
	}
	printf("],\n\"calls\":[");
	for (size_t i = 0; i < imbalance->call_capacity; i++)
		if (imbalance->calls[i].calls > 0) {
			printf("%s\n{\"call\":", comma);
			json_string(stdout, call_info((unsigned)i)->name);
			printf(",");
			json_totals(&imbalance->calls[i]);
			comma = ",";
		}
	printf("]}\n");
}

static void
csv_totals(const char *what, const char *name, const struct totals *t)
{
	printf("%s,%s,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%llu,%llu,%llu,%llu\n", what, name,
	    seconds(total_ns(t)), seconds(t->program_ns), seconds(t->graph_ns),
	    seconds(t->execution_ns), seconds(wait_ns(t)), seconds(t->wait_before_ns),
	    seconds(t->wait_after_ns), seconds(t->unsynchronised_ns), imbalance_of(t),
	    (unsigned long long)t->calls, (unsigned long long)t->unsynchronised,
	    (unsigned long long)t->nodes, (unsigned long long)t->edges);
}

void
print_csv(const struct imbalance *imbalance, const struct definitions *known)
{
	char rank[16];

	printf("what,name,total_time_s,program_time_s,graph_time_s,total_execution_time_s,"
	    "total_wait_time_s,wait_before_time_s,wait_after_time_s,unsynchronised_time_s,imbalance,"
	    "num_calls,num_unsynchronised,num_nodes,num_edges\n");
	csv_totals("program", "", &imbalance->program);
	for (int32_t r = 0; r < known->ranks; r++) {
		snprintf(rank, sizeof rank, "%d", (int)r);
		csv_totals("process", rank, &imbalance->ranks[r]);
	}
	for (size_t i = 0; i < imbalance->call_capacity; i++)
		if (imbalance->calls[i].calls > 0)
			csv_totals("call", call_info((unsigned)i)->name, &imbalance->calls[i]);
}
