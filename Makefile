# Builds, tests and installs longpole: GNU make and the packages listed in PACKAGES.
VERSION  = 0.1.0
PREFIX   = /usr/local
MPICC    = mpicc
PYTHON   = /usr/bin/python3
CFLAGS   = -O3 -g
WARN     = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
           -Wstrict-prototypes -Wmissing-prototypes -Werror
CPPFLAGS = -D_GNU_SOURCE -DVERSION='"$(VERSION)"'
TOOLS    = record merge graph critpath imbalance
LDLIBS   = -lmsgpackc -lm

# The one list of Debian packages that building, demo and tests need.
PACKAGES = gcc libc6-dev openmpi-bin libopenmpi-dev gfortran libmsgpack-dev libxxhash-dev libdw-dev \
           binutils parallel bats jq mandoc shellcheck python3 python3-msgpack python3-numpy python3-xxhash

ifdef SAN				# make clean && make SAN=1 test
CFLAGS  += -fsanitize=address,undefined -fno-omit-frame-pointer
endif

.DELETE_ON_ERROR:
.PHONY: all setup test demo lint install clean

all: $(TOOLS:%=bin/lp-%) bin/lp-dump lib/liblongpole-record.so

objects = $(patsubst %.c,build/%.o,$(sort $(wildcard $(1)/*.c)))

build/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

build/libstream.a: $(call objects,stream)
	rm -f $@ && $(AR) rcs $@ $^

# A tool is every .c in its folder and the stream library, nothing else.
$(foreach t,$(TOOLS),$(eval bin/lp-$(t): $(call objects,$(t)) build/libstream.a))
bin/lp-merge: LDLIBS += -ldw -l:libstdc++.so.6	# names of call sites
$(TOOLS:%=bin/lp-%):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# convert/ holds several tools.
bin/lp-dump: build/convert/dump.o build/convert/dump_calls.o build/convert/dump_edges.o \
             build/convert/text.o build/libstream.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The recorder runs in other people's processes: no sanitizers, no symbols but the wrappers.
build/record/preload/%.o: record/preload/%.c Makefile
	@mkdir -p $(@D)
	$(MPICC) $(WARN) -Wno-pedantic $(CPPFLAGS) -O3 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-record.so: $(call objects,record/preload)
	@mkdir -p $(@D)
	$(MPICC) -shared -Wl,-z,defs -o $@ $^ -lpthread

clean:
	rm -rf bin lib build

-include $(shell find build -name '*.d' 2>/dev/null)
