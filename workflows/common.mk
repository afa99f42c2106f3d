# SPDX-License-Identifier: BSD-3-Clause
# Shared by all workflows: one shell, settings taken literally, and results that are never older than their inputs.
#
# A workflow sets these, then includes this file:
#   SETTINGS  the variables that it takes from the command line
#   folder    where its results go; it holds nothing else
#   asks      inputs of its results: shell commands that print them, among them $(call state,FILE...)
#   tools     the commands that make the results
#   stamped   the SETTINGS on which the results depend [all]
#   needed    the SETTINGS without which there is nothing to do; A|B: one of them is enough
#   such_as   an example of them, as typed after longpole NAME
#   needs     other requirements, as a shell command that ends by $(call fail,TEXT)
#   commands  the SETTINGS that begin with a command
#   counts    the SETTINGS that are integers of 1 or more
#   wholes    those of 0 or more
#   numbers   those that are numbers
#   goals     goals besides all and clean: longpole reads this line
#   beside    further folders with results
#   made      files that `make clean` removes from the folder; the .svg of a figure stands for all formats
#
# A result depends on $(folder)/asked, which changes with any setting, file or tool. A file is unchanged if its name,
# path, size and times are. A result gets its name when it is complete: made by $(whole), or under another name and
# then moved.

# Under longpole, make's own messages are not for users.
here := $(dir $(lastword $(MAKEFILE_LIST)))
flow := $(basename $(notdir $(firstword $(MAKEFILE_LIST))))
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
$(error no setting '$(unknown)' in $(flow)$(shell $(here)nearest $(unknown) $(SETTINGS)))
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
# $(call fail,WORD): ends a recipe, with a line for users.
fail = { echo "$${LONGPOLE_NAME:+longpole: }"$(1) >&2; exit 2; }

define newline


endef
broken := $(firstword $(foreach s,$(SETTINGS),$(if $(findstring $(newline),$($(s))),$(s))))
ifneq ($(broken),)
$(error $(broken): a setting is one line)
endif

# $(call refuse,SETTINGS,PATTERN,WHAT IS NEEDED): the first of them that is not one or more of these.
wrong = $(shell for s in $(foreach c,$(1),$(call quoted,$(c)=$($(c)))); do \
	[[ $$s =~ =(\ *$(2))+\ *$$ ]] || { printf %s "$$s"; break; }; done)
refuse = $(if $(call wrong,$(1),$(2)),$(error $(call wrong,$(1),$(2)): $(3)))
# A word of LIMITS.
limit = [^[:space:]]+=[0-9.]+%?
comma = ,
space := $(subst ,, )
$(call refuse,$(counts),[1-9][0-9]{0$(comma)8},a whole number is needed$(comma) 1 or more)
$(call refuse,$(wholes),[0-9]{1$(comma)18},a whole number is needed$(comma) 0 or more)
$(call refuse,$(numbers),[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?,a number is needed)

# A folder's name becomes part of targets and shell commands.
unsafe = $(shell printf %s $(call quoted,$(1)) | LC_ALL=C tr -d 'A-Za-z0-9_./+,@=\200-\377-')
ifneq ($(call unsafe,$(folder)),)
$(error '$(folder)': a folder's name is made of letters, digits and . / _ - + = @ and the comma)
endif
ifneq ($(words $(folder))$(filter -%,$(folder)),1)
$(error '$(folder)' is no name of a folder)
endif

each = $(here)each

whole = >$@.part; mv $@.part $@

# Recording: a rule with $(call as_now,COMMAND,RECORDED) makes its target newer than RECORDED if the command differs
# from RECORDED. $(call as_run,COMMAND) writes RECORDED after the run. Files that the run itself changes are output.
as_now = $(here)state command $(1) >$@.new; mv $@.new $@; if [ -z '$(AGAIN)' ] && cmp -s $@ $(2); then touch -r $(2) $@; fi
as_run = { grep -v '^file ' $<; $(here)state command $(1) | { grep '^file ' || true; }; } $(whole)

missing = $(foreach n,$(needed),$(if $(strip $(foreach s,$(subst |, ,$(n)),$($(s)))),,$(n)))
runs_of = $(subst RAW,GRAPH,$(subst RUNS,GRAPH,$(subst GRAPHS,GRAPH,$(1))))
what_is = $(subst GRAPH,a run,$(subst |, or ,$(subst $(space), and ,$(call runs_of,$(strip $(missing))))))

$(folder)/asked: always
	@$(if $(strip $(missing)),$(call fail,$(call quoted,$(flow) needs $(what_is): longpole $(flow) $(such_as))),true)
	@[ ! -e $(folder) ] || [ -w $(folder) ] || $(call fail,'$(folder): Permission denied')
	@$(foreach c,$(commands),type -P -- $(call quoted,$(firstword $($(c)))) >/dev/null || \
		$(call fail,$(call quoted,$(c)=$($(c)))': no such command');) true
	@$(or $(needs),true)
	@said=$$(mkdir -p $(folder) 2>&1) || $(call fail,"$${said#mkdir: }")
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
