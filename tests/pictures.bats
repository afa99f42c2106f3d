# SPDX-License-Identifier: BSD-3-Clause
# Pictures: a figure that cannot be drawn gives one line, and stops no workflow.
bats_require_minimum_version 1.5.0
load helpers

flow() {
	make -s -f "$ROOT/workflows/$1.mk" "${@:2}"
}

# drawn FLOW PICTURES FILE...: counts in "tried" and "whole" what the recipe of FLOW draws of the files in o alone.
drawn() {
	local flow=$1 pictures=$2 name file setting old=() known=()
	for setting in OUT=o CAMPAIGN=o GRAPHS=g GRAPH=g "MEASURED=$measured" APP=true RANKS=2 DATA=a.csv; do
		! grep -qE "^SETTINGS = .*\b${setting%%=*}\b" "$ROOT/workflows/$flow.mk" || known+=("$setting")
	done
	for file in asked figures "${@:3}"; do
		[ -e "o/$file" ] || : >"o/$file"
		old+=(-o "o/$file")
	done
	for name in $pictures; do
		rm -f "o/$name.svg"
		run -0 --separate-stderr flow "$flow" "${known[@]}" "${old[@]}" "o/$name.svg"
		[ -z "$output" ]
		[[ -z "$stderr" || "$stderr" == "picture: o/$name: not drawn: "* ]]
		[ "${#stderr_lines[@]}" -le 1 ]
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "o/$name.svg"
		tried=$((tried + 1))
		[ -n "$stderr" ] || whole=$((whole + 1))
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$ROOT/tests" tests
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	mkdir o
	tried=0 whole=0 measured=''
}

# table FILE HEAD ROW...: with tabs for blanks; HEAD may be empty.
table() {
	{ [ -z "$2" ] || printf '%s\n' "$2"; [ $# -lt 3 ] || printf '%s\n' "${@:3}"; } | tr ' ' '\t' >"o/$1"
}

@test "what gnuplot cannot draw is reported in one line and in the picture, in each format" {
	printf '%s\n' 'set logscale xy' '$d << END' '0 1' 'END' 'plot $d using 1:2' >bad
	run -0 --separate-stderr "$ROOT/workflows/picture" "it's" 300x200 svg pdf png <bad
	[ "$stderr" = "picture: it's: not drawn: x range is invalid" ]
	grep -q 'not drawn: x range is invalid' "it's.svg"
	[ -s "it's.pdf" ]
	[ -s "it's.png" ]
	run ! compgen -G '*.part'
	run -0 --separate-stderr "$ROOT/workflows/picture" good 300x200 <<<'plot [0:1] x'
	[ -z "$stderr" ]
	run ! grep -q 'not drawn' good.svg
	run ! "$ROOT/workflows/picture" nosuch/good 300x200 <<<'plot [0:1] x'
	mkdir empty
	for tool in bash grep env awk; do ln -s "$(type -P $tool)" empty/; done
	run -0 --separate-stderr env PATH="$PWD/empty" "$ROOT/workflows/picture" none 300x200 <<<'plot [0:1] x'
	[ "$stderr" = 'picture: none: not drawn: gnuplot is not installed' ]
}

# each FLOW PICTURES FILE HEAD ROWS...: with each of ROWS, which are separated by / within
each() {
	local flow=$1 pictures=$2 file=$3 head=$4 rows lines
	for rows in "${@:5}"; do
		mapfile -t lines < <(tr / '\n' <<<"$rows" | sed '/^$/d')
		table "$file" "$head" "${lines[@]}"
		drawn "$flow" "$pictures" "$file" "${others[@]}"
	done
}

@test "empty, single, zero and negative data is drawn: compare, history, influence, predict" {
	others=(compare.json)
	each compare path path.tsv '' '' 'a 0 0' 'a 1 2' 'a -1 0' 'a nan nan'
	[ "$whole" -eq 3 ]
	others=(sites.tsv history.json add)
	table sites.tsv date		# of a run without a site
	each history history history.tsv '' '' '0 2026-11-22 0 0 0 0' '0 2026-11-22 1 1 1 1' '0 2026-11-22 -1 nan 2 1'
	[ "$whole" -eq 5 ]
	table sites.tsv 'date f' '2026-11-22 0'
	each history history history.tsv '' '0 2026-11-22 1 1 1 1'
	[ "$whole" -eq 6 ]
	others=(influence.tsv)
	for kind in buses links nodes cpus; do
		each influence $kind $kind.points 'value a' '' '0 0' '4 1' '4 nan' '4 -1'
	done
	[ "$whole" -eq 14 ]
	others=()
	each predict predicted predicted.tsv 'program from to recorded_s predicted_s measured_s' '' \
		'a here there 0 0 0' 'a here there 1 2 2' 'a here there -1 2 nan' 'a here there 1 2 2/a there here 1 2 2'
	[ "$whole" -eq 16 ]
	[ "$tried" -eq 35 ]
}

@test "empty, single, zero and negative data is drawn: network, tolerance, table" {
	table best '' '1 100 4096 0 0 0.5 0.5'
	others=(best)
	each network region region.tsv 'latency_us MB_s eager_bytes buses links error' '' '1 100 4096 0 0 0.05' \
		'0 0 0 0 0 0' '-1 nan 1 1 1 1'
	[ "$whole" -eq 4 ]
	others=()
	each network buses buses.tsv 'latency_us MB_s eager_bytes buses links error' '' '1 1 1 0 0 0' '1 1 1 1 0 0' \
		'1 1 1 4 0 nan/1 1 1 0 0 0.1'
	[ "$whole" -eq 6 ]
	measured=m
	each network pingpong pingpong.tsv 'function ranks bytes measured_us fitted_us' '' 'Pingpong 2 0 1 1' \
		'Pingpong 2 8 1 1' 'Pingpong 2 8 0 -1'
	[ "$whole" -eq 7 ]
	measured=''
	each network validation predicted.tsv 'graph recorded_s predicted_s error_%' '' 'a 0 0 0' 'a 1 2 1' 'a -1 nan 0'
	[ "$whole" -eq 9 ]
	others=(regions.tsv coarse.tsv fine.tsv)
	table fine.tsv 'latency_us MB_s eager_bytes buses links error'
	table regions.tsv 'of networks'
	each network regions coarse.tsv 'latency_us MB_s eager_bytes buses links error' '' '1 100 4096 0 0 0.05 0.05' \
		'1 100 4096 0 0 0.5 0.5' '0 0 0 0 0 0 0' '-1 -1 0 0 0 nan nan'
	[ "$whole" -eq 11 ]
	others=()
	for kind in latency gap overhead; do
		each tolerance $kind curves.tsv 'program parameter value longer_% seconds is' '' "1_a $kind 1 0 1 curve" \
			"1_a $kind 0 0 0 points" "1_a $kind -1 -1 nan curve"
	done
	[ "$whole" -eq 23 ]
	each table overhead overhead.tsv 'ranks' '' '2 none 0 1 1 1 1 1 1 1 5 5 5 1 1 1 5 5 5 1 1' \
		'2 none 0 1 0 0 0 0 0 0 nan -1 inf 1 1 1 0 0 0 1 1'
	[ "$whole" -eq 25 ]
}

@test "empty, single, zero and negative data is drawn: monitor, overhead, nrep" {
	others=(timeline.csv monitor.tsv)
	for line in '' 0,0,0,0,0,0,0,0,0,0,0,0,0 0,0,0,1,0,0,0,0,0,0,0,0,0; do
		printf 'first,last\n%s\n' "$line" >o/timeline.csv
		for row in '' '0 0 0 0 0 0 0' '0 1 1 1 1 1 1'; do
			table monitor.tsv head ${row:+"$row"}
			each monitor monitor regions.tsv head '' '0 0 0 0 0 0 0' '0 0 0 1 1 1 0.5'
		done
	done
	[ "$whole" -eq 9 ]
	others=(nrep)
	each guidelines nrep steps.dat '' '' '1 0.1 0.1 0.1 0 8' '1 0 0 0 0 8' '0 -1 nan 0 0 0'
	whole=0
	for rows in '' '1,1' '1,1,0,0' '1,0,0,0' '1,2/2,1/4,0.5'; do
		printf 'n,t,tau,dtau\n%s\n' "$(tr / '\n' <<<"$rows")" >a.csv
		printf '[{"equation1":null}]' | jq '.[0]' >o/a.json
		cp a.csv o/a.csv
		drawn overhead shares fitted
		lp-fit --gnuplot a.csv >gp 2>/dev/null || continue
		run -0 --separate-stderr "$ROOT/workflows/picture" fit 900x700 <gp
		[ "${#stderr_lines[@]}" -le 1 ]
		[ -s fit.svg ]
	done
}
