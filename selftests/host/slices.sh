# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of cluster files. Sourced behind selftests/lib.sh.

rocesteer=${ROCESTEER:-build/rocesteer}
slices=selftests/host/slices.py
dir=$(mktemp -d)
defer rm -rf "$dir"
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

# refused STATUS CODE MESSAGE ARGUMENT...: in JSON, and the file stays as it is
refused()
{
	local want=$1 code=$2 message=$3 before json status
	shift 3

	before=$(<"$file")
	json=$(slice "$@")
	status=$?
	echo "$json"
	((status == want)) && [[ $(<"$file") == "$before" ]] &&
		jq -e --arg code "$code" --arg message "$message" \
			'.error.code == $code and
			(.error.message | contains($message))' <<<"$json"
}

# The file agrees with itself: no link or GPU belongs to two jobs, and no pair of leaf and
# spine.
file_is_right()
{
	"$slices" verify "$file"
}
