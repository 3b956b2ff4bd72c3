"""First steps of Algorithm 1 as exact formulas, and instances known in closed form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.huang2024.data.dataset import Dataset, Pair
from theorems.huang2024.descent.notation import (
    L,
    N,
    S,
    X,
    carriers,
    cosine,
    cosine_W,
    eta,
    length,
    phi,
    pi_min,
    t,
)
from theorems.huang2024.dynamics.compact import solve

Delta = sp.Symbol("Delta", positive=True)  # margin after stage 1
Q = sp.Symbol("Q", positive=True, integer=True)  # number of pairs
light = sp.Symbol("light", positive=True)  # frequency of a rare pair

Scores = Mapping[Pair, sp.Expr]


def attention(dataset: Dataset, i: int, scores: Scores) -> dict[int, sp.Expr]:
    """The total attention on each token of sample i; missing scores are 0."""
    counts = Counter(dataset.sentences[i])
    query = dataset.sentences[i][-1]
    powers = {
        x: k * sp.exp(scores.get((x, query), sp.S.Zero)) for x, k in counts.items()
    }
    total = sp.Add(*powers.values())
    return {x: power / total for x, power in powers.items()}


def phi_plus(dataset: Dataset, i: int, scores: Scores) -> sp.Expr:
    """Attention of sample i on the carriers of its label."""
    n, label = dataset.successor, dataset.labels[i]
    weights = attention(dataset, i, scores)
    return sp.Add(*(w for x, w in weights.items() if n[x] == label))


def descent(dataset: Dataset, scores: Scores) -> dict[Pair, sp.Expr]:
    """-grad L / Delta on the scores x^T W q, by Lemma 4.

    With a = e_y - T and E = Σ_l a_{In(x_l)} φ_l it is Σ_n π φ_x (a_{In(x)} - E).
    """
    force: dict[Pair, sp.Expr] = defaultdict(lambda: sp.S.Zero)
    n = dataset.successor
    for i, sentence in enumerate(dataset.sentences):
        weights = attention(dataset, i, scores)
        mass: dict[int, sp.Expr] = defaultdict(lambda: sp.S.Zero)
        for x, weight in weights.items():
            mass[n[x]] += weight
        powers = {y: sp.exp(Delta * m) for y, m in mass.items()}
        total = sp.Add(*powers.values()) + dataset.size - len(powers)
        rest = {y: int(y == dataset.labels[i]) - p / total for y, p in powers.items()}
        mean = sp.Add(*(rest[y] * m for y, m in mass.items()))
        pi = sp.Rational(*dataset.frequencies[i].as_integer_ratio())
        for x, weight in weights.items():
            force[x, sentence[-1]] += pi * weight * (rest[n[x]] - mean)
    return dict(force)


def norm(scores: Scores) -> sp.Expr:
    """Frobenius norm; equal scores are collected by sympy."""
    return sp.sqrt(sp.Add(*(w**2 for w in scores.values())))


def after(
    dataset: Dataset, steps: int, start: Scores | None = None
) -> dict[Pair, sp.Expr]:
    """Scores after some steps of normalised gradient descent."""
    scores = dict(start or {})
    for _ in range(steps):
        force = descent(dataset, scores)
        scale = eta / norm(force)
        scores = {key: scores.get(key, 0) + scale * g for key, g in force.items()}
    return scores


def solution(dataset: Dataset) -> dict[Pair, sp.Expr]:
    """W* on all pairs with a constraint, from the exact solution of problem (3)."""
    return {
        (x, query): sp.Rational(w.numerator, w.denominator)
        for query, column in solve(dataset).items()
        for x, w in column.scores.items()
    }


def alignment(dataset: Dataset, star: Scores) -> sp.Expr:
    """Cosine of the first step and W*."""
    force = descent(dataset, {})
    product = sp.Add(*(force[key] * w for key, w in star.items()))
    return product / (norm(force) * norm(star))


@dataclass(frozen=True)
class Instance:
    """Values of the symbols of a claim in one run, in closed form.

    Attributes:
        says: Which run.
        values: Symbols of ``notation`` by formulas in the inputs.
        inputs: Exact numbers by name.
        equal: Whether its samples have equal frequencies.
    """

    says: str
    values: Mapping[sp.Symbol, sp.Expr]
    inputs: Mapping[str, Any]
    equal: bool = True


def pair_runs() -> list[Instance]:
    """[o, q] alone, and Q equal pairs: the direction is W* from the first step on."""
    runs = []
    for count, steps in ((1, 2), (1, 1_000), (1, 10**6), (8, 2), (200, 2), (8, 10**6)):
        margin = 2 * t * eta / sp.sqrt(2 * Q)
        values = {
            S: sp.sqrt(Q / 2),
            L: sp.S(2),
            N: Q,
            pi_min: 1 / Q,
            X: t * eta,
            cosine: sp.S.One,
            cosine_W: sp.S.One,
            phi: 1 / (1 + sp.exp(-margin)),
        }
        inputs = {"Q": count, "t": steps, "eta": Fraction(3, 10)}
        runs.append(Instance(f"{count} pairs [o, q], t = {steps}", values, inputs))
    return runs


def first_steps() -> list[Instance]:
    """Q pairs of which one has nearly all frequency, at t = 0 and after one step."""
    heavy = 1 - (Q - 1) * light
    values = {
        S: sp.sqrt(Q / 2),
        L: sp.S(2),
        N: Q,
        pi_min: light,
        cosine: 1 / (sp.sqrt(heavy**2 + (Q - 1) * light**2) * sp.sqrt(Q)),
        phi: sp.S.Half,
    }
    return [
        Instance(
            f"{count} pairs, all but one of them rare, t = 0",
            values,
            {"Q": count, "light": Fraction(1, 10**9)},
            equal=False,
        )
        for count in (2, 8, 200)
    ]


def samples_at_start() -> list[Instance]:
    """Samples at t = 0, with attention spread evenly."""
    return [
        Instance(
            f"{c} carriers among {c + m} tokens, t = 0",
            {phi: carriers / length, L: length},
            {"carriers": c, "length": c + m},
        )
        for c, m in ((1, 1), (1, 2), (1, 7), (2, 1), (2, 3), (3, 17))
    ]


@dataclass(frozen=True)
class Crowd:
    """One sample [o, m.., k..] whose m have one next token and whose k another.

    Attributes:
        distinct: Numbers of different m and of different k.
        copies: How often each of them stands in the sample.
        power: e^(Δ/length), an integer: Δ = length·log(power).
    """

    distinct: tuple[int, int]
    copies: tuple[int, int] = (1, 1)
    power: int = 1024

    @property
    def size(self) -> int:
        """Number of tokens of the vocabulary."""
        return 1 + sum(self.distinct)

    @property
    def norm_star(self) -> sp.Expr:
        """||W*||: o has m/(1+m) and the m others -1/(1+m)."""
        others = sum(self.distinct)
        return sp.sqrt(sp.Rational(others, 1 + others))

    def _force(self, a: Sequence[sp.Expr]) -> list[sp.Expr]:
        """-grad L on o, an m and a k, up to one factor; e^(w - w_o) is ``a``.

        Lemma 4 times the sum D of all e^(w - w_o) and the sum of all outputs e^logit,
        these in units of that of the k.
        """
        words = [d * c for d, c in zip(self.distinct, self.copies, strict=True)]
        mass = [k * x for k, x in zip(words, a, strict=True)]
        D = 1 + sum(mass)
        delta = (1 + sum(words)) * sp.log(self.power)
        outputs = [sp.exp(delta * (m - mass[1]) / D) for m in mass]
        wrong = sum(outputs) + (self.size - 3) * sp.exp(-delta * mass[1] / D)
        mean = wrong - sum(m * u for m, u in zip(mass, outputs, strict=True))
        below = [
            c * x * (-u * D - mean)
            for c, x, u in zip(self.copies, a, outputs, strict=True)
        ]
        return [D * wrong - mean, *below]

    def _dot(self, one: Sequence[sp.Expr], other: Sequence[sp.Expr]) -> sp.Expr:
        """Inner product over all tokens."""
        kinds = (1, *self.distinct)
        return sp.Add(*(k * x * y for k, x, y in zip(kinds, one, other, strict=True)))

    def two_steps(self) -> sp.Expr:
        """||W^(2)|| as a formula in eta; the first step is taken in rationals."""
        first = self._force([sp.S.One] * 2)
        root = sp.sqrt(self._dot(first, first))
        a = [sp.exp(eta * (f - first[0]) / root) for f in first[1:]]
        second = self._force(a)
        turn = self._dot(first, second) / (root * sp.sqrt(self._dot(second, second)))
        return eta * sp.sqrt(2 + 2 * turn)


@dataclass(frozen=True)
class RarePairs:
    """Q pairs [o, q], all but the first so rare that W hardly sees them before step t.

    The columns of W do not interact. Along the first pair the force is at least
    Δ (1 - rest) e^(-√2 tη) / (2 |V| e^Δ), since φ_+ ≥ 1/2, w_o - w_q ≤ √2 ‖W‖ ≤ √2 tη
    and T_q ≥ 1/(|V| e^Δ); along a rare one it is at most Δ light/2. With r a bound on
    their ratio at all steps up to t,

        ‖W‖ ≥ tη / sqrt(1 + (Q-1) r²),    cos(-∇L, W) ≥ 1/(1 + (Q-1) r²),
        cos(-∇L, W*) ≤ (1 + (Q-1) r) / (√2 ‖W*‖),    ‖W*‖ = sqrt(Q/2), L_max = 2.

    Attributes:
        pairs: Q = |V| = N.
        light: Frequency of each rare pair.
        path: tη.
        step: η.
    """

    pairs: int
    light: Fraction
    path: int = 1000
    step: Fraction = Fraction(1, 10)

    @property
    def inputs(self) -> dict[str, Any]:
        """Exact numbers by name."""
        steps = int(self.path / self.step)
        numbers = {"Q": self.pairs, "t": steps, "eta": self.step, "light": self.light}
        return numbers | {"Delta": Fraction(1, 10)}

    def misses(self, alpha: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Bounds on (1 + α) cos(-∇L, W*) from above and cos(-∇L, W) from below.

        Args:
            alpha: α times ‖W‖ must rise with ‖W‖; it is taken at ‖W‖ ≤ tη.

        Returns:
            If the first is less than the second, the gradient overlaps more with W than
            (1 + α) times its overlap with W*.
        """
        ratio = Q * sp.exp(Delta + sp.sqrt(2) * t * eta) * light
        ratio /= 1 - (Q - 1) * light
        turned = 1 + (Q - 1) * ratio**2
        values = {S: sp.sqrt(Q / 2), L: 2, N: Q, pi_min: light}
        most = (alpha * X).subs(X, t * eta).subs(values) * sp.sqrt(turned) / (t * eta)
        cosine_most = (1 + (Q - 1) * ratio) / (sp.sqrt(2) * values[S])
        return (1 + most) * cosine_most, 1 / turned
