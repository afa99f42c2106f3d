# SPDX-License-Identifier: BSD-3-Clause
# Manual pages, help texts and what is installed.
bats_require_minimum_version 1.5.0
load helpers

tools='record merge graph critpath imbalance fit guidelines import replay network export measure nrep dump'

page() {
	case $1 in dump | import | export) echo "$ROOT/convert/$1/$1.1" ;; network) echo "$ROOT/replay/network/network.1" ;;
	measure | nrep) echo "$ROOT/guidelines/measure/$1.1" ;; *) echo "$ROOT/$1/$1.1" ;; esac
}

@test "every option of the help text is in the manual page, and the other way round" {
	for t in $tools; do
		"lp-$t" --help | grep -o -- '--[a-z][a-z-]*' | sort -u >help
		mandoc -T ascii "$(page $t)" | sed 's/.\x08//g' | sed -n '/^OPTIONS/,/^INPUT/p' |
			grep -o -- '^ *-.*' | grep -o -- '--[a-z][a-z-]*' | sort -u >manual
		diff help manual
	done
}

@test "help is short and ends with status 0, a version names the tool" {
	for t in $tools; do
		run -0 "lp-$t" --help
		[ "${#lines[@]}" -le 24 ]
		run -0 "lp-$t" --version
		[[ "$output" == "lp-$t "[0-9]* ]]
	done
}

@test "a wrong option gives the usage line on standard error and status 2" {
	for t in $tools; do
		run -2 --separate-stderr "lp-$t" --no-such-option
		[ -z "$output" ]
		[[ "$stderr" == *"usage: lp-$t"* ]]
	done
}

@test "manual pages have their sections in order and no faults" {
	for t in $tools; do
		mandoc -T lint -W warning "$(page $t)"
		[ "$(grep -o '^\.Sh .*' "$(page $t)" | cut -c5- | tr '\n' ' ')" = \
			"NAME SYNOPSIS DESCRIPTION OPTIONS INPUT OUTPUT MEMORY EXIT STATUS EXAMPLES SEE ALSO " ]
	done
	mandoc -T lint -W warning "$ROOT/base/stream/trace.5"
}

@test "an installed copy works from its own place" {
	make -s -C "$ROOT" install PREFIX=/opt/longpole DESTDIR="$PWD/root"
	for f in bin/lp-record bin/lp-merge bin/lp-graph bin/lp-critpath bin/lp-imbalance bin/lp-dump \
		bin/lp-guidelines bin/lp-import bin/lp-measure bin/lp-network bin/lp-nrep \
		lib/liblongpole-record.so share/man/man1/lp-merge.1 share/man/man5/lp-trace.5; do
		[ -e "root/opt/longpole/$f" ]
	done
	PATH="$PWD/root/opt/longpole/bin:$PATH" lp-record -o run -- \
		mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$ROOT/build/apps/heat" -n 20 -p balanced:2
	[ -e run/rank.0 ] && [ -e run/rank.1 ]
}

@test "no source names a machine, and every source has its licence line" {
	cd "$ROOT"
	run -1 git grep -nE '/(root|work)/' -- ':!tests/docs.bats'
	for f in $(git ls-files '*.c' '*.h' '*.bats' '*.mk' '*.py' '*.f90' '*.1' '*.5'); do
		head -2 "$f" | grep -q 'SPDX-License-Identifier: BSD-3-Clause'
	done
}
