"""Random layers in floating point, in batches, with bounds on their rounding errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from verify import symbolic
from verify.numerics import gamma
from verify.train.attention import (
    RESIDUAL_BOUND,
    gram_features,
    kernel_attention,
    positive_random_features,
    softmax_attention,
)
from verify.train.determinism import generator

Arrays = dict[str, Any]

READINGS = ("keys-without-query", "keys-with-query")
BLOCKS = {
    "keys-without-query": (("V_D", "Phi_D"), ("V_T", "Phi_T")),
    "keys-with-query": (("V_D", "Phi_D"), ("V_T", "Phi_T"), ("v_q", "phi_k")),
}
ROUNDING = (
    "γ_m (Σ|v_i|A_i + Σ A_i Σ|v_i|a_i)/D with A_i = |φ_i|ᵀ|p| and "
    "m = 4(N + T + 1 + d_r) + 24, and the error of the features as a kernel"
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Random layers of one shape.

    Attributes:
        arrays: By name, each with a leading axis of instances.
        attention: By reading, ``(instances, d_o, 1)``.
        tolerance: Bound on the distance of dual prediction and attention, by reading,
            ``(instances,)``, float64.
        usable: By reason for which an instance is discarded, whether it is not,
            ``(instances,)``, bool.
    """

    arrays: Arrays
    attention: dict[str, Tensor]
    tolerance: dict[str, Tensor]
    usable: dict[str, Tensor]

    @property
    def judged(self) -> Tensor:
        """Instances that no reason discards, ``(instances,)``, bool."""
        return torch.stack([*self.usable.values()]).all(dim=0)


@dataclass(frozen=True, eq=False)
class Batches:
    """All batches of a check.

    Attributes:
        batches: One per shape, precision and feature map.
        discards: Instances not judged, by reason.
        says: What was drawn, in words.
    """

    batches: tuple[Batch, ...]
    discards: dict[str, int]
    says: str


def joined(reading: str, arrays: Arrays, which: int) -> Tensor:
    """All values (``which = 0``) or all features (1) of the keys of a reading."""
    return torch.cat([arrays[block[which]] for block in BLOCKS[reading]], dim=-1)


def rounding_bound(
    reading: str,
    arrays: Arrays,
    *,
    exponents: Tensor | float = 0.0,
    residual: Tensor | float = 0.0,
) -> Tensor:
    """Bound the distance between computed dual prediction and computed attention.

    On either side the longest path has an inner sum over at most ``n = N + T + 1``
    tokens, an inner product over ``d_r`` features, the normaliser (both again) and
    fewer than 12 further operations, ``m = 4 (n + d_r) + 24`` for both sides together.
    With ``A_i = |φ_i|ᵀ|p|`` and attention weights ``a``, the numerator errs by at most
    ``γ_m Σ |v_i| A_i / D`` and the normaliser by ``γ_m Σ A_i / D`` relatively; for
    positive features ``A_i = a_i D``, but features from a Gram matrix have signs and
    cancel. Where softmax is computed from scores and the features from a Gram matrix,
    each exponent carries an absolute error (``exponents``), which changes every weight
    by that relative amount, once in the numerator and once in the normaliser; the
    features reproduce each kernel value to ``residual`` times the largest of all keys,
    which is ``r`` times the largest of the keys that the reading attends to and adds
    ``r Σ |v_i|`` in the numerator and ``n r Σ |v_i| a_i`` by the normaliser.

    Args:
        reading: Name of the reading.
        arrays: Values, features and ``p``; their dtype sets the unit roundoff.
        exponents: Absolute error of the exponents, ``(instances,)``.
        residual: Relative error of the kernel, ``(instances,)``.

    Returns:
        Bound on the Euclidean distance, ``(instances,)``, float64.
    """
    dtype = str(arrays["p"].dtype).removeprefix("torch.")
    V, Phi = (joined(reading, arrays, which).double() for which in (0, 1))
    kernel = Phi.mT @ arrays["p"].double()
    own = arrays["phi_k"].double().mT @ arrays["p"].double()
    largest = kernel.amax(dim=(-2, -1))
    residual = residual * torch.maximum(largest, own[..., 0, 0]) / largest
    total = kernel.sum(dim=-2, keepdim=True)
    absolute = Phi.abs().mT @ arrays["p"].double().abs() / total
    size = (V.abs() @ (kernel.abs() / total)).norm(dim=(-2, -1))
    numerator = (V.abs() @ absolute).norm(dim=(-2, -1))
    normaliser = absolute.sum(dim=(-2, -1))
    values = V.abs().sum(dim=-1).norm(dim=-1)
    n = V.shape[-1]
    rounding = gamma(4 * (n + 1 + Phi.shape[-2]) + 24, dtype)
    return (
        rounding * (numerator + normaliser * size)
        + (2 * exponents + n * residual) * size
        + residual * values
    )


def exponent_error(points: Tensor) -> Tensor:
    """Bound the absolute rounding errors of scores and of log-kernels together.

    Scores ``kᵀq``, half squared norms and half squared distances are sums of ``d``
    products, each below ``2 R²`` with ``R`` the largest norm; four of them meet.

    Args:
        points: Keys and query, ``(instances, d, n)``, float64.

    Returns:
        Shape ``(instances,)``.
    """
    largest = points.square().sum(dim=-2).amax(dim=-1)
    return 4 * gamma(points.shape[-2] + 8) * (2 * largest + 1)


def gram_arrays(
    V: Arrays, K: Arrays, q: Tensor, *, strict: bool = True
) -> tuple[Arrays, Tensor, Tensor]:
    """Exact softmax features of the keys and the query at hand.

    Args:
        V: ``V_D, V_T, v_q``.
        K: Keys as ``Phi_D, Phi_T, phi_k``.
        q: Query, ``(instances, d, 1)``.
        strict: Fail when the features do not reproduce the kernel; otherwise look at
            the residual.

    Returns:
        Values and features by name, the error of the exponents, and the residual of
        the kernel.
    """
    points = torch.cat([*K.values(), q], dim=-1)
    gram = gram_features(points, strict=strict)
    sizes = [key.shape[-1] for key in K.values()]
    *keys, query = gram.features.split([*sizes, 1], dim=-1)
    arrays = V | dict(zip(K, keys, strict=True)) | {"p": query}
    return arrays, exponent_error(points), gram.residual


def random_batches(instances: int, seed: int) -> Batches:
    """Draw batches over shapes, norms, learning rates, precisions and feature maps.

    Args:
        instances: How many layers in all.
        seed: Of all draws.

    Returns:
        The batches; layers whose kernel values all underflow are counted as discards.
    """
    per_batch = 25
    batches = []
    for index in range(max(4, instances // per_batch)):
        draws = generator(seed, "batch", index)
        kind = ("random features", "random features", "exact features")[index % 3]
        dtype = torch.float32 if index % 3 == 0 else torch.float64
        batches.append(_batch(draws, per_batch, kind, dtype))
    discards: Counter[str] = Counter()
    for batch in batches:
        usable = torch.ones(per_batch, dtype=torch.bool)
        for reason, kept in batch.usable.items():  # each instance counts once
            discards[reason] += int((usable & ~kept).sum())
            usable &= kept
    return Batches(
        tuple(batches),
        dict(+discards),
        "N ≤ 64, T ≤ 8, d ≤ 16, d_r ≤ 256, with and without 1/√d; a third each: "
        "float32 and float64 with random features, token norms 0.1 to 16, and float64 "
        "with exact softmax features, token norms 0.1 to 4 (η cancels in the proof)",
    )


def _batch(draws: torch.Generator, count: int, kind: str, dtype: torch.dtype) -> Batch:
    def integer(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=draws))

    def normal(*shape: int) -> Tensor:
        return torch.randn(count, *shape, generator=draws, dtype=torch.float64)

    n, t, d, d_o = integer(1, 64), integer(0, 8), integer(1, 16), integer(1, 8)
    # Exact features of far tokens leave the range of float64.
    decades = 1.6 if kind == "exact features" else 2.2
    norm = 10 ** (-1 + decades * torch.rand(count, 1, 1, generator=draws).double())
    norm = norm / d**0.5 * (d**-0.25 if integer(0, 1) else 1.0)
    V = {"V_D": normal(d_o, n), "V_T": normal(d_o, t), "v_q": normal(d_o, 1)}
    K = {"Phi_D": normal(d, n), "Phi_T": normal(d, t), "phi_k": normal(d, 1)}
    K = {name: norm * key for name, key in K.items()}
    q = norm * normal(d, 1)
    eta = 10 ** (-4 + 7 * torch.rand(count, generator=draws).double())
    if kind == "exact features":
        arrays, exponents, residual = gram_arrays(V, K, q, strict=False)
        error: Arrays = {"exponents": exponents, "residual": residual}
        judged = residual <= RESIDUAL_BOUND
    else:
        arrays, error = _random_features(V, K, q, normal(integer(16, 256), d)), {}
        judged = torch.ones(count, dtype=torch.bool)
    arrays = {name: x.to(dtype) for name, x in (arrays | {"eta": eta}).items()}
    attention, tolerance = {}, {}
    for reading in READINGS:
        values, features = (joined(reading, arrays, which) for which in (0, 1))
        keys = joined(reading, V | K, 1)
        attention[reading] = (
            softmax_attention(values, keys, q)
            if kind == "exact features"
            else kernel_attention(values, features, arrays["p"])
        )
        tolerance[reading] = rounding_bound(reading, arrays, **error)
    kernel = joined(READINGS[0], arrays, 1).mT @ arrays["p"]
    tiny = torch.finfo(dtype).tiny / torch.finfo(dtype).eps
    usable = {
        "all kernel values underflow": kernel.amax(dim=(-2, -1)) > tiny,
        "float64 has no exact softmax features": judged,
    }
    return Batch(arrays, attention, tolerance, usable)


def _random_features(V: Arrays, K: Arrays, q: Tensor, directions: Tensor) -> Arrays:
    keys = positive_random_features(torch.cat([*K.values()], dim=-1), directions)
    parts = keys.split([key.shape[-1] for key in K.values()], dim=-1)
    features = dict(zip(K, parts, strict=True))
    return V | features | {"p": positive_random_features(q, directions)}


def errors(
    prediction: Any, batches: Batches, reading: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances between a prediction and attention, over all judged layers.

    Args:
        prediction: Expression of the dual model's prediction, evaluated as proved.
        batches: Random layers.
        reading: Name of the reading.

    Returns:
        Distances, their bounds, and the number of demonstrations of each layer.
    """
    predict = symbolic.Compiled(prediction, "torch")
    found, allowed, sizes = [], [], []
    for batch in batches.batches:
        value = predict(batch.arrays)
        error = (value - batch.attention[reading]).double().norm(dim=(-2, -1))
        judged = batch.judged
        found.append(error.expand(judged.shape)[judged])
        allowed.append(batch.tolerance[reading][judged])
        sizes += [batch.arrays["V_D"].shape[-1]] * int(judged.sum())
    return torch.cat(found).numpy(), torch.cat(allowed).numpy(), np.array(sizes)
