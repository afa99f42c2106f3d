/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-merge - raw traces to one trace on one clock
 *
 * reads   the raw traces of all ranks of a run: folders, files, or one concatenated stream; a
 *         pipe is kept in a temporary file, for the input is read twice
 * writes  one trace: the definitions, then the blocks of calls in order of their first enter
 * memory  ranks, their communicators and call sites, 40 bytes for each block of calls
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge.h"

static const char usage[] =
	"usage: lp-merge [-s none|offset|linear] [--partial] [--no-names] [FOLDER|FILE ...]\n"
	"Make one trace on one clock of the raw traces of a run.\n"
	"  -s, --sync HOW   none: clocks as they are; offset: as measured in MPI_Init;\n"
	"                   linear: and in MPI_Finalize [linear]\n"
	"      --partial    go on where ranks are missing\n"
	"      --no-names   leave call sites as addresses: no functions, no lines\n"
	"  -h, --help       print this text\n"
	"  -V, --version    print the version\n";

struct options {
	enum sync sync;
	bool partial;
	bool names;	/* look for functions and lines in the recorded program */
	char **files;	/* NULL-terminated; none: standard input */
};

static struct options
parse_options(int argc, char **argv)
{
	static const char *const syncs[] = { "none", "offset", "linear", NULL };
	static const struct option longs[] = {
		{ "sync", required_argument, NULL, 's' }, { "partial", no_argument, NULL, 'p' },
		{ "no-names", no_argument, NULL, 'n' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	struct options opt = { SYNC_LINEAR, false, true, NULL };
	int c;

	while ((c = getopt_long(argc, argv, "s:hV", longs, NULL)) != -1)
		switch (c) {
		case 's': opt.sync = (enum sync)parse_choice("--sync", optarg, syncs); break;
		case 'p': opt.partial = true; break;
		case 'n': opt.names = false; break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-merge " VERSION "\n");
		default: bad_usage(usage);
		}
	opt.files = argv + optind;
	return opt;
}

static int
is_raw_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "rank.", 5) == 0 && entry->d_name[5] != '\0' &&
	    strspn(entry->d_name + 5, "0123456789") == strlen(entry->d_name + 5);
}

/* Every file rank.N of a folder. */
static void
index_folder(struct input *input, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_raw_name, versionsort);

	if (count < 0)
		die("%s: %s", folder, strerror(errno));
	if (count == 0)
		die("%s: holds no raw trace (rank.0, rank.1, ...)", folder);
	for (int i = 0; i < count; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			die("out of memory");
		index_file(input, path);	/* keeps the path for its messages */
		free(entries[i]);
	}
	free(entries);
}

static void
index_all(struct input *input, char **files)
{
	struct stat status;

	if (*files == NULL) {
		refuse_terminal_input(NULL, usage);
		index_file(input, NULL);
	}
	for (; *files != NULL; files++)
		if (strcmp(*files, "-") == 0)
			index_file(input, NULL);
		else if (stat(*files, &status) == 0 && S_ISDIR(status.st_mode))
			index_folder(input, *files);
		else
			index_file(input, *files);
}

static void
write_ranks(struct writer *out, const struct input *input, int64_t origin_ns)
{
	uint32_t locations = (uint32_t)input->rank_count;
	int64_t run_ns = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		if (rank->threads > 1)
			locations += rank->threads - 1;
		if (rank->rows > 0) {
			int64_t end_ns = corrected_ns(&rank->correction, rank->end_ns) - origin_ns;

			if (end_ns > run_ns)
				run_ns = end_ns;
		}
	}
	message_begin(out, "run", 3);
	put_int(out, "ranks", input->rank_count);
	put_int(out, "locations", locations);
	put_int(out, "run_ns", run_ns);
	message_end(out);
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];
		const struct correction *c = &rank->correction;

		if (!rank->present)
			continue;
		message_begin(out, "rank", 8);
		put_int(out, "rank", r);
		put_string(out, "host", rank->host != NULL ? rank->host : "");
		put_string(out, "program", rank->program != NULL ? rank->program : "");
		put_uint(out, "rows", rank->rows);
		msgpack_pack_str_with_body(&out->pack, "ended", 5);
		if (rank->ended)
			msgpack_pack_true(&out->pack);
		else
			msgpack_pack_false(&out->pack);
		put_int(out, "offset_ns", rank->rows > 0 ?
		    corrected_ns(c, rank->begin_ns) - rank->begin_ns - origin_ns : 0);
		put_int(out, "drift_ppb", (int64_t)(c->drift * 1e9));
		put_int(out, "error_ns", c->error_ns);
		message_end(out);
		for (uint32_t t = 1; t < rank->threads; t++) {
			message_begin(out, "location", 3);
			put_uint(out, "location", rank->location_base + t - 1);
			put_int(out, "rank", r);
			put_uint(out, "thread", t);
			message_end(out);
		}
	}
}

static int
by_time(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	if (a->enter_ns != b->enter_ns)
		return a->enter_ns < b->enter_ns ? -1 : 1;
	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The file that blocks are fetched from; one stays open, for most runs change it seldom. */
struct source {
	const char *file;
	int fd;
	char *bytes;
	size_t capacity;
};

static void
fetch(struct source *source, const char *file, const struct block *block)
{
	size_t done = 0;

	if (source->file == NULL || strcmp(source->file, file) != 0) {
		if (source->fd > STDIN_FILENO)
			close(source->fd);
		source->file = file;
		source->fd = strcmp(file, "standard input") == 0 ? STDIN_FILENO :
		    open(file, O_RDONLY | O_CLOEXEC);
		if (source->fd < 0)
			die("%s: %s", file, strerror(errno));
	}
	source->bytes = grow(source->bytes, &source->capacity, block->size, 1);
	while (done < block->size) {
		ssize_t got = pread(source->fd, source->bytes + done, block->size - done,
		    (off_t)(block->offset + done));

		if (got < 0 && errno != EINTR)
			die("%s:%llu: %s", file, (unsigned long long)block->offset, strerror(errno));
		if (got == 0)
			die("%s:%llu: the file has shrunk", file, (unsigned long long)block->offset);
		done += got > 0 ? (size_t)got : 0;
	}
}

/* Own numbers become common ones; a number that was never defined becomes 0, unknown. */
static void
map_column(uint32_t *values, size_t count, const uint32_t *map, size_t map_size)
{
	for (size_t i = 0; i < count; i++)
		values[i] = values[i] < map_size ? map[values[i]] : 0;
}

static void
write_block(struct writer *out, struct calls *calls, const struct rank *rank,
    const struct block *block, int64_t origin_ns)
{
	for (size_t i = 0; i < calls->count; i++) {
		calls->enter_ns[i] = corrected_ns(&rank->correction, calls->enter_ns[i]) - origin_ns;
		calls->leave_ns[i] = corrected_ns(&rank->correction, calls->leave_ns[i]) - origin_ns;
	}
	map_column(calls->comm, calls->count, rank->comm_map, rank->comm_map_size);
	map_column(calls->site, calls->count, rank->site_map, rank->site_map_size);
	for (size_t i = 0; i < calls->count; i++)	/* the first thread's location is the rank */
		if (calls->request_at[i] == 1)
			calls->request_at[i] = (uint32_t)block->rank + 1;
		else if (calls->request_at[i] > 1)
			calls->request_at[i] += rank->location_base - 1;
	calls->location = block->location;
	if (calls_write(out, calls) < 0)
		die_output();
}

static void
write_blocks(struct writer *out, struct input *input, int64_t origin_ns)
{
	struct source source = { NULL, -1, NULL, 0 };
	struct calls calls = { 0 };
	struct progress progress;
	struct reader in;
	struct message message;

	memset(&in, 0, sizeof in);
	in.raw = true;
	in.call_map = input->scan.call_map;
	msgpack_unpacked_init(&in.unpacked);
	progress_begin(&progress);
	qsort(input->blocks, input->block_count, sizeof *input->blocks, by_time);
	for (size_t b = 0; b < input->block_count; b++) {
		const struct block *block = &input->blocks[b];
		const struct rank *rank = &input->ranks[block->rank];

		fetch(&source, rank->file, block);
		if (reader_open_bytes(&in, rank->file, source.bytes, block->size, block->offset) < 0 ||
		    reader_next(&in, &message) <= 0 || calls_read(&calls, &in, &message) < 0)
			die_input(&in);
		write_block(out, &calls, rank, block, origin_ns);
		progress_show(&progress, out->rows, b, input->block_count);
	}
	progress_end(&progress, out->rows);
}

int
main(int argc, char **argv)
{
	static struct input input;	/* static: its table of calls is too large for a stack */
	struct options opt;
	struct writer out;
	int64_t origin_ns;

	tool = "lp-merge";
	opt = parse_options(argc, argv);
	refuse_terminal_output();
	index_all(&input, opt.files);
	check_ranks(&input, input.run_file, opt.partial);
	origin_ns = correct_clocks(&input, opt.sync);
	if (writer_open(&out, STDOUT_FILENO, "trace", &input.head, argc, argv) < 0)
		die_output();
	write_ranks(&out, &input, origin_ns);
	if (call_names_write(&out, input.used) < 0)
		die_output();
	write_communicators(&out, &input);
	write_sites(&out, &input, opt.names);
	write_blocks(&out, &input, origin_ns);
	if (writer_end(&out) < 0)
		die_output();
	return DONE;
}
