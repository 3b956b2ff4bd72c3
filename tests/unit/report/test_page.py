"""The page: complete, self-contained, and deaf to whatever texts contain."""

import re
from html.parser import HTMLParser

import pytest

from verify.report import render
from verify.report.page import to_html

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects tags, ids, links and text; insists on balanced tags."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.open, self.text = [], [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [v for k, v in attributes if k == "id"]
        self.links += [(tag, v) for k, v in attributes if k in {"href", "src"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def html(report):
    return render(report, "html")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_it_is_small_balanced_and_its_ids_are_unique(html, page):
    assert len(html.encode()) < 5_000_000
    assert len(page.ids) == len(set(page.ids))


def test_nothing_hostile_becomes_markup(html, page):
    assert {"script", "img", "iframe", "object", "link"}.isdisjoint(
        tag for tag, _ in page.tags
    )
    assert not any(k.startswith("on") for _, a in page.tags for k in a)
    assert html.count("&lt;script&gt;") > 15
    assert "\x01" not in html


def test_nothing_is_fetched(html, page):
    for tag, target in page.links:
        assert target.startswith("#") or (
            tag == "a" and target.startswith("https://arxiv.org/abs/")
        )
    assert "@import" not in html
    assert re.findall(r"url\((?!#)", html) == []


def test_links_inside_the_page_lead_somewhere(page):
    from urllib.parse import unquote

    ids = set(page.ids)
    inside = [t[1:] for tag, t in page.links if tag == "a" and t.startswith("#")]
    assert len(inside) > 10
    assert {unquote(target) for target in inside} <= ids


def test_every_claim_has_a_stable_anchor_and_its_command(report, page):
    for claim in report.claims:
        assert claim.id in page.ids
        assert claim.command in page.text


def test_refuted_claims_come_first_in_the_table(html):
    table = html[html.index("<tbody>") : html.index("</tbody>")]
    badges = re.findall(r'class="badge (\w+)"', table)
    assert badges == (
        ["REFUTED"] * 3 + ["INCONCLUSIVE"] * 2 + ["NOT_RUN"] + ["HOLDS"] * 2
    )


def test_the_head_says_what_a_reader_must_not_miss(page):
    head = page.text[: page.text.index("Refuted claims first")]
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
        "rejected by proof",
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
    assert all(a["alttext"] for a in math)
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
