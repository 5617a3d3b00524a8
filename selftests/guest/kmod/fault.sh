# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Failing allocations, on a kernel with failslab: selftests/vm/kernel kasan.

failslab=/sys/kernel/debug/failslab

# fault_where NAME=VALUE...: which allocations may fail. Everything but rocesteer.ko
# is built in, so the region of modules is that of rocesteer.ko and of BPF programs.
fault_where()
{
	local setting other

	# Other failures would use up a task's fail-nth: filter them all.
	for other in "${failslab%/*}"/fail_*/; do
		echo 0 >"$other/stacktrace-depth" && echo 1 >"$other/require-start" ||
			return
	done
	for setting in probability=0 times=-1 interval=1 space=0 verbose=0 \
		ignore-gfp-wait=N task-filter=N stacktrace-depth=0 \
		require-start=0 require-end=0xffffffffffffffff "$@"; do
		echo "${setting#*=}" >"$failslab/${setting%%=*}" || return
	done
}

# The stack has a function of rocesteer.ko
fault_in_module()
{
	fault_where stacktrace-depth=32 require-start=0xffffffffa0000000 \
		require-end=0xffffffffff000000 "$@"
}

# Processes with make-it-fail
fault_in_tasks()
{
	fault_where task-filter=Y "$@"
}
