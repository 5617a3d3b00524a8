#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Answers to probes that a router would not give.

    icmp.py DEVICE HOST QUOTE ROUTER...

Each UDP packet of HOST that comes by DEVICE is answered by each ROUTER, an
address of this machine, with ICMP or ICMPv6 time exceeded. QUOTE: "all" of the packet from
its UDP header on is quoted, only the "header", or the header and something
"else". Prints a line when it listens.
"""
import os
import socket
import struct
import sys

ICMP_TIME_EXCEEDED = 11
ICMPV6_TIME_EXCEEDED = 3
ETH_P_IP = 0x0800
ETH_P_IPV6 = 0x86dd
UDP_HEADER = 8


def checksum(data):
    words = struct.unpack(f"!{len(data) // 2}H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def quoted(packet, size, quote):
    header = packet[:size]
    udp = packet[size:]
    if quote == "all":
        return header + udp
    if quote == "else":
        return header + udp[:UDP_HEADER] + os.urandom(len(udp) - UDP_HEADER)
    return header + udp[:UDP_HEADER]


def is_udp_of(packet, host, ipv6):
    if ipv6:
        return (packet[6] == socket.IPPROTO_UDP and
                packet[8:24] == socket.inet_pton(socket.AF_INET6, host))
    return (packet[9] == socket.IPPROTO_UDP and
            packet[12:16] == socket.inet_aton(host))


def main():
    device, host, quote, *routers = sys.argv[1:]
    ipv6 = ":" in host
    protocol = ETH_P_IPV6 if ipv6 else ETH_P_IP
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                        socket.htons(protocol))
    tap.bind((device, protocol))
    out = []
    for router in routers:
        sock = socket.socket(socket.AF_INET6 if ipv6 else socket.AF_INET,
                             socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if ipv6
                             else socket.IPPROTO_ICMP)
        sock.bind((router, 0))
        out.append(sock)
    print("ready", flush=True)
    while True:
        packet, address = tap.recvfrom(65536)
        if (address[2] == socket.PACKET_OUTGOING or
                not is_udp_of(packet, host, ipv6)):
            continue
        if ipv6:        # the kernel adds the checksum
            data = quoted(packet[:40 + struct.unpack("!H", packet[4:6])[0]],
                          40, quote)
            icmp = struct.pack("!BBHI", ICMPV6_TIME_EXCEEDED, 0, 0, 0) + data
        else:
            data = quoted(packet[:struct.unpack("!H", packet[2:4])[0]], 20,
                          quote)
            data += b"\0" * (len(data) % 2)
            icmp = struct.pack("!BBHI", ICMP_TIME_EXCEEDED, 0, 0, 0) + data
            icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
        for sock in out:
            sock.sendto(icmp, (host, 0))


main()
