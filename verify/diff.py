"""Comparing two reports: what became of each claim, and nothing that is mere noise.

A verdict has changed when a claim that was decided is decided otherwise. A claim that
one report did not run, because its profile or its device leaves it out or because it is
a partial run, is listed as such. What else may be shown:

* A statement that is stated otherwise, field by field.
* The strength (grade and scope) of a verdict, where both runs had the same profile.
* Margins, where both runs had the same profile, seed and device. A margin is the
  distance from the decision boundary in units of the tolerance. Rounding moves it when
  a machine adds in another order, by a factor of order one; beyond one tolerance no
  verdict is near. So a margin has moved when it changes sign, or when it is halved or
  doubled after all that exceeds one tolerance is cut off.
* Times, where both runs had the same profile and device: those that changed by a factor
  of two and by five seconds, relative to all claims that both runs decided. (Two smoke
  runs of the same code on a busy machine of two cores differed by up to four seconds.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from verify.build import UNASKED
from verify.record import CheckRecord, ClaimRecord, Number, Report
from verify.report.words import as_float, is_red
from verify.verdict import Verdict

FACTOR = 2.0  # of margins and times: what is less is noise
SECONDS = 5.0  # of times: what is less is noise
ABSENT = "absent"

Pair = tuple[str, str]


class Status(StrEnum):
    """What became of a claim from one report to the next."""

    CHANGED = "changed"
    GONE = "gone"
    NEW = "new"
    NOT_HERE = "not run here"
    ONLY_HERE = "not run before"
    SAME = "same"


@dataclass(frozen=True)
class Row:
    """One claim in two reports.

    Attributes:
        id: Of the claim.
        status: What became of it.
        old: The claim in the earlier report, if it is there.
        new: The claim in the later report, if it is there.
        why: The reason, in one line.
        stated: What is stated otherwise: earlier and later text by field.
        strength: Grade and scope, earlier and later, where they differ.
        margins: Earlier and later margin by check, where they differ.
        seconds: Earlier and later time of its checks, without training.
        moved: The checks whose margins moved by more than noise.
        slower: Whether the time changed by more than noise.
    """

    id: str
    status: Status
    old: ClaimRecord | None = None
    new: ClaimRecord | None = None
    why: str = ""
    stated: dict[str, Pair] = field(default_factory=dict)
    strength: Pair | None = None
    margins: dict[str, tuple[Number, Number]] = field(default_factory=dict)
    seconds: tuple[float, float] = (0.0, 0.0)
    moved: tuple[str, ...] = ()
    slower: bool = False

    @property
    def words(self) -> Pair:
        """The verdicts, with the fault if there is one."""
        return _word(self.old), _word(self.new)

    @property
    def urgency(self) -> int:
        """What a reader must see first has the smallest number."""
        if self.status is Status.GONE or self.new is None:
            return 3
        if self.new.fault:
            return 0
        if is_red(self.new):
            return 1
        return 2 if self.new.verdict is Verdict.REFUTED else 4


@dataclass(frozen=True)
class Difference:
    """How two reports differ.

    Attributes:
        old: The earlier report.
        new: The later report.
        rows: One per claim of either report; the most urgent first.
        notes: What keeps the reports from being compared in full.
    """

    old: Report
    new: Report
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdicts_changed(self) -> bool:
        """Whether a verdict changed, or a claim that had one is gone."""
        return bool(self.of(Status.CHANGED, Status.GONE))

    def of(self, *statuses: Status) -> list[Row]:
        """The claims with one of these statuses."""
        return [row for row in self.rows if row.status in statuses]


def compare(old: Report, new: Report) -> Difference:
    """Compare two reports claim by claim.

    Args:
        old: Earlier report.
        new: Later report.

    Returns:
        What became of each claim of either.
    """
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    same_work = _same(old, new, "profile", "device")
    scale = _scale(before, after)
    rows = []
    for name in dict.fromkeys([*before, *after]):
        row = _row(name, before.get(name), after.get(name), (old, new))
        if row.old and row.new and row.status in {Status.SAME, Status.CHANGED}:
            row = _measured(row, row.old, row.new, old, new, scale if same_work else 0)
        rows.append(row)
    rows.sort(key=lambda row: row.urgency)
    return Difference(old, new, tuple(rows), tuple(_notes(old, new)))


def _same(old: Report, new: Report, *names: str) -> bool:
    return all(getattr(old.run, name) == getattr(new.run, name) for name in names)


def _notes(old: Report, new: Report) -> Iterable[str]:
    for what in ("profile", "device", "seed"):
        one, other = getattr(old.run, what), getattr(new.run, what)
        if one != other:
            yield f"{what} {one} against {what} {other}"
    for name, report in (("old", old), ("new", new)):
        if report.run.crashes:
            yield f"the {name} run did not finish: {'; '.join(report.run.crashes)}"
        elif report.run.partial:
            yield f"the {name} run is partial"


def _row(
    name: str,
    old: ClaimRecord | None,
    new: ClaimRecord | None,
    reports: tuple[Report, Report],
) -> Row:
    """What became of a claim, and why."""
    if old is None or new is None:
        return _one_sided(name, old, new, reports[1])
    stated = _stated(old, new)
    if _word(old) == _word(new):
        return Row(name, Status.SAME, old, new, "", stated)
    if old.verdict is Verdict.NOT_RUN and not new.fault:
        return Row(name, Status.ONLY_HERE, old, new, new.reason, stated)
    if new.verdict is Verdict.NOT_RUN:
        excuse = _excuse(new, *reports)
        if excuse:
            return Row(name, Status.NOT_HERE, old, new, excuse, stated)
    return Row(name, Status.CHANGED, old, new, _why(new), stated)


def _one_sided(
    name: str, old: ClaimRecord | None, new: ClaimRecord | None, later: Report
) -> Row:
    """A claim that only one of the reports has."""
    if new is not None:
        return Row(name, Status.NEW, None, new, _why(new))
    if later.run.partial and not later.run.crashes:
        return Row(name, Status.NOT_HERE, old, None, "absent from a partial run")
    return Row(name, Status.GONE, old, None, "the new report has no such claim")


def _excuse(claim: ClaimRecord, old: Report, new: Report) -> str:
    """Why a claim was rightly not run; empty when that is a change of its own."""
    missing = [
        check.reason
        for check in claim.checks
        if check.verdict is Verdict.NOT_RUN and not check.optional
    ]
    other_work = not _same(old, new, "profile", "device")
    for reason in missing:
        by_profile = reason.startswith("left out of profile")
        if reason not in {UNASKED, ""} and (other_work or not by_profile):
            return reason
    if new.run.partial and not new.run.crashes and UNASKED in missing:
        return "not selected in this partial run"
    return ""


def _word(claim: ClaimRecord | None) -> str:
    if claim is None:
        return ABSENT
    return f"{claim.verdict} ({claim.fault})" if claim.fault else claim.verdict.value


def _why(claim: ClaimRecord) -> str:
    """The reason of a verdict; the module's own words where it knew of it."""
    known = claim.verdict is claim.finding.verdict and not claim.fault
    return (known and claim.finding.reason) or claim.reason


def _stated(old: ClaimRecord, new: ClaimRecord) -> dict[str, Pair]:
    """What is stated otherwise."""
    one, other = _statement(old), _statement(new)
    return {
        name: (one.get(name, ABSENT), other.get(name, ABSENT))
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    }


def _statement(claim: ClaimRecord) -> dict[str, str]:
    plain = {
        "kind": claim.kind.value,
        "wording": claim.wording,
        "title": claim.title,
        "text": claim.statement_text,
        "formula": claim.statement_latex,
        "quantifiers": claim.quantifiers,
        "finding": claim.finding.verdict.value,
    }
    parameters = {f"parameter {n}": f.text for n, f in claim.parameters.items()}
    assumptions = {f"assumption {a.id}": a.says for a in claim.assumptions}
    return plain | parameters | assumptions


def _measured(
    row: Row,
    old: ClaimRecord,
    new: ClaimRecord,
    earlier: Report,
    later: Report,
    scale: float,
) -> Row:
    """Add strengths, margins and times of a claim that both reports decided."""
    pair = _strength(old), _strength(new)
    before = {check.name: check.margin for check in old.checks}
    margins = {
        check.name: (before[check.name], check.margin)
        for check in new.checks
        if check.name in before and before[check.name] != check.margin
    }
    alike = _same(earlier, later, "profile", "seed", "device")
    moved = [name for name, both in margins.items() if alike and _moved(*both)]
    seconds = _seconds(old), _seconds(new)
    return Row(
        row.id,
        row.status,
        old,
        new,
        row.why,
        row.stated,
        strength=pair if pair[0] != pair[1] else None,
        margins=margins,
        seconds=seconds,
        moved=tuple(moved),
        slower=scale > 0 and _took_longer(*seconds, scale),
    )


def _strength(claim: ClaimRecord) -> str:
    return " · ".join(filter(None, [claim.grade, claim.scope]))


def _moved(before: Number, after: Number) -> bool:
    """Whether a margin moved by more than noise; the rule stands in the module's head.

    Args:
        before: Earlier margin.
        after: Later margin.

    Returns:
        Whether it is worth a line.

    >>> _moved(0.9, 0.5), _moved(0.9, 0.4), _moved(0.1, -0.1), _moved(7.0, 70.0)
    (False, True, True, False)
    """
    one, other = as_float(before), as_float(after)
    if one is None or other is None or math.isnan(one) or math.isnan(other):
        return str(before) != str(after)
    one, other = (max(-1.0, min(1.0, margin)) for margin in (one, other))
    if one * other <= 0:
        return one != other
    return not 1 / FACTOR <= one / other <= FACTOR


def _seconds(claim: ClaimRecord) -> float:
    return sum(map(_own_seconds, claim.checks))


def _own_seconds(check: CheckRecord) -> float:
    """Time of a check without training, which the store saves the second time."""
    return max(0.0, check.seconds - sum(study.seconds for study in check.studies))


def _scale(before: dict[str, ClaimRecord], after: dict[str, ClaimRecord]) -> float:
    """How much slower the later machine is, on the claims that both runs decided."""
    both = [
        (_seconds(before[name]), _seconds(after[name]))
        for name in before.keys() & after.keys()
        if Verdict.NOT_RUN not in {before[name].verdict, after[name].verdict}
    ]
    old, new = (
        (math.fsum(times) for times in zip(*both, strict=True)) if both else (0, 0)
    )
    return new / old if old > 0 else 0.0


def _took_longer(old: float, new: float, scale: float) -> bool:
    expected = old * scale
    low, high = sorted((expected, new))
    return high - low > SECONDS and high > FACTOR * low
