# SPDX-License-Identifier: BSD-3-Clause
# Regions: the names that programs give to their parts.
bats_require_minimum_version 1.5.0
load helpers

RUN="mpirun --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none"

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	local apps=$ROOT/tests/apps
	mpicc -O2 -o named "$apps/named.c" -lpthread
	mpicc -O2 -fno-pie -no-pie -o fixed "$apps/named.c" -lpthread
	mpicc -O2 -o other_tools "$apps/other_tools.c" -ldl
	mpif90 -O2 -o named_f90 "$ROOT/record/longpole.f90" "$apps/named.f90" 2>/dev/null
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# recorded OPTION... -- COMMAND...: as t.trace, checked; its status is 0, or FAILS is set
recorded() {
	local status=0
	rm -rf run
	lp-record -o run "$@" >out 2>err || status=$?
	[ "$((status != 0))" -eq "${FAILS:-0}" ]
	lp-merge --partial run >t.trace 2>merge.err
	trace.py check run/rank.* t.trace
}

# events [TRACE]: of each thread, in order, the names that begin, and - for each end
events() {
	lp-dump -k region_name,regions "${1:-t.trace}" | jq -nr 'reduce inputs as $m ({}; if $m.kind == "region_name" then
		.names[$m.number | tostring] = $m.name else .names as $names | .of["\($m.location) \($m.worker // 0)"] +=
		[$m.region[] | if . == 0 then "-" else $names[tostring] end] end) | .of | to_entries | sort_by(.key)[] |
		"\(.key | sub(" 0$"; "") | sub(" .*"; "w")): \(.value | join(" "))"'
}

# all_regions TRACE: time and name of each begin and end, sorted
all_regions() {
	lp-dump -k region_name,regions "$1" | jq -nr 'reduce inputs as $m ({}; if $m.kind == "region_name" then
		.names[$m.number | tostring] = $m.name else .names as $names | .of += [range($m.count) as $i |
		"\($m.time[$i]) \($names[$m.region[$i] | tostring] // "-")"] end) | .of[]' | sort
}

@test "a program's regions are in the trace, from MPI_Init on, also of one at a fixed address" {
	local program
	for program in named fixed; do
		recorded -- $RUN -n 2 "$BATS_FILE_TMPDIR/$program" steps
		events >told
		diff told - <<-END
			0: main step compute - exchange - - step compute - exchange - - -
			1: main step compute - exchange - - step compute - exchange - - -
		END
		refute grep -q region merge.err
	done
	# The barriers lie in their regions; main has begun with MPI_Init and lasts to the end.
	lp-dump t.trace | jq -se '([.[] | select(.kind == "call" and .call == "MPI_Barrier")]) as $barriers |
		[.[] | select(.kind == "regions")] | length == 2 and all(.[]; . as $r |
		[$barriers[] | select(.rank == $r.location)] as $own | $own | length == 3 and
		$r.time[4] <= .[0].enter_ns and $r.time[5] >= .[0].leave_ns and
		$r.time[10] <= .[1].enter_ns and $r.time[11] >= .[1].leave_ns)'
	# Without lp-record the program runs as well.
	$RUN -n 2 "$BATS_FILE_TMPDIR/named" steps
}

@test "Fortran and MPI_Pcontrol name regions; levels 0 and 1 still pause, and regions are no calls" {
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named_f90"
	[ "$(events)" = "0: step in Fortran - - step in Fortran - - MPI_Pcontrol(7) -" ]
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named" levels
	[ "$(events)" = "0: main MPI_Pcontrol(5) MPI_Pcontrol(12) - - -" ]
	lp-dump -k call t.trace | jq -se '[.[] | select(.call == "MPI_Pcontrol") | .tag] == [5, 0, 1, -12, 2, -5]'
	# As with IPM; what the caller did not say is no region.
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named" ipm
	[ "$(events)" = "0: main assembly assembly, part 2 - - -" ]
	refute grep -q region merge.err
	lp-dump run/rank.0 | grep -q '"name":"no region","unsure":true'
}

@test "regions left by longjmp, exit and a kill are closed, and lp-merge says so" {
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named" leave
	[ "$(events)" = "0: main outer inner innermost - - - -" ]
	grep -q '2 regions were left without their end.*the first is innermost of rank 0' merge.err
	grep -q '1 ends of regions that had not begun: left out' merge.err
	lp-dump -k regions t.trace | jq -e '.left == 3 and .time[4] == .time[6]'
	local how
	for how in exit kill; do
		FAILS=1 recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named" $how
		[ "$(events)" = "0: main last - -" ]
		grep -q '2 regions were left without their end.*the first is last of rank 0' merge.err
		lp-dump t.trace | jq -se '(.[] | select(.kind == "run") | .run_ns) as $last |
			.[] | select(.kind == "regions") | .left == 2 and .time[3] <= $last and .time[2] == .time[3]'
	done
}

@test "a million regions: none is lost, in any form of the trace" {
	recorded -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" fast 500000
	lp-dump -k regions t.trace | jq -s 'map({location, count, left: (.left // 0)}) | group_by(.location) |
		map([length, (map(.count) | add), (map(.left) | add)])' >told
	jq -e 'map(.[1:]) == [[1000002, 1], [1000002, 1]]' told
	# In pieces, so that readers need not hold all.
	jq -e 'all(.[]; .[0] > 10)' told
	lp-merge -o shards --shards 2 run
	trace.py check shards
	lp-dump -k regions,region_name shards | sort | cmp - <(lp-dump -k regions,region_name t.trace | sort)
	# Compressed while the program runs, in several segments.
	lp-record -z min -o small -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" fast 500000
	[ -e small/rank.0.0001 ]
	trace.py check small/rank.0*
	[ "$(cat small/rank.* | wc -c)" -lt "$(($(cat run/rank.* | wc -c) / 3))" ]
	lp-merge small | lp-dump -k regions | jq -se '(map(.count) | add) == 2000004 and (map(.left // 0) | add) == 2'
}

@test "at most 16384 names are kept; the others are one region, and one line says so" {
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/named" many 20000
	grep -q 'more than 16384 names of regions' err
	lp-dump -k region_name t.trace | jq -se 'length == 16384 and any(.[]; .name == "(other regions)")'
	lp-dump -k region_name,regions t.trace | jq -se '(.[] | select(.name == "(other regions)") | .number) as $other |
		[.[] | select(.kind == "regions") | .region[]] | length == 40002 and
		([.[] | select(. == $other)] | length) == 20000 - 16382 and ([.[] | select(. == 0)] | length) == 20001'
	refute grep -q 'had not begun' merge.err
}

@test "threads have regions of their own, also while the program ends" {
	recorded -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" threads
	events | sed -E 's/task (red|blue|own) - - ?/\1 /g; s/(red |blue |own ){1000}/\1/g' | sort >told
	diff told - <<-END
		0: main own -
		0w: blue 
		0w: red 
		1: main own -
		1w: blue 
		1w: red 
	END
	lp-graph t.trace 2>/dev/null | lp-critpath -F text | grep -q '2 ranks'
	recorded -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" on
	lp-dump -k regions t.trace | jq -se 'map(select(.worker)) | length > 0 and all(.[]; .count > 0 and .worker < 10000)'
	refute grep -q 'ended early' merge.err
}

@test "the path goes through the region of a thread that is waited for; such threads are no locations" {
	recorded --switches -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" late 4
	lp-dump t.trace >text
	refute grep -q '"kind":"location"' text
	lp-dump -k regions t.trace | jq -se 'map(select(.worker)) | length == 8 and all(.[]; .worker < 100)'
	lp-graph t.trace 2>/dev/null | lp-critpath --by region -F json | jq '[.regions[] | {key: .region, value: .path_s}] | from_entries' >by
	# Without records of switches it is not known that the first thread waited.
	if ! lp-dump -k switched t.trace | jq -se 'any(.[]; .worker and (.clock | not))'; then skip "the kernel refuses records of switches"; fi
	jq -e '.late > 0.1' by
}

@test "a thread that only has regions hides no deadlock" {
	run -1 --separate-stderr lp-record --stuck-after 2 --stuck-kill -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" hang
	[[ "$stderr" == *"deadlock: 0 waits in MPI_Recv from 1"* ]]
	lp-dump -k region_name run/rank.0 | grep -q idle
}

@test "lp-merge --follow has the same regions as lp-merge afterwards" {
	local what
	for what in 'steps 100' threads; do
		rm -rf run
		mkdir run
		lp-merge --follow run >live 2>live.err &
		local follower=$!
		lp-record -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/named" $what
		wait $follower
		trace.py check live
		refute grep -q 'one more thread' live.err
		lp-merge run >t.trace
		cmp <(all_regions live) <(all_regions t.trace)
	done
}

@test "what programs tell other tools: the protocols of Kokkos, NVTX and ITT" {
	recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/other_tools"
	[ "$(cat out)" = "0 1 1 0" ]
	events >told
	diff told - <<-END
		0: KOKKOS_TOOLS_LIBS kernel - - KOKKOS_PROFILE_LIBRARY kernel - - plain wïde - - with colour - registered - a task -
	END
	# The user's own tools, or none.
	recorded --regions own -- $RUN -n 1 "$BATS_FILE_TMPDIR/other_tools"
	[ -z "$(events)" ]
	INTEL_LIBITTNOTIFY64=/none NVTX_INJECTION64_PATH=/none KOKKOS_TOOLS_LIBS=/none recorded -- $RUN -n 1 "$BATS_FILE_TMPDIR/other_tools"
	[ "$(events)" = "0: KOKKOS_PROFILE_LIBRARY kernel - -" ]
}

@test "libraries whose functions name regions: LIKWID, PETSc and Caliper, which still do their work" {
	mpicc -shared -fPIC -o libnames.so "$ROOT/tests/apps/names_library.c"
	mpicc -o names "$ROOT/tests/apps/names.c" -L. -Wl,-rpath,"$PWD" -lnames
	recorded -- $RUN -n 1 ./names
	[ "$(events)" = "0: likwid - caliper a phase - - Main Stage assembly (a stage) - - -" ]
	[ "$(tr '\n' ' ' <out)" = "start likwid stop likwid begin caliper begin a phase end a phase end caliper register push 0 push 1 push 300 pop pop pop " ]
	recorded --regions own -- $RUN -n 1 ./names
	[ -z "$(events)" ]
	[ "$(wc -l <out)" -eq 13 ]
}

@test "LIKWID itself names its regions" {
	[ -e /usr/include/likwid-marker.h ] || skip "needs likwid"
	cat >marked.c <<-END
		#define LIKWID_PERFMON
		#include <likwid-marker.h>
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			LIKWID_MARKER_INIT;
			LIKWID_MARKER_START("sweep");
			LIKWID_MARKER_STOP("sweep");
			LIKWID_MARKER_CLOSE;
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o marked marked.c -llikwid
	recorded -- $RUN -n 1 ./marked
	[ "$(events)" = "0: sweep -" ]
}

@test "Kokkos itself names its kernels and regions" {
	[ -e /usr/include/trilinos/Kokkos_Core.hpp ] || skip "needs libtrilinos-kokkos-dev"
	mpicxx -I/usr/include/trilinos -o kokkos "$ROOT/tests/apps/kokkos.cpp" -ltrilinos_kokkoscore
	recorded -- $RUN -n 1 ./kokkos
	[ "$(events)" = "0: solve fill - norm - -" ]
}
