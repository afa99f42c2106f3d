/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/memory.h"
#include "../tool/tool.h"

#define TOLD_SHARE 0.05		/* smaller shares are not worth a line */

int
load_take(struct headline *h, struct reader *in, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;
	struct load load;

	if (body_int(in, message, "ranks", 1, INT32_MAX, &load.ranks) < 0 ||
	    body_int(in, message, "cores", 0, INT32_MAX, &load.cores) < 0 ||
	    body_int(in, message, "threads", 0, INT32_MAX, &load.threads) < 0 ||
	    body_int(in, message, "elapsed_ns", 1, most, &load.elapsed_ns) < 0 ||
	    body_int(in, message, "cpu_ns", 0, most, &load.cpu_ns) < 0 ||
	    body_int(in, message, "thread_cpu_ns", 0, most, &load.thread_cpu_ns) < 0 ||
	    body_int(in, message, "waited_ns", 0, most, &load.waited_ns) < 0 ||
	    body_int(in, message, "others_ns", -1, most, &load.others_ns) < 0)
		return -1;
	load.host = body_string(message, "host");
	*APPEND(h->loads, h->load_count, h->load_capacity) = load;
	return 1;
}

struct load_shares
load_shares(const struct load *load)
{
	const double rank_ns = (double)load->elapsed_ns / (double)load->ranks;
	const double threads_ns = rank_ns * fmax((double)load->threads, (double)load->ranks);
	const double cores_ns = rank_ns * (double)load->cores;
	struct load_shares s = { fmin(1, (double)load->waited_ns / threads_ns),
		fmax(0, 1 - (double)load->thread_cpu_ns / (double)load->elapsed_ns), NAN };

	if (load->others_ns >= 0 && cores_ns > 0)
		s.others = fmin(1, (double)load->others_ns / cores_ns);
	return s;
}

const struct load *
load_worst(const struct headline *h)
{
	const struct load *worst = h->loads;

	for (size_t i = 1; i < h->load_count; i++)
		if (load_shares(&h->loads[i]).preempted > load_shares(worst).preempted)
			worst = &h->loads[i];
	return worst;
}

char *
load_measured(const struct headline *h, const struct load *load)
{
	const char *host = h->load_count > 1 && load->host != NULL ? load->host : "";
	char threads[60] = "", *text;

	if (load->threads > load->ranks)
		snprintf(threads, sizeof threads, " with %lld threads", (long long)load->threads);
	text = formatted("%s%s%lld rank%s%s on %lld core%s, %.0f %% of the time "
	    "ready to run, without a core", host, host[0] != '\0' ? ": " : "",
	    (long long)load->ranks, load->ranks == 1 ? "" : "s", threads, (long long)load->cores,
	    load->cores == 1 ? "" : "s", 100 * load_shares(load).preempted);
	return text;
}

char *
load_text(const struct headline *h)
{
	const struct load *worst = load_worst(h);
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

struct load
load_sum(const struct headline *h)
{
	struct load sum = { 0 };

	for (const struct load *load = h->loads; load < h->loads + h->load_count; load++) {
		sum.ranks += load->ranks;
		sum.cores += load->cores;
		sum.threads += load->threads;
		sum.elapsed_ns += load->elapsed_ns;
		sum.cpu_ns += load->cpu_ns;
		sum.thread_cpu_ns += load->thread_cpu_ns;
		sum.waited_ns += load->waited_ns;
		sum.others_ns = load->others_ns < 0 || sum.others_ns < 0 ? -1 :
		    sum.others_ns + load->others_ns;
	}
	return sum;
}

double
preempted_share(const struct headline *h)
{
	const struct load sum = load_sum(h);

	return h->load_count > 0 ? load_shares(&sum).preempted : NAN;
}

void
load_json(struct json *json, const struct headline *h)
{
	const struct load sum = load_sum(h);
	struct load_shares s;

	if (h->load_count == 0)
		return;
	s = load_shares(&sum);
	json_begin_object(json, "load");
	json_int(json, "cores", sum.cores);
	json_int(json, "ranks", sum.ranks);
	json_int(json, "threads", sum.threads);
	json_fixed(json, "preempted_share", s.preempted, 4);
	json_fixed(json, "off_core_share", s.off_core, 4);
	json_fixed(json, "others_share", s.others, 4);
	json_end_object(json);
}
