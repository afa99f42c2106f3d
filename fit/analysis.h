/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include "../base/tool/text.h"
#include "bands.h"
#include "paper.h"

struct settings {
	unsigned models;		/* bit m: model m is fitted */
	bool paper;			/* the paper's procedure instead */
	double serial;			/* its f; NAN: found by its rule */
	enum residuals residuals;
	bool join_all;			/* every measured tau joins the fit; else those at joined */
	double *joined;
	size_t joined_count;
	double *predict;		/* further n */
	size_t predict_count;
	double from;			/* runs on fewer cores are left out of the fits; t_1 stays */
	bool whole_curve;		/* for a picture: many n up to the last of these instead */
};

struct model_fit {
	bool fitted;
	struct solution solution;
	double aicc;
};

/* Where the estimate of tau comes from: the choice is made by run times and their fits alone. */
enum origin { BY_TAU, BY_RULE, BY_BOUND };

struct point {
	const char *program;
	double n;
	double t, tau, dtau;		/* s; NAN: not measured */
	double t_fit, tau_fit;		/* s; by the curve */
	struct band t_band, tau_band;	/* of equation 6 */
	double tau_bound;		/* t - t_1/n; NAN where there is no t */
	double tau_estimate;		/* t - t^Amdahl, f as the origin says */
	double share, efficiency;	/* tau_estimate/t; t_1/(n t) */
	double t_partner, tau_partner;	/* NAN: there is none */
	bool superlinear;		/* less work than on one core: n (t - tau) < t_1 */
	bool falling;			/* less work than on fewer cores */
	bool left_out;			/* of the fits */
};

/* How far what is said of tau is from measured ones, at n >= ERRORS_FROM: |said/measured - 1|. */
enum { ERRORS_FROM = 16 };
struct errors {
	size_t points;
	double median, mean;		/* NAN where there are no points */
};

struct analysis {
	const char *name;
	enum residuals residuals;
	size_t tau_joined;		/* measured tau in the fit */
	double t1_measured;		/* NAN: no run on one core */
	bool share_fitted;		/* equation 1 */
	struct solution share;
	double share_b_se, share_c_se;
	bool by_paper, serial_given;
	struct model_fit models[MODELS];
	struct paper_fit paper;
	enum model model;		/* the one chosen */
	struct curve curve;		/* its, or the paper's */
	bool six_fitted;		/* equation 6, all three parameters, or the paper's */
	const char *six_name;
	struct solution six;
	double f_se, b_se, c_se;
	bool profiled;			/* the band of f is of all three parameters */
	bool given_f;			/* bands are those at this f, not over f */
	size_t tau_measured, tau_inside;	/* at n > 1; of them in the band */
	struct errors fit_error, estimate_error, bound_error;
	double tau_on_one;		/* the largest measured tau at n = 1, s; should be 0 */
	size_t left_out;
	double from;
	struct bands bands;
	struct curve partner;		/* f and g exchanged */
	bool partner_valid;
	enum origin origin;
	struct curve estimate;		/* its f and t_1 */
	double n_max;			/* of the data */
	struct point *points;		/* the runs, then what was to be predicted */
	size_t runs, count;
};

extern const char *const model_names[];		/* NULL ends */
extern const char *const residual_names[];
extern const char *const origin_names[];

struct writer;

enum { MOST_NOTES = 24, NOTE_SIZE = 256 };

struct notes {
	size_t count;
	char text[MOST_NOTES][NOTE_SIZE];
};

struct analysis analyse(const struct program *program, const struct settings *settings);

/*
 * points.c. Bands are those of equation 6 over f, even where a simpler model is chosen or f found by
 * a rule: the choice is unsure, too. Of MIDDLE, in which VARIED parameters were fitted.
 */
void find_bands(struct analysis *analysis, const struct problem *problem,
    const struct solution *middle, unsigned varied);
void find_errors(struct analysis *analysis);

/* Flags, branch, identifiability and the best n in words. */
void notes_of(const struct analysis *analysis, struct notes *notes);

void print_table(struct text *out, const struct analysis *analysis);
void print_json(struct text *out, const struct analysis *analysis);
void print_csv(struct text *out, const struct analysis *analysis, bool first);
void print_gnuplot(struct text *out, const struct analysis *analysis);
void write_messages(struct writer *out, const struct analysis *analysis);

#endif
