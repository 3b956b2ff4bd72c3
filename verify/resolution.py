"""Resolution: how little an asserted number can move before a check refutes it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verify.describe import number
from verify.record import ResolutionRecord, Side

FINEST = Fraction(1, 2**40)


def resolve_parameter(
    rejects: Callable[[Any], bool | None], name: str, claimed: Any, reach: float
) -> ResolutionRecord:
    """Bracket a value: nearest rejected and farthest accepted, on each side.

    Args:
        rejects: Whether the check refutes a value; ``None`` when it cannot decide.
        name: Name of the parameter.
        claimed: The value that the claim asserts, assumed accepted.
        reach: Largest deviation.

    Returns:
        The bracket, from at most eight decisions. ``rejected`` is empty on a side where
        even ``reach`` is accepted. ``monotone`` is false when a deviation is rejected
        and a larger one accepted.
    """
    sides, decisions, monotone = [], 0, True
    for sign in (-1, 1):

        def refuses(step: Fraction, sign: int = sign) -> bool | None:
            return rejects(claimed + sign * step)

        tried = _bracket(refuses, reach)
        refused = min((step for step, rejected in tried if rejected), default=None)
        accepted = [step for step, rejected in tried if rejected is False]
        below = [s for s in accepted if refused is None or s < refused]
        monotone &= len(below) == len(accepted)
        decisions += len(tried)
        sides.append(
            Side(
                accepted=number(claimed + sign * max(below, default=Fraction(0))),
                rejected=None if refused is None else number(claimed + sign * refused),
            )
        )
    return ResolutionRecord(
        parameter=name,
        claimed=number(claimed),
        below=sides[0],
        above=sides[1],
        decisions=decisions,
        monotone=monotone,
    )


def _bracket(
    rejects: Callable[[Fraction], bool | None], reach: float
) -> list[tuple[Fraction, bool | None]]:
    """Try ``reach``, then three more: bisecting geometrically, or probing inside it."""
    step, low, high = Fraction(reach), Fraction(reach) * FINEST, Fraction(reach)
    tried = []
    for _ in range(4):
        rejected = rejects(step)
        tried.append((step, rejected))
        if not tried[0][1]:
            step = step / 8  # even the reach is accepted: look for a gap inside
            continue
        low, high = (low, step) if rejected else (step, high)
        step = Fraction(float(low * high) ** 0.5)
    return tried
