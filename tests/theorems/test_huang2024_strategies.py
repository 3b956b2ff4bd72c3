"""Hypothesis strategies of huang2024: what they reach, and how they shrink."""

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from theorems.huang2024.data.assumptions import OF_DATA, violations
from theorems.huang2024.data.literal import Relation, boolean, truth_table, value
from theorems.huang2024.data.strategies import datasets, violating_datasets
from theorems.huang2024.definition_1_partial_order import (
    ANY_DATA,
    CLAIM,
    GREATER,
    TYPES,
)

QUICK = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
THOROUGH = settings(QUICK, max_examples=2000)
REACHED = settings(THOROUGH, phases=[Phase.generate])


def smallest(strategy, wanted):
    return find(strategy, wanted, settings=THOROUGH)


@pytest.mark.parametrize("kind", ["sentences", "prefixes"])
@pytest.mark.parametrize("injective", [True, False, None])
def test_every_dataset_is_valid(kind, injective):
    @QUICK
    @given(datasets(kind=kind, injective=injective, skew=8.0))
    def valid(data):
        assert not violations(data)
        assert data.kind == kind
        assert any(data.edges(q) for q in data.queries)
        assert injective in {None, data.injective}

    valid()


@pytest.mark.parametrize("assumption", OF_DATA)
def test_every_violator_violates_its_part_only(assumption):
    @QUICK
    @given(violating_datasets(assumption, injective=None))
    def alone(data):
        assert {fault.assumption for fault in violations(data)} == {assumption}

    alone()


def test_datasets_shrink_to_one_sample_of_two_tokens():
    data = smallest(datasets(), lambda _: True)
    assert (data.size, data.successor) == (2, (1, 0))
    assert max(map(len, data.sentences)) == 2
    assert data.N <= 3


def test_prefixes_shrink_to_short_texts():
    data = smallest(datasets(kind="prefixes"), lambda _: True)
    assert data.size == 2
    assert data.N <= 4
    assert data.max_length == 2


@pytest.mark.parametrize("assumption", OF_DATA)
def test_violators_shrink_to_few_samples(assumption):
    data = smallest(violating_datasets(assumption), lambda _: True)
    assert data.size == 3
    assert data.N <= 4
    assert data.max_length <= 4


def confused_closed_form(data):
    """Two optimal tokens of one query that do not share their non-optimal tokens."""
    for q in data.queries:
        types, edges = data.types(q), data.edges(q)
        if len(edges) != len(types.optimal) * len(types.non_optimal):
            return True
    return False


@pytest.mark.parametrize(
    "wanted",
    [
        confused_closed_form,
        lambda data: max(data.frequencies) > 10**6 * min(data.frequencies),
        lambda data: any(len(set(s)) < len(s) - 2 for s in data.sentences),
        lambda data: any(q in data.types(q).optimal for q in data.queries),
        lambda data: len(data.queries) == data.size == 4,
        lambda data: any((x,) in data.sentences for x in range(data.size)),
        lambda data: data.max_length == 8,
        lambda data: any(n == x for x, n in enumerate(data.successor)),
    ],
    ids=[
        "incomplete order",
        "extreme frequencies",
        "repeated tokens",
        "optimal query",
        "all queries",
        "one-token sample",
        "longest sample",
        "fixed point of n",
    ],
)
def test_sentences_reach(wanted):
    assert wanted(find(datasets(skew=8.0), wanted, settings=REACHED))


def test_the_shrunk_incomplete_order_is_small():
    data = smallest(datasets(), confused_closed_form)
    assert data.size <= 4
    assert data.N <= 4


def test_any_maps_reach_two_optimal_tokens_in_one_sample():
    def wanted(data):
        return any(
            len({x for x in s if data.successor[x] == y}) > 1
            and any(data.successor[x] != y for x in s)
            for s, y in zip(data.sentences, data.labels, strict=True)
        )

    for kind in ("sentences", "prefixes"):
        data = find(datasets(kind=kind, injective=False), wanted, settings=REACHED)
        assert wanted(data)


def test_arithmetic_of_truth_values():
    atoms = sorted(GREATER.free_symbols, key=str)
    for truth in truth_table(atoms):
        known = bool(GREATER.subs(truth))
        assert value(boolean(GREATER, truth)) == known


@QUICK
@given(ANY_DATA)
def test_trees_of_witnesses_have_the_values_that_are_compared(data):
    literal = Relation(CLAIM, data)
    for q in data.queries[:2]:
        order, types = literal.order(q), literal.types(q)
        for x in range(data.size):
            for other in range(data.size):
                assert value(literal.greater(q, x, other)) == ((x, other) in order)
            assert [value(literal.type_of(name, q, x)) for name in TYPES] == [
                x in types[name] for name in TYPES
            ]
