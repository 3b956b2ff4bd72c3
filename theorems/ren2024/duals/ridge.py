"""Ridge regression of values on key features, exactly: Eq. (33)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.ren2024.duals import drawn
from theorems.ren2024.duals.decide import compiled
from theorems.ren2024.duals.drawn import TOKENS
from theorems.ren2024.duals.notation import alpha
from theorems.ren2024.duals.sides import compare, slope
from theorems.ren2024.layers.exact import Layer
from theorems.ren2024.model import V_D, Phi_D, W, d_o, d_r, p
from verify import Claim, Holds, Outcome, Refuted, Verdict, symbolic
from verify.search import Search
from verify.symbolic import Identity, formula

E = sp.MatrixSymbol("E", d_o, d_r)  # any change of W


def statements(claim: Claim) -> tuple[Identity, ...]:
    """A step from the optimum stays there, and the optimum predicts the layer."""
    step = slope(claim.loss).subs(W, claim.optimum)
    return (
        compare(claim.optimum - step, claim.optimum, "the loss has a slope at W*"),
        compare(claim.optimum * p, claim.layer, "W* predicts another output"),
    )


@lru_cache(maxsize=1)
def layers() -> tuple[Layer, ...]:
    """Fixed layers with α > 0, one or two demonstrations; the last has three."""
    sizes = ((1, 0, 1, 1), (2, 0, 1, 1), (2, 0, 1, 2), (3, 0, 2, 2))
    return tuple(_positive(drawn.feature_layer(*size, seed=3)) for size in sizes)


def _positive(layer: Layer) -> Layer:
    return layer | {"alpha": abs(layer["alpha"])}


def witness(statement: Identity, layer: Layer) -> dict[str, Any]:
    """Record the first entry that differs, inverses written out."""
    n, (rows, features) = layer["V_D"].shape[1], (len(layer["V_D"]), len(layer["p"]))
    sizes = dict(zip(V_D.shape, (rows, n), strict=True)) | {d_r: features}
    left, right = (
        sp.Matrix(symbolic.components(side, sizes))
        for side in (statement.left, statement.right)
    )
    known = _entries(layer)
    at = {sp.Symbol(name): sp.Rational(value) for name, value in known.items()}
    at |= {alpha: sp.Rational(layer["alpha"])}
    for ours, theirs in zip(left, right, strict=True):
        if (ours - theirs).subs(at) != 0:
            inputs = known | {"alpha": layer["alpha"]}
            return formula(ours, "!=", theirs, inputs, statement.says)
    raise ValueError("no entry differs")


def _entries(layer: Layer) -> dict[str, Fraction]:
    """Entries of values, features and query by the names of the written-out symbols."""
    return {
        f"{name}_{i}_{j}": layer[name][i, j]
        for name in ("V_D", "Phi_D", "p")
        for i, j in np.ndindex(layer[name].shape)
    }


def prove(claim: Claim) -> Outcome:
    """Prove that W* is the only minimum, for all sizes, and what it predicts."""
    parts = statements(claim)
    for layer in layers():
        for part in parts:
            if part.violated(layer):
                return Refuted(part.says, witness=witness(part, layer))
    steps: list[str] = []
    for part in (*parts, _excess(claim)):
        outcome = part.decide(())
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        steps += outcome.steps
    steps.append("the excess is at least α/2 ‖E‖²: positive for α > 0 and E ≠ 0")
    return Holds("W* is the only minimum", steps=steps)


def _excess(claim: Claim) -> Identity:
    """L(W + E) - L(W) - ⟨∇L(W), E⟩ is a sum of squares."""
    linear = sp.Trace(slope(claim.loss).T * E)
    excess = claim.loss.subs(W, W + E) - claim.loss - linear
    moved = E * Phi_D
    squares = sp.Trace(moved.T * moved) / 2 + alpha / 2 * sp.Trace(E.T * E)
    return compare(excess, squares, "the excess loss is another")


def solved(S: Any, B: Any) -> Any:
    """X with X S = B, by elimination in fractions; S is positive definite."""
    rows = [[*a, *b] for a, b in zip(S.T, B.T, strict=True)]
    size = len(rows)
    for k in range(size):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [
                    x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)
                ]
    return np.array([row[size:] for row in rows], dtype=object).T


def trained(layer: Layer) -> list[Fraction]:
    """The minimum's prediction, from the normal equations in W."""
    V, Phi, shift = layer["V_D"], layer["Phi_D"], layer["alpha"]
    normal = Phi @ Phi.T + shift * np.eye(len(Phi), dtype=int)
    return list((solved(normal, V @ Phi.T) @ layer["p"])[:, 0])


def by_tokens(layer: Layer) -> list[Fraction]:
    """Eq. (33) with kernel 2^(x·y) of binary tokens."""
    K, q = layer[TOKENS["Phi_D"]], layer[TOKENS["p"]]
    power = np.frompyfunc(lambda s: Fraction(2) ** int(s), 1, 1)
    gram = power(K.T @ K) + layer["alpha"] * np.eye(K.shape[1], dtype=int)
    return list((solved(gram, layer["V_D"]) @ power(K.T @ q))[:, 0])


def hunt(claim: Claim, search: Search, *, tokens: bool) -> Outcome:
    """Hunt for a layer whose minimum is not the claim's, or predicts otherwise.

    Args:
        claim: The claim.
        search: The engine's search.
        tokens: Binary tokens with their softmax kernel instead of any features.

    Returns:
        HOLDS, or REFUTED with a layer.
    """
    parts = statements(claim)
    layer_output = compiled(claim.layer)

    def violated(layer: Layer) -> bool:
        if any(part.violated(layer) for part in parts):
            return True
        output = list(layer_output(layer)[:, 0])
        return output != trained(layer) or (tokens and output != by_tokens(layer))

    def record(layer: Layer) -> dict[str, Any]:
        return witness(next(part for part in parts if part.violated(layer)), layer)

    fixed = layers()
    if tokens:
        fixed = tuple(map(_positive, drawn.fixed_binary_layers()))
    n, d_o = st.integers(1, 3), st.integers(1, 2)
    make = drawn.binary_layer if tokens else drawn.feature_layer
    drawn_layers = st.builds(make, n, st.just(0), d_o, st.integers(1, 2), drawn.SEEDS)
    return search.for_all(
        drawn_layers.map(_positive),
        violated,
        record,
        searched="N ≤ 3, d_o ≤ 2, 0 < α ≤ 3",
        pinned=fixed,
        scale=0.1,
    )
