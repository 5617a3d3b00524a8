#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lists that design.rst says a newcomer has to extend: the compiler refuses each of them
# that lacks a new number, and no other file.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# listed TITLE: the files below this title in design.rst
listed()
{
	awk -v title="**$1.**" '
		/^\*\*|^==/ { on = 0 }
		index($0, title) == 1 { on = 1 }
		on && /^    / { print $1 }' Documentation/design.rst | sort
}

# refused INCLUDE PREFIX: files that the compiler refuses, of those that use numbers of this
# prefix. The test of arith.c compiles that file.
refused()
{
	local file

	grep -rl --include='*.c' "\<$2" user selftests/host | while read -r file; do
		gcc -std=gnu11 -D_GNU_SOURCE -fsyntax-only -Wall -Werror -I"$1" -Iuser \
			-Iuser/lib -Iinclude -Ibuild/bpf "$file" 2>&1 |
			sed -nE "s|^([^ :]*):[0-9]+:.* error: .*|\1|p" | xargs -r realpath --relative-to .
	done | sort -u
}

# additions TITLE HEADER PREFIX BEFORE: the enumeration of HEADER gets a number before the line
# BEFORE.
additions()
{
	rm -rf "$dir/include"
	cp -r include "$dir"
	sed -i "s/^\t$4/\t$3NEW,\n&/" "$dir/include/$2"
	diff <(listed "$1") <(comm -13 <(refused include "$3") <(refused "$dir/include" "$3")) &&
		[[ $(listed "$1") ]]
}

ktap_plan 3
check "a new way to split is refused by the lists that lack it" \
	additions "A way to split flows" rocesteer/types.h ROCESTEER_SPLIT_ ROCESTEER_SPLIT_MAX
check "a new counter is refused by the list that lacks it" \
	additions "A counter of the module" uapi/linux/rocesteer.h ROCESTEER_A_STATS_ \
	__ROCESTEER_A_STATS_MAX
check "a new type of elements is refused by the lists that lack it" \
	additions "A type of elements that switches sum" uapi/linux/rocesteer_reduce.h \
	ROCESTEER_REDUCE_TYPE_ __ROCESTEER_REDUCE_TYPE_MAX
ktap_finish
