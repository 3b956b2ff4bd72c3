"""Figures 3 and 4 of collins2024: the recipe is the paper's, the decision is fair."""

import math

import numpy as np
import pytest
import torch

from theorems.collins2024 import figure_3_lipschitzness as figure_3
from theorems.collins2024 import figure_4_noise_and_samples as figure_4
from theorems.collins2024.window import ablation
from theorems.collins2024.window.training import pretrain
from verify import Verdict
from verify.profiles import profile
from verify.runs import Batch, Trained, Trainings

SMOKE = profile("smoke")
STUDIES = {
    3: ablation.study("figure-3", figure_3.plots(), SMOKE, 0, "cpu", 32),
    4: ablation.study("figure-4", figure_4.plots(), SMOKE, 0, "cpu", 32),
}


@pytest.mark.parametrize("number", STUDIES)
def test_the_recipe_is_appendix_js(number):
    study = STUDIES[number]
    assert study.options == {
        "d": 5, "steps": 900, "every": 50, "decay": 0.999, "init": 0.001,
    }  # fmt: skip
    assert len(study.seeds) == len(set(study.seeds)) == 32
    assert {c["lr"] for c in study.configurations} == {0.1 if number == 3 else 0.01}
    for c in study.configurations:
        varied = [k for k in ("L", "sigma", "n") if c[k] != ablation.DEFAULTS[k]]
        assert len(varied) <= 1
    assert max(chunk.runs for chunk in study.chunks()) <= 320


def test_queries_are_one_only_where_n_varies():
    for plot in (*figure_3.plots(), *figure_4.plots()):
        for c in plot.configurations():
            one = plot.varied == "n"
            assert c["queries"] == (1 if one else math.isqrt(c["n"]))
    ns = [c["n"] for c in STUDIES[4].configurations if c["queries"] == 1]
    assert sorted(set(ns)) == [5, 10, 20, 50]


def test_another_seed_gives_other_runs():
    other = ablation.study("figure-3", figure_3.plots(), SMOKE, 1, "cpu", 32)
    assert not set(other.seeds) & set(STUDIES[3].seeds)


def test_the_trainer_observes_what_is_decided():
    (first, *_) = STUDIES[3].configurations
    last = STUDIES[3].configurations[-1]
    options = STUDIES[3].options | {"steps": 100}
    batch = Batch([first, last], [5, 5], options, "cpu", "float64")
    trajectory = pretrain(batch)
    assert trajectory.steps == (0, 50, 100)
    norms = trajectory.observed["spectral_norm"]
    assert norms[0].tolist() == pytest.approx([1e-6, 1e-6])
    assert bool((norms[-1] > 0.1).all())
    W = trajectory.params["W"]
    largest = torch.linalg.matrix_norm(W.mT @ W, ord=2)
    assert norms[-1].tolist() == pytest.approx(largest.tolist(), rel=1e-12)


def trainings(study, norm):
    """A study whose runs have the given norms at every snapshot."""
    rng = np.random.default_rng(7)
    steps = np.arange(0, ablation.steps_of(SMOKE) + 1, ablation.EVERY)
    groups: dict = {}
    for c in study.configurations:
        groups.setdefault(tuple(c[name] for name in study.same), []).append(c)
    made = []
    for members in groups.values():
        runs = [(c, s) for c in members for s in study.seeds]
        values = np.array([norm(c) for c, _ in runs])
        noisy = values[:, None] + rng.normal(0, 0.1, (len(runs), len(steps)))
        noisy += rng.normal(0, 0.1, (len(runs), 1))
        made.append(
            Trained(
                tuple(c for c, _ in runs), np.array([s for _, s in runs]), steps,
                np.zeros_like(noisy), {"spectral_norm": np.exp(noisy)}, {},
                np.full(len(runs), -1),
            )
        )  # fmt: skip
    return Trainings(study, tuple(made), ("key",))


def true(c):
    return math.log(c["L"]) - math.log(c["sigma"]) + math.log(c["n"])


CASES = [
    ("as claimed", true, "HOLDS", "HOLDS"),
    ("opposite", lambda c: -true(c), "REFUTED", "REFUTED"),
    ("flat", lambda c: 0.0, "INCONCLUSIVE", "INCONCLUSIVE"),
    ("L the wrong way", lambda c: true(c) - 2 * math.log(c["L"]), "REFUTED", "HOLDS"),
    ("n the wrong way", lambda c: true(c) - 2 * math.log(c["n"]), "HOLDS", "REFUTED"),
    (
        "wrong for cosine tasks alone",
        lambda c: true(c) if c["task"] == "relu" else -true(c),
        "REFUTED",
        "REFUTED",
    ),
]


@pytest.mark.parametrize(
    ("name", "norm", "third", "fourth"), CASES, ids=[c[0] for c in CASES]
)
def test_planted_norms_are_told_apart(name, norm, third, fourth):
    for module, number, expected in ((figure_3, 3, third), (figure_4, 4, fourth)):
        checks = [v for v in vars(module).values() if type(v).__name__ == "Check"]
        (check,) = (c for c in checks if module.CLAIM in c.claims)
        outcome = check(module.CLAIM, trainings(STUDIES[number], norm), SMOKE)
        assert outcome.verdict is Verdict[expected], (name, outcome.reason)


def test_diverged_runs_are_counted_and_too_many_decide_nothing():
    found = trainings(STUDIES[3], true)
    (group,) = (g for g in found.groups if len(g.seeds) == 32 * 18)
    group.diverged_at[0] = 17
    outcome = figure_3.windows_shrink_with_lipschitzness(figure_3.CLAIM, found, SMOKE)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert sum(outcome.discards.values()) == 2  # in both averages
    group.diverged_at[:] = 17
    outcome = figure_3.windows_shrink_with_lipschitzness(figure_3.CLAIM, found, SMOKE)
    assert outcome.n == 0
    assert len(outcome.figures) == 0
