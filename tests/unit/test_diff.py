"""Comparing reports: what is a change, what was not run, what is noise."""

import math

import pytest

from verify.diff import FACTOR, SECONDS, Status, compare
from verify.record import (
    AssumptionRecord,
    CheckRecord,
    ClaimRecord,
    FindingRecord,
    Formula,
    Report,
    RunRecord,
    StudyRecord,
)
from verify.verdict import Verdict

LEFT_OUT = "left out of profile smoke"


def check(name="proof", margin=0.5, seconds=1.0, **changes):
    given = {
        "claim": "toy/a", "name": name, "node": "n", "grade": "numeric", "scope": "all",
        "verdict": "HOLDS", "margin": margin, "seconds": seconds,
    }  # fmt: skip
    return CheckRecord(**given | changes)


def missing(reason, **changes):
    return check(margin=None, seconds=0.0, verdict="NOT_RUN", reason=reason, **changes)


def claim(name, verdict="HOLDS", checks=None, **changes):
    given = dict.fromkeys(ClaimRecord.model_fields, "") | {
        "id": name, "kind": "theorem", "verdict": verdict, "fault": None,
        "finding": FindingRecord(verdict=verdict), "grade": None, "cause": None,
        "checks": [check()] if checks is None else checks, "parameters": {},
        "reason": f"because of {name}",
    }  # fmt: skip
    lists = ("assumptions", "mutants", "anchors", "variants", "necessity", "tightness")
    return ClaimRecord(**(given | {field: [] for field in lists} | changes))


def formula(text):
    return Formula(text=text, latex=text)


def not_run(name, reason, **changes):
    return claim(name, "NOT_RUN", [missing(reason, **changes)])


def report(*claims, **run):
    given = {
        "id": "1", "started": "2025", "seconds": 1.0, "profile": "default",
        "partial": False, "seed": 0, "device": "cpu", "jobs": 1, "command": "",
        "exit_code": 0, "red": [], "crashes": [],
    }  # fmt: skip
    return Report.model_construct(
        claims=list(claims), run=RunRecord(**given | run), provenance={}
    )


def statuses(old, new):
    return {row.id: row.status.value for row in compare(old, new).rows}


def only(old, new):
    """The row of the one claim of both reports."""
    (row,) = compare(report(old), report(new)).rows
    return row


# ---------------------------------------------------------------- verdicts


def test_same_report():
    found = compare(report(claim("a"), claim("b")), report(claim("b"), claim("a")))
    assert not found.verdicts_changed
    assert [row.status for row in found.rows] == [Status.SAME, Status.SAME]
    assert not any(r.margins or r.moved or r.stated or r.strength for r in found.rows)
    assert found.notes == ()


def test_changed_verdict():
    old, new = report(claim("a"), claim("b")), report(claim("a", "REFUTED"), claim("b"))
    found = compare(old, new)
    assert found.verdicts_changed
    (row,) = found.of(Status.CHANGED)
    assert (row.id, row.words, row.why) == ("a", ("HOLDS", "REFUTED"), "because of a")


def test_the_reason_is_the_findings_where_it_was_known():
    known = FindingRecord(verdict="REFUTED", reason="a counterexample")
    assert only(claim("a"), claim("a", "REFUTED", finding=known)).why == (
        "a counterexample"
    )
    assert only(claim("a"), claim("a", "INCONCLUSIVE", finding=known)).why == (
        "because of a"
    )


def test_a_fault_is_a_change():
    row = only(claim("a", "INCONCLUSIVE"), claim("a", "INCONCLUSIVE", fault="BROKEN"))
    assert row.status is Status.CHANGED
    assert row.words == ("INCONCLUSIVE", "INCONCLUSIVE (BROKEN)")


def test_a_claim_that_is_gone_is_a_change_and_a_new_one_is_not():
    both, one = report(claim("a"), claim("b")), report(claim("b"))
    assert statuses(both, one) == {"a": "gone", "b": "same"}
    assert compare(both, one).verdicts_changed
    assert statuses(one, both) == {"a": "new", "b": "same"}
    assert not compare(one, both).verdicts_changed


def test_the_most_urgent_come_first():
    red = claim("differs", "INCONCLUSIVE", differs="it does")
    new = report(
        claim("undecided", "INCONCLUSIVE"),
        claim("refuted", "REFUTED"),
        red,
        claim("broken", "INCONCLUSIVE", fault="BROKEN"),
    )
    names = ("undecided", "gone", "refuted", "differs", "broken")
    found = compare(report(*map(claim, names)), new)
    assert [row.id for row in found.of(Status.CHANGED, Status.GONE)] == [
        *("broken", "differs", "refuted", "gone", "undecided")
    ]


# ---------------------------------------------------------------- not run


def test_what_another_profile_leaves_out_was_not_run_here():
    old, new = report(claim("a")), report(not_run("a", LEFT_OUT), profile="smoke")
    assert statuses(old, new) == {"a": "not run here"}
    assert not compare(old, new).verdicts_changed
    assert compare(old, new).rows[0].why == LEFT_OUT
    assert compare(old, new).notes == ("profile default against profile smoke",)


def test_what_the_same_profile_leaves_out_now_is_a_change():
    """Else a claim could be taken out of sight without a word."""
    old, new = (
        report(c, profile="smoke") for c in (claim("a"), not_run("a", LEFT_OUT))
    )
    assert statuses(old, new) == {"a": "changed"}


def test_what_this_machine_cannot_run():
    new = report(not_run("a", "package gt_model is not installed"))
    assert statuses(report(claim("a")), new) == {"a": "not run here"}


def test_an_optional_check_left_out_is_no_excuse():
    new = report(not_run("a", LEFT_OUT, optional=True), profile="smoke")
    assert statuses(report(claim("a")), new) == {"a": "changed"}


def test_a_partial_run_selects_and_a_crash_loses():
    old, lost = report(claim("a"), claim("b")), not_run("a", "not run")
    partial = report(lost, partial=True)
    assert statuses(old, partial) == {"a": "not run here", "b": "not run here"}
    crashed = report(lost, partial=True, crashes=["signal 9"])
    assert statuses(old, crashed) == {"a": "changed", "b": "gone"}
    assert compare(old, crashed).notes == ("the new run did not finish: signal 9",)
    assert statuses(old, report(lost, claim("b"))) == {"a": "changed", "b": "same"}


def test_what_was_not_run_before_is_no_change():
    old = report(not_run("a", LEFT_OUT), not_run("b", LEFT_OUT), profile="smoke")
    new = report(claim("a"), not_run("b", "left out of profile default"))
    assert statuses(old, new) == {"a": "not run before", "b": "same"}
    broken = report(claim("a", "INCONCLUSIVE", fault="BROKEN"), not_run("b", "x"))
    assert statuses(old, broken) == {"a": "changed", "b": "same"}


# ---------------------------------------------------------------- statements


def test_a_changed_statement_is_told_apart_from_a_changed_verdict():
    old = claim(
        "a",
        parameters={"total": formula("4"), "n": formula("n")},
        assumptions=[AssumptionRecord(id="fingers", says="ten")],
    )  # fmt: skip
    new = claim(
        "a",
        statement_text="Another sentence.",
        parameters={"total": formula("5"), "n": formula("n")},
        assumptions=[AssumptionRecord(id="toes", says="ten")],
    )  # fmt: skip
    row = only(old, new)
    assert row.status is Status.SAME
    assert row.stated == {
        "text": ("", "Another sentence."),
        "parameter total": ("4", "5"),
        "assumption fingers": ("ten", "absent"),
        "assumption toes": ("absent", "ten"),
    }
    both = only(old, new.model_copy(update={"verdict": Verdict.REFUTED}))
    assert both.status is Status.CHANGED
    assert both.stated == row.stated


def test_a_changed_finding_is_a_changed_statement():
    new = claim("a", finding=FindingRecord(verdict="REFUTED", reason="r"))
    assert only(claim("a"), new).stated == {"finding": ("HOLDS", "REFUTED")}


def test_strength_is_grade_and_scope():
    new = claim("a", grade="numeric", scope="n up to 9")
    assert only(claim("a", grade="symbolic", scope="all"), new).strength == (
        "symbolic · all",
        "numeric · n up to 9",
    )


# ---------------------------------------------------------------- margins, times


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (0.5, 0.5 / FACTOR, False),
        (0.5, 0.49 / FACTOR, True),
        (0.5, 1.0, False),
        (0.2, 0.5, True),
        (0.001, -0.001, True),
        (0.5, 0, True),
        (3.0, 80.0, False),  # both are farther than a tolerance from the boundary
        (3.0, 0.6, False),
        (3.0, 0.4, True),
        (-1e13, -2e12, False),
        (None, 0.5, True),
        (0.5, None, True),
        (0.5, "nan", True),
        ("nan", math.nan, False),
        ("inf", 7.0, False),
        ("1/2", 0.5, False),
    ],
)
def test_a_margin_moves_when_it_is_halved_doubled_or_crosses(before, after, moved):
    row = only(
        claim("a", checks=[check(margin=before)]),
        claim("a", checks=[check(margin=after)]),
    )
    assert row.moved == (("proof",) if moved else ())
    assert row.status is Status.SAME


@pytest.mark.parametrize(
    "other", [{"profile": "smoke"}, {"seed": 1}, {"device": "cuda"}]
)
def test_margins_of_other_work_are_kept_and_never_said_to_have_moved(other):
    old, new = (claim("a", checks=[check(margin=m)]) for m in (0.9, 0.1))
    (row,) = compare(report(old), report(new, **other)).rows
    assert row.margins == {"proof": (0.9, 0.1)}
    assert row.moved == ()


def test_a_check_that_is_new_has_no_margin_to_compare():
    new = claim("a", checks=[check(), check("hunt", margin=0.1)])
    assert only(claim("a"), new).margins == {}


def timed(*seconds, **changes):
    names = "abcdefgh"
    claims = [
        claim(name, checks=[check(seconds=s, **changes)])
        for name, s in zip(names, seconds, strict=False)
    ]
    return report(*claims)


def slower(old, new):
    return [row.id for row in compare(old, new).rows if row.slower]


def test_a_machine_of_half_the_speed_changes_no_time():
    assert slower(timed(10, 20, 1), timed(20, 40, 2)) == []
    assert slower(timed(0, 0), timed(9, 9)) == []


def test_a_time_changes_by_a_factor_and_by_seconds():
    base = (100.0, 100.0)
    assert slower(timed(*base, 3), timed(*base, 3 + 2 * SECONDS)) == ["c"]
    assert slower(timed(*base, 0.1), timed(*base, 0.9 * SECONDS)) == []
    assert slower(timed(*base, 30), timed(*base, 30 + 2 * SECONDS)) == []
    assert slower(timed(*base, 20), timed(*base, 0.1)) == ["c"]


def test_training_that_the_store_saves_is_no_time():
    study = StudyRecord(
        name="s",
        runs=1,
        diverged=0,
        device="cpu",
        dtype="float64",
        keys=[],
        seconds=28.0,
    )
    trained, served = timed(28.5, studies=[study]), timed(0.5)
    assert slower(trained, served) == []
    assert compare(trained, served).rows[0].seconds == (0.5, 0.5)


def test_times_of_other_work_are_not_compared():
    old, new = timed(100, 1), report(*timed(100, 90).claims, profile="smoke")
    assert slower(old, new) == []
