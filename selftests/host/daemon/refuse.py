#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an ICMP error about a RoCE v2 packet, as a router without a route would.

refuse.py SOURCE PEER PORT

The packet from SOURCE to PEER had the UDP source port PORT; the error goes to SOURCE.
"""
import socket
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def main():
    source, peer, port = sys.argv[1:]
    quoted = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 64, 0, 0x4000, 60, 17, 0,
                         socket.inet_aton(source), socket.inet_aton(peer))
    quoted += struct.pack(">HHHH", int(port), 4791, 44, 0)
    head = struct.pack(">BBHI", 3, 0, 0, 0)
    head = struct.pack(">BBHI", 3, 0, checksum(head + quoted), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        sock.sendto(head + quoted, (source, 0))


main()
