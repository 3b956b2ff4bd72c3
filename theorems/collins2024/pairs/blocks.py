"""Lemma H.2: the loss of M = B A B^T + B⊥ R B⊥^T + B E B⊥^T + B⊥ E^T B^T.

In units of c_u, c_v and with c_a c_u = 1 the logits are u_i.(A u + E v) + v_i.(E^T u +
R v). What is exact here: k = 1 = d - k, where all u_i.u and v_i.v are 1 or -1, and
E = 0, k = 2, d - k = 1, n = 2 by quadrature on the circle.
"""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from theorems.collins2024.pairs.steps import equal

NODES = 24


@functools.cache
def _signs(n: int) -> tuple[Any, Any]:
    """All u_i.u and v_i.v for k = 1 = d - k, a row per case."""
    cases = np.array(list(product((1.0, -1.0), repeat=2 * n)))
    return cases[:, :n], cases[:, n:]


def plane(A: float, R: float, E: float, n: int, noise: float) -> float:
    """The loss for k = 1 = d - k, for M with these three entries."""
    p, r = _signs(n)
    total = 0.0
    for t in (1.0, -1.0):  # t = u v, of either sign with probability 1/2
        logits = A * p + R * r + E * t * (p + r)
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        gamma = e / e.sum(axis=1, keepdims=True)
        error = (gamma * p).sum(axis=1) - 1
        total += float(np.mean(error**2 + noise * (gamma**2).sum(axis=1))) / 2
    return total


def line(A: Any, noise: Any, y: Any) -> Any:
    """The loss for k = 1, n = 2, R = 0, at y = e^{2A}: exact for exact arguments."""
    total = A * 0
    for p in product((1, -1), repeat=2):
        e = [y if s > 0 else 1 for s in p]
        S = sum(e)
        total += (sum(x * (s - 1) for x, s in zip(e, p, strict=True)) / S) ** 2
        total += noise * sum(x * x for x in e) / S**2
    return total / 4


def circle(entries: tuple[float, float], R: float, noise: float) -> float:
    """The loss for A = diag(entries), k = 2, d - k = 1, n = 2."""
    angle = np.pi * (np.arange(NODES) + 0.5) / NODES
    u = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    moved = u * np.array(entries)
    size = np.linalg.norm(moved, axis=-1)
    aligned = (u * moved).sum(axis=-1) / np.where(size > 0, size, 1.0)
    m, rest = _moments(size, R, noise)
    return float(np.mean(1 - 2 * aligned * m + rest))


def multiples(scales: Any, R: float, noise: float) -> Any:
    """The losses for A = c I at several c ≥ 0, otherwise as in ``circle``."""
    m, rest = _moments(scales, R, noise)
    return 1 - 2 * m + rest


def _moments(size: Any, R: float, noise: float) -> tuple[Any, Any]:
    """E Σ γ_i u_i.w and E |Σ γ_i u_i|² + noise Σ γ_i² at logits size u.w + R v.v."""
    s = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    a, b, x, y = np.meshgrid(s, s, (1.0, -1.0), (1.0, -1.0), indexing="ij")
    gap = size[:, None] * (a - b).ravel() + R * (x - y).ravel()
    first = 1 / (1 + np.exp(-gap))
    a, b, even = a.ravel(), b.ravel(), first**2 + (1 - first) ** 2
    along = first * a + (1 - first) * b
    square = even + 2 * first * (1 - first) * a * b  # the parts across have mean 0
    return along.mean(axis=-1), (square + noise * even).mean(axis=-1)


@functools.cache
def without_mixed() -> tuple[str, ...]:
    """M with B^T M B⊥ = 0: the loss is at least that of a multiple of B B^T."""
    c, a, R, s = sp.symbols("c alpha R s", positive=True)
    share = a * sp.exp(c * s) / (a * sp.exp(c * s) + R)
    rising = a * R * c * sp.exp(c * s) / (a * sp.exp(c * s) + R) ** 2
    return (
        "logits u_i.Au + v_i.Rv have, given u, v, the law of C_1 u_i.w + C_2 v_i.z, "
        "C_1 = |Au|, C_2 = |Rv|, w and z unit vectors",
        "E_a gives 1 - 2u.E Σγu_i + E|Σγu_i|² (+ noise E Σγ²); flipping the parts of "
        "the u_i across w: E Σγu_i = m w; all but w depends on C_1, C_2 alone",
        equal("slope of a sample's weight in u_i.w = s", sp.diff(share, s), rising),
        "so it rises with s, whose law is symmetric: m > 0 for C_1 > 0",
        "u.w ≤ 1: L(M) ≥ E H(|Au|, |Rv|), H the loss of c_1 BB^T + c_2 B⊥B⊥^T",
        "|Au| ≤ |A| is allowed: L(M) ≥ inf over 0 ≤ c_1 ≤ |A|, c_2 of H",
    )
