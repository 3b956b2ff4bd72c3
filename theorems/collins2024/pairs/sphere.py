"""H_signal and H_noise for k ≥ 2, by quadrature over the projections u_i.u.

Parts of the u_i across u are independent of their projections and have mean zero, so

    E|Σ α_i e_i (u_i - t u)|² = E (Σ α_i e_i (s_i - t))² + E Σ (α_i e_i)² (1 - s_i²),

s_i = u_i.u with density ∝ (1 - s²)^((k-3)/2). Two rules of different size give the
error; a sign counts only beyond ten times their difference.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from theorems.collins2024.pairs.line import MAX, SIGNAL
from verify import Claim, Holds, Inconclusive, Outcome, Refuted
from verify.numerics import gamma, table
from verify.verdict import Cause

NODES = {2: (40, 52), 3: (20, 26)}
TIMES = 10  # the difference of two rules understates no error here by this much
DIMENSIONS = (2, 3, 4, 6, 10)
STEEPEST = 12.0


@dataclass(frozen=True)
class Instance:
    """One choice of dimension, weights and scale.

    Attributes:
        k: Dimension, at least 2.
        weights: Positive, the largest first.
        share: Position of c in the claimed range, in (0, 1].
    """

    k: int
    weights: tuple[float, ...]
    share: float


# Where H_signal without u falls, for large c, and where H_signal falls, for c < 0.
KNOWN = (Instance(2, (1.0, 0.6), 1.0), Instance(2, (1.0, 0.2), 0.05))


def draw(seed: int, count: int, samples: int = 3) -> tuple[Instance, ...]:
    """Draw instances: even and very uneven weights, all dimensions."""
    rng = np.random.default_rng(seed)
    drawn = [*KNOWN]
    for i in range(count):
        n = 2 + i % (samples - 1)
        weights = np.exp(-rng.uniform(0, rng.choice([0.3, 2.0, 6.0]), n))
        ordered = tuple(sorted(map(float, weights), reverse=True))
        k = DIMENSIONS[i // 2 % len(DIMENSIONS)]
        drawn.append(Instance(k, ordered, float(rng.uniform(0.02, 1))))
    return tuple(drawn)


@functools.cache
def _grid(k: int, size: int, n: int) -> tuple[Any, Any]:
    """Nodes of n projections, and their masses."""
    from scipy.special import roots_chebyt, roots_gegenbauer

    rule = roots_chebyt(size) if k == 2 else roots_gegenbauer(size, k / 2 - 1)
    nodes, mass = np.asarray(rule[0]), np.asarray(rule[1]) / np.sum(rule[1])
    s = np.meshgrid(*[nodes] * n, indexing="ij")
    return s, np.prod(np.meshgrid(*[mass] * n, indexing="ij"), axis=0)


def slope(claim: Claim, one: Instance, c: float, size: int) -> tuple[float, float]:
    """dH/dα_1 by a rule of this many nodes a side, and the sum of moduli."""
    n = len(one.weights)
    s, joint = _grid(one.k, size, n)
    order = one.weights if claim.domain.first == MAX else one.weights[::-1]
    shift = abs(c)  # the largest exponent: a factor that no sign depends on
    e = [np.exp(c * x - shift) for x in s]
    S = sum(w * x for w, x in zip(order, e, strict=True))
    top, bend = _numerator(claim, s, e, order)
    power = int(claim.power)
    parts = joint * np.stack([bend / S**power, -power * top * e[0] / S ** (power + 1)])
    return float(parts.sum()), float(np.abs(parts).sum())


def _numerator(claim: Claim, s: Any, e: Any, weights: tuple[float, ...]) -> Any:
    if claim.statistic != SIGNAL:
        r = int(claim.degree)
        top = sum((w * x) ** r for w, x in zip(weights, e, strict=True))
        return top, r * e[0] ** r * weights[0] ** (r - 1)
    t = int(claim.offset)
    along = [x * (p - t) for x, p in zip(e, s, strict=True)]
    N = sum(w * x for w, x in zip(weights, along, strict=True))
    across = [x**2 * (1 - p**2) for x, p in zip(e, s, strict=True)]
    top = N**2 + sum(w**2 * x for w, x in zip(weights, across, strict=True))
    return top, 2 * N * along[0] + 2 * weights[0] * across[0]


def decide(claim: Claim, instances: tuple[Instance, ...]) -> Outcome:
    """Hold the claimed sign against all instances of the claimed range."""
    where = claim.domain
    high = min(where.high, STEEPEST)
    low = max(where.low, -STEEPEST)
    rows, undecided = [], 0
    for one in instances:
        if len(one.weights) > where.samples:
            continue
        c = low + one.share * (high - low)
        (first, _), (value, size) = (
            slope(claim, one, c, q) for q in NODES[len(one.weights)]
        )
        error = TIMES * abs(value - first) + gamma(1e4) * size
        if abs(value) <= error:
            undecided += 1
            continue
        rows.append((one.k, c, *one.weights[:2], int(claim.sign) * value, error))
    if not rows:
        return Inconclusive("no sign was decided", cause=Cause.BUDGET)
    worst = min(rows, key=lambda row: row[4])
    found: dict[str, Any] = {
        "n": len(rows),
        "discards": {"below the error of the quadrature": undecided},
        "searched": f"k in {DIMENSIONS}, n ≤ {min(3, where.samples)}, "
        f"c in ({low:g}, {high:g}]",
    }
    if worst[4] > 0:
        return Holds(f"the sign is the claimed one on {len(rows)} instances", **found)
    names = ("k", "c", "alpha1", "alpha2", "signed", "error")
    relation = ["<", ["in", "signed"], ["neg", ["in", "error"]]]
    says = "the derivative in α_1, times the claimed sign, is below minus its error"
    columns = {name: [x] for name, x in zip(names, worst, strict=True)}
    record = table(columns, relation=relation, aggregate="all", says=says)
    return Refuted(says, witness=record, **found)
