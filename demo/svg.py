# SPDX-License-Identifier: GPL-2.0
"""Pictures of a report: fabric.svg, the links as thick and as red as they are
loaded, and completion.svg, how long each policy takes."""
import os
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 560, 420, 50
SPINE_Y, LEAF_Y, HOST_Y = 120, 290, 350
STYLE = ("<style>text{font:13px sans-serif;text-anchor:middle;fill:#222}"
         ".b{fill:#fff}.t{font-size:20px;font-weight:bold}"
         ".h{font-size:10px;fill:#fff}.e{text-anchor:end}"
         ".s{text-anchor:start}</style>")
TITLES = {"ecmp": "ECMP", "ecmp-8qp": "ECMP, 8 queue pairs",
          "spray": "spraying", "ethereal": "rocesteer, whole flows",
          "ethereal-equal": "rocesteer, equal",
          "ethereal-wrap": "rocesteer, wrap"}
COLOURS = {"ecmp": "#d73027", "ecmp-8qp": "#fc8d59", "spray": "#c9b037"}
BAR, LABEL = 15, 175


def colour(ratio):
    """From blue at the ideal load or below to red at twice of it."""
    t = max(0.0, min(1.0, ratio - 1))
    return f"rgb({int(38 + t * 177)},{int(120 - t * 72)},{int(190 - t * 151)})"


def places(n, y):
    step = (WIDTH - 2 * MARGIN) / n
    return [(MARGIN + step * (i + 0.5), y) for i in range(n)]


def box(x, y, w, text, fill):
    return (f'<rect x="{x - w / 2:.1f}" y="{y - 13}" width="{w}" height="26" '
            f'rx="5" fill="{fill}"/>'
            f'<text class="b" x="{x:.1f}" y="{y + 5}">{escape(text)}</text>')


def panel(run, shape, hosts, left):
    spines = places(shape["spines"], SPINE_Y)
    leaves = places(shape["leaves"], LEAF_Y)
    up = run["uplink_bytes"]
    mean = sum(map(sum, up)) / (len(up) * len(up[0]))
    out = [f'<g transform="translate({left},0)">',
           f'<text class="t" x="{WIDTH / 2}" y="58">'
           f'{TITLES.get(run["policy"], run["policy"])}</text>',
           f'<text x="{WIDTH / 2}" y="80">fullest uplink '
           f'{run["imbalance"]:.2f} x the mean, done in '
           f'{run["completion_s"]:.1f} s</text>']
    links = []
    for l, (lx, ly) in enumerate(leaves):
        for s, (sx, sy) in enumerate(spines):
            links.append((up[l][s] / mean, lx, ly, sx, sy, l, s))
    for ratio, lx, ly, sx, sy, l, s in sorted(links):
        out.append(f'<line x1="{lx:.1f}" y1="{ly - 13}" x2="{sx:.1f}" '
                   f'y2="{sy + 13}" stroke="{colour(ratio)}" '
                   f'stroke-width="{max(0.4, 4.5 * ratio):.1f}" '
                   f'stroke-opacity="0.85"><title>leaf {l} to spine {s}: '
                   f'{up[l][s] / 1e6:.2f} MB, {ratio:.2f} x the mean</title>'
                   '</line>')
    for s, (x, y) in enumerate(spines):
        out.append(box(x, y, 74, f"spine {s}", "#33404d"))
    width = (WIDTH - 2 * MARGIN) / shape["leaves"]
    for l, (x, y) in enumerate(leaves):
        out.append(box(x, y, 74, f"leaf {l}", "#33404d"))
        for h in range(hosts):
            hx = x + (h + 0.5 - hosts / 2) * min(
                44, 0.9 * width / hosts)
            out.append(f'<line x1="{x:.1f}" y1="{y + 13}" x2="{hx:.1f}" '
                       f'y2="{HOST_Y - 9}" stroke="#9aa5b1"/>'
                       f'<circle cx="{hx:.1f}" cy="{HOST_Y}" r="11" '
                       'fill="#6b7a89"/>'
                       f'<text class="h" x="{hx:.1f}" y="{HOST_Y + 4}">'
                       f'{l * hosts + h}</text>')
    out.append("</g>")
    return out


def opened(width, height):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">', STYLE,
            f'<rect width="{width}" height="{height}" fill="#fff"/>']


def fabric(report):
    """Permutation under ECMP beside the same under rocesteer, most hosts."""
    runs = [r for r in report["runs"] if r["pattern"] == "permutation"]
    hosts = max((r["hosts"] for r in runs), default=0)
    by_policy = {r["policy"]: r for r in runs if r["hosts"] == hosts}
    ours = [p for p in ("ethereal-wrap", "ethereal-equal", "ethereal")
            if p in by_policy]
    if "ecmp" not in by_policy or not ours:
        return None
    out = opened(2 * WIDTH, HEIGHT)
    out.append(f'<text x="{WIDTH}" y="28">Every host writes to one under '
               'another leaf: load of the links from leaf to spine, same '
               'switches, same hash seeds</text>')
    for left, policy in ((0, "ecmp"), (WIDTH, ours[0])):
        out += panel(by_policy[policy], report["fabric"], hosts, left)
    out.append(f'<text x="{WIDTH}" y="{HEIGHT - 20}">Blue: the load an ideal '
               "network has. Red and thick: twice as much or more. Thin: "
               "idle.</text></svg>")
    return out


def bars(runs, scale, left, top):
    """A group of runs: completion over what no network can beat."""
    out = [f'<text class="s" x="{left}" y="{top}" font-weight="bold">'
           f'{runs[0]["pattern"]}, {runs[0]["hosts"]} hosts per leaf</text>']
    for i, run in enumerate(runs):
        y = top + 10 + i * (BAR + 5)
        ratio = run["completion_s"] / run["bound_s"]
        width = ratio * scale
        more = "" if run["completed"] else "more than "
        out.append(f'<text class="e" x="{left + LABEL - 8}" '
                   f'y="{y + BAR - 3}">{TITLES[run["policy"]]}</text>'
                   f'<rect x="{left + LABEL}" y="{y}" width="{width:.1f}" '
                   f'height="{BAR}" rx="2" '
                   f'fill="{COLOURS.get(run["policy"], "#2678be")}"/>'
                   f'<text class="s" x="{left + LABEL + width + 5:.1f}" '
                   f'y="{y + BAR - 3}">{more}{ratio:.2f}</text>')
    bound = left + LABEL + scale
    out.append(f'<line x1="{bound:.1f}" y1="{top + 5}" x2="{bound:.1f}" '
               f'y2="{top + 10 + len(runs) * (BAR + 5)}" stroke="#222" '
               'stroke-dasharray="3 3"/>')
    return out


def completion(report):
    """A row for each pattern, a column for each number of hosts."""
    runs = report["runs"]
    patterns = list(dict.fromkeys(r["pattern"] for r in runs))
    hosts = list(dict.fromkeys(r["hosts"] for r in runs))
    most = len({r["policy"] for r in runs})
    scale = (WIDTH - LABEL - 110) / max(r["completion_s"] / r["bound_s"]
                                       for r in runs)
    height = 55 + most * (BAR + 5)
    out = opened(WIDTH * len(hosts) + 20, 70 + height * len(patterns))
    out.append(f'<text x="{WIDTH * len(hosts) / 2}" y="30">Completion of the '
               "slowest flow, over what the fullest link of an ideal network "
               "needs (dashed)</text>")
    for row, pattern in enumerate(patterns):
        for column, n in enumerate(hosts):
            same = [r for r in runs if (r["pattern"], r["hosts"]) == (pattern, n)]
            out += bars(same, scale, 20 + column * WIDTH, 70 + row * height)
    out.append("</svg>")
    return out


def draw(report, directory):
    """Write the pictures; returns their paths."""
    paths = []
    for name, make in (("fabric", fabric), ("completion", completion)):
        lines = make(report)
        if lines:
            paths.append(os.path.join(directory, f"{name}.svg"))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
    return paths
