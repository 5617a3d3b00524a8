#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the RoCE v2 packets that leave by devices.

uplinks.py TOTAL DEVICE...

Prints "ready" when it counts. Ends when TOTAL packets have left, or 10 seconds after
the last one, and prints the number of each device. Whatever else leaves, such as ARP,
is not counted.
"""
import ctypes
import select
import socket
import struct
import sys

ETH_P_ALL = 3
SO_ATTACH_FILTER, SO_RCVBUFFORCE = 26, 33
# Outgoing packets of IPv4 without options, UDP, to port 4791; in classic BPF
FILTER = [
    (0x28, 0, 0, 0xfffff004),   # packet type
    (0x15, 0, 7, 4),            # PACKET_OUTGOING
    (0x28, 0, 0, 12),
    (0x15, 0, 5, 0x0800),
    (0x30, 0, 0, 23),
    (0x15, 0, 3, 17),
    (0x28, 0, 0, 36),
    (0x15, 0, 1, 4791),
    (0x06, 0, 0, 1),
    (0x06, 0, 0, 0),
]


def count(device):
    """Return a socket that sees the counted packets."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("HBBI", *step) for step in FILTER))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HL", len(FILTER), ctypes.addressof(code)))
    # The reader may be late: the buffer has space for 50,000 packets.
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    sock.bind((device, ETH_P_ALL))
    return sock


def main():
    total, devices = int(sys.argv[1]), sys.argv[2:]
    counts = {count(device): 0 for device in devices}
    print("ready", flush=True)
    while sum(counts.values()) < total:
        readable = select.select(counts, [], [], 10)[0]
        if not readable:
            break
        for sock in readable:
            sock.recv(1)
            counts[sock] += 1
    print(*counts.values(), sep="\n")


main()
