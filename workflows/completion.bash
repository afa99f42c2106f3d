# SPDX-License-Identifier: BSD-3-Clause
# Bash completion for longpole and its tools: options from --help, tools, workflows and settings.

_longpole_options() {
	"$1" --help 2>/dev/null | grep -oE -- '(^|[ [,])--?[a-zA-Z][a-z-]*' | grep -oE -- '-.*' | sort -u
}

_longpole_flows() {
	local bin
	bin=$(readlink -f -- "$(type -P longpole)") || return
	bin=${bin%/*}
	if [ -d "${bin%/*}/share/longpole/workflows" ]; then
		echo "${bin%/*}/share/longpole/workflows"
	else
		echo "${bin%/*}/workflows"
	fi
}

_longpole() {
	local word=${COMP_WORDS[COMP_CWORD]} tool=$1 flow
	COMPREPLY=()
	if [ "${tool##*/}" = longpole ] && [ "$COMP_CWORD" -gt 1 ]; then
		flow=$(_longpole_flows)/${COMP_WORDS[1]}.mk
		if [ -e "$flow" ]; then
			mapfile -t COMPREPLY < <(compgen -S = -W "$(sed -n 's/^SETTINGS = //p' "$flow")" -- "$word")
			compopt -o nospace
		fi
		tool=lp-${COMP_WORDS[1]}
	elif [ "${tool##*/}" = longpole ] && [[ $word != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "help watch workflows $(compgen -c lp- | sed 's/^lp-//')
			$(ls "$(_longpole_flows)" 2>/dev/null | sed -n '/^common/d; s/\.mk$//p')" -- "$word"; compgen -c -- "$word")
		return
	fi
	if [[ $word == -* ]] && type -P -- "$tool" >/dev/null; then
		mapfile -t COMPREPLY < <(compgen -W "$(_longpole_options "$tool")" -- "$word")
	elif [ ${#COMPREPLY[@]} -eq 0 ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
	fi
}

complete -F _longpole longpole
for _longpole_tool in $(compgen -c lp-); do
	complete -F _longpole "$_longpole_tool"
done
unset _longpole_tool
