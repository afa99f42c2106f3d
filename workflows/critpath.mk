# SPDX-License-Identifier: BSD-3-Clause
# What holds a run back: its critical path and its imbalance.
#
# run     make -f workflows/critpath.mk APP="mpirun -n 4 ./app"
#         make -f workflows/critpath.mk RUN=big APP="mpirun -n 64 ./app input" RECORD="--stack 4"
#         make -f workflows/critpath.mk RUN=big          analyses the run recorded there
#         make -f workflows/critpath.mk JOBS=4 APP="mpirun -n 4 ./app"      merged and matched by 4 processes
# input   APP, any command that starts an MPI program, without recompilation; RECORD, options of lp-record;
#         IDEAL=1, to replay it on an ideal network, too;
#         JOBS, the number of processes of MPIRUN that merge and match: trace and graph are then folders of shards
# output  in $(RUN): verdict.txt, verdict.json, raw traces, trace, graph, ideal (its replay), path.txt, path.json, gain.json,
#         imbalance.txt, imbalance.json, and report.html with all results on one page
#
# A run is recorded again if the command, its programs, their libraries, files that it names, its working directory or
# variables of MPI have changed; AGAIN=1 always records. It is recorded into $(RUN).part. If the program ended with
# status 0 and left a trace, the previous run becomes $(RUN)~ and the new one replaces it. Otherwise the previous run
# stays, and $(RUN).part/raw has the new traces.

APP =
RUN = run
RECORD =
AGAIN =
IDEAL =
JOBS = 1
MPIRUN = mpirun

SETTINGS = APP RUN RECORD AGAIN IDEAL JOBS MPIRUN
stamped = RUN
folder = $(RUN)
tools = lp-merge lp-graph lp-critpath lp-gain lp-replay lp-report
reports = verdict.txt verdict.json path.txt path.json gain.json imbalance.txt imbalance.json report.html
counts = JOBS
commands = $(if $(filter-out 1,$(JOBS)),MPIRUN)
run = recorded raw trace graph ideal reported $(reports)
made = $(run) command command.new path.part
beside = $(RUN).part $(RUN)~
needs = [ ! -e $(RUN) ] || [ -e $(RUN)/asked ] || [ -e $(RUN)/recorded ] || [ -z "$$(ls -A $(RUN))" ] || \
	$(call fail,'$(RUN): other files are there: name a folder for this run alone$(comma) $(if $(LONGPOLE_NAME),-o ,RUN=)FOLDER')
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

all: $(RUN)/reported
	@$(here)brief $(RUN)

ifneq ($(strip $(APP)),)
# The words of the command, as the shell splits them.
command = lp-record $(RECORD) -- $(APP)
$(RUN)/command: always $(RUN)/asked
	@$(call as_now,$(command),$(RUN)/recorded)

# The program's own exit status counts: a failed run replaces nothing.
$(RUN)/recorded: $(RUN)/command
	@rm -rf $(RUN).part/raw $@.part
	lp-record -o $(RUN).part/raw $(RECORD) -- $(APP)
	@if [ -e $@ ]; then mkdir -p $(RUN)~; for f in $(run); do rm -rf $(RUN)~/$$f; \
		[ ! -e $(RUN)/$$f ] || mv $(RUN)/$$f $(RUN)~/; done; else cd $(RUN) && rm -rf $(run); fi
	mv $(RUN).part/raw $(RUN)/raw
	@rmdir --ignore-fail-on-non-empty $(RUN).part
	@$(call as_run,$(command))
else
$(RUN)/recorded:
	@$(call fail,'$(RUN): no run is recorded there; critpath.mk needs APP: longpole critpath.mk APP="mpirun -n 4 ./app"')
endif

# If a file becomes a folder of shards or vice versa, the old one is removed first.
ifeq ($(filter-out 1,$(JOBS)),)
$(RUN)/trace: $(RUN)/recorded $(RUN)/asked
	@rm -rf $@ $@.part
	lp-merge $(RUN)/raw $(whole)

$(RUN)/graph: $(RUN)/trace
	@rm -rf $@ $@.part
	lp-graph $< $(whole)
else
# A round fits into the pipe between the two tools of the page: of larger ones, each waits for the other.
together = $(MPIRUN) -n $(call quoted,$(JOBS))
$(RUN)/trace: $(RUN)/recorded $(RUN)/asked
	@rm -rf $@ $@.part
	$(together) lp-merge -o $@.part $(RUN)/raw
	@mv $@.part $@ && touch $@

$(RUN)/graph: $(RUN)/trace
	@rm -rf $@ $@.part
	$(together) lp-graph --round 8192 -o $@.part $<
	@mv $@.part $@ && touch $@
endif

$(RUN)/ideal: $(RUN)/graph
	lp-replay $< $(whole)
ideal = $(if $(IDEAL),$(RUN)/ideal)

# Nothing is found twice: the page takes path and gains from lp-gain's stream, lp-critpath prints that path and repeats the
# page's verdict, and what lp-imbalance would say is written with the page.
page = lp-gain --json $(RUN)/gain.json.part --path $(RUN)/path.part -F stream $< | lp-report $(ideal:%=--ideal %) \
	--verdict $(RUN)/verdict.json.part --text $(RUN)/verdict.txt.part --imbalance $(RUN)/imbalance.txt.part \
	--imbalance-json $(RUN)/imbalance.json.part >$(RUN)/report.html.part
path = lp-critpath --join -F text --json $(RUN)/path.json.part --verdict $(RUN)/verdict.json.part $(RUN)/path.part \
	>$(RUN)/path.txt.part

$(RUN)/reported: $(RUN)/graph $(ideal)
	set -o pipefail; $(page)
	$(path)
	@cd $(RUN); rm path.part; for r in $(reports); do mv $$r.part $$r; done; touch reported
