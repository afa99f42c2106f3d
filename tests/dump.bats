#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause

load helpers

# calls FUNCTION: the lines of kind call of that function in good-calls, without kind, rank and times.
calls() {
	lp-dump -k call "$(stream good-calls)" |
	    jq -c "select(.call == \"$1\" and .rank == 0) | del(.kind, .rank, .call, .enter_ns, .leave_ns)"
}

@test "a call is one line with its times and applicable fields" {
	run -0 lp-dump -k call "$(stream good-small)"
	[ "${lines[0]}" = '{"kind":"call","rank":0,"seq":0,"call":"MPI_Init","enter_ns":0,"leave_ns":1000}' ]
	[ "${lines[1]}" = '{"kind":"call","rank":0,"seq":1,"call":"MPI_Send","enter_ns":1500,"leave_ns":1600,"comm":1,"peer":1,"tag":5,"bytes_sent":8,"site":1}' ]
	[ "${lines[3]}" = '{"kind":"call","rank":1,"seq":1,"call":"MPI_Recv","enter_ns":1200,"leave_ns":1700,"comm":1,"peer":0,"tag":5,"bytes_received":8}' ]
	[ "${#lines[@]}" -eq 4 ]
}

@test "the sites of a stack are unsigned" {
	tests/pack >t.trace <<-END
		trace ranks=1
		site site=200 module=0 offset=1
		site site=201 stack=200,200
		0 MPI_Init 0 10 site=201
	END
	[ "$(lp-dump -k site t.trace | jq -c .stack | tail -1)" = '[200,200]' ]
}

@test "an undefined call site counts as none, even if only one is undefined" {
	tests/pack >t.trace <<-END
		trace ranks=1
		site site=5 module=0 offset=1
		site site=4294967295 module=0 offset=2
		0 MPI_Init 0 10 site=5
		0 MPI_Barrier 20 30 site=6
	END
	[ "$(lp-dump -k call t.trace | jq -c .site | paste -sd ' ')" = '5 null' ]
}

@test "zero bytes are printed if and only if bytes apply" {
	[ "$(calls MPI_Send)" = '{"seq":1,"comm":1,"peer":1,"tag":0,"bytes_sent":0}' ]
	[ "$(calls MPI_Barrier)" = '{"seq":29,"comm":1}' ]
	[ "$(calls MPI_Allreduce)" = '{"seq":28,"comm":1,"bytes_sent":0,"bytes_received":0}' ]
}

@test "special peers and tags have names" {
	[ "$(calls MPI_Ssend | jq -r .peer)" = MPI_PROC_NULL ]
	[ "$(calls MPI_Iprobe | jq -r '.peer, .tag' | tr '\n' ' ')" = "MPI_ANY_SOURCE MPI_ANY_TAG " ]
	[ "$(calls MPI_Bcast | jq -r .peer | tr '\n' ' ')" = "0 MPI_ROOT " ]
}

@test "a send-receive has both sides" {
	[ "$(calls MPI_Sendrecv)" = '{"seq":8,"comm":1,"peer":1,"tag":2,"bytes_sent":24,"source":1,"receive_tag":3,"bytes_received":0}' ]
}

@test "a wait names the operations that it completed" {
	[ "$(calls MPI_Test)" = '{"seq":5,"completed":[]}' ]
	run -0 calls MPI_Wait
	[ "${lines[0]}" = '{"seq":6,"completed":[{"seq":3}]}' ]
	[ "${lines[1]}" = '{"seq":7,"comm":1,"peer":1,"tag":9,"bytes_received":32,"completed":[{"seq":4,"comm":1,"peer":1,"tag":9,"bytes_received":32}]}' ]
	run -0 calls MPI_Waitall
	[ "${lines[0]}" = '{"seq":12,"completed":[{"seq":10},{"seq":11,"comm":1,"peer":1,"tag":4,"bytes_received":0}]}' ]
}

@test "persistent requests name the call that made them" {
	[ "$(calls MPI_Start)" = '{"seq":16,"request_seq":14,"comm":1,"peer":1,"tag":6,"bytes_sent":4,"started":[{"seq":14,"comm":1,"peer":1,"tag":6,"bytes_sent":4}]}' ]
	[ "$(calls MPI_Startall | jq -c '.started | map(.seq)')" = "[14,15]" ]
	[ "$(calls MPI_Cancel)" = '{"seq":20,"request_seq":19}' ]
	[ "$(calls MPI_Request_free)" = '{"seq":23,"request_seq":14}' ]
}

@test "an unknown function is printed with its parts" {
	[ "$(calls MPIX_Future)" = '{"seq":34,"comm":1,"peer":1,"bytes_sent":5,"parts":[{"seq":35,"tag":3,"bytes_received":1}]}' ]
}

@test "another thread of a rank has its number" {
	run -0 lp-dump "$(stream good-threads)"
	[[ "$output" == *'{"kind":"call","rank":0,"thread":1,"seq":0,"call":"MPI_Send",'* ]]
	[[ "$output" == *'{"kind":"segment","rank":0,"thread":1,"begin_ns":1500,'* ]]
	run -0 lp-dump -k message -r 0 "$(stream good-threads)"
	[ "$output" = '{"kind":"message","source":2,"send":0,"target":1,"receive":1}' ]
}

@test "edges, segments and communicators are lines" {
	run -0 lp-dump -k message,collective,sync,settled,segment,communicator "$(stream good-path)"
	diff <(echo "$output") - <<-'END'
	{"kind":"communicator","comm":3,"size":2,"members":[1,0],"name":"a \"name\" of é"}
	{"kind":"communicator","comm":4,"size":1,"members":[0],"remote_size":2,"remote":[1,-1]}
	{"kind":"collective","members":[[0,0],[1,0]]}
	{"kind":"sync","seq":[0,0]}
	{"kind":"message","source":0,"send":1,"target":1,"receive":1}
	{"kind":"collective","members":[[0,2],[1,2]]}
	{"kind":"settled","seq":[2,2]}
	{"kind":"segment","rank":0,"begin_ns":0,"end_ns":1000,"segment":"mpi","call":"MPI_Init"}
	{"kind":"segment","rank":0,"begin_ns":1000,"end_ns":1500,"segment":"compute","site":1}
	{"kind":"segment","rank":1,"begin_ns":1500,"end_ns":1700,"segment":"transfer","call":"MPI_Recv","site":1}
	{"kind":"segment","rank":1,"begin_ns":1700,"end_ns":1900,"segment":"compute"}
	{"kind":"segment","rank":1,"begin_ns":1900,"end_ns":3000,"segment":"mpi","call":"MPI_Finalize"}
	END
}

@test "rows that lack their other end while a run goes on are lines" {
	run -0 lp-dump -k overdue,settled "$(stream good-overdue)"
	diff <(echo "$output") - <<-'END'
	{"kind":"overdue","rank":0,"seq":1}
	{"kind":"settled","seq":[1,2],"early":[3,2]}
	END
}

@test "a raw trace names ranks and calls, from a file and from a pipe" {
	file=$(stream good-raw)
	lp-dump "$file" > "$file.1"
	cat "$file" | lp-dump | cmp - "$file.1"
	lp-dump < "$file" | cmp - "$file.1"
	[ "$(jq -r 'select(.kind == "call") | "\(.rank) \(.thread) \(.call)"' "$file.1" | sort -u | head -3 | tr '\n' ,)" \
	    = "0 1 MPI_Send,0 null MPI_Comm_dup,0 null MPI_Init," ]
}

@test "the table has one line per call" {
	run -0 lp-dump -F table "$(stream good-small)"
	diff <(echo "$output") - <<-END
	$(printf 'rank\tseq\tcall\tenter_ns\tleave_ns\tcomm\tpeer\ttag\tbytes_sent\tbytes_received')
	$(printf '0\t0\tMPI_Init\t0\t1000\t-\t-\t-\t-\t-')
	$(printf '0\t1\tMPI_Send\t1500\t1600\t1\t1\t5\t8\t-')
	$(printf '1\t0\tMPI_Init\t0\t1000\t-\t-\t-\t-\t-')
	$(printf '1\t1\tMPI_Recv\t1200\t1700\t1\t0\t5\t-\t8')
	END
}

@test "the table sums the bytes of the rows of a call" {
	run -0 lp-dump -F table -r 0 "$(stream good-calls)"
	[ "$(awk '$3 == "MPI_Sendrecv" { print $2, $7, $9, $10 }' <<< "$output")" = "8 1 24 0" ]
	[ "$(awk '$3 == "MPI_Waitall" { print $2, $7, $9, $10 }' <<< "$output" | head -n 1)" = "12 - - 0" ]
	[ "$(awk '$3 == "MPI_Bcast" { print $7 }' <<< "$output" | tail -n 1)" = MPI_ROOT ]
}

@test "kinds, ranks and times select lines" {
	file=$(stream good-path)
	[ "$(lp-dump -k run,end "$file" | jq -r .kind | tr '\n' ' ')" = "run end " ]
	[ "$(lp-dump -k call -r 1 "$file" | jq .rank | sort -u)" = 1 ]
	[ "$(lp-dump -k call -r 0-1,7 "$file" | wc -l)" -eq 6 ]
	[ "$(lp-dump -k call,segment -b 0.0000015 -e 0.000002 "$file" | jq -r '.enter_ns // .begin_ns' | sort -n | tr '\n' ' ')" \
	    = "1500 1500 1700 1900 1900 " ]
	[ -z "$(lp-dump -k calls "$file")" ]
}

@test "several files are printed in order" {
	a=$(stream good-small) b=$(stream good-path)
	cat <(lp-dump "$a") <(lp-dump "$b") | cmp - <(lp-dump "$a" - < "$b")
}

@test "everything before the damage is printed, and the damage is an error" {
	file=$(stream good-path)
	head -c 1000 "$file" > "$file.cut"
	run -2 --separate-stderr lp-dump "$file.cut"
	[[ "$stderr" == "lp-dump: $file.cut:1000: cut short in the message that begins at byte "* ]]
	echo "$output" | jq -c . | cmp - <(lp-dump "$file" | head -n "${#lines[@]}" | jq -c .)
}

@test "a missing file is an error" {
	run -2 --separate-stderr lp-dump /nowhere
	[ "$stderr" = "lp-dump: /nowhere: No such file or directory" ]
}

@test "a full disk is an error, for no call, one call and many" {
	grep -v '^trace' "$fixtures/good-small.txt" > "$BATS_TEST_TMPDIR/rows"
	seq -f '0 MPI_Barrier %g000 +10 comm=1' 2000 > "$BATS_TEST_TMPDIR/many"
	pack -H trace < /dev/null > "$BATS_TEST_TMPDIR/0"
	pack -H trace "$BATS_TEST_TMPDIR/rows" > "$BATS_TEST_TMPDIR/1"
	pack -H trace "$BATS_TEST_TMPDIR/many" > "$BATS_TEST_TMPDIR/2"
	for file in 0 1 2; do
		for how in json table; do
			run -2 --separate-stderr bash -c "lp-dump -F $how '$BATS_TEST_TMPDIR/$file' > /dev/full"
			[[ "$stderr" == "lp-dump: standard output: "* ]]
		done
	done
}

@test "if the reader of its output exits, it ends silently" {
	seq -f '0 MPI_Barrier %g000 +10 comm=1' 20000 | pack -H trace > "$BATS_TEST_TMPDIR/many"
	run --separate-stderr bash -c 'lp-dump "$1" | head -n 1; exit ${PIPESTATUS[0]}' - "$BATS_TEST_TMPDIR/many"
	[ "$status" -eq 141 ]
	[ -z "$stderr" ]
}

@test "bad options write nothing and exit 2" {
	for options in "-F xml" "-r x" "-r 3-1" "-r -1" "-b now" "-k , x" "-F table -k call" --nothing; do
		run -2 --separate-stderr lp-dump $options
		echo "$options: $stderr"
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "the help has the options of the page" {
	run -0 lp-dump --help
	[ "${#lines[@]}" -le 24 ]
	diff <(echo "$output" | grep -o '^ *-., --[a-z]*' | sed 's/.*--//' | sort) \
	    <(grep -o '^\.It Fl .*Fl -[a-z]*' "$ROOT/convert/dump/dump.1" | sed 's/.*Fl -//' | sort)
	[[ "$(lp-dump -V)" == "lp-dump "[0-9]* ]]
	mandoc -T lint -W warning "$ROOT/convert/dump/dump.1" "$ROOT/base/stream/trace.5"
}

@test "the examples of the page run" {
	cd "$BATS_TEST_TMPDIR"
	cp "$(stream good-calls)" app.trace
	cp "$(stream good-path)" app.graph
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$ROOT/convert/dump/dump.1" |
	    sed -n '/^\.Bd/,/^\.Ed/{/^\./!p;/^\.Ed/s/.*/echo =====/p}' > examples
	run -0 --separate-stderr bash -eu -o pipefail examples
	[ -z "$stderr" ]
	[ "$(grep -c ===== <<< "$output")" -eq 3 ]
	[[ "$output" == *"lp-critpath"* ]]
	[[ "$output" == *'"bytes":'* ]]
}

@test "memory does not grow with the length of the stream" {
	/usr/bin/python3 - > "$BATS_TEST_TMPDIR/long" <<-'END'
	import os, sys
	sys.dont_write_bytecode = True
	sys.path.insert(0, os.environ["ROOT"] + "/tests")
	import trace, numpy
	out = trace.Writer(sys.stdout.buffer, "trace")
	out.put("call", {"number": 1, "name": "MPI_Barrier"})
	enter = numpy.arange(4096, dtype="<i8").tobytes()
	for block in range(1000):
	    out.put("calls", {"location": 0, "first": 4096 * block, "count": 4096, "enter": enter,
	                      "duration": bytes(4096), "call": b"\1" * 4096})
	    out.rows += 4096
	out.end()
	END
	[ "$(wc -c < "$BATS_TEST_TMPDIR/long")" -gt 40000000 ]
	limited 20000 lp-dump "$BATS_TEST_TMPDIR/long" >dumped
	run -0 tail -n 1 dumped
	[ "$output" = '{"kind":"end","messages":1001,"rows":4096000}' ]
}
