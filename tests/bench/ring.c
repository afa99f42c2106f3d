/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring - a trace of ranks that compute, send 1 KiB to the next and receive from the previous one
 *
 * writes  a trace of RANKS times ITERATIONS times {compute, MPI_Send, MPI_Recv};
 *         ranks take turns in being LATE_NS late, and are waited for if that is more than SEND_NS
 * memory  one block
 */
#include <unistd.h>

#include "../../base/stream/calls.h"
#include "../../base/tool/tool.h"

/*
 * Small runs have blocks as from lp-merge, large runs smaller ones, so that time advances evenly.
 */
enum { ROWS = 4096, ALL_ROWS = 32768, COMPUTE_NS = 10000, SEND_NS = 700, RECEIVE_NS = 900 };

static void
write_block(struct writer *out, struct calls *calls, int64_t rank, int64_t ranks, int64_t late_ns,
    int64_t first, int64_t end, const uint16_t *call)
{
	calls->location = (uint32_t)rank;
	calls->first = (uint64_t)(2 * first);
	calls->count = (size_t)(2 * (end - first));
	for (int64_t k = first; k < end; k++) {
		size_t i = (size_t)(2 * (k - first));
		int64_t at_ns = k * (COMPUTE_NS + SEND_NS + RECEIVE_NS) +
		    (k % ranks == rank ? late_ns : 0);

		for (size_t j = i; j < i + 2; j++) {
			bool send = j == i;

			calls->call[j] = call[send ? 0 : 1];
			calls->enter_ns[j] = at_ns + (send ? COMPUTE_NS : COMPUTE_NS + SEND_NS);
			calls->leave_ns[j] = calls->enter_ns[j] + (send ? SEND_NS : RECEIVE_NS);
			if (!send && (k + 1) % ranks == rank && late_ns > SEND_NS)
				calls->leave_ns[j] += late_ns - SEND_NS;
			calls->comm[j] = 1;
			calls->peer[j] = (int32_t)((rank + (send ? 1 : ranks - 1)) % ranks);
			calls->tag[j] = 0;
			calls->bytes_sent[j] = send ? 1024 : 0;
			calls->bytes_received[j] = send ? 0 : 1024;
			calls->site[j] = calls->request[j] = calls->request_at[j] =
			    calls->folded[j] = 0;
		}
	}
	if (calls_write(out, calls) < 0)
		die_output();
}

int
main(int argc, char **argv)
{
	struct writer out;
	struct calls calls = { 0 };
	static bool used[UINT16_MAX + 1];
	uint16_t call[2];
	int64_t ranks, iterations, late_ns, block;

	tool = "ring";
	ranks = argc > 1 ? parse_integer("RANKS", argv[1], 2, 1 << 20) : 16;
	iterations = argc > 2 ? parse_integer("ITERATIONS", argv[2], 1, INT32_MAX) : 100000;
	late_ns = argc > 3 ? parse_integer("LATE_NS", argv[3], 0, COMPUTE_NS - RECEIVE_NS) : 300;
	used[call[0] = (uint16_t)call_number("MPI_Send")] = true;
	used[call[1] = (uint16_t)call_number("MPI_Recv")] = true;
	if (writer_open(&out, STDOUT_FILENO, "trace", NULL, argc, argv) < 0 ||
	    calls_reserve(&calls, ROWS) < 0)
		die_output();
	message_begin(&out, "run", 3);
	put_int(&out, "ranks", ranks);
	put_int(&out, "locations", ranks);
	put_int(&out, "run_ns", iterations * (COMPUTE_NS + SEND_NS + RECEIVE_NS) + late_ns);
	if (message_end(&out) < 0 || call_names_write(&out, used) < 0)
		die_output();
	block = ALL_ROWS / ranks < 64 ? 64 : ALL_ROWS / ranks > ROWS ? ROWS : ALL_ROWS / ranks;
	for (int64_t first = 0, end; first < iterations; first = end) {
		end = first + block / 2 < iterations ? first + block / 2 : iterations;
		for (int64_t rank = 0; rank < ranks; rank++)
			write_block(&out, &calls, rank, ranks, late_ns, first, end, call);
	}
	return writer_end(&out) < 0 ? TROUBLE : DONE;
}
