"""The batched attention unit against autograd and the one-model transcription."""

import math

import naive
import pytest
import torch

from verify.train.icl import TASKS, Prompt, Setting, draw, prompts
from verify.train.loop import Status
from verify.train.random import keys_of, normal
from verify.train.window import (
    INIT,
    NAMES,
    gradient,
    loss,
    observables,
    predict,
    pretrain,
)

EPS = torch.finfo(torch.float64).eps
SEEDS = [5, 8, 13, 5]


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


L, SIGMA = numbers(1.0, 0.3, 3.0, 1.0), numbers(0.01, 0.1, 0.0, 1.0)
RATES = numbers(0.1, 0.01, 0.03, 0.001)
SHAPES = pytest.mark.parametrize(
    ("d", "n", "queries"), [(2, 1, 1), (3, 7, 2), (5, 20, 4), (6, 4, 1)]
)


def problem(d, n, queries, size=1.0, runs=6):
    keys = keys_of(range(runs), "problem")
    ones = torch.ones(runs, dtype=torch.float64)
    prompt = draw(Setting("relu", "isotropic", d, n, queries), keys, ones, ones, 0)
    return {"W": size * normal(keys, 9, 0, (d, d))}, prompt


@SHAPES
def test_predictions_are_the_transcription(d, n, queries):
    params, prompt = problem(d, n, queries)
    # No symmetry, so that M and its transpose are told apart.
    M = params["W"]
    ours = predict(M, prompt)
    assert ours.shape == (6, queries)
    for run in range(6):
        x, y, query, _ = (part[run] for part in prompt)
        expected = torch.stack([naive.predict(M[run], x, y, q) for q in query])
        # Scores below d |M| round by d eps each; labels are below 8.
        size = 8 * (4 * d + n) * EPS * float(M[run].norm() + 1)
        assert float((ours[run] - expected).abs().max()) <= size


@SHAPES
@pytest.mark.parametrize("size", [0.01, 1.0, 4.0])
def test_the_closed_form_is_the_gradient_of_the_literal_loss(d, n, queries, size):
    params, prompt = problem(d, n, queries, size)
    losses, grads = gradient(params, prompt)
    W = params["W"].clone().requires_grad_()
    literal = loss({"W": W}, prompt)
    (expected,) = torch.autograd.grad(literal.sum(), W)
    literal = literal.detach()
    torch.testing.assert_close(losses, literal, rtol=1e-12, atol=1e-13)
    # Sums of n and d terms, each rounded, of scores that size^2 magnifies; relative to
    # the largest entry of each run, for small entries are differences of large ones.
    scale = expected.abs().amax(dim=(1, 2)) + 1e-3 * size
    error = (grads["W"] - expected).abs().amax(dim=(1, 2)) / scale
    assert float(error.max()) <= 1e-12
    if n > 1:
        assert float(expected.abs().max()) > 1e-4 * size


def test_the_closed_form_is_the_slope_of_the_naive_loss():
    params, prompt = problem(3, 7, 2)
    losses, grads = gradient(params, prompt)
    for run in range(6):
        parts = [part[run] for part in prompt]
        W = params["W"][run].clone().requires_grad_()
        value = naive.loss(W, *parts)
        (expected,) = torch.autograd.grad(value, W)
        assert float(losses[run]) == pytest.approx(value.item(), rel=1e-12)
        torch.testing.assert_close(grads["W"][run], expected, rtol=1e-11, atol=1e-13)


def test_the_layout_of_the_prompts_does_not_matter():
    params, prompt = problem(3, 7, 2)
    copied = Prompt(*(part.contiguous() for part in prompt))
    assert not prompt.x.is_contiguous()
    losses, grads = gradient(params, prompt)
    again, other = gradient({"W": params["W"].contiguous()}, copied)
    torch.testing.assert_close(again, losses, rtol=1e-13, atol=0)
    torch.testing.assert_close(other["W"], grads["W"], rtol=1e-11, atol=1e-14)


def test_large_scores_do_not_overflow():
    params, prompt = problem(3, 7, 2, size=1e3)
    losses, grads = gradient(params, prompt)
    torch.testing.assert_close(losses, loss(params, prompt), rtol=1e-6, atol=1e-9)
    assert bool(grads["W"].isfinite().all())


def test_a_run_that_is_not_finite_leaves_the_others_alone():
    params, prompt = problem(3, 7, 2)
    losses, grads = gradient(params, prompt)
    broken = params["W"].clone()
    broken[2, 0, 0] = math.nan
    broken[4] = 1e200
    other, slopes = gradient({"W": broken}, prompt)
    keep = [0, 1, 3, 5]
    assert torch.equal(other[keep], losses[keep])
    assert torch.equal(slopes["W"][keep], grads["W"][keep])
    assert not other[[2, 4]].isfinite().any()


def served(setting, seed, L, sigma, steps):
    """The prompts of one run, as `pretrain` draws them."""
    at = prompts(setting, keys_of([seed], *NAMES), L[None], sigma[None])
    return [[part[0] for part in at(t)] for t in range(steps)]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("covariates", ["isotropic", "non-isotropic"])
def test_batched_training_is_the_transcription(task, covariates):
    steps, decay = 50, 0.99
    setting = Setting(task, covariates, 3, 8, 2)
    out = pretrain(
        setting, SEEDS, L, SIGMA, RATES, steps=steps, decay=decay, snapshots=range(51)
    )
    assert out.status == (Status.FINISHED,) * 4
    for run, seed in enumerate(SEEDS):
        given = served(setting, seed, L[run], SIGMA[run], steps)
        W, losses = naive.train(given, float(RATES[run]), decay)
        # Adam divides the gradient by its own size, so that a step errs by lr times the
        # relative rounding of the gradient: 20 eps for sums of 8 tokens and thrice 3
        # coordinates, 1000 eps where they cancel fiftyfold. The errors of 50 steps
        # add up. A loss rounds as squares of labels below 8 do, besides.
        tolerance = 1000 * steps * EPS * float(RATES[run])
        assert float((out.params["W"][run] - W).abs().max()) <= tolerance
        error = (out.losses[:-1, run] - numbers(*losses)).abs().max()
        assert float(error) <= 10 * tolerance + 64 * EPS


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_training_does_not_depend_on_the_split_of_the_runs(cut):
    setting = Setting("affine", "isotropic", 3, 8, 2)
    whole = pretrain(setting, SEEDS, L, SIGMA, RATES, steps=50)
    for part in (slice(cut), slice(cut, None)):
        alone = pretrain(
            setting, SEEDS[part], L[part], SIGMA[part], RATES[part], steps=50
        )
        # As above: the order of a sum may follow the number of runs.
        error = (alone.params["W"] - whole.params["W"][part]).abs().amax(dim=(1, 2))
        assert bool((error <= 1000 * 50 * EPS * RATES[part]).all())


def test_training_repeats_to_the_last_bit():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    first, second = (
        pretrain(setting, SEEDS, L, SIGMA, RATES, steps=30) for _ in range(2)
    )
    assert torch.equal(first.params["W"], second.params["W"])
    assert torch.equal(first.losses, second.losses)


def test_training_starts_at_the_multiple_of_the_identity():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    out = pretrain(setting, SEEDS, L, SIGMA, RATES, steps=0)
    expected = INIT * torch.eye(3, dtype=torch.float64).expand(4, 3, 3)
    assert torch.equal(out.params["W"], expected)
    assert out.steps == (0,)
    assert float(out.observed["trace_over_d"][0, 0]) == pytest.approx(INIT**2)


def test_training_finds_a_window():
    setting = Setting("affine", "isotropic", 3, 20, 4)
    runs = 40
    ones = torch.ones(runs, dtype=torch.float64)
    out = pretrain(
        setting,
        range(runs),
        ones,
        0.01 * ones,
        0.1 * ones,
        steps=300,
        snapshots=[0, *range(250, 301)],
    )
    # Averaging all labels leaves E l^2 (w x)^2 = 1/9; a window of trained width less
    # than half of it, in the mean of 40 runs and 50 steps.
    assert float(out.losses[1:].mean()) < 0.5 / 9
    assert float(out.observed["trace_over_d"][-1].min()) > 1


def test_a_diverging_run_is_recorded_and_leaves_its_neighbours_alone():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    wild = RATES.clone()
    wild[1] = 1e200
    good, bad = (
        pretrain(setting, SEEDS, L, SIGMA, lr, steps=30, snapshots=range(31))
        for lr in (RATES, wild)
    )
    assert [s is Status.DIVERGED for s in bad.status] == [False, True, False, False]
    assert int(bad.diverged_at[1]) == 1
    keep = [0, 2, 3]
    assert torch.equal(bad.params["W"][keep], good.params["W"][keep])
    assert torch.equal(bad.losses[:, keep], good.losses[:, keep])
    for name, seen in bad.observed.items():
        assert torch.equal(seen[:, keep], good.observed[name][:, keep])
        assert bool(seen[1:, 1].isnan().all())


def test_the_limit_reaches_the_loop():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    out = pretrain(setting, SEEDS, L, SIGMA, RATES, steps=3, limit=0.0)
    assert out.diverged_at.tolist() == [0] * 4


def test_observables_are_those_of_the_product():
    W = numbers([[1.0, 2.0], [0.0, 2.0]], [[3.0, 0.0], [0.0, 0.5]], [[1.0, 1e200]] * 2)
    seen = observables({"W": W})
    # Run 0: M = [[1, 2], [2, 8]], eigenvalues (9 +- sqrt 65) / 2.
    expected = {
        "spectral_norm": ((9 + math.sqrt(65)) / 2, 9.0),
        "trace_over_d": (4.5, 4.625),
        "largest_off_diagonal": (2.0, 0.0),
    }
    assert seen.keys() == expected.keys()
    for name, values in expected.items():
        assert seen[name].shape == (3,)
        assert seen[name][:2].tolist() == pytest.approx(values, rel=8 * EPS)
        assert math.isnan(seen[name][2])


def test_float32_follows_float64():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    short, long = (
        pretrain(setting, SEEDS, L, SIGMA, RATES, steps=20, dtype=dtype)
        for dtype in (torch.float32, torch.float64)
    )
    assert short.params["W"].dtype == short.losses.dtype == torch.float32
    error = (short.params["W"] - long.params["W"]).abs().amax(dim=(1, 2))
    # As for float64, with the rounding of float32.
    assert bool((error <= 1000 * 20 * 2.0**-23 * RATES).all())


def test_progress_and_snapshots_reach_the_loop():
    seen = []
    out = pretrain(
        Setting("cosine", "isotropic", 2, 3, 1),
        SEEDS,
        L,
        SIGMA,
        RATES,
        steps=4,
        snapshots=[1, 3],
        progress=lambda done, steps: seen.append((done, steps)),
    )
    assert out.steps == (1, 3)
    assert out.observed["spectral_norm"].shape == (2, 4)
    assert seen == [(t, 4) for t in range(1, 5)]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"learning_rate": numbers(0.1, 0.1, math.nan, 0.1)}, "`lr`"),
        ({"learning_rate": numbers(0.1, 0.1, -0.1, 0.1)}, "`lr`"),
        ({"learning_rate": numbers(0.1)}, "`learning_rate`"),
        ({"lipschitz": numbers(1.0, 1.0)}, "`lipschitz`"),
        ({"noise": numbers(0.1, 0.1, 0.1, -0.1)}, "`noise`"),
        ({"seeds": []}, "`learning_rate`"),
        ({"decay": 1.5}, "`decay`"),
        ({"steps": -1}, "`steps`"),
        ({"init": 0.0}, "`init`"),
        ({"init": math.nan}, "`init`"),
        ({"init": math.inf}, "`init`"),
    ],
)
def test_bad_arguments_are_named(change, match):
    arguments = {
        "setting": Setting("affine", "isotropic", 3, 8, 2),
        "seeds": SEEDS,
        "lipschitz": L,
        "noise": SIGMA,
        "learning_rate": RATES,
        "steps": 2,
    }
    with pytest.raises(ValueError, match=match):
        pretrain(**{**arguments, **change})
