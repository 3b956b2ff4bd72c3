"""Trained windows, exact errors of collins2024: recipes, planted outcomes, oracles."""

import numpy as np
import pytest
import torch

from theorems.collins2024 import figure_5_transfer as figure_5
from theorems.collins2024 import theorem_3_4_trained as theorem
from theorems.collins2024.window import (
    bands,
    comparing,
    converging,
    hills,
    optimum,
    pairings,
    scaling,
    spread,
    testing,
)
from verify import Verdict
from verify.profiles import profile
from verify.recheck import decide
from verify.runs import Batch, Trained, Trainings
from verify.train.icl import Setting, draw
from verify.train.random import keys_of

SMOKE, DEFAULT, FULL = (profile(name) for name in ("smoke", "default", "full"))
RNG = np.random.default_rng(5)


def noisy(mean, size=32, spread=0.01):
    return mean + spread * RNG.normal(size=size)


@pytest.mark.parametrize(
    ("mean", "expected"),
    [(1.0, "HOLDS"), (1.3, "REFUTED"), (0.7, "REFUTED"), (1.1, "INCONCLUSIVE")],
)
def test_means_are_decided_with_a_witness(mean, expected):
    found = [
        bands.Band("a", noisy(1.0), 0.9, 1.1),
        bands.Band("b", noisy(mean), 0.9, 1.1),
    ]
    outcome = bands.within(found, 1e-6)
    assert outcome.verdict is Verdict[expected], outcome.reason
    if expected == "REFUTED":
        assert decide(outcome.witness).valid
        assert " b" in f" {outcome.witness['says']}"


def test_too_few_seeds_decide_nothing_and_losses_are_counted():
    values = noisy(1.0)
    values[3] = np.nan
    outcome = bands.within([bands.Band("a", values, 0.0, 2.0)], 1e-6)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.discards == {"the run diverged": 1}


@pytest.mark.parametrize(("sign", "holds"), [("<=", False), (">=", True)])
def test_errors_are_compared_exactly(sign, holds):
    rows = [("one", 3.0, 1.0), ("two", 2.5, 1.0)]
    outcome = comparing.compared(rows, sign, theorem.Integer(2))
    assert outcome.verdict is (Verdict.HOLDS if holds else Verdict.REFUTED)
    assert decide(outcome.certificate if holds else outcome.witness).valid


def test_the_exact_slope_is_the_slope_of_a_power_law():
    windows = 3.0 * np.array(scaling.LAMBDAS) ** 0.375
    assert scaling.slope(windows) == pytest.approx(0.375, rel=1e-13)


def test_the_study_covers_what_the_claims_say():
    for one, dimensions in ((SMOKE, {3}), (DEFAULT, {3}), (FULL, {2, 3, 5})):
        study = scaling.study(one, 0, "cpu")
        assert {c["d"] for c in study.configurations} == dimensions
        assert len(study.seeds) >= 32
    for setting in scaling.settings(SMOKE):
        ratio = scaling.N / setting.sigma**2
        assert ratio == pytest.approx(setting.Lambda, rel=1e-13)


def planted(study, diagonal):
    """A study whose M is diagonal, with independent noise of one percent."""
    groups: dict = {}
    for c in study.configurations:
        groups.setdefault(tuple(c[name] for name in study.same), []).append(c)
    made = []
    for members in groups.values():
        runs = [(c, s) for c in members for s in study.seeds]
        values = np.array([diagonal(c) for c, _ in runs])[:, None, :]
        values = values * np.exp(0.01 * RNG.normal(size=(len(runs), 5, 1)))
        observed = {"diagonal": values}
        made.append(
            Trained(
                tuple(c for c, _ in runs), np.array([s for _, s in runs]),
                np.arange(5), np.zeros((len(runs), 5)), observed, {},
                np.full(len(runs), -1),
            )
        )  # fmt: skip
    return Trainings(study, tuple(made), ("key",))


@pytest.fixture(scope="module")
def optima():
    return {(task, 3): scaling.exact(task, 3) for task in scaling.CLASSES}


@pytest.mark.parametrize(
    ("power", "scale", "reached", "exponents"),
    [
        (0.0, 1.0, "HOLDS", "HOLDS"),
        (0.0, 0.5, "REFUTED", "HOLDS"),
        (0.05, 1.0, "REFUTED", "REFUTED"),
    ],
)
def test_planted_windows_are_told_apart(optima, power, scale, reached, exponents):
    def diagonal(c):
        Lambda = c["n"] / c["sigma"] ** 2
        at = int(np.argmin(np.abs(np.array(scaling.LAMBDAS) - Lambda)))
        w = optima[c["task"], 3][at] * scale * (Lambda / 100) ** power
        return np.full(3, w)

    found = planted(scaling.study(SMOKE, 0, "cpu"), diagonal)
    first = theorem.averages_are_the_optimum(theorem.REACHED, found, optima, SMOKE)
    second = theorem.slopes_follow_the_exponents(
        theorem.EXPONENTS, found, optima, SMOKE
    )
    assert first.verdict is Verdict[reached], first.reason
    assert second.verdict is Verdict[exponents], second.reason


@pytest.mark.parametrize(("power", "expected"), [(2, "HOLDS"), (1, "REFUTED")])
def test_planted_forms_are_told_apart(power, expected):
    best = optimum.windows("affine", 3, [1.0], [32.0], [0.5])[0]
    found = planted(
        scaling.stretched_study(SMOKE, 0, "cpu"),
        lambda _: best * np.array(scaling.SIGMA) ** power,
    )
    outcome = theorem.diagonal_follows_the_square(theorem.FORM, found, SMOKE)
    assert outcome.verdict is Verdict[expected], outcome.reason


def test_stretched_covariates_change_the_scores_alone():
    # M = 4 I on doubled covariates has the scores of M = 16 I on the sphere.
    (configuration,) = scaling.stretched_study(SMOKE, 0, "cpu").configurations
    losses = []
    for init, stretch in ((2.0, "2.0 2.0 2.0"), (4.0, "1")):
        options = {"lr": 0.1, "decay": 1.0, "steps": 1, "every": 1}
        options |= {"init": init, "stretch": stretch}
        batch = Batch([configuration], [3], options, "cpu", "float64")
        trajectory = converging.pretrain(batch)
        assert trajectory.observed["diagonal"][0].tolist() == [[init**2] * 3]
        losses.append(trajectory.losses[0])
    torch.testing.assert_close(*losses, rtol=1e-12, atol=0)


def test_tests_of_figure_5_are_held_out_and_paired():
    study = pairings.study(SMOKE, 0, "cpu")
    assert study.options["decay"] == pytest.approx(0.999)
    assert {(c["n"], c["queries"], c["sigma"]) for c in study.configurations} == {
        (200, 14, 0.01)
    }
    small = [
        {**c, "n": 6, "queries": 2} for c in study.configurations if c["L"] in {1.0}
    ]
    options = study.options | {"steps": 20}
    out = testing.pretrain(Batch(small, [7] * len(small), options, "cpu", "float64"))
    keys = keys_of([7], "in-context regression")
    one = torch.ones(1, dtype=torch.float64)
    errors = []
    for step in range(testing.TASKS):
        p = draw(Setting("relu", "isotropic", 5, 6, 2), keys, one, 0.01 * one, step,
                 held_out=True)  # fmt: skip
        # W = .001 I: the prediction is the mean of the labels, up to M = 1e-6 I.
        errors.append(float((p.y.mean() - p.target).square().mean()))
    for run in range(len(small)):
        seen = float(out.observed["error_relu"][0, run])
        assert seen == pytest.approx(np.mean(errors), rel=1e-4)


def test_exact_windows_are_the_known_ones():
    found = optimum.windows("affine", 5, [1.0, 10.0], [20.0] * 2, [0.01] * 2)
    assert found == pytest.approx([6.6807, 6.6937], abs=1e-4)
    assert not optimum.best(optimum.Class("cosine", 10.0).at(5), 20, 0.01)
    # scipy's bounded minimisation of a transcription of the loss gave this.
    assert optimum.best(optimum.Class("cosine", 1.0).at(5), 200, 0.01) == pytest.approx(
        18.8056, abs=2e-4
    )


def test_errors_of_pairings_have_the_least_on_the_diagonal():
    found = figure_5.errors.function()
    for test in pairings.TESTS:
        assert all(found.ratio(one, test) >= 1 - 1e-12 for one in found.windows)


def test_bias_is_a_mean_over_prompts():
    d, n, w = 3, 20, 10.0
    x = RNG.normal(size=(20_000, n, d))
    u = 1 - (x / np.linalg.norm(x, axis=-1, keepdims=True))[..., 0]
    gamma = np.exp(-w * u)
    values = (gamma * u).sum(axis=1) / gamma.sum(axis=1)
    error = values.std() / np.sqrt(len(values))
    assert abs(spread.bias(w, n, d) - values.mean()) < 5 * error
    assert spread.bias(0.0, n, d) == pytest.approx(1.0, rel=1e-12)


def test_hills_have_their_masses_and_linear_attention_its_minimum():
    whole = hills.masses(6.0)
    assert (whole.degrees, whole.rest) == ((6,), 0.0)
    assert whole.weights.tolist() == pytest.approx([0.5], rel=1e-12)
    jumping = hills.masses(1.5)
    theta = np.linspace(-np.pi, np.pi, 200_001)[:-1]
    for k, mass in zip(jumping.degrees[:3], jumping.weights[:3], strict=True):
        f = np.exp(1j * (1.5 - k) * theta).mean(), np.exp(1j * (1.5 + k) * theta).mean()
        assert mass == pytest.approx(sum(abs(c) ** 2 for c in f) / 2, rel=1e-4)
    # Linear attention by least squares over drawn prompts.
    n, sigma, count = 8, 0.3, 100_000
    angles = RNG.uniform(-np.pi, np.pi, (count, n + 1))
    b = RNG.uniform(-np.pi, np.pi, (count, 1))
    f = np.cos(1.5 * angles - b)
    y = f[:, :n] + sigma * RNG.normal(size=(count, n))
    h = (y * np.cos(angles[:, :n] - angles[:, n:])).sum(axis=1)
    c = (h @ f[:, n]) / (h @ h)
    squares = (c * h - f[:, n]) ** 2
    error = squares.std() / np.sqrt(count)
    assert abs(squares.mean() - hills.linear(1.5, n, sigma)) < 5 * error
