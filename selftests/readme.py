#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run what README.md and pages of Documentation show, and compare what is printed.

readme.py [WORD]

Runs the blocks that are marked ```console, or ```console WORD, and "code-block:: console" in
pages; in each block the commands behind "$ " one after the other, as root, in one shell and one
directory, which has the tree's demo/ and build/. What follows a command is what it prints: "..."
stands for any lines, and at the end of a line for the rest of it. With WORD numbers may differ. What fails is tried again for a while, and so is what shows
something else, as a reader would.
"""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
END = "end of the command"
TIME_SCALE = 60 * int(os.environ.get("TIME_SCALE", "1"))
PAGES = ["README.md", "Documentation/slices.rst", "Documentation/chunks.rst"]


def read_pages():
    """The lines of the pages, with the marks and the ends of blocks as in README.md."""
    for page in PAGES:
        with open(os.path.join(TREE, page), encoding="utf-8") as file:
            text = file.read()
        if page.endswith(".rst"):
            text = re.sub(r"^\.\. code-block:: console\n\n((?:   .*\n)+)",
                          lambda block: "```console\n" +
                          re.sub("(?m)^   ", "", block[1]) + "```\n", text, flags=re.M)
        yield from text.splitlines()


def blocks(word):
    """The marked blocks: lists of commands with the lines that each prints."""
    mark = "```console" + (" " + word if word else "")
    block = None
    for line in read_pages():
        if block is None:
            if line == mark:
                block = []
        elif line == "```":
            yield block
            block = None
        elif line.startswith("$ "):
            block.append((line[2:], []))
        else:
            block[-1][1].append(line)


NUMBER = re.compile(r"\d+(?:\.\d+)*")


def is_like(want, got, exact):
    """Whether a line that is printed is the one that was announced."""
    want = " ".join(want.split())
    text = re.escape(NUMBER.sub("0", want.removesuffix("...")))
    if not re.fullmatch(text + (".*" if want.endswith("...") else ""),
                        NUMBER.sub("0", got)):
        return False
    return not exact or all(
        a == b for a, b in zip(NUMBER.findall(want), NUMBER.findall(got)))


def matches(want, got, exact):
    """Whether lines are those that were announced."""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:], exact)
                   for i in range(len(got) + 1))
    return bool(got) and is_like(want[0], got[0], exact) \
        and matches(want[1:], got[1:], exact)


def run(shell, command):
    """Return the lines that a command prints, and its exit status."""
    # The output may end without a newline.
    shell.stdin.write(f"{command}\nprintf '\\n%s %s\\n' '{END}' $?\n")
    try:
        shell.stdin.flush()
    except BrokenPipeError:
        return ["the shell is gone"], -1
    lines = []
    for line in shell.stdout:
        if line.startswith(END):
            return lines, int(line.split()[-1])
        if line.strip():
            lines.append(" ".join(line.split()))
    return lines, -1


def holds(shell, command, want, exact, patience):
    """Run a command. Return whether it prints what is wanted of it."""
    again = time.monotonic() + patience
    while True:
        got, status = run(shell, command)
        good = not status and matches(want, got, exact)
        if good or status < 0 or time.monotonic() > again or \
                not (status or re.search(r" (show|top)\b", command)):
            break
        time.sleep(0.2)
    if not good:
        print(f"$ {command}: status {status}, prints", *got, sep="\n  ")
    return good


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    found = list(blocks(word))
    good = bool(found)
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/build")
        os.symlink(f"{TREE}/demo", f"{directory}/demo")
        os.symlink(os.environ.get("ROCESTEER", f"{TREE}/build/rocesteer"),
                   f"{directory}/build/rocesteer")
        if "MODULE" in os.environ:
            os.symlink(os.environ["MODULE"], f"{directory}/build/rocesteer.ko")
        path = f"{directory}/build:{os.environ['PATH']}"
        for block in found:
            with subprocess.Popen(["/bin/bash"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  cwd=directory, start_new_session=True,
                                  env={**os.environ, "PATH": path}) as shell:
                # A command that does not end fails when its shell, and all that holds its
                # output open, is killed.
                signal.signal(signal.SIGALRM, lambda *_:
                              os.killpg(shell.pid, signal.SIGKILL))
                for command, text in block:
                    signal.alarm(2 * TIME_SCALE)
                    want = [line for line in text if line.strip()]
                    # After a failure the remaining commands only clean up.
                    good = holds(shell, command, want, not word,
                                 TIME_SCALE if good else 0) and good
                signal.alarm(0)
                with contextlib.suppress(BrokenPipeError):
                    shell.stdin.close()
    sys.exit(not good)


main()
