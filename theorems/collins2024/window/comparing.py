"""Exact errors against multiples of other ones, as tables anyone can recompute."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Rational

from verify.outcome import Holds, Outcome, Refuted


def compared(
    rows: Sequence[tuple[str, float, float]], sign: str, factor: Rational
) -> Outcome:
    """Compare every error with a multiple of another one, as a table.

    Args:
        rows: What is compared, the error and the one it is compared with.
        sign: ``<=`` or ``>=``, the claimed relation of error and multiple.
        factor: The multiple.
    """
    ratio = {
        says: error / reference if reference else float("inf")
        for says, error, reference in rows
    }
    wrong = [
        (says, error, reference)
        for says, error, reference in rows
        if (error > float(factor) * reference) == (sign == "<=")
    ]
    opposite = {"<=": ">", ">=": "<"}[sign]
    bound = ["mul", f"{factor.p}/{factor.q}", ["in", "reference"]]
    chosen = wrong or rows
    record = {
        "kind": "table",
        "says": "error and reference: " + "; ".join(says for says, _, _ in chosen),
        "columns": ["error", "reference"],
        "rows": [[error.hex(), reference.hex()] for _, error, reference in chosen],
        "aggregate": "all",
        "relation": [opposite if wrong else sign, ["in", "error"], bound],
    }
    ends = sorted(ratio.items(), key=lambda item: item[1])
    told = ", ".join(f"{says}: {value:.4g}" for says, value in (ends[0], ends[-1]))
    told = f"ratios of errors, least and largest of {len(rows)}: {told}"
    if wrong:
        return Refuted(told, witness=record, n=len(rows))
    return Holds(told, certificate=record, n=len(rows))
