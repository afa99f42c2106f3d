#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What is installed and packaged, and the pages in HTML.

load helpers

# settings NAME: a variable of the Makefile
setting() { make -s -C "$ROOT" --eval 'print:; @echo "$($(WANTED))"' print WANTED="$1"; }

@test "an installed tree may be moved: tools, workflows, recorders and the library find each other, and nothing names the checkout" {
	make -s -C "$ROOT" install PREFIX=/opt/longpole DESTDIR="$PWD/root"
	refute grep -rlP "(?<![\w./-])(\Q$ROOT\E|\Q$PWD\E)(?![\w.-])" root
	mv root/opt/longpole moved
	cp "$ROOT/build/apps/heat" .
	PATH=/usr/bin:/bin moved/bin/longpole mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./heat -n 100 -p balanced:5 >said
	grep '^heat, 2 ranks on' said
	export PKG_CONFIG_PATH=$PWD/moved/lib/pkgconfig
	echo '#include <longpole-stream.h>
		int main(void) { longpole_close(0); return 0; }' >stage.c
	# shellcheck disable=SC2046
	cc stage.c -o stage $(pkg-config --cflags --libs longpole-stream)
	./stage
	readelf -d stage | grep "NEEDED.*liblongpole-stream.so.$(setting ABI)\]"
	[ "$(pkg-config --modversion longpole-stream)" = "$(setting VERSION)" ]
}

@test "LIBDIR and PREFIX=/usr: the library where a distribution has it, found from its pkg-config file" {
	make -s -C "$ROOT" install PREFIX=/usr LIBDIR=/usr/lib/x-linux DESTDIR="$PWD/there"
	[ -e there/usr/lib/x-linux/liblongpole-stream.so ]
	[ -e there/usr/lib/longpole/liblongpole-record.so ]
	export PKG_CONFIG_PATH=$PWD/there/usr/lib/x-linux/pkgconfig
	libdir=$(pkg-config --variable=libdir longpole-stream) prefix=$(pkg-config --variable=prefix longpole-stream)
	[ "$(realpath "$libdir")" = "$PWD/there/usr/lib/x-linux" ]
	[ "$(realpath "$prefix")" = "$PWD/there/usr" ]
	pkg-config --libs longpole-stream | refute grep rpath
	make -s -C "$ROOT" uninstall PREFIX=/usr LIBDIR=/usr/lib/x-linux DESTDIR="$PWD/there"
	[ -z "$(find there -type f -o -type l)" ]
}

@test "the library has the interface that is kept, function by function" {
	library=$ROOT/lib/liblongpole-stream.so.$(setting ABI) kept=$ROOT/base/library/longpole-stream.abi
	grep -o "elf-symbol name='[^']*'" "$kept" | cut -d"'" -f2 | sort >functions
	nm -D --defined-only "$library" | awk '{ print $3 }' | sort | diff functions -
	grep "soname='${library##*/}'" "$kept"
}

@test "types and arguments of the library are those that are kept: abidiff finds no change" {
	command -v abidiff || skip "abigail-tools is not installed"
	abidiff --no-added-syms "$ROOT/base/library/longpole-stream.abi" "$ROOT/lib/liblongpole-stream.so.$(setting ABI)"
}

@test "one version: of the Makefile, the Python module, the recipes, and the newest changes" {
	cd "$ROOT"
	version=$(setting VERSION)
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
	grep -x "__version__ = \"$version\"" python/longpole/__init__.py
	[ "$(sed -n '/^## /{s/^## \([^ ,]*\).*/\1/p;q}' CHANGELOG.md)" = "$version" ]
	[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" = "$version" ]
	grep "version(\"$version\"" packaging/spack/package.py
	grep -x "version = '$version'" packaging/easybuild/longpole-"$version"-*.eb
	grep -x "Package: liblongpole-stream$(setting ABI)" debian/control
}

@test "longpole --version -v names the recorders, where they are, and an MPI that is missing" {
	mkdir -p copy/bin copy/lib/longpole
	cp "$ROOT/bin/longpole" copy/bin
	for mpi in here gone; do
		echo "int $mpi;" | cc -xc - -shared -fPIC -Wl,-soname,"lib$mpi.so.1" -o "lib$mpi.so.1"
		cc -shared -Wl,--no-as-needed "lib$mpi.so.1" -o "copy/lib/longpole/liblongpole-record.$mpi.so"
	done
	rm libgone.so.1
	LD_LIBRARY_PATH=$PWD run -0 copy/bin/longpole --version -v
	[ "$output" = "longpole $(setting VERSION)
recorder for gone: $(pwd -P)/copy/lib/longpole/liblongpole-record.gone.so, but libgone.so.1 is not installed
recorder for here: $(pwd -P)/copy/lib/longpole/liblongpole-record.here.so" ]
	[ "$(LD_LIBRARY_PATH=$PWD copy/bin/longpole -v --version)" = "$output" ]
	[ "$(copy/bin/longpole --version)" = "${lines[0]}" ]
	rm copy/lib/longpole/*
	run -2 copy/bin/longpole -v --version
	[[ ${lines[1]} == *'has no recorder: no MPI was found when longpole was built' ]]
	longpole --version -v | grep -x "recorder for openmpi: $(readlink -f "$ROOT")/lib/liblongpole-record.openmpi.so"
}

@test "a compiler for 32 bits, or for big-endian byte order, is refused in one line; without a compiler, setup goes on" {
	for compiler in 'cc -U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4' 'cc -U__BYTE_ORDER__ -D__BYTE_ORDER__=4321'; do
		run -2 make -s -C "$ROOT" -n all CC="$compiler"
		[ "$(grep -c '64 bits and little-endian byte order' <<<"$output")" -eq 1 ]
		[ "$(grep -vc '^make' <<<"$output")" -eq 1 ]
	done
	make -s -C "$ROOT" -n setup CC=no-such-compiler
}

# column N: the names in that column of packaging/dependencies
column() { sed '/^#/d' "$ROOT/packaging/dependencies" | awk -v n="$1" '$n != "-" { print $n }' | sort -u; }

@test "the recipes need what the Makefile needs: Debian, Spack, EasyBuild" {
	cd "$ROOT"
	setting PACKAGES | tr ' ' '\n' | sort >"$BATS_TEST_TMPDIR/packages"
	setting TESTED | tr ' ' '\n' | sort >"$BATS_TEST_TMPDIR/tested"
	cd "$BATS_TEST_TMPDIR"
	column 1 >table
	[ "$(comm -13 table packages)" = '' ]		# all have a row
	comm -23 table packages >others			# of the Python module
	[ "$(comm -23 others tested)" = '' ]

	# What the compiler brings is no build dependency; programs that only run are dependencies of the package.
	sed -n '/^Build-Depends:/,/^[^ ]/s/^ \(.*\),$/\1/p' "$ROOT/debian/control" |
		sed 's/ | /|/; s/ (.*//' | grep -vxE 'debhelper-compat|dh-sequence-python3|python3|mandoc|libmpich-dev' | sort >built
	sed -n '/^Package: longpole$/,/^$/{/^Depends:/,/^Description/s/^ \([a-z].*\),$/\1/p}' "$ROOT/debian/control" | sort >run
	sort -u built run | grep -vxE 'make|gnuplot-nox|longpole-doc|python3-longpole' >debian
	grep -vxE 'gcc|libc6-dev|libstdc\+\+6|util-linux' packages | diff - debian
	sed -n '/^Package: python3-longpole$/,/^$/{/^Depends:/,/^Recommends/s/^ \([a-z].*\),$/\1/p}' "$ROOT/debian/control" | sort >python
	grep -v '^python3$' others | diff - python

	sed -n 's/^ *depends_on("\([^"]*\)".*/\1/p' "$ROOT/packaging/spack/package.py" | sort | diff <(column 2) -
	sed -n "s/^    ('\([^']*\)', '.*/\1/p" "$ROOT"/packaging/easybuild/longpole-*.eb | sort | diff <(column 3) -
}

@test "the container takes its packages from the Makefile; recipes are Python that can be read" {
	cd "$ROOT"
	grep -q ' make -C [^ ]* setup ' packaging/Containerfile
	[ "$(grep -oE 'install -y --no-install-recommends [^&]*' packaging/Containerfile | xargs)" = 'install -y --no-install-recommends make' ]
	for recipe in packaging/spack/package.py packaging/easybuild/*.eb; do
		python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"
	done
}

@test "a tarball has all that a build needs without git, and of one commit the same bytes" {
	git -C "$ROOT" rev-parse || skip "not a checkout"
	git clone -q "$ROOT" checkout
	make -s -C checkout dist
	name=longpole-$(setting VERSION)
	mv "checkout/build/$name.tar.gz" first
	make -s -C checkout dist
	cmp first "checkout/build/$name.tar.gz"
	tar -xf first
	[ -e "$name/html/lp-record.1.html" ]
	[ ! -e "$name/.git" ]
	# Nothing is missing, and one library is really built.
	env -u CI GIT_DIR=/nowhere make -C "$name" -n install >steps
	grep -q 'lp-critpath' steps
	GIT_DIR=/nowhere make -s -C "$name" lib/liblongpole-stream.so CFLAGS=-O0
	[ -e "$name/lib/liblongpole-stream.so.$(setting ABI)" ]
	GIT_DIR=/nowhere run ! make -s -C "$name" dist
}

@test "pages in HTML: every reference leads to a page, a place in it, or a picture; all pages are on the first one" {
	command -v mandoc || skip "mandoc is not installed"
	read -ra pages <<<"$(setting MANUALS)"
	(cd "$ROOT" && packaging/html "$BATS_TEST_TMPDIR/html" "${pages[@]}")
	cat >check.py <<-'END'
		import glob, html.parser, os, sys
		ids, links = {}, []
		class Page(html.parser.HTMLParser):
		    def handle_starttag(self, tag, given):
		        given = dict(given)
		        if "id" in given:
		            ids[self.name].add(given["id"])
		        for key in ("href", "src"):
		            if key in given:
		                links.append((self.name, given[key]))
		for file in glob.glob("html/*.html"):
		    page = Page()
		    page.name = os.path.basename(file)
		    ids[page.name] = set()
		    page.feed(open(file).read())
		bad = 0
		for page, link in links:
		    name, _, place = link.partition("#")
		    name = name or page
		    if link.startswith("https://"):
		        if "lp-" in link or "longpole" in link:
		            bad += 1
		            print(page, "leads away for its own page:", link)
		    elif not os.path.exists("html/" + name) or place and place not in ids[name]:
		        bad += 1
		        print(page, "leads nowhere:", link)
		first = {link for page, link in links if page == "index.html"}
		lost = set(ids) - first - {"index.html"}
		print(len(ids), "pages", len(links), "links; not on the first page:", lost)
		sys.exit(bad > 0 or bool(lost) or len(ids) < 26 or len(links) < 500)
	END
	python3 check.py
	for picture in timeline waits gains matrix; do
		grep -q "<img src=\"$picture.svg\"" html/longpole-tour.7.html
	done
}

@test "the page of questions names every tool and workflow, and only commands that exist" {
	questions=$ROOT/doc/longpole-questions.7
	for tool in "$ROOT"/bin/lp-*; do
		tool=${tool##*/}
		[[ $tool == *-mpi ]] || grep -qx "\.Xr $tool 1.*" "$questions" || { echo "$tool"; false; }
	done
	for name in $(longpole workflows | cut -d' ' -f1); do
		[ "$name" = critpath ] || grep -q "^\.Dl longpole $name" "$questions" || { echo "$name"; false; }
	done
	for page in "$questions" "$ROOT/doc/longpole-tour.7"; do
		sed -n "s/^\.Dl longpole \([a-z]*\)\( .*\)*$/\1/p" "$page" | sort -u >named
		[ "$(wc -l <named)" -ge 5 ]
		while read -r name; do
			[ "$name" = mpirun ] || [ "$name" = watch ] || longpole help "$name" >help
		done <named
	done
}
