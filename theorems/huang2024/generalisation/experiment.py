"""The experiment of Figure 2 on many random datasets, and what its plots show.

|V| = d = 20, T = t = 900, eta_0 = 0.2/sqrt(d), eta = 0.05/sqrt(d) are the text's. How
datasets are drawn is not said: two densities are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theorems.huang2024.data.generate import random_datasets
from verify import Cause, Figure, Holds, Inconclusive, Outcome, Refuted, Series
from verify.fit.intervals import mean_interval, mean_is

if TYPE_CHECKING:
    from theorems.huang2024.dynamics.engine import Track

SIZE = 20
STEPS = 900
ETA_0 = 0.2 / math.sqrt(SIZE)
ETA = 0.05 / math.sqrt(SIZE)
DELTA = STEPS * ETA_0 / math.sqrt(SIZE - 1)  # ||W*_ov|| = sqrt(|V| - 1)
LEAST = math.log1p((SIZE - 1) * math.exp(-DELTA))  # L_min
TIMES = (0, 1, 3, 10, 30, 100, 200, 300, 450, 600, 750, 900)
DENSE, SPARSE = "dense", "sparse"
SHAPES: dict[str, dict[str, Any]] = {
    DENSE: {"per_query": 4, "max_length": 11},
    SPARSE: {"per_query": 1, "max_length": 4},
}

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """What the plots show, one row per dataset; columns are ``TIMES``.

    Attributes:
        loss: Loss over its least value.
        cosine: With the max-margin solution; NaN at 0.
        other: With the first step; NaN at 0.
        norm: Of the weights.
    """

    loss: Floats
    cosine: Floats
    other: Floats
    norm: Floats


def stage_2(seed: int, count: int, density: str) -> Curves:
    """Train the attention layers of random datasets."""
    from theorems.huang2024.dynamics.engine import run

    datasets = random_datasets(seed, count, size=SIZE, queries=SIZE, **SHAPES[density])
    tracks = run(datasets, delta=DELTA, eta=ETA, at=TIMES)
    return Curves(
        np.array([1 + track.excess / LEAST for track in tracks]),
        np.array([1 - track.gap for track in tracks]),
        np.array([_with_first_step(track) for track in tracks]),
        np.array([track.norm for track in tracks]),
    )


def _with_first_step(track: Track) -> Floats:
    with np.errstate(invalid="ignore"):
        return track.weights @ track.descent[0] / track.norm


def stage_1(seed: int, count: int) -> Curves:
    """Train feed-forward layers for random permutations n, by automatic gradients."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    n = torch.stack([torch.randperm(SIZE, generator=generator) for _ in range(count)])
    target = torch.nn.functional.one_hot(n, SIZE).double().mT  # (runs, next, token)
    solution = target - 1 / SIZE
    W = torch.zeros_like(target)
    found: list[list[Floats]] = []
    first = torch.zeros_like(target)
    for t in range(STEPS + 1):
        W.requires_grad_()
        loss = (torch.logsumexp(W, 1) - (W * target).sum(1)).sum(1)
        (gradient,) = torch.autograd.grad(loss.sum(), W)
        W = W.detach()
        first = -gradient if t == 0 else first
        if t in TIMES:
            values = loss.detach(), _cosine(W, solution), _cosine(W, first), _norm(W)
            found.append([value.flatten().numpy() for value in values])
        W = W - ETA_0 * gradient / _norm(gradient)
    loss, *rest = np.array(found).transpose(1, 2, 0)
    return Curves(loss, *rest)


def _norm(W: Any) -> Any:
    return W.flatten(1).norm(dim=1)[:, None, None]


def _cosine(a: Any, b: Any) -> Any:
    return (a * b).flatten(1).sum(1)[:, None, None] / (_norm(a) * _norm(b))


def exponents(curves: Curves) -> Floats:
    """Log-log slope of the norm over the second half of training, per dataset."""
    half = TIMES.index(STEPS // 2)
    return np.log2(curves.norm[:, -1] / curves.norm[:, half])


# -------------------------------------------------------------------------- decisions


@dataclass(frozen=True)
class Band:
    """A range that the mean of one statistic over datasets should lie in."""

    says: str
    values: Floats
    low: float
    high: float


def within(bands: Sequence[Band], level: float, **evidence: Any) -> Outcome:
    """Decide whether all means lie in their ranges, at once with probability 1 - level.

    Args:
        bands: Statistics, one number per dataset.
        level: Error probability of the whole decision, shared out evenly.
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS if every interval lies inside its range, REFUTED if one lies wholly
        outside, INCONCLUSIVE otherwise.
    """
    found = [(band, mean_interval(band.values, level / len(bands))) for band in bands]
    common: dict[str, Any] = {
        "n": sum(len(band.values) for band in bands),
        "level": level,
        **evidence,
    }
    for band, interval in found:
        far = {"<": interval.high < band.low, ">": interval.low > band.high}
        for sign, outside in far.items():
            if outside:
                bound = band.low if sign == "<" else band.high
                beyond = band.values - bound
                says = f"{band.says} over {bound:.6g}"
                there = mean_interval(beyond, level / len(bands))
                witness = mean_is(sign, beyond, there, says)
                reason = f"{band.says} is {interval.mean:.4g} ± {interval.error:.2g}"
                return Refuted(reason, witness=witness, **common)
    inside = [b.low <= i.low and i.high <= b.high for b, i in found]
    said = "; ".join(f"{b.says} {i.mean:.4g} ± {i.error:.2g}" for b, i in found)
    if all(inside):
        return Holds(said, **common)
    return Inconclusive(f"intervals reach out: {said}", cause=Cause.BUDGET, **common)


# ---------------------------------------------------------------------------- figures


def figures(curves: dict[str, Curves]) -> tuple[Figure, ...]:
    """Loss, direction and norm along stage 2, with bands over datasets."""
    times = np.array(TIMES[1:])
    norms = {name: c.norm[:, 1:] / (times * ETA) for name, c in curves.items()}
    cosines = {name: c.cosine[:, 1:] for name, c in curves.items()}
    others = {
        f"{name}, with the first step": c.other[:, 1:] for name, c in curves.items()
    }
    losses = {name: c.loss[:, 1:] for name, c in curves.items()}
    least = "The shaded range holds 90 % of the datasets"
    return (
        _figure("loss", "loss / least loss", losses, f"{least}; the least value is 1."),
        _figure(
            "direction",
            "cosine with W*",
            cosines | others,
            f"{least}. The first step is the other direction to compare with.",
        ),
        _figure("norm", "‖W‖ / (tη)", norms, f"{least}; a constant is linear growth."),
    )


def _figure(name: str, label: str, rows: dict[str, Floats], caption: str) -> Figure:
    series = []
    for kind, values in rows.items():
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], axis=0).tolist()
        series.append(Series(kind, list(TIMES[1:]), middle, low, high))
    return Figure(
        name=name,
        title=f"Stage 2: {label}",
        x_label="t",
        y_label=label,
        series=tuple(series),
        y_log=name == "loss",
        caption=caption,
    )
