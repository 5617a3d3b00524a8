# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # dir, file, rocesteer, plugin
#
# Debian's Slurm with packaging/slurm: munged, slurmctld, and a slurmd on each node. To be
# sourced by tests with the directory $dir, the cluster file $file, the command $rocesteer and
# its SPANK $plugin.

# slurm_configure CONTROLLER PORTMAPS {NODE ADDRESS}...: the controller's address, and names
# of each node's port maps in $dir, separated by commas
slurm_configure()
{
	local controller=$1 portmaps=$2
	shift 2

	export SLURM_CONF=$dir/slurm.conf
	cat >"$SLURM_CONF" <<-E
	ClusterName=test
	SlurmctldHost=$(hostname -s)($controller)
	SlurmUser=root
	AuthInfo=socket=$dir/munge.socket
	StateSaveLocation=$dir/state
	SlurmdSpoolDir=$dir/spool.%n
	SlurmctldPidFile=$dir/slurmctld.pid
	SlurmdPidFile=$dir/%n.pid
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	SwitchType=switch/none
	SelectType=select/linear
	SchedulerType=sched/builtin
	SchedulerParameters=batch_sched_delay=0,sched_interval=1
	MpiDefault=none
	ReturnToService=2
	SlurmdTimeout=300
	KillWait=1
	PrologFlags=Alloc
	PrologSlurmctld=$dir/slurmctld
	EpilogSlurmctld=$dir/slurmctld
	PlugStackConfig=$dir/plugstack.conf
	SlurmdParameters=config_overrides
	$(printf 'NodeName=%s NodeAddr=%s\n' "$@")
	PartitionName=all Nodes=ALL Default=YES
	E
	cat >"$dir/plugstack.conf" <<-E
	required $plugin cluster=$file paths=$dir/${portmaps//,/,$dir/} command=$rocesteer
	E
	cat >"$dir/slurmctld" <<-E
	#!/bin/bash
	export PATH=$(dirname "$rocesteer"):\$PATH ROCESTEER_CLUSTER=$file
	export SLURM_CONF=$SLURM_CONF
	exec $PWD/packaging/slurm/rocesteer-slurmctld
	E
	chmod +x "$dir/slurmctld"
	mkdir "$dir/state"
	dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 status=none
	chmod 600 "$dir/munge.key"
	IFS=, read -ra slurm_portmaps <<<"$portmaps"
	(cd "$dir" && touch "${slurm_portmaps[@]}")
}

# slurm_option OPTION: pass another option to job load
slurm_option()
{
	sed -i "s|\$| $1|" "$dir/plugstack.conf"
}

munged_start()
{
	munged --foreground --force --key-file "$dir/munge.key" \
		--socket "$dir/munge.socket" --pid-file "$dir/munge.pid" \
		--log-file "$dir/munge.log" --seed-file "$dir/munge.seed" \
		>/dev/null 2>&1 &
	busywait 30000 test -S "$dir/munge.socket"
}

# slurmctld_start [NETNS]: in the background
slurmctld_start()
{
	${1:+nsenter --net="/run/netns/$1"} slurmctld -D -L "$dir/slurmctld.log" >/dev/null 2>&1 &
}

# slurmd_start NODE NETNS: in the background, as $!. Its port map FILE is NODE-FILE.
slurmd_start()
{
	mkdir -p "$dir/spool.$1"
	# shellcheck disable=SC2016 # the inner shell's
	nsenter --net="/run/netns/$2" unshare --mount bash -c 'dir=$1 node=$2
		shift 2
		for file; do
			mount --bind "$dir/$node-$file" "$dir/$file" || exit
		done
		exec slurmd -D -N "$node" -L "$dir/$node.log"' - \
		"$dir" "$1" "${slurm_portmaps[@]}" >/dev/null 2>&1 &
}

# slurm_state [NETNS]: the state of each node, as seen from there
slurm_state()
{
	${1:+nsenter --net="/run/netns/$1"} sinfo -h -N -o '%N %t' | tr '\n' ' '
}

# slurm_field JOB NAME: a field of the job
slurm_field()
{
	scontrol -o show job "$1" | grep -o -P "\b$2=\K.*?(?= \w+=|\$)"
}

slurm_processes()
{
	pgrep -x 'slurm(ctld|scriptd|d|stepd)(-wlm)?|munged'
}
