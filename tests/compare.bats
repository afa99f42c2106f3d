# SPDX-License-Identifier: BSD-3-Clause
# lp-compare: what changed, exactly and by chance.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
		compare_runs.py make $i | pack | lp-graph 2>/dev/null >a$i.graph
		lp-compare --summary a$i.graph >a$i.summary
		[ $i -gt 10 ] && continue
		compare_runs.py make 10$i slow=3:2 moved=7 | pack | lp-graph 2>/dev/null >b$i.graph
		lp-compare --summary b$i.graph >b$i.summary
	done
}

@test "2 % more at one site of ten is named by its line in 19 of 20 trials, and the same twice is not" {
	cd "$BATS_FILE_TMPDIR"
	compare_runs.py trials 1 20 a*.summary -- b*.summary | jq -e '.["13"] >= 19'
	compare_runs.py trials 2 40 a*.summary -- a*.summary | jq -e '.none >= 38'
}

@test "the parts make up the whole to the nanosecond, and with the sides swapped every sign flips" {
	cd "$BATS_FILE_TMPDIR"
	compare_runs.py exact a1.graph -- b1.graph
	compare_runs.py exact a1.summary a2.summary a3.summary -- b1.summary b2.graph
	compare_runs.py exact a[1-7].summary -- b[1-5].summary
}

@test "a summary stands for its run, and a path for its graph" {
	cd "$BATS_FILE_TMPDIR"
	lp-critpath a1.graph >a1.path
	lp-compare -F json a1.graph -- b1.graph >graphs.json
	lp-compare -F json a1.path -- b1.summary >others.json
	cmp graphs.json others.json
	trace.py check a1.summary
	[ "$(stat -c %s a1.summary)" -lt 20000 ]
}

@test "runs may come by pipes" {
	cd "$BATS_FILE_TMPDIR"
	lp-compare -F json a1.graph -- b1.graph >files.json
	lp-compare -F json <(cat a1.graph) -- <(lp-critpath b1.graph) | cmp - files.json
	lp-compare -F json a1.summary -- - <b1.graph | cmp - files.json
}

@test "one run a side says what changed and nothing of chance" {
	cd "$BATS_FILE_TMPDIR"
	lp-compare -F json a1.graph -- b1.graph | jq -e '(.run_time | .low_s == null and .high_s == null and .p == null) and
		([.sites[] | select(.named or .low_s != null or .p_adjusted != null)] == []) and
		(.verdict | test("nothing can be said of chance")) and .facts == [] and
		([.sites[] | select(.line == 13) | .line_b] == [20])'
	lp-compare a1.graph -- b1.graph >t.text
	grep -q 'then' t.text
	lp-compare -F csv a1.graph -- b1.graph | head -1 | grep -q '^function,file,line,call,path_change_s,'
	lp-compare -F stream a1.graph -- b1.graph >t.stream
	trace.py check t.stream
}

@test "a limit fails only where the whole interval lies beyond it" {
	cd "$BATS_FILE_TMPDIR"
	run -1 --separate-stderr lp-compare --limit site:solve.c:13=1% a[1-7].summary -- b[1-7].summary
	[[ "$stderr" == "lp-compare: site:solve.c:13 grew by "* ]]
	run -0 lp-compare --limit site:solve.c:13=4% --limit run_time=1 --limit wait=50% a[1-7].summary -- b[1-7].summary
	run -0 lp-compare --limit run_time=0% --limit site:solve=1% a[1-7].summary -- a[89].summary a1[0-4].summary
	run -0 --separate-stderr lp-compare --limit run_time=0% a1.summary -- b1.summary
	[[ "$stderr" == *"too few runs to judge" ]]
	for bad in run_time nothing=1 run_time=x =1; do
		run -2 --separate-stderr lp-compare --limit $bad a1.summary -- b1.summary
		[[ "$stderr" == "lp-compare: --limit"* ]]
	done
}

@test "each limit has a result as JSON and as a JUnit case: kept, exceeded, or not to be judged" {
	cd "$BATS_FILE_TMPDIR"
	run -1 lp-compare -F json --junit t.xml --limit site:solve.c:13=1% --limit run_time=9% --limit 'site:<"&>=1' \
		a[1-7].summary -- b[1-7].summary
	json=$(grep -v '^lp-compare' <<<"$output")
	jq -e '[.limits[] | [.name, .limit, .unit, .exceeded, .judged]] == [["site:solve.c:13", 1, "%", true, true],
		["run_time", 9, "%", false, true], ["site:<\"&>", 1, "s", false, false]] and
		(.limits[0] | .low > 1 and .low <= .value and .value <= .high) and .limits[2].value == null' <<<"$json"
	python3 - <<-'END'
		import xml.etree.ElementTree as tree
		suite = tree.parse("t.xml").getroot()
		assert suite.tag == "testsuite" and [suite.get(k) for k in ("tests", "failures", "errors", "skipped")] == list("3101")
		cases = suite.findall("testcase")
		assert [[e.tag for e in c] for c in cases] == [["failure"], ["system-out"], ["skipped"]]
		assert cases[0].get("name").startswith("site:solve.c:13=1% ") and cases[2].get("name") == 'site:<"&>=1'
	END
	run -0 lp-compare --junit one.xml --limit run_time=0% a1.summary -- b1.summary
	grep -q '<skipped message="run_time changed by .*too few runs to judge"/>' one.xml
	run -2 --separate-stderr lp-compare --junit nowhere/t.xml a1.summary -- b1.summary
	[ "$stderr" = 'lp-compare: nowhere/t.xml: No such file or directory' ]
	run -2 lp-compare --junit bad.xml --limit nothing=1 a1.summary -- b1.summary
	[ -z "$(ls bad.xml* 2>/dev/null)" ]
}

@test "the spread of a side's runs is told, and the change that so many runs would have shown" {
	cd "$BATS_FILE_TMPDIR"
	lp-compare -F json a[1-7].summary -- b[1-7].summary >seven.json
	lp-compare -F json a[1-4].summary -- b[1-4].summary | jq -e '(.run_time | .detectable_s > 0 and .spread_b_s > 0) and
		[.sites[] | select(.detectable_s != null)] == []'	# 4 and 4 are none for 20 tests
	jq -e '.run_time.detectable_s as $d | .run_time | .spread_a_s < $d and $d < 4 * ([.spread_a_s, .spread_b_s] | max)' seven.json
	jq -e '[.sites[] | select(.detectable_s != null)] | length == 10 and all(.detectable_s > 0)' seven.json
	jq -e '.sites[0] | .named and .detectable_s < .path_change_s' seven.json
	lp-compare -F json a1.summary -- b1.summary | jq -e '.run_time | .spread_a_s == null and .detectable_s == null'
	lp-compare -F json a1.summary a1.summary -- a1.summary a1.summary | jq -e '.run_time | .spread_a_s == 0 and .detectable_s == null'
	lp-compare a[1-7].summary -- b[1-7].summary | grep -q '^from run to run of A: [0-9.]* % of the run time; of B: '
}

# facts OPTIONS: what differs exactly from the program without any, by what and call
facts() {
	rm -rf run
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "${ranks:-2}" ./sites us=5 "$@"
	lp-merge run 2>/dev/null | lp-graph 2>/dev/null >b.graph
	lp-compare -F json a.graph -- b.graph >t.json
	jq -c '[.facts[] | [.what, .call, .a, .b]] | unique' t.json
}

@test "message sizes, barriers, communicators, iterations and ranks are each told exactly" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	ranks=2 facts >/dev/null 2>&1 || true
	cp b.graph a.graph
	[ "$(facts)" = '[]' ]
	[ "$(facts bytes=200)" = '[["bytes_received","MPI_Sendrecv",2000,4000],["bytes_sent","MPI_Sendrecv",2000,4000]]' ]
	[ "$(facts barrier=1)" = '[["collectives",null,112,122],["site","MPI_Barrier",0,20]]' ]
	facts self=1
	jq -e 'any(.facts[]; .what == "communicator" and .call == "MPI_Bcast" and .function == "main") and
		any(.facts[]; .what == "site" and .call == "MPI_Comm_dup")' t.json
	facts iterations=12
	jq -e '[.facts[] | select(.what == "calls") | [.a, .b]] | length == 12 and all(. == [20, 24])' t.json
	ranks=3 facts
	jq -e '[.facts[] | [.what, .a, .b]] | index([["ranks", 2, 3]]) == 0' t.json
	jq -e '[.facts[] | select(.what == "calls")] == []' t.json
}

@test "the recipe takes turns, compares and draws" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	run="mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./sites us=5"
	make -s -f "$ROOT/workflows/compare.mk" A="$run" B="$run barrier=1" RUNS=2 OUT=out >t.text
	grep -q 'exact: MPI_Barrier at main (sites.c:[0-9]*) is only in B, 20 calls' t.text
	jq -e '.runs == {a: 2, b: 2}' out/compare.json
	grep -q '<svg' out/path.svg
	[ "$(ls out/*.summary | wc -l)" = 4 ]
}

@test "what is no run, or of other ranks than its side, is refused in one line" {
	cd "$BATS_FILE_TMPDIR"
	lp-merge --help >/dev/null
	printf 'trace ranks=2\n0 MPI_Init 0 1\n1 MPI_Init 0 1\n' | pack >t.trace
	run -2 --separate-stderr lp-compare t.trace -- a1.graph
	[ -z "$output" ] && [[ "$stderr" == "lp-c"* ]]
	head -c 2000 a1.graph >cut.graph
	run -2 lp-compare a1.graph -- cut.graph
	run -2 --separate-stderr lp-compare a1.graph -- nowhere
	[[ "$stderr" == "lp-compare: nowhere:"* ]]
	for bad in "a1.graph" "a1.graph --" "-- a1.graph" ""; do
		run -2 lp-compare $bad
	done
	fuzz -n 100 a1.summary -- lp-compare b1.summary --
}
