/* SPDX-License-Identifier: BSD-3-Clause */
#include "planes.h"

#include <string.h>

void
planes_apart(unsigned char *bytes, const struct plane *plane, unsigned char *room)
{
	const size_t count = plane->count, width = plane->width;
	unsigned char *at = bytes + plane->begin;

	memcpy(room, at, count * width);
	for (size_t byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			at[byte * count + i] = room[i * width + byte];
}

void
planes_together(unsigned char *bytes, const struct plane *plane, unsigned char *room)
{
	const size_t count = plane->count, width = plane->width;
	unsigned char *at = bytes + plane->begin;

	memcpy(room, at, count * width);
	for (size_t byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			at[i * width + byte] = room[byte * count + i];
}
