"""Definition G.2: γ(d, α, m), the discretised incomplete gamma function.

Collins et al. (NeurIPS 2024), Definition G.2: γ(d, α, m) = Σ_{i=1}^m i^d e^{-αi}.

What it must satisfy: γ(0, α, m) is a geometric sum, and γ(d+1, α, m) is minus the slope
of γ(d, α, m) in α. For integers d these two determine it.

Deviations from the text: none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.steps import equal
from verify import (
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    check,
)
from verify.recheck import decide
from verify.search import Search
from verify.symbolic import formula

d, m = sp.symbols("d m", integer=True, nonnegative=True)
i = sp.Symbol("i", integer=True, positive=True)
alpha, q = sp.symbols("alpha q", positive=True)

CLAIM = Claim(
    id="collins2024/definition-g.2",
    kind=Kind.DEFINITION,
    title="discretised incomplete gamma function",
    says="γ(d, α, m) is the sum of i^d e^{-αi} over i = 1, .., m.",
    latex=r"\gamma(d, \alpha, m) = \sum_{i=1}^m i^d e^{-\alpha i}",
    quantifiers="for all integers d ≥ 0, m ≥ 1 and real α > 0",
    source=PAPER.at("Definition G.2", "Appendix G.1"),
    parameters={"term": i**d * sp.exp(-alpha * i), "first": sp.S.One, "last": m},
    mutants=(
        Mutant("from i = 0", why="adds 1 for d = 0", first=sp.S.Zero),
        Mutant("up to m - 1", why="loses the last term", last=m - 1),
        Mutant("i^{d-1}", why="not 1 at d = 0", term=i ** (d - 1) * sp.exp(-alpha * i)),
        Mutant("e^{-αi²}", why="no geometric sum", term=i**d * sp.exp(-alpha * i**2)),
        Mutant("α^d too", why="α is not 1", term=(alpha * i) ** d * sp.exp(-alpha * i)),
    ),
)


def as_stated(size: int, base: Fraction, last: int) -> Fraction:
    """The sum, term by term, with e^{-α} = base."""
    return sum((k**size * base**k for k in range(1, last + 1)), Fraction(0))


def closed(size: int, base: Fraction, last: int) -> Fraction:
    """The sum without its terms: by the binomial theorem in (i + 1)^d q^{i+1}.

    (1 - q) γ_d = q - (m+1)^d q^{m+1} + q Σ_{j<d} binom(d, j) γ_j.
    """
    sums: list[Fraction] = []
    for k in range(size + 1):
        lower = sum((comb(k, j) * sums[j] for j in range(k)), Fraction(0))
        rest = base - (last + 1) ** k * base ** (last + 1) + base * lower
        sums.append(rest / (1 - base))
    return sums[size]


@functools.cache
def summand(term: sp.Expr) -> tuple[sp.Expr, Callable[..., Fraction] | None]:
    """A term in q = e^{-α}, and how to compute it exactly if no α is left in it."""
    in_q = sp.powsimp(term.subs(alpha, -sp.log(q)))
    exact = None if in_q.has(sp.log) else sp.lambdify((i, d, q), in_q, "math")
    return in_q, exact


def mismatch(claim: Claim, drawn: tuple[int, Fraction, int]) -> dict[str, Any] | None:
    """Record the claimed sum against the recursion, if they differ.

    α = -log q, so that e^{-αi} = q^i is rational; a term with α left in it is judged
    by enclosures of log q.
    """
    size, base, last = drawn
    value = closed(size, base, last)
    in_q, exact = summand(claim.term)
    span = range(int(claim.first.subs(m, last)), int(claim.last.subs(m, last)) + 1)
    if exact and sum(exact(Fraction(k), size, base) for k in span) == value:
        return None
    total = sp.Add(*(in_q.subs({d: size, i: k}) for k in span))
    says = f"claimed sum for d = {size}, m = {last}, against the recursion"
    record = formula(total, "!=", sp.Rational(value), {"q": base}, says)
    return record if decide(record).valid else None


@check(CLAIM, grade="symbolic", scope="all")
def slopes_in_alpha(claim: Claim) -> Outcome:
    """A geometric sum at d = 0, and minus the slope in α from d to d + 1."""
    term = claim.term
    next_one = term.subs(d, d + 1)
    geometric = (q - q ** (m + 1)) / (1 - q)
    fits = (
        sp.simplify(term.subs(d, 0) - sp.exp(-alpha * i)) == 0
        and sp.simplify(next_one + sp.diff(term, alpha)) == 0
        and (claim.first, claim.last) == (1, m)
    )
    if fits:
        steps = (
            equal("the term at d = 0", term.subs(d, 0), sp.exp(-alpha * i)),
            equal("term at d + 1", next_one, -sp.diff(term, alpha)),
            equal("geometric sum, m = 0", geometric.subs(m, 0), sp.S.Zero),
            equal(
                "and from m - 1 to m",
                geometric - geometric.subs(m, m - 1),
                q**m,
            ),
        )
        return Holds("by induction over d and m", steps=steps)
    for drawn in (
        (0, Fraction(1, 2), 1),
        (0, Fraction(1, 2), 2),
        (2, Fraction(1, 2), 3),
    ):
        found = mismatch(claim, drawn)
        if found:
            return Refuted(found["says"], witness=found)
    return Inconclusive("no proof, and no instance differs", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="d ≤ 6, m ≤ 20, rational e^{-α}")
def agrees_with_recursion(claim: Claim, search: Search) -> Outcome:
    """Compare with the transcription, term by term, and with a recursion over d."""
    from hypothesis import strategies as st

    def violated(drawn: tuple[int, Fraction, int]) -> bool:
        if closed(*drawn) != as_stated(*drawn):
            raise ArithmeticError(f"closed form and transcription differ at {drawn}")
        return mismatch(claim, drawn) is not None

    def witness(drawn: tuple[int, Fraction, int]) -> Mapping[str, Any]:
        return mismatch(claim, drawn) or {}

    drawn = st.tuples(
        st.integers(0, 6),
        st.builds(Fraction, st.integers(1, 15), st.just(16)),
        st.integers(1, 20),
    )
    return search.for_all(
        drawn,
        violated,
        witness,
        searched="d ≤ 6, m ≤ 20, e^{-α} = k/16",
        pinned=[(0, Fraction(1, 2), 1), (1, Fraction(1, 2), 2), (2, Fraction(1, 2), 3)],
        scale=0.15,
    )
