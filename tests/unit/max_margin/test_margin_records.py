"""Records of kind `kkt`: every number counts, and the standalone recheck decides."""

import copy
import json
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from margin_oracles import acyclic, bipartite

from verify import judge, listing
from verify.max_margin import kkt, matrix_certificate, order_margin, solve
from verify.recheck import RecheckError, decide
from verify.report import page
from verify.report.formulas import readable

F = Fraction
FIVE = order_margin([(0, 2), (0, 3), (0, 4), (1, 4)])
WRONG = {0: F(3, 5), 2: F(-1, 3)}  # the second is right
RECORDS = {
    "order": FIVE.certificate("s"),
    "claim": FIVE.certificate("s", claimed=WRONG),
    "degenerate": order_margin([(0, 2), (0, 3), (1, 3)]).certificate("s"),
    "middle": order_margin([(0, 1), (1, 2), (0, 3)]).certificate("s"),
    "problem": solve([[1, 2], [0, 1], [3, -1]], [2, F(1, 3), -5]).certificate("s"),
}


def numbers(value, path=()):
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, child in steps:
            yield from numbers(child, (*path, step))
    elif path[0] not in {"kind", "says", "digest"}:
        yield path


def put(record, path, value):
    other = copy.deepcopy(record)
    place = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return other


@pytest.mark.parametrize("name", RECORDS)
def test_every_number_of_a_record_counts(name):
    record = RECORDS[name]
    assert decide(record).valid is True
    paths = [*numbers(record)]
    assert len(paths) >= 10
    for path in paths:
        old = record
        for step in path:
            old = old[step]
        for new in (F(old) + 1, F(old) + F(1, 10**12), -F(old), 2 * F(old)):
            if new != F(old):
                assert decide(put(record, path, str(new))).valid is False


def test_the_digest_and_the_names_count():
    record = RECORDS["claim"]
    assert decide(record | {"digest": "0" * 64}).valid is False
    assert decide(record | {"compare": None}).valid is False
    text = json.dumps(record)
    assert decide(json.loads(text.replace("w[3]", "w[9]"))).valid is False
    with pytest.raises(RecheckError):  # a row has an unknown coordinate
        decide(json.loads(text.replace('{"w[0]": 1, "w[3]"', '{"w[0]": 1, "w[9]"')))


def test_a_wrong_solution_is_no_certificate():
    row = [{0: 1, 1: -1}]
    for point, multiplier in [
        ({0: F(1, 2), 1: F(-1, 2)}, F(1, 3)),  # not stationary
        ({0: F(1, 3), 1: F(-1, 3)}, F(1, 3)),  # infeasible
        ({0: 1, 1: -1}, 1),  # slack, yet with a multiplier
        ({0: F(3, 5), 1: F(-2, 5)}, F(1, 2)),  # tight, not least
    ]:
        decision = decide(kkt("s", row, [1], point, [multiplier]))
        assert decision.valid is False
        assert decision.reason == "no Karush-Kuhn-Tucker point"
    twice = [{0: 1}, {0: 1}], [1, 1]
    assert decide(kkt("s", *twice, {0: 1}, [2, -1])).valid is False
    assert decide(kkt("s", *twice, {0: 2}, [2, 0])).valid is False
    assert decide(kkt("s", *twice, {0: 1}, [1, 0])).valid is True
    half = F(1, 2)
    assert decide(kkt("s", row, [1], {0: half, 1: -half}, [half])).valid is True
    with pytest.raises(ValueError, match="argument"):
        kkt("s", row, [1, 1], {0: half, 1: -half}, [half])


def test_claims_must_differ():
    with pytest.raises(ValueError, match="are the solution's"):
        FIVE.certificate("s", claimed={2: F(-1, 3)})
    with pytest.raises(ValueError, match="are the solution's"):
        FIVE.certificate("s", claimed={})
    with pytest.raises(ValueError, match="no coordinate 7; there are 0, 1, 2, 3, 4"):
        FIVE.certificate("s", claimed={7: F(1)})


def test_names_must_differ():
    with pytest.raises(ValueError, match="look alike"):
        kkt("s", [{0: 1}], [1], {1: 1, "1": 0}, [1])


def test_columns_join_in_one_record():
    one = order_margin([(0, 1)])
    empty = order_margin([])
    record = matrix_certificate({4: FIVE, 1: one, 3: empty}, "columns")
    assert decide(record).valid
    assert len(record["rows"]) == 5
    assert record["solution"]["W[0, 4]"] == "2/3"
    assert record["solution"]["W[0, 1]"] == "1/2"
    against = matrix_certificate({4: FIVE, 1: one}, "s", {(0, 4): F(3, 5)})
    assert against["compare"] == {"W[0, 4]": "3/5"}
    assert decide(against).valid
    with pytest.raises(ValueError, match="no edge"):
        matrix_certificate({3: empty}, "nothing")


@settings(max_examples=40, deadline=None)
@given(bipartite(6, 6, 20) | acyclic(7, 12))
def test_a_record_survives_json(edges):
    record = order_margin(edges).certificate("s")
    assert decide(json.loads(json.dumps(record))).valid
    first = next(iter(record["solution"]))
    wrong = record["solution"] | {first: 99}
    assert decide(record | {"solution": wrong}).valid is False


def test_verify_show_prints_the_witness():
    check = SimpleNamespace(
        verdict="REFUTED", name="closed_form", margin=None, reason="five tokens",
        witness=RECORDS["claim"], certificate=None,
    )  # fmt: skip
    record = SimpleNamespace(
        verdict="REFUTED", reason="", checks=[check], command="verify run x"
    )
    lines = listing._evidence(record)
    assert "      w[0] = 2/3 (claimed: 3/5), w[1] = 1/2, w[2] = " in "\n".join(lines)
    assert "      w[0] − w[4] ≥ 1  1/6    0" in lines


def test_the_engine_accepts_records_as_evidence():
    assert judge._invalid("witness", RECORDS["claim"]) == ""
    wrong = put(RECORDS["claim"], ("solution", "w[0]"), "1/2")
    assert judge._invalid("witness", wrong).startswith("invalid witness")


def test_the_page_shows_constraints_and_claims():
    source = '{% import "evidence.html.j2" as shown %}{{ shown.view(v, "W", (), "") }}'
    shown = readable(RECORDS["claim"])
    html = page._environment(()).from_string(source).render(v=shown)
    assert "<td>w[0] − w[4] ≥ 1</td><td>1/6</td><td>0</td>" in html
    assert "<span>w[0] = 2/3 (claimed: 3/5)</span>" in html
    assert "This is the only solution of least norm" in html
