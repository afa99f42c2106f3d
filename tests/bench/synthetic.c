/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synthetic - raw traces of a run that never was, of any size
 *
 * writes  the raw traces of all ranks, one behind the other
 * memory  one block
 *
 * Every iteration each rank computes, exchanges a message with both neighbours in a ring
 * (MPI_Irecv twice, MPI_Isend twice, MPI_Waitall), and every tenth iteration ends with an
 * MPI_Allreduce. All times follow from the rank and the iteration alone: in iteration k the rank
 * k modulo ranks is the last to arrive. So no rank needs to know another's history.
 */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../stream/calls.h"
#include "../../stream/tool.h"

static const char usage[] =
	"usage: synthetic [-r RANKS] [-c CALLS]\n"
	"Write raw traces of about CALLS calls in all, on RANKS ranks [4, 100000].\n";

enum { BLOCK_ROWS = 4096, PERIOD_NS = 20000, JITTER_NS = 5000, LATENCY_NS = 300 };

struct generator {
	struct writer out;
	struct calls calls;
	int64_t ranks, iterations;
	uint16_t init, irecv, isend, waitall, allreduce, finalize;
};

static int64_t
arrival_ns(const struct generator *g, int64_t rank, int64_t k)
{
	uint64_t hash = ((uint64_t)rank << 32 ^ (uint64_t)k) * 0x9e3779b97f4a7c15u;
	int64_t jitter_ns = k % g->ranks == rank ? JITTER_NS : (int64_t)(hash >> 40) % JITTER_NS;

	return 100000 + k * PERIOD_NS + jitter_ns;
}

static void
flush_block(struct generator *g)
{
	if (g->calls.count > 0 && calls_write(&g->out, &g->calls) < 0)
		die_output();
	g->calls.first += g->calls.count;
	g->calls.count = 0;
}

static size_t
add_row(struct generator *g, uint16_t call, int64_t enter_ns, int64_t leave_ns)
{
	struct calls *c = &g->calls;
	size_t i = c->count++;

	c->enter_ns[i] = enter_ns;
	c->leave_ns[i] = leave_ns;
	c->call[i] = call;
	c->site[i] = 0;
	c->comm[i] = 1;
	c->peer[i] = NO_PEER;
	c->tag[i] = NO_TAG;
	c->bytes_sent[i] = c->bytes_received[i] = 0;
	c->request[i] = c->request_at[i] = c->folded[i] = 0;
	return i;
}

static void
add_iteration(struct generator *g, int64_t rank, int64_t k)
{
	struct calls *c = &g->calls;
	int64_t left = (rank + g->ranks - 1) % g->ranks, right = (rank + 1) % g->ranks;
	int64_t enter_ns = arrival_ns(g, rank, k), wait_ns = enter_ns + 400, leave_ns;
	int64_t latest_ns = arrival_ns(g, left, k);

	if (arrival_ns(g, right, k) > latest_ns)
		latest_ns = arrival_ns(g, right, k);
	latest_ns += 300 + LATENCY_NS;		/* the neighbours' sends begin 200 and 300 ns on */
	leave_ns = (latest_ns > wait_ns ? latest_ns : wait_ns) + 50;
	if (c->count + 9 > BLOCK_ROWS)
		flush_block(g);
	for (int n = 0; n < 4; n++) {		/* receives from left and right, sends to both */
		size_t i = add_row(g, n < 2 ? g->irecv : g->isend, enter_ns + 100 * n,
		    enter_ns + 100 * n + 50);

		c->peer[i] = (int32_t)(n % 2 == 0 ? left : right);
		c->tag[i] = n == 0 || n == 3 ? 0 : 1;	/* tag 0 goes right */
		*(n < 2 ? &c->bytes_received[i] : &c->bytes_sent[i]) = 1024;
	}
	for (int n = 0; n < 4; n++) {
		size_t i = add_row(g, n == 0 ? g->waitall : 0, wait_ns, leave_ns);

		c->request[i] = 4;
		if (n < 2) {
			c->peer[i] = (int32_t)(n == 0 ? left : right);
			c->tag[i] = n;
			c->bytes_received[i] = 1024;
		}
	}
	if (k % 10 == 9) {
		size_t i = add_row(g, g->allreduce, leave_ns + 1000,
		    100000 + k * PERIOD_NS + 2 * JITTER_NS + 3000);

		c->bytes_sent[i] = c->bytes_received[i] = 8;
	}
}

static void
write_rank(struct generator *g, int64_t rank, int argc, char **argv)
{
	bool used[1 << 16] = { false };
	int64_t end_ns = 100000 + g->iterations * PERIOD_NS + 3 * JITTER_NS;

	if (writer_open(&g->out, STDOUT_FILENO, "raw", NULL, argc, argv) < 0)
		die_output();
	message_begin(&g->out, "rank", 3);
	put_int(&g->out, "rank", rank);
	put_int(&g->out, "ranks", g->ranks);
	put_int(&g->out, "run", 1);
	message_end(&g->out);
	used[g->init] = used[g->irecv] = used[g->isend] = used[g->waitall] = used[g->allreduce] =
	    used[g->finalize] = true;
	call_names_write(&g->out, used);
	g->calls.first = 0;
	add_row(g, g->init, 1000 + rank % 100, 90000 + rank % 100);
	for (int64_t k = 0; k < g->iterations; k++)
		add_iteration(g, rank, k);
	add_row(g, g->finalize, end_ns + rank % 100, end_ns + 10000);
	flush_block(g);
	if (writer_end_more(&g->out) < 0)
		die_output();
}

int
main(int argc, char **argv)
{
	static struct generator g;
	int64_t ranks = 4, calls = 100000;
	int c;

	tool = "synthetic";
	while ((c = getopt(argc, argv, "r:c:")) != -1)
		switch (c) {
		case 'r': ranks = parse_integer("-r", optarg, 2, 1 << 24); break;
		case 'c': calls = parse_integer("-c", optarg, 1, INT64_MAX); break;
		default: bad_usage(usage);
		}
	refuse_terminal_output();
	g.ranks = ranks;
	g.iterations = (10 * calls / ranks + 50) / 51;	/* 51 calls in ten iterations */
	g.init = (uint16_t)call_number("MPI_Init");
	g.irecv = (uint16_t)call_number("MPI_Irecv");
	g.isend = (uint16_t)call_number("MPI_Isend");
	g.waitall = (uint16_t)call_number("MPI_Waitall");
	g.allreduce = (uint16_t)call_number("MPI_Allreduce");
	g.finalize = (uint16_t)call_number("MPI_Finalize");
	if (calls_reserve(&g.calls, BLOCK_ROWS) < 0)
		die("out of memory");
	for (int64_t rank = 0; rank < ranks; rank++)
		write_rank(&g, rank, argc, argv);
	return DONE;
}
