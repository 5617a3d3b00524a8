#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send packets again: replay.py NETNS DEVICE NETNS DEVICE

The last packet with data for a switch that sums is kept for each PSN, as it comes to the first
device. Each line of the input, "same PSN" or "changed PSN", sends the packet with this PSN from
the second device, as it came, or with another payload and the right ICRC. Devices may be in the
namespace "-", our own."""
import os
import socket
import struct
import sys
import zlib

BUFFER = 64 << 20
SO_RCVBUFFORCE = 33
ETH, IP, UDP, BTH = 14, 20, 8, 12


def tap(netns, device):
    fd = os.open(own if netns == "-" else "/run/netns/" + netns, os.O_RDONLY)
    os.setns(fd, os.CLONE_NEWNET)
    os.close(fd)
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    sock.bind((device, 0))
    return sock


def seal(frame):
    """Write the ICRC of an IPv4 packet: fields that change on the way count as ones."""
    covered = bytearray(b"\xff" * 8 + frame[ETH:-4])
    for at in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + IP + 6, 8 + IP + 7, 8 + IP + UDP + 4):
        covered[at] = 0xff
    return frame[:-4] + struct.pack("<I", zlib.crc32(covered))


def changed(frame):
    payload = ETH + IP + UDP + BTH + 100
    return seal(frame[:payload] + bytes([frame[payload] ^ 1]) + frame[payload + 1:])


own = f"/proc/{os.getppid()}/ns/net"
taken, plain = tap(*sys.argv[1:3]), tap(*sys.argv[3:5])
taken.setblocking(False)
frames = {}
print("ready", flush=True)
for line in sys.stdin:
    how, psn = line.split()
    try:
        while True:
            frame, address = taken.recvfrom(9000)
            bth = ETH + IP + UDP
            if (address[2] != socket.PACKET_OUTGOING and len(frame) > 1000 and
                    frame[bth + 5] >= 0xc0):
                frames[int.from_bytes(frame[bth + 9:bth + 12], "big")] = frame
    except BlockingIOError:
        pass
    frame = frames.get(int(psn))
    if frame:
        plain.send(frame if how == "same" else changed(frame))
    print("sent" if frame else f"none {sorted(frames)}", flush=True)
