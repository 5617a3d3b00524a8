# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # the test uses them
#
# For tests of the command: sourced behind selftests/lib.sh, and behind own_namespaces, which
# begins the test anew.

rocesteer=$(realpath -- "${ROCESTEER:-build/rocesteer}")
dir=$(mktemp -d)
defer rm -rf "$dir"
map=$dir/map.json
daemon=''	# its process

# fails STATUS CODE WORDS COMMAND...: the command prints this error as JSON, also to $dir/json; the
# message has the words
fails()
{
	local want=$1 code=$2 words=$3 status
	shift 3

	"$@" >"$dir/json"
	status=$?
	cat "$dir/json"
	((status == want)) && jq -e --arg code "$code" --arg words "$words" \
		'.error.code == $code and (.error.message | contains($words))' "$dir/json"
}

# unchanged STATE COMMAND...: the command succeeds, and STATE prints the same before and after
unchanged()
{
	local before

	before=$("$1")
	"${@:2}" && [[ $("$1") == "$before" ]]
}

# peer ADDRESS PORTS...: a peer of a port map, each argument the ports of one path
peer()
{
	local address=$1 paths='' ports p=0
	shift

	for ports; do
		paths+="${paths:+,}{\"path\":$p,\"router\":\"10.255.1.$((p + 1))\",${weights:-}
			\"ports\":[$ports]}"
		p=$((p + 1))
	done
	echo "{\"address\":\"$address\",\"source\":\"10.1.0.1\",\"local\":false,
		\"leaf\":\"10.255.0.2\",\"probed\":9,\"paths\":[$paths]}"
}

# A peer under the same leaf
near='{"address":"10.1.0.2","source":"10.1.0.1","local":true,"probed":0,"paths":[]}'

# port_map DEVICE PEER...
port_map()
{
	local device=$1 IFS=,
	shift

	echo "{\"format\":1,\"generation\":${generation:-1},\"created\":\"2026-01-02T03:04:05Z\",
		\"device\":\"$device\",\"hop\":2,\"peers\":[$*]}"
}

# daemon_start [OPTION...]: return when the daemon serves, in h0 of a fabric of routers.sh. Its
# events are in $dir/events.
daemon_start()
{
	: >"$dir/events"
	${prefix:+nsenter --net="/run/netns/${prefix}h0"} "$rocesteer" --json daemon "$@" \
		>"$dir/events" 2>"$dir/errors" &
	daemon=$!
	busywait 20000 grep -q '"start"' "$dir/events"
}

daemon_stop()
{
	local status

	kill "$daemon"
	kill -CONT "$daemon"	# a test that failed may have stopped it
	wait "$daemon"
	status=$?
	daemon=''
	return "$status"
}

# daemon_kill: for a test that ends early
daemon_kill()
{
	[[ ! $daemon ]] || kill -KILL "$daemon"
}

# is_locked FILE
is_locked()
{
	! flock -n "$1" true
}

# while_locked FILE COMMAND...: run the command while a process, $holder, has locked the file; with
# shared=1 others may read
while_locked()
{
	local holder status

	flock ${shared:+--shared} --no-fork "$1" sleep 100 &
	holder=$!
	busywait 10000 is_locked "$1" && "${@:2}"
	status=$?
	kill "$holder"
	wait "$holder"
	return "$status"
}
