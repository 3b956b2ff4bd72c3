"""The loss on the family c1 BB^T + c2 B_perp B_perp^T, by quadrature.

In units of c_u^2 / k for the bias, with x_i = c_u B u_i + c_v B_perp v_i, the scores at
M = (c1/c_u^2) BB^T + (c2/c_v^2) B_perp B_perp^T are c1 s_i + c2 r_i, s_i = u_i.u and
r_i = v_i.v. With a = exp(c1 (s - 1) + c2 (r - 1)), A[g](t) = E g e^{-ta} and the
Laplace transforms of 1/S and 1/S^2,

    V     = E sum gamma_i^2     = n int t A[a^2] A[1]^{n-1} dt,
    kappa = E sum gamma_i s_i   = n int A[s a] A[1]^{n-1} dt,
    P     = E |sum gamma_i u_i|^2 = V + n (n-1) int t A[s a]^2 A[1]^{n-2} dt:

parts of u_i across u average out by sign. The loss is (c_u^2/k)(P - 2 kappa + 1)
+ sigma^2 V. The law of s on S^{k-1} has a Gauss rule; for k = 1 it is two points. The
integral over y = log t is a trapezoid sum, exponentially accurate.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

STEP = 0.2  # of y = log t; halving it changes the loss by less than 1e-13
NODES = 24  # of a Gauss rule: exact for e^{cs} to 1e-16 up to c = 16
FIRST, LAST = -38.0, 3.9  # e^-38 < eps below; t a > 49 for every a >= its least above


@functools.cache
def law(k: int, nodes: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Points and probabilities for u_i.u, u_i uniform on S^{k-1}."""
    from scipy.special import roots_gegenbauer

    if k == 1:
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    if k == 2:
        angles = (2 * np.arange(nodes) + 1) * np.pi / (2 * nodes)
        return np.cos(angles), np.full(nodes, 1 / nodes)
    points, weights = roots_gegenbauer(nodes, (k - 2) / 2)
    return points, weights / weights.sum()


@dataclass(frozen=True)
class Terms:
    """P, kappa and V at one or several n; see the module."""

    square: np.ndarray
    along: np.ndarray
    spread: np.ndarray

    def loss(self, size: int, noise: float, signal: float = 1.0) -> np.ndarray:
        """The loss.

        Args:
            size: k.
            noise: sigma^2.
            signal: c_u^2.

        Returns:
            (c_u^2/k) (P - 2 kappa + 1) + sigma^2 V.
        """
        bias = self.square - 2 * self.along + 1
        return signal / size * bias + noise * self.spread


@functools.cache
def grid(top: float) -> np.ndarray:
    """Nodes t = e^y that cover integrands with a >= e^{-top}."""
    return np.exp(np.arange(FIRST, LAST + top + STEP, STEP))


def terms(k: int, rest: int, c1: complex, c2: complex, n: int | np.ndarray) -> Terms:
    """P, kappa and V of the family.

    Args:
        k: Size of u.
        rest: d - k, the size of v.
        c1: Scale along B, of either sign; complex for a derivative.
        c2: Scale across.
        n: Numbers of tokens, at least 2.

    Returns:
        Arrays over n.
    """
    (s, p), (r, q) = law(k), law(rest)
    sign = 1.0 if np.real(c1) >= 0 else -1.0  # e^{c s} has its maximum at s = sign
    score = (c1 * (s - sign))[:, None] + (c2 * (r - 1))[None, :]
    a, weight = np.exp(score).ravel(), np.outer(p, q).ravel()
    s = np.repeat(s, r.size)
    t = grid(2 * float(np.ceil(abs(np.real(c1)) + abs(np.real(c2)))))
    kernel = np.exp(-np.outer(t, a)) * weight
    none, one, two = kernel.sum(1), kernel @ (s * a), kernel @ (a * a)
    n = np.asarray(n)[..., None]
    dt = STEP * t
    spread = (n * t * two * none ** (n - 1) * dt).sum(-1)
    along = (n * one * none ** (n - 1) * dt).sum(-1)
    cross = (n * (n - 1) * t * one**2 * none ** (n - 2) * dt).sum(-1)
    return Terms(spread + cross, along, spread)
