/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words and numbers of a file of guidelines:
 * 	number = product { "+" | "-" product }      product = factor { "*" | "/" | "%" factor }
 * 	factor = digits | variable | "(" number ")" |
 * 	         ("ceil" | "min" | "max") "(" number "," number ")"
 * A quotient is rounded down; ceil(a, b) is a / b rounded up. All numbers are integers of 63 bits,
 * and a negative one is never divided.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jobs.h"

void
scan_fail(struct scanner *s, const char *format, ...)
{
	va_list arguments;
	int used;

	if (s->error[0] != '\0')
		return;
	used = snprintf(s->error, ERROR_BYTES, "line %zu: ", s->line);
	va_start(arguments, format);
	vsnprintf(s->error + used, (size_t)(ERROR_BYTES - used), format, arguments);
	va_end(arguments);
}

void
scan_blanks(struct scanner *s)
{
	while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '#' ||
	    (*s->at == '\n' && (s->at[1] == ' ' || s->at[1] == '\t'))) {
		if (*s->at == '#') {
			s->at += strcspn(s->at, "\n");
			continue;
		}
		s->line += *s->at == '\n';
		s->at++;
	}
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool
scan_word(struct scanner *s, const char *word)
{
	size_t length = strlen(word);

	scan_blanks(s);
	if (strncmp(s->at, word, length) != 0 ||
	    (is_name(word[length - 1]) && is_name(s->at[length])))
		return false;
	s->at += length;
	return true;
}

/* The text at this position, for a message: a few printable characters. */
static void
fail_here(struct scanner *s, const char *wanted)
{
	int length = 0;

	while (length < 20 && isgraph((unsigned char)s->at[length]))
		length++;
	if (length > 0)
		scan_fail(s, "%s is expected instead of \"%.*s\"", wanted, length, s->at);
	else
		scan_fail(s, "%s is missing at the end of the line", wanted);
}

bool
scan_need(struct scanner *s, const char *word)
{
	char wanted[32];

	if (scan_word(s, word))
		return true;
	snprintf(wanted, sizeof wanted, "\"%s\"", word);
	fail_here(s, wanted);
	return false;
}

bool
scan_name(struct scanner *s, char name[OWN_NAME])
{
	size_t length = 0;

	scan_blanks(s);
	while (is_name(s->at[length]))
		length++;
	if (length == 0 || isdigit((unsigned char)s->at[0])) {
		fail_here(s, "a name");
		return false;
	}
	if (length >= OWN_NAME) {
		scan_fail(s, "a name of %zu letters, at most %d are allowed", length, OWN_NAME - 1);
		return false;
	}
	memcpy(name, s->at, length);
	name[length] = '\0';
	s->at += length;
	return true;
}

/* One operation; VALUES NULL: there are no values, only parse. */
static int64_t
operate(struct scanner *s, char operation, int64_t a, int64_t b, const int64_t *values)
{
	int64_t result = 0;
	bool lost = false;

	if (values == NULL || s->error[0] != '\0')
		return 0;
	if (operation == '/' || operation == '%' || operation == 'c') {
		if (b <= 0 || a < 0) {
			scan_fail(s, "%" PRId64 " divided by %" PRId64, a, b);
			return 0;
		}
		return operation == '/' ? a / b : operation == '%' ? a % b : a / b + (a % b > 0);
	}
	switch (operation) {
	case '+': lost = __builtin_add_overflow(a, b, &result); break;
	case '-': lost = __builtin_sub_overflow(a, b, &result); break;
	case '*': lost = __builtin_mul_overflow(a, b, &result); break;
	case '<': result = a < b ? a : b; break;
	case '>': result = a > b ? a : b; break;
	}
	if (lost)
		scan_fail(s, "a number is too large");
	return result;
}

static int64_t
scan_digits(struct scanner *s)
{
	int64_t value = 0;

	for (; isdigit((unsigned char)*s->at); s->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s->at - '0', &value)) {
			scan_fail(s, "a number is too large");
			return 0;
		}
	return value;
}

static int64_t
scan_variable(struct scanner *s, const int64_t *values)
{
	static const char *const names[VARIABLES] = { "n", "p", "block", "rank", "root", "i" };
	char name[OWN_NAME];

	if (!scan_name(s, name))
		return 0;
	for (int v = 0; v < VARIABLES; v++)
		if (strcmp(name, names[v]) == 0) {
			if (v == RANK && s->same)
				scan_fail(s, "rank: the ranks would not agree on this number");
			return values != NULL ? values[v] : 0;
		}
	scan_fail(s, "%s is not a number; n, p, block, rank, root and i are", name);
	return 0;
}

int64_t
scan_factor(struct scanner *s, const int64_t *values)
{
	static const struct { const char *name; char operation; } of_two[] = {
		{ "ceil", 'c' }, { "min", '<' }, { "max", '>' },
	};
	int64_t value, other;

	scan_blanks(s);
	if (isdigit((unsigned char)*s->at))
		return scan_digits(s);
	if (scan_word(s, "(")) {
		value = scan_number(s, values);
		scan_need(s, ")");
		return value;
	}
	for (size_t i = 0; i < sizeof of_two / sizeof of_two[0]; i++)
		if (scan_word(s, of_two[i].name)) {
			scan_need(s, "(");
			value = scan_number(s, values);
			scan_need(s, ",");
			other = scan_number(s, values);
			scan_need(s, ")");
			return operate(s, of_two[i].operation, value, other, values);
		}
	return scan_variable(s, values);
}

/* Operands of SCAN joined by OPERATIONS, from left to right. */
static int64_t
scan_chain(struct scanner *s, const int64_t *values, const char *operations,
    int64_t (*scan)(struct scanner *s, const int64_t *values))
{
	int64_t value = scan(s, values);

	while (s->error[0] == '\0') {
		char operation;

		scan_blanks(s);
		operation = *s->at;
		if (operation == '\0' || strchr(operations, operation) == NULL)
			break;
		s->at++;
		value = operate(s, operation, value, scan(s, values), values);
	}
	return value;
}

static int64_t
scan_product(struct scanner *s, const int64_t *values)
{
	return scan_chain(s, values, "*/%", scan_factor);
}

int64_t
scan_number(struct scanner *s, const int64_t *values)
{
	int64_t value;

	if (++s->depth > OWN_DEPTH)
		scan_fail(s, "more than %d nested parentheses", OWN_DEPTH);
	value = s->error[0] == '\0' ? scan_chain(s, values, "+-", scan_product) : 0;
	s->depth--;
	return s->error[0] == '\0' ? value : 0;
}
