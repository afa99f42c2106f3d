/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the critical path says of the imbalance (Boehme, Wolf, de Supinski, Schulz, Geimer: Scalable
 * critical-path based performance analysis, IPDPS 2012). For each call site c, CP_c is the time on
 * the path spent in it or computing up to it, t_c(r) the same time of rank r anywhere, waits left
 * out.
 *
 *	critical imbalance = max(0, CP_c - mean over r of t_c(r))
 *	activity impact = sum over r of min(CP_c, t_c(r))
 *	imbalance impact = sum over r of max(0, CP_c - t_c(r)) *
 *          (|CP| - sum t(r)) / (r's sum of these)
 *
 * The impacts are processor time: of all c, and waits that no site explains, they make up ranks *
 * |CP|.
 */
#ifndef CRITICAL_H
#define CRITICAL_H

#include "../base/waits/waits.h"

struct critical_site {
	uint32_t site;
	int32_t rank;			/* with the largest part of it on the path */
	int64_t path_ns;
	double mean_ns, imbalance_ns, activity_impact_ns, imbalance_impact_ns;
};

struct critical {
	int64_t length_ns, transfer_ns;
	struct critical_site *sites;	/* largest critical imbalance first */
	size_t count;
};

/* From a path stream of lp-critpath and the counted times; FILE must be of the same run. */
struct critical read_critical(const struct imbalance *im, const char *file);

#endif
