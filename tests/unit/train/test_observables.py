import math

import pytest
import torch

from verify.train.observables import angle, correlation, frobenius

EPS = torch.finfo(torch.float64).eps


def plane(*radians):
    """Matrices that many radians from the first unit matrix."""
    W = torch.zeros(len(radians), 2, 3, dtype=torch.float64)
    for run, t in enumerate(radians):
        W[run, 0, 0], W[run, 1, 2] = math.cos(t), math.sin(t)
    return W


ANGLES = (0.0, 1e-12, 1e-5, 0.3, math.pi / 2, 3.0, math.pi)


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1e-3, 7.0), (2000.0, 1e-20)])
def test_angles_are_accurate_however_small(sizes):
    W, axis = sizes[0] * plane(*ANGLES), sizes[1] * plane(*(0.0,) * len(ANGLES))
    expected = torch.tensor(ANGLES, dtype=torch.float64)
    # Two unit vectors of 6 entries, each entry rounded a few times.
    torch.testing.assert_close(angle(W, axis), expected, rtol=8 * EPS, atol=8 * EPS)
    torch.testing.assert_close(
        correlation(W, axis), expected.cos(), rtol=0, atol=16 * EPS
    )


def test_one_minus_the_cosine_survives_in_the_angle():
    tiny = angle(plane(1e-10), plane(0.0))
    assert bool(correlation(plane(1e-10), plane(0.0)) == 1)
    assert float(2 * (tiny / 2).sin().square()) == pytest.approx(5e-21, rel=1e-12)


def test_norms_are_frobenius():
    W = torch.tensor([[[3.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    assert frobenius(W).tolist() == [5, 2]


def test_no_direction_is_nan_and_only_there():
    W = plane(0.3, 0.3)
    W[0] = 0
    assert angle(W, plane(0.0, 0.0)).isnan().tolist() == [True, False]
    assert correlation(plane(0.0, 0.0), W).isnan().tolist() == [True, False]


def test_a_direction_of_another_shape_is_named():
    with pytest.raises(ValueError, match="`direction`"):
        angle(plane(0.0, 0.1), plane(0.0))
