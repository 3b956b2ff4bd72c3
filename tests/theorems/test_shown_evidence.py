"""Figures of claims show what was judged: bands over seeds, local slopes, late runs."""

import numpy as np
import pytest

from theorems.collins2024.window.bands import spread
from theorems.huang2024.rates import decay
from theorems.huang2024.rates.figures import SHOWN, STEPS, late_run
from theorems.huang2024.theorem_1_direction import REPAIRED
from verify.fit.power_law import Law


def test_a_band_leaves_runs_that_diverged_out():
    values = np.array([[1.0, 2.0], [3.0, 6.0], [np.nan, 100.0]])
    mean, low, high = spread(values)
    assert mean == [2.0, 4.0]
    assert low == pytest.approx([1.1, 2.2])
    assert high == pytest.approx([2.9, 5.8])
    assert spread(values[2:]) == ([], [], [])


def decays(gap, log_excess):
    """Three runs that follow given laws; the second on degenerate data."""
    times = np.array(decay.TIMES, dtype=float)
    size = np.array([[1.0], [2.0], [3.0]])
    return decay.Decays(
        strict=np.array([True, False, True]),
        aligned=np.array([False, False, False]),
        gaps={name: size * gap(times) for name in decay.DIRECTIONS},
        log_excess=size * log_excess(times),
        speed=np.array([1.0, 2.0, 3.0]),
        discards={},
    )


def test_local_slopes_of_a_power_are_its_exponent():
    found = decays(lambda t: t**-2.0, lambda t: -t)
    figure = decay.slope_figure(Law(2.0, 0), found, decay.STRICT)
    observed, claimed = figure.series
    assert observed.y == pytest.approx([-2.0] * len(observed.x))
    assert claimed.y == pytest.approx(observed.y)
    assert "2 datasets" in observed.label
    assert figure.bands == {"limit of the claimed law": (-2.0, -2.0)}


def test_logarithms_bend_the_claimed_slopes():
    found = decays(lambda t: t**-2.0 * np.log(t + 1) ** 2, lambda t: -t)
    figure = decay.slope_figure(Law(2.0, 2), found, decay.DEGENERATE)
    observed, claimed = figure.series
    assert claimed.y[0] > -1.7
    assert np.diff(claimed.y).max() < 0
    assert observed.y == pytest.approx(claimed.y, abs=0.01)


def test_rates_are_in_units_of_the_speed():
    found = decays(lambda t: t**-2.0, lambda t: -t)
    figure = decay.rate_figure(found, 0.9, 1.1)
    (rates,) = figure.series
    assert rates.y == pytest.approx([1.0] * len(rates.x))
    assert figure.bands == {"claimed, with tolerance": (0.9, 1.1)}


def test_the_late_run_waits_where_the_frequent_text_points_to():
    figure = late_run(REPAIRED.bound)
    observed, bound = figure.series
    ((alone, _),) = figure.bands.values()
    waits = [gap for t, gap in zip(observed.x, observed.y, strict=True) if t < STEPS]
    assert len(waits) > 5
    assert waits == pytest.approx([alone] * len(waits), rel=1e-6)
    assert observed.y[-1] < alone / 100
    assert all(y <= b for y, b in zip(observed.y, bound.y, strict=True))
    assert list(observed.x) == list(SHOWN.times)
