#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a path that is slower than the others costs a split queue pair. Rates are by the
# clock of instructions: what else the machine does shall not count.

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
