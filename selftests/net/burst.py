#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send UDP packets at once, and say what becomes of them.

burst.py FROM TO TOS COUNT	FROM, TO: NETNS/ADDRESS, without NETNS this one

Prints how many have arrived, how many of them are marked CE, and the milliseconds
until then from when the first was sent.
"""

import os
import socket
import sys
import time

IP_TOS, IP_RECVTOS, SO_RCVBUFFORCE, CE = 1, 13, 33, 3


def open_at(where):
    netns, address = where.split("/")
    if netns:
        with open(f"/run/netns/{netns}", encoding="ascii") as f:
            os.setns(f.fileno(), os.CLONE_NEWNET)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, 0))
    return sock


def main():
    source, sink = map(open_at, sys.argv[1:3])
    tos, count = map(int, sys.argv[3:])
    source.setsockopt(socket.IPPROTO_IP, IP_TOS, tos)
    sink.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
    sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    sink.settimeout(10)
    begin = end = time.monotonic()
    for _ in range(count):
        source.sendto(bytes(4000), sink.getsockname())
    arrived = marked = 0
    while arrived < count:
        try:
            _, (ancillary,), _, _ = sink.recvmsg(4096, 64)
        except TimeoutError:
            break
        end = time.monotonic()
        arrived += 1
        marked += ancillary[2][0] & CE == CE
    print(arrived, marked, int((end - begin) * 1000))


main()
