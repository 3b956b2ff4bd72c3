"""Enclosures decided again: balls, cuts, malformed and hostile records."""

import copy
import json
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import recheck, recheck_deep
from verify.recheck import RecheckError
from verify.recheck_deep import decide
from verify.symbolic import SymbolicError, enclosure, formula

T, S, W = ["in", "t"], ["in", "s"], ["in", "w"]
TINY = "1/100000000000000000000"


def record(op, left, right, **inputs):
    relation = [op, left, right]
    return {"kind": "enclosure", "says": "s", "inputs": inputs, "relation": relation}


def truth(*args, **inputs):
    return decide(record(*args, **inputs)).valid


def over(low, high, body, name="t"):
    return ["integral", name, low, high, body]


def near(left, right):
    return ["abs", ["sub", left, right]]


SEMICIRCLE = over(-1, 1, ["sqrt", ["sub", 1, ["mul", T, T]]])
THIRD = ["pow", T, "1/3"]

SINH = ["div", ["sub", ["exp", T], ["exp", ["neg", T]]], 2]

# Both sides are equal, by a closed form.
EQUAL = {
    "semicircle": (SEMICIRCLE, ["div", ["pi"], 2]),
    "half power": (over(0, 4, ["pow", T, "3/2"]), "64/5"),
    "third power": (over(0, 8, THIRD), 12),
    "third power of a third": (over(0, 1, ["pow", T, "4/3"]), "3/7"),
    "abs": (over(-1, 2, ["abs", T]), "5/2"),
    "max": (over(-1, 2, ["max", T, 0]), 2),
    "min": (over(-1, 2, ["min", T, 0, 1]), "-1/2"),
    "log": (over(1, 2, ["log", T]), ["sub", ["mul", 2, ["log", 2]], 1]),
    "inverse": (over(1, 2, ["div", 1, T]), ["log", 2]),
    "turned": (over(2, 1, ["div", 1, T]), ["neg", ["log", 2]]),
    "erf": (
        over(0, 1, ["exp", ["neg", ["mul", T, T]]]),
        ["mul", ["div", ["sqrt", ["pi"]], 2], ["erf", 1]],
    ),
    "gamma": (["gamma", "7/2"], ["mul", "15/8", ["sqrt", ["pi"]]]),
    "besseli": (
        over(0, ["pi"], ["exp", ["mul", 3, ["cos", T]]]),
        ["mul", ["pi"], ["besseli", 0, 3]],
    ),
    "half order": (
        ["besseli", "1/2", 2],
        ["div", ["sub", ["exp", 2], ["exp", -2]], ["mul", 2, ["sqrt", ["pi"]]]],
    ),
    "sum": (["sum", "k", 0, 60, ["div", 1, ["gamma", ["add", ["in", "k"], 1]]]],
            ["exp", 1]),
    "nested": (
        over(0, 1, over(0, T, ["mul", S, T], "s")), "1/8"
    ),
    "end in the outer variable": (
        over(1, 2, over(1, T, ["div", 1, S], "s")),
        ["sub", ["mul", 2, ["log", 2]], 1],
    ),
    "cut of an inner end": (
        over(0, 1, over(0, ["sqrt", T], 1, "s")), "2/3"
    ),
    # Off the path these meet a cut; what does not tell Arb so gives a wrong value.
    "sqrt off its path": (over(1, 4, ["sqrt", T]), "14/3"),
    "third power off its path": (
        over(1, 4, THIRD), ["div", ["sub", ["pow", 4, "4/3"], 1], "4/3"]
    ),
    "half order off its path": (
        over(1, 4, ["besseli", "1/2", T]),
        over(1, 4, ["mul", ["sqrt", ["div", 2, ["mul", ["pi"], T]]], SINH]),
    ),
    "inner sqrt off its path": (over(1, 4, over(0, 1, ["sqrt", T], "s")), "14/3"),
    "inner product off its path": (
        over(1, 4, over(1, 4, ["sqrt", ["mul", S, T]], "s")), "196/9"
    ),
    "shadowed": (over(0, 1, over(0, T, T, "t")), "1/6"),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_closed_form(name):
    left, right = EQUAL[name]
    assert truth("<", near(left, right), "1/1000000000000") is True
    assert truth(">", near(left, right), "1/1000000000000") is False
    assert truth("<", left, ["sub", right, "1/1000000000000"]) is False


def test_inputs_are_exact():
    assert truth("<", ["sub", ["mul", 3, W], 1], 0, w="1/3") is not True
    assert truth("<", near(["mul", 3, W], 1), TINY, w="1/3") is True
    assert truth("==", W, "1/4", w="0x1p-2") is True
    assert truth("==", W, ["add", "1/4", TINY], w="0x1p-2") is False


ORDER = {
    "==": (False, True, False),
    "!=": (True, False, True),
    "<": (True, False, False),
    "<=": (True, True, False),
    ">": (False, False, True),
    ">=": (False, True, True),
}


@pytest.mark.parametrize("op", ORDER)
def test_relation(op):
    assert tuple(truth(op, left, 2) for left in (1, 2, 3)) == ORDER[op]
    root = ["mul", ["sqrt", 2], ["sqrt", 2]]
    assert truth(op, root, 2) is None  # equal, but no ball can show it


def test_changed_number_fails():
    bound = record("<", over(0, W, ["exp", T]), "637/100", w=2)  # e^2 - 1 = 6.389...
    assert decide(bound).valid is False
    made = record("<", over(0, W, ["exp", T]), "639/100", w=2)
    assert decide(made).valid is True
    for change in (made | {"inputs": {"w": "201/100"}}, bound):
        assert decide(change).valid is False


def test_ladder_separates_close_numbers():
    left = ["sub", ["log", ["add", 2, "0x1p-150"]], ["log", 2]]
    assert decide(record(">", left, 0)).reason == "decided in balls of 256 bits"
    assert truth(">", ["sub", ["log", ["add", 2, "0x1p-900"]], ["log", 2]], 0) is None


UNDECIDED = {
    "pole on the way": over(0, 1, ["div", 1, ["sub", T, "1/3"]]),
    "pole at the end": over(0, 1, ["div", 1, T]),
    "quotient of zeros": ["div", 1, ["sub", ["sqrt", 2], ["sqrt", 2]]],
    "domain left open": ["sqrt", ["sub", ["exp", ["log", 2]], 2]],
    "gamma at a pole": ["gamma", -2],
    "exp of exp of exp": ["exp", ["exp", ["exp", ["exp", 10]]]],
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_undecided_is_never_valid(name, monkeypatch):
    monkeypatch.setattr(recheck_deep, "LADDER", (64,))
    for op in ORDER:
        assert truth(op, UNDECIDED[name], 5) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_values_agree_with_mpmath(data):
    number = st.fractions(min_value="1/8", max_value=6, max_denominator=16)
    a, b, nu = (data.draw(number) for _ in range(3))
    with mpmath.workdps(40):
        x, y, order = (mpmath.mpf(q.numerator) / q.denominator for q in (a, b, nu))
        values = {
            ("besseli", "nu", "x"): mpmath.besseli(order, x),
            ("gamma", "x"): mpmath.gamma(x),
            ("erf", "y"): mpmath.erf(y),
            ("pow", "x", str(nu)): x**order,
            ("cos", "y"): mpmath.cos(y),
            ("sin", "y"): mpmath.sin(y),
        }
        names = {"x": str(a), "y": str(b), "nu": str(nu)}
        for (op, *args), value in values.items():
            tree = [op, *(["in", z] if z in names else z for z in args)]
            exact = str(Fraction(int(mpmath.floor(value * 2**90)), 2**90))
            assert truth("<", near(tree, exact), "0x1p-80", **names) is True


def test_other_kinds_are_decided_as_well():
    assert decide(record("<", 1, 2) | {"kind": "formula"}).valid is True
    with pytest.raises(RecheckError, match="kind is none of"):
        decide({"kind": "magic"})


MALFORMED = {
    "no kind": {"says": "s"},
    "kind no string": {"kind": ["enclosure"]},
    "no inputs": {"kind": "enclosure", "says": "s", "relation": ["<", 1, 2]},
    "extra field": record("<", 1, 2) | {"extra": 1},
    "inputs a list": record("<", 1, 2) | {"inputs": [1]},
    "matrix input": record("<", 1, 2, w=[[1]]),
    "undigested input": record("<", 1, 2, seconds=1),
    "float": record("<", 1.5, 2),
    "bool": record("<", True, 2),
    "null": record("<", None, 2),
    "object": record("<", {}, 2),
    "nan": record("<", float("nan"), 2),
    "relation op": record("=", 1, 2),
    "relation op a list": record(["<"], 1, 2),
    "relation length": record("<", 1, 2) | {"relation": ["<", 1]},
    "unknown name": record("<", W, 2),
    "unknown name in an integrand": record("<", over(0, 1, W), 2),
    "unknown op": record("<", ["magic", 1], 2),
    "unknown op in an integrand": record("<", over(0, 1, ["real", T]), 2),
    "private op": record("<", ["__class__", 1], 2),
    "op a list": record("<", [["add"], 1], 2),
    "empty op": record("<", [], 2),
    "no arguments": record("<", ["add"], 2),
    "arity": record("<", ["sqrt", 1, 2], 2),
    "arity of pi": record("<", ["pi", 1], 2),
    "arity of besseli": record("<", ["besseli", 1], 2),
    "variable no string": record("<", over(0, 1, 1, 3), 2),
    "matrix": record("<", ["eye", 2], 2),
    "division by zero": record("<", ["div", 1, ["sub", 1, 1]], 2),
    "log of negative": record("<", ["log", -1], 2),
    "sqrt of negative": record("<", ["sqrt", -1], 2),
    "power of negative": record("<", ["pow", -2, "1/3"], 2),
    "bessel of negative": record("<", ["besseli", "1/3", -2], 2),
    "integral not real": record("<", over(-1, 1, ["sqrt", T]), 2),
    "huge exponent": record("<", ["pow", 3, 10**9], 2),
    "huge half exponent": record("<", ["pow", 3, f"{10**9 + 1}/2"], 2),
    "long sum": record("<", ["sum", "k", 1, 10_001, 1], 2),
    "sum to a ball": record("<", ["sum", "k", 1, ["gamma", ["erf", 1]], 1], 2),
    "sum to a variable": record("<", over(0, 1, ["sum", "k", 0, T, 1]), 2),
    "nesting": record("<", json.loads('["neg",' * 250 + "1" + "]" * 250), 2),
    "nodes": record("<", ["add", *[1] * 200_001], 2),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_record_is_refused(name):
    with pytest.raises(RecheckError, match=r"^malformed record: .") as caught:
        decide(MALFORMED[name])
    assert len(str(caught.value)) < 300


def deep_integral(depth):
    body = 1
    for k in range(depth):
        body = over(0, 1, ["sqrt", ["add", ["in", f"t{k}"], body]], f"t{k}")
    return body


HOSTILE = {
    "sum of sums": ["sum", "k", 0, 9999, ["sum", "l", 0, 9999, 1]],
    "bessel functions": ["sum", "k", 0, 9999, ["besseli", "1/3", ["in", "k"]]],
    "long way": over(0, ["pow", 10, 999], ["sin", T]),
    "integrals in integrals": deep_integral(30),
    "huge arguments": ["besseli", ["gamma", 10**40], ["gamma", ["pow", 10, 9999]]],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_is_bounded(name, monkeypatch):
    monkeypatch.setattr(recheck_deep._Calculator, "work", 20_000)
    monkeypatch.setattr(recheck_deep, "LADDER", (64,))
    decision = decide(record("<", HOSTILE[name], 0, unique=1))  # not in the cache
    assert decision.valid is None
    assert "undecided" in decision.reason


def test_precision_is_restored():
    from flint import ctx

    before = ctx.prec
    truth("<", SEMICIRCLE, 2)
    with pytest.raises(RecheckError):
        truth("<", over(0, 1, W), 3)
    assert ctx.prec == before


# ---------------------------------------------------------------- reports


def report(*certificates):
    claim = dict.fromkeys(recheck._STATED.split()) | {"id": "p/theorem-1"}
    checks = [{"name": str(k), "certificate": x} for k, x in enumerate(certificates)]
    run = dict.fromkeys(recheck.VOLATILE["run"])
    claims = [claim | {"checks": checks, "mutants": [], "anchors": []}]
    made = {"schema_version": 1, "run": run, "claims": claims, "provenance": {}}
    for digest in (recheck.verdict_digest, recheck.result_digest):
        made[digest.__name__] = digest(made)
    return made


def test_main(tmp_path, capsys):
    good, wrong = record("<", SEMICIRCLE, 2), record("<", SEMICIRCLE, 1)
    equal = record("==", ["sqrt", 2], ["sqrt", 2])
    path = tmp_path / "report.json"

    def outcome(*certificates):
        path.write_text(json.dumps(report(*certificates)))
        codes = [module.main([str(path)]) for module in (recheck, recheck_deep)]
        return codes, capsys.readouterr().out

    codes, out = outcome(good)
    assert codes == [0, 0]
    assert "1 not rechecked here, 2 ok" in out
    assert out.endswith("3 items: 3 ok\n")
    codes, out = outcome(good, wrong)
    assert codes == [0, 1]
    assert out.endswith("4 items: 1 BAD, 3 ok\n")
    codes, out = outcome(equal)
    assert codes == [0, 1]
    assert out.endswith("3 items: 2 ok, 1 undecided\n")
    assert recheck_deep.main([]) == 2
    assert capsys.readouterr().err.startswith("recheck: usage")


def test_tampered_enclosure(tmp_path, capsys):
    made = report(record("<", SEMICIRCLE, 2))
    other = copy.deepcopy(made)
    other["claims"][0]["checks"][0]["certificate"]["relation"][2] = 3
    path = tmp_path / "report.json"
    path.write_text(json.dumps(other))
    assert recheck_deep.main([str(path)]) == 1
    assert "result_digest: differs" in capsys.readouterr().out


# ---------------------------------------------------------------- from sympy

t, w = sp.symbols("t w", positive=True)


def test_enclosure_from_sympy():
    weight = sp.Integral(sp.exp(w * t) * sp.sqrt(1 - t**2), (t, -1, 1))
    closed = sp.pi * sp.besseli(1, w) / w
    small = sp.Rational(1, 10**30)
    made = enclosure(sp.Abs(weight - closed), "<", small, {"w": 3, "z": 1}, "Bessel")
    assert made["inputs"] == {"w": 3}
    assert decide(made).valid is True
    other = enclosure(sp.Abs(weight - closed), ">", small, {"w": 3}, "Bessel")
    assert decide(other).valid is False
    k = sp.Symbol("k", integer=True)
    series = sp.Sum(1 / sp.gamma(k + 1), (k, 0, 40))
    near_e = enclosure(series - sp.E, "<", small, {}, "the series of e")
    assert decide(near_e).valid is True
    double = sp.Integral(sp.sin(t) * w, (t, 0, w), (w, 0, 1))
    assert decide(enclosure(double, "<", sp.Rational(1, 2), {}, "s")).valid is True


def test_enclosure_refuses_what_has_no_node():
    other = sp.Symbol("t")
    for left, inputs, what in (
        (sp.zeta(t), {"t": 2}, "no node for zeta"),
        (sp.Integral(t, t), {"t": 1}, "no ends"),
        (sp.Integral(sp.exp(-t), (t, 0, sp.oo)), {}, "no node for Infinity"),
        (t, {}, "missing inputs: t"),
        (t, {"t": float("nan")}, "finite"),
        (t, {"t": [[1]]}, "single number"),
        (sp.Integral(t * other, (t, 0, 1)), {"t": 1}, "share the name t"),
    ):
        with pytest.raises(SymbolicError, match=what):
            enclosure(left, "<", 1, inputs, "s")
    with pytest.raises(SymbolicError, match="no relation"):
        enclosure(t, "=", 1, {"t": 1}, "s")


def test_formula_leaves_balls_to_enclosure():
    for part in (sp.pi, sp.gamma(t), sp.Integral(w, (w, 0, t))):
        with pytest.raises(SymbolicError, match="`enclosure` writes it"):
            formula(part, "<", 2, {"t": 1}, "s")
