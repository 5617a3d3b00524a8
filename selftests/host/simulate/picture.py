#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What is in a picture of "rocesteer simulate --svg", as JSON: picture.py <SVG

Fails if the picture is not well-formed XML, or if something is outside of it.
"""
import json
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def check_places(root):
    """Fail if something is outside."""
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    for item in root:
        if item.get("x") and not (0 <= float(item.get("x")) <= width and
                                  0 <= float(item.get("y")) <= height):
            sys.exit(f"outside: {xml.tostring(item)}")


def curves(root):
    """Return: the loads of each curve. A grid begins with the line of 0, and ends with that of 1."""
    lines, grid, found = [], [], []
    for path in root.iter(f"{SVG}path"):
        points = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path.get("d"))]
        if path.get("class") != "c":
            lines += points
        elif "h" not in path.get("d"):
            grid = lines or grid
            lines = []
            found.append([(grid[0] - y) / (grid[0] - grid[-1]) for y in points])
        else:
            lines = []
    return found


def main():
    """Print the title, the bars by policy, and the curves of the classes."""
    root = xml.parse(sys.stdin).getroot()
    check_places(root)
    items = list(root)
    bars = [i for i, item in enumerate(items) if item.get("fill")]
    json.dump({
        "title": root.find(f"{SVG}title").text,
        "bars": {items[i - 1].text: items[i + 1].text for i in bars},
        "widths": [float(items[i].get("width")) for i in bars],
        "curves": curves(root),
        "classes": [item.text for item in root.iter(f"{SVG}text") if item.text.endswith(" links")],
    }, sys.stdout)


if __name__ == "__main__":
    main()
