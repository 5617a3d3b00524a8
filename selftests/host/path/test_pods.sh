#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fat tree of pods.sh: which routers packets pass, by how leaves and aggs hash, and what is
# lost where links and routers fail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh
. selftests/host/lib/pods.sh

first=50000
across=10.1.7.3
in_pod=10.1.1.2

# probe PEER TTL PORTS [FIRST]: the routers at which probes of these ports end
probe()
{
	local source=10.1.0.1

	[[ $1 != *:* ]] || source=fd00:1::1
	on h0 selftests/net/probe.py "$source" "$1" "$2" "${4:-$first}" "$3"
}

# at PEER TTL PORTS: the routers at which they end, each once
at()
{
	probe "$@" | cut -d ' ' -f 2 | sort -uV | paste -sd ' '
}

# ends PEER TTL WANT
ends()
{
	local found

	found=$(at "$1" "$2" 64)
	echo "$1, TTL $2: $found"
	[[ $found == "$3" ]]
}

passes_all()
{
	ends "$across" 1 10.255.0.1 && ends "$across" 2 "10.255.1.1 10.255.1.2" &&
		ends "$across" 3 "10.255.2.1 10.255.2.2 10.255.2.3 10.255.2.4" &&
		ends "$across" 4 "10.255.1.7 10.255.1.8" && ends "$across" 5 10.255.0.8 &&
		ends "$across" 6 "$across"
}

stays_in_pod()
{
	ends "$in_pod" 2 "10.255.1.1 10.255.1.2" && ends "$in_pod" 3 10.255.0.2 &&
		ends "$in_pod" 4 "$in_pod" && ends 10.1.0.2 1 10.1.0.2
}

passes_all_6()
{
	ends fd00:1:7::3 2 "fd00:255:1::1 fd00:255:1::2" && ends fd00:1:7::3 5 fd00:255::8 &&
		(($(at fd00:1:7::3 3 64 | wc -w) == 4)) && ends fd00:1:1::2 3 fd00:255::2
}

# reaches KIND AGGS CORES: so many are on ports' ways across
reaches()
{
	local n

	pods_hash "$1" && n=$(at "$across" 2 64 | wc -w) && echo "$n aggs" && ((n == $2)) &&
		n=$(at "$across" 3 64 | wc -w) && echo "$n cores" && ((n == $3))
}

# linear: of a port, agg and core behind the agg are sums of what its bits give
linear()
{
	probe "$across" 3 256 $((first - first % 256)) | python3 -c 'import sys
core = {int(line.split()[0]) & 255: int(line.split(".")[3]) - 1 for line in sys.stdin}
same = all(core[x] >> 1 ^ core[y] >> 1 == core[0] >> 1 ^ core[x ^ y] >> 1
           for x in core for y in core)
for agg in 0, 1:
    ports = [port for port in core if core[port] >> 1 == agg]
    same &= all(core[ports[0]] ^ core[x] ^ core[y] == core[ports[0] ^ x ^ y]
                for x in ports for y in ports) if same else False
sys.exit(not same)'
}

apart_is_linear()
{
	reaches apart 2 4 && linear
}

linux_is_not_linear()
{
	reaches linux 2 4 && ! linear
}

# by CORE: a port whose probe across passes the core
by()
{
	probe "$across" 3 64 | awk -v core="10.255.2.$(($1 + 1))" '$2 == core { print $1; exit }'
}

# says PORT TTL: what answers a probe across
says()
{
	on h0 selftests/net/probe.py 10.1.0.1 "$across" "$2" "$1" 1 300 | cut -d ' ' -f 2
}

# without_core1 ANSWER COMMAND...: from "COMMAND add" to "COMMAND del" core 1 answers nothing, and
# a packet by it gets this answer
without_core1()
{
	local port other status answer=$1 command=$2
	shift 2

	port=$(by 1) other=$(by 2)
	"$command" add "$@"
	[[ $(says "$port" 3) == - && $(says "$port" 6) == "$answer" &&
		$(says "$other" 3) == 10.255.2.3 ]]
	status=$?
	"$command" del "$@" && ((!status)) &&
		[[ $(says "$port" 3) == 10.255.2.2 && $(says "$port" 6) == "$across" ]]
}

ktap_plan 14
check "a fat tree of 4 pods" pods_make 4 h0:0 h1:0 h2:1:2 h3:2 h4:7:3
check "packets to another pod pass both aggs and all cores" passes_all
check "packets to another leaf of the pod pass both aggs and no core" stays_in_pod
check "packets of IPv6 pass the same tiers" passes_all_6
check "the hash of Linux is not linear" linux_is_not_linear
check "linear hashes of other bits in each tier reach all cores" apart_is_linear
check "linear hashes of the same bits reach one core of each agg" reaches alike 2 2
check "seeds do not help against that" reaches seeds 2 2
check "linear hashes of bits side by side reach all cores" reaches shared 2 4
check "aggs may hash by bits of their own each" reaches each 2 4
check "a cut link loses packets" without_core1 - pods_cut agg0 core1
check "a dead core loses packets" without_core1 - pods_kill core1
check "a silent core forwards" without_core1 "$across" fabric_silence core1
check "nothing is left" world_is_empty
ktap_finish
