"""Figure 9: planted outcomes, what runs see, and the loss of linear attention."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from theorems.collins2024.low_rank import deciding, linear, studies, training
from verify import Verdict
from verify.profiles import profile
from verify.recheck import decide
from verify.runs import Batch

RNG = np.random.default_rng(9)
SMOKE, DEFAULT = profile("smoke"), profile("default")


@pytest.mark.parametrize(
    ("mean", "expected"), [(1.0, "HOLDS"), (-1.0, "REFUTED"), (0.005, "INCONCLUSIVE")]
)
@pytest.mark.parametrize("sign", [">", "<"])
def test_one_sided_bounds_are_decided_with_a_record(mean, expected, sign):
    side = 1.0 if sign == ">" else -1.0
    values = side * (mean + 0.05 * RNG.normal(size=32))
    sure = deciding.Bound("sure", side * (1 + 0.05 * RNG.normal(size=32)), sign, 0.0)
    one = deciding.Bound("one", values + 3, sign, 3.0)
    outcome = deciding.at_once([sure, one], 1e-6)
    assert outcome.verdict is Verdict[expected], outcome.reason
    record = outcome.witness if expected == "REFUTED" else outcome.certificate
    if record:
        assert decide(record).valid


def test_too_few_seeds_decide_nothing():
    values = RNG.normal(size=32)
    values[0] = np.nan
    outcome = deciding.at_once([deciding.Bound("one", values, ">", -9.0)], 1e-6)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.discards == {"the run diverged": 1}


def test_studies_cover_what_the_claims_say():
    study = studies.pretraining(DEFAULT, 0, "cpu")
    assert len(study.seeds) >= 32
    assert study.options["decay"] == pytest.approx(1.0)
    tuned = {(c["attention"], c["lr"]) for c in study.configurations}
    assert tuned == set(studies.TUNED.items())
    assert not set(study.seeds) & set(studies.tuning(DEFAULT, 0, "cpu").seeds)


def batch(models, **options):
    options = {
        "d": 4, "k": 2, "n": 6, "sigma": 0.1, "steps": 3, "decay": 1.0, "init": 0.5,
        "covariates": "skewed", "every": 3, "tests": 30, "projected": True, **options,
    }  # fmt: skip
    configurations = [m.configuration for m in models]
    return Batch(configurations, [5] * len(models), options, "cpu", "float64")


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_what_sees_the_subspace_has_no_other_part(attention):
    models = [studies.Model(attention, "cosine", s) for s in ("all", "subspace")]
    out = training.pretrain(batch(models))
    start = {name: v[0].tolist() for name, v in out.observed.items()}
    # At the start both have M = I / 4, one of them cut to col(B).
    assert start["spurious_most"][0] == pytest.approx(0.25)
    assert start["spurious_most"][1] < 1e-20
    assert start["error"][1] == pytest.approx(start["error_projected"][0], rel=1e-9)
    assert out.observed["error"][1, 0] != out.observed["error"][0, 0]


def test_a_constant_does_not_change_softmax_attention():
    models = [studies.Model("softmax", task) for task in ("linear", "affine")]
    out = training.pretrain(batch(models))
    first, second = out.params["W"]
    torch.testing.assert_close(first, second, rtol=1e-9, atol=1e-12)


def test_the_loss_of_linear_attention_is_the_counted_one():
    constant, noise = Fraction(2), Fraction(1, 2)
    at = {linear.n: 2, linear.d: 2, linear.k: 1, linear.b: 2}
    at |= {linear.variance: sp.Rational(1, 4)}
    for c, other in ((1, 0), (0, 1), (2, -3)):
        derived = linear.loss().subs(at | {linear.c: c, linear.c_other: other})
        counted = linear.value(sp.Matrix([c, 0, 0, other]), constant, noise)
        assert sp.simplify(derived - counted) == 0
    c = linear.scale().subs(at)
    best = linear.value(sp.Matrix([c, 0, 0, 0]), constant, noise)
    assert best == linear.least(constant, noise)
