#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One table of what was measured:
table.py NATIVE.json GUEST.json CHUNK.json PLAN.json

NATIVE and GUEST are from bench/cost, CHUNK from bench/chunk, PLAN from bench/plan.

Times are those in the program, without the clock's. In the guest a nanosecond is
an instruction. Ratios are to the first row of each part. Exits 1 when the cost is
above what Documentation/benchmarks.rst says.
"""
import json
import sys

NAMES = {
    "port_only": "port only, by the helper",
    "port_direct": "port only, in place",
    "lookup": "one look-up of the flow",
    "idle": "attached, nothing to steer",
    "steer": "steering whole flows",
    "split": "steering a flow of four pieces",
    "tag_none": "and finding that it has no chunk",
    "tag": "and tagging it",
    "tag_first": "and so with a message's first",
    "recompute": "ICRC from scratch, libdeflate",
    "pedit": "act_pedit, ICRC left broken",
    "whole": "a flow that is not split",
    "in_order": "one that is, in order",
    "swapped": "each second packet waits",
    "without": "without rocesteer",
    "module": "through the module",
    "steered": "and steered",
    "themis": "themis",
    "predict": "themis, and how long it takes",
    "best": "best",
}
PLANS = {
    "plain": "plain wrap-around",
    "new": "no prior",
    "weights": "no prior, 64 weights",
    "unplanned": "flows whole, dealt anywhere",
    "path_dies": "a path dies",
    "path_is_back": "it is back",
    "flow_comes": "a flow comes",
}
MAX_PLAN_US = 1000
MAX_TO_PORT_ONLY = 1.6
MAX_TO_LOOKUP = 2.5
MAX_TO_RECOMPUTE = 1 / 3
MAX_GROWTH = 1.25
MAX_SPLIT = 1.5
MAX_OUT_OF_ORDER = 1.35
MIN_RATE = 97
MAX_PLANNING_US = {"themis": {"64": 20, "4096": 2000},
                   "best": {"64": 500e3, "4096": 500e3}}


def part(title, times, rows, unit="ns"):
    base = times[rows[0]]
    print(f"{title:<34}" + "".join(f"{p:>18}" for p in base))
    for row in rows:
        print(f"  {NAMES[row]:<32}" + "".join(
            f"{times[row][p]:>9.0f} {unit} {times[row][p] / base[p]:>4.2f}x"
            for p in base))
    print()


def tagged(times):
    """Chunks are another program's: what both take, by what it does."""
    steer = times["steer"]
    part("both programs, where jobs have chunks", {"steer": steer} | {
        row: {p: steer[p] + times[row][p] for p in steer}
        for row in ("tag_none", "tag", "tag_first")},
        ["steer", "tag_none", "tag", "tag_first"])


def order(cost):
    print("guest, instructions added to the receipt of a packet")
    for row in ("whole", "in_order", "swapped"):
        print(f"  {NAMES[row]:<32}{cost[row]:>9.0f}    "
              f"{cost[row] / cost['whole']:>4.2f}x")
    print()


def rate(cost):
    print("guest, instructions a packet of a flow that is not split, both ends")
    for row in ("without", "module", "steered"):
        print(f"  {NAMES[row]:<32}{cost[row]:>9.0f}   "
              f"{100 * cost['without'] / cost[row]:>5.1f} % of the rate")
    print()


def planning(times):
    print(f"{'planning over four dimensions':<34}"
          f"{'64 chunks':>18}{'4096 chunks':>18}")
    for row, took in times.items():
        print(f"  {NAMES[row]:<32}" + "".join(
            f"{us / 1e3:>15.1f} ms" if us >= 1e4 else f"{us:>15.1f} us"
            for us in took.values()))
    print()


def plans(times):
    print("this machine, planning 4,096 flows on 64 paths")
    for case, name in PLANS.items():
        print(f"  {name:<32}{times[case]:>9.0f} us "
              f"{times[case] / times['plain']:>5.1f}x")
    print()


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        native = json.load(f)
    with open(sys.argv[2], encoding="utf-8") as f:
        guest = json.load(f)
    with open(sys.argv[3], encoding="utf-8") as f:
        chunk = json.load(f)
    with open(sys.argv[4], encoding="utf-8") as f:
        plan_us = json.load(f)
    received = guest["receive_ns"]
    part("this machine, time in the program", native["run_ns"],
         ["port_only", "port_direct", "lookup", "idle", "steer", "split",
          "recompute"])
    tagged(native["run_ns"])
    part("guest, instructions in the program", guest["run_ns"],
         ["port_only", "port_direct", "lookup", "idle", "steer", "split"], "  ")
    part("guest, instructions added to sends", guest["send_ns"],
         ["pedit", "steer", "split"], "  ")
    order(received)
    rate(guest["rate_ns"])
    planning(chunk)
    plans(plan_us)
    run = native["run_ns"]
    kept = 100 * guest["rate_ns"]["without"] / guest["rate_ns"]["module"]
    failed = kept < MIN_RATE
    print(f"rate kept through the module, in %       {kept:.1f}, "
          f"at least {MIN_RATE:.1f}")
    for row, limits in MAX_PLANNING_US.items():
        for chunks, limit in limits.items():
            if chunk[row][chunks] > limit:
                print(f"{NAMES[row]}, {chunks} chunks: above {limit} us")
                failed = True
    for what, ratio, limit in (
            ("steering : port only, worst payload",
             max(run["steer"][p] / run["port_only"][p] for p in run["steer"]
                 if p.endswith(" B")),
             MAX_TO_PORT_ONLY),
            ("steering : look-up, worst load",
             max(run["steer"][p] / run["lookup"][p] for p in run["steer"]),
             MAX_TO_LOOKUP),
            ("steering : ICRC from scratch, 4096 B",
             run["steer"]["4096 B"] / run["recompute"]["4096 B"],
             MAX_TO_RECOMPUTE),
            ("steering 4096 B : 256 B",
             run["steer"]["4096 B"] / run["steer"]["256 B"], MAX_GROWTH),
            ("splitting : steering, worst load",
             max(run["split"][p] / run["steer"][p] for p in run["split"]),
             MAX_SPLIT),
            ("split, out of order : whole, both ends",
             max((guest["run_ns"]["split"][p] + received["swapped"]) /
                 (guest["run_ns"]["steer"][p] + received["whole"])
                 for p in run["split"]),
             MAX_OUT_OF_ORDER),
            ("slowest plan, in microseconds", max(plan_us.values()),
             MAX_PLAN_US)):
        failed |= ratio > limit
        print(f"{what:<40} {ratio:.2f}, at most {limit:.2f}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
