/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that did not return in a run that is over: the verdict, and which thread each waits
 * for. Memory: some 2 kB a thread, and the rows of the ranks that messages may come from.
 */
#ifndef UNRETURNED_H
#define UNRETURNED_H

#include <stddef.h>
#include <stdint.h>

/* A place in a rank's program: "function file:line", "function", or NULL; the caller frees it. */
struct namer {
	char *(*name)(struct namer *namer, int32_t rank, uint64_t address);
};

/* Such a text; of FILE only the name. */
char *place_named(const char *function, const char *file, int line);

struct awaited_thread {
	unsigned operation;	/* index of call_name; 0: it is not proved that the call waits */
	int32_t rank;
	uint32_t thread;
};

struct unreturned;
/* From the raw traces in these files, which are damaged nowhere. NAMER: NULL names no places. */
struct unreturned *unreturned_open(char **files, size_t count, struct namer *namer);
void unreturned_close(struct unreturned *unreturned);
const char *unreturned_verdict(const struct unreturned *unreturned);
const char *unreturned_sentence(const struct unreturned *unreturned);
struct awaited_thread unreturned_call(const struct unreturned *unreturned, int32_t rank,
    uint32_t thread);

#endif
