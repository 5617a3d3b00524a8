#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What the fuzzers start from: seeds.py DIRECTORY [COMMAND]

For each target DIRECTORY/NAME/ has a few valid inputs, made by the command where
there is one that makes such files, and DIRECTORY/NAME.dict the words in them. Those
that are wrong once showed a fault.
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OUT = sys.argv[1]
COMMAND = sys.argv[2] if len(sys.argv) > 2 else "build/rocesteer"
seeds = {}


def run(*args):
    return subprocess.run([COMMAND, *args], check=True, capture_output=True).stdout


def put(target, data, head=b""):
    """A seed: text, bytes, or what is to be JSON, behind some bytes."""
    if not isinstance(data, (str, bytes)):
        data = json.dumps(data)
    if isinstance(data, str):
        data = data.encode()
    seeds.setdefault(target, []).append(head + data)


def portmaps():
    paths = [{"path": 0, "router": "10.255.1.1", "ports": [49152, 49160]},
             {"path": 1, "router": "10.255.1.2", "weight": 3, "ports": [59277]}]
    portmap = {
        "format": 1, "generation": 3, "created": "2026-01-02T03:04:05Z",
        "device": "eth0", "hop": 2, "peers": [
            {"address": "10.1.1.1", "source": "10.1.0.1", "local": False,
             "leaf": "10.255.0.2", "probed": 22, "unanswered": 1, "qpn_hash": True,
             "paths": paths},
            {"address": "fd00::2", "source": "fd00::1", "local": True, "probed": 0,
             "paths": []}]}
    put("portmap", portmap)
    portmap["peers"][0] |= {"expected": 4}
    put("portmap", portmap)
    portmap["peers"][0] |= {"linear": True}
    portmap["models"] = [{
        "source": "10.1.0.1", "hop": 2, "base": 49152, "columns": [1, 2] + 11 * [0] + [3],
        "qpn_columns": [1] + 23 * [2], "steps": [1, 2],
        "routers": ["10.255.1.1", None, "10.255.1.2", "10.255.1.4"]}]
    put("portmap", portmap)
    paths = [{"path": p, "router": f"10.3.{p % 2}.{p // 2}", "via": f"10.2.0.{p % 2 + 1}",
              "ports": [50000 + p]} for p in range(5)]
    portmap["peers"][0] |= {"hop": 3, "leaf_hop": 5, "paths": paths}
    put("portmap", portmap | {"format": 2})
    portmap["peers"][0]["paths"] = [path | {"path": p} for p, path in enumerate(paths[::-1])]
    put("portmap", portmap | {"format": 2})


def recordings():
    paths = [{"router": "10.9.0.2", "entry": "10.9.1.1", "up": True, "probes": 30, "lost": 1,
              "delay_ns": 28600},
             {"router": "10.9.0.6", "entry": "10.9.1.5", "up": False}]
    groups = [{"job": 1, "name": "train", "device": "eth0", "leaf": "10.9.1.1",
               "via": "10.1.0.254", "source": "10.1.0.1", "observed": True, "paths": paths},
              {"job": 2, "device": "eth1", "leaf": "fd00::2", "source": "fd00::1",
               "observed": False, "paths": [{"router": "fd00::3", "up": True}]},
              {"job": 1, "device": "eth0", "leaf": "10.255.0.8", "source": "10.1.0.1",
               "cores": True, "observed": False,
               "paths": [{"router": f"10.255.2.{core}", "via": "10.255.1.1", "up": True,
                          "behind": f"10.255.1.{core}", "entry": "10.255.0.8"}
                         for core in (1, 2)]}]
    flows = [{"group": 0, "peer": "10.1.1.1", "dqpn": 17, "port": 57236, "share": True,
              "observed": True, "cnps": 3,
              "sent": [{"path": path, "packets": 1000, "bytes": 330000, "rounds": 2}]}
             for path in (0, 1, 0)]
    flows[2]["group"] = 2
    flows.append({"group": 0, "peer": "10.1.1.2", "dqpn": 18, "port": 49152, "share": False,
                  "observed": True, "cnps": 0,
                  "sent": [{"packets": 4, "bytes": 300, "rounds": 0}]})
    put("recording", {
        "format": 1, "host": "node0", "version": "0.2.0", "kernel": "7.2",
        "begin": "2026-11-27T01:00:00Z", "ms": 30002, "probed": True, "naks": 1, "cnps": 3,
        "groups": groups, "flows": flows,
        "events": [{"ms": 250, "event": "path-down", "device": "eth0", "leaf": "10.9.1.1",
                    "path": 1}, {"ms": 300, "event": "start"}]})


def reductions():
    ranks = [{"address": "10.1.0.1", "leaf": 0},
             {"address": "10.1.0.2", "leaf": 0, "router": "10.255.1.1"},
             {"address": "10.1.0.3", "leaf": 4, "router": "fd00::ff"}]
    group = {"group": 7, "root": 1, "mtu": 4096, "packets": 40, "window": 2, "ranks": ranks}
    alone = {"group": 16383, "mtu": 256, "packets": 1, "window": 4096, "ranks": ranks[:1] * 3}
    put("reduction", {"format": 1, "job": "train", "groups": [group]})
    put("reduction", {"format": 1, "groups": [alone, group]})


def cluster(fabric, *commands):
    """What is left of a cluster file after these commands."""
    with tempfile.TemporaryDirectory() as directory:
        name = directory + "/cluster.json"
        with open(name, "w") as file:
            json.dump(fabric, file)
        for command in commands:
            run("slice", *command.split(), "--cluster", name)
        with open(name) as file:
            return json.load(file)


def clusters():
    base = {"leaves": 4, "spines": 2, "gpus_per_leaf": 4, "gpus_per_server": 2}
    named = base | {
        "routers": ["10.9.0.1", "10.9.0.2"], "other": {"k": [1, 2]},
        "nics": [[[f"10.0.{leaf}.{2 * server + gpu + 1}" for gpu in range(2)]
                  for server in range(2)] for leaf in range(4)],
        "nodes": [[f"n{leaf}{server}" for server in range(2)] for leaf in range(4)]}
    alloc = "alloc --gpus 8 --job train"
    for fabric in (
            base, base | {"links_per_pair": 2}, base | {"oxcs": 4},
            base | {"oxcs": 3, "spine_ports": 3},
            base | {"oxcs": 4, "spine_ports": 2, "parallel_links": 2,
                    "circuits": [[0, 1, 0, 1]] * 2 + [[None, 0, 0, None]] * 2},
            base | {"links_per_pair": 2, "parallel_links": 2,
                    "drained": {"servers": [[0, 1], [2, 0]]}},
            cluster(base | {"links_per_pair": 2, "parallel_links": 2},
                    "mark --as drained --servers 0/1,2/0", alloc),
            cluster(named, alloc, "alloc --gpus 1", "submit --gpus 8 --job w",
                    "submit --gpus 3 --duration 77",
                    "mark --as failed --links 3/1,2/0",
                    "mark --as drained --servers 3/1",
                    "mark --as drained --leaves 2", "mark --as failed --spines 1"),
            cluster(base | {"oxcs": 4}, alloc, "alloc --gpus 2",
                    "mark --as failed --spines 1"),
            cluster(base | {"links_per_pair": 3}, alloc,
                    "mark --as failed --links 3/1,3/1,2/0")):
        for head in b"\x03\0", b"\x07\x21", b"\x0b\x38":
            put("cluster", fabric, head)
    full = cluster(named, alloc, "alloc --gpus 2 --job small")
    for job in full["jobs"].values():
        put("slice", job)
    servers = [{"leaf": leaf, "server": 0, "gpus": 2,
                "nics": [f"10.0.{leaf}.1", f"10.0.{leaf}.2"]} for leaf in range(2)]
    put("slice", {"job": "x", "gpus": 4, "leaves": [0, 1], "spines": [0, 1],
                  "links": [[0, 0], [0, 1], [1, 0], [1, 1]],
                  "routers": [["10.9.0.1", "10.9.0.2"], ["10.9.1.1", "10.9.1.2"]],
                  "servers": servers})
    two = [{"leaf": leaf, "server": server, "gpus": 2,
            "nics": [f"10.0.{leaf}.{2 * server + n}" for n in (1, 2)]}
           for leaf, server in ((0, 0), (1, 0), (1, 1))]
    put("slice", {"job": "x", "gpus": 6, "leaves": [0, 1], "spines": [0, 1],
                  "lane_links": [1, 1], "links": [[0, 0], [0, 1], [1, 0], [1, 1]],
                  "routers": ["10.9.0.1", "10.9.0.2"], "servers": two})
    put("slice", {"gpus": 6, "leaves": [0, 1], "spines": [1, 1], "lane_links": [1, 2],
                  "links": [[0, 1]] * 2 + [[1, 1]] * 4, "servers": two})
    put("slice", {"gpus": 4, "leaves": [3], "spines": [], "links": [],
                  "servers": [{"leaf": 3, "server": 0, "gpus": 4}]})


def journals():
    lines = (b'{"generation":1,"decision":"alloc","job":"train","gpus":4,"time":"x"}\n'
             b'{"generation":2,"decision":"release","job":"train","time":""}\n')
    for head, more in ((2, b""), (1, b""), (1, b'{"generation":3,"dec'),
                       (5, b'{"generation":6,"decision":"void","time":"x"}\n'),
                       (2, b'{"generation":3,"decision":"alloc","x":"' +
                        b"y" * 5000 + b'"}\n')):
        put("journal", lines + more, bytes([head]))


def chunks():
    first = "--dims 4x2 --bandwidth 1,0.5 --size 64K --chunks"
    for args in (first + " 4", first + " 2 --collective reduce-scatter",
                 "--dims 4x1x2 --bandwidth 1,1,0.5 --size 1000 --chunks 3"
                 " --collective all-gather",
                 "--dims 2x2x2 --bandwidth 1,2,4 --size 9999 --chunks 5"
                 " --policy baseline",
                 first + " 4 --algorithm netreduce,ring"):
        put("chunk", run("chunk", "plan", *args.split(), "--json"))
    plan = json.loads(seeds["chunk"][0])
    dims = [{"dimension": k, "device": f"m{k}", "netdev": "lo",
             "source": f"10.{k}.0.1"} for k in range(2)]
    ranges = [{"peer": f"10.1.0.{2 + n}", "rank": 1 + n, "chunk": n, "stage": stage,
               "dimension": plan["chunks"][n]["order"][stage],
               "start": hex(0x10000040000 + 65536 * n), "length": 4096}
              for n, stage in ((0, 0), (1, 0), (2, 1))]
    put("ranges", {"format": 1, "rank": 0, "hash": plan["hash"], "dimensions": dims,
                   "ranges": ranges})


def plans():
    put("trace", run("slice", "trace", "--jobs", "12", "--gpus", "64"))
    put("trace", "arrival,gpus,duration,communication,pattern\n0,64,1,0.5,ring\n"
        "0,3,0.000001,1,permutation\n5.5,16,10000000,0,all-to-all\n"
        "10000000,8,3,0.107,halving-doubling\n")
    put("simulate", {"flows": [{"from": 0, "to": 1, "bytes": 100},
                               {"from": 1, "to": 9, "bytes": 4096, "step": 7,
                                "paths": [{"path": 3, "bytes": 1}, {"path": 0, "bytes": 3}]},
                               {"from": 2, "to": 4, "bytes": 9, "step": 1,
                                "paths": [{"path": 1, "bytes": 2}]}]})
    put("flows", {"flows": [{"from": 0, "to": 8}, {"from": 1, "to": 9, "step": 1},
                            {"from": 4, "to": 9}, {"from": 0, "to": 9}]})
    plan = json.loads(run("plan", "--flows", "7", "--paths", "4", "--json"))
    for head in ([0, 6, 3, 0] + [1] * 8, [1, 6, 3, 5] + [1] * 8,
                 [2, 6, 3, 0, 3, 1, 2, 5, 1, 1, 1, 1],
                 [6, 8, 4, 1, 3, 1, 2, 5, 1, 1, 1, 1]):
        put("prior", {"pieces": plan["pieces"]}, bytes(head))


def attr(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def u32(kind, value):
    return attr(kind, struct.pack("<I", value))


def message(kind, body, flags=0):
    """With the sequence number that the harness replaces."""
    return struct.pack("<IHHII", 16 + len(body), kind, flags, 0x61616161, 0) + body


def netlink():
    module, control, done = 26, 16, message(3, bytes(4))
    error = message(2, struct.pack("<iIHHII", -2, 20, module, 5, 1, 1) +
                    attr(1, b"no such job\0"), 0x200)
    ack = message(2, bytes(4) + bytes(16))
    job = u32(1, 5) + attr(2, b"train\0") + attr(3, struct.pack("<Q", 99)) + \
        u32(4, 7) + u32(5, 7) + u32(6, 1)
    flow = u32(1, 2) + attr(2, bytes(10) + b"\xff\xff\x0a\1\1\1") + u32(3, 17) + \
        b"".join(u32(i, i) for i in range(4, 18)) + attr(7, b"rxe0\0")
    stats = b"".join(attr(i, struct.pack("<Q", i)) for i in range(1, 25))
    rank = attr(1, bytes(10) + b"\xff\xff\x0a\1\1\1") + u32(2, 17) + u32(3, 9) + \
        attr(4, struct.pack("<Q", 1 << 40))
    group = b"".join(u32(i, i) for i in range(1, 7)) + 2 * attr(0x8007, rank) + \
        b"".join(u32(i, 1) for i in range(8, 13)) + \
        2 * attr(0x800d, b"".join(u32(i, i) for i in range(1, 9)))
    family = attr(1, struct.pack("<H", module)) + u32(3, 1) + \
        attr(7, attr(1, attr(1, b"events\0") + u32(2, 9)))

    def genl(command, body):
        return message(module, struct.pack("<BBH", command, 1, 0) + body)

    def say(what, *answers):
        data = bytes([what])
        for request, answer in answers:
            data += request + struct.pack("<H", len(answer)) + answer
        put("genl", data)

    say(1, (b"\0", genl(2, job) + done))
    say(1, (b"\1", genl(2, flow) + genl(2, flow) + done))
    say(1, (b"\2", genl(2, job) + ack), (b"\2", error))
    say(1, (b"\3", genl(1, stats) + ack))
    say(9, (b"\0", genl(3, group) + genl(3, group) + done))
    say(9, (b"\1", genl(3, group) + ack), (b"\1", error))
    say(9, (b"\2", genl(4, stats) + ack))
    for command, body in (6, flow), (7, job), (8, flow), (9, job):
        say(1, (b"\4", genl(command, body)))
    say(1, (b"\4", message(module, b"")))
    say(0, (b"", message(control, struct.pack("<BBH", 1, 1, 0) + family) + ack),
        (b"\0", genl(2, job) + done))
    say(2, (b"", message(16, struct.pack("<BxHiII", 0, 1, 2, 0x10043, 0)) + done))
    route = message(24, struct.pack("<BBBBBBBBI", 2, 32, 0, 0, 254, 0, 0, 1, 0) +
                    u32(4, 1) + attr(5, bytes([10, 0, 0, 1])) +
                    attr(7, bytes([10, 0, 0, 2])))
    say(3, (b"", route), (b"", route))
    say(7, (b"", route), (b"", route))


def network():
    def frame(kind, body):
        return struct.pack("<QII", 0x7266706572663033, kind, len(body)) + body

    def send(who, data):
        return b"".join(bytes([who, len(part)]) + part for part in
                        (data[at:at + 255] for at in range(0, len(data), 255)))

    def hello(rank):
        return frame(0, struct.pack("<I", rank) +
                     b"dims=2,2\nsize=64\nplan hash=0123\n")

    data = frame(1, b"") + frame(1, b"12345678") + frame(3, b"")
    error = frame(2, struct.pack("<I", 1) + b"code" + bytes(28) + b"message" + bytes(505))
    put("wire", b"\0" + send(0, hello(1)) + send(1, hello(2)) + send(0, data) +
        send(1, data))
    put("wire", b"\0" + send(0, hello(1) + data) + send(1, hello(2) + error))
    put("wire", b"\0" + send(2, frame(0, struct.pack("<I", 9) + b"dims=2\n")))
    put("wire", b"\0" + send(0, frame(0, struct.pack("<I", 2) + b"x" * 5000)))
    put("wire", b"\1" + send(0, frame(1, b"") + frame(1, b"12345678" * 3) + frame(3, b"")))
    for kind in b"\x0b\0", b"\3\3", b"\3\0", b"\3\1":  # time exceeded, unreachable
        for short in b"\0", b"\1":
            put("probe", b"".join(bytes([n]) + kind + b"\0" + b"\0\0\x0a\1\1\1" + b"\2"
                                  for n in range(24)), short)
            put("probe", b"".join(bytes([64 + n]) + kind + b"\3" + bytes(6) +
                                  bytes(range(20)) + b"\1" for n in range(24)), short)
    for i, text in enumerate(("rack[01-12,20]-ib,b", "a,b", "10.0.0.1:99",
                              "[fe80::1]:77", "host", "3", "0x3/4", "a]b[1")):
        put("launch", text, bytes([i % 7 % 5]))
    put("peers", "# peers\n10.0.0.1, 10.0.0.2 # two\n\nfd00::1\n")
    put("peers", "\ufeff10.0.0.1\r\n10.0.0.1\n")
    put("event_socket", '{"time":"2026","event":"path-down","job":1,"device":"eth0",'
        '"leaf":"10.0.0.1","path":2,"router":"10.1.1.1","cause":"leaf","hold_ms":100}\n'
        '{"event":"lost"}\n')
    rng = random.Random(1)
    for size in 100, 400, 2000:
        put("daemon", rng.randbytes(size))
    put("daemon", bytes([1] + [3, 0, 0, 71, 3, 5, 2, 0, 2, 9, 2, 30, 1, 200] * 20))


def slots():
    """Ranks, half of the slots, PSNs; then two bytes a packet: fuzz_slot.c."""
    def put_slot(ranks, half, *packets):
        put("slot", bytes([ranks - 2, half - 1, 1]) + b"".join(map(bytes, packets)))

    def turns(ranks, count):
        return [(rank, 0) for _ in range(count) for rank in range(ranks)]

    def at(ahead):
        """Of the first position that is not complete."""
        return 0xb0 + ahead

    put_slot(2, 4, *turns(2, 20))
    put_slot(2, 4, *turns(2, 20), (0, at(-9)), (1, at(-40)))   # whose slot has another
    put_slot(4, 2, *turns(4, 12))
    put_slot(2, 4, *[(0, 0)] * 4, *[(1, 0)] * 4, (0, at(-4)), *[(0, 0)] * 3,
             (1, at(-2)), (1, 0), *turns(2, 8))                 # who goes back
    put_slot(3, 4, *turns(3, 3), (0, at(1)), (1, 0), (2, 0), (0, at(0)), (0, at(0)),
             (0, at(1)), *turns(3, 5))                          # what is missing
    for wrong in range(0xf1, 0xf5):
        put_slot(2, 4, (0, 0), (1, wrong), *turns(2, 2))
    put_slot(2, 4, (0, 0), (0, at(4)), (1, 0))                  # further than it can be
    put_slot(2, 4, (0, 0), (1, 0), (1, 0), (0, 0xff), (0, 0), (1, 0))
    for inputs in (1, 2, 3):                                    # a leaf: the last brings results
        put("slot", bytes([inputs - 1, 3 | 0x80, 1]) +
            b"".join(map(bytes, turns(inputs + 1, 20))))


def write_dictionary(target, inputs):
    words = set()
    for data in inputs:
        words |= set(re.findall(rb"[A-Za-z][\w.-]{2,24}", data))
    with open(f"{OUT}/{target}.dict", "wb") as file:
        for word in sorted(words)[:200]:
            file.write(b'"%b"\n"\\"%b\\":"\n' % (word, word))


portmaps()
recordings()
reductions()
clusters()
journals()
chunks()
plans()
netlink()
network()
slots()
shutil.rmtree(OUT, ignore_errors=True)
for name, inputs in seeds.items():
    os.makedirs(f"{OUT}/{name}")
    for number, seed in enumerate(inputs):
        with open(f"{OUT}/{name}/{number}", "wb") as out:
            out.write(seed)
    if name not in ("daemon", "probe", "slot"):
        write_dictionary(name, inputs)
