"""What came of each mutant, kept line by line and counted.

A line in the journal stands for one mutant in one version of a module and its tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from benchmarks.mutation.mutants import Mutant

TARGET = 0.9
NO_CODE = "no Python"  # status of a change that does not compile, which is no mutant
ROW = re.compile(
    r"^\| `(?P<name>[^`|]+::[^`|]+::[0-9a-f]{8})` \|.*\| (?P<why>[^|]+) \|$"
)
COLUMNS = (
    "module",
    "mutants",
    "tried",
    "killed by a failing test",
    "killed by the time limit",
    "survived",
    "of these equivalent",
    "kill rate",
    "95 % interval",
)
GAP = "gap"  # begins the reason of a survivor that a test could kill
NOTES = (
    "A survivor is a change that no unit test of the module noticed. Those called "
    "equivalent change no behaviour; they count as survivors in the kill rate all the "
    "same. benchmarks/mutation/survivors.md says of each what it is.",
    "Operators of mutmut at every place of a module, constants and decorated functions "
    "included; annotations, docstrings and the wording of messages left out.",
    "The sample was drawn after the tests had been completed with the help of another "
    "one, so that its rate is that of mutants nobody had looked at.",
    "A time limit kills when one test takes ten times the CPU time that it takes on "
    "the original, and two seconds more. The seconds are CPU time.",
)


@dataclass(frozen=True)
class Line:
    """What came of a mutant.

    Attributes:
        name: Of the mutant.
        key: Digest of the mutated module and of the tests; another one is out of date.
        status: As in `trial.Outcome`.
        killer: The test that failed.
        seconds: CPU time.
        line: Where the change is.
        old: The lines before.
        new: The lines after.
    """

    name: str
    key: str
    status: str
    killer: str
    seconds: float
    line: int
    old: str
    new: str


class Journal:
    """What came of each mutant, one line each; the last line of a mutant counts."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, dict[str, Line]()
        if path.exists():
            for text in path.read_text("utf-8").splitlines():
                line = Line(**json.loads(text))
                self.lines[line.name] = line

    def add(self, line: Line) -> None:
        """Append a line."""
        self.lines[line.name] = line
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")


@dataclass(frozen=True)
class Group:
    """Mutants with one kill rate.

    Attributes:
        name: For the table.
        population: How many there are.
        tried: Those that are tried: all, or a sample.
        judged: Whether its kill rate has a target.
    """

    name: str
    population: int
    tried: tuple[Mutant, ...]
    judged: bool = True

    def lines(self, journal: Journal) -> list[Line]:
        """What came of those that were tried so far."""
        found = [journal.lines[x.name] for x in self.tried if x.name in journal.lines]
        return [line for line in found if line.status != NO_CODE]

    def left(self, journal: Journal) -> int:
        """How many are still to be tried."""
        return sum(x.name not in journal.lines for x in self.tried)

    def row(
        self, journal: Journal, reasons: Mapping[str, str]
    ) -> list[str | int | float]:
        """Its row of the table; equivalent mutants count as survivors."""
        lines = self.lines(journal)
        late = sum(x.status == "time-out" for x in lines)
        alive = [x for x in lines if x.status == "survived"]
        killed = len(lines) - len(alive)
        same = sum(not reasons.get(x.name, GAP).startswith(GAP) for x in alive)
        rate: str | float = round(killed / len(lines), 4) if lines else "-"
        interval = "all were tried"
        if len(lines) < self.population and lines:
            found = binomtest(killed, len(lines)).proportion_ci(0.95, "exact")
            interval = f"{found.low:.3f} to {found.high:.3f}"
        counts = [self.population, len(lines), killed - late, late, len(alive), same]
        return [self.name, *counts, rate, interval]

    def missed(self, journal: Journal) -> bool:
        """Whether too few were tried or killed."""
        lines = self.lines(journal)
        killed = sum(x.status != "survived" for x in lines)
        few = bool(self.left(journal)) or killed < TARGET * len(lines)
        return self.judged and few


def examined(path: Path) -> dict[str, str]:
    """What was found out about a survivor, by its name; a gap is called one."""
    rows = map(ROW.match, path.read_text("utf-8").splitlines())
    return {row["name"]: row["why"] for row in rows if row}


def unexamined(
    groups: Iterable[Group], journal: Journal, reasons: Container[str]
) -> Iterator[Line]:
    """Survivors that nobody has looked at, each once."""
    lines = {x.name: x for group in groups for x in group.lines(journal)}
    for line in lines.values():
        if line.status == "survived" and line.name not in reasons:
            yield line


def told(
    groups: Sequence[Group], journal: Journal, reasons: Mapping[str, str]
) -> dict[str, Any]:
    """What the report shows."""
    lines = {x.name: x for group in groups for x in group.lines(journal)}
    rows = [group.row(journal, reasons) for group in groups]
    rates = ", ".join(f"{row[0]} {row[7]:.1%}" for row in rows)
    return {
        "title": "Mutation of the engine itself",
        "says": (
            "The code of the engine was changed in one place at a time, and its unit "
            f"tests were run on each changed version. Noticed: {rates}."
        ),
        "command": "python benchmarks/mutation/run.py --state DIR --again --write",
        "seconds": sum(line.seconds for line in lines.values()),
        "columns": COLUMNS,
        "rows": rows,
        "notes": NOTES,
    }
