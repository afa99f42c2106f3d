/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a Paraver trace, and the names of its values. */
#include <stdlib.h>

#include "prv.h"

/* Ranks of a host share a node; others get a node each. Nodes are in the order of their ranks. */
void
find_nodes(struct output *o)
{
	const struct headline *run = &o->known->headline;
	const size_t ranks = (size_t)o->known->ranks;
	uint32_t *of_host = zalloc(run->host_count + 1, sizeof *of_host);	/* 1 + its node */

	o->node_of = zalloc(ranks + 1, sizeof *o->node_of);
	o->nodes = zalloc(ranks + 1, sizeof *o->nodes);
	o->ranks_on = zalloc(ranks + 1, sizeof *o->ranks_on);
	o->threads_of = zalloc(ranks + 1, sizeof *o->threads_of);
	for (int32_t r = 0; r < o->known->ranks; r++) {
		const size_t host = headline_host(run, r);

		if (host == SIZE_MAX || of_host[host] == 0) {
			o->nodes[o->node_count] = host != SIZE_MAX ? run->hosts[host].name : NULL;
			o->node_count++;
		}
		if (host != SIZE_MAX && of_host[host] == 0)
			of_host[host] = o->node_count;
		o->node_of[r] = (host != SIZE_MAX ? of_host[host] : o->node_count) - 1;
		o->ranks_on[o->node_of[r]]++;
	}
	for (uint32_t l = 0; l < o->known->location_count; l++)
		if (o->known->location_rank[l] >= 0)
			o->threads_of[o->known->location_rank[l]]++;
	free(of_host);
}

/* No date: the same input gives the same bytes. */
void
put_header(FILE *out, const struct output *o)
{
	const struct definitions *known = o->known;
	unsigned comms = 1;

	for (size_t c = 3; c < known->comm_count; c++)
		comms += known->comms[c].members != NULL;
	fprintf(out, "#Paraver (01/01/1970 at 00:00):%lld_ns:%u(", (long long)o->known->run_ns,
	    o->node_count);
	for (uint32_t n = 0; n < o->node_count; n++)
		fprintf(out, "%s%u", n > 0 ? "," : "", o->ranks_on[n]);
	fprintf(out, "):1:%d(", known->ranks);
	for (int32_t r = 0; r < known->ranks; r++)
		fprintf(out, "%s%u:%u", r > 0 ? "," : "", o->threads_of[r], o->node_of[r] + 1);
	fprintf(out, "),%u\nc:1:1:%d", comms, known->ranks);
	for (int32_t r = 0; r < known->ranks; r++)
		fprintf(out, ":%d", r + 1);
	fputc('\n', out);
	for (size_t c = 3; c < known->comm_count; c++) {
		if (known->comms[c].members == NULL)
			continue;
		fprintf(out, "c:1:%zu:%d", c, known->comms[c].size);
		for (int32_t i = 0; i < known->comms[c].size; i++)
			fprintf(out, ":%d", known->comms[c].members[i] + 1);
		fputc('\n', out);
	}
}

/* Names come from traces and may hold anything; here each takes one line. */
static void
put_name(FILE *out, uint32_t value, const char *name)
{
	char shown[256];

	visible_copy(shown, sizeof shown, name);
	fprintf(out, "%u      %s\n", value, shown);
}

/* Functions of places, or their lines and files. */
static void
put_caller_names(FILE *out, const struct output *o, int type, const char *what)
{
	char text[512];

	if (o->levels == 0)
		return;
	fputs("\nEVENT_TYPE\n", out);
	for (size_t level = 1; level <= o->levels; level++)
		fprintf(out, "0    %zu    %s %zu\n", (size_t)type + level, what, level);
	fputs("VALUES\n0      End\n1      Unresolved\n2      Not found\n", out);
	for (uint32_t s = 1; s < o->placed_capacity && s < o->known->site_count; s++) {
		const struct site *site = &o->known->sites[s];

		if (!o->placed[s])
			continue;
		if (type == CALLER && site->function != NULL)
			put_name(out, CALLER_VALUES + s, site->function);
		else if (type == CALLER || site->file == NULL)
			put_name(out, CALLER_VALUES + s, site_text(o->known, s));
		else {
			snprintf(text, sizeof text, "%d (%s)", (int)site->line, site->file);
			put_name(out, CALLER_VALUES + s, text);
		}
	}
}

void
put_names(FILE *out, const struct output *o)
{
	static const char *const states[] = {
		"Idle", "Running", "Not created", "Waiting a message", "Blocking send",
		"Synchronization",
		"Test/Probe", "Scheduling and fork/join", "Wait/WaitAll", "Blocked",
		"Immediate send",
		"Immediate receive", "I/O", "Group communication", "Tracing disabled", "Others",
		"Send receive", "Memory transfer", "Profiling", "On-line analysis",
		"Remote memory access",
	};
	static const char *const types[] = { NULL, "MPI Point-to-point", "MPI Collective Comm",
	    "MPI Other", "MPI One-sided", "MPI I/O" };

	fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               "
	    "NANOSEC\n\nSTATES\n", out);
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		fprintf(out, "%zu    %s\n", i, states[i]);
	for (uint32_t type = 1; type <= 5; type++) {
		fprintf(out, "\nEVENT_TYPE\n9    %u    %s\nVALUES\n0      Outside MPI\n",
		    PARAVER_TYPE + type, types[type]);
		for (unsigned c = 1; c < call_count(); c++)
			if (o->codes[c].type == PARAVER_TYPE + type)
				put_name(out, o->codes[c].value, call_name(c));
	}
	fprintf(out, "\nEVENT_TYPE\n0    %d    Send size in MPI global op\n0    %d    Recv size in "
	    "MPI global op\n0    %d    Root in MPI global op\n0    %d    Communicator in MPI "
	    "global op\n", PARAVER_SEND_BYTES, PARAVER_RECEIVE_BYTES, PARAVER_ROOT, PARAVER_COMM);
	put_caller_names(out, o, CALLER, "Caller at level");
	put_caller_names(out, o, CALLER_LINE, "Caller line at level");
	if (o->path)
		fprintf(out, "\nEVENT_TYPE\n9    %d    Critical path\nVALUES\n0      not on it\n1  "
		    "    compute\n2      MPI\n3      transfer\n4      start\n", PATH_TYPE);
}

static void
put_node_name(FILE *out, const struct output *o, uint32_t node)
{
	char shown[256];

	if (o->nodes[node] != NULL)
		visible_copy(shown, sizeof shown, o->nodes[node]);
	else
		snprintf(shown, sizeof shown, "n%u", node + 1);
	fprintf(out, "%s\n", shown);
}

void
put_rows(FILE *out, const struct output *o)
{
	const struct definitions *known = o->known;

	fprintf(out, "LEVEL CPU SIZE %d\n", known->ranks);
	for (int32_t r = 0; r < known->ranks; r++) {
		fprintf(out, "%d.", r + 1);
		put_node_name(out, o, o->node_of[r]);
	}
	fprintf(out, "\nLEVEL NODE SIZE %u\n", o->node_count);
	for (uint32_t n = 0; n < o->node_count; n++)
		put_node_name(out, o, n);
	fprintf(out, "\nLEVEL THREAD SIZE %u\n", known->location_count);
	for (int32_t r = 0; r < known->ranks; r++)
		for (uint32_t t = 0, count = o->threads_of[r]; t < count; t++)
			fprintf(out, "THREAD 1.%d.%u\n", r + 1, t + 1);
}
