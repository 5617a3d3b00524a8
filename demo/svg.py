# SPDX-License-Identifier: GPL-2.0
"""Pictures of a report: fabric.svg, load of the links; completion.svg, time of each
policy; matrix.svg, a table of all runs."""
import math
import os
from xml.sax.saxutils import escape

from measure import mean

WIDTH, HEIGHT, MARGIN = 560, 420, 50
LEAF_Y, HOST_Y = 270, 330
# Classes: "t" is a heading; "e" ends at its place, "m" has it in the middle.
STYLE = """<style>text{font:13px sans-serif;fill:#222}
.t{font-size:16px}.t,.k{font-weight:bold}.e{text-anchor:end}.m{text-anchor:middle}
.p{fill:#fff}.i{fill:#e8ebee}.l{stroke:#ccd2d8}.s{fill:#2678be}
.n{fill:#33404d;stroke:#9aa5b1}.b{fill:#fff}.h{font-size:10px}.d{stroke:#222}
@media(prefers-color-scheme:dark){text{fill:#eee}.p{fill:#16191d}.i{fill:#343a41}
.l{stroke:#4a525b}.d{stroke:#eee}}</style>"""
TICKS = 8
TITLES = {"ecmp": "ECMP", "ecmp-2qp": "ECMP, 2 queue pairs",
          "ecmp-4qp": "ECMP, 4 queue pairs", "ecmp-8qp": "ECMP, 8 queue pairs",
          "spray": "spraying", "spray-order": "spraying, put in order",
          "reps": "REPS", "least": "rocesteer, least", "place": "rocesteer, place",
          "place-4qp": "rocesteer, place, 4 QPs", "label-4qp": "rocesteer, labels, 4 QPs",
          "label-8qp": "rocesteer, labels, 8 QPs", "fewest": "rocesteer, fewest",
          "all": "rocesteer, all", "all-weights": "rocesteer, all, weights"}
COLOURS = {"ecmp": "#d73027", "ecmp-2qp": "#e8604c", "ecmp-4qp": "#f4774f",
           "ecmp-8qp": "#fc8d59", "spray": "#c9b037", "spray-order": "#a89a3c",
           "reps": "#8a6fb0"}
BROKEN = {"slow": "slow link", "dead": "dead link", "core": "dead core"}
CELL, ROW = 84, 24
BAR, LABEL = 15, 175
SCALE = WIDTH - LABEL - 110	# width of the longest bar


def colour(ratio):
    """From blue, up to the ideal load, to red, at twice the ideal load."""
    t = max(0.0, min(1.0, ratio - 1))
    return f"rgb({int(38 + t * 177)},{int(120 - t * 72)},{int(190 - t * 151)})"


def places(n, y):
    step = (WIDTH - 2 * MARGIN) / n
    return [(MARGIN + step * (i + 0.5), y) for i in range(n)]


def box(x, y, text, width):
    return (f'<rect class="n" x="{x - width / 2:.1f}" y="{y - 13}" width="{width:.1f}" '
            'height="26" rx="5"/>'
            f'<text class="b m" x="{x:.1f}" y="{y + 5}">{escape(text)}</text>')


def opened(width, height, x, title):
    """The beginning of a picture that scales, with its title at x."""
    return ['<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {width} {height}">', f"<title>{escape(title)}</title>",
            STYLE, '<rect class="p" width="100%" height="100%"/>',
            f'<text class="t" x="{x}" y="26">{escape(title)}</text>']


def axis(x, y, top, width, largest, label):
    """A scale from 0, with its grid."""
    step = 10 ** math.floor(math.log10(largest / TICKS))
    step *= next(n for n in (1, 2, 5, 10) if largest <= TICKS * n * step)
    out = []
    for i in range(math.floor(largest / step) + 1):
        at = x + i * step / largest * width
        out.append(f'<path class="l" d="M{at:.1f} {top}V{y}"/>'
                   f'<text class="m" x="{at:.1f}" y="{y + 16}">'
                   f'{i * step:g}</text>')
    return out + [f'<text class="m" x="{x + width / 2:.1f}" y="{y + 34}">'
                  f'{escape(label)}</text>']


def line(x1, y1, x2, y2, ratio, title=""):
    """A link with ratio times the mean load."""
    return (f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" '
            f'stroke="{colour(ratio)}" stroke-width="{max(0.4, 4.5 * ratio):.1f}"'
            f' stroke-opacity="0.85"><title>{title}</title></line>')


def tiers(shape):
    """For each tier of routers, from the leaves up: their name, number, and y."""
    if "cores" in shape:
        return (("leaf", shape["leaves"], LEAF_Y), ("agg", shape["pods"] * shape["aggs"], 195),
                ("core", shape["aggs"] * shape["cores"], 120))
    return ("leaf", shape["leaves"], LEAF_Y), ("spine", shape["spines"], 120)


def uplinks(run, shape):
    """For each tier but the highest: [router][link]: bytes, and the router that has the first
    link of a router."""
    if "cores" in shape:
        return ((run["leaf_agg_bytes"],
                 lambda l: l * shape["pods"] // shape["leaves"] * shape["aggs"]),
                (run["agg_core_bytes"], lambda a: a % shape["aggs"] * shape["cores"]))
    return ((run["uplink_bytes"], lambda _: 0),)


def panel(run, shape, left):
    rows = tiers(shape)
    means = [mean(table) for table, _ in uplinks(run, shape)]
    fullest = "uplink" if len(means) == 1 else "link of a tier"
    out = [f'<g transform="translate({left},0)">',
           f'<text class="t m" x="{WIDTH / 2}" y="62">'
           f'{TITLES.get(run["policy"], run["policy"])}</text>',
           f'<text class="m" x="{WIDTH / 2}" y="84">fullest {fullest} '
           f'{run["imbalance"]:.2f} x the mean of {means[0] / 1e6:.2f} MB, done in '
           f'{run["completion_s"]:.1f} s</text>']
    links = []
    for (table, first), even, low, high in zip(uplinks(run, shape), means, rows, rows[1:]):
        below, above = (places(count, y) for _, count, y in (low, high))
        for i, loads in enumerate(table):
            for j, load in enumerate(loads, first(i)):
                links.append((load / even, below[i], above[j],
                              f"{low[0]} {i} to {high[0]} {j}: {load / 1e6:.2f} MB"))
    for ratio, (lx, ly), (ux, uy), text in sorted(links):
        out.append(line(lx, ly - 13, ux, uy + 13, ratio, f"{text}, {ratio:.2f} x the mean"))
    for name, count, y in rows:
        for i, (x, _) in enumerate(places(count, y)):
            out.append(box(x, y, f"{name} {i}", min(74, (WIDTH - 2 * MARGIN) / count - 4)))
    hosts, width = run["hosts_per_leaf"], (WIDTH - 2 * MARGIN) / shape["leaves"]
    for l, (x, y) in enumerate(places(shape["leaves"], LEAF_Y)):
        for h in range(hosts):
            hx = x + (h + 0.5 - hosts / 2) * min(44, 0.9 * width / hosts)
            out.append(f'<line class="l" x1="{x:.1f}" y1="{y + 13}" x2="{hx:.1f}" '
                       f'y2="{HOST_Y - 9}"/>'
                       f'<circle class="n" cx="{hx:.1f}" cy="{HOST_Y}" r="11"/>'
                       f'<text class="b h m" x="{hx:.1f}" y="{HOST_Y + 4}">'
                       f'{l * hosts + h}</text>')
    out.append("</g>")
    return out


def key():
    """Key of the colour and width of links."""
    out = [f'<text class="e" x="{WIDTH - 190}" y="{HEIGHT - 31}">bytes of a link, '
           'in times the mean of all links:</text>']
    for i, ratio in enumerate((0, 0.5, 1, 1.5, 2, 3)):
        x = WIDTH - 170 + 80 * i
        out.append(line(x, HEIGHT - 35, x + 40, HEIGHT - 35, ratio) +
                   f'<text x="{x + 45}" y="{HEIGHT - 31}">{ratio}</text>')
    return out


def healthy(report):
    return [r for r in report["runs"] if r["links"] == "healthy"]


def fabric(report):
    """Permutation under ECMP and under rocesteer, with the most hosts."""
    runs = [r for r in healthy(report) if r["pattern"] == "permutation"]
    hosts = max((r["hosts_per_leaf"] for r in runs), default=0)
    by_policy = {r["policy"]: r for r in runs if r["hosts_per_leaf"] == hosts}
    ours = [p for p in ("all", "fewest", "place-4qp", "place", "least")
            if p in by_policy]
    if "ecmp" not in by_policy or not ours:
        return None
    where = ("from leaves to aggs and cores", "in another pod") \
        if "cores" in report["fabric"] else ("from leaf to spine", "under another leaf")
    return opened(2 * WIDTH, HEIGHT, MARGIN,
                  f"Load of the links {where[0]}, while each host writes to one {where[1]}") + \
        panel(by_policy["ecmp"], report["fabric"], 0) + \
        panel(by_policy[ours[0]], report["fabric"], WIDTH) + key() + ["</svg>"]


def bars(runs, scale, left, top):
    """A group of runs: completion over the lower bound."""
    height = len(runs) * (BAR + 5)
    out = [f'<text class="k" x="{left}" y="{top}">'
           f'{runs[0]["pattern"]}, {runs[0]["hosts_per_leaf"]} hosts per leaf'
           '</text>']
    out += axis(left + LABEL, top + 12 + height, top + 8, SCALE, SCALE / scale,
                "completion, in times that of an ideal network")
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
                   f'<text x="{left + LABEL + width + 5:.1f}" '
                   f'y="{y + BAR - 3}">{more}{ratio:.2f}</text>')
    bound = left + LABEL + scale
    out.append(f'<path class="d" stroke-dasharray="3 3" d="M{bound:.1f} '
               f'{top + 5}V{top + 12 + height}"/>')
    return out


def completion(report):
    """A row for each pattern, a column for each number of hosts."""
    runs = healthy(report)
    if not runs:
        return None
    patterns = list(dict.fromkeys(r["pattern"] for r in runs))
    hosts = list(dict.fromkeys(r["hosts_per_leaf"] for r in runs))
    scale = SCALE / max(r["completion_s"] / r["bound_s"] for r in runs)
    height = 90 + len({r["policy"] for r in runs}) * (BAR + 5)
    out = opened(WIDTH * len(hosts) + 20, 70 + height * len(patterns), 20,
                 "Completion of the slowest flow (dashed: an ideal network)")
    for row, pattern in enumerate(patterns):
        for column, n in enumerate(hosts):
            same = [r for r in runs
                    if (r["pattern"], r["hosts_per_leaf"]) == (pattern, n)]
            if same:	# parts of "make demo-all" may be missing
                out += bars(same, scale, 20 + column * WIDTH, 66 + row * height)
    out.append(f'<text x="20" y="{56 + height * len(patterns)}">Below 1: the limit '
               'of a link lets the first 20 kB through at once.</text></svg>')
    return out


def column(_, pattern, links):
    """The settings of a run that make a column, beside the hosts per leaf."""
    return f"{pattern}, {BROKEN[links]}" if links in BROKEN else pattern


def cell(run):
    more = "" if run["completed"] else ">"
    return f'{more}{run["completion_s"] / run["bound_s"]:.2f}'


def matrix(report):
    """For each number of hosts a row for each policy, a column for each traffic."""
    runs = report["runs"]
    columns = list(dict.fromkeys(column(None, r["pattern"], r["links"]) for r in runs))
    policies = [p for p in TITLES if p in {r["policy"] for r in runs}]
    hosts = sorted({r["hosts_per_leaf"] for r in runs})
    height = 70 + len(policies) * ROW
    out = opened(LABEL + 40 + CELL * max(len(columns), 4), 50 + height * len(hosts), 20,
                 "Completion, in times that of an ideal network")
    for block, n in enumerate(hosts):
        top = 96 + block * height
        out.append(f'<text class="k" x="20" y="{top - 8}">{n} hosts per leaf</text>')
        for i, head in enumerate(columns):
            for line_, word in enumerate(head.split(", ")):
                out.append(f'<text class="m h" x="{LABEL + 20 + CELL * (i + 0.5)}" '
                           f'y="{top - 20 + 13 * line_}">{word}</text>')
        for j, policy in enumerate(policies):
            out.append(f'<text class="e" x="{LABEL + 12}" '
                       f'y="{top + ROW * j + 16}">{TITLES[policy]}</text>')
        for run in (r for r in runs if r["hosts_per_leaf"] == n):
            x = LABEL + 20 + CELL * columns.index(column(n, run["pattern"], run["links"]))
            y = top + ROW * policies.index(run["policy"])
            ratio = run["completion_s"] / run["bound_s"] if run["completed"] else 2
            out.append(f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{ROW - 2}" '
                       f'rx="2" fill="{colour(ratio)}"/>'
                       f'<text class="b m" x="{x + CELL / 2 - 1}" y="{y + 16}">'
                       f'{escape(cell(run))}</text>')
    return out + ["</svg>"]


def draw(report, directory):
    """Write the pictures; returns their paths."""
    paths = []
    for name, make in (("fabric", fabric), ("completion", completion), ("matrix", matrix)):
        lines = make(report)
        if lines:
            paths.append(os.path.join(directory, f"{name}.svg"))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
    return paths
