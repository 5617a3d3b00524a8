#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The report of demo/reduce.sh: reduce.py OUT

Fails when an element was wrong, when a run fell back to the ring, or when the switch saves
less than GATES of what it can save over the ring, or when 1 % of loss behind the switch makes
4 hosts slower than LOSS times.
"""
import json
import os
import sys

import svg

GATES = {"bytes": 0.99, "time": 0.9}
LOSS = 2.5
TITLES = {"ring": "ring", "netreduce": "NetReduce"}
COLOURS = {"ring": "#fc8d59", "netreduce": "#2678be"}
LEFT, WIDTH, RIGHT, BAR = 190, 460, 90, 24


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load(out, hosts, name):
    """A run; bytes are those of the host that has sent most."""
    directory = os.path.join(out, f"{hosts}-{name}")
    run = read(os.path.join(directory, "out0"))
    result = run["results"][0]
    sent = [after - before for before, after in
            zip(read(os.path.join(directory, "before")),
                read(os.path.join(directory, "after")))]
    return {"bytes": max(sent) / run["iters"], "time": result["time_us"] / 1e6,
            "size": result["size"], "wrong": result["wrong"],
            "by_ring": run.get("by_ring", 0), "predicted": run["predicted_us"] / 1e6}


def gain(runs, what):
    return runs["ring"][what] / runs["netreduce"][what]


def table(hosts, runs, small, lossy, delay):
    """Print; returns whether a gate was missed."""
    best = 2 * (hosts - 1) / hosts
    print(f"\n{hosts} hosts, {runs['ring']['size'] / 2**20:g} MiB\n\n"
          "ALGORITHM  BYTES A HOST  SECONDS  PREDICTED  WRONG  4 KiB, ms")
    for name, run in runs.items():
        print(f"{TITLES[name]:9}  {run['bytes']:12.0f}  {run['time']:7.3f}  "
              f"{run['predicted']:9.3f}  {run['wrong']:5}  "
              f"{small[name]['time'] * 1e3:9.1f}")
    for what, gate in GATES.items():
        print(f"{what}: 1/{gain(runs, what):.3f} of the ring's, "
              f"{gain(runs, what) / best:.1%} of what is possible ({best:.3f})")
    print(f"4 KiB: the sum takes 2 hops, {2 * delay} ms, the ring {4 * (hosts - 1)}, "
          f"{4 * (hosts - 1) * delay} ms; the signal to start and the last "
          f"acknowledgment take {4 * delay} ms of either")
    slower = lossy["time"] / runs["netreduce"]["time"]
    print(f"1 % of what the switch sends is lost: {slower:.2f} times as long")
    return any(gain(runs, what) < gate * best for what, gate in GATES.items()) or \
        hosts == 4 and slower > LOSS or \
        any(run["wrong"] or run["by_ring"] for run in [*runs.values(), *small.values(), lossy])


def bars(rows, top, label, unit):
    """Rows of (title, name of the algorithm, value)."""
    largest = max(value for _, _, value in rows)
    bottom = top + len(rows) * (BAR + 6)
    out = svg.axis(LEFT, bottom, top, WIDTH, largest, label)
    for i, (title, name, value) in enumerate(rows):
        y, width = top + i * (BAR + 6) + 2, value / largest * WIDTH
        out.append(f'<text class="e" x="{LEFT - 8}" y="{y + BAR - 7}">{title}</text>'
                   f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" '
                   f'fill="{COLOURS[name]}"/><text x="{LEFT + width + 5:.1f}" '
                   f'y="{y + BAR - 7}">{value:.2f}{unit}</text>')
    return out, bottom + 60


def draw(report):
    body, top = [], 56
    for what, scale, label, unit in (
            ("bytes", 2**20, "MiB that each host sends", ""),
            ("time", 1, "completion, in seconds", " s"),
            ("small", 1e-3, "completion of 4 KiB, in milliseconds", " ms")):
        rows = []
        for hosts, part in report.items():
            runs = part["small"] if what == "small" else part["runs"]
            key = "time" if what == "small" else what
            rows += [(f"{hosts} hosts, {TITLES[name]}", name, run[key] / scale)
                     for name, run in runs.items()]
        lines, top = bars(rows, top, label, unit)
        body += lines
    return "\n".join(svg.opened(
        LEFT + WIDTH + RIGHT, top, 20,
        "All-Reduce of 4 MiB: a ring, and a switch that sums") + body + ["</svg>\n"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    counts = sorted(int(name.partition("-")[0]) for name in os.listdir(out)
                    if name.endswith("-ring"))
    delay = read(os.path.join(out, "delay"))
    report, failed = {}, False
    for hosts in counts:
        runs = {name: load(out, hosts, name) for name in TITLES}
        small = {name: load(out, hosts, name + "-small") for name in TITLES}
        lossy = load(out, hosts, "netreduce-loss")
        failed |= table(hosts, runs, small, lossy, delay)
        report[hosts] = {"runs": runs, "small": small, "lossy": lossy}
    with open(os.path.join(out, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    with open(os.path.join(out, "reduce.svg"), "w", encoding="utf-8") as file:
        file.write(draw(report))
    if failed:
        sys.exit("demo: elements are wrong, the switch has failed, loss costs too much, or the "
                 "switch saves less than " +
                 ", ".join(f"{gate:.0%} of {what}" for what, gate in GATES.items()))


main()
