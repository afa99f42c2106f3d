/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2 archives, as written by Score-P and others. A run lasts from its first call to its last: the
 * definitions give only the begin and end of the measurement, except in archives of lp-export. The
 * library applies clock offsets and local numbers. It runs in a process of its own, as its
 * behaviour on damaged files is unknown.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "otf2.h"

/* OTF2 gives its callbacks more than they need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

void
otf2_die(const struct otf2 *o, const char *what)
{
	die("%s: %s%s%s", o->file, what, o->why[0] != '\0' ? ": " : "", o->why);
}

/* Keeps the library's first error message as our reason. */
static OTF2_ErrorCode
keep_reason(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode error,
    const char *format, va_list arguments)
{
	struct otf2 *o = user;

	if (o->why[0] == '\0') {
		int used = snprintf(o->why, sizeof o->why, "%s: ",
		    OTF2_Error_GetDescription(error));

		if (used > 0 && (size_t)used < sizeof o->why)
			vsnprintf(o->why + used, sizeof o->why - (size_t)used, format, arguments);
	}
	return error;
}

int64_t
otf2_ns(const struct otf2 *o, uint64_t ticks)
{
	__extension__ typedef __int128 wide;

	if (o->resolution == 1000000000)
		return (int64_t)(ticks - o->origin);
	return (int64_t)(((wide)ticks - (wide)o->origin) * 1000000000 / (wide)o->resolution);
}

/*
 * The anchor file has some hundred bytes. If it is damaged, the library may loop for ever, so the
 * kernel ends it after some seconds of CPU time.
 */
static void
open_archive(struct otf2 *o)
{
	enum { SECONDS = 3 };
	struct rlimit before, some;

	if (getrlimit(RLIMIT_CPU, &before) != 0)
		before = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	some = before;
	if (some.rlim_cur > SECONDS)
		some.rlim_cur = SECONDS;
	setrlimit(RLIMIT_CPU, &some);
	if ((o->reader = OTF2_Reader_Open(o->file)) == NULL)
		otf2_die(o, "no archive of OTF2");
	if (OTF2_Reader_SetSerialCollectiveCallbacks(o->reader) != OTF2_SUCCESS)
		otf2_die(o, "cannot be opened");
	setrlimit(RLIMIT_CPU, &before);
}

/* Passes all events to the callbacks, in order of time. */
static void
read_events(struct otf2 *o)
{
	OTF2_GlobalEvtReaderCallbacks *callbacks = otf2_callbacks(o);
	OTF2_GlobalEvtReader *events;
	uint64_t count = 0;
	bool maps;

	for (size_t i = 0; i < o->lane_count; i++)
		if (OTF2_Reader_SelectLocation(o->reader, o->lanes[i].id) != OTF2_SUCCESS)
			otf2_die(o, "a location cannot be read");
	maps = OTF2_Reader_OpenDefFiles(o->reader) == OTF2_SUCCESS;
	o->why[0] = '\0';	/* there may be none */
	if (OTF2_Reader_OpenEvtFiles(o->reader) != OTF2_SUCCESS)
		otf2_die(o, "its events cannot be read");
	for (size_t i = 0; i < o->lane_count; i++) {
		OTF2_DefReader *local = maps ?
		    OTF2_Reader_GetDefReader(o->reader, o->lanes[i].id) : NULL;

		if (local != NULL && (OTF2_Reader_ReadAllLocalDefinitions(o->reader, local,
		    &count) != OTF2_SUCCESS || OTF2_Reader_CloseDefReader(o->reader,
		    local) != OTF2_SUCCESS))
			otf2_die(o, "local definitions cannot be read");
		if (OTF2_Reader_GetEvtReader(o->reader, o->lanes[i].id) == NULL)
			otf2_die(o, "events of a location cannot be read");
	}
	if (maps)
		OTF2_Reader_CloseDefFiles(o->reader);
	if (o->lane_count > 0 && ((events = OTF2_Reader_GetGlobalEvtReader(o->reader)) == NULL ||
	    OTF2_Reader_RegisterGlobalEvtCallbacks(o->reader, events, callbacks,
	    o) != OTF2_SUCCESS || OTF2_Reader_ReadAllGlobalEvents(o->reader, events,
	    &count) != OTF2_SUCCESS || OTF2_Reader_CloseGlobalEvtReader(o->reader,
	    events) != OTF2_SUCCESS))
		otf2_die(o, "its events are damaged");
	OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
	OTF2_Reader_CloseEvtFiles(o->reader);
	OTF2_Reader_Close(o->reader);
}

static void
import(const char *file, int argc, char **argv)
{
	static struct otf2 o;
	char *creator = NULL;
	int64_t length_ns;

	o.file = file;
	OTF2_Error_RegisterCallback(keep_reason, &o);
	open_archive(&o);
	if (OTF2_Reader_GetCreator(o.reader, &creator) == OTF2_SUCCESS && creator != NULL)
		o.ours = strncmp(creator, OTF2_CREATOR " ", strlen(OTF2_CREATOR " ")) == 0;
	free(creator);
	otf2_definitions(&o);
	if (o.build.ranks == 0)
		otf2_die(&o, "no ranks of MPI");
	if (o.ours && (o.begin + o.length < o.begin || o.length > INT64_MAX))
		otf2_die(&o, "damaged: the length of the run");
	o.origin = o.begin;
	sites_begin(&o);
	rows_begin(&o);
	read_events(&o);
	if (!o.ours && !o.any)
		otf2_die(&o, "no calls of MPI");
	length_ns = o.ours ? otf2_ns(&o, o.begin + o.length) : o.build.run_ns;
	if (o.build.run_ns > length_ns)
		otf2_die(&o, "damaged: a call ends behind the end of the run");
	o.build.run_ns = length_ns;
	build_regions_end(&o.build);
	o.build.date_s = o.date_s;
	build_write(&o.build, argc, argv);
	otf2_say_skipped(&o);
}

void
import_otf2(const char *file, int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	pid_t child;
	int status;

	if (file == NULL || strcmp(file, "-") == 0)
		die("-f otf2: an archive is a folder of files; name its traces.otf2");
	fflush(NULL);
	if ((child = fork()) < 0)
		die("fork: out of memory");
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		import(file, argc, argv);
		_exit(DONE);
	}
	if (waitpid(child, &status, 0) < 0)
		die("the process that reads the archive is gone");
	if (WIFEXITED(status) && WEXITSTATUS(status) != DONE)
		_exit(WEXITSTATUS(status));	/* the child has reported why */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (WIFSIGNALED(status))
		die("%s: damaged: OTF2's library ends with signal %d", file, WTERMSIG(status));
}
