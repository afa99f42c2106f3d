/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of the archive: those of rows at first use; those of ranks at the end, when the
 * events of each are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

uint32_t
define_string(struct archive *a, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return a->empty;
	DEFINE(String, a->strings, text);
	return a->strings++;
}

uint32_t
define_numbered(struct archive *a, const char *name, uint32_t number)
{
	char text[64];

	snprintf(text, sizeof text, "%s%u", name, number);
	return define_string(a, text);
}

/* ---- ranks ---- */

static void
put_rank(struct archive *a, int32_t rank, uint32_t node)
{
	const struct rank_of *of = &a->ranks[rank];
	OTF2_AttributeValue value;

	DEFINE(LocationGroup, (uint32_t)rank, define_numbered(a, "MPI Rank ", (uint32_t)rank),
	    OTF2_LOCATION_GROUP_TYPE_PROCESS, node, OTF2_UNDEFINED_LOCATION_GROUP);
	if (a->scout)
		return;
	if (of->program != NULL) {
		value.stringRef = define_string(a, of->program);
		DEFINE(LocationGroupProperty, (uint32_t)rank, define_string(a, OTF2_RANK "program"),
		    OTF2_TYPE_STRING, value);
	}
#define X(key) \
	if (of->has_##key) { \
		value.int64 = of->key; \
		DEFINE(LocationGroupProperty, (uint32_t)rank, define_string(a, OTF2_RANK #key), \
		    OTF2_TYPE_INT64, value); \
	}
	OTF2_RANK_KEYS(X)
#undef X
}

static void
put_ranks(struct archive *a)
{
	const uint32_t node_class = define_string(a, "node"),
	    machine_class = define_string(a, "machine");
	const struct headline *run = &a->known->headline;
	uint32_t nodes = MACHINE, *of_host = zalloc(run->host_count + 1, sizeof *of_host);

	DEFINE(SystemTreeNode, MACHINE, machine_class, machine_class,
	    OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (int32_t r = 0; r < a->known->ranks; r++) {
		const size_t host = headline_host(run, r);

		if (host != SIZE_MAX && of_host[host] == 0) {
			of_host[host] = ++nodes;
			DEFINE(SystemTreeNode, nodes, define_string(a, run->hosts[host].name),
			    node_class, MACHINE);
			DEFINE(SystemTreeNodeDomain, nodes, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
		}
		put_rank(a, r, host != SIZE_MAX ? of_host[host] : MACHINE);
	}
	free(of_host);
	for (uint32_t l = 0; l < a->locations; l++) {
		const uint32_t thread = a->known->location_thread[l];

		if (a->known->location_rank[l] < 0)
			continue;
		DEFINE(Location, l, thread == 0 ? define_string(a, "Master thread") :
		    define_numbered(a, "Thread ", thread), OTF2_LOCATION_TYPE_CPU_THREAD,
		    a->spots[l].events, (uint32_t)a->known->location_rank[l]);
	}
}

/* The critical path is a location with the rank as its metric. */
static void
put_path(struct archive *a)
{
	const uint32_t member = 0;
	uint32_t name = define_string(a, "critical path"), unit = define_string(a, "rank"),
	    what = define_string(a, "rank that the critical path is on");

	DEFINE(Location, a->locations, name, OTF2_LOCATION_TYPE_METRIC,
	    a->spots[a->locations].events, 0);
	DEFINE(MetricMember, member, name, what, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_NEXT,
	    OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0, unit);
	DEFINE(MetricClass, 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
}

static void
put_words(struct archive *a)
{
	static const struct { const char *name, *what; OTF2_Type type; } words[WORDS] = {
#define X(NAME, field, name, what, type) { name, what, OTF2_TYPE_##type },
		OTF2_COLUMNS(X)
#undef X
		{ "longpole::aside", "the event is also told by attributes of the call",
		    OTF2_TYPE_UINT8 },
		{ "longpole::wait_ns", "of the call, that its rank could not go on for another",
		    OTF2_TYPE_UINT64 },
		{ "longpole::wait_state", "why it could not: the longest wait", OTF2_TYPE_STRING },
		{ "longpole::waits_for", "for whom it waited longest", OTF2_TYPE_LOCATION },
		{ "longpole::kind", "what the critical path consists of here", OTF2_TYPE_STRING },
		{ "longpole::call", "the call of MPI that it is in", OTF2_TYPE_REGION },
		{ "longpole::site", "the place in the program that it is at", OTF2_TYPE_REGION },
	};

	for (uint32_t w = 0; w < WORDS; w++)
		DEFINE(Attribute, w, define_string(a, words[w].name),
		    define_string(a, words[w].what), words[w].type);
}

void
definitions_begin(struct archive *a)
{
	a->meanings = zalloc(UINT16_MAX + 1, sizeof *a->meanings);
	DEFINE(String, a->strings++, "");
	comms_begin(a);
	for (int s = 0; s < STATES; s++)
		a->state_names[s] = define_string(a, state_names[s]);
	for (int k = 0; k <= KINDS; k++)
		a->kind_names[k] = define_string(a, segment_names[k]);
	DEFINE(Paradigm, OTF2_PARADIGM_MPI, define_string(a, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
	if (!a->scout) {
		put_words(a);
		DEFINE(Parameter, 0, define_string(a, "longpole::operation"),
		    OTF2_PARAMETER_TYPE_UINT64);
	}
}

void
definitions_end(struct archive *a)
{
	const uint64_t length = (uint64_t)(a->known->run_ns > a->last_ns ?
	    a->known->run_ns : a->last_ns);

	DEFINE(ClockProperties, 1000000000, 0, length,
	    a->date_s > 0 ? (uint64_t)a->date_s * 1000000000 : OTF2_UNDEFINED_TIMESTAMP);
	put_ranks(a);
	if (a->path)
		put_path(a);
	comms_end(a);
}
