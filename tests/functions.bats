# SPDX-License-Identifier: BSD-3-Clause
# The path by function, of runs whose samples are known.
bats_require_minimum_version 1.5.0
load helpers

@test "the path by function and by line equals the samples, to the nanosecond, with callers" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		sampled_run.py make $seed 3 20 12 >t.trace
		trace.py check t.trace
		lp-graph t.trace >t.graph 2>/dev/null
		trace.py check t.graph
		lp-critpath -F json t.graph | sampled_run.py check $seed 3 20 12
	done
}

@test "several processes, and joined parts, give the same functions as one process" {
	sampled_run.py make 7 5 30 9 | lp-graph 2>/dev/null >t.graph
	for form in json text folded speedscope; do
		lp-critpath -F $form t.graph >alone.$form
		for parts in 1 3 7; do
			for ((i = 1; i <= parts; i++)); do lp-critpath --part $i/$parts t.graph >part.$i; done
			lp-critpath --join -F $form $(seq -f part.%g $parts) | cmp - alone.$form
		done
		lp-gain --path path -F text t.graph >t.gains
		lp-critpath --join -F $form path | cmp - alone.$form
	done
	trace.py check part.2
	sampled_run.py check 7 5 30 9 <alone.json
	for processes in 2 3 4 7; do
		ranks $processes lp-critpath -F json t.graph | cmp - alone.json
	done
	ranks 3 lp-critpath -a dijkstra -F text t.graph | cmp - alone.text
	ranks 3 lp-critpath -a delta --splits par-par -F folded t.graph | cmp - alone.folded
	lp-critpath -a intervals -F json t.graph >alone.json 2>/dev/null
	ranks 3 lp-critpath -a intervals --splits par-par -F json t.graph 2>/dev/null | cmp - alone.json
}

@test "samples are kept as long as the calls that follow them, and no longer" {
	sampled_run.py make 5 2 60 40000 | lp-graph 2>/dev/null >t.graph	# 2.4 million samples, 38 MB
	limited 40000 lp-critpath -F json t.graph | sampled_run.py check 5 2 60 40000
}

@test "functions in which the slowest rank spends more time equal the samples" {
	for seed in $(short_or_long '1 2 3' '1 2 3 4 5 6'); do
		sampled_run.py make $seed 4 12 40 | lp-graph 2>/dev/null >t.graph
		lp-imbalance -F json t.graph | sampled_run.py uneven $seed 4 12 40
	done
	# More samples than there is time for: they have all of it.
	sampled_run.py make 7 4 12 4000 | lp-graph 2>/dev/null | lp-imbalance -F json | sampled_run.py uneven 7 4 12 4000
	[ "$(lp-imbalance --by function -F csv t.graph | sed -n 1p)" = \
		what,function,file,cost_s,standard_error_s,where,rank,slow_s,others_s,more_s,samples,in ]
	# The same numbers in all forms, and only of what lies in the window.
	lp-imbalance --by function -F csv t.graph | python3 -c 'import csv, sys
print("%.6f" % sum(float(row["slow_s"]) for row in csv.DictReader(sys.stdin) if row["what"] == "compute"))' >csv
	lp-imbalance -F json t.graph | jq '[.compute_by_function[].functions[].slow_s] | add' | awk '{ printf "%.6f\n", $1 }' | cmp - csv
	lp-imbalance --by function t.graph | grep -q '^more_s	error_s	slow_s	others_s	rank	function'
	[ "$(lp-imbalance -F json t.graph | jq '[.compute_by_function[].functions[].samples] | add')" -gt \
		"$(lp-imbalance --from 0.003 -F json t.graph | jq '[.compute_by_function[].functions[].samples] | add')" ]
	sampled_run.py make 1 1 3 9 | lp-graph 2>/dev/null | lp-imbalance -F json | jq -e '.delays_by_function == []'
}

@test "a function has a delay's cost with an error, also if it has all samples" {
	# Rank 1 computes 4 ms longer, with N samples in one function: what a uniform prior leaves to others is 2/((N + 2)(N + 3)).
	local n
	for n in 1 4; do
		pack <<-END | lp-graph 2>/dev/null | lp-imbalance -F json >waits.json
			trace ranks=2
			site site=1 offset=1 function=work
			0 MPI_Init 0 1000000
			1 MPI_Init 0 1000000
			sampled location=1 period_ns=$((4000000 / n)) until_ns=5000000 time=$(seq -s, 1500000 500000 $((1000000 + 500000 * n))) site=$(
				yes 1 | head -$n | paste -sd,)
			0 MPI_Barrier 1000000 5001000 comm=1
			1 MPI_Barrier 5000000 5001000 comm=1
			0 MPI_Finalize 5002000 5003000
			1 MPI_Finalize 5002000 5003000
		END
		jq -e --argjson n $n '.delays_by_function | map(select(.function == "work"))[0] | .cost_s > 0.0039 and
			.standard_error_s / .cost_s > (2 / (($n + 2) * ($n + 3)) | sqrt) - 1e-6 and .standard_error_s < .cost_s' waits.json
	done
}

@test "the page has a table of the sampled functions, with lp-imbalance's numbers" {
	sampled_run.py make 3 4 12 40 | lp-graph 2>/dev/null >t.graph
	lp-report -o t.html t.graph
	sed -n '/<table id="t-functions"/,/<\/table>/p' t.html | grep -o '^<tr>.*' | sed 's/<td data-v="\([^"]*\)">[^<]*<\/td>/\1 /g; s/<td class="t" title="\([^"]*\)">.*/\1/; s/<tr>//' |
		awk '{ printf "%.9f %.9f %s\n", $1, $4, $7 }' >page
	lp-imbalance -F json t.graph | jq -r '.compute_by_function[].functions[] | [.more_s, .others_s, .function] | join(" ")' |
		awk '{ printf "%.9f %.9f %s\n", $1, $2, $3 }' >told
	[ -s told ]
	cmp page told
}

@test "the page has lp-critpath's path by function, and its lines add up to the path" {
	sampled_run.py make 3 4 12 40 | lp-graph 2>/dev/null >t.graph
	lp-report -o page.html t.graph
	grep -A100000 'id="t-path-functions"' page.html | sed '/<\/table>/q' | grep '^<tr><td' >lines
	sed 's/<td[^>]*data-v="\([^"]*\)">[^<]*<\/td>/\1 /g; s/<td class="t" title="[^"]*">\([^<]*\)<\/td>/\1 /g; s/<[^>]*>//g' lines |
		awk '$3 > 0 { print $2, $3, $4 }' | sort >page
	lp-critpath -F json t.graph | jq -r '.by_function[] | [.path_s, .all_s, .function] | @tsv' |
		awk '$2 > 0 { printf "%.9f %.9f %s\n", $1, $2, $3 }' | sort >told
	[ "$(wc -l <told)" = 5 ]
	cmp page told
	# No part is larger than its whole: time on the path, and of all computation; in parentheses there is no such whole.
	grep -q 'not on a core, or not sampled' lines
	sed 's/<td[^>]*data-v="\([^"]*\)">[^<]*<\/td>/\1 /g' lines | awk '$3 !~ /^</ && $2 > $3 { print; bad = 1 } END { exit bad }'
	grep -q 'title="(MPI)"' lines	# and what is no computation; without MPI_Init and MPI_Finalize
	sed 's/<tr><td data-v="\([^"]*\)".*/\1/' lines | awk '{ s += $1 } END { exit !(s > 0.999999 && s < 1.000001) }'
}

@test "if the logical clock moves calls, samples stay between their calls" {
	pack >rank.0 <<-END
		raw rank=0 ranks=2
		0 MPI_Init 0 100
		0 MPI_Send 1000 1100 comm=1 peer=1 tag=5 sent=8
		0 MPI_Finalize 2000 2100
	END
	# The message is received before it is sent. Samples: one before the receive, one in it, three behind.
	pack >rank.1 <<-END
		raw rank=1 ranks=2
		0 MPI_Init 0 100
		0 MPI_Recv 300 400 comm=1 peer=0 tag=5 received=8
		0 MPI_Finalize 900 1000
		sampled location=0 count=5 period_ns=100 until_ns=950 time=0xc8005e01f4015802bc02 site=0x0000000000 callers=0x0000000000
	END
	lp-merge -s clc rank.0 rank.1 >t.trace 2>/dev/null
	trace.py check t.trace
	lp-dump -k call t.trace | jq -s -e 'map(select(.rank == 1)) | .[1].leave_ns >= 1000'
	lp-dump t.trace | jq -s -e '(map(select(.rank == 1 and .enter_ns != null)) | map([.enter_ns, .leave_ns])) as $calls |
		(map(select(.kind == "sampled")) | map(.time) | add) as $at | ($at | length) == 5 and
		$at[0] >= $calls[0][1] and $at[0] < $calls[1][0] and $at[1] >= $calls[1][0] and $at[1] < $calls[1][1] and
		$at[2] >= $calls[1][1] and $at[4] < $calls[2][0]'
}

@test "waiting functions of thread runtimes are no work, and other functions of these runtimes are" {
	local modules=(app /lib/libgomp.so.1 /opt/libgomp-a34b.so.1.0.0 /usr/lib/libomp.so.5 /opt/intel/libiomp5.so /usr/lib/libtbb.so.12 /lib/libc.so.6)
	# module, function ("-": none), whether it waits
	local places=("0 work no" "0 gomp_team_barrier_wait_end yes" "0 do_wait no" "0 - no" "1 - yes" "1 GOMP_barrier yes"
		"1 GOMP_loop_dynamic_next no" "1 GOMP_parallel no" "2 - yes" "2 do_spin yes" "3 - yes" "3 __kmp_hyper_barrier_gather yes"
		"3 __kmp_fork_barrier yes" "3 __kmpc_dispatch_next_4 no" "4 - yes" "4 __kmp_wait_template yes" "4 kmp_flag_64::wait yes"
		"5 - yes" "5 tbb::detail::r1::arena::process no" "5 tbb::detail::r1::prolonged_pause yes" "6 - no"
		"0 std::__detail::__platform_wait<int> yes" "0 std::__1::__libcpp_atomic_wait yes" "0 std::__detail::hash no"
		"6 pthread_mutex_lock no" "6 memcpy no" "6 syscall no" "6 usleep no" "6 futex_wait yes" "6 __futex_abstimed_wait_common64 yes"
		"6 __lll_lock_wait yes" "6 pthread_barrier_wait yes" "6 ___pthread_cond_wait yes" "6 sem_wait yes" "6 sched_yield yes"
		"6 __pthread_clockjoin_ex yes" "6 pthread_spin_lock yes" "0 my_sem_wait no")
	{
		echo graph
		echo run ranks=1 locations=1 run_ns=100000
		for ((i = 0; i < ${#modules[@]}; i++)); do echo "module module=$i path=${modules[i]}"; done
		for ((i = 0; i < ${#places[@]}; i++)); do
			read -r module name _ <<<"${places[i]}"
			[ "$name" = - ] && name= || name="function=$name"
			echo "site site=$((i + 1)) offset=$((16 * i)) module=$module $name"
		done
		# 2 samples in each place
		echo "sampled location=0 period_ns=100 until_ns=90000 time=$(seq -s, 2000 10 $((1990 + 20 * ${#places[@]}))) site=$(
			for ((i = 1; i <= ${#places[@]}; i++)); do echo $i $i; done | tr -s ' \n' , | sed 's/,$//')"
		echo '0 MPI_Init 0 1000'
		echo '0 MPI_Finalize 90000 100000'
	} | pack >t.graph
	trace.py check t.graph
	lp-critpath -F json t.graph >path.json
	local waits=0
	for place in "${places[@]}"; do
		read -r _ name is <<<"$place"
		[ $is = no ] || waits=$((waits + 2))
		[ "$name" = - ] || jq -e --arg name "$name" --arg is $is \
			'any(.by_function[]; .function == $name and .samples == 2) == ($is == "no")' path.json || { echo "$place"; false; }
	done
	jq -e --argjson waits $waits 'any(.by_function[]; .function == "(waiting for threads)" and .samples == $waits)' path.json
	jq -e --argjson waits $waits '(.waiting_for_threads | map(.samples) | add) == $waits and
		(.waiting_for_threads | map(select(.module == "libgomp.so.1") | [.by, .samples])) == [["module", 2], ["function", 2]]' path.json
	lp-critpath -F text t.graph | grep -qx 'waiting for threads: 2 samples in libomp.so.5, recognised by its name, as the functions have none'
	lp-imbalance -F json t.graph >waits.json
	jq -e --argjson waits $waits '.compute_by_function[0].functions |
		any(.[]; .function == "(waiting for threads)" and .samples == $waits) and any(.[]; .function == "GOMP_loop_dynamic_next")' waits.json
}

@test "a thread waits where a routine for all system calls is called to wait, with names and without" {
	# Thread 1 computes from 1000 to 90000, and the first thread is blocked meanwhile: in a place with these callers. Each is in the
	# program (0) or in the C library (1), "-" has no name; whether it waits.
	local case place=0 module name
	for case in "1 __syscall_cancel_arch 1 __syscall_cancel 1 futex_wait yes" "1 - 1 - 1 futex_wait yes" \
		"1 - 1 - 1 - 1 futex_wait yes" "1 - 1 - 1 clock_nanosleep no" "1 - 1 usleep 1 futex_wait no" "1 - 0 gomp_sem_wait_slow yes" \
		"1 __internal_syscall_cancel 1 pthread_cond_wait yes" "1 memcpy 1 futex_wait no" "1 - 0 work no" "0 - 1 futex_wait no"; do
		read -ra words <<<"$case"
		{
			printf '%s\n' graph 'run ranks=1 locations=1 run_ns=100000' 'module module=0 path=app' 'module module=1 path=/lib/libc.so.6'
			for ((place = 1; 2 * place < ${#words[@]}; place++)); do
				module=${words[2 * place - 2]} name=${words[2 * place - 1]}
				echo "site site=$place module=$module offset=$((16 * place)) $([ "$name" = - ] || echo "function=$name")"
			done
			[ $place -eq 3 ] || echo "site site=$place stack=$(seq -s, 2 $((place - 1)))"
			echo "site site=$((place + 1)) module=0 offset=4096 function=work"
			echo "sampled location=0 worker=1 period_ns=1000 until_ns=90000 time=$(seq -s, 2000 1000 89000) site=$(yes $((place + 1)) |
				head -88 | paste -sd,)"
			echo "sampled location=0 period_ns=1000 until_ns=90000 time=89500 site=$((place + 1))"
			echo "switched location=0 from_ns=0 until_ns=90000 time=2000 duration=86000 reason=0 site=1 callers=$((place == 3 ? 2 : place))"
			echo 'switched location=0 worker=1 from_ns=0 until_ns=90000 time= duration= reason='
			echo '0 MPI_Init 0 1000'
			echo '0 MPI_Finalize 90000 100000'
		} | pack >t.graph
		lp-critpath -F json t.graph | jq -e --arg is "${words[-1]}" '(.computation.awaited_s > 80e-6) == ($is == "yes")' || { echo "$case"; false; }
	done
}
