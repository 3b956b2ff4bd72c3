"""Feature maps of ren2024: closed forms against definitions, and exact Gram factors."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from theorems.ren2024.features import accuracy, gram, orthogonal, ranges, threshold
from theorems.ren2024.features.training import SCALE, losses_and_gradients
from verify import Verdict
from verify.train.attention import kernel_attention, positive_random_features
from verify.train.tasks import Prompts


def layer(
    runs: int = 3, d: int = 12, n: int = 16
) -> tuple[dict, Prompts, torch.Tensor]:
    g = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(runs, *shape, generator=g, dtype=torch.float64) / 4

    params = {name: draw(d, d) for name in ("W_Q", "W_K", "W_V")}
    return params, Prompts(draw(d, n), draw(1)), 4 * draw(50, d)


def test_closed_form_gradients_are_those_of_autograd() -> None:
    params, prompts, w = layer()
    losses, found = losses_and_gradients(params, prompts, w)
    leaves = {name: p.clone().requires_grad_() for name, p in params.items()}
    X = prompts.X
    keys = positive_random_features(SCALE * leaves["W_K"] @ X, w)
    query = positive_random_features(SCALE * leaves["W_Q"] @ X[..., -1:], w)
    h = kernel_attention(leaves["W_V"][:, -1:] @ X, keys, query)[:, 0, 0]
    expected = (h - prompts.target[:, 0]).square()
    expected.sum().backward()
    torch.testing.assert_close(losses, expected.detach())
    for name, leaf in leaves.items():
        torch.testing.assert_close(found[name], leaf.grad)


def test_estimated_attention_is_kernel_attention() -> None:
    params, prompts, w = layer()
    K, Q = params["W_K"] @ prompts.X, params["W_Q"] @ prompts.X
    estimate = accuracy.estimated(K, Q, w)
    eye = torch.eye(16, dtype=K.dtype).expand(len(K), -1, -1)
    one = kernel_attention(
        eye,
        positive_random_features(K, w),
        positive_random_features(Q[..., 3:4], w),
    )
    torch.testing.assert_close(estimate[..., 3:4], one)


def test_gram_features_are_exact() -> None:
    params, prompts, _ = layer()
    K, Q = (params[name] @ prompts.X for name in ("W_K", "W_Q"))
    exact = torch.softmax(K.mT @ Q, dim=-2)
    error = accuracy.exact_features(K[:, None], Q[:, None], exact[:, None])
    assert float(error.max()) < 1e-11


def test_gram_matrices_have_exact_factors_and_inverses() -> None:
    tokens = [(0, 1), (1, 1), (-2, 1), (2, 0)]
    kernel = gram.gram(tokens)
    assert kernel[0][2] == 2
    assert gram.reproduces(kernel, *gram.factored(kernel))
    inverse = gram.inverse(kernel)
    product = [
        [sum(inverse[i][k] * kernel[k][j] for k in range(4)) for j in range(4)]
        for i in range(4)
    ]
    assert product == [[Fraction(i == j) for j in range(4)] for i in range(4)]


def test_orthogonal_directions_are_orthogonal_and_normal() -> None:
    w = orthogonal.drawn(2, 2000, 4, 0)
    products = np.einsum("gnid,gnjd->gnij", w, w)
    off = products - products * np.eye(4)
    assert np.abs(off).max() < 1e-12
    # 16000 entries of each coordinate: 0.05 is over four standard errors of a square
    assert np.abs((w**2).mean(axis=(0, 1, 2)) - 1).max() < 0.05


@pytest.mark.parametrize("size", [2, 4, 12])
def test_orthogonal_moments_are_smaller(size: int) -> None:
    value = float(orthogonal.dependence(size, Fraction(1))) / np.e
    assert 0 < value < 1
    first = orthogonal.correlation(1, 1).subs(orthogonal.d, size)
    assert first * (size + 2) == size


@pytest.mark.parametrize(("size", "features"), [(1.0, 1), (16.0, 20)])
def test_ratios_have_mean_one_or_rarely_reach_it(size: float, features: int) -> None:
    values = threshold.ratios(size, features, 20_000, 0)
    if features == 1:
        assert abs(values.mean() - 1) < 0.06  # six standard errors of e - 1 variance
    else:
        assert (values >= 0.5).mean() < 0.5


def test_ranges_decide_on_both_sides() -> None:
    values = np.linspace(0.4, 0.6, 40)
    cases = {"a": values}
    assert ranges.within(cases, 0.0, 1.0, 1e-6).verdict is Verdict.HOLDS
    assert ranges.within(cases, 0.0, 0.1, 1e-6).verdict is Verdict.REFUTED
    assert ranges.within(cases, 0.0, 0.5, 1e-6).verdict is Verdict.INCONCLUSIVE
    few = {"a": values[:10]}
    assert ranges.within(few, 0.0, 1.0, 1e-6).verdict is Verdict.INCONCLUSIVE
