"""An identity is refuted by an instance before a proof is tried; proofs are kept."""

import pytest
import sympy as sp

from verify.symbolic import Identity, prove_equal
from verify.symbolic import identity as module
from verify.verdict import Verdict

x = sp.Symbol("x")


@pytest.fixture
def no_proof(monkeypatch):
    def tried(left, right):
        raise AssertionError("a proof was tried")

    monkeypatch.setattr(module, "prove_equal", tried)


def test_an_instance_refutes_without_a_proof(no_proof):
    outcome = Identity(x**2, x).decide([{"x": 1}, {"x": 2}, {"x": 3}])
    assert (outcome.verdict, outcome.n) == (Verdict.REFUTED, 2)
    assert outcome.witness["inputs"] == {"x": 2}


def test_instances_without_a_difference_are_no_proof(no_proof):
    with pytest.raises(AssertionError, match="a proof was tried"):
        Identity(x**2, x).decide([{"x": 1}])


def test_a_proof_is_made_once_for_equal_sides():
    first = prove_equal((x + 1) ** 2, x**2 + 2 * x + 1)
    assert first.proved
    assert prove_equal((x + 1) ** 2, x**2 + 2 * x + 1) is first
    assert not prove_equal((x + 1) ** 2, x**2 + 2 * x).proved


def test_matrices_that_can_change_are_compared_as_they_are():
    left = sp.Matrix([[x, 1]])
    assert prove_equal(left, sp.Matrix([[x, 1]])).proved
    left[0, 0] = 2 * x
    assert not prove_equal(left, sp.Matrix([[x, 1]])).proved
