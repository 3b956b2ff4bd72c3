"""The values of both sides of a relation: right, or left out."""

import pytest

from verify.report.sides import sides

A, M = ["in", "a"], ["in", "M"]


def of(left, right=0, **inputs):
    record = {"kind": "formula", "inputs": inputs, "relation": ["<", left, right]}
    return sides(record)


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (["add", A, "1/2", 1], "23/6"),
        (["sub", A, 3], "−2/3"),
        (["neg", ["mul", A, A]], "−49/9"),
        (["div", A, "0x1.8p+1"], "7/9"),
        (["pow", A, -2], "9/49"),
        (["max", A, ["abs", ["sub", 0, 5]], ["min", 9, 8]], "8"),
        (["sum", "k", 1, 3, ["mul", ["in", "k"], A]], "14"),
        (["sum", "k", 1, 0, ["in", "k"]], "0"),
        (["entry", M, 1, 0], "3"),
        (["sqrt", 2], "about 1.414213562"),
        (["exp", ["neg", ["log", 4]]], "about 0.2500000000"),
        (["pow", 2, "1/2"], "about 1.414213562"),
        (["pow", 10, -400], "about 1e−400"),
        (["pow", ["div", 1, 3], 9], "1/19683"),
    ],
)
def test_the_left_side_is_evaluated(left, text):
    said = of(left, a="7/3", M=[[1, 2], [3, "1/7"]])
    assert said == f"The left side is {text}, the right side 0."


def test_sides_that_differ_late_are_shown_with_digits_enough():
    said = of(["sqrt", 2], ["add", ["sqrt", 2], "1/100000000000000000"])
    left, right = said.removeprefix("The left side is about ")[:-1].split(
        ", the right side about "
    )
    assert left != right


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "table"},
        {"kind": "formula"},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, ["in", "x"]]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, ["div", 1, 0]]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, ["log", -1]]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, ["pow", -1, "1/2"]]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, ["erf", 1]]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, None]},
        {"kind": "formula", "inputs": {}, "relation": ["<", 1, "1" * 9000]},
        {"kind": "formula", "inputs": {"M": [[1]]}, "relation": ["<", M, M]},
        {
            "kind": "formula",
            "inputs": {},
            "relation": ["<", 1, ["exp", ["exp", ["exp", 99]]]],
        },
        {
            "kind": "formula",
            "inputs": {},
            "relation": ["<", 1, ["sum", "k", 0, 10**30, ["in", "k"]]],
        },
    ],
)
def test_what_has_no_readable_value_is_left_out(record):
    assert sides(record) == ""


def test_powers_of_powers_stay_within_bounds():
    tower = 2
    for _ in range(60):
        tower = ["pow", tower, 1000]
    assert of(tower) == ""
