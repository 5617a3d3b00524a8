#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""qpn_router.py SOURCE PEER TTL: who answers to packets of this TTL to queue pairs, by IPv4

Lines "QPN PORT" on standard input, a router for each on standard output.
"""

import os
import select
import socket
import struct
import sys

IP_RECVERR = 11


def ask(sock, peer, qpn, port):
    """The router that answers, of three tries."""
    bth = struct.pack("!BBHII", 4, 0, 0xffff, qpn, 0)
    packet = struct.pack("!HHHH", port, 4791, 8 + len(bth) + 16, 0) + bth + os.urandom(16)
    for _ in range(3):
        sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        sock.sendto(packet, (peer, 0))
        while select.select([sock], [], [], 1)[0]:
            # The error that an answer leaves besides
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            try:
                quote, control, _, _ = sock.recvmsg(512, 512, socket.MSG_ERRQUEUE)
            except BlockingIOError:
                continue
            if quote == packet[:len(quote)]:
                # struct sock_extended_err, then the address of who sent the error
                return socket.inet_ntoa(control[0][2][20:24])
    return "nobody"


def main():
    source, peer, ttl = sys.argv[1:]
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, int(ttl))
    sock.bind((source, 0))
    for line in sys.stdin:
        qpn, port = map(int, line.split())
        print(ask(sock, peer, qpn, port))


if __name__ == "__main__":
    main()
