"""Hunts for a symmetric M with |B^T M B| <= C/c_u^2 that is better than cBB^T."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from theorems.collins2024.subspace import exact
from theorems.collins2024.subspace.cases import Cases, ends
from theorems.collins2024.subspace.exact import Entries
from theorems.collins2024.subspace.family import Terms, terms
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.search import Search

ANGLES = 24  # of the trapezoid sum on the circle: below 1e-9 for scores up to 6
ERROR = 1e-8


@dataclass(frozen=True)
class Instance:
    """One setting and one matrix.

    Attributes:
        sizes: k and d - k.
        n: Number of tokens.
        variance: sigma^2, with c_u^2 = k.
        entries: Entries of M on and above the diagonal.
    """

    sizes: tuple[int, int]
    n: int
    variance: float
    entries: tuple[float, ...]


Descents = dict[tuple[Instance, float], tuple[float, float]]


def matrix(one: Instance, bound: float, rows: bool) -> np.ndarray:
    """The symmetric M of an instance, moved into the constraint.

    Args:
        one: The instance.
        bound: C.
        rows: Whether |B^T M x| is bounded for all x; else |B^T M B| is.

    Returns:
        M in units with c_u = c_v = 1.
    """
    k, d = one.sizes[0], sum(one.sizes)
    M = np.zeros((d, d))
    M[np.triu_indices(d)] = one.entries[: d * (d + 1) // 2]
    M = M + np.triu(M, 1).T
    size, turn = np.linalg.eigh(M[:k, :k])
    M[:k, :k] = (turn * np.clip(size, -bound, bound)) @ turn.T
    reach = np.linalg.norm(M[:k, :k], 2) + np.linalg.norm(M[:k, k:], 2)
    if rows and reach > bound:
        M[:k] *= bound / reach
        M[k:, :k] = M[:k, k:].T
    return M


def sphere(k: int) -> np.ndarray:
    """Points on S^{k-1} with equal weights: all of them, or a polygon."""
    if k == 1:
        return np.array([[1.0], [-1.0]])
    angles = 2 * np.pi * np.arange(ANGLES) / ANGLES
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def two_tokens(M: np.ndarray, k: int, variance: float) -> float:
    """The loss for n = 2, c_u^2 = k, averaged over the points of ``sphere``."""
    u, v = sphere(k), sphere(len(M) - k)
    first, second = (
        np.repeat(np.arange(len(u)), len(v)),
        np.tile(np.arange(len(v)), len(u)),
    )
    x = np.concatenate([u[first], v[second]], axis=1)
    score = x @ M @ x.T  # token by query
    gamma = 1 / (1 + np.exp(score[None] - score[:, None]))  # of the first of two tokens
    inner = u[first] @ u[first].T
    both = gamma**2 + (1 - gamma) ** 2
    square = both + 2 * gamma * (1 - gamma) * inner[:, :, None]
    along = gamma * inner[:, None, :]
    return float(np.mean(square - 4 * along + 1 + variance * both))


def loss(one: Instance, M: np.ndarray) -> float:
    """The loss at M."""
    if one.sizes == (1, 1):
        return float(exact.at(Entries(M[0, 0], M[0, 1], M[1, 1]), one.n, one.variance))
    return two_tokens(M, one.sizes[0], one.variance)


@functools.lru_cache(maxsize=4096)
def parts(sizes: tuple[int, int], n: int, along: float, across: float) -> Terms:
    """P, kappa and V at M = along BB^T + across B_perp B_perp^T."""
    return terms(*sizes, along, abs(across), n)


def diagonal(one: Instance, along: float, across: float) -> float:
    """The loss at along BB^T + across B_perp B_perp^T."""
    found = parts(one.sizes, one.n, along, across)
    return float(found.loss(1, one.variance))  # c_u^2 = k


def claimed(claim: Claim, one: Instance, below: float = -np.inf) -> float:
    """The least loss along the claimed form.

    Args:
        claim: As for :func:`better`.
        one: The setting.
        below: Refine only if the grid alone does not come below this.

    Returns:
        The least loss, or one that is at most ``below``.
    """
    from scipy.optimize import minimize_scalar

    (low, high), form = ends(claim), (float(claim.along), float(claim.across))

    def value(c: float) -> float:
        return diagonal(one, form[0] * c, form[1] * c)

    scales = np.linspace(low, high, 9)[1:]
    values = [value(c) for c in scales]
    best, step = int(np.argmin(values)), scales[1] - scales[0]
    if values[best] <= below or best == len(values) - 1:
        return values[best]
    around = (max(scales[best] - step, low + 1e-9), scales[best] + step)
    found = minimize_scalar(value, bounds=around, method="bounded")
    return min(values[best], float(found.fun))


def instances(cases: Cases) -> st.SearchStrategy[Instance]:
    """Settings that the claim covers, and matrices with entries up to 3."""
    entry = st.floats(-3, 3, width=32)
    variance = st.sampled_from((0.05, 4.0)) if cases.noisy else st.just(0.0)
    most = cases.most or 4
    on_line = st.tuples(
        st.just((1, 1)),
        st.integers(cases.least, most),
        variance,
        st.tuples(*[entry] * 6),
    )
    pair = st.tuples(
        st.sampled_from(((2, 1), (1, 2))), st.just(2), variance, st.tuples(*[entry] * 6)
    )
    drawn = (
        st.one_of(on_line, on_line, pair) if cases.admits(2, cases.noisy) else on_line
    )
    return drawn.map(lambda parts: Instance(*parts))


def better(claim: Claim, search: Search, pinned: tuple[Instance, ...] = ()) -> Outcome:
    """Look for an M in the constraint with a lower loss than the claimed form.

    Args:
        claim: As for :func:`by_proof`.
        search: The engine's.
        pinned: Replayed first.

    Returns:
        HOLDS, or REFUTED by a table of two losses.
    """
    bound = ends(claim)[1] / float(claim.high)
    rows = claim.domain.rows

    def losses(one: Instance) -> tuple[float, float]:
        M = matrix(one, bound, rows)
        known = [diagonal(one, share * bound, 0.0) for share in (1.0, 0.3, 0.1)]
        other = min(loss(one, M), *known)
        return claimed(claim, one, other), other

    def violated(one: Instance) -> bool:
        form, other = losses(one)
        search.aim(form - other, "loss saved")
        return other < form - ERROR

    def witness(one: Instance) -> dict[str, Any]:
        form, other = losses(one)
        says = (
            f"least loss along the claimed form, and a lower one; {one.sizes}, {one.n}"
        )
        return two_losses(form, other, says)

    return search.for_all(
        instances(claim.domain),
        violated,
        witness,
        searched="k, d - k = (1, 1), n ≤ 4, and (2, 1), (1, 2), n = 2; |entries| ≤ 3",
        pinned=pinned,
        scale=0.2,
    )


def descend(one: Instance, bound: float, starts: int, seed: int) -> tuple[float, float]:
    """Descend from random symmetric M with k = d - k = 1 inside the constraint.

    Args:
        one: Setting; its entries are not used.
        bound: C.
        starts: Number of starts.
        seed: Of the starts.

    Returns:
        The least loss found, and the largest |t|, |g| where it is attained.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    box = [(-bound, bound), (-20.0, 20.0), (-20.0, 20.0)]

    def value(x: np.ndarray) -> float:
        return float(exact.at(Entries(*x), one.n, one.variance))

    ends_at = [
        minimize(value, rng.normal(0, 2, 3).clip(-bound, bound), bounds=box)
        for _ in range(starts)
    ]
    best = min(ends_at, key=lambda x: float(x.fun))
    return float(best.fun), float(np.abs(best.x[1:]).max())


def descents(claim: Claim, found: Descents) -> Outcome:
    """Compare the ends of descents with the claimed form.

    Args:
        claim: As for :func:`better`.
        found: Least losses by setting and bound.

    Returns:
        HOLDS, or REFUTED by a lower end.
    """
    bound, judged, reached, farthest = float(claim.bound), 0, 0, 0.0
    for one in SETTINGS:
        if not claim.domain.admits(one.n, one.variance):
            continue
        end, distance = found[one, bound]
        form = claimed(claim, one)
        judged += 1
        if end < form - ERROR:
            says = f"least loss along the claimed form, and the end of a descent; {one}"
            return Refuted(says, witness=two_losses(form, end, says), n=judged)
        if end <= form + ERROR:
            reached, farthest = reached + 1, max(farthest, distance)
    return Holds(
        f"{reached} of {judged} best descents reach the loss of cBB^T, |t|, |g| within "
        f"{farthest:.2g}; the others end above it",
        n=judged,
        searched=f"k = d - k = 1, (n, σ²) in {[(x.n, x.variance) for x in SETTINGS]}",
    )


def two_losses(form: float, other: float, says: str) -> dict[str, Any]:
    """A table of the claimed loss and a lower one."""
    least = ["sub", ["in", "claimed"], ["in", "error"]]
    return table(
        {"claimed": [form], "elsewhere": [other], "error": [ERROR]},
        relation=["<", ["in", "elsewhere"], least],
        aggregate="all",
        says=says,
    )


SETTINGS = tuple(
    Instance((1, 1), n, variance, ())
    for n, variance in ((2, 0.0), (3, 0.0), (5, 0.0), (2, 0.3), (2, 4.0), (3, 1.0))
)
PINNED = (
    Instance((1, 1), 2, 0.0, (2.0, 0.5, 0.0)),
    Instance((1, 1), 2, 4.0, (0.3, 0.0, 1.0)),
    Instance((2, 1), 2, 0.0, (1.0, 0.0, 0.5, 1.0, 0.5, 0.0)),
)


def pinned(cases: Cases) -> tuple[Instance, ...]:
    """Known instances that the claim covers."""
    return tuple(one for one in PINNED if cases.admits(one.n, one.variance))
