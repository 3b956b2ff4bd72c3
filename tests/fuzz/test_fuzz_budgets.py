"""Records and reports made to take for ever: refused within a budget of steps."""

import itertools
import json
import time

import pytest

from verify import recheck, recheck_deep
from verify.recheck import RecheckError, decide
from verify.report import words
from verify.report.axes import wrap
from verify.report.formulas import readable
from verify.report.mathml import mathml
from verify.report.sides import sides

LONG, OTHER = "9" * 4300, "7" * 4299 + "1"
RATIO = f"{LONG}/{OTHER}"


def formula(left, right=0, **inputs):
    relation = ["<", left, right]
    return {"kind": "formula", "says": "s", "inputs": inputs, "relation": relation}


def polynomial(**changes):
    made = {
        "kind": "polynomial", "says": "s", "variables": ["x"], "terms": [[1, [256]]],
        "relation": ">", "box": [["1/7", "5/11"]], "cells": None, "squares": [],
    }  # fmt: skip
    return made | changes


def over(body, times=2):
    for name in ("i", "j", "k")[:times]:
        body = ["sum", name, 1, 9999, body]
    return body


def halved(depth):
    cells = None
    for _ in range(depth):
        cells = [0, cells, None]
    return cells


X, INDEX = ["in", "x"], ["in", "i"]
ENDLESS = {
    "long literal": formula(over(["pow", RATIO, 0])),
    "many inputs": formula(over(1), **{f"x{i}": 1 for i in range(90_000)}),
    "long argument": formula(over(["log", X], 1), over(["log", X], 1), x=RATIO),
    "large exponentials": formula(over(["exp", ["sub", 500_000, INDEX]], 1)),
    "powers of long numbers": formula(over(["exp", ["div", 1, ["pow", RATIO, 30]]], 1)),
    "steps": formula(over(["min", INDEX, ["in", "j"]])),
    "never apart": formula(over(["exp", INDEX], 1), over(["exp", INDEX], 1)),
    "matrices": formula(["total", ["matmul", ["ones", 256, 256], ["ones", 256, 256]]]),
    "box of long numbers": polynomial(box=[[f"{OTHER}/{LONG}", f"{LONG}/{OTHER[2:]}"]]),
    "long coefficients": polynomial(
        terms=[[f"1/{10**2000 + i}", [i]] for i in range(256)]
    ),
    "many variables": polynomial(
        variables=[*"abcdefgh"], terms=[[1, [256] * 8]], box=[[0, 1]] * 8
    ),
    "many cells": polynomial(cells=halved(150), terms=[[1, [200]], ["1/3", [0]]]),
    "many squares": polynomial(
        squares=[[1, [[f"1/{10**300 + i}", [i]] for i in range(250)]]] * 20
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_record_is_refused_soon(name):
    started = time.process_time()
    with pytest.raises(RecheckError, match="MAX_WORK or MAX_BITS"):
        decide(ENDLESS[name])
    assert time.process_time() - started < 8


def test_an_endless_enclosure_stays_undecided_or_is_refused():
    body = ["sin", ["div", 1, ["in", "t"]]]
    record = formula(["integral", "t", 0, 1, body]) | {"kind": "enclosure"}
    assert recheck_deep.decide(record).valid is None
    record["inputs"] = {f"x{i}": 1 for i in range(2000)}
    with pytest.raises(RecheckError, match="over 1000 inputs"):
        recheck_deep.decide(record)


def test_a_report_of_many_endless_records_ends(monkeypatch):
    monkeypatch.setattr(recheck, "MAX_TOTAL", 30_000)
    slow = formula(["sum", "i", 1, 2000, ["div", 1, INDEX]])
    checks = [{"name": f"c{i}", "witness": slow} for i in range(9)]
    made = {"schema_version": 1, "run": {}, "claims": []}
    made |= {"claims": [{"id": "p/t", "checks": checks}]}
    with pytest.raises(RecheckError, match="incomplete claim"):
        recheck.recheck(made)
    records = recheck._records("claims", made["claims"])
    assert len([*records]) == 9
    decided = []

    def counting(record):
        decided.append(record)
        return decide(record)

    monkeypatch.setattr(recheck, "verdict_digest", lambda report: "")
    monkeypatch.setattr(recheck, "result_digest", lambda report: "")
    items = recheck.recheck(made, counting)
    assert 0 < len(decided) < 9
    late = [item for item in items if "MAX_TOTAL" in item.reason]
    assert len(late) == 9 - len(decided)
    assert {item.valid for item in late} == {None}


def test_long_names_do_not_make_long_places():
    deep = {"witness": {"kind": "x"}}
    for i in range(50):
        deep = {f"{i}" * 5000: [{"id": "y" * 5000, "then": deep}]}
    [(place, _)] = recheck._records("claims", [deep])
    assert len(place) < 6000


def test_a_label_that_is_no_text_is_a_number():
    nested = [{"id": {"id": ["x"] * 9}, "witness": {}}]
    assert [p for p, _ in recheck._records("claims", nested)] == ["claims[0].witness"]


@pytest.mark.parametrize("op", ["<12", "<ab", {"<": 1}, None, 5])
def test_a_relation_is_a_list(op):
    for module, kind in ((recheck, "formula"), (recheck_deep, "enclosure")):
        record = {"kind": kind, "says": "s", "inputs": {}, "relation": op}
        with pytest.raises(RecheckError, match="malformed"):
            module.decide(record)


def test_a_box_without_sides_shows_nothing():
    with pytest.raises(RecheckError, match="malformed"):
        decide(polynomial(box=[], terms=[[1, [2]], [1, [0]]]))


def test_only_numbers_named_seconds_are_left_out_of_the_digest():
    def digest(value):
        return recheck.result_digest({"claims": [{"seconds": value}], "run": {}})

    assert digest(1) == digest(2.5)
    assert digest({"text": "1"}) != digest({"text": "2"})
    assert digest("1") != digest("2")


NUMBERS = ("1e999999999", "-1e-999999999", "1" + "0" * 3000 + "1", "0" * 4000 + "1")
SHOWN = {
    "exact": words.exact,
    "away": lambda text: words.away(text, "1/3"),
    "num": words.num,
    "sides": lambda text: sides(formula(X, x=text)),
    "kkt": lambda text: (
        readable({
            "kind": "kkt",
            "rows": [[{"x": text}, 1, 1]],
            "solution": {"x": text},
        }).says
    ),
    "mathml": lambda text: mathml(text * 9) or "",
    "wrap": lambda text: "".join(wrap(text * 9, 10, 300)),
}


@pytest.mark.parametrize(
    ("name", "number"), [*itertools.product(SHOWN, NUMBERS)], ids=lambda x: x[:12]
)
def test_long_numbers_are_shown_at_once(name, number):
    started = time.process_time()
    text = SHOWN[name](number)
    assert isinstance(text, str)
    assert time.process_time() - started < 1.5


def test_a_wide_record_is_shown_in_part():
    wide = [0] * 8
    for _ in range(4):
        wide = [wide] * 8
    view = readable({"kind": "strange", "values": wide})
    whole = json.dumps({"kind": "strange", "values": wide}, indent=1)
    assert len(view.raw) < 10_000 < len(whole)
    assert "cut" in view.note
    assert whole.startswith(view.raw)


@pytest.mark.parametrize(
    ("number", "shown"),
    [("1000001", "1000001"), ("5" + "0" * 6, "5·10⁶"), ("0.0000001", "0.0000001"),
     ("1" + "0" * 40 + "1", "1" + "0" * 40 + "1"), ("-250000000/3", "-25·10⁷/3")],
)  # fmt: skip
def test_powers_of_ten_are_still_told(number, shown):
    assert words.exact(number) == shown
