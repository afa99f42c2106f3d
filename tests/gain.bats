# SPDX-License-Identifier: BSD-3-Clause
# What a run would gain: against runs that are written down. tests/gains has real runs without the cause.
bats_require_minimum_version 1.5.0
load helpers

# Steps of milliseconds; rank 1 is slow in the second. Both calls are on one line, of which a compiler made two sites.
two_steps() {
	pack <<-'END' | lp-graph 2>/dev/null
		trace ranks=3
		site site=1 offset=1 call=MPI_Barrier function=work file=a.c line=7
		site site=2 offset=2 call=MPI_Barrier function=work file=a.c line=7
		0 MPI_Init 0 1000000
		1 MPI_Init 0 1000000
		2 MPI_Init 0 1000000
		0 MPI_Barrier 3000000 3000000 comm=1 site=1
		1 MPI_Barrier 2000000 3000000 comm=1 site=1
		2 MPI_Barrier 2500000 3000000 comm=1 site=1
		0 MPI_Barrier 4000000 9000000 comm=1 site=1
		1 MPI_Barrier 9000000 9000000 comm=1 site=2
		2 MPI_Barrier 6000000 9000000 comm=1 site=1
		0 MPI_Finalize 9500000 9600000
		1 MPI_Finalize 9500000 9600000
		2 MPI_Finalize 9500000 9600000
	END
}

@test "--path writes the path, from which lp-critpath --join prints the same in each form, a verdict given or not" {
	for seed in 1 2 3 4; do
		random_run.py make $seed | lp-graph 2>/dev/null >t.graph
		lp-report --verdict given --text t.text t.graph >t.html
		for form in stream text json; do
			rm -f path
			lp-gain --path path -F $form t.graph >with
			[ $form = stream ] || lp-gain -F $form t.graph | cmp - with
			trace.py check path
			lp-critpath -F text --json known.json --verdict given t.graph >known
			lp-critpath --join -F text --json joined.json --verdict given path | cmp - known
			cmp joined.json known.json
			lp-critpath --join -F json - <path | cmp - <(lp-critpath -F json t.graph)
			lp-critpath --join -F stream path | lp-critpath --join -F text --all --whole | cmp - <(lp-critpath -F text --all --whole t.graph)
		done
	done
	run -2 --separate-stderr lp-gain --needed --path path t.graph
	[ "$stderr" = "lp-gain: --path: of --needed and --scale there is no stream" ]
	run -2 --separate-stderr lp-gain --path nowhere/path t.graph
	[ "$stderr" = "lp-gain: nowhere/path: No such file or directory" ]
	run -2 --separate-stderr lp-gain --path /dev/full -F text t.graph
	[ "$stderr" = "lp-gain: /dev/full: No space left on device" ]
}

@test "a stretch whose graph has no room leaves out gains, not the path; slack and alternatives are refused" {
	"$ROOT/build/bench/ring" 4 20000 3000 | lp-graph 2>/dev/null >t.graph
	lp-gain -F json t.graph | jq -e 'has("gain_by_site") and has("gain_if_balanced")'
	lp-gain --most 1 --path alone --json gain.json t.graph >with 2>said
	grep -qxE 'lp-gain: no gains: [0-9]+ rows without a synchronisation point would need more than the 1 MB of --most' said
	jq -e 'has("gain_by_site") or has("gain_if_balanced") | not' gain.json
	lp-critpath -F text --all t.graph >known
	lp-critpath --join -F text --all with | cmp - known
	lp-critpath --join -F text --all alone | cmp - known
	trace.py check with
	lp-report -F json with >verdict.json
	jq -e '.long_pole.gain_s == null' verdict.json
	for asked in --slack '-k 1' --needed; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr lp-gain --most 1 $asked -F text t.graph
		[[ "$stderr" =~ ^'lp-gain: '[0-9]+' rows without a synchronisation point would need more than the 1 MB of --most'$ ]]
	done
}

@test "a run of one long stretch goes through lp-gain with the memory that a job has" {
	"$ROOT/build/bench/ring" 4 250000 3000 | lp-graph 2>/dev/null >t.graph
	limited 200000 lp-gain t.graph >with
	lp-critpath --join -F text with | cmp - <(lp-critpath -F text t.graph)
}

# in_group LINE COMMAND...: in a process whose control groups are LINE and groups/, in place of the system's
in_group() {
	echo "$1" >group
	# shellcheck disable=SC2016
	unshare -rm bash -c 'mount --bind groups /sys/fs/cgroup && mount --bind group /proc/$$/cgroup && exec "$@"' in_group "${@:2}"
}

@test "the memory of a batch job is the least of its control groups, of both versions, whatever their names" {
	mkdir -p groups/job:1/step groups/memory/job:1/step
	in_group 0:: true 2>/dev/null || skip "no namespaces here"
	"$ROOT/build/bench/ring" 4 20000 3000 | lp-graph 2>/dev/null >t.graph
	for form in '0::/job:1/step memory.max groups' '7:memory:/job:1/step memory.limit_in_bytes groups/memory'; do
		read -r line name folder <<<"$form"
		echo max >"$folder/job:1/step/$name"
		echo 8000000 >"$folder/job:1/$name"
		in_group "$line" lp-gain -F json t.graph >gain.json 2>said
		grep -q ' the 3 MB of --most$' said
		jq -e 'has("gain_by_site") | not' gain.json
		echo max >"$folder/job:1/$name"
		in_group "$line" lp-gain -F json t.graph | jq -e 'has("gain_by_site")'
	done
}

@test "balanced: in each step the rank computes no longer than the mean of the others, and others take over" {
	two_steps >t.graph
	# Rank 1 takes 6 ms in the second step, the others 1 and 3: at 2 ms, rank 2 is the last, 3 ms earlier.
	# In the first step it is fast and stays so. In the run it has 7 ms, the others 3 and 4.5.
	lp-gain -F json t.graph >gain.json
	[ "$(jq -c '.gain_if_balanced[] | [.rank, .site, (.gain_s, .at_most_s, .compute_s, .others_s | . + 0)]' gain.json)" = \
		'[1,1,0.003,0.004,0.007,0.00375]' ]
	[ "$(jq -c '.verdict.long_pole | [.ranks, .if, .gain_s + 0]' gain.json)" = '[[1],"balanced",0.003]' ]
	lp-report -F json t.graph | jq -e '.long_pole | .if == "balanced" and .gain_s == 0.003'
	lp-report -F text t.graph | grep -q '; balanced, the run takes 6.6 instead of 9.6 ms$'
	lp-gain t.graph | lp-dump -k balance | jq -e '.rank == 1 and .gain_ns == 3000000'
	# Both sites of the line take less time together: 2 + 6 ms of the path.
	[ "$(jq '.gain_by_site[] | select(.site == 1).gain_s + 0' gain.json)" = 0.0016 ]
}

@test "a gain that would not show in the run time is told itself" {
	pack <<-'END' | lp-graph 2>/dev/null >long.graph
		trace ranks=2
		site site=1 offset=1 call=MPI_Barrier function=work file=a.c line=7
		0 MPI_Init 0 8000000000
		1 MPI_Init 0 8000000000
		0 MPI_Barrier 8001000000 8040000000 comm=1 site=1
		1 MPI_Barrier 8040000000 8040000000 comm=1 site=1
		0 MPI_Finalize 8040000100 8040000200
		1 MPI_Finalize 8040000100 8040000200
	END
	[[ "$(lp-gain -F text long.graph | head -1)" == *' is 100 % of the critical path; balanced, the run takes 39 ms less' ]]
	lp-gain -F json long.graph | jq -e '.verdict.long_pole | .if == "balanced" and .gain_s == 0.039'
}

@test "balanced is no question where the others compute nothing: then all take less" {
	pack <<-'END' | lp-graph 2>/dev/null >alone.graph
		trace ranks=2
		site site=1 offset=1 call=MPI_Send function=put file=a.c line=7
		0 MPI_Init 0 1000
		1 MPI_Init 0 1000
		0 MPI_Send 9000000 9000100 comm=1 peer=1 tag=1 sent=8 site=1
		1 MPI_Recv 2000 9000100 comm=1 peer=0 tag=1 received=8
		0 MPI_Finalize 9001000 9002000
		1 MPI_Finalize 9001000 9002000
	END
	lp-gain -F json alone.graph | jq -e '.gain_if_balanced == [] and .verdict.long_pole.if == "20 % less"'
}

@test "a send that ended when its receiver was in another call waited for that, and so did a rank that a reduction held" {
	# Rank 1 computes 8 ms twice. Rank 0's second send takes until rank 1 enters its own send.
	pack <<-'END' | lp-graph 2>/dev/null >send.graph
		trace ranks=3
		site site=1 offset=1 call=MPI_Send function=put file=a.c line=7
		0 MPI_Init 0 1000000
		1 MPI_Init 0 1000000
		2 MPI_Init 0 1000000
		0 MPI_Send 2000000 2000100 comm=1 peer=1 tag=1 sent=8
		0 MPI_Send 3000000 10000200 comm=1 peer=1 tag=1 sent=8
		0 MPI_Finalize 10001000 20000000
		1 MPI_Recv 1500000 2000000 comm=1 peer=0 tag=1 received=8
		1 MPI_Send 10000000 10000300 comm=1 peer=2 tag=1 sent=8 site=1
		1 MPI_Recv 10000400 10000500 comm=1 peer=0 tag=1 received=8
		1 MPI_Finalize 10001000 20000000
		2 MPI_Recv 1500000 10000300 comm=1 peer=1 tag=1 received=8
		2 MPI_Finalize 10001000 20000000
	END
	# All of the 8 ms may go, but for what rank 0 does until its second send.
	[ "$(lp-gain --gain 100 -F json send.graph | jq '.gain_by_site[] | select(.site == 1).gain_s * 1e9 | round / 1e6 | floor')" -eq 7 ]
	pack <<-'END' | lp-graph 2>/dev/null >reduce.graph
		trace ranks=3
		site site=1 offset=1 call=MPI_Reduce function=sum file=a.c line=7
		0 MPI_Init 0 1000000
		1 MPI_Init 0 1000000
		2 MPI_Init 0 1000000
		0 MPI_Reduce 2000000 9000100 comm=1 peer=0 sent=8 received=8 site=1
		1 MPI_Reduce 9000000 9000050 comm=1 peer=0 sent=8 site=1
		2 MPI_Reduce 2000000 9000100 comm=1 peer=0 sent=8 site=1
		0 MPI_Finalize 9500000 9600000
		1 MPI_Finalize 9500000 9600000
		2 MPI_Finalize 9500000 9600000
	END
	[ "$(lp-gain -F json reduce.graph | jq '.gain_if_balanced[] | select(.rank == 1 and .site == 1).gain_s + 0')" = 0.007 ]
}

@test "a rank that leaves a rooted call or a scan just after another enters waited for it, though MPI lets it leave" {
	# late CALL [ENTER]: rank 1 needs no other, but leaves 0.1 ms after rank 2 enters, which is late
	late() {
		pack <<-END | lp-graph 2>/dev/null >late.graph
			trace ranks=3
			site site=1 offset=1 call=$1 function=step file=a.c line=7
			0 MPI_Init 0 1000000
			1 MPI_Init 0 1000000
			2 MPI_Init 0 1000000
			0 $1 1500000 1500100 comm=1 ${3-peer=0 }site=1 sent=8
			1 $1 2000000 9100000 comm=1 ${3-peer=0 }site=1 sent=8
			2 $1 ${2:-9000000} 9000050 comm=1 ${3-peer=0 }site=1 sent=8
			0 MPI_Finalize 9200000 9600000
			1 MPI_Finalize 9500000 9600000
			2 MPI_Finalize 9200000 9600000
		END
		lp-critpath -F json late.graph | jq -c '[.segments[] | select(.end_ns > 1000000 and .begin_ns < 9500000) | [.rank, .kind, .end_ns]]'
	}
	for call in MPI_Bcast MPI_Scatter; do
		[ "$(late $call)" = '[[2,"compute",9000000],[1,"transfer",9100000],[1,"compute",9500000]]' ]
		lp-imbalance -F json late.graph | jq -e '.delays[0] | .rank == 2 and .kind == "compute" and .short_s == 0.007'
		lp-gain --needed -F json late.graph | jq -e '[.segments[] | select(.rank == 2 and .kind == "compute")] | length == 1'
	done
	[ "$(late MPI_Scan '' '')" = '[[2,"compute",9000000],[1,"transfer",9100000],[1,"compute",9500000]]' ]
	# It enters in the first half of the call: this tells nothing.
	[ "$(late MPI_Bcast 5000000)" = '[[1,"compute",2000000],[1,"mpi",9100000],[1,"compute",9500000]]' ]
}

@test "a gather over an intercommunicator needs the other group, not the ranks beside the root" {
	# Rank 2 is beside the root and passes MPI_PROC_NULL; it enters last, and nobody waits for that.
	pack <<-'END' | lp-graph 2>/dev/null >inter.graph
		trace ranks=3
		communicator comm=4 members=0,2 remote=1
		0 MPI_Init 0 1000000
		1 MPI_Init 0 1000000
		2 MPI_Init 0 1000000
		0 MPI_Gather 2000000 9000000 comm=4 peer=-4 received=8
		1 MPI_Gather 5000000 5100000 comm=4 peer=0 sent=8
		2 MPI_Gather 8000000 8000100 comm=4 peer=-2
		0 MPI_Finalize 9500000 9600000
		1 MPI_Finalize 9500000 9600000
		2 MPI_Finalize 9500000 9600000
	END
	run -0 lp-gain --needed -F json inter.graph
	[ "$(jq -c '[.segments[] | select(.call == "MPI_Gather" or .end_ns == 5000000 or .end_ns == 8000000) | [.rank, .kind, .end_ns]]' \
		<<<"$output")" = '[[1,"compute",5000000],[0,"transfer",9000000]]' ]
	run -0 lp-critpath -F json inter.graph
	[ "$(jq -c '[.segments[] | select(.end_ns > 1000000 and .end_ns <= 9000000) | [.rank, .kind, .end_ns]]' <<<"$output")" = \
		'[[1,"compute",5000000],[0,"transfer",9000000]]' ]
}

# As under MPICH: rank 0 receives from rank 1 alone, and leaves before rank 2 enters.
@test "in an all-to-all that a rank leaves before another enters it waits for the last sender before that; so does a root" {
	local call
	for call in MPI_Alltoallv MPI_Gatherv; do
		leaves_early $call
	done
	# Equal data for all cannot come before its sender. So clocks differ, and whom rank 0 waited for is not known.
	[ "$(early MPI_Allreduce received=16)" = "0 compute 200, 0 mpi 3010, 0 compute 8010" ]
	# Who receives nothing waits for nobody.
	[ "$(early MPI_Alltoallv '')" = "0 compute 200, 0 mpi 3010, 0 compute 8010" ]
}

# early CALL RECEIVED: rank 0 leaves it before rank 2 enters. Prints the first parts of the path behind MPI_Init.
early() {
	sed "s/CALL/$1/; s/RECEIVED/$2/" <<-'END' | tests/pack >t.trace
		trace ranks=3
		site site=1 offset=16
		site site=2 offset=32
		site site=3 offset=48
		0 MPI_Init 0 100
		1 MPI_Init 0 100
		2 MPI_Init 0 100
		0 CALL 200 3010 comm=1 peer=0 site=1 RECEIVED
		1 CALL 3000 3005 comm=1 peer=0 site=3 sent=16
		2 CALL 6000 6010 comm=1 peer=0 site=1
		0 MPI_Finalize 8010 8100 site=2
		1 MPI_Finalize 3100 8100 site=2
		2 MPI_Finalize 6100 8100 site=2
	END
	lp-graph t.trace >t.graph 2>/dev/null
	lp-critpath t.graph | lp-dump -k segment | jq -rs 'map(select(.begin_ns >= 100) | "\(.rank) \(.segment) \(.end_ns)") | .[:3] | join(", ")'
}

leaves_early() {
	[ "$(early $1 received=16)" = "1 compute 3000, 0 transfer 3010, 0 compute 8010" ]
	ranks 2 lp-critpath -a dijkstra --splits par-seq t.graph | lp-dump -k segment | cmp - <(lp-critpath t.graph | lp-dump -k segment)
	# Half of what rank 1 computes: rank 2 holds up nobody.
	lp-gain --gain 50 -F json t.graph | jq -e '.gain_by_site | map([.where, (.gain_s * 1e9 | round)]) == [["0x20", 1955], ["0x30", 1450], ["0x10", 5]]'
}

# ring COMPUTE: epochs with both neighbours. Ranks 0 and 2 compute for long in turn, their neighbours wait in MPI_Win_complete for that post, and the
# other one in MPI_Win_wait for their MPI_Win_complete, which was entered before.
ring() {
	awk -v compute="$1" 'function max(a, b) { return a > b ? a : b }
	BEGIN {
		print "trace ranks=4\nsite site=1 offset=16\nsite site=2 offset=32\ncommunicator comm=3 members=0,1,2,3 type=window"
		for (r = 0; r < 4; r++) { print r, "MPI_Init 0 1000"; at[r] = 1000 }
		for (i = 0; i < 12; i++) {
			for (r = 0; r < 4; r++) post[r] = at[r] + (r == i % 2 * 2 ? compute : 100)
			for (r = 0; r < 4; r++) done[r] = max(post[r] + 20, max(post[(r + 1) % 4], post[(r + 3) % 4])) + 5
			for (r = 0; r < 4; r++) {
				a = (r + 1) % 4; b = (r + 3) % 4
				print r, "MPI_Win_post", post[r], post[r] + 5, "comm=3 site=1 peer=" a, "as=p"; print r, "+ comm=3 peer=" b, "as=q"
				print r, "MPI_Win_start", post[r] + 10, post[r] + 12, "comm=3 site=2 peer=" a, "as=s"; print r, "+ comm=3 peer=" b, "as=t"
				print r, "MPI_Win_complete", post[r] + 20, done[r], "comm=3 site=2 of=s"; print r, "+ comm=3 of=t"
				at[r] = max(done[r] + 2, max(done[a], done[b])) + 5
				print r, "MPI_Win_wait", done[r] + 2, at[r], "comm=3 site=2 of=p"; print r, "+ comm=3 of=q"
			}
		}
		end = max(max(at[0], at[1]), max(at[2], at[3])) + 10
		for (r = 0; r < 4; r++) print r, "MPI_Finalize", at[r] + 2, end
	}' | tests/pack | lp-graph 2>/dev/null
}

@test "a rank that waits for an epoch waits for the post that the epoch's origin waits for" {
	ring 6000 >t.graph
	ring 3000 >half.graph
	lp-gain --gain 50 -F json t.graph >t.json
	jq -e --argjson saved "$(($(lp-dump -k run t.graph | jq .run_ns) - $(lp-dump -k run half.graph | jq .run_ns)))" \
		'$saved > 30000 and (.gain_by_site[0] | .where == "0x10" and (.gain_s * 1e9 / $saved - 1 | fabs) < 0.03)' t.json
	# So does the path, however many processes have the rows: each round is the computation of the rank that is late.
	lp-critpath t.graph | lp-dump -k segment >path
	jq -se 'map(select(.segment == "compute" and .end_ns - .begin_ns > 5900) | .rank) == [0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2]' path
	ranks 3 lp-critpath -a dijkstra --splits par-seq t.graph | lp-dump -k segment | cmp - path
}

@test "what a function of an awaited thread would gain" {
	# Rank 1's first thread waits for its worker from 2 to 11 ms; they have a sample each ms on a core. Rank 0 computes 4 ms.
	pack <<-END | lp-graph 2>/dev/null >awaited.graph
		trace ranks=2
		module module=0 path=/lib/libc.so.6
		site site=1 offset=1 function=work
		site site=2 offset=2 function=pthread_cond_wait module=0
		site site=3 offset=3 function=wait_for_all
		0 MPI_Init 0 1000000
		1 MPI_Init 0 1000000
		switched location=1 from_ns=0 until_ns=12000000 time=2000000 duration=9000000 reason=0 site=2
		switched location=1 worker=1 from_ns=0 until_ns=12000000 time=1000000 duration=1000000 reason=0 site=2
		sampled location=1 period_ns=1000000 until_ns=12000000 time=1500000,11500000 site=3,3
		sampled location=1 worker=1 period_ns=1000000 until_ns=12000000 time=$(seq -s, 2500000 1000000 10500000) site=$(
			yes 1 | head -9 | paste -sd,)
		0 MPI_Barrier 5000000 12001000 comm=1
		1 MPI_Barrier 12000000 12001000 comm=1
		0 MPI_Finalize 12002000 12003000
		1 MPI_Finalize 12002000 12003000
	END
	lp-critpath -F json awaited.graph | jq -e '[.awaited[] | [.function, .samples]] | index([["work", 9]])'
	lp-gain --gain 50 -F json awaited.graph >gain.json
	# Half of its 9 ms.
	[ "$(jq -c '[.gain_by_function[] | select(.function == "work") | .gain_s, .at_most_s | . + 0]' gain.json)" = '[0.0045,0.0045]' ]
}

# Samples and switches of a thread without calls are with the first thread of its rank.
@test "what a function would gain whose thread is awaited by a second thread that makes calls" {
	# That one waits from 2 to 11 ms; rank 1's first thread waits for it, so the waits between threads are known.
	pack <<-END | lp-graph 2>/dev/null >second.graph
		trace ranks=2
		location location=2 rank=1 thread=2
		module module=0 path=/lib/libc.so.6
		site site=1 offset=1 function=work
		site site=2 offset=2 function=pthread_cond_wait module=0
		site site=3 offset=3 function=wait_for_all
		0 MPI_Init_thread 0 1000000
		1 MPI_Init_thread 0 1000000
		switched location=1 from_ns=0 until_ns=12002000 time=1100000 duration=10900500 reason=0 site=2
		switched location=1 worker=1 from_ns=0 until_ns=12000000 time=1000000 duration=1000000 reason=0 site=2
		sampled location=1 worker=1 period_ns=1000000 until_ns=12000000 time=$(seq -s, 2500000 1000000 10500000) site=$(
			yes 1 | head -9 | paste -sd,)
		switched location=2 from_ns=1000000 until_ns=12001000 time=2000000 duration=9000000 reason=0 site=2
		sampled location=2 period_ns=1000000 until_ns=12001000 time=1500000,11500000 site=3,3
		2 MPI_Barrier 1050000 1060000 comm=2
		0 MPI_Barrier 5000000 12001000 comm=1
		2 MPI_Barrier 12000000 12001000 comm=1
		0 MPI_Finalize 12002000 12003000
		1 MPI_Finalize 12002000 12003000
	END
	lp-gain --gain 50 -F json second.graph | jq -e '.gain_by_function[] | select(.function == "work") | .gain_s > 0.0044 and .gain_s < 0.0046'
	# All of the path's computation at that place was on a core.
	lp-critpath second.graph | lp-compare --summary - | lp-dump | jq -es '.[] | select(.kind == "place" and .call == "thread_signal") |
		.core_ns == .path_ns and (.path_ns | startswith("60eea600"))'
}

# The way of rank 1 goes by all calls of rank 0, and only 10 ns faster; it begins with its start, or with a call of its own. No evaluation
# of the whole graph is needed for one of many sites.
@test "the gain of one of many call sites is limited by a way that goes by all of its calls" {
	for early in '1 MPI_Init 0 10' $'1 MPI_Init 0 10\n1 MPI_Barrier 20 20 comm=2'; do
		{
			printf '%s\n' 'trace ranks=2' 'module module=0 path=/a'
			for site in {1..40}; do
				echo "site site=$site call=MPI_Barrier offset=$site module=0 function=f$site file=a.c line=$site"
			done
			echo '0 MPI_Init 0 10'
			for site in {1..40}; do
				echo "0 MPI_Barrier $((10 + 30 * site)) $((10 + 30 * site)) comm=2 site=$site"
			done
			printf '%s\n' '0 MPI_Send 1210 1210 comm=1 peer=1 tag=1 sent=8' '0 MPI_Finalize 1210 1220' "$early" \
				'1 MPI_Recv 1200 1210 comm=1 peer=0 tag=1 received=8' '1 MPI_Finalize 1210 1220'
		} | tests/pack | lp-graph 2>/dev/null >t.graph
		lp-gain --gain=50 --all -F json t.graph >t.json
		jq -e '[.gain_by_site[] | select(.site > 0) | [.gain_s, .at_most_s]] == [range(40) | [1e-8, 1.5e-8]]' t.json ||
			{ jq -c .gain_by_site t.json; false; }
	done
}
