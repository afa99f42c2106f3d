# SPDX-License-Identifier: BSD-3-Clause
# The stream for stages of others: of its symbols only those of longpole-stream.h are seen.
build/library/%.o: base/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) -O3 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
lib/liblongpole-stream.so: $(patsubst base/%.c,build/library/%.o,$(wildcard base/stream/*.c base/library/*.c))
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-z,defs -Wl,-soname,liblongpole-stream.so -o $@ $^ $(LDLIBS)
