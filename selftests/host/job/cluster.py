#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Does a cluster file say what its journal says? cluster.py FILE

Decisions are carried out in memory, in their order, but for those that were made
void.
"""
import json
import sys


def decisions(name):
    lines = []
    with open(name) as file:
        for text in file:
            line = json.loads(text)
            if line["decision"] == "void":
                assert lines.pop()["generation"] == line["generation"]
            else:
                lines.append(line)
    return lines


def carry_out(lines):
    generation, jobs, queue = 0, set(), []
    for line in lines:
        if line["decision"] != "refuse":
            generation += 1
        assert line["generation"] == generation, line
        job = line.get("job")
        if line["decision"] == "alloc":
            jobs.add(job)
            queue = [name for name in queue if name != job]
        elif line["decision"] == "submit":
            queue.append(job)
        elif line["decision"] == "release":
            jobs.remove(job)
    return generation, jobs, queue


with open(sys.argv[1]) as cluster:
    root = json.load(cluster)
got = root["generation"], set(root["jobs"]), [e["job"] for e in root.get("queue", [])]
want = carry_out(decisions(sys.argv[1] + ".journal"))
assert got == want, f"{got}, but by the journal {want}"
