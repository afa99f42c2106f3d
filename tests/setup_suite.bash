# SPDX-License-Identifier: BSD-3-Clause
# Once before all tests: Python's modules are compiled, which thousands of its starts would do anew.
setup_suite() {
	local tests
	tests=$(dirname "${BASH_SOURCE[0]}")
	/usr/bin/python3 -m compileall -q "$tests"/../python/longpole "$tests"/*.py >/dev/null
}
