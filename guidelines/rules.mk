# SPDX-License-Identifier: BSD-3-Clause
# Builds the programs that time an MPI library, and the library that mends it.
# Makefile sets the tools and flags, and includes this behind record/rules.mk.

# guidelines/measure/ holds two, which run as the ranks of an mpirun.
build/guidelines/measure/%.o: CC = $(MPICC)
# In MPICH, MPI_STATUS_IGNORE is the address 1.
build/guidelines/measure/%.o: WARN += -Wno-stringop-overflow
shared = build/guidelines/measure/call.o build/guidelines/measure/functions.o build/guidelines/measure/messages.o build/guidelines/measure/mockups.o \
         build/guidelines/measure/sync.o build/libbase.a
bin/lp-measure: $(foreach f,measure jobs own evaluate program,build/guidelines/measure/$f.o) $(shared)
bin/lp-nrep: build/guidelines/measure/nrep.o $(shared)

# The same two for an MPI other than MPICC's: use PATH=build/measure.mpich:$$PATH, and its mpirun.
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

# lp-mend preloads mock-ups that call the library's own functions, one set per MPI, and a front like the recorder's.
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

