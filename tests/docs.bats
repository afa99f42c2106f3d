# SPDX-License-Identifier: BSD-3-Clause
# Manual pages, help texts and what is installed.
bats_require_minimum_version 1.5.0
load helpers

tools='record merge graph critpath gain imbalance compare fit guidelines mend report import replay tolerance network export measure nrep dump'

page() {
	case $1 in dump | import | export) echo "$ROOT/convert/$1/$1.1" ;;
	measure | nrep) echo "$ROOT/guidelines/measure/$1.1" ;; mend) echo "$ROOT/guidelines/mend/mend.1" ;; longpole) echo "$ROOT/workflows/longpole.1" ;; *) echo "$ROOT/$1/$1.1" ;; esac
}

commands="longpole $(printf 'lp-%s ' $tools)"

@test "every option of the help text is in the manual page, and vice versa" {
	for t in $commands; do
		"$t" --help | grep -o -- '--[a-z][a-z-]*' | sort -u >help
		mandoc -T ascii "$(page "${t#lp-}")" | sed 's/.\x08//g' | sed -n '/^OPTIONS/,/^INPUT/p' |
			grep -o -- '^ *-.*' | grep -o -- '--[a-z][a-z-]*' | sort -u >manual
		diff help manual
	done
}

@test "help is short and ends with status 0, a version names the tool" {
	for t in $commands; do
		run -0 "$t" --help
		[ "${#lines[@]}" -le 24 ]
		run -0 "$t" --version
		[[ "$output" == "$t "[0-9]* ]]
	done
}

@test "a wrong option prints the usage line on standard error, with status 2" {
	for t in $commands; do
		run -2 --separate-stderr "$t" --no-such-option
		[ -z "$output" ]
		[[ "$stderr" == *"usage: $t"* ]]
	done
}

@test "manual pages have their sections in order and no errors" {
	for t in $tools longpole; do
		"$ROOT/.ci/pages" "$(page $t)"
		[ "$(grep -o '^\.Sh .*' "$(page $t)" | cut -c5- | tr '\n' ' ')" = \
			"NAME SYNOPSIS DESCRIPTION OPTIONS INPUT OUTPUT MEMORY EXIT STATUS EXAMPLES SEE ALSO " ]
	done
	"$ROOT/.ci/pages" "$ROOT/base/stream/trace.5"
	printf '.Dd November 1, 2026\n.Dt X 1\n.Os x\n.Sh NAME\n.Nm x\n.Nd x\n.Bl -column a b\n.It c Ta from 3. In a trace\n.El\n' >x.1
	run -1 --separate-stderr "$ROOT/.ci/pages" x.1
	[ "$stderr" = 'x.1: a word of the text is a macro in this line' ]
}

@test "no line, function or file is too long, and no include points upwards or in a circle" {
	mkdir -p tree/base/stream tree/base/run tree/merge/part
	cd tree
	git init -q
	grep '^| `base/' "$ROOT/HACKING.md" >HACKING.md
	printf '#include "a.h"\n#include "../run/b.h"\n' >base/stream/a.c
	printf '#include "../stream/a.h"\n' >base/run/b.c
	printf '#include "part/d.h"\n#include "../base/run/b.h"\n#include "../graph/g.h"\n' >merge/c.c
	printf '#include "../../base/stream/a.h"\n' >merge/part/d.c
	printf '\t/*%090d*/\n\tint x;%087d\n"%0200d"\n' 0 0 0 >wide.c
	{ printf 'void\nf(void)\n{\n'; yes '	g();' | head -61; printf '}\n'; yes '' | head -436; } >long.c
	git add .
	run -1 "$ROOT/.ci/structure"
	diff - <(echo "$output") <<-END
		base/stream/a.c:2: base/run is no lower floor
		long.c: 501 lines
		long.c:3: a function of 61 lines
		merge/c.c:3: graph is no floor of base/
		wide.c:1: 102 columns
		wide.c:2: 101 columns
		a circle of includes: base/run base/stream base/run
	END
	cd "$ROOT"
	run -0 --separate-stderr .ci/structure
	[ -z "$output" ]
}

@test "an installed copy works from its own location" {
	make -s -C "$ROOT" install PREFIX=/opt/longpole DESTDIR="$PWD/root"
	for f in "$ROOT"/bin/* "$ROOT"/lib/*.so "$ROOT"/workflows/*.mk "$ROOT"/fit/data/*.csv; do
		place=${f#"$ROOT"/}
		case $place in
		workflows/* | fit/*) place=share/longpole/$place ;;
		lib/liblongpole-stream.so) ;;
		lib/*) place=lib/longpole/${place#lib/} ;;
		esac
		cmp "$f" "root/opt/longpole/$place"
	done
	for t in $tools; do
		[ -e "root/opt/longpole/share/man/man1/lp-$t.1" ]
	done
	[ -e root/opt/longpole/share/man/man5/lp-trace.5 ]
	[ -e root/opt/longpole/share/man/man1/longpole.1 ]
	PATH="$PWD/root/opt/longpole/bin:$PATH" lp-record -o run -- \
		mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$ROOT/build/apps/heat" -n 20 -p balanced:2
	[ -e run/rank.0 ] && [ -e run/rank.1 ]
}

@test "no source names a machine, and every source has its licence line" {
	cd "$ROOT"
	run -1 git grep -nE '/(root|work)/' -- ':!tests/docs.bats'
	git ls-files '*.c' '*.h' '*.bats' '*.mk' '*.py' '*.f90' '*.1' '*.5' >"$BATS_TEST_TMPDIR/sources"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/sources")" -gt 300 ]
	while read -r f; do
		head -2 "$f" | grep -q 'SPDX-License-Identifier: BSD-3-Clause'
	done <"$BATS_TEST_TMPDIR/sources"
}

@test "every test in the list of claims exists, and every linked file" {
	grep -oE '^\| .* \| `[a-z]+\.bats` \| .*' "$ROOT/doc/validation.md" >rows
	[ "$(wc -l <rows)" -gt 30 ]
	while IFS= read -r row; do
		file=$(grep -oE '`[a-z]+\.bats`' <<<"$row" | tr -d '`')
		grep -oE '"[^"]+"' <<<"${row##*.bats}" >names
		[ "$(wc -l <names)" -ge 1 ]
		while IFS= read -r name; do
			grep -qF "@test $name {" "$ROOT/tests/$file" || { echo "$file: $name"; false; }
		done <names
	done <rows
	for document in README.md HACKING.md doc/validation.md doc/benchmarks.md; do
		for link in $(grep -oE '\]\([^)#:]+\)' "$ROOT/$document" | tr -d '()]'); do
			echo "$document: $link"
			[ -e "$ROOT/${document%/*}/$link" ] || [ -e "$ROOT/$link" ]
			echo "$link" >>links
		done
	done
	[ "$(wc -l <links)" -ge 8 ]
}

@test "the commands of the README run" {
	cp "$ROOT/build/apps/heat" app
	sed -n '/^## Your own program$/,/^## The pipe$/p' "$ROOT/README.md" >section
	grep -qx '## The pipe' section
	sed -n 's/^    //p' section | sed 's/ *#.*//' | grep -E '^(longpole|lp-)' >commands
	[ "$(wc -l <commands)" -eq 7 ]
	sed -i 's/mpirun -n 4/mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4/; s|\./app|./app -n 200 -p balanced:5|' commands
	run -0 bash -eu -o pipefail commands
	grep -q '^app, 4 ranks on' <<<"$output"
	grep -q '<html' run.html
	[ -s whatif/whatif.txt ]
}

@test "lines of tests that cannot fail are found: !, && between checks, || true, empty loops" {
	cat >bad.bats <<-'END'
		x() {
			! grep a b
		  [ a = b ] && [ c = d ]
			grep x y || true
			for f in $(ls); do
				[ -e "$f" ]
			done
			while read -r x; do
				[ "$x" ]
			done <file
		  [ a = b ] && [ c = d ] || false
		  [ a = b ] && return
			for f in 1 2; do
				grep "! a && b" "$f"
			done
			(cd a && ls)
			refute grep a b
		}
	END
	run -1 "$ROOT/.ci/assertions" bad.bats
	[ "$(cut -d: -f2 <<<"$output" | xargs)" = "2 3 4 7 10" ]
	run -0 "$ROOT/.ci/assertions" "$ROOT"/tests/*.bats
	[ -z "$output" ]
}
