# SPDX-License-Identifier: BSD-3-Clause
# lp-record --merge, and lp-merge by several processes that see only their own files and a folder.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	mpicc -g -O1 -o stress "$ROOT/tests/apps/stress.c"
	cat >dies.c <<-'END'
		#include <mpi.h>
		#include <signal.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int rank;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			for (int i = 0; i < 10; i++)
				MPI_Barrier(MPI_COMM_WORLD);
			if (rank == 1)
				raise(SIGKILL);
			sleep(20);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc -o dies dies.c
	cat >starts.c <<-'END'
		#include <mpi.h>
		#include <stdlib.h>
		extern char **environ;
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			if (argc == 1) {	/* each rank runs a serial MPI program, too */
				char command[4096] = "env ";
				for (char **v = environ; *v != NULL; v++) {
					char name[200];
					if (sscanf(*v, "%190[^=]", name) == 1 && (strncmp(name, "OMPI_COMM", 9) == 0 ||
					    strncmp(name, "PMI", 3) == 0 || strncmp(name, "OMPI_MCA_ess", 12) == 0 ||
					    strncmp(name, "OMPI_MCA_orte", 13) == 0 || strncmp(name, "PRTE", 4) == 0))
						strcat(strcat(strcat(command, "-u "), name), " ");
				}
				if (system(strcat(strcat(command, argv[0]), " alone")) != 0)
					return 1;
			}
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	sed -i '1i #include <stdio.h>\n#include <string.h>' starts.c
	mpicc -o starts starts.c
}

start() {
	timeout -k 1 60 mpirun --oversubscribe --mca mpi_yield_when_idle 1 "$@"
}

# merged SHARDS FOLDER: as lp-merge makes them of the folder afterwards, to the byte
merged() {
	mkdir -p again
	(cd again && ln -sfn "../${2%%/*}" "${2%%/*}" && rm -rf "$1" && lp-merge -o "$1" --shards node "$2")
	diff -r "again/$1" "$1"
}

# gone FILE...: soon
gone() {
	for _ in $(seq 100); do
		ls "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	false
}

@test "the job's last step makes the shards that lp-merge makes afterwards, and leaves nothing else" {
	start -n 3 lp-record -o run --merge shards "$BATS_FILE_TMPDIR/stress" 1 20
	merged shards run
	[ "$(ls -A run | paste -sd' ')" = "rank.0 rank.1 rank.2" ]
	[ ! -e shards.merging ]
	# In front of the launcher, too; shards of the run before are none of this one.
	lp-record -o run -z min --merge shards mpirun --oversubscribe -n 2 "$BATS_FILE_TMPDIR/stress" 2 20
	merged shards run
	lp-graph shards 2>err | lp-critpath -F json | jq -e '.run_time_s == .path_length_s'
	grep -q ', 0 sends, 0 receives and 0 collectives not' err
}

@test "the job's last step under MPICH's launcher" {
	command -v mpicc.mpich >/dev/null || skip "no MPICH here"
	mpicc.mpich -g -O1 -w -o stress "$ROOT/tests/apps/stress.c"
	timeout -k 1 60 mpirun.mpich -n 3 lp-record -o run --merge shards ./stress 1 20
	merged shards run
	[ ! -e shards.merging ]
}

@test "every further run of the job has shards of its own" {
	start -n 2 lp-record -o run --merge shards "$BATS_FILE_TMPDIR/starts"
	merged shards run
	[ "$(ls -d run/world.* | wc -l)" -eq 2 ]
	for world in run/world.*; do
		merged "shards.${world##*/}" "$world"
	done
	[ "$(ls -d shards* | wc -l)" -eq 3 ]
}

@test "of a job in which a rank is killed what is there is merged" {
	run ! start -n 3 lp-record -o run --merge shards "$BATS_FILE_TMPDIR/dies"
	gone shards.merging
	merged shards run 2>err
	[ "$(grep -c 'ended early, after 11 rows' err)" -eq 3 ]
	[ "$(lp-dump -k call shards | grep -c MPI_Barrier)" -eq 30 ]
}

@test "shards that cannot be written: one line, status 2, and the raw traces stay" {
	run -2 --separate-stderr lp-record --merge shards true
	[ "$stderr" = 'lp-record: --merge needs -o, the folder of the raw traces' ]
	echo text >shards
	run -2 --separate-stderr start -n 2 lp-record -o run --merge shards "$BATS_FILE_TMPDIR/stress" 1 5
	[ "$(grep '^lp-' <<<"$stderr")" = 'lp-record: shards: Not a directory' ]
	mkdir full
	mount -t tmpfs -o size=64k none full 2>/dev/null || skip "mounting a small disk needs root"
	status=0
	start -n 2 lp-record -o run --merge full/shards "$BATS_FILE_TMPDIR/stress" 1 200 >out 2>err || status=$?
	ls -R full >left
	umount full
	[ $status -eq 2 ]
	[ "$(grep -c '^lp-' err)" -eq 1 ]
	grep -q '^lp-merge: full/.*No space left on device' err
	run ! grep merging left
	lp-merge run | lp-dump -k run | jq -e '.ranks == 2'
}

# apart RANKS...: lp-merge for each, at once, where it sees the traces of these ranks alone
apart() {
	local k=0 ranks rank
	pids=()
	mkdir -p shards meeting
	for ranks; do
		rm -rf sees.$k && mkdir -p sees.$k/run
		ln -s ../shards ../meeting sees.$k
		for rank in $ranks; do
			ln run/rank.$rank sees.$k/run
		done
		(cd sees.$k && exec timeout 30 lp-merge -o shards --shards node --meet meeting --member $k/$# run/*) 2>err.$k &
		pids+=($!)
		k=$((k + 1))
	done
	statuses=
	for k in "${pids[@]}"; do
		wait "$k" && statuses+=0 || statuses+=$?
	done
}

# four_ranks ENDED: on three nodes with clocks of their own; not ended: their drift is what messages tell
four_ranks() {
	local rank
	mkdir -p run
	for rank in 0 1 2 3; do
		{
			echo "raw ranks=4 rank=$rank run=77 host=node$((rank % 3)) history=[\"app $rank\"]"
			echo "module base=4096 bytes=4096 path=/lib/$rank"
			[ $((rank % 3)) -eq 0 ] || echo "clock at_ns=1050 peer=0 offset_ns=0 error_ns=1"
			[ $rank -ne 3 ] || echo "clock_shared peer=0"
			echo "0 MPI_Init 1000 1100"
			for k in 1 2 3 4 5; do
				local at=$((k * 1000000 + rank % 3 * k * 2000))
				echo "0 MPI_Send $at $((at + 50)) comm=1 peer=$((rank ^ 1)) tag=$k bytes_sent=8"
				echo "0 MPI_Recv $((at + 60)) $((at + 300)) comm=1 peer=$((rank ^ 1)) tag=$k bytes_received=8"
			done
			[ -z "$1" ] || [ $((rank % 3)) -eq 0 ] ||
				echo "clock at_ns=9000000 peer=0 offset_ns=$((-18000 * (rank % 3))) error_ns=1"
			[ -z "$1" ] || echo "0 MPI_Finalize 9000000 9000100"
		} | tests/pack >run/rank.$rank
	done
}

@test "members that see only their own traces write what one does that sees all" {
	four_ranks ended
	apart 2 '0 3' 1
	[ $statuses = 000 ]
	[ "$(cat err.?)" = "" ]
	merged shards run
	[ -z "$(ls meeting)" ]
}

@test "what takes the messages of all ranks is worked out from copies, to the same bytes" {
	four_ranks ''
	mkdir others && lp-merge -o others/shards --shards node run 2>expected
	grep -q 'drift of .* told by messages' expected
	apart '0 3' 1 2
	[ $statuses = 000 ]
	merged shards run
	cmp expected err.0
	[ "$(cat err.1 err.2)" = "" ]
}

@test "where one of the members fails all end, and one line says why" {
	four_ranks ended
	head -c -30 run/rank.1 >cut && mv cut run/rank.1
	apart '0 3' 1 2
	[ $statuses = 222 ]
	[ "$(cat err.? | wc -l)" -eq 1 ]
	grep -q '^lp-merge: run/rank.1:' err.?
	rm -r meeting
	four_ranks ended
	apart 0 '1 3' 2	# the traces of a node in two places
	[ $statuses = 222 ]
	[ "$(cat err.? | wc -l)" -eq 1 ]
	grep -q 'of node node0, whose other traces are not in the same place' err.?
	run -2 --separate-stderr lp-merge -o shards --shards node --meet meeting run
	[ "$stderr" = 'lp-merge: --meet and --member are given together' ]
	run -2 --separate-stderr lp-merge -o shards --shards node --meet meeting --member 2/2 run
	[[ "$stderr" == 'lp-merge: --member 2/2: not K/N'* ]]
}
