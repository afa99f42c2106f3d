# Builds, tests and installs longpole: GNU make and the packages listed in PACKAGES.
#   make          build into bin/ and lib/; make install PREFIX=/opt/longpole installs, make uninstall takes it away
#   make demo     install what is missing, build, record a small program and report on it
#   make test     install what is missing, build, run all tests
VERSION  = 0.1.0
PREFIX   = /usr/local
MPICC    = mpicc
MPIRUN   = mpirun --oversubscribe --mca mpi_yield_when_idle 1
CFLAGS   = -O3 -g
# Of the recorders: make LTO=-flto=auto spares 5 % of their instructions, and takes a minute more for each.
LTO      =
WARN     = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
           -Wstrict-prototypes -Wmissing-prototypes $(if $(CI),-Werror)
CPPFLAGS = -D_GNU_SOURCE -DVERSION='"$(VERSION)"'
# msgpack's C library has one name in Debian 12 and another in 13.
LDLIBS   = $(shell pkg-config --libs msgpack-c 2>/dev/null || pkg-config --libs msgpack) -lzstd -lm
TOOLS    = record merge graph critpath imbalance compare fit guidelines mend replay network report import export dump
# Where a tool lives: in the folder of its name, but for these.
import   = convert/import
export   = convert/export
dump     = convert/dump
network  = replay/network
mend     = guidelines/mend
folder   = $(or $($(1)),$(1))
MANUALS  = $(foreach t,$(TOOLS),$(call folder,$(t))/$(t).1) guidelines/measure/measure.1 guidelines/measure/nrep.1 \
           workflows/longpole.1
SECTIONS = base/stream/trace.5 doc/longpole.7

# The one list of Debian packages that building, demo and tests need; of NAME|NAME the first that there is.
PACKAGES = \
           gcc \
           g++ \
           libc6-dev \
           pkgconf \
           openmpi-bin \
           libopenmpi-dev \
           mpich \
           libmpich-dev \
           gfortran \
           libmsgpack-c-dev|libmsgpack-dev \
           libxxhash-dev \
           libzstd-dev \
           zlib1g-dev \
           libotf2-trace-dev \
           libdw-dev \
           libcminpack-dev \
           libstdc++6 \
           binutils \
           parallel \
           gnuplot-nox \
           bats \
           jq \
           glpk-utils \
           mandoc \
           shellcheck \
           util-linux \
           chromium \
           chromium-driver \
           python3-selenium \
           fonts-dejavu-core \
           python3 \
           python3-otf2 \
           otf2-tools \
           protobuf-compiler \
           python3-msgpack \
           python3-mpi4py \
           python3-numpy \
           python3-pandas \
           python3-xxhash \
           python3-zstandard

export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export PATH := $(CURDIR)/bin:$(PATH)

ifdef SAN				# make clean && make SAN=1 test
CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# Tools leave their memory to the system, and say themselves when there is none.
export ASAN_OPTIONS = detect_leaks=0:allocator_may_return_null=1
endif

.DELETE_ON_ERROR:
.PHONY: all setup fuzz demo demo-fortran demo-lammps test test-long bench bench-scale bench-record \
        bench-replay lint install uninstall clean

SHELL    = bash

MEASURE  = lp-measure lp-nrep

# Tools that several processes can run together: lp-TOOL hands over to lp-TOOL-mpi under a launcher.
TEAMS    = critpath merge graph imbalance
COMMANDS = bin/longpole $(TOOLS:%=bin/lp-%) $(TEAMS:%=bin/lp-%-mpi) $(MEASURE:%=bin/%)
LIBRARIES = $(foreach l,record mend,lib/liblongpole-$(l).so $(MPIS:%=lib/liblongpole-$(l).%.so))

all: $(COMMANDS) $(LIBRARIES) lib/liblongpole-stream.so

bin/longpole: workflows/longpole Makefile
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' $< >$@ && chmod +x $@

objects = $(patsubst %.c,build/%.o,$(sort $(wildcard $(1)/*.c)))

build/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The floors under the tools.
build/libbase.a: $(foreach f,stream mpi tool run statistics team,$(call objects,base/$(f)))
	rm -f $@ && $(AR) rcs $@ $^

# The page is what lp-imbalance counts, shown; files beside the code are taken into it.
bin/lp-report: $(filter-out build/imbalance/imbalance.o,$(call objects,imbalance))
build/report/page.o: report/page.js report/page.css report/figure.css
# What lp-export tells of waits is what lp-imbalance finds.
bin/lp-export: $(filter-out build/imbalance/imbalance.o,$(call objects,imbalance))
bin/lp-export: LDLIBS += -lotf2
# lp-compare reads runs as lp-imbalance does.
bin/lp-compare: $(filter-out build/imbalance/imbalance.o,$(call objects,imbalance))
# How long the library's collectives would take lp-network learns from lp-replay's engine.
bin/lp-network: $(filter-out build/replay/replay.o,$(call objects,replay))
# A tool is every .c in its folder and the floors, nothing else.
$(foreach t,$(TOOLS),$(eval bin/lp-$(t): $(call objects,$(call folder,$(t))) build/libbase.a))
bin/lp-merge bin/lp-merge-mpi: LDLIBS += -ldw -lelf -l:libstdc++.so.6	# names of call sites
bin/lp-fit: LDLIBS += -lcminpack
# The same tool for several processes: what makes a team of them stands before the library's team of one.
build/base/team/mpi/%.o: CC = $(MPICC)
$(foreach t,$(TEAMS),$(eval bin/lp-$(t)-mpi: $(call objects,$(t)) $(call objects,base/team/mpi) build/libbase.a))
$(TEAMS:%=bin/lp-%-mpi):
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
bin/lp-import: LDLIBS += -lz -lotf2
build/bench/synthetic: build/tests/bench/synthetic.o build/libbase.a
build/bench/ring: build/tests/bench/ring.o build/libbase.a
build/statistics: build/tests/apps/statistics.o build/libbase.a
$(TOOLS:%=bin/lp-%) build/bench/synthetic build/bench/ring build/statistics:
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# guidelines/measure/ holds two, which run as the ranks of an mpirun.
build/guidelines/measure/%.o: CC = $(MPICC)
# In MPICH ignored statuses have the address 1.
build/guidelines/measure/%.o: WARN += -Wno-stringop-overflow
shared = build/guidelines/measure/call.o build/guidelines/measure/functions.o build/guidelines/measure/messages.o build/guidelines/measure/mockups.o \
         build/guidelines/measure/launcher.o build/guidelines/measure/sync.o build/libbase.a
bin/lp-measure: $(foreach f,measure jobs own evaluate program,build/guidelines/measure/$f.o) $(shared)
bin/lp-nrep: build/guidelines/measure/nrep.o $(shared)
$(MEASURE:%=bin/%):
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same two for another MPI than that of MPICC: PATH=build/measure.mpich:$$PATH, and its mpirun.
measures = $(foreach p,measure nrep,build/measure.$(1)/lp-$(p))
define measuring
build/measure.$(1)/%.o: guidelines/measure/%.c Makefile
	@mkdir -p $$(@D)
	mpicc.$(1) $$(WARN) -Wno-stringop-overflow $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c -o $$@ $$<
build/measure.$(1)/lp-measure: $(patsubst build/guidelines/measure/%,build/measure.$(1)/%,$(foreach f,measure jobs own evaluate program,build/guidelines/measure/$f.o) $(shared))
build/measure.$(1)/lp-nrep: $(patsubst build/guidelines/measure/%,build/measure.$(1)/%,build/guidelines/measure/nrep.o $(shared))
$(call measures,$(1)):
	mpicc.$(1) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach mpi,openmpi mpich,$(eval $(call measuring,$(mpi))))

# The stream for stages of others: of its symbols only those of longpole-stream.h are seen.
build/library/%.o: base/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) -O3 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-stream.so: $(patsubst base/%.c,build/library/%.o,$(wildcard base/stream/*.c base/library/*.c))
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-z,defs -Wl,-soname,liblongpole-stream.so -o $@ $^ $(LDLIBS)

# The recorder runs in other people's processes: no sanitizers, no symbols but the wrappers. There
# is one for each MPI, and a front in front of them that finds out which MPI a program has.
define recorder
build/record.$(1)/%.o: record/preload/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(WARN) -Wno-pedantic $$(CPPFLAGS) -O3 -g $(LTO) -fPIC -fvisibility=hidden -MMD -MP -c -o $$@ $$<
lib/liblongpole-record.$(1).so: $(patsubst record/preload/%.c,build/record.$(1)/%.o,$(wildcard record/preload/*.c)) \
                                build/record.front/signals.o build/record.front/unload.o
	@mkdir -p $$(@D)
	$(2) -O3 $(LTO) -shared -Wl,-z,defs -o $$@ $$^ -lpthread
endef
have = $(shell command -v $(1) 2>/dev/null)
MPIS := $(if $(call have,mpicc.openmpi),openmpi) $(if $(call have,mpicc.mpich),mpich)
ifeq ($(strip $(MPIS)),)		# no Debian: the one MPI of this system
MPIS := $(if $(shell echo '#include <mpi.h>' | $(MPICC) -E -dM -x c - | grep -w OPEN_MPI),openmpi,mpich)
$(eval $(call recorder,$(MPIS),$(MPICC)))
else
$(foreach mpi,mpich openmpi,$(eval $(call recorder,$(mpi),mpicc.$(mpi))))
endif
RECORDERS = $(MPIS:%=lib/liblongpole-record.%.so)
build/record.front/doors.h: $(RECORDERS)
	@mkdir -p $(@D)
	nm -D --defined-only $^ | LC_ALL=C awk '$$2 == "T" && $$3 ~ /^(MPIX?|mpi)_/ { print $$3 }' | LC_ALL=C sort -u | \
		awk '{ print "DOOR(" NR - 1 ", " $$1 ")" }' >$@
build/record.front/doors.o: build/record.front/doors.h
build/record.front/%.o: record/front/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) -Wno-pedantic $(CPPFLAGS) -Ibuild/record.front -O2 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-record.so: $(patsubst record/front/%.c,build/record.front/%.o,$(wildcard record/front/*.c))
	$(CC) -O2 -shared -Wl,-z,defs -o $@ $^ -lpthread -ldl

# What lp-mend preloads: mock-ups by the library's own functions, for each MPI, and a front like the recorder's.
define mending
build/mend.$(1)/%.o: guidelines/mend/preload/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(WARN) -Wno-stringop-overflow $$(CPPFLAGS) -O3 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $$@ $$<
build/mend.$(1)/%.o: guidelines/measure/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(WARN) -Wno-stringop-overflow $$(CPPFLAGS) -DOF_MOCKUPS -include guidelines/mend/preload/real.h -O3 -g -fPIC \
		-fvisibility=hidden -MMD -MP -c -o $$@ $$<
lib/liblongpole-mend.$(1).so: $(patsubst guidelines/mend/preload/%.c,build/mend.$(1)/%.o,$(wildcard guidelines/mend/preload/*.c)) \
                              build/mend.$(1)/mockups.o build/mend.$(1)/functions.o
	@mkdir -p $$(@D)
	$(2) -O3 -shared -Wl,-z,defs -o $$@ $$^ -lpthread
endef
$(foreach mpi,$(MPIS),$(eval $(call mending,$(mpi),$(if $(call have,mpicc.$(mpi)),mpicc.$(mpi),$(MPICC)))))
build/mend.front/doors.h: $(MPIS:%=lib/liblongpole-mend.%.so)
	@mkdir -p $(@D)
	nm -D --defined-only $^ | LC_ALL=C awk '$$2 == "T" && $$3 ~ /^P?MPI_/ { print $$3 }' | LC_ALL=C sort -u | \
		awk '{ print "DOOR(" NR - 1 ", " $$1 ")" }' >$@
build/mend.front/doors.o: build/mend.front/doors.h
build/mend.front/%.o: record/front/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) -Wno-pedantic $(CPPFLAGS) -DFRONT='"mend"' -DFRONT_SETTING='"LONGPOLE_MEND"' -DFRONT_PART='"library"' \
		-DFRONT_LOSS='"nothing is replaced"' -Ibuild/mend.front -O2 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-mend.so: $(patsubst %,build/mend.front/%.o,doors front unload)
	$(CC) -O2 -shared -Wl,-z,defs -o $@ $^ -lpthread -ldl

build/apps/%: workflows/apps/%.c
	@mkdir -p $(@D)
	$(MPICC) -std=c11 -O2 -g -o $@ $< -lm
build/apps/%: workflows/apps/%.f90
	@mkdir -p $(@D)
	mpifort -O2 -g -o $@ $<

# On all cores, unless make was told how many itself.
JOBS    = $(shell nproc)
BUILD   = @$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

# Installs missing packages as root or with sudo; else says what to type, and stops.
setup: PACKAGES += $(MORE_PACKAGES)
setup:
	@.ci/setup $(PACKAGES:%='%')

# Each demo does what users do: longpole -o FOLDER COMMAND.
HEAT = -n 2000 -i 6 -p balanced:200,imbalanced:300,serial:60,messages:100
demo: setup
	$(BUILD) all build/apps/heat
	rm -rf build/demo && longpole -o build/demo $(MPIRUN) -n 4 build/apps/heat $(HEAT)

demo-fortran: setup
	$(BUILD) all build/apps/ring
	rm -rf build/demo-fortran && longpole -o build/demo-fortran $(MPIRUN) -n 4 build/apps/ring

demo-lammps: MORE_PACKAGES = lammps
demo-lammps: setup
	$(BUILD) all
	rm -rf build/demo-lammps && longpole -o build/demo-lammps $(MPIRUN) -n 4 lmp -log none -in workflows/apps/in.melt

# As many files of tests run at a time as there are cores, the largest first, so that none is left for the end.
test: setup
	$(BUILD) all build/bench/synthetic build/bench/ring build/statistics \
		build/apps/heat build/apps/ring lib/liblongpole-record.mpich.so
	BATS_TEST_TIMEOUT=900 bats --jobs $(JOBS) --no-parallelize-within-files --print-output-on-failure $$(ls -S tests/*.bats)

# What takes minutes: many more random runs, and damage to streams.
test-long: test
	tests/random_run.py check 100000 20000
	tests/random_run.py make 42 >build/long.trace && lp-graph <build/long.trace >build/long.graph
	tests/fuzz -n 3000 build/long.trace -- lp-graph
	tests/fuzz -n 3000 build/long.graph -- lp-critpath -F text
	tests/fuzz -n 3000 build/long.graph -- lp-imbalance
	tests/lying_index.py build/long.graph 3000
	rm -rf build/long.shards build/long.graphs && tests/cut_trace.py build/long.trace build/long.shards 3
	lp-graph --round 20 -o build/long.graphs build/long.shards && tests/lying_index.py build/long.graphs 1000
	build/bench/synthetic -r 8 -c 300000 >build/long.raw && $(MAKE) -s -f workflows/scale.mk RAW=build/long.raw OUT=build/long.scale
	tests/imbalance_mpi_check 100 500
	tests/fit_coverage.py 1000
	tests/schedules_check.py 1000 300
	tests/sample_trials 64
	tests/compare_trials 20
	tests/planted_regions.py 200 20000
	tests/otf2_programs
	tests/mend

# Every reader is fuzzed for TIME seconds with AFL++, under address and undefined sanitizers; then the
# lines that were reached. READERS="graph dim" are some of them: see tests/afl/run.
TIME = 60
fuzz: MORE_PACKAGES = afl++
fuzz: setup
	@mkdir -p build/fuzz/cov
	$(CC) $(CPPFLAGS) -O2 -shared -fPIC -o build/fuzz/mutator.so tests/afl/mutator.c
	+tests/afl/build build/fuzz
	tests/afl/run build/fuzz $(TIME) $(READERS)

bench: all build/bench/synthetic
	tests/bench/bench
	tests/bench/bench-critpath

# At size: 10^8 calls, and 131072 ranks; takes minutes and 4 GB in TMPDIR.
bench-scale: all build/bench/synthetic
	tests/bench/scale

# What recording costs: ratios to the bare program, and to a bare wrapper.
bench-record: all build/apps/heat
	tests/bench/bench-record
	tests/bench/bench-sample

# Operations (bursts and calls) a second of replays, and their memory.
bench-replay: all build/bench/ring
	tests/bench/bench-replay

# Shell, manual pages and C; quiet where all is well. The floors and tools are looked at, not the recorder's
# wrappers, which are macros. clang-tidy's list is in .clang-tidy.
SCRIPTS = $(shell git ls-files | xargs grep -lE '^#!/(usr/)?bin/(env )?(ba)?sh')
CHECKED = $(shell git ls-files '*.c' | grep -vE '^(tests|workflows|record/(preload|front)|base/team/mpi|guidelines/(measure|mend/preload))/')
lint: MORE_PACKAGES = cppcheck clang-tidy
lint: setup
	@shellcheck -S warning -e SC2128,SC2178 $(SCRIPTS) tests/helpers.bash workflows/completion.bash
	@shellcheck -S error -s bats tests/*.bats
	@.ci/pages $(MANUALS) $(SECTIONS)
	@cppcheck -q -j 2 --std=c11 $(CPPFLAGS) --library=.ci/cppcheck.cfg --enable=warning --inline-suppr \
		--suppress=integerOverflow:graph/operations.c --error-exitcode=1 $(CHECKED)
	@printf '%s\n' $(CHECKED) | xargs -n 8 -P 2 sh -c 'clang-tidy --quiet "$$@" -- -std=c11 -D_GNU_SOURCE "-DVERSION=\"0\"" 2>/dev/null' tidy

# The picture of the README, from a run of the demo.
doc/timeline.svg: bin/lp-report
	@[ -e build/demo/graph ] || $(MAKE) demo
	lp-report -F svg -o $@ build/demo/graph

# What each file is compiled with, for editors and analysers.
compile_commands.json: Makefile
	@$(MAKE) -s --no-print-directory all
	@$(MAKE) -nB --no-print-directory all | grep -e ' -c -o ' | jq -Rn --arg here '$(CURDIR)' \
		'[inputs | {directory: $$here, command: ., file: (split(" ") | last)}]' >$@

# Everything that is installed: SOURCE:PLACE:MODE, the place under PREFIX.
INSTALL += $(foreach f,$(COMMANDS),$(f):$(f):755) $(foreach f,$(LIBRARIES),$(f):$(f):644)
INSTALL += $(foreach f,$(MANUALS),$(f):share/man/man1/$(patsubst lp-longpole%,longpole%,lp-$(notdir $(f))):644)
INSTALL += $(foreach f,$(wildcard workflows/*.mk workflows/apps/* fit/data/*.csv),$(f):share/longpole/$(f):644)
INSTALL += $(foreach f,state picture timed program parts,workflows/$(f):share/longpole/workflows/$(f):755)
INSTALL += base/stream/trace.5:share/man/man5/lp-trace.5:644
INSTALL += $(foreach f,$(notdir $(COMMANDS)),workflows/completion.bash:share/bash-completion/completions/$(f):644)
# The Python module lies where Python looks: under /usr for all versions, elsewhere for one.
PYTHON    = $(if $(filter /usr,$(PREFIX)),python3,$(shell /usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])'))
INSTALL += $(foreach f,$(wildcard python/longpole/*.py),$(f):lib/$(PYTHON)/dist-packages/longpole/$(notdir $(f)):644)
INSTALL += lib/liblongpole-stream.so:lib/liblongpole-stream.so:644 base/library/longpole-stream.h:include/longpole-stream.h:644
INSTALL += doc/longpole.7:share/man/man7/longpole.7:644
INSTALL += $(foreach f,README.md CHANGELOG.md $(wildcard doc/*.md doc/*.svg),$(f):share/doc/longpole/$(patsubst doc/%,%,$(f)):644)
INSTALL += LICENSE:share/doc/longpole/LICENSE:644

install: all
	@for one in $(INSTALL); do \
		IFS=: read -r source place mode <<<"$$one"; \
		install -D -m "$$mode" "$$source" '$(DESTDIR)$(PREFIX)'/"$$place" || exit 2; done
	@mkdir -p '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: longpole-stream' 'Description: streams of longpole, for stages of one'"'"'s own' \
		'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
		'Libs: -L$${prefix}/lib -Wl,-rpath,$${prefix}/lib -llongpole-stream' \
		>'$(DESTDIR)$(PREFIX)/lib/pkgconfig/longpole-stream.pc'
	@echo 'installed in $(DESTDIR)$(PREFIX)'

# Takes away what install put there, and folders of its own that are then empty.
uninstall:
	@for one in $(INSTALL); do \
		IFS=: read -r source place mode <<<"$$one"; rm -f '$(DESTDIR)$(PREFIX)'/"$$place"; done
	@rm -f '$(DESTDIR)$(PREFIX)/lib/pkgconfig/longpole-stream.pc'
	@find '$(DESTDIR)$(PREFIX)'/share/longpole '$(DESTDIR)$(PREFIX)'/share/doc/longpole \
		-depth -type d -empty -delete 2>/dev/null || true

clean:
	rm -rf bin lib build compile_commands.json

-include $(shell find build -name '*.d' 2>/dev/null)
