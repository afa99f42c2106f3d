#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The run by steps: --by step of lp-critpath and lp-imbalance.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# program FILE COUNT BODY [PLACES]: one rank that calls COUNT times at the places f1 ... of BODY, after MPI_Init
program() {
	awk -v times="$2" -v places="$3" -v sites="${4:-9}" 'BEGIN {
		print "trace ranks=1\nmodule module=0 path=/p"
		for (n = 1; n <= sites; n++)
			printf "site site=%d call=MPI_Barrier module=0 offset=%d function=f%d file=p.c line=%d\n", n, n, n, n
		print "0 MPI_Init 0 50"
		count = split(places, place, " ")
		for (n = 0; n < times * count; n++)
			printf "0 MPI_Barrier %d +10 comm=1 site=%s\n", 100 * (n + 1), place[n % count + 1]
		printf "0 MPI_Finalize %d +10\n", 100 * (n + 1)
	}' | pack | lp-graph 2>/dev/null >"$1"
}

@test "the steps of random programs are those that were planted, or none; sums over steps are the path" {
	run -0 steps_check.py check 0 "$(short_or_long 150 300)"
	[[ "$output" =~ ^([0-9]+)" programs with steps, found in "([0-9]+)"; "([0-9]+)" with neighbours that differ, found in "([0-9]+)$ ]]
	[ "${BASH_REMATCH[2]}" -gt $((BASH_REMATCH[1] * 84 / 100)) ]
	[ "${BASH_REMATCH[4]}" -gt $((BASH_REMATCH[3] * 60 / 100)) ]
}

@test "random programs whose period was once wrong, or that the two programs judged differently" {
	local seed
	for seed in 3910 100517 100755 100891 100956 101196 101400; do
		run -0 steps_check.py check $seed 1
	done
}

@test "calls of which each depends only on the one before have no steps, though none follows itself" {
	program chain 1 "$(python3 -c '
import random
rng, at = random.Random(3), 1
for _ in range(540):
    print(at)
    at = {1: (2, 3), 2: (1, 4), 3: (3, 2), 4: (4, 1)}[at][rng.random() < 0.5]' | tr '\n' ' ')"
	lp-critpath --by step -F json chain | jq -e '.loops == [] and .undecided.steps == 141'
}

@test "a loop of 5 steps has steps, one of 4 has none" {
	program five 5 '1 2 3'
	lp-critpath --by step -F json five | jq -e '.loops | length == 1 and .[0].steps == 5 and .[0].calls == 3'
	program four 4 '1 2 3'
	lp-critpath --by step -F json four | jq -e '.loops == [] and .undecided == null and (.sections | length) == 1'
	run -0 lp-critpath --by step -F text four
	[[ "$output" == *"no steps: the calls of the ranks show no common period"* ]]
}

@test "an undecided loop has no steps unless --steps names their number" {
	# f1 comes after 1, 7, 2, 9, 1 and 6 calls of f2
	body="1 2 1 2 2 2 2 2 2 2 1 2 2 1 2 2 2 2 2 2 2 2 2 1 2 1 2 2 2 2 2 2"
	program odd 1 "$body"
	lp-critpath --by step -F json odd | jq -e '.loops == [] and .undecided.steps == 6 and .undecided.chance > 0.001'
	run -0 lp-critpath --by step -F text odd
	[[ "$output" == *"undecided: 6 calls of MPI_Barrier at f1 (p.c:1)"*"; --steps 6 takes them"* ]]
	lp-critpath --by step --steps 6 -F json odd | jq -e '.loops[0].steps == 6 and (.sections | length) == 7'
	lp-imbalance --by step --steps 6 -F json odd | jq -e '.loops[0].steps == 6'
}

@test "steps and the time in none have all computation and all time in MPI of the ranks, also from a pipe" {
	steps_check.py make 0 | lp-graph 2>/dev/null >graph
	lp-imbalance -F json graph >whole
	lp-imbalance --by step -F json graph >steps
	jq -e '.loops | length > 0' steps
	for key in compute_s mpi_s wait_s; do
		[ "$(jq "[.by_rank[].$key] | add * 1e9 | round" whole)" = "$(jq "[.sections[].$key] | add * 1e9 | round" steps)" ]
	done
	lp-imbalance --by step -F json <graph | cmp steps
	lp-imbalance --by step -F json - < <(cat graph) | cmp steps
	lp-critpath --by step -F csv <graph >direct
	lp-critpath --by step -F csv < <(cat graph) | cmp direct
}

# simulation STEPS SORT OUTPUT: each step sends twice at f1 and f2 and receives twice at f3 and f4; each SORT steps it sorts at f5 and
# f6 and does not send; each OUTPUT steps it has f7 and f8. A force is computed before the first one.
simulation() {
	local n body="3 4 3 4"
	for ((n = 1; n <= $1; n++)); do
		((n % $2)) && body+=" 1 2 1 2" || body+=" 5 6"
		body+=" 3 4 3 4"
		((n % $3)) || body+=" 7 8"
	done
	program "$4" 1 "$body"
}

@test "steps of a simulation are its time steps: not its output, not the sorting of particles, not an exchange" {
	local output
	for output in $(short_or_long '2 7 50' '2 5 7 20 50 100'); do
		simulation 200 20 $output simulated
		[ "$(lp-critpath --by step -F json simulated | jq -c '[[.loops[].steps], .undecided]')" = '[[201],null]' ]
	done
	# where a tenth or more of the steps sort, these may be a loop within another one
	simulation 200 6 50 simulated
	[ "$(lp-critpath --by step -F json simulated | jq -c '[[.loops[].steps], .undecided != null]')" = '[[],true]' ]
	# output without anything else that comes now and then: each 50 steps, if it is rare
	simulation 200 1000 50 simulated
	[ "$(lp-critpath --by step -F json simulated | jq -c '[.loops[].steps]')" = '[200]' ]
}

@test "the steps of LAMMPS are its time steps, and one for the first forces" {
	command -v lmp || skip "lmp is not installed"
	sed 's/^thermo  .*/thermo 10/; s/0 20 0 20 0 20/0 6 0 6 0 6/' "$ROOT/workflows/apps/in.melt" >in.melt
	for ranks in 2 4; do
		rm -rf run
		lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $ranks lmp -log none -in in.melt >/dev/null
		lp-merge run 2>/dev/null | lp-graph 2>/dev/null >graph
		[ "$(lp-critpath --by step -F json graph | jq -c '[.loops[].steps]')" = '[201]' ]
		[ "$(lp-imbalance --by step -F json graph | jq -c '[.loops[].steps]')" = '[201]' ]
	done
	# 7 of 61 have output, which has a twentieth of all calls: they are not the steps
	sed -i 's/^run  .*/run 60/' in.melt
	rm -rf run
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 lmp -log none -in in.melt >/dev/null
	lp-merge run 2>/dev/null | lp-graph 2>/dev/null >graph
	[ "$(lp-critpath --by step -F json graph | jq -c '[.loops[].steps]')" = '[61]' ]
}

@test "the exchanges of a step with one rank after the other are no steps, but make one, though one function makes them" {
	mpicc -g -O1 -w -o exchanges "$ROOT/tests/apps/exchanges.c"
	local ranks
	for ranks in 4 16; do	# 4 and 7 exchanges a step, of three calls
		rm -rf run
		lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $ranks ./exchanges cg 100
		lp-merge run 2>/dev/null | lp-graph 2>/dev/null >graph
		[ "$(lp-critpath --by step -F json graph | jq -c '[[.loops[] | .steps, .calls + 0], .undecided]')" = "[[100,$((ranks == 4 ? 12 : 21))],null]" ]
		lp-imbalance --by step -F json graph | jq -e '[.sections[] | select(.step != null)] | length == 100'
	done
	lp-critpath --by step --steps 700 -F json graph | jq -e '.loops[0].steps == 700'
}

@test "a few steps with many calls, of which hardly one marks the step, may be output" {
	local inner
	inner=$(for ((n = 0; n < 8; n++)); do echo 2 3 2 4; done | tr '\n' ' ')
	program few 8 "1 $inner"
	lp-critpath --by step -F json few | jq -e '.loops == [] and .undecided.steps == 8'
	program enough 16 "1 $inner"
	lp-critpath --by step -F json enough | jq -e '.loops[0].steps == 16 and .undecided == null'
}

@test "an exchange that now and then comes twice in a step does not hide the step, as in GROMACS when it divides its domain anew" {
	local n body=""
	for ((n = 1; n <= 70; n++)); do
		body+=" 1 5 6 7 6 5 6 7 6 5 6 2 2 2 2 3"
		[[ " 3 4 9 20 21 23 35 36 50 51 52 66 68 69 " != *" $n "* ]] || body+=" 4 2 2"
	done
	program twice 1 "$body"
	[ "$(lp-critpath --by step -F json twice | jq -c '[[.loops[].steps], .undecided]')" = '[[70],null]' ]
}

@test "a loop of 1000 places has steps; one of 1001 is not searched" {
	program most 5 "$(seq -s ' ' 1000)" 1000
	lp-critpath --by step -F json most | jq -e '.loops[0].steps == 5'
	program more 5 "$(seq -s ' ' 1001)" 1001
	lp-critpath --by step -F json more | jq -e '.loops == []'
}

@test "--by step refuses what it cannot do" {
	program five 5 '1 2 3'
	for bad in '--by step -F stream' '--by step -F folded' '--by step --every 1' '--by step --distance' '--by function' '--by region --steps 5' \
		'-F csv' '--steps 5' '--by step -a intervals'; do
		run -2 --separate-stderr lp-critpath $bad five
		[ -z "$output" ]
	done
	for bad in '--by step -F stream' '--by step --from 1' '--by step --whole' '--steps 5' '--by step five'; do
		run -2 --separate-stderr lp-imbalance $bad five
		[ -z "$output" ]
	done
}

# planted GROWTH: 4 ranks in 40 steps of 100 us, each GROWTH ns longer than the one before. In step 17 rank 2 is preempted for
# 200 us, in step 25 rank 1 computes 150 us more, in step 33 rank 3 is blocked for 120 us.
planted() {
	awk -v growth="$1" 'BEGIN {
		print "trace ranks=4\nmodule module=0 path=/p\nsite site=1 call=MPI_Allreduce module=0 offset=1 function=f1 file=p.c line=1"
		for (r = 0; r < 4; r++) print r, "MPI_Init", 0, 1000
		begin = 1000
		for (n = 1; n <= 40; n++) {
			last = 0
			for (r = 0; r < 4; r++) {
				enter[r] = begin + 100000 + (n * 7 % 11) * 100 - r * 10 + growth * n
				off = n == 17 && r == 2 ? 200000 : n == 33 && r == 3 ? 120000 : 0
				if (off) switched[r] = switched[r] " time=" begin + 500 " duration=" off " reason=" (n == 17)
				enter[r] += off + (n == 25 && r == 1 ? 150000 : 0)
				if (enter[r] > last) last = enter[r]
			}
			for (r = 0; r < 4; r++) print r, "MPI_Allreduce", enter[r], last + 1000, "comm=1 site=1"
			begin = last + 1000
		}
		for (r = 0; r < 4; r++) print r, "MPI_Finalize", begin + 10, begin + 1000
		for (r = 0; r < 4; r++) print "switched location=" r, "from_ns=0 until_ns=" begin + 1000 \
			(switched[r] ? switched[r] : " time= duration= reason=")
	}' | awk '/^switched/ { s[++k] = $0; next } { line[++n] = $0 } END {
		for (i = 1; i <= n; i++) { if (line[i] ~ /MPI_Init/ && !done++) for (j = 1; j <= k; j++) print s[j]; print line[i] } }' |
		pack | lp-graph 2>/dev/null
}

@test "a slow step is named with the rank and the cause: preempted, more computation, blocked" {
	planted 0 >graph
	lp-critpath --by step -F json graph >by
	jq -e '.loops[0].steps == 40' by
	[ "$(jq -c '[.slow[] | [.step, .cause, .rank]]' by)" = '[[17,"preempted",2],[25,"computing",1],[33,"blocked",3]]' ]
	[ "$(jq -c '[.slow[].rank_s * 1e9 | round]' by)" = '[200000,250990,120000]' ]
	[ "$(lp-critpath --by step -F csv graph | python3 -c 'import csv, sys
print(*[row["step"] for row in csv.DictReader(sys.stdin) if row["slow"].startswith("step " + row["step"] + " of 40 took")])')" = '17 25 33' ]
	run -0 lp-critpath --by step -F text graph
	[[ "$output" == *$'\nstep 17 of 40 took 3.0 times as long: rank 2 was preempted for 0.000200 s before MPI_Allreduce at f1 (p.c:1)\n'* ]]
	[[ "$output" == *$'\nstep 25 of 40 took 2.5 times as long: rank 1 computed for 0.000150 s more before MPI_Allreduce at f1 (p.c:1)\n'* ]]
	[[ "$output" == *$'\nstep 33 of 40 took 2.2 times as long: rank 3 was blocked for 0.000120 s before MPI_Allreduce at f1 (p.c:1)\n'* ]]
	[[ "$output" == *"steps get neither longer nor shorter: "* ]]
}

@test "steps that grow by 500 ns each are told with the interval, and are not slow" {
	planted 500 >graph
	lp-critpath --by step -F json graph >by
	jq -e '.trends[0] | .steps == 40 and .low_s > 0.4e-6 and .low_s <= .slope_s and .slope_s <= .high_s and .high_s < 0.6e-6' by
	[ "$(jq -c '[.slow[].step]' by)" = '[17,25,33]' ]
	lp-critpath --by step -F text graph | grep -q '^steps get longer: each by 5e-07 s '
}

@test "the page has the path by step and region as lp-critpath has it, and why steps are slow" {
	local what
	planted 0 >graph
	switched_run.py named 2 3 9 | lp-graph 2>/dev/null >named.graph
	lp-report --by step -o step.html graph
	lp-report --by region -o region.html named.graph
	lp-critpath --by step -F csv graph >step
	lp-critpath --by region -F csv named.graph >region
	python3 - <<-'END'
		import csv, html, re
		for what, name in (("step", "loop"), ("region", "region")):
		    page = open(what + ".html").read()
		    table = re.search('<table id="t-by".*?</table>', page, re.S).group()
		    told = [[html.unescape(cell) for cell in re.findall('<td (?:data-v|class="t" title)="([^"]*)', row)]
		            for row in table.split("<tr>")[2:]]
		    rows = sorted(csv.DictReader(open(what)), key=lambda row: -float(row["path_s"]))
		    keys = ("path_s", "compute_s", "blocked_s", "preempted_s", "mpi_s", "transfer_s")
		    wanted = [[float(row[key]) for key in keys] + [row["step" if what == "step" else "instances"], row["rank"],
		              row[name], row["where"]] for row in rows if float(row["path_s"]) > 0]
		    assert [[float(cell) for cell in row[:6]] + row[6:] for row in told] == wanted, (told[:3], wanted[:3])
		    slow = [row["slow"] for row in rows if row.get("slow")]
		    assert len(slow) == 3 * (what == "step")
		    assert all(html.escape(sentence, quote=False) in page for sentence in slow)
	END
	[ "$(lp-report --by step -F svg --figure steps graph | grep -c '<rect class="a[0-9]')" -ge 40 ]
	[ "$(lp-report --by step -F svg --figure steps graph | grep -c '<circle')" -eq 3 ]
	lp-report --by region -F svg --figure regions named.graph | grep -q '>r3<'
	lp-critpath graph >path
	lp-report --by step <path >from_stdin.html
	grep -q 'id="t-by"' from_stdin.html
	run -2 --separate-stderr lp-report --by step <(cat path)
	[[ "$stderr" == *"it must be a file, or standard input" ]]
	run -2 lp-report -F svg --figure steps graph
}

@test "the picture of steps has each step, coloured by rank, and marks the slow ones" {
	planted 0 >graph
	make -s -f "$ROOT/workflows/steps.mk" GRAPH=graph >out
	grep -q '^step 17 of 40 took 3.0 times as long' out
	[ "$(wc -l <steps/steps.tsv)" -eq 40 ]
	[ "$(cut -f1 steps/slow.tsv | tr '\n' ' ')" = '17 25 33 ' ]
	grep -q '<svg' steps/steps.svg
	make -s -f "$ROOT/workflows/steps.mk" GRAPH=graph STEPS=40 >again
	cmp out again
}

# named: 2 ranks, each with its own regions: solve holds precondition; rank 1 leaves solve late, and has regions in a call
named() {
	pack <<-'END' | lp-graph 2>/dev/null
		trace ranks=2
		module module=0 path=/p
		site site=1 call=MPI_Allreduce module=0 offset=1 function=f1 file=p.c line=1
		region_name number=1 name=solve
		region_name number=2 name="a, b"
		region_name number=3 name=never
		regions location=0 time=200,300,400,600 region=1,2,0,0
		0 MPI_Init 0 100
		0 MPI_Allreduce 700 1010 comm=1 site=1
		0 MPI_Allreduce 1500 1510 comm=1 site=1
		0 MPI_Finalize 1600 1700
		regions location=1 time=150,900,1005,1400 region=1,0,1,0
		1 MPI_Init 0 100
		1 MPI_Allreduce 1000 1010 comm=1 site=1
		1 MPI_Allreduce 1450 1510 comm=1 site=1
		1 MPI_Finalize 1600 1700
	END
}

@test "regions have the path of all their instances, and with the time in none make it up" {
	named >graph
	lp-critpath --by region -F json graph >by
	[ "$(jq -c '[.regions[] | [.region, .instances]]' by)" = '[["(none)",null],["solve",3],["a, b",1],["never",null]]' ]
	jq -e '([.regions[].path_s] | add) == .path_s' by
	# the path: rank 1 to 1000, the reduction to 1010, rank 0 to 1500, and on to the end
	[ "$(jq -c '[.regions[] | .compute_s * 1e9 | round]' by)" = '[730,750,0,0]' ]
	lp-critpath --by region -F csv graph | grep -q '^"a, b",1,'
	run -0 lp-critpath --by region -F text --all graph
	[[ "$output" == *$'\nsolve\t3\t'* ]]
	lp-imbalance -F json graph >whole
	lp-imbalance --by region -F json graph >sums
	for key in compute_s mpi_s wait_s; do
		[ "$(jq "[.by_rank[].$key] | add * 1e9 | round" whole)" = "$(jq "[.regions[].$key] | add * 1e9 | round" sums)" ]
	done
	# rank 0: 200 to 300 and 400 to 600; rank 1: 150 to 900 and 1010 to 1400
	[ "$(jq -c '[.regions[] | .compute_s * 1e9 | round]' sums)" = '[1070,1440,100,0]' ]
}

@test "nested regions of random threads make up path, ranks and steps to the nanosecond" {
	local seed
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		switched_run.py named $seed 4 12 >t.trace
		trace.py check t.trace
		lp-graph t.trace >graph 2>/dev/null
		lp-critpath --by region -F json graph >path
		lp-imbalance --by region -F json graph >ranks
		lp-critpath --by step -F json graph >steps
		switched_run.py regions $seed 4 12 path ranks steps
	done
}

@test "a run without regions is all in none" {
	program five 5 '1 2 3'
	lp-critpath --by region -F json five | jq -e '.regions | length == 1 and .[0].region == "(none)"'
	run -0 lp-critpath --by region -F text five
	[[ "$output" == *"no regions: the program has named none"* ]]
}

@test "instances of the outermost region that repeats are the steps, if they do" {
	regions() {	# WITHIN: a region around all; WITH: name of the step, or none
		awk -v with="$1" 'BEGIN {
			print "trace ranks=1\nregion_name number=1 name=main\nregion_name number=2 name=step\nregion_name number=3 name=half"
			time = "60"; region = "1"
			for (n = 0; n < 6; n++) {
				at = 100 + 100 * n
				if (with) { time = time "," at; region = region ",2" }
				time = time "," at + 10 "," at + 40 "," at + 50 "," at + 80; region = region ",3,0,3,0"
				if (with) { time = time "," at + 90; region = region ",0" }
			}
			print "regions location=0 time=" time ",710 region=" region ",0"
			print "0 MPI_Init 0 50"
			for (n = 0; n < 6; n++) print "0 MPI_Barrier", 120 + 100 * n, 125 + 100 * n, "comm=1"
			print "0 MPI_Finalize 720 730"
		}' | pack | lp-graph 2>/dev/null
	}
	regions 1 >graph
	lp-critpath --by step -F json graph >by
	jq -e '.loops | length == 1 and .[0].loop == "step" and .[0].steps == 6 and .[0].chance == null' by
	[ "$(jq -c '[.sections[].path_s * 1e9 | round]' by)" = '[190,90,90,90,90,90,90]' ]
	lp-imbalance --by step -F json <graph | jq -e '.loops[0].loop == "step" and ([.sections[].compute_s] | add * 1e9 | round == 640)'
	# without them half is what repeats
	regions '' >graph
	lp-critpath --by step -F json graph >by
	[ "$(jq -c '[.loops[] | [.loop, .steps]]' by)" = '[["half",12]]' ]
}

@test "a region without a name is an error with the place of its block" {
	printf '%s\n' 'graph ranks=1' 'region_name number=1 name=a' 'regions location=0 time=10,20 region=2,0' '0 MPI_Init 0 50' | pack >bad
	for tool in 'lp-critpath --by region' 'lp-imbalance --by region' 'lp-critpath --by step' 'lp-imbalance --by step'; do
		run -2 --separate-stderr $tool -F json bad
		[[ "$stderr" =~ ^"${tool%% *}: bad:"[0-9]+": regions: region 2 has no name"$ ]]
	done
}
