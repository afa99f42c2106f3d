# SPDX-License-Identifier: BSD-3-Clause
# How much of each run is overhead? Figures and errors for tables, or for a program recorded here.
#
# run     make -f workflows/overhead.mk                    the tables of fit/data
#         make -f workflows/overhead.mk DATA="my/*.csv"    your own
#         make -f workflows/overhead.mk record APP="build/apps/heat -n 2000" RANKS="1 2 4"
# input   DATA, tables n,t[,tau,dtau]; or APP, an MPI program that is recorded REPEAT times on each
#         number of RANKS, without recompilation
# output  in $(OUT): shares.svg, tau/t of all tables with equation 1; for each table NAME.svg,
#         NAME.txt and .json by FIT; errors.tsv, the median relative errors of tau at
#         n >= 16 by the paper's rule, by run times alone, by one measured tau and by the bound;
#         with record: N.I.graph of each run, alone.json (run times only), compared.tsv
#
# Figures are like figures 1 to 8 of Hoefinger and Haunschmid 2017: 1 has the shares, 2 to 8 the programs, with a
# second one for AMBER. GNU parallel fits the tables.

DATA   = $(here)../fit/data/*.csv
FIT    = --paper
ONE    = 64
OUT    = overhead
APP    =
RANKS  = 1 2 4
REPEAT = 2
MPIRUN = mpirun --oversubscribe --mca mpi_yield_when_idle 1

SETTINGS = DATA FIT ONE OUT APP RANKS REPEAT MPIRUN
counts = ONE RANKS REPEAT
commands = $(if $(filter record,$(MAKECMDGOALS)),MPIRUN)
goals = record
folder = $(OUT)
tools = lp-fit
needs = $(if $(filter record,$(MAKECMDGOALS)),$(check_app),$(check_tables))
asks = $(call state,$(call each_quoted,$(tables)))
made = fitted pictures shares.svg errors.tsv $(names:%=%.*) \
       *.graph *.command *.recorded *.raw alone.txt alone.json joined.json compared.tsv
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
.PHONY: record

tables  = $(wildcard $(DATA))
names   = $(basename $(notdir $(tables)))
check_app = [ -n $(call quoted,$(APP)) ] || $(call fail,'overhead needs APP: longpole overhead record APP=./app')
check_tables = [ -n $(call quoted,$(tables)) ] || $(call fail,$(call quoted,$(DATA))': no such table'); \
	for t in $(call each_quoted,$(tables)); do lp-fit -- "$$t" >/dev/null; done; \
	[ $(words $(names)) = $(words $(sort $(names))) ] || $(call fail,'DATA names two tables of one name'); \
	[ -z $(call quoted,$(call unsafe,$(subst $(space),,$(names)))) ] || \
	$(call fail,'the name of a table is made of letters$(comma) digits and . _ - + = @ and the comma')

all: $(OUT)/errors.tsv $(OUT)/pictures $(call drawn,shares)
	@cat $<

# For each table: the fit, the results from run times alone and from one measured tau, and the picture.
$(OUT)/fitted: $(OUT)/asked
	$(each) 'lp-fit {=2 uq =} {1} >$(OUT)/{1/.}.{3}' ::: $(call each_quoted,$(tables)) ::: \
		'$(FIT)' '$(FIT) -F json' '$(FIT) --gnuplot' '--tau none -F json' '--tau $(ONE) -F json' \
		'-F csv' :::+ txt json gp alone one csv
	@touch $@
$(OUT)/pictures: $(OUT)/fitted $(OUT)/figures
	$(each) '$(call picture,{},900x700) <$(OUT)/{}.gp' ::: $(names)
	@touch $@

# The median over n >= 16 with a measured tau; for a single tau, without its own n.
error = def error(key; but): [.points[] | select(.n >= 16 and .n != but and .tau > 0 and .t > 0) | \
	(.[key] / .tau - 1) | fabs] | sort | if length == 0 then null else \
	(.[length / 2 | floor] + .[(length - 1) / 2 | floor]) / 2 end;
errors = $(error) [inputs] as [$$fit, $$alone, $$one] | [$$fit.name, ($$fit | error("tau_fit"; 0)), \
	($$alone | error("tau_estimate"; 0), .tau_from), ($$one | error("tau_estimate"; $(ONE))), \
	($$alone | error("tau_bound"; 0))] | \
	map(if type == "number" then . * 1000 | round / 1000 else . // "-" end) | @tsv
$(OUT)/errors.tsv: $(OUT)/fitted
	@{ printf 'program\trule\tdefault\tfrom\ttau_at_$(ONE)\tbound\n'; for name in $(names); do \
		jq -rn '$(errors)' $(OUT)/$$name.json $(OUT)/$$name.alone $(OUT)/$$name.one; done; } $(whole)

# Equation 1 of all tables in one picture; ratio(i, n) is that of the i-th.
$(call drawn,shares) &: $(OUT)/fitted $(OUT)/figures
	@{ awk -F, '$$2 + 0 > most { most = $$2 + 0 } END { print "set xrange [0.9:" 1.1 * (most > 1 ? most : 2) "]" }' $(names:%=$(OUT)/%.csv); \
	for key in b c; do echo "$${key}s = '$$(jq -r ".equation1.$$key // \"NaN\"" \
		$(names:%=$(OUT)/%.json) | tr '\n' ' ')'"; done; \
	echo "names = '$(names)'; set datafile separator ','; set logscale x; set key outside right; \
	b(i) = real(word(bs, i)); c(i) = real(word(cs, i)); ratio(i, n) = b(i)/(c(i)+1) - b(i)/(c(i)+n); \
	set xlabel 'cores'; set ylabel 'overhead, share of the run time'; set samples 300; \
	set yrange [0:1]; \
	plot for [i=1:words(names)] '$(OUT)/'.word(names, i).'.csv' using 2:(\$$7/\$$3) with points pt 7 \
	ps 0.6 lc i title word(names, i) noenhanced, \
	for [i=1:words(names)] ratio(i, x) with lines lc i notitle"; } | $(call picture,shares,900x700)

record: $(OUT)/compared.tsv
	@cat $(OUT)/alone.txt $<

# Runs do not overlap, since they must not share cores. A run is recorded again if the program, its libraries or
# anything else about it has changed.
runs := $(foreach n,$(RANKS),$(foreach i,$(shell seq $(REPEAT)),$(n).$(i)))
graphs = $(runs:%=$(OUT)/%.graph)
.NOTPARALLEL: $(graphs)
command = lp-record -- $(MPIRUN) -n $(basename $*) $(APP)
$(runs:%=$(OUT)/%.command): $(OUT)/%.command: always $(OUT)/asked
	@$(call as_now,$(command),$(OUT)/$*.recorded)
$(runs:%=$(OUT)/%.recorded): $(OUT)/%.recorded: $(OUT)/%.command
	@rm -rf $(OUT)/$*.raw $(OUT)/$*.graph
	lp-record -o $(OUT)/$*.raw -- $(MPIRUN) -n $(basename $*) $(APP)
	lp-merge $(OUT)/$*.raw | lp-graph >$(OUT)/$*.graph
	@rm -rf $(OUT)/$*.raw
	@$(call as_run,$(command))
$(graphs): $(OUT)/%.graph: $(OUT)/%.recorded

compared = ["n", "t_s", "recorded_tau_s", "from_run_times_s", "bound_s"], \
	(.points[] | [.n, .t, .tau, .tau_estimate, .tau_bound]) | @tsv
$(OUT)/compared.tsv: $(graphs) $(OUT)/asked
	$(each) 'lp-fit {=1 uq =} $(graphs) >$(OUT)/{2}' ::: '--tau none' '--tau none -F json' '-F json' \
		:::+ alone.txt alone.json joined.json
	@jq -r '$(compared)' $(OUT)/alone.json $(whole)
