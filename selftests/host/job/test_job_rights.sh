#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Locks, rights and network namespaces: who may see and change jobs

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/job/job.sh

# bpffs lets every user make a directory.
refuses_a_strangers_place()
{
	local place=/sys/fs/bpf/rocesteer

	rmdir "$place"
	setpriv --reuid=65534 --regid=65534 --clear-groups mkdir "$place" &&
		refused unsafe 1 load --job 1 --all --port-map "$map" &&
		refused unsafe 1 list && rmdir "$place" &&
		mkdir -m 750 "$place" && refused unsafe 1 list &&
		rmdir "$place" && ln -s /sys/fs/bpf "$place" &&
		refused pin 1 list && rm "$place"
}

says_how_to_mount()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount bash -c 'umount /sys/fs/bpf
		"$1" job load --job 1 --all --port-map "$2" 2>&1 |
			tee /dev/stderr | tail -n 1 | bash &&
			[[ $(stat -f -c %T /sys/fs/bpf) == bpf_fs &&
				$(stat -c %a /sys/fs/bpf) == *700 ]]' - \
		"$rocesteer" "$map"
}

names_the_holder()
{
	ROCESTEER_LOCK_WAIT=0 fails 4 locked "process $holder (sleep) has" job "$@"
}

limit_is_wrong()
{
	local wait

	for wait in x -1 ' 1' 1s 86401; do
		ROCESTEER_LOCK_WAIT=$wait fails 2 usage \
			"ROCESTEER_LOCK_WAIT: '$wait' is not a number" job list || return
	done
}

waits_no_longer()
{
	names_the_holder list && names_the_holder load --job 8 --all --port-map "$map"
}

# A command that reads does not delay others that read, but keeps others from changing
# anything.
read_together()
{
	local reads

	for reads in "job list" "job show --job 7" "flow show" stat \
		"top --count 1 --interval 10"; do
		# shellcheck disable=SC2086 # words
		ROCESTEER_LOCK_WAIT=0 "$rocesteer" --json $reads || return
	done
	names_the_holder load --job 8 --all --port-map "$map" &&
		names_the_holder unload --job 7
}

# without CAP[,-CAP] COMMAND...: as root without these
without()
{
	local caps=$1
	shift

	setpriv --bounding-set=-"$caps" --inh-caps=-all "$rocesteer" --json "$@"
}

# The capabilities are those of PERMISSIONS in rocesteer(8).
permissions()
{
	local load=(job load --job 9 --port-map "$map" --flow 10.1.1.1/77) cap reads

	for cap in net_admin bpf,-sys_admin perfmon,-sys_admin; do
		without "$cap" "${load[@]}" | jq -e --arg cap "CAP_${cap%%,*}" '.error |
			.code == "permission" and
			(.message | ascii_downcase | endswith($cap | ascii_downcase))' &&
			! job show --job 9 >"$dir/log" || return
	done
	for cap in net_admin bpf,-sys_admin; do
		without "$cap" job unload --job 7 | jq -e '.error.code == "permission"' || return
	done
	for reads in "job list" "job show --job 7" "flow show" stat; do
		# shellcheck disable=SC2086 # words
		without all $reads >"$dir/log" || return
	done
	setpriv --bounding-set=-all,+net_admin,+bpf,+perfmon --inh-caps=-all \
		"$rocesteer" --json "${load[@]}" | jq -e '.job == 9' &&
		without all job show --job 9 | jq -e '.job == 9 and (has("first") | not)' &&
		setpriv --bounding-set=-all,+net_admin,+bpf --inh-caps=-all \
			"$rocesteer" --json job unload --job 9 | jq -e '.unloaded == [9]'
}

unprivileged()
{
	unchanged state fails 1 permission '' without net_admin job unload --all
}

not_root()
{
	cp "$rocesteer" "$dir/rocesteer" && chmod 755 "$dir" || return
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/rocesteer" --json job list >"$dir/out"
	(($? == 1)) && cat "$dir/out" && jq -e '.error |
		.code == "permission" and .hint == "Run it as root."' "$dir/out"
}

other_namespace()
{
	unshare --net "$rocesteer" --json job list | jq -e '.jobs == []' &&
		unshare --net "$rocesteer" --json flow show | jq -e '.flows == []' &&
		! unshare --net "$rocesteer" job unload --job 7 &&
		unshare --net "$rocesteer" job unload --all &&
		job list | jq -e '.jobs | length == 1'
}

# tenant ARGUMENT...: the command works in another network namespace, by its name.
tenant()
{
	timeout 30 "$rocesteer" --json --netns tenant "$@"
}

# The namespace has a device of the same name, and job 7 of its own. Port map, pins and
# records are in the mounts of the caller.
tenant_steers()
{
	local before pid

	before=$(state)
	ip netns add tenant && defer ip netns del tenant &&
		ip -n tenant link add name rs0 type veth peer name rs1 &&
		ip -n tenant address add 10.1.0.1/24 dev rs0 &&
		ip -n tenant address add fd00::1/64 dev rs0 nodad &&
		ip -n tenant link set rs0 up && ip -n tenant link set rs1 up &&
		tenant job load --job 7 --name tenant --all --port-map "$map" &&
		tenant job list | jq -e '[.jobs[].name] == ["tenant"]' &&
		[[ $(ip netns exec tenant bpftool net show dev rs0) == *rocesteer_egress* ]] &&
		[[ $(state) == "$before" ]] &&
		[[ $(echo /run/rocesteer/netns-*/job-7.json) == *" "* ]] || return
	nsenter --net=/run/netns/tenant sleep 100 &
	pid=$!
	defer kill "$pid"
	busywait 10000 is_in_tenant "$pid" &&
		"$rocesteer" job list --json --netns="$pid" | jq -e '[.jobs[].name] == ["tenant"]'
}

is_in_tenant()
{
	[[ /proc/$1/ns/net -ef /run/netns/tenant ]]
}

# fails_with CODE HINT COMMAND...: with the code, and words in the hint
fails_with()
{
	"${@:3}" >"$dir/out" && return 1
	cat "$dir/out"
	jq -e --arg code "$1" --arg hint "$2" '.error.code == $code and
		(.error.hint | contains($hint))' "$dir/out"
}

# sees_none HINT: what shows jobs does not say that there is none.
sees_none()
{
	local show

	for show in "job list" "job show 7" "flow show" stat status; do
		# shellcheck disable=SC2086 # words
		fails_with other-bpffs "$1" "$rocesteer" --json $show || return
	done
}

# Another BPF file system, in the place of the one that "ip netns exec" hides, has none of the
# jobs: job 7 is not loaded twice there, and keeps its record when job 9 is unloaded.
loads_beside()
{
	local command=("$rocesteer" --json job) hint="rocesteer --netns tenant"

	mount -t bpf bpf /sys/fs/bpf &&
		fails_with other-bpffs "$hint" "${command[@]}" load --job 7 --all \
			--port-map "$map" &&
		sees_none "$hint" &&
		[[ $(bpftool net show dev rs0 | grep -c rocesteer_) == 2 ]] &&
		"${command[@]}" load --job 9 --port-map "$dir/rs1.json" --flow 10.1.1.1/99 &&
		fails_with no-job "job list" "${command[@]}" unload --job 7 &&
		"${command[@]}" unload --all
}

hidden_by_ip()
{
	jq '.device = "rs1"' "$map" >"$dir/rs1.json"
	fails_with no-bpffs "rocesteer --netns tenant" ip netns exec tenant \
		"$rocesteer" --json job list || return
	export -f loads_beside sees_none fails_with
	rocesteer=$rocesteer map=$map dir=$dir ip netns exec tenant bash -c loads_beside &&
		tenant status --no-probe |
			jq -e --arg map "$map" '[.jobs[] | [.job, .port_map]] == [[7, $map]]'
}

tenant_socket()
{
	[[ -S $(echo /run/rocesteer/netns-*.sock) ]]
}

# The daemon, and who asks it, are in the namespace by the option alone.
tenant_daemon()
{
	local pid status

	"$rocesteer" --netns tenant daemon >"$dir/daemon" 2>&1 &
	pid=$!
	busywait 10000 tenant_socket && is_in_tenant "$pid" &&
		tenant status | jq -e '.host.daemon' &&
		"$rocesteer" --json status | jq -e '.host.daemon | not'
	status=$?
	kill "$pid" && wait "$pid"
	return "$status"
}

netns_refused()
{
	local code=$1 status=$2
	shift 2

	"$rocesteer" --json job list "$@" >"$dir/out"
	(($? == status)) && cat "$dir/out" &&
		jq -e --arg code "$code" '.error | .code == $code and .hint' "$dir/out"
}

tenant_refuses()
{
	touch /run/netns/file &&
		netns_refused no-netns 2 --netns nobody &&
		netns_refused no-netns 2 --netns ../netns/tenant &&
		netns_refused no-netns 2 --netns file &&
		netns_refused no-process 2 --netns 4194304 &&
		rm /run/netns/file &&
		! setpriv --bounding-set=-sys_admin --inh-caps=-all "$rocesteer" --json \
			job list --netns tenant >"$dir/out" &&
		jq -e '.error | .code == "permission" and
			(.message | endswith("needs CAP_SYS_ADMIN"))' "$dir/out"
}

# The job of the namespace goes, and that of this one stays.
tenant_unloads()
{
	tenant job unload --all && tenant job list | jq -e '.jobs == []' &&
		job list | jq -e '.jobs | length == 1' &&
		[[ $(echo /run/rocesteer/netns-*/job-7.json) != *" "* ]]
}

ktap_plan 14
ready || exit
check "a place that others may change is refused" refuses_a_strangers_place
check "the hint about a missing BPF file system makes one for root alone" says_how_to_mount
loads >/dev/null || exit
check "a lock is waited for up to the limit, and its holder is named" \
	while_locked /sys/fs/bpf/rocesteer waits_no_longer
check "a limit for the lock that is no number is refused" limit_is_wrong
shared=1 check "commands that read do not wait for each other" \
	while_locked /sys/fs/bpf/rocesteer read_together
check "unload without CAP_NET_ADMIN leaves the job" unprivileged
check "load and unload need their capabilities and no other" permissions
check "a user who may not read the pins gets a hint" not_root
check "another network namespace sees and changes no job" other_namespace
check "--netns loads a job in another network namespace, and only there" tenant_steers
check "within ip netns exec no job is loaded twice, or loses its record" hidden_by_ip
check "the daemon of --netns is another network namespace's" tenant_daemon
check "--netns without such a namespace, or without the capability, is refused" tenant_refuses
check "--netns unloads the other network namespace's job only" tenant_unloads
ktap_finish
