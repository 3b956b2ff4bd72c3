"""Softmax attention, kernel attention, and the feature maps that connect them.

Columns are tokens, as in ren2024: ``V`` is ``(..., d_o, n)``, ``K`` is
``(..., d, n)``, a query is ``(..., d, 1)``, features are ``(..., d_r, n)``.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

JITTERS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12)
# The last rung changes a unit diagonal by 1e-12; ten times that also covers the
# rounding of the factorisation for up to ~10^3 tokens (n * eps = 2e-13).
RESIDUAL_BOUND = 10 * JITTERS[-1]
# Half-norms further apart than this leave the range of float64 (log tiny = -708).
_SPAN = 700.0


def product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices as ``a @ b``, cheaply where both have one leading axis.

    ``torch.matmul`` wraps the batched product in views that autograd undoes one by
    one: a third of a gradient step of 32 small runs (torch 2.13, CPU).

    Args:
        a: ``(..., m, k)``.
        b: ``(..., k, n)``.

    Returns:
        Shape ``(..., m, n)``.
    """
    if a.ndim == b.ndim == 3 and len(a) == len(b):
        return torch.bmm(a, b)
    return torch.matmul(a, b)


def softmax_attention(V: Tensor, K: Tensor, q: Tensor, scale: float = 1.0) -> Tensor:
    """Attend to ``n`` tokens: ``V softmax(scale · Kᵀ q)`` (ren2024, Eq. (1)).

    ``torch.softmax`` subtracts the largest score first, so large scores are safe.

    Args:
        V: Values, ``(..., d_o, n)``.
        K: Keys, ``(..., d, n)``.
        q: Query, ``(..., d, 1)``.
        scale: Factor of the scores; Eq. (1) has ``d_o ** -0.5``, Eq. (7) drops it.

    Returns:
        Shape ``(..., d_o, 1)``.
    """
    return product(V, torch.softmax(scale * product(K.mT, q), dim=-2))


def kernel_attention(V: Tensor, phi_K: Tensor, phi_q: Tensor) -> Tensor:
    """Attend through features: ``V φ(K)ᵀφ(q) / 1ᵀφ(K)ᵀφ(q)`` (ren2024, Eq. (19)).

    A positive factor common to all columns of ``phi_K``, or to ``phi_q``, cancels.

    Args:
        V: Values, ``(..., d_o, n)``.
        phi_K: Features of the keys, ``(..., d_r, n)``.
        phi_q: Features of the query, ``(..., d_r, 1)``.

    Returns:
        Shape ``(..., d_o, 1)``.
    """
    weights = product(phi_K.mT, phi_q)
    return product(V, weights) / weights.sum(dim=-2, keepdim=True)


def positive_random_features(
    x: Tensor, directions: Tensor, shift: Tensor | float | None = None
) -> Tensor:
    """Map tokens to ``exp(wᵀx − ‖x‖²/2 − shift) / √d_r`` (Choromanski et al., 2020).

    With ``w ~ N(0, I)`` and ``shift = 0`` the product ``φ(x)ᵀφ(y)`` is unbiased for
    ``exp(xᵀy)``. By default one shift per batch element, its largest exponent, is
    common to all tokens of ``x``: calling once with all keys and once with the
    query gives two factors that cancel in :func:`kernel_attention`, and large norms
    do not underflow. A shift per key would not cancel.

    Args:
        x: Tokens, ``(..., d, n)``.
        directions: Directions ``w`` as rows, ``(..., d_r, d)``.
        shift: Subtracted from every exponent, broadcastable to ``(..., 1, 1)``.

    Returns:
        Shape ``(..., d_r, n)``.
    """
    exponents = directions @ x - x.square().sum(dim=-2, keepdim=True) / 2
    if shift is None:
        shift = exponents.amax(dim=(-2, -1), keepdim=True)
    return torch.exp(exponents - shift) / math.sqrt(directions.shape[-2])


@dataclass(frozen=True, eq=False)
class GramMap:
    """Features that reproduce the softmax kernel on the given points, with a record.

    Attributes:
        features: ``(..., n, n)``, column ``j`` for point ``j``, with
            ``featuresᵀ features = exp(pointsᵀ points − log_scale)``.
        log_scale: ``(..., 1, 1)``, the largest ``‖x‖²``; one factor for all points.
        jitter: ``(...)``, what was added to the unit diagonal before the Cholesky
            factorisation; NaN where the eigendecomposition was used instead.
        residual: ``(...)``, over the queries the larger of two relative errors: of
            the kernel with itself, and of the kernel with any other point over the
            largest such kernel. It bounds the relative error of an attention weight.
    """

    features: Tensor
    log_scale: Tensor
    jitter: Tensor
    residual: Tensor


def gram_features(
    points: Tensor,
    *,
    queries: int = 1,
    bound: float = RESIDUAL_BOUND,
    strict: bool = True,
) -> GramMap:
    """Build an exact finite feature map of ``exp(xᵀy)`` on the given points.

    ``exp(xᵀy) = exp((‖x‖² + ‖y‖²)/2) exp(−‖x−y‖²/2)`` (ren2024, §3.1): the Gaussian
    Gram matrix has a unit diagonal and is factored by Cholesky, the norms are put
    back in logarithms. Where Cholesky fails, the diagonal gets the next jitter of
    ``JITTERS``; where all fail, eigenvectors are used. Queries must come last: row
    ``j`` of the Cholesky factor is solved for the kernels with the rows above it,
    which keeps even tiny ones to rounding.

    Args:
        points: Keys, then queries, ``(..., d, n)``, float64.
        queries: How many trailing points the residual is taken over.
        bound: Largest residual accepted.
        strict: Raise when a residual exceeds ``bound`` or a factor underflows;
            otherwise the best features found are returned, and the caller looks at
            the residual, infinite where a factor underflows.

    Returns:
        Features and how they were obtained, per batch element.

    Raises:
        ValueError: If ``points`` is not float64, not finite, or has norms so far
            apart that a factor underflows; if ``queries`` or ``bound`` is out of
            range; if a residual exceeds ``bound``.
    """
    _check(points, queries, bound)
    half_norms = points.square().sum(dim=-2) / 2
    differences = points.unsqueeze(-1) - points.unsqueeze(-2)
    exponents = -differences.square().sum(dim=-3) / 2
    top = half_norms.amax(dim=-1, keepdim=True)
    far = (top - half_norms > _SPAN).any(dim=-1)
    if strict and bool(far.any()):
        raise ValueError(
            f"`points` has ‖x‖²/2 more than {_SPAN} apart within one batch element: "
            "one common factor cannot hold them in float64; scale the points down"
        )
    factor, jitter, residual = _factor(exponents, half_norms, queries, bound)
    residual = residual.masked_fill(far, math.inf)  # features underflow
    if strict and not bool((residual <= bound).all()):
        raise ValueError(
            f"`points` has a Gram residual of {float(residual.max()):.2e} > `bound` = "
            f"{bound:.2e}: the queries lie too far from all other points for float64, "
            "or the points nearly coincide; scale the points down or raise `bound`"
        )
    features = factor.mT * torch.exp(half_norms - top).unsqueeze(-2)
    return GramMap(features, 2 * top.unsqueeze(-1), jitter, residual)


def _check(points: Tensor, queries: int, bound: float) -> None:
    if points.dtype != torch.float64 or not bool(points.isfinite().all()):
        raise ValueError(f"`points` must be finite float64, got {points.dtype}")
    if not 1 <= queries <= points.shape[-1]:
        raise ValueError(
            f"`queries` must lie in 1..{points.shape[-1]}, the points; got {queries}"
        )
    if not 0 <= bound < math.inf:
        raise ValueError(f"`bound` must be finite and >= 0, got {bound}")


def _factor(
    exponents: Tensor, half_norms: Tensor, queries: int, bound: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Factor ``exp(exponents)`` per batch element by the first method that holds."""
    gram = torch.exp(exponents)
    factor = torch.zeros_like(gram)
    jitter = torch.full_like(gram[..., 0, 0], math.nan)
    residual = torch.full_like(jitter, math.inf)
    eye = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    for rung in (*JITTERS, math.nan):
        if math.isnan(rung):
            values, vectors = torch.linalg.eigh(gram)
            attempt = vectors * values.clamp_min(0).sqrt().unsqueeze(-2)
            error = _residual(attempt, exponents, half_norms, queries)
        else:
            attempt, info = torch.linalg.cholesky_ex(gram + rung * eye)
            error = _residual(attempt, exponents, half_norms, queries)
            error = error.masked_fill(info != 0, math.inf)
        better = (residual > bound) & (error < residual)
        factor = torch.where(better[..., None, None], attempt, factor)
        jitter = torch.where(better, rung, jitter)
        residual = torch.where(better, error, residual)
        if bool((residual <= bound).all()):
            break
    return factor, jitter, residual


def _residual(
    factor: Tensor, exponents: Tensor, half_norms: Tensor, queries: int
) -> Tensor:
    """Measure the error of ``factor factorᵀ`` as :class:`GramMap` defines it."""
    n = factor.shape[-1]
    error = (factor @ factor.mT - torch.exp(exponents)).abs()[..., -queries:]
    own = torch.eye(n, dtype=torch.bool, device=factor.device)[:, -queries:]
    kernels = (exponents + half_norms.unsqueeze(-1))[..., -queries:]
    largest = kernels.masked_fill(own, -math.inf).amax(dim=-2, keepdim=True)
    # `tiny` stands for what underflowed in the Gram matrix itself.
    logs = torch.log(error + torch.finfo(error.dtype).tiny)
    other = torch.exp(logs + half_norms.unsqueeze(-1) - largest)
    return torch.where(own, error, other).amax(dim=(-2, -1))
