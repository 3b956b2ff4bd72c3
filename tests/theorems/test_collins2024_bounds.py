"""The elementary bounds against exact values: Bessel functions and quadrature."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import gammaln, ive

from theorems.collins2024.bounds import estimator, harmonics, limit, neighbour, tilt
from theorems.collins2024.bounds.notation import DENSITY, MASS, PEAK, d, k, w
from theorems.collins2024.bounds.steps import equal, nonnegative, positive
from theorems.collins2024.loss import moments, relu
from verify import Undecided

DIMENSIONS = (2, 3, 4, 5, 8)
SCALES = np.logspace(-1, 4, 26)
ROUNDING = 1e-9  # far above the rounding of Bessel ratios, far below every slack


def drop(size: int, degree: int, scale: np.ndarray) -> np.ndarray:
    """d_k as 1 - I_{nu+k}/I_nu."""
    return 1 - ive(size / 2 - 1 + degree, scale) / ive(size / 2 - 1, scale)


def mass(size: int, scale: np.ndarray) -> np.ndarray:
    """A(w) by its Bessel function."""
    nu = size / 2 - 1
    return np.exp(gammaln(size / 2) + nu * np.log(2 / scale)) * ive(nu, scale)


def at(expr: sp.Expr, size: int, **more: object) -> np.ndarray:
    """Evaluate an expression in d, w, k."""
    values = {d: size, **{sp.Symbol(x, positive=True): y for x, y in more.items()}}
    reduced = sp.sympify(expr).subs(values)
    return sp.lambdify(w, reduced, "numpy")(SCALES) * np.ones_like(SCALES)


def below(low: np.ndarray, high: np.ndarray) -> bool:
    """Whether low <= high up to rounding."""
    return bool(np.all(low <= high * (1 + ROUNDING)))


@pytest.mark.parametrize("size", DIMENSIONS)
def test_one_token(size: int) -> None:
    far, here = drop(size, 1, SCALES), mass(size, SCALES)
    ratio, m = mass(size, 2 * SCALES) / here**2, (size - 1) / 2
    assert below(at(tilt.FAR_LOW, size), far)
    assert below(far, np.minimum(1, at(tilt.FAR_HIGH, size)))
    assert below(here, at(tilt.A_HIGH, size))
    assert below(np.maximum(1, SCALES) ** -m / 3, here)
    assert below(at(MASS * w**-m * sp.exp(-(m**2) / (2 * w)), size), here)
    late = SCALES >= 1
    assert below((at(tilt.R_LOW * w**m, size))[late], ratio[late])
    assert below(ratio[late], (at(tilt.R_HIGH * w**m, size))[late])
    slack = at(m / w + limit.SLACK / w**2, size)
    assert below(far[late], slack[late])


@pytest.mark.parametrize("size", DIMENSIONS)
def test_degrees(size: int) -> None:
    for degree in (1, 2, 3, 6, 20):
        lost = drop(size, degree, SCALES)
        assert below(at(harmonics.DROP_LOW, size, k=degree), lost)
        assert below(lost, np.minimum(1, at(harmonics.DROP_HIGH, size, k=degree)))


@pytest.mark.parametrize("size", DIMENSIONS)
def test_weights_of_the_kink(size: int) -> None:
    task = relu(size)
    degrees = np.array(task.degrees)
    found = 6 * np.array(task.weights)[degrees > 1]
    even = degrees[degrees > 1].astype(float)
    peak = float(PEAK.subs(d, size))
    assert below(peak * (even + size / 2 - 1) ** -4, found)
    assert below(found, peak * (even - 1) ** -4)
    assert float(DENSITY.subs(d, 3)) == pytest.approx(0.5)


@pytest.mark.parametrize("size", DIMENSIONS)
@pytest.mark.parametrize("tokens", [2, 10, 1000, 10**6])
def test_many_tokens(size: int, tokens: int) -> None:
    exact = moments(SCALES, np.full_like(SCALES, tokens), size, (1, 2, 4))
    here = mass(size, SCALES)
    ratio, shrink = mass(size, 2 * SCALES) / here**2, (1 + 1 / (tokens * here)) ** -2
    assert below(ratio * shrink, tokens * exact.V)
    assert below(tokens * exact.V, 7 * ratio)
    assert below(drop(size, 1, SCALES) ** 2, exact.E[:, 0])
    near = at(estimator.NEAR_LOW, size) * ratio / tokens
    assert below((drop(size, 1, SCALES) ** 2 + near) * shrink, exact.E[:, 0])
    for column, degree in enumerate((1, 2, 4)):
        once, twice = (drop(size, degree, x) for x in (SCALES, 2 * SCALES))
        tail = 5 * np.exp(-tokens / (8 * ratio))
        high = 4 * (once**2 + 2 * ratio / tokens * twice) + tail
        assert below(once**2 * shrink, exact.E[:, column])
        assert below(exact.E[:, column], high)
    if size > 2:
        crowded = tokens ** (2 / (size - 1))
        floor = float(neighbour.FLOOR.subs(d, size)) / crowded
        assert below(
            np.full(26, floor)[crowded <= SCALES], exact.E[crowded <= SCALES, 0]
        )


def test_start_is_before_the_minimum() -> None:
    exact = moments(0.0, 2.0, 3, (1,), order=1)
    assert exact.dE[0] == pytest.approx(-2 / 3 * (1 - 1 / 2))
    assert float(estimator.START.subs(d, 3)) < 1e-3


def test_steps_are_refused() -> None:
    assert nonnegative(k**2 - 2 * k + 1, {k: 1})
    assert not nonnegative(1 - k, {k: 0})
    assert not nonnegative(sp.sqrt(k), {k: 0})
    with pytest.raises(Undecided, match="not proved"):
        positive("1 - k", 1 - k, {k: 0})
    with pytest.raises(Undecided, match="not proved"):
        equal("k", k, k + 1)


def test_the_shape_integral() -> None:
    x = np.linspace(1e-3, 60, 400_001)
    value = np.trapezoid((1 - np.exp(-(x**2) / 2)) ** 2 / x**4, x) + 1e-3 / 4
    rest = 60**-3 / 3  # of x^-4 beyond 60
    assert value + rest == pytest.approx(float(limit.SHAPE), abs=1e-7)
