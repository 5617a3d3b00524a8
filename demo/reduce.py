#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The report of demo/reduce.sh: reduce.py OUT

Fails when an element was wrong, when a run fell back to the ring, when switches save less
than GATES of what they can save over the ring, when a leaf sends more than UPLINK times the
buffer to its spines, when 1 % of loss behind the switch makes 4 hosts slower than LOSS
times, or when a box beside the switch takes BOX times the bytes or the time of the switch.
"""
import json
import os
import sys

import svg

GATES = {"bytes": 0.99, "time": 0.9}
UPLINK = 1.05
LOSS = 2.5
BOX = 1.1
TITLES = {"ring": "ring", "netreduce": "NetReduce", "box": "NetReduce by a box"}
COLOURS = {"ring": "#fc8d59", "netreduce": "#2678be", "box": "#74add1"}
LEFT, WIDTH, RIGHT, BAR = 215, 460, 90, 24


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load(out, hosts, name):
    """A run; bytes of the host, and of the leaf, that has sent most."""
    directory = os.path.join(out, f"{hosts}-{name}")
    run = read(os.path.join(directory, "out0"))
    result = run["results"][0]
    before, after = (read(os.path.join(directory, when)) for when in ("before", "after"))
    sent = {who: [(b - a) / run["iters"] for a, b in zip(before[who], after[who])]
            for who in after}
    return {"hosts": sent["hosts"], "uplinks": sent["uplinks"],
            "bytes": max(sent["hosts"]), "uplink": max(sent["uplinks"], default=0),
            "time": result["time_us"] / 1e6, "size": result["size"],
            "wrong": result["wrong"], "by_ring": run.get("by_ring", 0),
            "predicted": run["predicted_us"] / 1e6}


def gain(runs, what):
    return runs["ring"][what] / runs["netreduce"][what]


def is_tree(name):
    return "x" in name


def title_of(name):
    leaves, _, hosts = name.partition("x")
    return f"{leaves} leaves x {hosts} hosts" if hosts else f"{name} hosts"


def table(name, runs):
    """Print the table; return whether a gate was missed."""
    hosts = len(runs["ring"]["hosts"])
    best = 2 * (hosts - 1) / hosts
    size = runs["ring"]["size"]
    print(f"\n{title_of(name)}, {size / 2**20:g} MiB\n\n"
          "ALGORITHM           BYTES A HOST  BYTES A LEAF  SECONDS  PREDICTED  WRONG")
    for algorithm, run in runs.items():
        up = f"{run['uplink']:.0f}" if is_tree(name) else "-"
        print(f"{TITLES[algorithm]:18}  {run['bytes']:12.0f}  {up:>12}  "
              f"{run['time']:7.3f}  {run['predicted']:9.3f}  {run['wrong']:5}")
    for what, gate in GATES.items():
        print(f"{what}: 1/{gain(runs, what):.3f} of the ring's, "
              f"{gain(runs, what) / best:.1%} of what is possible ({best:.3f})")
    failed = any(gain(runs, what) < gate * best for what, gate in GATES.items()) or \
        any(run["wrong"] or run["by_ring"] for run in runs.values())
    for what in GATES if "box" in runs else ():
        ratio = runs["box"][what] / runs["netreduce"][what]
        print(f"{what}: a box takes {ratio:.3f} times as much as the switch")
        failed |= ratio > BOX
    if is_tree(name):
        ratio = runs["netreduce"]["uplink"] / size
        print(f"a leaf sends {ratio:.3f} of the buffer to its spines")
        failed |= ratio > UPLINK
    return failed


def table_more(hosts, runs, small, lossy, delay):
    """Print results of one switch alone; return whether a gate was missed."""
    print(", ".join(f"4 KiB by the {TITLES[name]}: {run['time'] * 1e3:.1f} ms"
                    for name, run in small.items()))
    print(f"4 KiB: the sum takes 2 hops, {2 * delay} ms, the ring {4 * (hosts - 1)}, "
          f"{4 * (hosts - 1) * delay} ms; the signal to start and the last "
          f"acknowledgment take {4 * delay} ms of either")
    slower = lossy["time"] / runs["netreduce"]["time"]
    print(f"1 % of what the switch sends is lost: {slower:.2f} times as long")
    return hosts == 4 and slower > LOSS or \
        any(run["wrong"] or run["by_ring"] for run in [*small.values(), lossy])


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
    for what, key, scale, label, unit in (
            ("runs", "bytes", 2**20, "MiB that each host sends", ""),
            ("runs", "uplink", 2**20, "MiB that each leaf sends to its spines", ""),
            ("runs", "time", 1, "completion, in seconds", " s"),
            ("small", "time", 1e-3, "completion of 4 KiB, in milliseconds", " ms")):
        rows = [(f"{title_of(name)}, {TITLES[algorithm]}", algorithm, run[key] / scale)
                for name, part in report.items()
                for algorithm, run in part.get(what, {}).items() if run[key]]
        if rows:
            lines, top = bars(rows, top, label, unit)
            body += lines
    return "\n".join(svg.opened(
        LEFT + WIDTH + RIGHT, top, 20,
        "All-Reduce of 4 MiB: a ring, and switches that sum") + body + ["</svg>\n"])


def summary(kernel, report):
    """All runs; "of": 4 MiB ("runs"), 4 KiB ("small"), or 4 MiB with loss ("lossy")."""
    return {"kernel": kernel, "runs": [
        {"fabric": "leaf-spine" if is_tree(name) else "leaf", "name": name, "of": what,
         "algorithm": algorithm, "hosts": len(run["hosts"]), "bytes": run["size"],
         "sent_per_host": [round(n) for n in run["hosts"]],
         "uplink_bytes": [round(n) for n in run["uplinks"]],
         "completion_s": run["time"], "wrong": run["wrong"]}
        for name, part in report.items()
        for what in part for algorithm, run in part[what].items()]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    names = sorted((name.removesuffix("-ring") for name in os.listdir(out)
                    if name.endswith("-ring")), key=lambda name: (is_tree(name), name))
    delay = read(os.path.join(out, "delay"))
    with open(os.path.join(out, "kernel"), encoding="utf-8") as file:
        kernel = file.read().strip()
    report, failed = {}, False
    for name in names:
        runs = {title: load(out, name, title) for title in TITLES
                if title != "box" or not is_tree(name)}
        report[name] = {"runs": runs}
        failed |= table(name, runs)
        if is_tree(name):
            continue
        small = {title: load(out, name, title + "-small") for title in ("ring", "netreduce")}
        lossy = load(out, name, "netreduce-loss")
        report[name] |= {"small": small, "lossy": {"netreduce": lossy}}
        failed |= table_more(int(name), runs, small, lossy, delay)
    with open(out + ".json", "w", encoding="utf-8") as file:
        json.dump(summary(kernel, report), file, indent=1)
    with open(out + ".svg", "w", encoding="utf-8") as file:
        file.write(draw(report))
    if failed:
        sys.exit("demo: elements are wrong, switches have failed, loss, a box or a leaf's "
                 "uplinks cost too much, or switches save less than " +
                 ", ".join(f"{gate:.0%} of {what}" for what, gate in GATES.items()))


main()
