# SPDX-License-Identifier: BSD-3-Clause
# Text that leaves the tools: names from traces may contain anything, and stay names.
bats_require_minimum_version 1.5.0
load helpers

# A run whose names would act: in hostile.graph, its path in hostile.path.
hostile() {
	pack "$fixtures/hostile.txt" >hostile.graph
	lp-gain -F stream --gain 20 hostile.graph >hostile.path
}

# on_terminal WIDTH COMMAND: its output as a terminal of that width gets it
on_terminal() {
	COLUMNS=$1 script -qec "$2" /dev/null </dev/null | tr -d '\r'
}

@test "JSON is right for any bytes, in every tool" {
	hostile
	lp-dump hostile.path | jq -es 'length > 10' >/dev/null
	lp-gain -F json --gain 20 --slack -k 2 hostile.graph | jq -e . >/dev/null
	lp-imbalance -F json --path hostile.path hostile.graph >out.json
	jq -e '.calls | map(.call) | contains(["</script><script>window.hurt=1</script>"])' out.json
	python3 -c 'import json, sys; json.loads(open("out.json", "rb").read().decode("utf-8", "strict"))'
	printf 'n,t\n1,9\n2,5\n4,3\n8,2\n' >$'a\\ \001\377"b.csv'
	lp-fit -F json $'a\\ \001\377"b.csv' | jq -r .name | grep -qF '"b'
	lp-imbalance -F json hostile.graph hostile.graph | jq -e '.runs | length == 2'
}

@test "a report as JSON beside another form is the same as alone" {
	hostile
	for tool in 'lp-critpath -F text' 'lp-critpath -F stream' 'lp-gain -F text' 'lp-gain -F stream' lp-imbalance 'lp-imbalance -F csv'; do
		rm -f out.json
		$tool hostile.graph >alone
		$tool --json out.json hostile.graph >out
		${tool%% *} -F json hostile.graph | cmp - out.json
		# a stream says which commands made it
		[[ $tool == *stream ]] || cmp out alone
	done
	run -2 lp-critpath --json missing/out.json hostile.graph
	[[ $output == *missing/out.json* ]]
}

@test "a tool that is killed leaves nothing of a file that it did not complete" {
	hostile
	mkfifo slow.graph
	mkdir here
	lp-critpath -F text --json here/out.json slow.graph 3>&- &
	exec 4>slow.graph
	head -c 500 hostile.graph >&4
	for ((i = 0; i < 500; i++)); do
		! ls -l /proc/$!/fd 2>/dev/null | grep -q here/ || break
		sleep 0.01
	done
	[ $i -lt 500 ]
	kill -KILL $!
	status=0
	wait $! || status=$?	# run would wait in another shell, which need not know the status
	[ $status -eq 137 ]
	exec 4>&-
	[ -z "$(ls -A here)" ]
}

@test "CSV has as many cells in each line as in its head, and no formulas" {
	hostile
	for form in '' '--by site' '--by call' '--by partner'; do
		lp-imbalance -F csv $form hostile.graph >out.csv
		python3 - out.csv <<-'END'
			import csv, sys
			rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8", errors="strict"), strict=True))
			assert all(len(row) == len(rows[0]) for row in rows), rows
			assert not any(cell[:1] in ("=", "+", "@", "\t", "\r") for row in rows[1:] for cell in row), rows
			assert not any("\x1b" in cell for row in rows for cell in row)
		END
	done
	lp-imbalance -F csv hostile.graph | grep -qF "'=cmd|"
	cp hostile.graph '=1+1,"x".graph'
	lp-imbalance -F csv '=1+1,"x".graph' hostile.graph | sed -n 2p | grep -qF '"'"'"'=1+1,""x"".graph"'
}

@test "tables keep their columns, and send only text to a terminal" {
	hostile
	for command in 'lp-gain -F text --all --gain 20 --slack -k 1' 'lp-imbalance --all' 'lp-imbalance --by site' 'lp-dump -F text'; do
		$command hostile.graph >out
		run ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out
		run ! grep -qP '\xe2\x80\xae' out
		awk -F '\t' 'NF < 2 { n = 0; next } n && NF != n && !/all shows/ { print; bad = 1 } { n = NF } END { exit bad }' out
	done
	lp-imbalance --by site hostile.graph | grep -qF 'f\x1b]0;title\x07\u202e'
	lp-imbalance --by site hostile.graph | grep -qF 'a,b\tc\nd.c'
}

@test "an unknown value is - in a table, empty in CSV, null in JSON, and absent in a message" {
	printf 'n,t\n1,9\n2,5\n4,3\n8,2\n' >$'=1+1,\033"a\tb.csv'
	lp-fit -F text $'=1+1,\033"a\tb.csv' >out
	[ "$(awk -F '\t' '$1 == 8 { print $4 }' out)" = - ]
	run ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out
	lp-fit -F csv $'=1+1,\033"a\tb.csv' >out
	[ "$(tail -1 out | cut -d, -f1-4)" = $'"\'=1+1,\\x1b""a\tb",8,2' ]
	[ "$(python3 -c 'import csv, sys; print(list(csv.DictReader(sys.stdin))[-1]["tau"])' <out)" = '' ]
	lp-fit -F json $'=1+1,\033"a\tb.csv' | jq -e '.points[-1] | .n == 8 and has("tau") and .tau == null'
	lp-fit -F stream $'=1+1,\033"a\tb.csv' | lp-dump >out
	jq -es 'map(select(.kind == "fit_point")) | length == 4 and all(has("t") and (has("tau") | not))' out
}

@test "a message is one line without control characters, whatever the file is called" {
	run -2 --separate-stderr lp-graph $'no\nsuch\e[31m'
	[ "$stderr" = 'lp-graph: no\nsuch\x1b[31m: No such file or directory' ]
}

@test "a missing file is named without an offset" {
	for t in lp-dump lp-graph lp-critpath lp-imbalance lp-replay lp-report; do
		run -2 --separate-stderr "$t" nowhere
		[ "$stderr" = "$t: nowhere: No such file or directory" ]
	done
}

@test "scripts for gnuplot execute nothing from a name" {
	for name in '`touch hurt`' "x'; system 'touch hurt'; '" $'x"\nsystem "touch hurt"\n#' '@x $(touch hurt)'; do
		printf 'n,t\n1,9\n2,5\n4,3\n8,2\n' >"$name.csv"
		lp-fit --gnuplot "$name.csv" >fit.gp
		grep -q touch fit.gp
		(echo 'set terminal svg'; echo 'set output "fit.svg"'; cat fit.gp) | gnuplot
		[ ! -e hurt ]
		[ -s fit.svg ]
		python3 -c 'import xml.dom.minidom as m; m.parse("fit.svg")'
		for r in 1 2 3 4 5 6; do
			{
				echo measurement
				echo mpirun ranks=2 sync=none
				echo "samples name=MPI_Gather function=MPI_Gather role=function bytes=8 volume=8 part=0 guideline=\"\" number=0 time=$((2000 + r))"
				echo "samples name=MPI_Gather function=MPI_Gather role=control bytes=8 volume=8 part=0 guideline=\"\" number=0 time=$((2000 - r))"
				echo "samples name=\"$(printf %s "$name" | sed 's/["\\]/\\&/g' | awk '{ printf "%s%s", s, $0; s = "\\x0a" }')\" function=MPI_Gather role=mockup bytes=8 volume=8 part=0 guideline=\"$(printf %s "$name" | sed 's/["\\]/\\&/g' | awk '{ printf "%s%s", s, $0; s = "\\x0a" }')\" number=3 time=$((1000 + 2 * r))"
			} >m.txt
			pack m.txt >"$r.run"
		done
		rm -rf plots
		run -1 --separate-stderr lp-guidelines -c none -p plots [1-6].run
		for script in plots/*.gp; do
			(cd plots && gnuplot "$(basename "$script")" 2>/dev/null)
		done
		[ ! -e hurt ]
		[ ! -e plots/hurt ]
		[ -n "$(ls plots/*.svg)" ]
	done
}

@test "on a terminal tables are aligned and fit its width, and the path is text" {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no terminals here"
	hostile
	on_terminal 90 'lp-imbalance hostile.graph' >out
	grep -q '^share_%  ' out
	run ! grep -qP '\t' out
	sed -n '/^share_%/,/^$/p' out >table
	python3 -c 'assert all(len(line.rstrip("\n")) <= 90 for line in open("table", encoding="utf-8")), open("table").read()'
	on_terminal 100 'lp-critpath hostile.graph' | grep -q '^run time .*critical path'
	[ "$(lp-critpath hostile.graph | lp-dump -k path | wc -l)" = 1 ]
}

@test "text, json, csv and stream name the forms; older names are accepted" {
	hostile
	for old in table=text msgpack=stream; do
		cmp <(lp-imbalance -F "${old%=*}" hostile.graph | lp-dump -k shares 2>/dev/null || lp-imbalance -F "${old%=*}" hostile.graph) \
			<(lp-imbalance -F "${old#*=}" hostile.graph | lp-dump -k shares 2>/dev/null || lp-imbalance -F "${old#*=}" hostile.graph)
	done
	cmp <(lp-dump -F table hostile.graph) <(lp-dump -F text hostile.graph)
	run -2 --separate-stderr lp-imbalance -F html hostile.graph
	[[ "$stderr" == *"one of text, json, csv, stream is needed" ]]
}

@test "a filter that selects nothing reports it" {
	hostile
	for filter in '-k nothing' '-r 7' '-b 100' '-e -1' '-F text -r 7'; do
		run -2 --separate-stderr lp-dump $filter hostile.graph
		[ "$stderr" = "lp-dump: nothing has the kinds, ranks and times asked for" ]
	done
	run -0 lp-dump -r 1 hostile.graph
}

@test "a time or rank outside the run is an error" {
	lp-import -f prv "$fixtures/paraver/in.prv" >t.graph
	run -2 --separate-stderr lp-imbalance --from 0.0002 t.graph
	[ "$stderr" = "lp-imbalance: --from: the run has ended by then, after 0.000200000 s" ]
	[ -z "$output" ]
	run -2 --separate-stderr lp-imbalance -F json --to 0 t.graph
	[ "$stderr" = "lp-imbalance: --to: the run has not begun by then" ]
	for ranks in 2 0,2 0-2 1-4294967296; do
		run -2 --separate-stderr lp-replay --monitor $ranks t.graph
		[ "$stderr" = "lp-replay: --monitor: $ranks: the run has the ranks 0 to 1" ]
		[ -z "$output" ]
	done
	for ranks in 1- a '0,' '' -1 1,,0; do
		run -2 --separate-stderr lp-replay --monitor "$ranks" t.graph
		[[ "$stderr" == *": ranks are all, or as in 0,2-3" ]]
	done
	[ "$(lp-replay -F csv --monitor 0-1 t.graph)" = "$(lp-replay -F csv --monitor all t.graph)" ]
}

@test "names of hosts and calls each take one line in Paraver's files" {
	cat >t.txt <<-'END'
		graph ranks=2 host="h\x0aLEVEL NODE SIZE 9\x1b[31m"
		call number=900 name="MPI_Odd\x0aEVENT_TYPE\x0a0 1 x\x1b]0;t\x07"
		0 ?900 0 +10
		1 MPI_Init 0 +10
	END
	pack t.txt >t.graph
	lp-export -f prv -o t t.graph
	[ "$(grep -c '^LEVEL' t.row)" = 3 ]
	[ "$(grep -c '^EVENT_TYPE' t.pcf)" = 6 ]
	run -1 grep -lP '[\x00-\x08\x0b-\x1f\x7f]' t.prv t.pcf t.row
	grep -q 'MPI_Odd\\nEVENT_TYPE' t.pcf
	grep -q 'h\\nLEVEL NODE SIZE 9\\x1b\[31m' t.row
}

@test "a long command shows its progress on a terminal, and only there" {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no terminals here"
	random_run.py make 3 >t.trace
	lp-graph <t.trace >t.graph 2>/dev/null
	# shows TOOL FOLDER: in this folder, as most of the time it waits for the clock
	shows() {
		local tool=$1 input=t.graph half last
		mkdir "$2"
		cd "$2"
		cp ../t.graph ../t.trace .
		[ "$tool" != lp-graph ] || input=t.trace
		half=$(($(stat -c %s $input) / 2))
		# Half of it at once; then pieces, until progress is shown or there were as many as asked for; then the rest.
		cat >slow <<-END
			at=$half
			{
				head -c \$at $input
				for ((i = 0; i < \$1; i++)); do
					! command grep -q calls, said || break
					sleep 0.05
					tail -c +\$((at + 1)) $input | head -c $((half / 200))
					at=\$((at + $((half / 200))))
				done
				tail -c +\$((at + 1)) $input
			} | $tool >out
		END
		script -qec 'bash slow 200' /dev/null >said </dev/null
		grep -qE "${tool%% *}: [0-9.]+ (million )?calls, [0-9.e+]+( million)?/s" said
		last=$(cat said)
		[[ "${last##*$'\033[K'}" != *calls,* ]]
		cmp out <($tool <$input 2>/dev/null)
		>said
		run -0 --separate-stderr bash slow 15
		[[ "$stderr" != *calls,* ]]
	}
	local pids=()
	for tool in 'lp-graph' 'lp-critpath -F json' 'lp-imbalance -F json' 'lp-replay -F json' 'lp-export -f csv' \
		'lp-export -f perfetto' 'lp-dump'; do
		shows "$tool" "${#pids[@]}" 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
}
