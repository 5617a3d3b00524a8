#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The commands that README.md shows to a newcomer, in a Debian with nothing else installed.
#
# The Debian is made once, and cached with the packages of "scripts/deps build".
# CLEAN=SUITE... names the releases of Debian.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
set -o pipefail

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${ROCESTEER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rocesteer}
read -r -a suites <<<"${CLEAN:-trixie}"

# Print the first command of "Try it" without its comment.
first_command()
{
	sed -nE 's/^    (scripts\/deps .*[^ ]) +#.*/\1/p' README.md
}

# debian SUITE: set $root to the directory of its cached root.
debian()
{
	local suite=$1 hash new mirror

	hash=$(sha256sum <scripts/deps)
	root=$cache/clean-$suite-${hash:0:12}
	[[ ! -d $root ]] || return 0
	mirror=$(scripts/deps mirror) && mkdir -p "$cache" &&
		new=$(mktemp -d "$root.XXXXXX") && chmod 755 "$new" || return
	# shellcheck disable=SC2016 # mmdebstrap's shell expands $1
	if mmdebstrap --mode=root --variant=apt --format=directory \
			--customize-hook='copy-in scripts/deps /tmp' \
			--customize-hook='chroot "$1" /tmp/deps build' "$suite" "$new" \
			"deb [signed-by=$keyring] $mirror $suite main"; then
		mv -T "$new" "$root"
	else
		rm -rf --one-file-system -- "$new"
		return 1
	fi
}

# Run in a mount namespace, in which / is the Debian at $1, unchanged, with the tree without
# its build.
enter()
{
	local work=$1.work

	mkdir -p "$work" && mount -t tmpfs clean "$work" &&
		mkdir "$work"/{upper,work,root} &&
		mount -t overlay overlay "$work/root" -o \
			"lowerdir=$1,upperdir=$work/upper,workdir=$work/work" &&
		mount --rbind /dev "$work/root/dev" &&
		mount -t proc proc "$work/root/proc" &&
		mount -t sysfs sys "$work/root/sys" &&
		mount -t bpf bpf "$work/root/sys/fs/bpf" &&
		mkdir "$work/root/tree" || return
	git ls-files -z -co --exclude-standard |
		xargs -0 tar -c --ignore-failed-read | tar -x -C "$work/root/tree" &&
		exec chroot "$work/root" env -i HOME=/root LANG=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin MAKEFLAGS=s bash -c "cd /tree && ${*:2}"
}

# All packages are there, so the command installs no other one.
builds_and_runs()
{
	[[ $(first_command) == "scripts/deps build "* ]] && debian "$1" &&
		unshare --mount --net --pid --fork "$0" --enter "$root" \
			"$(first_command) && selftests/readme.py"
}

if [[ ${1:-} == --enter ]]; then
	enter "${@:2}"
	exit
fi

unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
	skip_all "no network namespaces or BPF: not root, or not allowed"
command -v mmdebstrap >/dev/null || skip_all "there is no mmdebstrap"
ktap_plan ${#suites[@]}
for suite in "${suites[@]}"; do
	check "README.md builds and runs on a Debian $suite with nothing else" \
		builds_and_runs "$suite"
done
ktap_finish
