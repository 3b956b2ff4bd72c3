"""The cost benchmark: its figures are of what they say, and its bars can be missed."""

import json

import pytest
from sample_report import rich_report

from benchmarks import cost


def test_the_engines_share_is_above_the_bare_work():
    got = cost.judge_case(quick=True)
    assert got["judge_over_bare"] > 1
    assert 0 < got["judge_us_per_decision"] < 1e5


def test_the_toy_is_decided():
    claim = cost.toy()
    assert cost.counted(claim).verdict == "HOLDS"
    assert {cost.counted(claim.changed(m)).verdict for m in claim.mutants} == {
        "REFUTED"
    }


@pytest.mark.parametrize(("value", "lines"), [(0.1, 0), (0.31, 1), (float("nan"), 1)])
def test_bars(value, lines):
    assert len(cost.exceeded({"import_over_sympy": value})) == lines


def test_the_guard_sets_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(cost, "start_case", lambda quick: {"list_over_sympy": 99.0})
    monkeypatch.setattr(cost, "judge_case", lambda quick: {})
    monkeypatch.setattr(cost, "render_case", lambda quick, path: {})
    assert cost.main(["--json", "--quick"]) == 0
    assert cost.main(["--json", "--quick", "--guard"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["list_over_sympy"] > 98
    assert "list_over_sympy is 99.00, its bar 8" in err


def test_views_of_a_report_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(cost, "PUBLISHED", tmp_path)
    with pytest.raises(SystemExit, match="name one with --report"):
        cost.render_case(quick=True, path=None)
    report = rich_report()
    (tmp_path / "0.1.0").mkdir()
    (tmp_path / "0.1.0" / "report.json").write_text(report.model_dump_json())
    got = cost.render_case(quick=True, path=None)
    assert got["claims"] == len(report.claims)
    assert {name for name in cost.BARS if name.endswith("over_json")} <= set(got)
    assert got["html_ms_per_claim"] > got["junit_ms_per_claim"] > 0
