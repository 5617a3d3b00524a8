#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print an SVG: packets of a leaf on its way to the spines, before and after.

animate.py BEFORE AFTER

BEFORE and AFTER are what "demo/trial send" prints. Each dot is a share of the packets; it takes
the link that the packets took. The two pictures follow each other, without end.
"""
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 560, 250, 80
SPINE_Y, LEAF_Y, SIZE = 85, 210, 14
SECONDS, DOTS, FLIGHT = 5, 32, 1.2	# of a picture; dots in it; seconds of a dot
STYLE = """<style>text{font:13px sans-serif;fill:#222;text-anchor:middle}
.t{font-size:16px;font-weight:bold}.p{fill:#fff}.l{stroke:#ccd2d8}
.n{fill:#33404d;stroke:#9aa5b1}.n+text{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#eee}.p{fill:#16191d}.l{stroke:#4a525b}}</style>"""


def read(name):
    """The packets of each spine."""
    with open(name, encoding="utf-8") as file:
        return [int(line.split()[1]) for line in file if line.split()[0].isdigit()]


def place(spine, spines):
    return MARGIN + spine * (WIDTH - 2 * MARGIN) / (spines - 1)


def node(x, y, name):
    print(f'<rect class="n" x="{x - 32}" y="{y - SIZE}" width="64" height="{2 * SIZE}" rx="3"/>'
          f'<text x="{x}" y="{y + 5}">{escape(name)}</text>')


def colour(packets, ideal):
    """Blue up to the ideal load, red from 1.25 times that on."""
    return "#d73027" if packets > 1.05 * ideal else "#2678be"


def shown(begin, end, total):
    """A group that is visible between two moments."""
    times = f"0;{begin / total};{end / total};1"
    first = 1 if not begin else 0
    values = f"{first};1;0;0" if not begin else f"0;1;{1 - first};0"
    print(f'<g opacity="{first}"><animate attributeName="opacity" calcMode="discrete" '
          f'dur="{total}s" repeatCount="indefinite" keyTimes="{times}" values="{values}"/>')


def picture(title, counts):
    ideal = sum(counts) / len(counts)
    number = 0
    print(f'<text class="t" x="{WIDTH / 2}" y="24">{escape(title)}</text>')
    for spine, packets in enumerate(counts):
        x = place(spine, len(counts))
        fill = colour(packets, ideal)
        print(f'<text x="{x}" y="{SPINE_Y - 22}" style="fill:{fill}">{packets}</text>')
        for _ in range(round(DOTS * packets / sum(counts))):
            number = (number + 13) % DOTS	# dots of a link are apart in time
            begin = -number * FLIGHT / DOTS
            print(f'<circle r="5" fill="{fill}" cx="{WIDTH / 2}" cy="{LEAF_Y}">'
                  f'<animate attributeName="cx" to="{x}" begin="{begin:.3f}s" '
                  f'dur="{FLIGHT}s" repeatCount="indefinite"/>'
                  f'<animate attributeName="cy" to="{SPINE_Y}" begin="{begin:.3f}s" '
                  f'dur="{FLIGHT}s" repeatCount="indefinite"/></circle>')


def main():
    pictures = [("ECMP", read(sys.argv[1])), ("rocesteer", read(sys.argv[2]))]
    spines = len(pictures[0][1])
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{STYLE}'
          f'<rect class="p" width="{WIDTH}" height="{HEIGHT}"/>')
    for spine in range(spines):
        print(f'<path class="l" stroke-width="2" d="M{WIDTH / 2} {LEAF_Y}L{place(spine, spines)} '
              f'{SPINE_Y}"/>')
    for i, (title, counts) in enumerate(pictures):
        shown(i * SECONDS, (i + 1) * SECONDS, len(pictures) * SECONDS)
        picture(title, counts)
        print("</g>")
    for spine in range(spines):
        node(place(spine, spines), SPINE_Y, f"spine {spine}")
    node(WIDTH / 2, LEAF_Y, "leaf 0")
    print("</svg>")


main()
