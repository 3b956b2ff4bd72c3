"""Rates of stage 2: steps of the proofs, families solved by hand, laws of decay."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theorems.huang2024.data.assumptions import violations
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.dynamics.compact import solve
from theorems.huang2024.dynamics.engine import run
from theorems.huang2024.rates import decay, decide, families, laws, observed, proof
from theorems.huang2024.rates.families import R, value
from theorems.huang2024.rates.notation import (
    AFTER,
    C_0T,
    LOSS_AFTER,
    PRINTED_AFTER,
    RATE,
    WITH_FREQUENCIES,
    Delta,
    K,
    eta,
    phi,
)
from theorems.huang2024.theorem_1_decay import EXCESS, STRICT
from theorems.huang2024.theorem_1_direction import ANY, CLAIM, FREQUENCIES, REPAIRED
from theorems.huang2024.theorem_2_loss import BY_WEIGHTS, LOSS, WEIGHT
from verify import Cause, Undecided, recheck
from verify.fit.power_law import Law


def stands(record):
    return recheck.decide(record).valid


@pytest.mark.parametrize(
    "steps",
    [
        proof.edges, proof.gibbs, proof.spread, proof.growth, proof.weights,
        proof.strict, proof.never_faster, proof.loss, proof.late_enough,
        families.delayed, families.squared, families.stuck,
    ],
    ids=lambda steps: steps.__name__,
)  # fmt: skip
def test_every_step_is_proved(steps):
    assert len(steps()) >= 3


def test_a_step_that_is_false_is_refused():
    with pytest.raises(Undecided) as refused:
        proof.need("1 > 2", proved=False)
    assert refused.value.cause is Cause.NO_PROOF


@pytest.mark.parametrize("data", [families.pair(), families.columns(5)])
def test_families_satisfy_every_assumption(data):
    assert not violations(data)
    assert data.is_prefix_closed
    assert data.injective


def test_three_tokens_satisfy_the_assumptions_literally():
    assert not violations(families.three())
    assert not observed.is_grouped(families.three())


def test_the_gradient_is_a_positive_combination_of_edges():
    """The form of step 1 against the engine's descent, at an arbitrary state."""
    rng = np.random.default_rng(0)
    for dataset in random_datasets(3, 20, size=(3, 6), skew=1.0):
        track = run([dataset], delta=3.0, eta=0.1, at=[int(rng.integers(0, 40))])[0]
        W, found = track.matrix(), np.zeros((dataset.size,) * 2)
        for i, sentence in enumerate(dataset.sentences):
            found += _combination(dataset, i, W[:, sentence[-1]], 3.0)
        expected = dict(zip(track.pairs, track.descent[0], strict=True))
        size = np.linalg.norm(found)
        for (x, q), g in expected.items():
            assert found[x, q] / size == pytest.approx(g, abs=1e-12)


def _combination(dataset, i, scores, delta):
    """sum_j phi_j B_j (x_o - x_j) of one sample, written from the docstring."""
    sentence, label = dataset.sentences[i], dataset.labels[i]
    n, out = dataset.successor, np.zeros((dataset.size,) * 2)
    weight = np.exp(scores[list(sentence)])
    weight /= weight.sum()
    Phi = np.zeros(dataset.size)
    for x, w in zip(sentence, weight, strict=True):
        Phi[n[x]] += w
    T = np.exp(delta * Phi) / np.exp(delta * Phi).sum()
    (optimal,) = {x for x in sentence if n[x] == label}
    for x, w in zip(sentence, weight, strict=True):
        if n[x] != label:
            others = [j for j in range(dataset.size) if j != label]
            B = sum(T[j] * (Phi[label] - Phi[j]) for j in others) + T[n[x]]
            assert B > 0
            out[optimal, sentence[-1]] += w * B
            out[x, sentence[-1]] -= w * B
    return float(dataset.frequencies[i]) * out


@pytest.mark.parametrize("steps", [1, 10, 200])
def test_enclosures_of_the_families_hold(steps):
    pair, three = (
        run([data], delta=2.0, eta=0.3, at=[steps])[0]
        for data in (families.pair(), families.three())
    )
    scores = dict(zip(pair.pairs, pair.weights[0], strict=True))
    moved = scores[0, 1] - scores[1, 1]
    assert moved == pytest.approx(value(families.PAIR_SCORE, eta=0.3, t=steps))
    assert three.gap[0] >= value(families.THREE_GAP, eta=0.3, t=steps)
    for exponent in (3, 20, 200):
        at = {"eta": 0.1, "t": steps, "Delta": 1.0, "R": exponent * math.log(2)}
        track = run([families.columns(exponent)], delta=1.0, eta=0.1, at=[steps])[0]
        low, high = (
            value(x, **at) for x in (families.COLUMNS_LOW, families.COLUMNS_HIGH)
        )
        assert low <= track.gap[0] <= high
        assert track.gap[0] >= value(families.COLUMNS_GAP, **at)


def test_no_constant_saves_the_printed_rate():
    for constant in (53, 10**12):
        outcome = decide.bound_on_gap(CLAIM.at(bound=constant * RATE))
        assert outcome.verdict == "REFUTED"
        assert stands(outcome.witness)
    changed = dict(
        outcome.witness, inputs=outcome.witness["inputs"] | {"Delta": 15_100}
    )
    assert not stands(changed)


def test_bounds_are_decided():
    assert decide.bound_on_gap(REPAIRED).verdict == "HOLDS"
    assert (
        decide.bound_on_gap(REPAIRED.at(bound=2 * WITH_FREQUENCIES)).verdict == "HOLDS"
    )
    assert decide.bound_on_gap(ANY).verdict == "REFUTED"
    without = WITH_FREQUENCIES.subs(Delta, 0)
    assert decide.bound_on_gap(REPAIRED.at(bound=without)).verdict == "INCONCLUSIVE"


def test_weights_and_losses_are_decided():
    assert decide.bound_on_weight(WEIGHT).verdict == "REFUTED"
    assert decide.bound_on_weight(WEIGHT.at(after=AFTER)).verdict == "HOLDS"
    early = decide.bound_on_weight(WEIGHT.at(after=AFTER.subs(K, 0)))
    assert early.verdict == "REFUTED"
    assert stands(early.witness)
    assert decide.bound_on_loss(LOSS).verdict == "HOLDS"
    assert decide.bound_on_loss(LOSS.at(exponent=5 * C_0T)).verdict == "REFUTED"
    assert decide.bound_on_loss(BY_WEIGHTS).verdict == "HOLDS"
    assert (
        decide.bound_on_loss(BY_WEIGHTS.at(exponent=Delta * phi)).verdict == "REFUTED"
    )
    assert LOSS_AFTER != PRINTED_AFTER


def test_exact_orders_are_decided():
    assert laws.order_of_decay(STRICT).verdict == "HOLDS"
    for power, logs in ((1, 0), (1, 2), (2, 2), (3, 0)):
        outcome = laws.order_of_decay(
            STRICT.at(power=sp.Integer(power), logs=sp.Integer(logs))
        )
        assert outcome.verdict == "REFUTED"
        assert stands(outcome.witness)
    assert laws.delay(FREQUENCIES).verdict == "HOLDS"
    assert laws.delay(FREQUENCIES.at(until=1 / eta)).verdict == "HOLDS"
    longer = FREQUENCIES.at(until=3 * (R - Delta) / (5 * eta))
    assert laws.delay(longer).verdict == "INCONCLUSIVE"
    assert laws.excess_on_pair(EXCESS).verdict == "HOLDS"


def test_drawn_data_are_of_both_kinds():
    data = decay.drawn(0, 4, 3, 0)
    kinds = [decay.is_strict(solve(dataset)) for dataset in data]
    assert (kinds.count(True), kinds.count(False)) == (6, 3)
    assert not any(map(violations, data))


def test_long_runs_follow_the_laws():
    runs = decay.observe(decay.drawn(5, 3, 3, 0), 0, lambda *_: None)
    strict, other = runs.of(decay.STRICT), runs.of(decay.DEGENERATE)
    assert decay.decide(Law(2, 0), strict, {}).verdict == "HOLDS"
    assert decay.decide(Law(2, 2), other, {}).verdict == "HOLDS"
    wrong = decay.decide(Law(2, 0), other, {})
    assert wrong.verdict == "REFUTED"
    assert stands(wrong.witness)
    nothing = decay.decide(Law(2, 0), other[:0], {})
    assert nothing.verdict == "INCONCLUSIVE"
    closed = runs.of(decay.STRICT, decay.CLOSED_FORM)
    assert len(closed) >= 2
    assert (closed > 1e-3).all()


def test_guessed_directions_are_written_out():
    pairs = sorted({(x, s[-1]) for s in decay.FIVE.sentences for x in s})
    found = decay.others(decay.FIVE, pairs)
    place = {pair: k for k, pair in enumerate(pairs)}
    closed = [found[decay.CLOSED_FORM][place[x, 4]] for x in range(5)]
    assert closed == [0.6, 0.6, -0.4, -0.4, -0.4]
    mean = [found[decay.MEAN_DIFFERENCE][place[x, 4]] for x in range(5)]
    assert mean == pytest.approx([0.5, 0.5, -1 / 3, -1 / 3, -1 / 3])
    first = found[decay.FIRST_GRADIENT]
    assert first.sum() == pytest.approx(0)
    track = run(
        [decay.FIVE], delta=1e-6, eta=0.1, at=[0], solutions=[solve(decay.FIVE)]
    )
    start = dict(zip(track[0].pairs, track[0].descent[0], strict=True))
    expected = np.array([start[pair] for pair in pairs])
    assert decay.gap_to(first, expected) < 1e-10


def test_rarity_does_not_underflow():
    data = families.columns(5000)
    assert not float(min(data.frequencies))
    assert observed.rarity(data) == pytest.approx(5001 * math.log(2))
    assert max(data.frequencies) < Fraction(1, 2)
