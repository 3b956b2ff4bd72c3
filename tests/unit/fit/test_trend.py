"""Trends: what is true holds, what is false is refuted, what is close is undecided."""

import math

import numpy as np
import pytest

from verify import Verdict, recheck
from verify.fit.trend import Panel, increasing
from verify.outcome import faults_of

ROOT = 20240818
LEVEL = 1e-6


def panel(truth, *, noise=0.1, seeds=32, name="toy", draw=0):
    rng = np.random.default_rng([ROOT, draw])
    shared = rng.normal(0, 3, (seeds, 1))  # paired: large, and it cancels
    values = np.asarray(truth) + shared + rng.normal(0, noise, (seeds, len(truth)))
    return Panel(name, [f"s{i}" for i in range(len(truth))], values)


def decided(*panels, level=LEVEL):
    outcome = increasing(panels, level)
    assert faults_of(outcome) == ""
    for record in (outcome.witness, outcome.certificate):
        if record is not None:
            assert recheck.decide(record).valid is True
    return outcome


def test_a_trend_holds_with_a_certificate():
    outcome = decided(panel([1, 2, 3]), panel([0, 5], name="other"))
    assert outcome.verdict is Verdict.HOLDS
    assert outcome.certificate is not None
    assert outcome.margin > 0
    assert outcome.n == 64
    assert outcome.interval[0] > 0
    assert "3 of 3 steps separated" in outcome.reason


def test_a_flat_step_does_not_hinder_a_trend():
    outcome = decided(panel([1, 2, 2]))
    assert outcome.verdict is Verdict.HOLDS
    assert "1 of 2 steps separated" in outcome.reason


@pytest.mark.parametrize("truth", [[3, 2, 1], [1, 3, 2], [2, 1, 3]])
def test_one_step_the_wrong_way_refutes(truth):
    outcome = decided(panel([0, 1], name="fine"), panel(truth))
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.witness["says"].startswith("toy: ")
    assert outcome.margin < 0
    assert outcome.interval[1] < 0


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [(3.9, Verdict.HOLDS), (4.1, Verdict.INCONCLUSIVE), (7.5, Verdict.REFUTED)],
)
def test_a_step_that_seems_to_fall_leaves_a_trend_open(errors, verdict):
    """Found by the power study: a step 6 standard errors below 0 did not hinder."""
    half = np.random.default_rng(ROOT).standard_normal(16)
    noise = np.concatenate([half, -half])  # no skewness
    noise = (noise - noise.mean()) / noise.std(ddof=1)  # a standard error of 1/sqrt(32)
    fall = -errors / math.sqrt(32) + noise
    values = np.stack([0 * noise, 9 + noise**2, 9 + noise**2 + fall], axis=1)
    assert decided(Panel("toy", ["a", "b", "c"], values)).verdict is verdict


def test_no_trend_is_undecided():
    outcome = decided(panel([1, 1, 1]))
    assert outcome.verdict is Verdict.INCONCLUSIVE


def test_one_undecided_panel_leaves_all_undecided():
    outcome = decided(panel([1, 2]), panel([1, 1], name="flat"))
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "flat" in outcome.reason


def test_pairs_with_a_missing_run_are_counted_and_not_used():
    good = panel([1, 2, 3], seeds=40)
    values = np.array(good.values)
    values[[3, 7], 1] = math.nan
    values[3, 2] = math.inf
    outcome = decided(Panel(good.name, good.settings, values))
    assert outcome.verdict is Verdict.HOLDS
    assert (outcome.n, dict(outcome.discards)) == (
        38,
        {"a run of the seed diverged": 2},
    )


@pytest.mark.parametrize("seeds", [0, 31])
def test_too_few_seeds_decide_nothing(seeds):
    outcome = decided(panel([1, 2, 3], seeds=seeds))
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "fewer than 32 complete seeds in toy" in outcome.reason


def test_false_alarms_stay_within_the_level():
    """No trend at all: 400 decisions at level 5 %, five deviations of the count.

    HOLDS and REFUTED are each at most half of the level; 1e-6 of error.
    """
    fates = [increasing([panel([0, 0, 0], draw=i)], 0.05).verdict for i in range(400)]
    wrong = sum(fate is not Verdict.INCONCLUSIVE for fate in fates)
    assert wrong <= 20 + 5 * math.sqrt(19)


def test_power():
    """An effect of ten standard errors is found, mostly, and one of twelve."""
    for noise, found in ((0.4, 40), (0.33, 47)):
        fates = [
            increasing([panel([0, 0.5, 1.0], noise=noise, draw=i)], LEVEL).verdict
            for i in range(50)
        ]
        assert fates.count(Verdict.HOLDS) >= found
    assert Verdict.REFUTED not in fates


@pytest.mark.parametrize(
    ("panels", "said"),
    [
        ([], "`panels` is empty"),
        ([Panel("one", ["a"], np.zeros((32, 1)))], "at least two settings"),
        ([Panel("other", ["a", "b"], np.zeros((32, 3)))], "shape"),
        ([Panel("flat", ["a", "b"], np.zeros(32))], "shape"),
    ],
)
def test_bad_panels(panels, said):
    with pytest.raises(ValueError, match=said):
        increasing(panels, LEVEL)
