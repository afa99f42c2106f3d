# SPDX-License-Identifier: BSD-3-Clause
# lp-record itself: choice of the recorder, several runs, and their traces.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -o kinds "$ROOT/tests/apps/kinds.c"
	gcc -O1 -o loaded "$ROOT/tests/apps/loaded.c"
}

RUN="mpirun --oversubscribe --mca mpi_yield_when_idle 1"

# calls FOLDER NAME: how many of them its ranks made
calls() {
	lp-merge "$1" | lp-dump -k call | jq -s --arg call "$2" 'map(select(.call == $call)) | length'
}

@test "each MPI run under one lp-record is separate, and none is lost" {
	lp-record -o run -- bash -c "$RUN -n 2 $BATS_FILE_TMPDIR/loaded libmpi.so.40 &&
		$RUN -n 3 $BATS_FILE_TMPDIR/loaded libmpi.so.40 && $RUN -n 1 $BATS_FILE_TMPDIR/loaded libmpi.so.40" 2>err
	[ "$(cat err)" = "lp-record: run: 2 further MPI runs, started or spawned, are in world.N there: lp-merge adds spawned ones, and others that are named" ]
	[ "$(calls run MPI_Barrier)" -eq 10 ]
	[ "$(for w in run/world.*; do calls $w MPI_Barrier; done | sort -n | paste -sd' ')" = "5 15" ]
}

@test "concurrent runs do not mix" {
	lp-record -o run -- bash -c "for i in 1 2 3; do $RUN -n 2 $BATS_FILE_TMPDIR/loaded libmpi.so.40 & done; wait" 2>/dev/null
	[ "$(for w in run run/world.*; do calls $w MPI_Barrier; done | paste -sd' ')" = "10 10 10" ]
}

@test "a run started by a program is separate, too" {
	lp-record -o run -- $RUN -n 2 bash -c "$BATS_FILE_TMPDIR/loaded libmpi.so.40" 2>err
	[ ! -s err ]
	[ "$(calls run MPI_Barrier)" -eq 10 ]
	# A serial run within each rank of another.
	cat >within.c <<-END
		#include <mpi.h>
		#include <stdlib.h>
		int main(int c, char **v) {
			MPI_Init(&c, &v);
			MPI_Barrier(MPI_COMM_WORLD);
			system("env -i LD_PRELOAD=\"\$LD_PRELOAD\" LONGPOLE_DIR=\"\$LONGPOLE_DIR\" HOME=/tmp PATH=\"\$PATH\" "
				"OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " LOADED " libmpi.so.40 >/dev/null");
			return MPI_Finalize();
		}
	END
	mpicc -DLOADED="\"$BATS_FILE_TMPDIR/loaded\"" -w -o within within.c
	lp-record -o run -- $RUN -n 2 ./within 2>err
	grep -q '2 further MPI runs' err
	[ "$(calls run MPI_Barrier)" -eq 2 ]
	[ "$(for w in run/world.*; do calls $w MPI_Barrier; done | paste -sd' ')" = "5 5" ]
}

@test "standard output holds one run: status 2 if there were more" {
	run -2 --separate-stderr bash -c "lp-record -- bash -c '$RUN -n 2 $BATS_FILE_TMPDIR/loaded libmpi.so.40;
		$RUN -n 1 $BATS_FILE_TMPDIR/loaded libmpi.so.40' >raw"
	[[ "$stderr" == *"lp-record: 1 further MPI runs were started, or processes spawned: their traces are lost; -o FOLDER keeps them" ]]
	[ "$(calls raw MPI_Barrier)" -eq 10 ]
}

@test "a rank under a launcher removes traces of an earlier run, including further worlds" {
	lp-record -o run -- bash -c "$RUN -n 3 $BATS_FILE_TMPDIR/loaded libmpi.so.40; $RUN -n 1 $BATS_FILE_TMPDIR/loaded libmpi.so.40" 2>err
	$RUN -n 2 lp-record -o run "$BATS_FILE_TMPDIR/loaded" libmpi.so.40
	[ "$(ls run | paste -sd' ')" = "rank.0 rank.1" ]
	[ "$(calls run MPI_Barrier)" -eq 10 ]
}

@test "a file with the name of a trace that is no trace is refused, not followed or read" {
	mkdir run
	mkfifo run/rank.0
	run -2 --separate-stderr timeout 300 lp-record -o run -- true
	[ "$stderr" = "lp-record: $PWD/run/rank.0: is not a raw trace, but has the name of one" ]
	rm run/rank.0
	echo mine >mine
	ln -s ../mine run/rank.0
	run -2 lp-record -o run -- true
	[ "$(cat mine)" = mine ]
}

@test "a program that loads MPI by dlopen and dlsym is recorded" {
	lp-record -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/loaded" libmpi.so.40 >out
	[ "$(grep -c 'loaded: done' out)" -eq 2 ]
	[ "$(calls run MPI_Barrier)" -eq 10 ]
	[ "$(calls run MPI_Init)" -eq 2 ]
}

@test "the recorder fits the program's MPI, also after dlopen" {
	[ -e "$ROOT/lib/liblongpole-record.mpich.so" ] || skip "not built: needs libmpich-dev"
	mpicc.mpich -w -o kinds "$ROOT/tests/apps/kinds.c"
	run -0 lp-record -o run -- mpirun.mpich -n 4 ./kinds
	[ "$(calls run MPI_Finalize)" -eq 4 ]
	run -0 lp-record -o run -- $RUN -n 4 "$BATS_FILE_TMPDIR/kinds"
	[ "$(calls run MPI_Finalize)" -eq 4 ]
	run -7 lp-record -o run -- mpirun.mpich -n 4 ./kinds 7
	run -7 lp-record -o run -- $RUN -n 4 "$BATS_FILE_TMPDIR/kinds" 7
	lp-record -o run -- mpirun.mpich -n 2 "$BATS_FILE_TMPDIR/loaded" libmpich.so.12 0x44000000
	[ "$(calls run MPI_Barrier)" -eq 10 ]
}

@test "mpi4py is recorded" {
	/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip "python3-mpi4py is not installed"
	printf '%s\n' 'from mpi4py import MPI' 'for i in range(5): MPI.COMM_WORLD.Barrier()' >five.py
	lp-record -o run -- $RUN -n 2 /usr/bin/python3 five.py
	[ "$(calls run MPI_Barrier)" -ge 10 ]
}

@test "a program that is only linked with Python, and does not start it, is recorded" {
	local python
	python=$(ldconfig -p | awk '/libpython3[.0-9]*[.]so/ { print $NF; exit }')
	[ -n "$python" ] || skip "there is no shared library of Python"
	printf '%s\n' '#include <mpi.h>' 'int main(void) { MPI_Init(0, 0); return MPI_Finalize(); }' >linked.c
	mpicc -o linked linked.c -Wl,--no-as-needed "$python"
	lp-record -o run -- mpirun --oversubscribe -n 2 ./linked
	[ "$(lp-merge run | lp-dump -k call | wc -l)" -eq 4 ]
}

@test "a call of mpi4py has function and line of the Python code, the user's own before a package's" {
	/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip "python3-mpi4py is not installed"
	[[ "$(/usr/bin/python3 -V)" == 'Python 3.1'[123].* ]] || skip "this version keeps its frames elsewhere"
	mkdir -p site-packages
	printf '%s\n' 'def meet(world):' '    world.Barrier()' >site-packages/helper.py
	cat >solver.py <<-END
		import sys, threading
		sys.path.insert(0, "site-packages")
		from mpi4py import MPI
		import helper
		world = MPI.COMM_WORLD
		ended = False
		class Solver:
		    def step(self, n):
		        world.Allreduce(bytearray(1), bytearray(1), MPI.MAX)
		        helper.meet(world); world.bcast(n)
		        if n > 0:
		            self.step(n - 1)
		def other():    # runs whenever a call has given up the lock
		    while not ended:
		        exec("def made(): return [str(i) for i in range(50)]\nmade()")
		thread = threading.Thread(target=other)
		thread.start()
		for i in range(20):
		    Solver().step(3)
		    exec(f"def made_{i}(): world.Scan(bytearray(1), bytearray(1), MPI.MAX)\nmade_{i}()")
		ended = True
		thread.join()
	END
	for depth in 1 3; do
		rm -rf run
		lp-record --stack $depth -o run -- $RUN -n 2 /usr/bin/python3 solver.py
		trace.py check run/rank.0 run/rank.1
		lp-merge run >t.trace
		lp-dump -k site t.trace | jq -r 'select(.call and .function) | "\(.call) \(.function) \(.file | sub(".*/"; "")):\(.line)"' | sort >sites
		for call in Allreduce:9 Barrier:10 Bcast:10; do
			[ "$(grep -c "^MPI_${call%:*} Solver[.]step solver[.]py:${call#*:}\$" sites)" -eq 1 ]
		done
		# Code without a file is not what people edit.
		[ "$(grep -c '^MPI_Scan <module> solver[.]py:20$' sites)" -eq 1 ]
	done
	lp-graph t.trace 2>/dev/null | lp-imbalance | grep -q 'MPI_Barrier at Solver.step (solver.py:10) < Solver.step (solver.py:12) < '
}

@test "a recorder that is not built is named, with its make target, and the program runs" {
	mkdir -p copy/bin copy/lib
	cp "$ROOT/bin/lp-record" copy/bin
	cp "$ROOT/lib/liblongpole-record.so" copy/lib
	run -2 --separate-stderr copy/bin/lp-record -o run -- $RUN -n 2 "$BATS_FILE_TMPDIR/loaded" libmpi.so.40
	[ "$output" = "$(printf 'loaded: done\nloaded: done')" ]
	[[ "${stderr_lines[0]}" == "lp-record: the program has Open MPI, whose recorder is not built: install libopenmpi-dev and type make lib/liblongpole-record.openmpi.so all" ]]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

# slow_run: a folder with traces that take some time to compress
slow_run() {
	mpicc -O1 -o many -x c - <<-END
		#include <mpi.h>
		int main(int c, char **v) {
			MPI_Init(&c, &v);
			for (int i = 0; i < 400000; i++)
				MPI_Barrier(MPI_COMM_SELF);
			return MPI_Finalize();
		}
	END
}

# compresses: a recording of it as $pid, of which nothing runs but compressors as $workers: these are stopped
compresses() {
	for _ in {1..20}; do	# on a busy machine they may have ended when they are seen
		env --default-signal=INT lp-record -z max -o run -- $RUN -n 2 ./many &
		pid=$!
		until gone $pid; do
			if [ -e run/rank.1 ] && ! pgrep -P $pid 'mpirun|prterun' >/dev/null && ls run/rank.*.new >/dev/null 2>&1; then
				workers=$(pgrep -P $pid)
				# shellcheck disable=SC2086
				if kill -STOP $workers && ls run/rank.*.new >/dev/null; then return; fi
				# shellcheck disable=SC2086  # otherwise they would never end
				kill -CONT $workers || gone $workers
			fi
			sleep 0.02
		done
	done
	false
}

@test "a signal ends compression, and the traces stay valid" {
	local pid workers
	slow_run
	for signal in TERM INT; do
		compresses
		kill -$signal $pid
		# shellcheck disable=SC2086
		kill -CONT $workers || gone $workers
		local status=0
		wait $pid || status=$?
		[ "$status" -eq "$((128 + $(kill -l $signal)))" ]
		[ "$(ls -A run | grep -cvE '^rank\.[01](\.[0-9]{4})?$')" -eq 0 ]
		trace.py check run/*
	done
}

@test "compressors of a killed lp-record do not outlive it" {
	local pid workers
	slow_run
	compresses
	kill -KILL $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 137 ]
	# shellcheck disable=SC2086
	await gone $workers	# although nothing continues them
	# What they have left goes with the next run.
	lp-record -o run -- $RUN -n 1 "$BATS_FILE_TMPDIR/loaded" libmpi.so.40
	[ "$(ls run)" = rank.0 ]
}

@test "a site is named with its MPI function, and by its offset if lines are missing" {
	cat >two.c <<-END
		#include <mpi.h>
		__attribute__((noinline)) void both(void) {
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
			__asm__ volatile("");
		}
		int main(int c, char **v) { MPI_Init(&c, &v); both(); return MPI_Finalize(); }
	END
	mpicc -O1 -rdynamic -o named two.c
	mpicc -O1 -o bare two.c
	strip bare
	mpicc -g -O1 -o lines two.c
	for how in named bare lines; do
		lp-record -o run -- $RUN -n 2 ./$how
		lp-merge run | lp-graph 2>/dev/null | lp-critpath -F json |
			jq -r '.. | strings | select(test("Barrier.*(at|[+])"))' | sort -u >$how.sites
	done
	[ "$(grep -cE '^MPI_Barrier at both \(named\+0x[0-9a-f]+\)$' named.sites)" -eq 2 ]
	[ "$(grep -cE '^MPI_Barrier at bare\+0x[0-9a-f]+$' bare.sites)" -eq 2 ]
	[ "$(grep -cE '^MPI_Barrier at both \(two.c:[34]\)$' lines.sites)" -eq 2 ]
}
