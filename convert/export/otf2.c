/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2 archives, written by OTF2's library into NAME.part, which is renamed to NAME when complete.
 *
 * memory  OTF2's buffer of each location, at most 256 KiB; open requests; for a graph, the rows to
 *         which edges may still come
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "otf2.h"

/* OTF2 gives its callbacks more than they need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ARCHIVE "traces"

void
archive_check(const struct archive *a, OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS)
		die("%s: %s", a->export->name, OTF2_Error_GetDescription(code));
}

/* Turns an error of the library into ours and exits at once: the library cannot continue. */
static OTF2_ErrorCode
end_tool(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode error,
    const char *format, va_list arguments)
{
	archive_check(user, error);
	return error;
}

static void
need_writer(struct archive *a, uint32_t location)
{
	struct spot *spot = &a->spots[location];

	if (spot->writer == NULL &&
	    (spot->writer = OTF2_Archive_GetEvtWriter(a->archive, location)) == NULL)
		die("%s: no room for the events of location %u", a->export->name, location);
}

/* ---- the folder ---- */

/* Removes the files of a folder that belong to an archive, no others. */
static void
clear_folder(const char *folder)
{
	DIR *opened = opendir(folder);
	struct dirent *entry;

	if (opened == NULL)
		return;
	while ((entry = readdir(opened)) != NULL) {
		const char *suffix = strrchr(entry->d_name, '.');
		char *path = formatted("%s/%s", folder, entry->d_name);

		if (strcmp(entry->d_name, ARCHIVE) == 0)
			clear_folder(path);
		else if (suffix != NULL && (strcmp(suffix, ".evt") == 0 || strcmp(suffix,
		    ".def") == 0 || strcmp(entry->d_name, ARCHIVE ".otf2") == 0))
			unlink(path);
		free(path);
	}
	closedir(opened);
	rmdir(folder);
}

static void
make_folder(struct archive *a)
{
	const char *name = a->export->name;
	struct stat there;

	if (lstat(name, &there) == 0 && rmdir(name) != 0)
		die("%s: is there already, and not an empty folder", name);
	a->folder = formatted("%s.part", name);
	clear_folder(a->folder);	/* left by a killed run */
	if (mkdir(a->folder, 0777) != 0)
		die("%s: %s", a->folder, strerror(errno));
}

/* ---- the archive ---- */

static OTF2_FlushType
may_flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	return OTF2_FLUSH;
}

/* Gives a buffer one chunk. When it is full, OTF2 gets no other and writes it to the file. */
static void *
take_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **of_buffer,
    uint64_t size)
{
	if (*of_buffer != NULL)
		return NULL;
	return *of_buffer = malloc(size);
}

static void
free_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **of_buffer, bool final)
{
	free(*of_buffer);
	*of_buffer = NULL;
}

static void
open_archive(struct archive *a)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = may_flush };
	static const OTF2_MemoryCallbacks memory = { take_chunk, free_chunk };
	struct rlimit files;

	/* Each location has a file that stays open. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	OTF2_Error_RegisterCallback(end_tool, a);
	if ((a->archive = OTF2_Archive_Open(a->folder, ARCHIVE, OTF2_FILEMODE_WRITE,
	    OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX,
	    OTF2_COMPRESSION_NONE)) == NULL)
		die("%s: cannot be made", a->folder);
	archive_check(a, OTF2_Archive_SetFlushCallbacks(a->archive, &flush, NULL));
	archive_check(a, OTF2_Archive_SetMemoryCallbacks(a->archive, &memory, NULL));
	archive_check(a, OTF2_Archive_SetSerialCollectiveCallbacks(a->archive));
	archive_check(a, OTF2_Archive_SetCreator(a->archive, OTF2_CREATOR " " VERSION));
	archive_check(a, OTF2_Archive_OpenEvtFiles(a->archive));
	a->definitions = OTF2_Archive_GetGlobalDefWriter(a->archive);
	a->attributes = OTF2_AttributeList_New();
	if (a->definitions == NULL || a->attributes == NULL)
		die("out of memory");
}

/* The library numbers an archive by the clock only. The anchor file gets one from the content. */
static void
number_archive(const struct archive *a, uint64_t ours)
{
	char *path = formatted("%s/" ARCHIVE ".otf2", a->folder);
	OTF2_Reader *reader = OTF2_Reader_Open(path);
	unsigned char bytes[4096], turned[8];
	uint64_t made;
	FILE *file;
	size_t size;

	archive_check(a, OTF2_Reader_SetSerialCollectiveCallbacks(reader));
	archive_check(a, OTF2_Reader_GetTraceId(reader, &made));
	archive_check(a, OTF2_Reader_Close(reader));
	file = fopen(path, "r+");
	size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
	for (int i = 0; i < 8; i++)
		turned[i] = (unsigned char)(made >> (56 - 8 * i));
	for (size_t i = 0; i + 8 <= size; i++)
		if (memcmp(bytes + i, &made, 8) == 0 || memcmp(bytes + i, turned, 8) == 0) {
			memcpy(bytes + i, &ours, 8);
			if (fseek(file, (long)i, SEEK_SET) != 0 || fwrite(&ours, 8, 1, file) != 1)
				die("%s: %s", path, strerror(errno));
			break;
		}
	if (file == NULL || fclose(file) != 0)
		die("%s: %s", path, strerror(errno));
	free(path);
}

static void
close_archive(struct archive *a)
{
	OTF2_DefWriter *local;
	uint64_t ours = 0;

	rows_end(a);
	for (uint32_t l = 0; l <= a->locations; l++) {
		if (l < a->locations && a->known->location_rank[l] >= 0)
			need_writer(a, l);
		if (a->spots[l].writer != NULL)
			archive_check(a, OTF2_Archive_CloseEvtWriter(a->archive,
			    a->spots[l].writer));
		ours = mix(ours, a->spots[l].events + (uint64_t)a->spots[l].left_ns);
	}
	archive_check(a, OTF2_Archive_CloseEvtFiles(a->archive));
	/* Ids and clocks are the same in the whole archive, but readers want local definitions. */
	archive_check(a, OTF2_Archive_OpenDefFiles(a->archive));
	for (uint32_t l = 0; l <= a->locations; l++)
		if (a->spots[l].writer != NULL &&
		    (local = OTF2_Archive_GetDefWriter(a->archive, l)) != NULL)
			archive_check(a, OTF2_Archive_CloseDefWriter(a->archive, local));
	archive_check(a, OTF2_Archive_CloseDefFiles(a->archive));
	definitions_end(a);
	archive_check(a, OTF2_Archive_CloseGlobalDefWriter(a->archive, a->definitions));
	archive_check(a, OTF2_Archive_Close(a->archive));
	number_archive(a, ours);
}

/* ---- input: calls, and the messages that define them ---- */

static void
take_rank(struct archive *a, struct reader *in, const struct message *message)
{
	struct rank_of *of;
	int64_t rank;

	if (body_int(in, message, "rank", 0, a->known->ranks - 1, &rank) < 0)
		die_input(in);
	of = &a->ranks[rank];
	free(of->program);
	of->program = body_string(message, "program");
#define X(key) \
	const msgpack_object *key##_value = body_get(message, #key); \
	of->has_##key = key##_value != NULL && \
	    (key##_value->type == MSGPACK_OBJECT_POSITIVE_INTEGER || \
	    key##_value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER || \
	    key##_value->type == MSGPACK_OBJECT_BOOLEAN); \
	of->key = !of->has_##key ? 0 : key##_value->type == MSGPACK_OBJECT_BOOLEAN ? \
	    key##_value->via.boolean : key##_value->via.i64;
	OTF2_RANK_KEYS(X)
#undef X
}

/* Scout has no use for these. Threads without calls are no locations. */
static void
take_switches(struct archive *a, struct reader *in, const struct message *message)
{
	const struct samples *s = &a->switches;
	struct spot *spot;

	if (reader_verify(in, message) < 0 || samples_read(&a->switches, in, message) < 0)
		die_input(in);
	if (a->scout || s->worker > 0)
		return;
	spot = &a->spots[s->location];
	for (size_t i = 0; s->regions && i < s->count; i++)
		*APPEND(spot->regions, spot->region_count, spot->region_capacity) =
		    (struct region_event){ s->time_ns[i], s->region[i] };
	if (!s->regions && !s->clock)
		lane_add(&a->off, &a->switches);
}

/* Messages other than calls, in both kinds of input. */
static void
take_other(struct archive *a, struct reader *in, const struct message *message)
{
	const struct segments *path;
	uint32_t number;
	char *type;

	if (is_kind(message, "run")) {
		a->locations = a->known->location_count;
		a->ranks = zalloc((size_t)a->known->ranks + 1, sizeof *a->ranks);
		a->spots = zalloc((size_t)a->locations + 1, sizeof *a->spots);
		for (uint32_t l = 0; l <= a->locations; l++) {
			a->spots[l].left_ns = INT64_MIN;
			a->spots[l].uncounted.rows.location = l;
		}
		if (body_int_if(in, message, "date_s", 0, INT64_MAX / 1000000000, &a->date_s) < 0)
			die_input(in);
	} else if (is_kind(message, "rank"))
		take_rank(a, in, message);
	else if (is_kind(message, "communicator")) {
		if (body_number(in, message, "comm", 1, &number) < 0)
			die_input(in);
		type = body_string(message, "type");
		comm_type(a, number, type);
		free(type);
	} else if (is_kind(message, "switched") || is_kind(message, "regions"))
		take_switches(a, in, message);
	else if (!a->scout && (path = message_segments(in, message, a->known)) != NULL) {
		need_writer(a, a->locations);
		for (size_t i = 0; i < path->count; i++)
			rows_segment(a, &path->at[i]);
	}
}

/* ---- calls with their waits, which a trace does not tell ---- */

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct archive *a = (struct archive *)(void *)observer;

	take_other(a, im->graph.in, message);
	if (is_kind(message, "calls"))
		uncounted_add(&a->spots[calls->location].uncounted, im->graph.in, message, calls);
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct archive *a = (struct archive *)(void *)observer;
	struct uncounted *of = &a->spots[location].uncounted;
	const size_t end = uncounted_end(of);

	(void)im, (void)row;
	need_writer(a, location);
	rows_put(a, location, &of->rows, of->begin, end, waits, count);
	uncounted_drop(of, end);
}

void
export_otf2(const struct export *export)
{
	static struct imbalance im;
	static struct archive a = { .observer = { .message = see_message, .call = see_call } };

	a.export = export;
	a.scout = export->scout;
	make_folder(&a);
	open_archive(&a);
	a.known = &im.graph.known;
	definitions_begin(&a);
	observe(&im, &a.observer, open_stream(export->files[0]));
	close_archive(&a);
	if (rename(a.folder, export->name) != 0)
		die("%s: %s", export->name, strerror(errno));
}
