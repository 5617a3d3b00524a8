# SPDX-License-Identifier: GPL-2.0
"""Capture files."""
import struct


def packets(data):
    """IPv4 packets of a pcap file of Ethernet."""
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at < len(data):
        length = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        yield data[at + 16 + 14:at + 16 + length]
        at += 16 + length
