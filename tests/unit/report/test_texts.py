"""Markdown, JUnit XML and LaTeX."""

import re
import subprocess
from xml.etree import ElementTree as ET

import pytest

from verify.record import FindingRecord
from verify.report import render
from verify.report.junit import to_junit
from verify.report.summary import to_markdown
from verify.report.tex import escaped, to_tex
from verify.verdict import Verdict


def cells(line):
    return re.split(r"(?<!\\)\|", line)[1:-1]


def test_markdown_rows_keep_their_columns_whatever_they_hold(report):
    rows = [x for x in to_markdown(report).splitlines() if x.startswith("| ")]
    assert len(rows) == 1 + len(report.claims)
    assert {len(cells(row)) for row in rows} == {5}
    assert cells(rows[1])[0].strip() == "**FAIL**"
    assert "<script" not in to_markdown(report)


def test_markdown_says_crashes_and_red_before_any_verdict(report):
    text = to_markdown(report)
    head = text[: text.index("| Verdict")]
    for words in ("PARTIAL RUN", "Partial run", "signal 9", "Red: huang2024/lemma-5"):
        assert words in head


def test_markdown_is_cut_and_says_so(report):
    claims = [report.claims[0].model_copy(update={"title": "x" * 1000})] * 2000
    text = to_markdown(report.model_copy(update={"claims": claims}))
    assert len(text.encode()) <= 900_000
    assert re.search(r"Cut: \d{4} further lines are in report\.json", text)


@pytest.fixture
def cases(report):
    root = ET.fromstring(to_junit(report))
    return {case.get("name"): case for case in root.iter("testcase")}


def test_junit_fails_only_what_differs_or_is_broken(report, cases):
    failing = [name for name, case in cases.items() if case.find("failure") is not None]
    skipped = {
        name: case.find("skipped").get("message").partition(":")[0]
        for name, case in cases.items()
        if case.find("skipped") is not None
    }
    assert failing == ["huang2024/lemma-5"]
    assert cases["huang2024/lemma-5"].find("failure").get("type") == "BROKEN"
    assert skipped == {
        "huang2024/figure-2": "INCONCLUSIVE",
        "huang2024/theorem-4": "NOT RUN",
    }


def test_junit_shows_an_expected_refutation_without_failing(cases):
    case = cases["huang2024/proposition-2"]
    values = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert values == {
        "verdict": "FAIL",
        "grade": "certified",
        "scope": "one witness suffices",
        "finding": "FAIL",
    }
    assert "five tokens suffice" in case.find("system-out").text
    assert case.get("classname") == "huang2024"
    assert float(case.get("time")) == pytest.approx(1.25)


@pytest.mark.parametrize("verdict", ["HOLDS", "REFUTED", "INCONCLUSIVE"])
def test_junit_fails_a_verdict_unlike_its_finding(report, verdict):
    claim = report.claims[0].model_copy(
        update={
            "verdict": Verdict(verdict),
            "finding": FindingRecord(
                verdict="REFUTED" if verdict == "HOLDS" else "HOLDS"
            ),
        }
    )
    root = ET.fromstring(to_junit(report.model_copy(update={"claims": [claim]})))
    assert root.find(".//failure").get("type") == "differs"


def test_junit_counts_are_those_of_its_cases(report):
    root = ET.fromstring(to_junit(report))
    counts = {
        suite.get("name"): tuple(
            int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped")
        )
        for suite in root
    }
    assert counts == {
        "ren2024": (2, 0, 0, 0),
        "huang2024": (6, 1, 0, 2),
        "run": (1, 0, 1, 0),
    }


def test_junit_of_a_crashed_or_red_run_is_never_green(report):
    claims = report.claims[:1]
    for changes, tag in (
        ({"red": []}, "error"),
        ({"crashes": []}, "failure"),
        ({"red": [], "crashes": []}, None),
    ):
        run = report.run.model_copy(update=changes)
        changed = report.model_copy(update={"run": run, "claims": claims})
        root = ET.fromstring(to_junit(changed))
        found = {node.tag for node in root.iter()} & {"error", "failure"}
        assert found == ({tag} if tag else set())


def test_tex_escapes_every_character_of_latex():
    special = escaped(r"\input{x} 50% a&b #1 $x$ c_d ~ ^ <>|")
    for raw in (r"\input", "{x}", " 50% ", "a&b", " #", " $", "c_d", "~", "^"):
        assert raw not in special
    assert escaped("é Λ ≤ ℝ x² “q” 漢") == (
        r"\'{e} \ensuremath{\Lambda} \ensuremath{\leq} R x\ensuremath{^{2}} ``q'' ?"
    )
    assert escaped("a\n\n\\end{document}").isascii()


def test_tex_defines_every_claim_and_nothing_hostile(report):
    bad = report.claims[0].model_copy(update={"id": "a}\\input{x"})
    text = to_tex(report.model_copy(update={"claims": [*report.claims, bad]}))
    assert text.isascii()
    assert r"\input" not in text
    assert r"\claimdefine{verdict}{huang2024/proposition-2}{FAIL}" in text
    assert text.count(r"\claimdefine{grade}") == len(report.claims)
    assert "PARTIAL RUN" in text


@pytest.mark.tex
def test_tex_compiles_and_the_macros_look_up(report, tmp_path):
    claims = [*report.claims] * 6
    view = to_tex(report.model_copy(update={"claims": claims}))
    (tmp_path / "claims.tex").write_text(view, encoding="ascii")
    (tmp_path / "a.tex").write_text(
        r"""\documentclass{article}\usepackage{booktabs}
\input{claims}\begin{document}
\newcommand{\ours}{huang2024/proposition-2}
\typeout{GOT \claimverdict{\ours} \claimgrade{\ours}}
\section{\claimverdict{ren2024/theorem-3.1@keys} \claimverdict{nowhere}}
\claimstable
\end{document}"""
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "GOT FAIL certified" in done.stdout


def test_renderers_are_reachable_by_name(report):
    assert render(report, "tex") == to_tex(report)
