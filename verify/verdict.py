"""Verdicts, grades, faults, and the rules that combine checks into a claim's verdict.

Standard library only: these words are used by every layer, and the rules work on
plain summaries, so that a report can be rebuilt from a journal without running
anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What a check, or a claim as a whole, comes to.

    ``HOLDS``: decided true on the stated scope. ``REFUTED``: false, with a witness
    that anyone can recheck. ``INCONCLUSIVE``: ran, and could not decide; the cause is
    named. ``NOT_RUN``: nothing is known.
    """

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_RUN = "NOT_RUN"


class Fault(StrEnum):
    """A fault of the suite, never of the paper.

    ``BROKEN``: a mutant survived, an anchor was refuted, a check errored, or a cell
    declared blind rejected after all. ``CONFLICT``: a proof of scope "all" stands
    against a valid witness.
    """

    BROKEN = "BROKEN"
    CONFLICT = "CONFLICT"


class Cause(StrEnum):
    """Why a verdict is INCONCLUSIVE."""

    BUDGET = "budget"
    UNDECIDED = "undecided enclosure"
    SOLVER = "solver not optimal"
    SKIP = "skip"
    TIMEOUT = "time-out"
    NAN = "NaN"
    RECIPE = "recipe incomplete"
    NO_PROOF = "no proof found"
    DISAGREEMENT = "trained evidence disagrees"
    FAULT = "fault"


class Grade(StrEnum):
    """How strong a check's evidence is, strongest first."""

    SYMBOLIC = "symbolic"
    CERTIFIED = "certified"
    NUMERIC = "numeric"
    PROPERTY = "property"
    TRAINED = "trained"

    @property
    def rank(self) -> int:
        """Position in the order of strength; 0 is the strongest."""
        return list(Grade).index(self)

    @property
    def may_cover_all(self) -> bool:
        """Whether a check of this grade may claim scope "all"."""
        return self not in {Grade.PROPERTY, Grade.TRAINED}


class Kind(StrEnum):
    """What sort of assertion a claim is."""

    THEOREM = "theorem"
    PROOF_STEP = "proof-step"
    DEFINITION = "definition"
    ASSUMPTION = "assumption"
    EXAMPLE = "example"
    EMPIRICAL = "empirical"


class Undecided(Exception):
    """Raise inside a check when it cannot decide; the verdict is INCONCLUSIVE.

    Args:
        reason: One sentence for the reader.
        cause: Which of the named causes applies.
    """

    def __init__(self, reason: str, cause: Cause = Cause.UNDECIDED) -> None:
        super().__init__(reason)
        self.reason = reason
        self.cause = cause


class Truth(StrEnum):
    """Three-valued truth of a comparison of enclosures.

    ``bool()`` of an undecided truth raises :class:`Undecided`: ``not (a < b)`` proves
    nothing about enclosures, so it must never read as true or false.
    """

    PROVED = "proved"
    DISPROVED = "disproved"
    UNDECIDED = "undecided"

    def __bool__(self) -> bool:
        if self is Truth.UNDECIDED:
            raise Undecided("a comparison of enclosures is undecided")
        return self is Truth.PROVED


@dataclass(frozen=True)
class Need:
    """One condition on the checks that must hold before a claim HOLDS.

    Attributes:
        grades: A check of one of these grades must hold.
        everywhere: It must have scope "all".
    """

    grades: frozenset[Grade]
    everywhere: bool = False

    def met_by(self, check: CheckSummary) -> bool:
        """Whether a check of this grade and scope can meet the need."""
        return check.grade in self.grades and (check.covers_all or not self.everywhere)

    def implies(self, other: Need) -> bool:
        """Whether every check that meets this need meets the other."""
        everywhere = self.everywhere or not other.everywhere
        return self.grades <= other.grades and everywhere

    def __str__(self) -> str:
        grades = " or ".join(grade.value for grade in Grade if grade in self.grades)
        return f'{grades} of scope "all"' if self.everywhere else grades


PROOF = Need(frozenset({Grade.SYMBOLIC, Grade.CERTIFIED, Grade.NUMERIC}), True)
FALSIFICATION = Need(frozenset({Grade.PROPERTY, Grade.TRAINED}))
MEASUREMENT = Need(frozenset({Grade.TRAINED, Grade.NUMERIC}))


@dataclass(frozen=True)
class Requires:
    """What a claim needs before it HOLDS.

    Attributes:
        needs: All of them must be met by checks that hold.
        why: Reason, when this is weaker than the default of the claim's kind; shown in
            the headline.
    """

    needs: tuple[Need, ...]
    why: str = ""

    @staticmethod
    def default(kind: Kind) -> Requires:
        """The requirement of a kind: proof plus falsification, or a measurement."""
        if kind is Kind.EMPIRICAL:
            return Requires((MEASUREMENT,))
        return Requires((PROOF, FALSIFICATION))

    def covers(self, other: Requires) -> bool:
        """Whether this asks for all that ``other`` asks for."""
        return all(any(n.implies(need) for n in self.needs) for need in other.needs)

    def unmet(self, checks: Iterable[CheckSummary]) -> list[Need]:
        """The needs that none of ``checks`` can meet."""
        checks = list(checks)
        return [need for need in self.needs if not any(map(need.met_by, checks))]


@dataclass(frozen=True)
class Finding:
    """The verdict recorded in a module as known, with its reason.

    Attributes:
        verdict: HOLDS, REFUTED or INCONCLUSIVE.
        reason: Why; for INCONCLUSIVE what would decide it.
        cause: For INCONCLUSIVE only.
    """

    verdict: Verdict
    reason: str = ""
    cause: Cause | None = None


def holds(reason: str = "") -> Finding:
    """Record that a claim is known to hold."""
    return Finding(Verdict.HOLDS, reason)


def refuted(reason: str) -> Finding:
    """Record that a claim is known to be false as stated."""
    return Finding(Verdict.REFUTED, reason)


def inconclusive(cause: Cause, would_decide: str) -> Finding:
    """Record that a claim is known to be undecided, and what would decide it."""
    return Finding(Verdict.INCONCLUSIVE, would_decide, cause)


@dataclass(frozen=True)
class CheckSummary:
    """What the rules of combination need to know about one check.

    Attributes:
        name: Name of the check.
        grade: Its grade.
        covers_all: Whether its scope is "all".
        scope: The scope in words.
        optional: An optional check never lowers a verdict.
        verdict: What it came to, for the claim itself.
        cause: Cause of an INCONCLUSIVE.
        reason: One sentence.
        broken: What is wrong with the check itself; empty when nothing is.
        recipe_complete: For an empirical claim: whether the text fixes the recipe.
    """

    name: str
    grade: Grade
    covers_all: bool = False
    scope: str = ""
    optional: bool = False
    verdict: Verdict = Verdict.NOT_RUN
    cause: Cause | None = None
    reason: str = ""
    broken: str = ""
    recipe_complete: bool = True


@dataclass(frozen=True)
class Combined:
    """A claim's verdict with its headline.

    Attributes:
        verdict: The verdict.
        fault: A fault of the suite, when there is one.
        reason: One sentence.
        cause: For INCONCLUSIVE.
        grade: Grade that carries the verdict, when there is one.
        scope: Scope that was really covered.
        disagreement: Name of a trained check that disagrees with a mathematical
            statement; it never refutes, and it turns the run red.
        weaker: Why less than the default was required.
    """

    verdict: Verdict
    fault: Fault | None = None
    reason: str = ""
    cause: Cause | None = None
    grade: Grade | None = None
    scope: str = ""
    disagreement: str = ""
    weaker: str = field(default="")


def combine(kind: Kind, requires: Requires, checks: Sequence[CheckSummary]) -> Combined:
    """Combine the verdicts of a claim's checks into the claim's verdict.

    The rules, first match wins: a broken check; a proof against a witness; a valid
    witness; a required check that did not run; trained evidence against a mathematical
    statement; a required check that could not decide; requirements unmet; HOLDS.

    Args:
        kind: Kind of the claim: only empirical claims are refuted by trained evidence.
        requires: What HOLDS needs.
        checks: Every declared check, those that did not run included.

    Returns:
        The verdict and its headline.
    """
    for check in checks:
        if check.broken:
            reason = f"{check.name}: {check.broken}"
            return Combined(
                Verdict.INCONCLUSIVE, Fault.BROKEN, reason, cause=Cause.FAULT
            )
    refuters = [c for c in checks if c.verdict is Verdict.REFUTED]
    valid = [c for c in refuters if may_refute(kind, c)]
    proofs = [c for c in checks if _proves(c)]
    if valid and proofs:
        reason = f"{proofs[0].name} proves what {valid[0].name} refutes"
        return Combined(Verdict.INCONCLUSIVE, Fault.CONFLICT, reason, Cause.FAULT)
    if valid:
        best = min(valid, key=lambda c: c.grade.rank)
        return Combined(
            Verdict.REFUTED,
            reason=best.reason,
            grade=best.grade,
            scope="one witness suffices",
        )
    return _without_witness(kind, requires, checks, refuters)


def may_refute(kind: Kind, check: CheckSummary) -> bool:
    """Whether a REFUTED of this check may refute a claim of this kind."""
    if kind is Kind.EMPIRICAL:
        return check.recipe_complete
    return check.grade is not Grade.TRAINED


def _proves(check: CheckSummary) -> bool:
    strong = check.grade in {Grade.SYMBOLIC, Grade.CERTIFIED}
    return check.verdict is Verdict.HOLDS and check.covers_all and strong


def _without_witness(
    kind: Kind,
    requires: Requires,
    checks: Sequence[CheckSummary],
    disagreeing: Sequence[CheckSummary],
) -> Combined:
    """Combine when no valid witness is at hand."""
    required = [c for c in checks if not c.optional]
    empirical = kind is Kind.EMPIRICAL
    disagreement = disagreeing[0].name if disagreeing and not empirical else ""
    missing = [c.name for c in required if c.verdict is Verdict.NOT_RUN]
    if missing or not required:
        reason = "not run: " + ", ".join(missing) if missing else "no check"
        return Combined(Verdict.NOT_RUN, reason=reason, disagreement=disagreement)
    for check in disagreeing:
        if check.optional:
            continue
        reason = f"{check.name} (trained) disagrees: {check.reason}"
        if empirical:
            reason = f"not reproduced; the text leaves the recipe open ({check.name})"
        return Combined(
            Verdict.INCONCLUSIVE,
            reason=reason,
            cause=Cause.RECIPE if empirical else Cause.DISAGREEMENT,
            disagreement=disagreement,
        )
    for check in required:
        if check.verdict is Verdict.INCONCLUSIVE:
            reason = f"{check.name}: {check.reason}"
            return Combined(
                Verdict.INCONCLUSIVE,
                reason=reason,
                cause=check.cause,
                disagreement=disagreement,
            )
    holding = [c for c in checks if c.verdict is Verdict.HOLDS]
    unmet = requires.unmet(c for c in holding if not c.optional)
    if unmet:
        reason = "nothing that holds is " + "; nor ".join(map(str, unmet))
        return Combined(
            Verdict.INCONCLUSIVE,
            reason=reason,
            cause=Cause.NO_PROOF,
            disagreement=disagreement,
        )
    best = min(holding, key=lambda c: (not c.covers_all, c.grade.rank))
    return Combined(
        Verdict.HOLDS,
        reason=best.reason,
        grade=best.grade,
        scope="all" if best.covers_all else best.scope,
        disagreement=disagreement,
        weaker=requires.why,
    )


def contradicts(finding: Finding, kind: Kind, check: CheckSummary) -> str:
    """Say how one check that ran contradicts the recorded finding; empty if not.

    Args:
        finding: The verdict recorded in the module.
        kind: Kind of the claim.
        check: A check that ran.

    Returns:
        A sentence, or an empty string.
    """
    if check.broken:
        return f"BROKEN: {check.broken}"
    if check.verdict is Verdict.REFUTED and finding.verdict is not Verdict.REFUTED:
        if may_refute(kind, check):
            return f"a valid witness against the finding {finding.verdict}"
        return "" if kind is Kind.EMPIRICAL else "trained evidence disagrees"
    if check.verdict is Verdict.HOLDS and finding.verdict is Verdict.REFUTED:
        return 'HOLDS of scope "all" against the finding REFUTED' * _proves(check)
    undecided = check.verdict is Verdict.INCONCLUSIVE and not check.optional
    if undecided and finding.verdict is Verdict.HOLDS:
        return f"could not decide ({check.cause}): {check.reason}"
    return ""


def exit_code(
    *,
    red: Sequence[str],
    crashed: bool,
    ran: int,
    strict: Sequence[str] = (),
) -> int:
    """Exit code of a run.

    Args:
        red: Everything that turns the run red: faults, disagreements, verdicts that
            differ from their finding.
        crashed: Something did not finish (a killed worker, an interrupt).
        ran: How many checks ran.
        strict: Under ``--strict-claims`` the claims that do not HOLD.

    Returns:
        0 findings reproduced, 1 red, 2 nothing was selected, 3 could not finish.
    """
    if crashed:
        return 3
    if red or strict:
        return 1
    return 0 if ran else 2
