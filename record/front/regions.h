/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of the calling thread, as programs call them (regions.c) or other tools' interfaces. */
#ifndef FRONT_REGIONS_H
#define FRONT_REGIONS_H

#define EXPORT __attribute__((visibility("default")))

/* Set by a recorder when it is loaded. */
extern struct region_hooks {
	void (*begin)(const char *name);
	void (*end)(const char *name);	/* NULL: the innermost one */
} longpole_regions;

void longpole_region_begin(const char *name);
void longpole_region_end(const char *name);

#endif
