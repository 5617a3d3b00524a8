#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What is in an HTML page.

page.py check <PAGE	fails, and says why, if the page is not well-formed, needs anything
			else, can run a script, or lacks what readers without eyes need
page.py text <PAGE	its text, one element a line
"""
import html.parser
import sys

VOID = {"meta", "br"}
ALLOWED = VOID | {
    "html", "head", "title", "style", "body", "main", "h1", "h2", "h3", "p", "div", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "b", "small", "sup", "span",
    "svg", "path", "circle", "text"}
FOREIGN = {"src", "href", "srcset", "action", "data", "poster", "xlink:href", "background"}


class Page(html.parser.HTMLParser):
    """Elements as a stack, what is wrong, and text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.texts, self.levels = [], [], [], []
        self.count, self.seen = {}, {}

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
        self.count[tag] = self.count.get(tag, 0) + 1
        self.seen.setdefault(tag, []).append(dict(attrs))
        if self.open and self.open[-1] == "table" and tag not in ("caption", "thead", "tbody"):
            self.bad(f"{tag} in a table")
        if tag == "th" and "scope" not in dict(attrs):
            self.bad("th without scope")
        if tag[0] == "h" and tag[1:].isdigit():
            self.levels.append(int(tag[1:]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad(f"end of {tag}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style" and ("url(" in data or "@import" in data):
            self.bad("a style sheet that loads")
        elif data.strip() and (not self.open or self.open[-1] != "style"):
            self.texts.append(" ".join(data.split()))

    def check(self):
        """All that is wrong with the page, after its end"""
        if self.open:
            self.bad(f"no end of {self.open}")
        if [a.get("lang") for a in self.seen.get("html", [])] != ["en"]:
            self.bad("no language")
        if self.levels[:1] != [1] or self.levels.count(1) != 1 or \
                any(b > a + 1 for a, b in zip(self.levels, self.levels[1:])):
            self.bad(f"headings {self.levels}")
        if self.count.get("table", 0) != self.count.get("caption", 0):
            self.bad("a table without caption")
        if any(a.get("role") != "img" or "aria-labelledby" not in a
               for a in self.seen.get("svg", [])):
            self.bad("a picture without its text")
        if not any("default-src 'none'" in a.get("content", "")
                   for a in self.seen.get("meta", [])):
            self.bad("no policy against scripts")
        return self.wrong


def main():
    page = Page()
    page.feed(sys.stdin.read())
    page.close()
    if sys.argv[1] == "text":
        print("\n".join(page.texts))
    elif page.check():
        sys.exit("\n".join(page.wrong))


if __name__ == "__main__":
    main()
