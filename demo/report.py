#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what demo/guest measured into a table, report.json and fabric.svg.

report.py DIRECTORY

Exits 1 when a promise of the README does not hold.
"""
import glob
import ipaddress
import json
import os
import re
import sys

import svg

# What the demonstration promises of every run under rocesteer.
MAX_IMBALANCE = 1.05
MAX_OVER_BOUND = 1.1


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return json.load(f)


def difference(after, before):
    return [[a - b for a, b in zip(x, y)] for x, y in zip(after, before)]


def counters(path):
    """Sum of each rxe hw_counter over the hosts."""
    sums = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            name, value = line.rsplit("/", 1)[1].split(":")
            sums[name] = sums.get(name, 0) + int(value)
    return sums


def client_seconds(path):
    """From the first post to the last completion, as ib_write_bw has it."""
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r"^ (\d+) +(\d+) +([\d.]+) +([\d.]+) ", f.read(), re.M)
    size, iterations, _, mib_per_s = rows[-1]
    return int(size) * int(iterations) / (float(mib_per_s) * 2**20)


def seen(path):
    """Packets of each flow that passed a spine: (destination, QPN) -> count."""
    flows = {}
    for entry in load(path):
        key = entry["formatted"]["key"]
        flows[address(key["peer"]), key["dqpn"]] = \
            entry["formatted"]["value"]["packets"]
    return flows


def address(octets):
    parsed = ipaddress.ip_address(bytes(octets))
    return str(parsed.ipv4_mapped or parsed)


def planned_flows(run, shape):
    """Spine that each flow is planned on, by (peer, QPN): from the samples of
    the hosts' path tables, and the router that their port maps say."""
    spine_of = {}
    for host in range(shape["leaves"] * shape["hosts"]):
        for peer in load(run, f"ports{host}.json")["peers"]:
            for path in peer["paths"]:
                for port in path["ports"]:
                    spine_of[host + 1, peer["address"], port] = \
                        int(path["router"].rsplit(".", 1)[1]) - 1
    flows = {}
    decoder = json.JSONDecoder()
    with open(os.path.join(run, "flows"), encoding="utf-8") as f:
        text = f.read().strip()
    while text:
        sample, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        for entry in (e["formatted"] for t in sample for e in t.get("output", [])):
            peer = address(entry["key"]["peer"])
            port = int.from_bytes(entry["value"]["sport"].to_bytes(2, "little"),
                                  "big")
            flows[peer, entry["key"]["dqpn"]] = \
                spine_of[entry["value"]["job"], peer, port]
    return flows


def landed(run, shape):
    """Planned flows, and those whose packets all passed the planned spine."""
    spines = []
    for s in range(shape["spines"]):
        before = seen(os.path.join(run, f"before.spine{s}"))
        after = seen(os.path.join(run, f"after.spine{s}"))
        spines.append({k: n - before.get(k, 0) for k, n in after.items()})
    planned = planned_flows(run, shape)
    good = 0
    for flow, spine in planned.items():
        counts = [s.get(flow, 0) for s in spines]
        good += counts[spine] > 0 and counts[spine] == sum(counts)
    return len(planned), good


def measure(run, shape):
    before, after = (load(run, f"{w}.links") for w in ("before", "after"))
    up = difference(after["uplinks"], before["uplinks"])
    down = difference(after["downlinks"], before["downlinks"])
    first, last = (counters(os.path.join(run, f"{w}.counters"))
                   for w in ("before", "after"))
    count = {k: last[k] - first[k] for k in last}
    links = [b for leaf in up for b in leaf]
    ideal = sum(links) / len(links) * 8 / (shape["link_mbit"] * 1e6)
    seconds = max(client_seconds(c)
                  for c in glob.glob(os.path.join(run, "client*")))
    seed, policy = os.path.basename(run).split("-")
    return {
        "policy": policy,
        "seed": int(seed),
        "completion_s": round(seconds, 3),
        "bound_s": round(ideal, 3),
        "imbalance": round(max(links) * len(links) / sum(links), 4),
        "icrc_drops": count["sent_pkts"] - count["rcvd_pkts"],
        "out_of_sequence": count["out_of_seq_request"],
        "retransmissions": count["completer_retry_err"] +
                           count["duplicate_request"],
        "uplink_bytes": up,
        "downlink_bytes": down,
    }


def table(runs, shape):
    print()
    for run in runs:
        print(f"seed {run['seed']}, {run['policy']}: bytes per uplink")
        for leaf, row in enumerate(run["uplink_bytes"]):
            print(f"  leaf {leaf}  " + "".join(f"{b:>12,}" for b in row))
    print()
    print("policy     seed  imbalance  completion   x bound  ICRC drops  "
          "out of seq.  retransm.")
    for run in runs:
        print(f"{run['policy']:<10} {run['seed']:>4} {run['imbalance']:>10.3f} "
              f"{run['completion_s']:>9.2f} s "
              f"{run['completion_s'] / run['bound_s']:>9.3f} "
              f"{run['icrc_drops']:>11} {run['out_of_sequence']:>12} "
              f"{run['retransmissions']:>10}")
    print()


def broken(report):
    """The promises that do not hold, in words."""
    port_map = report["port_map"]
    if not port_map["flows"] or \
            port_map["landed_as_planned"] != port_map["flows"]:
        yield (f"{port_map['landed_as_planned']} of {port_map['flows']} flows "
               "are on their planned spine")
    for run in report["runs"]:
        if run["policy"] == "ecmp":
            continue
        where = f"seed {run['seed']}, {run['policy']}: "
        if run["imbalance"] > MAX_IMBALANCE:
            yield f"{where}imbalance {run['imbalance']} > {MAX_IMBALANCE}"
        if run["completion_s"] > MAX_OVER_BOUND * run["bound_s"]:
            yield (f"{where}completion {run['completion_s']} s > "
                   f"{MAX_OVER_BOUND} x {run['bound_s']} s")
        for name in ("icrc_drops", "out_of_sequence", "retransmissions"):
            if run[name]:
                yield f"{where}{name} {run[name]}"


def main():
    directory = sys.argv[1]
    shape = load(directory, "shape.json")
    with open(os.path.join(directory, "kernel"), encoding="utf-8") as f:
        kernel = f.read().strip()
    names = sorted(glob.glob(os.path.join(directory, "[0-9]*-*")))
    runs = [measure(name, shape) for name in names]
    totals = [landed(n, shape) for n in names if n.endswith("ethereal")]
    report = {
        "kernel": kernel,
        "fabric": {k: shape[k] for k in ("leaves", "spines", "hosts")},
        "queue_pairs": shape["queue_pairs"],
        "link_mbit": shape["link_mbit"],
        "port_map": {"flows": sum(t[0] for t in totals),
                     "landed_as_planned": sum(t[1] for t in totals)},
        "runs": runs,
    }
    with open(os.path.join(directory, "report.json"), "w",
              encoding="utf-8") as f:
        json.dump(report, f, indent=1)
        f.write("\n")
    svg.draw(report, os.path.join(directory, "fabric.svg"))
    table(runs, shape)
    flows = report["port_map"]
    print(f"{flows['landed_as_planned']} of {flows['flows']} flows on their "
          "planned spine")
    print(f"{directory}/report.json, {directory}/fabric.svg")
    failed = list(broken(report))
    for text in failed:
        print("FAILED:", text)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
