/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-stuck - does a run hang, and which rank, where, for whom
 *
 * reads   the raw traces of a run, while it runs or after it was killed: open calls,
 *         definitions, and the few rows that a verdict needs; for processes of this
 *         host also /proc
 * writes  a verdict in a sentence, and the calls that the ranks are in
 * memory  some 2 kB for each thread, and a window of one trace; for a proof the rows
 *         of the ranks concerned
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/run/raw_folder.h"
#include "../base/tool/process.h"
#include "../base/tool/tool.h"
#include "stuck.h"

static const char usage[] =
	"usage: lp-stuck [-F text|json] [-a S] [-w S] FOLDER [...]\n"
	"Say whether a run that lp-record records hangs, which rank, where and for whom.\n"
	"  -F, --format FORMAT  text: a sentence and a table; json: an object [text]\n"
	"  -a, --after S        call it stuck if nothing has moved for S seconds [10]; deadlocks,\n"
	"                       mismatches and dead ranks are proved at once\n"
	"  -w, --watch S        look again every S seconds until the run ends\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

#define STEP_NS 100000000	/* between two looks, at least */
enum { SHARE = 20 };		/* of continued looks: at most 1/20 of a core */

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "text", "json", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', ASKED }, { "after", 'a', AS_SECONDS, OPTION(after_ns) },
		{ "watch", 'w', AS_SECONDS, OPTION(watch_ns) }, OPTIONS_END
	};
	struct options opt = { .after_ns = STILL_NS };

	while (next_option(argc, argv, "", rows, usage, &opt) == 'F')
		opt.json = parse_form(optarg, forms) == 1;
	if (optind == argc)
		bad_usage(usage);
	opt.folders = argv + optind;
	return opt;
}

static void
sleep_ns(int64_t ns)
{
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
}

/*
 * Whether any thread has moved since the last look, except for polls; and whether a blamed one has.
 */
static bool
moved(const struct look *before, const struct look *now, bool *blamed)
{
	bool any = false;

	*blamed = false;
	for (int32_t r = 0; r < now->rank_count && r < before->rank_count; r++)
		for (size_t t = 0; t < now->ranks[r].thread_count &&
		    t < before->ranks[r].thread_count; t++) {
			const struct thread *a = &before->ranks[r].threads[t];
			struct thread *b = &now->ranks[r].threads[t];
			const bool enters = b->call != 0 && !call_polls(b->call) &&
			    (b->call != a->call || b->open.enter_ns != a->open.enter_ns);

			if (!enters && (a->rows == b->rows || !rows_moved(now, b, a->rows)))
				continue;
			any = true;
			*blamed |= before->ranks[r].blamed &&
			    before->ranks[r].life == now->ranks[r].life;
		}
	return any || now->rows < before->rows;
}

/* The look's blocks refer to the names of files. */
static void
look_at(struct look *look, char **folders)
{
	static struct symbol_files programs;	/* opened once for all looks */
	char **files = NULL;
	size_t count = 0, capacity = 0;
	/* listed first, read last: meanwhile they may get the names of traces */
	struct paths starting = folder_paths(folders[0], is_starting_name);

	for (char **folder = folders; *folder != NULL; folder++) {
		struct paths found = folder_run(*folder);

		if (found.count < 0)
			die("%s: %s", *folder, strerror(errno));
		for (int i = 0; i < found.count; i++)
			*APPEND(files, count, capacity) = found.at[i];
		free(found.at);
	}
	for (int i = 0; i < starting.count; i++)
		*APPEND(files, count, capacity) = starting.at[i];
	free(starting.at);
	look_read(look, files, count, true, &programs);
	if (look->rank_count == 0)
		die("%s: no raw traces, and no rank is in MPI_Init", folders[0]);
	free(files);
}

static struct verdict
verdict_of(struct look *look, int64_t after_ns, int64_t seen_ns)
{
	struct verdict verdict = waits_judge(look, after_ns, seen_ns);
	char *sentence = verdict.sentence;

	verdict.sentence = formatted("%s%s", verdict.state == KILLED ?
	    "the run did not end: it was killed " : verdict.over && verdict.state == STUCK ?
	    "the run did not end: " : "", sentence);
	free(sentence);
	return verdict;
}

/*
 * Ranks continue while this reads their traces, one after another. A verdict on a running program
 * holds if the ranks concerned are at the same place in a second look. Looks go on until ranks have
 * not moved for as long as asked.
 */
static struct verdict
judge(struct look *look, const struct options *opt)
{
	struct look before;
	struct verdict verdict;
	int64_t step_ns = STEP_NS, spent_ns = 0, still_ns = 0;
	uint64_t rows;
	bool blamed;

	look_at(look, opt->folders);
	verdict = verdict_of(look, opt->after_ns, 0);
	while ((verdict.state == MOVING || verdict.state == STUCK) && !is_over(look) &&
	    spent_ns <= 2 * opt->after_ns + STEP_NS) {
		const enum state state = verdict.state;
		const int64_t begin_ns = now_ns();
		bool any;

		before = *look;
		sleep_ns(step_ns);
		look_at(look, opt->folders);
		any = moved(&before, look, &blamed);
		rows = look->rows - before.rows;
		still_ns = any ? 0 : still_ns + now_ns() - begin_ns;
		free(verdict.sentence);
		verdict = verdict_of(look, opt->after_ns, still_ns);
		look_free(&before);
		if (verdict.state == STUCK && state == STUCK && !blamed)
			break;
		if (verdict.state == MOVING && any) {
			free(verdict.sentence);
			verdict.sentence = formatted("moving: %.0f calls/s",
			    (double)rows * 1e9 / (double)step_ns);
			break;
		}
		spent_ns += now_ns() - begin_ns;
		if (step_ns < (now_ns() - begin_ns - step_ns) * SHARE)
			step_ns *= 2;
	}
	return verdict;
}

int
main(int argc, char **argv)
{
	struct options opt;
	struct look look;
	struct verdict verdict;
	bool ends;

	tool = "lp-stuck";
	opt = parse_options(argc, argv);
	do {
		verdict = judge(&look, &opt);
		output(&verdict, &opt);
		fflush(stdout);		/* for users who watch through a pipe */
		free(verdict.sentence);
		ends = opt.watch_ns == 0 || is_over(&look);
		look_free(&look);
		if (!ends)
			sleep_ns(opt.watch_ns);
	} while (!ends);
	return finish(verdict.state == STUCK ? ANSWER_IS_NO : DONE);
}
