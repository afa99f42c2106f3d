# SPDX-License-Identifier: BSD-3-Clause
# The page's Content-Security-Policy contains the hashes of its script and style.
sha256 = $$(printf "$$(cat $(1) | sha256sum | cut -c 1-64 | sed 's/../\\x&/g')" | base64)
# Pages have the script without its comments and indentation.
build/report/page.js: report/page.js
	@mkdir -p $(@D)
	sed '2,$${s/^\t*//; /^\/\/ /d; s/[\t ]*\t\/\/ .*$$//; /^$$/d}' $< >$@
build/report/hashes.h: build/report/page.js report/page.css report/figure.css
	@mkdir -p $(@D)
	printf '#define %s_SHA256 "%s"\n' SCRIPT "$(call sha256,build/report/page.js)" \
		STYLE "$(call sha256,report/figure.css report/page.css)" >$@
build/report/page.o: CPPFLAGS += -Ibuild/report
build/report/page.o: build/report/hashes.h
