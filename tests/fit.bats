# SPDX-License-Identifier: BSD-3-Clause
# lp-fit against reference values, gnuplot's own fit, and data of known parameters.
bats_require_minimum_version 1.5.0
load helpers

data=$ROOT/fit/data

# near GOT WANTED RELATIVE: fails, and says so, where they differ by more
near() {
	awk -v got="$1" -v wanted="$2" -v by="$3" 'BEGIN {
		d = (got - wanted) / wanted
		if (!(d <= by && -d <= by)) { print got " is not " wanted; exit 1 } }'
}

# value JSON FILTER...: numbers, one a word
value() {
	jq -r "[$2] | @tsv" "$1"
}

# table LINES...: t.csv with them
table() {
	printf '%s\n' "$@" >t.csv
}

# refused MESSAGE LINES...: that table gives this message, status 2 and no output
refused() {
	local message=$1
	shift
	table "$@"
	run -2 --separate-stderr lp-fit t.csv
	[ -z "$output" ]
	[ "$stderr" = "lp-fit: $message" ]
}

# by_gnuplot FILE MODEL PARAMETER=START...: "b b_se c c_se" of an unweighted fit by gnuplot
by_gnuplot() {
	gnuplot -e "set fit quiet nolog errorvariables limit 1e-12 maxiter 1000; set datafile separator ',';
		b = $3; c = $4; fit $2 via b, c; print sprintf('%.10g %.10g %.10g %.10g', b, b_err, c, c_err)" 2>&1
}

@test "equation 1 gives the reference parameters and standard errors" {
	while read -r name b b_se c c_se; do
		lp-fit -F json "$data/$name.csv" >fit.json
		read -r gb gb_se gc gc_se < <(value fit.json '.equation1 | .b, .b_se, .c, .c_se')
		near "$gb" "$b" 0.001
		near "$gc" "$c" 0.001
		near "$gb_se" "$b_se" 0.01
		near "$gc_se" "$c_se" 0.01
	done <<-END
		hpl 49.902 13.570 101.333 23.007
		amber 54.157 5.623 60.360 5.040
		inhouse 5.965 0.256 4.908 0.214
		vasp 116.292 12.825 124.901 10.452
	END
}

@test "equation 1 equals gnuplot's fit, for every table" {
	for table in "$data"/*.csv; do
		lp-fit -F json "$table" >fit.json
		read -r b b_se c c_se < <(value fit.json '.equation1 | .b, .b_se, .c, .c_se')
		read -r gb gb_se gc gc_se < <(by_gnuplot "$table" "b/(c+1) - b/(c+x) '$table' using 1:(\$3/\$2)" "$b*1.1" "$c*1.1")
		near "$b" "$gb" 5e-4
		near "$c" "$gc" 5e-4
		near "$b_se" "$gb_se" 0.01
		near "$c_se" "$gc_se" 0.01
	done
}

@test "the paper's rule gives the reference f, b, c and standard errors" {
	while read -r name residuals f b b_se c c_se; do
		lp-fit --paper --residuals "$residuals" -F json "$data/$name.csv" >fit.json
		read -r gf gb gb_se gc gc_se < <(value fit.json '.equation6 | .f, .b, .b_se, .c, .c_se')
		near "$gf" "$f" 0.005
		near "$gb" "$b" 0.005
		near "$gc" "$c" 0.005
		near "$gb_se" "$b_se" 0.02
		near "$gc_se" "$c_se" 0.02
	done <<-END
		hpl log 1.33e-5 343.6 129.3 473.4 132.7
		amber log 3.77e-3 42.00 5.53 47.78 5.52
		amber absolute 2.87e-3 40.20 3.95 44.14 3.74
		inhouse log 2.54e-2 15.93 5.26 19.14 5.47
		vasp log 1.27e-3 53.81 5.21 59.03 5.14
	END
}

@test "equations 1 and 6 equal numpy's fit, to 1e-5" {
	tests/fit_check.py "$data"/*.csv
}

@test "equation 6 at a fixed f equals gnuplot's fit" {
	while read -r name f; do
		t1=$(awk -F, '$1 == 1 { print $2 }' "$data/$name.csv")
		lp-fit --serial "$f" -F json "$data/$name.csv" >fit.json
		read -r b b_se c c_se < <(value fit.json '.equation6 | .b, .b_se, .c, .c_se')
		read -r gb gb_se gc gc_se < <(by_gnuplot "$name" "log(($f*$t1 + (1-$f)*$t1/x) * (1 + b*(x-1)/((1+c-b)*x + b + c + c**2))) '$data/$name.csv' using 1:(log(\$2))" "$b*1.03" "$c*1.03")
		near "$b" "$gb" 0.003
		near "$c" "$gc" 0.003
		near "$b_se" "$gb_se" 0.03	# gnuplot's slopes are differences of 0.1 %
		near "$c_se" "$gc_se" 0.03
	done <<-END
		hpl 1.33e-5
		amber 3.77e-3
		amber 2.87e-3
		inhouse 2.54e-2
		vasp 1.27e-3
		lammps 1.2e-2
	END
}

@test "the rule reports if it is not met, is met twice, or cannot be met" {
	lp-fit --paper "$data/gromacs.csv" | grep -q "^- the paper's rule is not met"
	lp-fit --paper "$data/lammps.csv" | grep -q "^- the paper's rule is met 2 times: and at f = 0.046.* up to 53 %"
	lp-fit --paper --residuals absolute "$data/hpl.csv" | grep -q "^- the paper's rule cannot be met"
	lp-fit --paper --residuals absolute -F json "$data/hpl.csv" | jq -e '.paper == null'
}

@test "as many run times as parameters fix none of them; one more may" {
	printf 'n,t\n1,100\n2,56\n4,36\n8,30\n' >four.csv
	lp-fit four.csv >said
	grep -q 'hofinger not fitted' said
	refute grep -q '^equation 6' said
	grep -qx -- '- 4 values of n do not fix the 4 parameters of equation 6' said
	lp-fit -F json four.csv | jq -e '.equation6 == null and all(.models[]; .model != "hofinger")'
	run -2 --separate-stderr lp-fit --model hofinger four.csv
	printf '16,29\n' >>four.csv
	lp-fit four.csv | grep -q '^equation 6'
}

@test "runs repeated at as many n as parameters fix none of them; one more n may" {
	# repeated N...: five runs on each number of cores, with tau
	repeated() {
		echo n,t,tau
		for n; do for i in -2 -1 0 1 2; do awk "BEGIN { t = 100 / $n + 5 + $i / 10; print $n \",\" t \",\" ($n > 1) * t / 9 }"; done; done
	}
	repeated 1 2 4 >three.csv
	lp-fit --tau none -F json three.csv >three.json
	[ "$(jq -c '[.models[].model]' three.json)" = '["amdahl"]' ]
	jq -e '.equation6 == null and .equation1 == null and .paper == null' three.json
	lp-fit --tau none three.csv | grep -qx -- '- 3 values of n do not fix the 4 parameters of equation 6'
	run -2 --separate-stderr lp-fit --tau none --model usl three.csv
	[ "$stderr" = 'lp-fit: three: too few values of n for this model' ]
	lp-fit --tau none --paper three.csv | grep -qx -- '- 3 values of n do not fix the 4 parameters of equation 6'
	repeated 1 2 4 8 >four.csv
	lp-fit --tau none -F json four.csv >four.json
	[ "$(jq -c '[.models[].model] | sort' four.json)" = '["amdahl","usl"]' ]
	jq -e '.equation6 == null and .equation1 != null and .paper == null' four.json
	# A given f is one parameter less; a tau that joins is one value more.
	refute grep -q 'do not fix' <(lp-fit --tau none --serial 0.01 four.csv)
	lp-fit --tau 4 -F json four.csv | jq -e '.equation6 != null'
	repeated 1 2 4 8 16 >five.csv
	lp-fit --tau none -F json five.csv | jq -e '.equation6 != null'
}

@test "exchanging f and g leaves t and changes tau" {
	for name in amber qe; do
		lp-fit --tau none --model usl -F json "$data/$name.csv" >fit.json
		jq -e '.partner != null and all(.points[]; (.t_partner / .t_fit - 1 | fabs) < 1e-12) and
			(.points[-1] | .tau_partner < 0.9 * .tau_fit)' fit.json
		lp-fit --tau none --model usl "$data/$name.csv" | grep -q '^- f < g is declared; exchanged, f = 0.* and tau = '
	done
	lp-fit --serial 0.00287 -F json "$data/amber.csv" >fit.json
	jq -e '.equation6 | .f < 1 / (.c + 1)' fit.json
}

@test "nested fits are never better, and the bounds hold" {
	for table in "$data"/*.csv; do
		for residuals in log relative absolute; do
			lp-fit --tau none --residuals $residuals -F json "$table" >fit.json
			jq -e '.equation6.f >= 0 and all(.models[]; .f >= 0 and .c >= 0 and .b <= .c + 1 + 1e-9) and
				(.points | length) as $m | (.models | map({(.model): .aicc}) | add |
				.hofinger - .usl < 2 + 60 / ($m - 6) - 40 / ($m - 5) + 1e-3)' fit.json
		done
	done
}

@test "data without noise gives back its parameters" {
	awk 'BEGIN { print "n\tt"; f = 0.002; b = 40; c = 60
		for (n = 1; n <= 1024; n *= 2)
			printf "%d\t%.12g\n", n, 100*(f + (1-f)/n) * (1 + b*(n-1)/((1+c-b)*n + b + c + c*c)) }' >t.tsv
	lp-fit -F json t.tsv >fit.json
	read -r f b c t1 < <(value fit.json '.equation6 | .f, .b, .c, .t1')
	near "$f" 0.002 1e-6
	near "$b" 40 1e-6
	near "$c" 60 1e-6
	near "$t1" 100 1e-6
	jq -e '.model == "hofinger"' fit.json
}

@test "bands contain the truth as often as stated" {
	tests/fit_coverage.py 60
}

@test "the best n is the shortest run time of the fit" {
	lp-fit --tau none --predict "$(seq -s, 100 4 500)" -F json "$data/qe.csv" >fit.json
	jq -e '(.points | min_by(.t_fit).n) as $n | (.best_n - $n | fabs) <= 3 and
		.best_n_low < $n and .best_n_high > $n' fit.json
}

@test "one measured tau pins f better than all run times" {
	for name in amber gromacs lammps qe vasp; do
		median='[.points[] | select(.n >= 16 and .n != 64) | (.tau_estimate / .tau - 1) | fabs] | sort | .[length / 2 | floor]'
		bound=$(lp-fit --tau none -F json "$data/$name.csv" | jq "${median//tau_estimate/tau_bound}")
		one=$(lp-fit --tau 64 -F json "$data/$name.csv" | jq "$median")
		awk -v one="$one" -v bound="$bound" 'BEGIN { exit !(one < 0.6 * bound) }'
	done
	lp-fit --tau 64 "$data/amber.csv" | grep -q '^- 1 measured tau joined the fit'
}

@test "the choice between rule and bound does not use tau" {
	for table in "$data"/*.csv; do
		lp-fit --tau none -F json "$table" >with.json
		cut -d, -f1,2 "$table" | sed 's/^#.*/#/' >"$(basename "$table")"
		lp-fit -F json "$(basename "$table")" >without.json
		for f in with without; do
			jq -c '[.tau_from, .model, (.points[] | .tau_estimate, .tau_fit, .tau_bound)]' $f.json >$f
		done
		cmp with without
	done
}

@test "a table may have several lines per n, tabs, blanks, comments, other columns and no n = 1" {
	printf '# x\r\nhost\tt\t n \ttau\r\na\t50\t2\t\r\nb\t51\t2\t1.5 # y\r\n\r\nc\t30\t4\t\r\nd\t20\t8\t\r\ne\t19\t16\t\r\n' >t.tsv
	lp-fit t.tsv >out
	grep -q '^t: 5 runs on 2 to 16 cores$' out
	grep -q '^- no run on one core: t_1 is fitted' out
	run -1 grep -i 'nan' out
	lp-fit -F json t.tsv | jq -e '[.points[] | .n] == [2, 2, 4, 8, 16] and .points[1].tau == 1.5 and
		.points[0].tau == null and .equation6.t1_measured == null and .tau_joined == 1'
	lp-fit <t.tsv | grep -q '^standard input: 5 runs'
	lp-fit --paper t.tsv >out
}

@test "superlinear and non-monotone data is flagged" {
	lp-fit --tau none "$data/hpl.csv" | grep -q '^- superlinear: .* at n = 4, 8, '
	lp-fit -F json "$data/hpl.csv" | jq -e '.points | map(select(.superlinear).n) | index([4, 8]) == 0'
	lp-fit "$data/gromacs.csv" | grep -q '^- not monotone: '
	lp-fit --tau none "$data/amber.csv" | grep -q '^- f is not identified: anything from 0 to '
}

@test "predictions beyond the data have a warning" {
	lp-fit --predict 100,1024 "$data/amber.csv" >out
	grep -q '^- warning: predictions above n = 512 are beyond the data' out
	lp-fit --predict 100,200 "$data/amber.csv" >out
	run -1 grep warning out
	lp-fit --predict 100 -F json "$data/amber.csv" | jq -e '.points[-1] | .n == 100 and .t == null and
		.t_low < .t_fit and .t_fit < .t_high'
}

@test "runs may be in any order" {
	printf '%s\n' n,t 1,9.1 1,9 2,5.2 2,5 4,3.2 8,2.1 16,1.7 >t.csv
	printf '%s\n' n,t 16,1.7 2,5.2 1,9.1 8,2.1 2,5 1,9 4,3.2 >any.csv
	lp-fit -F json <t.csv >t.json
	lp-fit -F json <any.csv | cmp - t.json
}

@test "bad input is refused with its file and line" {
	refused 't.csv:4: 3 points, at least 4 are needed' n,t 1,9 2,5 4,3
	refused 't.csv:3: t is not above 0' n,t 1,9 2,0 4,3 8,2
	refused 't.csv:3: t is not above 0' n,t 1,9 2,-1 4,3 8,2
	refused 't.csv:3: tau is above t' n,t,tau 1,9,0 2,5,6 4,3,1 8,2,1
	refused 't.csv:3: tau or dtau is negative' n,t,tau 1,9,0 2,5,-1 4,3,1 8,2,1
	refused 't.csv:3: t is no number: "x"' n,t 1,9 2,x 4,3 8,2
	refused 't.csv:3: t is no number: "nan"' n,t 1,9 2,nan 4,3 8,2
	refused 't.csv:3: t is no number: "1e999"' n,t 1,9 2,1e999 4,3 8,2
	refused 't.csv:3: t is no number: ""' n,t 1,9 2, 4,3 8,2
	refused 't.csv:3: n is no whole number from 1 to 1e9' n,t 1,9 2.5,5 4,3 8,2
	refused 't.csv:2: n is no whole number from 1 to 1e9' n,t 0,9 2,5 4,3 8,2
	refused 't.csv:3: more fields than in the header' n,t 1,9 2,5,1 4,3 8,2
	refused 't.csv:3: n or t is missing' n,t 1,9 2 4,3 8,2
	refused 't.csv:1: a header with n and t is needed' 1,9 2,5 4,3 8,2
	refused 't.csv:1: two columns n' n,t,n 1,9,1 2,5,2
	refused 't.csv:1: a header with n and t is needed' ''
	refused 't.csv:5: 2 values of n, at least 3 are needed' n,t 1,9 1,8 2,5 2,4
	printf 'n,t\n1,9\n2,5\0\n' >t.csv
	run -2 --separate-stderr lp-fit t.csv
	[ "$stderr" = 'lp-fit: t.csv:3: a zero byte' ]
	run -2 --separate-stderr lp-fit none.csv
	[ "$stderr" = 'lp-fit: none.csv: No such file or directory' ]
	run -2 --separate-stderr lp-fit .
	[ "$stderr" = 'lp-fit: .: Is a directory' ]
}

@test "if the second file is bad, there is no output for the first" {
	table n,t 1,9
	run -2 --separate-stderr lp-fit -F csv "$data/hpl.csv" t.csv
	[ -z "$output" ]
}

@test "bad options are refused" {
	for bad in --model=extrap --residuals=cubic --serial=2 --serial=x --predict=0 --predict=1,,2 --tau=x \
		--predict= '--paper --model=usl' --format=xml; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr lp-fit $bad "$data/hpl.csv"
		[ -z "$output" ]
		[[ "$stderr" == 'lp-fit: --'* ]]
	done
}

@test "JSON, CSV, table and stream have the same points" {
	lp-fit -F json "$data/amber.csv" "$data/hpl.csv" >fit.json
	lp-fit -F csv "$data/amber.csv" "$data/hpl.csv" >fit.csv
	lp-fit -F msgpack "$data/amber.csv" "$data/hpl.csv" >fit.stream
	jq -r '.name as $name | .points[] | [$name, .n, .t_fit, .tau_fit, .tau_bound] | map(if type == "number" then . * 1e6 | round else . end) | @csv' fit.json >json
	lp-dump fit.stream | jq -r 'select(.kind == "fit_point") | [.name, .n, .t_fit, .tau_fit, .tau_bound] | map(if type == "number" then . * 1e6 | round else . end) | @csv' >stream
	cmp json stream
	[ "$(wc -l <fit.csv)" -eq $((1 + $(wc -l <json))) ]
	jq -r '.points[] | .n' fit.json | cmp - <(sed 1d fit.csv | cut -d, -f2)
	lp-dump -k fit fit.stream | jq -e 'select(.kind == "fit") | .name' >names
	[ "$(cat names)" = $'"amber"\n"hpl"' ]
	[ "$(jq -r .name fit.json)" = $'amber\nhpl' ]
}

@test "a full disk is noticed" {
	for form in table json csv msgpack; do
		run -2 --separate-stderr bash -c "lp-fit -F $form '$data/amber.csv' >/dev/full"
		[ "$stderr" = 'lp-fit: standard output: No space left on device' ]
	done
}

@test "the same input gives the same bytes" {
	lp-fit -F json "$data/vasp.csv" >one
	lp-fit -F json "$data/vasp.csv" >two
	cmp one two
}

# graph RANKS RUN_NS MPI_NS: a graph stream of a run, the ranks 0 and 1000 ns apart in MPI time
graph() {
	for ((r = 0; r < $1; r++)); do
		echo "$r MPI_Barrier $(($2 - $3 - 1000 * r)) $2"
	done | pack -H "graph ranks=$1 run_ns=$2"
}

@test "graph streams are runs: ranks, run time, mean time in MPI and its deviation" {
	mkdir a b
	for n in 1 2 4 8 16; do
		graph $n $((16000000 / n + 100000 * n)) $((90000 * n)) >a/$n.graph
		graph $n $((32000000 / n + 100000 * n)) $((90000 * n)) >b/$n.graph
	done
	lp-fit -F json a/*.graph b/*.graph >fit.json
	[ "$(jq -r .name fit.json)" = $'a\nb' ]
	jq -se '.[0].points | map(.n) == [1, 2, 4, 8, 16]' fit.json
	jq -se '.[0].points[2] | (.t - 0.0044 | fabs) < 1e-12 and (.tau - 361.5e-6 | fabs) < 1e-12' fit.json
	lp-fit --gnuplot a/*.graph | grep -q '^4 0.0044 0.0003615 1.29099e-06'
	run -2 --separate-stderr lp-fit a/1.graph a/2.graph
	[ "$stderr" = 'lp-fit: a: 2 points at 2 values of n, at least 4 at 3 are needed' ]
	head -c 100 a/4.graph >cut.graph
	run -2 --separate-stderr lp-fit cut.graph
	[[ "$stderr" == 'lp-fit: cut.graph:100: '* ]]
	run -2 --separate-stderr bash -c 'lp-fit <a/4.graph'
	[ "$stderr" = 'lp-fit: standard input: graph streams are read from files only' ]
	pack -H 'trace ranks=1' </dev/null >t.trace
	run -2 --separate-stderr lp-fit t.trace
	[ "$stderr" = 'lp-fit: t.trace:0: a trace; lp-graph matches it first' ]
}

# started RANKS INIT_NS WORK_NS: a graph stream; ranks leave MPI_Init together, enter MPI_Finalize 1000 ns apart
started() {
	for ((r = 0; r < $1; r++)); do
		echo "$r MPI_Initialized 10 20"
		echo "$r MPI_Init 100 $2"
		echo "$r MPI_Barrier $(($2 + $3 + 1000 * r)) +5000"
		echo "$r MPI_Finalize $(($2 + $3 + 1000 * r + 5000)) $(($2 + $3 + 900000))"
	done | pack -H "graph ranks=$1 run_ns=$(($2 + $3 + 900000))"
}

@test "start and end of MPI are not overhead, unless the whole run is asked for" {
	mkdir a
	for n in 1 2 4 8; do started $n 70000000 $((16000000 / n)) >a/$n.graph; done
	lp-fit -F json a/*.graph >fit.json
	# the last of 4 ranks works 4003 us, then all wait for it: 5 us of barrier and 1.5 us on average
	jq -e '.points[2] | (.t - 4.008e-3 | fabs) < 1e-12 and (.tau - 6.5e-6 | fabs) < 1e-12' fit.json
	lp-fit --whole -F json a/*.graph >whole.json
	jq -e '.points[2] | (.t - 74.9e-3 | fabs) < 1e-12 and .tau > 70e-3' whole.json
	grep -q 'tau at n = 1 is 5e-06 s, not 0' fit.json
	echo '0 MPI_Init 0 100' | pack -H 'graph ranks=1 run_ns=100' >a/1.graph
	run -2 --separate-stderr lp-fit a/*.graph
	[ "$stderr" = 'lp-fit: a/1.graph: no time between MPI_Init and MPI_Finalize; --whole uses the whole run' ]
	run -2 --separate-stderr bash -c 'lp-fit <(cat a/2.graph)'
	[[ "$stderr" == *': graph streams are read from files only' ]]
}

@test "the start of a program with only sessions is left out, too" {
	mkdir a b
	for n in 1 2 4 8; do
		started $n 70000000 $((16000000 / n)) >a/$n.graph
		for ((r = 0; r < n; r++)); do
			echo "$r MPI_Session_init 100 70000000"
			echo "$r MPI_Barrier $((70000000 + 16000000 / n + 1000 * r)) +5000"
			echo "$r MPI_Session_finalize $((70000000 + 16000000 / n + 1000 * r + 5000)) +0"
		done | pack -H "graph ranks=$n run_ns=$((70000000 + 16000000 / n + 900000))" >b/$n.graph
	done
	lp-fit -F json a/*.graph b/*.graph | jq -se '.[0].points | length == 4'
	lp-fit -F json a/*.graph b/*.graph | jq -se 'map(.points | map([.n, .t, .tau])) | .[0] == .[1]'
}

@test "a thousand lines are fitted within a second of CPU time, for many values of n or one" {
	awk 'BEGIN { srand(1); print "n,t"; for (n = 1; n <= 1000; n++)
		print n "," (10 / n + 0.1 + 0.001 * n) * (1 + 0.02 * rand()) }' >many.csv
	awk 'BEGIN { srand(2); print "n,t"; for (n = 1; n <= 512; n *= 2) for (i = 0; i < 100; i++)
		print n "," (10 / n + 0.1 + 0.001 * n) * (1 + 0.02 * rand()) }' >few.csv
	for table in many few; do
		within 2 lp-fit -F json $table.csv >$table.json
		jq -e '.points | length == 1000 and all(.[]; .t_low <= .t_fit and .t_fit <= .t_high and
			.t_high < 1.2 * .t_fit)' $table.json
	done
	# the same 1000 values, known only as means: the same curve
	awk -F, 'NR > 1 { s[$1] += log($2) } END { print "n,t"; for (n = 1; n <= 512; n *= 2)
		printf "%d,%.15g\n", n, exp(s[n] / 100) }' few.csv >means.csv
	lp-fit -F json means.csv >means.json
	for key in f b c; do
		near "$(jq ".equation6.$key" few.json)" "$(jq ".equation6.$key" means.json)" 1e-4
	done
}

@test "bands of the paper's procedure are over f, contain its curve, and count measured tau" {
	inside=0
	all=0
	for table in "$data"/*.csv; do
		lp-fit --paper -F json "$table" >fit.json
		jq -e 'all(.points[]; .tau_low <= .tau_fit and .tau_fit <= .tau_high)' fit.json
		read -r in of < <(jq -r '.notes[] | select(test("measured tau lie")) | split(" ") | "\(.[0]) \(.[2])"' fit.json)
		[ "$in" -eq "$(jq '[.points[] | select(.n > 1 and .tau != null and .tau_low <= .tau and .tau <= .tau_high)] | length' fit.json)" ]
		inside=$((inside + in))
		all=$((all + of))
	done
	[ "$all" -eq 158 ]
	jq -e '.bands == "over f"' fit.json
	[ "$inside" -ge 120 ]	# 54 where f is taken for known
	lp-fit --serial 0.00377 "$data/amber.csv" | grep -q 'the band of tau, which is at this f alone'
	run -1 grep -q 'over all f' <(lp-fit --serial 0.00377 "$data/amber.csv")
}

@test "measured deviations and errors of tau are in JSON and CSV, and beside the figure" {
	lp-fit --paper -F json "$data/amber.csv" >fit.json
	jq -e '(.points[4].dtau - 16.6 | fabs) < 1e-9 and .tau_error.points == 19 and
		([.points[] | select(.n >= 16) | (.tau_fit / .tau - 1) | fabs] | sort | .[9]) as $m |
		(.tau_error.fit_median - $m | fabs) < 1e-12' fit.json
	lp-fit -F csv "$data/amber.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "dtau") c = i }
		NR == 6 && $c != 16.6 { exit 1 }'
	lp-fit --paper --gnuplot "$data/amber.csv" | grep -q "title 'band over f of the overhead'"
	lp-fit --gnuplot "$data/amber.csv" | grep -q "title '95 % band of the overhead'"
	lp-fit --paper --gnuplot "$data/amber.csv" | grep -q "^set title 'amber: median error of tau at n >= 16 is 16.5 % (fit)"
	cut -d, -f1,2 "$data/amber.csv" >t.csv
	lp-fit -F json t.csv | jq -e '.tau_error == null and .points[4].dtau == null'
}

@test "notes on superlinear runs do not contradict each other" {
	lp-fit --paper "$data/hpl.csv" >out
	grep -q "^- the paper's rule and least squares contradict each other: the rule's f = 1.33e-05" out
	grep -q '^- only f = .* but the model does not hold for superlinear ones' out
	run -1 grep -E 'f is identified|bound is none' out
}

@test "runs on fewer cores are left out, and their t_1 stays" {
	lp-fit --from 16 --tau none -F json "$data/amber.csv" >fit.json
	jq -e '.equation6.t1 == 4602 and .points[0].n == 1' fit.json
	lp-fit --from 16 --tau none "$data/amber.csv" | grep -q '^- left out of the fits: n = 1, 2, 4, 8, 12; t_1 is the measured value$'
	awk -F, 'NR == 1 || $1 == 1 || $1 >= 16 { print } $1 > 1 && $1 < 16 { print $1 "," 3 * $2 ",," }' "$data/amber.csv" >other.csv
	lp-fit --from 16 --tau none -F json other.csv >other.json
	[ "$(jq -c '.equation6' fit.json)" = "$(jq -c '.equation6' other.json)" ]
	lp-fit --from 16 --paper -F json "$data/amber.csv" | jq -e '.equation6.t1 == 4602'
	run -2 --separate-stderr lp-fit --from 416 "$data/amber.csv"
	[ "$stderr" = 'lp-fit: amber: --from leaves 2 values of n, at least 3 are needed' ]
}

@test "any input is read as a table or a stream, or refused in one line" {
	printf '\222ro.ram,u\nx,1,\377\377\377\177\nx,4,4<,4<1\350\377\371x\0\020\177\377\377,1.1\ny,1,3,\ny,' >bytes
	run -2 --separate-stderr lp-fit bytes
	[ "$stderr" = 'lp-fit: bytes:0: damaged: a message is not [kind, body]' ]
	run -2 --separate-stderr bash -c 'lp-fit <bytes'
	tail -c +2 bytes >text
	run -2 --separate-stderr lp-fit text
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "gnuplot draws every script without a message" {
	for table in "$data"/*.csv; do
		for form in '--tau none' --paper '--predict 4096'; do
			# shellcheck disable=SC2086
			lp-fit $form --gnuplot "$table" >plot.gp
			run -0 gnuplot -e 'set terminal pngcairo size 900,700; set output "plot.png"' plot.gp
			[ -z "$output" ]
			[ "$(stat -c %s plot.png)" -gt 10000 ]
		done
	done
}

@test "the workflow draws all tables and compares the errors of tau" {
	make -s -f "$ROOT/workflows/overhead.mk" FIGURES='svg png' >out
	[ "$(head -1 out)" = $'program\trule\tdefault\tfrom\ttau_at_64\tbound' ]
	grep -q $'^amber\t0.165\t0.026\trule\t' out
	grep -q $'^hpl\t0.169\t0.169\tbound\t' out
	for picture in shares amber amber-map gromacs hpl inhouse lammps qe vasp; do
		[ "$(stat -c %s overhead/$picture.png)" -gt 10000 ]
		grep -q '^<svg' overhead/$picture.svg
	done
	run -2 make -s -f "$ROOT/workflows/overhead.mk" record OUT=none
}

@test "the workflow records a program and fits it" {
	make -s -f "$ROOT/workflows/overhead.mk" record OUT=here REPEAT=2 \
		APP="$ROOT/build/apps/heat -n 400 -p balanced:50" >out 2>err
	grep -q '^here: 6 runs on 1 to 4 cores$' out
	[ "$(grep -c $'^[124]\t' here/compared.tsv)" -eq 6 ]
	jq -e '.tau_joined == 4' here/joined.json
}

@test "the examples of the page run" {
	mkdir fit runs
	ln -s "$data" fit/data
	for n in 1 2 4 8; do graph $n $((16000000 / n + 100000 * n)) $((90000 * n)) >runs/$n.graph; done
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\.Dl //p' "$ROOT/fit/fit.1" | sed 's/\\(dq/"/g' >examples
	[ "$(wc -l <examples)" -eq 5 ]
	run -0 bash -eu -o pipefail examples
}
