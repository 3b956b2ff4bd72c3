"""One claimed inequality at one exact instance: judged in balls, kept as a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024.caps.balls import At, evaluate
from verify import (
    Cause,
    Holds,
    Inconclusive,
    Outcome,
    Refuted,
    Tightness,
    Truth,
    Undecided,
)
from verify.certify.balls import decide
from verify.search import Search
from verify.symbolic import formula

# 31 digits of pi, cut off and rounded up: a formula has no node for it.
PI = sp.Integer(3141592653589793238462643383279) / sp.Integer(10) ** 30
PI_ENDS = (PI, PI + sp.Integer(10) ** -30)


@dataclass(frozen=True)
class Bound:
    """``left <= right`` at an exact instance.

    Attributes:
        left: The smaller side.
        right: The larger side.
        at: Exact inputs.
        says: What is compared, and where.
        sizes: Exact numbers that shape the expressions: they are put in before the
            formula is written, so that no gamma function is left.
        strict: Whether equality fails.
    """

    left: sp.Expr
    right: sp.Expr
    at: At
    says: str
    sizes: At = field(default_factory=dict)
    strict: bool = False

    def holds(self) -> bool:
        """Decide it in balls of growing precision, equality by computer algebra.

        Raises:
            Undecided: Neither decides.
        """
        truth = decide(self._compare)
        if truth is Truth.UNDECIDED and sp.simplify(self._exact()) == 0:
            return not self.strict
        if truth is Truth.UNDECIDED:
            raise Undecided(f"left open in balls: {self}")
        return truth is Truth.PROVED

    def _compare(self) -> Truth:
        everything = {**self.sizes, **self.at}
        left, right = (evaluate(x, everything) for x in (self.left, self.right))
        if bool(left < right) or (not self.strict and bool(left <= right)):
            return Truth.PROVED
        if bool(left > right) or (self.strict and bool(left >= right)):
            return Truth.DISPROVED
        return Truth.UNDECIDED

    def _exact(self) -> sp.Expr:
        values = {**self.sizes, **self.at}
        exact = {name: sp.Rational(Fraction(value)) for name, value in values.items()}
        return (self.left - self.right).subs(exact)

    def witness(self) -> dict[str, Any]:
        """Record that it fails; pi is taken at both ends of its enclosure."""
        return self._record(">=" if self.strict else ">", "fails")

    def certificate(self) -> dict[str, Any]:
        """Record that it holds."""
        return self._record("<" if self.strict else "<=", "holds")

    def tightness(self, name: str) -> Tightness:
        """How close the two sides are, positive ones, with the record that it holds."""
        everything = {**self.sizes, **self.at}
        ratio = evaluate(self.left, everything) / evaluate(self.right, everything)
        return Tightness(name, min(1.0, float(ratio.mid())), self.certificate())

    def _record(self, op: str, fate: str) -> dict[str, Any]:
        says = f"{fate}: {self.says}"
        left, right = (self._shaped(x) for x in (self.left, self.right))
        inputs = {symbol.name: value for symbol, value in self.at.items()}
        if not (left.has(sp.pi) or right.has(sp.pi)):
            return formula(left, op, right, inputs, says)
        gap = left - right
        ends = [gap.subs(sp.pi, end) for end in PI_ENDS]
        extreme = sp.Min if op in {">", ">="} else sp.Max
        least = extreme(*ends, evaluate=False)
        return formula(least, op, sp.S.Zero, inputs, says)

    def _shaped(self, expr: sp.Expr) -> sp.Expr:
        sizes = {name: sp.Rational(Fraction(x)) for name, x in self.sizes.items()}
        return sp.sympify(expr).subs(sizes)


def first_failure(bounds: Iterable[Bound]) -> Bound | None:
    """The first of several bounds that fails."""
    return next((bound for bound in bounds if not bound.holds()), None)


def settle(
    steps: Sequence[str] | None,
    instances: Iterable[Bound],
    *,
    says: str,
    certificate: Mapping[str, Any] | None = None,
) -> Outcome:
    """Decide a claim by its proof or, if it has none, by instances that may fail.

    Args:
        steps: Steps of the proof; None if there is none.
        instances: Bounds that the claim asserts.
        says: What is proved.
        certificate: A true instance.

    Returns:
        HOLDS with the steps, REFUTED with the first failure, or INCONCLUSIVE.
    """
    if steps is not None:
        return Holds(says, steps=tuple(steps), certificate=certificate)
    failure = first_failure(instances)
    if failure is None:
        return Inconclusive("no proof, and no instance fails", cause=Cause.NO_PROOF)
    witness = failure.witness()
    return Refuted(str(witness["says"]), witness=witness)


def hunt(
    search: Search,
    instances: Any,
    bounds: Callable[[Any], Sequence[Bound]],
    *,
    searched: str,
    pinned: Iterable[Any] = (),
    scale: float = 1.0,
) -> Outcome:
    """Look for an instance at which one of a claim's bounds fails.

    Args:
        search: The search.
        instances: A Hypothesis strategy.
        bounds: The bounds at an instance.
        searched: The space, in words.
        pinned: Instances replayed first.
        scale: Multiple of the profile's number of examples.

    Returns:
        HOLDS, or REFUTED with the smallest failure found.
    """

    def record(instance: Any) -> Mapping[str, Any]:
        return next(b for b in bounds(instance) if not b.holds()).witness()

    return search.for_all(
        instances,
        lambda instance: first_failure(bounds(instance)) is not None,
        record,
        searched=searched,
        pinned=pinned,
        scale=scale,
    )
