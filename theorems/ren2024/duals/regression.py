"""Appendix F: a linear attention layer constructed for linear regression, exactly.

Tokens are h_i = (x_i, y_i), columns of X and y; the query is (x, -w_0ᵀx).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import MatrixSymbol, Symbol, symbols

from theorems.ren2024.duals.decide import compiled
from theorems.ren2024.duals.drawn import SEEDS, generator, quarters
from theorems.ren2024.duals.sides import compare, slope
from theorems.ren2024.layers.exact import Layer
from theorems.ren2024.model import N, eta
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted, Verdict
from verify.search import Search
from verify.symbolic import Identity, formula, prove_equal

d = Symbol("d", positive=True, integer=True)
X, y = MatrixSymbol("X", d, N), MatrixSymbol("y", 1, N)
x, w_0 = MatrixSymbol("x", d, 1), MatrixSymbol("w_0", d, 1)
w, omega = MatrixSymbol("w", d, 1), MatrixSymbol("omega", d, 1)
S = MatrixSymbol("S", d, d)  # the second moments X Xᵀ
scale = Symbol("lambda", positive=True)

SEARCHED = "N ≤ 4, d ≤ 3, entries multiples of 1/4 in [-3, 3], 0 < η ≤ 8"


def drawn(n: int, size: int, seed: int) -> Layer:
    """Tokens, weights, a query and a learning rate."""
    rng = generator(seed)
    shapes = {"X": (size, n), "y": (1, n), "x": (size, 1), "w_0": (size, 1)}
    shapes |= {"w": (size, 1), "omega": (size, 1)}
    layer = {
        name: quarters(rng, *shape, low=-3, high=3) for name, shape in shapes.items()
    }
    return layer | {"eta": Fraction(rng.randint(1, 32), 4), "N": n, "d": size}


def layers() -> st.SearchStrategy[Layer]:
    """Regression tasks of N <= 4 and d <= 3."""
    return st.builds(drawn, st.integers(1, 4), st.integers(1, 3), SEEDS)


@lru_cache(maxsize=1)
def fixed() -> tuple[Layer, ...]:
    """Tasks on which every search begins."""
    return tuple(drawn(*size, seed=5) for size in ((1, 1), (2, 1), (2, 2), (4, 3)))


# ---------------------------------------------------------------- Eqs. (35)-(37)


def label(claim: Claim) -> sp.MatrixExpr:
    """The label part of the layer's output for the query."""
    values = claim.value_x * X + claim.value_y * y
    return claim.query_label + claim.step * values * X.T * x


def statements(claim: Claim) -> tuple[Identity, ...]:
    """Label and trained regression; trained dual model and what the layer adds."""
    regression = w_0 - eta * slope(claim.loss, w).subs(w, w_0)
    row = -eta * slope(claim.dual_loss, omega)
    added = -(label(claim) - claim.query_label)  # read out with P = -η/N I
    return (
        compare(label(claim), -regression.T * x, "the label is not minus ŷ"),
        compare(row.T * x, added, "a step on the dual loss predicts another label"),
    )


def literal_label(claim: Claim, layer: Layer) -> Fraction:
    """The layer with its weights as full matrices, token by token."""
    size, n = layer["X"].shape
    keys = np.diag([Fraction(1)] * size + [Fraction(0)])
    values = np.full((size + 1, size + 1), Fraction(0), dtype=object)
    values[size, :size] = compiled(claim.value_x)(layer)[0]
    values[size, size] = Fraction(int(claim.value_y))
    step = compiled(claim.step)(layer)
    start = compiled(claim.query_label)(layer)[0, 0]
    query = np.vstack([layer["x"], [[start]]])
    output = query.copy()
    for i in range(n):
        token = np.vstack([layer["X"][:, [i]], layer["y"][:, [i]]])
        output = output + step * (values @ token) * ((keys @ token).T @ keys @ query)
    if list(output[:size, 0]) != list(layer["x"][:, 0]):
        raise ArithmeticError("the layer changed the query's input part")
    return output[size, 0]


def trained_label(claim: Claim, layer: Layer) -> Fraction:
    """Minus the prediction after one step on the regression loss."""
    uphill = compiled(slope(claim.loss, w))(layer | {"w": layer["w_0"]})
    weights = layer["w_0"] - layer["eta"] * uphill
    return -(weights.T @ layer["x"])[0, 0]


def hunt(claim: Claim, search: Search) -> Outcome:
    """Hunt for a task on which layer and gradient descent differ."""
    first, second = statements(claim)

    def violated(layer: Layer) -> bool:
        differs = literal_label(claim, layer) != trained_label(claim, layer)
        return differs or second.violated(layer)

    def record(layer: Layer) -> dict[str, Any]:
        return (first if first.violated(layer) else second).witness(layer)

    return search.for_all(
        layers(), violated, record, searched=SEARCHED, pinned=fixed(), scale=0.3
    )


# ---------------------------------------------------------------- Eq. (38)


@dataclass(frozen=True)
class Design:
    """Which inputs a statement is about.

    Attributes:
        says: In words.
        moments: What X Xᵀ is.
        multiple: The factor by which X Xᵀ w exceeds a claimed direction.
    """

    says: str
    moments: sp.MatrixExpr
    multiple: sp.Expr

    def __str__(self) -> str:
        return self.says


ANY = Design("any inputs", X * X.T, sp.S.One)
ISOTROPIC = Design("inputs with X Xᵀ = λI", scale * sp.Identity(d), scale)


def sides(claim: Claim) -> tuple[sp.MatrixExpr, sp.MatrixExpr]:
    """Slope X Xᵀ w of the objective, and the claimed direction of the optimum."""
    moments = claim.domain.moments
    return moments * w, claim.direction.subs(S, moments)


def _reached(claim: Claim) -> tuple[sp.Expr, sp.Expr]:
    return _objectives(claim.domain.moments, claim.direction, claim.radius)


@lru_cache(maxsize=64)
def _objectives(
    moments: sp.MatrixExpr, direction: sp.MatrixExpr, radius: sp.Expr
) -> tuple[sp.Expr, sp.Expr]:
    steepest, along = moments * w, direction.subs(S, moments)
    ours = radius * sp.Trace(steepest.T * along)
    return ours, sp.Trace(steepest.T * steepest) * sp.Trace(along.T * along)


def falls_short(claim: Claim, task: Layer) -> bool:
    """Whether the claimed optimum's objective is less than ‖w‖ ‖X Xᵀ w‖."""
    ours, squares = (compiled(part)(task) for part in _reached(claim))
    return bool(squares > 0 and (ours < 0 or ours**2 < squares))


def shortfall(claim: Claim, task: Layer) -> dict[str, Any]:
    """Record the shortfall, both objectives times ‖direction‖/‖w‖."""
    ours, squares = _reached(claim)
    return formula(
        ours,
        "<",
        sp.sqrt(squares),
        task,
        "‖w‖ X Xᵀ w/‖X Xᵀ w‖ has the same norm and a lower loss",
    )


def tasks(design: Design) -> st.SearchStrategy[Layer]:
    """Inputs and regression weights of a design."""
    if design is ANY:
        return layers()
    sizes = st.integers(1, 3), st.integers(1, 2)
    return st.builds(isotropic, *sizes, SEEDS)


def isotropic(size: int, copies: int, seed: int) -> Layer:
    """Each unit vector with each sign, the same number of times, at one length."""
    layer = drawn(1, size, seed)
    length = Fraction(generator(seed).randint(1, 12), 4)
    signs = np.hstack([np.eye(size, dtype=int), -np.eye(size, dtype=int)])
    inputs = np.hstack([length * signs] * copies)
    moments = (inputs @ inputs.T)[0, 0]
    return layer | {"X": inputs, "N": inputs.shape[1], "lambda": moments}


@lru_cache(maxsize=2)
def fixed_tasks(design: Design) -> tuple[Layer, ...]:
    """Tasks on which every search begins: for any inputs x_1 = 2e_1, x_2 = e_2."""
    if design is not ANY:
        return tuple(isotropic(*size, seed=5) for size in ((1, 1), (2, 1), (3, 2)))
    columns = [[Fraction(2), Fraction(0)], [Fraction(0), Fraction(1)]]
    inputs = np.array(columns, dtype=object)
    weights = np.array([[Fraction(3)], [Fraction(4)]], dtype=object)
    first = drawn(2, 2, 5) | {"X": inputs, "w": weights}
    return (first, *fixed())


def prove_optimal(claim: Claim) -> Outcome:
    """Prove the optimum on the ball, unless it falls short on a fixed task."""
    for task in fixed_tasks(claim.domain):
        if falls_short(claim, task):
            witness = shortfall(claim, task)
            return Refuted(witness["says"], witness=witness)
    steepest, direction = sides(claim)
    part = compare(claim.domain.multiple * direction, steepest, "another direction")
    outcome = part.decide(())
    if outcome.verdict is not Verdict.HOLDS or claim.radius != 1:
        return Inconclusive("not proved", cause=Cause.NO_PROOF)
    steps = (
        "Eq. (37) is -1/N Σ y_i ωᵀx_i = -ωᵀ X Xᵀ w/N, ω the label row of W; no other "
        "entry of W occurs, so that they are zero at an optimum",
        *_cauchy(),
        *outcome.steps,
    )
    return Holds("the objective reaches ‖w‖ ‖X Xᵀ w‖", steps=steps)


@lru_cache(maxsize=1)
def _cauchy() -> tuple[str, ...]:
    """Cauchy-Schwarz, with equality for positive multiples alone."""
    g, m = symbols("g m", positive=True)  # norms of G = X Xᵀ w and ω
    G = MatrixSymbol("G", d, 1)
    gap = m * G - g * omega
    inner = sp.Trace(G.T * omega)
    expanded = m**2 * sp.Trace(G.T * G) + g**2 * sp.Trace(omega.T * omega)
    proof = prove_equal(sp.Trace(gap.T * gap), expanded - 2 * m * g * inner)
    left = sp.expand(m**2 * g**2 + g**2 * m**2 - 2 * m * g * inner)
    if not proof.proved or sp.expand(left - 2 * m * g * (m * g - inner)) != 0:
        raise ArithmeticError("Cauchy-Schwarz was not proved")
    return (
        *proof.steps,
        "‖mG - gω‖² = 2mg(mg - Gᵀω): Gᵀω ≤ mg, equal for mG = gω only",
    )


def hunt_optimal(claim: Claim, search: Search) -> Outcome:
    """Hunt for a task on which the claimed optimum falls short."""
    return search.for_all(
        tasks(claim.domain),
        lambda task: falls_short(claim, task),
        lambda task: shortfall(claim, task),
        searched=f"{claim.domain}, {SEARCHED}",
        pinned=fixed_tasks(claim.domain),
        scale=0.3,
    )
