"""The descent of stage 2: exact formulas against the engine, cases, proofs, bounds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theorems.huang2024 import lemma_5_optimal_weight as lemma_5
from theorems.huang2024 import lemma_7_overlap as lemma_7
from theorems.huang2024.data.assumptions import has_counts, is_realizable, violations
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.descent import cases, exact, observed, overlap, proofs
from theorems.huang2024.descent.decide import Bound
from theorems.huang2024.descent.notation import (
    ANY_MAP,
    EQUAL,
    GROUPED,
    INJECTIVE,
    L,
    N,
    S,
    X,
    cosine,
    eta,
    has_grouped_counts,
    phi,
    pi_min,
    t,
)
from theorems.huang2024.dynamics.engine import run
from verify import Undecided
from verify.recheck import decide
from verify.symbolic import Compiled

AS_SAID = {
    "single_pair": cases.single_pair(),
    "star": cases.star(5),
    "pairs": cases.pairs(4),
    "rare pairs": cases.pairs(3, Fraction(1, 10**9)),
    "crowd": cases.crowd(3, 2),
    "outvoted": cases.outvoted(),
    "against": cases.against(9, 6, 9, 100),
    "two carriers": cases.two_carriers(),
}


@pytest.mark.parametrize("name", AS_SAID)
def test_cases_satisfy_assumptions_1_and_3(name):
    assert violations(AS_SAID[name]) == []


def test_cases_against_one_assumption():
    for dataset in (
        cases.repeats(3, 4),
        cases.crowded_out(9),
        cases.against_counts(5, 2, 2, 9),
    ):
        assert is_realizable(dataset)
        assert not has_counts(dataset)
        assert dataset.injective
    confused = cases.confused(9)
    assert has_counts(confused)
    assert confused.types(3).confused == {1}


def test_grouped_counts_are_assumption_3_for_injective_maps():
    assert all(map(has_grouped_counts, random_datasets(1, 40, injective=True)))
    assert not has_grouped_counts(cases.outvoted())
    assert not has_grouped_counts(cases.crowd(2, 1))
    assert has_grouped_counts(cases.two_carriers())


@pytest.mark.parametrize(
    "dataset", [cases.outvoted(3), cases.confused(2), *random_datasets(4, 3)]
)
def test_an_exact_step_agrees_with_the_engine(dataset):
    scores = exact.after(dataset, 1)
    (track,) = run([dataset], delta=3.0, eta=0.7, at=[1])
    for k, pair in enumerate(track.pairs):
        value = Compiled(scores[pair], "numpy")({"eta": 0.7, "Delta": 3.0})
        assert float(value) == pytest.approx(track.weights[-1, k], abs=1e-12)


@pytest.mark.parametrize(
    ("crowd", "dataset"),
    [
        (exact.Crowd((5, 3), power=16), cases.crowd(5, 3)),
        (exact.Crowd((1, 1), (3, 4), 2**20), cases.repeats(3, 4)),
    ],
)
def test_two_steps_of_a_crowd_agree_with_the_engine(crowd, dataset):
    delta = len(dataset.sentences[0]) * float(np.log(crowd.power))
    (track,) = run([dataset], delta=delta, eta=0.3, at=[2])
    norm = Compiled(crowd.two_steps(), "numpy")({"eta": 0.3})
    assert float(norm) == pytest.approx(track.norm[0], rel=1e-9)
    assert float(crowd.norm_star) == pytest.approx(
        np.sqrt(2 / 3) if crowd.copies != (1, 1) else track.norm_star
    )


def test_bounds_of_rare_pairs_hold_on_their_paths():
    rare = exact.RarePairs(3, Fraction(1, 10**40), path=60, step=Fraction(3))
    (track,) = run(
        [cases.pairs(3, rare.light)], delta=0.1, eta=3.0, at=[rare.inputs["t"]]
    )
    alpha = sp.Rational(1, 4) / X
    most, least = (
        float(Compiled(side, "numpy")({k: float(x) for k, x in rare.inputs.items()}))
        for side in rare.misses(alpha)
    )
    with_W = float(track.descent[0] @ track.weights[0] / track.norm[0])
    with_star = float(track.descent[0] @ track.direction)
    assert with_W >= least - 1e-12
    assert (1 + 0.25 / track.norm[0]) * with_star <= most + 1e-12


@pytest.mark.parametrize("step", [Fraction(1, 1000), Fraction(3, 10), Fraction(50)])
def test_seven_tokens_refute_lemma_5_for_steps_of_any_length(step):
    case = lemma_5.FirstStep("any step", cases.outvoted(), step=step)
    assert decide(case.witness(1 / L)).valid


def test_the_same_frequency_for_both_samples_refutes_nothing():
    case = lemma_5.FirstStep("equal frequencies", cases.outvoted(1))
    assert decide(case.witness(1 / L)).valid is False


def test_a_stronger_bound_does_not_follow():
    proved = 1 / (sp.sqrt(2) * S)
    for claimed, follows in (
        (phi / (2 * S), True),
        (proved, True),
        (1 / S, False),
        (sp.Rational(101, 100) * proved, False),
    ):
        assert Bound("cosine", cosine, ">=", claimed, proved).follows() is follows
    assert Bound("norm", X, "<=", t * eta, t * eta).follows()
    assert not Bound("norm", X, "<=", t * eta / 2, t * eta).follows()


def test_violations_are_sought_only_where_an_instance_speaks():
    run_of_pairs = exact.pair_runs()[0]
    wrong = Bound("cosine", cosine, ">=", 1 / S, sp.S.Zero)
    witness = wrong.violation(run_of_pairs)
    assert decide(witness).valid
    right = Bound("cosine", cosine, ">=", 1 / (2 * S), sp.S.Zero)
    assert right.violation(run_of_pairs) is None
    silent = exact.samples_at_start()[0]
    assert wrong.violation(silent) is None


def test_proofs_are_machine_checked():
    assert len(proofs.equal_frequencies()) > len(proofs.overlap()) > 30
    with pytest.raises(Undecided, match="not proved"):
        proofs.positive("L ≤ 1", 1 - L, {L: 2})


def test_branches_of_a_maximum_lie_below_it():
    alpha = (N + 3) * sp.Max(S / X, S**2 / X)
    assert set(overlap._branches(alpha)) == {(N + 3) * S / X, (N + 3) * S**2 / X}
    assert list(overlap._branches(S / X)) == [S / X]


def test_lemma_7_as_printed_holds_for_equal_frequencies_and_fails_for_rare_ones():
    printed = lemma_7.CLAIM
    assert overlap.decide(printed, lemma_7.RARER).verdict == "REFUTED"
    equal = printed.changed(printed.anchors[0])
    assert overlap.decide(equal, lemma_7.RARER).verdict == "HOLDS"
    short = (exact.RarePairs(2, Fraction(1, 100), path=500),)
    assert overlap.decide(printed, short).verdict == "INCONCLUSIVE"


def test_rows_are_chosen_by_data_and_step():
    runs = [
        observed.Setting(one, 5.0, 1.0)
        for one in (cases.pairs(2), cases.outvoted(), cases.two_carriers())
    ]
    rows = observed.follow(runs, (0, 1, 5))
    assert rows["t"].size == 9
    assert observed.of(rows, INJECTIVE)["t"].tolist() == [0, 1, 5]
    assert observed.of(rows, GROUPED, 1)["t"].tolist() == [1, 5, 1, 5]
    assert observed.of(rows, ANY_MAP, sp.Rational(9, 2))["t"].tolist() == [5] * 3
    assert observed.of(rows, EQUAL)["N"].tolist() == [2] * 3


def test_least_frequencies_enter_by_their_logarithm():
    rows = observed.follow(
        [observed.Setting(cases.pairs(2, Fraction(1, 10**400)), 1.0, 1.0)], (1,)
    )
    log = observed.value(sp.log(3 * L / pi_min), rows)
    assert log == pytest.approx(np.log(6) + 400 * np.log(10))


def test_a_violation_is_seen_with_its_rows():
    rows = observed.follow([observed.Setting(cases.single_pair(), 5.0, 1.0)], (1, 2))
    holds = observed.Along("norm", X, t * eta)
    assert not holds.violated(rows)
    assert holds.judge(rows, "one pair").verdict == "HOLDS"
    fails = observed.Along("norm", X, sp.Rational(101, 100) * t * eta)
    assert fails.violated(rows)
    outcome = fails.judge(rows, "one pair")
    assert outcome.verdict == "REFUTED"
    assert decide(dict(outcome.witness)).valid
    assert fails.excess(rows) == pytest.approx(1 / 101)
