# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # the tests use them
#
# For tests of path discover and path verify against Linux routers. Sourced behind selftests/lib.sh.

. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
remote=10.1.1.1,10.1.1.2

if ! ip netns add "$prefix" 2>/dev/null; then
	skip_all "no network namespaces: not root, or not allowed"
fi
ip netns del "$prefix"
defer fabric_destroy

# path VERB...: on host h0
path()
{
	in_ns h0 timeout 120 "$rocesteer" path "$@"
}

discover()
{
	path discover --dev eth0 "$@"
}

# refused CODE TEXT COMMAND...: exit status 1, and the message has the text
refused()
{
	fails 1 "$1" "$2" "${@:3}" --json
}

has_all_paths()
{
	jq -e --argjson spines "$1" 'all(.peers[]; (.paths | length) == $spines
		and .local == false)' "$dir/ports.json" >/dev/null
}

one_leaf()
{
	jq -e '[.peers[].leaf] | unique | length == 1' "$dir/ports.json"
}

# Each port of the map takes the spine that leaf0's routing names.
agrees()
{
	local source peer count=0

	while read -r source peer; do
		jq -r --arg peer "$peer" '.peers[] | select(.address == $peer)
			| .paths[].ports[]' "$dir/ports.json" >"$dir/ports"
		jq -r --arg peer "$peer" '.peers[] | select(.address == $peer)
			| .paths[] | .router as $r | .ports[] | $r' \
			"$dir/ports.json" >"$dir/found"
		fabric_oracle "$source" "$peer" <"$dir/ports" >"$dir/oracle"
		diff "$dir/oracle" "$dir/found" || return
		count=$((count + $(wc -l <"$dir/found")))
	done < <(jq -r '.peers[] | "\(.source) \(.address)"' "$dir/ports.json")
	echo "$count ports"
	((count > 0))
}

# found PEERS SPINES
found()
{
	rm -f "$dir/ports.json"
	discover --peer "$1" --out "$dir/ports.json" &&
		has_all_paths "$2" && one_leaf
}

# has_ports FILE FROM COUNT: it has all of these ports, and each port of a peer once
has_ports()
{
	jq -e --argjson from "$2" --argjson count "$3" 'all(.peers[];
		[.paths[].ports[]] as $all |
		($all | length) == ($all | unique | length) and
		([range($from; $from + $count)] - $all) == [])' "$1"
}

verifies()
{
	path verify "$dir/ports.json" --all
}

# doubts REASON ARGUMENT...: exit status 1 with this reason, and the file is not written
doubts()
{
	local want=$1 json status
	shift

	json=$(discover --out "$dir/doubted.json" --json "$@")
	status=$?
	jq -c '.peers[0] | {peer: .address, probed, reasons}' <<<"$json"
	((status == 1)) && jq -e --arg want "$want" '.incomplete and
		(.peers[0].reasons | index($want))' <<<"$json" >/dev/null &&
		[[ ! -e $dir/doubted.json ]]
}

world_is_empty()
{
	fabric_destroy
	! ip netns list | grep "^$prefix"
}
