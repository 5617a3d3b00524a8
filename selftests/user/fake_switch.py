#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A switch that sums, for the NICs of fake_verbs.c: fake_switch.py DIR FAULT reduce ..

reduce load -       read a group, check it, and sum its ranks' messages in the background;
                    the group is left in DIR/group.json
reduce unload GROUP end that, and remove DIR/group.json

FAULT is what goes wrong at the Nth result: WHAT:N

die    the switch is gone
lose   it never comes
twist  it has the number of the next one
none   nothing
"""
import array
import json
import os
import select
import signal
import socket
import struct
import sys

HEAD = struct.Struct("=QI4sQ")  # address, bytes, immediate, wr_id
TYPES = {"int32": "I", "fp32": "f"}
FIELDS = {"group", "type", "op", "mtu", "packets", "window", "ranks"}
RANK_FIELDS = {"address", "qpn", "psn", "va"}


def name_of(qpn):
    """As name_of() there: of full length."""
    return (b"\0rocesteer-fake-%d" % qpn).ljust(108, b"\0")


def refuse(what):
    sys.exit(f"fake switch: {what}")


def check(group):
    if set(group) != FIELDS or not 0 <= group["group"] < 1 << 14:
        refuse("not a group")
    if group["type"] not in TYPES or group["op"] != "sum" or group["window"] < 1 or \
       not 1 <= group["packets"] * group["window"] <= 4096 or \
       group["mtu"] not in (256, 512, 1024, 2048, 4096):
        refuse("a field is out of range")
    if not 2 <= len(group["ranks"]) <= 64:
        refuse("too few or too many ranks")
    for rank in group["ranks"]:
        socket.inet_aton(rank["address"])
        if set(rank) != RANK_FIELDS or not 0 <= rank["psn"] < 1 << 24:
            refuse("not a rank")


def total(group, messages):
    """The sum of what all ranks have sent, who must agree on all else."""
    code = TYPES[group["type"]]
    heads = set()
    result = None
    for rank, message in enumerate(messages):
        addr, length, imm, _ = HEAD.unpack_from(message)
        heads.add((addr - group["ranks"][(rank + 1) % len(messages)]["va"], length, imm))
        numbers = array.array(code, message[HEAD.size:])
        if result is None:
            result = numbers
        elif code == "I":
            result = array.array(code, ((a + b) & 0xffffffff for a, b in zip(result, numbers)))
        else:
            result = array.array(code, (a + b for a, b in zip(result, numbers)))
    if len(heads) != 1 or not 0 < length <= group["mtu"] * group["packets"]:
        refuse(f"ranks do not agree: {heads}")
    return result.tobytes()


def send(group, messages, number, fault):
    what, at = fault
    if what == "lose" and number == at:
        return
    if what == "die" and number == at:
        sys.exit(0)
    payload = total(group, messages)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        for rank, message in enumerate(messages):
            addr, length, imm, wr_id = HEAD.unpack_from(message)
            if what == "twist" and number == at:
                imm = struct.pack("!I", number)
            to = group["ranks"][(rank + 1) % len(messages)]["qpn"]
            try:
                out.sendto(HEAD.pack(addr, length, imm, wr_id) + payload, name_of(to))
            except ConnectionRefusedError:
                pass    # it has given up


def serve(group, sockets, fault):
    waiting = [[] for _ in sockets]
    number = 0
    while True:
        ready = select.select(sockets, [], [], 60)[0]
        if not ready:
            refuse("nobody sends")
        for sock in ready:
            queue = waiting[sockets.index(sock)]
            queue.append(sock.recv(1 << 17))
            if len(queue) > group["window"]:
                refuse("more messages than the window has")
        while all(waiting):
            number += 1
            send(group, [queue.pop(0) for queue in waiting], number, fault)


def load(path, fault):
    group = json.load(sys.stdin)
    check(group)
    sockets = []
    for rank in range(len(group["ranks"])):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sock.bind(name_of(0xC00000 | group["group"] << 8 | rank))
        sockets.append(sock)
    pid = os.fork()
    if pid:
        group["pid"] = pid
        with open(path, "w", encoding="ascii") as file:
            json.dump(group, file)
        return
    serve(group, sockets, fault)


def unload(path, number):
    with open(path, encoding="ascii") as file:
        group = json.load(file)
    if group["group"] != number:
        refuse(f"there is no group {number}")
    try:
        os.kill(group["pid"], signal.SIGTERM)
    except ProcessLookupError:
        pass
    os.unlink(path)


def main():
    where, fault, _, verb, what = sys.argv[1:]
    path = os.path.join(where, "group.json")
    kind, _, number = fault.partition(":")
    if verb == "load":
        load(path, (kind, int(number or 0)))
    else:
        unload(path, int(what))


main()
