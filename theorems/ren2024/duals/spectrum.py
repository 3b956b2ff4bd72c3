"""When A + αI is singular, exactly: Lemma D.1.

det(αI + A) = Σ_j c_j α^j has c_n = 1, and c_j is the sum of the principal minors of A
of size n - j. Without its zero roots it is α^k (c_k + ... + α^(n-k)), c_k ≠ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import Abs, Max, Symbol

from theorems.ren2024.duals.decide import compiled
from theorems.ren2024.duals.drawn import SEEDS, generator, quarters
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.search import Search
from verify.symbolic import formula

lowest = Symbol("c_0", positive=True)  # |c_k|
others = Symbol("c", nonnegative=True)  # largest |c_j|, j > k
below = Symbol("C", nonnegative=True)  # largest |c_j|, j < n
alpha = Symbol("alpha", real=True)

NEAR = lowest / (lowest + others)
FAR = 1 + below


@dataclass(frozen=True)
class Singular:
    """A matrix A and α with A + αI singular.

    Attributes:
        A: Object array of fractions.
        alpha: The root.
    """

    A: Any
    alpha: Fraction

    @property
    def inputs(self) -> dict[str, Any]:
        """Entries by name, and α."""
        entries = {f"A_{i}_{j}": x for (i, j), x in np.ndenumerate(self.A)}
        return entries | {"alpha": self.alpha}


@lru_cache(maxsize=8)
def coefficients(n: int) -> tuple[sp.Expr, ...]:
    """c_0, ..., c_n in the entries of A."""
    A = sp.Matrix(n, n, lambda i, j: sp.Symbol(f"A_{i}_{j}"))
    minors = [
        sp.Add(*(A.extract(list(s), list(s)).det() for s in combinations(range(n), k)))
        for k in range(n, 0, -1)
    ]
    return (*minors, sp.S.One)


def values(case: Singular) -> list[Fraction]:
    """c_0, ..., c_n as numbers."""
    inputs = case.inputs
    return [compiled(term)(inputs) for term in coefficients(len(case.A))]


def sizes(case: Singular) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """|c_k|, the largest |c_j| above, and the largest |c_j| below c_n, as expressions.

    Which coefficient is the first that is not zero depends on the instance.
    """
    terms = coefficients(len(case.A))
    first = next(j for j, value in enumerate(values(case)) if value)
    above = Max(0, *(Abs(term) for term in terms[first + 1 :]))
    return Abs(terms[first]), above, Max(0, *(Abs(term) for term in terms[:-1]))


def radius(claim: Claim, case: Singular) -> sp.Expr:
    """The claim's bound for this matrix, in its entries."""
    return claim.radius.subs(
        dict(zip((lowest, others, below), sizes(case), strict=True)), simultaneous=True
    )


def covered(claim: Claim, case: Singular) -> bool:
    """Whether the claim says that this singular matrix is not singular."""
    size = abs(case.alpha)
    found = [abs(value) for value in values(case)]
    first = next(j for j, value in enumerate(found) if value)
    after, before = (max(part, default=0) for part in (found[first + 1 :], found[:-1]))
    bound = compiled(claim.radius)({"c_0": found[first], "c": after, "C": before})
    if claim.outside:
        return bool(size > bound)
    return bool(size < bound and (size > 0 or claim.with_zero))


def witness(claim: Claim, case: Singular) -> dict[str, Any]:
    """Record that the determinant vanishes within the claimed range of α."""
    terms = coefficients(len(case.A))
    determinant = sp.Add(*(c * alpha**j for j, c in enumerate(terms)))
    bound = radius(claim, case)
    gap = bound - Abs(alpha) if claim.outside else Abs(alpha) - bound
    says = "A + αI is singular for an α in the claimed range"
    return formula(Abs(determinant) + Max(0, gap), "==", sp.S.Zero, case.inputs, says)


def singular(n: int, seed: int) -> Singular:
    """A - αI plus a matrix whose last column is a combination of the others."""
    rng = generator(seed)
    R = quarters(rng, n, n, -2, 2)
    weights = [Fraction(rng.randint(-2, 2), 2) for _ in range(n - 1)]
    R[:, n - 1] = R[:, : n - 1] @ np.array(weights, dtype=object) if n > 1 else 0
    shift = rng.choice((Fraction(0), Fraction(rng.randint(-16, 16), 8)))
    return Singular(R - shift * np.eye(n, dtype=int), shift)


def attention_block(n: int, seed: int) -> Singular:
    """A column-stochastic matrix, for which A - I is singular."""
    rng = generator(seed)
    weights = quarters(rng, n, n, 0, 4)
    return Singular(weights / weights.sum(axis=0), Fraction(-1))


def _diagonal(alpha: str, *entries: str) -> Singular:
    return Singular(np.diag([Fraction(x) for x in entries]), Fraction(alpha))


PINNED = (
    _diagonal("0", "0"),
    _diagonal("-1/4", "1/4"),
    _diagonal("4/3", "-4/3", "1/3"),
    _diagonal("-4", "4"),
    _diagonal("0", "1", "0"),
    attention_block(2, 0),
)


def settle(claim: Claim, steps: Callable[[Claim], tuple[str, ...] | None]) -> Outcome:
    """Prove the claim by its steps, unless a pinned matrix is a counterexample."""
    for case in PINNED:
        if covered(claim, case):
            record = witness(claim, case)
            return Refuted(record["says"], witness=record)
    found = steps(claim)
    if found is None:
        return Inconclusive("the steps do not prove it", cause=Cause.NO_PROOF)
    return Holds("no root lies in the range", steps=found)


def hunt(claim: Claim, search: Search) -> Outcome:
    """Hunt for a singular A + αI in the claimed range."""
    n = st.integers(1, 4)
    return search.for_all(
        st.one_of(st.builds(singular, n, SEEDS), st.builds(attention_block, n, SEEDS)),
        lambda case: covered(claim, case),
        lambda case: witness(claim, case),
        searched="singular A + αI, n ≤ 4, α multiples of 1/8; column-stochastic A",
        pinned=PINNED,
        scale=0.3,
    )


def near_steps(claim: Claim) -> tuple[str, ...] | None:
    """For |α| < |c_k|/(|c_k| + c) the lowest coefficient outweighs the others."""
    a, m = Symbol("a", positive=True), Symbol("m", positive=True, integer=True)
    ratio = sp.cancel(claim.radius / NEAR)
    series = sp.simplify((1 - a) * (a - a ** (m + 1)) / (1 - a) - (a - a * a**m))
    tail = sp.cancel(others * NEAR / (1 - NEAR) - lowest)
    fits = ratio.is_number and 0 < ratio <= 1 and not claim.with_zero
    if not fits or series != 0 or tail != 0:
        return None
    return (
        "Σ_{1≤j≤m} a^j = (a - a^{m+1})/(1 - a) ≤ a/(1 - a) for 0 < a < 1",
        "|Σ_{j>k} c_j α^{j-k}| ≤ c a/(1 - a), which is |c_k| at a = |c_k|/(|c_k| + c) "
        "and less before",
        "α^k ≠ 0 for α ≠ 0: det(A + αI) ≠ 0",
        f"claimed bound over this one: {ratio}",
    )


def far_steps(claim: Claim) -> tuple[str, ...] | None:
    """For |α| > 1 + C the highest power outweighs the others (Cauchy's bound)."""
    t = Symbol("t", nonnegative=True)  # |α| = 1 + C + t
    room = sp.expand((below + t) - below)  # (a - 1) - C
    excess = sp.expand(claim.radius - FAR)
    if room != t or excess != 0:
        return None
    return (
        "Σ_{j<n} a^j = (a^n - 1)/(a - 1) for a > 1",
        "|Σ_{j<n} c_j α^j| ≤ C (a^n - 1)/(a - 1) ≤ a^n - 1 < a^n when a - 1 ≥ C",
    )
