"""The measured error rates: shown as measured, or said not to be there."""

import json

import pytest
from page_reader import Page
from sample_report import rich_report

from verify.report import trust
from verify.report.page import to_html
from verify.selfcheck_run import SelfCheckRecord

POWER = {
    "name": "power",
    "title": "Error rates on synthetic claims",
    "says": "No true claim of 30000 was refuted.",
    "command": "python benchmarks/power/run.py --write",
    "measured": {
        "date": "2026-11-30",
        "commit": "abc1234",
        "machine": "2 cores, x86_64",
        "seconds": 1234.5,
    },
    "columns": ["family", "true claims", "falsely refuted"],
    "rows": [["identity", 30000, 0], ["<b>bound</b>", 30000, 1.234567e-5]],
    "notes": ["Intervals are exact."],
}


def test_a_study_is_read_as_it_was_measured(tmp_path):
    (tmp_path / "power.json").write_text(json.dumps(POWER))
    (tmp_path / "another.json").write_text(json.dumps({**POWER, "name": "another"}))
    (tmp_path / "notes.txt").write_text("not a study")
    power, *rest = trust.studies(tmp_path)
    assert power.measured == "2026-11-30, commit abc1234, 2 cores, x86_64, 20 min 34 s"
    assert power.rows[1] == ("<b>bound</b>", "30000", "1.235e−05")
    assert power.notes == ("Intervals are exact.",)
    assert not power.trouble
    assert [study.name for study in rest] == [
        "stability", "mutation", "faults", "hostile", "another",
    ]  # fmt: skip
    assert {s.trouble for s in rest[:-1]} == {"Not measured for this version."}


def test_without_a_folder_nothing_was_measured(tmp_path):
    found = trust.studies(tmp_path / "absent")
    assert [study.name for study in found] == [*trust.EXPECTED]
    assert all(study.trouble for study in found)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "no JSON object"),
        ({**POWER, "says": " "}, "says is no text"),
        ({**POWER, "command": 3}, "command is no text"),
        ({**POWER, "columns": None}, "columns is no list"),
        ({**POWER, "rows": []}, "nothing was measured"),
        ({**POWER, "rows": [["identity", 3]]}, "rows[0] is no list of 3 cells"),
        ({**POWER, "rows": [["identity", 3, True]]}, "rows[0]"),
        ({**POWER, "rows": [["identity", 3, [1]]]}, "rows[0]"),
        ({**POWER, "rows": ["abc"]}, "rows[0]"),
        ({**POWER, "measured": None}, "measured is no object"),
        ({**POWER, "measured": {"seconds": 3}}, "date is no text"),
        ({**POWER, "measured": {**POWER["measured"], "seconds": "3"}}, "seconds"),
    ],
)
def test_a_malformed_study_is_said_to_be(tmp_path, data, words):
    with pytest.raises(trust.StudyError) as caught:
        trust.parse(data)
    assert words in str(caught.value)
    (tmp_path / "power.json").write_text(json.dumps(data))
    assert words in trust.studies(tmp_path)[0].trouble


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"{", b"[" * 100_000, b" " * (2 << 20)])
def test_a_file_that_is_no_json_is_said_to_be(tmp_path, raw):
    (tmp_path / "power.json").write_bytes(raw)
    assert "could not be read: trust/power.json" in trust.studies(tmp_path)[0].trouble


def test_a_long_table_is_cut_and_said_to_be(tmp_path):
    study = trust.parse({**POWER, "rows": POWER["rows"] * 50})
    assert len(study.rows) == trust.MAX_ROWS
    assert study.notes[-1] == "The first 60 of 100 rows are shown."


def test_the_page_shows_measurements_and_troubles(tmp_path, monkeypatch):
    (tmp_path / "power.json").write_text(json.dumps(POWER))
    (tmp_path / "faults.json").write_text("[]")
    found = trust.studies(tmp_path)
    monkeypatch.setattr("verify.report.page.studies", lambda: found)
    html = to_html(rich_report())
    assert "No true claim of 30000 was refuted." in html
    assert "<td>&lt;b&gt;bound&lt;/b&gt;</td>" in html
    assert "python benchmarks/power/run.py --write" in html
    assert "trust/faults.json: it is no JSON object" in html
    assert html.count("Not measured for this version.") == 3


def test_self_checks_that_disagree_come_first():
    base = {"says": "Two ways.", "why_bound": "40 digits"}
    own = [
        SelfCheckRecord(
            name="quadrature", verdict="AGREE", measured=1e-12, bound=1e-9, n=3, **base
        ),
        SelfCheckRecord(name="solvers", reason="no second solver", **base),
        SelfCheckRecord(
            name="gradients", verdict="DISAGREE", measured=2.5, bound=1.0, **base
        ),
    ]
    page = Page(to_html(rich_report(self_checks=own)))
    said = page.text[page.text.index("Self-checks: independent") :]
    assert "3 self-checks: 1 disagree, 1 not run, 1 agree." in said
    places = [said.index(name) for name in ("gradients", "solvers", "quadrature")]
    assert places == sorted(places)
    assert "no second solver" in said
    assert "1e−12" in said
    assert "None ran in this run." in Page(to_html(rich_report())).text
