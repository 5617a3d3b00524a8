#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a host that reaches rank 0 of rocesteer-perf may try: attack_rendezvous.py WHAT PORT ..

fill PORT PID           80 connections announce long frames, and send some of
                        them; prints by how many KiB that made PID larger
knock PORT              a hello of rank 1 by who has no token
fail PORT COMMAND..     rank 1 with the token reports a failure with status 0, and
                        escapes for the terminal in its text
usurp PORT COMMAND..    rank 1 with the token says that it is rank 0
flood PORT PID COMMAND..  rank 1 with the token says more than its turn; prints how
                        many ms of CPU PID takes in a second after that
silent PORT             listens on 127.0.0.1, and takes nobody; prints "silent"

COMMAND is that of a rank 1, to learn its hello from; it gets --rendezvous. The
token is in ROCESTEER_PERF_TOKEN. All this by a SipHash that is checked first.
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time

MAGIC = 0x7266706572663032
HELLO, DATA, ERROR = range(3)
MASK = (1 << 64) - 1


def siphash(key, data):
    """SipHash-2-4 of its paper."""
    def rotl(x, b):
        return (x << b | x >> (64 - b)) & MASK

    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def head(kind, length):
    return struct.pack("=II", kind, length)


class Wire:
    """A connection that has greeted."""

    def __init__(self, sock, key):
        self.sock, self.key, self.sent = sock, key, 0
        self.mine = os.urandom(16)
        sock.sendall(struct.pack("=Q", MAGIC) + self.mine)
        self.theirs = self.read(24)[8:]

    def read(self, length):
        got = b""
        while len(got) < length:
            more = self.sock.recv(length - len(got))
            if not more:
                sys.exit("it has closed the connection")
            got += more
        return got

    def frame(self, kind, data):
        first = head(kind, len(data))
        tag = siphash(self.key, self.mine + self.theirs +
                      struct.pack("=Q", self.sent) + first + data)
        self.sent += 1
        return first + data + struct.pack("=Q", tag)

    def send(self, kind, data):
        self.sock.sendall(self.frame(kind, data))


def connect(port):
    return socket.create_connection(("localhost", port))


def token():
    return bytes.fromhex(os.environ["ROCESTEER_PERF_TOKEN"])


def learn_hello(command):
    """The hello of that rank, which takes us for rank 0."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        where = f"127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen([*command, "--rendezvous", where],
                              stderr=subprocess.DEVNULL) as rank:
            wire = Wire(listener.accept()[0], token())
            length = struct.unpack("=II", wire.read(8))[1]
            hello = wire.read(length)
            rank.kill()
    return hello


def enter(port, command):
    wire = Wire(connect(port), token())
    wire.send(HELLO, learn_hello(command))
    return wire


def memory(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks * 1000 // os.sysconf("SC_CLK_TCK")


def fill(port, pid):
    before, wires = memory(pid), []
    for i in range(80):
        wire = Wire(connect(port), bytes(16))
        wires.append(wire)
        # Announced as long as may be, or as long as a hello may be.
        with contextlib.suppress(ConnectionError):
            wire.sock.sendall(head(HELLO, (128 << 20, 4096)[i % 2]))
            wire.sock.sendall(bytes(4000 if i % 2 else 4 << 20))
    # All of it is read by the time in which one more is greeted.
    Wire(connect(port), bytes(16))
    print(memory(pid) - before)


def knock(port):
    wire = Wire(connect(port), bytes(16))
    wire.send(HELLO, struct.pack("=I", 1) + b"dims=\x1b]0;owned\x07\n")
    print("let in" if wire.sock.recv(1) else "let go")


ALL_WELL = struct.pack("=I32s512s", 0, b"all-\x1b[31mwell",
                       b"nothing \x1b[2Jto\nsee")


def fail(port, *command):
    wire = enter(port, command)
    wire.send(ERROR, ALL_WELL)
    wire.sock.recv(1)


def fail_at_once(port, *command):
    wire = Wire(connect(port), token())
    wire.sock.sendall(wire.frame(HELLO, learn_hello(command)) +
                      wire.frame(ERROR, ALL_WELL))
    wire.sock.recv(1)


def usurp(port, *command):
    wire = Wire(connect(port), token())
    wire.send(HELLO, struct.pack("=I", 0) + learn_hello(command)[4:])
    wire.sock.recv(1)


def flood(port, pid, *command):
    wire = enter(port, command)
    wire.sock.sendall(b"".join(wire.frame(DATA, bytes(60))
                               for _ in range(100)))
    before = cpu(pid)
    time.sleep(1)
    print(cpu(pid) - before)


def silent(port):
    listener = socket.create_server(("127.0.0.1", port), backlog=0)
    queued = []
    with contextlib.suppress(TimeoutError):
        while True:
            queued.append(socket.create_connection(listener.getsockname(), 0.5))
    print("silent", flush=True)
    signal.pause()


# Of the paper's appendix.
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5
what, port, *rest = sys.argv[1:]
{"fill": fill, "knock": knock, "fail": fail,
 "fail_at_once": fail_at_once, "usurp": usurp, "flood": flood,
 "silent": silent}[what](int(port), *rest)
