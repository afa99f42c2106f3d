/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of several forms of output: their fields, declared once. */
#include "imbalance.h"

const char *const dimension_names[DIMENSIONS + 4] = {
	[BY_RANK] = "rank", [BY_SITE] = "site", [BY_CALL] = "call",
	    [BY_COMMUNICATOR] = "communicator",
	[BY_PARTNER] = "partner", [BY_FUNCTION] = "function", [BY_STEP] = "step",
	[BY_REGION] = "region", NULL
};

#define DATA_SECONDS .csv = "%.9f", .json = "%.9f", .scale = 1e-9

#define TOTALS(member) FIELD(struct totals_line, member)
const struct field totals_fields[] = {
	{ "what", TOTALS(what), .csv = PLAIN },
	{ "name", TOTALS(name), .csv = PLAIN },
	{ "total_time_s", TOTALS(of.total_ns), DATA_SECONDS },
	{ "program_time_s", TOTALS(of.program_ns), DATA_SECONDS },
	{ "mpi_time_s", TOTALS(of.mpi_ns), DATA_SECONDS },
	{ "total_execution_time_s", TOTALS(of.execution_ns), DATA_SECONDS },
	{ "total_wait_time_s", TOTALS(of.wait_ns), DATA_SECONDS },
	{ "wait_before_time_s", TOTALS(of.of.wait_before_ns), DATA_SECONDS },
	{ "wait_after_time_s", TOTALS(of.of.wait_after_ns), DATA_SECONDS },
	{ "unsynchronised_time_s", TOTALS(of.of.unsynchronised_ns), DATA_SECONDS },
	{ "imbalance", TOTALS(of.imbalance), .csv = "%.9f", .json = "%.9f" },
	{ "num_calls", TOTALS(of.calls), IN_DATA },
	{ "num_unsynchronised", TOTALS(of.of.unsynchronised), IN_DATA },
	{ "num_nodes", TOTALS(of.nodes), IN_DATA },
	{ "num_edges", TOTALS(of.edges), IN_DATA },
	FIELDS_END
};

#define SHARES(member) FIELD(struct shares, member)
const struct field share_fields[] = {
	{ "rank", SHARES(rank), .json = PLAIN, .key = "rank" },
	{ "before_s", SHARES(before_ns), DATA_SECONDS, .key = "before_ns" },
	{ "compute_s", SHARES(compute_ns), DATA_SECONDS, .key = "compute_ns" },
	{ "mpi_useful_s", SHARES(mpi_useful_ns), DATA_SECONDS, .key = "mpi_useful_ns" },
	{ "polling_s", SHARES(polling_ns), DATA_SECONDS },
	{ "wait_s", SHARES(wait_ns), DATA_SECONDS, .key = "wait_ns" },
	{ "after_s", SHARES(after_ns), DATA_SECONDS, .key = "after_ns" },
	{ "polling_ns", SHARES(polling_ns), .key = "polling_ns" },
	{ "run_time_s", SHARES(run_ns), DATA_SECONDS },
	FIELDS_END
};

#define DELAY(member) FIELD(struct delay_line, member)
const struct field delay_fields[] = {
	{ "cost_s", DELAY(cost_ns), IN_SECONDS },
	{ "short_s", DELAY(short_ns), IN_SECONDS },
	{ "long_s", DELAY(long_ns), IN_SECONDS },
	{ "rank", DELAY(rank), IN_ALL },
	{ "kind", DELAY(kind), .json = PLAIN },
	{ "delay: rank-seconds that others waited for it", DELAY(where), .text = PLAIN },
	FIELDS_END
};

struct delay_line
delay_line(const struct delay *d)
{
	return (struct delay_line){ delay_cost_ns(d), delay_short_ns(d), delay_long_ns(d), d->rank,
	    d->key % 2 == 0 ? "compute" : "mpi", NULL };
}

#define CRITICAL(member) FIELD(struct critical_line, member)
const struct field critical_fields[] = {
	{ "critical_imbalance_s", CRITICAL(of.imbalance_ns), IN_SECONDS, .head = "crit_imb_s" },
	{ "path_s", CRITICAL(of.path_ns), IN_SECONDS },
	{ "mean_s", CRITICAL(of.mean_ns), IN_SECONDS },
	{ "activity_impact_s", CRITICAL(of.activity_impact_ns), IN_SECONDS, .head = "act_impact_s"
	},
	{ "imbalance_impact_s", CRITICAL(of.imbalance_impact_ns), IN_SECONDS, .head = "imb_impact_s"
	},
	{ "rank", CRITICAL(of.rank), IN_ALL },
	{ "up to and in", CRITICAL(where), .text = PLAIN },
	FIELDS_END
};
