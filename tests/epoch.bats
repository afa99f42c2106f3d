# SPDX-License-Identifier: BSD-3-Clause
# Real runs of the plasma code EPOCH on 1, 2 and 4 ranks: what Dimemas, basicanalysis and the monitors'
# authors say of them, to all digits that they print. The traces (examples of pypop) are too large here; a
# window of the one on 4 ranks is not: from a broadcast, which all leave together, calls 444 to 500.
bats_require_minimum_version 1.5.0
load helpers

data=$ROOT/../shared/data/epoch

# need_data: the files beside the repository, or the test is skipped.
need_data() {
	[ -e "$data/totals.txt" ] || skip "the traces of EPOCH are not in ${data#"$ROOT"/}"
}

# run_time OPTION... GRAPH, in seconds with nine decimals.
run_time() {
	lp-replay -F json "$@" | jq .run_time_ns | sed 's/.\{9\}$/.&/'
}

ideal_machine() {
	printf 'machine\nbandwidth infinite\ncollective all constant\nnodes %d\nmapping 1\n' "$1"
}

@test "EPOCH: a window of its trace has the pairs of the monitor's series" {
	lp-import -f prv "$fixtures/epoch/window.prv" >t.graph
	ideal_machine 4 >machine
	# The first pair begins before the window.
	lp-replay -n machine --eager 32k --monitor 0 -F table t.graph | tail -n +3 | cut -f3-6 |
		diff - "$fixtures/epoch/window.tsv"
}

@test "EPOCH: the run time on six machines is that of Dimemas" {
	need_data
	for n in 2 4; do
		lp-import -f dim "$data/epoch_${n}proc.dim.gz" >$n.graph
	done
	grep -v '^#' "$data/totals.txt" >totals
	[ "$(wc -l <totals)" -eq 12 ]
	while read -r name n _; do
		echo "$name $n $(run_time -n "$data/$name-$n.cfg" --eager 32k $n.graph)"
	done <totals | diff - totals
}

@test "EPOCH: receives with wildcards find the same messages, each on its own communicator" {
	need_data
	lp-import -f dim "$data/epoch_4proc.dim.gz" >4.graph
	zcat "$data/epoch_4proc.dim.gz" | awk -F: -v OFS=: 'NR == 1 { sub(/,[0-9]+:/, ",0:") }
		$1 == 3 { $4 = $7 = -1 } $1 != "s" { print }' |
		lp-import -f dim >any.graph
	diff <(lp-dump -k message any.graph | sort) <(lp-dump -k message 4.graph | sort)
	[ "$(run_time -n "$data/eth1bus-4.cfg" --eager 32k any.graph)" = 7.232386676 ]
}

@test "EPOCH: the run time by protocol is that of Dimemas" {
	need_data
	for n in 2 4; do
		lp-import -f dim "$data/epoch_${n}proc.dim.gz" >$n.graph
	done
	grep -v '^#' "$data/protocol.txt" >totals
	[ "$(wc -l <totals)" -eq 8 ]
	while read -r n protocol; do
		case ${protocol% *} in
		'[]') option=() ;;			# as the calls tell
		'[-F]') option=(--eager 8191M) ;;	# all eager
		'[-S 32k]') option=(--eager 32k) ;;
		'[-S 0]') option=(--eager 0) ;;		# all rendezvous
		esac
		echo "$n ${protocol% *} $(run_time -n "$data/ideal-$n.cfg" "${option[@]}" $n.graph)"
	done <totals | diff - totals
}

@test "EPOCH: end and useful time of each rank, recorded and ideal, equal the Paraver traces" {
	need_data
	for n in 1 2 4; do
		ideal_machine $n >machine
		lp-import -f prv "$data/epoch_${n}proc.prv.gz" >$n.graph
		lp-replay -n machine --eager 32k $n.graph >t.out
		# What a task computed in state Running; state 2 is that of one that does not exist yet.
		zcat "$data/epoch_${n}proc.prv.gz" | awk -F: '$1 == 1 && $8 == 2 { none[$4 - 1] += $7 - $6 }
			END { for (r in none) print r, none[r] }' >absent
		/usr/bin/python3 - $n <<-'END'
			import msgpack, struct, sys
			def column(b):
			    n = len(b) // ranks
			    return [int.from_bytes(b[i * n:(i + 1) * n], "little") for i in range(ranks)]
			ranks = int(sys.argv[1])
			absent = dict(map(int, line.split()) for line in open("absent"))
			body = dict(msgpack.Unpacker(open("t.out", "rb")))
			replay, useful = body["replay"], body["useful"]
			for r, (end, running) in enumerate(zip(column(replay["recorded_finish"]), column(useful["running"]))):
			    print(ranks, "orig", r, end, running)
			for r, (end, useful) in enumerate(zip(column(replay["finish"]), column(replay["useful"]))):
			    print(ranks, "ideal", r, end, useful - absent.get(r, 0))
		END
	done >got
	diff got <(grep -v '^#' "$data/finish.txt")
}

@test "EPOCH: all 1874 pairs of rank 0 have the efficiencies of the monitor's series" {
	need_data
	lp-import -f prv "$data/epoch_4proc.prv.gz" >t.graph
	ideal_machine 4 >machine
	[ "$(wc -l <"$data/monitor-4proc-rank0.txt")" -eq 1875 ]
	lp-replay -n machine --eager 32k --monitor 0 -F table t.graph | tail -n +2 | cut -f2- | tr '\t' ' ' |
		diff - <(tail -n +2 "$data/monitor-4proc-rank0.txt")
}

@test "EPOCH: the metrics are those that basicanalysis printed" {
	need_data
	make -s -f "$ROOT/workflows/efficiency.mk" RUNS="$(echo "$data"/epoch_[124]proc.prv.gz)" OUT=factors >table
	diff factors/modelfactors.csv "$data/modelfactors.csv"
}
