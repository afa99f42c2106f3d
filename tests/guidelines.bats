# SPDX-License-Identifier: BSD-3-Clause
# lp-guidelines, lp-measure, lp-nrep, lp-import. No test here depends on how fast anything is.
bats_require_minimum_version 1.5.0
load helpers

# subject NAME FUNCTION ROLE BYTES NS [PART [GUIDELINE]]: measured at NS in every mpirun, nearly
subject() {
	subjects+=("$(printf 'name=%s function=%s role=%s bytes=%s volume=%s part=%s guideline="%s" number=3 time=' \
		"$1" "$2" "$3" "$4" "$4" "${6:-0}" "${7:-}") $5")
}

# campaign R [KEY=VALUE...]: R mpiruns of the subjects, in 1.run and so on; no ties
campaign() {
	local r i line
	for r in $(seq "$1"); do
		echo measurement
		echo mpirun ranks=2 sync=none "${@:2}"
		i=0
		for line in "${subjects[@]}"; do
			echo "samples ${line% *}$((${line##* } + 13 * r + i++))"
		done
	done >all.txt
	awk '/^measurement/ { n++ } { print > (n ".txt") }' all.txt
	for r in $(seq "$1"); do
		pack "$r.txt" >"$r.run"
	done
}

# A Gather that is twice as slow as its mock-up at 8 bytes, and a control that is alike.
slow_gather() {
	subject MPI_Gather MPI_Gather function 8 2000
	subject MPI_Gather MPI_Gather function 64 3000
	subject MPI_Gather MPI_Gather control 8 2000
	subject MPI_Gather MPI_Gather control 64 3000
	subject Gather_as_Allgather MPI_Gather mockup 8 1000 0 "Gather <= Allgather"
	subject Gather_as_Allgather MPI_Gather mockup 64 4000 0 "Gather <= Allgather"
}

@test "statistics agree with R on 1000 random cases, and so do corrections" {
	"$ROOT/build/statistics" <"$ROOT/tests/reference/statistics.txt" >out
	grep -q '^1000 cases, 20 corrections' out
	"$ROOT/build/statistics" <"$ROOT/tests/reference/pairs.txt" >out	# signed ranks: p, centre and its interval
	grep -q '^0 cases, 0 corrections, 200 of pairs' out
}

@test "jobs in a fixed order: the published violation, both its p-values, and the control fails" {
	lp-import -f reprompi "$fixtures"/reprompi/run*.txt >m
	run -1 --separate-stderr lp-guidelines -c none -F json m
	[[ "$stderr" == *"A/A control failed"* ]]
	jq -e '.violations | length == 1' <<<"$output"
	jq -e '.violations[0] | .kind == "pattern" and .guideline == "Gather <= Allgather" and .bytes == 8 and
		(.p_value - 5.412544e-06 | fabs) < 1e-11 and (.ratio * 0.55075 - 0.722 | fabs) < 1e-5' <<<"$output"
	jq -e '.control.failed and (.control.p_value - 5.412544e-06 | fabs) < 1e-11' <<<"$output"
	run -1 --separate-stderr lp-guidelines -c none -t normal -F json m
	jq -e '(.violations[0].p_value - 9.13359e-05 | fabs) < 1e-10 and (.violations | length == 1) and
		(.control.p_value - 9.13359e-05 | fabs) < 1e-10' <<<"$output"
	run -1 --separate-stderr lp-guidelines -c none m
	[[ "$output" == *"FAILED"*"0.722"$'\t'"0.551"*"5.4e-06"$'\t'"9.13e-05"* ]]
}

@test "mock-ups and splits have the library's results on 1 to 5 ranks, for all types and counts" {
	for p in 1 2 3 4 5; do
		run -0 --separate-stderr ranks $p lp-measure --check
		[ "$output" = "896 results equal on $p ranks" ]
	done
	run -0 --separate-stderr ranks 3 lp-measure --check --root 2
}

@test "the list has all guidelines of the paper" {
	lp-measure --list | awk -F'\t' 'NF == 3 { print $1 }' | sort -nu >numbers
	seq 3 17 | diff - <(grep -x -E '[3-9]|1[0-7]' numbers)
	grep -q 'Scan <= Exscan+Reduce_local' <(lp-measure --list)
}

@test "a measurement goes through: function, control, mock-ups and splits, in any synchronisation" {
	for sync in dissemination barrier window; do
		for r in 1 2; do
			ranks 2 lp-measure -f Bcast,Barrier -s 8,64 -n 12 -S $sync --window 300 --seed $r -o $r.run 2>err
		done
		run -3 --separate-stderr lp-guidelines -F json 1.run 2.run	# two prove nothing
		jq -e '(.control | keys == ["failed", "p_value"]) and .verdict == "not decidable" and
			.confirmed == false and .violations == []' <<<"$output"
		lp-dump 1.run | jq -s -e 'map(select(.kind == "samples")) | map(.role) | sort |
			. == ["control", "control", "function", "function", "function", "mockup", "mockup", "mockup",
				"split"]' >/dev/null
		lp-dump 1.run | jq -s -e --arg sync $sync '.[1] | .sync == $sync and .ranks == 2 and .seed == 1' >/dev/null
	done
}

@test "the order of jobs follows from the seed" {
	for seed in 1 1 2; do
		ranks 2 lp-measure -f Bcast,Reduce,Gather -s 1,2,4 -n 1 --plain --seed $seed |
			lp-dump | jq -r 'select(.kind == "samples") | "\(.name) \(.bytes)"' >>"order.$seed"
	done
	cmp <(head -9 order.1) <(tail -9 order.1)
	run -1 cmp <(head -9 order.1) order.2
	cmp <(sort -u order.1) <(sort order.2)
}

@test "violations, their size and the tables are as expected" {
	slow_gather
	campaign 6
	run -1 --separate-stderr lp-guidelines -F json ./*.run
	jq -e '.violations == [{kind: "pattern", guideline: "Gather <= Allgather", bytes: 8,
		p_value: .violations[0].p_value, p_adjusted: .violations[0].p_adjusted,
		ratio: .violations[0].ratio}] and (.violations[0].ratio - 1.94902 | fabs) < 1e-5 and
		(.control.failed | not)' <<<"$output"
	# 1 monotony, 1 split, 2 patterns; 1/924 is the least p of 6 and 6
	jq -e '.violations[0] | (.p_value * 924 - 1 | fabs) < 1e-5 and
		(.p_adjusted - 4 * .p_value | fabs) < 1e-7' <<<"$output"
	run -1 --separate-stderr lp-guidelines -F tables ./*.run
	[[ "$output" == *"MPI_Gather"$'\t'"p"$'\t'* ]]
	[[ "$output" == *"monotony"$'\t'"0/1"*"pattern"$'\t'"1/1"* ]]
	lp-guidelines -F csv ./*.run >csv || [ $? = 1 ]
	[ "$(wc -l <csv)" = 5 ]
	lp-guidelines -F stream ./*.run >verdict || [ $? = 1 ]
	lp-dump verdict | jq -s -e 'map(select(.kind == "test")) | length == 4' >/dev/null
}

@test "monotony is judged, and of splits only the largest is reported" {
	subject MPI_Bcast MPI_Bcast function 16 1000
	subject MPI_Bcast MPI_Bcast function 32 1500
	subject MPI_Bcast MPI_Bcast function 64 90000
	subject MPI_Bcast MPI_Bcast function 128 50000
	campaign 6
	run -1 --separate-stderr lp-guidelines -c none -F csv ./*.run
	[ "$(grep ',1$' <<<"$output" | cut -d, -f1,2,5,7)" = "monotony,Bcast(n) <= Bcast(n+k),64,128
split,Bcast(n) <= k Bcast(n/k),64,32
split,Bcast(n) <= k Bcast(n/k),128,32" ]
}

@test "measured splits count, not calculated ones; 5 per cent are tolerated" {
	subject MPI_Bcast MPI_Bcast function 16 1000
	subject MPI_Bcast MPI_Bcast function 32 104000
	subject MPI_Bcast MPI_Bcast split 32 100000 16
	campaign 6
	run -0 --separate-stderr lp-guidelines -c none -F csv ./*.run
	subject MPI_Bcast MPI_Bcast function 64 106000
	subject MPI_Bcast MPI_Bcast split 64 100000 16
	campaign 6
	run -1 --separate-stderr lp-guidelines -c none -F csv ./*.run
	[[ "$output" == *"split,Bcast(n) <= k Bcast(n/k),MPI_Bcast,split,64,64,16,"*",1" ]]
}

@test "a difference below the margin is not a violation" {
	slow_gather
	campaign 6 barrier_spread=1500
	run -3 --separate-stderr lp-guidelines ./*.run
	[[ "$output" == *"up to 1.500 us do not count"*$'\t1.500\tGather <= Allgather'*"NOT DECIDABLE" ]]
	run -3 --separate-stderr lp-guidelines -F json ./*.run
	jq -e '.verdict == "not decidable" and .violations == [] and (.undecided[] |
		select(.guideline == "Gather <= Allgather" and .bytes == 8) | .margin_us == 1.5)' <<<"$output"
	run -1 --separate-stderr lp-guidelines -m 900 ./*.run
	run -0 --separate-stderr lp-guidelines -m 1100 --difference 1.5 ./*.run
	[[ "$output" == *HELD ]]
	run -3 --separate-stderr lp-guidelines -m 1100 ./*.run
}

@test "a control that differs fails, in both directions" {
	for ns in 1000 3000; do
		subjects=()
		subject MPI_Gather MPI_Gather function 8 2000
		subject MPI_Gather MPI_Gather control 8 $ns
		campaign 6
		run -0 --separate-stderr lp-guidelines -F json ./*.run
		[[ "$stderr" == *"control failed"* ]]
		jq -e '.control.failed' <<<"$output"
	done
}

@test "too few mpiruns for the number of tests are reported" {
	slow_gather
	campaign 4
	run -3 --separate-stderr lp-guidelines -F json ./*.run
	[[ "$stderr" == *"4 mpiruns are too few for 4 tests; 5 are needed"* ]]
	jq -e '.undecided | length == 4 and all(.[]; .margin_us == null)' <<<"$output"
	run -1 --separate-stderr lp-guidelines -c none ./*.run
}

@test "each violated guideline has a picture, with stars" {
	slow_gather
	campaign 8
	run -1 lp-guidelines -p plots ./*.run
	[ "$(ls plots)" = Gather-Allgather.gp ]
	grep -q '^8 2.*"\*\*\*"' plots/Gather-Allgather.gp
	if command -v gnuplot; then
		(cd plots && gnuplot Gather-Allgather.gp && [ -s Gather-Allgather.svg ])
	fi
}

@test "a function without bytes has a picture, for one campaign and for sides" {
	command -v gnuplot || skip "gnuplot is not installed"
	subject MPI_Ibarrier MPI_Ibarrier function 0 2000
	subject MPI_Ibarrier MPI_Ibarrier control 0 2000
	subject Ibarrier_as_Iallreduce MPI_Ibarrier mockup 0 1000 0 "Ibarrier <= Iallreduce"
	campaign 8
	run -1 lp-guidelines -c none -p one ./*.run
	mkdir A B
	mv ./*.run A
	subjects[0]='name=MPI_Ibarrier function=MPI_Ibarrier role=function bytes=0 volume=0 part=0 guideline="" number=3 time= 500'
	campaign 8
	mv ./*.run B
	run -1 lp-guidelines -c none --compare -p two B A
	for folder in one two; do
		(cd $folder && gnuplot Ibarrier-Iallreduce.gp 2>err)
		[ ! -s $folder/err ]
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $folder/Ibarrier-Iallreduce.svg
	done
}

@test "bad campaigns are reported, with status 2" {
	run -2 --separate-stderr lp-guidelines nothing
	slow_gather
	campaign 1
	run -2 --separate-stderr lp-guidelines 1.run
	[[ "$stderr" == "lp-guidelines: a campaign of 1 mpirun: at least 2 are needed, better 20" ]]
	campaign 2
	sed 's/ranks=2/ranks=3/' 2.txt | pack >2.run
	run -2 --separate-stderr lp-guidelines 1.run 2.run
	[[ "$stderr" == *"an mpirun of 3 ranks; those before have 2" ]]
	for r in 1 2; do
		grep -v 'role=function bytes=8 ' $r.txt | pack >$r.run
	done
	run -2 --separate-stderr lp-guidelines 1.run 2.run
	[[ "$stderr" == *"at 8 bytes: no measurement of MPI_Gather" ]]
	for r in 1 2; do
		grep -v 'role=mockup bytes=64 ' $r.txt | pack >$r.run
	done
	run -2 --separate-stderr lp-guidelines 1.run 2.run
	[[ "$stderr" == *"Gather <= Allgather at 64 bytes: no measurement of Gather_as_Allgather" ]]
	pack 1.txt >1.run
	run -2 --separate-stderr lp-guidelines 1.run 2.run
	[[ "$stderr" == *"measured in 1 of 2 mpiruns" ]]
	sed 's/role=control/role=spy/' 1.txt | pack >2.run
	run -2 --separate-stderr lp-guidelines 1.run 2.run
	[[ "$stderr" == *"role is out of range" ]]
	run -2 --separate-stderr lp-guidelines 1.run 1.run "$(stream good-small)"
	[[ "$stderr" == *"not a measurement but a trace stream" ]]
	head -c 300 1.run >cut
	run -2 --separate-stderr lp-guidelines 1.run cut
}

@test "full disks are noticed" {
	slow_gather
	campaign 6
	for form in table tables json csv stream; do
		run -2 --separate-stderr bash -c "lp-guidelines -F $form ./*.run >/dev/full"
		[ -n "$stderr" ]
	done
	run -2 --separate-stderr bash -c "lp-import -f reprompi '$fixtures/reprompi/run1.txt' >/dev/full"
}

@test "text that ReproMPI did not write is refused with its line" {
	sed 's/runtime_sec/mean/' "$fixtures/reprompi/run1.txt" >summary
	run -2 --separate-stderr bash -c 'lp-import -f reprompi summary | cat; exit ${PIPESTATUS[0]}'
	[[ "$stderr" == "lp-import: summary: line 12: "*"runtime_sec are needed"* ]]
	grep -v nprocs "$fixtures/reprompi/run1.txt" >ranks.txt
	run -2 --separate-stderr bash -c 'lp-import -f reprompi ranks.txt >out'
	[[ "$stderr" == *"nprocs"* ]]
	{ cat "$fixtures/reprompi/run1.txt"; echo "MPI_Bcast 0 8 soon"; } >late
	run -2 --separate-stderr bash -c 'lp-import -f reprompi late >out'
	[[ "$stderr" == *"late: line "*": runtime_sec is not a time" ]]
	{ cat "$fixtures/reprompi/run1.txt"; echo "GL_Bcast_as_Magic 0 8 1e-6"; } >magic
	run -2 --separate-stderr bash -c 'lp-import -f reprompi magic >out'
	[[ "$stderr" == *"no guideline is known for GL_Bcast_as_Magic" ]]
	run -2 --separate-stderr lp-import -f osu late
}

@test "sizes may end in k, M or G, powers of 1024" {
	ranks 2 lp-measure -f Bcast -s 4k,8 -n 1 --plain | lp-dump | jq -s -e \
		'[.[] | select(.kind == "samples").bytes] | sort == [8, 4096]'
	run -2 --separate-stderr ranks 2 lp-measure -f Bcast -s 4q -n 1 --plain
	[[ "$stderr" == *"--sizes 4q: a whole number"* ]]
}

@test "lp-nrep keeps its limits, and lp-measure reads its table" {
	ranks 2 lp-nrep -f Bcast -s 8,64 --min 10 --max 10 --cov-mean 0.5 --cov-median 0.5 --rse 0.001 >nrep
	[ "$(cut -f1-4 nrep)" = "$(printf 'function\tm_bytes\tranks\tnrep\nMPI_Bcast\t8\t2\t10\nMPI_Bcast\t64\t2\t10')" ]
	ranks 2 lp-measure -f Bcast -s 8,64 -N nrep --plain | lp-dump | jq -s -e \
		'map(select(.kind == "samples") | .count) == [10, 10]' >/dev/null
	run -2 ranks 2 lp-measure -f Bcast -s 8,16 -N nrep --plain
	[[ "$output" == *"no repetitions for MPI_Bcast at 16 bytes"* ]]
	run -2 ranks 1 lp-measure -f Bcast -s 8 -N nrep --plain
	[[ "$output" == *"for 2 ranks, not 1"* ]]
	ranks 2 lp-nrep -f Bcast -s 8 --min 5 --step 5 --max 20 --rse 1e-9 --predictions 2 --steps steps >out
	[ "$(cut -f1,2,4,5 steps | tr '\t\n' '  ')" = "function m_bytes prediction nrep $(for i in 1 2; do
		printf "MPI_Bcast 8 $i %d " 5 10 20; done)" ]
	ranks 2 lp-nrep -f Bcast -s 8 --min 2 --rse 1 --predictions 1 | tail -1 | cut -f4,8 >out
	[ "$(cat out)" = "2"$'\t'"steady" ]
	run -2 lp-nrep --min 5 --max 2
}

@test "wrong options of lp-measure are reported" {
	run -2 lp-measure -n 0
	run -2 lp-measure -t complex
	run -2 ranks 1 lp-measure -f Nothing
	[[ "$output" == *"Nothing: no such function"* ]]
	run -2 ranks 1 lp-measure -f Bcast -s 6 -t double
	[[ "$output" == *"no multiple of the type's 8 bytes"* ]]
	run -2 ranks 1 lp-measure -f Bcast -c Reduce
	run -2 ranks 1 lp-measure --root 1
}

@test "the workflow measures two stages, resumes, and refuses other settings" {
	flow=(make -s -f "$ROOT/workflows/guidelines.mk" R=2 BUDGET=2 FUNCTIONS=Bcast SIZES=8,64)
	run -0 "${flow[@]}"
	[[ "$output" == *"mpirun 2 of 2 is finished"*"2 mpiruns of 2 ranks"*"NOT DECIDABLE"* ]]
	jq -e '.control and .violations == []' campaign/report.json
	cp campaign/1.run kept
	rm campaign/2.run
	run -0 "${flow[@]}"
	cmp kept campaign/1.run
	echo 'mine: Scan <= Exscan(in, out, n)' >mine	# which is wrong, and so it is measured
	run -2 make -s -f "$ROOT/workflows/guidelines.mk" CAMPAIGN=own R=2 BUDGET=2 GUIDELINES=mine SIZES=8
	[[ "$output" == *"Scan_as_mine at 8 bytes: the result differs from that of MPI_Scan"* ]]
	[ "$(cut -f1 own/nrep)" = "$(printf 'function\nMPI_Scan')" ]
	run -2 "${flow[@]}" FUNCTIONS=Reduce
	[[ "$output" == *"begun with other settings"*"Reduce"* ]]
}

# noisy R STAGE RATIO SEED: mpiruns of a Gather that takes RATIO times as long as its mock-up at 8 bytes and
# as long at 64, with noise that all share and some of their own; in STAGE.1.run and so on
noisy() {
	awk -v R="$1" -v stage="$2" -v ratio="$3" -v seed="$4" 'BEGIN {
		srand(seed)
		split("function mockup control", roles, " ")
		for (r = 1; r <= R; r++) {
			load = exp(rand())
			f = stage "." r ".txt"
			print "measurement\nmpirun ranks=2 library=A hosts=n stage=" stage " barrier_spread=9000" >f
			for (i = 1; i <= 3; i++)
				for (bytes = 8; bytes <= 64; bytes *= 8) {
					ns = 1e5 * load * (1 + 0.04 * (rand() - 0.5)) * (i == 1 && bytes == 8 ? ratio : 1) * (bytes == 64 ? 2 : 1)
					printf "samples name=%s function=MPI_Gather role=%s bytes=%d volume=%d part=0 guideline=\"%s\" number=3 time=%d\n",
						i == 2 ? "Gather_as_Allgather" : "MPI_Gather", roles[i], bytes, bytes,
						i == 2 ? "Gather <= Allgather" : "", ns >f
				}
			close(f)
		} }'
	for r in $(seq "$1"); do pack "$2.$r.txt" >"$2.$r.run"; done
}

@test "exactly the candidates that the second stage confirms are violated" {
	noisy 20 screen 1.3 1
	noisy 20 confirm 1.3 2
	run -1 --separate-stderr lp-guidelines -c none -F json ./*.run
	jq -e '.confirmed and .mpiruns == 20 and .confirming_mpiruns == 20 and .verdict == "violated" and
		(.violations | map(select(.kind == "pattern")) | length == 1) and
		(.violations[] | select(.kind == "pattern") | .guideline == "Gather <= Allgather" and
		.bytes == 8 and .ratio > 1.28 and .ratio < 1.32 and (.p_value * 1048576 - 1 | fabs) < 1e-5)' <<<"$output"
	noisy 20 confirm 1.0 3		# it was chance, or it is no more so
	run -0 --separate-stderr lp-guidelines -F json ./*.run
	jq -e '.violations == [] and .undecided == [] and .verdict == "held"' <<<"$output"
	rm confirm.*
	run -0 --separate-stderr lp-guidelines --pairs --slower 0.5 --difference 0.6 ./*.run
	[[ "$output" == *"no second campaign has confirmed"*HELD ]]
	run -3 --separate-stderr lp-guidelines --pairs --slower 0.5 ./*.run
}

@test "the second stage measures the candidates of the first" {
	noisy 20 screen 1.3 1
	lp-guidelines --pairs --candidates cand ./*.run >out || [ $? = 1 ]
	[ "$(cat cand)" = "$(printf 'function\tm_bytes\tranks\tnrep\nMPI_Gather\t8\t2\t4')" ]
	ranks 2 lp-measure -f Gather,Bcast -s 8,64 --confirm cand -o again 2>err
	lp-dump again | jq -s -e '(.[1].stage == "confirm") and (map(select(.kind == "samples")) |
		(map(.role) | sort == ["control", "function", "mockup", "mockup", "mockup"]) and
		(map(.bytes) | unique == [8]))' >/dev/null
	noisy 20 screen 0.9 1
	run -0 --separate-stderr lp-guidelines --pairs --candidates cand ./*.run
	[[ "$stderr" == *"no candidates"* ]]
}

@test "mpiruns of another library, host, root or type are not repetitions" {
	noisy 3 screen 1.3 1
	cp screen.3.txt third
	for other in library=B hosts=m root=1 type=int sync=window; do
		sed "s/ ${other%%=*}=[^ ]*//; s/^mpirun/& $other/" third | pack >screen.3.run
		run -2 --separate-stderr lp-guidelines ./*.run
		[[ "$stderr" == "lp-guidelines: ./screen.3.run:"*" ${other%%=*}"* ]]
		[ -z "$output" ]
	done
}

@test "under another library's launcher nothing is measured" {
	for command in 'lp-measure -f Bcast -s 8' 'lp-nrep -f Bcast -s 8'; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr env PMI_SIZE=4 PMI_RANK=0 $command
		[ -z "$output" ]
		[[ "$stderr" == *": PMI_SIZE is 4, but MPI knows of 1 rank: the launcher belongs to another MPI library" ]]
		# shellcheck disable=SC2086
		run -2 --separate-stderr env PMI_SIZE=4 PMI_RANK=3 $command
		[ -z "$stderr$output" ]
	done
	ranks 1 lp-measure -f Bcast -s 8 -n 1 >one 2>/dev/null
	if command -v mpirun.mpich; then
		run -2 mpirun.mpich -n 2 lp-measure -f Bcast -s 8
	fi
}

@test "built-in guidelines written in a file have the same results, on 1 to 5 ranks" {
	cat >mine <<-'END'
		# the built-in ones once more
		mine: Gather <= Allgather(in, out, block)
		mine: Allgather <= Gather(in, out, block) root (p - 1) + Bcast(out, out, n) root (p - 1)
		mine: Scatter <= Copy(in, a, n) + Bcast(a, a, n) + Copy(a[rank * block], out, block)
		mine: Bcast <= Copy(in, a, n) + Scatter(a, b, ceil(n, p))
		  + Allgather(b, a, ceil(n, p))		# it goes on
		  + Copy(a, out, n)
		scatters: Alltoall <= Scatter(in, out[i * block], block) root i for i < p
		pairs: Reduce_scatter_block <= Reduce(in, out, block) for i < min(p, 0)
		  + Reduce(in, a, n) + Scatterv(a, out, block)
		mine: Scan <= Exscan(in, a, n) + Copy(in, out, n) + Reduce_local(a, out, n * min(rank, 1))
		mine: Exscan <= Scan(in, a, n) + Sendrecv(a, out, n)
		one: Barrier <= Ibarrier()
	END
	for p in 1 2 3 5; do
		run -0 --separate-stderr ranks $p lp-measure --check --guidelines mine --root $((p == 3 ? 2 : 0))
		[ "$output" = "1040 results equal on $p ranks" ]
	done
	lp-measure --list --guidelines mine | tail -9 | cut -f1,2 | head -3 >listed
	[ "$(cat listed)" = "$(printf '100\tGather <= mine\n101\tAllgather <= mine\n102\tScatter <= mine')" ]
}

@test "guidelines from a file are measured and judged like built-in ones" {
	echo 'Gather <= Zero(a, n) + Copy(in, a[rank * block], block) + Reduce(a, out, n) + Barrier()' >mine
	for r in 1 2; do
		ranks 2 lp-measure --guidelines mine -s 8,64 -n 10 --split 0 -o $r.run 2>err
	done
	lp-dump 1.run | jq -s -e 'map(select(.guideline == "Gather <= Reduce+Barrier")) |
		map(.bytes) | sort == [8, 64]' >/dev/null
	lp-dump 1.run | jq -s -e '[.[] | select(.guideline == "Gather <= Reduce+Barrier")] |
		all(.number == 100 and .function == "MPI_Gather" and .name == "Gather_as_ReduceBarrier" and
		.extra_bytes == 2 * .bytes)' >/dev/null
	lp-guidelines -F csv 1.run 2.run >csv || [ $? = 3 ]
	[ "$(grep -c '^pattern,Gather <= Reduce+Barrier,' csv)" = 2 ]
	[ "$(cut -d, -f3 csv | sort -u | grep -c MPI_)" = 1 ]
}

@test "a right side with a different result is noticed" {
	echo 'Gather <= Gather(in, out, block / 2)' >mine
	run -2 ranks 2 lp-measure --guidelines mine -s 8 -n 1
	[[ "$output" == *"Gather_as_Gather at 8 bytes: the result differs from that of MPI_Gather"* ]]
}

@test "an error in a file of guidelines is one line with its number, before any measurement" {
	local deep n=0
	deep=$(printf '(%.0s' {1..40})
	while IFS='|' read -r line message; do
		printf '# head\n\n%b\n' "$line" >mine
		run -2 --separate-stderr lp-measure --list --guidelines mine
		[ -z "$output" ]
		[ "$stderr" = "lp-measure: mine: line 3: $message" ] || { echo "$line: $stderr"; false; }
		n=$((n + 1))
	done <<-END
		Gather|"<=" is missing at the end of the line
		Gather <=|a name is missing at the end of the line
		Gather < Allgather(in, out, block)|"<=" is expected instead of "<"
		Gather <= Allgather in|"(" is expected instead of "in"
		Gather <= Allgather(in, out)|"," is expected instead of ")"
		Gather <= Allgather(in, out, m)|m is not a number; n, p, block, rank, root and i are
		Gather <= Allgather(in, out, 1 +)|a name is expected instead of ")"
		Gather <= Allgather(in, out, rank)|rank: the ranks would not agree on this number
		Gather <= Allgather(in, out, block) Bcast(out, out, n)|"+" is expected instead of "Bcast(out,"
		Gather <= Allgather(in, in, block)|Allgather writes to in, which must not change
		Gather <= Pingpong(in, out, block)|Pingpong cannot be called by a right side
		Sendrecv_vector <= Copy(in, out, n)|Sendrecv_vector is no function that can be measured; lp-measure --list shows them
		Gather <= Allgather(in, out, 99999999999999999999)|a number is too large
		Gather <= Allgather(in, out, ${deep}1)|more than 32 nested parentheses
		Gatherv: Gather <= Gatherv(in, out, block)|there is a built-in "Gather <= Gatherv": give it a name, as in mine: Gather <= ...
	END
	[ $n -eq 15 ]
	printf 'a: Scan <= Scan(in, out, n)\n\na: Scan <= Scan(in, out, n)\n' >mine
	run -2 --separate-stderr lp-measure --list --guidelines mine
	[ "$stderr" = 'lp-measure: mine: line 3: line 1 has a "Scan <= a" already: give it a name, as in mine: Scan <= ...' ]
	printf 'Scan <= Scan(in, out, n)\n\0' >mine
	run -2 --separate-stderr lp-measure --list --guidelines mine
	[ "$stderr" = 'lp-measure: mine: line 2: a byte of 0' ]
	: >mine
	run -2 --separate-stderr lp-measure --list --guidelines mine
	[ "$stderr" = 'lp-measure: mine: line 1: the file contains no guideline' ]
	run -2 --separate-stderr lp-measure --list --guidelines nothing
	[ "$stderr" = 'lp-measure: nothing: No such file or directory' ]
}

@test "a right side that does not fit is reported once, with numbers, before any measurement" {
	while IFS='|' read -r line message; do
		printf '%s\n' "$line" >mine
		run -2 --separate-stderr ranks 3 lp-measure --guidelines mine -s 8,64 -n 1 --seed 1 -o out
		[ ! -e out ]
		[ "$(grep -c '^lp-measure' <<<"$stderr")" = 1 ]
		[[ "$stderr" == *"lp-measure: mine: line 1: $message"* ]] || { echo "$line: $stderr"; false; }
	done <<-'END'
		my: Bcast <= Scatter(in, a, ceil(n, p)) + Allgather(a, b, ceil(n, p)) + Copy(b, out, n)|Scatter needs element
		my: Gather <= Allgather(in, out, block) root p|the root is 3, with n = 
		my: Gather <= Allgather(in, out, block - 100)|the count is -
		my: Gather <= Allgather(in, out[1], block)|Allgather needs element
		Scan <= Copy(in, a, n) + Scan(a, a, n)|Scan reads and writes the same elements of a
		Scan <= Scan(in, out, n / (p - 3))|
		Scan <= Scan(in, out, n) for i < 100000|the number of turns is 100000
		Scan <= Scan(in, out, n * 1000000000)|the count is
	END
}

# before_after: folders A and B, of other libraries: a Gather that is 1.3 times as slow as its mock-up in A alone
before_after() {
	mkdir A B
	(cd A && noisy 20 screen 1.3 1 && noisy 20 confirm 1.3 2)
	(cd B && noisy 20 screen 1.0 3 && : >confirm.1.run)
	for r in B/screen.*.txt; do
		sed 's/library=A/library="B 2.0"/' "$r" | pack >"${r%.txt}.run"
	done
}

@test "campaigns side by side: a line per guideline, before and after, with spread and names" {
	before_after
	run -0 --separate-stderr lp-guidelines --pairs -c none --compare A/ B/
	[ "$(sed -n 2,3p <<<"$output" | cut -f1-3,7,8,11,13)" = "$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
		A 2 20 1/1 1 violated 'A, A' B 2 20 0/1 0 held 'B, B 2.0')" ]
	[ "$(sed -n 5,6p <<<"$output")" = "$(printf 'guideline\tA_bytes\tB_bytes\nGather <= Allgather\t8\theld')" ]
	[[ "$output" == *"Gather <= Allgather: held, violated before" ]]
	run -1 --separate-stderr lp-guidelines --pairs -c none --compare -F json B A
	jq -e '.sides[0].library == "B 2.0" and .sides[1].violations == 1 and (.changes | length == 1) and
		(.changes[0] | .outcome == "violated, held before" and .side == 1 and .bytes == 8 and
		.low < .change and .change < .high)' <<<"$output"
	# other loads, one ratio: 1.3 at 8 bytes lies in the interval of the change from B to A
	jq -e '.changes[0] | .low < 0.3 and .high > 0.3' <<<"$output"
	run -1 --separate-stderr lp-guidelines --pairs -c none --compare -F csv -p plots B A
	[ "${#lines[@]}" = 2 ]
	[ "$(ls plots)" = Gather-Allgather.gp ]
	grep -q "title 'A, A'" plots/Gather-Allgather.gp
	(cd plots && gnuplot Gather-Allgather.gp 2>err && [ -s Gather-Allgather.svg ] && [ ! -s err ])
	run -0 --separate-stderr lp-guidelines --pairs -c none --all --compare A B
	[[ "$output" == *"Gather(n) <= Gather(n+k)"$'\theld\theld'* ]]
	mkdir C
	run -2 --separate-stderr lp-guidelines --compare A C
	[[ "$stderr" == *'lp-guidelines: C: contains no campaign: no files *.run' ]]
	run -2 --separate-stderr lp-guidelines --compare
	run -2 --separate-stderr lp-guidelines --compare A nothing
	run -2 --separate-stderr lp-compare A/screen.1.run -- B/screen.1.run
	[[ "$stderr" == "lp-compare: A/screen.1.run:"*"lp-guidelines --compare compares campaigns" ]]
}

@test "the stated power is that of the test: nine in ten planted differences are found" {
	planted_pairs.py 20 300 0.1 1.1227 1 | pack >planted
	lp-guidelines --pairs -c none -F csv planted >csv || [ $? = 1 ]
	awk -F, 'NR > 1 { v += $NF; k++ } END { exit !(k == 300 && v / k > 0.83 && v / k < 0.97) }' csv
	# and the size is what the tool says: margin_us of the time of the faster side, middle of 300
	seen=$(awk -F, 'NR > 1 { print 1 + $18 / $9 }' csv | sort -g | sed -n 150p)
	awk -v s="$seen" 'BEGIN { exit !(s > 1.117 && s < 1.129) }'
}
