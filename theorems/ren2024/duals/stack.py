"""L attention layers with a prefix mask and their L dual models: Theorem B.2.

Within one layer r stands for the features φ(W_Q h_i) of a demonstration as query, What
and W0 for the weights of the dual model after and before its step, C for a diagonal of
zeros and ones that hides demonstrations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import MatrixSymbol, Symbol

from theorems.ren2024.duals import drawn
from theorems.ren2024.duals.decide import compiled, prediction, step_taken
from theorems.ren2024.duals.sides import attention, compare, trained_weights
from theorems.ren2024.layers.exact import Layer
from theorems.ren2024.model import (
    V_D,
    D,
    N,
    Phi_D,
    d_o,
    d_r,
    p,
    phi_k,
    v_q,
)
from verify import Claim, Holds, Outcome, Refuted, Verdict
from verify.search import Search
from verify.symbolic import Identity

r = MatrixSymbol("r", d_r, 1)
C = MatrixSymbol("C", N, N)
What, W0 = MatrixSymbol("What", d_o, d_r), MatrixSymbol("W0", d_o, d_r)
D_i = Symbol("D_i", nonzero=True)

QUERY = "the dual model predicts another output for the query"
DEMO = "Eq. (25) gives another output for a demonstration"
SEARCHED = (
    "L = 2 or 3, N ≤ 3, d ≤ 2, integer weights ≤ 2, kernel 1 + x·y + (x·y)², which is "
    "positive; all tokens of the last layer"
)


def seen(claim: Claim) -> sp.MatrixExpr:
    """What a demonstration's query attends to in the claim's layer."""
    values, features = V_D * claim.mask, Phi_D * claim.mask
    blocks = [(values, features)]
    if claim.sees_query:
        blocks.append((v_q, phi_k))
    return attention(tuple(blocks), r, sp.S.Zero, sp.S.One)


def statements(claim: Claim) -> tuple[Identity, ...]:
    """One layer, given its input: the query's output and a demonstration's."""
    trained = trained_weights(claim)
    known = {What: trained, W0: claim.init, D_i: claim.demo_normaliser}
    demo = claim.demo.subs(known).xreplace({D: claim.normaliser})
    query = (trained * p).xreplace({D: claim.normaliser})
    keys = ((V_D, Phi_D), (v_q, phi_k))
    target = attention(keys, p, sp.S.Zero, sp.S.One)
    return compare(query, target, QUERY), compare(demo, seen(claim), DEMO)


def prove(claim: Claim) -> Outcome:
    """Prove one layer for all sizes; layers follow by induction."""
    parts = statements(claim)
    for layer in fixed_layers():
        for part in parts:
            if part.violated(layer):
                return Refuted(part.says, witness=part.witness(layer))
    steps: list[str] = []
    for part in parts:
        outcome = part.decide(())
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        steps += outcome.steps
    steps.append(
        "induction: the input H^(0) is shared; if layer and dual model agree on all "
        "tokens of H^(l-1), they agree on all tokens of H^(l)"
    )
    return Holds("every layer agrees on all tokens", steps=steps)


@lru_cache(maxsize=1)
def fixed_layers() -> tuple[Layer, ...]:
    """Single layers, with a demonstration's query and a mask that hides the last."""
    found = []
    for layer in drawn.fixed_layers():
        n, features = layer["V_D"].shape[1], len(layer["p"])
        mask = np.diag([Fraction(int(j < max(1, n - 1))) for j in range(n)])
        query = drawn.quarters(drawn.generator(n), features, 1, 0, 4)
        found.append(layer | {"r": query, "C": mask})
    return tuple(found)


# ---------------------------------------------------------------- stacks


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of L layers, tokens (the query last) and a learning rate.

    Attributes:
        weights: ``W_Q, W_K, W_V`` of each layer.
        tokens: Columns.
        eta: Learning rate.
    """

    weights: tuple[tuple[Any, Any, Any], ...]
    tokens: Any
    eta: Fraction


def stack(depth: int, n: int, d: int, seed: int) -> Stack:
    """Draw integer weights and tokens."""
    rng = drawn.generator(seed)

    def integers(rows: int, columns: int) -> Any:
        entries = [
            [Fraction(rng.randint(-2, 2)) for _ in range(columns)] for _ in range(rows)
        ]
        return np.array(entries, dtype=object)

    weights = tuple(
        (integers(d, d), integers(d, d), integers(d, d)) for _ in range(depth)
    )
    return Stack(weights, integers(d, n + 1), Fraction(rng.randint(1, 32), 4))


PINNED = tuple(stack(*size) for size in ((2, 2, 1, 1), (2, 3, 1, 2), (2, 2, 2, 4)))


def features(points: Any) -> Any:
    """``1, x, x⊗x`` of each column: the kernel 1 + x·y + (x·y)²."""
    d, n = points.shape
    ones = np.full((1, n), Fraction(1), dtype=object)
    squares = (points[:, None, :] * points[None, :, :]).reshape(d * d, n)
    return np.vstack([ones, points, squares])


def kernel(a: Any, b: Any) -> Fraction:
    """``1 + x·y + (x·y)²``."""
    s = sum(x * y for x, y in zip(a, b, strict=True))
    return 1 + s + s * s


def literal(claim: Claim, weights: tuple[Any, Any, Any], H: Any) -> Any:
    """One attention layer under the claim's mask, by plain loops."""
    queries, keys, values = (W @ H for W in weights)
    last = H.shape[1] - 1
    columns = []
    for i in range(last + 1):
        attended = [j for j in range(last) if i == last or claim.mask != C or j <= i]
        attended += [last] if i == last or claim.sees_query else []
        scores = [kernel(keys[:, j], queries[:, i]) for j in attended]
        columns.append(values[:, attended] @ scores / sum(scores))
    return np.array(columns, dtype=object).T


def one_layer(stacked: Stack, weights: tuple[Any, Any, Any], H: Any) -> Layer:
    """Values and features of one layer, the demonstrations' queries as ``R``."""
    queries, keys, values = (W @ H for W in weights)
    Phi, p_all = features(keys), features(queries)
    return {
        "V_D": values[:, :-1],
        "v_q": values[:, -1:],
        "V_T": values[:, :0],
        "Phi_D": Phi[:, :-1],
        "phi_k": Phi[:, -1:],
        "p": p_all[:, -1:],
        "R": p_all[:, :-1],
        "eta": stacked.eta,
        "N": len(Phi.T) - 1,
        "d_o": len(values),
        "d_r": len(Phi),
    }


def duals(claim: Claim, layer: Layer) -> Any:
    """All tokens after one layer: the dual model's prediction, and Eq. (25)."""
    layer = layer | {"D": compiled(claim.normaliser)(layer)}
    initial = compiled(claim.init)(layer)
    trained = step_taken(claim, layer | {"W": initial})
    known = layer | {"W0": initial, "What": np.reshape(trained, initial.shape)}
    columns = []
    for i in range(layer["R"].shape[1]):
        one = known | {"r": layer["R"][:, [i]]}
        one |= {"D_i": compiled(claim.demo_normaliser)(one)}
        columns.append(compiled(claim.demo)(one)[:, 0])
    columns.append(np.array(prediction(claim, layer), dtype=object))
    return np.array(columns, dtype=object).T


def pairs(claim: Claim, stacked: Stack) -> Iterator[tuple[Layer, Any, Any]]:
    """Layer by layer: its numbers, the literal output, and that of the duals.

    The duals are fed with their own outputs; up to the first difference these are the
    layer's.
    """
    H = ours = stacked.tokens
    for weights in stacked.weights:
        layer = one_layer(stacked, weights, ours)
        ours, H = duals(claim, layer), literal(claim, weights, H)
        yield layer, H, ours


def differs(claim: Claim, stacked: Stack) -> bool:
    """Whether any token of the last layer differs."""
    *_, (_, theirs, ours) = pairs(claim, stacked)
    return bool(np.any(theirs != ours))


def witness(claim: Claim, stacked: Stack) -> dict[str, Any]:
    """Record the first layer at which a token differs."""
    query, demo = statements(claim)
    for layer, theirs, ours in pairs(claim, stacked):
        wrong = np.flatnonzero(np.any(theirs != ours, axis=0))
        if not wrong.size:
            continue
        i, n = int(wrong[0]), layer["V_D"].shape[1]
        if i == n:
            return query.witness(layer)
        mask = np.diag([Fraction(int(j <= i)) for j in range(n)])
        return demo.witness(layer | {"r": layer["R"][:, [i]], "C": mask})
    raise ValueError("no token differs")


def hunt(claim: Claim, search: Search) -> Outcome:
    """Hunt for a stack whose last layer differs from the last dual model."""
    sizes = st.integers(2, 3), st.integers(1, 3), st.integers(1, 2)
    return search.for_all(
        st.builds(stack, *sizes, drawn.SEEDS),
        lambda one: differs(claim, one),
        lambda one: witness(claim, one),
        searched=SEARCHED,
        pinned=PINNED,
        scale=0.1,
    )
