# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For all selftests: KTAP output, waiting for a condition, cleanup.
#
#	. lib.sh
#	ktap_plan 2
#	defer rm -r "$dir"
#	check "the port opens" busywait 5000 port_is_open
#	check "the server answers" ask
#	ktap_finish

KSFT_SKIP=4

# Load rocesteer.ko of the running kernel, and what it needs.
module_load()
{
	modprobe -a rdma_cm && insmod "build/guest/$(uname -r)/rocesteer.ko"
}

# Programs release the module a grace period after their links are gone.
module_unload()
{
	busywait 10000 rmmod rocesteer
}

# few SMALL LARGE: the number of rounds of a random or repeated test: SMALL in "make check",
# LARGE in "make check-all", which sets CHECK_ALL.
few()
{
	if [[ ${CHECK_ALL:-} ]]; then
		echo "$2"
	else
		echo "$1"
	fi
}

ktap_count=0
ktap_failed=0
ktap_skipped=0
deferred=()

ktap_plan()
{
	echo "KTAP version 1"
	echo "1..$1"
}

# ktap_result "ok"|"not ok" NAME [DIRECTIVE]
ktap_result()
{
	echo "$1 $((++ktap_count)) $2${3:+ # $3}"
}

ok()
{
	ktap_result ok "$1"
}

not_ok()
{
	ktap_failed=$((ktap_failed + 1))
	ktap_result "not ok" "$1"
}

# skip NAME REASON
skip()
{
	ktap_skipped=$((ktap_skipped + 1))
	ktap_result ok "$1" "SKIP $2"
}

# check NAME COMMAND...: ok if it succeeds; its output becomes diagnostics. The command runs
# in this shell, so its variables stay.
check()
{
	# Shells of two PID namespaces may have one number.
	local name=$1 log=${TMPDIR:-/tmp}/check.$$.$EPOCHREALTIME line
	shift

	if "$@" >"$log" 2>&1; then
		ok "$name"
	else
		not_ok "$name"
	fi
	while IFS= read -r line; do
		echo "# $line"
	done <"$log"
	rm -f "$log"
}

skip_all()
{
	echo "KTAP version 1"
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

# own_namespaces [OPTION...]: run the script in a mount namespace, and in those that these
# options of unshare name, with an empty /run and a BPF file system of its own: no test
# changes the machine's pins. Skip the script where that is not allowed, or the module is
# loaded.
own_namespaces()
{
	if [[ ! ${ROCESTEER_OWN_NAMESPACES:-} ]]; then
		unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
			skip_all "no network namespaces or BPF: not root, or not allowed"
		[[ ! -e /sys/module/rocesteer ]] || skip_all "the module is loaded"
		ROCESTEER_OWN_NAMESPACES=1 exec unshare --mount "$@" "$0"
	fi
	unset ROCESTEER_OWN_NAMESPACES
	while mountpoint -q /sys/fs/bpf; do
		umount /sys/fs/bpf || exit
	done
	mount -t bpf bpf /sys/fs/bpf && mount -t tmpfs run /run || exit
}

ktap_finish()
{
	echo "# Totals: pass:$((ktap_count - ktap_failed - ktap_skipped))" \
		"fail:$ktap_failed skip:$ktap_skipped"
	exit $((ktap_failed > 0))
}

# defer COMMAND...: run it at exit, the last one first
defer()
{
	[[ $BASHPID == "${deferred_by:-}" ]] || deferred=()
	deferred_by=$BASHPID
	deferred=("${*@Q}" "${deferred[@]}")
	trap deferred_run EXIT
}

# Of a fork that it has no record of, bash has the child run the trap of its parent.
deferred_run()
{
	local command

	[[ $BASHPID == "${deferred_by:-}" ]] || return 0
	for command in "${deferred[@]}"; do
		eval "$command" || echo "# cleanup failed: $command"
	done
	deferred=()
}

# Factor for time limits that only guard against waiting for ever
TIME_SCALE=${TIME_SCALE:-1}

# busywait MILLISECONDS COMMAND...: repeat it until it succeeds, or fail after that time
busywait()
{
	local end=$((${EPOCHREALTIME/./} + $1 * 1000 * TIME_SCALE)) pause
	shift

	# Reading from a silent pipe is a pause without a process.
	exec {pause}<> <(:)
	while ! "$@"; do
		if ((${EPOCHREALTIME/./} > end)); then
			exec {pause}>&-
			return 1
		fi
		read -r -t 0.02 -u "$pause" || :
	done
	exec {pause}>&-
}

# script LIMIT NAME COMMAND...: run a script of a suite. By the first line that this prints
# scripts/check knows whose results follow, by the last line that the script has ended.
# Scripts that CHECK_RARELY matches run in check-all only.
script()
{
	local limit=$1 name=$2 status
	shift 2

	[[ ${CHECK_ALL:-} || ! $name =~ ${CHECK_RARELY:-^$} ]] || return 0
	echo "# script $name"
	limited "$limit" "$@"
	status=$?
	[[ ${CHECK_PLANT:-} != *:"$name" ]] || planted "${CHECK_PLANT%%:*}"
	echo "# script $name exits $status"
	return "$status"
}

# planted KIND: a fault of a script for selftests/host/tree/test_check.sh, which sets
# CHECK_PLANT=KIND:SCRIPT. scripts/check runs a script without the fault "once" again.
planted()
{
	case $1 in
	once | always)	echo "not ok planted" ;;
	early)		echo "1..1000" ;;
	exit)		status=3 ;;
	kernel)		echo "WARNING: planted" >/dev/kmsg ;;
	esac
}

# limited SECONDS COMMAND...: one that takes longer fails, shows what it waits for, and is ended
# with all of its process group.
limited()
{
	local limit=$1 test timer never status
	shift

	timeout --kill-after=60 $((limit + 5)) "$@" &
	test=$!
	exec {never}<> <(:)
	{
		read -r -t "$limit" -u "$never"
		echo "not ok $* ends within $limit s"
		# All but the kernel's threads
		ps --forest -o pid,stat,wchan:20,etime,args --deselect -p 2 --ppid 2 |
			sed 's/^/# /' | cut -c -160
	} &
	timer=$!
	exec {never}>&-
	wait "$test"
	status=$?
	kill "$timer" 2>/dev/null
	return "$status"
}

# unread CHECK COMMAND...: CHECK succeeds while COMMAND, which prints more than 4096 bytes,
# waits for a reader; a signal ends COMMAND then.
unread()
{
	local check=$1 pipe pid status
	shift

	exec {pipe}<> <(:)
	/usr/bin/python3 -c 'import fcntl
fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 4096)' <&"$pipe" || return
	timeout -k 10 $((300 * TIME_SCALE)) "$@" >&"$pipe" {pipe}>&- &
	pid=$!
	busywait 30000 read -r -t 0 -u "$pipe" && "$check"
	status=$?
	kill "$pid" || status=1
	wait "$pid"
	(($? != 128 + 9)) || status=1
	exec {pipe}>&-
	return "$status"
}

# attach_first DEVICE PIN: attach a program before all others, which bpftool cannot do
attach_first()
{
	python3 -c 'import ctypes, os, socket, struct, sys
def bpf(command, attr):
    number = {"x86_64": 321}.get(os.uname().machine, 280)
    ret = ctypes.CDLL(None).syscall(number, command, attr, len(attr))
    return ret if ret >= 0 else sys.exit("bpf() failed")
path = ctypes.create_string_buffer(sys.argv[2].encode())
prog = bpf(7, struct.pack("QII", ctypes.addressof(path), 0, 0))
tcx_egress, before = 47, 8
bpf(8, struct.pack("IIIIIIQ", socket.if_nametoindex(sys.argv[1]), prog,
                   tcx_egress, before, 0, 0, 0))' "$@"
}
