#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Time of the traffic of a run in an ideal network.

ideal.py SECONDS MESSAGE LEAVES PODS AGGS CORES HOSTS MBIT HOST_MBIT <SHARES

Prints the flows "FROM TO BYTES STEP" of such lines with shares for bytes, in whole
messages: an ideal network takes SECONDS for them, or more where a step would be too short.
"""
import copy
import math
import sys

from fabric import Fabric

MTU = 4096
# Headers of a packet: Ethernet, IPv4, UDP, BTH, ICRC; and the RETH of a message's first
# packet. Rate limits count all of them.
HEADERS = 14 + 20 + 8 + 12 + 4
RETH = 16
# Bytes that the limit of a link passes at once, and the least number of such bursts in a step.
BURST, BURSTS = 20000, 12


def capacity(fabric, kind, row, links):
    """Links of a lower router, where one of rate 1/2 counts half: what is broken is a link of
    the first leaf or agg, or the first core, which is above the first agg of every pod."""
    broken = {
        "slow": kind.tier == 0 and row == 0 and 0.5,
        "dead": kind.tier == (1 if fabric.cores else 0) and row == 0,
        "core": kind.tier == 1 and row % fabric.aggs == 0,
    }
    return fabric.columns(kind) - broken.get(links, 0)


class Traffic:
    """Bytes on the wire from each host to each other host.

    flows: (from, to, payload, step) of every flow, hosts counted leaf by leaf
    links: the condition of the links
    """

    def __init__(self, flows, message, fabric, host_mbit, links="healthy"):
        self.flows = flows
        self.message = message
        self.fabric = fabric
        self.rate, self.host_rate = (mbit * 1e6 / 8 for mbit in
                                     (fabric.link_mbit, host_mbit))
        self.links = links

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

    def share(self, kind, load):
        """For each lower router of links of this kind: what each link has, where load(flow) is
        spread evenly over all that the flow may take."""
        sums = [0] * self.fabric.rows(kind)
        for flow in self.flows:
            rows = self.fabric.group(kind, flow)
            if rows:
                able = sum(capacity(self.fabric, kind, row, self.links) for row in rows)
                for row in rows:
                    sums[row] += load(flow) / able
        return sums

    def ideal(self, kind):
        """For each lower router: bytes of each of its links of this kind."""
        return self.share(kind, lambda flow: self.wire(flow[2]))

    def seconds(self):
        """No network is faster: in a step the fullest link, or NIC, is always busy."""
        return sum(step.step_seconds() for step in self.steps())

    def step_seconds(self):
        nic = {}
        for flow in self.flows:
            nic[flow[0]] = nic.get(flow[0], 0) + self.wire(flow[2])
        return max(*(max(self.ideal(kind)) / self.rate for kind in self.fabric.kinds()),
                   max(nic.values()) / self.host_rate)

    def whole_seconds(self):
        """The bound with one whole flow on each link."""
        kind = self.fabric.kinds()[0]
        far = [self.wire(flow[2]) for flow in self.flows if self.fabric.group(kind, flow)]
        return max(self.step_seconds(), max(far, default=0) / self.rate)


def scale(shares, seconds, message, fabric, host_mbit):
    """Flows whose bytes have these shares."""
    unit = Traffic([(*flow[:2], flow[2] * message, flow[3]) for flow in shares],
                   message, fabric, host_mbit)
    steps = sum(1 for _ in unit.steps())
    if steps > 1:
        seconds = max(seconds, steps * BURSTS * BURST / unit.rate)
    messages = max(1, int(seconds / unit.seconds()))
    return [(*flow[:2], flow[2] * messages, flow[3]) for flow in unit.flows]


def main():
    seconds, message, *shape, host_rate = map(int, sys.argv[1:])
    shares = [tuple(map(int, line.split())) for line in sys.stdin]
    for flow in scale(shares, seconds, message, Fabric(*shape), host_rate):
        print(*flow)


if __name__ == "__main__":
    main()
