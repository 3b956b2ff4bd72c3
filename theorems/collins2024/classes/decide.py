"""Deciding formulas: proved for all values, or refuted at an exact instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from verify import Cause, Holds, Inconclusive, Outcome, Refuted, Verdict
from verify.symbolic import Identity, formula

Instances = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Equal:
    """A formula of the claim, and the one derived from definitions."""

    says: str
    claimed: sp.Basic
    derived: sp.Basic
    instances: tuple[Mapping[str, Any], ...] = ()

    def decide(self) -> Outcome:
        """Bring the difference to zero, or find an instance where it is not."""
        identity = Identity(self.claimed, self.derived, says=f"{self.says}: it differs")
        return identity.decide(self.instances)


@dataclass(frozen=True)
class AtLeast:
    """An inequality ``left >= right`` of the claim, for symbols above lower bounds."""

    says: str
    left: sp.Expr
    right: sp.Expr
    lows: Mapping[sp.Symbol, int]
    instances: tuple[Mapping[str, Any], ...] = ()

    def decide(self) -> Outcome:
        """Prove it from signs of coefficients, or find an instance against it."""
        if nonnegative(self.left - self.right, self.lows):
            return Holds(f"{self.says}: every coefficient is ≥ 0")
        for instance in self.instances:
            values = {sp.Symbol(k): sp.Rational(v) for k, v in instance.items()}
            gap = bare(self.left - self.right).subs(values)
            if gap.is_negative:
                witness = formula(
                    self.left, "<", self.right, exact(instance), f"{self.says}: not so"
                )
                return Refuted(f"{self.says}: not so", witness=witness)
        return Inconclusive(f"{self.says}: not proved", cause=Cause.NO_PROOF)


@lru_cache(maxsize=256)
def exactly(expr: sp.Expr, *names: sp.Symbol) -> Callable[..., Fraction]:
    """A rational function as a function of fractions, without rounding.

    Args:
        expr: With rational coefficients.
        *names: Its arguments, in order; others must not occur.

    Returns:
        A function of ints and fractions.
    """
    parts = sp.fraction(sp.cancel(sp.together(expr)))  # integer coefficients
    above, below = (sp.lambdify(names, part, "math") for part in parts)
    return lambda *values: Fraction(above(*values)) / Fraction(below(*values))


def bare(expr: sp.Expr) -> sp.Expr:
    """The expression with symbols that carry no assumptions."""
    return expr.subs({s: sp.Symbol(s.name) for s in expr.free_symbols})


def exact(instance: Mapping[str, Any]) -> dict[str, Fraction]:
    """An instance as fractions."""
    return {k: Fraction(str(v)) for k, v in instance.items()}


def nonnegative(expr: sp.Expr, lows: Mapping[sp.Symbol, int]) -> bool:
    """Prove a rational function nonnegative above lower bounds.

    With every symbol written as its bound plus a new one, all coefficients of numerator
    and denominator must be nonnegative.

    Args:
        expr: A rational function of the symbols.
        lows: A lower bound of each.

    Returns:
        True if proved; False says nothing.
    """
    return _nonnegative(sp.sympify(expr), tuple(lows.items()))


@lru_cache(maxsize=1024)
def _nonnegative(expr: sp.Expr, lows: tuple[tuple[sp.Symbol, int], ...]) -> bool:
    shifted = expr.subs({s: s + low for s, low in lows}, simultaneous=True)
    numerator, denominator = sp.fraction(sp.cancel(sp.together(shifted)))
    symbols = sorted(expr.free_symbols, key=str)
    if not symbols:
        return bool(expr >= 0)
    signs = set()
    for part in (numerator, denominator):
        coefficients = sp.Poly(part, *symbols).coeffs()
        signs.add(frozenset(sp.sign(c) for c in coefficients if c != 0))
    return numerator == 0 or signs in ({frozenset({1})}, {frozenset({-1})})


def all_of(*parts: Equal | AtLeast, steps: Iterable[str] = ()) -> Outcome:
    """Decide a conjunction: refuted by its first false part, held by all.

    Args:
        *parts: Decided in turn.
        steps: Further steps of the proof, each checked by whoever passes them.

    Returns:
        REFUTED or INCONCLUSIVE of the first part that is; else HOLDS with all steps.
    """
    proved = list(steps)
    certificate = None
    for part in parts:
        outcome = part.decide()
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        proved.append(part.says)
        certificate = outcome.certificate or certificate
    return Holds(
        f"{len(proved)} steps are proved", steps=proved, certificate=certificate
    )
