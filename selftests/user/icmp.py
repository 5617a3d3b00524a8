#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Answers to probes that a router would not give.

    icmp.py DEVICE HOST QUOTE ROUTER...

Each UDP packet of HOST that comes by DEVICE is answered by each ROUTER, an
address of this machine, with ICMP time exceeded. QUOTE: "all" of the packet from
its UDP header on is quoted, only the "header", or the header and something
"else". Prints a line when it listens.
"""
import os
import socket
import struct
import sys

ICMP_TIME_EXCEEDED = 11
ETH_P_IP = 0x0800
UDP_HEADER = 8


def checksum(data):
    words = struct.unpack(f"!{len(data) // 2}H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def quoted(packet, quote):
    header = packet[:20]
    udp = packet[20:]
    if quote == "all":
        return header + udp
    if quote == "else":
        return header + udp[:UDP_HEADER] + os.urandom(len(udp) - UDP_HEADER)
    return header + udp[:UDP_HEADER]


def main():
    device, host, quote, *routers = sys.argv[1:]
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                        socket.htons(ETH_P_IP))
    tap.bind((device, ETH_P_IP))
    out = []
    for router in routers:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                             socket.IPPROTO_ICMP)
        sock.bind((router, 0))
        out.append(sock)
    print("ready", flush=True)
    while True:
        packet, address = tap.recvfrom(65536)
        if (address[2] == socket.PACKET_OUTGOING or
                packet[9] != socket.IPPROTO_UDP or
                packet[12:16] != socket.inet_aton(host)):
            continue
        data = quoted(packet[:struct.unpack("!H", packet[2:4])[0]], quote)
        data += b"\0" * (len(data) % 2)
        icmp = struct.pack("!BBHI", ICMP_TIME_EXCEEDED, 0, 0, 0) + data
        icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
        for sock in out:
            sock.sendto(icmp, (host, 0))


main()
