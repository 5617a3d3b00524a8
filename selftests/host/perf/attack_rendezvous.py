#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a host that reaches rank 0 of rocesteer-perf may try: attack_rendezvous.py WHAT PORT ..

fill PORT PID           200 connections announce long frames, and send some of
                        them; prints by how many KiB that made PID larger, and
                        how many it keeps
knock PORT              a hello of another version
differ PORT             a hello of another job, with escapes for the terminal
fail PORT COMMAND..     rank 1 reports a failure with status 0, and escapes for the
                        terminal in its text
fail_at_once PORT COMMAND..  the same in one piece with its hello
usurp PORT COMMAND..    rank 1 says that it is rank 0
flood PORT PID COMMAND..  rank 1 says more than its turn; prints how many ms of CPU
                        PID takes in a second after that
silent PORT             listens on 127.0.0.1, and takes nobody; prints "silent"

COMMAND is that of a rank 1, to learn its hello from; it gets --rendezvous.
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time

MAGIC = 0x7266706572663033
HELLO, DATA, ERROR = range(3)


def head(kind, length, magic=MAGIC):
    return struct.pack("=QII", magic, kind, length)


def frame(kind, data, magic=MAGIC):
    return head(kind, len(data), magic) + data


def connect(port):
    return socket.create_connection(("localhost", port))


def learn_hello(command):
    """The hello of that rank, which takes us for rank 0."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        where = f"127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen([*command, "--rendezvous", where],
                              stderr=subprocess.DEVNULL) as rank:
            sock = listener.accept()[0]
            length = struct.unpack("=QII", sock.recv(16, socket.MSG_WAITALL))[2]
            hello = sock.recv(length, socket.MSG_WAITALL)
            rank.kill()
    return hello


def say(port, data):
    """Wait until it answers, or lets us go."""
    sock = connect(port)
    sock.sendall(data)
    with contextlib.suppress(ConnectionError):
        return sock.recv(1)
    return b""


def memory(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks * 1000 // os.sysconf("SC_CLK_TCK")


def is_open(sock):
    try:
        return bool(sock.recv(1, socket.MSG_DONTWAIT))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def fill(port, pid):
    before, socks = memory(pid), []
    for i in range(200):
        sock = connect(port)
        socks.append(sock)
        # Announced as long as may be, or as long as a hello may be.
        with contextlib.suppress(ConnectionError):
            sock.sendall(head(HELLO, (128 << 20, 4096)[i % 2]))
            sock.sendall(bytes(4000 if i % 2 else 4 << 20))
    # All of it is read by the time in which one more is let go.
    say(port, bytes(16))
    print(memory(pid) - before, sum(map(is_open, socks)))


def knock(port):
    print("let in" if say(port, frame(HELLO, bytes(4), MAGIC - 1)) else "let go")


def differ(port):
    say(port, frame(HELLO, struct.pack("=I", 1) + b"dims=\x1b]0;owned\x07\n"))


ALL_WELL = frame(ERROR, struct.pack("=I32s512s", 0, b"all-\x1b[31mwell",
                                    b"nothing \x1b[2Jto\nsee"))


def fail(port, *command):
    sock = connect(port)
    sock.sendall(frame(HELLO, learn_hello(command)))
    sock.sendall(ALL_WELL)
    sock.recv(1)


def fail_at_once(port, *command):
    say(port, frame(HELLO, learn_hello(command)) + ALL_WELL)


def usurp(port, *command):
    say(port, frame(HELLO, struct.pack("=I", 0) + learn_hello(command)[4:]))


def flood(port, pid, *command):
    sock = connect(port)
    sock.sendall(frame(HELLO, learn_hello(command)) + 100 * frame(DATA, bytes(60)))
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


what, port, *rest = sys.argv[1:]
{"fill": fill, "knock": knock, "differ": differ, "fail": fail, "fail_at_once": fail_at_once,
 "usurp": usurp, "flood": flood, "silent": silent}[what](int(port), *rest)
