"""What the page says of one claim, gathered from the whole record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from verify.record import CheckRecord, ClaimRecord, Number, Report
from verify.report import words
from verify.verdict import Verdict

# Sections in reading order; a claim stands in one of them.
SECTIONS = {
    "refuted": "Refuted",
    "attention": "Needs attention",
    "reading_dependent": "False under this reading",
    "failing_steps": "Proof steps that fail while the claim may stand",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "holds": "Hold",
}
SHORT = {
    "refuted": "Refuted",
    "attention": "Needs attention",
    "reading_dependent": "By reading",
    "failing_steps": "Failing steps",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "holds": "Hold",
}
INTRODUCTIONS = {
    "refuted": "False as stated, each by a witness that anyone can decide again.",
    "attention": "A fault of the suite, or a verdict unlike the recorded finding: read "
    "these before relying on anything else in this report.",
    "reading_dependent": "The text leaves something open. Each reading is decided for "
    "itself; under these it is false.",
    "failing_steps": "A step of the proof is false as written. That refutes the step, "
    "never the statement it was to prove.",
    "inconclusive": "These ran, and the evidence decides neither way.",
    "not_run": "Nothing is known of these from this run.",
    "holds": "Decided true on the scope named beside each.",
}


class Reading(NamedTuple):
    """One reading of a claim that has several."""

    claim: ClaimRecord
    anchor: str
    this: bool


class Nearest(NamedTuple):
    """The nearest statement that holds: a claim of this record, or words."""

    text: str
    anchor: str = ""
    claim: ClaimRecord | None = None


class Fate(NamedTuple):
    """What some checks said of a changed claim, all for the same reason."""

    checks: tuple[tuple[str, Number], ...]
    verdict: Verdict
    rejected: bool
    reason: str
    error: str


@dataclass(frozen=True)
class Card:
    """A claim with what the page needs beside it.

    Attributes:
        claim: The claim.
        group: The group in which it is counted.
        section: The section in which it stands.
        anchor: Its fragment, unique on the page.
        place: A prefix for ids inside it.
        nearest: The nearest statement that holds, if one is named.
        readings: All readings, if there are several.
    """

    claim: ClaimRecord
    group: str
    section: str
    anchor: str
    place: str
    nearest: Nearest | None
    readings: tuple[Reading, ...]

    @property
    def seconds(self) -> float:
        """What its checks took together."""
        return sum(check.seconds for check in self.claim.checks)

    @property
    def brief(self) -> bool:
        """Whether one line is enough before it is opened."""
        quiet = self.section in {"holds", "not_run"}
        return quiet and not words.is_red(self.claim)


def cards(report: Report) -> list[Card]:
    """The claims of a report in reading order, each with what stands beside it.

    Args:
        report: The record.

    Returns:
        Refuted claims first, those that hold last and by paper.
    """
    anchors = fragments([claim.id for claim in report.claims])
    at = dict(zip((claim.id for claim in report.claims), anchors, strict=True))
    readings: dict[str, list[ClaimRecord]] = {}
    for claim in report.claims:
        readings.setdefault(words.base_id(claim), []).append(claim)
    named = {claim.id: claim for claim in report.claims}
    grouped = {id(claim): group for group, claim in words.ordered(report.claims)}
    found = []
    for place, (claim, anchor) in enumerate(zip(report.claims, anchors, strict=True)):
        others = readings[words.base_id(claim)] if claim.reading else []
        several = [Reading(c, at[c.id], c is claim) for c in others]
        nearest = Nearest(claim.nearest, at.get(claim.nearest, ""), None)
        if nearest.anchor:
            nearest = nearest._replace(claim=named[claim.nearest])
        group = grouped[id(claim)]
        red = words.is_red(claim) and group != "refuted"
        found.append(
            Card(
                claim,
                group,
                "attention" if red else group,
                anchor,
                f"f{place}",
                nearest if claim.nearest else None,
                tuple(several) if len(several) > 1 else (),
            )
        )
    return sorted(found, key=_order)


def _order(card: Card) -> tuple[int, bool]:
    return list(SECTIONS).index(card.section), not words.is_red(card.claim)


def fragments(ids: Sequence[str]) -> list[str]:
    """Fragments of the page for claim ids: the ids themselves wherever they are fit.

    A fragment has a slash, which no id of the page's own has, and nothing that HTML or
    a URL would take for something else.

    Args:
        ids: Claim ids, of any content.

    Returns:
        One fragment for each id, all different.

    >>> fragments(["a/b@c", "x y", "a/b@c"])
    ['a/b@c', 'claim/x-y', 'a/b@c~2']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in ids:
        fragment = re.sub(r"[^\w./@+:-]+", "-", name) or "claim"
        fragment = fragment if "/" in fragment else f"claim/{fragment}"
        seen[fragment] += 1
        n = seen[fragment]
        found.append(fragment if n == 1 else f"{fragment}~{n}")
    return found


def by_grade(claim: ClaimRecord) -> list[CheckRecord]:
    """The checks of a claim, strongest grade first, necessity checks left out."""
    checks = [check for check in claim.checks if check.role == "check"]
    return sorted(checks, key=lambda check: check.grade.rank)


def fates(claim: ClaimRecord, role: str, name: str) -> list[Fate]:
    """What each check said of a changed claim; checks that agree are said together.

    Args:
        claim: The claim.
        role: ``mutant``, ``anchor`` or ``variant``.
        name: The name of the change.

    Returns:
        One entry for each different answer.
    """
    found: dict[tuple[Verdict, bool, str, str], list[tuple[str, Number]]] = {}
    for check in claim.checks:
        for t in check.trials:
            if (t.role, t.name) == (role, name):
                answer = t.verdict, t.rejected, t.reason, t.error
                found.setdefault(answer, []).append((check.name, t.margin))
    return [Fate(tuple(checks), *answer) for answer, checks in found.items()]


class Slow(NamedTuple):
    """One of the slowest checks and its share of the time of all checks."""

    claim: ClaimRecord
    anchor: str
    check: str
    seconds: float
    share: float


def slowest(shown: Iterable[Card], n: int = 10) -> list[Slow]:
    """The slowest checks of a run.

    Args:
        shown: The cards.
        n: How many.

    Returns:
        The slowest first.
    """
    timed = [(card, check) for card in shown for check in card.claim.checks]
    total = sum(check.seconds for _, check in timed)
    timed.sort(key=lambda pair: -pair[1].seconds)
    return [
        Slow(card.claim, card.anchor, check.name, check.seconds, check.seconds / total)
        for card, check in timed[:n]
        if total > 0
    ]
