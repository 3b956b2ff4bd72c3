"""From Python objects to the record: numbers, formulas, figures, witnesses."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verify.claim import Claim, Variation
from verify.record import Formula, Number

NUMERAL = re.compile(r"(-?[0-9]+(?:\.[0-9]+|/[0-9]+)?)(?:e([+-]?[0-9]+))?", re.ASCII)


def number(value: Any) -> Number:
    """Encode a number so that JSON keeps it exactly.

    Args:
        value: A float, int, Fraction, sympy number, numpy scalar, string or ``None``.

    Returns:
        Finite floats and ints as they are, exact rationals as ``"p/q"``, NaN and
        infinities as words, anything else as its text.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if hasattr(value, "item") and not isinstance(value, int | float):
        value = value.item()
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return str(value)


def encode(value: Any) -> Any:
    """Encode evidence as plain JSON data.

    Args:
        value: Nested dataclasses, mappings, sequences, arrays and numbers.

    Returns:
        Dicts, lists, strings and numbers only.
    """
    kind = type(value)
    if kind is float:  # most of it: rows of tables, points of figures
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool) or kind is int:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: encode(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): encode(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return encode(value.tolist())
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return number(value)


def formula(value: Any) -> Formula:
    """Render a parameter for reading.

    Args:
        value: A sympy object, a number or a string.

    Returns:
        Its text and its LaTeX.
    """
    if hasattr(value, "free_symbols") or hasattr(value, "is_Number"):
        from verify.symbolic import describe  # heavy; only formulas need it

        return Formula(**describe(value))
    text = str(number(value))
    return Formula(text=text, latex=_as_latex(text))


def change_of(variation: Variation) -> dict[str, Formula]:
    """What a variation changes, for reading."""
    change = {name: formula(value) for name, value in variation.changes.items()}
    if variation.domain is not None:
        change["domain"] = formula(str(variation.domain))
    return change


def parameters_of(claim: Claim) -> dict[str, Formula]:
    """The parameters of a claim, for reading."""
    return {name: formula(value) for name, value in claim.parameters.items()}


def _as_latex(text: str) -> str:
    numeral = NUMERAL.fullmatch(text)
    if numeral is None:
        return _as_words(text)
    digits, exponent = numeral.groups()
    return digits if exponent is None else rf"{digits} \cdot 10^{{{int(exponent)}}}"


def _as_words(text: str) -> str:
    escaped = text
    for character in "\\{}_^&%$#~":
        escaped = escaped.replace(character, " ")
    return rf"\text{{{escaped}}}"
