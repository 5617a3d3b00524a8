#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice with optical circuits: moved circuits, the driver, and failures. test_ocs.c
# has places in random fabrics.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/slice/slices.sh
export OCS_TEST=$dir

# wiring JSON: write a cluster file, and the circuits that the driver finds
wiring()
{
	rm -f "$dir/requests"
	cluster "$1" && slice list >"$dir/out" &&
		jq -c .circuits "$file" >"$dir/wiring"
}

# A driver that records requests and circuits. With OCS_FAIL it fails after so many ports, and
# carries out the next request.
cat >"$dir/driver" <<'E2'
#!/bin/bash
request=$(cat)
echo "$request" >>"$OCS_TEST/requests"
echo "a word on standard output"
most=${OCS_FAIL:-99999}
(($(wc -l <"$OCS_TEST/requests") == 1)) || most=99999
jq -c --argjson most "$most" '.[0].changes[:$most] as $changes |
	reduce $changes[] as $c (.[1]; .[$c.leaf][$c.oxc] = $c.to)' \
	-s - "$OCS_TEST/wiring" <<<"$request" >"$OCS_TEST/new" &&
	mv "$OCS_TEST/new" "$OCS_TEST/wiring"
((most == 99999)) || exit 7
E2
chmod +x "$dir/driver"

# Each leaf has both circuits to one spine, and no two leaves have one in common.
torn()
{
	wiring '{"leaves":3,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"circuits":[[0,0],[1,1],[1,0]]}'
}

# The file has the circuits of the driver.
wired_as_said()
{
	diff <(jq -c .circuits "$file") "$dir/wiring"
}

defaults()
{
	wiring '{"leaves":4,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2}'
	slice alloc --gpus 4 --job a | jq -e '.stage == "vclos" and
		.links == [[0, 0], [0, 1], [1, 0], [1, 1]] and
		.oxcs == [0, 1, 1, 0]' &&
		jq -e '.circuits == [[0, 1], [1, 0], [0, 1], [1, 0]] and
			(has("free_links") | not)' "$file" &&
		slice list | jq -e '.links == 8 and .usable_links == 4' &&
		slice release --job a | jq -e '.links == 4' &&
		slice list | jq -e '.usable_links == 8'
}

moves()
{
	torn
	slice mark --as drained --leaves 2 >"$dir/out" &&
		refused 3 network "4 GPUs" alloc --gpus 4 &&
		refused 3 network "4 GPUs" alloc --gpus 4 --dry-run &&
		slice alloc --gpus 4 --ocs --dry-run |
		jq -e '.stage == "ocs" and .lane_links == [1, 1] and
			.objective == ([.changes[] | select(.from != null)] |
				length) and .objective > 0' &&
		[[ ! -e $dir/requests ]] && wired_as_said &&
		slice alloc --gpus 4 --job a --ocs --driver "$dir/driver" \
			>"$dir/out" 2>"$dir/said" &&
		jq -e '.stage == "ocs" and .leaves == [0, 1] and
			(.oxcs | length) == 4' "$dir/out" &&
		[[ $(<"$dir/said") == "a word on standard output" ]] &&
		jq -e --slurpfile out "$dir/out" '.job == "a" and
			.changes == $out[0].changes and (.cluster |
			endswith("/cluster.json"))' "$dir/requests" &&
		wired_as_said &&
		jq -s -e --slurpfile out "$dir/out" '.[-1] |
			.decision == "alloc" and
			.changes == $out[0].changes' "$file.journal" &&
		file_is_right
}

# There is no place without moved circuits, and none with the job's.
stays_away_from_jobs()
{
	wiring '{"leaves":4,"spines":2,"gpus_per_leaf":4,"gpus_per_server":1,
		"oxcs":4,"spine_ports":3,"circuits":[[0,0,1,1],[0,0,1,1],
		[1,1,1,1],[0,1,0,0]]}'
	slice mark --as drained --servers 0/2,0/3,1/2,1/3,2/2,2/3,3/2,3/3 &&
		slice mark --as drained --leaves 2,3 &&
		slice alloc --gpus 4 --job a | jq -e '.stage == "vclos"' &&
		slice mark --as usable --leaves 2,3 || return
	jq -c '[.jobs.a | .links, .oxcs]' "$file" >"$dir/before"
	slice alloc --gpus 4 --job b --ocs --driver "$dir/driver" \
		2>"$dir/said" | jq -e '.stage == "ocs" and .objective == 1 and
			.leaves == [2, 3]' &&
		jq -c '[.jobs.a | .links, .oxcs]' "$file" |
		diff - "$dir/before" &&
		jq -e '.jobs.a as $a | .circuits as $c | [range(4)] | all($c[
			$a.links[.][0]][$a.oxcs[.]] == $a.links[.][1])' \
			"$file" &&
		wired_as_said && file_is_right
}

# Leaves have two circuits each to spines 0 and 1, of which jobs have one. No other job gets
# the second circuit, and new circuits lead to spine 2.
pairs_are_not_shared()
{
	wiring '{"leaves":2,"spines":3,"gpus_per_leaf":4,"gpus_per_server":1,
		"oxcs":4,"spine_ports":2,"circuits":[[0,0,1,1],[0,0,1,1]]}'
	slice alloc --servers 0/0,1/0 --job a | jq -e '.spines == [0]' &&
		slice alloc --servers 0/1,1/1 --job b | jq -e '.spines == [1]' &&
		slice list | jq -e '.links == 8 and .usable_links == 0' &&
		slice mark --as drained --servers 0/3,1/3 >"$dir/out" &&
		refused 3 network "2 GPUs" alloc --servers 0/2,1/2 &&
		slice mark --as drained --spines 2 >"$dir/out" &&
		refused 3 network "2 GPUs" alloc --gpus 2 --ocs --dry-run &&
		slice mark --as usable --spines 2 >"$dir/out" &&
		slice alloc --gpus 2 --job c --ocs --driver "$dir/driver" \
			2>"$dir/said" | jq -e '.spines == [2] and
			.objective == 2' &&
		wired_as_said && file_is_right
}

# The file is as it was, wherever the driver stops.
driver_fails()
{
	local n before

	for n in 0 1 2; do
		torn
		slice mark --as drained --leaves 2 >"$dir/out" || return
		before=$(<"$dir/wiring")
		OCS_FAIL=$n refused 1 driver "driver: exit status 7" \
			alloc --gpus 4 --job a --ocs --driver "$dir/driver" \
			2>"$dir/said" &&
			[[ $(<"$dir/wiring") == "$before" ]] &&
			jq -s -e 'length == 2 and (.[0].changes |
				map([.leaf, .oxc, .from, .to])) ==
				(.[1].changes | map([.leaf, .oxc, .to, .from]))' \
				"$dir/requests" &&
			file_is_right || return
	done
	refused 1 driver "$dir/nothing: No such file" alloc --gpus 4 --ocs \
		--driver "$dir/nothing" && slice alloc --gpus 4 --ocs --driver "$dir/nothing" |
		jq -e '.error | has("hint") | not' && wired_as_said
}

# The driver waits until there is a file "go".
cat >"$dir/slow" <<'E2'
#!/bin/bash
echo "$$" >"$OCS_TEST/begun"
until [[ -e $OCS_TEST/go ]]; do
	read -r -t 0.02 <> <(:)
done
exec "$OCS_TEST/driver"
E2
chmod +x "$dir/slow"

# begin: start a command in the background, $pid, whose driver waits
begin()
{
	torn
	rm -f "$dir/begun" "$dir/go"
	slice mark --as drained --leaves 2 >"$dir/out" || return
	# A shell's background processes ignore SIGINT.
	env --default-signal=INT "$rocesteer" slice alloc --gpus 4 --job a --ocs \
		--cluster "$file" --driver "$dir/slow" \
		>"$dir/out" 2>"$dir/said" &
	pid=$!
	busywait 20000 test -s "$dir/begun"
}

# The command is killed while its driver moves circuits, so no other command may move any.
driver_runs_on()
{
	local pid

	begin && kill -KILL "$pid" || return
	wait "$pid"
	ROCESTEER_LOCK_WAIT=0 refused 4 locked "has $file.lock locked" \
		alloc --gpus 1 || return
	: >"$dir/go"
	slice alloc --gpus 1 >"$dir/out"
}

ends_in_time()
{
	local pid signal status

	for signal in INT TERM HUP; do
		begin && kill "-$signal" "$pid" && : >"$dir/go" || return
		wait "$pid"
		status=$?
		((status > 128)) && wired_as_said &&
			jq -e '.jobs | has("a")' "$file" || return
	done
}

driver_is_late()
{
	torn
	rm -f "$dir/go"
	slice mark --as drained --leaves 2 >"$dir/out" &&
		ROCESTEER_DRIVER_WAIT=1m refused 2 usage \
			"ROCESTEER_DRIVER_WAIT: '1m' is not a number of seconds" \
			alloc --gpus 4 --job a --ocs --driver "$dir/slow" &&
		ROCESTEER_DRIVER_WAIT=0 refused 1 driver "timed out" \
			alloc --gpus 4 --job a --ocs --driver "$dir/slow" \
			2>"$dir/said" && wired_as_said && file_is_right
}

file_fails()
{
	if ((EUID)) || ! unshare --mount true; then
		echo "not root, or no mount namespaces"
		return
	fi
	torn
	slice mark --as drained --leaves 2 >"$dir/out" || return
	mkdir -p "$dir/full"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount bash -c 'mount -t tmpfs -o size=16k tmpfs "$1" &&
		cp "$2" "$1/cluster.json" && cd "$1" &&
		cp cluster.json before && dd if=/dev/zero of=fill bs=1k
		! "$3" slice alloc --gpus 4 --job a --cluster cluster.json \
			--ocs --driver "$4" && cmp cluster.json before' - \
		"$dir/full" "$file" "$(realpath "$rocesteer")" "$dir/driver" &&
		wired_as_said && (($(wc -l <"$dir/requests") == 2))
}

sync_fails()
{
	"${CC:-cc}" -shared -fPIC -o "$dir/nosync.so" -x c - <<-'E2' || return
	#include <errno.h>
	#include <sys/stat.h>
	#include <unistd.h>

	int fsync(int fd)
	{
		struct stat st;

		if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
			return fdatasync(fd);
		errno = EIO;
		return -1;
	}
	E2
	torn
	slice mark --as drained --leaves 2 >"$dir/out" || return
	LD_PRELOAD=$dir/nosync.so slice alloc --gpus 4 --job a --ocs \
		--driver "$dir/driver" >"$dir/out" 2>"$dir/said"
	(($? == 1)) && jq -e '.error.code == "sync"' "$dir/out" &&
		(($(wc -l <"$dir/requests") == 1)) &&
		wired_as_said && jq -e '.jobs | has("a")' "$file" &&
		file_is_right
}

wires()
{
	torn
	jq -c 'map(map(null))' "$dir/wiring" >"$dir/new" &&
		mv "$dir/new" "$dir/wiring" &&
		slice wire --driver "$dir/driver" 2>"$dir/said" |
		jq -e '.ports == 6' && wired_as_said &&
		jq -e '(has("job") | not) and (.changes | length) == 6 and
			all(.changes[]; .from == null)' "$dir/requests"
}

usage()
{
	torn
	refused 2 usage "--driver COMMAND or --dry-run is missing" alloc --gpus 4 --ocs &&
		refused 2 usage "--driver COMMAND is missing" wire || return
	wiring '{"leaves":3,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1}'
	refused 2 no-ocs "oxcs: is missing" alloc --gpus 4 --ocs --dry-run &&
		refused 2 no-ocs "oxcs: is missing" wire --driver true
}

# wrong FIELD MESSAGE MORE: a file with these fields is refused
wrong()
{
	local oxcs=',"oxcs":2'

	[[ $3 != ',"oxcs":'* ]] || oxcs=''
	echo "{\"leaves\":2,\"spines\":2,\"gpus_per_leaf\":2,
		\"gpus_per_server\":1$oxcs$3}" >"$file"
	refused 2 bad-file "$file: $1: $2" alloc --gpus 1
}

wrong_files()
{
	local job='"gpus":2,"stage":"ocs","leaves":[0,1],"spines":[0],"servers":[
		{"leaf":0,"server":0,"gpus":1},{"leaf":1,"server":0,"gpus":1}],
		"links":[[0,0],[1,0]]'

	wrong oxcs "0 is not a number from 1 to 1024" ',"oxcs":0' &&
		wrong spine_ports "0 is not" ',"spine_ports":0' &&
		wrong free_links "is not for a cluster with OXCs" \
			',"free_links":[[1,1],[1,1]]' &&
		wrong circuits "needs an entry for each leaf: 2, not 1" ',"circuits":[[0,1]]' &&
		wrong "circuits[1]" "is not a list of 2 spines" \
			',"circuits":[[0,1],[0]]' &&
		wrong "circuits[0][1]" "is neither null nor a number from 0 to 1" \
			',"circuits":[[0,2],[0,1]]' &&
		wrong "circuits[1][0]" "the spine has no more than 1 ports" \
			',"circuits":[[0,1],[0,null]]' &&
		wrong jobs.a.oxcs "is missing" ",\"jobs\":{\"a\":{$job}}" &&
		wrong jobs.a.oxcs "are fewer than the links" \
			",\"jobs\":{\"a\":{$job,\"oxcs\":[]}}" &&
		wrong "jobs.a.oxcs[0]" "the circuit is not that of the link" \
			",\"jobs\":{\"a\":{$job,\"oxcs\":[1,1]}}" &&
		wrong "jobs.b.oxcs[0]" "the port is owned more than once" \
			",\"spine_ports\":2,\"circuits\":[[0,0],[0,1]],\"jobs\":{
			\"a\":{$job,\"oxcs\":[0,0]},\"b\":{${job//r\":0/r\":1},\"oxcs\":[0,0]}}"
}

# A drained spine gets no circuits, and a failed link is not used.
marks()
{
	torn
	slice mark --as drained --spines 1 >"$dir/out" &&
		slice list | jq -e '.usable_links == 3' &&
		refused 3 network "4 GPUs" alloc --gpus 4 --ocs --dry-run &&
		with parallel_links 2 &&
		slice alloc --gpus 4 --ocs --dry-run |
		jq -e '.spines == [0] and .lane_links == [2, 2] and
			([.changes[] | select(.to == 1)] == [])' &&
		slice mark --as failed --links 2/1 >"$dir/out" &&
		slice alloc --gpus 4 --ocs --dry-run |
		jq -e '.leaves == [0, 1] and .objective == 3 and
			([.changes[] | [.leaf, .oxc]] | index([2, 0]) == null)' &&
		slice mark --as failed --links 0/0 >"$dir/out" &&
		refused 3 network "4 GPUs" alloc --gpus 4 --ocs --dry-run
}

schema()
{
	torn
	slice alloc --gpus 4 --job a --ocs --driver "$dir/driver" >"$dir/out" 2>&1 &&
		"$slices" schema "$file" '{"oxcs": 0}' '{"circuits": [[-1]]}' '{"spine_ports": "2"}'
}

stays_as_it_is()
{
	wiring '{"leaves":3,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"circuits":[[0,1],[1,0],[0,1]]}'
	slice alloc --gpus 4 --job a --ocs --driver "$dir/driver" |
		jq -e '.stage == "vclos" and (has("changes") | not) and
			(.oxcs | length) == 4' &&
		[[ ! -e $dir/requests ]] && wired_as_said && file_is_right
}

# Leaves with four, three and one GPUs and dark ports; hosts tell two circuits apart.
parallel()
{
	wiring '{"leaves":3,"spines":2,"gpus_per_leaf":4,"gpus_per_server":1,
		"oxcs":4,"spine_ports":2,"parallel_links":2,
		"circuits":[[0,0,0,0],[1,1,1,1],[null,null,null,null]]}'
	slice mark --as drained --servers 1/3,2/1,2/2,2/3 >"$dir/out" &&
		refused 3 network "8 GPUs" alloc --gpus 8 &&
		slice alloc --gpus 8 --job a --ocs --driver "$dir/driver" \
			>"$dir/out" 2>"$dir/said" &&
		jq -e '.leaves == [0, 1, 2] and .spines == [0, 1] and
			.lane_links == [2, 2, 1] and (.oxcs | length) == 10 and
			.links == [[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0],
				[1, 1], [1, 1], [2, 0], [2, 1]]' "$dir/out" &&
		slice show --job a | jq -e --slurpfile out "$dir/out" \
			'.links == $out[0].links and .oxcs == $out[0].oxcs' &&
		collectives a && wired_as_said && file_is_right &&
		slice release --job a | jq -e '.links == 10' &&
		slice list | jq -e '.usable_links > 0' &&
		with parallel_links 1 &&
		refused 3 shape "8 GPUs" alloc --gpus 8 --ocs --dry-run
}

# The job has no lanes, and two circuits of each leaf lead to one spine.
before_lanes()
{
	wiring '{"leaves":2,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"generation":1,
		"jobs":{"a":{"gpus":4,"stage":"ocs","leaves":[0,1],"spines":[0,0],
			"servers":[{"leaf":0,"server":0,"gpus":1},
				{"leaf":0,"server":1,"gpus":1},
				{"leaf":1,"server":0,"gpus":1},
				{"leaf":1,"server":1,"gpus":1}],
			"links":[[0,0],[0,0],[1,0],[1,0]],"oxcs":[0,1,0,1],
			"objective":2}},
		"free_gpus":[[0,0],[0,0]],"circuits":[[0,0],[0,0]]}'
	slice list | jq -e '.usable_links == 0' &&
		slice check --job a --pattern ring | jq -e '.contended == 0' &&
		slice check --job a --pattern all-to-all |
		jq -e '.contended == 4' &&
		slice release --job a | jq -e '.links == 4' &&
		slice list | jq -e '.usable_links == 4'
}

# Leaves lose different numbers of servers, and hosts tell two circuits apart.
kill_nine()
{
	local status

	mkdir -p "$dir/kill"
	wiring '{"leaves":4,"spines":3,"gpus_per_leaf":6,"gpus_per_server":1,
		"oxcs":6,"spine_ports":2,"parallel_links":2,
		"drained":{"servers":[[1,0],[1,1],[1,2],[2,5],[3,0],[3,1]]}}'
	cp "$file" "$dir/kill/" || return
	ROCESTEER=$rocesteer timeout 400 "$slices" kill "$dir/kill/cluster.json" \
		"$(few 30 150)" "$dir/driver" "$dir/wiring" 2>"$dir/said"
	status=$?
	tail -n 20 "$dir/said"
	return "$status"
}

ktap_plan 19
check "circuits without an entry in the file are all to all" defaults
check "idle circuits are moved by the driver" moves
check "circuits of running jobs are not moved" stays_away_from_jobs
check "idle circuits that suit the job are not moved" stays_as_it_is
check "a lane has two circuits under leaves of three sizes" parallel
check "a job without lanes in the file is checked and released" before_lanes
check "no job gets a circuit parallel to another job's" pairs_are_not_shared
check "a driver that fails leaves the file as it was" driver_fails
check "a driver that runs on is waited for" driver_runs_on
check "a signal ends the command once file and circuits agree" ends_in_time
check "a driver that exceeds its time limit is ended" driver_is_late
check "circuits are moved back when the file cannot be written" file_fails
check "circuits stay moved when only the directory cannot be synced" sync_fails
check "slice wire sets all circuits" wires
check "wrong usage of --ocs and slice wire is refused" usage
check "a wrong file is refused by file and field" wrong_files
check "marked spines, leaves and circuits are not used" marks
check "cluster files with circuits fit the schema" schema
check "file and circuits agree after commands of four processes were killed" kill_nine
ktap_finish
