"""Rademacher averages of small samples, by enumerating all signs.

R_S(G) = w E √(σᵀGσ) and R_S(F̃) = w E √(Σ_t σ_tᵀ K_S σ_t): roots of rational numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import sympy as sp

from theorems.ren2024.bound.notation import N, R, d_o, rho, trace, w
from theorems.ren2024.bound.steps import rational
from theorems.ren2024.bound.tokens import Population
from verify import Claim
from verify.symbolic import tree

LOSSES, MODELS = sp.symbols("losses models")  # whose average is bounded: G or F̃
GUARD = 1e-12
"""Relative room for rounding: 256 roots added in float64 are off by 6e-14."""


@dataclass(frozen=True)
class Roots:
    """scale × Σ count √square / total, with squares in Q.

    Attributes:
        scale: A rational factor.
        squares: How often each square occurs.
    """

    scale: Fraction
    squares: Counter[Fraction]

    def __float__(self) -> float:
        total = sum(k * sqrt(x) for x, k in self.squares.items())
        return float(self.scale) * total / self.squares.total()

    @property
    def tree(self) -> list[Any]:
        """The number as an expression tree."""
        terms = [
            ["mul", k, ["sqrt", str(x)]] for x, k in sorted(self.squares.items()) if x
        ]
        factor = str(self.scale / self.squares.total())
        return ["mul", factor, ["add", 0, *terms]]


def _squares(matrix: list[list[Fraction]]) -> Counter[Fraction]:
    """How often σᵀAσ takes each value."""
    size = len(matrix)
    found: Counter[Fraction] = Counter()
    for signs in product((-1, 1), repeat=size):
        rows = range(size)
        form = sum(
            (signs[i] * signs[j] * matrix[i][j] for i in rows for j in rows), Fraction()
        )
        found[form] += 1
    return found


def of_losses(sample: Population) -> Roots:
    """R_S(G), the tokens of the population being the sample."""
    return Roots(sample.radius, _squares(sample.gram))


def of_models(sample: Population) -> Roots:
    """R_S(F̃): one sign for each token and coordinate."""
    one = _squares(sample.kernel)
    total = Counter({Fraction(0): 1})
    for _ in sample.values[0]:
        both: Counter[Fraction] = Counter()
        for (x, j), (y, k) in product(total.items(), one.items()):
            both[x + y] += j * k
        total = both
    return Roots(sample.radius, total)


def bound_of(claim: Claim, sample: Population) -> sp.Expr:
    """The claimed bound with everything but R_S(F̃) put in."""
    diagonal = sum(sample.kernel[i][i] for i in range(len(sample.keys)))
    at = {
        N: len(sample.keys),
        w: sample.radius,
        rho: sample.rho,
        d_o: len(sample.values[0]),
        trace: diagonal,
    }
    return claim.bound.subs({name: rational(x) for name, x in at.items()})


def average_of(claim: Claim, sample: Population) -> Roots:
    """The average that the claim bounds."""
    return of_losses(sample) if claim.average == LOSSES else of_models(sample)


def ratio(claim: Claim, sample: Population) -> float:
    """What is bounded over the claimed bound."""
    left = average_of(claim, sample)
    bound = bound_of(claim, sample)
    if bound.has(R):
        bound = bound.subs(R, float(of_models(sample)))
    return float(left) / float(bound) if bound != 0 else float("inf")


def witness(claim: Claim, sample: Population) -> dict[str, Any]:
    """Both averages as sums of roots, and their order."""
    left = average_of(claim, sample)
    bound = tree(bound_of(claim, sample), {})
    return {
        "kind": "formula",
        "says": f"N = {len(sample.keys)}, d_o = {len(sample.values[0])}: the average "
        "over all signs exceeds the bound",
        "inputs": {},
        "relation": [">", left.tree, _filled(bound, of_models(sample).tree)],
    }


def _filled(node: Any, average: list[Any]) -> Any:
    """The tree with R_S(F̃) put in for its symbol."""
    if node == ["in", R.name]:
        return average
    if isinstance(node, list):
        return [node[0], *(_filled(part, average) for part in node[1:])]
    return node
