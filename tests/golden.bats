# SPDX-License-Identifier: BSD-3-Clause
# The tools' output for small inputs, against the recorded output: tests/golden.
bats_require_minimum_version 1.5.0
load helpers

@test "all tools print the recorded output for small inputs in all forms" {
	run -0 golden check
	[ -z "$output" ]
}

@test "one additional byte of one tool is noticed, with its command and input" {
	mkdir changed
	printf '#!/bin/sh\n"%s/bin/lp-dump" "$@" && echo\n' "$ROOT" >changed/lp-dump
	chmod +x changed/lp-dump
	GOLDEN_BIN=changed run -1 golden check dump
	[[ "$output" == *$'changed: lp-dump -F text @trace  of pair\n'* ]]
	run -0 golden diff changed dump
	[ "$(grep -c '^changed: lp-dump ' <<<"$output")" -gt 40 ]
}
