#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Metrics of a host in a fabric of Linux routers: they are what the other commands say, their
# counters never fall, and Prometheus reads them by way of node_exporter and raises the alerts
# that are shipped.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
textfiles=$dir/textfiles
prom=$textfiles/rocesteer.prom
most_ms=50	# of a scrape with 10,000 flows

ready()
{
	mkdir "$textfiles" && fabric_create 4 && defer fabric_destroy &&
		on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1,10.1.1.2 --out "$map" &&
		load
}

load()
{
	on_h0 "$rocesteer" job load --job 7 --name 'a "job"' --all --port-map "$map" --no-verify
}

metrics()
{
	on_h0 "$rocesteer" stat --openmetrics
}

scrape()
{
	on_h0 "$rocesteer" stat --openmetrics --out "$prom"
}

# read_metrics <METRICS: an array of {name, labels, value}. No label here has a brace in it.
read_metrics()
{
	grep -v '^#' | jq -R 'capture("^(?<name>[a-z_]+)(\\{(?<labels>.*)\\})? (?<value>[0-9.]+)$") |
		{name, value: (.value | tonumber),
		 labels: ([.labels // "" | scan("([a-z_]+)=(\"(?:[^\"\\\\]|\\\\.)*\")") |
			{(.[0]): (.[1] | fromjson)}] | add)}' | jq -s .
}

# A host without programs and module has metrics, too.
lint()
{
	promtool check metrics <<<"$("$rocesteer" stat --openmetrics)" &&
		promtool check metrics <<<"$(metrics)"
}

# by_path NAME: the values of a metric, by path, but for the unknown one
by_path()
{
	jq -c --arg name "$1" '[.[] | select(.name == $name and .labels.path != "unknown")] |
		sort_by(.labels.path) | map(.value)' "$dir/metrics"
}

# value NAME LABELS: of one sample
value()
{
	jq --arg name "$1" --argjson labels "$2" '.[] | select(.name == $name and
		(.labels // {} | contains($labels))) | .value' "$dir/metrics"
}

# same WHAT A B
same()
{
	[[ $2 == "$3" ]] || { echo "$1: $2, but $3"; return 1; }
}

# sent KEY: of the paths, as flows have it
sent()
{
	jq -c --arg key "$1" '[.flows[].sent[]] | [range(4) as $p |
		[.[] | select(.path == $p) | .[$key]] | add // 0]' "$dir/flows"
}

# Metrics and counters of the same moment: the kernel sends packets of its own now and then.
read_both()
{
	on_h0 "$rocesteer" --json stat >"$dir/before"
	metrics | read_metrics >"$dir/metrics"
	on_h0 "$rocesteer" --json stat >"$dir/stat"
	cmp -s "$dir/before" "$dir/stat"
}

equal()
{
	local key

	fabric_send h0 10.1.1.1 "$(seq -s , 17 33)" "$(seq -s , 0 19)" &&
		busywait 10000 read_both || return
	on_h0 "$rocesteer" --json flow show >"$dir/flows"
	on_h0 "$rocesteer" --json top --count 1 --interval 10 >"$dir/top"
	for key in bytes packets rounds; do
		same "$key" "$(by_path "rocesteer_path_${key}_total")" "$(sent "$key")" || return
	done
	same flows "$(by_path rocesteer_flows)" "$(jq -c '[.groups[].paths[].flows]' "$dir/top")" &&
		same pieces "$(by_path rocesteer_path_pieces)" \
			"$(jq -c '[.groups[].paths[].pieces]' "$dir/top")" &&
		same up "$(by_path rocesteer_path_up)" \
			"$(jq -c '[.groups[].paths[].state | if . == "up" then 1 else 0 end]' \
				"$dir/top")" &&
		same entries "$(value rocesteer_flow_table_entries '{}')" \
			"$(jq '.flows | length' "$dir/flows")" &&
		same verdicts "$(jq -cS '[.[] | select(.name == "rocesteer_packets_total") |
				{(.labels.verdict): .value}] | add' "$dir/metrics")" \
			"$(jq -cS '.verdicts + .observed' "$dir/stat")" &&
		same imbalance "$(value rocesteer_imbalance_ratio '{}')" \
			"$(sent bytes | jq 'max / (add / length) * 100 | floor / 100')" &&
		same job "$(value rocesteer_job_info '{"name": "a \"job\"", "device": "eth0",
			"job_id": "7", "steering": "on"}')" 1
}

# totals: of all paths, and of flows whose path is not known
totals()
{
	metrics | read_metrics >"$dir/metrics"
	jq -c '[.[] | select(.name | test("^rocesteer_path_(bytes|packets)_total$")) |
		.value]' "$dir/metrics"
}

# The flows are forgotten, and begin anew with their next packet.
never_fall()
{
	local before

	before=$(totals)
	on_h0 "$rocesteer" --json job steer off --job 7 | jq -e '.changed == 17' &&
		same total "$(totals)" "$before" &&
		same flows "$(value rocesteer_flow_table_entries '{}')" 0 &&
		fabric_send h0 10.1.1.1 17,18 0 && same total "$(totals)" "$before" &&
		same observed "$(value rocesteer_observed_flows '{}')" 2 &&
		same unknown "$(value rocesteer_flows '{"path": "unknown"}')" 2 &&
		same 'unknown bytes' "$(value rocesteer_unknown_path_bytes '{}')" 660 &&
		on_h0 "$rocesteer" job steer on --job 7 && totals &&
		same 'ended unknown' "$(value rocesteer_path_bytes_total '{"path": "unknown"}')" 660 &&
		same 'unknown bytes' "$(value rocesteer_unknown_path_bytes '{}')" 0 &&
		fabric_send h0 10.1.1.1 17,18 1 && totals &&
		same 'all bytes' "$(jq '[.[] | select(.name == "rocesteer_path_bytes_total") |
			.value] | add' "$dir/metrics")" $((330 * (17 * 20 + 4)))
}

# Nothing appears or disappears while flows end all the time, and packets are counted.
never_tear()
{
	local round last=0 now fallen=0 sender

	(
		for ((round = 0; round < 8; round++)); do
			fabric_send h0 10.1.1.2 "$(seq -s , 1 400)" "$round"
			on_h0 "$rocesteer" job steer "$( ((round % 2)) && echo on || echo off)" --job 7
		done >/dev/null
	) &
	sender=$!
	while kill -0 "$sender" 2>/dev/null; do
		now=$(metrics | awk '/^rocesteer_path_packets_total.*router/ { n += $2 } END { print n }')
		((now >= last)) || { echo "$last, then $now"; fallen=1; }
		last=$now
	done
	wait "$sender"
	((!fallen && last > 0))
}

replaces_file()
{
	local inode

	(umask 077 && scrape) && inode=$(stat -c %i "$prom") && scrape &&
		[[ $(stat -c '%a %i' "$prom") == "644 "* && $(stat -c %i "$prom") != "$inode" ]] &&
		[[ $(ls "$textfiles") == rocesteer.prom ]] && promtool check metrics <"$prom"
}

# refused CODE STATUS ARGUMENT...
refused()
{
	fails "$2" "$1" '' on_h0 "$rocesteer" --json "${@:3}"
}

refuses()
{
	refused usage 2 stat --openmetrics && refused usage 2 stat --out "$prom" &&
		! on_h0 "$rocesteer" stat --openmetrics --out "$dir/none/x.prom" &&
		cp "$map" "$dir/kept" &&
		! on_h0 "$rocesteer" stat --openmetrics --out "$map" && cmp "$dir/kept" "$map"
}

# Rules and dashboard ask for metrics that there are; the manual page has all.
names()
{
	local page=Documentation/man/rocesteer-stat.8.rst name absent=''

	jq -r '.panels[].targets[].expr' packaging/grafana/rocesteer.json >"$dir/asked" &&
		grep -v '^ *#' packaging/prometheus/rocesteer.rules.yml >>"$dir/asked" || return
	metrics | awk '/^# TYPE/ { print $3 }' >"$dir/names"
	for name in $(<"$dir/names"); do
		grep -qw "$name" "$page" || absent+=" $name"
	done
	while read -r name; do
		# The module is not here.
		if [[ $name == rocesteer_module_* ]]; then
			grep -qE "\b${name%_bucket}\b" "$page" || absent+=" $name"
		else
			grep -qx "$name" "$dir/names" || absent+=" $name"
		fi
	done < <(grep -oE '\brocesteer_[a-z_]+' "$dir/asked" | sort -u)
	echo "$absent"
	[[ ! $absent ]]
}

rules()
{
	promtool check rules packaging/prometheus/rocesteer.rules.yml &&
		promtool test rules selftests/host/report/rocesteer.rules.test.yml
}

# CPU time of the whole command in milliseconds, the middle one of eleven: another process may
# have the CPU, and the disk takes its time
scrape_ms()
{
	local i TIMEFORMAT='%U %S'

	for ((i = 0; i < 11; i++)); do
		{ time on h0 "$rocesteer" stat --openmetrics --out "$prom"; } 2>&1
	done | awk '{ print ($1 + $2) * 1000 }' | sort -n | sed -n 6p
}

fast()
{
	local ms

	fabric_send h0 10.1.1.1 "$(seq -s , 1001 11000)" 0 && totals >"$dir/totals" &&
		(($(value rocesteer_flow_table_entries '{}') >= 10000)) || return
	ms=$(scrape_ms)
	echo "a scrape with $(value rocesteer_flow_table_entries '{}') flows takes $ms ms"
	((ms <= most_ms * TIME_SCALE))
}

# CPU time of the daemon in 10 s, in the units of /proc, a hundredth of a second
idle()
{
	local before after

	daemon_start && sleep 3	# for the first look at all flows
	before=$(awk '{ print $14 + $15 + $16 + $17 }' "/proc/$daemon/stat")
	sleep 10
	after=$(awk '{ print $14 + $15 + $16 + $17 }' "/proc/$daemon/stat")
	daemon_stop
	echo "in 10 s the daemon takes $((after - before)) hundredths of a second"
	((after - before <= 10 * TIME_SCALE))
}

# ask PATH: of Prometheus
ask()
{
	curl -s --max-time 5 "http://127.0.0.1:9090/api/v1/$1"
}

# result QUERY: how many samples it has
result()
{
	curl -s --max-time 5 --get --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query |
		jq -se 'any(.[]; .data.result | length > 0)' >/dev/null 2>&1
}

# The ports are those of this network namespace.
prometheus_starts()
{
	cat >"$dir/prometheus.yml" <<-YML
	global:
	  scrape_interval: 1s
	  evaluation_interval: 1s
	rule_files: [$PWD/packaging/prometheus/rocesteer.rules.yml]
	scrape_configs:
	- job_name: node
	  static_configs:
	  - targets: ['127.0.0.1:9100']
	YML
	ip link set lo up &&
		{ prometheus-node-exporter --web.listen-address=127.0.0.1:9100 \
			--collector.disable-defaults --collector.textfile \
			--collector.textfile.directory="$textfiles" 2>"$dir/exporter.log" & } &&
		defer kill $! &&
		{ prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
			--web.listen-address=127.0.0.1:9090 2>"$dir/prometheus.log" & } &&
		defer kill $! && scrape && busywait 20000 result 'rocesteer_job_served == 1' &&
		result 'rocesteer_path_bytes_total{job="node", job_id="7", device="eth0", path="3"}' &&
		! result 'node_textfile_scrape_error == 1' &&
		ask rules | jq -e '[.data.groups[].rules[]] | length == 9 and all(.health != "err")'
}

# fires ALERT
fires()
{
	ask alerts | jq -se --arg name "$1" 'any(.[].data.alerts[];
		.labels.alertname == $name and .state == "firing")' >/dev/null
}

# Some flows repeat a packet twice, until the daemon has probed their path.
is_down()
{
	psn=$((psn + 1))
	fabric_send h0 10.1.1.1 "$(seq -s , 1001 1016)" "$psn,$psn,$psn"
	on_h0 "$rocesteer" --json top --count 1 --interval 10 |
		jq -e '[.groups[].paths[] | select(.state == "down")] | length == 1' >/dev/null
}

# A spine forwards nothing: the daemon takes its path out of use.
path_fails()
{
	local psn=10

	daemon_start &&
		ip -n "${prefix}spine2" rule add pref 1 blackhole && busywait 20000 is_down && scrape
	local status=$?
	daemon_stop
	return "$status"
}

# Nothing attaches the programs again. Both alerts wait for half a minute.
alerts_fire()
{
	path_fails && ip -n "${prefix}h0" link del eth0 && scrape &&
		busywait 60000 fires RocesteerPathDown &&
		busywait 60000 fires RocesteerJobNotServed && ! fires RocesteerMetricsStale
}

check "a fabric and a job are made" ready
check "promtool finds no fault in the metrics" lint
check "metrics are what stat, top and flow show say" equal
check "no counter falls when flows end, and what unknown paths carried is counted apart" never_fall
check "no counter falls while flows end" never_tear
check "a file is replaced as a whole, for all to read" replaces_file
check "requests that make no sense are refused with a reason" refuses
check "rules and dashboard ask for metrics that there are, and the manual page has all" names
check "alert rules hold for the series of their tests" rules
check "a scrape with 10,000 flows takes $most_ms ms at most" fast
check "a daemon with 10,000 flows that send nothing takes 1 % of a CPU at most" idle
check "Prometheus reads the metrics through node_exporter, and the rules" prometheus_starts
check "alerts fire when a path is down and the device of a job is gone" alerts_fire
on_h0 "$rocesteer" job unload --all >/dev/null
ktap_finish
