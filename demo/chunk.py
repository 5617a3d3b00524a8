#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The report of demo/chunk.sh: chunk.py OUT

Fails when an element was wrong, or when Themis gains less than GATE of what its
plan predicts over the baseline's.
"""
import json
import os
import sys

import svg

GATE = 0.9
POLICIES = ("baseline", "fifo", "scf", "sums")
TITLES = {"baseline": "paper: baseline", "fifo": "paper: Themis, FIFO",
          "scf": "paper: Themis, smallest first",
          "sums": "ours: dim 0 sums in a switch"}
LEFT, WIDTH, RIGHT, ROW, BAR, HEAD, COLUMNS = 190, 900, 60, 60, 46, 46, 12


def load(out, name):
    with open(os.path.join(out, name, "out0"), encoding="utf-8") as file:
        run = json.load(file)
    with open(os.path.join(out, name, "samples"), encoding="ascii") as file:
        rows = [list(map(float, line.split())) for line in file]
    # Lines are short before the bridge exists, and at the end.
    rows = [row for row in rows if len(row) == len(run["dims"]) + 1]
    result = run["results"][0]
    for key in ("size", "time_us", "wrong"):
        run[key] = result[key]
    run["use"] = use(run, rows)
    return run


def capacity(run, dim, seconds):
    """Bytes that all ranks could send, with headers."""
    ranks = 1
    for n in run["dims"]:
        ranks *= n
    used = run["dimensions"][dim]
    # Use of the dimension by rank 0.
    rate = used["bytes"] / (used["used_percent"] / 100) / run["time_us"] * 1e6
    return rate * (4096 + 74) / 4096 * ranks * seconds


def use(run, rows):
    """Utilisation over the last run: by dimension a list of (from, to, part).

    Time is from the moment in which the dimension with most to do began it.
    """
    length = run["time_us"] / 1e6
    end = max(i for i in range(1, len(rows)) if rows[i][1:] != rows[i - 1][1:])
    begin = rows[end][0] - length
    result = []
    for dim in range(len(run["dims"])):
        series = []
        for before, after in zip(rows, rows[1:end + 1]):
            if after[0] <= begin:
                continue
            moved = after[dim + 1] - before[dim + 1]
            series.append((max(0, before[0] - begin), after[0] - begin,
                           moved / capacity(run, dim, after[0] - before[0])))
        result.append(series)
    return result


def part(series, begin, end):
    """Mean utilisation between two moments."""
    total = sum(u * max(0, min(b, end) - max(a, begin)) for a, b, u in series)
    return total / (end - begin)


def draw(grid, runs):
    longest = max(run["time_us"] for run in runs.values()) / 1e6
    body, top, y = [], 56, 46
    for policy, run in runs.items():
        seconds = run["time_us"] / 1e6
        body.append(f'<text class="t" x="{LEFT}" y="{y + 20}">'
                    f'{TITLES[policy]}: {seconds:.2f} s, predicted '
                    f'{run["predicted_us"] / 1e6:.2f} s</text>')
        y += HEAD - 16
        for dim, series in enumerate(run["use"]):
            width = seconds / longest * WIDTH
            body.append(f'<text class="e" x="{LEFT - 8}" y="{y + 28}">dimension '
                        f'{dim}: mean {part(series, 0, seconds):.0%}</text>'
                        f'<text x="{LEFT + width + 6:.1f}" y="{y + 10}">100 %</text>'
                        f'<text x="{LEFT + width + 6:.1f}" y="{y + BAR}">0 %</text>')
            body.append(f'<rect class="i" x="{LEFT}" y="{y}" '
                        f'width="{width:.1f}" height="{BAR}"/>')
            steps = "".join(
                f"V{y + BAR * (1 - min(1.0, used)):.1f}"
                f"H{LEFT + min(end / longest * WIDTH, width):.1f}"
                for _, end, used in series)
            body.append(f'<path class="s" d="M{LEFT} {y + BAR}{steps}'
                        f'V{y + BAR}z"/>')
            y += ROW
        y += 10
    return "\n".join(
        svg.opened(LEFT + WIDTH + RIGHT, y + 40, LEFT,
                   f"All-Reduce on {grid} hosts: use of the links of each "
                   "dimension over time") +
        svg.axis(LEFT, y, top, WIDTH, longest, "time, in seconds") + body +
        ["</svg>\n"])


def table(grid, runs):
    base = runs["baseline"]
    failed = False
    print(f"\n{grid}: All-Reduce of {base['size'] / 2**20:g} MiB in "
          f"{base['chunks']} chunks\n")
    print("POLICY                         SECONDS  PREDICTED  GAIN %  "
          "PREDICTED %  OF IT %  WRONG  DIM 0 %  DIM 1 %")
    for policy, run in runs.items():
        gain = 1 - run["time_us"] / base["time_us"]
        hoped = 1 - run["predicted_us"] / base["predicted_us"]
        run["gain"], run["predicted_gain"] = gain, hoped
        of_it = f"{gain / hoped * 100:7.1f}" if hoped else "      -"
        print(f"{TITLES[policy]:30} {run['time_us'] / 1e6:7.3f}  "
              f"{run['predicted_us'] / 1e6:9.3f}  {gain * 100:6.1f}  "
              f"{hoped * 100:11.1f}  {of_it}  {run['wrong']:5}",
              *(f"{part(series, 0, run['time_us'] / 1e6) * 100:8.1f}"
                for series in run["use"]))
        failed |= run["wrong"] > 0 or gain < GATE * hoped
    print(f"\nUse of the links in each {COLUMNS}th of the run, %")
    for policy, run in runs.items():
        seconds = run["time_us"] / 1e6
        for dim, series in enumerate(run["use"]):
            cells = (part(series, i * seconds / COLUMNS,
                          (i + 1) * seconds / COLUMNS) for i in range(COLUMNS))
            print(f"{policy:9} dimension {dim} ",
                  *(f"{cell * 100:4.0f}" for cell in cells))
    return failed


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    names = [name for name in os.listdir(out) if name.endswith("-scf")]
    failed, report = False, {}
    for grid in sorted(name.rpartition("-")[0] for name in names):
        runs = {policy: load(out, f"{grid}-{policy}") for policy in POLICIES}
        failed |= table(grid, runs)
        with open(os.path.join(out, grid + ".svg"), "w",
                  encoding="utf-8") as file:
            file.write(draw(grid, runs))
        report[grid] = [{key: run[key] for key in (
            "policy", "queue", "hash", "time_us", "predicted_us", "gain",
            "predicted_gain", "wrong", "use")} for run in runs.values()]
    with open(os.path.join(out, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    if failed:
        sys.exit(f"demo: Themis gains less than {GATE:.0%} of what is predicted,"
                 " or elements are wrong")


main()
