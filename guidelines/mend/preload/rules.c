/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-mend passes rules in LONGPOLE_MEND: lines of "RANKS FUNCTION FROM TO MOCKUP PART". They apply
 * once all ranks of MPI_COMM_WORLD have been found to have the same rules and number formats, and
 * only on communicators of these ranks: of others, such as spawned ones, that is unknown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replace.h"

static const char *const names[REPLACED] = {
#define NAME(name) "MPI_" #name,
	REPLACED_FUNCTIONS(NAME)
};

/* Written only by agree(), before MPI_Init returns. */
static struct rule *rules[REPLACED];
static size_t counts[REPLACED];
static bool active, exact;
static int keyval = MPI_KEYVAL_INVALID, world_rank;
static MPI_Group world;

static void
say(const char *what)
{
	char line[400];
	int length = snprintf(line, sizeof line, "lp-mend: %s\n", what);

	if (world_rank == 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

static const struct subject *
find_subject(const struct subject *subjects, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(subjects[i].name, name) == 0)
			return &subjects[i];
	return NULL;
}

static bool
add_rule(const char *line)
{
	char function[64], mockup[64];
	struct rule rule = { 0 };
	struct rule *more;
	size_t f = 0;

	if (sscanf(line, "%d %63s %" SCNu64 " %" SCNu64 " %63s %" SCNu64, &rule.ranks, function,
	    &rule.from, &rule.to, mockup, &rule.part) != 6)
		return false;
	while (f < REPLACED && strcmp(names[f], function) != 0)
		f++;
	rule.function = find_subject(functions, function_count, function);
	rule.mockup = find_subject(mockups, mockup_count, mockup);
	if (f == REPLACED || rule.function == NULL ||
	    (rule.mockup != NULL ? strcmp(rule.mockup->function, function) != 0 :
	    rule.part == 0 || rule.part >= rule.from))
		return false;
	more = realloc(rules[f], (counts[f] + 1) * sizeof *more);
	if (more == NULL)
		return false;
	rules[f] = more;
	rules[f][counts[f]++] = rule;
	return true;
}

static uint64_t
hash(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;	/* FNV-1a */

	for (size_t i = 0; i < size; i++)
		seed = (seed ^ at[i]) * 0x100000001b3u;
	return seed;
}

/* How numbers are stored, and whether the library packs them in the same way. */
static uint64_t
formats(uint64_t seed)
{
	static const struct { int i; long l; double d; long double e; } numbers = { 1, 2, 3, 4 };
	int packed[4] = { 0 }, from[2] = { 5, 6 }, position = 0;
	size_t sizes[] = { sizeof(int), sizeof(long), sizeof(long double), sizeof(void *) };

	seed = hash(seed, &numbers.i, sizeof numbers.i);
	seed = hash(seed, &numbers.l, sizeof numbers.l);
	seed = hash(seed, &numbers.d, sizeof numbers.d);
	seed = hash(seed, sizes, sizeof sizes);
	PMPI_Pack(from, 2, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
	active = active && position == sizeof from && memcmp(from, packed, sizeof from) == 0;
	return hash(seed, &position, sizeof position);
}

static int
forget_group(MPI_Comm comm, int key, void *group, void *extra)
{
	(void)comm, (void)key, (void)extra;
	free(group);
	return MPI_SUCCESS;
}

/*
 * Whether every rank has this library. If a launcher started ranks on several nodes, it may not
 * have passed its environment on; then each rank must have been started by lp-mend. All ranks get
 * the same answer.
 */
static bool
all_have_it(void)
{
	static const char *const sizes[][2] = {
		{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE" },
		{ "PMI_SIZE", "MPI_LOCALNRANKS" },
	};
	int size;

	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (getenv("LONGPOLE_MEND_RANK") != NULL || size == 1)
		return true;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		const char *all = getenv(sizes[i][0]), *here = getenv(sizes[i][1]);

		if (all != NULL && here != NULL)
			return strcmp(all, here) == 0;
	}
	return false;
}

void
agree(void)
{
	const char *text = getenv("LONGPOLE_MEND");
	uint64_t mine[2], least[2] = { 0, 0 };

	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	if (!all_have_it()) {
		say("ranks on several nodes must each be started by it, as in mpirun -n 8 "
		    "lp-mend ...: nothing is replaced");
		return;
	}
	active = text != NULL;
	for (const char *line = text; active && *line != '\0'; line += *line == '\n') {
		active = add_rule(line);	/* unless the line is not lp-mend's */
		line += strcspn(line, "\n");
	}
	exact = getenv("LONGPOLE_MEND_EXACT") != NULL;
	mine[0] = formats(hash(0xcbf29ce484222325u, text != NULL ? text : "",
	    text != NULL ? strlen(text) : 0));
	mine[0] = hash(mine[0], &exact, sizeof exact);
	mine[0] = active ? mine[0] | 1 : 0;
	mine[1] = ~mine[0];
	active = real.Allreduce != NULL && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_group, &keyval,
	    NULL) == MPI_SUCCESS && real.Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN,
	    MPI_COMM_WORLD) == MPI_SUCCESS && least[0] == ~least[1] && least[0] != 0;
	if (!active)
		say("the ranks have different rules or number formats: nothing is replaced");
}

bool
has_rules(enum replaced function)
{
	return active && counts[function] > 0;
}

bool
wants_exact(void)
{
	return exact;
}

/* Once for each communicator. */
static struct group
look_at(MPI_Comm comm)
{
	struct group group = { 0 };
	MPI_Group members;
	int between = 0, *here, *there;

	PMPI_Comm_rank(comm, &group.rank);
	PMPI_Comm_size(comm, &group.ranks);
	PMPI_Comm_test_inter(comm, &between);
	if (between || PMPI_Comm_group(comm, &members) != MPI_SUCCESS)
		return group;
	here = malloc(2 * (size_t)group.ranks * sizeof *here);
	if (here == NULL)
		abort();	/* a single rank must not decide differently */
	there = here + group.ranks;
	for (int r = 0; r < group.ranks; r++)
		here[r] = r;
	PMPI_Group_translate_ranks(members, group.ranks, here, world, there);
	group.ours = true;
	for (int r = 0; r < group.ranks; r++)
		group.ours &= there[r] != MPI_UNDEFINED;
	free(here);
	PMPI_Group_free(&members);
	return group;
}

static struct group
group_of(MPI_Comm comm)
{
	struct group *known, group;
	int found = 0;

	if (PMPI_Comm_get_attr(comm, keyval, &known, &found) == MPI_SUCCESS && found)
		return *known;
	group = look_at(comm);
	known = malloc(sizeof *known);
	if (known != NULL) {
		*known = group;
		if (PMPI_Comm_set_attr(comm, keyval, known) != MPI_SUCCESS)
			free(known);
	}
	return group;
}

struct rule *
find_rule(enum replaced function, MPI_Comm comm, uint64_t bytes, struct group *group)
{
	struct rule *found = NULL;
	int ranks;

	PMPI_Comm_size(comm, &ranks);
	for (size_t i = 0; i < counts[function] && found == NULL; i++)
		if (rules[function][i].ranks == ranks && bytes >= rules[function][i].from &&
		    bytes <= rules[function][i].to)
			found = &rules[function][i];
	if (found == NULL)
		return NULL;
	*group = group_of(comm);
	return group->ours ? found : NULL;
}

void
say_calls(void)
{
	char line[300];

	if (!active || getenv("LONGPOLE_MEND_COUNT") == NULL)
		return;
	for (size_t f = 0; f < REPLACED; f++)
		for (const struct rule *r = rules[f]; r < rules[f] + counts[f]; r++) {
			snprintf(line, sizeof line, "%" PRIu64 " calls of %s of %" PRIu64
			    " to %" PRIu64 " bytes on %d ranks became %s",
			    __atomic_load_n(&r->calls, __ATOMIC_RELAXED), names[f], r->from, r->to,
			    r->ranks, r->mockup != NULL ? r->mockup->name : "several");
			say(line);
		}
}
