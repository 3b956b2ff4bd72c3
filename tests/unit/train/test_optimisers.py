"""Every rule against torch.optim, one model at a time."""

import math

import pytest
import torch

from verify.train.optimisers import SGD, Adam, Momentum, NormalisedGD, over_runs

RUNS, STEPS = 4, 60
SHAPES = {"W": (3, 2), "b": (3,), "c": ()}
RATES = torch.tensor([0.3, 0.01, 0.0, 1.7], dtype=torch.float64)
EPS = torch.finfo(torch.float64).eps


def tensors(g):
    return {
        name: torch.randn(RUNS, *shape, generator=g, dtype=torch.float64)
        for name, shape in SHAPES.items()
    }


def sequence():
    g = torch.Generator().manual_seed(3)
    return tensors(g), [tensors(g) for _ in range(STEPS)]


def batched(optimiser):
    params, grads = sequence()
    state = optimiser.init(params)
    for t, grad in enumerate(grads):
        params, state = optimiser.step(params, grad, state, t)
    return params


def one_by_one(make, decay):
    params, grads = sequence()
    for r in range(RUNS):
        model = {name: p[r].clone().requires_grad_() for name, p in params.items()}
        optimiser = make(list(model.values()), float(RATES[r]))
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, decay)
        for grad in grads:
            for name, p in model.items():
                p.grad = grad[name][r].clone()
            optimiser.step()
            schedule.step()
        for name, p in model.items():
            params[name][r] = p.detach()
    return params


@pytest.mark.parametrize("decay", [1.0, 0.97])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda lr, k: SGD(lr, k), lambda p, lr: torch.optim.SGD(p, lr)),
        (
            lambda lr, k: SGD(lr, k, weight_decay=0.1),
            lambda p, lr: torch.optim.SGD(p, lr, weight_decay=0.1),
        ),
        (
            lambda lr, k: Momentum(lr, k, beta=0.8),
            lambda p, lr: torch.optim.SGD(p, lr, momentum=0.8),
        ),
        (lambda lr, k: Adam(lr, k), lambda p, lr: torch.optim.Adam(p, lr)),
        (
            lambda lr, k: Adam(lr, k, beta1=0.5, beta2=0.9, eps=0.1),
            lambda p, lr: torch.optim.Adam(p, lr, betas=(0.5, 0.9), eps=0.1),
        ),
        (
            lambda lr, k: Adam(lr, k, weight_decay=0.2),
            lambda p, lr: torch.optim.Adam(p, lr, weight_decay=0.2),
        ),
    ],
    ids=["sgd", "weight-decay", "momentum", "adam", "adam-betas", "adam-l2"],
)
def test_batched_steps_equal_torch_optim(ours, theirs, decay):
    got, expected = batched(ours(RATES, decay)), one_by_one(theirs, decay)
    for name, p in expected.items():
        # A step rounds ~8 times, on values up to the largest one met: |p| and
        # lr * |velocity| <= 1.7 * 4/(1 - 0.8) = 34.
        tolerance = STEPS * 8 * EPS * max(34.0, float(p.abs().max()))
        assert float((got[name] - p).abs().max()) <= tolerance


@pytest.mark.parametrize("make", [SGD, Momentum, Adam, NormalisedGD])
def test_a_number_is_the_same_rate_for_all_runs(make):
    tensor = torch.full((RUNS,), 0.25, dtype=torch.float64)
    left, right = batched(make(0.25)), batched(make(tensor))
    for name, p in left.items():
        tolerance = STEPS * 4 * EPS * max(1.0, float(p.abs().max()))
        assert float((p - right[name]).abs().max()) <= tolerance


@pytest.mark.parametrize("make", [SGD, Momentum, Adam, NormalisedGD])
def test_steps_leave_their_arguments_alone(make):
    params, grads = sequence()
    before = {name: p.clone() for name, p in params.items()}
    optimiser = make(0.1)
    state = optimiser.init(params)
    frozen = {k: {n: v.clone() for n, v in s.items()} for k, s in state.items()}
    optimiser.step(params, grads[0], state, 0)
    assert all(torch.equal(before[name], p) for name, p in params.items())
    assert all(torch.equal(frozen[k][n], state[k][n]) for k in state for n in state[k])


@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
def test_normalised_steps_have_length_lr_over_all_parameters(size):
    params, grads = sequence()
    grad = {name: size * g for name, g in grads[0].items()}
    moved, _ = NormalisedGD(RATES, decay=0.5).step(params, grad, {}, 3)
    step = torch.cat([(params[k] - moved[k]).reshape(RUNS, -1) for k in params], dim=1)
    flat = torch.cat([g.reshape(RUNS, -1) for g in grads[0].values()], dim=1)
    # Differences of numbers up to 4 carry 4 * eps each, on steps of 10 entries.
    torch.testing.assert_close(
        step,
        RATES[:, None] / 8 * flat / flat.norm(dim=1, keepdim=True),
        rtol=0,
        atol=40 * EPS,
    )


def test_a_run_with_zero_gradient_stays():
    params, grads = sequence()
    grad = {name: g.clone() for name, g in grads[0].items()}
    for g in grad.values():
        g[1] = 0
    moved, _ = NormalisedGD(0.5).step(params, grad, {}, 0)
    assert all(torch.equal(moved[k][1], params[k][1]) for k in params)
    assert all(not torch.equal(moved[k][0], params[k][0]) for k in params)


def test_over_runs_broadcasts_from_the_left():
    assert over_runs(RATES, torch.empty(RUNS, 3, 2)).shape == (RUNS, 1, 1)
    assert over_runs(RATES, torch.empty(RUNS)).shape == (RUNS,)


@pytest.mark.parametrize("make", [SGD, Momentum, Adam, NormalisedGD])
@pytest.mark.parametrize(
    "lr",
    [math.nan, -0.1, math.inf, torch.tensor([0.1, -1.0]), torch.tensor([[0.1]])],
)
def test_bad_learning_rates_are_named(make, lr):
    with pytest.raises(ValueError, match="`lr`"):
        make(lr)


@pytest.mark.parametrize(
    ("make", "name", "values"),
    [
        (SGD, "decay", (0.0, 1.1, math.nan)),
        (SGD, "weight_decay", (-1.0, math.nan, math.inf)),
        (Momentum, "beta", (-0.1, 1.0, math.nan)),
        (Adam, "beta1", (-0.1, 1.0)),
        (Adam, "beta2", (-0.1, 1.0, math.nan)),
        (Adam, "eps", (0.0, -1.0, math.nan)),
    ],
)
def test_bad_settings_are_named(make, name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"`{name}`"):
            make(0.1, **{name: value})
