"""What a check returns: an outcome, with everything a reader needs to judge it.

Standard library only. Figures are named data; nothing here is about rendering.
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from verify.verdict import Cause, Verdict


@dataclass(frozen=True)
class Series:
    """One curve of a figure.

    Attributes:
        label: Legend.
        x: Abscissae.
        y: Ordinates.
        low: Lower edge of a band around ``y``.
        high: Upper edge of the band.
        style: ``line``, ``points`` or ``steps``.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    style: str = "line"


@dataclass(frozen=True)
class Figure:
    """A figure as data.

    Attributes:
        name: Unique within the claim.
        title: What it shows.
        x_label: With units.
        y_label: With units.
        series: The curves.
        x_log: Logarithmic abscissa.
        y_log: Logarithmic ordinate.
        marks: Vertical lines, label to abscissa.
        bands: Shaded ranges of ordinates, label to (low, high); equal ends are a
            line.
        caption: One or two sentences, also the alternative text.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_log: bool = False
    y_log: bool = False
    marks: Mapping[str, float] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True)
class Tightness:
    """How close a bound comes to what was observed.

    Attributes:
        bound: Which bound.
        observed_over_bound: Worst case found; at most 1 when the bound holds.
        witness: The worst case, for recheck.
    """

    bound: str
    observed_over_bound: float
    witness: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Verdict of one check on one claim, with its evidence.

    Attributes:
        verdict: HOLDS, REFUTED, INCONCLUSIVE or NOT_RUN.
        reason: One sentence.
        cause: For INCONCLUSIVE.
        measured: What was measured.
        target: What it was compared with.
        margin: Signed distance to the decision boundary over the tolerance: positive on
            the accepted side.
        interval: Interval of the measured value.
        level: Error probability of the interval, spent from the run's error budget.
        n: Number of instances that were judged.
        discards: Instances not judged, by reason.
        witness: Exact record of a counterexample.
        certificate: Exact record of a proof or of a true instance.
        steps: Steps of a proof, each machine-checked.
        searched: The domain really covered.
        figures: Figures as data.
        tightness: Tightness of bounds.
    """

    verdict: Verdict
    reason: str = ""
    cause: Cause | None = None
    measured: Any = None
    target: Any = None
    margin: float | None = None
    interval: tuple[float, float] | None = None
    level: float | None = None
    n: int | None = None
    discards: Mapping[str, int] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    certificate: Mapping[str, Any] | None = None
    steps: Sequence[str] = ()
    searched: str = ""
    figures: Sequence[Figure] = ()
    tightness: Sequence[Tightness] = ()

    def but(self, **changes: Any) -> Outcome:
        """The same outcome with some fields replaced."""
        return replace(self, **changes)

    def numbers(self) -> dict[str, Any]:
        """The numbers that must be finite for a verdict to count."""
        low, high = self.interval or (0.0, 0.0)
        return {
            "measured": self.measured,
            "target": self.target,
            "margin": self.margin,
            "interval": low,
            "interval end": high,
        }


def Holds(reason: str = "", **evidence: Any) -> Outcome:
    """Decide that the claim holds on the check's scope.

    Args:
        reason: One sentence.
        **evidence: Fields of :class:`Outcome`.

    Returns:
        The outcome.
    """
    return Outcome(verdict=Verdict.HOLDS, reason=reason, **evidence)


def Refuted(
    reason: str = "", *, witness: Mapping[str, Any] | None, **evidence: Any
) -> Outcome:
    """Decide that the claim is false.

    Args:
        reason: One sentence.
        witness: Exact record that ``verify recheck`` decides; without a valid one the
            check is BROKEN.
        **evidence: Fields of :class:`Outcome`.

    Returns:
        The outcome.
    """
    return Outcome(verdict=Verdict.REFUTED, reason=reason, witness=witness, **evidence)


def Inconclusive(reason: str, *, cause: Cause, **evidence: Any) -> Outcome:
    """Say that the check ran and could not decide.

    Args:
        reason: One sentence.
        cause: Which of the named causes applies.
        **evidence: Fields of :class:`Outcome`.

    Returns:
        The outcome.
    """
    return Outcome(verdict=Verdict.INCONCLUSIVE, reason=reason, cause=cause, **evidence)


def faults_of(outcome: object) -> str:
    """Say what makes an outcome unfit to count; empty when nothing does.

    A check that returns something else than an outcome, a verdict on no instances, a
    margin on the wrong side and a witness that is missing are faults of the check.

    Args:
        outcome: What a check returned.

    Returns:
        One sentence, or an empty string.
    """
    if not isinstance(outcome, Outcome):
        return (
            f"returned {type(outcome).__name__}; return Holds(...), Refuted(...) or "
            "Inconclusive(...)"
        )
    if outcome.verdict is Verdict.NOT_RUN:
        return "returned NOT_RUN; only the engine may say so"
    if outcome.verdict is Verdict.REFUTED and outcome.witness is None:
        return "REFUTED without a witness"
    if outcome.verdict is Verdict.INCONCLUSIVE and outcome.cause is None:
        return "INCONCLUSIVE without a cause"
    if outcome.n is not None and outcome.n < 0:
        return f"judged {outcome.n} instances"
    if outcome.interval and outcome.interval[0] > outcome.interval[1]:
        return f"the interval {outcome.interval} is upside down"
    for bound in outcome.tightness:
        if outcome.verdict is Verdict.HOLDS and not bound.observed_over_bound <= 1:
            ratio = bound.observed_over_bound
            return f"HOLDS though {bound.bound!r} is exceeded {ratio}-fold"
    margin = outcome.margin
    if margin is not None and _is_finite(margin):
        if outcome.verdict is Verdict.HOLDS and margin < 0:
            return f"HOLDS with the negative margin {margin}"
        if outcome.verdict is Verdict.REFUTED and margin > 0:
            return f"REFUTED with the positive margin {margin}"
    return ""


def honest(outcome: Outcome) -> Outcome:
    """Turn a verdict that rests on nothing into INCONCLUSIVE.

    Args:
        outcome: A well-formed outcome.

    Returns:
        The outcome itself, or INCONCLUSIVE when one of its numbers is NaN or infinite,
        or when it judged no instance at all.
    """
    if outcome.verdict not in {Verdict.HOLDS, Verdict.REFUTED}:
        return outcome
    for name, value in outcome.numbers().items():
        if value is not None and not _is_finite(value):
            return outcome.but(
                verdict=Verdict.INCONCLUSIVE,
                cause=Cause.NAN,
                reason=f"{name} is {value}",
            )
    if outcome.n == 0:
        return outcome.but(
            verdict=Verdict.INCONCLUSIVE,
            cause=Cause.BUDGET,
            reason=f"no instance was judged; discards: {dict(outcome.discards)}",
        )
    return outcome


def _is_finite(value: Any) -> bool:
    """Whether a number is finite; words that are no number count as such."""
    try:
        return bool(cmath.isfinite(complex(value)))
    except OverflowError:
        return True  # an exact number too large for a float
    except (TypeError, ValueError):
        return True  # words
