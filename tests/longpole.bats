# SPDX-License-Identifier: BSD-3-Clause
# The front door: longpole records, analyses and finds all tools and workflows.
bats_require_minimum_version 1.5.0
load helpers

heat="mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 $ROOT/build/apps/heat"

# One place for all tests of this file: an installed copy, and a run recorded with it.
setup_file() {
	cd "$BATS_FILE_TMPDIR"
	make -s -C "$ROOT" install PREFIX=/opt/longpole DESTDIR="$PWD/here"
	export installed=$PWD/here/opt/longpole
	PATH="$installed/bin:/usr/bin:/bin" longpole -v -o first $heat -n 400 -p imbalanced:20 >out 2>err
}

@test "one command records, analyses and begins with the verdict of the run" {
	cd "$BATS_FILE_TMPDIR"
	grep -q '^heat: 20 steps, mean' out
	grep -qE "^heat, 2 ranks on [^ ,]+, 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC: .* is [0-9.]+ % of the critical path" out
	cmp <(sed -n '/^heat, 2 ranks/,$p' out) <(printed_reports first)
}

@test "the first command prints a screen: verdict, trust, path, places, delays, and its folder" {
	cd "$BATS_FILE_TMPDIR"
	sed -n '/^heat, 2 ranks/,$p' out >screen
	[ "$(wc -l <screen)" -le 20 ]
	[ "$(head -2 screen)" = "$(cat first/verdict.txt)" ]
	for line in 'run time ' 'on the path, '; do
		[ "$(grep -c "^$line" screen)" -eq 1 ]
		grep -qxF "$(grep "^$line" screen)" first/path.txt
	done
	sed -n '/up to and in the call at/,/^$/p' screen | sed '/^$/d' >places
	[ "$(wc -l <places)" -eq 5 ]
	[ "$(grep -cxFf places first/path.txt)" -eq 5 ]
	sed -n '/delay: rank-seconds/,/^$/p' screen | sed '/^$/d' >delays
	[ "$(wc -l <delays)" -ge 2 ]
	[ "$(grep -cxFf delays first/imbalance.txt)" -eq "$(wc -l <delays)" ]
	[ "$(tail -1 screen)" = 'all of it: first/path.txt, imbalance.txt, verdict.json; as a page: report.html' ]
	[ -s first/report.html ]
}

@test "a repeated command says that nothing was done again, unless something was" {
	run -0 --separate-stderr longpole -o run $heat -n 100
	[[ "$stderr" != *'nothing was done again'* ]]
	again="longpole: nothing has changed since run was recorded, and nothing was done again; --again records"
	run -0 --separate-stderr longpole -o run $heat -n 100
	[ "$stderr" = "$again" ]
	[ "$(wc -l <<<"$output")" -le 20 ]
	rm run/reported
	run -0 --separate-stderr longpole -o run $heat -n 100	# the reports were
	[[ "$stderr" != *"$again"* ]]
	run -0 --separate-stderr longpole --again -o run $heat -n 100
	[[ "$stderr" != *"$again"* ]]
}

@test "errors are reported in the words of longpole" {
	run -2 --separate-stderr longpole whatif nothere
	[ "$stderr" = 'longpole: nothere: No such file or directory' ]
	mkdir used
	echo text >used/notes
	run -2 --separate-stderr longpole -o used $heat -n 100
	[ "$stderr" = 'longpole: used: other files are there: name a folder for this run alone, -o FOLDER' ]
	run -2 --separate-stderr make -s -f "$ROOT/workflows/critpath.mk" RUN=used APP=true
	[[ "$stderr" == 'used: other files are there: name a folder for this run alone, RUN=FOLDER'* ]]
}

@test "the front door samples, unless options differ or the kernel refuses" {
	for line in '' '--no-sample' '--record "--sample 100"' '--record --sample=100'; do
		eval "longpole -v -o run $line $heat -n 100 >out 2>err"
		grep -oE '^lp-record .* -- ' out | grep -oE -- '--sample[ =][0-9]+' >>asked || echo none >>asked
	done
	[ "$(cat asked)" = "$(printf '%s\n' '--sample 1000' none '--sample 100' '--sample=100')" ]
	refuse_samples
	./refused true || skip "this kernel takes no filter of system calls"
	run -0 --separate-stderr ./refused longpole -o run $heat -n 200
	[ "$(grep -c 'the kernel refuses it' <<<"$stderr")" -eq 1 ]
	[[ "$output" == *' of the critical path'* ]]
	jq -e '.trust.samples == null and .long_pole.function == null' run/verdict.json
	longpole critpath -F text run | cmp - run/path.txt
}

@test "the verdict is lp-report's, and names the path's long pole" {
	cd "$BATS_FILE_TMPDIR/first"
	cmp verdict.txt <("$installed/bin/lp-report" -F text graph)
	cmp verdict.json <("$installed/bin/lp-report" -F json graph)
	cmp <(jq -S .verdict path.json) <(jq -S . verdict.json)
	jq -e -f "$ROOT/tests/verdicts/form.jq" verdict.json
	[[ "$(head -1 verdict.txt)" == *": $(jq -r .sentence verdict.json)" ]]
	place=$(jq -r .long_pole.site verdict.json)
	jq -e --arg place "$place" '[.by_site[] | select(.where == $place)] | length == 1' path.json
}

@test "-v prints each step, and the steps do the same if typed" {
	sed '/^heat, 2 ranks/,$d' "$BATS_FILE_TMPDIR/out" | grep -E '^lp-|^set -o pipefail; lp-|^	' >steps
	[ "$(grep -c '^lp-' steps)" -eq 4 ]
	[ "$(grep -c '^set .* lp-gain .* | lp-report ' steps)" -eq 1 ]
	grep -q "^lp-record -o first.part/raw .*-- mpirun" steps
	ln -s "$BATS_FILE_TMPDIR/first/raw" raw
	mkdir first
	ln -s "$BATS_FILE_TMPDIR/first/raw" first/raw
	sed '/^lp-record/d' steps | PATH="$installed/bin:$PATH" bash -eu 2>/dev/null
	for f in path.txt imbalance.txt path.json; do
		cmp first/$f.part "$BATS_FILE_TMPDIR/first/$f"
	done
	run -0 --separate-stderr longpole -v critpath -F text "$BATS_FILE_TMPDIR/first"
	[ "$stderr" = "+ lp-critpath -F text $BATS_FILE_TMPDIR/first/graph" ]
	[ "$output" = "$(cat "$BATS_FILE_TMPDIR/first/path.txt")" ]
}

@test "tools and workflows run from any location, and folders of runs stand for their graphs" {
	cp -r "$BATS_FILE_TMPDIR/first" .
	for bin in "$ROOT/bin" "$installed/bin"; do
		cd "$BATS_TEST_TMPDIR"
		rm -rf whatif link
		mkdir link
		ln -s "$bin/longpole" link/
		PATH=/usr/bin:/bin run -0 link/longpole imbalance -F json first
		[ "$output" = "$(cat first/imbalance.json)" ]
		PATH=/usr/bin:/bin run -0 link/longpole whatif first TOP=1
		[ "$output" = "$(cat whatif/whatif.txt)" ]
		PATH=/usr/bin:/bin run -0 link/longpole whatif clean
		[ ! -e whatif ]
		PATH=/usr/bin:/bin run -0 link/longpole merge first
		PATH=/usr/bin:/bin run -0 link/longpole --version
		[[ "$output" == "longpole "[0-9]* ]]
	done
	run -0 --separate-stderr longpole first
	[ "$output" = "$(printed_reports first)" ]
	run -0 longpole critpath.mk RUN=first
	grep -q '^heat, 2 ranks' <<<"$output"
	[ "$(longpole lp-imbalance -F json RUN=first)" = "$(cat first/imbalance.json)" ]
	[ "$(longpole whatif GRAPH=first TOP=1)" = "$(longpole whatif first TOP=1)" ]
	[ "$(longpole efficiency RUNS='first first')" = "$(longpole efficiency first first/graph)" ]
	longpole network GRAPHS=first PREDICT='first first/graph' LATENCY_US=1 MB_S=100 EAGER=1 BUSES=0 LINKS=0 FINE=1 EXTEND=0 >fitted
	[ "$(grep -c '^first/graph	' fitted)" -eq 2 ]
	longpole history RUN=first | grep -q '^date'
}

@test "the map fits a screen and names every installed tool and workflow" {
	run -0 longpole
	[ "${#lines[@]}" -le 24 ]
	for f in "$installed"/bin/lp-* "$installed"/share/longpole/workflows/*.mk; do
		name=${f##*/}
		name=${name#lp-}
		case $name in *-mpi | common.mk) continue ;; critpath.mk) continue ;; esac
		case $name in *.mk) grep -q " ${name%.mk}\* " <<<"$output" ;; *) grep -qE "[ ,]$name " <<<"$output" ;; esac
	done
	[[ "$output" != *also:* ]]
}

@test "arguments reach the program as typed" {
	cat >app.c <<-'END'
		#include <mpi.h>
		#include <stdio.h>
		int main(int argc, char **argv) { MPI_Init(&argc, &argv); for (int i = 1; i < argc; i++) puts(argv[i]); MPI_Finalize(); }
	END
	mpicc -o app app.c
	strange=('a b' "it's" '$(touch taken)' '`touch taken`' '%d;#' '*' '' '$HOME' 'x\y' $'two\nlines')
	run -0 --separate-stderr longpole mpirun -n 1 ./app "${strange[@]}"
	[ "$(head -11 <<<"$output")" = "$(printf '%s\n' "${strange[@]}")" ]
	[ ! -e taken ]
}

@test "unknown words are refused, and a failing program is reported" {
	run -2 --separate-stderr longpole nosuch x
	[ "$stderr" = "longpole: no tool, workflow or command 'nosuch'" ]
	[ -z "$output" ]
	[ ! -e run ]
	run -2 --separate-stderr longpole --nosuch
	[[ "$stderr" == *"no such option"*"usage: longpole"* ]]
	run -2 --separate-stderr longpole -o
	[[ "$stderr" == *"-o needs an argument"* ]]
	run -2 --separate-stderr longpole --
	run -2 --separate-stderr longpole critpath.mk -k
	[[ "$stderr" == *"a workflow has settings"* ]]
	echo '#include <mpi.h>
		int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 3; }' >app.c
	mpicc -o app app.c
	run -2 --separate-stderr longpole mpirun -n 1 ./app
	[[ "$stderr" == *"what it did until then: lp-merge run.part/raw"* ]]
	[ ! -e run/graph ]
	# What recorded nothing leaves nothing that watch would wait for.
	run -2 --separate-stderr longpole -o none mpirun -n 1 true
	[[ "$stderr" == *"no rank was recorded"* ]]
	[ ! -e none.part ]
}

@test "a mistyped name or setting gets the nearest one, a bad value one line; nothing is run" {
	said() {
		run -2 --separate-stderr longpole "${@:2}"
		[ -z "$output" ]
		[ "$stderr" = "longpole: $1" ]
	}
	mkdir here
	cd here
	said "no tool, workflow or command 'critpaht'; did you mean 'critpath'?" critpaht run
	said "no tool, workflow or command 'mpriun'; did you mean 'mpirun'?" mpriun -n 2 true
	said "no workflow 'whatf'; did you mean 'whatif'?" whatf TOP=2
	said "no setting 'TOPP' in whatif; did you mean 'TOP'?" whatif x.graph TOPP=2
	said "no setting 'top' in whatif; did you mean 'TOP'?" whatif x.graph top=2
	said "no setting 'XYZ' in critpath" critpath.mk XYZ=2
	said "TOP=abc: a whole number is needed, 1 or more" whatif x.graph TOP=abc
	said "RANKS=2 0: a whole number is needed, 1 or more" table RANKS='2 0' APP=true
	said "-j 0: a number of processes is needed, 1 or more" -j 0 true
	said "-j two: a number of processes is needed, 1 or more" -j two true
	said "'a b': a folder's name is made of letters, digits and . / _ - + = @ and the comma" -o 'a b' true
	said "'a b': a folder's name is made of letters, digits and . / _ - + = @ and the comma" whatif x.graph OUT='a b'
	said "whatif needs a run: longpole whatif RUN" whatif
	said "TOP: a setting is NAME=VALUE; longpole help whatif" whatif x.graph TOP 5
	said "whatif takes one run, not x.graph y.graph" whatif x.graph y.graph
	said "BYTES=x: two numbers with a - between them are needed" network x.graph BYTES=x
	said "LIMITS=run_time: NAME=VALUE is needed" history x.graph LIMITS=run_time
	said "LIMITS=run_time=2% site:a.c:1=x: NAME=VALUE is needed" history x.graph LIMITS='run_time=2% site:a.c:1=x'
	said "help takes one name" help whatif gain
	said "no tool, workflow or command 'common'" common
	said "no tool, workflow or command 'nofolder'" nofolder
	said "scale needs a run: longpole scale RUN" scale OUT=other
	said "no.csv: no such table" overhead no.csv
	said './typo: No such file or directory' ./typo
	touch file
	said './file: not a program' ./file
	rm file
	[ -z "$(ls -A)" ]
}

# An MPI program that sleeps for ten minutes.
sleeper() {
	echo '#include <mpi.h>
		#include <unistd.h>
		int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); for (int i = 0; i < 6000; i++) usleep(100000); MPI_Finalize(); }' |
		"$1" -o "$PWD/sleeper" -x c -
}

# Names of each kind, numbers, folders and files that are wrong, a run that is not there: through each workflow and the door itself.
# What may stand in a line for users: a tool, a launcher, or longpole; nothing of make, jq, parallel, or a shell's script.
@test "no wrong use shows a line of make, jq or parallel, or ends as if it were right" {
	local first=$BATS_FILE_TMPDIR/first line status wrong=0
	ln -s "$first" run
	head -c 3000 run/graph >cut.graph
	echo hello >text
	mkdir emptyrun
	touch emptyrun/recorded
	{
		for name in compare efficiency history influence mend monitor network overhead predict scale splits table tolerance whatif; do
			printf '%s\n' "$name.mk" "$name nothere OUT=x" "$name run OUT=text TOP=1" "$name.mk cut.graph OUT=x APP=text" \
				"$name.mk text OUT=x APP=nosuch"
		done
		cat <<-'END'
			whatif emptyrun OUT=x
			scale emptyrun OUT=x
			splits OUTT=x
			whatif run OUT=y NETWORK=text
			whatif run OUT=y NETWORK=nothere
			whatif run OUT=/proc/y
			whatif run OUT=y TOP=0
			whatif $'two\nlines' OUT=y
			whatif 'a b' OUT=y
			whatif "it's" OUT=y
			whatif 'back\slash' OUT=y
			whatif 'dollar$(touch taken)' OUT=y
			whatif OUT=y GRAPH=$'two\nlines'
			influence run OUT=y LATENCY_US=x
			influence run OUT=y BUSES=x
			influence run OUT=y CPUS=0
			influence PATTERNS=sendrecv MPICC=nosuch OUT=y
			influence PROGRAMS=nosuch OUT=y
			network GRAPHS=run OUT=y SECONDS_=x
			network GRAPHS=run OUT=y EXTEND=x
			network GRAPHS=run OUT=y LATENCY_US=
			network GRAPHS=text OUT=y LATENCY_US=1 MB_S=1
			network MEASURED=text OUT=y
			network MEASURED=run OUT=y
			splits run OUT=y PARALLEL=nosuch
			splits run OUT=y ALGORITHM=nosuch
			splits run OUT=y PARTS=x
			scale run OUT=y MPIRUN=nosuch
			scale run OUT=y ANALYSES=nosuch
			efficiency run text OUT=y
			overhead run OUT=y
			overhead text OUT=y
			overhead FIT=--nosuch OUT=y
			overhead record OUT=y
			tolerance run OUT=y NETWORK=text
			tolerance run OUT=y PERCENTS=x
			monitor run OUT=y RANK=x
			monitor run OUT=y RANK=99
			history run OUT=y LAST=x
			compare A=nosuch B=nosuch RUNS=1 OUT=y
			compare A=true B=true RUNS=1 OUT=y
			predict APPS=text HERE=nosuch THERE=nosuch OUT=y
			mend.mk VERDICT=text APP=true OUT=y
			table nosuch REPEAT=1 RANKS=1 OUT=y
			critpath.mk RUN=nothere
			critpath.mk RUN=emptyrun
			help nosuch
			workflows x
			clean
			''
			-o text true
		END
	} >uses
	[ "$(wc -l <uses)" -gt 110 ]
	while read -r line; do
		eval "set -- $line"
		status=0
		longpole "$@" >out 2>err </dev/null || status=$?
		# The tables of overhead are there, and some of these take no TOP; a setting with a blank is a name.
		if [ $status -ne 2 ] && [[ $line != overhead?(.mk) ]]; then
			echo "status $status: longpole $line"
			wrong=$((wrong + 1))
		fi
		[ $status -eq 0 ] || [ -s err ] || { echo "nothing is said: longpole $line"; wrong=$((wrong + 1)); }
		if grep -E '^(make|jq|parallel|bash|awk|sed|one|try|replay|analyse|timed)(\[[0-9]+\])?: |\*\*\*|\.mk:[0-9]|line [0-9]+: [a-z]+: |This job|is not set|/tmp/tmp\.' err; then
			echo "so says: longpole $line"
			wrong=$((wrong + 1))
		fi
	done <uses
	[ ! -e taken ]
	[ $wrong -eq 0 ]
}

@test "help and the list of workflows name each, with its question and settings" {
	run -0 longpole workflows
	[ "${#lines[@]}" -eq "$(ls "$ROOT"/workflows/*.mk | grep -cv common)" ]
	for line in "${lines[@]}"; do
		[[ "$line" =~ ^([a-z]+)\ +[A-Z][^.:]+[a-z0-9?]$ ]]
		[ "${#line}" -le 100 ]
		name=${BASH_REMATCH[1]}
		longpole help "$name.mk" >head
		[ "$(head -1 head)" = "$(sed -n '2s/^# //p' "$ROOT/workflows/$name.mk")" ]
		grep -q "^run     make -f workflows/$name.mk" head
		run -1 grep -E '^#|=$' head
	done
	[ "$(longpole help)" = "$(longpole)" ]
	longpole | grep -q 'longpole workflows lists them'
	[ "$(longpole help whatif)" = "$(longpole help whatif.mk)" ]
	[ "$(longpole help gain)" = "$(lp-gain --help)" ]
	longpole help compare | tail -1 | grep -qx 'There is a workflow of this name, too: longpole help compare.mk'
	run -2 --separate-stderr longpole help whatf
	[ "$stderr" = "longpole: no tool, workflow or command 'whatf'; did you mean 'whatif'?" ]
}

@test "--ideal adds the time, serialisation and transfer on an ideal network to all reports" {
	cp -r "$BATS_FILE_TMPDIR/first" run
	run -0 --separate-stderr longpole critpath.mk RUN=run IDEAL=1
	span=$(lp-replay -F csv run/graph | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["together_ns"] }')
	jq -e --argjson span "$span" '.efficiency | (.ideal_span_s * 1e9 - $span | fabs) < 1 and
		(.transfer - .ideal_span_s / .span_s | fabs) < 1e-8' run/imbalance.json
	grep -qE '^from leaving MPI_Init to entering MPI_Finalize [0-9.]+ s, on an ideal network [0-9.]+ s$' <<<"$output"
	grep -qE '^communication = serialisation [0-9.]+ x transfer [0-9.]+ ' <<<"$output"
	[ "$(wc -l <<<"$output")" -le 20 ]
	grep -q 'id="ideal_span_s"' run/report.html
	grep -q 'id="transfer"' run/report.html
	cmp run/ideal <(lp-replay run/graph)
	longpole help critpath.mk | grep -q IDEAL=1
}

@test "a failed run leaves the previous one in place, and its own traces can be read" {
	cp -r "$BATS_FILE_TMPDIR/first" run
	cp run/path.txt before
	run -2 --separate-stderr longpole mpirun -n 1 ./typo
	cmp before run/path.txt
	[[ "$stderr" == *"longpole: mpirun -n 1 ./typo: status "* ]]
	[[ "$stderr" == *"longpole: run is still the run before" ]]
	[[ "$stderr" != *make* ]]
	echo '#include <mpi.h>
		int main(int c, char **v) { (void)v; MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return c > 1 ? 3 : 0; }' >app.c
	mpicc -o app app.c
	run -2 --separate-stderr longpole mpirun -n 1 ./app fails
	cmp before run/path.txt
	grep -qx 'longpole: mpirun -n 1 ./app fails: status 3' <<<"$stderr"
	tail -n 1 <<<"$stderr" | sed 's/^longpole: what it did until then: //' >then
	bash -eu -o pipefail then | grep -q '^app, 1 rank'
	longpole mpirun -n 1 ./app >out
	grep -q '^app, 1 rank' out
	cmp before run~/path.txt
	[ ! -e run.part ]
	touch run/mine
	longpole --again mpirun -n 1 ./app >out
	[ -e run/mine ]
	[ "$(longpole critpath -F text run~ | cut -d, -f 1 | head -n 1)" = app ]
	run -0 longpole critpath.mk clean
	[ "$(find run run~ 2>/dev/null | paste -sd ' ')" = 'run run/mine' ]
}

@test "INT or TERM to longpole or lp-record alone, or to all, ends all, and the run is kept" {
	local way tool kind signal pid command status
	for way in 'openmpi mpicc mpirun --oversubscribe --mca mpi_yield_when_idle 1' 'mpich mpicc.mpich mpirun.mpich'; do
		read -r kind compiler launcher <<<"$way"
		command -v "$compiler" >/dev/null || continue
		sleeper "$compiler"
		for tool in longpole 'lp-record -o run.part/raw'; do
			for signal in INT TERM all; do
				rm -rf run.part
				setsid bash -c "echo \$\$ >pid; exec env --default-signal=INT $tool $launcher -n 2 $PWD/sleeper" >out 2>err &
				await [ -s run.part/raw/rank.0 -a -s run.part/raw/rank.1 ]
				pid=$(cat pid)
				command=$(pgrep -s "$pid" -f "$PWD/sleeper" | paste -sd ' ')
				[ -n "$command" ]
				if [ $signal = all ]; then kill -INT -- "-$pid"; else kill -$signal "$pid"; fi
				status=0
				wait $! || status=$?
				# lp-record's status is the launcher's; MPICH's says 0 after TERM.
				[ "$tool" != longpole ] || [ $status -eq "$([ $signal = TERM ] && echo 143 || echo 130)" ]
				# shellcheck disable=SC2086
				await gone $command
				lp-merge run.part/raw >merged
				[ "$tool" != longpole ] || grep -q '^longpole: what it did until then: lp-merge run.part/raw | lp-graph' err
				run ! grep -q '^make' err
			done
		done
	done
	[ "$kind" = mpich ]
}

@test "completion offers tools, workflows, options and settings" {
	source "$ROOT/workflows/completion.bash"
	compopt() { :; }	# that works only while bash completes
	complete_words() {
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMPREPLY=()
		_longpole "$1" 2>complaints
		[ ! -s complaints ]
		printf '%s\n' "${COMPREPLY[@]}"
	}
	complete_words longpole crit | grep -qx critpath
	complete_words longpole work | grep -qx workflows
	complete_words longpole --id | grep -qx -- --ideal
	complete_words longpole whati | grep -qx whatif
	complete_words longpole whatif GR | grep -qx GRAPH=
	complete_words longpole gain --ga | grep -qx -- --gain
	complete_words lp-merge --he | grep -qx -- --help
	complete_words longpole --ag | grep -qx -- --again
	touch some.graph
	complete_words lp-graph som | grep -qx some.graph
}

@test "uninstall removes all that install installed, and nothing else" {
	make -s -C "$ROOT" install PREFIX=/usr DESTDIR="$PWD/here"
	touch here/usr/bin/other
	[ "$(find here -type f | wc -l)" -gt 60 ]
	make -s -C "$ROOT" uninstall PREFIX=/usr DESTDIR="$PWD/here"
	[ "$(find here ! -type d)" = here/usr/bin/other ]
	[ ! -e here/usr/share/longpole ]
}

@test "a full disk is one line, whatever programs met it" {
	cd "$BATS_FILE_TMPDIR"
	# In a recipe: bash, awk and jq; tools, which speak for themselves; other messages; none.
	recipe() { LONGPOLE_NAME=longpole LONGPOLE_MESSAGES=9 "$installed/share/longpole/workflows/quiet" -c "$1" 9>said; }
	run -3 --separate-stderr recipe 'printf x >/dev/full; awk "BEGIN { print }" >/dev/full; jq -n 1 >/dev/full; exit 3'
	[ -z "$stderr$output" ]
	[ "$(cat said)" = 'longpole: write error: No space left on device' ]
	run -2 --separate-stderr recipe "PATH=$installed/bin:\$PATH; lp-dump $BATS_FILE_TMPDIR/first/graph >/dev/full"
	[ -z "$stderr" ]
	[ "$(cat said)" = 'lp-dump: standard output: No space left on device' ]
	run -0 --separate-stderr recipe 'echo output; echo message >&2; echo file >log; cat log'
	[ "$output" = $'output\nfile' ]
	[ "$(cat said)" = message ]
	run -2 --separate-stderr bash -c '"$0" critpath.mk RUN=first >/dev/full' "$installed/bin/longpole"
	[ "$stderr" = 'longpole: write error: No space left on device' ]
	# Without rights to mount, the rest is not tested.
	mkdir -p small
	mount -t tmpfs -o size=64k small small 2>/dev/null || return 0
	( trap 'cd ..; umount small' EXIT; cd small; for free in 0 4 16; do
		dd if=/dev/zero of=fill bs=1k count=$((64 - free)) 2>/dev/null
		status=0
		# shellcheck disable=SC2086
		TMPDIR=$BATS_TEST_TMPDIR "$installed/bin/longpole" -o run $heat -n 400 -p imbalanced:20 >../out.$free 2>../err.$free || status=$?
		[ "$status" -eq 2 ] || echo "status $status with $free" >>../wrong
		sed '/lp-record: .*; recording of this rank ends$/d' ../err.$free >../left
		[ "$(wc -l <../left)" -eq 1 ] && grep -qE '^(longpole: |lp-[a-z]+: .*: )' ../left || cat ../left >>../wrong
		for file in run/*; do
			case $file in *.part | *.new | */asked | */command | */raw | */recorded) ;; *) echo "$file" >>../wrong ;; esac
		done
		rm -rf run run.part fill
	done )
	[ ! -e wrong ] || { cat wrong >&2; false; }
}
