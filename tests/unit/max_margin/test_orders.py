"""Difference constraints: exact scores, blocks, strict complementarity, errors."""

import dataclasses
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from margin_oracles import acyclic, bipartite, dense, minimum, usable

from verify.max_margin import CycleError, order_margin
from verify.recheck import decide

F = Fraction
FIVE = [(0, 2), (0, 3), (0, 4), (1, 4)]  # [o1, m1, m2, q] and [o2, q]
CHAIN = [(0, 2), (0, 3), (1, 3)]  # [o1, m1, q] and [o2, q]


def test_five_tokens():
    found = order_margin(FIVE)
    assert found.scores == {
        0: F(2, 3),
        1: F(1, 2),
        2: F(-1, 3),
        3: F(-1, 3),
        4: -F(1, 2),
    }
    assert found.norm_squared == F(7, 6)
    assert found.multipliers == {
        (0, 2): F(1, 3), (0, 3): F(1, 3), (0, 4): 0, (1, 4): F(1, 2)
    }  # fmt: skip
    assert found.slack((0, 4)) == F(1, 6)
    assert found.tight == ((0, 2), (0, 3), (1, 4))
    assert [(b.upper, b.lower) for b in found.blocks] == [({0}, {2, 3}), ({1}, {4})]
    assert found.strictly_complementary
    # The closed form of complete orders is feasible, and longer.
    closed = {0: F(3, 5), 1: F(3, 5), 2: F(-2, 5), 3: F(-2, 5), 4: F(-2, 5)}
    assert sum(x * x for x in closed.values()) == F(6, 5)
    assert decide(found.certificate("not 3/5", claimed=closed)).valid


def test_other_known_orders():
    three = order_margin([(0, 3), (0, 4), (1, 4), (2, 4)])
    assert [*three.scores.values()] == [F(1, 2), F(1, 3), F(1, 3), F(-1, 2), F(-2, 3)]
    chain = order_margin(CHAIN)
    assert {*chain.scores.values()} == {F(1, 2), F(-1, 2)}
    assert chain.idle == ((0, 3),)
    assert not chain.strictly_complementary
    assert [(b.upper, b.lower) for b in chain.blocks] == [({0, 1}, {2, 3})]
    apart = order_margin([(0, 2), (1, 3)])  # one flow, two components
    assert [(b.upper, b.lower) for b in apart.blocks] == [({0}, {2}), ({1}, {3})]
    assert apart.strictly_complementary


@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 4), (3, 2), (20, 20), (70, 3)])
def test_complete_orders_have_the_closed_form(k, m):
    found = order_margin(product(range(k), range(100, 100 + m)))
    assert {*found.scores.values()} == {F(m, k + m), F(-k, k + m)}
    assert {*found.multipliers.values()} == {F(1, k + m)}
    assert found.norm_squared == F(k * m, k + m)
    assert found.strictly_complementary
    assert found.stands()


def test_no_edges():
    found = order_margin([])
    assert (found.scores, found.blocks, found.norm_squared) == ({}, (), 0)
    assert found.strictly_complementary
    assert found.stands()
    with pytest.raises(ValueError, match="no edge"):
        found.certificate("nothing")


def agrees_with_enumeration(edges):
    edges = sorted(edges)
    found, A, b = order_margin(edges), dense(edges), [1] * len(edges)
    assert tuple(found.scores.values()) == minimum(A, b)
    tight, used = usable(A, b, tuple(found.scores.values()))
    assert {edges[i] for i in tight} == {*found.tight}
    assert {edges[i] for i in tight - used} == {*found.idle}


@pytest.mark.parametrize("chosen", range(1, 64))
def test_all_orders_of_two_above_three(chosen):
    pairs = [*product((0, 1), (2, 3, 4))]
    agrees_with_enumeration([e for i, e in enumerate(pairs) if chosen >> i & 1])


@pytest.mark.parametrize("chosen", range(1, 64))
def test_all_orders_of_four_tokens_that_need_not_be_bipartite(chosen):
    pairs = [*combinations(range(4), 2)]
    agrees_with_enumeration([e for i, e in enumerate(pairs) if chosen >> i & 1])


@settings(max_examples=60, deadline=None)
@given(bipartite(4, 4, 7) | acyclic(6, 7))
def test_larger_orders_agree_with_enumeration(edges):
    agrees_with_enumeration(edges)


@settings(max_examples=200, deadline=None)
@given(bipartite(9, 9, 40))
def test_bipartite_orders_are_certified(edges):
    found = order_margin(edges)
    assert found.stands()
    assert decide(found.certificate("minimal")).valid
    assert found.norm_squared == sum(x * x for x in found.scores.values())
    for token, score in found.scores.items():
        assert (0 < score < 1) if token < 20 else (-1 < score < 0)
    inside = set()
    for block in found.blocks:
        k, m = len(block.upper), len(block.lower)
        assert {found.scores[o] for o in block.upper} == {F(m, k + m)}
        assert {found.scores[x] for x in block.lower} == {F(-k, k + m)}
        assert not block.middle
        inside |= {edge for edge in found.tight if {*edge} <= block.upper | block.lower}
    assert inside == {*found.tight}
    assert {e for e, y in found.multipliers.items() if y} <= {*found.tight}


@settings(max_examples=60, deadline=None)
@given(acyclic(9, 20))
def test_acyclic_orders_are_certified(edges):
    found = order_margin(edges)
    assert found.stands()
    assert decide(found.certificate("minimal")).valid
    assert sum(found.scores.values()) == 0
    groups = [b.upper | b.middle | b.lower for b in found.blocks]
    assert sorted(token for group in groups for token in group) == [*found.scores]


@settings(max_examples=60, deadline=None)
@given(bipartite(6, 6, 15), st.randoms(use_true_random=False))
def test_names_and_repetitions_of_tokens_do_not_matter(edges, random):
    names = dict(enumerate(random.sample(range(90), 30)))
    renamed = [(names[o], names[m]) for o, m in edges for _ in range(2)]
    random.shuffle(renamed)
    found, other = order_margin(edges), order_margin(renamed)
    moved = {names[token]: score for token, score in found.scores.items()}
    assert other.scores == moved
    assert {(names[o], names[m]) for o, m in found.idle} == {*other.idle}


@settings(max_examples=40, deadline=None)
@given(bipartite(8, 8, 30))
def test_strict_complementarity_agrees_with_a_linear_program(edges):
    from scipy.optimize import linprog

    found = order_margin(edges)
    A = np.array(dense(found.tight), float)
    tokens = sorted({token for edge in found.tight for token in edge})
    x = [float(found.scores[token]) for token in tokens]
    # Greatest t with A'y = x and y >= t. Corners have denominators below 16², so that
    # t is 0 or clearly positive.
    columns = np.column_stack([A.T, np.zeros(len(tokens))])
    below = np.column_stack([-np.eye(len(A)), np.ones(len(A))])
    cost = [0.0] * len(A) + [-1.0]
    best = linprog(cost, A_ub=below, b_ub=np.zeros(len(A)), A_eq=columns, b_eq=x)
    assert best.status == 0
    assert found.strictly_complementary is bool(-best.fun > 1e-7)


def test_every_change_of_an_integer_certificate_is_found():
    ring = [(0, 4), (0, 5), (1, 5), (1, 6), (2, 6), (2, 4), (3, 6)]
    found = order_margin([*ring, (3, 7), (8, 7), (9, 7)])
    assert len(found.leaves) == 2
    for at, leaf in enumerate(found.leaves):
        for j, row in leaf.flow.items():
            for i in row:
                flow = {**leaf.flow, j: {**row, i: row[i] + 1}}
                leaves = list(found.leaves)
                leaves[at] = dataclasses.replace(leaf, flow=flow)
                assert not dataclasses.replace(found, leaves=tuple(leaves)).stands()
    whole = found.leaves[0]
    for bit in range(10):
        for side in ("upper", "lower"):
            changed = dataclasses.replace(
                whole, **{side: getattr(whole, side) ^ 1 << bit}
            )
            leaves = (changed, *found.leaves[1:])
            assert not dataclasses.replace(found, leaves=leaves).stands()
    assert not dataclasses.replace(found, leaves=found.leaves[1:]).stands()


@pytest.mark.parametrize("edges", [FIVE, CHAIN, [(0, 1), (1, 2), (0, 3)]])
def test_every_change_of_a_solution_is_found(edges):
    found = order_margin(edges)
    for name in ("scores", "multipliers"):
        for key, value in getattr(found, name).items():
            changed = {**getattr(found, name), key: value + F(1, 10**9)}
            assert not dataclasses.replace(found, **{name: changed}).stands()


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ([(3, 3)], (3,)),
        ([(0, 1), (1, 0)], (0, 1)),
        ([(0, 1), (1, 2), (2, 0), (3, 0), (2, 4)], (0, 1, 2)),
        ([(5, 7), (7, 6), (6, 7), (0, 1)], (7, 6)),
    ],
)
def test_a_cycle_is_named(edges, cycle):
    with pytest.raises(CycleError, match="drop one of the edges") as caught:
        order_margin(edges)
    assert caught.value.cycle == cycle
    for edge in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert edge in edges
        assert str(edge) in str(caught.value)


def test_a_token_in_the_middle_is_no_error():
    found = order_margin([(0, 1), (1, 2)])
    assert found.scores == {0: 1, 1: 0, 2: -1}
    (block,) = found.blocks
    assert (block.upper, block.middle, block.lower) == ({0}, {1}, {2})
