#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One table of what bench/cost measured: table.py NATIVE.json GUEST.json

Times are those in the program, without the clock's, and for information only. In the
guest a nanosecond is an instruction. Ratios are to the first row of each part. Exits 1
where a count of instructions is above its limit.
"""
import json
import sys

NAMES = {
    "port_only": "port only, by the helper",
    "port_direct": "port only, in place",
    "lookup": "one look-up of the flow",
    "idle": "attached, nothing to steer",
    "observe": "observing a flow",
    "steer": "steering whole flows",
    "split": "steering a flow of four pieces",
    "tag_none": "finding that it has no chunk",
    "tag": "tagging a packet of a chunk",
    "tag_first": "tagging a message's first packet",
    "recompute": "ICRC from scratch, libdeflate",
    "pedit": "act_pedit, ICRC left broken",
    "whole": "a flow that is not split",
    "in_order": "one that is, in order",
    "swapped": "each second packet waits",
    "without": "without rocesteer",
    "module": "through the module",
    "steered": "and steered",
    "observed": "observed only",
}
# The most instructions of a program, for packets of one flow of any length
MOST = {"idle": 170, "observe": 450, "steer": 510, "split": 575}
# What tagging adds to steering
MOST_TAGGED = {"tag": 140, "tag_first": 660}
# Most time to receive a packet, and of both ends of a flow, beyond the time without us
MOST_RECEIVED = {"whole": 260, "in_order": 300, "swapped": 550}
MOST_ADDED = {"module": 290, "steered": 1000, "observed": 600}


def part(title, times, rows, unit="ns"):
    base = times[rows[0]]
    print(f"{title:<34}" + "".join(f"{p:>18}" for p in base))
    for row in rows:
        print(f"  {NAMES[row]:<32}" + "".join(
            f"{times[row][p]:>9.0f} {unit} {times[row][p] / base[p]:>4.2f}x"
            for p in base))
    print()


def order(cost):
    print("guest, instructions added to the receipt of a packet")
    for row in ("whole", "in_order", "swapped"):
        print(f"  {NAMES[row]:<32}{cost[row]:>9.0f}    "
              f"{cost[row] / cost['whole']:>4.2f}x")
    print()


def rate(cost):
    print("guest, instructions a packet of a flow that is not split, both ends")
    for row in ("without", "module", "steered", "observed"):
        print(f"  {NAMES[row]:<32}{cost[row]:>9.0f}   "
              f"{100 * cost['without'] / cost[row]:>5.1f} % of the rate")
    print()


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        native = json.load(f)
    with open(sys.argv[2], encoding="utf-8") as f:
        guest = json.load(f)
    rows = ["port_only", "port_direct", "lookup", "idle", "observe", "steer", "split"]
    both = ["steer", "tag_none", "tag", "tag_first"]
    runs = guest["run_ns"]
    part("this machine, time in the program", native["run_ns"], rows + ["recompute"])
    part("this machine, both programs", native["run_ns"], both)
    part("guest, instructions in the program", runs, rows, "  ")
    part("guest, instructions of both programs", runs, both, "  ")
    part("guest, instructions added to sends", guest["send_ns"],
         ["pedit", "observe", "steer", "split"], "  ")
    order(guest["receive_ns"])
    rate(guest["rate_ns"])
    rates = guest["rate_ns"]
    one = [load for load in runs["steer"] if load.endswith(" B")]
    limits = [(NAMES[row], max(runs[row][load] for load in one), most)
              for row, most in MOST.items()]
    limits += [(NAMES[row], max(runs[row][load] - runs["steer"][load] for load in one), most)
               for row, most in MOST_TAGGED.items()]
    limits += [(NAMES[row], guest["receive_ns"][row], most)
               for row, most in MOST_RECEIVED.items()]
    limits += [(NAMES[row], rates[row] - rates["without"], most)
               for row, most in MOST_ADDED.items()]
    for what, count, most in limits:
        print(f"{what:<40}{count:>6.0f}, at most {most}")
    return any(count > most for _, count, most in limits)


if __name__ == "__main__":
    sys.exit(main())
