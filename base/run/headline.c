/* SPDX-License-Identifier: BSD-3-Clause */
#include "definitions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tool/hash_table.h"
#include "../tool/text.h"
#include "../tool/tool.h"

/* Ranks may alternate between many hosts, so a linear search for each rank would be too slow. */
struct host_slot {
	const char *name;	/* NULL: free */
	size_t host;
};

HASH_TABLE_OF_TEXT(host_table, struct host_slot, name)

/* Adds a host unless it is known; returns its number. */
static size_t
add_host(struct headline *h, char *name)
{
	struct host_slot slot = { name, h->host_count }, *found;

	found = host_table_add(&h->by_name, &slot);
	if (found->host < h->host_count) {
		free(name);
	} else {
		*APPEND(h->hosts, h->host_count, h->host_capacity) = (struct host){ name, 0 };
	}
	h->hosts[found->host].ranks++;
	return found->host;
}

void
headline_rank(struct definitions *definitions, struct reader *in, const struct message *message)
{
	struct headline *h = &definitions->headline;
	char *host = body_string(message, "host");
	int64_t error_ns;
	int32_t rank;
	size_t number;

	(void)in;
	if (h->ranks_told++ == 0)
		h->clock_error_ns = -1;
	h->ranks_died += body_get(message, "ended") != NULL && !body_true(message, "ended");
	if (body_int(NULL, message, "error_ns", 0, INT64_MAX, &error_ns) == 0)
		h->clock_error_ns = larger(error_ns, h->clock_error_ns);
	if (h->program == NULL)
		h->program = body_string(message, "program");
	if (host == NULL || host[0] == '\0') {
		free(host);
		return;
	}
	number = add_host(h, host);
	if (body_int(NULL, message, "rank", 0, h->ranks - 1, &rank) < 0)
		return;
	if (h->host_of == NULL)
		h->host_of = zalloc((size_t)h->ranks, sizeof *h->host_of);
	h->host_of[rank] = (uint32_t)number + 1;
}

size_t
headline_host(const struct headline *h, int32_t rank)
{
	const bool known = rank >= 0 && h->host_of != NULL && h->host_of[rank] > 0;

	return known ? h->host_of[rank] - 1 : SIZE_MAX;
}

bool
variable_read(struct variable *v, const struct message *message)
{
	*v = (struct variable){ body_string(message, "name"), body_string(message, "value") };
	if (v->name != NULL && v->value != NULL)
		return true;
	free(v->name);
	free(v->value);
	return false;
}

int
variable_write(struct writer *out, const struct variable *v)
{
	message_begin(out, "environment", 2);
	put_string(out, "name", v->name);
	put_string(out, "value", v->value);
	return message_end(out);
}

void
headline_environment(struct definitions *definitions, struct reader *in,
    const struct message *message)
{
	struct headline *h = &definitions->headline;
	struct variable v;

	(void)in;
	if (variable_read(&v, message))
		*APPEND(h->environment, h->variable_count, h->variable_capacity) = v;
}

static const char *
program_name(const struct headline *h)
{
	const char *slash = h->program != NULL ? strrchr(h->program, '/') : NULL;

	if (h->program == NULL || h->program[0] == '\0')
		return "a run";
	return slash != NULL && slash[1] != '\0' ? slash + 1 : h->program;
}

char *
headline_text(const struct headline *h)
{
	const char *program = program_name(h);
	const char *host = h->host_count == 1 ? h->hosts[0].name : "";
	const char *unended = h->unended != NULL ? h->unended : "";
	char hosts[40] = "", date[40] = "";
	const time_t date_s = (time_t)h->date_s;
	struct tm utc;

	if (h->host_count > 1)
		snprintf(hosts, sizeof hosts, "%zu hosts", h->host_count);
	if (date_s > 0 && gmtime_r(&date_s, &utc) != NULL)
		strftime(date, sizeof date, ", %Y-%m-%d %H:%M UTC", &utc);
	return formatted("%s, %d rank%s%s%s%s%s%s%s", program, (int)h->ranks,
	    h->ranks == 1 ? "" : "s", h->host_count > 0 ? " on " : "", host, hosts, date,
	    unended[0] != '\0' ? ", " : "", unended);
}

/* ---- cores ---------------------------------------------------------------------------- */

#define TOLD_SHARE 0.05		/* smaller shares are not worth a line */

void
headline_load(struct definitions *definitions, struct reader *in, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;
	struct headline *h = &definitions->headline;
	struct host_load load = { .switches_ns = 0 };

	if (body_int(in, message, "ranks", 1, INT32_MAX, &load.ranks) < 0 ||
	    body_int(in, message, "cores", 0, INT32_MAX, &load.cores) < 0 ||
	    body_int(in, message, "threads", 0, INT32_MAX, &load.threads) < 0 ||
	    body_int(in, message, "elapsed_ns", 1, most, &load.elapsed_ns) < 0 ||
	    body_int(in, message, "cpu_ns", 0, most, &load.cpu_ns) < 0 ||
	    body_int(in, message, "thread_cpu_ns", 0, most, &load.thread_cpu_ns) < 0 ||
	    body_int(in, message, "waited_ns", 0, most, &load.waited_ns) < 0 ||
	    body_int(in, message, "others_ns", -1, most, &load.others_ns) < 0 ||
	    body_int_if(in, message, "switches_ns", 0, most, &load.switches_ns) < 0)
		die_input(in);
	load.host = body_string(message, "host");
	*APPEND(h->loads, h->load_count, h->load_capacity) = load;
}

struct load_shares
load_shares(const struct host_load *load)
{
	const double rank_ns = (double)load->elapsed_ns / (double)load->ranks;
	const double threads_ns = rank_ns * fmax((double)load->threads, (double)load->ranks);
	const double cores_ns = rank_ns * (double)load->cores;
	struct load_shares s = { load->cores, load->ranks, load->threads,
		fmin(1, (double)load->waited_ns / threads_ns),
		fmax(0, 1 - (double)load->thread_cpu_ns / (double)load->elapsed_ns), NAN, 0 };

	if (load->switches_ns > 0 && cores_ns > 0)
		s.recording = fmin(1, (double)load->switches_ns / fmin(cores_ns, threads_ns));
	if (load->others_ns >= 0 && cores_ns > 0)
		s.others = fmin(1, (double)load->others_ns / cores_ns);
	return s;
}

const struct host_load *
load_worst(const struct headline *h)
{
	const struct host_load *worst = h->loads;

	for (size_t i = 1; i < h->load_count; i++)
		if (load_shares(&h->loads[i]).preempted > load_shares(worst).preempted)
			worst = &h->loads[i];
	return worst;
}

char *
load_measured(const struct headline *h, const struct host_load *load)
{
	const char *host = h->load_count > 1 && load->host != NULL ? load->host : "";
	char threads[60] = "";

	if (load->threads > load->ranks)
		snprintf(threads, sizeof threads, " with %lld threads", (long long)load->threads);
	return formatted("%s%s%lld rank%s%s on %lld core%s, %.0f %% of the time "
	    "ready to run, without a core", host, host[0] != '\0' ? ": " : "",
	    (long long)load->ranks, load->ranks == 1 ? "" : "s", threads, (long long)load->cores,
	    load->cores == 1 ? "" : "s", 100 * load_shares(load).preempted);
}

char *
load_text(const struct headline *h)
{
	const struct host_load *worst = load_worst(h);
	char others[80] = "", *measured, *text;

	/* Threads that sleep need no core. */
	if (h->load_count == 0 || load_shares(worst).preempted < TOLD_SHARE)
		return NULL;
	if (load_shares(worst).others >= TOLD_SHARE)
		snprintf(others, sizeof others, "; other processes took %.0f %% of the cores",
		    100 * load_shares(worst).others);
	measured = load_measured(h, worst);
	text = formatted("%s%s", measured, others);
	free(measured);
	return text;
}

void
load_line(struct text *text, const struct headline *h)
{
	char *line = load_text(h);

	if (line != NULL)
		text_line(text, "%s", line);
	free(line);
}

struct host_load
load_sum(const struct headline *h)
{
	struct host_load sum = { 0 };

	for (const struct host_load *load = h->loads; load < h->loads + h->load_count; load++) {
		sum.ranks += load->ranks;
		sum.cores += load->cores;
		sum.threads += load->threads;
		sum.elapsed_ns += load->elapsed_ns;
		sum.cpu_ns += load->cpu_ns;
		sum.thread_cpu_ns += load->thread_cpu_ns;
		sum.waited_ns += load->waited_ns;
		sum.switches_ns += load->switches_ns;
		sum.others_ns = load->others_ns < 0 || sum.others_ns < 0 ? -1 :
		    sum.others_ns + load->others_ns;
	}
	return sum;
}

double
preempted_share(const struct headline *h)
{
	const struct host_load sum = load_sum(h);

	return h->load_count > 0 ? load_shares(&sum).preempted : NAN;
}
