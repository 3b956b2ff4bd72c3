"""``badge.svg``: how a run ended, in one line that fits a README.

The colour is about the run and never flatters the paper:

* red: a verdict differs from its finding, the suite has a fault, or the run crashed;
* grey: nothing was decided, or the run is partial;
* green: every claim of the run holds;
* blue: the findings are reproduced, and some claim does not hold.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from verify.record import Counts, Report
from verify.report.words import clean, is_red, tally

LABEL = "claims"
# White text on each has a contrast above 4.5, as WCAG asks.
COLOURS = {"red": "#b3261e", "grey": "#5f6368", "green": "#1e7b34", "blue": "#1f5fa8"}
_PAD, _SIZE, _HEIGHT = 7, 11, 20
_NARROW = frozenset("fijlrt.,:;·!|'()[]/ 1")
_BROAD = frozenset("mwMW@%")


class BadgeError(ValueError):
    """The report has no such paper; the message lists those that it has."""


def to_badge(report: Report, paper: str | None = None) -> str:
    """The badge of a run, or of one paper in it.

    Args:
        report: The record.
        paper: Key of a paper; without it all papers together.

    Returns:
        SVG that fetches nothing, with a title for screen readers.

    Raises:
        BadgeError: There is no such paper.
    """
    keys = [record.key for record in report.papers]
    if paper is not None and paper not in keys:
        known = ", ".join(keys) or "none"
        raise BadgeError(f"the report has no paper {paper!r}; it has: {known}")
    chosen = [p for p in report.papers if paper in {None, p.key}]
    fields = [p.counts.model_dump() for p in chosen]
    counts = Counts(**{k: sum(f[k] for f in fields) for k in Counts.model_fields})
    label = paper or LABEL
    colour = _colour(report, paper, counts)
    message = _message(report, counts)
    prefix = f"{paper}: " if paper else ""
    title = f"{prefix}{_said(report, colour)}{tally(counts)}"
    return _svg(clean(label), clean(message), clean(title), COLOURS[colour])


def _colour(report: Report, paper: str | None, counts: Counts) -> str:
    own = [claim for claim in report.claims if paper in {None, claim.paper}]
    # What is red and names no claim of another paper makes every badge red.
    others = tuple(f"{c.id}:" for c in report.claims if paper not in {None, c.paper})
    red = [line for line in report.run.red if not (others and line.startswith(others))]
    if report.run.crashes or red or any(map(is_red, own)):
        return "red"
    decided = sum(counts.model_dump().values()) - counts.not_run
    if not decided or report.run.partial:
        return "grey"
    return "green" if counts.holds == decided else "blue"


def _message(report: Report, counts: Counts) -> str:
    total = sum(counts.model_dump().values())
    if not total - counts.not_run:
        said = "none decided"
    else:
        said = f"{counts.holds} of {total} hold"
        said += f" · {counts.refuted} refuted" if counts.refuted else ""
    if report.run.crashes:
        return f"crashed: {said}"
    return f"partial: {said}" if report.run.partial else said


def _said(report: Report, colour: str) -> str:
    """What the colour says, for those who do not see it."""
    if report.run.crashes:
        return "the run did not finish. "
    if colour == "red":
        return "a verdict differs from its finding, or the suite has a fault. "
    return "partial run. " if report.run.partial else ""


def _width(text: str) -> int:
    """Room for a text in a common sans-serif; ``textLength`` makes it fit exactly."""
    ems = sum(0.4 if c in _NARROW else 0.95 if c in _BROAD else 0.6 for c in text)
    return round(ems * _SIZE) + 2 * _PAD


def _svg(label: str, message: str, title: str, colour: str) -> str:
    left, right = _width(label), _width(message)
    texts = "".join(
        f'<text x="{x + width / 2}" y="14" textLength="{width - 2 * _PAD}">'
        f"{escape(text)}</text>"
        for x, width, text in ((0, left, label), (left, right, message))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" '
        f'height="{_HEIGHT}" role="img" aria-label={quoteattr(title)}>'
        f"<title>{escape(title)}</title>"
        f'<rect width="{left + right}" height="{_HEIGHT}" rx="3" fill="#444"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" '
        f'fill="{colour}"/>'
        f'<g fill="#fff" text-anchor="middle" font-size="{_SIZE}" '
        f'font-family="Verdana,DejaVu Sans,Geneva,sans-serif">{texts}</g></svg>\n'
    )
