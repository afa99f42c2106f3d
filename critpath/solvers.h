/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What finds the path through a stretch. Each appends its segments in order of time, on member 0 of the team;
 * walk and kahn work in a team of one. All but intervals give the same segments, or, on all members, false:
 * there is a cycle behind the last event.
 */
#ifndef SOLVERS_H
#define SOLVERS_H

#include "../base/path/stretch.h"

typedef bool solver(const struct stretch *stretch, struct segments *segments);

bool solve_kahn(const struct stretch *stretch, struct segments *segments);
bool solve_dijkstra(const struct stretch *stretch, struct segments *segments);
bool solve_delta(const struct stretch *stretch, struct segments *segments);
bool solve_intervals(const struct stretch *stretch, struct segments *segments);

#endif
