#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hold clones of what comes to a device, and tell what it is at the end of the input:
data packets to virtual queue pair numbers, and to others. For IPv4 without options."""
import socket
import sys

SO_RCVBUFFORCE = 33
ETH_P_ALL = 3
QPN = 14 + 20 + 8 + 5

tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
tap.bind((sys.argv[1], 0))
print("ready", flush=True)
sys.stdin.read()
tap.setblocking(False)
virtual = other = 0
try:
    while True:
        frame, address = tap.recvfrom(9000)
        if address[2] == socket.PACKET_OUTGOING or len(frame) < 1000:
            continue
        if frame[QPN] >= 0xC0:
            virtual += 1
        else:
            other += 1
except BlockingIOError:
    print(f"virtual={virtual} other={other}")
