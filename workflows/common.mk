# SPDX-License-Identifier: BSD-3-Clause
# Shared by all workflows: one shell, settings taken literally, and results that are never older than their inputs.
#
# A workflow sets these, then includes this file:
#   SETTINGS  the variables that it takes from the command line
#   folder    where its results go; it holds nothing else
#   asks      inputs of its results: shell commands that print them, among them $(call state,FILE...)
#   tools     the commands that make the results
#   stamped   the SETTINGS on which the results depend [all]
#   needs     requirements, as a shell command that reports a missing one and fails
#   counts    the SETTINGS that are integers of 1 or more
#   goals     goals besides all and clean: longpole reads this line
#   beside    further folders with results
#   made      files that `make clean` removes from the folder; the .svg of a figure stands for all formats
#
# A result depends on $(folder)/asked, which changes with any setting, file or tool. A file is unchanged if its name,
# path, size and times are. A result gets its name when it is complete: made by $(whole), or under another name and
# then moved.

# Under longpole, make's own messages are not for users.
here := $(dir $(lastword $(MAKEFILE_LIST)))
SHELL = $(if $(LONGPOLE_MESSAGES),$(here)quiet,bash)
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean always
.DEFAULT_GOAL := all

# Formats of all figures: FIGURES="svg pdf png". Changing them only redraws the figures.
FIGURES ?= svg
stamped ?= $(filter-out FIGURES,$(SETTINGS))
SETTINGS += FIGURES
ifneq ($(filter-out svg pdf png,$(FIGURES)),)
$(error FIGURES are svg, pdf or png, not $(filter-out svg pdf png,$(FIGURES)))
endif
# $(call drawn,NAME...): the files; a rule of theirs needs $(folder)/figures and ends in | $(call picture,NAME,640x420).
drawn = $(foreach n,$(1),$(FIGURES:%=$(folder)/$(n).%))
picture = $(here)picture $(folder)/$(1) $(2) $(FIGURES)

# Refuse unknown settings. Settings of an outer make do not count.
ifeq ($(MAKELEVEL),0)
unknown := $(firstword $(filter-out $(SETTINGS),$(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))))
ifneq ($(unknown),)
$(error no setting '$(unknown)' in $(basename $(notdir $(firstword $(MAKEFILE_LIST))))$(shell $(here)nearest $(unknown) $(SETTINGS)))
endif
endif

# Settings are not Makefile text: a dollar is a dollar. Nor are they exported to programs.
typed := $(foreach s,$(SETTINGS),$(if $(filter command environment,$(firstword $(origin $(s)))),$(s)))
$(foreach s,$(typed),$(eval override $(s) := $$(value $(s))))
unexport $(foreach s,$(typed),$(if $(filter command,$(firstword $(origin $(s))) $(patsubst override,command,$(origin $(s)))),$(s)))

# $(call quoted,TEXT): one word of the shell, whatever TEXT contains; $(call each_quoted,WORDS): each word.
quoted = '$(subst ','\'',$(1))'
each_quoted = $(foreach w,$(1),$(call quoted,$(w)))
state = $(here)state files $(1)

wrong := $(shell for s in $(foreach c,$(counts),$(call quoted,$(c)=$($(c)))); do \
	[[ $$s =~ =(\ *[1-9][0-9]{0,8})+\ *$$ ]] || { printf %s "$$s"; break; }; done)
ifneq ($(wrong),)
$(error $(wrong): a whole number is needed, 1 or more)
endif

# A folder's name becomes part of targets and shell commands.
unsafe = $(shell printf %s $(call quoted,$(1)) | LC_ALL=C tr -d 'A-Za-z0-9_./+,@=\200-\377-')
ifneq ($(call unsafe,$(folder)),)
$(error '$(folder)': a folder's name is made of letters, digits and . / _ - + = @ and the comma)
endif
ifneq ($(words $(folder))$(filter -%,$(folder)),1)
$(error '$(folder)' is no name of a folder)
endif

# GNU parallel also runs its jobs by bash; on a terminal it shows its progress.
export PARALLEL_SHELL := $(shell command -v bash)
each = parallel --will-cite --halt now,fail=1 $$([ ! -t 2 ] || echo --bar)

whole = >$@.part; mv $@.part $@

# Recording: a rule with $(call as_now,COMMAND,RECORDED) makes its target newer than RECORDED if the command differs
# from RECORDED. $(call as_run,COMMAND) writes RECORDED after the run. Files that the run itself changes are output.
as_now = $(here)state command $(1) >$@.new; mv $@.new $@; if [ -z '$(AGAIN)' ] && cmp -s $@ $(2); then touch -r $(2) $@; fi
as_run = { grep -v '^file ' $<; $(here)state command $(1) | { grep '^file ' || true; }; } $(whole)

$(folder)/asked: always
	@$(or $(needs),true)
	@mkdir -p $(folder)
	@{ $(foreach s,$(stamped),printf '%s\n' $(call quoted,$(s) = $($(s)));) \
		$(or $(asks),true); $(here)state tools $(tools); } >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(folder)/figures: always $(folder)/asked
	@echo $(FIGURES) >$@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Removes only files made here.
all_made = $(made) $(foreach f,pdf png,$(patsubst %.svg,%.$(f),$(filter %.svg,$(made))))
clean:
	@for d in $(folder) $(beside); do [ -d $$d ] || continue; \
		(cd $$d && rm -rf asked asked.new figures figures.new $(all_made) $(addsuffix .part,$(all_made))); \
		rmdir --ignore-fail-on-non-empty $$d; done
