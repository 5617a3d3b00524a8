#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The cost of a slow path for a split queue pair. Rates are measured by the clock of instructions,
# which a busy machine does not disturb.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/split.sh

writes=100

slower()
{
	# shellcheck disable=SC2034 # in_order
	least=$rate
	make_slower && in_order && unjobs
}

ktap_plan 3
check "a fabric and its port map are made" up
check "one queue pair is split over all paths, and no packet is out of order" exact
check "a path 5 ms slower than the others costs no NAK and no rate" slower
ktap_finish
