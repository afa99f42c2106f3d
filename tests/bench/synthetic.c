/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synthetic - raw traces of an invented run, of any size
 *
 * writes  the raw traces of all ranks, concatenated
 * memory  one block
 *
 * In every iteration each rank computes and exchanges a message with both neighbours in a ring
 * (MPI_Irecv twice, MPI_Isend twice, MPI_Waitall). Every tenth iteration ends with an
 * MPI_Allreduce. All times follow from the rank and the iteration: in iteration k, rank k modulo
 * ranks arrives last. So no rank needs another's history. With -a a message is there when its
 * receiver waits for it, and there is no MPI_Allreduce: no rank ever waits for another.
 */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../base/stream/calls.h"
#include "../../base/tool/tool.h"

static const char usage[] =
	"usage: synthetic [-r RANKS] [-c CALLS] [-d DRIFT] [-n SAMPLES] [-b ROWS] [-a]\n"
	"Write raw traces of about CALLS calls in all, on RANKS ranks [4, 100000], whose clocks drift\n"
	"by up to DRIFT ns a second [0]; each has SAMPLES of its clock: none, one, or both ends [2].\n"
	"A block has up to ROWS rows, at least 9 [4096]. With -a ranks never wait for each other.\n";

enum { PERIOD_NS = 20000, JITTER_NS = 5000, LATENCY_NS = 300 };

struct generator {
	struct writer out;
	struct calls calls;
	int64_t ranks, iterations;
	size_t block_rows;
	int64_t drift, samples;		/* drift in ns per second; number of samples */
	bool apart;
	int64_t rank_drift;		/* of the rank being written */
	uint16_t init, irecv, isend, waitall, allreduce, finalize;
};

static int64_t
arrival_ns(const struct generator *g, int64_t rank, int64_t k)
{
	uint64_t hash = ((uint64_t)rank << 32 ^ (uint64_t)k) * 0x9e3779b97f4a7c15u;
	int64_t jitter_ns = k % g->ranks == rank ? JITTER_NS : (int64_t)(hash >> 40) % JITTER_NS;

	return 100000 + k * PERIOD_NS + jitter_ns;
}

static int64_t
own_ns(const struct generator *g, int64_t true_ns)
{
	return true_ns + 1000 * g->rank_drift +
	    (int64_t)((double)g->rank_drift * 1e-9 * (double)true_ns);
}

static void
write_sample(struct generator *g, int64_t at_ns)
{
	message_begin(&g->out, "clock", 4);
	put_int(&g->out, "at_ns", own_ns(g, at_ns));
	put_int(&g->out, "peer", 0);
	put_int(&g->out, "offset_ns", at_ns - own_ns(g, at_ns));
	put_int(&g->out, "error_ns", 1);
	message_end(&g->out);
}

static void
flush_block(struct generator *g)
{
	for (size_t i = 0; i < g->calls.count && g->rank_drift != 0; i++) {
		g->calls.enter_ns[i] = own_ns(g, g->calls.enter_ns[i]);
		g->calls.leave_ns[i] = own_ns(g, g->calls.leave_ns[i]);
	}
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
#define X(field, key, type, is_signed, required, absent) c->field[i] = absent;
	CALL_COLUMNS(X)
#undef X
	c->call[i] = call;
	c->comm[i] = 1;
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
	if (g->apart)				/* all have sent by then */
		wait_ns = 100000 + k * PERIOD_NS + 2 * JITTER_NS;
	latest_ns += 300 + LATENCY_NS;	/* the neighbours' sends begin 200 and 300 ns later */
	leave_ns = (latest_ns > wait_ns ? latest_ns : wait_ns) + 50;
	if (c->count + 9 > g->block_rows)
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
	if (k % 10 == 9 && !g->apart) {
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
	g->rank_drift = g->ranks > 1 ? g->drift * rank / (g->ranks - 1) : 0;
	if (rank > 0 && g->drift != 0 && g->samples > 0)
		write_sample(g, 0);
	g->calls.first = 0;
	add_row(g, g->init, 1000 + rank % 100, 90000 + rank % 100);
	for (int64_t k = 0; k < g->iterations; k++)
		add_iteration(g, rank, k);
	add_row(g, g->finalize, end_ns + rank % 100, end_ns + 10000);
	flush_block(g);
	if (rank > 0 && g->drift != 0 && g->samples > 1)
		write_sample(g, end_ns);
	if (writer_end_of(&g->out, false) < 0)
		die_output();
}

int
main(int argc, char **argv)
{
	static struct generator g;
	int64_t ranks = 4, calls = 100000;
	int c;

	tool = "synthetic";
	g.samples = 2;
	g.block_rows = 4096;
	while ((c = getopt(argc, argv, "r:c:d:n:b:a")) != -1)
		switch (c) {
		case 'r': ranks = parse_integer("-r", optarg, 2, 1 << 24); break;
		case 'c': calls = parse_integer("-c", optarg, 1, INT64_MAX); break;
		case 'd': g.drift = parse_integer("-d", optarg, -1000000, 1000000); break;
		case 'n': g.samples = parse_integer("-n", optarg, 0, 2); break;
		case 'b': g.block_rows = (size_t)parse_integer("-b", optarg, 9, 1 << 20); break;
		case 'a': g.apart = true; break;
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
	if (calls_reserve(&g.calls, g.block_rows) < 0)
		die("out of memory");
	for (int64_t rank = 0; rank < ranks; rank++)
		write_rank(&g, rank, argc, argv);
	return DONE;
}
