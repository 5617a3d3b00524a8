# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Real traffic, split over four paths. Sourced after lib.sh. Few processes, as starting one
# is slow under TCG.

# shellcheck disable=SC2034,SC2154 # for and from whoever sources this
writes=$build/selftests/writes
# shellcheck disable=SC2034
cgroup=/sys/fs/cgroup/test-split
split_prog=/sys/fs/bpf/split
modprobe -a sch_netem sch_prio cls_u32 cls_bpf

# split_load: load the program that splits
split_load()
{
	bpftool prog load "$build/bpf/split.bpf.o" "$split_prog"
}

split_unload()
{
	rm "$split_prog"
}

# split_start DEVICE [COMMAND...]: COMMAND enters its network namespace
split_start()
{
	local dev=$1
	shift
	"$@" tc filter add dev "$dev" egress pref 2 bpf direct-action \
		object-pinned "$split_prog"
}

# split_end DEVICE [COMMAND...]
split_end()
{
	local dev=$1
	shift
	"$@" tc filter del dev "$dev" egress pref 2
}

# paths_make DEVICE [COMMAND...]: three paths are class 1, the fourth is class 2, packets
# that rxe has not sent are class 3
paths_make()
{
	local dev=$1
	shift
	"$@" tc -batch - <<-E
		qdisc add dev $dev clsact
		qdisc add dev $dev root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		filter add dev $dev parent 1: protocol ip u32 match ip sport 50003 0xffff flowid 1:2
		filter add dev $dev parent 1: protocol ip u32 match ip sport 0x8000 0xc000 flowid 1:3
	E
}

# paths DEVICE CLASS NETEM...: set the netem of a class
paths()
{
	local dev=$1 class=$2
	shift 2
	"${enter[@]}" tc qdisc replace dev "$dev" parent "1:$class" \
		netem limit 100000 "$@"
}
enter=()	# command that enters the namespace of the device

# gid_index DEVICE ADDRESS: the index of its RoCE v2 GID with the IPv4 address
gid_index()
{
	local ports=/sys/class/infiniband/$1/ports/1 want file gid type
	# shellcheck disable=SC2086 # four numbers
	printf -v want '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${2//./ }
	for file in "$ports"/gids/*; do
		read -r gid <"$file"
		[[ $gid == "$want" ]] || continue
		read -r type <"$ports/gid_attrs/types/${file##*/}"
		[[ $type != "RoCE v2" ]] || { echo "${file##*/}"; return; }
	done
	return 1
}
