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
    "gaps or not examined",
    "kill rate",
    "95 % interval",
)
GAP = "gap"  # begins the reason of a survivor that a test could kill
NOT_EXAMINED = f"{GAP}: not examined"
NOTES = (
    "A survivor is a change that no unit test of the module noticed. Those called "
    "equivalent change no behaviour; they count as survivors in the kill rate all the "
    "same. benchmarks/mutation/survivors.md says of each what it is.",
    "Operators of mutmut at every place of a module, constants and decorated functions "
    "included; annotations, docstrings and the wording of messages left out.",
    "The sample shares no mutant with those that were drawn before, with which tests "
    "had been completed. Tests written since with its survivors in view do not raise "
    "its rate: those stay survivors until another seed is drawn.",
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
        self.read()

    def read(self) -> None:
        """Read what other processes have added as well."""
        if self.path.exists():
            for text in self.path.read_text("utf-8").splitlines():
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
        seed: Of the sample; None if all are tried, and the kill rate has a target.
    """

    name: str
    population: int
    tried: tuple[Mutant, ...]
    seed: int | None = None

    def lines(self, journal: Journal) -> list[Line]:
        """What came of those that were tried so far."""
        found = [journal.lines[x.name] for x in self.tried if x.name in journal.lines]
        return [line for line in found if line.status != NO_CODE]

    def left(self, journal: Journal) -> int:
        """How many are still to be tried."""
        return sum(x.name not in journal.lines for x in self.tried)

    def alive(self, journal: Journal, reasons: Container[str]) -> list[Line]:
        """The survivors; one of a sample that was ever written down stays one."""
        sample = self.seed is not None
        return [
            line
            for line in self.lines(journal)
            if line.status == "survived" or (sample and line.name in reasons)
        ]

    def row(
        self, journal: Journal, reasons: Mapping[str, str]
    ) -> list[str | int | float]:
        """Its row of the table; equivalent mutants count as survivors."""
        lines, alive = self.lines(journal), self.alive(journal, reasons)
        dead = [line for line in lines if line not in alive]
        late = sum(line.status == "time-out" for line in dead)
        same = sum(not reasons.get(x.name, GAP).startswith(GAP) for x in alive)
        rate: str | float = round(len(dead) / len(lines), 4) if lines else "-"
        interval = "all were tried"
        if len(lines) < self.population and lines:
            found = binomtest(len(dead), len(lines)).proportion_ci(0.95, "exact")
            interval = f"{found.low:.3f} to {found.high:.3f}"
        name = self.name if self.seed is None else f"{self.name}, draw {self.seed}"
        counts = [self.population, len(lines), len(dead) - late, late]
        return [name, *counts, len(alive), same, len(alive) - same, rate, interval]

    def missed(self, journal: Journal) -> bool:
        """Whether too few were tried, or killed where that is asked for."""
        lines = self.lines(journal)
        killed = sum(x.status != "survived" for x in lines)
        few = self.seed is None and killed < TARGET * len(lines)
        return bool(self.left(journal)) or few


def examined(path: Path) -> dict[str, str]:
    """What was found out about a survivor, by its name; a gap is called one."""
    rows = map(ROW.match, path.read_text("utf-8").splitlines())
    return {row["name"]: row["why"] for row in rows if row}


def unexamined(
    groups: Iterable[Group],
    journal: Journal,
    reasons: Container[str],
    *,
    samples: bool = False,
) -> Iterator[Line]:
    """Survivors that nobody has looked at, each once.

    Args:
        groups: The mutants.
        journal: What came of them.
        reasons: Names of those that were looked at.
        samples: Those of samples as well, which may stay unexamined.

    Yields:
        What came of each.
    """
    chosen = [group for group in groups if samples or group.seed is None]
    lines = {x.name: x for group in chosen for x in group.lines(journal)}
    for line in lines.values():
        if line.status == "survived" and line.name not in reasons:
            yield line


def add_gaps(path: Path, lines: Iterable[Line]) -> None:
    """Write down survivors that nobody has looked at, so that they stay survivors."""
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            change = " ".join(f"{line.old} → {line.new}".replace("|", "¦").split())
            file.write(f"| `{line.name}` | `{change}` | {NOT_EXAMINED} |\n")


def told(
    groups: Sequence[Group], journal: Journal, reasons: Mapping[str, str]
) -> dict[str, Any]:
    """What the report shows."""
    lines = {x.name: x for group in groups for x in group.lines(journal)}
    rows = [group.row(journal, reasons) for group in groups]
    at = COLUMNS.index("kill rate")
    rates = "; ".join(f"{row[0]}: {row[at]:.1%}" for row in rows)
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
