"""What is watched while matrices grow in a direction: norms and angles per run."""

import torch
from torch import Tensor


def frobenius(parameter: Tensor) -> Tensor:
    """Compute the Frobenius norm of each run's parameter.

    Args:
        parameter: ``(runs, ...)``.

    Returns:
        Shape ``(runs,)``.
    """
    norms: Tensor = torch.linalg.vector_norm(parameter.flatten(1), dim=1)
    return norms


def angle(parameter: Tensor, direction: Tensor) -> Tensor:
    """Compute the angle to a direction, accurate also near 0 (Kahan's formula).

    ``1 − cos`` is ``2 sin²(angle / 2)``, without the cancellation.

    Args:
        parameter: ``(runs, ...)``.
        direction: ``(runs, ...)`` of the same shape, of any length.

    Returns:
        Radians in ``[0, π]``, ``(runs,)``; NaN where either is 0.

    Raises:
        ValueError: If the shapes differ.
    """
    if direction.shape != parameter.shape:
        raise ValueError(
            "`direction` must have the shape of `parameter`, "
            f"{tuple(parameter.shape)}, got {tuple(direction.shape)}; expand it"
        )
    u, v = (p.flatten(1) / frobenius(p)[:, None] for p in (parameter, direction))
    return 2 * torch.atan2(frobenius(u - v), frobenius(u + v))


def correlation(parameter: Tensor, direction: Tensor) -> Tensor:
    """Compute the cosine of :func:`angle`.

    Args:
        parameter: ``(runs, ...)``.
        direction: ``(runs, ...)`` of the same shape, of any length.

    Returns:
        Shape ``(runs,)``, in ``[-1, 1]``; NaN where either is 0.
    """
    return torch.cos(angle(parameter, direction))
