# Builds, tests and installs longpole: GNU make and the packages listed below.
#   make          build into bin/ and lib/; make install PREFIX=/opt/longpole installs, make uninstall removes
#   make demo     install what is missing, build, record a small program and report on it
#   make test     install what is missing, build, run all tests
VERSION  = 0.1.0
PREFIX   = /usr/local
# Of the library for other programs; the recorders are always in PREFIX/lib/longpole.
LIBDIR   = $(PREFIX)/lib
MPICC    = mpicc
MPIRUN   = mpirun --oversubscribe --mca mpi_yield_when_idle 1
CFLAGS   = -O3 -g
# For the recorders: make LTO=-flto=auto saves 5 % of their instructions, and takes a minute longer for each.
LTO      =
WARN     = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
           -Wstrict-prototypes -Wmissing-prototypes $(if $(CI),-Werror)
# Nothing that is built says where: paths in debug information are relative to this folder.
CPPFLAGS = -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -fdebug-prefix-map=$(CURDIR)=.
# msgpack's C library has one name in Debian 12 and another in 13.
LDLIBS   = $(shell pkg-config --libs msgpack-c 2>/dev/null || pkg-config --libs msgpack) -lzstd -lm

# The only list of Debian packages; NAME|NAME is the first one available. Needed to build and run longpole:
PACKAGES = gcc libc6-dev pkgconf binutils openmpi-bin libopenmpi-dev libmsgpack-c-dev|libmsgpack-dev libxxhash-dev \
           libzstd-dev zlib1g-dev libotf2-trace-dev libdw-dev libcminpack-dev libstdc++6 jq parallel util-linux
# Needed by the tests as well; the browser only if no test may be skipped.
TESTED   = g++ libtbb-dev gfortran mpich libmpich-dev gnuplot-nox bats glpk-utils mandoc shellcheck otf2-tools \
           protobuf-compiler python3 python3-otf2 python3-msgpack python3-mpi4py python3-numpy python3-pandas \
           python3-xxhash python3-zstandard \
           $(if $(CI),chromium chromium-driver python3-selenium fonts-dejavu-core librsvg2-bin)

export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export PATH := $(CURDIR)/bin:$(PATH)

ifdef SAN				# make clean && make SAN=1 test
CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# Tools do not free memory at exit, and report themselves when there is none.
export ASAN_OPTIONS = detect_leaks=0:allocator_may_return_null=1:verify_asan_link_order=0
endif

# Streams are little-endian, and numbers in memory have 64 bits. Without a compiler there is no answer.
machine := $(shell echo __SIZEOF_POINTER__ __BYTE_ORDER__ | $(CC) -E -P - 2>/dev/null)
ifneq ($(filter-out 8 1234,$(machine)),)
$(error longpole needs 64 bits and little-endian byte order: $(CC) compiles for another machine)
endif

SHELL    = bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
.PHONY: all setup demo demo-fortran demo-lammps install uninstall clean

# A tool consists of the .c files in its folder, named like the tool except for these, and the libraries in base/.
TOOLS    = record stuck merge graph critpath gain imbalance compare fit guidelines mend replay tolerance network report import export dump
import   = convert/import
export   = convert/export
dump     = convert/dump
mend     = guidelines/mend
folder   = $(or $($(1)),$(1))
FLOORS   = stream mpi tool run symbols stuck path path/solvers waits imbalance machine replay statistics team
# Tools that several processes can run together: lp-TOOL hands over to lp-TOOL-mpi under a launcher.
TEAMS    = critpath merge graph imbalance
MEASURE  = lp-measure lp-nrep
COMMANDS = bin/longpole $(TOOLS:%=bin/lp-%) $(TEAMS:%=bin/lp-%-mpi) $(MEASURE:%=bin/%)
LIBRARIES = lib/liblongpole-record.so $(RECORDERS) lib/liblongpole-mend.so $(MPIS:%=lib/liblongpole-mend.%.so) lib/liblongpole-stream.so
MANUALS  = $(foreach t,$(TOOLS),$(call folder,$(t))/$(t).1) guidelines/measure/measure.1 guidelines/measure/nrep.1 \
           workflows/longpole.1 base/stream/trace.5 $(wildcard doc/*.7)

include base/library/rules.mk report/rules.mk record/rules.mk guidelines/rules.mk tests/rules.mk packaging/rules.mk

all: $(COMMANDS) $(LIBRARIES)

bin/longpole: workflows/longpole Makefile
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' $< >$@ && chmod +x $@

objects = $(patsubst %.c,build/%.o,$(sort $(wildcard $(1)/*.c)))
build/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
build/libbase.a: $(foreach f,$(FLOORS),$(call objects,base/$(f)))
	rm -f $@ && $(AR) rcs $@ $^

bin/lp-export bin/lp-import: LDLIBS += -lotf2
bin/lp-import: LDLIBS += -lz
bin/lp-merge bin/lp-merge-mpi bin/lp-stuck: LDLIBS += -ldw -lelf -l:libstdc++.so.6	# names of call sites
bin/lp-fit: LDLIBS += -lcminpack
$(foreach t,$(TOOLS),$(eval bin/lp-$(t): $(call objects,$(call folder,$(t))) build/libbase.a))
# The team of several processes overrides the library's team of one.
build/base/team/mpi/%.o: CC = $(MPICC)
$(foreach t,$(TEAMS),$(eval bin/lp-$(t)-mpi: $(call objects,$(t)) $(call objects,base/team/mpi) build/libbase.a))
$(TEAMS:%=bin/lp-%-mpi) $(MEASURE:%=bin/%): private CC = $(MPICC)
$(COMMANDS:bin/longpole=) $(TESTERS):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

build/apps/%: workflows/apps/%.c
	@mkdir -p $(@D)
	$(MPICC) -std=c11 -O2 -g -o $@ $< -lm
build/apps/%: workflows/apps/%.f90
	@mkdir -p $(@D)
	mpifort -O2 -g -o $@ $<

# On all cores, unless make has -j.
JOBS    = $(shell nproc)
BUILD   = @$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

# Installs missing packages as root or with sudo; otherwise prints the command to type, and stops.
setup:
	@.ci/setup $(PACKAGES:%='%')
test lint fuzz: PACKAGES += $(TESTED)
demo-fortran: PACKAGES += gfortran
demo-lammps: PACKAGES += lammps
lint: PACKAGES += cppcheck clang-tidy
fuzz: PACKAGES += afl++
abi: PACKAGES += abigail-tools
deb: PACKAGES += libmpich-dev build-essential debhelper dh-python fakeroot lintian mandoc python3

# Each demo does what users do: longpole -o FOLDER COMMAND.
demo: PROGRAM = build/apps/heat -n 2000 -i 6 -p balanced:200,imbalanced:300,serial:60,messages:100
demo-fortran: PROGRAM = build/apps/ring
demo-lammps: PROGRAM = lmp -log none -in workflows/apps/in.melt
demo demo-fortran demo-lammps: setup
	$(BUILD) all $(filter build/apps/%,$(PROGRAM))
	rm -rf build/$@ && longpole -o build/$@ $(MPIRUN) -n 4 $(PROGRAM)

# The compiler command of each file, for editors and analysers.
compile_commands.json: all
	@$(MAKE) -nB --no-print-directory all | grep -e ' -c -o ' | jq -Rn --arg here '$(CURDIR)' \
		'[inputs | {directory: $$here, command: ., file: (split(" ") | last)}]' >$@

INSTALLED = $(COMMANDS) $(LIBRARIES) lib/$(STREAM).$(ABI) $(MANUALS) base/library/longpole-stream.h workflows/completion.bash \
            record/longpole.h record/longpole.f90 \
            $(wildcard workflows/*.mk workflows/apps/* fit/data/*.csv python/longpole/*.py) \
            $(addprefix workflows/,state picture timed program parts nearest quiet each brief) \
            LICENSE README.md CHANGELOG.md $(wildcard doc/*.md doc/*.svg doc/*.slurm)
install: all
	@.ci/install '$(PREFIX)' '$(LIBDIR)' '$(VERSION)' $(INSTALLED)
uninstall:
	@.ci/install --remove '$(PREFIX)' '$(LIBDIR)' '$(VERSION)' $(INSTALLED)
export DESTDIR

clean:
	rm -rf bin lib build compile_commands.json python/longpole/__pycache__ tests/__pycache__

-include $(shell find build -name '*.d' -type f 2>/dev/null)
