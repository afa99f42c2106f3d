# SPDX-License-Identifier: BSD-3-Clause
# Tests, and what takes minutes: longer tests, fuzzing, and measurements.
.PHONY: test lint test-long fuzz bench bench-scale bench-record bench-replay bench-live

# Programs for the tests, besides the tools.
TESTERS = build/bench/synthetic build/bench/ring build/bench/growing build/statistics build/knots
build/bench/synthetic: build/tests/bench/synthetic.o build/libbase.a
build/bench/ring: build/tests/bench/ring.o build/libbase.a
build/bench/growing: build/tests/bench/growing.o build/libbase.a
build/statistics: build/tests/apps/statistics.o build/libbase.a
build/knots: build/tests/apps/knots.o build/libbase.a

test: setup
	$(BUILD) all $(TESTERS) build/apps/heat build/apps/ring
	tests/suite $(JOBS)

lint: setup build/report/hashes.h
	@.ci/lint $(MANUALS)

# Is the first line right? Runs programs with a planted long pole, and prints the score; CASES='recv halo' selects.
.PHONY: verdicts
MPI = openmpi
verdicts: all
	tests/verdicts/verdicts -m $(MPI) $(CASES)

# More random runs of each test, and larger ones.
test-long: export LONG = 1
test-long: test
	tests/long

# Fuzzes every reader for TIME seconds with AFL++ and sanitizers, and prints the lines reached. READERS selects
# some of them: see tests/afl/run.
TIME = 60
fuzz: setup
	tests/afl/build build/fuzz
	tests/afl/run build/fuzz $(TIME) $(READERS)

# Speed and memory of the tools; the same at scale (10^8 calls, 131072 ranks: minutes, and 4 GB in TMPDIR); cost of
# recording; operations per second of replays; cost of following a run.
bench: RUN = bench bench-critpath
bench-scale: RUN = scale
bench-record: RUN = bench-record bench-once bench-sample
bench-replay: RUN = bench-replay
bench-live: RUN = bench-live
bench bench-scale bench-record bench-replay bench-live: all $(TESTERS) build/apps/heat
	set -e; for one in $(RUN); do tests/bench/$$one; done

# Do the tests of a tool notice a wrong token in its C? make mutate TOOL=graph N=200 SEED=1 FILE=graph/match.c
# Which lines and branches of each folder do they run? make coverage TESTS='golden graph'
.PHONY: mutate coverage
N    = 20
SEED = 1
mutate: all $(TESTERS)
	tests/mutate $(TOOL) $(N) $(SEED) $(FILE)
coverage: all
	tests/coverage $(TESTS)
