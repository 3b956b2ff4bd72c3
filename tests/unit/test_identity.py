"""Identities: proved for all sizes, refuted on an exact instance, or neither."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from verify import Cause, Verdict, recheck
from verify.search import Search
from verify.symbolic import Identity, padded
from verify.symbolic.errors import SymbolicError

M, N = sp.symbols("M N", integer=True, positive=True)
A, B = sp.MatrixSymbol("A", N, N), sp.MatrixSymbol("B", N, N)
U, V = sp.MatrixSymbol("U", M, N), sp.MatrixSymbol("V", M, N)
x = sp.Symbol("x", real=True)

COMMUTES = Identity(A * B, B * A, "the product does not commute")
CYCLIC = Identity(sp.Trace(A * B), sp.Trace(B * A))


def matrix(rows):
    made = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        made[i] = [Fraction(entry) for entry in row]
    return made


EYE = matrix([[1, 0], [0, 1]])
SHEAR = matrix([[1, "1/3"], [0, 1]])
TURN = matrix([[0, -1], [1, 0]])

entries = st.fractions(-4, 4, max_denominator=3)
squares = st.integers(1, 3).flatmap(
    lambda n: st.fixed_dictionaries({
        name: st.lists(
            st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n
        ).map(matrix)
        for name in "AB"
    })
)


# ---------------------------------------------------------------- instances


@given(squares)
def test_violated_is_what_arithmetic_says(instance):
    left, right = (instance["A"].dot(instance["B"]), instance["B"].dot(instance["A"]))
    differ = (left != right).any()
    assert COMMUTES.violated(instance) is bool(differ)
    assert not CYCLIC.violated(instance)
    assert recheck.decide(COMMUTES.witness(instance)).valid is bool(differ)


@given(squares)
def test_a_certificate_stands_where_the_sides_agree(instance):
    assert recheck.decide(CYCLIC.certificate(instance)).valid
    assert recheck.decide(CYCLIC.witness(instance)).valid is False
    agrees = not COMMUTES.violated(instance)
    assert recheck.decide(COMMUTES.certificate(instance)).valid is agrees


def test_one_entry_is_enough_and_ever_so_little():
    little = matrix([[1, Fraction(1, 10**30)], [0, 1]])
    assert Identity(A, B).violated({"A": EYE, "B": little})
    assert not Identity(A, B).violated({"A": EYE, "B": EYE.copy()})


def test_names_that_neither_side_reads_are_passed_over():
    instance = {"A": SHEAR, "B": TURN, "eta": Fraction(1, 2), "V": matrix([[1]])}
    assert COMMUTES.violated(instance)
    assert set(COMMUTES.witness(instance)["inputs"]) >= {"A", "B"}
    assert recheck.decide(COMMUTES.witness(instance)).valid


def test_a_missing_input_is_an_error():
    with pytest.raises(SymbolicError):
        COMMUTES.violated({"A": SHEAR})


def test_a_tampered_witness_does_not_stand():
    record = COMMUTES.witness({"A": SHEAR, "B": TURN})
    assert record["says"] == "the product does not commute"
    assert recheck.decide(record).valid
    tampered = record | {"inputs": record["inputs"] | {"A": record["inputs"]["B"]}}
    assert not recheck.decide(tampered).valid


# ---------------------------------------------------------------- empty blocks


def test_an_empty_block_becomes_one_column_of_zeros():
    empty = np.zeros((3, 0), dtype=object)
    filled = padded({"V": empty, "A": EYE, "x": Fraction(1, 2), "n": 3})
    assert filled["V"].shape == (3, 1)
    assert not filled["V"].any()
    assert filled["A"] is EYE
    assert (filled["x"], filled["n"]) == (Fraction(1, 2), 3)


def test_padding_changes_its_copy_only():
    empty = np.zeros((2, 0), dtype=object)
    given_ = {"V": empty}
    padded(given_)
    assert given_["V"] is empty
    assert empty.shape == (2, 0)


@pytest.mark.parametrize(("scale", "violated"), [(1, False), (2, True)])
def test_an_empty_block_adds_nothing(scale, violated):
    empty = np.zeros((2, 0), dtype=object)
    S, T = sp.MatrixSymbol("S", M, M), sp.MatrixSymbol("T", M, M)
    identity = Identity(S + U * V.T, T)
    twice = np.array([[scale * e for e in row] for row in SHEAR], dtype=object)
    instance = {"S": SHEAR, "T": twice, "U": empty, "V": empty}
    assert identity.violated(instance) is violated
    record = identity.witness(instance) if violated else identity.certificate(instance)
    assert recheck.decide(record).valid


# ---------------------------------------------------------------- deciding


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.Trace(A * B), sp.Trace(B * A)),
        ((A + B) * (A + B), A * A + A * B + B * A + B * B),
        ((A * B).T, B.T * A.T),
        (x * U + (1 - x) * U, U),
    ],
    ids=str,
)
def test_what_is_true_is_proved_for_all_sizes(left, right):
    instance = {"A": SHEAR, "B": TURN, "U": SHEAR, "x": Fraction(1, 3)}
    outcome = Identity(left, right).decide([{**instance, "A": EYE}, instance])
    assert outcome.verdict is Verdict.HOLDS
    assert outcome.steps
    assert recheck.decide(outcome.certificate).valid


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (A * B, B * A),
        (sp.Trace(A * B), sp.Trace(A) * sp.Trace(B)),
        ((A * B).T, A.T * B.T),
        (x * A, A),
    ],
    ids=str,
)
def test_what_is_false_is_refuted_by_the_first_that_shows_it(left, right):
    blind = {"A": matrix([[1]]), "B": matrix([[1]]), "x": 1}
    tells = {"A": SHEAR, "B": TURN, "x": 2}
    outcome = Identity(left, right, "they differ").decide([blind, tells, tells])
    assert outcome.verdict is Verdict.REFUTED
    assert (outcome.n, outcome.reason) == (2, "they differ")
    assert recheck.decide(outcome.witness).valid


@pytest.mark.parametrize("instances", [[], [{"A": EYE, "B": TURN}]])
def test_neither_proof_nor_counterexample(instances):
    outcome = COMMUTES.decide(instances)
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, Cause.NO_PROOF)
    assert "A*B" in outcome.reason.replace(" ", "")
    assert (outcome.witness, outcome.certificate) == (None, None)


def test_a_proof_needs_no_instance():
    outcome = CYCLIC.decide([])
    assert (outcome.verdict, outcome.certificate) == (Verdict.HOLDS, None)


def test_instances_may_come_from_a_generator():
    outcome = COMMUTES.decide({"A": SHEAR, "B": b} for b in (EYE, TURN))
    assert (outcome.verdict, outcome.n) == (Verdict.REFUTED, 2)


def test_sides_of_different_shapes_are_an_error():
    with pytest.raises(SymbolicError):
        Identity(U, U.T).decide([{"U": SHEAR}])
    with pytest.raises(SymbolicError):
        Identity(A, sp.Trace(A)).decide([{"A": EYE}])


# ---------------------------------------------------------------- searching


def test_a_search_refutes_with_a_small_instance():
    outcome = COMMUTES.search(Search(300, 2), squares, searched="matrices")
    assert outcome.verdict is Verdict.REFUTED
    assert recheck.decide(outcome.witness).valid
    assert len(outcome.witness["inputs"]["A"]) == 2  # numbers commute
    assert outcome.searched == "matrices"


def test_a_search_finds_nothing_against_what_is_true():
    outcome = CYCLIC.search(Search(80, 2), squares, searched="matrices")
    assert (outcome.verdict, outcome.n) == (Verdict.HOLDS, 80)


def test_a_pinned_instance_refutes_at_once():
    pinned = ({"A": EYE, "B": TURN}, {"A": SHEAR, "B": TURN})
    outcome = COMMUTES.search(Search(1, 0), squares, searched="s", pinned=pinned)
    assert (outcome.verdict, outcome.n) == (Verdict.REFUTED, 2)
    assert recheck.decide(outcome.witness).valid


# ---------------------------------------------------------------- division by zero

SHIFTED = Identity(x / (x - 1), 1 + 1 / (x - 1))
WRONG = Identity(1 / (x - 1), 1 / (x + 1))
AT = [{"x": Fraction(1)}, {"x": Fraction(2)}]


def test_where_a_side_divides_by_zero_nothing_is_said():
    with pytest.raises(ZeroDivisionError):
        WRONG.violated(AT[0])
    refuted = WRONG.decide(AT)
    assert (refuted.verdict, refuted.n) == (Verdict.REFUTED, 1)
    assert recheck.decide(refuted.witness).valid
    proved, bare = SHIFTED.decide(AT[::-1]), SHIFTED.decide(AT[:1])
    assert proved.verdict == bare.verdict == Verdict.HOLDS
    assert recheck.decide(proved.certificate).valid
    assert bare.certificate is None
    assert "wherever neither divides by zero" in proved.reason
    assert "wherever" not in SHIFTED.decide(AT[1:]).reason
    for outcome in (refuted, proved, bare):
        assert outcome.discards == {"a side divides by zero": 1}


def test_a_search_discards_what_divides_by_zero():
    instances = st.fixed_dictionaries({"x": st.integers(0, 3).map(Fraction)})
    found = SHIFTED.search(Search(50, seed=1), instances, searched="x", pinned=AT[:1])
    assert found.verdict == Verdict.HOLDS
    assert found.discards["a side divides by zero"] >= 1
    against = WRONG.search(Search(50, seed=1), instances, searched="x", pinned=AT[:1])
    assert against.verdict == Verdict.REFUTED
