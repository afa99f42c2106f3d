/* SPDX-License-Identifier: BSD-3-Clause */
/* The page: one HTML file that loads nothing else. */
#include <math.h>
#include <stdlib.h>

#include "report.h"
#include "hashes.h"	/* of the files beside this one: Makefile */

/*
 * The files beside this one, verbatim. Hidden, as they are local: AArch64's assembler would make
 * all of them the begin of their section where the compiler looks them up in the table of symbols.
 */
#define INCLUDED(name, file) \
	extern __attribute__((visibility("hidden"))) const char name[]; \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n")
INCLUDED(page_script, "build/report/page.js");
INCLUDED(page_style, "report/page.css");
INCLUDED(figure_style, "report/figure.css");

/* Replaces var(--NAME), which only browsers understand, by the colour. */
static void
put_literal_style(struct text *out)
{
	const char *at = figure_style, *use, *end;
	char name[16];

	for (; (use = strstr(at, "var(--")) != NULL; at = end + 1) {
		end = strchr(use, ')');
		snprintf(name, sizeof name, "%.*s:", (int)(end - use - 4), use + 4);
		text_bytes(out, at, (size_t)(use - at));
		text_bytes(out, strchr(strstr(figure_style, name), '#'), strlen("#rrggbb"));
	}
	text_put(out, at);
}

void
figure_file(struct text *out, const struct page *page, const struct figure *figure)
{
	static struct text part;	/* too large for the stack */
	char *bytes = NULL;
	const char *inside;
	size_t size = 0;
	FILE *file = need(open_memstream(&bytes, &size));

	text_begin(&part, file, "memory");
	figure->draw(&part, page);
	text_flush(&part);
	fclose(file);
	inside = strchr(bytes, '\n') + 1;	/* the element begins with the style */
	text_put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	text_bytes(out, bytes, (size_t)(inside - bytes));
	text_put(out, "<style>");
	put_literal_style(out);
	text_put(out,
	    "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	text_put(out, inside);
	free(bytes);
}

/* All styles are in one element and all code in another; the page allows no others. */
static void
put_head(struct text *out, const char *title)
{
	text_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"
	    SCRIPT_SHA256 "'; style-src 'sha256-" STYLE_SHA256
	    "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n<title>");
	text_markup(out, title);
	text_put(out, "</title>\n<style>");
	text_put(out, figure_style);
	text_put(out, page_style);
	text_put(out, "</style>\n</head>\n<body>\n");
}

/* SCALE 100: a share, printed in per cent. */
static void
put_fact(struct text *out, const char *id, const char *name, double scale,
    const char *format, double value)
{
	if (!isfinite(value))
		return;
	text_print(out, "<li>%s<b id=\"%s\" data-v=\"%.9f\">", name, id, value);
	text_print(out, format, scale * value);
	text_put(out, "</b></li>\n");
}

static void
put_share(struct text *out, const char *id, const char *name, double share)
{
	put_fact(out, id, name, 100, "%.1f %%", share);
}

static void
put_facts(struct text *out, const struct page *page)
{
	const struct imbalance *im = &page->im;
	const struct efficiency e = efficiency_of(im, false);
	const double time = (double)page->bins.run_ns * (double)counted_locations(im);

	text_put(out, "<section><h2 id=\"facts\">Efficiency</h2>\n<ul class=\"facts\">\n");
	put_fact(out, "run_time_s", "run time", 1, "%.4g s", seconds(page->bins.run_ns));
	put_share(out, "parallel", "parallel efficiency", e.parallel);
	put_share(out, "load_balance", "load balance", e.load_balance);
	put_share(out, "communication", "communication efficiency", e.communication);
	if (page->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(im, page->ideal, false);

		put_fact(out, "span_s", "from MPI_Init to MPI_Finalize", 1, "%.4g s",
		    seconds(e.span_ns));
		put_fact(out, "ideal_span_s", "the same on an ideal network", 1, "%.4g s",
		    seconds(page->ideal->of.span_ns));
		put_share(out, "serialisation", "serialisation", i.serialisation);
		put_share(out, "transfer", "transfer", i.transfer);
	}
	put_share(out, "wait_share", "of all time waits", (double)explained_of(im).wait_ns / time);
	if (page->path.segments > 0) {
		put_share(out, "path_compute", "of the path computation",
		    path_share(page, page->path_told.ns[COMPUTE]));
		put_share(out, "path_mpi", "of the path MPI",
		    path_share(page, page->path_told.ns[MPI]));
		put_share(out, "path_transfer", "of the path transfers",
		    path_share(page, page->path_told.ns[TRANSFER]));
	}
	text_put(out, "</ul>\n");
	if (page->ideal == NULL && isfinite(e.communication))
		text_put(out, "<p class=\"soft\">Communication efficiency is serialisation times "
		    "transfer. A replay on an ideal network tells them apart: lp-replay GRAPH &gt;ideal, then lp-report --ideal ideal GRAPH.</p>\n");
	if (page->path.segments == 0)
		text_put(out, "<p class=\"soft\">The stream holds no critical path: lp-critpath "
		    "finds it.</p>\n");
	text_put(out, "</section>\n");
}

static void
put_next(struct text *out, const struct page *page)
{
	const struct long_pole *next = page->verdict.next;

	if (next[0].rank < 0)
		return;
	text_put(out, "<ol id=\"next\" start=\"2\">\n");
	for (size_t i = 0; i < sizeof page->verdict.next / sizeof *next && next[i].rank >= 0; i++) {
		char *sentence = verdict_sentence(&next[i]);

		text_put(out, "<li>");
		text_markup(out, sentence);
		text_put(out, ".</li>\n");
		free(sentence);
	}
	text_put(out, "</ol>\n");
}

/* The longest waits with their causes. */
static void
put_chains(struct text *out, const struct page *page)
{
	const struct imbalance *im = &page->im;
	const int32_t *rank = im->graph.known.location_rank;
	struct wait chain[MOST_LINKS];
	char where[LABEL], length[40];

	if (chain_count(im) == 0)
		return;
	text_put(out, "<section><h2 id=\"chains\">The longest waits, and why</h2>\n");
	for (size_t i = 0; i < chain_count(im); i++) {
		size_t links = chain_of(im, i, chain);

		text_print(out, "<p class=\"chain\" data-at=\"%lld\" data-to=\"%lld\" "
		    "data-rank=\"%d\">", (long long)chain[0].from_ns, (long long)chain[0].to_ns,
		    (int)rank[chain[0].location]);
		for (size_t k = 0; k < links && k < 12; k++) {
			const struct wait *w = &chain[k];
			const double s = seconds(w->to_ns - w->from_ns);

			time_label(s, s, length, sizeof length);
			text_print(out, "%srank %d waited %s for rank %d at %.6f s, %s in ",
			    k > 0 ? "<br>&nbsp; as " : "", (int)rank[w->location], length,
			    (int)rank[w->cause], seconds(w->from_ns), state_names[w->state]);
			text_markup(out, site_label(page, w->site, where));
		}
		text_put(out, links > 12 ? "<br>&nbsp; ...</p>\n" : "</p>\n");
	}
	text_put(out, "</section>\n");
}

static void
put_hosts(struct text *out, const struct headline *headline)
{
	text_put(out, "<p>Hosts: ");
	for (size_t i = 0; i < headline->host_count && i < 64; i++) {
		const struct host *host = &headline->hosts[i];

		text_put(out, i > 0 ? ", " : "");
		text_markup(out, host->name);
		text_print(out, " (%d ranks", (int)host->ranks);
		for (size_t k = 0; k < headline->load_count; k++)
			if (headline->loads[k].host != NULL &&
			    strcmp(headline->loads[k].host, host->name) == 0)
				text_print(out, " on %d cores", (int)headline->loads[k].cores);
		text_put(out, ")");
	}
	text_print(out, "%s.</p>\n", headline->host_count > 64 ? ", ..." : "");
}

/* The first line of the history is the program's own. */
static void
put_provenance(struct text *out, const struct page *page)
{
	const struct imbalance *im = &page->im;
	const struct headline *headline = &im->graph.known.headline;
	const char *line;

	text_put(out, "<section><h2 id=\"provenance\">Provenance</h2>\n<p class=\"soft\">What was "
	    "run, and how this page was made of it, by lp-report "
	    VERSION ".</p>\n<pre id=\"history\">");
	for (size_t i = 0; (line = reader_history(im->graph.in, i)) != NULL; i++) {
		text_markup(out, line);
		text_char(out, '\n');
	}
	text_put(out, "</pre>\n");
	put_hosts(out, headline);
	if (headline->variable_count > 0)
		text_put(out, "<pre id=\"environment\">");
	for (size_t i = 0; i < headline->variable_count && i < 300; i++) {
		text_markup(out, headline->environment[i].name);
		text_put(out, " = ");
		text_markup(out, headline->environment[i].value);
		text_char(out, '\n');
	}
	if (headline->variable_count > 0)
		text_put(out, "</pre>\n");
	text_print(out, "<p>Calls %llu; without a partner, and so not judged: %llu sends, %llu "
	    "receives, %llu collectives.</p></section>\n",
	    (unsigned long long)reader_rows(im->graph.in),
	    (unsigned long long)im->counts.unmatched_sends,
	    (unsigned long long)im->counts.unmatched_receives,
	    (unsigned long long)im->counts.unmatched_collectives);
}

/* The legend leaves out activities that the run lacks. */
static bool
is_anywhere(const struct page *page, enum activity activity)
{
	bool any = activity < WAIT_MESSAGE || (activity == ON_PATH && page->path.segments > 0) ||
	    (activity >= WAITS_END && activity < ACTIVITIES && page->im.counts.switched > 0);

	for (int s = 0; s < STATES; s++)
		any |= activity_of((enum state)s) == activity && page->im.states[s].wait_ns > 0;
	return any;
}

static void
put_timeline(struct text *out, const struct page *page)
{
	const enum activity path = bins_path_spreads(&page->bins) ? PATH_SHARES : ON_PATH;

	text_put(out, "<section class=\"time\"><h2 id=\"time\">Timeline</h2>\n"
	    "<div id=\"tools\"><button id=\"zoom-in\">zoom in</button><button id=\"zoom-out\">zoom out</button>"
	    "<button id=\"fewer\">fewer ranks</button><button id=\"more\">more ranks</button>"
	    "<button id=\"whole\">whole run</button><button id=\"messages\" aria-pressed=\"false\">messages</button>"
	    "<button id=\"colours\">colours: activities</button><button id=\"threads\" aria-pressed=\"false\">threads</button>"
	    "<button id=\"theme\">light or dark</button>"
	    "<input id=\"search\" type=\"search\" placeholder=\"search functions, places, kinds ( / )\" "
	    "aria-label=\"search functions, places and kinds\"><span id=\"count\" class=\"soft\" role=\"status\"></span></div>\n"
	    "<ul id=\"legend\">\n");
	for (enum activity a = COMPUTING; a <= ON_PATH; a++)
		if (is_anywhere(page, a))
			text_print(out, "<li><svg class=\"figure\" width=\"11\" height=\"11\" "
			    "aria-hidden=\"true\"><rect class=\"f %s\" width=\"11\" "
			    "height=\"11\"/></svg> %s</li>\n", colours[a].class,
			    colours[a == ON_PATH ? path : a].name);
	text_put(out, "</ul>\n"
	    "<canvas id=\"live\" tabindex=\"0\" role=\"img\" aria-label=\"timeline; the picture in print and the "
	    "tables hold the same\"></canvas>\n<div id=\"grain\" class=\"soft\"></div>\n<div id=\"what\" aria-live=\"polite\"></div>\n"
	    "<div id=\"still\" class=\"picture wide\">\n");
	draw_timeline(out, page);
	text_put(out, "</div></section>\n");
}

static void
write_with(struct text *out, struct page *page, size_t events)
{
	char *title = headline_text(&page->im.graph.known.headline);
	char *verdict = verdict_sentence(&page->verdict.pole);
	char *trust = trust_text(&page->verdict.trust);

	put_head(out, title);
	text_put(out, "<h1>");
	text_markup(out, title);
	text_put(out, "</h1>\n<p class=\"lead\" id=\"verdict\">");
	text_markup(out, verdict);
	text_put(out, ".</p>\n");
	if (trust != NULL) {
		text_print(out, "<p id=\"trust\"%s>",
		    page->verdict.trust.level == TRUST_POOR ? " class=\"poor\"" : "");
		text_markup(out, trust);
		text_put(out, ".</p>\n");
	}
	put_timeline(out, page);
	put_next(out, page);
	put_facts(out, page);
	put_slow(out, page);
	put_chains(out, page);
	text_put(out, "<div class=\"pictures\">\n");
	for (const struct figure *f = figures + 1; f < figures + figure_count; f++)
		if (f->has == NULL || f->has(page)) {
			text_print(out, "<section%s><h2>%s</h2>\n<div class=\"picture\">\n",
			    f->wide ? " class=\"wide\"" : "", f->title);
			f->draw(out, page);
			text_put(out, "</div></section>\n");
		}
	text_put(out, "</div>\n<div class=\"tables\">\n");
	tables_write(out, page);
	text_put(out, "</div>\n");
	put_provenance(out, page);
	text_put(out, "<script type=\"application/json\" id=\"data\">");
	data_write(out, page, events);
	text_put(out, "</script>\n<script>");
	text_put(out, page_script);
	text_put(out, "</script>\n</body>\n</html>\n");
	free(title);
	free(trust);
	free(verdict);
}

/* Drops events, the shortest first, until the page fits its budget. */
void
page_write(struct text *out, struct page *page)
{
	static struct text part;	/* too large for the stack */

	for (size_t events = page->events.most; ; events /= 2) {
		char *bytes = NULL;
		size_t size = 0;
		FILE *file = need(open_memstream(&bytes, &size));

		text_begin(&part, file, "memory");
		write_with(&part, page, events);
		text_flush(&part);
		fclose(file);
		if (size <= page->budget) {
			text_bytes(out, bytes, size);
			free(bytes);
			return;
		}
		free(bytes);
		if (events == 0)
			die("--size: the page needs at least %zu bytes", size);
	}
}
