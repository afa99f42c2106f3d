/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of each host. The load of cores beside the ranks is known if ranks may use the same
 * cores, or all different ones, but not if their cores overlap partly.
 */
#include <stdlib.h>
#include <string.h>

#include "scan.h"

struct share {
	const char *host;
	const struct cores *begin, *end;
	int32_t rank;
};

struct load {
	int64_t ranks, cores, threads, elapsed_ns, cpu_ns, thread_cpu_ns, waited_ns, others_ns;
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
	    body_int(in, message, "threads", 0, UINT32_MAX, &cores.threads) < 0)
		return -1;
	mask = body_bin(message, "mask", &size);
	if (mask != NULL && size <= sizeof cores.mask) {
		memcpy(cores.mask, mask, size);
		*APPEND(rank->cores, rank->cores_count, rank->cores_capacity) = cores;
	}
	return 0;
}

ORDER(by_host, struct share, BY_TEXT(host)
    COMPARED(memcmp(a->end->mask, b->end->mask, sizeof a->end->mask), 0) BY(rank))

static int64_t
bits(const unsigned char *mask)
{
	int64_t count = 0;

	for (size_t i = 0; i < sizeof ((struct load *)0)->used; i++)
		count += __builtin_popcount(mask[i]);
	return count;
}

/* Adds the ranks of a host that may use the same cores. */
static void
add_group(struct load *load, const struct share *group, size_t count)
{
	int64_t busy_ns = 0, cpu_ns = 0;
	bool overlaps = false;

	for (size_t i = 0; i < count; i++) {
		const struct cores *a = group[i].begin, *b = group[i].end;
		const int64_t rank_busy_ns = b->busy_ns - a->busy_ns;

		load->elapsed_ns += b->at_ns - a->at_ns;
		load->thread_cpu_ns += b->thread_cpu_ns - a->thread_cpu_ns;
		load->waited_ns += b->waited_ns - a->waited_ns;
		load->threads += b->threads > 0 ? b->threads : 1;
		cpu_ns += b->cpu_ns - a->cpu_ns;
		busy_ns = rank_busy_ns > busy_ns ? rank_busy_ns : busy_ns;
	}
	for (size_t i = 0; i < sizeof load->used; i++) {
		overlaps |= (load->used[i] & group->end->mask[i]) != 0;
		load->used[i] |= group->end->mask[i];
	}
	load->ranks += (int64_t)count;
	load->cpu_ns += cpu_ns;
	if (overlaps || load->others_ns < 0)
		load->others_ns = -1;
	else
		load->others_ns += busy_ns > cpu_ns ? busy_ns - cpu_ns : 0;
}

static void
write_load(struct writer *out, const char *host, const struct load *load)
{
	message_begin(out, "load", 9);
	put_string(out, "host", host);
	put_int(out, "ranks", load->ranks);
	put_int(out, "cores", bits(load->used));
	put_int(out, "threads", load->threads);
	put_int(out, "elapsed_ns", load->elapsed_ns);
	put_int(out, "cpu_ns", load->cpu_ns);
	put_int(out, "thread_cpu_ns", load->thread_cpu_ns);
	put_int(out, "waited_ns", load->waited_ns);
	put_int(out, "others_ns", load->others_ns);
	end_message(out);
}

/* Nothing is known of a rank that died. */
static size_t
find_shares(const struct input *input, struct share *shares)
{
	size_t count = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];
		const struct cores *begin = rank->cores, *end = rank->cores_count == 2 ?
		    rank->cores + 1 : NULL;

		if (end != NULL && end->at_ns > begin->at_ns &&
		    end->waited_ns >= begin->waited_ns && end->busy_ns >= begin->busy_ns &&
		    end->cpu_ns >= begin->cpu_ns)
			shares[count++] = (struct share){ rank->host != NULL ? rank->host : "",
			    begin, end, r };
	}
	SORT(shares, count, by_host);
	return count;
}

void
write_loads(struct writer *out, const struct input *input)
{
	struct share *shares = zalloc((size_t)input->rank_count, sizeof *shares);
	const size_t count = find_shares(input, shares);
	struct load load = { 0 };

	for (size_t i = 0, end; i < count; i = end) {
		end = i + 1;
		while (end < count && strcmp(shares[end].host, shares[i].host) == 0 &&
		    memcmp(shares[end].end->mask, shares[i].end->mask, sizeof load.used) == 0)
			end++;
		add_group(&load, &shares[i], end - i);
		if (end == count || strcmp(shares[end].host, shares[i].host) != 0) {
			write_load(out, shares[i].host, &load);
			load = (struct load){ 0 };
		}
	}
	free(shares);
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
