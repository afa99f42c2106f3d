# SPDX-License-Identifier: BSD-3-Clause
# The first line of real runs: does it name the planted long pole? All cases: make verdicts.
bats_require_minimum_version 1.5.0
load helpers

# planted NS: a trace in which rank 0 computes so long up to a barrier
# Rank 1 computes 10 ms up to the barrier: 6 samples of 1 ms are of one function, 1 of another. Rank 0: 1 ms.
planted() {
	pack <<-END
		trace ranks=2
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		site site=1 offset=16 function=main file=/a/main.c line=10
		site site=2 offset=32 function=chemistry file=/a/b.f90 line=5
		site site=3 offset=48 function=other file=/a/b.f90 line=9
		${2:+switched location=0 from_ns=0 until_ns=10000100 time=20 duration=1 reason=0}
		${2:+switched location=1 from_ns=0 until_ns=10000100 $2}
		sampled location=0 period_ns=1000000 until_ns=10000000 lost=0 time=500000 site=3 callers=0
		0 MPI_Barrier $1 10000100 comm=1 site=1
		sampled location=1 period_ns=1000000 until_ns=10000000 lost=0 $(columns)
		1 MPI_Barrier 10000000 10000100 comm=1 site=1
	END
}
columns() {
	echo time=1500000,2500000,3500000,4500000,5500000,6500000,7500000 site=2,2,2,2,2,2,3 callers=0,0,0,0,0,0,0
}

# On a machine where no run can be trusted, all are told not to be acted on.
# score: of the last line of the driver, cases that were right or not to be acted on; nothing if one was wrong or silent
score() {
	sed -nE 's/^verdicts .*: ([0-9]+) right, 0 wrong, 0 silent; ([0-9]+) not to be acted on$/\1 \2/p' <<<"${lines[-1]}" |
		awk '{ print $1 + $2 }'
}

@test "the first line names planted long poles: probes, collectives, chains, Fortran" {
	local more=(probe any_source reduce tree_bcast tree_scan tree_ibcast scan chain)	# reduce and scan have two
	run "$ROOT/tests/verdicts/verdicts" mprobe waitsome ssend tree_reduce tree_iscan asleep end_bound f_halo other_calls \
		$(short_or_long '' "${more[*]}")
	[ "$(score)" -eq "$(short_or_long 9 18)" ] || { printf '%s\n' "${lines[@]}"; false; }
}

@test "no first line is wrong without a warning while two other processes use the cores" {
	run "$ROOT/tests/verdicts/verdicts" -b 2 preempted halo $(short_or_long '' 'recv reduce')
	[ "$(score)" -eq "$(short_or_long 2 5)" ]
}

@test "the call of a hang is named where samples have seen it, before it ever returned" {
	command -v mpicc.mpich >/dev/null || skip "MPICH is not installed"
	run "$ROOT/tests/verdicts/verdicts" -m mpich ended_ssend
	[ "$(score)" -eq 1 ]
}

# trusted CORES_LINE [NAME=VALUE ...]: the level and the reasons of a run of 2 ranks and 1 s
trusted() {
	local error=0 ended=true extra=''
	[ $# -lt 2 ] || local "${@:2}"
	pack <<-END | lp-graph 2>/dev/null | lp-report -F json | jq -r '.trust | "\(.level): \(.reasons | join("; "))"'
		trace ranks=2
		rank rank=0 ranks=2 rows=4 error_ns=$error ended=$ended
		${1:+load host=n1 ranks=2 $1}
		0 MPI_Init 0 1000
		1 MPI_Init 0 1000
		0 MPI_Barrier 400000000 500000100 comm=1
		1 MPI_Barrier 500000000 500000100 comm=1
		$extra
		0 MPI_Finalize 1000000000 1000001000
		1 MPI_Finalize 1000000000 1000001000
	END
}

@test "the second line gives the trust in the first: cores, others, clocks, ranks, calls" {
	load() { echo "cores=$1 threads=$2 elapsed_ns=2000000000 cpu_ns=1000000000 thread_cpu_ns=1000000000 waited_ns=$(($3 * 20000000)) others_ns=$4"; }
	ranks='2 ranks on 2 cores'
	ready='of the time ready to run, without a core'
	lost='calls without a partner: others were not recorded'
	[ "$(trusted '')" = 'null: ' ]
	[ "$(trusted "$(load 2 2 1 0)")" = 'good: ' ]
	[ "$(trusted "$(load 2 2 7 0)")" = "fair: $ranks, 7 % $ready" ]
	[ "$(trusted "$(load 2 2 12 0)")" = "poor: $ranks, 12 % $ready" ]	# they have cores enough: somebody else runs there
	[ "$(trusted "$(load 1 2 40 0)")" = "fair: 2 ranks on 1 core, 40 % $ready" ]
	[ "$(trusted "$(load 2 2 7 400000000)")" = "poor: $ranks, 7 % $ready; other processes took 20 % of the cores" ]
	[ "$(trusted "$(load 2 2 1 400000000)")" = 'fair: other processes took 20 % of the cores' ]
	took='of the time, as threads switch often: see --no-sample'
	[ "$(trusted "$(load 1 2 1 0) switches_ns=60000000")" = "fair: recording took some 6 % $took" ]
	[ "$(trusted "$(load 1 2 1 0) switches_ns=600000000")" = "poor: recording took some 60 % $took" ]
	[ "$(trusted "$(load 2 2 1 0) switches_ns=60000000")" = 'good: ' ]
	[ "$(trusted "$(load 0 2 1 0)")" = 'good: ' ]
	[ "$(trusted '' error=20000000)" = 'fair: the run took 1e+03 ms, the clocks are known to 20 ms' ]
	[ "$(trusted '' error=200000000)" = 'poor: the run took 1e+03 ms, the clocks are known to 200 ms' ]
	[ "$(trusted '' ended=false)" = 'fair: 1 rank ended before MPI_Finalize' ]
	[ "$(trusted '' extra='0 MPI_Send 600000000 +100 comm=1 peer=1 tag=1 sent=8')" = "poor: 1 of 7 $lost" ]
	[ "$(trusted "$(load 2 2 12 0)" ended=false)" = "poor: $ranks, 12 % $ready; 1 rank ended before MPI_Finalize" ]
	printf '%s\n' 'raw ranks=2 rank=0 run=7' '0 MPI_Init 1000 1100' '0 MPI_Finalize 1000001100 1000001200' | pack >rank.0
	lp-merge --partial rank.0 2>/dev/null | lp-graph 2>/dev/null | lp-report -F text >said
	[[ "$(sed -n 2p said)" == 'do not act on this: 1 rank is missing'* ]]
}

@test "of a rank that computes longer, the verdict has the reason: more work, blocked, preempted" {
	# reason BLOCKED_NS PREEMPTED_NS OTHER_PREEMPTED_NS [CORES [IN [SAMPLED]]]: rank 1 computes 800 ns before a barrier, rank 0 200 ns
	reason() {
		pack >run.trace <<-END
			trace
			run ranks=2 locations=2 run_ns=1200
			${4:+rank rank=0 host=n1}
			${4:+rank rank=1 host=n1}
			${4:+load host=n1 ranks=2 cores=$4 threads=2 elapsed_ns=1200 cpu_ns=1200 thread_cpu_ns=1200 waited_ns=0 others_ns=0}
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
			${5:+module module=1 path=/lib/libgomp.so.1}
			${5:+site site=2 offset=32 module=1 function=$5}
			0 MPI_Init 0 100
			1 MPI_Init 0 100
			switched location=0 from_ns=0 until_ns=1200 time=120 duration=$3 reason=1
			switched location=1 from_ns=0 until_ns=1200 time=120,500 duration=$1,$2 reason=0,1 ${5:+site=2,0}
			${6:+sampled location=1 period_ns=20 until_ns=900 lost=0 time=$6 site=2,2,2,2 callers=0,0,0,0}
			0 MPI_Barrier 300 910 comm=1 site=1
			1 MPI_Barrier 900 910 comm=1 site=1
			0 MPI_Finalize 1000 1200
			1 MPI_Finalize 1000 1200
		END
		lp-graph run.trace 2>/dev/null >run.graph
		lp-report -F json run.graph | jq -r '.long_pole.what + ", " + .sentence'
	}
	[[ "$(reason 320 10 10)" == "blocked, rank 1's time before MPI_Barrier at main (main.c:3), 4.0 times the mean of the others, 40 % of it blocked, is "* ]]
	[[ "$(reason 280 10 10)" == "compute, rank 1's computation before MPI_Barrier at main (main.c:3), 4.0 times the mean of the others, "* ]]
	[[ "$(reason 10 320 2)" == "preempted, rank 1's time before MPI_Barrier at main (main.c:3), 4.0 times the mean of the others, 40 % of it preempted, is "* ]]
	# With that much work the other rank would have been preempted for nearly as long.
	[[ "$(reason 10 320 100)" == "compute, "* ]]
	# More ranks than cores preempt each other: less work is what helps.
	[[ "$(reason 10 320 2 2)" == "preempted, "* ]]
	[[ "$(reason 10 320 2 1)" == "compute, "* ]]
	[[ "$(reason 320 10 10 8 gomp_team_barrier_wait_end)" == "threads, "*", 40 % of it waiting for its threads, is "* ]]
	[[ "$(reason 320 10 10 8 gomp_work)" == "blocked, "*", 40 % of it blocked in gomp_work, is "* ]]
	# On a busy machine the function is that of the little time on a core.
	[[ "$(reason 10 370 90 8 work 140,300,400,890)" == "compute, rank 1's computation in work before "*", 46 % of it preempted, "* ]]
}

@test "of several reasons the largest is told" {
	pack <<-END | lp-graph 2>/dev/null | lp-report -F json | jq -e '.long_pole | .ranks == [0] and .what == "blocked"'
		trace
		run ranks=2 locations=2 run_ns=2000
		site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		switched location=0 from_ns=0 until_ns=2000 time=105,890 duration=780,10 reason=0,1
		switched location=1 from_ns=0 until_ns=2000 time=120 duration=1 reason=1
		0 MPI_Barrier 905 910 comm=1 site=1
		1 MPI_Barrier 890 910 comm=1 site=1
		0 MPI_Finalize 1000 2000
		1 MPI_Finalize 1000 2000
	END
}

@test "where threads that make calls may have waited for each other, nobody should act on the first line" {
	# handing BLOCKED_NS [SAMPLED]: rank 1 has two threads, and computes 10 ms
	handing() {
		pack <<-END | lp-graph 2>/dev/null >run.graph
			trace ranks=2
			location location=2 rank=1 thread=1
			0 MPI_Init 0 10
			1 MPI_Init 0 10
			2 MPI_Comm_rank 20 30 comm=1
			site site=1 offset=16 function=main file=/a/main.c line=10
			site site=2 offset=32 function=chemistry file=/a/b.f90 line=5
			switched location=0 from_ns=0 until_ns=10000100 time=20 duration=1 reason=0
			switched location=1 from_ns=0 until_ns=10000100 time=6000000 duration=$1 reason=0
			sampled location=0 period_ns=1000000 until_ns=10000000 lost=0 time=500000 site=2 callers=0
			0 MPI_Barrier 1000000 10000100 comm=1 site=1
			${2-sampled location=1 period_ns=1000000 until_ns=10000000 lost=0 time=1500000,2500000,3500000,4500000,5500000 site=2,2,2,2,2 callers=0,0,0,0,0}
			1 MPI_Barrier 10000000 10000100 comm=1 site=1
		END
		lp-report -F json run.graph | jq -r '.long_pole.function, .trust.level, (.trust.reasons | map(select(test("^several threads of rank 1 make"))) | length)'
	}
	[ "$(handing 3000000)" = $'chemistry\npoor\n1' ]
	[ "$(handing 2000000)" = $'chemistry\nfair\n0' ]	# five samples are few
	[ "$(handing 2000000 '')" = $'null\npoor\n1' ]
	# lp-critpath alone knows no function.
	lp-critpath -F text run.graph | grep -qx 'fair: several threads of rank 1 make calls and may have waited for each other, which the path does not follow'
}

@test "a rank that sleeps as long as another computes is not like it" {
	# as_long MORE: rank 1 computes 800 ns before a barrier, rank 0 sleeps 790 of them; before the next they do 10 and MORE
	as_long() {
		pack >run.trace <<-END
			trace
			run ranks=2 locations=2 run_ns=2000
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
			0 MPI_Init 0 100
			1 MPI_Init 0 100
			switched location=0 from_ns=0 until_ns=2000 time=105,922 duration=780,$(($1 - 4)) reason=0,0
			switched location=1 from_ns=0 until_ns=2000 time=120 duration=1 reason=1
			0 MPI_Barrier 890 910 comm=1 site=1
			1 MPI_Barrier 900 910 comm=1 site=1
			0 MPI_Barrier $((920 + $1)) 1200 comm=1 site=1
			1 MPI_Barrier 930 1200 comm=1 site=1
			0 MPI_Finalize 1210 2000
			1 MPI_Finalize 1210 2000
		END
		lp-graph run.trace 2>/dev/null >run.graph
		lp-report -F json run.graph | jq -r '.long_pole | "\(.ranks) \(.what) \(.function)"'
	}
	[ "$(as_long 5)" = '[1] compute null' ]
	[ "$(as_long 60)" = '[1] compute null' ]	# rank 0 is the slower one
}

@test "of ranks that preempt each other those are equals that compute equally long" {
	# equals CORES [THREADS]: ranks 1 and 2 of 4 compute 500 ns, and are preempted for 300 and 100 ns
	equals() {
		pack <<-END | lp-graph 2>/dev/null | lp-report -F json | jq -c '.long_pole.ranks'
			trace
			run ranks=4 locations=4 run_ns=2000
			$(for r in 0 1 2 3; do echo "rank rank=$r host=n1"; done)
			load host=n1 ranks=4 cores=$1 threads=${2:-4} elapsed_ns=2000 cpu_ns=2000 thread_cpu_ns=2000 waited_ns=0 others_ns=0
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
			$(for r in 0 1 2 3; do echo "$r MPI_Init 0 100"; done)
			$(for r in 0 3; do echo "switched location=$r from_ns=0 until_ns=2000 time=105 duration=1 reason=1"; done)
			switched location=1 from_ns=0 until_ns=2000 time=200 duration=300 reason=1
			switched location=2 from_ns=0 until_ns=2000 time=200 duration=100 reason=1
			$(for r in 0 3; do echo "$r MPI_Barrier 200 910 comm=1 site=1"; done)
			1 MPI_Barrier 900 910 comm=1 site=1
			2 MPI_Barrier 700 910 comm=1 site=1
			$(for r in 0 1 2 3; do echo "$r MPI_Finalize 1000 2000"; done)
		END
	}
	[ "$(equals 2)" = '[1,2]' ]
	[ "$(equals 8)" = '[1]' ]	# another process is in the way of rank 1
	[ "$(equals 8 12)" = '[1,2]' ]	# its own threads are
	# alike CORES: rank 1 computes 790 ns, and rank 0 200 in 750
	alike() {
		pack <<-END | lp-graph 2>/dev/null | lp-report -F json | jq -c '.long_pole.ranks'
			trace
			run ranks=2 locations=2 run_ns=1200
			rank rank=0 host=n1
			rank rank=1 host=n1
			load host=n1 ranks=2 cores=$1 threads=2 elapsed_ns=1200 cpu_ns=1200 thread_cpu_ns=1200 waited_ns=0 others_ns=0
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
			0 MPI_Init 0 100
			1 MPI_Init 0 100
			switched location=0 from_ns=0 until_ns=1200 time=200 duration=550 reason=1
			switched location=1 from_ns=0 until_ns=1200 time=200 duration=10 reason=1
			0 MPI_Barrier 850 910 comm=1 site=1
			1 MPI_Barrier 900 910 comm=1 site=1
			0 MPI_Finalize 1000 1200
			1 MPI_Finalize 1000 1200
		END
	}
	[ "$(alike 2)" = '[0,1]' ]
	[ "$(alike 1)" = '[1]' ]
}

@test "ranks as late as each other are one pole only if they spend the time in the same functions" {
	# late FUNCTION: ranks 1 and 2 of 4 are late, by function 2 and by that one
	late() {
		{
			echo "trace ranks=4"
			echo "site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier"
			echo "site site=2 offset=32 function=physics file=main.c line=5"
			echo "site site=3 offset=48 function=chemistry file=main.c line=9"
			for r in 0 1 2 3; do echo "$r MPI_Init 0 100"; done
			for r in 0 3; do echo "$r MPI_Barrier 1000000 10000100 comm=1 site=1"; done
			for r in 1 2; do
				echo "sampled location=$r period_ns=2000000 until_ns=10000000 lost=0 time=2000000,4000000,6000000,8000000,9900000 $(
					)site=$(((r == 1) * 2 + (r == 2) * $1))$(printf ",$(((r == 1) * 2 + (r == 2) * $1))%.0s" 1 2 3 4) callers=0,0,0,0,0"
				echo "$r MPI_Barrier 10000000 10000100 comm=1 site=1"
			done
		} | pack | lp-graph 2>/dev/null | lp-report -F json | jq -r '.long_pole | "\(.ranks) \(.function)"'
	}
	[ "$(late 2)" = '[1,2] physics' ]
	[ "$(late 3)" = '[1] physics' ]
}

# polls [GAPS] <ROWS: a run of 2 ranks with these rows, in which rank 1 polls at main (main.c:5)
polls() {
	{
		cat <<-END
			trace ranks=2
			0 MPI_Init 0 100
			1 MPI_Init 0 100
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
			site site=2 offset=32 function=main file=main.c line=5 call=MPI_Iprobe
			${1:-}
		END
		cat
	} | pack | lp-graph 2>/dev/null >run.graph
	lp-critpath run.graph | lp-report -F json >verdict.json
	jq -r '.long_pole | "\(.what) \(.ranks[0]) \(.site), \(.path_s * 1e9 | round)"' verdict.json
}

@test "the verdict says so if a rank polls: in vain, asleep, or so seldom that it finds a message late" {
	local asleep='poll_gaps location=1 site=2 count=10 apart_ns=10000000 awake_ns=100000'
	looks() { seq -f "1 MPI_Iprobe %.0f +$4 comm=1 peer=0 tag=9 site=2" "$1" "$2" "$3"; }
	ends() { printf '%s\n' "0 MPI_Barrier 2000 $(($1 + 10)) comm=1 site=1" "1 MPI_Barrier $1 $(($1 + 10)) comm=1 site=1"; }
	# In vain, without a pause; it computes 900 ns before the first.
	[ "$(polls < <(looks 1000 500 20500 400; ends 21000))" = 'polling 1 MPI_Iprobe at main (main.c:5), 19900' ]
	# Work between polls is work. But the recorder takes 50 ns there, so polls may be shorter than what lies between.
	[ "$(polls < <(looks 1000 500 20500 100; ends 21000))" = 'compute 1 MPI_Iprobe at main (main.c:5), 16500' ]
	[ "$(polls < <(looks 1000 180 20800 60; ends 20860))" = 'compute 1 MPI_Iprobe at main (main.c:5), 14100' ]
	[ "$(polls < <(looks 1000 160 20840 60; ends 20900))" = 'polling 1 MPI_Iprobe at main (main.c:5), 19900' ]
	# What takes more than 20 us is work, however long a poll takes.
	[ "$(polls < <(looks 100000 50000 950000 30000; ends 1000000))" = 'polling 1 MPI_Iprobe at main (main.c:5), 880000' ]
	[ "$(polls < <(looks 100000 60000 940000 31000; ends 1000000))" = 'compute 1 MPI_Iprobe at main (main.c:5), 505900' ]
	# Sleep between them is polling, if it is known.
	[ "$(polls < <(looks 1001000 1000000 9001000 500; ends 9002000))" = 'compute 1 MPI_Iprobe at main (main.c:5), 8996900' ]
	[ "$(polls "$asleep" < <(looks 1001000 1000000 9001000 500; ends 9002000))" = 'polling 1 MPI_Iprobe at main (main.c:5), 8000500' ]
	grep -qF "rank 1's polling in MPI_Iprobe at main (main.c:5) is 89 % of the critical path" verdict.json
	# late FAILED: rank 1 looks for a message every 1 ms, FAILED times in vain, although it was sent after the first look
	late() {
		printf '%s\n' '0 MPI_Send 100000 +100 comm=1 peer=1 tag=9 sent=8' "0 MPI_Recv 100200 $1""100000 comm=1 peer=1 tag=8 received=8" \
			'1 MPI_Irecv 1000 1100 comm=1 peer=0 tag=9 received=8 as=r'
		seq -f '1 MPI_Test %.0f +500 site=2' 2000 1000000 "$1"000000
		printf '%s\n' "1 MPI_Test $1""002000 +500 comm=1 peer=0 tag=9 received=8 of=r site=2" "1 MPI_Send $1""003000 +100 comm=1 peer=0 tag=8 sent=8"
	}
	# It lay there until the next look, or was under way for longer.
	[ "$(polls "$asleep" < <(late 1))" = 'polling 1 MPI_Iprobe at main (main.c:5), 902500' ]
	[ "$(polls "$asleep" < <(late 8))" = 'transfer 1 MPI_Iprobe at main (main.c:5), 7902500' ]
}

@test "with samples the verdict names the function, the other ranks' time, and time not sampled" {
	planted 1000000 | lp-graph 2>/dev/null >run.graph
	lp-report -F text run.graph >said
	cat said >&2
	grep -q "rank 1's computation in chemistry (b.f90:5) before main (main.c:10), 10 times the mean of the others, 30 % of it not on a core or not sampled, is" said
	lp-imbalance run.graph | grep -q "rank 1's computation in chemistry (b.f90:5) before main (main.c:10), 10 times the mean of the others,"
	# Switches know why: of the 30 %, 20 are preempted, 2, too few to mention, are blocked, and the rest is on a core.
	planted 1000000 'time=7600000,9700000 duration=2000000,200000 reason=1,0' | lp-graph 2>/dev/null >run.graph
	lp-report -F text run.graph >said
	grep -qF "before main (main.c:10), 10 times the mean of the others, 20 % of it preempted, 8 % on a core but not sampled, is" said
	planted 9900000 | lp-graph 2>/dev/null >alike.graph
	lp-report -F text alike.graph | grep -q "the ranks' computation in chemistry (b.f90:5) before main (main.c:10), alike on each,"
}

@test "without samples the verdict says how the other ranks compare, or that all compute alike" {
	# compares ENTER...: the sentence of a run whose ranks enter MPI_Barrier then; the two sites have one name
	compares() {
		local r=0
		{
			echo "trace ranks=$#"
			echo "site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier"
			echo "site site=2 offset=32 function=main file=main.c line=3 call=MPI_Barrier"
			for enter; do
				echo "$r MPI_Init 0 100"
				echo "$r MPI_Barrier $enter 10000 comm=1 site=$((1 + r % 2))"
				r=$((r + 1))
			done
		} | pack | lp-graph 2>/dev/null >run.graph
		lp-imbalance -F json run.graph | jq -c .verdict >waits.json
		lp-critpath run.graph | lp-report -F json >verdict.json
		is_verdict verdict.json >&2
		jq -rs 'map(.long_pole | [.ranks, (.times_the_mean | if . then . + 0 else . end)]) | unique | if length == 1 then .[0] | tojson else "differ" end' \
			verdict.json waits.json
		jq -r .sentence verdict.json
	}
	[[ "$(compares 3100 9100 3100)" == '[[1],3]'*"rank 1's computation before MPI_Barrier at main (main.c:3), 3.0 times the mean of the others, is "* ]]
	[[ "$(compares 8600 9100 8700)" == '[[0,1,2],1.053]'*"the ranks' computation before MPI_Barrier at main (main.c:3), alike on each, is "*" and cost each other "* ]]
	# Some are one pole if they are equal, within 5 %, and all others clearly less.
	[[ "$(compares 3100 9100 8700 3000)" == '[[1,2],3.051]'*"ranks 1 and 2's computation before MPI_Barrier at main (main.c:3), 3.1 times the mean of the others, is "* ]]
	[[ "$(compares 3100 9100 8600 3000)" == '[[1],'* ]]
	[[ "$(compares 3100 9100 9100 8000)" == '[[1],'* ]]
	[[ "$(compares 100 9100 9100 9000 100)" == '[[1,2,3],null]'*"ranks 1 to 3's computation before MPI_Barrier at main (main.c:3) is "* ]]
	[[ "$(compares 9100 9100 3000 9000 9100)" == '[[0,1,3,4],3.103]'*"4 ranks' computation before "* ]]
	# The border is 15 %. Of one rank, nothing can be said.
	[[ "$(compares 7900 9100)" == '[[1],1.154]'* ]]
	[[ "$(compares 8000 9100)" == '[[0,1],1.139]'* ]]
	lp-graph <(printf '%s\n' 'trace ranks=1' '0 MPI_Init 0 100' '0 MPI_Barrier 9000 9100 comm=1' | pack) 2>/dev/null |
		lp-critpath | lp-report -F json >verdict.json
	jq -e '.long_pole.ranks == [0] and .long_pole.times_the_mean == null and
		.sentence == "rank 0\u0027s computation is 99 % of the critical path"' verdict.json
}

@test "sites of one name are one long pole, in every verdict" {
	# Rank 1 computes 5 us and 4 us before two sites of one line, rank 0 once 6 us.
	cat >trace <<-END
		trace ranks=2
		site site=1 offset=16 function=main file=main.c line=3 call=MPI_Barrier
		site site=2 offset=32 function=main file=main.c line=3 call=MPI_Barrier
		site site=3 offset=48 function=main file=main.c line=9 call=MPI_Barrier
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		0 MPI_Barrier 1100 5200 comm=1 site=1
		1 MPI_Barrier 5100 5200 comm=1 site=1
		0 MPI_Barrier 6200 9300 comm=1 site=2
		1 MPI_Barrier 9200 9300 comm=1 site=2
		0 MPI_Barrier 15200 15300 comm=1 site=3
		1 MPI_Barrier 10300 15300 comm=1 site=3
	END
	pack <trace | lp-graph 2>/dev/null >run.graph
	for tool in lp-critpath lp-gain lp-imbalance lp-report; do
		$tool -F json run.graph | jq -e --arg tool $tool '.verdict // . | .long_pole | .ranks == [1] and
			.site == "MPI_Barrier at main (main.c:3)" and ($tool == "lp-imbalance" or .path_s == 9e-6) and
			($tool == "lp-critpath" or $tool == "lp-gain" or .cost_rank_s == 7e-6)' >&2
	done
}

# is_verdict FILE: it has all values of a verdict, each of its type
is_verdict() { jq -e -f "$ROOT/tests/verdicts/form.jq" "$1"; }

@test "lp-report, its page, its files and lp-critpath have the same sentence and numbers" {
	planted 1000000 | lp-graph 2>/dev/null >run.graph
	lp-report -o page.html --verdict verdict.json --text verdict.txt run.graph
	is_verdict verdict.json
	jq -e '.long_pole | .ranks == [1] and .what == "compute" and .function == "chemistry" and .file == "/a/b.f90" and
		.line == 5 and .site == "main (main.c:10)" and .times_the_mean == 10 and .path_s == 0.00999999 and
		.path_share == 0.99999 and .cost_rank_s == 0.009 and .gain_s == 0.009 and .gain_share == 0.899992 and
		.if == "balanced"' verdict.json
	jq -e '.trust.samples == 8' verdict.json
	sentence=$(jq -r .sentence verdict.json)
	[ "$(lp-report -F json run.graph)" = "$(cat verdict.json)" ]
	[ "$(lp-report -F text run.graph)" = "$(cat verdict.txt)" ]
	[[ "$(head -1 verdict.txt)" == *": $sentence" ]]
	grep -qF "id=\"verdict\">${sentence//\'/\&#39;}." page.html
	lp-critpath -F json --verdict verdict.json run.graph | jq -S .verdict >path.json
	diff path.json <(jq -S . verdict.json)
	# What lp-critpath can tell alone is the same, too.
	lp-critpath -F json run.graph | jq .verdict.long_pole >own.json
	jq -e --slurpfile own own.json '.long_pole as $pole | $own[0] | with_entries(select(.value != null)) | length == 5 and
		all(to_entries[]; .value == $pole[.key])' verdict.json
	head -c 100 verdict.json >cut.json
	for file in cut.json run.graph missing.json; do
		run -2 --separate-stderr lp-critpath -F json --verdict $file run.graph
		[[ "$stderr" == "lp-critpath: $file: "* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	run -2 --separate-stderr lp-critpath -F text --verdict verdict.json run.graph
	[ "$stderr" = 'lp-critpath: --verdict is for JSON' ]
}

@test "the verdict names the user's function and line for samples in system libraries or headers" {
	cat >trace <<-END
		trace ranks=2 program=/home/me/app
		0 MPI_Init 0 10
		1 MPI_Init 0 10
		module module=0 path=/home/me/app
		module module=1 path=/usr/lib/x86_64-linux-gnu/libm.so.6
		module module=2 path=/opt/mine/libmine.so
		site site=1 offset=16 module=0 function=main file=/a/main.c line=10
		site site=2 offset=32 module=1 function=sin file=../s_sin.c line=5
		site site=3 offset=48 module=2 function=wave file=/a/wave.c line=9
		site site=4 offset=64 module=0 function=at file=/usr/include/c++/12/vector line=100 inlined_into=["sum"] inlined_files=["/a/sum.cc"] inlined_lines=[44]
		site site=5 count=2 stack=2,3
		module module=3 path=/usr/lib/x86_64-linux-gnu/libpython3.13.so.1.0
		module module=4 path=/usr/bin/python3.11
		site site=6 offset=16 module=3 function=_PyEval_EvalFrameDefault
		site site=7 offset=16 module=4 function=_PyEval_EvalFrameDefault
		site site=8 offset=80 module=0 function=norm file=/a/norm.h line=7 inlined_into=["add","assemble"] inlined_files=["/a/add.c","/a/x.c"] inlined_lines=[3,30]
		module module=5 path=linux-vdso.so.1
		site site=9 offset=16 module=5
		0 MPI_Barrier 1000000 10000100 comm=1 site=1
		sampled location=1 period_ns=1000000 until_ns=10000000 lost=0 time=1500000,2500000,3500000,4500000 site=SITE,SITE,SITE,SITE callers=CALLERS,CALLERS,CALLERS,CALLERS
		1 MPI_Barrier 10000000 10000100 comm=1 site=1
	END
	# Site, callers, what is named: a caller, the one behind another of the library, its own code in a header, nobody.
	while read -r site callers name; do
		sed "s/SITE/$site/g; s/CALLERS/$callers/g" trace | pack | lp-graph 2>/dev/null >t.graph
		lp-report -F json t.graph >verdict.json
		[ "$(jq -r '.long_pole | "\(.function) \(.file) \(.line)"' verdict.json)" = "$name" ]
		# Tables still say what was sampled.
		[ "$site" != 2 ] || lp-imbalance --by function t.graph | grep -q sin
	done <<-END
		2 3 wave /a/wave.c 9
		2 5 wave /a/wave.c 9
		4 0 sum /a/sum.cc 44
		2 0 sin ../s_sin.c 5
		6 0 Python code null null
		7 3 Python code null null
		2 7 Python code null null
		9 3 wave /a/wave.c 9
		8 0 assemble /a/x.c 30
	END
	# The last one.
	[[ "$(jq -r .sentence verdict.json)" == "rank 1's computation in assemble (x.c:30; inlined: norm (norm.h:7)) before "* ]]
}

@test "the verdict of a run that hangs is what lp-stuck has proved, and the ranks that the others wait for" {
	# hung VERDICT OPERATIONS WAITS_FOR: three ranks that were killed
	hung() {
		pack >run.trace <<-END
			trace ranks=3
			site site=1 offset=16 function=main file=main.c line=3 call=MPI_Recv
			unended at_ns=9000 known=true location=0,1,2 call=MPI_Recv(open),MPI_Recv(open),(killed) since=2000,3000,1000 site=1,1,0 verdict=$1 sentence="$1: told" operation=$2 waits_for=$3
			0 MPI_Init 0 1000
			1 MPI_Init 0 1000
			2 MPI_Init 0 1000
			0 MPI_Recv(open) 2000 9000 comm=1 peer=1 tag=1 site=1
			1 MPI_Recv(open) 3000 9000 comm=1 peer=2 tag=1 site=1
			2 (killed) 9000 9000
		END
		lp-graph run.trace 2>/dev/null | lp-critpath >run.path
		lp-report -F json run.path >verdict.json
		is_verdict verdict.json
		[ "$(lp-critpath -F json run.path | jq .verdict.long_pole)" = "$(jq .long_pole verdict.json)" ]
		[[ "$(lp-imbalance run.path | head -1)" == *", 3 ranks on node, killed at 0.0 s: $1: told"* ]]
		jq -rc '[.long_pole.what, .long_pole.ranks, .long_pole.site, .sentence]' verdict.json
	}
	[ "$(hung waiting MPI_Recv,MPI_Recv,- 1,2,-1 | tail -1)" = '["stuck",[2],null,"waiting: told"]' ]
	# A deadlock is closed by the last call.
	[ "$(hung deadlock MPI_Recv,-,- 1,-1,-1 | tail -1)" = '["stuck",[1],"MPI_Recv at main (main.c:3)","deadlock: told"]' ]
	# All wait for a rank that left nothing.
	[ "$(hung gone MPI_Recv,MPI_Recv,- -1,-1,-1 | tail -1)" = '["stuck",[0,1,2],"MPI_Recv at main (main.c:3)","gone: told"]' ]
	# Nothing is proved: it is a run like others.
	[ "$(hung none -,-,- -1,-1,-1 | tail -1 | jq -r .[0])" != stuck ]
}

@test "a place with less than 1 % of the path is no long pole" {
	# A chain: each rank computes 1 us and sends to the next one, each at a site of its own.
	awk 'BEGIN { print "trace ranks=128"; for (k = 1; k < 128; k++) print "site site=" k " offset=" 16 * k " function=f" k " file=f.c line=" k
		for (k = 0; k < 128; k++) { print k, "MPI_Init 0 10"
		if (k > 0) print k, "MPI_Recv 20", 1010 * k + 10, "comm=1 peer=" k - 1 " tag=1 received=8"
		if (k < 127) print k, "MPI_Send", 1010 * (k + 1), "+10 comm=1 peer=" k + 1 " tag=1 sent=8 site=" k + 1
		print k, "MPI_Finalize", 1010 * (k + 1) + 20, 129400 } }' | pack | lp-graph 2>/dev/null | lp-critpath >chain.path
	lp-report -F json chain.path >verdict.json
	is_verdict verdict.json
	jq -e '.long_pole.path_share < 0.01 and (.sentence | test("^no place stands out; rank [0-9]+.s computation is only 0[.][0-9]+ % of the critical path$"))' verdict.json
}

@test "unknown values of a verdict are null, not guesses" {
	planted 1000000 | lp-graph 2>/dev/null >run.graph
	lp-critpath -F json run.graph | jq .verdict >path.json
	is_verdict path.json
	jq -e '.long_pole | .cost_rank_s == null and .gain_s == null and .if == null and .function == null and .path_s > 0' path.json
	lp-imbalance -F json run.graph | jq .verdict >waits.json
	is_verdict waits.json
	jq -e '.long_pole | .path_s == null and .gain_share == null and .cost_rank_s == 0.009 and .function == "chemistry"' waits.json
	jq -e '.trust | .level == "fair" and .reasons == ["6 samples of that function"] and .cores == null and .preempted_share == null' waits.json
	lp-gain -F json run.graph | jq .verdict >gain.json
	is_verdict gain.json
	jq -e '.long_pole.gain_s > 0' gain.json
}

@test "parts of functions, and procedures of Fortran modules, are named as in the source, for each compiler" {
	cat >app.c <<-'END'
		#include <mpi.h>
		void gnu(void) __asm__("__grid_MOD_relax");
		void intel(void) __asm__("grid_mp_relax_");
		void llvm(void) __asm__("_QMgridPrelax");
		void plain(void) __asm__("_mp_");
		void gnu(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void intel(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void llvm(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void plain(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void part(void) __asm__("sweep.part.0");
		void clone(void) __asm__("__grid_MOD_sweep.constprop.1");
		void region(void) __asm__("__grid_MOD_sweep.isra.0._omp_fn.2");
		void outlined(void) __asm__("sweep.omp_outlined");
		void part(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void clone(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void region(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void outlined(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		void f(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
		int main(void) {
			MPI_Init(0, 0); gnu(); intel(); llvm(); plain(); part(); clone(); region(); outlined(); f();
			return MPI_Finalize();
		}
	END
	for debug in -g0 -g; do
		rm -rf run
		mpicc $debug -o app app.c
		lp-record -o run -- mpirun --oversubscribe -n 1 ./app
		lp-merge run | lp-dump -k site | jq -r 'select(.call == "MPI_Barrier").function' | sort | uniq -c >names
		[ "$(awk '$2 == "grid::relax" { print $1 }' names)" -eq 3 ]
		[ "$(awk '{ $1 = ""; print }' names | sort)" = "$(printf ' %s\n' _mp_ 'grid::relax' 'grid::sweep' \
			'grid::sweep (OpenMP region)' f sweep 'sweep (OpenMP region)' | sort)" ]
	done
}
