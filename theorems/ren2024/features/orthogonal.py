"""Second moments of orthogonal random features, in closed form.

A block of b ≤ d directions is ``w_i = r_i u_i``: u the rows of a uniform orthogonal
matrix, r independent lengths of normal vectors. Each w_i is N(0, I), so the mean is
that of independent features; products of two features of a block have the mean

    ρ_d(s) = e^{-s} Σ_{p,q} (s/2)^{p+q}/(p! q!) c_{p,q},
    c_{p,q} = E r^{2p} E r^{2q} / E r^{2(p+q)},   E r^{2p} = d (d+2) ... (d + 2p - 2),

over that of independent ones, s = ‖x + y‖².
"""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.ren2024.features.formulas import equal, need

s = sp.Symbol("s", positive=True)
b, d, d_r = sp.symbols("b d d_r", positive=True, integer=True)
rho = sp.Symbol("rho", positive=True)  # ρ_d(s)

# Relative variance with blocks of b directions, b a divisor of d_r.
VARIANCE = (sp.exp(s) - 1 - (b - 1) * (1 - rho)) / d_r


def lengths(p: int, size: sp.Expr = d) -> sp.Expr:
    """E r^{2p} for the length r of a normal vector in ``size`` dimensions."""
    return sp.prod(size + 2 * k for k in range(p))


def correlation(p: int, q: int, size: sp.Expr = d) -> sp.Expr:
    """The factor c_{p,q} by which orthogonality lowers a mixed moment."""
    return sp.cancel(lengths(p, size) * lengths(q, size) / lengths(p + q, size))


@functools.cache
def negative_dependence() -> tuple[str, ...]:
    """c_{p,q} ≤ 1, with equality only for p = 0 or q = 0 (d ≥ 2)."""
    g, p, q = sp.symbols("g p q", positive=True)
    density = sp.exp(-(g**2) / 2) / sp.sqrt(2 * sp.pi)
    even = [sp.integrate(g ** (2 * k) * density, (g, -sp.oo, sp.oo)) for k in range(5)]
    steps = [
        need("E g^{2p}/(2p)! = 1/(2^p p!), p < 5", all(
            value / sp.factorial(2 * k) == 1 / (2**k * sp.factorial(k))
            for k, value in enumerate(even)
        )),
        equal("E r^{2(p+1)}/E r^{2p} = d + 2p (p = 3)", lengths(4) / lengths(3), d + 6),
        "the first entries of two orthonormal rows are two entries of a uniform unit "
        "vector, since the transpose is uniform as well",
        "g = r u with r independent of u: E u_1^{2p} u_2^{2q} = E g^{2p} E g^{2q}"
        "/E r^{2(p+q)}; odd powers vanish by symmetry",
        "so E (w_i·z)^{2p} (w_j·z)^{2q} = ‖z‖^{2(p+q)} E g^{2p} E g^{2q} c_{p,q}",
    ]  # fmt: skip
    # c_{p,q} = Π_{k<p} (d + 2k)/(d + 2q + 2k): each factor is below 1 for q ≥ 1
    for i, j in ((1, 1), (2, 1), (3, 2)):
        factors = sp.prod((d + 2 * k) / (d + 2 * j + 2 * k) for k in range(i))
        steps.append(equal(f"c_({i},{j}) as a product", correlation(i, j), factors))
    ratio = sp.factor((d + 2 * p) / (d + 2 * q + 2 * p) - 1)
    steps += [
        equal("a factor less 1", ratio, -2 * q / (d + 2 * p + 2 * q)),
        "all terms of Σ (s/2)^{p+q}/(p! q!) are positive and add up to e^s: "
        "0 < ρ_d(s) < 1",
    ]
    return tuple(steps)


@functools.cache
def blocks() -> tuple[str, ...]:
    """The variance of a mean over d_r/b independent blocks of b features."""
    one = (sp.exp(s) - 1) * d_r / d_r**2
    pairs = (d_r * (b - 1)) * (rho - 1) / d_r**2
    return (
        "d_r features of variance e^s - 1, and d_r (b - 1) ordered pairs in a block of "
        "covariance ρ - 1; other pairs are independent",
        equal("sum over d_r²", one + pairs, VARIANCE),
    )


@functools.lru_cache(maxsize=32)
def dependence(size: int, at: Fraction) -> Fraction:
    """Σ (s/2)^{p+q}/(p! q!) c_{p,q} to 24 terms in each index: ρ e^s from below.

    Args:
        size: d.
        at: s.

    Returns:
        A lower bound; the rest is below e^s - (Σ_{p<24} (s/2)^p/p!)².
    """
    half = at / 2
    powers = [half**p / sp.factorial(p).p for p in range(24)]
    moments = [Fraction(int(lengths(p, sp.Integer(size)))) for p in range(48)]
    return sum(
        (
            powers[p] * powers[q] * moments[p] * moments[q] / moments[p + q]
            for p in range(24)
            for q in range(24)
        ),
        Fraction(),
    )


def drawn(groups: int, draws: int, size: int, seed: int) -> NDArray[np.float64]:
    """Blocks of ``size`` orthogonal directions of normal lengths.

    Args:
        groups: Leading axis.
        draws: Blocks in each group.
        size: d.
        seed: Of the draws.

    Returns:
        ``(groups, draws, size, size)``; rows are directions.
    """
    random = np.random.default_rng(seed)
    normal = random.standard_normal((groups, draws, size, size))
    q, r = np.linalg.qr(normal)
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    uniform = q * signs[..., None, :]  # Haar: the factor with positive diagonal
    norms = np.linalg.norm(random.standard_normal(normal.shape), axis=-1)
    return np.asarray(uniform * norms[..., None])
