"""Datasets of huang2024: orders, types, validators and random generators."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theorems.huang2024.data.assumptions import (
    CARRIER,
    COLLOCATION,
    CONFUSED,
    COUNTS,
    OF_DATA,
    ORDER,
    ORTHONORMAL,
    embedding_violations,
    find_cycle,
    has_counts,
    is_realizable,
    violations,
)
from theorems.huang2024.data.dataset import (
    EXAMPLE_1,
    Dataset,
    DatasetError,
    O,
    P,
    S,
    V,
    from_texts,
    types_of,
)
from theorems.huang2024.data.generate import random_dataset, random_datasets, violating

CYCLE = (1, 2, 0)


def sentences(labels, n=CYCLE):
    share = Fraction(1, len(labels))
    size = len(n)
    return Dataset(
        size, n, tuple(labels), tuple(labels.values()), (share,) * len(labels)
    )


def faults(dataset):
    return {fault.assumption for fault in violations(dataset)}


def test_example_1_has_the_samples_and_orders_of_the_paper():
    assert EXAMPLE_1.N == 9
    assert EXAMPLE_1.max_length == 3
    assert set(EXAMPLE_1.frequencies) == {Fraction(1, 9)}
    assert EXAMPLE_1.injective
    assert {q: EXAMPLE_1.order(q) for q in EXAMPLE_1.queries} == {
        S: {(S, P)},
        V: {(V, S)},
        O: {(O, S), (O, V)},
        P: {(O, P)},
    }
    assert EXAMPLE_1.types(P).non_comparable == {S, V}
    assert not violations(EXAMPLE_1)


def test_a_prefix_counts_once_for_every_text():
    data = from_texts(3, CYCLE, [(0, 1, 2), (0, 1), (1, 2)], times=(3, 2, 1))
    assert dict(zip(data.sentences, data.frequencies, strict=True)) == {
        (0,): Fraction(5, 9),
        (0, 1): Fraction(3, 9),
        (1,): Fraction(1, 9),
    }
    assert data.kind == "prefixes"
    np.testing.assert_array_equal(data.weights(), [5 / 9, 3 / 9, 1 / 9])


def test_carriers_are_positions_followed_by_the_label():
    data = sentences({(0, 2, 0, 1): 1})
    assert data.carriers(0) == (0, 2)
    assert data.edges(1) == {(0, 2), (0, 1)}
    assert data.edges(0) == frozenset()
    assert data.samples_of(1) == (0,)


def test_types_are_disjoint_and_exhaust_the_tokens():
    types = types_of({(0, 1), (1, 2)}, 5)
    assert [sorted(one) for one in types] == [[0], [2], [1], [3, 4]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frequencies": (Fraction(1, 2),)}, "no distribution"),
        ({"labels": (3,)}, "not all tokens"),
        ({"successor": (0, 1)}, "maps 2 of 3"),
        ({"sentences": ((),)}, "no token"),
        ({"kind": "words"}, "not sentences or prefixes"),
        ({"kind": "prefixes"}, "no sample of its own"),
        ({"labels": ()}, "label and frequency"),
    ],
)
def test_what_is_no_dataset_is_refused(changes, message):
    with pytest.raises(DatasetError, match=message):
        replace(sentences({(0, 1): 1}), **changes)


def test_a_sample_has_one_label():
    with pytest.raises(DatasetError, match="occurs twice"):
        Dataset(3, CYCLE, ((0,), (0,)), (1, 2), (Fraction(1, 2),) * 2)
    with pytest.raises(DatasetError, match="two different tokens"):
        from_texts(3, CYCLE, [(0, 1, 2), (0, 2)])


@pytest.mark.parametrize(
    ("labels", "assumption", "tokens"),
    [
        ({(0,): 2}, COLLOCATION, (0,)),
        ({(0, 1): 0}, CARRIER, (0, 1)),
        ({(0, 1): 1, (1, 0, 1): 2}, ORDER, (0, 1)),
        ({(0, 1): 1, (2, 1): 2}, CONFUSED, (0, 1, 2)),
        ({(2, 2, 0, 1): 1}, COUNTS, (0, 2)),
    ],
)
def test_a_violation_names_sample_and_tokens(labels, assumption, tokens):
    (fault,) = violations(sentences(labels))
    assert fault.assumption == assumption
    assert fault.tokens == tokens
    assert fault.sentence in labels
    assert set(tokens[-2:]) <= {*fault.sentence}
    assert fault.says
    assert is_realizable(sentences(labels)) == (assumption == COUNTS)
    assert has_counts(sentences(labels)) == (assumption != COUNTS)


def test_a_cycle_is_found_wherever_it_is():
    assert not find_cycle({(0, 1), (0, 2), (1, 3), (2, 3)})
    found = find_cycle({(0, 1), (1, 2), (2, 3), (3, 1)})
    assert found == (1, 2, 3)


def test_counts_compare_all_optimal_positions_with_each_other_token():
    assert has_counts(sentences({(0, 0, 2, 2, 1, 1): 1}))  # 2 against 2 and 2
    merged = sentences({(0, 1, 2, 2): 1}, n=(1, 1, 0))  # 0 and 1 together against 2
    assert has_counts(merged)


KINDS = [
    {"kind": kind, "injective": injective, "skew": skew}
    for kind in ("sentences", "prefixes")
    for injective in (True, False, None)
    for skew in (0.0, 8.0)
]


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_random_datasets_satisfy_the_assumptions(options):
    data = random_datasets(3, 300, **options)
    for one in data:
        assert not violations(one)
        assert one.kind == options["kind"]
        assert any(one.edges(q) for q in one.queries)  # a constraint, so W* != 0
        assert options["injective"] in {None, one.injective}
        assert one.max_length <= 8
    assert len(set(data)) > 250
    uniform = all(len(set(one.frequencies)) == 1 for one in data)
    assert uniform == (not options["skew"] and options["kind"] == "sentences")


def test_frequencies_reach_extreme_ratios():
    data = random_datasets(1, 100, skew=8.0)
    ratios = [max(d.frequencies) / min(d.frequencies) for d in data]
    assert max(ratios) > 1e12
    assert min(ratios) < 1e3


@pytest.mark.parametrize("injective", [True, False, None])
@pytest.mark.parametrize("assumption", OF_DATA)
def test_a_violator_violates_exactly_its_part(assumption, injective):
    rng = np.random.default_rng(5)
    for _ in range(200):
        assert faults(violating(rng, assumption, injective=injective)) == {assumption}


def test_any_maps_put_several_optimal_tokens_into_one_sample():
    def several(data):
        return any(
            len({data.sentences[i][p] for p in data.carriers(i)}) > 1
            and len({data.successor[x] for x in data.sentences[i]}) > 1
            for i in range(data.N)
        )

    data = random_datasets(2, 200, injective=False)
    assert sum(map(several, data)) > 50
    assert not any(map(several, random_datasets(2, 200)))


def test_the_size_of_the_paper_can_be_drawn():
    data = random_dataset(
        np.random.default_rng(0),
        size=20,
        queries=20,
        max_length=11,
        singles=True,
    )
    assert data.size == 20
    assert data.queries == tuple(range(20))
    assert {(x,) for x in range(20)} <= set(data.sentences)


def test_one_seed_fixes_the_datasets():
    assert random_datasets(7, 20) == random_datasets(7, 20)
    assert random_datasets(7, 20) != random_datasets(8, 20)


@pytest.mark.parametrize(
    "options", [{"size": 1}, {"size": 2, "injective": False}, {"max_length": 1}]
)
def test_data_without_constraints_are_refused(options):
    with pytest.raises(DatasetError):
        random_datasets(0, 1, **options)


def test_small_datasets_are_drawn_fast():
    start = time.process_time()
    random_datasets(0, 1000)
    assert time.process_time() - start < 3.0  # .2 s alone on one core


def test_prefix_data_have_one_text_for_each_first_token():
    for data in random_datasets(4, 100, kind="prefixes", injective=None):
        longest = [s for s in data.sentences if not any(
            len(t) > len(s) and t[: len(s)] == s for t in data.sentences
        )]  # fmt: skip
        assert len({s[0] for s in longest}) == len(longest) == data.size


def test_injective_prefix_data_have_one_optimal_token_for_each_query():
    for data in random_datasets(6, 500, kind="prefixes", size=(2, 6), max_length=12):
        assert all(len(data.types(q).optimal) <= 1 for q in data.queries)


@pytest.mark.parametrize("exact", [True, False])
def test_embeddings_are_orthonormal_or_the_pair_is_named(exact):
    half = Fraction(1, 2) if exact else 0.5
    dtype = object if exact else np.float64
    signs = np.array([[1, 1], [1, -1], [1, 1], [1, -1]]).astype(dtype)
    assert not embedding_violations(half * signs)
    (longer,) = embedding_violations(half * signs * np.array([2, 1]).astype(dtype))
    assert (longer.assumption, longer.tokens) == (ORTHONORMAL, (0, 0))
    slanted = (half * signs).copy()
    slanted[1, 1], slanted[3, 1] = half, -half
    (pair,) = embedding_violations(slanted)
    assert pair.tokens == (0, 1)


def test_random_rotations_are_orthonormal_up_to_rounding():
    rng = np.random.default_rng(0)
    for d in (3, 20, 64):
        columns = np.linalg.qr(rng.standard_normal((d, d)))[0]
        assert not embedding_violations(columns)
    columns[0, 0] += 1e-9
    assert embedding_violations(columns)
