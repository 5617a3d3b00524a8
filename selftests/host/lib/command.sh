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

# veth DEVICE PEER [OPTION...]: a device, with options, and what is at its other end
veth()
{
	ip link add name "$1" "${@:3}" mtu 4200 type veth peer name "$2" &&
		ip link set "$1" up && ip link set "$2" up
}

# value_byte MAP STRUCT MEMBER: offset of the member of struct rocesteer_STRUCT in values of
# rs_MAP
value_byte()
{
	bpftool -j btf dump map pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_$1" value |
		jq --arg struct "rocesteer_$2" --arg member "$3" '.types[] |
			select(.kind == "STRUCT" and .name == $struct).members[] |
			select(.name == $member).bits_offset / 8'
}

# flow_byte MEMBER: its offset in values of rs_flows
flow_byte()
{
	value_byte flows flow_path "$1"
}

# set_entry MAP FILTER [BYTE VALUE]...: set bytes of the value of the first such entry of rs_MAP.
# FILTER is of jq, VALUE an expression of the shell, in which "old" is the byte so far.
set_entry()
{
	local pin entry old
	local -a key value

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_$1
	entry=$(bpftool -j map dump pinned "$pin" | jq "first(.[] | select($2))")
	shift 2
	mapfile -t key < <(jq -r '.key[]' <<<"$entry")
	mapfile -t value < <(jq -r '.value[]' <<<"$entry")
	while (($#)); do
		old=${value[$1]}
		value[$1]=$(($2))
		shift 2
	done
	bpftool map update pinned "$pin" key "${key[@]}" value "${value[@]}"
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

# listen HOST: in a fabric of routers.sh a process, $listener, listens on the RoCE port
listen()
{
	in_ns "$1" python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
print("ready", flush=True)
time.sleep(60)' >"$dir/listener" &
	listener=$!
	busywait 10000 grep -q ready "$dir/listener"
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
