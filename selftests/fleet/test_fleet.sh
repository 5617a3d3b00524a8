#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_fleet.sh OLDER NEWER: a host of a fleet, from the installation of packages to their
# removal, with traffic. OLDER and NEWER are directories with packages. selftests/fleet/run
# starts it in a guest that boots systemd.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/net/fabric.sh
. selftests/net/observe.sh

older=$PWD/$1
newer=$PWD/$2
jobs=/etc/rocesteer/jobs.d
packages=(rocesteer rocesteer-dkms rocesteer-perf rocesteer-slurm)
queue_pairs=4
port=18515
export DEBIAN_FRONTEND=noninteractive

# explained COMMAND...: a failure shows the state of the machine
explained()
{
	"$@" && return
	echo "== $* failed, at $SECONDS s"
	[[ ! -e $dir/apt ]] || tail -n 40 "$dir/apt"
	rocesteer status
	journalctl --no-pager --boot --quiet --unit rocesteer --lines 40
	dmesg | grep -i rocesteer | tail -n 10
	return 1
}

# step NAME COMMAND...
step()
{
	local start=$SECONDS

	check "$1" explained "${@:2}"
	echo "# in $((SECONDS - start)) s"
}

# must NAME COMMAND...: a step without which the next steps tell nothing
must()
{
	local failed=$ktap_failed

	step "$@"
	((ktap_failed == failed)) || ktap_finish
}

up()
{
	defer rm -rf "$dir"
	# Pins apart from rocesteer's; libbpf wants no dot in a path.
	mkdir /run/observe && mount -t bpf bpf /run/observe || return
	defer umount /run/observe
	pins=/run/observe/links
	systemctl is-system-running --wait
	fabric_up --leaves 2 --hosts 1 --rate 8mbit
	fabric_load
	defer fabric_down
	observe_up
}

# All files, and the content of those in /etc, but for files of the kernel's modules, apt and
# dpkg, and files that running services write
world()
{
	find / -xdev \( -path "$PWD" -o -path /tmp -o -path /root -o -path /var/tmp \
		-o -path '/var/log/*' -o -path '/var/cache/*' -o -path '/var/lib/apt/*' \
		-o -path '/var/lib/dpkg/*' -o -path '/var/lib/systemd/random-seed' \
		-o -path '/var/lib/dkms/mok.*' -o -path '/lib/modules/*/modules.*' \
		-o -path '/usr/lib/modules/*/modules.*' \) -prune \
		-o -printf '%y %m %u:%g %p %l\n' | LC_ALL=C sort
	find /etc -xdev -type f -not -name ld.so.cache -not -name '*-' -exec sha256sum {} + |
		LC_ALL=C sort
}

# apt COMMAND ARGUMENT...: modules were compiled before.
apt()
{
	apt-get --quiet --yes -o DPkg::Path="$PWD/selftests/fleet:$PATH" "$@" \
		>"$dir/apt" 2>&1
}

# files DIRECTORY: the packages in it without debug symbols
files()
{
	printf -- "%s\n" "${packages[@]/#/$1/}" | sed 's/$/_*.deb/'
}

# versions DIRECTORY
versions()
{
	local file

	for file in $(files "$1"); do
		dpkg-deb --show --showformat="\${Package} \${Version}\n" "$file"
	done | sort
}

installed()
{
	dpkg-query --show \
		--showformat="\${Package} \${Version} \${db:Status-Status}\n" 'rocesteer*' |
		sed -n 's/ installed$//p' | sort
}

# is_installed DIRECTORY
is_installed()
{
	diff <(versions "$1") <(installed)
}

install()
{
	# shellcheck disable=SC2046 # a list
	apt install $(files "$1") && is_installed "$1"
}

# The loaded module has the installed version.
module_is()
{
	local version

	version=$(dpkg-query --show --showformat="\${Version}" rocesteer-dkms)
	cat /sys/module/rocesteer/version
	# Without the revision of the package
	[[ $(</sys/module/rocesteer/version) == "${version%-*}" ]]
}

discover()
{
	rocesteer path discover --dev eth0 --source "$(host_ip 0)" --peer "$(host_ip 1)" \
		--out /etc/rocesteer/ports.json
}

job_is_there()
{
	rocesteer --json job list | jq -e '[.jobs[].job] == [1]' >/dev/null
}

start()
{
	discover || return
	cat >"$jobs/train.json" <<-E
	{"job":1,"port_map":"/etc/rocesteer/ports.json","all":true,"split":"none"}
	E
	# The daemon may have run since the installation.
	systemctl start rocesteer && systemctl reload rocesteer &&
		busywait 20000 job_is_there && systemctl is-active rocesteer
}

server_listens()
{
	[[ $(ss -Hltn "sport = :$port") ]]
}

# Write from host 0 to host 1, for an hour at most.
traffic_start()
{
	local common=(-F -q "$queue_pairs" -m 4096 -u 20 -p "$port" -D 3600 -f 1)

	ib_write_bw -d rxe1 -x "$(host_gid 1)" "${common[@]}" >"$dir/server" 2>&1 &
	server=$!
	busywait 20000 server_listens || return
	ib_write_bw -d rxe0 -x "$(host_gid 0)" "${common[@]}" "$(host_ip 1)" \
		>"$dir/client" 2>&1 &
	client=$!
	busywait 60000 flows_are_there
}

# perftest counts time by SIGALRM, so this ends the hour within a second.
traffic_end()
{
	local status=0

	kill -ALRM "$client"
	wait "$client" || status=1
	wait "$server" || status=1
	((!status)) || cat "$dir/client" "$dir/server"
	return "$status"
}

# {queue pair, path, port} of each flow that has a share of its path
plan()
{
	rocesteer --json flow show | jq -c '[.flows[] | select(.job == 1 and .share) |
		{dqpn, path, port}] | sort_by(.dqpn)'
}

# Each flow has a path of its own.
flows_are_there()
{
	plan | jq -e --argjson n "$queue_pairs" \
		'length == $n and (map(.path) | unique | length) == $n' >/dev/null
}

# Packets from leaf 0 to the spines since observe_forget; path p is by spine p
uplinks()
{
	bpftool --json map dump pinned "$pins/seen" | jq -c '[.[].formatted |
		.key + .value | select(.sender == 3 and .leaf == 0 and .ack == 0) |
		{dqpn, sport, path: .index, packets, first, last}] | sort_by(.dqpn)'
}

# Each queue pair sends by its path again.
flows_on()
{
	observe_forget
	busywait 60000 all_are_seen
}

all_are_seen()
{
	uplinks | jq -e --argjson n "$queue_pairs" \
		'map(select(.packets > 20).dqpn) | unique | length == $n' >/dev/null
}

# All packets since observe_forget took their planned path.
on_their_paths()
{
	plan >"$dir/plan"
	uplinks | jq -e --slurpfile plan "$dir/plan" '., length > 0 and
		all(.[]; {dqpn, path, port: .sport} as $one | $plan[0] | index($one))' \
		>"$dir/seen" && return
	cat "$dir/seen"
	return 1
}

# For each flow that left its path since observe_forget: the time in ms from the first to the
# last packet on another path
detours()
{
	uplinks | jq -c --slurpfile plan "$dir/plan" '[.[] |
		select({dqpn, path, port: .sport} as $one | $plan[0] | index($one) | not) |
		. + {ms: ((.last - .first) / 1000000)}]'
}

steered()
{
	local steered

	steered=$(rocesteer --json stat | jq '.verdicts.steered')
	echo "steered packets: $steered"
	((steered > 0)) && flows_on && on_their_paths
}

healthy()
{
	rocesteer status
}

# rxe's counters of lost, late and repeated packets
losses()
{
	grep -H . /sys/class/infiniband/rxe*/ports/1/hw_counters/{duplicate_request,out_of_seq_request,rcvd_seq_err,retry_exceeded_err,completer_retry_err,send_err,rcvd_rnr_err,send_rnr_err}
}

bad_job_is_told()
{
	journalctl --boot --quiet --unit rocesteer --since "@$1" | grep -F bad.json
}

bad_job()
{
	local since before

	before=$(plan)
	since=$(date +%s)
	echo '{"job":2,"port_map":"/nowhere"' >"$jobs/bad.json"
	systemctl reload rocesteer && busywait 20000 bad_job_is_told "$since" &&
		job_is_there && [[ $(plan) == "$before" ]] && flows_on && on_their_paths &&
		! rocesteer status || return
	rm "$jobs/bad.json"
	systemctl reload rocesteer && busywait 20000 healthy
}

programs()
{
	bpftool --json net show dev eth0 |
		jq -c '[.[].tc[] | select(.name | startswith("rocesteer")) | .prog_id] | sort'
}

remember()
{
	plan >"$dir/plan" && losses >"$dir/losses" && programs >"$dir/programs" &&
		systemctl show --property MainPID --value rocesteer >"$dir/pid" &&
		cat /sys/module/rocesteer/version >"$dir/version"
	observe_forget
}

upgrade()
{
	local start=$SECONDS

	install "$newer" || return
	echo "took $((SECONDS - start)) s, with $(uplinks | jq 'map(.packets) | add') packets"
}

module_is_replaced()
{
	module_is && [[ $(</sys/module/rocesteer/version) != $(<"$dir/version") ]]
}

programs_are_replaced()
{
	echo "$(<"$dir/programs") -> $(programs)"
	[[ $(programs) != "$(<"$dir/programs")" ]]
}

daemon_is_another()
{
	local pid

	pid=$(systemctl show --property MainPID --value rocesteer)
	systemctl is-active rocesteer && ((pid && pid != $(<"$dir/pid"))) &&
		[[ $(readlink "/proc/$pid/exe") == /usr/sbin/rocesteer ]]
}

plan_is_kept()
{
	job_is_there && diff "$dir/plan" <(plan)
}

stayed_on_their_paths()
{
	local detours

	detours=$(detours)
	echo "off their paths: $detours"
	jq -e 'all(.[]; .ms < 1000)' <<<"$detours" && flows_on && on_their_paths
}

nothing_is_lost()
{
	diff "$dir/losses" <(losses) && [[ $(icrc_drops) == 0 ]]
}

icrc_drops()
{
	bpftool --json map dump pinned "$pins/icrc_drops" | jq '.[0].formatted.value'
}

# The operator removes the operator's file.
purge()
{
	rm -f "$jobs"/*.json /etc/rocesteer/ports.json*
	apt purge "${packages[@]}" && [[ ! $(dpkg-query --show 'rocesteer*' 2>/dev/null) ]]
}

# The difference of files before and after
files_are_as_before()
{
	world >"$dir/after"
	diff "$dir/before" "$dir/after"
}

# Nothing is left in the kernel, in systemd, or among the users.
nothing_runs()
{
	local left

	left=$(
		grep -E '^rocesteer' /proc/modules
		find /sys/fs/bpf -mindepth 1 -not -name '*.debug'
		bpftool net show | grep rocesteer
		systemctl list-units --all --plain --no-legend 'rocesteer*'
		systemctl list-unit-files --no-legend 'rocesteer*'
		getent passwd group | grep rocesteer
		# The directories below are systemd's, without a file.
		find /run -xdev -path /run/systemd/system -prune -o -name '*rocesteer*' -print
		pgrep -ax rocesteer
	)
	echo "$left"
	[[ ! $left ]]
}

ktap_plan 20
dir=$(mktemp -d)
must "a fabric is up" up
world >"$dir/before"
must "packages install" install "$older"
must "the module is loaded" module_is
must "a job file and systemctl start load a job" start
must "flows get paths" traffic_start
must "flows stay on their paths" steered
step "rocesteer status finds no fault" healthy
step "a bad job file leaves the good one alone" bad_job
remember
must "packages are upgraded under traffic" upgrade
step "the module is replaced" module_is_replaced
step "the programs are replaced" programs_are_replaced
step "the daemon is replaced" daemon_is_another
step "the plan is kept" plan_is_kept
step "flows left their paths for less than a second" stayed_on_their_paths
step "rocesteer status still finds no fault" healthy
step "no packet is lost" nothing_is_lost
step "traffic ends without an error" traffic_end
step "packages are purged" purge
step "no process of the packages runs after the purge" nothing_runs
step "files are as before the installation" files_are_as_before
ktap_finish
