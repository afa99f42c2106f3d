# SPDX-License-Identifier: BSD-3-Clause
# The stream for stages of others: of its symbols only those of longpole-stream.h are seen.
build/library/%.o: base/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) -O3 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

# A change that abidiff calls incompatible needs another ABI; after any other change of the interface, make abi.
ABI    = 0
STREAM = liblongpole-stream.so
lib/$(STREAM).$(ABI): $(patsubst base/%.c,build/library/%.o,$(wildcard base/stream/*.c base/library/*.c))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-soname,$(@F) -o $@ $^ $(LDLIBS)
lib/$(STREAM): lib/$(STREAM).$(ABI)
	ln -sf $(<F) $@

.PHONY: abi
abi: setup lib/$(STREAM)
	abidw --headers-dir base/library --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
		--out-file base/library/longpole-stream.abi lib/$(STREAM).$(ABI)
