#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send requests of RC flows, as an RDMA NIC would, by a device.

flows.py [--gateway MAC] DEVICE SOURCE PEER QPN,.. [PSN,..]

Each flow sends a packet of each PSN, 0 unless given, in that order.
"""
import argparse
import socket
import struct

RC_WRITE_ONLY = 0x0a


def frame(ethernet, source, peer, qpn, psn):
    """An Ethernet frame with one WRITE ONLY of 256 bytes."""
    # Each queue pair has another port, as with rxe.
    sport = 0xc000 + (qpn * 0x61c88647 % (1 << 32) >> 18)
    bth = struct.pack(">BBHII", RC_WRITE_ONLY, 0x40, 0xffff, qpn,
                      1 << 31 | psn)
    reth = struct.pack(">QII", 0, 0, 256)
    payload = bth + reth + bytes(256) + bytes(4)
    udp = struct.pack(">HHHH", sport, 4791, 8 + len(payload), 0)
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0,
                               0x4000, 64, 17, 0, socket.inet_aton(source),
                               socket.inet_aton(peer)))
    total = sum(struct.unpack(">10H", ip))
    ip[10:12] = struct.pack(">H", ~(total + (total >> 16)) & 0xffff)
    return ethernet + ip + udp + payload


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gateway", default="00:00:00:00:00:00")
    parser.add_argument("device")
    parser.add_argument("source")
    parser.add_argument("peer")
    parser.add_argument("qpns", type=numbers)
    parser.add_argument("psns", type=numbers, nargs="?", default=[0])
    args = parser.parse_args()
    gateway = bytes.fromhex(args.gateway.replace(":", ""))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((args.device, 0))
        ethernet = gateway + sock.getsockname()[4] + b"\x08\x00"
        for psn in args.psns:
            for qpn in args.qpns:
                sock.send(frame(ethernet, args.source, args.peer, qpn, psn))


main()
