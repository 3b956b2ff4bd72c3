"""``claims.tex`` in documents, through pdflatex. Marker: tex."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from verify.verdict import Fault, Verdict

pytestmark = pytest.mark.tex

ROOT = Path(__file__).parents[2]
LAYOUTS = {
    "one column": r"\documentclass{article}\usepackage{booktabs}",
    "two columns": r"\documentclass[twocolumn]{article}\usepackage{booktabs}",
    "hyperref, T1, calc": r"""\documentclass[11pt]{article}\usepackage[T1]{fontenc}
        \usepackage{lmodern,calc,booktabs,hyperref}\setlength{\parskip}{6pt}""",
    "nothing loaded": r"\documentclass[10pt,a4paper]{report}",
}
LONG = "supercalifragilistic" * 6
HARD = (
    f"for all n ≥ 1 and σ² ≪ 10^-400: 12345678901234567890123456789/{LONG} "
    "‖w‖ X Xᵀ w/‖X Xᵀ w‖ ≤ C w^{(d-1)/2}, e^{x^T y}, x^{2'}, Λ̂_T, 漢字, a_long_name"
)


def many(claim, number=358):
    """As many claims as the three papers have, of all verdicts, with hard texts."""
    verdicts = [Verdict.HOLDS] * 6 + [Verdict.REFUTED, Verdict.REFUTED]
    verdicts += [Verdict.INCONCLUSIVE, Verdict.NOT_RUN]
    made = []
    for i in range(number):
        paper = ("ren2024", "huang2024", "collins2024")[i % 3]
        fields = {"verdict": verdicts[i % len(verdicts)], "title": f"title no. {i}"}
        if i % 7 == 0:
            fields |= {"title": HARD, "scope": HARD, "reason": HARD * 20}
        if i % 11 == 0:
            fields |= {"fault": Fault.BROKEN, "nearest": f"{paper}/{LONG}"}
        made.append(claim(f"{paper}/lemma-{i}.x/part@reading-of_{i}", **fields))
    return made


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_claims_stand_on_the_pages_and_nothing_sticks_out(claim, document, layout):
    claims = many(claim)
    body = r"\section{Verdicts}\claimstable\newpage\claimsartefact"
    made = document(claims, body, LAYOUTS[layout])
    assert made.overfull == []
    assert made.pages > 10
    missing = [c.id for c in claims if made.solid.count(c.id) < 2]  # in both tables
    assert missing == []


def test_pages_are_filled(claim, document):
    """Rows are never so tied together that pages stay half empty."""
    made = document(many(claim), r"\claimstable")
    lines = [len(page.splitlines()) for page in made.text.split("\f")[:-2]]
    assert min(lines) > 0.7 * max(lines)


def test_macros_are_the_words(claim, document):
    claims = [
        claim("ren2024/theorem-3.1@keys", scope="k ≤ 6"),
        claim("ren2024/rank-wf", verdict=Verdict.REFUTED),
        claim("ren2024/lemma_2", verdict=Verdict.NOT_RUN, grade=None, scope=""),
    ]
    made = document(
        claims,
        r"""\newcommand{\ours}{ren2024/theorem-3.1@keys}
        \typeout{GOT \claimverdict{\ours}, \claimgrade{\ours}}
        \typeout{COUNT \claimcount{ren2024}{all} \claimcount{ren2024}{refuted}}
        \tableofcontents
        \section{It is \claimverdict{ren2024/rank-wf}}
        A \claimverdict{ren2024/lemma_2}, B \claimgrade{ren2024/lemma_2},
        C \claimscope{\ours}.""",
    )
    assert "GOT PASS, symbolic" in made.log
    assert "COUNT 3 1" in made.log
    assert made.text.count("It is FAIL") == 2  # heading and contents
    assert "A NOT RUN, B none, C k ≤ 6." in made.text
    assert "claims Warning" not in made.log


def test_an_unknown_id_is_seen_on_the_page_and_in_the_log(claim, document):
    made = document(
        [claim("ren2024/theorem-3.1@keys"), claim("ren2024/theorem-3.1@query")],
        r"""\tableofcontents\section{A \claimverdict{ren2024/theorem-3.1}}
        B \claimgrade{nowhere} \claimstable[nobody2024]""",
    )
    assert "A ??" in made.text
    assert "B ??" in made.text
    assert "no claim or paper `nowhere'" in made.log
    assert "no claim or paper `nobody2024'" in made.log
    assert "`ren2024/theorem-3.1' (its readings are keys, query)" in made.log
    assert "Some claims are unknown" in made.log


def test_a_paper_has_its_own_table(claim, document):
    claims = [claim("ren2024/theorem-1"), claim("huang2024/theorem-2")]
    made = document(claims, r"\claimstable[huang2024]")
    assert "huang2024/theorem-2" in made.solid
    assert "ren2024" not in made.solid


def test_refuted_first_with_reason_nearest_and_witness(claim, document):
    claims = [
        claim("a2024/lemma-1"),
        claim(
            "a2024/lemma-2",
            verdict=Verdict.REFUTED,
            reason="five tokens suffice",
            nearest="a2024/lemma-2/repaired",
        ),
    ]
    text = " ".join(document(claims, r"\claimstable").text.split())
    order = [
        "Refuted: 1",
        "a2024/lemma-2",
        "Why: five tokens suffice",
        "Nearest that holds: a2024/lemma-2/repaired",
        "Witness: left side above the right one.",
        "This satisfies b",
        "Hold: 1",
        "a2024/lemma-1",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_commands_can_be_copied_from_the_page(claim, document):
    names = ["ren2024/a_b@keys-with-query", "huang2024/theorem-1/norm@any-map"]
    for preamble in (LAYOUTS["one column"], LAYOUTS["hyperref, T1, calc"]):
        made = document([claim(n) for n in names], r"\claimsartefact", preamble)
        for name in names:
            assert f"verify run '{name}' --profile default --seed 0" in made.text
        assert "git checkout 0123abc" in made.text
        assert "make verify PROFILE=smoke" in made.text
        assert ". .venv/bin/activate" in made.text
        assert "verify run --profile default --seed 0 --device cpu" in made.text
        assert "5 min 49 s with 2 jobs (Python 3.11.7, AMD EPYC)" in made.text


def test_the_set_up_is_the_authors_to_change(claim, document):
    body = r"""\renewcommand{\claimssetup}{\claimcommandline{docker load < x}{ours}}
        \claimsartefact[a2024]"""
    made = document([claim("a2024/lemma-1")], body)
    assert "docker load" in made.text
    assert "make verify" not in made.text


@pytest.mark.parametrize(
    "attack",
    [
        r"\typeout{PWNED}",
        "^^5ctypeout{PWNED}",
        "^^M\\typeout{PWNED}",
        r"}\typeout{PWNED}{",
        r"$\typeout{PWNED}$ & \\ \end{tabular}\typeout{PWNED}",
        r"\end{document} \immediate\write18{touch PWNED}",
        r"\input{/etc/passwd} \openout0=PWNED",
        "% \n\\typeout{PWNED}",
        r"x^{\typeout{PWNED}} y_{\input{x}} z^\typeout",
        "\u202e\x00\x1b[31m\ud800 \\typeout{PWNED}",
        r"#1 ~ _ \csname claim/verdict/a2024/x\endcsname",
    ],
)
def test_texts_of_the_record_are_never_run(claim, document, tmp_path, attack):
    hostile = claim(
        "a2024/x",
        verdict=Verdict.REFUTED,
        title=attack,
        reason=attack,
        scope=attack,
        nearest=attack,
        source=attack,
        command=attack,
        checks=[
            claim("a2024/x", verdict=Verdict.REFUTED)
            .checks[0]
            .model_copy(update={"witness": {"kind": attack, "says": attack}})
        ],
    )
    named = claim(f"{attack}/lemma-1")
    body = r"\claimstable\claimsartefact A \claimscope{a2024/x} THE END"
    made = document([hostile, named], body)
    assert not re.search(r"(?m)^PWNED", made.log)
    assert "THE END" in made.text
    assert not (tmp_path / "PWNED").exists()
    assert "root:" not in made.text
    assert made.overfull == []


def test_reading_the_file_twice_is_no_error(claim, document):
    made = document(
        [claim("a2024/lemma-1")],
        r"\input{claims}\input{claims}\claimverdict{a2024/lemma-1}",
    )
    assert "PASS" in made.text


def test_a_real_run(folder_set, tmp_path):
    """Two claims, one refuted, as `verify run` leaves them."""
    command = [sys.executable, "-m", "verify", "run", "collins2024/lemma-i.3*"]
    options = ["--profile", "smoke", "--jobs", "1", "--out", str(tmp_path), "--quiet"]
    done = subprocess.run(command + options, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    body = r"\claimstable\claimsartefact[collins2024]"
    made = folder_set(tmp_path, body, LAYOUTS["two columns"])
    assert "FAIL collins2024/lemma-i.3@any-sign" in made.text
    assert "Nearest that holds: collins2024/lemma-i.3@positive" in made.text
    assert str(tmp_path) not in made.solid
    assert made.overfull == []
