"""Dual models trained by autograd on each modification's own loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from theorems.ren2024.duals.notation import A_q, alpha, beta
from theorems.ren2024.duals.sides import blocks
from verify import Claim, Outcome
from verify.numerics import Tolerance, gamma, within
from verify.symbolic import Compiled
from verify.train.attention import positive_random_features
from verify.train.determinism import generator

Arrays = dict[str, Any]
PER_SHAPE = 25
SEARCHED = (
    "N ≤ 24, T ≤ 4, d ≤ 8, d_r ≤ 64, η from 1e-3 to 1e3, |α|, |β| ≤ 3, |N(i)| from 1 "
    "to N, g_1 and g_2 two-layer ReLU networks, positive random features"
)
ROUNDING = "γ_m Σ v̄_i a_i with m = 4(N + T + 1 + d_r) + 2N + 40, absolute values v̄"


@dataclass(frozen=True, eq=False)
class Layers:
    """Random layers in float64, one batch per shape."""

    batches: tuple[Arrays, ...]


def random_layers(instances: int, seed: int) -> Layers:
    """Draw layers over shapes, learning rates and modifications.

    Args:
        instances: How many in all.
        seed: Of all draws.

    Returns:
        Batches of 25 layers of one shape.
    """
    shapes = range(max(4, instances // PER_SHAPE))
    return Layers(tuple(_batch(generator(seed, "layers", k)) for k in shapes))


def _batch(draws: torch.Generator) -> Arrays:
    def integer(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=draws))

    def normal(*shape: int) -> Tensor:
        size = (PER_SHAPE, *shape)
        return torch.randn(size, generator=draws, dtype=torch.float64)

    n, t, d = integer(1, 24), integer(1, 4), integer(1, 8)
    d_o, d_r = integer(1, 4), integer(4, 64)
    scale = 10 ** (-1 + 1.3 * torch.rand(PER_SHAPE, 1, 1, generator=draws).double())
    V, K = normal(d_o, n + t + 1), scale / d**0.5 * normal(d, n + t + 2)
    gV, gK = _network(normal, V), _network(normal, K)
    directions = normal(d_r, d)
    parts = [n, t, 1, 1]
    arrays: Arrays = dict(
        zip(("V_D", "V_T", "v_q"), V.split(parts[:3], -1), strict=True)
    )
    arrays |= zip(("gV_D", "gV_T", "gv_q"), gV.split(parts[:3], -1), strict=True)
    for tokens, names in (
        (K, ("Phi_D", "Phi_T", "phi_k", "p")),
        (gK, ("Psi_D", "Psi_T", "psi_k", "psi_q")),
    ):
        features = positive_random_features(tokens, directions)
        arrays |= zip(names, features.split(parts, -1), strict=True)
    uniform = torch.rand(3, PER_SHAPE, generator=draws, dtype=torch.float64)
    arrays |= {
        "eta": 10 ** (-3 + 6 * uniform[0]),
        "alpha": 6 * uniform[1] - 3,
        "beta": 6 * uniform[2] - 3,
        "P": _negatives(draws, n),
    }
    return arrays | {"N": n, "T": t, "d_o": d_o, "d_r": d_r}


def _network(normal: Any, x: Tensor) -> Tensor:
    d = x.shape[-2]
    inner = normal(2 * d, d) @ x / d**0.5 + normal(2 * d, 1)
    return normal(d, 2 * d) @ inner.relu() / (2 * d) ** 0.5


def _negatives(draws: torch.Generator, n: int) -> Tensor:
    """Column i holds 1/|N(i)| on a random set that is not empty."""
    ranks = torch.rand(PER_SHAPE, n, n, generator=draws).argsort(-2).argsort(-2)
    sizes = torch.randint(1, n + 1, (PER_SHAPE, 1, n), generator=draws)
    return (ranks < sizes).double() / sizes


@lru_cache(maxsize=512)
def compiled(expr: sp.Basic) -> Compiled:
    """Compile for torch, once for all changes of a claim."""
    return Compiled(expr, "torch")


def trained(claim: Claim, arrays: Arrays) -> Tensor:
    """The dual model's prediction after the claim's steps, gradients by autograd."""
    normaliser = compiled(claim.normaliser)(arrays).expand(PER_SHAPE)
    fixed = arrays | {"D": normaliser}
    init = compiled(claim.init)(fixed)
    weights = init.expand(PER_SHAPE, *init.shape[-2:]).clone()
    rate = float(claim.step_length) * arrays["eta"][:, None, None]
    for _ in range(int(claim.steps)):
        weights.requires_grad_()
        loss = compiled(claim.loss)(fixed | {"W": weights}).sum()
        (step,) = torch.autograd.grad(loss, weights)
        weights = (weights - rate * step).detach()
    return weights @ arrays["p"]


def modified(claim: Claim, arrays: Arrays) -> tuple[Tensor, Tensor]:
    """The claim's layer by softmax weights, and a bound on both sides' rounding.

    Features, and hence kernels, are positive. A side is a sum of products of values,
    kernels and coefficients; computed, it errs by at most ``γ_k`` times the same sum of
    absolute values, ``k`` operations along the longest path, normaliser included. The
    coefficients are 1 - α and 1 - β P, of absolute value at most 1 + |α|, 1 + |β| P:
    the claim's own expressions at |V|, -|α|, -|β|. Paths: N in V_D P, N + T + 1 + d_r
    in numerator and normaliser of either side, and fewer than 40 others.

    Args:
        claim: A dual claim.
        arrays: A batch of layers.

    Returns:
        Output ``(instances, d_o, 1)`` and bound ``(instances,)``.
    """
    largest = {k: x.abs() for k, x in arrays.items() if torch.is_tensor(x)}
    largest |= {k: x for k, x in arrays.items() if not torch.is_tensor(x)}
    largest |= {name.name: -arrays[name.name].abs() for name in (alpha, beta)}
    parts = blocks(claim)
    query = arrays[claim.query.name]
    kernels = torch.cat([arrays[Phi.name].mT @ query for _, Phi in parts], dim=-2)
    weights = kernels / kernels.sum(dim=-2, keepdim=True)
    V, size = (
        torch.cat([compiled(values)(at) for values, _ in parts], dim=-1)
        for at in (arrays, largest)
    )
    output, bound = V @ weights, size.abs() @ weights
    if "removed" in claim.parameters:
        output, bound = _less_own(claim, arrays, weights[:, -1, 0], output, bound)
    n, d_r = arrays["N"], arrays["d_r"]
    operations = 4 * (weights.shape[-2] + d_r) + 2 * n + 40
    return output, gamma(operations) * bound.norm(dim=(-2, -1))


def _less_own(
    claim: Claim, arrays: Arrays, own: Tensor, output: Tensor, bound: Tensor
) -> tuple[Tensor, Tensor]:
    """Take the removed part of the query's own value off, and divide by the total."""
    known = arrays | {"own": own}
    symbol = sp.Symbol("own")
    removed, total = (
        compiled(claim.parameters[name].xreplace({A_q: symbol}))(known).expand(
            PER_SHAPE
        )
        for name in ("removed", "total")
    )
    # W_0 loses α A_q of the query's value, and gains back what A holds
    lost = (removed.abs() + (1 + arrays["alpha"].abs()) * own)[:, None, None]
    output = output - removed[:, None, None] * arrays["v_q"]
    bound = bound + lost * arrays["v_q"].abs()
    return output / total[:, None, None], bound / total.abs()[:, None, None]


def by_autograd(claim: Claim, layers: Layers, **evidence: Any) -> Outcome:
    """Decide a dual claim on random layers, gradients by autograd.

    Args:
        claim: A dual claim.
        layers: Random layers.
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS, or REFUTED with the worst layers.
    """
    errors: list[np.ndarray] = []
    allowed: list[np.ndarray] = []
    for arrays in layers.batches:
        output, bound = modified(claim, arrays)
        errors.append((trained(claim, arrays) - output).norm(dim=(-2, -1)).numpy())
        allowed.append(bound.numpy())
    return judged(errors, allowed, **evidence)


def judged(
    errors: Sequence[np.ndarray], allowed: Sequence[np.ndarray], **evidence: Any
) -> Outcome:
    """Compare errors with their bounds, batch by batch."""
    evidence = {"searched": SEARCHED} | evidence
    return within(
        np.concatenate(errors),
        Tolerance(np.concatenate(allowed), ROUNDING),
        says="trained dual model and layer differ beyond rounding",
        **evidence,
    )
