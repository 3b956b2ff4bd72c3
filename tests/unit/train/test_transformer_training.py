"""Training as literal loops do it, and where they lose the gradient."""

import math

import mpmath
import naive_transformer as naive
import pytest
import torch
from torch.nn.functional import one_hot
from transformer_data import (
    classification,
    classifier_as_stated,
    differentiate,
    next_token,
    next_token_as_stated,
    normal,
    tokens_of,
)

from verify.train.loop import train
from verify.train.observables import angle
from verify.train.optimisers import NormalisedGD
from verify.train.transformer import (
    NextToken,
    classifier_gradient,
    classifier_loss,
    next_token_gradient,
    next_token_loss,
)

EPS = torch.finfo(torch.float64).eps


def digits(matrix):
    return [[mpmath.mpf(x) for x in row] for row in matrix.tolist()]


def exact_slope(loss, W):
    """The gradient of a literal loss in 400 digits."""
    with mpmath.workdps(400):
        rows = naive.slope(loss, digits(W), mpmath.mpf(10) ** -180)
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


def assert_only_the_closed_form(got, autograd, expected, scores):
    """Relative errors of a score's exponential are its absolute ones."""
    tolerance = 40 * scores * EPS
    assert float((got - expected).norm() / expected.norm()) <= tolerance
    assert float((autograd - expected).norm() / expected.norm()) > 0.1


MANY = {"exp": mpmath.exp, "log": mpmath.log}


def test_a_vanishing_classifier_gradient_keeps_its_direction():
    params, data = classification((1, 1, 4, 3), seed=0, masked=False)
    W = 100 * params["W"]
    expected = exact_slope(lambda W: classifier_as_stated(W, data, 0, **MANY), W[0])
    assert 0 < float(expected.norm()) < 1e-18
    assert_only_the_closed_form(
        classifier_gradient({"W": W}, data)[1]["W"][0],
        differentiate(classifier_loss, {"W": W}, data)[1]["W"][0],
        expected,
        float(data.inputs.norm(dim=-1).max() ** 2 * W.norm()),
    )


@pytest.mark.parametrize("seed", [2, 5])
def test_vanishing_next_token_gradients_keep_their_direction(seed):
    params, data = next_token(
        (1, 1, 4, 3), seed=seed, vocabulary=4, masked=False, tied=False
    )
    params = {name: 100 * p for name, p in params.items()}
    W_kq, W_ov = (digits(p[0]) for p in params.values())
    losses = {
        "W_kq": lambda W: next_token_as_stated(W, W_ov, data, 0, **MANY),
        "W_ov": lambda W: next_token_as_stated(W_kq, W, data, 0, **MANY),
    }
    got = next_token_gradient(params, data)[1]
    autograd = differentiate(next_token_loss, params, data)[1]
    for name, loss in losses.items():
        expected = exact_slope(loss, params[name][0])
        assert 0 < float(expected.norm()) < 1e-15
        size = max(float(p.norm()) for p in params.values())
        assert_only_the_closed_form(got[name][0], autograd[name][0], expected, size)


def descend_as_stated(loss, W, steps, rate):
    """One model in a loop: autograd and a step of length ``rate``."""
    parameters = [w.clone().requires_grad_() for w in W]
    for _ in range(steps):
        grads = torch.autograd.grad(loss(*parameters), parameters)
        length = torch.sqrt(sum(g.square().sum() for g in grads))
        with torch.no_grad():
            for w, g in zip(parameters, grads, strict=True):
                w -= rate * g / length
    return [w.detach() for w in parameters]


def one_classifier(data, run):
    """The loss of one model, input by input, padding cut off."""
    inputs = [torch.tensor(X, dtype=torch.float64) for X in tokens_of(data, run)]

    def loss(W):
        losses = [
            torch.log1p(torch.exp(-y * (torch.softmax(X @ W @ z, 0) @ X @ v)))
            for X, z, y in zip(inputs, data.queries[run], data.labels[run], strict=True)
        ]
        return sum(losses) / len(losses)

    v = data.head[run]
    return loss


def one_reader(data, run):
    """The loss of one next-token model, sentence by sentence, padding cut off."""
    E = data.embedding

    def loss(W_kq, W_ov):
        total = 0.0
        for ids, y, pi in zip(
            tokens_of(data, run), data.target[run], data.frequency[run], strict=True
        ):
            X = E[ids]
            logits = E @ W_ov @ (torch.softmax(X @ W_kq @ X[-1], 0) @ X)
            total = total - pi * torch.log_softmax(logits, 0)[y]
        return total

    return loss


@pytest.mark.parametrize(
    ("make", "loss", "gradient", "literal"),
    [
        (classification, classifier_loss, classifier_gradient, one_classifier),
        (next_token, next_token_loss, next_token_gradient, one_reader),
    ],
    ids=["classifier", "next-token"],
)
def test_training_is_the_literal_loop(make, loss, gradient, literal):
    steps, rate = 40, 0.05
    params, data = make((4, 3, 5, 4))
    out = train(
        params, loss, lambda _: data, NormalisedGD(rate), steps, gradient=gradient
    )
    for run in range(4):
        expected = descend_as_stated(
            literal(data, run), [p[run] for p in params.values()], steps, rate
        )
        for p, q in zip(out.params.values(), expected, strict=True):
            # A step rounds parameters below 4 and a unit direction of ~40 terms.
            tolerance = steps * (4 + 40 * rate) * EPS
            assert float((p[run] - q).abs().max()) <= tolerance


def test_the_first_stage_stays_exact_when_all_is_learned():
    """W_ov = t η W*/‖W*‖, W* = (e_n(x) − 1/V)_x, while 1 − p falls to 1e-50."""
    V, runs, steps, rate = 6, 3, 300, 1.0
    g = torch.Generator().manual_seed(4)
    following = torch.stack([torch.randperm(V, generator=g) for _ in range(runs)])
    data = NextToken(
        torch.linalg.qr(normal(g, runs, V, V))[0],
        torch.arange(V).expand(runs, V)[..., None],
        following,
        torch.full((runs, V), 1 / V, dtype=torch.float64),
        fixed={"W_kq": torch.zeros(runs, V, V, dtype=torch.float64)},
        tied=False,
    )
    out, lost = (
        train(
            {"W_ov": torch.zeros(runs, V, V, dtype=torch.float64)},
            next_token_loss,
            lambda _: data,
            NormalisedGD(rate),
            steps,
            gradient=gradient,
        ).params["W_ov"]
        for gradient in (next_token_gradient, None)
    )
    margin = steps * rate / math.sqrt(V - 1)
    assert margin > 50 * math.log(10)
    best = (one_hot(following, V).mT.double() - 1 / V) @ data.embedding
    # V summands and the coordinates of the embeddings, each step.
    tolerance = 10 * V * EPS * margin
    assert float(angle(out, best).max()) <= tolerance
    assert float(next_token_gradient({"W_ov": out}, data)[0].max()) < 1e-50
    assert float(angle(lost, best).min()) > 1e-3
