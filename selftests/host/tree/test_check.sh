#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results of scripts/check for scripts that fail, and for a kernel that complains

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

unit=selftests/host/packet/test_psn.c
dir=$(mktemp -d)
defer rm -rf "$dir"

# checked PLANT SUITE..: the end of scripts/check, in $dir/said
checked()
{
	local plant=$1
	shift

	CHECK_ALL='' CHECK_LOGS=$dir CHECK_PLANT=$plant scripts/check "$@" >"$dir/said" 2>&1
	local status=$?
	cat "$dir/said"
	return "$status"
}

# ends PATTERN: the last line of scripts/check
ends()
{
	tail -n 1 "$dir/said" | grep -xE "$1"
}

passes()
{
	checked none native:test_psn && ! grep unsteady "$dir/said" &&
		ends '[1-9][0-9]* passed, 0 failed, 0 skipped'
}

unsteady()
{
	checked "once:$unit" native:test_psn && grep -x "unsteady: $unit: planted" "$dir/said" &&
		grep 'not ok planted' "$dir/native.log" &&
		! grep 'not ok' "$dir"/native-again-*.log &&
		ends '[1-9][0-9]* passed, 0 failed, 0 skipped'
}

fails()
{
	! checked "always:$unit" native:test_psn && ! grep unsteady "$dir/said" &&
		grep 'not ok planted' "$dir"/native-again-*.log &&
		ends '[1-9][0-9]* passed, 1 failed, 0 skipped'
}

all_does_not_forgive()
{
	! checked "once:$unit" --all native:test_psn && ! grep again "$dir/said" &&
		ends '[1-9][0-9]* passed, 1 failed, 0 skipped'
}

ends_early()
{
	! checked "exit:$unit" native:test_psn && grep "not ok $unit exits 3" "$dir/native.log" &&
		! checked "early:$unit" native:test_psn &&
		grep "not ok $unit has [0-9]* of 1000 results" "$dir/native.log" &&
		ends '[1-9][0-9]* passed, 1 failed, 0 skipped'
}

kernel_reports_count()
{
	local test=selftests/guest/kmod/test_known.sh

	! checked "kernel:$test" kmod-6.12:test_known && ! grep unsteady "$dir/said" &&
		grep 'WARNING: planted' "$dir/kmod-6.12.log" && ends '.* 1 failed, .*'
}

ktap_plan 6
check "scripts that pass are counted" passes
check "a script that fails once passes, and is called unsteady" unsteady
check "a script that fails twice fails" fails
check "check-all forgives nothing" all_does_not_forgive
check "a script that ends early fails" ends_early
check "a report of the kernel is not forgiven" kernel_reports_count
ktap_finish
