"""Theorem 3.4: verdicts, constants and corrected slopes."""

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024 import theorem_3_4_remainder as remainder
from theorems.collins2024 import theorem_3_4_scale as claims
from theorems.collins2024.bounds import bracket, decide, limit, observed, scale
from theorems.collins2024.bounds.notation import d
from theorems.collins2024.loss import affine, evaluate, minimise, relu
from verify import Undecided, Verdict
from verify.recheck import decide as recheck

# w*/Λ^ORDER in the limit, from minimisers up to Λ = 1e12, for d = 2..6.
KAPPA = {
    "affine": (0.38843, 0.60571, 0.84914, 1.12468, 1.43092),
    "relu": (0.19892, 0.31362, 0.47254, 0.67131, 0.90651),
}


@pytest.fixture(scope="module")
def optima() -> observed.Optima:
    return observed.observe(0, 1, 0, lambda done, total: None)


@pytest.mark.parametrize("claim", claims.INTERVALS, ids=lambda claim: claim.id)
def test_intervals(claim: claims.Claim, optima: observed.Optima) -> None:
    base = claim.changed(*claim.anchors[:1])
    for judge in (decide.interval, lambda one: observed.interval(one, optima)):
        assert judge(claim).verdict is claim.finding.verdict
        if claim.anchors:
            assert judge(base).verdict is Verdict.HOLDS
        for mutant in claim.mutants:
            outcome = judge(claim.changed(*claim.anchors[:1], mutant))
            assert outcome.verdict is Verdict.REFUTED, mutant.name
            assert recheck(outcome.witness).valid


@pytest.mark.parametrize("law", scale.LAWS.values(), ids=lambda law: law.name)
def test_constants(law: scale.Law) -> None:
    found = [float(limit.kappa(law).subs(d, size)) for size in (2, 3, 4, 5, 6)]
    assert found == pytest.approx(KAPPA[law.name], rel=2e-5)
    for size in (2, 3, 5, 8):
        low, middle, high = (
            float(x.subs(d, size)) for x in (law.late, limit.kappa(law), law.high)
        )
        assert float(law.low.subs(d, size)) < low < middle < high


@pytest.mark.parametrize("size", [2, 3, 5])
def test_minimisers_lie_between_the_constants(size: int) -> None:
    for law, task in ((scale.AFFINE, affine), (scale.RELU, relu)):
        ratio = np.geomspace(1, 1e6, 4)
        n = np.maximum(ratio, 10.0)
        found = minimise(task(size), n, np.sqrt(n / ratio)).w
        power = ratio ** float(law.order.subs(d, size))
        assert np.all(found >= float(law.low.subs(d, size)) * power)
        assert np.all(found <= float(law.high.subs(d, size)) * power)


def test_a_condition_between_both_regimes_is_left_open() -> None:
    claim = claims.RELU.at(condition=(d + 2) / d + sp.Rational(1, 100))
    assert decide.interval(claim).verdict is Verdict.INCONCLUSIVE


def test_an_exponent_too_close_is_left_open() -> None:
    near = 2 / (d + 3) - sp.Rational(1, 10**6)
    claim = claims.AFFINE_REPAIRED.at(low=near, high=near)
    assert decide.interval(claim).verdict is Verdict.INCONCLUSIVE


def test_rounding_is_outward() -> None:
    exact = scale.AFFINE.top.subs(d, 5)
    assert scale.below(scale.AFFINE.top, 5) < exact < scale.above(scale.AFFINE.top, 5)
    assert scale.above(scale.AFFINE.top, 5) < exact * sp.Rational(1003, 1000)


def test_models_of_a_slope() -> None:
    law = scale.AFFINE
    one = observed.minimisers(law, 5, np.array([1e10]), np.ones(1))[0]
    assert observed.exponent(one) == pytest.approx(1 / 4, abs=1e-4)
    shift = observed.modelled(one)[1] - np.log(one.ratio)
    assert abs(shift) < 1e-3


@pytest.mark.parametrize("law", scale.LAWS.values(), ids=lambda law: law.name)
@pytest.mark.parametrize("size", [2, 5])
def test_brackets_contain_the_minimiser(law: scale.Law, size: int) -> None:
    one = bracket.setting(law, size, 10**5, 10**10)
    low, high = bracket.bracket(one)
    task = affine if law is scale.AFFINE else relu
    found = float(minimise(task(size), 1e10, np.sqrt(1e5)).w)
    assert low < found < high < 1.2 * low


def test_bounds_in_balls_hold_on_both_sides() -> None:
    one = bracket.setting(scale.RELU, 3, 10**4, 10**8)
    for w in (0.5 * one.middle, one.middle, 2 * one.middle):
        here = bracket.token(one, w)
        exact = float(evaluate(relu(3), w, 1e8, 1e2).value)
        low = bracket.signal(one, here) + bracket.noise(one, here)
        assert float(low.mid()) < exact < float(bracket.upper(one, w).mid())


def test_weights_of_relu_add_up() -> None:
    weights, rest = bracket.shares(scale.RELU, 5, 100.0)
    task = relu(5)
    assert [float(x.mid()) for x in weights[:4]] == pytest.approx(task.weights[:4])
    assert rest > 0


def test_too_few_tokens_are_refused() -> None:
    one = bracket.Setting(scale.AFFINE, 5, 10**4, 100, 10.0)
    with pytest.raises(Undecided, match="too small"):
        bracket.bracket(one)


def test_an_enclosure_across_an_end_is_open() -> None:
    ends = {("affine", size): (1.0, 1e9) for size in remainder.DIMENSIONS}
    assert remainder.decide(remainder.AFFINE, ends).verdict is Verdict.INCONCLUSIVE
