"""Markdown, JUnit XML and LaTeX."""

import re
import subprocess
from xml.etree import ElementTree as ET

import pytest

from verify.record import FindingRecord
from verify.report import render
from verify.report.junit import to_junit
from verify.report.summary import MAX_BYTES, MAX_LINE, to_markdown
from verify.report.tex import escaped, to_tex
from verify.selfcheck_run import SelfCheckRecord
from verify.verdict import Grade, Verdict


def cells(line):
    return re.split(r"(?<!\\)\|", line)[1:-1]


def test_markdown_rows_keep_their_columns_whatever_they_hold(report):
    table = to_markdown(report).partition("## Witnesses")[0]
    rows = [x for x in table.splitlines() if x.startswith("| ")]
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


def test_markdown_has_no_character_that_a_terminal_obeys(report):
    told = "\x1b[31m\x07\x9b\u202e"
    changed = {"command": told, "title": told, "reason": told}
    claims = [claim.model_copy(update=changed) for claim in report.claims]
    text = to_markdown(report.model_copy(update={"claims": claims}))
    assert "<details>" in text
    assert not set(told.replace("[31m", "")) & set(text)


def blocks(text):
    """What is folded away, by the id in its summary."""
    found = re.findall(r"<details>(.*?)</details>", text, flags=re.DOTALL)
    return {re.search(r"<code>(.*?)</code>", block)[1]: block for block in found}


def test_markdown_folds_away_what_refutes_each_claim(report):
    found = blocks(to_markdown(report))
    assert list(found) == ["huang2024/proposition-2", "ren2024/theorem-3.1@no-query"]
    block = found["huang2024/proposition-2"]
    for part in (
        "Hall's condition</summary>",  # what the module knows, not what a check found
        "check exact_search",
        "A = [1/2 -3; 12.0 2/7]",
        "b = 1/3",
        "A[0, 1] + b^2 > (−1/2) · exp(1 − b)",
        "verify run 'huang2024/proposition-2' --profile default",
    ):
        assert part in block


def test_markdown_shows_the_witness_of_the_strongest_check(report):
    claim = report.claims[2]
    weak = claim.checks[0].model_copy(update={"grade": Grade.PROPERTY, "name": "hunt"})
    strong = claim.checks[0].model_copy(update={"grade": Grade.SYMBOLIC, "name": "x"})
    silent = strong.model_copy(update={"witness": None, "name": "silent"})
    held = strong.model_copy(update={"verdict": Verdict.HOLDS, "name": "held"})
    claims = [claim.model_copy(update={"checks": [weak, held, silent, strong]})]
    text = to_markdown(report.model_copy(update={"claims": claims}))
    assert "check x\n" in text
    assert "hunt" not in text


def hostile_witness(says, columns=1):
    return {
        "kind": "formula",
        "says": says,
        "inputs": {},
        "relation": ["<", 1, columns],
    }


@pytest.mark.parametrize(
    "says", ["```\n</details># out", "````text\n\n~~~", "</pre></details>", "`" * 500]
)
def test_nothing_in_a_witness_ends_its_block(report, says):
    claim = report.claims[2]
    check = claim.checks[0].model_copy(update={"witness": hostile_witness(says)})
    claims = [claim.model_copy(update={"checks": [check], "id": "a</code>`b"})]
    text = to_markdown(report.model_copy(update={"claims": claims}))
    fence = re.search(r"^(`{3,})text$", text, flags=re.MULTILINE)[1]
    inside = text.partition(f"{fence}text\n")[2].partition(f"\n{fence}\n")[0]
    assert inside.startswith("check exact_search\nwitness (formula)")
    assert inside.endswith("1 < 1")
    assert not re.search(rf"^`{{{len(fence)},}}", inside, flags=re.MULTILINE)
    assert "<code>a&lt;/code&gt;`b</code>" in text


def test_a_long_witness_is_cut_and_says_so(report):
    claim = report.claims[2]
    wide = {f"x{i}": [["1/3"] * 8] for i in range(60)}
    witness = hostile_witness("y" * 1000) | {"inputs": wide}
    check = claim.checks[0].model_copy(update={"witness": witness})
    claims = [claim.model_copy(update={"checks": [check]})]
    block = to_markdown(report.model_copy(update={"claims": claims}))
    block = block.partition("## Witnesses")[2]
    assert max(map(len, block.splitlines())) < MAX_LINE + 20
    assert "… (cut)" in block
    assert "(cut: 38 further lines)" in block


def test_markdown_with_too_many_witnesses_has_whole_blocks_and_says_how_many_more(
    report,
):
    claim = report.claims[2]
    copies = [claim.model_copy(update={"id": f"huang2024/p-{i}"}) for i in range(2500)]
    text = to_markdown(report.model_copy(update={"claims": copies}))
    shown = text.count("<details>")
    assert 0 < shown < 2500
    assert shown == text.count("</details>")
    assert len(re.findall(r"^```$", text, flags=re.MULTILINE)) == shown
    assert f"what refutes {2500 - shown} further claims is in report.json" in text
    assert 800_000 < len(text.encode()) <= MAX_BYTES
    assert "further lines" not in text


def test_markdown_counts_self_checks(report):
    checks = [self_check("AGREE"), self_check("AGREE"), self_check("NOT_RUN")]
    text = to_markdown(report.model_copy(update={"self_checks": checks}))
    assert "- Self-checks of the suite: 2 AGREE, 1 NOT RUN\n" in text
    assert "Self-checks" not in to_markdown(report)


def self_check(verdict, **changes):
    given = {"name": "slopes", "says": "Two ways to a slope.", "why_bound": "rounding"}
    return SelfCheckRecord(**given | {"verdict": verdict} | changes)


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
        "group": "refuted",
        "wording": "printed",
        "module": "theorems.ren2024.theorem_3_1_dual_form",
        "command": "verify run 'huang2024/proposition-2' --profile default --seed 0",
        "seconds": "1.250",
    }
    # GitLab shows no properties: all that matters is in the text as well.
    said = case.find("system-out").text.splitlines()
    assert said[0] == "FAIL · certified · scope: one witness suffices"
    assert said[2:] == ["wording: printed", f"again: {values['command']}"]
    assert said[1] == "Hall's condition"
    assert case.get("classname") == "huang2024"
    assert float(case.get("time")) == pytest.approx(1.25)


def test_junit_links_to_files_and_names_every_case_once(report):
    claim = report.claims[0].model_copy(update={"module": "theorems/a/b.py"})
    claims = [claim, *report.claims[1:]]
    root = ET.fromstring(to_junit(report.model_copy(update={"claims": claims})))
    cases = list(root.iter("testcase"))
    assert [c.get("file") for c in cases if c.get("file")] == ["theorems/a/b.py"]
    names = [(c.get("classname"), c.get("name")) for c in cases]
    assert len(set(names)) == len(names)


def test_junit_has_the_self_checks_and_fails_a_disagreement(report):
    checks = [
        self_check("AGREE", name="a", seconds=0.5),
        self_check("DISAGREE", name="b", reason="they differ by 3"),
        self_check("NOT_RUN", name="c", reason="no scipy"),
    ]
    root = ET.fromstring(to_junit(report.model_copy(update={"self_checks": checks})))
    (suite,) = [s for s in root if s.get("name") == "self-checks"]
    counts = [suite.get(k) for k in ("tests", "failures", "errors", "skipped", "time")]
    assert counts == ["3", "1", "0", "1", "0.500"]
    failure = suite.find("testcase/failure")
    assert failure.get("message") == "they differ by 3"
    assert "Two ways to a slope." in failure.text
    assert suite.find("testcase/skipped").get("message") == "NOT RUN: no scipy"


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
