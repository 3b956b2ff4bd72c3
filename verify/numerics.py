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

Floats = NDArray[np.float64]


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
        ToleranceError: ``k u >= 1/2``, or ``k < 0``: the bound says nothing.

    >>> gamma(10) < 1.2e-15
    True
    """
    unit = float(np.finfo(dtype).eps) / 2
    if not 0 <= operations * unit < 0.5:
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

    allowed: Floats
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
        table, or INCONCLUSIVE when an error is not finite and none is beyond its
        tolerance.

    Raises:
        ValueError: The shapes differ, a label has the name of an error or tolerance, or
            one of these is negative.

    >>> rounding = Tolerance(np.full(2, gamma(10)), why="ten operations")
    >>> within([1e-16, 0.0], rounding, says="rounding").verdict.value
    'HOLDS'
    >>> within([1e-3, 0.0], rounding, says="it is off").verdict.value
    'REFUTED'
    """
    errors = np.asarray(error, dtype=np.float64).ravel()
    allowed = np.asarray(tolerance.allowed, dtype=np.float64).ravel()
    if errors.shape != allowed.shape:
        raise ValueError(f"{errors.size} errors and {allowed.size} tolerances")
    columns = {"error": errors, "tolerance": allowed}
    for name, label in (labels or {}).items():
        if name in columns or np.shape(label) != errors.shape:
            raise ValueError(f"label {name!r} is no further column of {errors.size}")
        columns[name] = np.asarray(label)
    common: dict[str, Any] = {
        "n": int(errors.size),
        "target": 1.0,
        "discards": dict(discards or {}),
        **evidence,
    }
    known = np.isfinite(errors) & np.isfinite(allowed)
    columns = {name: column[known] for name, column in columns.items()}
    errors, allowed = columns["error"], columns["tolerance"]
    ratio = _ratios(errors, allowed)
    beyond, unknown = int(np.sum(errors > allowed)), int(np.sum(~known))
    if unknown and not beyond:  # what is known refutes; only all of it can hold
        reason = f"{unknown} errors are not finite"
        return Inconclusive(reason, cause=Cause.NAN, **common)
    if unknown:
        common["discards"]["errors that are not finite"] = unknown
    worst = float(ratio.max(initial=0.0))
    common |= {"measured": worst, "margin": 1.0 - worst}
    if not beyond:
        reason = f"largest error is {worst:.2g} of its rounding bound"
        return Holds(reason, **common)
    order = np.lexsort((-ratio, errors <= allowed))[: min(beyond, WITNESS_ROWS)]
    witness = table(
        {name: column[order] for name, column in columns.items()},
        relation=[">", ["in", "error"], ["in", "tolerance"]],
        aggregate="all",
        says=f"{says} ({tolerance.why})",
    )
    reason = f"{beyond} of {errors.size} errors exceed their bound, worst {worst:.2g}x"
    return Refuted(reason, witness=witness, **common)


def _ratios(errors: Floats, allowed: Floats) -> Floats:
    """Errors over tolerances; 0 / 0 is 0, and infinity is the largest float."""
    if (errors < 0).any() or (allowed < 0).any():
        raise ValueError("errors and tolerances are absolute; one of them is negative")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = np.where(errors > 0, errors / allowed, 0.0)
    return np.minimum(ratio, np.finfo(np.float64).max)


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

    >>> loss = {"step": [1, 2], "loss": [0.5, 0.25]}
    >>> below = ["<", ["in", "loss"], 1]
    >>> table(loss, relation=below, aggregate="all", says="below 1")["rows"]
    [[1, '0x1.0000000000000p-1'], [2, '0x1.0000000000000p-2']]
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
