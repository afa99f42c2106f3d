/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of calls and of what they wait for, and the counter of those that compute. */
#include "perfetto.h"

static void
put_wait(struct perfetto *p, uint32_t location, const struct slice *call, const struct slice *longest)
{
	const uint64_t name = name_iid(p, longest->late_sender ? NAME_LATE_SENDER : NAME_LATE_MEMBER);
	size_t packet, event = event_begin(p, &packet, call->kept.row.enter_ns, WAIT_TRACK(location), SLICE_BEGIN);

	proto_uint(&p->out, EVENT_NAME_IID, name);
	annotate(p, WAITS_FOR, ANNOTATION_UINT, (uint64_t)p->rows.known.location_rank[longest->waits_for]);
	proto_end(&p->out, event);
	packet_end(p, packet);
	slice_end(p, longest->wait_end_ns, WAIT_TRACK(location));
}

/* A call with its PARTS, COUNT rows: what it did itself as arguments, all its messages as flows. */
static void
put_call(struct perfetto *p, uint32_t location, uint64_t seq, size_t count)
{
	const struct slice *call = window_row(&p->rows.window, location, seq), *longest = call;
	const uint64_t name = name_iid(p, call->kept.row.call), site = site_iid(p, call->kept.row.site);
	size_t packet, event = event_begin(p, &packet, call->kept.row.enter_ns, THREAD_TRACK(location), SLICE_BEGIN);

	proto_uint(&p->out, EVENT_NAME_IID, name);
	if (call->kept.row.peer != NO_PEER)
		annotate(p, PEER, ANNOTATION_INT, (uint64_t)(int64_t)call->kept.row.peer);
	if (call->kept.tag != NO_TAG)
		annotate(p, TAG, ANNOTATION_INT, (uint64_t)(int64_t)call->kept.tag);
	if (call->kept.row.comm > 0)
		annotate(p, COMM, ANNOTATION_UINT, call->kept.row.comm);
	if (call->kept.sent > 0)
		annotate(p, SENT, ANNOTATION_UINT, call->kept.sent);
	if (call->kept.received > 0)
		annotate(p, RECEIVED, ANNOTATION_UINT, call->kept.received);
	if (call->kept.folded > 0)
		annotate(p, FOLDED, ANNOTATION_UINT, call->kept.folded);
	if (site > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, site);
	for (size_t i = 0; i < count; i++) {
		const struct slice *part = window_row(&p->rows.window, location, seq + i);

		if (part->flow > 0)
			proto_fixed64(&p->out, EVENT_FLOW, part->flow);
		if (part->flow_end > 0)
			proto_fixed64(&p->out, EVENT_FLOW_END, part->flow_end);
		if (part->wait_end_ns > longest->wait_end_ns)
			longest = part;
	}
	proto_end(&p->out, event);
	packet_end(p, packet);
	slice_end(p, call->kept.row.leave_ns, THREAD_TRACK(location));
	if (longest->wait_end_ns > call->kept.row.enter_ns)
		put_wait(p, location, call, longest);
}

/* The time between calls, shared out to the bins that it lies in. */
static void
add_computing(struct perfetto *p, int64_t from_ns, int64_t to_ns)
{
	const double width = (double)p->rows.known.run_ns / BINS;

	if (width <= 0 || to_ns > p->rows.known.run_ns || from_ns < 0)
		return;
	for (size_t bin = (size_t)((double)from_ns / width); bin < BINS && (double)bin * width < (double)to_ns;
	    bin++) {
		double low = (double)bin * width, high = low + width;

		if (low < (double)from_ns)
			low = (double)from_ns;
		if (high > (double)to_ns)
			high = (double)to_ns;
		if (high > low)
			p->bins[bin] += high - low;
	}
}

/* Calls before SEQ are complete with all their edges. */
void
put_calls(struct rows *rows, uint32_t location, uint64_t seq)
{
	struct perfetto *p = (struct perfetto *)(void *)rows;
	const struct lane *lane = &p->rows.window.lanes[location];
	const int32_t rank = p->rows.known.location_rank[location];
	const uint64_t end = seq < lane->first + lane->count ? seq : lane->first + lane->count;
	uint64_t at = lane->first;

	while (at < end) {
		const struct slice *call = window_row(&p->rows.window, location, at), *part;
		size_t count = 1;

		while ((part = window_row(&p->rows.window, location, at + count)) != NULL && part->kept.row.part > 0)
			count++;
		if (at + count > end)
			break;
		if (p->rows.known.location_thread[location] == 0 && p->left_ns[location] >= 0)
			add_computing(p, p->left_ns[location], call->kept.row.enter_ns);
		p->left_ns[location] = call->kept.row.leave_ns;
		if (is_wanted(p->export, rank, call->kept.row.enter_ns, call->kept.row.leave_ns))
			put_call(p, location, at, count);
		at += count;
	}
	window_drop(&p->rows.window, location, at);
}

/* How many of all ranks compute, in percent, where it is of the whole run. */
void
put_counter(struct perfetto *p)
{
	const double width = (double)p->rows.known.run_ns / BINS;

	if (p->export->ranks != NULL || width <= 0)
		return;
	own_track(p, COUNTER_TRACK, "computing", "% of ranks");
	for (size_t bin = 0; bin < BINS; bin++) {
		int64_t at_ns = (int64_t)((double)bin * width);
		size_t packet, event;

		if (at_ns < p->export->from_ns || at_ns > p->export->to_ns)
			continue;
		event = event_begin(p, &packet, at_ns, COUNTER_TRACK, COUNTER);
		proto_double(&p->out, EVENT_COUNTER, 100 * p->bins[bin] / width / p->rows.known.ranks);
		proto_end(&p->out, event);
		packet_end(p, packet);
	}
}
