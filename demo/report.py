#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, report.json and pictures from the results of demo/guest.

report.py DIRECTORY			all the runs that are there
report.py --compare DIRECTORY...	print their traffic and time, for the test of the simulator

Exits 1 if a claim of the README does not hold.
"""
import glob
import json
import os
import sys

import svg
from fabric import fabric_of
from measure import measure, port_map
from simulate import compared, simulate

OURS = ("least", "place", "place-4qp", "label-4qp", "label-8qp", "fewest", "all",
        "all-weights")
# Policies that spread every flow over all paths: their claims hold for all traffic.
EQUAL = ("place-4qp", "label-4qp", "label-8qp", "all", "all-weights")
AT_ONCE = ("permutation", "all-to-all", "ring")
# Traffic whose flows that leave or enter a leaf in a step have sources at different places.
PLACED = ("permutation", "pairwise")

MAX_DEVIATION = 1.0		# percent of what an ideal network has on a link
MAX_OVER_BOUND = 1.05
MAX_STEP_OVER_BOUND = 1.1
# Where the port map knows of the slow link
MAX_SLOW_OVER_BOUND = {"all-weights": 1.1}
# Flows on a link, above an even share of those that may take it
MAX_FLOWS_OVER_EVEN = 1
# The control: no policy may gain or lose more.
MAX_RING_DIFFERENCE = 0.05
OTHERS = ("spray", "ecmp-8qp")
# Of the measured time. Not under spray: rxe goes back, and sends again what it sent. The furthest,
# all-to-all under place in a fat tree, is 4 to 10 % off from run to run.
MAX_SIMULATED_DIFFERENCE = 0.15

COLUMNS = (
    ("policy", "<16"), ("QPs", ">3"), ("fullest uplink", ">14"), ("ideal", ">10"),
    ("uplinks off by", ">18"), ("downlinks off by", ">18"),
    ("completion", ">10"), ("simulated", ">9"), ("planned", ">7"), ("x bound", ">7"),
    ("worst step", ">10"), ("NAKs", ">6"),
    ("retransm.", ">9"), ("ICRC drops", ">10"), ("extra pieces", ">12"),
)
# Links between routers that a report may have
UP, DOWN = ("uplink", "leaf_agg", "agg_core"), ("core_agg", "agg_leaf", "downlink")


def settings(path):
    with open(path, encoding="utf-8") as f:
        return dict(line.strip().split("=", 1) for line in f)


def is_ours(run):
    return run["policy"] in OURS


def is_placed(run):
    """Has each of these flows a path of its own?"""
    up = [run[f"{name}_bytes"] for name in links(run, UP)]
    hosts = run["hosts_per_leaf"] * len(up[0])
    return run["pattern"] in PLACED and all(hosts <= sum(map(len, table)) for table in up)


def links(run, names):
    """Those of these kinds of links that the fabric of the run has."""
    return [name for name in names if f"{name}_bytes" in run]


def off_by(run, names):
    return ", ".join(f"{run[f'{name}_deviation_percent']:.2f} %"
                     for name in links(run, names))


def over_bound(run):
    return run["completion_s"] / run["bound_s"]


def worst_step(run):
    return max((step["seconds"] / step["bound_s"] for step in run["steps"]), default=0)


def row(run):
    first = links(run, UP)[0]
    extra = "-"
    more = "" if run["completed"] else ">"
    if "extra_pieces" in run:
        extra = f"{run['extra_pieces']} of {run['extra_pieces_limit']}"
    return (run["policy"], run["queue_pairs"],
            f"{max(map(max, run[f'{first}_bytes'])):,}",
            f"{max(run[f'{first}_ideal_bytes']):,}", off_by(run, UP), off_by(run, DOWN),
            f"{more}{run['completion_s']:.2f} s",
            *(f"{run[name]:.2f} s" if name in run else "-"
              for name in ("simulated_s", "planned_s")),
            f"{more}{over_bound(run):.3f}", f"{worst_step(run):.3f}",
            run["naks"], run["retransmissions"], run["icrc_drops"], extra)


def groups(runs, *names):
    """Runs with these settings."""
    same = {}
    for run in runs:
        same.setdefault(tuple(run[name] for name in names), []).append(run)
    return same.items()


def traffics(runs):
    """Runs that differ in their policy only."""
    return groups(runs, "hosts_per_leaf", "pattern", "links")


def name(hosts, pattern, condition):
    broken = f", a {svg.BROKEN[condition]}" if condition in svg.BROKEN else ""
    return f"{pattern}{broken}, {hosts} hosts per leaf"


def table(runs):
    for traffic, same in traffics(runs):
        print(f"\n{name(*traffic)}; {same[0]['bound_s']:.2f} s at the rate of the links")
        print(" ".join(f"{head:{form}}" for head, form in COLUMNS))
        for run in same:
            print(" ".join(f"{value:{form}}" for value, (_, form)
                           in zip(row(run), COLUMNS)))


def summary(runs):
    """For each policy: completion over the bound."""
    for (hosts,), same in groups(runs, "hosts_per_leaf"):
        columns = [svg.column(*traffic) for traffic, _ in traffics(same)]
        print(f"\n{hosts} hosts per leaf, completion in times the bound")
        print(f"{'policy':16}", *(f"{head:>{len(head)}}" for head in columns))
        for (policy,), its in groups(same, "policy"):
            cells = {svg.column(hosts, run["pattern"], run["links"]): svg.cell(run)
                     for run in its}
            print(f"{policy:16}", *(f"{cells.get(head, '-'):>{len(head)}}"
                                    for head in columns))
    print()


def limits(run):
    """Claims on the time of a run under rocesteer: name, seconds, limit."""
    policy, pattern = run["policy"], run["pattern"]
    if run["links"] == "slow":
        if policy in MAX_SLOW_OVER_BOUND:
            yield ("completion", run["completion_s"], MAX_SLOW_OVER_BOUND[policy],
                   run["bound_s"])
    elif run["links"] == "healthy":
        if policy in EQUAL or (policy == "fewest" and pattern in AT_ONCE):
            yield "completion", run["completion_s"], MAX_OVER_BOUND, run["bound_s"]
        for number, step in enumerate(run["steps"]):
            at = f"step {number}", step["seconds"], MAX_STEP_OVER_BOUND
            if policy in EQUAL:
                yield *at, step["bound_s"]
            elif policy == "place" and is_placed(run):
                yield *at, step["whole_s"]


def broken_run(run):
    """Claims on a run under rocesteer."""
    if not run["completed"]:
        yield "is not done"
    for what, seconds, times, bound in limits(run):
        if seconds > times * bound:
            yield f"{what} {seconds} s > {times} x {bound} s"
    if run["links"] != "healthy":
        return
    if run["policy"] in (*EQUAL, "fewest"):
        for link in links(run, UP + DOWN):
            percent = run[f"{link}_deviation_percent"]
            if percent > MAX_DEVIATION:
                yield f"{link}: a link is {percent} % off the ideal"
    if run["policy"] == "place" and run["pattern"] in PLACED:
        for link, flows in run["flows_over_even"].items():
            if flows > MAX_FLOWS_OVER_EVEN:
                yield f"{link}: a link has {flows} flows above an even share"
    for count in ("icrc_drops", "naks", "out_of_sequence", "retransmissions"):
        if run[count]:
            yield f"{count} {run[count]}"
    if run.get("extra_pieces", 0) > run.get("extra_pieces_limit", 0):
        yield f"{run['extra_pieces']} extra pieces"


def broken_simulation(run):
    """The claim that the simulator takes as long as the run."""
    if "simulated_s" not in run or run["policy"] == "spray":
        return
    over = run["simulated_s"] / run["completion_s"] - 1
    if abs(over) > MAX_SIMULATED_DIFFERENCE:
        yield f"simulated {run['simulated_s']} s, {100 * over:+.1f} %"


def broken_traffic(same):
    """Claims that compare the policies."""
    by_policy = {run["policy"]: run["completion_s"] for run in same}
    for policy in OURS:
        if policy not in by_policy:
            continue
        if same[0]["pattern"] == "ring":
            others = [("ecmp", MAX_RING_DIFFERENCE)]
        elif policy in EQUAL:
            others = [(other, None) for other in OTHERS]
        else:
            others = []
        for other, difference in others:
            if other not in by_policy:
                continue
            over = by_policy[policy] / by_policy[other] - 1
            if difference is None and over > 0:
                yield f"{policy} takes longer than {other}"
            if difference is not None and abs(over) > difference:
                yield f"{policy} takes {100 * over:+.1f} % of {other}'s time"


def broken(report):
    """The claims that do not hold, in words."""
    flows = report["port_map"]
    if flows["landed_as_planned"] != flows["flows"]:
        yield (f"{flows['landed_as_planned']} of {flows['flows']} flows are on "
               "their planned spines")
    for run in report["runs"]:
        traffic = run["hosts_per_leaf"], run["pattern"], run["links"]
        for text in (*(broken_run(run) if is_ours(run) else ()), *broken_simulation(run)):
            yield f"{name(*traffic)}, {run['policy']}: {text}"
    for traffic, same in traffics(report["runs"]):
        if traffic[2] == "healthy":
            for text in broken_traffic(same):
                yield f"{name(*traffic)}: {text}"


def measured(directory, said):
    """Each run as an entry of the report, and as measured."""
    for path in sorted(glob.glob(os.path.join(directory, "*", "run.json"))):
        yield measure(os.path.dirname(path), said)


def is_simulated(entry):
    return entry["completed"] and entry["links"] == "healthy"


def compare(directories):
    """The runs for the test of the simulator, one a line."""
    lines = [json.dumps(compared(entry, run), separators=(",", ":"))
             for directory in directories
             for entry, run in measured(directory, settings(os.path.join(directory, "settings")))
             if is_simulated(entry)]
    print("[", ",\n".join(lines), "]", sep="\n")


def make(directory):
    said = settings(os.path.join(directory, "settings"))
    runs, flows, good = [], 0, 0
    for entry, run in measured(directory, said):
        if is_simulated(entry):
            entry |= simulate(run)
        runs.append(entry)
        # A broken link makes switches choose other paths.
        if is_ours(entry) and entry["links"] == "healthy":
            found, right = run.landed(port_map(directory, entry["hosts_per_leaf"]))
            flows, good = flows + found, good + right
    order = [(key, said[f"all_{names}"].split(",")) for key, names in
             (("links", "links"), ("pattern", "patterns"), ("policy", "policies"))]
    runs.sort(key=lambda run: (run["hosts_per_leaf"],
                               *(names.index(run[key]) for key, names in order)))
    with open(os.path.join(directory, "kernel"), encoding="utf-8") as f:
        kernel = f.read().strip()
    hosts = sorted({run["hosts_per_leaf"] for run in runs})
    return {
        "kernel": kernel,
        "fabric": fabric_of(said, hosts if len(hosts) > 1 else hosts[0]).shape(),
        "link_mbit": int(said["rate"]),
        "seed": int(said["seed"]),
        "port_map": {"flows": flows, "landed_as_planned": good},
        "runs": runs,
    }


def main():
    if sys.argv[1] == "--compare":
        return compare(sys.argv[2:])
    directory = sys.argv[1]
    report = make(directory)
    with open(os.path.join(directory, "report.json"), "w",
              encoding="utf-8") as f:
        json.dump(report, f, indent=1)
        f.write("\n")
    pictures = svg.draw(report, directory)
    table(report["runs"])
    summary(report["runs"])
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
