#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Has every packet that a host sent the DSCP of its chunk?

	tags.py PLAN RANGES CAPTURE...

PLAN is of chunk plan --json, an All-Reduce that is not fused; CAPTURE a pcap file
of Ethernet and IPv4. Prints packets by class and dimension, and how many were sent
again from the middle of a message.
"""
import collections
import json
import struct
import sys

from pcap import packets

CLASSES = 4
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = range(6, 12)
ACK = 0x11


def classes(plan):
    """Class of each stage of each chunk: the smaller, the higher; last ones 1."""
    endpoints = [d["endpoints"] for d in plan["dimensions"]]
    stages, sizes = [], collections.defaultdict(set)
    for chunk in plan["chunks"]:
        legs, size = [], chunk["bytes"]
        for dim in chunk["order"]:
            if endpoints[dim] > 1:
                legs.append((dim, size))
                size //= endpoints[dim]
        stages.append(legs + legs[::-1])
        for dim, size in stages[-1][:-1]:
            sizes[dim].add(size)
    rank = {dim: {size: CLASSES - i * (CLASSES - 1) // len(all_sizes)
                  for i, size in enumerate(sorted(all_sizes))}
            for dim, all_sizes in sizes.items()}
    return [[rank[dim][size] for dim, size in way[:-1]] + [1] for way in stages]


class Judge:
    """What was sent, and what it has to be."""

    def __init__(self, plan, ranges):
        self.classes = classes(plan)
        self.sources = {d["source"]: d["dimension"] for d in ranges["dimensions"]}
        self.table = collections.defaultdict(list)
        for entry in ranges["ranges"]:
            self.table[entry["dimension"], entry["peer"]].append(entry)
        self.message = {}	# class by flow and PSN
        self.counts = collections.Counter()
        self.again = 0

    def find(self, dim, peer, address, length):
        for entry in self.table[dim, peer]:
            start = int(entry["start"], 16)
            if length and start <= address and \
                    address + length <= start + entry["length"]:
                return self.classes[entry["chunk"]][entry["stage"]]
        return 0

    def packet(self, ip):
        source, peer = (".".join(map(str, ip[at:at + 4])) for at in (12, 16))
        opcode, psn = ip[28], int.from_bytes(ip[37:40], "big")
        if source not in self.sources or opcode == ACK:
            return
        dim = self.sources[source]
        flow = (source, peer, ip[33:36])
        if opcode in (FIRST, ONLY, ONLY_IMM):
            address, _, length = struct.unpack(">QII", ip[40:56])
            want = self.find(dim, peer, address, length)
            full = struct.unpack(">H", ip[24:26])[0] - 8 - 12 - 16 - 4
            if opcode == FIRST:
                for i in range(-(-length // full)):
                    self.message[flow, (psn + i) & 0xffffff] = [want, 0]
        elif opcode in (MIDDLE, LAST, LAST_IMM):
            known = self.message[flow, psn]
            want = known[0]
            self.again += known[1]
            known[1] = 1
        else:
            want = 0
        if ip[1] >> 2 != 8 * want:
            sys.exit(f"{source} to {peer}, PSN {psn}, opcode {opcode}: "
                     f"DSCP {ip[1] >> 2}, not of class {want}")
        self.counts[want, dim if want else None] += 1


def main():
    plan, ranges = (json.load(open(name, encoding="ascii"))
                    for name in sys.argv[1:3])
    judge = Judge(plan, ranges)
    for name in sys.argv[3:]:
        with open(name, "rb") as file:
            for ip in packets(file.read()):
                judge.packet(ip)
    print(json.dumps({
        "packets": sum(judge.counts.values()),
        "again": judge.again,
        "classes": [{"class": cls, "dimension": dim, "packets": n}
                    for (cls, dim), n in judge.counts.items() if cls],
    }))


main()
