#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Are all RDMA writes where a file of ranges says, and in all of its ranges?

	reth.py RANGES SOURCE RUNS <CAPTURE

CAPTURE is a pcap file of Ethernet and IPv4. Prints how many messages.
"""
import bisect
import json
import struct
import sys

from pcap import packets

WRITES = (0x06, 0x0a, 0x0b)	# RC RDMA WRITE FIRST, ONLY, ONLY with immediate


def writes(data, source):
    """Peer, address and length of each write from a source, once each."""
    seen = set()
    for ip in packets(data):
        bth = ip[28:]
        if ip[12:16] != source or bth[0] not in WRITES:
            continue
        key = ip[16:20] + bth[5:12]	# peer, queue pair, PSN
        if key not in seen:
            seen.add(key)
            address, _, length = struct.unpack(">QII", bth[12:28])
            yield ".".join(map(str, ip[16:20])), address, length


def main():
    ranges, source, runs = sys.argv[1:]
    source = bytes(map(int, source.split(".")))
    with open(ranges, encoding="ascii") as file:
        entries = json.load(file)["ranges"]
    table = {}
    for entry in entries:
        table.setdefault(entry["peer"], []).append(
            [int(entry["start"], 16), entry["length"], 0])
    for rows in table.values():
        rows.sort()
    messages = 0
    for peer, address, length in writes(sys.stdin.buffer.read(), source):
        rows = table[peer]
        row = rows[bisect.bisect(rows, [address + 1]) - 1]
        if not row[0] <= address <= address + length <= row[0] + row[1]:
            sys.exit(f"{peer}: {address:#x}, {length} bytes: in no range")
        row[2] += length
        messages += 1
    for peer, rows in table.items():
        for start, length, written in rows:
            # Another capture has the other dimension.
            if any(row[2] for row in rows) and written != length * int(runs):
                sys.exit(f"{peer}: {start:#x}: {written} bytes, "
                         f"not {runs} times {length}")
    if not messages:
        sys.exit("no messages")
    print(messages, "messages")


main()
