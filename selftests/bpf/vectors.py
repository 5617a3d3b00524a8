#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Frames for replay: what goes in, and what has to come out.

vectors.py DIRECTORY [--valid N] [--invalid N] [--seed S]

writes in.pcap, out.pcap and flows.txt. Valid packets are RoCE v2, RC, of every
opcode and length, over IPv4 and IPv6; each comes out with another source port
and the ICRC that scapy computes for it from scratch. scapy (2.5) knows the ICRC
of IPv4 only: for IPv6 this file masks the fields of annex A17.3.3 and takes
zlib's CRC-32. Invalid ones are malformed, truncated, fragmented or foreign and
have to come out as they went in, although their flow is in the table.
"""
import argparse
import functools
import os
import random
import struct
import zlib

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.packet import Raw

ROCE = 4791
RC_OPCODES = range(0x20)
MAC = bytes.fromhex("020000000002020000000001")
VLAN = struct.pack("!HH", 0x8100, 7)
FIRST_QPN = 0x100
SHORTEST = 20  # a tagged frame below that is dropped by any receiver


def extended(opcode):
    """Bytes of extended headers behind the BTH (IB spec table 38)."""
    reth = {0x06, 0x0a, 0x0b, 0x0c}
    aeth = {0x0d, 0x0f, 0x10, 0x11}
    immediate = {0x03, 0x05, 0x09, 0x0b, 0x16, 0x17}
    return (16 * (opcode in reth) + 4 * (opcode in aeth) +
            12 * (opcode == 0x12) + 28 * (opcode in (0x13, 0x14)) +
            4 * (opcode in immediate))


def icrc_ipv6(ip, udp, bth, payload):
    masked = (b"\xff" * 8 + bytes([ip[0] | 0x0f]) + b"\xff" * 3 + ip[4:7] +
              b"\xff" + ip[8:] + udp[:6] + b"\xff\xff" +
              bth[:4] + b"\xff" + bth[5:] + payload)
    return struct.pack("<I", zlib.crc32(masked))


def udp_checksum(ip, datagram):
    """UDP checksum of a datagram whose checksum field is 0."""
    if ip[0] >> 4 == 4:
        pseudo = ip[12:20]
    else:
        pseudo = ip[8:40]
    data = pseudo + struct.pack("!HH", 17, len(datagram)) + datagram
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return (~total & 0xffff) or 0xffff


class Packet:
    """One valid packet, to be built with any source port."""

    def __init__(self, rnd, qpn):
        self.qpn = qpn
        self.opcode = rnd.choice(RC_OPCODES)
        self.v6 = rnd.random() < 0.4
        self.vlan = rnd.random() < 0.1
        self.checksum = rnd.random() < 0.2
        size = extended(self.opcode)
        if self.opcode not in (0x0c, 0x11, 0x12, 0x13, 0x14):
            size += 4 * rnd.choice((rnd.randrange(17), rnd.randrange(1025),
                                    64, 256, 1024))
        self.payload = rnd.randbytes(size)
        self.flags = rnd.choice((0x00, 0x40, 0x80, 0xc0))
        self.psn = rnd.getrandbits(24)
        self.resv = rnd.choice((0, 0x40, 0x80))
        self.ackreq = rnd.getrandbits(1)
        self.tos = rnd.choice((0, 2, 0x68, 0xb8))
        self.ttl = rnd.choice((1, 64, 255))
        self.id = rnd.getrandbits(16)
        self.options = rnd.choice((b"", b"", b"\x94\x04\0\0"))
        self.label = rnd.getrandbits(20)

    @property
    def peer(self):
        if self.v6:
            return bytes.fromhex("fd000001000000000000000000000002")
        return bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 2))

    def bth(self):
        return struct.pack("!BBHII", self.opcode, self.flags, 0xffff,
                           self.resv << 24 | self.qpn,
                           self.ackreq << 31 | self.psn)

    @functools.lru_cache(maxsize=None)
    def build(self, sport):
        ip, datagram = (self.build6 if self.v6 else self.build4)(sport)
        if self.checksum:
            datagram = (datagram[:6] +
                        struct.pack("!H", udp_checksum(ip, datagram)) +
                        datagram[8:])
        proto = struct.pack("!H", 0x86dd if self.v6 else 0x0800)
        return MAC + (VLAN if self.vlan else b"") + proto + ip + datagram

    def build4(self, sport):
        bth = BTH(self.bth() + bytes(4))
        bth.remove_payload()
        bth.icrc = None
        packet = (IP(src="10.0.0.1", dst="10.0.0.2", tos=self.tos,
                     ttl=self.ttl, id=self.id, flags="DF",
                     options=self.options) /
                  UDP(sport=sport, dport=ROCE, chksum=0) /
                  bth / Raw(self.payload))
        data = bytes(packet)
        ihl = 4 * (data[0] & 15)
        # The whole ICRC comes from scapy, the IP header checksum too.
        return data[:ihl], data[ihl:]

    def build6(self, sport):
        length = 8 + 12 + len(self.payload) + 4
        ip = (struct.pack("!IHBB", 6 << 28 | self.tos << 20 | self.label,
                          length, 17, self.ttl) +
              bytes.fromhex("fd000001000000000000000000000001") + self.peer)
        udp = struct.pack("!HHHH", sport, ROCE, length, 0)
        bth = self.bth()
        return ip, udp + bth + self.payload + icrc_ipv6(ip, udp, bth,
                                                        self.payload)


def put16(data, off, value):
    return data[:off] + struct.pack("!H", value & 0xffff) + data[off + 2:]


def invalid(rnd, packet):
    """A frame that must not be touched, made from a valid packet."""
    data = packet.build(0xc000)
    l3 = 18 if packet.vlan else 14
    l4 = l3 + (40 if packet.v6 else 4 * (data[l3] & 15))
    length = struct.unpack_from("!H", data, l4 + 4)[0]
    kinds = ["cut", "udp_short", "udp_long", "udp_odd", "ip_long", "port",
             "tver", "version", "service", "protocol", "ethertype", "noise",
             "fragment", "huge", "tcp", "tags"]
    kind = rnd.choice(kinds)
    if kind == "cut":
        return data[:rnd.randrange(SHORTEST, len(data))]
    if kind == "udp_short":
        return put16(data, l4 + 4, rnd.randrange(0, 24))
    if kind == "udp_long":
        return put16(data, l4 + 4, length + 4 * rnd.randrange(1, 99))
    if kind == "udp_odd":
        return put16(data, l4 + 4, length - rnd.randrange(1, 4))
    if kind == "ip_long":
        at = l3 + (4 if packet.v6 else 2)
        old = struct.unpack_from("!H", data, at)[0]
        return put16(data, at, old + rnd.randrange(1, 2000))
    if kind == "port":
        return put16(data, l4 + 2, rnd.choice((0, 53, 4789, 4790, 4792)))
    if kind == "tver":
        at = l4 + 9
        return data[:at] + bytes([data[at] | rnd.randrange(1, 16)]) + data[at + 1:]
    if kind == "version":
        version = rnd.choice([v for v in range(16) if v != data[l3] >> 4])
        return data[:l3] + bytes([version << 4 | data[l3] & 15]) + data[l3 + 1:]
    if kind == "service":
        return data[:l4 + 8] + bytes([rnd.randrange(0x20, 256)]) + data[l4 + 9:]
    if kind in ("protocol", "tcp"):
        at = l3 + (6 if packet.v6 else 9)
        proto = 6 if kind == "tcp" else rnd.choice(
            [p for p in range(256) if p != 17])
        return data[:at] + bytes([proto]) + data[at + 1:]
    if kind == "ethertype":
        return put16(data, l3 - 2, rnd.choice((0x0806, 0x8915, 0x88cc, 0x8847)))
    if kind == "noise":
        return (MAC + rnd.choice((b"\x08\x00", b"\x86\xdd", b"\x81\x00")) +
                rnd.randbytes(rnd.randrange(SHORTEST - 14, 20)))
    if kind == "fragment":
        if packet.v6:
            return data[:l3 + 6] + bytes([44]) + data[l3 + 7:]
        # never the DF that is there: more fragments, an offset, or both
        return put16(data, l3 + 6, rnd.choice((0x2000, rnd.randrange(1, 0x2000),
                                               0x2000 | rnd.randrange(1, 0x2000))))
    if kind == "huge":
        longest = 24 + 40 + 4096
        extra = bytes(longest + 4 * rnd.randrange(1, 9) - length)
        data = put16(data + extra, l4 + 4, length + len(extra))
        at = l3 + (4 if packet.v6 else 2)
        return put16(data, at, struct.unpack_from("!H", data, at)[0] + len(extra))
    # one tag more than is looked through
    return MAC + VLAN * 3 + data[l3 - 2:]


class Pcap:
    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))

    def add(self, data):
        self.file.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--valid", type=int, default=10000)
    parser.add_argument("--invalid", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rnd = random.Random(args.seed)
    os.makedirs(args.directory, exist_ok=True)
    src = Pcap(os.path.join(args.directory, "in.pcap"))
    dst = Pcap(os.path.join(args.directory, "out.pcap"))
    packets = []
    with open(os.path.join(args.directory, "flows.txt"), "w") as flows:
        for i in range(args.valid):
            packet = Packet(rnd, FIRST_QPN + i)
            old, new = rnd.sample(range(0xc000, 0x10000), 2)
            src.add(packet.build(old))
            dst.add(packet.build(new))
            flows.write("%s %d %d\n" % (packet.peer.hex(), packet.qpn, new))
            packets.append(packet)
    for i in range(args.invalid):
        data = invalid(rnd, packets[i % min(len(packets), 2000)])
        src.add(data)
        dst.add(data)


if __name__ == "__main__":
    main()
