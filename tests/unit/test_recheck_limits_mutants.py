"""The limits of `verify.recheck` in figures, and what steps cost, to the step.

A record that one release decides must not be over the budget of the next: whoever
changes a limit or a weight changes these figures with it, and says so. Each test kills
mutants of the module.
"""

import os
import tracemalloc
from fractions import Fraction

import pytest

from verify import recheck
from verify.recheck import Decision, RecheckError, decide

F = Fraction


def formula(op, left, right, **inputs):
    relation = [op, left, right]
    return {"kind": "formula", "says": "s", "inputs": inputs, "relation": relation}


# The last value that is allowed, and the first that is not.


@pytest.mark.parametrize("size", [64 << 20, (64 << 20) + 1], ids=["64 MiB", "a byte"])
def test_a_file_has_64_mebibytes(tmp_path, size):
    path = tmp_path / "report.json"
    path.touch()
    os.truncate(path, size)  # zeros, which take no space, and are no JSON
    allowed = size == 64 << 20
    wanted = "Expecting value" if allowed else "over 67108864 bytes"
    with pytest.raises(RecheckError, match=rf"is no report: {wanted}"):
        recheck.load(path)


def test_a_file_that_is_too_long_is_not_read_to_its_end(tmp_path, monkeypatch):
    """A link to an endless file must not fill the memory of whoever rechecks."""
    path = tmp_path / "report.json"
    path.touch()
    os.truncate(path, 32 << 20)
    monkeypatch.setattr(recheck, "MAX_FILE", 1000)
    tracemalloc.start()
    try:
        with pytest.raises(RecheckError, match="over 1000 bytes"):
            recheck.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


def test_a_record_has_200_000_values():
    record = {"kind": "enclosure", "says": "s", "values": [1] * 199_996}
    assert decide(record) == recheck.ELSEWHERE  # the record and its three fields
    record["values"].append(1)
    with pytest.raises(RecheckError, match="too large or nested too deep"):
        decide(record)


def test_a_number_has_800_000_bits():
    pay = recheck._Calculator().pay
    pay([F(1 << 799_999)])
    with pytest.raises(RecheckError, match="over MAX_WORK or MAX_BITS"):
        pay([F(1 << 800_000)])


def test_a_record_has_400_000_steps():
    calculator = recheck._Calculator()
    calculator.pay(steps=400_000)
    with pytest.raises(RecheckError, match="over MAX_WORK or MAX_BITS"):
        calculator.pay()


@pytest.mark.parametrize(("steps", "second"), [(40_000_000, True), (40_000_001, None)])
def test_a_report_has_40_million_steps(monkeypatch, steps, second):
    monkeypatch.setattr(recheck, "verdict_digest", lambda report: None)
    monkeypatch.setattr(recheck, "result_digest", lambda report: None)
    monkeypatch.setattr(recheck, "SPENT", [17])  # by reports before this one

    def spend(record):
        recheck.SPENT[0] += steps
        return Decision(True, "")

    witnesses = [{"witness": {}}, {"witness": {}}]
    items = recheck.recheck({"claims": [{"id": "p/t", "checks": witnesses}]}, spend)
    assert [item.valid for item in items[:2]] == [True, second]


def test_a_reason_has_400_characters():
    with pytest.raises(RecheckError) as caught, recheck.blame("b" * 999):
        raise ValueError("long")
    assert str(caught.value) == "b" * 400


PRECISIONS = [(50, 64), (100, 128), (200, 256), (450, 512), (900, 1024)]


@pytest.mark.parametrize(("gap", "bits"), PRECISIONS)
def test_precisions_are_tried_in_turn(gap, bits):
    """log 2 and log(2 + 2^-gap) part where the enclosures become narrower than that."""
    near = ["log", ["add", 2, f"0x1p-{gap}"]]
    told = f"1 True, 0 False, 0 None; at {bits} bits"
    assert decide(formula("<", ["log", 2], near)) == (True, told)


@pytest.mark.parametrize(("op", "x"), [("exp", F(1)), ("log", F(3)), ("sqrt", F(2))])
@pytest.mark.parametrize("bits", recheck.LADDER)
def test_an_enclosure_is_one_unit_to_each_side(op, x, bits):
    """Of the last of bits/3 + 10 digits, where the argument needs no rounding."""
    low, high = recheck._enclose(op, x, bits)
    allowed = F(1, 10 ** (bits // 3 + 9))
    assert 0 < high - low <= 2 * allowed * (low + high) / 2


# Costs.


def spent(do):
    calculator = recheck._Calculator()
    do(calculator)
    return recheck.MAX_WORK - calculator.work


A, B, WIDE = (F(1),), (F(2), F(3)), (F(0), F(2))
COSTS = {
    "a number": (5, lambda c: c.hull(A)),
    "two ends": (9, lambda c: c.hull(B)),
    "two ends of a function": (57, lambda c: c.hull(B, 7)),
    "a sum": (6, lambda c: c.binary("add", A, A)),
    "a product of intervals": (18, lambda c: c.binary("mul", B, B)),
    "a sign": (5, lambda c: c.unary("neg", A)),
    "a size": (9, lambda c: c.unary("abs", B)),
    "a size from 0": (9, lambda c: c.unary("abs", WIDE)),
    "a size up to 0": (9, lambda c: c.unary("abs", (F(-2), F(0)))),
    "a size around 0": (13, lambda c: c.unary("abs", (F(-2), F(1)))),
    "exp": (8 + 1 + 1 + 4 * 21 * 2, lambda c: c.unary("exp", A)),
    "exp of an interval": (8 + 1 + 1 + 4 * 21 * 4, lambda c: c.unary("exp", B)),
    # 999 numbers, the node itself by its length, and the 998 sums
    "a long sum": (
        2 + (56 + 8 * 1000) // 64 + 999 * 2 + 998 * 6,
        lambda c: c.value(["add"] + [1] * 999, {}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COSTS)
def test_what_is_spent(name):
    steps, do = COSTS[name]
    assert spent(do) == steps


LINE = [[1, [0]], [1, [1]]]
POLYNOMIALS = {
    # ends: terms times (degree + 1)^2; 5 for each term and coefficient; the least
    "1 + x": ({}, 2 * 2**2 + 5 * 4 + 2),
    "halved": ({"cells": [0, None, None]}, 2 * 2**2 + 5 * 4 + 2 + 2 * (5 * 4 + 2)),
    "less a square": (
        {"squares": [[1, LINE]], "terms": [[9, [0]]]},  # 8 - 2 x - x^2 is left
        5 * 4 + 3 * 3**2 + 5 * 9 + 3,
    ),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_what_a_polynomial_costs(name):
    changes, steps = POLYNOMIALS[name]
    before = recheck.SPENT[0]
    record = {
        "kind": "polynomial", "says": "s", "variables": ["x"], "relation": ">",
        "terms": LINE, "box": [[0, 1]], "cells": None, "squares": [],
    }  # fmt: skip
    assert decide(record | changes).valid is True
    assert recheck.SPENT[0] - before == steps


def test_a_relation_is_a_list():
    """Not a text whose letters would do."""
    record = formula("<", 1, 2)
    assert decide(record).valid is True
    for relation in ("<12", {"<": 1}, 7, None):
        with pytest.raises(RecheckError):
            decide(record | {"relation": relation})
