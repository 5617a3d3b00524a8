#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What policies bring in the setting of Ethereal (arXiv 2407.00550), and on fabrics of
100,000 hosts and of three tiers: simulate.py [SEEDS]

Completion is in times the bound, the mean of the seeds and in brackets the worst, where
that differs; a random link is dead, or at half of its rate, with each seed another one.
"s" is the CPU time of a run with one seed, "MB" the memory. Writes
Documentation/simulate.svg.

Exits 1 when something is not as Documentation/simulate.rst says.
"""
import json
import os
import subprocess
import sys

POLICIES = ("ecmp", "place", "label-16qp", "spray", "reps", "fewest", "all")
PATTERNS = ("direct", "halving-doubling", "ring", "tree")
LINKS = {"": (), ", one dead link": ("--dead", "1"), ", one slow link": ("--slow", "1")}
LEAF_SPINE = ("--leaves", "16", "--spines", "16", "--hosts", "16", "--rate", "400")
FAT_TREE = ("--pods", "8", "--leaves", "4", "--spines", "4", "--cores", "4", "--hosts", "16",
            "--rate", "1600", "--host-rate", "400")
SIZES = (1, 4, 16, 64, 256)     # 10^6 bytes
MB = 1000000
PERMUTATION = ("--pattern", "permutation")
# Title, fabric and traffic, policies, and the most seconds and MB that one may take beside ecmp
LARGE = (
    ("permutation, 100,000 hosts: 3,125 leaves, 32 spines",
     ("--leaves", "3125", "--spines", "32", "--hosts", "32", "--rate", "400", *PERMUTATION),
     ("ecmp", "ecmp-8qp", "place", "label-32qp", "spray", "reps", "fewest", "all"), 5, 2000),
    ("permutation, 65,536 hosts: 64 pods of 32 leaves and 32 aggs, 1,024 cores",
     ("--pods", "64", "--leaves", "32", "--spines", "32", "--cores", "32", "--hosts", "32",
      "--rate", "400", *PERMUTATION),
     ("ecmp", "ecmp-8qp", "place", "label-32qp", "spray", "reps", "fewest", "all"), 10, 2000),
    ("step transformer-1t by halving, 1,024 hosts: 32 leaves, 32 spines",
     ("--leaves", "32", "--spines", "32", "--hosts", "32", "--rate", "400", "--step",
      "transformer-1t", "--algorithm", "halving"),
     ("ecmp", "ecmp-8qp", "place", "label-32qp", "spray", "reps", "fewest", "all"), 1, 2000),
)
wrong = []


def simulate(*args):
    """Return: what "rocesteer simulate" prints, with the CPU time and memory of the run."""
    with subprocess.Popen(("build/rocesteer", "--json", "simulate") + args,
                          stdout=subprocess.PIPE) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"simulate {' '.join(args)}: {text.decode()}")
    return json.loads(text) | {"s": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1000}


def by_policy(out):
    """Return: the rows of the policies by name."""
    return {row["policy"]: row for row in out["policies"]}


def cell(row):
    """Return: completion, and the worst where it is another."""
    mean, worst = f"{row['over_bound']:.2f}", f"{row['over_bound_worst']:.2f}"
    return mean if mean == worst else f"{mean} ({worst})"


def put(title, head, lines):
    """Print a table."""
    width = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    print(f"    {title}")
    for line in [head] + lines:
        print("    " + line[0].ljust(width[0]) + "".join(
            "  " + text.rjust(width[i + 1]) for i, text in enumerate(line[1:])))
    print(flush=True)


def expect(true, text):
    """Note what is not as it is said."""
    if not true:
        wrong.append(text)


def check(title, pattern, row):
    """The claims of the page, by collective: @row is by policy."""
    over = {name: row[name]["over_bound_worst"] for name in POLICIES}
    if "link" in title:
        expect(over["all"] <= 1.05 or "slow" in title, f"{title}, {pattern}: all takes longer")
        return
    for name in ("spray", "reps", "fewest", "all"):
        expect(over[name] < 1.001, f"{title}, {pattern}: {name} is not ideal")
    if pattern in ("ring", "tree"):
        expect(max(over.values()) < 1.05, f"{title}, {pattern}: policies differ")
    elif pattern == "halving-doubling":
        expect(over["ecmp"] > 2, f"{title}, {pattern}: ecmp is good")


def collectives(name, fabric, seeds):
    """Print completion by policy and collective, with links as they are and broken."""
    for links, broken in LINKS.items():
        rows = {}
        for pattern in PATTERNS:
            print(f"{name}{links}: {pattern}", file=sys.stderr)
            rows[pattern] = by_policy(simulate(
                *fabric, "--pattern", pattern, "--policy", ",".join(POLICIES), "--seeds", seeds,
                *broken))
            check(f"{name}{links}", pattern, rows[pattern])
        put(f"{name}{links}", ["All-Reduce", *PATTERNS],
            [[policy] + [cell(rows[pattern][policy]) for pattern in PATTERNS]
             for policy in POLICIES])


def sizes(seeds):
    """Print seconds by size of the buffer."""
    for pattern in PATTERNS[:2]:
        outs = [simulate(*LEAF_SPINE, "--pattern", pattern, "--size", str(size * MB), "--policy",
                         "all", "--seeds", seeds) for size in SIZES]
        lines = [["bound"] + [f"{1e3 * out['bound_s']:.3f}" for out in outs]]
        for policy in ("all", "ecmp"):
            lines.append([policy] + [f"{1e3 * by_policy(out)[policy]['completion_s']:.3f}"
                                     for out in outs])
        put(f"16 x 16 x 16, {pattern}, ms by 10^6 bytes of the buffer",
            ["size"] + [str(size) for size in SIZES], lines)
        alike = [by_policy(out)["ecmp"]["over_bound"] for out in outs]
        expect(max(alike) - min(alike) < 0.001, f"{pattern}: the size matters")


def large():
    """Print large fabrics, each policy in a run of its own."""
    for title, what, policies, seconds, memory in LARGE:
        lines = []
        for policy in policies:
            print(f"{title}: {policy}", file=sys.stderr)
            out = simulate(*what, "--policy", policy)
            lines.append([policy, cell(by_policy(out)[policy]), f"{out['s']:.1f}",
                          f"{out['mb']:.0f}"])
            expect(out["s"] <= seconds and out["mb"] <= memory,
                   f"{title}, {policy}: {out['s']:.1f} s, {out['mb']:.0f} MB")
        put(title, ["policy", "completion", "s", "MB"], lines)


def main():
    """Print all tables. Return: whether something is wrong."""
    seeds = (sys.argv[1:] or ["5"])[0]
    large()
    collectives("16 x 16 x 16", LEAF_SPINE, seeds)
    collectives("fat tree of 512", FAT_TREE, seeds)
    sizes(seeds)
    simulate(*LEAF_SPINE, "--pattern", "halving-doubling", "--dead", "1", "--seeds", seeds,
             "--policy", ",".join(POLICIES[::-1]), "--svg", "Documentation/simulate.svg")
    for text in wrong:
        print(f"    not as said: {text}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
