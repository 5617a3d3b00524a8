#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The commands of README.md for a host, on host 0 of a fabric

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/net/fabric.sh

# The README's client needs a server.
serve()
{
	host_exec 2 ib_write_bw -d rxe2 -x "$(host_gid 2)" -F -q 4 -m 4096 -u 20 \
		-n 100000 >/dev/null 2>&1
}

server_listens()
{
	server=$(host_exec 2 ss -Hltnp "sport = :18515") &&
		[[ $server =~ pid=([0-9]+) ]] && server=${BASH_REMATCH[1]}
}

# The server ends with its client, unless the client failed.
server_ends()
{
	kill "$server" 2>/dev/null || :
}

follows()
{
	host_exec 0 env MODULE="$PWD/build/guest/$(uname -r)/rocesteer.ko" \
		ROCESTEER="$PWD/build/guest/rocesteer" selftests/readme.py guest
}

ktap_plan 1
fabric_up --leaves 2 --rate 40mbit --host-rate 80mbit
fabric_load
defer fabric_down
defer rmdir /sys/fs/cgroup/train
serve &
busywait 20000 server_listens && defer server_ends
check "commands print what README.md says" follows
ktap_finish
