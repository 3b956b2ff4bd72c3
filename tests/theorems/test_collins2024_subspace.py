"""The loss on low-rank tasks: quadrature, finite sums, bounds, the written proof."""

import itertools

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024.subspace import (
    cases,
    decide,
    exact,
    family,
    hunt,
    landscape,
    reduction,
)
from theorems.collins2024.subspace.exact import Entries
from theorems.collins2024.subspace.family import terms
from theorems.collins2024.theorem_4_4_boundary import CLAIM as BOUNDARY
from theorems.collins2024.theorem_4_4_boundary import violated
from theorems.collins2024.theorem_4_4_direction import ANY, BEYOND, FIRST, SECOND
from verify import Undecided, Verdict
from verify.recheck import decide as recheck


def by_enumeration(M, n, variance):
    # every prompt and query with u_i, v_i = 1 or -1, softmax as written
    total, prompts = 0.0, 0
    points = [np.array(x) for x in itertools.product((1.0, -1.0), repeat=2)]
    for query in points:
        for tokens in itertools.product(points, repeat=n):
            weights = np.exp([x @ M @ query for x in tokens])
            gamma = weights / weights.sum()
            miss = sum(g * x[0] for g, x in zip(gamma, tokens, strict=True)) - query[0]
            total += miss**2 + variance * (gamma**2).sum()
            prompts += 1
    return total / prompts


@pytest.mark.parametrize("n", [1, 2, 3])
def test_finite_sum_is_the_loss_by_enumeration(n):
    f, t, g = 0.8, -0.6, 0.9
    M = np.array([[f, t], [t, g]])
    found = exact.at(Entries(f, t, g), n, 0.3)
    assert found == pytest.approx(by_enumeration(M, n, 0.3), abs=1e-13)


@pytest.mark.parametrize("n", [2, 3])
def test_rational_formula_agrees(n):
    point = {exact.y: sp.exp(0.7), exact.z: sp.exp(-0.4), exact.noise: 0.2}
    value = float(exact.formula_of(n).subs(point))
    assert value == pytest.approx(float(exact.at(Entries(0.7, 0.0, -0.4), n, 0.2)))


@pytest.mark.parametrize(
    ("c1", "c2", "n", "noise"),
    [(1.0, 0.7, 3, 0.4), (-1.5, 2.0, 3, 0.0), (8.0, 4.0, 2, 1.0), (2.0, 0.0, 5, 0.0)],
)
def test_quadrature_agrees_with_finite_sums(c1, c2, n, noise):
    found = terms(1, 1, c1, c2, n).loss(1, noise)
    assert found == pytest.approx(exact.at(Entries(c1, 0.0, c2), n, noise), abs=1e-12)


def test_slope_is_the_derivative_in_the_complement():
    step = 1e-6
    ends = [exact.at(Entries(1.2, 0.0, 0.7 + s), 3, 0.4) for s in (-step, step)]
    slope = exact.slope(Entries(1.2, 0.0, 0.7), 3, 0.4, np.exp, float)
    assert slope == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-8)


@pytest.mark.parametrize(("k", "rest"), [(2, 1), (1, 2)])
def test_circles_agree_with_the_family(k, rest):
    M = np.diag([1.3] * k + [0.8] * rest)
    found = terms(k, rest, 1.3, 0.8, 2).loss(1, 0.3)
    assert hunt.two_tokens(M, k, 0.3) == pytest.approx(float(found), abs=1e-10)


def test_sampled_prompts_agree_with_the_family():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(100_000, 4, 3)), rng.normal(size=(100_000, 4, 2))
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    weights = np.exp(1.2 * u[..., 0] + 0.7 * v[..., 0])
    gamma = weights / weights.sum(1, keepdims=True)
    mean = (gamma[..., None] * u).sum(1)
    found = terms(3, 2, 1.2, 0.7, 4)
    for sample, value in (
        ((mean**2).sum(1), found.square),
        (mean[:, 0], found.along),
        ((gamma**2).sum(1), found.spread),
    ):
        error = sample.std() / np.sqrt(len(sample))
        assert abs(sample.mean() - value) < 5 * error


def test_error_of_the_quadrature_is_as_stated(monkeypatch):
    scales = [(1, 1, 8.0, 4.0), (2, 1, 8.0, 4.0), (5, 1, 4.0, 2.0), (1, 3, 2.0, 4.0)]
    counts = np.array(landscape.SAMPLES)
    coarse = [terms(*scale, counts) for scale in scales]
    monkeypatch.setattr(family, "STEP", family.STEP / 2)
    family.grid.cache_clear()
    fine = [terms(*scale, counts) for scale in scales]
    family.grid.cache_clear()
    for a, b in zip(coarse, fine, strict=True):
        for name in ("square", "along", "spread"):
            gap = np.abs(getattr(a, name) - getattr(b, name)).max()
            assert gap < landscape.ERROR / 10


@pytest.mark.parametrize("k", [2, 3, 5, 30])
def test_rule_of_the_sphere_has_its_moments(k):
    s, p = family.law(k)
    assert (p * s**2).sum() == pytest.approx(1 / k, abs=1e-14)
    assert (p * s**4).sum() == pytest.approx(3 / (k * (k + 2)), abs=1e-14)
    fine, q = family.law(k, 48)
    assert (p * np.exp(8 * s)).sum() == pytest.approx((q * np.exp(8 * fine)).sum())


def test_floor_bounds_the_loss_of_every_matrix():
    tables = landscape.build(((1, 1),))
    scape = landscape.Landscape.of(tables, (1, 1, 3, 0.0))
    floor = scape.floor(1.0)
    assert floor == pytest.approx(scape.within(1.0).min(), abs=1e-11)
    for f, t, g in itertools.product(
        (0.0, 0.5, 1.0), (0.0, 0.5, 1.0), (-1.0, 0.0, 1.0)
    ):
        assert exact.at(Entries(f, t, g), 3, 0.0) > floor - 1e-11


def test_written_proof_has_its_steps():
    assert len(reduction.steps()) > 10
    assert any("ψ decreases" in step for step in reduction.falling())


def test_witnesses_decide_themselves():
    for claim in (FIRST, SECOND):
        for mutant in claim.mutants:
            record = cases.contradiction(claim.changed(mutant))
            assert record is not None
            assert recheck(record).valid, mutant.name
    assert recheck(cases.one_token()).valid
    assert cases.contradiction(FIRST) is None


def test_proof_stops_where_the_lemmas_do():
    with pytest.raises(Undecided, match="range"):
        decide.by_proof(FIRST.at(bound=sp.Integer(3)))
    with pytest.raises(Undecided, match=r"H\.4"):
        decide.by_proof(BEYOND)
    assert decide.by_proof(ANY).verdict is Verdict.REFUTED


def test_boundary_breaks_just_above_its_reach():
    # n = 2: the best scale falls to 2 as k grows
    assert not violated(BOUNDARY, (30, 2, 1.75, 2.0))
    wide = BOUNDARY.at(reach=sp.Rational(5, 2))
    assert violated(wide, (30, 2, 2.25, 2.5))
