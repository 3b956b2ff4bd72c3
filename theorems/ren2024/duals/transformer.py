"""One Transformer layer and its dual model with a bias: Theorem B.1.

The layer is W_2 ReLU(inner) + skip of its attention output h; the dual model is
f(x) = W φ(x) + b, of which W alone is trained. I_M is diagonal with ones where
``gate`` is at least zero.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import MatrixSymbol, Max, Symbol

from theorems.ren2024.duals import drawn
from theorems.ren2024.duals.decide import compiled
from theorems.ren2024.duals.sides import attention, compare, slope
from theorems.ren2024.layers.exact import Layer
from theorems.ren2024.model import (
    V_D,
    V_T,
    D,
    N,
    Phi_D,
    Phi_T,
    T,
    d_o,
    d_r,
    eta,
    kernel_sum,
    p,
)
from verify import (
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Outcome,
    Refuted,
    Verdict,
    symbolic,
)
from verify.search import Search
from verify.symbolic import Identity, formula, padded

d_h = Symbol("d_h", positive=True, integer=True)
W_1, W_2 = MatrixSymbol("W_1", d_h, d_o), MatrixSymbol("W_2", d_o, d_h)
b_1, b_2 = MatrixSymbol("b_1", d_h, 1), MatrixSymbol("b_2", d_o, 1)
I_M = MatrixSymbol("I_M", d_h, d_h)
b, h = MatrixSymbol("b", d_o, 1), MatrixSymbol("h", d_o, 1)
K_D = MatrixSymbol("K_D", d_o, N)
W_F = MatrixSymbol("W_F", d_o, d_o)
NETWORK = W_2 * I_M * W_1  # what W_F stands for

SAYS = "the dual model's prediction and the Transformer layer's output differ"
SEARCHED = "N ≤ 4, T ≤ 2, d_o ≤ 2, d_h ≤ 3, d_r ≤ 3, every pattern of active units"


def attended() -> sp.MatrixExpr:
    """The attention output h'."""
    return attention(((V_D, Phi_D), (V_T, Phi_T)), p, sp.S.Zero, sp.S.One)


def prediction(claim: Claim) -> sp.MatrixExpr:
    """Ŵφ(q) + b after one step, with I_M, W_F and D as symbols."""
    have = claim.parameters
    return _predicted(have["loss"], have["init"], have["bias"], have["bias_trained"])


@lru_cache(maxsize=64)
def substituted(expr: sp.MatrixExpr, normaliser: sp.Expr) -> sp.MatrixExpr:
    """Put in what W_F and D stand for."""
    return expr.xreplace({W_F: NETWORK, D: normaliser})


@lru_cache(maxsize=64)
def _predicted(
    loss: sp.Expr, init: sp.MatrixExpr, bias: sp.MatrixExpr, bias_trained: sp.Integer
) -> sp.MatrixExpr:
    trained = init - eta * slope(loss)
    if bias_trained:
        bias -= eta * slope(loss, b)
    return trained * p + bias


@lru_cache(maxsize=64)
def _output(inner: sp.MatrixExpr, skip: sp.MatrixExpr) -> sp.MatrixExpr:
    return (W_2 * I_M * inner + skip).subs(h, attended())


def statements(claim: Claim) -> tuple[Identity, ...]:
    """I_M is that of the layer's ReLU, and both sides agree given I_M."""
    return (
        compare(claim.gate, claim.inner, "I_M is not that of the layer's ReLU"),
        compare(
            substituted(prediction(claim), claim.normaliser),
            _output(claim.inner, claim.skip),
            SAYS,
        ),
    )


# ---------------------------------------------------------------- instances


def with_network(layer: Layer, hidden: int, seed: int) -> Layer:
    """Add a feed-forward network and keys in value space to a layer."""
    rng, rows = drawn.generator(seed), len(layer["v_q"])
    shapes = {"W_1": (hidden, rows), "W_2": (rows, hidden), "b_1": (hidden, 1)}
    shapes |= {"b_2": (rows, 1), "K_D": (rows, layer["V_D"].shape[1])}
    return layer | {
        name: drawn.quarters(rng, *shape, low=-3, high=3)
        for name, shape in shapes.items()
    }


@lru_cache(maxsize=1)
def fixed() -> tuple[Layer, ...]:
    """Layers on which every search begins."""
    sizes = ((1, 1, 1, 1, 2), (2, 1, 2, 2, 3), (3, 2, 2, 3, 3))
    return tuple(
        with_network(drawn.feature_layer(*size[:4], seed=seed), size[4], seed)
        for size in sizes
        for seed in range(4)
    )


def layers() -> st.SearchStrategy[Layer]:
    """Layers with any feed-forward network of at most three hidden units."""
    return st.builds(
        with_network, drawn.feature_layers(), st.integers(1, 3), drawn.SEEDS
    )


def gated(claim: Claim, layer: Layer) -> Layer:
    """The layer with h' and I_M, as the claim defines it."""
    layer = padded(layer)
    V, Phi = (np.hstack([layer[f"{x}_D"], layer[f"{x}_T"]]) for x in ("V", "Phi"))
    kernels = Phi.T @ layer["p"]
    layer |= {"h": V @ kernels / kernels.sum()}
    active = compiled(claim.gate)(layer)[:, 0] >= 0
    pattern = np.diag([Fraction(int(x)) for x in active])
    known = {"I_M": pattern, "W_F": layer["W_2"] @ pattern @ layer["W_1"]}
    return layer | known | {"D": compiled(claim.normaliser)(layer)}


def literal(claim: Claim, layer: Layer) -> Any:
    """W_2 ReLU(inner) + skip, entry by entry."""
    inner = compiled(claim.inner)(layer)
    relu = np.array([[max(x, Fraction(0))] for x in inner[:, 0]], dtype=object)
    return layer["W_2"] @ relu + compiled(claim.skip)(layer)


def violated(claim: Claim, layer: Layer) -> bool:
    """Whether the trained dual model and the literal layer differ."""
    layer = gated(claim, layer)
    ours = compiled(prediction(claim))(layer)
    return bool(np.any(ours != literal(claim, layer)))


def witness(claim: Claim, layer: Layer) -> dict[str, Any]:
    """Record the first entry that differs, ReLU written out."""
    layer = gated(claim, layer)
    ours, theirs = compiled(prediction(claim))(layer), literal(claim, layer)
    row = next(i for i, differ in enumerate((ours != theirs)[:, 0]) if differ)
    inner, skip = (part.subs(h, attended()) for part in (claim.inner, claim.skip))
    active = sp.Add(
        *(
            W_2[row, k] * Max(0, inner[k, 0], evaluate=False)
            for k in range(len(layer["b_1"]))
        )
    )
    left = substituted(prediction(claim), claim.normaliser)[row, 0]
    return formula(left, "!=", active + skip[row, 0], layer, SAYS)


# ---------------------------------------------------------------- decisions


def _refuted(claim: Claim) -> Outcome | None:
    for index, layer in enumerate(fixed()):
        if violated(claim, layer):
            return Refuted(SAYS, witness=recorded(claim, index))
    return None


_RECORDS: dict[tuple[Any, ...], dict[str, Any]] = {}


def recorded(claim: Claim, index: int) -> dict[str, Any]:
    """The witness on a fixed layer, written once for all checks."""
    key = (index, *claim.parameters.values())
    if key not in _RECORDS:
        _RECORDS[key] = witness(claim, fixed()[index])
    return _RECORDS[key]


def prove(claim: Claim) -> Outcome:
    """Prove the theorem for all sizes and every I_M."""
    if found := _refuted(claim):
        return found
    steps = ["max(z, 0) = 1{z ≥ 0} z, entry by entry: ReLU(inner) = I_M inner"]
    for statement in statements(claim):
        outcome = statement.decide(())
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        steps += outcome.steps
    return Holds("both sides agree for every I_M", steps=steps)


SIZES = ((1, 1, 1, 1, 3), (1, 1, 2, 1, 2))


def prove_patterns(claim: Claim) -> Outcome:
    """Cancel every entry for every pattern, without I_M on the layer's side."""
    if found := _refuted(claim):
        return found
    count = _cancelled(prediction(claim), claim.inner, claim.skip, claim.normaliser)
    if count:
        return Holds(f"every entry cancels for {count} patterns", n=count)
    return Inconclusive("an entry does not cancel", cause=Cause.NO_PROOF)


@lru_cache(maxsize=2)
def _cancelled(
    ours: sp.MatrixExpr, inner: sp.MatrixExpr, skip: sp.MatrixExpr, normaliser: sp.Expr
) -> int:
    """How many patterns cancel; 0 when one does not. D stays a symbol throughout."""
    total = kernel_sum(Phi_D) + kernel_sum(Phi_T)
    same = compare(normaliser, total, "another normaliser").decide(())
    if same.verdict is not Verdict.HOLDS:
        return 0
    attended_by_D = (V_D * Phi_D.T * p + V_T * Phi_T.T * p) / D
    inner, skip = (part.subs(h, attended_by_D) for part in (inner, skip))
    count = 0
    for n, t, rows, features, hidden in SIZES:
        sizes = {N: n, T: t, d_o: rows, d_r: features, d_h: hidden}
        parts = [symbolic.components(x, sizes) for x in (ours, inner, W_2, skip, W_1)]
        left, before, out, beside, into = map(sp.Matrix, parts)
        for active in product((0, 1), repeat=hidden):
            units = [k for k in range(hidden) if active[k]]
            product_of_units = out[:, units] * into.extract(units, list(range(rows)))
            at = dict(zip(_entries(W_F, sizes), product_of_units, strict=True))
            at |= dict(zip(_entries(I_M, sizes), sp.diag(*active), strict=True))
            right = out[:, units] * before.extract(units, [0]) + beside
            if any(sp.expand(x) != 0 for x in left.subs(at) - right):
                return 0
            count += 1
    return count


def _entries(matrix: sp.MatrixSymbol, sizes: dict[sp.Symbol, int]) -> sp.Matrix:
    return sp.Matrix(symbolic.components(matrix, sizes))


def hunt(claim: Claim, search: Search) -> Outcome:
    """Hunt for a layer on which the dual model predicts something else."""

    def record(layer: Layer) -> dict[str, Any]:
        for index, known in enumerate(fixed()):
            if known is layer:
                return recorded(claim, index)
        return witness(claim, layer)

    return search.for_all(
        layers(),
        partial(violated, claim),
        record,
        searched=SEARCHED,
        pinned=fixed(),
        scale=0.3,
    )
