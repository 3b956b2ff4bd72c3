"""Comparing reports: what counts as a change, and what is merely shown."""

import pytest

from verify.diff import compare
from verify.record import CheckRecord, ClaimRecord, FindingRecord, Report


def check(name="proof", margin=0.5, seconds=1.0):
    return CheckRecord(
        claim="toy/a", name=name, node="n", grade="numeric", scope="all",
        verdict="HOLDS", margin=margin, seconds=seconds,
    )  # fmt: skip


def claim(name, verdict="HOLDS", checks=None, **changes):
    given = dict.fromkeys(ClaimRecord.model_fields, "") | {
        "id": name, "kind": "theorem", "verdict": verdict, "fault": None,
        "finding": FindingRecord(verdict="HOLDS"), "grade": None, "cause": None,
        "checks": [check()] if checks is None else checks, "parameters": {},
        "reason": f"because of {name}",
    }  # fmt: skip
    lists = ("assumptions", "mutants", "anchors", "variants", "necessity", "tightness")
    return ClaimRecord(**(given | {field: [] for field in lists} | changes))


def report(*claims):
    return Report.model_construct(claims=list(claims))


def test_same_report():
    found = compare(report(claim("a"), claim("b")), report(claim("b"), claim("a")))
    assert (found.rows, found.verdicts_changed, found.same) == ([], False, 2)
    assert found.text() == "2 claims without a difference"


def test_changed_verdict():
    found = compare(report(claim("a"), claim("b")), report(claim("a", "REFUTED"),
                                                          claim("b")))  # fmt: skip
    assert found.verdicts_changed
    assert found.same == 1
    (row,) = found.rows
    assert (row["id"], row["old"], row["new"]) == ("a", "HOLDS", "REFUTED")
    assert "a: HOLDS -> REFUTED  because of a" in found.text()


def test_fault_is_a_change():
    one, other = claim("a", "INCONCLUSIVE"), claim("a", "INCONCLUSIVE", fault="BROKEN")
    found = compare(report(one), report(other))
    assert found.verdicts_changed
    assert found.rows[0]["new"] == "INCONCLUSIVE (BROKEN)"


@pytest.mark.parametrize(
    ("old", "new", "pair"),
    [("ab", "b", ("HOLDS", "absent")), ("b", "ab", ("absent", "HOLDS"))],
)
def test_claim_that_comes_or_goes(old, new, pair):
    found = compare(report(*map(claim, old)), report(*map(claim, new)))
    assert found.verdicts_changed
    assert [(r["id"], r["old"], r["new"]) for r in found.rows] == [("a", *pair)]
    assert found.rows[0]["margins"] == {}
    assert found.rows[0]["seconds"].count(None) == 1
    assert found.same == 1


def test_nothing_in_common():
    found = compare(report(claim("a")), report(claim("b")))
    assert len(found.rows) == 2
    assert found.same == 0


def test_margin_is_shown_and_no_change_of_verdict():
    old = claim("a", checks=[check(margin=0.5), check("hunt", margin=None)])
    new = claim("a", checks=[check(margin=0.25), check("hunt", margin=None)])
    found = compare(report(old), report(new))
    assert not found.verdicts_changed
    assert found.rows[0]["margins"] == {"proof": [0.5, 0.25]}
    assert found.same == 0
    assert "0.25" in found.text()


def test_margin_that_appears():
    old, new = (claim("a", checks=[check(margin=m)]) for m in (None, 0.5))
    assert compare(report(old), report(new)).rows[0]["margins"] == {
        "proof": [None, 0.5]
    }


def test_check_that_is_new_has_no_margin_to_compare():
    new = claim("a", checks=[check(), check("hunt", margin=0.1)])
    assert compare(report(claim("a")), report(new)).rows == []


def test_timings_alone_are_no_change():
    slow = claim("a", checks=[check(seconds=9.0)])
    found = compare(report(claim("a")), report(slow))
    assert (found.rows, found.same) == ([], 1)
    slower = claim("a", "REFUTED", checks=[check(seconds=2.0), check("b", seconds=3.0)])
    assert compare(report(claim("a")), report(slower)).rows[0]["seconds"] == [1.0, 5.0]


def test_changed_verdicts_come_first():
    moved = claim("a", checks=[check(margin=0.1)])
    old = report(claim("a"), claim("b"), claim("c"))
    found = compare(old, report(moved, claim("b", "REFUTED"), claim("c")))
    first, second, last = found.text().splitlines()
    assert first.startswith("b: HOLDS -> REFUTED")
    assert second.startswith("a: HOLDS; margins")
    assert last == "1 claims without a difference"
