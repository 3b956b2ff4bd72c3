"""Laws of decay are told apart on synthetic truth; damaged series are named."""

import numpy as np
import pytest

from verify import recheck
from verify.fit.power_law import FitStatus, Law, against, local_slopes, resolution

T = np.round(10 ** np.linspace(5, 6, 5))
LAWS = [Law(p, q) for p in (1, 2, 3) for q in (0, 1, 2)]


def series(law: Law, shift: float = 4.0, noise: float = 0.0) -> np.ndarray:
    """A decay with a shift inside the logarithm and a correction of order 1/t."""
    rng = np.random.default_rng(3)
    y = 7.0 * T**-law.power * (np.log(T) - shift) ** law.logs * (1 + 20 / T)
    return y * (1 + noise * rng.standard_normal(len(T)))


@pytest.mark.parametrize("true", LAWS, ids=str)
@pytest.mark.parametrize("claimed", LAWS, ids=str)
def test_only_the_true_law_converges(true, claimed):
    fit = claimed.fit(T, series(true), resolution(T))
    assert (fit.status is FitStatus.CONVERGED) == (true == claimed), fit


@pytest.mark.parametrize("shift", [-6.0, 0.0, 8.0])
def test_the_shift_of_the_logarithm_does_not_matter(shift):
    fit = Law(2, 2).fit(T, series(Law(2, 2), shift), resolution(T))
    assert fit.status is FitStatus.CONVERGED


def test_more_logarithms_than_needed_hit_the_bound():
    assert Law(2, 2).fit(T, series(Law(2, 0)), resolution(T)).status == "bound hit"
    assert Law(2, 0).fit(T, series(Law(2, 2)), resolution(T)).status == "misfit"


def test_what_falls_has_no_leading_logarithm():
    """Found by the power study: y t^1.75 falls, and yet curves upward like log² t."""
    y = T**-2.0 * (np.log(T) + 10) ** 2
    fit = Law(1.75, 2).fit(T, y, resolution(T))
    assert abs(fit.bend) < resolution(T) < fit.lead
    assert fit.status is FitStatus.BOUND_HIT
    assert Law(2, 2).fit(T, y, resolution(T)).status is FitStatus.CONVERGED


def test_noise_beyond_the_tolerance_is_no_fit():
    noisy = series(Law(2, 0), noise=10 * resolution(T))
    assert Law(2, 0).fit(T, noisy, resolution(T)).status is FitStatus.MISFIT


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_values_that_are_no_decay_are_abnormal(bad):
    y = series(Law(2, 0))
    y[2] = bad
    assert Law(2, 0).fit(T, y, 1e-3).status is FitStatus.ABNORMAL


def test_local_slopes_are_the_exponent():
    assert np.allclose(local_slopes(T, T**-1.5), -1.5, rtol=1e-12)


@pytest.mark.parametrize("true", [Law(2, 0), Law(2, 2), Law(1, 0)], ids=str)
@pytest.mark.parametrize("claimed", [*LAWS, Law(1.75, 2)], ids=str)
def test_a_record_decides_what_the_fit_decides(true, claimed):
    y, tolerance = series(true), resolution(T)
    status = claimed.fit(T, y, tolerance).status
    u = y * T**claimed.power
    row = [float(x).hex() for x in u / u.max()]
    bends, leads, rises = (
        recheck.decide({
            "kind": "table",
            "columns": [f"u{k}" for k in range(len(T))],
            "rows": [row],
            "aggregate": "all",
            "relation": relation,
        }).valid
        for relation in against(claimed, tolerance, len(T))
    )
    assert bends == (status == "misfit")
    assert (leads or rises) == (status == "bound hit") or status == "misfit"


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="equal steps"):
        Law(2, 0).fit([1.0, 2.0, 5.0], [1.0, 1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="must increase"):
        Law(2, 0).fit([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="needs 4 points"):
        Law(2, 2).fit([1.0, 2.0, 4.0], [1.0, 1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="no law"):
        Law(2, -1)
    law = Law(2, 0)
    with pytest.raises(ValueError, match="shape"):
        law.fit([1.0, 2.0], [1.0, 1.0, 1.0], 0.1)
