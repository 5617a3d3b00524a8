#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cluster files: wrong ones, what stays of them, their journal, and several controllers at a time

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/slice/slices.sh

# wrong FIELD MESSAGE JSON: the file is refused, and stays as it is
wrong()
{
	cluster "$3"
	refused 2 bad-file "$file: $1: $2" alloc --gpus 1 &&
		refused 2 bad-file "$file: $1: $2" release --job a &&
		refused 2 bad-file "$file: $1: $2" list &&
		[[ ! -e $file.journal ]]
}

wrong_files()
{
	local head='"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":2'
	local job='"gpus":2,"stage":"leaf","leaves":[0],"spines":[]'
	local server='"servers":[{"leaf":0,"server":0,"gpus":2}],"links":[]'

	wrong "(root)" "is not an object" '[]' &&
		wrong "(root)" "is not an object" null &&
		wrong leaves "is missing" '{}' &&
		wrong leaves "0 is not a number from 1 to 4096" '{"leaves":0}' &&
		wrong spines "is of type string, not int" '{"leaves":2,"spines":"2"}' &&
		wrong gpus_per_server "3 does not divide gpus_per_leaf" \
			'{"leaves":2,"spines":2,"gpus_per_leaf":4,"gpus_per_server":3}' &&
		wrong free_gpus "needs an entry for each leaf: 2, not 1" \
			"{$head,\"free_gpus\":[[2]]}" &&
		wrong "free_gpus[1]" "is not a list of 1 numbers" \
			"{$head,\"free_gpus\":[[2],[2,2]]}" &&
		wrong "free_gpus[1][0]" "is not a number from 0 to 2" \
			"{$head,\"free_gpus\":[[2],[3]]}" &&
		wrong "free_links[0][1]" "is not a number from 0 to 1" \
			"{$head,\"free_links\":[[1,-1],[1,1]]}" &&
		wrong "free_gpus[0][0]" "1 free GPUs and 2 of jobs are more than 2" \
			"{$head,\"free_gpus\":[[1],[2]],\"jobs\":{\"a\":{$job,$server}}}" &&
		wrong nodes "is not an array of 2" "{$head,\"nodes\":[]}" &&
		wrong "nodes[1]" "is not an array of 1" "{$head,\"nodes\":[[\"a\"],\"b\"]}" &&
		wrong "nodes[1][0]" "nodes[0][0] has the same name" \
			"{$head,\"nodes\":[[\"a\"],[\"a\"]]}" &&
		wrong "nodes[0][0]" "is not the name of a node" \
			"{$head,\"nodes\":[[\"a,b\"],[null]]}" &&
		wrong "nodes[1][0]" "is not the name of a node" \
			"{$head,\"nodes\":[[null],[7]]}" &&
		wrong routers "two spines have the router 10.0.0.1" \
			"{$head,\"routers\":[\"10.0.0.1\",\"10.0.0.1\"]}" &&
		wrong "routers[1]" "two spines have the router 10.0.0.1" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"],
				[\"10.0.0.1\",\"10.0.0.1\"]]}" &&
		wrong routers "is not an array of 2" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"]]}" &&
		wrong "routers[1]" "is not an array of 2 addresses" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"],\"10.0.0.1\"]}" &&
		wrong jobs "is of type array, not object" "{$head,\"jobs\":[]}" &&
		wrong "jobs.a.stage" "'foo' is not one of server, leaf, vclos, ocs" \
			"{$head,\"jobs\":{\"a\":{\"stage\":\"foo\"}}}" &&
		wrong "jobs.a b" "is not the name of a job" "{$head,\"jobs\":{\"a b\":{}}}" &&
		wrong jobs.a.servers "is missing" "{$head,\"jobs\":{\"a\":{$job}}}" &&
		wrong "jobs.b.servers[0].gpus" "jobs own more than the server's 2" \
			"{$head,\"jobs\":{\"a\":{$job,$server},\"b\":{$job,$server}}}" &&
		wrong "jobs.a.links[2]" "is owned more than once" \
			"{$head,\"jobs\":{\"a\":{$job,${server%?}[0,1],[1,1],[0,1]]}}}" &&
		wrong "jobs.a.links[0]" "is not a pair of numbers up to 1 and 1" \
			"{$head,\"jobs\":{\"a\":{$job,${server%?}[0,2]]}}}" &&
		wrong "jobs.a.since" "is of type array, not string" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"since\":[null]}}}" &&
		wrong "jobs.a.submitted" "is not an RFC 3339 time" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"submitted\":\"now\"}}}" &&
		wrong "jobs.a.objective" "is of type null, not int" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"objective\":null}}}" &&
		wrong "failed.servers[0]" "is not a pair of numbers up to 1 and 0" \
			"{$head,\"failed\":{\"servers\":[[0,1]]}}" &&
		wrong "drained.leaves[1]" "is not a number from 0 to 1" \
			"{$head,\"drained\":{\"leaves\":[0,2]}}" &&
		wrong generation "is of type double, not int" "{$head,\"generation\":1.5}"
}

# disagrees FIELD MESSAGE FILTER: a job edited so is refused, in a cluster file and alone
disagrees()
{
	wrong "jobs.a.$1" "$2" "$(jq ".jobs.a |= ($3)" "$dir/right.json")" &&
		jq ".jobs.a | $3" "$dir/right.json" >"$dir/slice.json" &&
		timeout 60 "$rocesteer" --json slice check --pattern ring \
			--slice "$dir/slice.json" |
		jq -e --arg message "$dir/slice.json: $1: $2" \
			'.error.message | startswith($message)'
}

jobs_agree_with_themselves()
{
	small
	slice alloc --gpus 8 --job a >"$dir/out" || return
	cp "$file" "$dir/right.json"
	disagrees leaves "is missing" 'del(.leaves)' &&
		disagrees leaves "has 1 entries, for servers under 2 leaves" '.leaves = [0]' &&
		disagrees "leaves[0]" "is not 0, the leaf of the servers" '.leaves = [2, 3]' &&
		disagrees "spines[1]" "2 follows 3: spines ascend" '.spines = [3, 2, 1, 0]' &&
		disagrees "spines[1]" "is not a number from 0 to" '.spines[1] = 1024' &&
		disagrees "lane_links[0]" \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1]' &&
		disagrees spines \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1] | del(.lane_links)' &&
		disagrees spines "is empty, over 2 leaves" '.spines = [] | .links = []' &&
		disagrees lane_links "has 1 entries, for servers under 2 leaves" \
			'.lane_links = [1]' &&
		disagrees lane_links "has 3 entries, for servers under 2 leaves" \
			'.lane_links = [1, 1, 1]' &&
		disagrees lane_links "is of type null, not array" '.lane_links = null' &&
		disagrees "lane_links[1]" "is not a number from 1 to 256" \
			'.lane_links = [1, 0]' &&
		disagrees "lane_links[0]" "is not a number from 1 to 256" \
			'.lane_links = [257, 1]' &&
		disagrees "lane_links[1]" \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1] | .lane_links = [2, 1] | .links = []' &&
		disagrees links "has 8 entries, for 2 leaves and 4 spines 12 are needed" \
			'.lane_links = [2, 1]' &&
		disagrees "links[1]" "is not [0,0], as leaves and spines say" \
			'.spines = [0, 1] | .lane_links = [2, 2]' &&
		disagrees links "has 0 entries, for 2 leaves and 4 spines" '.links = []' &&
		disagrees "links[5]" "is not [1,1], as leaves and spines say" \
			'.links[5] = [2, 2]' &&
		disagrees "servers[2].leaf" "1 is not a number from 2 to" \
			'.servers[1].leaf = 2 | .leaves = [0, 1, 2]' &&
		disagrees gpus "7 is not the 8 of the servers" '.gpus = 7' &&
		disagrees spines "is not empty, under one leaf" \
			'.leaves = [0] | .servers |= .[:2] | .gpus = 4' &&
		wrong jobs.a.stage "'leaf' is not that of 2 leaves" \
			"$(jq '.jobs.a.stage = "leaf"' "$dir/right.json")"
}

no_file()
{
	local json

	json=$("$rocesteer" --json slice list --cluster "$dir/nowhere")
	(($? == 2)) && jq -e '.error.code == "no-file"' <<<"$json" &&
		echo '{"leaves":' >"$file" &&
		refused 2 bad-file "is not JSON" alloc --gpus 1 &&
		echo "{'leaves':4}" >"$file" &&
		refused 2 bad-file "line 1: is not JSON: names need double quotes" list &&
		printf '{"leaves":4,"spines":1,\n "leaves" :2}' >"$file" &&
		refused 2 bad-file 'line 2: the field "leaves" is there twice' list &&
		cluster '{"a":{"a":"\\","b":1},"b":[{"a":1},{"a":"it'"'"'s","b":"a"}],
			"leaves":1,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1}' &&
		slice list
}

# Fields of a later version stay, and so does the order of fields.
keeps_the_unknown()
{
	cluster '{"site":"a \"b\"","leaves":1,"spines":1,"gpus_per_leaf":2,
		"gpus_per_server":1,"racks":[[1,2],{"x":null}],"z":{"é":[]}}'
	chmod 640 "$file" &&
		slice alloc --gpus 1 >"$dir/out" &&
		jq -e '.site == "a \"b\"" and .racks == [[1, 2], {x: null}] and
			.z == {"é": []} and (keys_unsorted[:2]) ==
			["site", "leaves"]' "$file" &&
		[[ $(stat -c %a "$file") == 640 ]]
}

# Misspelt fields are reported with --json as well. All fields of the schema are known.
tells_of_the_unknown()
{
	local head='"leaves":2,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1'
	local says="is not a known field: it has no effect"

	cluster "{$head,\"failled\":{},\"failed\":{\"leafs\":[0]},
		\"drained\":{\"leaves\":[1]}}"
	slice alloc --gpus 1 >"$dir/out" 2>"$dir/said"
	cat "$dir/said"
	[[ $(<"$dir/said") == "rocesteer: $file: failled: $says
rocesteer: $file: failed.leafs: $says" ]] &&
		cluster "$(jq '(.properties | map_values(null)) + {failed:
			(.definitions.parts.properties | map_values(null))}' \
			Documentation/cluster.schema.json)" &&
		! slice list >"$dir/out" 2>"$dir/said" &&
		jq -e '.error.code == "bad-file"' "$dir/out" &&
		[[ ! -s $dir/said ]]
}

# The command, the schema and the text of the file have the same limits.
limits_agree()
{
	local head='{"leaves":2,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1,"oxcs":1}'
	local field most

	for field in leaves spines gpus_per_leaf links_per_pair parallel_links oxcs \
		     spine_ports; do
		most=$(jq ".properties.$field.maximum" Documentation/cluster.schema.json)
		cluster "$(jq ".$field = 0" <<<"$head")"
		refused 2 bad-file "$field: 0 is not a number from 1 to $most" list &&
			grep -A2 "^\`\`.*$field\`\`" Documentation/formats.rst |
			grep "1 to $most\b" || return
	done
}

# as_someone ARGUMENT...: run slice as user "nobody"
as_someone()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups timeout 60 \
		"$dir/rocesteer" slice "$@" --cluster "$file"
}

keeps_the_owner()
{
	if ((EUID)); then
		echo "not root"
		return
	fi
	small
	cp "$rocesteer" "$dir/rocesteer" && chmod 777 "$dir" &&
		chown 65534:1 "$file" && chmod 640 "$file" &&
		slice alloc --gpus 1 --job a >"$dir/out" &&
		[[ $(stat -c '%u:%g %a' "$file"{,.journal} | uniq -c) == *" 2 65534:1 640" ]] &&
		[[ $(stat -c '%u:%g %a' "$file.lock") == "65534:1 600" ]] &&
		as_someone release --job a &&
		[[ $(stat -c '%u %a' "$file") == "65534 640" ]] &&
		chown 0:65534 "$file" && chmod 664 "$file" && rm "$file".* &&
		slice alloc --gpus 1 --job b >"$dir/out" &&
		as_someone release --job b &&
		[[ $(stat -c '%u:%g %a' "$file") == "65534:65534 664" ]]
}

# A user who may not write the directory cannot lock, and root is not the way out.
needs_no_root()
{
	if ((EUID)); then
		echo "not root"
		return
	fi
	small
	rm -f "$file.lock"
	chmod 755 "$dir" && chown 65534 "$file" &&
		as_someone alloc --gpus 1 >"$dir/out" 2>&1
	(($? == 1)) && cat "$dir/out" &&
		grep -q "lock: Permission denied" "$dir/out" &&
		grep -q "Root is not needed" "$dir/out" &&
		! grep -q "as root" "$dir/out"
}

follows_links()
{
	small
	mkdir -p "$dir/elsewhere"
	ln -sf "$file" "$dir/elsewhere/link.json"
	timeout 60 "$rocesteer" slice alloc --gpus 1 --cluster "$dir/elsewhere/link.json" &&
		[[ -L $dir/elsewhere/link.json ]] &&
		jq -e '.jobs | length == 1' "$file" &&
		[[ $(ls "$dir/elsewhere") == link.json ]]
}

mends_the_journal()
{
	small
	slice alloc --gpus 1 --job a >"$dir/out"
	echo '{"generation":2,"decision":"alloc","job":"b","gpus":1}' >>"$file.journal"
	printf '{"generation":3,"dec' >>"$file.journal"
	slice alloc --gpus 1 --job c >"$dir/out" &&
		jq -s -e 'map([.generation, .decision]) == [[1, "alloc"],
			[2, "alloc"], [2, "void"], [2, "alloc"]]' \
			"$file.journal" &&
		file_is_right
}

# Jobs that the journal gave servers are not in the file of a backup.
older_than_the_journal()
{
	small
	cp "$file" "$dir/backup" &&
		slice alloc --gpus 1 --job a >"$dir/out" && slice alloc --gpus 1 >"$dir/out" || return
	cp "$file.journal" "$dir/journal" && cp "$dir/backup" "$file"
	refused 2 journal-ahead "$file: generation: is 0, but $file.journal ends with 2" \
		alloc --gpus 1 && refused 2 journal-ahead "" release --job a &&
		refused 2 journal-ahead "" mark --as failed --spines 0 &&
		refused 2 journal-ahead "" submit --gpus 1 &&
		refused 2 journal-ahead "" queue --start &&
		cmp "$dir/journal" "$file.journal" && slice list | jq -e '.generation == 0' &&
		rm "$file.journal" && slice alloc --gpus 1 | jq -e '.job == "1"'
}

# A second name would keep the old file, and a lock of its own.
one_name()
{
	small
	ln "$file" "$dir/name"
	refused 2 bad-file "$file: has 2 names (hard links)" alloc --gpus 1 &&
		rm "$dir/name" && slice alloc --gpus 1 >"$dir/out" &&
		ROCESTEER_LOCK_WAIT='' slice alloc --gpus 1 >"$dir/out"
}

long_lines()
{
	local many

	many=$(printf ',0/0%.0s' {1..30000})
	small
	slice mark --as failed --links "${many:1}" --servers "${many:1}" |
		jq -e '.changed == 2' &&
		(($(wc -c <"$file.journal") > 300000)) &&
		head -c -2 "$file.journal" | sed 's/n":1/n":2/' >"$dir/torn" &&
		cat "$dir/torn" >>"$file.journal" &&
		slice alloc --gpus 1 --job a | jq -e '.leaves == [0]' &&
		jq -s -e 'map([.generation, .decision]) ==
			[[1, "mark"], [2, "alloc"]]' "$file.journal" &&
		file_is_right
}

full_disk()
{
	local before status

	if ((EUID)) || ! unshare --mount true; then
		echo "not root, or no mount namespaces"
		return
	fi
	small
	mkdir -p "$dir/full"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount bash -c 'mount -t tmpfs -o size=64k tmpfs "$1" &&
		cp "$2" "$1/cluster.json" && cd "$1" &&
		"$3" slice alloc --gpus 1 --job a --cluster cluster.json &&
		cp cluster.json before && dd if=/dev/zero of=fill bs=1k
		! "$3" slice alloc --gpus 1 --job b --cluster cluster.json &&
		cmp cluster.json before && rm fill &&
		"$3" slice alloc --gpus 1 --job b --cluster cluster.json &&
		"$4" verify cluster.json' - "$dir/full" "$file" \
		"$(realpath "$rocesteer")" "$(realpath "$slices")"
}

someone_waits()
{
	grep -s "waiting for $file.lock, which .* has locked" "$dir/said"
}

waits_for_the_lock()
{
	local lock pid

	small
	: >"$file.lock"
	exec {lock}<"$file.lock"
	flock "$lock" || return
	slice alloc --gpus 1 --job a >"$dir/out" 2>"$dir/said" {lock}<&- &
	pid=$!
	busywait 10000 someone_waits &&
		slice list | jq -e '.jobs == []' &&
		jq -e 'has("jobs") | not' "$file" &&
		exec {lock}<&- &&
		wait "$pid" &&
		jq -e '.jobs | has("a")' "$file"
}

# The command ends with its own status, and changes nothing.
waits_no_longer()
{
	local who="process $holder (sleep) has $file.lock locked"

	ROCESTEER_LOCK_WAIT=0 refused 4 locked "$who" alloc --gpus 1 --job b &&
		[[ $(jq -r .error.message "$dir/json") == "$who" ]]
}

# locked_by_nobody MODE-OF-FILE MODE-OF-LOCK: user "nobody" cannot lock it
locked_by_nobody()
{
	rm -f "$file.lock"
	chmod "$1" "$file" && chmod 755 "$dir" &&
		slice alloc --gpus 1 >"$dir/out" &&
		[[ $(stat -c %a "$file.lock") == "$2" ]] &&
		! setpriv --reuid=65534 --regid=65534 --clear-groups flock -n "$file.lock" true
}

not_for_strangers()
{
	small
	locked_by_nobody 644 600 && locked_by_nobody 664 660 &&
		chmod 644 "$file.lock" && slice alloc --gpus 1 >"$dir/out" &&
		[[ $(stat -c %a "$file.lock") == 640 ]] &&
		locked_by_nobody 600 600
}

another_place()
{
	slice alloc --gpus 1 >"$dir/out" && jq -e '.stage == "server"' "$dir/out"
}

not_for_readers()
{
	local all

	cluster '{"leaves":1,"spines":1,"gpus_per_leaf":400,"gpus_per_server":1}'
	all=$(printf ',0/%d' {0..199})
	unread another_place "$rocesteer" --json slice alloc --gpus 200 \
		--job a --cluster "$file" &&
		unread another_place "$rocesteer" --json slice alloc \
			--servers "${all:1}" --job a --cluster "$file" &&
		file_is_right
}

# Leaves lose different numbers of servers, so jobs are uneven.
kill_nine()
{
	cluster '{"leaves":4,"spines":6,"gpus_per_leaf":6,"gpus_per_server":1,
		"drained":{"servers":[[1,0],[1,1],[1,2],[2,5],[3,0],[3,1]]}}'
	mkdir "$dir/kill" &&
		cp "$file" "$dir/kill/" &&
		ROCESTEER=$rocesteer timeout 300 "$slices" kill \
			"$dir/kill/cluster.json" "$(few 50 200)"
}

schema()
{
	small
	slice alloc --gpus 8 --job train >"$dir/out" &&
		slice alloc --gpus 3 >"$dir/out" && slice alloc --gpus 1 >"$dir/out" &&
		slice mark --as failed --leaves 2 --links 0/3 --servers 1/1 &&
		"$slices" schema "$file" '{"leaves": 0}' '{"free_gpus": [1]}' '{"jobs": []}' \
			'{"nodes": [["a,b"]]}' '{"routers": [1]}' '{"failed": {"leaves": [-1]}}' \
			'{"parallel_links": 0}' \
			"$(jq '{jobs: {a: (.jobs.train + {lane_links: [0]})}}' "$file")" &&
		with routers '[["10.0.0.1"]]' && "$slices" schema "$file"
}

ktap_plan 20
check "a wrong file is refused by file and field" wrong_files
check "a job that disagrees with itself is refused" jobs_agree_with_themselves
check "a missing file and a file without JSON are refused" no_file
check "unknown fields and the file's mode stay" keeps_the_unknown
check "unknown fields are reported" tells_of_the_unknown
check "owner, group and mode of the file stay, whoever writes it" keeps_the_owner
check "a user who may not write the file is told that root is not needed" needs_no_root
check "a file behind a symbolic link is replaced there" follows_links
check "a journal with a cut line and a decision that was not taken is repaired" mends_the_journal
check "a journal may have long lines" long_lines
check "a file that is older than its journal is refused" older_than_the_journal
check "a file with two names is refused, and an empty limit of waiting is none" one_name
check "a full disk leaves the file as it was" full_disk
check "a controller waits for the lock of another, a reader does not" waits_for_the_lock
small
slice alloc --gpus 1 --job a >"$dir/out"
check "slice waits for the lock up to the limit, and names its holder" \
	while_locked "$file.lock" waits_no_longer
check "a user who may not write the file cannot lock it" not_for_strangers
check "a controller does not wait for another user's reader" not_for_readers
check "the file stays whole when commands of four processes are killed" kill_nine
check "cluster files fit the schema" schema
check "the command, the schema and formats.rst have the same limits" limits_agree
ktap_finish
