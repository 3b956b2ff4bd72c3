"""All views: formats, files, failures, what every view must say."""

import json
import math
import re
from importlib.resources import files

import jsonschema
import pytest

from verify import report as reports
from verify.record import Report
from verify.report import schema as schema_module
from verify.report import views
from verify.report.words import group_of, tally, worst_margin


def test_unknown_format_names_the_formats(report):
    with pytest.raises(ValueError, match=r"pdf.*html, md, tex, junit, json, badge"):
        reports.render(report, "pdf")


@pytest.mark.parametrize("format_", reports.FORMATS)
def test_every_view_has_every_claim_and_is_deterministic(report, format_):
    text = reports.render(report, format_)
    if format_ != "badge":  # which has counts alone
        assert all(claim.id in text for claim in report.claims)
    assert reports.render(report, format_) == text


@pytest.mark.parametrize("format_", ["html", "md", "tex", "junit"])
def test_views_print_words_for_readers(report, format_):
    text = reports.render(report, format_)
    for word in ("PASS", "FAIL", "INCONCLUSIVE", "NOT RUN", "BROKEN"):
        assert word in text
    assert "NOT_RUN</" not in text


@pytest.mark.parametrize("format_", reports.FORMATS)
def test_an_empty_report_renders(empty, format_):
    assert reports.render(empty, format_)


def test_write_views_leaves_whole_files_only(report, tmp_path):
    folder = tmp_path / "a" / "b"
    written = reports.write_views(report, folder)
    names = ["report.json", "index.html", "summary.md", "junit.xml", "claims.tex"]
    names.append("badge.svg")
    assert [path.name for path in written] == names
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_a_failing_view_loses_no_other(report, tmp_path, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("boom")

    monkeypatch.setitem(views._RENDERERS, "html", fail)
    monkeypatch.setitem(views._RENDERERS, "junit", fail)
    with pytest.raises(reports.ReportError, match=r"index\.html.*junit\.xml"):
        reports.write_views(report, tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["badge.svg", "claims.tex", "report.json", "summary.md"]


def test_a_failed_write_keeps_the_file_before(report, tmp_path, monkeypatch):
    reports.write_views(report, tmp_path)
    before = (tmp_path / "report.json").read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(views.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        reports.write_views(report, tmp_path)
    assert (tmp_path / "report.json").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_json_is_strict_and_reads_back(report):
    def refuse(word):
        raise AssertionError(word)

    data = json.loads(reports.render(report, "json"), parse_constant=refuse)
    again = Report.model_validate(data)
    assert reports.render(again, "json") == reports.render(report, "json")
    assert again.claims[1].checks[0].margin == "-inf"


def test_json_is_compact_with_a_line_per_claim(report):
    text = reports.render(report, "json")
    lines = text.splitlines()
    data = json.loads(text)
    fields = [x for x in lines if re.match(r'"\w+": ', x)]
    assert [re.match(r'"(\w+)"', x)[1] for x in fields] == list(data)
    ids = [x for x in lines if x.startswith('{"id":')]
    assert len(ids) == len(report.claims)
    assert [json.loads(x.rstrip(","))["id"] for x in ids] == [
        c.id for c in report.claims
    ]
    assert len(text) < len(json.dumps(data, indent=1, ensure_ascii=False)) / 1.5


def test_a_changed_claim_is_a_changed_line(report):
    claim = report.claims[2].model_copy(update={"reason": "another"})
    claims = [*report.claims[:2], claim, *report.claims[3:]]
    one, other = (
        reports.render(r, "json").splitlines()
        for r in (report, report.model_copy(update={"claims": claims}))
    )
    assert len(one) == len(other)
    assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


def test_json_survives_nan_and_lone_surrogates_anywhere(report, tmp_path):
    odd = report.model_copy(update={"provenance": {"x": [math.nan], "y": "\udc80"}})
    path = reports.write_views(odd, tmp_path)[0]
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["provenance"] == {"x": ["nan"], "y": "\udc80"}


def test_the_shipped_schema_is_current_and_a_report_obeys_it(report):
    shipped = files("verify.report") / "schemas" / "report-1.json"
    assert shipped.read_text(encoding="utf-8") == schema_module.text()
    jsonschema.Draft202012Validator.check_schema(schema_module.schema())
    check = jsonschema.Draft202012Validator(schema_module.schema())
    data = json.loads(reports.render(report, "json"))
    check.validate(data)
    data["claims"][0]["surprise"] = 1
    assert not check.is_valid(data)


def test_groups_follow_the_first_match(report):
    groups = {claim.id: group_of(claim, report.claims) for claim in report.claims}
    assert list(groups.values()) == [
        "holds",
        "reading_dependent",
        "refuted",
        "holds",
        "inconclusive",
        "failing_steps",
        "inconclusive",
        "not_run",
    ]
    guessed = report.claims[2].model_copy(update={"wording": "guessed"})
    assert group_of(guessed, [guessed]) == "reading_dependent"


def test_the_groups_count_what_the_record_counts(report):
    for paper in report.papers:
        own = [c for c in report.claims if c.paper == paper.key]
        found = [group_of(c, report.claims) for c in own]
        assert {k: found.count(k) for k in set(found)} == {
            k: n for k, n in paper.counts.model_dump().items() if n
        }


def test_tally_reads_as_a_sentence(report):
    assert tally(report.papers[1].counts) == (
        "6 claims: 1 holds, 1 is refuted, 1 is a failing proof step, "
        "2 are inconclusive, 1 was not run."
    )
    counts = report.papers[0].counts.model_copy(update={"holds": 0})
    assert tally(counts) == "1 claim: 0 hold, 0 are refuted, 1 depends on the reading."


@pytest.mark.parametrize(
    ("margins", "worst"),
    [
        (["1/3", 0.25], 0.25),
        ([None], None),
        ([2, "0x1.8p-1"], 0.75),
        ([-3.0, "-inf"], -math.inf),
    ],
)
def test_worst_margin_reads_every_spelling(report, margins, worst):
    check = report.claims[0].checks[0]
    checks = [check.model_copy(update={"margin": m}) for m in margins]
    claim = report.claims[0].model_copy(update={"checks": checks})
    assert worst_margin(claim) == worst


def test_a_nan_margin_is_the_worst(report):
    check = report.claims[0].checks[0]
    checks = [check.model_copy(update={"margin": m}) for m in (1.0, "nan", -2.0)]
    claim = report.claims[0].model_copy(update={"checks": checks})
    assert math.isnan(worst_margin(claim))


def test_step_summary_appends_within_the_limit(tmp_path):
    path = tmp_path / "summary"
    reports.append_step_summary("first", path)
    reports.append_step_summary("line\n" * 400_000, str(path))
    assert path.read_text().startswith("first\nline\n")
    assert "further lines are in report.json" in path.read_text()[-200:]
    assert path.stat().st_size < 1 << 20
    reports.append_step_summary("more\n" * 100, path)
    assert path.stat().st_size < 1 << 20
