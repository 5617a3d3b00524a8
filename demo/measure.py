# SPDX-License-Identifier: GPL-2.0
"""Read the results of a run of demo/guest."""
import glob
import itertools
import json
import math
import os

from fabric import BRIDGE, CORE_UP, HOST, UP, fabric_of
from ideal import Traffic


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


def mean(table):
    return sum(map(sum, table)) / (len(table) * len(table[0]))


def dotted(octets):
    return ".".join(map(str, octets))


def flow_of(key):
    """The addresses of sender and receiver, and the receiver's queue pair."""
    return dotted(key["source"]), dotted(key["peer"]), key["dqpn"]


# Policies under which a pair of hosts has one flow, on one path
ONE_PATH = ("ecmp", "least", "place")


class Run:
    """One run: its settings, the traffic, and the counts of the links."""

    def __init__(self, directory, said):
        self.directory = directory
        self.settings = load(directory, "run.json")
        self.fabric = fabric_of(said, self.settings["hosts_per_leaf"])
        with open(os.path.join(directory, "flows"), encoding="utf-8") as f:
            flows = [tuple(map(int, line.split())) for line in f]
        self.traffic = Traffic(flows, self.settings["message"], self.fabric,
                               self.settings["host_mbit"], self.settings["links"])
        self.seen = [(e["formatted"]["key"], e["formatted"]["value"])
                     for e in load(directory, "seen")
                     if not e["formatted"]["key"]["ack"]]
        stopped = os.path.join(directory, "stopped")
        self.stopped = load(stopped) if os.path.exists(stopped) else None

    def links(self, kind):
        """[lower router][link]: bytes of requests"""
        table = [[0] * self.fabric.columns(kind) for _ in range(self.fabric.rows(kind))]
        for key, value in self.seen:
            if key["sender"] == kind.sender:
                table[key["leaf"]][key["index"] % len(table[0])] += value["bytes"]
        return table

    def crowd(self, kind):
        """How many flows more than an even share a link of this kind had at most in a step,
        where each pair of hosts has one flow."""
        steps = {flow[:2]: flow[3] for flow in self.traffic.flows}
        counts = {}
        for flow, keys in self._flows(kind.sender).items():
            step = steps[tuple(map(self.fabric.host_of, flow[:2]))]
            for key in {(key["leaf"], key["index"]) for key in keys}:
                counts[step, *key] = counts.get((step, *key), 0) + 1
        even = [part.share(kind, lambda _: 1) for part in self.traffic.steps()]
        return max((n - even[step][row] for (step, row, _), n in counts.items()), default=0)

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

    def _flows(self, *senders):
        """Keys of what these senders sent, by flow."""
        flows = {}
        for key, _ in self.seen:
            if key["sender"] in senders:
                flows.setdefault(flow_of(key), []).append(key)
        return flows

    def landed(self, ports):
        """Flows between leaves, and flows among them whose packets all passed the routers
        that the sender's port map names for the port."""
        flows = self._flows(UP, CORE_UP)
        right = sum(all(ports.get((*flow[:2], key["sport"]), {}).get(key["sender"]) ==
                        key["index"] for key in keys) for flow, keys in flows.items())
        return len(flows), right

    def recorded(self):
        """The traffic as "rocesteer simulate" reads it: what each queue pair of a flow took. The
        bytes are those on the wire without retransmissions, in the shares of the paths that the
        links have seen."""
        pairs, flows = self._queue_pairs(), []
        for source, peer, payload, step in sorted(self.traffic.flows, key=lambda flow: flow[3]):
            count = self.settings["queue_pairs"]
            size = self.traffic.wire(payload // count)
            for _ in range(count):
                taken = sorted(pairs[source, peer].pop(0).items())
                flow = {"from": source, "to": peer, "bytes": size, "step": step}
                if self.fabric.leaf(source) != self.fabric.leaf(peer):
                    parts = split(size, [seen for _, seen in taken])
                    flow["paths"] = [{"path": path, "bytes": part}
                                     for (path, _), part in zip(taken, parts)]
                flows.append(flow)
        return {"flows": flows}

    def planned(self):
        """The traffic without paths, for "rocesteer simulate" to choose these."""
        return {"flows": [{"from": source, "to": peer, "bytes": self.traffic.wire(payload),
                           "step": step} for source, peer, payload, step in self.traffic.flows]}

    def _queue_pairs(self):
        """For each pair of hosts the bytes by path of its queue pairs, in the order in which
        these began: a pair may have flows in several steps. Probes of the daemon, which end at
        a router, have none."""
        arrived = self._flows(HOST, BRIDGE)
        begun, taken = {}, {}
        for key, value in self.seen:
            flow = flow_of(key)
            ends = tuple(map(self.fabric.host_of, flow[:2]))
            if flow in arrived and key["sender"] == self.fabric.path_sender(*ends):
                path = self.fabric.path(key)
                paths = taken.setdefault(flow, {})
                paths[path] = paths.get(path, 0) + value["bytes"]
                begun[flow] = min(begun.get(flow, math.inf), value["first"])
        pairs = {}
        for flow in sorted(begun, key=begun.get):
            ends = tuple(map(self.fabric.host_of, flow[:2]))
            pairs.setdefault(ends, []).append(taken[flow])
        return pairs

    def pieces(self):
        """For each group: number of its paths, of flows, and of pieces."""
        groups = {}
        for host, path in enumerate(sorted(
                glob.glob(os.path.join(self.directory, "plan*")))):
            for flow in load(path)["flows"]:
                if flow.get("share"):
                    leaf = int(flow["leaf"].rsplit(".", 1)[1]) - 1
                    paths = self.fabric.paths(host, leaf * self.fabric.hosts)
                    group = groups.setdefault((host, leaf), [paths, 0, 0])
                    group[1] += 1
                    group[2] += len(flow["pieces"])
        return groups.values()


def port_map(directory, hosts):
    """For each (source, peer, port): who sends to which router of the path."""
    routers = {}
    for path in glob.glob(os.path.join(directory, f"ports-{hosts}", "*.json")):
        for peer in load(path)["peers"]:
            for way in peer["paths"]:
                # 10.255.TIER.NUMBER + 1
                chosen = [tuple(map(int, way[name].split(".")[2:]))
                          for name in ("via", "router") if name in way]
                upper = {UP if tier == 1 else CORE_UP: number - 1 for tier, number in chosen}
                for port in way["ports"]:
                    routers[peer["source"], peer["address"], port] = upper
    return routers


def deviation(links, ideal):
    """The largest load, in percent of the ideal load of the leaf's links."""
    return max((100 * abs(n - want) / want
                for row, want in zip(links, ideal) if want for n in row),
               default=0)


def split(total, shares):
    """The total in these shares, in whole numbers."""
    sums = [0, *itertools.accumulate(shares)]
    edges = [total * part // sums[-1] for part in sums]
    return [end - begin for begin, end in itertools.pairwise(edges)]


def extra_limit(flows, paths):
    """Extra pieces that a group needs: user/lib/plan/plan.h."""
    return paths - math.gcd(flows, paths)


def measure(directory, said):
    """A run, of a demonstration with these settings, as an entry of the report."""
    run = Run(directory, said)
    settings, traffic = run.settings, run.traffic
    tables = {kind: run.links(kind) for kind in run.fabric.kinds()}
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
        "imbalance": round(max(max(map(max, table)) / mean(table)
                               for kind, table in tables.items() if not kind.end), 4),
        "icrc_drops": load(directory, "icrc_drops")[0]["formatted"]["value"],
        "out_of_sequence": count["out_of_seq_request"],
        "naks": count["rcvd_seq_err"],
        "retransmissions": run.packets() - traffic.packets(),
    }
    for kind, table in tables.items():
        ideal = traffic.ideal(kind)
        entry |= {
            f"{kind.name}_deviation_percent": round(deviation(table, ideal), 3),
            f"{kind.name}_bytes": table,
            f"{kind.name}_ideal_bytes": [round(n) for n in ideal],
        }
    if settings["policy"] in ONE_PATH:
        entry["flows_over_even"] = {kind.name: round(run.crowd(kind), 3) for kind in tables}
    if settings["policy"] == "fewest":
        entry["extra_pieces"], entry["extra_pieces_limit"] = max(
            (pieces - flows, extra_limit(flows, paths))
            for paths, flows, pieces in run.pieces())
    return entry, run
