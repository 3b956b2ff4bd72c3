"""Orders: sums of constants times powers of w and n, proved from below and above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import sympy as sp

from theorems.collins2024.bias import constants as of
from theorems.collins2024.bounds.notation import d, m, n, w

if TYPE_CHECKING:
    from collections.abc import Callable

LAMBDA = sp.Symbol("Lambda", positive=True)  # stands for w in orders of Theorem 3.5

AFFINE, RELU, NOISE = "affine", "relu", "noise"
LIPSCHITZ = "any L-Lipschitz task"
EVERYWHERE = "relu, any n"
ANY_SCALE = "any L-Lipschitz task, any scale"


@dataclass(frozen=True)
class Term:
    """``factor * w^power * n^samples``, each a formula in d."""

    factor: sp.Expr
    power: sp.Expr
    samples: sp.Expr = sp.S.Zero

    def along(self, slope: sp.Rational) -> sp.Expr:
        """The power of w on the path n = w^slope."""
        return self.power + slope * self.samples

    @cache  # ruff: ignore[cached-instance-method] (frozen, and there are few)
    def at(self, dimension: int) -> Term:
        """The same at a number d."""
        parts = (self.factor, self.power, self.samples)
        return Term(*[sp.sympify(part).subs(d, dimension) for part in parts])


def split(order: sp.Expr) -> tuple[Term, ...]:
    """Read an order that a claim asserts, such as ``w**-2 + w**(d/2 - 1)/n``."""
    found = []
    for part in sp.Add.make_args(sp.sympify(order).subs(LAMBDA, w)):
        powers: dict[sp.Expr, sp.Expr] = {w: sp.S.Zero, n: sp.S.Zero}
        factor = sp.S.One
        for one in sp.Mul.make_args(sp.powsimp(part)):
            base, power = one.as_base_exp()
            if base in powers:
                powers[base] += power
            else:
                factor *= one
        if factor.has(w, n):
            raise ValueError(f"{part} is no product of powers of w and n")
        found.append(Term(factor, powers[w], powers[n]))
    return tuple(found)


@dataclass(frozen=True)
class Known:
    """What is proved about a quantity.

    Attributes:
        name: The quantity.
        lower: A sum that it is at least.
        upper: A sum that it is at most.
        proof: The steps, each machine-checked when called.
        edge: The path n = w^s lies in the domain for large w when s exceeds it.
        path: The path in words, by its integers a and b, s = a/b.
        start: The least t of the path at numbers d, a, b; 10 if it is not given.
    """

    name: str
    lower: tuple[Term, ...]
    upper: tuple[Term, ...]
    proof: Callable[[], tuple[str, ...]]
    edge: sp.Expr = d / 2
    path: str = "w = t^{b}, n = t^{a}"
    start: Callable[[int, int, int], int] | None = None


@cache
def quantity(name: str) -> Known:
    """Look up what is proved about a quantity, in units of L^2 or sigma^2."""
    from theorems.collins2024.bias import cap, paths, proof, window

    start = paths.in_range
    match name:
        case "affine":
            return Known(name, *_affine(), proof.affine, start=start)
        case "relu":
            return Known(name, *_relu(), proof.relu, start=start)
        case "noise":
            low, high = (
                (Term(factor, m, -sp.S.One),) for factor in (of.V_LOW, of.V_HIGH)
            )
            return Known(name, low, high, proof.noise, start=start)
        case "any L-Lipschitz task":
            high = (Term(2 * d + 4 * of.FEW_W, -sp.S.One),)
            return Known(name, _relu()[0], high, proof.lipschitz, start=start)
        case "relu, any n":
            low = (Term(of.NEAR**2 / (6 * d), -sp.Integer(2)),)
            return Known(name, low, _relu()[1], proof.relu, start=start)
        case "any L-Lipschitz task, any scale":
            low = (Term(of.NEAREST, sp.S.Zero, -2 / m),)
            high = (Term(sp.Integer(4), sp.S.Zero),)
            return Known(name, low, high, proof.nearest_token, edge=sp.S.Zero)
    return cap.quantity(name) or window.quantity(name)


def _affine() -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Lower and upper: E_1 / (3d)."""
    bias, spread = (-sp.Integer(2),), (m - 1, -sp.S.One)
    low = (
        Term(of.E1_BIAS_LOW / (3 * d), *bias),
        Term(of.E1_SPREAD_LOW / (3 * d), *spread),
    )
    high = Term(of.E1_BIAS / (3 * d), *bias), Term(of.E1_SPREAD / (3 * d), *spread)
    return low, high


def _relu() -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Lower and upper: half the affine signal, and the kink."""
    kink, spread = (-sp.Rational(3, 2),), (m - 1, -sp.S.One)
    low = Term(of.KINK_LOW / 6, *kink), Term(of.E1_SPREAD_LOW / (6 * d), *spread)
    high = (
        Term(d / 2 + sp.Rational(8, 3) * of.CROSS, *kink),
        Term(of.E1_SPREAD / (2 * d) + sp.Rational(4, 3) * of.FEW_N, *spread),
    )
    return low, high


def total(terms: tuple[Term, ...]) -> sp.Expr:
    """Sum of the factors."""
    return sp.Add(*[term.factor for term in terms])


def most(name: str) -> sp.Expr:
    """The constant exhibited for an upper order."""
    return total(quantity(name).upper)


def least(name: str, *chosen: int) -> sp.Expr:
    """The constant exhibited for a lower order, by the positions of its terms."""
    lower = quantity(name).lower
    return sp.Min(*[lower[i].factor for i in chosen or range(len(lower))])
