"""Pages of the documentation as programs: what a reader would do, from top to bottom.

A ``python`` block begins with the file that it is, as a comment; ``, changed`` behind
the name replaces the definitions that the block holds and adds those that are new. A
``console`` block holds commands behind ``$``, each with lines of what it prints: they
must be printed in this order, other lines may stand between them, and ``...`` stands
for anything.
"""

import ast
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+?\.py)(, changed)?\n")
LIMIT = 300  # seconds of one command, when something is stuck


class PageError(AssertionError):
    """A page says what is not so."""


def blocks(page):
    """The language, text and line of every block of code."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield match[1], match[2], text.count("\n", 0, match.start()) + 1


def merged(old, new):
    """A module with definitions of the same name replaced, and new ones before them.

    Args:
        old: Source of the module.
        new: Source of what is changed or added, in the order of the module.

    Returns:
        Source of the changed module; what is new behind all else ends it.
    """
    lines = old.splitlines(keepends=True)
    places, at = spans(old), len(lines)
    for name, (first, last) in reversed(spans(new).items()):
        text = new.splitlines(keepends=True)[first:last]
        if name in places:  # from the end to the beginning: earlier places stay
            at, end = places[name]
            lines[at:end] = text
        else:
            lines[at:at] = ["\n", "\n", *text, "\n", "\n"]
    return "".join(lines)


def spans(text):
    """Range of lines of every top-level statement, by the name that it defines."""
    found = {}
    for node in ast.parse(text).body:
        name = getattr(node, "name", "") or ast.unparse(node)
        if isinstance(node, ast.Assign):
            name = ast.unparse(node.targets[0])
        elif isinstance(node, ast.ImportFrom):
            name = f"from {node.module}"
        decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
        found[name] = min([node.lineno, *decorators]) - 1, node.end_lineno
    return found


@dataclass
class Shell:
    """A folder in which a page is worked through.

    Attributes:
        folder: Empty at first.
        variables: Of the environment, beside the usual ones.
        ran: Commands so far, with what they printed.
    """

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    ran: list[tuple[str, str]] = field(default_factory=list)
    code: int = 0

    def follow(self, page):
        """Do all that a page says, and compare."""
        for language, text, line in blocks(page):
            where = f"{page.name}:{line}"
            if language == "python":
                self.write(text, where)
            elif language == "console":
                self.type(text, where)

    def write(self, text, where):
        """Write a file, or change it."""
        head = FILE.match(text)
        if not head:
            raise PageError(
                f"{where}: begin the block with a comment that names its file"
            )
        path = self.folder / head[1]
        body = text[head.end() :]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(merged(path.read_text(), body) if head[2] else text)

    def type(self, text, where):
        """Run commands and compare what they print."""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            printed = self.run(command)
            if missing := absent(expected, printed):
                raise PageError(
                    f"{where}: `{command}` does not print {missing!r}, or not there:\n"
                    f"{printed}"
                )

    def run(self, command):
        """Run one command and keep what it prints; ``$?`` is that of the one before."""
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.code}); {command}"],
            cwd=self.folder,
            env=os.environ
            | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
            | self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        self.code = done.returncode
        self.ran.append((command, done.stdout))
        return done.stdout


def absent(expected, printed):
    """The first expected line that is not printed in its place; empty if all are."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        pattern = ".*".join(map(re.escape, wanted.split("...")))
        if wanted and not any(re.fullmatch(pattern, one) for one in lines):
            return line
    return ""
