"""Numbers, evidence and formulas as the record keeps them."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from verify.claim import Mutant
from verify.describe import change_of, encode, formula, number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("words", "words"),
        (3, 3),
        (0.1, 0.1),
        (Fraction(-2, 6), "-1/3"),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.int64(-7), -7),
        (np.array(2.5), 2.5),
        (sp.Rational(2, 6), "1/3"),
        (sp.Integer(10**30), str(10**30)),
        (sp.sqrt(2), "sqrt(2)"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (np.float64("inf"), "inf"),
        (np.float32("nan"), "nan"),
        (True, "True"),
        (np.bool_(True), "True"),
        (10**40, 10**40),
    ],
    ids=repr,
)
def test_number(value, expected):
    got = number(value)
    assert got == expected
    assert type(got) is type(expected)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_json(value):
    assert json.loads(json.dumps(number(np.float64(value)))) == value


@given(st.fractions())
def test_fractions_survive_json(value):
    assert Fraction(json.loads(json.dumps(number(value)))) == value


@dataclass
class Point:
    x: object
    y: object


def test_encode_is_plain_json():
    evidence = {
        1: (Fraction(1, 3), [np.float32(0.5), None]),
        "matrix": np.array([[1, 2], [3, 4]]),
        "exact": np.array([Fraction(1, 2), Fraction(3)], dtype=object),
        "point": Point(math.nan, {"deep": (np.inf, True)}),
        "root": sp.Rational(1, 7),
    }
    plain = encode(evidence)
    assert json.loads(json.dumps(plain, allow_nan=False)) == {
        "1": ["1/3", [0.5, None]],
        "matrix": [[1, 2], [3, 4]],
        "exact": ["1/2", "3/1"],
        "point": {"x": None, "y": {"deep": [None, True]}},
        "root": "1/7",
    }
    assert type(plain["matrix"][0][0]) is int


def test_encode_leaves_a_class_alone():
    assert "Point" in encode(Point)


@pytest.mark.parametrize("value", [3, 2.5, Fraction(1, 3), -7])
def test_numerals_are_mathematics(value):
    shown = formula(value)
    assert Fraction(shown.text) == Fraction(shown.latex) == Fraction(value)


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (1e-6, r"1 \cdot 10^{-6}"),
        (-2.5e300, r"-2.5 \cdot 10^{300}"),
        (1e16, r"1 \cdot 10^{16}"),
        (Fraction(-1, 3), "-1/3"),
    ],
)
def test_powers_of_ten_are_mathematics(value, latex):
    assert formula(value).latex == latex
    assert formula(value).text == str(value)


@pytest.mark.parametrize(
    "value", ["a_b^c", "1_000", "1e", "--1", "100 % {x} \\end{document}", "$ & # ~", ""]
)
def test_words_cannot_break_latex(value):
    shown = formula(value)
    assert shown.text == value
    assert shown.latex.startswith(r"\text{")
    assert shown.latex.endswith("}")
    inner = shown.latex.removeprefix(r"\text{")[:-1]
    assert not set(inner) & set("\\{}_^&%$#~")
    assert [c for c in inner if c.isalnum()] == [c for c in value if c.isalnum()]


@pytest.mark.parametrize("value", [math.nan, math.inf, True, None])
def test_what_is_no_numeral_is_words(value):
    assert formula(value).latex == rf"\text{{{formula(value).text}}}"


def test_sympy_is_printed_as_mathematics():
    x = sp.Symbol("x_1")
    shown = formula(sp.sqrt(x) / 2)
    assert r"\sqrt{x_{1}}" in shown.latex
    assert "x_1" in shown.text
    assert formula(sp.Rational(1, 3)).text == "1/3"


def test_change_names_parameters_and_domain():
    change = change_of(
        Mutant("m", why="w", domain="the unit ball", rate=Fraction(1, 2))
    )
    assert change["rate"].text == "1/2"
    assert change["domain"].text == "the unit ball"
    assert set(change_of(Mutant("m", why="w", rate=1))) == {"rate"}
