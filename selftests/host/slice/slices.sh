# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of cluster files. Sourced behind selftests/lib.sh.

. selftests/host/lib/command.sh
slices=selftests/host/slice/slices.py
file=$dir/cluster.json

slice()
{
	timeout 60 "$rocesteer" --json slice "$@" --cluster "$file"
}

# cluster JSON: start with this file
cluster()
{
	rm -f "$file"*
	echo "$1" >"$file"
}

contents()
{
	cat "$file"
}

# refused STATUS CODE MESSAGE ARGUMENT...: the file stays as it is
refused()
{
	unchanged contents fails "$1" "$2" "$3" slice "${@:4}"
}

# with FIELD VALUE: set a field of the file
with()
{
	jq --argjson value "$2" ".$1 = \$value" "$file" >"$dir/with" &&
		cp "$dir/with" "$file"
}

# collectives JOB: no flows meet
collectives()
{
	local pattern

	for pattern in ring all-to-all hierarchical-ring hierarchical-all-to-all; do
		slice check --job "$1" --pattern "$pattern" |
			jq -e '.contended == 0 and .links == [] and .flows > 0 and
				.flows == .ranks * .steps' || return
	done
}

# The file agrees with itself: no link or GPU belongs to two jobs, and no pair of leaf and
# spine.
file_is_right()
{
	"$slices" verify "$file"
}

small()
{
	cluster '{"leaves":4,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}'
}
