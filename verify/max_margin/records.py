"""Solutions as records of kind ``kkt``, which `verify/recheck.py` decides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.recheck import canonical


def kkt(
    says: str,
    rows: Sequence[Mapping[int, Any]],
    bounds: Sequence[Any],
    solution: Mapping[Any, Any],
    multipliers: Sequence[Any],
    claimed: Mapping[Any, Any] | None = None,
    *,
    symbol: str = "w",
) -> dict[str, Any]:
    """Write down that a point minimises |w|²/2 subject to A w >= b, and why.

    Args:
        says: What the record shows, in one sentence.
        rows: The rows of A: coefficients by position, counted from 0 along the keys of
            ``solution``. All numbers are int or Fraction.
        bounds: One per row.
        solution: The minimiser by coordinate.
        multipliers: One per row.
        claimed: Values that were claimed for some coordinates. The record then says
            also that the minimiser is another point.
        symbol: Printed before a coordinate, as in ``w[3]``.

    Returns:
        The record, with numbers as int or ``"p/q"``. It is not decided here.

    Raises:
        ValueError: Two coordinates would have one name; values are claimed for an
            unknown coordinate, for none, or all of them are the solution's.

    >>> kkt("x >= 1", [{0: 1}], [1], {"x": 1}, [1])["rows"]
    [[{'w[x]': 1}, 1, 1]]
    """

    def named(values: Mapping[Any, Any]) -> dict[str, int | str]:
        return {_name(symbol, key): _number(value) for key, value in values.items()}

    keys = [*solution]
    if len(named(solution)) < len(keys):
        raise ValueError(f"two coordinates of {keys} look alike; rename one of them")
    record: dict[str, Any] = {
        "rows": [
            [named({keys[j]: a for j, a in row.items()}), _number(b), _number(y)]
            for row, b, y in zip(rows, bounds, multipliers, strict=True)
        ],
        "solution": named(solution),
    }
    if claimed is not None:
        if unknown := [key for key in claimed if key not in solution]:
            known = ", ".join(map(str, solution))
            raise ValueError(f"no coordinate {unknown[0]!r}; there are {known}")
        if all(solution[key] == value for key, value in claimed.items()):
            raise ValueError(f"the claimed {named(claimed)} are the solution's values")
        record["compare"] = named(claimed)
    parts = [record["rows"], record["solution"], record.get("compare")]
    digest = hashlib.sha256(canonical(parts)).hexdigest()
    return {"kind": "kkt", "says": says, **record, "digest": digest}


def _name(symbol: str, key: Any) -> str:
    inner = ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
    return f"{symbol}[{inner}]"


def _number(value: Any) -> int | str:
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else str(value)
