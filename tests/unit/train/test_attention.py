import math

import pytest
import torch

from verify.train import attention
from verify.train.attention import (
    gram_features,
    kernel_attention,
    positive_random_features,
    softmax_attention,
)

EPS = torch.finfo(torch.float64).eps


def draw(*shape, scale=1.0, seed=0):
    g = torch.Generator().manual_seed(seed)
    return scale * torch.randn(*shape, generator=g, dtype=torch.float64)


def attention_as_stated(V, K, q, scale):
    """ren2024, Eq. (1): one model, token by token."""
    weights = [math.exp(scale * float(K[:, i] @ q[:, 0])) for i in range(K.shape[1])]
    total = sum(weights)
    return sum(w / total * V[:, i : i + 1] for i, w in enumerate(weights))


@pytest.mark.parametrize("scale", [1.0, 0.25, -0.7])
def test_softmax_attention_is_the_formula(scale):
    V, K, q = draw(3, 4, 9), draw(3, 6, 9, seed=1), draw(3, 6, 1, seed=2)
    out = softmax_attention(V, K, q, scale)
    # Weights sum to 1; each exponent carries d*eps*|score| <= 6*eps*20.
    tolerance = 2 * 9 * 6 * 20 * EPS * float(V.abs().max())
    for r in range(3):
        expected = attention_as_stated(V[r], K[r], q[r], scale)
        assert float((out[r] - expected).abs().max()) <= tolerance


def test_softmax_attention_survives_scores_beyond_the_range_of_exp():
    V, K = draw(4, 9), draw(6, 9, seed=1, scale=1e3)
    q = draw(6, 1, seed=2, scale=1e3)
    best = int((K.mT @ q).argmax())
    assert torch.equal(softmax_attention(V, K, q)[:, 0], V[:, best])


def test_kernel_attention_ignores_common_factors():
    V, phi_K, phi_q = draw(4, 9), draw(7, 9, seed=1).exp(), draw(7, 1, seed=2).exp()
    out = kernel_attention(V, phi_K, phi_q)
    # Powers of two change no rounding.
    assert torch.equal(out, kernel_attention(V, 8 * phi_K, phi_q / 4))


def test_random_features_are_unbiased_for_the_softmax_kernel():
    x, y = draw(3, 1, scale=0.3), draw(3, 1, scale=0.3, seed=1)
    w = draw(200_000, 3, seed=2)
    phi = [positive_random_features(z, w, 0.0) for z in (x, y)]
    kernel = float(torch.exp(x.mT @ y))
    # Relative variance (exp(|x+y|^2) - 1)/d_r; 6 standard errors: false alarm 2e-9.
    error = math.sqrt(math.expm1(float((x + y).square().sum())) / 200_000)
    assert abs(float(phi[0].mT @ phi[1]) / kernel - 1) <= 6 * error


def test_the_default_shift_cancels_and_a_shift_per_key_does_not():
    V, K, q = draw(4, 9), draw(5, 9, seed=1, scale=0.5), draw(5, 1, seed=2, scale=0.5)
    w = draw(50, 5, seed=3)
    phi_q = positive_random_features(q, w)
    raw = kernel_attention(V, positive_random_features(K, w, 0.0), phi_q)
    shifted = kernel_attention(V, positive_random_features(K, w), phi_q)
    per_key = positive_random_features(K, w, K.square().sum(-2, keepdim=True))
    # 50 features and 9 keys summed, exponents up to 20 rounded to eps each.
    tolerance = (50 + 9 + 40) * EPS * float(V.abs().max())
    assert float((raw - shifted).abs().max()) <= tolerance
    assert float((raw - kernel_attention(V, per_key, phi_q)).abs().max()) > 1e-3


@pytest.mark.parametrize("scale", [8.0, 16.0, 32.0])
def test_random_features_of_large_norms_stay_finite(scale):
    V, w = draw(20, 12, 15), draw(20, 1200, 12, seed=3)
    K, q = draw(20, 12, 15, seed=1, scale=scale), draw(20, 12, 1, seed=2, scale=scale)
    phis = [positive_random_features(x, w) for x in (K, q)]
    raws = [positive_random_features(x, w, 0.0) for x in (K, q)]
    assert bool(kernel_attention(V, *phis).isfinite().all())
    if scale >= 16:
        assert not bool(kernel_attention(V, *raws).isfinite().all())


def kernel_error(points, gram):
    kernel = torch.exp(points.mT @ points - gram.log_scale)
    return (gram.features.mT @ gram.features - kernel).abs() / kernel


@pytest.mark.parametrize(("d", "n"), [(12, 17), (3, 5), (1, 16), (2, 128)])
@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0])
def test_gram_features_give_softmax_attention(d, n, scale):
    points = draw(6, d, n, scale=scale)
    gram = gram_features(points)
    V, keys, query = draw(6, 4, n - 1, seed=1), points[..., :-1], points[..., -1:]
    out = kernel_attention(V, gram.features[..., :-1], gram.features[..., -1:])
    expected = softmax_attention(V, keys, query)
    # A weight is off by residual, plus the rounding of its exponent on either path;
    # the sum over n - 1 weights enters numerator and denominator.
    exponent = (d + 4) * EPS * float(points.square().sum(-2).max())
    weight = float(gram.residual.max()) + exponent + n * EPS
    tolerance = 2 * (n - 1) * weight * float(V.abs().max())
    assert tolerance < 1e-9
    assert float((out - expected).abs().max()) <= tolerance
    assert set(gram.jitter.tolist()) <= set(attention.JITTERS)


def test_gram_features_reproduce_the_kernel_up_to_one_factor():
    points = draw(5, 12, 17, scale=0.3)
    gram = gram_features(points, queries=17)
    assert gram.log_scale.shape == (5, 1, 1)
    assert float(kernel_error(points, gram).max()) <= float(gram.residual.max()) + (
        20 * EPS * float(points.square().sum(-2).max())
    )


def test_jitter_is_recorded_per_batch_element():
    easy, singular = draw(2, 3), torch.ones(2, 3, dtype=torch.float64)
    gram = gram_features(torch.stack([easy, singular]))
    assert gram.jitter[0] == 0
    assert 0 < gram.jitter[1] <= 1e-12
    # On the diagonal the jitter is the residual, to the rounding of 1 + jitter.
    assert abs(float(gram.residual[1] - gram.jitter[1])) <= 4 * EPS


def test_a_large_query_is_judged_by_its_own_kernel_on_the_diagonal():
    # exp(5 * 5) is off by the jitter, relative to itself and not to exp(0 * 5).
    gram = gram_features(torch.tensor([[0.0, 0.0, 5.0]], dtype=torch.float64))
    assert gram.jitter > 0
    assert abs(float(gram.residual - gram.jitter)) <= 4 * EPS


def test_eigenvectors_take_over_when_every_jitter_fails(monkeypatch):
    monkeypatch.setattr(attention, "JITTERS", (0.0,))
    singular = torch.ones(2, 3, dtype=torch.float64)
    gram = gram_features(singular)
    assert math.isnan(float(gram.jitter))
    assert float(kernel_error(singular, gram).max()) <= 20 * EPS


def test_the_query_must_come_last():
    points = draw(20, 2, 128, scale=2.0)
    last = gram_features(points, bound=1.0).residual
    every = gram_features(points, queries=128, bound=1e9).residual
    assert bool((last <= every).all())
    assert float(last.median()) <= 1e-14 < 1e-12 <= float(every.median())


@pytest.mark.parametrize(
    ("points", "match"),
    [
        ([[0.0, 60.0]], "apart"),
        ([[-30.0, 30.0]], "residual"),
        ([[math.nan, 1.0]], "finite"),
        ([[math.inf, 1.0]], "finite"),
    ],
)
def test_gram_features_refuse_what_float64_cannot_hold(points, match):
    with pytest.raises(ValueError, match=match):
        gram_features(torch.tensor(points, dtype=torch.float64))


def test_what_float64_cannot_hold_is_told_by_its_residual():
    near, far = [[0.0, 1.0]], [[0.0, 60.0]]
    points = torch.tensor([near, far, near], dtype=torch.float64)
    residual = gram_features(points, strict=False).residual
    assert residual[1] == math.inf
    assert bool((residual[[0, 2]] < 1e-12).all())


def test_gram_features_check_their_arguments():
    with pytest.raises(ValueError, match="float64"):
        gram_features(torch.ones(2, 3))
    for queries in (0, 4):
        with pytest.raises(ValueError, match="`queries`"):
            gram_features(draw(2, 3), queries=queries)
    for bound in (math.nan, math.inf, -1.0, 0.0):
        with pytest.raises(ValueError, match="`bound`"):
            gram_features(torch.ones(2, 3, dtype=torch.float64), bound=bound)
