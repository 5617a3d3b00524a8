# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of what commands refuse: sourced behind selftests/lib.sh.

. selftests/host/lib/command.sh

# refused CODE MESSAGE ARGUMENT...: exit status 2, with the message in words and in JSON
refused()
{
	local code=$1 message=$2 text json status json_status
	shift 2

	text=$("$rocesteer" "$@" 2>&1 >"$dir/stdout")
	status=$?
	json=$("$rocesteer" "$@" --json 2>"$dir/stderr")
	json_status=$?
	echo "$text"
	((status == 2 && json_status == 2)) || return
	[[ $text == "rocesteer: $message"* && ! -s $dir/stdout &&
	   ! -s $dir/stderr ]] || return
	jq -e --arg code "$code" --arg message "$message" --arg text "$text" '.error |
		(.code == $code and .message == $message) and
		$text == "rocesteer: \(.message)" + if .hint then "\n\(.hint)" else "" end' \
		<<<"$json"
}

usage()
{
	refused usage "$@"
}
