#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send requests of RC flows, as an RDMA NIC would, by a device.

flows.py DEVICE SOURCE PEER QPN,.. [PSN,..]

Each flow sends a packet of each PSN, 0 unless given, in that order.
"""
import socket
import struct
import sys

RC_WRITE_ONLY = 0x0a


def frame(source, peer, qpn, psn):
    """An Ethernet frame with one WRITE ONLY of 256 bytes."""
    bth = struct.pack(">BBHII", RC_WRITE_ONLY, 0x40, 0xffff, qpn,
                      1 << 31 | psn)
    reth = struct.pack(">QII", 0, 0, 256)
    payload = bth + reth + bytes(256) + bytes(4)
    udp = struct.pack(">HHHH", 0xc000, 4791, 8 + len(payload), 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0x4000,
                     64, 17, 0, socket.inet_aton(source),
                     socket.inet_aton(peer))
    return bytes(12) + b"\x08\x00" + ip + udp + payload


def main():
    device, source, peer, qpns = sys.argv[1:5]
    psns = sys.argv[5] if len(sys.argv) > 5 else "0"
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((device, 0))
        for psn in psns.split(","):
            for qpn in qpns.split(","):
                sock.send(frame(source, peer, int(qpn), int(psn)))


main()
