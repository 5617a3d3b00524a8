#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Bytes sent by each host in each dimension, over time, until a signal.

	sample.py		in the namespace of the grid's bridges

A line is CLOCK_MONOTONIC in seconds, and for each dimension the bytes of all.
"""
import sys
import time

PERIOD = 0.25


def main():
    while True:
        sums = {}
        now = time.monotonic()
        with open("/proc/net/dev", encoding="ascii") as file:
            for line in file:
                name, _, counters = line.partition(":")
                if name.strip().startswith("host"):
                    dim = int(name.rpartition("_")[2])
                    sums[dim] = sums.get(dim, 0) + int(counters.split()[0])
        print(f"{now:.3f}", *(sums[k] for k in sorted(sums)), flush=True)
        time.sleep(PERIOD)


if len(sys.argv) != 1:
    sys.exit(__doc__)
main()
