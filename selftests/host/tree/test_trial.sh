#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo/trial beside another of its kind, and after one that was killed

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

own_namespaces --net

dir=$(mktemp -d)
defer rm -rf "$dir"
ip=$(command -v ip)
export dir ip

# When demo/trial is about to run "ip $at", it runs $meanwhile first.
mkdir "$dir/bin"
cat >"$dir/bin/ip" <<'E'
#!/bin/bash
if [[ "$*" == "${at:-}" ]]; then
	at='' "$meanwhile"
fi
exec "$ip" "$@"
E
chmod +x "$dir/bin/ip"

# trial NAME VERB..
trial()
{
	PATH=$dir/bin:$PATH ROCESTEER_TRIAL=$1 timeout 120 demo/trial "${@:2}"
}

# fails WORDS NAME VERB..: exit status 1, and the message has the words
fails()
{
	local words=$1 status
	shift

	trial "$@" >"$dir/said" 2>&1
	status=$?
	cat "$dir/said"
	((status == 1)) && grep -q "^trial: .*$words" "$dir/said"
}

# are NAME..: there are these namespaces, and no others
are()
{
	ip netns list | cut -d ' ' -f 1 | sort >"$dir/names"
	diff <(printf '%s\n' "$@" | sed '/^$/d' | sort) "$dir/names"
}

# sends NAME: all packets leave to spines
sends()
{
	trial "$1" send >"$dir/sent" && cat "$dir/sent" &&
		awk 'NR > 1 { sum += $2 } END { exit NR != 5 || sum != 16000 }' "$dir/sent"
}

up_beside()
{
	demo/trial up >"$dir/other" 2>&1
	echo "status $?" >>"$dir/other"
}

refuses_the_half()
{
	at="netns add a-spine2" meanwhile=up_beside trial a up || return
	cat "$dir/other"
	grep -q "fabric a is half made: .*ROCESTEER_TRIAL" "$dir/other" &&
		grep -q "^status 1$" "$dir/other" && sends a
}

# Both have seen that there was no fabric.
refuses_the_faster()
{
	at="netns add a-2-leaf0" meanwhile=up_beside \
		fails "fabric a-2 is up: .*ROCESTEER_TRIAL" a-2 up || return
	cat "$dir/other"
	grep -q "^status 0$" "$dir/other" && sends a-2
}

refuses_the_whole()
{
	fails "fabric a is up: .*ROCESTEER_TRIAL" a up && sends a
}

leaves_the_other()
{
	trial a down && are "${others[@]}" && sends a-2
}

end()
{
	kill "$PPID"
}

# The namespace that is being made is removed as well.
is_ended()
{
	at="netns add a-spine2" meanwhile=end trial a up
	(($? == 1)) && are "${others[@]}"
}

end_at_once()
{
	kill -KILL "$PPID"
	exit
}

is_killed()
{
	local verb

	at="netns add a-spine2" meanwhile=end_at_once trial a up
	(($? == 128 + 9)) || return
	for verb in up send "rocesteer job list"; do
		# shellcheck disable=SC2086 # words
		fails "fabric a is half made: .*demo/trial down" a $verb || return
	done
	are a-{leaf{0,1},spine{0,1}} "${others[@]}"
}

# The first namespace was removed by hand.
half_is_removed()
{
	ip netns del a-leaf0 && fails "fabric a is half made" a up &&
		trial a down && are "${others[@]}" && trial a down
}

down_is_killed()
{
	at="netns del a-2-h1" meanwhile=end_at_once trial a-2 down
	(($? == 128 + 9)) && fails "fabric a-2 is half made" a-2 send && trial a-2 down && are
}

is_missed()
{
	fails "no fabric a: demo/trial up" a send &&
		fails "no fabric a: demo/trial up" a rocesteer job list
}

bad_names()
{
	local name

	for name in a/b .. 'a b' a. -a a- '*' $'a\nb'; do
		fails "ROCESTEER_TRIAL is" "$name" up && are || return
	done
}

others=(a-2-{leaf{0,1},spine{0..3},h{0..3}})
export -f up_beside end end_at_once

ktap_plan 10
defer trial a down
defer trial a-2 down
check "up refuses a fabric that another makes, and leaves it whole" refuses_the_half
check "up refuses a fabric that another has made meanwhile" refuses_the_faster
check "up refuses a fabric that is up" refuses_the_whole
check "down leaves a fabric whose name begins like its own" leaves_the_other
check "up removes what it made when it is ended" is_ended
check "after an up that was killed all commands say so" is_killed
check "down removes half a fabric" half_is_removed
check "down removes what a down that was killed has left" down_is_killed
check "without a fabric commands say so" is_missed
check "bad names are refused" bad_names
ktap_finish
