# SPDX-License-Identifier: BSD-3-Clause
# Builds the recorders: one for each installed MPI, one for all with the standard ABI, and a front that chooses.
# Makefile sets the tools and flags, and includes this.

# The recorder runs in other people's processes: no sanitizers, and no symbols except the wrappers. There is
# one for each MPI, and a front that detects the MPI of a program.
define recorder
build/record.$(1)/%.o: record/preload/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(WARN) -Wno-pedantic $$(CPPFLAGS) -O3 -g $(LTO) -fPIC -fvisibility=hidden -MMD -MP -c -o $$@ $$<
lib/liblongpole-record.$(1).so: $(patsubst record/preload/%.c,build/record.$(1)/%.o,$(wildcard record/preload/*.c)) \
                                $$(patsubst %,build/record.front/%.o,signals unload begins regions tools)
	@mkdir -p $$(@D)
	$(2) -O3 $(LTO) -shared -Wl,-z,defs -o $$@ $$^ -lpthread
endef
have = $(shell command -v $(1) 2>/dev/null)
MPIS := $(if $(call have,mpicc.openmpi),openmpi) $(if $(call have,mpicc.mpich),mpich)
ifeq ($(strip $(MPIS)),)		# not Debian: the only MPI of this system
MPIS := $(if $(shell echo '#include <mpi.h>' | $(MPICC) -E -dM -x c - | grep -w OPEN_MPI),openmpi,mpich)
$(eval $(call recorder,$(MPIS),$(MPICC)))
else
$(foreach mpi,mpich openmpi,$(eval $(call recorder,$(mpi),mpicc.$(mpi))))
endif

# It is linked to no MPI. Its header has the constants of base/mpi/abi; its doors lead to the functions that it calls.
ABI_OBJECTS = $(patsubst record/preload/%.c,build/record.abi/%.o,$(filter-out record/preload/fortran%,$(wildcard record/preload/*.c)))
build/record.abi/values.h: base/mpi/abi
	@mkdir -p $(@D)
	awk '!/^#/ { for (i = 3; i <= NF; i++) if ($$i != "-") print "#define MPI_" $$i " ((" $$1 ")" $$2 + i - 3 ")" }' $< >$@
build/record.abi/doors.h: $(ABI_OBJECTS)
	nm -u $^ | LC_ALL=C awk '$$2 ~ /^PMPI_/ { print $$2 }' | LC_ALL=C sort -u | awk '{ print "DOOR(" NR - 1 ", " $$1 ")" }' >$@
$(ABI_OBJECTS): build/record.abi/%.o: record/preload/%.c build/record.abi/values.h Makefile
	$(CC) $(WARN) -Wno-pedantic $(CPPFLAGS) -Irecord/abi -Ibuild/record.abi -O3 -g $(LTO) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
build/record.abi/doors.o: record/front/doors.c
build/record.abi/next.o: record/abi/next.c
build/record.abi/doors.o build/record.abi/next.o: build/record.abi/doors.h Makefile
	$(CC) $(WARN) -Wno-pedantic $(CPPFLAGS) -DHIDDEN -DFRONT -Ibuild/record.abi -O2 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ \
		$(filter %.c,$^)
lib/liblongpole-record.abi.so: $(ABI_OBJECTS) $(patsubst %,build/record.front/%.o,signals unload begins regions tools) \
                               $(patsubst %,build/record.abi/%.o,doors next)
	@mkdir -p $(@D)
	$(CC) -O3 $(LTO) -shared -Wl,-z,defs -o $@ $^ -lpthread -ldl

RECORDERS = $(patsubst %,lib/liblongpole-record.%.so,$(MPIS) abi)
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

