"""1 - cos(W, W*) of stage 2 against long doubles."""

from fractions import Fraction

import numpy as np
import pytest

from theorems.huang2024.data.dataset import Dataset, normalised
from theorems.huang2024.dynamics.compact import solve
from theorems.huang2024.dynamics.engine import run

FIVE_TOKENS = Dataset(
    5, (1, 2, 3, 4, 0), ((0, 2, 3, 4), (1, 4)), (1, 2), normalised([1, 1])
)


def test_the_gap_is_accurate():
    """Against 19 digits, by whole arrays and without merging or a frame."""
    times = [10, 100, 1000, 4000]
    expected = in_long_double(FIVE_TOKENS, 10.0, 0.1, times)
    (track,) = run([FIVE_TOKENS], delta=10.0, eta=0.1, at=times)
    assert track.gap == pytest.approx(expected, rel=2e-13)


def in_long_double(dataset, delta, eta, times):
    """Gaps of a dataset with one query, injective n: the formulas of ``kernels``."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("no long double of 64 bits")
    (q,), V, number = dataset.queries, dataset.size, np.longdouble
    scores = solve(dataset)[q].scores
    star = np.array([as_long_double(scores.get(x, Fraction(0))) for x in range(V)])
    star /= np.sqrt((star**2).sum())
    upper = [dataset.successor.index(label) for label in dataset.labels]
    pairs = zip(map(set, dataset.sentences), upper, strict=True)
    lower = [[*(tokens - {o})] for tokens, o in pairs]
    w, t, gaps = np.zeros(V, number), 0, []
    for end in times:
        for _ in range(t, end):
            g = np.zeros(V, number)
            for o, others in zip(upper, lower, strict=True):
                ratio = np.exp(w[others] - w[o])
                plus = 1 / (1 + ratio.sum())
                odds = np.exp(number(delta) * plus * (ratio - 1))
                wrong = odds.sum() + (V - 1 - len(others)) * np.exp(-delta * plus)
                slope = (wrong + odds) / (1 + wrong)
                mean = plus * (ratio * slope).sum()
                g[o] += plus * mean
                g[others] -= plus * ratio * (slope - mean)
            w, t = w + number(eta) * g / np.sqrt((g**2).sum()), t + 1
        gaps.append(float(((w / np.sqrt((w**2).sum()) - star) ** 2).sum() / 2))
    return gaps


def as_long_double(x):
    return np.longdouble(x.numerator) / np.longdouble(x.denominator)
