# SPDX-License-Identifier: BSD-3-Clause
# lp-compare: exact differences, and changes with their confidence.
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

@test "2 % more at one site of ten is named by line in 19 of 20 trials; equal sides are not" {
	cd "$BATS_FILE_TMPDIR"
	compare_runs.py trials 1 20 a*.summary -- b*.summary | jq -e '.["13"] >= 19'
	compare_runs.py trials 2 40 a*.summary -- a*.summary | jq -e '.none >= 38'
}

@test "parts add up to the whole to the nanosecond, and swapped sides flip every sign" {
	cd "$BATS_FILE_TMPDIR"
	compare_runs.py exact a1.graph -- b1.graph
	compare_runs.py exact a1.summary a2.summary a3.summary -- b1.summary b2.graph
	compare_runs.py exact a[1-7].summary -- b[1-5].summary
	compare_runs.py exact a[1-8].summary -- b[1-9].summary	# only some of the ways to choose the sides
}

@test "with 5 runs per side, one disturbed, 2 % more at one site is found; equal sides are not" {
	compare_runs.py power 5 8 5 >score
	cat score
	jq -e '.found >= 7 and .covered >= 6 and .told >= 7 and .alarms <= 1 and .wrong <= 2' score
}

# of before visits were counted
old() {
	for run; do trace.py text "$BATS_FILE_TMPDIR/$run.summary" | sed '1s/.*/trace content=summary/; s/ visits=.*//' | pack >"$run.old"; done
}

@test "p, interval and adjusted p match a recount of all choices of sides; old summaries are read" {
	old a{1..9} b{1..6}
	trace.py check a1.old
	compare_runs.py ways a[1-5].old -- b[1-5].old
	compare_runs.py ways a[1-3].old -- b[1-6].old
	compare_runs.py ways a[1-4].old -- a[5-9].old
	for bad in 's/position_visits=1 /position_visits=3 /' 's/ visits=15 / visits=6500 /' 's/ visits=15 / visits=0 /'; do
		trace.py text "$BATS_FILE_TMPDIR/b1.summary" | sed "1s/.*/trace content=summary/; $bad" | pack >bad
		run -2 --separate-stderr lp-compare a1.old -- bad
		[[ "$stderr" == "lp-compare: bad:"*": place: no such number of visits" ]]
	done
}

# run NAME OPTION...: its summary
run_of() { compare_runs.py make "${@:2}" | pack | lp-graph 2>/dev/null | lp-compare --summary - >"$1.summary"; }

@test "a disturbed run is reported and left out of the tests if the others suffice" {
	cd "$BATS_FILE_TMPDIR"
	run_of held 301 slow=5:30
	lp-compare -F json a[1-4].summary held.summary -- b[1-5].summary >t.json
	jq -e '.disturbed | length == 1 and (.[0] | .side == "a" and .run == 5 and .file == "held.summary" and .left_out and
		.preempted_share == null and .held_up_share > 0.2 and .held_up_share < 0.26)' t.json
	jq -e '[.sites[] | select(.named) | .line] == [13] and .run_time.low_s > -0.001 and .run_time.change_s < 0' t.json
	lp-compare a[1-4].summary held.summary -- b[1-5].summary >t.text
	grep -q '(solve.c:13): .*; without 1 disturbed run$' t.text
	grep -q '^A: run 5 (held.summary) was disturbed: held up for 2[0-9.]* % of its time; the tests leave it out$' t.text
	lp-compare -F json b[1-5].summary -- a[1-4].summary held.summary | jq -e '.disturbed | length == 1 and .[0].side == "b"'
	lp-compare a[1-4].summary -- held.summary b[1-3].summary >t.text
	grep -q '^B: run 1 (held.summary) was disturbed: .*; the tests have it, because there are too few others$' t.text
	refute grep -q 'without 1 disturbed' t.text
	# As many as a side are no exception.
	for i in 2 3 4 5; do run_of held$i 30$i slow=5:30; done
	lp-compare -F json a[1-5].summary -- held[2-5].summary held.summary | jq -e '.disturbed == [] and
		([.sites[] | select(.named) | .line] == [15])'
	# Without visits the whole run is seen.
	old a{1..4} held b{1..5}
	lp-compare -F json a[1-4].old held.old -- b[1-5].old | jq -e '[.disturbed[] | [.side, .run, .left_out]] == [["a", 5, true]]'
}

@test "a run that is given twice on a side is one measurement" {
	cd "$BATS_FILE_TMPDIR"
	cp a1.summary again.summary
	lp-compare -F json a1.summary again.summary a1.graph a2.summary -- b[1-4].summary >t.json
	jq -e '.runs == {a: 2, b: 4} and .run_time.low_s == null and .run_time.p == null and all(.sites[]; .low_s == null) and
		(.repeated | map([.side, .run, .file, .first_run])) ==
		[["a", 2, "again.summary", 1], ["a", 3, "a1.graph", 1]]' t.json
	lp-compare a1.summary again.summary -- b[1-4].summary | grep -qx 'A: run 2 (again.summary) is run 1 again, and counts once'
	# Of what is left all is as without it, and a disturbed run has its place among the files.
	run_of twice 303 slow=5:30
	lp-compare -F json a1.summary a1.summary a[2-4].summary twice.summary -- b[1-5].summary | jq '.disturbed[0].run, .run_time' >t.twice
	lp-compare -F json a[1-4].summary twice.summary -- b[1-5].summary | jq '.disturbed[0].run + 1, .run_time' | cmp - t.twice
}

@test "what takes the same time in most runs has no least change that could be found" {
	cd "$BATS_FILE_TMPDIR"
	for i in 1 2 3 4 5 6 7 8; do
		pack <<-END | lp-graph 2>/dev/null >still$i.graph
			trace ranks=1
			site site=1 offset=1 function=still
			site site=2 offset=2 function=moves
			0 MPI_Init 0 +10
			0 MPI_Barrier 1000 +10 comm=1 site=1
			0 MPI_Barrier $((2000 + 13 * i + i * i)) +10 comm=1 site=2
		END
	done
	lp-compare -F json still[1-4].graph -- still[5-8].graph | jq -e '.sites | map({(.function // "none"): .detectable_s}) | add |
		.still == null and .moves > 0'
}

@test "a run whose threads lacked a core is disturbed, however long it took" {
	cd "$BATS_FILE_TMPDIR"
	for i in 1 2 3 4 5; do
		waited=$((i == 3 ? 60 : 5))
		{ compare_runs.py make 4$i | head -1; echo "load host=a ranks=2 cores=2 threads=2 elapsed_ns=1000 cpu_ns=900 thread_cpu_ns=900 waited_ns=$waited others_ns=0"
		compare_runs.py make 4$i | tail -n +2; } | pack | lp-graph 2>/dev/null | lp-compare --summary - >w$i.summary
	done
	lp-compare -F json a[1-5].summary -- w[1-5].summary |
		jq -e '[.disturbed[] | [.side, .run, .preempted_share, .left_out]] == [["b", 3, 0.06, true]]'
	lp-compare a[1-5].summary -- w[1-5].summary | grep -q '; 6.0 % of its threads. time ready to run, without a core; the tests leave it out$'
}

@test "a change at single visits is found; one delayed visit of a run is not a change" {
	cd "$BATS_FILE_TMPDIR"
	for i in 1 2 3 4 5; do run_of once$i 40$i once=5:400000 late=5:$((10 * i)); done	# sure, but too small
	lp-compare -F json a[1-5].summary -- once[1-5].summary | jq -e '[.sites[] | select(.named) | .line] == [15]'
	# 3 % of two runs of A: without the one visit each they are as the others, and so is the interval.
	run_of a.once 406 once=3:450000
	run_of b.once 407 once=3:450000
	lp-compare -F json a[1-3].summary a.once.summary b.once.summary -- b[1-5].summary >t.json
	jq -e '[.sites[] | select(.named) | .line] == [13]' t.json
}

@test "time without a site is tested, too" {
	cd "$BATS_FILE_TMPDIR"
	for i in 1 2 3 4 5; do
		compare_runs.py make 50$i | awk '/MPI_Finalize/ { $4 += 500000 } { print }' | pack | lp-graph 2>/dev/null |
			lp-compare --summary - >late$i.summary
	done
	lp-compare -F json a[1-5].summary -- late[1-5].summary | jq -e '[.sites[] | select(.named) | .line] == [null]'
	lp-compare a[1-5].summary -- late[1-5].summary | head -1 | grep -q ': communication in start, and what has no site: +3'
}

@test "the verdict names the rank on which a site takes longer if it is one rank and not all" {
	cd "$BATS_FILE_TMPDIR"
	for rank in 0 1; do
		for i in 1 2 3 4 5 6 7; do
			compare_runs.py make 20$i slow=3:9:$rank | pack | lp-graph 2>/dev/null >c.graph; lp-compare --summary c.graph >c$i.summary
		done
		lp-compare -F json a[1-7].summary -- c[1-7].summary >c.json
		jq -e --argjson rank $rank '.sites[] | select(.named) | .line == 13 and .rank == $rank' c.json
		lp-compare a[1-7].summary -- c[1-7].summary | head -1 | grep -q "(solve.c:13) on rank $rank: +"
		lp-compare -F json c[1-7].summary -- a[1-7].summary | jq -e --argjson rank $rank \
			'.sites[] | select(.named) | .line == 13 and .rank == $rank'
	done
	for i in 1 2 3 4 5 6 7; do
		compare_runs.py make 20$i slow=3:9 | pack | lp-graph 2>/dev/null >c.graph; lp-compare --summary c.graph >c$i.summary
	done
	lp-compare -F json a[1-7].summary -- c[1-7].summary | jq -e '.sites[] | select(.named) | .line == 13 and .rank == null'
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

@test "one run per side gives the changes and no statement of chance" {
	cd "$BATS_FILE_TMPDIR"
	lp-compare -F json a1.graph -- b1.graph | jq -e '(.run_time | .low_s == null and .high_s == null and .p == null) and
		([.sites[] | select(.named or .low_s != null or .p_adjusted != null)] == []) and
		(.verdict | test("nothing can be said of chance")) and .facts == [] and
		([.sites[] | select(.line == 13) | .line_b] == [20])'
	lp-compare a1.graph -- b1.graph >t.text
	grep -q 'then' t.text
	lp-compare a1.graph b1.graph | cmp - t.text
	lp-compare -F csv a1.graph -- b1.graph | head -1 | grep -q '^function,file,line,call,path_change_s,'
	lp-compare -F stream a1.graph -- b1.graph >t.stream
	trace.py check t.stream
}

@test "a limit fails only if the whole interval is beyond it" {
	cd "$BATS_FILE_TMPDIR"
	run -1 --separate-stderr lp-compare --limit site:solve.c:13=1% a[1-7].summary -- b[1-7].summary
	[[ "$stderr" == "lp-compare: site:solve.c:13 grew by "* ]]
	run -0 lp-compare --limit site:solve.c:13=4% --limit run_time=1 --limit wait=50% a[1-7].summary -- b[1-7].summary
	# Between the low end of the interval and the change itself, and below that end.
	run -1 --separate-stderr lp-compare -F json --limit site:solve.c:13=0% a[1-7].summary -- b[1-7].summary
	echo "$output" >t.json
	run -0 lp-compare --limit "site:solve.c:13=$(jq '.limits[0] | (.low + .value) / 2' t.json)%" a[1-7].summary -- b[1-7].summary
	run -1 lp-compare --limit "site:solve.c:13=$(jq '.limits[0].low * 0.99' t.json)%" a[1-7].summary -- b[1-7].summary
	run -0 lp-compare --limit run_time=0% --limit site:solve=1% a[1-7].summary -- a[89].summary a1[0-4].summary
	run -0 --separate-stderr lp-compare --limit run_time=0% a1.summary -- b1.summary
	[[ "$stderr" == *"too few runs to judge" ]]
	for bad in run_time nothing=1 run_time=x =1; do
		run -2 --separate-stderr lp-compare --limit $bad a1.summary -- b1.summary
		[[ "$stderr" == "lp-compare: --limit"* ]]
	done
}

@test "each limit is a JSON result and a JUnit case: kept, exceeded, or skipped" {
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

@test "the spread of a side's runs is reported, and the change that they could detect" {
	cd "$BATS_FILE_TMPDIR"
	lp-compare -F json a[1-7].summary -- b[1-7].summary >seven.json
	lp-compare -F json a[1-4].summary -- b[1-4].summary | jq -e '(.run_time | .detectable_s > 0 and .spread_b_s > 0) and
		([.sites[] | select(.named) | .line] == [13])'
	lp-compare -F json a[1-3].summary -- b[1-3].summary | jq -e 'all(.run_time, .sites[]; .detectable_s == null and .low_s == null) and
		(.verdict | test("with 3 and 3 runs nothing can be said of chance [(]the least p is 0.1[)]"))'
	jq -e '.run_time.detectable_s as $d | .run_time | .spread_a_s < $d and $d < 4 * ([.spread_a_s, .spread_b_s] | max)' seven.json
	jq -e '[.sites[] | select(.detectable_s != null)] | length == 10 and all(.detectable_s > 0)' seven.json
	jq -e '.sites[0] | .named and .detectable_s < .path_change_s' seven.json
	lp-compare -F json a1.summary -- b1.summary | jq -e '.run_time | .spread_a_s == null and .detectable_s == null'
	lp-compare -F json a1.summary a1.summary -- a1.summary a1.summary | jq -e '.run_time | .spread_a_s == null and .detectable_s == null'
	lp-compare a[1-7].summary -- b[1-7].summary | grep -q '^from run to run of A: [0-9.]* % of the run time; of B: '
}

# scaled RANKS SEED [NS]: three sites, of which the first scales, the second does up to 4 ranks, the third never
scaled() {
	python3 - "$@" <<-'END' | pack | lp-graph 2>/dev/null >"s$1.$2.graph"
		import random, sys
		io = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
		ranks, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
		print(f"trace ranks={ranks}\nmodule module=0 path=app")
		for s, name in enumerate(("solve", "exchange", "io")):
		    print(f"site site={s + 1} module=0 offset={100 + s} function={name} file=app.c line={10 + s}")
		at = 10000
		for r in range(ranks):
		    print(f"{r} MPI_Init {r * 100} {at} comm=1")
		for turn in range(20):
		    for s, ns in enumerate((800000 / ranks, 200000 / min(ranks, 4), io)):
		        ready = [at + int(ns * (1 + 0.02 * rng.random())) for r in range(ranks)]
		        done = max(ready) + 1000
		        for r in range(ranks):
		            print(f"{r} MPI_Allreduce {ready[r]} {done} comm=1 sent=8 received=8 site={s + 1}")
		        at = done
		for r in range(ranks):
		    print(f"{r} MPI_Finalize {at + 100} {at + 1000} comm=1")
	END
}

@test "sites that stop scaling beyond the spread have their first number of ranks, others none" {
	for n in 2 4 8; do scaled $n 1; scaled $n 2; done
	lp-compare --scaling -F json s8.?.graph s2.?.graph s4.?.graph >t.json
	jq -e '[.runs[] | [.ranks, .count]] == [[2, 2], [4, 2], [8, 2]] and .scaling == "strong"' t.json
	jq -e '[.sites[] | select(.function) | {(.function): .first_ranks}] | add == {solve: null, exchange: 8, io: 4}' t.json
	jq -e 'all(.sites[]; .grows == (.first_ranks != null)) and all(.sites[].runs[]; .low <= .share and .share <= .high) and
		([.sites[].runs[] | select(.ranks == 8) | .share] | add | . > 0.999999 and . < 1.000001)' t.json
	# What exchange lost: 50000 ns 20 times where 25000 would be ideal, and the call.
	jq -e '.sites[] | select(.function == "exchange") | .lost_s | . > 0.0004 and . < 0.0006' t.json
	lp-imbalance -F json s2.1.graph s8.1.graph | jq -c '.runs | map(del(.file))' >imbalance.json
	lp-compare --scaling -F json s2.1.graph s8.1.graph | jq -c '.runs | map(del(.count))' | cmp - imbalance.json
	lp-compare --scaling --weak -F json s2.1.graph s8.1.graph | jq -e '.scaling == "weak" and .runs[1].speedup > 8'
	lp-compare --scaling s2.1.graph s8.1.graph | grep -q '^MPI_Allreduce at exchange (app.c:11) stops scaling at 8 ranks.*; one run of a number'
	lp-compare --scaling s8.?.graph s2.?.graph | head -1 | refute grep 'one run of a number'
	[ "$(lp-compare --scaling -F csv s2.1.graph s8.1.graph | wc -l)" = 9 ]
	lp-compare --scaling -F json s2.1.graph s2.1.graph s2.2.graph s8.1.graph s8.1.graph >t.json
	jq -e 'all(.sites[].runs[]; if .ranks == 8 then .low == null and .high == null and .share >= 0 else .low <= .high end) and
		[.runs[].count] == [2, 1]' t.json
	# One run on 2 ranks in which io took more than it does on 8: its growth lies within the spread.
	scaled 2 3 90000
	lp-compare --scaling -F json s?.?.graph | jq -e '[.sites[] | select(.function) | {(.function): .first_ranks}] | add ==
		{solve: null, exchange: 8, io: null}'
	run -2 --separate-stderr lp-compare --scaling s2.1.graph s2.2.graph
	[ "$stderr" = 'lp-compare: --scaling: all runs are on 2 ranks' ]
	run -2 lp-compare --scaling --limit run_time=1 s2.1.graph s8.1.graph
}

@test "a history keeps run summaries in order of dates, draws them and judges the newest" {
	for d in 5 3 1 2 4 6 7 8; do
		compare_runs.py make $d $([ $d -lt 5 ] || echo slow=3:5) date=$((1700000000 + d * 86400)) | pack | lp-graph 2>/dev/null >$d.graph
	done
	flow() { make -s -f "$ROOT/workflows/history.mk" OUT=h "$@"; }
	run -2 flow
	[[ "$output" == *"history needs a run"* ]]
	[ ! -e h ]
	flow RUN="3.graph 1.graph 2.graph 4.graph" >t.text
	[ "$(ls h/runs | cut -c1-10 | xargs)" = '2023-11-15 2023-11-16 2023-11-17 2023-11-18' ]
	jq -e '[.runs[].date] == (["15", "16", "17", "18"] | map("2023-11-\(.)T22:13:20Z"))' h/history.json
	grep -q '<svg' h/history.svg
	grep -q 'MPI_Allreduce:1[0-9]' h/history.svg
	grep -q 'with 3 and 1 runs nothing can be said of chance' h/compare.txt
	flow RUN=3.graph >t.text	# is there already
	[ "$(ls h/runs | wc -l)" = 4 ]
	run flow RUN="5.graph 6.graph 7.graph 8.graph" NEW=4 LAST=4 LIMITS="site:solve.c:13=1% run_time=50%"
	[ "$status" -ne 0 ]
	grep -c '<failure ' h/limits.xml | grep -qx 1
	jq -e '.runs == {a: 4, b: 4}' h/compare.json
	flow NEW=4 LAST=4 LIMITS="run_time=50%" >t.text
	run -2 flow RUN=nowhere.graph
	[ -z "$(ls h/runs/*.part 2>/dev/null)" ]
	flow clean
	[ "$(ls h)" = runs ] && [ "$(ls h/runs | wc -l)" = 8 ]
}

# facts OPTIONS: what differs exactly from the program without any, by what and call
graph_of() {
	rm -rf run
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "${ranks:-2}" ./sites us=5 "$@"
	lp-merge run 2>/dev/null | lp-graph 2>/dev/null
}

facts() {
	graph_of "$@" >b.graph
	lp-compare -F json a.graph -- b.graph >t.json
	jq -c '[.facts[] | [.what, .call, .a, .b]] | unique' t.json
}

@test "changed message sizes, barriers, communicators, iterations and ranks are exact differences" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	ranks=2 graph_of >a.graph
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

@test "changed variables of MPI, library and hosts are exact differences; secrets appear nowhere" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	OMP_NUM_THREADS=1 UCX_TOKEN_X=hidden OMPI_MCA_orte_base_x=hidden graph_of >a.graph
	lp-dump -k environment run/rank.0 | jq -e -s 'map(.name) | index("OMP_NUM_THREADS") and .[0] == "MPI_Get_library_version"'
	refute grep -aq hidden run/rank.0 a.graph
	lp-dump -k environment run/rank.1 2>/dev/null | refute grep .
	OMP_NUM_THREADS=1 facts
	[ "$(jq -c .facts t.json)" = '[]' ]
	OMPI_MCA_coll_tuned_priority=29 OMP_NUM_THREADS=2 facts
	jq -e '[.facts[] | [.what, .name, .text, .a]] == [
		["environment", "OMP_NUM_THREADS", "OMP_NUM_THREADS was 1, then 2", null],
		["environment", "OMPI_MCA_coll_tuned_priority", "OMPI_MCA_coll_tuned_priority was not set, then 29", null]]' t.json
	lp-critpath b.graph | lp-dump -k environment - | grep -q '"value":"29"'
	lp-compare --summary b.graph >b.summary
	lp-compare -F json a.graph -- b.summary | cmp - t.json
	lp-report b.graph | grep -q '^OMP_NUM_THREADS = 2$'
	for side in 'node1 Open' 'node2 MPICH'; do
		printf 'trace ranks=2 host=%s\nenvironment name=MPI_Get_library_version value="%s <1>\\x0a2"\n%s\n' $side \
			'0 MPI_Init 0 10 comm=1
1 MPI_Init 0 10 comm=1' | pack | lp-graph 2>/dev/null >"${side%% *}.graph"
	done
	lp-compare -F json node1.graph -- node2.graph | jq -e '[.facts[] | .text] == ["hosts and their ranks were node1*2, then node2*2",
		"the MPI library was Open <1> 2, then MPICH <1> 2"]'
}

@test "a job of Slurm is in the trace and on the page; a new job is no difference, another cluster is" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	job() {
		lp-record -o "$3" -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 env SLURM_CLUSTER_NAME="$1" SLURM_JOB_ID="$2" \
			SLURM_STEP_ID=3 SLURM_JOB_NODELIST="n[1-$2]" SLURM_ARRAY_TASK_ID="$2" SLURM_JWT=hidden SLURM_SUBMIT_DIR=/x ./sites us=5
		lp-merge "$3" 2>/dev/null | lp-graph 2>/dev/null >"$3.graph"
	}
	job one 7 a
	job one 8 b
	job two 9 c
	lp-dump -k environment a.graph | jq -e -s 'map(select(.name | startswith("SLURM")) | [.name, .value]) == [
		["SLURM_ARRAY_TASK_ID", "7"], ["SLURM_CLUSTER_NAME", "one"], ["SLURM_JOB_ID", "7"], ["SLURM_JOB_NODELIST", "n[1-7]"],
		["SLURM_STEP_ID", "3"]]'
	lp-report a.graph | grep -q '^SLURM_JOB_NODELIST = n\[1-7\]$'
	lp-compare -F json a.graph -- b.graph | jq -e '.facts == []'
	lp-compare -F json a.graph -- c.graph | jq -e '[.facts[].text] == ["SLURM_CLUSTER_NAME was one, then two"]'
}

@test "sampled runs are compared by functions, which add up to the path and its change" {
	for seed in 1 2 3 4 5; do sampled_run.py make $seed 3 20 12 | lp-graph 2>/dev/null >$seed.graph; done
	lp-compare -F json 1.graph 3.graph 4.graph -- 2.graph 5.graph |
		jq -e '(.run_time.change_s * 1e9 | round) == ([.functions[].path_change_s * 1e9 | round] | add)'
	lp-compare -F json 1.graph -- 2.graph >t.json
	jq -e '.run_time.change_s * 1e9 | round as $whole | $whole != 0' t.json
	jq -e '(.run_time.change_s * 1e9 | round) == ([.functions[].path_change_s * 1e9 | round] | add)' t.json
	lp-critpath -F json 1.graph | jq -c '.by_function | map({(.function | gsub("[()]"; "")): .path_s}) | add | with_entries(select(.value > 0))' >path.json
	jq -c '.functions | map({(.function | gsub("[()]"; "")): .path_a_s}) | add | with_entries(select(.value > 0))' t.json |
		jq -e --slurpfile path path.json '. == $path[0] and length > 3'
	lp-compare --summary 1.graph >1.summary
	trace.py check 1.summary
	lp-compare -F json 1.summary -- <(lp-critpath 2.graph) | cmp - t.json
	lp-compare 1.graph -- 2.graph | grep -q '^change of the critical path by function'
	lp-critpath 1.graph | lp-replay -F stream - | lp-dump | refute grep '"kind":"sampled'	# times are others
	lp-compare -F json 1.graph -- "$BATS_FILE_TMPDIR/a1.graph" | jq -e '.functions == []'
	lp-compare -F json 2.graph -- 1.graph | jq -S '.functions | map({(.function): -.path_change_s}) | add' >back.json
	jq -S '.functions | map({(.function): .path_change_s}) | add' t.json | jq -e --slurpfile back back.json '. == $back[0]'
}

# reasons A... -- B...: as t.json; of each site and rank the reasons add up to the change, and if sides are swapped every sign flips
reasons() {
	lp-compare -F json "$@" >t.json
	# Means are rounded, for each site.
	jq -e 'def ns: . * 1e9 | round; def parts: [.on_core_s, .blocked_s, .preempted_s, .unknown_s];
		(1.5e-9 * (.sites | length + 1)) as $rounded | .computation.path_s.change_s != 0 and
		([.sites[] | (.kinds.compute | ns) == ([.computation | parts[] | .change_s | ns] | add)] | all) and
		([.sites[].computation.path_s.change_s | ns] | add) == (.computation.path_s.change_s | ns) and
		(.computation.path_s.change_s | ns) == (.kinds.compute | ns) and
		([.computation, .computation.by_rank[], .sites[].computation |
			[((.path_s // .compute_s).change_s | ns) == ([parts[] | .change_s | ns] | add),
			((.path_s // .compute_s).a_s | ns) == ([parts[] | .a_s | ns] | add),
			(parts[] | (.b_s - .a_s - .change_s | fabs) < $rounded)] | all] | all)' t.json
}

@test "why computation changed is what each run was, of sites and ranks, and adds up to the change" {
	for seed in 1 2 3 4; do switched_run.py make $seed 3 12 | lp-graph 2>/dev/null >$seed.graph; done
	reasons 1.graph -- 2.graph
	for side in a:1 b:2; do
		lp-critpath -F json ${side#*:}.graph >path.json
		lp-imbalance -F json ${side#*:}.graph >waits.json
		jq -e --arg side ${side%:*}_s --slurpfile path path.json --slurpfile waits waits.json '
			def told: {on_core_s, blocked_s, preempted_s, unknown_s};
			(.computation | told | map_values(.[$side])) == ($path[0].computation | told) and
			(.computation.by_rank | map(told | map_values(.[$side]))) == ($waits[0].computation.by_rank | map(told)) and
			(.sites | map(select(.computation.blocked_s[$side] > 0)) | length > 3)' t.json
	done
	cp t.json files.json
	for run in 1 2; do lp-compare --summary $run.graph >$run.summary; trace.py check $run.summary; done
	lp-compare -F json 1.summary -- 2.summary | cmp - files.json
	lp-compare 1.graph -- 2.graph >t.text
	head -1 t.text | grep -qE 's: [0-9.]+ s of it (on a core|blocked|preempted|for an unknown reason)'
	grep -q '^why computation changed, by site and by rank$' t.text
	reasons 1.graph 2.graph -- 3.graph 4.graph 1.graph
	# Computed as well, or jq 1.7 prints the digits that it read.
	jq -S '[.sites[] | {(.line | tostring): (.computation | map_values(0 + .change_s))}] | add' t.json >there.json
	reasons 3.graph 4.graph 1.graph -- 1.graph 2.graph
	jq -S '[.sites[] | {(.line | tostring): (.computation | map_values(0 - .change_s))}] | add' t.json | cmp - there.json
	# Of one side nothing can be told.
	lp-compare -F json 1.graph -- "$BATS_FILE_TMPDIR/a1.graph" >t.json
	jq -e '.computation == null and all(.sites[]; has("computation") and .computation == null) and
		.computation_unknown_because == "B has no switches"' t.json
	lp-compare 1.graph -- "$BATS_FILE_TMPDIR/a1.graph" | grep -qx 'why computation changed is unknown: B has no switches'
	lp-compare "$BATS_FILE_TMPDIR/a1.graph" -- "$BATS_FILE_TMPDIR/a2.graph" | refute grep 'why computation changed'
}

# stepped FIRST COUNT SOLVE STEP: runs as graphs, each of COUNT steps with a region assemble and solve, which takes SOLVE us; in
# step STEP assemble takes 2 ms more.
stepped() {
	local run
	for run in 1 2 3 4 5 6; do
		awk -v seed="$(printf %d "'$1")$run" -v count="$2" -v solve="$3" -v step="$4" 'BEGIN {
			srand(seed)
			print "trace ranks=1\nmodule module=0 path=/p\nregion_name number=1 name=step\nregion_name number=2 name=assemble"
			print "region_name number=3 name=solve\nsite site=1 call=MPI_Barrier module=0 offset=1 function=f file=f.c line=1"
			at = 100000
			for (n = 1; n <= count; n++) {
				middle = at + 1000000 + int(rand() * 20000) + (n == step) * 2000000
				last = middle + 1000 * solve + int(rand() * 20000)
				time = time sep at "," at "," middle "," middle "," last "," last; region = region sep "1,2,0,3,0,0"; sep = ","
				rows = rows "0 MPI_Barrier " last " " last + 100 " comm=1 site=1\n"
				at = last + 1000
			}
			print "regions location=0 time=" time " region=" region "\n0 MPI_Init 0 1000\n" rows "0 MPI_Finalize " at " " at + 1000
		}' | pack | lp-graph 2>/dev/null >"$1.$run"
	done
}

@test "the region and the step that changed are named, and no others; they add up to the change" {
	stepped a 20 3000 0
	stepped b 20 3090 0
	stepped c 20 3000 17
	stepped d 21 3000 0
	lp-compare --by region -F json a.? -- b.? >by
	[ "$(jq -c '[.regions[] | select(.named).section]' by)" = '["solve"]' ]
	jq -e '.verdict | test("; region solve: \\+2.2")' by
	[ "$(jq '[.regions[].path_change_s] | add * 1e9 | round' by)" -eq "$(jq '.run_time.change_s * 1e9 | round' by)" ]
	jq -e '([.regions[].path_b_s] | add) - .run_time.b_s | fabs * 1e9 < 12' by	# means are rounded
	lp-compare --by step -F json a.? -- c.? >by
	[ "$(jq -c '[.steps[] | select(.named).section]' by)" = '["step 17"]' ]
	jq -e '.verdict | test("; step 17: \\+2.4")' by
	[ "$(jq '[.steps[].path_change_s] | add * 1e9 | round' by)" -eq "$(jq '.run_time.change_s * 1e9 | round' by)" ]
	jq -e '([.steps[].path_b_s] | add) - .run_time.b_s | fabs * 1e9 < 12' by	# means are rounded
	lp-compare --by step -F csv a.? -- c.? | grep -q '^step 17,0.00'
	run -0 lp-compare --by step a.1 -- d.1
	[[ "$output" == *$'\nexact: 20 steps, then 21\n'* ]]
	[[ "$output" =~ $'\n'"20 steps of 0.0040"[0-9]*" s each, then 21 of 0.0040" ]]
	lp-compare --by region -F json a.[1-3] -- a.[4-6] | jq -e 'all(.regions[]; .named | not)'
	# A summary has the sections that it was made with.
	lp-compare --summary --by step a.1 >a.summary
	lp-compare --by step a.summary -- a.1 | grep -q '^0.000000.*step 17$'
	lp-compare a.summary -- a.1 | grep -q '^B took 0.00 % more time than A'
	run -2 --separate-stderr lp-compare --by region a.summary -- a.1
	[ "$stderr" = "lp-compare: a.summary: a summary without regions: lp-compare --summary --by region makes one with them" ]
	run -2 lp-compare --by step --history a.?
}

@test "the workflow alternates runs, compares and draws" {
	mpicc -g -O1 -w -o sites "$ROOT/tests/apps/sites.c"
	run="mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./sites us=5"
	make -s -f "$ROOT/workflows/compare.mk" A="$run" B="$run barrier=1" RUNS=2 OUT=out >t.text
	grep -q 'exact: MPI_Barrier at main (sites.c:[0-9]*) is only in B, 20 calls' t.text
	jq -e '.runs == {a: 2, b: 2} and .computation_unknown_because == null and .computation.on_core_s.a_s > 0' out/compare.json
	grep -q '<svg' out/path.svg
	grep -q 'a1.graph' out/timeline.svg
	grep -q 'b1.graph' out/timeline.svg
	[ "$(ls out/*.summary | wc -l)" = 4 ]
}

@test "memory does not grow with the calls of a run" {
	"$ROOT/build/bench/synthetic" -r 4 -c 600000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	[ "$(stat -c %s t.graph)" -gt 16384000 ]
	limited 16000 lp-compare --summary t.graph >t.summary
	lp-dump -k summary t.summary | jq -e '.ranks == 4 and .run_ns > 0'
}

@test "a file that is no run, or has another number of ranks, is refused in one line" {
	cd "$BATS_FILE_TMPDIR"
	lp-merge --help >/dev/null
	printf 'trace ranks=2\n0 MPI_Init 0 1\n1 MPI_Init 0 1\n' | pack >t.trace
	run -2 --separate-stderr lp-compare t.trace -- a1.graph
	[ -z "$output" ]
	[[ "$stderr" == "lp-c"* ]]
	head -c 2000 a1.graph >cut.graph
	run -2 lp-compare a1.graph -- cut.graph
	run -2 --separate-stderr lp-compare a1.graph -- nowhere
	[[ "$stderr" == "lp-compare: nowhere:"* ]]
	for bad in "a1.graph" "a1.graph --" "-- a1.graph" ""; do
		run -2 lp-compare $bad
		[ "$output" = "lp-compare: runs of two sides are needed: A... -- B..." ]
	done
	fuzz -n 100 a1.summary -- lp-compare b1.summary --
}

@test "runs whose ranks had too few cores are counted per side, from summaries, too" {
	for waited in 0 500; do
		tests/pack <<-END | lp-graph 2>/dev/null >$waited.graph
			trace ranks=2
			load host=a ranks=2 cores=1 threads=2 elapsed_ns=1000 cpu_ns=900 thread_cpu_ns=900 waited_ns=$waited others_ns=0
			0 MPI_Init 0 100
			0 MPI_Finalize 500 600
			1 MPI_Init 0 100
			1 MPI_Finalize 500 600
		END
		lp-compare --summary $waited.graph >$waited.summary
	done
	lp-compare 0.graph 500.graph -- 0.graph >text
	grep -q '^A: too few cores in 1 of 2 runs, the last of them: 2 ranks on 1 core, 50 % ' text
	refute grep -q '^B: too few cores' text
	lp-compare 0.summary -- 500.summary >text
	grep -q '^B: too few cores in 1 of 1 runs' text
	refute grep -q '^A: too few cores' text
}
