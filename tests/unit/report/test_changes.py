"""A difference of two reports for reading, and as annotations of GitHub."""

import json
import re

import pytest

from verify.diff import compare
from verify.report import changes
from verify.report.annotations import SHOWN, annotate, command, quoted
from verify.report.changes import LISTED
from verify.verdict import Fault, Kind, Verdict

HOSTILE = "50%\r\n::error::x|`\x1b[31m\x00<b>"


def changed(report, n, **updates):
    """The report with so many copies of its first claim, and one with them changed."""
    first = report.claims[0]
    old = [first.model_copy(update={"id": f"ren2024/copy-{i}"}) for i in range(n)]
    new = [claim.model_copy(update=updates) for claim in old]
    run = report.run.model_copy(update={"crashes": [], "partial": False})
    return tuple(
        report.model_copy(update={"claims": x, "run": run}) for x in (old, new)
    )


REFUTED = {"verdict": Verdict.REFUTED, "reason": "a counterexample"}


def errors(lines):
    return [line for line in lines if line.startswith("::error ")]


def test_equal_reports_have_no_list_and_no_annotation(report, tmp_path):
    same = compare(report, report)
    assert annotate(same, tmp_path) == []
    assert "no verdict changed; the same verdict for 8 of 8 claims" in (
        changes.to_text(same)
    )
    assert "|---|" not in changes.to_markdown(same)
    assert json.loads(changes.to_json(same))["rows"] == []
    assert len(json.loads(changes.to_json(same, everything=True))["rows"]) == 8


@pytest.mark.parametrize(("n", "left"), [(1, 0), (SHOWN, 0), (SHOWN + 1, 1), (45, 35)])
def test_ten_errors_and_a_warning_that_says_how_many_more(report, tmp_path, n, left):
    lines = annotate(compare(*changed(report, n, **REFUTED)), tmp_path)
    assert len(errors(lines)) == min(n, SHOWN)
    warnings = [line for line in lines if line.startswith("::warning ")]
    assert len(warnings) == bool(left)
    assert len(lines) == len(errors(lines)) + len(warnings)
    if left:
        assert re.search(rf"::{left} more changed verdicts? ", warnings[0])


def test_faults_are_annotated_before_anything_else(report, tmp_path):
    old, new = changed(report, 30, **REFUTED)
    broken = new.claims[-1].model_copy(update={"fault": Fault.BROKEN})
    new = new.model_copy(update={"claims": [*new.claims[:-1], broken]})
    lines = errors(annotate(compare(old, new), tmp_path))
    assert "title=ren2024/copy-29::" in lines[0]
    assert len(lines) == SHOWN


def test_nothing_in_an_annotation_ends_it_or_starts_another(report, tmp_path):
    hostile = REFUTED | {"reason": HOSTILE, "module": HOSTILE, "command": HOSTILE}
    old, new = changed(report, 1, **hostile)
    ids = {"id": f"x,y=1::{HOSTILE}"}
    old, new = (
        r.model_copy(update={"claims": [r.claims[0].model_copy(update=ids)]})
        for r in (old, new)
    )
    (line,) = annotate(compare(old, new), tmp_path)
    assert len(line.splitlines()) == 1
    head, _, rest = line.removeprefix("::error ").partition("::")
    assert re.fullmatch(r"title=x%2Cy=1%3A%3A50%25 %3A%3Aerror%3A%3Ax\S*", head)
    assert "50%25 ::error::x" in rest
    assert not re.search(r"[\x00-\x1f]", line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('X = 1\nCLAIM = Claim(\n    id="ren2024/copy-0",\n', 3),
        ("id = 'copy-0'\n", 1),
        ("# nothing\n\nCLAIM = Claim(id=made)\n", 3),
        ("# nothing\n", 1),
    ],
)
def test_the_place_is_where_the_claim_is_declared(
    report, tmp_path, monkeypatch, text, line
):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "theorems").mkdir()
    (tmp_path / "theorems" / "a.py").write_text(text)
    old, new = changed(report, 1, **REFUTED, module="theorems/a.py")
    (found,) = annotate(compare(old, new), tmp_path)
    assert found.startswith(f"::error file=theorems/a.py,line={line},title=")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    (found,) = annotate(compare(old, new), tmp_path)
    assert f"file={tmp_path.name}/theorems/a.py," in found


@pytest.mark.parametrize(
    "module", ["../secret.py", "/etc/passwd", "gone.py", "", "a.txt"]
)
def test_no_place_outside_the_project_or_that_is_not_there(report, tmp_path, module):
    root = tmp_path / "project"
    root.mkdir()
    for path in (tmp_path / "secret.py", root / "a.txt"):
        path.write_text("ren2024/copy-0")
    old, new = changed(report, 1, **REFUTED, module=module)
    (found,) = annotate(compare(old, new), root)
    assert found.startswith("::error title=ren2024/copy-0::")


def test_a_command_leaves_out_what_is_empty():
    assert command("warning", "x") == "::warning::x"
    assert command("notice", "x", file="", title="t") == "::notice title=t::x"


def test_quoted_text_is_between_a_token_and_its_end():
    first, *middle, last = quoted("a\n::error::b\n").splitlines()
    token = first.removeprefix("::stop-commands::")
    assert (last, middle) == (f"::{token}::", ["a", "::error::b"])
    assert len(token) >= 32
    assert token not in quoted("a")


# ---------------------------------------------------------------- text, Markdown


def test_long_lists_of_ids_are_cut_and_say_so(report):
    old, new = changed(report, LISTED + 5)
    none = old.model_copy(update={"claims": []})
    text = changes.to_text(compare(none, new))
    assert f"new, {LISTED + 5} claims: " in text
    assert "and 5 more (--all)" in text
    assert text.count("copy-") == LISTED
    assert changes.to_text(compare(none, new), everything=True).count("copy-") == (
        LISTED + 5
    )


def test_what_is_said_of_one_claim_is_one_line(report):
    old, new = changed(report, 1, **REFUTED | {"reason": HOSTILE})
    (line,) = [
        x for x in changes.to_text(compare(old, new)).splitlines() if "copy" in x
    ]
    assert line.startswith("  ren2024/copy-0  PASS -> FAIL".replace("PASS", "HOLDS")
                           .replace("FAIL", "REFUTED"))  # fmt: skip
    assert "\x1b" not in line
    rows = [
        x for x in changes.to_markdown(compare(old, new)).splitlines() if "copy" in x
    ]
    assert len(rows) == 1
    assert len(re.split(r"(?<!\\)\|", rows[0])) == 4
    assert "<b>" not in rows[0]


def test_margins_times_and_strength_show_old_and_new(report):
    old, new = changed(report, 1, scope="d ≤ 2")
    checks = [
        c.model_copy(update={"margin": 0.01, "seconds": 90.0})
        for c in new.claims[0].checks
    ]
    other = old.claims[0].model_copy(update={"id": "ren2024/other"})
    quick = other.model_copy(
        update={"checks": [c.model_copy(update={"seconds": 400}) for c in other.checks]}
    )
    claim = new.claims[0].model_copy(update={"checks": checks})
    old = old.model_copy(update={"claims": [*old.claims, quick]})
    new = new.model_copy(update={"claims": [claim, quick]})
    text = changes.to_text(compare(old, new))
    assert "symbolic · all -> symbolic · d ≤ 2" in text
    assert "trained_twin: 0.25 -> 0.01" in text
    assert "2.5 s -> 3 min 0 s" in text or "2.5 s -> 180 s" in text
    data = json.loads(changes.to_json(compare(old, new)))
    assert data["counts"]["same"] == 2
    assert data["rows"][0]["margins_moved"] == ["trained_twin", "proof"]


def test_short_changes_of_a_statement_are_shown_and_long_ones_named(report):
    old, new = changed(report, 1, kind=Kind.EXAMPLE, statement_text="x" * 500)
    lines = changes.to_text(compare(old, new)).splitlines()
    (line,) = [x for x in lines if x.startswith("  ren2024/copy-0")]
    assert line == "  ren2024/copy-0  kind: theorem -> example; text"


def test_a_margin_that_is_text_stays_in_its_line(report):
    first = report.claims[0]
    check = first.checks[0].model_copy(update={"margin": HOSTILE})
    claim = first.model_copy(update={"checks": [check, *first.checks[1:]]})
    other = report.model_copy(update={"claims": [claim, *report.claims[1:]]})
    text = changes.to_text(compare(report, other))
    assert "50% ::error::x" in text
    assert "\x1b" not in text
    assert "\x00" not in text
