"""The two sides of a dual claim: what its dual model predicts, what its layer gives.

The layer's side is data of the claim, block by block: ``values_D, features_D`` for the
demonstrations, ``values_T, features_T`` for the query tokens, ``values_own,
features_own`` for the query among its own keys, and ``query``. The layer is

    Σ values featuresᵀ query / Σ 1ᵀ featuresᵀ query - removed · v_q,

the last term for claims with a parameter ``removed`` alone, then over ``total``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

import sympy as sp

from theorems.ren2024.duals.notation import A_q
from theorems.ren2024.model import D, W, eta, kernel_sum, p, v_q
from verify import Claim
from verify.symbolic import Identity, gradient

Block = tuple[sp.MatrixExpr, sp.MatrixExpr]

SAYS = "the dual model's prediction and the layer's output differ"


def blocks(claim: Claim) -> tuple[Block, ...]:
    """Values and key features of the claim's layer, block by block."""
    have = claim.parameters
    return tuple(
        (have[f"values_{block}"], have[f"features_{block}"])
        for block in ("D", "T", "own")
        if f"values_{block}" in have
    )


@lru_cache(maxsize=256)
def attention(
    parts: tuple[Block, ...], query: sp.MatrixExpr, removed: sp.Expr, total: sp.Expr
) -> sp.MatrixExpr:
    """Attention in kernel form, less a multiple of the query's own value."""
    kernels = sp.Add(*(kernel_sum(features, query) for _, features in parts))
    weighted = sp.MatAdd(*(V * features.T * query for V, features in parts))
    attended = weighted / kernels
    if removed != 0:
        attended -= removed * v_q
    if removed == 0 == total - 1:
        return attended
    own = kernel_sum(parts[-1][1], query) / kernels
    return (attended / total).xreplace({A_q: own})


@lru_cache(maxsize=256)
def slope(loss: sp.Expr, weights: sp.MatrixSymbol = W) -> sp.MatrixExpr:
    """The gradient of a loss, trace by trace.

    The gradient is linear: each trace is differentiated once, and matrices without the
    weights are named first, so that claim and mutants share the derivation.

    Args:
        loss: A sum of traces with coefficients free of the weights.
        weights: What to differentiate by.

    Returns:
        The gradient, of the shape of the weights.
    """
    parts = []
    for term in sp.Add.make_args(sp.expand(loss)):
        inside = [x for x in sp.Mul.make_args(term) if x.has(weights)]
        if len(inside) != 1 or not isinstance(inside[0], sp.Trace):
            return gradient(loss, weights)
        parts.append(term / inside[0] * _trace_slope(inside[0].arg, weights))
    return sp.MatAdd(*parts)


def _trace_slope(matrix: sp.MatrixExpr, weights: sp.MatrixSymbol) -> sp.MatrixExpr:
    product = matrix if isinstance(matrix, sp.MatMul) else sp.MatMul(matrix)
    scalars, factors = product.as_coeff_matrices()
    names: dict[sp.MatrixSymbol, sp.MatrixExpr] = {}
    named = []
    for has, run in groupby(factors, key=lambda factor: factor.has(weights)):
        if has:
            named += run
            continue
        known = sp.MatMul(*run)
        named.append(sp.MatrixSymbol(f"M_{len(names)}", *known.shape))
        names[named[-1]] = known
    return scalars * _derived(sp.MatMul(*named), weights).xreplace(names)


@lru_cache(maxsize=64)
def _derived(matrix: sp.MatrixExpr, weights: sp.MatrixSymbol) -> sp.MatrixExpr:
    return gradient(sp.Trace(matrix), weights)


def trained_weights(claim: Claim) -> sp.MatrixExpr:
    """The weights after the claim's steps on its own loss, with D a symbol."""
    return _trained(claim.loss, claim.init, int(claim.steps), claim.step_length)


@lru_cache(maxsize=256)
def _trained(
    loss: sp.Expr, init: sp.MatrixExpr, steps: int, step_length: sp.Expr
) -> sp.MatrixExpr:
    weights = init
    for _ in range(steps):
        weights -= step_length * eta * slope(loss).subs(W, weights)
    return weights


@lru_cache(maxsize=256)
def _predicted(weights: sp.MatrixExpr, normaliser: sp.Expr) -> sp.MatrixExpr:
    return (weights * p).xreplace({D: normaliser})


def layer_output(claim: Claim) -> sp.MatrixExpr:
    """The output of the claim's layer for its query."""
    have = claim.parameters
    removed, total = have.get("removed", sp.S.Zero), have.get("total", sp.S.One)
    return attention(blocks(claim), claim.query, removed, total)


def identity(claim: Claim) -> Identity:
    """Prediction of the dual model, and output of the layer."""
    prediction = _predicted(trained_weights(claim), claim.normaliser)
    return compare(prediction, layer_output(claim), SAYS)


@lru_cache(maxsize=256)
def compare(left: sp.MatrixExpr, right: sp.MatrixExpr, says: str) -> Identity:
    """An identity, one object for all checks, so that it is compiled once."""
    return Identity(left, right, says=says)
