"""What a step of `verify.recheck` costs, and what happens when nothing is left.

The weights are rough, so that these tests allow a factor of two; that long numbers,
long trees and long rows cost more than short ones is what keeps a report from hanging
its reader. Each test kills mutants of the budget.
"""

import json
from fractions import Fraction

import pytest

from verify import recheck
from verify.recheck import Decision, RecheckError, decide


def spent(do):
    """The steps that an action takes of a record's budget, and of the report's."""
    calculator, before = recheck._Calculator(), recheck.SPENT[0]
    do(calculator)
    steps = recheck.MAX_WORK - calculator.work
    assert recheck.SPENT[0] - before == steps
    return steps


def whole(bits):
    return Fraction((1 << (bits - 1)) + 1)


def test_short_numbers_cost_a_few_steps():
    third = (Fraction(1, 3),)
    assert spent(lambda c: c.pay()) == 1
    assert spent(lambda c: c.pay([*third], 7)) == 7
    assert 1 < spent(lambda c: c.binary("add", third, third)) < 20
    assert 1 < spent(lambda c: c.value("1/3", {})) < 10
    assert 8 < spent(lambda c: c.unary("exp", third)) < 400


@pytest.mark.parametrize(("bits", "steps"), [(1 << 16, 256), (1 << 18, 4096)])
def test_long_numbers_cost_the_square_of_their_length(bits, steps):
    """4096 bits, 64 words, take as long as a step; twice as many four times that."""
    for long in (whole(bits), 1 / whole(bits), -whole(bits)):
        assert steps < spent(lambda c, x=long: c.pay([x])) < 2 * steps
        assert steps < spent(lambda c, x=long: c.pay([Fraction(1), x])) < 2 * steps
        assert 3 * steps < spent(lambda c, x=long: c.pay([x], 3)) < 6 * steps


def test_long_fractions_cost_the_product_of_their_parts_as_well():
    long = Fraction((1 << 99_999) + 1, 3**60_000)
    product = 100_000 * long.denominator.bit_length() >> 21
    square = (100_000 >> 12) ** 2
    steps = spent(lambda c: c.pay([long]))
    assert product + square <= steps <= product + square + 2


def test_a_number_may_have_just_as_many_bits_as_allowed():
    assert spent(lambda c: c.pay([whole(recheck.MAX_BITS)])) < recheck.MAX_WORK
    with pytest.raises(RecheckError, match="over MAX_WORK or MAX_BITS"):
        recheck._Calculator().pay([whole(recheck.MAX_BITS + 1)])


def test_the_last_step_is_allowed():
    calculator = recheck._Calculator()
    calculator.pay(steps=recheck.MAX_WORK)
    assert calculator.work == 0
    with pytest.raises(RecheckError, match="over MAX_WORK or MAX_BITS"):
        calculator.pay(steps=1)


def test_functions_cost_more_at_more_bits_and_on_more_ends():
    def unary(bits, *ends):
        def do(calculator):
            calculator.bits = bits
            calculator.unary("exp", tuple(map(Fraction, ends)))

        return spent(do)

    assert 8 * unary(64, 1) < unary(1024, 1) < 32 * unary(64, 1)
    assert 3 * unary(64, 1) < 2 * unary(64, 1, 2)
    products = [
        spent(lambda c, x=x: c.binary("mul", x, x))
        for x in ((Fraction(1),), (Fraction(1), Fraction(2)))
    ]
    assert 2 * products[0] < products[1] < 8 * products[0]


def test_wide_trees_and_copied_names_cost_their_length():
    narrow, wide = (["add", *[1] * n] for n in (10, 1000))
    assert spent(lambda c: c.value(wide, {})) > 50 * spent(
        lambda c: c.value(narrow, {})
    )
    for names in ({}, {f"x{i}": ((), [(Fraction(1),)]) for i in range(5000)}):
        once = spent(lambda c, n=names: c.value(["sum", "i", 1, 1, 1], n))
        assert len(names) < once < len(names) + 60
    assert 50 < spent(lambda c: c.value("9" * 4000, {})) < 80


def polynomial(degree=20, **changes):
    """The steps of deciding that 1 + x^degree is positive on [0, 1]."""
    record = {
        "kind": "polynomial", "says": "s", "variables": ["x"], "relation": ">",
        "terms": [[1, [0]], [1, [degree]]], "box": [[0, 1]], "cells": None,
        "squares": [],
    }  # fmt: skip
    before = recheck.SPENT[0]
    assert decide(record | changes).valid is True
    return recheck.SPENT[0] - before


def test_polynomials_cost_their_terms_times_the_square_of_their_degree():
    dense = [[1, [k]] for k in range(21)]
    assert 2 * 20**2 < polynomial() < 3 * 20**2
    assert 3 * polynomial(20) < polynomial(40) < 4 * polynomial(20)
    assert 9 * polynomial() < polynomial(terms=dense) < 12 * polynomial()


def test_long_ends_make_polynomials_dear():
    long = 10**400  # to the power 20 it has 26576 bits: 1 + 6^2 steps for each
    for box in ([[f"1/{long + 1}", 1]], [[0, long]]):
        assert 25 * polynomial() < polynomial(box=box) < 50 * polynomial()


def test_cells_and_squares_cost_their_coefficients():
    half = [0, None, None]
    one = polynomial(cells=half) - polynomial()
    two = polynomial(cells=[0, half, None]) - polynomial(cells=half)
    assert 8 * 21**2 < one < 12 * 21**2
    assert 8 * 21**2 < two < 12 * 21**2
    square = [1, [[f"1/{100 + k}", [k]] for k in range(10)]]
    once, twice = (polynomial(squares=[square] * k) for k in (1, 2))
    assert twice - once > 4 * 10**2


FAR = {"kind": "formula", "says": "s", "inputs": {}, "relation": ["<", 1, 2]}


def test_a_report_over_its_budget_is_left_undecided(monkeypatch):
    checks = [{"name": f"c{i}", "witness": FAR} for i in range(3)]
    claims = [{"id": "p/t", "checks": checks}]
    monkeypatch.setattr(recheck, "verdict_digest", lambda report: "d")
    monkeypatch.setattr(recheck, "result_digest", lambda report: "d")
    made = {"claims": claims, "verdict_digest": "d", "result_digest": "d"}
    late = (None, "undecided: the whole report is over MAX_TOTAL steps")
    for most, decided in ((-1, 0), (0, 1), (10**6, 3)):
        monkeypatch.setattr(recheck, "MAX_TOTAL", most)
        items = recheck.recheck(made)
        assert [tuple(item[2:]) for item in items[decided:3]] == [late] * (3 - decided)
        assert all(item.valid for item in [*items[:decided], *items[3:]])
    assert recheck.recheck(made, lambda record: Decision(True, ""))[2].valid is True


def test_reasons_and_places_are_short():
    with pytest.raises(RecheckError) as caught:
        decide(FAR | {"relation": ["<", ["f" * 90, *["x"] * 999], 1]})
    assert len(str(caught.value)) <= recheck.MAX_TEXT
    with pytest.raises(RecheckError) as caught, recheck.blame("b" * 999):
        raise ValueError("long")
    assert str(caught.value) == "b" * recheck.MAX_TEXT
    deep = [{"witness": FAR}]
    for _ in range(9):
        deep = [{"id": "i" * 300, "k": deep}]
    [(place, _)] = recheck._records("claims", deep)
    assert place.startswith(f"claims[{'i' * 300}].k[iii")
    assert len(place) <= recheck.MAX_TEXT + 310


SHAPES = {
    "claims a number": {"claims": [1]},
    "claims an object": {"claims": {}},
    "run a list": {"run": []},
    "no claims": {"claims": None},
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_report_has_claims_and_a_run(name, tmp_path):
    path = tmp_path / "report.json"
    made = {"schema_version": 1, "claims": [], "run": {}}
    path.write_text(json.dumps(made))
    assert recheck.load(path) == made
    path.write_text(json.dumps(made | SHAPES[name]))
    with pytest.raises(RecheckError, match="claims is no list of objects, or run no"):
        recheck.load(path)


@pytest.mark.parametrize("version", [0, 2, True, 1.0, "1", None])
def test_a_report_of_another_version_is_left_to_its_recheck(version, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"schema_version": version, "claims": [], "run": {}}))
    wanted = f"schema_version {version!a}: use the recheck.py of a newer release"
    with pytest.raises(RecheckError, match=wanted):
        recheck.load(path)


def test_a_key_that_occurs_twice_is_named(tmp_path):
    path = tmp_path / "report.json"
    path.write_text('{"schema_version": 1, "claims": [], "run": {"a": 1, "a": 1}}')
    with pytest.raises(RecheckError, match="a key occurs twice in one object"):
        recheck.load(path)
