"""Student intervals: they keep their promise, and their records can be recomputed."""

import math

import numpy as np
import pytest

from verify import recheck
from verify.fit.intervals import mean_interval, mean_is

ROOT = 20240817


@pytest.mark.parametrize("shape", ["normal", "uniform", "laplace"])
@pytest.mark.parametrize("level", [1e-1, 1e-2, 1e-3])
def test_coverage(shape, level):
    """Misses over 20 000 samples; five binomial deviations: 6e-7 of error per case.

    The intervals are at least four standard errors wide, so misses are bounded by the
    level of those, 3.6e-4 at 31 degrees of freedom.
    """
    rng = np.random.default_rng([ROOT, int(1 / level)])
    draw = {"normal": rng.normal, "uniform": rng.uniform, "laplace": rng.laplace}
    truth = 0.5 if shape == "uniform" else 0.0
    samples = draw[shape](size=(20_000, 32))
    allowed = 20_000 * min(level, 3.7e-4)
    missed = misses(samples, truth, level)
    assert missed <= allowed + 5 * math.sqrt(allowed) + 1


def misses(samples, truth, level):
    """Count the samples, one per row, whose interval misses the true mean."""
    errors = samples.std(1, ddof=1) / math.sqrt(samples.shape[1])
    far = np.abs(samples.mean(1) - truth) > 4 * errors  # narrower it never is
    found = [mean_interval(sample, level) for sample in samples[far]]
    return sum(not i.low <= truth <= i.high for i in found)


def test_a_long_tail_widens_its_side():
    """Of 200 000 exponential samples of 32, Student's 1e-6 interval misses 76."""
    from scipy import stats

    rng = np.random.default_rng(ROOT)
    samples = rng.standard_exponential(size=(200_000, 32))
    t = (samples.mean(1) - 1) / (samples.std(1, ddof=1) / math.sqrt(32))
    assert np.sum(np.abs(t) > stats.t.isf(5e-7, 31)) > 40
    assert misses(samples, 1.0, 1e-6) <= 4


@pytest.mark.parametrize("n", [2, 32, 1000])
def test_skewness_never_narrows_and_has_a_limit(n):
    for sample in np.random.default_rng(ROOT).lognormal(size=(100, n)):
        found, mirrored = mean_interval(sample, 1e-6), mean_interval(-sample, 1e-6)
        assert (found.below, found.above) == (mirrored.above, mirrored.below)
        narrow, wide = sorted((found.below, found.above))
        assert narrow == pytest.approx(mean_interval(range(n), 1e-6).below)
        assert narrow <= wide <= 3 * narrow


def test_hall_is_inverted():
    """Where the end lies, the transformed statistic is Student's quantile."""
    sample = np.concatenate([np.arange(100.0), [200.0]])
    found = mean_interval(sample, 1e-3)
    slant = float(np.mean(((sample - found.mean) / sample.std()) ** 3)) / math.sqrt(101)
    t = -found.above
    hall = t + slant * t**2 / 3 + slant**2 * t**3 / 27 + slant / 6
    assert -hall == pytest.approx(found.below)
    assert found.above > 1.05 * found.below


def test_the_interval_is_students():
    half = np.random.default_rng(ROOT).normal(1.0, 2.0, 20)
    sample = np.concatenate([half, -half])  # no skewness
    found = mean_interval(sample, 1e-6)
    from scipy import stats

    low, high = stats.t.interval(
        1 - 1e-6, 39, loc=sample.mean(), scale=stats.sem(sample)
    )
    assert (found.low, found.high) == pytest.approx(
        (low, high), rel=1e-8
    )  # 1 - level is rounded
    assert found.n == 40
    assert found.separation == pytest.approx(found.mean / (high - found.mean))


def test_never_narrower_than_four_standard_errors():
    sample = np.arange(1000.0)
    found = mean_interval(sample, 0.5)
    assert found.below == found.above == 4


def test_equal_values_are_separated_unless_they_are_zero():
    assert mean_interval([2.0] * 40, 1e-6).separation == math.inf
    assert mean_interval([-2.0] * 40, 1e-6).separation == -math.inf
    assert mean_interval([0.0] * 40, 1e-6).separation == 0


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([1.0], 0.1),
        ([], 0.1),
        ([1.0, math.nan], 0.1),
        ([[1.0, 2.0]], 0.1),
        ([1.0, 2.0], 0.0),
        ([1.0, 2.0], 1.0),
        ([1.0, 2.0], math.nan),
    ],
)
def test_bad_input(values, level):
    with pytest.raises(ValueError, match=r"`values` must be|`level` must lie"):
        mean_interval(values, level)


@pytest.mark.parametrize("shift", [1.0, -1.0])
def test_records_can_be_recomputed_and_changing_a_number_breaks_them(shift):
    sample = np.random.default_rng(ROOT).normal(shift, 0.1, 32)
    interval = mean_interval(sample, 1e-6)
    sign = ">" if shift > 0 else "<"
    record = mean_is(sign, sample, interval, "a mean")
    assert recheck.decide(record).valid is True
    for other in (
        {"relation": ["<" if sign == ">" else ">", *record["relation"][1:]]},
    ):
        assert recheck.decide(record | other).valid is False
    rows = [list(row) for row in record["rows"]]
    rows[0][0] = (-100.0 * shift).hex()
    with pytest.raises(recheck.RecheckError, match="sqrt outside its domain"):
        recheck.decide(record | {"rows": rows})  # a variance below 0
    far = ["mul", (1e3).hex(), record["relation"][1][2][2]]
    side = [*record["relation"][1][:2], far]
    assert recheck.decide(record | {"relation": [sign, side, 0]}).valid is False


def test_a_record_of_what_is_not_separated_does_not_stand():
    sample = np.random.default_rng(ROOT).normal(0.0, 1.0, 32)
    record = mean_is(">", sample, mean_interval(sample, 1e-6), "a mean")
    assert recheck.decide(record).valid is False
