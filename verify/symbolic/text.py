"""Expressions as text and LaTeX for reports."""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.printer import Printer
from sympy.printing.str import StrPrinter

from verify.symbolic.words import scalar

MOST = 20_000  # parts that a printer remembers; those of three papers are 2000


class _Remembers(Printer):  # type: ignore[misc]
    """A printer that prints no part twice: mutants share most with their claim."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, str] = {}

    def _print(self, expr: Any, **options: Any) -> str:
        # What a Float is printed as depends on where it stands.
        if isinstance(expr, sp.Number) or not isinstance(expr, sp.Basic):
            return str(super()._print(expr, **options))
        key = (type(expr), expr, *options.items())
        if key not in self._known:
            if len(self._known) > MOST:
                self._known.clear()
            self._known[key] = str(super()._print(expr, **options))
        return self._known[key]


class _Text(_Remembers, StrPrinter):  # type: ignore[misc]
    """sympy's text, except that ones, zeros and identities keep their shape."""

    def _print_MatMul(self, expr: Any) -> str:
        parts = [_bracket(part, self._print(part), "({})") for part in expr.args]
        return _join_factors(parts, "*")

    def _print_MatAdd(self, expr: Any) -> str:
        return _join_terms(map(self._print, expr.args))

    def _print_MatrixElement(self, expr: Any) -> str:
        matrix, *indices = map(self._print, expr.args)
        bare = isinstance(expr.parent, sp.MatrixSymbol)
        where = ", ".join(indices)
        return f"{matrix}[{where}]" if bare else f"({matrix})[{where}]"

    def _print_OneMatrix(self, expr: Any) -> str:
        return f"ones({self._print(expr.shape[0])}, {self._print(expr.shape[1])})"

    def _print_ZeroMatrix(self, expr: Any) -> str:
        return f"zeros({self._print(expr.shape[0])}, {self._print(expr.shape[1])})"

    def _print_Identity(self, expr: Any) -> str:
        return f"eye({self._print(expr.shape[0])})"


class _Latex(_Remembers, LatexPrinter):  # type: ignore[misc]
    """sympy's LaTeX, except that ones keep their shape."""

    def _print_MatMul(self, expr: Any) -> str:
        brackets = r"\left({}\right)"
        parts = [_bracket(part, self._print(part), brackets) for part in expr.args]
        return _join_factors(parts, " ")

    def _print_MatAdd(self, expr: Any) -> str:
        return _join_terms(map(self._print, expr.args))

    def _print_MatrixElement(self, expr: Any) -> str:
        matrix, *indices = map(self._print, expr.args)
        bare = isinstance(expr.parent, sp.MatrixSymbol)
        whole = matrix if bare else rf"\left({matrix}\right)"
        return f"{{{whole}}}_{{{','.join(indices)}}}"

    def _print_OneMatrix(self, expr: Any, exp: Any = None) -> str:
        rows, columns = map(self._print, expr.shape)
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\mathbf{{1}}_{{{rows} \times {columns}}}{power}"


_TEXT, _LATEX = _Text(), _Latex()


@lru_cache(maxsize=1024)
def contract_sums(expr: sp.Basic) -> sp.Basic:
    """Write the index sums that sympy makes of matrix entries as entries again.

    Args:
        expr: Any expression.

    Returns:
        An equal expression without fresh dummies, wherever a sum is a product.
    """
    return expr.replace(lambda part: isinstance(part, sp.Sum), scalar)


def plain(expr: sp.Basic) -> str:
    """Print an expression on one line.

    Args:
        expr: Any expression.

    Returns:
        The text; shapes of constant matrices are kept.
    """
    return str(_TEXT.doprint(contract_sums(expr)))


def describe(expr: sp.Basic | Fraction | int | str) -> dict[str, str]:
    r"""Describe a parameter of a claim for a report.

    Args:
        expr: A sympy expression, an exact number, or words.

    Returns:
        The parameter as ``text`` and as ``latex``; words are set upright.

    >>> describe(Fraction(1, 3))
    {'text': '1/3', 'latex': '\\frac{1}{3}'}
    """
    if isinstance(expr, str):
        return {"text": expr, "latex": rf"\text{{{_escape(expr)}}}"}
    if isinstance(expr, Fraction):
        expr = sp.Rational(expr.numerator, expr.denominator)
    expr = contract_sums(sp.sympify(expr))
    return {"text": str(_TEXT.doprint(expr)), "latex": str(_LATEX.doprint(expr))}


# sympy's own printers simplify every matrix product, for seconds, to place brackets
# and signs; the functions below look at the type of a part and at its text alone.


def _bracket(part: Any, text: str, brackets: str) -> str:
    loose = isinstance(part, sp.Add | sp.MatAdd | sp.Piecewise | sp.Sum)
    return brackets.format(text) if loose else text


def _join_factors(parts: list[str], mark: str) -> str:
    if parts[0] in {"1", "-1"} and len(parts) > 1:
        sign = parts[0].removesuffix("1")
        return sign + mark.join(parts[1:])
    return mark.join(parts)


def _join_terms(parts: Iterable[str]) -> str:
    first, *others = parts
    signed = [
        f" - {part[1:].lstrip()}" if part.startswith("-") else f" + {part}"
        for part in others
    ]
    return first + "".join(signed)


def _escape(words: str) -> str:
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
    return "".join(special.get(letter, letter) for letter in words)
