#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Switches that sum, for the NICs of fake_verbs.c: fake_switch.py DIR FAULT SWITCH reduce ..

reduce load - [OPTION]  read a group, and check it. When the last of its switches is told, sum
                        its ranks' messages in the background
reduce join - [OPTION]  likewise, for a group that the switch has
reduce unload GROUP     end that

SWITCH is "leafN" or "spineN", which OPTION says too, or "alone". DIR/group-GROUP-SWITCH is what
the switch has, or reserves. DIR/labels gets lines "GROUP RANK LABEL", the flow labels of first
messages.

FAULT is what goes wrong at the Nth result: WHAT:N, or WHAT:N@GROUP[,..] only there

die     the switches are gone
lose    it never comes
twist   it has the number of the next one
none    nothing
refuse  the Nth time that a switch is told of the group, it refuses
"""
import array
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time

HEAD = struct.Struct("=QI4sQQ")  # address, bytes, immediate, flow label, wr_id
TYPES = {"int32": "I", "fp32": "f"}
FIELDS = {"group", "type", "op", "mtu", "packets", "window", "ranks"}
RANK_FIELDS = {"address", "leaf", "qpn", "psn", "va"}


def name_of(qpn):
    """As name_of() there: of full length."""
    return (b"\0rocesteer-fake-%d" % qpn).ljust(108, b"\0")


def refuse(what):
    sys.exit(f"fake switch: {what}")


def check(group):
    if set(group) - {"root"} != FIELDS or not 0 <= group["group"] < 1 << 14:
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
        addr, length, imm, _, _ = HEAD.unpack_from(message)
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
            addr, length, imm, label, wr_id = HEAD.unpack_from(message)
            if what == "twist" and number == at:
                imm = struct.pack("!I", number)
            to = group["ranks"][(rank + 1) % len(messages)]["qpn"]
            try:
                out.sendto(HEAD.pack(addr, length, imm, label, wr_id) + payload, name_of(to))
            except ConnectionRefusedError:
                pass    # it has given up


def note_labels(where, group, messages):
    with open(os.path.join(where, "labels"), "a", encoding="ascii") as file:
        for rank, message in enumerate(messages):
            print(group["group"], rank, HEAD.unpack_from(message)[3], file=file)


def serve(where, group, sockets, fault):
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
            messages = [queue.pop(0) for queue in waiting]
            if number == 1:
                note_labels(where, group, messages)
            send(group, messages, number, fault)


def place(where, number, switch):
    return os.path.join(where, f"group-{number}-{switch}")


def read(path):
    with open(path, encoding="ascii") as file:
        return json.load(file)


def stop(where, number):
    """Whoever sums for the group now."""
    path = os.path.join(where, f"pid-{number}")
    if os.path.exists(path):
        try:
            os.kill(read(path), signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.unlink(path)


def bind(name):
    """Who is killed keeps his name for a moment."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for _ in range(100):
        try:
            sock.bind(name)
            break
        except OSError:
            time.sleep(0.05)
    return sock


def begin(where, group, fault):
    sockets = [bind(name_of(0xC00000 | group["group"] << 8 | rank))
               for rank in range(len(group["ranks"]))]
    pid = os.fork()
    if pid:
        with open(os.path.join(where, f"pid-{group['group']}"), "w", encoding="ascii") as file:
            json.dump(pid, file)
        return
    serve(where, group, sockets, fault)


def switches_of(group, switch):
    """Those that have to know it, if this is one of them."""
    leaves = sorted({rank["leaf"] for rank in group["ranks"]})
    if switch == "alone":
        return [switch]
    if len(leaves) > 1:
        return [f"leaf{leaf}" for leaf in leaves] + [f"spine{group['root']}"]
    return [f"leaf{leaf}" for leaf in leaves]


def times_told(where, number, switch):
    """This one counts."""
    with open(os.path.join(where, f"told-{number}-{switch}"), "a+", encoding="ascii") as file:
        file.write("x")
        return file.tell()


def tell(where, fault, verb, switch):
    group = json.load(sys.stdin)
    check(group)
    number = group["group"]
    path = place(where, number, switch)
    switches = switches_of(group, switch)
    if switch not in switches:
        refuse(f"{switch} is none of {switches}")
    fault = parse_fault(fault, number)
    if verb == "join" and not os.path.exists(path):
        print(json.dumps({"error": {"code": "not-found", "message": "No such group"}}))
        sys.exit(1)
    if verb == "load" and os.path.exists(path):
        refuse(f"{switch} has group {number}")
    if fault == ("refuse", times_told(where, number, switch)):
        refuse(f"{switch} takes no group {number}")
    with open(path, "w", encoding="ascii") as file:
        json.dump(group, file)
    paths = [place(where, number, other) for other in switches]
    if all(os.path.exists(path) and read(path) == group for path in paths):
        stop(where, number)
        begin(where, group, fault)


def unload(where, number, switch):
    path = place(where, number, switch)
    if not os.path.exists(path):
        refuse(f"there is no group {number}")
    os.unlink(path)
    stop(where, number)


def parse_fault(texts, number):
    """That of a group."""
    for text in texts.split(","):
        kind, _, when = text.partition(":")
        when, _, only = when.partition("@")
        if not only or int(only) == number:
            return kind, int(when or 0)
    return "none", 0


def main():
    where, fault, switch, _, verb, what, *options = sys.argv[1:]
    if verb != "unload" and switch != "alone" and \
       switch != "".join(options).replace("--json", "").lstrip("-"):
        refuse(f"{options} do not say {switch}")
    with open(os.path.join(where, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if verb == "unload":
            unload(where, int(what), switch)
        else:
            tell(where, fault, verb, switch)
        fcntl.flock(lock, fcntl.LOCK_UN)    # who sums has it open


main()
