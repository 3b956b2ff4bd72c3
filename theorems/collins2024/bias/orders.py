"""Verdicts on orders: Q <= C sum_j T_j or Q >= c sum_j T_j, with powers of w and n.

A claim has the parameters ``lower`` and ``upper`` (sums of powers; 0 asserts nothing)
and the constants ``least`` and ``most`` that it exhibits; its domain names the
quantity. An upper order holds if each term of a proved upper bound has a term of the
claim that grows at least as fast, in w and in n, for every d >= 2. It fails if along
some path n = w^s of the domain one term of a proved lower bound outgrows all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from theorems.collins2024.bias import terms
from theorems.collins2024.bias.terms import Known, Term
from theorems.collins2024.bounds.notation import d, n, w
from theorems.collins2024.bounds.steps import need, nonnegative
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.symbolic import family

STEPS = tuple(sp.Rational(*p) for p in ((1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (5, 1)))
DIMENSIONS = (3, 5, 7, 9)
T = sp.Symbol("t", positive=True)


def decide(claim: Claim) -> Outcome:
    """Prove both sides of a claim, or refute one of them on a path."""
    known = terms.quantity(str(claim.domain))
    steps: list[str] = list(known.proof())
    asserted = {side: getattr(claim, side, sp.S.Zero) for side in ("lower", "upper")}
    sides = {side: terms.split(order) for side, order in asserted.items() if order != 0}
    for side, order in sides.items():
        refutation = fails(known, side, order)
        if refutation:
            says, witness, why = refutation
            return Refuted(says, witness=witness, steps=(*steps, why))
    for side, order in sides.items():
        proved = holds(known, side, order, claim)
        if not proved:
            return Inconclusive(f"{side} order: no proof", cause=Cause.NO_PROOF)
        steps += proved
    constants = [getattr(claim, x, sp.S.Zero) for x in ("least", "most")]
    others = sorted(map(str, sp.Tuple(*constants).free_symbols - {d}))
    on = " and ".join(["d", *others]) if others else "d only"
    reason = f"{known.name}: proved for all d ≥ 2, with constants that depend on {on}"
    return Holds(reason, steps=tuple(steps))


def holds(
    known: Known, side: str, claimed: tuple[Term, ...], claim: Claim
) -> tuple[str, ...]:
    """Find for each term one that dominates it; empty if there is none."""
    upper = side == "upper"
    smaller, larger = (known.upper, claimed) if upper else (claimed, known.lower)
    steps, used = [], Counter[Term]()
    for term in smaller:
        over = next((other for other in larger if dominates(other, term)), None)
        if over is None:
            return ()
        used[over] += 1
        powers = [f"w^({x.power}) n^({x.samples})" for x in (term, over)]
        steps.append(" ≤ ".join(powers) + " for w, n ≥ 1")
    if upper:
        exhibited, proved = claim.most, terms.total(known.upper)
    else:
        parts = [term.factor / count for term, count in used.items()]
        exhibited, proved = claim.least, sp.Min(*parts)
    steps.append(need(f"{exhibited} is the constant", same(exhibited, proved)))
    return tuple(steps)


def same(exhibited: sp.Expr, proved: sp.Expr) -> bool:
    """Whether two formulas in d are equal."""
    return bool(exhibited == proved or sp.simplify(exhibited - proved) == 0)


def dominates(larger: Term, smaller: Term) -> bool:
    """Whether its powers of w and n are at least as high, for every d >= 2."""
    gaps = (larger.power - smaller.power, larger.samples - smaller.samples)
    return all(nonnegative(sp.expand(gap), {d: 2}) for gap in gaps)


def fails(
    known: Known, side: str, claimed: tuple[Term, ...]
) -> tuple[str, dict[str, Any], str] | None:
    """Find a path on which the ratio of quantity and claim has no bound."""
    for dimension, slope in paths(known):
        here, low, high = (
            [term.at(dimension) for term in some]
            for some in (claimed, known.lower, known.upper)
        )
        low, high = ([x for x in s if not _window(x)] for s in (low, high))
        if side == "upper":
            bounds = ([[one], here] for one in low if _above(one, here, slope))
        else:
            bounds = ([high, [one]] for one in here if _above(one, high, slope))
        for above, below in bounds:
            toward, sign = ("infinity", -1) if side == "upper" else ("0", 1)
            ratio = _value(above, sign) / _value(below)
            return _family(known, dimension, slope, ratio, toward)
    return None


def _window(term: Term) -> bool:
    """Whether a factor is no number: it has the unnamed constants of Theorem 3.4."""
    return bool(term.factor.free_symbols)


def _above(one: Term, others: Sequence[Term], slope: sp.Rational) -> bool:
    """Whether a term outgrows all others on a path."""
    gaps = [bool(one.along(slope) > other.along(slope)) for other in others]
    return bool(gaps) and all(gaps)


def paths(known: Known) -> Iterator[tuple[int, sp.Rational]]:
    """Dimensions, and slopes s of paths n = w^s inside the domain for large w."""
    for dimension in DIMENSIONS:
        edge = sp.sympify(known.edge).subs(d, dimension)
        for step in STEPS:
            yield dimension, edge + step


def _value(parts: Sequence[Term], sign: int = 0) -> sp.Expr:
    """A sum of terms; factors rounded down (-1) or up (1) to rationals."""
    return sp.Add(*[
        rounded(part.factor, sign) * w**part.power * n**part.samples for part in parts
    ])


def rounded(value: sp.Expr, sign: int) -> sp.Expr:
    """A rational number beyond a positive one, by a thousandth of it.

    >>> rounded(sp.pi, 1) > sp.pi > rounded(sp.pi, -1)
    True
    """
    if not sign:
        return value
    near = sp.Rational(str(sp.Float(sp.N(value, 30), 6)))
    return near * (1 + sp.Rational(sign, 1000))


def _family(
    known: Known, dimension: int, slope: sp.Rational, ratio: sp.Expr, toward: str
) -> tuple[str, dict[str, Any], str]:
    """The ratio in one variable t, w = t^b and n = t^a with a/b the slope."""
    a, b = map(int, slope.as_numer_denom())
    powers = {w: T**b, n: T**a}
    bound = sp.powsimp(sp.powdenest(sp.expand(ratio.subs(powers)), force=True))
    path = known.path.format(a=a, b=b)
    side = "at most" if toward == "0" else "at least"
    says = f"{known.name}, d = {dimension}, {path}: quantity over claim is {side} this"
    first = known.start(dimension, a, b) if known.start else 10
    limit = (
        f"the quotient's power of t is {'negative' if toward == '0' else 'positive'}"
    )
    record = family(
        bound,
        T,
        (first, first**2, first**4),
        toward=toward,
        says=says,
        limit=limit,
    )
    reason = f"{says}: {bound}, which tends to {toward}"
    return reason, record, f"{reason}, from t = {first} on; {limit}"
