"""The page: complete, self-contained, and deaf to whatever texts contain."""

import base64
import hashlib
import re
from collections import Counter
from itertools import pairwise
from urllib.parse import parse_qs, unquote

import pytest
from page_reader import Page, page_of
from sample_report import FORMULA, change, check, claim, figure, rich_report

from verify.record import Counts, FindingRecord, MutantRecord
from verify.report import cards, render
from verify.report.page import prose, to_html
from verify.verdict import Fault, Grade, Verdict

HOLDS, REFUTED = Verdict.HOLDS, Verdict.REFUTED


@pytest.fixture(scope="module")
def html(report):
    return render(report, "html")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def articles(page):
    return [a for tag, a in page.tags if tag == "article"]


def test_it_is_balanced_and_its_ids_are_unique(page):
    assert len(page.ids) == len(set(page.ids))


def test_nothing_hostile_becomes_markup(html, page):
    tags = Counter(tag for tag, _ in page.tags)
    assert tags["script"] == 1
    assert tags.keys().isdisjoint({"img", "iframe", "object", "link", "base"})
    assert not any(k.startswith("on") for _, a in page.tags for k in a)
    assert "alert" not in page.script
    assert html.count("&lt;script&gt;") > 15
    assert "\x01" not in html


def test_only_the_script_whose_hash_is_named_may_run(page):
    (policy,) = (
        a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert "</" not in page.script


def test_nothing_is_fetched(html, page):
    for tag, target in page.links:
        assert target.startswith("#") or (
            tag == "a" and target.startswith("https://arxiv.org/abs/")
        )
    assert "@import" not in html
    assert re.findall(r"url\((?!#)", html) == []


def test_links_inside_the_page_lead_somewhere(page):
    ids = set(page.ids)
    inside = [t[1:] for tag, t in page.links if tag == "a" and t.startswith("#")]
    assert len(inside) > 10
    assert {unquote(target) for target in inside} <= ids


def test_every_claim_has_a_stable_anchor_and_its_command(report, page):
    for claim_ in report.claims:
        assert claim_.id in page.ids
        assert claim_.command in page.text


def test_the_refuted_come_first_then_faults_and_what_holds_last(html):
    sections = re.findall(r'data-section="(\w+)"', html)
    assert sections == [
        "refuted", "attention", "reading_dependent", "failing_steps", "inconclusive",
        "not_run", "holds", "holds",
    ]  # fmt: skip


def test_what_the_filter_counts_is_what_the_sentences_say(report, page):
    found = Counter((a["data-paper"], a["data-group"]) for a in articles(page))
    said = {
        (paper.key, group): n
        for paper in report.papers
        for group, n in paper.counts.model_dump().items()
        if n
    }
    assert said == dict(found)
    links = [parse_qs(a["data-filter"]) for _, a in page.tags if "data-filter" in a]
    pairs = {(link["paper"][0], link["group"][0]) for link in links}
    assert said.keys() <= pairs


def test_the_filter_is_hidden_until_its_script_runs(page):
    (form,) = (a for tag, a in page.tags if tag == "form")
    assert "hidden" in form
    options = {a["value"] for tag, a in page.tags if tag == "option"}
    for article in articles(page):
        values = {v for k, v in article.items() if k.startswith("data-")}
        assert values <= options | {""}


def test_headings_have_no_gaps_and_tables_have_scopes(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    headers = [a for tag, a in page.tags if tag == "th"]
    assert len(headers) > 20
    assert {a.get("scope") for a in headers} == {"col", "row"}
    landmarks = [tag for tag, _ in page.tags if tag in {"header", "nav", "main"}]
    assert landmarks == ["header", "nav", "main"]


def test_the_head_says_what_a_reader_must_not_miss(page):
    head = page.text[: page.text.index("False as stated")]
    for words in (
        "PARTIAL RUN",
        "seed 0",
        "exit code 3",
        "did not finish",
        "signal 9",
        "huang2024/lemma-5: BROKEN",
        "6 claims: 1 holds, 1 is refuted",
        "no CUDA device",
    ):
        assert words in head


@pytest.mark.parametrize(
    "words",
    [
        "every N ≥ 1, every W_Q",
        "Theorem 3.1 (Eq. (7)",
        "as printed in the paper",
        "Without it: the claim breaks over 3 × 3 integers",
        "0.371235 against 0.4, margin 0.25",
        "[0.35, 0.39] at error probability 0.001",
        "2: diverged",
        "acceptance is NOT monotone",
        "Collect <terms>.",
        "refuted by proof (margin −8.5): differs by 0.5",
        "trained_twin is blind to it: too coarse",
        "SURVIVED: not rejected by search",
        "complete orders",
        "53 for 106",
        "reaches 0.912 of the bound",
        "This satisfies A[0, 1] + b^2 > (−1/2) · exp(1 − b)",
        "the column means satisfy slope ≤ 2/3",
        "The first 12 of 40 rows",
        "Differs from the recorded finding.",
        "Less than the default was required: no search is possible",
        "LaTeX: it has no MathML here",
        "The figure “A bad one” could not be drawn",
        "1 value ≤ 0 not on a logarithmic axis",
        "numpy2.4.6",
        "without a signature that cannot be detected",
    ],
)
def test_the_evidence_is_shown(page, words):
    assert words in page.text


def test_statements_are_mathml_and_figures_are_described(page):
    math = [a for tag, a in page.tags if tag == "math"]
    assert any(a.get("display") == "block" for a in math)
    assert all(a["alttext"] for a in math if "display" in a)
    svgs = [a for tag, a in page.tags if tag == "svg"]
    assert len(svgs) == 2
    assert all(a["role"] == "img" for a in svgs)
    assert "Mean over seeds with a 99.9 % band" in page.text


def test_a_whole_run_does_not_say_partial(report):
    run = report.run.model_copy(
        update={"partial": False, "red": [], "crashes": [], "exit_code": 0}
    )
    text = Page(to_html(report.model_copy(update={"run": run}))).text
    assert "artial run" not in text
    assert "did not finish" not in text
    assert "findings are reproduced" in text


def test_an_empty_report_says_that_nothing_was_decided(empty):
    page = Page(to_html(empty))
    assert "nothing was decided" in page.text


def refuted(**changes):
    fields = {
        "verdict": REFUTED,
        "reason": "it differs",
        "finding": FindingRecord(verdict=REFUTED, reason="2 is above 1"),
        "nearest": "ren2024/theorem-3.1/repaired",
    }
    return claim("ren2024/theorem-3.1", **{**fields, **changes})


def summary(page):
    """The lines that are seen before a claim is opened."""
    return page.text[page.text.index("False as stated") : page.text.index("In words")]


def test_a_finding_s_reason_is_the_better_line_where_the_run_reproduces_it():
    assert "2 is above 1" in summary(page_of(refuted()))
    unlike = refuted(finding=FindingRecord(verdict=HOLDS, reason="proved"))
    page = page_of(unlike)
    assert "FAIL against the finding PASS" in summary(page)
    assert "proved" not in summary(page)
    faulty = refuted(fault=Fault.CONFLICT)
    assert "CONFLICT: it differs" in summary(page_of(faulty))


def test_the_nearest_statement_is_said_with_its_verdict_in_this_run():
    repaired = claim("ren2024/theorem-3.1/repaired", statement_text="At most N.")
    page = page_of(refuted(), repaired)
    assert "ren2024/theorem-3.1/repaired At most N." in page.text
    assert ("a", "#ren2024/theorem-3.1/repaired") in page.links
    assert "did not hold" not in page.text
    failed = repaired.model_copy(update={"verdict": Verdict.NOT_RUN})
    assert "In this run it did not hold: NOT RUN" in page_of(refuted(), failed).text
    assert "(no claim of this report)" in page_of(refuted()).text
    assert "Lemma 2 of [5]" in page_of(refuted(nearest="Lemma 2 of [5]")).text


def test_readings_stand_side_by_side_with_their_verdicts():
    a = claim("ren2024/lemma-1@wide", statement_text="For all n.", verdict=REFUTED)
    b = claim("ren2024/lemma-1@narrow", statement_text="For n = 1.")
    text = page_of(a, b).text
    first = text[text.index("It takes the text to say") :]
    first = first[: first.index("Checks, strongest")]
    assert re.sub(r"\s+", " ", first).startswith(
        "It takes the text to say wide (this one)FAILFor all n. narrowPASSFor n = 1."
    )
    assert "It takes the text to say" not in page_of(a).text


def test_what_stands_twice_is_shown_once_and_linked():
    wide = {**FORMULA, "says": "A witness of some length. " * 20}
    checks = [
        check("one", verdict=REFUTED, witness=wide, figures=[figure()]),
        check("two", verdict=REFUTED, witness=wide),
    ]
    a = claim("ren2024/lemma-1", checks=checks, verdict=REFUTED, title="First")
    b = claim("ren2024/lemma-2", checks=checks, verdict=REFUTED, title="Second")
    page = page_of(a, b)
    assert page.text.count("This satisfies A[0, 1]") == 1
    assert page.text.count("the same as the one above") == 1
    assert page.text.count("the same as the one shown under “First”") == 2
    assert sum(tag == "svg" for tag, _ in page.tags) == 1
    assert "Figure “Local slope of the attention scale”" in page.text


def test_a_run_of_proof_steps_is_shown_once_and_linked():
    lemma = [f"step {i} of the lemma" for i in range(9)]
    own = ["start", *lemma, "end"]
    a = claim("ren2024/lemma-1", checks=[check(steps=lemma)], title="The lemma")
    b = claim("ren2024/theorem-2", checks=[check(steps=own)])
    page = page_of(a, b)
    assert page.text.count("step 4 of the lemma") == 1
    assert "to 10: as steps 1 to 9 of “The lemma”" in page.text
    numbers = [x for tag, a in page.tags if tag == "li" and (x := a.get("value"))]
    assert numbers == ["11"]
    different = claim("ren2024/theorem-3", checks=[check(steps=lemma[:4])])
    assert page_of(a, different).text.count("step 3 of the lemma") == 2


def test_hostile_ids_become_safe_fragments():
    ids = ['"><script>/x', "a b", "a-b", "../../etc", "%00", "a/b", "a/b", "", "trust"]
    fragments = cards.fragments(ids)
    assert len({*fragments}) == len(ids)
    assert all(re.fullmatch(r"[\w./@+:~-]+", x) and "/" in x for x in fragments)
    assert fragments[5] == "a/b"
    page = page_of(*(claim(name, paper="ren2024") for name in ids))
    assert {*fragments} <= {*page.ids}
    assert len(page.ids) == len({*page.ids})


def test_text_that_no_encoding_holds_is_replaced():
    papers = [rich_report().papers[0].model_copy(update={"key": "\ud800"})]
    odd = claim("\ud800/lemma-1", paper="\ud800", title="\udfff")
    html = to_html(rich_report(papers=papers, claims=[odd]))
    assert html.encode()
    assert 'data-filter="paper=%EF%BF%BD&amp;group=holds"' in html


def test_a_claim_that_cannot_be_shown_is_said_in_its_place(monkeypatch):
    fates = cards.fates

    def fail(claim_, role, name):
        if name == "unlucky":
            raise KeyError("a <field>")
        return fates(claim_, role, name)

    monkeypatch.setattr(cards, "fates", fail)
    mutant = MutantRecord(
        name="unlucky", change={}, why_false="", rejected=True, by=[], blind={}
    )
    wide = {**FORMULA, "says": "A witness of some length. " * 20}
    checks = [check(witness=wide)]
    broken = claim("ren2024/lemma-1", title="Broken", mutants=[mutant], checks=checks)
    sound = claim("ren2024/lemma-2", title="Sound", checks=checks)
    page = page_of(broken, sound)
    assert "This claim could not be shown (KeyError: 'a <field>')" in page.text
    assert {"ren2024/lemma-1", "ren2024/lemma-2"} <= {*page.ids}
    assert sound.command in page.text
    assert "This satisfies A[0, 1]" in page.text


def test_numbers_of_any_size_are_shown():
    huge = check(
        measured="7" * 6000,
        target=10**300,
        margin=float("nan"),
        seconds=float("inf"),
        n=10**40,
        discards={"x": 3},
        witness={
            "kind": "formula",
            "says": "",
            "inputs": {"a": "1" * 5000, "b": "0x1p+99999"},
            "relation": ["==", ["in", "a"], 1],
        },
    )
    page = page_of(claim(checks=[huge]))
    assert "777 … (6000 characters) … 777" in page.text
    assert "1 … (5000 characters) … 1" in page.text
    assert "made ininf s" in page.text
    assert "could not be shown" not in page.text


def big(i):
    """A claim of about the size that claims have, unlike any other."""
    witness = {**FORMULA, "inputs": {"A": [[str(i), "2"], ["3", "4"]], "b": "1/3"}}
    mutants = [
        MutantRecord(
            name=f"mutant {j} of {i}", change=change(), why_false=f"since {i} > {j}",
            rejected=True, by=["proof"], blind={}, witness=witness,
        )
        for j in range(5)
    ]  # fmt: skip
    steps = [f"step {j} of claim {i}, of about the usual length" for j in range(20)]
    proof = check("proof", grade=Grade.SYMBOLIC, steps=steps, witness=witness)
    return claim(f"ren2024/lemma-{i}", mutants=mutants, checks=[proof, check()])


def test_a_report_of_the_size_of_ours_stays_within_its_budget():
    """A full run has about 380 claims and 100 figures, and at most 5 MB."""
    sizes = [
        len(to_html(rich_report(claims=[big(i) for i in range(n)])).encode())
        for n in (20, 60)
    ]
    each = (sizes[1] - sizes[0]) / 40
    assert 380 * each < 4_000_000
    drawn = claim(checks=[check(figures=[figure(title=f"{i}") for i in range(4)])])
    with_figures = len(to_html(rich_report(claims=[drawn])).encode())
    without = len(to_html(rich_report(claims=[claim(checks=[check()])])).encode())
    assert 100 * (with_figures - without) / 4 < 1_000_000


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("w_* ≤ n^{2/d}", "w<sub>_*</sub> ≤ n<sup>^{2/d}</sup>"),
        ("Λ^(2/5) and λ_max(Σ)", "Λ<sup>^(2/5)</sup> and λ<sub>_max</sub>(Σ)"),
        ("10^-400 < B^T_1", "10<sup>^-400</sup> &lt; B<sup>^T</sup><sub>_1</sub>"),
        ("D(F^+_{L'})", "D(F<sup>^+</sup><sub>_{L&#39;}</sub>)"),
        ("worst_case of a ^ b", "worst_case of a ^ b"),
        ("x^<b>", "x^&lt;b&gt;"),
        ("x^{<b>}", "x<sup>^{&lt;b&gt;}</sup>"),
    ],
)
def test_prose_keeps_every_character(text, html):
    shown = prose(text)
    assert re.sub(r"</?i>", "", shown) == html
    assert Page(str(shown)).text == text


def test_counts_of_a_paper_without_claims():
    papers = [
        rich_report().papers[0].model_copy(update={"counts": Counts(), "title": ""})
    ]
    assert "ren2024" in page_of(papers=papers).text
    assert "No claims." in page_of(papers=papers).text
