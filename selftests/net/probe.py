#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which router does a UDP packet to port 4791 expire at?

probe.py SOURCE DESTINATION TTL FIRST_PORT COUNT [MILLISECONDS]

Prints a line "source-port router" for each port, "source-port -" without
an answer in that time, by default 10 s. The answer is read from the socket's error queue,
so that no raw socket and no firewall comes into it.
"""

import ipaddress
import select
import socket
import sys

SO_EE_SIZE = 16  # struct sock_extended_err, before the offender's address
PAYLOAD = bytes(1000)


def router(source, destination, ttl, port, wait):
    v6 = ipaddress.ip_address(source).version == 6
    family = socket.AF_INET6 if v6 else socket.AF_INET
    level = socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP
    recverr = 25 if v6 else 11  # IPV6_RECVERR, IP_RECVERR
    offset, size = (8, 16) if v6 else (4, 4)  # of the address in a sockaddr

    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(level, recverr, 1)
        sock.setsockopt(level, socket.IPV6_UNICAST_HOPS if v6 else socket.IP_TTL, ttl)
        sock.bind((source, port))
        sock.sendto(PAYLOAD, (destination, 4791))
        poll = select.poll()
        poll.register(sock, 0)  # POLLERR is always reported
        if not poll.poll(wait):
            return "-"
        _, ancillary, _, _ = sock.recvmsg(0, 512, socket.MSG_ERRQUEUE)
        for *kind, data in ancillary:
            if kind == [level, recverr]:
                start = SO_EE_SIZE + offset
                return ipaddress.ip_address(data[start:start + size])
    return "-"


def main():
    source, destination, ttl, first, count, *wait = sys.argv[1:]
    wait = int(wait[0]) if wait else 10000
    for port in range(int(first), int(first) + int(count)):
        print(port, router(source, destination, int(ttl), port, wait))


main()
