"""From lines to error rates with intervals, resolution curves, and the shipped file."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.power.cases import FAULT, WORDS, Family
from benchmarks.power.study import (
    CURVE,
    EXTRA,
    FALSE,
    FAMILIES,
    TRUE,
    WHOLE,
    Block,
    Lines,
)

FALSE_REFUTED, FALSE_HOLDS = 1e-4, 1e-3  # the targets
REJECTED = 0.99  # defines the resolution
LEVEL = 0.05  # of the one-sided upper bounds
COLUMNS = (
    "family",
    "true claims",
    "false-REFUTED",
    "upper 95 %, REFUTED",
    "false claims",
    "false-HOLDS",
    "upper 95 %, HOLDS",
    "inconclusive, true",
    "inconclusive, false",
    "resolution at .99",
)
COMMAND = "python benchmarks/power/run.py --write"


def upper(events: int, trials: int, level: float = LEVEL) -> float:
    """One-sided upper bound of Clopper and Pearson for a probability.

    >>> round(upper(0, 30_000) * 30_000, 2)
    3.0
    """
    from scipy.stats import beta

    if events >= trials:
        return 1.0
    return float(beta.isf(level, events + 1, trials - events))


def lower(events: int, trials: int, level: float = LEVEL) -> float:
    """One-sided lower bound of Clopper and Pearson."""
    from scipy.stats import beta

    return float(beta.ppf(level, events, trials - events + 1)) if events else 0.0


@dataclass
class Tally:
    """Verdicts of one block.

    Attributes:
        verdicts: How often each came.
        sorts: The same by sort.
        apart: Claims on which the whole path said something else.
        wrong: Numbers of the first claims that were decided wrongly.
        seconds: CPU time.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    sorts: dict[str, Counter[str]] = field(default_factory=dict)
    apart: int = 0
    wrong: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def n(self) -> int:
        """Claims."""
        return sum(self.verdicts.values())

    def add(self, line: Mapping[str, Any]) -> None:
        """Count a line in."""
        for sort, verdicts in line["verdicts"].items():
            self.sorts.setdefault(sort, Counter()).update(verdicts)
            self.verdicts.update(verdicts)
        self.apart += line["apart"]
        self.wrong += line["wrong"]
        self.seconds += line["seconds"]

    def record(self) -> dict[str, Any]:
        """The counts as data, without what never came."""
        return {"n": self.n, **{w: self.verdicts[w] for w in WORDS if self.verdicts[w]}}


def tallies(lines: Lines, blocks: Sequence[Block]) -> dict[tuple[str, str], Tally]:
    """Add the lines of every block up."""
    found: dict[tuple[str, str], Tally] = {}
    for block in blocks:
        tally = found.setdefault((block.family, block.name), Tally())
        for key in block.chunks():
            tally.add(lines.done[key])
    return found


@dataclass(frozen=True)
class Measured:
    """What was measured of one family.

    Attributes:
        family: The family.
        true: True claims.
        false: False claims at the stated resolution.
        whole: Claims on both paths.
        curve: Tallies by wrongness, ascending.
        extras: Tallies of claims outside the assumptions.
    """

    family: Family
    true: Tally
    false: Tally
    whole: Tally
    curve: Mapping[float, Tally]
    extras: Mapping[str, Tally]

    @property
    def resolution(self) -> float | None:
        """Least wrongness from which on the share rejected is at least .99."""
        least = None
        for wrongness, tally in sorted(self.curve.items(), reverse=True):
            if tally.verdicts["REFUTED"] < REJECTED * tally.n:
                break
            least = wrongness
        return least

    @property
    def missed(self) -> list[str]:
        """Targets that were missed, in words."""
        found = []
        refuted, holds = self.true.verdicts["REFUTED"], self.false.verdicts["HOLDS"]
        if refuted >= FALSE_REFUTED * self.true.n and refuted:
            found.append(f"{refuted} of {self.true.n} true claims refuted")
        if holds >= FALSE_HOLDS * self.false.n and holds:
            found.append(f"{holds} of {self.false.n} false claims found to hold")
        faults = sum(t.verdicts[FAULT] for t in (self.true, self.false, self.whole))
        if faults:
            found.append(f"{faults} checks broke")
        if self.whole.apart:
            found.append(
                f"{self.whole.apart} claims decided otherwise by the whole path"
            )
        return [f"{self.family.name}: {text}" for text in found]

    def row(self) -> list[Any]:
        """The family's row."""
        refuted, holds = self.true.verdicts["REFUTED"], self.false.verdicts["HOLDS"]
        resolution = self.resolution
        return [
            self.family.name,
            self.true.n,
            refuted,
            upper(refuted, self.true.n),
            self.false.n,
            holds,
            upper(holds, self.false.n),
            self.true.verdicts["INCONCLUSIVE"],
            self.false.verdicts["INCONCLUSIVE"],
            "none" if resolution is None else f"{resolution:.3g}",
        ]


def measured(lines: Lines, blocks: Sequence[Block]) -> list[Measured]:
    """Sort the blocks of a study by family."""
    found = tallies(lines, blocks)
    result = []
    for name in dict.fromkeys(block.family for block in blocks):
        own = {block: tally for (family, block), tally in found.items()
               if family == name}  # fmt: skip

        def part(kind: str, own: Mapping[str, Tally] = own) -> dict[str, Tally]:
            return {k.partition("/")[2]: t for k, t in own.items()
                    if k.startswith(f"{kind}/")}  # fmt: skip

        curve = {float(w): tally for w, tally in part(CURVE).items()}
        result.append(
            Measured(FAMILIES[name], own[TRUE], own[FALSE], own[WHOLE], curve,
                     part(EXTRA))
        )  # fmt: skip
    return result


# ------------------------------------------------------------------------------ writing


def results(found: Sequence[Measured], lines: Lines) -> dict[str, Any]:
    """Everything that was measured, small enough to be kept."""
    return {
        "study": dict(lines.head),
        "families": {one.family.name: _result(one) for one in found},
    }


def _result(one: Measured) -> dict[str, Any]:
    family = one.family
    return {
        "unit": family.unit,
        "stated": family.stated,
        "why": family.why,
        "resolution": one.resolution,
        "true": _by_sort(one.true),
        "false": _by_sort(one.false),
        "whole": one.whole.record() | {"apart": one.whole.apart},
        "curve": [
            {
                "wrongness": wrongness,
                **tally.record(),
                "rejected": tally.verdicts["REFUTED"] / tally.n,
                "rejected_at_least": lower(tally.verdicts["REFUTED"], tally.n),
                "by_sort": _sorts(tally),
            }
            for wrongness, tally in sorted(one.curve.items())
        ],
        "beyond": {
            name: {
                "says": family.extras[name].says,
                "truth": family.extras[name].truth,
                **tally.record(),
            }
            for name, tally in one.extras.items()
        },
    }


def _sorts(tally: Tally) -> dict[str, dict[str, int]]:
    return {sort: {w: v[w] for w in WORDS if v[w]}
            for sort, v in sorted(tally.sorts.items())}  # fmt: skip


def _by_sort(tally: Tally) -> dict[str, Any]:
    return {
        **tally.record(),
        "by_sort": _sorts(tally),
        "wrong": tally.wrong[:20],
        "cpu_seconds": round(tally.seconds, 1),
    }


def trust(
    found: Sequence[Measured], *, date: str, commit: str, seconds: float, cores: int
) -> dict[str, Any]:
    """The file that the package ships and the report shows."""
    return {
        "name": "power",
        "title": "Error rates on synthetic claims",
        "says": says(found),
        "command": COMMAND,
        "measured": {
            "date": date,
            "commit": commit,
            "machine": f"{cores} cores, {platform.machine()}",
            "seconds": round(seconds, 1),
        },
        "columns": list(COLUMNS),
        "rows": [one.row() for one in found],
        "notes": notes(found),
    }


def says(found: Sequence[Measured]) -> str:
    """The result in two sentences."""
    true = sum(one.true.n for one in found)
    false = sum(one.false.n for one in found)
    refuted = sum(one.true.verdicts["REFUTED"] for one in found)
    holds = sum(one.false.verdicts["HOLDS"] for one in found)
    missed = [text for one in found for text in one.missed]
    text = (
        f"Of {true:,} true synthetic claims {refuted} were refuted, and of {false:,} "
        f"false ones, wrong by the stated amount, {holds} were found to hold. "
    )
    targets = f"{FALSE_REFUTED:.0e} and {FALSE_HOLDS:.0e} in every family"
    if missed:
        return f"{text}The targets ({targets}) were missed: {'; '.join(missed)}."
    return f"{text}The observed rates are below the targets, {targets}."


def notes(found: Sequence[Measured]) -> list[str]:
    """What was decided how, what wrongness means, and what lies beyond."""
    whole = sum(one.whole.n for one in found)
    apart = sum(one.whole.apart for one in found)
    lines = [
        "Every claim was decided by its check, its witness or certificate rechecked, "
        f"and the check combined into a verdict. {whole - apart} of {whole} claims got "
        "the same verdict from a whole run with mutants, a second decision, the "
        "journal and the report.",
    ]
    for one in found:
        family = one.family
        lines.append(
            f"{family.name}: wrongness is the {family.unit}; false claims are wrong by "
            f"{family.stated:.3g} ({family.why})."
        )
    for one in found:
        lines += [_beyond(one, name, tally) for name, tally in one.extras.items()]
    return lines


def _beyond(one: Measured, name: str, tally: Tally) -> str:
    extra = one.family.extras[name]
    word = "REFUTED" if extra.truth else "HOLDS"
    events = tally.verdicts[word]
    return (
        f"Outside the assumptions, {one.family.name}: of {tally.n} {extra.says}, "
        f"{events} {word} (rate below {upper(events, tally.n):.2g} at 95 %)."
    )
