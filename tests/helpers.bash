# SPDX-License-Identifier: BSD-3-Clause
# Shared by all tests: load helpers

bats_require_minimum_version 1.5.0
export LC_ALL=C TZ=UTC
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Of several interfaces Open MPI 5 may take one by which a process cannot reach another of its own host.
# MPICH's UCX does not start if an interface that it found goes before it opens it: other tests make and remove nodes.
export OMPI_MCA_btl_tcp_if_include=lo UCX_NET_DEVICES=lo
# One-sided communication: MPI_Compare_and_swap by rdma crashes in Open MPI 4.1.4, and ucx fails in 5.0.7.
if command -v prterun >/dev/null; then export OMPI_MCA_osc=^ucx; else export OMPI_MCA_osc=^rdma; fi
# Open MPI 5: of two mpiruns that begin at once, one may fail (status 213), since the other has just made the folder of both.
! command -v prterun >/dev/null || export TMPDIR=${BATS_FILE_TMPDIR:-${TMPDIR:-/tmp}}
# Open MPI starts three times faster if it does not look for networks and devices that no test uses.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=^openib,ofi,uct PMIX_MCA_gds=hash HWLOC_COMPONENTS=-pci,-opencl,-cuda,-nvml,-gl
ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
export ROOT PATH="$ROOT/bin:$ROOT/tests:$PATH"
fixtures=$ROOT/tests/fixtures

# jq 1.6 takes no input at all for a success of -e: what stands before it in a pipe may have failed.
jq() {
	local word told status
	for word; do
		[[ $word =~ ^-[a-z]*e[a-z]*$ ]] || continue
		status=0
		told=$(command jq "$@") || status=$?
		[ -z "$told" ] || printf '%s\n' "$told"
		[ -n "$told" ] || [ $status -ne 0 ] || status=4
		return $status
	done
	command jq "$@"
}

# refute COMMAND...: its answer is no, status 1; trouble (2 and more) answers nothing. Bats would not see "! COMMAND" fail.
refute() {
	local status=0
	"$@" || status=$?
	[ "$status" -eq 1 ]
}

# await COMMAND...: until it succeeds. A busy machine may take minutes for what takes a quiet one milliseconds.
await() {
	local end=$((SECONDS + 300))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# gone PID...: these processes have ended, though nobody may have taken their status
gone() {
	local pid
	for pid; do
		! kill -0 "$pid" 2>/dev/null || grep -q '^State:.Z' "/proc/$pid/status" || return 1
	done
}

# What launchers print beside a program's output is not always text; grep would say "binary file matches".
grep() {
	command grep -a "$@"
}

# stream NAME: the stream of a readable fixture, as a file that is named on standard output.
stream() {
	pack "$fixtures/$1.txt" > "$BATS_TEST_TMPDIR/$1" && echo "$BATS_TEST_TMPDIR/$1"
}

# Whether the tools have sanitizers, which need memory of their own and keep what was freed.
sanitized() {
	nm "$ROOT/bin/lp-dump" | grep -q __asan_init
}

# Whether an emulator runs these programs, for another processor: it takes memory of its own.
emulated() {
	! [ "/proc/$$/exe" -ef "$BASH" ]
}
# UCX's TCP does not always get through an emulator; then MPICH's ranks wait in MPI_Finalize, recorded or not. Nor does
# process_vm_readv, by which Open MPI copies large messages: it goes on without them.
if emulated; then export UCX_TLS=posix,self OMPI_MCA_btl_vader_single_copy_mechanism=none; fi

# short_or_long SHORT LONG: how many runs a test makes up, or which; make test-long takes the second
short_or_long() {
	if [ -n "${LONG:-}" ]; then echo "$2"; else echo "$1"; fi
}

# Whether tools take more memory than their own: of a sanitizer, which keeps what was freed, or of an emulator.
keeps_memory() {
	sanitized || emulated
}

# more_memory WHO: by how much the most memory of a process is larger in large/ than in small/, KB: without that of MPI
# itself. WHO and the files: tests/peak.
more_memory() {
	echo $(($(cat large/peak."$1") - $(cat small/peak."$1")))
}

# limited KB COMMAND...: with so much address space; sanitized and emulated tools need far more, and get it.
limited() {
	local kilobytes=$1
	shift
	if keeps_memory; then
		"$@"
	else
		(ulimit -v "$kilobytes" && "$@")
	fi
}

# ranks N COMMAND...: so many ranks on one core, for results, not for times. Ranks that wait yield their core to each other; on several
# cores they yield it to whatever computes there, each time for its whole time slice.
ranks() {
	local allowed
	allowed=$(taskset -cp $BASHPID)
	allowed=${allowed##* }
	timeout 300 taskset -c "${allowed%%[,-]*}" mpirun --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none -n "$@"
}

# within SECONDS COMMAND...: of its own time on a core, of which other processes take none; an emulator gets twenty times as much
within() {
	local seconds=$1
	if emulated; then seconds=$((20 * seconds)); fi
	(ulimit -t "$seconds" && "${@:2}")
}

# stolen [SECONDS]: what a hypervisor took from this machine since it had taken these seconds
stolen() {
	awk -v before="${1:-0}" -v tick="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.2f\n", $9 / tick - before }' /proc/stat
}

# same_edges A B: lp-graph finds the same edges in both traces, and lp-critpath the same path. OTF2 does not tell the load of
# the machine, on which it hangs whether a long time between two polls was lost.
same_edges() {
	local trace
	for trace; do
		without.py load <"$trace" | lp-graph 2>/dev/null | lp-critpath >"$trace.path"
		lp-dump -k message,collective "$trace.path" | jq -c 'if .members then .members |= sort else . end' |
			sort >"$trace.edges"
		lp-dump -k segment "$trace.path" | jq -c 'del(.site)' >"$trace.pieces"
	done
	cmp "$1.edges" "$2.edges"
	cmp "$1.pieces" "$2.pieces"
}

# round_trip TRACE: what lp-export writes of it as OTF2, lp-import reads as it was.
round_trip() {
	rm -rf round
	lp-export -f otf2 -o round "$1"
	lp-import -f otf2 round/traces.otf2 >round.trace 2>round.err
	[ ! -s round.err ]
	trace.py check round.trace
	same_trace.py "$1" round.trace
	same_edges "$1" round.trace
}

# Every test runs in a folder of its own, with tests/ in it.
setup() {
	cd "$BATS_TEST_TMPDIR" && ln -s "$ROOT/tests" tests
}

# What a workflow prints of the run in FOLDER: a screen of it.
printed_reports() { "$ROOT/workflows/brief" "$1"; }

# ./refused COMMAND: without perf_event_open
refuse_samples() {
	cat >refused.c <<-END
		#include <errno.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <stddef.h>
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int c, char **v) {
			struct sock_filter filter[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog program = { 4, filter };
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
				return 99;
			execvp(v[c - c + 1], v + 1);
			return 98;
		}
	END
	gcc -DREFUSED=SYS_"${1:-perf_event_open}" -o refused refused.c
}

# The kernel gives samples of its own time, and stacks at switches, only with CAP_PERFMON (38) or paranoid 1.
sees_kernel() {
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] ||
		[ $((0x$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status) >> 38 & 1)) -eq 1 ]
}
