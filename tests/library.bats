#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The installed C library and Python module: stages of one's own, built from what is installed alone.

load helpers

installed() {
	make -s -C "$ROOT" install PREFIX="$BATS_TEST_TMPDIR/usr" >/dev/null
	export PKG_CONFIG_PATH=$BATS_TEST_TMPDIR/usr/lib/pkgconfig
}

@test "a stage in C, compiled with pkg-config, filters calls in a pipe and adds a message" {
	installed
	cat >stage.c <<-'END'
		#include <longpole-stream.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		/* Passes all on and adds how long calls took on the whole. */
		static void fail(struct longpole_reader *in)
		{
			uint64_t offset = 0;
			const char *why = longpole_error(in, &offset);
			fprintf(stderr, "stage: %llu: %s\n", (unsigned long long)offset, why);
			exit(2);
		}
		int main(int argc, char **argv)
		{
			struct longpole_reader *in = longpole_open(NULL, LONGPOLE_STREAM);
			struct longpole_writer *out;
			struct longpole_calls calls;
			int64_t ns = 0, count = 0, sum = 0;
			int got;
			if (in == NULL || longpole_error(in, NULL) != NULL)
				fail(in);
			out = longpole_create(1, longpole_content(in), in, argc, argv);
			if (out == NULL)
				return 2;
			while ((got = longpole_next(in)) > 0) {
				if (strcmp(longpole_kind(in), "calls") == 0) {
					int64_t *durations;
					if (longpole_calls(in, &calls) < 0)
						fail(in);
					for (size_t i = 0; i < calls.count; i++)
						ns += calls.leave_ns[i] - calls.enter_ns[i];
					longpole_int(in, "count", &count);
					durations = malloc((size_t)count * sizeof *durations);
					if (longpole_column_int(in, "duration", (size_t)count, 0, 0, durations) < 0)
						fail(in);
					for (int64_t i = 0; i < count; i++)
						sum += durations[i];
					free(durations);
				}
				if (longpole_pass(out, in) < 0)
					return 2;
			}
			if (got < 0)
				fail(in);
			longpole_begin(out, "spent", 2);
			longpole_put_int(out, "ns", ns);
			longpole_put_string(out, "agree", ns == sum ? "yes" : "no");
			if (longpole_finish(out) < 0 || longpole_end(out) < 0)
				return 2;
			longpole_close(in);
			return 0;
		}
	END
	# shellcheck disable=SC2046
	cc -Wall -Wextra -Werror stage.c -o stage $(pkg-config --cflags --libs longpole-stream)
	tests/random_run.py make 3 >t.trace
	./stage <t.trace >t2.trace
	trace.py check t2.trace
	lp-dump -k call t.trace | jq -s 'map(.leave_ns - .enter_ns) | add' >expected
	lp-dump -k spent t2.trace | jq -e ".agree == \"yes\""
	[ "$(lp-dump -k spent t2.trace | jq .ns)" -ge "$(cat expected)" ]
	lp-graph t.trace 2>/dev/null | lp-critpath -F json >1
	lp-graph t2.trace 2>/dev/null | lp-critpath -F json >2
	cmp 1 2
	head -c 700 t.trace | (! ./stage >half)
	run -2 lp-dump half
}

@test "signals interrupt neither what is read nor what is written" {
	installed
	cat >stage.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <longpole-stream.h>
		#include <signal.h>
		#include <sys/time.h>
		static volatile sig_atomic_t signals;
		static void count(int signal)
		{
			(void)signal;
			signals++;
		}
		/* Passes all on through a small pipe, and has a signal each millisecond that restarts no call. */
		int main(int argc, char **argv)
		{
			const struct sigaction action = { .sa_handler = count };
			const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
			struct longpole_reader *in;
			struct longpole_writer *out;
			int got;
			if (fcntl(1, F_SETPIPE_SZ, 4096) < 0 || sigaction(SIGALRM, &action, NULL) < 0 ||
			    setitimer(ITIMER_REAL, &often, NULL) < 0)
				return 3;
			if ((in = longpole_open(NULL, LONGPOLE_STREAM)) == NULL)
				return 4;
			if ((out = longpole_create(1, longpole_content(in), in, argc, argv)) == NULL)
				return 5;
			while ((got = longpole_next(in)) > 0)
				if (longpole_pass(out, in) < 0)
					return 6;
			if (got < 0 || longpole_end(out) < 0)
				return 7;
			return signals > 5 ? 0 : 8;
		}
	END
	# shellcheck disable=SC2046
	cc -Wall -Wextra -Werror stage.c -o stage $(pkg-config --cflags --libs longpole-stream)
	"$ROOT/build/bench/ring" 4 2000 >t.trace
	slowly() {
		python3 -c 'import os, time
while data := os.read(0, 8192): os.write(1, data); time.sleep(0.002)'
	}
	slowly <t.trace | timeout 300 ./stage | slowly >t2.trace
	[ "${PIPESTATUS[*]}" = "0 0 0" ]
	lp-dump -k call t.trace >1
	lp-dump -k call t2.trace >2
	cmp 1 2
}

@test "the library exports only its own names, and nothing in it exits or prints" {
	[ -z "$(nm -D --defined-only "$ROOT/lib/liblongpole-stream.so" | awk '{ print $3 }' | grep -v '^longpole_')" ]
	[ -z "$(nm -D --undefined-only "$ROOT/lib/liblongpole-stream.so" | grep -E ' (_?exit|abort|printf|puts|perror)(@|$)')" ]
}

@test "uninstall removes what install installed" {
	installed
	make -s -C "$ROOT" uninstall PREFIX="$BATS_TEST_TMPDIR/usr" >/dev/null
	[ -z "$(find usr -type f)" ]
}
