# SPDX-License-Identifier: GPL-2.0
"""The fabric as a picture: each link as thick and as red as it is loaded."""
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 560, 420, 50
SPINE_Y, LEAF_Y, HOST_Y = 120, 290, 350
TITLES = {"ecmp": "ECMP", "ethereal": "rocesteer"}


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


def panel(run, fabric, left):
    spines = places(fabric["spines"], SPINE_Y)
    leaves = places(fabric["leaves"], LEAF_Y)
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
    width = (WIDTH - 2 * MARGIN) / fabric["leaves"]
    for l, (x, y) in enumerate(leaves):
        out.append(box(x, y, 74, f"leaf {l}", "#33404d"))
        for h in range(fabric["hosts"]):
            hx = x + (h + 0.5 - fabric["hosts"] / 2) * min(
                44, 0.9 * width / fabric["hosts"])
            out.append(f'<line x1="{x:.1f}" y1="{y + 13}" x2="{hx:.1f}" '
                       f'y2="{HOST_Y - 9}" stroke="#9aa5b1"/>'
                       f'<circle cx="{hx:.1f}" cy="{HOST_Y}" r="11" '
                       'fill="#6b7a89"/>'
                       f'<text class="h" x="{hx:.1f}" y="{HOST_Y + 4}">'
                       f'{l * fabric["hosts"] + h}</text>')
    out.append("</g>")
    return out


def draw(report, path):
    """The ECMP run with the fullest link beside rocesteer with the same seed."""
    ecmp = max((r for r in report["runs"] if r["policy"] == "ecmp"),
               key=lambda r: r["imbalance"])
    ours = next(r for r in report["runs"] if r["policy"] == "ethereal" and
                r["seed"] == ecmp["seed"])
    fabric = report["fabric"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" '
           f'height="{HEIGHT}" viewBox="0 0 {2 * WIDTH} {HEIGHT}">',
           "<style>text{font:13px sans-serif;text-anchor:middle;fill:#222}"
           ".b{fill:#fff}.t{font-size:20px;font-weight:bold}"
           ".h{font-size:10px;fill:#fff}</style>",
           f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{WIDTH}" y="28">Every host writes to one under another '
           f'leaf over {report["queue_pairs"]} queue pairs: load of the links '
           "from leaf to spine, same switches, same hash seeds</text>"]
    out += panel(ecmp, fabric, 0) + panel(ours, fabric, WIDTH)
    out.append(f'<text x="{WIDTH}" y="{HEIGHT - 20}">Blue: the load an ideal '
               "network has. Red and thick: twice as much or more. Thin: "
               "idle.</text></svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
