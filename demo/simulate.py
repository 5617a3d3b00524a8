# SPDX-License-Identifier: GPL-2.0
"""What "rocesteer simulate" says of the traffic of a run: max-min fair flows on the same links."""
import json
import os
import subprocess

# Policies whose plans follow from the policy and the traffic alone: those of "fewest" begin at
# random paths, which decide how long steps take
PLANNED = ("place", "place-4qp", "label-4qp", "label-8qp", "all", "all-weights")


def options(fabric, host_mbit):
    """The fabric of a run, as options; leaves are those of a pod there."""
    shape = {"leaves": fabric.leaves // fabric.pods, "spines": fabric.aggs,
             "hosts": fabric.hosts, "rate": fabric.link_mbit / 1000,
             "host-rate": host_mbit / 1000}
    if fabric.cores:
        shape = {"pods": fabric.pods, "cores": fabric.cores, **shape}
    return [word for name, value in shape.items() for word in (f"--{name}", str(value))]


def seconds(run, policy, flows):
    """Completion of the flows in the simulator."""
    said = subprocess.run([os.environ.get("ROCESTEER", "build/rocesteer"), "--json", "simulate",
                           *options(run.fabric, run.settings["host_mbit"]), "--policy", policy,
                           "--flows", "/dev/stdin"], input=json.dumps(flows).encode(),
                          stdout=subprocess.PIPE, check=True)
    return round(json.loads(said.stdout)["completion_s"], 3)


def simulate(run):
    """Completion by the paths that the queue pairs took, which are left in flows.json, and by
    the plan of the policy."""
    policy, flows = run.settings["policy"], run.recorded()
    with open(os.path.join(run.directory, "flows.json"), "w", encoding="utf-8") as f:
        json.dump(flows, f)
    said = {"simulated_s": seconds(run, "recorded", flows)}
    if policy in PLANNED:
        said["planned_s"] = seconds(run, policy, run.planned())
    return said


def compared(entry, run):
    """A run for selftests/host/simulate/test_demo.sh, with each queue pair as [from, to, bytes,
    step], and [path, bytes] for each of its paths."""
    flows = [[flow["from"], flow["to"], flow["bytes"], flow["step"],
              *([way["path"], way["bytes"]] for way in flow.get("paths", ()))]
             for flow in run.recorded()["flows"]]
    return {name: entry[name] for name in ("policy", "pattern", "hosts_per_leaf")} | {
        "options": options(run.fabric, run.settings["host_mbit"]),
        "measured_s": entry["completion_s"], "flows": flows}
