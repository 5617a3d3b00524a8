# SPDX-License-Identifier: GPL-2.0
"""Read the results of a run of demo/guest."""
import glob
import json
import math
import os

from ideal import Traffic

# selftests/net/link.bpf.h
HOST, BRIDGE, UP, DOWN = 1, 2, 3, 4


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return json.load(f)


def counters(*path):
    """Sum of each rxe hw_counter over the hosts."""
    sums = {}
    with open(os.path.join(*path), encoding="utf-8") as f:
        for line in f:
            name, value = line.rsplit("/", 1)[1].split(":")
            sums[name] = sums.get(name, 0) + int(value)
    return sums


def dotted(octets):
    return ".".join(map(str, octets))


class Run:
    """One run: its settings, the traffic, and the counts of the links."""

    def __init__(self, directory, shape):
        self.directory, self.shape = directory, shape
        self.settings = load(directory, "run.json")
        with open(os.path.join(directory, "flows"), encoding="utf-8") as f:
            flows = [tuple(map(int, line.split())) for line in f]
        self.traffic = Traffic(flows, self.settings["message"], shape,
                               self.settings["hosts_per_leaf"],
                               self.settings["host_mbit"], self.settings["links"])
        self.seen = [(e["formatted"]["key"], e["formatted"]["value"])
                     for e in load(directory, "seen")
                     if not e["formatted"]["key"]["ack"]]
        stopped = os.path.join(directory, "stopped")
        self.stopped = load(stopped) if os.path.exists(stopped) else None

    def links(self, sender):
        """[leaf][spine]: bytes of requests"""
        table = [[0] * self.shape["spines"] for _ in range(self.shape["leaves"])]
        for key, value in self.seen:
            if key["sender"] == sender:
                table[key["leaf"]][key["index"]] += value["bytes"]
        return table

    def packets(self):
        """Those that have arrived."""
        return sum(value["packets"] for key, value in self.seen
                   if key["sender"] in (HOST, BRIDGE))

    def steps(self):
        """For each completed step: seconds, the bound of all networks, and the bound
        with one whole flow on each link."""
        with open(os.path.join(self.directory, "steps"), encoding="utf-8") as f:
            times = [int(line) / 1e9 for line in f]
        return [{"seconds": round(end - begin, 3),
                 "bound_s": round(traffic.step_seconds(), 3),
                 "whole_s": round(traffic.whole_seconds(), 3)}
                for begin, end, traffic in
                zip(times, times[1:], self.traffic.steps())]

    def counts(self):
        before, after = (counters(self.directory, f"{w}.counters")
                         for w in ("before", "after"))
        return {k: after[k] - before[k] for k in after}

    def landed(self, ports):
        """Flows between leaves, and flows among them whose packets all passed
        the spine that the sender's port map names for the port."""
        flows = {}
        for key, _ in self.seen:
            if key["sender"] == UP:
                source, peer = dotted(key["source"]), dotted(key["peer"])
                right = ports.get((source, peer, key["sport"])) == key["index"]
                flows.setdefault((source, peer, key["dqpn"]), []).append(right)
        return len(flows), sum(map(all, flows.values()))

    def pieces(self):
        """For each group: number of flows, and of pieces."""
        groups = {}
        for host, path in enumerate(sorted(
                glob.glob(os.path.join(self.directory, "plan*")))):
            for flow in load(path)["flows"]:
                if flow.get("share"):
                    group = groups.setdefault((host, flow["leaf"]), [0, 0])
                    group[0] += 1
                    group[1] += len(flow["pieces"])
        return groups.values()


def port_map(directory, hosts):
    """Spine of each (source, peer, port)."""
    spine_of = {}
    for path in glob.glob(os.path.join(directory, f"ports-{hosts}", "*.json")):
        for peer in load(path)["peers"]:
            for way in peer["paths"]:
                for port in way["ports"]:
                    spine_of[peer["source"], peer["address"], port] = \
                        int(way["router"].rsplit(".", 1)[1]) - 1
    return spine_of


def deviation(links, ideal):
    """The largest load, in percent of the ideal load of the leaf's links."""
    return max((100 * abs(n - want) / want
                for row, want in zip(links, ideal) if want for n in row),
               default=0)


def extra_limit(flows, paths):
    """Extra pieces that a group needs: user/lib/plan/plan.h."""
    return paths - math.gcd(flows, paths)


def measure(directory, shape):
    """A run as an entry of the report."""
    run = Run(directory, shape)
    settings, traffic = run.settings, run.traffic
    up, down = run.links(UP), run.links(DOWN)
    links = [n for row in up for n in row]
    steps = run.steps()
    count = run.counts()
    entry = {k: settings[k] for k in
             ("policy", "pattern", "links", "hosts_per_leaf", "queue_pairs",
              "host_mbit")}
    entry |= {
        "completed": not run.stopped,
        "completion_s":
            run.stopped or round(sum(step["seconds"] for step in steps), 3),
        "bound_s": round(traffic.seconds(), 3),
        "steps": steps,
        "imbalance": round(max(links) * len(links) / sum(links), 4),
        "uplink_deviation_percent": round(deviation(up, traffic.uplink()), 3),
        "downlink_deviation_percent":
            round(deviation(down, traffic.downlink()), 3),
        "icrc_drops": load(directory, "icrc_drops")[0]["formatted"]["value"],
        "out_of_sequence": count["out_of_seq_request"],
        "naks": count["rcvd_seq_err"],
        "retransmissions": run.packets() - traffic.packets(),
        "uplink_bytes": up,
        "uplink_ideal_bytes": [round(n) for n in traffic.uplink()],
        "downlink_bytes": down,
        "downlink_ideal_bytes": [round(n) for n in traffic.downlink()],
    }
    if settings["policy"] == "fewest":
        entry["extra_pieces"], entry["extra_pieces_limit"] = max(
            (pieces - flows, extra_limit(flows, shape["spines"]))
            for flows, pieces in run.pieces())
    return entry, run
