/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-dump - any stream as text: JSON lines, or a table of its calls
 *
 * reads   streams of any content, also concatenated raw traces. A raw trace is read twice, since
 *         names of calls may be at its end; from a pipe it is kept in a temporary file
 * writes  a line for each call, edge and other message, in the order of the stream
 * memory  one block, whatever the length of the stream, and threads beyond one per rank
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../base/tool/spool.h"
#include "dump.h"

/* ---- values of messages unknown to the format, as JSON ---- */

static void
put_hex(struct json *out, const char *key, const char *bytes, size_t size)
{
	static const char hex[] = "0123456789abcdef";

	json_next(out, key);
	text_char(out->text, '"');
	for (size_t i = 0; i < size; i++) {
		text_char(out->text, hex[(unsigned char)bytes[i] >> 4]);
		text_char(out->text, hex[(unsigned char)bytes[i] & 15]);
	}
	text_char(out->text, '"');
}

/* Prints the key of a map's pair, a number in quotes; the value follows with KEY NULL. */
static void
put_map_key(struct json *out, const msgpack_object *key)
{
	char digits[24];

	switch (key->type) {
	case MSGPACK_OBJECT_STR:
		json_key_bytes(out, key->via.str.ptr, key->via.str.size);
		return;
	case MSGPACK_OBJECT_BIN:
		put_hex(out, NULL, key->via.bin.ptr, key->via.bin.size);
		text_char(out->text, ':');
		out->more = false;
		return;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		snprintf(digits, sizeof digits, "%llu", (unsigned long long)key->via.u64);
		break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		snprintf(digits, sizeof digits, "%lld", (long long)key->via.i64);
		break;
	default:
		snprintf(digits, sizeof digits, "?");
	}
	json_key_bytes(out, digits, strlen(digits));
}

/* A msgpack value as JSON; bytes become hexadecimal digits. */
static void
put_value(struct json *out, const char *key, const msgpack_object *value)
{
	switch (value->type) {
	case MSGPACK_OBJECT_BOOLEAN: json_bool(out, key, value->via.boolean); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: json_uint(out, key, value->via.u64); break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: json_int(out, key, value->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: json_double(out, key, value->via.f64); break;
	case MSGPACK_OBJECT_STR:
		json_bytes(out, key, value->via.str.ptr, value->via.str.size);
		break;
	case MSGPACK_OBJECT_BIN: put_hex(out, key, value->via.bin.ptr, value->via.bin.size); break;
	case MSGPACK_OBJECT_EXT: put_hex(out, key, value->via.ext.ptr, value->via.ext.size); break;
	case MSGPACK_OBJECT_ARRAY:
		json_begin_array(out, key);
		for (uint32_t i = 0; i < value->via.array.size; i++)
			put_value(out, NULL, &value->via.array.ptr[i]);
		json_end_array(out);
		break;
	case MSGPACK_OBJECT_MAP:
		json_begin_object(out, key);
		for (uint32_t i = 0; i < value->via.map.size; i++) {
			put_map_key(out, &value->via.map.ptr[i].key);
			put_value(out, NULL, &value->via.map.ptr[i].val);
		}
		json_end_object(out);
		break;
	case MSGPACK_OBJECT_NIL:
	default: json_null(out, key);
	}
}

static const char usage[] =
	"usage: lp-dump [-F json|text] [-k KIND[,KIND]] [-r RANKS] [-b S] [-e S] [FILE ...]\n"
	"Print any stream as text.\n"
	"  -F, --format FORMAT  json: a JSON object a line; text: calls only, with tabs [json]\n"
	"  -k, --kind KINDS     lines of these kinds, as printed: call,message [all]\n"
	"  -r, --ranks RANKS    what concerns these ranks: 0,4-7 [all]\n"
	"  -b, --begin SECONDS  first instant of a call that is printed [no limit]\n"
	"  -e, --end SECONDS    first instant that is not [no limit]\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

/* "a,b" as { "a", "b", NULL }. */
static char **
split(char *list)
{
	size_t count = 0, capacity = 0;
	char **words = NULL;

	for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
		GROW(words, capacity, count + 2);
		words[count++] = word;
	}
	if (count == 0)
		die("an empty list");
	words[count] = NULL;
	return words;
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "json", "text", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', ASKED }, { "kind", 'k', ASKED }, { "ranks", 'r', ASKED },
		{ "begin", 'b', AS_SECONDS, OPTION(begin_ns) },
		{ "end", 'e', AS_SECONDS, OPTION(end_ns) }, OPTIONS_END
	};
	struct options opt = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		switch (c) {
		case 'F': opt.table = parse_form(optarg, forms) == 1; break;
		case 'k': opt.kinds = split(optarg); break;
		case 'r': parse_ranks(&opt.ranks, optarg); break;
		}
	if (opt.table && opt.kinds != NULL)
		die("--kind: the table has calls only");
	opt.files = argv + optind;
	return opt;
}

bool
is_wanted(const struct dump *dump, const char *kind)
{
	if (dump->opt.table)
		return strcmp(kind, "call") == 0;
	if (dump->opt.kinds == NULL)
		return true;
	for (char **k = dump->opt.kinds; *k != NULL; k++)
		if (strcmp(*k, kind) == 0)
			return true;
	return false;
}

struct thread
find_thread(const struct dump *dump, uint64_t location)
{
	/* in raw traces, a location is the number of a thread in its rank */
	if (reader_is_raw(dump->in))
		return (struct thread){ dump->raw_now > 0 && dump->raw_now <= dump->raw_count ?
		    dump->raw_ranks[dump->raw_now - 1] : -1, (int64_t)location };
	return location < dump->thread_capacity && dump->threads[location].thread != 0 ?
	    dump->threads[location] : (struct thread){ (int64_t)location, 0 };
}

void
put_rank(struct json *out, struct thread where)
{
	if (where.rank >= 0)
		json_int(out, "rank", where.rank);
	if (where.thread != 0)
		json_int(out, "thread", where.thread);
}

void
begin_line(struct dump *dump, const char *kind)
{
	json_begin_object(&dump->json, NULL);
	json_text(&dump->json, "kind", kind);
	dump->any = true;
}

void
begin_picked(struct dump *dump, const char *kind, bool timed)
{
	begin_line(dump, kind);
	/* Edges have no times and pass any limits of time. */
	dump->picked |= timed || (dump->opt.begin_ns == INT64_MIN && dump->opt.end_ns == INT64_MAX);
}

void
end_line(struct dump *dump)
{
	json_end_object(&dump->json);
	json_end_line(&dump->json);
}

/* Prints columns, the only values in a small message that need decoding. */
static bool
put_members(struct dump *dump, const struct message *message, const char *key)
{
	static const struct { const char *kind; bool is_signed; const char *keys[16]; } kinds[] = {
		{ "communicator", true, { "members", "remote" } },
		{ "neighbours", true, { "sources" } },
		{ "site", false, { "stack" } },
		{ "spawned", false, { "ranks" } },
		{ "sampled", true, { "time" } },
#define COUNTER(name, ...) #name,
		{ "sampled", false, { "site", "callers",
#include "../../base/stream/counters.h"
		} },
#undef COUNTER
		{ "switched", true, { "time" } },
		{ "switched", false, { "duration", "reason", "on_core", "site", "callers" } },
		{ "regions", true, { "time", "region" } },
		{ "shard", false, { "of" } },
		{ "index", false, { "rows", "from", "before", "at" } },
		{ "wait_state", true, { "rank_ns" } },
		{ "useful", true, { "running", "instructions", "cycles" } },
		{ "monitor", true, { "recorded_end", "end" } },
		{ "replay", true, { "finish", "recorded_finish", "useful", "recorded_useful" } },
	};
	const char *size = strcmp(key, "members") == 0 ? "size" :
	    strcmp(key, "remote") == 0 ? "remote_size" : "count";
	size_t count;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (const char *const *k = kinds[i].keys;
		    is_kind(message, kinds[i].kind) && *k != NULL; k++) {
			if (strcmp(key, *k) != 0)
				continue;
			if (read_column(dump, message, 0, key, size, kinds[i].is_signed ?
			    COLUMN_SIGNED : COLUMN_UNSIGNED, &count))
				put_column_values(&dump->json, key, dump->columns[0], count,
				    kinds[i].is_signed);
			return true;
		}
	return false;
}

/* Prints any message other than a block with its keys and values. */
static void
print_body(struct dump *dump, const struct message *message, const char *kind)
{
	const msgpack_object_map *map = &message->body.via.map;
	struct json *out = &dump->json;

	dump->any = true;
	json_begin_object(out, NULL);
	if (kind != NULL)
		json_text(out, "kind", kind);
	else	/* the reader has cut long columns */
		put_value(out, "kind", &message->stated_kind);
	for (uint32_t i = 0; i < map->size && reader_error(dump->in, NULL) == NULL; i++) {
		const msgpack_object *key = &map->ptr[i].key;
		char name[32] = "";

		if (key->type == MSGPACK_OBJECT_STR)
			snprintf(name, sizeof name, "%.*s", (int)key->via.str.size,
			    key->via.str.ptr);
		if (strcmp(name, "xxh3") == 0 || strcmp(name, "hashed") == 0)
			continue;	/* these keys describe the bytes, not the content */
		if (put_members(dump, message, name))
			continue;
		put_map_key(out, key);
		put_value(out, NULL, &map->ptr[i].val);
	}
	end_line(dump);
}

static void
print_message(struct dump *dump, const struct message *message)
{
	struct thread thread;
	uint32_t location;

	if (is_kind(message, "longpole"))
		dump->raw_now++;
	if (is_kind(message, "location") &&
	    body_number(dump->in, message, "location", 0, &location) == 0 &&
	    body_int(dump->in, message, "rank", 0, INT32_MAX, &thread.rank) == 0 &&
	    body_int(dump->in, message, "thread", 0, INT32_MAX, &thread.thread) == 0)
		*AT(dump->threads, dump->thread_capacity, location) = thread;
	if (is_kind(message, "calls")) {
		if (is_wanted(dump, "call") || is_wanted(dump, "open"))
			print_calls(dump, message);
	} else if (is_kind(message, "call")) {
		/* The option names the kind "call". */
		if (!dump->opt.table && is_wanted(dump, "call_name"))
			print_body(dump, message, "call_name");
	} else if (is_kind(message, "cut")) {
		if (is_wanted(dump, "cut")) {
			begin_line(dump, "cut");
			end_line(dump);
		}
	} else if (!print_edges(dump, message) && is_wanted(dump, message->kind))
		print_body(dump, message, NULL);
}

/* First pass over raw traces: names of calls, and ranks. The second pass will report any errors. */
static void
look_ahead(struct dump *dump)
{
	struct reader *in = dump->in;
	struct message message;

	if (!reader_is_seekable(in) && reader_spool(in, spool_open()) < 0)
		die_input(in);
	dump->raw_count = dump->raw_now = 0;
	if (reader_rewind(in) < 0)
		die_input(in);
	while (reader_next(in, &message) > 0)
		if (is_kind(&message, "longpole")) {
			*APPEND(dump->raw_ranks, dump->raw_count, dump->raw_capacity) = -1;
		} else if (is_kind(&message, "rank") && dump->raw_count > 0)
			body_int(in, &message, "rank", 0, INT32_MAX,
			    &dump->raw_ranks[dump->raw_count - 1]);
	if (reader_rewind(in) < 0)
		die_input(in);
}

static void
flush_lines(void *out)
{
	text_flush(out);
	fflush(stdout);
}

static void
dump_file(struct dump *dump, const char *file)
{
	struct progress progress = { 0 };
	struct message message;
	int got;

	refuse_terminal_input(file, usage);
	if (reader_open(&dump->in, file, READ_ANY) < 0)
		die_input(dump->in);
	reader_when_waiting(dump->in, flush_lines, &dump->out);
	for (size_t i = 0; i < dump->thread_capacity; i++)
		dump->threads[i] = (struct thread){ 0 };
	if (reader_is_raw(dump->in))
		look_ahead(dump);
	while ((got = reader_next(dump->in, &message)) > 0 &&
	    reader_error(dump->in, NULL) == NULL) {
		print_message(dump, &message);
		progress_input(&progress, dump->in);
	}
	progress_end(&progress);
	text_flush(&dump->out);		/* everything before the damage is valid */
	if (reader_error(dump->in, NULL) != NULL)
		die_input(dump->in);
	reader_close(dump->in);
}

/* Whether the filters let nothing through that they apply to. */
static bool
is_nothing(const struct dump *dump)
{
	const struct options *opt = &dump->opt;

	if (opt->kinds != NULL)
		return !dump->any;
	return (opt->ranks.count > 0 || opt->begin_ns != INT64_MIN || opt->end_ns != INT64_MAX) &&
	    !dump->picked && dump->chosen_from;
}

int
main(int argc, char **argv)
{
	static struct dump dump;	/* static: its buffer is too large for the stack */

	tool = "lp-dump";
	dump.opt = parse_options(argc, argv);
	text_begin(&dump.out, stdout, NULL);
	json_begin(&dump.json, &dump.out);
	if (dump.opt.table)
		text_put(&dump.out, "rank\tseq\tcall\tenter_ns\tleave_ns\tcomm\tpeer\ttag\t"
		    "bytes_sent\tbytes_received\n");
	if (*dump.opt.files == NULL)
		dump_file(&dump, NULL);
	for (char **file = dump.opt.files; *file != NULL; file++)
		dump_file(&dump, *file);
	if (is_nothing(&dump))
		die("nothing has the kinds, ranks and times asked for");
	return finish(DONE);
}
