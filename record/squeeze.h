/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SQUEEZE_H
#define SQUEEZE_H

/*
 * Makes a raw trace smaller, under another name that then becomes its own: every block with the narrowest columns
 * that hold it and compressed, small blocks of a location as one, the definitions between them together. One that
 * is compressed stays. LEVEL is zstd's. 0, or -1: the trace is as it was. Memory: one such block for each location,
 * which the caller leaves to the end of its process.
 */
int squeeze_trace(const char *path, int level);

#endif
