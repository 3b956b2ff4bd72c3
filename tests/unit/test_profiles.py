"""Profiles: budgets that only grow, and enough seeds for intervals."""

from itertools import pairwise

import pytest

from verify.profiles import NAMES, PROFILES, UnknownProfileError, profile


def test_every_name_is_a_profile():
    assert tuple(PROFILES) == NAMES
    assert [profile(name).name for name in NAMES] == list(NAMES)


@pytest.mark.parametrize("budget", ["examples", "instances", "seeds"])
def test_budgets_grow(budget):
    sizes = [getattr(profile(name), budget) for name in NAMES]
    assert all(one <= other for one, other in pairwise(sizes))
    assert all(isinstance(size, int) for size in sizes)


@pytest.mark.parametrize("name", NAMES)
def test_statistics(name):
    assert profile(name).seeds >= 32
    assert profile(name).level == pytest.approx(1e-6, rel=1e-12)


def test_pick():
    assert [profile(n).pick(smoke=1, default=2, full=3) for n in NAMES] == [1, 2, 3]
    with pytest.raises(TypeError):
        profile("smoke").pick(smoke=1, default=2)


@pytest.mark.parametrize("name", ["", "SMOKE", "ci"])
def test_unknown(name):
    with pytest.raises(UnknownProfileError, match="smoke, default, full"):
        profile(name)
