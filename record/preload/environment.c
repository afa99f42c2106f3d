/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run depends on beside the program: the MPI library, the clock, variables by which its
 * user steers it, and the job of Slurm that it is part of. Only names with the prefixes below are
 * read. Left out are variables that a launcher sets for itself, as they differ in each run, and
 * names that suggest a secret.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../base/mpi/launchers.h"
#include "../../base/tool/order.h"
#include "../front/front.h"
#include "clock.h"
#include "small.h"

enum { MOST_VARIABLES = 256, MOST_BYTES = 1000 };	/* longer values are cut */

extern char **environ;

static bool
begins(const char *text, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool
is_told(const char *variable)
{
	static const char *const ours[] = { "OMPI_MCA_", "MPICH_", "MPIR_CVAR_", "UCX_", "FI_",
	    "OMP_", "I_MPI_", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_CLUSTER_NAME",
	    "SLURM_HET_", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_PARTITION",
	    "SLURM_RESTART_COUNT", "SLURM_STEP_ID", "SLURM_STEP_NODELIST" };
	static const char *const theirs[] = { "OMPI_MCA_orte_", "OMPI_MCA_prte_", "OMPI_MCA_ess",
	    "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_shmem_RUNTIME_",
	    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME" };
	static const char *const secret[] = { "key", "token", "secret", "passw", "credential",
	    "uuid", "auth" };
	const char *equals = strchr(variable, '=');
	char name[200];

	if (equals == NULL || equals - variable >= (ptrdiff_t)sizeof name ||
	    !begins(variable, ours, sizeof ours / sizeof ours[0]) ||
	    begins(variable, theirs, sizeof theirs / sizeof theirs[0]))
		return false;
	memcpy(name, variable, (size_t)(equals - variable));
	name[equals - variable] = '\0';
	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
		if (strcasestr(name, secret[i]) != NULL)
			return false;
	return true;
}

static void
append(const char *name, const char *value)
{
	small_append("environment", PAIRS(pair_text("name", name), pair_text("value", value)));
}

ORDER(by_text, char *const, COMPARED(strcmp(*a, *b), 0))

void
environment_append(void)
{
	static char version[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	char *told[MOST_VARIABLES], name[200], value[MOST_BYTES + 1];
	size_t count = 0;
	int length = 0;

	if (PMPI_Get_library_version(version, &length) == MPI_SUCCESS)
		append("MPI_Get_library_version", version);
	snprintf(value, sizeof value, "%s, %lld ns", clock_map.counter ? "processor" : "kernel",
	    (long long)clock_tick_ns());
	append("clock", value);
	for (char **v = environ; v != NULL && *v != NULL && count < MOST_VARIABLES; v++)
		if (is_told(*v))
			told[count++] = *v;
	qsort(told, count, sizeof *told, by_text);
	for (size_t i = 0; i < count; i++) {
		const char *equals = strchr(told[i], '=');

		if (equals == NULL)
			continue;	/* another thread has changed it */
		snprintf(name, sizeof name, "%.*s", (int)(equals - told[i]), told[i]);
		snprintf(value, sizeof value, "%s", equals + 1);
		append(name, value);
	}
}

struct options options = { .stack = 1 };

static int64_t
value_of(const char *text, const char *key)
{
	const size_t size = strlen(key);

	for (const char *at = text; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, size) == 0 && at[size] == '=')
			return strtoll(at + size + 1, NULL, 10);
	}
	return 0;
}

void
read_options(void)
{
	const char *text = getenv("LONGPOLE_OPTIONS");
	int64_t stack = value_of(text, "stack");

	options.monotonic = value_of(text, "monotonic") != 0;
	options.allreduce = value_of(text, "allreduce") != 0;
	options.fold_polls = value_of(text, "fold_polls") != 0;
	options.segment_bytes = (uint64_t)value_of(text, "segment_bytes");
	options.paused = value_of(text, "paused") != 0;
	options.threshold_ns = value_of(text, "threshold_ns");
	options.sync_every_ns = value_of(text, "sync_every_ns");
	options.sample_hz = (int)value_of(text, "sample_hz");
	options.switches = value_of(text, "switches") != 0;
	options.sample_stack = (int)value_of(text, "sample_stack");
	options.counters = (unsigned)value_of(text, "counters");
	options.stack = stack > 1 && stack <= MOST_CALLERS ? (int)stack : 1;
	options.any_stack = options.stack > 1;
}

static int
look_for_abi(struct dl_phdr_info *info, size_t size, void *found)
{
	(void)size;
	*(bool *)found |= is_abi_library(basename(info->dlpi_name));
	return 0;
}

static bool
is_own_mpi(void)
{
	bool is_abi = false;

	dl_iterate_phdr(look_for_abi, &is_abi);
#ifdef MPI_STANDARD_ABI
	return is_abi;
#else
	static char version[1 << 14];	/* at least MPI_MAX_LIBRARY_VERSION_STRING of any MPI */
	int length;
#ifdef OPEN_MPI
	const bool own = true;
#else
	const bool own = false;
#endif

	return !is_abi && (PMPI_Get_library_version(version, &length) != MPI_SUCCESS ||
	    (strstr(version, "Open MPI") != NULL) == own);
#endif
}

/*
 * Handles and constants are those of the MPI that this was built with. A program with another MPI
 * cannot even pass through the wrappers, as handles may differ in size. So it ends, and one rank
 * says why.
 */
void
check_mpi(void)
{
	static const char line[] = "lp-record: the program has another MPI than this recorder was "
	    "built with: see --mpi\n";
	const struct launcher *launcher = launcher_that_tells(true);
	const char *rank = launcher != NULL ? getenv(launcher->rank) : NULL;

	if (is_own_mpi())
		return;
	/*
	 * A launcher kills all ranks when the first one ends, perhaps before rank 0 has printed
	 * why.
	 */
	if (rank != NULL && strcmp(rank, "0") != 0)
		sleep(2);
	else if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
		_exit(2);
	_exit(2);
}
