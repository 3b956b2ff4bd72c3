"""What Algorithm 1 converges to, on data whose blocks are known.

Scores are judged on the scale of problem (3): those of each training step are divided
by the smallest difference of a constraint, in all columns, which (3) makes 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theorems.huang2024.columns.column import Column, columns_of
from theorems.huang2024.columns.decide import claimed
from theorems.huang2024.data.dataset import Dataset, normalised
from theorems.huang2024.data.generate import random_datasets
from verify import Claim, Figure, Outcome, Series, evidence
from verify.numerics import Tolerance, gamma, within
from verify.profiles import Profile

DELTA, ETA = 20.0, 0.1
DECADES = (1_000, 10_000, 100_000, 1_000_000)
CURVE = tuple(int(t) for t in np.unique(np.geomspace(1, 1e6, 49).round()))

REMAINDER = (
    "what the last decade of steps changed: if each decade changes a score at most "
    "half as much as the one before, all later ones change it by less; and rounding"
)
ROUNDING = gamma(64)
"""Of a quotient of scores below 1: W* / ||W*|| is rounded, so are each score, a sum of
it and the remainder, the difference of two and the quotient."""


@dataclass(frozen=True, eq=False)
class Trained:
    """Scores of trained models on the scale of problem (3).

    Attributes:
        names: What the data are.
        columns: The columns of each dataset.
        scores: For each dataset, by (token, query), at each of ``DECADES``.
        curves: For the first, its scores at each step of ``CURVE``, ``(steps, pairs)``,
            and the pairs.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[Column, ...], ...]
    scores: tuple[dict[tuple[int, int], NDArray[np.float64]], ...]
    curves: tuple[NDArray[np.float64], tuple[tuple[int, int], ...]]


def variants() -> dict[str, Dataset]:
    """The five-token data with one more token, and what (3) does not depend on."""
    n, first, second = (1, 2, 3, 4, 5, 0), (0, 2, 3, 4), (1, 4)

    def data(*samples: tuple[int, ...], weights: tuple[int, ...] = ()) -> Dataset:
        labels = tuple(n[sample[0]] for sample in samples)
        shares = normalised(weights or (1,) * len(samples))
        return Dataset(6, n, samples, labels, shares)

    return {
        "two samples": data(first, second),
        "99 times as often": data(first, second, weights=(99, 1)),
        "a thousandth as often": data(first, second, weights=(1, 999)),
        "repeated tokens": data((0, 0, 0, 2, 2, 3, 4), (1, 1, 4, 1, 4)),
        "split samples": data((0, 2, 4), (0, 3, 4), second, (0, 3, 2, 4)),
    }


@evidence
def trained_columns(profile: Profile, seed: int) -> Trained:
    """Train on the five-token data and on random data, up to a million steps."""
    from theorems.huang2024.dynamics.engine import run

    count = profile.pick(smoke=5, default=20, full=100)
    random = random_datasets(seed, count, size=(4, 8), per_query=3, max_length=6)
    datasets = variants() | {f"random data {i}": one for i, one in enumerate(random)}
    at = sorted({*DECADES, *CURVE})
    tracks = run([*datasets.values()], delta=DELTA, eta=ETA, at=at)
    columns = tuple(tuple(columns_of(one)) for one in datasets.values())
    rows = [at.index(t) for t in DECADES]
    scores = []
    for track, own in zip(tracks, columns, strict=True):
        scaled = _scaled(track, own)[rows]
        scores.append(dict(zip(track.pairs, scaled.T, strict=True)))
    first = _scaled(tracks[0], columns[0])[[at.index(t) for t in CURVE]]
    return Trained(tuple(datasets), columns, tuple(scores), (first, tracks[0].pairs))


def _scaled(track, columns: tuple[Column, ...]) -> NDArray[np.float64]:
    """Scores over the smallest difference w_o - w_m, ``(times, pairs)``."""
    place = {pair: i for i, pair in enumerate(track.pairs)}
    ends = [
        (place[o, one.data[1]], place[x, one.data[1]])
        for one in columns
        for o, x in one.edges
    ]
    upper, lower = np.array(ends).T
    least = (track.weights[:, upper] - track.weights[:, lower]).min(axis=1)
    return track.weights / least[:, None]


def judge(claim: Claim, trained: Trained) -> Outcome:
    """Compare trained scores with those claimed, within what training still changes."""
    errors, allowed, labels = [], [], {"dataset": [], "token": [], "query": []}
    for i, (columns, scores) in enumerate(
        zip(trained.columns, trained.scores, strict=True)
    ):
        for one in filter(claim.domain.only, columns):
            query = one.data[1]
            for token, value in claimed(claim, one).items():
                path = scores.get((token, query), np.zeros(len(DECADES)))
                errors.append(abs(path[-1] - float(value)))
                allowed.append(abs(path[-1] - path[-2]))
                for name, label in zip(labels, (i, token, query), strict=True):
                    labels[name].append(label)
    outcome = within(
        errors,
        Tolerance(np.array(allowed) + ROUNDING, REMAINDER),
        says="a trained score is not the one claimed",
        labels=labels,
        searched=f"{len(trained.names)} datasets, {DECADES[-1]} steps, eta = {ETA}",
        figures=(figure(trained),),
    )
    if outcome.witness:
        return outcome
    return outcome.but(reason="trained scores are as claimed, up to what still changes")


def figure(trained: Trained) -> Figure:
    """1 - cos of the five-token column to the solution and to the closed form."""
    scores, pairs = trained.curves
    one = trained.columns[0][0]
    k, m = one.sizes
    true = np.array([float(one.score(x)) for x, _ in pairs])
    whole = np.array([m if x in one.upper else -k for x, _ in pairs]) / (k + m)
    curves = [_gap(scores, target) for target in (true, whole)]
    names = ("solution of (3), two blocks", "closed form, one block")
    return Figure(
        "five-tokens",
        "Training decides between the solution and the closed form",
        "step t",
        "1 - cos",
        tuple(
            Series(name, CURVE, gap.tolist())
            for name, gap in zip(names, curves, strict=True)
        ),
        x_log=True,
        y_log=True,
        caption=(
            "1 - cos of the trained scores to the solution of (3) and to the closed "
            f"form of Proposition 2; between these two it is {_between(one):.6f}."
        ),
    )


def _gap(
    scores: NDArray[np.float64], target: NDArray[np.float64]
) -> NDArray[np.float64]:
    unit = scores / np.linalg.norm(scores, axis=1, keepdims=True)
    return 0.5 * ((unit - target / np.linalg.norm(target)) ** 2).sum(axis=1)


def _between(one: Column) -> float:
    k, m = one.sizes
    product = sum(
        one.score(x) * (Fraction(m, k + m) if x in one.upper else Fraction(-k, k + m))
        for x in (*one.upper, *one.lower)
    )
    norms = float(one.margin.norm_squared * Fraction(k * m, k + m))
    return 1 - float(product) / norms**0.5
