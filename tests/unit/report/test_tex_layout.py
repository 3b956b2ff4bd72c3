"""``claims.tex`` without a TeX: what is set, in which order, that nothing is run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.record import FindingRecord, StudyRecord
from verify.report.tex import alone, to_tex
from verify.report.typeset import HANG, escaped, flowing, typewriter
from verify.verdict import Verdict

# All that escaping may write. None of it reads a file, defines or expands anything.
HARMLESS = re.compile(
    r"""\\(?:textbackslash|textasciitilde|textasciicircum|allowbreak|claimbreak
    |claimquote|dots|ensuremath|char\d+|ss|[oOl]|ae|hat|tilde|bar|d?dot|vec
    |leq|geq|neq|approx|equiv|times|cdot|pm|to|infty|in|notin|subset|subseteq|cup|cap
    |forall|exists|sum|prod|nabla|partial|surd|top|perp|langle|rangle|circ
    |Rightarrow|Leftrightarrow|wedge|vee|propto|ell|sim|ll|gg|int|emptyset|setminus
    |succ|succeq|odot|otimes|oplus|alpha|beta|[gG]amma|[dD]elta|epsilon|zeta|eta
    |[tT]heta|iota|kappa|[lL]ambda|mu|nu|[xX]i|[pP]i|rho|[sS]igma|tau|[uU]psilon
    |[pP]hi|chi|[pP]si|[oO]mega)(?![A-Za-z])
    |\\[{}$&%\#_|]|\\[`'^~"=](?=\{[A-Za-z]\})|\\[rvc](?=\{[A-Za-z]\})""",
    re.VERBOSE,
)
SETTERS = [escaped, flowing, typewriter]


@pytest.mark.parametrize("setter", SETTERS)
@given(text=st.text() | st.text("\\{}$^_%#&~'`\"-ab1 αΣ√²́̂⁻", max_size=40))
def test_no_text_becomes_a_command(setter, text):
    made = setter(text)
    assert made.isascii()
    assert made.isprintable()
    rest = HARMLESS.sub("", made)
    assert "\\" not in rest
    assert not set("$&%#~") & set(rest)
    depth = 0
    for brace in re.sub(r"[^{}]", "", rest):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0


@given(text=st.text("\\{}^_ab1αΣ²", max_size=40))
def test_marks_stand_in_formulas_only(text):
    """Outside of a formula ^ and _ would be an error that stops the document."""
    outside, depth, formula = "", 0, 0
    for piece in re.findall(r"\\ensuremath|\\\W|\\[A-Za-z]+|.", flowing(text)):
        formula = depth + 1 if piece == r"\ensuremath" and not formula else formula
        depth += (piece == "{") - (piece == "}")
        outside += "" if formula else piece
        formula = 0 if formula and piece == "}" and depth < formula else formula
    assert "^" not in outside
    assert not re.search(r"(?<!\\)_", outside)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("w^{(d-1)/2}", r"w\ensuremath{^{(d-1)/2}}"),
        ("σ^2", r"\ensuremath{\sigma}\ensuremath{^{2}}"),
        ("n^-1", r"n\ensuremath{^{-1}}"),
        ("R^{d_o}", r"R\ensuremath{^{d_{o}}}"),
        ("W_F", r"W\ensuremath{_{F}}"),
        ("α_max,", r"\ensuremath{\alpha}\ensuremath{_{max}},"),
        ("q̂", r"\ensuremath{\hat{q}}"),
        ("ĉ", r"\^{c}"),
        ("paths_hold_long", r"paths\_hold\_\allowbreak{}long"),
        ("^2", r"\textasciicircum{}2"),
        ("x^{a^b}", r"x\textasciicircum{}\{a\ensuremath{^{b}}\}"),
        ("x^{2'}", r"x\ensuremath{^{2{'}}}"),
        ("t^(22/3)", r"t\ensuremath{^{22/3}}"),
        ("2½ ﬁ", r"2\ensuremath{{}^{1}/_{2}} fi"),
        ("ϛ", "?"),  # a Greek letter that has no command
    ],
)
def test_formulas_are_set_as_formulas(text, made):
    assert flowing(text) == made


@given(text=st.text("ab1/.^2_αxé²-", max_size=200))
def test_nothing_long_hangs_together(text):
    pieces = re.split(r"\\allowbreak\{\}| ", flowing(text))
    length = [len(re.sub(r"\\[A-Za-z]+|[\\{}]", "", piece)) for piece in pieces]
    assert max(length) <= 2 * HANG  # two pieces may meet at a mark


def test_typewriter_takes_the_characters_of_the_font():
    made = typewriter("verify run 'a_b/c@d' --seed 0")
    assert r"\claimquote{}a\char95{}b/\claimbreak{}c@" in made
    assert "{-}{-}seed" in made


def line_of(text, start):
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return line


def table(report, key):
    text = to_tex(report)
    return text[text.index(rf"\claimdefine{{table}}{{{key}}}") :].split(
        r"\claimdefine{artefact}"
    )[0]


def test_groups_come_in_the_order_of_what_has_to_be_acted_on(report):
    found = re.findall(r"\\claimgroup\{([^:]*): (\d)\}", table(report, "huang2024"))
    assert found == [
        ("Refuted", "1"),
        ("Failing proof steps", "1"),
        ("Inconclusive", "2"),
        ("Not run", "1"),
        ("Hold", "1"),
    ]
    assert "one reading" in table(report, "ren2024")


def test_counts_are_those_of_the_groups(report):
    text = to_tex(report)
    counts = dict(
        re.findall(r"\\claimdefine\{count/(\w+)\}\{huang2024\}\{(\d)\}", text)
    )
    expected = {"all": 6, "holds": 1, "refuted": 1, "readings": 0, "steps": 1}
    expected |= {"inconclusive": 2, "notrun": 1}
    assert counts == {key: str(n) for key, n in expected.items()}


def row(report, claim):
    report = report.model_copy(update={"claims": [claim]})
    return line_of(
        to_tex(report),
        rf"\claimrow{{{'PASS' if claim.verdict is Verdict.HOLDS else ''}",
    )


@pytest.fixture
def refuted(report):
    (found,) = [c for c in report.claims if c.id == "huang2024/proposition-2"]
    return found


def test_a_refuted_row_has_reason_nearest_and_witness(report, refuted):
    made = row(report, refuted)
    assert r"\claimnote{Why}{Hall\char39{}s condition}" in made
    assert r"\claimnote{Nearest that holds}{huang2024/" in made
    witness = made.partition(r"\claimnote{Witness}")[2]
    for part in (
        "Five tokens",
        "b = 1/3",
        "A = [1/2 {-}3; 12.0 2/7]",
        "This satisfies",
    ):
        assert part in witness


def test_the_shortest_witness_is_shown(report, refuted):
    long = refuted.checks[0].model_copy(
        update={"witness": {"kind": "formula", "says": "word " * 200}}
    )
    short = refuted.checks[0].model_copy(
        update={
            "witness": {
                "kind": "formula",
                "says": "Short.",
                "inputs": {},
                "relation": ["<", "1", "2"],
            }
        }
    )
    both = refuted.model_copy(update={"checks": [long, short]})
    assert "Short. This satisfies 1 " in row(report, both)
    only = row(report, refuted.model_copy(update={"checks": [long]}))
    assert "Its numbers are in report.json" in only
    assert only.count("word") < 100


def test_a_witness_of_a_check_that_did_not_refute_is_not_shown(report, refuted):
    check = refuted.checks[0].model_copy(update={"verdict": Verdict.INCONCLUSIVE})
    assert "Witness" not in row(report, refuted.model_copy(update={"checks": [check]}))


def test_a_long_reason_is_cut_and_says_so(report, refuted):
    claim = refuted.model_copy(
        update={"finding": FindingRecord(verdict="REFUTED", reason="word " * 1000)}
    )
    made = row(report, claim)
    assert len(made) < 3000
    assert "(report.json has all)" in made.replace(r"\allowbreak{}", "")


def test_a_verdict_unlike_its_finding_is_said(report, refuted):
    claim = refuted.model_copy(update={"finding": FindingRecord(verdict="HOLDS")})
    assert r"\claimnote{Not as recorded}{FAIL against the finding PASS}" in row(
        report, claim
    )


@pytest.mark.parametrize(
    ("wording", "said"), [("ours", "(ours)"), ("guessed", "(wording guessed)")]
)
def test_whose_statement_it_is(report, refuted, wording, said):
    assert said in row(report, refuted.model_copy(update={"wording": wording}))
    assert "(ours)" not in row(report, refuted)


def study(seconds):
    return StudyRecord(
        name="s", runs=1, diverged=0, device="cpu", dtype="float64", keys=[],
        seconds=seconds,
    )  # fmt: skip


def test_shared_training_is_charged_to_every_claim_that_uses_it(report, refuted):
    """The first claim waited 90 s for the models; the second found them made."""
    checks = [
        refuted.checks[0].model_copy(update={"seconds": s, "studies": [study(t)]})
        for s, t in ((100.0, 90.0), (3.0, 0.5))
    ]
    claims = [
        refuted.model_copy(update={"id": name, "checks": list(made)})
        for name, made in (("a/1", checks[:1]), ("a/2", checks[1:]), ("a/3", checks))
    ]
    changed = report.model_copy(update={"claims": claims})
    assert alone(changed) == {"a/1": 100.0, "a/2": 92.5, "a/3": 102.5}
    lines = [x for x in to_tex(changed).splitlines() if x.startswith(r"\claimrun{")]
    assert [re.findall(r"\{([\d.]+)\}\{FAIL", line)[0] for line in lines] == [
        "1.7",
        "1.5",
        "1.7",
    ]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("Theorem 3.1 (Eq. (7), proof in Appendix B)", "Theorem 3.1"),
        ("Equation (13) (from Eq. (12))", "Equation (13)"),
        ("Equations (1)-(3) (definitions)", "Equations (1){-}(3)"),
        ("Lemma 2", "Lemma 2"),
        ("(odd)", "(odd)"),
    ],
)
def test_the_artefact_names_the_place_in_the_paper(report, refuted, source, place):
    claim = refuted.model_copy(update={"source": source, "title": "T"})
    text = to_tex(report.model_copy(update={"claims": [claim]}))
    assert line_of(text, r"\claimrun{").startswith(rf"\claimrun{{{place}:")


def test_the_artefact_keeps_the_order_of_the_paper(report):
    text = to_tex(report)
    ids = re.findall(
        r"\\claimrun\{.*verify run \\?[^ ]*huang2024/\S*?((?:step|theorem|figure))",
        text,
    )
    assert ids == ["step", "figure", "theorem"]


def test_the_command_of_the_whole_run_has_no_folder_of_the_machine(report):
    run = report.run.model_copy(
        update={"command": "verify run --out /home/annabelle/x"}
    )
    text = to_tex(report.model_copy(update={"run": run}))
    assert "annabelle" not in text
    assert "verify run {-}{-}profile default {-}{-}seed 0" in text


def test_a_claim_of_a_paper_that_is_not_described_is_shown(report, refuted):
    lost = refuted.model_copy(update={"paper": "lost}2020", "id": "lost/lemma-1"})
    text = to_tex(report.model_copy(update={"claims": [lost]}))
    assert r"\claimheading{lost\}2020}{}" in text
    assert r"\claimlookup{table}{paper-0}" in text
