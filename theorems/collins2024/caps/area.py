"""The share σ of the sphere S^{d-1} that lies in a cap, exactly and in balls.

The cap of height h, {y : y·x > 1 - h}, has σ = c ∫_0^h (u(2-u))^{(d-3)/2} du with
c = Γ(d/2)/(√π Γ((d-1)/2)); for odd d this is a polynomial in h with rational
coefficients, and for h ≤ 1 it is half the regularised incomplete beta function of
s = 2h - h² at ((d-1)/2, 1/2).
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from theorems.collins2024.caps.balls import number
from theorems.collins2024.caps.steps import equal, need, positive

if TYPE_CHECKING:
    from flint import arb

d, h, s, v = sp.symbols("d h s v", positive=True)
u = sp.Symbol("u", positive=True)

DENSITY = sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma((d - 1) / 2))
"""c, at which the density of u = 1 - y·x starts: c (u(2-u))^{(d-3)/2}."""

SMALLEST = sp.gamma(d / 2) / (2 * sp.sqrt(sp.pi) * sp.gamma((d + 1) / 2))
"""Limit of σ/s^{(d-1)/2} at h = 0."""


@functools.cache
def polynomial(size: int) -> sp.Expr:
    """σ as a polynomial in h, for odd d.

    >>> polynomial(3)
    h/2
    """
    if size % 2 == 0 or size < 3:
        raise ValueError(f"d = {size}: the share is a polynomial for odd d ≥ 3 only")
    power = (u * (2 - u)) ** ((size - 3) // 2)
    share = DENSITY.subs(d, size) * sp.integrate(sp.expand(power), (u, 0, h))
    return sp.expand(share)


def share(size: int, height: Fraction) -> arb:
    """σ in balls, for any d ≥ 2 and 0 < h ≤ 2."""
    from flint import arb

    if height == 1:
        return number(Fraction(1, 2))
    if height > 1:
        return 1 - share(size, 2 - height)
    inside = number(2 * height - height**2)
    return inside.beta_lower(number(Fraction(size - 1, 2)), arb(0.5), 1) / 2


@functools.cache
def exact_range() -> tuple[str, ...]:
    """σ/s^{(d-1)/2} rises from SMALLEST at h = 0 to 1/2 at h = 1, for all d ≥ 2.

    In r = 1 - h > 0 for the first step, since s = 1 - r².
    """
    r = sp.Symbol("r", positive=True)
    m = (d - 1) / 2
    whole = sp.gamma(m) * sp.gamma(sp.S.Half) / sp.gamma(m + sp.S.Half)  # B(m, 1/2)
    inside = 1 - r**2
    by_beta = inside ** (m - 1) / sp.sqrt(1 - inside) / (2 * whole)
    by_height = DENSITY * ((1 - r) * (1 + r)) ** (m - 1)
    kernel = 1 / sp.sqrt(1 - s * v)
    x = d / 2
    return (
        equal(
            "slopes in h of σ and of the incomplete beta function",
            sp.simplify(by_beta * 2 * r / by_height),
            sp.S.One,
        ),
        equal("t = s v", (s * v) ** (m - 1) * s, s**m * v ** (m - 1)),
        "so σ/s^{(d-1)/2} = ∫_0^1 v^{(d-3)/2} (1 - s v)^{-1/2} dv / (2 B)",
        need(
            "which rises with s: the slope of (1 - s v)^{-1/2} is v/2 (1 - s v)^{-3/2}",
            sp.simplify(sp.diff(kernel, s) - v * kernel**3 / 2) == 0,
        ),
        equal("at s = 0", 1 / (2 * m * whole), SMALLEST),
        equal("at s = 1, B/(2 B)", whole / (2 * whole), sp.S.Half),
        equal("Γ(x + 1)", sp.gamma(x + 1), x * sp.gamma(x)),
        "Cauchy-Schwarz: Γ(x + 1/2)² ≤ Γ(x) Γ(x + 1) = x Γ(x)², here x = d/2",
        equal("SMALLEST² is at least", 2 / d / (4 * sp.pi), 1 / (2 * sp.pi * d)),
        positive("d ≥ 2 keeps the density integrable: m - 1/2", m - sp.S.Half, {d: 2}),
    )
