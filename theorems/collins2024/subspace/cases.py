"""What Theorem 4.4 is claimed for, and exact instances against altered claims."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from theorems.collins2024.subspace import exact
from theorems.collins2024.subspace.exact import Entries, formula_of
from verify import Cause, Claim, Undecided
from verify.symbolic import formula


@dataclass(frozen=True)
class Cases:
    """Which settings a claim covers.

    Attributes:
        noisy: sigma > 0; otherwise sigma = 0.
        least: Smallest n.
        most: Largest n, or None.
        rows: Whether |c_u B^T M x| is bounded, for all x, and not only c_u^2 B^T M B.
    """

    noisy: bool = False
    least: int = 2
    most: int | None = None
    rows: bool = False

    def admits(self, n: int, noise: float) -> bool:
        """Whether a setting is covered; noise is the variance of the labels."""
        fits = self.least <= n and (self.most is None or n <= self.most)
        return fits and (noise > 0) == self.noisy

    @property
    def variances(self) -> tuple[Fraction, ...]:
        """Variances of exact instances: the constraint binds at the smaller one."""
        return (Fraction(1, 100), Fraction(4)) if self.noisy else (Fraction(0),)


def ends(claim: Claim) -> tuple[float, float]:
    """The claimed range of c.

    Raises:
        Undecided: It is infinite: no grid covers it.
    """
    if claim.bound == sp.oo:
        raise Undecided("no bound on c: no grid covers all scales", Cause.UNDECIDED)
    bound = float(claim.bound)
    return float(claim.low) * bound, float(claim.high) * bound


def inputs(f: float, g: float, variance: Fraction) -> dict[str, Fraction]:
    """Inputs of the formula of the loss: e^f, e^g rounded to rationals, and sigma^2."""
    ends = {"y": math.exp(f), "z": math.exp(g)}
    rounded = {k: Fraction(x).limit_denominator(1000) for k, x in ends.items()}
    return rounded | {"noise": variance}


def contradiction(claim: Claim) -> dict[str, Any] | None:
    """A record, for k = d - k = 1, of a better M than all of the claimed form.

    The losses are rational functions of e^c and e^c'; along the claimed form the best
    scale is found on a grid of steps 1/1024. Rounding e^c to a rational, and the grid,
    leave far less than the difference shown.
    """
    cases: Cases = claim.domain
    if cases.least == 1 and not cases.noisy:
        return one_token()
    form = int(claim.along), int(claim.across)
    if claim.bound == sp.oo:
        return None if cases.noisy else endless(cases.least)
    for variance in cases.variances:
        record = better(form, ends(claim), float(claim.bound), cases.least, variance)
        if record is not None:
            return record
    return None


def one_token() -> dict[str, Any]:
    """A record that for n = 1 the loss is 2 for every M, with c_u = k = 1.

    The weights of the four tokens may be any positive numbers: each is divided by
    itself, and the loss is that of an M as good as another.
    """
    weights = {"a": 1, "b": "1/2", "c": 3, "d": "7/5"}
    terms = []
    for (u, _), name in zip(exact.TOKENS, weights, strict=True):
        share = ["div", ["in", name], ["in", name]]
        miss = ["sub", 1, ["mul", u, share]]
        terms.append(["mul", "1/4", ["pow", miss, 2]])
    return {
        "kind": "formula",
        "says": "n = 1: the loss for any weights of the four tokens is 2, whatever M",
        "inputs": weights,
        "relation": ["==", ["add", *terms], 2],
    }


@functools.cache
def better(
    form: tuple[int, int],
    scales_in: tuple[float, float],
    bound: float,
    n: int,
    variance: Fraction,
) -> dict[str, Any] | None:
    """A scale of BB^T in the constraint with a lower loss than the claimed form."""
    low, high = scales_in
    scales = np.arange(int(1024 * low) + 1, int(1024 * high) + 1) / 1024
    shapes = Entries(form[0] * scales, 0 * scales, form[1] * scales)
    losses = exact.at(shapes, n, float(variance))
    best = int(np.argmin(losses))
    at, lowest = float(scales[best]), float(losses[best])
    better_at, found = exact.minimum(n, float(variance), bound)
    if not found < lowest - 1e-4:
        return None
    says = (
        f"n = {n}, k = d - k = 1, σ² = {variance}: the least loss along the claimed "
        f"form, at c = {at:.4g}, and a lower one at {float(better_at):.4g} BB^T"
    )
    return compared(n, (form[0] * at, form[1] * at), float(better_at), variance, says)


def compared(
    n: int, M: tuple[float, float], c: float, variance: Fraction, says: str
) -> dict[str, Any]:
    """A record that the loss at diag(M) exceeds that at c BB^T."""
    value = _loss_at(n, c, variance)
    return formula(formula_of(n), ">", value, inputs(*M, variance), says)


@functools.lru_cache(maxsize=256)
def _loss_at(n: int, c: float, variance: Fraction) -> sp.Expr:
    other = inputs(c, 0.0, variance)
    point = {x: sp.Rational(other[x.name]) for x in (exact.y, exact.z, exact.noise)}
    return formula_of(n).subs(point, simultaneous=True)


@functools.cache
def endless(n: int) -> dict[str, Any]:
    """Without a bound and noise the loss falls for all c at k = 1: there is no least.

    For k = 1 each pair of tokens adds a negative term to h': see reduction.falling.
    """
    says = f"k = 1, n = {n}: the loss at BB^T and at 2 BB^T; it falls for all c"
    return compared(n, (1.0, 0.0), 2.0, Fraction(0), says)
