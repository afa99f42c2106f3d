# SPDX-License-Identifier: BSD-3-Clause
# What all workflows share: one shell, settings taken to the letter, and results that are never older
# than what they are made of.
#
# A workflow sets these, then includes this file:
#   SETTINGS  the variables that it takes from the command line
#   folder    where its results go, and nothing else is
#   asks      what its results depend on: words of the shell that print it, $(call state,FILE...) among them
#   tools     the commands that make the results
#   stamped   of SETTINGS those on which the results depend [all]
#   needs     what must be there first, in the words of the shell; says what is missing, and fails
#   counts    of SETTINGS those that are whole numbers, 1 or more
#   goals     what can be made of it besides all and clean: longpole reads this line
#   beside    folders beside $(folder) that hold results, too
#   made      what `make clean` takes away: names in the folder; of a figure its .svg stands for all formats
#
# A result depends on $(folder)/asked, which changes as soon as a setting, a file or a tool is another one:
# a file counts as the same while its name, place, size and times are. A result gets its name when
# it is whole: made by $(whole), or under a name of its own and then moved.

# Under longpole what make itself says is not for readers.
here := $(dir $(lastword $(MAKEFILE_LIST)))
SHELL = $(if $(LONGPOLE_MESSAGES),$(here)quiet,bash)
.SHELLFLAGS = -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: all clean always
.DEFAULT_GOAL := all

# Formats of all figures: FIGURES="svg pdf png". Another one draws them again, and measures nothing again.
FIGURES ?= svg
stamped ?= $(filter-out FIGURES,$(SETTINGS))
SETTINGS += FIGURES
ifneq ($(filter-out svg pdf png,$(FIGURES)),)
$(error FIGURES are svg, pdf or png, not $(filter-out svg pdf png,$(FIGURES)))
endif
# $(call drawn,NAME...): the files; a rule of theirs needs $(folder)/figures and ends in | $(call picture,NAME,640x420).
drawn = $(foreach n,$(1),$(FIGURES:%=$(folder)/$(n).%))
picture = $(here)picture $(folder)/$(1) $(2) $(FIGURES)

# A setting that nobody reads is a mistake. What a make above this one was given is not this one's.
ifeq ($(MAKELEVEL),0)
unknown := $(firstword $(filter-out $(SETTINGS),$(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))))
ifneq ($(unknown),)
$(error no setting '$(unknown)' in $(basename $(notdir $(firstword $(MAKEFILE_LIST))))$(shell $(here)nearest $(unknown) $(SETTINGS)))
endif
endif

# What was typed is no Makefile: a dollar in it is a dollar. And it is not for the programs that are run.
typed := $(foreach s,$(SETTINGS),$(if $(filter command environment,$(firstword $(origin $(s)))),$(s)))
$(foreach s,$(typed),$(eval override $(s) := $$(value $(s))))
unexport $(foreach s,$(typed),$(if $(filter command,$(firstword $(origin $(s))) $(patsubst override,command,$(origin $(s)))),$(s)))

# $(call quoted,TEXT): one word of the shell, whatever is in it; $(call each_quoted,WORDS): each of them.
quoted = '$(subst ','\'',$(1))'
each_quoted = $(foreach w,$(1),$(call quoted,$(w)))
state = $(here)state files $(1)

wrong := $(shell for s in $(foreach c,$(counts),$(call quoted,$(c)=$($(c)))); do \
	[[ $$s =~ =(\ *[1-9][0-9]{0,8})+\ *$$ ]] || { printf %s "$$s"; break; }; done)
ifneq ($(wrong),)
$(error $(wrong): a whole number is needed, 1 or more)
endif

# A folder's name becomes part of targets and of the shell's words.
unsafe = $(shell printf %s $(call quoted,$(1)) | LC_ALL=C tr -d 'A-Za-z0-9_./+,@=\200-\377-')
ifneq ($(call unsafe,$(folder)),)
$(error '$(folder)': a folder's name is made of letters, digits and . / _ - + = @ and the comma)
endif
ifneq ($(words $(folder))$(filter -%,$(folder)),1)
$(error '$(folder)' is no name of a folder)
endif

# GNU parallel runs its jobs by bash, too; on a terminal it shows how far it is.
export PARALLEL_SHELL := $(shell command -v bash)
each = parallel --will-cite --halt now,fail=1 $$([ ! -t 2 ] || echo --bar)

whole = >$@.part; mv $@.part $@

# Recording: a rule with $(call as_now,COMMAND,RECORDED) makes its target newer than RECORDED where the command is
# not as RECORDED says; $(call as_run,COMMAND) writes that after the run. What a run changes itself is its output.
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

# Only what was made here.
all_made = $(made) $(foreach f,pdf png,$(patsubst %.svg,%.$(f),$(filter %.svg,$(made))))
clean:
	@for d in $(folder) $(beside); do [ -d $$d ] || continue; \
		(cd $$d && rm -rf asked asked.new figures figures.new $(all_made) $(addsuffix .part,$(all_made))); \
		rmdir --ignore-fail-on-non-empty $$d; done
