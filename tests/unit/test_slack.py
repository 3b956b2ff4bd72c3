"""Slack: the empirical distribution, few points, and nothing lost at its ends."""

import pytest

from verify.outcome import Figure
from verify.slack import LEAST, MOST, slack, together


def test_a_small_sample_is_drawn_in_full():
    (series,) = slack({"b": [0.5, 0.25, 1.0]}).series
    assert series.x == [0.25, 0.25, 0.5, 1.0]
    assert series.y == [0.0, 1 / 3, 2 / 3, 1.0]
    assert series.label == "b, 3 instances"
    assert series.style == "steps"


def test_a_large_sample_keeps_its_extremes_and_its_shares():
    ratios = [(k + 1) / 10_000 for k in range(10_000)]
    (series,) = slack({"b": reversed(ratios)}).series
    assert len(series.x) <= MOST + 2
    assert (series.x[0], series.x[-1]) == (ratios[0], ratios[-1])
    assert all(
        abs(x - y) < 1e-12 for x, y in zip(series.x[1:], series.y[1:], strict=True)
    )


def test_the_curve_reaches_the_mark_and_beyond():
    figure = slack({"short": [0.1], "over": [1.5]})
    short, over = figure.series
    assert (short.x[-1], short.y[-1]) == (1.5, 1.0)
    assert max(over.x) == pytest.approx(1.5)
    assert figure.marks == {"attained": 1.0}


@pytest.mark.parametrize(
    ("ratios", "log", "zeros"),
    [
        ([0.0, 0.2, 0.9], False, False),
        ([1e-3, 2e-3, 0.9], True, False),
        ([0.0, 1e-3, 2e-3, 0.9], True, True),
        ([0.0, 0.0], True, True),
    ],
)
def test_the_axis_is_logarithmic_where_most_ratios_are_tiny(ratios, log, zeros):
    figure = slack({"b": ratios})
    assert figure.x_log is log
    assert figure.series[0].x[0] == max(ratios[0], LEAST)
    assert ("zeros among them" in figure.caption) is zeros


def test_bounds_without_instances_are_left_out():
    assert slack({"none": [], "one": [0.5]}).series[0].label == "one, 1 instance"
    assert slack({}).series == ()


def test_distributions_found_one_by_one_share_a_figure():
    other = Figure("other", "t", "x", "y", ())
    joined, kept = together([slack({"a": [0.5]}), other, slack({"b": [1e-4]})])
    assert [series.label for series in joined.series] == [
        "a, 1 instance",
        "b, 1 instance",
    ]
    assert joined.x_log
    assert kept is other
    assert together([other]) == (other,)
