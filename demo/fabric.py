# SPDX-License-Identifier: GPL-2.0
"""The fabric of a run of demo/guest: its routers, and the kinds of links between these.

Spines are the aggs of one pod without cores, as in selftests/net/tiers.sh."""
from dataclasses import dataclass

# selftests/net/link.bpf.h
HOST, BRIDGE, UP, DOWN, CORE_UP, CORE_DOWN = range(1, 7)


@dataclass(frozen=True)
class Kind:
    """Links of one kind.

    name: in reports
    sender: of their frames, enum link_sender
    end: 0 where the sender of traffic decides by which router's links it goes, 1 where the
        receiver does
    tier: of the lower routers of the links, 0 for leaves
    """
    name: str
    sender: int
    end: int
    tier: int


TWO_TIERS = (Kind("uplink", UP, 0, 0), Kind("downlink", DOWN, 1, 0))
THREE_TIERS = (Kind("leaf_agg", UP, 0, 0), Kind("agg_core", CORE_UP, 0, 1),
               Kind("core_agg", CORE_DOWN, 1, 1), Kind("agg_leaf", DOWN, 1, 0))


@dataclass(frozen=True)
class Fabric:
    """leaves and spines are those of all pods, aggs those of one pod, cores those above an
    agg, hosts those below a leaf."""
    leaves: int
    pods: int
    aggs: int
    cores: int
    hosts: int
    link_mbit: int

    def kinds(self):
        return THREE_TIERS if self.cores else TWO_TIERS

    def shape(self):
        """As reports have it."""
        if self.cores:
            return {"pods": self.pods, "leaves": self.leaves, "aggs": self.aggs,
                    "cores": self.cores, "hosts": self.hosts}
        return {"leaves": self.leaves, "spines": self.aggs, "hosts": self.hosts}

    def host_of(self, address):
        """Number of the host with the address 10.1.LEAF.HOST + 1."""
        leaf, host = map(int, address.split(".")[2:])
        return leaf * self.hosts + host - 1

    def leaf(self, host):
        return host // self.hosts

    def pod(self, host):
        return self.leaf(host) * self.pods // self.leaves

    def paths(self, source, peer):
        """Number of paths between two hosts below different leaves."""
        return self.aggs * (1 if self.pod(source) == self.pod(peer) else self.cores)

    def path_sender(self, source, peer):
        """The sender whose link tells the path between two hosts."""
        if self.leaf(source) == self.leaf(peer):
            return HOST
        return UP if self.pod(source) == self.pod(peer) else CORE_UP

    def path(self, link):
        """Number of the path that a link of path_sender() is of, as in a port map."""
        if link["sender"] == CORE_UP:
            return link["leaf"] % self.aggs + self.aggs * (link["index"] % self.cores)
        return link["index"] % self.aggs

    def rows(self, kind):
        """Lower routers of these links."""
        return self.pods * self.aggs if kind.tier else self.leaves

    def columns(self, kind):
        """Links of each lower router."""
        return self.cores if kind.tier else self.aggs

    def group(self, kind, flow):
        """Lower routers among whose links of this kind the flow may choose, or None."""
        source, peer = flow[:2]
        at = flow[kind.end]
        if kind.tier:
            first = self.pod(at) * self.aggs
            return None if self.pod(source) == self.pod(peer) else \
                range(first, first + self.aggs)
        leaf = self.leaf(at)
        return None if self.leaf(source) == self.leaf(peer) else range(leaf, leaf + 1)


def fabric_of(said, hosts):
    """The fabric of the settings of demo/run, where leaves are those of a pod."""
    number = {name: int(said[name] or 1) for name in
              ("pods", "leaves", "spines", "aggs", "cores", "rate")}
    if said["pods"]:
        middle = number["aggs"], number["cores"]
    else:
        middle = number["spines"], 0
    return Fabric(number["pods"] * number["leaves"], number["pods"], *middle, hosts,
                  number["rate"])
