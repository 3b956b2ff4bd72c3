"""Mathematics for reading: expression trees, witnesses, MathML."""

import math
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, symbols, sympify

from verify.certify.positivity import bernstein, squares
from verify.report.formulas import as_lines, infix, readable
from verify.report.mathml import mathml

A, B = ["in", "a"], ["in", "b"]


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (3, "3"),
        ("6/1", "6"),
        ("-2/7", "−2/7"),
        ("0x1.999999999999ap-4", "0.1"),
        (["add", A, ["mul", 2, B], ["neg", 1]], "a + 2 · b + (−1)"),
        (["mul", ["add", A, B], "1/2"], "(a + b) · (1/2)"),
        (["sub", A, ["sub", B, 1]], "a − (b − 1)"),
        (["sub", ["sub", A, B], 1], "a − b − 1"),
        (["div", ["mul", A, B], ["mul", A, B]], "a · b / (a · b)"),
        (["div", A, ["div", A, B]], "a / (a / b)"),
        (["mul", A, ["div", B, 2]], "a · (b / 2)"),
        (["neg", ["add", A, B]], "−(a + b)"),
        (["neg", ["mul", A, B]], "−a · b"),
        (["pow", ["neg", A], 2], "(−a)^2"),
        (["pow", ["pow", A, 2], "1/2"], "(a^2)^(1/2)"),
        (["pow", "1/2", ["add", A, 1]], "(1/2)^(a + 1)"),
        (["matmul", ["transpose", A], ["add", A, B]], "aᵀ (a + b)"),
        (["transpose", ["matmul", A, B]], "(a b)ᵀ"),
        (["trace", ["matmul", A, B]], "trace(a b)"),
        (["entry", ["add", A, B], 0, 1], "(a + b)[0, 1]"),
        (["max", A, B, 0], "max(a, b, 0)"),
        (["abs", ["sub", A, B]], "|a − b|"),
        (["sum", "k", 0, ["in", "n"], ["add", A, B]], "Σ_(k = 0 … n) (a + b)"),
        (
            ["div", ["integral", "t", 0, A, ["exp", B]], 2],
            "(∫_(t = 0 … a) exp(b) dt) / 2",
        ),
        (["mul", ["pi"], ["besseli", "3/2", A]], "π · I_(3/2)(a)"),
        (["gamma", ["add", A, "1/2"]], "gamma(a + 1/2)"),
        (["add", ["exp", A]], "add(exp(a))"),
        (["unheard-of", A], "unheard-of(a)"),
    ],
)
def test_infix_keeps_the_meaning(tree, text):
    assert infix(tree) == text


NUMBERS = st.integers(-9, 9) | st.fractions(-3, 3, max_denominator=5).map(str)
TREES = st.recursive(
    NUMBERS | st.just(A),
    lambda t: st.one_of(
        st.lists(t, min_size=2, max_size=3).map(lambda x: ["add", *x]),
        st.lists(t, min_size=2, max_size=3).map(lambda x: ["mul", *x]),
        st.tuples(t, t).map(lambda x: ["sub", *x]),
        t.map(lambda x: ["neg", x]),
        st.tuples(t, st.integers(0, 2)).map(lambda x: ["pow", *x]),
    ),
    max_leaves=8,
)


def value(tree):
    match tree:
        case ["in", _]:
            return Fraction(7, 3)
        case ["neg", x]:
            return -value(x)
        case ["pow", x, n]:
            return value(x) ** n
        case ["sub", x, y]:
            return value(x) - value(y)
        case ["add", *terms]:
            return sum(map(value, terms))
        case ["mul", *factors]:
            return math.prod(map(value, factors))
    return Fraction(tree)


@settings(deadline=None)
@given(TREES)
def test_a_printed_tree_has_the_value_of_the_tree(tree):
    python = infix(tree).replace("−", "-").replace("·", "*").replace("^", "**")
    read = sympify(python, locals={"a": Rational(7, 3)})
    assert read == Rational(value(tree))


def test_a_large_matrix_is_cut_and_said_to_be():
    rows = [["1"] * 30 for _ in range(20)]
    record = {"kind": "formula", "inputs": {"M": rows}, "relation": ["==", A, A]}
    (matrix,) = readable(record).matrices
    assert (len(matrix.rows), len(matrix.rows[0])) == (12, 8)
    assert matrix.note == "20 × 30, cut: report.json has all of it"


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "kkt", "x": ["1/2"]},
        {"kind": "kkt", "rows": [[{"b": 1}, 1, 1]], "solution": {"a": 1}},
        {"kind": "kkt", "rows": [[{"a": "x"}, 1, 1]], "solution": {"a": 1}},
        {"kind": "kkt", "rows": [[{"a": 1}, 1]], "solution": {"a": 1}},
        {"kind": "formula", "inputs": [], "relation": None},
        {"kind": "formula", "inputs": {"a": [1]}, "relation": ["==", 1, 1]},
        {"kind": "table", "columns": 3, "rows": [[1]], "aggregate": "any"},
        {"kind": "table", "rows": None},
        {"kind": "x", "long": "y" * 9000},
    ],
)
def test_other_and_malformed_records_are_shown_as_they_are(record):
    view = readable(record)
    assert view.raw
    assert not view.rows
    assert len(view.raw) <= 4000
    assert bool(view.note) == ("long" in record)


def kkt(n=2, **changes):
    rows = [[{"w[0]": 1, f"w[{i}]": "-2/3"}, 1, "1/3"] for i in range(1, n)]
    solution = {f"w[{i}]": "-1/2" if i else "2/1" for i in range(n)}
    return {
        "kind": "kkt",
        "says": "Least.",
        "rows": rows,
        "solution": solution,
    } | changes


def test_a_minimiser_is_shown_with_its_constraints():
    view = readable(kkt(compare={"w[1]": "-3/5"}))
    assert view.scalars == (("w[0]", "2"), ("w[1]", "−1/2 (claimed: −3/5)"))
    assert view.columns == ("constraint", "slack", "multiplier")
    assert view.rows == (("w[0] − 2/3 · w[1] ≥ 1", "4/3", "1/3"),)
    assert view.relation.startswith("is the only solution of least norm")
    assert view.relation.endswith("differs from what was claimed")
    assert view.note == "constraints: 1, unknowns: 2."
    assert "claimed" not in readable(kkt()).relation
    hexadecimal = kkt(rows=[[{"w[1]": "0x1p-1", "w[0]": -1}, 0, 0]])
    assert readable(hexadecimal).rows == (("1/2 · w[1] − w[0] ≥ 0", "−9/4", "0"),)


def test_a_long_minimiser_is_cut_and_said_to_be():
    view = readable(kkt(90))
    assert (len(view.scalars), len(view.rows)) == (40, 12)
    assert view.note.startswith("constraints: 89, unknowns: 90; at most 12 and 40")


def test_records_in_the_terminal():
    lines = as_lines(kkt(), "witness")
    assert lines[0] == "witness (kkt) Least."
    assert lines[1] == "w[0] = 2, w[1] = −1/2"
    assert lines[2] == "constraint             slack  multiplier"
    assert lines[3] == "w[0] − 2/3 · w[1] ≥ 1  4/3    1/3"
    assert lines[4].startswith("this is the only solution")
    table = {
        "kind": "table", "says": "s", "columns": ["d"], "rows": [[1]],
        "aggregate": "all", "relation": ["<=", ["in", "d"], 2],
    }  # fmt: skip
    assert as_lines(table, "certificate") == [
        "certificate (table) s", "d", "1",
        "in this table every row satisfies d ≤ 2", "1 rows",
    ]  # fmt: skip
    formula = {
        "kind": "formula", "says": "s", "inputs": {"M": [[1, 2]], "x": 3},
        "relation": ["<", ["in", "x"], 4],
    }  # fmt: skip
    assert as_lines(formula, "witness") == [
        "witness (formula) s", "x = 3", "M = [1 2]", "this satisfies x < 4"
    ]  # fmt: skip
    assert as_lines({"kind": "other", "x": 1}, "witness") == ["witness (other)"]


def deep(n):
    tree = A
    for _ in range(n):
        tree = ["neg", tree]
    return tree


def test_a_family_is_shown_with_its_bound_and_limit():
    instances = [
        {"at": 10**k, "relation": "<", "value": f"2/{2 * k - 1}"} for k in (1, 2)
    ]
    family = {
        "kind": "family", "says": "the ratio vanishes", "variable": "n",
        "bound": ["div", 1, ["log", ["in", "n"]]], "toward": "0",
        "instances": instances, "limit": "log n grows",
    }  # fmt: skip
    assert as_lines(family, "witness") == [
        "witness (family) the ratio vanishes",
        "n    bound",
        "10   < 2",
        "100  < 2/3",
        "the bound 1 / log(n) tends to 0 as n grows: log n grows",
        "The instances are rechecked; the limit is proved in the check's steps.",
    ]
    long = readable(family | {"instances": instances * 9})
    assert len(long.rows) == 12
    assert "first 12 of 18" in long.note
    assert readable(family | {"toward": 1}).raw


def test_an_enclosure_is_shown_as_a_formula():
    area = ["integral", "t", 0, ["in", "w"], ["in", "t"]]
    record = {"kind": "enclosure", "says": "s", "inputs": {"w": 2}}
    record |= {"relation": ["<", area, 3]}
    assert as_lines(record, "certificate") == [
        "certificate (enclosure) s",
        "w = 2",
        "this satisfies ∫_(t = 0 … w) t dt < 3",
        "Decided in ball arithmetic; `verify recheck --deep` decides it again.",
    ]


def test_a_tree_that_is_too_deep_is_not_shown_but_survived():
    record = {"kind": "formula", "inputs": {}, "relation": ["==", deep(150), 1]}
    assert "−(−" in readable(record).relation


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{1}{\sqrt{d}} \sum_{i=1}^{N} \mathbb{E}\,\lVert x_i \rVert^2",
        r"\begin{cases} a & b < 1 \\ c & d\end{cases}",
        r"\forall \Lambda \ge 1 : \quad w^*(\Lambda) \asymp \Lambda^{2/(d+3)}",
        r"\text{a \& b}",
    ],
)
def test_mathml_is_well_formed(latex):
    converted = mathml(latex, block=True)
    root = ET.fromstring(converted)
    assert root.get("alttext") == latex
    assert root.get("display") == "block"


def test_markup_in_latex_stays_text():
    converted = mathml(r"\text{<script>alert(1)</script>} <b>")
    assert "<script" not in converted
    assert "&lt;script&gt;" in converted
    assert mathml(r"\href{javascript:alert(1)}{x}") is None or "javascript:" not in (
        mathml(r"\href{javascript:alert(1)}{x}").replace('alttext="\\href{java', "")
    )


@pytest.mark.parametrize("latex", ["", r"\frac{1", r"\nosuchmacro{x}", r"\frac{1}"])
def test_latex_that_is_not_understood_gives_nothing(latex):
    assert mathml(latex) is None


def test_a_polynomial_is_read_with_its_box_and_cells():
    x, y = symbols("x y")
    box = {x: (0, 1), y: (Rational(1, 2), 2)}
    record = bernstein(x**2 - x * y / 2 + y, box, says="it is positive")
    shown = readable(record)
    rows = dict(shown.rows)
    assert rows["polynomial (degree 2)"] == "y − 1/2 · x · y + x^2"
    assert (rows["x in"], rows["y in"]) == ("[0, 1]", "[1/2, 2]")
    assert shown.sentence.startswith(
        "The polynomial is > 0 on this box, shown by its B"
    )
    assert not shown.raw


def test_squares_need_no_box():
    x = symbols("x")
    shown = readable(squares(x**4 - x**2 + 1, [x], says="it is positive"))
    assert shown.sentence == "The polynomial is > 0 everywhere, shown by its squares"
    assert int(dict(shown.rows)["squares"]) >= 1


def test_a_relation_that_nobody_can_follow_is_cut_and_said_to_be():
    relation = ["==", ["add", *[A] * 400], 1]
    record = {"kind": "formula", "says": "s", "inputs": {"a": 1}, "relation": relation}
    view = readable(record)
    assert len(view.relation) < 700
    assert "The relation has 1601 characters" in view.note
    assert view.short == ""


def test_a_small_witness_fits_one_line():
    record = {
        "kind": "formula", "says": "s", "inputs": {"a": 1, "M": [[1, 2], [3, "1/2"]]},
        "relation": ["<", A, ["entry", ["in", "M"], 1, 1]],
    }  # fmt: skip
    assert readable(record).short == "a = 1, M = [1 2; 3 1/2]: a < M[1, 1]"
    assert readable(kkt()).short == ""
    wide = {**record, "inputs": {"M": [["1"] * 30]}}
    assert readable(wide).short == ""


def test_what_stands_beside_a_witness_is_not_said_again():
    record = {"kind": "formula", "says": "s", "inputs": {}, "relation": ["<", 1, 2]}
    assert as_lines(record, "witness", ["s"])[0] == "witness (formula)"
    assert as_lines(record, "witness", ["t"])[0] == "witness (formula) s"


def test_mathml_says_only_what_a_browser_does_not_know():
    assert mathml(r"\frac{a}{b}") == (
        "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"
    )
    stretched = mathml(r"\left(\frac{a}{b}\right)")
    assert "<mo>(</mo>" in stretched
    assert 'stretchy="false"' in mathml("(a)")
    assert 'fence="true"' in mathml(r"\left|a\right|")
