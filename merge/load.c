/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of each host. The load of cores beside the ranks is known if ranks may use the same
 * cores, or all different ones, but not if their cores overlap partly.
 */
#include <stdlib.h>
#include <string.h>

#include "merge.h"

struct load {
	int64_t ranks, cores, threads, elapsed_ns, cpu_ns, thread_cpu_ns, waited_ns, others_ns,
	    switches_ns;
	unsigned char used[sizeof ((struct cores *)0)->mask];
};

int
scan_cores(struct scan *scan, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;	/* keeps sums in range */
	struct reader *in = scan->in;
	struct rank *rank = scan->rank;
	struct cores cores = { 0 };
	const void *mask;
	size_t size;

	if (body_int(in, message, "at_ns", -most, most, &cores.at_ns) < 0 ||
	    body_int(in, message, "cpu_ns", 0, most, &cores.cpu_ns) < 0 ||
	    body_int(in, message, "thread_cpu_ns", 0, most, &cores.thread_cpu_ns) < 0 ||
	    body_int(in, message, "waited_ns", 0, most, &cores.waited_ns) < 0 ||
	    body_int(in, message, "busy_ns", 0, most, &cores.busy_ns) < 0 ||
	    body_int(in, message, "threads", 0, UINT32_MAX, &cores.threads) < 0 ||
	    body_int_if(in, message, "switches_ns", 0, most, &cores.switches_ns) < 0)
		return -1;
	mask = body_bin(message, "mask", &size);
	if (mask != NULL && size <= sizeof cores.mask) {
		memcpy(cores.mask, mask, size);
		*APPEND(rank->cores, rank->cores_count, rank->cores_capacity) = cores;
	}
	return 0;
}

static const char *
host_of(const struct rank *rank)
{
	return rank->host != NULL ? rank->host : "";
}

/* The ranks of a host together, and of these the ones that may use the same cores, by rank. */
ORDER(by_host, const struct rank *const, COMPARED(strcmp(host_of(*a), host_of(*b)), 0)
    COMPARED(memcmp((*a)->cores[1].mask, (*b)->cores[1].mask, sizeof (*a)->cores->mask), 0)
    COMPARED(*a, *b))

/* Adds the ranks of a host that may use the same cores. */
static void
add_group(struct load *load, const struct rank *const *group, size_t count)
{
	const unsigned char *mask = group[0]->cores[1].mask;
	int64_t busy_ns = 0, cpu_ns = 0;
	bool overlaps = false;

	for (size_t i = 0; i < count; i++) {
		const struct cores *a = group[i]->cores, *b = a + 1;

		load->elapsed_ns += b->at_ns - a->at_ns;
		load->thread_cpu_ns += b->thread_cpu_ns - a->thread_cpu_ns;
		load->waited_ns += b->waited_ns - a->waited_ns;
		load->switches_ns += b->switches_ns;
		load->threads += b->threads > 0 ? b->threads : 1;
		cpu_ns += b->cpu_ns - a->cpu_ns;
		busy_ns = larger(busy_ns, b->busy_ns - a->busy_ns);
	}
	for (size_t i = 0; i < sizeof load->used; i++) {
		overlaps |= (load->used[i] & mask[i]) != 0;
		load->cores += __builtin_popcount(mask[i] & ~load->used[i]);
		load->used[i] |= mask[i];
	}
	load->ranks += (int64_t)count;
	load->cpu_ns += cpu_ns;
	if (overlaps || load->others_ns < 0)
		load->others_ns = -1;
	else
		load->others_ns += busy_ns > cpu_ns ? busy_ns - cpu_ns : 0;
}

void
write_loads(struct writer *out, const struct input *input)
{
	const struct rank **ranks = zalloc((size_t)input->rank_count, sizeof *ranks);
	struct load load = { 0 };
	size_t count = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];
		const struct cores *c = rank->cores;

		/* Nothing is known of a rank that died. */
		if (rank->cores_count == 2 && c[1].at_ns > c->at_ns &&
		    c[1].waited_ns >= c->waited_ns && c[1].busy_ns >= c->busy_ns &&
		    c[1].cpu_ns >= c->cpu_ns)
			ranks[count++] = rank;
	}
	SORT(ranks, count, by_host);
	for (size_t i = 0, end; i < count; i = end) {
		const char *host = host_of(ranks[i]);

		end = i + 1;
		while (end < count && strcmp(host_of(ranks[end]), host) == 0 &&
		    memcmp(ranks[end]->cores[1].mask, ranks[i]->cores[1].mask,
		    sizeof load.used) == 0)
			end++;
		add_group(&load, &ranks[i], end - i);
		if (end < count && strcmp(host_of(ranks[end]), host) == 0)
			continue;
		message_begin(out, "load", load.switches_ns > 0 ? 10 : 9);
		put_string(out, "host", host);
		put_int(out, "ranks", load.ranks);
		put_int(out, "cores", load.cores);
		put_int(out, "threads", load.threads);
		put_int(out, "elapsed_ns", load.elapsed_ns);
		put_int(out, "cpu_ns", load.cpu_ns);
		put_int(out, "thread_cpu_ns", load.thread_cpu_ns);
		put_int(out, "waited_ns", load.waited_ns);
		put_int(out, "others_ns", load.others_ns);
		if (load.switches_ns > 0)
			put_int(out, "switches_ns", load.switches_ns);
		end_message(out);
		load = (struct load){ 0 };
	}
	free(ranks);
}

/* A rank may number one place twice. */
FOLD(fold_gaps, struct poll_gaps, poll_gaps_order, to->count += more->count;
    to->apart_ns += more->apart_ns; to->awake_ns += more->awake_ns;)

/* The threads' activity between polls, as their ranks measured it, with the trace's numbers. */
void
write_poll_gaps(struct writer *out, const struct input *input)
{
	struct poll_gaps *all = NULL;
	size_t count = 0, capacity = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		for (size_t i = 0; i < rank->gaps_count; i++) {
			struct poll_gaps gaps = rank->gaps[i];

			if (gaps.location >= rank->threads || rank->thread[gaps.location].rows == 0)
				continue;
			gaps.location = location_of(input, r, gaps.location);
			gaps.site = gaps.site < rank->site_map_size ? rank->site_map[gaps.site] : 0;
			*APPEND(all, count, capacity) = gaps;
		}
	}
	count = fold_gaps(all, count);
	for (size_t i = 0; i < count; i++) {
		const struct poll_gaps *gaps = &all[i];

		message_begin(out, "poll_gaps", 5);
		put_uint(out, "location", gaps->location);
		put_uint(out, "site", gaps->site);
		put_int(out, "count", gaps->count);
		put_int(out, "apart_ns", gaps->apart_ns);
		put_int(out, "awake_ns", gaps->awake_ns);
		end_message(out);
	}
	free(all);
}
