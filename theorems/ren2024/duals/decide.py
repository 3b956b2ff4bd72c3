"""Deciding dual claims in exact arithmetic: a proof, and two searches."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from theorems.ren2024.duals import drawn
from theorems.ren2024.duals.drawn import TOKENS
from theorems.ren2024.duals.notation import A_q
from theorems.ren2024.duals.sides import blocks, identity, slope
from theorems.ren2024.layers.exact import Layer
from verify import Claim, Outcome, Refuted, Verdict
from verify.search import Search
from verify.symbolic import Compiled, Identity, padded

FEATURES = "values in [-3, 3], positive features ≤ 4, η ≤ 8, |α|, |β| ≤ 3, any g_1, g_2"
BINARY = "as above with N ≤ 3, T ≤ 2, binary tokens of d ≤ 2, any g_2 on them"


def prove(claim: Claim) -> Outcome:
    """Prove a dual claim for all sizes, with the gradient of its own loss."""
    return settle(identity(claim))


def settle(
    statement: Identity, layers: tuple[Layer, ...] = drawn.fixed_layers()
) -> Outcome:
    """Prove an identity for all sizes, unless it fails on a fixed layer.

    Args:
        statement: The identity.
        layers: Tried first; the last is the certificate of a proof.

    Returns:
        HOLDS with the steps of a proof, REFUTED, or INCONCLUSIVE.
    """
    for tried, layer in enumerate(layers, start=1):
        if statement.violated(layer):
            return Refuted(statement.says, witness=recorded(statement, layer), n=tried)
    outcome = _proved(statement)
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    return outcome.but(certificate=statement.certificate(layers[-1]))


_RECORDS: dict[tuple[Any, ...], dict[str, Any]] = {}


def recorded(statement: Identity, layer: Layer) -> dict[str, Any]:
    """The witness on a layer; on a fixed layer it is written once for all checks."""
    fixed = (*drawn.fixed_layers(), *drawn.fixed_binary_layers())
    index = next((k for k, known in enumerate(fixed) if known is layer), None)
    if index is None:
        return statement.witness(layer)
    key = (index, statement.left, statement.right)
    if key not in _RECORDS:
        _RECORDS[key] = statement.witness(layer)
    return _RECORDS[key]


@lru_cache(maxsize=256)
def _proved(statement: Identity) -> Outcome:
    return statement.decide(())


@lru_cache(maxsize=512)
def compiled(expr: sp.Basic) -> Compiled:
    """Compile for exact arithmetic, once for all changes of a claim."""
    return Compiled(expr, "exact")


def prediction(claim: Claim, layer: Layer) -> list[Fraction]:
    """Train the dual model on a layer in fractions and predict for its query."""
    layer = padded(layer)
    (d_o, n), t = layer["V_D"].shape, layer["V_T"].shape[1]
    layer |= {"N": n, "T": t, "d_o": d_o, "d_r": layer["p"].shape[0]}
    layer |= {"D": compiled(claim.normaliser)(layer)}
    layer |= {"W": compiled(claim.init)(layer)}
    weights = np.reshape(step_taken(claim, layer), layer["W"].shape)
    return list((weights @ layer["p"])[:, 0])


def step_taken(claim: Claim, layer: Layer) -> list[Fraction]:
    """The weights ``W`` of a layer after the claim's steps, entry by entry."""
    weights = layer["W"]
    length = Fraction(int(claim.step_length.p), int(claim.step_length.q))
    for _ in range(int(claim.steps)):
        step = compiled(slope(claim.loss))(layer | {"W": weights})
        weights = weights - length * layer["eta"] * step
    return list(weights.flat)


def value(expr: sp.MatrixExpr, layer: Layer) -> list[Fraction]:
    """The entries of an expression on a layer."""
    return list(compiled(expr)(layer).flat)


def _columns(claim: Claim, layer: Layer) -> tuple[Any, list[str]]:
    """All values of the claim's keys, and the names of their features."""
    full = padded(layer)
    values, names = [], []
    for V, features in blocks(claim):
        kept = layer[features.name].shape[1]
        values.append(compiled(V)(full)[:, :kept])
        names.append(features.name)
    return np.hstack(values), names


def _attended(claim: Claim, layer: Layer, weights: list[Fraction], V: Any) -> Any:
    """Attend with given unnormalised weights, and take the query's own part off."""
    total = sum(weights)
    output = [
        sum(v * w for v, w in zip(row, weights, strict=True)) / total for row in V
    ]
    if "removed" not in claim.parameters:
        return output
    own = weights[-1] / total
    removed, left = (
        compiled(sp.sympify(claim.parameters[name]).xreplace({A_q: sp.Symbol("own")}))
        for name in ("removed", "total")
    )
    known = layer | {"own": own}
    return [
        (entry - removed(known) * v) / left(known)
        for entry, v in zip(output, layer["v_q"][:, 0], strict=True)
    ]


def literal_kernels(claim: Claim, layer: Layer) -> Any:
    """The claim's layer with kernel values of its features, by plain loops."""
    V, names = _columns(claim, layer)
    query = layer[claim.query.name][:, 0]
    weights = [
        sum(a * b for a, b in zip(column, query, strict=True))
        for name in names
        for column in layer[name].T
    ]
    return _attended(claim, layer, weights, V)


def literal_softmax(claim: Claim, layer: Layer) -> Any:
    """The claim's layer with softmax to base 2 of its binary tokens."""
    V, names = _columns(claim, layer)
    query = layer[TOKENS[claim.query.name]][:, 0]
    weights = [
        Fraction(2) ** int(sum(a * b for a, b in zip(column, query, strict=True)))
        for name in names
        for column in layer[TOKENS[name]].T
    ]
    return _attended(claim, layer, weights, V)


def train_and_compare(
    claim: Claim,
    search: Search,
    literal: Callable[[Claim, Layer], Any] = literal_kernels,
    **options: Any,
) -> Outcome:
    """Hunt for a layer on which the trained dual model and the literal layer differ.

    Args:
        claim: A dual claim.
        search: The engine's search.
        literal: Evaluates the layer without the expressions that are proved.
        **options: Passed on to :meth:`verify.search.Search.for_all`.

    Returns:
        HOLDS, or REFUTED with a layer.
    """
    softmax = literal is literal_softmax
    instances = drawn.binary_layers() if softmax else drawn.feature_layers()
    fixed = drawn.fixed_binary_layers() if softmax else drawn.fixed_layers()
    return search.for_all(
        instances,
        lambda layer: prediction(claim, layer) != literal(claim, layer),
        lambda layer: recorded(identity(claim), layer),
        searched=BINARY if softmax else FEATURES,
        pinned=fixed,
        scale=0.3,
        **options,
    )
