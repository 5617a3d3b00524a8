#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make install" and "make uninstall"

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

root=$(mktemp -d)
defer rm -rf "$root"
at=(DESTDIR="$root" PREFIX=/usr)
units=$root/usr/lib/systemd/system
unit=$units/rocesteer.service
metrics=$units/rocesteer-metrics.service

installed()
{
	make -s install "${at[@]}" && ls "$unit" "$metrics" "${metrics%.service}.timer" \
		"$root"/usr/share/doc/rocesteer/{formats.rst,rocesteer.rules.yml,rocesteer.json}
}

one_version()
{
	local version command
	version=$(<VERSION)

	for command in rocesteer rocesteer-perf; do
		[[ $("$root/usr/sbin/$command" --version) == "$command $version" ]] || return
	done
}

# bash-completion looks for a file with the command's name.
completion_is_found()
{
	local command

	for command in rocesteer rocesteer-perf; do
		(
			complete -r "$command" 2>/dev/null
			# shellcheck disable=SC1090 # the one that is installed
			. "$root/usr/share/bash-completion/completions/$command" &&
				complete -p "$command"
		) || return
	done
	ls "$root/usr/share/zsh/site-functions/_rocesteer"
}

# Manual pages and examples name the installed files.
names_are_true()
{
	! grep -rn -e '/usr/local' -e 'Documentation/[a-z]*\.rst' "$root"/usr/share/man \
		"$root"/usr/share/doc/rocesteer/*.conf "$units" &&
		grep -q '/usr/share/doc/rocesteer/formats.rst' \
			"$root"/usr/share/man/man8/rocesteer-chunk.8
}

units_are_hardened()
{
	local file said

	for file in "$unit" "$metrics"; do
		said=$(systemd-analyze security --no-pager --offline=yes --threshold=30 "$file") &&
			tail -n 1 <<<"$said" &&
			grep '^CapabilityBoundingSet=' "$file" | grep -v CAP_SYS_ADMIN || return
	done
}

uninstalled()
{
	make -s uninstall "${at[@]}" &&
		[[ ! $(find "$root" ! -type d -o -name 'rocesteer*') ]]
}

ktap_plan 6
check "make install installs all files" installed
check "all commands print the same version" one_version
check "completion is where bash and zsh look" completion_is_found
check "installed files name the paths of the installation" names_are_true
if systemd-analyze security --help 2>/dev/null | grep -q -e --offline; then
	check "systemd-analyze security rates the units at most 3.0" units_are_hardened
else
	skip "systemd-analyze security rates the units at most 3.0" "no systemd-analyze"
fi
check "make uninstall removes all files" uninstalled
ktap_finish
