#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The run by steps: --by step of lp-critpath and lp-imbalance.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# program FILE COUNT BODY [PLACES]: one rank that calls COUNT times at the places f1 ... of BODY, after MPI_Init
program() {
	{
		echo "trace ranks=1"
		local time=100 n place
		echo "module module=0 path=/p"
		for ((n = 1; n <= ${4:-9}; n++)); do
			echo "site site=$n call=MPI_Barrier module=0 offset=$n function=f$n file=p.c line=$n"
		done
		echo "0 MPI_Init 0 50"
		for ((n = 0; n < $2; n++)); do
			for place in $3; do
				echo "0 MPI_Barrier $time $((time + 10)) comm=1 site=$place"
				time=$((time + 100))
			done
		done
		echo "0 MPI_Finalize $time $((time + 10))"
	} | pack | lp-graph 2>/dev/null >"$1"
}

@test "of 300 random programs the steps are those that were planted, or none; sums over steps are the path" {
	run -0 steps_check.py check 0 300
	[[ "$output" =~ ^([0-9]+)" programs with steps, found in "([0-9]+)$ ]]
	[ "${BASH_REMATCH[2]}" -gt $((BASH_REMATCH[1] * 7 / 10)) ]
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

@test "a loop of 1000 places has steps; one of 1001 is not searched" {
	program most 5 "$(seq -s ' ' 1000)" 1000
	lp-critpath --by step -F json most | jq -e '.loops[0].steps == 5'
	program more 5 "$(seq -s ' ' 1001)" 1001
	lp-critpath --by step -F json more | jq -e '.loops == []'
}

@test "--by step refuses what it cannot do" {
	program five 5 '1 2 3'
	for bad in '--by step -F stream' '--by step -F folded' '--by step --every 1' '--by step --distance' '--by function' \
		'-F csv' '--steps 5' '--by step -a intervals'; do
		run -2 --separate-stderr lp-critpath $bad five
		[ -z "$output" ]
	done
	for bad in '--by step -F stream' '--by step --from 1' '--by step --whole' '--steps 5' '--by step five'; do
		run -2 --separate-stderr lp-imbalance $bad five
		[ -z "$output" ]
	done
}
