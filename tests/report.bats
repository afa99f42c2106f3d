# SPDX-License-Identifier: BSD-3-Clause
# lp-report: the page in a real browser, and its pictures.
bats_require_minimum_version 1.5.0
load helpers

# A run of random programs as small.graph; of how many ranks, with what seed.
heat() {
	lp-record -o run -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$ROOT/build/apps/heat" \
		-n 200 -i 6 -p balanced:20,imbalanced:30,serial:6,messages:10 >/dev/null
	lp-merge run | lp-graph 2>/dev/null >heat.graph
}

# browser ARGUMENT...: the page in a browser; a user's machine may lack one, continuous integration has it.
browser() {
	[ -n "${CI-}" ] || /usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "needs python3-selenium and chromium"
	run -0 /usr/bin/python3 "$ROOT/tests/report_check.py" "$@"
}

@test "the page has the tools' numbers, zooms, sorts, searches, prints and loads nothing" {
	heat
	lp-replay --monitor all heat.graph >ideal.graph
	lp-report --ideal ideal.graph -o page.html heat.graph
	lp-imbalance -F json heat.graph >imbalance.json
	lp-gain -F json --gain 20 heat.graph >critpath.json
	browser page.html imbalance.json critpath.json
}

@test "names that look like markup or code are text in the page and in pictures" {
	pack "$fixtures/hostile.txt" >hostile.graph
	lp-report -o page.html hostile.graph
	run ! grep -q '<svg onload\|<img src\|<script>window' page.html
	for figure in timeline path waits gains efficiency matrix; do
		lp-report -F svg --figure $figure hostile.graph >$figure.svg
		python3 -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1])
assert not d.getElementsByTagName("script") and not d.getElementsByTagName("img")
assert not any(e.hasAttribute("onload") for e in d.getElementsByTagName("*"))
assert d.getElementsByTagName("title") and d.getElementsByTagName("desc")' $figure.svg
	done
	browser page.html
}

@test "a page stays within its size, for few and many calls and ranks, and can be explored" {
	random_run.py make 11 | lp-graph 2>/dev/null >small.graph
	for size in 100k 300k 5M; do
		lp-report --size $size -o page.html small.graph
		[ "$(stat -c %s page.html)" -le $(($(echo $size | sed 's/k/*1024/; s/M/*1048576/'))) ]
	done
	awk 'BEGIN {
		print "graph ranks=300"
		for (r = 0; r < 300; r++) {
			print r, "MPI_Init 0 +" 1000 + r
			for (i = 1; i <= 20; i++)
				print r, "MPI_Barrier", i * 10000 + (r * 37 + i * 101) % 3000, i * 10000 + 5000, "comm=1"
		}
		for (i = 1; i <= 20; i++) {
			printf "collective"
			for (r = 0; r < 300; r++) printf " %d:%d", r, i
			print ""
		}
	}' >many.txt
	pack many.txt >many.graph
	lp-report --size 200k -o page.html many.graph
	[ "$(stat -c %s page.html)" -le 204800 ]
	[ "$(stat -c %s page.html)" -gt 50000 ]
	lp-report -o page.html many.graph
	browser page.html many
}

@test "a million calls take no more memory than the page and the ranks need" {
	"$ROOT/build/bench/synthetic" -r 64 -b 64 -c 1000000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >long.graph
	limited 40000 lp-report --size 500k -o page.html long.graph
}

@test "a page of many calls has the longest" {
	"$ROOT/build/bench/synthetic" -r 8 -c 40000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	lp-report --size 200k -o page.html t.graph
	lp-dump -F text t.graph >calls
	/usr/bin/python3 - <<-END
		import csv, json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S).group(1))
		n = data["events"]
		kept = sorted((n[i + 2] for i in range(0, len(n), 7) if n[i + 3] == len(data["states"])), reverse=True)
		calls = csv.DictReader(open("calls"), delimiter="\t")
		lengths = sorted((int(c["leave_ns"]) - int(c["enter_ns"]) for c in calls), reverse=True)
		assert 100 < len(kept) < len(lengths) and kept == lengths[:len(kept)], (len(kept), len(lengths))
	END
}

@test "the timeline marks computation that was blocked or preempted, in the thread for which a rank waits" {
	pack <"$BATS_TEST_DIRNAME/golden.d/texts/computing.txt" | lp-graph 2>/dev/null >t.graph
	lp-report -F csv t.graph | python3 -c 'import collections, csv, sys
sums = collections.Counter()
for row in csv.DictReader(sys.stdin):
    for key in ("blocked_s", "preempted_s"): sums[row["rank"] + " " + key] += float(row[key])
    sums[row["rank"] + " compute_s"] += sum(float(row[key]) for key in ("compute_s", "blocked_s", "preempted_s"))
for key in sorted(sums): print(key, "%.6f" % sums[key])' >columns
	lp-imbalance -F json t.graph | jq -r '.computation.by_rank[] | .rank as $rank | to_entries[] |
		select(.key | IN("compute_s", "blocked_s", "preempted_s")) | "\($rank) \(.key) \(.value * 1e6 | round / 1e6)"' |
		awk '{ printf "%s %s %.6f\n", $1, $2, $3 }' | sort >ranks
	cmp columns ranks
	lp-report -F svg --figure timeline t.graph | grep -c 'class="a[89] s"' | grep -qx 2
	lp-report -o page.html t.graph
	python3 - <<-END
		import json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S).group(1))
		numbers, location, begin, seen = data["computations"], 0, 0, []
		for i in range(0, len(numbers), 7):
		    begin = begin * (numbers[i] == 0) + numbers[i + 1]
		    location += numbers[i]
		    seen.append((location, begin, numbers[i + 2], numbers[i + 3] - len(data["states"]), data["sites"][numbers[i + 5]]))
		marks = [mark for mark in seen if mark[3] in (1, 2)]
		assert marks == [(0, 15000000, 1000000, 2, ""), (1, 14000000, 2000000, 2, "solve (solve.c:10)"),
		    (1, 17000000, 3000000, 1, "read_input (io.c:5)"), (1, 21000000, 1000000, 1, "")], marks
	END
}

@test "computation is coloured by function and region, hover and search name them, threads unfold" {
	switched_run.py named 1 4 12 | lp-graph 2>/dev/null >t.graph
	lp-report -o page.html t.graph
	switched_run.py cells 1 4 12 page.html
	browser page.html named
}

@test "a scattered path is shown by its share of each cell, another as a line" {
	"$ROOT/build/bench/synthetic" -r 8 -c 40000 | lp-merge 2>/dev/null | lp-graph 2>/dev/null >t.graph
	lp-report --size 100k -o page.html t.graph
	lp-critpath -F stream t.graph >path
	PYTHONPATH=$ROOT/python /usr/bin/python3 - <<-END
		import json, re
		import longpole
		data = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S).group(1))
		unpack = lambda row: "".join(l * int(n or 1) for l, n in re.findall(r"([a-j])(\d*)", row))
		levels = [unpack(row) for row in data["levels"]]
		columns, run = data["columns"], data["run"]
		assert "way" not in data and data["rows"] == 8 and columns > 500
		share = [[0.0] * columns for _ in range(8)]
		path = longpole.frames("path")["path"]
		for l, a, b in zip(path["location"], path["begin"], path["end"]):
		    while a < b:
		        c = min(a * columns // run, columns - 1)
		        to = min(b, -(-(c + 1) * run // columns)) if c < columns - 1 else b
		        share[l][c] += (to - a) * columns / run
		        a = to
		wrong = near = 0
		for l in range(8):
		    for c in range(columns):
		        least = [1 / 256, 1 / 16, 1 / 4, 1 / 2]
		        near += min(abs(share[l][c] - x) for x in least) < 1e-3
		        wrong += "abcde"[sum(share[l][c] >= x for x in least)] != levels[l][c]
		assert wrong <= near, (wrong, near)
		assert near < 8 * columns / 10
		assert len(set("".join(levels))) > 3
	END
	lp-report -F svg --figure timeline -o spread.svg t.graph
	grep -q 'class="way w2 s"' spread.svg
	random_run.py make 12 | lp-graph 2>/dev/null | lp-report -o page.html
	grep -q '"way":' page.html
}

@test "the verdict names rank and place, their cost, and the gain from shortening them" {
	pack >t.graph <<-END
		graph ranks=2
		site site=1 offset=1 function="work" file="w.c" line=5
		0 MPI_Init 0 +1000
		1 MPI_Init 0 +1000
		0 MPI_Barrier 2000 10000 comm=1 site=1
		1 MPI_Barrier 9900 10000 comm=1 site=1
		collective 0:1 1:1
		0 MPI_Finalize 10100 +10
		1 MPI_Finalize 10100 +10
	END
	lp-report -F text t.graph | grep -q "^.*, 2 ranks on .*: rank 1's computation before .*work (w.c:5), 8.9 times the mean of the others, is 9[0-9] % of the critical path"
	lp-report -o page.html t.graph
	grep -o 'id="verdict">[^<]*' page.html | grep -q "rank 1&#39;s computation before .*work (w.c:5), 8.9 times the mean of the others, is 9[0-9] % of the critical path and cost the others [0-9.]* us of rank time, [0-9.]* % of all; balanced, the run takes [0-9.]* instead of [0-9.]* us"
}

@test "messages go from sender to receiver, and ranks of one host are together" {
	cat >t.txt <<-END
		graph
		run ranks=4 locations=4 run_ns=9010
		rank rank=0 host=alpha
		rank rank=1 host=alpha
		rank rank=2 host="b<&>\"'"
		rank rank=3 host="b<&>\"'"
		0 MPI_Init 0 +1000
		1 MPI_Init 0 +1000
		2 MPI_Init 0 +1000
		3 MPI_Init 0 +1000
		0 MPI_Send 2000 +500 comm=1 peer=3 sent=8
		3 MPI_Recv 3000 5000 comm=1 peer=0 received=8
		message 0:1 3:1
		0 MPI_Finalize 9000 +10
		1 MPI_Finalize 9000 +10
		2 MPI_Finalize 9000 +10
		3 MPI_Finalize 9000 +10
	END
	pack t.txt >t.graph
	lp-report -o page.html t.graph
	/usr/bin/python3 - <<-END
		import json, re
		page = open("page.html").read()
		data = json.loads(re.search('id="data">(.*?)</script>', page, re.S).group(1))
		# Rank 3, from 2000 to 5000, the call; sent by location 0.
		assert data["messages"][:4] == [3, 2000, 3000, len(data["states"])] and data["messages"][6:] == [0], data["messages"]
		assert data["hosts"] == ["alpha", "b<&>\"'"] and data["hostOf"] == [0, 0, 2, 1], data
		n = data["computations"]
		computed = [n[i + 2] for i in range(0, len(n), 7) if n[i + 3] == len(data["states"]) + 3]
		assert computed == [1000, 6500, 8000, 8000, 2000, 4000], computed
		hosts = re.search('id="t-hosts".*?</table>', page, re.S).group(0)
		rows = [re.findall('<td[^>]*>(.*?)</td>', row) for row in re.findall('<tr>(.*?)</tr>', hosts)[1:]]
		assert sorted(row[4:] for row in rows) == [["2", "alpha"], ["2", "b&lt;&amp;&gt;&quot;&#39;"]], rows
		assert "<p>Hosts: alpha (2 ranks), b&lt;&amp;&gt;&quot;&#39; (2 ranks).</p>" in page
	END
	lp-report -F svg -o t.svg t.graph
	[ "$(grep -c 'class="host"' t.svg)" = 2 ]
	grep -q 'rotate(-90)" text-anchor="middle">alpha<' t.svg
}

@test "a run of one rank has a page, without a scale if nobody waits" {
	pack >t.graph <<-END
		graph ranks=1
		0 MPI_Init 0 +1000
		0 MPI_Barrier 500000 +10 comm=1
		0 MPI_Finalize 900000 +1000
	END
	lp-report -F svg --figure waits -o waits.svg t.graph
	grep -q '>none</text>' waits.svg
	run -1 grep -F ' us<' waits.svg
	lp-report -o page.html t.graph
	browser page.html
}

@test "serialisation and transfer are on the page with a replay; without, how to get them" {
	random_run.py make 5 | lp-graph 2>/dev/null >t.graph
	lp-replay t.graph >ideal.graph
	lp-report --gain 0 t.graph | grep -q 'lp-report --ideal ideal GRAPH'
	lp-report --gain 0 --ideal ideal.graph t.graph >page.html
	run -1 grep -F 'lp-report --ideal ideal' page.html
	lp-imbalance -F json --ideal ideal.graph t.graph >t.json
	for name in serialisation:serialization transfer:transfer; do
		shown=$(grep -o "id=\"${name%:*}\" data-v=\"[0-9.]*" page.html | cut -d '"' -f 4)
		jq -e --argjson shown "$shown" ".efficiency.${name#*:} - \$shown | fabs < 1e-8" t.json
	done
}

@test "with the page comes what lp-imbalance prints" {
	random_run.py make 5 | lp-graph 2>/dev/null >t.graph
	lp-replay t.graph >ideal.graph
	pack "$fixtures/hostile.txt" >hostile.graph
	sampled_run.py make 7 5 30 9 | lp-graph 2>/dev/null >sampled.graph
	for run in "t.graph --ideal ideal.graph" t.graph hostile.graph sampled.graph; do
		# shellcheck disable=SC2086
		lp-imbalance --json want.json $run >want.txt
		# shellcheck disable=SC2086
		lp-report --imbalance got.txt --imbalance-json got.json $run >page.html
		cmp want.txt got.txt
		cmp want.json got.json
	done
	run -2 lp-report --imbalance /nowhere/file -o page.html t.graph
	[ "$output" = "lp-report: /nowhere/file: No such file or directory" ]
}

@test "pictures work without CSS variables: with their own colours, and long names cut" {
	type -P rsvg-convert >/dev/null || skip "needs rsvg-convert"
	{
		printf 'graph ranks=2\nsite site=1 offset=1 function="%s" file="w.c" line=5\n' "$(printf 'é%.0s' {1..90})"
		printf '%s\n' '0 MPI_Init 0 +1000' '1 MPI_Init 0 +1000' '0 MPI_Send 2000 +500 comm=1 peer=1 sent=8 site=1' \
			'1 MPI_Recv 1500 5000 comm=1 peer=0 received=8 site=1' 'message 0:1 1:1' \
			'0 MPI_Finalize 9000 +10' '1 MPI_Finalize 9000 +10'
	} >t.txt
	pack t.txt >t.graph
	for figure in timeline path waits gains efficiency matrix; do
		lp-report -F svg --figure $figure -o $figure.svg t.graph
		run -1 grep -F 'var(' $figure.svg
		rsvg-convert -f ps -o $figure.ps $figure.svg
		grep -qE '^[0-9.]+ [0-9.]+ [0-9.]+ rg' $figure.ps		# a colour that is no grey
	done
	/usr/bin/python3 - <<-'END'
		import re
		labels = re.findall("<text[^>]*>([^<]*)", open("gains.svg", encoding="utf-8").read())
		cut = [label for label in labels if label.endswith("...")]
		assert cut and all(40 < len(label) + label.count("é") <= 63 for label in cut), labels
	END
}

@test "the same input gives the same page" {
	random_run.py make 12 | lp-graph 2>/dev/null >t.graph
	cmp <(lp-report t.graph) <(lp-report t.graph)
	lp-gain -F stream --gain 20 t.graph | lp-report >piped.html
	grep -q 'of the critical path\|no rank keeps' piped.html
}

@test "output to a device or a pipe does not replace it" {
	random_run.py make 13 | lp-graph 2>/dev/null >t.graph
	mkfifo pipe
	for command in "lp-report -o pipe" "lp-export -f perfetto -o pipe"; do
		timeout 300 cat pipe >written &
		timeout 300 $command t.graph
		wait $!
		[ -p pipe ]
		$command t.graph -o /dev/stdout | cmp - written
	done
	[ "$(echo pipe*)" = pipe ]
}

@test "a damaged stream leaves no page" {
	random_run.py make 13 | lp-graph 2>/dev/null >t.graph
	head -c -40 t.graph >cut.graph
	echo before >page.html
	run -2 --separate-stderr lp-report -o page.html cut.graph
	[ "$(cat page.html)" = before ]
	[ "$(ls page.html* | wc -l)" = 1 ]
	run -2 --separate-stderr bash -c 'lp-report t.graph >/dev/full'
	[ -n "$stderr" ]
}

@test "the hashes of the policy are those of the page's code and styles" {
	random_run.py make 14 | lp-graph 2>/dev/null | lp-report >page.html
	python3 - <<-'END'
		import base64, hashlib, re
		page = open("page.html", encoding="utf-8").read()
		policy = re.search(r'Content-Security-Policy" content="([^"]*)', page).group(1)
		for tag, rule in (("script", "script-src"), ("style", "style-src")):
		    code = re.search(r"<%s>(.*?)</%s>" % (tag, tag), page, re.S).group(1)
		    want = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
		    assert "%s 'sha256-%s'" % (rule, want) in policy, tag
	END
}

@test "the columns of the timeline add up to the run and to the path" {
	random_run.py make 3 | lp-graph 2>/dev/null | lp-critpath >t.path
	lp-report -F csv t.path >t.csv
	lp-critpath -F json t.path >t.json
	/usr/bin/python3 - <<-'END'
		import csv, json
		rows = list(csv.DictReader(open("t.csv")))
		path = json.load(open("t.json"))
		run = path["run_time_s"]
		assert abs(sum(float(r["path_s"]) for r in rows) - path["path_length_s"]) < 1e-5 * run
		ranks = {int(r["rank"]) for r in rows}
		for rank in ranks:
		    own = [r for r in rows if int(r["rank"]) == rank]
		    assert abs(float(own[-1]["to_s"]) - run) < 1e-8
		    inside = sum(float(r[k]) for r in own for k in r if k.endswith("_s") and k not in ("from_s", "to_s", "path_s"))
		    assert 0 < inside <= run * 1.0001
	END
}

@test "lp-replay's monitor is in a figure and on the page: it ends at the transfer efficiency" {
	random_run.py make 5 | lp-graph 2>/dev/null >t.graph
	lp-replay --monitor all --regions t.graph >ideal.graph
	trace.py check ideal.graph
	lp-dump -k region ideal.graph | jq -s -e 'length > 0 and all(.begin_ns <= .end_ns and .computing <= 1)'
	lp-report -F svg --figure monitor --ideal ideal.graph --gain 0 t.graph >m.svg
	/usr/bin/python3 - <<-'END'
		import re, subprocess
		svg = open("m.svg").read()
		# Of each rank the line since the beginning ends where its last pair does: 76 units are 120 %.
		ends = [float(p.rsplit(" ", 1)[1]) for p in re.findall(r'class="a5 s"[^>]* d="([^"]+)"', svg)]
		last = {}
		for line in subprocess.run(
		        "lp-replay --monitor all -F text t.graph", shell=True, capture_output=True, text=True).stdout.splitlines()[1:]:
		    cells = line.split("\t")
		    last[int(cells[0])] = float(cells[6])
		assert len(ends) == min(8, len(last)) > 0
		for i, rank in enumerate(sorted(last)[:8]):
		    top = 44 + i * 102
		    assert abs(ends[i] - (top + 76 * (1 - min(last[rank], 1.2) / 1.2))) < 0.06, (rank, ends[i], last[rank])
	END
	lp-report --ideal ideal.graph --gain 0 t.graph | grep -q 'Transfer efficiency over time'
	run -2 --separate-stderr lp-report -F svg --figure monitor --gain 0 t.graph
	[ "$stderr" = "lp-report: --figure monitor: the stream has no data for it" ]
}

@test "the timelines of two runs are one above the other on one time axis" {
	for end in 1000 4000; do
		printf 'trace ranks=2\n0 MPI_Init 0 10 comm=1\n1 MPI_Init 0 10 comm=1\n0 MPI_Barrier 500 %s comm=1\n1 MPI_Barrier %s %s comm=1\n' \
			$end $((end - 100)) $end | pack | lp-graph 2>/dev/null >$end.graph
	done
	lp-report -F svg --figure timeline --beside 4000.graph -o t.svg 1000.graph
	python3 - <<-'END'
		import re, xml.dom.minidom
		page = xml.dom.minidom.parse("t.svg")
		inner = {e.getAttribute("aria-labelledby").split("-t ")[0]: e for e in page.getElementsByTagName("svg")}
		assert set(inner) == {"beside", "timeline-own", "timeline-beside"}
		def end(name):	# where the line of the path ends
		    way = [p for p in inner[name].getElementsByTagName("path") if p.getAttribute("class") == "way"]
		    return float(re.findall(r"H([0-9.]+)$", way[-1].getAttribute("d"))[0])
		assert abs(end("timeline-beside") - 784) < 0.01 and abs(end("timeline-own") - (64 + 720 / 4)) < 0.5
		axes = [[t.firstChild.data for t in inner[n].getElementsByTagName("text")
		         if t.getAttribute("text-anchor") == "middle"] for n in ("timeline-own", "timeline-beside")]
		assert axes[0] == axes[1] and len(axes[0]) > 3
	END
	run -1 grep -F 'var(' t.svg
	lp-report --beside 4000.graph 1000.graph | grep -q 'timeline-beside'
	lp-report -F svg --beside 1000.graph 1000.graph >/dev/null
	run -2 --separate-stderr lp-report -F svg --beside nowhere 1000.graph
	[ "$stderr" = 'lp-report: nowhere: No such file or directory' ]
	[ -z "$output" ]
	run -2 --separate-stderr lp-report -F svg --beside 1000.graph - <1000.graph
	[ "$stderr" = 'lp-report: --beside: both runs must be files' ]
}
