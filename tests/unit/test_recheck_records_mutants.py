"""Records of polynomials, digests and lines of `verify.recheck`, against oracles.

Bernstein coefficients against the polynomial itself, digests against JSON written by
hand. Each test kills mutants of the module.
"""

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import recheck
from verify.recheck import Decision, RecheckError, decide

F = Fraction


def formula(op, left, right, **inputs):
    relation = [op, left, right]
    return {"kind": "formula", "says": "s", "inputs": inputs, "relation": relation}


# Positive polynomials.

POSITIVE = {
    "kind": "polynomial", "says": "s", "variables": ["x"], "relation": ">",
    "terms": [[1, [0]], [-1, [1]], [1, [2]]], "box": [[0, 1]], "cells": None,
    "squares": [],
}  # fmt: skip


def polynomial(terms, **changes):
    return decide(POSITIVE | {"terms": terms} | changes)


def test_signs_of_polynomials():
    line = [[1, [1]]]
    least = "the least Bernstein coefficient: "
    assert polynomial(line) == (False, least + "zero")
    assert polynomial(line, relation=">=") == (True, least + "zero")
    assert polynomial(line, box=[["1/9", 1]]) == (True, least + "positive")
    assert polynomial(line, box=[[-1, 1]], relation=">=") == (False, least + "negative")
    assert polynomial([[-1, [1]]], box=[[-2, -1]]).valid is True
    assert polynomial([[1, [2]]], box=[[-2, -1]]).valid is True
    assert polynomial([], relation=">=").valid is True
    assert polynomial([]).valid is False
    assert polynomial([[1, [0]]], box=[[3, 3]]).valid is True
    assert polynomial([[2, []]], variables=[], box=[]).valid is True


def test_a_polynomial_that_is_positive_though_a_coefficient_is_not():
    """x^2 - x + 3/10 on [0, 1] has the Bernstein coefficient -1/5 until it is cut."""
    terms = [["3/10", [0]], [-1, [1]], [1, [2]]]
    assert polynomial(terms).valid is False
    assert polynomial(terms, cells=[0, None, None]).valid is True
    below = [["1/5", [0]], *terms[1:]]
    halves = [0, [0, None, None], [0, None, None]]
    assert polynomial(below, cells=halves).valid is False
    left = [["1/10", [0]], [-1, [1]], [2, [2]]]
    assert polynomial(left, cells=[0, None, None]).valid is False


def test_halves_are_halved_again_where_the_cells_say_so():
    """(x - 1/3)^2 + 1/50 needs quarters on the left, and none on the right."""
    terms = [[str(F(1, 9) + F(1, 50)), [0]], ["-2/3", [1]], [1, [2]]]
    half = [0, None, None]
    assert polynomial(terms, cells=half).valid is False
    assert polynomial(terms, cells=[0, None, half]).valid is False
    assert polynomial(terms, cells=[0, half, None]).valid is True
    turned = [[str(F(4, 9) + F(1, 50)), [0]], ["-4/3", [1]], [1, [2]]]
    assert polynomial(turned, cells=[0, half, None]).valid is False
    assert polynomial(turned, cells=[0, None, half]).valid is True


def test_without_a_box_every_number_counts():
    """x^2 + x is 0 at 0 and less at -1/2: no square makes it a constant."""
    terms = [[1, [1]], [1, [2]], [1, [0]]]
    with pytest.raises(RecheckError, match="no box, and more than squares is left"):
        polynomial(terms, box=None, squares=[[1, [[1, [1]]]]])


CELLS = {
    "axis 1 of 1": [1, None, None],
    "axis -1": [-1, None, None],
    "one half": [0, None],
    "three halves": [0, None, None, None],
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_halves_along_an_axis(name):
    told = r"malformed record: a cell is no \[axis, c, c\]"
    with pytest.raises(RecheckError, match=told):
        polynomial(POSITIVE["terms"], cells=CELLS[name])
    with pytest.raises(RecheckError, match="malformed record"):
        polynomial(POSITIVE["terms"], cells=3)


def test_squares_prove_positivity_everywhere():
    terms = [[2, [0, 0]], [2, [1, 1]], [1, [2, 0]], [3, [0, 2]]]
    square = [[1, [1, 0]], [1, [0, 1]]]
    rest = [["2", [[1, [0, 1]]]]]
    given = {"variables": ["x", "y"], "box": None}
    proof = [["1/1", square], *rest]
    assert polynomial(terms, squares=proof, **given).valid is True
    assert polynomial(terms[1:], squares=proof, **given).valid is False
    assert polynomial(terms[1:], squares=proof, relation=">=", **given).valid is True
    for wrong in (proof[:1], [*proof, [1, [[1, [0, 1]]]]]):
        with pytest.raises(RecheckError, match="no box, and more than squares is left"):
            polynomial(terms, squares=wrong, **given)
    with pytest.raises(RecheckError, match="a square has a negative weight"):
        polynomial(terms, squares=[[-1, square]], **given)
    assert polynomial(terms, squares=[[0, square]], variables=["x", "y"],
                      box=[[0, 1]] * 2).valid is True  # fmt: skip


def test_a_square_helps_on_a_box_as_well():
    """(x - 1/2)^2 + x has its least Bernstein coefficient at 1/4 only without it."""
    terms = [["1/4", [0]], [1, [2]]]
    squares = [[1, [[1, [1]], ["-1/2", [0]]]]]
    assert polynomial(terms, box=[["1/9", 1]], squares=squares).valid is True
    assert polynomial(terms, box=[["-1/9", 1]], squares=squares).valid is False


WRONG_TERMS = {
    "another dimension": [[1, [0, 0]]],
    "exponents twice": [[1, [0]], [2, [0]]],
    "negative exponent": [[1, [-1]]],
    "exponent true": [[1, [True]]],
    "exponent 257": [[1, [257]]],
    "exponent a text": [[1, ["2"]]],
}


@pytest.mark.parametrize("name", WRONG_TERMS)
def test_terms_are_coefficients_with_exponents(name):
    with pytest.raises(RecheckError, match="terms are no list of"):
        polynomial(WRONG_TERMS[name])


def test_a_side_of_the_box_is_not_upside_down():
    with pytest.raises(RecheckError, match="a side of the box is upside down"):
        polynomial(POSITIVE["terms"], box=[[1, 0]])
    for box in ([], [[0, 1], [0, 1]], [[0]], [[0, 1, 2]]):
        with pytest.raises(RecheckError, match="malformed record"):
            polynomial(POSITIVE["terms"], box=box)
    for relation in ("<", "==", None):
        with pytest.raises(RecheckError, match="relation is neither > nor >="):
            polynomial(POSITIVE["terms"], relation=relation)
    assert polynomial([[1, [0]], [1, [256]]]).valid is True


small = st.integers(-6, 6)
ends = st.tuples(st.fractions(-2, 2, max_denominator=4), st.sampled_from([F(1), F(3)]))


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 1)), small, min_size=1),
    st.tuples(ends, ends),
    st.lists(st.sampled_from([0, 1]), max_size=2),
)
def test_a_polynomial_is_where_its_certificate_says(terms, box, axes):
    """HOLDS implies > 0 on a grid of the box; what is far above 0 holds."""
    sides = [[low, low + width] for low, width in box]
    cells = None
    for axis in axes:
        cells = [axis, cells, cells]
    record = POSITIVE | {
        "variables": ["x", "y"],
        "terms": [[c, list(at)] for at, c in terms.items()],
        "box": [[str(end) for end in side] for side in sides],
        "cells": cells,
    }

    def at(x, y):
        return sum(c * x**i * y**j for (i, j), c in terms.items())

    grid = [[a + (b - a) * F(k, 6) for k in range(7)] for a, b in sides]
    least = min(at(x, y) for x in grid[0] for y in grid[1])
    if decide(record).valid:
        assert least > 0
    shift = -least + sum(map(abs, terms.values())) * 5**5 + 1
    terms[0, 0] = terms.get((0, 0), 0) + shift  # now far above 0
    lifted = [[str(F(c)), list(at)] for at, c in terms.items()]
    assert decide(record | {"terms": lifted}).valid is True


def test_bernstein_coefficients_of_a_known_polynomial():
    """x^2 on [1, 3] has the coefficients 1, 3, 9: blossoms 1·1, 1·3, 3·3."""
    found = [recheck._bernstein(2, F(1), F(3), i, 2) for i in range(3)]
    assert found == [1, 3, 9]
    assert [recheck._bernstein(2, F(1), F(3), i, 1) for i in range(3)] == [1, 2, 3]
    assert [recheck._bernstein(3, F(-1), F(2), i, 0) for i in range(4)] == [1] * 4
    assert [recheck._bernstein(3, F(0), F(1), i, 3) for i in range(4)] == [0, 0, 0, 1]
    halves = [[recheck._halved(flip, i, j) for j in range(3)] for flip in (0, 2)
              for i in range(3)]  # fmt: skip
    half, quarter = F(1, 2), F(1, 4)
    assert halves == [
        [1, 0, 0], [half, half, 0], [quarter, half, quarter],
        [quarter, half, quarter], [0, half, half], [0, 0, 1],
    ]  # fmt: skip


# Digests and reports.


def claim(**changes):
    made = {
        "id": "p/a", "statement_text": "t", "statement_latex": "l", "parameters": {},
        "verdict": "HOLDS", "fault": None, "finding": {"verdict": "HOLDS"},
        "mutants": [{"name": "m", "change": "c", "rejected": True, "says": "x"}],
        "anchors": [{"name": "a", "change": "c", "refuted": False, "says": "x"}],
        "seconds": 1.5, "checks": [{"seconds": 2, "name": "n"}],
    }  # fmt: skip
    return made | changes


def report(**changes):
    run = {
        "id": "r", "started": "s", "seconds": 1, "jobs": 2, "command": "c", "seed": 7
    }  # fmt: skip
    made = {"schema_version": 1, "run": run, "claims": [claim()], "provenance": {}}
    return made | changes


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


STATED = (
    '{"anchors":[{"change":"c","name":"a","refuted":false}],"fault":null,'
    '"finding":{"verdict":"HOLDS"},"id":"p/a","mutants":[{"change":"c","name":"m",'
    '"rejected":true}],"parameters":{},"statement_latex":"l","statement_text":"t",'
    '"verdict":"HOLDS"}'
)


def test_verdict_digest_is_that_of_json_written_by_hand():
    assert recheck.verdict_digest(report()) == sha(f"[{STATED}]")
    two = report(claims=[claim(id="p/b"), claim()])
    second = STATED.replace("p/a", "p/b")
    assert recheck.verdict_digest(two) == sha(f"[{STATED},{second}]")
    assert recheck.verdict_digest(report(claims=[])) == sha("[]")


def test_result_digest_is_that_of_json_written_by_hand():
    whole = STATED[:-1].replace('"c","name":"a","refuted":false}', (
        '"c","name":"a","refuted":false,"says":"x"}'
    )).replace('"rejected":true}', '"rejected":true,"says":"x"}')  # fmt: skip
    whole = whole.replace('"fault"', '"checks":[{"name":"n"}],"fault"') + "}"
    text = f'{{"claims":[{whole}],"run":{{"seed":7}},"schema_version":1}}'
    assert recheck.result_digest(report()) == sha(text)
    assert recheck.result_digest(report(self_checks=[])) == sha(text)
    checks = [{"name": "s", "seconds": 3.5}]
    both = text.replace(
        '"schema_version":1', '"schema_version":1,"self_checks":[{"name":"s"}]'
    )
    assert recheck.result_digest(report(self_checks=checks)) == sha(both)
    signed = report(verdict_digest="v", result_digest="r")
    assert recheck.result_digest(signed) == sha(text)


def test_items_of_a_report():
    good = formula("<", 1, 2)
    claims = [claim(checks=[{"name": "n", "witness": good, "certificate": None}])]
    made = report(claims=claims)
    made["verdict_digest"] = recheck.verdict_digest(made)
    made["result_digest"] = "0"
    assert recheck.recheck(made) == [
        ("claims[p/a].checks[n].witness", "formula", True,
         "1 True, 0 False, 0 None; at 64 bits"),
        ("verdict_digest", "digest", True, "matches"),
        ("result_digest", "digest", False, "differs: the report was changed"),
    ]  # fmt: skip
    claims[0]["checks"] = [{"certificate": ["formula"]}, [{"witness": {"says": "s"}}]]
    items = recheck.recheck(made)
    assert [item[:3] for item in items[:2]] == [
        ("claims[p/a].checks[0].certificate", "none", False),
        ("claims[p/a].checks[1][0].witness", "None", False),
    ]
    assert all(x.reason.startswith("malformed record: ") for x in items[:2])


def test_records_are_decided_by_the_decider_that_is_given():
    claims = [claim(checks=[{"name": "n", "witness": {"kind": "enclosure"}}])]
    asked = []

    def decider(record):
        asked.append(record)
        return Decision(True, "looked at")

    items = recheck.recheck(report(claims=claims), decider)
    assert asked == [{"kind": "enclosure"}]
    assert items[0] == ("claims[p/a].checks[n].witness", "enclosure", True, "looked at")


def test_a_file_may_have_just_as_many_bytes_as_allowed(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report()))
    monkeypatch.setattr(recheck, "MAX_FILE", path.stat().st_size)
    assert recheck.load(path) == report()
    monkeypatch.setattr(recheck, "MAX_FILE", path.stat().st_size - 1)
    with pytest.raises(RecheckError, match=f"over {recheck.MAX_FILE} bytes"):
        recheck.load(path)


def test_a_report_is_refused_when_it_is_read(tmp_path):
    """Not only when its digests are formed: views read it without them."""
    path = tmp_path / "report.json"
    for text in ("NaN", "-Infinity", "1e999"):
        path.write_text(json.dumps(report()).replace('"seed": 7', f'"seed": {text}'))
        with pytest.raises(RecheckError, match=r"is no report: .*not canonical JSON"):
            recheck.load(path)
    deep = "[" * 217 + "1" + "]" * 217  # below two objects, above one number
    path.write_text(json.dumps(report()).replace('"seed": 7', f'"seed": {deep}'))
    assert recheck.load(path)["run"].keys() == report()["run"].keys()
    path.write_text(json.dumps(report()).replace('"seed": 7', f'"seed": [{deep}]'))
    with pytest.raises(RecheckError, match=r"is no report: .*nested too deep"):
        recheck.load(path)


def test_digests_of_what_is_incomplete():
    for digest, told in (("verdict", "claim"), ("result", "report")):
        with pytest.raises(RecheckError, match=f"^incomplete {told}: 'claims'"):
            getattr(recheck, f"{digest}_digest")({})


def test_lines_of_main(tmp_path, capsys):
    made = report(claims=[claim(checks=[
        {"name": "n", "witness": formula("<", 1, 2)},
        {"name": "o", "witness": formula("<", 2, 1)},
        {"name": "u", "witness": formula("<", ["sqrt", 2], ["sqrt", 2])},
        {"name": "e", "certificate": {"kind": "enclosure", "says": "s"}},
    ])])  # fmt: skip
    for digest in (recheck.verdict_digest, recheck.result_digest):
        made[digest.__name__] = digest(made)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(made))
    assert recheck.main([str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok                  claims[p/a].checks[n].witness: "
        "1 True, 0 False, 0 None; at 64 bits",
        "BAD                 claims[p/a].checks[o].witness: "
        "0 True, 1 False, 0 None; at 64 bits",
        "undecided           claims[p/a].checks[u].witness: "
        "0 True, 0 False, 1 None; at 1024 bits",
        "not rechecked here  claims[p/a].checks[e].certificate: "
        "not rechecked here: use verify recheck --deep",
        "ok                  verdict_digest: matches",
        "ok                  result_digest: matches",
        "6 items: 1 BAD, 1 not rechecked here, 3 ok, 1 undecided",
    ]
    assert recheck.main([str(path)], lambda record: Decision(True, "yes")) == 0
    assert recheck.main([]) == 2
    captured = capsys.readouterr()
    assert captured.err == "recheck: usage: python recheck.py REPORT.json\n"
    assert captured.out.endswith("6 items: 6 ok\n")
