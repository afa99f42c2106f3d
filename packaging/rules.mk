# SPDX-License-Identifier: BSD-3-Clause
# Pages for a browser, a tarball, and Debian packages.
.PHONY: html dist deb
html:
	@packaging/html html $(MANUALS)

# Needs neither git nor mandoc to be built; of the same commit, the same bytes.
dist: html
	@packaging/dist longpole-$(VERSION)

# Built twice, in two folders: both have the same bytes, and lintian has nothing to say.
deb: setup
	@$(MAKE) --no-print-directory dist
	@packaging/deb longpole-$(VERSION) build/deb

# The pictures of the tour.
doc/%.svg: bin/lp-report
	@[ -e build/demo/graph ] || $(MAKE) demo
	lp-report -F svg --figure $* -o $@ build/demo/graph
