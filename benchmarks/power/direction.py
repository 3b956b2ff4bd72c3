"""Max-margin directions: exact solutions against claimed scores.

Problems are planted: the solution is known before anything is solved, from multipliers
that satisfy the conditions of Karush, Kuhn and Tucker by construction. Orders of tokens
(as huang2024 has them) are made of blocks whose scores are m/(k + m) and -k/(k + m),
with edges between blocks that are slack or just tight; problems with any rows have the
solution x = Aᵀy, with slacks down to 2^-40 and tight rows without a multiplier. A false
claim moves one score, or all, by the relative amount ``wrongness``, or takes two blocks
for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from benchmarks.power.cases import Drawn, Family
from verify import Claim, Holds, Outcome, Refuted
from verify.max_margin import Margin, minimise, order_margin, solve
from verify.profiles import profile
from verify.verdict import Grade

SOLVED = 0.05  # share of general problems that Clarabel is asked about first
SLACKS = (Fraction(0), Fraction(1, 2**40), Fraction(1, 1000), Fraction(1), Fraction(5))
Edge = tuple[int, int]


@dataclass(frozen=True)
class Order:
    """Difference constraints w_o - w_m >= 1 on tokens."""

    edges: tuple[Edge, ...]

    def __str__(self) -> str:
        return ", ".join(f"{o} > {m}" for o, m in self.edges)


@dataclass(frozen=True)
class Rows:
    """The problem min |x|²/2 subject to rows · x >= bounds.

    Attributes:
        rows: Integers.
        bounds: Rationals.
        numerically: Whether a solver in floating point guesses the active set.
    """

    rows: tuple[tuple[int, ...], ...]
    bounds: tuple[Fraction, ...]
    numerically: bool

    def __str__(self) -> str:
        return f"{len(self.rows)} rows in {len(self.rows[0])} dimensions"


def decide(claim: Claim) -> Outcome:
    """Compare the claimed scores with the exact solution, whose proof is kept."""
    problem = claim.domain
    claimed = [Fraction(int(x.p), int(x.q)) for x in claim.scores]
    if isinstance(problem, Order):
        found = order_margin(problem.edges)
        if not found.stands():
            raise ArithmeticError(f"no certified solution of {problem}")
        solution, named = found.scores, dict(enumerate(claimed))
        certificate = found.certificate
    else:
        margin = _margin(problem)
        solution = dict(enumerate(margin.exact.solution))
        named, certificate = dict(enumerate(claimed)), margin.certificate
    if solution == named:
        return Holds("the scores are those claimed", certificate=certificate("scores"))
    return Refuted("other scores", witness=certificate("other scores", named))


def _margin(problem: Rows) -> Margin:
    rows, bounds = [*map(list, problem.rows)], [*problem.bounds]
    if problem.numerically:
        return solve(rows, bounds)
    return Margin(minimise(rows, bounds), None, rows, bounds)


# ------------------------------------------------------------------------------ orders


def blocks(rng: np.random.Generator) -> tuple[Order, list[Fraction], list[int]]:
    """Up to four blocks; edges, planted scores, and the block of every token."""
    upper, lower, edges = [], [], []
    scores: list[Fraction] = []
    owner: list[int] = []
    for number in range(int(rng.integers(1, 5))):
        k, m = (int(x) for x in rng.integers(1, 8, 2))
        first = len(scores)
        scores += [Fraction(m, k + m)] * k + [Fraction(-k, k + m)] * m
        owner += [number] * (k + m)
        upper.append(range(first, first + k))
        lower.append(range(first + k, first + k + m))
        edges += _inside(rng, upper[-1], lower[-1])
    for a, over in enumerate(upper):
        for b, under in enumerate(lower):
            # Tight where both blocks have one level: a degenerate constraint.
            if a != b and scores[over[0]] - scores[under[0]] >= 1:
                chosen = [(o, m) for o in over for m in under if rng.random() < 0.3]
                edges += chosen
    return Order(tuple(sorted(set(edges)))), scores, owner


def _inside(rng: np.random.Generator, over: range, under: range) -> list[Edge]:
    """Edges that carry an even flow: all, or three of a circulant graph."""
    k = len(over)
    if k == len(under) and k > 3 and rng.random() < 0.5:
        return [(over[i], under[(i + s) % k]) for i in range(k) for s in range(3)]
    return [(o, m) for o in over for m in under]


def pooled(scores: list[Fraction], owner: list[int]) -> list[Fraction]:
    """Scores as if the first two blocks were one."""
    merged = [i for i, block in enumerate(owner) if block < 2]
    k = sum(scores[i] > 0 for i in merged)
    m = len(merged) - k
    return [
        (Fraction(m, k + m) if score > 0 else Fraction(-k, k + m))
        if owner[i] < 2
        else score
        for i, score in enumerate(scores)
    ]


# -------------------------------------------------------------------------------- rows


def planted(rng: np.random.Generator) -> tuple[Rows, list[Fraction]]:
    """Rows, bounds and the solution x = Aᵀy."""
    size, count = int(rng.integers(2, 7)), int(rng.integers(2, 13))
    rows = rng.integers(-5, 6, (count, size))
    rows[:, 0] = np.where(rows.any(axis=1), rows[:, 0], 1)
    active = int(rng.integers(1, min(size, count) + 1))
    weights = [Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 20)))
               for _ in range(active)]  # fmt: skip
    exact = [[Fraction(int(x)) for x in row] for row in rows]
    x = [sum((y * row[j] for y, row in zip(weights, exact, strict=False)), Fraction(0))
         for j in range(size)]  # fmt: skip
    bounds = []
    for i, row in enumerate(exact):
        reach = sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0))
        slack = SLACKS[int(rng.integers(len(SLACKS)))] if i >= active else Fraction(0)
        bounds.append(reach - slack)
    numerically = bool(rng.random() < SOLVED)
    shown = tuple(tuple(int(x) for x in row) for row in rows)
    return Rows(shown, tuple(bounds), numerically), x


# ------------------------------------------------------------------------------ claims


def _drawn(sort: str, scores: list[Fraction], problem: Order | Rows) -> Drawn:
    def told(values: list[Fraction]) -> sp.Tuple:
        return sp.Tuple(*(sp.Rational(x.numerator, x.denominator) for x in values))

    moved = [x + 1 for x in scores]  # feasible for orders, and longer
    return Drawn(sort, {"scores": told(scores)}, problem, {"scores": told(moved)})


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """Planted scores, or scores that are off by a relative amount."""
    problem: Order | Rows
    while True:
        if rng.random() < 0.5:
            sort, (problem, scores, _) = "orders", blocks(rng)
        else:
            sort, (problem, scores) = "rows", planted(rng)
        if any(scores):
            break
    if truth:
        return _drawn(sort, scores, problem)
    step = Fraction(wrongness)
    if rng.random() < 0.5:
        at = int(rng.choice([i for i, x in enumerate(scores) if x]))
        scores = [x * (1 + step) if i == at else x for i, x in enumerate(scores)]
        return _drawn(f"{sort}, one score", scores, problem)
    return _drawn(f"{sort}, length", [x * (1 + step) for x in scores], problem)


def merged(rng: np.random.Generator) -> Drawn:
    """Two blocks of an order taken for one."""
    while True:
        order, scores, owner = blocks(rng)
        claimed = pooled(scores, owner)
        if claimed != scores:
            return _drawn("orders, blocks pooled", claimed, order)


FAMILY = Family(
    name="direction",
    decide=decide,
    grade=Grade.CERTIFIED,
    draw=draw,
    others=merged,
    unit="relative error of one score, or of the length",
    grid=(2.0**-100, 2.0**-60, 2.0**-40, 2.0**-20, 2.0**-10, 2.0**-5),
    stated=2.0**-100,
    why="scores are compared exactly: any difference",
    true_profile=profile("smoke"),
    false_profile=profile("smoke"),
)
