"""Linear attention on affine tasks of low rank: its loss, derived and counted.

Covariates are uniform on the sphere of ``R^d``, ``x = B u + B⊥ v``; tasks are
``f(x) = aᵀ u + b`` with ``a`` uniform on the sphere of ``R^k``, labels have independent
noise. For ``M = c B Bᵀ + c' B⊥ B⊥ᵀ`` the prediction is
``h = Σ_i y_i (c u_iᵀ u + c' v_iᵀ v)``.

Other M need no formula: the loss is a convex quadratic function of M, invariant under
``M -> O M Oᵀ`` for all O that keep col(B) and col(B⊥); so averaging any M over them,
O(k) and O(d - k), does not raise the loss, and leaves one of these. The minimiser is
the only one, for the quadratic part is positive: ``E h² = 0`` means that
``f(x_1) x_1ᵀ M q`` is 0 almost surely, given all other tokens, and so ``M = 0``.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import sympy as sp

n, d, k = sp.symbols("n d k", positive=True)
b, variance = sp.symbols("b variance", nonnegative=True)
c, c_other = sp.symbols("c c_other", real=True)

TOKENS = 2  # of the counted case, with d = 2 and k = 1


class Terms(NamedTuple):
    """Moments of the prediction and of the target."""

    target: sp.Expr
    cross: sp.Expr
    own: sp.Expr
    pairs: sp.Expr


def terms() -> Terms:
    """E f², E h f and both parts of E h², with s = |u|² of a covariate.

    On the sphere E x xᵀ = I/d and E s² = k (k+2) / (d (d+2)); aᵀu squared, averaged
    over a, is s/k; and E (aᵀu) u = a/d.
    """
    s_1, s_2 = k / d, k * (k + 2) / (d * (d + 2))
    # E over the query of (c u_iᵀ u + c' v_iᵀ v)² = (c² s_i + c'² (1 - s_i)) / d.
    constant = (b**2 + variance) * (c**2 * s_1 + c_other**2 * (1 - s_1)) / d
    slope = (c**2 * s_2 + c_other**2 * (s_1 - s_2)) / (k * d)
    # Different tokens share a: E (c (a/d)ᵀ u)² = c²/d² · 1/d; b x_i averages to 0.
    return Terms(
        target=1 / d + b**2,
        cross=n * c / d**2,
        own=n * (constant + slope),
        pairs=n * (n - 1) * c**2 / d**3,
    )


def loss() -> sp.Expr:
    """E (h - f)², in n, d, k, b, the variance of the noise, c and c'."""
    parts = terms()
    return parts.target - 2 * parts.cross + parts.own + parts.pairs


def scale() -> sp.Expr:
    """C at which the loss is least, c' being 0."""
    curvature = (b**2 + variance) * k / d + (k + 2) / (d * (d + 2)) + (n - 1) / d**2
    return 1 / (d * curvature)


def _circle() -> tuple[np.ndarray, list[Fraction]]:
    """Weighted points of the unit circle, with its moments up to degree 5.

    E x_1² x_2² = 1/8 fixes the weight 625/1152 of (±3, ±4)/5 and (±4, ±3)/5 together;
    the axes have the rest.
    """
    signs = list(itertools.product((1, -1), repeat=2))
    inner = [(3 * s, 4 * t) for s, t in signs] + [(4 * s, 3 * t) for s, t in signs]
    points = [(5, 0), (-5, 0), (0, 5), (0, -5), *inner]
    exact = np.array([[Fraction(v, 5) for v in p] for p in points], dtype=object)
    share = Fraction(625, 1152)
    return exact, [(1 - share) / 4] * 4 + [share / 8] * 8


@lru_cache(maxsize=64)
def counted(
    constant: Fraction, noise: Fraction
) -> tuple[sp.Matrix, sp.Matrix, sp.Rational]:
    """Q, r and E f² of the loss mᵀ Q m - 2 rᵀ m + E f² over all four entries m of M.

    Counted over every task, pair of tokens and query of a design whose moments, up to
    degree 5, are those of the circle; d = 2, k = 1, B = e_1, noise ±σ, two tokens.
    """
    points, weights = _circle()
    square, cross = np.zeros((2, 2), dtype=object), np.zeros(4, dtype=object)
    power = Fraction(0)
    # What a query adds, once for each task: q qᵀ, f(q) q and f(q)².
    second = sum(w * np.outer(q, q) for q, w in zip(points, weights, strict=True))
    for a in (1, -1):
        f = a * points[:, 0] + constant
        first = sum(w * t * q for q, w, t in zip(points, weights, f, strict=True))
        power += sum(w * t**2 for w, t in zip(weights, f, strict=True)) / 2
        mean = np.zeros(2, dtype=object)
        for i, j in itertools.product(range(len(points)), repeat=2):
            mass = weights[i] * weights[j] / 8
            for signs in itertools.product((noise, -noise), repeat=2):
                s = (f[i] + signs[0]) * points[i] + (f[j] + signs[1]) * points[j]
                square += mass * np.outer(s, s)
                mean += mass * s
        cross += np.kron(mean, first)
    square = np.kron(square, second)
    matrix = sp.Matrix(4, 4, lambda i, j: _rational(square[i, j]))
    return matrix, sp.Matrix([_rational(v) for v in cross]), _rational(power)


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def value(m: sp.Matrix, constant: Fraction, noise: Fraction) -> sp.Rational:
    """The counted loss at the entries of M, row by row."""
    square, cross, power = counted(constant, noise)
    return sp.Rational((m.T * square * m)[0] - 2 * (cross.T * m)[0] + power)


@lru_cache(maxsize=64)
def least(constant: Fraction, noise: Fraction) -> sp.Rational:
    """The least counted loss over all four entries of M."""
    square, cross, power = counted(constant, noise)
    return sp.Rational(power - (cross.T * square.LUsolve(cross))[0])
