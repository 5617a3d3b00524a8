#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What README.md shows that needs no guest: a fabric to try, slices, chunks.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh

if [[ ! ${ROCESTEER_TEST_README:-} ]]; then
	unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
		skip_all "no network namespaces or BPF: not root, or not allowed"
	[[ ! -e /sys/module/rocesteer ]] || skip_all "the module is loaded"
	ROCESTEER_TEST_README=1 exec unshare --net --mount "$0"
fi
# Namespaces and pins of this test's own
mount -t tmpfs tmpfs /run && mount -t bpf -o mode=0700 bpf /sys/fs/bpf || exit

nothing_is_left()
{
	local left

	left=$(ip netns list; find /sys/fs/bpf -mindepth 2 -not -name '*.debug')
	echo "$left"
	[[ ! $left ]]
}

ktap_plan 2
check "commands print what README.md says" selftests/readme.py
check "nothing is left" nothing_is_left
ktap_finish
