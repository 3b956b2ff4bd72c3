"""The loss of every field of scores on a grid of scales, whatever M produced it.

Queries (u, v) and (u, -v) have A = a + w and a - w, with a = c_u^2 (B^T M B) u of norm
at most C. Turned best for their norms r, r' and the angle that |a| <= C leaves,

    chi = min(1, (4C^2 - r^2 - r'^2)/(2 r r')),    |r - r'| <= 2C,

the mean of their two losses is at least, in units of c_u^2/k,

    (P + P')/2 + 1 - sqrt(kappa^2 + kappa'^2 + 2 kappa kappa' chi) + noise,

as kappa e.u + kappa' e'.u <= |kappa e + kappa' e'|. Where this is at least the least
h(c), c <= C, for all r, r' and all |Q|, |Q'|, no M with |B^T M B| <= C/c_u^2 is better
than c BB^T/c_u^2: no bound on B^T M B_perp is needed, nor that M is symmetric. With
all r equal and |Q| = 0 it is attained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theorems.collins2024.subspace.family import terms

ALONG = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)
ACROSS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
SAMPLES = (2, 3, 4, 6, 10, 30)
NOISE = (0.0, 0.01, 0.1, 0.3, 1.0, 4.0, 9.0)  # sigma^2 k / c_u^2
ERROR = 1e-11  # refining STEP and NODES of the quadrature moves no value by a tenth
Case = tuple[int, int, int, float]  # k, d - k, n, noise


@dataclass(frozen=True)
class Table:
    """P, kappa and V over ALONG, ACROSS and SAMPLES, for one k and d - k."""

    square: np.ndarray
    along: np.ndarray
    spread: np.ndarray


Tables = dict[tuple[int, int], Table]


def build(sizes: tuple[tuple[int, int], ...]) -> Tables:
    """Tables for pairs of k and d - k."""
    counts = np.array(SAMPLES)
    found = {}
    for k, rest in sizes:
        rows = [[terms(k, rest, r, q, counts) for q in ACROSS] for r in ALONG]
        found[k, rest] = Table(
            *(
                np.array([[getattr(x, name) for x in row] for row in rows])
                for name in ("square", "along", "spread")
            )
        )
    return found


@dataclass(frozen=True)
class Landscape:
    """Even part P + 1 + noise V and odd part kappa over ALONG x ACROSS."""

    case: Case
    even: np.ndarray
    odd: np.ndarray

    @classmethod
    def of(cls, tables: Tables, case: Case) -> Landscape:
        """The landscape of one case."""
        k, rest, n, noise = case
        table, i = tables[k, rest], SAMPLES.index(n)
        even = table.square + 1 + noise * table.spread
        return cls(case, even[..., i], table.along[..., i])

    def loss(self, along: float, across: float) -> float:
        """The loss at scales on the grid, the first of either sign."""
        i, j = ALONG.index(abs(along)), ACROSS.index(abs(across))
        return float(self.even[i, j] - np.sign(along) * 2 * self.odd[i, j])

    def within(self, bound: float) -> np.ndarray:
        """The loss h on the grid up to the bound, without c = 0."""
        inside = (np.array(ALONG) <= bound) & (np.array(ALONG) > 0)
        return (self.even - 2 * self.odd)[inside, 0]

    def cost_across(self, bound: float) -> float:
        """Least rise of the loss from Q = 0 to Q != 0, over 0 < c <= bound."""
        inside = (np.array(ALONG) <= bound) & (np.array(ALONG) > 0)
        loss = (self.even - 2 * self.odd)[inside]
        return float((loss[:, 1:] - loss[:, :1]).min())

    def floor(self, bound: float) -> float:
        """The least mean loss of a pair of queries, over all r, r', |Q| and |Q'|."""
        lowest = np.inf
        for i, r in enumerate(ALONG):
            for j in range(i + 1):
                s = ALONG[j]
                if r - s > 2 * bound:
                    continue
                room = 4 * bound**2 - r**2 - s**2
                chi = min(1.0, room / (2 * r * s)) if r * s > 0 else 1.0
                if self.case[0] == 1 and chi < 1:
                    chi = -1.0  # on a line directions agree or are opposite
                x, y = self.odd[i][:, None], self.odd[j][None, :]
                gain = np.sqrt(np.maximum(x**2 + y**2 + 2 * x * y * chi, 0))
                mean = (self.even[i][:, None] + self.even[j][None, :]) / 2 - gain
                lowest = min(lowest, float(mean.min()))
        return lowest
