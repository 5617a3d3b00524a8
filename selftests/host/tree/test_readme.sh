#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of README.md that need no guest

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

own_namespaces --net

nothing_is_left()
{
	local left

	left=$(ip netns list; find /sys/fs/bpf -mindepth 2 -not -name '*.debug')
	echo "$left"
	[[ ! $left ]]
}

ktap_plan 2
check "commands print what README.md says" selftests/readme.py
check "the commands of README.md leave nothing" nothing_is_left
ktap_finish
