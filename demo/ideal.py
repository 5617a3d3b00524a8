# SPDX-License-Identifier: GPL-2.0
"""What an ideal network would do with the traffic of a run."""
import math

MTU = 4096
# Around the payload of a packet: Ethernet, IPv4, UDP, BTH, ICRC; and the RETH of
# a message's first one. Rate limits count all of it.
HEADERS = 14 + 20 + 8 + 12 + 4
RETH = 16


class Traffic:
    """Who sends how much to whom, in bytes on the wire.

    flows: (from, to, payload) of every flow, hosts counted leaf by leaf
    """

    def __init__(self, flows, message, shape, hosts, host_mbit):
        self.flows = flows
        self.message = message
        self.leaves, self.spines = shape["leaves"], shape["spines"]
        self.hosts = hosts
        self.rate, self.host_rate = (mbit * 1e6 / 8 for mbit in
                                     (shape["link_mbit"], host_mbit))

    def packets(self):
        per_message = math.ceil(self.message / MTU)
        return sum(payload // self.message * per_message
                   for _, _, payload in self.flows)

    def wire(self, payload):
        per_message = math.ceil(self.message / MTU)
        return payload + payload // self.message * (per_message * HEADERS + RETH)

    def _sums(self, groups, end, inside):
        """Bytes of each group of flows that share an end."""
        sums = [0] * groups
        for flow in self.flows:
            source, sink = (host // self.hosts for host in flow[:2])
            if inside or source != sink:
                sums[end(flow)] += self.wire(flow[2])
        return sums

    def uplink(self):
        """Of each leaf: what each of its uplinks carries."""
        return [n / self.spines for n in
                self._sums(self.leaves, lambda f: f[0] // self.hosts, False)]

    def downlink(self):
        """Of each leaf: what each link from a spine to it carries."""
        return [n / self.spines for n in
                self._sums(self.leaves, lambda f: f[1] // self.hosts, False)]

    def seconds(self):
        """No network is faster: the fullest link, or NIC, is always busy."""
        nic = self._sums(self.leaves * self.hosts, lambda f: f[0], True)
        return max(max(self.uplink() + self.downlink()) / self.rate,
                   max(nic) / self.host_rate)
