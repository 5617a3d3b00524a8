#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The frames of vectors.py through the egress program of this kernel, in BPF
# alone and calling the module; how it deals flows; the classes of chunks; and what
# becomes of packets that are mutated.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh

# From the host each read takes milliseconds.
vectors=$(mktemp -d)
defer rm -r "$vectors"
cp build/vectors-guest/* "$vectors"

status=0
build/guest/selftests/replay "$vectors" || status=1
build/guest/selftests/flows || status=1
build/guest/selftests/chunks || status=1
build/guest/selftests/packets 20000 || status=1
module_load || exit
build/guest/selftests/replay --module "$vectors" || status=1
build/guest/selftests/packets --module 20000 2 || status=1
module_unload || status=1
exit $status
