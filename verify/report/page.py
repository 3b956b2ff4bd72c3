"""``index.html``: one self-contained page, readable offline, without scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from verify.record import CheckRecord, ClaimRecord, FigureRecord, Formula, Report
from verify.report import words
from verify.report.figures import FigureError, figure_svg
from verify.report.formulas import readable
from verify.report.mathml import mathml
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
    named = {paper.key: paper for paper in report.papers}
    keys = dict.fromkeys([*named, *(claim.paper for claim in report.claims)])
    sections = [
        (named.get(key), key, [c for c in report.claims if c.paper == key])
        for key in keys
    ]
    page = _environment().get_template("page.html.j2")
    html = page.render(
        report=report,
        run=report.run,
        grouped=words.ordered(report.claims),
        sections=sections,
        ids={claim.id for claim in report.claims},
        groups=words.GROUPS,
        grades=GRADES,
        provenance=_flat(report.provenance),
    )
    return words.clean(html)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "because": words.because,
        "by_grade": by_grade,
        "change": change,
        "difference": words.difference,
        "duration": words.duration,
        "exact": words.exact,
        "figure": figure,
        "math": math,
        "away": words.away,
        "num": words.num,
        "readable": readable,
        "word": words.WORDS.get,
        "worst": words.worst_margin,
    }
    environment.globals |= {
        "base_id": words.base_id,
        "paper_name": words.paper_name,
        "run_line": words.run_line,
        "tally": words.tally,
        "wordings": words.WORDINGS,
    }
    return environment


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


def by_grade(claim: ClaimRecord) -> list[CheckRecord]:
    """The checks of a claim, strongest grade first, necessity checks left out."""
    checks = [check for check in claim.checks if check.role == "check"]
    return sorted(checks, key=lambda check: check.grade.rank)


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
