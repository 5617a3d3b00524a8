#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Random flows on a random fabric, each on one path, for rocesteer and for SimGrid.

    simgrid.py SEED FLOWS LINKS     write FLOWS for "rocesteer simulate --flows" and LINKS for
                                    test_simgrid.cpp, and print options of the fabric
"""
import json
import random
import sys

RATE, HOST_RATE = 200, (100, 200, 400)  # Gbit/s


class Fabric:
    """Two tiers, or three where there are cores."""

    def __init__(self, rng):
        three = rng.random() < 0.5
        self.pods = rng.choice((2, 4, 8)) if three else 1
        self.cores = rng.choice((1, 2, 4)) if three else 0
        self.leaves = rng.choice((2, 4)) if three else rng.choice((8, 16, 32))
        self.hosts = rng.choice((16, 32) if three else (8, 16, 32))
        self.spines = rng.choice((2, 4, 8)) if three else rng.choice((4, 16, 32))
        self.host_rate = rng.choice(HOST_RATE)

    def all_hosts(self):
        return self.pods * self.leaves * self.hosts

    def options(self):
        text = (f"--leaves {self.leaves} --spines {self.spines} --hosts {self.hosts}"
                f" --rate {RATE} --host-rate {self.host_rate}")
        return text + f" --pods {self.pods} --cores {self.cores}" if self.cores else text

    def paths(self, source, to):
        """Their number; 0 below one leaf."""
        if source // self.hosts == to // self.hosts:
            return 0
        pod = self.leaves * self.hosts
        return self.spines * (self.cores if source // pod != to // pod else 1)

    def links(self, source, to, path):
        leaf, leaf2 = source // self.hosts, to // self.hosts
        pod, pod2 = leaf // self.leaves, leaf2 // self.leaves
        spine = path % self.spines
        links = [f"host{source}-up"]
        if leaf != leaf2:
            links.append(f"leaf{leaf}-{spine}-up")
            if pod != pod2:
                core = path // self.spines
                links += [f"pod{pod}-{spine}-{core}-up", f"pod{pod2}-{spine}-{core}-down"]
            links.append(f"leaf{leaf2}-{spine}-down")
        return links + [f"host{to}-down"]


def main():
    rng = random.Random(int(sys.argv[1]))
    fabric = Fabric(rng)
    hosts = fabric.all_hosts()
    modulo = rng.random() < 0.5  # the path by the number of the destination, or random
    pairs = set()
    while len(pairs) < hosts * 2:
        source, to = rng.randrange(hosts), rng.randrange(hosts)
        if source != to:
            pairs.add((source, to))
    flows, lines, used = [], [], set()
    for source, to in sorted(pairs):
        size = rng.choice((1000000, rng.randrange(1000000, 100000000)))
        flow = {"from": source, "to": to, "bytes": size}
        paths, path = fabric.paths(source, to), 0
        if paths:
            path = to % paths if modulo else rng.randrange(paths)
            flow["paths"] = [{"path": path, "bytes": 1}]
        links = fabric.links(source, to, path)
        used.update(links)
        flows.append(flow)
        lines.append(f"flow {source} {to} {size} {' '.join(links)}")
    with open(sys.argv[2], "w") as out:
        json.dump({"flows": flows}, out)
    with open(sys.argv[3], "w") as out:
        for link in sorted(used):
            rate = fabric.host_rate if link.startswith("host") else RATE
            print("link", link, rate * 125000000, file=out)
        print(*lines, sep="\n", file=out)
    print(fabric.options())


main()
