"""What `verify.recheck` decides at its edges: each test kills mutants of it.

Numbers as written, limits on their last allowed value, intervals that touch.
"""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import recheck
from verify.recheck import RecheckError, decide, measure, number

F = Fraction


def formula(op, left, right, **inputs):
    relation = [op, left, right]
    return {"kind": "formula", "says": "s", "inputs": inputs, "relation": relation}


def truth(*args, **inputs):
    return decide(formula(*args, **inputs)).valid


# Numbers as written.

WRITTEN = {
    "3": 3, "-0": 0, "007": 7, "-6/4": F(-3, 2), "0x1p0": 1, "-0x1.8p+1": -3,
    "0xff.8p-4": F(511, 32), "0x.p1": None, "0x1.p1": 2, "0x1.08p0": F(33, 32),
    "0x1p": None, "0X1p0": None, "0x1P0": None, "0xAp0": None, "+3": None, "3.0": None,
    "1/-2": None, " 3": None, "3\n": None, "1/2/3": None, "": None, "0x1p+-1": None,
    "٣": None, "1e3": None, "--1": None, "0xffffffffffffffffp0": 2**64 - 1,
    "0x1ffffffffffffffffp0": None, "0x0.ffffffffffffffffp64": 2**64 - 1,
    "0x0.0ffffffffffffffffp64": None, "0x1p9999": 2**9999, "0x1p10000": None,
    "9" * 4300: 10**4300 - 1, "-" + "9" * 4300: 1 - 10**4300, "9" * 4301: None,
    "1/" + "9" * 4300: F(1, 10**4300 - 1), "1/" + "9" * 4301: None,
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN, ids=lambda x: f"{x[:24]!a} of {len(x)}")
def test_number_as_written(text):
    value = WRITTEN[text]
    if value is None:
        with pytest.raises(RecheckError, match="is no exact number: write 3, 'p/q'"):
            number(text)
    else:
        assert number(text) == ((), [(value,)])
        assert type(number(text)[1][0][0]) is Fraction


def test_a_value_that_is_no_number_is_named():
    assert number(-7) == ((), [(-7,)])
    for value, named in ((True, "bool"), (0.5, "float"), (None, "None"), ([1], "list")):
        with pytest.raises(RecheckError, match=f"^'{named}.*' is no exact number"):
            number(value)
    with pytest.raises(RecheckError, match=f"^'{'x' * 40}' is no"):
        number("x" * 50)
    with pytest.raises(RecheckError, match=r"^'\\u0663'"):
        number("\u0663")


# Limits: the last value that is allowed, and the first that is not.


def test_measure_counts_levels_and_values():
    value = {"a": [1, {"b": 2}], "c": 3}  # 1 + 2 + 2 + 1 values on 4 levels
    measure(value, 4, 6)
    for depth, nodes in ((3, 6), (4, 5)):
        with pytest.raises(RecheckError, match="too large or nested too deep"):
            measure(value, depth, nodes)
    measure("text", 1, 1)
    measure({}, 1, math.inf)
    with pytest.raises(RecheckError):
        measure({}, 0, 9)
    with pytest.raises(RecheckError):
        measure([], 1, 0)


def test_a_record_has_200_levels():
    tree = 1
    for _ in range(197):
        tree = ["neg", tree]
    assert truth("==", tree, -1) is True
    with pytest.raises(RecheckError, match="too large or nested too deep"):
        truth("==", ["neg", tree], 1)


SIDE, COUNT = 256, 10_000
ALLOWED = [
    ("==", ["total", ["ones", SIDE, 1]], SIDE),
    ("==", ["total", ["ones", 1, SIDE]], SIDE),
    ("==", ["sum", "i", 1, COUNT, 1], COUNT),
    ("==", ["sum", "i", -5, COUNT - 6, 1], COUNT),
    ("==", ["sum", "i", 3, 2, 1], 0),
    ("==", ["sum", "i", 3, 3, ["in", "i"]], 3),
    ("==", ["pow", 1, COUNT], 1),
    ("==", ["pow", -1, -COUNT], 1),
    ("==", ["entry", ["in", "A"], 1, 2], 6),
    ("==", ["entry", ["in", "A"], 0, 0], 1),
    ("<", ["exp", -(1 << 19)], "0x1p-9999"),
    (">", ["exp", 1 << 19], 1),
]
REFUSED = [
    (["total", ["ones", SIDE + 1, 1]], "an exact integer from 1 to 256"),
    (["total", ["eye", 0]], "an exact integer from 1 to 256"),
    (["sum", "i", 0, COUNT, 1], "a sum has over 10000 terms"),
    (["sum", "i", "1/2", 2, 1], "an exact integer from -"),
    (["pow", 1, COUNT + 1], r"pow needs \|exponent\| <= 10000: use exp, log"),
    (["pow", 1, -COUNT - 1], r"pow needs \|exponent\| <= 10000"),
    (["entry", ["in", "A"], 2, 0], "an exact integer from 0 to 1 "),
    (["entry", ["in", "A"], 0, 3], "an exact integer from 0 to 2 "),
    (["entry", ["in", "A"], -1, 0], "an exact integer from 0 to 1 "),
    (["exp", (1 << 19) + 1], r"exp needs \|x\| <= 524288: rescale"),
    (["exp", -(1 << 19) - 1], r"exp needs \|x\| <= 524288: rescale"),
    (["log", 0], "log outside its domain: correct the record"),
    (["sqrt", "-1/9"], "sqrt outside its domain: correct the record"),
    (["div", 1, 0], "division by zero: correct the record"),
    (["in", "z"], "no input is named 'z'"),
    (["in", "z" * 90], f"no input is named '{'z' * 40}'$"),
    (["matmul", ["in", "A"], ["in", "A"]], r"'matmul' does not apply to shapes \(2, 3"),
    (["add", ["in", "A"], 1], r"'add' does not apply to shapes \(2, 3\), \(\)"),
    (["trace", ["in", "A"]], r"'trace' does not apply to shapes \(2, 3\)"),
    (["f" * 90], f"'{'f' * 40}' does not apply to shapes $"),
    (["in", "A"], r"< of shapes \(2, 3\) and \(\)"),
]
MATRIX = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("relation", ALLOWED, ids=str)
def test_the_last_value_that_is_allowed(relation):
    assert truth(*relation, A=MATRIX) is True


@pytest.mark.parametrize(("tree", "message"), REFUSED, ids=lambda x: str(x)[:40])
def test_the_first_value_that_is_refused(tree, message):
    with pytest.raises(RecheckError, match=f"^malformed record: .*{message}"):
        truth("<", tree, 1, A=MATRIX)


@pytest.mark.parametrize(
    "raw", [[[0] * 257], [[0]] * 257, [[]], [], [[1], [1, 2]], [1], "ab", [[[1]]]]
)
def test_inputs_that_are_no_rectangle_of_numbers(raw):
    with pytest.raises(RecheckError, match=r"no rectangle of numbers|no exact number"):
        truth("==", ["in", "A"], ["in", "A"], A=raw)


@pytest.mark.parametrize("shape", [(1, 256), (256, 1), (3, 5)])
def test_matrices_keep_their_shape(shape):
    rows, columns = shape
    A = [[columns * i + j for j in range(columns)] for i in range(rows)]
    names = {"A": A, "T": [list(x) for x in zip(*A, strict=True)]}
    assert truth("==", ["transpose", ["in", "A"]], ["in", "T"], **names) is True
    last = ["entry", ["in", "A"], rows - 1, columns - 1]
    assert truth("==", last, rows * columns - 1, **names) is True


def test_products_and_made_matrices_entry_by_entry():
    names = {"A": MATRIX, "P": [[14, 32], [32, 77]], "I": [[1, 0], [0, 1]]}
    product = ["matmul", ["in", "A"], ["transpose", ["in", "A"]]]
    assert truth("==", product, ["in", "P"], **names) is True
    assert truth("==", ["eye", 2], ["in", "I"], **names) is True
    assert truth("==", ["ones", 1, 2], ["in", "B"], B=[[1, 1]]) is True
    assert truth("==", ["zeros", 2, 1], ["in", "B"], B=[[0], [0]]) is True
    assert truth("==", ["mul", "1/2", ["in", "A"]], ["div", ["in", "A"], 2], **names)


def test_a_table_or_formula_says_how_many_rows_hold_and_at_which_precision():
    assert decide(formula("<", 1, 2)).reason == "1 True, 0 False, 0 None; at 64 bits"
    near = ["log", ["add", 2, "0x1p-100"]]
    assert decide(formula("<", ["log", 2], near)) == (
        True, "1 True, 0 False, 0 None; at 128 bits",
    )  # fmt: skip
    root = ["sqrt", ["in", "d"]]
    rows = {
        "kind": "table", "says": "s", "columns": ["d"], "aggregate": "any",
        "rows": [[2], [4], [9]], "relation": ["<", root, ["sqrt", ["in", "d"]]],
    }  # fmt: skip
    open_one = "0 True, 2 False, 1 None; at 64 bits"
    assert decide(rows) == (None, open_one)
    assert decide(rows | {"aggregate": "all"}) == (False, open_one)


# Intervals.

SPANS = [
    # left, right, and the truth of < <= == >= > != between them
    ((0, 1), (2, 3), "TTFFFT"),
    ((2, 3), (0, 1), "FFFTTT"),
    ((0, 1), (1, 2), "?T??F?"),
    ((1, 2), (0, 1), "F??T??"),
    ((0, 2), (1, 3), "??????"),
    ((0, 3), (1, 2), "??????"),
    ((1,), (1,), "FTTTFF"),
    ((1,), (2,), "TTFFFT"),
    ((1,), (0, 1), "F??T??"),
    ((1,), (0, 2), "??????"),
    ((), (1,), "??????"),
    ((1,), (), "??????"),
    ((0, 1), (0, 1), "??????"),
]


@pytest.mark.parametrize(("left", "right", "truths"), SPANS)
def test_comparison_of_intervals(left, right, truths):
    a, b = (tuple(map(F, span)) for span in (left, right))
    words = {"T": True, "F": False, "?": None}
    found = [recheck._compare(op, a, b) for op in ("<", "<=", "==", ">=", ">", "!=")]
    assert found == [words[x] for x in truths]


def test_truths_join_in_three_values():
    T, N, U = True, False, None
    join = recheck._join
    for truths, every, some in (
        ([T, T], T, T), ([T, N], N, T), ([N, N], N, N), ([T, U], U, T), ([N, U], N, U),
        ([U], U, U), ([T, N, U], N, T),
    ):  # fmt: skip
        for order in itertools.permutations(truths):
            assert join(order, False) is every
            assert join(order, True) is some


@settings(max_examples=200)
@given(st.fractions(), st.sampled_from([8, 64, 1024]))
def test_rounding_goes_down_by_less_than_one_unit(x, bits):
    y = recheck._down(x, bits)
    assert 0 <= x - y <= abs(x) * F(1, 2 ** (bits - 2))
    assert y.denominator & (y.denominator - 1) == 0
    size = y.numerator.bit_length() - (y.numerator & -y.numerator).bit_length()
    assert size <= bits + 1
    assert recheck._down(y, bits + 2) == y


def enclosed(op, *ends, bits=64):
    calculator = recheck._Calculator()
    calculator.bits = bits
    return calculator.unary(op, tuple(map(F, ends)))


def test_functions_of_intervals():
    assert enclosed("abs", -3, 2) == (0, 3)
    assert enclosed("abs", -3, -2) == (2, 3)
    assert enclosed("abs", 0, 2) == (0, 2)
    assert enclosed("abs", -2, 0) == (0, 2)
    assert enclosed("abs", -3, F(1, 2)) == (0, 3)
    assert enclosed("abs", F(1, 2), 2) == (F(1, 2), 2)
    assert enclosed("neg", 2, 3) == (-3, -2)
    assert enclosed("sqrt", 4, 9) == (2, 3)
    assert enclosed("sqrt", 0, 9) == (0, 3)
    assert enclosed("sqrt", -1, 9) == ()
    assert enclosed("log", 0, 1) == ()
    assert enclosed("exp") == enclosed("log") == ()
    low, high = enclosed("exp", 0, 1)
    assert low == 1
    assert 0 < high - F(math.e) < F(1, 2**50)


@pytest.mark.parametrize(
    ("op", "x", "value"),
    [("exp", 0, 1), ("log", 1, 0), ("sqrt", 0, 0), ("sqrt", F(4, 9), F(2, 3))],
)
def test_values_that_are_exact(op, x, value):
    assert recheck._enclose(op, F(x), 64) == (value,)


@pytest.mark.parametrize(
    ("op", "x"),
    [("exp", 1), ("log", 4), ("sqrt", F(4, 3)), ("sqrt", F(3, 4)), ("sqrt", 2),
     ("exp", F(1, 10**30)), ("log", F(1, 10**30)), ("exp", -50), ("sqrt", F(1, 2)),
     ("log", F(10**12 + 1, 10**12))],
)  # fmt: skip
@pytest.mark.parametrize("bits", recheck.LADDER)
def test_enclosures_are_tight_and_nested(op, x, bits):
    """Twice as many bits give an enclosure inside the coarser one."""
    low, high = recheck._enclose(op, F(x), bits)
    inner = recheck._enclose(op, F(x), 2 * bits)
    assert low < inner[0] < inner[1] < high
    assert high - low <= max(abs(low), abs(high)) * F(1, 2**bits)


@pytest.mark.parametrize("third", [F(1, 3), F(2, 3)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_long_argument_is_rounded_outwards(sign, third):
    """At 10^5 an argument rounded to nearest costs exp 10^5 units of its last place."""
    x = sign * (10**5 + third)
    low, high = recheck._enclose("exp", x, 64)
    inner = recheck._enclose("exp", x, 1024)
    assert low < inner[0] < inner[1] < high


def test_what_is_exact_stays_exact():
    """0 times an enclosure is the number 0, which may be an exponent."""
    zero = ["mul", 0, ["exp", 1]]
    assert truth("==", ["pow", 2, zero], 1) is True
    assert truth("==", ["entry", ["in", "A"], zero, 1], 2, A=MATRIX) is True
    assert recheck._Calculator().hull([F(1, 3)] * 2) == (F(1, 3),)


def test_a_division_by_an_interval_around_zero_is_unknown():
    calculator = recheck._Calculator()
    one = (F(1),)
    for ends in ((-1, 1), (0, 1), (-1, 0)):
        assert calculator.binary("div", one, tuple(map(F, ends))) == ()
    assert calculator.binary("div", one, ()) == ()
    assert calculator.binary("div", one, (F(2), F(4))) == (F(1, 4), F(1, 2))
    assert calculator.binary("mul", (F(-1), F(2)), (F(-3), F(5))) == (-6, 10)
    with pytest.raises(RecheckError, match="division by zero"):
        calculator.binary("div", one, (F(0),))


def test_powers_of_intervals():
    power = recheck._Calculator().power
    a, b = (F(-2), F(3)), (F(2), F(3))
    assert power(a, F(2)) == (0, 9)
    assert power(a, F(3)) == (-18, 27)
    assert power(b, F(-2)) == (F(1, 9), F(1, 4)) or power(b, F(-2))[0] < F(1, 9)
    assert power(b, F(0)) == (1,)
    assert power((), F(0)) == ()
    assert power((), F(2)) == ()
    assert power((F(4), F(9)), F(3, 2)) == (8, 27)
    assert power((F(4), F(9)), F(1, 2)) == (2, 3)
    low, high = power((F(8),), F(1, 3))
    assert low <= 2 <= high
    assert high - low < F(1, 10**15)


FAMILY = {
    "kind": "family", "says": "s", "variable": "n", "toward": "0", "limit": "1/n",
    "bound": ["div", 1, ["in", "n"]],
    "instances": [
        {"at": 1, "relation": "<=", "value": 1},
        {"at": 2, "relation": "<", "value": "2/3"},
    ],
}  # fmt: skip
TABLE = {
    "kind": "table", "says": "s", "columns": ["a"], "rows": [[1]], "aggregate": "all",
    "relation": ["==", ["in", "a"], 1],
}  # fmt: skip
AT = {"at": 3, "relation": "<", "value": "1/2"}
REMEDIES = {
    "kind is none of formula, table, enclosure, kkt, family": {"kind": "magic"},
    r"a relation is \[op, left, right\], op == != < <= > >=": formula("~", 1, 2),
    "an input named seconds is not digested: rename it": formula("<", 1, 2, seconds=1),
    "columns is no list of new names": TABLE | {"columns": ["a", "a"]},
    "rows is no list of at least one row": TABLE | {"rows": []},
    "aggregate is none of any, all, mean": TABLE | {"aggregate": "most"},
    "toward is neither '0' nor 'infinity'": FAMILY | {"toward": "1"},
    "limit says why the bound tends there": FAMILY | {"limit": " "},
    "a family has at least two instances": FAMILY | {"instances": [AT]},
    "the variable does not grow": FAMILY | {"instances": [AT, AT]},
    "a value is not positive": FAMILY
    | {"instances": [AT, {"at": 4, "relation": "<", "value": -1}]},
    "an instance is at, value and relation, < or <=": FAMILY
    | {"instances": [AT, {"at": 4, "relation": ">", "value": "1/3"}]},
}  # fmt: skip


@pytest.mark.parametrize("remedy", REMEDIES)
def test_what_is_refused_is_told_what_is_wanted(remedy):
    assert decide(FAMILY).valid is decide(TABLE).valid is True
    with pytest.raises(RecheckError, match=f"^malformed record: .*{remedy}"):
        decide(REMEDIES[remedy])


@pytest.mark.parametrize("row", [[], [1, 2]], ids=len)
def test_a_row_has_a_number_for_each_column(row):
    with pytest.raises(RecheckError, match=r"^malformed record: ."):
        decide(TABLE | {"rows": [row], "relation": ["==", 1, 1]})


@pytest.mark.parametrize("sides", [[], [1], [1, 2, 3]])
def test_a_relation_has_two_sides(sides):
    with pytest.raises(RecheckError, match=r"^malformed record: ."):
        decide(formula("<", 1, 2) | {"relation": ["<", *sides]})


def test_a_family_says_what_was_not_rechecked():
    assert decide(FAMILY).reason == (
        "2 instances hold; the limit is proved in the check's steps, not rechecked here"
    )
    low = [*FAMILY["instances"][:1], {"at": 2, "relation": "<", "value": "1/3"}]
    assert decide(FAMILY | {"instances": low}) == (
        False, "instances and their order: [True, False, True]",
    )  # fmt: skip
    still = FAMILY | {"bound": "1/9"}
    assert decide(still).reason == "instances and their order: [True, True, False]"
