#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Open and close the gates of all hosts, at one time.

gates.py [NETNS/]DEVICE...

A gate is a qdisc of kind plug with handle 3: on the device, which is there
already. Reads "open" and "close" from stdin and answers each with "done".
One process for all: to start, or just to wake, a tc for each host takes longer
than a packet takes to cross the fabric.
"""
import os
import socket
import struct
import sys

RTM_NEWQDISC = 36
NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLMSG_ERROR = 2
TCA_KIND, TCA_OPTIONS = 1, 2
HANDLE = 3 << 16
ACTIONS = {"close": 0, "open": 2}	# TCQ_PLUG_BUFFER, _RELEASE_INDEFINITE


def attribute(kind, payload):
    length = 4 + len(payload)
    return struct.pack("HH", length, kind) + payload + bytes(-length % 4)


def request(ifindex, action):
    body = (struct.pack("BxxxiIII", socket.AF_UNSPEC, ifindex, HANDLE, 0, 0) +
            attribute(TCA_KIND, b"plug\0") +
            attribute(TCA_OPTIONS, struct.pack("iI", action, 0)))
    return struct.pack("IHHII", 16 + len(body), RTM_NEWQDISC,
                       NLM_F_REQUEST | NLM_F_ACK, 0, 0) + body


def gate(where):
    """A netlink socket in the device's namespace, and the device's index."""
    netns, _, device = where.rpartition("/")
    if netns:
        with open(f"/run/netns/{netns}", "rb") as f:
            os.setns(f, os.CLONE_NEWNET)
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    return sock, socket.if_nametoindex(device)


def main():
    gates = [gate(where) for where in sys.argv[1:]]
    for line in sys.stdin:
        for sock, ifindex in gates:
            sock.send(request(ifindex, ACTIONS[line.strip()]))
        for sock, _ in gates:
            kind, error = struct.unpack_from("4xH10xi", sock.recv(4096))
            if kind != NLMSG_ERROR or error:
                sys.exit(f"gates: {os.strerror(-error)}")
        print("done", flush=True)


main()
