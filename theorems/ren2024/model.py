"""The attention layer and its dual model, as ren2024 defines them.

Symbols of symbolic size, the layer's output in kernel form (Eq. (19)), the dual model
after gradient steps (Eqs. (8), (17), (18)), and literal transcriptions for numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy import MatrixSymbol, OneMatrix, Symbol, symbols

from verify import Claim, symbolic

N, T, d_o, d_r = symbols("N T d_o d_r", positive=True, integer=True)
eta = Symbol("eta", positive=True)
D = Symbol("D", nonzero=True)

V_D, V_T = MatrixSymbol("V_D", d_o, N), MatrixSymbol("V_T", d_o, T)
Phi_D, Phi_T = MatrixSymbol("Phi_D", d_r, N), MatrixSymbol("Phi_T", d_r, T)
v_q, phi_k = MatrixSymbol("v_q", d_o, 1), MatrixSymbol("phi_k", d_r, 1)
p = MatrixSymbol("p", d_r, 1)
W = MatrixSymbol("W", d_o, d_r)

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Keys:
    """Which tokens the query attends to.

    Attributes:
        says: In words.
        demonstrations: Values and key features of the demonstrations.
        rest: Values and key features of the other keys.
    """

    says: str
    demonstrations: tuple[sp.MatrixExpr, sp.MatrixExpr]
    rest: tuple[tuple[sp.MatrixExpr, sp.MatrixExpr], ...]

    def __str__(self) -> str:
        return self.says

    @property
    def blocks(self) -> tuple[tuple[sp.MatrixExpr, sp.MatrixExpr], ...]:
        """All keys: pairs of values and key features."""
        return (self.demonstrations, *self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays that describe a layer with these keys."""
        return (*(m.name for block in self.blocks for m in block), p.name)


WITHOUT_QUERY = Keys(
    "keys: demonstrations and query tokens, the query itself excluded",
    (V_D, Phi_D),
    ((V_T, Phi_T),),
)
WITH_QUERY = Keys(
    "keys: demonstrations, query tokens and the query itself",
    (V_D, Phi_D),
    ((V_T, Phi_T), (v_q, phi_k)),
)


def kernel_sum(features: sp.MatrixExpr, query: sp.MatrixExpr = p) -> sp.Expr:
    """The sum of kernel values of a block of keys with a query, ``1ᵀ Φᵀ φ(q)``."""
    return (OneMatrix(1, features.shape[1]) * features.T * query)[0, 0]


@lru_cache(maxsize=8)
def attention(keys: Keys) -> sp.MatrixExpr:
    """Softmax attention in kernel form: ``Σ V Φᵀ φ(q) / Σ 1ᵀ Φᵀ φ(q)``, Eq. (19)."""
    total = sum(kernel_sum(Phi) for _, Phi in keys.blocks)
    weighted = sp.MatAdd(*(V * Phi.T * p for V, Phi in keys.blocks))
    return weighted / total


def dual_weights(claim: Claim) -> sp.MatrixExpr:
    """The dual model's weights after the claim's gradient steps, from its own loss.

    Args:
        claim: With parameters ``loss``, ``init``, ``steps`` and ``step_length`` (the
            learning rate in units of ``eta``).

    Returns:
        ``Ŵ`` of Eq. (17), with ``D`` still a symbol.
    """
    return _trained(claim.loss, claim.init, int(claim.steps), claim.step_length)


@lru_cache(maxsize=128)
def _trained(
    loss: sp.Expr, init: sp.MatrixExpr, steps: int, step_length: sp.Expr
) -> sp.MatrixExpr:
    slope = symbolic.gradient(loss, W)
    weights = init
    for _ in range(steps):
        weights -= step_length * eta * slope.subs(W, weights)
    return weights


def sides(claim: Claim) -> tuple[sp.MatrixExpr, sp.MatrixExpr]:
    """Both sides of the theorem: the dual model's prediction and the attention."""
    prediction = (dual_weights(claim) * p).xreplace({D: claim.normaliser})
    return prediction, attention(claim.domain)


def softmax_as_stated(V: Any, scores: Any, power: Any) -> Any:
    """Softmax attention of one query, literally as in Eq. (1).

    Args:
        V: Values, ``d_o`` rows of ``n`` entries.
        scores: ``n`` scores ``kᵀq``.
        power: The exponential, or any positive function of a score.

    Returns:
        ``d_o`` entries ``Σ_j v_j power(s_j) / Σ_j power(s_j)``.
    """
    weights = [power(score) for score in scores]
    total = sum(weights)
    return [sum(v * w for v, w in zip(row, weights, strict=True)) / total for row in V]
