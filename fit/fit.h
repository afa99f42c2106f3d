/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIT_H
#define FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/tool/text.h"
#include "../base/tool/tool.h"

/*
 * The model of Hoefinger and Haunschmid, "Modelling parallel overhead from simple run-time
 * records", J. Supercomput. 73 (2017) 4390; equation numbers are that paper's. With x = n - 1,
 *
 *	r_n = tau_n / t_n = b/(c+1) - b/(c+n)					(1)
 *	t_n = t_n^Amdahl + tau_n						(3)
 *	t_n^Amdahl = f t_1 + (1-f) t_1/n					(4)
 *	tau_n = t_n^Amdahl b x / ((1+c-b) n + b + c + c^2)			(5)
 *	t_n = t_n^Amdahl (1 + b x / ((1+c-b) n + b + c + c^2))			(6)
 *
 * Here b and c are carried as g = 1/(c+1) and r = b/(c+1), the limit of tau_n/t_n. Then
 *
 *	r_n = r g x / (1 + g x)							(1)
 *	n t_n / t_1 = (1 + f x)(1 + g x) / (1 + h x),  h = g (1 - r)		(6)
 *
 * and the bounds are a box: f >= 0, 0 < g <= 1 (c >= 0), 0 <= r <= 1 (0 <= b <= c+1). r = 1 is the
 * USL (sigma + kappa = f + g, kappa = f g), r = 0 is Amdahl's law. t_n is symmetric in f and g,
 * tau_n is not: run times cannot tell the two apart, so the branch f <= g is declared to be meant.
 */

/* The order of the derivatives. g and t_1 are fitted as logarithms. */
enum parameter { F, LOG_G, R, LOG_T1, PARAMETERS };

struct curve {
	double f;	/* serial share */
	double g;	/* 1/(c+1); half of r is reached at n = 1 + 1/g */
	double r;	/* limit of tau_n/t_n */
	double t1;	/* s; run time on one core */
};

static inline double curve_h(const struct curve *c) { return c->g * (1 - c->r); }
static inline double curve_b(const struct curve *c) { return c->r / c->g; }
static inline double curve_c(const struct curve *c) { return 1 / c->g - 1; }

double curve_amdahl(const struct curve *c, double n);	/* equation 4 */
double curve_time(const struct curve *c, double n);	/* equation 6; s */
double curve_share(const struct curve *c, double n);	/* equation 1 */
double curve_tau(const struct curve *c, double n);	/* equation 5; s */

/* Derivatives of ln t_n, of ln t_n^Amdahl and of tau_n/t_n. */
void curve_time_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);
void curve_amdahl_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);
void curve_share_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);

/* The other solution: the same t_n with f and g exchanged. False if its overhead is negative. */
bool curve_swap(const struct curve *c, struct curve *other);

/* The n of the shortest run time; infinite if t_n always falls. */
double curve_best_n(const struct curve *c);

struct writer;

/* ---- input.c ---------------------------------------------------------------------------- */

/* A measured run; NAN: not measured. */
struct run {
	double n;		/* cores */
	double t;		/* s */
	double tau, dtau;	/* s; mean overhead of a core and its standard deviation */
};

/* All runs of a program, in order of n. */
struct program {
	char *name;
	struct run *runs;
	size_t count, capacity;
};

/* Fewer runs show nothing. */
enum { LEAST_RUNS = 4, LEAST_N = 3 };

enum residuals { LOG, RELATIVE, ABSOLUTE };
enum model { HOFINGER, AMDAHL, USL, MODELS };

/*
 * Reads FILES (none: standard input). A text file is a program; so are the graph streams of a
 * folder. WHOLE: their start and end count.
 */
struct program *read_programs(char **files, size_t count, bool whole, size_t *programs);

/* ---- least_squares.c --------------------------------------------------------------------- */

/* A measurement at some n: t, the useful time t - tau, or the share tau/t. */
struct observation {
	enum { OF_TIME, OF_USEFUL, OF_SHARE } what;
	double n, value;
	double scale;			/* of its residual */
};

struct problem {
	struct observation *observed;	/* each kind in order of n */
	size_t count;
	size_t measured;	/* values in these observations */
	double rest;		/* part of the sum of squares that no curve changes */
	enum residuals residuals;
	bool has_useful;	/* then f and g are not interchangeable */
	double n_max, t_max;
};

struct solution {
	struct curve at;
	double sum;			/* of squared residuals */
	unsigned free;			/* bit p: parameter p was free, and not at a bound */
	double covariance[PARAMETERS][PARAMETERS];	/* not scaled: inverse of J'J */
	double f_se, b_se, c_se;	/* asymptotic standard errors */
};

enum { FREE_F = 1 << F, FREE_G = 1 << LOG_G, FREE_R = 1 << R, FREE_T1 = 1 << LOG_T1 };

/* Equation 1 on the shares of runs with a tau. */
struct problem share_problem(const struct run *runs, size_t count);
/* Equation 6 on t, and equation 4 on the useful time of runs with a tau. */
struct problem time_problem(const struct run *runs, size_t count, enum residuals residuals);
/* The same in at most about COARSE observations, for searching. */
enum { COARSE = 64 };
struct problem coarse_problem(const struct problem *problem);

double sum_of_squares(const struct problem *problem, const struct curve *at);
/* From one start, for VARIED parameters; if bounded, one that leaves the box stays on its side. */
bool solve_from(const struct problem *problem, struct curve start, unsigned varied, bool bounded,
    struct solution *solution);
/* The best of many starts in the box; f <= g. AT gives the fixed parameters. */
bool solve_best(const struct problem *problem, struct curve at, unsigned varied,
    struct solution *solution);
/* With NDF degrees of freedom. */
void find_standard_errors(struct solution *solution, double ndf);

/* ---- bands.c ---------------------------------------------------------------------------- */

struct band {
	double low, high;
};

/* 95 % bands by the profile over f. */
struct bands {
	struct band f, b, c, best_n;
	bool open;		/* f reaches the last value tried */
};

/* Values for the rule at one f: b and c fitted to t. */
struct trial {
	struct solution solution;
	double gap;		/* b + b_se - c: the rule needs 0 */
	double worst_se;	/* the larger of b_se/b and c_se/c */
	bool valid;		/* b, c > 0, no pole up to twice the largest n, c > b */
};

enum { MOST_CROSSINGS = 8 };

struct paper_fit {
	struct trial trial;	/* valid: some f passes */
	size_t meets;	/* f at which the gap crosses 0 and standard errors are below 100 % */
	struct trial crossings[MOST_CROSSINGS];
};

/* ---- analysis.c, bands.c ----------------------------------------------------------------- */

struct settings {
	unsigned models;		/* bit m: model m is fitted */
	bool paper;			/* the paper's procedure instead */
	double serial;			/* its f; NAN: found by its rule */
	enum residuals residuals;
	bool join_all;		/* every measured tau joins the fit; otherwise those at joined */
	double *joined;
	size_t joined_count;
	double *predict;		/* further n */
	size_t predict_count;
	int from;			/* runs on fewer cores are not fitted; t_1 stays */
	bool whole_curve;		/* for a picture: many n up to the last of these instead */
};

struct model_fit {
	bool fitted;
	struct solution solution;
	double aicc;
};

/* The source of the estimate of tau: run times and their fits alone decide. */
enum origin { BY_TAU, BY_RULE, BY_BOUND };

struct point {
	const char *program;
	double n;
	double t, tau, dtau;		/* s; NAN: not measured */
	double t_fit, tau_fit;		/* s; by the curve */
	struct band t_band, tau_band;	/* of equation 6 */
	double tau_bound;		/* t - t_1/n; NAN: there is no t */
	double tau_estimate;		/* t - t^Amdahl, with f from the origin */
	double share, efficiency;	/* tau_estimate/t; t_1/(n t) */
	double t_partner, tau_partner;	/* NAN: there is none */
	bool superlinear;		/* less work than on one core: n (t - tau) < t_1 */
	bool falling;			/* less work than on fewer cores */
	bool left_out;			/* of the fits */
};

/* The error of an estimate of tau at n >= ERRORS_FROM: |estimate/measured - 1|. */
enum { ERRORS_FROM = 16 };
struct errors {
	size_t points;
	double median, mean;		/* NAN: there are no points */
};

struct analysis {
	const struct program *program;
	const struct settings *settings;
	size_t tau_joined;		/* measured tau in the fit */
	size_t values, needed;	/* different ones that are fitted; parameters of equation 6 */
	double t1_measured;		/* NAN: no run on one core */
	bool share_fitted;		/* equation 1 */
	struct solution share;
	bool serial_given;
	struct model_fit models[MODELS];
	struct paper_fit paper;
	enum model model;		/* the chosen one */
	struct curve curve;		/* its curve, or the paper's */
	bool six_fitted;		/* equation 6, all three parameters, or the paper's */
	const char *six_name;
	struct solution six;
	bool profiled;			/* the band of f is of all three parameters */
	bool given_f;			/* bands are those at this f, not over f */
	size_t tau_measured, tau_inside;	/* at n > 1; those within the band */
	struct errors fit_error, estimate_error, bound_error;
	double tau_on_one;		/* the largest measured tau at n = 1, s; should be 0 */
	size_t left_out;
	struct bands bands;
	struct curve partner;		/* f and g exchanged */
	bool partner_valid;
	enum origin origin;
	struct curve estimate;		/* f and t_1 of the estimate */
	double n_max;			/* of the data */
	struct point *points;		/* the runs, then the predictions */
	size_t runs, count;
};

extern const char *const model_names[];		/* ends with NULL */
extern const char *const residual_names[];
extern const char *const origin_names[];

enum { MOST_NOTES = 24, NOTE_SIZE = 256 };

struct notes {
	size_t count;
	char text[MOST_NOTES][NOTE_SIZE];
};

struct analysis analyse(const struct program *program, const struct settings *settings);

/*
 * bands.c. Bands are those of equation 6 over f, even with a simpler model or an f found by a
 * rule: the choice is uncertain, too. For MIDDLE, fitted with VARIED parameters.
 */
void find_bands(struct analysis *analysis, const struct problem *problem,
    const struct solution *middle, unsigned varied);

/* Flags, branch, identifiability and the best n in words. */
void notes_of(const struct analysis *analysis, struct notes *notes);

void print_table(struct text *out, const struct analysis *analysis);
void print_json(struct text *out, const struct analysis *analysis);
void print_csv(struct text *out, const struct analysis *analysis, bool first);
void print_gnuplot(struct text *out, const struct analysis *analysis);
void write_messages(struct writer *out, const struct analysis *analysis);

#endif
