# Builds, tests and installs longpole: GNU make and the packages listed in PACKAGES.
#   make          build into bin/ and lib/
#   make demo     install what is missing, build, record a small program and report on it
#   make test     install what is missing, build, run all tests
VERSION  = 0.1.0
PREFIX   = /usr/local
MPICC    = mpicc
MPIRUN   = mpirun --oversubscribe --mca mpi_yield_when_idle 1
CFLAGS   = -O3 -g
WARN     = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
           -Wstrict-prototypes -Wmissing-prototypes $(if $(CI),-Werror)
CPPFLAGS = -D_GNU_SOURCE -DVERSION='"$(VERSION)"'
# msgpack's C library has one name in Debian 12 and another in 13.
LDLIBS   = $(shell pkg-config --libs msgpack-c 2>/dev/null || pkg-config --libs msgpack) -lzstd -lm
TOOLS    = record merge graph critpath imbalance fit guidelines replay network import export dump
# Where a tool lives: in the folder of its name, but for these.
import   = convert/import
export   = convert/export
dump     = convert/dump
network  = replay/network
folder   = $(or $($(1)),$(1))
MANUALS  = $(foreach t,$(TOOLS),$(call folder,$(t))/$(t).1) guidelines/measure/measure.1 guidelines/measure/nrep.1

# The one list of Debian packages that building, demo and tests need; of NAME|NAME the first that there is.
PACKAGES = gcc libc6-dev pkgconf openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran \
           libmsgpack-c-dev|libmsgpack-dev libxxhash-dev libzstd-dev zlib1g-dev libdw-dev libcminpack-dev libstdc++6 binutils parallel gnuplot-nox \
           bats jq mandoc shellcheck util-linux \
           python3 python3-msgpack python3-mpi4py python3-numpy python3-xxhash python3-zstandard

export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export PATH := $(CURDIR)/bin:$(PATH)

ifdef SAN				# make clean && make SAN=1 test
CFLAGS  += -fsanitize=address,undefined -fno-omit-frame-pointer
# Tools leave their memory to the system, and say themselves when there is none.
export ASAN_OPTIONS = detect_leaks=0:allocator_may_return_null=1
endif

.DELETE_ON_ERROR:
.PHONY: all setup demo demo-fortran demo-lammps test test-long bench bench-scale bench-record \
        bench-replay lint install clean

MEASURE  = lp-measure lp-nrep

all: $(TOOLS:%=bin/lp-%) bin/lp-critpath-mpi $(MEASURE:%=bin/%) lib/liblongpole-record.so $(MPIS:%=lib/liblongpole-record.%.so)

objects = $(patsubst %.c,build/%.o,$(sort $(wildcard $(1)/*.c)))

build/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The floors under the tools.
build/libbase.a: $(foreach f,stream mpi tool run statistics,$(call objects,base/$(f)))
	rm -f $@ && $(AR) rcs $@ $^

# A tool is every .c in its folder and the floors, nothing else.
$(foreach t,$(TOOLS),$(eval bin/lp-$(t): $(call objects,$(call folder,$(t))) build/libbase.a))
bin/lp-merge: LDLIBS += -ldw -l:libstdc++.so.6	# names of call sites
bin/lp-fit: LDLIBS += -lcminpack
# The same tool for several processes: lp-critpath runs it where a launcher has started it.
build/critpath/mpi/%.o: CC = $(MPICC)
bin/lp-critpath-mpi: $(filter-out build/critpath/alone.o,$(call objects,critpath)) \
                     $(call objects,critpath/mpi) build/libbase.a
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
bin/lp-import: LDLIBS += -lz
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
shared = build/guidelines/measure/call.o build/guidelines/measure/functions.o build/guidelines/measure/mockups.o \
         build/guidelines/measure/sync.o build/libbase.a
bin/lp-measure: build/guidelines/measure/measure.o build/guidelines/measure/jobs.o $(shared)
bin/lp-nrep: build/guidelines/measure/nrep.o $(shared)
$(MEASURE:%=bin/%):
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The recorder runs in other people's processes: no sanitizers, no symbols but the wrappers. There
# is one for each MPI, and a front in front of them that finds out which MPI a program has.
define recorder
build/record.$(1)/%.o: record/preload/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(WARN) -Wno-pedantic $$(CPPFLAGS) -O3 -g -flto -fPIC -fvisibility=hidden -MMD -MP -c -o $$@ $$<
lib/liblongpole-record.$(1).so: $(patsubst record/preload/%.c,build/record.$(1)/%.o,$(wildcard record/preload/*.c))
	@mkdir -p $$(@D)
	$(2) -O3 -flto=auto -shared -Wl,-z,defs -o $$@ $$^ -lpthread
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
	nm -D --defined-only $^ | LC_ALL=C awk '$$2 == "T" { print $$3 }' | LC_ALL=C sort -u | \
		awk '{ print "DOOR(" NR - 1 ", " $$1 ")" }' >$@
build/record.front/doors.o: build/record.front/doors.h
build/record.front/%.o: record/front/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) -Wno-pedantic $(CPPFLAGS) -Ibuild/record.front -O2 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-record.so: $(patsubst record/front/%.c,build/record.front/%.o,$(wildcard record/front/*.c))
	$(CC) -O2 -shared -Wl,-z,defs -o $@ $^ -lpthread -ldl

build/apps/%: workflows/apps/%.c
	@mkdir -p $(@D)
	$(MPICC) -std=c11 -O2 -g -o $@ $< -lm
build/apps/%: workflows/apps/%.f90
	@mkdir -p $(@D)
	mpifort -O2 -g -o $@ $<

# Installs missing packages as root or with sudo; else says what to type, and stops.
setup: PACKAGES += $(MORE_PACKAGES)
setup:
	@command -v dpkg-query >/dev/null || exit 0; \
	installed() { dpkg-query -W -f='$${Status}' "$$1" 2>/dev/null | grep -q ' installed'; }; \
	missing() { for p in $(PACKAGES:%='%'); do \
		(IFS='|'; for one in $$p; do ! installed $$one || exit 1; done) && echo "$$p"; done; }; \
	known() { [ -n "$$(apt-cache show "$$1" 2>/dev/null)" ]; }; \
	choose() { while IFS='|' read -r one other; do \
		if [ -z "$$other" ] || known "$$one"; then echo "$$one"; \
		elif known "$$other"; then echo "$$other"; else echo "$$one (or $$other)"; fi; done; }; \
	[ -n "$$(missing)" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then sudo=; elif sudo -n true 2>/dev/null; then sudo=sudo; else \
		echo "packages are missing; as root, type: apt-get update &&" \
			"apt-get install --no-install-recommends" $$(missing | choose) >&2; exit 2; fi; \
	$$sudo apt-get update && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$(missing | choose)

# $(call report,NAME,COMMAND): record, analyse and report, as users do.
report = rm -rf build/$(1) && $(MAKE) -s --no-print-directory -f workflows/critpath.mk RUN=build/$(1) APP="$(2)"

HEAT = -n 2000 -i 6 -p balanced:200$(comma)imbalanced:300$(comma)serial:60$(comma)messages:100
comma = ,
demo: setup
	@$(MAKE) --no-print-directory all build/apps/heat
	@$(call report,demo,$(MPIRUN) -n 4 build/apps/heat $(HEAT))

demo-fortran: setup
	@$(MAKE) --no-print-directory all build/apps/ring
	@$(call report,demo-fortran,$(MPIRUN) -n 4 build/apps/ring)

demo-lammps: MORE_PACKAGES = lammps
demo-lammps: setup
	@$(MAKE) --no-print-directory all
	@$(call report,demo-lammps,$(MPIRUN) -n 4 lmp -log none -in workflows/apps/in.melt)

test: setup
	@$(MAKE) --no-print-directory all build/bench/synthetic build/bench/ring build/statistics \
		build/apps/heat build/apps/ring lib/liblongpole-record.mpich.so
	bats --print-output-on-failure tests

# What takes minutes: many more random runs, and damage to streams.
test-long: test
	tests/random_run.py check 100000 20000
	tests/random_run.py make 42 >build/long.trace && lp-graph <build/long.trace >build/long.graph
	tests/fuzz -n 3000 build/long.trace -- lp-graph
	tests/fuzz -n 3000 build/long.graph -- lp-critpath -F text
	tests/fuzz -n 3000 build/long.graph -- lp-imbalance
	tests/lying_index.py build/long.graph 3000
	tests/fit_coverage.py 1000
	tests/mend

bench: all build/bench/synthetic
	tests/bench/bench
	tests/bench/bench-critpath

# At size: 10^8 calls, and 131072 ranks; takes minutes and 4 GB in TMPDIR.
bench-scale: all build/bench/synthetic
	tests/bench/scale

# What recording costs: ratios to the bare program, and to a bare wrapper.
bench-record: all build/apps/heat
	tests/bench/bench-record

# Operations (bursts and calls) a second of replays, and their memory.
bench-replay: all build/bench/ring
	tests/bench/bench-replay

lint: setup
	shellcheck -S warning .ci/run tests/helpers.bash
	mandoc -T lint -W warning $(MANUALS)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man5
	install $(TOOLS:%=bin/lp-%) bin/lp-critpath-mpi $(MEASURE:%=bin/%) \
		$(DESTDIR)$(PREFIX)/bin
	install -m 644 lib/liblongpole-record*.so $(DESTDIR)$(PREFIX)/lib
	for page in $(MANUALS); do install -m 644 $$page \
		$(DESTDIR)$(PREFIX)/share/man/man1/lp-$$(basename $$page) || exit 1; done
	install -m 644 base/stream/trace.5 $(DESTDIR)$(PREFIX)/share/man/man5/lp-trace.5

clean:
	rm -rf bin lib build

-include $(shell find build -name '*.d' 2>/dev/null)
