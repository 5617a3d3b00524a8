#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of jobs with the other kind of /sys/fs/bpf: a BPF file system, as systemd mounts one, if
# the machine has none, and else none.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

bpffs=/sys/fs/bpf
if [[ ! ${ROCESTEER_TEST_BPFFS:-} ]]; then
	unshare --net --mount mount -t bpf bpf $bpffs 2>/dev/null ||
		skip_all "no network namespaces or BPF: not root, or not allowed"
	ROCESTEER_TEST_BPFFS=1 exec unshare --mount "$0"
fi

if mountpoint -q $bpffs; then
	with=without
	while mountpoint -q $bpffs; do
		umount $bpffs || exit
	done
else
	with=with
	mount -t bpf bpf $bpffs && mkdir $bpffs/rocesteer || exit
fi

jobs_pass()
{
	local test

	for test in selftests/host/job/test_job{,_rights,_slice,_tables}.sh; do
		"$test" || return
	done
}

nothing_is_left()
{
	[[ ! $(find "$bpffs" -mindepth 2) ]]
}

ktap_plan 2
check "the tests of jobs pass $with a BPF file system on the machine" jobs_pass
check "the machine's /sys/fs/bpf is as it was" nothing_is_left
ktap_finish
