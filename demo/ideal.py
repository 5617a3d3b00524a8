#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Time of the traffic of a run in an ideal network.

ideal.py SECONDS MESSAGE LEAVES SPINES HOSTS MBIT HOST_MBIT <SHARES

Prints the flows "FROM TO BYTES STEP" of such lines with shares for bytes, in whole
messages: an ideal network takes SECONDS for them, or more where a step would be too short.
"""
import copy
import math
import sys

MTU = 4096
# Headers of a packet: Ethernet, IPv4, UDP, BTH, ICRC; and the RETH of a message's first
# packet. Rate limits count all of them.
HEADERS = 14 + 20 + 8 + 12 + 4
RETH = 16
# Bytes that the limit of a link passes at once, and the least number of such bursts in a step.
BURST, BURSTS = 20000, 12
# The leaf with the broken link; and the rest of the link's rate.
BROKEN_LEAF = 0
LEFT = {"healthy": 1, "slow": 0.5, "dead": 0}


class Traffic:
    """Bytes on the wire from each host to each other host.

    flows: (from, to, payload, step) of every flow, hosts counted leaf by leaf
    links: the condition of the links
    """

    def __init__(self, flows, message, shape, hosts, host_mbit, links="healthy"):
        self.flows = flows
        self.message = message
        self.hosts = hosts
        self.rate, self.host_rate = (mbit * 1e6 / 8 for mbit in
                                     (shape["link_mbit"], host_mbit))
        # For each leaf: links to the spines, and as many back
        self.links = [shape["spines"]] * shape["leaves"]
        self.links[BROKEN_LEAF] -= 1 - LEFT[links]

    def steps(self):
        """The traffic of each step, one after the other."""
        for step in sorted({flow[3] for flow in self.flows}):
            part = copy.copy(self)
            part.flows = [flow for flow in self.flows if flow[3] == step]
            yield part

    def packets(self):
        per_message = math.ceil(self.message / MTU)
        return sum(flow[2] // self.message * per_message for flow in self.flows)

    def wire(self, payload):
        per_message = math.ceil(self.message / MTU)
        return payload + payload // self.message * (per_message * HEADERS + RETH)

    def _sums(self, groups, end, inside):
        """Bytes of each group of flows that share an end."""
        sums = [0] * groups
        for flow in self.flows:
            if inside or self._is_far(flow):
                sums[end(flow)] += self.wire(flow[2])
        return sums

    def _is_far(self, flow):
        return flow[0] // self.hosts != flow[1] // self.hosts

    def _of_links(self, end):
        sums = self._sums(len(self.links), lambda f: f[end] // self.hosts, False)
        return [n / links for n, links in zip(sums, self.links)]

    def uplink(self):
        """For each leaf: load of each link to a spine."""
        return self._of_links(0)

    def downlink(self):
        """For each leaf: load of each link from a spine."""
        return self._of_links(1)

    def seconds(self):
        """No network is faster: in a step the fullest link, or NIC, is always busy."""
        return sum(step.step_seconds() for step in self.steps())

    def step_seconds(self):
        nic = self._sums(len(self.links) * self.hosts, lambda f: f[0], True)
        return max(max(self.uplink() + self.downlink()) / self.rate,
                   max(nic) / self.host_rate)

    def whole_seconds(self):
        """The bound with one whole flow on each link."""
        far = [self.wire(flow[2]) for flow in self.flows if self._is_far(flow)]
        return max(self.step_seconds(), max(far, default=0) / self.rate)


def scale(shares, seconds, message, shape, hosts, host_mbit):
    """Flows whose bytes have these shares."""
    unit = Traffic([(*flow[:2], flow[2] * message, flow[3]) for flow in shares],
                   message, shape, hosts, host_mbit)
    steps = sum(1 for _ in unit.steps())
    if steps > 1:
        seconds = max(seconds, steps * BURSTS * BURST / unit.rate)
    messages = max(1, int(seconds / unit.seconds()))
    return [(*flow[:2], flow[2] * messages, flow[3]) for flow in unit.flows]


def main():
    seconds, message, leaves, spines, hosts, rate, host_rate = map(int, sys.argv[1:])
    shares = [tuple(map(int, line.split())) for line in sys.stdin]
    shape = {"leaves": leaves, "spines": spines, "link_mbit": rate}
    for flow in scale(shares, seconds, message, shape, hosts, host_rate):
        print(*flow)


if __name__ == "__main__":
    main()
