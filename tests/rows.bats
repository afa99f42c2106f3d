# SPDX-License-Identifier: BSD-3-Clause
# What lp-record notes of each call, against what it noted before: tests/golden.d/texts.
bats_require_minimum_version 1.5.0
load helpers

# rows: of a stream as text the rows of each rank, without times and sites; a request by the call that it is of. How
# often a poll fails is chance, so that these are left out.
rows() {
	awk '/^[0-9]+ / {
		n = ++count[$1]; name = $2 == "+" ? name : $2; call[$1, n] = name; line = $1 " " $2
		for (i = 3; i <= NF; i++)
			if ($i ~ /^request=/ && $0 !~ /request_at=/)
				line = line " of=" call[$1, n - substr($i, 9)]
			else if ($i !~ /^[0-9]+$|^site=/)
				line = line " " $i
		if (name !~ /test|Test|probe|get_status/)
			print line
	}' | sort -s -n -k1,1
}

@test "programs that make each kind of call have the rows that they had" {
	for p in kinds more; do
		mpicc -w -g -O1 -o $p "$ROOT/tests/apps/$p.c"
		lp-record -o $p.run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./$p >out 2>err || [ $p = kinds ]	# which ends with status 7
		lp-merge $p.run >$p.trace 2>merge.err
		rows <"$ROOT/tests/golden.d/texts/$p.txt" >before
		[ "$(wc -l <before)" -gt 190 ]
		trace.py text $p.trace | rows | diff before -
	done
}
