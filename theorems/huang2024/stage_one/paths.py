"""Stage 1 of Algorithm 1 in floating point: literal matrices, and margins by classes.

The literal path multiplies by random orthonormal embeddings and forms every softmax; it
is short. The other follows the margins of a few classes of equally weighted tokens, in
logarithms, so that sizes, weights and steps may be extreme.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verify.numerics import gamma

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats]


@dataclass(frozen=True)
class Classes:
    """Tokens by weight.

    Attributes:
        counts: Tokens of each class; together |V|.
        log_weights: Logarithm of the weight of each class, the largest 0.
        eta: Step size.
    """

    counts: tuple[int, ...]
    log_weights: tuple[float, ...]
    eta: float


def times(steps: int) -> list[int]:
    """Steps at which a path is observed: 0, 1, 2, then in ratios of about 1.4."""
    grid = np.unique(np.round(np.sqrt(2.0) ** np.arange(0, 2 * np.log2(steps + 1))))
    return [0, *(int(x) for x in grid if x < steps), steps]


def observe(settings: Sequence[Classes], steps: int) -> dict[str, Floats]:
    """Follow the margins of every setting and record what the claims speak of.

    Args:
        settings: One path each, all together in one array.
        steps: Number of steps.

    Returns:
        One row per setting and observed step.
    """
    width = max(len(one.counts) for one in settings)
    counts = np.array([_padded(one.counts, width, 0.0) for one in settings])
    logs = np.array([_padded(one.log_weights, width, -np.inf) for one in settings])
    eta = np.array([one.eta for one in settings])
    size = counts.sum(axis=1)
    step = eta * np.sqrt(size / (size - 1))
    log_rest = np.log(size - 1)[:, None]
    m, wanted, rows = np.zeros_like(counts), set(times(steps)), []
    for now in range(steps + 1):
        slope = logs - np.logaddexp(m, log_rest)
        slope = np.exp(slope - slope.max(axis=1, keepdims=True))
        length = np.sqrt((counts * slope**2).sum(axis=1))
        if now in wanted:
            rows.append(_row(counts, logs, eta, m, slope, length, now))
        m = m + (step / length)[:, None] * slope
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _padded(values: Sequence[float], width: int, filler: float) -> list[float]:
    return [*map(float, values), *[filler] * (width - len(values))]


def _row(
    counts: Floats,
    logs: Floats,
    eta: Floats,
    m: Floats,
    slope: Floats,
    length: Floats,
    now: int,
) -> dict[str, Floats]:
    """What is observed at one step; rounding grows with the number of steps."""
    size, there = counts.sum(axis=1), counts > 0
    least = np.where(there, logs, 0.0).min(axis=1)
    total, square = (counts * m).sum(axis=1), (counts * m**2).sum(axis=1)
    high = np.where(there, m, -np.inf).max(axis=1)
    pull = (counts * slope * m).sum(axis=1) / (counts * slope).sum(axis=1)
    return {
        "V": size,
        "eta_0": eta,
        "t": np.full_like(size, now),
        "log_rho": -least,
        "alignment": (counts * slope).sum(axis=1) / np.sqrt(size) / length,
        "norm": np.sqrt((1 - 1 / size) * square),
        "gap": _gap(counts, m, total, size),
        "low": np.where(there, m, np.inf).min(axis=1),
        "high": high,
        "pull": pull,  # ⟨∇L_0, W⟩ / ⟨∇L_0, W*⟩
        "log_loss": _log_loss(counts, logs, m, size),
        "slack": np.full_like(size, gamma((now + 1) * (4 * counts.shape[1] + 40))),
    }


def _gap(counts: Floats, m: Floats, total: Floats, size: Floats) -> Floats:
    """1 - cos(W, W*) from the variance of the margins: no cancellation."""
    mean = total / size
    spread = (counts * (m - mean[:, None]) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(total > 0, spread / (size * mean**2), 0.0)
    return ratio / (np.sqrt(1 + ratio) * (1 + np.sqrt(1 + ratio)))


def _log_loss(counts: Floats, logs: Floats, m: Floats, size: Floats) -> Floats:
    """Log Σ a_x log(1 + (|V|-1) e^{-m_x}), where e^{-m_x} may underflow."""
    exponent = np.log(size - 1)[:, None] - m
    small = exponent < -40  # log(1 + y) is y in double precision
    inner = np.log(np.log1p(np.exp(np.where(small, 0.0, exponent))))
    with np.errstate(divide="ignore"):
        parts = np.log(counts) + logs + np.where(small, exponent, inner)
    return np.logaddexp.reduce(parts, axis=1)


# ---------------------------------------------------------------- literal


@dataclass(frozen=True)
class Literal:
    """A setting of the literal path.

    Attributes:
        successor: The next-token map n.
        weights: Token weights.
        eta: Step size.
        embedding: Columns are the tokens, orthonormal, d x |V|.
    """

    successor: tuple[int, ...]
    weights: tuple[float, ...]
    eta: float
    embedding: Floats


def draw(rng: np.random.Generator, *, equal: bool) -> Literal:
    """Draw a size, a map, weights, a step size and embeddings."""
    size = int(rng.integers(2, 8))
    width = size + int(rng.integers(0, 3))
    basis, _ = np.linalg.qr(rng.normal(size=(width, width)))
    weights = np.ones(size) if equal else np.exp(3.0 * rng.normal(size=size))
    return Literal(
        tuple(map(int, rng.integers(0, size, size))),
        tuple(weights / weights.max()),
        float(np.sqrt(size - 1) / 2 * rng.uniform(0.05, 1.0)),
        basis[:, :size],
    )


def follow(setting: Literal, steps: int) -> list[Floats]:
    """W_ov^(0), …, W_ov^(steps) in the tokens' coordinates, by Equation (5).

    The gradient's entry at n(x) is minus the sum of the others: 1 - p cancels.
    """
    width, size = setting.embedding.shape
    own = (np.array(setting.successor), np.arange(size))
    weights = np.array(setting.weights)
    W = np.zeros((size, width))
    path = [W @ setting.embedding]
    for _ in range(steps):
        scores = W @ setting.embedding
        odds = np.exp(scores - scores.max(axis=0))
        wrong = odds / odds.sum(axis=0)
        wrong[own] = 0.0
        wrong[own] = -wrong.sum(axis=0)
        gradient = (wrong * weights) @ setting.embedding.T
        W = W - setting.eta * gradient / np.linalg.norm(gradient)
        path.append(W @ setting.embedding)
    return path


def observe_literally(settings: Sequence[Literal], steps: int) -> dict[str, Floats]:
    """Record norms, margins and scores of wrong tokens along literal paths."""
    rows: dict[str, list[float]] = {}
    for setting in settings:
        size = len(setting.successor)
        columns = np.arange(size)
        own = (np.array(setting.successor), columns)
        wrong = np.ones((size, size), dtype=bool)
        wrong[own] = False
        operations = 2 * sum(setting.embedding.shape) + size**2 + 40
        for now, W in enumerate(follow(setting, steps)):
            margins = W[own] - W
            others = W.T[wrong.T].reshape(size, size - 1)
            row = {
                "V": size,
                "eta_0": setting.eta,
                "t": now,
                "norm": np.linalg.norm(W),
                "low": margins[wrong].min(),
                "high": margins[wrong].max(),
                "wrong_apart": np.ptp(others, axis=1).max(),
                "token": int(np.argmax(np.ptp(others, axis=1))),
                "equal": float(len(set(setting.weights)) == 1),
                "slack": gamma((now + 1) * operations),
            }
            for name, value in row.items():
                rows.setdefault(name, []).append(float(value))
    return {name: np.array(column) for name, column in rows.items()}


# ---------------------------------------------------------------- settings

EXTREME = (  # where bounds are nearly reached; found by search, replayed first
    Classes((1, 1), (0.0, -4.0), 0.5),
    Classes((1, 1), (0.0, -1e4), 0.5),
    Classes((1, 1), (0.0, -np.log(10.0)), 0.5),
    Classes((1, 4), (0.0, -1e4), 1.0),
    Classes((1, 100), (0.0, -1e4), 5.0),
    Classes((500_000, 500_001), (0.0, -9_000.0), 500.0),
)


def equal_settings(rng: np.random.Generator, count: int) -> list[Classes]:
    """Sizes up to 100 and step sizes up to half of ‖W*‖, equal weights."""
    sizes = [2, 2, 3, 6, 20, *(int(x) for x in rng.integers(2, 101, count))]
    lengths = [0.5, 0.25, *rng.uniform(0.02, 0.5, len(sizes) - 2)]
    return [
        Classes((size,), (0.0,), float(length * np.sqrt(size - 1)))
        for size, length in zip(sizes, lengths, strict=True)
    ]


def weighted_settings(rng: np.random.Generator, count: int) -> list[Classes]:
    """Up to three classes of tokens, with weights from alike to e^-10000."""
    settings = list(EXTREME)
    for _ in range(count):
        counts = tuple(map(int, rng.integers(1, int(10 ** rng.uniform(0.4, 3)), 3)))
        logs = tuple(-np.sort(10 ** rng.uniform(-1, 3.5, 2)))
        length = float(rng.uniform(0.05, 0.5) * np.sqrt(sum(counts) - 1))
        settings.append(Classes(counts, (0.0, *map(float, logs)), length))
    return settings
