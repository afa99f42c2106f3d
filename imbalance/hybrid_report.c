/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/waits/hybrid.h"
#include "report.h"

void
hybrid_line(struct text *out, const struct imbalance *im)
{
	struct hybrid h;

	if (hybrid_of(im, &h))
		text_line(out, "hybrid efficiencies (POP): parallel %.4f = MPI %.4f x threads "
		    "%.4f; threads = serial %.4f x imbalance %.4f x on a core %.4f", h.parallel,
		    h.mpi, h.threads, h.serial, h.imbalance, h.on_core);
}

void
hybrid_member(struct json *out, const struct imbalance *im)
{
	struct hybrid h;

	json_break(out);
	if (!hybrid_of(im, &h)) {
		json_null(out, "hybrid");
		return;
	}
	json_begin_object(out, "hybrid");
	json_fixed(out, "parallel", h.parallel, 9);
	json_fixed(out, "mpi", h.mpi, 9);
	json_fixed(out, "threads", h.threads, 9);
	json_fixed(out, "serial", h.serial, 9);
	json_fixed(out, "imbalance", h.imbalance, 9);
	json_fixed(out, "on_core", h.on_core, 9);
	json_int(out, "thread_count", h.thread_count);
	json_seconds(out, "outside_mpi_s", h.outside_ns);
	json_seconds(out, "useful_s", h.useful_ns);
	json_seconds(out, "serial_s", h.serial_ns);
	json_seconds(out, "imbalance_s", h.imbalance_ns);
	json_seconds(out, "blocked_s", h.blocked_ns);
	json_seconds(out, "preempted_s", h.preempted_ns);
	json_seconds(out, "unknown_s", h.unknown_ns);
	json_end_object(out);
}
