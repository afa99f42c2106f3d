/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that did not return in a run that is over: the verdict, and which thread each waits
 * for. Memory: some 2 kB a thread, and the rows of the ranks that messages may come from.
 */
#ifndef UNRETURNED_H
#define UNRETURNED_H

#include <stddef.h>
#include <stdint.h>

struct awaited_thread {
	unsigned operation;	/* index of call_name; 0: it is not proved that the call waits */
	int32_t rank;
	uint32_t thread;
};

struct unreturned;
struct symbol_files;
/*
 * From the raw traces in these files, which are damaged nowhere. NAMES_OF: for names of places;
 * NULL: they stay unnamed.
 */
struct unreturned *unreturned_open(char **files, size_t count, struct symbol_files *names_of);
void unreturned_close(struct unreturned *unreturned);
const char *unreturned_verdict(const struct unreturned *unreturned);
const char *unreturned_sentence(const struct unreturned *unreturned);
struct awaited_thread unreturned_call(const struct unreturned *unreturned, int32_t rank,
    uint32_t thread);

#endif
