"""What fits and trends say of themselves: each test kills mutants of `verify.fit`.

Which end of an interval a record reaches to, what an outcome carries, series by series.
"""

import dataclasses
import math

import numpy as np
import pytest

from verify import Verdict, recheck
from verify.fit.intervals import Interval, mean_interval, mean_is
from verify.fit.power_law import Fit, FitStatus, Law
from verify.fit.trend import Panel, increasing

ROOT = 20261130
LEVEL = 1e-6


def skewed(between):
    """A sample with a long tail above, its mean so many standard errors from 0."""
    sample = np.random.default_rng(ROOT).standard_exponential(40)
    return sample - sample.mean() + between * mean_interval(sample, LEVEL).error


def test_a_record_reaches_to_the_end_that_faces_zero():
    """Between the two reaches a sample is above 0, and none like it is below."""
    found = mean_interval(skewed(0), LEVEL)
    assert found.below < 0.9 * found.above
    middle = (found.below + found.above) / 2
    for side, sign, holds in ((middle, ">", True), (-middle, "<", False)):
        sample = skewed(side)
        interval = mean_interval(sample, LEVEL)
        assert (abs(interval.separation) > 1) is holds
        record = mean_is(sign, sample, interval, "a mean")
        assert recheck.decide(record).valid is holds
        turned = mean_is("<" if sign == ">" else ">", -sample, interval, "a mean")
        assert recheck.decide(turned).valid is not holds


def test_a_record_says_how_far_it_reaches():
    interval = Interval(5.0, 1.0, 11.0, 1.0, 4.0, 6.0, 3, LEVEL)
    told = [mean_is(s, [1.0, 5.0, 9.0], interval, "gain")["says"] for s in "><"]
    assert told == [
        "gain: mean - 4 standard errors is > 0",
        "gain: mean + 6 standard errors is < 0",
    ]


RECORDS = [
    Interval(1.0, 0.0, 2.0, 0.1, 4.0, 4.0, 32, LEVEL),
    Fit(FitStatus.MISFIT, 1.0, 1.0, 1.0, (), 2),
    Law(2, 0),
    Panel("p", (1, 2), [[1.0, 2.0]]),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda x: type(x).__name__)
def test_what_was_measured_cannot_be_changed(record):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, 0)


T = 2.0 ** np.arange(10, 16)


def test_series_are_held_against_a_law_one_by_one():
    """A series beside a larger one has the differences that it has alone."""
    series = np.stack([3 / T**2, 5e6 * np.log(T) / T**2, 1e-9 / T])
    law = Law(2, 1)
    together = law.differences(T, series)
    for i, y in enumerate(series):
        for many, one in zip(together, law.differences(T, y), strict=True):
            np.testing.assert_array_equal(many[i], one)
    assert [x.shape for x in together] == [(3, 4), (3, 5), (3, 5)]


def test_a_fit_of_what_is_abnormal_has_no_figures():
    found = Law(2, 0).fit(T, [1.0, -1.0, *T[2:]], 0.1)
    assert (found.status, found.slopes, found.n) == (FitStatus.ABNORMAL, (), 6)
    assert all(map(math.isnan, (found.bend, found.lead, found.rise)))


def column(*means, noise):
    rng = np.random.default_rng(ROOT)
    return np.asarray(means) + rng.normal(size=(40, len(means))) * noise


def test_an_outcome_carries_what_was_measured():
    """Of two settings step, ends and slope are one, each at a third of the level."""
    values = column(0, 1, noise=0.4)
    found = mean_interval(values[:, 1] - values[:, 0], LEVEL / 3)
    outcome = increasing([Panel("toy", "ab", values)], LEVEL)
    assert outcome.verdict is Verdict.HOLDS
    assert outcome.margin == pytest.approx(found.separation - 1)
    assert outcome.interval == pytest.approx((found.low, found.high))
    assert (outcome.measured, outcome.n) == (pytest.approx(found.mean), 40)
    down = increasing([Panel("toy", "ab", values[:, ::-1])], LEVEL)
    assert down.verdict is Verdict.REFUTED
    assert down.margin == pytest.approx(1 - found.separation)


def test_a_step_that_may_fall_is_reported_with_its_figures():
    noise = column(0, noise=1.0)[:, 0]
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    fall = noise - 5 / math.sqrt(40)  # five standard errors below 0
    values = np.stack([0 * noise, 9 + 0 * noise, 9 + fall], axis=1)
    outcome = increasing([Panel("toy", "abc", values)], LEVEL)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.reason == "toy: c minus b may be negative"
    lowest = mean_interval(fall, LEVEL / 4)
    assert outcome.margin == pytest.approx(lowest.separation)
    assert -1 < outcome.margin < 0
    assert (outcome.n, outcome.level, outcome.target) == (40, LEVEL, 0.0)
    assert outcome.measured is not None


def test_the_least_sure_comparison_is_named():
    noisy_ends = column(0, 0, 10, 10, noise=[1.0, 0.01, 0.01, 1.0])
    outcome = increasing([Panel("toy", "abcd", noisy_ends)], LEVEL)
    assert outcome.reason == "1 of 3 steps separated; least sure: toy: d minus a"
    assert outcome.certificate["says"].startswith("toy: d minus a: mean - ")
    noisy_middle = column(0, 0, 10, 10, noise=[0.01, 4.0, 4.0, 0.01])
    outcome = increasing([Panel("toy", "abcd", noisy_middle)], LEVEL)
    assert outcome.reason.endswith("least sure: toy: slope over a, b, c, d")


@pytest.mark.parametrize("sign", [">", "<"])
def test_a_record_has_the_ends_of_its_interval(sign):
    """A hundredth of its reach beyond an end it stands, and short of it it does not."""
    sample = np.random.default_rng(5).lognormal(size=32)
    found = mean_interval(sample, LEVEL)
    end, side = (found.low, 1) if sign == ">" else (found.high, -1)
    for share, stands in ((0.01, True), (-0.01, False)):
        moved = sample - end + side * share * abs(found.mean - end)
        record = mean_is(sign, moved, mean_interval(moved, LEVEL), "a mean")
        assert recheck.decide(record).valid is stands
