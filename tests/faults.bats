#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Hostile and damaged input: every tool ends in the right result or in a line and status 2, in time and
# memory that follow from the size of the input.

load helpers

READERS=("lp-dump" "lp-dump -F table" "lp-graph" "lp-critpath" "lp-critpath -F text" "lp-critpath -F json"
	"lp-critpath --join -F json" "lp-gain --slack" "lp-imbalance" "lp-imbalance -F json" "lp-replay" "lp-tolerance --sites"
	"lp-replay --regions -F table" "lp-export -f prv -o out" "lp-export -f perfetto" "lp-export -f folded" "lp-export -f csv" "lp-export -f extrap" "lp-export -f waits" "lp-merge --partial" "lp-merge --partial -s clc"
	"lp-fit" "lp-guidelines" "lp-import -f dim")

# With a sanitizer or an emulator address space says nothing.
memory() {
	keeps_memory || echo -m
}

@test "known hostile streams: every reader fails cleanly, in 64 MB and 64 times the input" {
	for text in "$fixtures"/faults/*.txt; do
		pack "$text" >"$(basename "$text" .txt)"
	done
	# Of other formats: a zero byte, a number below all others, more nodes than memory has room for, bytes of no text.
	printf '#DIMEMAS:"x":1,0:1(1),0\n1:0:0:1.0\n\0\0\0garbage\n1:0:0:2.0\n' >nul.dim
	printf '#DIMEMAS:"x":1,0:1(1),0\n20:0:0:50000001:-5000000000\n1:0:0:1.0\n' >neg.dim
	printf 'machine\nnodes 100000000\nlatency 1 us\n' >nodes.cfg
	printf 'machine\nnodes 1000000000000000\n' >nodes2.cfg
	printf '\256rro\362am,u\nx,1,\377\377\177\nx,4,4<,4<1\350\377\371x\0\020\377\377,1.1\ny,1,3,\ny,' >bytes.csv
	for reader in "${READERS[@]}"; do
		echo "$reader"
		# shellcheck disable=SC2046,SC2086
		fuzz -n 0 -a $(memory) $(find . -maxdepth 1 -type f) -- $reader
	done
}

@test "a thousand mutations with valid hashes: every reader fails cleanly within that memory" {
	raw=$(stream good-raw) trace=$(stream good-threads)
	lp-graph "$trace" >graph 2>/dev/null
	lp-critpath graph >path
	lp-gain --path alone -F text graph >/dev/null
	for reader in "${READERS[@]}"; do
		echo "$reader"
		case $reader in
		*--join*) input=alone ;;
		lp-merge*) input=$raw ;;
		lp-graph) input=$trace ;;
		*-F?text | lp-dump*) input=path ;;
		*) input=graph ;;
		esac
		# shellcheck disable=SC2046,SC2086
		fuzz -n 64 $(memory) "$input" -- $reader
	done
}

@test "a stage that drops all hashes, as the format allows, does not break the next stage" {
	# shellcheck disable=SC2016
	sed -n '/^import sys, msgpack/,/^\.Ed/p' "$ROOT/base/stream/trace.5" | sed '/^\.Ed/d' >filter.py
	for kind in nothing site; do
		/usr/bin/python3 filter.py $kind <"$(stream good-small)" | lp-graph >graph 2>/dev/null
		trace.py check graph
		lp-critpath graph >path
		trace.py check path
		lp-graph "$(stream good-small)" 2>/dev/null | lp-critpath | lp-dump -F table >expected
		lp-dump -F table path >found
		[ $kind = site ] || cmp expected found
	done
}

@test "a location that nothing defines has no part in the run, and no piece of the path" {
	cat >third.py <<-'END'
		import sys, msgpack
		out = msgpack.Packer()
		for kind, body in msgpack.Unpacker(sys.stdin.buffer, max_buffer_size=2**31):
		    for key in ("xxh3", "hashed", "index"):
		        body.pop(key, None)
		    if kind == "run":
		        body["locations"] = 3
		    if kind == sys.argv[1]:
		        body["location"] = bytes([2]) + body["location"][1:]
		    sys.stdout.buffer.write(out.pack([kind, body]))
	END
	printf '%s\n' 'graph ranks=2' '0 MPI_Init 0 100' '1 MPI_Init 0 100' '0 MPI_Finalize 200 300' '1 MPI_Finalize 200 300' |
		pack >two.graph
	/usr/bin/python3 third.py none <two.graph >three.graph
	for tool in "lp-critpath -F json" "lp-critpath -F text" "lp-critpath --by step -F text" "lp-critpath --every 1 -F text" \
		"lp-gain -F json" "lp-imbalance -F json" "lp-imbalance --by rank" "lp-replay -F json" "lp-tolerance" "lp-export -f csv"; do
		cmp <($tool two.graph 2>&1) <($tool three.graph 2>&1)
	done
	lp-critpath three.graph | lp-report >page
	lp-gain --path path -F text two.graph >t.text
	/usr/bin/python3 third.py segments <path >bad.path
	run -2 --separate-stderr lp-critpath --join -F json bad.path
	[[ "$stderr" == "lp-critpath: bad.path:"*": segments: location, kind, call or time is out of range" ]]
}

@test "what a call waited for until the end may be unknown, or a call that does not wait: then it is no wait" {
	for operation in MPI_Start MPI_Recv MPIX_Grecv; do
		sed "s/operation=MPI_Recv/operation=$operation/" "$fixtures/good-unended.txt" | pack | lp-graph 2>/dev/null >t.graph
		lp-imbalance -F json t.graph >$operation.json
		jq -e '.sums.hold' $operation.json
	done
	# Rank 0's 85 us, with those of rank 3 that waits in MPI_Ssend and of rank 2.
	[ "$(jq -c '[.wait_states[] | select(.count > 0) | [.name, .count]]' MPI_Recv.json)" = \
		'[["late_sender",1],["late_receiver",1],["wait_at_barrier",1]]' ]
	for operation in MPI_Start MPIX_Grecv; do
		[ "$(jq -c '[.wait_states[] | select(.count > 0) | [.name, .count]]' $operation.json)" = \
			'[["late_receiver",1],["wait_at_barrier",1]]' ]
	done
}

@test "a row's undefined site is unknown" {
	{
		echo 'trace ranks=1'
		echo 'site site=1 offset=16 function=f'
		echo '0 MPI_Init 0 +1 site=1'
		echo '0 MPI_Finalize 2 +1 site=4000000000'
	} | pack >t.trace
	lp-dump -k call t.trace | jq -s -e '[.[].site] == [1, 0] or [.[].site] == [1, null]'
}

@test "a site defined twice is refused, so that no stack is a part of itself" {
	{
		echo 'graph ranks=1'
		echo 'site site=1 offset=16'
		echo 'site site=2 offset=32'
		echo 'site site=3 stack=1,2'
		echo 'site site=2 stack=1'
		echo '0 MPI_Init 0 +1 site=3'
	} | pack >t.trace
	run -2 --separate-stderr lp-critpath -F text t.trace
	[[ "$stderr" == *"site: number 2 a second time" ]]
}

@test "a pipe may announce only as many ranks as it has bytes for" {
	{
		echo 'trace ranks=20000'
		for r in $(seq 0 3); do echo "$r MPI_Init 0 +1"; done
	} | pack >t.trace
	lp-graph <t.trace >t.graph 2>/dev/null
	lp-dump -k run t.graph | jq -e '.ranks == 20000'
	echo 'trace
run ranks=20000 locations=20000 run_ns=1' | pack >t.trace
	run -2 --separate-stderr lp-graph t.trace
	[[ "$stderr" == *"run: 20000 locations in a stream of "*" bytes" ]]
	cat t.trace | (! lp-graph)
}

@test "lp-merge --partial names at most twenty missing ranks" {
	printf 'raw ranks=5000 rank=0 run=7\n0 MPI_Init 0 +1\n' | pack >rank.0
	lp-merge --partial rank.0 2>said >t.trace
	[ "$(wc -l <said)" -eq 20 ]
	[[ "$(tail -1 said)" == *"of 4999 ranks in all"* ]]
}

@test "names of calls take time proportional to their number" {
	{
		echo 'trace ranks=1'
		seq 1 65000 | awk '{ print "call number=" $1 " name=MPI_Name_" $1 }'
		echo '0 ?7 0 +1'
	} | pack >t.trace
	within 20 lp-dump -k call t.trace >calls
	[ "$(wc -l <calls)" -eq 1 ]
}
