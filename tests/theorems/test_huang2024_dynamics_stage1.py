"""Stage 1 of Algorithm 1: the closed form and the weights, against full matrices."""

import math

import numpy as np
import pytest
import torch

from theorems.huang2024.data.dataset import Dataset, normalised
from theorems.huang2024.dynamics.literal import Transformer
from theorems.huang2024.dynamics.stage1 import Exact, weighted

MAPS = [(1, 2, 3, 0), (0, 0, 0, 0), (2, 2, 1), (1, 0)]


@pytest.mark.parametrize("n", MAPS)
def test_the_closed_form_is_algorithm_1(n):
    size, eta_0, steps = len(n), 0.2, 40
    single = Dataset(size, n, ((0,),), (n[0],), normalised([1]))
    model = Transformer(single, size + 3, torch.Generator().manual_seed(size))
    model.stage_1(eta_0, steps)
    exact = Exact(size, eta_0, steps)
    W = (model.W_ov @ model.E).numpy()
    # per step a rounding of a gradient whose terms are 1 - softmax ~ e^-margin
    allowed = 10 * steps * np.finfo(float).eps * math.exp(exact.margin)
    assert np.abs(W - exact.matrix(n)).max() < allowed
    assert np.linalg.norm(model.W_ov.numpy()) == pytest.approx(exact.norm, rel=1e-12)
    assert float(model.collocation_loss(model.W_ov)) == pytest.approx(
        exact.loss, rel=1e-9
    )


def by_matrices(n, a, eta_0, steps, R):
    """W_ov in the token basis by full matrices, gradients by pairwise differences."""
    V = len(n)
    W = np.zeros((V, V))  # applied to unit tokens: embeddings are R times these
    for _ in range(steps):
        gradient = np.zeros((V, V))
        for x in range(V):
            others = [i for i in range(V) if i != n[x]]
            odds = np.exp(-R * (W[n[x], x] - W[others, x]))
            part = a[x] * R * odds / (1 + odds.sum())
            gradient[others, x] += part
            gradient[n[x], x] -= part.sum()
        W -= eta_0 * gradient / np.linalg.norm(gradient)
    return W


@pytest.mark.parametrize("R", [1.0, 2.5])
@pytest.mark.parametrize("n", MAPS[:3])
def test_weights_are_the_full_problem(n, R):
    a, V = [1.0, 0.3, 0.05, 0.5][: len(n)], len(n)
    found = weighted([a], eta_0=0.1, at=[0, 1, 200], R=R)
    W = by_matrices(n, a, 0.1, 200, R)
    star = np.full((V, V), -1 / V)
    star[list(n), range(V)] += 1
    cosine = (W * star).sum() / np.linalg.norm(W) / np.linalg.norm(star)
    margins = [R * (W[n[x], x] - W[(n[x] + 1) % V, x]) for x in range(V)]
    assert found.margins[0, -1] == pytest.approx(margins, rel=1e-12)
    assert found.norm[0, -1] == pytest.approx(np.linalg.norm(W), rel=1e-12)
    assert found.gap[0, -1] == pytest.approx(1 - cosine, rel=1e-9)
    loss = sum(
        b * math.log1p((V - 1) * math.exp(-m)) for b, m in zip(a, margins, strict=True)
    )
    assert found.loss[0, -1] == pytest.approx(loss, rel=1e-12)
    after = by_matrices(n, a, 0.1, 201, R) - W  # the next step is the descent
    along = (after * star).sum() / np.linalg.norm(star) / 0.1
    assert found.align[0, -1] == pytest.approx(along, rel=1e-9)
    assert found.own[0, -1] == pytest.approx((after * W).sum() / 0.1, rel=1e-9)


def test_equal_weights_are_the_closed_form():
    settings = [(2, 0.1, 1.0), (5, 0.3, 1.0), (20, 0.2, 3.0)]
    for size, eta_0, R in settings:
        found = weighted([[1.0] * size], eta_0=eta_0, at=[0, 7, 3000], R=R)
        for k, t in enumerate(found.times):
            exact = Exact(size, eta_0, t, R)
            assert found.norm[0, k] == pytest.approx(exact.norm, rel=1e-12)
            assert found.margins[0, k] == pytest.approx(exact.margin, rel=1e-12)
            assert found.loss[0, k] == pytest.approx(exact.loss, rel=1e-10)
        assert math.isnan(found.gap[0, 0])
        assert found.gap[0, 1:] == pytest.approx([0, 0], abs=1e-30)
        assert found.align == pytest.approx(np.ones((1, 3)), rel=1e-14)


def test_unequal_weights_fall_like_t_to_the_minus_two():
    weights = [(1, 0.5, 0.25, 0.1, 0.05), (1, 1e-2, 1e-4, 1e-6, 1e-8)]
    found = weighted(weights, eta_0=0.1, at=[4000, 40_000])
    slope = np.log10(found.gap[:, 1] / found.gap[:, 0])
    assert slope == pytest.approx([-2, -2], abs=0.02)  # corrections are O(1/t)
    lower = 1 / (2 * math.sqrt(5 - 1))  # Proposition 1: t eta_0 / (2 ||W*||)
    ratio = found.norm / found.times / 0.1
    assert (ratio > lower).all()
    assert (ratio <= 1).all()


def test_settings_do_not_meet():
    weights = [(1.0, 0.5, 0.1), (1.0, 1.0, 0.2)]
    both = weighted(weights, eta_0=[0.1, 0.4], at=[50], R=[1.0, 2.0])
    for k, (eta_0, R) in enumerate([(0.1, 1.0), (0.4, 2.0)]):
        alone = weighted([weights[k]], eta_0=eta_0, at=[50], R=R)
        assert (both.margins[k] == alone.margins[0]).all()
