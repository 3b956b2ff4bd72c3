"""Small populations of tokens, where every expectation is a finite sum.

The kernel is 2^{x·y} at integer keys. All that the bounds speak of depends on tokens
through the matrix G_ij = ⟨v_i, v_j⟩ K(x_i, x_j): for coefficients a, b of Σ a_i v_iφ_iᵀ
and Σ b_i v_iφ_iᵀ their inner product is aᵀGb.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, isqrt, lgamma
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.ren2024.bound.notation import K, N, d_o, delta, rho, trace, w
from theorems.ren2024.bound.steps import rational
from verify import Claim
from verify.symbolic import tree

Floats = NDArray[np.float64]
SYMBOLS = (N, w, rho, delta, d_o, K, trace)
GUARD = 1e-9
"""Relative room for rounding: a few hundred float64 operations are off by 1e-13."""


@dataclass(frozen=True)
class Population:
    """Token types with their probabilities, and a sample size.

    Attributes:
        values: W_V x of each type, less the mean of its negatives where there are any.
        keys: W_K x of each type, integers.
        weights: Probabilities up to a factor, positive integers.
        n: N.
        risk: δ.
        length: Bound on the length of values in units of ρ: 2 with negatives.
        negatives: K.
    """

    values: tuple[tuple[Fraction | int, ...], ...]
    keys: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    n: int
    risk: Fraction = Fraction(1, 100)
    length: int = 1
    negatives: int = 1

    @functools.cached_property
    def kernel(self) -> list[list[Fraction]]:
        """K(x_i, x_j)."""
        return [[Fraction(2) ** dot(x, y) for y in self.keys] for x in self.keys]

    @functools.cached_property
    def gram(self) -> list[list[Fraction]]:
        """⟨v_i, v_j⟩ K(x_i, x_j)."""
        pairs = zip(self.values, self.kernel, strict=True)
        return [
            [dot(v, u) * k for u, k in zip(self.values, row, strict=True)]
            for v, row in pairs
        ]

    @functools.cached_property
    def chances(self) -> list[Fraction]:
        """Probabilities of the types."""
        return [Fraction(x, sum(self.weights)) for x in self.weights]

    @functools.cached_property
    def rho(self) -> int:
        """The smallest integer ρ with ‖v‖ ≤ length ρ."""
        longest = max(dot(v, v) for v in self.values)
        return max(1, isqrt(-(-longest // self.length**2) - 1) + 1) if longest else 1

    @functools.cached_property
    def radius(self) -> Fraction:
        """A rational w with w‖φ(x)‖ ≤ ρ for all types; equal if the root is exact."""
        power = max(dot(x, x) for x in self.keys)
        return Fraction(self.rho, 2 ** (-(-power // 2)))

    def form(self, a: list[Fraction], b: list[Fraction]) -> Fraction:
        """The inner product aᵀGb."""
        rows = zip(a, self.gram, strict=True)
        return sum((x * dot(row, b) for x, row in rows), Fraction())

    def at(self, counts: tuple[int, ...] | None = None) -> dict[sp.Symbol, sp.Rational]:
        """Values of the symbols for one sample."""
        known: dict[sp.Symbol, Any] = {
            N: self.n,
            w: self.radius,
            rho: self.rho,
            delta: self.risk,
            d_o: len(self.values[0]),
            K: self.negatives,
        }
        if counts is not None:
            diagonal = [self.kernel[i][i] for i in range(len(counts))]
            known[trace] = dot(counts, diagonal)
        return {name: rational(x) for name, x in known.items()}


def dot(a: Any, b: Any) -> Any:
    """The exact inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def samples(types: int, n: int) -> Iterator[tuple[int, ...]]:
    """All counts of the types in a sample."""
    if types == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in samples(types - 1, n - first):
            yield (first, *rest)


def likelihood(population: Population, counts: tuple[int, ...]) -> Fraction:
    """The exact probability of the counts."""
    ways = factorial(population.n)
    chance = Fraction(1)
    for count, p in zip(counts, population.chances, strict=True):
        ways //= factorial(count)
        chance *= p**count
    return ways * chance


@dataclass(frozen=True, eq=False)
class Table:
    """Every sample of a population, in floating point.

    Attributes:
        counts: ``(samples, types)``.
        chance: Probabilities, ``(samples,)``.
        excess: L(f̂) - L(f*); NaN where M̂ = 0 leaves f̂ open.
        trace: Tr K_S.
    """

    counts: Floats
    chance: Floats
    excess: Floats
    trace: Floats


def table(population: Population) -> Table:
    """Evaluate every sample of a population at once."""
    rows = np.array(list(samples(len(population.weights), population.n)), float)
    p = np.array(population.chances, float)
    logs = np.array([lgamma(k + 1) for k in range(population.n + 1)])
    ways = logs[-1] - logs[rows.astype(int)].sum(1)
    G = np.array(population.gram, float)
    mean = rows / population.n
    squares = np.einsum("si,ij,sj->s", mean, G, mean)
    open_ = squares <= GUARD * float(np.abs(G).max())
    norm = np.sqrt(np.where(open_, np.nan, squares))
    whole = np.sqrt(max(float(p @ G @ p), 0.0))
    return Table(
        rows,
        np.exp(ways + rows @ np.log(p)),
        float(population.radius) * (whole - mean @ G @ p / norm),
        rows @ np.diag(np.array(population.kernel, float)),
    )


def bounds(expr: sp.Expr, population: Population, found: Table) -> Floats:
    """A claimed bound on every sample; only Tr K_S differs between them."""
    at = population.at()
    value = _compiled(expr)(*(float(at[x]) for x in SYMBOLS[:-1]), found.trace)
    return np.broadcast_to(np.asarray(value, float), found.trace.shape)


@functools.cache
def _compiled(expr: sp.Expr) -> Callable[..., Any]:
    compiled: Callable[..., Any] = sp.lambdify(SYMBOLS, expr, "numpy")
    return compiled


def quantile(population: Population, found: Table, bound: Floats) -> float:
    """The largest t such that excess ≥ t bound with a probability above δ."""
    ratio = np.where(np.isnan(found.excess), 0.0, found.excess / bound)
    order = np.argsort(-ratio)
    above = np.cumsum(found.chance[order]) > float(population.risk) * (1 + GUARD)
    return float(ratio[order][np.argmax(above)]) if above.any() else 0.0


def failure(claim: Claim, population: Population) -> dict[str, Any]:
    """Samples that exceed the bound and are together likelier than δ, exactly."""
    found = table(population)
    bound = bounds(claim.bound, population, found)
    bad = np.flatnonzero(found.excess > bound * (1 + GUARD))
    bad = bad[np.argsort(-found.chance[bad], kind="stable")]
    gaps: list[Any] = []
    total = Fraction()
    for index in bad:
        counts = tuple(int(x) for x in found.counts[index])
        total += likelihood(population, counts)
        limit = tree(claim.bound.subs(population.at(counts)), {})
        gaps.append(["sub", excess(population, counts), limit])
        if total > population.risk:
            break
    return {
        "kind": "formula",
        "says": f"N = {population.n}, ρ = {population.rho}, δ = {population.risk}: "
        f"{len(gaps)} samples exceed the bound and are together likelier than δ",
        "inputs": {"total": text(total), "delta": text(population.risk)},
        "relation": [">", ["min", *gaps, ["sub", ["in", "total"], ["in", "delta"]]], 0],
    }


def excess(population: Population, counts: tuple[int, ...]) -> list[Any]:
    """L(f̂) - L(f*) on one sample as a tree: w(‖M‖ - ⟨M, M̂⟩/‖M̂‖)."""
    p, share = population.chances, [Fraction(k, population.n) for k in counts]
    mm, mh, hh = (
        population.form(a, b) for a, b in ((p, p), (p, share), (share, share))
    )
    along = ["div", text(mh), ["sqrt", text(hh)]]
    gap = ["sub", ["sqrt", text(mm)], along]
    return ["mul", text(population.radius), gap]


def text(value: Fraction | int) -> int | str:
    """An exact number as a node of a tree."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else str(exact)


def repeated(claim: Claim, single: Population, times: int) -> dict[str, Any]:
    """One draw, taken for N = ``times`` demonstrations: the excess and its probability.

    Args:
        claim: Its `bound`.
        single: A population with sample size 1.
        times: How often the draw is repeated.

    Returns:
        The record that the worst token's excess beats the bound, likelier than δ.
    """
    found = table(single)
    worst = int(np.nanargmax(found.excess))
    counts = tuple(int(x) for x in found.counts[worst])
    at = {**single.at(counts), N: sp.Integer(times)}
    at[trace] *= times
    likely = ["sub", text(likelihood(single, counts)), text(single.risk)]
    gap = ["sub", excess(single, counts), tree(claim.bound.subs(at), {})]
    return {
        "kind": "formula",
        "says": f"one token {times} times: its excess is above the bound and its "
        "probability above δ",
        "inputs": {},
        "relation": [">", ["min", gap, likely], 0],
    }
