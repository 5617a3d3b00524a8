#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What sums cost a switch: reduce.py REDUCE.json

REDUCE is from bench/reduce-guest, where a nanosecond is an instruction. Of the rounds of
other traffic the median counts. Exits 1 when the cost is above what
Documentation/benchmarks.rst says.
"""
import json
import statistics
import sys

STATES = {
    "without": "without the module",
    "module": "with the module, no group",
    "group": "with a group, which is idle",
}
ROWS = {
    "crc": "crc32_le() of the payload",
    "read": "reading the packet",
    "read_pages": "reading it, where it is in pages",
    "int32": "slot and sum, int32",
    "fp32": "slot and sum, fp32",
    "bf16": "slot and sum, bf16",
    "fp16": "slot and sum, fp16",
    "all": "int32, until it is sent",
}
COLUMNS = {
    "bridge, UDP": ("bridge", "udp"),
    "bridge, RoCE": ("bridge", "roce"),
    "router, UDP": ("router", "udp"),
    "router, RoCE": ("router", "roce"),
}
MAX_OTHER = 1.03
MAX_READ = 1.5
MAX_SLOT = 3


def part(title, names, count, compare):
    base = count[next(iter(names))]
    print(f"{title:<34}" + "".join(f"{column:>18}" for column in base))
    for row, name in names.items():
        print(f"  {name:<32}" + "".join(
            f"{count[row][c]:>10.0f}{compare(count[row][c] / base[c]):>8}"
            if c in count[row] else f"{'-':>18}" for c in base))
    print()


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    cost = lines.pop()["sum_ns"]
    other = {state: {column: statistics.median(
        line[where][kind] for line in lines if line["state"] == state)
        for column, (where, kind) in COLUMNS.items()} for state in STATES}
    part("guest, other traffic, a packet", STATES, other,
         lambda ratio: f"{100 * (ratio - 1):+.1f} %")
    part("guest, a packet of a group", ROWS, cost, lambda ratio: f"{ratio:.2f}x")
    failed = False
    for what, ratio, limit in (
            ("other traffic, idle group : no module",
             max(other["group"][c] / other["without"][c] for c in COLUMNS),
             MAX_OTHER),
            ("reading : crc32_le(), 4096 B",
             cost["read"]["8 ranks"] / cost["crc"]["8 ranks"], MAX_READ),
            ("slot, int32, 8 ranks : crc32_le()",
             cost["int32"]["8 ranks"] / cost["crc"]["8 ranks"], MAX_SLOT)):
        failed |= ratio > limit
        print(f"{what:<40} {ratio:.3f}, at most {limit:.3f}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
