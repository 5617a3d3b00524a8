#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What is in an HTML page.

page.py check <PAGE	fails, and says why, if the page is not well-formed, needs anything
			else, can run another script, or lacks what readers without eyes need
page.py report <PAGE	the report in it
page.py text <PAGE	its text, a row of a table in a line
"""
import base64
import hashlib
import html.parser
import sys

VOID = {"meta", "br"}
ALLOWED = VOID | {
    "html", "head", "title", "style", "body", "main", "noscript", "script", "h1", "h2", "h3", "p",
    "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "b", "small",
    "sup", "span", "svg", "path", "text"}
LINES = {"title", "h1", "h2", "h3", "p", "caption", "tr", "li", "text"}
FOREIGN = {"src", "href", "srcset", "action", "data", "poster", "xlink:href", "background"}
REPORT = {"type": "application/json", "id": "report"}


class Page(html.parser.HTMLParser):
    """Elements as a stack, what is wrong, and text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.text, self.levels, self.report = [], [], "", [], ""
        self.seen, self.raw = {}, {"style": "", "script": ""}

    def bad(self, why):
        line, column = self.getpos()
        self.wrong.append(f"{line}:{column}: {why}")

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.bad(f"element {tag}")
        for name, value in attrs:
            if name in FOREIGN or name.startswith("on") or "url(" in (value or ""):
                self.bad(f"attribute {name} of {tag}")
        if len(dict(attrs)) != len(attrs):
            self.bad(f"{tag} has an attribute twice")
        self.seen.setdefault(tag, []).append(dict(attrs))
        if self.open and self.open[-1] == "table" and tag not in ("caption", "thead", "tbody"):
            self.bad(f"{tag} in a table")
        if tag == "th" and "scope" not in dict(attrs):
            self.bad("th without scope")
        if tag[0] == "h" and tag[1:].isdigit():
            self.levels.append(int(tag[1:]))
        if tag not in VOID:
            self.open.append(tag)
        self.text += " " if tag in ("small", "b", "br") else ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad(f"end of {tag}")
        self.text += "\n" if tag in LINES else " | " if tag in ("td", "th") else ""

    def handle_data(self, data):
        tag = self.open[-1] if self.open else ""
        if tag == "script" and self.seen[tag][-1] == REPORT:
            self.report += data
        elif tag in self.raw:
            self.raw[tag] += data
        else:
            self.text += data

    def lines(self):
        """The text without empty lines"""
        lines = (" ".join(line.split()).strip("| ") for line in self.text.splitlines())
        return "\n".join(line for line in lines if line)

    def check_policy(self):
        """The policy allows this style and this script, and nothing else."""
        policy = "default-src 'none';"
        for tag, text in self.raw.items():
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            policy += f" {tag}-src 'sha256-{digest}';"
        if not any(" ".join(a.get("content", "").split()) == policy for a in self.seen["meta"]):
            self.bad(f"the policy is not: {policy}")

    def check(self):
        """All that is wrong with the page, after its end"""
        if self.open:
            self.bad(f"no end of {self.open}")
        if [a.get("lang") for a in self.seen.get("html", [])] != ["en"]:
            self.bad("no language")
        if self.levels[:1] != [1] or self.levels.count(1) != 1 or \
                any(b > a + 1 for a, b in zip(self.levels, self.levels[1:])):
            self.bad(f"headings {self.levels}")
        if len(self.seen.get("table", [])) != len(self.seen.get("caption", [])):
            self.bad("a table without caption")
        if any(a.get("role") != "img" or "aria-labelledby" not in a
               for a in self.seen.get("svg", [])):
            self.bad("a picture without its text")
        if self.seen.get("script") != [REPORT, {}] or "<" in self.report:
            self.bad("not a report and a script")
        if "noscript" not in self.seen:
            self.bad("no word to readers without scripts")
        if "url(" in self.raw["style"] or "@import" in self.raw["style"]:
            self.bad("a style sheet that loads")
        self.check_policy()
        return self.wrong


def main():
    page = Page()
    page.feed(sys.stdin.read())
    page.close()
    if sys.argv[1] == "text":
        print(page.lines())
    elif sys.argv[1] == "report":
        print(page.report)
    elif page.check():
        sys.exit("\n".join(page.wrong))


if __name__ == "__main__":
    main()
