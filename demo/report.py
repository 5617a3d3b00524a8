#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what demo/guest measured into a table, report.json and pictures.

report.py DIRECTORY

Exits 1 when a promise of the README does not hold.
"""
import itertools
import json
import os
import sys

import svg
from measure import measure, port_map

# What the demonstration promises of every run under rocesteer.
MAX_DEVIATION = 1.0		# percent of what an ideal network has on a link
MAX_OVER_BOUND = 1.05
# The control: nobody gains or loses more than this.
MAX_RING_DIFFERENCE = 0.05
OTHERS = ("spray", "ecmp-8qp")

COLUMNS = (
    ("policy", "<16"), ("QPs", ">3"), ("fullest uplink", ">14"),
    ("ideal", ">10"), ("off by", ">8"), ("downlinks", ">9"),
    ("completion", ">10"), ("x bound", ">7"), ("NAKs", ">6"),
    ("retransm.", ">9"), ("ICRC drops", ">10"), ("extra pieces", ">12"),
)


def settings(path):
    with open(path, encoding="utf-8") as f:
        return dict(line.strip().split("=", 1) for line in f)


def is_ours(run):
    return run["policy"].startswith("ethereal")


def row(run):
    extra = "-"
    more = "" if run["completed"] else ">"
    if "extra_pieces" in run:
        extra = f"{run['extra_pieces']} of {run['extra_pieces_limit']}"
    return (run["policy"], run["queue_pairs"],
            f"{max(map(max, run['uplink_bytes'])):,}",
            f"{max(run['uplink_ideal_bytes']):,}",
            f"{run['uplink_deviation_percent']:.2f} %",
            f"{run['downlink_deviation_percent']:.2f} %",
            f"{more}{run['completion_s']:.2f} s",
            f"{more}{run['completion_s'] / run['bound_s']:.3f}",
            run["naks"], run["retransmissions"], run["icrc_drops"], extra)


def groups(runs):
    """Runs that differ in their policy only."""
    same = {}
    for run in runs:
        same.setdefault((run["hosts_per_leaf"], run["pattern"]), []).append(run)
    return same.items()


def table(runs):
    for (hosts, pattern), same in groups(runs):
        print(f"\n{pattern}, {hosts} hosts per leaf; "
              f"{same[0]['bound_s']:.2f} s at the rate of the links")
        print(" ".join(f"{name:{form}}" for name, form in COLUMNS))
        for run in same:
            print(" ".join(f"{value:{form}}" for value, (_, form)
                           in zip(row(run), COLUMNS)))
    print()


def broken_run(run):
    """Promises of one run under rocesteer."""
    if not run["completed"]:
        yield "is not done"
    for name in ("uplink", "downlink"):
        percent = run[f"{name}_deviation_percent"]
        if percent > MAX_DEVIATION:
            yield f"a {name} is {percent} % off the ideal"
    if run["completion_s"] > MAX_OVER_BOUND * run["bound_s"]:
        yield (f"completion {run['completion_s']} s > "
               f"{MAX_OVER_BOUND} x {run['bound_s']} s")
    for name in ("icrc_drops", "naks", "out_of_sequence", "retransmissions"):
        if run[name]:
            yield f"{name} {run[name]}"
    if run.get("extra_pieces", 0) > run.get("extra_pieces_limit", 0):
        yield f"{run['extra_pieces']} extra pieces"


def broken_group(same):
    """Promises that compare the policies."""
    by_policy = {run["policy"]: run["completion_s"] for run in same}
    ours = {run["policy"] for run in same if is_ours(run)}
    for policy in ours:
        if same[0]["pattern"] == "ring":
            others = [("ecmp", MAX_RING_DIFFERENCE)]
        else:
            others = [(name, None) for name in OTHERS]
        for name, difference in others:
            if name not in by_policy:
                continue
            over = by_policy[policy] / by_policy[name] - 1
            if difference is None and over > 0:
                yield f"{policy} takes longer than {name}"
            if difference is not None and abs(over) > difference:
                yield f"{policy} takes {100 * over:+.1f} % of {name}'s time"


def broken(report):
    """The promises that do not hold, in words."""
    flows = report["port_map"]
    if flows["landed_as_planned"] != flows["flows"]:
        yield (f"{flows['landed_as_planned']} of {flows['flows']} flows are on "
               "their planned spines")
    for run in filter(is_ours, report["runs"]):
        for text in broken_run(run):
            yield f"{run['pattern']}, {run['hosts_per_leaf']}, {run['policy']}: {text}"
    for (hosts, pattern), same in groups(report["runs"]):
        for text in broken_group(same):
            yield f"{pattern}, {hosts}: {text}"


def make(directory):
    said = settings(os.path.join(directory, "settings"))
    shape = {k: int(said[k]) for k in ("leaves", "spines")}
    shape["link_mbit"] = int(said["rate"])
    runs, flows, good = [], 0, 0
    for name in itertools.product(*(said[k].split(",") for k in
                                    ("hosts", "patterns", "policies"))):
        entry, run = measure(os.path.join(directory, "-".join(name)), shape)
        runs.append(entry)
        if is_ours(entry):
            found, right = run.landed(port_map(directory, entry["hosts_per_leaf"]))
            flows, good = flows + found, good + right
    with open(os.path.join(directory, "kernel"), encoding="utf-8") as f:
        kernel = f.read().strip()
    hosts = [int(n) for n in said["hosts"].split(",")]
    return {
        "kernel": kernel,
        "fabric": {"leaves": shape["leaves"], "spines": shape["spines"],
                   "hosts": hosts if len(hosts) > 1 else hosts[0]},
        "link_mbit": shape["link_mbit"],
        "seed": int(said["seed"]),
        "port_map": {"flows": flows, "landed_as_planned": good},
        "runs": runs,
    }


def main():
    directory = sys.argv[1]
    report = make(directory)
    with open(os.path.join(directory, "report.json"), "w",
              encoding="utf-8") as f:
        json.dump(report, f, indent=1)
        f.write("\n")
    pictures = svg.draw(report, directory)
    table(report["runs"])
    flows = report["port_map"]
    print(f"{flows['landed_as_planned']} of {flows['flows']} flows under "
          "rocesteer on their planned spines")
    print(", ".join([f"{directory}/report.json"] + pictures))
    failed = list(broken(report))
    for text in failed:
        print("FAILED:", text)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
