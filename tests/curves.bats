# SPDX-License-Identifier: BSD-3-Clause
# Curves of several runs in one figure: the numbers behind them, and the figures.
bats_require_minimum_version 1.5.0
load helpers

flow() {
	make -s -f "$ROOT/workflows/$1.mk" "${@:2}"
}

# Each of two ranks sends a message to its own one of the other two, after so much computing.
pairs() {
	{
		echo 'trace ranks=4'
		for r in 0 1; do
			echo "$r MPI_Send $1 $(($1 + 10)) comm=1 peer=$((r + 2)) tag=0 sent=1000"
			echo "$((r + 2)) MPI_Recv $1 $(($1 + 10)) comm=1 peer=$r tag=0 received=1000"
		done
	} | pack | lp-graph 2>/dev/null
}

@test "buses, links, nodes and CPUs change run times as computed by hand, in one figure each" {
	pairs 10000 >a.graph
	pairs 30000 >'b;c.graph'
	printf 'machine\nbandwidth 100 MB/s\nnodes 8\nlatency 1 us\neager all\nmapping 1\n' >machine
	flow influence GRAPHS='a.graph b;c.graph' NETWORK=machine BUSES='1 2 0' LINKS='1 0' NODES='1 2 8' CPUS='1 2' \
		PER_NODE=2 OUT=out FIGURES='svg pdf' >shown
	cmp shown out/influence.tsv
	# Computing, a latency of 1 us and 10 us on the wire, and with one bus the other's 10 us before them.
	cut -f1-4 out/influence.tsv | grep -E '^(buses|links)' | diff - <(cut -c3- <<-'END'
		  buses	1	a	0.000031000
		  buses	1	b?c	0.000051000
		  buses	2	a	0.000021000
		  buses	2	b?c	0.000041000
		  buses	0	a	0.000021000
		  buses	0	b?c	0.000041000
		  links	1	a	0.000021000
		  links	1	b?c	0.000041000
		  links	0	a	0.000021000
		  links	0	b?c	0.000041000
	END
	)
	# On one node nothing moves over the network; 8 nodes are more than ranks.
	[ "$(awk -F'\t' '$1 == "nodes" { print $2, $3, $4 }' out/influence.tsv)" = "$(printf '%s\n' \
		'1 a 0.000010000' '1 b?c 0.000030000' '2 a 0.000021000' '2 b?c 0.000041000')" ]
	# Two ranks on a node of one CPU compute one after the other.
	[ "$(awk -F'\t' '$1 == "cpus" && $3 == "a" && $2 == 1 { print ($4 > 0.00003) }' out/influence.tsv)" = 1 ]
	[ "$(awk -F'\t' '$1 == "cpus" && $3 == "a" && $2 == 2 { print $4, $5 }' out/influence.tsv)" = '0.000021000 1.000000' ]
	for k in buses links nodes cpus; do
		grep -q '>b?c<' out/$k.svg
		[ -s out/$k.pdf ]
	done
	run -2 --separate-stderr flow influence OUT=none
	[[ "$stderr" == *'influence needs a run or PATTERNS or PROGRAMS: '* ]]
	run -2 --separate-stderr flow influence PROGRAMS=nonesuch OUT=none
	[[ "$stderr" == *'nonesuch is none of lammps, hpcc'* ]]
}

@test "tolerance curves equal lp-replay, with all breaks, also in figures of several runs" {
	pairs 100000 >a.graph
	pairs 200000 >b.graph
	printf 'machine\nmodel loggp\nbandwidth 1 GB/s\nnodes 4\nlatency 1 us\n' >machine
	flow tolerance GRAPHS='a.graph b.graph' NETWORK=machine PERCENTS=2,10 OUT=out FIGURES='svg png' >shown
	cmp shown out/tolerance.txt
	# The run takes 100 + 1 + 1 us; 20 % more, which is twice 10, are 20.4 us of latency more.
	[ "$(awk -F'\t' '$1 == "1 a" && $2 == "latency"' out/curves.tsv)" = "$(printf '1 a\tlatency\t%s\n' \
		$'1\t0\t0.000102\tcurve' $'21.4\t20\t0.0001224\tcurve')" ]
	grep -c $'^2 b\tgap\t' out/curves.tsv | grep -qx 2
	for k in latency gap overhead; do
		grep -q '>1 a<' out/$k.svg
		grep -q '>2 b<' out/$k.svg
		[ -s out/$k.png ]
	done
	printf 'links 1 1\n' >>machine
	flow tolerance GRAPHS='a.graph b.graph' NETWORK=machine OUT=out >shown
	cut -f6 out/curves.tsv | sort -u | diff - <(printf 'is\npoints\n')
}

@test "parts of runs that choose their counts are found, and only alike parts are compared" {
	# one NAME POLLS ROUNDS: rounds of calls at site 3 between those at 2 and 4, polls at site 5 between 4 and 6
	one() {
		{
			echo 'trace ranks=1'
			echo 'module module=0 path=/bin/my,app build_id=00'
			for s in 1 2 3 4 5 6; do echo "site site=$s offset=$((100 + s)) call=MPI_Barrier module=0"; done
			t=0
			call() { echo "0 MPI_$1 $((t += 1000)) $((t + 10)) comm=2 site=$2"; }
			call Barrier 1; call Barrier 3; call Barrier 3; call Barrier 2
			for ((i = 0; i < $3; i++)); do call Barrier 3; done
			call Barrier 4
			for ((i = 0; i < $2; i++)); do call Iprobe 5; done
			call Barrier 6
		} | pack | lp-graph 2>/dev/null >$1
	}
	one a 2 3
	one b 5 7
	"$BATS_TEST_DIRNAME/../workflows/parts" a a b >shown
	cut -f1,3,5- shown | sed 1d | diff - <(printf '%s\t/bin/my,app+%d\t/bin/my,app+%d\t%d\t%d\t%s\t%.9f\t%.9f\t%.9f\n' \
		1 101 102 3 3 yes 3e-6 3e-6 3e-6 2 102 104 4 8 no 4e-6 4e-6 8e-6 3 104 106 3 6 polls 3e-6 3e-6 6e-6)
	run -2 --separate-stderr "$BATS_TEST_DIRNAME/../workflows/parts" a b b
	[[ "$stderr" == 'parts: the replayed run is not the recorded one' ]]
}

@test "programs on two planted networks are predicted from each other, both ways" {
	# net NAME COMMAND...: in place of a launcher; what lp-measure and lp-record would leave on that network
	cat >net <<-'END'
		#!/usr/bin/env bash
		set -eu -o pipefail
		latency=10000 each=1
		[ "$1" = near ] || { latency=100000 each=10; }
		[ "$5" != lp-measure ] || shift 3	# the network is measured as programs are, recorded
		case $2 in
		lp-measure)
			{
				echo measurement
				echo mpirun ranks=2 sync=none
				for m in 0 1000 10000; do
					for f in "Pingpong $((3000 + latency + each * m))" 'Send 1000' 'Recv 2000'; do
						read -r name ns <<<"$f"
						echo "samples name=MPI_$name function=MPI_$name role=function guideline=\"\" number=0" \
							"bytes=$m volume=$m part=0 time=$((16 * ns))"
					done
				done
			} | pack >"${!#}" ;;
		lp-record)
			mkdir "$4"
			way=$((latency + each * $6))
			there=$((1001000 + way + 2000))
			back=$((there + 500000 + 1000 + way + 2000))
			pack >"$4/rank.0" <<-EOF
				raw ranks=2 rank=0 run=7
				0 MPI_Init 0 1000
				0 MPI_Send 1000000 1001000 comm=1 peer=1 tag=0 sent=$6
				0 MPI_Recv 1001000 $back comm=1 peer=1 tag=0 received=$6
				0 MPI_Finalize $back $((back + 1000))
			EOF
			pack >"$4/rank.1" <<-EOF
				raw ranks=2 rank=1 run=7
				0 MPI_Init 0 1000
				0 MPI_Recv 2000 $there comm=1 peer=0 tag=0 received=$6
				0 MPI_Send $((there + 500000)) $((there + 501000)) comm=1 peer=0 tag=0 sent=$6
				0 MPI_Finalize $((there + 501000)) $((back + 1000))
			EOF
			;;
		esac
	END
	chmod +x net
	printf '# NAME COMMAND\nsmall ./app 100\nlarge ./app 8000\n' >programs
	flow predict APPS=programs HERE='./net near' THERE='./net far' OUT=out RUNS=2 MPIRUNS=1 FIGURES='svg png' >shown
	cmp shown out/predicted.txt
	[ "$(grep -c $'\t0.00\t' out/predicted.tsv)" -eq 4 ]
	# From leaving MPI_Init on: two messages of 3 + 10 us and 1 ns a byte, and 500 and 999 us computed.
	[ "$(cut -f1-6 out/predicted.tsv | sed -n 2,3p)" = "$(printf 'large\there\tthere\t%s\nlarge\tthere\there\t%s' \
		$'0.001541\t0.001865\t0.001865' $'0.001865\t0.001541\t0.001541')" ]
	grep -qx $'all\tboth ways\t4\t0.00\t0.0\t0.00' shown
	# Of a measured time that is another than the record's own replay says, both columns tell it.
	cut -f9,10 out/predicted.tsv | sed 1d | sort -u | diff - <(printf '0.0\t0.00\n')
	grep -q 'right' out/predicted.svg
	[ -s out/predicted.png ]
	# A machine that is wrong by 100 us a message is seen.
	sed -i 's/100000 each=10/200000 each=10/' net
	sed -i 's/way=\$((latency + each \* \$6))/&; [ "$1" = near ] || way=$((way - 100000))/' net
	rm -r out
	flow predict APPS=programs HERE='./net near' THERE='./net far' OUT=out RUNS=1 MPIRUNS=1 >shown
	awk -F'\t' '$1 == "all" && $2 == "here to there" { exit !($4 > 10) }' shown
	# One run has no spread.
	[ "$(cut -f9 out/predicted.tsv | sed 1d | sort -u)" = - ]
	[ "$(awk -F'\t' '$1 == "all" { print $5 }' shown | sort -u)" = - ]
	run -2 --separate-stderr flow predict OUT=none
	[[ "$stderr" == *'predict needs APPS and HERE and THERE: '* ]]
}
