# SPDX-License-Identifier: BSD-3-Clause
# What holds a run back: its critical path and its imbalance.
#
# run     make -f workflows/critpath.mk APP="mpirun -n 4 ./app"
#         make -f workflows/critpath.mk RUN=big APP="mpirun -n 64 ./app input"
# input   APP, any command that starts an MPI program; nothing is compiled anew
# output  in $(RUN): raw traces, trace, graph, path.txt, path.json, imbalance.txt, imbalance.json
#
# The reports do not depend on each other and are made by GNU parallel, each from the one graph.
# A run that is there is not recorded again: make -f workflows/critpath.mk clean RUN=...

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean

APP =
RUN = run

all: $(RUN)/reports
	@cat $(RUN)/path.txt; echo; cat $(RUN)/imbalance.txt

# The program's own exit status counts: a failed run is not analysed.
$(RUN)/recorded:
	@test -n '$(APP)' || { echo 'APP is not set: APP="mpirun -n 4 ./app"' >&2; exit 2; }
	lp-record -o $(RUN)/raw -- $(APP)
	touch $@

$(RUN)/trace: $(RUN)/recorded
	lp-merge $(RUN)/raw >$@

$(RUN)/graph: $(RUN)/trace
	lp-graph $< >$@

$(RUN)/reports: $(RUN)/graph
	parallel --will-cite --halt now,fail=1 ::: \
		'lp-critpath -F text $< >$(RUN)/path.txt' 'lp-critpath -F json $< >$(RUN)/path.json' \
		'lp-imbalance $< >$(RUN)/imbalance.txt' 'lp-imbalance -F json $< >$(RUN)/imbalance.json'
	touch $@

clean:
	rm -rf $(RUN)
