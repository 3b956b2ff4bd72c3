"""``E_k`` and ``V`` as integrals over ``y = log s``, with their derivatives.

``1 / S^2 = int s exp(-s S) ds`` makes the tokens independent. With ``X = s exp(-w u)``
and ``B_j[g] = E X^j exp(-X) g(u)``, ``B_0 = B_0[1]``, ``D_k = 1 - P_k``:

    V   =   n int B_2[1] B_0^(n-1) dy,
    E_k = 2 n int B_2[D_k] B_0^(n-1) dy + n (n-1) int B_1[D_k]^2 B_0^(n-2) dy,

all terms positive, by ``E[P_k(x_i . x_j) | u_i, u_j] = P_k(1 - u_i) P_k(1 - u_j)``.
Derivatives at fixed ``s``: ``dX/dw = -u X``, so
``d/dw B_j[g] = B_{j+1}[u g] - j B_j[u g]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theorems.collins2024.loss.nodes import Block, Floats, blocks


class Columns(NamedTuple):
    """Per scale ``s`` (rows): what one token contributes.

    Attributes:
        log_b: ``log B_0``.
        pairs: ``B_2[g]`` and its derivatives in ``w``, for ``g = 1, D_k...``.
        singles: ``B_1[D_k]`` and its derivatives.
        rates: ``B_0' / B_0`` and ``B_0'' / B_0``.
    """

    log_b: Floats
    pairs: list[Floats]
    singles: list[Floats]
    rates: list[Floats]


def gaps(u: Floats, d: int, degrees: tuple[int, ...]) -> Floats:
    """``D_k(u) = 1 - P_k(1 - u)``, accurate also where it is small; degrees first.

    The recurrence of Gegenbauer polynomials (DLMF 18.9.1), normalised by ``P_k(1) = 1``
    and written for the increments ``D_{k+1} - D_k``, so that nothing cancels.
    """
    rows = {degree: row for row, degree in enumerate(degrees)}
    result = np.empty((len(degrees), *u.shape))
    gap, increment, term = np.zeros_like(u), np.zeros_like(u), np.empty_like(u)
    for k in range(max(degrees, default=-1) + 1):
        if k in rows:
            result[rows[k]] = gap
        divisor = k + d - 2 or 1  # k = 0, d = 2: cos(0) and cos(theta) differ by u
        np.subtract(1, gap, out=term)
        term *= u
        term *= ((2 * k + d - 2) or 1) / divisor
        increment *= k / divisor
        increment += term
        gap += increment
    return result


def mirrored(D: Floats, degrees: tuple[int, ...]) -> Floats:
    """``1 - P_k(u - 1)``: the gaps where ``u`` is replaced by ``2 - u``."""
    odd = np.array(degrees, dtype=int) % 2 == 1
    return np.where(odd.reshape(-1, *[1] * (D.ndim - 1)), 2 - D, D)


def contract(kernel: Floats, table: Floats) -> Floats:
    """Sum over the nodes (last axis of ``kernel``), shared or a row per scale."""
    if table.ndim == 2:
        return kernel @ table
    return np.matmul(kernel[:, None, :], table)[:, 0]


def columns(block: Block, w: float, D: Floats, order: int) -> Columns:
    """Integrate over one token at each scale of a block."""
    u, mass, below, above = block.at
    # Beyond X = 735 exp(-X) is 0 in double precision; X^4 must not overflow.
    X = np.exp(np.minimum(block.y[:, None] - w * u, 6.6))
    zeroth = np.exp(-X)
    first = X * zeroth
    second = X * first
    h = np.moveaxis(D * mass, 0, -1)
    g, by_u = np.concatenate([mass[..., None], h], axis=-1), u[..., None]
    lost = below - (np.expm1(-X) * mass).sum(-1)
    kept = (zeroth * mass).sum(-1) + above
    log_b = np.where(lost < 0.5, np.log1p(-np.minimum(lost, 0.5)), np.log(kept))
    pairs, singles, rates = [contract(second, g)], [contract(first, h)], []
    if order >= 1:
        third, g, h = X * second, g * by_u, h * by_u
        pairs.append(contract(third - 2 * second, g))
        singles.append(contract(second - first, h))
        rates.append(((first * mass * u).sum(-1) * np.exp(-log_b))[:, None])
    if order >= 2:
        g, h = g * by_u, h * by_u
        pairs.append(contract(X * third - 5 * third + 4 * second, g))
        singles.append(contract(third - 3 * second + first, h))
        curved = ((second - first) * mass * u * u).sum(-1)
        rates.append((curved * np.exp(-log_b))[:, None])
    return Columns(log_b, pairs, singles, rates)


def over_scales(parts: Columns, weights: Floats, n: float, order: int) -> list[Floats]:
    """Integrate over ``y``: ``(V, E_k...)``, derivatives, and ``d/dn`` of the first."""
    P, Q = parts.pairs, parts.singles
    once = weights * n * np.exp((n - 1) * parts.log_b)
    twice = weights * n * (n - 1) * np.exp((n - 2) * parts.log_b)
    result = [total(once, P[0], twice, Q[0] ** 2)]
    if order >= 1:
        r = parts.rates[0]
        pair = P[1] + (n - 1) * r * P[0]
        single = 2 * Q[0] * Q[1] + (n - 2) * r * Q[0] ** 2
        result.append(total(once, pair, twice, single))
    if order >= 2:
        r2 = parts.rates[1]
        pair = P[2] + (n - 1) * (2 * r * P[1] + (r2 + (n - 2) * r**2) * P[0])
        single = 2 * (Q[1] ** 2 + Q[0] * Q[2]) + (n - 2) * Q[0] * (
            4 * r * Q[1] + (r2 + (n - 3) * r**2) * Q[0]
        )
        result += [total(once, pair, twice, single), in_samples(parts, weights, n)]
    return result


def total(once: Floats, pair: Floats, twice: Floats, single: Floats) -> Floats:
    """``V`` in front, then ``2 (first integral) + (second integral)`` per degree."""
    result = once @ pair
    result[1:] *= 2
    result[1:] += twice @ single
    return result


def in_samples(parts: Columns, weights: Floats, n: float) -> Floats:
    """``d/dn`` of the first derivative in ``w``, the formulas read at real ``n``."""
    ell, r = parts.log_b[:, None], parts.rates[0]
    P, Q = parts.pairs, parts.singles
    once = weights * np.exp((n - 1) * parts.log_b)
    twice = weights * np.exp((n - 2) * parts.log_b)
    pairs = 2 * n - 1 + n * (n - 1) * ell
    triples = 3 * n**2 - 6 * n + 2 + n * (n - 1) * (n - 2) * ell
    return total(
        once,
        (1 + n * ell) * P[1] + pairs * r * P[0],
        twice,
        pairs * 2 * Q[0] * Q[1] + triples * r * Q[0] ** 2,
    )


def single_token(count: int, order: int) -> list[Floats]:
    """At ``n = 1`` all weight is on the token: ``V = 1``, ``E_k = 2``."""
    values = np.full(count + 1, 2.0)
    values[0] = 1.0
    zeros = np.zeros(count + 1)
    # d/dn has no use where no window exists.
    return [values, zeros, zeros, np.full(count + 1, np.nan)][: 1 + order + order // 2]


def point(
    w: float, n: float, d: int, degrees: tuple[int, ...], order: int
) -> list[Floats]:
    """``(V, E_k...)`` at one ``(w, n)``, derivatives in ``w`` up to ``order``.

    Of order 2 a last entry is ``d/dn`` of the first derivative.
    """
    if n == 1:
        return single_token(len(degrees), order)
    size, terms = abs(w), []
    for block in blocks(d, size, n, max(degrees, default=0)):
        D = gaps(block.at.u, d, degrees)
        # t -> -t: negative w are positive ones with the query's antipode as target.
        D = mirrored(D, degrees) if w < 0 else D
        parts = columns(block, size, D, order)
        terms.append(over_scales(parts, block.weights, n, order))
    result = [np.sum(entries, axis=0) for entries in zip(*terms, strict=True)]
    if w < 0:
        result[1::2] = [-value for value in result[1::2]]
    return result
