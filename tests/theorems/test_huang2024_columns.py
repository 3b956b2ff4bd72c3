"""Columns of problem (3): how they are listed, solved, described and proved."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from theorems.huang2024 import proposition_2_closed_form as closed_form
from theorems.huang2024 import proposition_2_hall as hall_claim
from theorems.huang2024 import proposition_2_signs as signs_claim
from theorems.huang2024.columns import decide, hall, intervals, necessity, proof
from theorems.huang2024.columns.column import column, columns_of
from theorems.huang2024.columns.families import (
    ANY_MAP,
    COMPLETE,
    EVERY,
    FIVE,
    FIVE_IN_TEXTS,
    FOUR,
    PREFIXES,
    SENTENCES,
    SIX,
    complete_graphs,
    graphs,
)
from theorems.huang2024.columns.texts import data_columns, maps
from theorems.huang2024.columns.training import Trained, judge, variants
from theorems.huang2024.data.assumptions import is_realizable, violations
from theorems.huang2024.data.dataset import from_texts
from theorems.huang2024.data.generate import random_datasets
from verify import recheck
from verify.verdict import Verdict

REPAIRED, HALL, SIGNS = closed_form.REPAIRED, hall_claim.CLAIM, signs_claim.CLAIM
TRUE = [
    Fraction(2, 3),
    Fraction(1, 2),
    Fraction(-1, 3),
    Fraction(-1, 3),
    Fraction(-1, 2),
]


def whole(one):
    return {x: one.score(x) for x in range(one.size)}


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("data", [FIVE, FIVE_IN_TEXTS], ids=["sentences", "texts"])
def test_the_five_token_data_satisfy_the_assumptions_and_have_two_blocks(data):
    assert violations(data) == []
    (one,) = [c for c in columns_of(data) if sum(c.sizes) == 5]
    assert list(whole(one).values()) == TRUE
    assert decide.differs(closed_form.AS_PRINTED, one)
    assert not decide.differs(REPAIRED, one)


def test_the_other_pinned_data_satisfy_the_assumptions():
    assert violations(FOUR) == violations(SIX) == []
    (four,) = columns_of(FOUR)
    assert hall.right(four)
    assert not four.margin.strictly_complementary


def test_constraints_by_position_are_those_of_the_dataset():
    for data in random_datasets(3, 60, size=(2, 7), injective=None):
        found = {one.data[1]: set(one.edges) for one in columns_of(data)}
        assert found == {q: data.edges(q) for q in data.queries if data.edges(q)}


def test_every_listed_column_of_sentences_is_realised_by_its_data():
    for one in (g for n in range(2, 7) for g in graphs(n, common=True)):
        data, query = one.data
        assert data.injective
        assert violations(data) == []
        assert [(c.edges, c.data[1]) for c in columns_of(data)] == [(one.edges, query)]


def test_the_only_optimal_token_may_be_the_query():
    one = column(4, [(0, 1), (0, 2)], query=0)
    data, query = one.data
    assert violations(data) == []
    assert columns_of(data)[0] == one
    assert query == 0


def test_columns_of_sentences_have_a_token_adjacent_to_all_others():
    for data in random_datasets(4, 100, size=(2, 8)):
        for one in columns_of(data):
            below = set.intersection(*(set(one.below(o)) for o in one.upper))
            assert below or len(one.upper) == 1


def test_the_closed_form_needs_five_tokens_to_fail():
    wrong = {
        n: [hall.right(g) for g in graphs(n, common=True)].count(False)
        for n in range(2, 7)
    }
    total = {n: sum(1 for _ in graphs(n, common=True)) for n in range(2, 7)}
    assert wrong == {2: 0, 3: 0, 4: 0, 5: 2, 6: 3}
    assert total == {2: 1, 3: 2, 4: 4, 5: 10, 6: 33}


# ---------------------------------------------------------------- texts


def all_texts(n, text, length):
    yield text
    for label in {n[x] for x in text} if len(text) < length else ():
        yield from all_texts(n, (*text, label), length)


def by_brute_force(size, n, length):
    """Orders of all realizable sets of texts of up to so many tokens."""
    found = set()
    for chosen in product(*(all_texts(n, (x, n[x]), length) for x in range(size))):
        data = from_texts(size, n, chosen)
        if is_realizable(data):
            found |= {tuple(sorted(data.edges(q))) for q in data.queries} - {()}
    return found


@pytest.mark.parametrize("injective", [True, False])
def test_texts_of_any_length_have_the_columns_of_short_ones(injective):
    listed, _ = data_columns(3, injective=injective)
    brute = set().union(
        *(by_brute_force(3, n, 4) for n in maps(3, injective=injective))
    )
    assert {one.edges for one in listed} == brute


def test_data_with_a_listed_column_are_realizable_texts():
    for one in data_columns(4, injective=True)[0]:
        data, query = one.data
        assert is_realizable(data)
        assert data.is_prefix_closed
        assert data.edges(query) == set(one.edges)
        assert len(one.upper) == 1  # one optimal token


def test_maps_are_listed_up_to_names():
    assert [len(maps(n, injective=True)) for n in (2, 3, 4)] == [2, 3, 5]  # partitions
    assert [len(maps(n, injective=False)) for n in (2, 3, 4)] == [1, 4, 14]


# ---------------------------------------------------------------- claims and witnesses


@pytest.mark.parametrize(
    ("domain", "data", "belongs"),
    [
        (SENTENCES, FIVE, True),
        (SENTENCES, FIVE_IN_TEXTS, False),
        (PREFIXES, FIVE, False),
        (PREFIXES, FIVE_IN_TEXTS, False),
        (ANY_MAP, FIVE_IN_TEXTS, True),
        (EVERY, FIVE, True),
    ],
)
def test_pinned_data_are_replayed_where_they_belong(domain, data, belongs):
    assert domain.admits(data) is belongs
    assert COMPLETE.columns(FIVE) == []


def test_a_witness_says_what_the_solution_is_and_what_was_claimed():
    (one,) = columns_of(FIVE)
    record = decide.witness(closed_form.AS_PRINTED, one)
    assert recheck.decide(record).valid
    assert record["compare"] == {
        "w[0]": "3/5",
        "w[1]": "3/5",
        "w[2]": "-2/5",
        "w[3]": "-2/5",
        "w[4]": "-2/5",
    }
    assert "[0, 2, 3, 4] -> 1, [1, 4] -> 2 of query 4" in record["says"]


def test_a_witness_against_scores_of_non_comparable_tokens_names_one():
    claim = REPAIRED.changed(REPAIRED.mutants[3])
    one = column(4, [(0, 1)])
    record = decide.witness(claim, one)
    assert recheck.decide(record).valid
    assert record["compare"]["w[2]"] == "1/10"


def test_blocks_merged_is_the_closed_form_as_printed():
    merged = REPAIRED.changed(REPAIRED.mutants[-1])
    (one,) = columns_of(FIVE)
    printed = decide.claimed(closed_form.AS_PRINTED, one)
    assert decide.claimed(merged, one) == printed
    assert decide.claimed(REPAIRED, one) == whole(one)


@pytest.mark.parametrize("mutant", HALL.mutants, ids=lambda mutant: mutant.name)
def test_changing_a_number_of_a_witness_about_halls_condition_breaks_it(mutant):
    claim = HALL.changed(mutant)
    data = (FOUR, FIVE, SIX)
    one = next(c for d in data for c in columns_of(d) if hall.mismatch(claim, c))
    record = hall.witness(claim, one)
    assert recheck.decide(record).valid
    for name in ("above", "high", "low", "y"):
        inputs = dict(record["inputs"])
        rows = [list(row) for row in inputs[name]]
        rows[0][0] = 0 if rows[0][0] == 1 else 1
        broken = record | {"inputs": inputs | {name: rows}}
        assert not recheck.decide(broken).valid


def test_no_condition_is_asked_twice():
    (one,) = columns_of(SIX)
    assert list(hall.subsets(one, hall.ALL)) == [
        (0,),
        (1,),
        (2,),
        (0, 1),
        (0, 2),
        (1, 2),
        (0, 1, 2),
    ]
    assert hall.counts(one, hall.ALL) == {(1, 1), (1, 3), (2, 1), (2, 3), (3, 3)}


def test_scores_outside_their_interval_are_seen_on_either_side():
    star = next(g for g in complete_graphs(4) if g.sizes == (1, 3))
    assert star.score(0) == Fraction(3, 4)
    for name, bound in (
        ("optimal_low", 3),
        ("optimal_high", 3),
        ("non_optimal_low", -1),
    ):
        claim = SIGNS.at(**{name: sp.Rational(bound, 4)})
        assert intervals.violated(claim, star)
        assert recheck.decide(intervals.witness(claim, star)).valid
    assert not intervals.violated(SIGNS, star)


def test_what_fails_without_an_assumption_is_decided_by_the_record():
    records = [
        necessity.oblique(0),
        necessity.chain(REPAIRED),
        necessity.chain_outside(1),
    ]
    assert all(recheck.decide(record).valid for record in records)
    assert not recheck.decide(necessity.chain_outside(2)).valid  # 1 is below 2
    assert {v.assumption for v in violations(necessity.CHAIN)} == {
        "assumption-1/confused"
    }


# ---------------------------------------------------------------- proofs


def test_steps_that_do_not_hold_are_told():
    x = sp.Symbol("x", positive=True)
    bad = [
        proof.contradiction("x >= 0 and 1 - x >= 0 hold together", x, 1 - x),
        proof.contradiction("so do x >= 0 and -x >= 0", x, -x),
        proof.contradiction("not decided", x),
        proof.identity("not equal", x, x + 1),
        proof.tautology("not always", sp.Symbol("p") | sp.Symbol("q")),
    ]
    good = [
        proof.contradiction("x - 1 >= 0 and -x >= 0", x - 1, -x),
        proof.contradiction("x >= 0 and -x > 0", x, positive=-x),
        proof.identity("equal", (x + 1) ** 2, x**2 + 2 * x + 1),
        proof.tautology("always", sp.Symbol("p") | ~sp.Symbol("p")),
    ]
    assert proof.unproved([*bad, *good]) == [step.says for step in bad]


def test_proofs_hold_for_the_claims_and_fail_for_their_mutants():
    proofs = [
        (closed_form.ON_TEXTS, closed_form.steps_of),
        (REPAIRED, closed_form.steps_of),
        (HALL, lambda claim: hall.proof(claim.condition, claim.sets)),
    ]
    for claim, steps in proofs:
        assert proof.unproved(steps(claim)) == []
        for mutant in claim.mutants:
            changed = steps(claim.changed(mutant))
            assert changed is None or proof.unproved(changed)


def test_a_proof_without_steps_or_counterexample_decides_nothing():
    (one,) = columns_of(FIVE)
    outcome = proof.decide(None, [one], lambda _: False, lambda _: {})
    assert outcome.verdict is Verdict.INCONCLUSIVE


# ---------------------------------------------------------------- training


def test_the_trained_variants_have_the_same_constraints():
    columns = [columns_of(data) for data in variants().values()]
    assert all(violations(data) == [] for data in variants().values())
    assert len({(one.size, one.edges) for (one,) in columns}) == 1


def trained(change=0.0, moves=1e-6):
    """Scores as training would leave them, with an error and a last change."""
    (one,) = columns_of(variants()["two samples"])
    query = one.data[1]
    scores = {
        (x, query): np.array([0, 0, float(one.score(x)) + change - moves]).repeat([
            1,
            1,
            2,
        ])
        + np.array([0, 0, 0, moves])
        for x in (*one.upper, *one.lower)
    }
    pairs = tuple(scores)
    curve = np.array([[float(one.score(x)) for x, _ in pairs]] * 49)
    return Trained(("five",), ((one,),), (scores,), (curve, pairs))


def test_training_accepts_what_it_tends_to_and_nothing_else():
    assert judge(REPAIRED, trained()).verdict is Verdict.HOLDS
    assert judge(REPAIRED, trained(change=1e-5)).verdict is Verdict.REFUTED
    for mutant in REPAIRED.mutants:
        outcome = judge(REPAIRED.changed(mutant), trained())
        assert outcome.verdict is Verdict.REFUTED
        assert recheck.decide(outcome.witness).valid


def test_a_solution_that_is_not_certified_is_not_used(monkeypatch):
    found = columns_of(FIVE)[0].margin
    wrong = replace(found, leaves=(), scores=found.scores | {0: Fraction(1)})
    monkeypatch.setattr(
        "theorems.huang2024.columns.column.order_margin", lambda _: wrong
    )
    with pytest.raises(ArithmeticError, match="no certified solution"):
        _ = columns_of(FIVE)[0].margin
