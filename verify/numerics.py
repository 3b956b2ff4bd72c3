"""Tolerances derived from rounding error, and comparisons that report their margin.

The one home of tolerances: a check states how many operations stand behind a number,
never a bare ``1e-6``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verify.outcome import Holds, Inconclusive, Outcome, Refuted
from verify.verdict import Cause

WITNESS_ROWS = 5


class ToleranceError(ValueError):
    """No rounding bound exists for so many operations in so few digits."""


def gamma(operations: float, dtype: str = "float64") -> float:
    """Bound the relative error of a chain of rounded operations.

    ``γ_k = k u / (1 - k u)`` with unit roundoff ``u`` (Higham, *Accuracy and Stability
    of Numerical Algorithms*, Lemma 3.1).

    Args:
        operations: Number ``k`` of rounded operations along the longest path.
        dtype: ``float64`` or ``float32``.

    Returns:
        The bound.

    Raises:
        ToleranceError: ``k u >= 1/2``: the bound says nothing.

    >>> gamma(10) < 1.2e-15
    True
    """
    unit = float(np.finfo(dtype).eps) / 2
    if operations * unit >= 0.5:
        raise ToleranceError(
            f"{operations:g} operations in {dtype} have no useful rounding bound; use "
            "fewer operations or a wider dtype"
        )
    return operations * unit / (1 - operations * unit)


@dataclass(frozen=True)
class Tolerance:
    """Allowed errors, with the reason for them.

    Attributes:
        allowed: Bound on the error of each instance, shape ``(n,)``.
        why: Derivation in words; shown in the report.
    """

    allowed: NDArray[np.float64]
    why: str


def within(
    error: ArrayLike,
    tolerance: Tolerance,
    *,
    says: str,
    labels: Mapping[str, ArrayLike] | None = None,
    discards: Mapping[str, int] | None = None,
    **evidence: Any,
) -> Outcome:
    """Decide whether every error is within its tolerance.

    Args:
        error: Observed absolute errors, shape ``(n,)``.
        tolerance: Allowed errors, of the same shape.
        says: What an error beyond its tolerance means, for the witness.
        labels: Further columns of the witness, each of shape ``(n,)``.
        discards: Instances that were not judged, by reason.
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS with the worst ratio as measured value, REFUTED with the worst rows as a
        table, or INCONCLUSIVE when an error is not finite.

    Raises:
        ValueError: The shapes differ.
    """
    errors = np.asarray(error, dtype=np.float64).ravel()
    allowed = np.asarray(tolerance.allowed, dtype=np.float64).ravel()
    if errors.shape != allowed.shape:
        raise ValueError(f"{errors.size} errors and {allowed.size} tolerances")
    common: dict[str, Any] = {
        "n": int(errors.size),
        "target": 1.0,
        "discards": dict(discards or {}),
        **evidence,
    }
    bad = int(np.sum(~np.isfinite(errors) | ~np.isfinite(allowed)))
    if bad:
        return Inconclusive(f"{bad} errors are not finite", cause=Cause.NAN, **common)
    ratio = errors / allowed if errors.size else np.zeros(1)
    worst = float(ratio.max())
    common |= {"measured": worst, "margin": 1.0 - worst}
    if worst <= 1:
        reason = f"largest error is {worst:.2g} of its rounding bound"
        return Holds(reason, **common)
    beyond = int(np.sum(ratio > 1))
    order = np.argsort(-ratio, kind="stable")[: min(beyond, WITNESS_ROWS)]
    columns = {"error": errors, "tolerance": allowed, **(labels or {})}
    witness = table(
        {name: np.asarray(column)[order] for name, column in columns.items()},
        relation=[">", ["in", "error"], ["in", "tolerance"]],
        aggregate="all",
        says=f"{says} ({tolerance.why})",
    )
    reason = f"{beyond} of {errors.size} errors exceed their bound, worst {worst:.2g}x"
    return Refuted(reason, witness=witness, **common)


def table(
    columns: Mapping[str, ArrayLike],
    *,
    relation: list[Any],
    aggregate: str,
    says: str,
) -> dict[str, Any]:
    """Record observed numbers exactly, as a witness or certificate.

    Args:
        columns: Numbers by name, each of shape ``(n,)``.
        relation: ``[op, left, right]`` over the columns.
        aggregate: ``any`` or ``all`` rows, or the ``mean`` of each column.
        says: What the table shows.

    Returns:
        A record of kind ``table``; floats are kept as hex doubles.
    """
    arrays = [np.asarray(column) for column in columns.values()]
    rows = [[_exact(value) for value in row] for row in zip(*arrays, strict=True)]
    return {
        "kind": "table",
        "says": says,
        "columns": list(columns),
        "rows": rows,
        "aggregate": aggregate,
        "relation": relation,
    }


def _exact(value: Any) -> int | str:
    if isinstance(value, int | np.integer):
        return int(value)
    return float(value).hex()
