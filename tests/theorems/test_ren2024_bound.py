"""The generalisation bounds of ren2024, against literal evaluations."""

from fractions import Fraction
from itertools import product
from math import comb, exp, log, sqrt

import numpy as np
import pytest
import sympy as sp

from theorems.ren2024 import bound_c_2_negatives as negatives
from theorems.ren2024 import theorem_3_2_generalisation as theorem
from theorems.ren2024 import theorem_3_2_steps as chain
from theorems.ren2024.bound import (
    classes,
    coins,
    growing,
    moments,
    proofs,
    signs,
    tokens,
)
from theorems.ren2024.bound import negatives as pools
from theorems.ren2024.bound.hunts import COINS
from theorems.ren2024.bound.notation import N, rho
from theorems.ren2024.bound.steps import ball, equal, need
from theorems.ren2024.bound.tokens import Population
from verify import Undecided, Verdict, recheck

MIXED = Population(
    ((2, 1), (-1, 0), (0, 3)), ((1, 0), (0, 1), (-1, 1)), (1, 2, 3), 3, Fraction(1, 10)
)


def features(population):
    """Explicit features of 2^{x·y} at the keys: a factor of the kernel matrix."""
    return np.linalg.cholesky(np.array(population.kernel, float))


def mean_matrix(population, shares):
    v = np.array(population.values, float)
    return (np.array(shares, float)[:, None] * v).T @ features(population)


# ---------------------------------------------------------------- populations


def test_excess_is_that_of_the_minimiser_on_the_ball():
    found = tokens.table(MIXED)
    M = mean_matrix(MIXED, MIXED.chances)
    w = float(MIXED.radius)
    for counts, value in zip(found.counts, found.excess, strict=True):
        hat = mean_matrix(MIXED, counts / MIXED.n)
        best = w * hat / np.linalg.norm(hat)
        literal = -np.sum(best * M) + w * np.linalg.norm(M)
        assert value == pytest.approx(literal, abs=1e-12)


def test_chances_of_all_samples_add_up():
    found = tokens.table(MIXED)
    assert found.chance.sum() == pytest.approx(1)
    exact = [tokens.likelihood(MIXED, counts) for counts in tokens.samples(3, MIXED.n)]
    assert sum(exact) == 1
    assert np.allclose(found.chance, np.array(exact, float))


def test_assumption_holds_in_every_population():
    for population in (MIXED, *COINS, *chain.SAMPLES, *(p.joint for p in pools.PINNED)):
        longest = max(sum(Fraction(x) ** 2 for x in v) for v in population.values)
        widest = max(population.kernel[i][i] for i in range(len(population.keys)))
        assert longest <= (population.length * population.rho) ** 2
        assert population.radius**2 * widest <= population.rho**2


def test_mean_square_gap_by_drawing_every_sequence():
    M = mean_matrix(MIXED, MIXED.chances)
    total = 0.0
    for drawn in product(range(3), repeat=MIXED.n):
        shares = [drawn.count(i) / MIXED.n for i in range(3)]
        chance = np.prod([float(MIXED.chances[i]) for i in drawn])
        gap = np.linalg.norm(mean_matrix(MIXED, shares) - M)
        total += chance * (float(MIXED.radius) * gap) ** 2
    known = moments.moments(MIXED)
    claimed = float(MIXED.radius) ** 2 * float(known[moments.S2] - known[moments.M2])
    assert total == pytest.approx(claimed / MIXED.n)


# ---------------------------------------------------------------- coins


def test_chance_is_the_binomial_tail():
    setting = coins.Setting(61, 10, Fraction(1, 100))
    found = coins.failure(theorem.CONSTANTS, setting)
    p = (1 + float(found.bias)) / 2
    tail = sum(comb(61, k) * p**k * (1 - p) ** (61 - k) for k in range(31))
    assert float(found.chance) == pytest.approx(tail, rel=1e-9)


def test_bias_is_just_enough():
    setting = coins.Setting(101, 10, Fraction(1, 100))
    found = coins.failure(theorem.CONSTANTS, setting)
    limit = 4 * 100 / sqrt(101) + 3 * sqrt(log(400) / 202) + 3 * sqrt(log(200) / 202)
    assert 2 * 100 * float(found.bias) > limit
    assert 2 * 100 * float(found.bias - Fraction(1, coins.FINE)) <= limit


def test_known_failures_of_the_printed_constants():
    for n, most, k, known in ((101, 10, 2, 0.0189), (401, 100, 2, 0.0224)):
        setting = coins.Setting(n, most, Fraction(1, 10**k))
        found = coins.failure(theorem.CONSTANTS, setting)
        assert coins.fails(theorem.CONSTANTS, found)
        assert float(found.chance) == pytest.approx(known, abs=2e-4)
    found = coins.failure(theorem.CONSTANTS, coins.Setting(101, 1, Fraction(1, 100)))
    assert found is None or not coins.fails(theorem.CONSTANTS, found)


@pytest.mark.parametrize(
    "claim",
    [theorem.CONSTANTS, chain.UNIFORM_STEP, chain.HOEFFDING],
    ids=lambda c: c.id,
)
def test_witness_of_a_coin_fails_when_a_count_is_changed(claim):
    outcome = coins.decide(claim, (201,))
    assert outcome.verdict is Verdict.REFUTED
    record = dict(outcome.witness)
    assert recheck.decide(record).valid is True
    record["inputs"] = record["inputs"] | {"up": 2 * coins.FINE, "down": 0}
    assert recheck.decide(record).valid is False


def test_walk_is_the_mean_of_its_absolute_value():
    value = coins.Setting(5, 1, Fraction(1, 2)).at[coins.R]
    literal = [abs(sum(s)) for s in product((-1, 1), repeat=5)]
    assert value == Fraction(sum(literal), len(literal))


# ---------------------------------------------------------------- family


def test_family_is_what_it_says_at_small_n():
    n = 5
    chance = Fraction(1, 4) ** n  # every s = -1 at m = 1/2
    assert chance > Fraction(1, 2) * Fraction(1, 4) ** n
    setting = Population(((n,), (-n,)), ((0,), (0,)), (3, 1), n)
    found = tokens.table(setting)
    all_down = int(np.argmin(found.counts[:, 0]))
    assert found.chance[all_down] == pytest.approx(float(chance))
    assert found.excess[all_down] == pytest.approx(n**2)


def test_family_refutes_whatever_the_power_of_the_dimension():
    for power in (0, sp.Rational(1, 2), 1, 3):
        claim = theorem.THEOREM.at(
            complexity=theorem.THEOREM.complexity.subs(theorem.power, power)
        )
        assert growing.decide(claim).verdict is Verdict.REFUTED


def test_family_does_not_refute_small_radii():
    anchored = theorem.THEOREM.changed(theorem.THEOREM.anchors[-1])
    assert growing.decide(anchored).verdict is Verdict.HOLDS


def test_log_of_the_risk_is_bounded_along_the_family():
    c, e = growing.monomial(theorem.PRINTED, growing.n)
    for size in (1, 10, 1000):
        exact = sqrt((log(2) + 2 * size * log(2)) / size) / size**2
        assert exact <= float(c) * size ** float(e)


# ---------------------------------------------------------------- signs, classes


def test_rademacher_averages_by_explicit_features():
    sample = Population(((1, 2), (0, -1), (2, 2)), ((1,), (0,), (-1,)), (1,) * 3, 3)
    phi, v = features(sample), np.array(sample.values, float)
    losses = [
        np.linalg.norm(sum(s * np.outer(v[i], phi[i]) for i, s in enumerate(one)))
        for one in product((-1, 1), repeat=3)
    ]
    models = [
        np.linalg.norm(np.array(one).reshape(2, 3) @ phi)
        for one in product((-1, 1), repeat=6)
    ]
    w = float(sample.radius)
    assert float(signs.of_losses(sample)) == pytest.approx(w * np.mean(losses))
    assert float(signs.of_models(sample)) == pytest.approx(w * np.mean(models))


def test_contraction_constant_is_attained():
    tight = classes.PINNED[0]
    left = classes.average(classes.left_terms(tight))
    right = classes.average(classes.right_terms(tight, classes.INDEPENDENT))
    assert left**2 == 2 * tight.slope * right**2


def test_ball_encloses():
    expr = 3 * sp.sqrt(sp.log(4 / rho) / (2 * N))
    value = ball(expr, {rho: Fraction(1, 7), N: 9})
    assert abs(float(value.mid()) - 3 * sqrt(log(28) / 18)) < 1e-14
    assert float(value.rad()) < 1e-12


def test_steps_refuse_what_is_not_proved():
    with pytest.raises(Undecided):
        equal("no identity", rho, rho**2)
    with pytest.raises(Undecided):
        need("nothing", sp.Symbol("x") > 0)


def test_hoeffding_at_the_repaired_deviation():
    n, radius, risk = 50, 3.0, 0.05
    t = 2 * radius**2 * sqrt(log(2 / risk) / (2 * n))
    assert exp(-2 * n * t**2 / (2 * radius**2) ** 2) == pytest.approx(risk / 2)
    assert proofs.hoeffding()


def test_negatives_are_averaged():
    pool = pools.PINNED[1]
    assert len(pool.joint.values) == 2 * 2**pool.negatives
    assert moments.mean_of(moments.UNIFORM, pool.joint)[0] == "add"
    assert not pools.contradicts(negatives.GAP, pool)
