"""Batched transformers against literal ones and autograd."""

import math
from dataclasses import replace

import naive_transformer as naive
import pytest
import torch
from transformer_data import (
    classification,
    classifier_as_stated,
    differentiate,
    next_token,
    next_token_as_stated,
    pick,
    tokens_of,
)

from verify.train.transformer import (
    Classification,
    NextToken,
    attention_weights,
    classifier_gradient,
    classifier_loss,
    next_token_gradient,
    next_token_loss,
)

EPS = torch.finfo(torch.float64).eps
SHAPES = [(1, 1, 2, 2), (3, 6, 8, 10), (5, 4, 3, 2), (70, 3, 5, 4)]
READOUTS = pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
VOCABULARIES = pytest.mark.parametrize("own", [True, False], ids=["per-run", "shared"])


def assert_near(got, expected, shape, size):
    # Scores, averages and logits each sum over tokens and d numbers with a rounding
    # each; an exponential turns a score's absolute error into a relative one.
    _, inputs, tokens, d = shape
    tolerance = (inputs + 4 * tokens + 8 * d) * EPS * max(1.0, size) ** 2
    assert float((got - expected).abs().max()) <= tolerance


@pytest.mark.parametrize("masked", [True, False], ids=["ragged", "full"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_classifier_is_the_formula(shape, masked):
    params, data = classification(shape, masked=masked)
    expected = [
        classifier_as_stated(params["W"][r].tolist(), data, r) for r in range(shape[0])
    ]
    expected = torch.tensor(expected, dtype=torch.float64)
    size = float((data.inputs.norm(dim=-1).max() * data.queries.norm(dim=-1)).max())
    assert_near(classifier_loss(params, data), expected, shape, size)


@READOUTS
@VOCABULARIES
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_next_token_prediction_is_the_formula(shape, tied, own):
    params, data = next_token(shape, tied=tied, own=own)
    expected = [
        next_token_as_stated(*(params[k][r].tolist() for k in params), data, r)
        for r in range(shape[0])
    ]
    expected = torch.tensor(expected, dtype=torch.float64)
    size = max(float(p.norm(dim=(1, 2)).max()) for p in params.values())
    assert_near(next_token_loss(params, data), expected, shape, size)


@pytest.mark.parametrize("masked", [True, False], ids=["ragged", "full"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_classifiers_closed_form_is_autograd(shape, masked):
    params, data = classification(shape, masked=masked)
    losses, grads = classifier_gradient(params, data)
    expected, slopes = differentiate(classifier_loss, params, data)
    size = float((data.inputs.norm(dim=-1).max() * data.queries.norm(dim=-1)).max())
    assert_near(losses, expected, shape, size)
    assert_near(grads["W"], slopes["W"], shape, size)


@READOUTS
@VOCABULARIES
@pytest.mark.parametrize("names", [("W_kq", "W_ov"), ("W_kq",), ("W_ov",)], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_next_tokens_closed_form_is_autograd(shape, names, tied, own):
    params, data = next_token(shape, tied=tied, own=own)
    data = replace(data, fixed={k: p for k, p in params.items() if k not in names})
    params = {k: params[k] for k in names}
    losses, grads = next_token_gradient(params, data)
    expected, slopes = differentiate(next_token_loss, params, data)
    size = max(float(p.norm(dim=(1, 2)).max()) for p in params.values())
    assert list(grads) == list(names)
    assert_near(losses, expected, shape, size)
    for name in names:
        assert_near(grads[name], slopes[name], shape, 2 * size)


MODELS = pytest.mark.parametrize(
    ("make", "loss", "gradient"),
    [
        (classification, classifier_loss, classifier_gradient),
        (next_token, next_token_loss, next_token_gradient),
    ],
    ids=["classifier", "next-token"],
)


@MODELS
@pytest.mark.parametrize("content", [1e300, math.nan, -math.inf])
def test_padding_is_ignored(make, loss, gradient, content):
    params, data = make((4, 3, 5, 4))
    if isinstance(data, NextToken):
        ids = data.tokens.masked_fill(~data.mask, -(10**12))
        other = replace(data, tokens=ids)
    else:
        X = data.inputs.masked_fill(~data.mask[..., None], content)
        other = replace(data, inputs=X)
    assert torch.equal(loss(params, data), loss(params, other))
    losses, grads = gradient(params, other)
    assert torch.equal(losses, gradient(params, data)[0])
    assert all(bool(g.isfinite().all()) for g in grads.values())
    for name, slope in gradient(params, data)[1].items():
        assert torch.equal(slope, grads[name])
    for slope in differentiate(loss, params, other)[1].values():
        assert bool(slope.isfinite().all())


@MODELS
@pytest.mark.parametrize("shape", [(5, 4, 3, 2), (200, 6, 8, 10)], ids=str)
def test_a_batch_is_its_runs_one_by_one(make, loss, gradient, shape):
    params, data = make(shape)
    losses, grads = gradient(params, data)
    for run in range(0, shape[0], max(1, shape[0] // 5)):
        one = slice(run, run + 1)
        alone = {name: p[one] for name, p in params.items()}
        part = pick(data, one)
        assert_near(losses[one], gradient(alone, part)[0], shape, 4)
        assert_near(loss(params, data)[one], loss(alone, part), shape, 4)
        for name, slope in gradient(alone, part)[1].items():
            assert_near(grads[name][one], slope, shape, 4)


@MODELS
def test_a_run_that_is_nan_leaves_its_neighbours_alone(make, loss, gradient):
    params, data = make((4, 3, 5, 4))
    broken = {name: p.clone() for name, p in params.items()}
    for p in broken.values():
        p[2] = math.nan
    losses, grads = gradient(broken, data)
    assert losses.isnan().tolist() == [False, False, True, False]
    keep = [0, 1, 3]
    for name, slope in gradient(params, data)[1].items():
        assert torch.equal(slope[keep], grads[name][keep])


def test_weights_are_those_of_the_formula():
    params, data = classification((3, 2, 5, 4))
    weights = attention_weights(params["W"], data)
    assert bool((weights[~data.mask] == 0).all())
    for run in range(3):
        for i, (tokens, keep) in enumerate(
            zip(tokens_of(data, run), data.mask[run], strict=True)
        ):
            _, expected = naive.attend(
                params["W"][run].tolist(), tokens, data.queries[run, i].tolist()
            )
            # Relative error of an exponential: its score's absolute one.
            torch.testing.assert_close(
                weights[run, i][keep],
                torch.tensor(expected, dtype=torch.float64),
                rtol=400 * EPS,
                atol=0,
            )


def test_the_query_is_the_last_token_that_is_no_padding():
    _, data = next_token((3, 4, 6, 2))
    for run in range(3):
        for n, ids in enumerate(tokens_of(data, run)):
            assert torch.equal(data.queries[run, n], data.embedding[ids[-1]])


def test_a_sentence_of_frequency_zero_is_padding():
    params, data = next_token((2, 4, 3, 2))
    frequency = data.frequency.clone()
    frequency[:, 3] = 0
    frequency /= frequency.sum(1, keepdim=True)
    padded = replace(data, frequency=frequency)
    first = slice(0, 3)
    short = NextToken(
        data.embedding,
        data.tokens[:, first],
        data.target[:, first],
        frequency[:, first],
        data.mask[:, first],
    )
    assert torch.equal(
        next_token_gradient(params, padded)[0], next_token_gradient(params, short)[0]
    )


def test_float32_stays_float32():
    _, data = classification((2, 3, 4, 2))
    data = Classification(
        data.inputs.float(), data.queries.float(), data.labels, data.head.float()
    )
    losses, grads = classifier_gradient({"W": torch.zeros(2, 2, 2)}, data)
    assert losses.dtype == grads["W"].dtype == torch.float32
    assert classifier_loss({"W": torch.zeros(2, 2, 2)}, data).dtype == torch.float32
