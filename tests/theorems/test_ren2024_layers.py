"""The layers of ren2024 and the claim's parameters, against literal evaluations."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from theorems.ren2024 import theorem_3_1_dual_form as theorem
from theorems.ren2024.layers import exact, floating, trained
from theorems.ren2024.model import (
    V_D,
    D,
    N,
    Phi_D,
    T,
    W,
    d_o,
    d_r,
    eta,
    sides,
    softmax_as_stated,
)
from verify import recheck, symbolic
from verify.symbolic import Compiled, padded

CLAIMS = {claim.reading: claim for claim in theorem.CLAIMS}
MUTANTS = [(c.reading, m.name) for c in theorem.CLAIMS for m in c.mutants]
QUERY = "keys-with-query"
LAYERS = list(exact.small_layers())


def fractions(rows):
    return np.array([[Fraction(x) for x in row] for row in rows], dtype=object)


def literal_attention(layer, reading):
    """Attention with the kernel values of the layer, by plain loops."""
    blocks = floating.BLOCKS[reading]
    keys = [
        (layer[v][:, j], sum(layer[phi][:, j] * layer["p"][:, 0]))
        for v, phi in blocks
        for j in range(layer[v].shape[1])
    ]
    total = sum(kernel for _, kernel in keys)
    return [x / total for x in sum(value * kernel for value, kernel in keys)]


def predicted(claim, layer):
    value = Compiled(sides(claim)[0], "exact")(padded(layer))
    return list(value[:, 0])


# ---------------------------------------------------------------- Eq. (9), mutants


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 2, 3), (3, 1, 2), (4, 3, 1)])
def test_trace_is_the_literal_sum(sizes):
    n, rows, features = sizes
    at = {N: n, T: 1, d_o: rows, d_r: features}
    v, w, phi = (sp.Matrix(symbolic.components(x, at)) for x in (V_D, W, Phi_D))
    terms = [(v[:, i].T * w * phi[:, i])[0, 0] for i in range(n)]
    literal = -sum(terms) / (eta * D)
    for claim in theorem.CLAIMS:
        trace = symbolic.components(claim.loss, at)
        assert sp.expand(trace - literal) == 0
        assert sp.expand(trace + literal) != 0


@pytest.mark.parametrize("reading", CLAIMS)
def test_printed_claim_is_attention(reading):
    for layer in LAYERS:
        assert predicted(CLAIMS[reading], layer) == literal_attention(layer, reading)


def test_readings_differ():
    one, other = (predicted(claim, LAYERS[-1]) for claim in theorem.CLAIMS)
    assert one != other


@pytest.mark.parametrize(("reading", "name"), MUTANTS)
def test_mutant_differs_from_attention(reading, name):
    claim = CLAIMS[reading]
    (mutant,) = [m for m in claim.mutants if m.name == name]
    changed = claim.changed(mutant)
    assert any(predicted(changed, x) != literal_attention(x, reading) for x in LAYERS)


@settings(max_examples=25)
@given(exact.feature_layers(), st.sampled_from(sorted(CLAIMS)))
def test_drawn_layers_agree_with_plain_loops(layer, reading):
    assert predicted(CLAIMS[reading], layer) == literal_attention(layer, reading)


# ---------------------------------------------------------------- exact layers


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_subset_features_reproduce_the_kernel(d):
    columns = [[k >> i & 1 for k in range(2**d)] for i in range(d)]
    tokens = fractions(columns)
    kernel = exact.subset_features(tokens).T @ exact.subset_features(tokens)
    for x in range(2**d):
        for y in range(2**d):
            assert kernel[x, y] == 2 ** (x & y).bit_count()


@settings(max_examples=30)
@given(exact.binary_layers(), st.sampled_from(sorted(CLAIMS)))
def test_exact_softmax_is_the_softmax_of_floats(layer, reading):
    claim = CLAIMS[reading]
    compare = exact.AgainstSoftmax(sides(claim)[0], claim.domain)
    tokens = np.hstack([layer[exact.TOKENS[p]] for _, p in floating.BLOCKS[reading]])
    values = np.hstack([layer[v] for v, _ in floating.BLOCKS[reading]]).astype(float)
    scores = (tokens.T @ layer["q"])[:, 0].astype(float) * np.log(2)
    softmax = torch.softmax(torch.from_numpy(scores), 0).numpy()
    ours = np.array([float(x) for x in compare._softmax(layer)])
    np.testing.assert_allclose(ours, values @ softmax, rtol=1e-12, atol=1e-14)
    assert not compare.violated(layer)


def test_other_features_are_no_softmax():
    layer = {
        "V_D": fractions([[1, 2]]), "V_T": fractions([[]]).reshape(1, 0),
        "v_q": fractions([[3]]), "K_D": fractions([[0, 1]]), "K_T": fractions([[]]),
        "k_q": fractions([[1]]), "q": fractions([[0]]), "eta": Fraction(1),
    }  # fmt: skip
    layer["K_T"] = layer["K_T"].reshape(1, 0)
    features = {f: exact.subset_features(layer[t]) for f, t in exact.TOKENS.items()}
    compare = exact.AgainstSoftmax(
        sides(CLAIMS["keys-with-query"])[0], CLAIMS["keys-with-query"].domain
    )
    assert not compare.violated(layer | features)
    other = exact.with_elu_features(layer)
    assert compare.violated(other)
    witness = compare.witness(other)
    assert recheck.decide(witness).valid is True


@pytest.mark.parametrize("momentum", [Fraction(0), Fraction(1, 2), Fraction(-1, 3), 1])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_momentum_weights_are_those_of_a_simulation(steps, momentum):
    momentum = Fraction(momentum)
    velocity = np.array([Fraction(0)] * steps, dtype=object)
    position = np.array([Fraction(0)] * steps, dtype=object)
    for i in range(steps):
        velocity = momentum * velocity
        velocity[i] += 1
        position = position + velocity
    weights = exact.momentum_weights(steps, momentum)
    assert list(np.diag(weights)) == list(position)
    assert sum(abs(weights).ravel()) == sum(abs(position))


def test_softmax_as_stated():
    got = softmax_as_stated([[1, 2], [0, 4]], [0, 1], lambda s: Fraction(3) ** s)
    assert got == [Fraction(7, 4), 3]


# ---------------------------------------------------------------- rounding


def exactly(tensor):
    """Fractions equal to the floats of a matrix."""
    return fractions(tensor.double().tolist()).reshape(tensor.shape)


def small_layer(dtype, seed, n=5, t=2, features=12, d=3, scale=1.0):
    draws = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(1, *shape, generator=draws, dtype=torch.float64)

    V = {"V_D": normal(2, n), "V_T": normal(2, t), "v_q": normal(2, 1)}
    K = {name: scale * normal(d, k) for name, k in (("Phi_D", n), ("Phi_T", t))}
    K["phi_k"] = scale * normal(d, 1)
    q = scale * normal(d, 1)
    return V, K, q, normal(features, d)


def distance(one, other):
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True))) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("reading", CLAIMS)
@pytest.mark.parametrize("seed", range(6))
def test_rounding_bound_for_positive_features(dtype, reading, seed):
    V, K, q, directions = small_layer(dtype, seed, scale=2.0 ** (seed - 3))
    arrays = floating._random_features(V, K, q, directions)
    arrays["eta"] = torch.tensor([0.7], dtype=torch.float64)
    arrays = {name: x.to(dtype) for name, x in arrays.items()}
    truth = literal_attention({k: exactly(x[0]) for k, x in arrays.items()
                               if k != "eta"}, reading)  # fmt: skip
    values, features = (floating.joined(reading, arrays, i) for i in (0, 1))
    attention = floating.kernel_attention(values, features, arrays["p"])
    dual = Compiled(sides(CLAIMS[reading])[0], "torch")(arrays)
    bound = float(floating.rounding_bound(reading, arrays)[0])
    errors = [distance(exactly(x[0])[:, 0], truth) for x in (attention, dual)]
    assert sum(errors) <= bound
    assert bound < 1000 * torch.finfo(dtype).eps * float(values.abs().sum())
    coarse = {k: x.to(torch.float16).to(dtype) for k, x in arrays.items()}
    off = floating.kernel_attention(values, floating.joined(reading, coarse, 1),
                                    coarse["p"])  # fmt: skip
    if dtype is torch.float64:  # rounding to fewer digits is seen
        assert distance(exactly(off[0])[:, 0], truth) > bound


def precise_softmax(values, keys, q):
    """Softmax attention of float tokens with 60 digits."""
    with mpmath.workdps(60):
        columns = range(keys.shape[-1])
        scores = [
            mpmath.fsum(mpmath.mpf(float(k)) * float(x)
                        for k, x in zip(keys[:, j], q[:, 0], strict=True))
            for j in columns
        ]  # fmt: skip
        weights = [mpmath.exp(score) for score in scores]
        total = mpmath.fsum(weights)
        return [
            mpmath.fsum(float(row[j]) * weights[j] for j in columns) / total
            for row in values
        ]


def precise_distance(found, truth):
    with mpmath.workdps(60):
        gaps = [float(x) - y for x, y in zip(found, truth, strict=True)]
        return float(mpmath.norm(gaps))


@pytest.mark.parametrize("reading", CLAIMS)
@pytest.mark.parametrize("scale", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_rounding_bound_for_gram_features(reading, scale, seed):
    V, K, q, _ = small_layer(torch.float64, 100 + seed, scale=scale)
    arrays, exponents, residual = floating.gram_arrays(V, K, q, strict=False)
    assert bool((arrays["Phi_D"] < 0).any())
    values, keys = floating.joined(reading, V, 0), floating.joined(reading, V | K, 1)
    truth = precise_softmax(values[0], keys[0], q[0])
    attention = floating.softmax_attention(values, keys, q)[0, :, 0]
    arrays["eta"] = torch.tensor([0.7], dtype=torch.float64)
    dual = Compiled(sides(CLAIMS[reading])[0], "torch")(arrays)[0, :, 0]
    bound = floating.rounding_bound(
        reading, arrays, exponents=exponents, residual=residual
    )
    errors = [precise_distance(found, truth) for found in (attention, dual)]
    assert sum(errors) <= float(bound[0])
    assert float(bound[0]) < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_rounding_bound_far_from_the_origin(seed):
    """Scores of 10^4 cost digits that only the bound on exponents accounts for."""
    V, K, q, _ = small_layer(torch.float64, 200 + seed)
    spread = torch.tensor([[0.01], [1.0], [1.0]], dtype=torch.float64)
    away = torch.tensor([[100.0], [0.0], [0.0]], dtype=torch.float64)
    K, q = {name: spread * key + away for name, key in K.items()}, spread * q + away
    arrays, exponents, residual = floating.gram_arrays(V, K, q)
    values, keys = (floating.joined(QUERY, V | K, which) for which in (0, 1))
    truth = precise_softmax(values[0], keys[0], q[0])
    attention = floating.softmax_attention(values, keys, q)
    arrays["eta"] = torch.tensor([0.7], dtype=torch.float64)
    dual = Compiled(sides(CLAIMS[QUERY])[0], "torch")(arrays)
    error = sum(precise_distance(x[0, :, 0], truth) for x in (attention, dual))
    bound, short = (
        float(floating.rounding_bound(QUERY, arrays, exponents=e, residual=residual))
        for e in (exponents, 0.0)
    )
    assert short < error <= bound < 1e-8


@pytest.mark.parametrize("reading", CLAIMS)
def test_errors_of_a_batch_are_within_bounds_and_mutants_are_not(reading):
    batches = floating.random_batches(100, seed=3)
    claim = CLAIMS[reading]
    error, allowed, sizes = floating.errors(sides(claim)[0], batches, reading)
    judged = sum(int(batch.judged.sum()) for batch in batches.batches)
    assert error.shape == allowed.shape == sizes.shape == (judged,)
    assert judged + sum(batches.discards.values()) == 100
    assert (error <= allowed).all()
    wrong = claim.changed(claim.mutants[3])
    error, allowed, _ = floating.errors(sides(wrong)[0], batches, reading)
    assert (error > allowed).mean() > 0.9


# ---------------------------------------------------------------- trained


def test_diverged_run_is_a_discard(monkeypatch):
    honest = trained.pretrain_attention

    def diverging(*args, **kwargs):
        trajectory = honest(*args, **kwargs)
        at = trajectory.diverged_at.clone()
        at[1] = 3
        params = {k: w.clone() for k, w in trajectory.params.items()}
        for w in params.values():
            w[1] = float("nan")
        return replace(trajectory, diverged_at=at, params=params)

    whole = trained.pretrain(3, 1, 0, "cpu")
    monkeypatch.setattr(trained, "pretrain_attention", diverging)
    study = trained.pretrain(3, 1, 0, "cpu")
    assert whole.discards == {}
    assert study.discards == {"diverged in pre-training": 1}
    for reading, layer in study.layers.items():
        assert layer.attention.shape[0] == 2
        assert bool(layer.attention.isfinite().all())
        kept = whole.layers[reading].attention[[0, 2]]
        torch.testing.assert_close(layer.attention, kept, rtol=1e-9, atol=1e-12)


def test_a_layer_without_exact_features_is_a_discard(monkeypatch):
    """At some root seeds a query lies so far out that no feature of it is exact."""
    honest = trained.pretrain_attention

    def stretched(*args, **kwargs):
        trajectory = honest(*args, **kwargs)
        params = {k: w.clone() for k, w in trajectory.params.items()}
        params["W_Q"][1] *= 80
        return replace(trajectory, params=params)

    monkeypatch.setattr(trained, "pretrain_attention", stretched)
    study = trained.pretrain(3, 1, 0, "cpu")
    assert study.discards == {"float64 has no exact softmax features": 1}
    assert {len(layer.attention) for layer in study.layers.values()} == {2}
