#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer status finds faults, and no others, in a fabric of Linux routers, without the
# module. job load refuses a port map that the fabric has outdated.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh

load()
{
	on_h0 "$rocesteer" --json job load --job 7 --all --port-map "$map" "$@" \
		>"$dir/loaded" 2>&1
	local status=$?
	cat "$dir/loaded"
	return "$status"
}

unload()
{
	on_h0 "$rocesteer" job unload --all
}

# socket: the daemon's
socket()
{
	find /run/rocesteer -name 'netns-*.sock'
}

ready()
{
	fabric_create 4 &&
		on_h0 "$rocesteer" path discover --dev eth0 --paths 4 \
			--peer 10.1.1.1,10.1.1.2 --out "$map" &&
		load && daemon_start &&
		on_h0 selftests/host/lib/flows.py eth0 10.1.0.1 10.1.1.1 "$(seq -s , 16 23)" 0,1,2
}

# A host without the module has this note, and one on which whole flows have yet to begin another.
silent()
{
	on_h0 "$rocesteer" --json status >"$dir/status" && jq . "$dir/status" && jq -e '(.fault | not) and
		[.findings[] | select(.code != "whole-flows" or .whole.seen > 0) |
			[.severity, .code]] == [["note", "module-absent"]]' "$dir/status"
}

# finds SEVERITY CODE: with the exit status, and a hint
finds()
{
	local want=0

	[[ $1 != error ]] || want=1
	on_h0 "$rocesteer" --json status >"$dir/status"
	(($? == want)) || { jq . "$dir/status"; return 1; }
	jq '.findings, .not_looked_at' "$dir/status"
	jq -e --arg severity "$1" --arg code "$2" '.fault == ($severity == "error") and
		any(.findings[]; .severity == $severity and .code == $code and
			(.hint | length) > 20)' "$dir/status" &&
		on_h0 "$rocesteer" status | grep -q "^$1 .*$2"
}

# finds_no CODE
finds_no()
{
	on_h0 "$rocesteer" --json status >"$dir/status"
	jq -e --arg code "$1" 'all(.findings[]; .code != $code)' "$dir/status"
}

# edit MAP STRUCT MEMBER OFFSET BYTE: in every entry of the table
edit()
{
	local pin at key value

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_$1
	at=$(($(value_byte "$1" "$2" "$3") + $4))
	while read -r key; read -r value; do
		# shellcheck disable=SC2086 # bytes
		bpftool map update pinned "$pin" key $key value $value || return
	done < <(bpftool -j map dump pinned "$pin" | jq -r --argjson at "$at" \
		--arg byte "$5" '.[] | .key, (.value | .[$at] = $byte) | join(" ")')
}

shows_the_job()
{
	silent && jq -e --arg map "$map" '.jobs == [.jobs[0]] and (.jobs[0] |
		.job == 7 and .served and .first and .flows == 8 and .imbalance == 1 and
		.retransmissions == 0 and .no_port == 0 and .port_map == $map and
		.source.options["port-map"] == $map and .source.options.all and
		.source.generation == 1 and
		((.verified | fromdate) - now | fabs) < 60)' "$dir/status" &&
		[[ $(stat -c %a "$(dirname -- "$(echo /run/rocesteer/*/job-7.json)")") == 700 ]] &&
		on_h0 "$rocesteer" status >"$dir/said" && cat "$dir/said" &&
		grep -q '^ *7 *eth0 *yes *yes *on *8 ' "$dir/said"
}

counts_what_is_sent_again()
{
	on_h0 selftests/host/lib/flows.py eth0 10.1.0.1 10.1.1.1 16 3,4,3,4 && silent &&
		jq -e '.jobs[0].retransmissions == 1' "$dir/status"
}

not_first()
{
	echo '__attribute__((section("tcx/egress"))) int f(void *c) { return -1; }' |
		clang -O2 -target bpf -c -x c -o "$dir/next.o" - &&
		bpftool prog load "$dir/next.o" /sys/fs/bpf/next || return
	export -f attach_first
	on_h0 bash -c 'attach_first eth0 /sys/fs/bpf/next' && finds error not-first &&
		unload && load && silent &&
		on_h0 bpftool net detach tcx_egress dev eth0 && rm /sys/fs/bpf/next
}

# tells EVENT: of the daemon, about the device
tells()
{
	jq -s -e --arg event "$1" 'any(.[]; .event == $event and .device == "eth0")' "$dir/events"
}

# The switch's side goes down, then the host's.
no_carrier()
{
	ip -n "${prefix}leaf0" link set dn0 down && busywait 20000 finds error no-carrier &&
		busywait 20000 tells no-carrier && ! tells carrier-back &&
		ip -n "${prefix}leaf0" link set dn0 up && busywait 20000 tells carrier-back &&
		busywait 20000 silent && on_h0 ip link set eth0 down && finds error no-carrier &&
		on_h0 ip link set eth0 up && on_h0 ip route replace default via 10.1.0.254 &&
		busywait 20000 silent
}

# The programs are detached, as those of a device that was away.
not_served()
{
	local pin

	daemon_stop
	pin=$(echo /sys/fs/bpf/rocesteer/netns-*/link_egress_*)
	rm "$pin" && finds error not-served && daemon_start && silent
}

# A daemon would find the ports again.
without_port()
{
	daemon_stop
	edit peers peer sport 6 0x00 && edit peers peer sport 7 0x00 &&
		finds error no-port && jq -e '.jobs[0].no_port == 1' "$dir/status" &&
		unload && load && daemon_start && silent
}

path_is_down()
{
	daemon_stop
	edit groups group down 0 0x04 && finds error path-down &&
		edit groups group down 0 0x00 && daemon_start && silent
}

hash_otherwise()
{
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed="$1"
}

stale()
{
	daemon_stop
	hash_otherwise 4711 && finds error stale-map &&
		on_h0 "$rocesteer" --json status --no-probe |
			jq -e 'all(.findings[]; .code != "stale-map")' &&
		hash_otherwise 11 && daemon_start && silent
}

# Routers of paths answer, the leaf behind them is silent: the map is not verified anew.
far_side_is_dead()
{
	local answer='.jobs[0] | .checked == 8 and .ports == 8 and .hop == 3'

	jq -e "$answer" "$dir/status" && ip -n "${prefix}leaf1" rule add pref 1 blackhole &&
		finds note far-no-answer && jq -e "$answer and
			(.verified | fromdate) == .source.verified_at" "$dir/status" || return
	on_h0 "$rocesteer" --json path verify "$map" >"$dir/out"
	(($? == 1)) && jq -e '.checked == 8 and .hop == 3 and (.unanswered | length == 8 and
		all(.[]; .hop == 3 and .expected))' "$dir/out" &&
		ip -n "${prefix}leaf1" rule del pref 1 && busywait 20000 silent
}

load_refuses_stale()
{
	daemon_stop
	unload && hash_otherwise 4711 || return
	load
	(($? == 1)) && jq -e '.error.code == "stale-map" and
		(.error.hint | contains("path verify") and contains("path discover"))' \
		"$dir/loaded" && on_h0 "$rocesteer" --json job list | jq -e '.jobs == []' &&
		load --no-verify && finds error stale-map && unload && hash_otherwise 11 &&
		load && daemon_start && silent
}

# answer YES-OR-NO: whether the spines do
answer()
{
	local s value=0

	[[ $1 == no ]] || value=100000
	for s in 0 1 2 3; do
		in_ns "spine$s" sysctl -qw net.ipv4.icmp_ratelimit=$((100000 - value)) \
			net.ipv4.icmp_msgs_burst="$value" net.ipv4.icmp_msgs_per_sec="$value" ||
			return
	done
}

# says WORDS: the warning of job load about a map of 40 peers
says()
{
	on_h0 "$rocesteer" job load --job 7 --all --port-map "$dir/forty.json" \
		2>"$dir/said" >/dev/null
	local status=$?
	cat "$dir/said"
	((!status)) && grep -q "$1" "$dir/said"
}

# Without answers nothing is known about the map. Of a large map up to six ports of each
# router are probed.
load_warns_without_answers()
{
	unload && on_h0 "$rocesteer" job load --job 7 --all --port-map "$map" 2>"$dir/said" &&
		! grep -v '^job 7: flows stay whole: ' "$dir/said" && unload || return
	jq '.peers[0] as $p | .peers = [range(10; 50) | $p + {address: "10.1.1.\(.)"}]' "$map" \
		>"$dir/forty.json" || return
	answer no && says '24 of 30 probes got no answer' && finds note no-answer &&
		answer yes && finds error stale-map &&
		jq -e 'any(.findings[]; .message | contains("of 24 ports"))' "$dir/status" &&
		unload && load && silent
}

# address OLD NEW: of the host
address()
{
	on_h0 ip address del "10.1.0.$1/24" dev eth0 &&
		on_h0 ip address add "10.1.0.$2/24" dev eth0 &&
		on_h0 ip route replace default via 10.1.0.254
}

# The job gets a map of the new address while it is loaded, and then the old map.
foreign()
{
	daemon_stop
	address 1 9 && finds error foreign-map &&
		on_h0 "$rocesteer" path discover --dev eth0 --paths 4 \
			--peer 10.1.1.1,10.1.1.2 --out "$dir/other.json" &&
		on_h0 "$rocesteer" job replace --job 7 --all --port-map "$dir/other.json" &&
		finds_no foreign-map && address 9 1 && finds error foreign-map &&
		on_h0 "$rocesteer" job replace --job 7 --all --port-map "$map" &&
		daemon_start && silent
}

changed()
{
	touch -d '+1 minute' "$map" && finds note map-changed &&
		on_h0 "$rocesteer" job replace --job 7 --all --port-map "$map" && silent
}

other_version()
{
	edit version version version 0 0x39 && finds note version &&
		on_h0 "$rocesteer" prog load && silent && on_h0 "$rocesteer" prog unload
}

daemon_is_dead()
{
	daemon_kill
	daemon_stop
	[[ $(socket) ]] && finds error daemon-dead && daemon_start && silent && daemon_stop &&
		finds note daemon-dead && daemon_start && silent
}

# The tables say that the job needs the module, as another version's module would write it.
wants_the_module()
{
	edit jobs job pid 0 0x01 && finds error module-absent &&
		edit jobs job pid 0 0x00 && edit jobs job actuator 0 0x02 &&
		finds error module-absent && edit jobs job actuator 0 0x00 && silent
}

gro_is_on()
{
	local feature

	for feature in rx-gro-list rx-udp-gro-forwarding; do
		on_h0 ethtool -K eth0 "$feature" on && finds note gro &&
			on_h0 ethtool -K eth0 "$feature" off && silent || return
	done
	# GRO's aggregates cannot be resequenced.
	on_h0 ethtool -K eth0 rx-gro-list on && edit jobs job reseq 0 0x02 &&
		finds error gro && edit jobs job reseq 0 0x00 &&
		on_h0 ethtool -K eth0 rx-gro-list off && silent
}

# drops RULE: in a chain of hook input
drops()
{
	on_h0 nft "add table inet t; add chain inet t c { type filter hook input priority 0; }
		add rule inet t c $1"
}

firewall()
{
	local rule

	for rule in "udp dport 4791 drop" "udp dport { 53, 4791 } reject" \
		"udp dport 4000-5000 counter drop" "udp dport { 4000-5000 } drop" \
		"th dport 4791 drop"; do
		drops "$rule" && finds error firewall && on_h0 nft flush ruleset ||
			return
	done
	for rule in "udp dport 4791 accept" "udp dport 4792 drop" "udp sport 4791 drop" \
		"tcp dport 4791 drop" "udp dport 4791 counter" "udp dport != 4791 drop"; do
		drops "$rule" && finds_no firewall && on_h0 nft flush ruleset || return
	done
	silent
}

says_what_it_did_not_see()
{
	mkdir -p "$dir/few" && ln -sf "$(command -v sh)" "$dir/few/sh" || return
	on_h0 env PATH="$dir/few" "$rocesteer" --json status |
		jq -e '.not_looked_at == [{what: "the firewall: nft is not installed"}]'
}

# conntrack forgets after four seconds.
tracks()
{
	on_h0 sysctl -qw net.netfilter.nf_conntrack_udp_timeout=4 &&
		on_h0 nft 'add table inet t; add chain inet t c { type filter hook output priority 0; }
		add rule inet t c ct state new counter' &&
		on_h0 python3 -c 'import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("10.1.1.1", 4791))' &&
		finds note conntrack && on_h0 nft flush ruleset && busywait 20000 silent
}

# is_full TRUE-OR-FALSE ENTRIES: with so many peers
is_full()
{
	on_h0 "$rocesteer" --json status --no-probe >"$dir/status"
	jq '.host, .findings' "$dir/status"
	jq -e --argjson full "$1" --argjson used "$2" '.fault == $full and
		any(.findings[]; .code == "table-full") == $full and
		(.host | .table == "rs_peers" and .used == $used and .room == 16384)' \
		"$dir/status"
}

# 15 jobs with 1,000 peers each fill more than 90 % of the table. The peers are none: a daemon would
# find their paths dead.
fills_up()
{
	local id

	unload && daemon_stop || return
	jq '.peers[0] as $p | .peers = [range(1000) |
		$p + {address: "10.2.\(. / 250 | floor).\(. % 250 + 1)"}]' "$map" \
		>"$dir/many.json" || return
	for id in {1..15}; do
		on_h0 "$rocesteer" --json job load --job "$id" --no-verify \
			--port-map "$dir/many.json" --flow "10.2.0.1/$((16 + id))" || return
		((id != 14)) || is_full false 14000 || return
	done
	is_full true 15000 && unload && load && daemon_start && silent
}

# An overlay hides /etc.
is_to_be_loaded()
{
	mkdir "$dir/upper" && mount -t tmpfs etc "$dir/upper" &&
		mkdir "$dir/upper/"{new,work} &&
		mount -t overlay etc /etc \
			-o "lowerdir=/etc,upperdir=$dir/upper/new,workdir=$dir/upper/work" &&
		mkdir -p /etc/rocesteer/jobs.d || return
	echo '{"job":7}' >/etc/rocesteer/jobs.d/7.json
	echo 'See the manual: job 99' >/etc/rocesteer/jobs.d/README
	silent && echo '{"name":"next","job":8}' >/etc/rocesteer/jobs.d/8.json &&
		finds error not-loaded && rm /etc/rocesteer/jobs.d/8.json &&
		echo '{"job":9' >/etc/rocesteer/jobs.d/9.json && finds error job-file
	local status=$?
	umount /etc "$dir/upper"
	return "$status"
}

# The group of the files in /tmp tells them from those of another run of this test.
is_packed()
{
	local file

	on_h0 setpriv --regid $$ --keep-groups "$rocesteer" --json status \
		--bundle "$dir/report.tar.gz" | jq -c .files || return
	[[ $(stat -c %a "$dir/report.tar.gz") == 600 ]] &&
		tar -xzf "$dir/report.tar.gz" -C "$dir" || return
	ls -l "$dir/rocesteer-status"
	for file in status jobs job-7 flows stat port-map-7; do
		jq -e . "$dir/rocesteer-status/$file.json" >/dev/null || return
	done
	diff "$map" "$dir/rocesteer-status/port-map-7.json" &&
		jq -e '.jobs[0].job == 7' "$dir/rocesteer-status/status.json" &&
		grep -q "$(uname -r)" "$dir/rocesteer-status/uname.txt" &&
		grep -q rs_flows "$dir/rocesteer-status/bpf-map.txt" &&
		[[ ! $(find /tmp -maxdepth 1 -name 'rocesteer-*' -gid $$) ]]
}

# bundle_refused STATUS TEXT FILE: the file stays as it was, and nothing is beside it
bundle_refused()
{
	on_h0 "$rocesteer" --json status --no-probe --bundle "$3" >"$dir/out"
	local status=$?
	jq . "$dir/out"
	((status == $1)) && jq -e --arg text "$2" '.error.message | contains($text)' "$dir/out"
}

not_packed()
{
	local small=$dir/small status

	mkdir "$small" && mount -t tmpfs -o size=4k small "$small" && echo old >"$small/b" &&
		bundle_refused 1 "No space left on device" "$small/b" &&
		[[ $(cat "$small/b") == old && $(ls "$small") == b ]]
	status=$?
	umount "$small"
	((!status)) && bundle_refused 2 "needs a file" - && [[ ! -e - ]] &&
		bundle_refused 2 "not a regular file" /dev/full && [[ -c /dev/full ]]
}

# of_hosts STATUS JQ-FILTER: of the list $dir/hosts/list, with an ssh of our own
of_hosts()
{
	ROCESTEER_HOST_WAIT=${wait:-60} PATH=$dir/hosts:$PATH "$rocesteer" --json status \
		--hosts "$dir/hosts/list" >"$dir/out"
	local status=$?
	jq . "$dir/out"
	((status == $1)) && jq -e "$2" "$dir/out"
}

# The answers of good and bad are files, ssh asks the others.
many_hosts()
{
	mkdir "$dir/hosts" && silent && cp "$dir/status" "$dir/hosts/good.json" &&
		jq '.findings += [{severity: "error", code: "stale-map", job: 7,
			message: "job 7: x"}]' "$dir/status" >"$dir/hosts/bad.json" &&
		printf '%s\n' '# a list' '' good >"$dir/hosts/list" || return
	cat >"$dir/hosts/ssh" <<-E
	#!/bin/sh
	while [ "\$1" != -- ]; do shift; done
	echo "\$*" >>"$dir/hosts/asked"
	case \$2 in
	far) cat "$dir/hosts/good.json" ;;
	late) exec sleep 100 ;;
	odd) echo '{"jobs":[],"findings":[{"severity":"bad"}]}' ;;
	old) echo '{"error":{"code":"usage","message":"unknown object"}}'; exit 2 ;;
	*) echo "ssh: \$2 is unknown" >&2; exit 255 ;;
	esac
	E
	chmod +x "$dir/hosts/ssh"
	of_hosts 0 '[.hosts[] | [.host, .answers, .errors, .jobs]] == [["good", true, 0, 1]] and
		(.fault | not) and .findings[0].host == "good"' &&
		[[ ! -e $dir/hosts/asked ]] || return
	echo far >>"$dir/hosts/list" && of_hosts 0 '[.hosts[].host] == ["far", "good"]' &&
		[[ $(cat "$dir/hosts/asked") == "-- far rocesteer --json status" ]] || return
	printf '%s\n' bad away old odd >>"$dir/hosts/list" && of_hosts 1 '.fault and
		[.hosts[].host] == ["away", "odd", "old", "bad", "far", "good"] and
		[.hosts[:3][].message] == ["ssh: away is unknown",
			"odd: findings[0].severity: \u0027bad\u0027 is not one of note, error",
			"unknown object"] and
		(.findings[0] | [.host, .code]) == ["bad", "stale-map"]'
}

hosts_that_are_late()
{
	local line

	printf 'good\nlate\n' >"$dir/hosts/list"
	wait=1 of_hosts 1 '.hosts[0].message == "no answer within 1 seconds"' || return
	for line in '-oProxyCommand=x' ../x 'a b' good; do
		printf 'good\n%s\n' "$line" >"$dir/hosts/list"
		of_hosts 2 '.error.message | contains("/list: line 2: ")' || return
	done
	: >"$dir/hosts/list" && of_hosts 2 '.error.message | contains("contains no host")'
}

# The record goes with the job. A record of an older job is not believed.
forgets()
{
	local record

	record=$(echo /run/rocesteer/netns-*/job-7.json) && cp "$record" "$dir/old" && unload &&
		[[ ! -e $(dirname -- "$record") ]] || return
	on_h0 "$rocesteer" --json status | jq -e '.jobs == [] and (.fault | not)' &&
		on_h0 "$rocesteer" status | grep -x 'no job' || return
	jq '.loaded_at -= 1' "$dir/old" >"$dir/older" && load && cp "$dir/older" "$record" &&
		silent && jq -e '.jobs[0] | has("port_map") | not' "$dir/status"
}

gone()
{
	on_h0 ip link set eth0 name gone0 netns 1 2>/dev/null ||
		on_h0 ip link del eth0
	daemon_stop
	finds error device-gone && unload
}

ktap_plan 30
defer fabric_destroy
check "a fabric, a job and its daemon are made" ready
defer daemon_kill
check "a healthy host has one job and no finding" shows_the_job
check "status counts rounds of packets that were sent again" counts_what_is_sent_again
check "status finds another program before rocesteer's" not_first
check "status and the daemon find a device without carrier, or down" no_carrier
check "status finds programs that are not attached" not_served
check "status finds a path without a port" without_port
check "status finds a path that is held down" path_is_down
check "status finds ports that a fabric has moved" stale
check "status sees that nothing is behind the routers of paths" far_side_is_dead
check "job load refuses a map that is not of the fabric" load_refuses_stale
check "job load goes on where nobody answers" load_warns_without_answers
check "status finds the port map of another host" foreign
check "status finds a port map that was written again" changed
check "status finds programs of another version" other_version
check "status finds a daemon that was killed or does not run" daemon_is_dead
check "status finds a job that needs the module" wants_the_module
if command -v ethtool >/dev/null; then
	check "status finds GRO of UDP" gro_is_on
else
	skip "status finds GRO of UDP" "ethtool is not installed"
fi
if command -v nft >/dev/null; then
	check "status finds firewall rules against UDP port 4791" firewall
	check "status finds connection tracking of UDP port 4791" tracks
else
	skip "status finds firewall rules against UDP port 4791" "nft is not installed"
	skip "status finds connection tracking of UDP port 4791" "nft is not installed"
fi
check "status says which checks could not be made" says_what_it_did_not_see
check "status finds a table that is nearly full" fills_up
check "status finds a job file whose job is not loaded" is_to_be_loaded
check "the bundle has the files that it lists" is_packed
check "a bundle is whole, or not there" not_packed
check "the status of many hosts is one, the worst first" many_hosts
check "hosts that do not answer in time are told, and lists are checked" hosts_that_are_late
check "the record of a job is removed with the job" forgets
check "status finds a device that is gone" gone
check "a host without jobs has no finding" silent
ktap_finish
