#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One table of what bench/slice measured, and how long the whole command takes:
slices.py SLICE.json

Exits 1 when a time is above what Documentation/benchmarks.rst says.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# GPUs of the cluster: the most that p50, p99 and the worst may take, in us
MOST = {8192: (1e3, 10e3, 1e6), 65536: (None, 100e3, None)}


def command(leaves, gpus, spines):
    """Median ms of "slice alloc" and --dry-run where jobs fill the cluster."""
    times = {True: [], False: []}
    with tempfile.TemporaryDirectory(dir="build/bench") as where:
        name = os.path.join(where, "cluster.json")
        with open(name, "w", encoding="utf-8") as f:
            json.dump({"leaves": leaves, "spines": spines,
                       "gpus_per_leaf": gpus, "gpus_per_server": 8}, f)
        for i in range(200):
            size = (leaves * gpus // 4096) << i % 6
            for dry in (True, False):
                start = time.monotonic()
                subprocess.run(["build/rocesteer", "slice", "alloc",
                                "--cluster", name, "--gpus", str(size)] +
                               dry * ["--dry-run"],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
                times[dry].append((time.monotonic() - start) * 1e3)
    return (statistics.median(times[dry][100:]) for dry in (True, False))


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = json.load(f)
    failed = False
    print(f"{'leaves x GPUs x spines':<24}{'server':>6}{'used':>6}{'placed':>8}"
          f"{'p50':>11}{'p99':>11}{'worst':>12}")
    for row in rows:
        size = int(row["leaves"] * row["gpus_per_leaf"])
        above = [most for us, most in zip(
            (row["p50_us"], row["p99_us"], row["worst_us"]), MOST[size])
            if most and us > most]
        failed |= bool(above)
        shape = " x ".join(f"{row[key]:.0f}" for key in
                           ("leaves", "gpus_per_leaf", "spines"))
        print(f"{shape:<24}{row['gpus_per_server']:>6.0f}"
              f"{row['used']:>6.0%}{row['placed']:>8.0%}"
              f"{row['p50_us'] / 1e3:>8.3f} ms{row['p99_us'] / 1e3:>8.3f} ms"
              f"{row['worst_us'] / 1e3:>9.3f} ms"
              f"{'  too slow' if above else ''}", flush=True)
    print()
    for shape in ((256, 32, 32), (1024, 64, 64)):
        print("whole command, {} x {} x {}:".format(*shape),
              "{:.0f} ms with --dry-run, {:.0f} ms without".format(
                  *command(*shape)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
