"""``index.html``: one self-contained page, readable offline and without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from verify.record import FigureRecord, Formula, Report
from verify.report import cards, words
from verify.report.figures import FigureError, figure_svg
from verify.report.formulas import as_lines, readable
from verify.report.mathml import mathml
from verify.report.repeats import Repeats
from verify.report.sides import sides
from verify.report.trust import SELF_CHECKS, self_checks, studies
from verify.verdict import Grade

GRADES = {
    Grade.SYMBOLIC: "computer algebra, or written proof steps that are each checked "
    "by machine.",
    Grade.CERTIFIED: "enclosures in ball arithmetic, or certificates in exact rational "
    "arithmetic: rounding is accounted for.",
    Grade.NUMERIC: "deterministic high precision. Not rigorous: nothing bounds its "
    "error.",
    Grade.PROPERTY: "a search for a counterexample. Finding none proves nothing beyond "
    "the instances tried.",
    Grade.TRAINED: "models that were trained, and statistics of them. It can support a "
    "mathematical statement and never decide it.",
}


def to_html(report: Report) -> str:
    """The page of a run.

    Args:
        report: The record.

    Returns:
        HTML that fetches nothing.
    """
    shown = cards.cards(report)
    environment = _environment(shown)
    script = (files("verify.report") / "templates" / "page.js").read_text("utf-8")
    page = environment.get_template("page.html.j2")
    html = page.render(
        report=report,
        run=report.run,
        sections=_sections(report, shown, environment),
        papers=_papers(report),
        total=len(shown),
        trusted=studies(),
        self_checks=self_checks(report),
        slowest=cards.slowest(shown),
        provenance=_flat(report.provenance),
        script=Markup(script),  # ruff: ignore[unsafe-markup-use] - our own file
        script_hash=_hash(script),
    )
    return words.clean(html)


def _hash(text: str) -> str:
    """A text as the content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _papers(report: Report) -> dict[str, Any]:
    """Papers by their keys, ``None`` for a key that only claims have."""
    named: dict[str, Any] = {paper.key: paper for paper in report.papers}
    return {**dict.fromkeys(claim.paper for claim in report.claims), **named}


def _sections(
    report: Report, shown: Sequence[cards.Card], environment: Environment
) -> list[dict[str, Any]]:
    """The sections in reading order, their claims rendered; empty ones left out."""
    several = len({claim.paper for claim in report.claims}) > 1
    found: dict[tuple[str, str], list[Markup]] = {}
    for card in shown:
        by_paper = several and card.section == "holds"
        key = card.section, card.claim.paper if by_paper else ""
        found.setdefault(key, []).append(_card(card, environment))
    return [
        {
            "key": key,
            "id": f"{key}-{place}" if paper else key,
            "paper": paper,
            "title": cards.SECTIONS[key],
            "short": cards.SHORT[key],
            "says": cards.INTRODUCTIONS[key],
            "cards": rendered,
        }
        for place, ((key, paper), rendered) in enumerate(found.items(), 1)
    ]


def _card(card: cards.Card, environment: Environment) -> Markup:
    """One claim; a sentence in its place where it cannot be shown."""
    repeats: Repeats = environment.globals["repeats"]  # type: ignore[assignment]
    state = repeats.mark()
    try:
        html = environment.get_template("card.html.j2").render(card=card)
    except Exception as error:  # ruff: ignore[blind-except] - said on the page
        repeats.restore(state)
        said = f"{type(error).__name__}: {error}"
        broken = environment.get_template("unshown.html.j2")
        html = broken.render(card=card, said=said)
    return Markup(html)  # ruff: ignore[unsafe-markup-use]


def _environment(shown: Sequence[cards.Card]) -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "away": words.away,
        "because": words.because,
        "by_grade": cards.by_grade,
        "change": change,
        "difference": words.difference,
        "duration": words.duration,
        "figure": figure,
        "lines": as_lines,
        "math": math,
        "num": words.num,
        "plural": words.plural,
        "prose": prose,
        "readable": readable,
        "sides": sides,
        "urlencode": urlencoded,
        "word": words.WORDS.get,
    }
    environment.globals |= {
        "fates": cards.fates,
        "grades": GRADES,
        "groups": words.GROUPS,
        "names": cards.SECTIONS,
        "paper_name": words.paper_name,
        "repeats": Repeats(card.claim for card in shown),
        "run_line": words.run_line,
        "self_check_words": SELF_CHECKS,
        "tally": words.tally,
        "tally_parts": words.tally_parts,
        "wordings": words.WORDINGS,
    }
    return environment


def urlencoded(value: str | Mapping[str, str]) -> str:
    """Part of an address, from text that need not be encodable."""
    if isinstance(value, str):
        return quote(words.clean(value))
    return urlencode({key: words.clean(text) for key, text in value.items()})


def math(latex: str, *, block: bool = False) -> Markup:
    """MathML of a formula; the LaTeX, said to be so, where there is none."""
    converted = mathml(latex, block=block)
    if converted is not None:
        return Markup(converted)  # ruff: ignore[unsafe-markup-use]
    if not latex.strip():
        return Markup("")
    shown = Markup("<code>{}</code>").format(latex)
    if not block:
        return shown
    return shown + Markup(' <span class="quiet">(LaTeX: it has no MathML here)</span>')


# A subscript follows one letter, so that names such as worst_case stay whole.
_RAISED = re.compile(
    r"(?P<up>(?<=\S)\^)(?P<a>\{[^{}]{1,40}\}|\((?:[^()]|\([^()]{0,20}\)){1,40}\)"
    r"|[-−]?[^\W_]+|[*+⊤])"
    r"|(?<![A-Za-z]{2})(?:(?<=[^\W\d]|[\])}|‖⊥'*²])|(?<=\^[*+]))"
    r"_(?P<b>\{[^{}]{1,40}\}|[^\W_]+|[*+])"
)


def prose(text: str) -> Markup:
    """Plain text with its sub- and superscripts set as such.

    The characters that mark them stay in the text, only too small to be seen: a
    reader's copy, search and screen reader get what the record has.

    Args:
        text: For instance ``w_* is of order n^{2/d}``.

    Returns:
        Markup.
    """
    parts, at = [], 0
    for match in _RAISED.finditer(text):
        tag, mark = ("sup", "^") if match["up"] else ("sub", "_")
        body = match["a"] or match["b"]
        first, last = ("", "")
        if body[0] in "{(":
            first, body, last = body[0], body[1:-1], body[-1]
        close = Markup("<i>{}</i>").format(last) if last else ""
        raised = Markup("<{0}><i>{1}</i>{2}{3}</{0}>")
        parts.append(text[at : match.start()])
        parts.append(raised.format(tag, mark + first, body, close))
        at = match.end()
    return Markup("").join([*parts, text[at:]])


def change(changes: Mapping[str, Formula]) -> Markup:
    """Changed parameters with their new values."""
    parts = [
        Markup("<code>{}</code> = {}").format(name, math(formula.latex))
        for name, formula in changes.items()
    ]
    return Markup("; ").join(parts)


def figure(record: FigureRecord, place: str) -> Markup:
    """A figure as inline SVG, or a sentence that says why there is none.

    Args:
        record: The figure.
        place: Unique on the page.

    Returns:
        Markup.
    """
    unique = record.model_copy(update={"name": f"{place}-{record.name}"})
    try:
        return Markup(figure_svg(unique))  # ruff: ignore[unsafe-markup-use]
    except FigureError as error:
        said = Markup('<p class="loud">The figure “{}” could not be drawn ({}).</p>')
        return said.format(record.title, error)


def _flat(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested provenance as rows of a table."""
    rows: list[tuple[str, str]] = []
    for key, value in data.items():
        if isinstance(value, dict) and value:
            rows += _flat(value, f"{prefix}{key} · ")
        else:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            rows.append((f"{prefix}{key}", text))
    return rows
