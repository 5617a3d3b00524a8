#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# compilers.sh VECTORS: the BPF programs as the oldest and the newest clang compile them, with
# the frames that vectors.py wrote. Each program is far from the limits of the verifier
# whichever clang it is: replay.c has the number.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh

vectors=$1

# Another clang may warn of more, which is no fault.
replays()
{
	local out=$PWD/build/compilers/$1

	make -s -C bpf WERROR= BUILD="$out" CLANG="$1" all &&
		make -s -C selftests BUILD="$out" "$out/selftests/replay" &&
		"$out/selftests/replay" "$vectors" >"$out/log"
	local status=$?

	cat "$out/log"
	((status == 0)) && ! grep -q '^not ok' "$out/log"
}

mapfile -t clangs < <(scripts/deps clangs)
((${#clangs[@]})) || skip_all "apt knows no package of a clang by its version"
ktap_plan ${#clangs[@]}
for clang in "${clangs[@]}"; do
	name="$clang: the BPF programs compile, change frames as they should, and stay small"
	if command -v "$clang" >/dev/null; then
		check "$name" replays "$clang"
	else
		skip "$name" "$clang is missing: scripts/deps check-all installs it"
	fi
done
ktap_finish
